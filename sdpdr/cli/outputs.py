"""Writing results: all files of a run appear together at its end, or none does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.cli.console import note
from sdpdr.errors import FileFormatError
from sdpdr.files import Writer, write_files
from sdpdr.linalg.svec import Array

FIGURES = (".png", ".svg", ".pdf")


def check_target(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse, before any work is done, a file that could not be written at its end.

    Raises
    ------
    FileFormatError
    """
    if path.suffix.lower() not in suffixes:
        raise FileFormatError(
            f"{path}: cannot write files called {path.suffix or 'without a suffix'}. "
            f"Choose one of {', '.join(suffixes)}."
        )
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory. Add the name of a file.")
    if not path.parent.is_dir():
        raise FileFormatError(f"{path}: there is no directory {path.parent}. Make it first.")


def write_all(files: Mapping[Path, Writer]) -> None:
    """Write every file beside its place, then move all of them into place and say so."""
    write_files(files)
    for path in files:
        note(f"wrote {path}")


def record_writer(record: Mapping[str, Any]) -> Writer:
    """Writer of a record as JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    return lambda path: path.write_text(text, encoding="utf-8")


def figure_writer(Y: Array, colour: np.ndarray | None, title: str) -> Writer:
    """Writer of a picture of an embedding, in the format of the path's suffix."""
    from sdpdr.plot import embedding

    figure = embedding(Y, colour, title=title)
    return lambda path: figure.savefig(path)
