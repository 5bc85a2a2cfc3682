"""Grading: what a point and its multipliers are worth, whatever the solver says of them."""

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
    # A claim alone.
    Verdict.INFEASIBLE: Status.UNVERIFIED,
    Verdict.UNBOUNDED: Status.UNVERIFIED,
}
# What solvers that were stopped are taken to have said, so that `with_status` comes to the same
# status again; any claim will do for UNVERIFIED. Others, that the point is an answer.
_ENDED = {status: verdict for verdict, status in STOPPED.items()}
CUT_SHORT = (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.INTERRUPTED)
# How far data would have to move, relatively, for a point to be feasible that says something.
_MISSES = 0.5
_PROVED_BY = {"infeasible": Status.INFEASIBLE, "unbounded": Status.UNBOUNDED}


def grade(sdp: SDP, outcome: Outcome, chosen: Candidate, request: Request) -> Solution:
    """Prove both sides of an answer, or what the solver claims, and say what they are worth.

    Without ``attainable`` the point is measured where it is, and not proved feasible. No proof
    begins after the deadline.
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
        # The values of a claim are a direction at best.
        solution = with_proofs(sdp, solution, found, Point({}, given.duals) if is_claim else given)
        if is_claim:
            solution = _said(solution, verdict)
        solution = with_status(sdp, solution, verdict)
    if verdict is Verdict.INTERRUPTED:
        # After Ctrl-C the status says so, even if both sides are proved.
        solution = replace(solution, status=Status.INTERRUPTED)
    return replace(solution, timings=dict(request.clock.seconds), history=outcome.history)


def _said(solution: Solution, verdict: Verdict) -> Solution:
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
    """The solution with what is proved of it as its status, and the word of the solver after it."""
    if solution.certified():
        return replace(solution, status=Status.SOLVED, epsilon=0.0)
    if solution.ray is not None:
        solution = replace(solution, status=_PROVED_BY[solution.ray.kind], epsilon=0.0)
        if solution.status is Status.INFEASIBLE:  # a solver's point is none of the program
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
    """Whether what is proved contradicts a claim that there is no optimum."""
    return (verdict is Verdict.INFEASIBLE and solution.attained is not None) or (
        verdict is Verdict.UNBOUNDED and solution.bound is not None
    )


def _epsilon(sdp: SDP, solution: Solution) -> float:
    """The larger of the backward errors of the sides that are not proved."""
    errors = [0.0]
    # An error of zero is known to rounding, and what is not proved may need all of it.
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


def ended_as(status: Status) -> Verdict:
    """What a solver is taken to have said whose answer has a status."""
    return _ENDED.get(status, Verdict.SOLVED)


def _beside(
    sdp: SDP, solution: Solution, deadline: Deadline, seconds: float
) -> tuple[Proved, Point]:
    """What is proved beside a solution, and the point where the proofs began."""
    given = Point(solution.values, complete_multipliers(sdp, solution.duals))
    prover = Prover(sdp, solution.tol, solution.gap_scale, seconds, deadline)
    return prover.of(given), given


def go_on(sdp: SDP, solution: Solution, seconds: float | None) -> Solution:
    """A solution of a program with what proofs find in some seconds more."""
    if solution.certified() or solution.ray is not None:
        return solution
    limit = seconds_of(seconds)
    found, given = _beside(sdp, solution, ENDLESS, np.inf if limit is None else limit)
    # What was proved of the program in another form may not be found again in this one.
    again = with_proofs(sdp, solution, better_sides(sdp, _proved_of(solution), found), given)
    again = with_status(sdp, again, ended_as(solution.status))
    sides = (again.attained, again.bound) == (solution.attained, solution.bound)
    better = again.certified() or again.ray is not None or again.gap < solution.gap
    return again if better or not sides else solution


def _proved_of(solution: Solution) -> Proved:
    """What a solution says is proved."""
    how = {"value": solution.attained_by, "bound": solution.argument}
    values = {} if solution.attained is None else solution.values
    duals = {} if solution.bound is None else solution.duals
    return Proved(solution.attained, solution.bound, how, values, duals)


def with_proofs(sdp: SDP, solution: Solution, found: Proved, given: Point) -> Solution:
    """The solution with what is proved, and with the point that is proved to have the value."""
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
    """The solution with another point and other multipliers, and what is measured of them."""
    return replace(
        solution,
        value=value_of(sdp, point),
        values=point.values,
        duals=point.duals,
        measured=Measured(sdp, point),
    )


def without_what_misses(solution: Solution) -> Solution:
    """The answer of a solver that was stopped, without a point that has next to nothing right.

    What a solver begins with may break every row, and have any value.
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
    """The solution with a point that is proved feasible, and with its multipliers and its bound."""
    if solution.attained is not None or not solution.values:
        return solution
    found, _ = _beside(sdp, solution, deadline, seconds)
    words = found.how.get("value", "")
    if found.value is not None:
        solution = with_point(sdp, solution, Point(found.values or solution.values, solution.duals))
    return replace(solution, attained=found.value, attained_by=words)


def attested(sdp: SDP, solution: Solution, deadline: Deadline = ENDLESS) -> Solution:
    """The solution with a value proved attainable near its point, which stays where it is.

    For points of the boundary, of a low rank for instance, that a proof would move inside.
    """
    found = attained(sdp, solution, deadline, np.inf)
    if found.attained == solution.attained:
        return replace(solution, attained_by=found.attained_by)
    words = f"{found.attained_by}; the point itself is left where it is"
    solution = replace(solution, attained=found.attained, attained_by=words)
    return with_status(sdp, solution, ended_as(solution.status))
