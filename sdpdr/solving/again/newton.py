r"""Newton's method on the central path, from an answer that need not lie inside of any cone.

Optimality of the programs of `sdpdr.program.attain.cone`, with slack :math:`S \succeq 0` and
products of the size :math:`\mu`, is one system without inequalities: with a matrix W for every
cone,

.. math::

    X = \varphi(W), \quad S = \varphi(-W), \quad \varphi(w) = \tfrac12 (w + \sqrt{w^2 + 4\mu}),
    \qquad A x = b, \quad c + Q x - A^T y = s

says :math:`X S = \mu I` as well (Chen, Tseng, "Non-interior continuation methods for solving
semidefinite complementarity problems", Math. Program. 95, 2003). Unlike an interior-point method it
may begin anywhere: from the answer X, S to a nearby program with W = X - S. In the basis of
eigenvectors of W, which are those of X and S, the step of X is that of the residual r times
quotients,

.. math::  dX_{ij} = \frac{x_i + x_j}{s_i + s_j} \, (A^T dy - r)_{ij}.

Where the quotient is large, both eigenvectors belong to the range of X; these entries stay unknowns
beside y. The others are eliminated, and those of two vectors of the range of S matter so little
that the matrix leaves them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import SQRT2, full_from_svec, smat, svec
from sdpdr.program.attain.cone import Block, ConeProgram
from sdpdr.program.attain.newton import finite, unless_lost

# Quotients from which on entries are unknowns, and up to which they do not matter.
_LARGE, _SMALL = 1e2, 1e-5
_STEPS = 30
# Share of costs that slack is measured in at least.
_SHARE = 1e-3
# Steps are halved so often, until the residual falls by a share of what it should.
_HALVINGS, _FALL = 6, 0.1
# Residuals that rounding leaves, relative to data, and that are worth having.
_REACHED, _USABLE = 1e-13, 1e-11


@dataclass(frozen=True, eq=False)
class Central:
    """A point of the central path: x and s of shape (N,), y of shape (m,)."""

    x: Array
    y: Array
    s: Array
    steps: int


@unless_lost
def path_point(program: ConeProgram, x: Array, y: Array, s: Array, gap: float) -> Central | None:
    """The point of the central path with a gap, by Newton's method from x, y and s.

    Parameters
    ----------
    program : ConeProgram
    x, s : arrays of shape (N,)
    y : array of shape (m,)
    gap : float
        Positive.

    Returns
    -------
    Central or None
        None where Newton's method leads nowhere from there.
    """
    scaled = program.rescaled(x)
    u = scaled.units
    s = s.copy()
    s[program.free] = 0.0
    price = _price(program, x, s, u)
    equations = Equations(
        scaled.A,
        scaled.b,
        u * program.c / price,
        u * u * program.curvature / price,
        program.blocks,
        program.nonnegative,
        program.free,
    )
    mu = gap / (max(program.order, 1) * price)
    place = _Place.at(equations, x / u - s * u / price, y / scaled.rows / price, mu)
    steps = 0
    while place.error > _REACHED and steps < _STEPS:
        after = _next(equations, place)
        if after is None:
            break
        place, steps = after, steps + 1
    if not place.error <= _USABLE:
        return None
    return Central(place.x * u, place.y * scaled.rows * price, place.s / u * price, steps)


def _price(program: ConeProgram, x: Array, s: Array, units: Array) -> float:
    """What slack is measured in."""
    cost = program.c + program.curvature * x
    sizes = (float(np.max(np.abs(units * each), initial=0.0)) for each in (s, _SHARE * cost))
    return max(sizes) or 1.0


@dataclass(frozen=True, eq=False)
class Equations:
    """A program in units that suit a point of it: min c x + x Q x / 2 with A x = b."""

    A: sp.csr_array
    b: Array
    c: Array
    curvature: Array
    blocks: tuple[Block, ...]
    nonnegative: Index
    free: Index

    @cached_property
    def transposed(self) -> sp.csr_array:
        """A^T."""
        return sp.csr_array(self.A.T)

    @cached_property
    def scalars(self) -> tuple[Index, Array]:
        """Places of all scalars, non-negative ones first, and their columns of A."""
        k = np.concatenate([self.nonnegative, self.free])
        return k, self.A[:, k].toarray()

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
class _Place:
    """W (of free scalars, themselves) and y, with all that follows from them."""

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
    def at(cls, of: Equations, w: Array, y: Array, mu: float) -> _Place:
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
        return cls(w, y, mu, x, s, tuple(frames), missed, slack, float(error))


def _relative(residual: Array, data: Array) -> float:
    return float(np.linalg.norm(residual) / (1.0 + np.linalg.norm(data)))


def _smoothed(w: Array, mu: float) -> Array:
    """The positive root of x (x - w) = mu, without cancellation."""
    root = np.sqrt(w * w + 4.0 * mu)
    return np.where(w >= 0.0, 0.5 * (w + root), 2.0 * mu / np.maximum(root - w, 1e-300))


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
        return np.asarray(self.vectors.T @ smat(vector[self.block.part]) @ self.vectors)

    def seen(self, matrices: sp.csr_array, width: int) -> Array:
        """Entries of all rows' matrices in that basis, the last columns alone; (n, m, width)."""
        n = self.block.order
        m = matrices.shape[0] // n
        narrow = matrices @ self.vectors[:, n - width :]
        wide = narrow.reshape(m, n, width).transpose(1, 0, 2).reshape(n, m * width)
        return (self.vectors.T @ wide).reshape(n, m, width)


