"""Deadlines, and budgets of operations for proofs."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Real
from time import monotonic
from typing import Any

from sdpdr.base.errors import DataError, DataTypeError

# A limit of ten years or more is none: waits of the system and of solvers have limits, too.
LONGEST = 3e8
# Most operations of all steps of a proof: those of a minute or less.
MOST_OPERATIONS = 6e10
# Operations in a second, to foresee what does not fit into the time left. Factorizations of J J^T
# of 120 to 1500 points made 3e9 to 4e9 where they fill in, and less where they are over at once;
# dense ones of order 300 to 2500 made 7e9 to 2e10.
PACE = 3e9


class EffortSpentError(ArithmeticError):
    """A proof takes too many operations, or would take too long."""


class TimeUpError(ArithmeticError):
    """No time is left for the next step."""


def as_float(number: Any) -> float:
    """Convert a number to a float; integers beyond the range of floats become infinite."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def seconds_of(time_limit: object, words: str = "or None for no limit") -> float | None:
    """Return a time limit in seconds; None where there is none, or one beyond ten years."""
    if time_limit is None:
        return None
    is_number = isinstance(time_limit, Real) and not isinstance(time_limit, bool)
    seconds = as_float(time_limit) if is_number else -inf
    if not seconds >= 0.0:
        kind = DataError if is_number else DataTypeError
        raise kind(f"time_limit={time_limit!r} is no number of seconds: pass 0 or more, {words}.")
    return seconds if seconds <= LONGEST else None


def limit_of(time_limit: float | str | None, default: float | None) -> float | None:
    """Return the time limit of an estimator in seconds, where "auto" means the default."""
    if time_limit == "auto" and isinstance(time_limit, str):
        return default
    return seconds_of(time_limit, 'or None for no limit, or "auto"')


class Deadline:
    """A time limit that is passed down to all parts of the work; without seconds, a stopwatch.

    Parameters
    ----------
    seconds : float, optional
        From now on; no limit by default.
    since : Deadline, optional
        Count from when that one began.

    Examples
    --------
    >>> from sdpdr.base.deadline import Deadline
    >>> Deadline(None).left(), Deadline(0.0).is_over()
    (None, True)
    >>> Deadline(0.0).later(60.0).is_over(), Deadline(60.0).sooner(0.0).is_over()
    (False, True)
    """

    def __init__(self, seconds: float | None = None, since: Deadline | None = None) -> None:
        limit = seconds_of(seconds)
        self.seconds = inf if limit is None else limit
        self._begin: float = monotonic() if since is None else since._begin

    @property
    def spent(self) -> float:
        """Seconds since it was made."""
        return monotonic() - self._begin

    def left(self, at_most: float = inf) -> float | None:
        """Seconds left, and no more than `at_most`; None if both are without limit."""
        seconds = min(self.ahead, at_most)
        return None if seconds == inf else seconds

    @property
    def ahead(self) -> float:
        """Seconds left; infinite without a limit."""
        return inf if self.seconds == inf else max(0.0, self.seconds - self.spent)

    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.ahead == 0.0

    def require(self) -> None:
        """Raise a `TimeUpError` if no time is left."""
        if self.is_over():
            raise TimeUpError("the time was up")

    def sooner(self, seconds: float) -> Deadline:
        """A deadline so many seconds from now, and no later than this one."""
        return Deadline(self.left(max(0.0, seconds)))

    def later(self, seconds: float) -> Deadline:
        """A deadline so many seconds after this one."""
        return Deadline(self.seconds + seconds, since=self)

    def excuse(self, seconds: float) -> None:
        """Extend the deadline by a wait, such as for a worker; those derived from it stay."""
        self._begin += seconds


# The deadline of work without a limit. It is no stopwatch, since all share it.
ENDLESS = Deadline()


@dataclass(eq=False)
class Effort:
    """Operations spent on a proof so far, and when it has to end."""

    deadline: Deadline = ENDLESS
    steps: int = 0
    operations: float = 0.0

    def spend(self, operations: float = 0.0) -> None:
        """Count a step that is about to be made."""
        self.steps += 1
        self.operations += operations
        if self.operations > MOST_OPERATIONS:
            raise EffortSpentError(
                f"{self.steps} steps of some {operations:.0e} operations were not enough"
            )
        self.foresee(operations)

    def foresee(self, operations: float) -> None:
        """Refuse a step that does not fit into the time left, without counting it."""
        ahead = self.deadline.ahead
        if ahead == 0.0:
            raise EffortSpentError(f"the time was up after {max(self.steps - 1, 0)} steps")
        if operations > PACE * ahead:
            raise EffortSpentError(
                f"a step of some {operations:.0e} operations does not fit into the "
                f"{in_seconds(ahead)} s that were left"
            )


def in_seconds(seconds: float | None) -> str:
    """Return seconds as text with two digits."""
    return f"{float(f'{seconds or 0.0:.2g}'):g}"
