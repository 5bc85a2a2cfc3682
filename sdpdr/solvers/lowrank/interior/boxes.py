r"""The program of the interior point: rows with boxes of multipliers, scalars folded into them.

A scalar :math:`z \ge 0` with cost c that stands in a single row, with coefficient a, only says
that the multiplier of the row may not pass :math:`-c / a`; a free one with curvature Q that the
row gives way, by :math:`a^2 / Q` for a unit of its multiplier. Both are absolute and quadratic
penalties on a row, and both leave the program. The other scalars stay unknowns, and a sign becomes
a row.

The ends of a box that are infinite, those of exact rows, are held at a penalty :math:`\pm\rho` that
rises until the rows hold: an exact penalty, which has a point from the start and multipliers that
cannot run away.

References
----------
Nocedal and Wright, sections 17.2 and 19.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.solvers.lowrank.direction import Boxes
from sdpdr.solvers.lowrank.general.problem import FactorBlock, FactorProblem
from sdpdr.solvers.lowrank.interior.held import Held
from sdpdr.solvers.lowrank.interior.points import PointBlock

# What inequalities keep from their limits, over the accuracy aimed at.
MARGIN = 0.03


@dataclass(frozen=True, eq=False)
class Folded:
    """Scalars that a row's box stands for: their places, the rows, and the coefficients."""

    place: Index
    row: Index
    coefficient: Array
    cost: Array
    curvature: Array
    signed: NDArray[np.bool_]

    def among(self, kept: Index) -> Folded:
        """Some of them."""
        return Folded(**{f.name: getattr(self, f.name)[kept] for f in fields(self)})

    def values(self, excess: Array, multipliers: Array) -> Array:
        """What the scalars have to be, by what is left of the rows beside their right sides."""
        away = np.maximum(-excess[self.row] / self.coefficient, 0.0)
        curvature = np.where(self.signed, 1.0, self.curvature)
        bent = -(self.cost + self.coefficient * multipliers[self.row]) / curvature
        return np.where(self.signed, away, bent)


@dataclass(frozen=True, eq=False)
class Boxed(Boxes):
    """A program over points, in minimisation.

    Attributes
    ----------
    problem : FactorProblem
    blocks : tuple of PointBlock
        The matrix variables.
    scalars : sparse array of shape (m, q)
        Coefficients of the scalars that are left.
    cost, curvature : arrays of shape (q,)
        Linear and quadratic costs of the remaining scalars.
    rhs, low, high, compliance : arrays of shape (m,)
        Right sides, boxes, compliances. Signs of scalars are the last rows.
    kept : array of int, shape (q,)
        Places of the scalars that are left, among all: the free ones, then the signed ones.
    folded : Folded
    """

    problem: FactorProblem
    blocks: tuple[PointBlock, ...]
    scalars: sp.csr_array
    cost: Array
    curvature: Array
    rhs: Array
    low: Array
    high: Array
    compliance: Array
    kept: Index
    folded: Folded

    @classmethod
    def of(cls, problem: FactorProblem, margin: float = 0.0) -> Boxed:
        """Fold what can be folded, and keep inequalities away from their limits.

        Parameters
        ----------
        problem : FactorProblem
        margin : float, default 0.0
            In scaled units. What holds by a little can be proved to hold.

        Examples
        --------
        >>> from sdpdr import graphs, methods
        >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
        >>> sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
        >>> boxed = Boxed.of(compile_problem(sdp))
        >>> boxed.low, boxed.high, boxed.scalars.shape
        (array([0., 0.]), array([inf, inf]), (2, 0))
        """
        matrix, curvature, signed = _scalars(problem)
        cost, rows = matrix[[0]].toarray().ravel(), sp.csc_array(matrix[1:])
        rows.eliminate_zeros()
        folded = _foldable(rows, cost, curvature, signed)
        low, high = _box(problem, folded)
        if np.any(high <= low):
            # A box without width has no inside: the scalars that make it one stay unknowns.
            folded = folded.among(np.flatnonzero((high > low)[folded.row]))
            low, high = _box(problem, folded)
        compliance = np.zeros(problem.m)
        rhs = np.where(problem.equal, problem.rhs, problem.rhs - margin)
        bent = ~folded.signed
        give = folded.coefficient[bent] / folded.curvature[bent]
        np.add.at(compliance, folded.row[bent], give * folded.coefficient[bent])
        np.add.at(rhs, folded.row[bent], give * folded.cost[bent])
        kept = np.setdiff1d(np.arange(cost.size), folded.place)
        signs = np.flatnonzero(signed[kept])
        count, zero = signs.size, np.zeros(signs.size)
        held = Held.of(problem)
        last = sp.csr_array((-np.ones(count), (np.arange(count), signs)), shape=(count, kept.size))
        return cls(
            problem=problem,
            blocks=tuple(PointBlock.of(b, held) for b in problem.blocks if not b.scalar),
            scalars=sp.csr_array(sp.vstack([sp.csr_array(rows[:, kept]), last])),
            cost=cost[kept],
            curvature=curvature[kept],
            rhs=np.append(rhs, zero),
            low=np.append(low, zero),
            high=np.append(high, zero + np.inf),
            compliance=np.append(compliance, zero),
            kept=kept,
            folded=folded,
        )

    @property
    def held(self) -> Held | None:
        """The points that exact rows fix; of a program with one matrix only."""
        return self.blocks[0].held if self.blocks else None

    @property
    def m(self) -> int:
        """Number of rows, those of signs included."""
        return int(self.rhs.size)

    @property
    def signs(self) -> slice:
        """The rows that are signs of scalars."""
        return slice(self.problem.m, self.m)

    def typical(self, size: float) -> float:
        """The expected size of multipliers, from the objective or from the penalties."""
        paying = max(size, 1e-3) / max(float(np.abs(self.rhs).sum()), 1.0)
        ends = np.concatenate([self.high, -self.low])
        penalties = ends[np.isfinite(ends) & (ends > 0.0)]
        if not penalties.size:
            penalties = self.cost[self.cost > 0.0]
        return max(paying, 0.1 * float(np.median(penalties))) if penalties.size else paying

    def at_penalty(self, penalty: float) -> Boxed:
        """With a penalty in place of the infinite ends of rows that do not give way."""
        stiff = self.compliance == 0.0
        stiff[self.signs] = False
        low = np.where(stiff & np.isinf(self.low), -penalty, self.low)
        high = np.where(stiff & np.isinf(self.high), penalty, self.high)
        return replace(self, low=low, high=high)

    def all_scalars(self, left: Array, excess: Array, multipliers: Array) -> Array:
        """Free scalars, then signed ones, those that were folded among them."""
        values = np.zeros(self.kept.size + self.folded.place.size)
        values[self.kept] = left
        values[self.folded.place] = self.folded.values(excess, multipliers)
        return values


