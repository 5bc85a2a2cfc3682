"""Values, multipliers and statuses of a dozen problems, beside those of Clarabel, both ways."""

from __future__ import annotations

import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import sdpdr
from sdpdr.errors import DataError, UncertifiedWarning
from sdpdr.program import Status
from sdpdr.program.run import Claim

RNG = np.random.default_rng(0)
SYMMETRIC = RNG.standard_normal((4, 4)) + RNG.standard_normal((4, 4)).T
SYMMETRIC = (SYMMETRIC + SYMMETRIC.T) / 2.0
DATA, RIGHT = RNG.standard_normal((14, 3)), RNG.standard_normal(14)


def linear():
    x = cp.Variable(3, nonneg=True)
    return cp.Problem(cp.Maximize(np.array([1.0, 2.0, 0.5]) @ x), [cp.sum(x) == 1, x[1] <= 0.4])


def eigenvalue():
    t = cp.Variable()
    return cp.Problem(cp.Minimize(t), [t * np.eye(4) - SYMMETRIC >> 0])


def smallest_eigenvalue():
    X = cp.Variable((4, 4), symmetric=True)
    return cp.Problem(cp.Minimize(cp.trace(SYMMETRIC @ X)), [X >> 0, cp.trace(X) == 1])


def negative_semidefinite():
    X = cp.Variable((3, 3), NSD=True)
    return cp.Problem(cp.Maximize(cp.trace(X)), [X[0, 1] == 1, X[1, 2] == 2])


def not_symmetric():
    X = cp.Variable((2, 2))
    return cp.Problem(cp.Minimize(cp.trace(X)), [X >> 0, X[0, 1] == 1, X[1, 0] == 2])


def disc():
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [cp.norm(x - 1) <= 2])


def several_arrows():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.norm(DATA @ x - RIGHT)), [x >= -1])


def given_cone():
    x, t = cp.Variable(14), cp.Variable()
    return cp.Problem(cp.Minimize(t + RIGHT @ x), [cp.SOC(t, x), cp.norm(x) <= 3, t >= 1])


def squares():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum_squares(DATA @ x - RIGHT) + 2), [x <= 0.1])


def complex_matrix():
    X = cp.Variable((2, 2), hermitian=True)
    return cp.Problem(cp.Minimize(cp.real(cp.trace(X))), [X >> 0, X[0, 1] == 1 + 1j])


def lifted():
    X, x = cp.Variable((3, 3), symmetric=True), cp.Variable((3, 1))
    lift = cp.bmat([[X, x], [x.T, np.ones((1, 1))]])
    cost = cp.trace(SYMMETRIC[:3, :3] @ X) + RIGHT[:3] @ x[:, 0]
    return cp.Problem(cp.Minimize(cost + cp.sum_squares(x)), [lift >> 0, cp.diag(X) <= 2])


def apart():
    x, y = cp.Variable(name="x"), cp.Variable((2, 2), symmetric=True, name="y")
    zero = np.zeros((1, 2))
    both = cp.bmat([[cp.reshape(2 - x, (1, 1), order="C"), zero], [zero.T, y]]) >> 0
    return cp.Problem(cp.Maximize(x - cp.trace(y)), [both, y[0, 1] >= x])


def squared_norm():
    X = cp.Variable((3, 3), PSD=True)
    cost = cp.norm(X - SYMMETRIC[:3, :3], "fro") ** 2 + cp.sum_squares(X[0]) + X[1, 1]
    return cp.Problem(cp.Minimize(cost), [cp.diag(X) == 1, cp.norm(X[:, 1]) <= 1.5])


def absolute_values():
    X = cp.Variable((3, 3), PSD=True)
    cost = cp.norm1(cp.diag(X) - [1.0, 2.0, 0.5]) + 0.3 * cp.abs(X[0, 1] + 1.0)
    return cp.Problem(cp.Minimize(cost + cp.trace(SYMMETRIC[:3, :3] @ X)), [cp.trace(X) <= 9])


def infeasible():
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(x[0]), [cp.norm(x) <= 1, x[0] >= 2])


def unbounded():
    x = cp.Variable(2)
    return cp.Problem(cp.Maximize(x[0]), [cp.norm(x[1]) <= 1])


PROBLEMS = (
    linear,
    eigenvalue,
    smallest_eigenvalue,
    negative_semidefinite,
    not_symmetric,
    disc,
    several_arrows,
    given_cone,
    squares,
    complex_matrix,
    lifted,
    apart,
    squared_norm,
    absolute_values,
    infeasible,
    unbounded,
)


def by_solver(problem):
    problem.solve(solver=sdpdr.CVXPY(tol=1e-8))


def by_program(problem):
    program = sdpdr.from_cvxpy(problem)
    program.give_back(sdpdr.solve(program, tol=1e-8, gap_scale=1.0))


