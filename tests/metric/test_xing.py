"""Xing's program: oracles, laws, the bound, blocks."""

import numpy as np
import pytest
import scipy.linalg as sl
from scipy.optimize import minimize

import sdpdr
from sdpdr import methods, metric
from sdpdr.errors import DataError, InfeasibleError
from sdpdr.families.metric.xing import _bound, _gradient, answer_of, ascend
from sdpdr.metric import Pairs, solve_xing, whiten
from sdpdr.program import as_dense


def oracle():
    """Two classes of ten points; 30 of 90 similar and 20 of 100 dissimilar pairs."""
    rng = np.random.default_rng(0)
    scale = [1.0, 3.0, 0.5]
    X = np.vstack([rng.standard_normal((10, 3)) * scale, rng.standard_normal((10, 3)) * scale])
    X[10:, 0] += 2.0
    every = np.column_stack(np.triu_indices(20, 1))
    same = (every[:, 0] < 10) == (every[:, 1] < 10)
    rng = np.random.default_rng(1)
    similar = every[same][np.sort(rng.permutation(90)[:30])]
    return X, similar, every[~same][np.sort(rng.permutation(100)[:20])]


X, SIMILAR, DISSIMILAR = oracle()
PAIRS = Pairs(X, SIMILAR, DISSIMILAR)
GIVEN = {"similar": SIMILAR, "dissimilar": DISSIMILAR}
VALUES = {False: 0.0296707874, True: 0.0362413}


def root(A):
    values, vectors = np.linalg.eigh(A)
    return vectors * np.sqrt(values.clip(0.0))


def distances(A):
    steps = PAIRS.differences("dissimilar")
    return np.sqrt(np.einsum("pi,ij,pj->p", steps, A, steps))


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "diagonal"), [("lowrank", False), ("clarabel", False), ("scs", True)]
)
def test_every_solver_finds_the_optimum_and_its_metric(solver, diagonal):
    solution = sdpdr.solve(methods.xing(X, **GIVEN, diagonal=diagonal), solver, tol=1e-7)
    assert 1.0 / solution.value**2 == pytest.approx(VALUES[diagonal], rel=2e-6)
    assert abs(solution.gap) < 1e-6
    Z = as_dense(solution.values["Z"])
    white = whiten(PAIRS, diagonal=diagonal)
    answer = answer_of(white, root(Z[:3, :3]), solution.bound)
    best = solve_xing(PAIRS, diagonal=diagonal, tol=1e-10)
    np.testing.assert_allclose(answer.matrix, best.matrix, atol=1e-5)


def test_the_iteration_finds_the_optimum_and_proves_it():
    answer = solve_xing(PAIRS, tol=1e-10)
    assert answer.value == pytest.approx(VALUES[False], abs=1e-10)
    assert 0.0 <= answer.gap < 1e-10
    expected = [
        [0.0002711, 0.0000145, 0.0004882],
        [0.0000145, 0.0000010, 0.0000250],
        [0.0004882, 0.0000250, 0.0008837],
    ]
    np.testing.assert_allclose(answer.matrix, expected, atol=5.1e-8)
    assert distances(answer.matrix).sum() == pytest.approx(1.0, abs=1e-12)
    assert distances(answer.matrix).min() > 1e-3  # every dissimilar pair is held apart
    assert np.sum(PAIRS.scatter("similar") * answer.matrix) == pytest.approx(answer.value)
    hasty = solve_xing(PAIRS, tol=1e-9, max_iter=1)
    assert 1e-6 < hasty.gap < 1.0


