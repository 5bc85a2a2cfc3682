"""Routines on graphs take indices of either length, which old versions of SciPy do not."""

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.linalg import walks
from sdpdr.linalg.walks import spanning_forest

LENGTHS = np.array([[0.0, 1.0, 5.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0] * 4, [0.0] * 4])


@pytest.fixture(params=[np.int32, np.int64])
def graph(request):
    rows = sp.csr_array(LENGTHS)
    rows.indices, rows.indptr = (
        rows.indices.astype(request.param),
        rows.indptr.astype(request.param),
    )
    return rows


def test_paths_components_and_trees_are_the_same_for_both_types_of_index(graph):
    assert walks.dijkstra(graph, 0).tolist() == [0.0, 1.0, 3.0, np.inf]
    assert walks.dijkstra(graph, 1, directed=True).tolist() == [np.inf, 0.0, 2.0, np.inf]
    assert walks.predecessors(graph, 0)[1:3].tolist() == [0, 0]
    count, part = walks.connected_components(graph)
    assert count == 2
    assert part[0] == part[1] == part[2] != part[3]
    assert sorted(spanning_forest(graph).data) == [1.0, 2.0]


def test_the_graph_itself_keeps_its_indices(graph):
    before = graph.indices.dtype
    walks.short_indices(graph)
    assert graph.indices.dtype == before
