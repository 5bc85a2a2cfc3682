r"""The optimality conditions of a program over cones, and their one linear system.

With the barrier F of the cone, points u and multipliers y of the central path solve

.. math::  c - B^T y + \mu F'(u) = 0, \qquad B u = g ,

and the optimum is their limit. Newton steps, the tangent of the path and derivatives by parameters
are solutions of one system with different right-hand sides. In a basis in which the Hessian of the
barrier is diagonal it reads

.. math::  \begin{pmatrix} -D & B^T \\ B & 0 \end{pmatrix}
           \begin{pmatrix} du \\ dy \end{pmatrix} = \begin{pmatrix} r \\ p \end{pmatrix},
           \qquad D = \mu F''(u) .

In the limit D is zero on entries in the interior of the cone, and infinite on entries at zero.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.cones import SmoothCone
from sdpdr.certify.symmetric_cones import Nonnegative, SecondOrder, Semidefinite
from sdpdr.linalg.svec import SQRT2, full_from_svec, smat, svec
from sdpdr.solving.derivatives.equations import Equations

# Entries of u with a smaller D are not eliminated: division by D would lose digits of others.
_UNKNOWN = 1e-2
# Eigenvalues, relative to the largest, of dependent equations; and those that may be dependent,
# because bases rotate on the way to the optimum by about the gap of the path's last point.
_DEPENDENT, _DOUBTFUL = 1e-9, 1e-7
# Eigenvalues, relative to the largest, that may be rounding.
_ZERO = 1e-9
# Eigenvalues of a Hessian, relative to the largest, that are more than rounding.
_PRECISION = 1e-13
# Avoids a division of zero by zero.
_TINY = np.finfo(float).tiny
# Relative residual that a factorization may leave.
_LOST = 1e-6


class _Frame(NamedTuple):
    r"""A basis in which the Hessian of one cone's barrier is diagonal.

    Attributes
    ----------
    at : array of int
        Positions of the cone in u.
    vectors : array
        The basis; of matrices, eigenvectors.
    sizes : array
        Eigenvalues: two for a second-order cone, none for cones without eigenvalues.
    pairs : tuple of two arrays of int
        The eigenvalues whose product divides :math:`\mu` on each entry.
    diagonal : array of int
        Which entries are eigenvalues.
    """

    at: Index
    vectors: Array
    sizes: Array
    pairs: tuple[Index, Index]
    diagonal: Index

    @property
    def is_matrix(self) -> bool:
        """Whether entries are those of a matrix."""
        return len(self.vectors) < self.at.size or self.at.size == 1

    def rotated(self, v: Array, *, back: bool) -> Array:
        """A vector in the basis or, with ``back``, from the basis."""
        Q = self.vectors.T if back else self.vectors
        return svec(Q.T @ smat(v) @ Q) if self.is_matrix else np.asarray(Q.T @ v)


def _matrix_frame(at: Index, u: Array) -> _Frame:
    values, Q = np.linalg.eigh(smat(u))
    j, i = np.tril_indices(values.size)
    return _Frame(at, Q, values, (i, j), np.flatnonzero(i == j))


def _second_order_frame(at: Index, u: Array) -> _Frame:
    length = np.linalg.norm(u[1:])
    unit = u[1:] / length if length else np.eye(u.size - 1)[0]
    ends = np.sqrt(0.5) * np.array([np.append(1.0, -unit), np.append(1.0, unit)]).T
    Q = np.hstack([ends, np.linalg.qr(ends, mode="complete")[0][:, 2:]])
    one, other = np.zeros(u.size, dtype=np.intp), np.ones(u.size, dtype=np.intp)
    one[1], other[0] = 1, 0
    return _Frame(at, Q, Q[:, :2].T @ u, (one, other), np.arange(2))


class Place:
    """A point in the interior of the cones, and bases in which the Hessian is diagonal.

    Parameters
    ----------
    of : Equations
    u, y : arrays
    mu : float

    Attributes
    ----------
    gradient : array
        The gradient of the barrier.
    quotients : array
        D in the bases: the decrease of multipliers if u grows by one.
    """

    def __init__(self, of: Equations, u: Array, y: Array, mu: float) -> None:
        self.of, self.u, self.y, self.mu = of, u, y, mu
        self.gradient, self.quotients = np.zeros(u.size), np.zeros(u.size)
        self.frames, self.scalars = list[_Frame](), np.zeros(0, dtype=np.intp)
        for cone, at in of.cones:
            if isinstance(cone, Nonnegative):
                self.scalars = k = at.ravel()
                self.gradient[k], self.quotients[k] = -1.0 / u[k], mu / u[k] ** 2
            elif isinstance(cone, (Semidefinite, SecondOrder)):
                made = _matrix_frame if isinstance(cone, Semidefinite) else _second_order_frame
                for frame in (made(one, u[one]) for one in at):
                    i, j = frame.pairs
                    self.quotients[frame.at] = mu / (frame.sizes[i] * frame.sizes[j])
                    slope = np.zeros(frame.at.size)
                    slope[frame.diagonal] = -1.0 / frame.sizes
                    self.gradient[frame.at] = frame.rotated(slope, back=True)
                    self.frames.append(frame)
            else:
                assert isinstance(cone, SmoothCone)
                self.gradient[at] = cone.gradient(u[at])
                none = np.zeros(0, dtype=np.intp)
                for one, H in zip(at, cone.hessian(u[at]), strict=True):
                    values, Q = np.linalg.eigh(H)
                    self.quotients[one] = mu * np.maximum(values, 0.0)
                    self.frames.append(_Frame(one, Q, np.zeros(0), (none, none), none))

    def rotated(self, v: Array, *, back: bool = False) -> Array:
        """A vector in the bases or, with ``back``, from the bases."""
        found = v.copy()
        for frame in self.frames:
            found[frame.at] = frame.rotated(v[frame.at], back=back)
        return found

    @cached_property
    def rows(self) -> Array:
        """B^T in the bases."""
        B = self.of.B
        rows = B.T.toarray()
        for frame in self.frames:
            part, Q = sp.csr_array(B[:, frame.at]), frame.vectors
            if not frame.is_matrix:
                rows[frame.at] = Q.T @ part.T.toarray()
                continue
            n, (i, j) = len(Q), frame.pairs
            seen = np.flatnonzero(np.diff(part.indptr))
            full = sp.csr_array(part[seen] @ full_from_svec(n).T).reshape((seen.size * n, n))
            rotated = Q.T @ (full.tocsr() @ Q).reshape(seen.size, n, n)
            entries = rotated[:, i, j] * np.where(i == j, 1.0, SQRT2)
            rows[np.ix_(frame.at, seen)] = entries.T
        return np.asarray(rows)

    @property
    def missed(self) -> tuple[Array, Array]:
        """The residuals ``c - B^T y + mu F'(u)`` and ``g - B u``."""
        of = self.of
        return of.c - of.B.T @ self.y + self.mu * self.gradient, of.g - of.B @ self.u

    @cached_property
    def _system(self) -> System:
        return System(self)

    @cached_property
    def step(self) -> tuple[Array, Array]:
        """The Newton step towards the path."""
        return self._system.solve(*self.missed)

    @property
    def distance(self) -> float:
        """The length of the Newton step in the Hessian of the barrier, independent of units."""
        du, _ = self.step
        return float(np.sqrt(self.quotients @ self.rotated(du) ** 2 / self.mu))

    @property
    def imbalance(self) -> float:
        """The largest dual residual of unknowns without a cone, relative to its terms."""
        of = self.of
        free = np.delete(np.arange(of.c.size), of.program.A.indices)
        terms = np.abs(of.c) + abs(of.B).T @ np.abs(self.y)
        return float(np.max(np.abs(self.missed[0][free]) / (terms[free] + _TINY), initial=0.0))

    @cached_property
    def tangent(self) -> tuple[Array, Array]:
        r"""The derivatives of u and y by :math:`\mu` along the path."""
        return self._system.solve(self.gradient, np.zeros(self.y.size))

    @property
    def end(self) -> tuple[Array, Array]:
        """The end of the tangent, which is the optimum up to the square of the error."""
        du, dy = self.tangent
        return self.u - self.mu * du, self.y - self.mu * dy

    @cached_property
    def powers(self) -> Array:
        r"""The exponent p of :math:`\mu^p`, like which each scalar and eigenvalue of u vanishes.

        It tends to 0 for those that stay, to 1 for those whose multipliers stay, and to one half
        for those that vanish together with their multipliers.
        """
        grows = self.mu * self.rotated(self.tangent[0])
        found = [grows[self.scalars] / self.u[self.scalars]]
        for frame in self.frames:
            if frame.sizes.size:
                own, sizes = grows[frame.at[frame.diagonal]] / frame.sizes, frame.sizes
                # Eigenvalues that rows keep at zero stay at rounding; likewise for multipliers.
                own = np.where((sizes < _ZERO * np.max(sizes)) & (own < 0.5), 1.0, own)
                own = np.where((sizes * _ZERO > np.min(sizes)) & (own > 0.5), 0.0, own)
                found.append(own)
        return np.concatenate(found)

    def powers_of_quotients(self, before: Place | None) -> Array:
        r"""The exponent p of :math:`\mu^p`, like which each entry of D falls or grows.

        It tends to 1 in the interior of a cone, to -1 for entries at zero, and to 0 between them.
        For cones without eigenvalues it is computed from an earlier place, and is nan without one.
        """
        found, at = np.ones(self.u.size), self.scalars.size
        found[self.scalars] = 1.0 - 2.0 * self.powers[:at]
        for frame in self.frames:
            i, j = frame.pairs
            own, at = self.powers[at : at + frame.sizes.size], at + frame.sizes.size
            if own.size:
                found[frame.at] = 1.0 - own[i] - own[j]
            elif before is None:
                found[frame.at] = np.nan
            else:
                here, there = self.quotients[frame.at], before.quotients[frame.at]
                # Eigenvalues far below the largest are rounding.
                is_known = (here > _PRECISION * np.max(here)) & (there > _PRECISION * np.max(there))
                ratios = np.where(is_known, here, self.mu) / np.where(is_known, there, before.mu)
                found[frame.at] = np.log(ratios) / np.log(self.mu / before.mu)
        return found