def _box(problem: FactorProblem, folded: Folded) -> tuple[Array, Array]:
    """Lower and upper ends of multipliers, as far as scalars with signs tell."""
    low, high = np.where(problem.equal, -np.inf, 0.0), np.full(problem.m, np.inf)
    end = -folded.cost / folded.coefficient
    above = folded.signed & (folded.coefficient < 0)
    np.minimum.at(high, folded.row[above], end[above])
    below = folded.signed & (folded.coefficient > 0)
    np.maximum.at(low, folded.row[below], end[below])
    return low, high


def _scalars(problem: FactorProblem) -> tuple[sp.csr_array, Array, NDArray[np.bool_]]:
    """Coefficients of all scalars, the cost in row 0; their curvatures; which have signs."""
    signed = [_diagonal(block) for block in problem.blocks if block.scalar]
    free = problem.free.shape[1]
    matrix = sp.csr_array(sp.hstack([problem.free, *signed]))
    count = int(matrix.shape[1])
    curvature = np.append(problem.curvature, np.zeros(count - free))
    return matrix, curvature, np.arange(count) >= free


def _diagonal(block: FactorBlock) -> sp.csr_array:
    """Coefficients of a matrix that is read on its diagonal only."""
    i = block.forms.i
    to = sp.csr_array((np.ones(i.size), (np.arange(i.size), i)), shape=(i.size, block.n))
    return sp.csr_array(block.forms.matrix @ to)


def _foldable(
    rows: sp.csc_array, cost: Array, curvature: Array, signed: NDArray[np.bool_]
) -> Folded:
    """Penalized scalars of one row: signed ones have a linear cost, free ones a quadratic cost.

    If several have the same effect on the same row, only one is returned.
    """
    alone = np.diff(rows.indptr) == 1
    place = np.flatnonzero(alone & np.where(signed, cost >= 0.0, curvature > 0.0))
    at = rows.indptr[place]
    kinds = np.where(signed[place], np.sign(rows.data[at]), 0.0)
    _, first = np.unique(np.stack([rows.indices[at], kinds]), axis=1, return_index=True)
    place = place[np.sort(first)]
    at = rows.indptr[place]
    return Folded(
        place, rows.indices[at], rows.data[at], cost[place], curvature[place], signed[place]
    )
