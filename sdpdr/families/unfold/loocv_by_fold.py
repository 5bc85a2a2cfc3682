"""Leave-one-out unfolding of a limited trace, from points folded together."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.families.unfold.loocv import fold, leave_one_out, loocv
from sdpdr.graphs import NeighborGraph
from sdpdr.linalg import Trace
from sdpdr.model import Model
from sdpdr.model.affine import Var, evaluate
from sdpdr.model.blocks import Centered, Gram, Relation
from sdpdr.model.blocks.entries import LeastTrace, TraceAtMost
from sdpdr.model.blocks.geomean import GeometricMean
from sdpdr.program import Factor, Solution, Status
from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.point import Point, Value
from sdpdr.program.run import Run
from sdpdr.program.sdp import SDP
from sdpdr.solving.grade import ended_as, proved, with_both_sides, with_status
from sdpdr.solving.proofs import Proofs
from sdpdr.solving.solve import solve

# Share of a time limit for folding; the program as it is written has the rest.
_FOR_FOLDING = 0.4
# Seconds for proofs after an interruption or a limit: a point that is found is worth a look.
_SOON = 1.0
# Relative gap aimed at by default.
_TOLERANCE = 1e-6
# How folding may end that the program as it is written would hardly improve.
_ANSWERS = (Status.SOLVED, Status.OPTIMAL_NEARBY, Status.INTERRUPTED)
# Share by which the trace and every mean stay inside of their limits, so that a point of a band is
# feasible as it is: beyond the rounding of sums of thousands, and less than any gap asked for.
_ROOM = 1e-10


def loocv_of_fold(
    model: Model, graph: NeighborGraph, folded: Solution, time_limit: float | None = None
) -> Solution:
    r"""The answer to `loocv` that the answer to `fold` of the same graph makes, and its proof.

    With the centred trace v of a folded kernel :math:`K_0` of N points,

    .. math:: K = K_0 + \frac{\tau - v}{N} \mathbf 1 \mathbf 1^T, \qquad
              f_j = (N - 1) \frac{\tau - v}{N} - (K_0)_{jj} ,

    whose arithmetic mean is :math:`(N - 1)\tau/N - v`. No kernel has a larger geometric mean than
    that of the least v, and this one's is smaller only by what the :math:`(K_0)_{jj}` vary beside
    :math:`\tau`: by 2e-7 of it at 60 points of a roll, by less for more. All entries are positive
    where :math:`\tau` is a few times v. Multipliers of lengths are those of the folded kernel, that
    of the trace is :math:`(N - 1) / N`, those of other limits on K are zero, and all f weigh the
    same.

    Parameters
    ----------
    model : Model
        ``loocv(graph, trace, isometry=isometry)``, with a trace as its limit.
    graph : NeighborGraph
    folded : Solution
        Of ``fold(graph, isometry)``.
    time_limit : float, optional
        Seconds for proofs.

    Returns
    -------
    Solution
        Graded on the whole program: its ``bound`` is proved, by multipliers of the lengths where
        these prove a least centred trace, and ``gap`` says what is lost.

    Raises
    ------
    ShapeError
        Model, graph and folded kernel are not of the same points.
    ModelError
        K has no trace as its limit, the goal is not the mean alone, points count differently, or
        lengths are held in another way; or the trace is less than that of the folded kernel, or so
        little more that a sum is not positive.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs
    >>> graph = graphs.cycle(6)
    >>> found = loocv_of_fold(loocv(graph, trace=60.0), graph, sdpdr.solve(fold(graph)))
    >>> found.certified(1e-5), round(found.value, 3)
    (True, 48.5)
    """
    return _graded(model, graph, folded, Deadline(time_limit))


def solve_loocv(
    graph: NeighborGraph,
    trace: float | None = None,
    isometry: Relation = "equality",
    *,
    tol: float | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
) -> Solution:
    r"""Leave-one-out unfolding of a limited trace, solved by folding first.

    `fold` is solved, and `loocv_of_fold` makes an answer of it where the inequality of the means is
    as tight as the tolerance asks; else, for few points or a small trace, `loocv` is solved as it
    is written, with a constraint for every pair of points.

    Parameters
    ----------
    graph : NeighborGraph
        Connected.
    trace : float, optional
        As of `loocv`.
    isometry : {"equality"} or Band, default "equality"
    tol, time_limit, seed
        As of `sdpdr.solve`. Folding gets four tenths of the time.

    Returns
    -------
    Solution
        Of ``loocv(graph, trace, isometry=isometry)``.

    Raises
    ------
    DisconnectedGraphError
        From one part nothing is known about another.
    ModelError
        The limit is not positive, or lengths may shrink, or have a price.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> found = solve_loocv(graphs.cycle(6), trace=60.0, tol=1e-5)
    >>> found.status, round(found.value, 3)
    (Status.SOLVED, 48.5)
    """
    deadline = Deadline(time_limit)
    model = loocv(graph, trace, isometry=isometry)
    for_folding = deadline.left(_FOR_FOLDING * deadline.seconds)
    folded = solve(fold(graph, isometry), tol=tol, time_limit=for_folding, seed=seed)
    interrupted = folded.status is Status.INTERRUPTED
    goal = _TOLERANCE if tol is None else tol
    if interrupted or _loss(model, graph, folded) <= goal:
        seconds = _SOON if interrupted else deadline.left()
        found = _by_fold(model, graph, folded, seconds)
        if found is not None and found.status in _ANSWERS:
            return found
    found = solve(
        model, tol=tol, time_limit=deadline.left(_SOON if interrupted else inf), seed=seed
    )
    if interrupted:
        return replace(found, status=Status.INTERRUPTED)
    if found.status is Status.SOLVED:
        return found
    by_fold = _by_fold(model, graph, folded, None if time_limit is None else _SOON)
    return found if by_fold is None or found.gap < by_fold.gap else by_fold


def _loss(model: Model, graph: NeighborGraph, folded: Solution) -> float:
    """Relative gap that the inequality of the means leaves; infinite if folding proves nothing."""
    if not folded.values or folded.bound is None:
        return inf
    sdp = model.to_sdp()
    limit = _limit_of(model, sdp, graph)
    try:
        value = sdp.report(sdp.primal_value(_lifted(model, sdp, graph, folded, limit).values))
    except ModelError:
        return inf
    return (_largest_mean(graph, limit) - folded.bound) / value - 1.0


def _by_fold(
    model: Model, graph: NeighborGraph, folded: Solution, time_limit: float | None
) -> Solution | None:
    """What a folded kernel makes; None where there is none, or the trace is less than its own."""
    if not folded.values:
        return None
    known = None if folded.bound is None else Certificate(folded.bound, folded.argument)
    try:
        return _graded(model, graph, folded, Deadline(time_limit), known)
    except ModelError:
        return None


def _graded(
    model: Model,
    graph: NeighborGraph,
    folded: Solution,
    deadline: Deadline,
    known: Certificate | None = None,
) -> Solution:
    """What a folded kernel makes, graded; a bound on the least centred trace may be known."""
    sdp = model.to_sdp()
    limit = _limit_of(model, sdp, graph)
    point = _lifted(model, sdp, graph, folded, limit)
    largest = _largest_mean(graph, limit)
    stopped = folded.status is Status.INTERRUPTED
    given = replace(
        folded,
        # The folding may have been interrupted; verify its point on the original program.
        status=Status.INTERRUPTED if stopped else Status.INACCURATE,
        values=point.values,
        duals=point.duals,
        value=sdp.report(sdp.primal_value(point.values)),
        claimed=replace(folded.claimed, value=None),
        # Faces and records are those of another program.
        exposures=(),
        history=(),
        runs=tuple(_of_whole(run, largest) for run in folded.runs),
        maximize=sdp.maximize,
        of_model=True,
        shapes=model.shapes,
    )
    least = known or _least_trace(sdp, graph, folded, deadline)
    if least.bound is None:
        return proved(sdp, given, deadline, rigorous=False)
    words = f"the inequality of the means, from the least centred trace: {least.argument}"
    bound = Certificate(largest - least.bound, words)
    # A proof from rows for all pairs would take all the time that there is for the point.
    attained = Proofs(sdp, given.tol, deadline).attained(point, bound.bound)
    found = with_both_sides(sdp, given, bound, attained, point.duals)
    return with_status(sdp, found, ended_as(given.status))


def _least_trace(
    sdp: SDP, graph: NeighborGraph, folded: Solution, deadline: Deadline
) -> Certificate:
    """What multipliers of the folded kernel prove of the least centred trace for these lengths."""
    n, masses = graph.n, graph.masses
    blocks = Gram(n), Centered(n, masses), LeastTrace(n, masses)
    folding = Model(blocks, name="fold", maximize=False).to_sdp()
    rows = (*folding.rows, *(rows for rows in sdp.rows if "isometry" in rows.label))
    folding = replace(folding, rows=rows)
    return certify(folding, folded.duals, goal=folded.bound, deadline=deadline)


def _largest_mean(graph: NeighborGraph, limit: float) -> float:
    """The arithmetic mean of a kernel of a trace whose centred trace is zero."""
    count = float(np.sum(graph.counts))
    return (count - 1.0) / count * limit


def _of_whole(run: Run, largest: float) -> Run:
    """What a run on the folded kernel proves of the whole program: a bound."""
    bound = None if run.bound is None else largest - run.bound
    words = f"of the folded kernel: {run.words}".rstrip(": ")
    return replace(run, value=None, attained=None, bound=bound, words=words)


def _limit_of(model: Model, sdp: SDP, graph: NeighborGraph) -> float:
    """The trace that limits K, where the inequality of the means speaks of this model.

    Other rows make the optimum no larger; another goal, or points that count for more, may.
    """
    limits = [b for b in model.blocks if isinstance(b, TraceAtMost)]
    means = [b for b in model.blocks if isinstance(b, GeometricMean)]
    alone = len(means) == 1 and means[0].at_least is None and sdp.maximize and not sdp.constant
    # Prices of lengths that may be missed are scalars of their own.
    alone = alone and {v.name for v in sdp.vector_variables} == {means[0].name}
    if len(limits) != 1 or not alone or set(sdp.objective) != {means[0].name}:
        raise ModelError("only a trace may limit K here, and the geometric mean be the only goal.")
    if graph.n != sdp.psd_variables[0].n:
        return limits[0].limit  # refused in other words
    # Sums and traces are linear in K: those that agree at a random kernel are the same.
    probe = {"K": Factor(np.random.default_rng(0).standard_normal((graph.n, 1)))}
    for own, of_graph in (
        (means[0].values, leave_one_out(graph.counts)),
        (Trace(graph.n, limits[0].weights) @ Var("K"), Trace(graph.n, graph.masses) @ Var("K")),
    ):
        if own.m != of_graph.m or not np.allclose(
            evaluate(own, probe), evaluate(of_graph, probe), rtol=1e-9
        ):
            raise ModelError(
                "the model and the graph count points differently: pass `loocv` and the answer to "
                "`fold` of one graph."
            )
    return limits[0].limit


def _require_fit(sdp: SDP, graph: NeighborGraph, folded: Solution) -> None:
    """Refuse a folded kernel that is of other points, or of lengths held in another way."""
    order, size = sdp.psd_variables[0].n, len(Factor.of(folded.gram()).factor)
    if not order == graph.n == size:
        raise ShapeError(
            f"the model has {order} points, the graph {graph.n} and the folded kernel {size}: pass "
            "`loocv` and the answer to `fold` of one graph."
        )
    wanted = {rows.label for rows in sdp.rows if "isometry" in rows.label}
    found = {label for label in folded.duals if "isometry" in label}
    if found and found != wanted:
        raise ModelError(
            f"the folded kernel has rows {sorted(found)} for its lengths and the model "
            f"{sorted(wanted)}: pass `loocv` and `fold` the same isometry."
        )


def _lifted(model: Model, sdp: SDP, graph: NeighborGraph, folded: Solution, limit: float) -> Point:
    """Values and multipliers of `loocv` from those of `fold`."""
    _require_fit(sdp, graph, folded)
    mean = next(b for b in model.blocks if isinstance(b, GeometricMean))
    masses = np.asarray(graph.counts, dtype=float)
    count = float(masses.sum())
    shape = Factor.of(folded.gram()).factor
    shape = shape - masses @ shape / count
    left = (1.0 - _ROOM) * limit - float(masses @ np.square(shape).sum(axis=1))
    if left <= 0.0:
        raise ModelError(
            f"the trace, {limit:g}, is less than that of the folded kernel: no kernel has "
            "these lengths and so small a trace."
        )
    away = np.full((graph.n, 1), np.sqrt(left / count))
    kernel = Factor(np.hstack([shape, away]))
    sums = np.asarray(evaluate(mean.values, {"K": kernel}))
    if np.min(sums) <= 0.0:
        raise ModelError(
            f"the trace, {limit:g}, is so small that a point is not likely at all given the others "
            "where the kernel is moved by the same everywhere: solve `loocv` as it is written."
        )
    values: dict[str, Value] = {"K": kernel, mean.name: mean.scalars(sums, _ROOM)}
    duals = {rows.label: np.zeros(rows.m) for rows in sdp.rows}
    duals |= {k: np.asarray(y) for k, y in folded.duals.items() if k in duals and "isometry" in k}
    trace = next(r.label for r in sdp.rows if r.label.startswith("trace"))
    duals[trace] = np.array([(count - 1.0) / count])
    prices = mean.prices(np.ones(mean.values.m))
    labels = [lmi.label for lmi in sdp.lmis]
    return Point(values, duals | dict(zip(labels, prices, strict=True)))
