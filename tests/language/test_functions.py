"""Functions of expressions have the optima of cvxpy's, and of closed forms, and are certified."""

from __future__ import annotations

from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import (
    atom,
    entropy,
    geo_mean,
    lambda_max,
    lambda_min,
    log_det,
    log_sum_exp,
    matrix,
    matrix_frac,
    maximize,
    minimize,
    norm,
    parameter,
    psd,
    quad_form,
    quad_over_lin,
    root_det,
    scalar,
    sum_largest,
    sum_log,
    symmetric,
)
from sdpdr.errors import DataError, ModelError, NotAcceptedError, ShapeError

FORM = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
LARGE = 4.0 * np.eye(3)

# Functions that cvxpy has by another name, or not as one.
THERE = SimpleNamespace(
    **{name: getattr(cp, name) for name in dir(cp) if not name.startswith("_")}
    | {
        "entropy": lambda e: cp.sum(cp.entr(e)),
        "sum_exp": lambda e: cp.sum(cp.exp(e)),
        "sum_largest": lambda e, k: (cp.sum_largest if e.ndim == 1 else cp.lambda_sum_largest)(
            e, k
        ),
        "sum_log": lambda e: cp.sum(cp.log(e)),
        "sum_logistic": lambda e: cp.sum(cp.logistic(e)),
    }
)
# Shape of an affine image, a function of it in either package, and 1 if it is convex.
FUNCTIONS = {
    "norm": ((5,), lambda m, e: m.norm(e), 1),
    "norm of a matrix": ((3, 2), lambda m, e: m.norm(e, "fro"), 1),
    "norm of many": ((35,), lambda m, e: m.norm(e), 1),
    "nuclear": ((3, 4), lambda m, e: m.norm(e, "nuc"), 1),
    "spectral": ((3, 4), lambda m, e: m.norm(e, 2), 1),
    "one": ((5,), lambda m, e: m.norm(e, 1), 1),
    "inf": ((5,), lambda m, e: m.norm(e, "inf"), 1),
    "lambda_max": ((4, 4), lambda m, e: m.lambda_max(e + e.T), 1),
    "lambda_min": ((4, 4), lambda m, e: m.lambda_min(e + e.T), -1),
    "eigenvalues": ((4, 4), lambda m, e: m.sum_largest(e + e.T, 2), 1),
    "values": ((6,), lambda m, e: m.sum_largest(e, 3), 1),
    "geo_mean": ((5,), lambda m, e: m.geo_mean(e + 3.0), -1),
    "sum_squares": ((5,), lambda m, e: m.sum_squares(e), 1),
    "quad_form": ((3,), lambda m, e: m.quad_form(e, FORM), 1),
    "quad_over_lin": ((5,), lambda m, e: m.quad_over_lin(e[:4], e[4] + 9.0), 1),
    "matrix_frac": (
        (3, 4),
        lambda m, e: m.matrix_frac(e[:, 3], e[:, :3] + e[:, :3].T + 3.0 * LARGE),
        1,
    ),
}
SMOOTH = {
    "log_det": ((3, 3), lambda m, e: m.log_det(e + e.T + 2.0 * LARGE), -1),
    "log_sum_exp": ((4,), lambda m, e: m.log_sum_exp(e), 1),
    "sum_exp": ((4,), lambda m, e: m.sum_exp(e), 1),
    "sum_logistic": ((4,), lambda m, e: m.sum_logistic(e), 1),
    "sum_log": ((4,), lambda m, e: m.sum_log(e + 6.0), -1),
    "entropy": ((4,), lambda m, e: m.entropy(e + 6.0), -1),
}


class Instance:
    """A random affine image of a vector in a box and a matrix of limited trace, here and there."""

    def __init__(self, shape, seed):
        rng = np.random.default_rng(seed)
        A, b = (
            rng.standard_normal((int(np.prod(shape)), 4)),
            rng.standard_normal(int(np.prod(shape))),
        )
        c = rng.standard_normal(4)
        w, K = scalar("w", 4), psd("K", 3)
        self.image = (A @ w + b).reshape(*shape) + K[0, 1]
        self.line, self.first = c @ w + K[0, 0], w[0]
        self.rows = (K.trace() <= 2.0) + (abs(w) <= 1.5)
        v, M = cp.Variable(4), cp.Variable((3, 3), PSD=True)
        self.there = cp.reshape(A @ v + b, shape, order="C") + M[0, 1]
        self.line_there, self.first_there = c @ v + M[0, 0], v[0]
        self.rows_there = [cp.trace(M) <= 2.0, cp.abs(v) <= 1.5]
        v.value, M.value = np.zeros(4), np.zeros((3, 3))


