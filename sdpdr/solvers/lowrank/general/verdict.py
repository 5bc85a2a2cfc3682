"""How good a point is: the parts of its relative gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.certify import certify
from sdpdr.program.boxes import fill_slack
from sdpdr.program.point import Point, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import gap_scale
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.lagrangian import Layout, Local
from sdpdr.solvers.lowrank.general.lowest import Look, lowest, negative_part
from sdpdr.solvers.lowrank.general.problem import FactorBlock, FactorProblem

# Order beyond which no proof multiplies out more forms of low rank than so many: a few stand beside
# a factorization as rows of their own.
_LARGEST_DENSE, _FEW = 2000, 4


@dataclass(frozen=True, eq=False)
class Unknowns:
    """All unknowns of a problem, with multipliers of its rows.

    Attributes
    ----------
    layout : Layout
    vector : array
    multipliers : array of shape (m,)
        At least 0 on inequalities; zeros where nothing is known.
    """

    layout: Layout
    vector: Array
    multipliers: Array

    @classmethod
    def without_multipliers(cls, layout: Layout, vector: Array) -> Unknowns:
        """Unknowns of whose multipliers nothing is known."""
        return cls(layout, vector, np.zeros(layout.problem.m))

    def point(self) -> Point:
        """They in the names and units of the program, slack filled."""
        problem = self.layout.problem
        factors, free = self.layout.split(self.vector)
        point = problem.to_point(tuple(factors), free, self.multipliers)
        return Point(fill_slack(problem.sdp, point.values), point.duals)


@dataclass(frozen=True, eq=False)
class FactorVerdict(Unknowns):
    r"""An iterate and its errors.

    Attributes
    ----------
    infeasibility : float
        Largest violation of a scaled row.
    products : float
        :math:`|u^T h|` relative to the objective.
    stationarity : float
        :math:`|\nabla L|\,|x| / 2` relative to the objective.
    negativity : float
        Sum of :math:`\max(0, -\lambda_{\min}(S_k))\,\operatorname{tr} X_k` relative to it.
    lows : list of (values, vectors)
        Low ends of the spectra of the dual slacks.
    """

    infeasibility: float
    products: float
    stationarity: float
    negativity: float
    lows: list[tuple[Array, Array]]
    scale: float = 1.0

    @property
    def error(self) -> float:
        """The largest of the four errors."""
        return max(self.infeasibility, self.products, self.stationarity, self.negativity)

    def promise(self, point: Point) -> float:
        """A rough lower estimate of the relative gap of a proof, without one.

        The difference of the objectives, and the cost of negative eigenvalues of the dual slacks.
        """
        sdp = self.layout.problem.sdp
        value = sdp.primal_value(point.values)
        apart = relative(abs(value - sdp.dual_value(point.duals)), value, sdp)
        return apart + self.negativity

    def proof(
        self, point: Point, tol: float, deadline: Deadline = ENDLESS
    ) -> tuple[float, float] | None:
        """Bound from the multipliers and its relative gap, in the sense of the user's objective.

        With a gap of no more than the tolerance no better bound is looked for, nor after the
        deadline.
        """
        sdp, blocks = self.layout.problem.sdp, self.layout.problem.blocks
        if any(_is_too_dense(block) for block in blocks):
            return None
        value = sdp.report(sdp.primal_value(point.values))
        away = tol * max(abs(value), gap_scale(sdp))
        goal = value + away if sdp.maximize else value - away
        bound = certify(sdp, point.duals, goal=goal, deadline=deadline).bound
        if bound is None:
            return None
        signed = bound - value if sdp.maximize else value - bound
        return bound, relative(signed, value, sdp)


def _is_too_dense(block: FactorBlock) -> bool:
    """Whether a proof would multiply out matrices that are kept as forms of low rank."""
    forms = block.forms.left.shape[0] if block.forms.weights.nnz else 0
    return forms > _FEW and block.n > _LARGEST_DENSE


def relative(signed: float, value: float, sdp: SDP) -> float:
    """A gap beside the value, or beside what counts as zero in the units of the program."""
    scale = max(abs(value), gap_scale(sdp))
    return signed / scale if scale > 0.0 else float(np.copysign(np.inf, signed)) if signed else 0.0


def broken(sdp: SDP, values: Mapping[str, Value]) -> float:
    """Largest violation of a row by values whose matrices are semidefinite.

    Beside the largest right side of the row's group, or of all where those are zeros, so that it
    does not change with the unit of length.
    """
    if sdp.lmis:
        return float("inf")
    worst = 0.0
    overall = max((_largest(rows) for rows in sdp.rows), default=0.0) or 1.0
    for rows in sdp.rows:
        away = -np.asarray(sdp.slack(rows, values))
        if rows.relation == "==":
            away = np.abs(away)
        worst = max(worst, float(np.max(away, initial=0.0)) / (_largest(rows) or overall))
    return worst


def _largest(rows: Rows) -> float:
    return float(np.max(np.abs(rows.rhs), initial=0.0))


def violation(local: Local) -> float:
    """Largest violation of a row; an inequality may also err by being slack with a multiplier."""
    function = local.function
    idle = -function.multipliers / function.penalty
    equal = function.layout.problem.equal
    away = np.where(equal, local.excess, np.maximum(local.excess, idle))
    return float(np.max(np.abs(away), initial=0.0))


def scale_of(local: Local) -> float:
    """What errors in the objective are compared with: the larger of both objectives."""
    return _scale(local.function.layout, local.vector, local.objective, local.estimate)


def _scale(layout: Layout, vector: Array, objective: float, multipliers: Array) -> float:
    factors, _ = layout.split(vector)
    traces = sum(float(np.sum(np.square(f))) for f in factors)
    dual = abs(float(layout.problem.rhs @ multipliers))
    return max(abs(objective), dual, 1e-6 * traces, 1e-12)


def stationarity(local: Local, gradient: Array) -> float:
    """What the gradient adds to the gap, relative to the objective."""
    size = float(np.linalg.norm(gradient) * np.linalg.norm(local.vector))
    return 0.5 * size / scale_of(local)


def judge(
    local: Local, seed: int, *, quick: bool = False, look: Look | None = None
) -> FactorVerdict:
    """Measure an iterate together with the multipliers it suggests.

    Parameters
    ----------
    local : Local
    seed : int
    quick : bool, default False
        Look at one eigenvector of large sparse slacks, not at several.
    look : callable, optional
        Finds the low end of the spectrum of a dual slack; by default `lowest`.
    """
    scale = scale_of(local)
    negativity, lows = negative_part(
        local.function.layout, local.vector, local.slacks, scale, seed, quick=quick, look=look
    )
    return FactorVerdict(
        layout=local.function.layout,
        vector=local.vector,
        multipliers=local.estimate,
        infeasibility=violation(local),
        products=abs(float(local.estimate @ local.excess)) / scale,
        stationarity=stationarity(local, local.gradient()),
        negativity=negativity,
        lows=lows,
    )


def judge_as_it_is(at: Unknowns, seed: int, *, quick: bool = False) -> FactorVerdict:
    """Measure unknowns together with multipliers that need no estimate.

    Parameters
    ----------
    at : Unknowns
    seed : int
    quick : bool, default False
        As in `judge`.
    """
    layout, vector, problem = at.layout, at.vector, at.layout.problem
    values, y = layout.values(vector), np.append(1.0, at.multipliers)
    excess = values[1:] - problem.rhs
    slacks = [block.forms.slack(y) for block in problem.blocks]
    scale = _scale(layout, vector, layout.objective(vector, values), at.multipliers)
    on_free = problem.free.T @ y + problem.curvature * layout.split(vector)[1]
    negativity, lows = negative_part(layout, vector, slacks, scale, seed, quick=quick)
    return FactorVerdict(
        layout=layout,
        vector=vector,
        multipliers=at.multipliers,
        infeasibility=float(np.max(np.where(problem.equal, np.abs(excess), excess), initial=0.0)),
        products=abs(float(at.multipliers @ excess)) / scale,
        stationarity=_slope(layout, vector, slacks, on_free) / scale,
        negativity=negativity,
        lows=lows,
        scale=scale,
    )


def _slope(layout: Layout, vector: Array, slacks: list[DualSlack], on_free: Array) -> float:
    """The contribution of the gradient to the gap: half its norm times that of the unknowns.

    For a signed scalar it is the product with its slack. The gradient by its square root vanishes
    more slowly than the product, and would overestimate the gap.
    """
    factors, _ = layout.split(vector)
    pairs = list(zip(layout.problem.blocks, slacks, factors, strict=True))
    products = [np.zeros_like(f) if b.scalar else 2.0 * (s @ f) for b, s, f in pairs]
    gradient = layout.project(layout.join(products, on_free))
    size = 0.5 * float(np.linalg.norm(gradient) * np.linalg.norm(vector))
    kept = (abs(s.diagonal()) @ np.square(f[:, 0]) for b, s, f in pairs if b.scalar)
    return size + float(sum(kept))


def reported(problem: FactorProblem, objective: float) -> float:
    """The value of a scaled objective in the user's units and sense."""
    return problem.sdp.report(objective * problem.units.objective + problem.sdp.constant)


