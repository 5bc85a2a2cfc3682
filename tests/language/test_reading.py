"""What variables, rows and matrix inequalities a problem becomes."""

from __future__ import annotations

import pickle
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr.errors import DataError
from sdpdr.model.conic import cones


def read(objective, constraints=()):
    return sdpdr.from_cvxpy(cp.Problem(objective, list(constraints)))


def orders(program):
    return {v.name: v.n for v in program.psd_variables}


def matrices():
    X = cp.Variable((3, 3), PSD=True, name="X")
    yield "declared", X, []
    X = cp.Variable((3, 3), symmetric=True, name="X")
    yield "constrained", X, [X >> 0]
    X = cp.Variable((3, 3), symmetric=True, name="X")
    yield "shifted", X, [(X >> np.eye(3)).set_label("above")]
    X = cp.Variable((3, 3), symmetric=True, name="X")
    yield "scaled", X, [np.eye(3) - 2.0 * X >> 0]
    X = cp.Variable((3, 3), NSD=True, name="X")
    yield "negative", X, []


@pytest.mark.parametrize(("X", "constraints"), [pytest.param(*c[1:], id=c[0]) for c in matrices()])
def test_matrices_of_single_entries_are_variables(X, constraints):
    program = read(cp.Minimize(cp.sum_squares(cp.diag(X))), [*constraints, X[0, 1] == 0.25])
    assert list(orders(program).values()) == [3]
    assert "X" not in {v.name for v in program.vector_variables}


@pytest.mark.parametrize(("X", "constraints"), [pytest.param(*c[1:], id=c[0]) for c in matrices()])
def test_what_has_the_name_of_a_variable_has_its_values(X, constraints):
    """Its negative and its sums with constants are other matrices."""
    problem = cp.Problem(cp.Minimize(cp.sum_squares(cp.diag(X))), [*constraints, X[0, 1] == 0.25])
    found = sdpdr.solve(problem)
    named = found.values.get("X", found["X"])
    assert np.asarray(named) == pytest.approx(found["X"], abs=1e-9)


def test_a_ray_is_not_named_after_a_variable_that_goes_the_other_way():
    S = cp.Variable((3, 3), symmetric=True, name="S")
    limit = (np.diag([1.0, 2.0, 3.0]) - S >> 0).set_label("limit")
    found = sdpdr.solve(cp.Problem(cp.Minimize(cp.trace(S)), [limit]))
    assert found.status is sdpdr.Status.UNBOUNDED
    assert set(found.ray.values) == {"limit"}


def test_a_matrix_of_blocks_is_a_variable_too():
    X, x = cp.Variable((2, 2), symmetric=True), cp.Variable((2, 1))
    t = cp.Variable((1, 1))
    block = cp.bmat([[X, x], [x.T, t]]) >> 0
    block.label = "block"
    program = read(cp.Minimize(t[0, 0] + cp.trace(X)), [block, cp.sum(x) == 1])
    assert orders(program) == {"block": 3}
    assert not program.lmis


def test_constants_of_a_matrix_of_unknowns_are_entries_of_a_variable():
    Y, y = cp.Variable((2, 2), symmetric=True, name="Y"), cp.Variable((2, 2))
    lift = (cp.bmat([[Y, y], [y.T, np.eye(2)]]) >> 0).set_label("lift")
    program = read(cp.Minimize(cp.trace(Y)), [lift, y[0, 0] == 1])
    assert orders(program) == {"lift": 4}
    assert not program.lmis
    assert ("lift.constants", 3) in [(rows.label, rows.m) for rows in program.rows]
    other = read(cp.Minimize(cp.trace(Y)), [lift, y[0, 0] == 1, Y >> np.eye(2)])
    assert list(orders(other).values()) == [2]


