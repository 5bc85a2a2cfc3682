r"""Preconditioners for the conjugate gradients of the inner loop.

*Blocks*, for any size: for every point the r x r diagonal block of the second derivative,
:math:`(2 |S_{ii}| + \epsilon) I + \sigma \sum_e g_{ei} g_{ei}^T`.

*Saddle*, for matrices of a few thousand rows: the second derivative itself with the dual slack
shifted until it is positive definite, :math:`P = (2 S + \epsilon I) \otimes I_r + \sigma J^T J`.
With G the inverse of the first term, applied to each column of the factor alone,

.. math:: P^{-1} = G - G J^T (\sigma^{-1} I + J G J^T)^{-1} J G,

which costs one dense inverse of order n and one Cholesky factorization of order m.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian

Solve = Callable[[Array], Array]

# Share of the typical diagonal that keeps the blocks positive definite.
_FLOOR = 1e-3
# Largest matrices that are worth a dense inverse; most rows, and most pairs of row and point.
_LARGEST_ORDER, _MOST_ROWS, _MOST_PAIRS = 3000, 4000, 6000


def block_preconditioner(hessian: Hessian) -> Solve:
    """Inverse of the diagonal blocks, in the faces."""
    local, layout = hessian.local, hessian.local.function.layout
    factors, _ = layout.split(local.vector)
    inverses = [
        np.linalg.inv(diagonal_blocks(hessian, jacobian, factor, slack.diagonal()))
        for jacobian, slack, factor in zip(hessian.jacobians, local.slacks, factors, strict=True)
    ]
    on_free = 1.0 / _free_diagonal(hessian)

    def solve(vector: Array) -> Array:
        parts, free = layout.split(layout.project(vector))
        done = [np.matmul(v, p[:, :, None])[:, :, 0] for v, p in zip(inverses, parts, strict=True)]
        return layout.project(layout.join(done, free * on_free))

    return solve


def diagonal_blocks(hessian: Hessian, jacobian: Jacobian, factor: Array, diagonal: Array) -> Array:
    """The r x r blocks of the second derivative, positive definite, for every point of a factor.

    Parameters
    ----------
    hessian : Hessian
    jacobian : Jacobian
        Jacobian of the rows by the matrix variable.
    factor : array of shape (n, r)
    diagonal : array of shape (n,)
        Diagonal of its dual slack.

    Returns
    -------
    array of shape (n, r, r)
    """
    n, r = factor.shape
    blocks = np.zeros((n, r, r))
    blocks += _outer_products(jacobian, factor, hessian.kept)
    blocks *= hessian.local.function.penalty
    curved = 2.0 * np.abs(diagonal)
    typical = float(np.mean(curved)) + float(np.einsum("iaa->", blocks)) / (n * r)
    curved = np.maximum(curved, _FLOOR * typical + np.finfo(float).eps)
    blocks[:, np.arange(r), np.arange(r)] += curved[:, None]
    return blocks


def _outer_products(jacobian: Jacobian, factor: Array, kept: NDArray[np.bool_]) -> Array:
    """The sum of g g^T over all rows of a point, for every point; shape (n, r, r).

    Where a row ties a point to one other, as an entry of K does, :math:`g = a R_j`, and all sums
    are one sparse matrix times the outer products of the points.
    """
    n, r = factor.shape
    total = np.zeros((n, r, r))
    single = kept[jacobian.row] & jacobian.is_single
    if single.any():
        row, other, number = jacobian.singles(single)
        weights = sp.csr_array((np.square(number), (row, other)), shape=(n, n))
        outer = (factor[:, :, None] * factor[:, None, :]).reshape(n, r * r)
        total += np.asarray(weights @ outer).reshape(n, r, r)
    others = kept[jacobian.row] & ~jacobian.is_single
    if others.any():
        point, g = jacobian.point[others], jacobian.vectors(factor)[others]
        order = np.argsort(point, kind="stable")
        present, first = np.unique(point[order], return_index=True)
        products = g[order][:, :, None] * g[order][:, None, :]
        total[present] += np.add.reduceat(products, first, axis=0)
    return total


def _free_diagonal(hessian: Hessian) -> Array:
    problem, sigma = hessian.local.function.layout.problem, hessian.local.function.penalty
    squares = np.asarray(hessian.free.multiply(hessian.free).sum(axis=0)).ravel()
    diagonal = problem.curvature + sigma * squares
    return np.maximum(diagonal, _FLOOR * np.max(diagonal, initial=0.0) + np.finfo(float).eps)


def saddle_cost(hessian: Hessian) -> float:
    """Cost of the saddle preconditioner in multiplications; infinite where it is too large.

    Those of dense factorizations and products count a tenth, since they run at the speed of BLAS.
    """
    shapes = hessian.local.function.layout.shapes
    m = hessian.local.function.layout.problem.m
    pairs = [jacobian.row.size for jacobian in hessian.jacobians]
    if max(n for n, _ in shapes) > _LARGEST_ORDER or m > _MOST_ROWS or max(pairs) > _MOST_PAIRS:
        return float("inf")
    if any(jacobian.has_forms for jacobian in hessian.jacobians):
        return float("inf")
    products = sum(q**2 * (r + 10) for q, (_, r) in zip(pairs, shapes, strict=True))
    return 0.1 * (sum(n**3 for n, _ in shapes) + m**3 / 3 + products)


def saddle_preconditioner(hessian: Hessian, shift: float) -> Solve:
    """Inverse of the second derivative with the dual slack shifted to be positive definite.

    Parameters
    ----------
    hessian : Hessian
    shift : float
        First shift to try, relative to the size of the dual slack.
    """
    local, layout = hessian.local, hessian.local.function.layout
    blocks = zip(local.slacks, layout.problem.blocks, strict=True)
    inverses = [_shifted_inverse(slack.toarray(), block.face, shift) for slack, block in blocks]
    # Where free scalars have no curvature of their own, the rows alone determine them.
    on_free = 1.0 / np.maximum(layout.problem.curvature, shift * _free_diagonal(hessian))
    active = np.flatnonzero(hessian.kept)
    free = hessian.free[active].toarray()
    schur = free @ (on_free[:, None] * free.T)
    schur[np.diag_indices_from(schur)] += 1.0 / local.function.penalty
    factors, _ = layout.split(local.vector)
    for jacobian, inverse, factor in zip(hessian.jacobians, inverses, factors, strict=True):
        _add_schur(schur, jacobian, inverse, factor, active)
    # Where rows nearly repeat each other, rounding must not make the sum of products indefinite.
    blur = 10.0 * len(schur) * np.finfo(float).eps * np.max(schur.diagonal(), initial=0.0)
    schur[np.diag_indices_from(schur)] += blur
    factor = sl.cho_factor(schur, overwrite_a=True, check_finite=False)

    def first(vector: Array) -> Array:
        parts, free = layout.split(vector)
        return layout.join([g @ p for g, p in zip(inverses, parts, strict=True)], on_free * free)

    def solve(vector: Array) -> Array:
        one = first(vector)
        if not active.size:
            return one
        weights = np.zeros(layout.problem.m)
        right = hessian.derivative(one)[active]
        weights[active] = sl.cho_solve(factor, right, check_finite=False)
        return one - first(hessian.adjoint(weights))

    return solve


def _add_schur(
    schur: Array, jacobian: Jacobian, inverse: Array, factor: Array, active: Index
) -> None:
    """Add J G J^T: the sum over pairs (e, i), (f, j) of G_ij times g_ei . g_fj."""
    place = np.full(jacobian.m, -1)
    place[active] = np.arange(active.size)
    row = place[jacobian.row]
    kept = row >= 0
    row, point, g = row[kept], jacobian.point[kept], jacobian.vectors(factor)[kept]
    if not row.size:
        return
    products = (g @ g.T) * inverse[np.ix_(point, point)]
    present, first = np.unique(row, return_index=True)
    if present.size < row.size:
        products = np.add.reduceat(np.add.reduceat(products, first, axis=0), first, axis=1)
    schur[np.ix_(present, present)] += products


def _shifted_inverse(slack: Array, face: Array, shift: float) -> Array:
    """Inverse of twice the slack plus a shift on the complement of the face, zero on the face."""
    # In scaled units; the inverse of less would not be finite where the slack vanishes.
    size = 2.0 * float(np.abs(slack).max()) + np.finfo(float).eps
    matrix = 2.0 * slack
    if face.shape[1]:
        beside = matrix - face @ (face.T @ matrix)
        matrix = beside - (beside @ face) @ face.T + size * (face @ face.T)
    while True:
        try:
            shifted = matrix + shift * size * np.eye(len(matrix))
            lower = sl.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            shift *= 10.0
            continue
        half = sl.lapack.dpotri(lower, lower=1, overwrite_c=1)[0]
        inverse = half + half.T
        inverse[np.diag_indices_from(inverse)] *= 0.5
        return np.asarray(inverse - face @ face.T / (size * (1.0 + shift)))
