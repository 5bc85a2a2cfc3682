"""New points as weighted means of the points an estimator was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from sdpdr.base.arrays import Array, Index
from sdpdr.families.regress.transduction import barycentric_weights


def reconstructing(
    estimator: Any, X: Any, seen: Array, placed: Index, metric: str, k: int
) -> tuple[Index, Array]:
    """Nearest placed samples of new points, and weights that reproduce the points.

    Parameters
    ----------
    estimator : BaseEstimator
        Whose number of features X must have.
    X : array_like of shape (m, D), or distances to all samples (m, n)
    seen : array of shape (n, D) or (n, n)
        What the estimator was fitted to.
    placed : array of int
        The samples that may serve.
    metric : {"euclidean", "precomputed"}
        Distances alone reproduce nothing; the nearest sample then has weight one.
    k : int
        How many of them.

    Returns
    -------
    near : array of int, shape (m, k)
        Positions in ``placed``.
    weights : array of shape (m, k)
        Rows sum to one. A point that coincides with a sample has only that one.
    """
    points = validate_data(estimator, X, dtype=np.float64, reset=False)
    if metric == "precomputed":
        near = np.argmin(points[:, placed], axis=1)[:, None]
        return near, np.ones(near.shape)
    known = np.asarray(seen, dtype=float)[placed]
    return barycentric_weights(known, points, k)
