"""Facial reduction around a solve: what comes back is about the original program."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.facing import deeper, faced_program
from sdpdr.program import Status
from sdpdr.reduce import facial_reduction
from sdpdr.solvers.registry import SOLVERS

from .degenerate_programs import lying, program


@pytest.mark.parametrize("solver", ["auto", "clarabel", "cvxopt", "scs", "csdp"])
@pytest.mark.parametrize(("limit", "value"), [(None, 1.0), (1e3, 2.0), (1e6, 2.0)])
def test_the_answer_is_exact_or_not_certified(solver, limit, value):
    if solver != "auto" and not SOLVERS[solver].availability().usable:
        pytest.skip(f"{solver} is not installed")
    answer = sdpdr.solve(lying(limit), solver)
    assert len(answer.exposures) == 1
    assert answer.exposures[0].check(lying(limit))
    n = lying(limit).variable("X").n
    assert answer.values["X"].shape == (n, n)
    np.testing.assert_array_equal(answer.values["X"][0], 0.0)
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
    assert json.loads(json.dumps(answer.record()))["exposures"][-1] == answer.argument


def test_programs_with_interior_are_solved_as_they_are():
    model = methods.mvu(graphs.path([1.0, 2.0]))
    assert faced_program(model) is None
    assert sdpdr.solve(model).exposures == ()


def test_a_solver_is_lent_where_no_interior_was_found():
    sdp = program(
        3, [(1, 1, 1)], ([(1, 1, 1), (2, 2, -1)], 1), ([(2, 2, 1), (3, 3, 1), (1, 1, -1)], -1)
    )
    assert faced_program(sdp) is None
    found = deeper(sdp)
    assert found.sdp.variable("X").n == 2
    assert deeper(sdp, facial_reduction(sdp)) is not None
    assert deeper(sdp, found) is None
