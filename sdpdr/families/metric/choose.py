"""Pairs from labels, or as listed by the user."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index, as_real
from sdpdr.base.errors import DataError, ShapeError, UnknownNameError
from sdpdr.base.labels import require_classes, unknown
from sdpdr.families.metric.pairs import Pairs, pair_indices, pair_keys


class ClassPairs(Pairs):
    r"""All pairs of labelled points, listed only on demand.

    Sums over them need no list. With :math:`S_c` the scatter of the :math:`n_c` points of a class
    about their mean :math:`m_c`, and m the mean of all n labelled points,

    .. math::

        M_S = \sum_c n_c S_c, \qquad
        M_D = \sum_c (n - n_c) S_c + n \sum_c n_c (m_c - m)(m_c - m)^T .

    ``known`` are the points that have a label, and ``label`` their labels, from 0 without gaps.

    Examples
    --------
    >>> pairs = ClassPairs(np.array([[0.0], [1.0], [5.0]]), np.arange(3), np.array([0, 0, 1]))
    >>> pairs.count("dissimilar"), pairs.scatter("dissimilar"), pairs.dissimilar.tolist()
    (2, array([[41.]]), [[0, 2], [1, 2]])
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
        validate.choice("kind of pairs", kind, ("similar", "dissimilar"))
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

    def moved(self, points: Array) -> Pairs:
        """The same pairs of other points."""
        if len(points) != len(self.points):
            raise ShapeError(f"{len(self.points)} points are needed; {len(points)} were given.")
        return ClassPairs(points, self.known, self.label)

    def __repr__(self) -> str:
        return (
            f"ClassPairs({self.count('similar')} similar and {self.count('dissimilar')} dissimilar "
            f"pairs of {self.label.size} points of {self.label.max() + 1} classes)"
        )


def choose_pairs(
    X: ArrayLike,
    y: ArrayLike | None = None,
    similar: ArrayLike | None = None,
    dissimilar: ArrayLike | str | None = None,
    n_pairs: int | None = None,
    seed: int = 0,
) -> Pairs:
    """Pairs from labels, or as listed.

    Parameters
    ----------
    X : array_like of shape (n, D)
    y : array_like of shape (n,), optional
        Labels: pairs of one class are similar, all others dissimilar.
    similar, dissimilar : array_like of shape (p, 2), optional
        Indices of points, instead of labels; Ghodsi's program needs one kind only.
        ``dissimilar="rest"`` makes every pair dissimilar that is not listed as similar.
    n_pairs : int, optional
        With labels: that many random pairs of each kind instead of all.
    seed : int, default 0

    Raises
    ------
    DataError
        Neither labels nor pairs are given, or both; and as `Pairs`.

    Examples
    --------
    >>> pairs = choose_pairs([[0.0], [1.0], [3.0]], similar=[[0, 1]], dissimilar="rest")
    >>> pairs.dissimilar.tolist()
    [[0, 2], [1, 2]]
    """
    points = validate.points(X, at_least=2)
    if y is not None:
        if similar is not None or dissimilar is not None:
            raise DataError("give either labels y or pairs (similar, dissimilar), not both.")
        return pairs_from_labels(points, y, n_pairs, seed)
    if similar is None and dissimilar is None:
        raise DataError(
            "a metric is learned from labels y, or from similar and dissimilar pairs. If all other "
            "pairs are dissimilar, pass dissimilar='rest'."
        )
    similar = [] if similar is None else similar
    if isinstance(dissimilar, str):
        if dissimilar != "rest":
            raise UnknownNameError("dissimilar", dissimilar, ("rest",))
        dissimilar = _rest(pair_indices(similar, "similar", len(points)), len(points))
    dissimilar = [] if dissimilar is None else dissimilar
    return Pairs(points, similar, dissimilar)  # type: ignore[arg-type]  # converted there


def pairs_from_labels(X: Array, y: ArrayLike, n_pairs: int | None = None, seed: int = 0) -> Pairs:
    """Pairs of one class are similar, pairs of two classes dissimilar.

    Parameters
    ----------
    X : array of shape (n, D)
    y : array_like of shape (n,)
        Points whose label is unknown (see `sdpdr.base.labels.unknown`) are in no pair.
    n_pairs : int, optional
        That many of each kind, drawn without repetition (all, if there are no more); by default
        all.
    seed : int, default 0

    Raises
    ------
    DataError
        There is one class only, every class has one point only, or y is measured.

    Examples
    --------
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


def _rest(similar: Index, n: int) -> Index:
    every = np.column_stack(np.triu_indices(n, 1))
    return every[~np.isin(pair_keys(every, n), pair_keys(similar, n))]
