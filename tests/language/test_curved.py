"""Convex functions have the operators that stay convex; every other says what to write."""

from __future__ import annotations

import operator

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import (
    geo_mean,
    lambda_max,
    log_det,
    matrix,
    maximize,
    minimize,
    norm,
    pos,
    psd,
    scalar,
    square,
    sum_squares,
    symmetric,
)
from sdpdr.errors import SdpdrError, ShapeError

x, y, t = scalar("x", 3), scalar("y", 3), scalar("t")
S, X, K = symmetric("S", 3), matrix("X", (2, 3)), psd("K", 3)
RNG = np.random.default_rng(5)
POINT = {name: RNG.standard_normal(size) for name, size in (("x", 3), ("y", 3), ("X", 6), ("S", 6))}
POINT["t"] = np.array([0.7])
WEIGHTS = np.array([0.5, 1.0, 2.0])

# A function, and the same words of NumPy.
MEANT = {
    "the square of a length": (lambda: norm(x - 1.0) ** 2, lambda a: np.sum((a.x - 1.0) ** 2)),
    "of a weighed one": (lambda: (3.0 * norm(x)) ** 2, lambda a: 9.0 * np.sum(a.x**2)),
    "by name": (lambda: square(norm(X)), lambda a: np.sum(a.X**2)),
    "by NumPy": (lambda: np.square(norm(X)), lambda a: np.sum(a.X**2)),
    "squares of sizes": (lambda: (abs(x) ** 2)[1], lambda a: a.x[1] ** 2),
    "of weighed ones": (lambda: (WEIGHTS * abs(x)) ** 2, lambda a: (WEIGHTS * a.x) ** 2),
    "one of several": (lambda: abs(x)[0], lambda a: abs(a.x[0])),
    "some of several": (lambda: (WEIGHTS * pos(x))[1:], lambda a: WEIGHTS[1:] * a.x[1:].clip(0)),
    "the largest": (lambda: (WEIGHTS * abs(x)).max(), lambda a: np.max(WEIGHTS * abs(a.x))),
    "the largest by NumPy": (lambda: np.max(abs(X)), lambda a: np.max(abs(a.X))),
    "a mean": (lambda: abs(X).mean(), lambda a: np.mean(abs(a.X))),
    "a mean by NumPy": (lambda: np.mean(square(x)), lambda a: np.mean(a.x**2)),
    "a sum of one": (lambda: norm(x).sum(), lambda a: np.linalg.norm(a.x)),
    "weights by a product": (lambda: WEIGHTS @ abs(x), lambda a: WEIGHTS @ abs(a.x)),
    "from the right": (lambda: abs(x) @ WEIGHTS, lambda a: WEIGHTS @ abs(a.x)),
    "an array of NumPy": (lambda: np.float64(2.0) * norm(x), lambda a: 2.0 * np.linalg.norm(a.x)),
    "an array before it": (lambda: np.add(t, norm(x)), lambda a: a.t + np.linalg.norm(a.x)),
}  # fmt: skip


class Values:
    x, y, t = POINT["x"], POINT["y"], POINT["t"][0]
    X = POINT["X"].reshape(2, 3)


@pytest.mark.parametrize("name", MEANT)
def test_what_stays_convex_is_what_numpy_makes_of_the_values(name):
    function, numbers = MEANT[name]
    found, known = function().at(POINT), numbers(Values)
    assert np.shape(found) == np.shape(known)
    np.testing.assert_allclose(found, known, rtol=1e-12)


def test_a_convex_function_below_a_concave_one():
    model = maximize(t) + (norm(x) + t <= geo_mean(y)) + (y <= [1.0, 8.0, 1.0])
    other = maximize(t) + (geo_mean(y) >= norm(x) + t) + (y <= [1.0, 8.0, 1.0])
    assert model.solve().value == pytest.approx(2.0, abs=1e-5)
    assert other.solve().value == pytest.approx(2.0, abs=1e-5)


def test_the_square_of_a_length_is_as_good_as_a_sum_of_squares():
    one, other = (minimize(f) + (x >= [1.0, -1.0, 2.0]) for f in (norm(x) ** 2, sum_squares(x)))
    assert one.describe() == other.describe()
    assert sdpdr.solve(one).value == pytest.approx(5.0, abs=1e-6)


