"""Distances in triples: two points and how far apart they are, a line for each pair."""

from __future__ import annotations

from argparse import Namespace

import numpy as np

from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted
from sdpdr.lab.cli.console import note
from sdpdr.lab.cli.kinds import is_whole
from sdpdr.lab.tables.cells import is_missing
from sdpdr.lab.tables.frame import FileTable

_POINT = "point"


def squared_up(frame: FileTable, args: Namespace) -> FileTable:
    """A table of distances as a square one, with a column of the names of its points.

    Triples are three columns, of two points and their distance; a square of three points has zeros
    on its diagonal. Distances of other pairs are not known.

    Raises
    ------
    DataError
        A pair lacks a point, or has two distances; or a point is away from itself.
    UnknownNameError
        The command line names a column that is not there.
    """
    chosen = frame.select(args.columns, args.drop)
    if not _are_triples(chosen):
        return frame
    *names, third = chosen.columns
    first, second = (list(map(_called, chosen.columns[name].tolist())) for name in names)
    lengths = chosen.select([third]).numbers()[:, 0]
    points = list(dict.fromkeys([*first, *second]))
    if all(map(str.isdecimal, points)):
        points.sort(key=int)
    position = {name: k for k, name in enumerate(points)}
    D = np.full((len(points), len(points)), np.nan)
    np.fill_diagonal(D, 0.0)
    for row, (a, b, length) in enumerate(zip(first, second, lengths.tolist(), strict=True)):
        i, j = position[a], position[b]
        if "" in (a, b):
            raise DataError(f"{_place(frame, row)}: a pair lacks a point. Leave it out.")
        if i == j and not np.isnan(length) and length != 0.0:
            raise DataError(
                f"{_place(frame, row)}: {a!r} is {length:g} away from itself. Pass distances, not "
                "similarities."
            )
        if np.isnan(length) and np.isfinite(D[i, j]):
            continue
        if np.isfinite(D[i, j]) and not np.isclose(D[i, j], length, atol=0.0):
            raise DataError(
                f"{_place(frame, row)}: {a!r} and {b!r} are {length:g} apart, and {D[i, j]:g} in a "
                "line before. Leave one out, or write the mean of both."
            )
        D[i, j] = D[j, i] = length
    words = ", ".join(map(repr, chosen.columns))
    note(
        f"{frame.file}: read as two points and their distance in each line ({words}); "
        f"{counted(len(points), 'point')}, of which other distances are not known."
    )
    free = _POINT
    while free in position:
        free += "_"
    args.id, args.columns, args.drop = [*args.id, free], [], []
    columns = {free: np.array(points, dtype=object)}
    return FileTable(frame.file, {**columns, **{name: D[:, k] for name, k in position.items()}})


def _are_triples(frame: FileTable) -> bool:
    """Whether two columns name points, in one way, and the third holds numbers."""
    if len(frame.columns) != 3:
        return False
    first, second, third = frame.columns.values()
    texts = [column.dtype.kind in "OUS" for column in (first, second)]
    if third.dtype.kind not in "fiu" or texts == [True, False]:
        return False
    if not all(text or is_whole(c) for text, c in zip(texts, (first, second), strict=True)):
        return False
    return any(texts) or frame.n != 3 or bool(np.diag(frame.numbers()).any())


def _called(entry: object) -> str:
    if is_missing(entry):
        return ""
    return str(int(entry)) if isinstance(entry, float) else str(entry)


def _place(frame: FileTable, row: int) -> str:
    return f"{frame.file}, {frame.place(row)}"
