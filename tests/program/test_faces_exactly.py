"""Faces and values rest on exact statements, and errors of rounding are counted in full."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.certify.bounds.limits import VariableLimits
from sdpdr.errors import DataError
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    Stacked,
    Summed,
    SvecMap,
    Trace,
)
from sdpdr.linalg.magnitudes import row_terms
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows
from sdpdr.program.face import exposing_rows, is_face_known

from ..proofs import attain, certify


def equalities(n, cost, **groups):
    rows = tuple(
        Rows(label, "==", {"X": linear_map}, np.broadcast_to(np.asarray(side, float), linear_map.m))
        for label, (linear_map, side) in groups.items()
    )
    return SDP((PsdVariable("X", n),), {"X": cost}, rows)


def test_null_vectors_equal_up_to_rounding_do_not_state_the_face():
    # X (1, 1, 1) = 0 and X (1, 1, 1 + 1e-13) = 0 leave X_33 = 0.
    near = Products(3, np.array([1.0, 1.0, 1.0 + 1e-13]))
    corner = Entries(3, [[2, 2]])
    sdp = equalities(3, -1.0 * corner, size=(Trace(3), 1.0), u=(Products(3), 0.0), v=(near, 0.0))
    point = Point({"X": (np.eye(3) - 1.0 / 3.0) / 2.0})
    assert not is_face_known(sdp, "X")
    assert attain(sdp, point).value is None


def test_null_vectors_that_depend_exactly_state_the_face():
    twice = Products(3, np.full(3, 2.0))
    sdp = equalities(3, Trace(3), size=(Trace(3), 1.0), u=(Products(3), 0.0), v=(twice, 0.0))
    point = Point({"X": (np.eye(3) - 1.0 / 3.0) / 2.0})
    assert is_face_known(sdp, "X")
    assert attain(sdp, point).value == pytest.approx(1.0)


def test_rows_stacked_below_null_vectors_are_not_forgotten():
    # X_11 + 2 X_12 + X_22 = 0 and X_11 = X_33 leave X_33 <= 1/3 of a trace of one.
    stacked = Stacked([QuadraticForms([[1.0, 1.0, 0.0]]), InnerProduct(np.diag([1.0, 0.0, -1.0]))])
    corner = Entries(3, [[2, 2]])
    sdp = equalities(3, -1.0 * corner, size=(Trace(3), 1.0), u=(stacked, 0.0))
    assert exposing_rows(sdp, "X") == ()
    point = Point({"X": np.diag([0.0, 0.0, 1.0])})
    found = attain(sdp, point)
    assert found.value is None or found.value >= -1.0 / 3.0


def test_a_row_of_zeros_times_a_vector_says_nothing():
    sdp = equalities(
        2, Trace(2), corner=(Entries(2, [[0, 0]]), 1.0), u=(Products(2, np.zeros(2)), 0)
    )
    solution = sdpdr.solve(sdp, "cvxopt", "gram")
    assert solution.certified()
    assert solution.value == pytest.approx(1.0)


def test_rows_equal_in_rounded_products_only_are_not_shown_to_depend():
    # 0.1 * 0.1 X_11 = 1 with the exact product contradicts fl(0.1 * 0.1) X_11 = 1.
    tenth = sp.csr_array(np.array([[0.1, 0.0]]))
    product, rounded = BilinearForms(tenth, tenth), SvecMap(2, np.array([[0.1 * 0.1, 0.0, 0.0]]))
    assert Fraction(0.1) ** 2 != Fraction(0.1 * 0.1)
    point = Point({"X": 100.0 * np.eye(2)})
    sdp = equalities(2, Trace(2), a=(product, 1.0), b=(rounded, 1.0))
    assert attain(sdp, point).value is None


@pytest.mark.xfail(strict=True, reason="equal rows of products are not seen to be one")
def test_rows_of_the_same_products_depend():
    form = QuadraticForms([[0.1, 0.2]])
    twice = equalities(2, Trace(2), a=(form, 1.0), b=(form, 1.0))
    assert sdpdr.solve(twice, "clarabel").status is sdpdr.Status.SOLVED


@pytest.mark.nightly
def test_a_number_that_is_rounding_alone_is_not_scaled_to_the_one_asked_for():
    # -(v.x)^2 = 1 has no solution; orthogonal to v, rounding leaves numbers of either sign.
    v = np.array([3.0, 1.0, 7.0])
    sdp = equalities(3, Trace(3), form=(InnerProduct(-np.outer(v, v)), 1.0))
    for x in np.random.default_rng(0).normal(size=(12, 3)):
        factor = Factor((x - v * (v @ x) / (v @ v))[:, None])
        assert attain(sdp, Point({"X": factor})).value is None


@pytest.mark.nightly
@pytest.mark.parametrize("shift", [0.0, 1e-18, 1e-16])
def test_a_cost_that_cancels_is_bounded_by_what_is_left_exactly(shift):
    corner = Entries(2, [[0, 0]])
    cost = Summed([0.1 * corner, 0.2 * corner, -0.3 * corner])
    optimum = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    sdp = equalities(2, cost, ones=(Diagonal(2), 1.0))
    for y in (cost.matrix()[0, 0] - shift, shift):
        duals = {"ones": np.array([-y, shift])}
        bound = certify(sdp, duals).bound
        assert bound is None or Fraction(bound) <= optimum
    value = attain(sdp, Point({"X": Factor(np.eye(2))})).value
    assert Fraction(value) >= optimum


def test_entries_that_are_sums_of_many_terms_count_them():
    once = Entries(1, [[0, 0]])
    many = np.ones((1, 1000)) @ Stacked([once] * 1000)
    assert row_terms(many) >= 1000


@pytest.mark.nightly
def test_a_row_whose_coefficient_rounding_turns_positive_limits_nothing():
    numbers = (1.0, 1.25 * 2.0**-53, -(1.0 + 2.0**-52), 2.0**-60)
    row = Summed([t * Entries(1, [[0, 0]]) for t in numbers])
    assert sum(map(Fraction, numbers)) < 0 < row.matrix()[0, 0]
    limit = Rows("limit", "<=", {"X": row}, np.ones(1))
    sdp = SDP((PsdVariable("X", 1),), {"X": -1.0 * Trace(1)}, (limit,))
    assert VariableLimits(sdp).trace("X") == np.inf
    assert certify(sdp, {"limit": np.zeros(1)}).bound is None


def test_no_tolerance_certifies_what_is_not_proved():
    sdp = equalities(2, Trace(2), corner=(Entries(2, [[0, 0]]), 1.0))
    solution = sdpdr.solve(sdp, "cvxopt", "gram")
    assert not replace(solution, bound=None).certified(np.inf)
    assert not replace(solution, attained=None).certified(np.inf)


@pytest.mark.parametrize("scale", [-1.0, np.inf, np.nan])
def test_a_gap_scale_that_would_certify_anything_is_refused(scale):
    sdp = equalities(1, Trace(1), one=(Trace(1), 1.0))
    with pytest.raises(DataError, match="gap_scale"):
        sdpdr.solve(sdp, gap_scale=scale)
