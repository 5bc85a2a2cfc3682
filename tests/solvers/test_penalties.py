"""Programs with penalties alone: descent on smoothed penalties has a value and a bound."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, graphs, soften
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.general import engine

# No factor has so few numbers: the interior point is out of the question.
NO_ROOM = 1


def sensors(n, seed, unit=1.0, penalty=1.0):
    """Points in a square, every fifth of them known, noisy distances at a penalty."""
    rng = np.random.default_rng(seed)
    places = unit * rng.uniform(0.0, 1.0, (n, 2))
    graph = graphs.radius(places, 1.6 * unit * np.sqrt(np.log(n) / (np.pi * n)), connect="mst")
    square = graph.sqdist * np.square(1.0 + 0.05 * rng.standard_normal(graph.m))
    known = np.arange(0, n, 5)
    graph = graphs.from_edges(n, graph.edges, square)
    lengths = blocks.AnchoredLengths(graph, known, places[known], exact=True)
    return blocks.Coordinates(n - known.size, 2) + soften(lengths, penalty)


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
    assert "smooth penalties" in found.message
    assert found.bound <= unit**2 * best.value * (1.0 + 1e-9)
    assert unit**2 * best.bound <= found.value * (1.0 + 1e-9)
    assert abs(found.gap) <= 1e-2


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


@pytest.mark.parametrize("n", [5, pytest.param(40, marks=pytest.mark.nightly)])
def test_a_row_between_ends_that_are_too_far_apart_costs_what_equal_steps_cost(n):
    """Squares of n steps that add up to 2 n are at least 4 each on average: 3 too much each."""
    ends = np.array([[0.0], [2.0 * n]])
    steps = graphs.path(np.ones(n))
    lengths = blocks.AnchoredLengths(steps, np.array([0, n]), ends, exact=True)
    found = sdpdr.solve((blocks.Coordinates(n - 1, 1) + soften(lengths, 1.0)).to_sdp(), "lowrank")
    assert found.certified(1e-6)
    assert found.value == pytest.approx(3.0 * n, rel=1e-5)
