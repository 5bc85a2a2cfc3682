"""Unfolding with scikit-learn's face."""
