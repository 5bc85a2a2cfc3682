"""The convex and concave functions of expressions that models are written with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, as_real, as_whole
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.linalg.spectral import form_root
from sdpdr.model.affine import Affine, Operators, defines_operator
from sdpdr.model.atoms import atom_of
from sdpdr.model.language.constraints import is_symmetric
from sdpdr.model.language.convex import AtomCall, Convex, call, convex
from sdpdr.model.language.penalties import Penalized, expression_of, largest

Kind = Literal["fro", "nuc", "inf", 1, 2] | float

# Relative size up to which eigenvalues of the wrong sign count as rounding errors.
_SIGN = 1e-12


def argument(function: str, value: Any) -> Affine:
    """An argument as an expression with at least one value; `function` is named in errors."""
    of = expression_of(function, value)
    if not of.m:
        raise ShapeError(f"{function} takes at least one value; this expression is {of.shape}.")
    return of


def symmetric_argument(function: str, value: Any) -> Affine:
    """An argument that is a symmetric matrix."""
    of = argument(function, value)
    if len(of.shape) != 2 or of.shape[0] != of.shape[1]:
        raise ShapeError(
            f"{function} takes a square symmetric matrix; this expression is {of.shape}."
        )
    if not is_symmetric(of):
        raise ModelError(
            f"{function} takes a symmetric matrix; write (A + A.T) / 2 for the symmetric part."
        )
    return of


@checks_keywords
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
        If there is no such norm, or none for this shape.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import minimize, norm, scalar
    >>> v = scalar("v", 2)
    >>> model = minimize(norm(v - [3.0, 0.0])) + (v[0] == v[1])
    >>> round(sdpdr.solve(model).value, 5)
    2.12132
    """
    of = argument("norm", expression)
    kind = "inf" if kind == np.inf else kind
    is_matrix = len(of.shape) == 2
    if kind in (None, "fro") or (kind == 2 and not is_matrix):
        more, values = ("fro",) if is_matrix else (2,), of if is_matrix else of.reshape(-1)
        return call("norm", values, more=more, squares=of, of_matrices=is_matrix)
    if kind in ("nuc", 2):
        if not is_matrix:
            raise ShapeError(f"norm(X, {kind!r}) is of a matrix; this expression is {of.shape}.")
        return call("norm", of, more=(kind,), shown=(str(kind),), of_matrices=True)
    if kind not in (1, "inf"):
        raise ModelError(f"norm takes 'fro', 'nuc', 'inf', 1 and 2; it was given {kind!r}.")
    if is_matrix:
        raise ShapeError(
            f"norm(X, {kind!r}) of a matrix is ambiguous; write norm(X.reshape(-1), {kind!r}) for "
            "the norm of all entries."
        )
    return Penalized(of, "absolute").sum() if kind == 1 else largest(of)


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
    return call("lambda_max", symmetric_argument("lambda_max", expression), of_matrices=True)


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
    of = symmetric_argument("lambda_min", expression)
    return call("lambda_min", of, sign=-1.0, of_matrices=True)


@defines_operator
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
    of = argument("sum_largest", expression)
    if len(of.shape) not in (1, 2):
        raise ShapeError(
            f"sum_largest takes a vector or a symmetric matrix; this expression is {of.shape}."
        )
    k = as_whole("k", k)
    if not 1 <= k <= of.shape[0]:
        raise ModelError(f"sum_largest of {of.shape[0]} takes k in 1..{of.shape[0]}; it is {k}.")
    if len(of.shape) == 1:
        if k == 1:
            return call("max", of)
        return call("sum_largest", of, more=(k,), shown=(str(k),))
    of, word = symmetric_argument("sum_largest", expression), "sum_largest"
    printed: Any = {"shown": (str(k),), "of_matrices": True}
    return call("lambda_sum_largest", of, more=(k,), named=word, **printed)


