"""Writing files so that a reader finds a whole one or none."""

from __future__ import annotations

import os
from pathlib import Path


def write_text(path: str | Path, text: str) -> None:
    """Write a neighbour of the file, then move it into place."""
    path = Path(path)
    beside = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
