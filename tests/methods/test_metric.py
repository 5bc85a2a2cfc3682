"""Metric learning: oracles, laws of the programs, closed forms against solvers, blocks."""

import numpy as np
import pytest
import scipy.linalg as sl

import sdpdr
from sdpdr import blocks, check_block, methods, metric
from sdpdr.metric import Pairs, ascend, closed_form, frobenius_form, root_bound, solve_xing, whiten
from sdpdr.program import as_dense

SOLVERS = ("lowrank", "clarabel", "scs", "sdpa")


def oracle():
    """Two classes of ten points; 30 of 90 similar and 20 of 100 dissimilar pairs."""
    rng = np.random.default_rng(0)
    scale = [1.0, 3.0, 0.5]
    X = np.vstack([rng.standard_normal((10, 3)) * scale, rng.standard_normal((10, 3)) * scale])
    X[10:, 0] += 2.0
    y = np.repeat([0, 1], 10)
    every = np.column_stack(np.triu_indices(20, 1))
    same = y[every[:, 0]] == y[every[:, 1]]
    rng = np.random.default_rng(1)
    similar = every[same][np.sort(rng.permutation(90)[:30])]
    dissimilar = every[~same][np.sort(rng.permutation(100)[:20])]
    return X, similar, dissimilar


X, SIMILAR, DISSIMILAR = oracle()
PAIRS = Pairs(X, SIMILAR, DISSIMILAR)
GIVEN = {"similar": SIMILAR, "dissimilar": DISSIMILAR}
RNG = np.random.default_rng(7)


def distances(A, pairs=PAIRS):
    steps = pairs.differences("dissimilar")
    return np.sqrt(np.einsum("pi,ij,pj->p", steps, A, steps))


# -- Xing -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("diagonal", "value"), [(False, 0.0296707874), (True, 0.0362413)])
def test_every_solver_finds_xings_optimum(solver, diagonal, value):
    solution = sdpdr.solve(methods.xing(X, **GIVEN, diagonal=diagonal), solver, tol=1e-7)
    assert 1.0 / solution.value**2 == pytest.approx(value, rel=2e-6)
    assert solution.bound is not None
    assert abs(solution.gap) < 1e-6


def test_the_iteration_finds_xings_optimum_and_proves_it():
    answer = solve_xing(PAIRS, tol=1e-10)
    assert answer.value == pytest.approx(0.0296707874, abs=1e-10)
    assert 0.0 <= answer.gap < 1e-10
    expected = [
        [0.0002711, 0.0000145, 0.0004882],
        [0.0000145, 0.0000010, 0.0000250],
        [0.0004882, 0.0000250, 0.0008837],
    ]
    np.testing.assert_allclose(answer.matrix, expected, atol=5.1e-8)
    assert distances(answer.matrix).sum() == pytest.approx(1.0, abs=1e-12)
    assert np.sum(PAIRS.scatter("similar") * answer.matrix) == pytest.approx(answer.value)


