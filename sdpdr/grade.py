"""Grading: what a point and its multipliers are worth, whatever the solver says of them."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version

import numpy as np

from sdpdr.plan import Plan
from sdpdr.program.backward import backward_error
from sdpdr.program.boxes import repair
from sdpdr.program.certificate import Certificate, certify
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Point
from sdpdr.program.residuals import Residuals, dimacs_errors
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import gap_scale
from sdpdr.program.solution import Claim, Solution, Status
from sdpdr.solvers.base import Solver, Verdict
from sdpdr.solvers.starved import starved_words

STOPPED = {
    Verdict.TIME_LIMIT: Status.TIME_LIMIT,
    Verdict.ITERATION_LIMIT: Status.ITERATION_LIMIT,
    Verdict.INTERRUPTED: Status.INTERRUPTED,
    Verdict.FAILED: Status.FAILED,
    Verdict.INFEASIBLE: Status.INFEASIBLE,
    Verdict.UNBOUNDED: Status.UNBOUNDED,
}
# Primal error up to which the point of zeros counts as feasible.
_FEASIBLE = 1e-12


def grade(
    sdp: SDP,
    point: Point,
    verdict: Verdict,
    claim: Claim,
    history: tuple[Mapping[str, object], ...],
    chosen: Plan,
    clock: Clock,
) -> Solution:
    """Repair a point, measure it, prove a bound, and say what it is worth."""
    claim = replace(claim, verdict=verdict.value)
    with clock("certify"):
        values = repair(sdp, point.values) if point.values else {}
        point = Point(values, point.duals)
        residuals = dimacs_errors(sdp, point)
        certificate = _certificate(sdp, point)
        value = sdp.report(sdp.primal_value(values)) if values else float("nan")
        scale, error = gap_scale(sdp), backward_error(sdp, values)
        refutation = _refutation(sdp, verdict, certificate)
    if refutation:
        verdict = Verdict.INACCURATE if values else Verdict.FAILED
        claim = replace(claim, message=f"{claim.message} {refutation}".strip())
    solver = chosen.solver
    solution = Solution(
        status=Status.SOLVED,
        value=value,
        bound=certificate.bound,
        argument=certificate.argument,
        values=values,
        duals=point.duals,
        residuals=residuals,
        claimed=claim,
        timings=clock.seconds,
        solver=solver.name,
        form=chosen.form,
        tol=solver.tol,
        seed=solver.seed,
        versions=versions(solver),
        history=history,
        maximize=sdp.maximize,
        rigorous=certificate.rigorous,
        gap_scale=scale,
        backward_error=error,
    )
    return _with_status(solution, verdict)


def _certificate(sdp: SDP, point: Point, rigorous: bool = False) -> Certificate:
    if not point.duals:
        return Certificate(None, "the solver returned no multipliers")
    return certify(sdp, complete_multipliers(sdp, point.duals), rigorous=rigorous)


def _refutation(sdp: SDP, verdict: Verdict, certificate: Certificate) -> str | None:
    """Why a program is not what the solver says of it; None where nothing contradicts it."""
    if verdict is Verdict.UNBOUNDED and certificate.bound is not None:
        return "It cannot be unbounded, since its multipliers prove a bound."
    if verdict is not Verdict.INFEASIBLE:
        return None
    origin = Point(repair(sdp, sdp.zero_point().values))
    if dimacs_errors(sdp, origin).primal() <= _FEASIBLE:
        return "It cannot be infeasible, since zero satisfies all constraints; is it unbounded?"
    return None


def _with_status(solution: Solution, verdict: Verdict) -> Solution:
    if solution.certified() or _is_beyond_proof(solution):
        return solution
    return replace(solution, status=STOPPED.get(verdict, Status.INACCURATE))


def _is_beyond_proof(solution: Solution) -> bool:
    """Whether no bound can be had, but all six error measures meet the tolerance."""
    if solution.bound is not None or not np.isfinite(solution.value):
        return False
    return solution.residuals.worst() <= solution.tol


class Clock:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Time what happens inside, as part of a phase."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add({phase: time.perf_counter() - start})

    def add(self, seconds: Mapping[str, float]) -> None:
        """Count seconds measured elsewhere."""
        for phase, value in seconds.items():
            self.seconds[phase] = self.seconds.get(phase, 0.0) + value


def versions(solver: Solver) -> dict[str, str]:
    """Of everything that has a part in an answer."""
    found = {name: version(name) for name in ("sdpdr", "numpy", "scipy", "cvxpy")}
    found["python"] = platform.python_version()
    found[solver.package] = solver.availability().version
    return found


def proved(sdp: SDP, solution: Solution) -> Solution:
    """The solution with a bound that accounts for all rounding instead of the one it has."""
    was_solved = solution.status is Status.SOLVED
    certificate = _certificate(sdp, Point({}, solution.duals), rigorous=True)
    solution = replace(
        solution,
        bound=certificate.bound,
        argument=certificate.argument,
        rigorous=certificate.rigorous,
    )
    return _with_status(solution, Verdict.SOLVED) if was_solved else solution


def ungraded(sdp: SDP, chosen: Plan, clock: Clock, error: MemoryError) -> Solution:
    """What is left when memory ends around a solver: the words, and no point."""
    message = starved_words(f"The {chosen.form} form of the program", str(error))
    return Solution(
        status=Status.FAILED,
        value=float("nan"),
        bound=None,
        argument="memory ended before anything was proved",
        values={},
        duals={},
        residuals=Residuals(*[float("nan")] * 6),
        claimed=Claim("out of memory", message=message),
        timings=clock.seconds,
        solver=chosen.solver.name,
        form=chosen.form,
        tol=chosen.solver.tol,
        seed=chosen.solver.seed,
        versions=versions(chosen.solver),
        maximize=sdp.maximize,
    )
