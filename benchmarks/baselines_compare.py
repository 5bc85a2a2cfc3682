"""Compare two baselines: classify every change between two recordings of the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

Row = Mapping[str, Any]
Key = tuple[str, str]

# From the most to the least serious; the first three make `compare` fail.
CLASSES = ("wrong", "weaker", "missing", "value", "digest", "slower", "stronger", "new")
FAILING = frozenset(CLASSES[:3])

# The smaller, the stronger. A verified ray is as strong as a certified optimum.
STRENGTH = {
    "CERTIFIED": 0,
    "BOTH SIDES": 1,
    "ONE SIDE": 2,
    "NOTHING": 3,
    "SOLVED": 0,
    "INFEASIBLE": 0,
    "UNBOUNDED": 0,
    "OK": 0,
    "OPTIMAL_NEARBY": 1,
    "INACCURATE": 2,
    "UNVERIFIED": 3,
    "TIME_LIMIT": 4,
    "ITERATION_LIMIT": 4,
    "INTERRUPTED": 4,
    "FAILED": 5,
    "CPU_LIMIT": 6,
    "CRASHED": 7,
}
_RAISED = 6

# Rounding that proofs in doubles leave out of account, relative to the value.
_ROUNDING = 1e-9
# Expected accuracy of a value that has no bound; and what counts as a change however wide the gap.
_UNPROVED, _LEAST_DIGITS = 1e-4, 1e-3
# Values of zero have no relative error.
_NOTHING = 1e-12
SLOWER_RATIO, SLOWER_SECONDS = 2.0, 1.0


@dataclass(frozen=True)
class Change:
    """One difference between two baselines.

    Attributes
    ----------
    kind : str
        One of `CLASSES`.
    section, name : str
    text : str
    loose : bool
        Whether the clock or the load may explain it, since a limit of time ended one of the rows.
    accepted : str
        Why this loss is accepted; empty if it is not.
    """

    kind: str
    section: str
    name: str
    text: str
    loose: bool = False
    accepted: str = ""

    @property
    def fails(self) -> bool:
        """Whether this change makes the comparison fail: a contradiction always does."""
        if self.kind == "wrong":
            return True
        return self.kind in FAILING and not self.loose and not self.accepted

    def __str__(self) -> str:
        note = " (a limit of time was reached: may be the clock)" if self.loose else ""
        note += f" (accepted: {self.accepted})" if self.accepted else ""
        return f"{self.kind:<9}{self.section:<12}{self.name}: {self.text}{note}"


def compare(
    old: Iterable[Row], new: Iterable[Row], accepted: Mapping[Key, str] | None = None
) -> list[Change]:
    """List all changes from one baseline to another, the most serious first.

    Parameters
    ----------
    old, new : iterable of rows
        As `baselines.read` returns them. Sections that the new baseline lacks altogether count as
        not recorded, not as missing.
    accepted : mapping from (section, name) to str, optional
        Losses that are accepted, with their reasons. A contradiction never is.
    """
    before, after = _by_key(old), _by_key(new)
    recorded = {section for section, _ in after}
    changes = [
        change
        for key, row in before.items()
        if key[0] in recorded
        for change in _of_row(key, row, after.get(key))
    ]
    changes += [
        Change("new", *key, row["status"]) for key, row in after.items() if key not in before
    ]
    reasons = accepted or {}
    changes = [replace(c, accepted=reasons.get((c.section, c.name), "")) for c in changes]
    return sorted(changes, key=lambda c: (CLASSES.index(c.kind), c.loose, c.section, c.name))


def _by_key(rows: Iterable[Row]) -> dict[Key, Row]:
    return {(row["section"], row["name"]): row for row in rows}


def _of_row(key: Key, old: Row, new: Row | None) -> Iterator[Change]:
    """Changes of one row; after a contradiction nothing else of it matters."""
    loose = bool(old.get("clock") or (new or {}).get("clock"))
    if new is None or (new["status"] == "SKIPPED" != old["status"]):
        text = "not recorded" if new is None else f"skipped: {new.get('note', '')}"
        yield Change("missing", *key, text, loose)
        return
    if "SKIPPED" in (old["status"], new["status"]):
        if old["status"] != new["status"]:
            yield Change("new", *key, f"was skipped, now {new['status']}")
        return
    new = _in_the_sense_of(old, new)
    if words := contradiction(old, new):
        yield Change("wrong", *key, words)
        return
    yield from (Change(kind, *key, text, loose) for kind, text in _milder(old, new))


def _in_the_sense_of(old: Row, new: Row) -> Row:
    """Return a row with the signs of the old one: max f is recorded as -min -f as well."""
    if new.get("sense") == old.get("sense"):
        return new
    sides = [side for side in ("value", "attained", "bound") if new.get(side) is not None]
    return new | {"sense": old.get("sense")} | {side: -new[side] for side in sides}


def _milder(old: Row, new: Row) -> Iterator[tuple[str, str]]:
    graded = _status_change(old, new)
    if graded:
        yield graded
    if words := _value_change(old, new):
        yield "value", words
    if words := _digest_change(old, new):
        yield "digest", words
    before, after = old.get("seconds"), new.get("seconds")
    if before is None or after is None:
        return
    if after > SLOWER_RATIO * before and after - before > SLOWER_SECONDS:
        yield "slower", f"{before:.2f} s -> {after:.2f} s"


# -- proofs ----------------------------------------------------------------------------------------


def interval(row: Row) -> tuple[float, float]:
    """Return the interval in which a row proves the optimum to lie.

    INFEASIBLE and UNBOUNDED are the infinite optima of conventions: of a minimization, INFEASIBLE
    is plus infinity and UNBOUNDED is minus infinity.
    """
    maximize = row.get("sense") == "max"
    extreme = {"INFEASIBLE": -math.inf, "UNBOUNDED": math.inf}.get(row["status"])
    if extreme is not None:
        extreme = extreme if maximize else -extreme
        return extreme, extreme
    attained, bound = row.get("attained"), row.get("bound")
    low, high = (attained, bound) if maximize else (bound, attained)
    return -math.inf if low is None else low, math.inf if high is None else high


def contradiction(old: Row, new: Row) -> str:
    """Say how the proofs of two rows contradict each other; empty if they do not."""
    first, second = interval(old), interval(new)
    low, high = max(first[0], second[0]), min(first[1], second[1])
    if low > high and not _agree(low, high):
        return (
            f"proved between {first[0]:.12g} and {first[1]:.12g}, "
            f"now between {second[0]:.12g} and {second[1]:.12g}"
        )
    return ""


def _agree(low: float, high: float) -> bool:
    """Whether two numbers differ by rounding only."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    return low - high <= _ROUNDING * max(abs(low), abs(high), 1e-3)