def test_the_diagonal_iteration_agrees_with_a_search_over_weights():
    answer = solve_xing(PAIRS, diagonal=True, tol=1e-10)
    assert answer.value == pytest.approx(0.0362413, abs=5e-8)
    np.testing.assert_array_equal(answer.matrix, np.diag(np.diag(answer.matrix)))
    # min c.a - log sum sqrt(p.a), whose optimum has c.a = 1/2, by an optimiser that knows nothing.
    from scipy.optimize import minimize

    c, p = np.diag(PAIRS.scatter("similar")), np.square(PAIRS.differences("dissimilar"))
    found = minimize(
        lambda a: c @ a - np.log(np.sqrt(p @ a).sum()),
        np.full(3, 0.01),
        bounds=[(1e-12, None)] * 3,
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    assert c @ found.x == pytest.approx(0.5, abs=1e-4)
    weights = found.x / np.sqrt(p @ found.x).sum() ** 2
    assert c @ weights == pytest.approx(answer.value, rel=1e-7)


def test_program_and_iteration_give_one_metric():
    white = whiten(PAIRS)
    solution = sdpdr.solve(methods.xing(X, **GIVEN), "clarabel", tol=1e-9)
    Z = as_dense(solution.values["Z"])
    assert Z.shape == (23, 23)
    answer = metric.answer_of(white, metric.factor_of(Z[:3, :3]), solution.bound, "")
    assert answer.gap < 1e-7
    np.testing.assert_allclose(answer.matrix, solve_xing(PAIRS, tol=1e-10).matrix, atol=1e-8)


@pytest.mark.parametrize("diagonal", [False, True])
def test_any_weights_bound_any_metric(diagonal):
    steps = whiten(PAIRS, diagonal=diagonal).differences
    for _ in range(50):
        weights = RNG.gamma(0.5, size=len(steps)) + 1e-9
        F = RNG.standard_normal((3, 2))
        A = np.diag(RNG.random(3)) if diagonal else F @ F.T
        A /= np.trace(A)
        g = np.sqrt(np.einsum("pi,ij,pj->p", steps, A, steps)).sum()
        assert g <= root_bound(steps, weights, diagonal=diagonal) * (1.0 + 1e-12)


def test_the_bound_is_at_least_as_good_as_the_tangents():
    steps = whiten(PAIRS).differences
    for _ in range(20):
        F = RNG.standard_normal((3, 3))
        A = F @ F.T / np.trace(F @ F.T)
        s = np.sqrt(np.einsum("pi,ij,pj->p", steps, A, steps))
        G = (steps / (2.0 * s[:, None])).T @ steps
        tangent = s.sum() / 2.0 + np.linalg.eigvalsh(G)[-1]
        assert root_bound(steps, s) <= tangent * (1.0 + 1e-12)


@pytest.mark.parametrize("diagonal", [False, True])
def test_the_iteration_never_goes_down(diagonal):
    for seed in range(5):
        steps = np.random.default_rng(seed).standard_normal((15, 4))
        found = ascend(steps, diagonal=diagonal, tol=1e-12, max_iter=200)
        assert np.all(np.diff(found.history) >= -1e-12 * found.value)
        assert found.value <= found.bound * (1.0 + 1e-14)


@pytest.mark.parametrize("diagonal", [False, True])
def test_the_iteration_ends_at_the_optimum_of_random_programs(diagonal):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, q = rng.integers(1, 15), rng.integers(1, 100)
        steps = rng.standard_normal((q, n)) * np.exp(2.0 * rng.standard_normal((q, 1)))
        steps *= np.exp(rng.choice([0.0, 2.0]) * rng.standard_normal(n))
        if seed % 5 == 0:  # nearly all alike
            steps = steps[:1] + 1e-3 * steps
        found = ascend(steps, diagonal=diagonal, tol=1e-7)
        assert found.bound <= (1.0 + 1e-7) * found.value


def test_one_dissimilar_pair_has_a_closed_form():
    pairs = Pairs(X, SIMILAR, [[0, 15]])
    delta, scatter = X[0] - X[15], pairs.scatter("similar")
    u = np.linalg.solve(scatter, delta)
    answer = solve_xing(pairs, tol=1e-9)
    assert answer.value == pytest.approx(1.0 / (delta @ u), rel=1e-8)
    np.testing.assert_allclose(answer.matrix, np.outer(u, u) / (delta @ u) ** 2, atol=1e-7)


def test_one_feature_has_a_closed_form():
    pairs = Pairs(X[:, :1], SIMILAR, DISSIMILAR)
    a = 1.0 / np.abs(pairs.differences("dissimilar")).sum() ** 2
    np.testing.assert_allclose(solve_xing(pairs).matrix, [[a]])
    value = sdpdr.solve(methods.xing(X[:, :1], **GIVEN), "clarabel", tol=1e-8).value
    assert value**-2 == pytest.approx(a * pairs.scatter("similar")[0, 0], rel=1e-7)


def test_squares_instead_of_roots_give_a_projection_onto_a_line():
    values = sl.eigh(PAIRS.scatter("similar"), PAIRS.scatter("dissimilar"), eigvals_only=True)
    assert values[0] == pytest.approx(0.4365284, abs=5e-8)
    roots = np.linalg.eigvalsh(solve_xing(PAIRS, tol=1e-10).matrix)
    assert roots[-2] > 1e-4 * roots[-1]


def test_the_optimum_holds_every_dissimilar_pair_apart():
    assert distances(solve_xing(PAIRS, tol=1e-9).matrix).min() > 1e-3


def test_changing_coordinates_changes_nothing():
    T = RNG.standard_normal((3, 3)) * [1e-4, 1.0, 1e4]
    turned = solve_xing(Pairs(X @ T + 5.0, SIMILAR, DISSIMILAR), tol=1e-9)
    plain = solve_xing(PAIRS, tol=1e-9)
    assert turned.value == pytest.approx(plain.value, rel=1e-7)
    np.testing.assert_allclose(T @ turned.matrix @ T.T, plain.matrix, atol=1e-8)


def test_more_dissimilar_pairs_never_cost_more():
    values = [solve_xing(Pairs(X, SIMILAR, DISSIMILAR[:q])).value for q in (5, 10, 20)]
    assert values == sorted(values, reverse=True)


def test_a_constant_feature_takes_no_part():
    wide = np.column_stack([X, np.full(20, 3.0)])
    answer = solve_xing(Pairs(wide, SIMILAR, DISSIMILAR), tol=1e-9)
    np.testing.assert_allclose(answer.matrix[:3, :3], solve_xing(PAIRS, tol=1e-9).matrix, atol=1e-9)
    assert not answer.matrix[3].any()


def test_too_few_steps_are_not_called_exact():
    answer = solve_xing(PAIRS, tol=1e-9, max_iter=1)
    assert answer.iterations == 1
    assert 1e-6 < answer.gap < 1.0


# -- Ghodsi -----------------------------------------------------------------------------------


# The double nearest to a third is below it: three times that is no trace of one.
CAPS = [
    (1.0, -99.2299358),
    (0.5, -47.2318),
    (0.4, -6.6150),
    (np.nextafter(1.0 / 3.0, 1.0), 20.4630),
]


@pytest.mark.parametrize(
    ("solver", "cap", "value"),
    [
        *(("clarabel", *cap) for cap in CAPS),
        *((solver, *CAPS[1]) for solver in ("lowrank", "scs", "cvxopt")),
        *(
            pytest.param(solver, *CAPS[k], marks=pytest.mark.nightly)
            for solver in ("lowrank", "scs", "cvxopt")
            for k in (0, 2, 3)
        ),
    ],
)
def test_every_solver_finds_the_sum_of_eigenvalues(solver, cap, value):
    model = methods.ghodsi(X, **GIVEN, normalize=False, cap=cap)
    # Beyond 2e-8 CVXOPT breaks down with some builds of LAPACK.
    solution = sdpdr.solve(model, solver, tol=1e-6 if solver == "cvxopt" else 1e-8)
    answer = closed_form(methods.contrast(PAIRS, normalize=False), cap=cap)
    assert answer.value == pytest.approx(value, abs=5e-5)
    assert solution.value == pytest.approx(answer.value, rel=1e-6)
    assert solution.bound == pytest.approx(answer.value, rel=1e-6)
    assert answer.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_optimum_is_the_leading_eigenvector(normalize):
    contrast = methods.contrast(PAIRS, normalize)
    v = np.linalg.eigh(-contrast)[1][:, -1]
    solution = sdpdr.solve(methods.ghodsi(X, **GIVEN, normalize=normalize), "clarabel", tol=1e-9)
    np.testing.assert_allclose(as_dense(solution.values["A"]), np.outer(v, v), atol=1e-6)
    np.testing.assert_allclose(closed_form(contrast).matrix, np.outer(v, v), atol=1e-12)
    factored = sdpdr.solve(methods.ghodsi(X, **GIVEN, normalize=normalize), "lowrank", tol=1e-9)
    np.testing.assert_allclose(as_dense(factored.values["A"]), np.outer(v, v), atol=1e-5)


def test_the_eigenvalues_of_the_contrast():
    contrast = methods.contrast(PAIRS, normalize=False)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(contrast), [-99.2299358, 4.7662835, 155.8525], atol=5e-5
    )


