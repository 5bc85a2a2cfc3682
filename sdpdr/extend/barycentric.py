"""New points as weighted means of known ones."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from sdpdr.linalg.svec import Array, Index

# Directions in which neighbours spread less than this share of the whole are left alone.
_REGULARIZATION = 1e-3


def barycentric_weights(
    known: Array, points: Array, n_neighbors: int, *, leave_self: bool = False
) -> tuple[Index, Array]:
    r"""Nearest known points, and weights of sum one with which they reproduce new points.

    The weights of locally linear embedding,
    :math:`(C + \epsilon \operatorname{tr}(C) I) w = \mathbf 1` with the Gram matrix C of the
    neighbours seen from the new point.

    Parameters
    ----------
    known : array of shape (n, D)
    points : array of shape (q, D)
    n_neighbors : int
        At most n of them are taken.
    leave_self : bool, default False
        The points are the known ones, and none is to be reproduced by itself.

    Returns
    -------
    near : array of int, shape (q, k)
        Rows of ``known``.
    weights : array of shape (q, k)
        A point that coincides with a known one has only that one.

    References
    ----------
    Roweis and Saul, Science 290, 2000; Tong thesis, section 2.2.2.

    Examples
    --------
    >>> known = np.array([[0.0], [1.0], [3.0]])
    >>> near, weights = barycentric_weights(known, np.array([[0.25]]), 2)
    >>> near, weights.round(3)
    (array([[0, 1]]), array([[0.75, 0.25]]))
    """
    search = NearestNeighbors(n_neighbors=min(n_neighbors, len(known) - leave_self)).fit(known)
    # Without an argument the search leaves out each point itself, duplicates or not.
    distance, near = search.kneighbors(None if leave_self else points)
    steps = known[near] - points[:, None, :]
    local = np.einsum("mid,mjd->mij", steps, steps)
    size = np.maximum(np.trace(local, axis1=1, axis2=2), np.finfo(float).tiny)
    ridge = _REGULARIZATION * size[:, None, None] * np.eye(near.shape[1])
    weights = np.linalg.solve(local + ridge, np.ones((*near.shape, 1)))[:, :, 0]
    weights /= weights.sum(axis=1, keepdims=True)
    same = distance[:, 0] == 0.0
    weights[same] = np.eye(near.shape[1])[0]
    return near, weights
