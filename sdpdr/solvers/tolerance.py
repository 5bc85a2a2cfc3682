"""Types of common options, and one tolerance translated for every solver.

A solver that is not of this package carries a `Rule` of its own, as the ``rule`` of its class.

A user requests a relative gap and residuals as *we* measure them: on the program as it was
written, after the point has been lifted and repaired, with a bound that we prove. A solver measures
something else: residuals relative to norms of its own, on scaled data, and a gap between two values
of which neither is a bound. So each solver gets a fraction of the tolerance, the largest with which
our own measures meet it on programs that are not difficult. The guide's page on solvers shows the
table.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from sdpdr.base.deadline import seconds_of
from sdpdr.base.errors import DataError

TABLE = Path(__file__).with_name("tolerances.toml")
# The expected type of each option, in words and as a test.
OPTIONS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "tol": ("a positive number", lambda x: isinstance(x, Real) and 0.0 < float(x) < inf),
    "max_iter": ("a whole number of 0 or more", lambda x: isinstance(x, Integral) and int(x) >= 0),
    "seed": ("a whole number of 0 or more", lambda x: isinstance(x, Integral) and int(x) >= 0),
    "verbose": ("True or False", lambda x: isinstance(x, (bool, np.bool_))),
}


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that no solver could accept.

    Raises
    ------
    DataError
    """
    if "time_limit" in options:
        seconds_of(options["time_limit"])
    for option, (words, holds) in OPTIONS.items():
        if option in options and not holds(options[option]):
            raise DataError(f"{option} must be {words}; it is {options[option]!r}.")


@dataclass(frozen=True)
class Rule:
    """How the tolerance of a user becomes options of a solver.

    Parameters
    ----------
    options : tuple of str
        Its own names; all are given the same number.
    divisor : float
        The tolerance is divided by it.
    own : tuple of float
        Its default values of these options, or those that cvxpy sets.
    kind : str
        What the numbers mean to the solver.
    why : str
        The reason of the divisor.
    floor, ceiling : float
        Below the floor the solver stalls in rounding errors; above the ceiling its answer is too
        rough to be of use.

    Examples
    --------
    >>> from sdpdr.solvers import Rule
    >>> rule = Rule(("gaptol",), 10.0, (1e-6,), floor=1e-8)
    >>> rule.settings(1e-6), rule.settings(1e-9)
    ({'gaptol': 1e-07}, {'gaptol': 1e-08})
    """

    options: tuple[str, ...]
    divisor: float
    own: tuple[float, ...]
    kind: str = ""
    why: str = ""
    floor: float = 0.0
    ceiling: float = inf

    def settings(self, tol: float) -> dict[str, float]:
        """The solver's own options for a tolerance."""
        number = min(self.ceiling, max(self.floor, tol / self.divisor))
        return dict.fromkeys(self.options, number)


def read_rules() -> Mapping[str, Rule]:
    """Rules by the name of the solver."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    shared = table.pop("interior").strip()
    return {
        name: Rule(
            **entry
            | {part: tuple(entry[part]) for part in ("options", "own")}
            | {"why": entry["why"].strip().format(interior=shared)}
        )
        for name, entry in table.items()
    }


TOLERANCES: Mapping[str, Rule] = MappingProxyType(read_rules())
