"""New points as weighted means of the points an estimator was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import validate_data

from sdpdr.linalg.svec import Array, Index

# Directions in which neighbours spread less than this share of the whole are left alone.
_REGULARIZATION = 1e-3


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
    search = NearestNeighbors(n_neighbors=min(k, placed.size)).fit(known)
    distance, near = search.kneighbors(points)
    steps = known[near] - points[:, None, :]
    local = np.einsum("mid,mjd->mij", steps, steps)
    size = np.maximum(np.trace(local, axis1=1, axis2=2), np.finfo(float).tiny)
    ridge = _REGULARIZATION * size[:, None, None] * np.eye(near.shape[1])
    weights = np.linalg.solve(local + ridge, np.ones((*near.shape, 1)))[:, :, 0]
    weights /= weights.sum(axis=1, keepdims=True)
    same = distance[:, 0] == 0.0
    weights[same] = np.eye(near.shape[1])[0]
    return near, weights
