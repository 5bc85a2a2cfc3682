"""Exact steps of a file: faces, rows that follow from others, and combinations that are squares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.certify.check_proof import INEQUALITY, NotProvedError, Program, combine, take_faces
from sdpdr.certify.proof_file.program import ProgramInFile

Step = dict[str, Any]
Symmetric = dict[tuple[int, int], Fraction]
Vector = dict[int, Fraction]
# Rows up to which those are looked for that depend on others, and operations on fractions for it.
_ROWS, _OPERATIONS = 400, 300_000
# Orders up to which multipliers are rounded to fractions, and the largest denominators of these.
_ORDER, _DENOMINATORS = 60, (1, 2, 4, 60, 10**4, 10**8, None)
_ZERO = Fraction(0)


class Exact:
    """The coefficients of a program as fractions, by row."""

    def __init__(self, P: Program) -> None:
        self.P = P
        self.blocks: dict[int, dict[int, Symmetric]] = {}
        self.scalars: dict[int, Vector] = {}
        for e, k, i, j, v in zip(
            *(x.tolist() for x in (P.A_row, P.A_blk, P.A_i, P.A_j, P.A_v)), strict=True
        ):
            _add(self.blocks.setdefault(e, {}).setdefault(k, {}), (i, j), Fraction(v))
        for e, j, v in zip(*(x.tolist() for x in (P.B_row, P.B_col, P.B_v)), strict=True):
            _add(self.scalars.setdefault(e, {}), j, Fraction(v))

    def combined(self, y: Mapping[int, Fraction]) -> dict[int, Symmetric]:
        """The sum of y_e A_e, by block."""
        found: dict[int, Symmetric] = {}
        for e, weight in y.items():
            for k, entries in self.blocks.get(e, {}).items():
                for key, v in entries.items():
                    _add(found.setdefault(k, {}), key, weight * v)
        return {k: entries for k, entries in found.items() if entries}

    def rest_of(self, k: int, entries: Mapping[tuple[int, int], Fraction]) -> Symmetric:
        """What counts of a symmetric matrix on the face that is known."""
        return off_face(entries, _columns(self.P.U[k]))[0]

    def on_faces(self, e: int) -> dict[int, Symmetric]:
        """The coefficients of a row that count on the faces known, by block."""
        return {k: self.rest_of(k, entries) for k, entries in self.blocks.get(e, {}).items()}

    def step(self, y: Mapping[int, Fraction], drop: int | None = None) -> Step | None:
        """The step with some multipliers; None unless they leave sums of squares on the faces."""
        squares, known = list[Any](), list[Any]()
        for k, entries in self.combined(y).items():
            rest, along = off_face(entries, _columns(self.P.U[k]))
            terms = squares_of(rest)
            if terms is None:
                return None
            known += [[k, c, _text(vector)] for c, vector in along.items()]
            squares += [[k, str(weight), _text(vector)] for weight, vector in terms]
        told = {"y": _text(y), "squares": squares, "known": known}
        return told if drop is None else {**told, "drop": drop}


def _add(total: dict[Any, Fraction], key: Any, value: Fraction) -> None:
    """Add to an entry, and leave none that is zero."""
    value += total.get(key, _ZERO)
    if value:
        total[key] = value
    else:
        total.pop(key, None)


def _text(vector: Mapping[int, Fraction]) -> dict[str, str]:
    return {str(i): str(x) for i, x in vector.items() if x}


def _columns(U: Any) -> list[Vector]:
    """Null vectors as fractions."""
    found = list[Vector]()
    for c in range(U.shape[1]):
        part = U[:, [c]].tocoo()
        found.append({int(i): Fraction(float(x)) for i, x in zip(part.row, part.data, strict=True)})
    return found


def squares_of(entries: Mapping[tuple[int, int], Fraction]) -> list[tuple[Fraction, Vector]] | None:
    """A symmetric matrix as a sum of positive weights times w w'; None where it is none.

    Examples
    --------
    >>> one = Fraction(1)
    >>> squares_of({(0, 0): one, (0, 1): -one, (1, 1): one})
    [(Fraction(1, 1), {0: Fraction(1, 1), 1: Fraction(-1, 1)})]
    >>> squares_of({(0, 1): one}) is None
    True
    """
    rows: dict[int, Vector] = {}
    for (i, j), v in entries.items():
        rows.setdefault(i, {})[j] = v
        rows.setdefault(j, {})[i] = v
    terms = []
    for k in sorted(rows):
        row = {j: v for j, v in rows[k].items() if v}
        d = row.get(k, _ZERO)
        if d < 0 or (row and not d):
            return None
        if not d:
            continue
        terms.append((1 / d, row))
        for i, x in row.items():
            for j, v in row.items():
                rows[i][j] = rows[i].get(j, _ZERO) - x * v / d
    return terms


def off_face(
    entries: Mapping[tuple[int, int], Fraction], columns: Sequence[Vector]
) -> tuple[Symmetric, dict[int, Vector]]:
    """W less u a' + a u' of null vectors u, so that rows of pivots of these are zero.

    Returns
    -------
    rest : dict
    along : dict from the number of u to the vector a
    """
    rest, along = dict(entries), dict[int, Vector]()
    if not columns or not rest:
        return rest, along
    pivots, unit, shares = _echelon(columns)
    if len(pivots) < len(columns):
        return rest, along
    places = {i for key in rest for i in key} | {i for u in unit for i in u}

    def entry(i: int, j: int) -> Fraction:
        return entries.get((min(i, j), max(i, j)), _ZERO)

    found = []
    for i in pivots:
        a = {j: entry(i, j) / 2 for j in pivots}
        for j in places - set(pivots):
            known = (u.get(j, _ZERO) * entry(p, i) / 2 for p, u in zip(pivots, unit, strict=True))
            a[j] = entry(j, i) - sum(known, _ZERO)
        found.append({j: v for j, v in a.items() if v})
    for u, a in zip(unit, found, strict=True):
        for i, x in u.items():
            for j, v in a.items():
                _add(rest, (min(i, j), max(i, j)), -x * v * (2 if i == j else 1))
    for c in range(len(columns)):
        total = dict[int, Fraction]()
        for share, a in zip(shares[c], found, strict=True):
            for j, v in a.items():
                _add(total, j, share * v)
        if total:
            along[c] = total
    return rest, along


def _echelon(columns: Sequence[Vector]) -> tuple[list[int], list[Vector], list[list[Fraction]]]:
    """Pivots, columns that are units there, and the shares of the given columns in these."""
    p = len(columns)
    unit = [dict(u) for u in columns]
    shares = [[Fraction(int(i == j)) for j in range(p)] for i in range(p)]
    pivots = list[int]()
    for c in range(p):
        if not unit[c]:
            break
        at = max(unit[c], key=lambda i: (abs(unit[c][i]), -i))
        scale = unit[c][at]
        unit[c] = {i: v / scale for i, v in unit[c].items()}
        for share in shares:
            share[c] /= scale
        pivots.append(at)
        for d in range(p):
            factor = unit[d].get(at, _ZERO) if d != c else _ZERO
            if factor:
                for i, v in unit[c].items():
                    _add(unit[d], i, -factor * v)
                for share in shares:
                    share[d] -= factor * share[c]
    return pivots, unit, shares


# -- steps onto faces -----------------------------------------------------------------------------


def steps_of(program: ProgramInFile, exposures: Iterable[Any]) -> tuple[list[Step], list[str]]:
    """The steps of facial reduction as those of a file, and why some are none.

    Parameters
    ----------
    program : ProgramInFile
    exposures : iterable of Exposure
    """
    P, done, troubles = program.read(), list[Step](), list[str]()
    for exposure in exposures:
        y = program.exact_multipliers(exposure.multipliers)
        exact = None if y is None else Exact(P)
        step = None if y is None or exact is None else exact.step(y)
        if step is None or y is None:
            troubles.append(f"no sum of squares: {exposure.words}")
            continue
        equations = [i for i in y if P.rel[i] != INEQUALITY]
        trial = program.read()
        for drop in (equations[:1] or list(y)[:1], None):
            told = {**step, "drop": drop[0]} if drop else step
            try:
                is_over = take_faces(trial, [*done, told])
            except NotProvedError as why:
                troubles.append(f"{exposure.words}: {why}")
                trial = program.read()
                continue
            done, P = [*done, told], trial
            if is_over:
                return done, troubles
            break
    return done, troubles


def dependent_rows(P: Program) -> list[Step]:
    """Steps that leave out rows that follow exactly from equations, on the faces known."""
    if P.m > _ROWS:
        return []
    exact, basis, found = Exact(P), dict[Any, tuple[dict[Any, Fraction], Vector]](), list[Step]()
    budget = _OPERATIONS
    equations = np.flatnonzero(P.equation & ~P.dropped).tolist()
    others = np.flatnonzero((P.rel == INEQUALITY) & ~P.equation & ~P.dropped).tolist()
    for e in [*equations, *others]:
        row, y = _on_faces(exact, e), {e: Fraction(1)}
        while (key := next((k for k in row if k in basis), None)) is not None:
            other, weights = basis[key]
            share = row[key] / other[key]
            budget -= len(other) + len(weights)
            if budget < 0:
                return found
            for k, x in other.items():
                _add(row, k, -share * x)
            for k, x in weights.items():
                _add(y, k, -share * x)
        if row and P.equation[e]:
            basis[next(iter(row))] = (row, y)
        elif not row and not sum((x * Fraction(float(P.b[k])) for k, x in y.items()), _ZERO):
            step = exact.step(y, drop=e)
            if step is not None:
                found.append(step)
    return found


def _on_faces(exact: Exact, e: int) -> dict[Any, Fraction]:
    """The coefficients of a row that count on the faces known."""
    P, found = exact.P, dict[Any, Fraction]()
    for k, rest in exact.on_faces(e).items():
        found |= {(k, *key): v for key, v in rest.items() if v}
    scalars = exact.scalars.get(e, {})
    return found | {("z", j): v for j, v in scalars.items() if not P.fixed[j]}


# -- multipliers in fractions ---------------------------------------------------------------------


def exact_bound(P: Program, y: Array, goal: float) -> Step | None:
    """The step that proves a bound by multipliers near y that leave sums of squares, if any."""
    for fractions in _rounded(P, y, largest=1.0):
        step = Exact(P).step(fractions)
        try:
            if step is None or combine(P, step, objective=True)[0].get(0) != 1:
                continue
        except NotProvedError:
            continue
        terms = (v * Fraction(float(P.b[i])) for i, v in fractions.items() if i)
        if Fraction(float(P.b[0])) - sum(terms, _ZERO) >= Fraction(goal):
            return step
    return None


def exact_contradiction(program: ProgramInFile, faces: list[Step], y: Array) -> Step | None:
    """The step that leaves no point, by multipliers near y, if any."""
    P = program.read()
    if take_faces(P, faces):
        return None
    largest = float(np.max(np.abs(y), initial=0.0))
    for fractions in _rounded(P, y, largest):
        step = Exact(P).step(fractions)
        trial = program.read()
        try:
            if step is not None and take_faces(trial, [*faces, step]):
                return step
        except NotProvedError:
            continue
    return None


def _rounded(P: Program, y: Array, largest: float) -> Iterable[Vector]:
    """Multipliers as fractions, of small denominators first."""
    if not largest or P.m > _ROWS or np.max(P.n, initial=0) > _ORDER:
        return
    for most in _DENOMINATORS:
        numbers = {
            i: Fraction(float(y[i])) if most is None else Fraction(float(y[i]) / largest)
            for i in np.flatnonzero((y != 0.0) & ~P.dropped).tolist()
        }
        if most is not None:
            numbers = {i: x.limit_denominator(most) for i, x in numbers.items()}
        yield {i: x for i, x in numbers.items() if x}
