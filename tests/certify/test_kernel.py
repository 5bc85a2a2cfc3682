"""What the kernel decides from: sizes, gaps, levels of the path, and the time that is left."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr import graphs, methods
from sdpdr.certify.answer import is_small
from sdpdr.certify.attained import made_psd
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.flat import NONNEGATIVE, Answer, Piece, build
from sdpdr.certify.knowledge import BOUND, VALUE, Knowledge
from sdpdr.certify.proof import Proved, _sizes, bound_proof, value_proof
from sdpdr.certify.prove import _DOWN, _FEW, _UP, _UPWARDS, Kernel
from sdpdr.certify.statement import _beyond
from sdpdr.certify.symmetric_cones import Nonnegative, SecondOrder, Semidefinite
from sdpdr.linalg import Trace, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, VectorVariable

from .test_units import random_program

# -- sides and gaps -------------------------------------------------------------------------------


def test_a_gap_is_relative_to_the_larger_side_or_to_the_scale():
    for value, bound, scale, gap in (
        (5.0, 4.0, 0.0, 0.2),
        (-4.0, -5.0, 0.0, 0.2),
        (5.0, 4.0, 10.0, 0.1),
        (0.25, 0.125, 0.0, 0.5),
        (0.0, 0.0, 0.0, 0.0),
        (5.0, -inf, 0.0, inf),
        (inf, 4.0, 0.0, inf),
    ):
        assert Knowledge(value=value, bound=bound, scale=scale).gap == pytest.approx(gap)


def test_sides_count_as_zero_within_what_is_nothing():
    for value, bound, expected in (
        (0.5, -0.5, True),
        (1.0, 0.0, True),
        (0.75, -0.5, False),
        (1.0, 0.5, False),
        (-0.5, -1.0, False),
    ):
        assert Knowledge(value=value, bound=bound, nothing=1.0).is_nothing is expected


def test_the_better_of_two_sides_is_kept_with_what_proves_it():
    known, at = Knowledge(), [np.full(1, float(k)) for k in range(4)]
    for side, numbers, best in ((VALUE, (3.0, 2.0, 2.0, 2.5), 1), (BOUND, (0.0, 1.0, 1.0, 0.5), 1)):
        for k, number in enumerate(numbers):
            known.take(side, number, at[k], f"{side} {k}")
        assert known.how[side] == f"{side} {best}"
    assert (known.value, known.bound) == (2.0, 1.0)
    assert (known.x, known.z) == (at[1], at[1])


# -- the state of a proof -------------------------------------------------------------------------


def kernel(x, s, z, *, cost=1.0, offset=0.0, seconds=inf, oracle=None, tol=1e-6, **known):
    """Minimise cost (x + y) with x + y = 2 above 1 / 2, from an answer."""
    E, A = sp.csr_array([[1.0, 1.0]]), sp.csr_array(-np.eye(2))
    above = Piece(NONNEGATIVE, 1, A, -np.full(2, 0.5))
    program = build(np.full(2, cost), E, np.full(1, 2.0), [above], offset)
    answer = Answer(*(np.array(v, dtype=float) for v in (x, s, z)), True)
    return Kernel(program, answer, oracle, tol, seconds, 3, Knowledge(**known))


RIGHT = {"x": [1.0, 1.0], "s": [0.5, 0.5], "z": [-1.0, 0.0, 0.0]}


@pytest.mark.parametrize("part", ["x", "s", "z"])
def test_an_answer_is_close_up_to_the_root_of_the_tolerance(part):
    assert kernel(**RIGHT).is_close
    for off, is_close in ((1e-4, True), (1e-2, False)):
        # Multipliers that move together keep the equation of the dual.
        moved = {**RIGHT, part: RIGHT[part] + off * np.eye(len(RIGHT[part]))[0]}
        assert kernel(**moved).is_close is is_close


def test_the_size_of_a_gap_is_that_of_the_proved_sides_and_else_of_the_claimed_ones():
    """Next to zero it is a share of the terms, and of what costs may be."""
    assert kernel(**RIGHT)._size() == pytest.approx(2.0)
    assert kernel(**RIGHT, offset=5.0)._size() == pytest.approx(7.0)
    assert kernel(**RIGHT, offset=-1e3)._size() == pytest.approx(998.0)
    # The claims are those of both sides.
    assert kernel(**{**RIGHT, "z": [-3.0, 0.0, 0.0]})._size() == pytest.approx(6.0)
    proved = {"value": 12.0, "bound": 8.0, "how": {VALUE: "", BOUND: ""}}
    assert kernel(**RIGHT, **proved)._size() == pytest.approx(12.0)
    assert kernel(**RIGHT, bound=8.0, how={BOUND: ""})._size() == pytest.approx(8.0)
    # A bound of zero says nothing.
    assert kernel(**RIGHT, bound=0.0, how={BOUND: ""})._size() == pytest.approx(2.0)
    cancelling = {**RIGHT, "x": [1e6, 1e6], "z": [0.0, 1.0, 1.0]}
    assert kernel(**cancelling, offset=-2e6)._size() == pytest.approx(2e6)
    small = {"value": 1e-9, "how": {VALUE: ""}}
    assert kernel(**{**RIGHT, "x": [1e6, -1e6], "z": [0, 0, 0]}, **small)._size() == 2.0


def test_what_a_proof_may_lose_is_a_share_of_the_tolerance():
    given = kernel(**RIGHT)
    _, bounds = given._proofs()
    y, inside = np.array([-1.0, 0.0, 0.0]), np.array([0.0, 1.0, 1.0])
    loss = float(bounds.cost @ (inside - y))
    assert loss == pytest.approx(1.0)
    assert given._least_share(bounds, y, inside) == pytest.approx(1e-4 * 1e-6 * 2.0 / loss)
    assert given._least_share(bounds, inside, y) == 0.1


def test_time_that_is_left_is_what_others_may_take(monkeypatch):
    clock = [10.0]
    monkeypatch.setattr("sdpdr.certify.prove.time.process_time", lambda: clock[0])
    given = kernel(**RIGHT, seconds=5.0, oracle=lambda program, seconds: seconds)
    assert (given.left(), given.is_late()) == (5.0, False)
    clock[0] = 12.0
    assert given.solve(given.program) == 3.0
    clock[0] = 16.0
    assert (given.left(), given.is_late()) == (-1.0, True)
    assert given.solve(given.program) == 0.0


def test_what_is_missing_of_an_answer_is_a_point_inside():
    nothing = np.full(2, np.nan)
    given = kernel(nothing, nothing, RIGHT["z"])
    assert given.program.all_inside(given.answer.s)
    assert np.all(np.isfinite(given.answer.x))
    given = kernel(RIGHT["x"], RIGHT["s"], np.full(3, np.nan))
    assert given.program.all_dual_inside(given.answer.z[1:])
    assert given.answer.z[0] == 0.0


def test_the_optimum_of_a_small_gap_is_looked_for_at_numbers_of_few_digits():
    """At zero itself both sides of x + y with x, y >= 0 are zero, and a point next to it is not."""
    above = Piece(NONNEGATIVE, 1, sp.csr_array(-np.eye(2)), np.zeros(2))
    program = build(np.ones(2), sp.csr_array((0, 2)), np.zeros(0), [above])
    answer = Answer(np.full(2, 1e-9), np.full(2, 1e-9), np.ones(2), True)
    given = Kernel(program, answer, None, 1e-6, inf, 0, Knowledge(nothing=1e-7))
    assert (given.run().value, given.known.bound) == (0.0, 0.0)


def test_the_optimum_of_a_small_gap_is_zero_though_others_have_many_digits():
    """Minimise x >= 0 beside y = 1 / 3, which no number of few digits is."""
    above = Piece(NONNEGATIVE, 1, sp.csr_array(-np.eye(2)), np.zeros(2))
    program = build(np.eye(2)[0], sp.csr_array([[0.0, 3.0]]), np.ones(1), [above])
    answer = Answer(np.array([1e-9, 1 / 3]), np.array([1e-9, 1 / 3]), np.eye(3)[1], True)
    given = Kernel(program, answer, None, 1e-6, inf, 0, Knowledge(nothing=1e-7))
    assert (given.run().value, given.known.bound) == (0.0, 0.0)


def test_sides_are_rounded_outwards_where_a_constant_is_added():
    rng = np.random.default_rng(0)
    for number, offset in rng.normal(size=(50, 2)) * 10.0 ** rng.uniform(-6.0, 6.0, (50, 2)):
        given, at = kernel(**RIGHT, offset=offset), np.zeros(2)
        for side in (VALUE, BOUND):
            given._take(side, Proved(number, at), "")
        exact, known = Fraction(number) + Fraction(offset), given.known
        assert Fraction(known.bound) <= exact <= Fraction(known.value)
        assert known.value - known.bound <= 1e-14 * (abs(number) + abs(offset))


def test_what_counts_as_zero_is_the_same_on_a_face():
    given = kernel(**RIGHT, scale=3.0, nothing=1e-7)
    found = given.inner(given.program, given.answer, 0)
    assert (found.scale, found.nothing) == (3.0, 1e-7)


def test_costs_are_multipliers_where_every_variable_that_costs_is_in_a_cone():
    """c + A'z = 0 with one multiplier for each variable that costs; else there are none."""

    def program(c, A):
        A = np.array(A, dtype=float)
        rows = Piece(NONNEGATIVE, 1, sp.csr_array(A), np.zeros(len(A)))
        E = sp.csr_array(np.ones((1, len(c))))
        return build(np.array(c, dtype=float), E, np.ones(1), [rows])

    for c, A, z in (
        ([3.0, 5.0], [[-2.0, 0.0], [0.0, -1.0]], [0.0, 1.5, 5.0]),
        ([3.0, 0.0], [[-2.0, 0.0], [-1.0, -1.0]], [0.0, 1.5, 0.0]),
        ([-3.0, 0.0], [[4.0, 0.0]], [0.0, 0.75]),
        # One of two limits on the same variable is enough.
        ([3.0, 2.0], [[-2.0, 0.0], [-1.0, 0.0], [0.0, -1.0]], [0.0, 1.5, 0.0, 2.0]),
        ([3.0, 5.0], [[-2.0, 0.0], [-1.0, -1.0]], None),
        ([3.0, 5.0], [[-2.0, 0.0]], None),
    ):
        given = program(c, A)
        answer = Answer(np.zeros(2), np.zeros(given.b.size), np.zeros(given.b.size + 1), True)
        found = Kernel(given, answer, None, 1e-6, inf, 0, Knowledge())._free_multipliers()
        assert (None if found is None else found.tolist()) == z


