"""Files that commands write: checked before any work, and written together or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import SimpleNamespace
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, FileFormatError
from sdpdr.base.files import Writer, write_files
from sdpdr.lab.cli.columns import DividedTable
from sdpdr.lab.cli.options import PATH, apply_all, option
from sdpdr.lab.cli.terminal import info, written
from sdpdr.lab.tables.files import WRITABLE, called, names_beside, require_writer, write_table

FIGURES = (".png", ".svg", ".pdf")
# The value of --figure without a name: a file beside the table.
_BESIDE = Path()
_HYPERPARAMETER = re.compile(r"[a-z_]+=|[a-z]+_[a-z_]+ |--")


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


# -- embed and transform ---------------------------------------------------------------------------


def output_options(what: str) -> Callable[[Any], Any]:
    """Return the options of the table that is written, and of its picture."""
    picture = (
        f"Picture of the first two coordinates: {' '.join(FIGURES)} (without PATH: "
        "FILE-embedding.png)."
    )
    return apply_all(
        option("-o/--out PATH", f"{what}: {' '.join(WRITABLE)}.", type=PATH),
        option("--figure PATH", picture, type=PATH, is_flag=False, flag_value=_BESIDE),
    )


def check_outputs(
    args: SimpleNamespace,
    sources: Iterable[Path],
    more: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Give a figure beside the table its name, and refuse bad targets before any work.

    Parameters
    ----------
    args : SimpleNamespace
    sources : iterable of Path
        Files that are read, and are not written over.
    more : mapping from name of an option to suffixes, optional
        Of other files that are written.
    """
    if args.figure == _BESIDE:
        name = called(args.file)
        args.figure = Path(f"{name.partition('.')[0] or name}-embedding.png")
    suffixes = {"out": WRITABLE, "figure": FIGURES, **(more or {})}
    targets = [(getattr(args, name), kinds) for name, kinds in suffixes.items()]
    check_targets([(path, kinds) for path, kinds in targets if path is not None], sources)
    if args.out is not None:
        require_writer(args.out)


def writers_of(
    args: SimpleNamespace,
    table: DividedTable,
    Y: Array,
    names: Sequence[str],
    more: Mapping[str, np.ndarray],
    trust: Array | None = None,
) -> dict[Path, Writer]:
    """Return writers of the table of places and of their picture, as far as requested.

    Parameters
    ----------
    args : SimpleNamespace
    table : DividedTable
    Y : array of shape (n, d)
    names : sequence of str
        Of its columns.
    more : mapping from name to array of shape (n,)
        Further columns beside the places.
    trust : array of shape (n,), optional
        A last column.
    """
    kept = {**table.kept, **more}
    files: dict[Path, Writer] = {}
    columns, places = list(names), Y
    if trust is not None:
        columns, places = [*columns, "trust"], np.column_stack([Y, trust])
    if args.out is not None:
        for name, other in names_beside(kept, columns).items():
            if other != name and args.out.suffix != ".npy":
                info(
                    f"{args.out.name}: {name!r} is a name of the embedding; that column is "
                    f"{other!r}."
                )
        files[args.out] = partial(write_table, Y=places, names=columns, beside=kept)
    if args.figure is not None:
        files[args.figure] = figure_writer(Y, table.colouring, table.table.file)
    return files


@contextmanager
def about(file: str) -> Iterator[None]:
    """Let errors of the data begin with the name of the file; not those of a hyperparameter."""
    try:
        yield
    except DataError as error:
        words = str(error)
        if file not in words and not _HYPERPARAMETER.match(words):
            error.args = (f"{file}: {words}", *error.args[1:])
        raise
