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

`sdpdr.solving.derivatives.system` solves for steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import full_from_svec, smat, svec
from sdpdr.program.attain.basis import ConeBlock
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.attain.newton import finite

# Quotients up to which entries do not matter.
_SMALL = 1e-5
# Share of costs that slack is measured in at least.
_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class Reached:
    """A point of a program over a cone, multipliers, and the slack that they leave.

    Attributes
    ----------
    x, s : arrays of shape (N,)
    y : array of shape (m,)
    """

    x: Array
    y: Array
    s: Array

    @classmethod
    def by(cls, program: ConeProgram, x: Array, y: Array) -> Reached:
        """With the slack of a program."""
        return cls(x, y, program.c + program.curvature * x - program.A.T @ y)


@dataclass(frozen=True, eq=False)
class Equations:
    """A program in units that suit a point of it: min c x + x Q x / 2 with A x = b.

    Attributes
    ----------
    A : sparse array of shape (m, N)
    b : array of shape (m,)
    c, curvature : arrays of shape (N,)
    blocks : tuple of ConeBlock
    nonnegative, free : arrays of int
    units, rows : arrays of shapes (N,) and (m,)
        x of the program is units times x here; rows of A were multiplied by those of the program.
    price : float
        What slack was divided by.
    transposed : sparse array of shape (N, m)
        A^T.
    scalars : tuple of arrays
        Places of all scalars, non-negative ones first, and their rows of A^T.
    matrices : tuple of pairs
        Rows that see a block, and their matrices below each other.
    """

    A: sp.csr_array
    b: Array
    c: Array
    curvature: Array
    blocks: tuple[ConeBlock, ...]
    nonnegative: Index
    free: Index
    units: Array
    rows: Array
    price: float

    transposed: sp.csr_array
    scalars: tuple[Index, Array]
    matrices: tuple[tuple[Index, sp.csr_array], ...]

    @classmethod
    def of(cls, program: ConeProgram, scaled: Scaled) -> Equations:
        """In units of equations of the program, which prices do not have yet."""
        transposed = sp.csr_array(scaled.A.T)
        k = np.concatenate([program.nonnegative, program.free])
        rows = transposed[k]
        return cls(
            scaled.A,
            scaled.b,
            scaled.units * program.c,
            scaled.units**2 * program.curvature,
            program.blocks,
            program.nonnegative,
            program.free,
            scaled.units,
            scaled.rows,
            1.0,
            transposed,
            (k, rows.toarray()),
            tuple(_matrices(scaled.A, block) for block in program.blocks),
        )

    def priced(self, at: Reached, size: float, order: int) -> Equations:
        """With a price that suits a point and its slack, in units of the program, and values."""
        u = self.units
        cost = self.c + self.curvature * (at.x / u)
        sizes = (float(np.max(np.abs(each), initial=0.0)) for each in (u * at.s, _SHARE * cost))
        price = max(*sizes, _SHARE * size / max(order, 1))
        return replace(self, c=self.c / price, curvature=self.curvature / price, price=price)

    def placed(self, at: Reached, mu: float) -> Place:
        """Where something lies that is given in units of the program."""
        w = at.x / self.units - at.s * self.units / self.price
        return Place.at(self, w, at.y / self.rows / self.price, mu)

    def reached(self, x: Array, y: Array, s: Array) -> Reached:
        """In units of the program."""
        return Reached(x * self.units, y * self.rows * self.price, s / self.units * self.price)


def _matrices(A: sp.csr_array, block: ConeBlock) -> tuple[Index, sp.csr_array]:
    n, part = block.order, A[:, block.part]
    rows = np.flatnonzero(np.diff(part.indptr))
    full = sp.csr_array(part[rows] @ full_from_svec(n).T)
    return rows, full.reshape((rows.size * n, n)).tocsr()


@dataclass(frozen=True, eq=False)
class Frame:
    """Common eigenvectors of X and S of one block, the range of S first, and eigenvalues."""

    block: ConeBlock
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
        """Entries of all rows' matrices in that basis, the last columns alone; (m, width, n)."""
        n = self.block.order
        m = matrices.shape[0] // n
        narrow = matrices @ self.vectors[:, n - width :]
        wide = narrow.reshape(m, n, width).transpose(0, 2, 1).reshape(m * width, n)
        return np.asarray(wide @ self.vectors).reshape(m, width, n)

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
        """The least share that an eigenvalue of X, or else the one of S, keeps of a wider path's.

        The root of the quotient of both mu where X and S vanish together, and about one elsewhere:
        X and S apart, since a scalar that vanishes by itself is measured in units as small as it.
        """
        k = self.of.nonnegative
        kept = [np.maximum(self.x[k] / wider.x[k], self.s[k] / wider.s[k])]
        for one, other in zip(self.frames, wider.frames, strict=True):
            kept.append(np.maximum(one.x / other.x, one.s / other.s))
        return float(np.min(np.concatenate(kept), initial=1.0))


def _relative(residual: Array, data: Array) -> float:
    return float(np.linalg.norm(residual) / (1.0 + np.linalg.norm(data)))


def _smoothed(w: Array, mu: float) -> Array:
    """The positive root of x (x - w) = mu, without cancellation."""
    root = np.sqrt(w * w + 4.0 * mu)
    return np.where(w >= 0.0, 0.5 * (w + root), 2.0 * mu / np.maximum(root - w, 1e-300))
