"""First lines of text tables: names of columns, names of rows without one, titles above."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, takewhile

from sdpdr.base.errors import FileFormatError, VacuousWarning, warn
from sdpdr.lab.tables.cells import TRUTHS, has_comma, hint, is_missing, is_number
from sdpdr.lab.tables.lines import are_even, torn, whole_ones

_WHOLE = re.compile(r"[-+]?\d+")
# What begins like a number and is none: a slip, or a name such as 2019Q1.
_SLIP = re.compile(r"[-+]?\.?\d")
# Separators that also stand in words and in numbers.
_USUAL_IN_CELLS = (",", " ")


def has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first of two rows names the columns; of a pandas array, of as many as columns.

    Examples
    --------
    >>> has_header([["x", "kind"], ["1.5", "a"]], "."), has_header([["True"], ["False"]], ".")
    (True, False)
    >>> has_header([["country", "1990", "1991", "1992"], ["Chad", "5", "7", "6"]], ".")
    True
    """
    if is_pandas_array(rows[0]):
        # Distances of points on a line count along both sides of their square.
        return not rows[0][0] or [row[0] for row in rows] != list(rows[0])
    first = [is_number(cell, decimal) or cell.lower() in TRUTHS for cell in rows[0]]
    if len(rows) == 1 or not any(first):
        return not any(first)
    if _counts_years(rows[0]) and not _counts_years(rows[1]):
        return True
    below = [is_number(cell, decimal) and not is_missing(cell) for cell in rows[1]]
    return any(under and not above for above, under in zip(first, below, strict=True))


def _counts_years(row: Sequence[str]) -> bool:
    """Whether the numbers of a row are three years or more, each as long after the one before."""
    years = [int(cell) for cell in row if _WHOLE.fullmatch(cell)]
    steps = {after - before for before, after in pairwise(years)}
    return _are_years(row) and len(years) > 2 and len(steps) == 1 and min(steps) > 0


def _are_years(row: Sequence[str]) -> bool:
    return _iswhole_ones(row) and all(1000 <= int(c) <= 3000 for c in row if _WHOLE.fullmatch(c))


def is_pandas_array(names: Sequence[str]) -> bool:
    """Whether it is the header that pandas writes above an array, with its index or without.

    A single 0 is more likely a number.
    """
    counted = [str(k) for k in range(len(names))]
    return len(names) > 1 and list(names) in (counted, ["", *counted[:-1]])


def question_header(place: str, names: Sequence[str], decimal: str) -> None:
    """Refuse or tell a header that may be a row, which would be lost without a word."""
    if is_pandas_array(names):
        if names[0]:
            warn(
                f"{place} counts the columns from 0, as pandas writes them of an array, and is "
                "taken for their names. Choose --header no if it is a row, and --header yes to "
                "have it without these words.",
                VacuousWarning,
            )
        return
    numbers = [name for name in names if is_number(name, decimal) and not is_missing(name)]
    if not numbers:
        return
    choice = "Choose --header yes if it names the columns, and --header no if it is a row."
    for name in names:
        if _SLIP.match(name) and not is_number(name, decimal):
            raise FileFormatError(
                f"{place}: expected numbers or names of columns; found {name!r}, which is not a "
                f"number, beside {numbers[0]!r}, which is one. Mend it if it is to be one. {choice}"
            )
    warn(
        f"{place} is taken for the names of the columns, though {numbers[0]!r} is a number. "
        f"{choice}",
        VacuousWarning,
    )


def question_first_lines(
    name: str, rows: Sequence[Sequence[str]], numbers: Sequence[int], decimal: str
) -> None:
    """Refuse several lines of names, and tell whole numbers above fractions, which may be names.

    Parameters
    ----------
    name : str
        Of the file.
    rows : sequence of lines
        Cells of the first lines.
    numbers : sequence of int
        Where the lines stand in the file.
    decimal : str
    """
    whole = [_iswhole_ones(row) for row in rows]
    levels = list(takewhile(lambda row: len(row) > 1 and not row[0] and all(row[1:]), rows))
    below = rows[len(levels) :]
    if len(levels) > 1 and any(map(_of_fractions, below)) and not any(map(_of_fractions, levels)):
        raise FileFormatError(
            f"{name}, lines {numbers[0]} to {numbers[len(levels) - 1]} name the columns, as pandas "
            "writes names of several levels. One line can: before to_csv, frame.columns = "
            '["_".join(map(str, name)) for name in frame.columns] makes one of them.'
        )
    count = whole.index(False) if False in whole else len(whole)
    names = [int(c) for row in rows[:1] for c in row if count and _WHOLE.fullmatch(c)]
    rising = len(set(names)) > 1 and names == sorted(names)
    body = whole_ones(rows)[count:]
    if not rising or is_pandas_array(rows[0]) or len({len(row) for row in rows[:2]}) > 1:
        return
    if has_header(rows[:2], decimal):
        return
    unlike = ""
    if len(rows) >= 2 * count + 2 and all(map(_of_fractions, body)):
        unlike = "its numbers are whole and those below have fractions"
    elif len(rows) > 1 and _are_years(rows[0]) and not any(map(_are_years, rows[1:])):
        unlike, count = "its numbers may be years and those below are none", 1
    if unlike:
        skip = f" --skip {numbers[count - 1] - 1}" if count > 1 else ""
        warn(
            f"{name}, line {numbers[0]} is taken for a row, though {unlike}. Choose{skip} --header "
            "yes if it names the columns, and --header no to have it without these words.",
            VacuousWarning,
        )