@pytest.mark.parametrize(
    "options",
    [{"ridge": 100.0}, {"ridge": 100.0, "cap": 0.45}, {"scale": "frobenius"}, {"ridge": 1e4}],
    ids=str,
)
@pytest.mark.parametrize("solver", ["clarabel", "scs", "lowrank"])
def test_closed_forms_solve_the_programs(solver, options):
    model = methods.ghodsi(X, **GIVEN, normalize=False, **options)
    solution = sdpdr.solve(model, solver, tol=1e-7)
    contrast = methods.contrast(PAIRS, normalize=False)
    ball = "scale" in options
    answer = frobenius_form(contrast) if ball else closed_form(contrast, **options)
    assert solution.value == pytest.approx(answer.value, rel=1e-6)
    np.testing.assert_allclose(as_dense(solution.values["A"]), answer.matrix, atol=2e-3)
    assert model.objective({"A": answer.matrix}) == pytest.approx(answer.value, rel=1e-10)
    assert max(model.violations({"A": answer.matrix}).values()) < 1e-9


@pytest.mark.parametrize("options", [{"cap": 0.5}, {"cap": 0.45, "ridge": 100.0}], ids=str)
def test_as_written_in_cvxpy_the_matrix_inequality_is_graded_too(options):
    model = methods.ghodsi(X, **GIVEN, normalize=False, **options)
    solution = sdpdr.solve(model, "clarabel", "cvxpy", tol=1e-8)
    answer = closed_form(methods.contrast(PAIRS, normalize=False), **options)
    assert solution.value == pytest.approx(answer.value, rel=1e-6)
    assert solution.certified(1e-6)


