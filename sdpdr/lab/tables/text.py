"""Text tables: separator, names and decimal mark are found or refused, never guessed in silence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from sdpdr.base.columns import is_named_as_id
from sdpdr.base.errors import FileFormatError
from sdpdr.base.rows import counted
from sdpdr.lab.tables.distances import distances_of
from sdpdr.lab.tables.lines import Lines, Row, left_out, table_lines
from sdpdr.lab.tables.options import ReadOptions
from sdpdr.lab.tables.table import Table, is_missing, is_number, looks_like_number, plain

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
# In this order where a file could be split by several.
_PREFERENCE = (";", "\t", "|", ",", " ")
# Lines of other lengths that are worth a list.
_MANY = 8
# Lines that are looked at to find the separator.
_SAMPLE = 200
LABEL_NAMES = re.compile(
    r"labels?|class|target|category|species|cluster|group|name|klasse|gruppe|classe|groupe",
    re.IGNORECASE,
)
_ANY = ReadOptions(decimal="any")
_FRACTION = {mark: re.compile(rf"[-+\u2212]?\d*[{mark}]\d+(?:[eE][-+]?\d+)?\s*%?") for mark in ",."}
_IN_GROUPS = {
    mark: re.compile(rf"[-+\u2212]?[1-9]\d{{0,2}}(?:[{mark}]\d{{3}})+\s*%?") for mark in ",."
}
_SMALL = re.compile(r"[-+\u2212]?\d{1,3}")
_YEARS = (1500.0, 2200.0)


def read_text(name: str, text: str, options: ReadOptions, *, distances: bool = False) -> Table:
    r"""Read a text table.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    text : str
    options : ReadOptions
    distances : bool, default False
        Whether a square of numbers with zeros on its diagonal has no line of names.

    Returns
    -------
    Table
        With cells of text, and the decimal mark among its options.

    Raises
    ------
    FileFormatError
        Rows differ in length; or the header, decimal mark or thousands can be read in two ways.

    Examples
    --------
    >>> table = read_text("t.csv", "x;kind\n1,5;a\n2,25;b\n", ReadOptions())
    >>> table.columns, table.floats("x")
    (['x', 'kind'], array([1.5 , 2.25]))
    >>> table.remarks
    ('cells are separated by semicolons', 'numbers have decimal commas')
    """
    lines, options = table_lines(name, text, options)
    sep = options.sep or _separator(lines)
    rows, numbers = lines.split(sep)
    if not rows:
        raise FileFormatError(f"{name} is empty. Give it one row per point.")
    _require_even(lines, rows, numbers, options)
    rows, names = _without_empty_end(rows), None
    remarks = [] if sep in (",", "\t") else [f"cells are separated by {SEPARATORS[sep]}"]
    remarks += _add_rows_below(rows, numbers, lines, sep)
    top = numbers[0]
    if distances and options.header == "auto" and _is_square(rows):
        options = replace(options, header="no")
    header, remark = _header(name, top, rows, options)
    remarks += [remark] if remark else []
    if header:
        names, rows, numbers = rows[0], rows[1:], numbers[1:]
    elif lines.comment:
        words = Lines(name, [1], [lines.comment]).split(sep)[0][0]
        names = words if len(words) == len(rows[0]) and _has_no_number(words) else None
    if not rows:
        raise FileFormatError(
            f"{name} names columns ({', '.join(names or [])}) and has no row below them. "
            "Give it one row per point."
        )
    width = len(rows[0])
    if names is not None and len(names) == width - 1:
        names = _with_row_names(name, top, names, rows, sep)
    if options.transpose:
        rows, names, numbers = _transposed(rows, names, numbers)
    columns = _column_names(name, names, len(rows[0]))
    # Tuples of columns, since pandas would look at every row of a list of rows.
    data = dict(zip(columns, zip(*rows, strict=True), strict=True))
    frame = pd.DataFrame({key: np.array(cells, dtype=object) for key, cells in data.items()})
    if options.na_values:
        frame = frame.mask(frame.isin(options.na_values))
    decimal = options.decimal or _decimal(name, data, sep, options)
    if decimal == ",":
        remarks.append("numbers have decimal commas")
    return Table(
        name,
        frame,
        np.array(numbers),
        replace(options, sep=sep, decimal=decimal),
        names is not None,
        tuple(remarks),
    )


# -- separators -----------------------------------------------------------------------------------


def _separator(lines: Lines) -> str:
    """The separator that gives all lines the same number of cells, most of them numbers."""
    sample = replace(lines, numbers=lines.numbers[:_SAMPLE], texts=lines.texts[:_SAMPLE])
    scores: dict[str, tuple[float, float]] = {}
    for sep in _PREFERENCE:
        rows, _ = sample.split(sep)
        if not rows:
            continue
        widths = Counter(map(len, rows))
        most, count = widths.most_common(1)[0]
        if most == 1:
            continue
        cells = [cell for row in rows[1:] or rows for cell in row if not is_missing(cell)]
        share = sum(map(_reads, cells)) / max(len(cells), 1)
        # R leaves out the name of the first column.
        first_less = len(widths) == 2 and widths[most - 1] == 1 and len(rows[0]) == most - 1 > 1
        scores[sep] = (1.0 if first_less else count / len(rows), share)
    return max(scores, key=lambda sep: scores[sep]) if scores else ","


def _reads(cell: str) -> bool:
    """Whether a cell is a number with a point or a comma."""
    return is_number(cell, _ANY)


def _float(cell: str) -> float:
    return float(plain(cell, _ANY))


def _require_even(lines: Lines, rows: list[Row], numbers: list[int], options: ReadOptions) -> None:
    """Refuse rows of different lengths, with the one option that helps."""
    widths = [len(row) for row in rows]
    width = Counter(widths[1:] or widths).most_common(1)[0][0]
    # Names of columns may be one less, and separators at the ends of lines one more.
    even = all(w == width for w in widths[1:]) and width - 1 <= widths[0] <= width
    # Lines that share no separator, such as those of a triangle, are one cell each.
    if even and (width > 1 or all(map(_reads, (row[0] for row in rows[1:])))):
        return
    name = lines.name
    found = distances_of(lines, options)
    if even and found is None:
        return
    if found is not None:
        raise FileFormatError(
            f"{name}: its rows differ in length; it looks like {found.form}. "
            "--metric precomputed reads it."
        )
    good = [w == width for w in widths]
    if width == 1 or sum(good) * 2 <= len(good):
        raise FileFormatError(
            f"{name}, line {numbers[0]}: rows differ in length whatever separates their cells. "
            "Save it as a table with one row per point and the same number of cells in each."
        )
    first, last = good.index(True), len(good) - good[::-1].index(True)
    is_cut = any(not _has_no_number(row) and all(map(_reads, row)) for row in rows[last:])
    if all(good[first:last]) and not is_cut:
        _refuse_ends(lines, rows, numbers, width, first, last)
    bad = [k for k, even in enumerate(good) if not even]
    listed = ",".join(str(numbers[k]) for k in bad[:_MANY])
    if len(bad) > _MANY:
        leave_out = ""
    else:
        leave_out = f", or --drop-lines {listed} leaves {'it' if len(bad) == 1 else 'them'} out"
    raise FileFormatError(
        f"{name}, line {numbers[bad[0]]}: {counted(widths[bad[0]], 'cell')}, but other lines have "
        f"{width}. Complete the line{leave_out}."
    )


def _refuse_ends(
    lines: Lines, rows: list[Row], numbers: list[int], width: int, first: int, last: int
) -> None:
    """Refuse titles above and footnotes below a table, and say how to leave out both."""
    name = lines.name
    if first == 1 and width == 2 * len(rows[0]) > 2 and _has_no_number(rows[0]):
        raise FileFormatError(
            f"{name}: {len(rows[0])} names, but rows of {width} cells: commas seem to separate "
            "cells and to be decimal marks too. Save it with semicolons between cells."
        )
    if first == 1 and len(rows[0]) > 1 and _has_no_number(rows[0]):
        raise FileFormatError(
            f"{name}, line {numbers[0]}: {len(rows[0])} names, but rows of {width} cells. Correct "
            f"the names; or --skip {numbers[0]} --header no leaves them out."
        )
    above, below = numbers[first] - 1, len(rows) - last
    said = [f"lines 1 to {above} are above the table"] if first else []
    said += [f"lines from {numbers[last]} on are below it"] if below else []
    options = [f"--skip {above}"] if first else []
    options += [f"--skip-footer {below}"] if below else []
    raise FileFormatError(
        f"{name}: rows have {width} cells, but {' and '.join(said)}. "
        f"{' '.join(options)} leaves them out."
    )


def _add_rows_below(rows: list[Row], numbers: list[int], lines: Lines, sep: str) -> list[str]:
    """Append last lines that begin with # and fit the table; return a remark about the others."""
    if not lines.below:
        return []
    width = len(rows[-1])
    numeric = [_holds_numbers(rows[1:], k) for k in range(width)]
    comments = []
    below = Lines(lines.name, [number for number, _ in lines.below], [t for _, t in lines.below])
    for row, number in zip(*below.split(sep), strict=True):
        row = row[:width] if not any(row[width:]) else row
        fits = len(row) == width and all(
            is_missing(cell) or _reads(cell) or not of_numbers
            for cell, of_numbers in zip(row, numeric, strict=True)
        )
        if fits:
            rows.append(row)
            numbers.append(number)
        else:
            comments.append(number)
    return [left_out(comments)] if comments else []


