"""What is written of a table: places beside what was kept, and a picture of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.files import Writer
from sdpdr.lab.cli.columns import DividedTable
from sdpdr.lab.cli.console import FIGURES, check_target, check_targets, figure_writer, note
from sdpdr.lab.tables.files import WRITABLE, names_beside, require_writer, write_table
from sdpdr.lab.tables.text_files import called

# Stands for a file beside the table, whose name is not known before.
_BESIDE = Path()


def add_outputs(add: Callable[..., None], what: str) -> None:
    """Add the options of the table that is written, and of its picture."""
    add("-o/--out PATH", f"{what}: {' '.join(WRITABLE)}", type=Path)
    words = (
        f"a picture of its first two coordinates: {' '.join(FIGURES)}\n"
        "(default: FILE-embedding.png)"
    )
    add("--figure PATH", words, type=Path, nargs="?", const=_BESIDE)


def check_outputs(
    args: Namespace, sources: Iterable[Path], more: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Give a figure beside the table its name, and refuse, before any work is done, bad targets.

    Parameters
    ----------
    args : Namespace
    sources : iterable of Path
        Files that are read, and are not written over.
    more : mapping from name of an option to suffixes, optional
        Of other files that are written.
    """
    if args.figure is _BESIDE:
        name = called(args.file)
        args.figure = Path(f"{name.partition('.')[0] or name}-embedding.png")
    suffixes = {"out": WRITABLE, "figure": FIGURES, **(more or {})}
    targets = {name: getattr(args, name) for name in suffixes}
    for name, path in targets.items():
        if path is not None:
            check_target(path, suffixes[name])
    if args.out is not None:
        require_writer(args.out)
    check_targets(targets.values(), sources)


def writers_of(
    args: Namespace,
    table: DividedTable,
    Y: Array,
    names: Sequence[str],
    more: Mapping[str, np.ndarray],
    trust: Array | None = None,
) -> dict[Path, Writer]:
    """Writers of the table of places and of their picture, as far as they are asked for.

    Parameters
    ----------
    args : Namespace
    table : DividedTable
    Y : array of shape (n, d)
    names : sequence of str
        Of its columns.
    more : mapping from name to array of shape (n,)
        What is kept beside the places and what the table has.
    trust : array of shape (n,), optional
        A last column.
    """
    kept = {**table.kept, **more}
    files: dict[Path, Writer] = {}
    told, placed = kept, Y
    if trust is not None:
        told = {**kept, "trust": np.char.mod("%.2f", trust)}
        names, placed = [*names, "trust"], np.column_stack([Y, trust])
    if args.out is not None:
        for name, written in names_beside(kept, names).items():
            if written != name and args.out.suffix != ".npy":
                note(
                    f"{args.out.name}: {name!r} is a name of the embedding; that column is "
                    f"{written!r}."
                )
        files[args.out] = partial(write_table, Y=placed, names=names, beside=kept)
    if args.figure is not None:
        files[args.figure] = figure_writer(Y, table.colouring, table.frame.file, told)
    return files


def place_names(d: int, known: Sequence[str] = ()) -> list[str]:
    """What coordinates that were found are called: by the columns of those known, if there are any.

    Examples
    --------
    >>> place_names(2), place_names(2, ["lon", "lat"])
    (['y1', 'y2'], ['lon_found', 'lat_found'])
    """
    return [f"{name}_found" for name in known] or [f"y{k + 1}" for k in range(d)]
