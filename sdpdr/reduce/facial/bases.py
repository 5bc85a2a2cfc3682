r"""Bases V of faces, :math:`X = V M V^T`, and maps in terms of M without rounding."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, from_places
from sdpdr.linalg import BilinearForms, InnerProduct, LinearMap, Products, SvecMap, VectorMap
from sdpdr.linalg.exact import Mask, Symmetric, Vector, add, matrix_row, whole
from sdpdr.linalg.maps.combine import some_of_rows
from sdpdr.linalg.svec import selected, svec_index, svec_size
from sdpdr.program.echelon import Echelon
from sdpdr.program.rows import Expression

# Rows and orders up to which coefficients are written in a new basis, row by row, in fractions.
# Beyond, rows M u = 0 state the face, for which `Face` has a sparse basis.
_ROWS, _ORDER = 5000, 400


def basis_of(null: Sequence[Vector], n: int) -> sp.csr_array | None:
    """Integer columns that span what is orthogonal to some vectors; None if no doubles hold them.

    Examples
    --------
    >>> basis_of([{0: Fraction(2), 2: Fraction(1)}], 3).toarray().tolist()
    [[0.0, -1.0], [1.0, 0.0], [0.0, 2.0]]
    """
    echelon = Echelon()
    for vector in null:
        echelon.insert(vector)
    kept = [i for i in range(n) if i not in echelon.vectors]
    new = {i: k for k, i in enumerate(kept)}
    entries = [(i, j, a) for i in range(n) for j, a in echelon.row(i).items()]
    columns: dict[int, list[Fraction]] = {}
    for _, j, a in entries:
        columns.setdefault(j, []).append(a)
    scale = {j: whole(column) for j, column in columns.items()}
    scaled = [(i, new[j], a * scale[j]) for i, j, a in entries]
    return from_places(scaled, (n, len(kept))) if doubles([a for *_, a in scaled]) else None


def doubles(values: Sequence[Fraction]) -> bool:
    """Whether all fractions are doubles."""
    try:
        return all(Fraction(float(value)) == value for value in values)
    except OverflowError:
        return False


def own_rows(V: sp.csr_array) -> tuple[Index, Array]:
    """For each column a row that holds nothing else, and its entry."""
    rows = np.flatnonzero(np.diff(V.indptr) == 1)
    columns, first = np.unique(V.indices[V.indptr[rows]], return_index=True)
    assert columns.size == V.shape[1]
    return rows[first], V.data[V.indptr[rows[first]]]


def in_basis(a: LinearMap | VectorMap, V: sp.csr_array) -> LinearMap | None:
    """The map M -> A(V M V^T); None where its numbers would be rounded, or take too long."""
    assert isinstance(a, LinearMap)
    if unit_rows(V) is not None:
        return a if is_identity(V) else a.congruence(V)
    if a.m > _ROWS or a.n > _ORDER:
        return None
    every, rows = np.ones(a.n, dtype=bool), list[Symmetric]()
    for e in range(a.m):
        matrix = matrix_row(a, e, every)
        if matrix is None:
            return None
        rows.append(_congruence(matrix, V))
    # Points that coincide, say, leave lengths what they are.
    if not isinstance(a, (SvecMap, InnerProduct)):
        same, every = a.congruence(V), np.ones(V.shape[1], dtype=bool)
        if not isinstance(same, SvecMap) and all(
            matrix_row(same, e, every) == row for e, row in enumerate(rows)
        ):
            return same
    entries = [(e, i, j, x) for e, row in enumerate(rows) for (i, j), x in row.items()]
    if not doubles([x for *_, x in entries]):
        return None
    found = from_places(
        ((e, int(svec_index(i, j)), x) for e, i, j, x in entries), (a.m, svec_size(V.shape[1]))
    )
    return SvecMap.from_natural(V.shape[1], found)


def _congruence(matrix: Symmetric, V: sp.csr_array) -> Symmetric:
    """The matrix V^T A V."""
    total: Symmetric = {}
    for (i, j), a in matrix.items():
        for p, f in _row(V, i):
            for q, g in _row(V, j):
                if i != j or p <= q:
                    # An entry beside the diagonal of A stands for its mirror image, too.
                    term = a * f * g * (2 if i != j and p == q else 1)
                    add(total, {(min(p, q), max(p, q)): term})
    return total


def _row(V: sp.csr_array, i: int) -> list[tuple[int, Fraction]]:
    part = slice(V.indptr[i], V.indptr[i + 1])
    return [
        (int(k), Fraction(float(a))) for k, a in zip(V.indices[part], V.data[part], strict=True)
    ]


def image(V: sp.csr_array, vector: Vector) -> Vector:
    """V^T u."""
    total: Vector = {}
    for i, a in vector.items():
        add(total, dict(_row(V, i)), a)
    return total


def image_of(V: sp.csr_array, a: Products) -> Vector:
    """V^T u, for rows K u."""
    return image(V, {int(k): Fraction(float(a.vector[k])) for k in np.flatnonzero(a.vector)})


def is_identity(V: sp.csr_array) -> bool:
    """Whether nothing is narrowed."""
    return V.shape[0] == V.shape[1]


def unit_rows(V: sp.csr_array) -> Index | None:
    """The rows that the columns of a selection pick; None of any other basis."""
    places = selected(V)
    kept = None if places is None else np.flatnonzero(places >= 0)
    return kept if kept is not None and kept.size == V.shape[1] else None


def speaks(side: Expression, m: int) -> Mask:
    """Rows that have a coefficient; may name some that have none."""

    def leaf(a: LinearMap) -> Mask:
        if isinstance(a, SvecMap):
            return np.asarray(abs(a.matrix()).sum(axis=1) > 0.0)
        if isinstance(a, InnerProduct):
            return np.array([abs(sp.csr_array(a.coefficients)).sum() > 0.0])
        if isinstance(a, BilinearForms):
            return (np.diff(a.left.indptr) > 0) & (np.diff(a.right.indptr) > 0)
        return np.ones(a.m, dtype=bool)

    found = np.zeros(m, dtype=bool)
    for a in side.values():
        if isinstance(a, VectorMap):
            found |= np.asarray(abs(a.matrix()).sum(axis=1) > 0.0)
        else:
            found |= some_of_rows(a, leaf)
    return found


def reads(a: LinearMap | VectorMap) -> Mask:
    """Rows and columns of the matrix that a map reads; all of them where many are."""
    seen = np.zeros(a.n, dtype=bool)
    if isinstance(a, LinearMap) and not a.is_wide():
        seen[a.pattern()] = True
        return seen
    return ~seen
