"""Rows of a sparse matrix that are multiples of each other, but for rounding."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, places_of_rows
from sdpdr.linalg.exact import Mask
from sdpdr.linalg.rounding import UNIT

# Relative difference of coefficients that rounding leaves between rows that are parallel.
_PARALLEL = 16.0 * UNIT


def scales(matrix: sp.csr_array, equality: bool) -> Array:
    """Largest entry of every row; for equalities with the sign of the first entry."""
    scale, full = np.ones(matrix.shape[0]), np.flatnonzero(np.diff(matrix.indptr))
    if full.size:
        starts = matrix.indptr[full]
        scale[full] = np.maximum.reduceat(np.abs(matrix.data), starts)
        if equality:
            scale[full] *= np.sign(matrix.data[starts])
    return scale


def first_parallel(matrix: sp.csr_array, candidates: Index) -> Index:
    """For each row the first that agrees with it but for rounding, by a sum of random weights."""
    used, place = np.unique(matrix.indices, return_inverse=True)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, used.size)[place]
    owner = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    sums = np.bincount(owner, matrix.data * weights, minlength=matrix.shape[0])
    row = candidates[np.argsort(sums[candidates], kind="stable")]
    apart = np.abs(np.diff(sums[row])) > 1e-11 * (1.0 + np.abs(sums[row][:-1]))
    alike, first = np.append(0, np.cumsum(apart))[: row.size], np.arange(matrix.shape[0])
    order = np.lexsort((row, alike))
    row, alike = row[order], alike[order]
    while row.size:
        starts = np.flatnonzero(np.diff(alike, prepend=-1))
        head = np.repeat(row[starts], np.diff([*starts, row.size]))
        same = _agree(matrix, row, head)
        first[row[same]] = head[same]
        # Those that differ from the first of their group may agree with each other.
        row, alike = row[~same], alike[~same]
    return first


def _agree(matrix: sp.csr_array, rows: Index, others: Index) -> Mask:
    """Which rows differ from the others beside them by rounding only."""
    counts = np.diff(matrix.indptr)
    same = np.asarray(counts[rows] == counts[others])
    a, b = (places_of_rows(matrix, which[same]) for which in (rows, others))
    near = np.abs(matrix.data[a] - matrix.data[b]) <= _PARALLEL * np.abs(matrix.data[b])
    wrong = ~(near & (matrix.indices[a] == matrix.indices[b]))
    same[np.repeat(np.flatnonzero(same), counts[rows[same]])[wrong]] = False
    return same
