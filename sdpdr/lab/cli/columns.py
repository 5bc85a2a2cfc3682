"""Columns of a table: which are coordinates, which are kept beside them, and in what units."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.columns import column_of_ids, counts_rows, doubts, sentinels, unlike
from sdpdr.base.errors import DataError
from sdpdr.base.rows import listed, numbered, rows_of_file
from sdpdr.lab.cli.app import NAMES, Parsed, apply_all, list_option, option
from sdpdr.lab.cli.terminal import error, info
from sdpdr.lab.tables.files import read_table
from sdpdr.lab.tables.table import LABEL_NAMES, ReadOptions, Table, looks_like_number

SCALES = ("none", "standard", "robust")
# More classes cannot be distinguished by the colours of a legend.
_COLOURS = 10
_EMPTY = "empty"
_CLASSES = ("labels", "words")
_SEPARATORS = {
    "tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|",
    **{mark: mark for mark in ",;|\t "},
}  # fmt: skip
_NAMED = "--columns names the coordinates without this warning."


def _separator(text: str) -> str:
    try:
        return _SEPARATORS[text.lower()]
    except KeyError:
        raise ValueError from None


def _lines(text: str) -> tuple[int, ...]:
    """Read numbers of lines and ranges of them, such as 1-3,42."""
    spans = [
        (first, last or first) for first, _, last in (p.partition("-") for p in text.split(","))
    ]
    return tuple(line for first, last in spans for line in range(int(first), int(last) + 1))


_SEP = Parsed("CHAR", _separator, "one of tab, space, comma, semicolon, pipe")
_LINES = Parsed("N,...", _lines, "numbers of lines, such as 1-3,42")


def reading_options() -> Callable[[Any], Any]:
    """Return the options of how a table is read and what its columns are."""
    header: Any = {"type": click.Choice(("auto", "yes", "no")), "default": "auto"}
    missing: Any = {"type": click.Choice(("refuse", "drop")), "default": "refuse"}
    return apply_all(
        option("--key NAME", "Which array of an NPZ file."),
        option("--header", "Whether the first line of text names the columns.",
               show_default=True, **header),
        option("--sep CHAR", "Between cells of text: a character, tab or space (default: found "
               "in the file).", type=_SEP),
        option("--decimal", "Decimal mark of text (default: found in the file).",
               type=click.Choice((".", ","))),
        list_option("--na-values A,B,...", "Missing values, beside empty, NA, NULL and the like.",
                    NAMES),
        list_option("--drop-lines N,...", "Lines of text that are not points, such as a title, "
                    "units or totals: 1-3,42.", _LINES),
        option("--missing", "Rows with missing or infinite coordinates, or without a label that "
               "is needed.", show_default=True, **missing),
        list_option("--columns A,B,...", "These columns, and no others, are coordinates.", NAMES),
        list_option("--drop A,B,...", "These columns are left out.", NAMES),
        list_option("--id A,B,...", "Names of rows: no coordinates; written beside the embedding "
                    "and into the figure.", NAMES),
        option("--color COLUMN", "No coordinate either: colours the figure, and is written beside "
               "the embedding."),
    )  # fmt: skip


def read(args: SimpleNamespace) -> Table:
    """Return the table that a command line names."""
    options = ReadOptions(
        **{field.name: getattr(args, field.name) for field in fields(ReadOptions)}
    )
    table = read_table(args.file, options, distances=_are_distances(args))
    if table.remarks:
        info(f"{table.file}: {' and '.join(table.remarks)}")
    return table


def _are_distances(args: SimpleNamespace) -> bool:
    return getattr(args, "metric", None) == "precomputed"


# -- coordinates and the columns beside them ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DividedTable:
    """The rows of a table that are embedded: coordinates, and columns kept beside them.

    ``colour`` names the column that colours a figure, and ``names`` are those of the points, if a
    column has any; ``set_aside`` those that are not coordinates
    although the user did not say so, with their kinds; ``n_read`` counts the rows of the file.
    """

    table: Table
    coordinates: list[str]
    X: Array
    kept: Mapping[str, np.ndarray]
    colour: str | None
    names: np.ndarray | None
    set_aside: Mapping[str, str]
    n_read: int

    @property
    def rows(self) -> Index:
        """Which rows of the file these are, from 0."""
        return np.asarray(self.table.frame.index, dtype=np.int64)

    @property
    def colouring(self) -> np.ndarray | None:
        """The values that colour a figure: numbers if they are a quantity, text otherwise."""
        if self.colour is None:
            return None
        words = self.table.texts(self.colour)
        if len(set(words)) > _COLOURS and self.table.is_numeric(self.colour):
            return self.table.floats(self.colour)
        return np.array(["" if word is None else word for word in words], dtype=object)


def divide(
    table: Table, args: SimpleNamespace, beside: Sequence[str] = (), needed: Sequence[str] = ()
) -> DividedTable:
    """Divide a table into coordinates and columns beside them.

    Options name coordinates and columns to keep. Among other columns, ids, labels and words are not
    coordinates, which a message reports. ``beside`` are columns that the method reads for itself,
    and ``needed`` those of them that must have a value in every row.
    """
    colour = [] if args.color is None else [args.color]
    requested = [*args.id, *beside, *colour, *table.row_names]
    table.require([*args.columns, *args.drop, *requested])
    distances, set_aside = _are_distances(args), dict[str, str]()
    coordinates = list(args.columns)
    named = {*requested, *args.drop}
    left = [name for name in table.columns if name not in {*named, *table.index}]
    kinds = {name: kind for name in left if (kind := _kind(table, name, distances))}
    # If nothing else is left, the error of the first column says more.
    kinds = {} if len(kinds) == len(left) else kinds
    if not coordinates:
        coordinates, set_aside = [name for name in left if name not in kinds], kinds
        _report(table, kinds, named)
        _report_truths(table, coordinates)
    coordinates = [name for name in coordinates if name not in args.drop]
    X = table.numbers(coordinates)
    if not args.columns and not distances:
        _warn_of_columns(table, coordinates)
    others = {*kinds, *table.index} - {*args.columns, *args.drop}
    kept = [
        name
        for name in table.columns
        if name in requested or (name in others and kinds.get(name) != _EMPTY)
    ]
    complete = np.ones(len(table), dtype=bool)
    if not distances:
        complete = _complete(table, coordinates, X, needed, args)
    columns = {name: _as_kept(table, name) for name in kept}
    # A first column without a name numbers the rows, or names them.
    if not complete.all() and not set(table.index) & set(kept):
        where = "row" if table.lines is None else "line"
        while where in table.columns:
            where += "_"
        numbers = np.arange(1, len(table) + 1) if table.lines is None else table.lines
        columns = {where: numbers, **columns}
    # Labels that the method learns from, and then columns that look like labels.
    labels = getattr(args, "labels", [])
    classes = [*labels, *(name for name in kept if kinds.get(name) in _CLASSES)]
    candidates = colour + [
        name for name in classes if len(set(table.texts(name)) - {None}) <= _COLOURS
    ]

    def is_name(name: str) -> bool:
        words = table.texts(name)
        is_text = name in args.id or not table.is_numeric(name)
        return is_text and None not in words and len(set(words)) == len(words)

    return DividedTable(
        table.rows(complete),
        coordinates,
        X[complete],
        {name: column[complete] for name, column in columns.items()},
        next(iter(candidates), None),
        next((np.array(table.texts(name))[complete] for name in kept if is_name(name)), None),
        set_aside,
        len(table),
    )


def _kind(table: Table, name: str, distances: bool) -> str:
    """Return the kind of a column that is not a coordinate; empty for coordinates and arrays."""
    if table.lines is None and not table.named:
        return ""
    words = [word for word in table.texts(name) if word is not None]
    if not words:
        return _EMPTY
    if column_of_ids(name, words):
        return "ids"
    if not table.is_numeric(name):
        return "" if any(map(looks_like_number, words)) else "words"
    if distances:
        return ""
    values = table.floats(name)
    known = values[~np.isnan(values)]
    whole = bool((known == np.round(known)).all() and (np.abs(known) < 2.0**53).all())
    if whole and all(map(str.isdecimal, words)) and any(re.match(r"0\d", word) for word in words):
        return "codes"
    if not (whole and table.named):
        return ""
    if known.size == values.size and counts_rows(name, known.astype(np.int64)):
        return "row numbers"
    repeats = 2 * len(set(words)) <= len(table)
    return "labels" if LABEL_NAMES.fullmatch(name) and repeats else ""


def _as_kept(table: Table, name: str) -> np.ndarray:
    """Return a column as it is in the file: text, or numbers of another format."""
    column = table.frame[name]
    if table.lines is not None or column.dtype.kind not in "iufb":
        words = table.texts(name)
        return np.array(["" if word is None else word for word in words], dtype=object)
    return np.asarray(column.to_numpy())


def _report(table: Table, kinds: Mapping[str, str], named: set[str]) -> None:
    """Report columns that are not coordinates although no option says so."""
    if not set(table.index) <= named:
        info(
            f"{table.file}: the first column has no name and is kept beside the embedding, as "
            f"numbers or names of rows. Give it a name if it is a coordinate; --drop "
            f"{shlex.quote(','.join(table.index))} leaves it out."
        )
    if empty := [repr(name) for name, kind in kinds.items() if kind == _EMPTY]:
        info(f"{table.file}: without any value, and left out: {listed(empty)}.")
    if found := [f"{name!r} ({kind})" for name, kind in kinds.items() if kind != _EMPTY]:
        info(
            f"{table.file}: not coordinates, and kept beside the embedding: {', '.join(found)}. "
            "--columns names the coordinates, --drop leaves columns out."
        )


def _report_truths(table: Table, coordinates: Sequence[str]) -> None:
    """Report coordinates that hold true and false."""
    if found := [name for name in coordinates if table.holds_truths(name)]:
        info(
            f"{table.file}: true counts as 1 and false as 0 in {', '.join(map(repr, found))}. "
            f"--drop {shlex.quote(','.join(found))} leaves them out."
        )


def _warn_of_columns(table: Table, coordinates: Sequence[str]) -> None:
    """Warn of columns that may not be coordinates, and of codes of missing values."""
    codes: dict[float, list[str]] = {}
    for name in coordinates if table.lines is not None or table.named else ():
        values = table.floats(name)
        held = sentinels(values)
        for code in held:
            codes.setdefault(code, []).append(repr(name))
        if not held and table.named and (words := doubts(name, values)):
            drop = f"--drop {shlex.quote(name)} leaves it out"
            error(f"{words}, and is used as a coordinate. {drop}; {_NAMED}", "warning")
    if codes:
        listing = " and ".join(f"{code:g} ({listed(names)})" for code, names in codes.items())
        given = ",".join(f"{code:g}" for code in codes)
        error(
            f"{table.file}: values far from all others, as codes of missing values are: {listing}. "
            f"If they are, --na-values={given} --missing drop leaves such rows out; {_NAMED}",
            "warning",
        )


def _complete(
    table: Table, names: Sequence[str], X: Array, needed: Sequence[str], args: SimpleNamespace
) -> np.ndarray:
    """Return which rows have known and finite coordinates; refuse or report the others.

    Rows without a label that is needed are left out as well; methods refuse them otherwise.
    """
    gone = ~np.isfinite(X)
    complete: np.ndarray = np.logical_not(gone.any(axis=1))
    columns = [repr(names[k]) for k in np.unique(np.nonzero(gone)[1])]
    for name in needed if args.missing == "drop" else ():
        if table.missing(name).any():
            columns.append(repr(name))
            complete &= ~table.missing(name)
    if complete.all():
        return complete
    rows = np.flatnonzero(~complete)
    with rows_of_file(table.lines):
        where = f"row{'s' * (len(rows) > 1)} {numbered(rows)}"
    among = f"column{'s' * (len(columns) > 1)} {listed(columns)}"
    found = f"{table.file}: values are missing or infinite in {where}, {among}."
    if args.missing == "drop" and getattr(args, "actions", None):
        raise DataError(
            f"{found} --actions says what was done from each row to the next, so that none can be "
            "left out: fill them in."
        )
    if args.missing == "drop" and complete.any():
        info(f"{found} These rows are left out.")
        return complete
    advice = "--missing drop leaves those rows out; " if complete.any() else "No row is complete: "
    advice += "--drop leaves columns out; or fill them in."
    if X.shape[0] == X.shape[1] and hasattr(args, "metric"):
        advice += (
            " If it holds distances, --metric precomputed says so, and missing ones are not known; "
            "--method distance_completion finds points that have all that are known."
        )
    raise DataError(f"{found} {advice}")


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
    """Return units of the columns of X, by ``--scale``; by default they stay, with a warning.

    Columns that are constant keep their unit.
    """
    if how is None and (words := unlike(X, names)):
        error(
            f"{words}. If they have units of their own, --scale standard gives all columns the "
            "same weight; if not, --scale none leaves them, without this warning.",
            "warning",
        )
    if how in (None, "none"):
        return ColumnUnits(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    from sklearn.preprocessing import RobustScaler, StandardScaler

    fitted = (StandardScaler if how == "standard" else RobustScaler)().fit(X)
    centre = fitted.mean_ if how == "standard" else fitted.center_
    return ColumnUnits(centre, fitted.scale_)
