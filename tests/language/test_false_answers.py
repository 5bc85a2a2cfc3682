"""Models in which a wrong value, bound or status was once reported."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import (
    lambda_max,
    maximize,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    quad_form,
    scalar,
    sum_exp,
    sum_largest,
    sum_log,
    sum_logistic,
    symmetric,
)
from sdpdr.errors import DataTypeError, ModelError, NotAcceptedError
from sdpdr.model.language.constraints import is_symmetric
from sdpdr.program import Status

ASYMMETRIC = np.array([[0.0, 1.0], [3.0, 0.0]])


def test_what_is_never_negative_is_not_below_a_negative_number():
    x, t = scalar("x"), scalar("t")
    with pytest.raises(ModelError, match="never negative"):
        maximize(x) + (pos(x) <= -1.0)
    solution = sdpdr.solve(maximize(x) + (pos(x) <= t).named("part") + (t <= -1.0))
    assert solution.status is Status.INFEASIBLE


def test_numbers_without_a_sign_are_subtracted_and_do_not_wrap_around():
    v = scalar("v", 2)
    function = norm(v) - np.uint8(5)
    assert function.affine.constant == -5.0
    assert (norm(v) - np.array(5, dtype=np.uint16)).affine.constant == -5.0


@pytest.mark.parametrize("seed", range(2))
def test_a_form_is_that_of_its_matrix_whatever_the_units(seed):
    rng = np.random.default_rng(seed)
    units = 10.0 ** rng.integers(-9, 9, 4)
    root = rng.standard_normal((4 if seed % 2 else 2, 4)) * units
    P = root.T @ root
    form = quad_form(scalar("v", 4), P)
    rows = form.parts[0][1].of.maps["v"].matrix().toarray()
    assert np.abs((rows.T @ rows - P) / np.outer(units, units)).max() < 1e-12
    with pytest.raises(ModelError, match="both signs"):
        quad_form(scalar("v", 4), P - np.diag([1e-3, 0.0, 0.0, 0.0]) * np.abs(P[0, 0]) * 2e3)


def test_a_small_coefficient_of_a_form_limits_as_a_large_one_does():
    v = scalar("v", 3)
    solution = sdpdr.solve(maximize(v.sum()) + (quad_form(v, np.diag([1e8, 1.0, 1e-8])) <= 1.0))
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(np.sqrt(1e8 + 1.0 + 1e-8), rel=1e-6)


def test_small_entries_beside_large_ones_are_rows():
    z = scalar("z")
    coefficients = np.array([[0.0, 1e13, 1.0], [1e13, 0.0, 0.0], [2.0, 0.0, 0.0]])
    model = maximize(z) + (coefficients * z <= np.where(coefficients > 2.0, 1e15, 5.0))
    assert sdpdr.solve(model).value == pytest.approx(2.5, rel=1e-6)


def test_coefficients_that_are_parameters_make_no_matrix_symmetric():
    z, p, q = scalar("z"), parameter("p", value=1.0), parameter("q", value=1.0)
    for different in (p * (z * ASYMMETRIC), p * z * np.eye(2) + ASYMMETRIC * (p - q) * z):
        with pytest.raises(ModelError, match="symmetric"):
            lambda_max(different)
    assert is_symmetric(p * (z * (ASYMMETRIC + ASYMMETRIC.T)))


def test_what_rounding_leaves_of_zero_makes_no_matrix_asymmetric():
    turn, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))
    near = turn @ np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) @ turn.T @ np.diag([1.0] * 6)
    near[0, 5], near[5, 0] = 1e-16, -1e-16
    assert is_symmetric(symmetric("S", 6) - near)
    assert is_symmetric(turn @ psd("K", 6) @ turn.T)
    assert not is_symmetric(symmetric("S", 6) - near - 1e-10 * np.eye(6, k=1))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_factors_of_convex_functions_are_finite(bad):
    with pytest.raises(ModelError, match="finite"):
        bad * norm(scalar("v", 2))


def test_numbers_that_are_masked_or_too_large_are_refused():
    v = scalar("v", 2)
    with pytest.raises(DataTypeError):
        maximize(v.sum()) + (v <= np.ma.array([1.0, 2.0], mask=[True, False]))
    with pytest.raises(DataTypeError):
        maximize(v.sum()) + (v <= 10**400)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_rows_of_cvxpy_that_are_no_numbers_are_not_dropped(bad):
    x = cp.Variable(name="x")
    for row in (x <= bad, x == bad, cp.SOC(cp.Constant(bad), cp.hstack([x, 1.0, x, x - 1.0]))):
        with pytest.raises(ModelError):
            sdpdr.from_cvxpy(cp.Problem(cp.Maximize(x), [row, x <= 3]))
    with pytest.raises(ModelError):
        sdpdr.from_cvxpy(cp.Problem(cp.Maximize(x), [x * bad <= 1, x <= 3]))
    with pytest.raises(ModelError, match="objective"):
        sdpdr.from_cvxpy(cp.Problem(cp.Maximize(bad * x), [x <= 3]))


def test_infinity_is_no_limit_and_no_value():
    x = cp.Variable(name="x")
    assert not sdpdr.from_cvxpy(cp.Problem(cp.Maximize(x), [x <= np.inf])).rows
    with pytest.raises(ModelError):
        sdpdr.from_cvxpy(cp.Problem(cp.Maximize(x), [x == np.inf]))


def test_the_multiplier_of_a_hermitian_matrix_is_hermitian_and_cancels_the_cost():
    rng = np.random.default_rng(0)
    A, C = (rng.standard_normal((2, 2)) + 1j * rng.standard_normal((2, 2)) for _ in range(2))
    A, C = A + A.conj().T, C + C.conj().T
    X = cp.Variable((2, 2), hermitian=True)
    rows = [X >> 0, cp.real(cp.trace(X)) == 1, cp.real(cp.trace(A @ X)) == 0]
    cp.Problem(cp.Minimize(cp.real(cp.trace(C @ X))), rows).solve(solver=sdpdr.CVXPY())
    Z, trace, product = (row.dual_value for row in rows)
    assert np.abs(Z - Z.conj().T).max() < 1e-9
    cancelled = C + trace * np.eye(2) + product * A
    # Some versions of cvxpy give half of it.
    share = round(np.trace(cancelled).real / np.trace(Z).real)
    assert share in (1, 2)
    assert np.abs(cancelled - share * Z).max() < 1e-6
    assert np.linalg.eigvalsh(Z)[0] > -1e-6


def test_multipliers_of_cvxpy_have_their_signs_or_are_unknown():
    x, y = cp.Variable(nonpos=True), cp.Variable()
    rows = [-2 * x <= 0, y <= 1]
    problem = cp.Problem(cp.Maximize(0.5 * x - cp.abs(x) + y), rows)
    problem.solve(solver=sdpdr.CVXPY())
    first, second = (float(row.dual_value) for row in rows)
    assert np.isnan(first) or first >= -1e-6
    assert second == pytest.approx(1.0, abs=1e-5)


def test_multipliers_that_are_not_known_are_not_those_of_another_solver():
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1.0, cp.norm(x) <= 9.0])
    problem.solve(solver="CLARABEL")
    program = sdpdr.from_cvxpy(problem)
    program.give_back(replace(sdpdr.solve(program), duals={}))
    for row in problem.constraints:
        assert all(np.isnan(np.asarray(v.value)).all() for v in row.dual_variables)


def badly_scaled():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.quad_form(x, np.diag([1e14, 1.0, 1.0]))), [cp.sum(x) == 1])


def far_away():
    x = cp.Variable(2)
    near = cp.sum_squares(x - np.array([5e6, 5e6])) / 1e7
    return cp.Problem(cp.Maximize(cp.sum(x) - near), [cp.norm(x) <= 3e7, cp.sum(x) <= 0])


@pytest.mark.parametrize("build", [badly_scaled, pytest.param(far_away, marks=pytest.mark.nightly)])
def test_squares_in_the_goal_stay_squares(build):
    problem = build()
    expected = problem.solve(solver="CLARABEL")
    duals = [np.asarray(row.dual_value) for row in problem.constraints]
    program = sdpdr.from_cvxpy(problem)
    solution = sdpdr.solve(program, tol=1e-8)
    program.give_back(solution)
    assert solution.certified(1e-6)
    assert problem.value == pytest.approx(expected, rel=1e-6)
    assert solution.value == pytest.approx(problem.value, rel=1e-6)
    for row, dual in zip(problem.constraints, duals, strict=True):
        assert np.abs(np.asarray(row.dual_value) - dual).max() < 1e-3 * (1.0 + np.abs(dual).max())


def test_a_form_with_a_negative_eigenvalue_is_refused_however_small_it_looks():
    x = cp.Variable(2)
    form = cp.quad_form(x, cp.psd_wrap(np.diag([1e14, -1.0])))
    with pytest.raises(NotAcceptedError, match="not convex"):
        sdpdr.from_cvxpy(cp.Problem(cp.Minimize(form), [cp.abs(x) <= 1]))


@pytest.mark.nightly
@pytest.mark.parametrize("distance", [1e-6, 1e-9, 1e-13])
def test_what_is_proved_encloses_the_optimum_where_the_function_is_steep(distance):
    """The solver's own point may be outside by a rounding, which the slope multiplies."""
    v = scalar("v")
    edge = 1.0 - distance
    solution, best = sdpdr.solve(maximize(sum_log(1.0 - v)) + (v >= edge)), np.log(1.0 - edge)
    assert solution.bound >= best
    assert solution.attained is None or solution.attained <= best
    assert solution.certified(1e-6) or distance < 1e-9


