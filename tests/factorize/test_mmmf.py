"""Maximum-margin factorization: oracles, primal and dual, bounds from any weights, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import blocks, factorize, methods
from sdpdr.blocks import ProductLift
from sdpdr.errors import DataError, DataTypeError, ShapeError, UncertifiedWarning, UnknownNameError
from sdpdr.factorize import dual_norm, margin_bound, mmmf, mmmf_primal
from sdpdr.families.factor.mmmf.losses import SignHinge
from sdpdr.families.factor.mmmf.norms import factor_norm, principal
from sdpdr.families.factor.mmmf.offsets import Offsets, RidgeFit
from sdpdr.families.factor.mmmf.program import Program
from sdpdr.families.factor.mmmf.splitting import MaxStep, TraceStep
from sdpdr.model import AtMost, Block, Model

Y3 = np.array([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]])
Y5 = np.vstack([Y3, [[1, 1, -1, 0], [0, -1, 1, -1]]])
HARD = float("inf")
# Values that the primal, its dual and its semidefinite form agreed on.
ORACLES = [
    (Y3, 0.3, "trace", 2.7),
    (Y3, 0.5, "trace", 2.0 * np.sqrt(3.0)),
    (Y3, HARD, "trace", 2.0 * np.sqrt(3.0)),
    (Y5, 0.4, "trace", 5.468333),
    (Y5, HARD, "trace", 5.872983),
    (Y3, 0.3, "max", 1.0),
    (Y3, HARD, "max", 1.0),
    (Y5, 0.3, "max", np.sqrt(2.0)),
]


def planted(p, q, share, seed=0, flips=0.1):
    rng = np.random.default_rng(seed)
    Y = np.sign(rng.standard_normal((p, 2)) @ rng.standard_normal((2, q)))
    Y[rng.random((p, q)) < flips] *= -1.0
    return np.where(rng.random((p, q)) < share, Y, 0.0)


def objective(Y, M, c, offsets=None, ridge=0.0):
    """The value of a matrix and offsets, from singular values."""
    p = len(Y)
    offsets = np.zeros(sum(Y.shape)) if offsets is None else offsets
    scores = M + offsets[:p, None] + offsets[p:]
    slack = np.maximum(0.0, 1.0 - Y * scores)[Y != 0.0].sum()
    size = np.linalg.svd(M, compute_uv=False).sum()
    return size + c * (slack + 0.5 * ridge * offsets @ offsets)


# -- oracles ------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(("Y", "c", "norm", "expected"), ORACLES)
def test_splitting_finds_the_oracles(Y, c, norm, expected):
    tol = 1e-8 if norm == "trace" else 1e-6
    found = mmmf(Y, c=c, norm=norm, tol=tol)
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert 0.0 <= found.gap <= tol


@pytest.mark.integration
@pytest.mark.parametrize(("Y", "c", "norm", "expected"), ORACLES)
def test_program_and_dual_have_the_values_of_the_oracles(Y, c, norm, expected):
    for make in (methods.mmmf, methods.mmmf_dual):
        solution = sdpdr.solve(make(Y, c=c, norm=norm), "clarabel", tol=1e-8)
        assert solution.value == pytest.approx(expected, rel=1e-6)
        assert solution.certified(1e-6)


@pytest.mark.integration
@pytest.mark.parametrize(("solver", "form"), [("lowrank", "auto"), ("clarabel", "chordal")])
def test_solvers_and_forms_agree(solver, form):
    Y = planted(15, 8, 0.15)
    expected = mmmf(Y, c=0.5, tol=1e-8).value
    solution = sdpdr.solve(methods.mmmf(Y, c=0.5), solver, form, tol=1e-7)
    assert solution.value == pytest.approx(expected, rel=1e-6)


def test_weights_that_prove_the_value_of_three_users_by_hand():
    """Rows add up to 2 / sqrt(3), columns to sqrt(3) / 2, so their norm is one by Schur's test."""
    Q = np.where(np.arange(4) == 0, np.sqrt(3.0) / 6.0, np.sqrt(3.0) / 4.0) * np.abs(Y3)
    np.testing.assert_allclose(Q.sum(axis=1), 2.0 / np.sqrt(3.0))
    np.testing.assert_allclose(Q.sum(axis=0), np.sqrt(3.0) / 2.0)
    assert margin_bound(Y3, Q, c=HARD, rigorous=True) == pytest.approx(2.0 * np.sqrt(3.0))


