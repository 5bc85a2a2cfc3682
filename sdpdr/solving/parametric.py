"""Models that are solved again as their parameters change: in turn, or in parallel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

from sdpdr.base.errors import DataTypeError, ShapeError
from sdpdr.base.progress import Progress, show_count
from sdpdr.model import Block, Model
from sdpdr.model.parameters import Parameter, parameter_of
from sdpdr.program.run import Status
from sdpdr.program.solution import Solution
from sdpdr.solvers.registry import find
from sdpdr.solving.options import as_model
from sdpdr.solving.portfolio import SETTLED
from sdpdr.solving.solve import solve

# A model that is forgotten takes its answer along.
_LAST: WeakKeyDictionary[Model, Solution] = WeakKeyDictionary()


def solve_again(model: Model, **options: Any) -> Solution:
    """Solve a model, from the last answer where its solver can begin there (see `Model.solve`).

    If that proves nothing, `sdpdr.solve` solves the model.

    Parameters
    ----------
    model : Model
    **options
        As for `sdpdr.solve`.

    Returns
    -------
    Solution
    """
    last = _LAST.get(model)
    solution = None
    if last is not None and not {"solver", "form", "via", "start"} & options.keys():
        solution = _from(model, last, options)
    if solution is None:
        solution = solve(model, **options)
    if solution.values:
        _LAST[model] = solution
    return solution


def _from(model: Model, last: Solution, options: Mapping[str, Any]) -> Solution | None:
    """The answer of the solver that answered last, from there; None if it is not proved."""
    if last.status is not Status.SOLVED or last.form in ("landmark", "cvxpy"):
        return None
    if not find(last.solver).takes_start:
        return None
    try:
        solution = solve(model, last.solver, last.form, start=last, **options)
    except ShapeError:  # a parameter has changed which rows are kept
        return None
    return solution if solution.status in (*SETTLED, Status.INTERRUPTED) else None


def solve_many(
    model: Model | Block,
    values: Mapping[str | Parameter, Sequence[Any]] | Iterable[Mapping[str | Parameter, Any]],
    *,
    n_jobs: int = 1,
    progress: Progress | bool | None = None,
    **options: Any,
) -> list[Solution]:
    """Solve a model for many values of its parameters.

    Parameters
    ----------
    model : Model
    values : mapping from parameter to sequence, or iterable of mappings
        A grid, of which all combinations are solved, the last parameter changing fastest; or the
        values of each solve.
    n_jobs : int, default 1
        Processes at a time; -1 for as many as there are processors. One process begins each solve
        with the answer to the one before.
    progress : bool or callable, optional
        Show progress; by default on a terminal only.
    **options
        As for `sdpdr.solve`.

    Returns
    -------
    list of Solution
        In the order of the values. The parameters have their old values afterwards.

    Raises
    ------
    DataTypeError
        If a grid has no sequence of values, or a solve no mapping.
    UnknownNameError
        If the model has no such parameter.

    Examples
    --------
    >>> from sdpdr import solve_many
    >>> from sdpdr import maximize, parameter, psd
    >>> K = psd("K", 2)
    >>> width = parameter("width", value=1.0)
    >>> model = maximize(K.trace()) + (K.diagonal() <= width)
    >>> [round(s.value, 4) for s in solve_many(model, {"width": [1.0, 2.0, 4.0]})]
    [2.0, 4.0, 8.0]
    """
    model = as_model(model)
    known = model.parameters()
    cases = [
        {parameter_of(known, p).name: value for p, value in case.items()} for case in _cases(values)
    ]
    before = {name: p.value for name, p in known.items() if p.has_value}
    with show_count(progress, "solve", len(cases)) as count:
        try:
            if n_jobs == 1:
                return [_counted(_solved(model, case, options), count) for case in cases]
            import joblib

            pool = joblib.Parallel(n_jobs=n_jobs, return_as="generator")
            solved = pool(joblib.delayed(_solved)(model, case, options) for case in cases)
            return [_counted(solution, count) for solution in solved]
        finally:
            for name, value in before.items():
                known[name].value = value


def _cases(values: Any) -> list[Mapping[Any, Any]]:
    if not isinstance(values, Mapping):
        return [_as_case(case) for case in values]
    for name, several in values.items():
        if not isinstance(several, Iterable) or isinstance(several, str):
            called = name.name if isinstance(name, Parameter) else name
            raise DataTypeError(
                f"solve_many takes a sequence of values for each parameter; {called!r} was "
                f"given {several!r}. Write [{several!r}] for one value."
            )
    return [dict(zip(values, case, strict=True)) for case in product(*values.values())]


def _as_case(case: Any) -> Mapping[Any, Any]:
    if not isinstance(case, Mapping):
        raise DataTypeError(
            "solve_many takes a grid, {'lam': [0.1, 1.0]}, or a mapping for each solve, [{'lam': "
            f"0.1}}, {{'lam': 1.0}}]; it was given {case!r} in place of a mapping."
        )
    return case


def _solved(model: Model, case: Mapping[str, Any], options: Mapping[str, Any]) -> Solution:
    for name, value in case.items():
        model.parameters()[name].value = value
    return solve_again(model, **options)


def _counted(solution: Solution, count: Any) -> Solution:
    count(1)
    return solution
