"""Signed similarities of points and of rows of ratings."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.neighbors import kneighbors_graph

from sdpdr.errors import DataError, ShapeError
from sdpdr.graphs import furthest_pairs, validate
from sdpdr.linalg.svec import Array

# What rounding leaves of a variance, relatively.
_ROUNDING = 1e-12


def near_and_far(X: ArrayLike, n_neighbors: int = 7) -> sp.csr_array:
    """Similarity 1 of near points, -1 of the furthest ones; sparse.

    Two points are similar if either is among the other's nearest, and dissimilar if either is
    furthest from the other. The furthest points are found exactly; they are few, at the rim.

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_neighbors : int, default 7

    Returns
    -------
    csr_array of shape (n, n)

    Raises
    ------
    DataError
        As `sdpdr.graphs.knn`.

    Examples
    --------
    >>> near_and_far([[0.0], [1.0], [3.0], [9.0]], n_neighbors=1).toarray()
    array([[ 0.,  1.,  0., -1.],
           [ 1.,  0.,  1., -1.],
           [ 0.,  1.,  0.,  1.],
           [-1., -1.,  1.,  0.]])
    """
    points = validate.points(X, at_least=2)
    k = validate.n_neighbors(n_neighbors, len(points))
    directed = sp.csr_array(kneighbors_graph(points, k, mode="connectivity"))
    near = directed.maximum(directed.T)
    i, j = furthest_pairs(points).edges.T
    once = sp.csr_array((np.ones(i.size), (i, j)), shape=near.shape)
    far = once + once.T
    return sp.csr_array(near - (far - far.multiply(near)))


def pearson(R: ArrayLike, Q: ArrayLike | None = None) -> Array:
    r"""Correlations of rows, over the entries that both know.

    .. math::

        S_{ij} = \frac{\sum_k (r_{ik} - \bar r_i)(r_{jk} - \bar r_j)}
        {\sqrt{\sum_k (r_{ik} - \bar r_i)^2}\,\sqrt{\sum_k (r_{jk} - \bar r_j)^2}} ,

    sums over the columns k known in both rows, means over all that are known in one. Zero where a
    root vanishes: no common column, or no variation there.

    Parameters
    ----------
    R : array_like of shape (n, p)
        nan where not known.
    Q : array_like of shape (q, p), optional
        Other rows; R itself by default.

    Returns
    -------
    array of shape (n, q)

    Raises
    ------
    DataError, ShapeError
        A row knows nothing; an entry is infinite; the numbers of columns differ.

    References
    ----------
    Tong thesis, section 3.2.3.

    Examples
    --------
    >>> nan = float("nan")
    >>> pearson([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0], [nan, 1.0, 2.0]]).round(3).tolist()
    [[1.0, -1.0, 0.707], [-1.0, 1.0, -0.707], [0.707, -0.707, 1.0]]
    """
    known, centred = _centred(R)
    known_other, other = (known, centred) if Q is None else _centred(Q)
    if centred.shape[1] != other.shape[1]:
        raise ShapeError(f"rows have {centred.shape[1]} columns, the others {other.shape[1]}.")
    above = centred @ other.T
    squares = (np.square(centred) @ known_other.T) * (known @ np.square(other).T)
    below = np.sqrt(squares)
    size = float(np.max(np.abs(centred), initial=0.0) * np.max(np.abs(other), initial=0.0))
    told = below > _ROUNDING * size
    return np.asarray(np.where(told, above / np.where(told, below, 1.0), 0.0))


def _centred(R: ArrayLike) -> tuple[Array, Array]:
    """Which entries are known, and these less the mean of their row, 0 elsewhere."""
    ratings = np.asarray(R, dtype=float)
    if ratings.ndim != 2:
        raise ShapeError(f"ratings must have shape (n, p); they have {ratings.shape}.")
    if np.isinf(ratings).any():
        i, j = np.argwhere(np.isinf(ratings))[0]
        raise DataError(f"rating [{i}, {j}] is infinite; write nan where nothing is known.")
    known = ~np.isnan(ratings)
    counts = known.sum(axis=1)
    if not counts.all():
        raise DataError(f"row {int(np.argmin(counts))} of the ratings knows nothing; drop it.")
    filled = np.where(known, ratings, 0.0)
    mean = filled.sum(axis=1) / counts
    return known.astype(float), np.where(known, filled - mean[:, None], 0.0)
