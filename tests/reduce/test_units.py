"""The unit in which lengths are measured changes neither answers nor grades."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import InfeasibleError
from sdpdr.linalg import Trace
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows, dimacs_errors
from sdpdr.reduce import Composed, Dedupe, Face, Scale

POINTS = datasets.swiss_roll(30, 0)[0]


def unfolding(unit, penalty):
    """Slack relative to the length of edges: a Gram matrix in squared units meets pure numbers."""
    graph = graphs.knn(unit * POINTS, n_neighbors=4)
    return methods.mvu(graph, Slack(200.0 * unit**2, penalty, relative=True))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("solver", "form", "unit", "penalty"),
    [("lowrank", "factor", 1e-6, "absolute"), ("clarabel", "lmi", 1e3, "square")],
)
def test_relative_slack_does_not_know_the_unit(solver, form, unit, penalty):
    one = sdpdr.solve(unfolding(1.0, penalty), "lowrank", tol=1e-7)
    other = sdpdr.solve(unfolding(unit, penalty), solver, form)
    assert one.status is other.status is Status.SOLVED
    assert other.value == pytest.approx(unit**2 * one.value, rel=2e-6)


@pytest.mark.parametrize("penalty", ["absolute", "square"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_scaled_program_is_the_same_in_any_unit(unit, penalty):
    one, other = (scaled(unfolding(u, penalty)) for u in (1.0, unit))
    for a, b in zip(one.rows, other.rows, strict=True):
        np.testing.assert_allclose(a.rhs, b.rhs, rtol=1e-8)
        for name in a.lhs:
            assert_same_map(a.lhs[name], b.lhs[name])
    for name in one.objective:
        assert_same_map(one.objective[name], other.objective[name])


def scaled(model):
    return Composed((Face("orthonormal"), Scale())).apply(model.to_sdp()).sdp


def assert_same_map(one, other):
    np.testing.assert_allclose(one.matrix().toarray(), other.matrix().toarray(), atol=1e-8)


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_a_contradiction_is_seen_in_any_unit(unit):
    trace = {"X": Trace(2)}
    rows = (
        Rows("one", "==", trace, np.array([unit])),
        Rows("other", "==", trace, np.array([1.001 * unit])),
    )
    with pytest.raises(InfeasibleError, match=r"'one'.*'other'|'other'.*'one'"):
        Dedupe().apply(SDP((PsdVariable("X", 2),), {}, rows))


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_rounding_is_no_contradiction_in_any_unit(unit):
    trace = {"X": Trace(2)}
    rows = (
        Rows("one", "==", trace, np.array([unit])),
        Rows("other", "==", trace, np.array([unit * (1.0 + 1e-15)])),
    )
    assert Dedupe().apply(SDP((PsdVariable("X", 2),), {}, rows)).sdp.n_rows == 1


def test_centring_is_measured_against_the_size_of_the_matrix():
    """A centred factor of size 1e6 misses K 1 = 0 by rounding alone; a shifted one by far."""
    sdp = unfolding(1e6, "square").to_sdp()
    centred = 1e6 * (POINTS - POINTS.mean(axis=0))
    alone = SDP(sdp.psd_variables, {}, sdp.rows[:1])
    assert dimacs_errors(alone, Point({"K": Factor(centred)})).primal_rows < 1e-12
    shifted = centred + 1e4 * np.array([1.0, 0.0, 0.0])
    assert dimacs_errors(alone, Point({"K": Factor(shifted)})).primal_rows > 1e-3