def geo_mean(expression: Any) -> Convex:
    r"""The geometric mean of values, :math:`(v_1 \cdots v_m)^{1/m}`, which is concave.

    The values are thereby constrained to be nonnegative.

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
    of = argument("geo_mean", expression).reshape(-1)
    return call("geo_mean", of, sign=-1.0, numeric=_geometric_mean)


def _geometric_mean(numbers: Any) -> float:
    """The geometric mean of numbers that are nonnegative up to rounding."""
    with np.errstate(divide="ignore"):
        return float(np.exp(np.mean(np.log(np.maximum(numbers, 0.0)))))


def root_det(expression: Any) -> Convex:
    r"""The n-th root of a determinant, :math:`(\det S)^{1/n}`, which is concave.

    S is thereby constrained to be positive semidefinite. The function increases with `log_det`.
    It becomes a matrix inequality of order 2n, which is certified like any other.

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
    of = symmetric_argument("root_det", expression)
    known: Any = {"numeric": _root_of_determinant, "named": "root_det", "of_matrices": True}
    return call(_below_root_det, of, sign=-1.0, **known)


def _below_root_det(S: Any) -> tuple[Any, list[Any]]:
    r"""The square root of the determinant in cvxpy, as the largest geometric mean of a diagonal.

    .. math:: (\det S)^{1/n} = \max_\Delta\ (\Delta_{11} \cdots \Delta_{nn})^{1/n}
              \quad\text{s.t.}\quad
              \begin{pmatrix} S & \Delta \\ \Delta^T & \operatorname{diag}(\Delta) \end{pmatrix}
              \succeq 0,\ \Delta \text{ lower triangular}.

    Nesterov and Nemirovskii, "Interior-point polynomial algorithms in convex programming", SIAM,
    1994, section 6.4.3.
    """
    import cvxpy as cp

    n = S.shape[0]
    i, j = np.tril_indices(n)
    ones = (np.ones(i.size), (i * n + j, np.arange(i.size)))
    spread = sp.csr_array(ones, shape=(n * n, i.size))
    delta = cp.reshape(spread @ cp.Variable(i.size), (n, n), order="C")
    diagonal = cp.diag(delta)
    rows = [cp.bmat([[S, delta], [delta.T, cp.diag(diagonal)]]) >> 0]
    # Delta_jj <= S_jj holds anyway. These redundant rows turn bounds on S into bounds on Delta, so
    # that bounds of the optimum can be proved.
    rows.append(diagonal <= 2.0 * cp.diag(S))
    return cp.geo_mean(diagonal), rows


def _root_of_determinant(S: Array) -> float:
    """The geometric mean of all eigenvalues."""
    return _geometric_mean(np.asarray(np.linalg.eigvalsh(S)))


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
    return Penalized(argument("sum_squares", expression), "square").sum()


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
        If the shapes do not match.

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
            "quad_form takes an expression and a matrix of numbers; if the vector is made of "
            "numbers, write S.quadratic(v), which is linear in S."
        )
    of, P = argument("quad_form", expression), as_real(matrix)
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
        t, which is thereby constrained to be nonnegative.

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
    of, below = Affine.of(expression), argument("quad_over_lin", over)
    if below.m != 1:
        raise ShapeError(f"quad_over_lin divides by one number; this expression is {below.shape}.")
    return call("quad_over_lin", of, below.reshape(()))


