"""What is proved of large programs, without dense matrices."""

from __future__ import annotations

from collections.abc import Mapping

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, EffortSpentError
from sdpdr.program.attain.attain import Attained, _values
from sdpdr.program.attain.box import Box
from sdpdr.program.attain.closed import closed_form
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.attain.through import solve_through_factor
from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.ray import Ray
from sdpdr.program.rays.relax import without_objective
from sdpdr.program.sdp import SDP


def attained(
    sdp: SDP, values: Mapping[str, Value], *, tol: float = 1e-6, deadline: Deadline = ENDLESS
) -> Attained:
    """The value of a point that is made feasible in closed form, or next to a factor."""
    if not sdp.is_point(values):
        return Attained(None, "the solver returned no point", values)
    closed = closed_form(sdp, values, False)
    if closed is not None:
        return Attained(sdp.report(closed[0]), closed[2], closed[1])
    narrow = any(isinstance(given, Factor) for given in values.values())
    if not narrow:
        return Attained(None, "no point was proved feasible", values)
    try:
        program = cone_program(sdp, deadline, wide=True)
        point = Point(values)
        box = solve_through_factor(program, program.vector(values), program.factors(values))
    except EffortSpentError as error:
        return Attained(None, str(error), values)
    if not isinstance(box, Box):
        return Attained(None, box, values)
    words = "a factor next to which all equations have a solution"
    return Attained(sdp.report(box.value), words, _values(program, box, point))


def bounded(
    sdp: SDP, duals: Mapping[str, Array], goal: float | None = None, deadline: Deadline = ENDLESS
) -> Certificate:
    """The bound that multipliers prove, with limits on traces where they lack something."""
    if not duals and (sdp.rows or sdp.lmis):
        return Certificate(None, "the solver returned no multipliers")
    return certify(sdp, duals, goal=goal, deadline=deadline)


def refuted(sdp: SDP, duals: Mapping[str, Array], deadline: Deadline = ENDLESS) -> Ray | None:
    """Multipliers that no feasible point can agree with: a bound above zero without objective."""
    if not sdp.is_dual_point(duals):
        return None
    found = certify(without_objective(sdp), duals, deadline=deadline)
    if found.bound is None or not found.bound > 0.0:
        return None
    size = sum(float(abs(r.rhs) @ abs(duals[r.label])) for r in sdp.rows) or 1.0
    words = f"multipliers that contradict the constraints; {found.argument}"
    return Ray("infeasible", min(1.0, found.bound / size), words, duals=dict(duals))
