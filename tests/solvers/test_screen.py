"""What of a solver's answer is let through to the computations that follow."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.blocks import Slack
from sdpdr.program import Claim, Factor, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Outcome
from sdpdr.solvers.screen import screen


@pytest.fixture
def sdp():
    """One 4 x 4 matrix, four scalars, four rows on edges and four that centre."""
    return methods.mvu(graphs.cycle(4), Slack(10.0)).to_sdp()


@pytest.fixture
def point(sdp):
    return sdp.zero_point()


def screened(sdp, values, duals, verdict=Verdict.SOLVED):
    return screen(sdp, Outcome(Point(values, duals), verdict, Claim("optimal", 1.0, 5, "words")))


@pytest.mark.parametrize("factor", [False, True])
def test_a_sound_answer_is_left_alone(sdp, point, factor):
    values = {**point.values, "K": Factor(np.zeros((4, 2)))} if factor else point.values
    outcome = Outcome(Point(values, point.duals), Verdict.SOLVED, Claim("optimal"))
    assert screen(sdp, outcome) is outcome


WRONG = {
    "nan": (np.full((4, 4), np.nan), "are not finite for 'K'"),
    "inf": (np.full((4, 4), np.inf), "are not finite for 'K'"),
    "huge": (np.full((4, 4), -1e101), "are beyond 1e+100 for 'K'"),
    "factor of nan": (Factor(np.full((4, 2), np.nan)), "are not finite for 'K'"),
    "too small": (np.eye(3), "have shape (3, 3) for 'K' rather than (4, 4)"),
    "factor too small": (Factor(np.ones((3, 2))), "have shape (3, 3) for 'K'"),
    "a vector": (np.ones(16), "have shape (16,) for 'K'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values_are_dropped_and_success_becomes_failure(sdp, point, name):
    value, words = WRONG[name]
    outcome = screened(sdp, {**point.values, "K": value}, point.duals)
    assert outcome.verdict is Verdict.FAILED
    assert outcome.point.values == {}
    assert outcome.point.duals == point.duals
    assert outcome.claim.message.startswith("words Its values were not used")
    assert words in outcome.claim.message
    assert (outcome.claim.status, outcome.claim.value) == ("optimal", 1.0)


@pytest.mark.parametrize("missing", [0, 1])
def test_values_that_are_not_complete_are_dropped(sdp, point, missing):
    name = sdp.variables[missing].name
    values = {k: v for k, v in point.values.items() if k != name}
    outcome = screened(sdp, values, point.duals)
    assert outcome.point.values == {}
    assert f"lack {name!r}" in outcome.claim.message


@pytest.mark.parametrize("dual", [np.full(4, np.nan), np.ones(3), np.ones((4, 1))])
def test_wrong_multipliers_are_dropped_and_the_point_kept(sdp, point, dual):
    label = next(r.label for r in sdp.rows if r.label.startswith("isometry"))
    outcome = screened(sdp, point.values, {**point.duals, label: dual})
    assert outcome.verdict is Verdict.SOLVED
    assert outcome.point.values == point.values
    assert outcome.point.duals == {}
    assert "Its multipliers were not used" in outcome.claim.message


def test_missing_multipliers_are_no_fault(sdp, point):
    assert screened(sdp, point.values, {}).claim.message == "words"


@pytest.mark.parametrize(
    "verdict", [v for v in Verdict if v not in (Verdict.SOLVED, Verdict.INACCURATE)]
)
def test_a_solver_that_claims_nothing_is_not_reproached(sdp, point, verdict):
    nothing = {name: np.full_like(value, np.nan) for name, value in point.values.items()}
    outcome = screened(sdp, nothing, point.duals, verdict)
    assert outcome.point.values == {}
    assert outcome.verdict is verdict
    assert outcome.claim.message == "words"
