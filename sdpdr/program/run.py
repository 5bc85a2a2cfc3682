"""How solves end: what was claimed by whom, and our grades of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import Enum
from math import isfinite
from typing import Any


class Verdict(Enum):
    """The verdict of a solver on its own run, in one vocabulary for all solvers."""

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
        """The verdict on a program whose dual ended with this one.

        Examples
        --------
        >>> from sdpdr.solvers import Verdict
        >>> Verdict.INFEASIBLE.mirrored, Verdict.SOLVED.mirrored
        (<Verdict.UNBOUNDED: 'unbounded'>, <Verdict.SOLVED: 'solved'>)
        """
        return _MIRRORED.get(self, self)


# The form of answers that `sdpdr.verify` was given.
GIVEN = "given"
_MIRRORED = {Verdict.INFEASIBLE: Verdict.UNBOUNDED, Verdict.UNBOUNDED: Verdict.INFEASIBLE}


def shown(number: float | None, style: str = ".10g") -> str:
    """Format a number; "none" if it is missing or not finite, and zero without a sign.

    Examples
    --------
    >>> shown(2.0 / 3.0, ".3g"), shown(float("inf")), shown(None), shown(-0.0)
    ('0.667', 'none', 'none', '0')
    """
    return "none" if number is None or not isfinite(number) else format(number + 0.0, style)


class Status(Enum):
    """How a solve ended, by our own grading; the value of each member says what it means.

    `Solution.advice` says what to do about one answer.
    """

    SOLVED = (
        "Proved optimal: the value of a feasible point and a bound agree to the tolerance, "
        "relative to the value."
    )
    OPTIMAL_NEARBY = (
        "Optimal for data within `epsilon` of those given, relatively and constraint by "
        "constraint; for the data as given, one side could not be proved."
    )
    INACCURATE = (
        "An answer that is not proved optimal to the tolerance: read `attained`, `bound` and "
        "`epsilon`."
    )
    UNVERIFIED = "The solver claims an answer (`claimed`), and nothing proves or refutes it."
    INFEASIBLE = "No point satisfies all constraints: `ray` or `exposures` prove it."
    UNBOUNDED = "The objective improves without limit along `ray` from a feasible point."
    TIME_LIMIT = "The time limit was reached; the best point so far, if any, is graded."
    ITERATION_LIMIT = "The iteration limit was reached; the best point so far, if any, is graded."
    INTERRUPTED = "Interrupted; the best point so far is graded and returned."
    FAILED = "The solver found no answer (`claimed.message` says why)."

    def __repr__(self) -> str:
        return f"Status.{self.name}"


@dataclass(frozen=True)
class Claim:
    """What the solver claims about its own answer.

    Attributes
    ----------
    status : str
        In the solver's own words.
    value : float or None
        The objective it reports, in the sense of the user's objective.
    iterations : int or None
    message : str
    verdict : str
        The status in one vocabulary, `sdpdr.program.run.Verdict`; filled in by grading.
    """

    status: str
    value: float | None = None
    iterations: int | None = None
    message: str = ""
    verdict: str = ""


@dataclass(frozen=True)
class Run:
    """The result of one solver in one form.

    Attributes
    ----------
    solver, form : str
    status : str
        Name of the `Status` of a solve with this solver alone.
    value, bound, attained : float or None
        As of a `Solution`; None where there is none.
    seconds : float
        Wall-clock seconds from its reductions to its grading.
    words : str
        The message of the solver, or of the error that it raised.

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
