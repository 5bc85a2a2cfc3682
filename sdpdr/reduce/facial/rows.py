r"""Single rows that confine feasible points to a face, found in exact rational arithmetic.

Let :math:`\langle A_e, X\rangle + a_e^T z \le b_e` on the faces known so far, with A_e positive
semidefinite, a_e non-negative and zero on free scalars. If b_e = 0, then A_e X = 0; if b_e < 0,
there is no feasible point. The statement is about the numbers that the program stores.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import SMALL, Mask, Vector, range_of, vector_row
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Factor, PsdVariable, Value
from sdpdr.program.rows import Rows
from sdpdr.reduce.facial.faces import Consequences, Faces, Multiplier

# Random points at which signs of rows are evaluated: of a thousand rows that take both signs
# equally often, two remain candidates.
_POINTS = 10
# Entries of rows that are read as fractions, which takes some seconds.
_ENTRIES = 1_000_000
# Share of the size of a value that may be rounding.
_VALUE_ROUNDING = 1e-9


def single_rows(
    faces: Faces, seen: Set[tuple[str, int]] = frozenset()
) -> Iterator[tuple[Multiplier, Consequences]]:
    """Yield the rows that expose a face by themselves, and what they prove.

    Parameters
    ----------
    faces : Faces
    seen : set of pairs of label and row
        Rows that led to these faces, and vanish on them.
    """
    left = _ENTRIES
    for rows, e, y in candidates(faces):
        if (rows.label, e) in seen:
            continue
        # Averages, because the exact count would multiply structured maps out.
        sizes = (
            (a.matrix().nnz if isinstance(a, VectorMap) else a.n_entries, a.m)
            for a in rows.lhs.values()
        )
        left -= 1 + sum(nnz // m for nnz, m in sizes)
        if left < 0:
            return
        proved = single_row(faces, rows, e, y)
        if proved:
            yield (rows.label, e, Fraction(y)), proved


def single_row(faces: Faces, rows: Rows, e: int, y: int) -> Consequences:
    """What one row times y, 1 or -1, proves; an empty (false) result if it proves nothing."""
    side = Fraction(float(rows.rhs[e]))
    if (y < 0 and rows.relation != "==") or y * side > 0:
        return Consequences()
    vectors = list[tuple[str, Vector]]()
    for name, a in rows.lhs.items():
        if isinstance(a, VectorMap):
            row = vector_row(a, e)
            if any(not faces.sdp.variable(name).is_signed or y * x < 0 for x in row.values()):
                return Consequences()
            continue
        matrix = faces.matrix(name, a, e)
        columns = None if matrix is None else range_of({at: y * x for at, x in matrix.items()})
        if columns is None:
            return Consequences()
        vectors += [(name, column) for column in columns]
    if side:
        return Consequences(contradiction=True)
    return Consequences(tuple((name, tuple(sorted(vector.items()))) for name, vector in vectors))


def is_silent(faces: Faces, rows: Rows, e: int, *, whole: bool) -> bool:
    """Whether a row that led to the faces vanishes on them; ``whole`` if none was left out."""
    return all(
        isinstance(a, LinearMap) and (whole or faces.matrix(name, a, e) == {})
        for name, a in rows.lhs.items()
    )


def candidates(faces: Faces) -> Iterator[tuple[Rows, int, int]]:
    """Yield rows that may expose a face times 1 or -1, by their signs at random points."""
    sdp = faces.sdp
    stated = {
        r.label
        for v in sdp.psd_variables
        for r in exposing_rows(sdp, v.name)
        # Unit vectors make whole rows and columns vanish, so that other rows may expose more.
        if np.any(np.diff(_null(r, v.name).tocsc().indptr) != 1)
    }
    for r in sdp.rows:
        if r.label not in stated:
            for y, may in zip((1, -1), _may_confine(faces, r), strict=True):
                yield from ((r, int(e), y) for e in np.flatnonzero(may))


def _null(rows: Rows, name: str) -> sp.csr_array:
    a = rows.lhs[name]
    assert isinstance(a, LinearMap)
    return a.null_vectors(rows.rhs)


def _may_confine(faces: Faces, rows: Rows) -> tuple[Mask, Mask]:
    """Which rows, and which negatives of rows, may be at least zero everywhere and at most zero.

    A row is at least zero if each of its parts is. Values that may be rounding have any sign.
    """
    rng = np.random.default_rng(0)
    # A row with an upper limit above zero confines nothing to a face.
    up, down = rows.rhs <= 0.0, (rows.rhs >= 0.0) & (rows.relation == "==")
    sizes = {name: np.zeros(rows.m) for name in rows.lhs}
    for _ in range(_POINTS):
        for name, size in sizes.items():
            if not np.any(up | down):
                return up, down
            values, anywhere = _values(faces, rows, name, rng)
            np.maximum(size, np.abs(anywhere), out=size)
            error = _VALUE_ROUNDING * size
            up, down = up & (values >= -error), down & (values <= error)
    return up, down


def _values(faces: Faces, rows: Rows, name: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Values of a part of rows at a random point of the faces, and at any random point."""
    sdp, part, v = faces.sdp, {name: rows.lhs[name]}, faces.sdp.variable(name)
    w = rng.standard_normal(v.extents[0])
    if not isinstance(v, PsdVariable):
        values = sdp.evaluate(part, {name: np.abs(w) if v.is_signed else w}, rows.m)
        return values, values
    anywhere = sdp.evaluate(part, {name: _square(w)}, rows.m)
    if name not in faces.null or not faces.null[name].vectors:
        return anywhere, anywhere
    return sdp.evaluate(part, {name: _square(faces.onto(name, w))}, rows.m), anywhere


def _square(w: Array) -> Value:
    """The matrix w w^T."""
    return np.outer(w, w) if w.size <= SMALL else Factor(w[:, None])
