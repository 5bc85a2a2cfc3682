"""The pencil restricted to linear functions, and the trace ratio."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.families.regress.pencil import Pencil
from sdpdr.families.regress.ridge import CenteredData
from sdpdr.linalg.spectral import fix_signs

# Singular values below this share of the largest span no direction of the data.
_RANK = 1e-10
# The same of their squares, where those come with the rounding of the largest.
_SQUARED_RANK = 1e-13


@dataclass(frozen=True, eq=False)
class LinearEmbedding:
    r"""Linear functions that solve a pencil best among linear functions.

    Attributes
    ----------
    coef : array of shape (m, d)
        Columns a with :math:`a^T (X^T D X + \gamma I) a = 1`.
    mean : array of shape (m,)
        Taken off the samples first.
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

    Without :math:`\gamma` the samples are first written in the coordinates of their singular value
    decomposition, which makes the right side definite. The D-weighted mean is taken off, so that
    the constant function is left out.

    Parameters
    ----------
    X : array or sparse array of shape (n, m)
        Sparse data are never made dense; min(n, m) at most 4000 then.
    pencil : Pencil
        Of the n samples.
    n_components : int, optional
        At most the rank of the centred X, which is the default.
    gamma : float, default 0.0
        0 or more.
    most : int, optional
        How many the default is at most.

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
    mean = np.asarray(X.T @ pencil.totals).ravel() / pencil.totals.sum()
    data = CenteredData.about(X, mean)
    span = (_sparse_span if sp.issparse(X) else _dense_span)(data, pencil)
    s = span.singular
    d = min(s.size, most or s.size) if n_components is None else n_components
    d = validate.positive_integer("n_components", d, at_most=s.size, why="the rank of X")
    scale = np.ones(s.size) if gamma == 0.0 else s
    left, right = (scale[:, None] * form * scale for form in (span.weights, span.masses))
    right = right + gamma * np.eye(s.size)
    top = (s.size - d, s.size - 1)
    values, b = sl.eigh((left + left.T) / 2.0, (right + right.T) / 2.0, subset_by_index=top)
    coef = span.functions(b / (s / scale)[:, None])
    return LinearEmbedding(fix_signs(coef[:, ::-1]), data.x_mean, values[::-1])


class _Span(NamedTuple):
    """A pencil in the coordinates of a singular value decomposition X = U diag(s) V^T.

    ``singular`` is s, ``weights`` and ``masses`` are U^T W U and U^T D U, and ``functions``
    multiplies by V.
    """

    singular: Array
    weights: Array
    masses: Array
    functions: Callable[[Array], Array]


def _dense_span(data: CenteredData, pencil: Pencil) -> _Span:
    U, s, Vt = np.linalg.svd(data.dense(), full_matrices=False)
    kept = s > _RANK * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    return _Span(s, U.T @ (pencil.weights @ U), U.T @ pencil.mass(U), lambda b: Vt.T @ b)


def _sparse_span(data: CenteredData, pencil: Pencil) -> _Span:
    """From the smaller matrix of inner products: U or V, never both."""
    squares, vectors = data.eigenvectors()
    kept = squares > _SQUARED_RANK * squares[-1]
    s, Q = np.sqrt(squares[kept]), vectors[:, kept]
    if data.is_wide:
        weights, masses = Q.T @ (pencil.weights @ Q), Q.T @ pencil.mass(Q)
        return _Span(s, weights, masses, lambda b: data.transposed_times(Q @ (b / s[:, None])))
    D = sp.diags_array(pencil.masses) if pencil.is_diagonal else pencil.masses
    weights, masses = ((Q.T @ data.form(M) @ Q) / np.outer(s, s) for M in (pencil.weights, D))
    return _Span(s, weights, masses, lambda b: Q @ b)


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
    :math:`0 \preceq Z \preceq I`, :math:`\operatorname{tr} Z = d`, a sequence of
    `sdpdr.methods.fantope`, each a sum of leading eigenvalues. f is convex and falls, and
    Newton's steps on it rise to the zero. Where f(t) <= 0, t is a bound.

    The *ratio trace* :math:`\operatorname{tr} (V^T B V)^{-1} V^T A V`, which a generalised
    eigenproblem solves, is another problem with other directions.

    Parameters
    ----------
    A, B : array of shape (m, m)
        Symmetric; B positive semidefinite with at most d - 1 null directions.
    n_components : int, default 2
        d.
    tol : float, default 1e-12
        Of the ratio, relative.

    Raises
    ------
    DataError
        d directions exist on which B vanishes.
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
        raise ShapeError(f"A and B must be square and alike; they are {A.shape} and {B.shape}.")
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
    # f(t) <= excess, and f falls at least as fast as the smallest trace of B.
    excess = max(0.0, float(np.sum(np.linalg.eigvalsh(A - t * B)[m - d :])))
    rounding = 4.0 * m * np.finfo(float).eps * (np.abs(A).sum() + abs(t) * np.abs(B).sum())
    bound = t + float((excess + rounding) / np.sum(own[:d]))
    return TraceRatio(fix_signs(V), max(t, value), bound, iterations)
