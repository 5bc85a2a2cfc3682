"""Limits on squared edge lengths as rows with boxes of multipliers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector


@dataclass(frozen=True, eq=False)
class Rows:
    r"""Penalties of the relative squared lengths :math:`h_e = q_e / d_e`, one row per limit.

    A row with target b, multiplier box [low, high] and compliance :math:`\gamma` stands for

    .. math:: \varphi(h) = \max_{low \le y \le high} \; y (h - b) - \tfrac{\gamma}{2} y^2 ,

    whose optimality conditions, with a slack t for each finite end of the box, are

    .. math:: h - b - \gamma y = t_{high} - t_{low}, \qquad
              t_{high} (high - y) = 0, \qquad t_{low} (y - low) = 0 .

    A hard upper limit is the box [0, inf], a hard lower one [-inf, 0], an equality
    [-inf, inf]; a price shortens the infinite end; a stiffness v on squared lengths is the
    compliance :math:`1 / (v d_e^2)`. Two-sided limits are two rows of one edge.
    """

    edge: Index
    target: Vector
    low: Vector
    high: Vector
    compliance: Vector
    scale: Vector
    aligned: bool

    @classmethod
    def of(cls, program: EdgeProgram) -> Rows:
        """Split the limits of a program into rows.

        Examples
        --------
        >>> band = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=0.9, upper=1.1)
        >>> rows = Rows.of(band)
        >>> rows.target, rows.low, rows.high
        (array([1.1, 0.9]), array([  0., -inf]), array([inf,  0.]))
        """
        d = program.sqdist
        equal = program.lower == program.upper
        above = np.flatnonzero(np.isfinite(program.upper) & ~equal)
        below = np.flatnonzero(np.isfinite(program.lower) & ~equal)
        both = np.flatnonzero(equal)
        edge = np.concatenate([above, below, both])
        target = np.concatenate([program.upper[above], program.lower[below], program.upper[both]])
        price = program.price * d
        zero = np.zeros
        return cls(
            edge=edge,
            target=target / d[edge],
            low=np.concatenate([zero(len(above)), -price[below], -price[both]]),
            high=np.concatenate([price[above], zero(len(below)), price[both]]),
            compliance=1.0 / (program.stiffness * d**2)[edge],
            scale=d,
            aligned=np.array_equal(edge, np.arange(program.m)),
        )

    def lengths(self, delta: Matrix) -> Vector:
        """Relative squared length of every row's edge."""
        return self.take(np.einsum("ij,ij->i", delta, delta) / self.scale)

    def take(self, value: Vector) -> Vector:
        """Bring a value per edge to the rows."""
        return value if self.aligned else value[self.edge]

    def weights(self, y: Vector) -> Vector:
        """Edge weights w, the multipliers of the squared lengths, from row multipliers."""
        return self._sum(y) / self.scale

    def stiffness(self, sigma: Vector) -> Vector:
        """Curvatures of the squared lengths from those of the rows."""
        return self._sum(sigma) / self.scale**2

    def _sum(self, value: Vector) -> Vector:
        if self.aligned:
            return value
        return np.asarray(np.bincount(self.edge, value, len(self.scale)), dtype=float)
