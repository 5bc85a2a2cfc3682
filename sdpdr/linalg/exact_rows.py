"""Single rows of linear maps as exact matrices and vectors, over the rationals.

No structured map is multiplied out: what a row holds is read off the numbers the map is made of.
Entries are those of the symmetric matrix, without the root of two of ``svec``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
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
from sdpdr.linalg.svec import svec_pairs, unscaled

Mask: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = "dict[int, Fraction]"
Symmetric: TypeAlias = "dict[tuple[int, int], Fraction]"
_ONE = Fraction(1)
# Entries of one row, beyond which it is no longer read: a dense one of order 500.
LARGEST = 130_000
# Order up to which a map that knows nothing better may be multiplied out.
SMALL = 200
# What makes numbers of few digits whole, and no larger than itself squared.
_FEW = 2.0**20


def add(total: dict[Any, Fraction], other: Mapping[Any, Fraction], factor: Fraction = _ONE) -> None:
    """Add a multiple of a vector or matrix to another one, in place; zeros are not kept."""
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


def over_root(stored: Array) -> list[Fraction] | None:
    r"""Numbers that were multiplied by :math:`\sqrt 2`; None where it is not clear which."""
    found = unscaled(stored)
    return None if np.isnan(found).any() else [Fraction(a) for a in found.tolist()]


def vector_row_over_root(linear_map: VectorMap, e: int) -> Vector | None:
    r"""Row e of a map on scalars over :math:`\sqrt 2`; None where its numbers are in doubt."""
    stored = linear_map.matrix()[[e]]
    values = over_root(stored.data)
    return None if values is None else dict(zip(stored.indices.tolist(), values, strict=True))


def matrix_row_over_root(linear_map: LinearMap, e: int, keep: Mask) -> Symmetric | None:
    r"""Row e of a map that yields a ``svec``, over :math:`\sqrt 2`.

    At a place beside the diagonal, whose entry comes times :math:`\sqrt 2`. Entries beside the
    diagonal of the variable come times the same, so that nothing of it is left; in floating point
    that is so for numbers of few digits, and None where there are others.
    """
    if not isinstance(linear_map, SvecMap) and linear_map.n > SMALL:
        return None
    stored = linear_map.matrix()[[e]]
    i, j = svec_pairs(stored.indices)
    inside = keep[i] & keep[j] & (stored.data != 0.0)
    i, j, data = i[inside], j[inside], stored.data[inside]
    on = over_root(data[i == j])
    off = data[i != j]
    if on is None or data.size > LARGEST or not _has_few_digits(off):
        return None
    total: Symmetric = {}
    for p, a in zip(i[i == j].tolist(), on, strict=True):
        add(total, {(p, p): a})
    for p, q, a in zip(i[i != j].tolist(), j[i != j].tolist(), off.tolist(), strict=True):
        add(total, {(p, q): Fraction(a) / 2})
    return total


def _has_few_digits(numbers: Array) -> bool:
    return bool(np.all(numbers * _FEW == np.round(numbers * _FEW)) and np.all(abs(numbers) < _FEW))


def matrix_row(linear_map: LinearMap, e: int, keep: Mask) -> Symmetric | None:
    """The matrix of row e with the rows and columns outside ``keep`` left out.

    None where its numbers are not known exactly, or too many.
    """
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
        return _entries(*upper(linear_map), keep)
    if not isinstance(linear_map, SvecMap):
        if linear_map.n > SMALL:
            return None
        linear_map = SvecMap(linear_map.n, linear_map.matrix())
    natural = linear_map.natural()
    chosen = slice(natural.indptr[e], natural.indptr[e + 1])
    i, j = svec_pairs(natural.indices[chosen])
    return _entries(i, j, natural.data[chosen], keep)


def _parts(linear_map: Summed | Combined, e: int) -> Iterator[tuple[LinearMap, int, Fraction]]:
    if isinstance(linear_map, Summed):
        yield from ((a, e, Fraction(1)) for a in linear_map.maps)
        return
    for row, weight in _sparse_row(linear_map.weights, e).items():
        yield linear_map.inner, row, weight


def upper(linear_map: InnerProduct) -> tuple[Index, Index, NDArray[np.float64]]:
    """Rows, columns and entries of the upper triangle of the matrix."""
    entries = sp.triu(sp.coo_array(linear_map.coefficients)).tocoo()
    return entries.row, entries.col, entries.data


def _entries(i: Index, j: Index, value: NDArray[np.float64], keep: Mask) -> Symmetric | None:
    inside = keep[i] & keep[j] & (value != 0.0)
    if np.count_nonzero(inside) > LARGEST or not np.all(np.isfinite(value[inside])):
        return None
    total: Symmetric = {}
    for p, q, a in zip(i[inside].tolist(), j[inside].tolist(), value[inside].tolist(), strict=True):
        add(total, {(p, q): Fraction(a)})
    return total


def _product(left: Vector, right: Vector) -> Symmetric | None:
    """The symmetric part of an outer product."""
    if len(left) * len(right) > LARGEST:
        return None
    total: Symmetric = {}
    for i, a in left.items():
        for j, b in right.items():
            half = a * b / 2
            add(total, {(min(i, j), max(i, j)): 2 * half if i == j else half})
    return total


def _sparse_row(matrix: sp.csr_array, e: int, keep: Mask | None = None) -> Vector:
    chosen = slice(matrix.indptr[e], matrix.indptr[e + 1])
    total: Vector = {}
    for k, a in zip(matrix.indices[chosen].tolist(), matrix.data[chosen].tolist(), strict=True):
        if keep is None or keep[k]:
            add(total, {k: Fraction(a)})
    return total
