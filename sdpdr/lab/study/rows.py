"""Rows of results as a pandas frame, and the machine and the versions that a run had."""

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
from typing import TYPE_CHECKING, Any

from sdpdr.lab.study.schema import COLUMNS
from sdpdr.solvers.registry import table
from sdpdr.solving.costs.work import allowed_memory, in_words

if TYPE_CHECKING:
    import pandas as pd

# What tells apart the rows of one study, in the order in which they are shown.
ORDER = ("problem", "variant", "solver", "form", "tol", "seed", "repeat", "key")
_KINDS = {"VARCHAR": "object", "DOUBLE": "float64", "BIGINT": "Int64", "BOOLEAN": "bool"}


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame, in an order that never changes."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=[c.name for c in COLUMNS], dtype=object)
    return typed(frame.sort_values(list(ORDER), ignore_index=True))


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns in the types that `sdpdr.lab.study.schema` promises."""
    for column in COLUMNS:
        values = frame[column.name]
        if column.kind == "VARCHAR":
            values = values.astype(object).where(values.notna(), "")
        elif column.kind == "BOOLEAN":
            values = values.astype("boolean").fillna(False)
        frame[column.name] = values.astype(_KINDS[column.kind])
    return frame


PACKAGES = (
    "sdpdr", "numpy", "scipy", "cvxpy", "clarabel", "scs", "qdldl", "cvxopt", "sdpa-python",
    "mosek", "coptpy", "ipyopt", "mkl", "scikit-learn", "duckdb", "distributed",
)  # fmt: skip


@lru_cache
def environment(threads: int) -> dict[str, Any]:
    """What figures of time depend on.

    Parameters
    ----------
    threads : int
        That a run is given.

    Returns
    -------
    dict
        ``machine``, ``processors``, ``memory``, ``system``, ``python``, ``threads``, and
        ``versions`` of packages and of solvers that are programs.
    """
    return {
        "machine": _processor(),
        "processors": os.cpu_count(),
        "memory": in_words(allowed_memory()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "threads": threads,
        "versions": versions(),
    }


def digest(found: dict[str, Any]) -> str:
    """Short name of an environment."""
    text = json.dumps(found, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def versions() -> dict[str, str]:
    """Of the packages that compute, and of all usable solvers."""
    return installed() | {f"solver {s.name}": s.version for s in table() if s.usable}


def installed(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def _processor() -> str:
    """The kind of processor."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
