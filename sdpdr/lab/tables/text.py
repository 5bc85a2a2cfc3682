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
from sdpdr.base.rows import counted
from sdpdr.lab.tables.table import (
    LABEL_NAMES,
    ReadOptions,
    Table,
    default_names,
    is_missing,
    number,
)

# In this order where a file could be split by several.
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas", " ": "blanks"}
# Up to this many lines of other lengths are listed.
_MANY = 8
# Lines that are read to find the separator.
_SAMPLE = 200
_FRACTION = {mark: re.compile(rf"[-+\u2212]?\d*[{mark}]\d+(?:[eE][-+]?\d+)?") for mark in ",."}
_IN_GROUPS = {mark: re.compile(rf"[-+\u2212]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+") for mark in ",."}
_BELOW_THOUSAND = re.compile(r"[-+\u2212]?0*[1-9]\d{0,2}")

Row = list[str]


@dataclass(frozen=True)
class _Lines:
    """Lines of a file that may hold points, with their numbers."""

    name: str
    numbers: Sequence[int]
    texts: Sequence[str]

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


def read_text(name: str, text: str, options: ReadOptions, *, distances: bool = False) -> Table:
    r"""Read a text table as cells of text; refuse what can be read in two ways.

    With ``distances``, a square of numbers with zeros on its diagonal has no line of names.

    Examples
    --------
    >>> table = read_text("t.csv", "x;kind\n1,5;a\n2,25;b\n", ReadOptions())
    >>> table.columns, table.floats("x")
    (['x', 'kind'], array([1.5 , 2.25]))
    >>> table.remarks
    ('cells are separated by semicolons', 'numbers have decimal commas')
    """
    lines, comment, declared = _table_lines(name, text, options)
    sep = options.sep or declared or _separator(lines)
    rows, numbers = lines.split(sep)
    if not rows:
        raise FileFormatError(f"{name} is empty. Give it one row per point.")
    _require_even(name, rows, numbers, sep)
    rows = _without_empty_end(rows)
    remarks = [] if sep in ",\t" else [f"cells are separated by {_SEPARATORS[sep]}"]
    names, top = None, numbers[0]
    if options.header == "yes" or (
        options.header == "auto"
        and not (distances and _is_square(rows))
        and _is_header(name, top, rows, remarks)
    ):
        names, rows, numbers = rows[0], rows[1:], numbers[1:]
    elif comment:
        words = _Lines(name, [1], [comment]).split(sep)[0][0]
        names = words if len(words) == len(rows[0]) and _has_no_number(words) else None
    if not rows:
        raise FileFormatError(
            f"{name} names columns ({', '.join(names or [])}) and has no row below them. "
            "Give it one row per point."
        )
    if names is not None and len(names) == len(rows[0]) - 1:
        _require_row_names(name, top, names, rows)
        names = ["", *names]
    columns = _column_names(name, names, len(rows[0]))
    # Tuples of columns, since pandas would look at every row of a list of rows.
    cells = dict(zip(columns, zip(*rows, strict=True), strict=True))
    frame = pd.DataFrame({key: np.array(column, dtype=object) for key, column in cells.items()})
    if options.na_values:
        frame = frame.mask(frame.isin(options.na_values))
    decimal = options.decimal or _decimal(name, cells, sep)
    if decimal == ",":
        remarks.append("numbers have decimal commas")
    options = replace(options, sep=sep, decimal=decimal)
    return Table(name, frame, np.array(numbers), options, names is not None, tuple(remarks))


def _table_lines(name: str, text: str, options: ReadOptions) -> tuple[_Lines, str, str]:
    """The lines of a table, the last comment above them, and a separator that the file declares."""
    texts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [
        (k, line)
        for k, line in enumerate(texts, start=1)
        if line.strip() and k not in options.drop_lines
    ]
    comment = declared = ""
    # Spreadsheets write the separator in a first line of its own.
    if kept and (found := re.fullmatch(r'"?sep=(.)"?', kept[0][1].strip())):
        kept, declared = kept[1:], found[1]
    while kept and kept[0][1].lstrip().startswith("#"):
        comment = kept.pop(0)[1].lstrip("# \t")
    if not kept:
        empty = "is empty" if not text.strip() else "has no line with a point"
        raise FileFormatError(f"{name} {empty}. Give it one row per point.")
    numbers, lines = zip(*kept, strict=True)
    return _Lines(name, numbers, lines), comment, declared


def _value(cell: str) -> float | None:
    """A cell as a number with a point or a comma; None for another."""
    value = number(cell, ".")
    return number(cell, ",") if value is None else value


def _reads(cell: str) -> bool:
    """Whether a cell is a number with a point or a comma."""
    return _value(cell) is not None


def _has_no_number(cells: Sequence[str]) -> bool:
    """Whether some cells hold something, and none a number."""
    known = [cell for cell in cells if not is_missing(cell)]
    return bool(known) and not any(map(_reads, known))


# -- rows -----------------------------------------------------------------------------------------


def _separator(lines: _Lines) -> str:
    """The separator that gives all lines the same number of cells, most of them numbers."""
    sample = replace(lines, numbers=lines.numbers[:_SAMPLE], texts=lines.texts[:_SAMPLE])
    scores: dict[str, tuple[float, float]] = {}
    for sep in _SEPARATORS:
        rows, _ = sample.split(sep)
        most, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        if most == 1:
            continue
        # R leaves out the name of the first column.
        even = count == len(rows) - 1 and len(rows[0]) == most - 1 > 1
        cells = [cell for row in rows[1:] or rows for cell in row if not is_missing(cell)]
        share = sum(map(_reads, cells)) / max(len(cells), 1)
        scores[sep] = (1.0 if even else count / len(rows), share)
    if scores:
        return max(scores, key=lambda sep: scores[sep])
    return " " if any(" " in text.strip() for text in sample.texts) else ","


