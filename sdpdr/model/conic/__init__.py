"""Programs over cones, as cvxpy hands them to solvers, read as programs in the standard form."""
