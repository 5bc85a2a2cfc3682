"""The one place where a program is planned and solved, and its answers are joined."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.errors import (
    DataError,
    DataTypeError,
    InfeasibleError,
    ModelError,
    NotAcceptedError,
)
from sdpdr.base.progress import Progress
from sdpdr.model import Model
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution, Status
from sdpdr.reduce import FacialReduction
from sdpdr.solvers.base import Solver, tolerance
from sdpdr.solvers.registry import find
from sdpdr.solvers.running import until_there_is_a_worker
from sdpdr.solving.attempt import Request, attempt, check_start
from sdpdr.solving.facing import (
    contradicted_solution,
    deeper,
    faced_program,
    prepared,
    refuted_solution,
)
from sdpdr.solving.grade import Clock
from sdpdr.solving.join import join
from sdpdr.solving.landmark import landmark_plan, with_loss
from sdpdr.solving.plan import Plan, plan
from sdpdr.solving.turns import SETTLED, take_turns

# Seconds, and share of the time limit, that proofs may take after it: what was found late counts.
_PROOFS = (1.0, 0.2)


def solve(
    model: Model | SDP,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    landmarks: int | None = None,
    basis: str | ArrayLike | None = None,
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
        A name from ``sdpdr.solvers()`` or a configured solver object. With "auto", several take
        turns until an answer is proved to ``tol``: who fails, stalls or runs out of its share of
        the time gives way to the next, and the best point of one is joined with the best bound of
        another. ``sdpdr.plan(model).explain()`` shows the sequence for the model as it stands,
        before it is brought to its faces and units; `Solution.runs` what came of it.
    form : {"auto", "factor", "lmi", "gram", "chordal", "chordal-lmi", "cvxpy"}, default "auto"
        ``sdpdr.plan(model)`` tells what "auto" would choose, and why. ``"landmark"`` is a narrower
        program, K = Q L Q^T, graded as an answer to the whole one.
    landmarks : int, optional
        Of the landmark form only: how many landmarks, or eigenvectors.
    basis : {"reconstruction", "laplacian"} or array of shape (n, m), optional
        Of the landmark form only: Q from the weights that reconstruct every point from its
        neighbours (the default there), from the bottom eigenvectors of the graph's Laplacian, or
        given. The solver is then the one of the small program for L.
    tol : float, default 1e-6
        Relative gap aimed at.
    time_limit : float, optional
        Seconds for the solvers; graphs, compilation and reductions are not counted, and the last
        proofs may take another second, or a fifth of the limit. Those that take turns share them.
        Solvers that are not ours run in a worker process, which is ended when time is up. The
        answer joins the best feasible point and the best bound so far.
    max_iter : int, optional
        Of each solver; the landmark form has rounds instead, and refuses it.
    seed : int, default 0
    verbose : bool, default False
        Let the solver print its own log.
    isolate : bool, optional
        Run the solver in a worker process (`sdpdr.solvers.processes`), so that a crash of its
        native code is reported rather than suffered; or never do, and let it be late. Default:
        where a time limit, or its share of the time, is to be kept by code that is not ours.
        ``sdpa`` always runs in a worker, since it may end the process that it runs in.
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
    """
    flags = {"rigorous": rigorous, "isolate": isolate, "verbose": verbose}
    _refuse_strange(model, solver, start, {k: v for k, v in flags.items() if v is not None})
    if not isinstance(gap_scale, Real) or not 0.0 <= float(gap_scale) < np.inf:
        raise DataError(
            f"gap_scale must be a finite number that is not negative; it is {gap_scale!r}."
        )
    told = partial(replace, of_model=isinstance(model, Model))
    clock = Clock()
    request = Request(model, isolate, rigorous, gap_scale, start, progress)
    options = {"tol": tol, "time_limit": time_limit, "seed": seed, "verbose": verbose}
    if form == "landmark":
        _refuse_idle_in_landmarks(landmarks, basis, max_iter)
        wanted = "reconstruction" if basis is None else basis
        with clock("build"):
            chosen = landmark_plan(model, solver, landmarks, wanted, options)
        if start is not None:
            check_start(chosen, start)
        request = replace(request, deadline=_proof_deadline(chosen.solver.time_limit))
        return told(with_loss(attempt(chosen, clock, request)))
    _refuse_idle(landmarks, basis)
    ask = _Ask(solver, form, options | {"max_iter": max_iter}, clock, request)
    with clock("reduce"):
        faced = None if form == "cvxpy" else faced_program(model)
    solution = ask.on_face(faced)
    if form == "cvxpy" or not _may_lie_on_a_face(solution):
        return told(solution)
    return told(ask.deeper(faced, solution))


