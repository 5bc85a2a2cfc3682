"""Columns of a table: which are coordinates, which are kept beside them, and in what units."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.checks import points
from sdpdr.base.columns import (
    are_dates,
    column_of_ids,
    counts_rows,
    doubts,
    sentinels,
    unlike,
)
from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted, listed
from sdpdr.lab.cli.options import NAMES, Parsed, apply_all, option
from sdpdr.lab.cli.terminal import error, info
from sdpdr.lab.tables.files import read_table
from sdpdr.lab.tables.options import ReadOptions
from sdpdr.lab.tables.table import Table, looks_like_number
from sdpdr.lab.tables.text import LABEL_NAMES

SCALES = ("none", "standard", "robust")
# Classes that a legend can tell apart.
_COLOURS = 10
_EMPTY = "empty"
_READ_OPTIONS = [field.name for field in fields(ReadOptions)]
_SEPARATORS = {
    "tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|",
    **{mark: mark for mark in ",;|\t "},
}  # fmt: skip
# Days as the standard and most countries write them, and a time of day after them or alone.
_DAY = (
    r"\d{4}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:\d{4}|\d{2})|\d{4}-\d{2}"
    r"|\d{1,2}[ .-]*[a-z]{3,9}\.?[ -]*\d{2,4}"
)
_TIME = (
    r"\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?(?:Z| ?(?:UTC|GMT)|[-+]\d{2}:?\d{2})?"
)
_DATE = re.compile(rf"(?:{_DAY})(?:[T ,]+{_TIME})?|{_TIME}", re.IGNORECASE)
_PADDED = re.compile(r"0\d+")


# -- options --------------------------------------------------------------------------------------


def _separator(text: str) -> str:
    if text.lower() not in _SEPARATORS:
        raise ValueError(f"expected one of tab, space, comma, semicolon, pipe; got {text!r}")
    return _SEPARATORS[text.lower()]


def _lines(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"expected numbers of lines, got {text!r}")
    return tuple(map(int, parts))


def reading_options() -> Callable[[Any], Any]:
    """Return the options of how a table is read and what its columns are."""
    count: Any = {"type": click.IntRange(0), "default": 0}
    names: Any = {"type": NAMES, "default": []}
    shown: Any = {"show_default": True}
    decimals, thousands = click.Choice((".", ",", "any")), click.Choice((".", ",", "'", "space"))
    said = "Between cells of text: a character, tab or space (default: found in the file)."
    missing = "Rows with missing or infinite coordinates, or without a label that is needed."
    lines = "Lines of text that are not points, such as units or totals."
    refuse, auto = click.Choice(("refuse", "drop")), click.Choice(("auto", "yes", "no"))
    return apply_all(
        option("--key NAME", "Which array of an NPZ file."),
        option(
            "--header",
            "Whether the first line of text names the columns.",
            type=auto,
            default="auto",
            **shown,
        ),
        option("--sep CHAR", said, type=Parsed("CHAR", _separator)),
        option("--decimal", "Decimal mark of text; any: both marks.", type=decimals),
        option("--thousands", "Mark in text (default: none).", type=thousands),
        option("--percent", "Read 12 % as 12."),
        option(
            "--na-values A,B,...", "Missing values, beside empty, NA, NULL and the like.", **names
        ),
        option("--transpose", "Columns are points."),
        option("--skip N", "Lines of text above the table.", **count),
        option("--skip-footer N", "Lines of text below the table.", **count),
        option("--drop-lines N,...", lines, type=Parsed("N,...", _lines), default=()),
        option("--missing", missing, type=refuse, default="refuse", **shown),
        option("--columns A,B,...", "Only these columns are coordinates.", **names),
        option("--drop A,B,...", "All columns but these.", **names),
        option("--id A,B,...", "Written beside the embedding; not coordinates.", **names),
        option("--label A,B,...", "The same; the first colours the figure.", **names),
        option("--color COLUMN", "Colours the figure; not used as a coordinate."),
    )


def read(args: SimpleNamespace) -> Table:
    """Return the table that a command line names."""
    options = ReadOptions(**{name: getattr(args, name) for name in _READ_OPTIONS})
    distances = getattr(args, "metric", None) == "precomputed"
    table = read_table(args.file, options, distances=distances)
    if table.remarks:
        info(f"{table.file}: {' and '.join(table.remarks)}")
    return table


# -- coordinates and the columns beside them ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DividedTable:
    """A table in two parts.

    Attributes
    ----------
    table : Table
        The rows that are embedded, with all columns.
    coordinates : list of str
    X : array of shape (n, D)
    kept : mapping from name to array of shape (n,)
        Columns that are written beside the embedding, in the order of the file.
    colour : str or None
        The column that colours a figure.
    set_aside : mapping from name to kind
        Columns that are not coordinates although the user did not say so.
    n_read : int
        Rows of the file.
    doubt : str
        Why there may be too few coordinates; empty where nothing speaks for it.
    """

    table: Table
    coordinates: list[str]
    X: Array
    kept: Mapping[str, np.ndarray]
    colour: str | None
    set_aside: Mapping[str, str]
    n_read: int
    doubt: str

    @property
    def rows(self) -> Index:
        """Which rows of the file these are, from 0."""
        return np.asarray(self.table.frame.index, dtype=np.int64)

    @property
    def colouring(self) -> np.ndarray | None:
        """What colours a figure: numbers if they are a quantity, text otherwise."""
        if self.colour is None:
            return None
        if self.table.is_numeric(self.colour):
            values = self.table.floats(self.colour)
            whole = (values == np.round(values)) | np.isnan(values)
            few = len(set(values[~np.isnan(values)].tolist())) <= _COLOURS
            if not (few and whole.all() and np.isnan(values).any()):
                return values.astype(np.int64) if whole.all() and few else values
        words = self.table.texts(self.colour)
        return np.array(["" if word is None else word for word in words], dtype=object)


def divide(
    table: Table, args: SimpleNamespace, beside: Sequence[str] = (), needed: Sequence[str] = ()
) -> DividedTable:
    """Return the coordinates of a table, and what is kept beside them.

    Parameters
    ----------
    table : Table
    args : SimpleNamespace
        Columns named by the user decide; of the others, numbers of rows, ids, labels, dates and
        words are not coordinates, and a line says so.
    beside : sequence of str
        Columns that a method reads for itself.
    needed : sequence of str
        Those of them that must have a value in every row.
    """
    asked = [*args.id, *args.label, *beside, *([] if args.color is None else [args.color])]
    asked += table.row_names
    table.require([*args.columns, *args.drop, *asked])
    distances = getattr(args, "metric", None) == "precomputed"
    named = {*asked, *args.drop}
    left = [name for name in table.columns if name not in named and name not in table.index]
    kinds = _kinds(table, left, distances)
    coordinates = list(args.columns) or [name for name in left if name not in kinds]
    coordinates = [name for name in coordinates if name not in args.drop]
    if not args.columns:
        _report(table, kinds, named)
        _report_colour(table, args, distances)
    table = _with_truths(table, coordinates)
    X = table.numbers(coordinates)
    doubt = ""
    if not (args.columns or distances):
        doubt = _warn_of_words(table, coordinates, kinds)
        _warn_of_columns(table, coordinates)
    others = {*asked, *kinds, *table.index} - {*args.columns, *args.drop}
    others -= {name for name, kind in kinds.items() if kind == _EMPTY}
    beside_names = [name for name in table.columns if name in {*others, *asked}]
    n = len(table)
    complete = np.ones(n, dtype=bool) if distances else _complete(table, coordinates, X, args)
    if args.missing == "drop" and not distances:
        complete = _labelled(table, needed, complete)
    kept: dict[str, np.ndarray] = {}
    if not complete.all():
        name = "row" if table.lines is None else "line"
        while name in table.columns:
            name += "_"
        kept[name] = np.arange(1, n + 1) if table.lines is None else table.lines
    kept |= {name: _as_kept(table, name) for name in beside_names}
    return DividedTable(
        table.rows(complete),
        coordinates,
        X[complete],
        {name: column[complete] for name, column in kept.items()},
        _colour(table, args, kinds, beside_names),
        {} if args.columns else kinds,
        n,
        doubt,
    )


def _kinds(table: Table, names: Sequence[str], distances: bool) -> dict[str, str]:
    """Columns that are not coordinates, and what they are."""
    if not table.is_text and not table.named:
        return {}  # arrays
    found = {name: kind for name in names if (kind := _kind(table, name, distances))}
    # If nothing else is left, the error of the first column says more.
    return found if len(found) < len(names) else {}


def _kind(table: Table, name: str, distances: bool) -> str:
    """What a column is that is not a coordinate; empty for coordinates."""
    missing = table.missing(name)
    if missing.all():
        return _EMPTY
    words = [word for word in table.texts(name) if word is not None]
    repeats = 2 * len(set(words)) <= len(table)
    if not distances and _are_truths(words):
        return "labels" if LABEL_NAMES.fullmatch(name) and repeats else ""
    if column_of_ids(name, words):
        return "ids"
    if not table.is_numeric(name):
        return _kind_of_text(words)
    if distances or not (table.named or table.is_text):
        return ""
    values = table.floats(name)
    known = values[~np.isnan(values)]
    if are_dates(name, values):
        return "dates or times"
    whole = bool((known == np.round(known)).all() and (np.abs(known) < 2.0**53).all())
    if whole and any(map(_PADDED.fullmatch, words)) and all(map(str.isdecimal, words)):
        return "codes"
    if not (whole and table.named):
        return ""
    if known.size == values.size and counts_rows(name, known.astype(np.int64)):
        return "row numbers"
    return "labels" if LABEL_NAMES.fullmatch(name) and repeats else ""


def _kind_of_text(words: Sequence[str]) -> str:
    """Dates, or words if no cell is a number in any notation; empty for anything else."""
    if all(map(_DATE.fullmatch, words)):
        return "dates or times"
    return "" if any(map(looks_like_number, words)) else "words"


def _are_truths(words: Sequence[str]) -> bool:
    return all(word.lower() in ("true", "false") for word in words)


def _with_truths(table: Table, names: Sequence[str]) -> Table:
    """The table with ones and zeros for true and false in some columns."""
    changed = {}
    for name in names:
        words = table.texts(name)
        known = [word for word in words if word is not None]
        if known and _are_truths(known):
            values = [np.nan if w is None else float(w.lower() == "true") for w in words]
            changed[name] = np.array(values)
    if not changed:
        return table
    info(f"{table.file}: true is read as 1 and false as 0: {listed(list(map(repr, changed)))}.")
    return replace(table, frame=table.frame.assign(**changed))


def _as_kept(table: Table, name: str) -> np.ndarray:
    """A column as it stands in the file: text, or numbers of another format."""
    column = table.frame[name]
    if table.is_text or column.dtype.kind not in "iufb":
        words = table.texts(name)
        return np.array(["" if word is None else word for word in words], dtype=object)
    return np.asarray(column.to_numpy())


def _report(table: Table, kinds: Mapping[str, str], named: set[str]) -> None:
    """Say which columns are not coordinates although the user did not say so."""
    if not set(table.index) <= named:
        info(
            f"{table.file}: the first column has no name and is kept beside the embedding, as "
            f"numbers or names of rows. Give it a name if it is a coordinate; --drop "
            f"{shlex.quote(','.join(table.index))} leaves it out."
        )
    if empty := [repr(name) for name, kind in kinds.items() if kind == _EMPTY]:
        info(f"{table.file}: without any value, and left out: {listed(empty)}.")
    found = [f"{name!r} ({kind})" for name, kind in kinds.items() if kind != _EMPTY]
    if found:
        dates = (
            " A date is a coordinate if it is written as a number, such as days since the first."
        )
        info(
            f"{table.file}: not coordinates, and kept beside the embedding: {', '.join(found)}. "
            "--columns names the coordinates, --drop leaves columns out."
            f"{dates if 'dates or times' in kinds.values() else ''}"
        )


def _report_colour(table: Table, args: SimpleNamespace, distances: bool) -> None:
    """Say that numbers which colour the figure are not a coordinate for that reason."""
    name = args.color
    if name is None or name in (*args.id, *args.label, *args.drop):
        return
    if not _kind(table, name, distances):
        info(
            f"{table.file}: {name!r} colours the figure and is not a coordinate. --columns with "
            "its name among others makes it one."
        )


def _warn_of_words(table: Table, coordinates: Sequence[str], kinds: Mapping[str, str]) -> str:
    """Warn of a picture of few columns where the others hold words; return the warning."""
    words = [repr(name) for name, kind in kinds.items() if kind == "words"]
    if not words or len(coordinates) >= max(2, len(words)):
        return ""
    doubt = (
        f"the embedding uses {len(coordinates)} of "
        f"{counted(len(coordinates) + len(words), 'column')}, since the others hold words: "
        f"{listed(words)}. Code ordered words as numbers 1..5, and kinds as a column of 0 and 1 "
        "each (pandas.get_dummies); --columns names the coordinates without this warning."
    )
    error(f"{table.file}: {doubt}", "warning")
    return doubt


def _warn_of_columns(table: Table, coordinates: Sequence[str]) -> None:
    """Warn of coordinates that may be none, and of codes for missing values."""
    if not (table.is_text or table.named):
        return
    codes: dict[float, list[str]] = {}
    for name in coordinates:
        values = table.floats(name)
        held = sentinels(values)
        for code in held:
            codes.setdefault(code, []).append(repr(name))
        if not held and table.named and (words := doubts(name, values)):
            error(
                f"{words}, and is used as a coordinate. --drop {shlex.quote(name)} leaves it out; "
                "--columns names the coordinates without this warning.",
                "warning",
            )
    if codes:
        listing = " and ".join(f"{code:g} ({listed(names)})" for code, names in codes.items())
        given = ",".join(f"{code:g}" for code in codes)
        error(
            f"{table.file}: values far from all others, as codes of missing values are: {listing}. "
            f"If they are, --na-values={given} --missing drop leaves such rows out; --columns "
            "names the coordinates without this warning.",
            "warning",
        )


def _complete(table: Table, names: Sequence[str], X: Array, args: SimpleNamespace) -> np.ndarray:
    """For every row whether its coordinates are known and finite; refused or reported if not."""
    gone = ~np.isfinite(X)
    complete: np.ndarray = np.logical_not(gone.any(axis=1))
    if complete.all():
        return complete
    rows = np.flatnonzero(~complete)
    columns = [repr(names[k]) for k in np.unique(np.nonzero(gone)[1])]
    what = "missing" if np.isnan(X).any() else "infinite"
    where = f"rows {listed(rows + 1)}"
    if table.lines is not None:
        where += f" (lines {listed([int(table.lines[k]) for k in rows])})"
    said = f"{table.file}: coordinates are {what} in {where}, columns {listed(columns)}."
    if args.missing == "drop" and getattr(args, "actions", None):
        raise DataError(
            f"{said} --actions says what was done from each row to the next, so that none can be "
            "left out: fill them in."
        )
    others = "--drop leaves columns out; or fill them in."
    if X.shape[0] == X.shape[1] and hasattr(args, "metric"):
        others += (
            " If it holds distances, --metric precomputed says so, and missing ones are not known; "
            "--method distance_completion finds points that have all that are known."
        )
    if not complete.any():
        raise DataError(f"{said} No row is complete: {others}")
    if args.missing == "drop":
        info(f"{said} These rows are left out.")
        return complete
    raise DataError(f"{said} --missing drop leaves those rows out; {others}")


def _labelled(table: Table, needed: Sequence[str], complete: np.ndarray) -> np.ndarray:
    """Complete rows that have a value in all of some columns; a line says which lack one."""
    lacking = complete & without_value(table, needed)
    if not lacking.any():
        return complete
    names = listed([repr(name) for name in needed])
    if not (complete & ~lacking).any():
        raise DataError(f"{table.file}: no row has coordinates and a value in {names}. Fill it in.")
    rows = listed(np.flatnonzero(lacking) + 1)
    info(f"{table.file}: these rows have no value in {names} and are left out: {rows}.")
    return complete & ~lacking


def without_value(table: Table, names: Sequence[str]) -> np.ndarray:
    """Return for every row whether it has no value in one of some columns."""
    gone = np.zeros(len(table), dtype=bool)
    for name in names:
        gone |= table.missing(name)
    return gone


def _colour(
    table: Table, args: SimpleNamespace, kinds: Mapping[str, str], beside: Sequence[str]
) -> str | None:
    """The column of the colour: as named, else the first of labels, or of words that repeat."""
    for name in (args.color, *args.label):
        if name is not None:
            return str(name)
    for name in beside:
        if kinds.get(name) in ("labels", "words", "dates or times"):
            words = {word for word in table.texts(name) if word is not None}
            if len(words) <= _COLOURS:
                return name
    return None


# -- units ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ColumnUnits:
    """x -> (x - centre) / spread, column by column."""

    centre: Array
    spread: Array

    def __call__(self, X: Array) -> Array:
        """Return points in these units, shape (n, D)."""
        return np.asarray((X - self.centre) / self.spread)


def scaling(how: str | None, X: Array, names: Sequence[str]) -> ColumnUnits:
    """Return units of the columns of X, by ``--scale``; by default they stay as they are.

    Columns that are constant keep their unit. If nothing was said and spreads differ a
    hundredfold, a warning says so.
    """
    if how in (None, "none"):
        if how is None and (words := unlike(X, names)):
            error(
                f"{words}. If they have units of their own, --scale standard gives all columns the "
                "same weight; if not, --scale none leaves them, without this warning.",
                "warning",
            )
        return ColumnUnits(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    from sklearn.preprocessing import RobustScaler, StandardScaler

    if how == "standard":
        fitted = StandardScaler().fit(points(X))
        return ColumnUnits(fitted.mean_, fitted.scale_)
    fitted = RobustScaler().fit(points(X))
    return ColumnUnits(fitted.center_, fitted.scale_)
