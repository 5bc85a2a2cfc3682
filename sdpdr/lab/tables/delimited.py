"""Text tables as people have them: any separator and decimal mark, with a header or without."""

from __future__ import annotations

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, repeat
from pathlib import Path

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
from sdpdr.lab.tables.form import AS_FOUND, Form, GrowingColumns, without_percent
from sdpdr.lab.tables.frame import FileTable
from sdpdr.lab.tables.lines import are_even, cells_of, torn, without_notes
from sdpdr.lab.tables.text_files import encoding_of, opened

DECIMALS = (".", ",")
THOUSANDS = (".", ",", "'", "space")
# Lines that separators and decimal marks are told from, and rows that are converted together.
_SAMPLE, _TOGETHER = 100, 4096
# The first line of text that says what stands between its cells.
_TOLD = re.compile(r"\"?sep=(?P<separator>[,;|\t ])\"?\s*$", re.IGNORECASE)


def read_text(path: Path, form: Form = AS_FOUND, usual: str = ",") -> FileTable:
    """Read a text table, compressed or not, some rows at a time.

    Parameters
    ----------
    path : Path
    form : Form, optional
        What is said of it; the rest is found by looking.
    usual : str, default ","
        Which separator it is if nothing speaks for another.

    Returns
    -------
    FileTable
        Its columns are floats where all cells are numbers in range, or not known; the cells as
        text otherwise.

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
    form = _looked_at(path, replace(form, encoding=encoding_of(path)), usual)
    texts: set[int] = set()
    while True:
        found, again = _read(path, form, texts)
        if not again:
            return found
        texts |= again


def _looked_at(path: Path, form: Form, usual: str) -> Form:
    """The form of a text, what is not said of it told from its first lines."""
    with opened(path, form.encoding) as (stream, _):
        told = _TOLD.match(next(stream, ""))
    if told is not None:
        said = form.separator or told["separator"]
        form = replace(form, separator=said, skip=max(form.skip, 1))
    numbers, sample = _first_lines(path, form)
    header, separator, thousands = form.header, form.separator, form.thousands
    quoted = header != "no" and all(line.lstrip().startswith('"') for line in sample[:3])
    others = [s for s in SEPARATORS if s != usual and not (s == " " and thousands == "space")]
    known = (separator,) if separator else (usual, *others)
    split = {other: _split(sample, other) for other in known}
    separator = separator or _separator(split, usual, quoted)
    decimal = form.decimal
    if thousands in DECIMALS:
        decimal = decimal or DECIMALS[1 - DECIMALS.index(thousands)]
    require_marks_apart(path.name, separator, decimal, thousands)
    rows = split[separator]
    indexed = header != "no" and lacks_a_name(rows, separator, quoted)
    if not indexed and not form.transpose:
        require_no_title(path.name, split, numbers)
    if form.percent:
        rows = [[without_percent(cell.strip()) for cell in row] for row in rows]
    points = any("." in cell and is_number(cell) for row in rows for cell in row)
    unmarked = not (decimal or thousands or points)
    decimal = decimal or decimal_mark(path.name, rows, separator, thousands)
    if header == "auto" and not indexed and not form.transpose:
        question_first_lines(path.name, rows, numbers, decimal)
    return replace(form, separator=separator, decimal=decimal, indexed=indexed, unmarked=unmarked)


def _first_lines(path: Path, form: Form) -> tuple[list[int], list[str]]:
    """The first lines that hold anything, after their numbers in the file."""
    with opened(path, form.encoding) as (stream, _):
        numbered = islice(enumerate(stream, 1), form.skip, None)
        rest = (pair for pair in numbered if pair[0] not in form.without)
        told = list(islice((pair for pair in rest if pair[1].strip(" \t\r\n,;|")), _SAMPLE))
    if not told:
        below = f" below line {form.skip}" if form.skip else ""
        raise FileFormatError(f"{path.name} is empty{below}. Give it one line per point.")
    return [number for number, _ in told], [line for _, line in told]


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

    def share(other: str) -> float:
        cells = [cell for row in even[other][1:] or even[other] for cell in row]
        numbers = (is_number(c) or (other != "," and has_comma(c)) for c in cells)
        return sum(numbers) / len(cells)

    return max(even, key=share, default=usual)


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


def _read(path: Path, form: Form, texts: Collection[int]) -> tuple[FileTable, set[int]]:
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
        named, names = _named(path.name, first, form)
        columns = GrowingColumns(names, form, texts)
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
    found = FileTable(
        path.name,
        columns.joined(),
        lines=None if form.transpose else columns.lines,
        separator=form.separator,
        decimal=form.decimal,
        named=named,
        padded=frozenset(columns.padded),
    )
    return found, columns.again


def _rows(name: str, stream: Iterable[str], form: Form) -> Iterator[tuple[int, list[str]]]:
    """Rows of as many cells each, with the numbers of their lines."""
    lines = chain(repeat("\n", form.skip), islice(stream, form.skip, None))
    told = (pair for pair in cells_of(lines, form.separator) if pair[0] not in form.without)
    rows = _even(name, _with_index(told) if form.indexed else told, form.separator)
    if form.transpose:
        return enumerate(map(list, zip(*(row for _, row in rows), strict=True)), 1)
    return rows


def _named(file: str, first: Sequence[tuple[int, list[str]]], form: Form) -> tuple[bool, list[str]]:
    """Whether the first row names the columns, and their names."""
    header = form.header
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