def matrix_frac(expression: Any, matrix: Any) -> Convex:
    r"""Forms of an inverse, :math:`\operatorname{tr} V^T S^{-1} V`, convex for :math:`S \succ 0`.

    Parameters
    ----------
    expression : expression or array of shape (n,) or (n, q)
        V.
    matrix : expression of shape (n, n)
        S, which is thereby constrained to be positive semidefinite.

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
    of, inverse = Affine.of(expression), symmetric_argument("matrix_frac", matrix)
    n = matrix.shape[0]
    if len(of.shape) not in (1, 2) or of.shape[0] != n:
        raise ShapeError(
            f"matrix_frac takes ({n},) or ({n}, q) with a matrix of order {n}; this is {of.shape}."
        )
    return call("matrix_frac", of.reshape(n, -1), inverse, of_matrices=True)


def log_det(expression: Any) -> Convex:
    r"""The logarithm of a determinant, :math:`\log\det S`, which is concave.

    S is thereby constrained to be positive definite. The function has no semidefinite form: a
    cvxpy solver with exponential cones finds the point, and value and bound are proved over these
    cones.

    Parameters
    ----------
    expression : expression of shape (n, n)

    Returns
    -------
    Convex
        For objectives only; use `root_det` in constraints.

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
    of = symmetric_argument("log_det", expression)
    known: Any = {"numeric": _log_of_determinant, "of_matrices": True}
    return call("log_det", of, sign=-1.0, **known)


def _log_of_determinant(S: Array) -> float:
    """The logarithm; cvxpy's is also defined if an even number of eigenvalues is negative."""
    return float(2.0 * np.sum(np.log(np.diag(np.linalg.cholesky(S)))))


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
    of = argument("log_sum_exp", expression)
    return call("log_sum_exp", of)


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
    of = argument("sum_exp", expression)
    return call("exp", of, named="sum_exp")


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
    of = argument("sum_logistic", expression)
    return call("logistic", of, named="sum_logistic")


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
    of = argument("sum_log", expression)
    return call("log", of, sign=-1.0, named="sum_log")


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
    of = argument("entropy", expression)
    return call("entr", of, sign=-1.0, named="entropy")


def atom(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    r"""A function of cvxpy of expressions, convex or concave as cvxpy finds it.

    Functions that cvxpy writes with linear constraints, second-order cones and matrix inequalities
    may be used in objectives and constraints. Functions of exponential or power cones may be used
    in objectives (see `log_det`). All are certified.

    Parameters
    ----------
    function : callable
        One of cvxpy's functions, or one that takes cvxpy expressions and returns one. If it has
        many values, their sum is meant. Such a sum cannot be bounded with ``<=``, which may be
        meant for each value; write the sum inside the function.
    *arguments
        Expressions first, among which numbers are constants; then the other arguments of the
        function.
    **options
        Passed to the function.

    Returns
    -------
    Convex or expression
        One number; an expression if the function is affine.

    Raises
    ------
    ModelError
        If cvxpy finds the function neither convex nor concave, or refuses the arguments.

    Examples
    --------
    >>> import cvxpy as cp, sdpdr
    >>> from sdpdr import atom, minimize, scalar
    >>> v = scalar("v", 3)
    >>> model = minimize(atom(cp.huber, v - [0.0, 1.0, 9.0], M=1.0)) + (v[:2] == v[1:])
    >>> solution = sdpdr.solve(model)
    >>> round(solution.value, 5), solution.certified(1e-6)
    (16.0, True)
    >>> total = atom(lambda e: cp.tv(e) + cp.sum_squares(e), v)
    >>> round(sdpdr.solve(minimize(total) + (v[0] == 1.0)).value, 5)
    1.875
    """
    count = max((k + 1 for k, a in enumerate(arguments) if isinstance(a, Operators)), default=0)
    if not count:
        raise ModelError(
            "atom(function, expression, ...) takes an expression, affine in the variables; it was "
            "given none."
        )
    name = getattr(function, "__name__", "f")
    word = "f" if name == "<lambda>" else name
    of = tuple(Affine.of(argument) for argument in arguments[:count])
    called = partial(function, **options) if options else function
    symmetric = tuple(map(is_symmetric, of))
    found = atom_of(called, tuple(x.shape for x in of), symmetric, arguments[count:], word)
    return _function(AtomCall(found, of))


def _function(part: AtomCall) -> Any:
    """The function as `Convex`; an expression if it is affine."""
    if part.atom.sign:
        return convex(part, part.atom.sign)
    zero = np.zeros(part.values.m)
    return part.values.combined(part.atom.gradient(zero)[None, :], ()) + part.atom.value(zero)
