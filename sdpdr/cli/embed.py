"""``sdpdr embed``: a table of one's own, embedded."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import sdpdr
from sdpdr.blocks import Relation
from sdpdr.cli.console import note, say, say_json
from sdpdr.cli.exits import Exit, of_status
from sdpdr.cli.grade import facts
from sdpdr.cli.options import add_command, add_solver_options, solver_options
from sdpdr.cli.outputs import (
    FIGURES,
    check_target,
    figure_writer,
    record_writer,
    write_all,
)
from sdpdr.errors import DataError, ModelError, UnknownNameError
from sdpdr.files import Writer
from sdpdr.linalg.svec import Array
from sdpdr.program import Status
from sdpdr.study.tables import HEADER, WRITABLE, Frame, read_table, write_table
from sdpdr.study.vocabulary import RELATIONS, parse_relation

ESTIMATORS: Mapping[str, Any] = MappingProxyType({"mvu": sdpdr.MVU})
"""Methods by the names that ``--method`` takes."""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "embed",
        run,
        "embed a table of points or distances (CSV, TSV, NPY, NPZ, Parquet)",
        "sdpdr embed data.csv --n-neighbors 6 --out embedding.csv\n"
        "sdpdr embed iris.csv --drop species --color species --connect mst --figure iris.svg\n"
        "sdpdr embed arrays.npz --key X --isometry band:0.01 --out embedding.npy\n"
        "sdpdr embed distances.npy --metric precomputed --out embedding.tsv --record run.json",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="one row per point")
    _add_reading(parser)
    _add_method(parser)
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
        default="euclidean",
        help="precomputed: the table is a square matrix of distances",
    )
    group.add_argument("--squared", action="store_true", help="precomputed distances are squared")


def _add_method(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("method")
    group.add_argument("--method", default="mvu", metavar="NAME", help="mvu (the default)")
    group.add_argument("--n-components", type=int, default=2, metavar="D", help="default: 2")
    group.add_argument("--n-neighbors", type=int, default=6, metavar="K", help="default: 6")
    group.add_argument(
        "--isometry",
        type=_relation,
        default="inequality",
        metavar="HOW",
        help=f"{', '.join(RELATIONS)}\n(default: inequality)",
    )
    group.add_argument("--angles", action="store_true", help="keep angles between neighbours too")
    group.add_argument(
        "--connect",
        choices=("error", "mst", "largest"),
        default="error",
        help="a graph in several parts is refused, joined by its shortest\n"
        "missing edges, or cut down to its largest part (default: error)",
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
    if args.method not in ESTIMATORS:
        raise UnknownNameError("method", args.method, ESTIMATORS)
    for path, suffixes in (
        (args.out, WRITABLE),
        (args.figure, FIGURES),
        (args.record, (".json",)),
    ):
        if path is not None:
            check_target(path, suffixes)
    frame = read_table(args.file, key=args.key, header=args.header)
    X, colour = _points(frame, args), _colour(frame, args.color)
    options = solver_options(args)
    options["random_state"] = options.pop("seed", 0)
    learned = ESTIMATORS[args.method](
        args.n_components,
        n_neighbors=args.n_neighbors,
        isometry=args.isometry,
        metric=args.metric,
        angles=args.angles,
        connect=args.connect,
        **options,
    ).fit(X)
    record = _record(learned, args, X)
    status = learned.solution_.status
    write_all({} if status is Status.INTERRUPTED else _files(learned, args, colour, record))
    _tell(learned, args, record)
    return of_status(status)


def _points(frame: Frame, args: Namespace) -> Array:
    if args.squared and args.metric != "precomputed":
        raise DataError("--squared is about distances. Add --metric precomputed, or leave it out.")
    drop = list(args.drop)
    if args.color is not None and args.color not in args.columns:
        drop.append(args.color)
    X = frame.select(args.columns, drop).numbers()
    if args.metric == "precomputed" and args.squared:
        # The sign survives the root, so that a negative entry is refused as it should be.
        return np.asarray(np.sign(X) * np.sqrt(np.abs(X)))
    return X


def _colour(frame: Frame, name: str | None) -> np.ndarray | None:
    return None if name is None else frame.values(name)


def _files(
    learned: Any, args: Namespace, colour: np.ndarray | None, record: Mapping[str, Any]
) -> dict[Path, Writer]:
    files: dict[Path, Writer] = {}
    Y = learned.embedding_
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


def _record(learned: Any, args: Namespace, X: Array) -> dict[str, Any]:
    graph = learned.graph_
    return learned.solution_.record() | {
        "method": args.method,
        "isometry": str(args.isometry),
        "data": {"file": args.file.name, "shape": list(X.shape)},
        "graph": {"made by": str(graph.provenance), "n": graph.n, "edges": graph.m},
        "n_components": args.n_components,
        "eigenvalues": learned.eigenvalues_.tolist(),
    }


def _tell(learned: Any, args: Namespace, record: Mapping[str, Any]) -> None:
    if not (args.out or args.figure or args.record):
        note("nothing is written: --out, --figure and --record say where to.")
    if args.json:
        say_json(record)
        return
    graph, spectrum = learned.graph_, learned.eigenvalues_
    share = spectrum[: args.n_components].sum() / spectrum.sum()
    size = f"{graph.n} nodes and {graph.m} edges"
    say(f"{args.file.name}: {len(learned.embedding_)} points, graph of {size}")
    say(f"{args.n_components} dimensions hold {share:.2%} of the variance\n")
    say(facts(learned.solution_))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _relation(text: str) -> Relation:
    try:
        return parse_relation(text)
    except (UnknownNameError, ModelError) as error:
        raise ArgumentTypeError(str(error)) from error
