"""Lengths that are to be alike: points proved to be so, and no better than the bound."""

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.linalg.distances import Alike, lengths_between, raised
from sdpdr.program.attain.corrected import evened
from sdpdr.program.point import Factor


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def walk(n, k=4):
    """A noisy walk, and its steps."""
    side = int(np.sqrt(n) / 2.0)
    actions = datasets.random_walk(n, side)
    X, _ = datasets.window_agent(actions, window=32, grain=0.02, start=0, scene=64 + 2 * side)
    graph = graphs.sequences(X, k)
    return graph, graphs.transitions(graph, actions)


def test_an_evened_point_satisfies_every_row_and_is_no_better_than_the_bound(rng):
    graph, steps = walk(30)
    sdp = methods.are(graph, steps).to_sdp()
    solution = sdpdr.solve(sdp)
    near = solution["K"] + 1e-5 * np.diag(rng.uniform(size=graph.n))
    factor = {"K": Factor(np.linalg.cholesky(near + 1e-9 * np.eye(graph.n)))}
    value, point, _ = evened(sdp, {"K": near}, factor)
    largest = np.max(lengths_between(point["K"]))
    for rows in sdp.rows:
        assert np.max(sdp.missed(rows, point)) < 1e-11 * largest
    assert -value <= solution.bound
    assert -value > (1.0 - 1e-3) * solution.bound


@pytest.mark.nightly
def test_points_that_must_all_coincide_are_at_one_place():
    K = sdpdr.psd("K", 3)
    model = sdpdr.maximize(K.trace()) + (K.sum(axis=1) == 0)
    model += K.distance2([[0, 1]]) == K.distance2([[1, 2]])
    model += K.distance2([[0, 1]]) == 0
    model += K.distance2([[0, 2]]) <= 1.0
    solution = sdpdr.solve(model)
    assert solution.status is sdpdr.Status.SOLVED
    assert abs(solution.value) < 1e-9
    alike = Alike.of(2, np.array([[0, 1]]), *[np.zeros((0, 2), dtype=int)] * 2)
    assert raised(alike.evened(np.zeros((2, 2)))).tolist() == [[0.0]]