def test_the_diagonal_iteration_agrees_with_a_search_over_weights():
    answer = solve_xing(PAIRS, diagonal=True, tol=1e-10)
    assert answer.value == pytest.approx(VALUES[True], abs=5e-8)
    np.testing.assert_array_equal(answer.matrix, np.diag(np.diag(answer.matrix)))
    # min c.a - log sum sqrt(p.a), whose optimum has c.a = 1/2, by an optimizer for any function.
    c, p = np.diag(PAIRS.scatter("similar")), np.square(PAIRS.differences("dissimilar"))
    found = minimize(
        lambda a: c @ a - np.log(np.sqrt(p @ a).sum()),
        np.full(3, 0.01),
        bounds=[(1e-12, None)] * 3,
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    weights = found.x / np.sqrt(p @ found.x).sum() ** 2
    assert c @ weights == pytest.approx(answer.value, rel=1e-7)


@pytest.mark.parametrize("diagonal", [False, True])
def test_any_weights_bound_any_metric(diagonal):
    rng, steps = np.random.default_rng(7), whiten(PAIRS, diagonal=diagonal).differences
    for _ in range(50):
        weights = rng.gamma(0.5, size=len(steps)) + 1e-9
        F = rng.standard_normal((3, 2))
        A = np.diag(rng.random(3)) if diagonal else F @ F.T
        s = np.sqrt(np.einsum("pi,ij,pj->p", steps, A / np.trace(A), steps))
        assert s.sum() <= _bound(weights, _gradient(steps, weights, diagonal)) * (1.0 + 1e-12)


@pytest.mark.parametrize("diagonal", [False, True])
def test_the_iteration_rises_to_the_optimum_of_random_programs(diagonal):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        n, q = rng.integers(1, 15), rng.integers(1, 100)
        steps = rng.standard_normal((q, n)) * np.exp(2.0 * rng.standard_normal((q, 1)))
        steps *= np.exp(rng.choice([0.0, 2.0]) * rng.standard_normal(n))
        if seed % 5 == 0:  # nearly equal
            steps = steps[:1] + 1e-3 * steps
        _, history, bound = ascend(steps, diagonal, 1e-7, 10_000)
        assert bound <= (1.0 + 1e-7) * history[-1]
        assert np.all(np.diff(history) >= -1e-12 * history[-1])


def test_one_dissimilar_pair_and_one_feature_have_closed_forms():
    pairs = Pairs(X, SIMILAR, [[0, 15]])
    delta = X[0] - X[15]
    u = np.linalg.solve(pairs.scatter("similar"), delta)
    answer = solve_xing(pairs, tol=1e-9)
    assert answer.value == pytest.approx(1.0 / (delta @ u), rel=1e-8)
    np.testing.assert_allclose(answer.matrix, np.outer(u, u) / (delta @ u) ** 2, atol=1e-7)
    pairs = Pairs(X[:, :1], SIMILAR, DISSIMILAR)
    a = 1.0 / np.abs(pairs.differences("dissimilar")).sum() ** 2
    np.testing.assert_allclose(solve_xing(pairs).matrix, [[a]])


def test_coordinates_repeated_pairs_and_constant_features_change_the_answer_as_they_should():
    plain, rng = solve_xing(PAIRS, tol=1e-9), np.random.default_rng(7)
    T = rng.standard_normal((3, 3)) * [1e-4, 1.0, 1e4]
    turned = solve_xing(Pairs(X @ T + 5.0, SIMILAR, DISSIMILAR), tol=1e-9)
    assert turned.value == pytest.approx(plain.value, rel=1e-7)
    np.testing.assert_allclose(T @ turned.matrix @ T.T, plain.matrix, atol=1e-8)
    wide = Pairs(np.column_stack([X, np.full(20, 3.0)]), SIMILAR, DISSIMILAR)
    np.testing.assert_allclose(
        solve_xing(wide, tol=1e-9).matrix, sl.block_diag(plain.matrix, 0.0), atol=1e-9
    )
    twice = Pairs(X, np.vstack([SIMILAR, SIMILAR[:, ::-1]]), DISSIMILAR)
    assert solve_xing(twice).value == pytest.approx(2.0 * plain.value, rel=1e-6)
    values = [solve_xing(Pairs(X, SIMILAR, DISSIMILAR[:q])).value for q in (5, 10, 20)]
    assert values == sorted(values, reverse=True)


def test_the_metric_of_few_points_is_that_of_their_span():
    ridge, rng = 1e-3, np.random.default_rng(0)
    points, y = rng.standard_normal((30, 4)), np.arange(30) % 3
    turn = np.linalg.qr(rng.standard_normal((60, 60)))[0][:, :4]
    few = solve_xing(metric.pairs_from_labels(points, y), ridge=ridge)
    # The ridge is relative to the mean over columns.
    pairs = metric.pairs_from_labels(points @ turn.T, y)
    many = solve_xing(pairs, ridge=ridge * 60 / 4)
    assert many.value == pytest.approx(few.value, rel=1e-9)
    np.testing.assert_allclose(turn.T @ many.matrix @ turn, few.matrix, rtol=1e-6, atol=1e-9)
    assert whiten(pairs, ridge=1e-3).differences.shape[1] <= 29


def test_data_without_an_optimum_are_refused():
    with pytest.raises(DataError, match="along 1 direction in which 20 dissimilar pairs do"):
        methods.xing(X, similar=SIMILAR[:2], dissimilar=DISSIMILAR)
    assert solve_xing(Pairs(X, SIMILAR[:2], DISSIMILAR), ridge=1e-3).gap < 1e-6
    flat = np.column_stack([X[:, 0], np.repeat([0.0, 1.0], 10), X[:, 2]])
    with pytest.raises(DataError, match="along feature 1 in which"):
        methods.xing(flat, **GIVEN, diagonal=True)
    equal = X.copy()
    equal[np.unique(DISSIMILAR)] = X[0]
    with pytest.raises(InfeasibleError, match="no metric can hold them apart"):
        methods.xing(equal, **GIVEN)
    for ridge in (-1.0, np.nan):
        with pytest.raises(DataError, match="ridge"):
            methods.xing(X, **GIVEN, ridge=ridge)
