"""Signed similarities of points and users, and ratings spread over them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataError, IgnoredLabelsWarning, ShapeError, UnobservedWarning, warn
from sdpdr.base.rows import listed
from sdpdr.families.propagate.graph import LabelledGraph, labelled_graph
from sdpdr.families.propagate.harmonic import fixed_lam, harmonic, mixed_graph
from sdpdr.families.propagate.least_ratio import alternating, eigen
from sdpdr.families.propagate.pencil import Propagation
from sdpdr.graphs import NeighborGraph, Provenance, edge_weights
from sdpdr.graphs.pairs import from_pairs, from_table, sorted_pairs, upper_pairs
from sdpdr.graphs.space import Space, make_space

METRICS = ("euclidean", "cosine")
# What rounding leaves of a variance, relatively.
_ROUNDING = 1e-12
# Least weight of heat. With less, pencils were singular to rounding, or a point far from all was
# similar to none; beside weights near one, this much changes no more than half of the digits.
_LEAST = 1e-8


def near_and_far(
    X: ArrayLike,
    n_neighbors: int = 7,
    *,
    metric: str = "euclidean",
    weights: str = "binary",
    bandwidth: float | None = None,
) -> sp.csr_array:
    """Similarity of near points, 1 or by their distance, and -1 of the furthest ones; sparse.

    Two points are similar if either is among the other's nearest, and dissimilar if either is
    furthest from the other. The furthest points are found exactly; they are few, at the rim.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D)
    n_neighbors : int, default 7
    metric : {"euclidean", "cosine"}, default "euclidean"
        As for `sdpdr.graphs.knn`.
    weights : {"binary", "heat", "cosine"}, default "binary"
        Of near points, as for `sdpdr.graphs.edge_weights`. Points that coincide have 1.
    bandwidth : float, optional
        Of ``"heat"``; by default the median length of the edges. Edges weigh 1e-8 at least, so that
        a point far from all is similar to its nearest ones.

    Returns
    -------
    csr_array of shape (n, n)

    Raises
    ------
    DataError
        As `sdpdr.graphs.knn`; or half of the edges are so much longer than the bandwidth that they
        weigh less than 1e-8.

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
    near = _weighed(space, edges, weights, bandwidth)
    far = from_pairs(space.n, apart).astype(float)
    return sp.csr_array(near - (far - far.multiply(near != 0)))


def _weighed(space: Space, edges: Index, weights: str, bandwidth: float | None) -> sp.csr_array:
    """Weights of near pairs; no pair is at distance zero in a graph, and such pairs have one."""
    sqdist = space.sqdist(*edges.T)
    apart = sqdist > 0.0
    made = Provenance("near_and_far", space=space)
    graph = NeighborGraph(space.n, edges[apart], sqdist[apart], provenance=made)
    values = np.ones(len(edges))
    values[apart] = edge_weights(graph, weights, bandwidth)
    if weights == "heat" and graph.m:
        _require_warm(graph, values[apart])
        values = np.maximum(values, _LEAST)
    half = sp.csr_array((values, tuple(edges.T)), shape=(space.n, space.n))
    return sp.csr_array(half + half.T)


def _require_warm(graph: NeighborGraph, heat: Array) -> None:
    """Refuse weights most of which are next to nothing.

    Raises
    ------
    DataError
    """
    if np.median(heat) < _LEAST:
        typical = float(np.sqrt(np.median(graph.sqdist)))
        raise DataError(
            f"the bandwidth is too short: half of the edges are longer than {typical:.3g}, and "
            f"weigh less than {_LEAST:g} beside those of no length. Leave it out, which takes "
            f"{typical:.3g}."
        )


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


METHODS = {
    "eigen": eigen,
    "alternating": alternating,
    "fixed_lam": fixed_lam,
    "harmonic": harmonic,
    "mixed_graph": mixed_graph,
}
"""Ways to spread labels, by name."""


@dataclass(frozen=True, eq=False)
class SpreadRatings:
    """Ratings of all items by all users.

    Attributes
    ----------
    ratings : array of shape (users, items)
        Those given where they were, estimates elsewhere.
    propagations : mapping from int to Propagation
        By item, of what was spread (ratings, or what they differ by from the user's mean); items
        that needed none (all ratings known, none, or all alike) are missing.
    similarity : array of shape (users, users)
    """

    ratings: Array
    propagations: Mapping[int, Propagation]
    similarity: Array


