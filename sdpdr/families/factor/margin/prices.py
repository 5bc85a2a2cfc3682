"""The price of the loss by evidence: what predicts entries held back best, from low to high.

All searches for a price go up the same multiples of the least price, below which the matrix is
zero, with the same rule of when to stop and what to take (`ascended`); what differs is what they
try. `MMMF` and `RatingMMMF` follow one warm path (`chosen_path`), which is that of the squared loss
and the trace norm whatever is fitted in the end: it takes seconds where that of the hinge or of the
max-norm takes minutes, and the best multiples agree well. On four families of synthetic ratings
(``benchmarks/rating_prices.py``) errors of these at the multiple so found were at most 2.3 % above
those at the multiple that a path of their own found. Signs are ratings of two levels. `MMMFCV` fits
the estimator itself at each price, and holds back all entries in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.margin.descent import complete, least_price
from sdpdr.families.factor.margin.entries import Observed
from sdpdr.families.factor.margin.factors import Completion, Program
from sdpdr.families.factor.margin.losses import SquaredLoss

# What an offset costs, in ratings and in signs. Of the 17 families of ``benchmarks/sign_prices.py``
# 15 tells signs better than 5 on ten, by up to 1.3 points, and worse on five: 0.5 where offsets are
# all there is, 0.3 on MovieLens, 0.1 on three.
RIDGE, SIGN_RIDGE = 5.0, 15.0
# Seconds of a fit where neither a limit nor a solver is asked for, as of unfoldings.
PATIENCE = 60.0
# Of the time that there is: what the choice of a price may take.
_CHOOSING = 0.5
# Where nothing can be held back, or there is no time. On MovieLens 100k near the best.
RULE = 2.0
# With noise errors rise from 1.4 to 8 on. Without 1.2 and 1.7 `MMMFCV` had up to 1.7 points of
# signs less on four of 16 families (``benchmarks/sign_prices.py``), and more than 0.2 more on none;
# further numbers in between had errors of ratings smaller by 1 % at most.
_TIMES = (1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0, 32.0)
# Ratings next to without noise want more: of rank three, 500 to 1200 seen, the best was 32 to 128
# with noise of 10 %, 64 to 512 with 1 %, and the error on all others up to 28 % and 86 % below that
# at 32. So prices double while each takes so large a part off the error, to the last.
_FALL, _LAST = 0.01, 1024.0
# A path ends where no price up to so many times the best had a smaller error.
_BEYOND = 1.9
# A fifth is held back, and another one until so many ratings were: one split of MovieLens 100k,
# three of 5000 ratings, for which each chose the same multiple as five did.
_PARTS, _ENOUGH = 5, 2000
# Of the gap. At 1e-1 the path keeps to zero for too long; at 3e-2 it is no faster.
_TOL, _ROUNDS = 1e-2, 20

# Where no price makes a matrix pay, all give the same.
ANY_PRICE = 1.0


@dataclass(frozen=True, eq=False)
class Path:
    """Prices tried, and what entries held back say of them.

    Attributes
    ----------
    times : array of shape (n,)
        Multiples of the least price, ascending.
    errors : array of shape (n,)
        On what is held back.
    is_cut : bool
        Whether there was no time to go on.
    rule : float
        The multiple to take where there was time for none.
    """

    times: Array = field(default_factory=lambda: np.zeros(0))
    errors: Array = field(default_factory=lambda: np.zeros(0))
    is_cut: bool = False
    rule: float = RULE

    @property
    def best(self) -> float:
        """The multiple of the smallest error, the lowest of several.

        The lowest within a standard error of that was tried with signs: up to 0.8 points better on
        13 families of hundreds of signs held back, and up to 1.7 worse on five tables of a hundred.

        The rule if there is none, and where a path that was cut had not come so far.
        """
        if not self.times.size:
            return self.rule
        k = int(np.argmin(self.errors))
        still_falls = self.is_cut and k == self.times.size - 1
        return max(float(self.times[k]), self.rule if still_falls else 0.0)

    def priced(self, least: float) -> tuple[float, Array, Array]:
        """The best price, all that were tried, and their errors.

        Parameters
        ----------
        least : float
            The price below which the matrix of the program to be fitted is zero; infinite where no
            price makes one pay.
        """
        if not np.isfinite(least):
            return ANY_PRICE, np.zeros(0), np.zeros(0)
        return least * self.best, least * self.times, self.errors


def choosing_of(deadline: Deadline) -> Deadline:
    """That of the choice of a price, which leaves time for the fit."""
    return deadline.sooner(_CHOOSING * deadline.ahead)


def why_zero(errors: Array, ridge: float) -> str:
    """Why the best matrix is zero, and what to do.

    Parameters
    ----------
    errors : array of shape (n,)
        Of the prices tried; of none where one was given.
    ridge : float

    Examples
    --------
    >>> why_zero(np.zeros(0), np.inf)
    'Raise c.'
    """
    if errors.size < 2:
        return "Raise c."
    told = (
        "no more of each other than offsets do" if np.isfinite(ridge) else "nothing of each other"
    )
    return (
        f"No higher price predicted what was held back better (errors_): entries tell {told}. "
        "Pass c for a matrix all the same."
    )


def ascended(
    error_at: Callable[[float], float], deadline: Deadline, given: Sequence[float] = ()
) -> Path:
    """Ascend multiples until errors on what is held back rise.

    Parameters
    ----------
    error_at : callable
        The error at a multiple, 0 at best. It may be anything once the time is over: a price that
        the deadline cuts short does not count.
    deadline : Deadline
    given : sequence of float, optional
        Multiples that somebody named, ascending. All are tried, and the lowest is the rule.

    Examples
    --------
    >>> path = ascended(lambda multiple: 1.0 + (multiple - 3.0) ** 2, Deadline())
    >>> path.times.tolist(), path.best
    ([1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 5.6], 2.8)
    """
    times: list[float] = []
    errors: list[float] = []
    is_cut = False
    for multiple in given or ascending(errors):
        error = error_at(multiple)
        if deadline.is_over():
            is_cut = True
            break
        times.append(multiple)
        errors.append(error)
        if not given and multiple >= _BEYOND * times[int(np.argmin(errors))]:
            break
    return Path(np.array(times), np.array(errors), is_cut, given[0] if given else RULE)


def ascending(errors: list[float]) -> Iterator[float]:
    """Multiples to try, while errors of those before tell that more of them pay.

    Parameters
    ----------
    errors : list of float
        To which that of each multiple is added before the next is asked for.

    Examples
    --------
    >>> errors = []
    >>> for multiple in ascending(errors):
    ...     errors.append(1.0 / (3.0 + multiple))
    >>> multiple
    1024.0
    """
    yield from _TIMES
    multiple = _TIMES[-1]
    while multiple < _LAST and errors[-1] < (1.0 - _FALL) * errors[-2]:
        multiple *= 2.0
        yield multiple


def held_back(entries: Observed, parts: int, seed: int) -> Iterator[tuple[Observed, Observed]]:
    """What is seen and what is held back, each entry in one of so many parts at random.

    Parameters
    ----------
    entries : Observed
    parts : int
    seed : int
    """
    for seen, held in KFold(parts, shuffle=True, random_state=seed).split(entries.values):
        yield entries.only(seen), entries.only(held)


def chosen_path(entries: Observed, ridge: float, deadline: Deadline, random_state: Any) -> Path:
    """The warm path in half of the time, on as many splits as hold enough ratings back.

    Parameters
    ----------
    entries : Observed
    ridge : float
        Of offsets.
    deadline : Deadline
    random_state : int or RandomState
        Of the split, and of directions in which columns are added.

    Returns
    -------
    Path
        Empty where what is left of a split are equal ratings, or there was no time.
    """
    seed, deadline = validate.seed(random_state), choosing_of(deadline)
    parts: list[_HeldPart] = []
    held = 0
    for seen, left_out in held_back(entries, min(_PARTS, entries.values.size), seed):
        if np.ptp(seen.values) > 0.0:
            parts.append(_HeldPart(seen, left_out, ridge, seed))
            held += left_out.values.size
        if held >= _ENOUGH:
            break

    def error_at(multiple: float) -> float:
        return float(np.sqrt(sum(part.squares(multiple, deadline) for part in parts) / held))

    return ascended(error_at, deadline) if parts else Path()


class _HeldPart:
    """Ratings held back, and the last completion of those seen."""

    def __init__(self, seen: Observed, held: Observed, ridge: float, seed: int) -> None:
        self.held = held
        self._last: Completion | None = None
        self._program = Program(seen, SquaredLoss(seen.values), "trace", 1.0, ridge, seed)
        self._least = least_price(self._program)

    def squares(self, multiple: float, deadline: Deadline) -> float:
        """The sum of squared errors on what is held back, at a price."""
        program = self._program.priced(multiple * self._least)
        self._last = complete(
            program, tol=_TOL, max_iter=_ROUNDS, deadline=deadline, start=self._last, rough=True
        )
        found = self._last
        scores = found.scores(*self.held.places.T)
        predicted = program.loss.ratings(scores, found.shared)
        return float(np.sum(np.square(predicted - self.held.values)))