def solve_step(
    program: SDP,
    solver: str | Solver,
    form: str,
    *,
    tol: float | None = None,
    time_limit: float | None = None,
    seed: int | None = None,
    gap_scale: float = 0.0,
    start: Solution | Point | None = None,
) -> Solution:
    """Solve one program of a sequence: bounded and measured, but not proved feasible.

    The proof moves a point into the interior of the feasible set. A search for a low rank looks for
    points of the boundary, and needs no proof of any but the one that it ends with; in between, the
    proof would take longer than the solver.

    Parameters
    ----------
    program : SDP
    solver : str or Solver
        A name other than "auto", or a configured solver.
    form : str
    tol, time_limit, seed, gap_scale, start : see `solve`

    Returns
    -------
    Solution
        At best ``OPTIMAL_NEARBY``; read `Solution.apparent_gap`, `Solution.backward_error`.
    """
    options = {"tol": tol, "time_limit": time_limit, "seed": seed}
    request = Request(program, None, False, gap_scale, start, progress=False, attainable=False)
    ask = _Ask(solver, form, options, Clock(), request)
    with ask.clock("reduce"):
        faced = faced_program(program)
    return ask.on_face(faced)


@dataclass(frozen=True, eq=False)
class _Ask:
    """What was asked of a program, to be asked of it on a face as well."""

    solver: str | Solver
    form: str
    options: Mapping[str, Any]
    clock: Clock
    request: Request

    def on_face(self, faced: FacialReduction | None) -> Solution:
        """Plan and solve the program on the face that is proved; the answer to all of it."""
        request = self.request
        if self.solver != "auto":
            (find(self.solver) if isinstance(self.solver, str) else self.solver).require()
        if faced is not None and faced.infeasible is not None:
            tol = tolerance(self.solver, self.options["tol"])
            return refuted_solution(faced, self.clock.seconds, tol)
        with self.clock("reduce"):
            ready = prepared(request.model, faced, units=self.form != "cvxpy")
        start = None if request.start is None else ready.push(request.start)
        request = replace(request, model=ready.model, start=start)
        with self.clock("build"):
            chosen = plan(request.model, self.solver, self.form, **self.options)
        if request.start is not None:
            check_start(chosen, request.start)
        try:
            return ready.lift(self._carried_out(chosen, request))
        except InfeasibleError as error:
            assert chosen.sdp is not None  # whose rows were compared
            tol = chosen.solver.tol
            return ready.lift(contradicted_solution(chosen.sdp, error, self.clock.seconds, tol))

    def _carried_out(self, chosen: Plan, request: Request) -> Solution:
        """Run a plan, or one after the other; their time begins when there is a worker."""
        limit = chosen.solver.time_limit
        if self.solver == "auto":
            run = partial(_in_turn, self.clock, request)
            return take_turns(chosen, run, _proof_deadline(limit))
        if limit is not None and request.isolate is not False:
            until_there_is_a_worker(chosen.solver)
        return attempt(chosen, self.clock, replace(request, deadline=_proof_deadline(limit)))

    def deeper(self, faced: FacialReduction | None, first: Solution) -> Solution:
        """The answer, joined with that on a smaller face if one is found in the time left."""
        left = self._stopwatch(first)
        try:
            with self.clock("reduce"):
                found = None if left() == 0.0 else deeper(self.request.model, faced, left)
            if found is None:
                return first
            again = replace(self, options=dict(self.options) | {"time_limit": left()})
            second = again.on_face(found)
        except KeyboardInterrupt:
            return replace(first, status=Status.INTERRUPTED)
        except (NotAcceptedError, ModelError):
            # A solver need not take what is left on the face, nor be able to compute with it.
            return first
        except (ArithmeticError, np.linalg.LinAlgError, MemoryError):
            return first
        both = join([first, second])
        if second.status is Status.INTERRUPTED and both.status not in SETTLED:
            return replace(both, status=Status.INTERRUPTED)
        return both

    def _stopwatch(self, first: Solution) -> Callable[[], float | None]:
        """Seconds that are left of the time limit, after an answer; None without a limit."""
        limit = _limit(self.solver, self.options["time_limit"])
        if limit is None:
            return lambda: None
        end = time.monotonic() + limit - sum(run.seconds for run in first.runs)
        return lambda: max(0.0, end - time.monotonic())


