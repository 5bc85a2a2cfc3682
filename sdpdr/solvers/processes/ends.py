"""How processes end that gave no answer, in words; among them those that ran out of memory."""

from __future__ import annotations

import signal
from pathlib import Path

from sdpdr.program.point import Point
from sdpdr.program.run import Verdict
from sdpdr.program.solution import Claim
from sdpdr.solvers.base import Outcome

# Bytes of what a process printed; the end is what tells.
_ENOUGH = 100_000


def last_said(path: Path) -> str:
    """The end of what a process printed, which may be a great deal."""
    with open(path, "rb") as stream:
        stream.seek(max(0, path.stat().st_size - _ENOUGH))
        return stream.read().decode("utf-8", errors="replace")


def stopped(
    name: str, time_limit: float | None, offer: str = "it had no point to offer"
) -> Outcome:
    """The outcome of a process that was ended since its time was up.

    Examples
    --------
    >>> stopped("scs", 2.0).claim.message
    'scs was stopped after 2 s; it had no point to offer'
    """
    words = f"{name} was stopped after {time_limit:g} s; {offer}"
    seconds = {"compile": 0.0, "solve": float(time_limit or 0.0)}
    return Outcome(Point(), Verdict.TIME_LIMIT, Claim("killed", message=words), seconds)


def failed(name: str, status: str, what: str) -> Outcome:
    """The outcome of a process that came to nothing for no fault of the solver's.

    Examples
    --------
    >>> failed("scs", "no worker", "could not be run").claim.message
    'scs could not be run'
    """
    return Outcome(Point(), Verdict.FAILED, Claim(status, message=f"{name} {what}"))


def crash_claim(name: str, code: int, said: str) -> Claim:
    """What to say of a process that ended without an answer.

    Examples
    --------
    >>> crash_claim("sdpa", 0, "").message
    'sdpa crashed: its process ended with exit status 0 and without an answer.'
    """
    last = (said.strip().splitlines() or [""])[-1]
    if is_starved(said):
        return Claim("out of memory", message=starved_words(name, last))
    if code >= 0:
        words = f"{name} crashed: its process ended with exit status {code} and without an answer."
        return Claim("crashed", message=f"{words} {last}".strip())
    known = {number.value: number.name for number in signal.Signals}
    killer = known.get(-code, f"signal {-code}")
    words = f"{name} crashed: its process was ended by {killer}."
    if killer == "SIGKILL":
        words += " Systems end processes so when memory runs out; it may not have fitted in."
    return Claim("crashed", message=f"{words} {last}".strip())


# How Python, C++, Rust and PARDISO word it.
_SIGNS = (
    "MemoryError",
    "bad_alloc",
    "memory allocation of",
    "annot allocate memory",
    "ut of memory",
    "not enough memory",
    "nsufficient memory",
)


def is_starved(words: str) -> bool:
    """Whether the words of an error, or of a process, speak of memory.

    Examples
    --------
    >>> is_starved("terminate called after throwing an instance of 'std::bad_alloc'")
    True
    >>> is_starved("memory of former failures")
    False
    """
    return any(sign in words for sign in _SIGNS)


def starved_words(name: str, detail: str = "") -> str:
    """What happened, and what to do about it.

    Examples
    --------
    >>> starved_words("scs").split(".")[0]
    'scs did not fit into memory'
    """
    words = (
        f"{name} did not fit into memory. Use solver 'lowrank', fewer points or neighbours, "
        'landmarks (form="landmark"), or more memory.'
    )
    return f"{words} ({detail})" if detail else words
