"""Sources of distances with one interface: points, dense or sparse, and a precomputed matrix.

All lengths are SQUARED. ``metric="cosine"`` is the space of rows scaled to length one, where the
squared length is twice one less the cosine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, diags_array, issparse
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
from sdpdr.graphs.search import BLOCK, at_most, blocks, first_of, nearest_table, pairs_within
from sdpdr.linalg.walks import connected_components, members

METRICS = ("euclidean", "cosine", "precomputed")
# Directions closer than this are the same, since those of parallel rows differ by rounding.
PARALLEL = 1e-12
# Copies of a row may differ by this many units in the last place of the largest entry of a column.
UNITS = 4.0
_ONE_POINT = {
    "cosine": "all {} rows are parallel, so metric='cosine' sees one point. Pass "
    "metric='euclidean'.",
    "euclidean": "all {} points agree to rounding, so there is no geometry to keep. Subtract what "
    "their entries have in common before it takes all digits.",
}
_VANISHED = "distances between the points vanish when they are squared: rescale the data."

P = TypeVar("P", bound="Points")


@dataclass(frozen=True, eq=False)
class Points:
    """Points with coordinates X of shape (n, D); see `Euclidean` and `Sparse`.

    ``tolerance`` is the PLAIN distance up to which two points are the same, and the difference up
    to which two lengths are equal.
    """

    X: Any
    tolerance: float = 0.0

    takes_trees: ClassVar[bool]
    # Largest number of entries that are subtracted at a time.
    gathered: ClassVar[int]

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.X.shape[0])

    @property
    def terms(self) -> int:
        """Largest number of terms in a length or an inner product."""
        return int(self.X.shape[1])

    @property
    def centered(self) -> Any:
        """The points from which inner products are computed."""
        return self.X

    @cached_property
    def norms(self) -> Array:
        """Lengths of the centred points, shape (n,)."""
        squares = self.centered * self.centered
        return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())

    @property
    def rounding(self) -> float:
        """Bound on the relative error of a sum over the features."""
        return float(8.0 * (self.terms + 8) * np.finfo(float).eps)

    def doubt(self, rows: Index, sqdist: Array) -> Array:
        """Bound on the error of squared lengths computed by inner products."""
        norm = self.norms[rows]
        return self.rounding * (np.square(norm) + np.square(norm + np.sqrt(sqdist)))

    def sqdist(self, first: Index, second: Index) -> Array:
        """Return sums of squared differences: equal lengths come out equal, short ones exact."""
        shape = np.broadcast_shapes(np.shape(first), np.shape(second))
        i, j = (np.broadcast_to(index, shape).ravel() for index in (first, second))
        sqdist = np.empty(i.size)
        step = max(1, self.gathered // self.terms)
        for at in range(0, i.size, step):
            difference = self.X[i[at : at + step]] - self.X[j[at : at + step]]
            sqdist[at : at + step] = self._squares(difference)
        return sqdist.reshape(shape)

    def _squares(self, difference: Any) -> Array:
        """Squared lengths of the rows."""
        raise NotImplementedError

    def products(self, rows: Index) -> Array:
        """Inner products of some centred points with all, shape (r, n)."""
        found = self.centered[rows] @ self.centered.T
        return np.asarray(found.toarray() if issparse(found) else found)

    def nearest(self, k: int, count: Count | None = None, rows: Index | None = None) -> Index:
        """Table of the k nearest other points of each row, by default of all, nearest first."""
        everyone = np.arange(self.n)
        sources = everyone if rows is None else rows
        return nearest_table(self, sources, everyone, k, others=True, count=count)

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """Return the nearest target of each source; targets are ascending and contain no source."""
        return nearest_table(self, sources, targets, 1)[:, 0]

    def furthest(self, count: Count | None = None) -> Index:
        """Return the point furthest from each point; lengths equal up to rounding are ties."""
        furthest, everyone = np.empty(self.n, dtype=np.intp), np.arange(self.n)
        size = np.square(self.norms)
        for part in blocks(everyone, max(1, BLOCK // self.n), count):
            length = size - 2.0 * self.products(part)
            top = length.max(axis=1)
            doubt = self.doubt(part, np.maximum(top + size[part], 0.0))
            furthest[part] = (length >= (top - 2.0 * doubt)[:, None]).argmax(axis=1)
        return furthest

    def pairs_within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""
        return pairs_within(self, radius)

    @property
    def fewest(self) -> int:
        """Smallest number of known distances from a point to others."""
        return self.n - 1

    def known(self, i: Index, j: Index) -> np.ndarray:
        """Whether distances are known."""
        return np.ones(np.broadcast(i, j).shape, dtype=bool)

    def require_joined(self) -> None:
        """Refuse points that known distances do not connect; here all distances are known."""

    def representatives(self) -> Index:
        """For each point the first point that equals it, shape (n,)."""
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

    def take(self: P, nodes: Index) -> P:
        """Restrict to some of the points, in the order given."""
        return replace(self, X=self.X[nodes])

    def fresh(self: P) -> P:
        """The same points without the arrays that searches cache."""
        return replace(self)


class Euclidean(Points):
    """Points whose coordinates are a dense array."""

    takes_trees = True
    gathered = 1 << 17  # 1 MB, so that they stay in the cache

    @cached_property
    def centered(self) -> Any:
        """The points moved to their mean, since inner products lose digits far from the origin."""
        return self.X - self.X.mean(axis=0)

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """Squared distances of some points, by default of all, to all; shape (r, n)."""
        return np.asarray(cdist(self.X if rows is None else self.X[rows], self.X, "sqeuclidean"))

    def _squares(self, difference: Any) -> Array:
        return np.asarray(np.einsum("ij,ij->i", difference, difference))

    def furthest(self, count: Count | None = None) -> Index:
        """See `Points.furthest`."""
        if self.X.shape[1] > HULL_FEATURES:
            return super().furthest(count)
        return furthest_points(self.X, self.tolerance, count)


class Sparse(Points):
    """Points whose coordinates are the rows of a csr_array, which is never centred."""

    takes_trees = False
    gathered = BLOCK

    @property
    def terms(self) -> int:
        """See `Points.terms`."""
        return 2 * max(1, int(np.diff(self.X.indptr).max()))

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """See `Euclidean.sqdist_to_all`."""
        rows = np.arange(self.n) if rows is None else rows
        size = np.square(self.norms)
        sqdist = np.maximum(size[rows, None] + size - 2.0 * self.products(rows), 0.0)
        sqdist[np.arange(len(rows)), rows] = 0.0
        return np.asarray(sqdist)

    def _squares(self, difference: Any) -> Array:
        return np.asarray(difference.multiply(difference).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Precomputed:
    """Points given by a symmetric matrix of SQUARED distances, infinite where one is unknown.

    Distances of equal points may differ by ``rounding``, relative to the longest. The methods are
    those of `Points`.
    """

    matrix: Array
    rounding: float = ROUNDING

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.matrix)

    @cached_property
    def tolerance(self) -> float:
        """See `Points`."""
        longest = self.matrix[np.isfinite(self.matrix)].max()
        return float(UNITS * np.finfo(float).eps * np.sqrt(longest))

    def sqdist(self, i: Index, j: Index) -> Array:
        """Entries of the matrix; a `DataError` if one is not known."""
        found = np.asarray(self.matrix[i, j])
        wrong = np.argwhere(np.isinf(found))
        if wrong.size:
            place = tuple(wrong[0])
            ends = [int(np.broadcast_to(end, found.shape)[place]) for end in (i, j)]
            raise DataError(
                f"the distance of points {numbered(ends)} is needed here, but it is not "
                f"known (NaN or inf in the precomputed distances). {completing()}"
            )
        return found

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """See `Euclidean.sqdist_to_all`; entries must be known."""
        everyone = np.arange(self.n)
        return self.sqdist((everyone if rows is None else rows)[:, None], everyone)

    def known(self, i: Index, j: Index) -> np.ndarray:
        """Whether distances are known."""
        return np.isfinite(self.matrix[i, j])

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

    def nearest(self, k: int, count: Count | None = None, rows: Index | None = None) -> Index:
        """See `Points.nearest`; a point is its own neighbour if too few distances are known."""
        rows = np.arange(self.n) if rows is None else rows
        table = np.empty((len(rows), k), dtype=np.intp)
        for places in blocks(np.arange(len(rows)), max(1, BLOCK // self.n), count):
            part = rows[places]
            block = self.matrix[part]
            block[np.arange(len(part)), part] = np.inf
            near = first_of(block, k, self.tolerance)
            unknown = np.isinf(np.take_along_axis(block, near, axis=1))
            table[places] = np.where(unknown, part[:, None], near)
        return table

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """See `Points.nearest_between`."""
        between = self.matrix[np.ix_(sources, targets)]
        least = between.min(axis=1, keepdims=True)
        return targets[at_most(between, least, self.tolerance).argmax(axis=1)]

    def furthest(self, count: Count | None = None) -> Index:
        """See `Points.furthest`."""
        known = np.where(np.isinf(self.matrix), 0.0, self.matrix)
        return at_most(known.max(axis=1, keepdims=True), known, self.tolerance).argmax(axis=1)

    def pairs_within(self, radius: float) -> Index:
        """See `Points.pairs_within`."""
        return np.argwhere(np.triu(np.sqrt(self.matrix) <= radius + self.tolerance, 1))

    def representatives(self) -> Index:
        """See `Points.representatives`; points at distance zero must agree on all others."""
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
        """Restrict to some of the points, in the order given."""
        return Precomputed(self.matrix[np.ix_(nodes, nodes)], self.rounding)

    def fresh(self) -> Precomputed:
        """The same points."""
        return self


def _shared(matrix: Array) -> Array:
    """The matrix, with known distances shared among points at distance zero."""
    _, labels = connected_components(csr_array(matrix == 0.0))
    for part in np.flatnonzero(np.bincount(labels) > 1):
        same = np.flatnonzero(labels == part)
        known = np.where(np.isinf(matrix[same]), matrix[same].min(axis=0), matrix[same])
        matrix[same], matrix[:, same] = known, known.T
    return matrix


Space: TypeAlias = Euclidean | Sparse | Precomputed


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
    space = (Sparse if issparse(points) else Euclidean)(points, tolerance)
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
