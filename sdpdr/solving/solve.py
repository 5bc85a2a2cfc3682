"""Solving: a plan is made and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Progress, show_phase
from sdpdr.model import Block, Model
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import Reduction
from sdpdr.solvers.base import Solver
from sdpdr.solving.options import Request, as_model, as_problem, has_other_cones, is_problem
from sdpdr.solving.over_cones import solve_problem
from sdpdr.solving.plan import plan

if TYPE_CHECKING:
    import cvxpy as cp


# The form of problems with exponential or power cones, whether or not that is requested.
_OVER_CONES = {"form": "cvxpy"}


@checks_keywords
def solve(
    model: Model | SDP | Block | cp.Problem,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    via: Sequence[Reduction] = (),
    landmarks: int | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool | None = None,
    isolate: bool | None = None,
    rigorous: bool = False,
    gap_scale: float = 0.0,
    proof: str = "budget",
    start: Solution | Point | None = None,
    progress: Progress | bool | None = None,
) -> Solution:
    """Solve a model and grade the answer.

    Whatever the solver says, the value, the residuals and the bound of the solution are computed
    here from the program itself.

    Parameters
    ----------
    model : Model, SDP, Block or cvxpy.Problem
        A problem of cvxpy is read by `sdpdr.from_cvxpy`, and not changed; to store the answer in
        it, call ``sdpdr.from_cvxpy(problem).give_back(solution)``. A problem or a model with
        exponential or power cones is solved by Clarabel, or by another solver of cvxpy's that is
        named and knows these cones, and proved over them, with ``tol``, ``time_limit``,
        ``gap_scale``, ``proof``, ``max_iter``, ``isolate`` and ``verbose``;
        ``problem.solve(solver=sdpdr.CVXPY())`` stores the answer.
    solver : str or Solver, default "auto"
        A name from ``sdpdr.solvers()`` or a configured solver object. With "auto", candidates run
        in turn until an answer is proved to ``tol``: one that fails or uses up its share of the
        time gives way to the next, and the best point and the best bound are joined.
        ``sdpdr.plan(model).explain()`` shows the sequence, `Solution.runs` what came of it.
    form : {"auto", "factor", "lmi", "gram", "chordal", "chordal-lmi", "cvxpy", "landmark"}
        Default: "auto"; ``sdpdr.plan(model)`` tells what it would choose, and why. ``"landmark"``
        is a narrower program, K = Q L Q^T, graded as an answer to the whole one.
    via : sequence of Reduction, default ()
        The first steps, for instance ``[reduce.Chordal()]``, ``[reduce.Dual()]`` or one of your
        own; solver and form are chosen for the program that they lead to. What is said of it is
        lifted to the model, verdicts as well as points, and graded there.
    landmarks : int, optional
        How many points are landmarks; a number chooses the landmark form. Q has the weights that
        reconstruct every point from them, and the solver is the one of the small program for L;
        ``via=[reduce.Landmark(Q)]`` takes columns of your own.
    tol : float, default 1e-6
        Relative gap aimed at.
    time_limit : float, optional
        Seconds for all of it: planning, reductions, solvers and their proofs, but for the start of
        the first worker process. A sixth is left to the proofs of what is found last. Candidates
        share the rest: the first has about half, and proofs of its answer no more than half of what
        it leaves. What runs in the end ends its step, a factorization for instance. Solvers that
        are not ours run in a worker process, which is ended when time is up. The answer joins
        the best feasible point and the best bound so far; a point that has next to nothing right is
        left out, and then the value is ``nan``.
    max_iter : int, optional
        Steps of each solver; the landmark form has rounds instead, and refuses it.
    seed : int, default 0
    verbose : bool, default False
        Let the solver print its own log.
    isolate : bool, optional
        Run the solver in a worker process (`sdpdr.solvers.processes`), so that a crash of its
        native code is reported rather than suffered; or never do, and let it be late. Default:
        where a time limit, or its share of the time, is to be kept by code that is not ours and
        whose steps may take long.
        ``sdpa`` always runs in a worker, since it may end the process that it runs in.
    rigorous : bool, default False
        Account for all rounding on both sides, so that they are theorems about the numbers stored
        in the program: ``solution.enclosure`` is an interval that contains the optimum.
    gap_scale : float, default 0
        A size of objective below which the gap is absolute, for programs whose optimum is zero: a
        gap relative to zero is infinite.
    proof : {"budget", "full"}, default "budget"
        How long proofs may take: five times the CPU seconds of the solver, and two at least; or
        what they need. CPU seconds are counted, so that a busy machine changes no answer. Under a
        time limit, proofs of the last candidate may use all that is left of it. What is not proved
        by then is said, and `Solution.prove` goes on.
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
    DataError
        If an argument would have no effect, or is no such thing as it should be.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])))
    >>> solution.status
    Status.SOLVED
    >>> round(solution.value, 5), solution.gap < 1e-6
    (4.66667, True)

    A problem of cvxpy:

    >>> import cvxpy as cp
    >>> X = cp.Variable((3, 3), PSD=True, name="X")
    >>> problem = cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[0, 1] == 0])
    >>> solution = sdpdr.solve(problem)
    >>> solution.status, round(solution.value, 4)
    (Status.SOLVED, 2.0)
    >>> sdpdr.from_cvxpy(problem).give_back(solution).status, X.value.shape
    ('optimal', (3, 3))
    """
    planned: dict[str, Any] = {
        "via": via,
        "landmarks": landmarks,
        "tol": tol,
        "time_limit": time_limit,
        "max_iter": max_iter,
        "seed": seed,
        "verbose": verbose,
    }
    problem = as_problem(model)
    if has_other_cones(problem):
        rest = {"solver": solver, "form": form, "isolate": isolate, "start": start, "proof": proof}
        given = given_options({**rest, **planned})
        with show_phase(progress, "solving: clarabel, cvxpy form"):
            found = solve_problem(problem, {**given, "gap_scale": gap_scale})
        return _in_words_of(model, found) if isinstance(model, (Model, Block)) else found
    program = as_model(problem)
    watch = Deadline()
    request = Request(program, isolate, rigorous, gap_scale, start, progress, proof=proof)
    with show_phase(progress, "planning"):
        solution = plan(program, solver, form, **planned).in_time(request, watch)
    if not is_problem(problem):
        return solution
    from sdpdr.model.conic.problem import CvxpyProgram  # cvxpy is there, since a problem is

    assert isinstance(program, CvxpyProgram)
    found = program.in_problem(solution)
    return _in_words_of(model, found) if isinstance(model, (Model, Block)) else found


def _in_words_of(model: Model | Block, found: Solution) -> Solution:
    """The solution of the cvxpy problem that a model makes, by the model's own constraints."""
    blocks = Model((model,)) if isinstance(model, Block) else model
    # One multiplier is an array of one, as in every model.
    duals = {
        label: y if isinstance(y, list) else np.atleast_1d(y)
        for label, y in found.duals_in_problem.items()
    }
    return replace(found, of_model=True, labels=blocks.labels, duals_in_problem=duals)


