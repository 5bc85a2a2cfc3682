"""Baselines: record what the package answers today, and compare it with what it answers later.

    python benchmarks/baselines.py record --out FILE [--only cards,textbook] [--names WORD]
    python benchmarks/baselines.py compare OLD NEW
    python benchmarks/baselines.py replay [--out FILE]

``benchmarks/baselines/README.md`` describes the files and the sections. Every row runs in a process
of its own under a limit of CPU seconds. A recording that was stopped goes on where it was: rows
that the file has are not run again.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import pkgutil
import platform
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

# One thread: CPU seconds of several are not comparable. Set before NumPy is imported.
for _threads in ("OMP_NUM_THREADS", "RAYON_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

import baselines_compare  # noqa: E402
import baselines_estimators as estimators  # noqa: E402
import baselines_programs as programs  # noqa: E402
import baselines_systems as systems  # noqa: E402
import replay_proofs  # noqa: E402
from baselines_compare import CLASSES, FAILING  # noqa: E402
from journal import processor_seconds  # noqa: E402

import sdpdr  # noqa: E402

HERE = Path(__file__).parent / "baselines"
# Above what rows with a limit of the package's own take, so that these end by themselves.
CPU_LIMIT = 180
ACCEPTED = HERE / "accepted.tsv"
# A process that sleeps uses no CPU: seconds by the clock after which a row is ended, over the limit
# of CPU seconds. Generous, because other processes may have most of the processor.
_CLOCK_RATIO = 15
_PACKAGES = (
    "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "cvxopt", "sdpa-python",
)  # fmt: skip


@dataclass(frozen=True)
class Section:
    """A part of a baseline.

    Attributes
    ----------
    names : callable
        Lists the names of the rows.
    run : callable
        Makes a row from its name.
    """

    names: Callable[[], Iterable[str]]
    run: Callable[[str], dict[str, Any]]


SECTIONS: dict[str, Section] = {
    "cards": Section(programs.card_names, programs.card),
    "textbook": Section(programs.textbook_names, programs.textbook),
    "prototypes": Section(programs.prototype_names, programs.prototype),
    "estimators": Section(estimators.estimator_names, estimators.estimator),
    "systems": Section(systems.system_names, systems.system),
    "sdplib": Section(programs.sdplib_names, programs.sdplib),
    "proofs": Section(replay_proofs.records, replay_proofs.replay),
}
# The corpus says itself what was proved: `replay` compares with that.
RECORDED = [name for name in SECTIONS if name != "proofs"]


# -- files -----------------------------------------------------------------------------------------


def read(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a baseline, without the line that describes it."""
    return [line for line in _lines(path) if "section" in line]


def commit_of(path: Path) -> str | None:
    """Return the commit at which a baseline was recorded; None if there is no file."""
    return next((line["about"]["commit"] for line in _lines(path) if "about" in line), None)


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return [json.loads(line) for line in lines]


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a baseline, one row a line, sorted by section and name; complete or not at all."""
    ordered = sorted(rows, key=lambda row: (row["section"], row["name"]))
    lines = [json.dumps(row, ensure_ascii=False) for row in ({"about": about()}, *ordered)]
    beside = path.with_name(f"{path.name}.part")
    beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside.replace(path)


@cache
def about() -> dict[str, Any]:
    """Return what a recording depends on: the last commit of the package, and versions."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=HERE.parents[1], capture_output=True, text=True)
        return done.stdout.strip()

    changed = "+" if git("status", "--porcelain", "--", "sdpdr") else ""
    return {
        "commit": git("log", "-1", "--format=%h", "--abbrev=8", "--", "sdpdr") + changed,
        "python": platform.python_version(),
        "machine": platform.machine(),
        **dict(sorted(_versions())),
    }


def _versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            yield name, metadata.version(name)


# -- one row ---------------------------------------------------------------------------------------


