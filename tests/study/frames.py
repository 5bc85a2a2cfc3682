"""Results of studies that never ran: full frames from a few words, for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.lab.study.measures import frame_of
from sdpdr.lab.study.schema import IDENTITY

SOLVED = {
    "source": "card", "method": "mvu", "solver": "scs", "form": "gram", "tol": 1e-6, "seed": 0,
    "repeat": 0, "time_limit": 20.0, "memory_limit": 2**31, "threads": 1, "n": 30, "order": 29,
    "rows": 100, "outcome": "SOLVED", "claimed": "optimal", "honesty": "true", "solved": True,
    "certified": True, "value": 1.0, "bound": 1.0 + 1e-8, "gap": 1e-8, "worst": 1e-8,
    "claimed_value": 1.0, "iterations": 10, "build": 0.25, "peak_memory": 10**8, "attempts": 1,
    "started": "2024-01-01T00:00:00", "environment": "e0",
    **{f"err{k}": 1e-8 for k in range(1, 7)},
}  # fmt: skip
UNSOLVED = {
    "outcome": "TIME_LIMIT", "claimed": "time limit", "honesty": "silent", "solved": False,
    "certified": False, "words": "the time limit was reached", "value": float("nan"),
    "bound": float("nan"), "gap": float("nan"), "worst": float("nan"),
}  # fmt: skip


def frame(*rows: Mapping[str, Any], **common: Any) -> pd.DataFrame:
    """Rows with all columns of the schema.

    A row is solved unless its outcome, or ``solved``, says otherwise. Its ``seconds``, 1 by
    default, are the sum of ``compile``, ``solve`` and ``certify``; infinite ones make it a row that
    hit the time limit.

    >>> frame({"problem": "a", "seconds": 2.0}, {"problem": "b", "outcome": "CRASHED"})[
    ...     ["problem", "solver", "outcome", "solved", "solve"]]
      problem solver  outcome  solved  solve
    0       a    scs   SOLVED    True    1.5
    1       b    scs  CRASHED   False    0.0
    """
    return frame_of(_full({**common, **row}, at) for at, row in enumerate(rows))


def contest(
    seconds: Mapping[str, Sequence[float]], problems: Sequence[str] | None = None, **common: Any
) -> pd.DataFrame:
    """One row for each contestant, "solver form", and problem; infinite seconds are not solved.

    ``nan`` leaves the row out.

    >>> contest({"scs gram": [1.0, 2.0], "lowrank factor": [0.5, float("inf")]})[
    ...     ["problem", "solver", "form", "solved"]].values.tolist()
    [['p0', 'scs', 'gram', True], ['p0', 'lowrank', 'factor', True],
     ['p1', 'scs', 'gram', True], ['p1', 'lowrank', 'factor', False]]
    """
    count = len(next(iter(seconds.values())))
    names = problems or [f"p{i}" for i in range(count)]
    return frame(
        *(
            {"problem": name, "solver": who.split()[0], "form": who.split()[-1], "seconds": t[at]}
            for at, name in enumerate(names)
            for who, t in seconds.items()
            if not np.isnan(t[at])
        ),
        **common,
    )


def _full(row: dict[str, Any], at: int) -> dict[str, Any]:
    given = dict(row)
    ended = given.get("outcome", "SOLVED") != "SOLVED"
    seconds = given.pop("seconds", 0.0 if ended else 1.0)
    late = np.isinf(seconds)
    full = SOLVED | (UNSOLVED if late or ended else {}) | given
    seconds = full["time_limit"] if late else seconds
    times = {"compile": 0.125 * seconds, "solve": 0.75 * seconds, "certify": 0.125 * seconds}
    full = {"problem": "p0", "position": at} | times | full
    total = full["build"] + full["compile"] + full["solve"] + full["certify"]
    full = {"total": total, "wall": total + 0.5, "cpu": total} | full
    full.setdefault("used", f"{full['solver']}, {full['form']}")
    names = [column.name for column in IDENTITY if column.name != "key"]
    words = repr([full.get(name, "") for name in names])
    return {"key": hashlib.sha256(words.encode()).hexdigest()[:16]} | full
