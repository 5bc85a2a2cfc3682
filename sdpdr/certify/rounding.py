r"""A-priori bounds on rounding errors.

They hold for IEEE doubles rounded to nearest, for every order of summation:
:math:`\gamma_k = k u / (1 - k u)` with :math:`u = 2^{-53}` (Higham, "Accuracy and Stability of
Numerical Algorithms", 2nd ed., SIAM 2002). One assumption goes beyond IEEE arithmetic: the
relative error of the exponential and the logarithm of the C library is at most `ELEMENTARY`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg.rounding import UNIT, gamma, near_powers

# Relative error of exp and log: libraries promise one unit in the last place, this allows eight. A
# unit is up to two roundings.
ELEMENTARY = 8.0 * 2.0 * UNIT
# Covers the few roundings of a bound that is itself computed; sums count theirs.
UP = 1.0 + 16.0 * UNIT
# Binary digits of a double.
DIGITS = np.finfo(float).nmant + 1
# What counts as the last bit of zero: two to this, times all digits, is a double.
_NO_BIT = np.finfo(float).maxexp - DIGITS - 1
# Far above what underflow can add up to, far below anything that matters.
TINY = 1e-300


def last_bits(numbers: Array) -> NDArray[np.int64]:
    """Exponents of the last bits that are set in numbers, none of them larger than that of zero.

    Examples
    --------
    >>> last_bits(np.array([1.0, 6.0, 0.75])).tolist()
    [0, 1, -2]
    """
    mantissa, exponent = np.frexp(numbers)
    whole = np.ldexp(mantissa, DIGITS).astype(np.int64)
    bit = np.frexp((whole & -whole).astype(float))[1] - 1
    last = np.where(whole == 0, _NO_BIT, bit + exponent - DIGITS)
    return np.asarray(np.minimum(last, _NO_BIT), dtype=np.int64)


def longest_row(A: Matrix) -> int:
    """Terms in the longest sum of a product with A, and three for what is added to it."""
    return int(np.max(np.diff(_by_rows(A).indptr), initial=0)) + 3


def _by_rows(A: Matrix) -> sp.csr_array:
    """A itself where it is stored row by row: a copy of a small one takes as long as a product."""
    return A if isinstance(A, sp.csr_array) else sp.csr_array(A)


def residual(
    b: Array,
    A: Matrix,
    x: Array,
    radius: Array | float = 0.0,
    data: sp.csr_array | None = None,
) -> tuple[Array, Array]:
    """``b - A y`` for every y within ``radius`` of x, entry by entry: a value and its radius.

    Products are summed in the longest format there is.

    Parameters
    ----------
    b : array of shape (m,)
    A : sparse array of shape (m, n)
    x : array of shape (n,)
    radius : array of shape (n,), default 0
    data : sparse array of shape (m, n + 1), optional
        Radii of the numbers of A and, last, of b, where these are rounded themselves.

    Examples
    --------
    >>> value, around = residual(np.ones(1), sp.csr_array([[1.0, 2.0]]), np.array([0.5, 0.25]))
    >>> value.tolist(), bool(around[0] < 1e-15)
    ([0.0], True)
    """
    A = _by_rows(A)
    lengths = np.diff(A.indptr)
    filled = np.flatnonzero(lengths)
    starts = A.indptr[filled]

    def sums(terms: NDArray[Any]) -> NDArray[Any]:
        of_rows = np.zeros(A.shape[0], terms.dtype)
        if filled.size:
            of_rows[filled] = np.add.reduceat(terms, starts)
        return of_rows

    at = x[A.indices]
    value = np.asarray(b - sums(A.data.astype(np.longdouble) * at), dtype=float)
    k, unit = longest_row(A), float(np.finfo(np.longdouble).eps)
    far = np.broadcast_to(np.asarray(radius, dtype=float), np.shape(x))
    # A row of n entries rounds n + 1 times, by half of the unit each; k is more than that.
    terms = np.abs(A.data) * (k * unit * np.abs(at) + far[A.indices])
    around = k * unit * np.abs(b) + sums(terms) + UNIT * np.abs(value)
    if data is not None:
        spread = 1.0 + gamma(longest_row(data))
        around = around + spread * (data @ np.append(np.abs(x) + far, 1.0))
    # Sums of nothing are exact; others may underflow.
    moves = (at != 0.0) | (far[A.indices] != 0.0)
    tiny = TINY * ((sums(moves) > 0) | (around > 0.0))
    return value, UP * (1.0 + gamma(k)) * around + tiny


def inner(
    c: Array, x: Array, radius: Array | float = 0.0, data: Array | float = 0.0
) -> tuple[float, float]:
    """Numbers below and above ``d @ y`` for y within ``radius`` of x, d within ``data`` of c."""
    far = np.broadcast_to(np.asarray(radius, dtype=float), np.shape(x))
    is_cost = (np.asarray(c) != 0.0) | (np.asarray(data) != 0.0)
    if not np.any(is_cost & ((np.asarray(x) != 0.0) | (far != 0.0))):
        return 0.0, 0.0
    moved = (np.abs(c) + data) @ far + np.broadcast_to(data, np.shape(x)) @ np.abs(x)
    k = float(gamma(np.size(c) + 3))
    # The sums of radii are rounded as well.
    around = UP * (1.0 + k) * (k * (np.abs(c) @ np.abs(x)) + moved)
    middle = float(c @ x)
    return middle - UP * float(around) - TINY, middle + UP * float(around) + TINY


def are_positive_definite(matrices: Array, radius: Array) -> bool:
    """Whether all symmetric matrices within ``radius`` of a stack of them are positive definite.

    Parameters
    ----------
    matrices, radius : arrays of shape (count, n, n)

    References
    ----------
    Rump, "Verification of positive definiteness", BIT Numerical Mathematics 46, 2006.

    Examples
    --------
    >>> are_positive_definite(np.eye(2)[None], 0.4 * np.ones((1, 2, 2)))
    True
    >>> are_positive_definite(np.eye(2)[None], 0.6 * np.ones((1, 2, 2)))
    False
    """
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    if not np.all(diagonal > 0.0) or not np.all(np.isfinite(matrices)):
        return False
    units, n = 1.0 / near_powers(np.sqrt(diagonal)), matrices.shape[1]
    with np.errstate(all="ignore"):
        scale = units[:, :, None] * units[:, None, :]
        scaled, around = matrices * scale, radius * scale
    trace = np.trace(scaled, axis1=1, axis2=2)
    shift = 1.01 * (around.sum(axis=2).max(axis=1) + gamma(n + 2) * (trace + 1.0)) + 1e-280
    lowered = scaled - shift[:, None, None] * np.eye(n)
    # A factorization of what is no number runs through.
    if not np.all(np.isfinite(lowered)):
        return False
    try:
        np.linalg.cholesky(lowered)
    except np.linalg.LinAlgError:
        return False
    return True
