"""Unfolding as estimators of scikit-learn."""
