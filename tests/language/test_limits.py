"""Functions below limits say what they say, with no more variables and rows than they need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import (
    lambda_max,
    lambda_min,
    matrix,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    quad_over_lin,
    scalar,
    square,
    symmetric,
)
from sdpdr.errors import UnknownNameError
from sdpdr.linalg.svec import svec_pairs
from sdpdr.model.affine import evaluate
from sdpdr.model.model import Model
from sdpdr.model.terms import InCone, Penalize

M, N = 7, 4
v, t = scalar("v", M), scalar("t")
S, X, K = symmetric("S", N), matrix("X", (2, 3)), psd("K", N)
A = np.random.default_rng(3).standard_normal((5, M))
WEIGHTS = np.array([0.5, 1.0, 2.0, 3.0, 0.25])


def full(values):
    i, j = svec_pairs(np.arange(values.size))
    found = np.zeros((N, N))
    found[i, j] = found[j, i] = values
    return found


# A function, its value by NumPy, and the order of the one inequality that it needs.
FUNCTIONS = {
    "squares": (square(A @ v - 1.0).sum(), lambda x: np.sum((A @ x["v"] - 1.0) ** 2), 6),
    "weighed": (
        2.0 * (WEIGHTS * square(A @ v)).sum(),
        lambda x: 2.0 * WEIGHTS @ (A @ x["v"]) ** 2,
        6,
    ),
    "a length": (norm(A @ v - 1.0), lambda x: np.linalg.norm(A @ x["v"] - 1.0), 6),
    "one and more": (
        3.0 * norm(v) + v.sum() - 1.0,
        lambda x: 3.0 * np.linalg.norm(x["v"]) + x["v"].sum() - 1.0,
        M + 1,
    ),
    "a Frobenius norm": (
        norm(S - np.eye(N)),
        lambda x: np.linalg.norm(full(x["S"]) - np.eye(N)),
        11,
    ),
    "a spectral norm": (norm(X, 2), lambda x: np.linalg.norm(x["X"].reshape(2, 3), 2), 5),
    "an eigenvalue": (lambda_max(S), lambda x: np.linalg.eigvalsh(full(x["S"]))[-1], N),
    "another": (-lambda_min(2.0 * S), lambda x: -2.0 * np.linalg.eigvalsh(full(x["S"]))[0], N),
    "over a number": (
        quad_over_lin(A @ v, t + 9.0),
        lambda x: np.sum((A @ x["v"]) ** 2) / (x["t"][0] + 9.0),
        6,
    ),
}


@pytest.mark.nightly
@settings(max_examples=40)
@given(name=st.sampled_from(sorted(FUNCTIONS)), turned=st.booleans(), seed=st.integers(0, 10**6))
def test_a_limit_holds_where_the_function_is_below_it(name, turned, seed):
    function, value, order = FUNCTIONS[name]
    limit = 2.0 * t + 0.5 * v[0]
    statement = -function >= -limit if turned else function <= limit
    (term,) = statement.terms()
    assert isinstance(term, InCone)
    assert term.lhs.m == order * (order + 1) // 2
    assert {x.name for x in statement.variables()} <= {"v", "t", "S", "X"}
    rng = np.random.default_rng(seed)
    point = {"v": rng.standard_normal(M), "S": rng.standard_normal(10), "X": rng.standard_normal(6)}
    below = value({**point, "t": np.zeros(1)}) - 0.5 * point["v"][0]
    for excess in (-0.1, 0.1):
        # Its own t moves one of the functions, by little.
        point["t"] = np.array([0.5 * (below - excess)])
        excess = value(point) - evaluate(limit, point).item()
        missed = Model((statement,)).violations(point)["limit"]
        assert (missed > 1e-12) == (excess > 0.0), (excess, missed)


@pytest.mark.parametrize("size", [12, 45])
def test_a_ball_is_left_where_it_is_known_to_be(size):
    rng = np.random.default_rng(size)
    centre, cost = rng.standard_normal((2, size))
    w = scalar("w", size)
    best = cost @ centre - 1.5 * np.linalg.norm(cost)
    for ball in (norm(w - centre) <= 1.5, square(w - centre).sum() <= 2.25):
        solution = sdpdr.solve(minimize(cost @ w) + ball)
        assert solution.certified(1e-6)
        assert solution.value == pytest.approx(best, rel=1e-5)


SIZES = {
    "abs": (abs, np.abs),
    "pos": (pos, lambda values: np.maximum(values, 0.0)),
    "square": (square, np.square),
}


@settings(max_examples=30)
@given(
    name=st.sampled_from(sorted(SIZES)),
    of=st.sampled_from(["K", "S"]),
    weighed=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_a_symmetric_matrix_has_one_triangle(name, of, weighed, seed):
    size, by_numpy = SIZES[name]
    rng = np.random.default_rng(seed)
    given_by = rng.standard_normal((N, N))
    given_by = given_by + given_by.T
    weights = rng.uniform(0.5, 2.0, (N, N)) if weighed else np.ones((N, N))
    root = rng.standard_normal((N, N))
    values = {"K": root @ root.T, "S": rng.standard_normal(10)}
    price = weights * size((K if of == "K" else S) - given_by)
    model = minimize(K.trace()) + price
    (term,) = (term for _, term in model.labelled_terms() if isinstance(term, Penalize))
    assert term.lhs.m == N * (N + 1) // 2
    whole = values["K"] if of == "K" else full(values["S"])
    expected = np.trace(values["K"]) + np.sum(weights * by_numpy(whole - given_by))
    assert model.objective(values) == pytest.approx(expected)


@pytest.mark.nightly
@pytest.mark.parametrize("n", [30, pytest.param(60, marks=pytest.mark.nightly)])
def test_an_unfolding_with_orders_entries_and_prices_is_certified(n):
    points, _ = sdpdr.datasets.swiss_roll(n, seed=0)
    graph = sdpdr.graphs.knn(points, n_neighbors=5)
    gram = psd("K", n)
    i, j, k = np.array([[0, 7, 9], [3, 1, 2], [12, 21, 25]])
    model = (
        sdpdr.maximize(gram.trace())
        + (gram.sum(axis=1) == 0)
        + (gram.distance2(graph.edges) <= graph.sqdist)
        + (gram.distance2(i, j) <= gram.distance2(i, k))
        + (gram[4, 5] >= 0.2)
        + 10.0 * abs(gram[[0, 1], [2, 3]] - [1.5, 2.5])
    )
    assert sdpdr.solve(model).certified(1e-6)


def test_sizes_below_a_limit_have_multipliers_of_both_sides():
    x, b, s = scalar("x", 2), parameter("b", value=0.5), parameter("s", value=0.0)
    model = minimize(x @ [1.0, -3.0]) + (abs(x + s) <= b).named("box")
    solution = model.solve()
    with pytest.raises(UnknownNameError, match=r"ask for 'box\.lower' and 'box\.upper'\."):
        solution.dual("box")
    upper, lower = (solution.dual(f"box.{side}") for side in ("upper", "lower"))
    assert upper.sum() + lower.sum() == pytest.approx(-sdpdr.sensitivity(model, solution, b))
    assert upper.sum() - lower.sum() == pytest.approx(sdpdr.sensitivity(model, solution, s))


@pytest.mark.nightly
def test_a_program_goes_to_cvxpy_and_back_with_its_names():
    model = (
        minimize(K.trace() + t)
        + (K[0, 1] >= 1.0).named("tie")
        + (abs(t) <= 2.0).named("box")
        + (K << 9.0 * np.eye(N)).named("cap")
    )
    problem, first = model.to_cvxpy(), model.solve()
    if not hasattr(problem.constraints[0], "set_label"):
        pytest.skip("this version of cvxpy has no labels")
    answer = sdpdr.solve(sdpdr.from_cvxpy(problem))
    assert answer.value == pytest.approx(first.value, rel=1e-6)
    assert answer.duals.keys() == first.duals.keys()
    assert answer.dual("tie") == pytest.approx(first.dual("tie"), abs=1e-5)
