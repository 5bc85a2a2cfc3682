"""The methods, a room for each family: recipes, numerics, estimators, baselines."""
