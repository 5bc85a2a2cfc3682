"""Models that are solved again as their parameters change: warm, in parallel, with derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError, UnknownNameError
from sdpdr.base.progress import Progress, show_count
from sdpdr.linalg import svec
from sdpdr.model import Model
from sdpdr.model.parameters import Parameter
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution, Status
from sdpdr.solvers.registry import find
from sdpdr.solving.solve import solve

# What a model was answered last; a model that is forgotten takes its answer along.
_LAST: WeakKeyDictionary[Model, Solution] = WeakKeyDictionary()


def solve_again(model: Model, **options: Any) -> Solution:
    """Solve a model, with what is known from the last time (see `Model.solve`).

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
        solution = _as_before(model, last, options)
    if solution is None:
        solution = solve(model, **options)
    if solution.values:
        _LAST[model] = solution
    return solution


def _as_before(model: Model, last: Solution, options: Mapping[str, Any]) -> Solution | None:
    """The answer of the solver that answered last, from there; None if it is not proved."""
    if last.status is not Status.SOLVED or last.form == "landmark":
        return None
    start = last if find(last.solver).takes_start and last.form != "cvxpy" else None
    try:
        solution = solve(model, last.solver, last.form, start=start, **options)
    except ShapeError:  # a parameter has changed which rows are kept
        return None
    settled = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED, Status.INTERRUPTED)
    return solution if solution.status in settled else None


def solve_many(
    model: Model,
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
    known = model.parameters()
    cases = [_named(known, case) for case in _cases(values)]
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
        return list(values)
    return [dict(zip(values, case, strict=True)) for case in product(*values.values())]


def _named(known: Mapping[str, Parameter], case: Mapping[Any, Any]) -> dict[str, Any]:
    """Values by name of parameter."""
    named = {p.name if isinstance(p, Parameter) else p: value for p, value in case.items()}
    for name in named:
        if name not in known:
            raise UnknownNameError("parameter", name, known)
    return named


def _solved(model: Model, case: Mapping[str, Any], options: Mapping[str, Any]) -> Solution:
    for name, value in case.items():
        model.parameters()[name].value = value
    return solve_again(model, **options)


def _counted(solution: Solution, count: Any) -> Solution:
    count(1)
    return solution


def sensitivity(model: Model, solution: Solution, parameter: str | Parameter) -> Array:
    r"""Derivative of the optimal value by a parameter, from the multipliers.

    At the optimum, the derivative of the value is that of the Lagrangian

    .. math:: L(x, y; p) = f(x; p) + y^T (A(x; p) - b(p)) - \langle Z, G(x; p) \rangle

    at the point and the multipliers (the envelope theorem), which is affine in every parameter.
    It is right where the optimum is differentiable, and one of several slopes elsewhere.

    Parameters
    ----------
    model : Model
    solution : Solution
        An answer to it at the present values of its parameters.
    parameter : str or Parameter

    Returns
    -------
    array of the parameter's shape

    Raises
    ------
    UnknownNameError
        If the model has no such parameter.
    DataError
        If the solution has no point or no multipliers.

    Examples
    --------
    >>> from sdpdr import maximize, parameter, psd
    >>> K = psd("K", 2)
    >>> width = parameter("width", value=1.0)
    >>> model = maximize(K.trace()) + (K.diagonal() <= width)
    >>> round(float(sensitivity(model, model.solve(), width)), 6)
    2.0
    """
    known = model.parameters()
    name = parameter.name if isinstance(parameter, Parameter) else parameter
    if name not in known:
        raise UnknownNameError("parameter", name, known)
    found = known[name]
    here, value = _lagrangian(model.to_sdp(), solution), found.value
    slopes = np.empty(found.size)
    try:
        for k in range(found.size):
            # Up, since weights must stay positive; of an affine function any step is exact.
            step = max(1.0, abs(value.flat[k]))
            moved = value.copy()
            moved.flat[k] += step
            found.value = moved
            slopes[k] = (_lagrangian(model.to_sdp(), solution) - here) / step
    finally:
        found.value = value
    sign = -1.0 if solution.maximize else 1.0
    return sign * slopes.reshape(found.shape)


def _lagrangian(sdp: SDP, solution: Solution) -> float:
    """That of the minimisation."""
    if not sdp.is_point(solution.values) or not sdp.is_dual_point(solution.duals):
        raise DataError(
            f"a derivative needs a point and all multipliers; this solution ({solution.status.name}"
            f" by {solution.solver}) lacks some."
        )
    total = sdp.primal_value(solution.values)
    for rows in sdp.rows:
        total -= float(solution.duals[rows.label] @ sdp.slack(rows, solution.values))
    for lmi in sdp.lmis:
        value = svec(sdp.lmi_value(lmi, solution.values))
        total -= float(svec(solution.duals[lmi.label]) @ value)
    return total
