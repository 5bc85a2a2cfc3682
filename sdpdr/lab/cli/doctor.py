"""``sdpdr doctor``: what is installed, licensed, and works."""

from __future__ import annotations

import platform
from argparse import Namespace
from dataclasses import asdict
from typing import Any

from rich.console import Console

from sdpdr import __version__, graphs, minimize, psd, sum_squares
from sdpdr.families import methods
from sdpdr.lab.cli.console import grid, say, say_json, table
from sdpdr.lab.cli.options import Exit, add_command
from sdpdr.lab.study.rows import installed
from sdpdr.program import Solution
from sdpdr.solvers import SolverInfo, find
from sdpdr.solvers import table as solver_table
from sdpdr.solving.solve import solve

PACKAGES = ("numpy", "scipy", "cvxpy", "scikit-learn", "qdldl", "matplotlib", "pandas", "pyarrow")


def add(commands: Any) -> None:
    """Add the command."""
    add_command(
        commands,
        "doctor",
        run,
        "sdpdr doctor\nsdpdr doctor --json",
    )


def run(args: Namespace) -> Exit:
    """Report, and solve a small problem with every solver that can run."""
    tested = {}
    with Console(stderr=True).status("testing solvers") as status:
        for info in solver_table():
            if info.usable:
                status.update(f"testing {info.name}")
                tested[info.name] = _self_test(info.name)
    if args.json:
        say_json(_record(tested))
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
    say(grid(_versions()))
    say()
    rows = [_row(info, tested.get(info.name)) for info in solver_table()]
    heads = ("solver", "version", "licence", "forms", "self-test", "our gap", "seconds")
    say(table(heads, rows, right=("our gap", "seconds")))
    unusable = [info for info in solver_table() if not info.usable]
    if unusable:
        say()
        say(grid({info.name: info.reason for info in unusable}))


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
    own = {"sdpdr": __version__, "python": platform.python_version()}
    return own | dict.fromkeys(PACKAGES, "not installed") | installed(PACKAGES)
