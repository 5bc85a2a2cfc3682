"""Rows of linear maps as exact matrices, and cheap tests that spare looking at most of them.

No structured map is multiplied out: what a row holds is read off the numbers the map is made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import singledispatch
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.linalg import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Products,
    QuadraticForms,
    Stacked,
    Summed,
    SvecMap,
    VectorMap,
)
from sdpdr.linalg.svec import Index, svec_pairs
from sdpdr.reduce.facial.exact import Symmetric, Vector, add

Mask: TypeAlias = NDArray[np.bool_]
# Entries of one row, beyond which it is no longer read: a dense one of order 500.
LARGEST = 130_000
# Order up to which a map that knows nothing better may be multiplied out.
SMALL = 200


def signs(linear_map: LinearMap | VectorMap) -> tuple[Mask, Mask]:
    """Whether each row may be positive, and whether it may be negative, semidefinite.

    A matrix without a negative diagonal entry may be positive; one that has a negative one is not.
    A row of zeros may be both.
    """
    if isinstance(linear_map, VectorMap):
        return _signs_of(linear_map.matrix())
    return _signs(linear_map)


@singledispatch
def _signs(linear_map: LinearMap) -> tuple[Mask, Mask]:
    if linear_map.n > SMALL:
        return np.zeros(linear_map.m, dtype=bool), np.zeros(linear_map.m, dtype=bool)
    return _signs(SvecMap(linear_map.n, linear_map.matrix()))


@_signs.register
def _(linear_map: SvecMap) -> tuple[Mask, Mask]:
    matrix = linear_map.matrix()
    i, j = svec_pairs(matrix.indices)
    place = np.repeat(np.arange(linear_map.m), np.diff(matrix.indptr))
    on = i == j
    shape = (linear_map.m, linear_map.n)
    diagonal = sp.csr_array((matrix.data[on], (place[on], i[on])), shape=shape)
    return _signs_of(diagonal, _has(matrix))


@_signs.register
def _(linear_map: BilinearForms) -> tuple[Mask, Mask]:
    return _signs_of(linear_map.left * linear_map.right, _has(linear_map.left))


@_signs.register
def _(linear_map: QuadraticForms) -> tuple[Mask, Mask]:
    return np.ones(linear_map.m, dtype=bool), ~_has(linear_map.left)


@_signs.register
def _(linear_map: InnerProduct) -> tuple[Mask, Mask]:
    diagonal = np.asarray(linear_map.coefficients.diagonal())
    return _signs_of(sp.csr_array(diagonal[None, :]), np.ones(1, dtype=bool))


@_signs.register
def _(linear_map: Products) -> tuple[Mask, Mask]:
    u = linear_map.vector
    alone = (u != 0.0) & (np.count_nonzero(u) == 1)
    empty = not np.any(u)
    return empty | alone & (u > 0.0), empty | alone & (u < 0.0)


@_signs.register
def _(linear_map: Stacked) -> tuple[Mask, Mask]:
    parts = [signs(a) for a in linear_map.maps]
    return np.concatenate([p for p, _ in parts]), np.concatenate([q for _, q in parts])


@_signs.register
def _(linear_map: Combined) -> tuple[Mask, Mask]:
    weights = linear_map.weights
    if np.any(np.diff(weights.indptr) != 1):
        return _signs.dispatch(LinearMap)(linear_map)
    positive, negative = signs(linear_map.inner)
    up, at = weights.data >= 0.0, weights.indices
    return (
        np.where(up, positive[at], negative[at]),
        np.where(up, negative[at], positive[at]),
    )


def _has(matrix: sp.csr_array) -> Mask:
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return np.bincount(row[matrix.data != 0.0], minlength=matrix.shape[0]) > 0


def _signs_of(diagonal: sp.csr_array, full: Mask | None = None) -> tuple[Mask, Mask]:
    """From signed diagonals; a row that is full but has no diagonal is neither."""
    entries = diagonal.tocoo()
    m = diagonal.shape[0]
    above = np.bincount(entries.row[entries.data > 0.0], minlength=m) > 0
    below = np.bincount(entries.row[entries.data < 0.0], minlength=m) > 0
    void = ~above & ~below
    hollow = np.zeros(m, dtype=bool) if full is None else void & full
    return ~below & ~hollow, ~above & ~hollow


def touched(linear_map: LinearMap | VectorMap, places: Mask) -> Mask:
    """Rows that read an entry in one of some rows and columns (of a vector: one of some entries).

    May name rows that do not.
    """
    if isinstance(linear_map, VectorMap):
        return _rows_with(linear_map.matrix(), places)
    if isinstance(linear_map, SvecMap):
        matrix = linear_map.matrix()
        i, j = svec_pairs(matrix.indices)
        hit = places[i] | places[j]
        row = np.repeat(np.arange(linear_map.m), np.diff(matrix.indptr))
        return np.bincount(row[hit], minlength=linear_map.m) > 0
    if isinstance(linear_map, BilinearForms):
        return _rows_with(linear_map.left, places) | _rows_with(linear_map.right, places)
    if isinstance(linear_map, Stacked):
        return np.concatenate([touched(a, places) for a in linear_map.maps])
    if isinstance(linear_map, Summed):
        return np.logical_or.reduce([touched(a, places) for a in linear_map.maps])
    if isinstance(linear_map, Combined):
        inner = touched(linear_map.inner, places).astype(float)
        return np.asarray(abs(linear_map.weights) @ inner > 0.0)
    return np.ones(linear_map.m, dtype=bool)


def _rows_with(matrix: sp.csr_array, places: Mask) -> Mask:
    return np.asarray(abs(matrix).astype(bool).astype(float) @ places.astype(float) > 0.0)


def read(linear_map: LinearMap | VectorMap) -> Mask:
    """Rows and columns of the matrix that a map reads; may name some that it does not."""
    seen = np.zeros(linear_map.n, dtype=bool)
    if isinstance(linear_map, SvecMap):
        i, j = svec_pairs(np.unique(linear_map.matrix().indices))
        seen[i] = seen[j] = True
    elif isinstance(linear_map, BilinearForms):
        seen[linear_map.left.indices] = seen[linear_map.right.indices] = True
    elif isinstance(linear_map, InnerProduct):
        i, j, _ = _upper(linear_map)
        seen[i] = seen[j] = True
    elif isinstance(linear_map, (Stacked, Summed)):
        for part in linear_map.maps:
            seen |= read(part)
    elif isinstance(linear_map, Combined):
        seen |= read(linear_map.inner)
    else:
        seen[:] = True
    return seen


def vector_row(linear_map: VectorMap, e: int) -> Vector:
    """Row e of a map on scalars."""
    return _sparse_row(linear_map.matrix(), e)


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
        return _entries(*_upper(linear_map), keep)
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


def _upper(linear_map: InnerProduct) -> tuple[Index, Index, NDArray[np.float64]]:
    c = linear_map.coefficients
    upper = sp.triu(sp.coo_array(c)).tocoo()
    return upper.row, upper.col, upper.data


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
