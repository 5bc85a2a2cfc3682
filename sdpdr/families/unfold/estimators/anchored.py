"""Semi-supervised unfolding as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index, require_squares
from sdpdr.base.errors import (
    DataError,
    FewAnchorsWarning,
    InfeasibleError,
    MissedLengthsWarning,
    ShapeError,
    warn,
)
from sdpdr.base.estimators import as_numbers
from sdpdr.base.rows import numbered, rows_like
from sdpdr.families.unfold.anchored import Placed, anchored_mvu, missed_lengths, place
from sdpdr.families.unfold.estimators.gram import LengthEmbedding
from sdpdr.families.unfold.verdict import GOOD, LengthsKept, lengths_kept
from sdpdr.graphs import NeighborGraph, geodesics
from sdpdr.model import Model
from sdpdr.model.blocks import Relation, Slack
from sdpdr.program import Solution

# Relative error of the lengths from which a warning says that coordinates and data disagree.
_MISSED = 0.5
# Coordinates whose distances exceed this multiple of the paths between them have another unit.
# With noise and shortcuts the multiple is 1.1 at most.
_FAR = 3.0
# Largest number of anchors from which paths are computed.
_MEASURED = 50
# Penalty of a relative change of squared length, relative to the squared extent of the anchors,
# which is the variance that a point could gain by the change.
_PENALTY = 100.0


@dataclass(eq=False, repr=False)
class AnchoredMVU(LengthEmbedding):
    """Unfolding in which some coordinates are known, and the others are found.

    Solves `sdpdr.methods.anchored_mvu`. The program lets unknown points leave the space of the
    coordinates; ``trust_`` is their distance from it.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding if no coordinates are known; else their number.
    isometry : {"auto", "inequality", "equality", "band:0.05", ...}, Band or Slack, default "auto"
        By default changes of lengths are penalized: a relative change of a squared length costs a
        hundred times the squared extent of the anchors and the paths beyond them, so that lengths
        change by about one percent if coordinates and lengths agree. Edges are chords, so
        coordinates measured along a bent sheet contradict lengths that may not grow. Without any
        coordinates the default is ``"inequality"``.
    connect : {"bridges", "mst", "largest", "error", "none"}, default "bridges"
        As for `sdpdr.MVU`; with ``"none"`` the graph may be disconnected, and each component then
        needs an anchor.
    n_neighbors, metric, angles, extension, solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    embedding_ : array of shape (n, r)
        In the coordinates of y; known rows are as given.
    trust_ : array of shape (n,)
        Squared distance of each point from the space of the coordinates. Lengths between points
        with 0 are those of the program; other positions may have the same lengths.
    anchors_ : array of int
        Samples of known coordinates.
    gram_ : array or Factor
        The matrix Z, bordered by the coordinates.
    eigenvalues_, graph_, solution_, length_kept_
        As of `sdpdr.MVU`.

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError, InfeasibleError
        From `fit`, as for `sdpdr.methods.anchored_mvu`; by default also if the unit of the
        coordinates is several times smaller than that of the data.

    Warns
    -----
    FewAnchorsWarning
        No coordinates are known.
    MissedLengthsWarning
        Lengths had to change by half or more to fit the coordinates.

    References
    ----------
    Ham, Lee and Saul, "Semisupervised alignment of manifolds", AISTATS 2005.

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> t = np.linspace(0.0, 4.0, 21)
    >>> y = np.full(21, np.nan)
    >>> y[[0, 20]] = 0.0, 4.0 * 0.995
    >>> placed = sdpdr.AnchoredMVU(n_neighbors=2).fit(np.column_stack([np.cos(t), np.sin(t)]), y)
    >>> bool(np.abs(placed.embedding_[:, 0] - t).max() < 0.05)
    True
    """

    _: KW_ONLY
    isometry: Relation = "auto"

    def fit(self, X: Any, y: Any = None) -> AnchoredMVU:
        """Find the unknown coordinates.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : array_like of shape (n,) or (n, r), optional
            Coordinates; rows of nan are found. Without any this is `sdpdr.MVU`, with a warning.
            Messages name rows of a frame by its index.

        Returns
        -------
        self
        """
        with rows_like(X):
            super().fit(X, y)
        return self

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        self.anchors_, nodes, coordinates = self._known = known_nodes(graph, y)
        relation = self.isometry
        if not nodes.size:
            warn(
                "no coordinates are known, so the unfolding is that of MVU: pass y with the "
                "coordinates of each sample as a row, and nan for those to be found.",
                FewAnchorsWarning,
            )
            relation = "inequality" if relation == "auto" else relation
        elif relation == "auto":
            few = np.linspace(0, nodes.size - 1, min(nodes.size, _MEASURED)).astype(int)
            ways = geodesics(graph, nodes[few])
            _require_one_unit(ways[:, nodes[few]], coordinates[few])
            nearest = ways.min(axis=0)
            further = np.max(nearest, where=np.isfinite(nearest), initial=0.0)
            relation = _penalized(coordinates, float(further))
        return anchored_mvu(graph, nodes, coordinates, relation)

    def _compare(self, places: Array) -> None:
        super()._compare(places)
        missed = missed_lengths(self.graph_, places)
        if self.isometry != "auto" or not self._known[1].size or missed.share < _MISSED:
            return
        a, b = (numbered(k) for k in missed.samples)
        warn(
            f"edges miss their lengths by {missed.share:.0%} of their root mean square, most "
            f"between samples {a} and {b}: {missed.given:.4g} in the data, {missed.found:.4g} in "
            "the coordinates given. Check that coordinates and data have one unit, that all "
            "coordinates are right, and that edges join true neighbours (n_neighbors).",
            MissedLengthsWarning,
        )

    def _kept(self, places: Array) -> LengthsKept:
        # The matrix has rows for the dimensions of the anchors, and no others are shown.
        return lengths_kept(self.graph_, places, places)

    def _advice(self, kept: LengthsKept) -> str:
        if kept.shown >= GOOD:
            return ""
        return "Positions with a small trust_ are uncertain: more anchors near them help."

    @property
    def explained_variance_ratio_(self) -> Array:
        """As for `MVU` if no coordinates are known; given coordinates are not eigenvectors."""
        if self._known[1].size:
            raise AttributeError("given coordinates are not eigenvectors; see trust_.")
        return super().explained_variance_ratio_

    def _places(self, graph: NeighborGraph, solution: Solution) -> Array:
        _, nodes, coordinates = self._known
        if nodes.size:
            # The matrix has rows for the dimensions as well as for points.
            self.eigenvalues_ = solution.spectrum()
            placed = place(solution, graph, nodes, coordinates)
        else:
            flat = super()._places(graph, solution)
            left = np.sum(np.square(solution.embedding(graph.n)), axis=1)
            placed = Placed(flat, np.maximum(left - np.sum(np.square(flat), axis=1), 0.0))
        self.trust_ = graph.of_samples(placed.trust)
        return placed.coordinates


def _require_one_unit(ways: Array, places: Array) -> None:
    """Raise an error if coordinates are much further apart than the paths between them."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    joined = np.isfinite(ways) & (ways > 0.0)
    times = float(np.median(apart[joined] / ways[joined])) if joined.any() else 0.0
    if times > _FAR:
        raise DataError(
            f"half of the pairs of coordinates are further apart than {times:.3g} times the paths "
            "between them in the data. Use one unit for both: divide y by that number, or "
            "multiply X by it."
        )


