"""The price of the loss by evidence: what predicts ratings held back best, along a warm path.

All prices are multiples of the least one of the ratings seen, below which the matrix is zero. The
path is that of the squared loss and the trace norm whatever is fitted in the end: it takes seconds
where that of the hinge or of the max-norm takes minutes, and the best multiples agree well. On four
families of synthetic ratings (``benchmarks/rating_prices.py``) errors of these at the multiple so
found were at most 2.3 % above those at the multiple that a path of their own found. Signs are
ratings of two levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.families.factor.margin.entries import Entries
from sdpdr.families.factor.margin.factors import Completion, Program, complete
from sdpdr.families.factor.margin.losses import Squared

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
# A denser list had an error smaller by 1 % at most. With noise errors rise from 1.4 to 8 on.
_TIMES = (1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 16.0, 32.0)
# Ratings next to without noise want more: of rank three, 500 to 1200 seen, the best was 32 to 128
# with noise of 10 %, 64 to 512 with 1 %, and the error on all others up to 28 % and 86 % below that
# at 32. So prices double while each takes so large a part off the error, to the last.
_FALL, _LAST = 0.01, 1024.0
# After so many prices without a smaller error the path ends.
_PATIENCE = 2
# A fifth is held back, and another one until so many ratings were: one split of MovieLens 100k,
# three of 5000 ratings, for which each chose the same multiple as five did.
_PARTS, _ENOUGH = 5, 2000
# Of the gap. At 1e-1 the path keeps to zero for too long; at 3e-2 it is no faster.
_TOL, _ROUNDS = 1e-2, 20

# Where no price makes a matrix pay, all give the same.
ANY_PRICE = 1.0


@dataclass(frozen=True, eq=False)
class Path:
    """Prices tried, and what ratings held back say of them.

    Attributes
    ----------
    times : array of shape (n,)
        Multiples of the least price, ascending.
    errors : array of shape (n,)
        Root mean squared errors on the ratings held back.
    is_cut : bool
        Whether there was no time to go on.
    """

    times: Array = field(default_factory=lambda: np.zeros(0))
    errors: Array = field(default_factory=lambda: np.zeros(0))
    is_cut: bool = False

    @property
    def best(self) -> float:
        """The multiple of the smallest error, the lowest of several.

        The lowest within a standard error of that was tried with signs: up to 0.8 points better on
        13 families of hundreds of signs held back, and up to 1.7 worse on five tables of a hundred.

        The rule if there is none, and where a path that was cut had not come so far.
        """
        if not self.times.size:
            return RULE
        k = int(np.argmin(self.errors))
        still_falls = self.is_cut and k == self.times.size - 1
        return max(float(self.times[k]), RULE if still_falls else 0.0)

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


def chosen_path(entries: Entries, ridge: float, deadline: Deadline, random_state: Any) -> Path:
    """Prices tried on ratings held back, in half of the time that there is.

    Parameters
    ----------
    entries : Entries
    ridge : float
    deadline : Deadline
    random_state : int or RandomState
    """
    return tried_prices(entries, ridge, choosing_of(deadline), validate.seed(random_state))


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


def tried_prices(entries: Entries, ridge: float, deadline: Deadline, seed: int) -> Path:
    """Ascend prices until errors on ratings held back rise.

    Parameters
    ----------
    entries : Entries
    ridge : float
        Of offsets.
    deadline : Deadline
        A price that it cuts short does not count.
    seed : int
        Of the split, and of directions in which columns are added.

    Returns
    -------
    Path
        Empty where what is left of a split are equal ratings, or there was no time.
    """
    parts = _parts(entries, ridge, seed)
    held = sum(part.held.values.size for part in parts)
    times: list[float] = []
    errors: list[float] = []
    is_cut = False
    for multiple in ascending(errors) if held else ():
        squares = sum(part.squares(multiple, deadline) for part in parts)
        if deadline.is_over():
            is_cut = True
            break
        times.append(multiple)
        errors.append(float(np.sqrt(squares / held)))
        if len(errors) - 1 - int(np.argmin(errors)) >= _PATIENCE:
            break
    return Path(np.array(times), np.array(errors), is_cut)


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


def _parts(entries: Entries, ridge: float, seed: int) -> list[_Part]:
    """As many splits as it takes to hold enough ratings back."""
    n = entries.values.size
    split = KFold(min(_PARTS, n), shuffle=True, random_state=seed)
    parts: list[_Part] = []
    for seen, held in split.split(entries.values):
        if np.ptp(entries.values[seen]) > 0.0:
            parts.append(_Part(entries, seen, held, ridge, seed))
        if sum(part.held.values.size for part in parts) >= _ENOUGH:
            break
    return parts


class _Part:
    """Ratings seen and held back, and the last completion of those seen."""

    def __init__(self, entries: Entries, seen: Index, held: Index, ridge: float, seed: int) -> None:
        self.held, known = entries.only(held), entries.only(seen)
        self._last: Completion | None = None
        self._program = Program(known, Squared(known.values), "trace", 1.0, ridge, seed)
        self._least = self._program.least_price()

    def squares(self, multiple: float, deadline: Deadline) -> float:
        """The sum of squared errors on what is held back, at a price."""
        program = self._program.priced(multiple * self._least)
        self._last = complete(
            program, tol=_TOL, max_iter=_ROUNDS, deadline=deadline, start=self._last
        )
        found = self._last
        scores = found.scores(*self.held.places.T)
        predicted = program.loss.ratings(scores, found.shared)
        return float(np.sum(np.square(predicted - self.held.values)))
