r"""What confines feasible points to a face: single rows exactly, combinations by the kernel.

Let :math:`\langle A_e, X\rangle + a_e^T z \le b_e` on the faces known so far, with A_e positive
semidefinite, a_e non-negative and zero on free scalars. If b_e = 0, then A_e X = 0 and scalars with
a_e > 0 vanish; if b_e < 0, there is no feasible point. This is decided over the rationals, about
the numbers that the program stores.

For combinations of rows, a solver or a person proposes multipliers y. The kernel
(`sdpdr.certify.faces`) proves that exact ones near them expose a face.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.faces import PRIMAL, Exposed, Oracle, exposing
from sdpdr.certify.flat import NONNEGATIVE, Answer, FlatProgram
from sdpdr.certify.path import LARGEST
from sdpdr.certify.standard import Standard, standard
from sdpdr.linalg import BilinearForms, InnerProduct, LinearMap, SvecMap, VectorMap
from sdpdr.linalg.exact import SMALL, Mask, Vector, matrix_row, range_of, vector_row
from sdpdr.linalg.maps.combine import by_rows
from sdpdr.linalg.svec import svec_index, svec_pairs
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.narrowed import Consequences, Narrowed, alone, basis_of, put

# Label of a group, number of the row (of a matrix inequality: place in svec), multiplier.
Multiplier: TypeAlias = "tuple[str, int, Fraction]"
Found: TypeAlias = "tuple[tuple[Multiplier, ...], Consequences]"
# Unknowns up to which an auxiliary program takes a second or so.
_UNKNOWNS = 2000
# Denominators of multipliers, so that those meant to be simple have right sides of exactly zero;
# and by how much these may be off what an interior-point method found.
_DENOMINATORS, _OFF = (60, 10**6), 1e-6
# Columns of `_signs`.
_POSITIVE, _NEGATIVE, _ANY = range(3)


# -- single rows ----------------------------------------------------------------------------------


class Budget:
    """How many entries of rows may still be turned into fractions, which takes seconds."""

    def __init__(self, entries: int = 1_000_000) -> None:
        self.left = entries


def single_rows(now: Narrowed, budget: Budget) -> Iterator[Found]:
    """The rows that confine something by themselves, and what they prove."""
    for label, e in _candidates(now.sdp):
        for y in (1, -1):
            proved = single_row(now, label, e, y)
            origin = now.origin(label, e)
            if proved and origin is not None:
                yield ((*origin, Fraction(y)),), proved
                break
        budget.left -= _length(now.sdp, label, e)
        if budget.left < 0:
            return


def single_row(now: Narrowed, label: str, e: int, y: int) -> Consequences:
    """What one row, times 1 or -1, proves; nothing (false) if it does not."""
    sdp = now.sdp
    part = _part(sdp, label)
    sign, side = 1, Fraction(0)
    if isinstance(part, Rows):
        side = Fraction(float(part.rhs[e]))
        if y < 0 and part.relation != "==":
            return Consequences()
    else:
        # An entry of the diagonal is non-negative: its negative is at most the constant.
        sign, side = -1, Fraction(float(part.constant[e]))
        if y < 0:
            return Consequences()
    if y * side > 0:
        return Consequences()
    vectors, zeros = list[tuple[str, Vector]](), list[tuple[str, int]]()
    for name, a in part.lhs.items():
        if isinstance(a, VectorMap):
            row = vector_row(a, e)
            if any(not sdp.variable(name).is_signed or sign * y * x < 0 for x in row.values()):
                return Consequences()
            zeros += [(name, int(now.kept[name][k])) for k in sorted(row)]
        else:
            matrix = matrix_row(a, e, np.ones(a.n, dtype=bool))
            if matrix is None:
                return Consequences()
            columns = range_of({place: sign * y * x for place, x in matrix.items()})
            if columns is None:
                return Consequences()
            vectors += [(name, column) for column in columns]
    if side:
        return Consequences(contradiction=True)
    vanishing = []
    if isinstance(part, Lmi):
        vanishing = [(label, int(now.left[label][svec_pairs(e)[0]]))]
    outwards = tuple((name, now.outwards(name, vector)) for name, vector in vectors)
    return Consequences(outwards, tuple(zeros), (), tuple(vanishing))


def _part(sdp: SDP, label: str) -> Rows | Lmi:
    return next(part for part in (*sdp.rows, *sdp.lmis) if part.label == label)


def _length(sdp: SDP, label: str, e: int) -> int:
    """About how many entries a row has."""
    part = _part(sdp, label)
    return 1 + sum(
        int(a.n_entries / max(a.m, 1)) for a in part.lhs.values() if hasattr(a, "n_entries")
    )


def _candidates(sdp: SDP) -> Iterator[tuple[str, int]]:
    """Rows whose signs do not rule out that they confine something."""
    stated = {
        r.label
        for v in sdp.psd_variables
        for r in exposing_rows(sdp, v.name)
        # Unit vectors empty rows and columns, from which more may follow.
        if np.any(np.diff(_null(r, v.name).tocsc().indptr) != 1)
    }
    for r in sdp.rows:
        if r.label not in stated and r.m:
            up, down = _semidefinite(sdp, r.lhs, r.m)
            chosen = up & (r.rhs <= 0.0)
            if r.relation == "==":
                chosen |= down & (r.rhs >= 0.0)
            yield from ((r.label, int(e)) for e in np.flatnonzero(chosen))
    for lmi in sdp.lmis:
        at = np.asarray(svec_index(np.arange(lmi.order), np.arange(lmi.order)))
        at = at[lmi.constant[at] <= 0.0]
        if at.size:
            some = {name: a.take(at) for name, a in lmi.lhs.items()}
            down = _semidefinite(sdp, some, at.size)[1]
            yield from ((lmi.label, int(p)) for p in at[down])


def _null(rows: Rows, name: str) -> sp.csr_array:
    a = rows.lhs[name]
    assert isinstance(a, LinearMap)
    return a.null_vectors(rows.rhs)


def _semidefinite(sdp: SDP, side: Expression, m: int) -> tuple[Mask, Mask]:
    """Whether rows may be positive, and negative, semidefinite; without multiplying maps out."""
    up, down = np.ones(m, dtype=bool), np.ones(m, dtype=bool)
    for name, a in side.items():
        signs = _signs(a)
        if not sdp.variable(name).is_signed:
            signs[:, [_POSITIVE, _NEGATIVE]] = signs[:, [_ANY]]
        # A matrix with entries and no diagonal is neither.
        hollow = signs[:, _ANY] & ~signs[:, _POSITIVE] & ~signs[:, _NEGATIVE]
        up &= ~signs[:, _NEGATIVE] & ~hollow
        down &= ~signs[:, _POSITIVE] & ~hollow
    return up, down


def _signs(a: LinearMap | VectorMap) -> Mask:
    """Whether each row has positive and negative diagonal entries, and any; may name too many."""
    if isinstance(a, VectorMap):
        return _signs_of(a.m, sp.coo_array(a.matrix()))
    return by_rows(a, _signs_of_leaf, lambda parts: np.logical_or.reduce(parts), _combined)


def _signs_of_leaf(a: LinearMap) -> Mask:
    if isinstance(a, BilinearForms):
        found = _signs_of(a.m, sp.coo_array(a.left * a.right))
        found[:, _ANY] = (np.diff(a.left.indptr) > 0) & (np.diff(a.right.indptr) > 0)
        return found
    if isinstance(a, InnerProduct):
        diagonal = np.asarray(a.coefficients.diagonal())
        return np.array([[np.any(diagonal > 0.0), np.any(diagonal < 0.0), True]])
    if a.n > SMALL and not isinstance(a, SvecMap):
        return np.ones((a.m, 3), dtype=bool)
    rows = sp.coo_array(a.matrix())
    i, j = svec_pairs(rows.col)
    on = sp.coo_array((rows.data[i == j], (rows.row[i == j], rows.col[i == j])), shape=rows.shape)
    found = _signs_of(a.m, on)
    found[:, _ANY] = _signs_of(a.m, rows)[:, _ANY]
    return found


def _signs_of(m: int, rows: sp.coo_array) -> Mask:
    found = np.zeros((m, 3), dtype=bool)
    for k, chosen in enumerate((rows.data > 0.0, rows.data < 0.0, rows.data != 0.0)):
        found[rows.row[chosen], k] = True
    return found


def _combined(weights: sp.csr_array, signs: Mask) -> Mask:
    """Signs of combinations of rows."""
    up, down = (sp.csr_array(s * weights).maximum(0.0) for s in (1.0, -1.0))
    swapped = signs[:, [_NEGATIVE, _POSITIVE, _ANY]]
    return np.asarray(up @ signs.astype(float) + down @ swapped.astype(float) > 0.0)


# -- combinations ---------------------------------------------------------------------------------


class _Feasibility(NamedTuple):
    """The flat program of a program without a cost."""

    standard: Standard
    flat: FlatProgram


def _feasibility(now: Narrowed) -> _Feasibility | None:
    sdp = now.sdp
    if sum(v.size for v in sdp.variables) > _UNKNOWNS or sdp.n_rows > LARGEST:
        return None
    plain = replace(
        sdp,
        objective={},
        variables=tuple(
            v if v.curvature is None else replace(v, curvature=None) for v in sdp.variables
        ),
    )
    made = standard(plain)
    return _Feasibility(made, made.flat)


def proposed(now: Narrowed, solve: Oracle) -> Found | None:
    """A combination of rows that a solver proposes, and what the kernel proves by it."""
    program = _feasibility(now)
    if program is None:
        return None
    answers = list[Answer]()

    def asked(auxiliary: FlatProgram) -> Answer:
        answers.append(solve(auxiliary))
        return answers[-1]

    try:
        exposing(program.flat, PRIMAL, asked)
    except (UnprovedError, np.linalg.LinAlgError):
        return None
    z = answers[0].z
    given = [
        (*origin, float(z[k]))
        for label, at in program.standard.labels.items()
        for e, k in enumerate(at)
        if (origin := now.origin(label, e)) is not None
    ]
    top = max((abs(y) for *_, y in given), default=0.0)
    for denominator in _DENOMINATORS if top else ():
        near = [(*row, Fraction(y / top).limit_denominator(denominator)) for *row, y in given]
        multipliers = tuple((str(label), int(e), y) for label, e, y in near if y)
        off = max(abs(float(y) - x / top) for (*_, y), (*_, x) in zip(near, given, strict=True))
        proved = combination(now, multipliers) if off < _OFF else Consequences()
        if proved:
            return multipliers, proved
    return None


def combination(now: Narrowed, multipliers: Sequence[Multiplier]) -> Consequences:
    """What exact multipliers near some of the original program prove; nothing if they do not."""
    program = _feasibility(now)
    duals = _duals(now, multipliers)
    if program is None or duals is None:
        return Consequences()
    given = program.standard.answer(Point({}, duals)).z
    try:
        found = exposing(program.flat, PRIMAL, _Replay(program.flat, given))
    except (UnprovedError, np.linalg.LinAlgError):
        return Consequences()
    return _consequences(now, program.standard, found)


def _duals(now: Narrowed, multipliers: Sequence[Multiplier]) -> dict[str, Array] | None:
    """Multipliers of the original program as those of the narrowed one."""
    duals: dict[str, Array] = {r.label: np.zeros(r.m) for r in now.sdp.rows}
    duals |= {lmi.label: np.zeros((lmi.order, lmi.order)) for lmi in now.sdp.lmis}
    for label, e, y in multipliers:
        place = now.place(label, e)
        if place is None:
            return None
        if duals[place[0]].ndim == 2:
            put(duals[place[0]], place[1], float(y))
        else:
            duals[place[0]][place[1]] += float(y)
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
                else alone(block.basis)
            )
            vectors += [
                (block.name, {int(rows[k]): a / Fraction(float(scales[k])) for k, a in u.items()})
                for u in _orthogonal(V)
            ]
    for label, places in program.labels.items():
        part = _part(now.sdp, label)
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
