r"""The Newton matrix of the interior point, on a pattern that is analysed once.

Slacks and multipliers are eliminated, which leaves, with the slope J of the rows, their
stiffnesses :math:`\sigma` and the dual slack S,

.. math:: \begin{pmatrix}
      2 S \otimes I_r + J_s^T D_s J_s + \delta B \otimes I_r & J_l^T & N^T \\
      J_l & -D_l^{-1} & 0 \\
      N & 0 & -\epsilon I
    \end{pmatrix}, \qquad D = \operatorname{diag}(\sigma).

Rows that touch few unknowns (s) add a small clique each; long ones (l), and the linear equations N
of `points`, stand beside as rows of their own. The step is one of descent where the matrix has as
many negative eigenvalues as it has such rows.

The shift is measured by B, the Laplacian of the graph whose edges are the entries off the diagonal
that rows read, weighted by what they are read with. Where rows hold back neighbours, B lets a shape
unfold as a whole, which a multiple of the identity would hold as firmly as its details.

References
----------
Vanderbei, SIAM J. Optim. 5(1), 1995; Wächter and Biegler, Math. Program. 106, 2006, section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import PACE
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.general.hessian import Jacobian, spread
from sdpdr.solvers.lowrank.general.kkt import Gathered
from sdpdr.solvers.lowrank.general.lagrangian import Parts
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.interior.boxes import Boxed
from sdpdr.solvers.lowrank.interior.held import Held
from sdpdr.solvers.lowrank.interior.metric import laplacian
from sdpdr.solvers.lowrank.interior.points import PointBlock
from sdpdr.solvers.lowrank.interior.start import has_lengths

# Unknowns in a row beyond which it stands beside the matrix.
_LONG_ROW = 80
# Rows whose cliques are filled together: long enough to compute with, short enough that the sums
# of neighbouring rows, which meet in the same entries, stay in the cache.
_ROWS = 4096
# Pivot of the linear equations.
_EXACT = 1e-10
# Columns at which work is counted: those of a first factor with a shape.
INTERIOR_RANK = 8
# Numbers in a column of the factor, and multiplications, beyond which products are faster: their
# time for each point does not depend on the graph, that of factorizations on the squared column.
_COLUMN, _WORK = 1000.0, 3e9
# Factorizations that a run takes: 47 for a density map of 10,000 points, a hundred for others.
# Where there is no time for these, products show a point and a bound sooner.
_FACTORIZATIONS = 50.0


@dataclass(frozen=True, eq=False)
class _Cliques:
    """Rows with equally many unknowns, at most `_ROWS` of them: where their slopes stand.

    Attributes
    ----------
    rows : array of shape (m,)
    at : array of shape (width, m)
        Where in all slopes; a row of this array is one place of all cliques, so that products
        run along the rows of the program.
    """

    rows: Index
    at: Index

    @property
    def pairs(self) -> tuple[Index, Index]:
        """All pairs of places, as `fill` goes through them."""
        return np.triu_indices(len(self.at))

    def fill(self, out: Array, slopes: Array, stiffness: Array) -> int:
        """Write the numbers of all pairs of J^T D J, pair by pair; how many."""
        own = slopes[self.at]
        stiff = stiffness[self.rows] * own
        width, m = own.shape
        count = width * (width + 1) // 2
        pairs, start = out[: count * m].reshape(count, m), 0
        for k in range(width):
            end = start + width - k
            np.multiply(own[k], stiff[k:], out=pairs[start:end])
            start = end
        return count * m


class NewtonMatrix(Parts):
    """Matrices of one program at fixed ranks, assembled, factored and solved with.

    Parameters
    ----------
    boxed : Boxed
    ranks : tuple of int

    Attributes
    ----------
    size : int
        Number of unknowns: points times rank, block by block, then the scalars.
    negative : int
        How many negative eigenvalues belong to rows and equations beside the matrix.
    slope : sparse array of shape (m, size)
        J at the unknowns that `linearize` was given.
    """

    def __init__(self, boxed: Boxed, ranks: tuple[int, ...]) -> None:
        self.boxed = boxed
        super().__init__([(b.n, r) for b, r in zip(boxed.blocks, ranks, strict=True)])
        self.size = self.starts[-1] + int(boxed.scalars.shape[1])
        self._jacobians = [Jacobian(block.forms) for block in boxed.blocks]
        moving = [_moving(block) for block in boxed.blocks]
        self._own = [m[j.point] for m, j in zip(moving, self._jacobians, strict=True)]
        pairs = zip(moving, boxed.blocks, strict=True)
        self._curved = [m[b.forms.i] & m[b.forms.j] for m, b in pairs]
        fixed = [np.repeat(~m, r) for m, r in zip(moving, ranks, strict=True)]
        self._fixed = np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *fixed]))
        row, column = self._slopes_at()
        self._order = np.argsort(row, kind="stable")
        count = np.bincount(row, minlength=boxed.m)
        starts = np.concatenate([[0], np.cumsum(count)])
        shape = (boxed.m, self.size)
        self.slope = sp.csr_array((np.zeros(row.size), column[self._order], starts), shape=shape)
        self._long = np.flatnonzero(count > _LONG_ROW)
        self._beside = np.flatnonzero(count[row] > _LONG_ROW)
        self._cliques = [c for w in _widths(count) for c in _cliques(self._order, starts, count, w)]
        equations = [
            int(block.equations.shape[0]) * r for block, r in zip(boxed.blocks, ranks, strict=True)
        ]
        self._exact = sum(equations)
        self.negative = self._long.size + self._exact
        self._total = self.size + self.negative
        self._pattern(row, column, equations)

    def linearize(self, x: Array) -> None:
        """Take the slopes of all rows at these unknowns."""
        points, _ = self.split(x)
        triples = zip(self._jacobians, self._own, points, strict=True)
        own = [jacobian.vectors(p)[kept].ravel() for jacobian, kept, p in triples]
        self._slopes = np.concatenate([*own, self.boxed.scalars.data])
        self.slope.data = self._slopes[self._order]
        self.adjoint = sp.csr_array(self.slope.T)

    def assemble(self, entries: list[Array], stiffness: Array) -> None:
        """Compute the matrix without a shift.

        Parameters
        ----------
        entries : list of arrays
            Entries of the dual slacks, as returned by `Forms.entries_of`.
        stiffness : array of shape (m,)
        """
        triples = zip(entries, self._curved, self.shapes, strict=True)
        curved = [np.repeat(2.0 * e[kept], r) for e, kept, (_, r) in triples]
        below = -1.0 / np.maximum(stiffness[self._long], np.finfo(float).tiny)
        numbers = np.zeros(self._numbers)
        numbers[self.starts[-1] : self.size] = self.boxed.curvature
        numbers[self._fixed] = 1.0
        end = self.size
        for clique in self._cliques:
            end += clique.fill(numbers[end:], self._slopes, stiffness)
        others = [*curved, self._slopes[self._beside], *self._equations, below]
        numbers[end:] = np.concatenate([*others, np.full(self._exact, -_EXACT)])
        self._data = self._matrix.summed(numbers)

    def factorize(self, shift: float) -> int:
        """Factor with a multiple of B added; the number of negative eigenvalues."""
        return self._matrix.factorize(self._data + shift * self._metric)

    def solve(self, right: Array) -> Array:
        """Solve with the last factors."""
        longer = np.zeros(self._total)
        longer[: self.size] = right
        longer[self._fixed] = 0.0
        points, scalars = self.split(self._matrix.factor.solve(longer)[: self.size])
        moved = [
            block.extended(block.factor(p))
            for block, p in zip(self.boxed.blocks, points, strict=True)
        ]
        return self.join(moved, scalars)

    def _shifts(self, before: int, count: int) -> Array:
        """B among all numbers, whose entries off the diagonal begin behind some others."""
        nears, others = [], []
        for block, kept, (_, r) in zip(self.boxed.blocks, self._curved, self.shapes, strict=True):
            near, other = laplacian(block.forms)
            nears.append(np.repeat(near, r))
            others.append(np.repeat(other[kept], r))
        shifts = np.zeros(count)
        shifts[: self.size] = np.concatenate([*nears, np.ones(self.size - self.starts[-1])])
        shifts[self._fixed] = 0.0
        entries = np.concatenate([np.zeros(0), *others])
        shifts[before : before + entries.size] = entries
        return shifts

    def nonzeros(self) -> int:
        """Number of nonzeros of the factor, counted by factorizing once."""
        return self._matrix.nonzeros()

    def _slopes_at(self) -> tuple[Index, Index]:
        """Row and unknown of every slope, in the order of `linearize`."""
        rows, columns = [], []
        for jacobian, kept, (_, r), start in zip(
            self._jacobians, self._own, self.shapes, self.starts, strict=False
        ):
            rows.append(np.repeat(jacobian.row[kept], r))
            columns.append(spread(start, jacobian.point[kept], r))
        scalars = self.boxed.scalars.tocoo()
        row = np.concatenate([*rows, scalars.row]).astype(np.intp)
        return row, np.concatenate([*columns, self.starts[-1] + scalars.col]).astype(np.intp)

    def _pattern(self, row: Index, column: Index, equations: list[int]) -> None:
        """Where every number goes, in the order of `factorize`."""
        places = [(np.arange(self.size), np.arange(self.size))]
        for c in self._cliques:
            first, second = c.pairs
            places.append((column[c.at[first]].ravel(), column[c.at[second]].ravel()))
        before = sum(one.size for one, _ in places)
        for block, kept, (_, r), start in zip(
            self.boxed.blocks, self._curved, self.shapes, self.starts, strict=False
        ):
            i, j = block.forms.i[kept], block.forms.j[kept]
            places.append((spread(start, i, r), spread(start, j, r)))
        below = self.size + np.searchsorted(self._long, row[self._beside])
        places.append((column[self._beside], below))
        self._equations, offset = [], self.size + self._long.size
        for block, (_, r), start, count in zip(
            self.boxed.blocks, self.shapes, self.starts, equations, strict=False
        ):
            # Points that are held do not change what the equations say of steps.
            found = (block.equations @ sp.diags_array(_moving(block).astype(float))).tocoo()
            self._equations.append(np.repeat(found.data, r))
            places.append((spread(start, found.col, r), spread(offset, found.row, r)))
            offset += count
        last = np.arange(self.size, self._total)
        places.append((last, last))
        one, other = (np.concatenate(part) for part in zip(*places, strict=True))
        # A row beside a matrix that is nearly singular needs pivots in pairs: without, folded
        # kernels of 60 points end at half their bound. A matrix alone is a tenth faster without.
        self._matrix = Gathered(one, other, self._total, pairs=self.negative > 0)
        self._numbers = one.size
        self._metric = self._matrix.summed(self._shifts(before, one.size))


def _moving(block: PointBlock) -> NDArray[np.bool_]:
    """The points that are not held."""
    moving = np.ones(block.n, dtype=bool)
    if block.held is not None:
        moving[block.held.points] = False
    return moving


def _widths(count: Index) -> Index:
    """Numbers of unknowns that short rows have."""
    return np.unique(count[(count > 0) & (count <= _LONG_ROW)])


def _cliques(order: Index, starts: Index, count: Index, width: int) -> list[_Cliques]:
    """The rows with so many unknowns, in groups."""
    rows = np.flatnonzero(count == width)
    groups = (rows[start : start + _ROWS] for start in range(0, rows.size, _ROWS))
    places = np.arange(width)[:, None]
    return [_Cliques(group, order[starts[group] + places]) for group in groups]


@dataclass(frozen=True)
class InteriorWork:
    """Multiplications of one factorization, and numbers in the factor."""

    multiplications: float
    numbers: float

    @property
    def pays(self) -> bool:
        """Whether factors stay sparse, whatever their order, or are small.

        Examples
        --------
        >>> InteriorWork(1e10, 3e7).pays, InteriorWork(1e10, 5e6).pays
        (True, False)
        """
        column = self.multiplications / self.numbers
        return self.multiplications <= _WORK or column <= _COLUMN

    def fits(self, seconds: float, numbers: float) -> bool:
        """Whether a run ends in time, and a factor has no more numbers than it may.

        Examples
        --------
        >>> work = InteriorWork(1e10, 3e7)
        >>> work.fits(600.0, 3e8), work.fits(60.0, 3e8), work.fits(600.0, 1e7)
        (True, False, False)
        >>> work.fits(np.inf, 3e8)
        True
        """
        # Small work is always in time, and without a time limit all work is.
        in_time = self.multiplications <= max(_WORK, PACE * seconds / _FACTORIZATIONS)
        return in_time and self.numbers <= numbers


def has_inequalities(sdp: SDP) -> bool:
    """Whether anything but equations binds a program: rows with <=, or scalars with a sign."""
    return any(r.relation == "<=" for r in sdp.rows) or any(
        v.nonnegative for v in sdp.vector_variables
    )


def work_at(problem: FactorProblem, rank: int) -> InteriorWork:
    """The work at a rank, from the fill at rank one.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
    >>> problem = compile_problem(methods.mvu(graphs.path([1.0] * 9)).to_sdp())
    >>> work_at(problem, 2).numbers == 4 * work_at(problem, 1).numbers
    True
    """
    boxed = Boxed.of(problem)
    matrix = NewtonMatrix(boxed, tuple(1 for _ in boxed.blocks))
    numbers = float(matrix.nonzeros())
    return InteriorWork(numbers**2 / matrix.size * rank**3, numbers * rank**2)


def finds_its_way(problem: FactorProblem) -> bool:
    """Whether it has inequalities to go by, points held by exact rows, or lengths for a shape."""
    if has_inequalities(problem.sdp) or Held.of(problem) is not None:
        return True
    return any(has_lengths(problem, b) for b in problem.blocks if not b.scalar and b.has_cost)


def suits(problem: FactorProblem, seconds: float, numbers: float) -> bool:
    """Whether the interior point is the way to go: it finds its way, and little fills in.

    Parameters
    ----------
    problem : FactorProblem
    seconds : float
        That are left; infinite where there is no limit.
    numbers : float
        Most of a factor.
    """
    if not finds_its_way(problem):
        return False
    work = work_at(problem, INTERIOR_RANK)
    return work.pays and work.fits(seconds, numbers)