def _holds_numbers(rows: list[Row], k: int) -> bool:
    cells = [row[k] for row in rows if not is_missing(row[k])]
    return bool(cells) and all(map(_reads, cells))


def _without_empty_end(rows: list[Row]) -> list[Row]:
    """Rows without the empty cells that separators at the ends of lines make."""
    width = max(map(len, rows))
    ends = [row[-1] for row in rows if len(row) == width]
    if width > 1 and not any(ends) and (len(rows[0]) < width or not any(r[-1] for r in rows)):
        return [row[: width - 1] for row in rows]
    return rows


# -- names ----------------------------------------------------------------------------------------


def _has_no_number(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if not is_missing(cell)]
    return bool(known) and not any(map(looks_like_number, known))


def _header(name: str, line: int, rows: list[Row], options: ReadOptions) -> tuple[bool, str]:
    """Whether the first row names the columns, and a remark where it holds numbers."""
    if options.header != "auto":
        return options.header == "yes", ""
    top = rows[0]
    if len(top) < len(rows[-1]):
        return True, ""
    known = [cell for cell in top if not is_missing(cell)]
    numeric = [_float(cell) for cell in known if _reads(cell)]
    if not numeric and not any(map(looks_like_number, known)):
        return bool(known), ""
    if len(rows) > 1 and _counts(numeric):
        return True, f"line {line} is taken for names of columns ({', '.join(known[:3])}, ...)"
    if len(rows) > 1 and _evenly_spaced(top) and not _evenly_spaced(rows[1]):
        raise FileFormatError(
            f"{name}, line {line}: its numbers ({', '.join(known[:4])}, ...) are evenly spaced, as "
            "names of columns are. --header yes takes it for names, --header no for a point."
        )
    if len(numeric) == len(known):
        return False, ""
    words = [cell for cell in known if not _reads(cell)]
    over_numbers = [
        cell
        for k, cell in enumerate(top)
        if not is_missing(cell) and not _reads(cell) and _is_mostly_numbers(rows[1:], k)
    ]
    titled = [word for word in words if is_named_as_id(word) or LABEL_NAMES.fullmatch(word)]
    if titled and not over_numbers:
        return True, f"line {line} is taken for names of columns ({', '.join(known[:3])}, ...)"
    if over_numbers:
        raise FileFormatError(
            f"{name}, line {line}: {over_numbers[0]!r} stands above numbers, and the line holds "
            "numbers too. --header yes takes it for names of columns; if it is a point, correct "
            "the cell."
        )
    return False, ""


