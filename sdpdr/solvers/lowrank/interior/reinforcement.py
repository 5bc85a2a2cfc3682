r"""Multipliers of the same point under which dual slacks have no negative eigenvalues any more.

Multipliers of rows that say nearly the same are not unique, and those found may leave a slack with
many eigenvalues a little below zero, each of a small part of the points. Raising the multipliers of
inequalities by :math:`t a`, with a their values at an eigenvector, lifts it by :math:`t |a|^2` and
costs :math:`t\,b^T a` of the bound; those of exact rows change as `Lift` says.
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.general.lowest import QUICK, lowest
from sdpdr.solvers.lowrank.general.problem import FactorBlock
from sdpdr.solvers.lowrank.general.verdict import Unknowns
from sdpdr.solvers.lowrank.interior.lift import Lift

# Eigenvectors lifted at once where inequalities are raised, and where exact rows change, whose
# pairs are counted; rounds.
_MANY, _FEW, _ROUNDS = 40, 6, 12
_SURPLUS = 1.05
# Square of what rows see of an eigenvector that none of them holds back.
_NOTHING = 1e-20


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
            if square > _NOTHING:
                change += _SURPLUS * -value / square * a
        return change
