"""Distances in a table: two points and their distance in each line, or SciPy's condensed vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.spatial.distance import squareform

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.tables.table import Table, default_names


def square_table(table: Table, names: Sequence[str]) -> Table | None:
    r"""Return the square of the distances in some columns, ``nan`` where one is not known.

    None is returned for other columns, such as those of a square.

    Raises
    ------
    DataError
        A pair of points has two distances, or a point is away from itself.

    Examples
    --------
    >>> frame = pd.DataFrame({"from": ["a", "a"], "to": ["b", "c"], "length": [1.0, 2.0]})
    >>> square_table(Table("t.csv", frame), ["from", "to", "length"]).frame
      point    a    b    c
    0     a  0.0  1.0  2.0
    1     b  1.0  0.0  NaN
    2     c  2.0  NaN  0.0
    """
    if _are_triples(table, names):
        points, D = _from_triples(table, names)
        columns = ", ".join(map(repr, names))
        form = f"two points and their distance in each line ({columns}): {len(points)} points"
        return _square(table, points, D, f"{form}, of which other distances are not known", "point")
    vector = table.numbers(names).ravel() if all(map(table.is_numeric, names)) else np.empty(0)
    if 1 not in (len(table), len(names)) or vector.size < 3:
        return None
    try:
        D = squareform(vector)
    except ValueError:  # not the number of pairs of any number of points
        return None
    return _square(table, default_names(len(D)), D, f"the condensed distances of {len(D)} points")


def _square(table: Table, points: list[str], D: Array, form: str, names: str = "") -> Table:
    """Return a table of a square whose columns are named after points, perhaps with their names."""
    while names in points:
        names += "_"
    columns: dict[str, object] = {names: np.array(points, object)} if names else {}
    columns |= {point: D[:, k] for k, point in enumerate(points)}
    remarks = (f"read as {form}",)
    row_names = (names,) if names else ()
    return Table(table.file, pd.DataFrame(columns), remarks=remarks, row_names=row_names)


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


def _from_triples(table: Table, names: Sequence[str]) -> tuple[list[str], Array]:
    """Return points, in the order of their numbers or of first use, and their known distances."""
    pairs = list(zip(table.texts(names[0]), table.texts(names[1]), strict=True))
    points = list(dict.fromkeys(str(point) for pair in pairs for point in pair))
    if all(map(str.isdecimal, points)):
        points.sort(key=int)
    position = {point: k for k, point in enumerate(points)}
    D = np.full((len(points), len(points)), np.nan)
    np.fill_diagonal(D, 0.0)
    lengths = table.floats(names[2]).tolist()
    for row, ((a, b), length) in enumerate(zip(pairs, lengths, strict=True)):
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
    return points, D
