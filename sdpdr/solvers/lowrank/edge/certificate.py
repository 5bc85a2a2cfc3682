"""What a point and its multipliers prove: the value below, the bound above."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sdpdr.solvers.lowrank.edge.pencil import DENSE, EdgePencil
from sdpdr.solvers.lowrank.edge.program import EdgeProgram, Matrix, Vector

_COARSE = 1e-8
_HEAVIER = (4.0, 1e2, 1e4, 1e6, 1e8)
_MOST_ESCAPES = 6
_REINFORCEMENTS = 4
_SURPLUS = 1.05  # of the weight that lifts an eigenvalue to 1 to first order
_CONNECTED_ENOUGH = 2.0  # connectivity of the heavy weights at which adding more is pointless


@dataclass(frozen=True, eq=False)
class EdgeVerdict:
    """A point, its multipliers, and what they prove about a program."""

    R: Matrix
    weights: Vector
    value: float
    bound: float
    infeasibility: float
    connectivity: Connectivity

    @property
    def gap(self) -> float:
        """Relative distance of value and bound."""
        if self.value == 0.0:
            return np.inf if self.bound else 0.0
        return abs(self.bound - self.value) / abs(self.value)

    @property
    def error(self) -> float:
        """The larger of gap and infeasibility."""
        return max(self.gap, self.infeasibility)


def judge(
    pencil: EdgePencil,
    R: Matrix,
    weights: Vector,
    tol: float,
    seed: int = 0,
    late: Callable[[], bool] = lambda: False,
) -> EdgeVerdict:
    """Certify a point of a program by any multipliers, reinforced where that helps the bound.

    Nothing is reinforced once ``late`` says that time is up.
    """
    program = pencil.program
    weights = clip_weights(program, weights)
    low_end = found = connectivity(pencil, weights, tol, seed)
    value, infeasibility = primal_value(program, R)
    bound = dual_bound(program, weights, low_end.lower)
    best = EdgeVerdict(R, weights, value, bound, infeasibility, found)
    for _ in range(_REINFORCEMENTS):
        if best.gap <= tol or not low_end.escape.shape[1] or late():
            break
        weights = clip_weights(program, reinforced(program, weights, low_end))
        low_end = connectivity(pencil, weights, tol, seed)
        bound = dual_bound(program, weights, low_end.lower)
        if bound < best.bound:
            best = EdgeVerdict(R, weights, value, bound, infeasibility, found)
    return best


@dataclass(frozen=True, eq=False)
class Connectivity:
    r"""The low end of the pencil :math:`L(w) v = \lambda\, C v` on centred vectors.

    C is the objective: of variance, the masses on the diagonal.

    Attributes
    ----------
    lower : float
        Number not above the smallest eigenvalue, shown by the inertia of a sparse factorization
        or by a dense eigendecomposition.
    value : float
        The smallest eigenvalue as computed; equal to ``lower`` when only that was needed.
    escape : (n, k) array
        Eigenvectors for eigenvalues clearly below 1, of unit length for the masses: directions
        in which a stationary R can still be improved. May have no column.
    levels : (k,) array
        Their eigenvalues.
    """

    lower: float
    value: float
    escape: Matrix
    levels: Vector

    @classmethod
    def of(cls, lower: float, values: Vector, vectors: Matrix, tol: float) -> Connectivity:
        """From what `EdgePencil.lowest` found."""
        value = 1.0 + float(values.min()) if values.size else lower
        low = np.flatnonzero(values < -tol)[:_MOST_ESCAPES]
        return cls(lower, value, vectors[:, low], 1.0 + values[low])

    @classmethod
    def unknown(cls, lower: float, n: int) -> Connectivity:
        """A lower bound alone, without eigenvectors."""
        return cls(lower, lower, np.empty((n, 0)), np.empty(0))


def connectivity(pencil: EdgePencil, weights: Vector, tol: float, seed: int = 0) -> Connectivity:
    r"""Smallest eigenvalue of the weighted Laplacian on centred vectors, from below.

    By Sylvester's law, :math:`\lambda \ge \sigma` when :math:`L(w) - \sigma C` has no negative
    pivot but that of the vector of ones. Shifts just below 1 are tried first, because that is where
    a solution has its eigenvalue; only when they fail are eigenvectors computed.

    Examples
    --------
    >>> cycle = EdgeProgram(edges=[[0, 1], [1, 2], [0, 2]], n=3, sqdist=1.0)
    >>> round(connectivity(EdgePencil(cycle), np.ones(3), tol=1e-8).lower, 12)
    3.0
    """
    n = pencil.program.n
    if pencil.is_variance and n <= DENSE:
        values, vectors = pencil.lowest(weights, seed)
        return Connectivity.of(1.0 + float(values.min()), values, vectors, tol)
    levels = _shifts(pencil.size(weights), tol)
    lower = next((level for level in levels if pencil.outweighs(weights, level)), -np.inf)
    if lower >= 1 - tol / 2 or (pencil.is_variance and lower == -np.inf):
        return Connectivity.unknown(lower, n)
    if not pencil.is_variance:
        return Connectivity.of(lower, *pencil.lowest(weights, seed), tol)
    values, vectors = pencil.lowest(weights, seed, lower - 1.0)
    found = Connectivity.of(lower, values, vectors, tol)
    away = min(abs(1 - found.value), abs(found.value))
    sharper = found.value - 1e-2 * away - 1e-10
    if sharper > lower and pencil.outweighs(weights, sharper):
        return replace(found, lower=sharper)
    return found


def _shifts(size: float, tol: float) -> list[float]:
    """Lower bounds to try for the smallest eigenvalue of centred vectors, best first."""
    near = 1 - np.array([tol / 40, tol / 4, tol / 2, *(10.0 ** np.arange(-8, 0)), 0.5, 0.9])
    below = -0.01 * 10.0 ** np.arange(np.ceil(np.log10(max(size, 1.0))) + 4)
    return [*near.tolist(), *below.tolist()]


def conjugate(program: EdgeProgram, weights: Vector) -> float:
    r"""Sum of the conjugates :math:`u w^+ - l w^- + w^2 / 2v`; inf outside the multiplier box.

    Examples
    --------
    >>> band = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, lower=0.5, upper=2.0)
    >>> conjugate(band, np.array([3.0])), conjugate(band, np.array([-3.0]))
    (6.0, -1.5)
    """
    up, down = np.maximum(weights, 0), np.maximum(-weights, 0)
    with np.errstate(invalid="ignore"):
        linear = np.where(up > 0, program.upper * up, 0) - np.where(
            down > 0, program.lower * down, 0
        )
    if (np.maximum(up, down) > program.penalty * (1 + 1e-15)).any():
        return np.inf
    return float((linear + weights**2 / (2 * program.stiffness)).sum())


def clip_weights(program: EdgeProgram, weights: Vector) -> Vector:
    """Nearest weights for which `conjugate` is finite."""
    low = np.where(np.isfinite(program.lower), -program.penalty, 0.0)
    high = np.where(np.isfinite(program.upper), program.penalty, 0.0)
    return np.clip(weights, low, high)


def dual_bound(program: EdgeProgram, weights: Vector, lower: float) -> float:
    r"""Upper bound on the optimum from any weights w with :math:`\lambda_2(L(w)) \ge` ``lower``.

    Every feasible R has :math:`\sum_i c_i |R_i|^2 \le \langle L(s w), R R^T\rangle` for
    :math:`s = 1/\lambda_2`, so the conjugate at s w is a bound. When a penalty forbids s w, the
    weights are mixed with a heavier admissible set instead, :math:`\lambda_2` being concave.

    References
    ----------
    Sun, Boyd, Xiao and Diaconis (2006), the fastest mixing Markov process and its dual.
    """
    if lower > 0:
        bound = conjugate(program, weights / lower)
        if np.isfinite(bound) or lower >= 1:
            return min(bound, conjugate(program, weights)) if lower >= 1 else bound
    # They depend on the program alone, and cost as much as a few certificates.
    heavy, strength = program.remembered(heavy_weights)
    if strength <= 1 or lower >= 1:
        return np.inf
    t = (1 - lower) / (strength - lower)
    return conjugate(program, (1 - t) * weights + t * heavy)


def reinforced(program: EdgeProgram, weights: Vector, low_end: Connectivity) -> Vector:
    r"""Weights with a little more where eigenvectors of eigenvalues below 1 stretch the edges.

    To first order :math:`\Delta w_e` lifts the eigenvalue of v by :math:`\sum_e \Delta w_e (v_i -
    v_j)^2`; it is spread in proportion to stretch per cost, :math:`(v_i - v_j)^2 / d_e`. A point
    near the centre of mass that hangs on two edges may stay folded over at next to no loss of
    value: its eigenvector is that point alone, and lifting it costs next to nothing, while
    scaling *all* weights up would double the bound.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0)
    >>> weak = np.array([2.0, 0.1])
    >>> more = reinforced(path, weak, connectivity(EdgePencil(path), weak, tol=1e-8))
    >>> more.round(2).tolist()
    [2.0, 0.71]
    """
    i, j = program.edges.T
    stretch = (low_end.escape[i] - low_end.escape[j]) ** 2
    limited = np.where(np.isfinite(program.upper), 1 / program.sqdist, 0.0)
    share = limited[:, None] * stretch
    needed = _SURPLUS * (1 - low_end.levels) / (share * stretch).sum(axis=0)
    return np.asarray(weights + share @ needed)


def heavy_weights(program: EdgeProgram) -> tuple[Vector, float]:
    r"""Non-negative weights as heavy as penalties allow, and a lower bound of their connectivity.

    The program is unbounded when no admissible weights have :math:`\lambda_2(L(w)) \ge 1`.

    Examples
    --------
    >>> cheap = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0, penalty=0.4)
    >>> round(heavy_weights(cheap)[1], 12)
    0.8
    """
    ceiling = clip_weights(program, np.full(program.m, np.inf))
    unit = np.where(np.isfinite(program.upper), 1 / program.sqdist, 0.0)
    pencil = EdgePencil(program)
    strength = connectivity(pencil, unit, _COARSE).lower
    for growth in _HEAVIER:
        heavy = np.minimum(ceiling, unit * growth / strength)
        reached = _CONNECTED_ENOUGH * connectivity(pencil, heavy / _CONNECTED_ENOUGH, _COARSE).lower
        if reached >= _CONNECTED_ENOUGH * (1 - _COARSE) or (heavy == ceiling).all():
            break
    return heavy, reached


def primal_value(program: EdgeProgram, R: Matrix) -> tuple[float, float]:
    """Objective at R shrunk into its hard upper limits, and the remaining violation of R.

    Shrinking makes the value a true lower bound when no hard lower limit exists.

    Returns
    -------
    value : float
    infeasibility : float
        Largest violation of a hard limit by R before shrinking, relative to ``sqdist``.

    Examples
    --------
    >>> path = EdgeProgram(edges=[[0, 1]], n=2, sqdist=1.0)
    >>> primal_value(path, np.array([[-1.0], [1.0]]))
    (0.5, 3.0)
    """
    q, hard = program.lengths(R), program.hard
    above = hard & (q > program.upper)
    below = hard & (q < program.lower)
    violation = np.where(above, q - program.upper, 0) + np.where(below, program.lower - q, 0)
    shrink = 1.0
    if above.any() and not np.isfinite(program.lower[hard]).any():
        shrink = float((q[above] / program.upper[above]).max())
    value = program.objective.value(R) / shrink
    value -= float(_penalty(program, q / shrink).sum())
    return value, float((violation / program.sqdist).max())


def _penalty(program: EdgeProgram, q: Vector) -> Vector:
    """Cost of leaving [lower, upper], quadratic up to penalty / stiffness and linear beyond."""
    soft = ~program.hard
    away = np.maximum(np.maximum(q - program.upper, program.lower - q), 0)[soft]
    penalty, stiffness = program.penalty[soft], program.stiffness[soft]
    knee = np.minimum(penalty / stiffness, away)
    with np.errstate(invalid="ignore"):
        curved = np.where(knee > 0, 0.5 * stiffness * knee**2, 0.0)
        straight = np.where(away > knee, penalty * (away - knee), 0.0)
    return np.asarray(curved + straight)
