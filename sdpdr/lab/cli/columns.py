"""Columns of a table: which are coordinates, which are kept beside them, and in what units."""

from __future__ import annotations

import shlex
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.checks import points
from sdpdr.base.columns import doubts, unlike
from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted
from sdpdr.base.rows import listed as some_of
from sdpdr.lab.cli.console import complain, note
from sdpdr.lab.cli.gaps import complete_rows, tell_totals
from sdpdr.lab.cli.kinds import EMPTY, is_whole, kind_of, known_of, truths_of
from sdpdr.lab.cli.options import whole
from sdpdr.lab.tables.cells import SEPARATORS, is_missing
from sdpdr.lab.tables.delimited import DECIMALS, THOUSANDS
from sdpdr.lab.tables.files import HEADER, read_table
from sdpdr.lab.tables.form import Form
from sdpdr.lab.tables.frame import FileTable
from sdpdr.lab.tables.text_files import at_hand

SCALES = ("none", "standard", "robust")
MISSING = ("refuse", "drop")
_OF_DATES = (
    " A date is a coordinate where the file has a number for it: days since the first, or hours."
)
# Classes that a legend can tell apart.
_COLOURS = 10
_NAMELESS = {
    "it": ("column has no name, so it is", "it a name if it is a coordinate"),
    "them": ("columns have no name, so they are", "them names if they are coordinates"),
}
_CALLED = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}


_count = partial(whole, least=0, what="a number of lines")


def add_reading(add: Callable[..., None]) -> None:
    """Add the options of how a table is read and what its columns are."""
    names = {"type": listed, "default": []}
    add("--key NAME", "which array of an NPZ file")
    add("--header", "whether text has one (default: auto)", choices=HEADER, default="auto")
    words = "between cells of text: a character, tab or space\n(default: found by looking)"
    add("--sep CHAR", words, type=_separator)
    words = "decimal mark of text (default: found by looking)"
    add("--decimal", words, choices=DECIMALS)
    words = (
        "between thousands in text: . or , (the decimal mark is then the other one,\n"
        "unless said), ' or space (default: nothing)"
    )
    add("--thousands MARK", words, choices=THOUSANDS)
    add("--percent", "numbers of text with a sign of percent: 12 %% is 12", action="store_true")
    words = (
        "what stands for entries of text that are not known, beside empty, NA, NULL and the\n"
        "like; written --na-values=- where it begins with a -"
    )
    add("--na-values A,B,...", words, **names)
    add("--transpose", "columns are points, as where genes are rows and samples columns")
    add("--skip N", "lines of text above the table (default: 0)", type=_count, default=0)
    words = "lines of text that are no points: units below the names, a total"
    add("--drop-lines N,...", words, type=_lines, default=[])
    words = (
        "rows with coordinates that are not known or infinite, or without a label that all\n"
        "points need: refuse them, or drop them (default: refuse)"
    )
    add("--missing", words, choices=MISSING, default="refuse")
    add("--columns A,B,...", "only these columns are coordinates", **names)
    add("--drop A,B,...", "all columns but these", **names)
    add("--id A,B,...", "written beside the embedding; no coordinates", **names)
    add("--label A,B,...", "the same; the first colours the figure", **names)
    add("--color COLUMN", "colours the figure; not used as a coordinate")


def read(args: Namespace, also_written: Sequence[str] = ()) -> FileTable:
    """The table that a command line names; what is kept beside points stays as it is written."""
    kept = [*args.id, *args.label, *([] if args.color is None else [args.color]), *also_written]
    form = Form(
        header=args.header,
        separator=args.sep or "",
        decimal=args.decimal or "",
        skip=args.skip,
        thousands=args.thousands or "",
        percent=args.percent,
        unknown=args.na_values,
        without=args.drop_lines,
        transpose=args.transpose,
        as_written=kept,
    )
    with at_hand(args.file) as file:
        frame = read_table(file, form, key=args.key)
    if frame.manner and not args.sep:
        note(f"{frame.file}: {frame.manner}")
    return frame


def listed(text: str) -> list[str]:
    """Names with commas between them, for argparse."""
    return [name.strip() for name in text.split(",")]


