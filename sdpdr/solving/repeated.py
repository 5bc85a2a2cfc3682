"""Models that are solved again as their parameters change: warm, in parallel, with derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import (
    CompileError,
    DataError,
    NonUniqueWarning,
    ShapeError,
    UnknownNameError,
    warn,
)
from sdpdr.base.progress import Progress, show_count
from sdpdr.linalg import svec
from sdpdr.model import Block, Model
from sdpdr.model.parameters import Parameter
from sdpdr.program.point import Point
from sdpdr.program.residuals import dimacs_errors
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Solver
from sdpdr.solvers.registry import find
from sdpdr.solvers.tolerance import check_options
from sdpdr.solving.again.slopes import Optimum
from sdpdr.solving.again.warm import Warm, solved_warm
from sdpdr.solving.solve import solve

_KINK = (
    "the optimal value has no derivative by {!r} here, since its multipliers or its point are not "
    "unique: this is one of several slopes"
)
# Newton's method is not asked any more after so many times that it led nowhere.
_MISSES = 2
# DIMACS errors of points that are solutions of other numbers.
_STALE = 1e-4
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
    tol = Solver.tol if options.get("tol") is None else options["tol"]
    check_options({"tol": tol})
    found = solved_warm(model.to_sdp(), memory.warm, memory.solution, tol)
    if found is None:
        return None
    solution = replace(found[0], of_model=True)
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
    settled = (Status.SOLVED, Status.INFEASIBLE, Status.UNBOUNDED, Status.INTERRUPTED)
    return solution if solution.status in settled else None


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
    model = _whole(model)
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


def sensitivity(model: Model | Block, solution: Solution, parameter: str | Parameter) -> Array:
    r"""Derivative of the optimal value by a parameter, from the multipliers.

    At the optimum, the derivative of the value is that of the Lagrangian

    .. math:: L(x, y; p) = f(x; p) + y^T (A(x; p) - b(p)) - \langle Z, G(x; p) \rangle

    at the point and the multipliers (the envelope theorem), which is affine in every parameter.
    Newton's method makes both precise first, unless the program is too large for it: the
    multipliers are then as precise as those of the solution.

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
    NotSmoothError
        If the program has no interior at the present values because of this parameter, as where a
        limit is zero: the value may change on one side only, or not at a rate. A face that does not
        depend on the parameter does no harm.
    DataError
        If the solution has no point or no multipliers, or was found at other values of parameters
        and is too far from the optimum now for Newton's method.

    Warns
    -----
    NonUniqueWarning
        Where there is no derivative, since several multipliers or points are optimal and do not
        agree: what is returned is one of several slopes.

    Examples
    --------
    >>> from sdpdr import maximize, parameter, psd
    >>> K = psd("K", 2)
    >>> width = parameter("width", value=1.0)
    >>> model = maximize(K.trace()) + (K.diagonal() <= width)
    >>> round(float(sensitivity(model, model.solve(), width)), 6)
    2.0
    """
    model = _whole(model)
    found = _parameter(model, parameter)
    program = model.to_sdp
    here = _lagrangian(program(), solution)
    try:
        precise = Optimum(model, solution)
    except DataError:
        _require_present(model.to_sdp(), solution)  # whose multipliers have to do
    else:
        program = precise.reduced
        solution = precise.solution
        here = _lagrangian(precise.sdp, solution)
        if not precise.has_slope(found):
            warn(_KINK.format(found.name), NonUniqueWarning)
    value = found.value
    slopes = np.empty(found.size)
    try:
        for k in range(found.size):
            # Up, since weights must stay positive; of an affine function any step is exact.
            step = max(1.0, abs(value.flat[k]))
            moved = value.copy()
            moved.flat[k] += step
            found.value = moved
            slopes[k] = (_lagrangian(program(), solution) - here) / step
    finally:
        found.value = value
    sign = -1.0 if solution.maximize else 1.0
    return sign * slopes.reshape(found.shape)


def derivative(
    model: Model | Block, solution: Solution, parameter: str | Parameter
) -> dict[str, Array]:
    """Derivative of the optimal point by a parameter, by the theorem of implicit functions.

    The point and its multipliers solve the conditions of optimality, whose derivative says how both
    move as the parameter does (`sdpdr.solving.again.slopes`).

    Parameters
    ----------
    model : Model
    solution : Solution
        An answer to it at the present values of its parameters.
    parameter : str or Parameter

    Returns
    -------
    dict from the name of a variable to array
        Of the parameter's shape and then the variable's: entry ``[k, i, j]`` is the derivative of
        ``K[i, j]`` by entry k of the parameter.

    Raises
    ------
    UnknownNameError
        If the model has no such parameter.
    NotSmoothError
        Where there is no derivative: the point is not unique, a slack and its multiplier are both
        zero, rows that depend on each other come apart, or the program has no interior.
    DataError
        If the program is too large, or the solution far from the optimum.

    References
    ----------
    Agrawal, Barratt, Boyd, Busseti, Moursi, "Differentiating through a cone program", J. Appl.
    Numer. Optim. 1(2), 2019.

    Examples
    --------
    >>> import sdpdr
    >>> K = sdpdr.psd("K", 2)
    >>> width = sdpdr.parameter("width", value=4.0)
    >>> model = sdpdr.maximize(K.sum()) + (K[0, 0] <= width) + (K[1, 1] <= 1.0)
    >>> (sdpdr.derivative(model, model.solve(), width)["K"] + 0.0).round(4)
    array([[1.  , 0.25],
           [0.25, 0.  ]])
    """
    model = _whole(model)
    return Optimum(model, solution).derivative(_parameter(model, parameter))


def _whole(model: Model | Block) -> Model:
    """A goal alone is a model of its own."""
    return Model((model,)) if isinstance(model, Block) else model


def _parameter(model: Model, parameter: str | Parameter) -> Parameter:
    """That of the model with the name.

    Raises
    ------
    UnknownNameError
    """
    known = model.parameters()
    name = parameter.name if isinstance(parameter, Parameter) else parameter
    if name not in known:
        raise UnknownNameError("parameter", name, known)
    return known[name]


def _require_present(sdp: SDP, solution: Solution) -> None:
    """Refuse a solution of other values of parameters.

    Raises
    ------
    DataError
    """
    error = dimacs_errors(sdp, Point(solution.values, solution.duals)).worst()
    if error > max(_STALE, 10.0 * solution.residuals.worst()):
        raise DataError(
            f"the solution is none at the present values of the parameters (DIMACS error "
            f"{error:.0e}): solve the model again, and ask for the derivative of that."
        )


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
