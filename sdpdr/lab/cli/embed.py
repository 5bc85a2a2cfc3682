"""``sdpdr embed``: a table of the user's, embedded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.base.files import Writer
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, listed, rows_from, rows_of
from sdpdr.graphs.space import METRICS
from sdpdr.lab.cli import columns, saved
from sdpdr.lab.cli import learned as answers
from sdpdr.lab.cli.command import command
from sdpdr.lab.cli.hyperparameters import FLAGS, as_options, assignment
from sdpdr.lab.cli.learned import FittedRows, fitted
from sdpdr.lab.cli.methods import (
    METHODS,
    described,
    find_method,
    made,
    needed_columns,
    side_columns,
    side_inputs,
)
from sdpdr.lab.cli.options import (
    AS_JSON,
    NAMES,
    PATH,
    WHOLE,
    Parsed,
    apply_all,
    given_solver_options,
    option,
    solver_options,
)
from sdpdr.lab.cli.outputs import (
    about,
    check_outputs,
    coordinate_names,
    output_options,
    record_writer,
    write_all,
    writers_of,
)
from sdpdr.lab.cli.side import LABELS_AS, in_words
from sdpdr.lab.cli.terminal import echo, echo_json, info, warnings_as_lines
from sdpdr.lab.library.vocabulary import RELATIONS, parse_relation
from sdpdr.lab.tables.distances import as_table, from_table
from sdpdr.lab.tables.table import Table

# Of the largest coordinate. Up to 1000 points on a line leave up to 9e-9 of it in the second.
_FLAT = 1e-6
_CONNECT = ("bridges", "mst", "largest", "error")
_EXAMPLES = """\
sdpdr embed data.csv --n-neighbors 6 --out embedding.csv
sdpdr embed iris.csv --drop species --color species --connect mst --figure iris.svg
sdpdr embed arrays.npz --key X --isometry band:0.01 --out embedding.npy
sdpdr embed distances.npy --metric precomputed --out embedding.tsv --record run.json
sdpdr embed data.csv --form landmark --landmarks 60 --out embedding.csv
sdpdr embed iris.csv --method colored_mvu --labels species --connect mst --out y.csv
sdpdr embed walk.csv --method are --actions turn --set inverse=left:right --out y.csv
sdpdr embed data.csv --method density_map --set variant=trace --out y.csv
sort -u data.csv | sdpdr embed - --out embedding.csv
sdpdr embed wine.csv.gz --label cultivar --scale standard --figure
sdpdr embed gaps.csv --metric precomputed --method distance_completion --out y.csv
sdpdr embed large.csv --sample 2000 --out y.csv --figure y.svg --save large.npz
"""


def _neighbors(text: str) -> int | str:
    if text != "auto" and not (text.isdecimal() and int(text)):
        raise ValueError(f"expected a whole number from 1 on, or auto; got {text!r}")
    return text if text == "auto" else int(text)


_HELP = {
    "metric": "cosine: of directions; precomputed: the table holds distances, as a square, a "
    "triangle, or two points and their distance in each line (default: euclidean).",
    "scale": "Units of columns: standard (mean and deviation; so is --scale alone) or robust "
    "(median and quartiles); (default: none, and a warning if spreads are far apart).",
    "labels": "Classes, numbers or known coordinates, for methods that need them. These columns "
    "and those of the next two are not coordinates of points.",
    "labels_as": "auto: whole numbers and words are classes, other numbers numbers.",
    "actions": "What was done between each row and the next; empty: not known.",
    "n_neighbors": "A number, or auto: see `sdpdr.graphs.choose_k` (default: 6, of a sample auto).",
    "connect": "A disconnected graph is joined by several edges (the default) or by its shortest "
    "missing ones, cut down to its largest part, or refused.",
    "sample": "Embed N rows, drawn by --seed, and place the others by a map (default: all rows).",
    "extension": "The map: kernel, linear or barycentric (default: kernel).",
    "set": "A hyperparameter of the method, see below; repeat it for several.",
}
_DATA = apply_all(
    option("--metric", _HELP["metric"], type=click.Choice(METRICS)),
    option("--squared", "Precomputed distances are squared."),
    option("--scale", _HELP["scale"], type=click.Choice(columns.SCALES), is_flag=False,
           flag_value="standard"),
    option("--labels A,B,...", _HELP["labels"], type=NAMES, default=[]),
    option("--labels-as", _HELP["labels_as"], type=click.Choice(LABELS_AS)),
    option("--actions COLUMN", _HELP["actions"]),
    option("--sequences COLUMN", "Rows with the same entry are one sequence."),
)  # fmt: skip
_METHOD = apply_all(
    option("--method NAME", ", ".join(METHODS), default="mvu", show_default=True),
    option("--n-components D", "Dimensions (default: 2).", type=WHOLE),
    option("--n-neighbors K", _HELP["n_neighbors"], type=Parsed("K", _neighbors)),
    option("--isometry HOW", f"{', '.join(RELATIONS)} (default: inequality).",
           type=Parsed("HOW", parse_relation)),
    option("--angles", "Keep angles between neighbours too.", is_flag=True, default=None),
    option("--connect", _HELP["connect"], type=click.Choice(_CONNECT)),
    option("--sample N", _HELP["sample"], type=WHOLE),
    option("--extension KIND", _HELP["extension"]),
    option("--set KEY=VALUE", _HELP["set"], type=Parsed("KEY=VALUE", assignment), multiple=True),
)  # fmt: skip
_FILES = apply_all(
    output_options("The embedding"),
    option("--record PATH", "Value, bound, gap, residuals, timings, versions: .json.", type=PATH),
    option("--save PATH", f"A map, for `sdpdr transform`: {saved.SUFFIX}.", type=PATH),
)


@command(
    "embed",
    _EXAMPLES,
    click.argument("file", metavar="FILE", type=PATH),
    columns.reading_options(),
    _DATA,
    _METHOD,
    _FILES,
    AS_JSON,
    solver_options("that of the method; none with --solver or --form"),
    translate=as_options,
    epilog=f"\n\n\b\nmethods:\n{described()}",
)
def embed_command(args: SimpleNamespace) -> int:
    """Embed a table of points or distances.

    FILE has one row per point: CSV, TSV or other text, perhaps compressed, NPY, NPZ or Parquet; -
    is text from the standard input. All files are written, or after an error none.
    """
    check_outputs(args, [args.file], {"record": (".json",), "save": (saved.SUFFIX,)})
    _check_options(args)
    estimator = made(args, _given(args))
    read = columns.read(args)
    if args.metric == "precomputed":
        read = _as_square(read, args)
    working(f"preparing {counted(len(read), 'row')}")
    table = columns.divide(read, args, side_columns(args), needed_columns(args))
    X, names, file = table.X, table.coordinates, read.file
    beside = side_inputs(table.table, args)
    told = partial(as_options, can_sample=_can_sample(args))
    with about(file), rows_from(1, names), rows_of(table.rows), warnings_as_lines(told):
        precomputed = args.metric == "precomputed"
        scaling = columns.scaling("none" if precomputed else args.scale, X, names)
        scaled = _distances(X, file, args) if precomputed else scaling(X)
        found = fitted(estimator, scaled, beside, args)
    record = _record(found, args, file, table)
    if "y" in beside:
        record["side"]["read_as"] = in_words(beside["y"])
    files = _files(found, args, table, record)
    if args.save is not None:
        places = _names(found, args)
        model = saved.model_of(
            found.learned, scaled[found.rows], scaling, names, args.method, places
        )
        files[args.save] = model.writer()
    write_all(files)
    _report(found, args, record)
    return answers.exit_of(found.learned)


def _check_options(args: SimpleNamespace) -> None:
    """Refuse options that do not go together, before a table is read and reported on."""
    if args.metric == "precomputed":
        if args.missing == "drop":
            raise DataError(
                "--missing drop is about coordinates, and these are distances, of which missing "
                "ones are not known. Leave it out."
            )
        if args.scale not in (None, "none"):
            raise DataError(
                f"--scale {args.scale} is about coordinates; these are distances: leave it out."
            )
    elif args.squared:
        raise DataError("--squared is about distances. Add --metric precomputed, or leave it out.")
    if args.metric == "cosine" and args.save is not None:
        raise NotAcceptedError(
            "--save keeps maps of coordinates, and --metric cosine compares directions. Leave one "
            "out; --sample places rows by a map also of directions."
        )


def _given(args: SimpleNamespace) -> dict[str, Any]:
    """Hyperparameters that have options of their own, where these were used."""
    given = vars(args) | {"random_state": args.seed}
    given_solver_options(args)  # refuses options that do not go together
    if args.extension is None and (args.sample or args.save) and args.metric != "precomputed":
        given["extension"] = "kernel" if find_method(args.method).extends else None
    # Six neighbours of a sample reach further than six of all, and across what is to be unfolded.
    if given["n_neighbors"] is None and args.sample and find_method(args.method).extends:
        given["n_neighbors"] = args.n_neighbors = "auto"
    return {name: given[name] for name in FLAGS if given[name] is not None}


def _can_sample(args: SimpleNamespace) -> bool:
    """Whether fewer rows are a way to be done in time."""
    of_points = args.metric != "precomputed" and not (args.actions or args.sequences)
    return of_points and args.sample is None and find_method(args.method).extends


# -- distances ------------------------------------------------------------------------------------


def _as_square(table: Table, args: SimpleNamespace) -> Table:
    """A table of distances as a square one, with a column of the names of its points."""
    table.require([*args.columns, *args.drop])
    beside = {*args.drop, *args.id, *args.label, args.color, *side_columns(args), *table.row_names}
    chosen = list(args.columns) or [name for name in table.columns if name not in table.index]
    chosen = [name for name in chosen if name not in beside]
    found, remark = from_table(table, chosen)
    if found is None:
        # Columns of words name the points.
        chosen = [name for name in chosen if table.is_numeric(name)]
        found, remark = from_table(table, chosen) if len(chosen) == len(table) else (None, "")
    if found is None:
        return table
    info(f"{table.file}: {remark}.")
    if len(found.matrix) == len(table) and not found.named:
        D = {name: found.matrix[:, k] for k, name in enumerate(chosen)}
        return replace(table, frame=table.frame.assign(**D))
    args.columns, args.drop = [], []
    return as_table(table.file, found)


def _distances(X: Array, file: str, args: SimpleNamespace) -> Array:
    """Distances as the estimator takes them, with a line about those that are not known."""
    takes_gaps = find_method(args.method).distances
    if not takes_gaps and X.shape[0] == X.shape[1]:
        gone = int(np.isnan(np.triu(np.fmax(X, X.T))).sum())
        if gone:
            info(
                f"{file}: {counted(gone, 'distance')} {'is' if gone == 1 else 'are'} not known, "
                "and pairs without one are no edges of the graph. --method distance_completion "
                "finds places that have all that are known."
            )
    # The root keeps the sign, so that a negative entry is refused as it should be.
    return np.asarray(np.sign(X) * np.sqrt(np.abs(X))) if args.squared else X


# -- results --------------------------------------------------------------------------------------


def _files(
    found: FittedRows,
    args: SimpleNamespace,
    table: columns.DividedTable,
    record: Mapping[str, Any],
) -> dict[Path, Writer]:
    how = {"how": np.where(found.embedded, "embedded", "placed")} if found.is_sample else {}
    files = writers_of(args, table, found.Y, _names(found, args), how)
    if args.record is not None:
        files[args.record] = record_writer(record)
    return files


def _names(found: FittedRows, args: SimpleNamespace) -> list[str]:
    """Names of the coordinates of the embedding."""
    labels = find_method(args.method).labels
    known = args.labels if labels is not None and labels.sets_dimension else ()
    return coordinate_names(found.Y.shape[1], known)


def _record(
    found: FittedRows, args: SimpleNamespace, file: str, table: columns.DividedTable
) -> dict[str, Any]:
    data: dict[str, Any] = {"file": file, "shape": list(table.X.shape)}
    if found.is_sample:
        data["sample"] = len(found.rows)
    if table.set_aside:
        data["set_aside"] = dict(table.set_aside)
    if table.doubt:
        data["warning"] = table.doubt
    if len(table.rows) < table.n_read:
        data["left_out"] = (1 + np.setdiff1d(np.arange(table.n_read), table.rows)).tolist()
    return {
        **answers.record(found.learned, find_method(args.method)),
        "method": args.method,
        "data": data,
        "n_components": found.Y.shape[1],
        "side": {
            name: value
            for name in ("labels", "labels_as", "actions", "sequences")
            if (value := getattr(args, name))
        },
    }


def _report(found: FittedRows, args: SimpleNamespace, record: Mapping[str, Any]) -> None:
    if not (args.out or args.figure or args.record or args.save):
        info("nothing is written: --out, --figure, --record and --save say where to.")
    _report_flat(found.Y, _names(found, args))
    if args.json:
        echo_json(record)
        return
    graph = record.get("graph")
    size = ""
    if graph:
        size = f", graph of {counted(graph['n'], 'node')} and {counted(graph['edges'], 'edge')}"
    echo(f"{record['data']['file']}: {counted(len(found.Y), 'point')}{size}")
    if "read_as" in record["side"]:
        echo(f"labels in {', '.join(args.labels)}: {record['side']['read_as']}")
    for line in [*found.lines(), *answers.lines(found.learned, find_method(args.method), found.Y)]:
        echo(line)
    echo()
    echo(answers.grade(found.learned))


def _report_flat(Y: Array, names: list[str]) -> None:
    """Say which coordinates are zero but for rounding."""
    sizes = np.abs(np.nan_to_num(Y)).max(axis=0, initial=0.0)
    flat = [name for name, size in zip(names, sizes, strict=True) if size <= _FLAT * sizes.max()]
    if flat:
        left = len(names) - len(flat)
        info(
            f"the embedding has {counted(left, 'dimension')}: zero at all points, but for "
            f"rounding: {listed(flat)}."
        )
