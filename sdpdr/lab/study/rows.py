"""Records as a pandas frame, and the machine and the versions that a run had."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from sdpdr.base.errors import DataError
from sdpdr.lab.study.schema import COLUMNS
from sdpdr.solvers.registry import table

# Order in which the records of a study are shown.
_ORDER = ("problem", "variant", "solver", "form", "tol", "seed", "repeat", "key")
TYPES = {"VARCHAR": "object", "DOUBLE": "float64", "BIGINT": "Int64", "BOOLEAN": "bool"}
PACKAGES = (
    "sdpdr", "numpy", "scipy", "cvxpy", "clarabel", "scs", "qdldl", "cvxopt", "sdpa-python",
    "mosek", "coptpy", "ipyopt", "mkl", "scikit-learn", "distributed",
)  # fmt: skip


def frame_of(records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Records as a frame with all columns of the schema and their types, in a fixed order.

    Parameters
    ----------
    records : iterable of mappings
        From names of columns to values. What is left out is missing: "", ``nan``, ``<NA>`` or
        False.

    Raises
    ------
    DataError
        A record has a column that the schema does not have.

    Examples
    --------
    >>> records = frame_of([{"problem": "path", "solver": "scs", "solve": 0.5, "n": 7}])
    >>> records[["problem", "variant", "solve", "tol", "n", "order", "solved"]]
      problem variant  solve  tol  n  order  solved
    0    path            0.5  NaN  7   <NA>   False
    """
    given = list(records)
    names = [column.name for column in COLUMNS]
    for name in {name for record in given for name in record} - set(names):
        raise DataError(f"a record has the column {name!r}; expected one of {', '.join(names)}.")
    frame = typed(pd.DataFrame(given, columns=names, dtype=object))
    return frame.sort_values(list(_ORDER), ignore_index=True)


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns in the types that `sdpdr.lab.study.schema` promises."""
    for column in COLUMNS:
        values = frame[column.name]
        if column.kind == "VARCHAR":
            values = values.astype(object).where(values.notna(), "")
        elif column.kind == "BOOLEAN":
            values = values.astype("boolean").fillna(False)
        frame[column.name] = values.astype(TYPES[column.kind])
    return frame


@lru_cache
def environment(threads: int) -> dict[str, Any]:
    """Machine and versions, on which times depend; nothing that names the machine or its user.

    Parameters
    ----------
    threads : int
        Of a run.

    Returns
    -------
    dict
        ``machine``, ``processors``, ``memory``, ``system``, ``python``, ``threads``, and
        ``versions`` of packages and of solvers that are programs.
    """
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
    """Short name of an environment."""
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:12]


def installed(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of the packages that are installed."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _memory() -> str:
    """Memory of the machine."""
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return "unknown"
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.1f} GB"


def _processor() -> str:
    """Kind of processor."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
