"""Graphs of states that follow each other in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.graphs.build import connected
from sdpdr.graphs.nearest import knn
from sdpdr.graphs.neighbor_graph import NeighborGraph
from sdpdr.graphs.transitions import step_starts


def sequences(
    X: ArrayLike,
    n_neighbors: int = 6,
    lengths: Sequence[int] | None = None,
    *,
    metric: str = "euclidean",
    squared: bool = False,
    angles: bool = False,
    connect: str = "error",
) -> NeighborGraph:
    """Graph that joins each state to its nearest others, and to the next of its sequence.

    Every sequence is then connected; two of them need a state of one among the neighbours of
    the other.

    Parameters
    ----------
    X : array_like of shape (n, D), or (n, n) for precomputed distances
        The states of all sequences, one sequence after the other.
    n_neighbors : int, default 6
    lengths : sequence of int, optional
        Number of states of each sequence; by default there is one.
    metric, squared, angles
        As for `knn`.
    connect : {"error", "mst", "largest", "none"}, default "error"
        What to do with sequences that no edge joins: raise, add the shortest edges between
        them, keep the largest part, or return them as they are.

    Returns
    -------
    NeighborGraph

    Raises
    ------
    DataError, DisconnectedGraphError
        As `knn`; and for lengths that do not add up to the number of states.

    References
    ----------
    Bowling, Ghodsi and Wilkinson, "Action respecting embedding", ICML 2005.

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [6.0], [0.1]]
    >>> sequences(X, n_neighbors=1).edges.tolist()
    [[0, 1], [0, 4], [1, 2], [1, 4], [2, 3], [3, 4]]
    """
    graph = knn(X, n_neighbors, metric=metric, squared=squared, angles=angles, connect="none")
    starts = step_starts(len(graph.index), lengths)
    steps = np.column_stack([graph.index[starts], graph.index[starts + 1]])
    graph = graph.with_edges(steps[steps[:, 0] != steps[:, 1]])
    options = {"n_neighbors": n_neighbors, "lengths": lengths, "connect": connect}
    graph = replace(
        graph, provenance=replace(graph.provenance, method="sequences", options=options)
    )
    space = graph.provenance.space
    assert space is not None
    return connected(graph, space, connect, lambda: "take more neighbours")
