r"""Matrices over the rationals: the numbers that a map stores, and proofs of semidefiniteness.

Maps store doubles, which are fractions, or fractions times the :math:`\sqrt 2` of ``svec``. So a
coefficient is :math:`p + q \sqrt 2` with fractions p and q. It vanishes only if both do, and its
sign follows from integers. This arithmetic is slow, and meant for the few rows on which a proof
depends.

Single rows are read as matrices and vectors. No structured map is multiplied out: the entries of a
row follow from the numbers that define the map. They are the entries of the symmetric matrix,
without the :math:`\sqrt 2` of ``svec``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Index, Matrix
from sdpdr.linalg.maps import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Products,
    Stacked,
    Summed,
    SvecMap,
    VectorMap,
)
from sdpdr.linalg.svec import svec_pairs

Mask: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = "dict[int, Fraction]"
Symmetric: TypeAlias = "dict[tuple[int, int], Fraction]"
_ONE = Fraction(1)
# Rows with more entries than this are not read; a dense row of order 500 has fewer.
LARGEST = 130_000
# Order up to which a map without a structure known here may be multiplied out.
SMALL = 200


def add(total: dict[Any, Fraction], other: Mapping[Any, Fraction], factor: Fraction = _ONE) -> None:
    """Add a multiple of a vector or matrix to another one, in place, and drop zeros."""
    plain = factor == 1
    for place, value in other.items():
        term = value if plain else factor * value
        new = total[place] + term if place in total else term
        if new:
            total[place] = new
        else:
            total.pop(place, None)


def vector_row(linear_map: VectorMap, e: int) -> Vector:
    """Row e of a map on scalars."""
    return _sparse_row(linear_map.matrix(), e)


def matrix_row(linear_map: LinearMap, e: int, keep: Mask) -> Symmetric | None:
    """The matrix of row e with the rows and columns outside ``keep`` left out."""
    if isinstance(linear_map, Stacked):
        for part in linear_map.maps:
            if e < part.m:
                return matrix_row(part, e, keep)
            e -= part.m
    if isinstance(linear_map, (Summed, Combined)):
        total: Symmetric = {}
        for part, row, weight in _parts(linear_map, e):
            matrix = matrix_row(part, row, keep)
            if matrix is None or len(matrix) + len(total) > LARGEST:
                return None
            add(total, matrix, weight)
        return total
    if isinstance(linear_map, BilinearForms):
        left, right = _sparse_row(linear_map.left, e, keep), _sparse_row(linear_map.right, e, keep)
        return _product(left, right)
    if isinstance(linear_map, Products):
        if not keep[e]:
            return {}
        used = np.flatnonzero(keep & (linear_map.vector != 0.0))
        if used.size > LARGEST:
            return None
        return _product({e: Fraction(1)}, {int(k): Fraction(linear_map.vector[k]) for k in used})
    if isinstance(linear_map, InnerProduct):
        return _kept_entries(*upper(linear_map), keep)
    if not isinstance(linear_map, SvecMap):
        if linear_map.n > SMALL:
            return None
        linear_map = SvecMap(linear_map.n, linear_map.matrix())
    natural = linear_map.natural()
    chosen = slice(natural.indptr[e], natural.indptr[e + 1])
    i, j = svec_pairs(natural.indices[chosen])
    return _kept_entries(i, j, natural.data[chosen], keep)


def _parts(linear_map: Summed | Combined, e: int) -> Iterator[tuple[LinearMap, int, Fraction]]:
    """The maps, rows and weights whose sum is row e."""
    if isinstance(linear_map, Summed):
        yield from ((a, e, Fraction(1)) for a in linear_map.maps)
        return
    for row, weight in _sparse_row(linear_map.weights, e).items():
        yield linear_map.inner, row, weight


def upper(linear_map: InnerProduct) -> tuple[Index, Index, NDArray[np.float64]]:
    """Rows, columns and entries of the upper triangle of the matrix."""
    entries = sp.triu(sp.coo_array(linear_map.coefficients)).tocoo()
    return entries.row, entries.col, entries.data


def _kept_entries(i: Index, j: Index, value: NDArray[np.float64], keep: Mask) -> Symmetric | None:
    """The entries inside ``keep`` as fractions; None if too many, or if one is not finite."""
    inside = keep[i] & keep[j] & (value != 0.0)
    if np.count_nonzero(inside) > LARGEST or not np.all(np.isfinite(value[inside])):
        return None
    total: Symmetric = {}
    for p, q, a in zip(i[inside].tolist(), j[inside].tolist(), value[inside].tolist(), strict=True):
        add(total, {(p, q): Fraction(a)})
    return total


def _product(left: Vector, right: Vector) -> Symmetric | None:
    """The symmetric part of an outer product; None if it has too many entries."""
    if len(left) * len(right) > LARGEST:
        return None
    total: Symmetric = {}
    for i, a in left.items():
        for j, b in right.items():
            half = a * b / 2
            add(total, {(min(i, j), max(i, j)): 2 * half if i == j else half})
    return total


def _sparse_row(matrix: sp.csr_array, e: int, keep: Mask | None = None) -> Vector:
    """Row e of a sparse matrix as fractions, without the columns outside ``keep``."""
    chosen = slice(matrix.indptr[e], matrix.indptr[e + 1])
    total: Vector = {}
    for k, a in zip(matrix.indices[chosen].tolist(), matrix.data[chosen].tolist(), strict=True):
        if keep is None or keep[k]:
            add(total, {k: Fraction(a)})
    return total


def range_of(matrix: Symmetric) -> list[Vector] | None:
    r"""Columns that span the range of a positive semidefinite matrix; None if it is not one."""
    scale = whole(matrix.values())
    # Integers are many times faster than fractions; each row is kept up to a positive factor.
    rows: dict[int, dict[int, int]] = {}
    for (i, j), value in matrix.items():
        rows.setdefault(i, {})[j] = rows.setdefault(j, {})[i] = int(value * scale)
    if any(row.get(i, 0) <= 0 for i, row in rows.items()):
        return None
    columns = []
    # Eliminating rows of few entries first keeps the others sparse.
    for k in sorted(rows, key=lambda i: len(rows[i])):
        row = rows.pop(k)
        pivot = row.get(k, 0)
        if pivot < 0 or (not pivot and row):
            return None
        if not pivot:
            continue
        columns.append({j: Fraction(value) for j, value in row.items()})
        for i in row.keys() - {k}:
            rows[i] = _eliminated(rows[i], row, k, pivot)
    return columns


def _eliminated(target: dict[int, int], row: dict[int, int], k: int, pivot: int) -> dict[int, int]:
    """A row without its entry at k, up to a positive factor."""
    factor = target[k]
    new = {j: pivot * value for j, value in target.items() if j != k}
    for j, value in row.items():
        if j != k:
            new[j] = new.get(j, 0) - factor * value
    common = gcd(*new.values()) or 1
    return {j: value // common for j, value in new.items() if value}


def whole(vector: Iterable[Fraction]) -> int:
    """The least common denominator of some fractions."""
    return lcm(1, *(value.denominator for value in vector))


# p + q sqrt 2 as (p, q).
Number: TypeAlias = tuple[Fraction, Fraction]
# Row e, entry (i, j) of the variable with i <= j, and its coefficient in the row.
Term: TypeAlias = tuple[int, int, int, Number]


def exact_terms(
    linear_map: LinearMap | VectorMap, rows: Sequence[int] | None = None
) -> Iterator[Term]:
    """The terms of the rows of a map, without rounding; one entry may appear several times."""
    wanted = range(linear_map.m) if rows is None else rows
    if isinstance(linear_map, Stacked):
        starts = np.cumsum([0, *(a.m for a in linear_map.maps)])
        for start, part in zip(starts, linear_map.maps, strict=False):
            inside = [e - int(start) for e in wanted if start <= e < start + part.m]
            yield from ((e + int(start), i, j, c) for e, i, j, c in exact_terms(part, inside))
    elif isinstance(linear_map, Summed):
        for part in linear_map.maps:
            yield from exact_terms(part, wanted)
    elif isinstance(linear_map, Combined):
        yield from _combined(linear_map, wanted)
    elif isinstance(linear_map, BilinearForms):
        yield from _forms(linear_map, wanted)
    elif isinstance(linear_map, InnerProduct):
        for i, j, c in _entries(linear_map.coefficients):
            if len(wanted):
                yield 0, min(i, j), max(i, j), (c, Fraction(0))
    elif isinstance(linear_map, Products):
        for e in wanted:
            for j in map(int, np.flatnonzero(linear_map.vector)):
                c = Fraction(float(linear_map.vector[j]))
                yield e, min(e, j), max(e, j), (c, Fraction(0))
    else:
        yield from _coordinates(linear_map, wanted)


def sign(number: Number) -> int:
    """The sign of p + q sqrt 2."""
    p, q = number
    if p >= 0 and q >= 0:
        return int(p > 0 or q > 0)
    if p <= 0 and q <= 0:
        return -1
    larger = 1 if p * p > 2 * q * q else -1
    return larger if p > 0 else -larger


def _combined(linear_map: Combined, wanted: Sequence[int]) -> Iterator[Term]:
    """Terms of combined rows: those of the inner rows, times their weights."""
    weights = linear_map.weights[np.asarray(wanted, dtype=np.intp)]
    shares: dict[int, list[tuple[int, Fraction]]] = {}
    for k, inner, c in _entries(weights):
        shares.setdefault(inner, []).append((wanted[k], c))
    for inner, i, j, (p, q) in exact_terms(linear_map.inner, sorted(shares)):
        for e, c in shares[inner]:
            yield e, i, j, (c * p, c * q)


def _forms(forms: BilinearForms, wanted: Sequence[int]) -> Iterator[Term]:
    """Terms of bilinear forms: the products of entries of both vectors."""
    left, right = forms.left, forms.right
    for e in wanted:
        for a in range(left.indptr[e], left.indptr[e + 1]):
            for b in range(right.indptr[e], right.indptr[e + 1]):
                i, j = int(left.indices[a]), int(right.indices[b])
                product = Fraction(float(left.data[a])) * Fraction(float(right.data[b]))
                yield e, min(i, j), max(i, j), (product, Fraction(0))


def _coordinates(linear_map: LinearMap | VectorMap, wanted: Sequence[int]) -> Iterator[Term]:
    """Terms of any map, read from its matrix."""
    kept, stored = False, linear_map.matrix()
    if isinstance(linear_map, SvecMap) and linear_map.keeps_entries:
        kept, stored = True, linear_map.natural()
    rows = stored[np.asarray(wanted, dtype=np.intp)]
    for k, column, c in _entries(rows):
        if isinstance(linear_map, VectorMap):
            yield wanted[k], column, column, (c, Fraction(0))
            continue
        i, j = (int(x[0]) for x in svec_pairs(np.array([column])))
        off = (2 * c, Fraction(0)) if kept else (Fraction(0), c)
        yield wanted[k], i, j, (c, Fraction(0)) if i == j else off


def _entries(matrix: Matrix) -> Iterator[tuple[int, int, Fraction]]:
    """Row, column and value of each nonzero entry."""
    entries = sp.csr_array(matrix).tocoo()
    for e, j, c in zip(entries.row, entries.col, entries.data, strict=True):
        if c:
            yield int(e), int(j), Fraction(float(c))
