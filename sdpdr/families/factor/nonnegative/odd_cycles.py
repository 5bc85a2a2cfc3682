"""Odd cycles that show that a matrix of any order is not completely positive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.nonnegative.copositive import Refutation, confirmed
from sdpdr.families.factor.nonnegative.symmetric import at_unit_diagonal, symmetric_matrix

# Correlations at most this large do not join places, in turns: what there is beside a cycle.
_APART = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
# Paths that are looked at for each of these, from all places together.
_PATHS = 20_000
# Zeros of a matrix that was computed.
_ROUNDING = 1e-12


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
    A = symmetric_matrix(X)
    unit, root, kept = at_unit_diagonal(A)
    seen: set[tuple[int, ...]] = set()
    for apart in _APART:
        joined = unit > max(apart, _ROUNDING)
        np.fill_diagonal(joined, False)
        for places in _odd_cycles(joined, unit, deadline):
            # Another graph may find the same cycle again.
            if places in seen:
                continue
            seen.add(places)
            found = _of_cycle(unit, np.array(places), tol)
            if found is not None:
                own = np.array(places)
                M = found.matrix / np.outer(root[own], root[own])
                there = kept[own]
                moved = Refutation.of(found.proof, M, A[np.ix_(there, there)])
                return replace(moved, kaplan=found.kaplan).within(there, len(A))
    return None


def _of_cycle(unit: Array, places: Index, tol: float) -> Refutation | None:
    """The certificate of one cycle at unit diagonal, its places in their order."""
    part, p = unit[np.ix_(places, places)], places.size
    step = np.roll(np.eye(p), 1, axis=0)
    signs = 1.0 - 2.0 * (step + step.T)
    try:
        d = np.linalg.solve(signs * part, -np.ones(p))
    except np.linalg.LinAlgError:
        return None
    if not np.all(d > 0.0):
        return None
    d = d / np.max(d)
    found = Refutation.of("odd cycle", d[:, None] * signs * d, part)
    if not found.distance > tol * float(np.linalg.norm(part)):
        return None
    return confirmed(found, part)


def _odd_cycles(
    joined: np.ndarray, unit: Array, deadline: Deadline | None
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
            if deadline is not None and deadline.is_over():
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
