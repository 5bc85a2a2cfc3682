"""Maximum-margin matrix factorization: recipe, solution with proof, estimator."""
