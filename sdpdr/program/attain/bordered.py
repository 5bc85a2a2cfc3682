r"""Symmetric systems that are block diagonal but for a border.

The slack of a matrix inequality appears in the rows of that inequality and nowhere else, so that
the matrix :math:`A (X \odot Z) A^T` of a Newton step has a block for each of them. With the rows P
of such blocks, the others Q and the free scalars f, whose columns are F,

.. math::

    \begin{pmatrix} S_{PP} & S_{PQ} & F_P \\ S_{QP} & S_{QQ} & F_Q \\ F_P^T & F_Q^T & -D
    \end{pmatrix}
    \begin{pmatrix} w_P \\ w_Q \\ v \end{pmatrix} = r

takes a small Cholesky factorization for each block, and one of the order of Q and f. Rows that see
no block, but a scalar of their own, are blocks of order one, all treated together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Effort

# What is added to a block of unit diagonal whose rows may depend on each other.
_SHIFT = 1e-15
_NONE: Index = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Pattern:
    """Which rows belong to one block alone.

    Attributes
    ----------
    own : tuple of arrays of int
        For every block the rows that see it, and no other block or shared scalar.
    others : tuple of arrays of int
        For every block the remaining rows that see it.
    single : array of int
        Rows that see no block, and are diagonal.
    rest : array of int
        All other rows.
    """

    own: tuple[Index, ...]
    others: tuple[Index, ...]
    single: Index
    rest: Index

    @classmethod
    def of(cls, m: int, seen: Sequence[Index], shared: Index, scalar: Index = _NONE) -> Pattern:
        """The pattern of m rows.

        Parameters
        ----------
        m : int
        seen : sequence of arrays of int
            The rows that see each block.
        shared : array of int
            Rows that see a scalar which another row sees, too.
        scalar : array of int, optional
            Rows that see a scalar of their own.

        Examples
        --------
        >>> import numpy as np
        >>> found = Pattern.of(4, [np.array([0, 1]), np.array([1, 2])], np.array([3]))
        >>> [rows.tolist() for rows in found.own], found.rest.tolist()
        ([[0], [2]], [1, 3])
        """
        count = np.zeros(m, dtype=np.int64)
        for rows in seen:
            count[rows] += 1
        alone = count == 1
        alone[shared] = False
        own = tuple(rows[alone[rows]] for rows in seen)
        others = tuple(rows[~alone[rows]] for rows in seen)
        single = np.setdiff1d(scalar[count[scalar] == 0], shared)
        alone[single] = True
        return cls(own, others, single, np.flatnonzero(~alone))

    def operations(self, n_free: int) -> float:
        """Multiplications of a factorization."""
        core = float(self.rest.size + n_free)
        blocks = sum(rows.size**3 / 3.0 + rows.size * min(core, 1e3) ** 2 for rows in self.own)
        return blocks + self.single.size * core**2 + core**3 / 3.0


@dataclass(frozen=True, eq=False)
class Border:
    """Which scalars tie rows together that blocks do not.

    Attributes
    ----------
    shared : array of int
        Non-negative scalars that are unknowns of their own, as they are few and in many rows.
    shared_free, own_free : array of int
        Free scalars that are such, and those that one row alone sees and that have a quadratic
        cost.
    rows_of_shared, rows_of_own : array of int
        Rows with a non-negative scalar in common, but for `shared`; those with one of their own.
    """

    shared: Index
    shared_free: Index
    own_free: Index
    rows_of_shared: Index
    rows_of_own: Index

    @classmethod
    def of(cls, scalars: sp.csr_array, free: sp.csr_array, curvature: Array) -> Border:
        """Of the columns of non-negative and of free scalars, and the costs of squares of these."""
        many, rows = _shared(scalars)
        if many.size < rows.size:
            rows = np.zeros(0, dtype=np.int64)
        else:
            many = rows[:0]
        once = np.bincount(free.indices, minlength=free.shape[1]) == 1
        own_free = np.flatnonzero(once & (curvature > 0.0))
        alone = np.bincount(scalars.indices, minlength=scalars.shape[1]) == 1
        own = np.concatenate(
            [_rows_of(scalars[:, np.flatnonzero(alone)]), _rows_of(free[:, own_free])]
        )
        return cls(many, np.setdiff1d(np.arange(free.shape[1]), own_free), own_free, rows, own)

    @property
    def width(self) -> int:
        """How many scalars are unknowns beside the rows."""
        return self.shared.size + self.shared_free.size


def _shared(scalars: sp.csr_array) -> tuple[Index, Index]:
    """Scalars that several rows see, and these rows."""
    several = np.bincount(scalars.indices, minlength=scalars.shape[1]) > 1
    return np.flatnonzero(several), _rows_of(scalars[:, np.flatnonzero(several)])


def _rows_of(columns: sp.csr_array) -> Index:
    return np.flatnonzero(np.diff(columns.indptr))


class Bordered:
    """A system with the matrices of its blocks.

    Parameters
    ----------
    pattern : Pattern
    matrices : sequence of arrays
        Of each block, with rows in the order of `Pattern.own`, then `Pattern.others`.
    diagonal : array of shape (m,)
        What is added to the diagonal of the rows that are a block's own, or single.
    rest : array of shape (q, q)
        What is added to the rows of `Pattern.rest`.
    free : sparse array of shape (m, f)
        F.
    corner : array of shape (f, f)
        -D.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a block is not positive definite.
    """

    def __init__(
        self,
        pattern: Pattern,
        matrices: Sequence[Array],
        diagonal: Array,
        rest: Array,
        free: sp.csr_array,
        corner: Array,
    ) -> None:
        self._pattern, self._m = pattern, free.shape[0]
        self._corner = corner
        q = pattern.rest.size
        self._blocks: list[_Block] = []
        core = np.zeros((q + corner.shape[0],) * 2)
        core[:q, :q] = rest
        edge = free[pattern.rest].toarray()
        core[:q, q:], core[q:, :q], core[q:, q:] = edge, edge.T, corner
        place = np.empty(self._m, dtype=np.int64)
        place[pattern.rest] = np.arange(q)
        for own, others, matrix in zip(pattern.own, pattern.others, matrices, strict=True):
            k, at = own.size, place[others]
            core[np.ix_(at, at)] += matrix[k:, k:]
            if not k:
                continue
            columns = free[own]
            touched = np.unique(columns.indices)
            border = np.hstack([matrix[:k, k:], columns[:, touched].toarray()])
            block = _Block.of(
                own,
                np.concatenate([at, q + touched]),
                matrix[:k, :k] + np.diag(diagonal[own]),
                border,
            )
            self._blocks.append(block)
        if pattern.single.size:
            self._blocks.append(_single(pattern.single, q, diagonal, free))
        for block in self._blocks:
            core[np.ix_(block.at, block.at)] -= block.complement
        self._core = core

    def solve(self, right: Array, effort: Effort) -> tuple[Array, Array]:
        """Solve for the rows' unknowns and for the free scalars.

        Parameters
        ----------
        right : array of shape (m + f,)
        effort : Effort
            That may be spent where rows depend on each other.
        """
        reduced = np.concatenate([right[: self._m][self._pattern.rest], right[self._m :]])
        halves = []
        for block in self._blocks:
            half = block.half(right[block.own])
            reduced[block.at] -= block.border.T @ half
            halves.append(half)
        found = least_squares(self._core, reduced, effort)
        w = np.zeros(self._m)
        w[self._pattern.rest] = found[: self._pattern.rest.size]
        for block, half in zip(self._blocks, halves, strict=True):
            w[block.own] = block.back(half - block.border @ found[block.at])
        return w, found[self._pattern.rest.size :]


@dataclass(frozen=True, eq=False)
class _Block:
    """The Cholesky factor of rows of a block's own, and what it makes of their border.

    There is none where these are diagonal.
    """

    own: Index
    at: Index
    root: Array | None
    scale: Array
    border: Array

    @classmethod
    def of(cls, own: Index, at: Index, matrix: Array, border: Array) -> _Block:
        diagonal = np.diagonal(matrix)
        scale = 1.0 / np.sqrt(np.where(diagonal > 1e-300, diagonal, 1.0))
        unit = matrix * scale[:, None] * scale[None, :]
        root = sl.cholesky(unit + _SHIFT * np.eye(own.size), lower=True)
        halved = sl.solve_triangular(root, scale[:, None] * border, lower=True)
        return cls(own, at, root, scale, np.asarray(halved))

    @property
    def complement(self) -> Array:
        return np.asarray(self.border.T @ self.border)

    def half(self, right: Array) -> Array:
        right = self.scale * right
        return right if self.root is None else sl.solve_triangular(self.root, right, lower=True)

    def back(self, half: Array) -> Array:
        return self.scale * (half if self.root is None else sl.solve_triangular(self.root.T, half))


def _single(rows: Index, q: int, diagonal: Array, free: sp.csr_array) -> _Block:
    if not np.all(diagonal[rows] > 0.0):
        raise np.linalg.LinAlgError("a row sees nothing")
    scale = 1.0 / np.sqrt(diagonal[rows])
    columns = free[rows]
    touched = np.unique(columns.indices)
    border = scale[:, None] * columns[:, touched].toarray()
    return _Block(rows, q + touched, None, scale, border)


def least_squares(core: Array, right: Array, effort: Effort) -> Array:
    """The solution of an indefinite system; the shortest where rows depend on each other.

    That takes several times as long, and is left to systems that a factorization fails on.

    Raises
    ------
    EffortSpentError
        If it takes too long.
    """
    if not right.size:
        return right
    size = np.max(np.abs(core), axis=1)
    scale = 1.0 / np.sqrt(np.where(size > 1e-300, size, 1.0))
    scaled, aim = core * scale[:, None] * scale[None, :], scale * right
    factor, pivots, singular = sl.lapack.dgetrf(scaled)
    norm = float(np.max(np.sum(np.abs(scaled), axis=0)))
    if singular or sl.lapack.dgecon(factor, norm)[0] < np.finfo(float).eps:
        effort.spend(float(right.size) ** 3)
        return np.asarray(scale * np.linalg.lstsq(scaled, aim, rcond=1e-15)[0])
    found = sl.lapack.dgetrs(factor, pivots, aim)[0]
    found += sl.lapack.dgetrs(factor, pivots, aim - scaled @ found)[0]
    return np.asarray(scale * found)
