"""Tables for the documentation: our figure beside the printed one, with protocol and reasons."""

from __future__ import annotations

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
    for row in (head, *rows):
        cells = [str(cell) for cell in row]
        if len(cells) != len(head):
            raise ValueError(f"{name}: a row of {len(cells)} cells under {len(head)} heads.")
        lines += [f"   {'* ' if k == 0 else '  '}- {cell}" for k, cell in enumerate(cells)]
    paragraphs = [f"Written by ``{command}``.", *notes]
    lines += [line for text in paragraphs for line in ("", text)]
    path = FOLDER / f"{name}.rst"
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_text(path, "\n".join(lines) + "\n")
    return path
