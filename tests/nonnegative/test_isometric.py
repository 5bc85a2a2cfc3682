"""Isometric factors: gradients, the model, curves, bounds, how it ends, what is refused."""

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime, nnls
from scipy.sparse import csr_array

from sdpdr import graphs, methods
from sdpdr import solve as solved
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    InfeasibleError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.nonnegative import (
    IsometricLagrangian,
    IsometricStatus,
    Multipliers,
    descend,
    hoyer,
    isometric_factors,
)

FACES = Path(__file__).parents[3] / "shared" / "data" / "cbcl_faces_19x19.npz"


def a_problem(n=7, m=6, k=3, seed=0, weights=None):
    """A Lagrangian with all its terms, and a point."""
    rng = np.random.default_rng(seed)
    V = rng.random((n, m))
    graph = graphs.knn(V, 2, connect="none")
    furthest = graphs.furthest_pairs(V).furthest
    half = csr_array((np.ones(n), (np.arange(n), furthest)), shape=(n, n))
    both = (half + half.T).toarray()
    pairs = csr_array(np.diag(both.sum(axis=1)) - both)
    at = Multipliers(rng.standard_normal(graph.m), rng.standard_normal((n, m)), 1.7, 0.6)
    of = IsometricLagrangian(V, graph, pairs, 0.3, weights)
    return of, at, rng.random((n, k)), rng.random((k, m))


def difference_quotient(of, at, W, H):
    x = np.concatenate([W.ravel(), H.ravel()])
    return x, approx_fprime(x, lambda z: of.flat(z, at)[0], 1e-7)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0, 2.0])])
def test_gradients_are_quotients_of_differences(weights):
    of, at, W, H = a_problem(weights=weights)
    x, quotient = difference_quotient(of, at, W, H)
    gradient = of.flat(x, at)[1]
    assert np.linalg.norm(gradient - quotient) <= 1e-6 * np.linalg.norm(quotient)


def test_value_is_the_formula():
    of, at, W, H = a_problem()
    gram = W @ W.T
    r = np.array([gram[i, i] + gram[j, j] - 2 * gram[i, j] for i, j in of.graph.edges])
    r -= of.graph.sqdist
    R = W @ H - of.X
    expected = -0.3 * np.trace(of.pairs.toarray() @ gram) - at.lengths @ r
    expected += -np.sum(at.product * R) + 0.85 * r @ r + 0.3 * np.sum(R**2)
    assert of.evaluate(W, H, at)[0] == pytest.approx(expected)


def printed_gradients(of, at, W, H):
    """(4.88) and (4.89) as they stand: sums of scalars times W, and times H."""
    r = of.length_errors(W)
    k, R = W.shape[1], W @ H - of.X
    errors = np.sum(R + (1 - k) * of.X)  # the sum over l takes V_ij k times
    lap = of.graph.laplacian
    left = -2.0 * of.pull * (of.pairs @ W) - 2.0 * (lap(at.lengths) @ W)
    left += 2.0 * at.length_penalty * (lap(r) @ W) - np.sum(at.product) * W
    left += 2.0 * at.product_penalty * errors * W
    right = -np.sum(at.product) * H + 2.0 * at.product_penalty * errors * H
    return left, right


def test_printed_gradients_are_wrong():
    of, at, W, H = a_problem()
    quotient = difference_quotient(of, at, W, H)[1]
    printed = np.concatenate([part.ravel() for part in printed_gradients(of, at, W, H)])
    assert np.linalg.norm(printed - quotient) > np.linalg.norm(quotient)


def test_printed_gradients_err_in_the_terms_of_the_product_only():
    of, at, W, H = a_problem()
    alone = Multipliers(at.lengths, None, at.length_penalty, 0.0)
    zero = Multipliers(at.lengths, np.zeros_like(of.X), at.length_penalty, 0.0)
    np.testing.assert_allclose(
        printed_gradients(of, zero, W, H)[0], of.evaluate(W, H, alone)[1], atol=1e-12
    )


def test_printed_residual_takes_the_data_once_for_each_component():
    """(4.87) sums W_il H_lj - V_ij over l: an exact product does not make it vanish."""
    W, H = np.random.default_rng(0).random((4, 3)), np.random.default_rng(1).random((3, 5))
    V = W @ H
    printed = sum(np.outer(W[:, c], H[c]) - V for c in range(3))
    np.testing.assert_allclose(printed, -2.0 * V)


def dense_model(of, at, x):
    model = of.flat(x, at)[2]()
    return model, np.column_stack([model.product(e) for e in np.eye(x.size)])


