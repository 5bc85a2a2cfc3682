r"""Exact solutions of equations near a factor, at low rank.

In terms of a factor, :math:`K = R R^T`, membership of the cone is no condition, and equations are
quadratic ones in the unknowns :math:`u = (R, z)`, points and scalars:

.. math::  F(u + d) = F(u) + J d + Q(d), \qquad Q(d)_e = \langle A_e, D D^T \rangle ,

where D is the part of d in R. Rows that confine K to a face, :math:`K U = 0`, are linear ones,
:math:`U^T R = 0`. Points are in units of their own lengths, rows in units of their slopes, and
scalars with a sign in units of themselves, so that they keep it as long as d is no longer than one.
With the smallest singular value of J at least :math:`\sigma`, :math:`|F(u)| \le \rho` and
:math:`|Q(d)| \le \kappa |D|^2`, there is a solution with

.. math::  |d| \le 2 \rho / \sigma \qquad\text{if}\qquad 4 \kappa \rho \le \sigma^2 :

the map :math:`w \mapsto -F(u) - Q(J^+ w)` takes the ball of radius :math:`2 \rho` to itself, and
by Brouwer's theorem has a fixed point w there, whose :math:`d = J^+ w` solves the equations.

Of :math:`\kappa`: with :math:`a_e` no less than the spectral norm of :math:`A_e`, a the largest,
and g the largest sum of those that see one point,

.. math::  \sum_e \langle A_e, D H^T \rangle^2
           \le \sum_e a_e^2 |D_{(e)}|^2 |H_{(e)}|^2
           \le a |D|^2 \sum_e a_e |H_{(e)}|^2 \le a\, g\, |D|^2 |H|^2 ,

where :math:`D_{(e)}` are the points that row e sees. So :math:`\kappa = \sqrt{a g}`, and a step D
changes J by no more than :math:`2 \kappa |D|` in norm: one bound on singular values serves all
points that short steps lead to.

A diagonal that is fixed, one number that is fixed and a principal block are such equations as well;
the slopes of the first two are orthogonal to each other, and nothing has to be factorized.

Where the feasible set has no interior, multipliers y with :math:`\sum_e y_e A_e R = 0` exist, J has
not full rank, and there is no such proof.

References
----------
Rump, "Verification methods", Acta Numerica 19 (2010), section 13, for Brouwer's theorem as a
proof; Burer and Monteiro, Math. Program. 95 (2003), for the factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Effort
from sdpdr.certify.equations import UnprovedError, _Gram
from sdpdr.certify.near import UP, Near, evaluated, jacobian, terms_of
from sdpdr.certify.rounding import TINY, longest_row
from sdpdr.certify.shrink import Candidate, Layout
from sdpdr.linalg import LinearMap
from sdpdr.linalg.magnitudes import of_sizes
from sdpdr.linalg.rounding import dot_enclosure, gamma, near_powers
from sdpdr.linalg.walks import envelope
from sdpdr.program.face import null_vectors
from sdpdr.program.rows import Rows

# Times slopes are computed anew, and steps with the same ones, which stop when rounding is reached.
_ROUNDS, _STEPS = 4, 12
# Operations of a factorization that a product of two sparse entries takes as long as; most of these
# products, which take a gigabyte; and equations whose products may be a full matrix, which does too.
_PRODUCT, _MOST_PRODUCTS, _DENSEST = 20.0, 1e8, 3000
# Factorizations that a proved bound on singular values takes.
_BOUNDED = 4.0
# A scalar with a sign may lose this much of itself in a step.
_SHARE = 0.9
_DEPENDENT = "the equations depend on each other in terms of the factor"


def solved_near(
    layout: Layout,
    factors: Mapping[str, Array],
    z: Array,
    solved: NDArray[np.bool_],
    effort: Effort,
) -> Candidate:
    """A point near one of low rank at which some rows hold exactly, as do those that state faces.

    Parameters
    ----------
    layout : Layout
    factors : mapping from name to array of shape (n, r)
        Of all matrices.
    z : array of shape (q,)
        All scalars.
    solved : array of bool, shape (m,)
        Which rows are to hold as equations; inequalities that already hold keep what they leave.
    effort : Effort

    Raises
    ------
    UnprovedError
        Where no solution nearby is proved.
    EffortSpentError
        Where that takes too long.

    Examples
    --------
    >>> from sdpdr import minimize, psd
    >>> from sdpdr.certify.shrink import layout
    >>> X = psd("X", 2)
    >>> program = (minimize(X[0, 1]) + (X.diagonal() == 1.0)).to_sdp()
    >>> near = {"X": np.array([[1.001], [-0.999]])}
    >>> found = solved_near(layout(program), near, np.zeros(0), np.ones(2, dtype=bool), Effort())
    >>> found.points["X"].factor.round(12).tolist(), found.points["X"].far < 1e-13
    ([[1.0], [-1.0]], True)
    """
    system = _System(layout, factors, z, solved)
    for _ in range(_ROUNDS):
        if system.is_solved(effort):
            return system.candidate()
    raise UnprovedError("the equations are too close to dependent to be solved with a proof")


@dataclass(frozen=True, eq=False)
class _FaceRow:
    """One column of :math:`U^T R = 0` for every vector that a face has."""

    name: str
    vector: Array


class _System:
    """The equations in terms of factors and scalars, in units of these."""

    def __init__(
        self, layout: Layout, factors: Mapping[str, Array], z: Array, solved: NDArray[np.bool_]
    ) -> None:
        self.layout, self.solved, self.z = layout, solved, z.copy()
        self.points = {name: Near.of(factor) for name, factor in factors.items()}
        self.rows = np.flatnonzero(solved)
        self.groups = _taken(layout, solved)
        B = layout.B[self.rows]
        self.unknown = np.unique(B.indices)
        self.B, self.rest = B[:, self.unknown], B
        self.units = _units_of_scalars(layout, self.unknown, z)
        self.nulls = {
            name: null_vectors(layout.sdp, name).tocsc() for name in factors
        }
        lhs = self._values()[0]
        # An inequality that holds is solved with what it leaves.
        self.b = np.where(
            layout.equal[self.rows], layout.b[self.rows], np.minimum(layout.b[self.rows], lhs)
        )
        self.far = 0.0

    # -- numbers --------------------------------------------------------------------------------

    def _values(self) -> tuple[Array, Array]:
        """Left sides of the equations, and bounds on their rounding."""
        lhs, error = evaluated(self.groups, self.points)
        size = abs(self.rest) @ np.abs(self.z)
        rounding = float(gamma(longest_row(self.rest) + 8))
        return lhs + self.rest @ self.z, error + rounding * (np.abs(lhs) + size)

    def _missed(self) -> tuple[Array, Array]:
        """What is missed by all equations, those of faces last, and bounds on its rounding."""
        lhs, error = self._values()
        missed = self.b - lhs
        error = error + float(gamma(8)) * (np.abs(self.b) + np.abs(lhs))
        low, high = [], []
        for name, null in self.nulls.items():
            for k in range(null.shape[1]):
                part = slice(null.indptr[k], null.indptr[k + 1])
                seen = self.points[name].factor[null.indices[part]]
                ends = [dot_enclosure(null.data[part], column) for column in seen.T]
                low += [-end[1] for end in ends]
                high += [-end[0] for end in ends]
        middle = (np.array(low) + np.array(high)) / 2.0
        around = np.maximum(np.array(high) - middle, middle - np.array(low))
        return np.concatenate([missed, middle]), UP * np.concatenate([error, around]) + TINY

    def _slopes(self) -> tuple[sp.csr_array, sp.csr_array | None]:
        """J, and what rounding may have made of it, entry by entry."""
        parts, errors, faces = [], [], []
        for name, near in self.points.items():
            n, r = near.factor.shape
            units = sp.diags_array(np.repeat(near.units, r))
            J, error = self._of_matrix(name, near)
            parts.append(J @ units)
            errors.append(error @ units)
            null = self.nulls[name]
            faces.append(sp.csr_array(sp.kron(null.T, sp.eye_array(r)) @ units))
        scalars = self.B @ sp.diags_array(self.units)
        J = sp.csr_array(sp.hstack([*parts, scalars]))
        rest = sp.csr_array((sum(face.shape[0] for face in faces), self.unknown.size))
        J = sp.csr_array(sp.vstack([J, sp.hstack([sp.block_diag(faces), rest])]))
        if not self.rows.size:
            return J, None
        error = sp.csr_array(sp.hstack([*errors, sp.csr_array(scalars.shape)]))
        wide = sp.csr_array(sp.hstack([error, sp.csr_array((error.shape[0], 1))]))
        return J, sp.csr_array(sp.vstack([wide, sp.csr_array((rest.shape[0], wide.shape[1]))]))

    def _of_matrix(self, name: str, near: Near) -> tuple[sp.csr_array, sp.csr_array]:
        """Slopes along the points of one matrix, and their rounding."""
        size, found, errors = near.factor.size, [], []
        for rows in self.groups:
            linear_map = rows.lhs.get(name)
            if not isinstance(linear_map, LinearMap):
                found.append(sp.csr_array((rows.m, size)))
                errors.append(sp.csr_array((rows.m, size)))
                continue
            rounding = 1.01 * float(gamma(terms_of(linear_map, near.factor.shape[1])))
            found.append(jacobian(linear_map, near.factor))
            errors.append(jacobian(of_sizes(linear_map), np.abs(near.factor)) * rounding)
        none = sp.csr_array((0, size))
        return sp.csr_array(sp.vstack([none, *found])), sp.csr_array(sp.vstack([none, *errors]))

    def _curvature(self, units: Array) -> float:
        """A bound on what moves of the points of length one add to all rows, in units of rows."""
        sizes, total = np.zeros(self.rows.size), []
        for name, near in self.points.items():
            own, at = near.units, 0
            seen = []
            for rows in self.groups:
                linear_map = rows.lhs.get(name)
                shape = (rows.m, own.size)
                if isinstance(linear_map, LinearMap):
                    sums = jacobian(of_sizes(linear_map), own[:, None]) @ sp.diags_array(own / 2.0)
                    seen.append(sp.csr_array(sums))
                else:
                    seen.append(sp.csr_array(shape))
                at += rows.m
            sums = sp.csr_array(sp.vstack([sp.csr_array((0, own.size)), *seen]))
            largest = sums.max(axis=1).toarray().ravel() if sums.nnz else np.zeros(at)
            sizes = np.maximum(sizes, largest * units[: self.rows.size])
            sums.data[:] = 1.0
            total.append(sums)
        if not self.rows.size:
            return 0.0
        sees = sp.csr_array(sp.hstack(total))
        return 1.02 * float(np.sqrt(np.max(sees.T @ sizes, initial=0.0) * np.max(sizes)))

    # -- steps ----------------------------------------------------------------------------------

    def is_solved(self, effort: Effort) -> bool:
        """Short steps with the slopes at one point, and whether they prove that a solution is near.

        Raises
        ------
        UnprovedError
            If the slopes are dependent.
        """
        J, errors = self._slopes()
        if J.shape[0] == 0:
            return True
        if np.any(np.diff(J.indptr) == 0):
            raise UnprovedError("an equation does not notice moves of the factor")
        _foresee(J, effort)
        gram = _Gram(J, np.ones(J.shape[1]), errors)
        if not gram.least > 0.0:
            raise UnprovedError(_DEPENDENT)
        sigma, kappa = float(np.sqrt(gram.least)) * (1.0 - 1e-12), self._curvature(gram._units)
        start, moved, last = self.points, 0.0, np.inf
        for _ in range(_STEPS):
            missed, around = self._missed()
            size = float(np.linalg.norm(gram._units * missed))
            if not size < 0.5 * last:
                break
            last = size
            if not self._move(gram.nearest(np.zeros(J.shape[1]), missed)):
                break
            moved = _distance(start, self.points)
            if 4.0 * kappa * moved > sigma:
                return False
        missed, around = self._missed()
        rho = 1.01 * float(np.linalg.norm(gram._units * (np.abs(missed) + around)))
        sigma -= 2.02 * kappa * moved
        self.far = 2.02 * rho / sigma if sigma > 0.0 else np.inf
        signed = self.layout.signed[self.unknown]
        keeps = np.all(self.z[self.unknown][signed] >= 1.01 * self.far * self.units[signed])
        return bool(keeps and self.far <= 1.0 and 4.04 * kappa * rho <= sigma**2)

    def _move(self, step: Array) -> bool:
        """Take a step, in units; not where it is none, or a scalar would lose its sign."""
        start, points = 0, dict[str, Near]()
        for name, near in self.points.items():
            end = start + near.factor.size
            move = step[start:end].reshape(near.factor.shape) * near.units[:, None]
            points[name] = Near(near.factor + move, near.units)
            start = end
        share = step[start:]
        signed = self.layout.signed[self.unknown]
        if not np.all(np.isfinite(step)) or np.any(share[signed] < -_SHARE):
            return False
        self.points = points
        self.z[self.unknown] = self.z[self.unknown] + self.units * share
        return True

    def candidate(self) -> Candidate:
        """The solution that was proved."""
        points = {n: Near(near.factor, near.units, self.far) for n, near in self.points.items()}
        moves = np.zeros(self.z.size)
        moves[self.unknown] = UP * self.far * self.units
        return Candidate(self.layout, points, self.z, moves, self.solved)


def _taken(layout: Layout, solved: NDArray[np.bool_]) -> list[Rows]:
    """The rows that are solved, group by group."""
    found, at = [], 0
    for rows in layout.groups:
        chosen = np.flatnonzero(solved[at : at + rows.m])
        if chosen.size:
            found.append(rows.take(chosen))
        at += rows.m
    return found


def _units_of_scalars(layout: Layout, unknown: Index, z: Array) -> Array:
    """Scalars with a sign in units of themselves, free ones in that of the largest."""
    size = np.abs(z[unknown])
    largest = float(np.max(size, initial=0.0)) or 1.0
    return np.where(layout.signed[unknown], size, near_powers(np.full(size.size, largest)))


def _distance(start: Mapping[str, Near], end: Mapping[str, Near]) -> float:
    """How far the points were moved, in their units."""
    squares = [
        np.sum(np.square((end[name].factor - near.factor) / near.units[:, None]))
        for name, near in start.items()
    ]
    return 1.01 * float(np.sqrt(sum(squares)))


def _foresee(J: sp.csr_array, effort: Effort) -> None:
    """Count the work of a factorization of J J^T.

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
    effort.spend(_PRODUCT * products)
    if J.shape[0] <= _DENSEST:
        effort.spend(_BOUNDED * J.shape[0] ** 3 / 3.0)
        return
    effort.spend(_BOUNDED * float(np.sum(np.square(envelope(J @ J.T), dtype=float))))
