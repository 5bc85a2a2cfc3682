"""Grading: the status of a point and its multipliers, independent of the solver's claim."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.deadline import ENDLESS, Deadline, seconds_of
from sdpdr.base.progress import enter_phase
from sdpdr.certify.answer import ProofInterruptedError, Proved
from sdpdr.certify.attained import made_psd
from sdpdr.linalg.rounding import UNIT
from sdpdr.program.backward import Measured, dual_backward_error
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.run import Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Outcome
from sdpdr.solving.answers import unproved
from sdpdr.solving.candidate import Candidate
from sdpdr.solving.options import Request
from sdpdr.solving.proofs import Prover, better_sides, budget, value_of

STOPPED = {
    Verdict.TIME_LIMIT: Status.TIME_LIMIT,
    Verdict.ITERATION_LIMIT: Status.ITERATION_LIMIT,
    Verdict.INTERRUPTED: Status.INTERRUPTED,
    Verdict.FAILED: Status.FAILED,
    # Claims without proof.
    Verdict.INFEASIBLE: Status.UNVERIFIED,
    Verdict.UNBOUNDED: Status.UNVERIFIED,
}
# Verdicts from which `with_status` derives the same status again. Statuses that are not in it come
# from `Verdict.SOLVED`.
_ENDED = {status: verdict for verdict, status in STOPPED.items()}
CUT_SHORT = (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.INTERRUPTED)
# Largest backward error of a point that is kept if a solver was stopped.
_MISSES = 0.5
_PROVED_BY = {"infeasible": Status.INFEASIBLE, "unbounded": Status.UNBOUNDED}


def grade(sdp: SDP, outcome: Outcome, chosen: Candidate, request: Request) -> Solution:
    """Prove both sides of an answer, or the claim of the solver, and give it a status.

    Without ``request.attainable`` the point is measured and not proved feasible. No proof begins
    after the deadline.
    """
    enter_phase(f"proving: what {chosen.solver.name} found, {chosen.form} form")
    verdict = outcome.verdict
    values = made_psd(sdp, outcome.point.values)
    given = Point(values, complete_multipliers(sdp, outcome.point.duals))
    solution = unproved("", replace(outcome.claim, verdict=verdict.value), chosen, request)
    seconds = budget(outcome.cpu, request)
    tol, stays = chosen.solver.tol, chosen.is_narrower
    prover = Prover(sdp, tol, request.gap_scale, seconds, request.deadline, stays=stays)
    with request.clock("certify"):
        try:
            found = prover.of(given, verdict, value=request.attainable)
        except ProofInterruptedError as error:
            found, verdict = error.proved, Verdict.INTERRUPTED
        is_claim = verdict in (Verdict.INFEASIBLE, Verdict.UNBOUNDED)
        # With a claim alone, the values are at best a direction.
        solution = with_proofs(sdp, solution, found, Point({}, given.duals) if is_claim else given)
        if is_claim:
            solution = _with_remark(solution, verdict)
        solution = with_status(sdp, solution, verdict)
    if verdict is Verdict.INTERRUPTED:
        # After Ctrl-C the status says so, even if both sides are proved.
        solution = replace(solution, status=Status.INTERRUPTED)
    return replace(solution, timings=dict(request.clock.seconds), history=outcome.history)


def _with_remark(solution: Solution, verdict: Verdict) -> Solution:
    """The solution with a remark on a claim that is refuted, or that nothing proves."""
    words = ""
    if verdict is Verdict.UNBOUNDED and solution.bound is not None:
        words = "It cannot be unbounded, since its multipliers prove a bound."
    elif verdict is Verdict.INFEASIBLE and solution.attained is not None:
        words = "It cannot be infeasible, since a point is proved feasible."
    elif solution.ray is None or _PROVED_BY[solution.ray.kind].name != verdict.name:
        words = f"the solver says that the program is {verdict.value}, but nothing proves it"
    message = f"{solution.claimed.message} {words}".strip()
    return replace(solution, claimed=replace(solution.claimed, message=message))


def with_status(sdp: SDP, solution: Solution, verdict: Verdict) -> Solution:
    """The solution with its status: by its proofs first, and then by the verdict of the solver."""
    if solution.certified():
        return replace(solution, status=Status.SOLVED, epsilon=0.0)
    if solution.ray is not None:
        solution = replace(solution, status=_PROVED_BY[solution.ray.kind], epsilon=0.0)
        if solution.status is Status.INFEASIBLE:  # no point is feasible, so none is kept
            solution = replace(solution, value=np.nan, values={}, attained=None, bound=None)
        return solution
    solution = replace(solution, epsilon=_epsilon(sdp, solution))
    if is_refuted(verdict, solution):
        verdict = Verdict.INACCURATE if solution.values else Verdict.FAILED
    if verdict in STOPPED:
        return replace(solution, status=STOPPED[verdict])
    nearby = _is_optimal_nearby(sdp, solution)
    return replace(solution, status=Status.OPTIMAL_NEARBY if nearby else Status.INACCURATE)


def is_refuted(verdict: Verdict, solution: Solution) -> bool:
    """Whether a proof contradicts a claim that there is no optimum."""
    return (verdict is Verdict.INFEASIBLE and solution.attained is not None) or (
        verdict is Verdict.UNBOUNDED and solution.bound is not None
    )


def _epsilon(sdp: SDP, solution: Solution) -> float:
    """The larger of the backward errors of the sides that are not proved."""
    errors = [0.0]
    # A computed error of zero may be as large as rounding.
    if solution.attained is None:
        errors.append(solution.backward_error + UNIT)
    if solution.bound is None:
        dual = dual_backward_error(sdp, solution.duals) if solution.duals else float("nan")
        errors.append(dual + UNIT)
    return float(np.max(errors))


def _is_optimal_nearby(sdp: SDP, solution: Solution) -> bool:
    """Whether point and multipliers agree, and are feasible for data within the tolerance."""
    if solution.attained is not None and solution.bound is not None:
        return False
    if not solution.epsilon <= solution.tol:
        return False
    bound = solution.bound
    if bound is None:
        bound = sdp.report(sdp.dual_value(solution.duals))
    size = max(abs(solution.value), solution.gap_scale)
    return abs(solution.value - bound) <= solution.tol * size


def ended_as(solution: Solution) -> Verdict:
    """The verdict from which `with_status` derives the status of a solution again."""
    said = solution.claimed.verdict
    is_claim = said in (Verdict.INFEASIBLE.value, Verdict.UNBOUNDED.value)
    if solution.status is Status.UNVERIFIED and is_claim:
        return Verdict(said)
    return _ENDED.get(solution.status, Verdict.SOLVED)


def _beside(
    sdp: SDP, solution: Solution, deadline: Deadline, seconds: float
) -> tuple[Proved, Point]:
    """Proofs of the point and multipliers of a solution, and the point that they began from."""
    given = Point(solution.values, complete_multipliers(sdp, solution.duals))
    prover = Prover(sdp, solution.tol, solution.gap_scale, seconds, deadline)
    return prover.of(given), given


def go_on(sdp: SDP, solution: Solution, seconds: float | None) -> Solution:
    """A solution improved by proofs of some more seconds."""
    if solution.certified() or solution.ray is not None:
        return solution
    limit = seconds_of(seconds)
    found, given = _beside(sdp, solution, ENDLESS, np.inf if limit is None else limit)
    # Earlier proofs, perhaps of another form of the program, may not succeed again.
    again = with_proofs(sdp, solution, better_sides(sdp, _proved_of(solution), found), given)
    again = with_status(sdp, again, ended_as(solution))
    sides = (again.attained, again.bound) == (solution.attained, solution.bound)
    better = again.certified() or again.ray is not None or again.gap < solution.gap
    return again if better or not sides else solution


def _proved_of(solution: Solution) -> Proved:
    """The proved sides of a solution."""
    how = {"value": solution.attained_by, "bound": solution.argument}
    values = {} if solution.attained is None else solution.values
    duals = {} if solution.bound is None else solution.duals
    return Proved(solution.attained, solution.bound, how, values, duals)


def with_proofs(sdp: SDP, solution: Solution, found: Proved, given: Point) -> Solution:
    """The solution with proved sides, and the points next to which they are proved."""
    values = found.values or given.values
    solution = with_point(sdp, solution, Point(values, found.duals or given.duals))
    return replace(
        solution,
        value=between(solution.value, found.value, found.bound),
        attained=found.value,
        attained_by=found.how.get("value", ""),
        bound=found.bound,
        argument=found.how.get("bound", "") if found.ray is None else found.ray.argument,
        ray=found.ray,
        unfinished=found.is_late,
    )


def between(value: float, attained: float | None, bound: float | None) -> float:
    """The objective at a point whose value is proved to lie between two numbers.

    Sums of doubles lose digits where large terms cancel, and may lie beyond both.

    Examples
    --------
    >>> between(0.0, 2e-6, 1e-6), between(1.5e-6, 2e-6, 1e-6), between(0.0, None, 1e-6)
    (1e-06, 1.5e-06, 0.0)
    """
    if attained is None or bound is None or not np.isfinite(value):
        return value
    low, high = sorted((attained, bound))
    return min(max(value, low), high)


def with_point(sdp: SDP, solution: Solution, point: Point) -> Solution:
    """The solution with another point and multipliers, and their residuals."""
    return replace(
        solution,
        value=value_of(sdp, point),
        values=point.values,
        duals=point.duals,
        measured=Measured(sdp, point),
    )


def without_what_misses(solution: Solution) -> Solution:
    """Drop the point of a solver that was stopped if it is far from feasible.

    A starting point may violate every row, and have any value.
    """
    if solution.status not in CUT_SHORT or solution.attained is not None or not solution.values:
        return solution
    missed = solution.backward_error
    if missed <= _MISSES:
        return solution
    words = (
        f"{solution.solver} had no point when it was stopped but one that misses the program by "
        f"{missed:.0%} of its numbers, which is left out"
    )
    return replace(
        solution,
        value=float("nan"),
        values={},
        measured=Measured(),
        epsilon=missed,
        attained_by=words,
    )


def attained(sdp: SDP, solution: Solution, deadline: Deadline, seconds: float) -> Solution:
    """The solution with a point that is proved feasible; multipliers and bound are kept."""
    if solution.attained is not None or not solution.values:
        return solution
    found, _ = _beside(sdp, solution, deadline, seconds)
    words = found.how.get("value", "")
    if found.value is not None:
        solution = with_point(sdp, solution, Point(found.values or solution.values, solution.duals))
    return replace(solution, attained=found.value, attained_by=words)


def attested(sdp: SDP, solution: Solution, deadline: Deadline = ENDLESS) -> Solution:
    """The solution with a value proved attainable near its point, which stays where it is.

    For points on the boundary, for instance of low rank, which a proof would move inside.
    """
    found = attained(sdp, solution, deadline, np.inf)
    if found.attained == solution.attained:
        return replace(solution, attained_by=found.attained_by)
    words = f"{found.attained_by}; the point itself is left where it is"
    solution = replace(solution, attained=found.attained, attained_by=words)
    return with_status(sdp, solution, ended_as(solution))
