"""Graphs from edges or neighbourhoods: merged duplicates, connected components, simple graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.advice import either
from sdpdr.base.arrays import Index
from sdpdr.base.errors import (
    AddedEdgesWarning,
    DataError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
    ShapeError,
    warn,
)
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.rows import counted, listed, numbered
from sdpdr.graphs.data import make_space
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.pairs import bridges, shortest_links, sorted_pairs
from sdpdr.graphs.space import Space

# Edges between two parts of a graph that was not made by a number of neighbours.
BRIDGES = 6
# Relative difference up to which two squared lengths of one edge count as equal.
SAME_LENGTH = 1e-9


def merge_duplicates(space: Space) -> tuple[Space, Index]:
    """Return the space of the distinct points, and the index of each original point in it.

    Points at distance zero leave a model without interior, and points at the distance of rounding
    nearly so.
    """
    same = space.representatives()
    nodes, index = np.unique(same, return_inverse=True)
    if len(nodes) == space.n:
        return space, index
    copies = np.flatnonzero(same != np.arange(space.n))
    repeat, were = ("repeats", "It was") if len(copies) == 1 else ("repeat", "They were")
    warn(
        f"{len(copies)} of {space.n} points {repeat} an earlier one: {numbered(copies)}. {were} "
        "merged"
        + either(
            "; graph.counts says how often each point occurs and graph.index where each row of X "
            "went.",
            ".",
        ),
        DuplicatePointsWarning,
    )
    return space.take(nodes), index


def connected(graph: NeighborGraph, space: Space, connect: str) -> NeighborGraph:
    """Return the graph with its components joined or dropped as requested."""
    validate.choice("connect", connect, ("error", "bridges", "mst", "largest", "none"))
    if connect == "none" or graph.is_connected:
        return graph
    if connect != "largest":
        space.require_joined()
    if connect == "bridges":
        return _bridged(graph, space)
    if connect == "mst":
        return graph.with_edges(shortest_links(space, graph.components))
    if connect == "error":
        own = either(", or connect='none' if constraints of your own join the components", "")
        return graph.require_connected(graph.ways_to_connect() + own)
    largest = graph.largest_component()
    dropped = np.flatnonzero(largest.index < 0)
    warn(
        f"kept the largest of {graph.n_components} components and dropped {len(dropped)} of "
        f"{len(graph.index)} points: {numbered(dropped)}."
        + either(" graph.index is -1 there.", ""),
        DroppedPointsWarning,
    )
    return largest


def _bridged(graph: NeighborGraph, space: Space) -> NeighborGraph:
    """Add several edges between components, with a warning; a single one would be a hinge."""
    requested = graph.provenance.options.get("n_neighbors", BRIDGES)
    each = requested if isinstance(requested, int) else BRIDGES
    added = bridges(space, graph.components, each)
    sizes = np.sort(np.bincount(graph.components))[::-1]
    edges = f"{counted(len(added), 'edge')} {'was' if len(added) == 1 else 'were'}"
    warn(
        f"the graph has {graph.n_components} components, of sizes {listed(sizes)}; {edges} added "
        f"to join them, up to {each} between two. Nothing but these "
        f"edges relates the components. If parts should not be apart, {graph.more_neighbors()}; "
        "if the rest is stray, pass connect='largest'; parts that belong apart are best embedded "
        "one by one.",
        AddedEdgesWarning,
    )
    return graph.with_edges(added)


@checks_keywords
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
    >>> from sdpdr.graphs import from_edges
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
    with np.errstate(invalid="ignore"):  # infinite lengths are refused below
        conflict = np.flatnonzero(np.abs(kept[position] - lengths) > SAME_LENGTH * np.abs(lengths))
    if conflict.size:
        e = conflict[0]
        raise DataError(
            f"edge ({pairs[e, 0]}, {pairs[e, 1]}) is given with squared lengths {lengths[e]} and "
            f"{kept[position[e]]}. Keep one of them, or their mean."
        )
    return NeighborGraph(n, distinct, kept, provenance=Provenance("from_edges"))


@checks_keywords
def complete(X: ArrayLike, *, metric: str = "euclidean") -> NeighborGraph:
    """Graph of all pairs of points, or of all whose precomputed distance is known.

    Parameters
    ----------
    X, metric
        As for `sdpdr.graphs.knn`; two points are enough.

    Examples
    --------
    >>> from sdpdr.graphs import complete
    >>> complete([[0.0], [1.0], [3.0]]).sqdist
    array([1., 9., 4.])
    """
    space, index = merge_duplicates(make_space(X, metric, at_least=2))
    edges = np.column_stack(np.triu_indices(space.n, 1))
    known = edges[space.known(*edges.T)]
    return NeighborGraph.of_points(known, index, Provenance("complete", space=space))


@checks_keywords
def path(lengths: ArrayLike) -> NeighborGraph:
    """Path 0 - 1 - ... - m with the PLAIN edge lengths given, shape (m,).

    Examples
    --------
    >>> from sdpdr.graphs import path
    >>> path([1, 2]).sqdist
    array([1., 4.])
    """
    lengths = np.asarray(lengths, dtype=float).ravel()
    start = np.arange(len(lengths))
    return _drawn("path", {}, len(lengths) + 1, np.column_stack([start, start + 1]), lengths)


@checks_keywords
def cycle(n: int) -> NeighborGraph:
    """Cycle of n >= 3 nodes whose edges all have length 1.

    Examples
    --------
    >>> from sdpdr.graphs import cycle
    >>> cycle(3).edges
    array([[0, 1],
           [0, 2],
           [1, 2]])
    """
    n = validate.positive_integer("n", n, at_least=3)
    edges = np.column_stack([np.arange(n), np.roll(np.arange(n), -1)])
    return _drawn("cycle", {"n": n}, n, edges, np.ones(n))


@checks_keywords
def grid(rows: int, columns: int, spacing: float = 1.0) -> NeighborGraph:
    """Planar grid; node (r, c) has number r * columns + c. ``spacing`` is a PLAIN length.

    Examples
    --------
    >>> from sdpdr.graphs import grid
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
    """A graph with PLAIN edge lengths, and the function that made it as provenance."""
    plain = np.asarray(lengths, dtype=float)
    wrong = np.flatnonzero(~(plain > 0.0))
    if wrong.size:
        raise DataError(f"length {wrong[0]} is {plain[wrong[0]]:g}: lengths must be positive.")
    graph = from_edges(n, edges, np.square(plain))
    return replace(graph, provenance=Provenance(name, options))
