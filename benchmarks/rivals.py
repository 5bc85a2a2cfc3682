"""Rivals beyond scikit-learn, as they come: each where it is installed, else none."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


class MinimumDistortion(BaseEstimator):
    """pymde's embedding that preserves neighbours."""

    def fit_transform(self, X: np.ndarray, y: Any = None) -> np.ndarray:
        """Places in two dimensions."""
        import pymde

        pymde.seed(0)
        return pymde.preserve_neighbors(X, embedding_dim=2, verbose=False).embed().numpy()


def is_at_hand(package: str) -> bool:
    """Whether a rival is installed."""
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def umap_of(name: str, **options: Any) -> dict[str, Any]:
    """A rival of umap-learn, if it is at hand."""
    if not is_at_hand("umap-learn"):
        return {}
    from umap import UMAP

    return {f"umap-learn's {name}": UMAP(random_state=0, **options)}


def minimum_distortion() -> dict[str, Any]:
    """The rival of pymde, if it is at hand."""
    return {"pymde's preserve_neighbors": MinimumDistortion()} if is_at_hand("pymde") else {}


def large_margin() -> dict[str, Any]:
    """The rival of metric-learn, if it is at hand."""
    if not is_at_hand("metric-learn"):
        return {}
    from metric_learn import LMNN

    return {"metric-learn's LMNN": LMNN(random_state=0)}
