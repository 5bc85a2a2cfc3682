"""The smallest eigenvalues of a symmetric matrix: dense, sparse or sparse plus low rank."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg.inertia import RestrictedFactor, is_positive_on
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.spectral import complement

DENSE_ORDER = 400
# Order above which a dense pencil takes many minutes.
_LARGEST_DENSE = 5000
# Relative distances of the shift below the expected smallest eigenvalue, tried in turn.
_BELOW = (1e-6, 1e-3, 0.1)
# Large entries leave noise in the solves, and a tighter tolerance would not be met; the error of
# the eigenvalue is still about the square of the tolerance.
_TOLERANCES = (1e-10, 1e-7, 1e-5)
# Restarts if several eigenvalues are requested: far from an optimum they may be many and close
# together. Those found by then are returned.
_RESTARTS = 30
# Relative size of the matrix along excluded directions from which it can be factored without them.
_APART = 1e-9


def lu(matrix: sp.csc_array, **options: Any) -> spl.SuperLU:
    """Sparse LU factorization, with the options of SciPy's ``splu``."""
    try:
        return spl.splu(matrix, **options)
    except RuntimeError as error:
        raise ArithmeticError(f"the matrix is singular: {error}") from None


# Size of border entries relative to the diagonal, and the smallest diagonal entry that may be a
# pivot, relative to its column.
_BORDER, _PIVOT = 1e-8, 1e-4
_REFINEMENTS = 2


def bordered_lu(matrix: sp.csc_array, n: int) -> Callable[[Array], Array]:
    """A solver for a symmetric sparse matrix whose rows and columns from n on may be full."""
    scale = np.ones(matrix.shape[0])
    if n < matrix.shape[0]:
        size = max(float(np.abs(matrix.diagonal()[:n]).max()), np.finfo(float).tiny)
        border = abs(matrix[:n, n:]).max(axis=0).toarray().ravel()
        scale[n:] = _BORDER * size / np.where(border > 0.0, border, size)
    scaling = sp.diags_array(scale)
    factor = lu(
        sp.csc_array(scaling @ matrix @ scaling),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=_PIVOT,
        options={"SymmetricMode": True},
    )

    def solve(right: Array) -> Array:
        weights = scale if right.ndim == 1 else scale[:, None]
        x = weights * factor.solve(weights * right)
        for _ in range(_REFINEMENTS):
            x = x + weights * factor.solve(weights * (right - matrix @ x))
        return np.asarray(x)

    return solve


def lowest_eigenpairs(matrix: Array, count: int) -> tuple[Array, Array]:
    """The lowest eigenvalues of a dense symmetric matrix, ascending, and their eigenvectors."""
    try:
        values, vectors = sl.eigh(matrix, subset_by_index=[0, count - 1])
    except np.linalg.LinAlgError:
        values, vectors = sl.eigh(matrix, driver="evd")
    return np.asarray(values[:count]), np.asarray(vectors[:, :count])


def smallest_eigenvalue(
    matrix: Matrix,
    null: Matrix | None = None,
    mass: Matrix | None = None,
    near: float | None = None,
) -> tuple[float, Array]:
    """Smallest eigenvalue of ``matrix x = t mass x`` among x orthogonal to ``null``."""
    n = matrix.shape[0]
    if isinstance(mass, Outer) and sp.issparse(matrix):
        matrix = Outer(matrix, np.zeros((n, 0)), np.zeros(0))
    if isinstance(matrix, Outer):
        unlike = mass is not None and not (sp.issparse(mass) or isinstance(mass, Outer))
        if unlike and n > _LARGEST_DENSE:
            raise ArithmeticError(f"a pencil of dense matrices of order {n} is too large")
        if n <= DENSE_ORDER or unlike or not matrix.stays_apart:
            return _smallest_dense(matrix.toarray(), null, mass)
        return _smallest_apart(matrix, sp.csr_array((n, 0)) if null is None else null, mass)
    if n <= DENSE_ORDER or not sp.issparse(matrix):
        return _smallest_dense(matrix, null, mass)
    return _smallest_sparse(matrix, null, mass, near)


