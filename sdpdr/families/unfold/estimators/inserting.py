"""New points in a finished embedding, whose points are their anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.unfold.anchored import Placed, anchored_mvu, place
from sdpdr.graphs import NeighborGraph, from_edges
from sdpdr.graphs.pairs import sorted_pairs
from sdpdr.graphs.space import Euclidean
from sdpdr.model.blocks import Relation, Slack
from sdpdr.solving.solve import solve

# Price of a relative change of squared length, beside the squared extent of the anchors: what a
# point could win in variance by it.
_PRICE = 100.0


def priced(coordinates: Array, further: float = 0.0) -> Slack:
    """Lengths that change at a price, beside places of such an extent and what lies further out."""
    extent = np.square(coordinates - coordinates.mean(axis=0)).sum(axis=1).max()
    return Slack(_PRICE * (float(np.sqrt(extent)) + further) ** 2, relative=True)


def insert(
    X: ArrayLike,
    embedding: ArrayLike,
    new: ArrayLike,
    n_neighbors: int = 6,
    *,
    jointly: bool = False,
    isometry: Relation | None = None,
    solver: Any = "auto",
    tol: float | None = None,
) -> Placed:
    r"""Put new points into a finished embedding, near to their neighbours.

    The embedded points are anchors of `sdpdr.methods.anchored_mvu`, and only lengths of edges
    that end in a new point count. An embedding in few dimensions does not keep all lengths, so
    they are priced by default. A new point that is an embedded one lies where that does.

    Parameters
    ----------
    X : array_like of shape (n, D)
        Points that are embedded.
    embedding : array_like of shape (n, r)
        Where they are.
    new : array_like of shape (m, D)
    n_neighbors : int, default 6
    jointly : bool, default False
        Whether edges between new points count too. Otherwise each has its nearest neighbours
        among the embedded points alone, and is placed as if it were the only one.
    isometry : {"inequality", "equality"}, Band or Slack, optional
        Default: a relative ``Slack`` so dear that lengths change by about one percent.
    solver : str or Solver, default "auto"
    tol : float, optional
        By default that of a configured solver, or 1e-6.

    Returns
    -------
    Placed
        Coordinates and trust of the new points.

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError, InfeasibleError
        As `sdpdr.methods.anchored_mvu`.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> placed = insert(arc, t, [[np.cos(1.234), np.sin(1.234)]], n_neighbors=2)
    >>> placed.coordinates.round(3)
    array([[1.234]])
    """
    known, added = validate.points(X, at_least=2), np.atleast_2d(np.asarray(new, dtype=float))
    places = np.asarray(embedding, dtype=float)
    places = places[:, None] if places.ndim == 1 else places
    if len(places) != len(known) or added.shape[1] != known.shape[1]:
        raise ShapeError(
            f"X has shape {known.shape}, embedding {places.shape} and new {added.shape}: X needs "
            "as many rows as the embedding and as many columns as new."
        )
    if not np.isfinite(added).all():
        raise DataError("the new points hold nan or infinite numbers.")
    parts = [added] if jointly else list(added[:, None, :])
    found = []
    for part in parts:
        there = None if jointly else _place_of(part[0], known, places)
        if there is not None:
            found.append((there[None, :], np.zeros(1)))
            continue
        graph, used = _joined(known, part, n_neighbors)
        anchors = np.arange(used.size)
        relation = isometry or priced(places[used])
        model = anchored_mvu(graph, anchors, places[used], relation, "anchors")
        solution = solve(model, solver, tol=tol)
        placed = place(solution, graph, anchors, places[used])
        found.append((placed.coordinates[used.size :], placed.trust[used.size :]))
    return Placed(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _place_of(new: Array, known: Array, places: Array) -> Array | None:
    """Where a new point lies that is an embedded one; None where it is none, or torn apart.

    A length of zero cannot be kept at a relative price but by this place, and no solver likes it.
    """
    at = np.flatnonzero((known == new).all(axis=1))
    if at.size == 0 or np.ptp(places[at], axis=0).any():
        return None
    return np.asarray(places[at[0]])


def _joined(known: Array, added: Array, k: int) -> tuple[NeighborGraph, Index]:
    """Edges from new points to their nearest, and the known points at their ends, which lead.

    A new point at the place of another has an edge of next to no length.
    """
    k = validate.n_neighbors(k, len(known) + 1)
    everything = Euclidean(np.vstack([known, added]))
    own = np.arange(len(known), everything.n)
    ends = everything.nearest(k, rows=own)
    edges, _ = sorted_pairs(np.column_stack([np.repeat(own, k), ends.ravel()]))
    used = np.unique(edges[edges < len(known)])
    nodes = np.append(used, own)
    rank = np.searchsorted(nodes, edges)
    floor = np.finfo(float).eps * max(float(np.max(np.square(everything.X))), 1e-300)
    return from_edges(nodes.size, rank, np.maximum(everything.sqdist(*edges.T), floor)), used
