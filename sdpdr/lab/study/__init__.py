"""Comparisons of solvers, studies and their reports, and the demonstration."""
