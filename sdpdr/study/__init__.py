"""Problem cards, comparisons of solvers, reports, and the demonstration."""
