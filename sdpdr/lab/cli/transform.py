"""``sdpdr transform``: new rows, placed by a model that ``sdpdr embed --save`` wrote."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, FileFormatError, nearest_name
from sdpdr.base.estimators import numeric
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, listed, rows_from, rows_of
from sdpdr.lab.cli import columns
from sdpdr.lab.cli.console import (
    about,
    complain,
    note,
    say,
    say_json,
    write_all,
)
from sdpdr.lab.cli.hyperparameters import as_options
from sdpdr.lab.cli.options import Exit, add_argument, add_command
from sdpdr.lab.cli.outputs import add_outputs, check_outputs, writers_of
from sdpdr.lab.cli.saved import SUFFIX, SavedMap, read_model
from sdpdr.lab.tables.frame import FileTable

# One point in twenty of those that the model was learned from has less.
_STRANGE = 0.05


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "transform",
        run,
        "sdpdr transform model.npz new.csv --out places.csv\n"
        "sdpdr transform model.npz new.csv.gz --id name --figure places.png",
    )
    parser.set_defaults(told=as_options)
    add_argument(parser, "MODEL", "what `sdpdr embed --save` wrote", type=Path)
    add_argument(
        parser,
        "FILE",
        "one row per point, with the columns of the model; - is standard input",
        type=Path,
    )
    columns.add_reading(partial(add_argument, parser.add_argument_group("reading")))
    add_outputs(partial(add_argument, parser.add_argument_group("writing")), "places and trust")


def run(args: Namespace) -> Exit:
    """Place the rows of a table."""
    check_outputs(args, [args.model, args.file])
    model = _model(args)
    frame = columns.read(args)
    args.columns = _columns(model, frame, args)
    table = columns.divided(frame, args)
    _tell_others(frame, table, args)
    working(f"placing {counted(frame.n, 'row')}")
    with about(frame.file), rows_from(1, list(table.points.columns)), rows_of(table.rows):
        Y, trust = model.place(numeric(table.points.numbers(), at_least=1))
    write_all(writers_of(args, table, Y, model.places, {}, trust))
    _tell(model, trust, table.rows, frame.file, args)
    return Exit.OK


def _model(args: Namespace) -> SavedMap:
    """The model; an error says so if it and the table were named in the other order."""
    try:
        return read_model(args.model)
    except FileFormatError as error:
        if args.file.suffix != SUFFIX or not _is_model(args.file):
            raise
        raise FileFormatError(
            f"{error} {args.file} is one, and comes first: sdpdr transform {args.file} {args.model}"
        ) from None


def _is_model(path: Path) -> bool:
    try:
        read_model(path)
    except FileFormatError:
        return False
    return True


def _columns(model: SavedMap, frame: FileTable, args: Namespace) -> list[str]:
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


def _way(frame: FileTable, wanted: Sequence[str]) -> str:
    """What to do if columns are missing: to name those that are called nearly so, if all are."""
    free = [name for name in frame.columns if name not in wanted]
    meant = [name if name in frame.columns else nearest_name(name, free) for name in wanted]
    if all(meant) and len(set(meant)) == len(meant):
        said = shlex.quote(",".join(meant))
        return f"If others are meant, --columns {said} says so; or rename the columns."
    return "Rename the columns, or name with --columns as many in this order."


def _tell_others(frame: FileTable, table: columns.DividedTable, args: Namespace) -> None:
    """Say which columns the model does not know."""
    known = {*args.columns, *table.kept, *args.drop}
    others = [name for name in frame.columns if name not in known]
    if others:
        note(f"{frame.file}: the model does not know {', '.join(others)}; left out.")


def _tell(model: SavedMap, trust: Array, rows: Index, file: str, args: Namespace) -> None:
    if not (args.out or args.figure):
        note("nothing is written: --out and --figure say where to.")
    strange = rows[trust < _STRANGE]
    if strange.size:
        complain(
            "warning",
            f"rows {listed(strange + 1)} lie further from all points that the model was learned "
            "from than nearly all of those do: their places are guesses (trust below 0.05).",
        )
    record = {
        "method": model.method,
        "map": model.extension.name,
        "error": model.extension.error,
        "data": {"file": file, "shape": [len(rows), len(model.columns)]},
        "trust": {"median": float(np.median(trust)), "below 0.05": (strange + 1).tolist()},
    }
    if args.json:
        say_json(record)
    else:
        say(f"{file}: {counted(len(rows), 'point')} placed by the {model.extension.name} map")
        say(f"it misses points left out of it by {model.extension.error:.1%} of the spread")
        say(
            "trust, the share of the points of the fit that lie at least as far from their nearest "
            f"other one, is {np.median(trust):.2f} for the median of these rows, and 0.5 for rows "
            "like those of the fit"
        )
