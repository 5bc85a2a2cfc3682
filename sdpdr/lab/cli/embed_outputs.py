"""What ``embed`` and ``transform`` write: places beside what was kept, and a picture of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.files import Writer
from sdpdr.lab.cli.columns import DividedTable
from sdpdr.lab.cli.options import PATH, apply_all, option
from sdpdr.lab.cli.outputs import FIGURES, check_targets, figure_writer
from sdpdr.lab.cli.terminal import info
from sdpdr.lab.tables.files import WRITABLE, called, names_beside, require_writer, write_table

# The value of --figure without a name: a file beside the table.
_BESIDE = Path()
_HYPERPARAMETER = re.compile(r"[a-z_]+=|[a-z]+_[a-z_]+ |--")


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
        for name, written in names_beside(kept, columns).items():
            if written != name and args.out.suffix != ".npy":
                info(
                    f"{args.out.name}: {name!r} is a name of the embedding; that column is "
                    f"{written!r}."
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
