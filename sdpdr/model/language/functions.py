"""The convex and concave functions of expressions that models are written with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from sdpdr.base.arrays import Array, as_real, as_whole
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.model.affine import Affine
from sdpdr.model.arithmetic import Arithmetic, hint
from sdpdr.model.language.curved import Convex
from sdpdr.model.language.norms import (
    Largest,
    Length,
    MatrixFrac,
    Nuclear,
    QuadOverLin,
    Spectral,
)
from sdpdr.model.language.pieces import Part, SmoothPart
from sdpdr.model.language.prices import Priced
from sdpdr.model.language.spectra import (
    LargestEigenvalue,
    LargestEigenvalues,
    LargestValues,
    LessMean,
    LessRootDet,
)
from sdpdr.model.language.statements import is_symmetric, svec_of
from sdpdr.model.smooth import (
    Given,
    LessEntropy,
    LessLogDet,
    LessSumLog,
    Logistic,
    LogSumExp,
    SumExp,
)

Kind = Literal["fro", "nuc", "inf", 1, 2] | float

# A form whose matrix has both signs by more than this, relatively, is neither convex nor concave.
_SIGN = 1e-12


def norm(expression: Any, kind: Kind | None = None) -> Convex:
    r"""A norm of an expression, which is convex.

    ===========  ====================================  ==============================
    ``kind``     of a vector, or any array              of a matrix
    ===========  ====================================  ==============================
    none         :math:`\sqrt{\sum v_i^2}`              :math:`\sqrt{\sum X_{ij}^2}`
    ``"fro"``    the same                               the same
    ``"nuc"``                                           sum of the singular values
    2            :math:`\sqrt{\sum v_i^2}`              largest singular value
    1            :math:`\sum |v_i|`
    ``"inf"``    :math:`\max |v_i|`
    ===========  ====================================  ==============================

    Parameters
    ----------
    expression : expression of any shape
    kind : {"fro", "nuc", "inf", 1, 2}, optional
        ``numpy.inf`` is ``"inf"``.

    Returns
    -------
    Convex
        One number.

    Raises
    ------
    ModelError
        If there is no such norm, or of no such shape.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, norm, scalar
    >>> v = scalar("v", 2)
    >>> model = minimize(norm(v - [3.0, 0.0])) + (v[0] == v[1])
    >>> round(sdpdr.solve(model).value, 5)
    2.12132
    """
    of = _taken("norm", expression)
    kind = "inf" if kind == np.inf else kind
    is_matrix = len(of.shape) == 2
    if kind in (None, "fro") or (kind == 2 and not is_matrix):
        return _convex(Length(of))
    if kind in ("nuc", 2):
        if not is_matrix:
            raise ShapeError(f"norm(X, {kind!r}) is of a matrix; this expression is {of.shape}.")
        return _convex(Nuclear(of) if kind == "nuc" else Spectral(of))
    if kind not in (1, "inf"):
        raise ModelError(f"norm knows 'fro', 'nuc', 'inf', 1 and 2; it was given {kind!r}.")
    if is_matrix:
        raise ShapeError(
            f"norm(X, {kind!r}) of a matrix means different things to different people; "
            "norm(X.reshape(-1), ...) is over all entries."
        )
    return Priced(of, "absolute").sum() if kind == 1 else _convex(Largest(of))


def lambda_max(expression: Any) -> Convex:
    """The largest eigenvalue of a symmetric matrix, which is convex.

    Parameters
    ----------
    expression : expression of shape (n, n)

    Raises
    ------
    ModelError, ShapeError
        If it is no symmetric matrix.

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> from sdpdr import lambda_max, minimize, scalar
    >>> t = scalar("t")
    >>> signs = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> model = minimize(lambda_max(np.diag([1.0, -1.0]) + t * signs)) + (t >= 1.0)
    >>> round(sdpdr.solve(model).value, 5)
    1.41421
    """
    return _convex(LargestEigenvalue(_symmetric("lambda_max", expression)))


def lambda_min(expression: Any) -> Convex:
    """The smallest eigenvalue of a symmetric matrix, which is concave (see `lambda_max`).

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import lambda_min, maximize, psd
    >>> K = psd("K", 3)
    >>> round(sdpdr.solve(maximize(lambda_min(K)) + (K.trace() <= 1.0)).value, 5)
    0.33333
    """
    return _concave(LargestEigenvalue(-_symmetric("lambda_min", expression)))


def sum_largest(expression: Any, k: int) -> Convex:
    """The sum of the k largest values of a vector, or eigenvalues of a matrix; convex.

    Parameters
    ----------
    expression : expression of shape (m,), or symmetric of shape (n, n)
    k : int
        At least 1, at most m or n.

    Raises
    ------
    ModelError, ShapeError
        If k is out of range, or a matrix is not symmetric.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, scalar, sum_largest
    >>> v = scalar("v", 4)
    >>> model = minimize(sum_largest(v, 2)) + (v >= [1.0, 4.0, 2.0, 3.0])
    >>> round(sdpdr.solve(model).value, 5)
    7.0
    """
    of = _taken("sum_largest", expression)
    if len(of.shape) not in (1, 2):
        raise ShapeError(
            f"sum_largest takes a vector or a symmetric matrix; this expression is {of.shape}."
        )
    k = as_whole("k", k)
    if not 1 <= k <= of.shape[0]:
        raise ModelError(f"sum_largest of {of.shape[0]} takes k in 1..{of.shape[0]}; it is {k}.")
    if len(of.shape) == 1:
        return _convex(LargestValues(of, k))
    return _convex(LargestEigenvalues(_symmetric("sum_largest", expression), k))


def geo_mean(expression: Any) -> Convex:
    r"""The geometric mean of values, :math:`(v_1 \cdots v_m)^{1/m}`, which is concave.

    The values are thereby kept at least zero.

    Parameters
    ----------
    expression : expression of any shape

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import geo_mean, maximize, scalar
    >>> v = scalar("v", 2)
    >>> model = maximize(geo_mean(v)) + (2.0 * v[0] + v[1] <= 4.0)
    >>> round(sdpdr.solve(model).value, 5)
    1.41421
    """
    return _concave(LessMean(_taken("geo_mean", expression)))


def root_det(expression: Any) -> Convex:
    r"""The n-th root of a determinant, :math:`(\det S)^{1/n}`, which is concave.

    S is thereby kept positive semidefinite. It grows with `log_det`, and as a matrix inequality of
    order 2n it is certified like any other.

    Parameters
    ----------
    expression : expression of shape (n, n)

    Raises
    ------
    ModelError, ShapeError
        If it is no symmetric matrix.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import maximize, psd, root_det
    >>> K = psd("K", 2)
    >>> model = maximize(root_det(K)) + (K.diagonal() <= [4.0, 1.0])
    >>> round(sdpdr.solve(model).value, 5)
    2.0
    """
    return _concave(LessRootDet(_symmetric("root_det", expression)))


def sum_squares(expression: Any) -> Convex:
    """The sum of the squares of all values, which is convex: ``square(v).sum()``.

    Parameters
    ----------
    expression : expression of any shape

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, scalar, sum_squares
    >>> v = scalar("v", 3)
    >>> round(sdpdr.solve(minimize(sum_squares(v)) + (v.sum() == 3.0)).value, 5)
    3.0
    """
    return Priced(_taken("sum_squares", expression), "square").sum()


def quad_form(expression: Any, matrix: Any) -> Convex:
    r"""The form :math:`v^T P v` of a vector: convex for :math:`P \succeq 0`, or concave.

    Parameters
    ----------
    expression : expression of shape (m,)
    matrix : array_like of shape (m, m)
        P, symmetric, without eigenvalues of both signs.

    Raises
    ------
    ModelError
        If P is not symmetric, has eigenvalues of both signs, or is zero.
    ShapeError
        If shapes do not fit.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, quad_form, scalar
    >>> v = scalar("v", 2)
    >>> model = minimize(quad_form(v, [[2.0, 1.0], [1.0, 2.0]])) + (v.sum() == 2.0)
    >>> round(sdpdr.solve(model).value, 5)
    6.0
    """
    if isinstance(matrix, Arithmetic):
        raise ModelError(
            "quad_form takes an expression and a matrix of numbers; the form of a vector of "
            "numbers is linear in the matrix, S.quadratic(v)."
        )
    of, P = _taken("quad_form", expression), as_real(matrix)
    P = P.toarray() if hasattr(P, "toarray") else P
    if len(of.shape) != 1 or P.shape != 2 * of.shape:
        raise ShapeError(
            f"quad_form takes shapes (m,) and (m, m); it was given {of.shape}, {P.shape}."
        )
    size = float(np.max(np.abs(P), initial=0.0))
    if np.max(np.abs(P - P.T), initial=0.0) > _SIGN * size:
        raise ModelError("quad_form takes a symmetric matrix; write (P + P.T) / 2.")
    spectrum, vectors = np.linalg.eigh((P + P.T) / 2.0)
    sign = 1.0 if spectrum.sum() > 0.0 else -1.0
    if np.min(sign * spectrum, initial=0.0) < -_SIGN * P.shape[0] * size or size == 0.0:
        raise ModelError(
            "quad_form takes a matrix, not zero, without eigenvalues of both signs; those of this "
            f"one lie in {spectrum[0]:.3g}..{spectrum[-1]:.3g}."
        )
    kept = sign * spectrum > _SIGN * size
    roots = np.sqrt(np.abs(spectrum[kept]))[:, None] * vectors[:, kept].T
    return sign * sum_squares(roots @ of)


def quad_over_lin(expression: Any, over: Any) -> Convex:
    r"""A sum of squares over an expression, :math:`|v|^2 / t`, which is convex for t > 0.

    Parameters
    ----------
    expression : expression of any shape
    over : expression of one value
        t, which is thereby kept at least zero.

    Raises
    ------
    ShapeError
        If `over` is not one number.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, quad_over_lin, scalar
    >>> v, t = scalar("v", 2), scalar("t")
    >>> model = minimize(quad_over_lin(v, t) + t) + (v == [3.0, 4.0])
    >>> round(sdpdr.solve(model).value, 5)
    10.0
    """
    of, below = _taken("quad_over_lin", expression), _taken("quad_over_lin", over)
    if below.m != 1:
        raise ShapeError(f"quad_over_lin divides by one number; this expression is {below.shape}.")
    return _convex(QuadOverLin(of, below.reshape(())))


def matrix_frac(expression: Any, matrix: Any) -> Convex:
    r"""Forms of an inverse, :math:`\operatorname{tr} V^T S^{-1} V`, convex for :math:`S \succ 0`.

    Parameters
    ----------
    expression : expression or array of shape (n,) or (n, q)
        V.
    matrix : expression of shape (n, n)
        S, which is thereby kept positive semidefinite.

    Raises
    ------
    ModelError, ShapeError
        If S is no symmetric matrix, or the shapes do not fit.

    Examples
    --------
    >>> import numpy as np, sdpdr
    >>> from sdpdr import matrix_frac, minimize, psd
    >>> S = psd("S", 2)
    >>> model = minimize(matrix_frac(np.eye(2), S)) + (S.trace() <= 1.0)
    >>> round(sdpdr.solve(model).value, 5)
    4.0
    """
    of, inverse = Affine.of(expression), _symmetric("matrix_frac", matrix)
    n = matrix.shape[0]
    if len(of.shape) not in (1, 2) or of.shape[0] != n:
        raise ShapeError(
            f"matrix_frac takes ({n},) or ({n}, q) with a matrix of order {n}; this is {of.shape}."
        )
    return _convex(MatrixFrac(of.reshape(n, -1), inverse))


def log_det(expression: Any) -> Convex:
    r"""The logarithm of a determinant, :math:`\log\det S`, which is concave.

    S is thereby kept positive definite. It is smooth and not semidefinite: a cvxpy solver with
    exponential cones finds the point, and a tangent,
    :math:`\log\det X \le \log\det S + \langle S^{-1}, X - S\rangle`, proves the bound.

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
    return _concave(SmoothPart(_symmetric("log_det", expression), LessLogDet()))


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
    return _convex(SmoothPart(_taken("log_sum_exp", expression), LogSumExp()))


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
    return _convex(SmoothPart(_taken("sum_exp", expression), SumExp()))


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
    return _convex(SmoothPart(_taken("sum_logistic", expression), Logistic()))


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
    return _concave(SmoothPart(_taken("sum_log", expression), LessSumLog()))


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
    return _concave(SmoothPart(_taken("entropy", expression), LessEntropy()))


