"""Combinations of rows that confine feasible points to a face, proved by the kernel.

A solver or a user proposes multipliers; `sdpdr.certify.faces` proves that exact ones near them
expose a face, with all rounding accounted for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.exposing import Exposed, Oracle, exposing
from sdpdr.certify.faces import PRIMAL
from sdpdr.certify.flat import NONNEGATIVE, Answer, FlatProgram
from sdpdr.certify.path import LARGEST
from sdpdr.certify.standard import Standard, standard
from sdpdr.linalg.exact import Mask, Vector
from sdpdr.program.point import Point
from sdpdr.program.rows import Lmi
from sdpdr.reduce.facial.bases import basis_of, own_rows
from sdpdr.reduce.facial.narrowed import Consequences, Multiplier, Narrowed, add_to, part_of

# Denominators of multipliers, so that those meant to be simple have right sides of exactly zero;
# and by how much these may be off what an interior-point method found.
_DENOMINATORS, _OFF = (60, 10**6), 1e-6
_MISSED = (UnprovedError, np.linalg.LinAlgError)


def _without_cost(now: Narrowed) -> Standard | None:
    """The flat program without a cost; None where it is too large for the kernel."""
    sdp = now.sdp
    if sum(v.size for v in sdp.variables) > LARGEST or sdp.n_rows > LARGEST:
        return None
    variables = (v if v.curvature is None else replace(v, curvature=None) for v in sdp.variables)
    return standard(replace(sdp, objective={}, variables=tuple(variables)))


def proposed(now: Narrowed, solve: Oracle) -> tuple[tuple[Multiplier, ...], Consequences] | None:
    """A combination of rows that a solver proposes, and what the kernel proves by it."""
    program = _without_cost(now)
    if program is None:
        return None
    answers = list[Answer]()

    def recorded(auxiliary: FlatProgram) -> Answer:
        answers.append(solve(auxiliary))
        return answers[-1]

    try:
        exposing(program.flat, PRIMAL, recorded)
    except _MISSED:
        return None
    z = answers[0].z
    given = [
        (origin, float(z[k]))
        for label, at in program.labels.items()
        for e, k in enumerate(at)
        if (origin := now.origin(label, e)) is not None
    ]
    top = max((abs(y) for _, y in given), default=0.0)
    for denominator in _DENOMINATORS if top else ():
        near = [Fraction(y / top).limit_denominator(denominator) for _, y in given]
        off = max(abs(float(x) - y / top) for x, (_, y) in zip(near, given, strict=True))
        multipliers = tuple((*origin, x) for x, (origin, _) in zip(near, given, strict=True) if x)
        # Single rows have had their turn; one of zeros is an equation, and says nothing.
        is_near = off < _OFF and len(multipliers) > 1
        proved = combination(now, multipliers) if is_near else Consequences()
        if proved:
            return multipliers, proved
    return None


def combination(now: Narrowed, multipliers: Sequence[Multiplier]) -> Consequences:
    """What exact multipliers near some of the original program prove; nothing if they do not."""
    program = _without_cost(now)
    duals = _duals(now, multipliers)
    if program is None or duals is None:
        return Consequences()
    given = program.answer(Point({}, duals)).z
    try:
        found = exposing(program.flat, PRIMAL, _Replay(program.flat, given))
    except _MISSED:
        return Consequences()
    return _consequences(now, program, found)


def _duals(now: Narrowed, multipliers: Sequence[Multiplier]) -> dict[str, Array] | None:
    """Multipliers of the original program as those of the narrowed one."""
    duals = dict(now.sdp.zero_point().duals)
    for label, e, y in multipliers:
        place = now.place(label, e)
        if place is None:
            return None
        add_to(duals[place[0]], place[1], float(y))
    return duals


class _Replay:
    """Answers the two questions of `exposing` from multipliers, without a solver."""

    def __init__(self, flat: FlatProgram, z: Array) -> None:
        self._m, self._z, self._is_first = flat.f.size, z, True

    def __call__(self, program: FlatProgram) -> Answer:
        m = self._m
        if self._is_first:
            self._is_first = False
            # The size of all is one.
            size = float((program.A[:, [-1]].T @ self._z[m:])[0])
            self._z = self._z / size if size > 0.0 else self._z
            z = self._z
        else:
            rest = -program.c - program.E.T @ self._z[:m]
            inner = spl.lsqr(program.A.T, rest, atol=1e-14, btol=1e-14)[0]
            z = np.concatenate([self._z[:m], inner])
        return Answer(np.zeros(program.c.size), program.centre, z, True)


def _consequences(now: Narrowed, program: Standard, found: Exposed) -> Consequences:
    """What an exposing vector proves, as far as faces can be written."""
    flat, m = program.flat, program.flat.f.size
    at = {int(part.rows[0]): k for k, part in enumerate(flat.parts)}
    vectors, zeros = list[tuple[str, Vector]](), list[tuple[str, int]]()
    tight, vanishing = list[tuple[str, int]](), list[tuple[str, int]]()
    is_zero = _zero_rows(flat, found)
    for block in program.blocks:
        if not block.rows.size:
            continue
        if not block.order:
            zeros += [
                (block.name, int(now.kept[block.name][k]))
                for k in np.flatnonzero(is_zero[block.rows])
            ]
            continue
        V = found.bases[at[int(block.rows[0])]]
        if V is not None:
            rows, scales = (
                (np.arange(block.order), np.ones(block.order))
                if block.basis is None
                else own_rows(block.basis)
            )
            vectors += [
                (block.name, {int(rows[k]): a / Fraction(float(scales[k])) for k, a in u.items()})
                for u in _orthogonal(V)
            ]
    for label, places in program.labels.items():
        part = part_of(now.sdp, label)
        if isinstance(part, Lmi):
            V = found.bases[at[int(places[0]) - m]]
            if V is not None:
                gone = np.flatnonzero(~np.any(V, axis=1))
                vanishing += [(label, int(now.left[label][k])) for k in gone]
        elif part.relation == "<=" and label in now.sources:
            source, rows = now.sources[label]
            tight += [(source, int(rows[e])) for e in np.flatnonzero(is_zero[places - m])]
    outwards = tuple((name, now.outwards(name, vector)) for name, vector in vectors)
    return Consequences(outwards, tuple(zeros), tuple(tight), tuple(vanishing))


def _zero_rows(flat: FlatProgram, found: Exposed) -> Mask:
    """Which rows of linear cones are among those that were proved to vanish."""
    known = np.zeros(flat.b.size, dtype=bool)
    if flat.around.A is not None:
        # Rows that look alike need not be alike.
        return known
    proved = set(_keys(*found.zero[:2]))
    for part in flat.parts:
        if part.kind == NONNEGATIVE:
            keys = _keys(flat.A[part.rows], flat.b[part.rows])
            known[part.rows] = [key in proved for key in keys]
    return known


def _keys(A: sp.csr_array, b: Array) -> Iterator[tuple[bytes, bytes, float]]:
    A = sp.csr_array(A)
    A.sort_indices()
    for k in range(A.shape[0]):
        part = slice(A.indptr[k], A.indptr[k + 1])
        yield A.indices[part].astype(np.int64).tobytes(), A.data[part].tobytes(), float(b[k])


def _orthogonal(V: Array) -> list[Vector]:
    """Vectors that span what is orthogonal to columns of integers."""
    columns = [{int(i): Fraction(float(a)) for i, a in enumerate(v) if a} for v in V.T]
    if not columns:
        return [{i: Fraction(1)} for i in range(V.shape[0])]
    null = basis_of(columns, V.shape[0])
    assert null is not None
    return [{int(i): Fraction(float(u[i])) for i in np.flatnonzero(u)} for u in null.toarray().T]
