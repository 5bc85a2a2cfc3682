"""Semi-supervised unfolding as an estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

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
from sdpdr.graphs import NeighborGraph, geodesics
from sdpdr.model import Model
from sdpdr.model.blocks import Relation, Slack
from sdpdr.program import Solution

# Share of the lengths from which on coordinates and data are said not to fit each other.
_MISSED = 0.5
# Coordinates further apart than so many times the way between them are in another unit. Noise and
# short cuts make it 1.1 at most.
_FAR = 3.0
# Anchors at most from which ways are measured.
_MEASURED = 50
# Penalty of a relative change of squared length, beside the squared extent of the anchors: the
# variance that a point could gain by it.
_PRICE = 100.0


@dataclass(eq=False, repr=False)
class AnchoredMVU(LengthEmbedding):
    """Unfolding with some coordinates known: the others are found in the same coordinates.

    Solves `sdpdr.methods.anchored_mvu`. ``trust_`` is the distance of unknown points from the
    space of the coordinates, which the program lets them leave.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding if no coordinates are known; else their number.
    isometry : {"auto", "inequality", "equality"}, blocks.Band or blocks.Slack, default "auto"
        By default lengths change at a penalty so high that they do so by about one percent where
        coordinates and lengths agree: a relative change of a squared length costs a hundred times
        the squared extent of the anchors and the ways beyond them. Edges are chords: coordinates
        measured along a bent sheet contradict lengths that may not grow. Without any coordinates
        ``"inequality"``.
    connect : {"bridges", "mst", "largest", "error", "none"}, default "bridges"
        As for `sdpdr.MVU`; with ``"none"`` the graph may fall into parts, each of which then needs
        a known point.
    n_neighbors, metric, angles, extension, solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`.

    Attributes
    ----------
    embedding_ : array of shape (n, r)
        In the coordinates given; known rows are as given.
    trust_ : array of shape (n,)
        Squared distance of each point from the space of the coordinates. Between points where it
        is 0, lengths are those of the program; other positions may have the same.
    anchors_ : array of int
        Samples of known coordinates.
    gram_ : array or Factor
        The matrix Z, bordered by the coordinates.
    eigenvalues_, graph_, solution_, length_kept_
        As of `sdpdr.MVU`.

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError, InfeasibleError
        From `fit`, as `sdpdr.methods.anchored_mvu`; or by default, if coordinates are in a unit
        that is several times smaller than that of the data.

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
    isometry: Relation | Literal["auto"] = "auto"  # type: ignore[assignment]  # one word more than the base

    def fit(self, X: Any, y: Any = None) -> AnchoredMVU:
        """Find the coordinates that are not known.

        Parameters
        ----------
        X : array_like of shape (n, D), or distances (n, n) if ``metric="precomputed"``
        y : array_like of shape (n,) or (n, r), optional
            Coordinates; rows with nan are to be found. Without any this is `sdpdr.MVU`, with
            a warning. Messages name rows of a frame by its index.

        Returns
        -------
        self
        """
        with rows_like(X):
            super().fit(X, y)
        return self

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        self.anchors_, nodes, coordinates = self._known = known_nodes(graph, y)
        relation: Any = self.isometry
        if not nodes.size:
            warn(
                "no coordinates are known, so this is an unfolding as of MVU: pass y with a row "
                "for each sample, its coordinates, or nan where they are to be found.",
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
            "the coordinates given. See whether coordinates and data are in one unit, whether a "
            "coordinate is wrong, and whether neighbours are neighbours (n_neighbors).",
            MissedLengthsWarning,
        )

    @property
    def explained_variance_ratio_(self) -> Array:
        """As of `MVU` where no coordinates are known; those given are no eigenvectors."""
        if self._known[1].size:
            raise AttributeError("coordinates that are given are no eigenvectors; see trust_.")
        return super().explained_variance_ratio_

    def _places(self, graph: NeighborGraph, solution: Solution) -> Array:
        _, nodes, coordinates = self._known
        if nodes.size:
            # The matrix has rows for dimensions beside those for points.
            self.eigenvalues_ = solution.spectrum()
            placed = place(solution, graph, nodes, coordinates)
        else:
            flat = super()._places(graph, solution)
            left = np.sum(np.square(solution.embedding(graph.n)), axis=1)
            placed = Placed(flat, np.maximum(left - np.sum(np.square(flat), axis=1), 0.0))
        self.trust_ = graph.of_samples(placed.trust)
        return placed.coordinates


def _require_one_unit(ways: Array, places: Array) -> None:
    """Refuse coordinates much further apart than the ways between them, which no bend explains."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    joined = np.isfinite(ways) & (ways > 0.0)
    times = float(np.median(apart[joined] / ways[joined])) if joined.any() else 0.0
    if times > _FAR:
        raise DataError(
            f"half of the pairs of coordinates are further apart than {times:.3g} times the ways "
            "between them in the data. Bring both to one unit: divide y by that number, or "
            "multiply X by it."
        )


def _penalized(coordinates: Array, further: float) -> Slack:
    """Lengths that change at a penalty, beside the extent of coordinates and ways further out."""
    extent = np.square(coordinates - coordinates.mean(axis=0)).sum(axis=1).max()
    return Slack(_PRICE * (float(np.sqrt(extent)) + further) ** 2, relative=True)


def known_nodes(graph: NeighborGraph, y: Any) -> tuple[Index, Index, Array]:
    """Samples of known coordinates, their nodes (each once), and the coordinates of these."""
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
            "coordinates of all points are known, so that nothing is left to be found. Mark those "
            "that are not known by nan."
        )
    return samples, nodes, coordinates
