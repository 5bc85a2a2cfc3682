"""One run of a study: a problem, a contestant and limits; and the key that identifies it."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from sdpdr.base.errors import StudyError
from sdpdr.lab.library.problem import Problem
from sdpdr.solvers.base import Solver
from sdpdr.solvers.registry import find

AUTO = "auto"


@dataclass(frozen=True)
class RunLimits:
    """Limits of every run.

    Attributes
    ----------
    time_limit : float, default 20
        Seconds for the solver.
    patience : float, default 10
        Additional seconds to build, compile, grade and end.
    memory_limit : int, default 2 GiB
        Bytes beyond those of a process that has imported everything.
    threads : int, default 1
    warmup : bool, default True
        Solve a tiny program first, so that loading the solver's code is not measured.
    """

    time_limit: float = 20.0
    patience: float = 10.0
    memory_limit: int = 2 * 2**30
    threads: int = 1
    warmup: bool = True


@dataclass(frozen=True)
class Contestant:
    """A solver, configured, in a form.

    Attributes
    ----------
    solver : str
        A name from ``sdpdr.solvers()``, ``"auto"``, or ``"module:Class"`` for one of your own.
    form : str
    options : mapping
        Fields of the solver's class, or the solver's own options by their own names.
    defaults : bool
        Leave tolerances at the solver's own defaults; the answer is graded all the same.
    label : str
        Name in tables; by default that of the solver.
    """

    solver: str
    form: str = AUTO
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: bool = False
    label: str = ""

    @property
    def name(self) -> str:
        """The label, or the name of the solver."""
        return self.label or self.solver.rpartition(":")[2].lower()

    def solver_class(self) -> type[Solver] | None:
        """The class of the solver; None for "auto".

        Raises
        ------
        UnknownNameError
            There is no such solver.
        StudyError
            The module cannot be imported, or holds no such solver.
        """
        if self.solver == AUTO:
            return None
        module, colon, name = self.solver.partition(":")
        return _imported(module, name) if colon else find(self.solver)

    def configured(self) -> Solver | str:
        """What `sdpdr.solve` takes as its solver."""
        cls = self.solver_class()
        if cls is None:
            return AUTO
        own = {f.name for f in fields(cls)}
        given = {name: x for name, x in self.options.items() if name in own}
        rest = {name: x for name, x in self.options.items() if name not in own}
        return cls(options=rest, **given, **({"defaults": True} if self.defaults else {}))

    def forms(self) -> tuple[str, ...]:
        """The forms that the solver takes."""
        cls = self.solver_class()
        return (AUTO,) if cls is None else cls.forms


@dataclass(frozen=True)
class Task:
    """A run, before it begins.

    Attributes
    ----------
    problem : Problem
    contestant : Contestant
    tol : float
    limits : RunLimits
    seed, repeat : int
    """

    problem: Problem
    contestant: Contestant
    tol: float
    limits: RunLimits
    seed: int = 0
    repeat: int = 0

    @property
    def key(self) -> str:
        """Digest of everything that identifies the run; versions and machines do not count.

        Examples
        --------
        >>> from sdpdr.library import find_card
        >>> problem = Problem.of_card(find_card("path-graph"))
        >>> task = Task(problem, Contestant("clarabel", "lmi"), 1e-6, RunLimits())
        >>> from dataclasses import replace
        >>> len(task.key), task.key == replace(task, repeat=1).key
        (16, False)
        """
        c, limits = self.contestant, self.limits
        content = [
            [self.problem.name, self.problem.variant, self.problem.digest],
            [c.name, c.solver, c.form, dict(c.options), c.defaults],
            [self.tol, self.seed, self.repeat],
            [limits.time_limit, limits.memory_limit, limits.threads, limits.warmup],
            [limits.patience],
        ]
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def identity(self) -> dict[str, Any]:
        """The columns of `sdpdr.lab.study.schema.IDENTITY`."""
        problem, limits = self.problem, self.limits
        return {
            "key": self.key,
            "problem": problem.name,
            "source": problem.source,
            "family": problem.family,
            "method": problem.method,
            "variant": problem.variant,
            "tags": " ".join(problem.tags),
            "solver": self.contestant.name,
            "form": self.contestant.form,
            "tol": self.tol,
            "seed": self.seed,
            "repeat": self.repeat,
            "time_limit": limits.time_limit,
            "memory_limit": limits.memory_limit,
            "threads": limits.threads,
        }


def _imported(module: str, name: str) -> type[Solver]:
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise StudyError(
            f"solver '{module}:{name}' cannot be imported ({error}). Its module must lie beside "
            "the study file, or where Python looks for modules."
        ) from None
    if not (isinstance(found, type) and issubclass(found, Solver)):
        raise StudyError(
            f"'{module}:{name}' is {found!r}; expected a class of sdpdr.solvers.Solver."
        )
    return found
