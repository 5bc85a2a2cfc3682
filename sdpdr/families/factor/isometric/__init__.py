"""Isometric non-negative factorization: recipe, search, estimator."""
