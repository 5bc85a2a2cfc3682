r"""Proof that the equations have a solution near a factor, without leaving low rank.

In terms of a factor, :math:`M = R R^T`, membership of the cone is no condition, and the equations
are quadratic ones in the unknowns :math:`u = (R, z, f)`: points, scalars that are to be
non-negative, and free ones,

.. math::  F(u + d) = F(u) + J d + Q(d), \qquad Q(d)_e = \langle A_e, D D^T \rangle ,

where D is the part of d in R. Rows are in units of their slopes, and scalars with a sign in units
of themselves, so that they keep it as long as d is no longer than one. With the smallest singular
value of J at least :math:`\sigma`, :math:`|F(u)| \le \rho` and
:math:`|Q(d)| \le \kappa |D|^2`, there is a solution with

.. math::  |d| \le 2 \rho / \sigma \qquad\text{if}\qquad 4 \kappa \rho \le \sigma^2 :

the map :math:`w \mapsto -F(u) - Q(J^+ w)` takes the ball of radius :math:`2 \rho` to itself, and
by Brouwer's theorem has a fixed point w there, whose :math:`d = J^+ w` solves the equations.

Of :math:`\kappa`: with :math:`a_e` the size of :math:`A_e`, a the largest, and g the largest sum of
those that see one point,

.. math::  \sum_e \langle A_e, D D^T \rangle^2
           \le \sum_e \big(a_e |D_{(e)}|^2\big)^2
           \le a |D|^2 \sum_e a_e |D_{(e)}|^2 \le a\, g\, |D|^4 ,

where :math:`D_{(e)}` are the points that row e sees.

Rows with a scalar of their own, as the slack of an inequality that does not bind is, hold by that
one, and only have to leave it its sign.

Of a matrix too large to be written down, only the entries that rows read are in x, and what the
objective is on it is told by its map on the factor.

A box (`box`) needs a point well inside the cone, and steps of dense matrices to reach it; this
needs neither, and stays at the value of the factor. Where the feasible set has no interior,
multipliers y with :math:`\sum_e y_e A_e R = 0` exist, J has not full rank, and there is no such
proof.

References
----------
Rump, "Verification methods", Acta Numerica 19 (2010), section 13, for Brouwer's theorem as a
proof; Burer and Monteiro, Math. Program. 95 (2003), for the factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Effort, EffortSpentError
from sdpdr.linalg.rounding import UNIT, gamma, near_powers
from sdpdr.linalg.smallest import lu, smallest_eigenvalue
from sdpdr.linalg.svec import slopes, smat
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.linalg.walks import envelope
from sdpdr.program.attain.basis import ConeBlock
from sdpdr.program.attain.box import Box, OwnColumns, own_columns
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.attain.rounding import objective_around

# Slack, in units of its row, from which on a row holds by it.
_LOOSE = 1e-6
_STEPS = 8
# Operations of a dense factorization that take as long as one of a sparse one that fills in, of
# graphs with 120 to 1500 points, were 4 to 8; and the order up to which there are any: 500 MB.
_FASTER, _DENSEST = 5.0, 8000
# Times what a factorization takes that a bound on singular values did: 0.7 to 4.
_BOUNDED = 4.0
# Operations of a factorization that a product of two entries takes as long as, and most of these.
_PRODUCT, _MOST_PRODUCTS = 20.0, 2e8
_DEPENDENT = "the equations depend on each other in terms of the factor"


def solve_through_factor(program: ConeProgram, x: Array, factors: Mapping[str, Array]) -> Box | str:
    """A point near one of low rank that satisfies all equations exactly, or why none was found.

    Parameters
    ----------
    program : ConeProgram
    x : array of shape (N,)
        Near the feasible set.
    factors : mapping from name to array of shape (order, r)
        Of its matrices, on their faces.

    Returns
    -------
    Box or str
        The centre, and the largest objective that the exact point may have.
    """
    program.effort.spend(0.0)
    scaled = program.rescaled(x)
    system = _Factored(program, scaled, x / scaled.units, factors)
    return system.polish() or system.proved()


@dataclass(frozen=True, eq=False)
class _Points:
    """A matrix of the program as products of points, which are in units of their own."""

    block: ConeBlock
    factor: Array
    roots: Array


class _Factored:
    """The equations in terms of factors, scalars with a sign in units of themselves."""

    def __init__(
        self, program: ConeProgram, scaled: Scaled, y: Array, factors: Mapping[str, Array]
    ) -> None:
        self.program, self.scaled, self.y = program, scaled, y
        self.points = [_points(b, scaled, factors[b.name]) for b in program.blocks]
        scalars = np.concatenate([program.nonnegative, program.free])
        own_rows, own = own_columns(scaled)
        # An entry of a matrix is none of its own where the matrix is one of products.
        own_rows, own = (part[np.isin(own, scalars)] for part in (own_rows, own))
        slack = np.abs(OwnColumns(scaled, own_rows, own).entries) * y[own]
        loose = ~np.isin(own, program.nonnegative) | (slack > _LOOSE)
        self.own = OwnColumns(scaled, own_rows[loose], own[loose])
        self.rows = np.setdiff1d(np.arange(scaled.b.size), self.own.rows)
        self.scalars = np.setdiff1d(scalars, self.own.columns)
        self.is_signed = np.isin(self.scalars, program.nonnegative)
        self.y[self.scalars[self.is_signed]] = np.maximum(y[self.scalars[self.is_signed]], 0.0)

    # -- numbers --------------------------------------------------------------------------------

    def _units(self) -> Array:
        """Of the moves of scalars."""
        return np.where(self.is_signed, self.y[self.scalars], 1.0)

    def _slopes(self, A: sp.csr_array, size: bool = False) -> sp.csr_array:
        parts = [
            slopes(A[:, p.block.part], np.abs(p.factor) if size else p.factor, p.block.pairs)
            for p in self.points
        ]
        units = sp.diags_array(self._units())
        return sp.hstack([*parts, A[:, self.scalars] @ units], format="csr")

    def _vector(self) -> Array:
        """All of y, where matrices are products."""
        y = self.y.copy()
        for p in self.points:
            y[p.block.part] = p.block.products(p.factor)
        return y

    def polish(self) -> str | None:
        """Newton's shortest steps, until rounding ends them; why they lead nowhere, or None."""
        A, b = self.scaled.A[self.rows], self.scaled.b[self.rows]
        last = np.inf
        for _ in range(_STEPS if b.size else 0):
            missed = b - A @ self._vector()
            J = self._slopes(A)
            norms = spl.norm(J, axis=1)
            if np.any(norms == 0.0):
                return "an equation does not notice moves of the factor"
            if J.shape[0] > np.count_nonzero(spl.norm(J, axis=0) > _LOOSE):
                return _DEPENDENT
            unit = sp.diags_array(1.0 / norms) @ J
            size = float(np.linalg.norm(missed / norms))
            if not size < 0.5 * last:
                return None
            last = size
            step = _shortest(unit, missed / norms, self.program.effort)
            if step is None or not np.isfinite(step).all():
                return _DEPENDENT
            if not self._move(step):
                return "a scalar that is to be non-negative would be negative"
        return None

    def _move(self, step: Array) -> bool:
        start, moved = 0, []
        for p in self.points:
            end = start + p.factor.size
            moved.append(replace(p, factor=p.factor + step[start:end].reshape(p.factor.shape)))
            start = end
        share = step[start:]
        if np.any(share[self.is_signed] <= -0.9):
            return False
        self.points = moved
        self.y[self.scalars] = self.y[self.scalars] + self._units() * share
        return True

    # -- proof ----------------------------------------------------------------------------------

    def proved(self) -> Box | str:
        """The solution next to the point, with all rounding accounted for."""
        scaled, own = self.scaled, self.own.columns
        y = self.own.nearest(self._vector(), scaled.b)
        self.y[own] = y[own]
        J = self._slopes(scaled.A)
        units = near_powers(spl.norm(J, axis=1)[self.rows])
        rows = sp.diags_array(1.0 / units)
        inner = sp.csr_array(rows @ J[self.rows])
        error = self._errors_of_slopes()
        sigma = _least_singular(inner, self.program.effort) - 1.01 * float(
            np.linalg.norm((rows @ error[self.rows]).data)
        )
        if not sigma > 0.0:
            return _DEPENDENT
        missed = self._missed(y)
        rho = 1.01 * float(np.linalg.norm(missed[self.rows] / units))
        sizes = spl.norm(self._on_matrices(abs(scaled.A) + scaled.radius), axis=1)
        kappa = self._curvature(sizes[self.rows] / units)
        if not 4.04 * kappa * rho <= sigma**2:
            return "the equations are too close to dependent to be solved with a proof"
        far = 2.02 * rho / sigma
        if self.is_signed.any() and far > 1.0:
            return "a scalar that is to be non-negative may be negative near the factor"
        reach = missed + 1.01 * (spl.norm(abs(J) + error, axis=1) * far + sizes * far**2)
        change = np.zeros(y.size)
        change[own] = 1.01 * reach[self.own.rows] / self.own.least
        signed = own[np.isin(own, self.program.nonnegative)]
        if not np.all(y[signed] >= change[signed]):
            return "a scalar that is to be non-negative may be negative near the factor"
        factors = {p.block.name: p.factor * p.roots[:, None] for p in self.points}
        return Box(scaled.units * y, self._largest_value(y, far, change), factors)

    def _on_matrices(self, A: sp.csr_array) -> sp.csr_array:
        parts = [A[:, p.block.part] for p in self.points]
        return sp.hstack(parts, format="csr") if parts else sp.csr_array((A.shape[0], 0))

    def _errors_of_slopes(self) -> sp.csr_array:
        """Bounds on what rounding and the radius change in the slopes, entry by entry."""
        A = self.scaled.A
        terms = int(np.max(np.diff(A.indptr), initial=0)) + 8
        sizes = sp.csr_array(float(gamma(terms)) * abs(A) + self.scaled.radius)
        return sp.csr_array(1.01 * self._slopes(sizes, size=True))

    def _missed(self, y: Array) -> Array:
        """Bounds on what all rows miss, with matrices the exact products of the points."""
        scaled, size, rank = self.scaled, np.abs(y), 1
        for p in self.points:
            size[p.block.part] = p.block.products(np.abs(p.factor))
            rank = max(rank, p.factor.shape[1])
        terms = np.diff(scaled.A.indptr) + rank + 8
        rounding = gamma(terms) * (abs(scaled.A) @ size + np.abs(scaled.b)) + scaled.radius @ size
        return np.abs(scaled.b - scaled.A @ y) + 1.01 * rounding

    def _curvature(self, sizes: Array) -> float:
        """Bound on what moves of the points of length one add to all rows together."""
        largest = 0.0
        A = sp.csr_array(abs(self.scaled.A) + self.scaled.radius)[self.rows]
        for p in self.points:
            seen = sp.csr_array(A[:, p.block.part]).tocoo()
            i, j = (end[seen.col] for end in p.block.pairs)
            n = p.block.order
            shape = (seen.shape[0], n)
            row, point = np.concatenate([seen.row, seen.row]), np.concatenate([i, j])
            sees = sp.csr_array((np.ones(row.size), (row, point)), shape=shape)
            sees.data[:] = 1.0
            largest = max(largest, float(np.max(sees.T @ sizes, initial=0.0)))
        return 1.01 * float(np.sqrt(largest * np.max(sizes, initial=0.0)))

    def _largest_value(self, y: Array, far: float, change: Array) -> float:
        """Of the objective at the exact solution."""
        program, units = self.program, self.scaled.units
        x, c = units * y, program.c * units
        linear, quadratic = 0.0, 0.0
        for p in self.points:
            if p.block.places is not None:
                continue
            cost = smat(c[p.block.part])
            linear += (2.0 * float(np.linalg.norm(cost @ p.factor))) ** 2
            quadratic += float(np.linalg.norm(cost))
        bent = program.curvature * units * x
        moves = self._units()
        linear += float(np.sum(np.square((c + bent)[self.scalars] * moves)))
        curved = (program.curvature * units**2)[self.scalars] * moves**2
        quadratic += 0.5 * float(np.max(curved, initial=0.0))
        own = np.abs(c + bent) @ change + 0.5 * (program.curvature * units**2) @ change**2
        reach = np.abs(y) + change
        for p in self.points:
            reach[p.block.part] = p.block.products(np.abs(p.factor))
        size = (np.abs(program.c) + program.curvature * units * reach) @ (units * reach)
        rounding = float(gamma(2 * y.size + 16)) * (size + abs(program.sdp.constant))
        rounding += 4.0 * float(program.c_radius @ (units * reach)) * (1.0 + far) ** 2
        far_value = np.sqrt(linear) * far + quadratic * far**2
        apart = sum(
            objective_around(program.sdp, p.block.name, p.factor, p.roots, far)
            for p in self.points
            if p.block.places is not None
        )
        return program.value(x) + apart + 1.02 * float(far_value + own + rounding)