def test_model_is_symmetric_and_convex():
    of, at, W, H = a_problem(weights=np.arange(1.0, 8.0))
    x = np.concatenate([W.ravel(), H.ravel()])
    model, matrix = dense_model(of, at, x)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-10)
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-9
    inverse = np.column_stack([model.precondition(e) for e in np.eye(x.size)])
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-9 * np.abs(inverse).max())
    assert np.linalg.eigvalsh(inverse)[0] > 0.0


def test_model_is_the_second_derivative_at_exact_factors():
    rng = np.random.default_rng(3)
    W, H = rng.random((6, 2)), rng.random((2, 5))
    graph = graphs.knn(W, 2, connect="none")
    of, at = IsometricLagrangian(W @ H, graph), Multipliers(np.zeros(graph.m), None, 1.3, 0.7)
    x = np.concatenate([W.ravel(), H.ravel()])
    matrix = dense_model(of, at, x)[1]
    step = 1e-6
    quotient = np.column_stack(
        [(of.flat(x + step * e, at)[1] - of.flat(x - step * e, at)[1]) for e in np.eye(x.size)]
    ) / (2 * step)
    np.testing.assert_allclose(matrix, quotient, atol=1e-6)


class Quadratic:
    def __init__(self, A):
        self.A = A

    def product(self, p):
        return self.A @ p

    def precondition(self, p):
        return p / np.diag(self.A)


