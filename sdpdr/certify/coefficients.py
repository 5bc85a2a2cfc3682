"""What rows multiply the numbers of a point by, and what rounding made of it.

Maps act on symmetric matrices whose entries off the diagonal are scaled by the root of two, and may
be products or sums of what a user gave. Here each coefficient is the number meant, rounded once,
with a radius where it is no double.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, own_rows, row_of_each
from sdpdr.certify.products import below, forms, rounded
from sdpdr.linalg.maps.combine import Combined, Stacked, Summed
from sdpdr.linalg.maps.forms import BilinearForms
from sdpdr.linalg.maps.given import SvecMap, VectorMap
from sdpdr.linalg.maps.linear import LinearMap
from sdpdr.linalg.maps.products import InnerProduct, Products
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import SQRT2, svec_pairs, svec_size
from sdpdr.linalg.svec import unscaled as exactly_unscaled

# A matrix, and radii of its entries; None where all are exact.
Rounded: TypeAlias = tuple[sp.csr_array, "sp.csr_array | None"]


def coefficients(linear_map: LinearMap | VectorMap) -> Rounded:
    """Coefficients of the upper triangle of a matrix, off the diagonal doubled, or of a vector.

    Examples
    --------
    >>> from sdpdr.linalg import Entries
    >>> coefficients(Entries(2, [[0, 1]]))[0].toarray().tolist()
    [[0.0, 1.0, 0.0]]
    """
    if isinstance(linear_map, VectorMap):
        return sp.csr_array(linear_map.matrix()), None
    if isinstance(linear_map, Combined):
        inner, radii = coefficients(linear_map.inner)
        return rounded(linear_map.weights, inner, radii)
    if isinstance(linear_map, (Stacked, Summed)):
        parts = [coefficients(one) for one in linear_map.maps]
        stacked = sp.csr_array(sp.vstack([rows for rows, _ in parts]))
        radii = below([(around, rows.shape[0]) for rows, around in parts], stacked.shape[1])
        if isinstance(linear_map, Stacked):
            return stacked, radii
        adding = sp.csr_array(sp.hstack([sp.eye_array(linear_map.m)] * len(parts)))
        return rounded(adding, stacked, radii)
    if isinstance(linear_map, Products):
        linear_map = linear_map.forms()
    if isinstance(linear_map, BilinearForms):
        return forms(sp.csr_array(linear_map.left), sp.csr_array(linear_map.right))
    return _of_matrices(linear_map)


def _of_matrices(linear_map: LinearMap) -> Rounded:
    if isinstance(linear_map, InnerProduct):
        return _of_matrix(linear_map.coefficients), None
    kept = isinstance(linear_map, SvecMap) and linear_map.keeps_entries
    if isinstance(linear_map, SvecMap) and kept:
        found = own_rows(linear_map.natural())
    else:
        found = own_rows(linear_map.matrix())
    i, j = svec_pairs(found.indices)
    off, radius = i != j, np.zeros(found.nnz)
    if not kept:
        found.data[off], radius[off] = unscaled(found.data[off])
    found.data[off] *= 2.0
    return found, _radii(found, 2.0 * radius)


def unscaled(numbers: Array) -> tuple[Array, Array]:
    """The doubles that the root of two makes these numbers of; quotients, and radii, of others."""
    found = exactly_unscaled(numbers)
    missing = np.isnan(found)
    quotient = numbers / SQRT2
    radius = np.where(missing, 4.0 * UNIT * np.abs(quotient), 0.0)
    return np.where(missing, quotient, found), radius


def _radii(matrix: sp.csr_array, radius: Array) -> sp.csr_array | None:
    if not np.any(radius):
        return None
    found = sp.csr_array((radius, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)
    found.eliminate_zeros()
    return found


def _of_matrix(matrix: Matrix) -> sp.csr_array:
    """The row of coefficients of an inner product with a symmetric matrix."""
    upper = sp.coo_array(sp.triu(sp.coo_array(matrix)))
    i, j = upper.coords
    data = np.where(i == j, 1.0, 2.0) * upper.data
    size = svec_size(matrix.shape[0])
    return sp.csr_array((data, (np.zeros(i.size, dtype=np.intp), j * (j + 1) // 2 + i)), (1, size))


def coefficients_of_triangle(linear_map: LinearMap | VectorMap) -> Rounded:
    """Coefficients of the upper triangle of what a matrix inequality adds up."""
    found = own_rows(linear_map.matrix())
    i, j = svec_pairs(row_of_each(found))
    data, radius, row_off = found.data, np.zeros(found.nnz), i != j
    column_off = np.zeros(found.nnz, dtype=bool)
    if isinstance(linear_map, LinearMap):
        p, q = svec_pairs(found.indices)
        column_off = p != q
    # Where both are off the diagonal the roots of two cancel.
    odd = row_off != column_off
    if np.any(odd):
        data[odd], radius[odd] = unscaled(data[odd])
    twice = column_off & ~row_off
    data[twice] *= 2.0
    radius[twice] *= 2.0
    return found, _radii(found, radius)