def test_the_printed_hard_margin_is_met_by_zero():
    """(2.24) as printed has Y X <= 1, whose least norm is zero."""
    lift = ProductLift(Y3.shape)
    places = np.argwhere(Y3)
    signs = Y3[tuple(places.T)].astype(float)

    class Printed(Block):
        def terms(self):
            yield AtMost(signs * lift.entries(places), 1.0)

    printed = Model((lift, blocks.TraceNorm("Z", Y3.shape), Printed()), maximize=False)
    solution = sdpdr.solve(printed, "clarabel", tol=1e-8)
    assert abs(solution.value) < 1e-6


# -- properties of the optimum --------------------------------------------------------------------


@pytest.mark.parametrize("Y", [Y3, Y5, planted(9, 7, 0.5, seed=3)])
def test_zero_is_best_exactly_up_to_one_over_the_largest_singular_value(Y):
    edge = 1.0 / np.linalg.norm(Y, 2)
    below, above = mmmf(Y, c=0.999 * edge, tol=1e-9), mmmf(Y, c=1.01 * edge, tol=1e-9)
    assert below.is_zero
    assert below.value == pytest.approx(0.999 * edge * np.count_nonzero(Y))
    assert not above.is_zero
    assert above.value < 1.01 * edge * np.count_nonzero(Y) * (1.0 - 1e-9)


def test_entries_without_observations_are_zero():
    Y = np.zeros((5, 6))
    Y[:3, :4] = Y3
    found = mmmf(Y, c=0.5, tol=1e-9)
    assert found.value == pytest.approx(2.0 * np.sqrt(3.0), rel=1e-8)
    np.testing.assert_allclose(found.matrix[3:], 0.0, atol=1e-9)
    np.testing.assert_allclose(found.matrix[:, 4:], 0.0, atol=1e-9)


def test_one_sign_only_is_fitted_by_rank_one():
    found = mmmf(np.ones((3, 5)), c=HARD, tol=1e-8)
    np.testing.assert_allclose(found.matrix, 1.0, atol=1e-4)
    assert found.value == pytest.approx(np.sqrt(15.0), rel=1e-7)


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_a_hard_margin_is_met(norm):
    found = mmmf(planted(12, 9, 0.4), c=HARD, norm=norm, tol=1e-4)
    assert found.slack.max() == 0.0
    assert found.gap <= 1e-4


def test_conditions_at_the_optimum():
    """Complementarity; and U = P V, V = P^T U: users and items classify each other."""
    Y, c = planted(20, 15, 0.4), 0.3
    found = mmmf(Y, c=c, tol=1e-10, max_iter=20_000)
    P = found.signs.matrix(found.multipliers).toarray()
    assert np.linalg.norm(P, 2) <= 1.0 + 1e-6
    trace = np.linalg.svd(found.matrix, compute_uv=False).sum()
    assert np.sum(P * found.matrix) == pytest.approx(trace, rel=1e-6)
    inside = (found.multipliers > 1e-4) & (found.multipliers < c - 1e-4)
    assert inside.any()
    np.testing.assert_allclose(found.margins[inside], 1.0, atol=1e-3)
    assert np.all(found.margins[found.multipliers > c - 1e-6] <= 1.0 + 1e-3)
    assert np.all(found.margins[found.multipliers < 1e-6] >= 1.0 - 1e-3)
    U, V, _ = principal(found.U, found.V, "trace")
    np.testing.assert_allclose(P @ V, U, atol=1e-3)
    np.testing.assert_allclose(P.T @ U, V, atol=1e-3)


def test_only_observed_entries_and_the_diagonal_appear():
    Y = planted(30, 15, 0.08)
    sdp = methods.mmmf(Y, c=0.5).to_sdp()
    seen = {tuple(e) for rows in sdp.rows for e in rows.lhs["Z"].pattern()}
    assert seen == {(int(i), 30 + int(a)) for i, a in np.argwhere(Y)}
    assert sdp.cost("Z").nnz == 45


