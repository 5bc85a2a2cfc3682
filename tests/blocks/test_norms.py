"""Norms of matrices written with operators: values, and the pairs that are dual to each other."""

import numpy as np
import pytest

import sdpdr
from sdpdr import matrix, maximize, minimize, norm, psd, scalar, sum_largest, symmetric
from sdpdr.linalg import smat, svec_size

RNG = np.random.default_rng(5)
X = RNG.standard_normal((3, 4))
S = smat(RNG.standard_normal(svec_size(5)))
SIZES = np.linalg.svd(X, compute_uv=False)
EIGENVALUES = np.sort(np.linalg.eigvalsh(S))[::-1]


def value(model):
    solution = sdpdr.solve(model, "clarabel", tol=1e-8)
    # Some duals have a single point, and so no interior to prove a bound in, or little of it.
    proved = (sdpdr.Status.SOLVED, sdpdr.Status.OPTIMAL_NEARBY)
    assert solution.status in proved or solution.certified(1e-7), solution.claimed
    return solution.value


def max_norm(M, t):
    """The constraints that rows of factors of M have squared lengths of at most t."""
    Z = psd("Z", sum(M.shape))
    p = M.shape[0]
    return (Z[:p, p:] == M) + (Z.diagonal() <= t).named("longest")


def dual_max_norm(P, t):
    """The constraints that the dual of the max-norm of P is at most t."""
    d, p = scalar("d", sum(P.shape)), P.shape[0]
    return (np.block([[np.diag(d[:p]), P], [P.T, np.diag(d[p:])]]) >> 0.0) + (0.5 * d.sum() <= t)


def test_norms_of_a_matrix():
    M, t = matrix("M", X.shape), scalar("t")
    for function, expected in ((norm(M, "nuc"), SIZES.sum()), (norm(M, 2), SIZES[0])):
        assert value(minimize(function) + (M == X)) == pytest.approx(expected, rel=1e-6)
    spread = np.block([[np.zeros((3, 3)), M], [M.T, np.zeros((4, 4))]])
    both = value(minimize(sum_largest(spread, 2)) + (M == X))
    assert both == pytest.approx(SIZES[:2].sum(), rel=1e-6)
    hadamard = np.array([[1.0, 1.0], [1.0, -1.0]])
    for given, expected in ((np.eye(3), 1.0), (np.kron(hadamard, hadamard), 2.0)):
        M = matrix("M", given.shape)
        found = value(minimize(t) + (M - given == 0.0) + max_norm(M, t))
        assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("ball", "dual"), [(2, SIZES.sum()), ("nuc", SIZES[0])])
def test_the_largest_inner_product_over_a_ball_is_the_dual_norm(ball, dual):
    M = matrix("M", X.shape)
    assert value(maximize(M.inner(X)) + (norm(M, ball) <= 1.0)) == pytest.approx(dual, rel=1e-6)


@pytest.mark.parametrize(("ball", "other"), [(max_norm, dual_max_norm), (dual_max_norm, max_norm)])
def test_the_two_max_norms_are_dual(ball, other):
    M, t = matrix("M", X.shape), scalar("t")
    largest = value(maximize(M.inner(X)) + ball(M, 1.0))
    assert largest == pytest.approx(value(minimize(t) + (M == X) + other(M, t)), rel=1e-6)


def test_the_max_norm_is_the_largest_scaled_trace_norm():
    M, t = matrix("M", X.shape), scalar("t")
    model = minimize(t) + (M == X) + max_norm(M, t)
    solution = sdpdr.solve(model, "clarabel", tol=1e-9)
    d = np.maximum(solution.duals["longest"], 0.0)
    u, v = (np.sqrt(part / part.sum()) for part in (d[:3], d[3:]))
    best = np.linalg.svd(u[:, None] * X * v, compute_uv=False).sum()
    assert best == pytest.approx(solution.value, rel=1e-5)
    for _ in range(20):
        u, v = (w / np.linalg.norm(w) for w in (RNG.random(3), RNG.random(4)))
        other = np.linalg.svd(u[:, None] * X * v, compute_uv=False).sum()
        assert other <= solution.value * (1.0 + 1e-8)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_fantope_and_sums_of_largest_eigenvalues_are_dual(k):
    F, T = psd("F", 5), symmetric("T", 5)
    model = maximize(F.inner(S)) + (F << np.eye(5)) + (F.trace() == float(k))
    solution = sdpdr.solve(model, "clarabel", tol=1e-9)
    assert solution.value == pytest.approx(EIGENVALUES[:k].sum(), rel=1e-7)
    least = value(minimize(sum_largest(T, k)) + (T == S))
    assert least == pytest.approx(solution.value, rel=1e-6)
    # The best is a projection onto the leading eigenvectors.
    roots = np.linalg.eigvalsh(solution.values["F"])
    np.testing.assert_allclose(roots[-k:], 1.0, atol=1e-4)
    np.testing.assert_allclose(roots[:-k], 0.0, atol=1e-4)