def _require_even(name: str, rows: list[Row], numbers: list[int], sep: str) -> None:
    """Refuse rows of different lengths, and name the option that helps."""
    widths = [len(row) for row in rows]
    width = Counter(widths[1:] or widths).most_common(1)[0][0]
    bad = [k for k, w in enumerate(widths) if w != width]
    # Names of columns may be one less.
    if not bad or (bad == [0] and widths[0] == width - 1):
        return
    first = widths[bad[0]]
    if bad[0] == 0 and _are_decimals_apart(rows, width, sep):
        raise FileFormatError(
            f"{name}: {first} names, but rows of {width} cells: commas seem to separate cells and "
            "to be decimal marks too. Save it with semicolons between cells."
        )
    if len(widths) > 3 and np.isin(np.diff(widths[1:]), (-1, 1)).all():
        raise FileFormatError(
            f"{name}: each row has one cell more or less than the one before, as in a triangle of "
            "distances. Save the whole square, write.csv(as.matrix(d), 'd.csv') in R or "
            "scipy.spatial.distance.squareform in Python: --metric precomputed reads it."
        )
    where = f"{name}, line {numbers[bad[0]]}"
    if width == 1 or 2 * len(bad) >= len(rows):
        raise FileFormatError(
            f"{where}: rows differ in length whatever separates their cells. Save it as a table "
            "with one row per point and the same number of cells in each."
        )
    found = f"{where}: {counted(first, 'cell')}, but other lines have {width}. Complete the line"
    if len(bad) <= _MANY:
        found += f"; or --drop-lines {','.join(str(numbers[k]) for k in bad)} leaves it out"
    raise FileFormatError(f"{found}.")


def _are_decimals_apart(rows: list[Row], width: int, sep: str) -> bool:
    """Whether commas part cells and their decimals: 1,5 below one name takes two cells."""
    names, *others = rows
    return (
        sep == ","
        and len(names) < width <= 2 * len(names)
        and _has_no_number(names)
        and not any("." in cell and _reads(cell) for row in others for cell in row)
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
        and all(_value(row[k]) == 0.0 for k, row in enumerate(rows))
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
    if _are_counts_or_years(known):
        remarks.append(f"line {line} is taken for names of columns ({', '.join(known[:3])}, ...)")
        return True
    # Equally spaced numbers, as of spectra, above others that are not.
    doubtful = len(known) > 3 and _step(top) != 0.0 == _step(rows[1])
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


def _are_counts_or_years(cells: Sequence[str]) -> bool:
    """Whether the numbers among cells count 0, 1, 2, ..., or are three years at equal steps."""
    whole = [int(cell) for cell in cells if cell.isdecimal()]
    step = _step(cells)
    if not step or len(whole) < sum(map(_reads, cells)):
        return False
    counts = whole[0] == 0 and step == 1.0
    return counts or (len(whole) > 2 and all(len(cell) == 4 for cell in cells if cell.isdecimal()))


def _step(cells: Sequence[str]) -> float:
    """The step between the numbers among cells if it is the same everywhere; 0 otherwise."""
    values = [x for cell in cells if (x := _value(cell)) is not None]
    steps = np.diff(values)
    return float(steps[0]) if steps.size and np.allclose(steps, steps[0], rtol=1e-6) else 0.0


def _require_row_names(name: str, line: int, names: Row, rows: list[Row]) -> None:
    """Refuse names for all columns but the first, unless that names or counts the rows."""
    first = [row[0] for row in rows]
    counts = all(map(str.isdecimal, first)) and bool((np.diff(list(map(int, first))) > 0).all())
    if any(map(_reads, first)) and not counts:
        raise FileFormatError(
            f"{name}, line {line}: {counted(len(names), 'name')} for {len(rows[0])} columns, and "
            "the first column holds numbers. Add the missing name; if commas are decimal marks, "
            f"--sep ';' --decimal , reads them; if line {line} is a title, --drop-lines {line} "
            "leaves it out."
        )


def _column_names(name: str, names: Row | None, width: int) -> list[str]:
    """Names of the columns, one each and no two alike."""
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


def _decimal(name: str, columns: Mapping[str, Sequence[str]], sep: str) -> str:
    """The decimal mark of a table; refused where its numbers can be read in two ways."""
    commas, points = (
        [(key, cell) for key, cells in columns.items() for cell in cells if found.fullmatch(cell)]
        for found in _FRACTION.values()
    )
    if not commas and not points:
        return "."
    mark, found = (",", commas) if commas else (".", points)
    example = f"{found[0][1]!r} in column {found[0][0]!r}"
    if commas and points:
        raise FileFormatError(
            f"{name}: {example} has a comma and {points[0][1]!r} in column {points[0][0]!r} a "
            "point. Save it with one decimal mark, and with none between thousands."
        )
    # With points, all numbers may have three decimals; a whole number below a thousand beside them,
    # or semicolons, which files with decimal commas have, suggest marks between thousands.
    beside = {cell for key in dict(found) for cell in columns[key]}
    doubtful = mark == "," or sep == ";" or any(map(_BELOW_THOUSAND.fullmatch, beside))
    if doubtful and all(_IN_GROUPS[mark].fullmatch(cell) for _, cell in found):
        raise FileFormatError(
            f"{name}: {example} may be a fraction or have a mark between thousands. --decimal "
            f"{mark} reads fractions; save it without the marks if it has thousands."
        )
    return mark