def numbers(values):
    return np.concatenate([np.ravel(v) for v in values] or [np.zeros(0)])


@pytest.mark.daily(7)
@pytest.mark.parametrize("way", [by_solver, by_program])
@pytest.mark.parametrize("build", PROBLEMS)
def test_values_and_multipliers_of_cvxpy_are_those_of_clarabel(build, way):
    theirs, ours = build(), build()
    theirs.solve(solver=cp.CLARABEL)
    way(ours)
    assert ours.status == theirs.status
    assert ours.value == pytest.approx(theirs.value, rel=1e-6, abs=1e-6)
    if ours.status != cp.OPTIMAL:
        return
    for a, b in zip(ours.variables(), theirs.variables(), strict=True):
        np.testing.assert_allclose(a.value, b.value, atol=1e-3)
    for a, b in zip(ours.constraints, theirs.constraints, strict=True):
        mine, other = (
            c.dual_value if isinstance(c.dual_value, list) else [c.dual_value] for c in (a, b)
        )
        np.testing.assert_allclose(numbers(mine), numbers(other), atol=2e-3)


def test_graded_solution_is_in_the_statistics():
    problem = linear()
    problem.solve(solver=sdpdr.CVXPY(solver="clarabel", rigorous=True))
    solution = problem.solver_stats.extra_stats
    assert solution.status is sdpdr.Status.SOLVED
    low, high = solution.enclosure
    assert low <= problem.value <= high


def test_statistics_speak_of_the_problem_also_where_one_solver_has_several():
    x, size, solver = cp.Variable(2), cp.Parameter(nonneg=True), sdpdr.CVXPY()
    most, least = (cp.Problem(sense(x[0]), [cp.norm(x) <= size])
                   for sense in (cp.Maximize, cp.Minimize))  # fmt: skip
    for size.value in (1.0, 2.0):
        for problem, word in ((most, "maximum"), (least, "minimum")):
            problem.solve(solver=solver)
            solution = problem.solver_stats.extra_stats
            assert word in str(solution)
            assert solution.value == pytest.approx(problem.value)


def test_options_of_the_call_win():
    problem = linear()
    problem.solve(solver=sdpdr.CVXPY(solver="clarabel"), tol=1e-4)
    assert problem.solver_stats.extra_stats.tol == 1e-4


def test_parameters_are_read_anew():
    p, x = cp.Parameter(value=1.0), cp.Variable()
    problem, solver = cp.Problem(cp.Minimize(x), [x >= p]), sdpdr.CVXPY()
    for value in (1.0, 3.0):
        p.value = value
        assert problem.solve(solver=solver) == pytest.approx(value)


def test_a_plan_takes_the_program():
    program = sdpdr.from_cvxpy(several_arrows())
    assert program.give_back(sdpdr.plan(program).run()).status == cp.OPTIMAL


@pytest.mark.parametrize(
    ("status", "changes", "expected"),
    [
        (Status.INACCURATE, {}, cp.OPTIMAL_INACCURATE),
        (Status.OPTIMAL_NEARBY, {"epsilon": 1e-9}, cp.OPTIMAL),
        (Status.OPTIMAL_NEARBY, {"epsilon": 1e-9, "bound": None}, cp.OPTIMAL_INACCURATE),
        (Status.OPTIMAL_NEARBY, {"epsilon": 1e-9, "bound": -1e-323}, cp.OPTIMAL_INACCURATE),
        (Status.OPTIMAL_NEARBY, {"epsilon": 1e-3}, cp.OPTIMAL_INACCURATE),
        (Status.TIME_LIMIT, {}, cp.USER_LIMIT),
        (Status.UNVERIFIED, {"claimed": Claim("", verdict="infeasible")}, "infeasible_inaccurate"),
        (Status.UNVERIFIED, {"claimed": Claim("", verdict="unbounded")}, "unbounded_inaccurate"),
    ],
)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_statuses_in_the_words_of_cvxpy(status, changes, expected):
    program = sdpdr.from_cvxpy(disc())
    solution = replace(sdpdr.solve(program), status=status, **changes)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UncertifiedWarning)
        assert program.give_back(solution).status == expected
    told = [w for w in caught if issubclass(w.category, UncertifiedWarning)]
    nearby = status is Status.OPTIMAL_NEARBY and expected == cp.OPTIMAL_INACCURATE
    assert ["the answer is OPTIMAL_NEARBY" in str(w.message) for w in told] == [True] * nearby


@pytest.mark.parametrize("claim", ["infeasible", "unbounded"])
@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.INTERRUPTED])
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_a_claim_that_was_to_be_proved_when_time_was_up_is_told(claim, status):
    program = sdpdr.from_cvxpy(disc())
    claimed = Claim("", verdict=claim)
    nothing = replace(sdpdr.solve(program), status=status, claimed=claimed, values={}, duals={})
    assert program.give_back(nothing).status == f"{claim}_inaccurate"


