"""One run of a study: a problem, a contestant and limits, its key, and how it is carried out."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field, fields, replace
from math import isfinite
from typing import Any

import cvxpy as cp

from sdpdr import graphs
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    NotAcceptedError,
    SdpdrError,
    SolverLicenceError,
    SolverMissingError,
    StudyError,
)
from sdpdr.families import methods
from sdpdr.lab.library.card import Expectation
from sdpdr.lab.study.other_cones import CheckedAnswer, solve_as_written
from sdpdr.lab.study.problem import Problem
from sdpdr.lab.study.schema import VERIFIED
from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status
from sdpdr.program.run import Verdict
from sdpdr.solvers.base import Solver
from sdpdr.solvers.registry import find
from sdpdr.solving.plan import plan
from sdpdr.solving.solve import solve

AUTO = "auto"
# A solver counts as late if it exceeds its time limit by more than this share and these seconds.
LATE, LATE_SECONDS = 0.05, 0.5
# A value contradicts a reference if it differs by more than this many tolerances.
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


@dataclass(frozen=True)
class RunLimits:
    """Limits of every run: seconds for the solver and for the rest, bytes, threads, warming up.

    Memory is counted beyond that of a process that has imported everything.
    """

    time_limit: float = 20.0
    patience: float = 10.0
    memory_limit: int = 2 * 2**30
    threads: int = 1
    warmup: bool = True


@dataclass(frozen=True)
class Contestant:
    """A solver in a form: a name, "auto" or ``"module:Class"``, and options of it or of its class.

    With ``defaults`` its tolerances stay as they are. The label is its name in tables.
    """

    solver: str
    form: str = AUTO
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: bool = False
    label: str = ""

    @property
    def name(self) -> str:
        """The label, or the name of the solver."""
        return self.label or self.solver.rpartition(":")[2].lower()

    def solver_class(self) -> type[Solver] | None:
        """Return the class of the solver; None for "auto"."""
        if self.solver == AUTO:
            return None
        module, colon, name = self.solver.partition(":")
        return _imported(module, name) if colon else find(self.solver)

    def configured(self) -> Solver | str:
        """Return what `sdpdr.solve` takes as its solver."""
        cls = self.solver_class()
        if cls is None:
            return AUTO
        own = {f.name for f in fields(cls)}
        given = {name: x for name, x in self.options.items() if name in own}
        rest = {name: x for name, x in self.options.items() if name not in own}
        return cls(options=rest, **given, **({"defaults": True} if self.defaults else {}))

    def forms(self) -> tuple[str, ...]:
        """Return the forms that the solver takes."""
        cls = self.solver_class()
        return (AUTO,) if cls is None else cls.forms


@dataclass(frozen=True)
class Task:
    """A run, before it begins."""

    problem: Problem
    contestant: Contestant
    tol: float
    limits: RunLimits
    seed: int = 0
    repeat: int = 0

    @property
    def key(self) -> str:
        """Digest of everything that identifies the run; versions and machines do not count."""
        c, limits = self.contestant, self.limits
        content = [
            [self.problem.name, self.problem.variant, self.problem.digest],
            [c.name, c.solver, c.form, dict(c.options), c.defaults],
            [self.tol, self.seed, self.repeat],
            [limits.time_limit, limits.memory_limit, limits.threads, limits.warmup],
            [limits.patience],
        ]
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def identity(self) -> dict[str, Any]:
        """Return the columns of `sdpdr.lab.study.schema.IDENTITY`."""
        problem, limits = self.problem, self.limits
        return {
            "key": self.key,
            "problem": problem.name,
            "source": problem.source,
            "family": problem.family,
            "method": problem.method,
            "variant": problem.variant,
            "tags": " ".join(problem.tags),
            "solver": self.contestant.name,
            "form": self.contestant.form,
            "tol": self.tol,
            "seed": self.seed,
            "repeat": self.repeat,
            "time_limit": limits.time_limit,
            "memory_limit": limits.memory_limit,
            "threads": limits.threads,
        }


def _imported(module: str, name: str) -> type[Solver]:
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise StudyError(
            f"solver '{module}:{name}' cannot be imported ({error}). Its module must lie beside "
            "the study file, or where Python looks for modules."
        ) from None
    if not (isinstance(found, type) and issubclass(found, Solver)):
        raise StudyError(
            f"'{module}:{name}' is {found!r}; expected a class of sdpdr.solvers.Solver."
        )
    return found


# -- carrying it out ------------------------------------------------------------------------------


def run_task(task: Task) -> dict[str, Any]:
    """Build, solve and grade a run in this process."""
    record: dict[str, Any] = {
        "solved": False, "certified": False, "claim_accuracy": "", "message": ""
    }  # fmt: skip
    watch = Deadline()
    try:
        program = task.problem.build()
        sdp = program if isinstance(program, SDP) else None
        if isinstance(program, Model):
            sdp = program.to_sdp()
    except (SdpdrError, MemoryError) as error:
        return record | {"outcome": "NOT_BUILT", "message": f"{type(error).__name__}: {error}"}
    record["build"] = watch.spent
    record |= _sizes(task, sdp)
    try:
        solver = task.contestant.configured()
        if isinstance(program, cp.Problem):
            return record | _checked(task, _as_written(task, program, solver))
        _warm_up(task, solver, program)
        # This process serves the run alone, and is ended when it is late.
        solution = solve(
            program,
            solver,
            task.contestant.form,
            tol=task.tol,
            time_limit=task.limits.time_limit,
            seed=task.seed,
            isolate=False,
            progress=False,
        )
    except (SolverMissingError, SolverLicenceError, StudyError) as error:
        return record | {"outcome": "MISSING", "message": str(error)}
    except NotAcceptedError as error:
        return record | {"outcome": "REFUSED", "message": str(error)}
    except Exception as error:  # adapters are third-party code, and may raise any error
        return record | {"outcome": "BROKEN", "message": f"{type(error).__name__}: {error}"}
    return record | _graded(task, solution, task.problem.known(sdp))


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
        with suppress(Exception):  # an error occurs again in the run itself
            solve(
                methods.mvu(graphs.path([1.0, 2.0])),
                solver,
                form,
                time_limit=task.limits.time_limit,
                isolate=False,
                progress=False,
            )


def _as_written(task: Task, problem: cp.Problem, solver: Solver | str) -> CheckedAnswer:
    """Solve a problem that has no standard form."""
    if isinstance(solver, Solver):
        limits = task.limits
        solver = replace(solver, tol=task.tol, time_limit=limits.time_limit, seed=task.seed)
    return solve_as_written(problem, solver, task.contestant.form)


def _checked(task: Task, answer: CheckedAnswer) -> dict[str, Any]:
    """Return the columns of an answer to a problem without a standard form."""
    claim, proved, known = answer.claim, answer.proved, task.problem.known(None)
    seconds = _seconds_by_phase(answer.timings)
    outcome = _late_or(answer.status.name, seconds["solve"], task.limits.time_limit)
    found, bound = isfinite(answer.value), proved.bound
    gap = None
    if found and bound is not None:
        gap = abs(answer.value - bound) / max(abs(bound), 1.0)
    return {
        "outcome": outcome,
        "solved": _is_as_known(outcome, None, known, task.tol),
        "certified": answer.status is Status.SOLVED,
        "claimed": claim.status,
        "claimed_value": claim.value,
        "claim_accuracy": _accuracy(
            answer.verdict.value, answer.status, answer.error, known, task.tol
        ),
        "message": claim.message or ("" if outcome in VERIFIED else proved.argument),
        "used": f"{task.contestant.name}, {task.contestant.form}",
        "value": answer.value if found else None,
        "bound": bound,
        "gap": gap,
        "worst": answer.violation,
        "iterations": claim.iterations,
        **seconds,
    }


def _seconds_by_phase(timings: Mapping[str, float]) -> dict[str, float]:
    return {name: sum(timings.get(part, 0.0) for part in parts) for name, parts in _PHASES.items()}


def _graded(task: Task, solution: Solution, known: Expectation) -> dict[str, Any]:
    """Return the columns of an answer."""
    claim = solution.claimed
    seconds = _seconds_by_phase(solution.timings)
    missed = max(solution.apparent_gap, solution.residuals.worst())
    outcome = _outcome(solution, seconds["solve"], task.limits.time_limit)
    found = isfinite(solution.value)
    error = known.relative_error(solution.value) if found else None
    errors = dict(zip([f"err{k}" for k in range(1, 7)], astuple(solution.residuals), strict=True))
    return {
        "outcome": outcome,
        "solved": _is_as_known(outcome, error, known, task.tol),
        "certified": solution.certified(task.tol),
        "claimed": claim.status,
        "claimed_value": claim.value,
        "claim_accuracy": _accuracy(claim.verdict, solution.status, missed, known, task.tol),
        "message": claim.message or ("" if outcome in VERIFIED else _unsolved(solution)),
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


def _unsolved(solution: Solution) -> str:
    """Return the message about an unsolved answer, without the status, which has its column."""
    return str(solution).partition(": ")[2]


def _outcome(solution: Solution, seconds: float, limit: float) -> str:
    """The status, or the end without an answer."""
    outcome = solution.status.name
    if solution.status is Status.FAILED:
        words = {"out of memory": "OUT_OF_MEMORY", "crashed": "CRASHED"}
        outcome = words.get(solution.claimed.status, outcome)
    return _late_or(outcome, seconds, limit)


def _late_or(outcome: str, seconds: float, limit: float) -> str:
    """An outcome, or that of a solver that took longer than its limit."""
    return Status.TIME_LIMIT.name if seconds > (1.0 + LATE) * limit + LATE_SECONDS else outcome


def _is_as_known(outcome: str, error: float | None, known: Expectation, tol: float) -> bool:
    """Whether an outcome is the expected one, or any proven one where none is expected."""
    expected = (known.status,) if known.status else VERIFIED
    # Without interior, an answer that is optimal for data nearby is the best there is.
    nearby = Status.SOLVED.name in expected and outcome == Status.OPTIMAL_NEARBY.name
    if outcome not in expected and not (nearby and error is not None):
        return False
    return error is None or error <= max(known.rtol, CONTRADICTION * tol)


def _accuracy(verdict: str, status: Status, missed: float, known: Expectation, tol: float) -> str:
    """Compare a claim with the verified status; return a key of `sdpdr.lab.study.schema.CLAIMS`."""
    claimed = _CLAIMS.get(verdict)
    if claimed is Status.SOLVED:
        if status in (Status.SOLVED, Status.OPTIMAL_NEARBY):
            return "true"
        return "near" if missed <= NEAR * tol else "overstated"
    if claimed is not None:
        is_true = status is claimed and known.status in ("", claimed.name)
        return "true" if is_true else "overstated"
    if not verdict:
        return ""
    return "understated" if status is Status.SOLVED else "silent"
