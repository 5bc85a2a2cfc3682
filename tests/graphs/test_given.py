"""What is no graph is refused with the way to make one."""

import numpy as np
import pytest

from sdpdr import baselines, blocks, datasets, graphs, methods
from sdpdr.errors import DataTypeError, UnknownKeywordError

TAKE_GRAPHS = [
    methods.mvu, methods.isometric, methods.mfnu, methods.ism, methods.fold, methods.loocv,
    methods.density_map, methods.distance_completion, blocks.Isometry, baselines.ncmvu,
]  # fmt: skip
POINTS, _ = datasets.swiss_roll(12, seed=0)


@pytest.mark.parametrize("function", TAKE_GRAPHS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("given", [POINTS, POINTS.tolist(), None], ids=["array", "list", "None"])
def test_points_in_place_of_a_graph_lead_to_knn(function, given):
    with pytest.raises(DataTypeError, match=rf"{function.__name__}\(\) takes a graph.*graphs\.knn"):
        function(given)
    with pytest.raises(DataTypeError, match="takes a graph"):
        function(graph=given)


def test_what_the_message_advises_makes_graphs():
    of_points = graphs.knn(POINTS, n_neighbors=6)
    D = np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2)
    of_distances = graphs.knn(D, n_neighbors=6, metric="precomputed")
    of_edges = graphs.from_edges(of_points.n, of_points.edges, of_points.sqdist)
    for graph in (of_distances, of_edges):
        assert np.array_equal(graph.edges, of_points.edges)
        assert graph.sqdist == pytest.approx(of_points.sqdist)
        methods.mvu(graph)


def test_keywords_are_checked_as_elsewhere():
    with pytest.raises(UnknownKeywordError, match="isometry"):
        methods.mvu(graphs.path([1.0, 2.0]), isometri="equality")
    with pytest.raises(TypeError, match="graph"):
        methods.mvu()
