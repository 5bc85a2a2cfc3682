"""Files of distances: triangles, PHYLIP, what R prints, condensed vectors, triples."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isqrt

import numpy as np
import pandas as pd

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.tables.lines import Lines, left_out
from sdpdr.lab.tables.options import ReadOptions
from sdpdr.lab.tables.table import Table, is_missing, is_number, plain

POINT = "point"
"""The column that names the points, unless a point is called so."""
_PLAIN = ReadOptions(decimal=".")
_ARTICLE = {"lower": "a", "upper": "an"}


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
    remarks : tuple of str
        What of the file was left out.
    """

    names: list[str]
    matrix: Array
    form: str
    named: bool = True
    remarks: tuple[str, ...] = ()


def distances_of(lines: Lines, options: ReadOptions) -> Distances | None:
    r"""Read distances that do not have the form of a table; None if they do.

    Parameters
    ----------
    lines : Lines
        R's print of a ``dist`` or of a square, a PHYLIP matrix, or a triangle with any separator.
    options : ReadOptions

    Raises
    ------
    DataError
        A triangle whose diagonal is not zero, or perhaps no diagonal; or two points of one name.

    Examples
    --------
    >>> from sdpdr.lab.tables.lines import table_lines
    >>> found = distances_of(*table_lines("d.txt", "3\nA\nB 1\nC 2 1.5\n", ReadOptions()))
    >>> found.names, found.form
    (['A', 'B', 'C'], 'a PHYLIP lower triangle')
    >>> found.matrix
    array([[0. , 1. , 2. ],
           [1. , 0. , 1.5],
           [2. , 1.5, 0. ]])
    """
    found = _form_of(lines.with_below(), options)
    if found is None and lines.below:
        found = _form_of(lines, options)
        comments = left_out([number for number, _ in lines.below])
        found = None if found is None else replace(found, remarks=(comments,))
    if found is not None and len(set(found.names)) < len(found.names):
        twice = next(name for name in found.names if found.names.count(name) > 1)
        raise DataError(f"{lines.name}: two points are called {twice!r}. Rename one.")
    return found


def _form_of(lines: Lines, options: ReadOptions) -> Distances | None:
    texts = [text.rstrip() for text in lines.texts]
    if len(texts) < 2:
        return None
    found = None
    if options.sep in (None, " ", "\t"):
        cells = _Cells(lines.name, replace(options, decimal=options.decimal or "."))
        if texts[0].strip().isdecimal() and options.header != "yes":
            found = _phylip(texts, cells)
        if found is None and options.header != "no":
            found = _printed(texts, cells)
    return found or _triangle(lines.name, texts, options)


@dataclass(frozen=True)
class _Cells:
    """How the cells of a file are read as numbers."""

    name: str
    options: ReadOptions

    def floats(self, cells: Sequence[str]) -> list[float] | None:
        """Cells as numbers, nan where missing; None if one is something else."""
        codes = [float(code) for code in self.options.na_values if is_number(code, _PLAIN)]
        found = []
        for cell in cells:
            if is_missing(cell) or cell in self.options.na_values:
                found.append(np.nan)
            elif is_number(cell, self.options):
                number = float(plain(cell, self.options))
                found.append(np.nan if number in codes else number)
            else:
                return None
        return found


# -- PHYLIP and prints ----------------------------------------------------------------------------


def _phylip(lines: list[str], cells: _Cells) -> Distances | None:
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
        rows = [cells.floats(" ".join(values).split()) for _, *values in parts]
        found = [row for row in rows if row is not None]
        if len(found) < n:
            continue
        if all(len(row) == n for row in found):
            return Distances(names, np.array(found), "a PHYLIP matrix")
        try:
            half = _half(found, n, cells.name)
        except DataError:
            if cells.floats(names) is None:
                raise
            return None  # a triangle of numbers alone
        if half is not None:
            return Distances(names, half[0], f"a PHYLIP {half[1]} triangle")
    return None


def _printed(lines: list[str], cells: _Cells) -> Distances | None:
    """What R prints of a dist, and R and pandas of a square of distances.

    Lines of column names begin with a blank, others with a name. Wide ones are in several blocks.
    """
    heads = [k for k, line in enumerate(lines) if line[0].isspace()]
    if not heads or heads[0] != 0 or len(heads) == len(lines):
        return None
    blocks = [lines[start:end] for start, end in pairwise([*heads, len(lines)])]
    for whole in (True, False):
        for diagonal in (True, False):
            if (found := _print_of(blocks, cells, whole, diagonal)) is not None:
                return found
    return None


def _print_of(
    blocks: list[list[str]], cells: _Cells, whole: bool, diagonal: bool
) -> Distances | None:
    """The matrix of blocks that hold both triangles or the lower one, perhaps without diagonal."""
    first = 0 if whole or diagonal else 1  # the first point that has a row
    n = len(blocks[0]) - 1 + first
    matrix, labels, start = np.full((n, n), np.nan), [""] * n, 0
    np.fill_diagonal(matrix, 0.0)
    for head, *block in blocks:
        end = start + len(head.split()) if len(blocks) > 1 else n - first
        if end > n or len(block) > n:
            return None
        for row, line in enumerate(block, start=n - len(block)):
            last = end if whole else min(end, row + 1)
            places = [k for k in range(start, last) if diagonal or k != row]
            words = line.split()
            named = len(words) - len(places)
            values = cells.floats(words[named:]) if named > 0 else None
            if values is None:
                return None
            labels[row] = labels[row] or " ".join(words[:named])
            matrix[row, places] = values
        start = end
    # Column names are those of the rows, and the first is told by the columns alone.
    head = " ".join(" ".join(block[0].split()) for block in blocks)
    rest = "".join(f" {label}" for label in labels[first : n - first])
    if start != n - first or not head.endswith(rest if first else rest[1:]):
        return None
    if first:
        labels[0] = head.removesuffix(rest)
    elif head != rest[1:]:
        return None
    if not whole:
        matrix = _mirrored(matrix)
    kind = "a print of a square of distances" if whole else "R's print of a dist"
    return Distances(labels, matrix, kind) if all(labels) else None


