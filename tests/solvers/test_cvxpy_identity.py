"""Problems that cvxpy numbered in one process and that are solved in another."""

import numpy as np
import pytest
from cvxpy.lin_ops.lin_utils import ID_COUNTER

from sdpdr import methods
from sdpdr.model.to_cvxpy import render_model
from sdpdr.solvers import Clarabel


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
