r"""Graph embedding: the vectors that agree best with a graph, :math:`W y = \lambda D y`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError, UncertifiedWarning, warn
from sdpdr.base.rows import listed
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs

# Up to this many samples a dense eigendecomposition is faster than a factorization and iterations.
_SMALL = 400
# Restarts of ARPACK. It needs fewer unless eigenvalues are equal to rounding, as those of NPE are
# where neighbours reproduce samples exactly; then block iteration takes less than a second.
_RESTARTS = 30
# Block iteration: extra columns, solves for each shift, number of shifts, and the residual relative
# to the norm at which it ends.
_EXTRA, _SOLVES, _SHIFTS, _RESIDUAL = 8, 3, 20, 1e-10
# The constant vector solves a pencil if its residual is below this share of the largest weight.
_TRIVIAL = 1e-8


@dataclass(frozen=True, eq=False)
class Pencil:
    r"""Maximize :math:`y^T W y / y^T D y`: which samples are to be near each other, and how much.

    Parameters
    ----------
    weights : array or sparse array of shape (n, n)
        W, symmetric, of any sign.
    masses : array of shape (n,) or (n, n), optional
        Diagonal of D, positive, or D itself, positive definite; ones by default.
    name : str, default "pencil"

    Raises
    ------
    DataError
        W is not symmetric, or a mass is not positive, so that the quotient is unbounded.
    ShapeError

    References
    ----------
    Cai thesis, (2.8).

    Examples
    --------
    >>> Pencil(np.array([[0.0, 1.0], [1.0, 0.0]])).has_trivial
    True
    """

    weights: Matrix
    masses: Matrix = None
    name: str = "pencil"

    def __post_init__(self) -> None:
        validate.symmetric("weights", self.weights, sparse=True)
        masses = np.ones(self.n) if self.masses is None else self.masses
        if masses.shape not in ((self.n,), (self.n, self.n)):
            raise ShapeError(
                f"masses has shape {masses.shape}; expected ({self.n},) or ({self.n}, {self.n})."
            )
        if masses.ndim == 1 and not np.all(masses > 0.0):
            raise DataError(
                f"{self.name}: samples {listed(np.flatnonzero(~(masses > 0.0)))} have no weight, "
                'so the quotient is unbounded. Use more neighbours or weights="binary", or leave '
                "these samples out."
            )
        object.__setattr__(self, "masses", masses)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.weights.shape[0])

    @property
    def is_diagonal(self) -> bool:
        """Whether D is diagonal."""
        return bool(self.masses.ndim == 1)

    @property
    def mass_matrix(self) -> Matrix:
        """D as a matrix, sparse if it is diagonal."""
        return sp.diags_array(self.masses, format="csr") if self.is_diagonal else self.masses

    @property
    def totals(self) -> Array:
        r""":math:`D \mathbf 1`, the weights of the mean that makes the constant vector zero."""
        return np.asarray(self.mass_matrix @ np.ones(self.n))

    @property
    def quotient(self) -> float:
        """Rayleigh quotient of the constant vector."""
        return float(self.weights.sum() / self.totals.sum())

    @property
    def has_trivial(self) -> bool:
        """Whether the constant vector solves the pencil, so that it says nothing about samples."""
        sums = np.asarray(self.weights.sum(axis=1)).ravel()
        residual = np.max(np.abs(sums - self.quotient * self.totals))
        return bool(residual <= _TRIVIAL * _norm(self.weights))

    def normalized(self) -> Matrix:
        """:math:`D^{-1/2} W D^{-1/2}` of a diagonal D."""
        scale = sp.diags_array(1.0 / np.sqrt(self.masses))
        scaled = scale @ self.weights @ scale
        return scaled.tocsr() if sp.issparse(scaled) else np.asarray(scaled)


@dataclass(frozen=True, eq=False)
class GraphEmbedding:
    """Leading solutions of a pencil.

    Attributes
    ----------
    vectors : array of shape (n, d)
        Largest eigenvalue first, with y^T D y = 1. If the constant vector is a solution, it is left
        out and the others are D-orthogonal to it.
    eigenvalues : array of shape (d,)
    """

    vectors: Array
    eigenvalues: Array


def graph_embedding(pencil: Pencil, n_components: int) -> GraphEmbedding:
    r"""Solutions of :math:`W y = \lambda D y` with the largest eigenvalues, without the constant.

    The constant vector is removed by orthogonality, wherever it stands in the spectrum. A graph
    with several components has their indicators as solutions with the same eigenvalue; these stay.

    Parameters
    ----------
    pencil : Pencil
    n_components : int
        From 1 to n, or to n - 1 if the constant vector is a solution.

    Returns
    -------
    GraphEmbedding

    Raises
    ------
    DataError
        ``n_components`` is out of range.

    Warns
    -----
    UncertifiedWarning
        The iteration for large sparse pencils did not reach its residual.

    References
    ----------
    Cai thesis, (2.8) and section 3.3.

    Examples
    --------
    >>> from sdpdr import graphs
    >>> path = graphs.path([1.0] * 4)
    >>> found = graph_embedding(Pencil(path.adjacency(), path.degree.astype(float)), 1)
    >>> bool(np.all(np.diff(found.vectors[:, 0]) < 0)), found.eigenvalues.round(4)
    (True, array([0.7071]))
    """
    trivial = pencil.has_trivial
    d = validate.positive_integer(
        "n_components",
        n_components,
        at_most=pencil.n - trivial,
        why=f"of {pencil.n} samples{', less the constant' if trivial else ''}",
    )
    if sp.issparse(pencil.weights) and pencil.is_diagonal:
        values, vectors = _sparse(pencil, d, trivial)
    else:
        values, vectors = _dense(pencil, d, trivial)
    return GraphEmbedding(fix_signs(vectors), values)


def _dense(pencil: Pencil, d: int, trivial: bool) -> tuple[Array, Array]:
    """In units in which a diagonal D is the identity."""
    root = np.sqrt(pencil.masses) if pencil.is_diagonal else np.ones(pencil.n)
    W, D = _toarray(pencil.weights) / np.outer(root, root), None
    if not pencil.is_diagonal:
        D = _toarray(pencil.masses)
    normal = pencil.totals / root
    normal[0] += np.copysign(np.linalg.norm(normal), normal[0])
    normal /= np.linalg.norm(normal)
    if trivial:
        # A reflection takes the constant to the first axis, which is left out.
        W = _reflected(W, normal)[1:, 1:]
        D = None if D is None else _reflected(D, normal)[1:, 1:]
    values, vectors = sl.eigh(W, D, subset_by_index=(len(W) - d, len(W) - 1))
    if trivial:
        vectors = np.vstack([np.zeros(d), vectors])
        vectors -= 2.0 * np.outer(normal, normal @ vectors)
    return values[::-1], vectors[:, ::-1] / root[:, None]


def _toarray(matrix: Matrix) -> Array:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _reflected(matrix: Array, normal: Array) -> Array:
    """H M H with H = I - 2 v v^T for a unit vector v."""
    half = matrix - 2.0 * np.outer(normal, normal @ matrix)
    return np.asarray(half - 2.0 * np.outer(half @ normal, normal))


def _sparse(pencil: Pencil, d: int, trivial: bool) -> tuple[Array, Array]:
    """Combine the indicators of components, whose eigenvalues are equal; iterate for others."""
    root = np.sqrt(pencil.masses)
    matrix = sp.csr_array(pencil.normalized())
    indicators = sp.csr_array((pencil.n, 0))
    values, vectors = np.zeros(0), np.zeros((pencil.n, 0))
    if trivial:
        parts = connected_components(matrix, directed=False)[1]
        sizes = np.sqrt(np.bincount(parts, pencil.masses))
        indicators = sp.csr_array((root / sizes[parts], (np.arange(pencil.n), parts)))
        # Combinations of the indicators that are orthogonal to the constant.
        vectors = indicators @ sl.null_space(sizes[None, :])[:, :d]
        values = np.full(vectors.shape[1], pencil.quotient)
    more = min(d, pencil.n - indicators.shape[1])
    if pencil.n <= _SMALL or 4 * d > pencil.n:
        # Known vectors are moved below the spectrum.
        rest = (matrix - 3.0 * _norm(matrix) * indicators @ indicators.T).toarray()
        found, others = sl.eigh(rest, subset_by_index=(pencil.n - more, pencil.n - 1))
        found, others = found[::-1], others[:, ::-1]
    else:
        found, others = _iterated(matrix, indicators, more)
    values, vectors = np.append(values, found), np.hstack([vectors, others])
    first = np.argsort(-values, kind="stable")[:d]
    return values[first], vectors[:, first] / root[:, None]


def _iterated(matrix: Any, known: sp.csr_array, d: int) -> tuple[Array, Array]:
    """Leading eigenpairs of a sparse matrix among vectors orthogonal to the known ones."""
    n, size, rng = matrix.shape[0], _norm(matrix), np.random.default_rng(0)
    try:
        start = rng.standard_normal(n)
        top = eigsh(matrix, 1, which="LA", return_eigenvectors=False, tol=1e-3, v0=start)[0]
    except ArpackNoConvergence:
        top = size
    # Above the spectrum, so that the shifted matrix is definite.
    shift = min(size, float(top) + 1e-2 * size) * (1.0 + 1e-6)
    inverse = _Inverse(matrix, shift, known)
    operator = LinearOperator((n, n), matvec=inverse, dtype=float)
    start = inverse(rng.standard_normal(n))
    try:
        vectors = eigsh(operator, d, which="LA", v0=start, maxiter=_RESTARTS)[1]
        return _rayleigh_ritz(matrix, vectors)
    except ArpackNoConvergence:
        return _by_block(matrix, known, inverse(rng.standard_normal((n, d + _EXTRA))), d)


def _by_block(matrix: Any, known: sp.csr_array, block: Array, d: int) -> tuple[Array, Array]:
    """Inverse iteration of a block, whose shift approaches the largest eigenvalue."""
    size = _norm(matrix)
    values, block = _rayleigh_ritz(matrix, block)
    for _ in range(_SHIFTS):
        left = matrix @ block[:, :d] - block[:, :d] * values[:d]
        residual = np.linalg.norm(left, axis=0).max() / size
        if residual <= _RESIDUAL:
            break
        inverse = _Inverse(matrix, values[0] + residual * size, known)
        for _ in range(_SOLVES):
            values, block = _rayleigh_ritz(matrix, inverse(block))
    else:
        warn(
            f"eigenvectors of the pencil have a residual of {residual:.1e}, above {_RESIDUAL:g}: "
            "the next eigenvalues are nearly equal. Request more components, or use more "
            "neighbours.",
            UncertifiedWarning,
        )
    return values[:d], block[:, :d]


class _Inverse:
    """Solves with shift I - N for vectors that are orthogonal to known ones."""

    def __init__(self, matrix: Any, shift: float, known: sp.csr_array) -> None:
        self.solve = LdlFactor(sp.csr_array(shift * sp.eye_array(matrix.shape[0]) - matrix)).solve
        self.known = known

    def __call__(self, x: Array) -> Array:
        columns = self._projected(x.reshape(len(x), -1)).T
        solved = np.column_stack([self.solve(column) for column in columns])
        return self._projected(solved).reshape(x.shape)

    def _projected(self, x: Array) -> Array:
        return np.asarray(x - self.known @ (self.known.T @ x))


def _rayleigh_ritz(matrix: Any, vectors: Array) -> tuple[Array, Array]:
    """Eigenpairs within the span of vectors, the largest first."""
    basis = np.linalg.qr(vectors)[0]
    values, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    return values[::-1], np.asarray(basis @ turn[:, ::-1])


def _norm(matrix: Matrix) -> float:
    """Largest absolute row sum, which no eigenvalue exceeds."""
    return float(max(abs(matrix).sum(axis=1).max(), np.finfo(float).tiny))
