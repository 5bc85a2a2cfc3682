"""What equations force of every point, read off a point that is proved on a face.

Where a matrix of the point is singular, an inequality active or a scalar zero, to rounding, that
may follow from the constraints: if some combination of rows is a sum of squares of null vectors, of
active inequalities and of scalars that vanish, with right sides that add up to zero. Such
combinations solve linear equations, exactly, in fractions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.certify.check_proof import INEQUALITY, Program, System
from sdpdr.certify.faces import integer_bases
from sdpdr.certify.proof_file.steps import Exact, Step, Vector
from sdpdr.certify.proof_file.values import Witness

# Beside the largest, what is zero at points that are proved on a face.
_NOTHING = 1e-12
# Numbers of a system of equations, and operations on them, that fractions are used for.
_ENTRIES, _OPERATIONS = 20_000, 2_000_000
# Rounds in which unknowns that would be negative are left out, and denominators of the others.
_ROUNDS, _DENOMINATORS = 6, (1, 2, 4, 60, 10**4, 10**8)
# Beside one, below which an unknown is to be zero.
_SMALL = 1e-6
_ZERO = Fraction(0)


class Unknown(NamedTuple):
    """A multiplier of a row, a weight of a pair of null vectors, or what is left of a scalar."""

    kind: str
    of: tuple[int, ...]

    @property
    def is_signed(self) -> bool:
        """Whether it may not be negative: of pairs, where both are the same."""
        return self.kind in ("inequality", "scalar") or (
            self.kind == "pair" and self.of[1] == self.of[2]
        )


def forced_step(P: Program, w: Witness) -> Step | None:
    """A step onto the face that a point lies on, if the constraints force it there.

    Parameters
    ----------
    P : Program
    w : dict
        The point, in the arrays of the file.
    """
    if len(P.A_v) + len(P.B_v) > _ENTRIES:
        return None
    exact = Exact(P)
    columns = _columns(exact, P, w)
    for _ in range(_ROUNDS):
        if not any(unknown.is_signed for unknown in columns):
            return None
        solved = _solved(columns)
        if solved is None:
            return None
        names, free, near = _nearest(columns, solved)
        gone = [u for u, x in zip(names, near, strict=True) if u.is_signed and x < _SMALL]
        if not gone:
            return _rounded(exact, solved, free, dict(zip(names, near, strict=True)))
        left = set(gone)
        columns = {u: c for u, c in columns.items() if u not in left and not _is_pair_of(u, left)}
    return None


def _is_pair_of(unknown: Unknown, gone: set[Unknown]) -> bool:
    """Whether it is of a null vector whose own weight has to be zero."""
    if unknown.kind != "pair":
        return False
    k, a, b = unknown.of
    return any(Unknown("pair", (k, c, c)) in gone for c in (a, b))


def _columns(exact: Exact, P: Program, w: Witness) -> dict[Unknown, dict[Hashable, Fraction]]:
    """What each unknown adds to the equations."""
    found: dict[Unknown, dict[Hashable, Fraction]] = {}
    slack = np.abs(System(P, w, ray=False).miss[: P.m + 1])
    active = (P.rel == INEQUALITY) & (slack <= _NOTHING * float(np.max(np.abs(P.b), initial=1.0)))
    for i in np.flatnonzero((P.equation | active) & ~P.dropped).tolist():
        kind = "equation" if P.equation[i] else "inequality"
        column: dict[Hashable, Fraction] = {
            (k, *key): v for k, entries in exact.on_faces(i).items() for key, v in entries.items()
        }
        column |= {("z", j): v for j, v in exact.scalars.get(i, {}).items() if not P.fixed[j]}
        if P.b[i]:
            column["b"] = Fraction(float(P.b[i]))
        found[Unknown(kind, (i,))] = column
    size = float(np.max(np.abs(w["z"]), initial=0.0)) or 1.0
    for j in np.flatnonzero((P.sign == 1) & ~P.fixed & (w["z"] <= _NOTHING * size)).tolist():
        found[Unknown("scalar", (j,))] = {("z", j): Fraction(-1)}
    begin = 0
    for k, (n, rank) in enumerate(zip(P.n.tolist(), w["rank"].tolist(), strict=True)):
        R, begin = w["R"][begin : begin + n * rank].reshape(n, rank), begin + n * rank
        for u, column in _pairs(exact, k, _null_vectors(R, P.U[k])).items():
            found[u] = column
    return found


def _null_vectors(R: Array, U: Any) -> list[Vector]:
    """Whole null vectors of a factor that are not known; none if they are of no small numbers."""
    n = R.shape[0]
    if not n:
        return []
    values, Q = np.linalg.eigh(R @ R.T)
    null = Q[:, values <= _NOTHING * max(float(values.max()), 1e-300)]
    known = sl.orth(U.toarray()) if U.shape[1] else np.zeros((n, 0))
    if null.shape[1] <= known.shape[1]:
        return []
    rest = null - known @ (known.T @ null)
    u, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    bases = integer_bases(u[:, sizes > 0.5])
    if bases is None:
        return []
    return [
        {i: Fraction(float(x)) for i, x in enumerate(column) if x} for column in bases[0].T.tolist()
    ]


def _pairs(exact: Exact, k: int, W: list[Vector]) -> dict[Unknown, dict[Hashable, Fraction]]:
    """The matrices - (w v' + v w') of pairs of null vectors of a block."""
    found: dict[Unknown, dict[Hashable, Fraction]] = {}
    for a, w in enumerate(W):
        for b, v in enumerate(W[: a + 1]):
            entries: dict[tuple[int, int], Fraction] = {}
            for i, x in w.items():
                for j, y in v.items():
                    key = (min(i, j), max(i, j))
                    share = Fraction(1, 2) if i != j else Fraction(1)
                    entries[key] = entries.get(key, _ZERO) - x * y * share * (1 if a == b else 2)
            rest = exact.rest_of(k, entries)
            found[Unknown("pair", (k, a, b))] = {(k, *key): v for key, v in rest.items() if v}
    return found


class _Solved(NamedTuple):
    """Unknowns that others determine: each is minus the sum of shares of free ones."""

    pivots: dict[Unknown, dict[Unknown, Fraction]]
    free: list[Unknown]


def _solved(columns: Mapping[Unknown, Mapping[Hashable, Fraction]]) -> _Solved | None:
    """Gaussian elimination; multipliers of equations, whose sign is free, are determined first."""
    rows: dict[Hashable, dict[Unknown, Fraction]] = {}
    for unknown, column in columns.items():
        for key, v in column.items():
            rows.setdefault(key, {})[unknown] = v
    rank = {"equation": 0, "pair": 1, "scalar": 2, "inequality": 3}
    pivots: dict[Unknown, dict[Unknown, Fraction]] = {}
    budget = _OPERATIONS
    for line in rows.values():
        row = dict(line)
        for pivot in [u for u in row if u in pivots]:
            share = row.pop(pivot)
            budget -= len(pivots[pivot])
            for u, v in pivots[pivot].items():
                row[u] = row.get(u, _ZERO) - share * v
        row = {u: v for u, v in row.items() if v}
        if budget < 0:
            return None
        if not row:
            continue
        pivot = min(row, key=lambda u: (rank[u.kind], u.is_signed, u.of))
        scale = row.pop(pivot)
        row = {u: v / scale for u, v in row.items()}
        for other in pivots.values():
            share = other.pop(pivot, _ZERO)
            if share:
                budget -= len(row)
                for u, v in row.items():
                    other[u] = other.get(u, _ZERO) - share * v
        pivots[pivot] = row
    return _Solved(pivots, [u for u in columns if u not in pivots])


def _nearest(
    columns: Mapping[Unknown, Any], solved: _Solved
) -> tuple[list[Unknown], list[Unknown], Array]:
    """The solution whose signed unknowns are nearest to one, and pairs to zero."""
    names, free = list(columns), solved.free
    place = {u: k for k, u in enumerate(free)}
    M = np.zeros((len(names), len(free)))
    for k, u in enumerate(names):
        for v, share in solved.pivots.get(u, {}).items():
            M[k, place[v]] = -float(share)
        if u in place:
            M[k, place[u]] = 1.0
    rows = np.array([u.kind != "equation" for u in names])
    target = np.array([float(u.is_signed) for u in names])
    x = np.linalg.lstsq(M[rows], target[rows], rcond=None)[0]
    return names, free, M @ x


def _rounded(
    exact: Exact, solved: _Solved, free: list[Unknown], near: Mapping[Unknown, float]
) -> Step | None:
    """The step by multipliers that are fractions; free unknowns are rounded."""
    for most in _DENOMINATORS:
        x = {u: Fraction(near[u]).limit_denominator(most) for u in free}
        y: dict[int, Fraction] = {}
        for u in near:
            if u.kind in ("equation", "inequality"):
                shares = solved.pivots.get(u)
                y[u.of[0]] = (
                    x[u]
                    if shares is None
                    else -sum((v * x[other] for other, v in shares.items()), _ZERO)
                )
        y = {i: v for i, v in y.items() if v}
        signs_hold = all(exact.P.equation[i] or v > 0 for i, v in y.items())
        side = sum((v * Fraction(float(exact.P.b[i])) for i, v in y.items()), _ZERO)
        if not y or not signs_hold or side:
            continue
        step = exact.step(y)
        if step is not None:
            return step
    return None