def test_a_side_as_it_is_given_is_proved_on_the_boundary_by_exact_numbers():
    """A box around multipliers one and zero leaves the cone, and they themselves do not."""
    A = sp.csr_array([[-1.0, -1.0], [-1.0, 1.0]])
    rows = Piece(NONNEGATIVE, 1, A, np.array([-1.0, 2.0]))
    program = build(np.ones(2), sp.csr_array((0, 2)), np.zeros(0), [rows])
    nothing = np.full(2, np.nan)
    for answer, side in (
        (Answer(nothing, nothing, np.array([1.0, 0.0]), True), BOUND),
        (Answer(np.full(2, 0.5), np.array([0.0, 2.0]), nothing, True), VALUE),
    ):
        known = Kernel(program, answer, None, 1e-6, inf, 0, Knowledge()).run()
        assert known.how.keys() == {side}
        assert (known.bound if side == BOUND else known.value) == pytest.approx(1.0, rel=1e-14)


# -- statements -----------------------------------------------------------------------------------


def above(least):
    """Minimise x above a number."""
    rows = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.full(1, -least))
    return value_proof(build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [rows]), np.ones(1))


@pytest.mark.parametrize("away", [1e-10, 3e-7, 2e-4, 0.05])
def test_a_point_is_moved_by_no_more_than_ten_times_as_much_as_is_needed(away):
    proof, inside = above(1.0), np.full(1, 2.0)
    found = proof.towards(np.full(1, 1.0 - away), inside)
    least = max(away, 1e-9)
    assert 1.0 <= found.number <= 1.0 + 11.0 * least
    # What costs no less than the point inside is of no use, and a share that is given is taken.
    assert proof.towards(np.full(1, 3.0), inside).number == pytest.approx(2.0)
    share = proof.towards(np.full(1, 1.0), np.full(1, 3.0), most=0.25)
    assert share.number == pytest.approx(1.5)
    # Where the share is limited from below, nothing less is tried.
    assert proof.towards(np.ones(1), inside, least=1e-2).number == pytest.approx(1.01)


