"""The approximate search: what it finds, what it reports, and what it says when it cannot run."""

import sys

import numpy as np
import pytest

from sdpdr import graphs
from sdpdr.errors import PackageMissingError
from sdpdr.graphs import approximate
from sdpdr.graphs.approximate import approximate_nearest, shared
from sdpdr.graphs.space import make_space


def cloud(n=3000, features=24, seed=0):
    return np.random.default_rng(seed).standard_normal((n, features))


@pytest.fixture
def faiss():
    return pytest.importorskip("faiss", reason="the extra 'approximate' is not installed")


def test_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(PackageMissingError, match=r"sdpdr\[approximate\]"):
        graphs.knn(cloud(50), 3, algorithm="approximate")
    with pytest.raises(ImportError):
        graphs.knn(cloud(50), 3, algorithm="approximate")


@pytest.mark.nightly
def test_most_neighbours_are_found_and_the_share_is_told(faiss):
    X = cloud()
    space = make_space(X)
    table, recall = approximate_nearest(space, 6)
    share = shared(table, space.nearest(6))
    assert share > 0.98
    assert recall == pytest.approx(share, abs=0.01)
    graph = graphs.knn(X, 6, algorithm="approximate", connect="none")
    assert graph.provenance.recall == recall
    assert graph.provenance.options["algorithm"] == "approximate"


def test_a_poor_search_is_reported_as_poor(faiss, monkeypatch):
    monkeypatch.setattr(approximate, "WANTED", 0.0)
    space = make_space(cloud())
    table, recall = approximate_nearest(space, 6)
    share = shared(table, space.nearest(6))
    assert share < 0.9
    assert recall == pytest.approx(share, abs=0.05)


@pytest.mark.nightly
def test_same_seed_same_graph_whatever_the_threads(faiss, monkeypatch):
    monkeypatch.setattr(approximate, "WANTED", 0.5)
    space = make_space(cloud(2000))
    threads = faiss.omp_get_max_threads()
    tables = []
    for number in (1, 2, 2):
        faiss.omp_set_num_threads(number)
        tables.append(approximate_nearest(space, 6, seed=4)[0])
    faiss.omp_set_num_threads(threads)
    assert np.array_equal(tables[0], tables[1])
    assert np.array_equal(tables[1], tables[2])
    assert not np.array_equal(approximate_nearest(space, 6, seed=5)[0], tables[0])


@pytest.mark.parametrize("n", [4, 30, 90])
def test_few_points_are_searched_in_full(faiss, n):
    X = cloud(n, features=3)
    k = min(5, n - 1)
    table, recall = approximate_nearest(make_space(X), k)
    assert np.array_equal(table, make_space(X).nearest(k))
    assert recall == 1.0


@pytest.mark.nightly
def test_lengths_are_exact_and_sorted_though_the_library_is_not(faiss):
    X = cloud(1500, features=12) + 1e5
    space = make_space(X)
    table = approximate_nearest(space, 6)[0]
    length = space.sqdist(np.arange(1500)[:, None], table)
    assert (np.diff(length, axis=1) >= 0).all()
    assert not (table == np.arange(1500)[:, None]).any()
    graph = graphs.knn(X, 6, algorithm="approximate", connect="none")
    assert np.array_equal(graph.sqdist, space.sqdist(*graph.edges.T))


def test_cells_with_too_few_points_are_made_up_for(faiss, monkeypatch):
    monkeypatch.setattr(approximate, "WANTED", 0.0)
    rng = np.random.default_rng(0)
    # Most points in one tight cluster, and a cell or more with fewer points than neighbours asked.
    X = np.vstack([rng.standard_normal((400, 3)), 1e3 * rng.standard_normal((12, 3))])
    table = approximate_nearest(make_space(X), 20)[0]
    assert all(len(set(row)) == 20 for row in table.tolist())
    assert not (table == np.arange(len(X))[:, None]).any()
