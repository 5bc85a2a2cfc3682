"""Laws of small proofs: no side beyond the optimum, and no proof of what has no interior."""

from __future__ import annotations

from unittest.mock import patch

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr.linalg import Entries, InnerProduct, SvecMap, Trace, VectorMap, svec_size
from sdpdr.model.conic.cones import arrow
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable
from sdpdr.program.attain import local
from sdpdr.program.attain.arrows import of_head
from sdpdr.program.attain.local import both_sides
from sdpdr.program.attain.written import written_out

ORDER = 4


def least_eigenvalue(matrix):
    """The least <A, X> over X of trace one."""
    one = Rows("one", "==", {"X": Trace(len(matrix))}, np.ones(1))
    return SDP((PsdVariable("X", len(matrix)),), {"X": InnerProduct(matrix)}, (one,))


def largest_shift(matrix):
    """The largest t with A - t I positive semidefinite, as a minimisation with a free scalar."""
    n = len(matrix)
    identity = np.zeros(svec_size(n))
    identity[[k * (k + 3) // 2 for k in range(n)]] = 1.0
    constant = sdpdr.linalg.svec(matrix)
    lmi = Lmi("below", n, {"t": VectorMap(-identity[:, None])}, constant)
    return SDP((VectorVariable("t", 1),), {"t": VectorMap(-np.ones((1, 1)))}, (), (lmi,))


def symmetric(rng):
    noise = rng.standard_normal((ORDER, ORDER))
    return noise + noise.T


@given(
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from([0.0, 1e-9, 1e-7, 1e-3]),
    units=st.sampled_from([1e-3, 1.0, 1e4]),
    wide=st.booleans(),
)
@settings(max_examples=20)
def test_no_side_is_beyond_the_optimum(seed, noise, units, wide):
    rng = np.random.default_rng(seed)
    matrix = units * symmetric(rng)
    values, vectors = np.linalg.eigh(matrix)
    lowest, best = values[0], np.outer(vectors[:, 0], vectors[:, 0])
    moved = best + noise * symmetric(rng)
    for sdp, point, optimum in (
        (
            least_eigenvalue(matrix),
            Point({"X": moved}, {"one": np.array([-lowest * (1.0 + noise)])}),
            lowest,
        ),
        (
            largest_shift(matrix),
            Point({"t": np.array([lowest * (1.0 + noise)])}, {"below": moved}),
            -lowest,
        ),
    ):
        with patch.object(local, "_WIDE", 0.0 if wide else np.inf):
            found = both_sides(sdp, point, 1e-6)
        if noise <= 1e-9:
            assert found.meet
        if found.meet:
            certificate, attained = found.certificate, found.attained
            rounding = 1e-12 * units
            assert certificate.bound <= optimum + rounding
            assert attained.value >= optimum - rounding
            assert attained.value - certificate.bound <= 1e-6 * abs(attained.value)


def test_what_equations_confine_to_the_boundary_has_no_small_proof():
    """Of trace one with a first entry of zero: feasible, and never inside."""
    sdp = least_eigenvalue(np.diag([1.0, 2.0, 3.0]))
    corner = Rows("corner", "==", {"X": Entries(3, [[0, 0]])}, np.zeros(1))
    confined = SDP(sdp.variables, sdp.objective, (*sdp.rows, corner))
    duals = {"one": -2.0 * np.ones(1), "corner": np.array([5.0])}
    corner_point = Point({"X": np.diag([0.0, 1.0, 0.0])}, duals)
    assert both_sides(confined, corner_point, 1e-6).attained is None


def test_a_point_that_misses_its_equations_for_good_is_none():
    """Neither trace one nor trace two can be met by both."""
    one = least_eigenvalue(np.eye(2))
    two = Rows("two", "==", {"X": Trace(2)}, 2.0 * np.ones(1))
    sdp = SDP(one.variables, one.objective, (*one.rows, two))
    duals = {"one": -np.ones(1), "two": np.zeros(1)}
    assert both_sides(sdp, Point({"X": np.eye(2) / 2.0}, duals), 1e-6).attained is None


def test_limits_that_an_equation_implies_do_not_stand_in_the_way():
    """X_01 = 0 and X_01 >= 0: the second has no interior, and says nothing more."""
    sdp = least_eigenvalue(np.diag([1.0, 2.0]))
    zero = Rows("zero", "==", {"X": Entries(2, [[0, 1]])}, np.zeros(1))
    sign = Rows("sign", "<=", {"X": -1.0 * Entries(2, [[0, 1]])}, np.zeros(1))
    both = SDP(sdp.variables, sdp.objective, (*sdp.rows, zero, sign))
    assert written_out(both).t.size == svec_size(2)
    duals = {"one": -np.ones(1), "zero": np.array([0.25]), "sign": np.array([0.25])}
    found = both_sides(both, Point({"X": np.diag([1.0, 0.0])}, duals), 1e-6)
    certificate, attained = found.certificate, found.attained
    assert certificate.bound <= 1.0 <= attained.value
    # What the sign was paid is paid to the equation.
    assert certificate.duals["sign"].tolist() == [0.0]
    assert certificate.duals["zero"][0] == pytest.approx(0.0)


def test_a_convex_cost_is_bounded_by_its_tangent():
    """The least (x - 1)^2 / 2 over x <= 0 is 1/2."""
    x = VectorVariable("x", 1, curvature=np.ones(1))
    limit = Rows("limit", "<=", {"x": VectorMap(np.ones((1, 1)))}, np.zeros(1))
    sdp = SDP((x,), {"x": VectorMap(-np.ones((1, 1)))}, (limit,), constant=0.5)
    near = Point({"x": np.array([-1e-9])}, {"limit": np.array([1.0 + 1e-9])})
    found = both_sides(sdp, near, 1e-6)
    certificate, attained = found.certificate, found.attained
    assert 0.5 - 1e-6 < certificate.bound <= 0.5 + 1e-15
    assert 0.5 - 1e-15 <= attained.value < 0.5 + 1e-6


def test_several_matrices_of_like_order_are_told_apart():
    """The sum of two least eigenvalues, with a matrix of another order between."""
    costs = {"A": np.diag([1.0, 2.0]), "B": np.diag([3.0, 4.0, 5.0]), "C": np.diag([7.0, 6.0])}
    rows = tuple(Rows(k.lower(), "==", {k: Trace(len(c))}, np.ones(1)) for k, c in costs.items())
    variables = tuple(PsdVariable(k, len(c)) for k, c in costs.items())
    sdp = SDP(variables, {k: InnerProduct(c) for k, c in costs.items()}, rows)
    found = sdpdr.solve(sdp)
    assert found.certified(1e-6)
    assert found.value == pytest.approx(1.0 + 3.0 + 6.0, rel=1e-6)
    assert np.allclose(found.values["C"], np.diag([0.0, 1.0]), atol=1e-5)


def test_an_empty_face_is_no_program_to_move_in():
    """As many equations as entries leave nothing to be moved, and a point inside is proved."""
    rows = Rows("all", "==", {"X": SvecMap(2, np.eye(3))}, np.array([1.0, 0.0, 2.0]))
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,))
    duals = {"all": np.array([-1.0 + 1e-7, 0.0, -1.0 + 1e-7])}
    found = both_sides(sdp, Point({"X": np.diag([1.0, 2.0])}, duals), 1e-6)
    certificate, attained = found.certificate, found.attained
    assert certificate.bound <= 3.0 <= attained.value + 1e-12


