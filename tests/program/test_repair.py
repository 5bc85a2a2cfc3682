"""Points that are repaired: shrunk to limits, with the cheapest slack."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.linalg import Products
from sdpdr.program import Factor
from sdpdr.program.backward import backward_error
from sdpdr.program.boxes import repair


def random_graph(seed, n, dimension=2):
    points = np.random.default_rng(seed).standard_normal((n, dimension))
    return graphs.knn(points, min(3, n - 1), connect="mst"), points - points.mean(axis=0)


@pytest.mark.parametrize("dense", [False, True])
def test_repair_shrinks_to_the_longest_edge(dense):
    graph, points = random_graph(0, 10)
    sdp = methods.mvu(graph).to_sdp()
    stretched = points * [1.5, 1.0]
    gram = stretched @ stretched.T if dense else Factor(stretched)
    repaired = repair(sdp, {"K": gram})["K"]
    lengths = np.sum(np.diff(stretched[graph.edges], axis=1)[:, 0] ** 2, axis=1)
    excess = np.max(lengths / graph.sqdist)
    assert excess > 1.0
    got = repaired if dense else repaired.dense()
    np.testing.assert_allclose(got, stretched @ stretched.T / excess, atol=1e-12)
    slack = sdp.slack(sdp.rows[1], {"K": repaired})
    assert np.min(slack) == pytest.approx(0.0, abs=1e-12)


def test_repair_leaves_a_feasible_point_alone():
    graph, points = random_graph(1, 10)
    sdp = methods.mvu(graph).to_sdp()
    np.testing.assert_array_equal(repair(sdp, {"K": Factor(points)})["K"].factor, points)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("penalty", ["square", "absolute"])
def test_repair_fills_in_the_cheapest_slack(penalty, relative):
    graph, points = random_graph(2, 10)
    model = methods.mvu(graph, Slack(3.0, penalty, relative))
    sdp = model.to_sdp()
    values = {"K": Factor(1.3 * points)} | {
        v.name: np.full(v.size, 9.0) for v in sdp.vector_variables
    }
    repaired = repair(sdp, values)
    np.testing.assert_allclose(sdp.slack(sdp.rows[1], repaired), 0.0, atol=1e-12)
    for v in sdp.vector_variables:
        assert not v.nonnegative or np.min(repaired[v.name]) >= 0.0
    # The model's own objective penalizes the change directly, without slack variables.
    assert sdp.report(sdp.primal_value(repaired)) == pytest.approx(model.objective(values))


def test_unfolding_is_certified_without_the_dense_matrix_of_its_centring(monkeypatch):
    def refuse(self):
        raise AssertionError("the dense matrix of the centring rows was formed")

    model = methods.mvu(graphs.knn(datasets.swiss_roll(300, seed=0)[0], n_neighbors=6))
    monkeypatch.setattr(Products, "matrix", refuse)
    assert sdpdr.solve(model, "lowrank").certified()


def test_the_backward_error_of_an_unfolding_is_that_of_its_lengths():
    graph = graphs.cycle(6)
    sdp = methods.mvu(graph, "equality").to_sdp()
    angles = np.pi * np.arange(6) / 3
    hexagon = np.column_stack([np.cos(angles), np.sin(angles)])
    assert backward_error(sdp, {"K": Factor(hexagon)}) < 1e-14
    assert backward_error(sdp, {"K": Factor(1.1 * hexagon)}) == pytest.approx(0.21)
    inequality = methods.mvu(graph).to_sdp()
    assert backward_error(inequality, {"K": Factor(0.9 * hexagon)}) < 1e-14
    assert backward_error(inequality, {"K": Factor(1.1 * hexagon)}) == pytest.approx(0.21)
