"""Answers that begin with the last one."""

from __future__ import annotations

from contextlib import suppress

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, maximize, parameter, psd, scalar
from sdpdr.errors import DataError
from sdpdr.solving.again import kkt, newton, system
from sdpdr.solving.again.warm import Warm

RNG = np.random.default_rng(0)
COST = RNG.normal(size=(20, 20))
POINTS = RNG.normal(size=(160, 8))


def cut(p):
    K = psd("K", 20)
    return maximize(K.inner(COST + COST.T)) + (K.diagonal() == p) + (K[0, 1] <= 0.3)


def design(p):
    w, t = scalar("w", 160, nonnegative=True), scalar("t")
    information = w @ (POINTS[:, :, None] * POINTS[:, None, :])
    weights = (w.sum() == 1.0) + (w <= p / 40.0)
    return maximize(t) + weights + (information >> t * np.eye(8))


@pytest.mark.parametrize("make", [cut, design])
def test_a_step_is_the_same_whether_its_equations_are_kept_sparse(make, monkeypatch):
    p = parameter("p", value=1.0)
    model = make(p)
    solution = sdpdr.solve(model)
    warm = Warm.of(model.to_sdp(), solution)
    steps = []
    for share in (0.0, 1.0):
        monkeypatch.setattr(kkt, "SPARSE", share)
        monkeypatch.setattr(system, "SPARSE", share)
        size = abs(solution.value)
        place = newton._begin(warm.program, warm.x, warm.y, warm.s, size, 1e-3)
        steps.append(system.System(place).step(place.missed, place.slack))
    dense, sparse = steps
    for name in ("dw", "dx", "dy"):
        one, other = getattr(dense, name), getattr(sparse, name)
        assert np.linalg.norm(one - other) <= 1e-6 * np.linalg.norm(one)


def test_limits_that_all_grow_leave_nothing_to_search_for():
    roll = graphs.knn(sdpdr.datasets.swiss_roll(100, seed=0)[0], n_neighbors=6)
    p = parameter("p", value=1.0)
    K = psd("K", 100)
    model = (
        maximize(K.trace()) + (K.sum(axis=1) == 0) + (K.distance2(roll.edges) <= p * roll.sqdist)
    )
    first = sdpdr.solve(model, "lowrank", "factor")
    p.value = 1.5
    again = sdpdr.solve(model, "lowrank", "factor", start=first)
    assert again.certified(1e-6)
    assert again.claimed.iterations == 0
    assert again.value == pytest.approx(1.5 * first.value, rel=1e-6)


def test_newtons_method_serves_a_problem_of_cvxpy_unless_it_is_asked_not_to():
    X, p = cp.Variable((20, 20), PSD=True), cp.Parameter(nonneg=True, value=1.0)
    goal = cp.Maximize(cp.trace((COST + COST.T) @ X))
    problem = cp.Problem(goal, [cp.diag(X) == p, X[0, 1] <= 0.3])
    solver = sdpdr.CVXPY()
    solvers, values = [], []
    for value, warm in ((1.0, True), (1.1, True), (1.1, False)):
        p.value = value
        values.append(problem.solve(solver=solver, warm_start=warm))
        solution = problem.solver_stats.extra_stats
        assert solution.certified(1e-6)
        solvers.append(solution.solver == "newton")
    assert solvers == [False, True, False]
    assert values[1] == pytest.approx(values[2], rel=2e-6)


def test_multipliers_of_other_values_are_no_derivatives():
    q = parameter("q", value=1.0)
    K = psd("K", 40)
    model = maximize(K.sum()) + (K.diagonal() <= q)
    solution = sdpdr.solve(model)
    assert sdpdr.sensitivity(model, solution, q) == pytest.approx(1600.0, rel=1e-5)
    q.value = 1.2
    with suppress(DataError):  # or they are made to be
        assert sdpdr.sensitivity(model, solution, q) == pytest.approx(1600.0, rel=1e-5)