class System:
    """The linear system at a place, with its own D or another one.

    Parameters
    ----------
    place : Place
    quotients : array, optional
        D; infinite for entries of u that do not move.
    before : System, optional
        The system with the same D at an earlier place of the path.
    """

    def __init__(
        self, place: Place, quotients: Array | None = None, before: System | None = None
    ) -> None:
        self.place, self._before = place, before
        self._D = D = place.quotients if quotients is None else quotients
        self._kept = D <= _UNKNOWN
        self._eliminated = np.flatnonzero(~self._kept)
        self._rows, wide = place.rows[self._eliminated], place.rows[self._kept]
        halves = self._rows / np.sqrt(D[self._eliminated])[:, None]
        corner = -np.diag(D[self._kept])
        self._matrix = np.block([[corner, wide], [wide.T, halves.T @ halves]])
        largest = np.max(np.abs(self._matrix), axis=1, initial=0.0)
        self._units = 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))
        self._scaled = self._matrix * self._units * self._units[:, None]

    def solve(self, r: Array, p: Array) -> tuple[Array, Array]:
        """Du and dy by a factorization, or by `least_solution` if equations are dependent."""
        found = self._solved(self._right(r, p))
        return self.least_solution(r, p) if found is None else self._moved(found, r)

    def least_solution(self, r: Array, p: Array) -> tuple[Array, Array]:
        """The least du and dy that satisfy the independent equations."""
        values, vectors = self._spectrum
        part = vectors[:, self._known]
        right = part.T @ (self._units * self._right(r, p))
        return self._moved(self._units * (part @ (right / values[self._known])), r)

    def contradiction(self, r: Array, p: Array) -> float:
        """Share of a right-hand side that contradicts dependent equations."""
        right = self._units * self._right(r, p)
        lost = self._spectrum[1][:, ~self._known].T @ right
        return float(np.linalg.norm(lost) / (np.linalg.norm(right) or 1.0))

    def determines(self, chosen: NDArray[np.bool_]) -> bool:
        """Whether the equations determine the chosen entries of u."""
        nothing = np.zeros(self.place.u.size)
        for vector in self._spectrum[1][:, ~self._known].T:
            du, _ = self._moved(self._units * vector, nothing)
            if np.max(np.abs(du[chosen]), initial=0.0) > np.sqrt(_DEPENDENT):
                return False
        return True

    def _right(self, r: Array, p: Array) -> Array:
        rotated = self.place.rotated(r)
        seen = rotated[self._eliminated] / self._D[self._eliminated]
        return np.concatenate([rotated[self._kept], p + self._rows.T @ seen])

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of the matrix in units of its rows."""
        values, vectors = np.linalg.eigh(self._scaled)
        return values, vectors

    @property
    def sizes(self) -> Array:
        """The absolute values of all eigenvalues, ascending."""
        return np.sort(np.abs(self._spectrum[0]))

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        """Which eigenvectors belong to independent equations."""
        values = np.abs(self._spectrum[0])
        largest = np.max(values, initial=0.0)
        known = values > _DEPENDENT * largest
        doubtful = known & (values < _DOUBTFUL * largest)
        if self._before is not None and np.any(doubtful):
            # Eigenvalues that fall like mu are zero at the optimum.
            falls = np.sqrt(self._before.place.mu / self.place.mu)
            order = np.argsort(values)
            known[order] &= ~doubtful[order] | (self._before.sizes < falls * values[order])
        return np.asarray(known, dtype=bool)

    def _solved(self, right: Array) -> Array | None:
        """The solution, refined once; None if equations are dependent."""
        if not right.size:
            return right
        factor, pivots, singular = sl.lapack.dgetrf(self._scaled)
        if singular:
            return None
        found, rest = np.zeros(right.size), right
        for _ in range(2):
            found += self._units * sl.lapack.dgetrs(factor, pivots, self._units * rest)[0]
            rest = right - self._matrix @ found
        lost = np.linalg.norm(self._units * rest)
        return found if lost <= _LOST * np.linalg.norm(self._units * right) else None

    def _moved(self, found: Array, r: Array) -> tuple[Array, Array]:
        """Du and dy from a solution of the reduced system."""
        size = int(np.count_nonzero(self._kept))
        dy, D = found[size:], np.where(self._kept, 1.0, self._D)
        du = self.place.rotated(self.place.of.B.T @ dy - r) / D
        du[self._kept] = found[:size]
        return self.place.rotated(du, back=True), dy
