"""Eigenproblems and regressions as convex programs: the values of the direct methods."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp

import sdpdr
from sdpdr import extend, graphs, methods
from sdpdr.errors import DataError, ShapeError

SOLVERS = [
    ("clarabel", "gram"),
    ("cvxopt", "gram"),
    pytest.param("sdpa", "gram", marks=pytest.mark.nightly),
    ("scs", "lmi"),
]


def symmetric(n, seed):
    N = np.random.default_rng(seed).standard_normal((n, n))
    return N + N.T


@pytest.mark.daily(2)
@pytest.mark.parametrize(("solver", "form"), SOLVERS)
@pytest.mark.parametrize("d", [1, 3])
def test_the_fantope_program_has_the_sum_of_leading_eigenvalues(solver, form, d):
    N = symmetric(6, 0)
    solution = sdpdr.solve(methods.fantope(N, d), solver, form, tol=1e-6)
    values, vectors = np.linalg.eigh(N)
    assert solution.value == pytest.approx(values[-d:].sum(), rel=1e-5)
    assert solution.bound >= values[-d:].sum() - 1e-5
    projection = vectors[:, -d:] @ vectors[:, -d:].T
    np.testing.assert_allclose(np.asarray(solution.values["Z"]), projection, atol=1e-2)


def test_a_pencil_is_such_a_program():
    X = np.random.default_rng(0).standard_normal((12, 2))
    pencil = extend.laplacian_pencil(graphs.knn(X, 3, connect="mst"))
    found = extend.graph_embedding(pencil, 2)
    solution = sdpdr.solve(methods.fantope(pencil.normalized().toarray(), 3))
    assert solution.value == pytest.approx(1.0 + found.eigenvalues.sum(), abs=1e-6)


def test_a_direction_without_a_penalty_is_the_eigenvector():
    A = symmetric(5, 1)
    R = np.random.default_rng(2).standard_normal((5, 5))
    B = R @ R.T + np.eye(5)
    solution = sdpdr.solve(methods.sparse_direction(A, B), tol=1e-8)
    values, vectors = sl.eigh(A, B)
    assert solution.value == pytest.approx(values[-1], abs=1e-6)
    a = vectors[:, -1]
    np.testing.assert_allclose(np.asarray(solution.gram("Z")), np.outer(a, a), atol=1e-4)


def test_a_penalty_leaves_fewer_entries():
    A = symmetric(6, 3)
    A = A @ A
    counts, values = [], []
    for penalty in (0.0, 0.5, 2.0):
        solution = sdpdr.solve(methods.sparse_direction(A, penalty=penalty), "clarabel", tol=1e-8)
        Z = np.asarray(solution.values["Z"])
        counts.append(int(np.sum(np.abs(Z) > 1e-5)))
        values.append(solution.value)
    assert counts[0] == 36
    assert counts[2] < counts[1] <= 36
    assert values[0] > values[1] > values[2]
    # A large penalty leaves the largest diagonal entry less the penalty.
    solution = sdpdr.solve(methods.sparse_direction(A, penalty=100.0), "clarabel")
    assert solution.value == pytest.approx(np.max(np.diag(A)) - 100.0, abs=1e-4)


@pytest.mark.daily(2)
@pytest.mark.parametrize(("ridge", "lasso"), [(0.7, 0.0), (0.0, 1.5), (0.4, 1.5)])
@pytest.mark.parametrize(("solver", "form"), [("clarabel", "lmi"), ("clarabel", "cvxpy")])
def test_a_regression_has_the_answer_of_the_direct_method(ridge, lasso, solver, form):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    solution = sdpdr.solve(methods.regression(X, y, ridge, lasso), solver, form, tol=1e-9)
    if lasso:
        x_mean = X.mean(axis=0)
        expected = extend.sparse_path(X - x_mean, y - y.mean(), ridge).at(lasso)
    else:
        expected = extend.ridge(X, y, ridge).coef[:, 0]
    np.testing.assert_allclose(solution.values["a"], expected, atol=1e-5)
    b = y.mean() - X.mean(axis=0) @ expected
    np.testing.assert_allclose(solution.values["a_0"], [b], atol=1e-5)


def test_a_regression_takes_a_penalty_and_sparse_data():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    P = extend.grid_laplacian((2, 3))
    model = methods.regression(sp.csr_array(X), y, 0.7, penalty=P)
    solution = sdpdr.solve(model, "clarabel", tol=1e-9)
    expected = extend.ridge(X, y, 0.7, penalty=P).coef[:, 0]
    np.testing.assert_allclose(solution.values["a"], expected, atol=1e-5)


# -- the trace ratio ------------------------------------------------------------------------------


def scatters(seed, m=5):
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((m, 3)), rng.standard_normal((m, m))
    return A @ A.T, B @ B.T + 0.1 * np.eye(m)


@pytest.mark.parametrize("seed", range(3))
def test_the_trace_ratio_is_the_zero_of_the_fantope_programs(seed):
    A, B = scatters(seed)
    found = extend.trace_ratio(A, B, 2)
    assert found.value <= found.bound <= found.value * (1.0 + 1e-9)
    solution = sdpdr.solve(methods.fantope(A - found.value * B, 2), "clarabel", tol=1e-9)
    assert abs(solution.value) < 1e-5 * np.trace(A)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        V = np.linalg.qr(rng.standard_normal((5, 2)))[0]
        assert np.trace(V.T @ A @ V) / np.trace(V.T @ B @ V) <= found.bound


def test_the_ratio_trace_is_another_problem():
    A, B = scatters(0)
    found = extend.trace_ratio(A, B, 2)
    V = np.linalg.qr(sl.eigh(A, B)[1][:, -2:])[0]
    other = np.trace(V.T @ A @ V) / np.trace(V.T @ B @ V)
    assert other < 0.98 * found.value


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: methods.fantope(np.ones((2, 3))), ShapeError, "square"),
        (lambda: methods.fantope(np.triu(np.ones((3, 3)))), DataError, "symmetric"),
        (lambda: methods.fantope(np.eye(3), 3), DataError, "1..2"),
        (lambda: methods.fantope(np.full((3, 3), np.nan)), DataError, "nan"),
        (lambda: methods.sparse_direction(np.eye(3), -np.eye(3)), DataError, "definite"),
        (lambda: methods.sparse_direction(np.eye(3), np.eye(2)), ShapeError, "shape"),
        (lambda: methods.sparse_direction(np.eye(3), penalty=-1.0), DataError, "penalty"),
        (lambda: methods.regression(np.eye(3), np.ones(2)), ShapeError, "shape"),
        (lambda: methods.regression(np.eye(3), np.ones(3), -1.0), DataError, "ridge"),
        (lambda: extend.trace_ratio(np.eye(3), np.diag([1.0, 0.0, 0.0])), DataError, "vanish"),
        (lambda: extend.trace_ratio(np.eye(3), np.eye(2)), ShapeError, "equal shapes"),
        (lambda: extend.trace_ratio(np.eye(3), np.eye(3), 4), DataError, "1..3"),
    ],
)
def test_what_cannot_be_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