@pytest.mark.parametrize("seed", range(5))
def test_descent_solves_non_negative_least_squares(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((30, 12)), rng.standard_normal(30)
    G = A.T @ A

    def evaluate(x):
        return 0.5 * np.sum((A @ x - b) ** 2), A.T @ (A @ x - b), lambda: Quadratic(G)

    found = descend(evaluate, np.ones(12), max_iter=100, tol=1e-6)
    np.testing.assert_allclose(found.x, nnls(A, b)[0], atol=1e-7)
    assert found.slope <= 1e-6
    assert found.iterations < 100


def test_descent_never_rises():
    of, at, W, H = a_problem()
    x, values = np.concatenate([W.ravel(), H.ravel()]), []
    for _ in range(15):
        x = descend(lambda z: of.flat(z, at), x, max_iter=1).x
        values.append(of.flat(x, at)[0])
    assert np.all(np.diff(values) <= 0.0)
    assert np.all(x >= 0.0)


@pytest.fixture(scope="module")
def curve():
    """A curve in space, as rows of positive mixtures, with its three-neighbour graph."""
    t = np.linspace(0.0, 1.0, 30)
    W = np.column_stack([1 + np.cos(3 * t), 1 + np.sin(3 * t), t])
    X = W @ np.random.default_rng(1).random((3, 8))
    return X, graphs.knn(X, 3)


@pytest.mark.parametrize("pull", [1e-2, pytest.param(None, marks=pytest.mark.nightly)])
def test_curve_as_a_constraint(curve, pull):
    objective = "none" if pull is None else "furthest"
    found = isometric_factors(
        *curve, 3, product="constraint", objective=objective, pull=pull, max_iter=25
    )
    assert found.dist < 5e-3
    assert found.rec < 5e-3


@pytest.fixture(scope="module")
def settled(curve):
    return isometric_factors(*curve, 3, tol=1e-3)


def test_curve_as_a_penalty(curve, settled):
    found = settled
    assert found.status is IsometricStatus.SETTLED
    assert found.dist <= 1e-3
    assert found.rec < 1e-2
    assert np.all(found.W >= 0.0)
    assert np.all(found.H >= 0.0)
    X, graph = curve
    steps = found.W[graph.edges[:, 0]] - found.W[graph.edges[:, 1]]
    assert np.linalg.norm(np.sum(steps**2, axis=1) - graph.sqdist) == pytest.approx(
        found.dist * np.linalg.norm(graph.sqdist), rel=1e-6, abs=1e-12
    )
    assert np.linalg.norm(X - found.W @ found.H) == pytest.approx(found.rec * np.linalg.norm(X))


def test_multipliers_balance_the_product(curve):
    """At a local optimum the objective less the multipliers times the lengths is stationary."""
    X, graph = curve
    found = isometric_factors(X, graph, 2, tol=1e-3, max_iter=8, inner_iter=20)
    of, fit = IsometricLagrangian(X, graph), 1.0 / np.sum(X**2)
    slopes = []
    for multipliers in (np.zeros(graph.m), found.multipliers):
        at = Multipliers(multipliers, None, 0.0, fit)
        left, right = of.evaluate(found.W, found.H, at)[1:3]
        pressed = [
            np.where(factor > 0.0, slope, np.minimum(slope, 0.0))
            for factor, slope in ((found.W, left), (found.H, right))
        ]
        slopes.append(np.linalg.norm(pressed[0]))
    assert slopes[1] < 0.25 * slopes[0]


def test_newton_is_no_worse_than_the_method_of_the_thesis(curve):
    ours, theirs = (
        isometric_factors(*curve, 3, method=method, max_iter=6) for method in ("newton", "lbfgs")
    )
    assert theirs.dist < 5e-2
    assert ours.objective <= theirs.objective


def test_objective_is_above_its_bound(curve):
    X, graph = curve
    found = isometric_factors(X, graph, 2, objective="furthest", tol=1e-3, max_iter=15)
    tail = np.linalg.svd(X, compute_uv=False)[2:]
    assert found.rec_bound == pytest.approx(np.linalg.norm(tail) / np.linalg.norm(X))
    assert found.rec >= found.rec_bound
    assert found.spread <= found.spread_bound * (1.0 + 1e-2)
    assert found.objective == pytest.approx(
        0.5 * found.rec**2 - 1e-3 * found.spread / found.spread_bound
    )
    assert found.bound == pytest.approx(0.5 * found.rec_bound**2 - 1e-3)
    assert found.gap >= 0.0


def test_a_bound_of_the_spread_by_unfolding_is_closer(curve):
    X, graph = curve
    unfolded = solved(methods.mfnu(graph, "equality"))
    found = isometric_factors(
        X, graph, 3, objective="furthest", max_iter=6, spread_bound=unfolded.bound
    )
    plain = isometric_factors(X, graph, 3, objective="furthest", max_iter=6)
    assert found.spread <= unfolded.bound * (1.0 + 10.0 * found.dist)
    assert found.spread_bound < plain.spread_bound
    assert found.gap < plain.gap
    assert found.objective == pytest.approx(plain.objective)


def test_units_do_not_matter(curve):
    X, graph = curve
    one = isometric_factors(X, graph, 3, max_iter=3)
    large = isometric_factors(1024 * X, graphs.knn(1024 * X, 3), 3, max_iter=3)
    assert large.rec == pytest.approx(one.rec, rel=1e-6)
    np.testing.assert_allclose(large.W, 1024 * one.W, rtol=1e-6)


def test_all_lengths_and_disjoint_components():
    """With all lengths kept, an exact product needs rows of H that are disjoint and of unit length.

    Differences of rows of W are then an isometric copy of those of V, and H maps the one to the
    other: H H' = I, which for H >= 0 means disjoint supports.
    """
    rng = np.random.default_rng(0)
    W, H = rng.random((12, 2)), np.zeros((2, 6))
    H[0, :3], H[1, 3:] = rng.random(3), rng.random(3)
    H /= np.linalg.norm(H, axis=1)[:, None]
    X = W @ H
    found = isometric_factors(X, graphs.complete(X), 2, product="constraint")
    assert found.status is IsometricStatus.SETTLED
    np.testing.assert_allclose(found.H @ found.H.T, np.eye(2), atol=1e-3)
    X = W @ (H + 0.3)
    found = isometric_factors(X, graphs.complete(X), 2, product="constraint")
    assert found.status is not IsometricStatus.SETTLED
    assert max(found.rec, found.dist) > 1e-3


def test_parts_drift_apart_at_no_cost():
    """Why a maximisation needs a connected graph: a component left unused moves one part away."""
    X = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 7.0], [0.0, 8.0]])
    graph = graphs.knn(X, 1, connect="none")
    assert graph.n_components == 2
    half = csr_array((np.ones(4), ([0, 1, 2, 3], [3, 3, 1, 1])), shape=(4, 4))
    pairs = half + half.T
    of = IsometricLagrangian(X, graph, csr_array(np.diag(pairs.sum(axis=1)) - pairs), 1.0)
    at = Multipliers(np.zeros(2), None, 1.0, 1.0)
    H = np.array([[1.0, 1.0], [0.0, 0.0]])
    values = []
    for far in (1.0, 10.0, 100.0):
        W = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, far], [2.0, far]])
        values.append(of.evaluate(W, H, at)[0])
        np.testing.assert_allclose(of.length_errors(W), 0.0, atol=1e-12)
    assert values[2] < 50.0 * values[1] < 0.0
    with pytest.raises(DisconnectedGraphError, match="objective='none'"):
        isometric_factors(X, graph, 2, objective="furthest")
    assert isometric_factors(X, graph, 2).status is IsometricStatus.SETTLED


