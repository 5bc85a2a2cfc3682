r"""The augmented Lagrangian of a program over factors, and its derivatives.

With multipliers y, penalty sigma and :math:`u = y + \sigma h(x)`, cut off below zero on rows
with :math:`\le`,

.. math::

    L(x) = f(x) + \frac{|u|^2 - |y|^2}{2\sigma}, \qquad
    \nabla_{R_k} L = 2 S_k(u) R_k, \qquad
    \nabla^2 L[D] = 2 S_k(u) D_k + 2\sigma A_k^*(J D) R_k,

with the dual slack :math:`S_k(u) = C_k + A_k^*(u)` and J D restricted to the rows not cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.problem import FactorProblem


class Parts:
    """Matrices as one vector, row by row, and scalars behind them.

    Parameters
    ----------
    shapes : list of pairs of int

    Attributes
    ----------
    starts : list of int
        Where every matrix begins, and the scalars.
    """

    def __init__(self, shapes: list[tuple[int, int]]) -> None:
        self.shapes = shapes
        self.starts = [int(e) for e in np.cumsum([0] + [n * r for n, r in shapes])]
        self._spans = [slice(a, b) for a, b in pairwise(self.starts)]

    def split(self, vector: Array) -> tuple[list[Array], Array]:
        """Matrices and scalars, as views."""
        spans = zip(self._spans, self.shapes, strict=True)
        return [vector[span].reshape(shape) for span, shape in spans], vector[self.starts[-1] :]

    def join(self, matrices: list[Array], scalars: Array) -> Array:
        """One vector of them."""
        if len(matrices) == 1 and not scalars.size:
            return np.asarray(matrices[0].ravel())
        return np.concatenate([*[m.ravel() for m in matrices], scalars])


class Layout(Parts):
    """Unknowns of a problem as one vector: the factors row by row, then the free scalars.

    Parameters
    ----------
    problem : FactorProblem
    ranks : tuple of int
        Columns of each factor.
    """

    def __init__(self, problem: FactorProblem, ranks: tuple[int, ...]) -> None:
        self.problem, self.ranks = problem, ranks
        super().__init__([(b.n, r) for b, r in zip(problem.blocks, ranks, strict=True)])
        self.size = self.starts[-1] + problem.free.shape[1]

    def project(self, vector: Array) -> Array:
        """Its part in the faces."""
        if not any(b.face.shape[1] for b in self.problem.blocks):
            return vector
        factors, free = self.split(vector)
        blocks = self.problem.blocks
        return self.join([b.project(f) for b, f in zip(blocks, factors, strict=True)], free)

    def values(self, vector: Array) -> Array:
        """The objective without its quadratic part, then the left sides; shape (m + 1,)."""
        factors, free = self.split(vector)
        total = self.problem.free @ free
        for block, factor in zip(self.problem.blocks, factors, strict=True):
            total = total + block.forms.values(factor)
        return np.asarray(total)

    def objective(self, vector: Array, values: Array) -> float:
        """The objective, given what `values` returns."""
        free = self.split(vector)[1]
        return float(values[0] + 0.5 * (self.problem.curvature @ np.square(free)))


@dataclass(eq=False)
class Lagrangian:
    """The function that an inner loop minimises.

    Parameters
    ----------
    layout : Layout
    multipliers : array of shape (m,)
    penalty : float
    """

    layout: Layout
    multipliers: Array
    penalty: float

    def at(self, vector: Array) -> Local:
        """Value and derivatives at a point."""
        return Local(self, vector)


class Local:
    """The augmented Lagrangian near one point.

    Attributes
    ----------
    objective, value : float
        The objective of the program, and the value of the augmented Lagrangian.
    excess : array of shape (m,)
        h(x).
    estimate : array of shape (m,)
        u, the multipliers that the next outer step would take.
    active : array of bool, shape (m,)
        Rows that are not cut off.
    """

    def __init__(self, function: Lagrangian, vector: Array) -> None:
        self.function, self.vector = function, vector
        layout, problem, sigma = function.layout, function.layout.problem, function.penalty
        values = layout.values(vector)
        self.objective = layout.objective(vector, values)
        self.excess = values[1:] - problem.rhs
        u = function.multipliers + sigma * self.excess
        self.active: NDArray[np.bool_] = problem.equal | (u > 0.0)
        self.estimate = np.where(self.active, u, 0.0)
        change = (self.estimate - function.multipliers) * (self.estimate + function.multipliers)
        self.value = self.objective + float(change.sum()) / (2.0 * sigma)
        self._slacks: list[DualSlack] | None = None

    @property
    def slacks(self) -> list[DualSlack]:
        """S_k(u) of every matrix variable."""
        if self._slacks is None:
            y = np.concatenate([[1.0], self.estimate])
            self._slacks = [b.forms.slack(y) for b in self.function.layout.problem.blocks]
        return self._slacks

    def gradient(self) -> Array:
        """The gradient, projected on the faces."""
        layout = self.function.layout
        factors, free = layout.split(self.vector)
        products = [2.0 * (s @ f) for s, f in zip(self.slacks, factors, strict=True)]
        y = np.concatenate([[1.0], self.estimate])
        problem = layout.problem
        on_free = problem.free.T @ y + problem.curvature * free
        return layout.project(layout.join(products, on_free))

    def slope(self, change: Array) -> Array:
        """Slope of the objective and of all left sides along a direction; shape (m + 1,)."""
        layout = self.function.layout
        factors, _ = layout.split(self.vector)
        changes, free = layout.split(change)
        total = layout.problem.free @ free
        for block, f, d in zip(layout.problem.blocks, factors, changes, strict=True):
            total = total + block.forms.cross(f, d)
        return np.asarray(total)
