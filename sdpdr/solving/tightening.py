"""Bounds of models with smooth costs from tangents that are solved as programs of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import ModelError
from sdpdr.certify import certify
from sdpdr.model import Model
from sdpdr.model.tangent import is_smooth, parabola_of, tangent_of
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Value, as_dense
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.asked import Clock, Request
from sdpdr.solving.join import with_bound
from sdpdr.solving.planning import plan
from sdpdr.solving.tangent import of_tangent
from sdpdr.solving.turns import SETTLED

# Tangents, at a point and at those that Newton's method finds from it.
_ROUNDS = 3
# Who finds them, and to what tolerance.
_NEWTON, _DIGITS = "clarabel", 1e-10
# How much further out than a point its tangents are taken, relatively, beside the tolerance: the
# price is that share of a trace, which may be small beside the value.
_FURTHER = (0.01, 0.1, 0.3, 1.0, 3.0)
# Share of the tolerance that a bound may take.
_SHARE = 0.3


def tightened(model: Model | SDP, solution: Solution, deadline: Deadline) -> Solution:
    """An answer to a model with smooth costs, with a bound by whoever is best at its tangent.

    Multipliers of exponential cones are often right to fewer digits than the point is.

    Parameters
    ----------
    model : Model or SDP
    solution : Solution
        What a cvxpy solver came to.
    deadline : Deadline
        No tangent is solved after it.

    Returns
    -------
    Solution
        The same, if it needs no better bound or there is none.
    """
    if isinstance(model, SDP) or solution.status in (*SETTLED, Status.INTERRUPTED):
        return solution
    if not is_smooth(model) or solution.attained is None:
        return solution
    ways = (_by_tangents, _by_multipliers)
    for way in ways if solution.bound is not None else reversed(ways):
        if solution.status not in SETTLED:
            solution = way(model, solution, deadline)
    return solution


def _by_tangents(model: Model, solution: Solution, deadline: Deadline) -> Solution:
    """The answer with a bound by solving tangents, at its point and where Newton's method goes."""
    place: Mapping[str, Value] = solution.values
    for _ in range(_ROUNDS):
        if deadline.is_over():
            break
        tangent = _solved(tangent_of(model, place), deadline, tol=_SHARE * solution.tol)
        if tangent is not None:
            solution = _with_bound(solution, tangent)
        if solution.status in SETTLED:
            break
        place = _next_place(model, place, deadline)
        if not place:
            break
    return solution


def _solved(
    model: Model, deadline: Deadline, solver: str = "auto", *, tol: float, attainable: bool = True
) -> Solution | None:
    """The answer to a program that is made on the way, in what is left of the time.

    None where its numbers are out of the range of programs: slopes vanish, or have no limit.
    """
    try:
        chosen = plan(model, solver, tol=tol, time_limit=deadline.left())
    except ModelError:
        return None
    return chosen.carried_out(
        Request(model, progress=False, attainable=attainable, deadline=deadline)
    )


def _next_place(
    model: Model, place: Mapping[str, Value], deadline: Deadline
) -> Mapping[str, Value]:
    """Where Newton's method goes from a point; nowhere, if that is not known."""
    step = _newton(model, place, deadline)
    return {} if step is None else step.values


def _newton(model: Model, place: Mapping[str, Value], deadline: Deadline) -> Solution | None:
    """A step of Newton's method from a point, with multipliers; None where none is known.

    The value of a point is right to twice the digits of the point, the bound of its tangent only to
    as many.
    """
    parabola = parabola_of(model, place)
    if parabola is None or deadline.is_over():
        return None
    step = _solved(parabola, deadline, _NEWTON, tol=_DIGITS, attainable=False)
    if step is None:
        return None
    known = {v.name for v in model.variables()}
    values = {name: value for name, value in step.values.items() if name in known}
    return replace(step, values=values) if values else None


def _by_multipliers(model: Model, solution: Solution, deadline: Deadline) -> Solution:
    r"""The answer with a bound by the multipliers of Newton's steps, where these prove one.

    Where nothing but the function holds a variable, as in :math:`\log\det K - \langle S, K\rangle`,
    its multipliers at the optimum lie on the boundary, and beside it beyond: the tangent has no
    limit, and no solver finds one. Further out tangents are flatter, at a price of that share.
    """
    place: Mapping[str, Value] = solution.values
    for _ in range(_ROUNDS):
        step = _newton(model, place, deadline)
        if step is None:
            break
        place = step.values
        solution = _with_bound(solution, replace(step, bound=None))
        for share in _FURTHER:
            solution = _with_bound(
                solution, _proved(model, step, 1.0 + share * solution.tol, deadline)
            )
            if solution.status in SETTLED:
                return solution
    return solution


def _proved(model: Model, step: Solution, further: float, deadline: Deadline) -> Solution:
    """A step of Newton's method with what its multipliers prove of a tangent further out."""
    values = {name: further * as_dense(value) for name, value in step.values.items()}
    sdp = tangent_of(model, values).to_sdp()
    labels = {r.label for r in sdp.rows} | {lmi.label for lmi in sdp.lmis}
    duals = {label: y for label, y in step.duals.items() if label in labels}
    found = certify(sdp, complete_multipliers(sdp, duals), deadline=deadline)
    return replace(
        step,
        bound=found.bound,
        argument=found.argument,
        duals=found.duals or duals,
        runs=(),
        timings={},
    )


def _with_bound(solution: Solution, near: Solution) -> Solution:
    """An answer with the bound of a tangent, if that is better."""
    clock = Clock(solution.timings)
    clock.add(near.timings)
    solution = replace(solution, runs=(*solution.runs, *near.runs), timings=clock.seconds)
    better = with_bound(solution, replace(near, argument=of_tangent(near.argument)))
    if better is solution:
        return solution
    better = replace(better, duals=near.duals)
    return replace(better, status=Status.SOLVED, epsilon=0.0) if better.certified() else better
