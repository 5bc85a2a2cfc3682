"""What the rows of `documents.py` share: the table of checks, comparisons, and small data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.linalg import eigh
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform

import sdpdr
from sdpdr import graphs

# The check of every row, by the document and the place in print.
CHECKS: dict[tuple[str, str], Callable[[], None]] = {}

Array = np.ndarray


def row(document: str, *places: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a check for rows of the page."""

    def register(check: Callable[[], None]) -> Callable[[], None]:
        CHECKS.update({(document, place): check for place in places})
        return check

    return register


# -- comparisons -----------------------------------------------------------------------------------


def equal(found: Any, expected: Any, within: float = 1e-6) -> None:
    """Require that numbers or arrays agree, relative to the largest of them."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    size = max(float(np.abs(expected).max(initial=0.0)), 1e-3)
    off = float(np.abs(found - expected).max(initial=0.0)) / size
    assert found.shape == expected.shape, f"shape {found.shape}, expected {expected.shape}"
    assert off <= within, (
        f"off by {off:.1e}: {np.ravel(found)[:4]}, expected {np.ravel(expected)[:4]}"
    )


def less(small: float, large: float, slack: float = 1e-6) -> None:
    """Require an inequality between numbers, but for a share of the larger absolute value."""
    allowed = slack * max(abs(small), abs(large), 1e-3)
    assert small <= large + allowed, f"{small} exceeds {large}"


def same_columns(found: Array, expected: Array, within: float = 1e-6) -> None:
    """Require that columns agree up to their signs."""
    signs = np.sign(np.sum(found * expected, axis=0))
    equal(found * signs, expected, within)


def same_span(found: Array, expected: Array, within: float = 1e-6) -> None:
    """Require that columns span the same space."""
    projections = [np.linalg.qr(Z)[0] @ np.linalg.qr(Z)[0].T for Z in (found, expected)]
    equal(*projections, within)


def solved(model: Any, **options: Any) -> Any:
    """Solve a recipe, and require a proved optimum."""
    solution = sdpdr.solve(model, progress=False, **options)
    assert solution.certified(), f"{model!r}: {solution.status}"
    return solution


def optimum(objective: Any, constraints: Any = (), solver: str = "CLARABEL") -> float:
    """Solve the program as the document states it, by cvxpy and a solver of its own."""
    problem = cp.Problem(objective, list(constraints))
    problem.solve(solver=solver)
    assert problem.status == "optimal", problem.status
    return float(problem.value)


def difference_quotient(function: Callable[[Array], float], at: Array) -> Array:
    """Slopes of a function in all entries of an array."""
    slopes, step = np.zeros(at.shape), 1e-5
    for entry in np.ndindex(at.shape):
        moved = np.zeros(at.shape)
        moved[entry] = step
        slopes[entry] = (function(at + moved) - function(at - moved)) / (2.0 * step)
    return slopes


# -- the language of unfoldings in cvxpy -----------------------------------------------------------


def gram(n: int) -> Any:
    """Inner products of centred points: a definite matrix of the vectors that add up to zero."""
    basis = np.linalg.svd(centring(n))[0][:, : n - 1]
    return basis @ cp.Variable((n - 1, n - 1), PSD=True) @ basis.T


def squares(K: Any, pairs: Array) -> Any:
    """Squared distances of pairs of points with inner products K."""
    return cp.hstack([K[i, i] + K[j, j] - 2 * K[i, j] for i, j in np.asarray(pairs).tolist()])


def spread(K: Any) -> Any:
    """Sum of squared distances from the mean, of points that need not be centred."""
    return cp.trace(K) - cp.sum(K) / K.shape[0]


def edges_of(X: Array, k: int) -> tuple[Array, Array]:
    """Edges from each point to its k nearest ones, either way, and their squared lengths."""
    D = squareform(pdist(X, "sqeuclidean"))
    near = np.argsort(D + np.diag(np.full(len(D), np.inf)), axis=1)[:, :k]
    joined = np.zeros(D.shape, dtype=bool)
    joined[np.arange(len(D))[:, None], near] = True
    edges = np.argwhere(np.triu(joined | joined.T))
    return edges, D[tuple(edges.T)]


def furthest_of(X: Array) -> Array:
    """The point that is furthest from each."""
    return np.argmax(squareform(pdist(X)), axis=1)


def adjacency_of(X: Array, k: int) -> Array:
    """Matrix with ones for neighbours."""
    W = np.zeros((len(X), len(X)))
    W[tuple(edges_of(X, k)[0].T)] = 1.0
    return W + W.T


def laplacian_of(W: Array) -> Array:
    """Degrees on the diagonal, less the weights."""
    return np.diag(W.sum(axis=1)) - W


def centring(n: int) -> Array:
    """The matrix that subtracts the mean."""
    return np.eye(n) - 1.0 / n


# -- small data ------------------------------------------------------------------------------------

# Points of a plane whose neighbours are connected, two classes, and a third label that is unknown.
CLOUD = np.random.default_rng(5).standard_normal((9, 2))
GRAPH = graphs.knn(CLOUD, 3)
EDGES, LENGTHS = edges_of(CLOUD, 3)
SIDE = (CLOUD[:, 0] > 0.0).astype(int)
# Points of an arc, which unroll to their angles.
ANGLES = np.linspace(0.0, 3.0, 21)
ARC = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
# Overlapping classes in four dimensions.
SPECIES = np.repeat([0, 1, 2], 8)
FLOWERS = np.random.default_rng(1).standard_normal((24, 4)) + np.eye(4)[SPECIES] * [
    3.0,
    2.0,
    2.0,
    0.0,
]
# A nonnegative matrix with no factors of two columns.
MATRIX = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])
STACK = np.random.default_rng(3).standard_normal((4, 4, 3))


# -- pencils, written anew -------------------------------------------------------------------------


def reconstruction_of(X: Array, k: int) -> Array:
    """Weights of sum one with which the k nearest points reproduce each, with a small ridge."""
    M = np.zeros((len(X), len(X)))
    D = squareform(pdist(X)) + np.diag(np.full(len(X), np.inf))
    for i, near in enumerate(np.argsort(D, axis=1)[:, :k]):
        steps = X[near] - X[i]
        local = steps @ steps.T
        w = np.linalg.solve(local + 1e-3 * np.trace(local) * np.eye(k), np.ones(k))
        M[i, near] = w / w.sum()
    return M


def paths_of(X: Array, k: int) -> Array:
    """Lengths of shortest paths along the edges."""
    lengths = np.zeros((len(X), len(X)))
    edges, squared = edges_of(X, k)
    lengths[tuple(edges.T)] = np.sqrt(squared)
    return shortest_path(lengths, directed=False)


def products_of(D: Array) -> Array:
    """Centred inner products of plain distances."""
    H = centring(len(D))
    return -0.5 * H @ D**2 @ H


def scaled(products: Array, r: int) -> Array:
    """Leading eigenvectors times the square roots of their eigenvalues."""
    values, vectors = np.linalg.eigh(products)
    return vectors[:, ::-1][:, :r] * np.sqrt(values[::-1][:r])


def pencil_solutions(W: Array, D: Array, d: int) -> tuple[Array, Array]:
    """Largest eigenvalues of W y = t D y, and eigenvectors, among those D-orthogonal to one."""
    n = len(W)
    free = np.linalg.svd((D @ np.ones(n))[None])[2][1:].T
    values, vectors = eigh(free.T @ W @ free, free.T @ D @ free)
    return values[::-1][:d], free @ vectors[:, ::-1][:, :d]


def linear_solutions(X: Array, W: Array, D: Array, d: int, ridge: float = 0.0) -> Any:
    """The same among linear functions of centred points: X'WX a = t (X'DX + ridge I) a."""
    mass = D @ np.ones(len(X))
    X = X - mass @ X / mass.sum()
    values, vectors = eigh(X.T @ W @ X, X.T @ D @ X + ridge * np.eye(X.shape[1]))
    return values[::-1][:d], vectors[:, ::-1][:, :d]


def same_classes(y: Array) -> Array:
    """One over the size of the class for two samples of one class, else zero; -1 is no class."""
    together = (y[:, None] == y) & (y >= 0)[:, None]
    return together / np.maximum(together.sum(axis=1), 1)
