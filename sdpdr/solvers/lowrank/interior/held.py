r"""Points whose products with each other are fixed: they stay where they are.

Where exact rows fix a principal block, :math:`K_{FF} = B = L L^T`, every factor can be turned so
that its rows F are :math:`(L \; 0)`, which takes these points out of the unknowns, with the rows,
and with the turns that the points would leave free. The multipliers Y of the rows follow from
stationarity at the points,

.. math:: (S R)_F + Y L = 0,

with the dual slack S of all other rows; where the other points are stationary, this has a
symmetric solution, since a turn of the whole factor changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.program.attain.framed import fixed_block
from sdpdr.solvers.lowrank.general.problem import Block, Problem


@dataclass(frozen=True, eq=False)
class Held:
    """Fixed points of a matrix variable, and the rows that fix them.

    Attributes
    ----------
    points : array of int, shape (p,)
    base : array of shape (p, p)
        L, lower triangular.
    rows : array of int, shape (p (p + 1) / 2,)
    first, second : arrays of int
        Places among the points of the entry that a row fixes.
    scale : array
        Coefficients of those.
    """

    points: Index
    base: Array
    rows: Index
    first: Index
    second: Index
    scale: Array

    @classmethod
    def of(cls, problem: Problem) -> Held | None:
        """The fixed points of the one matrix of a problem; None where there are none.

        Examples
        --------
        A point between two others that are known:

        >>> from sdpdr import blocks, graphs
        >>> from sdpdr.solvers.lowrank.general.compile import compile_problem
        >>> graph = graphs.from_edges(3, [[0, 1], [1, 2]], [1.0, 1.0])
        >>> lengths = blocks.AnchoredLengths(graph, [0, 2], np.array([[0.0], [2.0]]), exact=False)
        >>> model = blocks.Coordinates(1, 1) + lengths
        >>> held = Held.of(compile_problem(model.to_sdp()))
        >>> held.points.tolist(), held.base.shape, held.rows.size
        ([0], (1, 1), 1)
        """
        found = fixed_block(problem.sdp)
        if found is None:
            return None
        points, fixed = found
        block = next(b for b in problem.blocks if not b.scalar)
        rows, pair = _fixing(problem, block, points)
        i, j = np.searchsorted(points, block.forms.i), np.searchsorted(points, block.forms.j)
        scale = block.forms.matrix[1:].tocsr()[rows].data
        base = np.asarray(np.linalg.cholesky(fixed / problem.units.unknown))
        return cls(points, base, rows, i[pair], j[pair], scale)

    def met(self, factor: Array) -> Array:
        """A factor turned, and its fixed points put where they have to be.

        Of too few columns, more are made.
        """
        p = self.points.size
        if factor.shape[1] < p:
            factor = np.hstack([factor, np.zeros((len(factor), p - factor.shape[1]))])
        turn, upper = np.linalg.qr(factor[self.points].T, mode="complete")
        signs = np.ones(factor.shape[1])
        signs[:p] = np.where(np.diagonal(upper) < 0.0, -1.0, 1.0)
        turned = factor @ (turn * signs)
        turned[self.points] = 0.0
        turned[self.points, :p] = self.base
        return np.asarray(turned)

    def multipliers(self, product: Array) -> Array:
        """Those of the rows, from the product of the slack of all others with the factor."""
        own = product[self.points][:, : self.points.size]
        block = -np.linalg.solve(self.base.T, own.T).T
        block = (block + block.T) / 2.0
        off = self.first != self.second
        return np.asarray(np.where(off, 2.0, 1.0) * block[self.first, self.second] / self.scale)


def _fixing(problem: Problem, block: Block, points: Index) -> tuple[Index, Index]:
    """Exact rows of one entry among the points, and its place in the forms."""
    forms = block.forms
    others = [problem.free[1:], *[b.forms.matrix[1:] for b in problem.blocks if b.scalar]]
    alone = problem.equal & (np.diff(forms.matrix[1:].indptr) == 1)
    for matrix in [*others, forms.weights[1:]]:
        alone &= np.diff(sp.csr_array(matrix).indptr) == 0
    rows = np.flatnonzero(alone)
    pair = forms.matrix[1:].indices[forms.matrix[1:].indptr[rows]]
    among = np.isin(forms.i[pair], points) & np.isin(forms.j[pair], points)
    return rows[among], pair[among]
