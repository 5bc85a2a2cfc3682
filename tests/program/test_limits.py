"""Limits on traces and scalars hold at feasible points, and are as tight as rows are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import graphs, methods
from sdpdr.blocks import Band
from sdpdr.linalg import Diagonal, SvecMap, Trace, VectorMap
from sdpdr.linalg.svec import svec_size
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable
from sdpdr.program.limits import VariableLimits, norms_from_anchors, spread_about_centre


def on_matrix(row):
    return VariableLimits(SDP((PsdVariable("X", 3),), {}, (row,)))


def test_a_trace_is_limited_by_its_row():
    limit = on_matrix(Rows("trace", "<=", {"X": 2.0 * Trace(3)}, np.array([5.0]))).trace("X")
    assert limit.value == pytest.approx(2.5)
    assert limit.source == "a row that limits it"


def test_a_diagonal_limits_the_trace():
    limit = on_matrix(Rows("ones", "==", {"X": Diagonal(3)}, np.array([1.0, 2.0, 3.0]))).trace("X")
    assert limit.value == pytest.approx(6.0)
    assert limit.source == "limits of its diagonal"


@pytest.mark.nightly
@settings(max_examples=20, derandomize=True)
@given(seed=st.integers(0, 10_000), n=st.integers(3, 15))
def test_geodesics_limit_every_embedding_with_those_lengths(seed, n):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, 2))
    centred = points - points.mean(axis=0)
    graph = graphs.knn(points, min(3, n - 1), connect="mst")
    for relation in ("inequality", "equality", Band(0.1)):
        limit = VariableLimits(methods.mvu(graph, relation).to_sdp()).trace("K")
        assert limit.value >= np.sum(centred**2)
    lengths = np.sqrt(graph.sqdist)
    weights = rng.uniform(0.5, 2.0, n)
    about = points - weights @ points / weights.sum()
    spread = spread_about_centre(n, graph.edges, lengths, weights)
    assert spread >= weights @ np.sum(about**2, axis=1)
    known = np.full(n, np.inf)
    known[:2] = np.linalg.norm(points[:2], axis=1)
    norms = norms_from_anchors(n, graph.edges, lengths, known)
    assert np.all(norms >= np.linalg.norm(points, axis=1))


@pytest.mark.nightly
@settings(max_examples=25, derandomize=True)
@given(seed=st.integers(0, 10_000))
def test_boxes_hold_at_feasible_points(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 2))
    values = {"X": root @ root.T, "f": rng.standard_normal(3), "s": rng.uniform(0, 2, 3)}
    maps = {
        "X": SvecMap(3, rng.integers(-2, 3, (6, svec_size(3))) * (rng.random((6, 6)) < 0.4)),
        "f": VectorMap(rng.integers(-2, 3, (6, 3)) * (rng.random((6, 3)) < 0.4)),
        "s": VectorMap(rng.integers(-2, 3, (6, 3)) * (rng.random((6, 3)) < 0.4)),
    }
    reached = sum(a.apply(values[name]) for name, a in maps.items())
    sdp = SDP(
        (PsdVariable("X", 3), VectorVariable("f", 3), VectorVariable("s", 3, nonnegative=True)),
        {},
        (
            Rows("rows", "==", maps, reached),
            Rows("trace", "<=", {"X": Trace(3)}, np.array([np.trace(values["X"])])),
            Rows("box", "<=", {"s": VectorMap(np.eye(3))}, values["s"]),
        ),
    )
    limits = VariableLimits(sdp)
    for name in ("f", "s"):
        low, high = limits.box(name)
        assert np.all(low <= values[name] + 1e-9)
        assert np.all(values[name] <= high + 1e-9)
    assert limits.trace("X").value >= np.trace(values["X"])
