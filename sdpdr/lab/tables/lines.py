"""The lines of a text table: what the user leaves out, comments, and cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sdpdr.base.errors import FileFormatError
from sdpdr.base.rows import listed
from sdpdr.lab.tables.options import ReadOptions

Row = list[str]


@dataclass(frozen=True)
class Lines:
    """The lines of a table, each with its number in the file.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    numbers, texts : sequences of equal length
    comment : str
        The last comment above the table.
    below : sequence of (int, str)
        Last lines that begin with ``#``: comments, or rows whose first cell begins so.
    """

    name: str
    numbers: Sequence[int]
    texts: Sequence[str]
    comment: str = ""
    below: Sequence[tuple[int, str]] = ()

    def with_below(self) -> Lines:
        """Return the lines with those below, as rows."""
        numbers, texts = zip(*self.below, strict=True) if self.below else ((), ())
        return replace(
            self, numbers=[*self.numbers, *numbers], texts=[*self.texts, *texts], below=()
        )

    def split(self, sep: str) -> tuple[list[Row], list[int]]:
        """Return rows of cells, and the lines on which they begin."""
        texts = [" ".join(text.split()) for text in self.texts] if sep == " " else self.texts
        reader = csv.reader((f"{text}\n" for text in texts), delimiter=sep, skipinitialspace=True)
        rows: list[Row] = []
        lines: list[int] = []
        start = 0
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if any(cells):  # spreadsheets write lines of separators alone below a table
                    rows.append(cells)
                    lines.append(self.numbers[start])
                start = reader.line_num
        except csv.Error as error:
            raise FileFormatError(
                f"{self.name}, line {self.numbers[start]}: {error}. Save the file as plain text."
            ) from None
        return rows, lines


def table_lines(name: str, text: str, options: ReadOptions) -> tuple[Lines, ReadOptions]:
    """Return the lines of a table without blank ones, comments above it and lines to skip.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    text : str
    options : ReadOptions

    Returns
    -------
    lines : Lines
    options : ReadOptions
        With the separator that a first line ``sep=;`` names.

    Raises
    ------
    FileFormatError
        No line is left.
    """
    texts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [
        (number, line)
        for number, line in enumerate(texts, start=1)
        if line.strip() and number > options.skip and number not in options.drop_lines
    ]
    if options.skip_footer:
        kept = kept[: -options.skip_footer]
    # Spreadsheets write the separator in a first line of its own.
    if kept and (told := re.fullmatch(r'"?sep=(.)"?', kept[0][1].strip())):
        kept, options = kept[1:], replace(options, sep=options.sep or told[1])
    comment = ""
    while kept and kept[0][1].lstrip().startswith("#"):
        comment, kept = kept[0][1].lstrip("# \t"), kept[1:]
    many = len(kept)
    while many and kept[many - 1][1].lstrip().startswith("#"):
        many -= 1
    kept, below = kept[:many], kept[many:]
    if not kept:
        empty = "is empty" if not text.strip() else "has no line with a point"
        raise FileFormatError(f"{name} {empty}. Give it one row per point.")
    numbers, lines = zip(*kept, strict=True)
    return Lines(name, numbers, lines, comment, below), options


def left_out(numbers: Sequence[int]) -> str:
    """Return a remark about comments below a table."""
    if len(numbers) == 1:
        return f"line {numbers[0]} begins with # and is left out as a comment"
    return f"lines {listed(numbers)} begin with # and are left out as comments"