def _limit(solver: str | Solver, time_limit: float | None) -> float | None:
    """Seconds that were allowed, by whatever names them."""
    return solver.time_limit if time_limit is None and isinstance(solver, Solver) else time_limit


def _proof_deadline(limit: float | None) -> float | None:
    """When proofs have to end that begin with a solver of so many seconds, by `time.monotonic`."""
    if limit is None:
        return None
    return time.monotonic() + limit + max(_PROOFS[0], _PROOFS[1] * limit)


def _in_turn(
    clock: Clock, request: Request, one: Plan, turn: str, deadline: float | None
) -> Solution:
    """The turn of one candidate, of which the proofs end with those of all."""
    return attempt(one, clock, replace(request, deadline=deadline), turn)


def _may_lie_on_a_face(solution: Solution) -> bool:
    """Whether a point that nobody could prove feasible was found, or a claim without a proof."""
    if solution.status is Status.UNVERIFIED:
        return solution.claimed.verdict in ("infeasible", "unbounded")
    short = (Status.OPTIMAL_NEARBY, Status.INACCURATE)
    return solution.status in short and solution.attained is None and bool(solution.values)


def _refuse_strange(
    model: object, solver: object, start: object, flags: Mapping[str, object]
) -> None:
    """Refuse what is no program, no solver, no start, or neither true nor false."""
    if not isinstance(model, (Model, SDP)):
        raise DataTypeError(
            f"there is no program in {_shown(model)}: pass a Model, for instance of sdpdr.methods, "
            "or an SDP. Constraints written in cvxpy become a block of a model by from_cvxpy."
        )
    if isinstance(model, SDP) and any(v.n == 0 for v in model.psd_variables):
        empty = [v.name for v in model.psd_variables if v.n == 0]
        raise ModelError(f"variable {empty[0]!r} has no entries; its order must be 1 or more.")
    for name, value in flags.items():
        if not isinstance(value, (bool, np.bool_)):
            raise DataTypeError(f"{name} must be True or False; it is {value!r}.")
    if not isinstance(start, (Solution, Point, type(None))):
        raise DataTypeError(
            f"there is no start in {_shown(start)}: pass the Solution of a nearby program, or a "
            "Point."
        )
    if not isinstance(solver, (str, Solver)):
        raise DataTypeError(
            f"there is no solver in {_shown(solver)}: pass one of the names of sdpdr.solvers(), or "
            "a configured solver."
        )


def _shown(thing: object) -> str:
    return "None" if thing is None else f"an object of type {type(thing).__name__}"


def _refuse_idle(landmarks: int | None, basis: str | ArrayLike | None) -> None:
    """Refuse arguments that have no effect outside of the landmark form."""
    for name, value in (("landmarks", landmarks), ("basis", basis)):
        if value is not None:
            shown = repr(value) if isinstance(value, (str, int)) else "an array"
            raise DataError(
                f"{name} ({shown}) has no effect without form='landmark': ask for that form, or "
                f"leave {name} out."
            )


def _refuse_idle_in_landmarks(
    landmarks: int | None, basis: str | ArrayLike | None, max_iter: int | None
) -> None:
    """Refuse arguments that have no effect in the landmark form."""
    if max_iter is not None:
        raise DataError(
            f"max_iter={max_iter} has no effect with form='landmark', which goes in rounds: leave "
            "it out, or limit the rounds by time_limit."
        )
    if landmarks is not None and basis is not None and not isinstance(basis, str):
        columns = np.shape(basis)[-1] if np.ndim(basis) else 0
        raise DataError(
            f"landmarks={landmarks} has no effect beside a basis that is given, of {columns} "
            "columns: leave landmarks out."
        )
