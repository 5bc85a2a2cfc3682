"""Study files: problems, solvers, forms, tolerances and seeds, and the runs that they define."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatch
from glob import glob
from math import inf
from pathlib import Path
from typing import Any

from sdpdr.base.errors import FileFormatError, SdpdrError
from sdpdr.base.files import has_ending
from sdpdr.lab.library.problem import (
    families,
    find_card,
    find_family,
    library,
    on_shelf,
    shelf,
)
from sdpdr.lab.library.vocabulary import TomlTable, parsed_toml, read_toml
from sdpdr.lab.study.problem import Problem, read_optimal_values
from sdpdr.lab.study.python_problems import python_problems
from sdpdr.lab.study.task import AUTO, Contestant, RunLimits, Task

_UNITS = {"MB": 10**6, "GB": 10**9, "MiB": 2**20, "GiB": 2**30}


@dataclass(frozen=True, eq=False)
class Study:
    """A study, read from its file.

    Attributes
    ----------
    name : str
        Name of the file, without its suffix.
    title, question : str
        The question is the one that the study answers.
    problems, contestants : tuples
        A contestant is a solver in a form.
    tols : tuple of float
    seeds : tuple of int
    repeats : int
    jobs : int
        Runs at a time on one machine.
    limits : object
        ``time_limit`` and others of every run.
    text, folder : str
        The file, and its folder, where modules can hold solvers and problems.
    called : str
        Name for the command line: that of its file, or that under which it is shipped.

    Examples
    --------
    >>> from sdpdr.lab.study.studyfile import Study
    >>> study = Study.read('''
    ... [about]
    ... title = "Two solvers on a path"
    ... [problems]
    ... cards = ["path-graph"]
    ... [[solvers]]
    ... name = "clarabel"
    ... forms = ["gram", "lmi"]
    ... ''', "small")
    >>> [(task.contestant.name, task.contestant.form) for task in study.tasks()]
    [('clarabel', 'gram'), ('clarabel', 'lmi')]
    """

    name: str
    title: str
    question: str
    problems: tuple[Problem, ...]
    contestants: tuple[Contestant, ...]
    tols: tuple[float, ...]
    seeds: tuple[int, ...]
    repeats: int
    jobs: int
    limits: RunLimits
    text: str = field(repr=False, default="")
    folder: str = ""
    called: str = ""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Study:
        """Read a study file; modules beside it can hold solvers of your own.

        Raises
        ------
        FileFormatError
            It cannot be read, or is not TOML.
        StudyError
            A key is missing, unknown, or has a value that is not allowed.
        CardError, UnknownNameError
            A problem that it names cannot be read, or is not known.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise FileFormatError(
                f"study {path} cannot be read: {why}. Name a TOML file, or one of `sdpdr study "
                "list`."
            ) from None
        folder = str(path.resolve().parent)
        if folder not in sys.path:
            sys.path.append(folder)
        study = cls.read(text, path.stem, path.parent)
        return replace(study, folder=folder, called=path.name)

    @classmethod
    def read(cls, text: str, name: str, folder: str | os.PathLike[str] = ".") -> Study:
        """Read the text of a study file; paths in it begin in a folder."""
        table = parsed_toml(text, Path(name), "study")
        table.allow("about", "problems", "variants", "solvers", "run")
        about, run = table.table("about"), table.table("run", optional=True)
        about.allow("title", "question")
        run.allow("tols", "seeds", "repeats", "jobs", *_LIMITS)
        tols = run.list_of("tols", what := "numbers above 0", (int, float), [1e-6])
        if not all(0.0 < tol < inf for tol in tols) or len(set(tols)) < len(tols):
            raise run.error("tols", f"expected {what}, each once, got {tols}")
        seeds = run.list_of("seeds", what := "whole numbers from 0 on", int, [0])
        if not all(0 <= seed < 2**63 for seed in seeds) or len(set(seeds)) < len(seeds):
            raise run.error("seeds", f"expected {what}, each once, got {seeds}")
        problems = tuple(_problems(table, Path(folder)))
        if not problems:
            raise table.error("problems", "no problem is left. Ask for more, or exclude fewer")
        return cls(
            name=name,
            title=about.text("title"),
            question=about.text("question", about.text("title")),
            problems=problems,
            contestants=tuple(_contestants(table)),
            tols=tuple(map(float, tols)),
            seeds=tuple(seeds),
            repeats=run.count("repeats", 1),
            jobs=run.count("jobs", 1),
            limits=_limits(run),
            text=text,
        )

    def tasks(self) -> list[Task]:
        """Return all runs, in the order of the file."""
        return [
            Task(problem, contestant, tol, self.limits, seed, repeat)
            for problem in self.problems
            for contestant in self.contestants
            for tol in self.tols
            for seed in self.seeds
            for repeat in range(self.repeats)
        ]

    def settings(self) -> dict[str, Any]:
        """Return the limits and numbers that all runs share, for a report."""
        return asdict(self.limits) | {
            "repeats": self.repeats,
            "jobs": self.jobs,
            "tols": list(self.tols),
            "seeds": list(self.seeds),
        }


_LIMITS = tuple(f.name for f in fields(RunLimits))


# -- problems -----------------------------------------------------------------------------------


def _problems(table: TomlTable, folder: Path) -> Iterator[Problem]:
    """The requested problems, each in every variant."""
    requested = table.table("problems")
    requested.allow("cards", "families", "files", "optimal", "python")
    chosen: dict[str, Problem] = {}
    for problem in (
        *_cards(requested, folder),
        *_members(requested),
        *_files(requested, folder),
        *_made(requested, folder),
    ):
        if not problem.is_program:
            continue
        if chosen.setdefault(problem.name, problem).digest != problem.digest:
            raise requested.error("cards", f"two problems are called {problem.name!r}; rename one")
    variants = list(_variants(table))
    for problem in chosen.values():
        yield from (
            problem.varied(name, changes) if name else problem for name, changes in variants
        )


