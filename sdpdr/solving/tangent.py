"""Grading of models with smooth costs: bounds by tangents, values by the functions themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.progress import enter_phase
from sdpdr.certify.attained import made_psd
from sdpdr.model import Model
from sdpdr.model.tangent import tangent_of
from sdpdr.model.to_sdp import standard_point, with_slack
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.rescale import rescale
from sdpdr.program.run import Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.screen import screen
from sdpdr.solving.answers import unproved
from sdpdr.solving.asked import Request
from sdpdr.solving.grade import interrupted, with_both_sides, with_status
from sdpdr.solving.proofs import Proofs, value_of
from sdpdr.solving.way import Way


def grade_by_tangent(model: Model, outcome: Outcome, chosen: Way, request: Request) -> Solution:
    r"""Grade a point of a model with smooth costs.

    With the tangents at the point in their place, the model is a semidefinite program over the same
    feasible points, and at an optimum it has the same multipliers and the same optimum. What is
    proved of it is a bound, and a point that is feasible. The value there is that of the functions.

    Parameters
    ----------
    model : Model
    outcome : Outcome
        With a point, of the model as cvxpy was given it.
    chosen : Way
    request : Request

    Returns
    -------
    Solution
    """
    with request.clock("build"):
        sdp = tangent_of(model, outcome.point.values).to_sdp()
    point = standard_point(model, sdp, outcome.point)
    outcome = screen(sdp, replace(outcome, point=point, history=()))
    claim = replace(outcome.claim, verdict=outcome.verdict.value)
    solution = unproved("", claim, chosen, request)
    if not outcome.point.values:
        return solution
    enter_phase(f"proving: what {chosen.solver.name} found, {chosen.form} form")
    proofs = Proofs(sdp, chosen.solver.tol, request.proofs)
    with request.clock("certify"):
        try:
            solution = _proved(model, sdp, outcome.point, proofs, solution)
        except KeyboardInterrupt as error:
            solution = interrupted(sdp, solution, outcome.point, error)
            outcome = replace(outcome, verdict=Verdict.INTERRUPTED)
    was_interrupted = solution.status is Status.INTERRUPTED
    solution = replace(solution, timings=dict(request.clock.seconds), gap_scale=request.gap_scale)
    solution = _with_true_value(model, sdp, solution, outcome)
    return replace(solution, status=Status.INTERRUPTED) if was_interrupted else solution


def _proved(model: Model, sdp: SDP, found: Point, proofs: Proofs, solution: Solution) -> Solution:
    """What is proved of the tangent, with a point as near to the one found as may be.

    Points of better value are none of the model: the tangent is flat, and its optimum far away.
    So only what penalties are paid for is fitted anew, and no scalar of the model.
    """
    values = with_slack(model, rescale(sdp, made_psd(sdp, found.values)))
    given = Point(values, complete_multipliers(sdp, found.duals))
    certificate = proofs.certified(given, value_of(sdp, given))
    attained = proofs.attained(given, value_of(sdp, given), near=True)
    return with_both_sides(sdp, solution, certificate, attained, certificate.duals)


def of_tangent(argument: str) -> str:
    """How a bound is proved that is one of a tangent."""
    return f"{argument}; of a tangent, which is nowhere worse than the function"


def _with_true_value(model: Model, sdp: SDP, solution: Solution, outcome: Outcome) -> Solution:
    """The answer to a tangent as one to the model."""
    if not solution.values:
        return solution
    value = model.objective(solution.values)
    attained = value if solution.attained is not None and np.isfinite(value) else None
    argument = solution.argument if solution.bound is None else of_tangent(solution.argument)
    solution = replace(solution, value=value, attained=attained, argument=argument, rigorous=False)
    return with_status(sdp, solution, outcome.verdict)
