"""Newton's method for the nearest matrix: known projections, other solvers, and what it refuses."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr.program.run import Verdict
from sdpdr.solvers import Nearest
from sdpdr.solvers.nearest import newton
from sdpdr.solvers.nearest.program import nearest_program


def _symmetric(n: int, seed: int, size: float = 1.0) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((n, n))
    return size * (root + root.T) / 2.0


def _correlation(G: np.ndarray) -> sdpdr.Model:
    K = sdpdr.psd("K", len(G))
    return sdpdr.minimize(sdpdr.sum_squares(K - G)) + (K.diagonal() == 1.0)


@pytest.mark.daily(2)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_without_binding_rows_negative_eigenvalues_are_cut_off(n: int) -> None:
    G = _symmetric(n, n)
    K = sdpdr.psd("K", n)
    model = sdpdr.minimize(sdpdr.sum_squares(K - G)) + (K.trace() <= 10.0 * n)
    found = model.solve(solver="nearest")
    eigenvalues, vectors = np.linalg.eigh(G)
    cut = np.minimum(eigenvalues, 0.0)
    assert found["K"] == pytest.approx(G - (vectors * cut) @ vectors.T, abs=1e-8)
    assert found.value == pytest.approx(cut @ cut, abs=1e-8)


def test_highams_example_has_its_known_answer() -> None:
    # N. J. Higham, Computing the nearest correlation matrix, IMA J. Numer. Anal. 22 (2002), sec. 4.
    G = np.eye(4) * 2.0 - np.diag(np.ones(3), 1) - np.diag(np.ones(3), -1)
    found = _correlation(G).solve(solver="nearest")
    assert found["K"][0] == pytest.approx([1.0, -0.8084, 0.1916, 0.1068], abs=1e-4)
    assert found["K"][1, 2] == pytest.approx(-0.6562, abs=1e-4)
    assert found.status is sdpdr.Status.SOLVED


@pytest.mark.nightly
@given(st.integers(2, 9), st.integers(0, 10_000), st.floats(-3.0, 3.0))
@settings(max_examples=6)
def test_it_agrees_with_clarabel_where_limits_bind(n: int, seed: int, digits: float) -> None:
    rng = np.random.default_rng(seed)
    size = 10.0**digits
    G, C = _symmetric(n, seed, size), _symmetric(n, seed + 1, size)
    K = sdpdr.psd("K", n)
    model = (
        sdpdr.minimize(0.5 * sdpdr.sum_squares(K - G) + K.inner(C))
        + (K.diagonal() == size * rng.uniform(0.5, 2.0, n))
        + (K[0, 1:] <= 0.1 * size)
    )
    found = model.solve(solver="nearest")
    other = model.solve(solver="clarabel")
    assert found.status is sdpdr.Status.SOLVED
    assert found.value == pytest.approx(other.value, rel=1e-5, abs=1e-6 * size**2)
    assert found.duals.keys() == other.duals.keys()


def test_conjugate_gradients_and_direct_steps_come_to_the_same(monkeypatch) -> None:
    G = _symmetric(20, 3)
    direct = _correlation(G).solve(solver="nearest")
    monkeypatch.setattr(newton, "_DIRECT", 0)
    iterated = _correlation(G).solve(solver="nearest")
    assert iterated["K"] == pytest.approx(np.asarray(direct["K"]), abs=1e-8)
    assert direct.certified()
    assert iterated.certified()


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_its_derivative_of_the_projection_agrees_with_differences(seed: int) -> None:
    n = 6
    program = nearest_program(_correlation(_symmetric(n, seed)).to_sdp())
    at = newton.At.of(program, np.random.default_rng(seed).standard_normal(n))
    change = _symmetric(n, seed + 1)
    M = (at.vectors * at.eigenvalues) @ at.vectors.T
    step = 1e-6 * float(np.min(np.abs(at.eigenvalues)))

    def projected(matrix: np.ndarray) -> np.ndarray:
        eigenvalues, vectors = np.linalg.eigh(matrix)
        return (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T

    differences = (projected(M + step * change) - projected(M - step * change)) / (2.0 * step)
    assert at.changed(change) == pytest.approx(differences, abs=1e-5)


@pytest.mark.daily(1)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_change_nothing_but_units(scale: float) -> None:
    G = _symmetric(12, 5)
    K = sdpdr.psd("K", 12)
    one = (sdpdr.minimize(sdpdr.sum_squares(K - G)) + (K.diagonal() == 1.0)).solve()
    model = sdpdr.minimize(sdpdr.sum_squares(K - scale * G)) + (K.diagonal() == scale)
    other = model.solve()
    assert other.solver == "nearest"
    assert np.asarray(other["K"]) / scale == pytest.approx(np.asarray(one["K"]), abs=1e-7)


@pytest.mark.nightly
def test_rows_that_contradict_each_other_are_infeasible_under_auto() -> None:
    K = sdpdr.psd("K", 3)
    model = sdpdr.minimize(sdpdr.sum_squares(K)) + (K.diagonal() == 1.0) + (K[0, 1] >= 2.0)
    assert model.solve().status is sdpdr.Status.INFEASIBLE


def test_limits_of_time_and_of_steps_are_told() -> None:
    sdp = _correlation(_symmetric(12, 1)).to_sdp()
    assert Nearest(max_iter=0).run(sdp).verdict is Verdict.ITERATION_LIMIT
    assert Nearest(time_limit=0.0).run(sdp).verdict is Verdict.TIME_LIMIT
    with pytest.raises(sdpdr.errors.DataError, match="no option 'eps'"):
        Nearest(options={"eps": 1.0}).run(sdp)


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        (lambda K: sdpdr.sum_squares(K[0, 1] - 1.0), "do not weigh all entries"),
        (lambda K: sdpdr.sum_squares(K - np.eye(3)) + sdpdr.square(K[0, 1]), "do not weigh"),
        (lambda K: K.trace(), "other variables"),
    ],
)
def test_other_costs_are_refused_in_words(goal, why: str) -> None:
    K = sdpdr.psd("K", 3)
    model = sdpdr.minimize(goal(K)) + (K.diagonal() == 1.0)
    with pytest.raises(sdpdr.errors.NotAcceptedError, match=why):
        model.solve(solver="nearest")


def test_a_cvxpy_problem_gets_its_point_and_its_multipliers_back() -> None:
    G = _symmetric(9, 2)
    X = cp.Variable((9, 9), PSD=True)
    fixed = cp.diag(X) == 1
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - G)), [fixed])
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.solver_stats.extra_stats.solver == "nearest"
    # Where X is optimal, 2 (X - G) plus the multipliers is psd, and at right angles to X.
    slack = 2.0 * (X.value - G) + np.diag(fixed.dual_value)
    assert np.linalg.eigvalsh(slack)[0] >= -1e-7
    assert np.sum(slack * X.value) == pytest.approx(0.0, abs=1e-6)