def test_a_point_that_no_step_helps_stays_inside():
    """No tenth of the way leads from -9 to above one; the point inside itself is proved."""
    found = above(1.0).towards(np.full(1, -9.0), np.full(1, 1.5))
    assert found.number == pytest.approx(1.5)
    with pytest.raises(UnprovedError):
        above(1.0).towards(np.full(1, -9.0), np.full(1, 0.5))


def test_points_of_the_boundary_are_in_a_cone_and_not_inside():
    proof = above(0.0)
    assert proof.near(np.zeros(1), in_box=True).number == 0.0
    with pytest.raises(UnprovedError, match="leaves the cone"):
        proof.near(np.zeros(1), strictly=True)
    assert proof.near(np.full(1, 1e-9), strictly=True).number == pytest.approx(1e-9)
    with pytest.raises(UnprovedError, match="leaves the cone"):
        proof.near(np.full(1, -1e-9), in_box=True)


def test_a_larger_box_is_hardly_larger():
    radius = np.array([0.0, 1e-200, 1e-9, 1.0])
    found = _beyond(radius)
    assert np.all(found > radius)
    assert np.all(found <= (1.0 + 1e-9) * radius + 1e-250)


def test_unknowns_move_by_as_much_as_the_slack_is_large():
    """Squared moves over squared sizes add up to one; what no cone sees moves as the freest does.

    Multipliers of equations move by the largest of all, and by one at least.
    """
    program = random_program(4)
    program = replace(program, A=sp.csr_array(program.A @ sp.diags_array(np.r_[np.ones(6), 0.0])))
    s = program.centre * 3.0
    D = value_proof(program, s).squares
    sizes = program.each(_sizes, s)
    np.testing.assert_allclose(D[:6] * (program.A.power(2).T @ (1.0 / sizes))[:6], 1.0)
    assert D[6] == np.max(D[:6])
    for largest, free in ((0.25, 1.0), (6.0, 36.0)):
        z = np.concatenate([[0.0, -largest], largest / 2.0 * program.centre])
        squares = bound_proof(program, z).squares
        assert squares[:2].tolist() == [free, free]
        np.testing.assert_array_equal(squares[2:], program.each(_sizes, z[2:]))


