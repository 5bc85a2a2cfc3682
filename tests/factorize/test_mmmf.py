"""Maximum-margin factorization: oracles, primal and dual, bounds from any weights, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import blocks, factorize, methods
from sdpdr.blocks import ProductLift
from sdpdr.errors import DataError, DataTypeError, ShapeError, UncertifiedWarning, UnknownNameError
from sdpdr.factorize import dual_norm, margin_bound, mmmf, mmmf_primal
from sdpdr.families.factor.margin.norms import factor_norm, principal
from sdpdr.families.factor.margin.splitting import MaxSplitting, TraceSplitting
from sdpdr.linalg.svec import SQRT2
from sdpdr.model import AtMost, Block, Model

Y3 = np.array([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]])
Y5 = np.vstack([Y3, [[1, 1, -1, 0], [0, -1, 1, -1]]])
HARD = float("inf")
# Values that the primal, its dual and its semidefinite form agreed on.
ORACLES = [
    (Y3, 0.3, "trace", 2.7),
    (Y3, 0.5, "trace", 2.0 * np.sqrt(3.0)),
    (Y3, 5.0, "trace", 2.0 * np.sqrt(3.0)),
    (Y3, HARD, "trace", 2.0 * np.sqrt(3.0)),
    (Y3, 0.3, "max", 1.0),
    (Y3, HARD, "max", 1.0),
    (Y5, 0.3, "trace", 4.5),
    (Y5, 0.4, "trace", 5.468333),
    (Y5, HARD, "trace", 5.872983),
    (Y5, 0.3, "max", SQRT2),
]
MORE_ORACLES = [
    (Y5, 0.5, "trace", 5.871823),
    (Y5, 0.7, "trace", 5.872983),
    (Y5, HARD, "max", SQRT2),
]


def planted(p, q, share, seed=0, flips=0.1):
    rng = np.random.default_rng(seed)
    Y = np.sign(rng.standard_normal((p, 2)) @ rng.standard_normal((2, q)))
    Y[rng.random((p, q)) < flips] *= -1.0
    return np.where(rng.random((p, q)) < share, Y, 0.0)


def objective(Y, M, c, norm="trace"):
    """The value of a matrix, from its singular values."""
    margins = (Y * M)[Y != 0]
    loss = c * np.maximum(0.0, 1.0 - margins).sum()
    return np.linalg.svd(M, compute_uv=False).sum() + loss


# -- oracles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("Y", "c", "norm", "expected"),
    [*ORACLES, *(pytest.param(*case, marks=pytest.mark.nightly) for case in MORE_ORACLES)],
)
def test_every_way_finds_the_oracles(Y, c, norm, expected):
    primal = sdpdr.solve(methods.mmmf(Y, c=c, norm=norm), "clarabel", tol=1e-8)
    dual = sdpdr.solve(methods.mmmf_dual(Y, c=c, norm=norm), "clarabel", tol=1e-8)
    direct = mmmf(Y, c=c, norm=norm, tol=1e-8)
    for value in (primal.value, dual.value, direct.value):
        assert value == pytest.approx(expected, rel=1e-6)
    assert primal.certified(1e-6)
    assert dual.certified(1e-6)
    assert 0.0 <= direct.gap <= 1e-8


def test_weights_that_prove_the_value_of_three_users_by_hand():
    """Rows add up to 2 / sqrt(3), columns to sqrt(3) / 2, so their norm is one by Schur's test."""
    Q = np.where(np.arange(4) == 0, np.sqrt(3.0) / 6.0, np.sqrt(3.0) / 4.0) * np.abs(Y3)
    np.testing.assert_allclose(Q.sum(axis=1), 2.0 / np.sqrt(3.0))
    np.testing.assert_allclose(Q.sum(axis=0), np.sqrt(3.0) / 2.0)
    assert margin_bound(Y3, Q, c=HARD, rigorous=True) == pytest.approx(2.0 * np.sqrt(3.0))


@pytest.mark.parametrize("solver", ["cvxopt", "sdpa", "scs", "lowrank"])
def test_solvers_agree(solver):
    for make in (methods.mmmf, methods.mmmf_dual):
        solution = sdpdr.solve(make(Y3, c=0.5), solver, tol=1e-7)
        assert solution.value == pytest.approx(2.0 * np.sqrt(3.0), rel=1e-6)
        assert abs(solution.gap) < 1e-6


