"""Points with the cheapest slack, and how near others are to feasible."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.linalg import Products
from sdpdr.program import Factor
from sdpdr.program.backward import backward_error
from sdpdr.program.boxes import fill_slack


def random_graph(seed, n, dimension=2):
    points = np.random.default_rng(seed).standard_normal((n, dimension))
    return graphs.knn(points, min(3, n - 1), connect="mst"), points - points.mean(axis=0)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("penalty", ["square", "absolute"])
def test_the_cheapest_slack_is_filled_in(penalty, relative):
    graph, points = random_graph(2, 10)
    model = methods.mvu(graph, Slack(3.0, penalty, relative))
    sdp = model.to_sdp()
    values = {"K": Factor(1.3 * points)} | {
        v.name: np.full(v.size, 9.0) for v in sdp.vector_variables
    }
    filled = fill_slack(sdp, values)
    np.testing.assert_allclose(sdp.slack(sdp.rows[1], filled), 0.0, atol=1e-12)
    for v in sdp.vector_variables:
        assert not v.nonnegative or np.min(filled[v.name]) >= 0.0
    # The model's own objective penalizes the change directly, without slack variables.
    assert sdp.report(sdp.primal_value(filled)) == pytest.approx(model.objective(values))


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