def test_the_metric_of_corrections_is_that_of_squared_sizes():
    """One at points of size one, and homogeneous; of a matrix by the sizes of its diagonal."""
    rng = np.random.default_rng(0)
    for cone in (Nonnegative(1, 4), SecondOrder(2, 3), Semidefinite(2, 3)):
        e = cone.centre()
        np.testing.assert_allclose(_sizes(cone, e), 1.0)
        v = e + 0.3 * rng.normal(size=e.shape)
        np.testing.assert_allclose(_sizes(cone, 8.0 * v), 64.0 * _sizes(cone, v))
        assert isinstance(cone, Semidefinite) or np.all(_sizes(cone, 0.0 * v) > 0.0)
    matrix = np.diag([4.0, 1.0, 0.25])[np.tril_indices(3)][None]
    j, i = np.tril_indices(3)
    d = np.array([2.0, 1.0, 0.5])
    np.testing.assert_allclose(_sizes(Semidefinite(1, 3), matrix)[0], d[i] * d[j] * 4.0)
    # Those next to zero are a share of the largest.
    for size in (1e-8, 1.0, 1e8):
        thin = _sizes(Semidefinite(1, 2), size * np.array([[1.0, 0.0, 0.0]]))[0]
        np.testing.assert_allclose(thin, size**2 * np.array([1.0, 1e-6, 1e-12]))
    numbers = np.array([[4.0, 1e-3, 0.0]])
    found = _sizes(Nonnegative(1, 3), numbers)[0]
    np.testing.assert_allclose(found, [16.0, 4e-3, 1.6e-11], rtol=1e-9)


# -- levels of the path ---------------------------------------------------------------------------