@pytest.mark.parametrize(("solver", "form"), [("clarabel", "chordal"), ("clarabel", "cvxpy")])
def test_forms_agree(solver, form):
    Y = planted(15, 8, 0.15)
    expected = mmmf(Y, c=0.5, tol=1e-8).value
    solution = sdpdr.solve(methods.mmmf(Y, c=0.5), solver, form, tol=1e-8)
    assert solution.value == pytest.approx(expected, rel=1e-6)
    assert solution.certified(1e-6)


def test_multipliers_of_the_primal_solve_the_dual():
    """They need not be unique: here different ones are as good."""
    dual = sdpdr.solve(methods.mmmf_dual(Y5, c=0.4), "clarabel", tol=1e-9).values["Q"]
    primal = sdpdr.solve(methods.mmmf(Y5, c=0.4), "clarabel", tol=1e-9).duals["margins"]
    for Q in (dual, primal, mmmf(Y5, c=0.4, tol=1e-8).multipliers):
        assert margin_bound(Y5, Q, c=0.4) == pytest.approx(5.468333, rel=1e-6)
        assert np.linalg.norm(methods.observed_signs(Y5).matrix(Q).toarray(), 2) < 1.0 + 1e-5
    assert np.abs(dual - primal).max() > 1e-5


@pytest.mark.parametrize(
    ("solver", "norm"),
    [
        ("clarabel", "trace"),
        ("lowrank", "max"),
        pytest.param("clarabel", "max", marks=pytest.mark.nightly),
        pytest.param("lowrank", "trace", marks=pytest.mark.nightly),
    ],
)
def test_a_semidefinite_solver_may_be_asked(solver, norm):
    Y = planted(12, 8, 0.5)
    direct = mmmf(Y, c=0.3, norm=norm, tol=1e-5)
    other = mmmf(Y, c=0.3, norm=norm, solver=solver, tol=1e-6)
    assert other.value == pytest.approx(direct.value, rel=1.1e-5)
    assert other.gap <= 1e-6


# -- printed forms ------------------------------------------------------------------------------


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
    np.testing.assert_allclose(lift.read(solution.values["Z"]), 0.0, atol=1e-5)
    assert mmmf(Y3, c=HARD).value == pytest.approx(2.0 * np.sqrt(3.0), rel=1e-6)


# -- what the optimum looks like -----------------------------------------------------------------


@pytest.mark.parametrize("Y", [Y3, Y5, planted(9, 7, 0.5, seed=3)])
def test_zero_is_best_exactly_up_to_one_over_the_largest_singular_value(Y):
    edge = 1.0 / np.linalg.norm(Y, 2)
    below, above = mmmf(Y, c=0.999 * edge, tol=1e-9), mmmf(Y, c=1.01 * edge, tol=1e-9)
    assert below.is_zero
    assert below.value == pytest.approx(0.999 * edge * np.count_nonzero(Y))
    assert not above.is_zero
    assert above.value < 1.01 * edge * np.count_nonzero(Y) * (1.0 - 1e-9)


def test_what_is_not_observed_is_zero():
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


def test_a_hard_margin_is_met():
    for norm in ("trace", "max"):
        found = mmmf(planted(12, 9, 0.4), c=HARD, norm=norm, tol=1e-4)
        assert found.slack.max() == 0.0
        assert found.gap <= 1e-4


def test_conditions_at_the_optimum():
    Y, c = planted(20, 15, 0.4), 0.3
    found = mmmf(Y, c=c, tol=1e-10, max_iter=20_000)
    P = found.signs.matrix(found.multipliers).toarray()
    assert np.linalg.norm(P, 2) <= 1.0 + 1e-6
    # <P, M> = |M|: singular vectors of M belong to singular values one of P.
    assert np.sum(P * found.matrix) == pytest.approx(
        np.linalg.svd(found.matrix, compute_uv=False).sum(), rel=1e-6
    )
    inside = (found.multipliers > 1e-4) & (found.multipliers < c - 1e-4)
    assert inside.any()
    np.testing.assert_allclose(found.margins[inside], 1.0, atol=1e-3)
    assert np.all(found.margins[found.multipliers > c - 1e-6] <= 1.0 + 1e-3)
    assert np.all(found.margins[found.multipliers < 1e-6] >= 1.0 - 1e-3)


def test_only_observed_entries_and_the_diagonal_appear():
    Y = planted(30, 15, 0.08)
    sdp = methods.mmmf(Y, c=0.5).to_sdp()
    seen = {tuple(e) for rows in sdp.rows for e in rows.lhs["Z"].pattern()}
    assert seen == {(int(i), 30 + int(a)) for i, a in np.argwhere(Y)}
    assert sdp.cost("Z").nnz == 45


