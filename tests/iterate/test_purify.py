"""Exact rank: truncation mended until the rows hold, and reduction that moves none."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods, minimize, psd
from sdpdr.blocks import Band
from sdpdr.errors import DataError, ModelError
from sdpdr.iterate import polish
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.program import SDP, Factor, PsdVariable


@pytest.fixture(scope="module")
def flat():
    """A flat placement and the graph of its lengths."""
    X = np.random.default_rng(0).standard_normal((15, 2))
    graph = graphs.knn(X, 4)
    return graph, X - X.mean(axis=0)


def lengths(graph, factor):
    return SquaredEdgeLengths(graph.n, graph.edges).apply_factor(factor)


@pytest.mark.nightly
@pytest.mark.parametrize("dense", [True, False])
def test_a_disturbed_placement_is_mended(flat, dense):
    graph, X = flat
    program = methods.isometric(graph).to_sdp()
    disturbed = np.hstack([X, np.zeros((15, 2))])
    disturbed = disturbed + 0.02 * np.random.default_rng(1).standard_normal((15, 4))
    value = disturbed @ disturbed.T if dense else Factor(disturbed)
    mended = polish(program, value, rank=2)
    assert mended.truncated > 1e-3
    assert mended.residual < 1e-12
    assert mended.held()
    assert mended.factor.shape == (15, 2)
    np.testing.assert_allclose(lengths(graph, mended.factor), graph.sqdist, rtol=1e-11)
    np.testing.assert_allclose(mended.factor.sum(axis=0), 0.0, atol=1e-12)
    assert mended.factor[:, 0] @ mended.factor[:, 1] == pytest.approx(0.0, abs=1e-9)


def test_a_band_and_a_floor_are_kept(flat):
    graph, X = flat
    variance = float(np.sum(X**2))
    program = methods.isometric(graph, Band(0.1), variance).to_sdp()
    mended = polish(program, Factor(0.9 * X), rank=2)
    assert mended.residual < 1e-9
    assert np.all(np.abs(lengths(graph, mended.factor) / graph.sqdist - 1.0) < 0.1 + 1e-9)
    assert np.sum(mended.factor**2) >= variance * (1.0 - 1e-9)


def test_limits_that_never_act_hide_no_violation():
    X = psd("X", 3)
    unit = (X - np.eye(3) == 0.0) + (X.diagonal() <= 1e12) + (X.trace() <= 1e12)
    mended = polish((minimize(X.trace()) + unit).to_sdp(), np.ones((3, 3)), rank=1)
    assert not mended.held()


def test_a_rank_too_low_leaves_a_residual(flat):
    graph, X = flat
    mended = polish(methods.isometric(graph).to_sdp(), Factor(X), rank=1)
    assert mended.residual > 1e-2
    assert not mended.held()
    assert "rank 1 of order 15" in repr(mended)


def test_ranks_and_programs_that_cannot_be_polished_are_named(flat):
    graph, X = flat
    program = methods.isometric(graph).to_sdp()
    with pytest.raises(DataError, match="rank"):
        polish(program, Factor(X), 0)
    with pytest.raises(DataError, match=r"1\.\.15"):
        polish(program, Factor(X), 16)
    two = SDP((PsdVariable("A", 2), PsdVariable("B", 2)), {}, ())
    with pytest.raises(ModelError, match="name the one of low rank"):
        polish(two, np.eye(2), 1)
    soft = methods.isometric(graph, sdpdr.blocks.Slack(1.0)).to_sdp()
    with pytest.raises(ModelError, match="is a vector"):
        polish(soft, Factor(X), 2, "isometry.slack")
