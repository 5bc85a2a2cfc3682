"""Prices on rows alone: the descent on what proximal steps make smooth of them, and its proofs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import blocks, graphs, methods, soften
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.general import engine
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.interior.boxes import Boxed
from sdpdr.solvers.lowrank.interior.prices import has_prices_alone
from sdpdr.solvers.lowrank.interior.rest import at_rest

# No factor has so few numbers: the interior point is out of the question.
NO_ROOM = 1


def sensors(n, seed, unit=1.0, price=1.0):
    """Points in a square, every fifth of them known, noisy distances at a price."""
    rng = np.random.default_rng(seed)
    places = unit * rng.uniform(0.0, 1.0, (n, 2))
    graph = graphs.radius(places, 1.6 * unit * np.sqrt(np.log(n) / (np.pi * n)), connect="mst")
    square = graph.sqdist * np.square(1.0 + 0.05 * rng.standard_normal(graph.m))
    known = np.arange(0, n, 5)
    graph = graphs.from_edges(n, graph.edges, square)
    lengths = blocks.AnchoredLengths(graph, known, places[known], exact=True)
    return blocks.Coordinates(n - known.size, 2) + soften(lengths, price)


def boxed_of(model):
    boxed = Boxed.of(compile_problem(model.to_sdp()))
    low, high = boxed.low.copy(), boxed.high.copy()
    low[boxed.held.rows] = high[boxed.held.rows] = 0.0
    return boxed, low, high


@pytest.mark.nightly
@settings(max_examples=5)
@given(st.integers(0, 1000), st.floats(0.0, 1.0))
def test_multipliers_at_rest_prove_a_bound_whatever_they_were(seed, share):
    model = sensors(30, seed)
    boxed, low, high = boxed_of(model)
    rng = np.random.default_rng(seed)
    y = share * rng.uniform(low, np.maximum(high, low + 1e-300))
    found = at_rest(boxed, y, (low, high))
    assert found is not None
    own = np.setdiff1d(np.arange(y.size), boxed.held.rows)
    assert np.all(found[own] >= low[own] - 1e-12)
    assert np.all(found[own] <= high[own] + 1e-12)
    slack = boxed.blocks[0].forms.slack(np.append(1.0, found)).toarray()
    values = np.linalg.eigvalsh(slack)
    assert values[0] >= -1e-9 * values[-1]
    best = sdpdr.solve(model, LowRank(options={"engine": "interior"}))
    dual = -(boxed.rhs @ found) * boxed.problem.units.objective
    assert dual <= best.value + 1e-9 * abs(best.value)


@pytest.fixture
def alone(monkeypatch):
    """No other engine goes on from there."""
    monkeypatch.setattr(engine, "_CONTINUED", 0)


@pytest.mark.nightly
@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_sensors_without_room_for_a_factor_have_a_value_and_a_bound(unit, alone):
    model = sensors(60, 0, unit)
    best = sdpdr.solve(sensors(60, 0), LowRank(options={"engine": "interior"}))
    found = solve_factored(model.to_sdp(), Options(max_fill=NO_ROOM, tol=1e-3))
    assert "smooth prices" in found.message
    assert found.bound <= unit**2 * best.value * (1.0 + 1e-9)
    assert unit**2 * best.bound <= found.value * (1.0 + 1e-9)
    assert abs(found.gap) <= 1e-2


def test_rows_that_have_to_hold_have_no_price():
    assert has_prices_alone(compile_problem(sensors(20, 0).to_sdp()))
    path = graphs.path([1.0, 2.0])
    held = blocks.Gram(3) + blocks.Lengths(path, exact=True)
    assert not has_prices_alone(compile_problem(held.to_sdp()))
    assert not has_prices_alone(compile_problem(methods.mvu(path).to_sdp()))


@pytest.mark.parametrize("limits", [{"max_iter": 1}, {"time_limit": 0.0}])
def test_limits_end_a_descent_with_a_point(limits):
    found = solve_factored(sensors(40, 0).to_sdp(), Options(max_fill=NO_ROOM, **limits))
    assert found.status == next(iter(limits))
    assert np.isfinite(found.value)


def test_an_interruption_leaves_a_value_and_a_bound():
    calls = []

    def stop(record):
        calls.append(record)
        if len(calls) == 2:
            raise KeyboardInterrupt

    found = solve_factored(sensors(40, 0).to_sdp(), Options(max_fill=NO_ROOM, callback=stop))
    assert found.status == "interrupted"
    assert found.bound is not None
    assert found.bound <= found.value
