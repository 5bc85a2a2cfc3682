"""What is shared with cvxpy: its words, its numbers of variables, and its place in memory."""

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.lin_ops.lin_utils import ID_COUNTER

from sdpdr import methods
from sdpdr.model.to_cvxpy import render_model
from sdpdr.solvers import Clarabel, Cvxopt, Mosek, Scs, Sdpa
from sdpdr.solvers.cvxpy_solver import _VERDICTS


@pytest.fixture
def counter():
    """The counter of cvxpy, to be set at will, and set beyond all that tests have made after."""
    before = ID_COUNTER.count
    yield ID_COUNTER
    ID_COUNTER.count = before + 1000


@pytest.mark.nightly
@pytest.mark.parametrize("first", [1, 40, 60, 80, 100, 120])
def test_what_a_problem_is_solved_to_does_not_depend_on_its_numbers(counter, first):
    matrix = np.random.default_rng(2).random((4, 5))
    model = methods.nmf_overlap(matrix / np.linalg.norm(matrix), 2)
    expected = Clarabel().run_rendered(render_model(model))
    counter.count = first
    rendered = render_model(model)
    counter.count = 1  # as in a worker that has just begun
    outcome = Clarabel().run_rendered(rendered)
    assert outcome.claim.value == pytest.approx(expected.claim.value, rel=1e-6)
    assert outcome.point.duals.keys() == expected.point.duals.keys()
    for label, dual in expected.point.duals.items():
        np.testing.assert_allclose(outcome.point.duals[label], dual, atol=1e-5)


def test_words_of_cvxpy_are_its_own():
    words = [cp.OPTIMAL, cp.OPTIMAL_INACCURATE, cp.INFEASIBLE, cp.INFEASIBLE_INACCURATE]
    assert list(_VERDICTS) == [*words, cp.UNBOUNDED, cp.UNBOUNDED_INACCURATE]
    assert cp.USER_LIMIT == "user_limit"
    backends = [one.backend for one in (Clarabel, Scs, Cvxopt, Sdpa, Mosek)]
    assert backends == [cp.CLARABEL, cp.SCS, cp.CVXOPT, cp.SDPA, cp.MOSEK]


def test_a_program_in_standard_form_is_solved_without_cvxpy():
    code = """
import sys
import sdpdr
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.linalg import Diagonal, InnerProduct
sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct([[0.0, 1.0], [1.0, 0.0]])},
          (Rows("ones", "==", {"X": Diagonal(2)}, [1.0, 1.0]),))
for solver in ("lowrank", "clarabel"):
    assert sdpdr.solve(sdp, solver).status is sdpdr.Status.SOLVED
assert "cvxpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
