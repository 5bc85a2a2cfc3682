"""Unfolding with anchors, whose coordinates are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import (
    DataError,
    DisconnectedGraphError,
    FewAnchorsWarning,
    InfeasibleError,
    ShapeError,
    warn,
)
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.rows import counted, listed
from sdpdr.families.limits import ROUNDING
from sdpdr.families.unfold.mvu import mvu, stretch_of
from sdpdr.graphs import NeighborGraph, geodesics
from sdpdr.graphs.given import takes_graph
from sdpdr.model import Block, Model
from sdpdr.model.blocks import Band, Relation, Slack, Variance
from sdpdr.model.blocks.anchors import AnchoredIsometry, Coordinates, positions
from sdpdr.model.blocks.entries import Dispersion
from sdpdr.model.blocks.isometry import as_relation
from sdpdr.model.language import psd
from sdpdr.program import Solution

# Relative error of distances between anchors whose coordinates were rounded for a file.
_COORDINATES = 5e-7


@takes_graph
def anchored_mvu(
    graph: NeighborGraph,
    anchors: ArrayLike | None = None,
    coordinates: ArrayLike | None = None,
    isometry: Relation = "inequality",
    about: Literal["mean", "anchors"] = "mean",
) -> Model:
    r"""Semi-supervised unfolding: some points have known coordinates, the others are found.

    Let K be the Gram matrix of the unknown points and Y their projections to the coordinates of
    the anchors :math:`a_k \in R^r`:

    .. math::

        \max_{Z \succeq 0}\ \operatorname{var} \quad\text{s.t.}\quad
        Z = \begin{pmatrix} I & Y^T \\ Y & K \end{pmatrix},\quad
        K_{ii} + K_{jj} - 2K_{ij} \;(\le, =)\; d_{ij},\quad
        |a_k|^2 - 2 a_k^T y_j + K_{jj} \;(\le, =)\; d_{kj} .

    :math:`Z \succeq 0` means :math:`K \succeq Y Y^T`: the points may leave the space of the
    anchors, by :math:`K_{jj} - |y_j|^2`, which `place` returns as ``trust``. The anchors are
    eliminated, since with fixed inner products there would be no interior. Edges between two
    anchors are constants, so `Slack` does not penalize their errors.

    The dual: weights w with :math:`S = L_{uu}(w) - I \succeq 0` (for ``about="anchors"``), the
    Laplacian grounded at the anchors, bound the optimum by :math:`\sum w d - \sum w_{kj}
    |a_k|^2 + \operatorname{tr} B^T S^+ B`, where the rows of B are the weighted sums of the
    anchors next to each unknown point.

    Parameters
    ----------
    graph : NeighborGraph
        Graph of all points; every connected component needs an anchor.
    anchors : array_like of int, shape (p,), optional
        Nodes of known coordinates. Without any, this is `mvu`.
    coordinates : array_like of shape (p, r)
        Coordinates of the anchors.
    isometry : {"inequality", "equality", "band:0.05", ...}, Band or Slack, default "inequality"
        Use ``Slack`` if anchors are noisy and contradict the lengths.
    about : {"mean", "anchors"}, default "mean"
        Maximise the variance of all points about their mean, or the sum of squared distances of
        the unknown points from the mean of the anchors.

    Returns
    -------
    Model
        Over Z of order r + n - p; pass its solution to `place`.

    Raises
    ------
    DataError, ShapeError
        Anchors and coordinates do not fit each other or the graph.
    DisconnectedGraphError
        A component without an anchor is unbounded.
    InfeasibleError
        Two anchors are further apart than the shortest path between them.

    Warns
    -----
    FewAnchorsWarning
        The anchors span fewer than r dimensions, so mirror images are solutions, too.

    References
    ----------
    Ham, Lee and Saul, "Semisupervised alignment of manifolds", AISTATS 2005; Biswas and Ye,
    "Semidefinite programming for ad hoc wireless sensor network localization", IPSN 2004;
    Vasiloglou thesis, chapter 6.

    Examples
    --------
    >>> from sdpdr.methods import anchored_mvu, place
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> path = graphs.path([2.0, 2.5])
    >>> model = anchored_mvu(path, [0, 2], [[0.0], [3.0]], "equality")
    >>> placed = place(sdpdr.solve(model, tol=1e-8), path, [0, 2], [[0.0], [3.0]])
    >>> placed.coordinates.ravel().round(4), placed.trust.round(4)
    (array([0.   , 1.125, 3.   ]), array([0.    , 2.7344, 0.    ]))
    """
    isometry = as_relation(isometry)
    if anchors is None or not np.size(anchors):
        return mvu(graph, isometry)
    known = known_points(graph, anchors, coordinates)
    _require_bounded(graph, known)
    limits: tuple[Block, ...] = ()
    if not isinstance(isometry, Slack):
        paths = stretch_of(isometry) * geodesics(graph, known.nodes)
        _require_consistent(graph, known, isometry, paths[:, known.nodes])
        # |y_j| <= |a_k| + path from k to j; with this row, multipliers prove a bound.
        norms = np.linalg.norm(known.centred, axis=1)
        reach = np.min(norms[:, None] + paths[:, known.unknown], axis=0)
        r = known.centred.shape[1]
        Z = psd("Z", r + reach.size)
        limits = ((Z.trace() <= r + float(reach @ reach)).named("reach"),)
    validate.choice("about", about, ("mean", "anchors"))
    _warn_of_few(known)
    r, unknown = known.centred.shape[1], known.unknown
    vectors = positions(graph.n, known.nodes, known.centred)
    counts = np.asarray(graph.counts, dtype=float)
    objective: Block
    if about == "mean":
        objective = Dispersion(graph.n, counts, gram="Z", vectors=vectors)
    else:
        objective = Variance(r + unknown.size, np.append(np.zeros(r), counts[unknown]), "Z")
    blocks = (
        Coordinates(unknown.size, r),
        AnchoredIsometry(graph, known.nodes, known.centred, isometry),
        objective,
    )
    return Model((*blocks, *limits), name="anchored_mvu")


@dataclass(frozen=True, eq=False)
class Placed:
    """All points of a graph in the coordinates of its anchors.

    Attributes
    ----------
    coordinates : array of shape (n, r)
        Coordinates of all points; those of anchors are as given.
    trust : array of shape (n,)
        Squared distance of each point from the space of the coordinates; 0 for anchors. Lengths
        between points with 0 are those of the program.
    """

    coordinates: Array
    trust: Array


@checks_keywords
def place(
    solution: Solution, graph: NeighborGraph, anchors: ArrayLike, coordinates: ArrayLike
) -> Placed:
    """Return the coordinates of all points in a solution of `anchored_mvu`.

    Parameters
    ----------
    solution : Solution
    graph, anchors, coordinates
        The arguments from which the model was made.

    Returns
    -------
    Placed

    Raises
    ------
    SolveFailedError
        The solver returned no point.
    """
    known = known_points(graph, anchors, coordinates)
    r = known.centred.shape[1]
    bordered = solution.gram("Z")
    shadows, squares = bordered[r:, :r], bordered.diagonal()[r:]
    placed, trust = np.zeros((graph.n, r)), np.zeros(graph.n)
    placed[known.nodes] = known.coordinates
    placed[known.unknown] = shadows + known.centre
    trust[known.unknown] = np.maximum(squares - np.sum(np.square(shadows), axis=1), 0.0)
    return Placed(placed, trust)


@dataclass(frozen=True, eq=False)
class MissedLengths:
    """Differences between the distances of positions and the lengths of a graph's edges.

    ``share`` and ``most`` are the root mean square and the maximum of the differences, relative to
    the root mean square of the lengths. The maximum is between ``samples``, whose length ``given``
    became ``found``.
    """

    share: float
    most: float
    samples: Index
    given: float
    found: float


def missed_lengths(graph: NeighborGraph, places: Array) -> MissedLengths:
    """Compare the distances of positions of shape (n, r) with the lengths of a graph's edges."""
    given, found = np.sqrt(graph.sqdist), graph.lengths(places)
    differences = np.abs(found - given)
    worst, size = int(np.argmax(differences)), float(np.sqrt(np.mean(graph.sqdist)))
    return MissedLengths(
        float(np.sqrt(np.mean(np.square(differences)))) / size,
        float(differences[worst]) / size,
        graph.first_samples[graph.edges[worst]],
        float(given[worst]),
        float(found[worst]),
    )