def _is_square(rows: list[Row]) -> bool:
    """Whether rows are a square of numbers, perhaps missing ones, with zeros on its diagonal."""
    cells = [cell for row in rows for cell in row]
    return (
        {len(row) for row in rows} == {len(rows)}
        and all(is_missing(cell) or _reads(cell) for cell in cells)
        and all(_reads(row[k]) and _float(row[k]) == 0.0 for k, row in enumerate(rows))
    )


def _counts(numbers: Sequence[float]) -> bool:
    """Whether numbers are 0, 1, 2, ... as pandas names columns, or three years or more."""
    if len(numbers) < 2:
        return False
    steps = np.diff(numbers)
    if numbers[0] == 0.0 and (steps == 1.0).all():
        return True
    whole = all(number == round(number) for number in numbers)
    years = _YEARS[0] <= min(numbers) and max(numbers) <= _YEARS[1]
    return len(numbers) >= 3 and whole and years and bool((steps == steps[0]).all() and steps[0])


def _evenly_spaced(cells: Row) -> bool:
    """Whether a row has four numbers or more, at equal distances other than zero."""
    numbers = [_float(cell) for cell in cells if _reads(cell)]
    if len(numbers) < 4:
        return False
    steps = np.diff(numbers)
    return bool(steps[0]) and np.allclose(steps, steps[0], rtol=1e-6)


