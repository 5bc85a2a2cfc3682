"""Every reduction pushes a start: what it lifts again is the same point."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import Entries
from sdpdr.program import SDP as Program
from sdpdr.program import Factor, Point, PsdVariable, Rows, as_dense
from sdpdr.reduce import (
    Chordal,
    Composed,
    Dedupe,
    Dual,
    Face,
    Landmark,
    Scale,
    facial_reduction,
)

LENGTHS = np.linspace(1.0, 2.0, 39)
LINE = np.concatenate([[0.0], np.cumsum(LENGTHS)])
LINE = LINE - LINE.mean()
SDP = methods.mvu(graphs.path(LENGTHS)).to_sdp()
DUALS = {"centered": np.zeros(40), "isometry": -np.cumsum(LINE)[:-1] / LENGTHS}
POINT = Point({"K": np.outer(LINE, LINE)}, DUALS)
FACTORED = Point({"K": Factor(LINE[:, None])}, DUALS)
STEPS = {
    "scale": (Scale(),),
    "dedupe": (Dedupe(),),
    "face": (Face("orthonormal"),),
    "tree": (Face("sparse"),),
    "dual": (Dual(),),
    "chordal": (Face("sparse"), Chordal()),
    "landmark": (Landmark(np.vander(LINE, 4)),),
    "all": (Dedupe(), Face("sparse"), Scale(), Dual()),
}


@pytest.mark.parametrize("given", [POINT, FACTORED], ids=["dense", "factor"])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_a_point_that_is_pushed_and_lifted_is_the_same(steps, given):
    reduced = Composed(steps).apply(SDP)
    pushed = reduced.push(given)
    for v in reduced.sdp.variables:
        if v.name in pushed.values:
            assert as_dense(pushed.values[v.name]).shape == v.extents
    lifted = reduced.lift(pushed)
    np.testing.assert_allclose(as_dense(lifted.values["K"]), POINT.values["K"], atol=1e-8)
    np.testing.assert_allclose(lifted.duals["isometry"], DUALS["isometry"], rtol=1e-9)


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    "steps",
    [(Scale(),), (Face(),), (Face("sparse"), Chordal()), (Landmark(np.vander(LINE, 4)),)],
    ids=["scale", "face", "chordal", "landmark"],
)
def test_a_solver_takes_a_start_by_way_of_any_reduction(steps):
    answer = sdpdr.solve(SDP, "lowrank", via=list(steps), start=POINT, time_limit=20.0)
    assert answer.value == pytest.approx(float(LINE @ LINE), rel=1e-4)


def test_the_dual_refuses_no_start():
    """A program that the low-rank solver does not like is begun, at least."""
    rigid = methods.mvu(graphs.path(LENGTHS[:4]), "equality")
    point = Point({"K": np.eye(5)}, {"isometry": np.ones(4), "centered": np.zeros(5)})
    answer = sdpdr.solve(rigid, "lowrank", via=[Dual()], start=point, time_limit=20.0)
    assert answer.values


def test_multipliers_of_the_face_are_those_of_the_program():
    found = facial_reduction(SDP)
    assert found.push(POINT) is POINT


def test_twins_share_a_multiplier_and_a_start_joins_it_again():
    """An equation of symmetric matrices that is stated for both triangles."""
    entries = np.array([[0, 1], [1, 0], [0, 0]])
    target = np.array([[2.0, 1.0], [1.0, 2.0]])
    rows = Rows("equal", "==", {"X": Entries(2, entries)}, target[tuple(entries.T)])
    scaled = Rows("scaled", "==", {"X": -4.0 * Entries(2, entries[:1])}, np.array([-4.0]))
    reduced = Dedupe().apply(Program((PsdVariable("X", 2),), {}, (rows, scaled)))
    assert {r.label: r.m for r in reduced.sdp.rows} == {"equal": 2}
    lifted = reduced.lift(Point({}, {"equal": np.array([6.0, 5.0])}))
    assert lifted.duals["equal"].tolist() == [2.0, 2.0, 5.0]
    assert lifted.duals["scaled"].tolist() == [-0.5]
    assert reduced.push(lifted).duals["equal"].tolist() == [6.0, 5.0]


def test_looser_inequalities_share_nothing():
    lhs = {"X": Entries(2, np.array([[0, 0], [0, 0], [0, 0]]))}
    rows = Rows("limits", "<=", lhs, np.array([2.0, 1.0, 1.0]))
    reduced = Dedupe().apply(Program((PsdVariable("X", 2),), {}, (rows,)))
    assert reduced.sdp.rows[0].rhs.tolist() == [1.0]
    lifted = reduced.lift(Point({}, {"limits": np.array([3.0])}))
    assert lifted.duals["limits"].tolist() == [0.0, 1.5, 1.5]