@pytest.mark.parametrize(("m", "seed"), [(3, 0), (5, 1), (40, 2)])
def test_arrows_are_proved_by_their_heads(m, seed):
    """The least c x over |x - a| <= 1 is c a - |c|, and its multipliers are positive."""
    rng = np.random.default_rng(seed)
    a, c = rng.standard_normal((2, m))
    body = arrow(m + 1)
    constant = body @ np.concatenate([[1.0], -a])
    lmi = Lmi("ball", m + 1, {"x": VectorMap(body[:, 1:])}, constant)
    sdp = SDP((VectorVariable("x", m),), {"x": VectorMap(c[None])}, (), (lmi,))
    assert written_out(sdp).t.size == m + 2
    best = c @ a - np.linalg.norm(c)
    x = a - (1.0 - 1e-9) * c / np.linalg.norm(c)
    head = np.concatenate([[1.0, 1.0], np.sqrt(2.0) * c / np.linalg.norm(c)])
    multiplier = 0.5 * np.linalg.norm(c) * of_head(m + 1, head)
    found = both_sides(sdp, Point({"x": x}, {"ball": multiplier}), 1e-6)
    certificate, attained = found.certificate, found.attained
    assert best - 1e-6 * abs(best) < certificate.bound <= best * (1.0 - 1e-15 * np.sign(best))
    assert best * (1.0 + 1e-15 * np.sign(best)) <= attained.value < best + 1e-6 * abs(best)
    assert np.linalg.eigvalsh(certificate.duals["ball"])[0] >= -1e-12


