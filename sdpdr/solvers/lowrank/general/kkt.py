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

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.factorization import symmetric_factor
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian, spread
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


class Gathered:
    """Symmetric matrices of numbers that are summed where their places meet, and their factors.

    The pattern is analysed once.

    Parameters
    ----------
    one, other : arrays of int
        Row and column of every number, in any order.
    order : int
    pairs : bool, default True
        As of `SymmetricFactor`.

    Examples
    --------
    >>> matrix = Gathered(np.array([0, 1, 1, 1]), np.array([0, 1, 1, 0]), 2)
    >>> matrix.factorize(matrix.summed(np.array([1.0, 1.0, 1.0, 0.5])))
    0
    >>> matrix.factor.solve(np.array([1.0, 0.5])).round(12)
    array([1., 0.])
    """

    def __init__(self, one: Index, other: Index, order: int, *, pairs: bool = True) -> None:
        self._to, starts, columns = gathered(one, other, order)
        self._on_diagonal, self._order = self._to[one == other], order
        self._count = int(columns.size)
        parts = (np.ones(self._count), columns, starts)
        self.factor = symmetric_factor(sp.csr_array(parts, shape=(order, order)), pairs=pairs)
        self.factorize = self.factor.factorize

    def summed(self, numbers: Array) -> Array:
        """Entries of the pattern, from all numbers that belong there."""
        return np.bincount(self._to, numbers, minlength=self._count).astype(float, copy=False)

    def nonzeros(self) -> int:
        """Number of nonzeros of the factor, counted by factorizing a positive definite matrix."""
        data = np.full(self._count, 1e-3)
        data[self._on_diagonal] = 1.0 + self._order
        inertia = self.factorize(data)
        assert inertia == 0, "a matrix with a heavy diagonal is positive"
        return self.factor.nnz


def gathered(one: Index, other: Index, order: int) -> tuple[Index, Index, Index]:
    """Where pairs stand in the upper triangle that they fill, its rows' starts, and its columns.

    Sorted by two passes of counting: comparisons would take as long as ten factorizations. Rows
    first, as PARDISO reads them.
    """
    low, high = np.minimum(one, other), np.maximum(one, other)
    pairs = sp.coo_array((np.arange(one.size), (low, high)), shape=(order, order))
    pairs.has_canonical_format = True  # pairs that are the same stay apart
    rows = sp.csr_array(pairs.tocsc())
    low = np.repeat(np.arange(order), np.diff(rows.indptr))
    new = np.ones(one.size, dtype=bool)
    new[1:] = (low[1:] != low[:-1]) | (rows.indices[1:] != rows.indices[:-1])
    to = np.empty(one.size, dtype=np.intp)
    to[rows.data] = np.cumsum(new) - 1
    return to, np.searchsorted(low[new], np.arange(order + 1)), rows.indices[new]


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
        every = np.arange(self.size)
        row, column = zip((every, every), *self._places(), strict=True)
        self._matrix = Gathered(np.concatenate(row), np.concatenate(column), self.size)

    def _places(self) -> list[tuple[Index, Index]]:
        """Rows and columns of all entries off the diagonal, in the order of `_numbers`."""
        places, offset, face = [], 0, self.layout.size + self.layout.problem.m
        blocks = self.layout.problem.blocks
        for block, jacobian, (n, r) in zip(
            blocks, self._jacobians, self.layout.shapes, strict=True
        ):
            i, j = _off_diagonal(block)
            places.append((spread(offset, i, r), spread(offset, j, r)))
            row = np.repeat(self.layout.size + jacobian.row, r)
            places.append((row, spread(offset, jacobian.point, r)))
            p = block.face.shape[1]
            row = spread(face, np.repeat(np.arange(p), n), r)
            places.append((row, spread(offset, np.tile(np.arange(n), p), r)))
            offset, face = offset + n * r, face + p * r
        free = self.layout.problem.free[1:].tocoo()
        places.append((self.layout.size + free.row, offset + free.col))
        return places

    def _numbers(self, hessian: Hessian) -> list[Array]:
        numbers, y = [], np.append(1.0, hessian.local.estimate)
        factors, _ = self.layout.split(hessian.local.vector)
        for block, jacobian, factor in zip(
            self.layout.problem.blocks, self._jacobians, factors, strict=True
        ):
            r = factor.shape[1]
            off = block.forms.i != block.forms.j
            numbers.append(np.repeat(2.0 * block.forms.entries_of(y)[off], r))
            kept = hessian.kept[jacobian.row][:, None]
            numbers.append((jacobian.vectors(factor) * kept).ravel())
            numbers.append(np.repeat(block.face.T.ravel(), r))
        free = self.layout.problem.free[1:].tocoo()
        numbers.append(free.data * hessian.kept[free.row])
        return numbers

    def cost(self) -> tuple[int, float]:
        """Nonzeros of a factor, and multiplications to compute one, by trying."""
        nonzeros = self._matrix.nonzeros()
        return nonzeros, float(nonzeros) ** 2 / self.size

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
            if self._matrix.factorize(self._matrix.summed(numbers)) == m + p:
                return self._solve, tries
            shift *= 10.0
        return None, _MOST_TRIES

    def _solve(self, vector: Array) -> Array:
        right = np.zeros(self.size)
        right[: self.layout.size] = self.layout.project(vector)
        return self.layout.project(self._matrix.factor.solve(right)[: self.layout.size])


def _off_diagonal(block: FactorBlock) -> tuple[Index, Index]:
    off = block.forms.i != block.forms.j
    return block.forms.i[off], block.forms.j[off]
