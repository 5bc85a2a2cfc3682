"""A penalty of weight zero changes nothing but the value of what cvxpy adds for it."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr.model.conic.flat import flat_problem, read_flat

RNG = np.random.default_rng(0)
B, TARGET = RNG.standard_normal((12, 4)), RNG.standard_normal(12)

PENALTIES = {
    "norm1": cp.norm1,
    "norm": lambda x: cp.norm(x - 1),
    "squared norm": lambda x: cp.norm(x - 1) ** 2,
    "sum of squares": lambda x: cp.sum_squares(x - 1),
    "largest square": lambda x: cp.max(cp.square(x)),
    "smallest entry": lambda x: -cp.min(x),
    "largest eigenvalue": lambda x: cp.lambda_max(cp.bmat([[x[0], x[1]], [x[1], x[2]]])),
    "nuclear norm": lambda x: cp.normNuc(cp.reshape(x, (2, 2), order="F")),
    "norm of absolute values": lambda x: cp.norm(cp.abs(x) + cp.pos(x)),
}


def problems(penalty):
    """The same problem with the penalty and without it."""
    weight, x = cp.Parameter(nonneg=True, value=0.0), cp.Variable(4, name="x")
    fit, rows = cp.sum_squares(B @ x - TARGET), [cp.sum(x) == 1, x[0] <= -0.5]
    return cp.Problem(cp.Minimize(fit + weight * penalty(x)), rows), cp.Problem(
        cp.Minimize(fit), rows
    )


def outside(kind, s):
    """How far a slack is outside of its cone."""
    if kind == "zero":
        return np.max(np.abs(s), initial=0.0)
    if kind == "nonnegative":
        return np.max(-s, initial=0.0)
    if kind == "second-order":
        return np.linalg.norm(s[1:]) - s[0]
    if kind == "exponential":
        return s[1] * np.exp(s[0] / s[1]) - s[2]
    order = round(np.sqrt(s.size))
    return -np.linalg.eigvalsh(s.reshape(order, order))[0]


def worst(program, x):
    """The largest violation of a conic program's cones at all of its unknowns."""
    s = program.rhs - program.matrix @ x
    return max(outside(cone.kind, s[cone.rows]) for cone in program.cones if cone.rows.size)


@pytest.mark.parametrize("name", PENALTIES)
def test_of_a_semidefinite_program(name):
    with_penalty, without = problems(PENALTIES[name])
    program = sdpdr.from_cvxpy(with_penalty)
    found = sdpdr.solve(program)
    assert found.status is sdpdr.Status.SOLVED
    assert found.value == pytest.approx(without.solve(solver=cp.CLARABEL), rel=1e-6)
    reading = program._way.reading
    assert worst(reading.program, reading.primal(found.values)) <= 1e-6
    duals = [row.dual_value for row in without.constraints]
    program.give_back(found)
    for row, dual in zip(with_penalty.constraints, duals, strict=True):
        assert row.dual_value == pytest.approx(dual, rel=1e-4, abs=1e-4)


def test_beside_and_of_exponential_cones():
    x = cp.Variable(4, name="x")
    loss = cp.sum(cp.logistic(B @ x)) - TARGET @ B @ x / 20
    rows = [cp.sum(x) == 1]
    for penalty in (cp.sum_squares(x), cp.sum(cp.exp(x)), cp.norm1(x)):
        problem = cp.Problem(cp.Minimize(loss + 0 * penalty), rows)
        reading = read_flat(flat_problem(problem).conic)
        found = sdpdr.solve(problem)
        assert found.status is sdpdr.Status.SOLVED
        assert found.value == pytest.approx(sdpdr.solve(cp.Problem(cp.Minimize(loss), rows)).value)
        n = reading.program.c.size
        assert n < reading.conic.cost.size
        at = reading.primal({"x": np.linspace(-2.0, 2.0, n)})
        (step,) = reading.steps
        dropped = np.flatnonzero(~np.isin(np.arange(reading.n_rows), step.rows.nonzero()[0]))
        lost = [one for one in reading.conic.cones if np.isin(one.rows, dropped).all()]
        s = reading.conic.rhs - reading.conic.matrix @ at
        assert lost
        assert all(outside(one.kind, s[one.rows]) <= 1e-12 for one in lost)


def test_a_domain_is_no_penalty():
    """The logarithm has no weight, but only positive numbers have one."""
    x, t = cp.Variable(name="x"), cp.Variable(name="t")
    for atom in (-cp.log(x), cp.kl_div(x, t), cp.quad_over_lin(x, t)):
        problem = cp.Problem(cp.Minimize(x + t + 0 * atom), [x + t >= -1])
        assert read_flat(flat_problem(problem).conic).steps == ()


def test_an_entropy_leaves_a_sign():
    x = cp.Variable(4, name="x")
    fit, rows = cp.sum_squares(B @ x - TARGET), [cp.sum(x) == 1]
    problem = cp.Problem(cp.Minimize(fit - 0 * cp.sum(cp.entr(x))), rows)
    found = sdpdr.solve(problem)
    assert found.status is sdpdr.Status.SOLVED
    without = cp.Problem(cp.Minimize(fit), [*rows, x >= 0])
    assert found.value == pytest.approx(without.solve(solver=cp.CLARABEL), rel=1e-6)
    linear = cp.Problem(cp.Minimize(TARGET[:4] @ x - 0 * cp.sum(cp.entr(x))), rows)
    reading = read_flat(flat_problem(linear).conic)
    at = reading.primal({"x": np.array([1e-9, 0.2, 0.3, 0.5 - 1e-9])})
    assert worst(reading.conic, at) <= 1e-12


def test_a_limit_of_infinity_is_none():
    x = cp.Variable(2, name="x")
    no_limits = [x <= np.inf, cp.norm(x) <= np.inf, cp.exp(x) <= np.array([9.0, np.inf])]
    for no_limit in no_limits:
        problem = cp.Problem(cp.Minimize(cp.sum(x)), [no_limit, x >= 1])
        assert sdpdr.solve(problem).value == pytest.approx(2.0)
        assert sdpdr.verify(problem).value == pytest.approx(2.0)
    for answer in (sdpdr.solve, sdpdr.verify, sdpdr.from_cvxpy):
        with pytest.raises(sdpdr.errors.ModelError, match=r"'inf <= x': .*must be 0, or a number"):
            answer(cp.Problem(cp.Minimize(cp.sum(x)), [x >= np.inf]))


def test_an_exponential_beyond_doubles_leaves_the_users_variables_alone():
    y = cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(-y + 0 * cp.exp(y)), [y <= 1000])
    assert sdpdr.solve(problem)["y"] == pytest.approx(1000.0)
