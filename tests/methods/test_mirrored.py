"""Points that lengths leave on either side of a mirror."""

import numpy as np
import pytest

from sdpdr import graphs
from sdpdr.families.unfold.last_step import mirrored


def lengths_of(places, edges):
    i, j = np.asarray(edges).T
    return graphs.from_edges(len(places), edges, np.sum((places[i] - places[j]) ** 2, axis=1))


def network(r, seed, n=14, share=0.35):
    """Places, a graph of some of their lengths, and r + 1 anchors."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(size=(n, r))
    pairs = np.column_stack(np.triu_indices(n, 1))
    edges = pairs[(rng.random(len(pairs)) < share) | (pairs[:, 1] == pairs[:, 0] + 1)]
    return places, lengths_of(places, edges), np.arange(r + 1)


@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("seed", range(2))
def test_points_of_few_lengths_are_mirrored_and_others_alone_are_not(r, seed):
    """Reflecting one of them in its neighbours moves it, and changes no length."""
    places, graph, anchors = network(r, seed)
    found = mirrored(graph, anchors, places)
    assert not np.isin(found, anchors).any()
    degree = np.bincount(graph.edges.ravel(), minlength=graph.n)
    few = np.setdiff1d(np.flatnonzero(degree <= r), anchors)
    assert np.isin(few, found).all()
    for v in few:
        ends = places[np.setdiff1d(graph.edges[(graph.edges == v).any(axis=1)], [v])]
        axes = np.linalg.svd(ends - ends.mean(axis=0))[2][ends.shape[0] - 1 :]
        normal = axes[0]
        moved = places.copy()
        moved[v] -= 2.0 * normal * (normal @ (places[v] - ends.mean(axis=0)))
        again = lengths_of(moved, graph.edges)
        np.testing.assert_allclose(again.sqdist, graph.sqdist, rtol=1e-9)


@pytest.mark.parametrize("seed", range(2))
def test_nothing_moves_that_the_rank_of_motions_and_mirrors_hold(seed):
    """A dense network is globally rigid: no point of it has another place."""
    places, graph, anchors = network(2, seed, share=0.9)
    assert mirrored(graph, anchors, places).size == 0


def test_a_part_that_hangs_on_two_points_is_mirrored_in_the_plane_and_not_what_holds_it():
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(10, 2))
    core, part = np.arange(6), np.arange(6, 10)
    pairs = [(i, j) for i in core for j in core if i < j]
    pairs += [(i, j) for i in part for j in part if i < j]
    pairs += [(4, v) for v in part] + [(5, v) for v in part]
    graph = lengths_of(places, pairs)
    assert mirrored(graph, [0, 1, 2], places).tolist() == part.tolist()
    # One length to a third point holds all of it.
    held = lengths_of(places, [*pairs, (3, 9)])
    assert mirrored(held, [0, 1, 2], places).size == 0


def test_anchors_on_a_line_are_a_mirror_however_many_they_are():
    places = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [5.0, 0.0], [1.0, 1.0], [3.0, 0.0]])
    graph = lengths_of(places, [(k, v) for k in range(4) for v in (4, 5)])
    # The last point is on the line, and stays there.
    assert mirrored(graph, [0, 1, 2, 3], places).tolist() == [4]
