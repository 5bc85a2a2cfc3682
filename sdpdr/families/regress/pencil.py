r"""Graph embedding: the vectors that agree best with a graph, :math:`W y = \lambda D y`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.errors import DataError, ShapeError, UncertifiedWarning, warn
from sdpdr.base.rows import listed
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.spectral import fix_signs
from sdpdr.linalg.walks import connected_components

# Up to this many samples a dense eigendecomposition is faster than an iteration.
_SMALL = 400
# Relative distance of the shift from the spectrum, so that what is factored is definite.
_SHIFT = 1e-6
# Restarts after which another iteration is faster.
_RESTARTS = 30
# Of a block that is iterated: columns beside those sought, shifts, sweeps with each, how near the
# spectrum a shift is at least, and the residual at which it ends, relative to the norm.
_MORE = 8
_ROUNDS = 20
_SWEEPS = 3
_NEAR = 1e-10
_RESIDUAL = 1e-10
# Relative to the largest weight: how well the constant vector must solve the pencil.
_TRIVIAL = 1e-8


@dataclass(frozen=True, eq=False)
class Pencil:
    r"""Maximise :math:`y^T W y / y^T D y`: which samples are to be near each other, and how much.

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
        W is not symmetric, or a mass is not positive (the quotient is unbounded then).
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
                f"masses must have shape ({self.n},) or ({self.n}, {self.n}); they have "
                f"{masses.shape}."
            )
        diagonal = masses if masses.ndim == 1 else masses.diagonal()
        if masses.ndim == 1 and not np.all(diagonal > 0.0):
            wrong = listed(np.flatnonzero(~(diagonal > 0.0)))
            raise DataError(
                f"{self.name}: samples {wrong} have no weight, so the quotient is unbounded. Take "
                'more neighbours, weights that do not vanish ("binary"), or leave these samples '
                "out."
            )
        object.__setattr__(self, "masses", masses)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.weights.shape[0])

    @property
    def is_diagonal(self) -> bool:
        """Whether D is."""
        return bool(self.masses.ndim == 1)

    @property
    def diagonal(self) -> Array:
        """The diagonal of D, shape (n,)."""
        return np.asarray(self.masses if self.is_diagonal else self.masses.diagonal())

    @property
    def totals(self) -> Array:
        r""":math:`D \mathbf 1`, the weights of the mean that the constant vector stands for."""
        return self.diagonal if self.is_diagonal else np.asarray(self.masses.sum(axis=1)).ravel()

    def mass(self, vectors: Array) -> Array:
        """D times vectors of shape (n, q)."""
        if self.is_diagonal:
            return np.asarray(self.masses[:, None] * vectors)
        return np.asarray(self.masses @ vectors)

    @property
    def has_trivial(self) -> bool:
        """Whether the constant vector solves the pencil, and so says nothing about samples."""
        sums = np.asarray(self.weights.sum(axis=1)).ravel()
        quotient = sums.sum() / self.totals.sum()
        size = max(abs(self.weights).sum(axis=1).max(), np.finfo(float).tiny)
        return bool(np.max(np.abs(sums - quotient * self.totals)) <= _TRIVIAL * size)

    def normalized(self) -> Matrix:
        """:math:`D^{-1/2} W D^{-1/2}`."""
        root = 1.0 / np.sqrt(self.diagonal)
        if sp.issparse(self.weights):
            scale = sp.diags_array(root)
            return (scale @ self.weights @ scale).tocsr()
        return np.asarray(root[:, None] * self.weights * root)


@dataclass(frozen=True, eq=False)
class GraphEmbedding:
    """Leading solutions of a pencil.

    Attributes
    ----------
    vectors : array of shape (n, d)
        Largest eigenvalue first, with y^T D y = 1; without the constant vector where that is a
        solution, and D-orthogonal to it.
    eigenvalues : array of shape (d,)
    """

    vectors: Array
    eigenvalues: Array