def _is_mostly_numbers(rows: list[Row], k: int) -> bool:
    cells = [row[k] for row in rows[:_SAMPLE] if not is_missing(row[k])]
    return 2 * sum(map(_reads, cells)) > len(cells)


def _with_row_names(name: str, line: int, names: Row, rows: list[Row], sep: str) -> Row:
    """Names of columns where the first, of numbers or names of rows, has none."""
    first = [row[0] for row in rows]
    words = not any(map(_reads, first))
    counts = all(cell.isdecimal() for cell in first) and bool(
        (np.diff([int(cell) for cell in first]) > 0).all()
    )
    if len(names) == 1 and names[0] and sep == ",":
        raise FileFormatError(
            f"{name}, line {line}: one name for two columns. If it is a title, --skip {line} "
            "leaves it out; if commas are decimal marks, --sep ';' --decimal , reads one column."
        )
    if not (words or counts):
        raise FileFormatError(
            f"{name}, line {line}: {len(names)} names for {len(rows[0])} columns, and the first "
            "column holds coordinates. Add the missing name."
        )
    return ["", *names]


def _transposed(
    rows: list[Row], names: Row | None, numbers: list[int]
) -> tuple[list[Row], Row | None, list[int]]:
    """Columns as rows: the first column names the coordinates, the header names the points."""
    labelled = not all(_reads(row[0]) or is_missing(row[0]) for row in rows)
    columns = [list(column) for column in zip(*rows, strict=True)]
    called = columns.pop(0) if labelled else None
    if names is None:
        return columns, called, [numbers[0]] * len(columns)
    points = names[1:] if labelled else names
    called = called or [str(k + 1) for k in range(len(rows))]
    turned = [[point, *column] for point, column in zip(points, columns, strict=True)]
    return turned, ["", *called], [numbers[0]] * len(columns)


def _column_names(name: str, names: Row | None, width: int) -> list[str]:
    if names is None:
        return [str(k + 1) for k in range(width)]
    if names.count("") > 1:
        names = [called or f"Unnamed: {k}" for k, called in enumerate(names)]
    twice = [called for called, count in Counter(names).items() if count > 1]
    if twice:
        raise FileFormatError(
            f"{name}: two columns are called {twice[0]!r}. Rename one; or --header no with "
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
    # Points: numbers with three decimals are written so to the last zero; one below a thousand
    # without a mark speaks for thousands, as does the separator of files with decimal commas.
    if in_groups and (mark == "," or sep == ";" or _has_small(columns, points)):
        raise FileFormatError(
            f"{name}: {example} may be a fraction or have a mark between thousands. Say with "
            f"--decimal {mark} or --thousands {mark} which it is."
        )
    return mark


def _has_small(columns: Mapping[str, Sequence[str]], marked: Sequence[tuple[str, str]]) -> bool:
    """Whether a column of numbers with a mark has a whole one below a thousand, other than 0."""
    cells = [cell for key in dict(marked) for cell in columns[key]]
    return any(_SMALL.fullmatch(cell) and cell.strip("+-0") for cell in cells)
