"""Lines of text tables: whether the first names the columns, and what is wrong with torn ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sdpdr.base.errors import FileFormatError, VacuousWarning, warn
from sdpdr.lab.study.cells import TRUTHS, is_missing, is_number

# What begins like a number and is none: a slip, or a name such as 2019Q1.
_SLIP = re.compile(r"[-+]?\.?\d")
# The beginning of a number and the rest of it, where a comma between its thousands parts cells.
_HEAD, _REST = re.compile(r"[-+]?[$€£]?\d{1,3}"), re.compile(r"\d{3}(?:\.\d+)?")


def has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first of two rows names the columns; of a pandas array, of as many as columns.

    Examples
    --------
    >>> has_header([["x", "kind"], ["1.5", "a"]], "."), has_header([["True"], ["False"]], ".")
    (True, False)
    """
    if is_pandas_array(rows[0]):
        # Distances of points on a line count along both sides of their square.
        return not rows[0][0] or [row[0] for row in rows] != list(rows[0])
    first = [is_number(cell, decimal) or cell.lower() in TRUTHS for cell in rows[0]]
    if len(rows) == 1 or not any(first):
        return not any(first)
    below = [is_number(cell, decimal) and not is_missing(cell) for cell in rows[1]]
    return any(under and not above for above, under in zip(first, below, strict=True))


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
