r"""Newton's equations by one sparse factorization, where little fills in.

.. math::

    \begin{pmatrix} 2 S \otimes I_r + \epsilon I & J^T \\ J & -\sigma^{-1} I \end{pmatrix}
    \begin{pmatrix} d \\ w \end{pmatrix} = \begin{pmatrix} g \\ 0 \end{pmatrix}

solves with the second derivative of the augmented Lagrangian, S shifted until the matrix has the
inertia of a minimum: as many negative eigenvalues as rows. Rows that touch many points, a trace
for instance, cost one row here and would fill the second derivative itself. A face K u = 0 adds
rows :math:`u^T d = 0`.

References
----------
Vanderbei, SIAM J. Optim. 5(1), 1995 (symmetric quasidefinite matrices); Gould, Math. Program. 32,
1985 (inertia).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.factorization import SymmetricFactor, symmetric_factor
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.problem import FactorBlock, FactorProblem

Solve = Callable[[Array], Array]

_MOST_TRIES = 14
# Pivot that stands for u^T d = 0, relative to the others.
_FACE = 1e-10


def is_sparse(problem: FactorProblem) -> bool:
    """Whether Newton's equations have a sparse matrix at all."""
    return not any(
        block.forms.weights.nnz or (block.forms.dense and block.n > 50) for block in problem.blocks
    )


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the numbers of one block stand: points, rows and faces, in the large matrix."""

    row: Index
    column: Index


class SparseNewton:
    """Factorizations of Newton's equations for factors of fixed ranks.

    Parameters
    ----------
    layout : Layout
    jacobians : list of Jacobian
    """

    def __init__(self, layout: Layout, jacobians: list[Jacobian]) -> None:
        self.layout, self._jacobians = layout, jacobians
        problem = layout.problem
        self._faces = [
            b.face.shape[1] * r for b, (_, r) in zip(problem.blocks, layout.shapes, strict=True)
        ]
        self.size = layout.size + problem.m + sum(self._faces)
        rows, columns = [np.arange(self.size)], [np.arange(self.size)]
        for places in self._places():
            rows.append(places.row)
            columns.append(places.column)
        row, column = np.concatenate(rows), np.concatenate(columns)
        low, high = np.minimum(row, column), np.maximum(row, column)
        keys, self._to = np.unique(high * self.size + low, return_inverse=True)
        starts = np.searchsorted(keys // self.size, np.arange(self.size + 1))
        parts = (np.ones(keys.size), keys % self.size, starts)
        self._upper = sp.csc_array(parts, shape=(self.size, self.size))
        self._factor: SymmetricFactor = symmetric_factor(self._upper)
        self._count = keys.size

    def _places(self) -> list[_Places]:
        """Of all entries off the diagonal, in the order of `_numbers`."""
        places, offset, face = [], 0, self.layout.size + self.layout.problem.m
        blocks = self.layout.problem.blocks
        for block, jacobian, (n, r) in zip(
            blocks, self._jacobians, self.layout.shapes, strict=True
        ):
            every = np.arange(r)
            i, j = _off_diagonal(block)
            places.append(_Places(_spread(offset, i, r, every), _spread(offset, j, r, every)))
            row = np.repeat(self.layout.size + jacobian.row, r)
            places.append(_Places(row, _spread(offset, jacobian.point, r, every)))
            p = block.face.shape[1]
            points = np.tile(np.arange(n), p)
            row = face + _spread(0, np.repeat(np.arange(p), n), r, every)
            places.append(_Places(row, _spread(offset, points, r, every)))
            offset, face = offset + n * r, face + p * r
        free = self.layout.problem.free[1:].tocoo()
        places.append(_Places(self.layout.size + free.row, offset + free.col))
        return places

    def _numbers(self, hessian: Hessian) -> list[Array]:
        numbers = []
        blocks, slacks = self.layout.problem.blocks, hessian.local.slacks
        factors, _ = self.layout.split(hessian.local.vector)
        for block, jacobian, slack, factor in zip(
            blocks, self._jacobians, slacks, factors, strict=True
        ):
            r = factor.shape[1]
            i, j = _off_diagonal(block)
            numbers.append(np.repeat(2.0 * _entries(slack.sparse, i, j), r))
            kept = hessian.kept[jacobian.row][:, None]
            numbers.append((jacobian.vectors(factor) * kept).ravel())
            numbers.append(np.repeat(block.face.T.ravel(), r))
        free = self.layout.problem.free[1:].tocoo()
        numbers.append(free.data * hessian.kept[free.row])
        return numbers

    def cost(self) -> tuple[int, float]:
        """Nonzeros of a factor, and multiplications to compute one, by trying."""
        data: Array = np.full(self._count, 1e-3)
        data[self._upper.indices == self._columns()] = 1.0 + self.size
        self._factor.factorize(data)
        return self._factor.nnz, float(self._factor.nnz) ** 2 / self.size

    def _columns(self) -> Index:
        return np.repeat(np.arange(self.size), np.diff(self._upper.indptr))

    def solver(self, hessian: Hessian, shift: float) -> tuple[Solve | None, int]:
        """Solver with the smallest shift tried that gives a minimum, and factorizations made."""
        layout, problem = self.layout, self.layout.problem
        diagonals = [
            np.repeat(2.0 * slack.diagonal(), r)
            for slack, (_, r) in zip(hessian.local.slacks, layout.shapes, strict=True)
        ]
        primal = np.concatenate([*diagonals, problem.curvature])
        size = float(np.max(np.abs(primal), initial=0.0)) + np.finfo(float).tiny
        m, p = problem.m, sum(self._faces)
        below = np.concatenate(
            [np.full(m, -1.0 / hessian.local.function.penalty), np.full(p, -_FACE / size)]
        )
        others = np.concatenate(self._numbers(hessian))
        for tries in range(1, _MOST_TRIES + 1):
            numbers = np.concatenate([primal + shift * size, below, others])
            data: Array = np.bincount(self._to, numbers, minlength=self._count).astype(float)
            if self._factor.factorize(data) == m + p:
                return self._solve, tries
            shift *= 10.0
        return None, _MOST_TRIES

    def _solve(self, vector: Array) -> Array:
        right = np.zeros(self.size)
        right[: self.layout.size] = self.layout.project(vector)
        return self.layout.project(self._factor.solve(right)[: self.layout.size])


def _spread(offset: int, index: Index, r: int, every: Index) -> Index:
    """Positions of all columns of the points given."""
    return np.asarray((offset + index[:, None] * r + every).ravel())


def _off_diagonal(block: FactorBlock) -> tuple[Index, Index]:
    off = block.forms.i != block.forms.j
    return block.forms.i[off], block.forms.j[off]


def _entries(matrix: sp.csr_array, i: Index, j: Index) -> Array:
    return np.asarray(matrix[i, j]).ravel() if i.size else np.zeros(0)
