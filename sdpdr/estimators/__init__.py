"""scikit-learn estimators: hyperparameters plus one line that names the recipe."""

from sdpdr.estimators.mvu import MVU

__all__ = ["MVU"]