def test_blocks_of_a_matrix_are_variables_of_their_own():
    X, Y = (cp.Variable((2, 2), symmetric=True, name=name) for name in "XY")
    t, Z = cp.Variable((1, 1), name="t"), np.zeros((2, 2))
    blocks = cp.bmat([[X, Z, Z[:, :1]], [Z, Y, Z[:, :1]], [Z[:1], Z[:1], t]]) >> 0
    program = read(cp.Minimize(cp.trace(X + Y) + t[0, 0]), [blocks, X[0, 1] + Y[0, 1] >= 1])
    assert orders(program) == {"X": 2, "Y": 2}
    assert not program.lmis
    assert [(v.name, v.nonnegative) for v in program.vector_variables] == [("t", True)]


def test_the_square_of_a_norm_is_a_sum_of_squares():
    X = cp.Variable((3, 3), PSD=True, name="X")
    program = read(cp.Minimize(cp.norm(X - np.eye(3), "fro") ** 2 + cp.sum_squares(X[0])))
    # Six of the upper triangle and three of the row, of which two are the same.
    assert [(rows.label, rows.m) for rows in program.rows] == [("squares", 7)]
    assert not program.lmis


def test_a_matrix_with_constants_is_an_inequality():
    x = cp.Variable(2, name="x")
    X = cp.bmat([[np.eye(2), cp.reshape(x, (2, 1), order="F")], [x[None, :], np.ones((1, 1))]])
    program = read(cp.Minimize(cp.sum(x)), [X >> 0])
    assert not program.psd_variables
    assert [lmi.order for lmi in program.lmis] == [3]


def test_names_are_those_of_the_problem():
    X = cp.Variable((2, 2), PSD=True, name="X")
    y, z = cp.Variable(2, nonneg=True, name="y"), cp.Variable(name="z")
    named = y[0] + z == 1
    named.label = "budget"
    long = np.arange(8.0).reshape(4, 2) @ y <= 7
    program = read(cp.Maximize(z), [named, cp.trace(X) == 1, long, y[1] <= z, y[1] <= z])
    # cvxpy 1.7 writes a trace in lower case.
    assert [label.lower() for label in program.labels] == [
        "budget",
        "trace(x) == 1.0",
        "constraints[2]",
        # Both of them, as one group.
        "y[1] <= z and y[1] <= z_2",
    ]
    assert {v.name for v in program.variables} == {"X", "y", "z"}
    assert program.variable("y").nonnegative
    assert not program.variable("z").nonnegative
    assert program.maximize


def test_a_sum_is_named_as_it_was_written():
    K = cp.Variable((3, 3), PSD=True, name="K")
    program = read(cp.Maximize(K[0, 1]), [cp.sum(K) == 0, K[0, 0] <= 1])
    assert program.labels == ["Sum(K) == 0.0", "K[0, 0] <= 1.0"]


@pytest.mark.parametrize(("m", "orders"), [(1, []), (2, [2]), (3, [4]), (8, [9]), (16, 4 * [5])])
def test_second_order_cones(m, orders, monkeypatch):
    """Cones longer than eight are split into cones of four and one that joins them."""
    monkeypatch.setattr(cones, "LONGEST_ARROW", 8)
    monkeypatch.setattr(cones, "LONGEST_PART", 4)
    x, t = cp.Variable(m, name="x"), cp.Variable(name="t")
    program = read(cp.Minimize(t), [cp.SOC(t, x), x == 1.0])
    assert [lmi.order for lmi in program.lmis] == orders
    assert sdpdr.solve(program).value == pytest.approx(np.sqrt(m), rel=1e-5)


def test_what_contradicts_is_a_row():
    x = cp.Variable(nonneg=True)
    problem = cp.Problem(cp.Minimize(x), [0 * x == 1])
    program = sdpdr.from_cvxpy(problem)
    assert program.n_rows == 1
    assert program.give_back(sdpdr.solve(program)).status == cp.INFEASIBLE


def test_what_comes_of_the_program_has_no_way_back():
    program = read(cp.Minimize(cp.Variable(nonneg=True)))
    solution = sdpdr.solve(program)
    for changed in (replace(program, name="other"), pickle.loads(pickle.dumps(program))):
        with pytest.raises(DataError, match="does not hold the problem"):
            changed.give_back(solution)


