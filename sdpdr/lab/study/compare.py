"""One model through every solver, in every form: what each claims beside what we verify."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table as RichTable
from rich.text import Text

from sdpdr.base.checks import choice
from sdpdr.base.errors import NotAcceptedError, SolverLicenceError
from sdpdr.base.files import write_text
from sdpdr.base.progress import Progress
from sdpdr.lab.study.page.outcomes import outcome_cell
from sdpdr.lab.study.page.parts import Cell, Table
from sdpdr.lab.study.page.render import to_terminal
from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.registry import SOLVERS, find
from sdpdr.solving.solve import solve

# Announces a run, and yields what its iterations are reported to.
Tell: TypeAlias = Callable[[str], AbstractContextManager[Progress]]
# Phases of a solve, as three things to wait for.
PHASES: Mapping[str, tuple[str, ...]] = {
    "prepare": ("graph", "build", "render", "compile", "reduce"),
    "solve": ("solve",),
    "grade": ("lift", "certify"),
}
_SHOWN = (
    "solver", "form", "claimed", "verified", "value", "bound", "gap", "residual", *PHASES, "total",
    "words",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One solver in one form.

    Attributes
    ----------
    solver, form : str
        For a solver that cannot run here, the form names all that it would take.
    solution : Solution or None
        Graded by us, whatever the solver says.
    reason : str
        Why there is no solution, or what the solver had to say.
    """

    solver: str
    form: str
    solution: Solution | None = None
    reason: str = ""

    def row(self) -> dict[str, Any]:
        """Everything that a table shows, as plain values ready for JSON."""
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
        Relative gap that every solver was asked for.
    time_limit : float or None
        Seconds that each was given.
    """

    runs: tuple[ComparedRun, ...]
    tol: float
    time_limit: float | None

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The graded answers of all that ran."""
        return tuple(run.solution for run in self.runs if run.solution is not None)

    @property
    def n_certified(self) -> int:
        """How many answers meet the tolerance by our own grading."""
        return sum(solution.certified() for solution in self.solutions)

    def rows(self) -> list[dict[str, Any]]:
        """One plain mapping for each run."""
        return [run.row() for run in self.runs]

    def save_json(self, path: str | Path) -> None:
        """Write the rows, with what was asked of every solver."""
        content = {"tol": self.tol, "time_limit": self.time_limit, "runs": self.rows()}
        write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    def frame(self) -> pd.DataFrame:
        """The rows as a table of a page; see `sdpdr.lab.study.page.Table`."""
        frame = pd.json_normalize(self.rows())
        frame = frame.rename(columns=lambda name: name.removeprefix("seconds."))
        frame = frame.rename(columns={"worst_residual": "residual", "reason": "words"})
        frame["verified"] = [
            Cell("did not run", "soft")
            if run.solution is None
            else outcome_cell(run.solution.status.name, run.solution.status is Status.SOLVED)
            for run in self.runs
        ]
        return frame.reindex(columns=[*_SHOWN])

    def table(self) -> RichTable:
        """The rows for a terminal; reasons of failures stand below."""
        built = to_terminal(Table("comparison", self.frame().drop(columns="words")))
        reasons = dict.fromkeys(f"{r.solver}, {r.form}: {r.reason}" for r in self.runs if r.reason)
        if reasons:
            built.caption = Text("\n".join(reasons), style="dim")
        return built


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
        Names from ``sdpdr.solvers()`` or configured solvers; default: all, those that cannot run
        included.
    forms : sequence of str, optional
        Default: all. A pair of solver and form that does not exist is passed over.
    tol : float, default 1e-6
        Relative gap aimed at.
    time_limit : float, optional, default 20
        Seconds for each run.
    jobs : int, optional
        Run so many at a time, each solver in a child process, so that a crash of native code
        becomes a row as well. Default: one after another, in this process.
    progress : bool, optional
        Show progress on the error output; by default on a terminal only.

    Returns
    -------
    Comparison
        What cannot run or is not accepted is a row with the reason, as is what fails.

    Raises
    ------
    UnknownNameError
        Of a solver or a form.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> comparison = compare(model, ["lowrank", "clarabel"], ["factor", "lmi"])
    >>> [(run.solver, run.form, run.solution.certified()) for run in comparison.runs]
    [('lowrank', 'factor', True), ('clarabel', 'lmi', True)]
    """
    pairs = list(_pairs(solvers, forms))
    with _show(progress, len(pairs)) as tell:
        run = partial(
            _run, model, tell=tell, tol=tol, time_limit=time_limit, isolate=jobs is not None
        )
        if jobs is None:
            runs = [run(*pair) for pair in pairs]
        else:
            with ThreadPoolExecutor(jobs) as pool:
                runs = list(pool.map(lambda pair: run(*pair), pairs))
    return Comparison(tuple(runs), tol, time_limit)


def seconds_by_phase(solution: Solution) -> dict[str, float]:
    """Seconds to prepare, to solve and to grade, and in all."""
    spent = {
        name: sum(solution.timings.get(part, 0.0) for part in parts)
        for name, parts in PHASES.items()
    }
    return spent | {"total": sum(solution.timings.values())}


def _pairs(
    solvers: Sequence[str | Solver] | None, forms: Sequence[str] | None
) -> Iterator[tuple[Solver, str]]:
    """Solver and form; of a solver that cannot run here, all forms as one."""
    for form in forms or ():
        choice("form", form, FORMS)
    chosen = SOLVERS if solvers is None else solvers
    for solver in [s if isinstance(s, Solver) else find(s)() for s in chosen]:
        wanted = [form for form in solver.forms if forms is None or form in forms]
        if solver.availability().usable:
            yield from ((solver, form) for form in wanted)
        elif wanted:
            yield solver, ", ".join(wanted)


def _run(
    model: Model | SDP,
    solver: Solver,
    form: str,
    *,
    tell: Tell,
    tol: float,
    time_limit: float | None,
    isolate: bool,
) -> ComparedRun:
    available = solver.availability()
    if not available.usable:
        return ComparedRun(solver.name, form, reason=available.reason)
    with tell(f"{solver.name}, {form} form") as report:
        try:
            solution = solve(
                model,
                solver,
                form,
                tol=tol,
                time_limit=time_limit,
                isolate=isolate,
                progress=report,
            )
        except (NotAcceptedError, SolverLicenceError) as error:
            return ComparedRun(solver.name, form, reason=str(error))
    return ComparedRun(solver.name, form, solution, solution.claimed.message)


@contextmanager
def _show(progress: bool | None, total: int) -> Iterator[Tell]:
    """A bar over all runs, and a line for each that is under way."""
    console = Console(stderr=True, force_terminal=progress or None)
    columns = (
        TextColumn("{task.description:<36}"), BarColumn(), MofNCompleteColumn(),
        TimeElapsedColumn(),
    )  # fmt: skip
    wanted = console.is_terminal if progress is None else progress
    with Bar(*columns, console=console, disable=not wanted, transient=True) as bar:
        runs = bar.add_task("comparing solvers", total=total)

        @contextmanager
        def tell(what: str) -> Iterator[Progress]:
            task = bar.add_task(what, total=None)
            yield lambda record: bar.update(
                task, description=f"{what}, iteration {record['iteration']}"
            )
            bar.remove_task(task)
            bar.advance(runs)

        yield tell