def _of_fractions(row: Sequence[str]) -> bool:
    """Whether more than half of its numbers have a mark or an exponent."""
    numbers = [cell for cell in row if _is_known(cell)]
    return 2 * sum(_WHOLE.fullmatch(cell) is None for cell in numbers) > len(numbers)


def _iswhole_ones(row: Sequence[str]) -> bool:
    """Whether it has numbers, all of them whole."""
    numbers = [cell for cell in row if _is_known(cell)]
    return bool(numbers) and all(map(_WHOLE.fullmatch, numbers))


def lacks_a_name(rows: Sequence[Sequence[str]], separator: str, quoted: bool) -> bool:
    """Whether the header lacks a name for the first column, of names of rows, as R writes it.

    Every line below then has a cell more. So it has after a title, or with a comma between
    thousands or a blank in a name, unless R quoted the header and the names.

    Examples
    --------
    >>> lacks_a_name([["x", "y"], ["a", "1", "2"], ["b", "3", "4"]], " ", False)
    True
    >>> lacks_a_name([["city", "pop"], ["New", "York", "8"], ["Los", "Angeles", "4"]], " ", False)
    False
    """
    if len(rows) < 2:
        return False
    head, body = rows[0], whole_ones(rows)[1:]
    if quoted:
        return len(body[0]) == len(head) + 1 and bool(body[0][-1])
    if any(len(row) != len(head) + 1 for row in body) or not any(row[-1] for row in body):
        return False
    firsts = [row[0] for row in body]
    named = not any(map(_is_known, firsts))
    if len(set(firsts)) < len(firsts) or any(map(_is_known, head)):
        return False
    if not named and not all(first.isdecimal() for first in firsts):
        return False
    if len(body) > 1 and any(
        _is_known(below) and not _reads(cell)
        for cell, below in zip(body[0][1:], body[1][1:], strict=True)
    ):
        return False  # The first line was a title, and these are the names.
    if len(head) == 1 and not all(_reads(row[1]) for row in body):
        return False
    return separator not in _USUAL_IN_CELLS or not _are_split(firsts, body, len(head), named)


def _are_split(
    firsts: Sequence[str], body: Sequence[Sequence[str]], width: int, named: bool
) -> bool:
    """Whether a cell more may come of a separator within names or numbers."""
    if all(torn(row, width, 0) for row in body):
        return True
    if named:
        return not any(_reads(row[1]) for row in body)
    counted = firsts == [str(k + 1) for k in range(len(firsts))]
    points = any("." in cell for row in body for cell in row)
    return width == 1 or not (counted or points)


def _reads(cell: str) -> bool:
    return is_number(cell) or has_comma(cell)


def _is_known(cell: str) -> bool:
    return _reads(cell) and not is_missing(cell)


def require_no_title(
    name: str, split: Mapping[str, Sequence[Sequence[str]]], numbers: Sequence[int]
) -> None:
    """Refuse lines above a table that have other numbers of cells than all others.

    Parameters
    ----------
    name : str
        Of the file.
    split : mapping from separator to lines
        Cells of the first lines, by what may stand between them.
    numbers : sequence of int
        Where the lines stand in the file.

    Raises
    ------
    FileFormatError
    """
    if any(map(are_even, split.values())):
        return
    begins = {other: _begin(rows) for other, rows in split.items() if len(rows) == len(numbers)}
    widths = {other: len(split[other][k]) for other, k in begins.items() if k}
    if not widths:
        return
    separator = max(widths, key=lambda other: widths[other])
    k, width = begins[separator], widths[separator]
    row = split[separator][k]
    if torn(row, len(split[separator][0]), numbers[k]) or hint(separator.join(row), separator):
        return  # What is said of the line is said where it is read.
    cells = [len(row) for row in split[separator][:k]]
    found = "one cell" if set(cells) == {1} else f"{', '.join(map(str, cells))} cells"
    place, them = f"line {numbers[0]}", "it is a title, --skip {} leaves it out"
    if k > 1:
        place, them = (
            f"lines {numbers[0]} to {numbers[k - 1]}",
            "they are a title, --skip {} leaves them out",
        )
    raise FileFormatError(
        f"{name}, {place}: found {found}, and {width} in line {numbers[k]}. If "
        f"{them.format(numbers[k] - 1)}. If not, mend the lines, or their separator: "
        f"{separator!r} is expected."
    )


def _begin(rows: Sequence[Sequence[str]]) -> int:
    """The first of the lines from which on all have as many cells, which none has before; or 0."""
    whole = whole_ones(rows)
    width = len(whole[-1]) if whole else 0
    begin = next((k for k, row in enumerate(whole) if len(row) == width), 0)
    even = width > 1 and all(len(row) == width for row in whole[begin:])
    return begin if even and len(whole) >= 2 * begin + 1 else 0
