"""Eigenproblems and regressions of spectral regression, as convex programs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import as_real
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.model import Block, Model
from sdpdr.model.language import maximize, psd, scalar, square


@checks_keywords
def fantope(X: ArrayLike, n_components: int = 2) -> Model:
    r"""Leading eigenvectors as a semidefinite program, to which constraints can be added.

    .. math:: \max\ \langle N, Z\rangle \quad\text{s.t.}\quad 0 \preceq Z \preceq I,\quad
              \operatorname{tr} Z = d .

    The value is the sum of the d largest eigenvalues of N, and Z the projection onto their
    eigenvectors. For a pencil :math:`W y = \lambda D y` take :math:`N = D^{-1/2} W D^{-1/2}`.

    Parameters
    ----------
    X : array_like of shape (n, n)
        N, symmetric.
    n_components : int, default 2
        d, from 1 to n - 1.

    References
    ----------
    M. L. Overton and R. S. Womersley, "On the sum of the largest eigenvalues of a symmetric
    matrix", SIAM J. Matrix Anal. Appl. 13, 1992; Cai thesis, (2.8).

    Examples
    --------
    >>> from sdpdr.methods import fantope
    >>> import sdpdr
    >>> model = fantope([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]], 2)
    >>> round(sdpdr.solve(model).value, 5), round(2.0 + 2.0**0.5 + 2.0, 5)
    (5.41421, 5.41421)
    """
    N = validate.symmetric("X", X)
    n = len(N)
    d = validate.positive_integer(
        "n_components", n_components, at_most=n - 1, why="below the order"
    )
    Z = psd("Z", n)
    trace, cap = (Z.trace() == float(d)).named("normalized"), (Z << np.eye(n)).named("cap")
    return Model((maximize(Z.inner(N)), cap, trace), name="fantope")


@checks_keywords
def sparse_direction(X: ArrayLike, scale: ArrayLike | None = None, penalty: float = 0.0) -> Model:
    r"""The leading direction of a pencil, with few entries.

    .. math:: \max\ \langle A, Z\rangle - \rho \sum_{ij} |Z_{ij}| \quad\text{s.t.}\quad
              \langle B, Z\rangle = 1,\quad Z \succeq 0 .

    Without a penalty, the value is the largest eigenvalue of :math:`A a = \lambda B a` and Z = a
    a^T.

    Parameters
    ----------
    X : array_like of shape (m, m)
        A, symmetric.
    scale : array_like of shape (m, m), optional
        B, positive definite; the identity by default.
    penalty : float, default 0.0
        :math:`\rho`, nonnegative.

    References
    ----------
    d'Aspremont, El Ghaoui, Jordan and Lanckriet, SIAM Review 49(3), 2007; Cai thesis, (5.1).

    Examples
    --------
    >>> from sdpdr.methods import sparse_direction
    >>> import sdpdr
    >>> round(sdpdr.solve(sparse_direction([[3.0, 1.0], [1.0, 1.0]])).value, 5)
    3.41421
    """
    A = validate.symmetric("X", X)
    B = np.eye(len(A)) if scale is None else validate.symmetric("scale", scale)
    if B.shape != A.shape:
        raise ShapeError(f"scale has shape {B.shape}; expected {A.shape}, that of X.")
    if np.linalg.eigvalsh(B)[0] <= 0.0:
        raise DataError(
            "scale is not positive definite, so the program is unbounded. Pass one that is."
        )
    penalty = validate.non_negative("penalty", penalty)
    Z = psd("Z", len(A))
    blocks: tuple[Block, ...] = (maximize(Z.inner(A)), (Z.inner(B) == 1.0).named("normalized"))
    if penalty > 0.0:
        blocks = (*blocks, (penalty * abs(Z)).named("entries"))
    return Model(blocks, name="sparse_direction")


@checks_keywords
def regression(
    X: ArrayLike,
    y: ArrayLike,
    ridge: float = 0.0,
    lasso: float = 0.0,
    penalty: Any = None,
) -> Model:
    r"""One regression of spectral regression as a convex program.

    .. math:: \min_{a, b}\ |X a + b \mathbf 1 - y|^2 + \alpha |P a|^2 + \beta |a|_1 .

    The estimators use direct methods; this is the same program for any solver, to verify them and
    to add blocks.

    Parameters
    ----------
    X : array_like or sparse array of shape (n, m)
    y : array_like of shape (n,)
    ridge : float, default 0.0
        :math:`\alpha`.
    lasso : float, default 0.0
        :math:`\beta`.
    penalty : array or sparse array of shape (p, m), optional
        P; the identity by default.

    Returns
    -------
    Model
        With vectors ``"a"`` and ``"a_0"``.

    References
    ----------
    Cai thesis, (3.4), (5.5), (5.6) and (6.7).

    Examples
    --------
    >>> from sdpdr.methods import regression
    >>> import sdpdr
    >>> model = regression([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0], ridge=2.0)
    >>> sdpdr.solve(model)["a"].round(4)
    array([1.])
    """
    data = as_real(X)
    target = np.asarray(y, dtype=float)
    if data.ndim != 2 or target.shape != (data.shape[0],):
        raise ShapeError(
            f"X and y have shapes {data.shape} and {target.shape}; expected (n, m) and (n,)."
        )
    ridge = validate.non_negative("ridge", ridge)
    lasso = validate.non_negative("lasso", lasso)
    m = data.shape[1]
    a, a_0 = scalar("a", m), scalar("a_0", 1)
    blocks: tuple[Block, ...] = (square(data @ a + a_0 - target).named("least_squares"),)
    if penalty is not None and (ridge == 0.0 or np.shape(penalty)[1:] != (m,)):
        raise DataError(
            f"penalty is the matrix P of the term ridge |P a|^2, of shape (p, {m}); got shape "
            f"{np.shape(penalty)} and ridge={ridge:g}. Pass ridge=... with it, or lasso=... for "
            "the weight of absolute values."
        )
    if ridge > 0.0:
        rows = a if penalty is None else as_real(penalty) @ a
        blocks = (*blocks, (ridge * square(rows)).named("squared_size"))
    if lasso > 0.0:
        blocks = (*blocks, (lasso * abs(a)).named("absolute_size"))
    return Model(blocks, name="regression")
