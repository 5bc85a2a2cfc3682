"""Columns of a table: which are coordinates, which are kept beside them, and in what units."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.checks import points
from sdpdr.base.columns import counts_rows, doubts, is_named_as_id, unlike
from sdpdr.base.errors import DataError
from sdpdr.lab.cli.console import complain, note
from sdpdr.lab.cli.gaps import complete
from sdpdr.lab.study.cells import SEPARATORS, is_missing, is_number, numbers_of
from sdpdr.lab.study.delimited import DECIMALS
from sdpdr.lab.study.frame import Frame
from sdpdr.lab.study.tables import HEADER, names_beside, read_table

SCALES = ("none", "standard", "robust")
MISSING = ("refuse", "drop")
# Classes that a legend can tell apart.
_COLOURS = 10
# A column without an entry, as separators at the ends of lines make it; it is not kept.
_EMPTY = "empty"
_CALLED = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
# Names of columns whose whole numbers are classes.
_LABELS = re.compile(r"label|labels|class|target|category|species|cluster", re.IGNORECASE)
# Cells of digits that are no plain numbers: thousands, percents, amounts of money.
_NEARLY = re.compile(r"[-+]?[$€£]?[\d.,' \u00a0]*\d[\d.,' \u00a0]*[%$€£]?")
_DATE = re.compile(r"\d{1,2}([./])\d{1,2}\1\d{4}|\d{4}([./])\d{1,2}\2\d{1,2}")
# Names whose whole numbers may be a quantity, unless no two of them are alike.
_MAY_COUNT = re.compile(r"key|index|.*[ _.-]n[or]", re.IGNORECASE)


def add_reading(add: Callable[..., None]) -> None:
    """Add the options of how a table is read and what its columns are."""
    names = {"type": listed, "default": []}
    add("--key NAME", "which array of an NPZ file")
    add("--header", "whether text has one (default: auto)", choices=HEADER, default="auto")
    words = "between cells of text: a character, tab or space\n(default: found by looking)"
    add("--sep CHAR", words, type=_separator)
    words = "decimal mark of text (default: found by looking)"
    add("--decimal", words, choices=DECIMALS)
    add("--skip N", "lines of text above the table (default: 0)", type=_count, default=0)
    words = "rows with coordinates that are not known: refuse them, or drop them\n(default: refuse)"
    add("--missing", words, choices=MISSING, default="refuse")
    add("--columns A,B,...", "only these columns are coordinates", **names)
    add("--drop A,B,...", "all columns but these", **names)
    add("--id A,B,...", "written beside the embedding; no coordinates", **names)
    add("--label A,B,...", "the same; the first colours the figure", **names)
    add("--color COLUMN", "colours the figure; not used as a coordinate")


def read(args: Namespace, also_written: Sequence[str] = ()) -> Frame:
    """The table that a command line names; what is kept beside points stays as it is written."""
    kept = [*args.id, *args.label, *([] if args.color is None else [args.color]), *also_written]
    frame = read_table(
        args.file,
        key=args.key,
        header=args.header,
        separator=args.sep,
        decimal=args.decimal,
        skip=args.skip,
        as_written=kept,
    )
    if frame.manner and args.sep is None:
        note(f"{frame.file}: {frame.manner}")
    return frame


def listed(text: str) -> list[str]:
    """Names with commas between them, for argparse."""
    return [name.strip() for name in text.split(",")]


@dataclass(frozen=True, eq=False)
class Table:
    """A table in two parts.

    Attributes
    ----------
    points : Frame
        The coordinates.
    kept : mapping from name to array of shape (n,)
        What is written beside the embedding, in the order of the file.
    colour : str or None
        The column that colours a figure.
    frame : Frame
        All columns of these rows.
    rows : array of int
        Which rows of the file these are, from zero on.
    """

    points: Frame
    kept: Mapping[str, np.ndarray]
    colour: str | None
    frame: Frame
    rows: Index

    @property
    def colouring(self) -> np.ndarray | None:
        """What colours a figure: numbers if all entries are numbers, text otherwise."""
        return None if self.colour is None else _as_kept(self.frame.values(self.colour))


def divided(frame: Frame, args: Namespace, beside: Sequence[str] = ()) -> Table:
    """The coordinates of a table, and what is kept beside them.

    Parameters
    ----------
    frame : Frame
    args : Namespace
        Who names columns decides; of the others, the numbers of rows, ids and words are no
        coordinates, and a line says so.
    beside : sequence of str
        Columns that a method reads for itself.
    """
    asked = [*args.id, *args.label, *beside, *([] if args.color is None else [args.color])]
    frame.select([*args.columns, *args.drop, *asked])  # refuses names that it does not have
    distances = getattr(args, "metric", None) == "precomputed"
    found = _recognised(frame, {*asked, *args.drop}, distances)
    left_out = [name for name in (*asked, *found) if name not in args.columns]
    points = frame.select(args.columns, [*args.drop, *left_out])
    told_apart = {name for name in (*found, *frame.index) if found.get(name) != _EMPTY}
    beside_points = {*asked, *(told_apart - {*args.drop, *args.columns})}
    names = [name for name in frame.columns if name in beside_points]
    kept = {name: _as_kept(frame.columns[name]) for name in names}
    if not args.columns:
        _tell(frame, found, {*asked, *args.drop})
        _tell_colour(frame, args, distances)
        if points.named and not distances:
            _tell_doubts(points)
    table = Table(points, kept, _colour(args, found, kept), frame, np.arange(frame.n))
    if not distances:
        return complete(
            table,
            args.missing,
            in_time=bool(getattr(args, "actions", None)),
            may_be_distances=hasattr(args, "metric"),
        )
    if args.missing == "drop":
        raise DataError(
            "--missing drop is about coordinates, and these are distances, of which what is "
            "missing is not known. Leave it out."
        )
    return table


def _recognised(frame: Frame, known: set[str], distances: bool) -> dict[str, str]:
    """Columns that are no coordinates though nobody has said so, and what they are.

    Numbers of a table of distances are distances.
    """
    if frame.separator is None and not frame.named:
        return {}  # arrays
    left = [name for name in frame.columns if name not in known and name not in frame.index]
    found = {name: kind for name in left if (kind := _kind(frame, name, distances))}
    # Where nothing else is left, the error of the first column says more.
    return found if len(found) < len(left) else {}


def _kind(frame: Frame, name: str, distances: bool) -> str:
    column = frame.columns[name]
    if _is_empty(column):
        return _EMPTY
    if is_named_as_id(name) and _names_rows(name, column, frame.decimal):
        return "ids"
    if column.dtype.kind in "fiu":
        if distances or not frame.named or not _is_whole(column):
            return ""
        if counts_rows(name, column.astype(np.int64)):
            return "row numbers"
        return "labels" if _LABELS.fullmatch(name) and _repeats(column) else ""
    return "words" if _is_words(column, frame.decimal) else ""


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


def _is_whole(column: np.ndarray) -> bool:
    """Whether a column holds whole numbers, so small that none is another by rounding."""
    if column.dtype.kind in "iu":
        return True
    if column.dtype.kind != "f" or not (np.abs(column) < 2.0**53).all():
        return False
    return bool((column == np.round(column)).all())


def _repeats(column: np.ndarray) -> bool:
    """Whether there are so few kinds of entries that they are classes."""
    return 2 * len(set(column.tolist())) <= len(column)


def _is_words(column: np.ndarray, decimal: str) -> bool:
    """Whether no entry is a number; truth values are words in text, and so in other files."""
    if column.dtype.kind not in "OUS":
        return column.dtype.kind in "Mmb"
    known = [str(entry) for entry in column.tolist() if not is_missing(entry)]
    if not known or any(is_number(entry, decimal) for entry in known):
        return False
    nearly = [entry for entry in known if _NEARLY.fullmatch(entry)]
    return not nearly or all(map(_DATE.fullmatch, known))


def _as_kept(column: np.ndarray) -> np.ndarray:
    """Whole numbers without a point, as they stood in the file."""
    return column.astype(np.int64) if column.dtype.kind == "f" and _is_whole(column) else column


def _tell(frame: Frame, found: Mapping[str, str], known: set[str]) -> None:
    """Say which columns are no coordinates though nobody has asked for it."""
    if not set(frame.index) <= known:
        note(
            f"{frame.file}: the first column has no name, so it is taken for numbers or names of "
            "rows: no coordinate, and kept beside the embedding. Give it a name if it is a "
            "coordinate; --drop '' leaves it out without these words."
        )
    kinds = [f"{name!r} ({kind})" for name, kind in found.items() if kind != _EMPTY]
    if empty := [repr(name) for name, kind in found.items() if kind == _EMPTY]:
        note(f"{frame.file}: without any entry, and left out: {', '.join(empty)}.")
    if kinds:
        words = ", ".join(kinds)
        note(
            f"{frame.file}: no coordinates, and kept beside the embedding: {words}. --columns "
            "names the coordinates, --drop leaves columns out."
        )


def _tell_colour(frame: Frame, args: Namespace, distances: bool) -> None:
    """Say of numbers that colour a figure that they are no coordinates therefore."""
    name = args.color
    other = (*args.id, *args.label, *args.drop)
    if name is None or name in other:
        return
    read = replace(frame, columns={**frame.columns, name: frame.values(name)})
    if not _kind(read, name, distances):
        note(
            f"{frame.file}: {name!r} colours the figure, and so is no coordinate. --columns with "
            "its name among others makes it one."
        )


def _colour(args: Namespace, found: Mapping[str, str], kept: Mapping[str, Any]) -> str | None:
    """The column of the colour: as named, else the first of labels, or of words that repeat."""
    for name in (args.color, *args.label):
        if name is not None:
            return str(name)
    words = (name for name in kept if found.get(name) in ("labels", "words"))
    return next((name for name in words if len(set(map(str, kept[name]))) <= _COLOURS), None)


# -- units ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scaling:
    """x -> (x - centre) / spread, column by column."""

    centre: Array
    spread: Array

    def __call__(self, X: Array) -> Array:
        """Points in these units, shape (n, D)."""
        return np.asarray((X - self.centre) / self.spread)


def scaling(how: str | None, X: Array, names: Sequence[str]) -> Scaling:
    """Units of the columns of X, by ``--scale``; nothing said leaves them as they are.

    Columns that are constant keep their unit. Where nothing was said and spreads differ a
    hundredfold, a line tells so.
    """
    if how in (None, "none"):
        if how is None:
            _tell_spreads(X, names)
        return Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    from sklearn.preprocessing import RobustScaler, StandardScaler

    known = points(X)
    if how == "standard":
        fitted = StandardScaler().fit(known)
        return Scaling(fitted.mean_, fitted.scale_)
    fitted = RobustScaler().fit(known)
    return Scaling(fitted.center_, fitted.scale_)


def refuse_scale(how: str | None) -> None:
    """Refuse ``--scale`` of distances."""
    if how not in (None, "none"):
        raise DataError(f"--scale {how} is about coordinates; these are distances: leave it out.")


def _tell_doubts(points: Frame) -> None:
    """Say which of the coordinates may be none."""
    for name in points.columns:
        column = points.values(name)
        if column.dtype.kind in "fiu" and (words := doubts(name, column)):
            complain(
                "warning",
                f"{words}, and is taken for a coordinate. --drop {name} leaves it out; entries "
                "that are not known are to be empty, or nan, and --columns names the coordinates "
                "without these words.",
            )


def _tell_spreads(X: Array, names: Sequence[str]) -> None:
    if words := unlike(X, names):
        complain(
            "warning",
            f"{words}. If they have units of their own, --scale standard gives all columns the "
            "same say; if not, --scale none leaves them, without these words.",
        )


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"expected a number of lines, got {text!r}")
    return int(text)


def _separator(text: str) -> str:
    found = _CALLED.get(text.lower(), text)
    if found not in SEPARATORS:
        raise ArgumentTypeError(f"expected one of {', '.join(_CALLED)}, or , ; |; got {text!r}")
    return found


def tell_names(path: Path, beside: Iterable[str], names: Sequence[str]) -> None:
    """Say which columns beside an embedding are written by another name than they have."""
    for name, written in names_beside(beside, names).items():
        if written != name and path.suffix != ".npy":
            note(f"{path.name}: {name!r} is a name of the embedding; that column is {written!r}.")


def stem(path: Path) -> str:
    """The name of a file without what tells its format."""
    return path.name.partition(".")[0] or path.name
