"""Run one candidate: reduce, solve, lift and grade."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from sdpdr.base.deadline import ENDLESS, Deadline, TimeUpError
from sdpdr.base.errors import (
    DataError,
    DataTypeError,
    NotAcceptedError,
    ShapeError,
)
from sdpdr.base.packages import needs_packages
from sdpdr.base.progress import Progress, show_progress
from sdpdr.certify.proof_file import write_proof
from sdpdr.model import Model
from sdpdr.model.to_sdp import standard_point
from sdpdr.program.point import Factor, Point
from sdpdr.program.run import Claim, Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import Composed, Reduced
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.processes.ends import starved_words
from sdpdr.solvers.processes.isolate import PATIENCE
from sdpdr.solvers.running import run_solver, runs_apart
from sdpdr.solvers.screen import screen
from sdpdr.solving.answers import run_of, unproved
from sdpdr.solving.candidate import Candidate
from sdpdr.solving.grade import go_on, grade
from sdpdr.solving.options import Request

_NO_START = (
    "solver {!r} ({} form) cannot begin from a given start; leave it out, or use solver 'lowrank'."
)
_NO_WAY_FOR_A_START = (
    "one of the reductions ({}) cannot take a start along; leave the start or the reduction out."
)
_TOO_LATE = "nothing was left of the time for this solver"
_STARVED = "memory ended before anything was proved"


def attempt(chosen: Candidate, sdp: SDP, request: Request, turn: str = "") -> Solution:
    """Run a candidate and grade its answer.

    Parameters
    ----------
    chosen : Candidate
    sdp : SDP
        The program that the answer is graded by.
    request : Request
        Seconds are added to its clock.
    turn : str, optional
        A remark on the turn, for the display of progress.

    Returns
    -------
    Solution
        Every failure of the solver is a status.

    Raises
    ------
    NotAcceptedError, ShapeError
        If the plan does not fit the program or the request.
    """
    watch = Deadline()
    what = f"{chosen.solver.name}, {chosen.form} form{turn}"
    with show_progress(request.progress, what) as report:
        try:
            is_written = chosen.form == "cvxpy" and not chosen.reductions
            if is_written and isinstance(request.model, Model):
                solution = _solve_written(request.model, chosen, sdp, request)
            else:
                solution = _solve_reduced(sdp, chosen, request, report)
        except TimeUpError:
            claim = Claim("time limit", message=_TOO_LATE, verdict="time limit")
            solution = unproved(_TOO_LATE, claim, chosen, request, Status.TIME_LIMIT)
        except MemoryError as error:  # of the reductions or of our grading
            message = starved_words(f"The {chosen.form} form of the program", str(error))
            claim = Claim("out of memory", message=message)
            solution = unproved(_STARVED, claim, chosen, request)
    return replace(solution, runs=(run_of(solution, watch.spent),))


def _of_preparation(turn: Deadline, request: Request) -> Deadline:
    """The deadline after which no solver is started in a worker."""
    return request.deadline.sooner(turn.ahead + PATIENCE)


def check_start(chosen: Candidate, sdp: SDP, start: Solution | Point) -> None:
    """Refuse a start that the solver cannot use, or that does not fit the program.

    Raises
    ------
    NotAcceptedError, ShapeError
    DataError, DataTypeError
        If a value or a multiplier is not finite, or sparse.
    """
    if chosen.form == "cvxpy" or not chosen.solver.takes_start:
        raise NotAcceptedError(_NO_START.format(chosen.solver.name, chosen.form))
    for name, value in (*start.values.items(), *start.duals.items()):
        if sp.issparse(value):
            raise DataTypeError(f"the start's {name!r} is sparse: pass an array, or a Factor.")
    for name, value in start.values.items():
        shape = sdp.variable(name).extents
        if np.shape(value) != shape:
            raise ShapeError(
                f"the start's {name!r} has shape {np.shape(value)}; this program's has {shape}."
            )
    for name, value in (*start.values.items(), *start.duals.items()):
        numbers = value.factor if isinstance(value, Factor) else value
        if not np.isfinite(numbers).all():
            raise DataError(
                f"the start's {name!r} is not finite everywhere: leave it out, or begin from an "
                "answer that has a point."
            )


def _pushed(sdp: SDP, reduced: Reduced, chosen: Candidate, start: Solution | Point) -> Point:
    """A start of the program as one of the reduced program."""
    if reduced.push is None:
        names = ", ".join(step.name for step in chosen.reductions)
        raise NotAcceptedError(_NO_WAY_FOR_A_START.format(names))
    rows = {r.label: r.m for r in sdp.rows}
    # Multipliers of another shape belong to another program.
    duals = {k: y for k, y in start.duals.items() if np.shape(y) == (rows.get(k),)}
    return reduced.push(Point(start.values, duals))


def _solve_reduced(
    sdp: SDP, chosen: Candidate, request: Request, report: Progress | None
) -> Solution:
    clock, turn = request.clock, Deadline(chosen.solver.time_limit)
    apart = runs_apart(chosen.solver, request.isolate, chosen.step)
    with clock("reduce"):
        # Our solvers find a point and a bound in so little time that they need no deadline here.
        end = _of_preparation(turn, request) if apart else ENDLESS
        reduced = Composed(chosen.reductions).apply(sdp, end)
        given = {}
        if request.start is not None and chosen.solver.takes_start:
            given["start"] = _pushed(sdp, reduced, chosen, request.start)
    solver = replace(chosen.solver, time_limit=turn.left())
    # A callback cannot follow the solver into a child process.
    follow = None if apart else report
    task = partial(solver.run, reduced.sdp, follow, **given)
    outcome = run_solver(solver, task, request.isolate, chosen.step)
    outcome = screen(reduced.sdp, outcome)
    clock.add(outcome.seconds)
    narrower = None
    if reduced.narrower is not None:
        narrow, rest = reduced.narrower
        found = _lifted(narrow, rest, outcome, chosen)
        narrower = grade(narrow, found, replace(chosen, reductions=()), request)
        narrower = replace(
            narrower, prover=partial(go_on, narrow), writer=partial(write_proof, narrow)
        )
    with clock("lift"):
        outcome = _lifted(sdp, reduced, outcome, chosen)
    if not all(step.is_ours() for step in chosen.reductions):
        outcome = screen(sdp, outcome)
    return replace(grade(sdp, outcome, chosen, request), narrower=narrower)


def _lifted(sdp: SDP, reduced: Reduced, outcome: Outcome, chosen: Candidate) -> Outcome:
    """The outcome of a reduced program as one of the program before the reductions."""
    # Multipliers without a point, as of a ray, are kept only if no reduction has to lift them.
    complete = bool(outcome.point.values) or not chosen.reductions
    point = reduced.lift(outcome.point) if complete else Point()
    claim = outcome.claim
    if claim.value is not None:
        claim = replace(claim, value=sdp.report(reduced.lift_value(claim.value)))
    return replace(outcome, point=point, verdict=reduced.lift_verdict(outcome.verdict), claim=claim)


def _solve_written(model: Model, chosen: Candidate, sdp: SDP, request: Request) -> Solution:
    """Solve a model as written by a solver of cvxpy, and grade its answer in the standard form."""
    turn, solver = Deadline(chosen.solver.time_limit), chosen.solver
    assert isinstance(solver, CvxpySolver)
    with request.clock("render"):
        with needs_packages("form 'cvxpy'"):
            from sdpdr.model.to_cvxpy import render_model  # imports cvxpy

        rendered = render_model(model)
    if runs_apart(solver, request.isolate):
        _of_preparation(turn, request).require()
    solver = replace(solver, time_limit=turn.left())
    outcome = run_solver(solver, partial(solver.run_rendered, rendered), request.isolate)
    request.clock.add(outcome.seconds)
    point = standard_point(model, sdp, outcome.point)
    outcome = screen(sdp, replace(outcome, point=point))
    return grade(sdp, replace(outcome, history=()), chosen, request)
