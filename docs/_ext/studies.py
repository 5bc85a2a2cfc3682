"""Pages of the studies whose records lie in ``docs/studies``: made anew from them at every build.

``study-verdict:: NAME`` shows the sentences with which such a page begins, and
``study-ranking:: NAME`` its ranking.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from docutils import nodes
from listtable import list_table, parsed
from sphinx.util.docutils import SphinxDirective

from sdpdr.base.files import write_text
from sdpdr.lab.study.page import Page, to_markdown
from sdpdr.lab.study.report import study_page
from sdpdr.lab.study.results import read_results

FOLDER = Path(__file__).parents[1] / "studies"


def path_of(name: str) -> str:
    """Where the records of a study lie."""
    return str(FOLDER / f"{name}.parquet")


@lru_cache
def page_of(name: str) -> Page:
    """The report of a study."""
    return study_page(read_results(path_of(name)))


def write_pages(app: Any) -> None:
    """Write ``generated/NAME.md``, and its figures beside it, for every ``NAME.parquet``."""
    generated = FOLDER / "generated"
    for records in sorted(FOLDER.glob("*.parquet")):
        pictures = generated / records.stem
        pictures.mkdir(parents=True, exist_ok=True)
        page = page_of(records.stem)
        # Every run would be a table of thousands of lines.
        kept = [section for section in page.sections if section.name != "runs"]
        text = to_markdown(replace(page, sections=kept), pictures)
        write_text(generated / f"{records.stem}.md", text)


class StudyVerdict(SphinxDirective):
    """The answer of a study in sentences."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(path_of(self.arguments[0]))
        page = page_of(self.arguments[0])
        items = [nodes.list_item("", nodes.paragraph(text=words)) for words in page.verdict]
        return [nodes.bullet_list("", *items)]


class StudyRanking(SphinxDirective):
    """The ranking of a study."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(path_of(self.arguments[0]))
        sections = {section.name: section for section in page_of(self.arguments[0]).sections}
        (table,) = sections["ranking"].tables
        lines = ([text for text, _ in line] for line in table.lines)
        return parsed(self, list_table([title for title, _ in table.heads], lines))


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write_pages)
    app.add_directive("study-verdict", StudyVerdict)
    app.add_directive("study-ranking", StudyRanking)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