@dataclass(frozen=True, eq=False)
class KnownPoints:
    """Anchors of a graph, their coordinates, the mean of the coordinates, and all other nodes."""

    nodes: Index
    coordinates: Array
    centre: Array
    unknown: Index

    @property
    def centred(self) -> Array:
        """Coordinates measured from the mean."""
        return self.coordinates - self.centre


def known_points(
    graph: NeighborGraph, anchors: ArrayLike, coordinates: ArrayLike | None
) -> KnownPoints:
    """Check anchors and their coordinates, and return them with the unknown nodes."""
    nodes = validate.numbers("anchors", anchors, graph.n, "node numbers")
    found, count = np.unique(nodes, return_counts=True)
    if np.any(count > 1):
        raise DataError(f"anchor {found[np.argmax(count)]} is given twice; give each once.")
    values = np.asarray(coordinates, dtype=float)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[0] != nodes.size or not values.shape[1]:
        raise ShapeError(
            f"coordinates must have shape ({nodes.size}, r), a row for each anchor; they have "
            f"{values.shape}."
        )
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise DataError(f"the coordinates of anchor {nodes[row]} are not finite.")
    unknown = np.setdiff1d(np.arange(graph.n), nodes)
    if not unknown.size:
        raise DataError(
            "every point is an anchor, so no coordinates are unknown. Leave out the points to be "
            "found."
        )
    return KnownPoints(nodes, values, values.mean(axis=0), unknown)


