"""Files of distances: triangles, PHYLIP, what R prints, condensed vectors, triples."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

import numpy as np
import pandas as pd

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.tables.table import Table, is_missing

POINT = "point"
"""The column that names the points, unless a point is called so."""


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between named points.

    Attributes
    ----------
    names : list of str
    matrix : array of shape (n, n)
        ``nan`` where a distance is not known.
    form : str
        What the file held, in words.
    named : bool
        Whether the file names its points.
    """

    names: list[str]
    matrix: Array
    form: str
    named: bool = True


def distances_of(name: str, text: str) -> Distances | None:
    r"""Read distances that do not have the form of a table; None if they do.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    text : str
        R's print of a ``dist``, a PHYLIP matrix, or a triangle with any separator.

    Examples
    --------
    >>> found = distances_of("d.txt", "3\nA\nB 1\nC 2 1.5\n")
    >>> found.names, found.form
    (['A', 'B', 'C'], 'a PHYLIP lower triangle')
    >>> found.matrix
    array([[0. , 1. , 2. ],
           [1. , 0. , 1.5],
           [2. , 1.5, 0. ]])
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("#")]
    if len(lines) < 2:
        return None
    if lines[0].strip().isdecimal():
        return _phylip(lines)
    return _printed_by_r(lines) or _triangle(lines)


# -- PHYLIP and R ---------------------------------------------------------------------------------


def _phylip(lines: list[str]) -> Distances | None:
    n, records = int(lines[0]), lines[1:]
    if len(records) > n:  # values may continue on lines that begin with a blank
        joined: list[str] = []
        for record in records:
            if record[0].isspace() and joined:
                joined[-1] += record
            else:
                joined.append(record)
        records = joined
    if len(records) != n or n < 2:
        return None
    # Names end at the first blank; in older files they fill ten characters, blanks included.
    for parts in ([r.split(maxsplit=1) for r in records], [[r[:10], r[10:]] for r in records]):
        names = [name.strip() for name, *_ in parts]
        rows = [_floats(" ".join(values).split()) for _, *values in parts]
        found = [row for row in rows if row is not None]
        if len(found) == n and all(len(row) == n for row in found):
            return Distances(names, np.array(found), "a PHYLIP matrix")
        matrix = _from_triangle(found) if len(found) == n else None
        if matrix is not None and len(matrix) == n:
            return Distances(names, matrix, "a PHYLIP lower triangle")
    return None


def _printed_by_r(lines: list[str]) -> Distances | None:
    """The print of a ``dist``: lines of column names begin with a blank, others with a name."""
    heads = [k for k, line in enumerate(lines) if line[0].isspace()]
    if not heads or heads[0] != 0 or len(heads) == len(lines):
        return None
    blocks = [lines[start:end] for start, end in pairwise([*heads, len(lines)])]
    # The first line has one value; without the diagonal it is of the second point.
    first = " ".join(blocks[0][1].split()[:-1]) if len(blocks[0]) > 1 else ""
    diagonal = 1 if f"{blocks[0][0].strip()} ".startswith(f"{first} ") else 0
    n = len(blocks[0]) - diagonal
    matrix, labels, start = np.full((n, n), np.nan), [""] * n, 0
    for head, *block in blocks:
        width = len(head.split()) if len(blocks) > 1 else n - 1 + diagonal
        for row, line in enumerate(block, start=n - len(block)):
            words = line.split()
            many = min(row - start + diagonal, width)
            values = _floats(words[-many:]) if 0 < many < len(words) else None
            if values is None:
                return None
            labels[row] = labels[row] or " ".join(words[:-many])
            matrix[row, start : start + many] = values
        start += width
    if start != n - 1 + diagonal or np.isnan(matrix[np.tril_indices(n, diagonal - 1)]).any():
        return None
    if not diagonal:
        head = blocks[0][0].strip()
        labels[0] = head if n == 2 else head.split(f" {labels[1]}")[0].strip()
    return Distances(labels, _mirrored(matrix), "R's print of a dist")


# -- triangles ------------------------------------------------------------------------------------


def _triangle(lines: list[str]) -> Distances | None:
    for sep in (";", "\t", ",", " "):
        texts = [" ".join(line.split()) for line in lines] if sep == " " else lines
        rows = [[cell.strip() for cell in row] for row in csv.reader(texts, delimiter=sep)]
        if sep != ",":
            rows = [[re.sub(r"^([-+]?\d*),(\d+)$", r"\1.\2", cell) for cell in row] for row in rows]
        if (found := _triangle_of(rows)) is not None:
            return found
    return None


def _triangle_of(rows: list[list[str]]) -> Distances | None:
    """Distances of rows that grow or shrink by one cell each, perhaps with names."""
    names: list[str] = []
    head = _floats([cell for cell in rows[0] if cell]) is None and len(rows[0]) > 2
    if head:
        names, rows = [cell for cell in rows[0] if cell], rows[1:]
    labelled = all(_floats(row[:1]) is None for row in rows)
    labels = [row[0] for row in rows] if labelled else []
    numbers = []
    for row in rows:
        cells = row[1:] if labelled else row
        while cells and not cells[-1]:
            cells = cells[:-1]
        values = _floats(cells)
        if values is None:
            return None
        numbers.append(values)
    matrix = _from_triangle(numbers)
    if matrix is None:
        upper = [row for row in reversed(numbers) if row]
        matrix = _from_triangle([row[::-1] for row in upper])
        matrix = None if matrix is None else matrix[::-1, ::-1]
        form, labels_first = "an upper triangle of distances", True
    else:
        form, labels_first = "a lower triangle of distances", False
    if matrix is None or len(matrix) < 3:
        return None
    n = len(matrix)
    if len(labels) == n:
        names = labels
    elif len(labels) == n - 1:  # the first or last point has no row
        other = set(names) - set(labels)
        lone = other.pop() if len(other) == 1 else str(n if labels_first else 1)
        names = [*labels, lone] if labels_first else [lone, *labels]
    named = len(names) == n
    return Distances(names if named else [str(k + 1) for k in range(n)], matrix, form, named)


def _from_triangle(rows: list[list[float]]) -> Array | None:
    """The matrix of a lower triangle with or without its diagonal; None if rows are no triangle."""
    lengths = [len(row) for row in rows]
    start = lengths[0] if lengths else 0
    if start > 1 or lengths != list(range(start, start + len(rows))):
        return None
    diagonal = start == 1 and all(row[-1] == 0.0 for row in rows)
    if start == 1 and not diagonal:  # the first point has no row
        rows = [[], *rows]
    n = len(rows)
    matrix = np.full((n, n), np.nan)
    for k, row in enumerate(rows):
        matrix[k, : len(row)] = row
    return _mirrored(matrix)


def _mirrored(matrix: Array) -> Array:
    """A matrix with its lower triangle mirrored and zeros on its diagonal where it had none."""
    below = np.tril(matrix, -1)
    return np.asarray(below + below.T + np.diag(np.nan_to_num(np.diag(matrix))))


# -- from tables ----------------------------------------------------------------------------------


def from_table(table: Table, names: Sequence[str]) -> tuple[Distances | None, str]:
    """Read distances from columns of a table: triples, a condensed vector, half a square.

    Returns
    -------
    distances : Distances or None
        None if the columns are a square matrix of distances already.
    remark : str
        How the columns were read.

    Raises
    ------
    DataError
        A pair of points has two distances, or a point is away from itself.
    """
    if _are_triples(table, names):
        return _from_triples(table, names)
    if not all(map(table.is_numeric, names)):
        return None, ""
    X = table.numbers(names)
    if 1 in X.shape and X.size >= 3:
        n = (1 + isqrt(1 + 8 * X.size)) // 2
        if n * (n - 1) // 2 == X.size:
            matrix = np.zeros((n, n))
            matrix[np.triu_indices(n, 1)] = X.ravel()
            form = f"the condensed distances of {n} points"
            called = [str(k + 1) for k in range(n)]
            return Distances(called, matrix + matrix.T, form, named=False), f"read as {form}"
        return None, ""
    if X.shape[0] != X.shape[1] or len(X) < 3:
        return None, ""
    lower, upper = np.tril(X, -1), np.triu(X, 1)
    for empty, full, which in ((upper, lower, "upper"), (lower, upper, "lower")):
        if not empty.any() and np.nan_to_num(full).any():
            whole = full + full.T + np.diag(np.diag(X))
            words = f"its {which} triangle is zero, so the other one is read for both"
            return Distances(list(names), whole, f"half a square; {words}", named=False), words
    return None, ""


def _are_triples(table: Table, names: Sequence[str]) -> bool:
    """Whether two columns name points, in one way, and the third holds numbers."""
    if len(names) != 3 or not table.is_numeric(names[2]):
        return False
    words = [not table.is_numeric(name) for name in names[:2]]
    if words == [True, False]:
        return False
    for word, name in zip(words, names[:2], strict=True):
        if not word and (table.floats(name) % 1.0 != 0.0).any():
            return False
    return any(words) or len(table) != 3 or bool(np.diag(table.numbers(names)).any())


def _from_triples(table: Table, names: Sequence[str]) -> tuple[Distances, str]:
    first, second = (table.texts(name) for name in names[:2])
    lengths = table.floats(names[2])
    points = list(
        dict.fromkeys([point for pair in zip(first, second, strict=True) for point in pair])
    )
    if None in points:
        row = next(k for k, pair in enumerate(zip(first, second, strict=True)) if None in pair)
        raise DataError(f"{table.file}, {table.place(row)}: a pair lacks a point. Leave it out.")
    called = [str(point) for point in points]
    if all(map(str.isdecimal, called)):
        called.sort(key=int)
    position = {point: k for k, point in enumerate(called)}
    D = np.full((len(called), len(called)), np.nan)
    np.fill_diagonal(D, 0.0)
    for row, (a, b, length) in enumerate(zip(first, second, lengths.tolist(), strict=True)):
        i, j = position[str(a)], position[str(b)]
        place = f"{table.file}, {table.place(row)}"
        if i == j and length == length and length != 0.0:
            raise DataError(
                f"{place}: {a!r} is {length:g} away from itself. Pass distances, not similarities."
            )
        if length != length and np.isfinite(D[i, j]):
            continue
        if np.isfinite(D[i, j]) and not np.isclose(D[i, j], length, atol=0.0):
            raise DataError(
                f"{place}: {a!r} and {b!r} are {length:g} apart, and {D[i, j]:g} in a line before. "
                "Leave one out, or write the mean of both."
            )
        D[i, j] = D[j, i] = length
    words = ", ".join(map(repr, names))
    remark = (
        f"read as two points and their distance in each line ({words}); {len(called)} points, "
        "of which other distances are not known"
    )
    return Distances(called, D, "triples"), remark


def as_table(file: str, distances: Distances, remark: str = "") -> Table:
    """Return a table of a square matrix whose columns are called as its points.

    Parameters
    ----------
    file : str
    distances : Distances
    remark : str, optional
        How the file was read.
    """
    free = POINT
    while free in distances.names:
        free += "_"
    row_names = (free,) if distances.named else ()
    columns: dict[str, object] = {name: np.array(distances.names, object) for name in row_names}
    columns |= {name: distances.matrix[:, k] for k, name in enumerate(distances.names)}
    remarks = (remark,) if remark else ()
    return Table(file, pd.DataFrame(columns), remarks=remarks, row_names=row_names)


def _floats(cells: Sequence[str]) -> list[float] | None:
    """Cells as numbers, nan where missing; None if one is something else."""
    found = []
    for cell in cells:
        try:
            found.append(float("nan") if is_missing(cell) else float(cell))
        except ValueError:
            return None
    return found
