"""What single solvers cannot do, or cannot be relied on to do, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ANY = frozenset({"factor", "gram", "lmi", "cvxpy"})
# Relative accuracy at the default options, of value, bound and all six error measures.
TOLERANCE = {
    "lowrank": 1e-6,
    "ipopt": 1e-6,
    "mosek": 1e-6,
    "sdpa": 5e-6,
    "nearest": 1e-6,
    "scs": 5e-5,
    "sdpa-file": 5e-6,
    "dsdp": 5e-6,
    "sdplr": 5e-5,
    "lorads": 5e-5,
    "multiprecision": 1e-6,
}


def tolerance(name):
    """How far the answers of a solver may be off."""
    return TOLERANCE.get(name, 2e-6)


@dataclass(frozen=True)
class Limit:
    """A solver that falls short on some of the cases.

    Parameters
    ----------
    solver : str
    forms : collection of str
    cases : tuple of str
        Beginnings of names of cases.
    why : str
    kind : {"refuses", "fails", "may fail"}
        Whether it turns the program down in words, never settles it, or settles it or not
        depending on rounding.
    seconds : float, optional
        Time limit for solvers that would otherwise run for minutes.
    """

    solver: str
    forms: frozenset[str]
    cases: tuple[str, ...]
    why: str
    kind: Literal["refuses", "fails", "may fail"] = "may fail"
    seconds: float | None = None

    def covers(self, solver: str, form: str, case: str) -> bool:
        return solver == self.solver and form in self.forms and case.startswith(self.cases)


UNSETTLED = (
    "too small",
    "impossible",
    "no limit",
    "eigenvalue without",
    "mvu impossible",
    "mvu slack",
)
NO_INTERIOR = "as written, centring leaves the cone without interior; forms with the face do not"

NO_MATRIX = "there is no matrix to write as a factor, and other solvers take linear programs"

KNOWN_LIMITS = (
    Limit(
        "lowrank",
        ANY,
        ("linear program",),
        NO_MATRIX,
        "refuses",
    ),
    Limit(
        "lowrank",
        ANY,
        ("no limit", "eigenvalue without", "mvu slack"),
        "an iterate on its way to infinity shows a ray only after enough steps",
    ),
    Limit(
        "ipopt",
        ANY,
        ("mvu path, penalized", "mvu square slack", "mvu slack too cheap"),
        "it supports hard bounds on lengths only; penalized lengths go to 'lowrank'",
        "refuses",
    ),
    Limit(
        "ipopt",
        ANY,
        ("mvu impossible triangle",),
        "on some processors its restoration phase runs to the limit of iterations",
    ),
    Limit(
        "sdpa",
        ANY,
        UNSETTLED,
        "SDPA often knows only that one of the two programs is infeasible, and cvxpy drops that",
    ),
    Limit(
        "sdpa",
        frozenset({"lmi"}),
        ("mvu complete graph, equality",),
        "a single feasible Gram matrix, so its multipliers are unbounded: no interior in the LMI",
    ),
    Limit("sdpa", frozenset({"cvxpy"}), ("mvu", "least trace"), NO_INTERIOR),
    Limit(
        "sdpa-file",
        ANY,
        UNSETTLED,
        "SDPA often knows only that one of the two programs is infeasible, and says pdINF",
    ),
    Limit(
        "sdpa-file",
        ANY,
        ("mvu complete graph, equality",),
        "a single feasible Gram matrix, so the file's program over matrices has no interior",
    ),
    Limit(
        "dsdp",
        ANY,
        UNSETTLED,
        "DSDP says that it starts from an infeasible point, or no more than that it has finished",
    ),
    Limit(
        "dsdp",
        ANY,
        ("nearest correlation", "sum of squares"),
        "a file holds free scalars as differences, so the multipliers that DSDP keeps feasible "
        "have no interior",
    ),
    Limit("sdplr", ANY, ("linear program",), NO_MATRIX, "refuses"),
    Limit("lorads", ANY, ("linear program",), NO_MATRIX, "refuses"),
    Limit("sdplr", ANY, UNSETTLED, "SDPLR looks for no proof that there is no solution"),
    Limit("lorads", ANY, UNSETTLED, "LoRADS looks for no proof that there is no solution"),
    Limit(
        "sdplr",
        ANY,
        ("nearest correlation",),
        "a file holds free scalars as differences, and SDPLR stops by the residual of its rows",
    ),
    Limit(
        "lorads",
        ANY,
        ("mvu swiss roll", "mvu square slack"),
        "its alternating steps run to their limit where rows are many for the order of the matrix",
        seconds=10.0,
    ),
    Limit("cvxopt", frozenset({"cvxpy"}), ("mvu square slack",), NO_INTERIOR),
    Limit(
        "cvxopt",
        frozenset({"gram"}),
        ("mvu square slack", "least trace"),
        "its last steps break down, or not, by the last digits of the linear algebra beneath it",
    ),
    Limit("clarabel", frozenset({"cvxpy"}), ("mvu square slack",), NO_INTERIOR),
)


def limit(solver: str, form: str, case: str) -> Limit | None:
    """The first limit that covers a run, or None."""
    return next((known for known in KNOWN_LIMITS if known.covers(solver, form, case)), None)
