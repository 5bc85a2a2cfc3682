"""Answers without proofs, and records of runs."""

from __future__ import annotations

import platform

from sdpdr.base.packages import version_of
from sdpdr.model import Model
from sdpdr.program.run import Claim, Run, Status
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Solver
from sdpdr.solving.candidate import Candidate
from sdpdr.solving.options import Request


def unproved(
    words: str,
    claim: Claim,
    chosen: Candidate,
    request: Request,
    status: Status = Status.FAILED,
) -> Solution:
    """An answer of which nothing is proved, for the reason ``words``; its value is the claim."""
    solver, model = chosen.solver, request.model
    return Solution(
        status=status,
        value=float("nan") if claim.value is None else claim.value,
        argument=words,
        claimed=claim,
        timings=dict(request.clock.seconds),
        solver=solver.name,
        form=chosen.form,
        tol=solver.tol,
        seed=solver.seed,
        versions=versions(solver),
        maximize=model.is_maximization if isinstance(model, Model) else model.maximize,
        rigorous=request.rigorous,
        gap_scale=request.gap_scale,
        attained_by=words,
    )


def versions(solver: Solver) -> dict[str, str]:
    """The versions of all packages that contribute to an answer."""
    found = {name: version_of(name) for name in ("sdpdr", "numpy", "scipy", "cvxpy")}
    found["python"] = platform.python_version()
    return {**found, solver.package: solver.availability().version}


def run_of(solution: Solution, seconds: float) -> Run:
    """The record of a run, which is kept when its answer is joined with others."""
    message = f"{solution.claimed.status}. {solution.claimed.message}".strip()
    return Run(
        solution.solver,
        solution.form,
        solution.status.name,
        solution.value if solution.values else None,
        solution.bound,
        solution.attained,
        seconds,
        message,
    )
