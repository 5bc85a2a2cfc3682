"""Programs with exactly known optima of which something false was proved once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status, minimize, psd
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.flat import NONNEGATIVE, Around, Piece, build
from sdpdr.certify.other_cones import Exponential
from sdpdr.certify.proof import bound_proof, value_proof
from sdpdr.certify.rounding import are_positive_definite

from .test_stretched import program_at, proved, thin_matrix


@pytest.mark.parametrize(
    "power", [30, *(pytest.param(power, marks=pytest.mark.nightly) for power in (40, 60))]
)
def test_entries_of_very_different_sizes_leave_a_congruence(power):
    """The optimum is one, at [[1, 1 / g], [1 / g, 1 / g^2]]."""
    g, Y = 2.0**power, psd("Y", 2)
    solution = sdpdr.solve(minimize(Y[0, 0]) + (g * Y[0, 1] == 1) + (g * g * Y[1, 1] <= 1))
    assert solution.attained is None or solution.attained >= 1.0 - 1e-12
    assert solution.bound is None or solution.bound <= 1.0 + 1e-12
    assert solution.status is not Status.INFEASIBLE


@pytest.mark.parametrize("power", [-45, -40, -38, 40])
def test_the_same_as_a_matrix_inequality(power):
    e, x, y = 2.0**power, cp.Variable(), cp.Variable()
    parts = [
        np.array(part) for part in ([[0, e], [e, 0]], [[1.0, 0], [0, 0]], [[0, 0], [0, e * e]])
    ]
    matrix = parts[0] + parts[1] * x + parts[2] * y
    found = sdpdr.verify(cp.Problem(cp.Minimize(x), [matrix >> 0, y <= 1, x <= 10]))
    assert found.status is not Status.INFEASIBLE
    assert found.bound is None or found.bound <= 1.0 + 1e-12
    assert found.attained is None or found.attained >= 1.0 - 1e-12


# The sum of their squares is a^2 + 1, so that (a, n) lies outside of the cone, by less than doubles
# see.
HEAD = 180885563
TAIL = [
    12263428, 3065857, 30789032, 19243145, 126199230, 12619923, 101472389, 26471058, 63554387,
    9777598, 4888799,
]  # fmt: skip


def test_a_ray_that_is_outside_of_a_cone_by_a_hair_shows_nothing():
    assert sum(v * v for v in TAIL) == HEAD**2 + 1
    n, x, t = np.array(TAIL, dtype=float), cp.Variable(12), cp.Variable()
    cone = cp.SOC(x[0], x[1:])
    feasible = cp.Problem(cp.Minimize(x[0]), [cone, HEAD * x[0] + n @ x[1:] == -1])
    assert sdpdr.verify(feasible).status is not Status.INFEASIBLE
    bounded = cp.Problem(cp.Maximize(t), [cp.SOC(1 + HEAD * t, n * t)])
    assert sdpdr.verify(bounded).status is not Status.UNBOUNDED


def test_a_basis_of_large_integers_is_no_basis():
    """The only point is v v' / |v|^2 with v = (1 / d_k, 1), whose value is zero exactly."""
    d = [19, 34, 36, 37, 40, 41, 43, 47, 49, 53, 55, 58]
    n, last = len(d) + 1, len(d)
    M = np.zeros((n, n))
    for k, number in enumerate(d):
        w = np.zeros(n)
        w[k], w[last] = number, -1.0
        M += np.outer(w, w)
    X, large = cp.Variable((n, n), PSD=True), 2.0**53
    goal = large * X[last, last] - large * d[0] ** 2 * X[0, 0]
    found = sdpdr.verify(cp.Problem(cp.Minimize(goal), [cp.trace(M @ X) == 0, cp.trace(X) == 1]))
    # Whether there is a bound depends on the digits of the solver's answer.
    assert found.bound is None or found.bound <= 0.0


def test_what_overflows_is_not_positive_definite():
    assert not are_positive_definite(np.array([[[1e-310, 5.0], [5.0, 0.5]]]), np.zeros((1, 2, 2)))
    assert not are_positive_definite(np.eye(2)[None], np.full((1, 2, 2), np.nan))


def test_powers_that_underflow_are_not_zero():
    point = np.array([[-746e80, 1e80, 1e-300]])
    assert not Exponential(1).contains(point, np.zeros((1, 3)))


def test_right_sides_whose_squares_underflow_leave_a_radius():
    E = np.array([[3.0, 1.0], [1.0, 3.0]])
    f = np.array([1e-170, 2e-170])
    y, radius = Equations(sp.csr_array(E), f, np.ones(2)).near(np.zeros(2))
    exact = [(3 * Fraction(f[0]) - Fraction(f[1])) / 8, (3 * Fraction(f[1]) - Fraction(f[0])) / 8]
    for found, around, right in zip(y, radius, exact, strict=True):
        assert abs(Fraction(float(found)) - right) <= Fraction(float(around))


def test_numbers_that_vanish_in_other_units_stay_as_they_are():
    x, y = cp.Variable(), cp.Variable()
    found = sdpdr.verify(cp.Problem(cp.Maximize(x), [x <= 1.2345e-99, y >= 1e99]))
    assert found.bound >= 1.2345e-99


def test_a_negative_value_is_rounded_upwards():
    program, x = program_at(thin_matrix(1e-6))
    one = proved(program, x)
    turned = proved(replace(program, c=-program.c), x)
    exact = sum(Fraction(float(c)) * Fraction(float(v)) for c, v in zip(program.c, x, strict=True))
    assert Fraction(one) >= exact
    assert Fraction(turned) >= -exact


