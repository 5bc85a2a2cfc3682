"""Signed similarities: of points by their neighbours, and of rows by their correlation."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.graphs import NeighborGraph, Provenance, edge_weights
from sdpdr.graphs.pairs import from_pairs, from_table, sorted_pairs, upper_pairs
from sdpdr.graphs.space import Space, make_space

METRICS = ("euclidean", "cosine")
# A variance is zero if it is below this share of the squared entries, which is rounding.
_ROUNDING = 1e-12
# Smallest heat weight, about the square root of the machine precision: smaller ones made pencils
# singular to rounding, or left a distant point without similar ones.
_LEAST = 1e-8


def near_and_far(
    X: ArrayLike,
    n_neighbors: int = 7,
    *,
    metric: str = "euclidean",
    weights: str = "binary",
) -> sp.csr_array:
    """Sparse similarities: weights for nearest neighbours, -1 for each point and its furthest one.

    Two points are similar if either is among the other's nearest, and dissimilar if either is
    furthest from the other. The furthest points are found exactly.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D)
    n_neighbors : int, default 7
    metric : {"euclidean", "cosine"}, default "euclidean"
        As for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Of near points, as for `sdpdr.graphs.edge_weights`. Points that coincide have 1. By
        ``"heat"`` edges weigh 1e-8 at least, so that a point far from all is similar to its nearest
        ones.

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
    validate.choice("metric", metric, METRICS)
    space = make_space(X, metric, at_least=2)
    table = space.nearest(validate.n_neighbors(n_neighbors, space.n))
    edges = upper_pairs(from_table(table))
    apart = sorted_pairs(np.column_stack([np.arange(space.n), space.furthest()]))[0]
    near = _weighed(space, edges, weights)
    far = from_pairs(space.n, apart).astype(float)
    return sp.csr_array(near - (far - far.multiply(near != 0)))


def _weighed(space: Space, edges: Index, weights: str) -> sp.csr_array:
    """Symmetric weights of near pairs. A graph has no edges of length zero, so these weigh one."""
    sqdist = space.sqdist(*edges.T)
    apart = sqdist > 0.0
    made = Provenance("near_and_far", space=space)
    graph = NeighborGraph(space.n, edges[apart], sqdist[apart], provenance=made)
    values = np.ones(len(edges))
    values[apart] = edge_weights(graph, weights)
    if weights == "heat":
        values = np.maximum(values, _LEAST)
    half = sp.csr_array((values, tuple(edges.T)), shape=(space.n, space.n))
    return sp.csr_array(half + half.T)


def pearson(R: ArrayLike, Q: ArrayLike | None = None) -> Array:
    r"""Correlations of rows over the entries that are known in both.

    .. math::

        S_{ij} = \frac{\sum_k (r_{ik} - \bar r_i)(r_{jk} - \bar r_j)}
        {\sqrt{\sum_k (r_{ik} - \bar r_i)^2}\,\sqrt{\sum_k (r_{jk} - \bar r_j)^2}} ,

    sums over the columns k known in both rows, means over all entries known in one. Zero where a
    square root vanishes: no common column, or no variation there.

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
        A row has no known entry; an entry is infinite; the numbers of columns differ.

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
        raise DataError(f"row {int(np.argmin(counts))} has no known entry; drop it.")
    filled = np.where(known, ratings, 0.0)
    mean = filled.sum(axis=1) / counts
    return known.astype(float), np.where(known, filled - mean[:, None], 0.0)
