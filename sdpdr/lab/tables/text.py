"""Text tables: separator, names and decimal mark are found or refused, never guessed in silence."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from sdpdr.base.columns import is_named_as_id
from sdpdr.base.errors import FileFormatError
from sdpdr.base.rows import counted, listed
from sdpdr.lab.tables.distances import distances_of
from sdpdr.lab.tables.table import (
    ReadOptions,
    Table,
    default_names,
    is_missing,
    looks_like_number,
    number,
)

# In this order where a file could be split by several.
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}
# Lines of other lengths that are worth a list.
_MANY = 8
# Lines that are looked at to find the separator.
_SAMPLE = 200
_ANY = ReadOptions(decimal="any")
_FRACTION = {mark: re.compile(rf"[-+\u2212]?\d*[{mark}]\d+(?:[eE][-+]?\d+)?\s*%?") for mark in ",."}
_IN_GROUPS = {
    mark: re.compile(rf"[-+\u2212]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+\s*%?") for mark in ",."
}
_YEARS = (1500.0, 2200.0)
LABEL_NAMES = re.compile(
    r"labels?|class|target|category|species|cluster|group|name|klasse|gruppe|classe|groupe",
    re.IGNORECASE,
)

Row = list[str]


@dataclass(frozen=True)
class Lines:
    """Lines of a file that may hold points, with numbers; ``comment`` is the last one above."""

    name: str
    numbers: Sequence[int]
    texts: Sequence[str]
    options: ReadOptions
    comment: str = ""
    remarks: tuple[str, ...] = ()

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


def table_lines(name: str, text: str, options: ReadOptions) -> Lines:
    """Return the lines of a text that are neither blank, nor comments, nor to be left out."""
    texts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [
        (k, line)
        for k, line in enumerate(texts, start=1)
        if line.strip() and k > options.skip and k not in options.drop_lines
    ]
    kept = kept[: len(kept) - options.skip_footer]
    # Spreadsheets write the separator in a first line of its own.
    if kept and (declared := re.fullmatch(r'"?sep=(.)"?', kept[0][1].strip())):
        kept, options = kept[1:], replace(options, sep=options.sep or declared[1])
    comment, below = "", list[int]()
    while kept and kept[0][1].lstrip().startswith("#"):
        comment = kept.pop(0)[1].lstrip("# \t")
    while kept and kept[-1][1].lstrip().startswith("#"):
        below.insert(0, kept.pop()[0])
    if not kept:
        empty = "is empty" if not text.strip() else "has no line with a point"
        raise FileFormatError(f"{name} {empty}. Give it one row per point.")
    left_out = "lines that begin with # are left out as comments"
    remarks = (f"{left_out}: {listed(below)}",) if below else ()
    numbers, lines = zip(*kept, strict=True)
    return Lines(name, numbers, lines, options, comment, remarks)


def read_text(lines: Lines, *, distances: bool = False) -> Table:
    r"""Read a text table as cells of text; refuse what can be read in two ways.

    With ``distances``, a square of numbers with zeros on its diagonal has no line of names.

    Examples
    --------
    >>> table = read_text(table_lines("t.csv", "x;kind\n1,5;a\n2,25;b\n", ReadOptions()))
    >>> table.columns, table.floats("x")
    (['x', 'kind'], array([1.5 , 2.25]))
    >>> table.remarks
    ('cells are separated by semicolons', 'numbers have decimal commas')
    """
    name, options = lines.name, lines.options
    sep = options.sep or _separator(lines)
    rows, numbers = lines.split(sep)
    if not rows:
        raise FileFormatError(f"{name} is empty. Give it one row per point.")
    _require_even(lines, rows, numbers)
    rows = _without_empty_end(rows)
    remarks = [] if sep in ",\t" else [f"cells are separated by {_SEPARATORS[sep]}"]
    remarks += lines.remarks
    names, top = None, numbers[0]
    if options.header == "yes" or (
        options.header == "auto"
        and not (distances and _is_square(rows))
        and _is_header(name, top, rows, remarks)
    ):
        names, rows, numbers = rows[0], rows[1:], numbers[1:]
    elif lines.comment:
        words = replace(lines, numbers=[1], texts=[lines.comment]).split(sep)[0][0]
        names = words if len(words) == len(rows[0]) and _has_no_number(words) else None
    if not rows:
        raise FileFormatError(
            f"{name} names columns ({', '.join(names or [])}) and has no row below them. "
            "Give it one row per point."
        )
    if names is not None and len(names) == len(rows[0]) - 1:
        _require_row_names(name, top, names, rows)
        names = ["", *names]
    if options.transpose:
        rows, names = _transposed(rows, names)
        numbers = [numbers[0]] * len(rows)
    columns = _column_names(name, names, len(rows[0]))
    # Tuples of columns, since pandas would look at every row of a list of rows.
    cells = dict(zip(columns, zip(*rows, strict=True), strict=True))
    frame = pd.DataFrame({key: np.array(column, dtype=object) for key, column in cells.items()})
    if options.na_values:
        frame = frame.mask(frame.isin(options.na_values))
    decimal = options.decimal or _decimal(name, cells, sep, options)
    if decimal == ",":
        remarks.append("numbers have decimal commas")
    options = replace(options, sep=sep, decimal=decimal)
    return Table(name, frame, np.array(numbers), options, names is not None, tuple(remarks))


def _reads(cell: str) -> bool:
    """Whether a cell is a number with a point or a comma."""
    return number(cell, _ANY) is not None


def _has_no_number(cells: Sequence[str]) -> bool:
    """Whether some cells hold something, and none a number in any notation."""
    known = [cell for cell in cells if not is_missing(cell)]
    return bool(known) and not any(map(looks_like_number, known))


# -- rows -----------------------------------------------------------------------------------------


def _separator(lines: Lines) -> str:
    """The separator that gives all lines the same number of cells, most of them numbers."""
    sample = replace(lines, numbers=lines.numbers[:_SAMPLE], texts=lines.texts[:_SAMPLE])
    scores: dict[str, tuple[float, float]] = {}
    for sep in _SEPARATORS:
        rows, _ = sample.split(sep)
        widths = Counter(map(len, rows))
        most, count = widths.most_common(1)[0] if rows else (1, 0)
        if most == 1:
            continue
        # R leaves out the name of the first column.
        even = count == len(rows) - 1 and len(rows[0]) == most - 1 > 1
        cells = [cell for row in rows[1:] or rows for cell in row if not is_missing(cell)]
        share = sum(map(_reads, cells)) / max(len(cells), 1)
        scores[sep] = (1.0 if even else count / len(rows), share)
    return max(scores, key=lambda sep: scores[sep]) if scores else ","


def _require_even(lines: Lines, rows: list[Row], numbers: list[int]) -> None:
    """Refuse rows of different lengths, with the option that helps."""
    widths = [len(row) for row in rows]
    width = Counter(widths[1:] or widths).most_common(1)[0][0]
    bad = [k for k, w in enumerate(widths) if w != width]
    # Names of columns may be one less, and separators at the ends of lines one more.
    is_even = not bad or (bad == [0] and widths[0] == width - 1)
    # Lines that share no separator, such as those of a triangle, are one cell each.
    if is_even and (width > 1 or all(_reads(row[0]) for row in rows[1:])):
        return
    name = lines.name
    if (found := distances_of(lines)) is not None:
        raise FileFormatError(
            f"{name}: its rows differ in length; it looks like {found.form}. "
            "--metric precomputed reads it."
        )
    if is_even:
        return
    first = widths[bad[0]]
    if width == 1 or 2 * len(bad) >= len(rows):
        raise FileFormatError(
            f"{name}, line {numbers[0]}: rows differ in length whatever separates their cells. "
            "Save it as a table with one row per point and the same number of cells in each."
        )
    if bad[0] == 0 and width == 2 * first > 2 and _has_no_number(rows[0]):
        raise FileFormatError(
            f"{name}: {first} names, but rows of {width} cells: commas seem to separate cells and "
            "to be decimal marks too. Save it with semicolons between cells."
        )
    above = next(k for k in range(len(rows)) if k not in bad)
    below = next(k for k in range(len(rows)) if len(rows) - 1 - k not in bad)
    options = [f"--skip {numbers[above] - 1}"] if above else []
    options += [f"--skip-footer {below}"] if below else []
    if above + below < len(bad):
        options = [f"--drop-lines {','.join(str(numbers[k]) for k in bad)}"]
    advice = "Complete the line"
    if above + below == len(bad) or len(bad) <= _MANY:
        advice += f"; or {' '.join(options)} leaves it out"
    raise FileFormatError(
        f"{name}, line {numbers[bad[0]]}: {counted(first, 'cell')}, but other lines have {width}. "
        f"{advice}."
    )


def _without_empty_end(rows: list[Row]) -> list[Row]:
    """Rows without the empty cells that separators at the ends of lines make."""
    width = max(map(len, rows))
    while width > 1 and not any(row[-1] for row in rows if len(row) == width):
        rows = [row[: width - 1] for row in rows]
        width -= 1
    return rows


def _is_square(rows: list[Row]) -> bool:
    """Whether rows are a square of numbers, perhaps missing ones, with zeros on its diagonal."""
    return (
        {len(row) for row in rows} == {len(rows)}
        and all(is_missing(cell) or _reads(cell) for row in rows for cell in row)
        and all(number(row[k], _ANY) == 0.0 for k, row in enumerate(rows))
    )


# -- names ----------------------------------------------------------------------------------------


def _is_header(name: str, line: int, rows: list[Row], remarks: list[str]) -> bool:
    """Whether the first row names the columns; a remark is added where it holds numbers."""
    top = rows[0]
    known = [cell for cell in top if not is_missing(cell)]
    if len(top) < len(rows[-1]) or _has_no_number(top):
        return True
    if len(rows) < 2:
        return False
    values, step = _evenly_spaced(top)
    if step and all(x == round(x) for x in values):
        are_years = len(values) > 2 and _YEARS[0] <= min(values) and max(values) <= _YEARS[1]
        if (values[0] == 0.0 and step == 1.0) or are_years:
            remarks.append(
                f"line {line} is taken for names of columns ({', '.join(known[:3])}, ...)"
            )
            return True
    doubtful = bool(step) and len(values) > 3 and not _evenly_spaced(rows[1])[1]
    for k, cell in enumerate(top):
        if not is_missing(cell) and not _reads(cell):
            below = [row[k] for row in rows[1:_SAMPLE] if not is_missing(row[k])]
            doubtful |= 2 * sum(map(_reads, below)) > len(below) or is_named_as_id(cell)
            doubtful |= LABEL_NAMES.fullmatch(cell) is not None
    if doubtful:
        raise FileFormatError(
            f"{name}, line {line} ({', '.join(known[:4])}, ...) may name the columns or be a "
            "point. --header yes takes it for names, --header no for a point."
        )
    return False


def _evenly_spaced(cells: Row) -> tuple[list[float], float]:
    """The numbers among cells, and their step if all steps are equal; 0 otherwise."""
    values = [x for cell in cells if (x := number(cell, _ANY)) is not None]
    steps = np.diff(values)
    even = bool(steps.size) and np.allclose(steps, steps[0], rtol=1e-6)
    return values, float(steps[0]) if even else 0.0


def _require_row_names(name: str, line: int, names: Row, rows: list[Row]) -> None:
    """Refuse names for all columns but the first, unless that names or counts the rows."""
    first = [row[0] for row in rows]
    counts = all(map(str.isdecimal, first)) and bool((np.diff(list(map(int, first))) > 0).all())
    if any(map(_reads, first)) and not counts:
        raise FileFormatError(
            f"{name}, line {line}: {counted(len(names), 'name')} for {len(rows[0])} columns, and "
            "the first column holds numbers. Add the missing name; if commas are decimal marks, "
            f"--sep ';' --decimal , reads them; if line {line} is a title, --skip {line} leaves it "
            "out."
        )


def _transposed(rows: list[Row], names: Row | None) -> tuple[list[Row], Row | None]:
    """Columns as rows: the first column names the coordinates, the header names the points."""
    labelled = not all(_reads(row[0]) or is_missing(row[0]) for row in rows)
    columns = [list(column) for column in zip(*rows, strict=True)]
    called = columns.pop(0) if labelled else None
    if names is None:
        return columns, called
    points = names[1:] if labelled else names
    turned = [[point, *column] for point, column in zip(points, columns, strict=True)]
    return turned, ["", *(called or default_names(len(rows)))]


def _column_names(name: str, names: Row | None, width: int) -> list[str]:
    if names is None:
        return default_names(width)
    if names.count("") > 1:
        names = [called or f"Unnamed: {k}" for k, called in enumerate(names)]
    called, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise FileFormatError(
            f"{name}: two columns are called {called!r}. Rename one; or --header no with "
            "--drop-lines leaves out the names."
        )
    return list(names)


# -- decimal marks --------------------------------------------------------------------------------


def _decimal(
    name: str, columns: Mapping[str, Sequence[str]], sep: str, options: ReadOptions
) -> str:
    """The decimal mark of a table; refused where its numbers can be read in two ways."""
    if options.thousands in (",", "."):
        return "." if options.thousands == "," else ","
    commas, points = (
        [(key, cell) for key, cells in columns.items() for cell in cells if found.fullmatch(cell)]
        for found in _FRACTION.values()
    )
    if not commas and not points:
        return "."
    mark, found = (",", commas) if commas else (".", points)
    in_groups = all(_IN_GROUPS[mark].fullmatch(cell) for _, cell in found)
    example = f"{found[0][1]!r} in column {found[0][0]!r}"
    if commas and points:
        raise FileFormatError(
            f"{name}: {example} has a comma and {points[0][1]!r} in column {points[0][0]!r} a "
            f"point. If both are decimal marks, {'--thousands , or ' if in_groups else ''}"
            "--decimal any reads the file."
        )
    # Points: numbers with three decimals are written so to the last zero; a whole one below a
    # thousand speaks for thousands, as does the separator of files with decimal commas.
    beside = {cell for key in dict(found) for cell in columns[key]}
    has_small = any(re.fullmatch(r"[-+\u2212]?0*[1-9]\d{0,2}", cell) for cell in beside)
    if in_groups and (mark == "," or sep == ";" or has_small):
        raise FileFormatError(
            f"{name}: {example} may be a fraction or have a mark between thousands. Say with "
            f"--decimal {mark} or --thousands {mark} which it is."
        )
    return mark
