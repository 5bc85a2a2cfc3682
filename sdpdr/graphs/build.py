"""From neighbourhoods to a finished graph: merging duplicates, cliques, connecting the parts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Index
from sdpdr.base.errors import (
    AddedEdgesWarning,
    DataError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
    warn,
)
from sdpdr.base.rows import counted, listed, numbered
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.pairs import bridges, shortest_links, upper_pairs
from sdpdr.graphs.space import Space

# Up to this many points an error message may take the time to search for a way out.
ADVICE_POINTS = 2000
# Between two parts of a graph that was not made by a number of neighbours.
BRIDGES = 6


def merge_duplicates(space: Space, duplicates: str) -> tuple[Space, Index]:
    """Space of the distinct points, and for each original point its place in it.

    Points at distance zero leave a model without interior, and points at the distance of rounding
    nearly so. One of them stands for all: the first. Distinct points keep their order.

    Parameters
    ----------
    space : Space
    duplicates : {"merge", "error"}

    Raises
    ------
    DataError
        There are duplicates and ``duplicates="error"``.

    Warns
    -----
    DuplicatePointsWarning
        There are duplicates and they were merged.
    """
    validate.choice("duplicates", duplicates, ("merge", "error"))
    same = space.representatives()
    nodes, index = np.unique(same, return_inverse=True)
    if len(nodes) == space.n:
        return space, index
    copies = np.flatnonzero(same != np.arange(space.n))
    one = len(copies) == 1
    repeat = "repeats" if one else "repeat"
    found = f"{len(copies)} of {space.n} points {repeat} an earlier one: {numbered(copies)}."
    if duplicates == "error":
        them = "it" if one else "them"
        raise DataError(
            f"{found} Drop {them}, or pass duplicates='merge' to merge and count {them}."
        )
    warn(
        f"{found} {'It was' if one else 'They were'} merged; graph.counts says how often each "
        "point occurs and graph.index where each row of X went.",
        DuplicatePointsWarning,
    )
    return space.take(nodes), index


def finish(
    space: Space,
    index: Index,
    provenance: Provenance,
    angles: bool,
    connect: str,
    way_out: Callable[[], str],
) -> NeighborGraph:
    """Graph whose edges are the neighbourhoods, either way round, then connected as asked.

    Parameters
    ----------
    space : Space
        The distinct points.
    index : ndarray of shape (n_original,)
        Place of each original point among them.
    provenance : Provenance
        Of the graph, with the neighbourhoods.
    angles : bool
        Whether to add every pair inside a neighbourhood.
    connect : {"error", "bridges", "mst", "largest", "none"}
    way_out : callable
        Says how to choose the neighbourhoods so that the graph is connected. Called only for
        the message of an error, on few enough points.
    """
    edges = upper_pairs(provenance.neighborhoods)
    graph = NeighborGraph(
        n=space.n,
        edges=edges,
        sqdist=space.sqdist(*edges.T),
        counts=np.bincount(index),
        index=index,
        provenance=provenance,
    )
    return connected(graph.with_cliques() if angles else graph, space, connect, way_out)


def connected(
    graph: NeighborGraph, space: Space, connect: str, way_out: Callable[[], str]
) -> NeighborGraph:
    """The graph, its parts joined or dropped as asked (see `finish`)."""
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
        more = way_out() if graph.n <= ADVICE_POINTS else "take larger neighbourhoods"
        return graph.require_connected(
            f"{more}, or connect='bridges' to add several edges between the components, or "
            "connect='mst' to add the shortest missing edges, or connect='largest' to keep the "
            "largest component only"
        )
    largest = graph.largest_component()
    dropped = np.flatnonzero(largest.index < 0)
    warn(
        f"kept the largest of {graph.n_components} components and dropped {len(dropped)} of "
        f"{len(graph.index)} points: {numbered(dropped)}. graph.index is -1 there.",
        DroppedPointsWarning,
    )
    return largest


def _bridged(graph: NeighborGraph, space: Space) -> NeighborGraph:
    """Several edges between the parts, with a warning: one would be a hinge."""
    asked = graph.provenance.options.get("n_neighbors", BRIDGES)
    each = asked if isinstance(asked, int) else BRIDGES
    added = bridges(space, graph.components, each)
    sizes = np.sort(np.bincount(graph.components))[::-1]
    edges = f"{counted(len(added), 'edge')} {'was' if len(added) == 1 else 'were'}"
    warn(
        f"the graph has {graph.n_components} components, of sizes {listed(sizes)}; {edges} added "
        f"to join them, up to {each} between two. What lies between the components is known by "
        "what was added alone. Take more neighbours if parts should not "
        "be apart, or connect='largest' if the rest is stray.",
        AddedEdgesWarning,
    )
    return graph.with_edges(added)
