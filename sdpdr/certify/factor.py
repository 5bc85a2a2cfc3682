r"""Exact solutions of equations near a factor, at low rank.

In terms of a factor, :math:`K = R R^T` is always in the cone, and equations are quadratic in the
unknowns :math:`u = (R, z)`, points and scalars:

.. math::  F(u + d) = F(u) + J d + Q(d), \qquad Q(d)_e = \langle A_e, D D^T \rangle ,

where D is the part of d in R. Rows that confine K to a face, :math:`K U = 0`, are linear,
:math:`U^T R = 0`. Points are in units of their own lengths, rows in units of their slopes, and
scalars with a sign in units of themselves. With the smallest singular value of J at least
:math:`\sigma`, :math:`|F(u)| \le \rho` and :math:`|Q(d)| \le \kappa |D|^2`, there is a solution
with

.. math::  |d| \le 2 \rho / \sigma \qquad\text{if}\qquad 4 \kappa \rho \le \sigma^2 :

the map :math:`w \mapsto -F(u) - Q(J^+ w)` takes the ball of radius :math:`2 \rho` to itself, and
by Brouwer's theorem has a fixed point w there, whose :math:`d = J^+ w` solves the equations.

For :math:`\kappa`, let :math:`a_e` be at least the spectral norm of :math:`A_e`, a the largest of
them, and g the largest sum of those of rows that read one point. Then

.. math::  \sum_e \langle A_e, D H^T \rangle^2
           \le \sum_e a_e^2 |D_{(e)}|^2 |H_{(e)}|^2
           \le a |D|^2 \sum_e a_e |H_{(e)}|^2 \le a\, g\, |D|^2 |H|^2 ,

where :math:`D_{(e)}` are the points that row e reads. So :math:`\kappa = \sqrt{a g}`, and a step D
changes J by no more than :math:`2 \kappa |D|` in norm: one bound on singular values serves all
points that short steps lead to.

A fixed diagonal, a fixed number and a fixed principal block are such equations as well; the slopes
of the first are orthogonal, so their factorization takes no time.

If the feasible set has no interior, multipliers y with :math:`\sum_e y_e A_e R = 0` exist, J does
not have full rank, and there is no such proof.

References
----------
Rump, "Verification methods", Acta Numerica 19 (2010), section 13, for Brouwer's theorem as a
proof; Burer and Monteiro, Math. Program. 95 (2003), for the factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, largest
from sdpdr.base.deadline import Effort
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.inverses import Gram
from sdpdr.certify.near import Near, jacobian, left_over, terms_of
from sdpdr.certify.rounding import TINY, UP
from sdpdr.certify.shrink import Candidate
from sdpdr.certify.slack import Layout
from sdpdr.linalg import LinearMap
from sdpdr.linalg.magnitudes import of_sizes
from sdpdr.linalg.rounding import dot_enclosure, gamma, near_powers
from sdpdr.linalg.walks import envelope
from sdpdr.program.face import null_vectors

# Most Newton rounds with a new Jacobian, and steps with the same one, while a step halves the
# residual.
_ROUNDS, _STEPS = 4, 12
# Costs, in operations of a dense factorization: of a product of two sparse entries of J J^T, and of
# one entry of J in all. The most such products, which take a gigabyte.
_PRODUCT, _ENTRY, _MOST_PRODUCTS = 20.0, 2e3, 1e8
# Cost of a proved bound on singular values, in factorizations of J J^T.
_BOUNDED = 4.0
# Largest distance of the exact solution, in units of the points; `sdpdr.certify.near` needs less
# than one.
_FAR = 0.5
_DEPENDENT = "the equations depend on each other in terms of the factor"


def solved_near(
    layout: Layout,
    factors: Mapping[str, Array],
    z: Array,
    solved: NDArray[np.bool_],
    effort: Effort,
) -> Candidate:
    """A point near one of low rank at which some rows, and all rows K u = 0, hold exactly.

    Parameters
    ----------
    layout : Layout
    factors : mapping from name to array of shape (n, r)
        A factor for every matrix.
    z : array of shape (q,)
        All scalars.
    solved : array of bool, shape (m,)
        Rows that must hold as equations.
    effort : Effort

    Raises
    ------
    UnprovedError
        If no solution nearby is proved.
    EffortSpentError
        If the proof would take too long.

    Examples
    --------
    >>> from sdpdr import minimize, psd
    >>> from sdpdr.certify.slack import layout
    >>> X = psd("X", 2)
    >>> program = (minimize(X[0, 1]) + (X.diagonal() == 1.0)).to_sdp()
    >>> near = {"X": np.array([[1.001], [-0.999]])}
    >>> found = solved_near(layout(program), near, np.zeros(0), np.ones(2, dtype=bool), Effort())
    >>> found.points["X"].factor.round(12).tolist(), found.points["X"].far < 1e-13
    ([[1.0], [-1.0]], True)
    """
    system, last = _System(layout, factors, z, solved), np.inf
    for _ in range(_ROUNDS):
        if system.is_solved(effort):
            return system.candidate()
        if not system.size < 0.5 * last:
            break
        last = system.size
    raise UnprovedError("the equations are too close to dependent to be solved with a proof")


class _System:
    """The equations in terms of factors and scalars, in units of these."""

    def __init__(
        self, layout: Layout, factors: Mapping[str, Array], z: Array, solved: NDArray[np.bool_]
    ) -> None:
        self.layout, self.solved, self.z = layout, solved, z.copy()
        self.points = {name: Near.of(factor) for name, factor in factors.items()}
        self.groups, self.B = layout.taken(solved), layout.B[np.flatnonzero(solved)]
        self.unknown = np.unique(self.B.indices)
        self.signed = layout.signed[self.unknown]
        size = np.abs(z[self.unknown])
        self.units = near_powers(np.where(self.signed, size / 2.0, largest(size) or 1.0))
        self.nulls = {name: sp.csc_array(null_vectors(layout.sdp, name)) for name in factors}
        self.b, self.far, self.size = layout.b[solved], 0.0, np.inf

    # -- numbers --------------------------------------------------------------------------------

    def _missed(self) -> tuple[Array, Array]:
        """Residuals of all equations, with faces last, and bounds on their rounding errors."""
        missed, around = left_over(self.groups, self.points, self.b, self.B, self.z)
        ends = []
        for name, null in self.nulls.items():
            for k in range(null.shape[1]):
                part = slice(null.indptr[k], null.indptr[k + 1])
                seen = self.points[name].factor[null.indices[part]]
                ends += [dot_enclosure(null.data[part], column) for column in seen.T]
        low, high = np.array(ends).reshape(-1, 2).T
        middle = (low + high) / 2.0
        around = np.concatenate([around, high - low])
        return np.concatenate([missed, -middle]), UP * around + TINY

    def _stacked(
        self, make: Callable[[LinearMap, Near], sp.csr_array], per_point: bool = False
    ) -> list[sp.csr_array]:
        """For every matrix, the results of ``make`` for its maps, stacked by rows."""
        found = []
        for name, near in self.points.items():
            width = near.units.size if per_point else near.factor.size
            parts = [sp.csr_array((0, width))]
            for rows in self.groups:
                if isinstance(a := rows.lhs.get(name), LinearMap):
                    parts.append(make(a, near))
                else:
                    parts.append(sp.csr_array((rows.m, width)))
            found.append(sp.csr_array(sp.vstack(parts)))
        return found

    def _slopes(self) -> tuple[sp.csr_array, sp.csr_array]:
        """J, and bounds on the rounding error of each entry, in the form of `Gram`."""

        def units(near: Near) -> sp.dia_array:
            return sp.diags_array(np.repeat(near.units, near.factor.shape[1]))

        def rounding(a: LinearMap, near: Near) -> sp.csr_array:
            size = jacobian(of_sizes(a), np.abs(near.factor)) @ units(near)
            return size * (1.01 * float(gamma(terms_of(a, near.factor.shape[1]))))

        parts = self._stacked(lambda a, near: jacobian(a, near.factor) @ units(near))
        errors = self._stacked(rounding)
        faces = [
            sp.kron(self.nulls[name].T, sp.eye_array(near.factor.shape[1])) @ units(near)
            for name, near in self.points.items()
        ]
        scalars = sp.csr_array(self.B[:, self.unknown] @ sp.diags_array(self.units))
        rest = sp.csr_array((sum(face.shape[0] for face in faces), self.unknown.size))
        below = sp.hstack([sp.block_diag(faces), rest]) if faces else rest
        J = sp.csr_array(sp.vstack([sp.hstack([*parts, scalars]), below]))
        # Units of scalars are powers of two, without rounding; the last column is for sides.
        far = sp.hstack([*errors, sp.csr_array((scalars.shape[0], self.unknown.size + 1))])
        return J, sp.csr_array(sp.vstack([far, sp.csr_array((below.shape[0], J.shape[1] + 1))]))

    def _curvature(self, units: Array) -> float:
        """The bound kappa on the quadratic terms, in units of rows."""
        sums = self._stacked(
            lambda a, near: (
                jacobian(of_sizes(a), near.units[:, None]) @ sp.diags_array(near.units / 2.0)
            ),
            per_point=True,
        )
        if not self.b.size or not sums:
            return 0.0
        all_sums = sp.csr_array(sp.hstack(sums))
        sizes = units[: self.b.size] * all_sums.max(axis=1).toarray().ravel()
        all_sums.data[:] = 1.0
        return 1.02 * float(np.sqrt(np.max(all_sums.T @ sizes, initial=0.0) * np.max(sizes)))

    # -- steps ----------------------------------------------------------------------------------

    def is_solved(self, effort: Effort) -> bool:
        """Take Newton steps with one Jacobian; True if they prove that a solution is near.

        Raises
        ------
        UnprovedError
            If the rows of the Jacobian are dependent.
        """
        if not self.b.size and not any(null.shape[1] for null in self.nulls.values()):
            return True
        if self.b.size:
            effort.foresee(0.0)  # The Jacobian of dense rows takes seconds.
        J, errors = self._slopes()
        if not J.shape[0]:  # A factor without columns satisfies all equations of faces.
            return True
        if self.b.size:
            _foresee(J[: self.b.size], effort)
        gram = Gram(J, np.ones(J.shape[1]), errors if errors.nnz else None)
        if not gram.shows:
            raise UnprovedError(_DEPENDENT)
        sigma, kappa = float(np.sqrt(gram.least)) * (1.0 - 1e-12), self._curvature(gram.units)
        start, moved, last = self.points, 0.0, np.inf
        missed, around = self._missed()
        for _ in range(_STEPS):
            size = float(np.linalg.norm(gram.units * missed))
            if not size < 0.5 * last or not self._move(gram.nearest(np.zeros(J.shape[1]), missed)):
                break
            last, moved = size, _distance(start, self.points)
            missed, around = self._missed()
            if 4.0 * kappa * moved > sigma:
                break
        sigma -= 2.02 * kappa * moved
        # Squares may underflow, and what holds exactly needs a radius that divisions add to.
        rho = 1.01 * float(np.linalg.norm(gram.units * (np.abs(missed) + around))) + TINY
        self.far, self.size = 2.02 * rho / sigma if sigma > 0.0 else np.inf, rho
        keeps = self.z[self.unknown] >= 1.01 * self.far * self.units
        is_signed = bool(np.all(keeps[self.signed]))
        return is_signed and self.far <= _FAR and 4.04 * kappa * rho <= sigma**2

    def _move(self, step: Array) -> bool:
        """Take a step, given in units; False if it is not finite."""
        if not np.all(np.isfinite(step)):
            return False
        points = dict[str, Near]()
        for name, near in self.points.items():
            move, step = np.split(step, [near.factor.size])
            move = move.reshape(near.factor.shape) * near.units[:, None]
            points[name] = Near(near.factor + move, near.units)
        self.points, self.z[self.unknown] = points, self.z[self.unknown] + self.units * step
        return True

    def candidate(self) -> Candidate:
        """The solution that was proved."""
        points = {n: Near(near.factor, near.units, self.far) for n, near in self.points.items()}
        moves = np.zeros(self.z.size)
        moves[self.unknown] = UP * self.far * self.units
        return Candidate(self.layout, points, self.z, moves, self.solved)


def _distance(start: Mapping[str, Near], end: Mapping[str, Near]) -> float:
    """The distance between two sets of points, in their units."""
    moves = [(end[name].factor - near.factor) / near.units[:, None] for name, near in start.items()]
    return 1.01 * float(np.sqrt(sum(np.sum(np.square(move)) for move in moves)))


def _foresee(J: sp.csr_array, effort: Effort) -> None:
    """Spend the work of a factorization of J J^T, or refuse it.

    Raises
    ------
    UnprovedError
        If the matrix is too large.
    EffortSpentError
    """
    counts = np.bincount(J.indices, minlength=J.shape[1]).astype(float)
    products = float(counts @ counts)
    if products > _MOST_PRODUCTS:
        raise UnprovedError(f"{J.shape[0]} equations meet in too many points of the factor")
    effort.spend(_PRODUCT * products + _ENTRY * J.nnz)
    effort.spend(_BOUNDED * float(np.sum(np.square(envelope(J @ J.T), dtype=float))))
