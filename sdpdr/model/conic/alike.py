"""Merge unknowns of a conic program that are interchangeable.

cvxpy bounds every entry of ``abs(X)`` by an unknown of its own. If X is symmetric, two of them
bound the same number. Exchanging the two, and the rows that hold only one of them, does not change
the program, so by convexity there is an optimum at which they are equal. They are merged into one
unknown with the rows of one of them. On the way back, the multipliers of these rows are divided
equally among all of them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Index, places_in_runs, places_of_rows
from sdpdr.model.conic.program import AUXILIARY, ConicProgram
from sdpdr.model.conic.step import Step

# Number of such rows from which the search is worth its time.
_FEWEST = 8


def alike(program: ConicProgram) -> Step | None:
    """The program with interchangeable unknowns merged; None if there are none.

    Examples
    --------
    Two unknowns that both bound x and -x, where their sum is to be least:

    >>> from sdpdr.model.conic.program import Columns, ConeRows
    >>> bound = [[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [-1.0, -1.0, 0.0], [-1.0, 0.0, -1.0]]
    >>> rows = np.array([*bound, *bound, [1.0, 0.0, 0.0]])
    >>> limits = ConeRows("nonnegative", "bounds", np.arange(8))
    >>> cones = [limits, ConeRows("zero", "x", np.array([8]))]
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 3))]
    >>> given = ConicProgram(
    ...     np.array([0.0, 1.0, 1.0]), 0.0, sp.csr_array(rows), np.zeros(9), cones, columns
    ... )
    >>> found = alike(given)
    >>> found.columns.indices, found.program.cost, found.program.matrix.shape
    (array([0, 1, 1]), array([0., 2.]), (5, 2))
    """
    if program.root is not None:
        return None
    found = _Interchange(program)
    if not found.is_worth_it:
        return None
    column, row = found.pairs()
    if np.all(column == np.arange(column.size)):
        return None
    return _merged(program, column, row)


class _Interchange:
    """Unknowns added by cvxpy that are in inequalities only, and rows with exactly one of them."""

    def __init__(self, program: ConicProgram) -> None:
        self._program, matrix = program, program.matrix
        m = matrix.shape[0]
        self._counts = np.diff(matrix.indptr)
        self._owner = program.row_of_entries()
        self._own = program.are_called(AUXILIARY)
        self._own[matrix.indices[~program.are_of("nonnegative")[self._owner]]] = False
        self._is_own = self._own[matrix.indices]
        alone = np.bincount(self._owner[self._is_own], minlength=m) == 1
        self._private = alone & (self._counts > 1)
        self.is_worth_it = int(np.count_nonzero(self._private)) >= _FEWEST

    def pairs(self) -> tuple[Index, Index]:
        """For every unknown and every row, the first one that it is interchangeable with."""
        program, matrix = self._program, self._program.matrix
        m, n = matrix.shape
        # Hash each row's coefficients of other unknowns, and each unknown's coefficients in all of
        # its rows, to numbers that hardly ever agree by chance. Candidates are compared exactly.
        rng = np.random.default_rng(0)
        others = np.where(self._is_own, 0.0, matrix.data * rng.random(n)[matrix.indices])
        rest = np.bincount(self._owner, others, minlength=m) + np.pi * program.rhs
        hashed = np.where(self._private, rest, 1e3 + np.arange(m))
        own = np.flatnonzero(self._is_own)
        row, of = self._owner[own], matrix.indices[own]
        signature = (
            np.bincount(of, matrix.data[own] * np.sin(1.0 + hashed[row]), minlength=n)
            + program.cost
        )
        order = np.lexsort((hashed[row], of))
        own, ends = own[order], np.cumsum(np.append(0, np.bincount(of, minlength=n)))
        chosen = np.flatnonzero(self._own)
        chosen = chosen[np.lexsort((chosen, np.round(signature[chosen], 9)))]
        one, other = chosen[:-1], chosen[1:]
        sizes = np.diff(ends)
        near = np.asarray(program.cost[one] == program.cost[other])
        near &= (sizes[one] == sizes[other]) & (np.abs(signature[one] - signature[other]) < 1e-8)
        one, other = one[near], other[near]
        first, second = (own[places_in_runs(ends, columns)] for columns in (one, other))
        pair = np.repeat(np.arange(one.size), sizes[one])
        same = np.bincount(pair, ~self._agree(first, second), minlength=one.size) == 0
        column, standing = np.arange(n), np.arange(m)
        for a, b in zip(one[same].tolist(), other[same].tolist(), strict=True):
            column[b] = column[a]
        rows = self._owner[first], self._owner[second]
        kept = same[pair] & self._private[rows[0]]
        for i, j in zip(rows[0][kept].tolist(), rows[1][kept].tolist(), strict=True):
            standing[j] = standing[i]
        return column, standing

    def _agree(self, first: Index, second: Index) -> NDArray[np.bool_]:
        """Whether entries of two unknowns are equal, in rows with equal coefficients of others."""
        matrix, rhs = self._program.matrix, self._program.rhs
        a, b = self._owner[first], self._owner[second]
        same = np.asarray(matrix.data[first] == matrix.data[second])
        shared = ~self._private[a]
        same &= (self._private[a] == self._private[b]) & (~shared | (a == b))
        same &= (rhs[a] == rhs[b]) & (self._counts[a] == self._counts[b])
        compared = np.flatnonzero(same & ~shared)
        left, right = (places_of_rows(matrix, rows[compared]) for rows in (a, b))
        left, right = left[~self._is_own[left]], right[~self._is_own[right]]
        wrong = matrix.indices[left] != matrix.indices[right]
        wrong |= matrix.data[left] != matrix.data[right]
        same[np.repeat(compared, self._counts[a[compared]] - 1)[wrong]] = False
        return same


def _merged(program: ConicProgram, column: Index, row: Index) -> Step:
    """The merged program, from the representative of every unknown and row."""
    columns, column = np.unique(column, return_inverse=True)
    rows, row = np.unique(row, return_inverse=True)
    T, joined = (
        sp.csr_array((np.ones(one.size), one, np.arange(one.size + 1)), shape=(one.size, size))
        for one, size in ((column, columns.size), (row, rows.size))
    )
    Z = sp.csr_array(joined / np.bincount(row))
    return Step.substituting(program, columns, rows, columns=T, rows=Z)