def test_what_may_only_stand_still_does_not_hide_a_ray():
    X, x = psd("X", 3), scalar("x", 3)
    weights = np.array([[1.0, 1.5, -1.5], [1.5, -4.0, -0.5], [-1.5, -0.5, -2.0]])
    goal = minimize(x[0] - 2.0 * x[2] + (weights * X).sum())
    model = goal + (x <= 0.0) + (X.trace() <= 4.0)
    solution = sdpdr.solve(model)
    assert solution.status is Status.UNBOUNDED


@pytest.mark.parametrize("cost", [sum_logistic, pytest.param(sum_exp, marks=pytest.mark.nightly)])
def test_a_cost_that_is_flat_at_its_least_is_solved_and_not_refused(cost):
    # The largest slope there is 1e-304, which is the library's number and no unit of a person.
    x = scalar("x", 2)
    found = sdpdr.solve(minimize(cost(x)) + (x >= -700), solver="clarabel")
    assert 0.0 <= found.value < 1e-6
    assert found.bound is None or found.bound <= found.value


@pytest.mark.nightly
def test_small_programs_of_cvxpy_without_an_optimum_are_proved_to_have_none():
    """What must vanish along a ray vanishes in no solver's to the last digit."""
    rng = np.random.default_rng(0)
    x, cost = cp.Variable(6), rng.normal(size=6)
    limits = [
        cp.norm(rng.normal(size=(2, 6)) @ x - 1.0) <= 2.0,
        cp.norm1(rng.normal(size=(2, 6)) @ x) <= 5.0,
        cp.sum_squares(rng.normal(size=(1, 6)) @ x) <= 9.0,
    ]
    problem = cp.Problem(cp.Minimize(cost @ x), limits)
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.status == cp.UNBOUNDED
    rows = rng.normal(size=(3, 6))
    far = [cp.norm(rows @ x - 1.0) <= 0.5, cp.norm_inf(rows @ x + 1.0) <= 0.5]
    problem = cp.Problem(cp.Minimize(cost @ x), [*limits, *far])
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.status == cp.INFEASIBLE


