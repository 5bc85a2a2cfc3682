"""Units of rows and columns change nothing but the numbers."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import Diagonal, InnerProduct
from sdpdr.linalg.rounding import diagonal_units, in_units
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows
from sdpdr.program.certificate.arithmetic import Plain
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


def test_lengths_of_edges_need_no_units():
    sdp = methods.mvu(graphs.path([1.0, 2.0, 3.0])).to_sdp()
    assert Balance().accepts(sdp) is not None


def test_coefficients_that_are_zero_but_for_rounding_have_no_units():
    rng = np.random.default_rng(0)
    cost = rng.standard_normal((6, 6)) * np.exp2(-50.0 * (rng.random((6, 6)) < 0.3))
    cost[0] *= 2.0**-30
    rows = Rows("diagonal", "==", {"X": 1.0 * Diagonal(6)}, np.ones(6))
    sdp = SDP((PsdVariable("X", 6),), {"X": InnerProduct(cost + cost.T)}, (rows,))
    assert Balance().accepts(sdp) is not None


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))]
)
def test_scales_over_sixty_binades_are_certified_by_auto(seed):
    program = planted("scaled", seed)
    assert sdpdr.solve(program.sdp).certified(1e-6)


def test_small_rows_do_not_drown_in_large_ones():
    """[[1, x], [x, 1]] with x = 0.5, its second row in units of 2^-40, is positive definite."""
    units = np.array([1.0, 2.0**-40])
    matrix = np.array([[1.0, 0.5], [0.5, 1.0]]) * np.outer(units, units)
    assert np.array_equal(in_units(matrix, diagonal_units(matrix)), [[1.0, 0.5], [0.5, 1.0]])
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(matrix)})
    assert Plain().is_positive(sdp, "X", {}, {})
    indefinite = SDP((PsdVariable("X", 2),), {"X": InnerProduct(matrix - np.outer(units, units))})
    assert not Plain().is_positive(indefinite, "X", {}, {})


@pytest.mark.parametrize("form", ["gram", "lmi"])
def test_a_goal_with_an_entry_of_rounding_is_solved(form):
    """The best correlations put three points on a line: 2 (1 + 0.8)."""
    goal = np.array([[0.0, 6e-17, 1.0], [6e-17, 0.0, -0.8], [1.0, -0.8, 0.0]])
    K = sdpdr.psd("K", 3)
    model = sdpdr.maximize(K.inner(goal)) + (K.diagonal() == 1.0)
    solution = sdpdr.solve(model, "clarabel", form=form)
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(3.6, rel=1e-6)


@pytest.mark.parametrize("units", [(1.0, 1e-12, 1e12), (1e-20, 1.0, 1e20), (1.0, 1e-8, 1e8)])
def test_units_of_any_size_are_undone(units):
    d = np.outer(units, units)
    K = sdpdr.psd("K", 3)
    row = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    model = sdpdr.minimize(K.inner(np.diag([1.0, 2.0, 3.0]) / d)) + (K.inner(row / d) >= 1.0)
    solution = sdpdr.solve(model)
    assert solution.certified(1e-6)
    assert solution.value == pytest.approx(0.4188611699, rel=1e-6)