def graph_embedding(pencil: Pencil, n_components: int, seed: int = 0) -> GraphEmbedding:
    r"""Solutions of :math:`W y = \lambda D y` of the largest eigenvalues, the constant left out.

    The constant vector is removed wherever in the spectrum it stands, by taking all others
    orthogonal to it: in the pencil of several components it shares its eigenvalue with their
    indicators, which are kept.

    Parameters
    ----------
    pencil : Pencil
    n_components : int
        From 1 to n, less one where the constant is a solution.
    seed : int, default 0
        Of the vector that an iteration starts from.

    Raises
    ------
    DataError
        ``n_components`` is out of range.

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
    if not pencil.is_diagonal:
        return _general(pencil, d, trivial)
    root = np.sqrt(pencil.diagonal)
    constant = root / np.linalg.norm(root) if trivial else None
    matrix = pencil.normalized()
    part = connected_components(matrix)[1] if sp.issparse(matrix) else None
    if part is None or not part.any():
        values, vectors = _leading(matrix, constant, d, seed)
    else:
        values, vectors = _by_parts(matrix, constant, d, part, seed)
    return GraphEmbedding(fix_signs(vectors / root[:, None]), values)


def _is_small(matrix: Matrix, d: int) -> bool:
    n = matrix.shape[0]
    return n <= _SMALL or 4 * d > n or not sp.issparse(matrix)


def _leading(matrix: Matrix, constant: Array | None, d: int, seed: int) -> tuple[Array, Array]:
    if _is_small(matrix, d):
        return _dense(matrix, constant, d)
    return _sparse(matrix, constant, d, seed)


def _by_parts(
    matrix: Any, constant: Array | None, d: int, part: NDArray[np.int32], seed: int
) -> tuple[Array, Array]:
    """The leading ones of all parts together.

    Where the constant is a solution, so is that of each part: an eigenvalue of which an iteration
    that starts from one vector finds some copies only.
    """
    found: list[tuple[float, Any, Array]] = []
    for p in range(int(part.max()) + 1):
        own = np.flatnonzero(part == p)
        inner = None if constant is None else constant[own] / np.linalg.norm(constant[own])
        most = min(d, own.size - (inner is not None))
        if most:
            values, vectors = _leading(matrix[own][:, own], inner, most, seed)
            found += [(v, own, x) for v, x in zip(values, vectors.T, strict=True)]
    if constant is not None:
        weights = np.sqrt(np.bincount(part, constant**2))
        value = float(constant @ (matrix @ constant))
        differences = sl.null_space(weights[None, :])[:, :d]
        found += [(value, slice(None), constant * (x / weights)[part]) for x in differences.T]
    found = sorted(found, key=lambda one: -one[0])[:d]
    together = np.zeros((part.size, len(found)))
    for column, (_, own, vector) in enumerate(found):
        together[own, column] = vector
    return np.array([value for value, _, _ in found]), together


def _general(pencil: Pencil, d: int, trivial: bool) -> GraphEmbedding:
    """Of a mass matrix, all of it dense."""
    W: Any = pencil.weights
    D = pencil.mass(np.eye(pencil.n))
    W = np.array(W.toarray() if sp.issparse(W) else W)
    if trivial:
        # D-orthogonal to the constant all eigenvalues stay; its own goes below them.
        totals = pencil.totals
        low = sl.eigh(W, D, eigvals_only=True, subset_by_index=(0, 0))[0]
        quotient = W.sum() / totals.sum()
        W -= (1.0 + quotient - low) * np.outer(totals, totals) / totals.sum()
    values, vectors = sl.eigh(W, D, subset_by_index=(pencil.n - d, pencil.n - 1))
    return GraphEmbedding(fix_signs(vectors[:, ::-1]), values[::-1])


def _dense(matrix: Matrix, constant: Array | None, d: int) -> tuple[Array, Array]:
    full = matrix.toarray() if sp.issparse(matrix) else np.array(matrix)
    n = full.shape[0]
    if constant is not None:
        # Below every other eigenvalue, all of which lie within the norm.
        full -= 3.0 * _norm(matrix) * np.outer(constant, constant)
    values, vectors = sl.eigh(full, subset_by_index=(n - d, n - 1))
    return values[::-1], vectors[:, ::-1]


def _sparse(matrix: Any, constant: Array | None, d: int, seed: int) -> tuple[Array, Array]:
    """Shift and invert just above the spectrum."""
    n, size = matrix.shape[0], _norm(matrix)
    try:
        top = eigsh(matrix, k=1, which="LA", return_eigenvectors=False, tol=1e-3)[0]
    except ArpackNoConvergence:
        top = size  # which it does not exceed
    shift = min(size, float(top) + 1e-2 * size) * (1.0 + _SHIFT)
    solve = LdlFactor(sp.csr_array(shift * sp.eye_array(n) - matrix)).solve

    def inverse(x: Array) -> Array:
        x = _without(np.ravel(x), constant)
        return _without(np.asarray(solve(x)), constant)

    start = inverse(np.random.default_rng(seed).standard_normal(n))
    operator = LinearOperator((n, n), matvec=inverse, dtype=float)
    try:
        _, vectors = eigsh(operator, k=d, which="LA", v0=start, maxiter=_RESTARTS)
    except ArpackNoConvergence:
        # Points that their neighbours weigh out exactly leave eigenvalues equal but for rounding.
        more = np.random.default_rng(seed + 1).standard_normal((n, d + _MORE))
        return _by_block(matrix, constant, np.column_stack([inverse(x) for x in more.T]))
    return _ritz(matrix, vectors)


def _by_block(matrix: Any, constant: Array | None, block: Array) -> tuple[Array, Array]:
    """Inverse iteration of a block: of equal eigenvalues any vectors serve, and it finds some.

    The shift nears the largest eigenvalue as the residual falls, or eigenvalues just below those
    sought, of which there may be many, would take as many rounds as they are near.
    """
    n, size = matrix.shape[0], _norm(matrix)
    d = block.shape[1] - _MORE
    values, block = _ritz(matrix, block)
    for _ in range(_ROUNDS):
        left = matrix @ block[:, :d] - block[:, :d] * values[:d]
        off = np.linalg.norm(left, axis=0).max() / size
        if off <= _RESIDUAL:
            break
        shift = values[0] + max(off, _NEAR) * size
        solve = LdlFactor(sp.csr_array(shift * sp.eye_array(n) - matrix)).solve
        for _ in range(_SWEEPS):
            block = _without(np.column_stack([solve(x) for x in block.T]), constant)
            values, block = _ritz(matrix, block)
    else:
        warn(
            f"eigenvectors of the pencil are off by {off:.1e} after {_ROUNDS} shifts, not by "
            f"{_RESIDUAL:g} as aimed at: eigenvalues beside those sought are nearly equal. Ask "
            "for more components, or take more neighbours.",
            UncertifiedWarning,
        )
    return values[:d], block[:, :d]


def _ritz(matrix: Any, vectors: Array) -> tuple[Array, Array]:
    """Eigenpairs within the span of vectors, the largest first."""
    basis = np.linalg.qr(vectors)[0]
    small, turn = np.linalg.eigh(basis.T @ (matrix @ basis))
    return small[::-1], np.asarray(basis @ turn[:, ::-1])


def _without(x: Array, constant: Array | None) -> Array:
    return x if constant is None else x - np.multiply.outer(constant, constant @ x)


def _norm(matrix: Matrix) -> float:
    """Largest sum of sizes along a row, which no eigenvalue exceeds."""
    return float(max(abs(matrix).sum(axis=1).max(), np.finfo(float).tiny))