def test_values_are_those_of_the_matrix():
    Y = planted(20, 15, 0.4)
    found = mmmf(Y, c=0.3)
    assert objective(Y, found.matrix, 0.3) == pytest.approx(found.value, rel=1e-6)
    assert objective(Y, found.matrix, 0.3) <= found.value * (1.0 + 1e-12)
    hard = mmmf(Y, c=HARD, norm="max", tol=1e-3)
    longest = [np.square(F).sum(axis=1).max() for F in (hard.U, hard.V)]
    assert np.sqrt(longest[0] * longest[1]) == pytest.approx(hard.value, rel=1e-9)


def test_order_signs_and_container_of_the_table_do_not_change_the_fit():
    Y, c, rng = planted(10, 8, 0.5), 0.3, np.random.default_rng(2)
    expected = mmmf(Y, c=c, tol=1e-8)
    rows, columns = rng.permutation(10), rng.permutation(8)
    signs = rng.choice([-1.0, 1.0], 8)
    other = mmmf((Y * signs)[rows][:, columns], c=c, tol=1e-8)
    assert other.value == pytest.approx(expected.value, rel=1e-7)
    np.testing.assert_allclose(other.matrix, (expected.matrix * signs)[rows][:, columns], atol=1e-3)
    assert mmmf(Y.T, c=c, tol=1e-8).value == pytest.approx(expected.value, rel=1e-7)
    for same in (np.where(Y == 0.0, np.nan, Y), sp.csr_array(Y), Y.astype(int).tolist()):
        assert mmmf(same, c=c, tol=1e-8).value == expected.value


def test_the_value_grows_with_the_penalty_and_with_signs():
    Y = planted(10, 8, 0.6)
    values = [mmmf(Y, c=c).value for c in (0.1, 0.2, 0.4, 0.8, HARD)]
    assert values == sorted(values)
    fewer = Y * (np.random.default_rng(0).random(Y.shape) < 0.7)
    assert mmmf(fewer, c=0.4).value <= mmmf(Y, c=0.4).value * (1.0 + 1e-6)


# -- bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["trace", "max"])
@pytest.mark.parametrize("c", [0.2, HARD])
@pytest.mark.parametrize("rigorous", [False, True])
def test_any_weights_bound_any_matrix(norm, c, rigorous):
    rng = np.random.default_rng(4)
    best = mmmf(Y5, c=c, norm=norm).value
    for _ in range(5):
        Q = rng.gamma(0.5, size=np.count_nonzero(Y5))
        scales = (rng.random(5), rng.random(4))
        for given in (None, scales):
            bound = margin_bound(Y5, Q, c=c, norm=norm, scales=given, rigorous=rigorous)
            assert 0.0 < bound <= best * (1.0 + 1e-12)


@pytest.mark.parametrize("norm", ["trace", "max"])
@pytest.mark.parametrize("ridge", [np.inf, 1.0, 1e-50])
@pytest.mark.parametrize("size", [1e-310, 1e-158, 1e200])
def test_a_bound_does_not_depend_on_the_size_of_weights(size, ridge, norm):
    wanted = margin_bound(Y3, np.ones(9), c=0.5, norm=norm, ridge=ridge)
    found = margin_bound(Y3, size * np.ones(9), c=0.5, norm=norm, ridge=ridge)
    assert found == pytest.approx(wanted, rel=1e-12)
    assert found > 0.0


def test_weights_of_a_matrix_count_at_observed_positions_alone():
    Q = np.random.default_rng(1).random(9)
    whole = np.full(Y3.shape, 7.0)
    whole[Y3 != 0] = Q
    assert margin_bound(Y3, whole, c=HARD) == margin_bound(Y3, Q, c=HARD)
    assert margin_bound(Y3, -Q) == 0.0


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_multipliers_of_a_fit_prove_its_bound_and_rigorously_little_less(norm):
    found = mmmf(Y5, c=0.4, norm=norm, tol=1e-7)
    given = {"c": 0.4, "norm": norm, "scales": found.scales}
    plain = margin_bound(Y5, found.multipliers, **given)
    proved = margin_bound(Y5, found.multipliers, rigorous=True, **given)
    assert plain == pytest.approx(found.bound, rel=1e-12)
    assert proved <= plain
    assert proved == pytest.approx(plain, rel=1e-8)


