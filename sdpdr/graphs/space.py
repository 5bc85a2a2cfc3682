"""The sources of distances, points dense or sparse and a precomputed matrix, behind one face.

Everything the graphs need of the data is asked of a `Space`: lengths of given pairs, nearest
points, pairs within a radius, which points are the same. All lengths are SQUARED.

The cosine of two rows is a matter of lengths as well: between rows scaled to length one the squared
length is twice one less the cosine. So ``metric="cosine"`` is the space of the directions.
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
from sdpdr.base.distances import precision_of, squared_distances, warn_of_seeming_distances
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Count
from sdpdr.base.rows import numbered
from sdpdr.graphs.extremes import furthest_points
from sdpdr.graphs.precomputed import Precomputed, shared
from sdpdr.graphs.search import BLOCK, UNITS, Located, blocks, pairs_within, search_among

METRICS = ("euclidean", "cosine", "precomputed")
# Directions of parallel rows differ by rounding; so near to each other they are one.
PARALLEL = 1e-12
_ONE_POINT = {
    "cosine": "all {} rows are parallel, so metric='cosine' sees one point. Pass "
    "metric='euclidean'.",
    "euclidean": "all {} points agree to rounding, so there is no geometry to keep. Subtract what "
    "their entries have in common before it takes all digits.",
}

_VANISHED = "distances between the points vanish when they are squared: rescale the data."

P = TypeVar("P", bound="Points")


@dataclass(frozen=True, eq=False)
class Points(Located):
    """Points with coordinates, an ndarray or csr_array of shape (n, D)."""

    def nearest(
        self,
        k: int,
        algorithm: str = "auto",
        count: Count | None = None,
        rows: Index | None = None,
    ) -> Index:
        """Table of the k nearest other points of each row, nearest first; by default of all.

        Of points equally far the one with the smaller index comes first, and a point is never
        its own neighbour, even among duplicates. The algorithm makes no difference to the table
        (see `sdpdr.graphs.search` for both); ``count`` is told how many points are done.
        """
        rows = np.arange(self.n) if rows is None else rows
        return search_among(self, np.arange(self.n), algorithm).table(
            rows, k, others=True, count=count
        )

    @property
    def fewest(self) -> int:
        """Least number of other points to which a point has a known distance."""
        return self.n - 1

    def known(self, i: Index, j: Index) -> np.ndarray:
        """Whether distances are known."""
        return np.ones(np.broadcast(i, j).shape, dtype=bool)

    def require_joined(self) -> None:
        """Refuse points between which no chain of known distances leads; here all are known."""

    def nearest_between(self, sources: Index, targets: Index) -> Index:
        """Nearest target of each source, of equals the one with the smallest index.

        The targets are in ascending order, and none of them is a source.
        """
        return search_among(self, targets).table(sources, 1)[:, 0]

    def furthest(self, count: Count | None = None) -> Index:
        """Point furthest from each point, of equals the one with the smallest index."""
        return furthest_points(self, count)

    def pairs_within(self, radius: float) -> Index:
        """Pairs (i, j), i < j, at PLAIN distance at most ``radius``; shape (p, 2)."""
        return pairs_within(self, radius)

    def representatives(self) -> Index:
        """For each point the first one that is the same, shape (n,)."""
        # What is the same has the same component along any direction: few pairs need a look.
        direction = np.random.default_rng(0).standard_normal(self.X.shape[1])
        component = self.centered @ direction
        order = np.argsort(component, kind="stable")
        # Copies of a row may get components that differ, by where in the table they are.
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
        """The same points without the copies that searches keep for the next one."""
        return replace(self)


class Euclidean(Points):
    """Points whose coordinates are a dense array."""

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """Squared distances of some points, by default of all, to all; shape (r, n)."""
        return np.asarray(cdist(self.X if rows is None else self.X[rows], self.X, "sqeuclidean"))


class Sparse(Points):
    """Points whose coordinates are the rows of a csr_array: never dense, and so never centred."""

    X: Any

    takes_trees: ClassVar[bool] = False
    gathered: ClassVar[int] = BLOCK

    @property
    def centered(self) -> Any:
        """The points as they are: their mean is as good as dense."""
        return self.X

    @property
    def terms(self) -> int:
        """See `Located.terms`."""
        return 2 * max(1, int(np.diff(self.X.indptr).max()))

    @cached_property
    def norms(self) -> Array:
        """See `Located.norms`."""
        return np.sqrt(np.asarray(self.X.multiply(self.X).sum(axis=1)).ravel())

    def products(self, rows: Index) -> Array:
        """See `Located.products`."""
        return np.asarray((self.X[rows] @ self.X.T).toarray())

    def furthest(self, count: Count | None = None) -> Index:
        """See `Euclidean.furthest`; what rounding cannot tell apart is equal.

        Rows without a common column are all at the same angle, and may be nearly all rows.
        """
        furthest = np.empty(self.n, dtype=np.int64)
        size = np.square(self.norms)
        for part in blocks(np.arange(self.n), max(1, BLOCK // self.n), count):
            length = size - 2.0 * self.products(part)
            top = length.max(axis=1)
            doubt = self.doubt(part, np.maximum(top + size[part], 0.0))
            furthest[part] = np.argmax(length >= (top - 2.0 * doubt)[:, None], axis=1)
        return furthest

    def sqdist_to_all(self, rows: Index | None = None) -> Array:
        """See `Euclidean.sqdist_to_all`."""
        rows = np.arange(self.n) if rows is None else rows
        size = np.square(self.norms)
        sqdist = np.maximum(size[rows, None] + size - 2.0 * self.products(rows), 0.0)
        sqdist[np.arange(len(rows)), rows] = 0.0
        return np.asarray(sqdist)

    def _squares(self, difference: Any) -> Array:
        return np.asarray(difference.multiply(difference).sum(axis=1))


Space: TypeAlias = Euclidean | Sparse | Precomputed


def make_space(
    X: ArrayLike, metric: str = "euclidean", *, squared: bool = False, at_least: int = 3
) -> Space:
    """Space of the points X, or of the precomputed distances X.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, D), or (n, n) for precomputed distances
    metric : {"euclidean", "cosine", "precomputed"}
        With ``"cosine"`` the points are the directions of the rows, none of them zero.
    squared : bool, default False
        Whether precomputed distances are squared. NaN and inf among them are not known.
    at_least : int, default 3
        Fewest points allowed.

    Raises
    ------
    DataError
        See `sdpdr.base.checks`.
    UnknownNameError
        The metric is none of the three.

    Warns
    -----
    SeemingDistancesWarning
        Points look like precomputed distances.
    """
    validate.choice("metric", metric, METRICS)
    if metric == "precomputed":
        sqdist = squared_distances(X, squared=squared, at_least=at_least)
        # Rounding of squares that vanish is the square root of it in lengths.
        rounding = max(ROUNDING, 4.0 * float(np.sqrt(precision_of(X))))
        return Precomputed(shared(sqdist) if np.isinf(sqdist).any() else sqdist, rounding)
    if squared:
        raise DataError(
            f"squared=True describes precomputed distances, but metric={metric!r}. "
            "Pass metric='precomputed', or leave squared out."
        )
    points = validate.points(X, at_least=at_least, sparse=True)
    if not issparse(points):
        warn_of_seeming_distances(points)
    if metric == "euclidean":
        warn_of_unlike_columns(X)
    if metric == "cosine":
        return _as_space(directions(points), PARALLEL, metric)
    return _as_space(points, UNITS * np.finfo(float).eps * _size(points), metric)


def directions(X: Matrix) -> Matrix:
    """Rows scaled to length one, dense or sparse as they are.

    Raises
    ------
    DataError
        A row is zero, or all rows are parallel.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [0.0, 2.0]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    X = csr_array(X) if issparse(X) else X
    largest = abs(X).max(axis=1)
    largest = largest.toarray() if issparse(largest) else largest
    empty = np.flatnonzero(largest == 0.0)
    if empty.size:
        raise DataError(
            f"metric='cosine' compares directions, and rows of zeros have none: "
            f"{numbered(empty)}. Leave those rows out."
        )
    # Squares of entries of any size stay in range.
    scaled = diags_array(1.0 / largest) @ X
    squares = scaled.multiply(scaled) if issparse(scaled) else np.square(scaled)
    unit = diags_array(1.0 / np.sqrt(np.asarray(squares.sum(axis=1)).ravel())) @ scaled
    return csr_array(unit) if issparse(unit) else unit


def _size(points: Matrix) -> float:
    """Sum over the columns of their largest magnitudes; columns of one value have no part in it."""
    ends = (points.min(axis=0), points.max(axis=0))
    low, high = (end.toarray().ravel() if issparse(end) else end for end in ends)
    return float(np.maximum(-low, high)[low < high].sum())


def _as_space(points: Matrix, tolerance: float, metric: str) -> Euclidean | Sparse:
    kind = Sparse if issparse(points) else Euclidean
    space = kind(points, tolerance)
    if space.sqdist(np.zeros(1, int), np.arange(space.n)).max() <= tolerance**2:
        vanished = tolerance > 0.0 and tolerance**2 == 0.0
        raise DataError(_VANISHED if vanished else _ONE_POINT[metric].format(space.n))
    return space
