"""Files that ``embed`` and ``transform`` write: a table of coordinates, and its picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.files import Writer
from sdpdr.lab.cli import app, terminal
from sdpdr.lab.cli.app import PATH, option
from sdpdr.lab.cli.columns import DividedTable
from sdpdr.lab.tables.files import WRITABLE, called, require_writer, write_table

FIGURES = (".png", ".svg", ".pdf")
# The value of --figure without a name, which stands for a file named after the table.
_BESIDE = Path()


def output_options(what: str) -> Callable[[Any], Any]:
    """Return the options of the table that is written, and of its picture."""
    picture = (
        f"Picture of the first two coordinates: {' '.join(FIGURES)} (without PATH: "
        "FILE-embedding.png)."
    )
    return app.apply_all(
        option("-o/--out PATH", f"{what}: {' '.join(WRITABLE)}.", type=PATH),
        option("--figure PATH", picture, type=PATH, is_flag=False, flag_value=_BESIDE),
    )


def coordinate_names(d: int, known: Sequence[str] = ()) -> list[str]:
    """Return names for the coordinates of an embedding, after known coordinates if there are any.

    Examples
    --------
    >>> coordinate_names(2), coordinate_names(2, ["lon", "lat"])
    (['y1', 'y2'], ['lon_found', 'lat_found'])
    """
    return [f"{name}_found" for name in known] or [f"y{k + 1}" for k in range(d)]


def figure_writer(
    Y: Array, colour: np.ndarray | None, title: str, names: np.ndarray | None = None
) -> Writer:
    """Return a writer of a picture of an embedding; points without a place are left out."""
    from sdpdr.lab.plot import embedding
    from sdpdr.lab.plot.style import literal

    placed = np.isfinite(Y).all(axis=1)
    colour, names = (each if each is None else each[placed] for each in (colour, names))
    return lambda path: embedding(Y[placed], colour, names=names, title=literal(title)).savefig(
        path
    )


def check_outputs(args: SimpleNamespace, sources: Sequence[Path], **more: Sequence[str]) -> None:
    """Name a figure that has no name, and refuse bad targets before any work.

    ``more`` maps names of options of further files to their suffixes.
    """
    if args.figure == _BESIDE:
        name = called(args.file)
        args.figure = Path(f"{name.partition('.')[0] or name}-embedding.png")
    suffixes = {"out": WRITABLE, "figure": FIGURES, **more}
    targets = [(getattr(args, name), kinds) for name, kinds in suffixes.items()]
    terminal.check_targets([(path, kinds) for path, kinds in targets if path is not None], sources)
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
    """Return writers of the table of places, with further columns, and of its picture."""
    kept = {**table.kept, **more}
    files: dict[Path, Writer] = {}
    if args.out is not None:
        values = Y if trust is None else np.column_stack([Y, trust])
        heads = names if trust is None else [*names, "trust"]
        files[args.out] = partial(write_table, Y=values, names=heads, beside=kept)
    if args.figure is not None:
        files[args.figure] = figure_writer(Y, table.colouring, table.table.file, table.names)
    return files


@contextmanager
def about(file: str) -> Iterator[None]:
    """Let errors about data begin with the name of the file; not those about hyperparameters."""
    try:
        yield
    except DataError as problem:
        words = str(problem)
        if file not in words and not re.match(r"[a-z_]+=|[a-z]+_[a-z_]+ |--", words):
            problem.args = (f"{file}: {words}", *problem.args[1:])
        raise
