"""Graphs known in advance: from a list of edges, and the ones every textbook draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.graphs.build import merge_duplicates
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.graphs.space import make_space

# Relative difference up to which two squared lengths of one edge are taken for the same number.
SAME_LENGTH = 1e-9


def from_edges(n: int, edges: ArrayLike, sqdist: ArrayLike) -> NeighborGraph:
    """Graph of edges in any order and either direction; repeated ones are kept once.

    Parameters
    ----------
    n : int
        Number of nodes.
    edges : array_like of int, shape (m, 2)
    sqdist : array_like of float, shape (m,)
        SQUARED lengths.

    Raises
    ------
    DataError
        An edge is given twice with different lengths, or fails a check of `NeighborGraph`.
    ShapeError
        There is not one length for each edge.

    Examples
    --------
    >>> graph = from_edges(3, [[2, 1], [0, 1], [1, 2]], [4.0, 1.0, 4.0])
    >>> graph.edges, graph.sqdist
    (array([[0, 1], [1, 2]]), array([1., 4.]))
    """
    pairs = validate.pairs("edges", edges)
    lengths = np.asarray(sqdist, dtype=float)
    if lengths.shape != (len(pairs),):
        raise ShapeError(f"sqdist has shape {lengths.shape} for {len(pairs)} edges: pass one each.")
    distinct, position = sorted_pairs(pairs)
    kept = np.empty(len(distinct))
    kept[position] = lengths
    conflict = np.flatnonzero(np.abs(kept[position] - lengths) > SAME_LENGTH * np.abs(lengths))
    if conflict.size:
        e = conflict[0]
        raise DataError(
            f"edge ({pairs[e, 0]}, {pairs[e, 1]}) is given with squared lengths {lengths[e]} and "
            f"{kept[position[e]]}. Keep one of them, or their mean."
        )
    return NeighborGraph(n, distinct, kept, provenance=Provenance("from_edges"))


def complete(
    X: ArrayLike, *, metric: str = "euclidean", squared: bool = False, duplicates: str = "merge"
) -> NeighborGraph:
    """Graph of all pairs of points, or of all whose precomputed distance is known.

    Parameters
    ----------
    X, metric, squared, duplicates
        As for `sdpdr.graphs.knn`; two points are enough.

    Examples
    --------
    >>> complete([[0.0], [1.0], [3.0]]).sqdist
    array([1., 9., 4.])
    """
    space, index = merge_duplicates(make_space(X, metric, squared=squared, at_least=2), duplicates)
    edges = np.column_stack(np.triu_indices(space.n, 1))
    edges = edges[space.known(*edges.T)]
    return NeighborGraph(
        n=space.n,
        edges=edges,
        sqdist=space.sqdist(*edges.T),
        counts=np.bincount(index),
        index=index,
        provenance=Provenance("complete", space=space),
    )


def path(lengths: ArrayLike) -> NeighborGraph:
    """Path 0 - 1 - ... - m with the PLAIN edge lengths given, shape (m,).

    Examples
    --------
    >>> path([1, 2]).sqdist
    array([1., 4.])
    """
    lengths = np.asarray(lengths, dtype=float).ravel()
    start = np.arange(len(lengths))
    return _drawn("path", {}, len(lengths) + 1, np.column_stack([start, start + 1]), lengths)


def cycle(n: int, length: float = 1.0) -> NeighborGraph:
    """Cycle of n >= 3 nodes whose edges all have the PLAIN length given.

    Examples
    --------
    >>> cycle(3).edges
    array([[0, 1],
           [0, 2],
           [1, 2]])
    """
    n = validate.positive_integer("n", n, at_least=3)
    edges = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    return _drawn("cycle", {"n": n, "length": length}, n, edges, np.full(n, length))


def grid(rows: int, columns: int, spacing: float = 1.0) -> NeighborGraph:
    """Planar grid; node (r, c) has number r * columns + c. ``spacing`` is a PLAIN length.

    Examples
    --------
    >>> grid(3, 3).m
    12
    """
    rows = validate.positive_integer("rows", rows)
    columns = validate.positive_integer("columns", columns)
    node = np.arange(rows * columns).reshape(rows, columns)
    across = np.column_stack([node[:, :-1].ravel(), node[:, 1:].ravel()])
    down = np.column_stack([node[:-1].ravel(), node[1:].ravel()])
    edges = np.vstack([across, down])
    options = {"rows": rows, "columns": columns, "spacing": spacing}
    return _drawn("grid", options, node.size, edges, np.full(len(edges), spacing))


def _drawn(
    name: str, options: Mapping[str, object], n: int, edges: Index, lengths: ArrayLike
) -> NeighborGraph:
    graph = from_edges(n, edges, np.square(lengths))
    return replace(graph, provenance=Provenance(name, options))
