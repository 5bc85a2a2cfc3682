"""Sources of distances with one interface: points, dense or sparse, and a precomputed matrix.

All lengths are SQUARED. ``metric="cosine"`` is the space of rows scaled to length one, where the
squared length is twice one less the cosine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array, issparse, triu
from scipy.spatial.distance import cdist

from sdpdr.base import checks as validate
from sdpdr.base.arrays import ROUNDING, Array, Index, Matrix
from sdpdr.base.columns import warn_of_unlike_columns
from sdpdr.base.distances import (
    completing,
    precision_of,
    squared_distances,
    warn_of_seeming_distances,
)
from sdpdr.base.errors import DataError, DisconnectedGraphError
from sdpdr.base.progress import Count
from sdpdr.base.rows import listed, numbered
from sdpdr.graphs.furthest import HULL_FEATURES, furthest_points
from sdpdr.graphs.search import BLOCK, at_most, blocks, nearest_table
from sdpdr.linalg.walks import connected_components, members

METRICS = ("euclidean", "cosine", "precomputed")
# Directions closer than this are the same, since those of parallel rows differ by rounding.
PARALLEL = 1e-12
# Copies of a row may differ by this many units in the last place of the largest entry of a column.
UNITS = 4.0
# Up to this many features a tree is faster for many points: for unstructured points in 8 dimensions
# it takes a third of the time of brute force at 80,000 points, but in 12 three times as long at
# 20,000.
TREE_FEATURES = 8
# Numbers of dense points that are subtracted at a time: 1 MB, which stays in the cache.
_GATHERED = 1 << 17
_ONE_POINT = {
    "cosine": "all {} rows are parallel, so metric='cosine' sees one point. Pass "
    "metric='euclidean'.",
    "euclidean": "all {} points agree to rounding, so there is no geometry to keep. Subtract what "
    "their entries have in common before it takes all digits.",
}
_VANISHED = "distances between the points vanish when they are squared: rescale the data."

Search: TypeAlias = Callable[[Index, int], tuple[Index, Array]]


class Space(ABC):
    """Points with known distances; `make_space` makes one from data.

    ``tolerance`` is the PLAIN distance up to which two points are the same, and the difference up
    to which two lengths are equal.
    """

    tolerance: float

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of points."""

    @abstractmethod
    def sqdist(self, first: Index, second: Index) -> Array:
        """Squared lengths of pairs; a `DataError` if one is not known."""

    @abstractmethod
    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """Squared distances of some points, by default of all, to all; shape (r, n)."""

    @abstractmethod
    def search(self, targets: Index) -> Search:
        """Return a search among some points, given as rising indices.

        With sources (s,) and a width w, it returns positions (s, w) of the nearest targets, and for
        each source a bound below the squared lengths of all other targets.
        """

    @abstractmethod
    def furthest(self, count: Count | None = None) -> Index:
        """The point furthest from each point; the first of those at equal distances."""

    @abstractmethod
    def pairs_within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""

    @abstractmethod
    def representatives(self) -> Index:
        """For each point the first point that equals it, shape (n,)."""

    @abstractmethod
    def take(self, nodes: Index) -> Space:
        """Restrict to some of the points, in the order given."""

    def nearest(self, k: int, count: Count | None = None, rows: Index | None = None) -> Index:
        """Table of the k nearest other points of each row, by default of all, nearest first.

        A point is its own neighbour where fewer distances are known.
        """
        everyone = np.arange(self.n)
        sources = everyone if rows is None else rows
        return nearest_table(self, sources, everyone, k, others=True, count=count)

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """The nearest target of each source; targets are ascending and contain no source."""
        return nearest_table(self, sources, targets, 1)[:, 0]

    def known(self, i: Index, j: Index) -> np.ndarray:
        """Whether distances are known."""
        return np.isfinite(self.sqdist_or_inf(i, j))

    def sqdist_or_inf(self, i: Index, j: Index) -> Array:
        """Squared lengths of pairs, infinite where they are not known."""
        return self.sqdist(i, j)

    @property
    def fewest(self) -> int:
        """Smallest number of known distances from a point to others."""
        return self.n - 1

    def require_joined(self) -> None:  # noqa: B027 - nothing to refuse where all are known
        """Refuse points that known distances do not connect."""

    def fresh(self) -> Space:
        """The same points without the arrays that searches cache."""
        return self


