r"""Linear systems with the derivative of the smoothed optimality conditions.

In the basis of eigenvectors of W, which X and S share, the conditions couple each entry of X with
the same one of S only (`sdpdr.solving.derivatives.place.Place.quotients`):

.. math::  \begin{pmatrix} -D & A^T \\ A & 0 \end{pmatrix}
           \begin{pmatrix} dx \\ dy \end{pmatrix} = \begin{pmatrix} r \\ p \end{pmatrix}.

Entries with a large D are eliminated. Those with a small one, on the range of X, stay unknowns
beside y, because dividing by D would lose the digits of the others.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg as sl
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import SQRT2
from sdpdr.solving.derivatives.place import Place

# Entries of D below which an entry of x stays an unknown.
_UNKNOWN = 1e-2
# Eigenvalues, relative to the largest, of equations that depend on others.
_DEPENDENT = 1e-9
# Share of a right side that a factorization may leave.
_LOST = 1e-6


class System:
    """The derivative of the conditions of optimality at a place."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._diagonal = place.quotients + place.of.curvature
        rows = _turned_rows(place)
        self._stays = self._diagonal <= _UNKNOWN
        self._gone = np.flatnonzero(~self._stays)
        self._rows, wide = rows[self._gone], rows[self._stays]
        halves = self._rows / np.sqrt(self._diagonal[self._gone])[:, None]
        corner = -np.diag(self._diagonal[self._stays])
        self.matrix = np.block([[corner, wide], [wide.T, halves.T @ halves]])
        largest = np.max(np.abs(self.matrix), axis=1, initial=0.0)
        self._units = 1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0))
        self._scaled = self.matrix * self._units * self._units[:, None]

    def _right(self, missed: Array, slack: Array) -> Array:
        """The right side for residuals ``b - A x`` and ``c + Q x - A^T y - s``."""
        turned = self.place.turned(slack)
        seen = turned[self._gone] / self._diagonal[self._gone]
        return np.concatenate([turned[self._stays], missed + self._rows.T @ seen])

    def step(self) -> tuple[Array, Array]:
        """The Newton step of W and of y."""
        place = self.place
        right = self._right(place.missed, place.slack)
        found = self._solved(right)
        # Without a solution, some equations depend on others.
        moved, dy = self._moved(self._least(right) if found is None else found, place.slack)
        return place.turned(moved * (1.0 + place.quotients), back=True), dy

    def slope(self, missed: Array, slack: Array) -> Array:
        """How x responds to residuals, with the least y where there are several."""
        moved, _ = self._moved(self._least(self._right(missed, slack)), slack)
        return self.place.turned(moved, back=True)

    def contradiction(self, missed: Array, slack: Array) -> float:
        """Share of a right side that equations which depend on others contradict."""
        vectors = self._spectrum[1]
        right = self._units * self._right(missed, slack)
        lost = vectors[:, ~self._known].T @ right
        return float(np.linalg.norm(lost) / (np.linalg.norm(right) or 1.0))

    def determines(self, chosen: NDArray[np.bool_]) -> bool:
        """Whether the equations determine some entries of x."""
        nothing = np.zeros(self.place.w.size)
        for vector in self._spectrum[1][:, ~self._known].T:
            moved, _ = self._moved(self._units * vector, nothing)
            dx = self.place.turned(moved, back=True)
            if np.max(np.abs(dx[chosen]), initial=0.0) > np.sqrt(_DEPENDENT):
                return False
        return True

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

    def _least(self, right: Array) -> Array:
        """The least solution of the equations, as far as they do not contradict each other."""
        values, vectors = self._spectrum
        part = vectors[:, self._known]
        found = part @ ((part.T @ (self._units * right)) / values[self._known])
        return np.asarray(self._units * found)

    def _solved(self, right: Array) -> Array | None:
        """The solution, refined once; None where equations depend on others."""
        factor, pivots, singular = sl.lapack.dgetrf(self._scaled)
        if singular:
            return None
        found, rest = np.zeros(right.size), right
        for _ in range(2):
            found += self._units * sl.lapack.dgetrs(factor, pivots, self._units * rest)[0]
            rest = right - self.matrix @ found
        lost = np.linalg.norm(self._units * rest)
        return found if lost <= _LOST * np.linalg.norm(self._units * right) else None

    def _moved(self, found: Array, slack: Array) -> tuple[Array, Array]:
        """The step of x in the basis of eigenvectors, and of y, of a solution."""
        size = int(np.count_nonzero(self._stays))
        dy, diagonal = found[size:], np.where(self._stays, 1.0, self._diagonal)
        moved = self.place.turned(self.place.of.transposed @ dy - slack) / diagonal
        moved[self._stays] = found[:size]
        return moved, dy


def _turned_rows(place: Place) -> Array:
    """A^T with matrices in the basis of eigenvectors."""
    rows = place.of.transposed.toarray()
    for (at, matrices), frame in zip(place.of.matrices, place.frames, strict=True):
        n, (i, j) = frame.block.order, frame.block.pairs
        seen = frame.vectors.T @ (matrices @ frame.vectors).reshape(at.size, n, n)
        rows[frame.block.part, at] = (seen[:, i, j] * np.where(i == j, 1.0, SQRT2)).T
    return rows
