"""``sdpdr embed``: a table of one's own, embedded."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ModelError, NotAcceptedError, UnknownNameError
from sdpdr.base.files import Writer
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, listed, rows_from, rows_of
from sdpdr.families.unfold.estimators.gram import PATIENCE
from sdpdr.families.unfold.estimators.kernels import FEW_SECONDS
from sdpdr.graphs.space import METRICS
from sdpdr.lab.cli import columns, saved
from sdpdr.lab.cli import learned as answers
from sdpdr.lab.cli.console import (
    about,
    note,
    record_writer,
    say,
    say_json,
    warnings_in_one_line,
    write_all,
)
from sdpdr.lab.cli.gaps import COMPLETED
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
    Exit,
    add_argument,
    add_command,
    add_solver_options,
    solver_options,
    whole,
)
from sdpdr.lab.cli.outputs import add_outputs, check_outputs, place_names, writers_of
from sdpdr.lab.cli.pairs import squared_up
from sdpdr.lab.cli.side import LABELS_AS, in_words
from sdpdr.lab.library.vocabulary import RELATIONS, parse_relation
from sdpdr.model.blocks import Relation

# Of the largest coordinate. Up to 1000 points on a line leave up to 9e-9 of it in the second.
_FLAT = 1e-6


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "embed",
        run,
        "sdpdr embed data.csv --n-neighbors 6 --out embedding.csv\n"
        "sdpdr embed iris.csv --drop species --color species --connect mst --figure iris.svg\n"
        "sdpdr embed arrays.npz --key X --isometry band:0.01 --out embedding.npy\n"
        "sdpdr embed distances.npy --metric precomputed --out embedding.tsv --record run.json\n"
        "sdpdr embed data.csv --form landmark --landmarks 60 --out embedding.csv\n"
        "sdpdr embed iris.csv --method colored_mvu --labels species --connect mst --out y.csv\n"
        "sdpdr embed walk.csv --method are --actions turn --set inverse=left:right --out y.csv\n"
        "sdpdr embed data.csv --method density_map --set variant=trace --out y.csv\n"
        "sort -u data.csv | sdpdr embed - --out embedding.csv\n"
        "sdpdr embed wine.csv.gz --label cultivar --scale standard --figure\n"
        "sdpdr embed gaps.csv --metric precomputed --method distance_completion --out y.csv\n"
        "sdpdr embed large.csv --sample 2000 --out y.csv --figure y.png --save large.npz",
    )
    parser.set_defaults(told=as_options)
    add_argument(parser, "FILE", "one row per point; - is CSV from the standard input", type=Path)
    _add_reading(partial(add_argument, parser.add_argument_group("reading")))
    _add_method(partial(add_argument, parser.add_argument_group("method")))
    parser.add_argument_group("methods", described())
    group = parser.add_argument_group("writing (all files or, after an error, none)")
    add = partial(add_argument, group)
    add_outputs(add, "the embedding")
    words = "value, bound, gap, residuals, timings and versions: .json"
    add("--record PATH", words, type=Path)
    words = f"a map of new rows, for `sdpdr transform`: {saved.SUFFIX}"
    add("--save PATH", words, type=Path)
    add_solver_options(
        parser, f"{PATIENCE:g}, of loocv {FEW_SECONDS:g}; none with --solver or --form"
    )


def _add_reading(add: Callable[..., None]) -> None:
    columns.add_reading(add)
    names = {"type": columns.listed, "default": []}
    add(
        "--metric",
        "cosine: of directions; precomputed: the table is a square matrix of distances,\n"
        "or has two points and their distance in each line (default: euclidean)",
        choices=METRICS,
    )
    add("--squared", "precomputed distances are squared")
    words = (
        "of columns: standard (mean and deviation; so is --scale alone) or robust (median\n"
        "and quartiles); (default: none, and a warning where spreads are far apart)"
    )
    add("--scale", words, choices=columns.SCALES, nargs="?", const="standard")
    add(
        "--labels A,B,...",
        "classes, numbers or known coordinates, for methods that need\n"
        "them; these columns and the next two are no coordinates of points",
        **names,
    )
    words = "auto: whole numbers and words are classes, other numbers numbers"
    add("--labels-as", words, choices=LABELS_AS)
    words = "what was done between each row and the next; empty: not known"
    add("--actions COLUMN", words)
    add("--sequences COLUMN", "rows with the same entry are one sequence")


def _add_method(add: Callable[..., None]) -> None:
    add("--method NAME", f"{_listed()}\n(default: mvu)", default="mvu")
    add("--n-components D", "dimensions (default: 2)", type=whole)
    add(
        "--n-neighbors K",
        "a number, or auto: see `sdpdr.graphs.choose_k`\n(default: 6, of a sample auto)",
        type=_k,
    )
    add("--isometry HOW", f"{', '.join(RELATIONS)}\n(default: inequality)", type=_relation)
    add("--angles", "keep angles between neighbours too", action="store_const", const=True)
    add(
        "--connect",
        "a graph in several parts is joined by several edges (the default) or\n"
        "by its shortest missing ones, cut down to its largest, or refused",
        choices=("bridges", "mst", "largest", "error"),
    )
    words = "embed so many rows, drawn by --seed, and place the others by a map"
    add("--sample N", words, type=partial(whole, what="a number of rows"))
    words = "the map: kernel, linear, sparse, barycentric or landmark\n(default: kernel)"
    add("--extension KIND", words)
    words = "a hyperparameter of the method, see below; repeat it for several"
    add("--set KEY=VALUE", words, action="append", type=assignment, default=[])


def run(args: Namespace) -> Exit:
    """Embed a table."""
    check_outputs(args, [args.file], {"record": (".json",), "save": (saved.SUFFIX,)})
    _check_options(args)
    estimator = made(args, _given(args))
    frame = columns.read(args, side_columns(args))
    if args.metric == "precomputed":
        frame = squared_up(frame, args)
    working(f"preparing {counted(frame.n, 'row')}")
    table = columns.divided(frame, args, side_columns(args), needed_columns(args))
    X = table.points.numbers()
    beside = side_inputs(table.frame, args)
    names = list(table.points.columns)
    told = partial(as_options, can_sample=_can_sample(args))
    with about(frame.file), rows_from(1, names), rows_of(table.rows), warnings_in_one_line(told):
        scaling = _scaling(X, args, names)
        scaled = _distances(X, frame.file, args) if args.metric == "precomputed" else scaling(X)
        found = fitted(estimator, scaled, beside, args)
    record = _record(found, args, frame.file, X)
    if table.set_aside:
        record["data"]["set_aside"] = dict(table.set_aside)
    if table.doubt:
        record["data"]["warning"] = table.doubt
    if len(table.rows) < frame.n:
        record["data"]["left_out"] = (1 + np.setdiff1d(np.arange(frame.n), table.rows)).tolist()
    if "y" in beside:
        record["side"]["read_as"] = in_words(beside["y"])
    files = _files(found, args, table, record)
    if args.save is not None:
        X, places = scaled[found.rows], _names(found, args)
        model = saved.model_of(found.learned, X, scaling, names, args.method, places)
        files[args.save] = model.writer()
    write_all(files)
    _tell(found, args, record)
    return answers.exit_of(found.learned)


def _check_options(args: Namespace) -> None:
    """Refuse options that do not go together, before a table is read and spoken of."""
    if args.metric == "precomputed":
        columns.refuse_coordinates(args)
    elif args.squared:
        raise DataError("--squared is about distances. Add --metric precomputed, or leave it out.")
    if args.metric == "cosine" and args.save is not None:
        raise NotAcceptedError(
            "--save keeps maps of coordinates, and --metric cosine compares directions. Leave one "
            "out; --sample places rows by a map also of directions."
        )


def _given(args: Namespace) -> dict[str, Any]:
    """Hyperparameters that have options of their own, where these were used."""
    told = vars(args) | {"random_state": args.seed}
    solver_options(args)  # refuses what does not go together
    if args.extension is None and (args.sample or args.save) and args.metric != "precomputed":
        told["extension"] = "kernel" if find_method(args.method).extends else None
    # Six neighbours of a sample reach further than six of all, and across what is to be unfolded.
    if told["n_neighbors"] is None and args.sample and find_method(args.method).extends:
        told["n_neighbors"] = args.n_neighbors = "auto"
    return {name: told[name] for name in FLAGS if told[name] is not None}


def _scaling(X: Array, args: Namespace, names: list[str]) -> columns.ColumnUnits:
    how = "none" if args.metric == "precomputed" else args.scale
    return columns.scaling(how, X, names)


def _can_sample(args: Namespace) -> bool:
    """Whether fewer rows are a way to be done in time."""
    of_points = args.metric != "precomputed" and not (args.actions or args.sequences)
    return of_points and args.sample is None and find_method(args.method).extends


def _distances(X: Array, file: str, args: Namespace) -> Array:
    takes_gaps = find_method(args.method).distances
    if (
        not takes_gaps
        and X.shape[0] == X.shape[1]
        and (gone := int(np.isnan(np.triu(np.fmax(X, X.T))).sum()))
    ):
        note(
            f"{file}: {counted(gone, 'distance')} {'is' if gone == 1 else 'are'} not known, and "
            "pairs without one are no edges of the graph. "
            f"{COMPLETED} finds places that have all that are known."
        )
    # The sign survives the root, so that a negative entry is refused as it should be.
    return np.asarray(np.sign(X) * np.sqrt(np.abs(X))) if args.squared else X


def _files(
    found: FittedRows, args: Namespace, table: columns.DividedTable, record: Mapping[str, Any]
) -> dict[Path, Writer]:
    how = {"how": np.where(found.embedded, "embedded", "placed")} if found.is_sample else {}
    files = writers_of(args, table, found.Y, _names(found, args), how)
    if args.record is not None:
        files[args.record] = record_writer(record)
    return files


def _names(found: FittedRows, args: Namespace) -> list[str]:
    """What the coordinates of the embedding are called."""
    labels = find_method(args.method).labels
    known = args.labels if labels is not None and labels.sets_dimension else ()
    return place_names(found.Y.shape[1], known)


def _record(found: FittedRows, args: Namespace, file: str, X: Array) -> dict[str, Any]:
    sample = {"sample": len(found.rows)} if found.is_sample else {}
    return {
        **answers.record(found.learned, find_method(args.method)),
        "method": args.method,
        "data": {"file": file, "shape": list(X.shape), **sample},
        "n_components": found.Y.shape[1],
        "side": {
            name: value
            for name in ("labels", "labels_as", "actions", "sequences")
            if (value := getattr(args, name))
        },
    }


def _tell(found: FittedRows, args: Namespace, record: Mapping[str, Any]) -> None:
    if not (args.out or args.figure or args.record or args.save):
        note("nothing is written: --out, --figure, --record and --save say where to.")
    _tell_flat(found.Y, _names(found, args))
    if args.json:
        say_json(record)
        return
    graph = record.get("graph")
    size = ""
    if graph:
        size = f", graph of {counted(graph['n'], 'node')} and {counted(graph['edges'], 'edge')}"
    say(f"{record['data']['file']}: {counted(len(found.Y), 'point')}{size}")
    if "read_as" in record["side"]:
        say(f"labels in {', '.join(args.labels)}: {record['side']['read_as']}")
    for line in [*found.lines(), *answers.lines(found.learned, find_method(args.method), found.Y)]:
        say(line)
    say()
    say(answers.grade(found.learned))


def _tell_flat(Y: Array, names: list[str]) -> None:
    """Say which coordinates are zero but for rounding."""
    sizes = np.abs(np.nan_to_num(Y)).max(axis=0, initial=0.0)
    flat = [name for name, size in zip(names, sizes, strict=True) if size <= _FLAT * sizes.max()]
    if flat:
        left = len(names) - len(flat)
        note(
            f"the embedding has {counted(left, 'dimension')}: zero at all points, but for "
            f"rounding: {listed(flat)}."
        )


def _listed() -> str:
    """Names of the methods in lines of the help's width."""
    names = list(METHODS)
    half = (len(names) + 1) // 2
    return f"{', '.join(names[:half])},\n{', '.join(names[half:])}"


def _k(text: str) -> int | str:
    return text if text == "auto" else whole(text, what="a whole number from 1 on, or auto")


def _relation(text: str) -> Relation:
    try:
        return parse_relation(text)
    except (UnknownNameError, ModelError) as error:
        raise ArgumentTypeError(str(error)) from error
