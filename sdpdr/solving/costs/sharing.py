"""How a deadline is divided among candidates that take turns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import inf

from sdpdr.solving.costs.prediction import Cost

# Times the seconds predicted, and seconds at least, after which a candidate has stalled.
PATIENCE, AT_LEAST = 5.0, 10.0
# The same of what is kept for a candidate that waits for its turn.
NEED, NEED_AT_LEAST = 2.0, 1.0


def patience(cost: Cost | None) -> float:
    """Seconds after which a candidate has stalled; infinite where nothing is known of its cost."""
    return inf if cost is None else max(AT_LEAST, PATIENCE * cost.seconds)


def crowding() -> float:
    """How many times as long as alone a process is likely to take here and now; at least one.

    Seconds predicted are those of a processor. Where more wants to run than there are processors,
    a candidate must not pass for stalled because others were served.

    Examples
    --------
    >>> crowding() >= 1.0
    True
    """
    if not hasattr(os, "getloadavg"):  # Windows
        return 1.0
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def shares(costs: Sequence[Cost | None], seconds: float = inf) -> tuple[float, ...]:
    """Seconds that each of some candidates may take in its turn.

    No candidate gets more than its `patience`, except the last of a finite time, who gets what is
    left. Of a short time at most half is kept for those who wait: as much as twice what they are
    predicted to take. Time that one does not use is there for the others, when they are asked
    about again.

    Parameters
    ----------
    costs : sequence of Cost or None
        In the order of the turns.
    seconds : float, default infinite
        In all.

    Examples
    --------
    >>> quick, slow = Cost(0.1, 0.0, 1.0), Cost(30.0, 0.0, 1.0)
    >>> shares([quick, slow])
    (10.0, 150.0)
    >>> shares([quick, slow, quick], 20.0)
    (10.0, 9.0, 1.0)
    """
    found, left = list[float](), seconds
    for k, cost in enumerate(costs):
        waiting = costs[k + 1 :]
        kept = min(sum(_need(one) for one in waiting), left / 2.0)
        share = left if left < inf and not waiting else min(patience(cost), left - kept)
        found.append(share)
        left -= share if share < inf else 0.0
    return tuple(found)


def _need(cost: Cost | None) -> float:
    return NEED_AT_LEAST if cost is None else max(NEED_AT_LEAST, NEED * cost.seconds)
