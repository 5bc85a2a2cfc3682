"""All solvers by name, and the table of what runs here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdpdr.base.errors import UnknownNameError
from sdpdr.solvers.base import Availability, Solver
from sdpdr.solvers.copt import Copt
from sdpdr.solvers.cvxpy_solvers import Clarabel, Cvxopt, Mosek, Scs, Sdpa
from sdpdr.solvers.dense.solver import Dense
from sdpdr.solvers.external_programs import Csdp, Dsdp, SdpaProgram
from sdpdr.solvers.ipopt import Ipopt
from sdpdr.solvers.low_rank_programs import Lorads, Sdplr
from sdpdr.solvers.lowrank.solver import LowRank
from sdpdr.solvers.multiprecision import Multiprecision
from sdpdr.solvers.nearest.solver import Nearest

SOLVERS: Mapping[str, type[Solver]] = {
    cls.name: cls
    for cls in (
        LowRank,
        Ipopt,
        Mosek,
        Copt,
        Sdpa,
        Clarabel,
        Dense,
        Nearest,
        Cvxopt,
        Scs,
        Csdp,
        SdpaProgram,
        Dsdp,
        Sdplr,
        Lorads,
        Multiprecision,
    )
}


@dataclass(frozen=True)
class SolverInfo(Availability):
    """One line of the table of solvers.

    Attributes
    ----------
    name, version, licence, reason : str
    installed, licensed : bool
    forms : tuple of str
    """

    name: str
    licence: str
    forms: tuple[str, ...]


class SolverTable(tuple[SolverInfo, ...]):
    """The solvers known, as a tuple that prints as a table."""

    def __repr__(self) -> str:
        wide = max([15, *(len(s.name) + 2 for s in self)])
        head = f"{'solver':<{wide}}{'usable':<8}{'version':<12}{'licence':<12}{'forms':<20}"
        lines = [head]
        for s in self:
            lines.append(
                f"{s.name:<{wide}}{'yes' if s.usable else 'no':<8}{s.version:<12}{s.licence:<12}"
                f"{', '.join(s.forms):<20}{'  ' + s.reason if s.reason else ''}".rstrip()
            )
        return "\n".join(lines)


def find(name: str) -> type[Solver]:
    """The solver class of that name, in any case.

    Raises
    ------
    UnknownNameError
        Offering the nearest name.
    """
    try:
        return SOLVERS[str(name).lower()]
    except KeyError:
        raise UnknownNameError("solver", name, SOLVERS) from None


def first_usable(*names: str) -> str:
    """The first of some solvers that runs here; the last if none does.

    Examples
    --------
    >>> first_usable("lowrank", "clarabel")
    'lowrank'
    """
    return next((name for name in names if SOLVERS[name].availability().usable), names[-1])


def table() -> SolverTable:
    """All solvers: installed, licensed, version, and the forms they take."""
    rows = []
    for name, cls in SOLVERS.items():
        found = vars(cls.availability())
        rows.append(SolverInfo(**found, name=name, licence=cls.licence, forms=cls.forms))
    return SolverTable(rows)
