"""Derivatives of optimal values and of optimal points by the parameters of a model."""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, NonUniqueWarning, UncertifiedWarning, warn
from sdpdr.model import Block, Model
from sdpdr.model.parameters import Parameter, parameter_of
from sdpdr.program.point import Point
from sdpdr.program.residuals import dimacs_errors
from sdpdr.program.solution import Solution
from sdpdr.solving.derivatives.optimum import Optimum
from sdpdr.solving.options import as_model

_KINK = (
    "the optimal value may have no derivative by {0!r} here: several multipliers or points are "
    "optimal, as far as doubles tell, and give different rates, one of which is returned. Solve "
    "at values of {0!r} to both sides for the rates there"
)
_UNCHECKED = (
    "the program is too large to check whether the optimal value has a derivative by {0!r} here: "
    "the rate that the multipliers of this solution give is returned. Compare it with solutions at "
    "values of {0!r} to both sides"
)
# DIMACS errors from which on a solution must belong to other parameter values.
_STALE = 1e-4


def sensitivity(model: Model | Block, solution: Solution, parameter: str | Parameter) -> Array:
    r"""Derivative of the optimal value by a parameter, from the multipliers.

    At the optimum, the derivative of the value is that of the Lagrangian

    .. math:: L(x, y; p) = f(x; p) + y^T (A(x; p) - b(p)) - \langle Z, G(x; p) \rangle

    at the point and the multipliers (the envelope theorem), which is affine in every parameter.
    Newton's method makes both precise first, and where several are optimal they must agree. If the
    program is too large for that, a warning says so, and the multipliers are those of the solution.
    Models with smooth costs, as `log_det`, are written over the cones of cvxpy.

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
        bound is zero: the value may change on one side only, or not at a rate. A face that does not
        depend on the parameter does no harm.
    DataError
        If the solution has no point or no multipliers, was found at other values of parameters and
        is too far from the optimum now, or if optimal points are unlimited.

    Warns
    -----
    NonUniqueWarning
        If several multipliers or points are optimal and give different rates, as where the value
        has a kink: one of these rates is returned.
    UncertifiedWarning
        If the program is too large to find out whether there is a derivative.

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
    optimum = Optimum(model, solution)
    changes = optimum.changes(found)
    if optimum.is_large:
        _require_present(model, solution)
        warn(_UNCHECKED.format(found.name), UncertifiedWarning)
    elif not optimum.agree(changes):
        warn(_KINK.format(found.name), NonUniqueWarning)
    sign = -1.0 if model.is_maximization else 1.0
    return sign * np.reshape([optimum.rate(change) for change in changes], found.shape)


def derivative(
    model: Model | Block, solution: Solution, parameter: str | Parameter
) -> dict[str, Array]:
    """Derivative of the optimal point by a parameter, by the theorem of implicit functions.

    The point and its multipliers solve the conditions of optimality, whose derivative says how both
    move as the parameter does (`sdpdr.solving.derivatives.kkt`).

    Parameters
    ----------
    model : Model
    solution : Solution
        An answer to it at the present values of its parameters.
    parameter : str or Parameter

    Returns
    -------
    dict from the name of a variable to array
        Arrays of the parameter's shape followed by the variable's: entry ``[k, i, j]`` is the
        derivative of ``K[i, j]`` by entry k of the parameter.

    Raises
    ------
    UnknownNameError
        If the model has no such parameter.
    CompileError
        If a block is written in cvxpy directly, so that the model has no standard form.
    NotSmoothError
        Where there is no derivative: the point is not unique, a slack and its multiplier are both
        zero, or so small that doubles do not tell which of them is, constraints that depend on each
        other come apart, or the program has no interior.
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
    >>> sdpdr.derivative(model, model.solve(), width)["K"].round(4) + 0.0
    array([[1.  , 0.25],
           [0.25, 0.  ]])
    """
    model = as_model(model)
    return Optimum(model, solution).derivative(parameter_of(model.parameters(), parameter))


def _require_present(model: Model, solution: Solution) -> None:
    """Refuse a solution at other values of parameters."""
    if model.is_smooth:  # solved anew
        return
    error = dimacs_errors(model.to_sdp(), Point(solution.values, solution.duals)).worst()
    if error > max(_STALE, 10.0 * solution.residuals.worst()):
        raise DataError(
            f"the solution is none at the present values of the parameters (DIMACS error "
            f"{error:.0e}): solve the model again, and ask for the derivative of that."
        )