@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.nightly), 2])
def test_the_sum_of_all_eigenvalues_is_the_trace(n):
    """Its multipliers are an identity, at the boundary of what is feasible."""
    S, C = symmetric("S", n), np.diag(np.arange(1.0, n + 1.0))
    model = minimize(sum_largest(S, n) + S.inner(C)) + (norm(S) <= 1.0)
    least = -np.linalg.norm(C + np.eye(n))
    solution = model.solve()
    assert solution.certified()
    assert solution.value == pytest.approx(least, abs=1e-5)
    assert solution.bound <= least + 1e-8
    x = cp.Variable((n, n), symmetric=True)
    cost = cp.Minimize(cp.lambda_sum_largest(x, n) + cp.trace(C @ x))
    problem = cp.Problem(cost, [cp.norm(x, "fro") <= 1.0])
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.status == cp.OPTIMAL
    assert problem.solver_stats.extra_stats.certified()


@pytest.mark.nightly
def test_a_weight_of_zero_leaves_scalars_without_a_cost_and_bounds_as_they_are():
    rng = np.random.default_rng(0)
    x, weight = cp.Variable(3), cp.Parameter(nonneg=True, value=0.0)
    X, cost = cp.Variable((3, 3), PSD=True), np.diag([1.0, 2.0, 3.0]) + 0.3
    goal = cp.trace(cost @ X) + cp.sum_squares(x - rng.normal(size=3)) + weight * cp.norm1(x)
    problem = cp.Problem(cp.Minimize(goal), [cp.norm(x) <= 3.0, cp.diag(X) == 1.0, X[0, 1] <= x[0]])
    problem.solve(solver=sdpdr.CVXPY())
    found = problem.solver_stats.extra_stats
    assert problem.status == cp.OPTIMAL
    assert found.certified()
    value = problem.value
    problem.solve(solver=cp.CLARABEL)
    assert value == pytest.approx(problem.value, rel=1e-5)
    assert found.bound <= problem.value + 1e-5


