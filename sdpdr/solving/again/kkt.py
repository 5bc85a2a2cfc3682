r"""The conditions of optimality of a program over cones, smoothed, and their derivative.

For the programs of `sdpdr.program.attain.cone`, with slack :math:`S \succeq 0` and products of the
size :math:`\mu`, they are one system without inequalities: with a matrix W for every cone,

.. math::

    X = \varphi(W), \quad S = \varphi(-W), \quad
    \varphi(w) = \tfrac12 (w + \sqrt{w^2 + 4\mu}), \qquad A x = b, \quad c + Q x - A^T y = s

says :math:`X S = \mu I` as well (Chen, Tseng, "Non-interior continuation methods for solving
semidefinite complementarity problems", Math. Program. 95, 2003). In the basis of eigenvectors of W,
which are those of X and S, a step of X answers to residuals r by quotients,

.. math::  dX_{ij} = \frac{x_i + x_j}{s_i + s_j} \, (A^T dy - r)_{ij}.

Where it is large, both eigenvectors belong to the range of X; these entries stay unknowns beside y.
The others are eliminated, and those of two vectors of the range of S are left out of the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, full_from_svec, smat, svec
from sdpdr.program.attain.cone import Block, ConeProgram
from sdpdr.program.attain.newton import finite

# Quotients from which on entries are unknowns, and up to which they do not matter.
_LARGE, _SMALL = 1e2, 1e-5
# Share of costs that slack is measured in at least.
_SHARE = 1e-3
# Eigenvalues, relative to the largest, of the equations that depend on others.
_DEPENDENT = 1e-9
# Share of a right side that a factorization may leave.
_LOST = 1e-6


@dataclass(frozen=True, eq=False)
class Equations:
    """A program in units that suit a point of it: min c x + x Q x / 2 with A x = b.

    Attributes
    ----------
    A : sparse array of shape (m, N)
    b : array of shape (m,)
    c, curvature : arrays of shape (N,)
    blocks : tuple of Block
    nonnegative, free : arrays of int
    units, rows : arrays of shapes (N,) and (m,)
        x of the program is units times x here; rows of A were multiplied by those of the program.
    price : float
        What slack was divided by.
    """

    A: sp.csr_array
    b: Array
    c: Array
    curvature: Array
    blocks: tuple[Block, ...]
    nonnegative: Index
    free: Index
    units: Array
    rows: Array
    price: float

    @classmethod
    def of(cls, program: ConeProgram, x: Array, s: Array, size: float) -> Equations:
        """In the units of a point and its slack, with values of a size."""
        scaled = program.rescaled(x)
        u = scaled.units
        cost = program.c + program.curvature * x
        sizes = (float(np.max(np.abs(u * each), initial=0.0)) for each in (s, _SHARE * cost))
        price = max(*sizes, _SHARE * size / max(program.order, 1))
        return cls(
            scaled.A,
            scaled.b,
            u * program.c / price,
            u * u * program.curvature / price,
            program.blocks,
            program.nonnegative,
            program.free,
            u,
            scaled.rows,
            price,
        )

    @cached_property
    def transposed(self) -> sp.csr_array:
        """A^T."""
        return sp.csr_array(self.A.T)

    @cached_property
    def scalars(self) -> tuple[Index, Array]:
        """Places of all scalars, non-negative ones first, and their rows of A^T."""
        k = np.concatenate([self.nonnegative, self.free])
        return k, self.A[:, k].toarray().T

    @cached_property
    def matrices(self) -> tuple[sp.csr_array, ...]:
        """The rows' matrices of every block, below each other; shape (m n, n)."""
        found = []
        for block in self.blocks:
            n = block.order
            full = sp.csr_array(self.A[:, block.part] @ full_from_svec(n).T)
            found.append(full.reshape((self.b.size * n, n)).tocsr())
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Frame:
    """Common eigenvectors of X and S of one block, the range of S first, and eigenvalues."""

    block: Block
    x: Array
    s: Array
    vectors: Array

    def matrices(self) -> tuple[Array, Array]:
        """X and S, as vectors."""
        Q = self.vectors
        return svec((Q * self.x) @ Q.T), svec((Q * self.s) @ Q.T)

    def turned(self, vector: Array) -> Array:
        """The matrix of a vector, in the basis of eigenvectors."""
        Q = self.vectors
        return np.asarray(Q.T @ smat(vector[self.block.part]) @ Q)

    def seen(self, matrices: sp.csr_array, width: int) -> Array:
        """Entries of all rows' matrices in that basis, the last columns alone; (n, m, width)."""
        n = self.block.order
        m = matrices.shape[0] // n
        narrow = matrices @ self.vectors[:, n - width :]
        wide = narrow.reshape(m, n, width).transpose(1, 0, 2).reshape(n, m * width)
        return (self.vectors.T @ wide).reshape(n, m, width)

    def width(self, m: int) -> int:
        """How many eigenvectors, the last ones, have quotients that matter to m rows."""
        n = self.block.order
        r = int(np.count_nonzero(self.x > _SMALL * self.s))
        return n if r * (2 * n - r) < 2 * m else r