def least_of_polynomial(seed):
    """The least value of a polynomial of degree 12, whose matrix of moments has rank one."""
    c = np.append(np.random.default_rng(seed).standard_normal(12), 1.0)
    Q, t = cp.Variable((7, 7), PSD=True), cp.Variable()
    sums = [sum(Q[i, k - i] for i in range(7) if 0 <= k - i <= 6) for k in range(13)]
    rows = [sums[0] + t == c[0], *(total == c[k] for k, total in enumerate(sums) if k)]
    real = np.polynomial.Polynomial(c)
    turns = [x.real for x in real.deriv().roots() if abs(x.imag) < 1e-9]
    return sdpdr.from_cvxpy(cp.Problem(cp.Maximize(t), rows)), min(real(np.array(turns)))


@pytest.mark.parametrize("seed", [2, 3])
def test_moments_are_moved_inwards_as_often_as_points(seed):
    program, least = least_of_polynomial(seed)
    found = sdpdr.solve(program, "clarabel", form="gram")
    assert found.certified(1e-6)
    assert found.value == pytest.approx(least, rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_a_constant_that_cancels_costs_what_rounding_may_make_of_it(seed):
    """x + |f - a|^2 / 2 over x >= 1 has the optimum 1, which doubles lose beside |a|^2 / 2."""
    k, rng = 200, np.random.default_rng(seed)
    a = np.zeros(k)
    a[0] = np.round(rng.uniform(1.0, 2.0) * 1e8)
    rows = (
        Rows("x", "<=", {"X": InnerProduct(-np.eye(1))}, -np.ones(1)),
        Rows("r", "<=", {"f": VectorMap(np.eye(k))}, a + 5.0),
    )
    sdp = SDP(
        (PsdVariable("X", 1), VectorVariable("f", k, curvature=np.ones(k))),
        {"X": InnerProduct(np.eye(1)), "f": VectorMap(-a[None])},
        rows,
        constant=a[0] * a[0] / 2.0,
    )
    found = sdpdr.solve(sdp, "clarabel", form="gram", progress=False)
    assert found.bound is None or found.bound <= 1.0
    assert found.attained is None or found.attained >= 1.0
    assert not found.certified(1e-6)


@pytest.mark.nightly
def test_a_program_with_a_long_second_order_cone_is_certified():
    """A completion with noise of 26 x 22 entries, whose one norm has some 340."""
    rng, m, n = np.random.default_rng(3), 26, 22
    X = cp.Variable((m, n))
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    i, j = np.nonzero(rng.random((m, n)) < 0.6)
    seen = truth[i, j] + 0.1 * rng.standard_normal(i.size)
    near = cp.norm(X[i, j] - seen) <= 0.5
    sdp = sdpdr.from_cvxpy(cp.Problem(cp.Minimize(cp.normNuc(X)), [near]))
    found = sdpdr.solve(sdp, "clarabel", "lmi")
    assert found.certified(1e-6)


@pytest.mark.integration
def test_long_second_order_cones_are_proved_also_where_they_are_not_small():
    """A completion with noise of 26 x 22 entries, whose one norm has some 340."""
    rng, m, n = np.random.default_rng(3), 26, 22
    X = cp.Variable((m, n))
    truth = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    i, j = np.nonzero(rng.random((m, n)) < 0.6)
    seen = truth[i, j] + 0.1 * rng.standard_normal(i.size)
    near = cp.norm(X[i, j] - seen) <= 0.5
    sdp = sdpdr.from_cvxpy(cp.Problem(cp.Minimize(cp.normNuc(X)), [near]))
    found = sdpdr.solve(sdp, "clarabel", "lmi")
    assert found.certified(1e-6)
    assert found.argument.startswith("multipliers inside all cones")
