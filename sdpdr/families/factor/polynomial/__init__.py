"""Factors through a polynomial of their inner products: recipe, iteration, fit, estimator."""