# -- triangles ------------------------------------------------------------------------------------


def _triangle(name: str, lines: list[str], options: ReadOptions) -> Distances | None:
    for sep in (options.sep,) if options.sep else (";", "\t", ",", " "):
        texts = [" ".join(line.split()) for line in lines] if sep == " " else lines
        rows = [[cell.strip() for cell in row] for row in csv.reader(texts, delimiter=sep)]
        decimal = options.decimal or ("." if sep == "," else "any")
        cells = _Cells(name, replace(options, decimal=decimal))
        if (found := _triangle_of(rows, cells)) is not None:
            return found
    return None


def _triangle_of(rows: list[list[str]], cells: _Cells) -> Distances | None:
    """Distances of rows that grow or shrink by one cell each, perhaps with names."""
    names: list[str] = []
    top, header = rows[0], cells.options.header
    words = [cell for cell in top if not is_missing(cell)]
    has_words = len(top) > 2 and bool(words) and all(cells.floats([w]) is None for w in words)
    head = header == "yes" or (header == "auto" and has_words)
    rows = rows[1:] if head else rows
    labelled = bool(rows) and all(cells.floats(row[:1]) is None for row in rows)
    labels = [row[0] for row in rows] if labelled else []
    if head:
        # A name above the labels is none of a point.
        above = labelled and len(top) >= max(map(len, rows))
        names = [cell for cell in top[above:] if cell]
    numbers = []
    for row in rows:
        filled = row[1:] if labelled else row
        while filled and not filled[-1]:
            filled = filled[:-1]
        values = cells.floats(filled)
        if values is None:
            return None
        numbers.append(values)
    others = [name for name in names if name not in labels]
    points = len(labels) + len(others) if head or labelled else None
    half = _half(numbers, points, cells.name)
    if half is None or len(half[0]) < 3:
        return None
    matrix, which = half
    n = len(matrix)
    if len(labels) == n:
        names = labels
    elif len(labels) == n - 1:  # the first or last point has no row
        names = [*labels, *others] if which == "upper" else [*others, *labels]
    named = len(names) == n
    called = names if named else [str(k + 1) for k in range(n)]
    return Distances(called, matrix, f"{_ARTICLE[which]} {which} triangle of distances", named)


def _half(rows: list[list[float]], points: int | None, name: str) -> tuple[Array, str] | None:
    """The matrix of a triangle, and which one it is; None if rows are no triangle."""
    matrix = _from_lower(rows, points, name)
    if matrix is not None:
        return matrix, "lower"
    # From its end an upper triangle is a lower one.
    if points is None or len(rows) > points:
        rows = [row for row in rows if row]
    matrix = _from_lower([row[::-1] for row in reversed(rows)], points, name)
    return None if matrix is None else (matrix[::-1, ::-1], "upper")


def _from_lower(rows: list[list[float]], points: int | None, name: str) -> Array | None:
    """The matrix of a lower triangle with or without its diagonal; None if rows are no triangle."""
    n = len(rows)
    start = len(rows[0]) if rows else 0
    if start > 1 or [len(row) for row in rows] != list(range(start, start + n)):
        return None
    if points not in (None, n + start, n):
        return None
    if start == 1 and n > 1:
        if _is_diagonal(rows, points, name):
            rows = [[*row[:-1], 0.0] for row in rows]
        else:  # the first point has no row
            rows = [[], *rows]
    matrix = np.full((len(rows), len(rows)), np.nan)
    for k, row in enumerate(rows):
        matrix[k, : len(row)] = row
    return _mirrored(matrix)


def _is_diagonal(rows: list[list[float]], points: int | None, name: str) -> bool:
    """Whether the last numbers of rows are a diagonal of zeros; refused if they may be another."""
    last = np.array([row[-1] for row in rows])
    # Distances from inner products are off by the root of the rounding error.
    small = np.sqrt(np.finfo(float).eps) * np.nanmax(np.abs(np.concatenate(rows)), initial=0.0)
    zero = np.isnan(last) | (np.abs(last) <= small)
    if zero.all():
        return True
    others = last[~zero]
    constant = zero.any() or bool((others == others[0]).all())
    if constant or points == len(rows):
        raise DataError(
            f"{name}: not distances: the diagonal is {others[0]:g}. Write a line for each point, "
            "the first and the last one too, with 0 on the diagonal."
        )
    return False


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


def as_table(file: str, distances: Distances, *remarks: str) -> Table:
    """Return a table of a square matrix whose columns are called as its points.

    Parameters
    ----------
    file : str
    distances : Distances
    *remarks : str
        How the file was read.
    """
    free = POINT
    while free in distances.names:
        free += "_"
    row_names = (free,) if distances.named else ()
    columns: dict[str, object] = {name: np.array(distances.names, object) for name in row_names}
    columns |= {name: distances.matrix[:, k] for k, name in enumerate(distances.names)}
    return Table(file, pd.DataFrame(columns), remarks=remarks, row_names=row_names)