def test_squares_beside_cones_that_cvxpy_hides_are_refused():
    x, z = cp.Variable(), cp.Variable()
    support = cp.transforms.suppfunc(z, [cp.exp(z) <= 1, z >= -2])
    limits = [x >= -5, x <= 5]
    with pytest.raises(cp.SolverError, match=r"t >= square"):
        cp.Problem(cp.Minimize(support(x) + cp.square(x - 3)), limits).solve(solver=sdpdr.CVXPY())
    t = cp.Variable()
    advised = cp.Problem(cp.Minimize(support(x) + t), [*limits, t >= cp.square(x - 3)])
    assert advised.solve(solver=sdpdr.CVXPY()) == pytest.approx(0.0, abs=1e-5)


def test_squares_of_numbers_alone_are_a_constant():
    K, weight = cp.Variable((1, 1), PSD=True), cp.Parameter(nonneg=True, value=0.0)
    cost = cp.trace(K) + cp.sum_squares(weight * K - 1.0)
    assert sdpdr.solve(cp.Problem(cp.Minimize(cost), [K >= 1.0])).value == pytest.approx(2.0)


def test_a_joint_label_is_no_other_constraint_s():
    x = cp.Variable(3)
    given = ["a 1", "a 2", "a 1 to a 2"]
    limits = [(x[k] <= k + 1.0).set_label(label) for k, label in enumerate(given)]
    program = sdpdr.from_cvxpy(cp.Problem(cp.Maximize(cp.sum(x)), limits))
    assert len(set(program.labels)) == len(program.labels)
    program.give_back(sdpdr.solve(program))
    assert x.value == pytest.approx([1.0, 2.0, 3.0], abs=1e-5)
