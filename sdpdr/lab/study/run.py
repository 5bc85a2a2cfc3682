"""Carry out the missing runs of a study in shuffled order, and keep each record as a run ends."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from sdpdr.base.checks import choice
from sdpdr.base.errors import DataError, ResultsError
from sdpdr.base.files import exit_on_signals
from sdpdr.base.progress import has_terminal
from sdpdr.lab.study.executors import Done, Record, on_cluster, on_this_machine
from sdpdr.lab.study.results import SUFFIX, Results
from sdpdr.lab.study.studyfile import Study
from sdpdr.lab.study.task import Task


def run_study(
    study: Study | str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    scheduler: str | None = None,
    jobs: int | None = None,
    rerun: Collection[str] = (),
    progress: bool | None = None,
) -> Path:
    """Carry out all runs of a study that are not yet in its results.

    Every run has a process of its own, with limits of time and memory: a solver that crashes,
    hangs or is killed makes a record like any other. Interrupt the study at any moment and call
    this again; it goes on where it stopped.

    Parameters
    ----------
    study : Study, str or Path
        Or the path of a study file.
    path : str or Path, optional
        Path of the results, ``*.jsonl``; by default the name of the study, in this folder.
    scheduler : str, optional
        Address of a Dask scheduler, such as ``"tcp://10.0.0.1:8786"``, whose workers carry out the
        runs. Default: this machine.
    jobs : int, optional
        Runs at a time on this machine, instead of the study's number.
    rerun : collection of str, default ()
        Names of solvers whose runs are repeated, after an upgrade for instance; their new records
        replace the old ones.
    progress : bool, optional
        Show progress on the error output; by default on a terminal only.

    Returns
    -------
    Path
        Path of the results, for `sdpdr.lab.study.results.read_results`.

    Raises
    ------
    StudyError, FileFormatError, CardError, UnknownNameError
        If the study file cannot be used.
    ResultsLockedError, ResultsDamagedError, ResultsError
        If the results cannot be used.
    SchedulerError, PackageMissingError
    """
    study = study if isinstance(study, Study) else Study.load(study)
    if jobs is not None and jobs < 1:
        raise DataError(f"jobs must be at least 1; it is {jobs}.")
    path = results_of(study) if path is None else Path(path)
    tasks = shuffled(study)
    names = {contestant.name for contestant in study.contestants}
    for name in rerun:
        choice("solver of the study", name, names)
    with Results(path) as results, exit_on_signals():
        _begin(results, study, tasks, scheduler, jobs)
        settled = results.settled()
        missing = [t for t in tasks if t.key not in settled or t.contestant.name in rerun]
        done = len(tasks) - len(missing)
        with progress_bar(progress, f"study {study.name}", len(tasks), done) as advance:
            if missing and scheduler is not None:
                _collect(on_cluster(missing, scheduler, study.folder), results, advance)
            elif missing:
                ended = on_this_machine(missing, jobs or study.jobs, study.limits.threads)
                _collect(ended, results, advance)
        results.set_fact("finished", _now())
    return path


def results_of(study: Study) -> Path:
    """Return the default path of the results of a study, in this folder."""
    return Path(f"{study.name}{SUFFIX}")


def shuffled(study: Study) -> list[Task]:
    """Return all runs in an order that is the same each time."""
    tasks = study.tasks()
    return [tasks[place] for place in np.random.default_rng(0).permutation(len(tasks))]


def _begin(
    results: Results, study: Study, tasks: Sequence[Task], scheduler: str | None, jobs: int | None
) -> None:
    """Record the definition of the study; refuse the results of another."""
    other = results.fact("name", study.name)
    if other != study.name:
        raise ResultsError(
            f"results {results.path} are those of the study {other!r}, not of {study.name!r}. "
            "Give another file with --out."
        )
    is_default = results.path == results_of(study)
    out = "" if is_default else f" --out {quote(str(results.path))}"
    settings = study.settings() | ({"jobs": jobs} if jobs else {})
    if scheduler is not None:
        settings |= {"jobs": "as many as the cluster has"}
    for name, content in {
        "name": study.name,
        "title": study.title,
        "question": study.question,
        "command": f"sdpdr study run {quote(study.called or study.name)}{out}",
        "text": study.text,
        "settings": settings,
        "keys": [task.key for task in tasks],
        "started": results.fact("started", _now()),
        "finished": None,
    }.items():
        results.set_fact(name, content)


def _collect(
    runs: Generator[Done, None, None], results: Results, advance: Callable[[Record], None]
) -> None:
    """Add the records as their runs end, with descriptions of new machines."""
    with closing(runs):
        for record, environment in runs:
            digest = record.get("environment")
            if digest and digest not in results.environments():
                results.add_environment(digest, environment)
            results.add(record)
            advance(record)


@contextmanager
def progress_bar(
    progress: bool | None, title: str, total: int, done: int = 0
) -> Iterator[Callable[[Record], None]]:
    """Show a bar with the remaining time and the number of runs by outcome; yield its update."""
    console = Console(stderr=True, force_terminal=progress or None)
    wanted = has_terminal() if progress is None else progress
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[ends]}"),
    )  # fmt: skip
    ends: Counter[str] = Counter()
    with Bar(*columns, console=console, disable=not wanted, transient=True) as bar:
        task = bar.add_task(title, total=total, completed=done, ends="")

        def advance(record: Record) -> None:
            ends["solved" if record["solved"] else record["outcome"].lower().replace("_", " ")] += 1
            words = ", ".join(f"{count} {end}" for end, count in ends.most_common(4))
            bar.update(task, advance=1, ends=words)

        yield advance


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
