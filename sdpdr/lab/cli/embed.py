"""``sdpdr embed``: a table of one's own, embedded."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
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
from sdpdr.lab.cli.hyperparameters import assignment
from sdpdr.lab.cli.methods import METHODS, described, find_method, made, side_columns, side_inputs
from sdpdr.lab.cli.options import Exit, add_command, add_solver_options, solver_options
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
    parser.add_argument("file", metavar="FILE", type=Path, help="one row per point")
    _add_reading(parser)
    _add_method(parser)
    parser.add_argument_group("methods", described())
    _add_outputs(parser)
    add_solver_options(parser)


def _add_reading(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("reading")
    group.add_argument("--key", metavar="NAME", help="which array of an NPZ file")
    group.add_argument(
        "--header", choices=HEADER, default="auto", help="whether text has one (default: auto)"
    )
    group.add_argument(
        "--columns", type=_names, default=[], metavar="A,B,...", help="only these columns"
    )
    group.add_argument(
        "--drop", type=_names, default=[], metavar="A,B,...", help="all columns but these"
    )
    group.add_argument(
        "--color", metavar="COLUMN", help="colours the figure; not used as a coordinate"
    )
    group.add_argument(
        "--metric",
        choices=("euclidean", "precomputed"),
        help="precomputed: the table is a square matrix of distances\n(default: euclidean)",
    )
    group.add_argument("--squared", action="store_true", help="precomputed distances are squared")
    group.add_argument(
        "--labels",
        type=_names,
        default=[],
        metavar="A,B,...",
        help="classes, numbers or known coordinates, for methods that need\n"
        "them; these columns and the next two are no coordinates of points",
    )
    group.add_argument(
        "--labels-as",
        choices=LABELS_AS,
        help="auto: whole numbers and words are classes, other numbers numbers",
    )
    group.add_argument(
        "--actions",
        metavar="COLUMN",
        help="what was done between each row and the next; empty: not known",
    )
    group.add_argument(
        "--sequences", metavar="COLUMN", help="rows with the same entry are one sequence"
    )


def _add_method(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("method")
    group.add_argument(
        "--method", default="mvu", metavar="NAME", help=f"{_listed()}\n(default: mvu)"
    )
    group.add_argument("--n-components", type=int, metavar="D", help="dimensions (default: 2)")
    group.add_argument("--n-neighbors", type=int, metavar="K", help="default: 6")
    group.add_argument(
        "--isometry",
        type=_relation,
        metavar="HOW",
        help=f"{', '.join(RELATIONS)}\n(default: inequality)",
    )
    group.add_argument(
        "--angles",
        action="store_const",
        const=True,
        help="keep angles between neighbours too",
    )
    group.add_argument(
        "--connect",
        choices=("error", "mst", "largest"),
        help="a graph in several parts is refused, joined by its shortest\n"
        "missing edges, or cut down to its largest part (default: error)",
    )
    group.add_argument(
        "--set",
        action="append",
        type=assignment,
        default=[],
        metavar="KEY=VALUE",
        help="a hyperparameter of the method, see below; repeat it for several",
    )


def _add_outputs(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("writing (all files or, after an error, none)")
    for option, what in (
        ("--out", f"the embedding: {' '.join(WRITABLE)}"),
        ("--figure", f"a picture of its first two coordinates: {' '.join(FIGURES)}"),
        ("--record", "value, bound, gap, residuals, timings and versions: .json"),
    ):
        group.add_argument(option, type=Path, metavar="PATH", help=what)


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
    X, colour, beside = _points(frame, args), _colour(frame, args.color), side_inputs(frame, args)
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
    names = ("n_components", "n_neighbors", "isometry", "metric", "angles", "connect")
    found = {name: value for name in names if (value := getattr(args, name)) is not None}
    found |= solver_options(args)
    if "seed" in found:
        found["random_state"] = found.pop("seed")
    return found


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


def _colour(frame: Frame, name: str | None) -> np.ndarray | None:
    return None if name is None else frame.values(name)


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
