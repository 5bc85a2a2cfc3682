"""Exact steps of a proof file: from reductions, dependent rows and approximate multipliers.

The multipliers of a step are fractions that solve linear equations: the rows add up to squares of
integer vectors, to scalars that vanish, and to a right-hand side. The vectors come from the
multipliers of a solver, and the equations are solved exactly, next to these multipliers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.certify.check_proof import (
    NotProvedError,
    Program,
    combine,
    take_faces,
)
from sdpdr.certify.faces import integer_bases
from sdpdr.certify.proof_file.exact import ZERO, Exact, Step
from sdpdr.certify.proof_file.program import FileProgram, Matrices
from sdpdr.linalg.exact import Symmetric, Vector, add
from sdpdr.program.point import as_dense

# Entries of a matrix of rows in which dependent ones are searched.
_NUMBERS = 20_000_000
# Relative norm of the new part of a dependent row, and the largest denominator of its weights.
_DEPENDENT, _DENOMINATOR = 1e-9, 1000
# Entries of a program, and the order of a matrix, up to which multipliers become fractions.
_ENTRIES, _ORDER = 100_000, 150
# Operations on fractions that one system of equations may take.
_OPERATIONS = 3_000_000
# Numbers, relative to the largest, that an interior-point method leaves in place of zeros.
_CLEAR = 1e-4
# Denominators of multipliers that equations leave free.
_DENOMINATORS = (1, 2, 4, 60, 10**4, 10**8, 10**15)
# Up to this bound each multiplier has its own denominator; above, one is shared by all.
_SMALL = 60
# The sum of the right-hand sides of a step.
FACE, CONTRADICTION, BOUND = "zero", "minus one", "any number"


def steps_of(program: FileProgram, exposures: Iterable[Any]) -> tuple[list[Step], list[str]]:
    """The steps of facial reduction as steps of a file, and reasons why some could not be written.

    Parameters
    ----------
    program : FileProgram
    exposures : iterable of Exposure
    """
    P, done, troubles = program.read(), list[Step](), list[str]()
    for exposure in exposures:
        y = program.exact_multipliers(exposure.multipliers)
        step = None if y is None else Exact(P).step(y)
        if step is None or y is None:
            troubles.append(f"no sum of squares: {exposure.words}")
            continue
        equations = [i for i in y if not P.inequality[i]]
        trial = program.read()
        for drop in (equations[:1] or list(y)[:1], None):
            one = {**step, "drop": drop[0]} if drop else step
            try:
                is_over = take_faces(trial, [*done, one])
            except NotProvedError as why:
                troubles.append(f"{exposure.words}: {why}")
                trial = program.read()
                continue
            done, P = [*done, one], trial
            if is_over:
                return done, troubles
            break
    return done, troubles


# -- rows that depend on others -------------------------------------------------------------------


def dependent_rows(P: Program) -> list[Step]:
    """Steps that leave out rows that follow exactly from equations, on the known faces.

    A factorization guesses weights with which a row is the sum of others; they are fractions with
    small denominators, or the row stays.
    """
    equations = np.flatnonzero(P.equation & ~P.dropped)
    others = np.flatnonzero(P.inequality & ~P.equation & ~P.dropped)
    if (equations.size + others.size) * min(P.value.size, _ENTRIES) > _NUMBERS:
        return []
    exact = Exact(P)
    rows = {e: exact.row(e) for e in [*equations.tolist(), *others.tolist()]}
    keys = {
        key: c for c, key in enumerate(dict.fromkeys(key for row in rows.values() for key in row))
    }
    if not keys or len(rows) * len(keys) > _NUMBERS:
        return []
    M = np.zeros((len(rows), len(keys)))
    for line, row in zip(M, rows.values(), strict=True):
        for key, v in row.items():
            line[keys[key]] = float(v)
    sizes = np.linalg.norm(M, axis=1)
    M /= np.where(sizes > 0.0, sizes, 1.0)[:, None]
    m = equations.size
    Q, R, order = sl.qr(M[:m].T, mode="economic", pivoting=True)
    rank = int(np.sum(np.abs(np.diag(R)) > _DEPENDENT))
    basis, rest = order[:rank], order[rank:]
    new = M[m:] - (M[m:] @ Q[:, :rank]) @ Q[:, :rank].T
    known = m + np.flatnonzero(np.linalg.norm(new, axis=1) <= _DEPENDENT)
    numbers, found = list(rows), list[Step]()
    for e in [*rest.tolist(), *known.tolist()]:
        weights = sl.solve_triangular(R[:rank, :rank], Q[:, :rank].T @ M[e])
        weights *= sizes[e] / np.where(sizes[basis] > 0.0, sizes[basis], 1.0)
        y = {numbers[e]: Fraction(1)}
        for other, weight in zip(basis.tolist(), weights.tolist(), strict=True):
            add(y, {numbers[other]: -Fraction(weight).limit_denominator(_DENOMINATOR)})
        if not _sum_of(rows, y) and not _right_side(P, y):
            step = exact.step(y, drop=numbers[e])
            found += [] if step is None else [step]
    return found


def _sum_of(rows: Mapping[int, Mapping[Any, Fraction]], y: Vector) -> dict[Any, Fraction]:
    total: dict[Any, Fraction] = {}
    for e, weight in y.items():
        add(total, rows[e], weight)
    return total


def _right_side(P: Program, y: Vector) -> Fraction:
    return sum((v * Fraction(float(P.b[i])) for i, v in y.items() if i), ZERO)


# -- multipliers in fractions ---------------------------------------------------------------------


class Unknown(NamedTuple):
    """A multiplier of a row, a weight of a pair of vectors, or the remainder of a scalar."""

    kind: str
    of: tuple[int, ...]


def step_near(P: Program, y: Array, side: str) -> Step | None:
    """A step with fractions as multipliers, next to given ones; None if none is found.

    Parameters
    ----------
    P : Program
    y : array of shape (m + 1,)
    side : {"zero", "minus one", "any number"}
        The sum of right-hand sides; the last is for bounds, with the multiplier 1 of row 0.
    """
    largest = float(np.max(np.abs(y[1:]), initial=0.0))
    is_small = P.value.size <= _ENTRIES and np.max(P.n, initial=0) <= _ORDER
    if not largest or not is_small:
        return None
    exact, y = Exact(P), y if side == BOUND else y / largest
    system = _System(exact, y, side, _CLEAR * (largest if side == BOUND else 1.0))
    if not system.is_posed or not system.solve():
        return None
    for most in _DENOMINATORS:
        found = system.multipliers(most)
        step = None if found is None else exact.step(found)
        with suppress(NotProvedError):
            if step is not None:
                combine(P, step, objective=side == BOUND)
                return step
    return None


class _System:
    """The equations for the multipliers, and for the squares that the rows add up to."""

    def __init__(self, exact: Exact, y: Array, side: str, clear: float) -> None:
        P = exact.P
        self._exact, self._side = exact, side
        self._near = dict[Unknown, float]()
        self._columns = dict[Unknown, dict[Hashable, Fraction]]()
        self._signed, self._of_cones = set[Unknown](), set[Unknown]()
        self.is_posed = True
        is_equation = P.equation | (np.arange(P.m + 1) == 0)
        rows = np.flatnonzero((is_equation | (np.abs(y) > clear)) & ~P.dropped)
        total = dict[Any, float]()
        for i in rows.tolist():
            if i == 0 and side != BOUND:
                continue
            row = exact.row(i)
            for key, v in row.items():
                total[key] = total.get(key, 0.0) + y[i] * float(v)
            column: dict[Hashable, Fraction] = dict(row)
            if i and side != BOUND and P.b[i]:
                column["b"] = Fraction(float(P.b[i]))
            is_signed = P.inequality[i] and not P.equation[i]
            unknown = Unknown("row", (i,))
            self._unknown(unknown, column, float(y[i]), is_signed=bool(is_signed))
            if i and not P.inequality[i] and not P.equation[i]:
                self._of_cones.add(unknown)
        if side == CONTRADICTION:
            self._unknown(Unknown("one", ()), {"b": Fraction(1)}, 1.0)
        for j in np.flatnonzero(P.sign & ~P.fixed).tolist():
            if total.get(("z", j), 0.0) > clear:
                column = {("z", j): Fraction(-1)}
                self._unknown(Unknown("scalar", (j,)), column, total["z", j], is_signed=True)
        for k in range(P.K):
            entries = {key[1:]: v for key, v in total.items() if key[0] == k}
            self._squares(k, entries, clear)

    def _unknown(
        self,
        unknown: Unknown,
        column: dict[Hashable, Fraction],
        near: float,
        *,
        is_signed: bool = False,
    ) -> None:
        self._columns[unknown], self._near[unknown] = column, near
        if is_signed:
            self._signed.add(unknown)

    def _squares(self, k: int, entries: Mapping[tuple[int, int], float], clear: float) -> None:
        """Add pairs of vectors that span the sum of the rows in a block."""
        at = sorted({i for key in entries for i in key})
        place = {i: c for c, i in enumerate(at)}
        S = np.zeros((len(at), len(at)))
        for (i, j), v in entries.items():
            S[place[i], place[j]] = S[place[j], place[i]] = v
        values, Q = np.linalg.eigh(S)
        bases = integer_bases(Q[:, values > clear]) if at else (np.zeros((0, 0)),)
        if bases is None:
            self.is_posed = False
            return
        W, inverse = bases[0], np.linalg.pinv(bases[0])
        weights = inverse @ S @ inverse.T
        vectors = [
            {i: Fraction(float(x)) for i, x in zip(at, column, strict=True) if x}
            for column in W.T.tolist()
        ]
        for a in range(len(vectors)):
            for b in range(a + 1):
                product = _product(vectors[a], vectors[b])
                column: dict[Hashable, Fraction] = {(k, i, j): -v for (i, j), v in product.items()}
                unknown = Unknown("pair", (k, a, b))
                self._unknown(unknown, column, float(weights[a, b]), is_signed=a == b)

    def solve(self) -> bool:
        """Gaussian elimination, of unknowns without sign first; False if it takes too long."""
        lines: dict[Hashable, dict[Unknown, Fraction]] = {}
        for unknown, column in self._columns.items():
            for key, v in column.items():
                lines.setdefault(key, {})[unknown] = v
        fixed = {Unknown("row", (0,)), Unknown("one", ())}
        self._pivots: dict[Unknown, dict[Unknown, Fraction]] = {}
        users: dict[Unknown, set[Unknown]] = {}
        budget = _OPERATIONS
        for line in sorted(lines.values(), key=len):
            row = dict(line)
            for pivot in [u for u in row if u in self._pivots]:
                share = row.pop(pivot)
                add(row, self._pivots[pivot], -share)
                budget -= len(self._pivots[pivot]) * _length(share)
            choice = [u for u in row if u not in fixed]
            if budget < 0 or (row and not choice):
                return False
            if not row:
                continue
            pivot = min(
                choice, key=lambda u: (u in self._signed, u.kind != "row", len(users.get(u, ())), u)
            )
            scale = row.pop(pivot)
            row = {u: v / scale for u, v in row.items()}
            for other in users.pop(pivot, set()):
                share = self._pivots[other].pop(pivot, ZERO)
                add(self._pivots[other], row, -share)
                for u in row:
                    users.setdefault(u, set()).add(other)
                budget -= len(row) * _length(share)
            for u in row:
                users.setdefault(u, set()).add(pivot)
            self._pivots[pivot] = row
        return True

    def multipliers(self, most: int) -> Vector | None:
        """Multipliers of rows, with denominators of free unknowns up to ``most``."""
        x = {u: _near(near, most) for u, near in self._near.items() if u not in self._pivots}
        for u, row in self._pivots.items():
            x[u] = -sum((v * x[other] for other, v in row.items()), ZERO)
        if any(x[u] <= 0 for u in self._signed):
            return None
        # Multipliers of a cone determine its face, so they must keep their signs.
        if any(x[u] * Fraction(self._near[u]) <= 0 for u in self._of_cones):
            return None
        y = {u.of[0]: v for u, v in x.items() if u.kind == "row" and v}
        is_one = self._side != BOUND or y.get(0) == 1
        return y if is_one and any(y) else None


def _near(x: float, most: int) -> Fraction:
    """A fraction of a small denominator, or one of many that have the same."""
    is_small = most <= _SMALL
    return Fraction(x).limit_denominator(most) if is_small else Fraction(round(x * most), most)


def _product(w: Vector, v: Vector) -> Symmetric:
    """The matrix w v' + v w', or w w' where both are the same."""
    found: Symmetric = {}
    for i, x in w.items():
        for j, y in v.items():
            if w is v and i <= j:
                add(found, {(i, j): x * y})
            elif w is not v:
                add(found, {(min(i, j), max(i, j)): x * y * (2 if i == j else 1)})
    return found


