"""Factorizations: maximum-margin, non-negative, completely positive, isometric, polynomial."""