def test_users_and_items_are_each_others_support_vector_machines():
    """U = P V and V = P^T U: with one factor fixed, the rows of the other are linear classifiers.

    The text of section 2.3.4 prices the factor that is fixed; it must be the other one.
    """
    found = mmmf(planted(20, 15, 0.4), c=0.3, tol=1e-10, max_iter=20_000)
    P = found.signs.matrix(found.multipliers)
    np.testing.assert_allclose(P @ found.V, found.U, atol=1e-3)
    np.testing.assert_allclose(P.T @ found.U, found.V, atol=1e-3)
    np.testing.assert_allclose(found.U.T @ found.U, found.V.T @ found.V, atol=1e-8)

    def priced(V):
        margins = (planted(20, 15, 0.4) * (found.U @ V.T))[planted(20, 15, 0.4) != 0]
        return 0.5 * np.sum(V**2) + 0.3 * np.maximum(0.0, 1.0 - margins).sum()

    rng = np.random.default_rng(0)
    for _ in range(50):
        step = rng.standard_normal(found.V.shape) * 10.0 ** rng.uniform(-4, 0)
        assert priced(found.V + step) >= priced(found.V) - 1e-6


def test_no_factors_have_less_than_the_trace_norm():
    """Definition 1 of appendix D: three ways to say one norm."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((4, 5))
    left, sizes, right = np.linalg.svd(M, full_matrices=False)
    U, V = left * np.sqrt(sizes), right.T * np.sqrt(sizes)
    assert factor_norm(U, V, "trace") == pytest.approx(sizes.sum())
    assert 0.5 * (np.sum(U**2) + np.sum(V**2)) == pytest.approx(sizes.sum())
    for _ in range(20):
        turn = rng.standard_normal((4, 4))
        A, B = U @ turn, V @ np.linalg.inv(turn).T
        np.testing.assert_allclose(A @ B.T, M, atol=1e-8)
        assert factor_norm(A, B, "trace") >= sizes.sum() * (1.0 - 1e-9)


def test_values_are_those_of_the_matrix():
    Y = planted(20, 15, 0.4)
    found = mmmf(Y, c=0.3)
    assert objective(Y, found.matrix, 0.3) == pytest.approx(found.value, rel=1e-9)
    hard = mmmf(Y, c=HARD, norm="max", tol=1e-3)
    longest = [np.square(F).sum(axis=1).max() for F in (hard.U, hard.V)]
    assert np.sqrt(longest[0] * longest[1]) == pytest.approx(hard.value, rel=1e-9)


def test_orders_signs_and_forms_of_the_table_do_not_change_the_fit():
    Y, c, rng = planted(10, 8, 0.5), 0.3, np.random.default_rng(2)
    expected = mmmf(Y, c=c, tol=1e-8)
    rows, columns = rng.permutation(10), rng.permutation(8)
    signs = rng.choice([-1.0, 1.0], 8)
    other = mmmf((Y * signs)[rows][:, columns], c=c, tol=1e-8)
    assert other.value == pytest.approx(expected.value, rel=1e-7)
    np.testing.assert_allclose(other.matrix, (expected.matrix * signs)[rows][:, columns], atol=1e-3)
    assert mmmf(Y.T, c=c, tol=1e-8).value == pytest.approx(expected.value, rel=1e-7)
    missing = np.where(Y == 0.0, np.nan, Y)
    for same in (missing, sp.csr_array(Y), sp.coo_matrix(Y), Y.astype(int).tolist()):
        assert mmmf(same, c=c, tol=1e-8).value == expected.value


def test_the_value_grows_with_the_price_and_with_signs():
    Y = planted(10, 8, 0.6)
    values = [mmmf(Y, c=c).value for c in (0.1, 0.2, 0.4, 0.8, HARD)]
    assert values == sorted(values)
    fewer = Y * (np.random.default_rng(0).random(Y.shape) < 0.7)
    assert mmmf(fewer, c=0.4).value <= mmmf(Y, c=0.4).value * (1.0 + 1e-6)


# -- bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["trace", "max"])
@pytest.mark.parametrize("c", [0.2, 1.0, HARD])
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


def test_weights_of_any_size_are_put_right():
    Q = np.random.default_rng(1).random(9)
    expected = margin_bound(Y3, Q, c=HARD)
    for scaled in (1e6 * Q, 1e-6 * Q):
        assert margin_bound(Y3, scaled, c=HARD) == pytest.approx(expected, rel=1e-12)
    assert margin_bound(Y3, -Q) == 0.0
    whole = np.full(Y3.shape, 7.0)
    whole[Y3 != 0] = Q
    assert margin_bound(Y3, whole, c=HARD) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("norm", ["trace", "max"])
@pytest.mark.parametrize("ridge", [np.inf, 1.0, 1e-50])
@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-158, 1e200])
def test_a_bound_does_not_depend_on_the_size_of_weights(size, ridge, norm):
    wanted = margin_bound(Y3, np.ones(9), c=0.5, norm=norm, ridge=ridge)
    found = margin_bound(Y3, size * np.ones(9), c=0.5, norm=norm, ridge=ridge)
    assert found == pytest.approx(wanted, rel=1e-12)
    assert found > 0.0


def test_a_rigorous_bound_is_hardly_looser():
    found = mmmf(Y5, c=0.4, tol=1e-9)
    plain = margin_bound(Y5, found.multipliers, c=0.4)
    proved = margin_bound(Y5, found.multipliers, c=0.4, rigorous=True)
    assert proved <= plain
    assert proved == pytest.approx(plain, rel=1e-9)


def test_dual_norms_are_bounds_that_the_best_scales_attain():
    P = np.random.default_rng(0).standard_normal((4, 6))
    assert dual_norm(sp.csr_array(P), "trace") == pytest.approx(np.linalg.norm(P, 2))
    model = Model((blocks.DualMaxNorm(sdpdr.model.Affine({}, P.ravel()), (4, 6)),))
    exact = sdpdr.solve(model, "clarabel", tol=1e-9)
    d = exact.values["d"]
    assert dual_norm(sp.csr_array(P), "max") >= exact.value * (1.0 - 1e-8)
    at_best = dual_norm(sp.csr_array(P), "max", (d[:4], d[4:]))
    assert at_best == pytest.approx(exact.value, rel=1e-4)


def test_every_step_is_a_proof():
    Y = planted(30, 20, 0.3)
    history = mmmf(Y, c=0.3, tol=1e-7).history
    values, bounds = ([h[key] for h in history] for key in ("value", "bound"))
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)
    assert bounds[-1] <= values[-1] <= bounds[-1] * (1.0 + 1.1e-7)


def test_too_few_steps_are_told():
    with pytest.warns(UncertifiedWarning, match="after 10 iterations"):
        found = mmmf(planted(30, 20, 0.3), c=0.5, max_iter=10)
    assert found.iterations == 10
    assert found.gap > 1e-6
    assert not found.certified()
    assert found.bound <= mmmf(planted(30, 20, 0.3), c=0.5).value


# -- the two proximal steps ---------------------------------------------------------------------


def test_proximal_steps_are_least():
    """No matrix nearby has a smaller f(X) + rho/2 |X - T|^2."""
    rng, rho, c = np.random.default_rng(0), 0.7, 0.4
    signs = methods.observed_signs(Y3)
    split = TraceSplitting(signs, c)
    for T in (rng.standard_normal((3, 4)) * 3.0, rng.standard_normal((4, 3)).T * 3.0):
        X, U, V = split.norm_step(T, rho)
        np.testing.assert_allclose(X, U @ V.T, atol=1e-12)
        Z, q, _ = split.loss_step(T, rho)
        assert np.all((q >= 0.0) & (q <= c))

        def norm_cost(M, T=T):
            return np.linalg.svd(M, compute_uv=False).sum() + rho / 2 * np.sum((M - T) ** 2)

        def loss_cost(M, T=T):
            hinge = np.maximum(0.0, 1.0 - (Y3 * M)[Y3 != 0]).sum()
            return c * hinge + rho / 2 * np.sum((M - T) ** 2)

        for _ in range(200):
            step = rng.standard_normal((3, 4)) * 10.0 ** rng.uniform(-4, 0)
            assert norm_cost(X + step) >= norm_cost(X) - 1e-12
            assert loss_cost(Z + step) >= loss_cost(Z) - 1e-12


def test_proximal_steps_of_the_max_norm_are_least():
    rng, rho, c = np.random.default_rng(0), 0.7, 0.4
    split = MaxSplitting(methods.observed_signs(Y3), c)
    T = rng.standard_normal((7, 7)) * 2.0
    T = T + T.T
    X, U, V = split.norm_step(T, rho)
    np.testing.assert_allclose(X, np.vstack([U, V]) @ np.vstack([U, V]).T, atol=1e-12)
    values, vectors = np.linalg.eigh(T)
    np.testing.assert_allclose(X, (vectors * np.maximum(values, 0.0)) @ vectors.T, atol=1e-12)
    Z, _, (a, b) = split.loss_step(T, rho)
    assert np.sum(a) + np.sum(b) == pytest.approx(1.0)

    def cost(M):
        hinge = np.maximum(0.0, 1.0 - (Y3 * M[:3, 3:])[Y3 != 0]).sum()
        return np.diag(M).max() + c * hinge + rho / 2 * np.sum((M - T) ** 2)

    for _ in range(200):
        step = rng.standard_normal((7, 7)) * 10.0 ** rng.uniform(-4, 0)
        assert cost(Z + step + step.T) >= cost(Z) - 1e-12


# -- from multipliers to the matrix ---------------------------------------------------------------


@pytest.mark.parametrize(("Y", "c"), [(Y, c) for Y, c, norm, _ in ORACLES if norm == "trace"])
def test_the_matrix_of_multipliers(Y, c):
    Q = sdpdr.solve(methods.mmmf_dual(Y, c=c), "clarabel", tol=1e-9).values["Q"]
    found = mmmf_primal(Y, Q, c=c)
    assert 0.0 <= found.gap < 1e-4
    assert found.value == pytest.approx(mmmf(Y, c=c).value, rel=1e-4)
    assert found.is_zero == (c == 0.3)


def test_the_matrix_of_multipliers_of_larger_data():
    Y, c = planted(20, 15, 0.4), 0.3
    direct = mmmf(Y, c=c, tol=1e-9, max_iter=20_000)
    found = mmmf_primal(Y, direct.multipliers, c=c)
    assert found.gap < 1e-5
    np.testing.assert_allclose(found.matrix, direct.matrix, atol=1e-2)


def test_weights_that_are_not_optimal_are_seen_in_the_gap():
    assert mmmf_primal(Y5, np.full(15, 0.45), c=0.5).gap > 1e-3


# -- what is refused ----------------------------------------------------------------------------


WAYS = [methods.mmmf, methods.mmmf_dual, mmmf]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[1, 2], [0, -1]], r"X\[0, 1\] = 2 is no sign"),
        ([[1, 0.5], [0, -1]], r"X\[0, 1\] = 0.5 is no sign"),
        ([[1, np.inf], [0, -1]], r"X\[0, 1\] = inf is no sign"),
        (np.zeros((2, 3)), "no entry of X was observed"),
        (np.full((2, 3), np.nan), "no entry of X was observed"),
        (sp.csr_array((2, 3)), "no entry of X was observed"),
        (sp.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2)), r"X\[0, 1\] = 2"),
        ([1, -1, 0], "Expected 2D array"),
        (np.ones((2, 2, 2)), "dim 3"),
        ([["a", "b"]], "could not convert"),
        (np.zeros((0, 3)), "0 sample"),
    ],
)
def test_matrices_that_are_no_signs(way, X, words):
    with pytest.raises(DataError, match=words):
        way(X)


@pytest.mark.parametrize("way", WAYS)
def test_complex_numbers_are_no_signs(way):
    with pytest.raises(DataError):
        way(np.ones((2, 2)) * 1j)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("c", [0.0, -1.0, float("nan")])
def test_the_price_must_be_positive(way, c):
    with pytest.raises(DataError, match="must be positive"):
        way(Y3, c=c)


@pytest.mark.parametrize("way", WAYS)
def test_an_unknown_norm_offers_the_nearest(way):
    with pytest.raises(UnknownNameError, match="Did you mean 'trace'"):
        way(Y3, norm="traces")


def test_weights_must_fit():
    with pytest.raises(ShapeError, match=r"Q must hold 9 weights.*it has shape \(8,\)"):
        margin_bound(Y3, np.ones(8))
    with pytest.raises(DataError, match="no weight of Q is positive"):
        mmmf_primal(Y3, np.zeros(9))
    with pytest.raises(DataError, match="max_iter"):
        mmmf(Y3, max_iter=0)
    with pytest.raises(UnknownNameError):
        dual_norm(sp.csr_array(np.eye(2)), "spectral")


def test_types_are_named():
    with pytest.raises(DataTypeError):
        mmmf([[{}, 1], [2, 3]])


def test_progress_is_told():
    seen = []
    factorize.mmmf(Y5, c=0.4, progress=seen.append)
    assert seen
    assert {"iteration", "value", "bound", "gap", "seconds"} <= set(seen[0])


@pytest.mark.parametrize("price", [1e-320, 1e-200, 1e200])
@pytest.mark.parametrize("word", ["c", "ridge"])
@pytest.mark.parametrize("way", [methods.mmmf, mmmf, lambda X, **o: margin_bound(X, X, **o)])
def test_prices_beyond_numbers_are_named(way, word, price):
    with pytest.raises(DataError, match=f"{word} = .* is a price"):
        way(Y3, **{word: price})


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_factors_have_orthogonal_columns_and_none_too_many(norm):
    """Of users and items together for the max-norm, whose value any turn of both sides keeps."""
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
