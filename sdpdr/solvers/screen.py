"""Validation of a solver's outcome before its numbers are used."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from numbers import Real

import numpy as np

from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.processes.ends import is_starved, starved_words

Shape = tuple[int, ...]

_PARTS = {"point": Point, "verdict": Verdict, "claim": Claim, "seconds": Mapping, "history": tuple}
_WORDS = {"status": str, "value": Real | None, "iterations": int | None, "message": str}
# Characters of a message that are kept.
_LONGEST_MESSAGE = 2000

# Squares of numbers beyond this overflow soon, so nothing can be said of such a point.
HUGE = 1e100


def admit(answer: object, name: str) -> Outcome:
    """The outcome with a printable message; a failure if a solver returned something else.

    Examples
    --------
    >>> admit("optimal", "liar").claim.message
    'liar returned a str instead of an outcome.'
    """
    wrong = _what_else(answer)
    if wrong:
        message = f"{name} returned {wrong} instead of an outcome."
        return Outcome(Point(), Verdict.FAILED, Claim("error", message=message))
    assert isinstance(answer, Outcome)
    status, message = printable(answer.claim.status), printable(answer.claim.message)
    return replace(answer, claim=replace(answer.claim, status=status, message=message))


def printable(words: str) -> str:
    r"""Text without control characters, cut off if it is very long.

    Examples
    --------
    >>> printable("stuck\x1b[31m at\n\t iteration 3")
    'stuck [31m at iteration 3'
    """
    if words.isprintable() and len(words) <= _LONGEST_MESSAGE:
        return words
    kept = "".join(c if c.isprintable() else " " for c in words[: 2 * _LONGEST_MESSAGE])
    kept = re.sub(" {2,}", " ", kept).strip()
    return kept if len(kept) <= _LONGEST_MESSAGE else f"{kept[:_LONGEST_MESSAGE]}..."


def failure(name: str, error: BaseException) -> Outcome:
    """The outcome of a solver that raised an error."""
    words = printable(f"{type(error).__name__}: {error}")
    claim = Claim("error", message=words)
    if isinstance(error, MemoryError) or is_starved(words):
        claim = Claim("out of memory", message=starved_words(name, words))
    return Outcome(Point(), Verdict.FAILED, claim)


def _what_else(answer: object) -> str:
    """Why an answer is not a valid outcome; empty if it is one."""
    if not isinstance(answer, Outcome):
        return _a(answer)
    for part, kind in _PARTS.items():
        if not isinstance(getattr(answer, part), kind):
            return f"{_a(getattr(answer, part))} as {part}"
    for word, of_type in _WORDS.items():
        if not isinstance(getattr(answer.claim, word), of_type):
            return f"{_a(getattr(answer.claim, word))} as the {word} of its claim"
    for part, mapping in vars(answer.point).items():
        if not isinstance(mapping, Mapping):
            return f"{_a(mapping)} as the {part} of its point"
    if not all(isinstance(seconds, Real) for seconds in answer.seconds.values()):
        return "seconds that are no numbers"
    return ""


def _a(thing: object) -> str:
    return "nothing" if thing is None else f"a {type(thing).__name__}"


def screen(sdp: SDP, outcome: Outcome) -> Outcome:
    """Drop values or multipliers that are not finite, are huge, or do not fit the program.

    Parameters
    ----------
    sdp : SDP
        The program that was solved.
    outcome : Outcome

    Returns
    -------
    Outcome
        The same if nothing is wrong. A solver that claims success without a usable point has
        the verdict ``FAILED``, and the claim's message says what was dropped.
    """
    shapes: dict[str, Shape] = {v.name: v.extents for v in sdp.variables}
    of_duals: dict[str, Shape] = {r.label: r.rhs.shape for r in sdp.rows}
    of_duals |= {lmi.label: (lmi.order, lmi.order) for lmi in sdp.lmis}
    missing = next((f"lack {name!r}" for name in shapes if name not in outcome.point.values), None)
    wrong_value = missing or _first_wrong(outcome.point.values, shapes)
    wrong_dual = _first_wrong(outcome.point.duals, of_duals)
    if not wrong_value and not wrong_dual:
        return outcome
    values = {} if wrong_value else outcome.point.values
    duals = {} if wrong_dual else outcome.point.duals
    screened = replace(outcome, point=Point(values, duals))
    if outcome.verdict not in (Verdict.SOLVED, Verdict.INACCURATE):
        # Many solvers return arrays of NaN if there is no answer.
        return screened
    words = [outcome.claim.message]
    words += [f"Its values were not used: they {wrong_value}."] if wrong_value else []
    words += [f"Its multipliers were not used: they {wrong_dual}."] if wrong_dual else []
    claim = replace(outcome.claim, message=" ".join(words).strip())
    verdict = Verdict.FAILED if wrong_value else outcome.verdict
    return replace(screened, verdict=verdict, claim=claim)


def _first_wrong(given: Mapping[str, Value], shapes: Mapping[str, Shape]) -> str | None:
    """The fault of the first invalid array; None if all are valid."""
    for name, value in given.items():
        array = np.asarray(value.factor if isinstance(value, Factor) else value)
        if name in shapes and np.shape(value) != shapes[name]:
            return f"have shape {np.shape(value)} for {name!r} rather than {shapes[name]}"
        if array.dtype.kind not in "fiub":
            return f"are not real numbers for {name!r}"
        if not np.isfinite(array).all():
            return f"are not finite for {name!r}"
        if np.abs(array).max(initial=0.0) > HUGE:
            return f"are beyond {HUGE:.0e} for {name!r}"
    return None
