"""Units of rows and columns change nothing but the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr.linalg import Diagonal, InnerProduct
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows
from sdpdr.reduce import Balance
from sdpdr.testing import planted


def stretched(sizes: np.ndarray) -> SDP:
    """A max-cut of a triangle, 9 / 4, whose points have units of their own."""
    cost = -np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]]) / 4.0
    rows = Rows("diagonal", "==", {"X": sizes**2 * Diagonal(3)}, np.ones(3))
    objective = InnerProduct(cost * sizes[:, None] * sizes[None, :])
    return SDP((PsdVariable("X", 3),), {"X": objective}, (rows,), maximize=True)


SIZES = np.array([2.0**20, 1.0, 2.0**-25])


def test_balanced_coefficients_are_of_about_one_size():
    reduced = Balance().apply(stretched(SIZES)).sdp
    entries = np.abs(reduced.cost("X"))
    assert np.max(entries) < 1e3 * np.min(entries)


def test_lifting_and_pushing_undo_each_other_exactly():
    reduced = Balance().apply(stretched(SIZES))
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((3, 2))
    for value in (Factor(factor), factor @ factor.T):
        there = reduced.push(Point({"X": value})).values
        back = reduced.lift(Point(there)).values["X"]
        given, found = (v.dense() if isinstance(v, Factor) else v for v in (value, back))
        np.testing.assert_array_equal(given, found)


@pytest.mark.parametrize("solver", ["auto", "clarabel", "lowrank"])
def test_the_optimum_does_not_know_of_units(solver):
    solution = sdpdr.solve(stretched(SIZES), solver)
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(2.25, rel=1e-6)


def test_scales_over_sixty_binades_are_certified_by_auto():
    program = planted("scaled", 0)
    assert sdpdr.solve(program.sdp).certified(1e-6)


@pytest.mark.parametrize("form", ["gram", "lmi"])
def test_a_goal_with_an_entry_of_rounding_is_solved(form):
    """The best correlations put three points on a line: 2 (1 + 0.8)."""
    goal = np.array([[0.0, 6e-17, 1.0], [6e-17, 0.0, -0.8], [1.0, -0.8, 0.0]])
    K = sdpdr.psd("K", 3)
    model = sdpdr.maximize(K.inner(goal)) + (K.diagonal() == 1.0)
    solution = sdpdr.solve(model, "clarabel", form=form)
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(3.6, rel=1e-6)


@pytest.mark.parametrize("units", [(1e-20, 1.0, 1e20), (1.0, 1e-8, 1e8)])
def test_units_of_any_size_are_undone(units):
    d = np.outer(units, units)
    K = sdpdr.psd("K", 3)
    row = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    model = sdpdr.minimize(K.inner(np.diag([1.0, 2.0, 3.0]) / d)) + (K.inner(row / d) >= 1.0)
    solution = sdpdr.solve(model)
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(0.4188611699, rel=1e-6)
