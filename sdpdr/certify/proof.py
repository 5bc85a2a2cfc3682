r"""The two proofs, which are one statement.

*Near y lies an exact solution of* :math:`E y = f`, *and all of the box around it maps into the
cone.* For a value, y is the point, and the equations are those of the program; for a bound, y is
the multipliers, and the equations are those of the dual.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.cones import Cone
from sdpdr.certify.dual import dual_program
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.flat import FlatProgram
from sdpdr.certify.rounding import TINY, exact_residual, inner, residual
from sdpdr.certify.stretched import Stretched
from sdpdr.certify.symmetric_cones import Nonnegative, Semidefinite

# Share by which a box is larger than another one.
_WIDER = 2.0**-40
# Shares of the way to a point inside, of which the least is taken that verifies.
_SHARES = 10.0 ** np.arange(-9.0, -0.5)


class Proved(NamedTuple):
    """A side that is proved: a number, and where it comes from.

    Attributes
    ----------
    number : float
        A value that is attained, or exceeded nowhere; or a bound.
    at : array
        A point, or multipliers of equations and cones, next to those that exist.
    is_deep : bool
        Whether a point further inside than this one would be of no use.
    """

    number: float
    at: Array
    is_deep: bool = True


def _sizes(cone: Cone, v: Array, *, dual: bool = False) -> Array:
    """The metric of small corrections: sizes of entries times that of their copy."""
    if isinstance(cone, Semidefinite):
        matrices = cone.matrices(v / cone.weight if dual else v)
        d = np.sqrt(np.abs(np.diagonal(matrices, axis1=1, axis2=2)) + 1e-200)
        d = np.maximum(d, 1e-6 * d.max(axis=1, keepdims=True))
        return np.asarray(d[:, cone.i] * d[:, cone.j] * d.max(axis=1, keepdims=True) ** 2)
    largest = np.max(np.abs(v), axis=1, keepdims=True) + 1e-150
    if isinstance(cone, Nonnegative):
        return np.asarray(np.maximum(np.abs(v), 1e-12 * largest) * largest)
    return np.repeat(largest**2, cone.dim, axis=1)


class Proof:
    """Both proofs for a program; equations are factorized once, in a metric of sizes.

    Parameters
    ----------
    program : FlatProgram
    s : array of shape (k,)
        Slack of a point that is to be proved feasible.
    z : array of shape (m + k,)
        Multipliers of equations and cones that are to prove a bound.
    """

    def __init__(self, program: FlatProgram, s: Array, z: Array) -> None:
        self._program, self._s, self._z = program, s, z

    @cached_property
    def _primal(self) -> Equations:
        program, A = self._program, self._program.A
        scale = program.each(_sizes, self._s)
        with np.errstate(over="ignore"):  # of entries that must not move at all
            D = 1.0 / np.maximum(A.multiply(A).T @ (1.0 / scale), 1e-100)
        # Entries that no cone sees move as the freest of the others do.
        D = np.minimum(D, np.max(D, where=D < 1e99, initial=1e-99))
        self._steps = np.sqrt(D)
        return Equations(program.E, program.f, D, program.around.E)

    @cached_property
    def _dual(self) -> Equations:
        program, m = self._program, self._program.f.size
        scale = program.each(lambda cone, v: _sizes(cone, v, dual=True), self._z[m:])
        free = np.full(m, np.square(max(1.0, float(np.max(np.abs(self._z), initial=0.0)))))
        E = sp.csr_array(sp.vstack([program.E, program.A]).T)
        data, D = _of_dual(program), np.concatenate([free, scale])
        self._dual_steps = np.sqrt(D)
        return Equations(E, -program.c, D, data)

    def value(self, x: Array, *, in_box: bool = False, strictly: bool = False) -> Proved:
        """A value that is attained next to x; only if a box around it is in the cone, if asked so.

        ``strictly`` asks for a box inside of the cone, where no point of the boundary is.

        Raises
        ------
        UnprovedError
        """
        program, around = self._program, self._program.around
        x, radius = self._primal.near(x)
        slack, box = residual(program.b, program.A, x, radius, around.A)
        if not program.contain(slack, _beyond(box) if strictly else box):
            if in_box or strictly:
                raise UnprovedError("the box around the point leaves the cone")
            return Proved(Stretched(program, x, self._steps).value(), x)
        return Proved(inner(program.c, x, radius, around.cost)[1], x)

    def value_at(self, x: Array) -> Proved:
        """The value of x itself, where it satisfies all equations exactly, and lies in the cone.

        Raises
        ------
        UnprovedError
        """
        program = self._program
        _require_exact(program, program.f, program.E, x)
        if not program.contain(*exact_residual(program.b, program.A, x)):
            raise UnprovedError("the point itself leaves the cone")
        return Proved(inner(program.c, x)[1], x)

    def bound_at(self, z: Array) -> Proved:
        """The bound by z itself, where it satisfies all equations of the dual exactly.

        Raises
        ------
        UnprovedError
        """
        program, cones = self._program, z[self._program.f.size :]
        E = sp.csr_array(sp.vstack([program.E, program.A]).T)
        _require_exact(program, -program.c, E, z)
        if not program.dual_contain(cones, np.zeros(cones.size)):
            raise UnprovedError("the multipliers themselves leave the dual cone")
        return Proved(inner(-np.concatenate([program.f, program.b]), z)[0], z)

    def bound(self, z: Array, *, in_box: bool = False, strictly: bool = False) -> Proved:
        """A bound by multipliers next to z, as `value` has it.

        Raises
        ------
        UnprovedError
        """
        program, m = self._program, self._program.f.size
        z, radius = self._dual.near(z)
        box = radius[m:]
        if not program.dual_contain(z[m:], _beyond(box) if strictly else box):
            if in_box or strictly or any(radii is not None for radii in program.around):
                raise UnprovedError("the box around the multipliers leaves the dual cone")
            dual, units = dual_program(program)
            return Proved(-Stretched(dual, z / units, self._dual_steps / units).value(), z)
        right = np.concatenate([program.f, program.b])
        return Proved(inner(-right, z, radius, right_sides(program))[0], z)


def _beyond(radius: Array) -> Array:
    """A larger box: where all of it is in a cone, what is within ``radius`` is inside."""
    return (1.0 + _WIDER) * radius + TINY


def _require_exact(program: FlatProgram, f: Array, E: sp.csr_array, y: Array) -> None:
    if any(radii is not None for radii in program.around):
        raise UnprovedError("numbers of the program are rounded themselves")
    if any(np.any(part) for part in exact_residual(f, E, y)):
        raise UnprovedError("equations do not hold exactly")


def _of_dual(program: FlatProgram) -> sp.csr_array | None:
    """Radii of the equations of the dual program."""
    around, n = program.around, program.c.size
    if all(radii is None for radii in around):
        return None
    rows = [
        sp.csr_array((size, n + 1)) if one is None else one
        for one, size in ((around.E, program.f.size), (around.A, program.b.size))
    ]
    cost = np.zeros(n) if around.c is None else around.c
    turned = sp.vstack(rows, format="csr")[:, :n].T
    return sp.csr_array(sp.hstack([turned, sp.csr_array(cost[:, None])]))


def right_sides(program: FlatProgram) -> Array | float:
    """Radii of the right sides of equations and cones."""
    around = program.around
    if around.E is None and around.A is None:
        return 0.0
    return np.concatenate(
        [
            np.zeros(size) if one is None else one[:, [-1]].toarray().ravel()
            for one, size in ((around.E, program.f.size), (around.A, program.b.size))
        ]
    )


def towards(
    prove: Callable[..., Proved],
    cost: Callable[[Array], float],
    y: Array,
    inside: Array,
    most: float = 1.0,
) -> Proved:
    """The proof for ``inside``, or for y moved towards it as little as can be verified.

    Parameters
    ----------
    prove : callable
        Proves a side. What is moved is to prove it by a box, which takes less time than a metric.
    cost : callable
        What is to be small: y is of use where it costs less than ``inside``.
    y, inside : arrays
    most : float, default 1
        Share of the way that is worth a proof; below one, ``inside`` itself is none.

    Raises
    ------
    UnprovedError
        If not even ``inside`` is proved.
    """
    if most < 1.0:
        return prove(y + most * (inside - y))
    try:
        best = prove(inside, in_box=True)
    except UnprovedError:
        # Nearer to the boundary no box is inside of the cone either.
        return prove(inside)._replace(is_deep=False)
    low, high = 0, len(_SHARES)
    is_better = cost(y) < cost(inside)
    while low < high and is_better:
        middle = (low + high) // 2
        try:
            best, high = prove(y + _SHARES[middle] * (inside - y), in_box=True), middle
        except UnprovedError:
            low = middle + 1
    return best._replace(is_deep=not is_better or high < len(_SHARES))
