"""Lines of text tables: their cells, what is drawn around them, and what torn ones say."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise

from sdpdr.base.errors import DoubtfulColumnWarning, warn
from sdpdr.lab.tables.cells import is_missing

# Lines of which the last may have been cut: as many as are looked at first.
_SURE = 99
# Lines that databases and Markdown draw between rows, and what is counted in a frame below them.
_RULE = re.compile(r"[\s|+:=-]*[-=]{3}[\s|+:=-]*")
_COUNT = re.compile(r"\s*\|\s*\d+ rows?\b[^|]*\|\s*")
# What frames are drawn with, light, heavy and double, in the characters of typewriters.
_DRAWN = str.maketrans(
    {
        **dict.fromkeys("\u2502\u2503\u2506\u2507\u250a\u250b\u2551", "|"),
        **dict.fromkeys("\u2500\u2501\u2504\u2505\u2508\u2509\u2550", "-"),
        **dict.fromkeys(map(chr, [*range(0x250C, 0x254C), *range(0x2552, 0x2571)]), "+"),
    }
)
# Lines above a drawn table that are looked at: prompts, titles, paragraphs.
_ABOVE = 50
# The beginning of a number and the rest of it, where a comma between its thousands parts cells.
_HEAD, _REST = re.compile(r"[-+]?[$€£]?\d{1,3}"), re.compile(r"\d{3}(?:\.\d+)?")


# -- cells -------------------------------------------------------------------------------------


def cells_of(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Cells of every line that has any, with the number of the line.

    Examples
    --------
    >>> list(cells_of(["+---+---+", "| x | y |", "+---+---+", "| 1 | 2 |"], "|"))
    [(2, ['x ', 'y ']), (4, ['1 ', '2 '])]
    """
    if separator == " ":
        lines = (line.strip().replace("\t", " ") for line in lines)
    if separator == "|":
        lines = _without_rules(lines)
    lines = _without_marks(lines, separator)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    for row in reader:
        if any(cell.strip() for cell in row):
            yield reader.line_num, row


def _without_rules(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a table as databases print it: without its rules, outer marks and count of rows.

    A rule stands above or below its first line, and what has no bar, as a prompt, is no row of it;
    other tables pass as they are.
    """
    every = iter(lines)
    first: list[str] = []
    drawn, bars = False, 0
    for line in islice(every, _ABOVE):
        first.append(line)
        plain = line.translate(_DRAWN)
        drawn = _RULE.fullmatch(plain) is not None
        bars += "|" in plain
        if drawn or bars > 1:
            break
    if not drawn:
        yield from chain(first, every)
        return
    for line in chain(first, every):
        inner = line.translate(_DRAWN).strip()
        if "|" not in inner or _RULE.fullmatch(inner) or _COUNT.fullmatch(inner):
            yield "\n"
        else:
            yield f"{inner[1:-1]}\n" if inner[0] == "|" == inner[-1] else f"{inner}\n"


def _without_marks(lines: Iterable[str], separator: str) -> Iterator[str]:
    """Lines, blank ones for those that begin with # before the table.

    But the last of these names the columns, as NumPy writes them, if it has as many cells as the
    line after it. Where several begin so and none does not, they are rows, of colours for instance.
    """
    every = iter(lines)
    before, first = [], None
    for line in every:
        if line.strip() and not line.startswith("#"):
            first = line
            break
        before.append(line)
    marked = [k for k, line in enumerate(before) if line.startswith("#")]
    if first is None and len(marked) > 1:
        yield from before
        return
    names = None
    if marked:
        last = before[marked[-1]].lstrip("# ")
        if first is None or _width(last, separator) == _width(first, separator):
            names = marked[-1]
    for k, line in enumerate(before):
        yield line.lstrip("# ") if k == names else "\n"
    if first is not None:
        yield first
    yield from every


def _width(line: str, separator: str) -> int:
    return len(next(csv.reader([line], delimiter=separator, skipinitialspace=True), []))


def torn(row: Sequence[str], width: int, number: int) -> str:
    """What a row of too few or too many cells says of quotes and commas; empty if nothing."""
    breaks = sum(cell.rstrip("\n").count("\n") for cell in row)
    if breaks:
        return f" A quote may have been opened in line {number - breaks} and never closed."
    if len(row) == 2 * width and all(cell.strip().lstrip("+-").isdecimal() for cell in row):
        return (
            " It seems to have decimal commas beside commas between cells: save it with semicolons "
            "between cells, or with decimal points."
        )
    parts = [(a, b) for a, b in pairwise(row) if _HEAD.fullmatch(a) and _REST.fullmatch(b)]
    if len(parts) != len(row) - width:
        return ""
    return f" It seems that {','.join(parts[0])!r} has a comma between thousands. Take it out."


# -- how many cells lines have ----------------------------------------------------------------


def are_even(rows: Sequence[Sequence[str]]) -> bool:
    """Whether lines have as many cells, several; the last may have been cut within quotes."""
    width = len(rows[0]) if rows else 0
    return width > 1 and all(len(row) == width for row in whole_ones(rows))


def whole_ones(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """All lines but the last, if there are others."""
    return rows[:-1] if len(rows) > _SURE else rows


def without_notes(rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]:
    """Rows up to the last that has as many cells as the first, if these are most of them."""
    as_first = [k for k, row in enumerate(rows) if len(row) == len(rows[0])]
    upto = as_first[-1] + 1 if as_first else 0
    return rows[:upto] if 2 * upto > len(rows) else rows


# -- signs of percent -------------------------------------------------------------------------


class PercentSigns:
    """Where columns have signs of percent, and where they have none."""

    def __init__(self) -> None:
        self._first: dict[tuple[int, bool], int] = {}

    def see(self, column: int, cells: Sequence[str], lines: Sequence[int]) -> None:
        """Look at some cells of a column; lines are where they stand."""
        for cell, line in zip(cells, lines, strict=True):
            if not is_missing(cell):
                self._first.setdefault((column, cell.endswith("%")), line)

    def tell(self, file: str, names: Sequence[str], others: Collection[int]) -> None:
        """Warn of columns that have both, but for some that hold text."""
        for column, name in enumerate(names):
            signed, bare = (self._first.get((column, has)) for has in (True, False))
            if column in others or signed is None or bare is None:
                continue
            line = max(signed, bare)
            has, before = ("a", "none") if line == signed else ("no", "one")
            warn(
                f"{file}, line {line}: the number in column {name!r} has {has} sign of percent, "
                f"and that in line {min(signed, bare)} has {before}. Signs are taken away, so that "
                "12 % is 12: if the others are shares, as 0.12, write all in one way.",
                DoubtfulColumnWarning,
            )
