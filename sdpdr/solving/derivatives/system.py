r"""Steps of Newton's method on the conditions of optimality (`sdpdr.solving.derivatives.kkt`).

Where the quotient of an entry of X is large, both eigenvectors belong to the range of X; these
entries stay unknowns beside y. The others are eliminated, and those of two vectors of the range of
S are left out of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, svec, svec_size
from sdpdr.program.attain.newton import finite
from sdpdr.solving.derivatives.kkt import Frame, Place

# Quotients from which on entries are unknowns.
_LARGE = 1e2
# Eigenvalues, relative to the largest, of the equations that depend on others.
_DEPENDENT = 1e-9
# Share of a right side that a factorization may leave.
_LOST = 1e-6


@dataclass(frozen=True, eq=False)
class _Part:
    """Unknowns of one block, or the scalars.

    Attributes
    ----------
    rows : array of shape (k, m), of A^T
    inverse : array of shape (k,), of quotients
    unit : array of shape (k,), of entries of a matrix in its vector
    at : places in the block's matrix, or among x
    large : array of bool of shape (k,), which ones stay unknowns
    """

    rows: Array
    inverse: Array
    unit: Array
    at: tuple[Index, Index] | Index
    large: NDArray[np.bool_]

    @cached_property
    def quotients(self) -> Array:
        """Of those that are eliminated; zero of the others."""
        return np.where(self.large, 0.0, 1.0 / np.where(self.large, 1.0, self.inverse))

    def product(self) -> Array:
        """What those that are eliminated leave between multipliers."""
        halves = self.rows.T * np.sqrt(self.quotients)
        return np.asarray(halves @ halves.T)


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """A step of W, of x, and of y."""

    dw: Array
    dx: Array
    dy: Array


class System:
    """The derivative of the conditions at a place: equations for the large entries of x, and y.

    Parameters
    ----------
    place : Place
    """

    def __init__(self, place: Place) -> None:
        self.place, of = place, place.of
        m = of.b.size
        self._parts = [
            _of_block(*seen, frame, m)
            for seen, frame in zip(of.matrices, place.frames, strict=True)
        ]
        self._parts.append(_of_scalars(place))
        self._schur = np.sum([part.product() for part in self._parts], axis=0)
        self._inverse = np.concatenate([part.inverse[part.large] for part in self._parts])
        self._wide = np.vstack([part.rows[part.large] for part in self._parts])
        self.large = self._inverse.size

    @cached_property
    def matrix(self) -> Array:
        """Symmetric, of shape (k + m, k + m)."""
        return np.block([[-np.diag(self._inverse), self._wide], [self._wide.T, self._schur]])

    def right(self, missed: Array, slack: Array) -> Array:
        """The right side for residuals ``b - A x`` and ``c + Q x - A^T y - s``."""
        total, kept = missed.copy(), []
        for part, seen in zip(self._parts, self._seen(slack), strict=True):
            total += part.rows.T @ (part.quotients * seen)
            kept.append(seen[part.large])
        return np.concatenate([*kept, total])

    def step(self, missed: Array, slack: Array) -> NewtonStep:
        """How all answer to residuals."""
        right = self.right(missed, slack)
        found = _solution(self.matrix, right)
        # Where rows depend on others.
        return self._as_step(self._least(right) if found is None else found, slack)

    def _as_step(self, found: Array, slack: Array) -> NewtonStep:
        dw, dy = self._moved(found, slack)
        return NewtonStep(dw, self._of_x(dw), dy)

    @cached_property
    def _spectrum(self) -> tuple[Array, Array, Array]:
        size = _sizes(self.matrix)
        values, vectors = np.linalg.eigh(finite(_scaled(self.matrix, size)))
        return values, vectors, size

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        values = np.abs(self._spectrum[0])
        return np.asarray(values > _DEPENDENT * np.max(values, initial=0.0), dtype=bool)

    def doubt(self, missed: Array, slack: Array) -> float:
        """Share of a right side that equations that depend on others contradict."""
        _, vectors, size = self._spectrum
        right = size * self.right(missed, slack)
        lost = vectors[:, ~self._known].T @ right
        return float(np.linalg.norm(lost) / (np.linalg.norm(right) or 1.0))

    def leaves(self, chosen: NDArray[np.bool_]) -> bool:
        """Whether what equations that depend on others leave open are no entries chosen of x."""
        _, vectors, size = self._spectrum
        nothing = np.zeros(self.place.w.size)
        for vector in vectors[:, ~self._known].T:
            dx = self._of_x(self._moved(size * vector, nothing)[0])
            if np.max(np.abs(dx[chosen]), initial=0.0) > np.sqrt(_DEPENDENT):
                return False
        return True

    def slope(self, missed: Array, slack: Array) -> NewtonStep:
        """How all answer to residuals, with the least y where there are several."""
        return self._as_step(self._least(self.right(missed, slack)), slack)

    def _least(self, right: Array) -> Array:
        """The least solution of the equations, as far as they do not contradict each other."""
        values, vectors, size = self._spectrum
        part = vectors[:, self._known]
        return np.asarray(size * (part @ ((part.T @ (size * right)) / values[self._known])))

    def _of_x(self, dw: Array) -> Array:
        place = self.place
        dx = dw.copy()
        for frame in place.frames:
            x, s = (np.add.outer(one, one) for one in (frame.x, frame.s))
            turned = frame.turned(dw) * x / (x + s)
            dx[frame.block.part] = svec(frame.vectors @ turned @ frame.vectors.T)
        k = place.of.nonnegative
        dx[k] *= place.x[k] / (place.x[k] + place.s[k])
        return dx

    def _seen(self, slack: Array) -> list[Array]:
        """Entries of residuals of the slack, by part."""
        *blocks, scalars = self._parts
        seen = [
            frame.turned(slack)[part.at] * part.unit
            for frame, part in zip(self.place.frames, blocks, strict=True)
        ]
        return [*seen, slack[scalars.at]]

    def _moved(self, found: Array, slack: Array) -> tuple[Array, Array]:
        """The step of w that belongs to one of y, and to that of the large entries of x."""
        place = self.place
        given, dy = found[: self.large], found[self.large :]
        dw = np.zeros(place.w.size)
        pushed = place.of.transposed @ dy - slack
        start = 0
        for frame, part in zip(place.frames, self._parts[:-1], strict=True):
            x, s = (np.add.outer(one, one) for one in (frame.x, frame.s))
            turned = frame.turned(pushed) * (1.0 + x / s)
            i, j = (index[part.large] for index in part.at)
            end = start + i.size
            turned[i, j] = given[start:end] / part.unit[part.large] * (1.0 + s / x)[i, j]
            turned[j, i] = turned[i, j]
            dw[frame.block.part] = svec(frame.vectors @ turned @ frame.vectors.T)
            start = end
        scalars = self._parts[-1]
        dx = scalars.quotients * pushed[scalars.at]
        dx[scalars.large] = given[start:]
        k = place.of.nonnegative
        dx[: k.size] *= 1.0 + place.s[k] / place.x[k]
        dw[scalars.at] = dx
        return dw, dy


def _of_block(seeing: Index, matrices: sp.csr_array, frame: Frame, m: int) -> _Part:
    n, width = frame.block.order, frame.width(seeing.size)
    before = n - width
    j, i = (each[svec_size(before) :] for each in np.tril_indices(n))
    unit = np.where(i == j, 1.0, SQRT2)
    seen = frame.seen(matrices, width)
    rows = (seen.reshape(seeing.size, -1)[:, (j - before) * n + i] * unit).T
    kept = np.zeros((i.size, m))
    kept[:, seeing] = rows
    inverse = (frame.s[i] + frame.s[j]) / (frame.x[i] + frame.x[j])
    return _Part(kept, inverse, unit, (i, j), inverse * _LARGE <= 1.0)


def _of_scalars(place: Place) -> _Part:
    k, rows = place.of.scalars
    inverse, p = place.of.curvature[k], place.of.nonnegative
    inverse[: p.size] += place.s[p] / place.x[p]
    return _Part(rows, inverse, np.ones(k.size), k, inverse * _LARGE <= 1.0)


def _solution(matrix: Array, right: Array) -> Array | None:
    """The solution of equations, refined once; None where they depend on each other."""
    size = _sizes(matrix)
    factor, pivots, singular = sl.lapack.dgetrf(finite(_scaled(matrix, size)))
    if singular:
        return None

    def solved(rest: Array) -> Array:
        return np.asarray(size * sl.lapack.dgetrs(factor, pivots, size * rest)[0])

    found = solved(right)
    found += solved(right - matrix @ found)
    rest = right - matrix @ found
    enough = np.linalg.norm(size * rest) <= _LOST * np.linalg.norm(size * right)
    return found if enough else None


def _sizes(matrix: Array) -> Array:
    largest = np.max(np.abs(matrix), axis=1, initial=0.0)
    return np.asarray(1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0)))


def _scaled(matrix: Array, size: Array) -> Array:
    return np.asarray(matrix * size * size[:, None])
