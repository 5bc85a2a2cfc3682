"""Exact searches of every kind, against brute force and against each other."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from sdpdr.graphs.points import Points

# Two values in each of many features: ties everywhere, in dimensions for trees and for brute force.
cubes = arrays(np.float64, st.tuples(st.integers(4, 40), st.integers(1, 14)),
               elements=st.integers(0, 1).map(float))  # fmt: skip


def stable_table(X, k):
    sqdist = np.square(X[:, None] - X[None]).sum(axis=-1)
    np.fill_diagonal(sqdist, np.inf)
    return np.argsort(sqdist, axis=1, kind="stable")[:, :k]


@given(X=cubes, data=st.data())
@settings(max_examples=8)
def test_every_search_breaks_ties_by_index(X, data):
    k = data.draw(st.integers(1, len(X) - 1))
    assert np.array_equal(Points(X).nearest(k), stable_table(X, k))


@given(seed=st.integers(0, 10_000), features=st.sampled_from([1, 3, 12]))
@settings(max_examples=12)
def test_nearest_between_two_sets_takes_the_first_of_equals(seed, features):
    X = np.random.default_rng(seed).integers(0, 3, (40, features)).astype(float)
    sources, targets = np.arange(0, 40, 2), np.arange(1, 40, 2)
    nearest = cdist(X[sources], X[targets], "sqeuclidean").argmin(axis=1)
    assert np.array_equal(Points(X).nearest_between(sources, targets), targets[nearest])