# -- status, value, digest -------------------------------------------------------------------------


def _strength(row: Row) -> float:
    # What is no status is the name of an error that was raised.
    return STRENGTH.get(row["status"], _RAISED)


def _status_change(old: Row, new: Row) -> tuple[str, str] | None:
    before, after = _strength(old), _strength(new)
    words = f"{old['status']} -> {new['status']}"
    if old["status"] == new["status"]:
        if bool(old.get("certified")) == bool(new.get("certified")):
            return None
        lost = bool(old.get("certified"))
        return ("weaker", "no longer certified") if lost else ("stronger", "now certified")
    # An error that was raised is a refusal: another error or an answer in its place is a loss.
    if after >= before or old["status"] not in STRENGTH:
        note = f": {new['note']}" if new.get("note") else ""
        return "weaker", words + note
    return "stronger", words


def _accuracy(row: Row) -> float:
    """Estimate the error of a row's value: its distance from what is proved about it."""
    value = row["value"]
    proved = [row[side] for side in ("attained", "bound") if row.get(side) is not None]
    away = max((abs(value - side) for side in proved), default=0.0)
    if len(proved) < 2:
        away = max(away, _UNPROVED * abs(value))
    return max(row.get("tol", 1e-6) * abs(value), min(away, _LEAST_DIGITS * abs(value)))


def _value_change(old: Row, new: Row) -> str:
    before, after = old.get("value"), new.get("value")
    if before is None and after is None:
        return ""
    if before is None or after is None:
        return f"{before} -> {after}"
    if abs(after - before) <= max(_accuracy(old) + _accuracy(new), _NOTHING):
        return ""
    return f"{before:.10g} -> {after:.10g}"


def _digest_change(old: Row, new: Row) -> str:
    before, after = old.get("digest") or {}, new.get("digest") or {}
    rtol = max(old.get("rtol", 1e-6), new.get("rtol", 1e-6))
    changed = [name for name in before if not _close(before[name], after.get(name), rtol)]
    if not changed:
        return ""
    shown = (f"{name} {_shown(before[name])} -> {_shown(after.get(name))}" for name in changed[:3])
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return "; ".join(shown) + more


def _close(before: Any, after: Any, rtol: float) -> bool:
    """Whether two entries of a digest agree: numbers relative to the largest of their list."""
    if isinstance(before, list) and isinstance(after, list):
        numbers = [x for x in before if isinstance(x, (int, float))]
        if len(numbers) == len(before) == len(after):
            scale = max((abs(x) for x in numbers), default=0.0)
            return all(
                isinstance(b, (int, float)) and abs(a - b) <= rtol * scale + 1e-12
                for a, b in zip(numbers, after, strict=True)
            )
        return before == after
    if isinstance(before, float) or isinstance(after, float):
        return after is not None and _close([before], [after], rtol)
    return bool(before == after)


def _shown(entry: Any) -> str:
    if isinstance(entry, list):
        more = ", ..." if len(entry) > 4 else ""
        return "[" + ", ".join(_shown(x) for x in entry[:4]) + more + "]"
    return f"{entry:.6g}" if isinstance(entry, float) else str(entry)
