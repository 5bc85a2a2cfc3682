"""Cells of text tables: which are numbers, with a point or a comma, and which are missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

import numpy as np

from sdpdr.base.arrays import Array, is_admissible, is_written_admissibly
from sdpdr.base.errors import FileFormatError

MISSING = frozenset(
    {"", "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a", "#na", "(null)", "\\n"}
)
"""What programs write for what is not known, in small letters: pandas, R, spreadsheets, SQL."""
TRUTHS: Mapping[str, float] = MappingProxyType(
    {
        **dict.fromkeys(("true", "wahr", "vrai", "verdadero", "verdadeiro", "vero"), 1.0),
        **dict.fromkeys(("false", "falsch", "faux", "falso"), 0.0),
    }
)
"""Words for one and zero, in small letters, as spreadsheets write them in some languages."""
SAID = {",": "','", ";": "';'", "\t": "a tab", "|": "'|'", " ": "blanks"}
SEPARATORS = tuple(SAID)
# The minus of typographers, and their blanks between thousands, all but the first of one width.
_MINUS = "\u2212"
BLANKS = " \u00a0\u202f\u2009\u2007\u2008"
APOSTROPHES = "'\u2019"
# Words and marks that people write for what is not known, and that may mean something else.
_UNKNOWN = re.compile(
    r"[^\w\s]{1,3}|[nk][./]?[ad]\.?|s[./][di]\.?|#[a-z/0]+[!?]?|missing|unknown", re.IGNORECASE
)
# What stands for rows that are too many to be printed.
_CUT = ("...", "\u2026", "\u00b7")
_WITH_COMMA = re.compile(r"[-+\u2212]?\d*,\d+(?:[eE][-+]?\d+)?")
_GROUPED = re.compile(
    rf"[-+{_MINUS}]?[$€£]?\d{{1,3}}(?P<mark>[.,{APOSTROPHES}{BLANKS}])\d{{3}}(?:(?P=mark)\d{{3}})*"
    r"(?P<point>[.,])?(?(point)\d+)"
)
_MONEY = re.compile(r"[-+]?[$€£]\s?(?P<before>[\d.,]+)|(?P<after>[-+]?[\d.,]+)\s?[$€£]")
_OPTIONS = {",": ",", ".": ".", "'": "\\'", "\u2019": "\\'"}
_MARKS = {",": "commas", ".": "points", "'": "apostrophes", "\u2019": "apostrophes"}
_BETWEEN = {"'": APOSTROPHES, "space": BLANKS}
_SWAPPED = str.maketrans(".,", ",.")
# Numbers whose marks may stand between thousands, and those below a thousand, which have none.
_COMMAS = re.compile(rf"[-+{_MINUS}]?[1-9]\d{{0,2}}(?:,\d{{3}})+")
_POINTS = re.compile(rf"[-+{_MINUS}]?[1-9]\d{{0,2}}(?:\.\d{{3}})+")
_SMALL = re.compile(rf"[-+{_MINUS}]?(?:0|[1-9]\d{{0,2}})")


def has_comma(cell: str) -> bool:
    """Whether a cell is a number with a comma for a point, or for thousands."""
    return _WITH_COMMA.fullmatch(cell) is not None


def plain(entry: str, decimal: str) -> str:
    r"""A cell with the point as its decimal mark, and a plain minus.

    Where the mark was a comma, what was a point is no number.

    Examples
    --------
    >>> plain("1,5", ","), plain("1.500", ","), plain("\u22121.5", ".")
    ('1.5', '1,500', '-1.5')
    """
    entry = entry.replace(_MINUS, "-")
    return entry.translate(_SWAPPED) if decimal == "," else entry


def ungrouped(cell: str, mark: str, points: str) -> str:
    """A number without the marks between its thousands; another cell as it is.

    Parameters
    ----------
    cell : str
    mark : {".", ",", "'", "space"}
        A straight apostrophe stands for a curved one, and a blank for those that break no line.
    points : str
        Decimal marks.

    Examples
    --------
    >>> ungrouped("1.250.000,5", ".", ","), ungrouped("1.25", ".", ",")
    ('1250000,5', '1.25')
    >>> ungrouped("9 250", "space", ".")
    '9250'
    """
    marks = _BETWEEN.get(mark, re.escape(mark))
    number = rf"[-+{_MINUS}]?\d{{1,3}}(?:[{marks}]\d{{3}})+(?:[{re.escape(points)}]\d*)?"
    return re.sub(f"[{marks}]", "", cell) if re.fullmatch(number, cell) else cell


def is_missing(entry: object) -> bool:
    """Whether an entry says that it is not known."""
    return entry is None or (isinstance(entry, str) and entry.lower() in MISSING)


def is_number(entry: object, decimal: str = ".") -> bool:
    """Whether an entry is a number or not known; an underscore is no part of a number."""
    if isinstance(entry, str):
        if "_" in entry:
            return False
        entry = plain(entry, decimal)
    try:
        float(entry)  # type: ignore[arg-type]  # whether it is a number is the question
    except (ValueError, TypeError):
        return is_missing(entry)
    return True


def is_padded(entry: str) -> bool:
    """Whether an entry is of digits of which the first is a zero beside others.

    Examples
    --------
    >>> [is_padded(entry) for entry in ("01067", "0", "0.5", "10")]
    [True, False, False, False]
    """
    return len(entry) > 1 and entry[0] == "0" and entry.isdecimal()


def is_far(entry: str) -> bool:
    """Whether a word is a number beyond the range, and not one of the words for infinity."""
    return any(c.isdigit() for c in entry) and not is_written_admissibly(entry)


def numbers_of(cells: Sequence[str], decimal: str = ".") -> Array | None:
    """Cells as floats, nan where not known; None if one is no number, or beyond the range.

    Examples
    --------
    >>> numbers_of(["1", "2.5", "NA"]), numbers_of(["1", "1e-400"]), numbers_of(["1", "1_5"])
    (array([1. , 2.5, nan]), None, None)
    """
    if decimal == "," or any(_MINUS in cell for cell in cells):
        cells = [plain(cell, decimal) for cell in cells]
    if any("_" in cell for cell in cells):
        return None
    try:
        numbers = np.array(cells, dtype=float)
    except ValueError:
        try:
            known = [np.nan if is_missing(cell) else cell for cell in cells]
            numbers = np.array(known, dtype=object).astype(float)
        except ValueError:
            return None
    odd = np.flatnonzero(~is_admissible(numbers) | (numbers == 0.0))
    if any(map(is_far, {cells[row] for row in odd.tolist()})):
        return None
    return numbers


def doubt_of_unknown(entry: str) -> str:
    """What to do if an entry stands for what is not known; empty if it does not look so.

    Examples
    --------
    >>> doubt_of_unknown("-").partition(",")[0], doubt_of_unknown("green")
    (" If '-' stands for what is not known", '')
    """
    if entry in _CUT:
        return " Rows seem to have been left out where this was printed: save the whole table."
    if _UNKNOWN.fullmatch(entry) is None:
        return ""
    # A comma more, since a value of -- alone is none to argparse.
    said = shlex.quote(entry) if entry != "--" else "--,"
    return (
        f" If {entry!r} stands for what is not known, --na-values={said} says so, and --missing "
        "drop leaves out such rows."
    )


def hint(text: str, expected: str, decimal: str = ".") -> str:
    r"""What a cell or line says about its separators and decimal marks, and what to do.

    Parameters
    ----------
    text : str
        A cell that is not a number, or a line that has the wrong number of cells.
    expected : str
        The separator that was taken; empty where there is none.
    decimal : str, default "."
        The decimal mark that was taken.

    Returns
    -------
    str
        A sentence with a blank before it; empty if there is nothing to say.

    Examples
    --------
    >>> hint("1,5;2,25", ",").partition(".")[0]
    " It seems to be separated by ';' and to have decimal commas"
    >>> hint("1,5", "\t").partition(".")[0], hint("green", ",")
    (' It seems to have decimal commas', '')
    >>> hint("1,250.75", ";").partition(".")[0], hint("12.5 %", ",").partition(" that")[0]
    (' It seems to have commas between thousands', ' Say with --percent')
    >>> hint("2.811,99", ",").partition(". ")[0]
    ' It seems to have points between thousands and decimal commas'
    """
    if not expected:
        return ""
    if said := _of_thousands(text, decimal):
        return said
    number = text.rstrip(f"%{BLANKS}")
    if text.endswith("%") and (is_number(number, decimal) or has_comma(number)):
        return " Say with --percent that numbers have signs of percent."
    if (amount := _MONEY.fullmatch(text)) and any(c.isdigit() for c in text):
        number = amount["before"] or amount["after"]
        if is_number(number, decimal) or has_comma(number):
            return " Take the sign of money out."
    if decimal == ",":
        return ""
    if has_comma(text) and expected != ",":
        return " It seems to have decimal commas. Say so with --decimal ,"
    for other in SEPARATORS:
        parts = [part.strip() for part in text.split(other)]
        # Commas and blanks stand in words of people too, so that one number says nothing.
        enough = all if other in (",", " ") else any
        if (
            other != expected
            and len(parts) > 1
            and enough(has_comma(p) or is_number(p) for p in parts)
        ):
            commas = other != "," and any(map(has_comma, parts))
            words = " and to have decimal commas" if commas else ""
            option = " --decimal ," if commas else ""
            return (
                f" It seems to be separated by {SAID[other]}{words}. Say so with --sep "
                f"{other!r}{option}"
            )
    return ""


def _of_thousands(text: str, decimal: str) -> str:
    """What a cell says whose digits stand in groups of three; empty if they do not."""
    found = _GROUPED.fullmatch(text)
    if found is None or found["mark"] == found["point"]:
        return ""
    mark, point = found["mark"], found["point"]
    marks, other = _MARKS.get(mark, "blanks"), "," if decimal == "." else "."
    option = f"--thousands {_OPTIONS.get(mark, 'space')}"
    if not text.lstrip(f"+-{_MINUS}")[0].isdecimal():
        return f" It seems to have {marks} between thousands. Take them and the sign of money out."
    if point == other:
        return (
            f" It seems to have {marks} between thousands and decimal {_MARKS[other]}. Say so with "
            f"{option} --decimal {other}"
        )
    if point is None and mark == other and text.count(mark) == 1:
        return (
            f" It seems to have {marks} between thousands, or decimal {marks}. Say which with "
            f"{option} or --decimal {other}"
        )
    return f" It seems to have {marks} between thousands. Say so with {option}"


# -- decimal marks ----------------------------------------------------------------------------


def decimal_mark(
    name: str, rows: Sequence[Sequence[str]], separator: str, thousands: str = ""
) -> str:
    """The decimal mark of a table, by its first rows.

    Between commas a cell with a comma was quoted, and may be one of words.

    Raises
    ------
    FileFormatError
        Marks may be decimal ones, or stand between thousands.

    Examples
    --------
    >>> [decimal_mark("t.csv", [[cell, "2"]], ";") for cell in ("1,5", "1.5")]
    [',', '.']
    """
    cells = [cell.strip() for row in rows for cell in row]
    if thousands:
        cells = [ungrouped(cell, thousands, ".,") for cell in cells]
    commas = [cell for cell in cells if has_comma(cell)]
    points = [cell for cell in cells if "." in cell and is_number(cell)]
    if not commas and not thousands:
        _question_points(name, rows, separator)
    in_groups = all(map(_COMMAS.fullmatch, commas))
    if not commas or (separator == "," and (points or in_groups)):
        return "."
    if not points and not in_groups:
        return ","
    grouped = [point for point in points if _POINTS.fullmatch(point)]
    ways = "--decimal . or --decimal ,"
    ways += " or --thousands ," if in_groups else ""
    ways += " or --thousands ." if points and len(grouped) == len(points) else ""
    raise _unclear(name, commas[0], points[:1], ways)


def _question_points(name: str, rows: Sequence[Sequence[str]], separator: str) -> None:
    """Refuse points that may all stand between thousands.

    Between semicolons, as where commas are decimal marks, nothing more need speak for it. Elsewhere
    a column must hold 1.250 beside 800, since whoever writes decimals to the last zero writes
    800.000.
    """
    top = [cell.strip() for row in rows[:1] for cell in row]
    named = not all(is_number(cell) or _POINTS.fullmatch(cell) for cell in top)
    below = zip_longest(*rows[int(named) :], fillvalue="")
    body = [[cell.strip() for cell in column] for column in below]
    numbers = [[c for c in column if is_number(c) or _POINTS.fullmatch(c)] for column in body]
    marked = [column for column in numbers if any("." in cell for cell in column)]
    known = [[cell for cell in column if not is_missing(cell)] for column in marked]
    first = [cell for row in rows[:1] for cell in row if "." in cell and is_number(cell)]
    every = [*first, *(cell for column in known for cell in column)]
    if not all(_POINTS.fullmatch(cell) or _SMALL.fullmatch(cell) for cell in every):
        return
    for column in known:
        grouped = [cell for cell in column if "." in cell]
        small = [cell for cell in column if "." not in cell]
        if separator == ";" or (small and any(cell.endswith("0") for cell in grouped)):
            raise _unclear(name, grouped[0], small[:1], "--decimal . or --thousands .")


def require_marks_apart(name: str, separator: str, decimal: str, thousands: str) -> None:
    """Refuse a mark between thousands that has another task, too."""
    if thousands and thousands in (decimal, "space" if separator == " " else ""):
        raise FileFormatError(
            f"{name}: {thousands!r} cannot stand between thousands and be the decimal mark or "
            "between cells too. Say with --thousands, --decimal and --sep which it is."
        )


def question_late_points(name: str, marked: Collection[str], separator: str) -> None:
    """Refuse numbers with points below many lines that have no mark, if all may be thousands.

    Between other separators than semicolons one of them must end with a zero.
    """
    if separator != ";" and not any(cell.endswith("0") for cell in marked):
        return
    if marked and all(map(_POINTS.fullmatch, marked)):
        raise _unclear(name, min(marked), (), "--decimal . or --thousands .")


def _unclear(name: str, found: str, others: Sequence[str], ways: str) -> FileFormatError:
    beside = "".join(f" beside {other!r}" for other in others)
    return FileFormatError(
        f"{name}: expected one decimal mark, found {found!r}{beside}, which may be read in two "
        f"ways. Say which it is with {ways}"
    )
