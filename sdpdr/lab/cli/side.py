"""What a table says beside coordinates: labels, known coordinates, actions and sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.rows import counted, listed
from sdpdr.lab.cli.gaps import without_entry
from sdpdr.lab.cli.kinds import is_whole
from sdpdr.lab.tables.cells import is_missing
from sdpdr.lab.tables.frame import FileTable

LABELS_AS = ("auto", "classes", "numbers")


@dataclass(frozen=True)
class Labels:
    """What a method wants of ``--labels``.

    Attributes
    ----------
    words : str
        The same for help and messages.
    read : callable
        The side information from a table, the names of columns, and ``--labels-as``.
    either : bool
        Whether ``--labels-as`` has a say.
    sets_dimension : bool
        Whether there are as many dimensions as columns.
    all_known : bool
        Whether every row must have some.
    """

    words: str
    read: Callable[[FileTable, Sequence[str], str], Any]
    either: bool = False
    sets_dimension: bool = False
    all_known: bool = False


def texts(frame: FileTable, name: str) -> list[str | None]:
    """Entries of a column as words, None where one is missing; 3.0 is ``"3"``."""
    return [_text(entry) for entry in frame.select([name]).columns[name].tolist()]


def actions(frame: FileTable, name: str, lengths: Sequence[int] | None) -> list[str | None]:
    """Labels of the steps from each row to the next of its sequence.

    The last row of a sequence leads nowhere, so that its entry says nothing.
    """
    labels = texts(frame, name)
    ends = np.cumsum([len(labels)] if lengths is None else lengths)
    return [label for i, label in enumerate(labels) if i + 1 not in ends]


def lengths(frame: FileTable, name: str) -> list[int]:
    """Numbers of rows that follow each other with the same entry of a column.

    Raises
    ------
    DataError
        A sequence goes on after another, or an entry is missing.
    """
    found, seen, row = [], set(), 0
    entries = texts(frame, name)
    _require_all(frame, [name], "Fill it in, or leave the row out.")
    for entry, rows in groupby(entries):
        if entry in seen:
            raise DataError(
                f"{frame.file}: sequence {entry!r} of column {name!r} goes on at "
                f"{frame.place(row)}, after another. Sort the rows: one sequence after the other, "
                "in order of time."
            )
        seen.add(entry)
        found.append(sum(1 for _ in rows))
        row += found[-1]
    return found


def in_words(labels: np.ndarray) -> str:
    """How labels were understood.

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


def _some_classes(frame: FileTable, names: Sequence[str], how: str) -> np.ndarray:
    """One word for each row, None where there is none."""
    name = _single(names)
    values = frame.values(name)
    if values.dtype.kind == "f" and not is_whole(values):
        wrong = (values != np.round(values)) | ~(np.abs(values) < 2.0**53)
        row = int(np.argmax(~np.isnan(values) & wrong))
        raise DataError(
            f"{frame.file}: column {name!r} holds {values[row]:g} ({frame.place(row)}), but "
            "labels of classes are words or whole numbers. Name another column, or round this one."
        )
    labels = np.array(texts(frame, name), dtype=object)
    if all(label is None for label in labels):
        raise DataError(f"{frame.file}: column {name!r} is empty. At least two classes are needed.")
    return labels


def _classes(frame: FileTable, names: Sequence[str], how: str) -> np.ndarray:
    labels = _some_classes(frame, names, how)
    _require_all(frame, names)
    return labels.astype(str)


def _classes_or_numbers(frame: FileTable, names: Sequence[str], how: str) -> np.ndarray:
    if how == "auto" and len(names) == 1:
        values = frame.values(names[0])
        how = "numbers" if values.dtype.kind == "f" and not is_whole(values) else "classes"
    if how == "classes":
        return _classes(frame, names, how)
    numbers = frame.select(names).numbers()
    _require_all(frame, names)
    return numbers[:, 0] if len(names) == 1 else numbers


def _coordinates(frame: FileTable, names: Sequence[str], how: str) -> Array:
    known = frame.select(names).numbers()
    if np.isnan(known).all():
        raise DataError(
            f"{frame.file}: no row has coordinates in {', '.join(names)}. Fill them in for the "
            "rows whose place is known, or take --method mvu."
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


def _single(names: Sequence[str]) -> str:
    if len(names) != 1:
        raise DataError(
            f"--labels names {len(names)} columns ({', '.join(names)}), but classes stand in one."
        )
    return names[0]


def _require_all(
    frame: FileTable,
    names: Sequence[str],
    advice: str = "Fill it in, or leave such rows out with --missing drop.",
) -> None:
    rows = np.flatnonzero(without_entry(frame, names)).tolist()
    if rows:
        said = f"rows without an entry in {', '.join(names)}"
        said += f": {listed([frame.number(k) for k in rows])}."
        if frame.lines is not None:
            said += f" Lines of the file: {listed([frame.lines[k] for k in rows])}."
        raise DataError(f"{frame.file}: {said} Every point needs one. {advice}")


def _text(entry: Any) -> str | None:
    if entry != entry or is_missing(entry):
        return None
    if isinstance(entry, float) and entry.is_integer():
        return str(int(entry))
    return str(entry)
