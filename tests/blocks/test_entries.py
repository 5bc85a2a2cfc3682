"""Blocks on single entries and row sums: what they say at points made to keep or break them."""

import numpy as np
import pytest

from sdpdr import check_block
from sdpdr.blocks import (
    Dispersion,
    Gram,
    LeastTrace,
    NonNegative,
    OtherSums,
    RowSums,
    TraceAtMost,
    UnitDiagonal,
)
from sdpdr.errors import ShapeError
from sdpdr.linalg import check_map
from sdpdr.linalg.letters import Letters
from sdpdr.model import Model
from sdpdr.model.blocks.entries import NeighbourSums
from sdpdr.program import Factor

PAIRS = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
K = np.array(
    [[2.0, 1.0, 0.5, -0.25], [1.0, 3.0, 0.0, 2.0], [0.5, 0.0, 1.0, 0.1], [-0.25, 2.0, 0.1, 4.0]]
)
ALL = [
    NonNegative(4),
    NonNegative(4, PAIRS),
    RowSums(4, PAIRS, np.arange(4.0)),
    RowSums(4, [[0, 0], [0, 1], [3, 3]], 1.0),
    TraceAtMost(4, 2.0),
    TraceAtMost(4, 2.0, np.array([1.0, 2.0, 1.0, 1.0])),
    LeastTrace(4),
    UnitDiagonal(4),
    Dispersion(4),
    Dispersion(4, np.array([2.0, 1.0, 1.0, 3.0]), most=False),
]


@pytest.mark.daily(4)
@pytest.mark.parametrize("block", ALL, ids=lambda b: b.label)
def test_the_laws_of_blocks_hold(block):
    assert "compilers: standard form and cvxpy agree" in check_block(block)


@pytest.mark.parametrize(
    "linear_map",
    [
        NeighbourSums(4, PAIRS),
        NeighbourSums(3, [[0, 0], [1, 0]]),
        OtherSums(4),
        OtherSums(3, [2, 1, 4]),
    ],
)
def test_the_laws_of_maps_hold(linear_map):
    check_map(linear_map)
    assert linear_map.formula("K", Letters())[0].startswith("Σ_i")


def violations(block):
    return next(iter(Model((Gram(4), block)).violations({"K": K}).values()))


def test_the_most_negative_entry_is_the_violation():
    assert violations(NonNegative(4)) == pytest.approx(0.25)
    assert violations(NonNegative(4, PAIRS)) == 0.0


def test_sums_over_neighbours_are_those_of_a_mask():
    mask = np.zeros((4, 4))
    mask[PAIRS[:, 0], PAIRS[:, 1]] = 1.0
    mask += mask.T
    np.testing.assert_allclose(NeighbourSums(4, PAIRS).apply(K), (mask * K).sum(axis=1))
    with_self = NeighbourSums(4, np.vstack([PAIRS, np.tile(np.arange(4)[:, None], 2)]))
    np.testing.assert_allclose(with_self.apply(K), ((mask + np.eye(4)) * K).sum(axis=1))
    assert violations(RowSums(4, PAIRS, (mask * K).sum(axis=1))) < 1e-12
    assert violations(RowSums(4, PAIRS, (mask * K).sum(axis=1) + 0.5)) == pytest.approx(0.5)


def test_other_sums_count_copies_but_not_the_point_itself():
    np.testing.assert_allclose(OtherSums(4).apply(K), K.sum(axis=1) - np.diag(K))
    counts = np.array([2, 1, 3, 1])
    nodes = np.repeat(np.arange(4), counts)
    samples = K[np.ix_(nodes, nodes)]
    expected = samples.sum(axis=1) - np.diag(samples)
    np.testing.assert_allclose(OtherSums(4, counts).apply(K)[nodes], expected)


def test_dispersion_is_the_variance_about_the_mean_wherever_the_points_are():
    points = np.random.default_rng(3).standard_normal((4, 2)) + 5.0
    counts = np.array([2.0, 1.0, 1.0, 3.0])
    samples = np.repeat(points, counts.astype(int), axis=0)
    variance = np.sum(np.square(samples - samples.mean(axis=0)))
    most = Gram(4) + Dispersion(4, counts)
    least = Gram(4) + Dispersion(4, counts, most=False)
    assert most.objective({"K": Factor(points)}) == pytest.approx(variance)
    assert least.objective({"K": Factor(points)}) == pytest.approx(variance)
    assert most.is_maximization
    assert not least.is_maximization


def test_trace_and_diagonal():
    assert violations(TraceAtMost(4, 9.0)) == pytest.approx(1.0)
    assert violations(TraceAtMost(4, 9.0, np.array([1.0, 2.0, 1.0, 1.0]))) == pytest.approx(4.0)
    assert violations(UnitDiagonal(4)) == pytest.approx(3.0)
    assert (Gram(4) + LeastTrace(4)).objective({"K": K}) == pytest.approx(10.0)


def test_densities_of_another_length_are_refused():
    with pytest.raises(ShapeError, match="4 values"):
        list(RowSums(4, PAIRS, [1.0, 2.0]).terms())
