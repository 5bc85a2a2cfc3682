r"""The statement behind every proof, and its proof by a box.

*Near y lies an exact solution of* :math:`E y = f`, *and all of the box around it maps into the
cone.* Then that solution costs no more than the worst point of the box.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.equations import Equations
from sdpdr.certify.flat import Part
from sdpdr.certify.rounding import TINY, inner
from sdpdr.certify.symmetric_cones import Semidefinite
from sdpdr.linalg.svec import upper_triangle

# Share by which a box is larger than another one.
_WIDER = 2.0**-40
# The middle of a box, and its radius.
Box = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Own:
    """A matrix that consists of unknowns.

    Attributes
    ----------
    order : int
    rows : array of int
        Where it is among all cones.
    columns : array of int
        The unknowns of its triangle, which are the entries times some weights.
    weights : array
        Powers of two.
    """

    order: int
    rows: Index
    columns: Index
    weights: Array

    @classmethod
    def of(cls, part: Part, columns: Index, *, off: float = 1.0) -> Own:
        """That of a cone, where unknowns off the diagonal are ``off`` times the entries."""
        i, j = upper_triangle(int(part.size))
        return cls(int(part.size), part.rows, columns, np.where(i == j, 1.0, off))

    def matrix(self, y: Array) -> Array:
        """The matrix at a point."""
        return Semidefinite(1, self.order).matrices((y[self.columns] / self.weights)[None])[0]


@dataclass(frozen=True, eq=False)
class Statement:
    """Equations, a cost, and cones; equations are factorized once, in a metric of sizes.

    Attributes
    ----------
    E, f : sparse array, array
        The equations.
    radii : sparse array or None
        Those of the numbers of E and, last, of f.
    squares : array
        Squared sizes by which the entries of y may move.
    cost, radii_of_cost : arrays
        What is to be small.
    box : callable
        What the cones see of the box around y.
    contain : callable
        Whether all of that lies in them.
    matrices : callable
        The matrices that consist of entries of y.
    """

    E: sp.csr_array
    f: Array
    radii: sp.csr_array | None
    squares: Array
    cost: Array
    radii_of_cost: Array | float
    box: Callable[[Array, Array], Box]
    contain: Callable[[Array, Array], bool]
    matrices: Callable[[], list[Own]]

    @cached_property
    def _equations(self) -> Equations:
        return Equations(self.E, self.f, self.squares, self.radii)

    @cached_property
    def _sharper(self) -> Equations | None:
        return self._equations.sharper()

    def boxed(self, y: Array, *, strictly: bool = False) -> tuple[Array, float | None]:
        """Y moved onto the equations, and the largest cost in a box with an exact solution.

        None if the box is not shown to be in the cones; ``strictly`` asks for one inside of them,
        where no point of the boundary is. Where the cones hold y, but not the box, a smaller box
        may do.

        Raises
        ------
        UnprovedError
        """
        y, radius = self._equations.near(y)
        found = self._in_box(y, radius, strictly=strictly)
        if found is None and self._is_inside(y) and self._sharper is not None:
            found = self._in_box(*self._sharper.near(y), strictly=strictly)
        return y, found

    def _in_box(self, y: Array, radius: Array, *, strictly: bool) -> float | None:
        middle, around = self.box(y, radius)
        if not self.contain(middle, _beyond(around) if strictly else around):
            return None
        return inner(self.cost, y, radius, self.radii_of_cost)[1]

    def _is_inside(self, y: Array) -> bool:
        """Whether the cones hold a point, though perhaps no box around it."""
        return self.contain(*self.box(y, np.zeros_like(y)))


def _beyond(radius: Array) -> Array:
    """A larger box: where all of it is in a cone, what is within ``radius`` is inside."""
    return (1.0 + _WIDER) * radius + TINY
