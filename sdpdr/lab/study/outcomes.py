"""Kinds of outcomes, with a sign, a colour and a tone for tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from sdpdr.lab.study.page import Cell
from sdpdr.lab.study.schema import NEVER_RAN, VERIFIED


class Kind(NamedTuple):
    """A kind of outcome, with the tone of its cells; kinds differ by more than colour."""

    name: str
    sign: str
    colour: str
    tone: str


# Colours differ in lightness, so that they remain distinct under all common deficiencies of
# colour vision; grey is for runs in which no solver took part.
SOLVED = Kind("solved and verified", "✓", "#7fb2de", "good")
CLOSE = Kind("an answer that misses the tolerance", "≈", "#d99400", "fair")
LATE = Kind("out of time, iterations or memory", "◷", "#c25600", "fair")
WRONG = Kind("another outcome than the expected one", "≠", "#832db6", "bad")
BROKE = Kind("crashed, failed or broken", "✗", "#a01508", "bad")
ABSENT = Kind("refused, not installed or not built", "–", "#7b868c", "soft")
EMPTY = Kind("no run", " ", "#c9cdd4", "soft")
KINDS = (SOLVED, CLOSE, LATE, WRONG, BROKE, ABSENT, EMPTY)
_KIND_OF: Mapping[str, Kind] = (
    dict.fromkeys(VERIFIED, WRONG)
    | dict.fromkeys(("INACCURATE", "UNVERIFIED", "OPTIMAL_NEARBY"), CLOSE)
    | dict.fromkeys(("TIME_LIMIT", "ITERATION_LIMIT", "OUT_OF_MEMORY", "INTERRUPTED"), LATE)
    | dict.fromkeys(NEVER_RAN, ABSENT)
)


def kind_of(outcome: str, solved: bool) -> Kind:
    """Return the kind of an outcome."""
    if not outcome:
        return EMPTY
    return SOLVED if solved else _KIND_OF.get(outcome, BROKE)


def outcome_text(outcome: str) -> str:
    """Return an outcome in lower case, with blanks.

    Examples
    --------
    >>> outcome_text("TIME_LIMIT")
    'time limit'
    """
    return outcome.lower().replace("_", " ")


def outcome_cells(runs: pd.DataFrame) -> list[Cell]:
    """Return the outcomes of runs as cells, with their signs."""
    kinds = map(kind_of, runs["outcome"], runs["solved"])
    return [
        Cell(f"{kind.sign} {outcome_text(outcome)}", kind.tone)
        for kind, outcome in zip(kinds, runs["outcome"], strict=True)
    ]
