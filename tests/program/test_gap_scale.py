"""What gaps of an optimum of zero are relative to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import minimize, scalar, square
from sdpdr.errors import DataError
from sdpdr.linalg import InnerProduct, Trace
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.program.sizes import gap_scale


def zero_optimum(scale):
    """Minimise X_22 with trace ``scale``: the optimum is zero."""
    trace = Rows("trace", "==", {"X": Trace(2)}, np.array([scale]))
    return SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.diag([0.0, 1.0]))}, (trace,))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_an_optimum_of_zero_is_certified_beside_a_scale_that_was_given(scale):
    sdp = zero_optimum(scale)
    assert gap_scale(sdp) == pytest.approx(scale / np.sqrt(2))
    solution = sdpdr.solve(sdp, "clarabel", gap_scale=gap_scale(sdp))
    assert solution.gap_scale == gap_scale(sdp)
    assert abs(solution.value) < 1e-6 * solution.gap_scale
    assert solution.certified()
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.record()["gap_scale"] == solution.gap_scale


@pytest.mark.parametrize("factor", [1e-3, 7.0])
def test_the_scale_of_gaps_follows_the_units(factor):
    sdp = zero_optimum(1.0)
    assert gap_scale(zero_optimum(factor)) == pytest.approx(factor * gap_scale(sdp))
    cost = InnerProduct(factor * np.diag([0.0, 1.0]))
    assert gap_scale(SDP(sdp.variables, {"X": cost}, sdp.rows)) == pytest.approx(
        factor * gap_scale(sdp)
    )
    rows = (Rows("trace", "==", {"X": factor * Trace(2)}, np.array([factor])),)
    assert gap_scale(SDP(sdp.variables, sdp.objective, rows)) == pytest.approx(gap_scale(sdp))


@pytest.mark.parametrize("penalty", [abs, square])
@pytest.mark.parametrize("eighths", [[3], [4000, -3999, 5, 0]])
def test_an_optimum_of_zero_at_numbers_of_few_digits_is_attained_exactly(penalty, eighths):
    t = scalar("t", len(eighths))
    solution = sdpdr.solve(minimize(penalty(t - np.array(eighths) / 8.0).sum()))
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.attained == 0.0
    assert -1e-300 < solution.bound <= 0.0


@pytest.mark.parametrize("penalty", [abs, square])
def test_an_optimum_of_zero_is_enclosed_by_numbers_next_to_it(penalty):
    t = scalar("t", 3)
    solution = sdpdr.solve(minimize(penalty(t - np.array([0.1, -2.3, 5.0])).sum()))
    assert -1e-9 <= solution.bound <= 0.0 <= solution.attained <= 1e-6


def test_no_tolerance_certifies_what_is_not_proved():
    solution = sdpdr.solve(zero_optimum(1.0), "clarabel", gap_scale=1.0)
    assert solution.certified(np.inf)
    assert not replace(solution, bound=None).certified(np.inf)
    assert not replace(solution, attained=None).certified(np.inf)


@pytest.mark.parametrize("scale", [-1.0, np.inf, np.nan])
def test_a_gap_scale_that_would_certify_anything_is_refused(scale):
    with pytest.raises(DataError, match="gap_scale"):
        sdpdr.solve(zero_optimum(1.0), gap_scale=scale)
