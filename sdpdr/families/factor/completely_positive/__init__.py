"""Completely positive factorization: recipes, search, proof, estimator."""
