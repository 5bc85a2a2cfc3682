"""Pairs of points that should be near each other or far apart, and the matrices made of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, as_real
from sdpdr.base.errors import DataError, DataTypeError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.labels import require_classes, unknown


@dataclass(frozen=True, eq=False, repr=False)
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
    >>> import numpy as np
    >>> from sdpdr.metric import Pairs
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
        n, keys = len(points), []
        for kind in ("similar", "dissimilar"):
            index = _indices(getattr(self, kind), kind, n)
            object.__setattr__(self, kind, index)
            keys.append(index.min(axis=1) * n + index.max(axis=1))  # in either order
        if not self.similar.size and not self.dissimilar.size:
            raise DataError(
                "there are no pairs (of points that differ), so no metric can be learned. List "
                "similar pairs, dissimilar pairs, or both."
            )
        both = np.intersect1d(*keys)
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

    def __repr__(self) -> str:
        similar, dissimilar = self.count("similar"), self.count("dissimilar")
        return (
            f"{type(self).__name__}({similar} similar and {dissimilar} dissimilar pairs of "
            f"{len(self.points)} points)"
        )


class ClassPairs(Pairs):
    r"""All pairs of labelled points, listed only when needed; sums over them need no list.

    With :math:`S_c` the scatter of the :math:`n_c` points of a class about their mean :math:`m_c`,
    and m the mean of all n labelled points,

    .. math::

        M_S = \sum_c n_c S_c, \qquad
        M_D = \sum_c (n - n_c) S_c + n \sum_c n_c (m_c - m)(m_c - m)^T .

    ``known`` are the points that have a label, and ``label`` their labels, from 0 without gaps.
    """

    known: Index
    label: Index

    def __init__(self, points: Array, known: Index, label: Index) -> None:
        self.__dict__.update(points=as_real(points, copy=True), known=known, label=label)

    @cached_property
    def similar(self) -> Index:  # a field there, found when needed
        """Pairs of one class, shape (p, 2)."""
        return _pairs_of_labels(self.known, self.label)[0]

    @cached_property
    def dissimilar(self) -> Index:
        """Pairs of two classes, shape (q, 2)."""
        return _pairs_of_labels(self.known, self.label)[1]

    def count(self, kind: str) -> int:
        """How many pairs are of one kind."""
        sizes, n = np.bincount(self.label), self.label.size
        similar = int(sizes @ (sizes - 1)) // 2
        return similar if kind == "similar" else n * (n - 1) // 2 - similar

    def scatter(self, kind: str) -> Array:
        """The sum over one kind, from the scatter of classes and of their means."""
        # Centred first, because sums of points far from zero lose digits.
        x = self.points[self.known] - self.points[self.known].mean(axis=0)
        sizes, n = np.bincount(self.label), self.label.size
        means = np.array([x[self.label == c].mean(axis=0) for c in range(len(sizes))])
        inside = x - means[self.label]
        weights = sizes if kind == "similar" else n - sizes
        total = inside.T @ (weights[self.label][:, None] * inside)
        if kind == "dissimilar":
            total += n * means.T @ (sizes[:, None] * means)
        return np.asarray((total + total.T) * 0.5)


@checks_keywords
def pairs_from_labels(X: Array, y: ArrayLike, n_pairs: int | None = None, seed: int = 0) -> Pairs:
    """Pairs of one class are similar, pairs of two classes dissimilar.

    Parameters
    ----------
    X : array of shape (n, D)
    y : array_like of shape (n,)
        Points whose label is unknown (None, nan, blank, or -1 beside two classes) are in no pair.
    n_pairs : int, optional
        That many of each kind, drawn without repetition (all, if there are no more); by default
        all.
    seed : int, default 0

    Returns
    -------
    Pairs

    Raises
    ------
    DataError
        There is one class only, every class has one point only, or y is measured.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.metric import pairs_from_labels
    >>> pairs = pairs_from_labels(np.array([[0.0], [1.0], [5.0]]), ["a", "a", "b"])
    >>> pairs.similar.tolist(), pairs.dissimilar.tolist()
    ([[0, 1]], [[0, 2], [1, 2]])
    """
    labels = np.asarray(y)
    if labels.shape != (len(X),):
        raise ShapeError(
            f"y must hold one label for each of the {len(X)} points; it has shape {labels.shape}."
        )
    require_classes(labels)
    known = np.flatnonzero(~unknown(labels))
    classes, label = np.unique(labels[known], return_inverse=True)
    if not len(classes):
        raise DataError("y holds no known label, so there are no pairs. Label some points.")
    if len(classes) == 1:
        raise DataError(
            f"y has one class only ({classes.tolist()[0]!r}), so no pair is dissimilar. "
            "Add points of another class, or list dissimilar pairs."
        )
    if len(classes) == len(known):
        raise DataError(
            f"y has {len(classes)} classes of one point each, so no pair is similar. If y is a "
            "number to be predicted, cut it into classes first."
        )
    if n_pairs is None:
        return ClassPairs(X, known, label)
    n_pairs = validate.positive_integer("n_pairs", n_pairs)
    return Pairs(X, *_pairs_of_labels(known, label, n_pairs, seed))


def chosen_pairs(
    X: ArrayLike,
    y: ArrayLike | None,
    similar: ArrayLike | None,
    dissimilar: ArrayLike | None,
    n_pairs: int | None,
    seed: int,
) -> Pairs:
    """The pairs of a recipe: from labels, or as listed."""
    points = validate.points(X, at_least=2)
    if y is not None:
        if similar is not None or dissimilar is not None:
            raise DataError("give either labels y or pairs (similar, dissimilar), not both.")
        return pairs_from_labels(points, y, n_pairs, seed)
    if similar is None and dissimilar is None:
        raise DataError("a metric is learned from labels y, or from similar and dissimilar pairs.")
    near, far = (np.zeros((0, 2), int) if each is None else each for each in (similar, dissimilar))
    return Pairs(points, near, far)  # type: ignore[arg-type]  # converted there


def pairs_of_points(pairs: Any, y: ArrayLike) -> Pairs:
    """Pairs given point by point, 1 for similar and -1 for dissimilar; equal points are one."""
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
    points, inverse = np.unique(points, axis=0, return_inverse=True)
    index = inverse.reshape(-1, 2)
    unlike = index[:, 0] != index[:, 1]  # others have distance zero under every metric
    return Pairs(points, index[unlike & (sign == 1)], index[unlike & (sign == -1)])


def require_pairs(array: np.ndarray) -> np.ndarray:
    """The array itself, if it holds pairs of points."""
    if array.ndim != 3 or array.shape[1] != 2:
        raise ShapeError(
            f"pairs must have shape (n_pairs, 2, n_features); they have {array.shape}."
        )
    return array


def _indices(given: ArrayLike, kind: str, n: int) -> Index:
    """Checked pairs of indices."""
    index = np.asarray(given)
    if index.size == 0:
        return np.zeros((0, 2), dtype=np.intp)
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
    return index.astype(np.intp)


def _pairs_of_labels(
    known: Index, label: Index, n_pairs: int | None = None, seed: int = 0
) -> tuple[Index, Index]:
    """Similar and dissimilar pairs, all of them or a random sample of each."""
    # If points are sorted by class, the partners of point a after it are two runs: the rest of its
    # class, and all later classes. So pair number t is found by counting.
    ranks = np.argsort(label, kind="stable")
    order = known[ranks]
    end = np.searchsorted(label[ranks], label[ranks], side="right")
    rng = np.random.default_rng(seed)
    after = np.arange(len(known)) + 1
    similar = _numbered(end - after, after, n_pairs, rng)
    dissimilar = _numbered(len(known) - end, end, n_pairs, rng)
    return np.sort(order[similar], axis=1), np.sort(order[dissimilar], axis=1)


def _numbered(
    partners: Index, first: Index, n_pairs: int | None, rng: np.random.Generator
) -> Index:
    """Pairs (a, first[a] + k), k < partners[a], all of them or a random sample."""
    ends = np.cumsum(partners)
    total = int(ends[-1])
    number = np.arange(total)
    if n_pairs is not None and n_pairs < total:
        number = np.sort(rng.choice(total, n_pairs, replace=False))
    a = np.searchsorted(ends, number, side="right")
    return np.column_stack([a, first[a] + number - (ends[a] - partners[a])])


@dataclass(frozen=True, eq=False)
class MetricAnswer:
    """A metric with its objective and a lower bound on the objective of every feasible metric.

    Attributes
    ----------
    components : array of shape (k, n)
        L with :math:`A = L^T L`; orthogonal rows, the longest first.
    value, bound : float
        The objective of this metric, which is feasible, and a bound for all feasible metrics.
    argument : str
        Why the bound holds.
    iterations : int
        0 for closed forms.
    unique : bool
        False if other metrics are known to be as good.
    scale : float
        Size relative to which a value counts as zero in the gap.
    """

    components: Array
    value: float
    bound: float
    argument: str
    iterations: int = 0
    unique: bool = True
    scale: float = 0.0

    @property
    def matrix(self) -> Array:
        """The Mahalanobis matrix A."""
        return np.asarray(self.components.T @ self.components)

    @property
    def gap(self) -> float:
        """``(value - bound) / |bound|``, the largest relative suboptimality possible."""
        return (self.value - self.bound) / max(abs(self.bound), self.scale, 1e-300)
