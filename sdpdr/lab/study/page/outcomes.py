"""Outcomes of runs as readers meet them: in words, with a sign, as good or bad."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sdpdr.lab.study.page.parts import Cell
from sdpdr.lab.study.schema import ENDS, NEVER_RAN, VERIFIED
from sdpdr.program import Status


@dataclass(frozen=True)
class Kind:
    """A kind of outcome.

    Attributes
    ----------
    name : str
        In words.
    sign : str
        One character, so that the kinds differ by more than colour.
    colour : str
    tone : str
        As in `sdpdr.lab.study.page.parts.TONES`.
    """

    name: str
    sign: str
    colour: str
    tone: str


# What is solved recedes; the others differ in lightness, so that they remain apart under all common
# colour vision deficiencies; greys are what nobody is to blame for.
SOLVED = Kind("solved and verified", "✓", "#7fb2de", "good")
CLOSE = Kind("an answer that misses the tolerance", "≈", "#d99400", "fair")
LATE = Kind("out of time, iterations or memory", "◷", "#c25600", "fair")
WRONG = Kind("another outcome than the expected one", "≠", "#832db6", "bad")
BROKE = Kind("crashed, failed or broken", "✗", "#a01508", "bad")
ABSENT = Kind("not taken, not installed or not tried", "–", "#7b868c", "soft")
EMPTY = Kind("no run", " ", "#c9cdd4", "soft")
KINDS: tuple[Kind, ...] = (SOLVED, CLOSE, LATE, WRONG, BROKE, ABSENT, EMPTY)

_KIND_OF: Mapping[str, Kind] = MappingProxyType(
    dict.fromkeys(VERIFIED, WRONG)
    | dict.fromkeys(("INACCURATE", "UNVERIFIED"), CLOSE)
    | dict.fromkeys(("TIME_LIMIT", "ITERATION_LIMIT", "OUT_OF_MEMORY", "INTERRUPTED"), LATE)
    | dict.fromkeys(("FAILED", "CRASHED", "KILLED", "BROKEN"), BROKE)
    | dict.fromkeys(NEVER_RAN, ABSENT)
)


def kind_of(outcome: str, solved: bool) -> Kind:
    """The kind of an outcome; an answer that nobody expected is not a good one.

    Examples
    --------
    >>> kind_of("INFEASIBLE", True).name, kind_of("SOLVED", False).name
    ('solved and verified', 'another outcome than the expected one')
    """
    if not outcome:
        return EMPTY
    return SOLVED if solved else _KIND_OF.get(outcome, BROKE)


def in_words(outcome: str) -> str:
    """An outcome as a word.

    Examples
    --------
    >>> in_words("OUT_OF_MEMORY")
    'out of memory'
    """
    return outcome.lower().replace("_", " ")


def outcome_cell(outcome: str, solved: bool, *, hinted: bool = True) -> Cell:
    """An outcome for a table: sign and words, and what it means when pointed at."""
    kind = kind_of(outcome, solved)
    advice = Status[outcome].advice if outcome in Status.__members__ else ""
    text = f"{kind.sign} {in_words(outcome)}" if outcome else ""
    return Cell(text, kind.tone, ENDS.get(outcome, advice) if hinted else "")
