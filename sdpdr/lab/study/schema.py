"""The columns of a study's results: one tidy row a run, and what each column holds."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sdpdr.program import Status
from sdpdr.solvers.screen import printable

# Ends of a run that are no answer at all, beside the statuses of `sdpdr.Status`.
ENDS: Mapping[str, str] = MappingProxyType(
    {
        "CRASHED": "the process of the run was ended by a signal of its own making, or broke off",
        "OUT_OF_MEMORY": "it went beyond its memory limit, or said that memory had run out",
        "KILLED": "it was ended from outside, each time it was tried",
        "BROKEN": "the solver's adapter raised an error, or returned something else than an answer",
        "REFUSED": "the solver does not take the program in this form",
        "MISSING": "the solver is not installed, or has no licence",
        "NOT_TRIED": "it was predicted to take many times the limit, or more memory than there is",
        "NOT_BUILT": "the problem could not be built within the limits",
    }
)
OUTCOMES: tuple[str, ...] = (*Status.__members__, *ENDS)
"""What became of a run: a status that we verified, or an end without an answer."""

HONESTY: Mapping[str, str] = MappingProxyType(
    {
        "true": "it claims a solution, and we verified that; or that there is none, as is known",
        "near": "it claims so, and misses the tolerance by less than ten times",
        "overstated": "it claims so, and we could not verify it by far; or that there is no "
        "solution where there is one, or where nobody knows",
        "understated": "it claims less than what we verified",
        "silent": "it claims no success, and there is none",
        "": "there was no claim",
    }
)
"""What the solver's word was worth."""


@dataclass(frozen=True)
class ResultColumn:
    """A column.

    Attributes
    ----------
    name : str
    kind : str
        A type of SQL.
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
