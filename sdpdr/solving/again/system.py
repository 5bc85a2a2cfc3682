r"""Steps of Newton's method on the conditions of optimality (`sdpdr.solving.again.kkt`).

Where the quotient of an entry of X is large, both eigenvectors belong to the range of X; these
entries stay unknowns beside y. The others are eliminated, and those of two vectors of the range of
S are left out of the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.linalg.magnitudes import largest_of_rows
from sdpdr.linalg.svec import SQRT2, svec, svec_size
from sdpdr.program.attain.newton import finite
from sdpdr.solving.again.kkt import Frame, Place, is_sparse

# Quotients from which on entries are unknowns.
_LARGE = 1e2
# Unknowns from which on equations are worth keeping sparse.
_WIDE = 600
# Eigenvalues, relative to the largest, of the equations that depend on others.
_DEPENDENT = 1e-9
# Share of a right side that a factorization may leave.
_LOST = 1e-6


@dataclass(frozen=True, eq=False)
class _Part:
    """Unknowns of one block, or the scalars.

    Attributes
    ----------
    rows : array of shape (k, m), of A^T, sparse where it may be
    inverse : array of shape (k,), of quotients
    unit : array of shape (k,), of entries of a matrix in its vector
    at : places in the block's matrix, or among x
    large : array of bool of shape (k,), which ones stay unknowns
    """

    rows: Matrix
    inverse: Array
    unit: Array
    at: tuple[Index, Index] | Index
    large: NDArray[np.bool_]

    @cached_property
    def quotients(self) -> Array:
        """Of those that are eliminated; zero of the others."""
        return np.where(self.large, 0.0, 1.0 / np.where(self.large, 1.0, self.inverse))

    def product(self) -> Matrix:
        """What those that are eliminated leave between multipliers."""
        roots = np.sqrt(self.quotients)
        halves = _times(self.rows.T, roots)
        return halves @ halves.T


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
    whole : bool, default False
        Whether every row is among the equations, which tells what depends on what; else those that
        do not bind are solved for by themselves.
    """

    def __init__(self, place: Place, whole: bool = False) -> None:
        self.place, of = place, place.of
        m = of.b.size
        self._parts = [
            _of_block(*seen, frame, m)
            for seen, frame in zip(of.matrices, place.frames, strict=True)
        ]
        scalars, self._lone = _of_scalars(place, whole)
        self._parts.append(scalars)
        self._schur = sum(part.product() for part in self._parts)  # sparse where all are
        self._inverse = np.concatenate([part.inverse[part.large] for part in self._parts])
        self._wide = _stacked([part.rows[part.large] for part in self._parts])
        self.large = self._inverse.size

    @cached_property
    def matrix(self) -> Matrix:
        """Symmetric, of shape (k + m, k + m); sparse where it may be."""
        return _bordered(-np.diag(self._inverse), self._wide, self._schur)

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
        found = self._condensed(right) if self._lone.size else _solution(self.matrix, right)
        # Where rows depend on others.
        return self._as_step(self._least(right) if found is None else found, slack)

    def _condensed(self, right: Array) -> Array | None:
        """The solution by that of the equations which are left without lone rows.

        These have multipliers of their own, D y = r - A x, with all entries x that they see among
        the unknowns.
        """
        lone, k = self._lone, self.large
        others = np.delete(np.arange(right.size - k), lone)
        weights = 1.0 / self._schur.diagonal()[lone]
        seen, wide = self._wide[:, lone], self._wide[:, others]
        lowered = _times(seen, weights)
        corner = -_dense(lowered @ seen.T)
        corner[np.arange(k), np.arange(k)] -= self._inverse
        schur = self._schur[others][:, others]
        given, rows = right[:k], right[k:]
        lowered_right = np.concatenate([given - lowered @ rows[lone], rows[others]])
        found = _solution(_bordered(corner, wide, schur), lowered_right)
        if found is None:
            return None
        y = np.empty(rows.size)
        y[others] = found[k:]
        y[lone] = weights * (rows[lone] - seen.T @ found[:k])
        return np.concatenate([found[:k], y])

    def _as_step(self, found: Array, slack: Array) -> NewtonStep:
        dw, dy = self._moved(found, slack)
        return NewtonStep(dw, self._of_x(dw), dy)

    @cached_property
    def _spectrum(self) -> tuple[Array, Array, Array]:
        size = _sizes(self.matrix)
        values, vectors = np.linalg.eigh(finite(_dense(_scaled(self.matrix, size))))
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
    if is_sparse(_filled(rows), i.size * m):
        entries = sp.csr_array(rows)
        parts = entries.data, seeing[entries.indices], entries.indptr
        kept: Matrix = sp.csr_array(parts, shape=(i.size, m))
    elif seeing.size < m:
        kept = np.zeros((i.size, m))
        kept[:, seeing] = rows
    else:
        kept = rows
    inverse = (frame.s[i] + frame.s[j]) / (frame.x[i] + frame.x[j])
    return _Part(kept, inverse, unit, (i, j), inverse * _LARGE <= 1.0)


