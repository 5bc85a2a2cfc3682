"""Points that satisfy a program exactly are told from those next to them."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.certify.as_it_stands import are_dual_feasible, cost, entries_of_factor, misses
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    POWER,
    SECOND_ORDER,
    SEMIDEFINITE,
    Piece,
    build,
)

THIRD = Fraction(1, 3)
# A kind, its size, a point of the cone, one that misses it, and by how much; None where that is
# not known.
POINTS = [
    (NONNEGATIVE, 1, [0, THIRD], [THIRD, -THIRD], THIRD),
    (SECOND_ORDER, 3, [5 * THIRD, 3 * THIRD, 4 * THIRD], [5, 4, 4], Fraction(32**0.5) - 5),
    (SECOND_ORDER, 2, [1, -1], [-1, 0], Fraction(1)),
    (SEMIDEFINITE, 2, [THIRD, THIRD, THIRD], [1, 2, 1], Fraction(1)),
    (SEMIDEFINITE, 2, [2, 1, 2], [THIRD, THIRD + Fraction(1, 10**30), THIRD], None),
    (EXPONENTIAL, 3, [0, 1, 2], [0, 1, Fraction(1, 2)], None),
    (POWER, 0.25, [1, 16, 7], [1, 16, 9], None),
]


def rows_missed(kind, size, point):
    own = Piece(kind, size, sp.csr_array(-np.eye(len(point))), np.zeros(len(point)))
    program = build(np.ones(len(point)), sp.csr_array((0, len(point))), np.zeros(0), [own])
    return misses(program, {k: Fraction(v) for k, v in enumerate(point)})


@pytest.mark.parametrize(("kind", "size", "inside", "outside", "amount"), POINTS)
def test_a_point_of_the_cone_misses_nothing_and_others_miss_it(kind, size, inside, outside, amount):
    assert rows_missed(kind, size, inside) == []
    (miss,) = rows_missed(kind, size, outside)
    assert miss.row == 0
    assert miss.amount == pytest.approx(float(amount or 0), abs=1e-12)


def test_equations_are_missed_by_what_they_lack_in_fractions():
    program = build(np.ones(2), sp.csr_array([[3.0, 0.0], [0.5, 1.0]]), np.ones(2), [])
    point = {0: THIRD, 1: Fraction(5, 6)}
    assert misses(program, point) == []
    (miss,) = misses(program, {**point, 1: Fraction(5, 6) + Fraction(1, 2**70)})
    assert (miss.row, miss.amount) == (1, 2.0**-70)


def test_cones_that_a_point_is_known_to_be_in_are_not_looked_at():
    own = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.zeros(1))
    program = build(np.ones(1), sp.csr_array([[1.0], [2.0]]), np.array([-1.0, -2.0]), [own, own])
    point = {0: Fraction(-1)}
    assert [miss.row for miss in misses(program, point)] == [2, 3]
    assert [miss.row for miss in misses(program, point, {3})] == [2]


@pytest.mark.parametrize("numbers", [[0.1, 3.0], [1e-20, 7.0]])
def test_costs_are_rounded_up_and_entries_of_products_are_exact(numbers):
    point = {0: THIRD, 1: Fraction(1, 7)}
    c = np.array(numbers)
    exact = sum(Fraction(float(v)) * point[k] for k, v in enumerate(c)) + Fraction(0.25)
    found = Fraction(cost(c, point, 0.25))
    assert exact <= found <= exact * (1 + Fraction(1, 2**51))
    (entry,) = entries_of_factor(np.array([numbers, numbers]), [0], [1])
    assert entry == sum(Fraction(float(v)) ** 2 for v in c)


@pytest.mark.parametrize(
    ("kind", "size", "point"),
    [
        (POWER, 0.5, [-1, 1, 0]),
        (EXPONENTIAL, 3, [0, -1, 1]),
        (EXPONENTIAL, 3, [0, 1, -1]),
        (SEMIDEFINITE, 2, [1, 2, 1]),
        (SEMIDEFINITE, 1, [-1]),
    ],
)
def test_what_no_double_can_hold_is_neither_zero_nor_an_error(kind, size, point):
    for unit in (Fraction(1, 2**1200), Fraction(1, 2**1074), Fraction(2**1100)):
        assert rows_missed(kind, size, [v * unit for v in point])


def test_costs_beyond_all_doubles_are_infinite():
    assert cost(np.array([2.0]), {0: Fraction(2**1023)}) == np.inf
    assert cost(np.array([-2.0]), {0: Fraction(2**1023)}) < -1e308


def test_a_value_beyond_all_doubles_is_none_that_is_attained():
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(1e9 * x), [x >= 1])
    x.value = 1e300
    for repair in (False, True):
        found = sdpdr.verify(problem, repair=repair)
        assert found.attained is None


def with_multipliers(kind, size, z, w=THIRD):
    """Whether multipliers of a cone, and of an equation, are those of costs that fit a third."""
    n = len(z)
    own = Piece(kind, size, sp.csr_array(-3.0 * np.eye(n)), np.zeros(n))
    costs = np.array([float(3 * Fraction(v) - 1) for v in z])
    program = build(costs, sp.csr_array(np.full((1, n), 3.0)), np.zeros(1), [own])
    return are_dual_feasible(program, dict(enumerate([w, *map(Fraction, z)])))


@pytest.mark.parametrize(("kind", "size", "inside", "outside", "_"), POINTS[:4])
def test_multipliers_are_feasible_where_they_add_up_to_costs_and_lie_in_the_cone(
    kind, size, inside, outside, _
):
    """Off the diagonal of a matrix there are twice the entries."""
    twice = [1, 2, 1] if kind == SEMIDEFINITE else [1] * len(inside)
    inside, outside = ([a * b for a, b in zip(twice, v, strict=True)] for v in (inside, outside))
    assert with_multipliers(kind, size, inside) is True
    assert not with_multipliers(kind, size, outside)
    assert not with_multipliers(kind, size, inside, w=THIRD + Fraction(1, 2**200))
    # Nothing is said of cones that are not their own duals.
    assert not with_multipliers(EXPONENTIAL, 3, [-1, 1, 3])
