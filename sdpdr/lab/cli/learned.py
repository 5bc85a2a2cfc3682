"""What a fitted estimator found, for the terminal, as JSON, and as an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from math import isfinite
from typing import Any

import numpy as np
from rich.table import Table

from sdpdr.base.arrays import Array
from sdpdr.lab.cli.console import grid
from sdpdr.lab.cli.methods import Method
from sdpdr.lab.cli.options import Exit, of_status
from sdpdr.program import Status
from sdpdr.program.report import facts
from sdpdr.program.run import shown
from sdpdr.solving.iterate.records import IterationStatus


def embedding(learned: Any, X: Array) -> Array:
    """Coordinates of the rows of X."""
    if hasattr(learned, "embedding_"):
        return np.asarray(learned.embedding_)
    return np.asarray(learned.transform(X))


def exit_of(learned: Any) -> Exit:
    """The exit code: of a metric by its gap, of an iteration by how it ended as well."""
    if hasattr(learned, "gap_"):
        return Exit.OK if learned.gap_ <= learned.tol_ else Exit.UNCERTIFIED
    code = of_status(learned.solution_.status)
    if not hasattr(learned, "iteration_"):
        return code
    ended = learned.iteration_.status
    if ended is IterationStatus.INTERRUPTED:
        return Exit.INTERRUPTED
    return code or (Exit.OK if ended is IterationStatus.SETTLED else Exit.UNCERTIFIED)


def record(learned: Any, method: Method) -> dict[str, Any]:
    """The answer, hyperparameters, and what the method found besides, ready for JSON."""
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
    """What there is to say before the grade, a line for each."""
    found = []
    spectrum = getattr(learned, "eigenvalues_", np.zeros(0))
    if method.spectrum and spectrum.sum() > 0.0:
        share = spectrum[: Y.shape[1]].sum() / spectrum.sum()
        found.append(f"{Y.shape[1]} dimensions hold {share:.2%} of the {method.spectrum}")
    if hasattr(learned, "trust_"):
        away = np.sqrt(np.nanmax(learned.trust_))
        found.append(
            f"{learned.anchors_.size} points known; the others are at most {away:.3g} away from "
            "the space of the coordinates"
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
    """Value, bound and gap; of an iteration, those of its last program."""
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
    program = {} if learned.solution_ is None else {"program": learned.solution_.record()}
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
        **program,
    }


def _plain(value: Any) -> Any:
    """As JSON knows it: no infinities, no NumPy types, relations in words."""
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
