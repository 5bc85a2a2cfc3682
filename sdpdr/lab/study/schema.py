"""The columns of a study's results: one tidy row a run, and what each column holds."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from sdpdr.program import Status
from sdpdr.solvers.screen import printable


@dataclass(frozen=True)
class ResultColumn:
    """A column, or a word that stands in one.

    Attributes
    ----------
    name : str
    kind : str
        A type of SQL; empty of words.
    holds : str
        In words.
    """

    name: str
    kind: str
    holds: str


def _part(name: str) -> tuple[ResultColumn, ...]:
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == name]
    return tuple(ResultColumn(row["name"], row["kind"], row["holds"]) for row in rows)


IDENTITY: tuple[ResultColumn, ...] = _part("identity")
"""What a run is; all of it is known beforehand."""

FINDINGS: tuple[ResultColumn, ...] = _part("findings")
"""What a run found; the same each time, for solvers that repeat themselves."""

MEASUREMENTS: tuple[ResultColumn, ...] = _part("measurements")
"""What differs each time."""

COLUMNS: tuple[ResultColumn, ...] = (*IDENTITY, *FINDINGS, *MEASUREMENTS)
"""All columns, in order."""

ENDS: Mapping[str, str] = {end.name: end.holds for end in _part("ends")}
"""Ends of a run that are no answer at all, beside the statuses of `sdpdr.Status`, in words."""

OUTCOMES: tuple[str, ...] = (*Status.__members__, *ENDS)
"""What became of a run: a status that we verified, or an end without an answer."""

VERIFIED = ("SOLVED", "INFEASIBLE", "UNBOUNDED")
"""Outcomes that are answers."""

NEVER_RAN = ("REFUSED", "MISSING", "NOT_TRIED", "NOT_BUILT")
"""Ends of runs that the solver had no part in."""

PARTS = ("build", "compile", "solve", "certify")
"""Columns of seconds that make up those of a run."""

HONESTY: Mapping[str, str] = {word.name: word.holds for word in _part("honesty")}
"""What the solver's word was worth, in words; it is empty where there was no claim."""


def fitted(row: Mapping[str, Any]) -> dict[str, Any]:
    r"""A row in the types of its columns; what does not fit in is not known.

    Examples
    --------
    >>> row = fitted({"gap": float("inf"), "iterations": 2**70, "words": "a\x1bb", "more": 1})
    >>> row["gap"], row["iterations"], row["words"], "more" in row
    (None, None, 'a b', False)
    """
    return {column.name: _FIT[column.kind](row.get(column.name)) for column in COLUMNS}


def _number(value: Any) -> float | None:
    return float(value) if value is not None and isfinite(value) else None


def _whole(value: Any) -> int | None:
    return int(value) if value is not None and abs(value) < 2**63 else None


_FIT: Mapping[str, Callable[[Any], Any]] = {
    "VARCHAR": lambda value: "" if value is None else printable(str(value)),
    "DOUBLE": _number,
    "BIGINT": _whole,
    "BOOLEAN": bool,
}