@dataclass(frozen=True, eq=False)
class DividedTable:
    """A table in two parts.

    Attributes
    ----------
    points : FileTable
        The coordinates.
    kept : mapping from name to array of shape (n,)
        What is written beside the embedding, in the order of the file.
    colour : str or None
        The column that colours a figure.
    frame : FileTable
        All columns of these rows.
    rows : array of int
        Which rows of the file these are, from zero on.
    set_aside : mapping from name to kind
        Columns that are no coordinates though nobody has said so.
    doubt : str
        Why there may be too few coordinates; empty where nothing speaks for it.
    """

    points: FileTable
    kept: Mapping[str, np.ndarray]
    colour: str | None
    frame: FileTable
    rows: Index
    set_aside: Mapping[str, str]
    doubt: str

    @property
    def colouring(self) -> np.ndarray | None:
        """What colours a figure: numbers if all entries are numbers, text otherwise.

        Text is empty where nothing is known. Whole numbers with gaps are text as well, unless they
        are of so many kinds that they are a quantity.
        """
        if self.colour is None:
            return None
        values = self.frame.values(self.colour)
        if values.dtype.kind == "f" and len(set(known_of(values).tolist())) > _COLOURS:
            return values
        kept = _as_kept(values)
        if kept.dtype.kind not in "OUS":
            return kept
        return np.array(["" if is_missing(x) else x for x in kept.tolist()], dtype=object)

    def where(self, chosen: np.ndarray) -> DividedTable:
        """Rows, by a mask, and beside them where each stands in the file; itself if it is all."""
        if chosen.all():
            return self
        lines = self.frame.lines
        name = "row" if lines is None else "line"
        while name in self.frame.columns:
            name += "_"
        places = np.arange(1, self.frame.n + 1) if lines is None else np.asarray(lines)
        kept = {beside: column[chosen] for beside, column in self.kept.items()}
        return replace(
            self,
            points=self.points.rows(chosen),
            kept={name: places[chosen], **kept},
            frame=self.frame.rows(chosen),
            rows=np.flatnonzero(chosen),
        )


def divided(
    frame: FileTable, args: Namespace, beside: Sequence[str] = (), needed: Sequence[str] = ()
) -> DividedTable:
    """The coordinates of a table, and what is kept beside them.

    Parameters
    ----------
    frame : FileTable
    args : Namespace
        Who names columns decides; of the others, the numbers of rows, ids and words are no
        coordinates, and a line says so.
    beside : sequence of str
        Columns that a method reads for itself.
    needed : sequence of str
        Those of them that must have an entry in every row.
    """
    asked = [*args.id, *args.label, *beside, *([] if args.color is None else [args.color])]
    frame.select([*args.columns, *args.drop, *asked])  # refuses names that it does not have
    distances = getattr(args, "metric", None) == "precomputed"
    found = _recognised(frame, {*asked, *args.drop}, distances)
    left_out = [name for name in (*asked, *found) if name not in args.columns]
    points = _with_truths(frame.select(args.columns, [*args.drop, *left_out]), distances)
    told_apart = {name for name in (*found, *frame.index) if found.get(name) != EMPTY}
    beside_points = {*asked, *(told_apart - {*args.drop, *args.columns})}
    names = [name for name in frame.columns if name in beside_points]
    kept = {name: _as_kept(frame.columns[name]) for name in names}
    doubt = "" if args.columns or distances else _doubt(points, found)
    if not args.columns:
        _tell(frame, found, {*asked, *args.drop})
        _tell_colour(frame, args, distances)
        if points.named and not distances:
            _tell_doubts(points)
        if doubt:
            complain("warning", f"{frame.file}: {doubt}")
        tell_totals(frame, kept)
    colour, rows = _colour(args, found, kept), np.arange(frame.n)
    set_aside = {} if args.columns else found
    table = DividedTable(points, kept, colour, frame, rows, set_aside, doubt)
    return table if distances else table.where(complete_rows(points, frame, args, needed))


def _recognised(frame: FileTable, known: set[str], distances: bool) -> dict[str, str]:
    """Columns that are no coordinates though nobody has said so, and what they are.

    Numbers of a table of distances are distances.
    """
    if not frame.separator and not frame.named:
        return {}  # arrays
    left = [name for name in frame.columns if name not in known and name not in frame.index]
    found = {name: kind for name in left if (kind := kind_of(frame, name, distances))}
    # Where nothing else is left, the error of the first column says more.
    return found if len(found) < len(left) else {}


def _with_truths(points: FileTable, distances: bool) -> FileTable:
    """Coordinates with ones and zeros for true and false."""
    read = {} if distances else {name: truths_of(points.columns[name]) for name in points.columns}
    truths = {name: column for name, column in read.items() if column is not None}
    if truths:
        names = some_of([repr(name) for name in truths])
        note(f"{points.file}: coordinates of one for true and zero for false: {names}.")
    return replace(points, columns=MappingProxyType({**points.columns, **truths}))


def _doubt(points: FileTable, found: Mapping[str, str]) -> str:
    """What there is to say of a picture of few columns, since the others hold words."""
    words = [repr(name) for name, kind in found.items() if kind == "words"]
    left = [repr(name) for name in points.columns]
    if not words or len(left) >= max(2, len(words)):
        return ""
    return (
        f"the embedding is of {len(left)} of {counted(len(left) + len(words), 'column')} alone "
        f"({some_of(left)}), since the others hold words: {some_of(words)}. Code ordered words as "
        "numbers 1..5, and kinds as a column of 0 and 1 each (pandas.get_dummies); --columns names "
        "the coordinates without these words."
    )


