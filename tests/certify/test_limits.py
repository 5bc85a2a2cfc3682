"""Limits on traces and scalars hold at feasible points, and are as tight as constraints are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import graphs, methods
from sdpdr.blocks import Band
from sdpdr.certify.bounds.limits import VariableLimits, norms_along_edges
from sdpdr.linalg import (
    Diagonal,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    Stacked,
    SvecMap,
    Trace,
    VectorMap,
)
from sdpdr.linalg.svec import svec_size
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable


def on_matrix(*rows):
    return VariableLimits(SDP((PsdVariable("X", 3),), {}, rows))


def test_rows_on_the_diagonal_limit_the_trace():
    whole = Rows("trace", "<=", {"X": 2.0 * Trace(3)}, np.array([5.0]))
    each = Rows("ones", "==", {"X": Diagonal(3)}, np.array([1.0, 2.0, 3.0]))
    pair = Rows("pair", "==", {"X": InnerProduct(np.diag([1.0, 1.0, 0.0]))}, np.array([1.5]))
    assert on_matrix(whole).trace("X") == pytest.approx(2.5)
    assert on_matrix(each).trace("X") == pytest.approx(6.0)
    assert on_matrix(each, pair).trace("X") == pytest.approx(4.5)
    assert on_matrix(each, whole, pair).trace("X") == pytest.approx(2.5)
    assert on_matrix(pair).trace("X") == np.inf


@pytest.mark.parametrize("off", [0.4, 0.5, 0.6])
def test_a_form_limits_by_what_its_diagonal_outweighs(off):
    form = 2.0 * off * (np.ones((3, 3)) - np.eye(3)) / 2.0 + np.eye(3)
    limit = on_matrix(Rows("form", "<=", {"X": InnerProduct(form)}, np.array([1.0]))).trace("X")
    assert limit == (pytest.approx(1.0 / (1.0 - 2.0 * off)) if off < 0.5 else np.inf)


def test_entries_that_cancel_limit_no_more_than_their_exact_sum():
    # 1e17 + 9 - 1e17 is 16 in doubles, where the row says that X11 is at most 1 / 9.
    parts = [InnerProduct(np.diag([a, 0.0, 0.0])) for a in (1e17, 9.0, -1e17)]
    rows = (
        Rows("first", "<=", {"X": parts[0] + parts[1] + parts[2]}, np.ones(1)),
        Rows("others", "<=", {"X": InnerProduct(np.diag([0.0, 1.0, 1.0]))}, np.ones(1)),
    )
    assert on_matrix(*rows).trace("X") >= 1.0 + 1.0 / 9.0


def test_other_parts_count_with_their_least_value():
    # tr X <= 1 + z, 2 z <= 3 and tr Y <= 2 X11.
    variables = (
        PsdVariable("X", 2), PsdVariable("Y", 2), VectorVariable("z", 1, nonnegative=True)
    )  # fmt: skip
    less = {"Y": Trace(2), "X": InnerProduct(np.diag([-2.0, 0.0]))}
    rows = (
        Rows("less", "<=", less, np.zeros(1)),
        Rows("first", "<=", {"X": Trace(2), "z": VectorMap([[-1.0]])}, np.ones(1)),
        Rows("top", "<=", {"z": VectorMap([[2.0]])}, np.array([3.0])),
    )
    limits = VariableLimits(SDP(variables, {}, rows))
    assert limits.trace("X") == pytest.approx(2.5)
    assert limits.trace("Y") == pytest.approx(5.0)
    assert limits.box("z")[1][0] == pytest.approx(1.5)


@settings(max_examples=8, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(3, 15))
def test_shortest_paths_limit_every_embedding_with_those_lengths(seed, n):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, 2))
    centred = points - points.mean(axis=0)
    graph = graphs.knn(points, min(3, n - 1), connect="mst")
    for relation in ("inequality", "equality", Band(0.1)):
        limit = VariableLimits(methods.mvu(graph, relation).to_sdp()).trace("K")
        assert np.sum(centred**2) <= limit < np.inf
    known = np.full(n, np.inf)
    known[:2] = np.linalg.norm(points[:2], axis=1)
    norms = norms_along_edges(graph.edges, np.sqrt(graph.sqdist), known)
    assert np.all(norms >= np.linalg.norm(points, axis=1))
    assert np.all(np.isfinite(norms))


def test_the_first_point_is_the_root_of_shortest_paths():
    # On a path of two unit steps the squares are at most 0, 1 and 4.
    assert VariableLimits(methods.mvu(graphs.path([1.0, 1.0])).to_sdp()).trace("K") == (
        pytest.approx(5.0)
    )


def test_points_about_a_centre_of_weights():
    # The points 0 and 1 with weights 2 and 1 have their centre at 1 / 3.
    rows = (
        Rows("centred", "==", {"K": Products(2, np.array([2.0, 1.0]))}, np.zeros(2)),
        Rows("length", "<=", {"K": SquaredEdgeLengths(2, [[0, 1]])}, np.ones(1)),
    )
    limit = VariableLimits(SDP((PsdVariable("K", 2),), {}, rows)).trace("K")
    assert 5.0 / 9.0 <= limit == pytest.approx(1.0)
    swapped = replace(rows[0], lhs={"K": Products(2, np.array([1.0, 2.0]))})
    limit = VariableLimits(SDP((PsdVariable("K", 2),), {}, (swapped, rows[1]))).trace("K")
    assert 5.0 / 9.0 <= limit == pytest.approx(2.0)


@settings(max_examples=10, derandomize=True, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_limits_hold_at_feasible_points(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 2))
    values = {"X": root @ root.T, "f": rng.standard_normal(3), "s": rng.uniform(0, 2, 3)}
    maps = {
        "X": SvecMap(3, rng.integers(-2, 3, (6, svec_size(3))) * (rng.random((6, 6)) < 0.4)),
        "f": VectorMap(rng.integers(-2, 3, (6, 3)) * (rng.random((6, 3)) < 0.4)),
        "s": VectorMap(rng.integers(-2, 3, (6, 3)) * (rng.random((6, 3)) < 0.4)),
    }
    reached = sum(a.apply(values[name]) for name, a in maps.items())
    variables = (
        PsdVariable("X", 3), VectorVariable("f", 3), VectorVariable("s", 3, nonnegative=True)
    )  # fmt: skip
    trace = np.array([np.trace(values["X"])])
    rows = (
        Rows("rows", "==", maps, reached),
        Rows("trace", "<=", {"X": Stacked([Trace(3)])}, trace),
        Rows("box", "<=", {"s": VectorMap(np.eye(3))}, values["s"]),
    )
    limits = VariableLimits(SDP(variables, {}, rows))
    for name in ("f", "s"):
        low, high = limits.box(name)
        assert np.all(low <= values[name] + 1e-9)
        assert np.all(values[name] <= high + 1e-9)
    assert trace[0] <= limits.trace("X") <= trace[0] * (1.0 + 1e-9)
