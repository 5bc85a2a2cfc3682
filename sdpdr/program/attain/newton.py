r"""The matrices that Newton steps over a cone need, dense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, smat, svec, svec_pairs
from sdpdr.program.attain.basis import LIMIT, EffortSpentError
from sdpdr.program.attain.cone import ConeProgram, Scaled

# Pairs of coefficients, for every row, up to which all products are formed at once: a row of its
# own takes as long as so many pairs.
_AT_ONCE = 6_000
# Rows whose images are multiplied at once.
_TOGETHER = 64
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


class Schur:
    r"""The matrices :math:`A\,(X \odot Z)\,A^T` with rows :math:`\langle A_e, X A_f Z\rangle`.

    Parameters
    ----------
    program : ConeProgram
    A : sparse array of shape (m, N)
        Its rows in the units of the caller.

    Raises
    ------
    EffortSpentError
        If too few Newton steps could be made within a minute.
    """

    def __init__(self, program: ConeProgram, A: sp.csr_array) -> None:
        m = A.shape[0]
        blocks = sum(10.0 * (m + block.order) * block.order**2 for block in program.blocks)
        self._step = m**3 / 3.0 + blocks
        if _LEAST_STEPS * self._step > LIMIT:
            raise EffortSpentError(
                f"with {m} equations every Newton step takes some {self._step:.0e} operations"
            )
        self.program, self.A = program, A
        self._parts = [sp.csr_array(A[:, block.part]) for block in program.blocks]
        self._terms = [_natural(part) for part in self._parts]
        self._scalars = A[:, program.nonnegative]
        self.free = A[:, program.free]

    def matrix(self, x: Array, z: Array) -> Array:
        """Shape (m, m), for points x and z of the cone.

        Raises
        ------
        EffortSpentError
            If all steps of this program together have taken too long.
        """
        self.program.effort.spend(self._step)
        m = self.A.shape[0]
        total = np.zeros((m, m))
        for block, part, terms in zip(self.program.blocks, self._parts, self._terms, strict=True):
            X, Z = smat(x[block.part]), smat(z[block.part])
            if terms.weight.size**2 <= _AT_ONCE * terms.n_rows:
                total += _at_once(terms, X, Z, m)
            else:
                total += _row_by_row(part, terms, X, Z)
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


def _row_by_row(part: sp.csr_array, terms: _Terms, X: Array, Z: Array) -> Array:
    m = part.shape[0]
    total = np.zeros((m, m))
    starts = np.searchsorted(terms.row, np.arange(m + 1))
    rows = np.flatnonzero(np.diff(starts))
    for chosen in np.array_split(rows, max(1, rows.size // _TOGETHER)):
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
