"""Laws of points proved feasible: never better than the optimum, never claimed without interior."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import graphs, methods, minimize, psd, scalar, square, sum_squares
from sdpdr.linalg import (
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
    svec,
)
from sdpdr.program import SDP, Factor, Lmi, Point, PsdVariable, Rows, VectorVariable
from sdpdr.program.attain import attain
from sdpdr.program.attain.closed import rounded_to_zero

SQRT5 = np.sqrt(5.0)
PENTAGON = [(i, (i + 1) % 5) for i in range(5)]


def theta() -> SDP:
    """Lovász's number of a pentagon, the root of five."""
    rows = (
        Rows("trace", "==", {"X": Trace(5)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(5, PENTAGON)}, np.zeros(5)),
    )
    cost = InnerProduct(-np.ones((5, 5)))
    return SDP((PsdVariable("X", 5),), {"X": cost}, rows, maximize=True)


def theta_point(noise: float = 0.0) -> np.ndarray:
    angles = 2.0 * np.pi * np.arange(5) / 5.0
    second = np.cos(2.0 * (angles[:, None] - angles[None, :]))
    # Of the optimal circulant, entries of neighbours vanish.
    gram = 1.0 - second / np.cos(2.0 * angles[1])
    gram /= np.trace(gram)
    rng = np.random.default_rng(0)
    off = rng.standard_normal((5, 5)) * noise
    return gram + off + off.T


def path(lengths: list[float]) -> tuple[SDP, np.ndarray, float]:
    """Unfolding of a path, its optimal points on a line, and the optimum."""
    sdp = methods.mvu(graphs.path(lengths)).to_sdp()
    line = np.concatenate([[0.0], np.cumsum(lengths)])[:, None]
    line = line - line.mean()
    return sdp, line, float(np.sum(line**2))


@pytest.mark.parametrize("rigorous", [False, True])
def test_who_asks_for_a_point_near_the_one_given_is_not_given_the_origin(rigorous):
    rows = (Rows("limit", "<=", {"X": Diagonal(3)}, np.ones(3)),)
    sdp = SDP((PsdVariable("X", 3),), {"X": Trace(3)}, rows)
    given = Point({"X": 0.5 * np.eye(3) + 0.1})
    assert not attain(sdp, given, rigorous=rigorous).values["X"].any()
    near = attain(sdp, given, rigorous=rigorous, near=True)
    np.testing.assert_allclose(near.values["X"], given.values["X"], atol=1e-5)
    assert near.value == pytest.approx(1.8, abs=1e-5)


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
def test_a_value_attained_is_no_better_than_the_optimum(noise, rigorous):
    found = attain(theta(), Point({"X": theta_point(noise)}), rigorous=rigorous)
    assert SQRT5 - 100 * noise - 1e-5 < found.value <= SQRT5
    X = found.values["X"]
    assert np.linalg.eigvalsh(X)[0] > 0.0
    assert abs(np.trace(X) - 1.0) < 1e-12


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**-30, 2.0**30, 2.0**60])
def test_what_is_attained_scales_with_the_data(scale):
    """Lengths times s: the optimum and what is proved of it times s squared, to the last digit."""
    sdp, line, _ = path([1.0, 2.0, 0.5])
    scaled, _, _ = path([scale, 2.0 * scale, 0.5 * scale])
    ours = attain(sdp, Point({"K": Factor(line)}), rigorous=True)
    theirs = attain(scaled, Point({"K": Factor(scale * line)}), rigorous=True)
    assert theirs.value == ours.value * scale**2


def test_an_unfolding_shrunk_holds_every_length_in_rational_arithmetic():
    sdp, line, optimum = path([16.0, 2048.0, 2.0**-11, 512.0, 0.125])
    rng = np.random.default_rng(1)
    found = attain(sdp, Point({"K": Factor(line + 1e-3 * rng.standard_normal(line.shape))}))
    proved = attain(sdp, Point({"K": found.values["K"]}), rigorous=True)
    factor = proved.values["K"].factor
    rows = next(r for r in sdp.rows if r.label == "isometry")
    for (i, j), limit in zip(rows.lhs["K"].edges, rows.rhs, strict=True):
        square = sum(
            (Fraction(a) - Fraction(b)) ** 2 for a, b in zip(factor[i], factor[j], strict=True)
        )
        assert square <= Fraction(limit)
    assert 0.0 < proved.value <= found.value <= optimum * (1.0 + 1e-12)


