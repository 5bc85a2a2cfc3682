"""Semi-supervised unfolding with scikit-learn's face."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base.arrays import Array, Index, require_squares
from sdpdr.base.errors import (
    DataError,
    FewAnchorsWarning,
    InfeasibleError,
    MissedLengthsWarning,
    OtherUnitWarning,
    ShapeError,
    warn,
)
from sdpdr.base.estimators import as_numbers, checked
from sdpdr.base.rows import numbered, rows_like
from sdpdr.families.unfold.anchored import Placed, anchored_mvu, missed_lengths, place
from sdpdr.families.unfold.estimators.gram import LengthEmbedding
from sdpdr.families.unfold.estimators.inserting import insert, priced
from sdpdr.graphs import NeighborGraph, geodesics
from sdpdr.model import Model
from sdpdr.model.blocks import Relation
from sdpdr.program import Solution

# Places on a sheet are so much of the ways along edges between them (rolls, an S and a square, at
# the median of pairs, within a tenth).
_STRAIGHT = 0.93
# Coordinates within this factor are not scaled.
_SAME_UNIT = 1.5
# Medians of shares of the ways beyond which it is told. None is above 1 where units agree: it was
# 0.91 to 1.00 on sheets, bent or not, and 0.81 where noise lengthens ways. A factor of 1.2 makes
# them 1.09 or more, one of 1/1.4 makes them 0.72 or less.
_ODD = (0.75, 1.05)
# Anchors whose ways are looked at.
_LOOKED_AT = 50
# Share of the lengths from which on coordinates and data are said not to fit each other.
_MISSED = 0.5


@dataclass(eq=False, repr=False)
class AnchoredMVU(LengthEmbedding):
    r"""Unfolding with some coordinates known: the others are found in the same coordinates.

    Solves `sdpdr.methods.anchored_mvu`. Where the unknown points would rather leave the space of
    the coordinates, ``trust_`` says how far they did.

    Parameters
    ----------
    n_components : int, default 2
        Dimension of the embedding if no coordinates are known; else they say it.
    n_neighbors : int, default 6
        Two points are joined if either is among the other's nearest.
    isometry : {"auto", "inequality", "equality"}, Band or Slack, default "auto"
        By default lengths change at the price of `sdpdr.estimators.insert`, so dear that they do so
        by about one percent where coordinates and lengths agree. Edges are chords: coordinates
        measured along a bent sheet contradict lengths that may not grow. Without any coordinates
        ``"inequality"``.
    about : {"mean", "anchors"}, default "mean"
        Whether the variance is about the mean of all points or that of the known ones.
    metric, angles, connect, extension, solver, form, landmarks, tol, time_limit, random_state
        As for `sdpdr.MVU`. With ``connect="none"`` the graph may fall into parts, each of which
        then needs a known point.

    Attributes
    ----------
    embedding_ : array of shape (n, r)
        In the coordinates given; known rows are as given.
    trust_ : array of shape (n,)
        Squared distance of each point from the space of the coordinates. Between points where it
        is 0, lengths are those of the program; other places may have the same.
    anchors_ : array of int
        Samples of known coordinates.
    scale_ : float
        How many units of the coordinates were taken for one of the data.
    gram_ : array or Factor
        The matrix Z, bordered by the coordinates, in the unit of the data.
    eigenvalues_, graph_, solution_, n_features_in_, feature_names_in_
        As of `sdpdr.MVU`.

    Raises
    ------
    DataError, ShapeError, DisconnectedGraphError, InfeasibleError
        From `fit`, as `sdpdr.methods.anchored_mvu`.

    Warns
    -----
    OtherUnitWarning
        By default: half of the pairs of places are further apart than 1.5 times, or nearer than
        1/1.5 of, what ways between them in the data let expect (0.93 of these, as on a sheet), and
        data were scaled. Or the median of pairs is more than 1.05 or less than 0.75 of the way,
        and nothing was scaled: short cuts and noise do that, too. On sheets, bent or not, a unit
        1.2 times too large or 1.4 times too small is told so; a unit that is less wrong is not.
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
    >>> X = np.column_stack([np.cos(t), np.sin(t)])
    >>> y = np.full(21, np.nan)
    >>> y[[0, 20]] = 0.0, 4.0 * 0.995
    >>> placed = sdpdr.AnchoredMVU(n_neighbors=2).fit(X, y)
    >>> bool(np.abs(placed.embedding_[:, 0] - t).max() < 0.05)
    True
    """

    _: KW_ONLY
    isometry: Relation | Literal["auto"] = "auto"  # type: ignore[assignment]  # one word more than the base
    about: str = "mean"

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
        self._seen = np.asarray(X)
        return self

    def insert(self, X: Any) -> Array:
        """Coordinates of new points: inserted into the finished embedding.

        Parameters
        ----------
        X : array_like of shape (m, D)

        Returns
        -------
        array of shape (m, r)
        """
        check_is_fitted(self)
        if self.metric == "precomputed":
            raise DataError("new points need coordinates; fit with metric='euclidean'.")
        points = checked(self, X, reset=False)
        placed = self.graph_.index >= 0
        places = self.embedding_[placed] / self.scale_
        found = insert(self._seen[placed], places, points, self.n_neighbors_)
        return self.scale_ * found.coordinates

    def _model(self, graph: NeighborGraph, X: Any, y: Any) -> Model:
        self.anchors_, nodes, coordinates = self._known = known_nodes(graph, y)
        about: Any = self.about
        if not nodes.size:
            warn(
                "no coordinates are known, so this is an unfolding as of MVU: pass y with a row "
                "for each sample, its coordinates, or nan where they are to be found.",
                FewAnchorsWarning,
            )
        if self.isometry != "auto" or not nodes.size:
            self.scale_ = 1.0
            relation: Any = "inequality" if self.isometry == "auto" else self.isometry
            return anchored_mvu(graph, nodes, coordinates, relation, about)
        few, ways = _ways(graph, nodes)
        share = _share(ways[:, nodes[few]], coordinates[few])
        times = share / _STRAIGHT
        self.scale_ = 1.0 if 1.0 / _SAME_UNIT <= times <= _SAME_UNIT else times
        if self.scale_ == 1.0:
            _warn_of_odd_share(share)
        else:
            warn(
                "coordinates are not in the unit of the data: one unit of the data is taken for "
                f"{self.scale_:.3g} of theirs (scale_), as the ways between the places given tell. "
                "Bring the data to the unit of the coordinates if you know it.",
                OtherUnitWarning,
            )
        places = coordinates / self.scale_
        further = float(np.max(ways.min(axis=0), initial=0.0, where=np.isfinite(ways).any(axis=0)))
        return anchored_mvu(graph, nodes, places, priced(places, further), about)

    def _compare(self, places: Array) -> None:
        super()._compare(places / self.scale_)
        if self.isometry == "auto" and self._known[1].size:
            self._warn_of_missed_lengths(places / self.scale_)

    def _warn_of_missed_lengths(self, places: Array) -> None:
        missed = missed_lengths(self.graph_, places)
        if missed.share < _MISSED:
            return
        a, b = (numbered(k) for k in missed.samples)
        warn(
            f"edges miss their lengths by {missed.share:.0%} of their root mean square, most "
            f"between samples {a} and {b}: {missed.given:.4g} in the data, {missed.found:.4g} in "
            "the coordinates given. See whether a coordinate is wrong, and whether neighbours are "
            "neighbours (n_neighbors).",
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
            placed = place(solution, graph, nodes, coordinates / self.scale_)
            placed = Placed(self.scale_ * placed.coordinates, self.scale_**2 * placed.trust)
            placed.coordinates[nodes] = coordinates
        else:
            flat = super()._places(graph, solution)
            left = np.sum(np.square(solution.embedding(graph.n)), axis=1)
            placed = Placed(flat, np.maximum(left - np.sum(np.square(flat), axis=1), 0.0))
        self.trust_ = graph.of_samples(placed.trust)
        return placed.coordinates


def _ways(graph: NeighborGraph, nodes: Index) -> tuple[Index, Array]:
    """Some known points, evenly among them, and the ways from these to all points."""
    few = np.unique(np.linspace(0, nodes.size - 1, min(nodes.size, _LOOKED_AT)).astype(int))
    return few, geodesics(graph, nodes[few])


def _share(between: Array, places: Array) -> float:
    """What places are apart, of the ways between them, at the median of pairs."""
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    joined = np.isfinite(between) & (between > 0.0) & (apart > 0.0)
    return float(np.median(apart[joined] / between[joined])) if joined.any() else _STRAIGHT


def _warn_of_odd_share(share: float) -> None:
    """Of places that are not scaled, and may be in another unit all the same."""
    low, high = _ODD
    if low <= share <= high:
        return
    why = (
        "edges are short cuts across a bend (fewer n_neighbors)"
        if share > high
        else "noise lengthens the ways"
    )
    warn(
        f"half of the pairs of places given are {'further' if share > high else 'nearer'} apart "
        f"than {share:.3g} times the ways between them in the data. Unless {why}, coordinates may "
        "be in another unit than the data: bring them to one. Nothing was scaled (scale_).",
        OtherUnitWarning,
    )


def known_nodes(graph: NeighborGraph, y: Any) -> tuple[Index, Index, Array]:
    """Samples of known coordinates, their nodes (each once), and the coordinates of these.

    Raises
    ------
    DataError, ShapeError, InfeasibleError
        They do not fit, or leave nothing to be found.
    """
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
