"""Pages of the studies whose rows lie in ``docs/studies``: made anew from them at every build.

``study-verdict:: NAME`` shows the sentences that such a page begins with.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sdpdr.study.page import study_page, write_report
from sdpdr.study.store import Read, read_results

FOLDER = Path(__file__).parents[1] / "studies"


@lru_cache
def read(name: str) -> Read:
    """The rows of a study."""
    return read_results(FOLDER / f"{name}.parquet")


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
        results = read(self.arguments[0])
        page = study_page(results.frame, results.meta, results.environments)
        items = [nodes.list_item("", nodes.paragraph(text=words)) for words in page.verdict]
        return [nodes.bullet_list("", *items)]


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.add_directive("study-verdict", StudyVerdict)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