@dataclass(frozen=True, eq=False)
class _Columns:
    """Unknowns of one block, or the scalars: A^T, the inverses of quotients, residuals, places."""

    rows: Array
    price: Array
    slack: Array
    at: tuple[Index, Index] | Index

    @cached_property
    def is_large(self) -> Array:
        return self.price * _LARGE <= 1.0


def _next(of: Equations, place: _Place) -> _Place | None:
    """Where a step leads that reduces the residual; None where there is none."""
    step = _step(of, place)
    if step is None:
        return None
    dw, dy = step
    for k in range(_HALVINGS):
        t = 0.5**k
        after = _Place.at(of, place.w + t * dw, place.y + t * dy, place.mu)
        if after.error <= (1.0 - _FALL * t) * place.error:
            return after
    return None


def _step(of: Equations, place: _Place) -> tuple[Array, Array] | None:
    """Newton's step of w and y; None where rounding has lost it."""
    m = of.b.size
    widths = [_width(frame, m) for frame in place.frames]
    parts = [
        _of_block(matrices, place, f, r)
        for matrices, f, r in zip(of.matrices, place.frames, widths, strict=True)
    ]
    parts.append(_of_scalars(of, place))
    schur, right = np.zeros((m, m)), place.missed.copy()
    for part in parts:
        quotients = np.where(part.is_large, 0.0, 1.0 / np.where(part.is_large, 1.0, part.price))
        roots = np.sqrt(quotients)[:, None] * part.rows
        schur += roots.T @ roots
        right += part.rows.T @ (quotients * part.slack)
    B = np.vstack([part.rows[part.is_large] for part in parts])
    price = np.concatenate([part.price[part.is_large] for part in parts])
    slack = np.concatenate([part.slack[part.is_large] for part in parts])
    found = _solved(np.block([[-np.diag(price), B], [B.T, schur]]), np.append(slack, right))
    if found is None:
        return None
    given, dy = found[: price.size], found[price.size :]
    return _moved(of, place, parts, given, dy), dy


def _width(frame: Frame, m: int) -> int:
    """How many eigenvectors, the last ones, have quotients that matter."""
    n = frame.block.order
    r = int(np.count_nonzero(frame.x > _SMALL * frame.s))
    return n if r * (2 * n - r) < 2 * m else r


def _of_block(matrices: sp.csr_array, place: _Place, frame: Frame, width: int) -> _Columns:
    n = frame.block.order
    i, j = np.triu_indices(n)
    chosen = j >= n - width
    i, j = i[chosen], j[chosen]
    unit = np.where(i == j, 1.0, SQRT2)
    seen = frame.seen(matrices, width).transpose(0, 2, 1)
    rows = seen[i, j - (n - width)] * unit[:, None]
    price = (frame.s[i] + frame.s[j]) / (frame.x[i] + frame.x[j])
    return _Columns(rows, price, frame.turned(place.slack)[i, j] * unit, (i, j))


def _of_scalars(of: Equations, place: _Place) -> _Columns:
    k, columns = of.scalars
    price, p = of.curvature[k], of.nonnegative
    price[: p.size] += place.s[p] / place.x[p]
    return _Columns(columns.T, price, place.slack[k], k)


def _solved(matrix: Array, right: Array) -> Array | None:
    """The solution, refined once; None where the matrix is singular to working precision."""
    size = 1.0 / np.sqrt(np.maximum(np.max(np.abs(matrix), axis=1, initial=0.0), 1e-300))
    scaled = finite(matrix * size[:, None] * size[None, :])
    factor = sl.lu_factor(scaled, check_finite=False)
    found = size * sl.lu_solve(factor, size * right, check_finite=False)
    found += size * sl.lu_solve(factor, size * (right - matrix @ found), check_finite=False)
    return found if np.isfinite(found).all() else None


def _moved(of: Equations, place: _Place, parts: list[_Columns], given: Array, dy: Array) -> Array:
    """The step of w that belongs to one of y, and to that of the large entries of x."""
    dw = np.zeros(place.w.size)
    pushed = of.transposed @ dy - place.slack
    start = 0
    for frame, part in zip(place.frames, parts[:-1], strict=True):
        x, s = (np.add.outer(one, one) for one in (frame.x, frame.s))
        turned = frame.turned(pushed) * (1.0 + x / s)
        large = part.is_large
        i, j = (index[large] for index in part.at)
        end = start + i.size
        unit = np.where(i == j, 1.0, SQRT2)
        turned[i, j] = given[start:end] / unit * (1.0 + s / x)[i, j]
        turned[j, i] = turned[i, j]
        dw[frame.block.part] = svec(frame.vectors @ turned @ frame.vectors.T)
        start = end
    scalars = parts[-1]
    k, large = scalars.at, scalars.is_large
    dx = pushed[k] / np.where(large, 1.0, scalars.price)
    dx[large] = given[start:]
    p = of.nonnegative
    dx[: p.size] *= 1.0 + place.s[p] / place.x[p]
    dw[k] = dx
    return dw
