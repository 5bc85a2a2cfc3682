"""What a fitted estimator found: for the terminal, as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from math import isfinite
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.table import Table

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError
from sdpdr.base.progress import working
from sdpdr.base.rows import counted, rows_of
from sdpdr.families.unfold.estimators.sampled import completed, drawn
from sdpdr.graphs import choose_k
from sdpdr.lab.cli.methods import Method, find_method
from sdpdr.lab.cli.options import Exit, exit_of_status
from sdpdr.lab.cli.terminal import grid, info
from sdpdr.program import Status
from sdpdr.program.report import facts
from sdpdr.program.run import shown
from sdpdr.solving.iterate.records import IterationStatus


@dataclass(frozen=True, eq=False)
class FittedRows:
    """An estimator that was fitted to a table, or to some of its rows.

    Attributes
    ----------
    learned : estimator
    Y : array of shape (n, d)
        Coordinates of all rows.
    rows : array of int
        The rows of the fit.
    remarks : tuple of str
        What was chosen automatically, in words.
    """

    learned: Any
    Y: Array
    rows: Index
    remarks: tuple[str, ...] = ()

    @property
    def is_sample(self) -> bool:
        """Whether some rows were placed by a map."""
        return len(self.rows) < len(self.Y)

    @property
    def embedded(self) -> np.ndarray:
        """For every row whether it was one of the fit."""
        return np.isin(np.arange(len(self.Y)), self.rows)

    def lines(self) -> list[str]:
        """The remarks, and how well the other rows were placed."""
        if not self.is_sample:
            return list(self.remarks)
        words = f"{counted(len(self.rows), 'row')} embedded, {len(self.Y) - len(self.rows)} placed"
        extension = getattr(self.learned, "extension_", None)
        if extension is not None:
            words += (
                f" by the {extension.name} map, which misses points left out of it by "
                f"{extension.error:.1%} of the spread"
            )
        return [*self.remarks, words]


def fitted(
    estimator: Any, X: Array, beside: Mapping[str, Any], args: SimpleNamespace
) -> FittedRows:
    """Fit an estimator to all rows, or to ``--sample`` of them, and place the others.

    Raises
    ------
    DataError
        The method takes rows in order of time, or there are distances only.
    """
    rows = _sampled(len(X), args)
    chosen: tuple[str, ...] = ()
    if args.n_neighbors == "auto":
        working("choosing the number of neighbours")
        choice = choose_k(X[rows], metric=estimator.metric)
        estimator.n_neighbors = choice.n_neighbors
        chosen = (f"{counted(choice.n_neighbors, 'neighbour')}: {choice.reason}",)
    working(f"embedding {counted(len(rows), 'row')}")
    if args.sample is not None and hasattr(estimator, "sample"):
        estimator.sample, rows = args.sample, np.arange(len(X))  # it draws the same ones
    if len(rows) < len(X):
        beside = {name: np.asarray(value)[rows] for name, value in beside.items()}
    with rows_of(rows):
        learned = estimator.fit(X[rows], **beside)
    if not hasattr(learned, "embedding_"):
        return FittedRows(learned, np.asarray(learned.transform(X)), rows, chosen)
    Y = learned.embedding_
    if len(rows) < len(X):
        working(f"placing {counted(len(X) - len(rows), 'row')}")
        Y = completed(Y, rows, learned.transform(X))
    sample = getattr(learned, "sample_", None)
    return FittedRows(learned, Y, rows if sample is None else rows[sample], chosen)


def _sampled(n: int, args: SimpleNamespace) -> Index:
    """The rows to fit."""
    if args.sample is None or args.sample >= n:
        if args.sample is not None and args.sample > n:
            rows = "is 1 row, which is" if n == 1 else f"are {n} rows, and all of them are"
            info(f"--sample {args.sample}: there {rows} embedded.")
        return np.arange(n)
    if args.metric == "precomputed":
        raise DataError("--sample places rows by their coordinates, and these are distances.")
    if find_method(args.method).steps and (args.actions or args.sequences):
        raise DataError("--sample draws single rows, and --actions is about rows in order of time.")
    return drawn(n, args.sample, args.seed or 0)


def exit_of(learned: Any) -> Exit:
    """Return the exit code: of a metric by its gap, of an iteration also by how it ended."""
    if hasattr(learned, "gap_"):
        return Exit.OK if learned.gap_ <= learned.tol_ else Exit.UNCERTIFIED
    code = exit_of_status(learned.solution_.status)
    if not hasattr(learned, "iteration_"):
        return code
    ended = learned.iteration_.status
    if ended is IterationStatus.INTERRUPTED:
        return Exit.INTERRUPTED
    return code or (Exit.OK if ended is IterationStatus.SETTLED else Exit.UNCERTIFIED)


def record(learned: Any, method: Method) -> dict[str, Any]:
    """Return the answer, hyperparameters and further results of the method, ready for JSON."""
    found = _graded(learned)
    found["hyperparameters"] = {k: _plain(v) for k, v in learned.get_params(deep=False).items()}
    if hasattr(learned, "graph_"):
        graph = learned.graph_
        found["graph"] = {"made by": str(graph.provenance), "n": graph.n, "edges": graph.m}
    if hasattr(learned, "eigenvalues_"):
        found["eigenvalues"] = learned.eigenvalues_.tolist()
    if hasattr(learned, "iteration_"):
        state = learned.iteration_
        found["iteration"] = {
            "status": state.status.name,
            "advice": state.status.advice,
            "objective": _plain(state.objective),
            "bound": _plain(state.bound),
            "gap": _plain(state.gap),
        }
    found["results"] = {
        name.rstrip("_"): _plain(getattr(learned, name))
        for name in method.results
        if hasattr(learned, name)
    }
    return found


def lines(learned: Any, method: Method, Y: Array) -> list[str]:
    """Return what is printed before the grade, a line for each."""
    found = []
    spectrum = getattr(learned, "eigenvalues_", np.zeros(0))
    if method.spectrum and spectrum.sum() > 0.0:
        share = spectrum[: Y.shape[1]].sum() / spectrum.sum()
        hold = "holds" if Y.shape[1] == 1 else "hold"
        dimensions = counted(Y.shape[1], "dimension")
        found.append(f"{dimensions} {hold} {share:.2%} of the {method.spectrum}")
    if hasattr(learned, "trust_"):
        away = np.sqrt(np.nanmax(learned.trust_))
        found.append(
            f"{counted(learned.anchors_.size, 'point')} known; the others are at most {away:.3g} "
            "away from the space of the coordinates"
        )
    for name, words in method.results.items():
        value = getattr(learned, name, None)
        if value is not None and np.ndim(value) == 0:
            found.append(f"{words}: {value:.6g}")
    if hasattr(learned, "iteration_"):
        state = learned.iteration_
        found.append(f"iteration: {state.status.name}, objective {shown(state.objective)}")
        found.append("the grade below is that of its last program")
    return found


def grade(learned: Any) -> Table:
    """Return value, bound and gap; of an iteration, those of its last program."""
    if not hasattr(learned, "gap_"):
        return grid(facts(learned.solution_))
    return grid(
        {
            "value": shown(learned.value_),
            "bound": f"{shown(learned.bound_)} ({learned.argument_})",
            "gap": f"{shown(learned.gap_, '.1e')}, aimed at {learned.tol_:.0e}",
            "solver": str(learned.solver),
        }
    )


def _graded(learned: Any) -> dict[str, Any]:
    if not hasattr(learned, "gap_"):
        return dict(learned.solution_.record())
    status = Status.INACCURATE if exit_of(learned) else Status.SOLVED
    return {
        "status": status.name,
        "advice": status.advice,
        "solver": str(learned.solver),
        "tol": learned.tol_,
        "value": _plain(learned.value_),
        "bound": _plain(learned.bound_),
        "gap": _plain(learned.gap_),
        "argument": learned.argument_,
        "certified": status is Status.SOLVED,
    }


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: no infinities, no NumPy types, relations in words."""
    if isinstance(value, np.ndarray):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: _plain(asdict(value))}
    return str(value)
