r"""Proofs that a symmetric matrix is positive semidefinite, with all rounding accounted for.

*The factorization.* Whatever its pivots, a factorization :math:`\hat L \hat D \hat L^T` that runs
to its end in floating point belongs to a matrix near the one given,

.. math::  |A - \hat L \hat D \hat L^T|_{ij} \le \gamma_k\,(|\hat L| |\hat D| |\hat L^T|)_{ij},

where k exceeds the shorter of rows i and j of L by a few (Higham, "Accuracy and Stability of
Numerical Algorithms", 2002, theorems 10.3 and 9.3, whose proofs count the terms of each inner
product; the order of summation does not matter). The right side is computed from the factors.
So is the inertia of :math:`\hat L \hat D \hat L^T`: by Sylvester's law, the signs of the pivots.

*The shift.* Let M be the matrix computed and S the true one, :math:`|S - M| \le R` entry by entry.
We factor :math:`A = M - \mathrm{diag}(c)`. A symmetric error E satisfies
:math:`E \preceq \mathrm{diag}(|E| \mathbf 1)`, so that

.. math::  c \ge (R + \gamma_k |\hat L| |\hat D| |\hat L^T|)\,\mathbf 1
           \quad\Rightarrow\quad S \succeq \hat L \hat D \hat L^T .

Rump ("Verification of positive definiteness", BIT 46, 2006) proves positive definiteness by a
shift in the same way, with an a-priori bound that needs positive pivots; this one does not.

*The border.* To prove :math:`x^T S x \ge 0` for all x orthogonal to the p columns of U, factor

.. math::  B = \begin{pmatrix} S & U \\ U^T & -\delta I \end{pmatrix}.

As above, :math:`B \succeq \hat L \hat D \hat L^T` when the shift covers all errors. If at most p
pivots are negative, B has at most p negative eigenvalues, and p negative directions lie in its
lower block already. Since x and that block do not interact when :math:`U^T x = 0`, none is left
for x. No property of S on U is used, nor does U need to be orthogonal.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.rounding import UNIT, diagonal_units, gamma, in_units

# How small the lower block is, beside the curvature of the matrix along U.
_BORDERS = (1e-1, 1e-3, 1e-6)
_ATTEMPTS = 3
# Up to this order a Cholesky factorization of the whole matrix is as fast, and never grows: that
# without pivoting may, where a leading block is nearly singular, as on regular graphs.
_DENSE = 400
# Far above what underflow can add up to, far below anything that matters.
_UNDERFLOW = 1e-280


def is_verified_positive(matrix: Matrix, radius: Matrix, null: Matrix | None = None) -> bool:
    r"""Whether every S with :math:`|S - M| \le R` has x^T S x >= 0 for x orthogonal to ``null``."""
    n = matrix.shape[0]
    # Of a matrix that is positive on a face alone, the diagonal says little.
    units = diagonal_units(matrix) if null is None or null.shape[1] == 0 else None
    if units is not None:
        return is_verified_positive(in_units(matrix, units), in_units(radius, units))
    columns: Array = sp.csr_array((n, 0) if null is None else null).toarray()
    rounded = np.asarray(abs(radius).sum(axis=1)).ravel() * (1.0 + n * 4.0 * UNIT)
    if not sp.issparse(matrix) or n <= _DENSE or matrix.nnz > 0.2 * n**2:
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        return _is_positive_dense(dense, rounded, columns)
    # Powers of two leave the directions exactly as they are.
    columns = columns * np.exp2(-np.round(np.log2(np.linalg.norm(columns, axis=0).clip(1e-300))))
    inner = sp.csc_array(matrix)
    curvature = _curvature(inner, columns)
    borders = [f / curvature for f in _BORDERS] if columns.shape[1] else [0.0]
    return any(_is_positive_bordered(inner, rounded, columns, d) for d in borders)


def _curvature(matrix: Matrix, columns: Array) -> float:
    """Size of the matrix along the columns, to choose the border by; nothing depends on it."""
    along = np.abs(columns.T @ (matrix @ columns)).sum(axis=1)
    return max(float(np.max(along, initial=0.0)), 1e-12 * float(abs(matrix).max()), 1e-200)


def _is_positive_bordered(matrix: Matrix, rounded: Array, columns: Array, border: float) -> bool:
    p = columns.shape[1]
    lower = -border * np.ones(p)
    sides = sp.csc_array(columns)
    blocks = [[matrix, sides], [sides.T, sp.diags_array(lower)]] if p else [[matrix]]
    bordered = sp.block_array(blocks, format="csc")
    radius = np.concatenate([rounded, np.zeros(p)])
    sizes = np.asarray(abs(bordered).sum(axis=1)).ravel()
    shift = radius + 32.0 * UNIT * sizes
    for _ in range(_ATTEMPTS):
        try:
            factorization = LdlFactor(bordered - sp.diags_array(shift))
        except ArithmeticError:
            return False
        if factorization.n_negative > p:
            return False
        # Subtracting the shift rounds the diagonal once more.
        needed = radius + factorization.error_bound() + UNIT * (sizes + shift) + _UNDERFLOW
        if np.all(needed <= shift):
            return True
        shift = 2.0 * needed
    return False


def _is_positive_dense(matrix: Array, rounded: Array, columns: Array) -> bool:
    """By Cholesky of M + rho U U^T, which agrees with M where U^T x = 0."""
    n, p = columns.shape
    along = float(np.max(np.sum(columns**2, axis=0), initial=0.0))
    penalty = 10.0 * float(np.max(np.abs(matrix).sum(axis=1))) / along if along else 0.0
    outer = penalty * (columns @ columns.T)
    size = np.abs(matrix) + penalty * (np.abs(columns) @ np.abs(columns).T)
    radius = rounded + gamma(p + 4) * size.sum(axis=1) * 1.01
    shift = radius + 2.0 * UNIT * n * size.diagonal()
    for _ in range(_ATTEMPTS):
        try:
            root = np.abs(sl.cholesky(matrix + outer - np.diag(shift), lower=True))
        except np.linalg.LinAlgError:
            return False
        error = gamma(n + 4) * (root @ (root.T @ np.ones(n))) * 1.01
        needed = radius + error + UNIT * (size.diagonal() + shift) + _UNDERFLOW
        if np.all(needed <= shift):
            return True
        shift = 2.0 * needed
    return False
