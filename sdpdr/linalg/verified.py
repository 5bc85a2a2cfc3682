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

*The border.* Outer products stay apart: :math:`S + F \operatorname{diag}(w) F^T` is the Schur
complement of the lower right block of

.. math::  B = \begin{pmatrix} S & F \\ F^T & -\operatorname{diag}(w)^{-1} \end{pmatrix},

so that by Haynsworth's additivity it is positive semidefinite if B has no more negative eigenvalues
than w has positive entries. To prove :math:`x^T S x \ge 0` for all x orthogonal to the columns of
U, add any multiple of :math:`U U^T`. To a dense matrix, first add some :math:`U V^T + V U^T` that
makes it vanish on U. No property of S on U is used, nor does U need to be orthogonal.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import UNIT, diagonal_units, gamma, in_units, near_powers

# The multiples of U U^T that are added, relative to the curvature of the matrix along U.
_PENALTIES = (1e2, 1e6)
_ATTEMPTS = 3
# Up to this order a dense Cholesky factorization is as fast, and its entries never grow. Those of a
# sparse factorization without pivoting may, if a leading block is nearly singular, as on regular
# graphs.
DENSE = 400
# Far above the sum of all underflow errors, and far below anything that matters.
_UNDERFLOW = 1e-280


def is_verified_positive(matrix: Matrix, radius: Matrix, null: Matrix | None = None) -> bool:
    r"""Whether every S with :math:`|S - M| \le R` has x^T S x >= 0 for x orthogonal to ``null``.

    Parameters
    ----------
    matrix : array, sparse array or Outer of shape (n, n)
        M, symmetric. The products of an `Outer` are exact, the radius is that of its sparse part.
    radius : array or sparse array of shape (n, n)
    null : sparse array of shape (n, p), optional
    """
    n = matrix.shape[0]
    U: Array = sp.csr_array((n, 0) if null is None else null).toarray()
    F, weights = np.zeros((n, 0)), np.zeros(0)
    if isinstance(matrix, Outer):
        seen = matrix.weights != 0.0
        matrix, F, weights = matrix.sparse, matrix.columns[:, seen], matrix.weights[seen]
    # Units from the diagonal help only if the matrix alone is positive, on the whole space.
    units = None if U.shape[1] or F.shape[1] else diagonal_units(matrix)
    if units is not None:
        return is_verified_positive(in_units(matrix, units), in_units(radius, units))
    rounded = np.asarray(abs(radius).sum(axis=1)).ravel() * (1.0 + n * 4.0 * UNIT)
    # Powers of two leave the directions exactly as they are.
    U = U / near_powers(np.linalg.norm(U, axis=0).clip(1e-300))
    if not sp.issparse(matrix) or n <= DENSE or matrix.nnz > 0.2 * n**2:
        dense = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)
        return _is_positive_dense(dense, rounded, F, weights, U)
    inner = sp.csc_array(matrix)
    curvature = _curvature(inner, U)
    for penalty in _PENALTIES[: None if U.shape[1] else 1]:
        added = np.append(weights, np.full(U.shape[1], penalty * curvature))
        if _is_positive_bordered(inner, rounded, np.hstack([F, U]), added):
            return True
    return False


def _curvature(matrix: Matrix, columns: Array) -> float:
    """Size of the matrix along the columns, for the choice of penalties; no proof depends on it."""
    along = np.abs(columns.T @ (matrix @ columns)).sum(axis=1)
    return max(float(np.max(along, initial=0.0)), 1e-12 * float(abs(matrix).max()), 1e-200)


def _is_positive_bordered(matrix: Matrix, rounded: Array, F: Array, weights: Array) -> bool:
    """Whether the inertia of B proves M + F diag(w) F^T positive, with powers of two as units."""
    p = weights.size
    units = near_powers(np.sqrt(np.abs(weights) * float(abs(matrix).max() or 1.0)))
    # Rounded so that outer products add at most, and subtract at least, what the weights say.
    lower = -(units**2) / weights * (1.0 + 4.0 * UNIT * np.sign(weights))
    sides = sp.csc_array(F * units)
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
        if factorization.n_negative > np.sum(weights > 0.0):
            return False
        # Subtracting the shift rounds the diagonal once more.
        needed = radius + factorization.error_bound() + UNIT * (sizes + shift) + _UNDERFLOW
        if np.all(needed <= shift):
            return True
        shift = 2.0 * needed
    return False


def _is_positive_dense(matrix: Array, rounded: Array, F: Array, weights: Array, U: Array) -> bool:
    """Whether a Cholesky factorization of M + F diag(w) F^T plus terms in U proves positivity."""
    n, p = F.shape[0], F.shape[1] + 3 * U.shape[1]
    outer = (F * weights) @ F.T
    size = np.abs(matrix) + (np.abs(F) * np.abs(weights)) @ np.abs(F).T
    if U.shape[1]:
        V, penalty = _decoupling(matrix + outer, U), float(np.mean(size.diagonal()))
        outer = outer + (U @ V.T + V @ U.T) + penalty * (U @ U.T)
        crossed = np.abs(U) @ np.abs(V).T
        size = size + crossed + crossed.T + penalty * (np.abs(U) @ np.abs(U).T)
    radius = rounded + gamma(p + 6) * size.sum(axis=1) * 1.01
    shift = radius + 2.0 * UNIT * n * size.diagonal()
    for _ in range(_ATTEMPTS):
        try:
            root = np.abs(sl.cholesky(matrix + outer - np.diag(shift), lower=True))
        except (np.linalg.LinAlgError, ValueError):
            return False
        error = gamma(n + 4) * (root @ (root.T @ np.ones(n))) * 1.01
        needed = radius + error + UNIT * (size.diagonal() + shift) + _UNDERFLOW
        if np.all(needed <= shift):
            return True
        shift = 2.0 * needed
    return False


def _decoupling(matrix: Array, U: Array) -> Array:
    """V with (M + U V^T + V U^T) U = 0 approximately; no proof depends on the accuracy."""
    Q, R = np.linalg.qr(U)
    image = matrix @ Q
    away = 0.5 * Q @ (Q.T @ image) - image
    return np.asarray(np.linalg.lstsq(R, away.T, rcond=None)[0].T)
