r"""Other multipliers of the same point, under which negative eigenvalues of the slack are gone.

Where rows say the same more than once, many multipliers y make a point stationary, and those that
were found need not make the dual slack S(y) semidefinite. Exact rows may change theirs by any

.. math:: \Delta = A^*(d), \qquad \Delta R = 0, \quad B^T d = 0,

with the scalars' coefficients B, which moves neither the point nor the objective. The shortest such
d that gives :math:`V^T S V` a wanted value, for eigenvectors V of negative eigenvalues, follows
from the projections of the rows' values at V.

Inequalities may raise theirs: by :math:`t a`, with a their values at an eigenvector, which lifts it
by :math:`t |a|^2` and costs :math:`t\,b^T a` of the bound.

References
----------
Connelly, "Generic global rigidity", Discrete Comput. Geom. 33, 2005, on stresses, which such d are.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg.factorization import symmetric_factor
from sdpdr.solvers.lowrank.general.hessian import Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout
from sdpdr.solvers.lowrank.general.lowest import QUICK, lowest
from sdpdr.solvers.lowrank.general.problem import FactorBlock
from sdpdr.solvers.lowrank.general.verdict import Unknowns

# Columns of a factor below this share of its largest are none.
_NOTHING = 1e-5
# Pivot of unknowns, beside rows of size one.
_PIVOT = 1e-10
# What negative eigenvalues are turned into, over what they are; they count from a share of the
# lowest on.
_OVERSHOT, _CLEAR = 1.0, 0.01
# Share of the rows' values at a pair of eigenvectors that has to be left by the projection.
_LEFT = 1e-6
# Eigenvectors lifted at once where inequalities are raised, and where exact rows change, whose
# pairs are counted; rounds.
_MANY, _FEW, _ROUNDS = 40, 6, 12
_SURPLUS = 1.05
# Square of what rows see of an eigenvector that none of them holds back.
_UNHELD = 1e-20


class Lift:
    """Changes of the multipliers of exact rows at one point.

    Each change is to raise the negative eigenvalues that are known, and to leave those unchanged
    that earlier changes have raised.

    Parameters
    ----------
    layout : Layout
        Layout of one matrix variable, whose rows depend on entries only.
    vector : array
        The point.
    """

    @classmethod
    def of(cls, layout: Layout, vector: Array) -> Lift | None:
        """At a point; None where there are several matrices, long vectors, or no exact rows."""
        problem = layout.problem
        matrices = [b for b in problem.blocks if not b.scalar]
        if len(matrices) != 1 or not problem.equal.any():
            return None
        return None if matrices[0].forms.weights.nnz else cls(layout, vector)

    def __init__(self, layout: Layout, vector: Array) -> None:
        self._problem = problem = layout.problem
        self._place = next(k for k, b in enumerate(problem.blocks) if not b.scalar)
        factor = layout.split(vector)[0][self._place]
        left, size, _ = np.linalg.svd(factor, full_matrices=False)
        present = size > _NOTHING * size[0]
        forms = problem.blocks[self._place].forms
        slopes = Jacobian(forms).matrix(left[:, present] * size[present])
        scalars = [b.forms.matrix[1:] for b in problem.blocks if b.scalar]
        moved = sp.csr_array(sp.hstack([slopes, problem.free[1:], *scalars]))
        self._project = _projection(sp.csr_array(moved[np.flatnonzero(problem.equal)]))
        self._read = self._free = np.zeros((int(problem.equal.sum()), 0))

    def __call__(self, values: Array, vectors: Array) -> Array | None:
        """The change of all multipliers that turns the negative ones of some eigenvalues.

        Parameters
        ----------
        values : array of shape (k,)
            The lowest, ascending.
        vectors : array of shape (n, k)

        Returns
        -------
        array of shape (m,), or None
            None where no multipliers change anything about them.
        """
        chosen = values < min(_CLEAR * values[0], 0.0)
        vectors, values = vectors[:, chosen], values[chosen]
        forms = self._problem.blocks[self._place].forms
        k, el = np.triu_indices(values.size)
        pairs = zip(k, el, strict=True)
        read = [forms.cross(vectors[:, [a]], vectors[:, [b]])[1:] / 2.0 for a, b in pairs]
        wanted = np.where(k == el, -(1.0 + _OVERSHOT) * values[k], 0.0)
        rows = np.array(read).T[self._problem.equal]
        wanted = np.append(np.zeros(self._read.shape[1]), wanted)
        self._read = np.hstack([self._read, rows])
        self._free = np.hstack([self._free, self._project(rows)])
        able = np.linalg.norm(self._free, axis=0) > _LEFT * np.linalg.norm(self._read, axis=0)
        if not able[-1 - rows.shape[1] :].any():
            return None
        gram = self._read[:, able].T @ self._free[:, able]
        weights = np.linalg.lstsq(gram, wanted[able], rcond=1e-10)[0]
        change = np.zeros(self._problem.m)
        change[self._problem.equal] = self._free[:, able] @ weights
        return change


class Reinforcement:
    """Changes of multipliers at one point that lift what is negative of the dual slacks.

    Parameters
    ----------
    at : Unknowns
        The point.
    seed : int
    """

    def __init__(self, at: Unknowns, seed: int) -> None:
        self._problem, self._seed = at.layout.problem, seed
        self._exact = Lift.of(at.layout, at.vector)
        factors, _ = at.layout.split(at.vector)
        self._traces = [float(np.sum(np.square(f))) for f in factors]

    def __call__(self, multipliers: Array, loss: float) -> Array:
        """Multipliers whose slacks are negative by no more than costs a loss of the bound."""
        count = _MANY if self._exact is None else _FEW
        for _ in range(_ROUNDS):
            change, lost = np.zeros(self._problem.m), 0.0
            y = np.append(1.0, multipliers)
            for block, trace in zip(self._problem.blocks, self._traces, strict=True):
                if block.scalar:
                    continue
                slack = block.forms.slack(y)
                values, vectors = lowest(slack, block.face, count, self._seed, dense=QUICK)
                negative = values < 0.0
                lost += -float(np.min(values, initial=0.0)) * trace
                if negative.any():
                    found = None if self._exact is None else self._exact(values, vectors)
                    raised = self._raised(block, values[negative], vectors[:, negative])
                    change += raised if found is None else found
            if lost <= loss or not change.any():
                break
            multipliers = multipliers + change
        return multipliers

    def _raised(self, block: FactorBlock, values: Array, vectors: Array) -> Array:
        """What inequalities are raised by for negative eigenvalues."""
        change = np.zeros(self._problem.m)
        for value, vector in zip(values, vectors.T, strict=True):
            rows = block.forms.values(vector[:, None])[1:]
            a = np.where(self._problem.equal, 0.0, np.maximum(rows, 0.0))
            square = float(a @ a)
            if square > _UNHELD:
                change += _SURPLUS * -value / square * a
        return change


def _projection(moved: sp.csr_array) -> Callable[[Array], Array]:
    r"""The projection of columns on d with :math:`N^T d = 0`, by one factorization.

    .. math:: \begin{pmatrix} I & N \\ N^T & -\epsilon I \end{pmatrix}
        \begin{pmatrix} d \\ x \end{pmatrix} = \begin{pmatrix} a \\ 0 \end{pmatrix}
    """
    m, n = moved.shape
    size = float(abs(moved).max()) if moved.nnz else 1.0
    pivots = np.full(n, -_PIVOT)
    upper = sp.csc_array(
        sp.bmat([[sp.eye_array(m), moved / size], [None, sp.diags_array(pivots)]], format="csc")
    )
    upper.sort_indices()
    factor = symmetric_factor(upper)
    factor.factorize(upper.data)

    def project(columns: Array) -> Array:
        longer = np.vstack([columns, np.zeros((n, columns.shape[1]))])
        return factor.solve_all(longer)[:m]

    return project
