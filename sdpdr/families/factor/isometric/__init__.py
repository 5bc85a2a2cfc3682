"""Isometric nonnegative factorization: recipe, search, estimator."""