@dataclass(frozen=True, eq=False)
class Points(Space):
    """Points with coordinates X of shape (n, D), an array or a csr_array."""

    X: Any
    tolerance: float = 0.0

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the coordinates are a sparse array."""
        return bool(issparse(self.X))

    @cached_property
    def centered(self) -> Any:
        """Points, moved to their mean unless sparse: inner products lose digits far from it."""
        return self.X if self.is_sparse else self.X - self.X.mean(axis=0)

    @cached_property
    def norms(self) -> Array:
        """Lengths of the centred points, shape (n,)."""
        squares = self.centered * self.centered
        return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())

    @property
    def terms(self) -> int:
        """Largest number of terms in a length or an inner product."""
        return int(2 * np.diff(self.X.indptr).max() if self.is_sparse else self.X.shape[1])

    @property
    def rounding(self) -> float:
        """Bound on the relative error of a sum over the features."""
        return float(8.0 * (self.terms + 8) * np.finfo(float).eps)

    def doubt(self, rows: Index, sqdist: Array) -> Array:
        """Bound on the error of squared lengths computed by inner products."""
        norm = self.norms[rows]
        return self.rounding * (np.square(norm) + np.square(norm + np.sqrt(sqdist)))

    def sqdist(self, first: Index, second: Index) -> Array:
        """Sums of squared differences: equal lengths come out equal, short ones exact."""
        shape = np.broadcast_shapes(np.shape(first), np.shape(second))
        i, j = (np.broadcast_to(index, shape).ravel() for index in (first, second))
        sqdist = np.empty(i.size)
        numbers = BLOCK if self.is_sparse else _GATHERED
        for part in blocks(np.arange(i.size), max(1, numbers // max(1, self.terms))):
            away = self.X[i[part]] - self.X[j[part]]
            if self.is_sparse:
                sqdist[part] = (away * away).sum(axis=1)
            else:
                sqdist[part] = np.einsum("ij,ij->i", away, away)
        return sqdist.reshape(shape)

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """See `Space`."""
        rows = np.arange(self.n) if rows is None else rows
        if not self.is_sparse:
            return np.asarray(cdist(self.X[rows], self.X, "sqeuclidean"))
        sqdist = self._by_products(rows)
        sqdist[np.arange(len(rows)), rows] = 0.0
        return sqdist

    def _by_products(self, rows: Index) -> Array:
        """Squared lengths to all points by inner products, with an error up to `doubt`."""
        from sklearn.metrics.pairwise import euclidean_distances  # here, as it takes long to import

        return np.asarray(euclidean_distances(self.centered[rows], self.centered, squared=True))

    def search(self, targets: Index) -> Search:
        """See `Space`; by scikit-learn."""
        from sklearn.neighbors import NearestNeighbors  # here, since it takes long to import

        in_tree = not self.is_sparse and self.X.shape[1] <= TREE_FEATURES
        # Brute force takes inner products, which lose digits far from the origin; a tree does not.
        given = self.X if in_tree else self.centered
        library = NearestNeighbors(algorithm="kd_tree" if in_tree else "brute").fit(given[targets])

        def nearest(sources: Index, width: int) -> tuple[Index, Array]:
            reach, found = library.kneighbors(given[sources], width)
            outside = np.square(reach[:, -1])
            doubt = self.rounding * outside if in_tree else self.doubt(sources, outside)
            return found, np.maximum(outside - doubt, 0.0)

        return nearest

    def furthest(self, count: Count | None = None) -> Index:
        """See `Space`."""
        if not self.is_sparse and self.X.shape[1] <= HULL_FEATURES:
            return furthest_points(self.X, self.tolerance, count)
        furthest = np.empty(self.n, dtype=np.intp)
        for part in blocks(np.arange(self.n), max(1, BLOCK // self.n), count):
            sqdist = self._by_products(part)
            longest = sqdist.max(axis=1)
            equal = sqdist >= (longest - 2.0 * self.doubt(part, longest))[:, None]
            furthest[part] = equal.argmax(axis=1)
        return furthest

    def pairs_within(self, radius: float) -> Index:
        """See `Space`."""
        from sklearn.neighbors import radius_neighbors_graph  # here, since it takes long to import

        square = np.square([radius * (1.0 + 1e-9) + self.tolerance])
        reach = float(np.sqrt(square + self.doubt(np.arange(self.n), square).max())[0])
        near = triu(radius_neighbors_graph(self.centered, reach), k=1)
        pairs = np.column_stack(near.nonzero()).astype(np.intp)
        # The length, not its square: a radius that is itself the length of a pair must hold it.
        return pairs[np.sqrt(self.sqdist(*pairs.T)) <= radius + self.tolerance]

    def representatives(self) -> Index:
        """See `Space`."""
        # Equal points have equal components along any direction: few pairs must be compared.
        direction = np.random.default_rng(0).standard_normal(self.X.shape[1])
        component = self.centered @ direction
        order = np.argsort(component, kind="stable")
        # Components of equal rows may differ by rounding, depending on their position in the table.
        reach = self.tolerance + self.rounding * self.norms.max()
        reach *= np.linalg.norm(direction)
        starts = np.flatnonzero(np.diff(component[order], prepend=-np.inf) > reach)
        sizes = np.diff(starts, append=self.n)
        same = np.arange(self.n)
        for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
            group = np.sort(order[start : start + size])
            while group.size > 1:
                equal = self.sqdist(group[0], group) <= self.tolerance**2
                same[group[equal]] = group[0]
                group = group[~equal]
        return same

    def take(self, nodes: Index) -> Points:
        """See `Space`."""
        return replace(self, X=self.X[nodes])

    def fresh(self) -> Points:
        """See `Space`."""
        return replace(self)


@dataclass(frozen=True, eq=False)
class Precomputed(Space):
    """Points given by a symmetric matrix of SQUARED distances, infinite where one is unknown.

    Distances of equal points may differ by ``rounding``, relative to the longest.
    """

    matrix: Array
    rounding: float = ROUNDING

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.matrix)

    @cached_property
    def tolerance(self) -> float:  # type: ignore[override]  # a number there, found when needed
        """See `Space`."""
        longest = self.matrix[np.isfinite(self.matrix)].max()
        return float(UNITS * np.finfo(float).eps * np.sqrt(longest))

    def sqdist(self, first: Index, second: Index) -> Array:
        """See `Space`."""
        found = self.sqdist_or_inf(first, second)
        wrong = np.argwhere(np.isinf(found))
        if wrong.size:
            place = tuple(wrong[0])
            ends = [int(np.broadcast_to(end, found.shape)[place]) for end in (first, second)]
            raise DataError(
                f"the distance of points {numbered(ends)} is needed here, but it is not "
                f"known (NaN or inf in the precomputed distances). {completing()}"
            )
        return found

    def sqdist_or_inf(self, i: Index, j: Index) -> Array:
        """See `Space`."""
        return np.asarray(self.matrix[i, j])

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """See `Space`; all must be known."""
        everyone = np.arange(self.n)
        return self.sqdist((everyone if rows is None else rows)[:, None], everyone)

    def search(self, targets: Index) -> Search:
        """See `Space`."""

        def nearest(sources: Index, width: int) -> tuple[Index, Array]:
            found, reach = np.empty((len(sources), width), dtype=np.intp), np.empty(len(sources))
            for part in blocks(np.arange(len(sources)), max(1, BLOCK // len(targets))):
                between = self.matrix[np.ix_(sources[part], targets)]
                found[part] = np.argpartition(between, width - 1, axis=1)[:, :width]
                reach[part] = np.take_along_axis(between, found[part], axis=1).max(axis=1)
            return found, reach

        return nearest

    @property
    def fewest(self) -> int:
        """Smallest number of known distances from a point to others."""
        return int(np.isfinite(self.matrix).sum(axis=1).min()) - 1

    def require_joined(self) -> None:
        """Raise a `DisconnectedGraphError` if known distances do not connect all points."""
        _, labels = connected_components(csr_array(np.isfinite(self.matrix)))
        if labels.max() == 0:
            return
        parts = sorted(members(labels), key=len, reverse=True)
        sizes = listed([len(part) for part in parts])
        raise DisconnectedGraphError(
            f"the known distances form {len(parts)} disconnected components of {sizes} points; "
            "the smallest has the points "
            f"{numbered(np.sort(parts[-1]))}. Give distances between the components (more "
            "neighbours, if they are a graph of neighbours), or connect='largest' to keep the "
            "largest.",
            parts,
        )

    def furthest(self, count: Count | None = None) -> Index:
        """See `Space`."""
        known = np.where(np.isinf(self.matrix), 0.0, self.matrix)
        return at_most(known.max(axis=1, keepdims=True), known, self.tolerance).argmax(axis=1)

    def pairs_within(self, radius: float) -> Index:
        """See `Space`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius + self.tolerance, 1))

    def representatives(self) -> Index:
        """See `Space`; points at distance zero must agree on all others."""
        zero = self.matrix <= self.tolerance**2
        _, labels = connected_components(csr_array(zero))
        _, first = np.unique(labels, return_index=True)
        same = first[labels]
        lengths = np.sqrt(np.where(np.isinf(self.matrix), np.nan, self.matrix))
        error = np.fmax.reduce(np.abs(lengths - lengths[same]), axis=1, initial=0.0)
        wrong = np.flatnonzero(error > self.rounding * np.nanmax(lengths))
        if wrong.size:
            group = np.flatnonzero(same == same[wrong[0]])
            i, j = (group[end] for end in np.nonzero(np.triu(zero[np.ix_(group, group)], 1)))
            apart = np.fmax.reduce(np.abs(lengths[i] - lengths[j]), axis=1, initial=0.0)
            worst = int(apart.argmax())
            raise DataError(
                f"the precomputed distances contradict themselves: points {numbered(i[worst])} "
                f"and {numbered(j[worst])} are at distance 0 but differ by {apart[worst]:.3g} in "
                "their distance to another point. Give distinct points a positive distance; where "
                "none is known, NaN rather than 0."
            )
        return np.asarray(same, dtype=np.intp)

    def take(self, nodes: Index) -> Precomputed:
        """See `Space`."""
        return Precomputed(self.matrix[np.ix_(nodes, nodes)], self.rounding)