_VIOLATED = 1e-4  # violation from which on a proof of infeasibility is looked for
_RUNAWAY = 1e7  # size of scaled unknowns that looks like running away
_TRACE_RATIO = 1e4  # trace that a feasible point would need, in terms of the present one
_ROUNDING = 1e-6
_NOT_IN_RAY = 1e-6  # unknowns of a ray, in terms of the largest, that are no part of it
_CANCELLED = 1e-3  # what a ray may leave of its terms in a row


def refuted(local: Local) -> str | None:
    """``"infeasible"``, ``"unbounded"``, or None if nothing is proved."""
    if is_unbounded(local):
        return "unbounded"
    return "infeasible" if is_infeasible(local) else None


def is_infeasible(local: Local) -> bool:
    """Whether the violation proves that any feasible point is far larger than the present one."""
    problem = local.function.layout.problem
    y = np.where(problem.equal, local.excess, np.maximum(local.excess, 0.0))
    size = float(np.linalg.norm(y))
    if size <= _VIOLATED:
        return False
    y = y / size
    promise = -float(problem.rhs @ y)
    full = np.concatenate([[0.0], y])
    on_free = float(np.linalg.norm(problem.free.T @ full))
    if promise <= 0.0 or on_free > _ROUNDING * promise:
        return False
    factors, _ = local.function.layout.split(local.vector)
    for block, factor in zip(problem.blocks, factors, strict=True):
        slack = block.forms.slack(full)
        low = slack.diagonal() if block.scalar else lowest(slack, block.face, 1, 0)[0]
        trace = max(1.0, float(np.sum(np.square(factor))))
        if -float(np.min(low, initial=0.0)) * _TRACE_RATIO * trace > promise:
            return False
    return True


