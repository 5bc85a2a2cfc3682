"""The one place that compiles, reduces, runs, lifts and has the answer graded."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import NotAcceptedError, SdpdrError, ShapeError
from sdpdr.grade import STOPPED, Clock, grade, proved, ungraded, versions
from sdpdr.landmark import landmark_plan, with_loss
from sdpdr.model import Model
from sdpdr.model.to_cvxpy import render_model
from sdpdr.plan import Plan, plan
from sdpdr.program.point import Point
from sdpdr.program.residuals import Residuals
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution, Status
from sdpdr.program.variables import PsdVariable
from sdpdr.progress import Progress, show_progress
from sdpdr.reduce import Composed, Dual, Reduced
from sdpdr.solvers.base import Outcome, Solver, Verdict
from sdpdr.solvers.cvxpy_solvers import CvxpySolver
from sdpdr.solvers.isolate import Task, run_isolated
from sdpdr.solvers.screen import admit, failure, screen

_SETTLED = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED)
# Order of matrices up to which a second, general solver takes seconds at most.
SMALL = 60
# Seconds for a child process to start and to answer, beyond a time limit that the solver keeps.
GRACE = 30.0
_MIRRORED = {Verdict.INFEASIBLE: Verdict.UNBOUNDED, Verdict.UNBOUNDED: Verdict.INFEASIBLE}


def solve(
    model: Model | SDP,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    landmarks: int | None = None,
    basis: str | ArrayLike = "reconstruction",
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool | None = None,
    isolate: bool | None = None,
    rigorous: bool = False,
    gap_scale: float = 0.0,
    start: Solution | Point | None = None,
    progress: Progress | bool | None = None,
) -> Solution:
    """Solve a model and grade the answer.

    Whatever the solver says, the value, the residuals and the bound of the solution are computed
    here from the program itself.

    Parameters
    ----------
    model : Model or SDP
    solver : str or Solver, default "auto"
        A name from ``sdpdr.solvers()`` or a configured solver object. With "auto", a second
        solver tries where the first falls short of ``tol`` on a small program, and the better
        answer is returned.
    form : {"auto", "factor", "lmi", "gram", "chordal", "chordal-lmi", "cvxpy"}, default "auto"
        ``sdpdr.plan(model)`` tells what "auto" would choose, and why. ``"landmark"`` is a narrower
        program, K = Q L Q^T, graded as an answer to the whole one.
    landmarks : int, optional
        Of the landmark form: how many landmarks, or eigenvectors.
    basis : {"reconstruction", "laplacian"} or array of shape (n, m), default "reconstruction"
        Of the landmark form: Q from the weights that reconstruct every point from its
        neighbours, from the bottom eigenvectors of the graph's Laplacian, or given. The solver
        is then the one of the small program for L.
    tol : float, default 1e-6
        Relative gap aimed at.
    time_limit : float, optional
        Seconds for the solver; graphs, compilation, reductions and grading are not counted. One
        that knows no such limit runs in a child process, and is stopped. ``lowrank`` looks at the
        clock once an iteration, then certifies what it has: it is late by one iteration and two
        factorizations of the graph's Laplacian, a tenth of a second for hundreds of points and
        about one for 10,000. The answer joins the best feasible point and the best bound so far.
    max_iter : int, optional
    seed : int, default 0
    verbose : bool, default False
        Let the solver print its own log.
    isolate : bool, optional
        Run the solver in a child process even if it obeys a time limit, so that a crash of its
        native code is reported rather than suffered; or never do, and leave a solver alone that
        does not obey. Default: where a time limit is to be kept that the solver does not know.
    rigorous : bool, default False
        Account for all rounding on both sides, so that they are theorems about the numbers stored
        in the program: ``solution.enclosure`` is an interval that contains the optimum.
    gap_scale : float, default 0
        A size of objective below which the gap is absolute, for programs whose optimum is zero: a
        gap relative to zero is infinite.
    start : Solution or Point, optional
        Where to begin: the answer to a nearby program, values and multipliers. Matters to
        solvers that can use it (``lowrank``); the others refuse it.
    progress : bool or callable, optional
        Show progress; by default on a terminal only. A callable is given a mapping an iteration.

    Returns
    -------
    Solution

    Raises
    ------
    UnknownNameError, SolverMissingError, SolverLicenceError, NotAcceptedError
        Before anything runs. A failure of the solver itself is a status, not an exception.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])))
    >>> solution.status
    Status.SOLVED
    >>> round(solution.value, 5), solution.gap < 1e-6
    (4.66667, True)
    """
    clock = Clock()
    request = _Request(model, isolate, rigorous, gap_scale, start, progress)
    if form == "landmark":
        options = {"tol": tol, "time_limit": time_limit, "seed": seed, "verbose": verbose}
        with clock("build"):
            chosen = landmark_plan(model, solver, landmarks, basis, options)
        return with_loss(_execute(chosen, clock, request))
    with clock("build"):
        choose = partial(
            plan,
            model,
            solver,
            form,
            tol=tol,
            time_limit=time_limit,
            max_iter=max_iter,
            seed=seed,
            verbose=verbose,
        )
        chosen = choose()
    solution = _execute(chosen, clock, request)
    if solver == "auto" and _deserves_another(solution, chosen):
        left = time_limit
        if time_limit is not None:
            left = max(0.0, time_limit - solution.timings.get("solve", 0.0))
        try:
            second = choose(skip=(chosen.solver.name,), time_limit=left)
        except NotAcceptedError:
            return solution
        other = _execute(second, clock, request)
        solution = min(solution, other, key=lambda s: (s.status not in _SETTLED, abs(s.gap)))
    return solution


@dataclass(frozen=True, eq=False)
class _Request:
    """What was asked for, apart from the choice of a solver."""

    model: Model | SDP
    isolate: bool | None
    rigorous: bool
    gap_scale: float
    start: Solution | Point | None
    progress: Progress | bool | None


def _execute(chosen: Plan, clock: Clock, request: _Request) -> Solution:
    with show_progress(request.progress, f"{chosen.solver.name}, {chosen.form} form") as report:
        if chosen.form == "cvxpy" and isinstance(request.model, Model):
            _refuse_start(chosen, request.start)
            solution = _solve_written(request.model, chosen, clock, request)
        else:
            assert chosen.sdp is not None
            try:
                solution = _solve_reduced(chosen.sdp, chosen, clock, request, report)
            except MemoryError as error:  # of the reductions or of our grading
                solution = ungraded(chosen.sdp, chosen, clock, error)
    if not request.rigorous or chosen.sdp is None:
        return solution
    with clock("certify"):
        return proved(chosen.sdp, solution)


def _refuse_start(chosen: Plan, start: Solution | Point | None) -> None:
    if start is not None:
        raise NotAcceptedError(
            f"solver {chosen.solver.name!r} ({chosen.form} form) cannot begin from a given start; "
            "leave it out, or use solver 'lowrank'."
        )


def _pushed(sdp: SDP, reduced: Reduced, chosen: Plan, start: Solution | Point) -> Point:
    """A start of the program as one of the reduced program, where it fits both."""
    if reduced.push is None or not chosen.solver.takes_start:
        _refuse_start(chosen, start)
    assert reduced.push is not None
    for name, value in start.values.items():
        v = sdp.variable(name)
        shape = (v.n, v.n) if isinstance(v, PsdVariable) else (v.size,)
        if np.shape(value) != shape:
            raise ShapeError(
                f"the start's {name!r} has shape {np.shape(value)}; this program's has {shape}."
            )
    rows = {r.label: r.m for r in sdp.rows}
    # Multipliers of rows that this program has in another number say nothing about it.
    duals = {k: y for k, y in start.duals.items() if np.shape(y) == (rows.get(k),)}
    return reduced.push(Point(start.values, duals))


def _deserves_another(solution: Solution, chosen: Plan) -> bool:
    """Whether a program is small enough to let a second solver try where the first fell short."""
    if solution.status not in (Status.INACCURATE, Status.ITERATION_LIMIT, Status.FAILED):
        return False
    return chosen.sdp is not None and all(v.n <= SMALL for v in chosen.sdp.psd_variables)


def _solve_reduced(
    sdp: SDP, chosen: Plan, clock: Clock, request: _Request, report: Progress | None
) -> Solution:
    with clock("reduce"):
        reduced = Composed(chosen.reductions).apply(sdp)
        given = {}
        if request.start is not None:
            given["start"] = _pushed(sdp, reduced, chosen, request.start)
    # A callback cannot follow the solver into a child process.
    follow = None if _is_isolated(chosen.solver, request.isolate) else report
    task = partial(chosen.solver.run, reduced.sdp, follow, **given)
    outcome = _run(chosen.solver, task, request.isolate)
    outcome = screen(reduced.sdp, outcome)
    clock.add(outcome.seconds)
    if any(isinstance(step, Dual) for step in chosen.reductions):
        outcome = _mirrored(outcome)
    with clock("lift"):
        point = reduced.lift(outcome.point) if outcome.point.values else Point()
    claim = outcome.claim
    if claim.value is not None:
        claim = replace(claim, value=sdp.report(reduced.lift_value(claim.value)))
    return grade(
        sdp, point, outcome.verdict, claim, outcome.history, chosen, clock, request.gap_scale
    )


def _solve_written(model: Model, chosen: Plan, clock: Clock, request: _Request) -> Solution:
    """The model's own cvxpy problem; graded through the standard form if it has one."""
    assert isinstance(chosen.solver, CvxpySolver)
    with clock("render"):
        rendered = render_model(model)
    task = partial(chosen.solver.run_rendered, rendered)
    outcome = _run(chosen.solver, task, request.isolate)
    clock.add(outcome.seconds)
    if chosen.sdp is not None:
        point = _standard_point(chosen.sdp, outcome.point)
        outcome = screen(chosen.sdp, replace(outcome, point=point))
        return grade(
            chosen.sdp,
            outcome.point,
            outcome.verdict,
            outcome.claim,
            (),
            chosen,
            clock,
            request.gap_scale,
        )
    unknown = Residuals(*[float("nan")] * 6)
    value = float("nan") if outcome.claim.value is None else outcome.claim.value
    status = STOPPED.get(outcome.verdict, Status.INACCURATE)
    if outcome.verdict is Verdict.SOLVED:
        status = Status.UNVERIFIED
    return Solution(
        status=status,
        value=value,
        bound=None,
        argument="a block is written in cvxpy directly, so there is no standard form to grade with",
        values=outcome.point.values,
        duals=outcome.point.duals,
        residuals=unknown,
        claimed=replace(outcome.claim, verdict=outcome.verdict.value),
        timings=clock.seconds,
        solver=chosen.solver.name,
        form=chosen.form,
        tol=chosen.solver.tol,
        seed=chosen.solver.seed,
        versions=versions(chosen.solver),
        maximize=model.is_maximization,
    )


