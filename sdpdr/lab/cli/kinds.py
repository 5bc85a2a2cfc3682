"""What a column of a table is: a coordinate, or ids, numbers of rows, labels, dates or words."""

from __future__ import annotations

import re

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.columns import are_dates, counts_rows, is_named_as_id
from sdpdr.lab.tables.cells import APOSTROPHES, BLANKS, TRUTHS, is_missing, is_number, numbers_of
from sdpdr.lab.tables.frame import FileTable

EMPTY = "empty"
"""A column without an entry, as separators at the ends of lines make it; it is not kept."""
# Names of columns whose whole numbers are classes.
_LABELS = re.compile(
    r"labels?|class|target|category|species|cluster|group|klasse|gruppe|kategorie|classe|groupe"
    r"|cat[eé]gorie|clase|grupo|categor[ií]a|gruppo",
    re.IGNORECASE,
)
# Cells of digits that are no plain numbers: thousands, percents, amounts of money.
_IN_NUMBERS = rf"[\d.,{APOSTROPHES}{BLANKS}]*"
_NEARLY = re.compile(rf"[-+\u2212]?[$€£]?{_IN_NUMBERS}\d{_IN_NUMBERS}[%$€£]?")
# Days as the standard and most countries write them, and a time of day after them or alone.
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = (
    r"\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:\d{4}|\d{2})|\d{4}-\d{2}"
    rf"|\d{{1,2}}[ .-]*{_MONTH}[ -]*\d{{2,4}}|{_MONTH} \d{{1,2}},? \d{{4}}"
)
_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?(?:Z| ?(?:UTC|GMT)|[-+]\d{2}:?\d{2})?"
_DATE = re.compile(rf"(?:{_DAY})(?:[T ,]+{_TIME})?|{_TIME}", re.IGNORECASE)
# Names whose whole numbers may be a quantity, unless no two of them are alike.
_MAY_COUNT = re.compile(r"key|index|.*[ _.-]n[or]", re.IGNORECASE)


def kind_of(frame: FileTable, name: str, distances: bool) -> str:
    """What a column is that is no coordinate, in words; empty of coordinates.

    Parameters
    ----------
    frame : FileTable
    name : str
    distances : bool
        Whether the table is one of distances.

    Examples
    --------
    >>> columns = {"shape": np.array(["a", "b"]), "round": np.array(["True", ""])}
    >>> [kind_of(FileTable("t.csv", columns), name, False) for name in columns]
    ['words', '']
    >>> when = {"when": np.array(["2024-01-31", "2024-02-01T12:00"])}
    >>> kind_of(FileTable("t.csv", when), "when", False)
    'dates or times'
    """
    column = frame.columns[name]
    if _is_empty(column):
        return EMPTY
    if not distances and (truths := truths_of(column)) is not None:
        return "labels" if _LABELS.fullmatch(name) and _repeats(truths) else ""
    if is_named_as_id(name) and _names_rows(name, column, frame.decimal):
        return "ids"
    if column.dtype.kind in "fiu":
        if not distances and are_dates(name, column):
            return "dates or times"
        if distances or not frame.named or not is_whole(column):
            return ""
        known = known_of(column)
        if known.size == column.size and counts_rows(name, column.astype(np.int64)):
            return "row numbers"
        return "labels" if _LABELS.fullmatch(name) and _repeats(known) else ""
    return _of_text(column, frame.decimal)


def truths_of(column: np.ndarray) -> Array | None:
    """True as one and false as zero, in any case and with gaps; None of any other column.

    Examples
    --------
    >>> truths_of(np.array(["TRUE", "false", ""])), truths_of(np.array(["true", "1"]))
    (array([ 1.,  0., nan]), None)
    """
    if column.dtype.kind == "b":
        return column.astype(float)
    if column.dtype.kind not in "OUS":
        return None
    entries = [np.nan if is_missing(entry) else TRUTHS.get(str(entry).lower()) for entry in column]
    if None in entries or all(entry != entry for entry in entries):
        return None
    return np.array(entries, dtype=float)


def _is_empty(column: np.ndarray) -> bool:
    if column.dtype.kind == "f":
        return bool(np.isnan(column).all())
    return column.dtype.kind in "OUS" and all(map(is_missing, column.tolist()))


def _names_rows(name: str, column: np.ndarray, decimal: str) -> bool:
    """Whether no entry has a fraction, and all differ where the name alone says too little."""
    entries = column.tolist()
    alike = len(set(entries)) < len(entries)
    if alike and (_MAY_COUNT.fullmatch(name) or not name):
        return False
    numbers = [entry for entry in entries if is_number(entry, decimal)]
    mark = decimal if column.dtype.kind in "OUS" else "."
    known = numbers_of([str(entry) for entry in numbers], mark)
    return known is None or bool((np.isnan(known) | (known == np.round(known))).all())


def known_of(column: np.ndarray) -> np.ndarray:
    """The entries of a column of numbers that are known."""
    return column[~np.isnan(column)] if column.dtype.kind == "f" else column


def is_whole(column: np.ndarray) -> bool:
    """Whether a column holds whole numbers and gaps, so small that none is another by rounding."""
    if column.dtype.kind in "iu":
        return True
    if column.dtype.kind != "f":
        return False
    known = known_of(column)
    return bool((np.abs(known) < 2.0**53).all() and (known == np.round(known)).all())


def _repeats(column: np.ndarray) -> bool:
    """Whether there are so few kinds of entries that they are classes."""
    return 2 * len(set(column.tolist())) <= len(column)


def _of_text(column: np.ndarray, decimal: str) -> str:
    """Dates, or words where no entry is a number, and none may be a slip of one; empty if not."""
    if column.dtype.kind not in "OUS":
        return {"M": "dates or times", "m": "words", "b": "words"}.get(column.dtype.kind, "")
    known = [str(entry) for entry in column.tolist() if not is_missing(entry)]
    if not known or any(is_number(entry, decimal) for entry in known):
        return ""
    if all(map(_DATE.fullmatch, known)):
        return "dates or times"
    return "" if any(map(_NEARLY.fullmatch, known)) else "words"