@pytest.mark.parametrize("status", [Status.FAILED, Status.TIME_LIMIT])
def test_no_point_is_an_error_of_cvxpy(status):
    program = sdpdr.from_cvxpy(disc())
    nothing = replace(sdpdr.solve(program), status=status, values={}, duals={})
    with pytest.raises(cp.SolverError, match="SDPDR has no point to give back: "):
        program.give_back(nothing)


# -- the largest gain of a linear system, by the bounded real lemma: its dual has a thin interior -


def system(seed, n=4):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n)) - 3.0 * np.eye(n)
    return A, rng.standard_normal((n, 2)), rng.standard_normal((1, n))


def largest_gain(A, B, C):
    """The largest square of the transfer function's norm on the imaginary axis."""

    def lost(frequency):
        found = C @ np.linalg.solve(1j * frequency * np.eye(len(A)) - A, B)
        return -(np.linalg.norm(found, 2) ** 2)

    grid = np.linspace(0.0, 20.0, 401)
    best = grid[np.argmin([lost(w) for w in grid])]
    near = (max(best - 0.1, 0.0), best + 0.1)
    return -min(lost(best), minimize_scalar(lost, near, near, method="bounded").fun)


def lemma(A, B, C, P, g):
    corner = A.T @ P + P @ A + C.T @ C
    return [[corner, P @ B], [B.T @ P, -g * np.eye(B.shape[1])]]


def test_the_largest_gain_is_certified_as_a_solver_of_cvxpy():
    A, B, C = system(1)
    P, g = cp.Variable((4, 4), PSD=True), cp.Variable()
    problem = cp.Problem(cp.Minimize(g), [cp.bmat(lemma(A, B, C, P, g)) << 0])
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.solver_stats.extra_stats.certified()
    assert problem.value == pytest.approx(largest_gain(A, B, C), rel=1e-5)


S = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
v = cp.Variable(4, name="v")
K3 = cp.Variable((3, 3), PSD=True, name="K")
PROBABILITIES = [cp.sum(v) == 1, v[0] >= 0.5]
OTHER_CONES = {
    "log det": (cp.Maximize(cp.log_det(K3)), [K3 << S], np.log(np.linalg.det(S))),
    "entropy": (cp.Maximize(cp.sum(cp.entr(v))), PROBABILITIES, np.log(2.0) + np.log(3.0) / 2.0),
    "with squares": (cp.Minimize(cp.sum(cp.exp(v)) + cp.sum_squares(v)), [v >= 1], 4 * np.e + 4),
    "power": (cp.Minimize(v[2]), [cp.PowCone3D(2.0, v[2], 1.0, 0.3)], 0.5 ** (3.0 / 7.0)),
}


@pytest.mark.parametrize("name", OTHER_CONES)
def test_exponential_and_power_cones_are_solved_with_a_proof_and_give_back_multipliers(name):
    objective, constraints, optimum = OTHER_CONES[name]
    problem = cp.Problem(objective, constraints)
    value = problem.solve(solver=sdpdr.CVXPY())
    assert (problem.status, problem.solver_stats.extra_stats.status) == ("optimal", Status.SOLVED)
    assert value == pytest.approx(optimum, rel=1e-6)
    duals = [np.concatenate([np.ravel(d.value) for d in c.dual_variables]) for c in constraints]
    problem.solve(solver=cp.CLARABEL)
    for c, dual in zip(constraints, duals, strict=True):
        theirs = np.concatenate([np.ravel(d.value) for d in c.dual_variables])
        np.testing.assert_allclose(dual, theirs, atol=1e-3)


def test_an_infeasible_entropy_is_refuted():
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(v - 2))), [v <= 1, v >= -1])
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.status == "infeasible"
    assert problem.solver_stats.extra_stats.ray is not None


def test_options_without_effect_on_other_cones_are_refused():
    problem = cp.Problem(cp.Minimize(cp.sum(cp.exp(v))), [v >= 0])
    with pytest.raises(DataError, match="form has no effect.*tol, time_limit, gap_scale"):
        problem.solve(solver=sdpdr.CVXPY(form="lmi"))
    for name in ("tol", "max_iter", "time_limit"):
        with pytest.raises(DataError, match=f"{name}.*-1"):
            sdpdr.solve(problem, **{name: -1})
    with pytest.raises(DataError, match="tol must be a positive number; it is 0"):
        sdpdr.solve(problem, tol=0)


@pytest.mark.parametrize("name", OTHER_CONES)
def test_solve_takes_exponential_and_power_cones_too(name):
    objective, constraints, optimum = OTHER_CONES[name]
    problem = cp.Problem(objective, constraints)
    solution = sdpdr.solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(optimum, rel=1e-6)
    for variable in problem.variables():
        variable.value = solution[variable.name()]
    assert max(float(np.max(c.violation())) for c in constraints) <= 1e-8