def is_unbounded(local: Local) -> bool:
    """Whether the iterate, seen from far away, is a ray of descent along all rows."""
    layout = local.function.layout
    problem = layout.problem
    factors, free = layout.split(local.vector)
    size = sum(float(np.sum(np.square(f))) for f in factors) + float(np.abs(free).sum())
    if not size > _RUNAWAY:
        return False
    values = layout.values(layout.join([f / np.sqrt(size) for f in factors], free / size))
    away = np.where(problem.equal, np.abs(values[1:]), np.maximum(values[1:], 0.0))
    bent = float(problem.curvature @ np.square(free)) / size
    gain = -float(values[0]) - bent
    seems_so = gain > 0.0 and np.max(away, initial=0.0) <= _ROUNDING * gain
    return bool(seems_so) and _cancels(layout, factors, free)


def _cancels(layout: Layout, factors: Sequence[Array], free: Array) -> bool:
    """Whether the large part of an iterate cancels in all rows, independent of their units.

    The value of a row with small coefficients is small even if the row limits the iterate.
    """
    problem = layout.problem
    squares = [np.einsum("ik,ik->i", f, f) for f in factors]
    most = max(float(np.max(part, initial=0.0)) for part in (*squares, np.abs(free)))
    large = [
        np.where((s > _NOT_IN_RAY * most)[:, None], f, 0.0)
        for s, f in zip(squares, factors, strict=True)
    ]
    free = np.where(np.abs(free) > _NOT_IN_RAY * most, free, 0.0)
    values = layout.values(layout.join(large, free))[1:]
    sizes = abs(problem.free) @ np.abs(free)
    for block, factor in zip(problem.blocks, large, strict=True):
        sizes = sizes + block.forms.sizes(np.linalg.norm(factor, axis=1))
    left = np.where(problem.equal, np.abs(values), np.maximum(values, 0.0))
    return bool(np.all(left <= _CANCELLED * sizes[1:]))
