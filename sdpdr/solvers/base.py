"""The contract of a solver: options as fields, availability, what it accepts, and a run."""

from __future__ import annotations

import importlib.util
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

from sdpdr.base.deadline import seconds_of
from sdpdr.base.errors import (
    DataError,
    SolverLicenceError,
    SolverMissingError,
)
from sdpdr.base.keywords import ChecksKeywords
from sdpdr.base.packages import version_of
from sdpdr.base.rows import enumerated
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.tolerance import OPTIONS, TOLERANCES, Rule, check_options

Progress = Callable[[Mapping[str, Any]], None]
_Value = TypeVar("_Value")

FORMS: Mapping[str, str] = {
    "cvxpy": "the model as written, through cvxpy; no reductions",
    "gram": "a positive semidefinite Gram matrix on its face",
    "lmi": "the dual: multipliers with a matrix inequality",
    "chordal": "clique blocks of the Gram matrix",
    "chordal-lmi": "the dual: multipliers with a matrix inequality for every clique",
    "factor": "a low-rank factor K = R R^T",
}


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a run.

    Attributes
    ----------
    point : Point
        Empty if the solver found no point.
    verdict : Verdict
    claim : Claim
        In the solver's own words; ``claim.value`` in the minimisation sense of the program.
    seconds : mapping
        ``compile`` and ``solve``.
    history : tuple of mappings
    cpu : float, optional
        CPU seconds of the run, in this process or a worker; None if they were not measured.
    """

    point: Point
    verdict: Verdict
    claim: Claim
    seconds: Mapping[str, float] = field(default_factory=dict)
    history: tuple[Mapping[str, Any], ...] = ()
    cpu: float | None = None


@dataclass(frozen=True)
class Availability:
    """Whether a solver can run here.

    Attributes
    ----------
    installed, licensed : bool
    version : str
        Version of its package; empty if not installed.
    reason : str
        Why it cannot run, and what to do; empty if it can.
    """

    installed: bool
    licensed: bool
    version: str
    reason: str

    @property
    def usable(self) -> bool:
        """Installed and licensed."""
        return self.installed and self.licensed


@dataclass(frozen=True)
class Solver(ChecksKeywords, ABC):
    """A solver, configured: its fields are its options.

    Parameters
    ----------
    tol : float, default 1e-6
        Relative accuracy aimed at.
    time_limit : float, optional
        Seconds.
    max_iter : int, optional
    seed : int, default 0
    verbose : bool, default False
        Let the solver print its own log.
    options : mapping
        The solver's own options, by its own names; they win over the uniform ones.
    defaults : bool, default False
        Leave tolerances and limits of iterations to the solver's own defaults. The answer is graded
        at ``tol`` all the same.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    module: ClassVar[str]
    extra: ClassVar[str | None] = None
    # Other packages through which it is called.
    needs: ClassVar[tuple[str, ...]] = ()
    forms: ClassVar[tuple[str, ...]] = ()
    licence: ClassVar[str] = ""
    obeys_time_limit: ClassVar[bool] = True
    takes_start: ClassVar[bool] = False
    # Whether a second solve in a process is as good as the first.
    warms_up: ClassVar[bool] = True
    # Whether it is foreign code that rarely or never checks the clock.
    is_native: ClassVar[bool] = False
    # Whether it may end the process that it runs in, and so never runs in that of the caller.
    is_dangerous: ClassVar[bool] = False
    # Whether "auto" does not consider it.
    by_name_only: ClassVar[bool] = False
    # Whether "auto" tries it nevertheless if all others failed on a small program.
    is_last_resort: ClassVar[bool] = False
    # Whether it solves programs of one kind only, and refuses all others.
    is_special: ClassVar[bool] = False
    # How a tolerance becomes its options; None for the entry of the table for it or its base class.
    rule: ClassVar[Rule | None] = None
    # Its own names of the limits that it respects, and ours: "max_iter" or "time_limit".
    limits: ClassVar[Mapping[str, str]] = {}
    # Whether it needs the program as it is stored, since reductions round.
    as_stored: ClassVar[bool] = False

    tol: float = 1e-6
    time_limit: float | None = None
    max_iter: int | None = None
    seed: int = 0
    verbose: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: bool = False

    def __post_init__(self) -> None:
        options = {name: getattr(self, name) for name in OPTIONS}
        if self.max_iter is None:  # without it there is no limit
            del options["max_iter"]
        check_options(options)
        seconds = seconds_of(self.time_limit)
        object.__setattr__(self, "time_limit", seconds)

    @classmethod
    def availability(cls) -> Availability:
        """Whether it can run here.

        Native code, which may crash, is imported only to check a licence.
        """
        wanted = f'"sdpdr[{cls.extra}]"' if cls.extra else cls.package
        needed = {cls.module: (cls.package, wanted)} | {name: (name, name) for name in cls.needs}
        for module, (package, wanted) in needed.items():
            if importlib.util.find_spec(module) is None:
                words = f"package {package!r} is missing: pip install {wanted}"
                return Availability(False, False, "", words)
        problem = cls.licence_problem()
        return Availability(True, problem is None, version_of(cls.package), problem or "")

    @classmethod
    def licence_problem(cls) -> str | None:
        """Why there is no licence; None if there is one or none is needed."""
        return None

    @classmethod
    def require(cls) -> None:
        """Raise unless the solver can run here.

        Raises
        ------
        SolverMissingError, SolverLicenceError
        """
        found = cls.availability()
        if not found.installed:
            raise SolverMissingError(f"solver {cls.name!r} cannot run: {found.reason}")
        if not found.licensed:
            raise SolverLicenceError(
                f"solver {cls.name!r} is installed ({found.version}) but has no licence: "
                f"{found.reason} Any other solver in sdpdr.solvers() will do."
            )

    def tolerances(self) -> dict[str, float]:
        """The tolerance in the solver's own names; empty if it keeps its defaults.

        Raises
        ------
        DataError
            Its class has no ``rule``, and neither the class nor a base class is in the table.
        """
        if self.defaults:
            return {}
        rule = self.known_rule()
        if rule is None:
            raise DataError(
                f"solver {self.name!r} has no rule that turns tol into options: give its class a "
                "rule = Rule(options, divisor, own), from sdpdr.solvers."
            )
        return rule.settings(self.tol)

    @classmethod
    def known_rule(cls) -> Rule | None:
        """The rule of its class, else that of the table for the class or a base class."""
        names = [kind.__dict__.get("name", "") for kind in cls.__mro__]
        known = (TOLERANCES[name] for name in names if name in TOLERANCES)
        return cls.rule if cls.rule is not None else next(known, None)

    def known_options(self, defaults: Mapping[str, Any]) -> dict[str, Any]:
        """The options of a solver of ours: what it was given, uniform ones, and its defaults.

        Parameters
        ----------
        defaults : mapping
            All of its options, with their defaults.

        Raises
        ------
        DataError
            An option that was passed is none of these.
        """
        for name in self.options:
            if name not in defaults:
                known = enumerated(map(repr, defaults))
                raise DataError(f"solver {self.name!r} has no option {name!r}; it has {known}.")
        return {**defaults, **self.native_options(), **self.options}

    def native_options(self) -> dict[str, Any]:
        """The uniform options in the solver's own names."""
        limits = {own: getattr(self, ours) for own, ours in self.limits.items()}
        return self.tolerances() | {own: x for own, x in limits.items() if x is not None}

    def accepts(self, sdp: SDP) -> str | None:
        """None if it can take the program, else the reason why not."""
        return None

    @abstractmethod
    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve a program; a failure of the solver is an outcome and never an exception.

        If ``takes_start`` is true, it also takes ``start``, a `Point` to begin from. Its missing
        parts are chosen as without a start.
        """


def printing(line: str, progress: Progress | None) -> Progress:
    """A callback that prints a line for every record, and passes the record to ``progress``."""

    def follow(record: Mapping[str, Any]) -> None:
        sys.stdout.write(line.format(**record) + "\n")
        if progress is not None:
            progress(record)

    return follow


def configured(solver: object) -> bool:
    """Whether a solver is a configured object, rather than a name."""
    return isinstance(solver, Solver)


def unless_configured(solver: object, value: _Value) -> _Value | None:
    """The value of a uniform option for a solver given by name; None for a configured one.

    Examples
    --------
    >>> unless_configured("clarabel", 1e-8)
    1e-08
    """
    return None if configured(solver) else value


def tolerance(solver: object, tol: float | None) -> float:
    """The requested tolerance: as given, else of the configured solver, else 1e-6.

    Examples
    --------
    >>> tolerance("clarabel", None), tolerance("clarabel", 1e-3)
    (1e-06, 0.001)
    """
    if tol is not None:
        return tol
    return solver.tol if isinstance(solver, Solver) else Solver.tol
