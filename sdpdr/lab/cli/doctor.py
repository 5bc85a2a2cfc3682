"""``sdpdr doctor``: what is installed, licensed, and works."""

from __future__ import annotations

import platform
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any

from rich.console import Console

from sdpdr import __version__, graphs, minimize, psd, sum_squares
from sdpdr.families import methods
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.options import AS_JSON, Exit
from sdpdr.lab.cli.terminal import echo, echo_json, grid, table
from sdpdr.program import Solution
from sdpdr.solvers import SolverInfo, find
from sdpdr.solvers import table as solver_table
from sdpdr.solving.solve import solve

PACKAGES = ("numpy", "scipy", "cvxpy", "scikit-learn", "qdldl", "matplotlib", "pandas", "pyarrow")


@command("doctor", "sdpdr doctor\nsdpdr doctor --json", AS_JSON)
def doctor_command(args: SimpleNamespace) -> int:
    """Show what is installed, licensed, and works.

    A small problem is solved with every solver that can run.
    """
    tested = {}
    with Console(stderr=True).status("testing solvers") as status:
        for info in solver_table():
            if info.usable:
                status.update(f"testing {info.name}")
                tested[info.name] = _self_test(info.name)
    if args.json:
        echo_json(_record(tested))
    else:
        _report(tested)
    return Exit.OK if any(s.certified() for s in tested.values()) else Exit.NO_SOLVER


def _self_test(name: str) -> Solution:
    # Five points on a line: their unfolding is known, and is found in a fraction of a second.
    model = methods.mvu(graphs.path([1.0, 2.0, 1.0, 3.0]))
    if find(name).is_special:
        K = psd("K", 3)
        model = minimize(sum_squares(K + 1.0)) + (K.diagonal() == 1.0)
    return solve(model, name, progress=False)


def _report(tested: dict[str, Solution]) -> None:
    echo(grid(_versions()))
    echo()
    rows = [_row(info, tested.get(info.name)) for info in solver_table()]
    heads = ("solver", "version", "licence", "forms", "self-test", "our gap", "seconds")
    echo(table(heads, rows, right=("our gap", "seconds")))
    unusable = [info for info in solver_table() if not info.usable]
    if unusable:
        echo()
        echo(grid({info.name: info.reason for info in unusable}))


def _row(info: SolverInfo, solution: Solution | None) -> tuple[str, ...]:
    head = (info.name, info.version or "-", info.licence, ", ".join(info.forms))
    if solution is None:
        return (*head, "unlicensed" if info.installed else "not installed", "", "")
    passed = "passed" if solution.certified() else solution.status.name
    return (*head, passed, f"{solution.gap:.0e}", f"{sum(solution.timings.values()):.2f}")


def _record(tested: dict[str, Solution]) -> dict[str, Any]:
    solvers = [
        asdict(info) | {"self_test": tested[info.name].record() if info.name in tested else None}
        for info in solver_table()
    ]
    return {"versions": _versions(), "solvers": solvers}


def _versions() -> dict[str, str]:
    found = {"sdpdr": __version__, "python": platform.python_version()}
    found |= dict.fromkeys(PACKAGES, "not installed")
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
