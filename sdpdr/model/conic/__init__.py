"""Programs over cones, as cvxpy passes them to solvers, converted to the standard form."""
