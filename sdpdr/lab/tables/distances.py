"""Files of distances: triangles, PHYLIP, what R prints, condensed vectors, triples."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, isqrt
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.tables.table import ReadOptions, Table, default_names, is_missing, number

if TYPE_CHECKING:
    from sdpdr.lab.tables.text import Lines

_PLAIN = ReadOptions(decimal=".")
# Forms of matrices: name, points that have no row, and columns of row k among n points.
_FORMS: Sequence[tuple[str, int, Callable[[int, int], Sequence[int]]]] = (
    ("matrix", 0, lambda k, n: range(n)),
    ("matrix", 0, lambda k, n: [j for j in range(n) if j != k]),
    ("lower triangle", 0, lambda k, n: range(k + 1)),
    ("lower triangle", 0, lambda k, n: range(k)),
    ("lower triangle", 1, lambda k, n: range(k + 1)),
    ("upper triangle", 0, lambda k, n: range(k, n)),
    ("upper triangle", 0, lambda k, n: range(k + 1, n)),
    ("upper triangle", 1, lambda k, n: range(k + 1, n)),
)


@dataclass(frozen=True, eq=False)
class Distances:
    """Distances between points, ``nan`` where not known.

    ``form`` says what the file held. Points without names, ``named=False``, are called 1, 2, ...
    """

    names: list[str]
    matrix: Array
    form: str
    named: bool = True


@dataclass(frozen=True)
class _Layout:
    """Rows of cells, which R prints in several blocks of columns, and the cells of a header.

    ``ends`` are the columns behind the blocks; ``points`` counts the points if the file does.
    """

    kind: str
    rows: Sequence[Sequence[list[str]]]
    options: ReadOptions
    ends: Sequence[float] = (inf,)
    head: Sequence[str] = ()
    points: int | None = None


def distances_of(lines: Lines) -> Distances | None:
    r"""Read R's print of a ``dist`` or a square, a PHYLIP matrix, or a triangle with any separator.

    The lines may be none of these. A diagonal that is not zero, and two points of one name, are
    refused.

    Examples
    --------
    >>> from sdpdr.lab.tables.text import table_lines
    >>> found = distances_of(table_lines("d.txt", "3\nA\nB 1\nC 2 1.5\n", ReadOptions()))
    >>> found.names, found.form
    (['A', 'B', 'C'], 'a PHYLIP lower triangle')
    >>> found.matrix
    array([[0. , 1. , 2. ],
           [1. , 0. , 1.5],
           [2. , 1.5, 0. ]])
    """
    texts = [text.rstrip() for text in lines.texts]
    for layout in _layouts(texts, lines.options) if len(texts) > 1 else ():
        if (found := _matrix_of(lines.name, layout)) is not None:
            if len(set(found.names)) < len(found.names):
                twice = next(name for name in found.names if found.names.count(name) > 1)
                raise DataError(f"{lines.name}: two points are called {twice!r}. Rename one.")
            return found
    return None


# -- what lines may be ----------------------------------------------------------------------------


def _layouts(texts: list[str], options: ReadOptions) -> Iterator[_Layout]:
    blanks = replace(options, decimal=options.decimal or "any")
    if options.sep in (None, " ", "\t"):
        if texts[0].strip().isdecimal() and options.header != "yes":
            yield _phylip(int(texts[0]), texts[1:], blanks)
        if texts[0][0].isspace() and options.header != "no":
            yield _printed(texts, blanks)
    for sep in (options.sep,) if options.sep else (";", "\t", ",", " "):
        found = replace(blanks, decimal=options.decimal or ("." if sep == "," else "any"))
        lines = [" ".join(text.split()) for text in texts] if sep == " " else texts
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sep)]
        words = [cell for cell in rows[0] if not is_missing(cell)]
        named = len(rows[0]) > 2 and words and not any(_floats([word], found) for word in words)
        for row in rows:
            while row and not row[-1]:
                row.pop()
        head = (
            rows.pop(0) if options.header == "yes" or (named and options.header == "auto") else ()
        )
        yield _Layout("", [[row] for row in rows], found, head=head)


def _phylip(n: int, records: list[str], options: ReadOptions) -> _Layout:
    """Names and distances, below the number of points."""
    if len(records) > n:  # values may continue on lines that begin with a blank
        joined: list[str] = []
        for record in records:
            if record[0].isspace() and joined:
                joined[-1] += record
            else:
                joined.append(record)
        records = joined
    return _Layout("PHYLIP", [[record.split()] for record in records], options, points=n)


def _printed(texts: list[str], options: ReadOptions) -> _Layout:
    """Rows below names of columns on a line that begins with a blank, in one block or several."""
    heads = [k for k, text in enumerate(texts) if text[0].isspace()]
    blocks = [texts[start:end] for start, end in pairwise([*heads, len(texts)])]
    m = len(blocks[0]) - 1
    rows: list[list[list[str]]] = [[] for _ in range(m)]
    head, ends = list[str](), list[float]()
    for top, *block in blocks:
        head += top.split()
        ends.append(len(head))
        if len(block) > m:
            return _Layout("print", (), options)
        # The first rows of a triangle may be left out where they are empty.
        for row, text in zip(rows, [""] * (m - len(block)) + block, strict=True):
            row.append(text.split())
    # Names of columns may hold blanks, so only several blocks say where they end.
    return _Layout("print", rows, options, ends if len(ends) > 1 else (inf,), head)


def _floats(cells: Sequence[str], options: ReadOptions) -> list[float] | None:
    """Cells as numbers, nan where missing; None if one is something else."""
    codes = [number(code, _PLAIN) for code in options.na_values]
    found = []
    for cell in cells:
        is_gone = is_missing(cell) or cell in options.na_values
        value = np.nan if is_gone else number(cell, options)
        if value is None:
            return None
        found.append(np.nan if value in codes else value)
    return found


# -- matrices -------------------------------------------------------------------------------------


def _matrix_of(name: str, layout: _Layout) -> Distances | None:
    """The matrix of the first form that the rows have, if any."""
    m = len(layout.rows)
    for form, lacking, columns in _FORMS:
        n = m + lacking
        # A square of cells is a table.
        if n < (2 if layout.kind else 3) or (form == "matrix" and not layout.kind):
            continue
        places = [list(columns(k, n)) for k in range(m)]
        labels, rows = _rows_of(layout, places) or ([], [])
        names = _names_of(layout, labels, n, form) if rows else None
        if names is None:
            continue
        shift = 1 if lacking and form == "lower triangle" else 0
        D = np.full((n, n), np.nan)
        for k, values in enumerate(rows):
            D[k + shift, places[k]] = values
        if form != "matrix":
            has_diagonal = not lacking and 0 in places[0] and layout.kind != "print"
            if has_diagonal and not _is_zero(np.diag(D), D, name, names, layout):
                continue
            D = np.where(np.isnan(D), D.T, D)
        np.fill_diagonal(D, 0.0 if form != "matrix" else np.nan_to_num(np.diag(D)))
        called = names or default_names(n)
        if layout.kind == "print":
            words = (
                "a print of a square of distances" if form == "matrix" else "R's print of a dist"
            )
        elif layout.kind:
            words = f"a PHYLIP {form}"
        else:
            words = f"{'an' if form[0] == 'u' else 'a'} {form} of distances"
        return Distances(called, D, words, bool(names))
    return None


def _rows_of(
    layout: _Layout, places: Sequence[Sequence[int]]
) -> tuple[list[str], list[list[float]]] | None:
    """The label of each row, empty without one, and numbers in some columns; None if others."""
    labels, rows = [], []
    for blocks, columns in zip(layout.rows, places, strict=True):
        label, row, start = "", list[float](), 0.0
        for cells, end in zip(blocks, layout.ends, strict=True):
            cut = len(cells) - sum(start <= column < end for column in columns)
            values = _floats(cells[cut:], layout.options) if cut >= 0 else None
            # Names hold blanks in PHYLIP's format and in prints alone.
            if values is None or (cut > 1 and not layout.kind):
                return None
            words = cells[:cut]
            label = label or " ".join(words)
            if (not layout.kind or cut > 1) and words and _floats(words, layout.options):
                return None
            row += values
            start = end
        if len(row) != len(columns):
            return None
        labels.append(label)
        rows.append(row)
    return (labels, rows) if all(labels) or not (any(labels) or layout.kind) else None


def _names_of(layout: _Layout, labels: list[str], n: int, form: str) -> list[str] | None:
    """Names of n points, none if there are none; None if labels and header do not fit."""
    if layout.kind == "PHYLIP":
        return labels if layout.points == len(labels) == n else None
    if layout.kind == "print":
        head = " ".join(layout.head)
        if len(labels) == n:
            return labels if head == " ".join(labels) else None
        # The first point of a triangle has no row, and the last one no column.
        rest = "".join(f" {label}" for label in labels[:-1])
        first = head.removesuffix(rest)
        fits = form == "lower triangle" and head.endswith(rest) and first
        return [first, *labels] if fits else None
    has_corner = bool(labels[0]) and len(layout.head) >= max(len(row[0]) for row in layout.rows)
    others = [name for name in layout.head[has_corner:] if name and name not in labels]
    found = [label for label in labels if label]
    if len(found) + len(others) != n:
        return None if found or others else []
    return [*found, *others] if form == "upper triangle" else [*others, *found]


def _is_zero(
    diagonal: Array, matrix: Array, file: str, names: Sequence[str], layout: _Layout
) -> bool:
    """Whether the last numbers of rows are a diagonal of zeros; refused if they may be another."""
    # Distances from inner products are off by the root of the rounding error.
    small = np.sqrt(np.finfo(float).eps) * np.nanmax(np.abs(matrix), initial=0.0)
    others = diagonal[np.abs(diagonal) > small]
    if not others.size:
        return True
    if layout.kind and _floats(names, layout.options) is not None:
        return False  # a triangle of numbers alone
    if names or others.size < diagonal.size or (others == others[0]).all():
        raise DataError(
            f"{file}: not distances: the diagonal is {others[0]:g}. Write a line for each point, "
            "the first and the last one too, with 0 on the diagonal."
        )
    return False


# -- from tables ----------------------------------------------------------------------------------


def from_table(table: Table, names: Sequence[str]) -> Distances | None:
    """Read distances from columns: triples, a condensed vector, half a square; None of a square.

    Raises
    ------
    DataError
        A pair of points has two distances, or a point is away from itself.
    """
    if _are_triples(table, names):
        return _from_triples(table, names)
    if not all(map(table.is_numeric, names)):
        return None
    X = table.numbers(names)
    if 1 in X.shape and X.size >= 3:
        n = (1 + isqrt(1 + 8 * X.size)) // 2
        if n * (n - 1) // 2 != X.size:
            return None
        matrix = np.zeros((n, n))
        matrix[np.triu_indices(n, 1)] = X.ravel()
        called = default_names(n)
        form = f"the condensed distances of {n} points"
        return Distances(called, matrix + matrix.T, form, named=False)
    if X.shape[0] != X.shape[1] or len(X) < 3:
        return None
    lower, upper = np.tril(X, -1), np.triu(X, 1)
    for empty, full, which in ((upper, lower, "upper"), (lower, upper, "lower")):
        if not empty.any() and np.nan_to_num(full).any():
            form = f"half a square: its {which} triangle is zero, so the other one is used for both"
            whole = full + full.T + np.diag(np.diag(X))
            return Distances(list(names), whole, form, named=False)
    return None


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


def _from_triples(table: Table, names: Sequence[str]) -> Distances:
    pairs = list(zip(table.texts(names[0]), table.texts(names[1]), strict=True))
    points = {str(point): None for pair in pairs for point in pair}
    called = sorted(points, key=int) if all(map(str.isdecimal, points)) else list(points)
    position = {point: k for k, point in enumerate(called)}
    D = np.full((len(called), len(called)), np.nan)
    np.fill_diagonal(D, 0.0)
    for row, ((a, b), length) in enumerate(
        zip(pairs, table.floats(names[2]).tolist(), strict=True)
    ):
        place = f"{table.file}, {table.place(row)}"
        if a is None or b is None:
            raise DataError(f"{place}: a pair lacks a point. Leave it out.")
        i, j = position[a], position[b]
        if np.isnan(length):
            continue
        if i == j and length:
            raise DataError(
                f"{place}: {a!r} is {length:g} away from itself. Pass distances, not similarities."
            )
        if np.isfinite(D[i, j]) and not np.isclose(D[i, j], length, atol=0.0):
            raise DataError(
                f"{place}: {a!r} and {b!r} are {length:g} apart, and {D[i, j]:g} in a line before. "
                "Leave one out, or write the mean of both."
            )
        D[i, j] = D[j, i] = length
    columns = ", ".join(map(repr, names))
    return Distances(
        called,
        D,
        f"two points and their distance in each line ({columns}): {len(called)} points, of which "
        "other distances are not known",
    )


def as_table(file: str, distances: Distances, remarks: Sequence[str] = ()) -> Table:
    """Return a table of a square matrix, its columns called as its points."""
    free = "point"
    while free in distances.names:
        free += "_"
    row_names = (free,) if distances.named else ()
    columns: dict[str, object] = {name: np.array(distances.names, object) for name in row_names}
    columns |= {name: distances.matrix[:, k] for k, name in enumerate(distances.names)}
    remarks = (f"read as {distances.form}", *remarks)
    return Table(file, pd.DataFrame(columns), remarks=remarks, row_names=row_names)
