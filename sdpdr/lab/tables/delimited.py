"""Text tables as people have them: any separator and decimal mark, with a header or without."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from pathlib import Path

import numpy as np

from sdpdr.base.columns import told_apart
from sdpdr.base.errors import FileFormatError
from sdpdr.base.progress import show_count
from sdpdr.lab.tables.cells import (
    SAID,
    SEPARATORS,
    decimal_mark,
    has_comma,
    hint,
    is_number,
    question_late_points,
    require_marks_apart,
)
from sdpdr.lab.tables.first_lines import (
    has_header,
    is_pandas_array,
    lacks_a_name,
    question_first_lines,
    question_header,
    require_no_title,
)
from sdpdr.lab.tables.form import Form, GrowingColumns, without_percent
from sdpdr.lab.tables.lines import are_even, cells_of, torn, without_notes
from sdpdr.lab.tables.text_files import encoding_of, opened

DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", "space")
# Lines that separators and decimal marks are told from, and rows that are converted together.
_SAMPLE, _TOGETHER = 100, 4096
# The first line of text that says what stands between its cells.
_TOLD = re.compile(r"\"?sep=(?P<separator>[,;|\t ])\"?\s*$", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class TextTable:
    """A text table as it was read.

    Attributes
    ----------
    columns : dict from name to array of shape (n,)
        Floats where all cells are numbers in range, or not known; the cells as text otherwise.
    lines : list of int or None
        Of the file, where each row stands; None of a table whose rows were columns.
    separator, decimal : str
    named : bool
        Whether the file names its columns; their names are ``"1"``, ``"2"``, ... otherwise.
    padded : frozenset of str
        Columns of numbers of which some begin with zeros, as codes do.
    """

    columns: dict[str, np.ndarray]
    lines: list[int] | None
    separator: str
    decimal: str
    named: bool
    padded: frozenset[str] = frozenset()


def read_text(
    path: Path,
    separator: str | None = None,
    decimal: str | None = None,
    header: str = "auto",
    *,
    usual: str = ",",
    skip: int = 0,
    thousands: str | None = None,
    percent: bool = False,
    unknown: Collection[str] = (),
    without: Collection[int] = (),
    transpose: bool = False,
    as_written: Callable[[str], bool] = lambda name: False,
) -> TextTable:
    """Read a text table, compressed or not, some rows at a time.

    Parameters
    ----------
    path : Path
    separator : str, optional
        Between cells; a blank stands for any number of them. By default the one that gives all
        lines the same number of cells, and most of them numbers.
    decimal : {".", ","}, optional
        By default a comma where cells have commas for points, and none has a point.
    header : {"auto", "yes", "no"}
    usual : str, default ","
        Which separator it is if nothing speaks for another.
    skip : int, default 0
        Lines before the table. One that tells the separator (``sep=;``), as spreadsheets write it,
        is heeded and skipped in any case.
    thousands : {".", ",", "'", "space"}, optional
        Between the thousands of numbers. If a point or a comma, the decimal mark is the other one.
    percent : bool, default False
        Whether ``12 %`` is 12.
    unknown : collection of str, optional
        Cells that say that an entry is not known, beside the usual ones.
    without : collection of int, optional
        Lines of the file that are left out.
    transpose : bool, default False
        Whether rows are columns, and columns rows.
    as_written : callable
        Whether a column of some name is to be kept as text, be it numbers or not.

    Raises
    ------
    FileFormatError
        The file is no text table, a line has another number of cells than the first, or its decimal
        mark cannot be told.

    Warns
    -----
    VacuousWarning
        A first line that holds numbers, beside text or as 0, 1, 2, ..., was taken for a header by
        default.
    DoubtfulColumnWarning
        Some numbers of a column have signs of percent that were taken away, and some have none.
    """
    encoding = encoding_of(path)
    with opened(path, encoding) as (stream, _):
        told = _TOLD.match(next(stream, ""))
    if told is not None:
        separator, skip = separator or told["separator"], max(skip, 1)
    numbers, sample = _first_lines(path, encoding, skip, without)
    quoted = header != "no" and all(line.lstrip().startswith('"') for line in sample[:3])
    others = [s for s in SEPARATORS if s != usual and not (s == " " and thousands == "space")]
    known = (separator,) if separator else (usual, *others)
    split = {other: _split(sample, other) for other in known}
    separator = separator or _separator(split, usual, quoted)
    if thousands in DECIMALS:
        decimal = decimal or DECIMALS[1 - DECIMALS.index(thousands)]
    require_marks_apart(path.name, separator, decimal, thousands)
    rows = split[separator]
    indexed = header != "no" and lacks_a_name(rows, separator, quoted)
    if not indexed and not transpose:
        require_no_title(path.name, split, numbers)
    if percent:
        rows = [[without_percent(cell.strip()) for cell in row] for row in rows]
    asked = (decimal, thousands) == (None, None)
    unmarked = asked and not any("." in c and is_number(c) for row in rows for c in row)
    decimal = decimal or decimal_mark(path.name, rows, separator, thousands)
    if header == "auto" and not indexed and not transpose:
        question_first_lines(path.name, rows, numbers, decimal)
    form = Form(
        separator, decimal, encoding, skip, indexed, thousands, percent, unknown, without,
        transpose, unmarked,
    )  # fmt: skip
    texts: set[int] = set()
    while True:
        found, again = _read(path, form, header, texts, as_written)
        if not again:
            return found
        texts |= again


def _first_lines(
    path: Path, encoding: str, skip: int, without: Collection[int]
) -> tuple[list[int], list[str]]:
    """The first lines that hold anything, after their numbers in the file."""
    with opened(path, encoding) as (stream, _):
        numbered = islice(enumerate(stream, 1), skip, None)
        rest = (pair for pair in numbered if pair[0] not in without)
        told = list(islice((pair for pair in rest if pair[1].strip(" \t\r\n,;|")), _SAMPLE))
    if not told:
        below = f" below line {skip}" if skip else ""
        raise FileFormatError(f"{path.name} is empty{below}. Give it one line per point.")
    return [number for number, _ in told], [line for _, line in told]


def words_of(separator: str | None, decimal: str) -> str:
    """What a text table is made of, in words; empty if it is what everybody expects."""
    said = [] if separator in (None, ",", "\t") else [f"cells are separated by {SAID[separator]}"]
    said += ["numbers have decimal commas"] if decimal == "," else []
    return " and ".join(said)


# -- separators -------------------------------------------------------------------------------


def _separator(split: Mapping[str, Sequence[Sequence[str]]], usual: str, quoted: bool) -> str:
    """The separator of most numbers among those that give all lines the same number of cells.

    Where none does, the header may have no name for names of rows, or notes stand below the table.
    """
    even = {other: rows for other, rows in split.items() if are_even(rows)}
    if not even:
        even = {o: rows for o, rows in split.items() if lacks_a_name(rows, o, quoted)}
    if not even:
        # Notes hold blanks of their own.
        short = {other: without_notes(rows) for other, rows in split.items() if other != " "}
        even = {other: rows for other, rows in short.items() if are_even(rows)}
    best, most = usual, -1.0
    for other, rows in even.items():
        cells = [cell for row in rows[1:] or rows for cell in row]
        numbers = (is_number(c) or (other != "," and has_comma(c)) for c in cells)
        share = sum(numbers) / len(cells)
        if share > most:
            best, most = other, share
    return best


def _split(lines: Iterable[str], separator: str) -> list[list[str]]:
    try:
        return [[cell.strip() for cell in row] for _, row in cells_of(lines, separator)]
    except csv.Error:
        return []


# -- rows --------------------------------------------------------------------------------------


def _with_index(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Rows, the first with an empty cell before it, the name of the names of rows."""
    for number, names in islice(rows, 1):
        yield number, ["", *names]
    yield from rows