def test_negative_squared_lengths_are_not_attained():
    """A Gram matrix with an eigenvalue of -0.33 has one, whatever its objective."""
    sdp, line, optimum = path([16.0, 2048.0, 2.0**-11, 512.0, 0.125])
    bad = line @ line.T
    bad[2, 3] += 60.0
    bad[3, 2] += 60.0
    found = attain(sdp, Point({"K": bad}))
    assert found.value <= optimum * (1.0 + 1e-12)
    assert np.linalg.eigvalsh(found.values["K"])[0] > -1e-9 * optimum


@pytest.mark.parametrize("dense", [False, True])
def test_a_diagonal_is_met_by_normalising(dense):
    cost = InnerProduct(-np.array([[2.0, -1.0, -1.0], [-1.0, 2.0, -1.0], [-1.0, -1.0, 2.0]]) / 4.0)
    rows = (Rows("diagonal", "==", {"X": Diagonal(3)}, np.ones(3)),)
    sdp = SDP((PsdVariable("X", 3),), {"X": cost}, rows, maximize=True)
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    factor = 1.001 * np.column_stack([np.cos(angles), np.sin(angles)])
    given = factor @ factor.T if dense else Factor(factor)
    found = attain(sdp, Point({"X": given}), rigorous=True)
    assert 2.25 - 1e-9 < found.value <= 2.25


def test_without_interior_nothing_is_proved():
    """X11 = 0 leaves singular matrices only; rounding would be worth the whole value."""
    zero = SvecMap.from_entries(3, 1, np.array([0]), np.array([0]), np.array([0]), np.ones(1))
    row, i, j = np.array([0, 0]), np.array([2, 0]), np.array([2, 1])
    mixed = SvecMap.from_entries(3, 1, row, i, j, np.ones(2))
    rows = (
        Rows("zero", "==", {"X": zero}, np.zeros(1)),
        Rows("mixed", "==", {"X": mixed}, np.ones(1)),
    )
    sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([0.0, 0.0, 1.0]))}, rows)
    cheat = np.array([[1e-12, 0.5, 0.0], [0.5, 0.25e12, 0.0], [0.0, 0.0, 1e-9]])
    found = attain(sdp, Point({"X": cheat}))
    assert found.value is None
    assert "no point was proved feasible" in found.argument


def test_matrix_inequalities_inequalities_and_free_scalars_are_met():
    """The least largest eigenvalue: min t with t I - A psd; and z free, bounded by rows."""
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    lmi = Lmi("eigen", 2, {"t": VectorMap(svec(np.eye(2))[:, None])}, -svec(A))
    sdp = SDP((VectorVariable("t", 1),), {"t": VectorMap([[1.0]])}, (), (lmi,))
    found = attain(sdp, Point({"t": np.array([3.0 - 1e-9])}), rigorous=True)
    assert 3.0 <= found.value < 3.0 + 1e-5


def test_dependent_rows_are_shown_to_follow_exactly_or_not_at_all():
    """The trace twice is one row; with another right side there is no feasible point."""
    cost = {"X": InnerProduct(np.diag([1.0, 2.0]))}
    once = Rows("once", "==", {"X": Trace(2)}, np.ones(1))
    twice = Rows("twice", "==", {"X": InnerProduct(2.0 * np.eye(2))}, 2.0 * np.ones(1))
    other = Rows("other", "==", {"X": InnerProduct(3.0 * np.eye(2))}, 3.0 * np.ones(1) + 1e-9)
    X = (PsdVariable("X", 2),)
    point = Point({"X": np.diag([0.9, 0.1])})
    assert attain(SDP(X, cost, (once, twice)), point, rigorous=True).value is not None
    for rigorous in (False, True):
        found = attain(SDP(X, cost, (once, other)), point, rigorous=rigorous)
        assert found.value is None, found.argument


@pytest.mark.parametrize("depth", [1e-4, 1e-7, 1e-10])
def test_a_point_inside_that_satisfies_the_rows_stays_where_it_is(depth):
    """The largest diagonal entry of a matrix with the identity beside its diagonal blocks."""
    pairs = [(i, 3 + j) for i in range(3) for j in range(3)]
    ones = VectorMap(np.ones((6, 1)))
    rows = (
        Rows("beside", "==", {"T": Entries(6, pairs)}, np.eye(3).ravel()),
        Rows("top", "<=", {"T": Diagonal(6), "t": -1.0 * ones}, np.zeros(6)),
    )
    variables = PsdVariable("T", 6), VectorVariable("t", 1)
    sdp = SDP(variables, {"t": VectorMap(np.ones((1, 1)))}, rows)
    eye = np.eye(3)
    T = np.block([[(1.0 + depth) * eye, eye], [eye, (1.0 + depth) * eye]])
    found = attain(sdp, Point({"T": T, "t": np.array([1.0 + 2.0 * depth])}))
    assert 1.0 < found.value <= 1.0 + 3.0 * depth


