r"""Proofs of values and bounds, which are the same statement.

*Near y lies an exact solution of* :math:`E y = f`, *and all of the box around it maps into the
cone.* For a value, y is the point, and the equations are those of the program; for a bound, y is
the multipliers, and the equations are those of the dual. `value_proof` and `bound_proof` set up the
statement; `Proof` moves y as little as can be verified. If no box is in the cone, the statement is
proved in the metric of the matrices (`sdpdr.certify.stretched`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, largest, row_of_each
from sdpdr.certify.cones import LEAST, Cone
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.flat import SEMIDEFINITE, FlatProgram
from sdpdr.certify.knowledge import BOUND, VALUE
from sdpdr.certify.products import below, exact_residual
from sdpdr.certify.rounding import inner, residual
from sdpdr.certify.statement import Box, Own, Statement
from sdpdr.certify.stretched import stretched
from sdpdr.certify.symmetric_cones import Nonnegative, Semidefinite


class Proved(NamedTuple):
    """A proved side: a number, and the point or the multipliers that prove it.

    Attributes
    ----------
    number : float
        A number that the value of a feasible point does not exceed; or a bound.
    at : array
        A point, or multipliers of equations and cones, next to those that exist.
    """

    number: float
    at: Array


@dataclass(frozen=True, eq=False)
class Proof(Statement):
    """The statement that proves one side of a program.

    Attributes
    ----------
    side : {"value", "bound"}
        The cost is the number itself, or minus the number.
    is_exact : bool
        Whether the numbers of the program are exact, without radii.
    itself : callable
        The point of the cones at y, with the radii of its rounding.
    """

    side: str
    is_exact: bool
    itself: Callable[[Array], Box]

    @property
    def _what(self) -> str:
        return "the point" if self.side == VALUE else "the multipliers"

    def _proved(self, cost: float, y: Array) -> Proved:
        return Proved(cost if self.side == VALUE else -cost, y)

    def near(self, y: Array, *, in_box: bool = False, strictly: bool = False) -> Proved:
        """Prove a number next to y; with ``in_box``, only by a box around it in the cones.

        With ``strictly``, the box must lie in the interior of the cones.

        Raises
        ------
        UnprovedError
        """
        y, cost = self.boxed(y, strictly=strictly)
        if cost is not None:
            return self._proved(cost, y)
        if in_box or strictly:
            raise UnprovedError(f"the box around {self._what} leaves the cone")
        return self._in_metric(y)

    def _in_metric(self, y: Array) -> Proved:
        """Prove a number next to y in the metric of its matrices."""
        _, more = stretched(self, y).boxed(np.zeros(y.size))
        if more is None:
            raise UnprovedError(f"no exact solution next to {self._what} is shown to be inside")
        cost = inner(self.cost, y, 0.0, self.radii_of_cost)[1] + more
        return self._proved(float(np.nextafter(cost, np.inf)), y)

    def at(self, y: Array) -> Proved:
        """Prove the number of y itself, if it satisfies all equations exactly and is in the cones.

        Raises
        ------
        UnprovedError
        ArithmeticError
            If errors of products could underflow.
        """
        if not self.is_exact:
            raise UnprovedError("numbers of the program are rounded themselves")
        if not self.contain(*self.itself(y)):
            raise UnprovedError(f"the cone does not hold {self._what} as given")
        if any(np.any(part) for part in exact_residual(self.f, self.E, y)):
            raise UnprovedError("equations do not hold exactly")
        return self._proved(inner(self.cost, y)[1], y)

    def towards(self, y: Array, inside: Array, most: float = 1.0, least: float = 1e-9) -> Proved:
        """Prove the number of ``inside``, or of y moved towards it as little as can be verified.

        Moved points are proved by boxes only, which are faster than the metric.

        Parameters
        ----------
        y, inside : arrays
            y is used if it costs less than ``inside``.
        most : float, default 1
            Largest share of the way. Below one, only the point at this share is tried.
        least : float, default 1e-9
            Smallest share of the way: a smaller one gains nothing.

        Raises
        ------
        UnprovedError
            If not even ``inside`` is proved.
        """
        if most < 1.0:
            return self.near(y + most * (inside - y))
        at, cost = self.boxed(inside)
        if cost is None:
            # Nearer to the boundary, no box lies in the cone either.
            return self._in_metric(at)
        best = self._proved(cost, at)
        if not self.cost @ y < self.cost @ inside:
            return best
        shares = least * 10.0 ** np.arange(np.ceil(-np.log10(least)))
        # The smallest share is tried first, and then the others by bisection.
        low, middle, high = 0, 0, len(shares)
        while low < high:
            try:
                best = self.near(y + shares[middle] * (inside - y), in_box=True)
                high = middle
            except UnprovedError:
                low = middle + 1
            middle = (low + high) // 2
        return best


def value_proof(program: FlatProgram, s: Array) -> Proof:
    """A proof of values near points x, whose slack ``b - A x`` lies in the cones.

    Parameters
    ----------
    program : FlatProgram
    s : array of shape (k,)
        The slack of one such point, which sets the metric.

    Examples
    --------
    >>> from sdpdr.certify.flat import NONNEGATIVE, Piece, build
    >>> above_one = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), -np.ones(1))
    >>> program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above_one])
    >>> proof = value_proof(program, np.ones(1))
    >>> proof.near(np.array([2.0])).at, bool(0.0 <= proof.at(np.ones(1)).number - 1.0 < 1e-14)
    (array([2.]), True)
    """
    A, around = program.A, program.around
    with np.errstate(over="ignore"):  # of entries that must not move at all
        scale = 1.0 / program.each(_sizes, s)
        terms = np.square(A.data) * scale[row_of_each(A)]
        D = 1.0 / np.maximum(np.bincount(A.indices, terms, program.c.size), 1e-100)

    def matrices() -> list[Own]:
        parts = (part for part in program.parts if part.kind == SEMIDEFINITE)
        some = ((part, program.own(part)) for part in parts)
        return [Own.of(part, columns) for part, columns in some if columns is not None]

    # Entries that no cone sees may move as far as the freest of the others.
    D = np.minimum(D, np.max(D, where=D < 1e99, initial=1e-99))
    return Proof(
        side=VALUE,
        is_exact=around.is_exact,
        E=program.E,
        f=program.f,
        radii=around.E,
        squares=D,
        cost=program.c,
        radii_of_cost=around.cost,
        box=lambda x, radius: residual(program.b, A, x, radius, around.A),
        contain=program.contain,
        itself=lambda x: exact_residual(program.b, A, x),
        matrices=matrices,
    )


def bound_proof(program: FlatProgram, z: Array) -> Proof:
    """A proof of bounds near multipliers of equations and cones, the latter in the dual cones.

    Parameters
    ----------
    program : FlatProgram
    z : array of shape (m + k,)
        Multipliers, which set the metric.
    """
    m = program.f.size
    free = np.full(m, np.square(max(1.0, largest(z))))
    D = np.concatenate([free, program.each(_sizes, z[m:])])
    radii, radii_of_cost = _radii_of_dual(program)

    def matrices() -> list[Own]:
        parts = (part for part in program.parts if part.kind == SEMIDEFINITE)
        return [Own.of(part, m + part.rows, off=2.0) for part in parts]

    return Proof(
        side=BOUND,
        is_exact=program.around.is_exact,
        E=program.dual_equations,
        f=-program.c,
        radii=radii,
        squares=D,
        cost=np.concatenate([program.f, program.b]),
        radii_of_cost=radii_of_cost,
        box=lambda y, radius: (y[m:], radius[m:]),
        contain=program.dual_contain,
        itself=lambda y: (y[m:], np.zeros(y.size - m)),
        matrices=matrices,
    )


def _radii_of_dual(program: FlatProgram) -> tuple[sp.csr_array | None, Array | float]:
    """Radii of the equations of the dual, and of its cost: the right sides of the program."""
    around, n = program.around, program.c.size
    if around.is_exact:
        return None, 0.0
    rows = below([(around.E, program.f.size), (around.A, program.b.size)], n + 1)
    if rows is None:
        rows = sp.csr_array((program.f.size + program.b.size, n + 1))
    costs = sp.csr_array(np.reshape(np.zeros(n) + around.cost, (n, 1)))
    return sp.csr_array(sp.hstack([rows[:, :n].T, costs])), rows[:, [-1]].toarray().ravel()


def _sizes(cone: Cone, v: Array) -> Array:
    """The metric of small corrections: sizes of entries times the size of their copy."""
    if isinstance(cone, Semidefinite):
        d = np.sqrt(np.abs(v[:, cone.i == cone.j]) + 1e-200)
        d = np.maximum(d, 1e-6 * d.max(axis=1, keepdims=True))
        return np.asarray(d[:, cone.i] * d[:, cone.j] * d.max(axis=1, keepdims=True) ** 2)
    largest = np.maximum(np.max(np.abs(v), axis=1, keepdims=True), LEAST)
    if isinstance(cone, Nonnegative):
        return np.asarray(np.maximum(np.abs(v), 1e-12 * largest) * largest)
    return np.repeat(largest**2, cone.dim, axis=1)
