"""Cycles of places that show that a matrix of any order is not completely positive."""

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

# Sets of five places that are looked at in one go, and in all, which are those of 40 places.
_BLOCK, _SETS = 5_000, 700_000
# A determinant that rounding may have made negative, at unit diagonal.
_ROUNDING = 1e-13
# The twelve cycles through five places.
_ORDERS = np.array([(0, *rest) for rest in permutations(range(1, 5)) if rest[0] < rest[-1]])
_SIGNS = np.array([horn_matrix()[np.ix_(back, back)] for back in np.argsort(_ORDERS, axis=1)])
# Correlations at most this large do not join places, in turns: what there is beside a cycle.
_APART = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
# Paths that are looked at for each of these, from all places together.
_PATHS = 20_000
# Zeros of a matrix that was computed.
_ZERO = 1e-12


def horn_certificate(
    X: ArrayLike, *, tol: float = 1e-8, seed: int = 0, deadline: Deadline | None = None
) -> Refutation | None:
    r"""A proof by five places that a doubly non-negative matrix is not completely positive.

    With Horn's copositive matrix H, its rows and columns in any order, and any d > 0, every
    completely positive A has :math:`d^T (H \circ A)\, d \ge 0` at any five places. Where fewer
    places have no negative value, the least one over :math:`\sum d_i = 1` lies inside the simplex,
    where :math:`(H \circ A)\, d` is constant: so there is a d of a negative value exactly if the
    solution of :math:`(H \circ A)\, x = -\mathbf 1` is positive, and d = x then. Each set of five
    places and each of the twelve orders is decided in this way; the certificate is zero at all
    other places. Of more than 40 places, sets are drawn.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, doubly non-negative.
    tol : float, default 1e-8
        A certificate counts if it proves this distance, relative to the norm of the part of A at
        these places, at unit diagonal.
    seed : int, default 0
        Of the draws.
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
    Refutation(<M, A> = -0.555556: M is Horn's matrix, scaled, at five places, confirmed)
    >>> np.flatnonzero(found.matrix.any(axis=0))
    array([3, 4, 5, 6, 7])
    """
    unit = UnitScaled.of(symmetric_matrix(X))
    for sets in _sets(len(unit.matrix), seed):
        if (deadline or ENDLESS).is_over():
            return None
        if (best := _best(unit.matrix, sets)) is not None:
            places, M = best
            if (found := unit.refuted("five places", M, tol, places)) is not None:
                return found
    return None


