"""Hard instances, known answers of programs, and contradictions of a solution to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isfinite
from typing import TypeAlias

from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status

CHAPTERS: Mapping[str, str] = {
    "faces": "Faces: the cone touches the equations at its boundary",
    "attainment": "Values that no point attains, and gaps that stay",
    "infeasible": "No point at all, or one by a hair",
    "scales": "Scales: what is small beside what",
    "families": "Everyday programs",
}


@dataclass(frozen=True, eq=False)
class HardInstance:
    r"""A small program that solvers often answer wrongly, with its proved answer.

    Attributes
    ----------
    name : str
    program : str
        In mathematics, in one line of plain text.
    chapter : str
        A key of `CHAPTERS`.
    build : callable
        Builds the program or model.
    truth : GroundTruth
    proof : str
        Why the truth holds.
    why : str
        Why solvers fail on it, in one sentence.
    seen : str
        Answers of solvers that were observed.
    reference : str
        Its source; empty for ours.
    large : bool
        Whether it takes general solvers seconds.
    """

    name: str
    program: str
    chapter: str
    build: Callable[[], SDP | Model]
    truth: GroundTruth
    proof: str
    why: str
    seen: str
    reference: str = ""
    large: bool = False

    def sdp(self) -> SDP:
        """Return the program in standard form."""
        built = self.build()
        return built.to_sdp() if isinstance(built, Model) else built

    def __repr__(self) -> str:
        return self.name


Number: TypeAlias = Fraction | float

# Relative rounding error allowed to answers that are not rigorous.
ROUNDING = 1e-12
# Tolerances at which `Solution.certified` is tested.
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10)


@dataclass(frozen=True)
class GroundTruth:
    r"""The optimal value of a program, exactly, or between two numbers.

    The infimum of a minimisation, or the supremum of a maximisation. By convention
    :math:`\inf \emptyset = +\infty` and :math:`\sup \emptyset = -\infty`.

    Attributes
    ----------
    lower, upper : Fraction or float
        Between which the value lies; the same where it is known exactly.
    maximize : bool, default False
    dual : Fraction, float or None
        The optimal value of the dual where it is another: a positive gap.
    magnitude : float, default 0
        The size of the terms that cancel in the value; plain mode may err by rounding of these.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from sdpdr.testing import GroundTruth
    >>> GroundTruth.exactly(Fraction(1, 10)).value
    Fraction(1, 10)
    >>> GroundTruth.infeasible(maximize=True).verdict
    'infeasible'
    """

    lower: Number
    upper: Number
    maximize: bool = False
    dual: Number | None = None
    magnitude: float = 0.0

    @classmethod
    def exactly(
        cls, value: Number | int, *, maximize: bool = False, dual: Number | None = None
    ) -> GroundTruth:
        """The value itself."""
        number = Fraction(value) if isinstance(value, int) else value
        return cls(number, number, maximize, dual)

    @classmethod
    def about(
        cls, value: Fraction, *, maximize: bool = False, rtol: float = 2.0**-44
    ) -> GroundTruth:
        """The value of the program as written, whose data are stored with the error of rounding.

        Matrix inequalities are stored in ``svec`` coordinates, where entries off the diagonal
        come times the square root of two.
        """
        radius = abs(value) * Fraction(rtol)
        return cls(value - radius, value + radius, maximize)

    @classmethod
    def infeasible(cls, *, maximize: bool = False) -> GroundTruth:
        """No point satisfies all constraints."""
        return cls.exactly(-inf if maximize else inf, maximize=maximize)

    @classmethod
    def unbounded(cls, *, maximize: bool = False) -> GroundTruth:
        """Feasible points get better without end."""
        return cls.exactly(inf if maximize else -inf, maximize=maximize)

    @property
    def value(self) -> Number | None:
        """The optimal value; None where it is known to lie in an interval only."""
        return self.lower if self.lower == self.upper else None

    @property
    def verdict(self) -> str:
        """``"optimal"`` (attained or not), ``"infeasible"`` or ``"unbounded"``."""
        if self.value is None or isfinite(self.value):
            return "optimal"
        return "infeasible" if (self.value > 0) != self.maximize else "unbounded"

    def relative_error(self, number: float) -> float:
        """Return the distance of a number from the value, relative to the number; 0/0 = 0."""
        if not isfinite(number):
            return inf
        exact = Fraction(number)
        if self.lower <= exact <= self.upper:
            return 0.0
        side = self.lower if exact < self.lower else self.upper
        if not isfinite(side) or exact == 0:
            return inf
        return float(abs(exact - Fraction(side)) / abs(exact))

    def contradictions(self, solution: Solution) -> tuple[str, ...]:
        """Return the false statements of a solution, and missing reasons.

        A solution without contradictions is certified and right, or not certified and gives a
        reason; none of its bound, attained value, enclosure, status and ray is false. It need not
        be accurate.
        """
        return (
            *self._against_certificate(solution),
            *self._against_sides(solution),
            *self._against_enclosure(solution),
            *self._against_status(solution),
            *self._against_silence(solution),
        )

    def _against_certificate(self, solution: Solution) -> Iterator[str]:
        for tol in TOLERANCES:
            if not solution.certified(tol):
                continue
            if self.verdict != "optimal":
                yield f"certified to {tol:.0e}, but the program is {self.verdict}"
            elif self.relative_error(solution.value) > tol + ROUNDING:
                off = self.relative_error(solution.value)
                yield f"certified to {tol:.0e}, but {solution.value!r} is off by {off:.1e}"

    def _against_sides(self, solution: Solution) -> Iterator[str]:
        for name, number, limit, is_above in (
            ("attained", solution.attained, self._best, True),
            ("bound", solution.bound, self._worst, False),
        ):
            if number is None:
                continue
            if not isfinite(number):
                yield f"{name} is {number!r}: say None"
                continue
            wrong = limit - self._sense(number) if is_above else self._sense(number) - limit
            if wrong > self._blur(solution, number):
                by = f"by {float(wrong):.1e}"
                yield f"{name} {number!r} is on the wrong side of {self._shown} {by}"

    def _against_enclosure(self, solution: Solution) -> Iterator[str]:
        if solution.enclosure is None:
            return
        low, high = solution.enclosure
        if not solution.rigorous:
            yield "an enclosure that is not rigorous"
        if not (_exact(low) <= self.upper and self.lower <= _exact(high)):
            yield f"the enclosure [{low!r}, {high!r}] misses {self._shown}"

    def _against_status(self, solution: Solution) -> Iterator[str]:
        if solution.status is Status.SOLVED and not solution.certified():
            yield "SOLVED and not certified"
        for status, verdict in _SETTLED.items():
            if solution.status is not status:
                continue
            if self.verdict != verdict:
                yield f"{status.name}, but the program is {self.verdict}"
            if solution.ray is None and not solution.exposures:
                yield f"{status.name} without a ray or a chain of faces that shows it"

    def _against_silence(self, solution: Solution) -> Iterator[str]:
        if solution.certified():
            return
        if solution.attained is None and not solution.attained_by.strip():
            yield "no attained value, and no word why"
        if solution.bound is None and not solution.argument.strip():
            yield "no bound, and no word why"

    # -- in the sense of a minimisation ---------------------------------------------------------

    def _sense(self, number: Number) -> Number:
        exact = _exact(number)
        return -exact if self.maximize else exact

    @property
    def _best(self) -> Number:
        return min(self._sense(self.lower), self._sense(self.upper))

    @property
    def _worst(self) -> Number:
        return max(self._sense(self.lower), self._sense(self.upper))

    def _blur(self, solution: Solution, number: float) -> float:
        if solution.rigorous:
            return 0.0
        finite = [abs(float(x)) for x in (self.lower, self.upper, number) if isfinite(x)]
        return ROUNDING * max([self.magnitude, *finite])

    @property
    def _shown(self) -> str:
        if self.value is not None:
            return f"{float(self.value)!r}"
        return f"[{float(self.lower)!r}, {float(self.upper)!r}]"


_SETTLED = {Status.INFEASIBLE: "infeasible", Status.UNBOUNDED: "unbounded"}


def _exact(number: Number) -> Number:
    return Fraction(number) if isfinite(number) else number
