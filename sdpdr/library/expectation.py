"""What a card expects of its solution, and how a solution compares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr import errors
from sdpdr.errors import SdpdrError
from sdpdr.library.fields import Table
from sdpdr.program import Solution, Status

PROVENANCES = ("analytic", "certified", "paper")
_KEYS = ("value", "rtol", "gap", "rank", "status", "error", "provenance", "source")
# Share of the largest eigenvalue above which one counts towards the rank: interior-point methods
# leave the others small, not zero.
RANK_SHARE = 1e-4


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
    """Size of a card's graph, ``n`` nodes and ``edges`` edges; or of its data, 0 edges."""

    n: int
    edges: int = 0

    @classmethod
    def read(cls, table: Table, *, with_edges: bool = True) -> Size:
        """From the table ``[size]``."""
        if not with_edges:
            table.allow("n")
            return cls(table.count("n"))
        table.allow("n", "edges")
        return cls(table.count("n"), table.count("edges"))


@dataclass(frozen=True)
class Expectation:
    """What is known about the answer.

    Attributes
    ----------
    source : str
        The formula, the computation or the table that says so.
    provenance : str
        How it is known: ``"analytic"``, ``"certified"`` by us, or from a ``"paper"``.
    value : float or None
        Optimal value.
    rtol : float, default 1e-6
        Relative error allowed of `value`.
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
    rtol: float = 1e-6
    gap: float | None = None
    rank: int | None = None
    status: str = "SOLVED"
    error: str | None = None

    @classmethod
    def read(cls, table: Table) -> Expectation:
        """From the table ``[expect]``.

        Raises
        ------
        CardError
        """
        table.allow(*_KEYS)
        kinds = [key for key in ("value", "status", "error") if key in table]
        if len(kinds) != 1:
            found = ", ".join(kinds) or "none"
            raise table.error("value", f"expected one of value, status, error; got {found}")
        status = table.choice("status", tuple(Status.__members__)) if "status" in table else None
        return cls(
            source=table.text("source"),
            value=table.number("value") if "value" in table else None,
            rtol=table.positive("rtol", 1e-6),
            gap=table.positive("gap") if "gap" in table else None,
            rank=table.count("rank") if "rank" in table else None,
            status=status or Status.SOLVED.name,
            error=table.choice("error", _error_names()) if "error" in table else None,
            provenance=table.choice("provenance", PROVENANCES),
        )

    def describe(self) -> str:
        """The expectation in a few words."""
        if self.error is not None:
            return self.error
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
        findings = [Finding("status", self.status, status, status == self.status)]
        if self.value is not None:
            off = abs(outcome.value - self.value) / max(abs(self.value), 1e-12)
            wanted = f"{self.value:.10g} within {self.rtol:.0e}"
            found = f"{outcome.value:.10g}, off by {off:.1e}"
            findings.append(Finding("value", wanted, found, bool(off <= self.rtol)))
        if self.gap is not None:
            holds = abs(outcome.gap) <= self.gap
            findings.append(Finding("gap", f"at most {self.gap:.0e}", f"{outcome.gap:.1e}", holds))
        if self.rank is not None:
            rank = _rank(outcome)
            findings.append(Finding("rank", str(self.rank), str(rank), rank == self.rank))
        return findings


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
