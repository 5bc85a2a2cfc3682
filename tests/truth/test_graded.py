"""Grades of answers: right where the answer is, never better than the truth, and in plain words."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, maximize, methods, minimize, psd
from sdpdr.errors import DataError, DataTypeError, NotAcceptedError, ShapeError, UnknownNameError
from sdpdr.program import Factor, Point
from sdpdr.testing import graded, planted

pytestmark = pytest.mark.integration

PATH = methods.mvu(graphs.path([1.0, 1.0]))
LINE = np.array([[-1.0], [0.0], [1.0]])
K = LINE @ LINE.T


def three_vectors():
    """Unit vectors that avoid each other, and the three at angles of 120 degrees."""
    X = psd("X", 3)
    turns = 2.0 * np.pi * np.arange(3) / 3.0
    Y = np.column_stack([np.cos(turns), np.sin(turns)])
    pairs = X[0, 1] + X[0, 2] + X[1, 2]
    return maximize(-pairs) + (X.diagonal() == 1).named("length"), Y @ Y.T


def in_cvxpy():
    X = cp.Variable((3, 3), PSD=True, name="X")
    return cp.Problem(cp.Maximize(-(X[0, 1] + X[0, 2] + X[1, 2])), [cp.diag(X) == 1])


@pytest.mark.parametrize(
    "kind",
    [
        "one-matrix",
        *(pytest.param(k, marks=pytest.mark.nightly) for k in ("several", "inequalities", "free")),
    ],
)
def test_an_optimal_answer_is_optimal_and_a_spoiled_one_proves_nothing_false(kind):
    made = planted(kind, seed=1)
    low, high = float(made.truth.lower), float(made.truth.upper)
    slack = 1e-9 * max(1.0, abs(low))
    sign = -1.0 if made.sdp.maximize else 1.0
    optimal = {name: np.array(x, dtype=float) for name, x in made.values.items()}
    multipliers = {label: np.array(y, dtype=float) for label, y in made.duals.items()}
    assert graded(made.sdp, optimal, multipliers).is_optimal
    rng = np.random.default_rng(0)
    for size in (1e-9, 1e-5, 1e-2):
        noise = {name: size * rng.standard_normal(x.shape) for name, x in optimal.items()}
        values = {name: x + noise[name] + noise[name].T for name, x in optimal.items()}
        duals = {label: y + size * rng.standard_normal(y.shape) for label, y in multipliers.items()}
        grade = graded(made.sdp, values, duals)
        if grade.attained is not None:
            assert sign * (grade.attained - (low if sign > 0 else high)) >= -slack
        if grade.bound is not None:
            assert sign * ((high if sign > 0 else low) - grade.bound) >= -slack


@pytest.mark.parametrize("point", [K, Factor(LINE), {"K": K}, Point({"K": K}, {})])
@pytest.mark.parametrize("weights", [[1.0, 1.0], {"isometry": np.ones(2)}])
def test_an_answer_has_many_shapes_and_one_grade(point, weights):
    grade = graded(PATH, point, weights)
    assert grade.is_optimal
    assert not grade.missed
    assert (grade.value, grade.attained) == (2.0, 2.0)
    assert 2.0 <= grade.bound < 2.0 + 1e-9


def test_the_grade_is_of_the_answer_and_not_of_a_better_one_nearby():
    grade = graded(PATH, 0.5 * K, [2.0, 2.0])
    assert grade.attained == 1.0
    assert grade.bound == pytest.approx(4.0)
    assert grade.gap == pytest.approx(0.75)
    assert "a gap of 75 %" in str(grade)
    better = sdpdr.verify(PATH, 0.5 * K, multipliers={"isometry": [2.0, 2.0], "centered": [0] * 3})
    assert better.attained > 1.5


def test_every_constraint_that_is_missed_is_named():
    grade = graded(PATH, K + np.diag([0.0, 0.0, 0.5]), [1.0, 1.0])
    assert grade.missed == pytest.approx({"isometry": 0.5, "centered": 0.5})
    assert "'isometry' by 0.5, most at index 1" in str(grade)
    assert grade.attained is None
    assert grade.gap == np.inf
    assert "'K' is not symmetric, by 1" in str(graded(PATH, K + np.eye(3, k=1), [1.0, 1.0]))
    indefinite = graded(three_vectors()[0], np.ones((3, 3)) - 2.0 * np.ones((3, 3)) + 2 * np.eye(3))
    assert "'X' is not positive semidefinite: its smallest eigenvalue is -1" in str(indefinite)


def test_a_wrong_sign_is_recognized():
    assert "must not be negative" in str(graded(PATH, K, [-1.0, -1.0]))
    model, X = three_vectors()
    grade = graded(model, X, [-0.5] * 3)
    assert grade.bound is None
    assert "its smallest eigenvalue is -1" in str(grade)
    assert "With the other sign they prove 1.5." in str(grade)
    assert graded(model, X, [0.5] * 3).bound == pytest.approx(1.5)
    t, C = sdpdr.scalar("t"), np.diag([1.0, 3.0])
    largest = minimize(t) + (t * np.eye(2) >> C).named("above")
    grade = graded(largest, 3.0, -np.diag([0.0, 1.0]))
    assert "With the other sign they prove 3." in str(grade)


def test_multipliers_that_are_too_small_prove_nothing_and_larger_ones_do():
    grade = graded(PATH, K, [0.5, 0.5])
    assert grade.bound is None
    assert "smallest eigenvalue is -0.5" in str(grade)
    assert graded(PATH, K, [1.0, 1.0]).bound is not None


def test_multipliers_without_any_margin_are_proved_in_fractions():
    X = psd("X", 3)
    gap = minimize(X[2, 2]) + (X[0, 0] == 0).named("corner")
    gap = gap + (X[2, 2] + 2 * X[0, 1] == 1).named("sum")
    point = np.diag([0.0, 0.0, 1.0])
    for corner in (0.0, 1.0):
        grade = graded(gap, point, {"corner": [corner], "sum": [0.0]})
        assert (grade.attained, grade.bound) == (1.0, 0.0)
    # The optimum is 1, and multipliers that claim nearly as much violate the dual by a millionth.
    assert graded(gap, point, {"corner": [1e6], "sum": [-0.999]}).bound is None


def test_a_cvxpy_problem_is_graded_by_its_own_values_and_left_as_it_was():
    problem = in_cvxpy()
    with pytest.raises(DataError, match="'X' has no value: pass values by name, or solve"):
        graded(problem)
    assert graded(problem, three_vectors()[1], [[0.5] * 3]).is_optimal
    assert problem.variables()[0].value is None
    assert problem.constraints[0].dual_value is None
    problem.solve(solver=cp.CLARABEL)
    assert graded(problem).is_optimal


@pytest.mark.parametrize(
    ("point", "multipliers", "error", "words"),
    [
        (None, None, DataError, "there is no answer"),
        (LINE, [1.0, 1.0], ShapeError, r"pass sdpdr\.program\.Factor\(R\)"),
        (K, [1.0, 1.0, 1.0], ShapeError, r"'isometry' must have shape \(2,\)"),
        (K, {"isometri": [1.0, 1.0]}, UnknownNameError, "'isometry'"),
    ],
)
def test_what_is_no_answer_is_refused_with_what_to_pass(point, multipliers, error, words):
    with pytest.raises(error, match=words):
        graded(PATH, point, multipliers)


def test_what_cvxpy_holds_no_answer_of_is_refused_with_what_to_pass():
    problem = in_cvxpy()
    with pytest.raises(ShapeError, match=r"'X' must have shape \(3, 3\)"):
        graded(problem, np.eye(2))
    with pytest.raises(DataError, match="pass those of 'X'"):
        graded(problem, {"Y": np.eye(3)})
    with pytest.raises(ShapeError, match="for each constraint"):
        graded(problem, np.eye(3), [[0.5] * 3, 1.0])
    two = methods.mvu(graphs.path([1.0, 1.0])) + (psd("K", 3).trace() <= 9.0).named("cap")
    with pytest.raises(DataTypeError, match="for the constraints 'isometry', 'cap'"):
        graded(two, K, [1.0, 1.0])
    x = cp.Variable(2)
    nearest = cp.Problem(cp.Minimize(cp.norm(x - 1)), [x >= 2])
    nearest.solve(solver=cp.CLARABEL)
    with pytest.raises(NotAcceptedError, match=r"use sdpdr.verify\(problem\)"):
        graded(nearest)
    assert sdpdr.verify(nearest).certified()
    with pytest.raises(DataTypeError, match="pass a model, an SDP or a cvxpy.Problem first"):
        graded(np.eye(3), PATH)


def test_one_constraint_of_cvxpy_takes_one_array():
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= np.array([1.0, 2.0])])
    assert graded(problem, [1.0, 2.0], np.ones(2)).is_optimal
    assert graded(problem, [1.0, 2.0], [np.ones(2)]).is_optimal
    assert graded(problem, [1.0, 2.0], [1.0, 1.0]).is_optimal


@pytest.mark.filterwarnings("ignore::sdpdr.errors.VacuousWarning")
@pytest.mark.parametrize("other", [1.03, 3.0])
def test_a_wrong_entry_beside_a_large_one_is_no_rounding(other):
    """A third of 1e5 is no double, and moves; 1.03 is not 1 for that."""
    x, z = sdpdr.scalar("x"), sdpdr.scalar("z")
    model = minimize(z) + (3.0 * x == 1e5).named("third") + (z >= 1.0).named("low")
    grade = graded(model, {"x": [1e5 / 3.0], "z": [other]}, {"third": [0.0], "low": [1.0]})
    assert not grade.is_optimal
    assert grade.attained is None or grade.attained >= other
    large = minimize(1e5 * x + z - 1e5) + (x >= 1.0).named("x") + (z >= 1.0).named("z")
    for wrong in (-1.0, 0.0, 3.0):
        grade = graded(large, {"x": [1.0], "z": [1.0]}, {"x": [1e5], "z": [wrong]})
        assert not grade.is_optimal
    assert graded(large, {"x": [1.0], "z": [1.0]}, {"x": [1e5], "z": [1.0]}).is_optimal
