r"""The optimality conditions of a program over cones, and their one linear system.

With the barrier F of the cone, points u and multipliers y of the central path solve

.. math::  c - B^T y + \mu F'(u) = 0, \qquad B u = g ,

and the optimum is their limit. Newton steps, the tangent of the path and derivatives by parameters
are answers of one system to different right sides. In a basis in which the Hessian of the barrier
is diagonal it reads

.. math::  \begin{pmatrix} -D & B^T \\ B & 0 \end{pmatrix}
           \begin{pmatrix} du \\ dy \end{pmatrix} = \begin{pmatrix} r \\ p \end{pmatrix},
           \qquad D = \mu F''(u) .

In the limit D is zero on what lies inside of the cone, and infinite on what stays at zero.
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

# Entries of D below which an entry of u stays an unknown: dividing by D loses digits of others.
_UNKNOWN = 1e-2
# Powers of mu are 0 or 1 in the limit, and a half where a number vanishes with its multiplier.
_BETWEEN = 0.28
# Eigenvalues, relative to the largest, of equations that depend on others.
_DEPENDENT = 1e-9
# Share of a right side that a factorization may leave.
_LOST = 1e-6


class _Frame(NamedTuple):
    r"""A basis in which the Hessian of one cone's barrier is diagonal.

    Attributes
    ----------
    at : array of int
        Where the cone is in u.
    vectors : array
        The basis; of matrices, eigenvectors.
    sizes : array
        Eigenvalues; both of a second-order cone; none where a cone has none.
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
        """Numbers in the basis, or from there."""
        Q = self.vectors.T if back else self.vectors
        return svec(Q.T @ smat(v) @ Q) if self.is_matrix else np.asarray(Q.T @ v)


def _of_matrix(at: Index, u: Array) -> _Frame:
    values, Q = np.linalg.eigh(smat(u))
    j, i = np.tril_indices(values.size)
    return _Frame(at, Q, values, (i, j), np.flatnonzero(i == j))


def _of_second_order(at: Index, u: Array) -> _Frame:
    length = np.linalg.norm(u[1:])
    unit = u[1:] / length if length else np.eye(u.size - 1)[0]
    ends = np.sqrt(0.5) * np.array([np.append(1.0, -unit), np.append(1.0, unit)]).T
    Q = np.hstack([ends, np.linalg.qr(ends, mode="complete")[0][:, 2:]])
    one, other = np.zeros(u.size, dtype=np.intp), np.ones(u.size, dtype=np.intp)
    one[1], other[0] = 1, 0
    return _Frame(at, Q, Q[:, :2].T @ u, (one, other), np.arange(2))