FUNCTIONS = {
    "convex": norm(x),
    "concave": geo_mean(y),
    "several": abs(x),
    "squares": square(X),
    "smooth": log_det(K),
    "eigenvalue": lambda_max(S),
    "sum": norm(x) + pos(t) + y[0],
}
OTHERS = {
    "a number": 2,
    "numbers": np.ones(3),
    "many numbers": np.ones((4, 5)),
    "an expression": x,
    "one expression": t,
    "convex": norm(y),
    "several": abs(y),
    "concave": -norm(y),
    "a statement": x <= 1.0,
    "a goal": minimize(t),
    "a model": minimize(t) + (t >= 0.0),
    "a word": "b",
    "nothing": None,
    "a set": {1},
}
TWO = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.pow),
    *(operator.le, operator.ge, operator.lt, operator.gt, operator.ne, operator.eq),
    *(operator.rshift, operator.lshift, np.maximum, np.minimum, np.add, np.multiply, np.less_equal),
    *(np.dot, np.hypot, max, min),
]
ONE = [
    *(abs, operator.neg, operator.pos, bool, np.sum, np.mean, np.max, np.sqrt, np.exp, np.square),
    *(operator.itemgetter(0), operator.itemgetter((0, 1)), sum, np.linalg.norm, np.abs),
]


def told(operation, *operands):
    """Whether an operation is known, or refused in a sentence; any other error goes through."""
    try:
        operation(*operands)
    except SdpdrError as error:
        return len(str(error)) > 30
    return True


@pytest.mark.daily(30)
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("other", OTHERS)
def test_no_operator_ends_in_an_error_of_python(name, other):
    for operation in TWO:
        assert told(operation, FUNCTIONS[name], OTHERS[other])
        assert told(operation, OTHERS[other], FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nor_does_one_of_it_alone(name):
    for operation in ONE:
        assert told(operation, FUNCTIONS[name])


@pytest.mark.parametrize("block", [x <= 1.0, minimize(t), minimize(t) + (t >= 0.0), norm(x) <= t])
def test_nor_does_one_of_blocks(block):
    known = {operator.add, operator.eq, operator.ne, np.add, np.hypot, max, min}
    for operation in {*TWO, operator.and_, operator.or_} - known:
        for pair in ((block, 2.0), (2.0, block), (block, x <= 3.0), (x <= 3.0, block)):
            with pytest.raises(SdpdrError, match="write|combined|multiply the|bound"):
                operation(*pair)


def test_shapes_are_named():
    with pytest.raises(SdpdrError, match=r"abs\(v\) of shape \(3,\) <= .* of shape \(\)"):
        operator.le(abs(x), norm(y))
    with pytest.raises(SdpdrError, match=r"of shape \(\) and numbers of shape \(4, 5\)"):
        operator.lt(norm(x), np.ones((4, 5)))
    with pytest.raises(ShapeError, match=r"\(2,\)"):
        operator.mul(abs(x), np.ones(2))


def test_an_infeasible_model_of_a_logarithm_has_no_point_and_names_its_proof():
    K = psd("K", 2)
    solution = sdpdr.solve(maximize(log_det(K)) + (K[0, 0] == 0.0) + (K.trace() <= 5.0))
    assert solution.status is sdpdr.Status.INFEASIBLE
    assert np.isnan(solution.value)
    assert (solution.attained, solution.bound, solution.values) == (None, None, {})
    assert "ray" in solution.argument


def test_rays_over_all_cones_have_their_margin():
    v, w = cp.Variable(name="v"), cp.Variable()
    # The multipliers are equal: the contradiction is 3 - 1, and its terms are 3 and 1.
    ray = sdpdr.solve(cp.Problem(cp.Minimize(v), [v >= 3, v <= 1, cp.exp(w) <= 2])).ray
    assert ray.margin == pytest.approx(0.5, rel=1e-6)
    # Both variables fall by one, which gains 2 - 1 of the terms 2 and 1.
    cost, rows = cp.Minimize(2 * v - w), [v == w, v <= 1, cp.exp(w) <= 2]
    ray = sdpdr.solve(cp.Problem(cost, rows)).ray
    assert ray.margin == pytest.approx(1.0 / 3.0, rel=1e-6)