def optimum(objective, constraints):
    return cp.Problem(objective, constraints).solve("CLARABEL")


def agrees(model, expected):
    solution = sdpdr.solve(model)
    assert solution.certified(1e-6), solution
    assert solution.value == pytest.approx(expected, rel=2e-5, abs=2e-5)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", FUNCTIONS | SMOOTH)
def test_at_a_penalty(name):
    shape, function, sign = (FUNCTIONS | SMOOTH)[name]
    one = Instance(shape, 0)
    goal, goal_there = (minimize, cp.Minimize) if sign > 0 else (maximize, cp.Maximize)
    objective = goal_there(0.7 * function(THERE, one.there) + sign * one.line_there)
    model = goal(0.7 * function(sdpdr, one.image) + sign * one.line) + one.rows
    agrees(model, optimum(objective, one.rows_there))


@pytest.mark.nightly
@pytest.mark.parametrize("name", FUNCTIONS)
def test_below_or_above_a_limit(name):
    shape, function, sign = FUNCTIONS[name]
    one = Instance(shape, 1)
    there = function(THERE, one.there)
    limit = float(2.0 * there.value + sign * 0.6 * abs(there.value))
    total, there = 2.0 * function(sdpdr, one.image) + one.first, 2.0 * there + one.first_there
    row, row_there = (
        (total <= limit, there <= limit) if sign > 0 else (total >= limit, there >= limit)
    )
    expected = optimum(cp.Minimize(one.line_there), [*one.rows_there, row_there])
    agrees(minimize(one.line) + one.rows + row, expected)


@pytest.mark.daily(8)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_cones_of_a_function_keep_the_laws_of_blocks(name):
    shape, function, sign = FUNCTIONS[name]
    total = function(sdpdr, Instance(shape, 2).image)
    limit = total <= 3.0 if sign > 0 else total >= -3.0
    for block in ((minimize if sign > 0 else maximize)(total), limit):
        assert "compilers" in sdpdr.check_block(block)


def known():
    K, v, t = psd("K", 3), scalar("v", 3), scalar("t")
    X = matrix("X", (2, 2))
    fixed = (X == [[3.0, 0.0], [4.0, 5.0]]).named("fixed")
    yield "a length", minimize(norm(v)) + (v == [2.0, 3.0, 6.0]), 7.0
    yield "singular values", minimize(norm(X, "nuc")) + fixed, np.sqrt(45.0) + np.sqrt(5.0)
    yield "the largest", minimize(norm(X, 2)) + fixed, np.sqrt(45.0)
    yield "the smallest", maximize(lambda_min(K)) + (K.trace() <= 6.0), 2.0
    yield "two of three", minimize(sum_largest(K, 2)) + (K.trace() == 3.0), 2.0
    yield "a cube root", maximize(root_det(K)) + (K.diagonal() <= [1.0, 8.0, 27.0]), 6.0
    yield "means", maximize(geo_mean(v)) + (v @ [1.0, 2.0, 4.0] <= 6.0), 1.0
    yield "an inverse", minimize(matrix_frac(np.eye(3), K)) + (K.trace() <= 1.0), 9.0
    yield "a ratio", minimize(quad_over_lin(v, t) + t) + (v == [2.0, 3.0, 6.0]), 14.0
    yield "concave forms", maximize(quad_form(v, -np.eye(3)) + 2.0 * v.sum()) + (v <= 5.0), 3.0
    yield "log det", maximize(log_det(K)) + (K.diagonal() <= [1.0, 2.0, 4.0]), np.log(8.0)
    yield (
        "analytic centre",
        maximize(log_det(K) - 2.0 * K.trace()) + (K.trace() <= 9.0),
        (-3.0 * np.log(2.0) - 3.0),
    )
    yield "no information", maximize(entropy(v)) + (v.sum() == 1.0), np.log(3.0)
    yield "softmax", minimize(log_sum_exp(v)) + (v.sum() == 3.0) + (v >= -5.0), 1 + np.log(3.0)