def test_merged_points_count_twice():
    rng = np.random.default_rng(2)
    X = rng.random((10, 4))
    with pytest.warns(UserWarning, match="repeat"):
        graph = graphs.knn(np.vstack([X, X[:1]]), 3, connect="none")
    found = isometric_factors(X, graph, 2)
    R = np.sum((X - found.W @ found.H) ** 2, axis=1)
    weights = np.array([2.0] + 9 * [1.0])
    assert found.rec == pytest.approx(np.sqrt(weights @ R / (weights @ np.sum(X**2, axis=1))))


def test_interrupt_keeps_what_there_is(curve):
    def stop(record):
        if record["iteration"] == 2:
            raise KeyboardInterrupt

    found = isometric_factors(*curve, 3, progress=stop)
    assert found.status is IsometricStatus.INTERRUPTED
    assert len(found.history) == 2
    assert found.dist == pytest.approx(min(r.dist for r in found.history))


def test_without_time_the_start_is_returned(curve):
    found = isometric_factors(*curve, 3, time_limit=1e-9)
    assert found.status is IsometricStatus.TIME_LIMIT
    assert not found.history
    assert found.W.shape == (30, 3)


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_time_limit_within_a_round(curve, method):
    found = isometric_factors(*curve, 3, method=method, time_limit=0.05, tol=1e-12, max_iter=10**6)
    assert found.status in (IsometricStatus.TIME_LIMIT, IsometricStatus.STALLED)


def test_go_on_from_factors(curve):
    first = isometric_factors(*curve, 3, max_iter=2)
    assert first.status is IsometricStatus.ITERATION_LIMIT
    again = isometric_factors(*curve, 3, start=(first.W, first.H), max_iter=2)
    assert again.dist <= first.dist


def test_random_starts_are_repeatable(curve):
    one, two, other = (
        isometric_factors(*curve, 3, start="random", seed=s, max_iter=2) for s in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.W, two.W)
    assert not np.allclose(one.W, other.W)


def test_a_pull_that_is_too_strong_is_reported(curve):
    found = isometric_factors(*curve, 3, objective="furthest", pull=1e9)
    assert found.status is IsometricStatus.DIVERGED
    assert np.isfinite(found.W).all()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"X": -np.ones((30, 8))}, DataError, r"X\[0, 0\] = -1"),
        ({"X": np.ones((29, 8))}, ShapeError, "29 rows but the graph 30 nodes"),
        ({"n_components": 9}, DataError, "n_components=9 is out of range"),
        ({"n_components": 0}, DataError, "n_components"),
        ({"n_components": 2, "product": "constraint"}, InfeasibleError, "Eckart-Young"),
        ({"product": "penalt"}, UnknownNameError, "penalty"),
        ({"objective": "farthest"}, UnknownNameError, "furthest"),
        ({"method": "bfgs"}, UnknownNameError, "lbfgs"),
        ({"start": "nfm"}, UnknownNameError, "nmf"),
        ({"start": (np.ones((30, 2)), np.ones((3, 8)))}, ShapeError, r"\(30, 3\)"),
        ({"objective": "furthest", "pull": -1.0}, DataError, "pull"),
        ({"tol": 0.0}, DataError, "tol"),
    ],
)
def test_what_is_refused(curve, change, error, words):
    given = {"X": curve[0], "graph": curve[1], "n_components": 3, **change}
    with pytest.raises(error, match=words):
        isometric_factors(**given)


def test_pairs_of_other_points_are_refused(curve):
    with pytest.raises(DataError, match="5 points"):
        isometric_factors(*curve, 3, objective=graphs.furthest_pairs(np.arange(5.0)[:, None]))


def test_sparsity_is_one_of_a_single_entry_and_none_of_equal_ones_in_any_unit():
    np.testing.assert_allclose(hoyer([0.0, 0.0, 7.0]), 1.0)
    np.testing.assert_allclose(hoyer(np.full((3, 2), 2.0)), 0.0, atol=1e-15)
    x = np.random.default_rng(0).random(9)
    np.testing.assert_allclose(hoyer(5.0 * x), hoyer(x))
    np.testing.assert_allclose(hoyer(x.reshape(3, 3), axis=None), hoyer(x))
    np.testing.assert_allclose(hoyer(x.reshape(3, 3), axis=1), hoyer(x.reshape(3, 3).T, axis=0))
    assert np.isnan(hoyer([0.0, 0.0]))
    with pytest.raises(DataError):
        hoyer([np.nan, 1.0])


@pytest.mark.skipif(not FACES.exists(), reason="the CBCL faces may not be redistributed")
def test_faces_keep_distances_at_almost_no_loss():
    X = np.load(FACES)["X"][:150].reshape(150, -1) / 255.0
    found = isometric_factors(X, graphs.knn(X, 3, connect="none"), 25, max_iter=5)
    assert found.dist < 5e-3
    assert found.rec < 0.071
