"""One model through several solvers and forms: the claim of each beside what we verify."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table as RichTable
from rich.text import Text

from sdpdr.base.checks import choice
from sdpdr.base.errors import NotAcceptedError, SolverLicenceError
from sdpdr.base.files import write_text
from sdpdr.base.progress import has_terminal
from sdpdr.lab.study.page import Cell, show
from sdpdr.lab.study.report import outcome_cell
from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.registry import SOLVERS, find
from sdpdr.solving.solve import solve

# Phases of a solve, as three things to wait for.
PHASES = {
    "prepare": ("graph", "build", "render", "compile", "reduce"),
    "solve": ("solve",),
    "grade": ("lift", "certify"),
}
_COLOURS = {"good": "green", "fair": "yellow", "bad": "red", "soft": "dim"}


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One solver in one form.

    Attributes
    ----------
    solver, form : str
        For a solver that cannot run here, all forms that it would take.
    solution : Solution or None
        Graded by us, whatever the solver claims.
    reason : str
        Why there is no solution, or the solver's message.
    """

    solver: str
    form: str
    solution: Solution | None = None
    reason: str = ""

    def row(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        head = {"solver": self.solver, "form": self.form}
        if self.solution is None:
            return head | {"claimed": None, "verified": None, "reason": self.reason}
        record = self.solution.record()
        worst = self.solution.residuals.worst()
        return head | {
            "claimed": record["claimed"]["status"],
            "verified": record["status"],
            "certified": record["certified"],
            "value": record["value"],
            "bound": record["bound"],
            "gap": record["gap"],
            "worst_residual": worst if worst < float("inf") else None,
            "seconds": seconds_by_phase(self.solution),
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class Comparison:
    """Runs of one model, in the order of the solvers' table.

    Attributes
    ----------
    runs : tuple of ComparedRun
    tol : float
        Requested relative gap.
    time_limit : float or None
        Seconds for each run.
    """

    runs: tuple[ComparedRun, ...]
    tol: float
    time_limit: float | None

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The graded answers of all solvers that ran."""
        return tuple(run.solution for run in self.runs if run.solution is not None)

    @property
    def n_certified(self) -> int:
        """How many answers meet the tolerance by our own grading."""
        return sum(solution.certified() for solution in self.solutions)

    def rows(self) -> list[dict[str, Any]]:
        """One plain mapping for each run."""
        return [run.row() for run in self.runs]

    def save_json(self, path: str | Path) -> None:
        """Write the rows, with tolerance and time limit."""
        content = {"tol": self.tol, "time_limit": self.time_limit, "runs": self.rows()}
        write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    def frame(self) -> pd.DataFrame:
        """The rows as a table of a page."""
        frame = pd.json_normalize(self.rows())
        frame = frame.rename(columns=lambda name: name.removeprefix("seconds."))
        frame = frame.rename(columns={"worst_residual": "residual", "reason": "message"})
        frame["verified"] = [
            Cell("did not run", "soft")
            if run.solution is None
            else outcome_cell(run.solution.status.name, run.solution.status is Status.SOLVED)
            for run in self.runs
        ]
        columns = ["solver", "form", "claimed", "verified", "value", "bound", "gap", "residual"]
        return frame.reindex(columns=[*columns, *PHASES, "total", "message"])

    def table(self) -> RichTable:
        """The rows for a terminal; reasons of failures stand below."""
        reasons = dict.fromkeys(f"{r.solver}, {r.form}: {r.reason}" for r in self.runs if r.reason)
        return terminal_table(self.frame().drop(columns="message"), "\n".join(reasons))


def terminal_table(frame: pd.DataFrame, caption: str = "") -> RichTable:
    """A frame of values or `sdpdr.lab.study.page.Cell` as a table for a terminal."""
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, caption_justify="left")
    for title in frame:
        table.add_column(title, overflow="fold")
    for cells in frame.itertuples(index=False, name=None):
        tones = [cell.tone if isinstance(cell, Cell) else "" for cell in cells]
        shown = zip(map(show, cells, frame), tones, strict=True)
        table.add_row(*(Text(text, _COLOURS.get(tone, "")) for text, tone in shown))
    if caption:
        table.caption = Text(caption, style="dim")
    return table


def compare(
    model: Model | SDP,
    solvers: Sequence[str | Solver] | None = None,
    forms: Sequence[str] | None = None,
    *,
    tol: float = 1e-6,
    time_limit: float | None = 20.0,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Run a model through every solver, in each form that it takes.

    Parameters
    ----------
    model : Model or SDP
    solvers : sequence of str or Solver, optional
        Names from ``sdpdr.solvers()`` or configured solvers; default: all, including those that
        cannot run here.
    forms : sequence of str, optional
        Default: all. A pair of solver and form that does not exist is left out.
    tol : float, default 1e-6
        Requested relative gap.
    time_limit : float, optional, default 20
        Seconds for each run.
    jobs : int, optional
        Runs at a time, each solver in a child process, so that a crash of native code becomes a
        row as well. Default: one after another, in this process.
    progress : bool, optional
        Show a bar on the error output; by default on a terminal only.

    Returns
    -------
    Comparison
        A solver that cannot run, refuses or fails is a row with the reason.

    Raises
    ------
    UnknownNameError
        For an unknown solver or form.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> comparison = compare(model, ["lowrank", "clarabel"], ["factor", "lmi"])
    >>> [(run.solver, run.form, run.solution.certified()) for run in comparison.runs]
    [('lowrank', 'factor', True), ('clarabel', 'lmi', True)]
    """
    pairs = list(_pairs(solvers, forms))
    run = partial(_run, model, tol=tol, time_limit=time_limit, isolate=jobs is not None)
    shown = has_terminal() if progress is None else progress
    bar = partial(
        track,
        description="comparing solvers",
        total=len(pairs),
        console=Console(stderr=True, force_terminal=progress or None),
        transient=True,
        disable=not shown,
    )
    if jobs is None:
        runs = [run(*pair) for pair in bar(pairs)]
    else:
        with ThreadPoolExecutor(jobs) as pool:
            runs = list(bar(pool.map(lambda pair: run(*pair), pairs)))
    return Comparison(tuple(runs), tol, time_limit)


def seconds_by_phase(solution: Solution) -> dict[str, float]:
    """Seconds to prepare, to solve and to grade, and their total."""
    spent = {
        name: sum(solution.timings.get(part, 0.0) for part in parts)
        for name, parts in PHASES.items()
    }
    return spent | {"total": sum(solution.timings.values())}


def _pairs(
    solvers: Sequence[str | Solver] | None, forms: Sequence[str] | None
) -> Iterator[tuple[Solver, str]]:
    """Solver and form; for a solver that cannot run here, all forms as one."""
    for form in forms or ():
        choice("form", form, FORMS)
    chosen = SOLVERS if solvers is None else solvers
    for solver in [s if isinstance(s, Solver) else find(s)() for s in chosen]:
        wanted = [form for form in solver.forms if forms is None or form in forms]
        if solver.availability().usable:
            yield from ((solver, form) for form in wanted)
        elif wanted:
            yield solver, ", ".join(wanted)


def _run(model: Model | SDP, solver: Solver, form: str, **options: Any) -> ComparedRun:
    available = solver.availability()
    if not available.usable:
        return ComparedRun(solver.name, form, reason=available.reason)
    try:
        solution = solve(model, solver, form, progress=False, **options)
    except (NotAcceptedError, SolverLicenceError) as error:
        return ComparedRun(solver.name, form, reason=str(error))
    return ComparedRun(solver.name, form, solution, solution.claimed.message)