def _length(x: Fraction) -> int:
    """The cost of operations with a fraction, relative to one of 64 bits."""
    return 1 + (x.numerator.bit_length() + x.denominator.bit_length()) // 64


def exact_bound(P: Program, step: Step) -> float:
    """The bound that a step with the objective proves, rounded downwards."""
    y = dict(zip(*step["y"], strict=True))
    number = Fraction(float(P.b[0])) - _right_side(P, y) / y[0]
    near = float(number)
    return near if Fraction(near) <= number else float(np.nextafter(near, -np.inf))


def of_direction(P: Program, D: Program, direction: Matrices) -> Array:
    """A direction of a program as multipliers of the rows of its dual program.

    Parameters
    ----------
    P, D : Program
        D is that of `sdpdr.certify.check_proof.dual`.
    direction : Matrices
    """
    y, at = np.zeros(D.m + 1), 1
    values = np.r_[np.zeros(P.E), direction.scalars]
    for k, X in enumerate(map(as_dense, direction.blocks)):
        i, j = np.triu_indices(X.shape[0])
        y[at : at + i.size], at = X[i, j], at + i.size
        a, b = P.columns(k)
        values[a:b] = X[P.i[a:b], P.j[a:b]]
    moved = np.bincount(P.row, P.value * values[P.column], P.m + 1)
    y[at : at + P.p], at = np.where(P.fixed, 0.0, direction.scalars), at + P.p
    for _, _, rows in P.cones:
        y[at : at + rows.size], at = -moved[rows], at + rows.size
    y[at] = moved[0]
    return y
