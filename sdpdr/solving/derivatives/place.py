r"""The optimality conditions of a program over a cone, smoothed, at a place.

With a matrix W for every block, the conditions of optimality with products :math:`\mu` are one
system without inequalities,

.. math::

    X = \varphi(W), \quad S = \varphi(-W), \quad
    \varphi(w) = \tfrac12 (w + \sqrt{w^2 + 4\mu}), \qquad A x = b, \quad c + Q x - A^T y = s,

since then :math:`X S = \mu I` (Chen, Tseng, "Non-interior continuation methods for solving
semidefinite complementarity problems", Math. Program. 95, 2003). So Newton's method may begin at a
solver's answer, W = X - S, which lies on the boundary of the cone, where an interior-point method
may not. `sdpdr.solving.derivatives.system` has the linear systems.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import smat, svec
from sdpdr.solving.derivatives.cone import Block, Equations, Reached


class Frame(NamedTuple):
    """Common eigenvectors of X and S of a block, the range of S first, and their eigenvalues."""

    block: Block
    x: Array
    s: Array
    vectors: Array


@dataclass(frozen=True, eq=False)
class Place:
    """W (free scalars: themselves) and y, with everything that follows from them.

    ``missed`` and ``slack`` are the residuals ``b - A x`` and ``c + Q x - A^T y - s``, ``error``
    their size beside that of the data.
    """

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
        """The place of W and y; a `LinAlgError` if numbers have overflowed."""
        if not np.isfinite(w).all():
            raise np.linalg.LinAlgError("numbers have overflowed")
        x, s, frames = w.copy(), np.zeros(w.size), list[Frame]()
        for block in of.cone.blocks:
            values, Q = np.linalg.eigh(smat(w[block.part]))
            frame = Frame(block, _smoothed(values, mu), _smoothed(-values, mu), Q)
            x[block.part], s[block.part] = svec((Q * frame.x) @ Q.T), svec((Q * frame.s) @ Q.T)
            frames.append(frame)
        k = of.cone.nonnegative
        x[k], s[k] = _smoothed(w[k], mu), _smoothed(-w[k], mu)
        missed, slack = of.b - of.A @ x, of.slack(x, y) - s
        error = np.hypot(_relative(missed, of.b), _relative(slack, of.c))
        return cls(of, w, y, mu, x, s, tuple(frames), missed, slack, float(error))

    @classmethod
    def near(cls, of: Equations, given: Reached, mu: float) -> Place:
        """The place of a point and multipliers in original units; mu too is in those."""
        w = given.x / of.units - given.s * of.units / of.price
        return cls.at(of, w, given.y / of.rows / of.price, mu / of.price)

    @cached_property
    def reached(self) -> Reached:
        """The point and multipliers in original units."""
        of = self.of
        return Reached(self.x * of.units, self.y * of.rows * of.price, self.s / of.units * of.price)

    def turned(self, vector: Array, *, back: bool = False) -> Array:
        """A vector with matrices in the basis of eigenvectors, or from there."""
        found = vector.copy()
        for frame in self.frames:
            Q = frame.vectors.T if back else frame.vectors
            found[frame.block.part] = svec(Q.T @ smat(vector[frame.block.part]) @ Q)
        return found

    @cached_property
    def quotients(self) -> Array:
        """By how much S falls as X grows by one, for each entry in the basis of eigenvectors."""
        found = np.zeros(self.w.size)
        for frame in self.frames:
            i, j = frame.block.pairs
            found[frame.block.part] = (frame.s[i] + frame.s[j]) / (frame.x[i] + frame.x[j])
        k = self.of.cone.nonnegative
        found[k] = self.s[k] / self.x[k]
        return found

    def kept(self, wider: Place) -> float:
        """The least share that an eigenvalue of X, or else of S, keeps of that on a wider path.

        About one, or the root of the quotient of both mu where X and S vanish together. X and S
        count apart, because a scalar that vanishes by itself is measured in units as small as it.
        """
        k = self.of.cone.nonnegative
        shares = [np.maximum(self.x[k] / wider.x[k], self.s[k] / wider.s[k])]
        for one, other in zip(self.frames, wider.frames, strict=True):
            shares.append(np.maximum(one.x / other.x, one.s / other.s))
        return float(np.min(np.concatenate(shares), initial=1.0))


def _relative(residual: Array, data: Array) -> float:
    """The size of a residual beside that of data."""
    return float(np.linalg.norm(residual) / (1.0 + np.linalg.norm(data)))


def _smoothed(w: Array, mu: float) -> Array:
    """The positive root of x (x - w) = mu, without cancellation."""
    root = np.sqrt(w * w + 4.0 * mu)
    return np.where(w >= 0.0, 0.5 * (w + root), 2.0 * mu / np.maximum(root - w, 1e-300))
