"""Rows of a table that are no points: some coordinates are not known, or it is a total."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Mapping, Sequence

import numpy as np

from sdpdr.base.errors import DataError
from sdpdr.base.rows import listed
from sdpdr.lab.cli.console import complain, note
from sdpdr.lab.tables.cells import is_missing
from sdpdr.lab.tables.frame import FileTable

# How spreadsheets and statistical offices call rows of totals and means, in some languages.
_TOTAL = re.compile(
    r"(grand |sub-?)?(total|totals|totale|totaal|tot\.)|sum|sums|mean|means|average|avg\.?|median"
    r"|summe|gesamt|insgesamt|gesamtsumme|mittelwert|mittel|durchschnitt|somme|moyenne|suma|media"
    r"|promedio|somma|soma|m[eé]dia",
    re.IGNORECASE,
)
COMPLETED = "--method distance_completion"
"""What serves distances with gaps."""


def complete_rows(
    points: FileTable, frame: FileTable, args: Namespace, needed: Sequence[str] = ()
) -> np.ndarray:
    """For every row whether its coordinates are all known and finite, by ``--missing``.

    Parameters
    ----------
    points : FileTable
        The coordinates.
    frame : FileTable
        All columns.
    args : Namespace
    needed : sequence of str
        Columns: if rows are dropped, so are those without an entry in one of them.
    """
    whole = _with_coordinates(points, frame, args)
    return _with_entries(frame, needed, whole) if args.missing == "drop" else whole


def _with_entries(frame: FileTable, needed: Sequence[str], whole: np.ndarray) -> np.ndarray:
    """Rows that have an entry in all of some columns; a line tells which lack one."""
    lacking = whole & without_entry(frame, needed)
    if not lacking.any():
        return whole
    names = listed([repr(name) for name in needed])
    if not (whole & ~lacking).any():
        raise DataError(
            f"{frame.file}: no row has coordinates and an entry in {names}. Fill it in."
        )
    rows = listed(np.flatnonzero(lacking) + 1)
    note(f"{frame.file}: these rows have no entry in {names}, and they are left out: {rows}.")
    return whole & ~lacking


def without_entry(frame: FileTable, names: Sequence[str]) -> np.ndarray:
    """For every row whether it has no entry in one of some columns."""
    gone = np.zeros(frame.n, dtype=bool)
    for name in names:
        entries = frame.columns[name].tolist()
        gone |= np.array([is_missing(x) or bool(x != x) for x in entries], dtype=bool)
    return gone


def _with_coordinates(points: FileTable, frame: FileTable, args: Namespace) -> np.ndarray:
    """Rows whose coordinates are all known and finite; a line tells which are not, or an error."""
    X = points.numbers()
    gone = ~np.isfinite(X)
    whole, file = np.asarray(~gone.any(axis=1)), points.file
    if whole.all():
        return whole
    left = np.flatnonzero(~whole)
    rows, lines = listed(left + 1), frame.lines
    kinds = (np.isnan(X).any(), np.isinf(X).any())
    what = " or ".join(w for w, has in zip(("not known", "infinite"), kinds, strict=True) if has)
    called = list(points.columns)
    names = [repr(called[k]) for k in np.unique(np.nonzero(gone)[1])]
    said = f"{file}: rows with coordinates that are {what}: {rows}. Their columns: {listed(names)}."
    if lines is not None:
        said += f" Lines of the file: {listed([lines[row] for row in left.tolist()])}."
    if args.missing == "drop" and getattr(args, "actions", None):
        raise DataError(
            f"{said} --actions says what was done from each row to the next, so that none can be "
            "left out: fill them in."
        )
    others = "--drop those columns; or fill them in."
    if X.shape[0] == X.shape[1] and hasattr(args, "metric"):
        others += (
            " If it holds distances, --metric precomputed says so, and what is missing is not "
            f"known; {COMPLETED} finds places that have all that are known."
        )
    if not whole.any():
        raise DataError(f"{said} No row is without one: {others}")
    if args.missing == "drop":
        note(f"{file}: coordinates of these rows are {what}, and they are left out: {rows}.")
        return whole
    raise DataError(f"{said} --missing drop leaves those rows out, {others}")


def tell_totals(frame: FileTable, kept: Mapping[str, np.ndarray]) -> None:
    """Say of a first or last row that it is called a total, as no other row is."""
    for name, column in kept.items():
        called = [_TOTAL.fullmatch(str(entry).strip(" :")) is not None for entry in column]
        if sum(called) != 1 or not (called[0] or called[-1]):
            continue
        row = called.index(True)
        line = None if frame.lines is None else frame.lines[row]
        way = "Take it out of the file" if line is None else f"--drop-lines {line} leaves it out"
        complain(
            "warning",
            f"{frame.file}, {frame.place(row)}: {str(column[row])!r} in column {name!r} says that "
            f"it is made of the other rows, and it is taken for a point. {way}.",
        )
