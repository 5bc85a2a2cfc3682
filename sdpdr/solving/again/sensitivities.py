"""Derivatives of optimal values and of optimal points by the parameters of a model."""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import (
    CompileError,
    DataError,
    NonUniqueWarning,
    NotAcceptedError,
    UnknownNameError,
    warn,
)
from sdpdr.linalg import svec
from sdpdr.model import Block, Model
from sdpdr.model.parameters import Parameter
from sdpdr.program.point import Point
from sdpdr.program.residuals import dimacs_errors
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.again.slopes import Optimum
from sdpdr.solving.asked import as_model

_KINK = (
    "the optimal value has no derivative by {!r} here, since its multipliers or its point are not "
    "unique: this is one of several slopes"
)
# DIMACS errors of points that are solutions of other numbers.
_STALE = 1e-4


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
    NotAcceptedError
        If the model has no standard form, as with `log_det`.
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
    model = _lowered(model)
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
    slopes = found.at_each_entry(lambda step: (_lagrangian(program(), solution) - here) / step)
    sign = -1.0 if solution.maximize else 1.0
    return sign * np.reshape(slopes, found.shape)


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
    NotAcceptedError
        If the model has no standard form, as with `log_det`.
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
    model = _lowered(model)
    return Optimum(model, solution).derivative(_parameter(model, parameter))


def _lowered(given: Model | Block) -> Model:
    """The model, which has to have a standard form.

    Raises
    ------
    NotAcceptedError
    """
    model = as_model(given)
    try:
        model.to_sdp()
    except CompileError as error:
        raise NotAcceptedError(
            f"derivatives by parameters are of semidefinite programs, and {error} Take the "
            "difference of two solutions, at values of the parameter that are near."
        ) from None
    return model


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
