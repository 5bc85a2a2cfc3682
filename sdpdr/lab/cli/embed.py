"""``sdpdr embed``: a table of the user's, embedded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from math import isfinite
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.base.progress import enter_phase
from sdpdr.base.rows import counted, rows_of, rows_of_file
from sdpdr.families.regress.maps import KINDS
from sdpdr.families.unfold.estimators.sampled import drawn
from sdpdr.graphs import choose_k
from sdpdr.lab.cli import app, columns, methods, terminal
from sdpdr.lab.cli.app import PATH, WHOLE, Exit, Parsed, option
from sdpdr.lab.cli.columns import DividedTable
from sdpdr.lab.cli.methods import IN_WORDS, METHODS, PLACES, SOME_CLASSES, Method
from sdpdr.lab.cli.outputs import (
    about,
    check_outputs,
    coordinate_names,
    output_options,
    writers_of,
)
from sdpdr.lab.cli.saved import SUFFIX, model_of
from sdpdr.lab.cli.terminal import echo, info
from sdpdr.lab.tables.distances import square_table
from sdpdr.lab.tables.table import Table
from sdpdr.model.blocks.isometry import RELATIONS, as_relation
from sdpdr.program import Status
from sdpdr.program.run import shown
from sdpdr.solving.iterate.records import IterationStatus

# Attributes that metrics have in place of a solution.
_GRADED = ("tol", "value", "bound", "gap", "argument")
_EXAMPLES = """\
sdpdr embed data.csv --n-neighbors 6 --out embedding.csv
sdpdr embed iris.csv --drop species --color species --connect mst --figure iris.svg
sdpdr embed arrays.npz --key X --isometry band:0.01 --out embedding.npy
sdpdr embed distances.npy --metric precomputed --out embedding.tsv --record run.json
sdpdr embed iris.csv --method colored_mvu --labels species --connect mst --out y.csv
sdpdr embed walk.csv --method are --actions turn --set inverse=left:right --out y.csv
sdpdr embed data.csv --method density_map --set variant=trace --out y.csv
gunzip -c data.csv.gz | sdpdr embed - --out embedding.csv
sdpdr embed wine.csv.gz --color cultivar --scale standard --figure
sdpdr embed gaps.csv --metric precomputed --method distance_completion --out y.csv
sdpdr embed large.csv --sample 2000 --out y.csv --figure y.svg --save large.npz
"""


def _neighbors(text: str) -> int | str:
    if text != "auto" and not (text.isdecimal() and int(text)):
        raise ValueError
    return text if text == "auto" else int(text)


_DATA = app.apply_all(
    option("--metric", "cosine: of directions; precomputed: the table holds distances, as a "
           "square, a sparse graph, or two points and their distance in each line "
           "(default: euclidean).", type=click.Choice(("euclidean", "cosine", "precomputed"))),
    option("--scale", "Units of columns: standard (mean and deviation; so is --scale alone) or "
           "robust (median and quartiles); (default: none, and a warning if spreads are far "
           "apart).", type=click.Choice(columns.SCALES), is_flag=False, flag_value="standard"),
    app.list_option("--labels A,B,...", "Classes, numbers or known coordinates, for methods that "
                    "need them. These columns and those of the next two are not coordinates of "
                    "points.", app.NAMES),
    option("--labels-as", "auto: whole numbers and words are classes, other numbers numbers.",
           type=click.Choice(methods.LABELS_AS)),
    option("--actions COLUMN", "What was done between each row and the next; empty: not known."),
    option("--sequences COLUMN", "Rows with the same entry are one sequence."),
)  # fmt: skip
_METHOD = app.apply_all(
    option("--method NAME", ", ".join(METHODS), default="mvu", show_default=True),
    option("--n-components D", "Dimensions (default: 2).", type=WHOLE),
    option("--n-neighbors K", "A number, or auto, which chooses one that suits the data (default: "
           "6, of a sample auto).",
           type=Parsed("K", _neighbors, "a whole number from 1 on, or auto")),
    option("--isometry HOW", f"{', '.join(RELATIONS)} (default: inequality).",
           type=Parsed("HOW", as_relation)),
    option("--connect", "A disconnected graph is joined by several edges (the default) or by its "
           "shortest missing ones, cut down to its largest part, or refused.",
           type=click.Choice(("bridges", "mst", "largest", "error"))),
    option("--sample N", "Embed N rows, drawn by --seed, and place the others by a map (default: "
           "all rows).", type=WHOLE),
    option("--extension KIND", f"The map: {', '.join(KINDS)} (default: kernel)."),
    option("--set KEY=VALUE", "A hyperparameter of the method, see below; repeat it for several.",
           type=Parsed("KEY=VALUE", methods.assignment, "KEY=VALUE"), multiple=True),
)  # fmt: skip


@app.command(
    "embed",
    _EXAMPLES,
    click.argument("file", metavar="FILE", type=PATH),
    columns.reading_options(),
    _DATA,
    _METHOD,
    output_options("The embedding"),
    option("--record PATH", "Value, bound, gap, residuals, timings, versions: .json.", type=PATH),
    option("--save PATH", f"A map, for `sdpdr transform`: {SUFFIX}.", type=PATH),
    app.AS_JSON,
    app.VERBOSE,
    app.solver_options("that of the method; none with --solver or --form"),
    keywords=methods.KEYWORDS,
    epilog=f"\n\n\b\nmethods:\n{methods.described()}",
)
def embed_command(args: SimpleNamespace) -> int:
    """Embed a table of points or distances.

    FILE has one row per point: CSV, TSV or other text, perhaps compressed, NPY, NPZ or Parquet; -
    is text from the standard input. All files are written, or after an error none.
    """
    check_outputs(args, [args.file], record=(".json",), save=(SUFFIX,))
    _check_options(args)
    method = methods.find_method(args.method)
    estimator = methods.made(args, _given(args, method))
    read = columns.read(args)
    if args.metric == "precomputed":
        read = _as_square(read, args)
    enter_phase(f"preparing {counted(len(read), 'row')}")
    needed = () if method.labels in (PLACES, SOME_CLASSES) else args.labels
    table = columns.divide(read, args, _side_columns(args), needed)
    X, names = table.X, table.coordinates
    beside = methods.side_inputs(table.table, args)
    with about(read.file), rows_of_file(read.lines, names), rows_of(table.rows):
        scaling = columns.scaling(args.scale if args.metric != "precomputed" else "none", X, names)
        scaled = scaling(X)
        remarks = _choose_neighbors(estimator, scaled, args)
        enter_phase(f"embedding {counted(args.sample or len(X), 'row')}")
        learned = estimator.fit(scaled, **beside)
        has_places = hasattr(learned, "embedding_")
        Y = np.asarray(learned.embedding_ if has_places else learned.transform(scaled))
    places = coordinate_names(Y.shape[1], args.labels if method.labels == PLACES else ())
    record = _record(learned, Y, args, table)
    if "y" in beside:
        record["side"]["read_as"] = methods.in_words(beside["y"])
    how: dict[str, np.ndarray] = {}
    if "sample" in record["data"]:
        embedded = np.isin(np.arange(len(Y)), learned.sample_)
        how["how"] = np.where(embedded, "embedded", "placed")
    files = writers_of(args, table, Y, places, how)
    if args.record is not None:
        files[args.record] = terminal.record_writer(record)
    if args.save is not None:
        files[args.save] = model_of(learned, scaled, scaling, names, args.method, places).writer()
    terminal.write_all(files)
    if not files:
        info("nothing is written: --out, --figure, --record and --save say where to.")
    if args.json:
        terminal.echo_json(record)
        return _exit_of(learned)
    is_metric = hasattr(learned, "gap_")
    said = learned.report(details=True) if is_metric and args.verbose else record["report"]
    echo(f"{table.table.file}: {app.translated(said)}\n")
    for line in _lines(learned, Y, record, remarks):
        echo(line)
    if args.verbose and not is_metric:
        app.print_proofs(learned.solution_)
    return _exit_of(learned)


def _side_columns(args: SimpleNamespace) -> list[str]:
    """Columns that are not coordinates unless ``--columns`` names them."""
    return [*args.labels, *(name for name in (args.actions, args.sequences) if name is not None)]


def _check_options(args: SimpleNamespace) -> None:
    """Refuse options that do not go together, before a table is read and reported on."""
    about_coordinates = {
        "--missing drop": args.missing == "drop",
        f"--scale {args.scale}": args.scale not in (None, "none"),
        "--sample": args.sample is not None,
    }
    for words, given in about_coordinates.items():
        if given and args.metric == "precomputed":
            raise DataError(f"{words} is about coordinates; these are distances: leave it out.")
    if args.metric == "cosine" and args.save is not None:
        raise NotAcceptedError(
            "--save keeps maps of coordinates, and --metric cosine compares directions. Leave one "
            "out; --sample places rows by a map also of directions."
        )


def _given(args: SimpleNamespace, method: Method) -> dict[str, Any]:
    """Hyperparameters that have options of their own, where these were used."""
    app.given_solver_options(args)  # refuses options that do not go together
    placing = args.sample or args.save
    if args.extension is None and placing and args.metric != "precomputed" and method.extends:
        args.extension = "kernel"
    # The six nearest rows of a sample lie further away, perhaps on another sheet of a roll.
    if args.n_neighbors is None and args.sample and method.extends:
        args.n_neighbors = "auto"
    given = vars(args) | {"random_state": args.seed}
    return {name: given[name] for name in methods.FLAGS if given[name] is not None}


# -- distances ------------------------------------------------------------------------------------


def _as_square(table: Table, args: SimpleNamespace) -> Table:
    """A table of distances as a square one; pairs of points with a column of their names."""
    table.require([*args.columns, *args.drop])
    beside = {*args.drop, *args.id, args.color, *_side_columns(args), *table.index}
    chosen = list(args.columns) or [name for name in table.columns if name not in beside]
    found = square_table(table, chosen)
    if found is None:
        return table
    info(f"{table.file}: {found.remarks[0]}.")
    args.columns, args.drop = [], []
    return found


# -- results --------------------------------------------------------------------------------------


def _choose_neighbors(estimator: Any, X: Array, args: SimpleNamespace) -> list[str]:
    """Choose the number of neighbours of ``--n-neighbors auto``; return the reason."""
    if args.n_neighbors != "auto":
        return []
    enter_phase("choosing the number of neighbours")
    sampled = drawn(len(X), args.sample or len(X), args.seed or 0)
    choice = choose_k(X[sampled], metric=estimator.metric)
    estimator.n_neighbors = choice.n_neighbors
    return [f"{counted(choice.n_neighbors, 'neighbour')}: {choice.reason}"]


def _exit_of(learned: Any) -> Exit:
    """Return the exit code: of a metric by its gap, of an iteration also by its status."""
    if hasattr(learned, "gap_"):
        return Exit.OK if learned.gap_ <= learned.tol_ else Exit.UNCERTIFIED
    code = app.exit_of_status(learned.solution_.status)
    if not hasattr(learned, "iteration_"):
        return code
    ended = learned.iteration_.status
    if ended is IterationStatus.INTERRUPTED:
        return Exit.INTERRUPTED
    return code or (Exit.OK if ended is IterationStatus.SETTLED else Exit.UNCERTIFIED)


def _record(learned: Any, Y: Array, args: SimpleNamespace, table: DividedTable) -> dict[str, Any]:
    """The answer, hyperparameters and further results of the method, ready for JSON."""
    data: dict[str, Any] = {"file": table.table.file, "shape": list(table.X.shape)}
    sample = getattr(learned, "sample_", None)
    if sample is not None and len(sample) < len(Y):
        data["sample"] = len(sample)
    if table.set_aside:
        data["set_aside"] = table.set_aside
    if len(table.rows) < table.n_read:
        data["left_out"] = 1 + np.setdiff1d(np.arange(table.n_read), table.rows)
    record: dict[str, Any] = {}
    if hasattr(learned, "gap_"):
        status = Status.INACCURATE if _exit_of(learned) else Status.SOLVED
        record |= {"status": status.name, "advice": status.value, "solver": str(learned.solver)}
        found = {name: getattr(learned, f"{name}_") for name in _GRADED}
        record |= found | {"certified": status is Status.SOLVED}
    else:
        record |= learned.solution_.record()
    record["report"] = learned.report()
    record["hyperparameters"] = learned.get_params(deep=False)
    if hasattr(learned, "graph_"):
        graph = learned.graph_
        record["graph"] = {"made by": str(graph.provenance), "n": graph.n, "edges": graph.m}
    if hasattr(learned, "eigenvalues_"):
        record["eigenvalues"] = learned.eigenvalues_
    if hasattr(learned, "iteration_"):
        state = learned.iteration_
        numbers = {name: getattr(state, name) for name in ("objective", "bound", "gap")}
        words = {"status": state.status.name, "advice": state.status.advice}
        record["iteration"] = words | numbers
    wanted = methods.find_method(args.method).results
    results = [name for name in wanted if hasattr(learned, name)]
    side = {name: getattr(args, name) for name in ("labels", "labels_as", "actions", "sequences")}
    record |= {
        "results": {name.rstrip("_"): getattr(learned, name) for name in results},
        "method": args.method,
        "data": data,
        "n_components": Y.shape[1],
        "side": {name: value for name, value in side.items() if value},
    }
    return {name: _plain(value) for name, value in record.items()}


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: no infinities, no NumPy types, relations in words."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: _plain(asdict(value))}
    return str(value)


def _lines(
    learned: Any, Y: Array, record: Mapping[str, Any], remarks: Sequence[str]
) -> Iterator[str]:
    """Yield the lines that are printed below the report: how the embedding was found."""
    method, data, size = methods.find_method(record["method"]), record["data"], ""
    if graph := record.get("graph"):
        size = f", graph of {counted(graph['n'], 'node')} and {counted(graph['edges'], 'edge')}"
    yield f"{counted(len(Y), 'point')}{size}"
    if lost := int(np.sum(np.isnan(Y).any(axis=1))):
        yield f"{counted(lost, 'point')} outside of the largest component have no position"
    if "read_as" in record["side"]:
        yield f"labels in {', '.join(record['side']['labels'])}: {record['side']['read_as']}"
    yield from remarks
    if n := data.get("sample"):
        words = f"{counted(n, 'row')} embedded, {len(Y) - n} placed"
        if (extension := getattr(learned, "extension_", None)) is not None:
            words += (
                f" by the {extension.name} map, which misses points left out of it by "
                f"{extension.error:.1%} of the spread"
            )
        yield words
    for name in method.results:
        if name in IN_WORDS and (value := getattr(learned, name, None)) is not None:
            yield f"{IN_WORDS[name]}: {value:.6g}"
    if hasattr(learned, "iteration_"):
        state = learned.iteration_
        yield (
            f"iteration: {state.status.name}, objective {shown(state.objective)}; the optimisation "
            "is that of its last program"
        )
