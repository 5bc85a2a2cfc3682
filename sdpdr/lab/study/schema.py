"""The columns of a study's results: one record for each run, and what each column holds."""

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
    kind : {"VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN", ""}
        Type of the column; empty for words.
    holds : str
        Description.
    """

    name: str
    kind: str
    holds: str


def _part(name: str) -> tuple[ResultColumn, ...]:
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["part"] == name]
    return tuple(ResultColumn(line["name"], line["kind"], line["holds"]) for line in lines)


IDENTITY: tuple[ResultColumn, ...] = _part("identity")
"""Which run it is; known before it begins."""

FINDINGS: tuple[ResultColumn, ...] = _part("findings")
"""What the run found; the same each time, for deterministic solvers."""

MEASUREMENTS: tuple[ResultColumn, ...] = _part("measurements")
"""What differs each time."""

COLUMNS: tuple[ResultColumn, ...] = (*IDENTITY, *FINDINGS, *MEASUREMENTS)
"""All columns, in order."""

ENDS: Mapping[str, str] = {end.name: end.holds for end in _part("ends")}
"""Ends of a run without an answer, beside the statuses of `sdpdr.Status`, with descriptions."""

OUTCOMES: tuple[str, ...] = (*Status.__members__, *ENDS)
"""How a run ended: a status that we verified, or an end without an answer."""

VERIFIED = ("SOLVED", "INFEASIBLE", "UNBOUNDED")
"""Outcomes that are answers."""

NEVER_RAN = ("REFUSED", "MISSING", "NOT_TRIED", "NOT_BUILT")
"""Ends of runs in which the solver had no part."""

PARTS = ("build", "compile", "solve", "certify")
"""Columns of seconds that add up to the total of a run."""

CLAIMS: Mapping[str, str] = {word.name: word.holds for word in _part("claims")}
"""Values of ``claim_accuracy`` with descriptions; empty where there was no claim."""


def fitted(record: Mapping[str, Any]) -> dict[str, Any]:
    r"""A record in the types of its columns; what does not fit is missing.

    Examples
    --------
    >>> record = fitted({"gap": float("inf"), "iterations": 2**70, "message": "a\x1bb", "more": 1})
    >>> record["gap"], record["iterations"], record["message"], "more" in record
    (None, None, 'a b', False)
    """
    return {column.name: _FIT[column.kind](record.get(column.name)) for column in COLUMNS}


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
