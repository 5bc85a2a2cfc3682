"""Leave-one-out unfolding with a bounded trace, from points that are folded together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.certify.answer import is_small
from sdpdr.families.unfold.loocv import fold, loocv
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.given import takes_graph
from sdpdr.model import Model
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks import Relation
from sdpdr.model.blocks.entries import TraceAtMost
from sdpdr.model.blocks.geomean import GeometricMean
from sdpdr.program import Factor, Solution, Status
from sdpdr.program.point import Point, Value
from sdpdr.program.run import Run
from sdpdr.program.sdp import SDP
from sdpdr.solving.grade import CUT_SHORT, ended_as, with_proofs, with_status
from sdpdr.solving.proofs import AT_LEAST, Prover
from sdpdr.solving.solve import solve

# Seconds for proofs after an interruption or a limit.
_SOON = 1.0
# Relative gap requested by default.
_TOLERANCE = 1e-6
# Relative distance of the trace and every mean from their bounds, so that the point is strictly
# feasible: above the rounding error of sums of thousands, and below any requested gap.
_INSIDE = 1e-10


@takes_graph
def solve_loocv(
    graph: NeighborGraph,
    trace: float | None = None,
    isometry: Relation = "equality",
    *,
    tol: float | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
) -> Solution:
    r"""Leave-one-out unfolding with a bounded trace, solved by folding first.

    With the centred trace v of a kernel :math:`K_0` of N points that solves `sdpdr.methods.fold`,

    .. math:: K = K_0 + \frac{\tau - v}{N} \mathbf 1 \mathbf 1^T, \qquad
              f_j = (N - 1) \frac{\tau - v}{N} - (K_0)_{jj} ,

    whose arithmetic mean is :math:`(N - 1)\tau/N - v`. For the least v this bounds the geometric
    mean of every kernel, and the geometric mean of K is smaller only because the
    :math:`(K_0)_{jj}` vary: relatively by 2e-7 for 60 points of a roll, and by less for more. If
    that is within the tolerance, K and its multipliers are graded on the whole program: the
    multipliers of lengths are those of the folded kernel, that of the trace is
    :math:`(N - 1) / N`, the others are zero, and all f have equal weights. Otherwise, for few
    points or a small trace, `sdpdr.methods.loocv` is solved as written, with a constraint for every
    pair of points, in the time that is left. If folding itself was stopped, its best point is
    returned: the program as written is larger.

    Parameters
    ----------
    graph, trace
        As for `sdpdr.methods.loocv`, whose errors it raises.
    isometry : {"equality", "band:0.05"} or Band, default "equality"
    tol, time_limit, seed
        As for `sdpdr.solve`.

    Returns
    -------
    Solution
        The solution of ``loocv(graph, trace, isometry=isometry)``.

    Examples
    --------
    >>> from sdpdr.iterate import solve_loocv
    >>> from sdpdr import graphs
    >>> found = solve_loocv(graphs.cycle(6), trace=60.0, tol=1e-5)
    >>> found.status, round(found.value, 3)
    (Status.SOLVED, 48.5)
    """
    deadline = Deadline(time_limit)
    model = loocv(graph, trace, isometry=isometry)
    folded = solve(fold(graph, isometry), tol=tol, time_limit=deadline.left(), seed=seed)
    sdp, limit = model.to_sdp(), next(b.limit for b in model.blocks if isinstance(b, TraceAtMost))
    point = _lifted(model, sdp, graph, folded, limit)
    # An upper bound: the arithmetic mean if the centred trace were zero.
    count = float(np.sum(graph.counts))
    largest = (count - 1.0) / count * limit
    was_stopped, is_close = folded.status in CUT_SHORT, False
    if point is not None and folded.bound is not None:
        loss = (largest - folded.bound) / sdp.report(sdp.primal_value(point.values)) - 1.0
        is_close = loss <= (_TOLERANCE if tol is None else tol)
    if not (was_stopped or is_close):
        return solve(model, tol=tol, time_limit=deadline.left(), seed=seed)
    claim = _claim(model, sdp, folded, point, largest)
    if point is None:
        return claim
    # The bound is known. In a large program, which has rows for all pairs of points, looking for
    # another one would take longer than all else.
    whole = point if is_small(sdp) else Point(point.values, {})
    seconds = Deadline(_SOON) if was_stopped else deadline
    found = Prover(sdp, claim.tol, seconds=AT_LEAST, deadline=seconds).of(whole)
    if claim.bound is not None:
        words = f"the inequality of the means, from the least centred trace: {folded.argument}"
        how = {**found.how, "bound": words}
        found = replace(found, bound=claim.bound, duals=point.duals, how=how)
    return with_status(sdp, with_proofs(sdp, claim, found, point), ended_as(claim))


def _lifted(
    model: Model, sdp: SDP, graph: NeighborGraph, folded: Solution, limit: float
) -> Point | None:
    """Values and multipliers of `loocv` from those of `fold`; None if the trace is too small."""
    if not folded.values:
        return None
    mean = next(b for b in model.blocks if isinstance(b, GeometricMean))
    masses = np.asarray(graph.counts, dtype=float)
    count = float(masses.sum())
    shape = Factor.of(folded.gram()).factor
    shape = shape - masses @ shape / count
    left = (1.0 - _INSIDE) * limit - float(masses @ np.square(shape).sum(axis=1))
    if left <= 0.0:
        return None
    kernel = Factor(np.hstack([shape, np.full((graph.n, 1), np.sqrt(left / count))]))
    sums = np.asarray(evaluate(mean.values, {"K": kernel}))
    if np.min(sums) <= 0.0:
        return None
    values: dict[str, Value] = {"K": kernel, mean.name: mean.scalars(sums, _INSIDE)}
    duals = {rows.label: np.zeros(rows.m) for rows in sdp.rows}
    duals |= {k: np.asarray(y) for k, y in folded.duals.items() if k in duals and "isometry" in k}
    trace = next(r.label for r in sdp.rows if r.label.startswith("trace"))
    duals[trace] = np.array([(count - 1.0) / count])
    labels = [lmi.label for lmi in sdp.lmis]
    return Point(
        values, duals | dict(zip(labels, mean.multipliers(np.ones(mean.values.m)), strict=True))
    )


def _claim(
    model: Model, sdp: SDP, folded: Solution, point: Point | None, largest: float
) -> Solution:
    """The solution of the whole program that a folded kernel claims, not yet proved."""
    kept = Point({}, {}) if point is None else point
    return replace(
        folded,
        status=folded.status if folded.status in CUT_SHORT else Status.INACCURATE,
        values=kept.values,
        duals=kept.duals,
        value=folded.value if point is None else sdp.report(sdp.primal_value(point.values)),
        attained=None,
        bound=None if folded.bound is None else largest - folded.bound,
        claimed=replace(folded.claimed, value=None),
        # Faces and history belong to another program.
        exposures=(),
        history=(),
        runs=tuple(_of_whole(run, largest) for run in folded.runs),
        maximize=sdp.maximize,
        of_model=True,
        shapes=model.shapes,
    )


def _of_whole(run: Run, largest: float) -> Run:
    """A run on the folded kernel, with the bound that it proves for the whole program."""
    bound = None if run.bound is None else largest - run.bound
    words = f"of the folded kernel: {run.words}".rstrip(": ")
    return replace(run, value=None, attained=None, bound=bound, words=words)