def _cards(requested: TomlTable, folder: Path) -> Iterator[Problem]:
    """Cards by name, pattern, or path."""
    named = requested.texts("cards", [])
    cards = library() if named else {}
    for pattern in named:
        if has_ending(pattern, ".toml"):
            found = [find_card(str(folder / pattern))]
        else:
            found = [card for name, card in cards.items() if fnmatch(name, pattern)]
        if not found:
            raise requested.error("cards", f"no card is called {pattern!r}; see `sdpdr list`")
        yield from map(Problem.of_card, found)


def _members(requested: TomlTable) -> Iterator[Problem]:
    """Members of families, at the requested or suggested sizes."""
    for one in requested.tables("families"):
        one.allow("name", "sizes")
        name = one.choice("name", tuple(families()))
        family = find_family(name)
        for size in one.list_of("sizes", "whole numbers", int, list(family.sizes)):
            yield Problem.of_card(family.at(size), name)


def _files(requested: TomlTable, folder: Path) -> Iterator[Problem]:
    """Programs in files, by patterns of paths; ``$NAME`` is a variable of the environment."""
    patterns = requested.texts("files", [])
    optimal = {}
    if "optimal" in requested:
        optimal = read_optimal_values(
            _place(requested, "optimal", requested.text("optimal"), folder)
        )
    for pattern in patterns:
        place = _place(requested, "files", pattern, folder)
        found = sorted(map(Path, glob(str(place))))
        if not found:
            raise requested.error("files", f"there is no file {place}")
        for path in found:
            problem = Problem.of_file(path)
            yield Problem.of_file(path, optimal.get(problem.name, ""))


def _made(requested: TomlTable, folder: Path) -> Iterator[Problem]:
    """Problems that Python makes: ``FILE.py:NAME``, relative to the study file."""
    for entry in requested.texts("python", []):
        file, colon, name = entry.rpartition(":")
        if not colon or not has_ending(file, ".py") or not name.isidentifier():
            raise requested.error(
                "python",
                f"expected FILE.py:NAME, such as 'mine.py:problems', where NAME is a function or "
                f"a list in the file, got {entry!r}",
            )
        yield from python_problems(_place(requested, "python", file, folder).resolve(), name)


def _place(requested: TomlTable, key: str, text: str, folder: Path) -> Path:
    place = os.path.expandvars(text)
    if "$" in place:
        raise requested.error(key, f"{text!r} names a variable of the environment that is not set")
    return folder / place


def _variants(table: TomlTable) -> Iterable[tuple[str, Mapping[str, Any]]]:
    found: list[tuple[str, Mapping[str, Any]]] = []
    for one in table.tables("variants"):
        name = one.text("variant")
        if name in [known for known, _ in found]:
            raise one.error("variant", f"{name!r} is there twice")
        found.append((name, {key: x for key, x in one.content.items() if key != "variant"}))
    return found or [("", {})]


# -- solvers ------------------------------------------------------------------------------------


def _contestants(table: TomlTable) -> Iterator[Contestant]:
    """Every solver in every form that it takes, or in the requested ones."""
    requested = table.tables("solvers")
    if not requested:
        raise table.error("solvers", "missing: write [[solvers]] with a name for each solver")
    seen = set()
    for one in requested:
        one.allow("name", "forms", "options", "defaults", "label")
        base = Contestant(
            one.text("name"),
            options=one.table("options", optional=True).content,
            defaults=one.truth("defaults", False),
            label=one.text("label", " ").strip() if "label" in one else "",
        )
        try:
            base.configured()
        except (SdpdrError, TypeError) as error:
            raise one.error("name", str(error).rstrip(".")) from error
        allowed = tuple(dict.fromkeys((AUTO, *base.forms())))
        forms = one.texts("forms", list(base.forms()))
        if not forms:
            raise one.error("forms", "is empty: leave it out for all, or name some")
        for form in forms:
            if form not in allowed:
                words = f"{base.name} does not take {form!r}. Allowed: {', '.join(allowed)}"
                raise one.error("forms", words)
            contestant = replace(base, form=form)
            if (contestant.name, form) in seen:
                raise one.error("name", f"{contestant.name!r} in form {form!r} is there twice")
            seen.add((contestant.name, form))
            yield contestant


# -- limits -------------------------------------------------------------------------------------


def _limits(run: TomlTable) -> RunLimits:
    plain = RunLimits()
    return RunLimits(
        time_limit=run.positive("time_limit", plain.time_limit),
        patience=run.positive("patience", plain.patience),
        memory_limit=_bytes(run) if "memory_limit" in run else plain.memory_limit,
        threads=run.count("threads", plain.threads),
        warmup=run.truth("warmup", plain.warmup),
    )


def _bytes(run: TomlTable) -> int:
    """An amount of memory with its unit."""
    text = run.text("memory_limit")
    number, _, unit = text.partition(" ")
    try:
        amount = float(number) * _UNITS[unit]
    except (ValueError, KeyError):
        amount = 0.0
    if not 0.0 < amount < inf:
        raise run.error("memory_limit", f"expected an amount such as '2 GB', got {text!r}")
    return int(amount)


def shipped() -> dict[str, str]:
    """Titles of the studies that come with the package, by name."""
    return {
        name: read_toml(path, "study").table("about").text("title")
        for name, path in shelf("studies").items()
    }


def find_study(name: str) -> Study:
    """A study by its name, or any other by the path of its file."""
    study = Study.load(on_shelf("study", name, "studies"))
    return study if has_ending(name, ".toml") else replace(study, called=name)
