"""Maximum-margin factorization: oracles, primal and dual, bounds from any weights, refusals."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import methods
from sdpdr.errors import DataError, DataTypeError, ShapeError, UncertifiedWarning, UnknownNameError
from sdpdr.factorize import margin_bound, mmmf
from sdpdr.families.factor.mmmf.program import principal

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
TRACE = [(Y, c, value) for Y, c, norm, value in ORACLES if norm == "trace"]
RIDGE = 2.0


def planted(p, q, share, seed=0, flips=0.1):
    rng = np.random.default_rng(seed)
    Y = np.sign(rng.standard_normal((p, 2)) @ rng.standard_normal((2, q)))
    Y[rng.random((p, q)) < flips] *= -1.0
    return np.where(rng.random((p, q)) < share, Y, 0.0)


def popular(p=12, q=9, share=0.6, seed=0):
    """Signs of rank one, offsets and noise."""
    rng = np.random.default_rng(seed)
    scores = np.outer(*(rng.standard_normal(n) for n in (p, q))) + rng.standard_normal(q)
    Y = np.sign(scores + 0.5 * rng.standard_normal((p, q)))
    return np.where(rng.random((p, q)) < share, Y, 0.0)


def objective(Y, M, c, rows=None, columns=None, ridge=0.0):
    """The value of a matrix and offsets, from singular values."""
    rows = np.zeros(len(Y)) if rows is None else rows
    columns = np.zeros(Y.shape[1]) if columns is None else columns
    slack = np.maximum(0.0, 1.0 - Y * (M + rows[:, None] + columns))[Y != 0.0].sum()
    size = np.linalg.svd(M, compute_uv=False).sum()
    return size + c * (slack + 0.5 * ridge * (rows @ rows + columns @ columns))


# -- oracles ------------------------------------------------------------------------------------


def test_splitting_finds_the_oracles():
    for Y, c, expected in TRACE:
        found = mmmf(Y, c=c, tol=1e-8)
        assert found.value == pytest.approx(expected, rel=1e-6)
        assert 0.0 <= found.gap <= 1e-8


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(("Y", "c", "norm", "expected"), ORACLES[3:])
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


# -- properties of the optimum --------------------------------------------------------------------


def test_zero_is_best_exactly_up_to_one_over_the_largest_singular_value():
    Y = planted(9, 7, 0.5, seed=3)
    edge = 1.0 / np.linalg.norm(Y, 2)
    below, above = mmmf(Y, c=0.999 * edge, tol=1e-9), mmmf(Y, c=1.01 * edge, tol=1e-9)
    assert below.is_zero
    assert below.value == pytest.approx(0.999 * edge * np.count_nonzero(Y))
    assert not above.is_zero
    assert above.value < 1.01 * edge * np.count_nonzero(Y) * (1.0 - 1e-9)


def test_a_hard_margin_is_met():
    Y = planted(12, 9, 0.4)
    found = mmmf(Y, c=HARD, tol=1e-4)
    i, a = np.nonzero(Y)
    assert np.min(Y[i, a] * found.scores_at(i, a)) >= 1.0
    assert found.gap <= 1e-4


def test_conditions_at_the_optimum():
    """Complementarity; and U = P V, V = P^T U: users and items classify each other."""
    Y, c = planted(12, 9, 0.5), 0.35
    found = mmmf(Y, c=c, tol=1e-9, max_iter=20_000)
    assert found.value == pytest.approx(objective(Y, found.matrix, c), rel=1e-8)
    Q, P = found.multipliers, Y.copy()
    P[Y != 0.0] *= Q
    assert np.linalg.norm(P, 2) <= 1.0 + 1e-6
    trace = np.linalg.svd(found.matrix, compute_uv=False).sum()
    assert np.sum(P * found.matrix) == pytest.approx(trace, rel=1e-6)
    margins = (Y * found.matrix)[Y != 0.0]
    inside = (Q > 1e-4) & (c - 1e-4 > Q)
    assert inside.any()
    np.testing.assert_allclose(margins[inside], 1.0, atol=1e-3)
    assert np.all(margins[c - 1e-6 < Q] <= 1.0 + 1e-3)
    assert np.all(margins[Q < 1e-6] >= 1.0 - 1e-3)
    U, V = principal(found.U, found.V)
    np.testing.assert_allclose(P @ V, U, atol=1e-3)
    np.testing.assert_allclose(P.T @ U, V, atol=1e-3)


def test_only_observed_entries_and_the_diagonal_appear():
    Y = planted(30, 15, 0.08)
    sdp = methods.mmmf(Y, c=0.5).to_sdp()
    seen = {tuple(e) for rows in sdp.rows for e in rows.lhs["Z"].pattern()}
    assert seen == {(int(i), 30 + int(a)) for i, a in np.argwhere(Y)}
    assert sdp.cost("Z").nnz == 45


def test_order_signs_and_container_of_the_table_do_not_change_the_fit():
    Y, c, rng = planted(10, 8, 0.5), 0.3, np.random.default_rng(2)
    expected = mmmf(Y, c=c, tol=1e-7)
    rows, columns = rng.permutation(10), rng.permutation(8)
    signs = rng.choice([-1.0, 1.0], 8)
    other = mmmf((Y * signs)[rows][:, columns], c=c, tol=1e-7)
    assert other.value == pytest.approx(expected.value, rel=1e-6)
    np.testing.assert_allclose(other.matrix, (expected.matrix * signs)[rows][:, columns], atol=1e-3)
    assert mmmf(Y.T, c=c, tol=1e-7).value == pytest.approx(expected.value, rel=1e-6)
    for same in (np.where(Y == 0.0, np.nan, Y), sp.csr_array(Y), Y.astype(int).tolist()):
        assert mmmf(same, c=c, tol=1e-7).value == expected.value


def test_the_value_grows_with_the_penalty_and_with_signs():
    Y = planted(10, 8, 0.6)
    values = [mmmf(Y, c=c).value for c in (0.1, 0.2, 0.4, 0.8, HARD)]
    assert values == sorted(values)
    fewer = Y * (np.random.default_rng(0).random(Y.shape) < 0.7)
    assert mmmf(fewer, c=0.4).value <= values[2] * (1.0 + 1e-6)


# -- bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [0.2, HARD])
def test_any_weights_bound_any_matrix(c):
    rng = np.random.default_rng(4)
    best = mmmf(Y5, c=c).value
    for _ in range(5):
        Q = rng.gamma(0.5, size=np.count_nonzero(Y5))
        plain, proved = (margin_bound(Y5, Q, c=c, rigorous=rigorous) for rigorous in (False, True))
        assert 0.0 < proved <= plain <= best * (1.0 + 1e-12)


def test_any_weights_bound_any_matrix_and_offsets():
    for seed in range(3):
        rng, Y = np.random.default_rng(seed), popular(seed=seed)
        M, rows, columns = (rng.standard_normal(n) for n in (Y.shape, *Y.shape))
        bound = margin_bound(Y, rng.random(Y.shape), c=0.4, ridge=RIDGE)
        assert 0.0 < bound <= mmmf(Y, c=0.4, ridge=RIDGE, tol=1e-3).value
        assert bound <= objective(Y, 0.3 * M, 0.4, rows, columns, RIDGE)


def test_a_bound_does_not_depend_on_the_size_of_weights():
    for ridge in (np.inf, 1.0, 1e-50):
        wanted = margin_bound(Y3, np.ones(9), c=0.5, ridge=ridge)
        assert wanted > 0.0
        for size in (1e-310, 1e-158, 1e200):
            found = margin_bound(Y3, size * np.ones(9), c=0.5, ridge=ridge)
            assert found == pytest.approx(wanted, rel=1e-12)


def test_weights_of_a_matrix_count_at_observed_positions_alone():
    Q = np.random.default_rng(1).random(9)
    whole = np.full(Y3.shape, 7.0)
    whole[Y3 != 0] = Q
    assert margin_bound(Y3, whole, c=HARD) == margin_bound(Y3, Q, c=HARD)
    assert margin_bound(Y3, -Q) == 0.0


def test_multipliers_of_a_fit_prove_its_bound_and_rigorously_little_less():
    found = mmmf(Y5, c=0.4, tol=1e-7)
    plain = margin_bound(Y5, found.multipliers, c=0.4)
    proved = margin_bound(Y5, found.multipliers, c=0.4, rigorous=True)
    assert plain == pytest.approx(found.bound, rel=1e-12)
    assert proved <= plain
    assert proved == pytest.approx(plain, rel=1e-8)


def test_every_record_is_a_proof_and_too_few_steps_are_reported():
    Y = planted(30, 20, 0.3)
    with pytest.warns(UncertifiedWarning, match="after 30 iterations"):
        found = mmmf(Y, c=0.3, max_iter=30)
    assert found.iterations == 30
    assert found.gap > 1e-6
    best = mmmf(Y, c=0.3).value
    values, bounds = ([record[key] for record in found.history] for key in ("value", "bound"))
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)
    assert bounds[-1] <= best <= values[-1]


# -- steps --------------------------------------------------------------------------------------


def test_factors_have_orthogonal_columns_and_none_too_many():
    rng = np.random.default_rng(31)
    U, V = rng.standard_normal((14, 40)), rng.standard_normal((9, 40))
    left, right = principal(U, V)
    np.testing.assert_allclose(left @ right.T, U @ V.T, atol=1e-12)
    assert left.shape[1] == right.shape[1] == 9
    for side in (left, right):
        gram = side.T @ side
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12 * gram[0, 0])
        assert np.all(np.diff(np.diag(gram)) <= 0.0)


# -- offsets ------------------------------------------------------------------------------------


def test_values_and_balance_of_matrix_and_offsets():
    """Sums of weights balance the penalty of offsets."""
    Y = popular()
    found = mmmf(Y, c=0.3, ridge=RIDGE, tol=1e-9)
    value = objective(Y, found.matrix, 0.3, found.rows, found.columns, RIDGE)
    assert found.value == pytest.approx(value, rel=1e-8)
    P = Y.copy()
    P[Y != 0.0] *= found.multipliers
    sums, offsets = np.append(P.sum(axis=1), P.sum(axis=0)), np.append(found.rows, found.columns)
    np.testing.assert_allclose(sums, 0.3 * RIDGE * offsets, atol=1e-4)


def test_offsets_that_cost_next_to_nothing():
    Y = [[0, 0, 0, 1], [1, -1, -1, -1], [0, -1, 0, -1], [1, -1, 1, 0]]
    for ridge, tol in ((1e-3, 1e-3), (1e-20, 1.0)):  # beside one, the second is rounding
        found = mmmf(Y, c=1.0, ridge=ridge, tol=tol)
        assert 0.0 <= found.bound <= found.value < np.inf
        assert found.gap <= tol


# -- refusals -----------------------------------------------------------------------------------


def test_matrices_that_are_no_signs():
    for X, words in (
        ([[1, 2], [0, -1]], r"X\[0, 1\] = 2 is not a sign"),
        ([[1, np.inf], [0, -1]], r"X\[0, 1\] = inf is not a sign"),
        (np.full((2, 3), np.nan), "no entry of X was observed"),
        (sp.csr_array((2, 3)), "no entry of X was observed"),
        (sp.coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2)), r"X\[0, 1\] = 2"),
        ([1, -1, 0], "Expected 2D array"),
        ([["a", "b"]], "could not convert"),
        (np.ones((2, 2)) * 1j, "Complex"),
    ):
        for way in (methods.mmmf, methods.mmmf_dual, mmmf):
            with pytest.raises(DataError, match=words):
                way(X)


def test_penalties_that_are_refused():
    for c, ridge, words in (
        (0.0, np.inf, "must be positive"),
        (float("nan"), np.inf, "must be positive"),
        (1e200, np.inf, "c = .* is a penalty"),
        (1.0, 0.0, "ridge=.* must be positive"),
        (1.0, 1e-320, "ridge = .* is a penalty"),
        (HARD, 1.0, "need a finite c"),
    ):
        with pytest.raises(DataError, match=words):
            mmmf(Y3, c=c, ridge=ridge)
        with pytest.raises(DataError, match=words):
            margin_bound(Y3, Y3, c=c, ridge=ridge)
    with pytest.raises(DataError, match="must be positive"):
        methods.mmmf(Y3, c=0.0)


def test_arguments_that_are_refused():
    with pytest.raises(ShapeError, match=r"Q must hold 9 weights.*it has shape \(8,\)"):
        margin_bound(Y3, np.ones(8))
    with pytest.raises(UnknownNameError, match="Did you mean 'trace'"):
        methods.mmmf(Y3, norm="traces")
    with pytest.raises(DataTypeError):
        mmmf([[{}, 1], [2, 3]])
    with pytest.raises(DataError, match="max_iter"):
        mmmf(Y3, max_iter=0)