def _as_kept(column: np.ndarray) -> np.ndarray:
    """Whole numbers without a point and gaps without entry, as they stood in the file."""
    if column.dtype.kind != "f" or not is_whole(column):
        return column
    if known_of(column).size == column.size:
        return column.astype(np.int64)
    return np.array(["" if entry != entry else str(int(entry)) for entry in column], dtype=object)


def _tell(frame: FileTable, found: Mapping[str, str], known: set[str]) -> None:
    """Say which columns are no coordinates though nobody has asked for it."""
    if not set(frame.index) <= known:
        them = "it" if len(frame.index) == 1 else "them"
        first, given = _NAMELESS[them]
        note(
            f"{frame.file}: the first {first} taken for numbers or names of rows: no coordinate, "
            f"and kept beside the embedding. Give {given}; --drop "
            f"{shlex.quote(','.join(frame.index))} leaves {them} out without these words."
        )
    kinds = [f"{name!r} ({kind})" for name, kind in found.items() if kind != EMPTY]
    if empty := [repr(name) for name, kind in found.items() if kind == EMPTY]:
        note(f"{frame.file}: without any entry, and left out: {', '.join(empty)}.")
    if kinds:
        words = ", ".join(kinds)
        dates = _OF_DATES if "dates or times" in found.values() else ""
        note(
            f"{frame.file}: no coordinates, and kept beside the embedding: {words}. --columns "
            f"names the coordinates, --drop leaves columns out.{dates}"
        )


def _tell_colour(frame: FileTable, args: Namespace, distances: bool) -> None:
    """Say of numbers that colour a figure that they are no coordinates therefore."""
    name = args.color
    other = (*args.id, *args.label, *args.drop)
    if name is None or name in other:
        return
    read = replace(frame, columns={**frame.columns, name: frame.values(name)})
    if not kind_of(read, name, distances):
        note(
            f"{frame.file}: {name!r} colours the figure, and so is no coordinate. --columns with "
            "its name among others makes it one."
        )


def _colour(args: Namespace, found: Mapping[str, str], kept: Mapping[str, Any]) -> str | None:
    """The column of the colour: as named, else the first of labels, or of words that repeat."""
    for name in (args.color, *args.label):
        if name is not None:
            return str(name)
    words = (name for name in kept if found.get(name) in ("labels", "words", "dates or times"))
    return next((name for name in words if len(_classes_of(kept[name])) <= _COLOURS), None)


def _classes_of(column: np.ndarray) -> set[str]:
    return {str(entry) for entry in column.tolist() if not is_missing(entry)}


# -- units ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ColumnUnits:
    """x -> (x - centre) / spread, column by column."""

    centre: Array
    spread: Array

    def __call__(self, X: Array) -> Array:
        """Points in these units, shape (n, D)."""
        return np.asarray((X - self.centre) / self.spread)


def scaling(how: str | None, X: Array, names: Sequence[str]) -> ColumnUnits:
    """Units of the columns of X, by ``--scale``; nothing said leaves them as they are.

    Columns that are constant keep their unit. Where nothing was said and spreads differ a
    hundredfold, a line tells so.
    """
    if how in (None, "none"):
        if how is None:
            _tell_spreads(X, names)
        return ColumnUnits(np.zeros(X.shape[1]), np.ones(X.shape[1]))
    from sklearn.preprocessing import RobustScaler, StandardScaler

    known = points(X)
    if how == "standard":
        fitted = StandardScaler().fit(known)
        return ColumnUnits(fitted.mean_, fitted.scale_)
    fitted = RobustScaler().fit(known)
    return ColumnUnits(fitted.center_, fitted.scale_)


def refuse_coordinates(args: Namespace) -> None:
    """Refuse options about coordinates where there are distances."""
    how = args.scale
    if args.missing == "drop":
        raise DataError(
            "--missing drop is about coordinates, and these are distances, of which what is "
            "missing is not known. Leave it out."
        )
    if how not in (None, "none"):
        raise DataError(f"--scale {how} is about coordinates; these are distances: leave it out.")


def _tell_doubts(points: FileTable) -> None:
    """Say which of the coordinates may be none."""
    for name in points.columns:
        column = points.values(name)
        if name in points.padded:
            complain(
                "warning",
                f"column {name!r} holds numbers with zeros before them, as codes have, and is "
                f"taken for a coordinate. --drop {name} leaves it out, --label {name} keeps it as "
                "it is written, and --columns names the coordinates without these words.",
            )
        elif column.dtype.kind in "fiu" and (words := doubts(name, column)):
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


def _lines(text: str) -> list[int]:
    return [_count(part) for part in listed(text)]


def _separator(text: str) -> str:
    found = _CALLED.get(text.lower(), text)
    if found not in SEPARATORS:
        raise ArgumentTypeError(f"expected one of {', '.join(_CALLED)}, or , ; |; got {text!r}")
    return found