def _points(block: ConeBlock, scaled: Scaled, factor: Array) -> _Points:
    """The points in units of their own: the roots of those of the diagonal."""
    roots = np.sqrt(scaled.units[block.diagonal])
    return _Points(block, factor / roots[:, None], roots)


def _product(J: sp.csr_array, effort: Effort) -> sp.csr_array:
    """J J^T, where it is not too large.

    Raises
    ------
    EffortSpentError
    """
    products = float(np.sum(np.square(np.bincount(J.indices, minlength=J.shape[1]), dtype=float)))
    if products > _MOST_PRODUCTS:
        raise EffortSpentError(f"{J.shape[0]} equations meet in too many points of the factor")
    effort.spend(_PRODUCT * products)
    return sp.csr_array(J @ J.T)


def _operations(product: sp.csr_array) -> tuple[float, bool]:
    """What a factorization takes, about, and whether a dense one takes less."""
    sparse = float(np.sum(np.square(envelope(product), dtype=float)))
    dense = product.shape[0] ** 3 / (3.0 * _FASTER)
    is_dense = product.shape[0] <= _DENSEST and dense < sparse
    return dense if is_dense else sparse, is_dense


def _shortest(J: sp.csr_array, missed: Array, effort: Effort) -> Array | None:
    """The shortest solution of J d = r; None where there is none."""
    product = _product(J, effort)
    operations, is_dense = _operations(product)
    effort.spend(operations)
    try:
        if is_dense:
            root = sl.cho_factor(product.toarray(), overwrite_a=True)
            return np.asarray(J.T @ sl.cho_solve(root, missed))
        return np.asarray(J.T @ lu(sp.csc_array(product)).solve(missed))
    except (ArithmeticError, np.linalg.LinAlgError):
        return None


def _least_singular(J: sp.csr_array, effort: Effort) -> float:
    """A proven lower bound on the smallest singular value; zero where none is found."""
    product = _product(J, effort)
    effort.spend(_BOUNDED * _operations(product)[0])
    terms = int(np.max(np.diff(J.indptr), initial=0)) + 2
    radius = float(gamma(terms)) * (abs(J) @ abs(J).T)
    least = 0.5 * smallest_eigenvalue(product)[0]
    if not least > 0.0:
        return 0.0
    m = product.shape[0]
    radius = sp.csr_array(radius + 2.0 * UNIT * sp.diags_array(product.diagonal() + least))
    lowered = sp.csr_array(product - least * sp.eye_array(m))
    return float(np.sqrt(least)) * (1.0 - 1e-12) if is_verified_positive(lowered, radius) else 0.0