def _shared(matrix: Array) -> Array:
    """The matrix, with known distances shared among points at distance zero."""
    _, labels = connected_components(csr_array(matrix == 0.0))
    for part in np.flatnonzero(np.bincount(labels) > 1):
        same = np.flatnonzero(labels == part)
        known = np.where(np.isinf(matrix[same]), matrix[same].min(axis=0), matrix[same])
        matrix[same], matrix[:, same] = known, known.T
    return matrix


def make_space(X: ArrayLike, metric: str = "euclidean", *, at_least: int = 3) -> Space:
    """Space of the points X, or of the precomputed distances X."""
    validate.choice("metric", metric, METRICS)
    if metric == "precomputed":
        sqdist = squared_distances(X, squared=False, at_least=at_least)
        # A rounding error of a tiny square becomes its square root in the length.
        rounding = max(ROUNDING, 4.0 * float(np.sqrt(precision_of(X))))
        return Precomputed(_shared(sqdist) if np.isinf(sqdist).any() else sqdist, rounding)
    points = validate.points(X, at_least=at_least, sparse=True)
    if not issparse(points):
        warn_of_seeming_distances(points)
    if metric == "cosine":
        points, tolerance = directions(points), PARALLEL
    else:
        warn_of_unlike_columns(X)
        tolerance = UNITS * np.finfo(float).eps * _size(points)
    space = Points(points, tolerance)
    if space.sqdist(np.zeros(1, int), np.arange(space.n)).max() <= tolerance**2:
        vanished = tolerance > 0.0 and tolerance**2 == 0.0
        raise DataError(_VANISHED if vanished else _ONE_POINT[metric].format(space.n))
    return space


def directions(X: Matrix) -> Matrix:
    """Rows scaled to length one, dense or sparse as they are; none of them may be zero."""
    X = csr_array(X) if issparse(X) else X
    largest = abs(X).max(axis=1)
    largest = largest.toarray() if issparse(largest) else largest
    empty = np.flatnonzero(largest == 0.0)
    if empty.size:
        raise DataError(
            f"metric='cosine' compares directions, and rows of zeros have none: "
            f"{numbered(empty)}. Leave those rows out."
        )
    # Scaled by its largest entry first, so that squares of large entries do not overflow.
    scaled = diags_array(1.0 / largest) @ X
    squares = scaled.multiply(scaled) if issparse(scaled) else np.square(scaled)
    unit = diags_array(1.0 / np.sqrt(np.asarray(squares.sum(axis=1)).ravel())) @ scaled
    return csr_array(unit) if issparse(unit) else unit


def _size(points: Matrix) -> float:
    """Sum of the largest absolute values of the columns that vary."""
    ends = (points.min(axis=0), points.max(axis=0))
    low, high = (end.toarray().ravel() if issparse(end) else end for end in ends)
    return float(np.maximum(-low, high)[low < high].sum())
