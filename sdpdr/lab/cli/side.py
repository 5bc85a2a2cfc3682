"""What a table holds beside coordinates: labels, known coordinates, actions and sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted, listed
from sdpdr.lab.cli.columns import without_value
from sdpdr.lab.tables.table import Table

LABELS_AS = ("auto", "classes", "numbers")


@dataclass(frozen=True)
class Labels:
    """What a method needs of ``--labels``.

    Attributes
    ----------
    words : str
        The same for help and messages.
    read : callable
        Returns the side information from a table, the names of columns, and ``--labels-as``.
    either : bool
        Whether ``--labels-as`` has an effect.
    sets_dimension : bool
        Whether there are as many dimensions as columns.
    all_known : bool
        Whether every row must have some.
    """

    words: str
    read: Callable[[Table, Sequence[str], str], Any]
    either: bool = False
    sets_dimension: bool = False
    all_known: bool = False


def actions(table: Table, name: str, lengths: Sequence[int] | None) -> list[str | None]:
    """Return labels of the steps from each row to the next of its sequence.

    The last row of a sequence leads nowhere, so its entry is ignored.
    """
    labels = table.texts(name)
    ends = np.cumsum([len(labels)] if lengths is None else lengths)
    return [label for i, label in enumerate(labels) if i + 1 not in ends]


def lengths(table: Table, name: str) -> list[int]:
    """Return numbers of rows that follow each other with the same entry of a column.

    Raises
    ------
    DataError
        A sequence goes on after another, or an entry is missing.
    """
    found, seen, row = [], set(), 0
    entries = table.texts(name)
    _require_all(table, [name], "Fill it in, or leave the row out.")
    for entry, rows in groupby(entries):
        if entry in seen:
            raise DataError(
                f"{table.file}: sequence {entry!r} of column {name!r} goes on at "
                f"{table.place(row)}, after another. Sort the rows: one sequence after the other, "
                "in order of time."
            )
        seen.add(entry)
        found.append(sum(1 for _ in rows))
        row += found[-1]
    return found


def in_words(labels: np.ndarray) -> str:
    """Return how labels were understood.

    Examples
    --------
    >>> in_words(np.array(["a", None, "b"], dtype=object)), in_words(np.ones(5))
    ('2 classes, 1 row not known', 'numbers')
    """
    if labels.dtype.kind == "f":
        kind, missing = "numbers", np.isnan(labels.reshape(len(labels), -1)).any(axis=1)
    else:
        missing = np.array([label is None for label in labels])
        kind = f"{counted(len(set(labels[~missing].tolist())), 'class')}"
    unknown = int(missing.sum())
    return f"{kind}, {counted(unknown, 'row')} not known" if unknown else kind


def _has_fractions(table: Table, name: str) -> bool:
    if not table.is_numeric(name):
        return False
    values = table.floats(name)
    return bool((values[~np.isnan(values)] % 1.0 != 0.0).any())


def _some_classes(table: Table, names: Sequence[str], how: str) -> np.ndarray:
    """One word for each row, None where there is none."""
    if len(names) != 1:
        raise DataError(
            f"--labels names {len(names)} columns ({', '.join(names)}), but classes stand in one."
        )
    (name,) = names
    table.require(names)
    if _has_fractions(table, name):
        values = table.floats(name)
        row = int(np.argmax(~np.isnan(values) & (values % 1.0 != 0.0)))
        raise DataError(
            f"{table.file}: column {name!r} holds {values[row]:g} ({table.place(row)}), but "
            "labels of classes are words or whole numbers. Name another column, or round this one."
        )
    labels = np.array(table.texts(name), dtype=object)
    if all(label is None for label in labels):
        raise DataError(f"{table.file}: column {name!r} is empty. At least two classes are needed.")
    return labels


def _classes(table: Table, names: Sequence[str], how: str) -> np.ndarray:
    labels = _some_classes(table, names, how)
    _require_all(table, names)
    return labels.astype(str)


def _classes_or_numbers(table: Table, names: Sequence[str], how: str) -> np.ndarray:
    table.require(names)
    if how == "auto" and len(names) == 1:
        how = "numbers" if _has_fractions(table, names[0]) else "classes"
    if how == "classes":
        return _classes(table, names, how)
    numbers = table.numbers(names)
    _require_all(table, names)
    return numbers[:, 0] if len(names) == 1 else numbers


def _coordinates(table: Table, names: Sequence[str], how: str) -> Array:
    known = table.numbers(names)
    if np.isnan(known).all():
        raise DataError(
            f"{table.file}: no row has coordinates in {', '.join(names)}. Fill them in for the "
            "rows whose position is known, or use --method mvu."
        )
    return known


SOME_CLASSES = Labels("a column of classes, empty where not known", _some_classes)
CLASSES = Labels("a column of classes", _classes, all_known=True)
CLASSES_OR_NUMBERS = Labels(
    "a column of classes, or columns of numbers", _classes_or_numbers, either=True, all_known=True
)
COORDINATES = Labels(
    "columns of known coordinates, empty where not known", _coordinates, sets_dimension=True
)


def _require_all(
    table: Table,
    names: Sequence[str],
    advice: str = "Fill it in, or leave such rows out with --missing drop.",
) -> None:
    rows = np.flatnonzero(without_value(table, names)).tolist()
    if rows:
        numbers = table.frame.index[rows]
        said = f"rows without an entry in {', '.join(names)}: {listed(numbers + 1)}."
        if table.lines is not None:
            said += f" Lines of the file: {listed(table.lines[numbers])}."
        raise DataError(f"{table.file}: {said} Every point needs one. {advice}")
