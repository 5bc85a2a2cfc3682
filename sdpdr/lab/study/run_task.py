"""One run, in the process that is made for it: build, solve, grade, report."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import astuple
from math import isfinite
from typing import Any

from sdpdr import graphs
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    CompileError,
    NotAcceptedError,
    SdpdrError,
    SolverLicenceError,
    SolverMissingError,
    StudyError,
)
from sdpdr.families import methods
from sdpdr.lab.library.expectation import KnownAnswer
from sdpdr.lab.study.schema import VERIFIED
from sdpdr.lab.study.task import Task
from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status
from sdpdr.program.run import Verdict
from sdpdr.solvers.base import Solver
from sdpdr.solving.planning import plan
from sdpdr.solving.solve import solve

# A solver may exceed its time limit by this share and these seconds before it counts as late.
LATE, LATE_SECONDS = 0.05, 0.5
# A value contradicts a reference only beyond so many tolerances.
CONTRADICTION = 10.0
# A claim that misses the tolerance by less than this factor is near, not overstated.
NEAR = 10.0
_CLAIMS = {
    Verdict.SOLVED.value: Status.SOLVED,
    Verdict.INFEASIBLE.value: Status.INFEASIBLE,
    Verdict.UNBOUNDED.value: Status.UNBOUNDED,
}
_PHASES = {
    "compile": ("build", "render", "compile", "reduce"),
    "solve": ("solve",),
    "certify": ("lift", "certify"),
}


def run_task(task: Task) -> dict[str, Any]:
    """Carry out a run in this process.

    Parameters
    ----------
    task : Task

    Returns
    -------
    dict
        The columns `sdpdr.lab.study.schema.FINDINGS`, and the seconds of ``MEASUREMENTS`` that
        only this process knows; what is not known is left out. Nothing is raised: a solver that is
        missing, refuses or breaks makes a record.

    Examples
    --------
    >>> from sdpdr.lab.library.problem import Problem, find_card
    >>> from sdpdr.lab.study.task import Contestant, RunLimits
    >>> problem = Problem.of_card(find_card("path-graph"))
    >>> record = run_task(Task(problem, Contestant("clarabel", "lmi"), 1e-6, RunLimits()))
    >>> record["outcome"], record["claim_accuracy"], record["solved"]
    ('SOLVED', 'true', True)
    """
    record: dict[str, Any] = {
        "solved": False, "certified": False, "claim_accuracy": "", "message": ""
    }  # fmt: skip
    watch = Deadline()
    try:
        program = task.problem.build()
        sdp = _standard_form(program)
    except (SdpdrError, MemoryError) as error:
        return record | {"outcome": "NOT_BUILT", "message": f"{type(error).__name__}: {error}"}
    record["build"] = watch.spent
    record |= _sizes(task, sdp)
    try:
        solver = task.contestant.configured()
        _warm_up(task, solver, program)
        solution = _solve(task, solver, program)
    except (SolverMissingError, SolverLicenceError, StudyError) as error:
        return record | {"outcome": "MISSING", "message": str(error)}
    except (NotAcceptedError, CompileError) as error:
        return record | {"outcome": "REFUSED", "message": str(error)}
    except Exception as error:  # Adapters are other people's code, and may raise anything.
        return record | {"outcome": "BROKEN", "message": f"{type(error).__name__}: {error}"}
    return record | _graded(task, solution, task.problem.known(sdp))


def _standard_form(program: Model | SDP) -> SDP | None:
    """The program in standard form; None where it has none."""
    if isinstance(program, SDP):
        return program
    with suppress(CompileError):
        return program.to_sdp()
    return None


def _sizes(task: Task, sdp: SDP | None) -> dict[str, Any]:
    if sdp is None:
        return {"n": task.problem.n}
    order = max((v.n for v in sdp.psd_variables), default=0)
    largest = max([order, *(lmi.order for lmi in sdp.lmis)])
    return {"n": task.problem.n or largest, "order": order, "constraints": sdp.n_rows}


def _warm_up(task: Task, solver: Solver | str, program: Model | SDP) -> None:
    """Solve a graph of three points by the solver that is to run; its answer does not matter."""
    if not task.limits.warmup:
        return
    form = task.contestant.form
    if isinstance(solver, str):
        chosen = plan(program, solver, form, tol=task.tol)
        solver, form = chosen.solver, chosen.form
    if solver.warms_up:
        with suppress(Exception):  # Whatever is wrong with the solver shows again.
            solve(
                methods.mvu(graphs.path([1.0, 2.0])),
                solver,
                form,
                time_limit=task.limits.time_limit,
                isolate=False,
                progress=False,
            )


def _solve(task: Task, solver: Solver | str, program: Model | SDP) -> Solution:
    return solve(
        program,
        solver,
        task.contestant.form,
        tol=task.tol,
        time_limit=task.limits.time_limit,
        seed=task.seed,
        # This process serves the run alone, and is ended when it is late.
        isolate=False,
        progress=False,
    )


def _graded(task: Task, solution: Solution, known: KnownAnswer) -> dict[str, Any]:
    """The columns that an answer fills."""
    claim = solution.claimed
    seconds = {
        name: sum(solution.timings.get(part, 0.0) for part in parts)
        for name, parts in _PHASES.items()
    }
    outcome = _outcome(solution, seconds["solve"], task.limits.time_limit)
    found = isfinite(solution.value)
    error = known.off(solution.value) if found else None
    errors = dict(zip([f"err{k}" for k in range(1, 7)], astuple(solution.residuals), strict=True))
    return {
        "outcome": outcome,
        "solved": _is_as_known(outcome, error, known, task.tol),
        "certified": solution.certified(task.tol),
        "claimed": claim.status,
        "claimed_value": claim.value,
        "claim_accuracy": _accuracy(claim.verdict, solution, known, task.tol),
        "message": claim.message or ("" if outcome in VERIFIED else solution.argument),
        "used": f"{solution.solver}, {solution.form}",
        "value": solution.value if found else None,
        "bound": solution.bound,
        "gap": solution.gap if found else None,
        "worst": solution.residuals.worst(),
        "reference": known.value,
        "relative_error": error,
        "iterations": claim.iterations,
        **errors,
        **seconds,
    }


def _outcome(solution: Solution, seconds: float, limit: float) -> str:
    """The status, or the end without an answer."""
    if seconds > (1.0 + LATE) * limit + LATE_SECONDS:
        return Status.TIME_LIMIT.name
    if solution.status is Status.FAILED:
        words = {"out of memory": "OUT_OF_MEMORY", "crashed": "CRASHED"}
        return words.get(solution.claimed.status, Status.FAILED.name)
    return solution.status.name


def _is_as_known(outcome: str, error: float | None, known: KnownAnswer, tol: float) -> bool:
    """Whether an outcome is the expected one, or any proven one where none is expected."""
    expected = VERIFIED if known.status is None else (known.status.name,)
    # Without interior, an answer that is optimal for data nearby is the best there is.
    nearby = Status.SOLVED.name in expected and outcome == Status.OPTIMAL_NEARBY.name
    if outcome not in expected and not (nearby and error is not None):
        return False
    return error is None or error <= max(known.rtol, CONTRADICTION * tol)


def _accuracy(verdict: str, solution: Solution, known: KnownAnswer, tol: float) -> str:
    """What a claim was worth, as a word of `sdpdr.lab.study.schema.CLAIMS`."""
    claimed = _CLAIMS.get(verdict)
    if claimed is Status.SOLVED:
        if solution.status in (Status.SOLVED, Status.OPTIMAL_NEARBY):
            return "true"
        missed = max(solution.apparent_gap, solution.residuals.worst())
        return "near" if missed <= NEAR * tol else "overstated"
    if claimed is not None:
        is_true = solution.status is claimed and known.status in (None, claimed)
        return "true" if is_true else "overstated"
    if not verdict:
        return ""
    return "understated" if solution.status is Status.SOLVED else "silent"
