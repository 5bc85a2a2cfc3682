"""Ratings of items spread over users with similar and opposite tastes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, IgnoredLabelsWarning
from sdpdr.graphs import validate
from sdpdr.linalg.svec import Array, Matrix
from sdpdr.propagation.alternating import alternating
from sdpdr.propagation.eigen import eigen
from sdpdr.propagation.graph import LabelledGraph, labelled_graph
from sdpdr.propagation.harmonic import fixed_lam, harmonic, mixed_graph
from sdpdr.propagation.record import Propagation
from sdpdr.propagation.similarity import pearson

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
        By item; items that needed none (all ratings known, none, or all alike) are missing.
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
    unreached : {"error", "mean"}, default "error"
        What to do with nodes that similar pairs join to no label: raise, or leave them out and
        give them the mean of the labels.
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
    """
    validate.choice("mode", method, tuple(METHODS))
    validate.choice("unreached", unreached, ("error", "mean"))
    if unreached == "error" or not graph.unreached.size or method == "mixed_graph":
        found = METHODS[method](graph, **options)
        return found.y, found
    inner, kept = graph.reached_part()
    values = np.where(np.isnan(graph.labels), np.nanmean(graph.labels), graph.labels)
    if not inner.unlabelled.size:
        raise DataError("similar pairs join no node without a label to one with a label.")
    found = METHODS[method](inner, **options)
    values[kept] = found.y
    return values, found


def spread_ratings(
    R: ArrayLike, method: str = "eigen", *, similarity: Matrix | None = None, **options: Any
) -> SpreadRatings:
    """Estimate unknown ratings, item by item, from the similarity of users.

    One problem for each item: users that rated it are labelled. Users who similar pairs join to
    none of them, and items with no rating or equal ones, get means.

    Parameters
    ----------
    R : array_like of shape (users, items)
        nan where not known.
    method : {"eigen", "alternating", "fixed_lam", "harmonic", "mixed_graph"}, default "eigen"
        See `spread_labels`.
    similarity : array_like or sparse array of shape (users, users), optional
        Signed; correlations of users (`pearson`) by default.
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
    >>> spread_ratings(R, "harmonic").ratings[:, 2].tolist()
    [4.0, 4.0, 2.0, 2.0]
    """
    ratings = np.array(R, dtype=float)
    S = pearson(ratings) if similarity is None else similarity
    known = ~np.isnan(ratings)
    if not known.any():
        raise DataError("no rating is known.")
    means = np.nanmean(ratings, axis=1)
    found: dict[int, Propagation] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", IgnoredLabelsWarning)
        for j in range(ratings.shape[1]):
            given = ratings[known[:, j], j]
            if given.size == len(ratings):
                continue
            if not given.size or np.ptp(given) == 0.0:
                ratings[~known[:, j], j] = means[~known[:, j]] if not given.size else given[0]
                continue
            graph = labelled_graph(S, ratings[:, j])
            ratings[:, j], found[j] = spread_labels(graph, method, unreached="mean", **options)
    _warn_once(caught, len(found))
    return SpreadRatings(ratings, found, S)


def _warn_once(caught: list[warnings.WarningMessage], items: int) -> None:
    ignored = sum(issubclass(w.category, IgnoredLabelsWarning) for w in caught)
    for w in caught:
        if not issubclass(w.category, IgnoredLabelsWarning):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    if ignored:
        warnings.warn(
            f"ratings hardly decide the optimum for {ignored} of {items} items; compare with "
            "method='harmonic'.",
            IgnoredLabelsWarning,
            stacklevel=3,
        )