def given_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `solve` that a problem with exponential or power cones is solved with."""
    given = {name: value for name, value in options.items() if _is_given(name, value)}
    return {name: value for name, value in given.items() if value != _OVER_CONES.get(name)}


def _is_given(name: str, value: Any) -> bool:
    """Whether an option of `solve` differs from its default."""
    default = signature(solve).parameters[name].default
    return value is not default and not (isinstance(value, (str, tuple)) and value == default)


def solve_step(
    program: SDP,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    tol: float | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    gap_scale: float = 0.0,
    start: Solution | Point | None = None,
) -> Solution:
    """Solve one program of a sequence by the first candidate: bounded, but not proved feasible.

    The proof moves a point into the interior of the feasible set. A search for a low rank looks for
    points of the boundary, and needs no proof of any but the one that it ends with; in between, the
    proof would take longer than the solver.

    Parameters
    ----------
    program : SDP
    solver, form, tol, time_limit, seed, gap_scale : see `solve`
    start : Solution or Point, optional
        Where to begin, if the solver can.

    Returns
    -------
    Solution
        At best ``OPTIMAL_NEARBY``; read `Solution.apparent_gap`, `Solution.backward_error`.
    """
    watch = Deadline()
    chosen = plan(program, solver, form, tol=tol, time_limit=time_limit, seed=seed)
    if "auto" in (solver, form):  # One candidate alone, and the cost as it is written.
        chosen = chosen.but(solver=chosen.solver, form=chosen.form)
    begin = start if chosen.solver.takes_start else None
    request = Request(program, gap_scale=gap_scale, start=begin, progress=False, attainable=False)
    return chosen.in_time(request, watch)