def test_unknowns_that_may_change_places_are_one_and_have_values_and_multipliers_each():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((4, 4))
    X = cp.Variable((4, 4), PSD=True)
    rows = [cp.trace(X) == 1, cp.sum(cp.abs(X)) <= 2, cp.norm1(X[0]) <= 0.7]
    cost = cp.Minimize(cp.trace((root + root.T) @ X) + 0.1 * cp.norm1(X))
    problem = cp.Problem(cost, rows)
    program = sdpdr.from_cvxpy(problem)
    # Among 16 + 4 + 16 bounds, those of (i, j) and (j, i) in each of the two sums are merged. Each
    # of those in the cost becomes an excess on either side.
    added = sum(v.size for v in program.vector_variables)
    assert added == 10 + 4 + 2 * 10
    value = problem.solve(solver=cp.CLARABEL)
    theirs = [row.dual_value for row in rows]
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.value == pytest.approx(value, rel=2e-6, abs=2e-6)
    for row, dual in zip(rows, theirs, strict=True):
        np.testing.assert_allclose(row.dual_value, dual, atol=1e-3)


@pytest.mark.parametrize("seed", [2, 3])
def test_the_least_value_of_a_polynomial_is_proved_by_its_moments(seed):
    """In one variable (here degree 12) sums of squares are exact, and the optimum has rank one."""
    c = np.append(np.random.default_rng(seed).standard_normal(12), 1.0)
    Q, t = cp.Variable((7, 7), PSD=True), cp.Variable()
    sums = [sum(Q[i, k - i] for i in range(7) if 0 <= k - i <= 6) for k in range(13)]
    rows = [sums[0] + t == c[0], *(total == c[k] for k, total in enumerate(sums) if k)]
    found = sdpdr.solve(read(cp.Maximize(t), rows), "clarabel", form="gram")
    polynomial = np.polynomial.Polynomial(c)
    turns = [x.real for x in polynomial.deriv().roots() if abs(x.imag) < 1e-9]
    assert found.certified(1e-6)
    assert found.value == pytest.approx(min(polynomial(np.array(turns))), rel=1e-6)


G = np.add.outer(np.arange(4.0), np.arange(4.0)) / 4.0 - np.eye(4)


def rewritten():
    """Problems of which the conic program is rewritten before it is read."""
    X, x = cp.Variable((4, 4), PSD=True, name="X"), cp.Variable((2, 2), name="x")
    Y, unit = cp.Variable((2, 2), symmetric=True, name="Y"), cp.trace(X) == 1
    lift = cp.bmat([[Y, x], [x.T, np.eye(2)]]) >> 0
    yield cp.trace(X) + 0 * cp.norm1(X) + 0 * cp.norm(X), [X[0, 1] >= 1]
    yield cp.trace(Y), [lift, x[0, 0] == 1, cp.diag(x) == [1, -2]]
    yield cp.norm(X - G, "fro") ** 2 + cp.sum_squares(X[0]) + 3 * X[0, 1], [unit]
    yield cp.sum(cp.abs(X - G)), [unit]
    yield cp.norm1(cp.diag(X) - 1) + cp.sum_squares(X[0] - 1) - X[0, 1], [unit]


@pytest.mark.parametrize(("cost", "rows"), list(rewritten()))
def test_points_and_multipliers_are_those_of_what_cvxpy_wrote(cost, rows):
    program = sdpdr.from_cvxpy(cp.Problem(cp.Minimize(cost), rows))
    reading = program._way.reading
    assert reading.steps or reading.pieces.found[0].prescribed[0].size
    found = sdpdr.solve(program, tol=1e-8)
    given, x, z = reading.program, reading.primal(found.values), reading.dual(found.duals)
    half = np.zeros(0)
    if given.root is not None:
        half = given.root @ x
    assert given.dual_slack(z, half) == pytest.approx(0.0, abs=1e-3)
    assert z @ (given.rhs - given.matrix @ x) == pytest.approx(0.0, abs=1e-3)
    assert given.cost @ x + half @ half / 2.0 + given.constant == pytest.approx(found.value)
