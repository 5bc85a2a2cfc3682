"""Tables for the documentation: our figure beside the printed one, with protocol and reasons.

What readers want to see stands on a page (`write_table`); what somebody may ask for is a file to
download (`write_csv`), which ``docs/evidence/index.rst`` lists.
"""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from sdpdr.base.files import write_text

FOLDER = Path(__file__).parents[1] / "docs" / "tables"


def write_table(
    name: str,
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    command: str,
    notes: Sequence[str] = (),
) -> Path:
    """Write ``docs/tables/NAME.rst``, which a page includes.

    Parameters
    ----------
    name : str
    head : sequence of str
    rows : iterable of sequences
        Cells in reStructuredText, as many as in the head.
    command : str
        What a reader types to write the table anew.
    notes : sequence of str
        Protocol, seeds and the reason of each difference; one paragraph each.
    """
    lines = [".. list-table::", "   :header-rows: 1", "   :class: facts", ""]
    for row in _checked(name, head, rows):
        lines += [f"   {'* ' if k == 0 else '  '}- {cell}" for k, cell in enumerate(row)]
    paragraphs = [f"Written by ``{command}``.", *notes]
    lines += [line for text in paragraphs for line in ("", text)]
    return _written(f"{name}.rst", "\n".join(lines) + "\n")


def write_csv(
    name: str,
    head: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    command: str,
    notes: Sequence[str] = (),
) -> Path:
    """Write ``docs/tables/NAME.csv``, whose first lines are comments with the protocol.

    Parameters as those of `write_table`; ``pandas.read_csv(path, comment="#")`` reads the file.
    """
    file = io.StringIO()
    for text in (f"Written by {command}.", *notes):
        file.writelines(f"# {line}\n" for line in textwrap.wrap(plain(text), 98))
    cells = (map(plain, row) for row in _checked(name, head, rows))
    csv.writer(file, lineterminator="\n").writerows(cells)
    return _written(f"{name}.csv", file.getvalue())


def plain(text: str) -> str:
    """Text without the marks of reStructuredText."""
    text = re.sub(r":\w+:`([^`<]+?)(?: <[^>]*>)?`", r"\1", text)
    return re.sub(r"\*+([^*]+)\*+", r"\1", text).replace("`", "")


def _checked(
    name: str, head: Sequence[str], rows: Iterable[Sequence[object]]
) -> Iterable[list[str]]:
    for row in (head, *rows):
        cells = [str(cell) for cell in row]
        if len(cells) != len(head):
            raise ValueError(f"{name}: a row of {len(cells)} cells under {len(head)} heads.")
        yield cells


def _written(name: str, text: str) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_text(FOLDER / name, text)
    return FOLDER / name
