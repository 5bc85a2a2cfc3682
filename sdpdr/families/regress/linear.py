"""The pencil restricted to linear functions, and the trace ratio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg as sl

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.pencil import Pencil
from sdpdr.families.regress.ridge import CenteredData, Spectrum
from sdpdr.linalg.spectral import fix_signs


@dataclass(frozen=True, eq=False)
class LinearEmbedding:
    r"""Linear functions that solve a pencil best among linear functions.

    Attributes
    ----------
    coef : array of shape (m, d)
        Columns a with :math:`a^T (X^T D X + \gamma I) a = 1`.
    mean : array of shape (m,)
        Subtracted from samples first.
    eigenvalues : array of shape (d,)
    """

    coef: Array
    mean: Array
    eigenvalues: Array

    def __call__(self, X: Array) -> Array:
        """Images of the rows of X."""
        return np.asarray((X - self.mean) @ self.coef)


def linear_embedding(
    X: Matrix,
    pencil: Pencil,
    n_components: int | None = None,
    gamma: float = 0.0,
    *,
    most: int | None = None,
) -> LinearEmbedding:
    r"""Solve :math:`X^T W X a = \lambda (X^T D X + \gamma I) a` for samples as rows of X.

    In the coordinates of the singular value decomposition of X, the right side is definite without
    :math:`\gamma` too. The D-weighted mean is subtracted, which removes the constant function.

    Parameters
    ----------
    X : array or sparse array of shape (n, m)
        Sparse data stay sparse; min(n, m) at most 4000.
    pencil : Pencil
        Of the n samples.
    n_components : int, optional
        At most the rank of the centred X, which is the default.
    gamma : float, default 0.0
        Nonnegative.
    most : int, optional
        Upper limit of the default of ``n_components``.

    Returns
    -------
    LinearEmbedding

    Raises
    ------
    DataError, ShapeError

    References
    ----------
    Cai thesis, (2.9), (2.34)-(2.41).
    """
    if X.shape[0] != pencil.n:
        raise ShapeError(f"X has {X.shape[0]} samples, the pencil {pencil.n}.")
    gamma = validate.non_negative("gamma", gamma)
    totals = pencil.totals
    mean = np.asarray(X.T @ totals).ravel() / totals.sum()
    spectrum = Spectrum(CenteredData.of(X, mean, np.ones(pencil.n)))
    s = spectrum.s
    d = min(s.size, most or s.size) if n_components is None else n_components
    d = validate.positive_integer("n_components", d, at_most=s.size, why="the rank of X")
    # Without gamma in units of the singular values, so that small ones lose no digits.
    scale = s if gamma > 0.0 else np.ones_like(s)
    left, right = (
        np.outer(scale, scale) * spectrum.left_form(M) for M in (pencil.weights, pencil.mass_matrix)
    )
    right[np.diag_indices_from(right)] += gamma
    values, b = sl.eigh(left, right, subset_by_index=(s.size - d, s.size - 1))
    coef = spectrum.right_dot(b * (scale / s)[:, None])
    return LinearEmbedding(fix_signs(coef[:, ::-1]), mean, values[::-1])


@dataclass(frozen=True, eq=False)
class TraceRatio:
    """Directions of the largest ratio of traces.

    Attributes
    ----------
    components : array of shape (m, d)
        Orthonormal columns V.
    value : float
        tr V^T A V / tr V^T B V.
    bound : float
        No orthonormal directions have a larger one.
    iterations : int
    """

    components: Array
    value: float
    bound: float
    iterations: int


def trace_ratio(A: Array, B: Array, n_components: int = 2, tol: float = 1e-12) -> TraceRatio:
    r"""Maximise :math:`\operatorname{tr} V^T A V / \operatorname{tr} V^T B V` over orthonormal V.

    The global maximum is the zero of :math:`f(t) = \max_Z \langle A - t B, Z\rangle` over
    :math:`0 \preceq Z \preceq I`, :math:`\operatorname{tr} Z = d`, the program
    `sdpdr.methods.fantope`, whose value is a sum of leading eigenvalues. f is convex and
    decreasing, so Newton's method converges from below. If f(t) <= 0, t is a bound.

    The *ratio trace* :math:`\operatorname{tr} (V^T B V)^{-1} V^T A V`, which a generalised
    eigenproblem solves, is another problem with other directions.

    Parameters
    ----------
    A, B : array of shape (m, m)
        Symmetric; B positive semidefinite with fewer than d null directions.
    n_components : int, default 2
        d.
    tol : float, default 1e-12
        Relative accuracy of the ratio.

    Returns
    -------
    TraceRatio

    Raises
    ------
    DataError
        B vanishes on d directions.
    ShapeError

    References
    ----------
    Tong thesis, (2.31), and (2.32), which is the ratio trace; H. Wang, S. Yan, D. Xu, X. Tang and
    T. Huang, "Trace ratio vs. ratio trace for dimensionality reduction", CVPR 2007.

    Examples
    --------
    >>> found = trace_ratio(np.diag([4.0, 3.0, 0.0]), np.diag([2.0, 1.0, 1.0]), 2)
    >>> round(found.value, 6), found.bound >= found.value
    (2.333333, True)
    """
    if A.shape != B.shape or A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ShapeError(f"A has shape {A.shape} and B {B.shape}; expected equal square shapes.")
    m = len(A)
    d = validate.positive_integer("n_components", n_components, at_most=m, why="the order")
    own = np.linalg.eigvalsh(B)
    if own[0] < -1e-10 * max(own[-1], 0.0) or np.sum(own[:d]) <= 1e-12 * max(own[-1], 1e-300):
        raise DataError(
            f"B must be positive semidefinite and vanish on fewer than {d} directions; its "
            f"smallest eigenvalues are {own[:d].round(6).tolist()}."
        )
    t, iterations = -np.inf, 0
    V = np.linalg.eigh(A)[1][:, m - d :]
    while True:
        value = float(np.trace(V.T @ A @ V) / np.trace(V.T @ B @ V))
        if not value > t + tol * max(abs(value), 1e-300):
            break
        t, iterations = value, iterations + 1
        V = np.linalg.eigh(A - t * B)[1][:, m - d :]
    # f(t) <= excess, and its slope is at most minus the smallest trace of B.
    excess = max(0.0, float(np.sum(np.linalg.eigvalsh(A - t * B)[m - d :])))
    rounding = 4.0 * m * np.finfo(float).eps * (np.abs(A).sum() + abs(t) * np.abs(B).sum())
    bound = t + float((excess + rounding) / np.sum(own[:d]))
    return TraceRatio(fix_signs(V), max(t, value), bound, iterations)