def _penalized(coordinates: Array, further: float) -> Slack:
    """The penalty of changes, scaled by the extent of coordinates and the paths beyond them."""
    extent = np.square(coordinates - coordinates.mean(axis=0)).sum(axis=1).max()
    return Slack(_PENALTY * (float(np.sqrt(extent)) + further) ** 2, relative=True)


def known_nodes(graph: NeighborGraph, y: Any) -> tuple[Index, Index, Array]:
    """Samples of known coordinates, their distinct nodes, and the coordinates of the nodes."""
    n = graph.index.size
    if y is None:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros((0, 0))
    values = as_numbers("y", y)
    require_squares(values, "y")
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != n:
        raise ShapeError(
            f"y must hold coordinates of each of the {n} samples, shape ({n}, r), with nan where "
            f"they are not known; it has shape {np.shape(y)}."
        )
    known = ~np.isnan(values).any(axis=1)
    half = np.flatnonzero(~known & ~np.isnan(values).all(axis=1))
    if half.size:
        raise DataError(
            f"sample {numbered(half[0])} has some coordinates but not all; give all or none."
        )
    samples = np.flatnonzero(known & (graph.index >= 0))
    nodes, first, place_of = np.unique(graph.index[samples], return_index=True, return_inverse=True)
    coordinates = values[samples[first]]
    wrong = np.flatnonzero(np.any(values[samples] != coordinates[place_of], axis=1))
    if wrong.size:
        a, b = samples[first[place_of[wrong[0]]]], samples[wrong[0]]
        raise InfeasibleError(
            f"samples {numbered(a)} and {numbered(b)} are the same point, but "
            "have different coordinates in y."
        )
    if nodes.size == graph.n:
        raise DataError(
            "the coordinates of all points are known, so there is nothing to find. Mark unknown "
            "ones by nan."
        )
    return samples, nodes, coordinates
