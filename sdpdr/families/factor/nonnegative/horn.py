"""Five rows and columns that show that a matrix of any order is not completely positive."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice, permutations
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.nonnegative.copositive import Refutation, horn_matrix
from sdpdr.families.factor.nonnegative.symmetric import UnitScaled, symmetric_matrix

# Sets of five indices that are tested at once, and in all: those of 40 indices.
_BLOCK, _SETS = 5_000, 700_000
# A determinant that rounding may have made negative, at unit diagonal.
_ROUNDING = 1e-13
# The twelve cycles through five indices, and Horn's matrix in these orders.
_ORDERS = np.array([(0, *rest) for rest in permutations(range(1, 5)) if rest[0] < rest[-1]])
_SIGNS = np.array([horn_matrix()[np.ix_(back, back)] for back in np.argsort(_ORDERS, axis=1)])


def horn_certificate(
    X: ArrayLike, *, tol: float = 1e-8, seed: int = 0, deadline: Deadline | None = None
) -> Refutation | None:
    r"""A proof by five rows that a doubly nonnegative matrix is not completely positive.

    With Horn's copositive matrix H, its rows and columns in any order, and any d > 0, every
    completely positive A has :math:`d^T (H \circ A)\, d \ge 0` at any five rows. Where no fewer
    rows have a negative value, the least one over :math:`\sum d_i = 1` lies inside the simplex,
    where :math:`(H \circ A)\, d` is constant. So some d has a negative value exactly if the
    solution of :math:`(H \circ A)\, x = -\mathbf 1` is positive, and then d = x. Each set of five
    rows and each of the twelve orders is decided in this way; the certificate is zero in all other
    rows. If there are more than 40 rows, sets are drawn at random.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, doubly nonnegative.
    tol : float, default 1e-8
        A certificate counts if it proves this distance, relative to the norm of the part of A in
        these rows, at unit diagonal.
    seed : int, default 0
        Of the random sets.
    deadline : Deadline, optional
        When to stop.

    Returns
    -------
    Refutation or None
        The best of the first block of sets that has one. None proves nothing: there are other
        copositive matrices.

    References
    ----------
    M. Hall and M. Newman, "Copositive and completely positive quadratic forms", Proceedings of the
    Cambridge Philosophical Society 59, 1963.

    Examples
    --------
    >>> cycle = np.roll(np.eye(5), 1, axis=0)
    >>> A = np.full((16, 16), 0.05) + np.eye(16)
    >>> A[3:8, 3:8] = 1.8 * np.eye(5) + cycle + cycle.T
    >>> found = horn_certificate(A)
    >>> found
    Refutation(<M, A> = -0.555556: M is Horn's matrix, scaled, in five rows, confirmed)
    >>> np.flatnonzero(found.matrix.any(axis=0))
    array([3, 4, 5, 6, 7])
    """
    unit = UnitScaled.of(symmetric_matrix(X))
    for sets in _sets(len(unit.matrix), seed):
        if (deadline or ENDLESS).is_over():
            return None
        if (best := _best(unit.matrix, sets)) is not None:
            rows, M = best
            if (found := unit.refuted("five places", M, tol, rows)) is not None:
                return found
    return None


def _sets(n: int, seed: int) -> Iterator[Index]:
    """Blocks of sets of five indices: all of them, or random ones."""
    if comb(n, 5) <= _SETS:
        every = combinations(range(n), 5)
        while block := list(islice(every, _BLOCK)):
            yield np.array(block)
        return
    rng = np.random.default_rng(seed)
    for _ in range(_SETS // _BLOCK):
        yield np.argpartition(rng.random((_BLOCK, n)), 5, axis=1)[:, :5]


def _best(unit: Array, sets: Index) -> tuple[Index, Array] | None:
    """Five indices, and the scaled Horn matrix there with the least value, if it is negative."""
    forms = _SIGNS * unit[sets[:, :, None], sets[:, None, :]][:, None]
    # A form with its least value inside the simplex has exactly one negative eigenvalue.
    which, order = np.nonzero(np.linalg.det(forms) < -_ROUNDING)
    if not which.size:
        return None
    chosen = forms[which, order]
    d = np.linalg.solve(chosen, -np.ones((len(chosen), 5, 1)))[:, :, 0]
    good = np.flatnonzero(np.all(d > 0.0, axis=1))
    if not good.size:
        return None
    values = -np.sum(d[good], axis=1) / np.sum(d[good] ** 2, axis=1)
    best = good[np.argmin(values)]
    scales = d[best] / np.max(d[best])
    return sets[which[best]], scales[:, None] * _SIGNS[order[best]] * scales
