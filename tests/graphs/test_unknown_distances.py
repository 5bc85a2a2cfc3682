"""Precomputed distances of which some are not known: such a pair is no edge of any graph."""

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

import sdpdr
from sdpdr import graphs
from sdpdr.errors import DataError, DisconnectedGraphError

X = np.random.default_rng(3).uniform(0.0, 1.0, (40, 2))
D = squareform(pdist(X))


def hidden(share, seed=0, D=D):
    """Some distances are not known, half of these by NaN, half by inf."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(len(D), 1)
    away = rng.uniform(size=i.size) < share
    D = D.copy()
    D[i[away], j[away]] = D[j[away], i[away]] = np.where(
        rng.uniform(size=away.sum()) < 0.5, np.nan, np.inf
    )
    return D


def test_neighbours_are_the_nearest_known_ones():
    partial = hidden(0.5)
    graph = graphs.knn(partial, 4, metric="precomputed")
    expected = set()
    for i, row in enumerate(partial):
        known = [j for j in np.argsort(row, kind="stable") if np.isfinite(row[j]) and j != i]
        expected |= {(min(i, j), max(i, j)) for j in known[:4]}
    assert {tuple(edge) for edge in graph.edges.tolist()} == expected
    assert graph.sqdist == pytest.approx(np.square(D[tuple(graph.edges.T)]))


def test_no_graph_has_an_unknown_pair():
    partial = hidden(0.6)
    options = {"metric": "precomputed", "connect": "mst"}
    made = [
        graphs.knn(partial, 5, angles=True, **options),
        graphs.radius(partial, 0.5, **options),
        graphs.complete(partial, metric="precomputed"),
    ]
    for graph in made:
        assert np.isfinite(partial[tuple(graph.edges.T)]).all()
    assert made[2].m == np.isfinite(partial[np.triu_indices(40, 1)]).sum()


def test_a_point_of_which_nothing_is_known_is_named():
    partial = D.copy()
    partial[7, :], partial[:, 7] = np.nan, np.nan
    with pytest.raises(DataError, match="no distance is known of 1 of 40 points: 7"):
        sdpdr.MVU(metric="precomputed").fit(partial)


def test_parts_that_no_known_distance_joins_are_named():
    partial = D.copy()
    partial[:5, 5:] = partial[5:, :5] = np.nan
    for connect in ("error", "bridges", "mst"):
        with pytest.raises(DisconnectedGraphError, match=r"components of 35, 5 .* 0, 1, 2, 3"):
            graphs.knn(partial, 3, metric="precomputed", connect=connect)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert graphs.knn(partial, 3, metric="precomputed", connect="largest").n <= 35


def test_methods_that_need_all_distances_say_so():
    partial = hidden(0.3)
    with pytest.raises(DataError, match=r"distance of points .* not known"):
        sdpdr.baselines.classical_mds(partial, metric="precomputed")
    with pytest.raises(DataError, match="extension='kernel' needs all distances"):
        sdpdr.MVU(metric="precomputed", extension="kernel").fit(partial)


@pytest.mark.integration
def test_estimators_take_unknown_distances():
    partial = hidden(0.2)
    learned = sdpdr.MVU(metric="precomputed").fit(partial)
    graph = learned.graph_
    assert np.isfinite(partial[tuple(graph.edges.T)]).all()
    assert learned.solution_.certified(1e-5)
    assert learned.fit_transform(partial).shape == (40, 2)
