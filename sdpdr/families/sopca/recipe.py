"""Second-order PCA as semidefinite programs: the relaxation and its dual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.estimators import as_numbers
from sdpdr.base.keywords import checks_keywords
from sdpdr.model import Model
from sdpdr.model.language import maximize, minimize, psd, scalar, sum_largest


@checks_keywords
def sopca(X: ArrayLike, n_components: int | Sequence[int] = 2) -> Model:
    r"""The convex relaxation of second-order PCA.

    .. math::

        f_1 = \min_{P_i, Q_i}\ S_k\Big(\sum_i P_i\Big) + S_k\Big(\sum_i Q_i\Big)
        \quad\text{s.t.}\quad \begin{pmatrix} P_i & M_i \\ M_i^T & Q_i \end{pmatrix} \succeq 0 ,

    with :math:`S_k` the sum of the k largest eigenvalues. Every feasible point proves that no bases
    A, B of k orthonormal columns keep more than half its value of
    :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`. For a single matrix :math:`f_1 = 2 \sum_{i \le k}
    \sigma_i`. There is one variable of order p + q for each matrix of the stack;
    `sdpdr.bilinear.interior_point` solves the same program for thousands of matrices.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
        The matrices.
    n_components : int or pair of int, default 2
        k, at most min(p, q); or :math:`k_1 \le p` for the rows and :math:`k_2 \le q` for the
        columns.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError, ShapeError
        X is not a stack of matrices, or ``n_components`` is out of range.

    References
    ----------
    Tong thesis, (4.3) and (4.5), theorem 4.1.

    Examples
    --------
    >>> from sdpdr.methods import sopca
    >>> import sdpdr
    >>> model = sopca([[[3.0, 0.0], [0.0, 1.0]]], n_components=1)
    >>> round(sdpdr.solve(model, "clarabel").value, 5)
    6.0
    """
    stack, (k_rows, k_columns) = matrices_and_numbers(X, n_components)
    _, p, q = stack.shape
    lifts = [psd(f"W{i}", p + q) for i in range(len(stack))]
    rows, columns = (sum(W[s, s] for W in lifts) for s in (slice(p), slice(p, None)))
    split = [
        (W[:p, p:] == matrix).named(f"product.{i}")
        for i, (W, matrix) in enumerate(zip(lifts, stack, strict=True))
    ]
    goal = minimize(sum_largest(rows, k_rows) + sum_largest(columns, k_columns))
    return Model((goal, *split), name="sopca")


@checks_keywords
def sopca_dual(X: ArrayLike, n_components: int | Sequence[int] = 2) -> Model:
    r"""The dual of `sopca`, halved: projections relaxed to their convex hull.

    .. math::

        \tfrac12 f_1 = \max \sum_i \langle Z_i, M_i\rangle \quad\text{s.t.}\quad
        \begin{pmatrix} T_P & Z_i \\ Z_i^T & T_Q \end{pmatrix} \succeq 0, \quad
        0 \preceq T_P, T_Q \preceq I,\ \operatorname{tr} T_P = \operatorname{tr} T_Q = k .

    The text has the same value for both programs; it is half of :math:`f_1`. It asks for traces of
    at most k, which changes nothing, since a larger T keeps no less.

    Parameters
    ----------
    X, n_components
        As for `sopca`.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError, ShapeError
        As `sopca`.

    References
    ----------
    Tong thesis, (4.8) and theorem 4.4.

    Examples
    --------
    >>> from sdpdr.methods import sopca_dual
    >>> import sdpdr
    >>> model = sopca_dual([[[3.0, 0.0], [0.0, 1.0]]], n_components=1)
    >>> round(sdpdr.solve(model, "clarabel").value, 5)
    3.0
    """
    stack, (k_rows, k_columns) = matrices_and_numbers(X, n_components)
    _, p, q = stack.shape
    T_P, T_Q, Z = psd("T_P", p), psd("T_Q", q), scalar("Z", stack.size)
    fantopes = [
        *((T_P.trace() == float(k_rows)).named("trace_P"), (T_P << np.eye(p)).named("cap_P")),
        *((T_Q.trace() == float(k_columns)).named("trace_Q"), (T_Q << np.eye(q)).named("cap_Q")),
    ]
    kept = [
        (np.block([[T_P, part], [part.T, T_Q]]) >> 0.0).named(f"keep.{i}")
        for i, part in enumerate(Z.reshape(stack.shape))
    ]
    return Model((maximize(stack.ravel() @ Z), *fantopes, *kept), name="sopca_dual")


def matrices_and_numbers(
    X: ArrayLike, n_components: int | Sequence[int], *, center: bool = False
) -> tuple[Array, tuple[int, int]]:
    """The stack, centred on request and not all zero, and the numbers of columns of both bases."""
    stack = matrices(X)
    if center:
        # The mean of equal matrices is rounded, and the differences would pass for data.
        same = np.all(stack == stack[0])
        stack = np.zeros_like(stack) if same else stack - stack.mean(axis=0)
    if not np.any(stack):
        why = f" once the mean of n_samples={len(stack)} matrices is subtracted" if center else ""
        raise DataError(f"all entries of X are zero{why}. There is nothing that bases could keep.")
    return stack, numbers_of_components(n_components, stack.shape)


def matrices(X: ArrayLike) -> Array:
    """X as a stack of finite real matrices, shape (n, p, q)."""
    shapes = sorted({np.shape(matrix) for matrix in X}) if isinstance(X, Sequence) else []
    if len(shapes) > 1:
        raise ShapeError(
            f"all matrices must have one shape; X holds some of shape {shapes[0]} and some of "
            f"{shapes[1]}. Crop or pad them."
        )
    stack = as_numbers("X", X)
    if stack.ndim != 3 or not stack.size:
        advice = " Pass X[None] for a single matrix." if stack.ndim == 2 else ""
        raise ShapeError(
            f"X must have shape (n, p, q), n matrices of p rows and q columns; it has shape "
            f"{stack.shape}.{advice}"
        )
    if not np.all(np.isfinite(stack)):
        i, row, column = np.argwhere(~np.isfinite(stack))[0]
        raise DataError(
            f"Input X contains NaN or infinity: X[{i}, {row}, {column}] = "
            f"{stack[i, row, column]}. Drop that matrix or fill the entry in."
        )
    require_squares(stack)
    return stack


def numbers_of_components(value: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    """``n_components`` as a pair, checked against matrices whose shape ends in (p, q)."""
    p, q = shape[-2:]
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        why = f"as {p} x {q} matrices have at most {min(p, q)} components on both sides; or pass "
        k = validate.positive_integer("n_components", value, at_most=min(p, q), why=f"{why}a pair")
        return k, k
    if len(value) != 2:
        raise DataError(
            f"n_components must be a number or a pair, of rows and of columns; it is {value!r}."
        )
    why = f"as {p} x {q} matrices have at most ({p}, {q})"
    first = validate.positive_integer("n_components[0]", value[0], at_most=p, why=why)
    return first, validate.positive_integer("n_components[1]", value[1], at_most=q, why=why)
