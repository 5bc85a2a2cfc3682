"""Results that never ran, with everything that a page has to show, hostile words included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sdpdr.study.store import Read

from .frames import frame

nan = float("nan")
HOSTILE = (
    '<script>window.stolen = 1</script><img src=x onerror="window.stolen = 1"></script> '
    "<a href='https://evil.example'>%{x}</a> & |pipe| `tick` ]]>"
)
CONTESTANTS = (
    ("scs", "gram"), ("clarabel", "gram"), ("clarabel", "lmi"), ("lowrank", "factor"),
    ("auto", "auto"),
)  # fmt: skip
META: dict[str, Any] = {
    "name": "quick",
    "title": "Quick <b>study</b>",
    "question": "Who is fastest?",
    "started": "2026-01-01T10:00:00",
    "finished": "2026-01-01T10:01:00",
    "command": "sdpdr study run quick",
    "settings": {"tolerances": [1e-6], "time_limit": 20.0, "threads": 1},
    "text": "[about]\ntitle = '</script><script>window.stolen = 1</script>'\n",
}
ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "e0": {"machine": "a <i>processor</i>", "processors": 2, "versions": {"numpy": "2.0"}}
}


def results(
    *, factor: float = 1.0, repeats: int = 2, tolerances: tuple[float, ...] = (1e-6,), seed: int = 0
) -> Read:
    """Five contestants on six cards and a family of five sizes.

    The third contestant lies on one card, and crashes on another with hostile last words.
    """
    rng = np.random.default_rng(seed)
    rows = []
    cards = [(f"card-{k}", "", ("mvu", "isomap")[k % 2], 20 + 7 * k) for k in range(6)]
    family = [(f"roll@{n}", "roll", "mvu", n) for n in (20, 40, 80, 160, 320)]
    for name, of, method, n in (*cards, *family):
        for k, (solver, form) in enumerate(CONTESTANTS):
            for tol in tolerances:
                for repeat in range(repeats):
                    seconds = 1e-4 * (1 + k) * n**1.5 * rng.lognormal(0, 0.03) * factor
                    row = {
                        "problem": name, "family": of, "method": method, "n": n, "solver": solver,
                        "form": form, "tol": tol, "repeat": repeat, "seconds": seconds,
                        "used": "scs, gram" if solver == "auto" else f"{solver}, {form}",
                    }  # fmt: skip
                    rows.append(row | _trouble(name, k))
    return Read(frame(*rows), META, ENVIRONMENTS)


def _trouble(name: str, k: int) -> dict[str, Any]:
    if (name, k) == ("card-1", 2):
        return {
            "outcome": "INACCURATE", "honesty": "overstated", "claimed": "optimal, <b>truly</b>",
            "words": HOSTILE, "gap": 1e-2, "worst": 1e-2, "value": 1.01, "bound": 1.0,
        }  # fmt: skip
    if (name, k) == ("card-2", 2):
        return {"outcome": "CRASHED", "honesty": "", "claimed": "", "words": HOSTILE}
    if name == "card-3" and k in (3, 4):
        return {"outcome": "TIME_LIMIT", "seconds": float("inf")}
    return {}


def unsolved(read: Read) -> pd.DataFrame:
    """The same rows, none of them solved."""
    return read.frame.assign(
        solved=False, outcome="FAILED", honesty="silent", gap=nan, value=nan, words="gave up"
    )