def _sets(n: int, seed: int) -> Iterator[Index]:
    """Blocks of sets of five places: all there are, or drawn."""
    if comb(n, 5) <= _SETS:
        every = combinations(range(n), 5)
        while block := list(islice(every, _BLOCK)):
            yield np.array(block)
        return
    rng = np.random.default_rng(seed)
    for _ in range(_SETS // _BLOCK):
        yield np.argpartition(rng.random((_BLOCK, n)), 5, axis=1)[:, :5]


def _best(unit: Array, places: Index) -> tuple[Index, Array] | None:
    """Five places, and Horn's matrix there of the least value relative to the matrix, if any."""
    forms = _SIGNS * unit[places[:, :, None], places[:, None, :]][:, None]
    # With its least value inside the simplex a form has exactly one negative eigenvalue.
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
    return places[which[best]], _scaled(_SIGNS[order[best]], d[best])


def _scaled(signs: Array, d: Array) -> Array:
    """Signs on both sides times scales, of which the largest is one."""
    d = d / np.max(d)
    return np.asarray(d[:, None] * signs * d)


def odd_cycle_certificate(
    X: ArrayLike, *, tol: float = 1e-8, deadline: Deadline | None = None
) -> Refutation | None:
    r"""A proof by the places of an odd cycle that a matrix is not completely positive.

    With S = -1 where places follow each other on a cycle of length p > 3 and +1 elsewhere, and any
    d > 0, the matrix :math:`d_i S_{ij} d_j` is copositive, by the theorem of Motzkin and Straus,
    since the cycle has no triangle; for p = 5 it is Horn's, scaled. So a positive solution d of
    :math:`(S \circ A)\, d = -\mathbf 1` at the places of the cycle refutes A. Cycles are searched
    for in the graphs that join places whose correlation :math:`a_{ij} (a_{ii} a_{jj})^{-1/2}` is
    above some number: odd ones without a chord, of which even the heaviest edges first make many,
    so that no more than some ten thousand paths are followed in each graph.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A, doubly non-negative.
    tol : float, default 1e-8
        As of `horn_certificate`.
    deadline : Deadline, optional
        When to stop.

    Returns
    -------
    Refutation or None
        The first that is found. None proves nothing.

    References
    ----------
    T. Motzkin and E. Straus, "Maxima for graphs and a new proof of a theorem of Turan", Canadian
    Journal of Mathematics 17, 1965; J. Drew, C. Johnson and R. Loewy, "Completely positive matrices
    associated with M-matrices", Linear and Multilinear Algebra 37, 1994.

    Examples
    --------
    >>> cycle = np.roll(np.eye(7), 1, axis=0)
    >>> A = np.full((20, 20), 0.05) + np.eye(20)
    >>> A[3:10, 3:10] = 1.9 * np.eye(7) + cycle + cycle.T
    >>> found = odd_cycle_certificate(A)
    >>> found
    Refutation(<M, A> = -0.368421: M has the signs of an odd cycle, at its places, confirmed)
    >>> np.flatnonzero(found.matrix.any(axis=0))
    array([3, 4, 5, 6, 7, 8, 9])
    """
    unit = UnitScaled.of(symmetric_matrix(X))
    seen: set[tuple[int, ...]] = set()
    for apart in _APART:
        joined = unit.matrix > max(apart, _ZERO)
        np.fill_diagonal(joined, False)
        for cycle in _odd_cycles(joined, unit.matrix, deadline or ENDLESS):
            # Another graph may find the same cycle again.
            if cycle in seen:
                continue
            seen.add(cycle)
            places = np.array(cycle)
            M = _of_cycle(unit.matrix[np.ix_(places, places)])
            found = None if M is None else unit.refuted("odd cycle", M, tol, places)
            if found is not None:
                return found
    return None


def _of_cycle(part: Array) -> Array | None:
    """The matrix of a cycle at unit diagonal, its places in their order, or None."""
    p = len(part)
    step = np.roll(np.eye(p), 1, axis=0)
    signs = 1.0 - 2.0 * (step + step.T)
    try:
        d = np.linalg.solve(signs * part, -np.ones(p))
    except np.linalg.LinAlgError:
        return None
    return _scaled(signs, d) if np.all(d > 0.0) else None


def _odd_cycles(
    joined: np.ndarray, unit: Array, deadline: Deadline = ENDLESS
) -> Iterator[tuple[int, ...]]:
    """Odd cycles of five places and more without a chord, each from the first of its places.

    Sets of places are the bits of whole numbers.
    """
    n = len(joined)
    heaviest = [[int(v) for v in np.argsort(-row, kind="stable")] for row in unit]
    near = [sum(1 << int(v) for v in np.flatnonzero(row)) for row in joined]
    for first in range(n):
        left = _PATHS // n
        # The path, and all that is joined to a place of it other than the first and the last.
        waiting: list[tuple[tuple[int, ...], int]] = [((first,), (1 << (first + 1)) - 1)]
        while waiting and left > 0:
            if deadline.is_over():
                return
            left -= 1
            path, barred = waiting.pop()
            last = path[-1]
            beyond = barred | (near[last] if len(path) > 1 else 0)
            for v in reversed(heaviest[last]):
                if not (near[last] & ~barred) >> v & 1:
                    continue
                if len(path) > 2 and near[first] >> v & 1:
                    # Both directions lead around: one is enough.
                    if len(path) % 2 == 0 and len(path) > 3 and path[1] < v:
                        yield (*path, v)
                elif len(path) == 1 or not near[first] >> v & 1:
                    waiting.append(((*path, v), beyond | 1 << v))
