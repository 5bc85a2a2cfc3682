r"""Newton steps from near a feasible point into the interior of the feasible set.

*Nearest.* From x in the interior of the cone, the step that satisfies A x = b and is shortest in
the local norm :math:`\|\Delta\|_x^2 = \langle\Delta, X^{-1}\Delta X^{-1}\rangle` is
:math:`\Delta = X A^*(w) X` with :math:`A(X A^*(w) X) = b - A x`. Where its length is below one it
stays in the cone (the Dikin ellipsoid; Nesterov and Nemirovskii, 1994); longer ones are cut. The
step changes small eigenvalues little and large ones freely, so that it leads to a feasible point
close by where the feasible set has an interior.

*Centred.* Where that ends too far from the optimum, primal-dual steps (Helmberg, Rendl,
Vanderbei, Wolkowicz, SIAM J. Optim. 6, 1996) lead to the point of the central path whose duality
gap is the one wanted.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.linalg as sl

from sdpdr.base.arrays import Array
from sdpdr.linalg.svec import smat, svec
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.attain.newton import (
    SHARE,
    SchurSystem,
    finite,
    inverse,
    longest_step,
    onto_equations,
    unless_lost,
)

# Shares of the largest eigenvalue that the smallest are lifted to, in turn. The smaller, the nearer
# to the optimum; too large a share leads out of a thin interior, too small a one not into it.
SHARES = (1e-9, 1e-7, 1e-5, 1e-3, 1.0)
# The least share beside the tolerance asked for, and one between it and the others.
_LEAST, _FINER = 1e-3, 1e-11
_STEPS, _NEAREST_STEPS = 30, 12
# How much of their share eigenvalues may lose on the way.
_THINNER = 1e-2
# Steps shorter than this lead nowhere.
_SHORTEST = 1e-4
# Relative residual that further steps do not improve.
_REACHED, _NEARLY = 1e-13, 1e-7
# Whole steps after which a point of the central path is as central as rounding lets it be.
_WHOLE = 4
# How far products of eigenvalues may lie from those wanted.
_CENTRED = 0.5


def finest_first(tol: float, shares: tuple[float, ...] = SHARES) -> tuple[float, ...]:
    """Shares to be tried in turn, with smaller ones where the tolerance asks for them.

    Examples
    --------
    >>> finest_first(1e-10)[:3]
    (1e-13, 1e-11, 1e-09)
    """
    finer = {_LEAST * tol, _FINER} if _LEAST * tol < _FINER else {_LEAST * tol}
    return (*sorted(share for share in finer if share < shares[0]), *shares)


def lifted(
    program: ConeProgram, x: Array, share: float, units: Array | None = None, least: float = 0.0
) -> Array:
    """The point with eigenvalues of at least a share of the largest, of every matrix by itself.

    Parameters
    ----------
    program : ConeProgram
    x : array of shape (N,)
    share : float
    units : array of shape (N,), optional
        In which eigenvalues are compared; those that suit the point by default.
    least : float, default 0
        What the largest eigenvalue, in these units, counts as at least: one for points, whose
        units tell how large a matrix that all but vanishes may be.
    """
    units = program.rescaled(x).units if units is None else units
    y = finite(x / units)
    for block in program.blocks:
        values, vectors = np.linalg.eigh(smat(y[block.part]))
        floor = share * (max(float(np.max(np.abs(values))), least) or 1.0)
        y[block.part] = svec((vectors * np.maximum(values, floor)) @ vectors.T)
    k = program.nonnegative
    y[k] = np.maximum(y[k], share * float(np.max(np.abs(y[k]), initial=0.0)) or share)
    return np.asarray(units * y)


@unless_lost
def own_share(program: ConeProgram, x: Array) -> float | None:
    """The share from which on `lifted` changes a point; None for points outside the cone."""
    y = finite(x / program.rescaled(x).units)
    shares = [np.inf]
    for block in program.blocks:
        values = np.linalg.eigvalsh(smat(y[block.part]))
        shares.append(float(values[0]) / max(float(np.max(np.abs(values))), 1.0))
    scalars = y[program.nonnegative]
    largest = float(np.max(np.abs(scalars), initial=0.0))
    shares.append(float(np.min(scalars, initial=np.inf)) / (largest or 1.0))
    return min(shares) if min(shares) > 0.0 else None


@unless_lost
def nearest(program: ConeProgram, x: Array, share: float) -> Array | None:
    """A feasible point near x; None if there is none.

    Parameters
    ----------
    program : ConeProgram
    x : array of shape (N,)
    share : float
        Of the largest eigenvalue in the smallest. Where steps lead far below it, the equations
        touch the cone at its boundary only.
    """
    x = lifted(program, x, share, least=1.0)
    scaled = program.rescaled(x)
    schur = SchurSystem(program, scaled.A)
    y = x / scaled.units
    before, t = np.inf, 0.0
    for _ in range(_NEAREST_STEPS):
        residual = scaled.b - scaled.A @ y
        missed = _relative(program, residual, scaled, y)
        # A whole step that does not help has met rounding; whether it is near enough is seen later.
        if missed <= _REACHED or (t == 1.0 and missed > 0.5 * before):
            if missed > _NEARLY:
                return None
            # Rounding may have ended the steps early.
            return scaled.units * (y if missed <= _REACHED else onto_equations(program, scaled, y))
        before = missed
        step = _shortest(program, schur, y, residual)
        if step is None:
            return None
        t = min(1.0, SHARE * longest_step(program, y, step))
        y = y + t * step
        if t < _SHORTEST or least_share(program, y) < _THINNER * min(share, _THINNER):
            return None
    return None


def least_share(program: ConeProgram, y: Array) -> float:
    """The smallest eigenvalue of any matrix relative to its largest entry."""
    shares = [1.0]
    for block in program.blocks:
        matrix = smat(finite(y[block.part]))
        lowest = sl.eigh(matrix, eigvals_only=True, subset_by_index=[0, 0])[0]
        shares.append(float(lowest) / float(np.max(np.diagonal(matrix))))
    return min(shares)


def _relative(program: ConeProgram, residual: Array, scaled: Scaled, y: Array) -> float:
    """Residuals relative to what rows would hold if no entries of a matrix cancelled."""
    envelope = np.abs(y)
    for block in program.blocks:
        root = np.sqrt(np.diagonal(smat(y[block.part])))
        envelope[block.part] = svec(np.outer(root, root))
    size = abs(scaled.A) @ envelope + np.abs(scaled.b)
    known = size > 0.0
    return float(np.max(np.abs(residual[known]) / size[known], initial=0.0))


def _shortest(program: ConeProgram, schur: SchurSystem, y: Array, residual: Array) -> Array | None:
    """The step shortest in the local norm; free scalars count by their own sizes."""
    free = program.free
    solved = schur.solve(y, y, -np.ones(free.size), np.append(residual, np.zeros(free.size)))
    if solved is None:
        return None
    step = schur.apply(y, y, schur.A.T @ solved[0])
    step[free] = solved[1]
    return step


@unless_lost
def near_path(
    program: ConeProgram, x: Array, duals: Mapping[str, Array], gap: float
) -> tuple[Array, Array, Array] | None:
    """A start for centring: eigenvalues that vanish get what the other side leaves them."""
    if not gap > 0.0:
        return None
    y = program.multipliers(duals)
    slack = program.c + program.curvature * x - program.A.T @ y
    units = program.rescaled(x).units
    mu = gap / max(program.order, 1)
    sizes = _largest(program, x / units), _largest(program, slack * units)
    share = np.sqrt(mu / max(sizes[0] * sizes[1], 1e-300))
    share = float(min(max(share**2, 1e-14), 1e-2))
    return (
        lifted(program, x, share, units, least=1.0),
        y,
        lifted(program, slack, share, 1.0 / units),
    )


def _largest(program: ConeProgram, x: Array) -> float:
    found = [float(np.max(np.abs(smat(x[block.part])))) for block in program.blocks]
    return max([*found, float(np.max(np.abs(x[program.nonnegative]), initial=0.0))])


@unless_lost
def centred(
    program: ConeProgram, x: Array, y: Array, slack: Array, gap: float
) -> tuple[Array, Array, Array] | None:
    """The point of the central path whose gap is the one given, its multipliers and their slack.

    Parameters
    ----------
    program : ConeProgram
    x, slack : arrays of shape (N,)
        In the interior of the cone and of its dual; slack of free scalars is ignored.
    y : array of shape (m,)
        Multipliers, with ``c - A^T y`` near the slack.
    gap : float

    Returns
    -------
    x, y, slack : arrays
        None where steps get short.
    """
    scaled = program.rescaled(x)
    schur = SchurSystem(program, scaled.A)
    units, rows = scaled.units, scaled.rows
    cost, curvature = units * program.c, units * units * program.curvature
    x, s, y = x / units, slack * units, y / rows
    s[program.free] = 0.0
    mu = gap / max(program.order, 1)
    whole = 0
    for _ in range(_STEPS):
        residual = scaled.b - scaled.A @ x
        off = cost + curvature * x - scaled.A.T @ y - s
        missed = _relative(program, residual, scaled, x)
        if whole >= _WHOLE or (missed <= _REACHED * 10 and _is_centred(program, x, s, mu)):
            if missed > _NEARLY:
                return None
            x = x if missed <= _REACHED * 10 else onto_equations(program, scaled, x)
            return units * x, rows * y, s / units
        step = _primal_dual(program, schur, x, s, residual, off, curvature, mu)
        if step is None:
            return None
        dx, dy, ds = step
        t = min(1.0, SHARE * longest_step(program, x, dx))
        u = min(1.0, SHARE * longest_step(program, s, ds))
        if max(t, u) < _SHORTEST:
            return None
        whole = whole + 1 if min(t, u) == 1.0 else 0
        x, y, s = x + t * dx, y + u * dy, s + u * ds
    return None


def _primal_dual(
    program: ConeProgram,
    schur: SchurSystem,
    x: Array,
    s: Array,
    residual: Array,
    off: Array,
    curvature: Array,
    mu: float,
) -> tuple[Array, Array, Array] | None:
    z = inverse(program, s)
    free = program.free
    target = mu * z - x
    target[free] = 0.0
    right = residual - schur.A @ (target - schur.apply(x, z, off))
    solved = schur.solve(x, z, -curvature[free], np.append(right, off[free]))
    if solved is None:
        return None
    dy, dz = solved
    ds = off - schur.A.T @ dy
    ds[free] = 0.0
    dx = target - schur.apply(x, z, ds)
    dx[free] = dz
    return np.asarray(dx), np.asarray(dy), np.asarray(ds)


def _is_centred(program: ConeProgram, x: Array, s: Array, mu: float) -> bool:
    for block in program.blocks:
        X, S = smat(finite(x[block.part])), smat(finite(s[block.part]))
        try:
            root = sl.cholesky(X, lower=True)
        except np.linalg.LinAlgError:
            return False
        values = np.linalg.eigvalsh(root.T @ S @ root) / mu
        if np.any(np.abs(values - 1.0) > _CENTRED):
            return False
    k = program.nonnegative
    return bool(np.all(np.abs(x[k] * s[k] / mu - 1.0) <= _CENTRED))
