"""Cheap tests that spare looking at most rows of linear maps.

No structured map is multiplied out: what a row may hold is read off the numbers it is made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
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
from sdpdr.linalg.exact import SMALL, Mask, upper
from sdpdr.linalg.maps.combine import some_of_rows
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.rows import Expression


def signs(linear_map: LinearMap | VectorMap) -> tuple[Mask, Mask]:
    """Whether each row may be positive, and whether it may be negative, semidefinite.

    A matrix without a negative diagonal entry may be positive; one that has a negative one is not.
    A row of zeros may be both.
    """
    if isinstance(linear_map, VectorMap):
        return _signs_of(linear_map.m, *_entries(linear_map.matrix()))
    return _signs(linear_map)


@singledispatch
def _signs(linear_map: LinearMap) -> tuple[Mask, Mask]:
    if linear_map.n > SMALL:
        return np.zeros(linear_map.m, dtype=bool), np.zeros(linear_map.m, dtype=bool)
    return _signs(SvecMap(linear_map.n, linear_map.matrix()))


@_signs.register
def _(linear_map: SvecMap) -> tuple[Mask, Mask]:
    row, data = _entries(linear_map.matrix())
    i, j = svec_pairs(linear_map.matrix().indices)
    on = i == j
    return _signs_of(linear_map.m, row[on], data[on], _has(linear_map.m, row, data))


@_signs.register
def _(linear_map: BilinearForms) -> tuple[Mask, Mask]:
    full = _has(linear_map.m, *_entries(linear_map.left))
    return _signs_of(
        linear_map.m, *_entries(sp.csr_array(linear_map.left * linear_map.right)), full
    )


@_signs.register
def _(linear_map: QuadraticForms) -> tuple[Mask, Mask]:
    return np.ones(linear_map.m, dtype=bool), ~_has(linear_map.m, *_entries(linear_map.left))


@_signs.register
def _(linear_map: InnerProduct) -> tuple[Mask, Mask]:
    diagonal = np.asarray(linear_map.coefficients.diagonal())
    return _signs_of(1, np.zeros(diagonal.size, dtype=int), diagonal, np.ones(1, dtype=bool))


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


def _entries(matrix: sp.csr_array) -> tuple[Index, Array]:
    """The row of every entry, and the entries."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)), matrix.data


def _has(m: int, row: Index, data: Array) -> Mask:
    return np.bincount(row[data != 0.0], minlength=m) > 0


def _signs_of(m: int, row: Index, data: Array, full: Mask | None = None) -> tuple[Mask, Mask]:
    """From signed diagonals; a row that is full but has no diagonal is neither."""
    above, below = _has(m, row, np.maximum(data, 0.0)), _has(m, row, np.minimum(data, 0.0))
    void = ~above & ~below
    hollow = np.zeros(m, dtype=bool) if full is None else void & full
    return ~below & ~hollow, ~above & ~hollow


def touched(lhs: Expression, places: Mapping[str, Mask], m: int) -> Mask:
    """Which of m rows read an entry in some rows and columns, of vectors one of some entries.

    May name rows that do not.
    """
    hit = np.zeros(m, dtype=bool)
    for name, linear_map in lhs.items():
        if places[name].any():
            hit |= _touched(linear_map, places[name])
    return hit


def _touched(linear_map: LinearMap | VectorMap, places: Mask) -> Mask:
    if isinstance(linear_map, VectorMap):
        return _rows_with(linear_map.matrix(), places)

    def leaf(part: LinearMap) -> Mask:
        if isinstance(part, SvecMap):
            i, j = svec_pairs(part.matrix().indices)
            hit = _entries(part.matrix())[0][places[i] | places[j]]
            return np.bincount(hit, minlength=part.m) > 0
        if isinstance(part, BilinearForms):
            return _rows_with(part.left, places) | _rows_with(part.right, places)
        return np.ones(part.m, dtype=bool)

    return some_of_rows(linear_map, leaf)


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
        i, j, _ = upper(linear_map)
        seen[i] = seen[j] = True
    elif isinstance(linear_map, (Stacked, Summed)):
        for part in linear_map.maps:
            seen |= read(part)
    elif isinstance(linear_map, Combined):
        seen |= read(linear_map.inner)
    else:
        seen[:] = True
    return seen