def test_dual_norms_are_bounds_that_the_best_scales_attain():
    P = np.random.default_rng(0).standard_normal((4, 6))
    assert dual_norm(sp.csr_array(P), "trace") == pytest.approx(np.linalg.norm(P, 2))
    model = Model((blocks.DualMaxNorm(sdpdr.model.Affine({}, P.ravel()), (4, 6)),))
    exact = sdpdr.solve(model, "clarabel", tol=1e-9)
    d = exact.values["d"]
    assert dual_norm(sp.csr_array(P), "max") >= exact.value * (1.0 - 1e-8)
    at_best = dual_norm(sp.csr_array(P), "max", (d[:4], d[4:]))
    assert at_best == pytest.approx(exact.value, rel=1e-4)


def test_every_step_is_a_proof_and_is_reported():
    seen = []
    found = mmmf(planted(30, 20, 0.3), c=0.3, tol=1e-7, progress=seen.append)
    assert list(found.history) == seen
    values, bounds = ([record[key] for record in seen] for key in ("value", "bound"))
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)
    assert bounds[-1] <= values[-1] <= bounds[-1] * (1.0 + 1.1e-7)


def test_too_few_steps_are_reported():
    with pytest.warns(UncertifiedWarning, match="after 10 iterations"):
        found = mmmf(planted(30, 20, 0.3), c=0.5, max_iter=10)
    assert found.iterations == 10
    assert not found.certified()
    assert found.bound <= mmmf(planted(30, 20, 0.3), c=0.5).value


# -- norms and proximal steps -------------------------------------------------------------------