def measure(section: str, name: str, cpu_limit: int = CPU_LIMIT) -> dict[str, Any]:
    """Make one row in a process of its own.

    The limit is ``RLIMIT_CPU``: it holds for each process of the row, the row's own and the worker
    processes that the package starts.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(theirs, section, name, cpu_limit))
    process.start()
    theirs.close()
    found: dict[str, Any] = {}
    if ours.poll(_CLOCK_RATIO * cpu_limit):
        with contextlib.suppress(EOFError):
            found = ours.recv()
    # The group holds the workers that the row has started.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.join()
    if not found:
        limited = -process.exitcode in (signal.SIGXCPU, signal.SIGKILL)
        found = {
            "status": "CPU_LIMIT" if limited else "CRASHED",
            "clock": limited,
            "note": "ended by the limit" if limited else f"exit code {process.exitcode}",
        }
    return {"section": section, "name": name, **found}


def _child(line: Any, section: str, name: str, cpu_limit: int) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit + 5))
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    warnings.simplefilter("ignore")
    # Solvers that are programs, such as csdp, would make rows depend on what a machine has.
    os.environ["PATH"] = str(Path(sys.executable).parent)
    before = processor_seconds()
    try:
        found = SECTIONS[section].run(name)
    except Exception as error:
        # Some cards expect an error: its name is the row's status.
        found = {"status": type(error).__name__, "note": _first_line(error)}
    found["seconds"] = round(processor_seconds() - before, 2)
    line.send(found)


def _first_line(error: Exception) -> str:
    words = (str(error).strip() or traceback.format_exc()).splitlines()[0]
    return words[:200]


# -- commands --------------------------------------------------------------------------------------


def load() -> None:
    """Import all that rows may need, so that no row pays for it."""
    for name in ("cvxpy", *(m.name for m in pkgutil.walk_packages(sdpdr.__path__, "sdpdr."))):
        # Some need packages that are not installed; `__main__` would run.
        if not name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def record(path: Path, sections: Iterable[str], word: str, cpu_limit: int) -> None:
    """Record the rows that the file does not have yet."""
    if commit_of(path) not in (None, about()["commit"]):
        sys.exit(
            f"{path} was recorded at {commit_of(path)}, and this is {about()['commit']}. "
            "Record into another file."
        )
    load()
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = read(path)
    done = {(row["section"], row["name"]) for row in rows}
    for section in sections:
        names = [n for n in SECTIONS[section].names() if word in n and (section, n) not in done]
        begin = time.monotonic()
        for name in names:
            rows.append(measure(section, name, cpu_limit))
            write(path, rows)
            row = rows[-1]
            print(f"{section:<12}{name}: {row['status']}, {row.get('seconds', '-')} s", flush=True)
        print(f"{section}: {len(names)} rows in {time.monotonic() - begin:.0f} s", flush=True)


def replay(path: Path, word: str, cpu_limit: int) -> int:
    """Prove all points of the corpus anew, and compare with what was proved when recorded."""
    record(path, ["proofs"], word, cpu_limit)
    names = [name for name in replay_proofs.records() if word in name]
    before = [{"section": "proofs", "name": n, **replay_proofs.recorded(n)} for n in names]
    return show(before, [row for row in read(path) if word in row["name"]])


def accepted(path: Path = ACCEPTED) -> dict[tuple[str, str], str]:
    """Read the losses that are accepted: section, name and reason, separated by tabs."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    cells = [line.split("\t") for line in lines if line.strip() and not line.startswith("#")]
    return {(section, name): reason for section, name, reason in cells}


def show(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> int:
    """Print what changed, the most serious first, and return the exit code."""
    changes = baselines_compare.compare(before, after, accepted())
    for change in changes:
        print(change)
    counts = {kind: sum(c.kind == kind for c in changes) for kind in CLASSES}
    summary = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    recorded = {row["section"] for row in after}
    print(f"{len(after)} rows of {', '.join(sorted(recorded))}: {summary or 'nothing changed'}.")
    for section in sorted({row["section"] for row in before} - recorded):
        print(f"Not recorded: {section}.")
    failed = sum(change.fails for change in changes)
    if failed:
        print(f"{failed} changes of the classes {', '.join(sorted(FAILING))}.")
    return int(failed > 0)


def compare(old: Path, new: Path, word: str) -> int:
    """Compare two files, or the rows whose names contain a word."""
    for path in (old, new):
        if not read(path):
            print(f"{path} has no rows. Record it first.")
            return 2
    before, after = ([row for row in read(path) if word in row["name"]] for path in (old, new))
    return show(before, after)


def main(arguments: list[str] | None = None) -> int:
    """Run a command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("record", help="record rows")
    command.add_argument("--out", type=Path, required=True)
    command.add_argument("--only", default=",".join(RECORDED), help="sections, comma-separated")
    command.add_argument("--names", default="", help="only rows whose names contain this")
    command.add_argument("--cpu", type=int, default=CPU_LIMIT, help="CPU seconds of a process")
    command = commands.add_parser("compare", help="print what changed; exit code 1 on a loss")
    command.add_argument("old", type=Path)
    command.add_argument("new", type=Path)
    command.add_argument("--names", default="", help="only rows whose names contain this")
    command = commands.add_parser("replay", help="prove the recorded points anew, and compare")
    command.add_argument("--out", type=Path, default=Path("out/replay.jsonl"))
    command.add_argument("--names", default="", help="only points whose names contain this")
    command.add_argument("--cpu", type=int, default=CPU_LIMIT, help="CPU seconds of a proof")
    given = parser.parse_args(arguments)
    if given.command == "compare":
        return compare(given.old, given.new, given.names)
    if given.command == "replay":
        return replay(given.out, given.names, given.cpu)
    sections = given.only.split(",")
    if unknown := [section for section in sections if section not in SECTIONS]:
        parser.error(f"--only: unknown {', '.join(unknown)}; known are {', '.join(SECTIONS)}")
    record(given.out, sections, given.names, given.cpu)
    return 0


if __name__ == "__main__":
    sys.exit(main())