def test_a_point_that_holds_every_inequality_is_attained_as_it_is():
    """Rows of either sign and homogeneous ones: all that is lost is what limits are missed by."""
    near, far = SquaredEdgeLengths(3, [[0, 1]]), SquaredEdgeLengths(3, [[0, 2]])
    rows = (
        Rows("short", "<=", {"K": near}, np.array([1.0])),
        Rows("long", "<=", {"K": -far}, np.array([-2.0])),
        Rows("order", "<=", {"K": near - far}, np.array([0.0])),
        Rows("centre", "==", {"K": Products(3, np.ones(3))}, np.zeros(3)),
    )
    sdp = SDP((PsdVariable("K", 3),), {"K": InnerProduct(np.eye(3))}, rows)
    factor = np.array([[-1.0], [0.0], [1.0]])
    inside = attain(sdp, Point({"K": Factor(0.99 * factor)}))
    assert inside.value == pytest.approx(0.99**2 * 2.0, rel=1e-14)
    outside = attain(sdp, Point({"K": Factor((1.0 + 1e-9) * factor)}))
    assert outside.value == pytest.approx(2.0, rel=1e-8)
    for found in (inside, outside):
        assert all(np.min(sdp.slack(r, found.values)) >= 0.0 for r in rows[:3])


# -- fixed blocks ------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1), size=st.integers(1, 4), off=st.sampled_from([0.0, 1e-9, 1e-5])
)
@settings(max_examples=30)
def test_a_factor_is_moved_to_its_fixed_block(seed, size, off):
    rng = np.random.default_rng(seed)
    n = size + 3
    base = rng.standard_normal((size, size + 1))
    block = base @ base.T + 0.1 * np.eye(size)
    pairs = np.column_stack(np.triu_indices(size))
    fixed = Rows("fixed", "==", {"Z": Entries(n, pairs)}, block[tuple(pairs.T)])
    sdp = SDP((PsdVariable("Z", n),), {"Z": InnerProduct(np.eye(n))}, (fixed,))
    factor = rng.standard_normal((n, size + 2))
    factor[:size] = np.linalg.cholesky(block) @ np.eye(size, size + 2)
    factor[:size] += off * np.abs(factor[:size]).max() * rng.standard_normal((size, size + 2))
    found = attain(sdp, Point({"Z": Factor(factor)}))
    assert found.value == pytest.approx(np.sum(np.square(factor)), rel=1e-3)
    moved = found.values["Z"].factor
    assert moved[:size] @ moved[:size].T == pytest.approx(block, rel=1e-12, abs=1e-12)
    assert np.array_equal(moved[size:], factor[size:])


@pytest.mark.nightly
def test_a_correlation_matrix_of_order_eighty_is_proved_nearest():
    data = np.random.default_rng(80).uniform(-1.0, 1.0, (80, 80))
    X = psd("X", 80)
    model = minimize(sum_squares(X - (data + data.T) / 2.0)) + (X.diagonal() == 1.0)
    assert sdpdr.solve(model, "scs", "gram").certified(1e-6)


@pytest.mark.parametrize("price", [abs, square])
@settings(max_examples=10)
@given(eighths=st.lists(st.integers(-4000, 4000), min_size=1, max_size=4))
def test_an_optimum_of_zero_at_numbers_of_few_digits_is_attained_exactly(price, eighths):
    t = scalar("t", len(eighths))
    solution = sdpdr.solve(minimize(price(t - np.array(eighths) / 8.0).sum()))
    assert solution.status.name == "SOLVED"
    assert solution.attained == solution.bound == 0.0


@given(slope=st.integers(3, 99), tenths=st.integers(1, 99))
def test_zero_is_attained_only_where_all_rows_hold_exactly(slope, tenths):
    t, shift = scalar("t"), tenths / 10.0
    sdp = (minimize(abs(slope * t - shift)) + (t >= 0.0)).to_sdp()
    rounded = Fraction(float(np.round(shift / slope, 8)))
    values = {v.name: np.full(1, 1e-14) for v in sdp.vector_variables}
    found = rounded_to_zero(sdp, values | {"t": np.array([shift / slope])})
    assert (found is not None) == (slope * rounded == Fraction(shift))
