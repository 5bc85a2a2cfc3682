"""The columns of a study's results, records as a frame, and the machine and versions of a run."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.program import Status
from sdpdr.solvers.registry import table
from sdpdr.solvers.screen import printable


@dataclass(frozen=True)
class ResultColumn:
    """A column with its pandas type, or a word that occurs in one, and what it means."""

    name: str
    kind: str
    holds: str


def _part(name: str) -> tuple[ResultColumn, ...]:
    with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["part"] == name]
    return tuple(ResultColumn(line["name"], line["kind"], line["holds"]) for line in lines)


IDENTITY = _part("identity")
"""Identity of the run, known before it begins."""

FINDINGS = _part("findings")
"""Findings of the run, which deterministic solvers reproduce."""

COLUMNS: tuple[ResultColumn, ...] = (*IDENTITY, *FINDINGS, *_part("measurements"))
"""All columns, in order; the last ones hold what differs each time."""

ENDS: Mapping[str, str] = {end.name: end.holds for end in _part("ends")}
"""Ends of a run without an answer, beside the statuses of `sdpdr.Status`, with descriptions."""

OUTCOMES: tuple[str, ...] = (*Status.__members__, *ENDS)
"""How a run ended: a status that we verified, or an end without an answer."""

VERIFIED = ("SOLVED", "INFEASIBLE", "UNBOUNDED")
"""Outcomes that are answers."""

NEVER_RAN = ("REFUSED", "MISSING", "NOT_TRIED", "NOT_BUILT")
"""Ends of runs in which no solver took part."""

PARTS = ("build", "compile", "solve", "certify")
"""Columns of seconds that add up to the total of a run."""

CLAIMS: Mapping[str, str] = {word.name: word.holds for word in _part("claims")}
"""Values of ``claim_accuracy`` with descriptions; empty where there was no claim."""

# -- records --------------------------------------------------------------------------------------

# Columns by which the records of a study are sorted.
_ORDER = ("problem", "variant", "solver", "form", "tol", "seed", "repeat", "key")
_FIT: Mapping[str, Callable[[Any], Any]] = {
    "object": lambda value: "" if value is None else printable(str(value)),
    "float64": lambda value: float(value) if value is not None and isfinite(value) else None,
    "Int64": lambda value: int(value) if value is not None and abs(value) < 2**63 else None,
    "bool": bool,
}


def converted(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a record to the types of its columns; values that do not fit become missing."""
    return {column.name: _FIT[column.kind](record.get(column.name)) for column in COLUMNS}


def frame_of(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return records as a frame with all columns and their types, in a fixed order.

    Parameters
    ----------
    records : iterable of mappings
        From names of columns to values. What is left out is missing: "", ``nan``, ``<NA>`` or
        False.

    Returns
    -------
    DataFrame
        With the columns `COLUMNS`.

    Raises
    ------
    DataError
        A record has a column that the schema does not have.

    Examples
    --------
    >>> from sdpdr.lab.study.schema import frame_of
    >>> records = frame_of([{"problem": "path", "solver": "scs", "solve": 0.5, "n": 7}])
    >>> records[["problem", "variant", "solve", "tol", "n", "order", "solved"]]
      problem variant  solve  tol  n  order  solved
    0    path            0.5  NaN  7   <NA>   False
    """
    given = list(records)
    names = [column.name for column in COLUMNS]
    for name in {name for record in given for name in record} - set(names):
        raise DataError(f"a record has the column {name!r}; expected one of {', '.join(names)}.")
    frame = with_types(pd.DataFrame(given, columns=names, dtype=object))
    return frame.sort_values(list(_ORDER), ignore_index=True)


def with_types(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert the columns of a frame to the types that the schema promises."""
    for column in COLUMNS:
        values = frame[column.name]
        if column.kind == "object":
            values = values.astype(object).where(values.notna(), "")
        elif column.kind == "bool":
            values = values.astype("boolean").fillna(False)
        frame[column.name] = values.astype(column.kind)
    return frame


# -- machines -------------------------------------------------------------------------------------

_PACKAGES = (
    "sdpdr", "numpy", "scipy", "cvxpy", "clarabel", "scs", "qdldl", "cvxopt", "sdpa-python",
    "mosek", "coptpy", "ipyopt", "mkl", "scikit-learn", "distributed",
)  # fmt: skip


@lru_cache
def environment(threads: int) -> dict[str, Any]:
    """Describe machine and versions, on which times depend; nothing names machine or user."""
    return {
        "machine": _processor(),
        "processors": os.cpu_count(),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "threads": threads,
        "versions": installed() | {f"solver {s.name}": s.version for s in table() if s.usable},
    }


def digest(found: Mapping[str, Any]) -> str:
    """Return a short name of an environment."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def installed(packages: Iterable[str] = _PACKAGES) -> dict[str, str]:
    """Return the versions of the packages that are installed."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _memory() -> str:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
