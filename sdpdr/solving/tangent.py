"""Grading of models with smooth costs: bounds by tangents, values by the functions themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.model import Model
from sdpdr.model.tangent import tangent_of
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.screen import screen
from sdpdr.solving.asked import Request
from sdpdr.solving.choice import Way
from sdpdr.solving.grade import Clock, grade, with_status


def grade_by_tangent(
    model: Model, outcome: Outcome, chosen: Way, clock: Clock, request: Request
) -> Solution:
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
    clock : Clock
    request : Request

    Returns
    -------
    Solution
    """
    with clock("build"):
        sdp = tangent_of(model, outcome.point.values).to_sdp()
    slack = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    labels = {r.label for r in sdp.rows} | {lmi.label for lmi in sdp.lmis}
    duals = {label: y for label, y in outcome.point.duals.items() if label in labels}
    point = Point({**slack, **outcome.point.values}, duals)
    screened = screen(sdp, replace(outcome, point=point, history=()))
    return _with_true_value(model, sdp, grade(sdp, screened, chosen, clock, request), screened)


def _with_true_value(model: Model, sdp: SDP, solution: Solution, outcome: Outcome) -> Solution:
    """The answer to a tangent as one to the model."""
    if not solution.values:
        return solution
    value = model.objective(solution.values)
    attained = value if solution.attained is not None and np.isfinite(value) else None
    argument = solution.argument
    if solution.bound is not None:
        argument = f"{argument}; of a tangent, which is nowhere worse than the function"
    solution = replace(solution, value=value, attained=attained, argument=argument, rigorous=False)
    return with_status(sdp, solution, outcome.verdict)