def test_numbers_beyond_all_proofs_are_no_crash():
    x, y = cp.Variable(), cp.Variable()
    matrix = cp.bmat([[x, 1.2345e-80], [1.2345e-80, x]])
    found = sdpdr.verify(cp.Problem(cp.Minimize(x), [matrix >> 0, y >= 1e80, x <= y]))
    assert found.status is Status.INACCURATE


def test_numbers_of_few_digits_prove_nothing_of_a_rounded_program():
    program = build(
        np.ones(1),
        sp.csr_array((0, 1)),
        np.zeros(0),
        [Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.zeros(1))],
        around=Around(c=np.full(1, 1e-9)),
    )
    with pytest.raises(UnprovedError, match="rounded themselves"):
        value_proof(program, np.zeros(1)).at(np.zeros(1))
    exact = replace(program, around=Around())
    assert value_proof(exact, np.zeros(1)).at(np.zeros(1)).number == 0.0
    with pytest.raises(UnprovedError, match="does not hold the point"):
        value_proof(exact, np.zeros(1)).at(-np.full(1, 2.0**-40))
    with pytest.raises(UnprovedError, match="do not hold exactly"):
        bound_proof(exact, np.ones(1)).at(np.full(1, 1.0 - 2.0**-53))


# -- vectors that expose less than they seem to --------------------------------------------------


def test_no_face_is_taken_behind_what_an_exposing_vector_does_not_see():
    """The least is zero, both terms are at least that: s is not on the face s = 0."""
    K, s = psd("K", 2), sdpdr.scalar("s")
    model = minimize(K[0, 0] + 1e-6 * s) + (K[1, 1] >= 1) + (s >= 0)
    solution = sdpdr.solve(model)
    assert solution.status not in (Status.UNBOUNDED, Status.INFEASIBLE)
    assert solution.attained is None or solution.attained >= 0.0


@pytest.mark.parametrize("most", [1e-7, 3e-8])
def test_a_narrow_interval_is_no_point(most):
    x, y, t = cp.Variable(), cp.Variable(), cp.Variable()
    rows = [x >= 1, y >= 0, y <= 0, t >= 0, t <= most, t + x <= 5]
    found = sdpdr.verify(cp.Problem(cp.Minimize(x - t), rows))
    assert found.status is not Status.INFEASIBLE
    assert found.bound <= Fraction(1) - Fraction(most)
    assert found.attained is None or found.attained >= Fraction(1) - Fraction(most)


def test_a_solution_on_a_thin_edge_is_not_lost():
    y = cp.Variable(2)
    rows = [
        y[1] <= 0,
        -y[1] <= 0,
        1e-6 * y[0] - y[1] <= 2.0**-20,
        -0.3 * y[0] + y[1] <= -1e-7,
        cp.abs(y) <= 10,
    ]
    found = sdpdr.verify(cp.Problem(cp.Minimize(1e5 * y[0]), rows))
    assert found.bound <= 1e5 * (1e-7 / 0.3) * (1.0 + 1e-12)


# -- points in the metric of their matrices ------------------------------------------------------


def test_matrices_that_share_an_entry_do_not_move_by_themselves():
    """C_11 = 11 (N - M) / 3 is less than one by 8e-8, and the first matrix needs one."""
    N, M = 1073741824.6156588, 1073741824.3429315
    C, p, q = cp.Variable((3, 3), symmetric=True), cp.Variable(), cp.Variable()
    rows = [
        *(C[:2, :2] >> 0, C[1:, 1:] >> 0, C[2, 2] == 1, C[0, 0] == 1, C[0, 1] == 1),
        *(C[1, 1] == 11 * (p - q), 3 * p == N, 3 * q == M),
    ]
    assert Fraction(11, 3) * (Fraction(N) - Fraction(M)) < 1
    assert sdpdr.verify(cp.Problem(cp.Minimize(p), rows)).attained is None


def test_what_is_zero_stays_zero_next_to_nearly_dependent_rows():
    rng = np.random.default_rng(0)
    B = rng.normal(size=(3, 4))
    B[2] = B[0] + B[1] + 1e-9 * rng.normal(size=4)
    E = np.zeros((4, 5))
    E[0, 0] = 1.0
    E[1:, 1:], E[1:, 0] = B, rng.normal(size=3)
    f = np.r_[0.0, 1e3 * rng.normal(size=3)]
    y, radius = Equations(sp.csr_array(E), f, np.ones(5)).near(np.zeros(5))
    assert (y[0], radius[0]) == (0.0, 0.0)


def test_radii_of_tiny_solutions_do_not_vanish():
    E = np.array([[1.0, 1.0], [1.0, 1.0 + 1e-12]])
    f = np.array([0.3, 0.7]) * 1e-170
    y, radius = Equations(sp.csr_array(E), f, np.ones(2)).near(np.zeros(2))
    second = (Fraction(f[1]) - Fraction(f[0])) / (Fraction(E[1, 1]) - 1)
    assert abs(Fraction(y[1]) - second) <= Fraction(radius[1])


def test_a_smooth_model_is_solved_only_where_its_point_has_the_value():
    t = sdpdr.scalar("t")
    solution = sdpdr.solve(minimize(1e9 * sdpdr.sum_exp(t)) + (t >= 2.0) + (t <= 3.0))
    assert solution.attained >= 1e9 * np.exp(2.0) * (1.0 - 1e-12)
    is_near = abs(solution.value - solution.attained) <= 1e-6 * solution.attained
    assert is_near == (solution.status is Status.SOLVED)