KNOWN = {name: (model, optimum) for name, model, optimum in known()}


@pytest.mark.nightly
@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known(name):
    model, expected = KNOWN[name]
    agrees(model, expected)
    assert model.describe()
    assert model.describe("latex")


@pytest.mark.nightly
@pytest.mark.parametrize("n", [3, 8])
def test_a_log_det_that_only_penalties_hold_is_certified(n):
    """A precision matrix: its tangent at the optimum has no limit beside it."""
    rng = np.random.default_rng(n)
    S = np.cov(rng.standard_normal((n, 3 * n)))
    K = psd("K", n)
    i, j = np.triu_indices(n, 1)
    model = maximize(log_det(K) - K.inner(S)) + 0.1 * abs(K[i, j])
    solution = sdpdr.solve(model)
    assert solution.certified()
    # Its inverse is feasible in the dual: within the penalty of S, and equal to it on the diagonal.
    inverse = np.linalg.inv(np.asarray(solution["K"]))
    assert np.abs(np.diag(inverse - S)).max() < 1e-2 * np.abs(S).max()
    assert np.abs(inverse - S)[i, j].max() < 0.1 + 1e-2 * np.abs(S).max()
    # Every feasible point of the dual bounds it, so that the bound is one of the dual's optimum.
    dual = -np.linalg.slogdet(S + 1e-9 * np.eye(n))[1] - n
    assert solution.value <= solution.bound <= dual + 1e-6


