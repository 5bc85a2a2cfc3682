"""The semidefinite functions of expressions that models are written with."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sdpdr.base.arrays import as_real, as_whole
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.linalg.spectral import form_root
from sdpdr.model.affine import Affine
from sdpdr.model.arithmetic import Operators
from sdpdr.model.language.curved import Convex, concave, convex
from sdpdr.model.language.norms import (
    Largest,
    Length,
    MatrixFrac,
    Nuclear,
    QuadOverLin,
    Spectral,
)
from sdpdr.model.language.pieces import symmetric_taken, taken
from sdpdr.model.language.prices import Priced
from sdpdr.model.language.spectra import (
    LargestEigenvalue,
    LargestEigenvalues,
    LargestValues,
    LessMean,
    LessRootDet,
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
    of = taken("norm", expression)
    kind = "inf" if kind == np.inf else kind
    is_matrix = len(of.shape) == 2
    if kind in (None, "fro") or (kind == 2 and not is_matrix):
        return convex(Length(of))
    if kind in ("nuc", 2):
        if not is_matrix:
            raise ShapeError(f"norm(X, {kind!r}) is of a matrix; this expression is {of.shape}.")
        return convex(Nuclear(of) if kind == "nuc" else Spectral(of))
    if kind not in (1, "inf"):
        raise ModelError(f"norm knows 'fro', 'nuc', 'inf', 1 and 2; it was given {kind!r}.")
    if is_matrix:
        raise ShapeError(
            f"norm(X, {kind!r}) of a matrix means different things to different people; "
            "norm(X.reshape(-1), ...) is over all entries."
        )
    return Priced(of, "absolute").sum() if kind == 1 else convex(Largest(of))


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
    return convex(LargestEigenvalue(symmetric_taken("lambda_max", expression)))


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
    return concave(LargestEigenvalue(-symmetric_taken("lambda_min", expression)))


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
    of = taken("sum_largest", expression)
    if len(of.shape) not in (1, 2):
        raise ShapeError(
            f"sum_largest takes a vector or a symmetric matrix; this expression is {of.shape}."
        )
    k = as_whole("k", k)
    if not 1 <= k <= of.shape[0]:
        raise ModelError(f"sum_largest of {of.shape[0]} takes k in 1..{of.shape[0]}; it is {k}.")
    if len(of.shape) == 1:
        return convex(LargestValues(of, k))
    return convex(LargestEigenvalues(symmetric_taken("sum_largest", expression), k))


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
    return concave(LessMean(taken("geo_mean", expression)))


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
    return concave(LessRootDet(symmetric_taken("root_det", expression)))


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
    return Priced(taken("sum_squares", expression), "square").sum()


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
    if isinstance(matrix, Operators):
        raise ModelError(
            "quad_form takes an expression and a matrix of numbers; the form of a vector of "
            "numbers is linear in the matrix, S.quadratic(v)."
        )
    of, P = taken("quad_form", expression), as_real(matrix)
    P = P.toarray() if hasattr(P, "toarray") else P
    if len(of.shape) != 1 or P.shape != 2 * of.shape:
        raise ShapeError(
            f"quad_form takes shapes (m,) and (m, m); it was given {of.shape}, {P.shape}."
        )
    size = float(np.max(np.abs(P), initial=0.0))
    if np.max(np.abs(P - P.T), initial=0.0) > _SIGN * size:
        raise ModelError("quad_form takes a symmetric matrix; write (P + P.T) / 2.")
    sign = 1.0 if np.trace(P) > 0.0 else -1.0
    root, least = form_root(sign * P)
    if least < -_SIGN or size == 0.0:
        values = np.linalg.eigvalsh(P)
        raise ModelError(
            "quad_form takes a matrix, not zero, without eigenvalues of both signs; those of this "
            f"one lie in {values[0]:.3g}..{values[-1]:.3g}."
        )
    return sign * sum_squares(root @ of)


def quad_over_lin(expression: Any, over: Any) -> Convex:
    r"""A sum of squares over an expression, :math:`|v|^2 / t`, which is convex for t > 0.

    Parameters
    ----------
    expression : expression or numbers of any shape
        ``quad_over_lin(1.0, t)`` is the inverse of t.
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
    of, below = Affine.of(expression), taken("quad_over_lin", over)
    if below.m != 1:
        raise ShapeError(f"quad_over_lin divides by one number; this expression is {below.shape}.")
    return convex(QuadOverLin(of, below.reshape(())))


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
    of, inverse = Affine.of(expression), symmetric_taken("matrix_frac", matrix)
    n = matrix.shape[0]
    if len(of.shape) not in (1, 2) or of.shape[0] != n:
        raise ShapeError(
            f"matrix_frac takes ({n},) or ({n}, q) with a matrix of order {n}; this is {of.shape}."
        )
    return convex(MatrixFrac(of.reshape(n, -1), inverse))
