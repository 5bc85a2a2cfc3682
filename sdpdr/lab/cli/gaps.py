"""Rows of a table that are no points: some coordinates are not known, or it is a total."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sdpdr.base.errors import DataError
from sdpdr.base.rows import listed
from sdpdr.lab.cli.console import complain, note

if TYPE_CHECKING:
    from sdpdr.lab.cli.columns import Table
    from sdpdr.lab.study.frame import Frame

# How spreadsheets and statistical offices call rows of totals and means, in some languages.
_TOTAL = re.compile(
    r"(grand |sub-?)?(total|totals|totale|totaal|tot\.)|sum|sums|mean|means|average|avg\.?|median"
    r"|summe|gesamt|insgesamt|gesamtsumme|mittelwert|mittel|durchschnitt|somme|moyenne|suma|media"
    r"|promedio|somma|soma|m[eé]dia",
    re.IGNORECASE,
)
COMPLETED = "--method distance_completion"
"""What serves distances with gaps."""


def complete(table: Table, missing: str, *, in_time: bool, may_be_distances: bool) -> Table:
    """The rows whose coordinates are all known and finite, by ``--missing``."""
    X = table.points.numbers()
    gone = ~np.isfinite(X)
    if not gone.any():
        return table
    whole, file = np.asarray(~gone.any(axis=1)), table.points.file
    left = np.flatnonzero(~whole)
    rows, lines = listed(left + 1), table.frame.lines
    kinds = (np.isnan(X).any(), np.isinf(X).any())
    what = " or ".join(w for w, has in zip(("not known", "infinite"), kinds, strict=True) if has)
    called = list(table.points.columns)
    names = [repr(called[k]) for k in np.unique(np.nonzero(gone)[1])]
    said = f"{file}: rows with coordinates that are {what}: {rows}. Their columns: {listed(names)}."
    if lines is not None:
        said += f" Lines of the file: {listed([lines[row] for row in left.tolist()])}."
    if missing == "drop" and in_time:
        raise DataError(
            f"{said} --actions says what was done from each row to the next, so that none can be "
            "left out: fill them in."
        )
    others = "--drop those columns; or fill them in."
    if X.shape[0] == X.shape[1] and may_be_distances:
        others += (
            " If it holds distances, --metric precomputed says so, and what is missing is not "
            f"known; {COMPLETED} finds places that have all that are known."
        )
    if not whole.any():
        raise DataError(f"{said} No row is without one: {others}")
    if missing == "drop":
        note(f"{file}: coordinates of these rows are {what}, and they are left out: {rows}.")
        return _some_rows(table, whole)
    raise DataError(f"{said} --missing drop leaves those rows out, {others}")


def _some_rows(table: Table, chosen: np.ndarray) -> Table:
    """Rows of a table, by a mask, and beside them where each stands in the file."""
    lines = table.frame.lines
    name = "row" if lines is None else "line"
    while name in table.frame.columns:
        name += "_"
    places = np.arange(1, table.frame.n + 1) if lines is None else np.asarray(lines)
    kept = {beside: column[chosen] for beside, column in table.kept.items()}
    return replace(
        table,
        points=table.points.rows(chosen),
        kept={name: places[chosen], **kept},
        frame=table.frame.rows(chosen),
        rows=np.flatnonzero(chosen),
    )


def tell_totals(frame: Frame, kept: Mapping[str, np.ndarray]) -> None:
    """Say of a first or last row that it is called a total, as no other row is."""
    for name, column in kept.items():
        called = [_TOTAL.fullmatch(str(entry).strip(" :")) is not None for entry in column]
        if sum(called) != 1 or not (called[0] or called[-1]):
            continue
        row = called.index(True)
        line = None if frame.lines is None else frame.lines[row]
        way = "Take it out of the file" if line is None else f"--drop-lines {line} leaves it out"
        place = f"row {frame.number(row)}" if line is None else f"line {line}"
        complain(
            "warning",
            f"{frame.file}, {place}: {str(column[row])!r} in column {name!r} says that it is made "
            f"of the other rows, and it is taken for a point. {way}.",
        )
