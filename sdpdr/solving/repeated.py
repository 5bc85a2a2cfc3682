"""Models that are solved again as their parameters change: warm, and many in parallel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

from sdpdr.base.errors import (
    CompileError,
    DataTypeError,
    ShapeError,
)
from sdpdr.base.progress import Progress, show_count
from sdpdr.model import Block, Model
from sdpdr.model.parameters import Parameter, parameter_of
from sdpdr.program.run import Status
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import tolerance
from sdpdr.solvers.registry import find
from sdpdr.solvers.tolerance import check_options
from sdpdr.solving.again.warm import Warm, solved_warm
from sdpdr.solving.asked import as_model
from sdpdr.solving.solve import solve
from sdpdr.solving.turns import SETTLED

# Newton's method is not asked any more after so many times that it led nowhere.
_MISSES = 2
# What it can be asked for, rather than a solver.
_OF_NEWTON = frozenset({"tol", "progress"})


@dataclass(frozen=True, eq=False)
class _Memory:
    """What a model was answered last.

    Attributes
    ----------
    solution : Solution
    solver, form : str
        Of the last answer by a solver.
    turns : int
        How many solvers were asked for it.
    warm : Warm or None
        Where Newton's method begins; None where it does not serve.
    misses : int
        How often it has led nowhere.
    """

    solution: Solution
    solver: str
    form: str
    turns: int
    warm: Warm | None
    misses: int = 0


# A model that is forgotten takes its answer along.
_LAST: WeakKeyDictionary[Model, _Memory] = WeakKeyDictionary()


def solve_again(model: Model, **options: Any) -> Solution:
    """Solve a model, with what is known from the last time (see `Model.solve`).

    Newton's method goes from the last answer to the new one, without any solver
    (`sdpdr.solving.again`); where it does not arrive, the solver that answered last is asked, and
    then `sdpdr.solve`, which alone is asked where it takes no longer.

    Parameters
    ----------
    model : Model
    **options
        As for `sdpdr.solve`.

    Returns
    -------
    Solution
    """
    memory = _LAST.get(model)
    misses = 0
    if memory is not None and not {"solver", "form", "via", "start"} & options.keys():
        solution = _by_newton(model, memory, options)
        if solution is not None:
            return solution
        misses = memory.misses + int(_is_for_newton(memory, options))
        solution = _as_before(model, memory, options)
        if solution is not None:
            if solution.values:
                warm = _warm(model, solution, misses)
                _LAST[model] = replace(memory, solution=solution, warm=warm, misses=misses)
            return solution
    solution = solve(model, **options)
    if solution.values:
        warm = _warm(model, solution, misses)
        turns = len(solution.runs)
        _LAST[model] = _Memory(solution, solution.solver, solution.form, turns, warm, misses)
    return solution


def _warm(model: Model, solution: Solution, misses: int) -> Warm | None:
    """Where Newton's method begins the next time."""
    if solution.status is not Status.SOLVED or misses >= _MISSES or not model.parameters():
        return None
    try:
        sdp = model.to_sdp()
    except CompileError:
        return None
    return Warm.of(sdp, solution)


def _is_for_newton(memory: _Memory, options: Mapping[str, Any]) -> bool:
    return memory.warm is not None and not options.keys() - _OF_NEWTON


def _by_newton(model: Model, memory: _Memory, options: Mapping[str, Any]) -> Solution | None:
    """The answer of Newton's method from the last one; None where that is no way."""
    if memory.warm is None or not _is_for_newton(memory, options):
        return None
    tol = tolerance("auto", options.get("tol"))
    check_options({"tol": tol})
    found = solved_warm(model.to_sdp(), memory.warm, memory.solution, tol)
    if found is None:
        return None
    solution = replace(found[0], of_model=True, shapes=model.shapes)
    _LAST[model] = replace(memory, solution=solution, warm=found[1])
    return solution


def _as_before(model: Model, memory: _Memory, options: Mapping[str, Any]) -> Solution | None:
    """The answer of the solver that answered last, from there; None if it is not proved.

    A solver that was asked first, and begins nowhere, is better left to `sdpdr.solve`.
    """
    last = memory.solution
    if last.status is not Status.SOLVED or memory.form == "landmark":
        return None
    start = last if find(memory.solver).takes_start and memory.form != "cvxpy" else None
    if start is None and memory.turns == 1:
        return None
    try:
        solution = solve(model, memory.solver, memory.form, start=start, **options)
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