def _require_bounded(graph: NeighborGraph, known: KnownPoints) -> None:
    """Raise an error if a connected component has no anchor."""
    held = np.isin(graph.components, graph.components[known.nodes])
    if held.all():
        return
    parts = [np.flatnonzero(graph.components == c) for c in np.unique(graph.components[~held])]
    found = counted(len(parts), "component") + " of the graph"
    raise DisconnectedGraphError(
        f"{found} {'has' if len(parts) == 1 else 'have'} no anchor and may move away without "
        f"limit; the first has the nodes {listed(parts[0])}. Anchor a point of each, "
        "take more neighbours, or leave those points out.",
        parts,
    )


def _require_consistent(
    graph: NeighborGraph, known: KnownPoints, isometry: Relation, paths: Array
) -> None:
    """Raise an error that names a pair of anchors whose distance contradicts the lengths."""
    apart = np.linalg.norm(known.centred[:, None] - known.centred[None], axis=2)
    least = np.zeros_like(apart)
    if isometry != "inequality":
        # Edges between anchors have a least length, too.
        width = isometry.width if isinstance(isometry, Band) else 0.0
        among = graph.subgraph(known.nodes)
        least[tuple(among.edges.T)] = np.sqrt((1.0 - width) * among.sqdist)
    wrong = (apart > paths * (1.0 + ROUNDING)) | (apart < least * (1.0 - _COORDINATES))
    if wrong.any():
        k, j = np.argwhere(wrong)[0]
        is_far = apart[k, j] > paths[k, j]
        allowed = paths[k, j] if is_far else least[k, j]
        raise InfeasibleError(
            f"anchors {known.nodes[k]} and {known.nodes[j]} are {apart[k, j]:.6g} apart, "
            f"{abs(apart[k, j] - allowed):.2g} {'more' if is_far else 'less'} than the "
            f"{allowed:.6g} that the lengths of the graph allow. Correct their coordinates or "
            "units, or penalize lengths with isometry='slack:1.0'."
        )


def _warn_of_few(known: KnownPoints) -> None:
    """Warn if the anchors do not span all dimensions."""
    r = known.centred.shape[1]
    span = int(np.linalg.matrix_rank(known.centred, tol=ROUNDING * np.abs(known.centred).max()))
    if span < r:
        warn(
            f"{known.nodes.size} anchors span {span} of {r} dimensions; {r + 1} in general "
            "position are needed, or else mirror images of the others fit as well.",
            FewAnchorsWarning,
        )
