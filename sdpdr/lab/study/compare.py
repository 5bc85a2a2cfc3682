"""One program through several solvers and forms, each run as in a study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import pandas as pd
from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from sdpdr.base.checks import choice
from sdpdr.lab.study.executors import on_this_machine
from sdpdr.lab.study.outcomes import outcome_cells
from sdpdr.lab.study.page import Cell, show
from sdpdr.lab.study.problem import Problem
from sdpdr.lab.study.run import progress_bar
from sdpdr.lab.study.schema import converted, frame_of
from sdpdr.lab.study.task import Contestant, RunLimits, Task
from sdpdr.model import Model
from sdpdr.program import SDP
from sdpdr.solvers.base import FORMS
from sdpdr.solvers.registry import SOLVERS

_COLOURS = {"good": "green", "fair": "yellow", "bad": "red", "soft": "dim"}


@dataclass(frozen=True, eq=False)
class _GivenProblem(Problem):
    """A program that is passed as an object."""

    program: Model | SDP | None = None

    method = "python"
    digest = ""

    def build(self) -> Model | SDP:
        assert self.program is not None
        return self.program


def compare(
    program: Model | SDP,
    solvers: Sequence[str | Contestant] | None = None,
    forms: Sequence[str] | None = None,
    *,
    tol: float = 1e-6,
    time_limit: float = 20.0,
    jobs: int = 1,
    progress: bool | None = None,
) -> pd.DataFrame:
    """Run a program through every solver, in each form that it takes.

    Each run has a process of its own, as in a study, so that a solver that crashes or hangs is a
    record as well.

    Parameters
    ----------
    program : Model or SDP
    solvers : sequence of str or Contestant, optional
        Names from ``sdpdr.solvers()``, or contestants with options; default: all, including those
        that cannot run here.
    forms : sequence of str, optional
        Default: all. A pair of solver and form that does not exist is left out.
    tol : float, default 1e-6
        Requested relative gap.
    time_limit : float, default 20
        Seconds for each run.
    jobs : int, default 1
        Runs at a time.
    progress : bool, optional
        Show a bar on the error output; by default on a terminal only.

    Returns
    -------
    DataFrame
        A record for each run, with the columns of `sdpdr.lab.study.schema.COLUMNS`. Outcome, value,
        bound and gap are verified by us, whatever the solver claims.

    Raises
    ------
    UnknownNameError
        For an unknown solver or form.
    PackageMissingError
        ``psutil`` is not installed.

    Examples
    --------
    >>> from sdpdr.lab.study.compare import compare
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> runs = compare(model, ["lowrank", "clarabel"], ["factor", "lmi"])
    >>> runs[["solver", "form", "certified"]].values.tolist()
    [['clarabel', 'lmi', True], ['lowrank', 'factor', True]]
    """
    for form in forms or ():
        choice("form", form, FORMS)
    problem = _GivenProblem(program.name or "program", "python", program=program)
    limits = RunLimits(time_limit)
    given = list(SOLVERS) if solvers is None else solvers
    tasks = [Task(problem, one, tol, limits) for one in _contestants(given, forms)]
    with (
        progress_bar(progress, "comparing solvers", len(tasks)) as advance,
        closing(on_this_machine(tasks, jobs, limits.threads)) as runs,
    ):
        records = []
        for record, _ in runs:
            records.append(converted(record))
            advance(record)
    return frame_of(records)


def _contestants(
    solvers: Sequence[str | Contestant], forms: Sequence[str] | None
) -> Iterator[Contestant]:
    """Every solver in each of its forms."""
    for solver in solvers:
        base = Contestant(solver) if isinstance(solver, str) else solver
        yield from (
            replace(base, form=form) for form in base.forms() if forms is None or form in forms
        )


def comparison_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the records of a comparison as a table of a page."""
    return pd.DataFrame(
        {
            **{name: runs[name] for name in ("solver", "form", "claimed")},
            "verified": outcome_cells(runs),
            **{name: runs[name] for name in ("value", "bound", "gap")},
            "worst error": runs["worst"],
            "seconds": runs["total"],
            "message": runs["message"],
        }
    )


def terminal_table(frame: pd.DataFrame) -> RichTable:
    """Return a frame of values or `sdpdr.lab.study.page.Cell` as a table for a terminal."""
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in frame:
        table.add_column(title, overflow="fold")
    for cells in frame.itertuples(index=False, name=None):
        tones = [cell.tone if isinstance(cell, Cell) else "" for cell in cells]
        texts = zip(map(show, cells, frame), tones, strict=True)
        table.add_row(*(Text(text, _COLOURS.get(tone, "")) for text, tone in texts))
    return table