def spread_labels(
    graph: LabelledGraph, method: str = "eigen", *, unreached: str = "error", **options: Any
) -> tuple[Array, Propagation]:
    """Labels of all nodes by a method of this room.

    Parameters
    ----------
    graph : LabelledGraph
    method : {"eigen", "alternating", "fixed_lam", "harmonic", "mixed_graph"}, default "eigen"
    unreached : {"error", "warn", "mean"}, default "error"
        What to do with nodes that similar pairs join to no label: raise, or leave them out and
        give them the mean of the labels, with a warning or without.
    **options
        Of the method, such as ``lam`` and ``beta_0``.

    Returns
    -------
    values : array of shape (n,)
    found : Propagation
        Of the nodes that took part.

    Raises
    ------
    UnknownNameError, DataError, DisconnectedGraphError

    Warns
    -----
    UnobservedWarning
        ``unreached="warn"``, and there are such nodes.
    """
    validate.choice("mode", method, tuple(METHODS))
    validate.choice("unreached", unreached, ("error", "warn", "mean"))
    if unreached == "error" or not graph.unreached.size or method == "mixed_graph":
        found = METHODS[method](graph, **options)
        return found.y, found
    if unreached == "warn":
        warn(
            f"similar pairs join {graph.unreached.size} of {graph.n} nodes to no label: "
            f"{listed(graph.unreached)}. They have the mean of the labels, which says "
            "nothing of them. Label one in each part, or take more neighbours.",
            UnobservedWarning,
        )
    inner, kept = graph.reached_part()
    values = np.where(np.isnan(graph.labels), np.nanmean(graph.labels), graph.labels)
    if not inner.unlabelled.size:
        raise DataError("similar pairs join no node without a label to one with a label.")
    found = METHODS[method](inner, **options)
    values[kept] = found.y
    return values, found


def spread_ratings(
    R: ArrayLike,
    method: str = "harmonic",
    *,
    similarity: Matrix | None = None,
    centred: bool = True,
    **options: Any,
) -> SpreadRatings:
    """Estimate unknown ratings, item by item, from the similarity of users.

    One problem for each item: users that rated it are labelled, by how far they rated it above
    their own mean, that of all ratings for a user without any. Users who similar pairs join to none
    of them, and items with no rating or equal ones, get means.

    Parameters
    ----------
    R : array_like of shape (users, items)
        nan where not known.
    method : {"harmonic", "fixed_lam", "eigen", "alternating", "mixed_graph"}, default "harmonic"
        See `spread_labels`. Values of least ratio may lie far beyond the ratings.
    similarity : array_like or sparse array of shape (users, users), optional
        Signed; correlations of users (`pearson`) by default.
    centred : bool, default True
        Whether to spread what users rated above or below their mean, to which it is added again;
        else the ratings themselves, as if all users had one scale.
    **options
        Of the method.

    Returns
    -------
    SpreadRatings

    Raises
    ------
    UnknownNameError, ShapeError, DataError

    Warns
    -----
    IgnoredLabelsWarning
        Once, with the number of items whose ratings hardly decide.

    References
    ----------
    Tong thesis, section 3.2.3.

    Examples
    --------
    >>> nan = float("nan")
    >>> R = [[5.0, 1.0, 4.0], [4.0, 1.0, nan], [1.0, 5.0, 2.0], [2.0, 5.0, nan]]
    >>> spread_ratings(R, centred=False).ratings[:, 2].tolist()
    [4.0, 4.0, 2.0, 2.0]
    >>> spread_ratings(R).ratings[:, 2].round(2).tolist()
    [4.0, 3.17, 2.0, 2.83]
    """
    ratings = np.array(R, dtype=float)
    S = pearson(ratings) if similarity is None else similarity
    known = ~np.isnan(ratings)
    if not known.any():
        raise DataError("no rating is known.")
    overall, counts = np.nanmean(ratings), known.sum(axis=1)
    rated = np.where(known, ratings - overall, 0.0).sum(axis=1)
    means = overall + rated / np.maximum(counts, 1)
    if centred:
        ratings -= means[:, None]
    found: dict[int, Propagation] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IgnoredLabelsWarning)
        for j in range(ratings.shape[1]):
            given = ratings[known[:, j], j]
            if given.size == len(ratings):
                continue
            if not given.size or np.ptp(given) == 0.0:
                rest = means * (not centred) if not given.size else np.full(means.size, given[0])
                ratings[~known[:, j], j] = rest[~known[:, j]]
                continue
            graph = labelled_graph(S, ratings[:, j])
            ratings[:, j], found[j] = spread_labels(graph, method, unreached="mean", **options)
    _warn_once(caught, len(found))
    if centred:
        # Of what is known, the rating as it was given.
        ratings = np.where(known, np.asarray(R, dtype=float), ratings + means[:, None])
    return SpreadRatings(ratings, found, S)


def _warn_once(caught: list[warnings.WarningMessage], items: int) -> None:
    ignored = sum(issubclass(w.category, IgnoredLabelsWarning) for w in caught)
    for w in caught:
        if not issubclass(w.category, IgnoredLabelsWarning):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    if ignored:
        warn(
            f"ratings hardly decide the optimum for {ignored} of {items} items; compare with "
            "method='harmonic'.",
            IgnoredLabelsWarning,
        )
