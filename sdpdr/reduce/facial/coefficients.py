"""Cheap tests that spare looking at most rows of linear maps.

No structured map is multiplied out: what a row may hold is read off the numbers it is made of.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np
import scipy.sparse as sp

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
from sdpdr.linalg.exact_rows import SMALL, Mask, upper
from sdpdr.linalg.svec import svec_pairs


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
