"""Bounds of models with smooth costs from tangents that are solved as programs of their own."""

from __future__ import annotations

from dataclasses import replace

from sdpdr.model import Model
from sdpdr.model.tangent import is_smooth, tangent_of
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution, Status
from sdpdr.solving.plan import plan
from sdpdr.solving.tangent import of_tangent
from sdpdr.solving.turns import SETTLED

# Share of the tolerance that a bound may take.
_SHARE = 0.3


def tightened(model: Model | SDP, solution: Solution, time_limit: float | None = None) -> Solution:
    """An answer to a model with smooth costs, with a bound by whoever is best at its tangent.

    Multipliers of exponential cones are often right to fewer digits than the point is.

    Parameters
    ----------
    model : Model or SDP
    solution : Solution
        What a cvxpy solver came to.
    time_limit : float, optional
        Seconds for both.

    Returns
    -------
    Solution
        The same, if it needs no better bound or there is none.
    """
    if isinstance(model, SDP) or solution.status in (*SETTLED, Status.INTERRUPTED):
        return solution
    if not is_smooth(model) or solution.attained is None:
        return solution
    left = None if time_limit is None else time_limit - sum(run.seconds for run in solution.runs)
    if left is not None and left <= 0.0:
        return solution
    tangent = tangent_of(model, solution.values)
    near = plan(tangent, tol=_SHARE * solution.tol, time_limit=left).run(progress=False)
    return _with_bound(solution, near)


def _with_bound(solution: Solution, near: Solution) -> Solution:
    """An answer with the bound of a tangent, if that is better."""
    sign = -1.0 if solution.maximize else 1.0
    timings = {
        phase: solution.timings.get(phase, 0.0) + near.timings.get(phase, 0.0)
        for phase in {**solution.timings, **near.timings}
    }
    solution = replace(solution, runs=(*solution.runs, *near.runs), timings=timings)
    if near.bound is None:
        return solution
    if solution.bound is not None and sign * solution.bound >= sign * near.bound:
        return solution
    words = f"{of_tangent(near.argument)} (multipliers of {near.solver}, {near.form} form)"
    better = replace(solution, bound=near.bound, argument=words, duals=near.duals)
    return replace(better, status=Status.SOLVED, epsilon=0.0) if better.certified() else better