@dataclass(frozen=True, eq=False)
class Place:
    """W (of free scalars, themselves) and y, with all that follows from them."""

    of: Equations
    w: Array
    y: Array
    mu: float
    x: Array
    s: Array
    frames: tuple[Frame, ...]
    missed: Array
    slack: Array
    error: float

    @classmethod
    def at(cls, of: Equations, w: Array, y: Array, mu: float) -> Place:
        """Where W and y lie."""
        x, s = w.copy(), np.zeros(w.size)
        frames = []
        for block in of.blocks:
            values, vectors = np.linalg.eigh(smat(finite(w[block.part])))
            frame = Frame(block, _smoothed(values, mu), _smoothed(-values, mu), vectors)
            x[block.part], s[block.part] = frame.matrices()
            frames.append(frame)
        k = of.nonnegative
        x[k], s[k] = _smoothed(w[k], mu), _smoothed(-w[k], mu)
        missed = of.b - of.A @ x
        slack = of.c + of.curvature * x - of.transposed @ y - s
        error = np.hypot(_relative(missed, of.b), _relative(slack, of.c))
        return cls(of, w, y, mu, x, s, tuple(frames), missed, slack, float(error))

    def vanishing(self, wider: Place) -> float:
        """The least share that an eigenvalue of W keeps of that on a wider path, in these units.

        The root of the quotient of both mu where X and S vanish together, and about one elsewhere.
        """
        kept = [self.w[self.of.nonnegative] / wider.w[self.of.nonnegative]]
        for one, other in zip(self.frames, wider.frames, strict=True):
            kept.append((one.x - one.s) / (other.x - other.s))
        return float(np.min(np.abs(np.concatenate(kept)), initial=1.0))


def _relative(residual: Array, data: Array) -> float:
    return float(np.linalg.norm(residual) / (1.0 + np.linalg.norm(data)))


def _smoothed(w: Array, mu: float) -> Array:
    """The positive root of x (x - w) = mu, without cancellation."""
    root = np.sqrt(w * w + 4.0 * mu)
    return np.where(w >= 0.0, 0.5 * (w + root), 2.0 * mu / np.maximum(root - w, 1e-300))


@dataclass(frozen=True, eq=False)
class _Part:
    """Unknowns of one block, or the scalars.

    Attributes
    ----------
    rows : array of shape (k, m), of A^T
    inverse : array of shape (k,), of quotients
    unit : array of shape (k,), of entries of a matrix in its vector
    at : places in the block's matrix, or among x
    """

    rows: Array
    inverse: Array
    unit: Array
    at: tuple[Index, Index] | Index

    @cached_property
    def large(self) -> NDArray[np.bool_]:
        """Which ones stay unknowns."""
        return np.asarray(self.inverse * _LARGE <= 1.0)

    @cached_property
    def quotients(self) -> Array:
        """Of those that are eliminated; zero of the others."""
        return np.where(self.large, 0.0, 1.0 / np.where(self.large, 1.0, self.inverse))