def smallest_eigenvalues(
    matrix: sp.csr_array | Outer, null: Matrix, count: int
) -> tuple[Array, Array]:
    """Several of the smallest eigenvalues of a sparse matrix among x orthogonal to ``null``."""
    n, columns = matrix.shape[0], sp.csr_array(null)
    identity = sp.eye_array(n, format="csr")
    if isinstance(matrix, Outer):
        values, vectors = _inverted_apart(matrix, columns.toarray(), identity, count)
    else:
        shift, factor = _shift_below(matrix, identity, columns)
        solve, apart = _inverse_on(matrix - shift * identity, columns, factor)
        values, vectors = _inverted(matrix, identity, apart, shift, solve, _TOLERANCES, count)
    order = np.argsort(values)
    return values[order], vectors[:, order]


def _smallest_dense(
    matrix: Matrix, null: Matrix | None, mass: Matrix | None
) -> tuple[float, Array]:
    basis = complement(sp.csr_array((matrix.shape[0], 0)) if null is None else null)
    reduced = basis.T @ (matrix @ basis)
    weight = None if mass is None else basis.T @ (mass @ basis)
    if basis.shape[1] == 0:
        return np.inf, np.zeros(matrix.shape[0])
    try:
        values, vectors = sl.eigh(reduced, weight, subset_by_index=[0, 0])
    except (np.linalg.LinAlgError, ValueError) as error:
        text = f"the pencil has no eigenvalues to working precision: {error}"
        raise ArithmeticError(text) from None
    if values.size == 0:
        raise ArithmeticError("the pencil has no finite eigenvalues")
    return float(values[0]), basis @ vectors[:, 0]


def _smallest_sparse(
    matrix: Matrix, null: Matrix | None, mass: Matrix | None, near: float | None
) -> tuple[float, Array]:
    n = matrix.shape[0]
    identity = sp.eye_array(n, format="csr") if mass is None else sp.csr_array(mass)
    columns = sp.csr_array((n, 0)) if null is None else sp.csr_array(null)
    if near is not None:
        found = _smallest_near(sp.csr_array(matrix), identity, columns, near)
        if found is not None:
            return found
    shift, factor = _shift_below(sp.csr_array(matrix), identity, columns)
    solve, apart = _inverse_on(matrix - shift * identity, columns, factor)
    return _first(*_inverted(matrix, identity, apart, shift, solve, _TOLERANCES))


def _smallest_near(
    matrix: sp.csr_array, mass: sp.csr_array, null: sp.csr_array, near: float
) -> tuple[float, Array] | None:
    """The smallest eigenvalue and its vector, in few factorizations; None if far below ``near``."""
    columns = null.toarray()
    for below in _BELOW:
        shift = near - abs(near) * below
        try:
            factor = RestrictedFactor(matrix - shift * mass, columns)
        except ArithmeticError:
            continue
        if factor.is_positive:
            return _first(*_inverted(matrix, mass, columns, shift, factor.solve, (1e-8,)))
    return None


def _smallest_apart(matrix: Outer, null: Matrix, mass: Matrix | None) -> tuple[float, Array]:
    if not isinstance(mass, Outer):
        mass = sp.eye_array(matrix.shape[0], format="csr") if mass is None else sp.csr_array(mass)
    return _first(*_inverted_apart(matrix, null.toarray() if sp.issparse(null) else null, mass))


def _inverted_apart(
    matrix: Outer, columns: Array, mass: Matrix, count: int = 1
) -> tuple[Array, Array]:
    """The lowest eigenpairs of a pencil of matrices that are sparse plus outer products."""
    n = matrix.shape[0]
    shift, _ = _shift_below(matrix, mass, sp.csr_array(columns))
    shifted = matrix - shift * mass
    beside = shifted.padded(columns)
    solve = _corner_of_inverse([[shifted.bordered(), beside], [beside.T, None]], n)
    operator = spl.LinearOperator((n, n), matvec=lambda x: matrix @ np.ravel(x), dtype=float)
    return _inverted(operator, mass, columns, shift, solve, _TOLERANCES, count)


