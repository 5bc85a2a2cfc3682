"""Facial reduction around a solve: what comes back is about the original program."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.program import Factor, Point, Status
from sdpdr.program.residuals import dimacs_errors
from sdpdr.reduce import facial_reduction

from .degenerate_programs import lying, program


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["auto", "clarabel", "scs"])
@pytest.mark.parametrize(("limit", "value"), [(None, 1.0), (1e3, 2.0), (1e6, 2.0)])
def test_the_answer_is_exact_or_not_certified(solver, limit, value):
    answer = sdpdr.solve(lying(limit), solver)
    assert len(answer.exposures) == 1
    assert answer.exposures[0].check(lying(limit))
    n = lying(limit).variable("X").n
    assert answer.values["X"].shape == (n, n)
    found = answer.values["X"]
    dense = found.dense() if isinstance(found, Factor) else found
    np.testing.assert_array_equal(dense[0], 0.0)
    if answer.certified():
        assert answer.value == pytest.approx(value, rel=1e-5)
    if solver in ("auto", "clarabel"):
        assert answer.status is Status.SOLVED


def test_a_rigorous_bound_is_one_of_the_original_program():
    answer = sdpdr.solve(lying(1e6), rigorous=True)
    assert answer.rigorous
    assert 2.0 - 1e-5 < answer.bound <= 2.0
    assert "on the face that 1 exposing steps prove" in answer.argument


def test_infeasible_programs_come_back_with_their_proof():
    sdp = program(2, [], ([(1, 1, 1)], 0), ([(1, 2, 1)], 2))
    answer = sdpdr.solve(sdp)
    assert answer.status is Status.INFEASIBLE
    assert answer.exposures[-1].proved.contradiction
    assert all(step.check(sdp) for step in answer.exposures)
    assert json.loads(json.dumps(answer.record()))["exposures"][-1]["words"] == answer.argument


def test_programs_with_interior_are_solved_as_they_are():
    model = methods.mvu(graphs.path([1.0, 2.0]))
    assert not facial_reduction(model.to_sdp())
    assert sdpdr.solve(model).exposures == ()


def test_a_direction_of_unlimited_gain_is_one_of_the_original_program():
    # X11 = 0 clears a row and a column; nothing limits X33.
    sdp = program(3, [(3, 3, -1)], ([(1, 1, 1)], 0), ([(2, 2, 1)], 1))
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is Status.UNBOUNDED
    assert answer.exposures
    assert answer.ray.values["X"].shape == (3, 3)
    told = json.loads(json.dumps(answer.record()))["ray"]
    values = {name: np.array(x) for name, x in told["values"].items()}
    assert {name: np.shape(x) for name, x in values.items()} == {
        v.name: v.extents for v in sdp.variables
    }


def test_a_direction_found_in_other_units_is_one_in_those_of_the_original():
    sdp = program(2, [(2, 2, -(2.0**-40))], ([(1, 1, 2.0**40)], 1))
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is Status.UNBOUNDED


def test_errors_are_measured_in_the_units_of_the_original():
    sdp = program(2, [(1, 1, 1), (2, 2, 2.0**-40)], ([(1, 1, 2.0**40)], 1), ([(2, 2, 1)], 3))
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is Status.SOLVED
    again = dimacs_errors(sdp, Point(answer.values, answer.duals))
    assert answer.residuals == again
    assert answer.backward_error <= 1e-6