class Place:
    """A point inside of the cones, and bases in which the Hessian of the barrier is diagonal.

    Parameters
    ----------
    of : Equations
    u, y : arrays
    mu : float

    Attributes
    ----------
    gradient : array
        That of the barrier.
    quotients : array
        D, by how much multipliers fall as u grows by one, in the bases.
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
                made = _of_matrix if isinstance(cone, Semidefinite) else _of_second_order
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
        """A vector in the bases, or from there."""
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

    def exponents(self, before: Place) -> Array:
        """The power of mu like which numbers and eigenvalues of u vanish after another place."""
        here, there = self._sizes, before._sizes
        return np.asarray(np.log(here / there) / np.log(self.mu / before.mu))

    def touches(self, exponents: Array) -> bool:
        """Whether a number or eigenvalue vanishes together with its multiplier, both like a root.

        What rows alone keep at zero has a multiplier that does not vanish, whatever its power.
        """
        both = np.maximum(self._sizes, self.mu / self._sizes) < self.mu**0.25
        return bool(np.any(both & (np.abs(exponents - 0.5) < _BETWEEN)))

    @property
    def _sizes(self) -> Array:
        """Scalars, and eigenvalues of all cones."""
        return np.concatenate([self.u[self.scalars], *(frame.sizes for frame in self.frames)])

    def limit(self, exponents: Array, u: Array, y: Array) -> Array:
        """D at the optimum, where the path ends in u and y."""
        vanish, found = exponents > 0.5, self.quotients.copy()
        at, v = self.scalars.size, self.rotated(self.of.c - self.of.B.T @ y)
        u = self.rotated(u)
        found[self.scalars] = np.where(vanish[:at], np.inf, 0.0)
        for frame in self.frames:
            D = self.quotients[frame.at]
            gone, at = vanish[at : at + frame.sizes.size], at + frame.sizes.size
            if not frame.sizes.size:
                small = np.sqrt(self.mu)
                inside, outside = small > D, small * D > 1.0
            else:
                i, j = frame.pairs
                # What rows alone keep at zero has multipliers that are large.
                inside, outside = ~gone[i] & ~gone[j] & (D < 1.0), gone[i] & gone[j] & (D > 1.0)
                x, z = u[frame.at][frame.diagonal], v[frame.at][frame.diagonal]
                top, below = np.where(gone[i], z[i], z[j]), np.where(gone[i], x[j], x[i])
                mixed = (gone[i] ^ gone[j]) & (top > 0.0) & (below > 0.0)
                D = np.where(mixed, top / np.where(mixed, below, 1.0), D)
            found[frame.at] = np.where(inside, 0.0, np.where(outside, np.inf, D))
        return found


class System:
    """The linear system at a place, with its own D or another one.

    Parameters
    ----------
    place : Place
    quotients : array, optional
        D; infinite where u stays as it is.
    """

    def __init__(self, place: Place, quotients: Array | None = None) -> None:
        self.place = place
        self._D = D = place.quotients if quotients is None else quotients
        self._stays = D <= _UNKNOWN
        self._gone = np.flatnonzero(~self._stays)
        self._rows, wide = place.rows[self._gone], place.rows[self._stays]
        halves = self._rows / np.sqrt(D[self._gone])[:, None]
        corner = -np.diag(D[self._stays])
        self._matrix = np.block([[corner, wide], [wide.T, halves.T @ halves]])
        largest = np.max(np.abs(self._matrix), axis=1, initial=0.0)
        self._units = 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))
        self._scaled = self._matrix * self._units * self._units[:, None]

    def solve(self, r: Array, p: Array) -> tuple[Array, Array]:
        """Du and dy by a factorization; `least_solution` where equations depend on others."""
        found = self._solved(self._right(r, p))
        return self.least_solution(r, p) if found is None else self._moved(found, r)

    def least_solution(self, r: Array, p: Array) -> tuple[Array, Array]:
        """The least du and dy, as far as equations that depend on others do not contradict."""
        values, vectors = self._spectrum
        part = vectors[:, self._known]
        right = part.T @ (self._units * self._right(r, p))
        return self._moved(self._units * (part @ (right / values[self._known])), r)

    def contradiction(self, r: Array, p: Array) -> float:
        """Share of a right side that equations which depend on others contradict."""
        right = self._units * self._right(r, p)
        lost = self._spectrum[1][:, ~self._known].T @ right
        return float(np.linalg.norm(lost) / (np.linalg.norm(right) or 1.0))

    def determines(self, chosen: NDArray[np.bool_]) -> bool:
        """Whether the equations determine some entries of u."""
        nothing = np.zeros(self.place.u.size)
        for vector in self._spectrum[1][:, ~self._known].T:
            du, _ = self._moved(self._units * vector, nothing)
            if np.max(np.abs(du[chosen]), initial=0.0) > np.sqrt(_DEPENDENT):
                return False
        return True

    def _right(self, r: Array, p: Array) -> Array:
        rotated = self.place.rotated(r)
        seen = rotated[self._gone] / self._D[self._gone]
        return np.concatenate([rotated[self._stays], p + self._rows.T @ seen])

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues and eigenvectors of the matrix in units of its rows."""
        values, vectors = np.linalg.eigh(self._scaled)
        return values, vectors

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        """Which eigenvectors the equations say something about."""
        values = np.abs(self._spectrum[0])
        return np.asarray(values > _DEPENDENT * np.max(values, initial=0.0), dtype=bool)

    def _solved(self, right: Array) -> Array | None:
        """The solution, refined once; None where equations depend on others."""
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
        """Du and dy of a solution."""
        size = int(np.count_nonzero(self._stays))
        dy, D = found[size:], np.where(self._stays, 1.0, self._D)
        du = self.place.rotated(self.place.of.B.T @ dy - r) / D
        du[self._stays] = found[:size]
        return self.place.rotated(du, back=True), dy