def _shift_below(
    matrix: Matrix, mass: Matrix, null: sp.csr_array
) -> tuple[float, RestrictedFactor | None]:
    """A number just below the smallest eigenvalue of the pencil, or just below zero."""
    scale = float(np.max(np.abs(matrix.diagonal()) / np.abs(mass.diagonal()).clip(1e-300)))
    shift, above = -1e-10 * max(scale, 1e-300), 0.0
    while True:
        positive, factor = _is_positive(matrix - shift * mass, null)
        if positive:
            break
        shift, above = 10.0 * shift, shift
        if not np.isfinite(shift):
            raise ArithmeticError("the mass must be positive definite on the complement of null")
    while above and shift < 1.2 * above:
        middle = -float(np.sqrt(shift * above))
        positive, other = _is_positive(matrix - middle * mass, null)
        if positive:
            shift, factor = middle, other
        else:
            above = middle
    return shift, factor


def _is_positive(matrix: Matrix, null: sp.csr_array) -> tuple[bool, RestrictedFactor | None]:
    """Whether a matrix is positive orthogonal to ``null``; its factorization if null is empty."""
    if isinstance(matrix, Outer) or null.shape[1]:
        return is_positive_on(matrix, null), None
    try:
        factor = RestrictedFactor(matrix, np.zeros((matrix.shape[0], 0)))
    except ArithmeticError:
        return False, None
    return factor.is_positive, factor


def _first(values: Array, vectors: Array) -> tuple[float, Array]:
    """The first eigenvalue and its vector."""
    return float(values[0]), vectors[:, 0]


def _inverse_on(
    shifted: Matrix, null: sp.csr_array, factor: RestrictedFactor | None
) -> tuple[Callable[[Array], Array], Array]:
    """The inverse of a matrix on the complement of ``null``, and columns still to project out."""
    n, p = null.shape
    if factor is not None:
        return factor.solve, np.zeros((n, 0))
    columns, matrix = null.toarray(), sp.csr_array(shifted)
    along = np.linalg.norm(matrix @ columns, axis=0) / np.linalg.norm(columns, axis=0)
    # If the columns nearly are in the kernel of the matrix, solutions along them lose their digits.
    if np.all(along > _APART * np.max(np.abs(matrix.diagonal()))):
        with suppress(ArithmeticError):
            return RestrictedFactor(matrix, columns).solve, columns
    return _corner_of_inverse([[matrix, null], [null.T, None]] if p else [[matrix]], n), columns


def _corner_of_inverse(blocks: list[list[Any]], n: int) -> Callable[[Array], Array]:
    """The leading block, of order n, of the inverse of a sparse matrix."""
    bordered = sp.block_array(blocks, format="csc")
    solve = bordered_lu(bordered, n)

    def inverse(x: Array) -> Array:
        right = np.zeros(bordered.shape[0])
        right[:n] = np.ravel(x)
        return np.asarray(solve(right)[:n])

    return inverse


def _inverted(
    matrix: Matrix,
    mass: Matrix,
    null: Array,
    shift: float,
    inverse: Callable[[Array], Array],
    tolerances: tuple[float, ...],
    count: int = 1,
) -> tuple[Array, Array]:
    """Eigenpairs by a Lanczos iteration with the inverse of ``matrix - shift mass``."""
    n = matrix.shape[0]
    q = np.linalg.qr(null)[0]

    def weigh(x: Array) -> Array:
        # The identity on null: a mass that vanishes there would let rounding errors grow.
        x = np.ravel(x)
        image = mass @ (x - q @ (q.T @ x))
        return np.asarray(image - q @ (q.T @ (image - x)))

    operator = spl.LinearOperator((n, n), matvec=inverse, dtype=float)
    weight = spl.LinearOperator((n, n), matvec=weigh, dtype=float)
    start = inverse(np.random.default_rng(0).standard_normal(n))
    count = min(count, n - null.shape[1] - 1)
    for tol in tolerances:
        try:
            values, vectors = spl.eigsh(
                spl.aslinearoperator(matrix),
                k=max(count, 1),
                M=weight,
                sigma=shift,
                OPinv=operator,
                v0=start,
                tol=tol,
                maxiter=_RESTARTS if count > 1 else None,
            )
        except spl.ArpackNoConvergence as partial:
            values, vectors = partial.eigenvalues, partial.eigenvectors
        except spl.ArpackError:
            continue
        if len(values):
            return np.asarray(values), np.asarray(vectors)
    return np.array([shift]), np.zeros((n, 1))
