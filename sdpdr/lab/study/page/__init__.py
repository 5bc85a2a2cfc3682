"""The report of a study: one HTML page, Markdown, or reStructuredText with figures.

Needs the extra ``sdpdr[study]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import write_text
from sdpdr.lab.study.page.content import study_page
from sdpdr.lab.study.page.html import to_html
from sdpdr.lab.study.page.markdown import to_markdown
from sdpdr.lab.study.page.parts import Cell, Chart, Column, Page, Section, Table
from sdpdr.lab.study.page.rst import to_rst
from sdpdr.lab.study.page.versus import comparison_page

if TYPE_CHECKING:
    import pandas as pd

    from sdpdr.lab.study.reading import Read

__all__ = [
    "Cell",
    "Chart",
    "Column",
    "Page",
    "Section",
    "Table",
    "comparison_page",
    "study_page",
    "to_html",
    "to_markdown",
    "to_rst",
    "write_comparison",
    "write_report",
]

_WRITERS: Mapping[str, Callable[[Page], str]] = MappingProxyType(
    {".html": to_html, ".htm": to_html, ".md": to_markdown}
)


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
    path = Path(path)
    if path.suffix == ".rst":
        to_rst(study_page(frame, meta, environments), path.parent, path.stem)
        return
    write = _writer(path)
    write_text(path, write(study_page(frame, meta, environments)))


def write_comparison(before: Read, after: Read, path: str | PathLike[str]) -> str:
    """Write the comparison of two results; a reader finds a whole one or none.

    Parameters
    ----------
    before, after : Read
        From `sdpdr.lab.study.reading.read_results`.
    path : path
        The suffix tells the format: ``.html`` or ``.md``.

    Returns
    -------
    str
        The verdict and its reasons, a sentence a line.

    Raises
    ------
    FileFormatError
        The suffix is another.
    """
    write = _writer(path)
    page = comparison_page(before, after)
    write_text(path, write(page))
    return "\n".join(page.verdict)


def _writer(path: str | PathLike[str]) -> Callable[[Page], str]:
    suffix = Path(path).suffix.lower()
    if suffix not in _WRITERS:
        raise FileFormatError(
            f"{path}: a report cannot be written as {suffix or 'a file without a suffix'}. Choose "
            f"one of {', '.join(_WRITERS)}."
        )
    return _WRITERS[suffix]