u, w2, S, Y = scalar("u"), scalar("w", 2), symmetric("S", 3), matrix("Y", (3, 3))
MISTAKES = {
    "a concave ceiling": (lambda: lambda_min(S) <= 1.0, ModelError, "concave function <="),
    "both curvatures": (lambda: lambda_max(S) + lambda_min(S), ModelError, "neither"),
    "no expression": (
        lambda: norm([1.0, 2.0]),
        ModelError,
        "an expression.*given numbers",
    ),
    "of a function": (lambda: norm(norm(w2)), ModelError, "affine in the variables"),
    "an unknown norm": (lambda: norm(w2, 3), ModelError, "'nuc'.*it was given 3"),
    "nuclear of a vector": (lambda: norm(w2, "nuc"), ShapeError, "is of a matrix"),
    "one of a matrix": (lambda: norm(Y, 1), ShapeError, r"reshape\(-1\)"),
    "no square matrix": (lambda: lambda_max(w2), ShapeError, "square symmetric"),
    "a scalar's largest": (lambda: sum_largest(u, 1), ShapeError, "a vector or"),
    "a form of both signs": (
        lambda: quad_form(w2, np.diag([1.0, -1.0])),
        ModelError,
        r"both signs; those of this one lie in -1\.\.1",
    ),
    "a skew form": (lambda: quad_form(w2, [[1.0, 1.0], [0.0, 1.0]]), ModelError, r"\(P \+ P.T\)"),
    "over a vector": (lambda: quad_over_lin(u, w2), ShapeError, "divides by one number"),
    "log det above a limit": (
        lambda: log_det(S) >= 1.0,
        ModelError,
        r"bounded. For log_det\(S\) >= c of order n write root_det\(S\) >= numpy.exp\(c / n\)",
    ),
    "a limit on values that are summed": (
        lambda: atom(cp.huber, w2, M=1.0) <= 4.0,
        ModelError,
        "huber has 2 values here, and atom sums them",
    ),
    "a function of cvxpy without curvature": (
        lambda: atom(lambda e: cp.norm(e) - cp.norm1(e), w2),
        ModelError,
        "neither convex nor concave",
    ),
    "a function with a variable of cvxpy": (
        lambda: atom(lambda e: cp.norm(e) + cp.Variable(), w2),
        ModelError,
        "f depends on variables or parameters of cvxpy",
    ),
    "a function of cvxpy of numbers": (lambda: atom(cp.norm, 1.0), ModelError, "given none"),
    "a function of cvxpy of another shape": (
        lambda: atom(cp.lambda_max, w2),
        ModelError,
        r"lambda_max of shapes \(2,\)",
    ),
    "a perspective": (
        lambda: atom(cp.perspective, w2, w2[0]),
        ModelError,
        r"perspective for its own variables only; write quad_over_lin\(v, t\)",
    ),
    "softmax below one": (lambda: log_sum_exp(w2) <= 1.0, ModelError, "cannot be bounded"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named(name):
    mistake, kind, words = MISTAKES[name]
    with pytest.raises(kind, match=words) as caught:
        mistake()
    assert str(caught.value).count(". ") <= 1


def test_a_function_of_ones_own_and_its_derivative():
    """The point (p, (3 - p) / 2, (3 - p) / 2) where the bound p is active."""
    v, p = scalar("v", 3), parameter("p", value=1.5)

    def quartic(e):
        return cp.sum(cp.power(e, 4))

    fourth = atom(quartic, v)
    model = minimize(fourth) + (v.sum() == 3.0) + (v[0] >= p)
    agrees(model, 1.5**4 + 2.0 * 0.75**4)
    assert "quartic" in model.describe()
    if not fourth.parts[0][1].atom.is_conic:  # as some versions of cvxpy write it
        return
    slope = sdpdr.derivative(model, sdpdr.solve(model), p)["v"]
    np.testing.assert_allclose(slope, [1.0, -0.5, -0.5], atol=1e-3)


DISTANCES = np.array([0.5, -2.0, 3.0])
# Functions of cvxpy, whether they have a standard form, and their value.
ATOMS = {
    "of many values": (lambda v: atom(cp.huber, v, M=1.0), True, 0.25 + 3.0 + 5.0),
    "of numbers behind": (lambda v: atom(cp.sum_largest, v, 2), True, 3.5),
    "of two arguments": (lambda v: atom(cp.quad_over_lin, v, v[2] + 1.0), True, 13.25 / 4.0),
    "of numbers before": (lambda v: atom(cp.kl_div, 1.0, v[2]), False, 2.0 - np.log(3.0)),
    "concave": (lambda v: atom(cp.min, v), True, -2.0),
    "of a matrix": (lambda v: atom(cp.lambda_max, v * np.eye(3)), True, 3.0),
    "put together": (lambda v: atom(lambda e: cp.tv(e) + cp.norm1(e), v), True, 13.0),
}


@pytest.mark.parametrize("name", ATOMS)
def test_any_function_of_cvxpy_is_one_here(name):
    build, is_conic, value = ATOMS[name]
    v = scalar("v", 3)
    function = build(v)
    assert function.at({"v": DISTANCES}) == pytest.approx(value)
    assert function.parts[0][1].atom.is_conic == is_conic
    goal = minimize if function.sign > 0.0 else maximize
    agrees(goal(function) + (v == DISTANCES), value)


@pytest.mark.parametrize(
    ("function", "numbers", "value"),
    [
        (lambda v: matrix_frac([1.0, 1.0], v[:2] * np.eye(2)), [1.0, 0.0, 0.0], np.inf),
        (lambda v: quad_over_lin(v[:2], v[2]), [1.0, 0.0, 0.0], np.inf),
        (sum_log, [1.0, -1.0, 1.0], -np.inf),
        (entropy, [1.0, 0.0, -1.0], -np.inf),
        (entropy, [1.0, 0.0, 1.0], 0.0),
        (lambda v: log_det(v * np.eye(3)), [-1.0, -1.0, 1.0], -np.inf),
        (geo_mean, [2.0, 1.0, -1e-12], 0.0),
        (lambda v: root_det(v * np.eye(3)), [2.0, 1.0, -1e-12], 0.0),
    ],
)
def test_a_function_is_infinite_where_it_is_not_defined(function, numbers, value):
    """Means are zero where rounding makes a value negative."""
    assert function(scalar("v", 3)).at({"v": np.array(numbers)}) == value


def test_an_affine_function_of_cvxpy_is_an_expression():
    v = scalar("v", 3)
    total = atom(lambda e: cp.sum(3.0 * e) - 1.0, v)
    assert total.at({"v": DISTANCES}) == pytest.approx(3.5)
    agrees(maximize(total) + (v <= 1.0), 8.0)


SMOOTH_GOALS = {
    "log det": lambda: maximize(log_det(psd("C", 3))) + (psd("C", 3).diagonal() <= [1.0, 2.0, 3.0]),
    "sum log": lambda: (lambda v: maximize(sum_log(v)) + (v.sum() <= 6.0))(scalar("v", 2)),
}


@pytest.mark.parametrize("name", SMOOTH_GOALS)
@pytest.mark.parametrize("solver", ["auto", "clarabel", "scs"])
def test_what_is_proved_over_other_cones_is_rigorous(name, solver):
    solution = sdpdr.solve(SMOOTH_GOALS[name](), solver, rigorous=True)
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.solver == ("clarabel" if solver == "auto" else solver)
    low, high = solution.enclosure
    optimum = {"log det": np.log(6.0), "sum log": 2.0 * np.log(3.0)}[name]
    assert low <= optimum <= high <= low + 1e-5
    narrow = sdpdr.solve(SMOOTH_GOALS[name](), solver, tol=1e-14)
    assert f"solver='{'clarabel' if solver == 'scs' else 'scs'}'" in narrow.advice
    with pytest.raises(DataError, match="seed has no effect"):
        sdpdr.solve(SMOOTH_GOALS[name](), "scs", seed=1)


def test_an_answer_over_other_cones_says_how_its_solver_ended():
    C = psd("C", 3)
    free = sdpdr.solve(maximize(log_det(C) + C.trace()), "scs")
    assert free.status is sdpdr.Status.UNBOUNDED
    assert not free.values
    late = sdpdr.solve(SMOOTH_GOALS["log det"](), time_limit=1e-6)
    assert late.status is sdpdr.Status.TIME_LIMIT
    short = sdpdr.solve(
        maximize(log_det(psd("C", 120))) + (psd("C", 120).trace() <= 1.0), time_limit=2.0
    )
    assert short.status is sdpdr.Status.TIME_LIMIT
    assert "solver='scs', or set a larger time limit" in short.advice + str(short)


@pytest.mark.parametrize("solver", ["auto", "clarabel", "scs"])
def test_infeasible_programs_over_other_cones_are_refuted_whoever_claims_it(solver):
    x = cp.Variable(name="x")
    found = sdpdr.solve(cp.Problem(cp.Minimize(x), [cp.log(x) >= 1.0, x <= 2.0]), solver)
    assert found.status is sdpdr.Status.INFEASIBLE
    assert not found.values


def test_no_point_is_kept_of_a_program_that_is_refuted():
    t = scalar("t")
    found = sdpdr.solve(minimize(quad_over_lin(1.0, t)) + (t <= 0.0))
    assert found.status is sdpdr.Status.INFEASIBLE
    assert not found.values
    assert found.bound is None


def test_blocks_are_keys_of_multipliers_of_models_over_other_cones():
    v = scalar("v", 3)
    total, cap = v.sum() == 1.0, sdpdr.from_cvxpy(lambda u: [u["v"][0] <= 0.1], name="cap")
    found = sdpdr.solve(maximize(entropy(v) + v[0]) + total + cap)
    # By Lagrange: the other two are .45 each, log .1 = -cap - total, log .45 = -total - 1.
    assert found.dual(cap) == pytest.approx(np.log(0.45) - np.log(0.1) + 1.0, abs=1e-4)
    assert found.dual("cap") == pytest.approx(found.dual(cap))
    assert abs(found.dual(total)) == pytest.approx(abs(np.log(0.45) + 1.0), abs=1e-4)
    with pytest.raises(DataError, match="is no constraint"):
        found.dual([total])


@pytest.mark.parametrize("solver", ["cvxopt", "lowrank"])
def test_a_solver_that_does_not_know_the_cones_is_refused(solver):
    pytest.importorskip("cvxopt")
    with pytest.raises(NotAcceptedError, match="'clarabel', 'scs', 'mosek' do"):
        sdpdr.solve(SMOOTH_GOALS["log det"](), solver)


def test_power_and_second_order_cones_go_to_solvers_of_cvxpy_as_well():
    x, y = cp.Variable(2, name="x"), cp.Variable(name="y")
    hypo = cp.PowCone3D(x[0], x[1], y, 0.3)
    problem = cp.Problem(cp.Maximize(y), [hypo, cp.norm(x) <= 1.0])
    for solver in ("auto", "clarabel", "scs"):
        solution = sdpdr.solve(problem, solver)
        assert solution.status is sdpdr.Status.SOLVED
        # Lagrange: x^2 = (.3, .7).
        assert solution.value == pytest.approx(0.3**0.15 * 0.7**0.35, rel=2e-6)
