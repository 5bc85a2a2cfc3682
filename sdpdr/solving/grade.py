"""Grading: what a point and its multipliers are worth, whatever the solver says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.base.progress import enter_phase
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.linalg.rounding import UNIT
from sdpdr.program.attain import Attained, InterruptedProofError, attain, made_psd
from sdpdr.program.attain.attain import INTERRUPTED
from sdpdr.program.backward import Measured, dual_backward_error
from sdpdr.program.boxes import repair
from sdpdr.program.certificate import Certificate
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.rays import Ray, prove_infeasible, prove_unbounded
from sdpdr.program.run import Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Outcome
from sdpdr.solving.answers import unproved
from sdpdr.solving.asked import Request
from sdpdr.solving.proofs import Proofs, value_of
from sdpdr.solving.refute import is_feasible, refute
from sdpdr.solving.way import Way

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
# Who has waited long enough for a solver does not wait as long again for a tighter bound.
_HURRIED = (Verdict.TIME_LIMIT, Verdict.INTERRUPTED)
CUT_SHORT = (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.INTERRUPTED)
# How far data would have to move, relatively, for a point to be feasible that says something.
_MISSES = 0.5
_PROVED_BY = {"infeasible": Status.INFEASIBLE, "unbounded": Status.UNBOUNDED}


def grade(sdp: SDP, outcome: Outcome, chosen: Way, request: Request) -> Solution:
    """Prove a bound, make a point feasible and prove that, and say what the two are worth.

    Without ``attainable`` the point is measured where it is, and not proved feasible. No step
    towards a feasible point, and no solver for a ray, begins after the deadline.
    """
    enter_phase(f"proving: what {chosen.solver.name} found, {chosen.form} form")
    with request.clock("certify"):
        try:
            solution = _graded(sdp, outcome, chosen, request)
        except KeyboardInterrupt as error:
            if not outcome.point.values:
                raise
            claim = replace(outcome.claim, verdict=outcome.verdict.value)
            solution = unproved("", claim, chosen, request)
            solution = replace(solution, gap_scale=request.gap_scale)
            solution = interrupted(sdp, solution, _given(sdp, outcome), error)
    return replace(solution, timings=dict(request.clock.seconds), history=outcome.history)


def _given(sdp: SDP, outcome: Outcome) -> Point:
    """The point of a solver, repaired as far as that takes no proof."""
    point = outcome.point
    values = repair(sdp, made_psd(sdp, point.values)) if point.values else {}
    return Point(values, complete_multipliers(sdp, point.duals))


def _graded(sdp: SDP, outcome: Outcome, chosen: Way, request: Request) -> Solution:
    verdict, solver, deadline = outcome.verdict, chosen.solver, request.proofs
    proofs = Proofs(sdp, solver.tol, deadline, gap_scale=request.gap_scale)
    claim = replace(outcome.claim, verdict=verdict.value)
    given = _given(sdp, outcome)
    goal = _good_enough(sdp, given, solver.tol)
    if request.attainable:
        certificate, attained = proofs.of(given, goal, hurried=verdict in _HURRIED)
    else:
        certificate = proofs.certified(given, goal)
        attained = Attained(None, "no proof was asked for", given.values)
    solution = unproved("", claim, chosen, request)
    solution = with_both_sides(sdp, solution, certificate, attained, certificate.duals)
    point = Point(solution.values, solution.duals)
    refutation = _refutation(sdp, verdict, certificate, attained, deadline)
    ray = None
    if not refutation and verdict in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
        ray, words = _ray(sdp, verdict, point, attained, deadline)
        claim = replace(claim, message=f"{claim.message} {words}".strip())
    if refutation:
        verdict = Verdict.INACCURATE if point.values else Verdict.FAILED
        claim = replace(claim, message=f"{claim.message} {refutation}".strip())
    solution = replace(solution, claimed=claim, gap_scale=request.gap_scale, ray=ray)
    return with_status(sdp, solution, verdict)


def interrupted(sdp: SDP, solution: Solution, given: Point, error: KeyboardInterrupt) -> Solution:
    """The solution with what was proved of a point before somebody interrupted the proofs.

    Whoever asked to end is told so, even where both sides are proved.
    """
    if not isinstance(error, InterruptedProofError):
        error = InterruptedProofError(Attained(None, INTERRUPTED, given.values))
    duals = error.certificate.duals or given.duals
    solution = with_both_sides(sdp, solution, error.certificate, error.attained, duals)
    graded = with_status(sdp, solution, Verdict.INTERRUPTED)
    return replace(graded, status=Status.INTERRUPTED)


def _ray(
    sdp: SDP, verdict: Verdict, point: Point, attained: Attained, deadline: Deadline
) -> tuple[Ray | None, str]:
    """What proves that there is no point or no limit, and words where nothing does."""
    feasible = attained.value is not None
    found = refute(sdp, verdict, point, feasible=feasible, deadline=deadline)
    if isinstance(found, str):
        return None, found
    if found.kind == "recession":
        # Without a feasible point the program may be infeasible as well.
        if is_feasible(sdp, deadline):
            return replace(found, kind="unbounded"), ""
        return found, "a direction of unlimited gain is proved, but no feasible point to begin from"
    return found, ""


def _good_enough(sdp: SDP, point: Point, tol: float) -> float | None:
    """A bound that leaves most of the tolerance to what is attained; None without a point."""
    if not point.values:
        return None
    value = value_of(sdp, point)
    away = 0.3 * tol * abs(value)
    return value + away if sdp.maximize else value - away


def _refutation(
    sdp: SDP,
    verdict: Verdict,
    certificate: Certificate,
    attained: Attained,
    deadline: Deadline,
) -> str | None:
    """Why a program is not what the solver says of it; None where nothing contradicts it."""
    if verdict is Verdict.UNBOUNDED and certificate.bound is not None:
        return "It cannot be unbounded, since its multipliers prove a bound."
    if verdict is not Verdict.INFEASIBLE:
        return None
    if attained.value is not None:
        return "It cannot be infeasible, since a point is proved feasible."
    if attain(sdp, sdp.zero_point(), deadline=deadline).value is not None:
        return (
            "It cannot be infeasible, since a point near zero is proved feasible; is it unbounded?"
        )
    return None


def with_status(sdp: SDP, solution: Solution, verdict: Verdict) -> Solution:
    """The solution with what is proved of it as its status, and the word of the solver after it."""
    if solution.certified():
        return replace(solution, status=Status.SOLVED, epsilon=0.0)
    if solution.ray is not None and solution.ray.kind in _PROVED_BY:
        return replace(solution, status=_PROVED_BY[solution.ray.kind], epsilon=0.0)
    solution = replace(solution, epsilon=_epsilon(sdp, solution))
    if verdict in STOPPED:
        return replace(solution, status=STOPPED[verdict])
    nearby = _is_optimal_nearby(sdp, solution)
    return replace(solution, status=Status.OPTIMAL_NEARBY if nearby else Status.INACCURATE)


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


def proved(
    sdp: SDP, solution: Solution, deadline: Deadline = ENDLESS, *, rigorous: bool = True
) -> Solution:
    """The solution with everything proved anew, by default with all rounding accounted for."""
    if solution.ray is not None:
        return _with_rigorous_ray(sdp, solution, solution.ray, deadline)
    given = Point(solution.values, complete_multipliers(sdp, solution.duals))
    proofs = Proofs(sdp, solution.tol, deadline, rigorous, solution.gap_scale)
    certificate, attained = proofs.of(given)
    found = with_both_sides(sdp, solution, certificate, attained, certificate.duals)
    verdict = ended_as(solution.status)
    exact = rigorous and (certificate.rigorous or attained.rigorous)
    return with_status(sdp, replace(found, rigorous=exact), verdict)


def with_both_sides(
    sdp: SDP,
    solution: Solution,
    certificate: Certificate,
    attained: Attained,
    duals: Mapping[str, Array],
) -> Solution:
    """The solution with a bound and a value, and with the point that is proved to have it."""
    return replace(
        with_point(sdp, solution, Point(attained.values, duals)),
        attained=attained.value,
        attained_by=attained.argument,
        bound=certificate.bound,
        argument=certificate.argument,
    )


def with_point(sdp: SDP, solution: Solution, point: Point) -> Solution:
    """The solution with another point and other multipliers, and what is measured of them."""
    return replace(
        solution,
        value=value_of(sdp, point),
        values=point.values,
        duals=point.duals,
        measured=Measured(sdp, point),
        edges=_edges(sdp),
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


def _edges(sdp: SDP) -> dict[str, Index]:
    """Of rows that are squared lengths of edges alone, of the first matrix, the edges."""
    first = next((v.name for v in sdp.psd_variables), None)
    return {
        rows.label: lengths.edges
        for rows in sdp.rows
        for name, lengths in rows.lhs.items()
        if name == first and isinstance(lengths, SquaredEdgeLengths)
    }


def _with_rigorous_ray(sdp: SDP, solution: Solution, ray: Ray, deadline: Deadline) -> Solution:
    """The ray with a proof that accounts for all rounding; a mere claim where there is none."""
    found: Ray | str
    if ray.kind == "infeasible":
        found = prove_infeasible(sdp, ray.duals, rigorous=True, deadline=deadline)
    else:
        feasible = ray.kind == "unbounded" and is_feasible(sdp, deadline, rigorous=True)
        found = prove_unbounded(
            sdp, ray.values, feasible=feasible, rigorous=True, deadline=deadline
        )
    if isinstance(found, Ray) and found.kind == ray.kind:
        return replace(solution, ray=found, rigorous=True)
    words = "the ray is proved, but not with all rounding accounted for"
    claim = replace(solution.claimed, message=f"{solution.claimed.message} {words}".strip())
    return replace(solution, ray=None, claimed=claim, status=Status.UNVERIFIED)


def attested(sdp: SDP, solution: Solution, deadline: Deadline = ENDLESS) -> Solution:
    """The solution with a value proved attainable near its point, which stays where it is.

    For points of the boundary, of a low rank for instance, that a proof would move inside.
    """
    if solution.attained is not None or not solution.values:
        return solution
    point = Point(solution.values, complete_multipliers(sdp, solution.duals))
    found = Proofs(sdp, solution.tol, deadline).attained(point, solution.bound)
    words = f"{found.argument}; the point itself is left where it is"
    if found.value is None:
        same = found.argument == solution.attained_by
        return solution if same else replace(solution, attained_by=found.argument)
    solution = replace(solution, attained=found.value, attained_by=words)
    return with_status(sdp, solution, ended_as(solution.status))
