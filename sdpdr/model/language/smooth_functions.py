"""The smooth functions of expressions that models are written with: goals, or parts of goals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError
from sdpdr.model.affine import Affine
from sdpdr.model.language.curved import Convex, concave, convex
from sdpdr.model.language.pieces import Built, Function, Point, symmetric_taken, taken, term_name
from sdpdr.model.smooth import (
    Given,
    LessEntropy,
    LessLogDet,
    LessSumLog,
    Logistic,
    LogSumExp,
    SmoothFunction,
    SumExp,
)
from sdpdr.model.terms import Called, Smooth


@dataclass(frozen=True, eq=False)
class SmoothPart(Function):
    """A smooth convex function, which has a price but cannot be limited.

    Parameters
    ----------
    of : Affine
    function : SmoothFunction

    Examples
    --------
    >>> from sdpdr.model.language import scalar
    >>> from sdpdr.model.smooth import LogSumExp
    >>> _, terms, left = SmoothPart(scalar("v", 3), LogSumExp()).priced("objective.0", 2.0)
    >>> terms[0].weight, left.constant
    (2.0, array([0.]))
    """

    function: SmoothFunction

    def called(self) -> Called:
        """The function as it is printed."""
        return Called(self.function.word, (self.of,))

    def value(self, values: Point) -> float:
        """The function at a point."""
        return float(self.function.value(self.of.at(values).ravel()))

    def limitable(self) -> NoReturn:
        """Refused: below a bound it has no semidefinite form."""
        hint = " Write root_det(S) >= c instead." if self.function.word == "log det" else ""
        raise ModelError(
            f"{self.function.word} is smooth, but not semidefinite: it can be a goal, or part of "
            f"one, and has no limit.{hint}"
        )

    def above(self, name: str) -> NoReturn:
        """Refused as well."""
        self.limitable()

    def priced(self, name: str, weight: float) -> Built:
        """The function at its price; nothing else is left to minimise."""
        flat = self.of.reshape(-1)
        term = Smooth(flat, self.function, weight, term_name(name, ""), written=flat)
        return [], [term], Affine.of(0.0)


def log_det(expression: Any) -> Convex:
    r"""The logarithm of a determinant, :math:`\log\det S`, which is concave.

    S is thereby kept positive definite. The function has no semidefinite form: a cvxpy solver with
    exponential cones finds the point, and value and bound are proved over these cones.

    Parameters
    ----------
    expression : expression of shape (n, n)

    Returns
    -------
    Convex
        For goals; `root_det` is for limits.

    Raises
    ------
    ModelError, ShapeError
        If it is no symmetric matrix.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import log_det, maximize, psd
    >>> K = psd("K", 2)
    >>> solution = sdpdr.solve(maximize(log_det(K)) + (K.diagonal() <= [4.0, 1.0]))
    >>> round(solution.value, 5), solution.certified(1e-6)
    (1.38629, True)
    """
    return concave(SmoothPart(symmetric_taken("log_det", expression), LessLogDet()))


def log_sum_exp(expression: Any) -> Convex:
    r"""The function :math:`\log \sum_i e^{v_i}` of all values, which is convex (see `log_det`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import log_sum_exp, minimize, scalar
    >>> v = scalar("v", 2)
    >>> model = minimize(log_sum_exp(v)) + (v.sum() == 2.0) + (v >= -9.0)
    >>> round(sdpdr.solve(model).value, 5)
    1.69315
    """
    return convex(SmoothPart(taken("log_sum_exp", expression), LogSumExp()))


def sum_exp(expression: Any) -> Convex:
    r"""The function :math:`\sum_i e^{v_i}` of all values, which is convex (see `log_det`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, scalar, sum_exp
    >>> t = scalar("t")
    >>> round(sdpdr.solve(minimize(sum_exp(t) - t) + (abs(t) <= 3.0)).value, 5)
    1.0
    """
    return convex(SmoothPart(taken("sum_exp", expression), SumExp()))


def sum_logistic(expression: Any) -> Convex:
    r"""The function :math:`\sum_i \log(1 + e^{v_i})`, which is convex (see `log_det`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, scalar, sum_logistic
    >>> t = scalar("t")
    >>> round(sdpdr.solve(minimize(sum_logistic(t) - 0.5 * t) + (abs(t) <= 3.0)).value, 5)
    0.69315
    """
    return convex(SmoothPart(taken("sum_logistic", expression), Logistic()))


def sum_log(expression: Any) -> Convex:
    r"""The function :math:`\sum_i \log v_i`, which is concave (see `log_det`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import maximize, scalar, sum_log
    >>> v = scalar("v", 2)
    >>> round(sdpdr.solve(maximize(sum_log(v)) + (v <= [2.0, 3.0])).value, 5)
    1.79176
    """
    return concave(SmoothPart(taken("sum_log", expression), LessSumLog()))


def entropy(expression: Any) -> Convex:
    r"""The function :math:`-\sum_i v_i \log v_i`, which is concave (see `log_det`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import entropy, maximize, scalar
    >>> v = scalar("v", 4, nonnegative=True)
    >>> round(sdpdr.solve(maximize(entropy(v)) + (v.sum() == 1.0)).value, 5)
    1.38629
    """
    return concave(SmoothPart(taken("entropy", expression), LessEntropy()))


def smooth(
    expression: Any,
    value: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    express: Callable[[Any], Any],
    name: str = "f",
) -> Convex:
    r"""A convex function of one's own, by its value, its gradient and cvxpy.

    Value and bound are proved of the function as ``express`` writes it.

    Parameters
    ----------
    expression : expression of any shape
        Its values reach the functions as a vector, row by row.
    value : callable
        Takes an array, returns a number.
    gradient : callable
        Takes an array, returns one of the same size.
    express : callable
        Takes a cvxpy expression, returns the function as cvxpy writes it.
    name : str, default "f"
        How it is printed.

    Examples
    --------
    >>> import cvxpy as cp, numpy as np, sdpdr
    >>> from sdpdr import minimize, scalar, smooth
    >>> v = scalar("v", 2)
    >>> fourth = smooth(
    ...     v, lambda x: np.sum(x**4), lambda x: 4.0 * x**3, lambda e: cp.sum(cp.power(e, 4))
    ... )
    >>> solution = sdpdr.solve(minimize(fourth) + (v.sum() == 2.0) + (abs(v) <= 5.0))
    >>> round(solution.value, 5), solution.certified(1e-6)
    (2.0, True)
    """
    return convex(SmoothPart(taken("smooth", expression), Given(value, gradient, express, name)))
