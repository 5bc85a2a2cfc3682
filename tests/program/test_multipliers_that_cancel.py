"""Rows without variables have to hold, and multipliers that cancel prove nothing false."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest

import sdpdr
from sdpdr import Status
from sdpdr.linalg import Diagonal, Entries, InnerProduct, SvecMap, Trace, VectorMap
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows, VectorVariable
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers import Outcome, Solver

from ..proofs import attain, certify


@dataclass(frozen=True)
class Told(Solver):
    """Says what it is told to say."""

    name: ClassVar[str] = "told"
    package: ClassVar[str] = "numpy"
    module: ClassVar[str] = "numpy"
    forms: ClassVar[tuple[str, ...]] = ("gram",)
    point: Point = field(default_factory=Point)

    def run(self, sdp, progress=None):
        return Outcome(self.point, Verdict.SOLVED, Claim("told"))


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["clarabel", "lowrank", "auto"])
def test_rows_proportional_once_rounded_are_not_taken_for_proportional(solver):
    # 2 (0.17) X12 = 1 and 2 (0.51) X12 = 3, where the double 0.51 is not three times that of 0.17;
    # their products with the root of two are.
    lhs = SvecMap.from_entries(
        2,
        4,
        np.arange(4),
        np.array([0, 0, 0, 1]),
        np.array([1, 1, 0, 1]),
        np.array([0.17, 0.51, 1.0, 1.0]),
    )
    rows = Rows("rows", "==", {"X": lhs}, np.array([1.0, 3.0, 9.0, 9.0]))
    answer = sdpdr.solve(SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,)), solver)
    assert answer.attained is None
    assert answer.status is not Status.SOLVED


@pytest.mark.nightly
@pytest.mark.parametrize("size", [1.0, 1e8, 1e16])
def test_bounds_of_multipliers_that_cancel_are_on_the_right_side(size):
    # max t with t = X11 stated twice, tr X = 1: the minimum of -t is -1.
    one = VectorMap(np.array([[1.0]]))
    lhs = {"t": one, "X": -1.0 * Entries(2, [[0, 0]])}
    rows = (
        Rows("trace", "==", {"X": Trace(2)}, np.ones(1)),
        Rows("once", "==", lhs, np.zeros(1)),
        Rows("twice", "==", lhs, np.zeros(1)),
    )
    sdp = SDP((PsdVariable("X", 2), VectorVariable("t", 1)), {"t": -1.0 * one}, rows)
    for seed in range(3):
        y = size * (1.0 + np.random.default_rng(seed).random())
        duals = {"trace": np.array([0.5]), "once": np.array([y]), "twice": np.array([-y])}
        bound = certify(sdp, duals).bound
        assert bound is None or bound <= -1.0 + 1e-9


@pytest.mark.nightly
def test_slack_that_cancellation_hides_is_not_forgiven():
    # Two points 1e4 away from the origin and 1e-3 from each other, allowed 1e-5.
    length = InnerProduct(np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    slack = VectorMap(np.array([[1.0]]))
    rows = (
        Rows("near", "==", {"X": length, "s": slack}, np.array([1e-10])),
        Rows("size", "<=", {"X": Diagonal(3)}, np.array([1e8, 1e8, 1.0])),
    )
    variables = (PsdVariable("X", 3), VectorVariable("s", 1, nonnegative=True))
    sdp = SDP(variables, {"X": -1.0 * length}, rows)
    far = Factor(np.array([[1e4, 0.0], [1e4, 1e-3], [0.0, 0.0]]))
    point = Point({"X": far, "s": np.zeros(1)}, {"near": np.ones(1), "size": np.zeros(3)})
    found = attain(sdp, point)
    assert found.value is None or found.value >= -1e-10 * (1.0 + 1e-6)
    answer = sdpdr.solve(sdp, Told(point=point), "gram", gap_scale=1.0)
    assert answer.attained is None or answer.attained >= -1e-10 * (1.0 + 1e-6)
