"""What a card expects of its solution, and how a solution compares."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import inf

import numpy as np

from sdpdr.base import errors
from sdpdr.base.errors import SdpdrError
from sdpdr.lab.library.fields import TomlTable
from sdpdr.program import Solution, Status

PROVENANCES = ("analytic", "certified", "paper")
# Share of the largest eigenvalue above which one counts towards the rank: interior-point methods
# leave the others small, not zero.
RANK_SHARE = 1e-4
_KINDS = "value, lower and upper, status, error"


@dataclass(frozen=True)
class Finding:
    """One expectation and what was found.

    Attributes
    ----------
    key : str
        As in the card.
    expected, found : str
        In words.
    holds : bool
    """

    key: str
    expected: str
    found: str
    holds: bool


@dataclass(frozen=True)
class Size:
    """Size of a card's graph, ``n`` nodes and ``edges`` edges; or of its data, 0 edges.

    The number of edges is None where it is not stated.
    """

    n: int
    edges: int | None = 0

    @classmethod
    def read(cls, table: TomlTable, *, with_edges: bool = True) -> Size:
        """From the table ``[size]``."""
        if not with_edges:
            table.allow("n")
            return cls(table.count("n"))
        table.allow("n", "edges")
        return cls(table.count("n"), table.count("edges"))

    def fits(self, n: int, edges: int) -> bool:
        """Whether a graph of n nodes and so many edges is of this size."""
        return n == self.n and self.edges in (None, edges)

    def __str__(self) -> str:
        stated = "" if self.edges is None else f", edges = {self.edges}"
        return f"n = {self.n}{stated}"


@dataclass(frozen=True)
class KnownAnswer:
    """What is known of an answer beforehand.

    Attributes
    ----------
    status : Status or None
        The one expected; None where any proven one will do.
    lower, upper : float or None
        Between which the optimal value lies; the same where it is known.
    rtol : float
        Relative error of these numbers.
    """

    status: Status | None = None
    lower: float | None = None
    upper: float | None = None
    rtol: float = 1e-6

    @property
    def value(self) -> float | None:
        """The optimal value; None where it is not known."""
        return self.upper if self.lower == self.upper else None

    def off(self, value: float) -> float | None:
        """Relative distance of a value from what is known; None where nothing is.

        Examples
        --------
        >>> KnownAnswer(lower=2.0, upper=4.0).off(5.0), KnownAnswer(lower=2.0, upper=4.0).off(3.0)
        (0.25, 0.0)
        """
        if self.lower is None and self.upper is None:
            return None
        low = -inf if self.lower is None else self.lower
        high = inf if self.upper is None else self.upper
        nearest = min(max(value, low), high)
        # A bound that is zero has no size of its own: the other one's, then.
        other = max(abs(bound or 0.0) for bound in (self.lower, self.upper))
        return abs(value - nearest) / max(abs(nearest) or other, 1e-12)


@dataclass(frozen=True)
class Expectation:
    """What is known about the answer.

    Attributes
    ----------
    source : str
        The formula, the computation or the table that says so.
    provenance : str
        How it is known: ``"analytic"``, ``"certified"`` by us, or from a ``"paper"``; ``"none"``
        for members of a family of which no value is known.
    value : float or None
        Optimal value.
    lower, upper : float or None
        Proven bounds on the optimal value, both, where the value itself is not known as well as
        `rtol` asks.
    rtol : float, default 1e-6
        Relative error allowed of `value`, or beyond the bounds.
    gap : float or None
        Largest relative gap allowed.
    rank : int or None
        Rank of the optimal Gram matrix: eigenvalues above 1e-4 of the largest.
    status : str
        Name of a `sdpdr.Status`.
    error : str or None
        Name of the error that building the model must raise instead.
    """

    source: str
    provenance: str
    value: float | None = None
    lower: float | None = None
    upper: float | None = None
    rtol: float = 1e-6
    gap: float | None = None
    rank: int | None = None
    status: str = "SOLVED"
    error: str | None = None

    @classmethod
    def read(cls, table: TomlTable) -> Expectation:
        """From the table ``[expect]``.

        Raises
        ------
        CardError
        """
        table.allow(*(key.name for key in fields(cls)))
        lower, upper = _bounds(table)
        kinds = [key for key in ("value", "lower", "status", "error") if key in table]
        if len(kinds) != 1:
            found = ", ".join(kinds) or "none"
            raise table.error("value", f"expected one of {_KINDS}; got {found}")
        status = table.choice("status", tuple(Status.__members__)) if "status" in table else None
        return cls(
            source=table.text("source"),
            value=table.number("value") if "value" in table else None,
            lower=lower,
            upper=upper,
            rtol=table.positive("rtol", 1e-6),
            gap=table.positive("gap") if "gap" in table else None,
            rank=table.count("rank") if "rank" in table else None,
            status=status or Status.SOLVED.name,
            error=table.choice("error", _error_names()) if "error" in table else None,
            provenance=table.choice("provenance", PROVENANCES),
        )

    @property
    def known(self) -> KnownAnswer:
        """What it says of the answer itself."""
        status = None if self.error else Status[self.status]
        if self.value is not None:
            return KnownAnswer(status, self.value, self.value, self.rtol)
        return KnownAnswer(status, self.lower, self.upper, self.rtol)

    def describe(self) -> str:
        """The expectation in a few words."""
        if self.error is not None:
            return self.error
        if self.lower is not None:
            return f"{self.lower:.10g} to {self.upper:.10g}"
        return self.status if self.value is None else f"{self.value:.10g}"

    def check(self, outcome: Solution | Exception) -> list[Finding]:
        """Compare a solution, or the error raised instead, with the expectation."""
        if isinstance(outcome, Exception):
            found = type(outcome).__name__
            wanted = self.error or f"a solution, {self.status}"
            return [Finding("error", wanted, found, self.error == found)]
        if self.error is not None:
            return [Finding("error", self.error, f"a solution, {outcome.status.name}", False)]
        status = outcome.status.name
        # Without interior, an answer that is optimal for data nearby is the best there is.
        nearby = (Status.SOLVED.name, Status.OPTIMAL_NEARBY.name)
        holds = status == self.status or (self.status, status) == nearby
        findings = [Finding("status", self.status, status, holds)]
        off = self.known.off(outcome.value)
        if off is not None:
            beyond = f"beyond by {off:.1e}" if off > 0.0 else "between"
            words = beyond if self.value is None else f"off by {off:.1e}"
            wanted, found = f"{self.describe()} within {self.rtol:.0e}", f"{outcome.value:.10g}"
            findings.append(Finding("value", wanted, f"{found}, {words}", off <= self.rtol))
        if self.gap is not None:
            gap = outcome.gap if outcome.status is Status.SOLVED else outcome.apparent_gap
            holds = abs(gap) <= self.gap
            findings.append(Finding("gap", f"at most {self.gap:.0e}", f"{gap:.1e}", holds))
        if self.rank is not None:
            rank = _rank(outcome)
            findings.append(Finding("rank", str(self.rank), str(rank), rank == self.rank))
        return findings


def _bounds(table: TomlTable) -> tuple[float | None, float | None]:
    """Both bounds on the value, or none."""
    if "lower" not in table and "upper" not in table:
        return None, None
    lower, upper = table.number("lower"), table.number("upper")
    if not lower <= upper:
        raise table.error("lower", f"expected at most upper, {upper:g}; got {lower:g}")
    return lower, upper


def _rank(solution: Solution) -> int:
    if not solution.values:
        return 0
    spectrum = solution.spectrum()
    return int(np.count_nonzero(spectrum > RANK_SHARE * spectrum[0]))


def _error_names() -> tuple[str, ...]:
    return tuple(
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, SdpdrError)
    )
