"""The way of the interior point: where it begins, what it assembles, when it looks for a proof."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.solvers.lowrank.general.kkt import gathered
from sdpdr.solvers.lowrank.interior.matrix import _cliques


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), order=st.integers(1, 9), count=st.integers(1, 60))
def test_pairs_are_gathered_as_sorting_them_would(seed, order, count):
    one, other = np.random.default_rng(seed).integers(order, size=(2, count))
    to, starts, columns = gathered(one, other, order)
    low, high = np.minimum(one, other), np.maximum(one, other)
    keys, inverse = np.unique(low * order + high, return_inverse=True)
    assert to.tolist() == inverse.tolist()
    assert columns.tolist() == (keys % order).tolist()
    assert starts.tolist() == np.searchsorted(keys // order, np.arange(order + 1)).tolist()


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 5), width=st.integers(1, 6))
def test_cliques_write_all_pairs_of_slopes(seed, m, width):
    rng = np.random.default_rng(seed)
    slopes, stiffness = rng.standard_normal(m * width), rng.uniform(0.1, 2.0, m)
    count = np.full(m, width)
    (clique,) = _cliques(np.arange(m * width), np.arange(m) * width, count, width)
    out = np.full(m * width * (width + 1) // 2 + 3, np.nan)
    filled = clique.fill(out, slopes, stiffness)
    first, second = clique.pairs
    every = np.triu_indices(width)
    assert sorted(zip(first, second, strict=True)) == sorted(zip(*every, strict=True))
    own = slopes.reshape(m, width).T
    wanted = stiffness * own[first] * own[second]
    assert out[:filled] == pytest.approx(wanted.ravel())
    assert np.isnan(out[filled:]).all()
