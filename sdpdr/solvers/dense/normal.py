r"""The linear system of a step: all matrices as one, which is positive definite, and equations.

With :math:`s = M v + t` and the scaling R of every cone, a step of v solves

.. math::

    \begin{pmatrix} Q + M^T W M & E^T \\ E & 0 \end{pmatrix}
    \begin{pmatrix} dv \\ dy \end{pmatrix} = \begin{pmatrix} r \\ q \end{pmatrix},
    \quad W = (R R^T)^{-1} \otimes (R R^T)^{-1}.

How the product of one matrix is found, `sdpdr.linalg.congruent` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.congruent import BlockColumns
from sdpdr.solvers.dense.scaling import Cones, Scaling

# What is added to a matrix of unit diagonal that may be singular; more where that is too little.
_SHIFTS = (1e-14, 1e-12, 1e-10)
# Share of entries from which on a product of sparse matrices is worth keeping sparse.
_FILLED = 0.1


@dataclass(frozen=True, eq=False)
class Data:
    """A program over cones: min c v + v Q v / 2 with E v = e and s = M v + t inside the cones.

    Attributes
    ----------
    cost, curvature : arrays of shape (p,)
    E, e : array of shape (m, p), array of shape (m,)
    M, t : sparse array of shape (k, p), array of shape (k,)
    cones : Cones
    """

    cost: Array
    curvature: Array
    E: Array
    e: Array
    M: sp.csr_array
    t: Array
    cones: Cones

    @cached_property
    def transposed(self) -> sp.csr_array:
        """M^T."""
        return sp.csr_array(self.M.T)


class Normal:
    """The matrices of all steps.

    Parameters
    ----------
    data : Data
    """

    def __init__(self, data: Data) -> None:
        self._data, cones = data, data.cones
        self._blocks = [
            BlockColumns.of(order, data.M[begin:end])
            for order, begin, end in zip(cones.orders, cones.ends, cones.ends[1:], strict=False)
        ]
        self._half_lines()

    def _half_lines(self) -> None:
        """Limits on one unknown, which are diagonal, and the other half-lines."""
        part = self._data.M[: self._data.cones.linear]
        count = np.diff(part.indptr)
        self._single, self._more = np.flatnonzero(count == 1), np.flatnonzero(count > 1)
        entries = part.indptr[self._single]
        self._at, self._squares = part.indices[entries], part.data[entries] ** 2
        self._rows = sp.csr_array(part[self._more].T)
        filled = self._rows.nnz / max(1, self._rows.shape[0] * self._rows.shape[1])
        self._dense = self._rows.toarray() if filled > _FILLED else None

    def matrix(self, scaling: Scaling | None) -> Array:
        """Q + M^T W M; without a scaling, with the identity in place of W."""
        data, p = self._data, self._data.cost.size
        found, filled = np.zeros((p, p)), False
        for block, root in zip(self._blocks, _roots_of(data.cones, scaling), strict=True):
            if not block.at.size:
                continue
            low, high = int(block.at[0]), int(block.at[-1]) + 1
            if high - low == block.at.size == p and not filled:
                # Numbers of this size are not copied where they need not be.
                found = block.product(root)
            elif high - low == block.at.size:
                found[low:high, low:high] += block.product(root)
            else:
                found[np.ix_(block.at, block.at)] += block.product(root)
            filled = True
        weights = np.ones(data.cones.linear) if scaling is None else 1.0 / scaling.weights**2
        diagonal = np.bincount(self._at, weights[self._single] * self._squares, minlength=p)
        found[np.arange(p), np.arange(p)] += data.curvature + diagonal
        if self._dense is not None:
            scaled = self._dense * np.sqrt(weights[self._more])
            found += scaled @ scaled.T
        elif self._more.size:
            scaled = self._rows * weights[self._more]
            product = sp.coo_array(scaled @ self._rows.T)
            found[product.coords[0], product.coords[1]] += product.data
        return found

    def factored(self, scaling: Scaling | None) -> Factored:
        """The system of a scaling, ready to be solved.

        Raises
        ------
        numpy.linalg.LinAlgError
        """
        return Factored(self.matrix(scaling), self._data.E)


def _roots_of(cones: Cones, scaling: Scaling | None) -> list[Array]:
    """Inverses of R, one after the other."""
    if scaling is None:
        return [np.eye(order) for order in cones.orders]
    by_order = {
        group.order: iter(roots) for group, roots in zip(cones.groups, scaling.roots, strict=True)
    }
    return [next(by_order[order]) for order in cones.orders]


class Factored:
    """A positive definite matrix and equations, factored.

    Parameters
    ----------
    matrix : array of shape (p, p)
    E : array of shape (m, p)

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular, or the equations depend on each other, by far.
    """

    def __init__(self, matrix: Array, E: Array) -> None:
        diagonal = np.diagonal(matrix)
        self._units = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        self._matrix, self._E = matrix, E
        self._lower = _cholesky(matrix, self._units)
        if E.size:
            scaled = (E * self._units).T
            self._halves = sl.lapack.dtrtrs(self._lower, scaled, lower=1)[0]
            products = self._halves.T @ self._halves
            sizes = np.diagonal(products)
            self._prices = 1.0 / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))
            self._corner = _cholesky(products, self._prices)

    def solve(self, right: Array, missed: Array, *, refine: bool = True) -> tuple[Array, Array]:
        """Dv and dy, with one step of refinement unless it is not to be."""
        dv, dy = self._solved(right, missed)
        if not refine:
            return dv, dy
        more, further = self._solved(
            right - self._matrix @ dv - self._E.T @ dy, missed - self._E @ dv
        )
        return dv + more, dy + further

    def _solved(self, right: Array, missed: Array) -> tuple[Array, Array]:
        if not right.size:  # of which LAPACK complains
            return right, np.zeros(missed.size)
        half = sl.lapack.dtrtrs(self._lower, (self._units * right)[:, None], lower=1)[0][:, 0]
        dy = np.zeros(0)
        if missed.size:
            left = (self._prices * (self._halves.T @ half - missed))[:, None]
            dy = self._prices * sl.lapack.dpotrs(self._corner, left, lower=1)[0][:, 0]
            half = half - self._halves @ dy
        dv = sl.lapack.dtrtrs(self._lower, half[:, None], lower=1, trans=1)[0][:, 0]
        return self._units * dv, dy


def _cholesky(matrix: Array, units: Array) -> Array:
    """The lower triangle of a symmetric matrix, in units that make its diagonal one."""
    if not np.isfinite(np.sum(matrix)):
        raise np.linalg.LinAlgError("numbers became too large")
    places = np.arange(len(matrix))
    for shift in _SHIFTS:
        scaled = matrix * units
        scaled *= units[:, None]
        scaled[places, places] += shift
        # LAPACK reads columns, and would copy what is stored by rows.
        lower, broken = sl.lapack.dpotrf(scaled.T, lower=1, overwrite_a=1)
        if not broken:
            return np.asarray(lower)
    raise np.linalg.LinAlgError("the matrix of a step is singular")