def _read(
    path: Path,
    form: Form,
    header: str,
    texts: Collection[int],
    as_written: Callable[[str], bool],
) -> tuple[TextTable, set[int]]:
    """The table, and columns that turned out to hold text after numbers had been made of them."""
    with opened(path, form.encoding) as (stream, raw):
        rows = _rows(path.name, stream, form)
        first = list(islice(rows, 2))
        if not first:
            raise FileFormatError(
                f"{path.name}: no line has cells with {SAID[form.separator]} between them. Say "
                "with --sep what stands there."
            )
        if is_pandas_array(first[0][1]):
            first += islice(rows, len(first[0][1]) - 1)
        named, names = _named(path.name, first, form, header)
        columns = GrowingColumns(names, form, texts, as_written)
        body = chain(first[1 if named else 0 :], rows)
        with show_count(None, f"reading {path.name}", path.stat().st_size) as count:
            before = 0
            while chunk := list(islice(body, _TOGETHER)):
                columns.add(chunk)
                count(raw.tell() - before)
                before = raw.tell()
    if not columns.again:
        question_late_points(path.name, columns.marked, form.separator)
        columns.signs.tell(path.name, names, columns.kept)
    lines = None if form.transpose else columns.lines
    padded = frozenset(columns.padded)
    found = TextTable(columns.joined(), lines, form.separator, form.decimal, named, padded)
    return found, columns.again


def _rows(name: str, stream: Iterable[str], form: Form) -> Iterator[tuple[int, list[str]]]:
    """Rows of as many cells each, with the numbers of their lines."""
    lines = chain(repeat("\n", form.skip), islice(stream, form.skip, None))
    told = (pair for pair in cells_of(lines, form.separator) if pair[0] not in form.without)
    rows = _even(name, _with_index(told) if form.indexed else told, form.separator)
    if form.transpose:
        return enumerate(map(list, zip(*(row for _, row in rows), strict=True)), 1)
    return rows


def _named(
    file: str, first: Sequence[tuple[int, list[str]]], form: Form, header: str
) -> tuple[bool, list[str]]:
    """Whether the first row names the columns, and their names."""
    cells = [form.plain(row) for _, row in first]
    named = header == "yes" or (header == "auto" and has_header(cells, form.decimal))
    if not named:
        return False, [str(k + 1) for k in range(len(cells[0]))]
    if header == "auto":
        line = "column" if form.transpose else "line"
        question_header(f"{file}, {line} {first[0][0]}", cells[0], form.decimal)
    names = told_apart(first[0][1])
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise FileFormatError(f"{file}: two columns are called {repeated!r}. Rename one.")
    return True, names


def _even(
    name: str, rows: Iterator[tuple[int, list[str]]], separator: str
) -> Iterator[tuple[int, list[str]]]:
    """Rows with their cells stripped, all of as many cells as the first."""
    width = 0
    for number, row in rows:
        if not width:
            width = len(row)
        if len(row) != width:
            said = torn(row, width, number) or hint(separator.join(row), separator)
            if len(row) < width and not said:
                said = f" If it is a note, --drop-lines {number} leaves it out."
            raise FileFormatError(
                f"{name}, line {number}: expected {width} cells as in the first line, found "
                f"{len(row)}. Mend the line, or its separator: {separator!r} is expected.{said}"
            )
        yield number, [cell.strip() for cell in row]
