"""Laws of multipliers moved until they prove something: never beyond the optimum, at any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import blocks, graphs, soften
from sdpdr.program.certificate import certify


def between_known_points(n, unit=1.0):
    """A row of n steps between known ends, twice as far apart as the lengths, with their prices."""
    ends = np.array([[0.0], [2.0 * n * unit]])
    graph = graphs.path(np.full(n, unit))
    lengths = blocks.AnchoredLengths(graph, np.array([0, n]), ends, exact=True)
    return (blocks.Coordinates(n - 1, 1) + soften(lengths, 1.0)).to_sdp()


@pytest.mark.nightly
@pytest.mark.parametrize("n", [5, 40])
def test_a_row_between_ends_that_are_too_far_apart_costs_what_equal_steps_cost(n):
    """Squares of n steps that add up to 2 n are at least 4 each on average: 3 too much each."""
    found = sdpdr.solve(between_known_points(n), "lowrank")
    assert found.certified(1e-6)
    assert found.value == pytest.approx(3.0 * n, rel=1e-5)


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1), noise=st.sampled_from([0.0, 1e-8, 1e-4, 1.0]))
@settings(max_examples=30)
def test_multipliers_with_noise_prove_no_more_than_the_optimum(seed, noise):
    n = 6
    sdp, rng = between_known_points(n), np.random.default_rng(seed)
    # Equal forces along the row hold it.
    force = np.full(n, 1.0)
    duals = {
        r.label: (force if r.m == n else np.zeros(r.m)) + noise * rng.standard_normal(r.m)
        for r in sdp.rows
    }
    bound = certify(sdp, duals).bound
    assert bound is not None
    assert bound <= 3.0 * n * (1.0 + 1e-9)
