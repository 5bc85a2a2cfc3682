"""Multipliers next to those that are given, by which the checker proves a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.certify.check_proof import (
    DENSE,
    INEQUALITY,
    SMALLEST,
    NotProvedError,
    Program,
    dual,
    lower,
    power_of_two,
)
from sdpdr.certify.proof_file.program import cleaned
from sdpdr.certify.proof_file.values import Found

# A bound as near to the one aimed at needs no other multipliers.
_NEAR = 1e-9
# Multipliers move by a share of their size: the first that is tried, how much more if it does not
# verify, and at most. Then the least share is looked for, from rounding on, up to a factor.
_SHARE, _GROWTH, _MOST, _FIRST, _WITHIN = 1e-10, 1e2, 1.0, 1e-15, 5.0
# Heights of the multiple of the identity, in units of the costs, that slack is moved towards.
_HEIGHTS = (1.0, 0.1, 10.0)
# Beside the largest, what of a slack is in the direction of null vectors by rounding alone.
_AWAY = 1e-13
# Entries of the triangles of blocks with null vectors, which are not sparse, that are looked at.
_DENSE = 50_000


def find_bound(
    P: Program, y: Array, goal: float | None = None, *, ray: bool = False
) -> Found | str:
    """The best bound that is proved by multipliers next to y, or why there is none.

    Parameters
    ----------
    P : Program
    y : array of shape (m + 1,)
        Multipliers of the objective, one or zero, and of rows.
    goal : float, optional
        A bound of the minimisation that is good enough.
    ray : bool, default False
        Whether the multipliers are to show that no point is feasible.
    """
    search = _Search(P, goal, ray=ray)
    signed = (P.rel == INEQUALITY) & ~P.equation
    y = np.where(signed, np.maximum(y, 0.0), y)
    if search.is_over(lambda share: y, "as they are", moves=False):
        return search.found()
    if search.is_over(lambda share: _scaled(y, 1.0 + share), "scaled up"):
        return search.found()
    for words, move in _directions(P, y):
        if search.is_over(move, words):
            break
    return search.found()


class _Search:
    """The best bound so far, and why others were not proved."""

    def __init__(self, P: Program, goal: float | None, *, ray: bool) -> None:
        self._P, self._goal, self._ray = P, goal, ray
        self._best: Found | None = None
        self._troubles = list[str]()

    def is_over(self, move: Callable[[float], Array], words: str, *, moves: bool = True) -> bool:
        """Try multipliers by the smallest share that verifies; whether the bound is good enough."""
        share, failed = _SHARE, _FIRST
        while self._tried(move(share), words) is None:
            failed, share = share, share * _GROWTH
            if share > _MOST or not moves:
                break
        while moves and _WITHIN * failed < share <= _MOST and not self._is_near():
            middle = float(np.sqrt(failed * share))
            if self._tried(move(middle), words) is None:
                failed = middle
            else:
                share = middle
        return self._is_near()

    def _is_near(self) -> bool:
        """Whether the best bound is good enough."""
        best, goal = self._best, self._goal
        return best is not None and (goal is None or goal - best.number <= _NEAR * abs(goal))

    def _tried(self, y: Array, words: str) -> float | None:
        """The bound of multipliers; None if they prove none."""
        w = witness_of_multipliers(self._P, y, ray=self._ray)
        try:
            number = lower(self._P, w, ray=self._ray)
        except NotProvedError as why:
            self._troubles.append(f"multipliers {words}: {why}")
            return None
        if self._best is None or number > self._best.number:
            kept = {name: x for name, x in w.items() if name != "a" or np.any(x)}
            self._best = Found(number, {f"dual_{name}": x for name, x in kept.items()}, number)
        return number

    def found(self) -> Found | str:
        """The best, or why there is none."""
        return self._best or "; ".join(dict.fromkeys(self._troubles))


def witness_of_multipliers(P: Program, y: Array, *, ray: bool = False) -> dict[str, Array]:
    """Multipliers of rows as a point of the dual program, with units in which they move."""
    y = cleaned(y)
    s = np.bincount(P.B_col, P.B_v * y[P.B_row], P.p)
    curved = np.flatnonzero(P.q)
    t = np.zeros(curved.size) if ray else cleaned(s[curved] / P.q[curved])
    unit = np.zeros(P.m + 1)
    if np.any((P.sign == 0) & (P.q == 0) & ~P.fixed):
        unit[P.equation] = power_of_two(max(1.0, float(np.abs(y).max())))
        # Steps up to one keep a sign.
        positive = (P.rel == INEQUALITY) & ~P.equation & (y > 2.0 * SMALLEST)
        unit[positive] = 0.5 * power_of_two(y[positive])
        for _, _, rows in P.cones:
            if np.any(y[rows]):
                unit[rows] = power_of_two(float(np.abs(y[rows]).max()))
    largest = max(float(np.abs(t).max(initial=0.0)), 1e3 * SMALLEST)
    unit_t = power_of_two(np.maximum(np.abs(t), 1e-3 * largest))
    return {"z": np.r_[y, t], "unit": np.r_[unit, unit_t], "a": null_multipliers(P, y)}


def _slack(P: Program, k: int, y: Array) -> sp.csr_array:
    """The upper triangle of the sum of y_i A_ik."""
    at, n = P.entries[k], int(P.n[k])
    return sp.csr_array((P.A_v[at] * y[P.A_row[at]], (P.A_i[at], P.A_j[at])), shape=(n, n))


def null_multipliers(P: Program, y: Array) -> Array:
    """Those of null vectors for which the dual slack S maps their complement to itself.

    They are zero where it does so already, or is too large for dense matrices.
    """
    found = [np.zeros(0)]
    for k, U in enumerate(P.U):
        n, p = U.shape
        a = np.zeros((p, n))
        if p and n <= DENSE:
            S, null = _slack(P, k, y), U.toarray()
            moved = S @ null + sp.triu(S, 1).T @ null
            across = moved - null @ np.linalg.lstsq(null, moved, rcond=None)[0]
            if np.max(np.abs(across)) > _AWAY * np.max(np.abs(S.data), initial=0.0):
                # With G the inverse of U' U: S - U G U' S - S U G U' + U G U' S U G U'.
                G = np.linalg.pinv(null.T @ null)
                a = 0.5 * G @ (null.T @ moved) @ G @ null.T - G @ moved.T
        found.append(a.ravel())
    return cleaned(np.concatenate(found))


def _scaled(y: Array, factor: float) -> Array:
    """The multipliers of rows times a number."""
    return np.concatenate([y[:1], factor * y[1:]])


def _mixed(y: Array, v: Array, share: float) -> Array:
    """The way from y to v, as far as a share of it."""
    return (1.0 - share) * y + share * v


def _directions(P: Program, y: Array) -> Iterator[tuple[str, Callable[[float], Array]]]:
    """Ways inside: along multipliers of the identity, and towards those of a multiple of it."""
    system = _Slack(P)
    if system.is_too_large:
        return
    signed = (P.rel == INEQUALITY) & ~P.equation
    size = float(np.linalg.norm(y[1:])) or 1.0

    def admissible(v: Array) -> Array:
        return np.where(signed, np.maximum(v, 0.0), v)

    v = admissible(system.nearest(system.identity))
    if np.any(v):
        v = v * (size / float(np.linalg.norm(v)))
        yield "along the identity", lambda share: y + share * v
    if not y[0]:
        return
    for height in _HEIGHTS:
        v = system.nearest(height * system.cost_size * system.identity - system.cost)
        v = admissible(v)
        v[0] = y[0]
        yield "towards the identity", partial(_mixed, y, v)


class _Slack:
    """Entries of dual slack as a linear map of multipliers, with those of null vectors."""

    def __init__(self, P: Program) -> None:
        on_faces = [int(n * (n + 1) // 2) * U.shape[1] for n, U in zip(P.n, P.U, strict=True)]
        self.is_too_large = sum(on_faces) > _DENSE
        if self.is_too_large:
            return
        a = np.concatenate([np.zeros(0), *(np.ones(U.shape[0] * U.shape[1]) for U in P.U)])
        D = dual(P, a)
        off = D.A_i != D.A_j
        weight, target = np.ones(D.m + 1), np.zeros(D.m + 1)
        weight[D.A_row] = np.where(off, np.sqrt(2.0), 1.0)
        target[D.A_row] = ~off
        for k in np.flatnonzero(on_faces).tolist():
            # The identity on the complement of null vectors.
            q, at = np.linalg.qr(P.U[k].toarray())[0], D.entries[k]
            E = np.eye(int(P.n[k])) - q @ q.T
            target[D.A_row[at]] = E[D.A_i[at], D.A_j[at]] * np.where(off[at], np.sqrt(2.0), 1.0)
        first = 1 + D.A_row.size
        scalars = slice(first, first + int(np.sum(~P.fixed)))
        weight[scalars], target[scalars] = -1.0, D.rel[scalars] == INEQUALITY
        rows = np.r_[D.A_row, np.arange(D.m + 1)[scalars]]
        M = sp.csr_array((D.B_v, (D.B_row, D.B_col)), shape=(D.m + 1, D.p))
        M = sp.csc_array((sp.diags_array(weight) @ M)[rows])
        self.identity, self._m = target[rows], P.m
        self.cost = M[:, [0]].toarray().ravel()
        self.cost_size = float(np.max(np.abs(self.cost), initial=0.0)) or 1.0
        self._map = sp.csr_array(M[:, np.flatnonzero(D.q == 0)[1:]])

    def nearest(self, target: Array) -> Array:
        """Multipliers whose slack, without the cost, is nearest to a target; zero of the cost."""
        found = spl.lsqr(self._map, target, atol=1e-14, btol=1e-14, iter_lim=2000)[0]
        return np.concatenate([np.zeros(1), found[: self._m]])
