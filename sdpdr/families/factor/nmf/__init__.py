"""Non-negative matrix factorization: recipes, bounds, convex iteration, estimator."""
