"""One tolerance in every solver's own words: the table from which all adapters read.

A solver that is not of this package carries a `Rule` of its own, as the ``rule`` of its class.

A person asks for a relative gap and for residuals as *we* measure them: on the program as it was
written, after the point has been lifted and repaired, with a bound that we prove. A solver measures
something else: residuals relative to norms of its own, on scaled data, and a gap between two values
of which neither is a bound. So each is asked for a fraction of the tolerance, as large as lets our
own measures meet it on programs that are not difficult. ``benchmarks/tolerances.py`` measures that;
the guide's page of solvers shows this table and what came out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType

from sdpdr.base.errors import UnknownNameError


@dataclass(frozen=True)
class Rule:
    """What a solver is asked for where a person asks for a tolerance.

    Parameters
    ----------
    options : tuple of str
        Its own names; all are given the same number.
    divisor : float
        The tolerance is divided by it.
    own : tuple of float
        What it takes for these options where it is told nothing, or what cvxpy has it take.
    kind : str
        What the numbers mean to the solver.
    why : str
        The reason of the divisor.
    floor, ceiling : float
        Below the floor the solver ends in rounding; above the ceiling its word is worth too little.

    Examples
    --------
    >>> rule = Rule(("gaptol",), 10.0, (1e-6,), floor=1e-8)
    >>> rule.asked(1e-6), rule.asked(1e-9)
    (1e-07, 1e-08)
    """

    options: tuple[str, ...]
    divisor: float
    own: tuple[float, ...]
    kind: str = ""
    why: str = ""
    floor: float = 0.0
    ceiling: float = inf

    def asked(self, tol: float) -> float:
        """The number that stands for a tolerance."""
        return min(self.ceiling, max(self.floor, tol / self.divisor))

    def told(self, tol: float) -> dict[str, float]:
        """What the solver is told of a tolerance, by its own names."""
        return dict.fromkeys(self.options, self.asked(tol))


_INTERIOR = (
    "Its residuals are relative to norms of the data, ours to the right sides alone; and a step of "
    "an interior-point method gains a digit or more, so that two more cost a step or two."
)
_SDPA = Rule(
    ("epsilonStar", "epsilonDash"),
    100.0,
    (1e-7, 1e-7),
    "scaled residuals; relative gap",
    f"{_INTERIOR} Below the floor its Cholesky factorization breaks down before it is done.",
    floor=1e-8,
)

TOLERANCES: Mapping[str, Rule] = MappingProxyType(
    {
        "lowrank": Rule(
            ("tol",),
            10.0,
            (1e-8,),
            "relative gap to a bound that it proves; relative residuals",
            "It proves bounds as we do; where its point violates a limit, repairing it costs some "
            "of the gap.",
        ),
        "lowrank without lower limits": Rule(
            ("tol",),
            3.0,
            (1e-8,),
            "relative gap to a bound that it proves",
            "Where lengths have no lower limits its points are feasible to the last digit, and its "
            "gap is ours; a third allows for rounding.",
        ),
        "ipopt": Rule(
            ("tol",),
            100.0,
            (1e-8,),
            "scaled residuals of the conditions of optimality",
            "Its multipliers become a bound by way of the least eigenvalue of a Laplacian, which "
            "multiplies their error.",
            ceiling=1e-8,
        ),
        "mosek": Rule(
            (
                "MSK_DPAR_INTPNT_CO_TOL_REL_GAP",
                "MSK_DPAR_INTPNT_CO_TOL_PFEAS",
                "MSK_DPAR_INTPNT_CO_TOL_DFEAS",
            ),
            100.0,
            (1e-8, 1e-8, 1e-8),
            "relative gap; residuals relative to the data",
            _INTERIOR,
            floor=1e-10,
        ),
        "sdpa": _SDPA,
        "clarabel": Rule(
            ("tol_gap_abs", "tol_gap_rel", "tol_feas"),
            100.0,
            (1e-8, 1e-8, 1e-8),
            "absolute or relative gap; residuals relative to data and point",
            _INTERIOR,
            floor=1e-10,
        ),
        "cvxopt": Rule(
            ("abstol", "reltol", "feastol"),
            10.0,
            (1e-7, 1e-6, 1e-7),
            "absolute or relative gap; residuals relative to the data",
            "Its last step gains more than was asked for, and steps beyond a tenth break down.",
            floor=1e-9,
        ),
        "scs": Rule(
            ("eps_abs", "eps_rel"),
            10.0,
            (1e-5, 1e-5),
            "residuals and gap, absolute plus relative",
            "A first-order method pays for every digit with a multiple of its iterations, so it is "
            "asked for one.",
        ),
        "csdp": Rule(
            ("axtol", "atytol", "objtol"),
            100.0,
            (1e-8, 1e-8, 1e-8),
            "relative residuals; relative gap",
            _INTERIOR,
            floor=1e-9,
        ),
        "sdpa-file": _SDPA,
        "dsdp": Rule(
            ("gaptol",),
            100.0,
            (1e-6,),
            "relative gap, at multipliers that are always feasible",
            _INTERIOR,
            floor=1e-9,
        ),
        "sdplr": Rule(
            ("Feasibility tolerance",),
            10.0,
            (1e-5,),
            "residual of the rows, relative to the largest right side",
            "It stops by the residual of its rows alone; its multipliers, which become a bound by "
            "way of an eigenvalue, are about ten times as far off.",
            floor=1e-10,
        ),
        "lorads": Rule(
            ("phase2Tol",),
            100.0,
            (1e-5,),
            "residuals and gap, relative to sums over the data",
            "Its residuals are divided by the sums of all costs and of all right sides, which are "
            "larger than ours. Below the floor it runs to its limit of iterations.",
            floor=1e-9,
        ),
        "copt": Rule(
            ("FeasTol", "DualTol"),
            100.0,
            (1e-6, 1e-6),
            "residuals and gap, relative to the data",
            f"{_INTERIOR} It takes nothing below the floor.",
            floor=1e-9,
        ),
        "multiprecision": Rule(
            ("tol",),
            1000.0,
            (1e-15,),
            "relative gap; residuals relative to right sides and costs",
            "Rounding is out of the way, and three more digits cost two iterations.",
        ),
    }
)
"""Rules by the name of the solver."""


def translate(name: str, tol: float) -> dict[str, float]:
    """What a solver is told of a tolerance, by its own names.

    Parameters
    ----------
    name : str
        Of the solver, or of a special case in the table.
    tol : float
        Relative gap and residuals that our grading is to find.

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> translate("scs", 1e-6)
    {'eps_abs': 1e-07, 'eps_rel': 1e-07}
    >>> translate("sdpa", 1e-7) == translate("sdpa", 1e-6)  # the floor
    True
    """
    if name not in TOLERANCES:
        raise UnknownNameError("rule of tolerances", name, TOLERANCES)
    return TOLERANCES[name].told(tol)
