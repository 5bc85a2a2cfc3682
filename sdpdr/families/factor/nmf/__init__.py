"""Nonnegative matrix factorization: recipes, bounds, convex iteration, estimator."""
