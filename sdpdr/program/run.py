"""The runs behind an answer: who was asked, what they said, and what came of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from math import isfinite
from typing import Any


class Verdict(Enum):
    """How a solver ended, by its own word, in one vocabulary."""

    SOLVED = "solved"
    INACCURATE = "solved inaccurately"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time limit"
    ITERATION_LIMIT = "iteration limit"
    INTERRUPTED = "interrupted"
    FAILED = "failed"

    @property
    def mirrored(self) -> Verdict:
        """What it means for a program that its dual ended so.

        Examples
        --------
        >>> Verdict.INFEASIBLE.mirrored, Verdict.SOLVED.mirrored
        (<Verdict.UNBOUNDED: 'unbounded'>, <Verdict.SOLVED: 'solved'>)
        """
        return _MIRRORED.get(self, self)


_MIRRORED = {Verdict.INFEASIBLE: Verdict.UNBOUNDED, Verdict.UNBOUNDED: Verdict.INFEASIBLE}


def shown(number: float | None, style: str = ".10g") -> str:
    """A number, or "none" where there is none.

    Examples
    --------
    >>> shown(2.0 / 3.0, ".3g"), shown(float("inf")), shown(None)
    ('0.667', 'none', 'none')
    """
    return "none" if number is None or not isfinite(number) else format(number, style)


@dataclass(frozen=True)
class Run:
    """What one solver in one form has come to.

    Attributes
    ----------
    solver, form : str
    status : str
        Name of the `Status` that it would have alone.
    value, bound, attained : float or None
        As of a `Solution`; None where there is none.
    seconds : float
        By the clock on the wall, from its reductions to its grading.
    words : str
        What the solver said, or the error that it raised.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> run, = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))).runs
    >>> run.solver, run.form, run.status
    ('lowrank', 'factor', 'SOLVED')
    """

    solver: str
    form: str
    status: str
    value: float | None
    bound: float | None
    attained: float | None
    seconds: float
    words: str = ""

    def record(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            name: None if isinstance(x, float) and not isfinite(x) else x
            for name, x in asdict(self).items()
        }

    def line(self) -> str:
        """One line of a table of runs."""
        value, bound = (shown(x, ".8g") for x in (self.value, self.bound))
        return (
            f"{self.solver:<10}{self.form:<13}{self.status:<16}value {value:<16}bound {bound:<16}"
            f"{self.seconds:.2f} s"
        )
