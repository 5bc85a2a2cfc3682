"""A solution in words and tables for people, and as a record for files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from math import isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.rows import counted
from sdpdr.program.point import Value, spectrum_of
from sdpdr.program.ray import LARGEST_RECORDED, Ray, listed
from sdpdr.program.residuals import Residuals
from sdpdr.program.run import Status, shown
from sdpdr.program.summary import summary

if TYPE_CHECKING:
    from sdpdr.program.solution import Solution
    from sdpdr.reduce import Exposure

# Slack relative to right-hand sides up to which constraints bind. Points certified to 1e-6 leave
# less in binding constraints, and seldom as little in others.
BINDING = 1e-4
# Share of the largest from which eigenvalues count for the rank.
_COUNTS = 1e-6
_WIDTH, _LINES = 100, 3
# Lines of a table, and numbers in a cell.
_ROWS, _NUMBERS = 6, 3

_EIGENVALUES = 5
_LARGEST = "largest multipliers (index: multiplier)"
_OF_VALUES = ("size", "rank", "eigenvalues, or least and largest scalar")

_ON_CARD = ("value", "attained", "bound", "gap", "solver")

_Line = tuple[str, ...]


def facts(solution: Solution) -> dict[str, str]:
    """What the solver claimed, what was verified, and how long it took, each with its name.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    dict from str to str

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> found = facts(sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))))
    >>> found["solver"], found["gap"].split(", ")[1]
    ('lowrank, factor form', '1e-06 requested')
    """
    claimed = solution.claimed
    iterations = (
        "" if claimed.iterations is None else f" in {counted(claimed.iterations, 'iteration')}"
    )
    words = f" ({claimed.message})" if claimed.message else ""
    said = {
        "status": summary(solution),
        "value": shown(solution.value),
        "attained": f"{shown(solution.attained)} ({solution.attained_by})",
        "bound": f"{shown(solution.bound)} ({solution.argument})",
        "gap": f"{shown(solution.gap, '.1e')}, {solution.tol:.0e} requested",
        "epsilon": shown(solution.epsilon, ".1e") if solution.epsilon else "",
        "ray": _ray(solution.ray),
        "faces": _faces(solution.exposures),
        "solver": f"{solution.solver}, {solution.form} form",
        "solver claimed": f"{claimed.status}{iterations}{words}",
        "DIMACS errors": _errors(solution.residuals),
        "seconds": _seconds(solution.timings),
    }
    return {name: text for name, text in said.items() if text not in ("", "none")}


def report(solution: Solution, details: bool = False) -> str:
    """See `Solution.report`."""
    direction = {} if solution.ray is None else solution.ray.values
    proofs = facts(solution)
    parts = [
        fill(proofs.pop("status"), _WIDTH),
        _paragraphs(proofs) if details else "",
        _table(("constraint", "binding", "missed by", _LARGEST), _rows(solution)),
        fill(_unknown(solution.duals), _WIDTH),
        _table(("constraint in the proof", "how many", _LARGEST), _proof(solution)),
        _table(("variable", *_OF_VALUES), _values(solution.values)),
        _table(("direction", *_OF_VALUES), _values(direction)),
    ]
    return "\n\n".join(part for part in parts if part)


def card(solution: Solution, picture: str = "") -> str:
    """The answer as a sentence and a table, with a picture beside them.

    Parameters
    ----------
    solution : Solution
    picture : str, optional
        A fragment of HTML.

    Returns
    -------
    str
        A fragment of HTML.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> text = card(sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0]))))
    >>> "<p>SOLVED: the maximum is 4.66667, proved optimal" in text
    True
    """
    shown = facts(solution)
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top">{name}</th>'
        f'<td style="text-align:left">{escape(shown[name])}</td></tr>'
        for name in _ON_CARD
        if name in shown
    )
    table = f"<p>{escape(shown['status'])}</p><table><tbody>{rows}</tbody></table>"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">'
        f'<div style="flex:1 1 24em;max-width:44em">{table}</div>{picture}</div>'
    )


# -- words ----------------------------------------------------------------------------------


def _ray(ray: Ray | None) -> str:
    return "" if ray is None else f"{ray.kind}, margin {ray.margin:.2g} ({ray.argument})"


def _faces(exposures: Sequence[Exposure]) -> str:
    if not exposures:
        return ""
    return f"proved by {counted(len(exposures), 'step')}, the last: {exposures[-1].words}"


def _unknown(duals: Mapping[str, Array]) -> str:
    """Why some constraints have no multipliers; empty if all have some."""
    labels = [repr(label) for label, y in duals.items() if np.isnan(y).any()]
    if not labels:
        return ""
    return (
        f"Constraints of {', '.join(labels)} that expose a face have no multipliers (nan): no "
        "multiple of them was found that makes the dual slack positive semidefinite, so the "
        "original dual may not attain the value."
    )


def _errors(residuals: Residuals) -> str:
    """The six DIMACS errors with their names; empty if none is known."""
    errors = asdict(residuals)
    if not any(map(isfinite, errors.values())):
        return ""
    return ", ".join(f"{name.replace('_', ' ')} {shown(x, '.0e')}" for name, x in errors.items())


def _seconds(timings: Mapping[str, float]) -> str:
    """Seconds of each phase that took some, and their sum."""
    phases = [f"{phase} {seconds:.2f}" for phase, seconds in timings.items() if seconds >= 0.005]
    return ", ".join([*phases, f"all {sum(timings.values()):.2f}"])


def _paragraphs(shown: Mapping[str, str]) -> str:
    """Names in one column, and their texts in another, on a few lines each."""
    indent = max(map(len, shown)) + 2
    return "\n".join(
        fill(
            text,
            _WIDTH,
            initial_indent=f"{name:<{indent}}",
            subsequent_indent=" " * indent,
            max_lines=_LINES,
            placeholder=" ...",
        )
        for name, text in shown.items()
    )


# -- tables ---------------------------------------------------------------------------------


def _table(heads: _Line, lines: Iterable[_Line]) -> str:
    """The first lines in columns under their heads; empty if there are no lines."""
    lines = list(lines)
    if not lines:
        return ""
    kept = [heads, *lines[:_ROWS]]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    text = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in kept
    ]
    more = len(lines) - _ROWS
    return "\n".join([*text, f"and {more} more"] if more > 0 else text)


def _rows(solution: Solution) -> Iterator[_Line]:
    """How many rows of each label bind, by how much one is missed, and the largest multipliers."""
    for label in dict.fromkeys([*solution.slacks, *solution.duals]):
        slack = solution.slacks.get(label)
        held = ("", "") if slack is None else _held(slack)
        yield (label, *held, _largest(solution.duals.get(label, np.zeros(0))))


def _held(slack: Array) -> tuple[str, str]:
    binding, missed = np.count_nonzero(np.abs(slack) <= BINDING), -np.min(slack, initial=0.0)
    return f"{binding} of {slack.size}", f"{missed:.0e}" if missed > 0.0 else "0"


def _proof(solution: Solution) -> Iterator[_Line]:
    """The rows that contradict each other: those of the ray, or of the last exposing step."""
    if solution.ray is not None:
        for label, y in solution.ray.duals.items():
            if np.any(y):
                yield label, f"{np.count_nonzero(y)} of {y.size}", _largest(y)
    elif solution.exposures and solution.status is Status.INFEASIBLE:
        multipliers = solution.exposures[-1].multipliers
        for label in dict.fromkeys(label for label, _, _ in multipliers):
            own = {e: float(y) for name, e, y in multipliers if name == label}
            yield label, f"{len(own)}", _listed(own)


def _largest(y: Array) -> str:
    """The multipliers of largest absolute value, by row; for a matrix, its trace."""
    if y.ndim == 2:
        return f"a matrix of trace {np.trace(y):.3g}"
    first = np.argsort(-np.abs(y), kind="stable")[:_NUMBERS]
    return _listed({int(e): float(y[e]) for e in first})


def _listed(numbers: Mapping[int, float]) -> str:
    """The largest first."""
    ordered = sorted(numbers.items(), key=lambda pair: -abs(pair[1]))
    return ", ".join(f"{e}: {y:.3g}" for e, y in ordered[:_NUMBERS])


def _values(values: Mapping[str, Value]) -> Iterator[_Line]:
    """Order, numerical rank and leading eigenvalues of matrices, number and range of scalars."""
    for name, value in values.items():
        if value.ndim == 2:
            n, spectrum = len(value), spectrum_of(value)[0]
            rank = np.count_nonzero(spectrum > _COUNTS * np.max(spectrum, initial=0.0))
            leading = ", ".join(f"{x:.3g}" for x in spectrum[: min(rank, _EIGENVALUES)])
            more = ", ..." if rank > _EIGENVALUES else ""
            yield name, f"{n} x {n}", f"{rank}", leading + more
        elif value.size:
            yield name, f"{value.size}", "", f"{np.min(value):.3g}, {np.max(value):.3g}"


_RECORDED = (
    *("advice", "solver", "form", "tol", "maximize", "of_model", "value", "attained"),
    *("attained_by", "bound", "gap", "argument", "rigorous", "gap_scale", "backward_error"),
    *("epsilon", "moved"),
)


def record(solution: Solution) -> dict[str, Any]:
    """See `Solution.record`."""
    return {
        "status": solution.status.name,
        **{name: _plain(getattr(solution, name)) for name in _RECORDED},
        "enclosure": solution.enclosure,
        "certified": solution.certified(),
        "ray": None if solution.ray is None else solution.ray.record(),
        "narrower": None if solution.narrower is None else solution.narrower.record(),
        "duals": _recorded(solution.duals),
        "residuals": {k: _plain(v) for k, v in asdict(solution.residuals).items()},
        "claimed": {k: _plain(v) for k, v in asdict(solution.claimed).items()},
        "timings": dict(solution.timings),
        "seed": solution.seed,
        "versions": dict(solution.versions),
        "exposures": [step.record() for step in solution.exposures],
        "runs": [run.record() for run in solution.runs],
        "history": [{k: _plain(v) for k, v in entry.items()} for entry in solution.history],
    }


def _recorded(duals: Mapping[str, Array]) -> dict[str, Any] | None:
    if sum(np.size(y) for y in duals.values()) > LARGEST_RECORDED:
        return None
    return {label: listed(y) for label, y in duals.items()}


def _plain(value: Any) -> Any:
    """Numbers that JSON supports: no infinities, no NumPy types."""
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
