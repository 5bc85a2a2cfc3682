"""Proofs heed a deadline: laws with a clock that goes on a second whenever somebody looks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status, blocks, graphs, methods, soften
from sdpdr.base import deadline as clocks
from sdpdr.base.arrays import placed
from sdpdr.base.deadline import Deadline, Effort, EffortSpentError
from sdpdr.linalg import Entries, Trace
from sdpdr.program import SDP, Point, PsdVariable, Rows
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.attain.local import both_sides
from sdpdr.program.certificate import certify
from sdpdr.program.certificate.arithmetic import Plain
from sdpdr.program.certificate.general import general
from sdpdr.program.certificate.moving import moves
from sdpdr.solvers import LowRank


class Clock:
    """One second a look."""

    def __init__(self):
        self.looks = 0

    def monotonic(self):
        self.looks += 1
        return float(self.looks)


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(clocks, "monotonic", made.monotonic)
    return made


def between_known_points(n):
    """A row of n steps between ends twice as far apart as the lengths: 3 n is the least price."""
    ends = np.array([[0.0], [2.0 * n]])
    lengths = blocks.AnchoredLengths(graphs.path(np.ones(n)), np.array([0, n]), ends, exact=True)
    return (blocks.Coordinates(n - 1, 1) + soften(lengths, 1.0)).to_sdp()


def forces(sdp, n):
    return {r.label: np.full(r.m, -0.99 if r.m == n else 0.0) for r in sdp.rows}


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [0.0, 1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 1e9])
def test_a_proof_looks_at_the_clock_no_more_once_the_time_is_up(clock, seconds):
    n = 6
    sdp = between_known_points(n)
    found = certify(sdp, forces(sdp, n), deadline=Deadline(seconds))
    assert clock.looks <= seconds + 2.0
    assert found.bound is None or found.bound <= 3.0 * n * (1.0 + 1e-9)


def test_a_proof_without_time_says_so_and_one_with_time_has_the_bound(clock):
    n = 6
    sdp = between_known_points(n)
    with pytest.raises(EffortSpentError, match="time was up"):
        general(sdp, forces(sdp, n), Plain(), Effort(Deadline(0.0)))
    assert general(sdp, forces(sdp, n), Plain(), Effort(Deadline(1e9))).bound is not None


@pytest.mark.parametrize("turned", [False, True])
def test_no_further_argument_is_tried_once_one_is_good_enough(monkeypatch, turned):
    n, tried = 6, []

    def counted(sdp, effort):
        for move in moves(sdp, effort):
            tried[-1] += 1
            yield move

    monkeypatch.setattr("sdpdr.program.certificate.general.moves", counted)
    sdp = replace(between_known_points(n), maximize=turned)  # the price, or its opposite, reported
    sign = -1.0 if turned else 1.0
    for goal in (-sign, None):
        tried.append(0)
        found = certify(sdp, forces(sdp, n), goal=goal)
        assert -1.0 <= sign * found.bound <= 3.0 * n * (1.0 + 1e-9)
    assert tried[0] < tried[1]


def test_a_search_that_ran_out_of_time_begins_anew_for_who_has_time(clock):
    sdp = between_known_points(6)
    for seconds in (0.0, 1.0, 2.0):
        with pytest.raises(EffortSpentError, match="time was up"):
            list(moves(sdp, Effort(Deadline(seconds))))
    again, fresh = moves(sdp), moves(between_known_points(6))
    for one, other in zip(again, fresh, strict=True):
        assert one.words == other.words
        for label, y in one.by.items():
            np.testing.assert_array_equal(y, other.by[label])


def test_to_write_a_program_over_cones_heeds_the_deadline(clock):
    sdp = methods.mvu(graphs.path([1.0, 2.0, 1.0])).to_sdp()
    with pytest.raises(EffortSpentError, match="time was up"):
        cone_program(sdp, deadline=Deadline(0.0))


def test_a_point_with_nothing_right_is_no_answer_of_who_was_stopped():
    """A first point that breaks every row has any value, and one that is better than all."""
    roll = graphs.knn(np.random.default_rng(0).standard_normal((20, 3)), n_neighbors=4)
    solver = LowRank(options={"engine": "general"}, time_limit=0.0)
    found = sdpdr.solve(methods.mvu(roll, "equality"), solver)
    assert found.status is Status.TIME_LIMIT
    assert not found.values
    assert np.isnan(found.value)
    assert "misses the program" in found.attained_by


@pytest.mark.parametrize("seed", range(5))
def test_blocks_at_their_places_are_those_of_a_matrix_in_blocks(seed):
    rng = np.random.default_rng(seed)
    heights, widths = rng.integers(0, 4, 5), rng.integers(1, 4, 4)
    grid = [
        [sp.random_array((m, n), density=0.5, rng=rng, format="csr") for n in widths]
        for m in heights
    ]
    present = rng.random((5, 4)) < 0.4
    top, left = np.cumsum([0, *heights]), np.cumsum([0, *widths])
    blocks_there = [(int(top[i]), int(left[j]), grid[i][j]) for i, j in np.argwhere(present)]
    whole = np.block([[grid[i][j].toarray() * present[i, j] for j in range(4)] for i in range(5)])
    found = placed(blocks_there, (int(top[-1]), int(left[-1])))
    np.testing.assert_array_equal(found.toarray(), whole)


@pytest.mark.parametrize("seconds", [0.0, 1.0, 2.0, 4.0, 1e9])
def test_both_sides_look_at_the_clock_no_more_once_the_time_is_up(clock, seconds):
    """The least trace with X_11 = 1, from a point that breaks its row: 1 is the optimum."""
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,))
    near = Point({"X": np.diag([1.0, -1e-9])}, {"corner": np.full(1, -1.0 - 1e-9)})
    found = both_sides(sdp, near, 1e-6, deadline=Deadline(seconds))
    assert clock.looks <= seconds + 3.0  # one for either side, and one at the beginning
    if seconds in (0.0, 1e9):
        assert found.meet == (seconds == 1e9)
    if found.meet:
        assert found.certificate.bound <= 1.0 <= found.attained.value


def test_multipliers_that_are_known_to_move_to_are_not_tried_after_the_deadline(clock):
    n = 6
    sdp = between_known_points(n)
    assert general(sdp, forces(sdp, n), Plain(), Effort(Deadline(1e9))).bound is not None
    known = clock.looks
    with pytest.raises(EffortSpentError):
        general(sdp, forces(sdp, n), Plain(), Effort(Deadline(0.0)))
    assert clock.looks <= known + 2.0
