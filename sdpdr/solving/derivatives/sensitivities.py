"""Derivatives of optimal values and of optimal points by the parameters of a model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NonUniqueWarning, warn
from sdpdr.linalg import svec
from sdpdr.model import Block, Model
from sdpdr.model.parameters import Parameter, parameter_of
from sdpdr.model.tangent import expansion_of, is_smooth
from sdpdr.model.terms import Smooth
from sdpdr.program.point import Point
from sdpdr.program.residuals import dimacs_errors
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.derivatives.cone import cone_program
from sdpdr.solving.derivatives.slopes import Optimum
from sdpdr.solving.options import as_model

_KINK = (
    "the optimal value has no derivative by {!r} here, since its multipliers or its point are not "
    "unique: this is one of several slopes"
)
_UNKNOWN = (
    "the smooth costs of the model have {} values, which are too many for second derivatives: take "
    "differences of two solutions instead. The optimal value has a derivative all the same, by "
    "`sensitivity`."
)
# Expansions, each at the optimum of the last, which are Newton steps for smooth costs.
_EXPANSIONS = 3
# Numbers of smooth costs up to which expansions take about a second.
_MANY = 300
# DIMACS errors from which on a solution must belong to other parameter values.
_STALE = 1e-4


def sensitivity(model: Model | Block, solution: Solution, parameter: str | Parameter) -> Array:
    r"""Derivative of the optimal value by a parameter, from the multipliers.

    At the optimum, the derivative of the value is that of the Lagrangian

    .. math:: L(x, y; p) = f(x; p) + y^T (A(x; p) - b(p)) - \langle Z, G(x; p) \rangle

    at the point and the multipliers (the envelope theorem), which is affine in every parameter.
    Newton's method makes both precise first, unless the program is too large for it: the
    multipliers are then as precise as those of the solution. Smooth costs, as `log_det`, are
    replaced by their second-order expansions at the optimum (`sdpdr.model.tangent.expansion_of`).

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
    CompileError
        If a block is written in cvxpy directly, so that the model has no standard form.
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
    >>> from sdpdr import sensitivity
    >>> from sdpdr import maximize, parameter, psd
    >>> K = psd("K", 2)
    >>> width = parameter("width", value=1.0)
    >>> model = maximize(K.trace()) + (K.diagonal() <= width)
    >>> round(float(sensitivity(model, model.solve(), width)), 6)
    2.0
    """
    model = as_model(model)
    found = parameter_of(model.parameters(), parameter)
    try:
        precise = precise_optimum(model, solution, _MANY)
    except DataError:  # use the solver's multipliers
        if is_smooth(model):
            model, solution = _expanded(model, solution, curved=False)
        program = model.to_sdp
        here = _lagrangian(program(), solution)
        _require_present(program(), solution)
    else:
        program = precise.reduced
        solution = precise.solution
        here = _lagrangian(precise.sdp, solution)
        if not precise.has_slope(found):
            warn(_KINK.format(found.name), NonUniqueWarning)
    slopes = found.at_each_entry(lambda step: (_lagrangian(program(), solution) - here) / step)
    sign = -1.0 if solution.maximize else 1.0
    return sign * np.reshape(slopes, found.shape)


def derivative(
    model: Model | Block, solution: Solution, parameter: str | Parameter
) -> dict[str, Array]:
    """Derivative of the optimal point by a parameter, by the theorem of implicit functions.

    The point and its multipliers solve the conditions of optimality, whose derivative says how both
    move as the parameter does (`sdpdr.solving.derivatives.slopes`).

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
    CompileError
        If a block is written in cvxpy directly, so that the model has no standard form.
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
    model = as_model(model)
    return precise_optimum(model, solution).derivative(parameter_of(model.parameters(), parameter))


def precise_optimum(model: Model, solution: Solution, most: float = float("inf")) -> Optimum:
    """The optimum, with expansions in place of smooth costs, to which Newton's method leads.

    Smooth costs of more values than ``most`` are refused with a `DataError`.
    """
    if not is_smooth(model):
        return Optimum(model, solution)
    count = sum(t.lhs.m for _, t in model.labelled_terms() if isinstance(t, Smooth))
    if count > most:
        raise DataError(_UNKNOWN.format(count))
    for _ in range(_EXPANSIONS):
        near, given = _expanded(model, solution)
        found = Optimum(near, given)
        solution = replace(solution, values=found.values)
    return found


def _expanded(model: Model, solution: Solution, *, curved: bool = True) -> tuple[Model, Solution]:
    """A model with the derivatives of one with smooth costs, and its solution."""
    if not all(v.name in solution.values for v in model.variables()):
        raise _lacking(solution)
    near = expansion_of(model, solution.values, curved=curved)
    # cvxpy keeps no values of what it adds, nor multipliers of it.
    point = cone_program(near.to_sdp()).solved()
    return near, replace(solution, values=point.values, duals=point.duals)


def _lacking(solution: Solution) -> DataError:
    """The error of a solution without a point or multipliers."""
    return DataError(
        f"a derivative needs a point and all multipliers; this solution ({solution.status.name}"
        f" by {solution.solver}) lacks some."
    )


def _require_present(sdp: SDP, solution: Solution) -> None:
    """Refuse a solution at other values of parameters."""
    error = dimacs_errors(sdp, Point(solution.values, solution.duals)).worst()
    if error > max(_STALE, 10.0 * solution.residuals.worst()):
        raise DataError(
            f"the solution is none at the present values of the parameters (DIMACS error "
            f"{error:.0e}): solve the model again, and ask for the derivative of that."
        )


def _lagrangian(sdp: SDP, solution: Solution) -> float:
    """The Lagrangian of the minimization."""
    if not sdp.is_point(solution.values) or not sdp.is_dual_point(solution.duals):
        raise _lacking(solution)
    total = sdp.primal_value(solution.values)
    for rows in sdp.rows:
        total -= float(solution.duals[rows.label] @ sdp.slack(rows, solution.values))
    for lmi in sdp.lmis:
        value = svec(sdp.lmi_value(lmi, solution.values))
        total -= float(svec(solution.duals[lmi.label]) @ value)
    return total
