"""``sdpdr transform``: coordinates of new rows, by a model that ``sdpdr embed --save`` wrote."""

from __future__ import annotations

from types import SimpleNamespace

import click
import numpy as np

from sdpdr.base.errors import DataError
from sdpdr.base.estimators import numeric
from sdpdr.base.progress import enter_phase
from sdpdr.base.rows import counted, numbered, rows_of, rows_of_file
from sdpdr.lab.cli import columns
from sdpdr.lab.cli.app import AS_JSON, PATH, Exit, command
from sdpdr.lab.cli.outputs import about, check_outputs, output_options, writers_of
from sdpdr.lab.cli.saved import SavedMap, read_model
from sdpdr.lab.cli.terminal import echo, echo_json, error, info, write_all
from sdpdr.lab.tables.table import Table

# One in twenty of the points of the fit has less trust.
_STRANGE = 0.05


@command(
    "transform",
    "sdpdr transform model.npz new.csv --out places.csv\n"
    "sdpdr transform model.npz new.csv.gz --id name --figure places.svg",
    click.argument("model", metavar="MODEL", type=PATH),
    click.argument("file", metavar="FILE", type=PATH),
    columns.reading_options(),
    output_options("Places and trust"),
    AS_JSON,
)
def transform_command(args: SimpleNamespace) -> int:
    """Place new rows by a map that `sdpdr embed --save` wrote.

    MODEL is what --save wrote; FILE has one row per point, with the columns of the model; - is the
    standard input.
    """
    check_outputs(args, [args.model, args.file])
    model = read_model(args.model)
    frame = columns.read(args)
    args.columns = _columns(model, frame, args)
    table = columns.divide(frame, args)
    known = {*args.columns, *table.kept, *args.drop}
    others = [name for name in frame.columns if name not in known]
    if others:
        info(f"{frame.file}: not columns of the model, and left out: {', '.join(others)}.")
    enter_phase(f"placing {counted(len(table.rows), 'row')}")
    with about(frame.file), rows_of_file(frame.lines, table.coordinates), rows_of(table.rows):
        Y, trust = model.place(numeric(table.X, at_least=1))
        guesses = np.flatnonzero(trust < _STRANGE)
        named = numbered(guesses)
    write_all(writers_of(args, table, Y, model.places, {}, trust))
    if not (args.out or args.figure):
        info("nothing is written: --out and --figure say where to.")
    strange = table.rows[guesses] + 1
    if strange.size:
        error(
            f"rows {named} are further from all points of the fit than nearly all of "
            "those are: their positions are guesses (trust below 0.05).",
            "warning",
        )
    extension, median = model.extension, float(np.median(trust))
    record = {
        "method": model.method,
        "map": extension.name,
        "error": extension.error,
        "data": {"file": frame.file, "shape": [len(trust), len(model.columns)]},
        "trust": {"median": median, "below 0.05": strange.tolist()},
    }
    if args.json:
        echo_json(record)
    else:
        echo(
            f"{frame.file}: {counted(len(trust), 'point')} placed by the {extension.name} map\n"
            f"it misses points left out of it by {extension.error:.1%} of the spread\n"
            "trust, the share of the points of the fit that lie at least as far from their nearest "
            f"other one, is {median:.2f} for the median of these rows, and 0.5 for rows like those "
            "of the fit"
        )
    return Exit.OK


def _columns(model: SavedMap, frame: Table, args: SimpleNamespace) -> list[str]:
    """Return the columns of the model by name, or those of --columns in the model's order."""
    if args.columns and len(args.columns) != len(model.columns):
        raise DataError(
            f"--columns names {counted(len(args.columns), 'column')}, and the model was learned "
            f"from {len(model.columns)}: {', '.join(model.columns)}. Leave it out, or name as many."
        )
    if not (args.columns or frame.named) and len(frame.columns) == len(model.columns):
        info(
            f"{frame.file} has no header: its columns are taken in the order of the model, "
            f"{', '.join(model.columns)}."
        )
        return list(frame.columns)
    wanted = list(args.columns or model.columns)
    missing = [name for name in wanted if name not in frame.columns]
    if not missing:
        return wanted
    raise DataError(
        f"{frame.file} has no column {', '.join(map(repr, missing))}; the model was learned from "
        f"{', '.join(model.columns)}. Rename the columns, or name with --columns as many in this "
        "order."
    )
