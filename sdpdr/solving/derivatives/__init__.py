"""Derivatives of optimal values and points by the parameters of a model."""
