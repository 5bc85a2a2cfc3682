"""Functions below limits say what they say, with no more variables and rows than they need."""

from __future__ import annotations

import pickle
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import (
    matrix,
    minimize,
    norm,
    parameter,
    pos,
    psd,
    scalar,
    square,
    symmetric,
)
from sdpdr.errors import DataError, UnknownNameError
from sdpdr.linalg.svec import svec_pairs
from sdpdr.model.terms import Penalize

M, N = 7, 4
v, t = scalar("v", M), scalar("t")
S, X, K = symmetric("S", N), matrix("X", (2, 3)), psd("K", N)
A = np.random.default_rng(3).standard_normal((5, M))


def full(values):
    i, j = svec_pairs(np.arange(values.size))
    found = np.zeros((N, N))
    found[i, j] = found[j, i] = values
    return found


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
    penalty = weights * size((K if of == "K" else S) - given_by)
    model = minimize(K.trace()) + penalty
    (term,) = (term for _, term in model.labelled_terms() if isinstance(term, Penalize))
    assert term.lhs.m == N * (N + 1) // 2
    whole = values["K"] if of == "K" else full(values["S"])
    expected = np.trace(values["K"]) + np.sum(weights * by_numpy(whole - given_by))
    assert model.objective(values) == pytest.approx(expected)


def test_sizes_below_a_limit_have_multipliers_of_both_sides():
    x, b, s = scalar("x", 2), parameter("b", value=0.5), parameter("s", value=0.0)
    model = minimize(x @ [1.0, -3.0]) + (abs(x + s) <= b).named("box")
    solution = model.solve()
    with pytest.raises(UnknownNameError, match=r"ask for 'box\.lower' and 'box\.upper'\."):
        solution.dual("box")
    upper, lower = (solution.dual(f"box.{side}") for side in ("upper", "lower"))
    assert upper.sum() + lower.sum() == pytest.approx(-sdpdr.sensitivity(model, solution, b))
    assert upper.sum() - lower.sum() == pytest.approx(sdpdr.sensitivity(model, solution, s))


def test_a_constraint_is_the_key_to_its_multipliers():
    x = scalar("x", 2)
    first, second, box = x[0] >= 1.0, x[1] >= 1.0, abs(x) <= 9.0
    solution = sdpdr.solve(minimize(x @ [2.0, 3.0]) + first + second + box)
    assert solution.dual(first) == pytest.approx(solution.dual("at_least"))
    assert solution.dual(second) == pytest.approx([3.0])
    with pytest.raises(UnknownNameError, match=r"'abs\.lower' and 'abs\.upper'"):
        solution.dual(box)
    with pytest.raises(DataError, match="added to it, or a label: at_least, at_least_2, abs"):
        solution.dual(x[0] >= 1.0)
    # Another process has other constraints.
    with pytest.raises(DataError):
        pickle.loads(pickle.dumps(replace(solution, prover=None, writer=None))).dual(first)


def test_a_constraint_that_is_added_twice_has_the_multiplier_of_one():
    low = t >= 1.0
    assert sdpdr.solve(minimize(3.0 * t) + low + low).dual(low) == pytest.approx([3.0])


@pytest.mark.parametrize("cost", [cp.sum, lambda x: cp.sum(cp.exp(x - 1))])
def test_a_constraint_of_cvxpy_that_is_added_twice_has_the_multiplier_of_one(cost):
    x = cp.Variable(2, name="x")
    low = x >= 1
    problem = cp.Problem(cp.Minimize(cost(x)), [low, x <= 5, low])
    solution = sdpdr.solve(problem)
    assert solution.dual(low) == pytest.approx([1.0, 1.0], abs=1e-5)
    program = sdpdr.from_cvxpy(problem) if cost is cp.sum else None
    if program is not None:
        program.give_back(sdpdr.solve(program))
        assert low.dual_value == pytest.approx([1.0, 1.0], abs=1e-5)


@pytest.mark.parametrize("cost", [cp.sum, lambda x: cp.sum(cp.exp(x))])
def test_a_constraint_of_cvxpy_is_the_key_to_its_multipliers(cost):
    x = cp.Variable(2, name="x")
    rows = [(x[k] >= k).set_label("low") for k in range(2)]
    problem = cp.Problem(cp.Minimize(cost(x)), [*rows, x <= 9.0])
    solution = sdpdr.solve(problem)
    problem.solve(solver=cp.CLARABEL)
    assert solution.dual("low_2") == pytest.approx(rows[1].dual_value, abs=1e-5)
    for row in problem.constraints:
        assert solution.dual(row) == pytest.approx(row.dual_value, abs=1e-5)


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
