"""Pairs of points that are to be near each other, and pairs that are to be far apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, as_real
from sdpdr.base.errors import DataError, DataTypeError, ShapeError

# Pairs factorized at a time. The time hardly depends on it between 1024 and 16384.
_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Pairs:
    r"""Points with similar or dissimilar pairs among them, or both.

    A pair listed k times counts k times, in either order of its points.

    Parameters
    ----------
    points : array of shape (n, D)
    similar, dissimilar : array_like of shape (p, 2) and (q, 2)
        Indices of points.

    Raises
    ------
    DataError
        Both sets are empty; or one names points that do not exist, pairs a point with itself, or
        holds a pair of the other.
    DataTypeError, ShapeError
        Points are not a matrix of real numbers, or pairs are not pairs of indices.

    Examples
    --------
    >>> pairs = Pairs(np.array([[0.0], [1.0], [3.0]]), [[0, 1]], [[0, 2], [1, 2]])
    >>> pairs.scatter("similar"), pairs.scatter("dissimilar")
    (array([[1.]]), array([[13.]]))
    """

    points: Array
    similar: Index
    dissimilar: Index

    def __post_init__(self) -> None:
        points = as_real(self.points, copy=True)
        if points.ndim != 2:
            raise ShapeError(f"points must have shape (n, D); they have {points.shape}.")
        object.__setattr__(self, "points", points)
        n = len(points)
        for kind in ("similar", "dissimilar"):
            object.__setattr__(self, kind, pair_indices(getattr(self, kind), kind, n))
        if not self.similar.size and not self.dissimilar.size:
            raise DataError(
                "there are no pairs (of points that differ), so nothing says what is near. List "
                "similar pairs, dissimilar pairs, or both."
            )
        both = np.intersect1d(pair_keys(self.similar, n), pair_keys(self.dissimilar, n))
        if both.size:
            i, j = divmod(int(both[0]), n)
            more = f", and so are {both.size - 1} more" if both.size > 1 else ""
            raise DataError(
                f"the pair ({i}, {j}) is called similar and dissimilar at once{more}. Drop it "
                "from one of the sets."
            )

    @property
    def n_features(self) -> int:
        """D."""
        return int(self.points.shape[1])

    def index(self, kind: str) -> Index:
        """The pairs of one kind, ``"similar"`` or ``"dissimilar"``; shape (p, 2)."""
        validate.choice("kind of pairs", kind, ("similar", "dissimilar"))
        return self.similar if kind == "similar" else self.dissimilar

    def count(self, kind: str) -> int:
        """How many pairs are of one kind."""
        return len(self.index(kind))

    def require_both(self) -> None:
        """Refuse pairs of one kind only.

        Raises
        ------
        DataError
        """
        for kind in ("similar", "dissimilar"):
            if not self.count(kind):
                raise DataError(
                    f"there are no {kind} pairs (of points that differ). Xing's program needs both "
                    "kinds: similar pairs say what to shrink, dissimilar pairs what must stay "
                    "apart. GhodsiMetric takes either."
                )

    def differences(self, kind: str) -> Array:
        """The vectors x_i - x_j of the pairs of one kind, shape (p, D)."""
        i, j = self.index(kind).T
        return np.asarray(self.points[i] - self.points[j])

    def scatter(self, kind: str) -> Array:
        r"""The sum of :math:`(x_i - x_j)(x_i - x_j)^T` over one kind, shape (D, D).

        Computed as :math:`X^T L X` with the Laplacian L of the graph of these pairs, so that no
        array has a row for every pair.
        """
        i, j = self.index(kind).T
        n = len(self.points)
        weights = sp.coo_array((np.ones(i.size), (i, j)), shape=(n, n)).tocsr()
        weights = weights + weights.T
        degree = np.bincount(np.concatenate([i, j]), minlength=n).astype(float)
        # Centred first, because the two sums below cancel where the points are far from zero.
        x = self.points - self.points.mean(axis=0)
        total = x.T @ (degree[:, None] * x - weights @ x)
        return np.asarray((total + total.T) * 0.5)

    def similar_degree(self) -> Index:
        """In how many similar pairs each point is."""
        return np.bincount(self.similar.ravel(), minlength=len(self.points))

    def similar_root(self) -> Array:
        r"""A matrix R with :math:`R^T R` the scatter of similar pairs.

        The scatter itself has lost half of the digits, so R comes from orthogonal factorizations of
        the differences, a block of them at a time.

        Returns
        -------
        array of shape (m, D)

        Examples
        --------
        >>> pairs = Pairs(np.array([[0.0], [3.0], [7.0]]), [[0, 1], [1, 2]], [[0, 2]])
        >>> abs(float(pairs.similar_root()[0, 0])).__round__(9)
        5.0
        """
        root: Array = np.zeros((0, self.n_features))
        block = max(_BLOCK, 4 * self.n_features)
        for start in range(0, len(self.similar), block):
            i, j = self.similar[start : start + block].T
            rows = np.vstack([root, self.points[i] - self.points[j]])
            root = np.asarray(np.linalg.qr(rows, mode="r"))
        return root

    def moved(self, points: Array) -> Pairs:
        """The same pairs of other points."""
        if len(points) != len(self.points):
            raise ShapeError(f"{len(self.points)} points are needed; {len(points)} were given.")
        return Pairs(points, self.similar, self.dissimilar)


def pairs_from_points(pairs: Any, y: ArrayLike) -> Pairs:
    """Pairs given point by point, with +1 for similar and -1 for dissimilar.

    Points with equal coordinates are one point.

    Parameters
    ----------
    pairs : array_like of shape (n_pairs, 2, D)
    y : array_like of shape (n_pairs,)

    Raises
    ------
    ShapeError, DataError, DataTypeError

    Examples
    --------
    >>> pairs = pairs_from_points([[[0.0], [1.0]], [[0.0], [3.0]]], [1, -1])
    >>> len(pairs.points), pairs.similar.tolist(), pairs.dissimilar.tolist()
    (3, [[0, 1]], [[0, 2]])
    """
    array = require_pairs(np.asarray(pairs))
    sign = np.asarray(y)
    if sign.shape != (len(array),):
        raise ShapeError(f"y must hold one of 1, -1 for each of the {len(array)} pairs.")
    wrong = set(np.unique(sign).tolist()) - {1, -1}
    if wrong:
        raise DataError(
            "y must be 1 for a similar and -1 for a dissimilar pair; it also holds "
            f"{sorted(wrong, key=str)[0]!r}."
        )
    points = validate.points(array.reshape(-1, array.shape[2]), at_least=2)
    points, place = np.unique(points, axis=0, return_inverse=True)
    index = place.reshape(-1, 2)
    return Pairs(points, _unlike(index[sign == 1]), _unlike(index[sign == -1]))


def require_pairs(array: np.ndarray) -> np.ndarray:
    """The array itself, if it holds pairs of points.

    Raises
    ------
    ShapeError
    """
    if array.ndim != 3 or array.shape[1] != 2:
        raise ShapeError(
            f"pairs must have shape (n_pairs, 2, n_features); they have {array.shape}."
        )
    return array


def _unlike(index: Index) -> Index:
    """The pairs without those of equal points, whose distance is zero under every metric."""
    return np.asarray(index[index[:, 0] != index[:, 1]])


def pair_keys(index: Index, n: int) -> Index:
    """One number for each pair, in either order of its points."""
    return np.asarray(index.min(axis=1) * n + index.max(axis=1))


def pair_indices(given: ArrayLike, kind: str, n: int) -> Index:
    """Checked pairs of indices."""
    index = np.asarray(given)
    if index.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if index.ndim != 2 or index.shape[1] != 2:
        raise ShapeError(f"{kind} pairs must have shape (p, 2); they have {index.shape}.")
    if not np.issubdtype(index.dtype, np.integer):
        raise DataTypeError(
            f"{kind} pairs must be indices of points, whole numbers; they are {index.dtype}."
        )
    if index.min() < 0 or index.max() >= n:
        raise DataError(
            f"{kind} pairs must name points 0..{n - 1}; they range over "
            f"{index.min()}..{index.max()}."
        )
    same = np.flatnonzero(index[:, 0] == index[:, 1])
    if same.size:
        raise DataError(
            f"{kind} pair {same[0]} joins point {index[same[0], 0]} with itself. Drop it."
        )
    return index.astype(np.int64)