def _standard_point(sdp: SDP, point: Point) -> Point:
    """The point of a written problem in the standard form, slack left for `repair` to fill."""
    slack = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    labels = {r.label for r in sdp.rows} | {lmi.label for lmi in sdp.lmis}
    duals = {label: y for label, y in point.duals.items() if label in labels}
    return Point({**slack, **point.values} if point.values else {}, duals)


def _run(solver: Solver, task: Task, isolate: bool | None) -> Outcome:
    """Run a solver here or in a child process; whatever becomes of it is an outcome."""
    limit, start = solver.time_limit, time.perf_counter()
    try:
        if not _is_isolated(solver, isolate):
            outcome = admit(task(), solver.name)
            return replace(outcome, seconds=_checked(outcome, time.perf_counter() - start))
        patience = limit if limit is None or not solver.obeys_time_limit else limit + GRACE
        outcome = admit(run_isolated(task, solver.name, patience), solver.name)
        elapsed = time.perf_counter() - start
        return replace(outcome, seconds=_checked(outcome, elapsed, isolated=True))
    except SdpdrError:
        raise
    except Exception as error:  # Solvers are other people's code, and may raise anything.
        seconds = {"solve": time.perf_counter() - start}
        return replace(failure(solver.name, error), seconds=seconds)


def _checked(outcome: Outcome, elapsed: float, *, isolated: bool = False) -> dict[str, float]:
    """Seconds by our own clock; a solver only says which of them went into compiling.

    The start of a child process is not the solver's: there it is believed what it says of its own
    time, as long as that fits in.
    """
    compiling = float(outcome.seconds.get("compile", 0.0))
    if not 0.0 <= compiling <= elapsed:  # which refuses nan as well
        compiling = 0.0
    solving = elapsed - compiling
    told = float(outcome.seconds.get("solve", solving))
    if isolated and 0.0 <= told <= solving:
        solving = told
    return {"compile": compiling, "solve": solving}


def _is_isolated(solver: Solver, isolate: bool | None) -> bool:
    if isolate is not None:
        return isolate
    return solver.time_limit is not None and not solver.obeys_time_limit


def _mirrored(outcome: Outcome) -> Outcome:
    """An infeasible dual means an unbounded program, and the other way round."""
    verdict = _MIRRORED.get(outcome.verdict, outcome.verdict)
    return Outcome(outcome.point, verdict, outcome.claim, outcome.seconds, outcome.history)
