r"""The matrices that Newton steps over a cone need, dense, or in blocks with a border."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import MOST_OPERATIONS, Effort, EffortSpentError
from sdpdr.linalg.svec import SQRT2, smat, svec, svec_pairs
from sdpdr.program.attain.bordered import Border, Bordered, Pattern, least_squares
from sdpdr.program.attain.cone import ConeProgram, Scaled

# Pairs of coefficients, for every row, up to which all products are formed at once: a row of its
# own takes as long as so many pairs.
_AT_ONCE = 6_000
# Rows whose images are multiplied at once.
_TOGETHER = 64
# What a system in blocks may take of the operations of a dense one.
_GAIN = 0.5
# From where on free scalars may be solved for first, and what holds those that cost nothing.
_COSTS, _HELD = 0.5, 1e-16
# How far a step goes towards the boundary of the cone.
SHARE = 0.9
# Least number of steps that get anywhere.
_LEAST_STEPS = 5
P = ParamSpec("P")
T = TypeVar("T")


def unless_lost(steps: Callable[P, T | None]) -> Callable[P, T | None]:
    """None where numbers overflow or a factorization breaks down, as from multipliers of 1e99."""

    @wraps(steps)
    def taken(*args: P.args, **kwargs: P.kwargs) -> T | None:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            try:
                return steps(*args, **kwargs)
            except np.linalg.LinAlgError:
                return None

    return taken


def finite(numbers: Array) -> Array:
    """The numbers themselves.

    Raises
    ------
    numpy.linalg.LinAlgError
        If one of them is none, before a factorization complains in other words.
    """
    if not np.isfinite(numbers).all():
        raise np.linalg.LinAlgError("numbers have overflowed")
    return numbers


@dataclass(frozen=True, eq=False)
class _Terms:
    """Coefficients of a block's rows in natural coordinates: row, i, j, weight of X_ij.

    With them the number of rows that have any.
    """

    row: Index
    i: Index
    j: Index
    weight: Array
    n_rows: int


class SchurSystem:
    r"""The matrices :math:`A\,(X \odot Z)\,A^T` with rows :math:`\langle A_e, X A_f Z\rangle`.

    Parameters
    ----------
    program : ConeProgram
    A : sparse array of shape (m, N)
        Its rows in the units of the caller.
    still : bool, default False
        Whether no free scalar moves, whatever it costs.

    Raises
    ------
    EffortSpentError
        If too few Newton steps could be made within a minute.
    """

    def __init__(self, program: ConeProgram, A: sp.csr_array, *, still: bool = False) -> None:
        self.program, self.A, self.m = program, A, A.shape[0]
        self._parts = [sp.csr_array(A[:, block.part]) for block in program.blocks]
        self._seen = [np.flatnonzero(np.diff(part.indptr)) for part in self._parts]
        self._scalars = A[:, program.nonnegative]
        self.free = A[:, program.free]
        curvature = program.curvature[program.free] * (not still)
        self._border = Border.of(self._scalars, self.free, curvature)
        self._pattern = Pattern.of(
            self.m, self._seen, self._border.rows_of_shared, self._border.rows_of_own
        )
        blocks = sum(
            10.0 * (rows.size + block.order) * block.order**2
            for rows, block in zip(self._seen, program.blocks, strict=True)
        )
        self._dense_step = (self.m + program.free.size) ** 3 / 3.0 + blocks
        in_blocks = self._pattern.operations(self._border.width) + blocks
        self._is_bordered = in_blocks < _GAIN * self._dense_step
        self._step = in_blocks if self._is_bordered else self._dense_step
        self._require(self._step)

    def _require(self, step: float) -> None:
        if _LEAST_STEPS * step > MOST_OPERATIONS:
            raise EffortSpentError(
                f"with {self.m} equations every Newton step takes some {step:.0e} operations"
            )

    def solve(self, x: Array, z: Array, corner: Array, right: Array) -> tuple[Array, Array] | None:
        r"""Solve :math:`A (X \odot Z) A^T w + F v = r, F^T w + D v = s` for w and v.

        F has the columns of free scalars.

        Parameters
        ----------
        x, z : arrays of shape (N,)
            In the interior of the cone.
        corner : array of shape (f,)
            The diagonal of D, negative.
        right : array of shape (m + f,)
            r and s.

        Returns
        -------
        w, v : arrays
            The shortest where rows depend on each other; None where numbers are lost.

        Raises
        ------
        EffortSpentError
            If all steps of this program together have taken too long.
        """
        finite(right)
        if self._is_bordered:
            w, v = self._by_blocks(x, z, corner, right)
            return (w, v) if np.isfinite(w).all() and np.isfinite(v).all() else None
        matrix = self.matrix(x, z)
        if np.all(corner <= -_COSTS):
            return self._eliminated(matrix, corner, right)
        columns = self.free.toarray()
        held = np.diag(corner - _HELD * np.max(np.diagonal(matrix), initial=0.0))
        joint = finite(np.block([[matrix, columns], [columns.T, held]]))
        found = least_squares(joint, right, self.program.effort)
        return found[: self.m], found[self.m :]

    def _eliminated(self, matrix: Array, corner: Array, right: Array) -> tuple[Array, Array] | None:
        """The solution where free scalars cost enough to be solved for first, or there are none."""
        lowered = self.free @ sp.diags_array(1.0 / corner)
        w = solve_symmetric(
            matrix - (lowered @ self.free.T).toarray(),
            right[: self.m] - lowered @ right[self.m :],
            self.program.effort,
        )
        return None if w is None else (w, (right[self.m :] - self.free.T @ w) / corner)

    def _by_blocks(self, x: Array, z: Array, corner: Array, right: Array) -> tuple[Array, Array]:
        effort = self.program.effort
        effort.spend(self._step)
        border, k = self._border, self.program.nonnegative
        weights = x[k] * z[k]
        own, shared = border.own_free, border.shared_free
        # Scalars of a row's own are solved for first, and shared ones last.
        lowered = self.free[:, own] @ sp.diags_array(1.0 / corner[own])
        alone = np.delete(np.arange(k.size), border.shared)
        scalars, held = self._scalars[:, alone], sp.diags_array(weights[alone])
        product = scalars @ held @ scalars.T - lowered @ self.free[:, own].T
        matrices = []
        for place, block in enumerate(self.program.blocks):
            X, Z = smat(x[block.part]), smat(z[block.part])
            rows = np.concatenate([self._pattern.own[place], self._pattern.others[place]])
            matrices.append(_image_products(self._parts[place][rows], X, Z, effort))
        least = _HELD * max([0.0, *(np.max(np.diagonal(M), initial=0.0) for M in matrices)])
        rest = self._pattern.rest
        system = Bordered(
            self._pattern,
            matrices,
            product.diagonal(),
            product[rest][:, rest].toarray(),
            sp.csr_array(sp.hstack([self.free[:, shared], self._scalars[:, border.shared]])),
            np.diag(np.concatenate([corner[shared] - least, -1.0 / weights[border.shared]])),
        )
        rows, of_free = right[: self.m], right[self.m :]
        found = np.concatenate([of_free[shared], np.zeros(border.shared.size)])
        w, last = system.solve(np.concatenate([rows - lowered @ of_free[own], found]), effort)
        v = np.zeros(corner.size)
        v[shared] = last[: shared.size]
        v[own] = (of_free[own] - self.free[:, own].T @ w) / corner[own]
        return w, v

    def matrix(self, x: Array, z: Array) -> Array:
        """Shape (m, m), for points x and z of the cone.

        Raises
        ------
        EffortSpentError
            If all steps of this program together have taken too long.
        """
        self._require(self._dense_step)
        self.program.effort.spend(self._dense_step)
        total = np.zeros((self.m, self.m))
        for block, part, rows in zip(self.program.blocks, self._parts, self._seen, strict=True):
            X, Z = smat(x[block.part]), smat(z[block.part])
            total[np.ix_(rows, rows)] += _image_products(part[rows], X, Z, self.program.effort)
        weights = x[self.program.nonnegative] * z[self.program.nonnegative]
        scalars = self._scalars
        total += (scalars @ sp.diags_array(weights) @ scalars.T).toarray()
        return (total + total.T) / 2.0

    def apply(self, x: Array, z: Array, u: Array) -> Array:
        r"""The vector of :math:`(X U Z + Z U X) / 2`, shape (N,); zero on free scalars."""
        image = np.zeros(u.size)
        for block in self.program.blocks:
            product = smat(x[block.part]) @ smat(u[block.part]) @ smat(z[block.part])
            image[block.part] = svec((product + product.T) / 2.0)
        k = self.program.nonnegative
        image[k] = x[k] * u[k] * z[k]
        return image


def solve_symmetric(matrix: Array, right: Array, effort: Effort) -> Array | None:
    """Least squares where rows depend on each other; None where numbers are lost.

    Raises
    ------
    EffortSpentError
        If least squares, which take some ten times as long, take too long.
    """
    if not right.size:
        return np.zeros(0)  # which older versions of SciPy refuse
    diagonal = np.diagonal(matrix)
    # A row of zeros, 0 = 0, has no size.
    scale = 1.0 / np.sqrt(np.where(diagonal > 1e-300, diagonal, 1.0))
    scaled = finite(matrix * scale[:, None] * scale[None, :])
    finite(right)
    try:
        root = sl.cho_factor(scaled + 1e-15 * np.eye(right.size), lower=True)
    except np.linalg.LinAlgError:
        effort.spend(float(right.size) ** 3)
        values, vectors = np.linalg.eigh(scaled)
        known = values > 1e-14 * values[-1]
        part = vectors[:, known]
        return np.asarray(scale * (part @ ((part.T @ (scale * right)) / values[known])))
    found = scale * sl.cho_solve(root, scale * right)
    found += scale * sl.cho_solve(root, scale * (right - matrix @ found))
    return np.asarray(found) if np.isfinite(found).all() else None


def _image_products(part: sp.csr_array, X: Array, Z: Array, effort: Effort) -> Array:
    r"""The matrix of :math:`\langle A_e, X A_f Z\rangle` for the rows of a block."""
    terms = _natural(part)
    if terms.weight.size**2 <= _AT_ONCE * terms.n_rows:
        return _at_once(terms, X, Z, part.shape[0])
    return _row_by_row(part, terms, X, Z, effort)


def _natural(part: sp.csr_array) -> _Terms:
    entries = part.tocoo()
    i, j = svec_pairs(entries.col)
    # Each entry off the diagonal stands for two of the symmetric matrix of the row.
    weight = np.where(i == j, entries.data, entries.data / SQRT2)
    return _Terms(entries.row, i, j, weight, np.unique(entries.row).size)


def _at_once(terms: _Terms, X: Array, Z: Array, m: int) -> Array:
    i, j = terms.i, terms.j
    both = X[np.ix_(i, i)] * Z[np.ix_(j, j)] + X[np.ix_(i, j)] * Z[np.ix_(j, i)]
    both += Z[np.ix_(i, i)] * X[np.ix_(j, j)] + Z[np.ix_(i, j)] * X[np.ix_(j, i)]
    scale = np.where(i == j, 0.5, 1.0) * terms.weight
    gather = sp.csr_array((scale, (terms.row, np.arange(i.size))), shape=(m, i.size))
    return np.asarray(gather @ (gather @ both).T)


def _row_by_row(part: sp.csr_array, terms: _Terms, X: Array, Z: Array, effort: Effort) -> Array:
    m = part.shape[0]
    total = np.zeros((m, m))
    starts = np.searchsorted(terms.row, np.arange(m + 1))
    rows = np.flatnonzero(np.diff(starts))
    for chosen in np.array_split(rows, max(1, rows.size // _TOGETHER)):
        effort.spend()
        images = np.empty((part.shape[1], chosen.size))
        for k, e in enumerate(chosen):
            images[:, k] = svec(_image(terms, slice(starts[e], starts[e + 1]), X, Z))
        total[:, chosen] = part @ images
    return total


def _image(terms: _Terms, part: slice, X: Array, Z: Array) -> Array:
    """The symmetric part of X A Z, of the symmetric A of one row."""
    i, j, weight = terms.i[part], terms.j[part], terms.weight[part]
    off = i != j
    left, right = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    product = (X[:, left] * np.concatenate([weight, weight[off]])) @ Z[right]
    return np.asarray((product + product.T) / 2.0)


def longest_step(program: ConeProgram, x: Array, step: Array) -> float:
    """The largest t with x + t step in the cone, for x in its interior; at most infinity."""
    least = 0.0
    for block in program.blocks:
        root = sl.cholesky(smat(finite(x[block.part])), lower=True)
        inner = sl.solve_triangular(root, smat(finite(step[block.part])), lower=True)
        inner = sl.solve_triangular(root, finite(inner).T, lower=True)
        lowest = sl.eigh(finite(inner + inner.T) / 2.0, eigvals_only=True, subset_by_index=[0, 0])
        least = min(least, float(lowest[0]))
    k = program.nonnegative
    least = min(least, float(np.min(step[k] / x[k], initial=0.0)))
    return np.inf if least >= 0.0 else -1.0 / least


def inverse(program: ConeProgram, x: Array) -> Array:
    """The inverse of a point of the cone, block by block."""
    found = np.zeros(x.size)
    for block in program.blocks:
        root = sl.cho_factor(smat(finite(x[block.part])), lower=True)
        found[block.part] = svec(sl.cho_solve(root, np.eye(block.order)))
    found[program.nonnegative] = 1.0 / x[program.nonnegative]
    return found


# Operations of a factorization that takes a second or less.
_OPERATIONS = 5e8
_STEPS = 4
# Rows of this size beside the largest, after scaling, depend on others.
_DEPENDENT = 1e-14


def onto_equations(program: ConeProgram, scaled: Scaled, y: Array) -> Array:
    """The point moved as near to the equations as rounding lets it, within the cone.

    Parameters
    ----------
    program : ConeProgram
    scaled : Scaled
        Its equations in the units of the point.
    y : array of shape (N,)
        In the interior of the cone. Returned as it is where the program is too large.
    """
    operations = scaled.b.size**2 * float(y.size)
    if operations > _OPERATIONS:
        return y
    missed = np.inf
    for _ in range(_STEPS):
        residual = scaled.b - scaled.A @ y
        before, missed = missed, float(np.max(np.abs(residual), initial=0.0))
        if not 0.0 < missed < 0.5 * before:
            return y
        program.effort.spend(operations)
        step = _shortest(program, scaled, y, residual)
        y = y + min(1.0, SHARE * longest_step(program, y, step)) * step
    return y


def _shortest(program: ConeProgram, scaled: Scaled, y: Array, residual: Array) -> Array:
    rows = np.array(scaled.A.toarray())
    rows[:, program.nonnegative] *= y[program.nonnegative]
    roots = [sl.cholesky(smat(finite(y[block.part])), lower=True) for block in program.blocks]
    for block, root in zip(program.blocks, roots, strict=True):
        rows[:, block.part] = [svec(root.T @ smat(row) @ root) for row in rows[:, block.part]]
    sizes = np.linalg.norm(rows, axis=1)
    sizes[sizes == 0.0] = 1.0
    rows, right = finite(rows / sizes[:, None]), finite(residual / sizes)
    step = sl.lstsq(rows, right, cond=_DEPENDENT, lapack_driver="gelsy")[0]
    step[program.nonnegative] *= y[program.nonnegative]
    for block, root in zip(program.blocks, roots, strict=True):
        step[block.part] = svec(root @ smat(step[block.part]) @ root.T)
    return np.asarray(step)