def smooth(
    expression: Any,
    value: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    express: Callable[[Any], Any],
    name: str = "f",
) -> Convex:
    r"""A convex function of one's own, by what its tangents need.

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
    return _convex(SmoothPart(_taken("smooth", expression), Given(value, gradient, express, name)))


def _convex(part: Part) -> Convex:
    return Convex(Affine.of(0.0), ((1.0, part),))


def _concave(less: Part) -> Convex:
    return Convex(Affine.of(0.0), ((1.0, less),), -1.0)


def _taken(function: str, value: Any) -> Affine:
    if not isinstance(value, Arithmetic):
        raise ModelError(
            f"{function} takes an expression, affine in the variables; it was given a "
            f"{type(value).__name__}{hint(value)}."
        )
    of = value.affine()
    if not of.m:
        raise ShapeError(f"{function} takes at least one value; this expression is {of.shape}.")
    return of


def _symmetric(function: str, value: Any) -> Affine:
    """A symmetric matrix in svec coordinates."""
    of = _taken(function, value)
    if len(of.shape) != 2 or of.shape[0] != of.shape[1]:
        raise ShapeError(
            f"{function} takes a square symmetric matrix; this expression is {of.shape}."
        )
    if not is_symmetric(of):
        raise ModelError(
            f"{function} takes a symmetric matrix; write (A + A.T) / 2 for the symmetric part."
        )
    return svec_of(of)
