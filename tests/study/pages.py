"""Results that never ran, with everything that a page has to show, hostile words included."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.lab.study.page import Cell, Page, Table
from sdpdr.lab.study.reading import Read

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


VOID = {"meta", "br", "input"}


class Reader(HTMLParser):
    """Checks that elements nest, and collects identifiers, addresses, handlers and scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.ids, self.addresses, self.handlers = [], [], [], []
        self.scripts, self.words, self.cells = [], [], 0
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([dict(attrs).get("type", ""), ""])

    def handle_startendtag(self, tag, attrs):
        self.cells += tag in ("td", "th")
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "action", "srcset", "data"):
                self.addresses.append(value)
            if name.startswith("on"):
                self.handlers.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data
        else:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def table_of(page: Page, name: str) -> Table:
    return next(t for section in page.sections for t in section.tables if t.name == name)


def column(table: Table, title: str) -> list:
    place = [column.title for column in table.columns].index(title)
    cells = [row[place] for row in table.rows]
    return [cell.value if isinstance(cell, Cell) else cell for cell in cells]
