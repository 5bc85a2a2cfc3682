"""One run, carried out in the process that is made for it: build, solve, grade, tell."""

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
from sdpdr.lab.study.task import AUTO, Task
from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status
from sdpdr.program.run import Verdict
from sdpdr.solvers.base import Solver
from sdpdr.solvers.lowrank.solver import LowRank
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.asked import Asked
from sdpdr.solving.choice import choose
from sdpdr.solving.costs.candidates import POSSIBLE, Candidates
from sdpdr.solving.solve import solve
from sdpdr.solving.way import standard_form

# A solver that knows no limit may be late by this share of it, and seconds.
LATE, LATE_SECONDS = 0.05, 0.5
# A value is contradicted by a reference only beyond so many tolerances.
DOUBT = 10.0
# A claim that misses the tolerance by less than this factor is not called false.
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


def carry_out(task: Task) -> dict[str, Any]:
    """Carry out a run.

    Parameters
    ----------
    task : Task

    Returns
    -------
    dict
        Of the columns `sdpdr.lab.study.schema.FINDINGS`, and those seconds of ``MEASUREMENTS`` that
        only the process itself can tell; what is not known is left out. Nothing is raised: a
        solver that is missing, refuses or breaks is a row.
    """
    row: dict[str, Any] = {"solved": False, "certified": False, "honesty": "", "words": ""}
    watch = Deadline()
    try:
        program = task.problem.build()
        sdp, refusal = standard_form(program)
    except (SdpdrError, MemoryError) as error:
        return row | {"outcome": "NOT_BUILT", "words": f"{type(error).__name__}: {error}"}
    row["build"] = watch.spent
    row |= _sizes(task, sdp)
    try:
        solver = task.contestant.configured()
        words = _why_not(task, solver, sdp)
        if words:
            return row | {"outcome": "NOT_TRIED", "words": words}
        _warm_up(task, solver, sdp, refusal)
        solution = _solve(task, solver, program)
    except (SolverMissingError, SolverLicenceError, StudyError) as error:
        return row | {"outcome": "MISSING", "words": str(error)}
    except (NotAcceptedError, CompileError) as error:
        return row | {"outcome": "REFUSED", "words": str(error)}
    except Exception as error:  # Adapters are other people's code, and may raise anything.
        return row | {"outcome": "BROKEN", "words": f"{type(error).__name__}: {error}"}
    return row | _told(task, solution, task.problem.known(sdp))


def _sizes(task: Task, sdp: SDP | None) -> dict[str, Any]:
    if sdp is None:
        return {"n": task.problem.n}
    order = max((v.n for v in sdp.psd_variables), default=0)
    return {"n": task.problem.n or order, "order": order, "rows": sdp.n_rows}


def _why_not(task: Task, solver: Solver | str, sdp: SDP | None) -> str:
    """Why a run is not worth its time; empty if it is, or if nothing is known of its cost."""
    limits = task.limits
    if limits.hopeless == 0.0 or sdp is None or isinstance(solver, (str, LowRank)):
        return ""
    if SOLVERS.get(solver.name) is not type(solver) or task.contestant.form == AUTO:
        return ""
    found = Candidates(sdp, "", dict(SOLVERS), task.tol).candidate(
        solver.name, task.contestant.form
    )
    if found.refusal or found.cost is None:
        return ""
    if found.verdict != POSSIBLE:
        return found.verdict
    if found.cost.seconds > limits.hopeless * limits.time_limit:
        return (
            f"it is predicted to take {found.cost.seconds:.0f} s, more than "
            f"{limits.hopeless:g} times the limit"
        )
    return ""


def _warm_up(task: Task, solver: Solver | str, sdp: SDP | None, refusal: str) -> None:
    """Solve a graph of three points by the solver that is to run; its answer does not matter."""
    if not task.limits.warmup:
        return
    form = task.contestant.form
    if isinstance(solver, str):
        chosen = choose(sdp, Asked(solver, form, options={"tol": task.tol}), refusal)
        solver, form = chosen.solver, chosen.form
    if solver.warms_up:
        with suppress(Exception):  # Whatever is wrong with it will show again.
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
        # This process is its own already, and is ended when it is late.
        isolate=False,
        progress=False,
    )


def _told(task: Task, solution: Solution, known: KnownAnswer) -> dict[str, Any]:
    """Columns that an answer fills."""
    claim = solution.claimed
    seconds = {
        name: sum(solution.timings.get(part, 0.0) for part in parts)
        for name, parts in _PHASES.items()
    }
    outcome = _outcome(solution, seconds["solve"], task.limits.time_limit)
    found = isfinite(solution.value)
    off = known.off(solution.value) if found else None
    errors = dict(zip([f"err{k}" for k in range(1, 7)], astuple(solution.residuals), strict=True))
    return {
        "outcome": outcome,
        "solved": _is_as_known(outcome, off, known, task.tol),
        "certified": solution.certified(task.tol),
        "claimed": claim.status,
        "claimed_value": claim.value,
        "honesty": _honesty(claim.verdict, solution, known, task.tol),
        "words": claim.message or ("" if outcome in VERIFIED else solution.argument),
        "used": f"{solution.solver}, {solution.form}",
        "value": solution.value if found else None,
        "bound": solution.bound,
        "gap": solution.gap if found else None,
        "worst": solution.residuals.worst(),
        "reference": known.value,
        "off": off,
        "iterations": claim.iterations,
        **errors,
        **seconds,
    }


def _outcome(solution: Solution, seconds: float, limit: float) -> str:
    """The status, or what took its place."""
    if seconds > (1.0 + LATE) * limit + LATE_SECONDS:
        return Status.TIME_LIMIT.name
    if solution.status is Status.FAILED:
        words = {"out of memory": "OUT_OF_MEMORY", "crashed": "CRASHED"}
        return words.get(solution.claimed.status, Status.FAILED.name)
    return solution.status.name


def _is_as_known(outcome: str, off: float | None, known: KnownAnswer, tol: float) -> bool:
    # That there is no answer is a solver's word; it counts only where it is known beforehand.
    wanted = (known.status or Status.SOLVED).name
    # Without interior, an answer that is optimal for data nearby is the best there is.
    nearby = wanted == Status.SOLVED.name and outcome == Status.OPTIMAL_NEARBY.name
    if outcome != wanted and not (nearby and off is not None):
        return False
    return off is None or off <= max(known.rtol, DOUBT * tol)


def _honesty(verdict: str, solution: Solution, known: KnownAnswer, tol: float) -> str:
    """What a claim was worth, in the words of `sdpdr.lab.study.schema.HONESTY`."""
    claimed = _CLAIMS.get(verdict)
    if claimed is Status.SOLVED:
        if solution.status in (Status.SOLVED, Status.OPTIMAL_NEARBY):
            return "true"
        missed = max(solution.apparent_gap, solution.residuals.worst())
        return "near" if missed <= NEAR * tol else "overstated"
    if claimed is not None:
        return "true" if solution.status is claimed is known.status else "overstated"
    if not verdict:
        return ""
    return "understated" if solution.status is Status.SOLVED else "silent"
