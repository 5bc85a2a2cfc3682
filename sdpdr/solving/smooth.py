"""Grading answers to models with smooth costs, which have no standard form."""

from __future__ import annotations

from dataclasses import replace

from sdpdr.certify.knowledge import BOUND, UNPROVED, VALUE, Knowledge
from sdpdr.certify.proof_file.flat import sides_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.model import Model
from sdpdr.program.point import as_dense
from sdpdr.program.run import Status, Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.answers import unproved
from sdpdr.solving.candidate import Candidate
from sdpdr.solving.grade import STOPPED
from sdpdr.solving.options import Request
from sdpdr.solving.proofs import budget

_NOTHING = "nothing was proved within the budget"


def grade_smooth(model: Model, outcome: Outcome, chosen: Candidate, request: Request) -> Solution:
    """Grade a point of a model with smooth costs, over the cones that cvxpy writes it in.

    cvxpy keeps the values of the model's own variables, and not of those that it adds, so that
    Clarabel solves the problem again: its answer is where the kernel's proofs begin.

    Parameters
    ----------
    model : Model
    outcome : Outcome
        The solver's answer to the model as cvxpy writes it.
    chosen : Candidate
    request : Request

    Returns
    -------
    Solution
    """
    point, verdict = outcome.point, outcome.verdict
    claim = replace(outcome.claim, verdict=verdict.value)
    seconds = budget(outcome.cpu, request)
    stopped = False
    with request.clock("certify"):
        # These import cvxpy, which takes longer than most solves.
        from sdpdr.model.conic.flat import flat_problem
        from sdpdr.model.conic.kept import values_of
        from sdpdr.model.to_cvxpy import render_model

        flat = flat_problem(render_model(model).problem)
        units = Units.of(flat.program)
        program = units.program(flat.program)
        known = Knowledge(scale=request.gap_scale / units.cost)
        try:
            answer = ask_solver(program, seconds)
            tol = chosen.solver.tol
            prove(program, answer, ask_solver, tol=tol, seconds=seconds, known=known)
        except KeyboardInterrupt:
            stopped = True
    sides = sides_of(known, units, maximize=flat.maximize)
    if VALUE in known.how:
        point = replace(point, values=values_of(flat, as_dense(sides.values["x"])))
    solution = unproved("", claim, chosen, request, point=point)
    if point.values:
        solution = replace(solution, value=model.objective(point.values))
    why_not = known.notes[-1] if known.notes else _NOTHING
    solution = replace(
        solution,
        attained=sides.attained,
        attained_by=known.how.get(VALUE, why_not),
        bound=sides.bound,
        argument=known.how.get(BOUND, why_not),
        ray=sides.ray and replace(sides.ray, values={}, duals={}),
        unfinished=known.is_late and known.status == UNPROVED,
        rigorous=True,
        gap_scale=request.gap_scale,
        timings=dict(request.clock.seconds),
    )
    status = Status.INTERRUPTED if stopped else _status(solution, verdict)
    epsilon = 0.0 if status is Status.SOLVED else solution.epsilon
    return replace(solution, status=status, epsilon=epsilon)


def _status(solution: Solution, verdict: Verdict) -> Status:
    if solution.certified():
        return Status.SOLVED
    if solution.ray is not None:
        return Status.INFEASIBLE if solution.ray.kind == "infeasible" else Status.UNBOUNDED
    return STOPPED.get(verdict, Status.INACCURATE)
