"""Thirty semidefinite programs of textbooks and courses, written in cvxpy.

Most are in Boyd and Vandenberghe, Convex Optimization, 2004 (chapters 4 to 8), or in Vandenberghe
and Boyd, Semidefinite programming, SIAM Review 38(1), 1996. Data are drawn with a fixed seed; sizes
are those of the names, or multiples of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Draw:
    """What a problem is made of besides its name.

    Attributes
    ----------
    times : float
        Sizes, over those in the name.
    seed : int
    """

    times: float = 1.0
    seed: int = 0

    def size(self, named: int) -> int:
        """A size that the name has, at this multiple."""
        return max(2, round(self.times * named))

    def rng(self) -> np.random.Generator:
        """What draws the data."""
        return np.random.default_rng(self.seed)


Build = Callable[[Draw], cp.Problem]
PROBLEMS: dict[str, Build] = {}


def _problem(build: Build) -> Build:
    """List a problem under its docstring."""
    PROBLEMS[(build.__doc__ or "").rstrip(".")] = build
    return build


def _symmetric(rng: np.random.Generator, n: int) -> Array:
    root = rng.standard_normal((n, n))
    return (root + root.T) / 2.0


def _edges(rng: np.random.Generator, n: int, share: float) -> list[tuple[int, int]]:
    """Edges of a random graph that has a ring in it."""
    drawn = np.argwhere(np.triu(rng.random((n, n)) < share, 1))
    ring = {(i, i + 1) for i in range(n - 1)} | {(0, n - 1)}
    return sorted(ring | {(int(i), int(j)) for i, j in drawn})


def _laplacian(n: int, edges: list[tuple[int, int]]) -> Array:
    matrix = np.zeros((n, n))
    for i, j in edges:
        matrix[[i, j], [i, j]] += 1.0
        matrix[[i, j], [j, i]] -= 1.0
    return matrix


@_problem
def max_cut(draw: Draw) -> cp.Problem:
    """Largest cut, 60 nodes."""
    n = draw.size(60)
    X = cp.Variable((n, n), PSD=True)
    L = _laplacian(n, _edges(draw.rng(), n, 0.1))
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])


@_problem
def max_cut_triangles(draw: Draw) -> cp.Problem:
    """Largest cut with triangle inequalities, 16 nodes."""
    n = draw.size(16)
    X = cp.Variable((n, n), PSD=True)
    L = _laplacian(n, _edges(draw.rng(), n, 0.4))
    i, j, k = np.array([(a, b, c) for a in range(n) for b in range(a) for c in range(b)]).T
    rows = [X[i, j] + X[j, k] + X[i, k] >= -1, X[i, j] - X[j, k] - X[i, k] >= -1]
    rows += [-X[i, j] + X[j, k] - X[i, k] >= -1, -X[i, j] - X[j, k] + X[i, k] >= -1]
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1, *rows])


@_problem
def theta(draw: Draw) -> cp.Problem:
    """Number of Lovász, 30 nodes."""
    n = draw.size(30)
    X = cp.Variable((n, n), PSD=True)
    i, j = np.array(_edges(draw.rng(), n, 0.2)).T
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[i, j] == 0])


@_problem
def theta_dual(draw: Draw) -> cp.Problem:
    """Dual of the number of Lovász, 30 nodes."""
    n = draw.size(30)
    edges = _edges(draw.rng(), n, 0.2)
    y = cp.Variable(len(edges))
    maps = np.zeros((n * n, len(edges)))
    for e, (i, j) in enumerate(edges):
        maps[[n * i + j, n * j + i], e] = 1.0
    moved = cp.reshape(maps @ y, (n, n), order="F")
    return cp.Problem(cp.Minimize(cp.lambda_max(np.ones((n, n)) + moved)))


@_problem
def schrijver(draw: Draw) -> cp.Problem:
    """Number of Schrijver, 20 nodes."""
    n = draw.size(20)
    X = cp.Variable((n, n), PSD=True)
    i, j = np.array(_edges(draw.rng(), n, 0.3)).T
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[i, j] == 0, X >= 0])


@_problem
def eigenvalue(draw: Draw) -> cp.Problem:
    """Least largest eigenvalue, order 40."""
    rng, n, p = draw.rng(), draw.size(40), draw.size(12)
    x, A = cp.Variable(p), [_symmetric(rng, n) for _ in range(p + 1)]
    return cp.Problem(cp.Minimize(cp.lambda_max(A[0] + sum(x[k] * A[k + 1] for k in range(p)))))


@_problem
def eigenvalue_sum(draw: Draw) -> cp.Problem:
    """Sum of the five largest eigenvalues, order 20."""
    rng, n, p = draw.rng(), draw.size(20), draw.size(8)
    x, A = cp.Variable(p), [_symmetric(rng, n) for _ in range(p + 1)]
    moved = A[0] + sum(x[k] * A[k + 1] for k in range(p))
    return cp.Problem(cp.Minimize(cp.lambda_sum_largest(moved, 5)))


@_problem
def spectral_norm(draw: Draw) -> cp.Problem:
    """Matrix of least spectral norm, 20 x 15."""
    rng, p = draw.rng(), draw.size(10)
    x, A = cp.Variable(p), rng.standard_normal((p + 1, draw.size(20), draw.size(15)))
    return cp.Problem(cp.Minimize(cp.sigma_max(A[0] + sum(x[k] * A[k + 1] for k in range(p)))))


@_problem
def completion(draw: Draw) -> cp.Problem:
    """Completion of least nuclear norm, 15 x 12."""
    rng, m, n = draw.rng(), draw.size(15), draw.size(12)
    X = cp.Variable((m, n))
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    i, j = np.nonzero(rng.random((m, n)) < 0.6)
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [X[i, j] == truth[i, j]])


@_problem
def noisy_completion(draw: Draw) -> cp.Problem:
    """Completion with noise, 12 x 10."""
    rng, m, n = draw.rng(), draw.size(12), draw.size(10)
    X = cp.Variable((m, n))
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    i, j = np.nonzero(rng.random((m, n)) < 0.6)
    seen = truth[i, j] + 0.1 * rng.standard_normal(i.size)
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.norm(X[i, j] - seen) <= 0.5])


@_problem
def psd_completion(draw: Draw) -> cp.Problem:
    """Completion to a positive semidefinite matrix, order 25."""
    rng, n = draw.rng(), draw.size(25)
    X = cp.Variable((n, n), PSD=True)
    root = rng.standard_normal((n, 3))
    truth = root @ root.T
    i, j = np.array(_edges(rng, n, 0.2)).T
    return cp.Problem(cp.Minimize(cp.trace(X)), [X[i, j] == truth[i, j]])


@_problem
def correlation(draw: Draw) -> cp.Problem:
    """Nearest correlation matrix, order 15."""
    n = draw.size(15)
    X = cp.Variable((n, n), PSD=True)
    given = np.clip(_symmetric(draw.rng(), n), -1, 1)
    np.fill_diagonal(given, 1.0)
    return cp.Problem(cp.Minimize(cp.norm(X - given, "fro")), [cp.diag(X) == 1])


@_problem
def correlation_bounds(draw: Draw) -> cp.Problem:
    """Bounds on a correlation, order 20."""
    rng, n = draw.rng(), draw.size(20)
    X = cp.Variable((n, n), PSD=True)
    truth = np.corrcoef(rng.standard_normal((n, draw.size(30))))
    i, j = np.array(_edges(rng, n, 0.3)[1:]).T
    rows = [cp.diag(X) == 1, X[i, j] <= truth[i, j] + 0.1, X[i, j] >= truth[i, j] - 0.1]
    return cp.Problem(cp.Maximize(X[0, 1]), rows)


@_problem
def lyapunov(draw: Draw) -> cp.Problem:
    """Stability by a function of Lyapunov, order 15."""
    n = draw.size(15)
    P = cp.Variable((n, n), symmetric=True)
    A = draw.rng().standard_normal((n, n)) / np.sqrt(n) - 1.5 * np.eye(n)
    rows = [P >> np.eye(n), A.T @ P + P @ A << -np.eye(n)]
    return cp.Problem(cp.Minimize(cp.trace(P)), rows)


@_problem
def inclusion(draw: Draw) -> cp.Problem:
    """Largest rate of decay of a differential inclusion, order 6."""
    rng, n = draw.rng(), draw.size(6)
    P, t = cp.Variable((n, n), symmetric=True), cp.Variable()
    A = [rng.standard_normal((n, n)) / 4.0 - 2.0 * np.eye(n) for _ in range(4)]
    rows = [a.T @ P + P @ a << -t * np.eye(n) for a in A]
    return cp.Problem(cp.Maximize(t), [*rows, P >> 0, P << np.eye(n)])


@_problem
def regulator(draw: Draw) -> cp.Problem:
    """Linear quadratic regulator as a matrix inequality, order 8."""
    rng, n = draw.rng(), draw.size(8)
    P = cp.Variable((n, n), symmetric=True)
    A, B = rng.standard_normal((n, n)) / 3.0, rng.standard_normal((n, 2))
    block = cp.bmat([[A.T @ P + P @ A + np.eye(n), P @ B], [B.T @ P, np.eye(2)]])
    return cp.Problem(cp.Maximize(cp.trace(P)), [block >> 0])


@_problem
def chebyshev(draw: Draw) -> cp.Problem:
    """Largest ball in a polyhedron (Chebyshev centre), 20 dimensions."""
    rng, m, n = draw.rng(), draw.size(80), draw.size(20)
    x, r = cp.Variable(n), cp.Variable()
    A = rng.standard_normal((m, n))
    return cp.Problem(cp.Maximize(r), [A @ x + r * np.linalg.norm(A, axis=1) <= 1 + rng.random(m)])


@_problem
def e_design(draw: Draw) -> cp.Problem:
    """E-optimal design, 40 experiments."""
    n, p = draw.size(8), draw.size(40)
    V, w = draw.rng().standard_normal((n, p)), cp.Variable(p, nonneg=True)
    return cp.Problem(cp.Maximize(cp.lambda_min(V @ cp.diag(w) @ V.T)), [cp.sum(w) == 1])


@_problem
def a_design(draw: Draw) -> cp.Problem:
    """A-optimal design, 30 experiments."""
    n, p = draw.size(5), draw.size(30)
    V, w, u = draw.rng().standard_normal((n, p)), cp.Variable(p, nonneg=True), cp.Variable(n)
    M = V @ cp.diag(w) @ V.T
    e = np.eye(n)[:, :, None]
    rows = [
        cp.bmat([[M, e[k]], [e[k].T, cp.reshape(u[k], (1, 1), order="F")]]) >> 0 for k in range(n)
    ]
    return cp.Problem(cp.Minimize(cp.sum(u)), [cp.sum(w) == 1, *rows])


@_problem
def d_design(draw: Draw) -> cp.Problem:
    """D-optimal design by a geometric mean, 30 experiments."""
    n, p = draw.size(4), draw.size(30)
    V, w = draw.rng().standard_normal((n, p)), cp.Variable(p, nonneg=True)
    Z = cp.Variable((n, n))
    block = cp.bmat([[V @ cp.diag(w) @ V.T, Z], [Z.T, cp.diag(cp.diag(Z))]])
    rows = [cp.sum(w) == 1, block >> 0, cp.upper_tri(Z) == 0]
    return cp.Problem(cp.Maximize(cp.geo_mean(cp.diag(Z))), rows)


@_problem
def mixing(draw: Draw) -> cp.Problem:
    """Fastest mixing Markov chain, 24 nodes."""
    n = draw.size(24)
    edges = _edges(draw.rng(), n, 0.1)
    w = cp.Variable(len(edges), nonneg=True)
    incidence = np.zeros((n, len(edges)))
    for e, (i, j) in enumerate(edges):
        incidence[[i, j], e] = 1.0, -1.0
    P = np.eye(n) - incidence @ cp.diag(w) @ incidence.T
    slow = cp.sigma_max(P - np.ones((n, n)) / n)
    return cp.Problem(cp.Minimize(slow), [np.abs(incidence) @ w <= 1])


@_problem
def resistance(draw: Draw) -> cp.Problem:
    """Least resistance of a network, 20 nodes."""
    n = draw.size(20)
    edges = _edges(draw.rng(), n, 0.2)
    g = cp.Variable(len(edges), nonneg=True)
    incidence = np.zeros((n, len(edges)))
    for e, (i, j) in enumerate(edges):
        incidence[[i, j], e] = 1.0, -1.0
    L = incidence @ cp.diag(g) @ incidence.T + np.ones((n, n)) / n
    return cp.Problem(cp.Minimize(cp.tr_inv(L)), [cp.sum(g) == 1])


@_problem
def sensors(draw: Draw) -> cp.Problem:
    """Places of sensors, 20 sensors and 4 anchors."""
    rng, n = draw.rng(), draw.size(20)
    anchors = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    truth = rng.random((n, 2))
    Z = cp.Variable((n + 2, n + 2), PSD=True)
    rows, cost = [Z[:2, :2] == np.eye(2)], []
    for i in range(n):
        for j in range(i):
            if np.linalg.norm(truth[i] - truth[j]) < 0.35:
                length = Z[i + 2, i + 2] + Z[j + 2, j + 2] - 2 * Z[i + 2, j + 2]
                cost.append(length - np.sum((truth[i] - truth[j]) ** 2))
        for a in anchors:
            length = a @ a - 2 * a @ Z[:2, i + 2] + Z[i + 2, i + 2]
            noise = 1.0 + 0.05 * rng.standard_normal()
            cost.append(length - noise * np.sum((truth[i] - a) ** 2))
    return cp.Problem(cp.Minimize(cp.norm1(cp.hstack(cost))), rows)


@_problem
def unfolding(draw: Draw) -> cp.Problem:
    """Unfolding of largest variance, 25 points."""
    rng, n = draw.rng(), draw.size(25)
    angle = np.sort(3.0 * rng.random(n))
    points = np.column_stack([angle * np.cos(angle), angle * np.sin(angle)])
    K = cp.Variable((n, n), PSD=True)
    i, j = np.array([(a, b) for a in range(n) for b in (a + 1, a + 2) if b < n]).T
    lengths = np.sum((points[i] - points[j]) ** 2, axis=1)
    d = cp.diag(K)
    return cp.Problem(
        cp.Maximize(cp.trace(K)), [cp.sum(K) == 0, d[i] + d[j] - 2 * K[i, j] == lengths]
    )


@_problem
def ball(draw: Draw) -> cp.Problem:
    """Ball of least volume around points, 30 points in the plane."""
    points = draw.rng().standard_normal((draw.size(30), 2))
    x, r = cp.Variable(2), cp.Variable()
    return cp.Problem(cp.Minimize(r), [cp.norm(point - x) <= r for point in points])


@_problem
def ellipsoid(draw: Draw) -> cp.Problem:
    """Ellipsoid of least volume around points, 20 points in the plane."""
    points = draw.rng().standard_normal((draw.size(20), 2))
    A, b, Z = cp.Variable((2, 2), symmetric=True), cp.Variable(2), cp.Variable((2, 2))
    block = cp.bmat([[A, Z], [Z.T, cp.diag(cp.diag(Z))]])
    rows = [cp.norm(A @ point + b) <= 1 for point in points]
    volume = cp.geo_mean(cp.diag(Z))
    return cp.Problem(cp.Maximize(volume), [block >> 0, cp.upper_tri(Z) == 0, *rows])


@_problem
def sparse_pca(draw: Draw) -> cp.Problem:
    """Sparse principal component, order 15."""
    n, m = draw.size(15), draw.size(40)
    data = draw.rng().standard_normal((m, n)) @ np.diag(np.linspace(2.0, 0.5, n))
    S = data.T @ data / m
    X = cp.Variable((n, n), PSD=True)
    rows = [cp.trace(X) == 1, cp.sum(cp.abs(X)) <= 4]
    return cp.Problem(cp.Maximize(cp.trace(S @ X)), rows)


@_problem
def partition(draw: Draw) -> cp.Problem:
    """Partition into halves, 40 nodes."""
    n = draw.size(40)
    L = _laplacian(n, _edges(draw.rng(), n, 0.15))
    X = cp.Variable((n, n), PSD=True)
    return cp.Problem(cp.Minimize(cp.trace(L @ X) / 4), [cp.diag(X) == 1, cp.sum(X) == 0])


@_problem
def robust(draw: Draw) -> cp.Problem:
    """Robust least squares, 20 x 6."""
    rng, m, n = draw.rng(), draw.size(20), draw.size(6)
    x, A, b = cp.Variable(n), rng.standard_normal((m, n)), rng.standard_normal(m)
    return cp.Problem(cp.Minimize(cp.norm(A @ x - b) + 0.3 * cp.norm(x)))


@_problem
def polynomial(draw: Draw) -> cp.Problem:
    """Sum of squares bound on a polynomial of degree 8."""
    half = draw.size(4)
    # The last one is positive: else there is no bound.
    coefficients = np.append(draw.rng().standard_normal(2 * half), 1.0)
    Q, t = cp.Variable((half + 1, half + 1), PSD=True), cp.Variable()
    rows = []
    for k, c in enumerate(coefficients):
        places = [(i, k - i) for i in range(half + 1) if 0 <= k - i <= half]
        rows.append(sum(Q[i, j] for i, j in places) == c - (t if k == 0 else 0))
    return cp.Problem(cp.Maximize(t), rows)