@dataclass(frozen=True, eq=False)
class Step:
    """A step of W, of x, and of y."""

    dw: Array
    dx: Array
    dy: Array


class System:
    """The derivative of the conditions at a place: equations for the large entries of x, and y.

    Parameters
    ----------
    place : Place

    Attributes
    ----------
    matrix : array of shape (k + m, k + m)
        Symmetric.
    """

    def __init__(self, place: Place) -> None:
        self.place, of = place, place.of
        m = of.b.size
        self._parts = [
            _of_block(matrices, frame, frame.width(m))
            for matrices, frame in zip(of.matrices, place.frames, strict=True)
        ]
        self._parts.append(_of_scalars(place))
        schur = np.zeros((m, m))
        for part in self._parts:
            roots = np.sqrt(part.quotients)[:, None] * part.rows
            schur += roots.T @ roots
        wide = np.vstack([part.rows[part.large] for part in self._parts])
        inverse = np.concatenate([part.inverse[part.large] for part in self._parts])
        self.large = inverse.size
        self.matrix = np.block([[-np.diag(inverse), wide], [wide.T, schur]])

    def right(self, missed: Array, slack: Array) -> Array:
        """The right side for residuals ``b - A x`` and ``c + Q x - A^T y - s``."""
        total, kept = missed.copy(), []
        for part, seen in zip(self._parts, self._seen(slack), strict=True):
            total += part.rows.T @ (part.quotients * seen)
            kept.append(seen[part.large])
        return np.concatenate([*kept, total])

    def step(self, missed: Array, slack: Array) -> Step:
        """How all answer to residuals."""
        right, size = self.right(missed, slack), self._sizes()
        factor, pivots, singular = sl.lapack.dgetrf(finite(self.matrix * size[:, None] * size))
        if singular:
            return self._as_step(self._least(right), slack)
        found = size * sl.lapack.dgetrs(factor, pivots, size * right)[0]
        rest = right - self.matrix @ found
        found += size * sl.lapack.dgetrs(factor, pivots, size * rest)[0]
        rest = right - self.matrix @ found
        if not np.linalg.norm(size * rest) <= _LOST * np.linalg.norm(size * right):
            found = self._least(right)  # of rows that depend on others
        return self._as_step(found, slack)

    def _as_step(self, found: Array, slack: Array) -> Step:
        dw, dy = self._moved(found, slack)
        return Step(dw, self._of_x(dw), dy)

    def _sizes(self) -> Array:
        largest = np.max(np.abs(self.matrix), axis=1, initial=0.0)
        return np.asarray(1.0 / np.sqrt(np.where(largest > 0.0, largest, 1.0)))

    @cached_property
    def _spectrum(self) -> tuple[Array, Array, Array]:
        size = self._sizes()
        values, vectors = np.linalg.eigh(finite(self.matrix * size[:, None] * size))
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

    def slope(self, missed: Array, slack: Array) -> Step:
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


def _of_block(matrices: sp.csr_array, frame: Frame, width: int) -> _Part:
    n = frame.block.order
    i, j = np.triu_indices(n)
    chosen = j >= n - width
    i, j = i[chosen], j[chosen]
    unit = np.where(i == j, 1.0, SQRT2)
    rows = frame.seen(matrices, width).transpose(0, 2, 1)[i, j - (n - width)] * unit[:, None]
    return _Part(rows, (frame.s[i] + frame.s[j]) / (frame.x[i] + frame.x[j]), unit, (i, j))


def _of_scalars(place: Place) -> _Part:
    k, rows = place.of.scalars
    inverse, p = place.of.curvature[k], place.of.nonnegative
    inverse[: p.size] += place.s[p] / place.x[p]
    return _Part(rows, inverse, np.ones(k.size), k)