def levels(monkeypatch, proves, *, gaps=None):
    """A kernel whose levels prove both sides as told, and the levels that were tried."""
    given, tried = kernel(**RIGHT), []

    def level(now, mu):
        tried.append(mu)
        if gaps is not None and proves(mu):
            given.known.value, given.known.bound = 1.0, 1.0 - gaps(mu)
        return (mu,) * 3 if proves(mu) else None

    monkeypatch.setattr(given, "_level", level)
    return given, tried


def test_levels_rise_until_both_sides_are_proved_and_no_longer(monkeypatch):
    given, tried = levels(monkeypatch, lambda mu: False)
    assert given._up(1.0, _FEW) is None
    assert tried == [_UP**k for k in range(_FEW)]
    # From the first that proves both on they rise while the gap falls; the lowest level counts.
    given, tried = levels(monkeypatch, lambda mu: mu >= _UP, gaps=lambda mu: 1e-3)
    assert given._up(1.0, _FEW) == (_UP, (_UP,) * 3)
    assert tried == [1.0, _UP, _UP**2]
    given, tried = levels(monkeypatch, lambda mu: True, gaps=lambda mu: 1e-3 / mu)
    assert given._up(1.0, _FEW) == (1.0, (1.0,) * 3)
    assert tried[:2] == [1.0, _UP]
    assert len(tried) <= _UPWARDS
    given, tried = levels(monkeypatch, lambda mu: True, gaps=lambda mu: 1e-3)
    given._up(1.0, _FEW)
    assert tried == [1.0, _UP]


def test_the_path_is_followed_from_a_level_upwards_and_down_where_one_proves_both(monkeypatch):
    given, tried = levels(monkeypatch, lambda mu: False)
    assert not given._along_path(1, _FEW)
    assert tried == pytest.approx([given._least * _UP, given._least * _UP**2])
    given, tried = levels(monkeypatch, lambda mu: mu >= 1e-3)
    assert given._along_path(0, 100)
    assert min(tried) < 1e-3 <= max(tried)


def test_levels_fall_until_half_a_step_fails(monkeypatch):
    given, tried = levels(monkeypatch, lambda mu: mu >= 1e-3)
    given._down(1.0, None)
    proved = [mu for mu in tried if mu >= 1e-3]
    assert proved == sorted(proved, reverse=True)
    assert proved[-1] < 1e-3 / _DOWN**0.5
    assert tried[0] == _DOWN
    assert len(tried) - len(proved) <= 3


# -- what is asked of programs --------------------------------------------------------------------


def test_a_scalar_with_a_quadratic_cost_counts_for_two():
    def curved(n):
        return SDP((VectorVariable("z", n, curvature=np.ones(n)),), {})

    def plain(n):
        return SDP((VectorVariable("z", n),), {})

    assert is_small(plain(2600))
    assert is_small(curved(1300 // 2))
    assert not is_small(curved(2600))
    assert is_small(SDP((PsdVariable("X", 150),), {"X": Trace(150)}))
    assert not is_small(SDP((PsdVariable("X", 155),), {"X": Trace(155)}))
    assert is_small(methods.mvu(graphs.path(np.ones(20).tolist())).to_sdp())


def test_an_arrow_counts_by_its_order_and_other_matrix_inequalities_by_their_entries():
    n = 200
    arrow, full = svec(np.diag(np.r_[1.0, np.zeros(n - 1)])), np.ones(n * (n + 1) // 2)
    z, cost = VectorVariable("z", 1), {"z": VectorMap([[1.0]])}
    for column, expected in ((arrow, True), (full, False)):
        limit = Lmi("limit", n, {"z": VectorMap(column[:, None])}, svec(np.eye(n)))
        assert is_small(SDP((z,), cost, (), (limit,))) is expected


def test_matrices_that_are_not_numbers_stay_as_they_are():
    sdp = SDP((PsdVariable("X", 2), PsdVariable("Y", 2)), {})
    given = {"X": np.array([[np.nan, 0.0], [0.0, 1.0]]), "Y": np.array([[1.0, 2.0], [2.0, 1.0]])}
    found = made_psd(sdp, given)
    np.testing.assert_array_equal(found["X"], given["X"])
    assert found["Y"] == pytest.approx(np.full((2, 2), 1.5))
