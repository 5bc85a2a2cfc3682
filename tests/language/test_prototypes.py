"""Programs of the literature, written in a few lines, are certified at small sizes."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import solve_continuous_lyapunov

import sdpdr

pytestmark = pytest.mark.integration

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Exact data leave no interior: no point has a neighbourhood that proves it feasible.
NO_INTERIOR = {"snl", "edm_least", "phaselift"}
# Places of sensors are found sooner.
DEAR = {"edm_least", "phaselift"}


def load():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        path = BENCHMARKS / "prototypes.py"
        spec = importlib.util.spec_from_file_location("prototypes", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["prototypes"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


ALL = load().PROTOTYPES


def small(name):
    prototype = ALL[name]
    return prototype.build(prototype.small)


@pytest.fixture(scope="module")
def solved():
    """Each program, solved once."""
    known = {}

    def solution(name):
        if name not in known:
            known[name] = sdpdr.solve(small(name), tol=1e-6, progress=False)
        return known[name]

    return solution


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly if name in DEAR else ()) for name in ALL],
)
def test_a_program_is_certified_or_says_why_not(name, solved):
    solution = solved(name)
    if name in NO_INTERIOR:
        assert solution.status is sdpdr.Status.OPTIMAL_NEARBY
        assert solution.epsilon < 1e-5
        assert solution.apparent_gap < 1e-6
        assert "no point was proved feasible" in solution.attained_by
    else:
        assert solution.status is sdpdr.Status.SOLVED
        assert solution.certified(1e-6)


@pytest.mark.daily(8)
@pytest.mark.parametrize("name", ALL)
def test_a_program_is_short_and_prints(name):
    model = small(name)
    assert ALL[name].lines <= 8
    assert model.describe().startswith(("maximise", "minimise"))
    assert set(model.legend()) >= set(model.size()["rows"])


# -- the answers are those of the problems ------------------------------------------------------


def largest_cut(laplacian):
    signs = np.array(list(itertools.product([1.0, -1.0], repeat=laplacian.shape[0])))
    return 0.25 * np.max(np.sum(signs * (laplacian @ signs.T).T, axis=1))


def test_no_cut_is_larger_than_the_bounds(solved):
    for name in ("maxcut", "triangles", "metric"):
        data = ALL[name].data(*ALL[name].small)
        laplacian = data[0] if isinstance(data, tuple) else data
        assert solved(name).bound >= largest_cut(laplacian) - 1e-6
    assert solved("triangles").value <= solved("maxcut").bound
    # On six nodes triangles say all.
    assert solved("metric").value == pytest.approx(largest_cut(ALL["metric"].data(6)[0]), abs=1e-4)


def test_the_design_informs_as_well_as_it_says(solved):
    points, w = ALL["design"].data(*ALL["design"].small), solved("design").values["w"]
    information = points.T @ (w[:, None] * points)
    assert np.linalg.eigvalsh(information)[0] == pytest.approx(solved("design").value, rel=1e-5)


def test_the_least_function_of_lyapunov_solves_his_equation(solved):
    A, decay = ALL["lyapunov"].data(*ALL["lyapunov"].small)
    expected = solve_continuous_lyapunov(A.T, -decay * np.eye(len(A)))
    np.testing.assert_allclose(solved("lyapunov").gram("P"), expected, atol=1e-4)


@pytest.mark.nightly
def test_phases_are_found(solved):
    A, b = ALL["phaselift"].data(*ALL["phaselift"].small)
    x = solved("phaselift").embedding(1)[:, 0]
    np.testing.assert_allclose(np.square(A @ x), b, atol=1e-4 * np.max(b))


# -- what the language owes to the rest -----------------------------------------------------------
