"""Thirty semidefinite programs of textbooks and courses, written in cvxpy.

Most are in Boyd and Vandenberghe, Convex Optimization, 2004 (chapters 4 to 8), or in Vandenberghe
and Boyd, Semidefinite programming, SIAM Review 38(1), 1996. Data are drawn with a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PROBLEMS: dict[str, Callable[[], cp.Problem]] = {}


def _problem(build: Callable[[], cp.Problem]) -> Callable[[], cp.Problem]:
    """List a problem under its docstring."""
    PROBLEMS[(build.__doc__ or "").rstrip(".")] = build
    return build


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


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
def max_cut() -> cp.Problem:
    """Largest cut, 60 nodes."""
    X = cp.Variable((60, 60), PSD=True)
    L = _laplacian(60, _edges(_rng(), 60, 0.1))
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])


@_problem
def max_cut_triangles() -> cp.Problem:
    """Largest cut with triangle inequalities, 16 nodes."""
    n = 16
    X = cp.Variable((n, n), PSD=True)
    L = _laplacian(n, _edges(_rng(), n, 0.4))
    i, j, k = np.array([(a, b, c) for a in range(n) for b in range(a) for c in range(b)]).T
    rows = [X[i, j] + X[j, k] + X[i, k] >= -1, X[i, j] - X[j, k] - X[i, k] >= -1]
    rows += [-X[i, j] + X[j, k] - X[i, k] >= -1, -X[i, j] - X[j, k] + X[i, k] >= -1]
    return cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1, *rows])


@_problem
def theta() -> cp.Problem:
    """Number of Lovász, 30 nodes."""
    X = cp.Variable((30, 30), PSD=True)
    i, j = np.array(_edges(_rng(), 30, 0.2)).T
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[i, j] == 0])


@_problem
def theta_dual() -> cp.Problem:
    """Dual of the number of Lovász, 30 nodes."""
    edges = _edges(_rng(), 30, 0.2)
    y = cp.Variable(len(edges))
    maps = np.zeros((900, len(edges)))
    for e, (i, j) in enumerate(edges):
        maps[[30 * i + j, 30 * j + i], e] = 1.0
    moved = cp.reshape(maps @ y, (30, 30), order="F")
    return cp.Problem(cp.Minimize(cp.lambda_max(np.ones((30, 30)) + moved)))


@_problem
def schrijver() -> cp.Problem:
    """Number of Schrijver, 20 nodes."""
    X = cp.Variable((20, 20), PSD=True)
    i, j = np.array(_edges(_rng(), 20, 0.3)).T
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, X[i, j] == 0, X >= 0])


@_problem
def eigenvalue() -> cp.Problem:
    """Least largest eigenvalue, order 40."""
    rng, x = _rng(), cp.Variable(12)
    A = [_symmetric(rng, 40) for _ in range(13)]
    return cp.Problem(cp.Minimize(cp.lambda_max(A[0] + sum(x[k] * A[k + 1] for k in range(12)))))


@_problem
def eigenvalue_sum() -> cp.Problem:
    """Sum of the five largest eigenvalues, order 20."""
    rng, x = _rng(), cp.Variable(8)
    A = [_symmetric(rng, 20) for _ in range(9)]
    moved = A[0] + sum(x[k] * A[k + 1] for k in range(8))
    return cp.Problem(cp.Minimize(cp.lambda_sum_largest(moved, 5)))


@_problem
def spectral_norm() -> cp.Problem:
    """Matrix of least spectral norm, 20 x 15."""
    rng, x = _rng(), cp.Variable(10)
    A = rng.standard_normal((11, 20, 15))
    return cp.Problem(cp.Minimize(cp.sigma_max(A[0] + sum(x[k] * A[k + 1] for k in range(10)))))


@_problem
def completion() -> cp.Problem:
    """Completion of least nuclear norm, 15 x 12."""
    rng, X = _rng(), cp.Variable((15, 12))
    truth = rng.standard_normal((15, 2)) @ rng.standard_normal((2, 12))
    i, j = np.nonzero(rng.random((15, 12)) < 0.6)
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [X[i, j] == truth[i, j]])


@_problem
def noisy_completion() -> cp.Problem:
    """Completion with noise, 12 x 10."""
    rng, X = _rng(), cp.Variable((12, 10))
    truth = rng.standard_normal((12, 2)) @ rng.standard_normal((2, 10))
    i, j = np.nonzero(rng.random((12, 10)) < 0.6)
    seen = truth[i, j] + 0.1 * rng.standard_normal(i.size)
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [cp.norm(X[i, j] - seen) <= 0.5])


@_problem
def psd_completion() -> cp.Problem:
    """Completion to a positive semidefinite matrix, order 25."""
    rng, X = _rng(), cp.Variable((25, 25), PSD=True)
    root = rng.standard_normal((25, 3))
    truth = root @ root.T
    i, j = np.array(_edges(rng, 25, 0.2)).T
    return cp.Problem(cp.Minimize(cp.trace(X)), [X[i, j] == truth[i, j]])


@_problem
def correlation() -> cp.Problem:
    """Nearest correlation matrix, order 15."""
    X = cp.Variable((15, 15), PSD=True)
    given = np.clip(_symmetric(_rng(), 15), -1, 1)
    np.fill_diagonal(given, 1.0)
    return cp.Problem(cp.Minimize(cp.norm(X - given, "fro")), [cp.diag(X) == 1])


@_problem
def correlation_bounds() -> cp.Problem:
    """Bounds on a correlation, order 20."""
    rng, X = _rng(), cp.Variable((20, 20), PSD=True)
    root = rng.standard_normal((20, 30))
    truth = np.corrcoef(root)
    i, j = np.array(_edges(rng, 20, 0.3)[1:]).T
    rows = [cp.diag(X) == 1, X[i, j] <= truth[i, j] + 0.1, X[i, j] >= truth[i, j] - 0.1]
    return cp.Problem(cp.Maximize(X[0, 1]), rows)


@_problem
def lyapunov() -> cp.Problem:
    """Stability by a function of Lyapunov, order 15."""
    n = 15
    P = cp.Variable((n, n), symmetric=True)
    A = _rng().standard_normal((n, n)) / np.sqrt(n) - 1.5 * np.eye(n)
    rows = [P >> np.eye(n), A.T @ P + P @ A << -np.eye(n)]
    return cp.Problem(cp.Minimize(cp.trace(P)), rows)


@_problem
def inclusion() -> cp.Problem:
    """Largest rate of decay of a differential inclusion, order 6."""
    rng, n = _rng(), 6
    P, t = cp.Variable((n, n), symmetric=True), cp.Variable()
    A = [rng.standard_normal((n, n)) / 4.0 - 2.0 * np.eye(n) for _ in range(4)]
    rows = [a.T @ P + P @ a << -t * np.eye(n) for a in A]
    return cp.Problem(cp.Maximize(t), [*rows, P >> 0, P << np.eye(n)])


@_problem
def regulator() -> cp.Problem:
    """Linear quadratic regulator as a matrix inequality, order 8."""
    rng, n = _rng(), 8
    P = cp.Variable((n, n), symmetric=True)
    A, B = rng.standard_normal((n, n)) / 3.0, rng.standard_normal((n, 2))
    block = cp.bmat([[A.T @ P + P @ A + np.eye(n), P @ B], [B.T @ P, np.eye(2)]])
    return cp.Problem(cp.Maximize(cp.trace(P)), [block >> 0])


@_problem
def chebyshev() -> cp.Problem:
    """Largest ball in a polyhedron (Chebyshev centre), 20 dimensions."""
    rng, x, r = _rng(), cp.Variable(20), cp.Variable()
    A = rng.standard_normal((80, 20))
    return cp.Problem(cp.Maximize(r), [A @ x + r * np.linalg.norm(A, axis=1) <= 1 + rng.random(80)])


@_problem
def e_design() -> cp.Problem:
    """E-optimal design, 40 experiments."""
    V, w = _rng().standard_normal((8, 40)), cp.Variable(40, nonneg=True)
    return cp.Problem(cp.Maximize(cp.lambda_min(V @ cp.diag(w) @ V.T)), [cp.sum(w) == 1])


@_problem
def a_design() -> cp.Problem:
    """A-optimal design, 30 experiments."""
    V, w = _rng().standard_normal((5, 30)), cp.Variable(30, nonneg=True)
    u = cp.Variable(5)
    M = V @ cp.diag(w) @ V.T
    e = np.eye(5)[:, :, None]
    rows = [
        cp.bmat([[M, e[k]], [e[k].T, cp.reshape(u[k], (1, 1), order="F")]]) >> 0 for k in range(5)
    ]
    return cp.Problem(cp.Minimize(cp.sum(u)), [cp.sum(w) == 1, *rows])


@_problem
def d_design() -> cp.Problem:
    """D-optimal design by a geometric mean, 30 experiments."""
    n, w = 4, cp.Variable(30, nonneg=True)
    V = _rng().standard_normal((n, 30))
    Z = cp.Variable((n, n))
    block = cp.bmat([[V @ cp.diag(w) @ V.T, Z], [Z.T, cp.diag(cp.diag(Z))]])
    rows = [cp.sum(w) == 1, block >> 0, cp.upper_tri(Z) == 0]
    return cp.Problem(cp.Maximize(cp.geo_mean(cp.diag(Z))), rows)


@_problem
def mixing() -> cp.Problem:
    """Fastest mixing Markov chain, 24 nodes."""
    n, edges = 24, _edges(_rng(), 24, 0.1)
    w = cp.Variable(len(edges), nonneg=True)
    incidence = np.zeros((n, len(edges)))
    for e, (i, j) in enumerate(edges):
        incidence[[i, j], e] = 1.0, -1.0
    P = np.eye(n) - incidence @ cp.diag(w) @ incidence.T
    slow = cp.sigma_max(P - np.ones((n, n)) / n)
    return cp.Problem(cp.Minimize(slow), [np.abs(incidence) @ w <= 1])


@_problem
def resistance() -> cp.Problem:
    """Least resistance of a network, 20 nodes."""
    n, edges = 20, _edges(_rng(), 20, 0.2)
    g = cp.Variable(len(edges), nonneg=True)
    incidence = np.zeros((n, len(edges)))
    for e, (i, j) in enumerate(edges):
        incidence[[i, j], e] = 1.0, -1.0
    L = incidence @ cp.diag(g) @ incidence.T + np.ones((n, n)) / n
    return cp.Problem(cp.Minimize(cp.tr_inv(L)), [cp.sum(g) == 1])


@_problem
def sensors() -> cp.Problem:
    """Places of sensors, 20 sensors and 4 anchors."""
    rng, n = _rng(), 20
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
def unfolding() -> cp.Problem:
    """Unfolding of largest variance, 25 points."""
    rng, n = _rng(), 25
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
def ball() -> cp.Problem:
    """Ball of least volume around points, 30 points in the plane."""
    points = _rng().standard_normal((30, 2))
    x, r = cp.Variable(2), cp.Variable()
    return cp.Problem(cp.Minimize(r), [cp.norm(points[k] - x) <= r for k in range(30)])


@_problem
def ellipsoid() -> cp.Problem:
    """Ellipsoid of least volume around points, 20 points in the plane."""
    points = _rng().standard_normal((20, 2))
    A, b, Z = cp.Variable((2, 2), symmetric=True), cp.Variable(2), cp.Variable((2, 2))
    block = cp.bmat([[A, Z], [Z.T, cp.diag(cp.diag(Z))]])
    rows = [cp.norm(A @ points[k] + b) <= 1 for k in range(20)]
    volume = cp.geo_mean(cp.diag(Z))
    return cp.Problem(cp.Maximize(volume), [block >> 0, cp.upper_tri(Z) == 0, *rows])


@_problem
def sparse_pca() -> cp.Problem:
    """Sparse principal component, order 15."""
    data = _rng().standard_normal((40, 15)) @ np.diag(np.linspace(2.0, 0.5, 15))
    S = data.T @ data / 40.0
    X = cp.Variable((15, 15), PSD=True)
    rows = [cp.trace(X) == 1, cp.sum(cp.abs(X)) <= 4]
    return cp.Problem(cp.Maximize(cp.trace(S @ X)), rows)


@_problem
def partition() -> cp.Problem:
    """Partition into halves, 40 nodes."""
    L = _laplacian(40, _edges(_rng(), 40, 0.15))
    X = cp.Variable((40, 40), PSD=True)
    return cp.Problem(cp.Minimize(cp.trace(L @ X) / 4), [cp.diag(X) == 1, cp.sum(X) == 0])


@_problem
def robust() -> cp.Problem:
    """Robust least squares, 20 x 6."""
    rng, x = _rng(), cp.Variable(6)
    A, b = rng.standard_normal((20, 6)), rng.standard_normal(20)
    return cp.Problem(cp.Minimize(cp.norm(A @ x - b) + 0.3 * cp.norm(x)))


@_problem
def polynomial() -> cp.Problem:
    """Sum of squares bound on a polynomial of degree 8."""
    coefficients = np.array([1.0, -2.0, 3.0, 1.0, -4.0, 0.5, 1.0, -1.0, 1.0])
    Q, t = cp.Variable((5, 5), PSD=True), cp.Variable()
    rows = []
    for k, c in enumerate(coefficients):
        places = [(i, k - i) for i in range(5) if 0 <= k - i < 5]
        rows.append(sum(Q[i, j] for i, j in places) == c - (t if k == 0 else 0))
    return cp.Problem(cp.Maximize(t), rows)
