"""A graded answer on the terminal, as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import Any

from rich.table import Table

from sdpdr.lab.cli.console import grid, table
from sdpdr.lab.cli.options import Exit
from sdpdr.lab.library.expectation import Finding
from sdpdr.program import Solution, Status

_OF_STATUS = {
    Status.SOLVED: Exit.OK,
    Status.INFEASIBLE: Exit.NO_ANSWER,
    Status.UNBOUNDED: Exit.NO_ANSWER,
    Status.FAILED: Exit.NO_ANSWER,
    Status.INTERRUPTED: Exit.INTERRUPTED,
}


def of_status(status: Status) -> Exit:
    """The code of a graded answer."""
    return _OF_STATUS.get(status, Exit.UNCERTIFIED)


def facts(solution: Solution) -> Table:
    """What was claimed, what we verified, and how long it took."""
    claimed = solution.claimed
    iterations = "" if claimed.iterations is None else f" in {claimed.iterations} iterations"
    words = f" ({claimed.message})" if claimed.message else ""
    advice = "" if solution.status is Status.SOLVED else f": {solution.advice}"
    return grid(
        {
            "status": f"{solution.status.name}{advice}",
            "value": shown(solution.value),
            "attained": f"{shown(solution.attained)} ({solution.attained_by})",
            "bound": f"{shown(solution.bound)} ({solution.argument})",
            "gap": f"{shown(solution.gap, '.1e')}, aimed at {solution.tol:.0e}",
            "epsilon": shown(solution.epsilon, ".1e"),
            "solver": f"{solution.solver}, {solution.form} form",
            "it claimed": f"{claimed.status}{iterations}{words}",
            "DIMACS errors": _errors(solution),
            "seconds": _seconds(solution.timings),
        }
    )


def shown(number: float | None, style: str = ".10g") -> str:
    """A number, or "none" where there is none."""
    return "none" if number is None or not isfinite(number) else format(number, style)


def _errors(solution: Solution) -> str:
    """The six DIMACS errors with their names."""
    errors = asdict(solution.residuals).items()
    return ", ".join(f"{name.replace('_', ' ')} {shown(error, '.0e')}" for name, error in errors)


def _seconds(timings: Mapping[str, float]) -> str:
    """Seconds of each phase that took any, and in all."""
    phases = [f"{phase} {seconds:.2f}" for phase, seconds in timings.items() if seconds >= 0.005]
    return ", ".join([*phases, f"all {sum(timings.values()):.2f}"])


def comparison(findings: Sequence[Finding]) -> Table:
    """Expected beside found."""
    rows = [(f.key, f.expected, f.found, "yes" if f.holds else "NO") for f in findings]
    return table(("", "expected", "found", "holds"), rows)


def comparison_record(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [asdict(finding) for finding in findings]
