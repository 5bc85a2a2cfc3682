"""Files that a command writes: checked before any work, and written together or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import FileFormatError
from sdpdr.base.files import Writer, write_files
from sdpdr.lab.cli.terminal import info

if TYPE_CHECKING:
    import numpy as np

    from sdpdr.base.arrays import Array

FIGURES = (".png", ".svg", ".pdf")
written: list[Path] = []
"""Files that the command at hand has written."""


def check_target(path: Path, suffixes: Sequence[str]) -> None:
    """Refuse, before any work is done, a file that could not be written at its end.

    Raises
    ------
    FileFormatError
    """
    if not path.name.lower().endswith(tuple(suffixes)):
        raise FileFormatError(
            f"{path}: cannot write files called {path.suffix or 'without a suffix'}. "
            f"Choose {'one of ' if len(suffixes) > 1 else ''}{', '.join(suffixes)}."
        )
    if path.is_dir():
        raise FileFormatError(f"{path} is a directory. Add the name of a file.")
    # The target of a link is written; a pipe or a device is not replaced.
    place = Path(os.path.realpath(path)) if path.is_symlink() else path
    replaced = place.is_file() or not place.exists()
    if replaced and not place.parent.is_dir():
        raise FileFormatError(f"{path}: there is no directory {place.parent}. Make it first.")
    changed = place.parent if replaced else place
    if not os.access(changed, os.W_OK):
        raise FileFormatError(f"{path}: you may not write to {changed}. Choose another place.")
    if replaced:
        _try_to_write(path, changed)


def _try_to_write(path: Path, folder: Path) -> None:
    """Write beside a place, since permission is not all: a disk is full, or holds no files."""
    try:
        with NamedTemporaryFile(prefix=".sdpdr-", dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        raise FileFormatError(
            f"{path}: nothing can be written in the directory {folder} ({error.strerror}). Choose "
            "another place."
        ) from None


def check_targets(targets: Iterable[tuple[Path, Sequence[str]]], sources: Iterable[Path]) -> None:
    """Refuse targets that cannot be written, two of one place, and one that is read.

    Parameters
    ----------
    targets : iterable of (path, suffixes)
    sources : iterable of path

    Raises
    ------
    FileFormatError
    """
    read = set(map(os.path.realpath, sources))
    seen: set[str] = set()
    for path, suffixes in targets:
        check_target(path, suffixes)
        place = os.path.realpath(path)
        if place in read:
            raise FileFormatError(
                f"{path} is read by this command and would be written over. Choose another name."
            )
        if place in seen:
            raise FileFormatError(f"{path} is to be written twice. Choose two names.")
        seen.add(place)


def write_all(files: Mapping[Path, Writer]) -> None:
    """Write every file beside its place, then move all of them into place and say so."""
    write_files(files)
    written.extend(files)
    for path in files:
        info(f"wrote {path}")


def record_writer(record: Mapping[str, Any]) -> Writer:
    """Return a writer of a record as JSON."""
    text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    # Names of files may hold bytes that are not letters.
    return lambda path: path.write_text(text, encoding="utf-8", errors="replace")


def figure_writer(Y: Array, colour: np.ndarray | None, title: str) -> Writer:
    """Return a writer of a picture of an embedding; points without a place are left out."""
    import numpy as np

    from sdpdr.lab.plot import embedding
    from sdpdr.lab.plot.style import literal

    placed = np.isfinite(Y).all(axis=1)
    shown = None if colour is None else colour[placed]
    return lambda path: embedding(Y[placed], shown, title=literal(title)).savefig(path)


def coordinate_names(d: int, known: Sequence[str] = ()) -> list[str]:
    """Return names of coordinates found: after the columns of known coordinates, if any.

    Examples
    --------
    >>> coordinate_names(2), coordinate_names(2, ["lon", "lat"])
    (['y1', 'y2'], ['lon_found', 'lat_found'])
    """
    return [f"{name}_found" for name in known] or [f"y{k + 1}" for k in range(d)]
