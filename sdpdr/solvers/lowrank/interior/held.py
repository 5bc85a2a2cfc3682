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
from sdpdr.solvers.lowrank.general.problem import FactorProblem

# Most points that are held, and how clearly definite their products have to be (see `_clarity`).
_LARGEST, _CLEARLY = 200, 1e-6


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
    def of(cls, problem: FactorProblem) -> Held | None:
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
        blocks = [(k, b) for k, b in enumerate(problem.blocks) if not b.scalar]
        if len(blocks) != 1 or blocks[0][1].face.shape[1]:
            return None
        forms = blocks[0][1].forms
        rows, pair = _fixing(problem, blocks[0][0])
        points = np.unique(np.append(forms.i[pair], forms.j[pair]))
        p = points.size
        complete = np.unique(pair).size == pair.size == p * (p + 1) // 2
        if not 0 < p <= _LARGEST or not complete:
            return None
        i, j = np.searchsorted(points, forms.i[pair]), np.searchsorted(points, forms.j[pair])
        scale = forms.matrix[1:].tocsr()[rows].data
        fixed = np.zeros((p, p))
        fixed[i, j] = fixed[j, i] = problem.rhs[rows] / scale
        if _clarity(fixed) <= _CLEARLY:
            return None
        return cls(points, np.asarray(np.linalg.cholesky(fixed)), rows, i, j, scale)

    def met(self, factor: Array) -> Array:
        """A factor, rotated, with its fixed points at their positions.

        Columns are added if there are too few.
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


def _fixing(problem: FactorProblem, k: int) -> tuple[Index, Index]:
    """Exact rows that read a single entry, and its place in the forms.

    Beside pairs of points only what concerns these: the length of another is a row like any other.
    """
    forms = problem.blocks[k].forms
    matrix = sp.csr_array(forms.matrix[1:])
    alone = problem.equal & problem.alone(k) & (np.diff(matrix.indptr) == 1)
    rows = np.flatnonzero(alone)
    pair = matrix.indices[matrix.indptr[rows]]
    off = forms.i[pair] != forms.j[pair]
    if off.any():
        points = np.unique(np.append(forms.i[pair[off]], forms.j[pair[off]]))
        among = np.isin(forms.i[pair], points) & np.isin(forms.j[pair], points)
        rows, pair = rows[among], pair[among]
    return rows, pair


def _clarity(block: Array) -> float:
    """The least eigenvalue of a block in units of its diagonal; 0 where it is not positive.

    Examples
    --------
    >>> _clarity(np.array([[4.0, 1.0], [1.0, 1.0]])), _clarity(np.zeros((1, 1)))
    (0.5, 0.0)
    """
    diagonal = np.diagonal(block)
    if not block.size or not np.isfinite(block).all() or not np.all(diagonal > 0.0):
        return 0.0
    units = np.sqrt(diagonal)
    scaled = block / units[:, None] / units
    return max(0.0, float(np.linalg.eigvalsh(scaled)[0])) if np.isfinite(scaled).all() else 0.0
