r"""Solutions of a pencil :math:`W y = \lambda D y`: of samples, or among linear functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError, UncertifiedWarning, warn
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.limits import NEGLIGIBLE, ROUNDING, SMALL
from sdpdr.families.regress.pencils import Pencil
from sdpdr.families.regress.ridge import Centered, LinearMapping, Spectrum, as_data
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs

# Restarts of ARPACK, which needs fewer unless eigenvalues are equal to rounding, as those of NPE
# are where neighbours reproduce samples exactly.
_RESTARTS = 30
# Block iteration: extra columns, solves for each shift, number of shifts, and the residual relative
# to the norm at which it ends.
_EXTRA, _SOLVES, _SHIFTS, _RESIDUAL = 8, 3, 20, 1e-10


class GraphEmbedding(NamedTuple):
    """Leading solutions of a pencil: ``vectors`` (n, d) and ``eigenvalues`` (d,)."""

    vectors: Array
    eigenvalues: Array


def graph_embedding(pencil: Pencil, n_components: int) -> GraphEmbedding:
    r"""Solutions of :math:`W y = \lambda D y` with the largest eigenvalues, without the constant.

    The constant vector is removed by orthogonality, wherever it stands in the spectrum. A graph
    with several components has their indicators as solutions with the same eigenvalue; these stay.
    Pencils of labels are solved by one factorization of D: :math:`y = D^{-1} F q` with the
    solutions q of the small matrix :math:`F^T D^{-1} F`.

    Parameters
    ----------
    pencil : Pencil
    n_components : int
        From 1 to n, or of labels to the number of classes; one less if the constant vector is a
        solution.

    Returns
    -------
    tuple of vectors, (n, d), and eigenvalues, (d,)
        Largest first, with :math:`y^T D y = 1`, and D-orthogonal to a constant that is left out.

    Raises
    ------
    DataError
        ``n_components`` is out of range, or rounding hides the labels because they weigh so little
        beside the Laplacian.

    Warns
    -----
    UncertifiedWarning
        The iteration for large sparse pencils did not reach its residual.

    References
    ----------
    Cai thesis, (2.8), (3.9) and section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import Pencil, graph_embedding
    >>> from sdpdr import graphs
    >>> path = graphs.path([1.0] * 4)
    >>> found = graph_embedding(Pencil(path.adjacency(), path.degree.astype(float)), 1)
    >>> bool(np.all(np.diff(found.vectors[:, 0]) < 0)), found.eigenvalues.round(4)
    (True, array([0.7071]))
    """
    trivial = pencil.has_trivial
    most = pencil.n if pencil.factor is None else pencil.factor.shape[1]
    why = f"of {most} solutions{', less the constant' if trivial else ''}"
    d = validate.positive_integer("n_components", n_components, at_most=most - trivial, why=why)
    if pencil.factor is not None:
        values, vectors = _by_factor(pencil, d)
    else:
        root = np.sqrt(pencil.masses)
        N, constant = pencil.normalized(), trivial * root / np.linalg.norm(root)
        if pencil.n <= SMALL or 4 * d > pencil.n or not sp.issparse(N):
            below = 3.0 * _norm(N) * np.outer(constant, constant)
            values, vectors = _leading(_toarray(N) - below, None, d)
        else:
            values, vectors = _iterated(N, constant, d)
        vectors = vectors / root[:, None]
    return GraphEmbedding(fix_signs(vectors), values)


def _leading(W: Array, D: Array | None, d: int) -> tuple[Array, Array]:
    values, vectors = sl.eigh(W, D, subset_by_index=(len(W) - d, len(W) - 1))
    return values[::-1], vectors[:, ::-1]


def _by_factor(pencil: Pencil, d: int) -> tuple[Array, Array]:
    """Combinations of the columns of D^-1 F."""
    F = _toarray(pencil.factor)
    hidden = DataError("labels are lost to rounding beside the smoothing. Lower the smoothing.")
    try:
        solve = LdlFactor(sp.csr_array(pencil.mass_matrix)).solve
    except ArithmeticError:
        raise hidden from None
    carried = np.column_stack([solve(f) for f in F.T])
    # The constant is D^-1 F F' 1; the other solutions are orthogonal to it.
    sums = F.sum(axis=0) / np.abs(F).sum()
    basis = np.linalg.qr(np.column_stack([sums, np.eye(sums.size)]))[0][:, 1 : sums.size]
    small = basis.T @ F.T @ carried @ basis
    values, q = _leading((small + small.T) / 2.0, None, d)
    if values[0] < NEGLIGIBLE:
        raise hidden
    q = untied(values, q) / np.sqrt(np.maximum(values, np.finfo(float).tiny))
    return values, carried @ basis @ q


def untied(values: Array, vectors: Array) -> Array:
    """Eigenvectors of equal eigenvalues, rotated nearest to the axes, independent of rounding."""
    vectors = vectors.copy()
    group = np.cumsum(np.append(0, np.abs(np.diff(values)) > ROUNDING))
    for tied in (group == k for k in range(group[-1] + 1)):
        vectors[:, tied] = vectors[:, tied] @ np.linalg.qr(vectors[:, tied].T)[0]
    return vectors


def _iterated(N: Any, constant: Array, d: int) -> tuple[Array, Array]:
    """Lanczos iteration with an inverse; where eigenvalues are equal, inverse iteration of a block.

    Lanczos vectors do not find eigenvalues that are equal to rounding, and a block converges slowly
    where many eigenvalues are near the wanted ones.
    """
    n, size, rng = N.shape[0], _norm(N), np.random.default_rng(0)
    try:
        start = rng.standard_normal(n)
        top = eigsh(N, 1, which="LA", return_eigenvectors=False, tol=1e-3, v0=start)[0]
    except ArpackNoConvergence:
        top = size
    # Above the spectrum, so that the shifted matrix is definite.
    inverse = _inverse(N, min(size, float(top) + 1e-2 * size) * (1.0 + 1e-6), constant)
    operator = LinearOperator((n, n), matvec=inverse, dtype=float)
    try:
        start = inverse(rng.standard_normal(n))
        return _rayleigh_ritz(N, eigsh(operator, d, which="LA", v0=start, maxiter=_RESTARTS)[1])
    except ArpackNoConvergence:
        values, block = _rayleigh_ritz(N, inverse(rng.standard_normal((n, d + _EXTRA))))
    for _ in range(_SHIFTS):
        left = N @ block[:, :d] - block[:, :d] * values[:d]
        residual = float(np.linalg.norm(left, axis=0).max()) / size
        if residual <= _RESIDUAL:
            break
        inverse = _inverse(N, values[0] + residual * size, constant)
        for _ in range(_SOLVES):
            values, block = _rayleigh_ritz(N, inverse(block))
    else:
        warn(
            f"eigenvectors of the pencil have a residual of {residual:.1e}, above {_RESIDUAL:g}: "
            "the next eigenvalues are nearly equal. Request more components, or use more "
            "neighbours.",
            UncertifiedWarning,
        )
    return values[:d], block[:, :d]


def _inverse(N: Any, shift: float, constant: Array) -> Callable[[Array], Array]:
    """Solves with shift I - N for vectors that are orthogonal to the constant."""
    solve = LdlFactor(sp.csr_array(shift * sp.eye_array(N.shape[0]) - N)).solve

    def projected(x: Array) -> Array:
        return np.asarray(x - np.outer(constant, constant @ x))

    def apply(x: Array) -> Array:
        columns = projected(x.reshape(len(x), -1)).T
        solved = np.column_stack([solve(column) for column in columns])
        return projected(solved).reshape(x.shape)

    return apply


def _rayleigh_ritz(N: Any, vectors: Array) -> tuple[Array, Array]:
    """Eigenpairs within the span of vectors, the largest first."""
    basis = np.linalg.qr(vectors)[0]
    values, rotation = np.linalg.eigh(basis.T @ (N @ basis))
    return values[::-1], np.asarray(basis @ rotation[:, ::-1])


def _norm(matrix: Matrix) -> float:
    """Largest absolute row sum, which no eigenvalue exceeds."""
    return float(max(abs(matrix).sum(axis=1).max(), np.finfo(float).tiny))


def _toarray(matrix: Matrix) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


# -- linear functions ------------------------------------------------------------------------------


@checks_keywords
def linear_embedding(
    X: Matrix,
    pencil: Pencil,
    n_components: int | None = None,
    gamma: float = 0.0,
    *,
    default: int | None = None,
) -> LinearMapping:
    r"""Solve :math:`X^T W X a = \lambda (X^T D X + \gamma I) a` for samples as rows of X.

    In the coordinates of the singular value decomposition of X, the right side is definite without
    :math:`\gamma` too. The D-weighted mean is subtracted, which removes the constant function (Cai
    thesis, (2.9), (2.34)-(2.41)).

    Parameters
    ----------
    X : array_like or sparse array of shape (n, m)
        Sparse data stay sparse; min(n, m) at most 4000.
    pencil : Pencil
        Pencil of the n samples.
    n_components : int, optional
        At most the rank of the centred X, which is the default.
    gamma : float, default 0.0
        Nonnegative.
    default : int, optional
        Number of components if none is given, unless the rank is smaller.

    Returns
    -------
    LinearMapping
        With ``coef`` (m, d), :math:`a^T (X^T D X + \gamma I) a = 1`, ``intercept`` (d,) and
        ``eigenvalues`` (d,), and callable.
    """
    X = as_data(X)
    if X.shape[0] != pencil.n:
        raise ShapeError(f"X has {X.shape[0]} samples, the pencil {pencil.n}.")
    gamma = validate.non_negative("gamma", gamma)
    mean = np.asarray(X.T @ pencil.totals).ravel() / pencil.totals.sum()
    spectrum = Spectrum(Centered(X, mean))
    s, U = spectrum.s, spectrum.left_rows()
    d = min(s.size, default or s.size) if n_components is None else n_components
    d = validate.positive_integer("n_components", d, at_most=s.size, why="the rank of X")
    # Without gamma in units of the singular values, so that small ones lose no digits.
    scale = s if gamma > 0.0 else np.ones_like(s)
    left, right = (
        scale[:, None] * ((form + form.T) / 2.0) * scale
        for form in (U.T @ pencil.times(U), U.T @ np.asarray(pencil.mass_matrix @ U))
    )
    right[np.diag_indices_from(right)] += gamma
    values, b = _leading(left, right, d)
    coef = fix_signs(spectrum.right_dot(b * (scale / s)[:, None]))
    return LinearMapping(coef, -mean @ coef, values)


class TraceRatio(NamedTuple):
    """Directions of the largest ratio of traces, and a bound on all ratios."""

    components: Array
    value: float
    bound: float
    iterations: int


@checks_keywords
def trace_ratio(A: Array, B: Array, n_components: int = 2, tol: float = 1e-12) -> TraceRatio:
    r"""Maximize :math:`\operatorname{tr} V^T A V / \operatorname{tr} V^T B V` over orthonormal V.

    The global maximum is the zero of :math:`f(t) = \max_Z \langle A - t B, Z\rangle` over
    :math:`0 \preceq Z \preceq I`, :math:`\operatorname{tr} Z = d`, the program
    `sdpdr.methods.fantope`. f is convex and decreasing, so Newton's method converges from below; if
    f(t) <= 0, t is a bound. The *ratio trace* :math:`\operatorname{tr} (V^T B V)^{-1} V^T A V`,
    which a generalized eigenproblem solves, is another problem with other directions.

    Parameters
    ----------
    A, B : array_like of shape (m, m)
        Symmetric; B positive semidefinite with fewer than d null directions, else a `DataError`.
    n_components : int, default 2
        d.
    tol : float, default 1e-12
        Relative accuracy of the ratio.

    Returns
    -------
    tuple of components, value, bound and iterations
        Orthonormal columns V (m, d), their ratio, and a number that no ratio exceeds.

    References
    ----------
    Tong thesis, (2.31), and (2.32), which is the ratio trace; H. Wang, S. Yan, D. Xu, X. Tang and
    T. Huang, "Trace ratio vs. ratio trace for dimensionality reduction", CVPR 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.extend import trace_ratio
    >>> found = trace_ratio(np.diag([4.0, 3.0, 0.0]), np.diag([2.0, 1.0, 1.0]), 2)
    >>> round(found.value, 6), found.bound >= found.value
    (2.333333, True)
    """
    A, B = validate.symmetric("A", A), validate.symmetric("B", B)
    if A.shape != B.shape:
        raise ShapeError(f"A has shape {A.shape} and B {B.shape}; expected equal shapes.")
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
