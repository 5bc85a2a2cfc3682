"""Components of an unfolding that nothing joins move apart, which is proved without a solver."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, maximize, minimize, psd
from sdpdr.certify.check_proof import check
from sdpdr.program import Status


def two_rolls(n, *, centred=True):
    """Two copies of a graph, whose points are all in one matrix."""
    X = np.random.default_rng(n).standard_normal((n, 2))
    graph = graphs.knn(X, n_neighbors=3, connect="mst")
    K, edges = psd("K", 2 * n), np.vstack([graph.edges, graph.edges + n])
    model = maximize(K.trace()) + (K.distance2(edges) <= np.tile(graph.sqdist, 2)).named("lengths")
    return model + (K.sum(axis=1) == 0.0).named("centred") if centred else model


@pytest.mark.parametrize("n", [6, 20, 60])
@pytest.mark.parametrize("centred", [True, False])
def test_components_that_move_apart_are_proved_at_once(n, centred, tmp_path):
    solution = sdpdr.solve(two_rolls(n, centred=centred))
    assert solution.status is Status.UNBOUNDED
    assert solution.solver == "none"
    assert "components of 'K' that no length joins move apart" in str(solution)
    assert "check that the graph is connected" in solution.advice
    D = solution.ray.values["K"].factor
    assert np.ptp(D[:n]) == np.ptp(D[n:]) == D.sum() == 0.0
    if n == 6:
        assert check(solution.write_proof(tmp_path / "apart.proof").path)["unbounded"] is True


@pytest.mark.parametrize(
    ("joins", "status"),
    [
        (lambda K: K.trace() <= 50.0, Status.SOLVED),
        (lambda K: K[0, 0] + K[6, 6] <= 3.0, Status.SOLVED),
        (lambda K: K.distance2([(0, 6)]) <= 1.0, Status.SOLVED),
        (lambda K: K[0, 1] >= 1.0, Status.UNBOUNDED),
    ],
)
def test_what_joins_components_leaves_the_program_to_solvers(joins, status):
    solution = sdpdr.solve(two_rolls(6) + joins(psd("K", 12)))
    assert solution.solver != "none"
    assert solution.status is status


def test_a_cost_that_does_not_grow_is_left_to_solvers():
    K = psd("K", 4)
    apart = (K.distance2([(0, 1), (2, 3)]) <= 1.0) + (K.sum(axis=1) == 0.0)
    assert sdpdr.solve(minimize(K.trace()) + apart, gap_scale=1.0).status is Status.SOLVED
