"""What an edge program maximises: variance, spread of chosen pairs, or side information."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Edges = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Objective:
    r"""The form :math:`\langle C, R R^T\rangle` of a centred factor, C never formed.

    .. math:: \langle R, C R\rangle = t \sum_i c_i |R_i|^2 + \sum_f p_f |R_i - R_j|^2
              + |F^T R|_F^2 ,

    with masses c, pulls p > 0 on pairs f = (i, j), and side information F.

    Parameters
    ----------
    mass : (n,) array
        c.
    variance : float, default 1
        t, at least 0.
    pairs : (p, 2) array of int
        Each i < j, once.
    pull : (p,) array
    side : (n, q) array
        F; its columns sum to zero, so that moving all points changes nothing.
    """

    mass: Vector
    variance: float = 1.0
    pairs: Edges = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    pull: Vector = field(default_factory=lambda: np.empty(0))
    side: Matrix | None = None

    @property
    def is_variance(self) -> bool:
        """Whether there is nothing but variance."""
        return len(self.pairs) == 0 and self.side is None

    @property
    def width(self) -> int:
        """Number q of columns of F."""
        return 0 if self.side is None else self.side.shape[1]

    def times(self, R: Matrix) -> Matrix:
        """C R.

        Examples
        --------
        >>> pair = Objective(np.ones(2), 0.0, np.array([[0, 1]]), np.ones(1))
        >>> pair.times(np.array([[0.0], [3.0]])).ravel()
        array([-3.,  3.])
        """
        product = (self.variance * self.mass)[:, None] * R
        if len(self.pairs):
            i, j = self.pairs.T
            force = self.pull[:, None] * (R[i] - R[j])
            np.add.at(product, i, force)
            np.subtract.at(product, j, force)
        if self.side is not None:
            product += self.side @ (self.side.T @ R)
        return product

    def value(self, R: Matrix) -> float:
        """The form at a factor."""
        if self.is_variance:
            return self.variance * float(self.mass @ np.einsum("ij,ij->i", R, R))
        return float(np.sum(R * self.times(R)))

    def size(self) -> float:
        """Mean diagonal entry of C."""
        total = self.variance * self.mass.sum() + 2.0 * self.pull.sum()
        if self.side is not None:
            total += np.sum(np.square(self.side))
        return float(total / len(self.mass))

    def scaled(self, mass: float, size: float) -> Objective:
        """With masses divided by a number, and the whole form by another."""
        return replace(
            self,
            mass=self.mass / mass,
            variance=self.variance * mass / size,
            pull=self.pull / size,
            side=None if self.side is None else self.side / np.sqrt(size),
        )
