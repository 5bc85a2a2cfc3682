"""Pages: sections of words, figures and tables, written as HTML, Markdown or reStructuredText.

What a study has to say is computed once, in `study_page` and `comparison_page`, and what a solve
has to say in `sdpdr.lab.study.report`; `write_page` writes any of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from sdpdr.lab.study.page.content import study_page
from sdpdr.lab.study.page.parts import Cell, Chart, Page, Section, Table
from sdpdr.lab.study.page.render import to_html, to_markdown, to_rst, write_page
from sdpdr.lab.study.page.versus import comparison_page

if TYPE_CHECKING:
    import pandas as pd

    from sdpdr.lab.study.reading import Read

__all__ = [
    "Cell",
    "Chart",
    "Page",
    "Section",
    "Table",
    "comparison_page",
    "study_page",
    "to_html",
    "to_markdown",
    "to_rst",
    "write_comparison",
    "write_page",
    "write_report",
]


def write_report(
    frame: pd.DataFrame,
    meta: Mapping[str, Any],
    environments: Mapping[str, Mapping[str, Any]],
    path: str | PathLike[str],
) -> None:
    """Write the report of a study; a reader finds a whole one or none.

    Parameters
    ----------
    frame, meta, environments
        As for `study_page`.
    path : path
        The suffix tells the format: ``.html``, ``.md``, or ``.rst`` with its figures beside it.

    Raises
    ------
    FileFormatError
        The suffix is another.
    """
    write_page(study_page(frame, meta, environments), path)


def write_comparison(before: Read, after: Read, path: str | PathLike[str]) -> str:
    """Write the comparison of two results; a reader finds a whole one or none.

    Parameters
    ----------
    before, after : Read
        From `sdpdr.lab.study.reading.read_results`.
    path : path
        As for `write_report`.

    Returns
    -------
    str
        The verdict and its reasons, a sentence a line.

    Raises
    ------
    FileFormatError
        The suffix is another.
    """
    page = comparison_page(before, after)
    write_page(page, path)
    return "\n".join(page.verdict)
