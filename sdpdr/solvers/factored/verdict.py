"""How good a point is: what each part of the optimality conditions adds to the relative gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.linalg.svec import Array
from sdpdr.program.boxes import repair
from sdpdr.program.certificate import certify
from sdpdr.program.point import Point, Value
from sdpdr.program.sdp import SDP, Rows
from sdpdr.program.sizes import gap_scale
from sdpdr.solvers.factored.lagrangian import Layout, Local
from sdpdr.solvers.factored.problem import Problem
from sdpdr.solvers.factored.spectrum import lowest

# Eigenvectors looked at, hence columns added at once.
_DIRECTIONS = 6
_LARGEST_DENSE = 2000
# Trace that a matrix may still come to have if it is zero at present, in scaled units.
_TRACE = 0.1


@dataclass(frozen=True, eq=False)
class Verdict:
    r"""An iterate and its errors.

    Attributes
    ----------
    layout : Layout
    vector : array
    multipliers : array of shape (m,)
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

    layout: Layout
    vector: Array
    multipliers: Array
    infeasibility: float
    products: float
    stationarity: float
    negativity: float
    lows: list[tuple[Array, Array]]

    @property
    def error(self) -> float:
        """The largest of the four errors."""
        return max(self.infeasibility, self.products, self.stationarity, self.negativity)

    def point(self) -> Point:
        """The iterate in the names and units of the program, slack filled, limits kept."""
        return point_of(self.layout, self.vector, self.multipliers)

    def proof(self, point: Point) -> tuple[float, float] | None:
        """Bound from the multipliers and its relative gap, both as the person wrote it."""
        sdp, blocks = self.layout.problem.sdp, self.layout.problem.blocks
        if any(block.forms.weights.nnz and block.n > _LARGEST_DENSE for block in blocks):
            # A proof would multiply out matrices that are kept as forms of low rank.
            return None
        bound = certify(sdp, point.duals).bound
        if bound is None:
            return None
        value = sdp.report(sdp.primal_value(point.values))
        signed = bound - value if sdp.maximize else value - bound
        return bound, relative(signed, value, sdp)


def relative(signed: float, value: float, sdp: SDP) -> float:
    """A gap beside the value, or beside what counts as zero in the units of the program."""
    scale = max(abs(value), gap_scale(sdp))
    return signed / scale if scale > 0.0 else float(np.copysign(np.inf, signed)) if signed else 0.0


def point_of(layout: Layout, vector: Array, multipliers: Array) -> Point:
    """An iterate in the names and units of the program, slack filled, limits kept."""
    problem = layout.problem
    factors, free = layout.split(vector)
    point = problem.to_point(tuple(factors), free, multipliers)
    return Point(repair(problem.sdp, point.values), point.duals)


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
    factors, _ = local.function.layout.split(local.vector)
    traces = sum(float(np.sum(np.square(f))) for f in factors)
    dual = abs(float(local.function.layout.problem.rhs @ local.estimate))
    return max(abs(local.objective), dual, 1e-6 * traces, 1e-12)


def stationarity(local: Local, gradient: Array) -> float:
    """What the gradient adds to the gap, relative to the objective."""
    size = float(np.linalg.norm(gradient) * np.linalg.norm(local.vector))
    return 0.5 * size / scale_of(local)


def judge(local: Local, seed: int) -> Verdict:
    """Measure an iterate together with the multipliers it suggests."""
    layout, problem = local.function.layout, local.function.layout.problem
    factors, _ = layout.split(local.vector)
    scale, negativity, lows = scale_of(local), 0.0, []
    for block, slack, factor in zip(problem.blocks, local.slacks, factors, strict=True):
        if block.scalar:
            diagonal = slack.diagonal()
            order = np.argsort(diagonal)[:_DIRECTIONS]
            low = diagonal[order], np.eye(block.n)[:, order]
            trace = float(np.max(np.square(factor), initial=0.0))
        else:
            low = lowest(slack, block.face, _DIRECTIONS, seed)
            trace = float(np.sum(np.square(factor)))
        lows.append(low)
        least = float(np.min(low[0], initial=0.0))
        negativity += -least * max(trace, _TRACE) / scale
    return Verdict(
        layout=layout,
        vector=local.vector,
        multipliers=local.estimate,
        infeasibility=violation(local),
        products=abs(float(local.estimate @ local.excess)) / scale,
        stationarity=stationarity(local, local.gradient()),
        negativity=negativity,
        lows=lows,
    )


def reported(problem: Problem, objective: float) -> float:
    """A scaled objective as the person wrote it."""
    return problem.sdp.report(objective * problem.units.objective + problem.sdp.constant)
