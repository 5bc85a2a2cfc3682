r"""A-priori bounds on rounding errors, and sums that are correctly rounded.

With u = 2^-53 and round to nearest, a sum or an inner product of k terms, taken in any order,
errs by at most :math:`\gamma_k = k u / (1 - k u)` times the sum of its terms' absolute values
(Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., SIAM 2002, sections 3.1 and
4.2). The error of a single product is itself a floating-point number (Dekker, "A floating-point
technique for extending the available precision", Numer. Math. 18, 1971), so that a sum of
products is a longer sum of numbers, which `math.fsum` adds with a single rounding at the end.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix

UNIT = 2.0**-53
_SPLITTER = 2.0**27 + 1.0
# Products of factors outside this range could overflow, or their errors could underflow.
_LARGEST, _SMALLEST = 2.0**480, 2.0**-480


def gamma(k: Array | int) -> Array:
    """An upper bound of k u / (1 - k u), with the shape of ``k``."""
    ku = np.asarray(k, dtype=float) * UNIT
    return np.asarray(ku / (1.0 - ku) * (1.0 + 8.0 * UNIT))


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded products of two arrays and their errors, ``p + e = a b`` exactly."""
    a, b = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    for factor in (a, b):
        size = np.abs(factor[factor != 0.0])
        if np.any((size > _LARGEST) | (size < _SMALLEST)):
            raise ArithmeticError(
                "rounding cannot be accounted for: numbers must lie between 2^-480 and 2^480 in "
                "size. Change the units of the data."
            )
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def exact_sum(terms: Array) -> tuple[float, float]:
    """Numbers below and above the exact sum; equal only if the sum is zero."""
    total = math.fsum(np.ravel(terms))
    if total == 0.0:
        return 0.0, 0.0
    return float(np.nextafter(total, -np.inf)), float(np.nextafter(total, np.inf))


def dot_enclosure(a: Array, b: Array, *more: float) -> tuple[float, float]:
    """Numbers below and above the exact value of ``a.b`` plus further terms."""
    product, error = two_product(a, b)
    return exact_sum(np.concatenate([product, error, np.asarray(more, dtype=float)]))


def _split(a: Array) -> tuple[Array, Array]:
    """Two numbers of half the digits with the sum a (Veltkamp)."""
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


# Ratio of diagonal entries above which scaling by units helps.
_WIDE = 2.0**20


def near_powers(sizes: Array) -> Array:
    """The powers of two nearest to positive numbers; scaling by them is exact."""
    return np.asarray(np.exp2(np.round(np.log2(sizes))))


def diagonal_units(matrix: Matrix) -> Array | None:
    """Powers of two d with ``d_i^2 A_ii`` between 1/2 and 2; None if A needs no scaling."""
    diagonal = np.asarray(matrix.diagonal(), dtype=float)
    if diagonal.size == 0 or not np.all(np.isfinite(diagonal) & (diagonal > 0.0)):
        return None
    if np.max(diagonal) <= _WIDE * np.min(diagonal):
        return None
    return np.asarray(np.exp2(-np.round(0.5 * np.log2(diagonal))))


def in_units(matrix: Matrix, units: Array) -> Matrix:
    """The matrix D A D, sparse if A is."""
    if sp.issparse(matrix):
        scale = sp.diags_array(units, format="csr")
        return sp.csr_array(scale @ matrix @ scale)
    return np.asarray(matrix) * units[:, None] * units[None, :]