@pytest.mark.parametrize("options", [{}, {"ridge": 3.0}, {"entropy": 2.0}], ids=str)
@pytest.mark.parametrize("cap", [1.0, 0.5, 0.4, 0.3, 0.25])
def test_bounds_hold_and_meet_the_values(options, cap):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        C = rng.standard_normal((4, 4))
        C = C + C.T
        answer = closed_form(C, cap=cap, **options)
        assert abs(answer.gap) < 1e-9
        values = np.linalg.eigvalsh(answer.matrix)
        assert values[-1] <= cap * (1.0 + 1e-9)
        assert values.sum() == pytest.approx(1.0)
        for _ in range(20):  # no other feasible matrix is better
            a = rng.dirichlet(np.ones(4) * 5.0)
            if a.max() > cap:
                continue
            Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
            other = np.sum(C * (Q * a @ Q.T)) + options.get("ridge", 0.0) / 2.0 * a @ a
            other += options.get("entropy", 0.0) * a @ np.log(a)
            assert other >= answer.bound - 1e-9


def test_the_entropy_gives_a_softmax():
    C = np.diag([0.0, 1.0, 3.0])
    weights = np.exp([0.0, -1.0 / 2.0, -3.0 / 2.0])
    np.testing.assert_allclose(
        closed_form(C, entropy=2.0).matrix, np.diag(weights / weights.sum()), atol=1e-14
    )


def test_ties_are_known():
    assert not closed_form(np.diag([1.0, 1.0, 2.0])).unique
    assert closed_form(np.diag([1.0, 1.0, 2.0]), cap=0.5).unique
    assert not closed_form(np.diag([1.0, 1.0, 2.0]), cap=0.6).unique
    assert closed_form(np.diag([1.0, 1.0, 2.0]), ridge=1.0).unique
    assert closed_form(np.diag([0.0, 1.0, 2.0])).unique


def test_sums_over_balanced_classes_reward_scatter_within():
    rng = np.random.default_rng(2)
    points, label = rng.standard_normal((15, 4)), np.repeat([0, 1, 2], 5)
    sums = methods.contrast(metric.pairs_from_labels(points, label), normalize=False)
    means = np.array([points[label == c].mean(axis=0) for c in range(3)])
    spread = means - points.mean(axis=0)
    within = points - means[label]
    S_B, S_W = 5.0 * spread.T @ spread, within.T @ within
    np.testing.assert_allclose(sums, -15.0 * S_B - 15.0 * (1.0 - 2.0 / 3.0) * S_W, atol=1e-12)


def test_zero_is_best_where_similar_pairs_differ_more():
    answer = frobenius_form(np.eye(3))
    assert answer.components.shape == (0, 3)
    assert answer.value == answer.bound == 0.0


# -- blocks ----------------------------------------------------------------------------------


STEPS = whiten(PAIRS).differences[:4]


@pytest.mark.parametrize(
    "block",
    [
        blocks.Scatter(np.diag([1.0, -2.0, 3.0])),
        blocks.UnitTrace(3),
        blocks.Cap(3, 0.5),
        blocks.FrobeniusBall(3),
        blocks.SizePrice(3, 2.0),
        blocks.Distances(STEPS),
        blocks.LeadingTrace(7, 3),
        blocks.LeadingDiagonal(7, 3),
        blocks.Mahalanobis(3) + blocks.Scatter(np.eye(3)),
    ],
    ids=lambda block: block.blocks[0].label if hasattr(block, "blocks") else block.label,
)
def test_blocks_obey_the_laws(block):
    if isinstance(block, sdpdr.Model):
        assert block.size()["matrices"] == {"A": 3}
    else:
        assert "every law holds" in check_block(block)


def test_the_frobenius_ball_is_one():
    ball = blocks.Mahalanobis(3) + blocks.FrobeniusBall(3)
    for _ in range(10):
        F = RNG.standard_normal((3, 2))
        A = F @ F.T / np.linalg.norm(F @ F.T)
        assert ball.violations({"A": 0.99 * A})["frobenius_ball"] < 0.0 + 1e-12
        # The matrix inequality has the smallest eigenvalue 1 - |A|.
        assert ball.violations({"A": 1.5 * A})["frobenius_ball"] == pytest.approx(0.5)


def test_a_sum_of_distances_is_at_most_what_the_variable_allows():
    block = blocks.Distances(STEPS)
    model = sdpdr.Model((block,), maximize=True)
    F = RNG.standard_normal((3, 3))
    images = STEPS @ F
    units = images / np.linalg.norm(images, axis=1)[:, None]
    R = np.vstack([F, units])
    assert model.objective({"Z": R @ R.T}) == pytest.approx(np.linalg.norm(images, axis=1).sum())
    assert model.violations({"Z": R @ R.T})["distances.unit"] < 1e-12


def test_components_of_equal_length_are_eigenvectors_and_not_some_rotation_of_them():
    """Else rounding would turn the picture: any basis of the plane gives the same metric."""
    C = np.random.default_rng(3).standard_normal((6, 6))
    C = C + C.T
    L = closed_form(C, cap=0.5).components
    turned = L @ C @ L.T
    np.testing.assert_allclose(turned, np.diag(np.linalg.eigvalsh(C)[:2]) / 2.0, atol=1e-12)
