"""``sdpdr embed``: a table of one's own, embedded."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.checks import rows_from
from sdpdr.base.errors import DataError, ModelError, UnknownNameError
from sdpdr.base.files import Writer
from sdpdr.lab.cli import learned as answers
from sdpdr.lab.cli.console import (
    FIGURES,
    check_target,
    figure_writer,
    note,
    record_writer,
    say,
    say_json,
    write_all,
)
from sdpdr.lab.cli.hyperparameters import FLAGS, as_options, assignment
from sdpdr.lab.cli.methods import METHODS, described, find_method, made, side_columns, side_inputs
from sdpdr.lab.cli.options import (
    Exit,
    add_argument,
    add_command,
    add_solver_options,
    solver_options,
)
from sdpdr.lab.cli.side import LABELS_AS, in_words
from sdpdr.lab.library.vocabulary import RELATIONS, parse_relation
from sdpdr.lab.study.tables import HEADER, WRITABLE, Frame, read_table, write_table
from sdpdr.model.blocks import Relation


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
        "sdpdr embed data.csv --method density_map --set variant=trace --out y.csv",
    )
    parser.set_defaults(told=as_options)
    add_argument(parser, "FILE", "one row per point", type=Path)
    _add_reading(partial(add_argument, parser.add_argument_group("reading")))
    _add_method(partial(add_argument, parser.add_argument_group("method")))
    parser.add_argument_group("methods", described())
    group = parser.add_argument_group("writing (all files or, after an error, none)")
    _add_outputs(partial(add_argument, group))
    add_solver_options(parser)


def _add_reading(add: Callable[..., None]) -> None:
    names = {"type": _names, "default": []}
    add("--key NAME", "which array of an NPZ file")
    add("--header", "whether text has one (default: auto)", choices=HEADER, default="auto")
    add("--columns A,B,...", "only these columns", **names)
    add("--drop A,B,...", "all columns but these", **names)
    add("--color COLUMN", "colours the figure; not used as a coordinate")
    add(
        "--metric",
        "precomputed: the table is a square matrix of distances\n(default: euclidean)",
        choices=("euclidean", "precomputed"),
    )
    add("--squared", "precomputed distances are squared")
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
    add("--n-components D", "dimensions (default: 2)", type=int)
    add("--n-neighbors K", "default: 6", type=int)
    add("--isometry HOW", f"{', '.join(RELATIONS)}\n(default: inequality)", type=_relation)
    add("--angles", "keep angles between neighbours too", action="store_const", const=True)
    add(
        "--connect",
        "a graph in several parts is joined by several edges (the default) or\n"
        "by its shortest missing ones, cut down to its largest, or refused",
        choices=("bridges", "mst", "largest", "error"),
    )
    words = "a hyperparameter of the method, see below; repeat it for several"
    add("--set KEY=VALUE", words, action="append", type=assignment, default=[])


def _add_outputs(add: Callable[..., None]) -> None:
    add("--out PATH", f"the embedding: {' '.join(WRITABLE)}", type=Path)
    add("--figure PATH", f"a picture of its first two coordinates: {' '.join(FIGURES)}", type=Path)
    words = "value, bound, gap, residuals, timings and versions: .json"
    add("--record PATH", words, type=Path)


def run(args: Namespace) -> Exit:
    """Embed a table."""
    for path, suffixes in (
        (args.out, WRITABLE),
        (args.figure, FIGURES),
        (args.record, (".json",)),
    ):
        if path is not None:
            check_target(path, suffixes)
    estimator = made(args, _given(args))
    frame = read_table(args.file, key=args.key, header=args.header)
    X, beside = _points(frame, args), side_inputs(frame, args)
    colour = None if args.color is None else frame.values(args.color)
    with rows_from(1):
        learned = estimator.fit(X, **beside)
    Y = answers.embedding(learned, X)
    record = _record(learned, args, X, Y)
    if "y" in beside:
        record["side"]["read_as"] = in_words(beside["y"])
    write_all(_files(Y, args, colour, record))
    _tell(learned, args, Y, record)
    return answers.exit_of(learned)


def _given(args: Namespace) -> dict[str, Any]:
    """Hyperparameters that have options of their own, where these were used."""
    told = vars(args) | {"random_state": args.seed}
    solver_options(args)  # refuses what does not go together
    return {name: told[name] for name in FLAGS if told[name] is not None}


def _points(frame: Frame, args: Namespace) -> Array:
    if args.squared and args.metric != "precomputed":
        raise DataError("--squared is about distances. Add --metric precomputed, or leave it out.")
    beside = [*side_columns(args), *([] if args.color is None else [args.color])]
    drop = [*args.drop, *(name for name in beside if name not in args.columns)]
    X = frame.select(args.columns, drop).numbers()
    _tell_index(frame, args, drop)
    if args.metric == "precomputed" and args.squared:
        # The sign survives the root, so that a negative entry is refused as it should be.
        return np.asarray(np.sign(X) * np.sqrt(np.abs(X)))
    return X


def _tell_index(frame: Frame, args: Namespace, drop: Sequence[str]) -> None:
    """Say which columns were left out though nobody has asked for it."""
    if not args.columns and not set(frame.index) <= set(drop):
        note(
            f"{frame.file}: the first column has no name, so it is taken for numbers or names of "
            "rows and left out. Give it a name if it is a coordinate; --drop '' leaves it out "
            "without these words."
        )


def _files(
    Y: Array, args: Namespace, colour: np.ndarray | None, record: Mapping[str, Any]
) -> dict[Path, Writer]:
    files: dict[Path, Writer] = {}
    if args.out is not None:
        names = [f"y{k + 1}" for k in range(Y.shape[1])]
        files[args.out] = partial(write_table, Y=Y, names=names)
    if args.figure is not None:
        placed = ~np.isnan(Y).any(axis=1)
        shown = None if colour is None else colour[placed]
        files[args.figure] = figure_writer(Y[placed], shown, args.file.name)
    if args.record is not None:
        files[args.record] = record_writer(record)
    return files


def _record(learned: Any, args: Namespace, X: Array, Y: Array) -> dict[str, Any]:
    return {
        **answers.record(learned, find_method(args.method)),
        "method": args.method,
        "data": {"file": args.file.name, "shape": list(X.shape)},
        "n_components": Y.shape[1],
        "side": {
            name: value
            for name in ("labels", "labels_as", "actions", "sequences")
            if (value := getattr(args, name))
        },
    }


def _tell(learned: Any, args: Namespace, Y: Array, record: Mapping[str, Any]) -> None:
    if not (args.out or args.figure or args.record):
        note("nothing is written: --out, --figure and --record say where to.")
    if args.json:
        say_json(record)
        return
    graph = record.get("graph")
    size = f", graph of {graph['n']} nodes and {graph['edges']} edges" if graph else ""
    say(f"{args.file.name}: {len(Y)} points{size}")
    if "read_as" in record["side"]:
        say(f"labels in {', '.join(args.labels)}: {record['side']['read_as']}")
    for line in answers.lines(learned, find_method(args.method), Y):
        say(line)
    say()
    say(answers.grade(learned))


def _listed() -> str:
    """Names of the methods in lines of the help's width."""
    names = list(METHODS)
    half = (len(names) + 1) // 2
    return f"{', '.join(names[:half])},\n{', '.join(names[half:])}"


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _relation(text: str) -> Relation:
    try:
        return parse_relation(text)
    except (UnknownNameError, ModelError) as error:
        raise ArgumentTypeError(str(error)) from error
