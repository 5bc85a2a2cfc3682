r"""The augmented Lagrangian on a product of spheres.

Rows that fix lengths hold at every point, and have the multipliers that make the gradient tangent;
the others have a price,

.. math::

    L(R) = f(R) + \frac{|y + \sigma h(R)|^2 - |y|^2}{2 \sigma}, \qquad
    \operatorname{Hess} L [D] = P_R \left( 2 S(u) D + 2 \sigma A^*(J D) R \right),

with :math:`u = y + \sigma h` on those, and the closed form on the others, in the dual slack S.
:math:`P_R` is the projection on tangent directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.spheres import Spheres
from sdpdr.solvers.lowrank.general.forms import Slack
from sdpdr.solvers.lowrank.general.lagrangian import Lagrangian, Local


@dataclass(eq=False)
class SphereLagrangian(Lagrangian):
    """The function that a descent minimises; multipliers of rows that are kept do not count."""

    spheres: Spheres

    def at(self, vector: Array) -> SphereLocal:
        """Value and derivatives at the nearest point of the spheres."""
        return SphereLocal(self, vector)


class SphereLocal(Local):
    """The function near one point; attributes as of `Local`, ``active`` the rows with a price."""

    function: SphereLagrangian

    def __init__(self, function: SphereLagrangian, vector: Array) -> None:
        layout, problem, sigma = function.layout, function.layout.problem, function.penalty
        self.function, self.active = function, function.spheres.free
        self.vector = function.spheres.retracted(layout, vector)
        values = layout.values(self.vector)
        self.objective = layout.objective(self.vector, values)
        self.excess = np.where(self.active, values[1:] - problem.rhs, 0.0)
        before = np.where(self.active, function.multipliers, 0.0)
        self.estimate = before + sigma * self.excess
        change = self.excess @ (self.estimate + before)
        self.value = self.objective + 0.5 * float(change)
        self._factors, self._free = layout.split(self.vector)
        self._products = self._with_closed_form()
        self._slacks: list[Slack] | None = None

    def _with_closed_form(self) -> list[Array]:
        """Fill in the multipliers of the spheres; twice the dual slack times each factor."""
        problem = self.function.layout.problem
        y = np.append(1.0, self.estimate)
        products = [
            block.forms.slack(y) @ factor
            for block, factor in zip(problem.blocks, self._factors, strict=True)
        ]
        triples = zip(self.function.spheres.blocks, self._factors, products, strict=True)
        tangent = []
        for groups, factor, product in triples:
            self.estimate[groups.rows] = groups.multipliers(factor, product)
            tangent.append(groups.tangent(factor, product) if groups.rows.size else product)
        return [2.0 * product for product in tangent]

    def gradient(self) -> Array:
        """The gradient, tangent to the spheres and in the faces."""
        layout, problem = self.function.layout, self.function.layout.problem
        y = np.append(1.0, self.estimate)
        on_free = problem.free.T @ y + problem.curvature * self._free
        return layout.project(layout.join(self._products, on_free))