def _of_scalars(place: Place, whole: bool) -> tuple[_Part, Index]:
    """The scalars, and rows that are solved for by themselves.

    A scalar that one row alone sees is solved for first, and so is its row where that leaves a
    large number on the diagonal.
    """
    k, rows = place.of.scalars
    inverse, p, own = place.of.curvature[k], place.of.nonnegative, place.of.own
    inverse[: p.size] += place.s[p] / place.x[p]
    large = inverse * _LARGE <= 1.0
    left = np.bincount(own.rows, own.squares / inverse[own.scalars], minlength=rows.shape[1])
    lone = np.flatnonzero(left >= _LARGE)
    seen = np.asarray(abs(rows[:, lone]).sum(axis=1)).ravel() > 0.0
    seen[own.scalars[left[own.rows] >= _LARGE]] = False
    if whole or np.count_nonzero(seen & ~large) >= lone.size:
        return _Part(rows, inverse, np.ones(k.size), k, large), lone[:0]
    large |= seen
    large[own.scalars[left[own.rows] >= _LARGE]] = False
    return _Part(rows, inverse, np.ones(k.size), k, large), lone


def _bordered(corner: Array, wide: Matrix, schur: Matrix) -> Matrix:
    """The symmetric matrix of ``corner``, ``wide`` and ``schur``."""
    k, m = wide.shape
    filled = np.count_nonzero(corner) + _filled(schur) + 2 * _filled(wide)
    if k + m >= _WIDE and is_sparse(filled, (k + m) ** 2):
        below = sp.csr_array(wide)
        blocks = [[sp.csr_array(corner), below], [below.T, sp.csr_array(schur)]]
        return sp.csc_array(sp.block_array(blocks))
    found = np.empty((k + m, k + m))
    found[:k, :k], found[k:, k:] = corner, _dense(schur)
    found[:k, k:] = _dense(wide)
    found[k:, :k] = found[:k, k:].T
    return found


def _solution(matrix: Matrix, right: Array) -> Array | None:
    """The solution of equations, refined once; None where they depend on each other."""
    size = _sizes(matrix)
    solve = _factorized(_scaled(matrix, size))
    if solve is None:
        return None
    found = size * solve(size * right)
    rest = right - matrix @ found
    found += size * solve(size * rest)
    rest = right - matrix @ found
    enough = np.linalg.norm(size * rest) <= _LOST * np.linalg.norm(size * right)
    return np.asarray(found) if enough else None


def _sizes(matrix: Matrix) -> Array:
    largest = largest_of_rows(matrix)
    return np.asarray(1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0)))


def _stacked(parts: list[Matrix]) -> Matrix:
    """Rows below each other; sparse where all are."""
    if all(map(sp.issparse, parts)):
        return sp.vstack(parts, format="csr")
    return np.vstack([_dense(rows) for rows in parts])


def _dense(matrix: Matrix) -> Array:
    return matrix.toarray() if sp.issparse(matrix) else matrix


def _filled(rows: Matrix) -> int:
    return int(rows.nnz if sp.issparse(rows) else np.count_nonzero(rows))


def _times(rows: Matrix, columns: Array) -> Matrix:
    """A matrix with its columns multiplied."""
    return rows @ sp.diags_array(columns) if sp.issparse(rows) else rows * columns


def _scaled(matrix: Matrix, size: Array) -> Matrix:
    if not sp.issparse(matrix):
        found = matrix * size
        found *= size[:, None]
        return found
    return sp.csc_array(sp.diags_array(size) @ matrix @ sp.diags_array(size))


def _factorized(matrix: Matrix) -> Callable[[Array], Array] | None:
    """What solves with a matrix; None where it is singular."""
    if sp.issparse(matrix):
        finite(matrix.data)
        try:
            return spl.splu(matrix).solve
        except RuntimeError:  # it is exactly singular
            return None
    factor, pivots, singular = sl.lapack.dgetrf(finite(matrix))
    return None if singular else lambda right: sl.lapack.dgetrs(factor, pivots, right)[0]
