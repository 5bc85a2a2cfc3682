"""``sdpdr transform``: new rows, placed by a model that ``sdpdr embed --save`` wrote."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from types import SimpleNamespace

import click
import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, FileFormatError, nearest_name
from sdpdr.base.estimators import numeric
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, listed, rows_from, rows_of
from sdpdr.lab.cli import columns
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.hyperparameters import as_options
from sdpdr.lab.cli.options import AS_JSON, PATH, Exit
from sdpdr.lab.cli.outputs import (
    about,
    check_outputs,
    output_options,
    write_all,
    writers_of,
)
from sdpdr.lab.cli.saved import SUFFIX, SavedMap, read_model
from sdpdr.lab.cli.terminal import echo, echo_json, error, info
from sdpdr.lab.tables.table import Table

# One point in twenty of those that the model was learned from has less.
_STRANGE = 0.05


@command(
    "transform",
    "sdpdr transform model.npz new.csv --out places.csv\n"
    "sdpdr transform model.npz new.csv.gz --id name --figure places.svg",
    click.argument("model", metavar="MODEL", type=PATH),
    click.argument("file", metavar="FILE", type=PATH),
    columns.reading_options(),
    output_options("places and trust"),
    AS_JSON,
    translate=as_options,
)
def transform_command(args: SimpleNamespace) -> int:
    """Place new rows by a map that `sdpdr embed --save` wrote.

    MODEL is what --save wrote; FILE has one row per point, with the columns of the model; - is the
    standard input.
    """
    check_outputs(args, [args.model, args.file])
    model = _model(args)
    frame = columns.read(args)
    args.columns = _columns(model, frame, args)
    table = columns.divide(frame, args)
    _report_others(frame, table, args)
    working(f"placing {counted(len(table.rows), 'row')}")
    with about(frame.file), rows_from(1, table.coordinates), rows_of(table.rows):
        Y, trust = model.place(numeric(table.X, at_least=1))
    write_all(writers_of(args, table, Y, model.places, {}, trust))
    _report(model, trust, table.rows, frame.file, args)
    return Exit.OK


def _model(args: SimpleNamespace) -> SavedMap:
    """The model; an error says so if it and the table may have been named in the other order."""
    try:
        return read_model(args.model)
    except FileFormatError as problem:
        if args.file.suffix != SUFFIX or args.model.suffix == SUFFIX:
            raise
        raise FileFormatError(
            f"{problem} If {args.file} is one, it comes first: sdpdr transform {args.file} "
            f"{args.model}"
        ) from None


def _columns(model: SavedMap, frame: Table, args: SimpleNamespace) -> list[str]:
    """The columns of the model, by name; or those named, in its order."""
    if args.columns and len(args.columns) != len(model.columns):
        raise DataError(
            f"--columns names {counted(len(args.columns), 'column')}, and the model was learned "
            f"from {len(model.columns)}: {', '.join(model.columns)}. Leave it out, or name as many."
        )
    wanted = list(args.columns or model.columns)
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise DataError(
            f"{frame.file} has no column {', '.join(map(repr, missing))}; the model was learned "
            f"from {', '.join(model.columns)}. {_way(frame, wanted)}"
        )
    return wanted


def _way(frame: Table, wanted: Sequence[str]) -> str:
    """What to do if columns are missing: to name those that are called nearly so, if all are."""
    free = [name for name in frame.columns if name not in wanted]
    meant = [name if name in frame.columns else nearest_name(name, free) for name in wanted]
    if all(meant) and len(set(meant)) == len(meant):
        said = shlex.quote(",".join(meant))
        return f"If others are meant, --columns {said} says so; or rename the columns."
    return "Rename the columns, or name with --columns as many in this order."


def _report_others(frame: Table, table: columns.DividedTable, args: SimpleNamespace) -> None:
    """Say which columns are not those of the model."""
    known = {*args.columns, *table.kept, *args.drop}
    others = [name for name in frame.columns if name not in known]
    if others:
        info(f"{frame.file}: not columns of the model, and left out: {', '.join(others)}.")


def _report(model: SavedMap, trust: Array, rows: Index, file: str, args: SimpleNamespace) -> None:
    if not (args.out or args.figure):
        info("nothing is written: --out and --figure say where to.")
    strange = rows[trust < _STRANGE]
    if strange.size:
        error(
            f"rows {listed(strange + 1)} are further from all points of the fit than nearly all of "
            "those are: their places are guesses (trust below 0.05).",
            "warning",
        )
    record = {
        "method": model.method,
        "map": model.extension.name,
        "error": model.extension.error,
        "data": {"file": file, "shape": [len(rows), len(model.columns)]},
        "trust": {"median": float(np.median(trust)), "below 0.05": (strange + 1).tolist()},
    }
    if args.json:
        echo_json(record)
    else:
        echo(f"{file}: {counted(len(rows), 'point')} placed by the {model.extension.name} map")
        echo(f"it misses points left out of it by {model.extension.error:.1%} of the spread")
        echo(
            "trust, the share of the points of the fit that lie at least as far from their nearest "
            f"other one, is {np.median(trust):.2f} for the median of these rows, and 0.5 for rows "
            "like those of the fit"
        )
