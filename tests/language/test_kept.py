"""What is kept from solve to solve gives what the program by itself gives."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import maximize, minimize, norm, parameter, pos, psd, scalar, square
from sdpdr.program.attain.box import Box, enclose
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.certificate import certify
from sdpdr.solving.again.kept import differ_in_numbers
from sdpdr.solving.again.warm import Warm

RNG = np.random.default_rng(0)
COST = RNG.normal(size=(8, 8))
DATA = RNG.normal(size=(30, 5))


def limit(p):
    K = psd("K", 8)
    return maximize(K.inner(COST + COST.T)) + (K.diagonal() <= p) + (K.sum(axis=1) == 0)


def weight(p):
    K = psd("K", 8)
    rows = (K.trace() == 1.0) + p * abs(K[0, 1:] - 0.1)
    return minimize(K.inner(COST + COST.T)) + rows


def target(p):
    K = psd("K", 6)
    return minimize(square(K - p * 0.4).sum()) + (K.diagonal() == 1)


def hinge(p):
    K = psd("K", 8)
    return maximize(K.sum()) + 40.0 * pos(K.diagonal() - p) + (K.trace() <= 20.0)


def centre(p):
    x, r = scalar("x", 5), scalar("r")
    lengths = np.linalg.norm(DATA, axis=1)
    return maximize(r) + (DATA @ x + lengths * r <= p) + (norm(x) <= 10.0)


def goal(p):
    x = scalar("x", 5, nonnegative=True)
    return maximize(p * x.sum() + x[0]) + (np.abs(DATA) @ x <= 1.0)


NUMBERS = [limit, weight, target, hinge, centre, goal]


def coefficient(p):
    x = scalar("x", 5, nonnegative=True)
    return maximize(x.sum()) + (np.abs(DATA) @ x + p * x[0] <= 1.0)


def present(make, value=1.0):
    p = parameter("p", value=value)
    return p, make(p)


@pytest.mark.nightly
@pytest.mark.parametrize("make", NUMBERS)
def test_a_program_of_other_numbers_is_the_one_lowered_anew(make):
    p, model = present(make)
    warm = Warm.of(model.to_sdp(), sdpdr.solve(model))
    p.value = 1.3
    kept = warm.kept.renumbered(model.to_sdp())
    anew = cone_program(present(make, 1.3)[1].to_sdp())
    for name in ("b", "c", "c_radius", "curvature"):
        np.testing.assert_array_equal(getattr(kept.program, name), getattr(anew, name))
    np.testing.assert_array_equal(kept.program.A.toarray(), anew.A.toarray())
    assert kept.program.sdp.constant == anew.sdp.constant


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "value"),
    [
        *((make, 1.1) for make in NUMBERS),
        *((limit, value) for value in (1.01, 1.5)),
        *(
            pytest.param(make, value, marks=pytest.mark.nightly)
            for make in NUMBERS[1:]
            for value in (1.01, 1.5)
        ),
    ],
)
def test_values_and_bounds_are_those_of_the_program_by_itself(make, value):
    p, model = present(make)
    model.solve()
    p.value = value
    again, anew = model.solve(), sdpdr.solve(present(make, value)[1])
    assert again.certified(1e-6)
    assert anew.certified(1e-6)
    assert again.value == pytest.approx(anew.value, rel=3e-6)
    for side in (again.attained, again.bound):
        assert side == pytest.approx(anew.value, rel=3e-6)
    # The same multipliers prove as much of the program as it is lowered.
    assert certify(model.to_sdp(), again.duals).bound == pytest.approx(again.bound, rel=1e-8)


@pytest.mark.nightly
@pytest.mark.parametrize("make", NUMBERS)
def test_a_box_of_kept_equations_is_one_of_the_program(make):
    p, model = present(make)
    warm = Warm.of(model.to_sdp(), sdpdr.solve(model))
    p.value = 1.02
    again = model.solve()
    kept = warm.kept.renumbered(model.to_sdp())
    x = kept.program.vector(again.values)
    one, other = kept.enclosure.around(kept.program, x), enclose(kept.program, x)
    assert isinstance(one, Box)
    assert isinstance(other, Box)
    assert one.value == pytest.approx(other.value, rel=1e-10)


@pytest.mark.nightly
@pytest.mark.parametrize("make", NUMBERS)
def test_multipliers_outside_of_the_cone_prove_nothing(make):
    _, model = present(make)
    solution = sdpdr.solve(model)
    warm = Warm.of(model.to_sdp(), solution)
    program, bounds = warm.kept.program, warm.kept.bounds
    worse = bounds.balanced(program, warm.at.y + RNG.normal(size=warm.at.y.size))
    proved = bounds.value(program, worse)
    # What multipliers prove is no better than the optimum, and mostly nothing.
    assert proved is None or proved <= program.value(warm.at.x) + 1e-6 * abs(solution.value)


def test_programs_whose_left_sides_differ_are_told_apart():
    p, model = present(coefficient)
    before = model.to_sdp()
    assert differ_in_numbers(before, model.to_sdp())
    p.value = 1.5
    assert not differ_in_numbers(before, model.to_sdp())
    assert model.solve().certified(1e-6)
    p.value = 1.6
    again = model.solve()
    assert again.certified(1e-6)
    anew = sdpdr.solve(present(coefficient, 1.6)[1])
    assert again.value == pytest.approx(anew.value, rel=3e-6)


def test_zeros_on_the_right_of_equations_are_part_of_the_program():
    K = psd("K", 4)
    p = parameter("p", value=1.0)
    model = maximize(K.sum()) + (K.diagonal() <= 1.0) + (K[0, [1, 2]] == 0.1 * p)
    before = model.to_sdp()
    p.value = 0.0
    assert not differ_in_numbers(before, model.to_sdp())
    assert model.solve().certified(1e-6)
