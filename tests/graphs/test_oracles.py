"""Numbers found elsewhere: directed neighbourhoods, hulls, duplicates and their weights."""

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.errors import DuplicatePointsWarning

ROLL, _ = datasets.swiss_roll(30, seed=0)


@pytest.mark.nightly
def test_merged_duplicates_weigh_as_often_as_they_occur():
    X, _ = datasets.swiss_roll(20, seed=0)
    with pytest.warns(DuplicatePointsWarning, match="20, 21, 22"):
        graph = graphs.knn(np.vstack([X, X[:3]]), 4)
    assert graph.counts.tolist() == [2, 2, 2] + [1] * 17
    weighted = sdpdr.solve(methods.mvu(graph), tol=1e-8)
    alone = sdpdr.solve(methods.mvu(replace(graph, counts=np.ones(20, int))), tol=1e-8)
    assert weighted.certified()
    assert weighted.value == pytest.approx(3285.868, abs=1e-3)
    assert alone.value == pytest.approx(2904.106, abs=1e-3)