def test_no_factors_have_less_than_the_trace_norm():
    """Definition 1 of appendix D: three ways to say one norm."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((4, 5))
    left, sizes, right = np.linalg.svd(M, full_matrices=False)
    U, V = left * np.sqrt(sizes), right.T * np.sqrt(sizes)
    assert factor_norm(U, V, "trace") == pytest.approx(sizes.sum())
    for _ in range(20):
        turn = rng.standard_normal((4, 4))
        A, B = U @ turn, V @ np.linalg.inv(turn).T
        assert factor_norm(A, B, "trace") >= sizes.sum() * (1.0 - 1e-9)


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_factors_have_orthogonal_columns_and_none_too_many(norm):
    """Of users and items together for the max-norm, whose value any rotation of both keeps."""
    rng = np.random.default_rng(31)
    U, V = rng.standard_normal((14, 40)), rng.standard_normal((9, 40))
    left, right, size = principal(U, V, norm)
    np.testing.assert_allclose(left @ right.T, U @ V.T, atol=1e-12)
    assert left.shape[1] == right.shape[1] <= 23
    sides = (left, right) if norm == "trace" else (np.vstack([left, right]),)
    for side in sides:
        gram = side.T @ side
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12 * gram[0, 0])
        assert np.all(np.diff(np.diag(gram)) <= 0.0)
    if norm == "max":
        longest = [np.max(np.sum(np.square(side), axis=1)) for side in (left, right)]
        np.testing.assert_allclose(longest, size)


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_norm_steps_are_least(norm):
    """No matrix nearby has a smaller norm plus rho/2 |X - T|^2."""
    rng, rho = np.random.default_rng(0), 0.7
    program = Program(methods.observed_signs(Y3), SignHinge(Y3[Y3 != 0]), norm, 0.4, np.inf)
    step = TraceStep(program) if norm == "trace" else MaxStep(program)
    T = rng.standard_normal(step.shape) * 3.0
    if norm == "trace":
        X, U, V = step.nearest(T, rho)
        np.testing.assert_allclose(X, U @ V.T, atol=1e-12)

        def cost(M):
            return np.linalg.svd(M, compute_uv=False).sum() + rho / 2 * np.sum((M - T) ** 2)
    else:
        T = T + T.T
        X, U, V = step.nearest(T, rho)
        values, vectors = np.linalg.eigh(T)
        np.testing.assert_allclose(X, (vectors * np.maximum(values, 0.0)) @ vectors.T, atol=1e-12)
        X = T.copy()
        step.cut(X, rho)

        def cost(M):
            return np.diag(M).max() + rho / 2 * np.sum((M - T) ** 2)

    for _ in range(200):
        moved = X + rng.standard_normal(X.shape) * 10.0 ** rng.uniform(-4, 0)
        assert cost(moved) >= cost(X) - 1e-12


@pytest.mark.parametrize("has_constant", [False, True])
@pytest.mark.parametrize("penalty", [0.3, np.inf])
@pytest.mark.parametrize("shape", [(9, 5), (5, 9)])
def test_offsets_of_a_step_are_ridge_regression(shape, penalty, has_constant):
    Y = planted(*shape, 0.6)
    signs = methods.observed_signs(Y)
    values = np.random.default_rng(0).standard_normal(signs.values.size)
    fit = RidgeFit(Offsets(signs, 1.0), penalty, has_constant)
    offsets, constant = fit.fit(values)
    i, a = signs.places.T
    A = np.zeros((values.size, sum(shape) + 1))
    A[np.arange(values.size), i] = A[np.arange(values.size), shape[0] + a] = A[:, -1] = 1.0
    if not np.isfinite(penalty):
        assert not offsets.any()
        assert constant == pytest.approx(values.mean() if has_constant else 0.0)
        return
    A = A if has_constant else A[:, :-1]
    ridge = np.diag([penalty] * sum(shape) + [0.0] * has_constant)
    best = np.linalg.solve(A.T @ A + ridge, A.T @ values)
    np.testing.assert_allclose(offsets, best[: sum(shape)], atol=1e-10)
    assert constant == pytest.approx(best[-1] if has_constant else 0.0, abs=1e-10)


# -- offsets ------------------------------------------------------------------------------------

RIDGE = 2.0


def popular(p=12, q=9, share=0.6, seed=0):
    """Signs of rank one, offsets and noise."""
    rng = np.random.default_rng(seed)
    scores = np.outer(*(rng.standard_normal(n) for n in (p, q))) + rng.standard_normal(q)
    Y = np.sign(scores + 0.5 * rng.standard_normal((p, q)))
    return np.where(rng.random((p, q)) < share, Y, 0.0)


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.parametrize(("norm", "c"), [("trace", 0.4), ("max", 0.1)])
def test_the_program_with_offsets_has_the_value_of_splitting(norm, c):
    Y = popular()
    value = sdpdr.solve(methods.mmmf(Y, c=c, norm=norm, ridge=RIDGE), "clarabel", tol=1e-8).value
    found = mmmf(Y, c=c, norm=norm, ridge=RIDGE, tol=1e-5)
    assert found.bound * (1.0 - 1e-7) <= value <= found.value * (1.0 + 1e-7)
    assert found.gap <= 1e-5


def test_values_and_balance_of_matrix_and_offsets():
    """Sums of weights balance the penalty of offsets."""
    Y = popular()
    found = mmmf(Y, c=0.3, ridge=RIDGE, tol=1e-9)
    value = objective(Y, found.matrix, 0.3, found.offsets, RIDGE)
    assert found.value == pytest.approx(value, rel=1e-8)
    P = found.signs.matrix(found.multipliers)
    sums = np.concatenate([P.sum(axis=1), P.sum(axis=0)])
    np.testing.assert_allclose(sums, 0.3 * RIDGE * found.offsets, atol=1e-4)
    np.testing.assert_allclose(found.slack, np.maximum(0.0, 1.0 - found.margins))


@pytest.mark.parametrize("seed", range(3))
def test_any_weights_bound_any_matrix_and_offsets(seed):
    rng, Y = np.random.default_rng(seed), popular(seed=seed)
    M, offsets = 0.3 * rng.standard_normal(Y.shape), rng.standard_normal(sum(Y.shape))
    bound = margin_bound(Y, rng.random(Y.shape), c=0.4, ridge=RIDGE)
    assert 0.0 < bound <= mmmf(Y, c=0.4, ridge=RIDGE).value
    assert bound <= objective(Y, M, 0.4, offsets, RIDGE)


def test_cheaper_offsets_lower_the_value_and_dear_ones_are_none():
    Y = popular()
    values = [mmmf(Y, c=0.3, ridge=ridge).value for ridge in (0.1, 1.0, 10.0, 1e9, np.inf)]
    assert np.all(np.diff(values) >= -1e-5)
    assert values[-2] == pytest.approx(values[-1], rel=1e-5)


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_offsets_that_cost_next_to_nothing(norm):
    Y = [[0, 0, 0, 1], [1, -1, -1, -1], [0, -1, 0, -1], [1, -1, 1, 0]]
    found = mmmf(Y, c=1.0, norm=norm, ridge=1e-3, tol=1e-3)
    assert 0.0 <= found.bound <= found.value
    assert found.gap <= 1e-3


# -- from multipliers to the matrix ---------------------------------------------------------------


@pytest.mark.parametrize(("Y", "c"), [(Y, c) for Y, c, norm, _ in ORACLES if norm == "trace"])
def test_the_matrix_of_multipliers(Y, c):
    Q = sdpdr.solve(methods.mmmf_dual(Y, c=c), "clarabel", tol=1e-9).values["Q"]
    found = mmmf_primal(Y, Q, c=c)
    assert 0.0 <= found.gap < 1e-4
    assert found.value == pytest.approx(mmmf(Y, c=c).value, rel=1e-4)
    assert found.is_zero == (c == 0.3)


def test_weights_that_are_not_optimal_have_a_gap():
    assert mmmf_primal(Y5, np.full(15, 0.45), c=0.5).gap > 1e-3


# -- refusals -----------------------------------------------------------------------------------

WAYS = [methods.mmmf, methods.mmmf_dual, mmmf]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1, 2], [0, -1]], r"X\[0, 1\] = 2 is no sign"),
        ([[1, np.inf], [0, -1]], r"X\[0, 1\] = inf is no sign"),
        (np.full((2, 3), np.nan), "no entry of X was observed"),
        (sp.csr_array((2, 3)), "no entry of X was observed"),
        (sp.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2)), r"X\[0, 1\] = 2"),
        ([1, -1, 0], "Expected 2D array"),
        ([["a", "b"]], "could not convert"),
        (np.zeros((0, 3)), "0 sample"),
        (np.ones((2, 2)) * 1j, "Complex"),
    ],
)
def test_matrices_that_are_no_signs(X, words):
    for way in WAYS:
        with pytest.raises(DataError, match=words):
            way(X)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"c": 0.0}, DataError, "must be positive"),
        ({"c": float("nan")}, DataError, "must be positive"),
        ({"c": 1e200}, DataError, "c = .* is a penalty"),
        ({"norm": "traces"}, UnknownNameError, "Did you mean 'trace'"),
        ({"ridge": 0.0}, DataError, "ridge=.* must be positive"),
        ({"ridge": 1e-320}, DataError, "ridge = .* is a penalty"),
        ({"ridge": 1.0, "c": HARD}, DataError, "need a finite c"),
    ],
)
def test_penalties_and_norms_that_are_refused(options, kind, words):
    for way in [methods.mmmf, mmmf, lambda X, **more: margin_bound(X, X, **more)]:
        with pytest.raises(kind, match=words):
            way(Y3, **options)


def test_weights_must_fit():
    with pytest.raises(ShapeError, match=r"Q must hold 9 weights.*it has shape \(8,\)"):
        margin_bound(Y3, np.ones(8))
    with pytest.raises(DataError, match="no weight of Q is positive"):
        mmmf_primal(Y3, np.zeros(9))
    with pytest.raises(UnknownNameError):
        dual_norm(sp.csr_array(np.eye(2)), "spectral")


def test_types_are_named():
    with pytest.raises(DataTypeError):
        factorize.mmmf([[{}, 1], [2, 3]])
    with pytest.raises(DataError, match="max_iter"):
        mmmf(Y3, max_iter=0)
