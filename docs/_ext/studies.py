"""Pages of the studies whose rows lie in ``docs/studies``: made anew from them at every build.

``study-verdict:: NAME`` shows the sentences that such a page begins with, and
``study-regret:: NAME`` how far `auto` is from the best.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from listtable import list_table, parsed
from sphinx.util.docutils import SphinxDirective

from sdpdr.lab.study.measures import regret_of, runs_by_median
from sdpdr.lab.study.measures.regret import WITHIN
from sdpdr.lab.study.page import study_page, write_report
from sdpdr.lab.study.reading import Read, read_results

FOLDER = Path(__file__).parents[1] / "studies"


def path_of(name: str) -> str:
    """Where its rows lie."""
    return str(FOLDER / f"{name}.parquet")


@lru_cache
def read(name: str) -> Read:
    """The rows of a study."""
    return read_results(path_of(name))


def write_pages(app: Any) -> None:
    """Write ``generated/NAME.rst`` with its figures for every ``NAME.parquet``."""
    generated = FOLDER / "generated"
    generated.mkdir(exist_ok=True)
    for rows in sorted(FOLDER.glob("*.parquet")):
        results = read(rows.stem)
        page = generated / f"{rows.stem}.rst"
        write_report(results.frame, results.meta, results.environments, page)


class StudyVerdict(SphinxDirective):
    """The answer of a study in sentences."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(path_of(self.arguments[0]))
        results = read(self.arguments[0])
        page = study_page(results.frame, results.meta, results.environments)
        items = [nodes.list_item("", nodes.paragraph(text=words)) for words in page.verdict]
        return [nodes.bullet_list("", *items)]


class StudyRegret(SphinxDirective):
    """How far `auto` is from the best, on all instances and on those that take their time."""

    required_arguments = 1
    thresholds = (0.0, 0.1, 0.5)

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(path_of(self.arguments[0]))
        regret = regret_of(runs_by_median(read(self.arguments[0]).frame))
        head = ("Instances whose best takes", "Number", *(f"Within {x:g}" for x in WITHIN), "Mean")
        rows = []
        for least in self.thresholds:
            of = regret.table[regret.table["best_seconds"] >= least]
            ratios = of["ratio"].to_numpy()
            shares = [f"{np.mean(ratios <= x):.0%}" for x in WITHIN]
            mean = np.exp(np.mean(np.log(ratios[np.isfinite(ratios)])))
            words = f"at least {least:g} s" if least else "any time"
            rows.append((words, str(len(of)), *shares, f"{mean:.2f}"))
        return parsed(self, list_table(head, rows))


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.add_directive("study-verdict", StudyVerdict)
    app.add_directive("study-regret", StudyRegret)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
