"""No row of a group is forgotten, no small objective is zero, no rounding is a conflict."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    Summed,
    SvecMap,
    Trace,
    svec,
)
from sdpdr.program import SDP, Factor, PsdVariable, Rows
from sdpdr.program.face import exposing_rows, null_vectors
from sdpdr.program.sizes import gap_scale
from sdpdr.reduce import Face

from ..proofs import certify

ALL = pytest.mark.parametrize("solver", ["clarabel", "cvxopt", "lowrank", "auto"])


def equalities(n, cost, **groups):
    rows = tuple(
        Rows(label, "==", {"X": linear_map}, np.broadcast_to(np.asarray(side, float), linear_map.m))
        for label, (linear_map, side) in groups.items()
    )
    return SDP((PsdVariable("X", n),), {"X": cost}, rows)


# -- rows beside those that state a face --------------------------------------------------------

# Neither a difference of forms nor a part of them, taken by weights, tells that each form vanishes.
FORGOTTEN = {
    "difference": np.array([[1.0, -1.0]]) @ QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "selection": np.array([[0.0, 1.0]]) @ QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "part of a product": Products(3, np.array([1.0, 0.0, -1.0]))[[0]],
    "a row twice": np.array([[1.0, 0.0], [1.0, 0.0]]) @ QuadraticForms(np.eye(3)[:2]),
    "a weight of zero": sp.csr_array((np.zeros(1), ([0], [0])), shape=(1, 1))
    @ QuadraticForms(np.eye(3)[:1]),
}


@pytest.mark.parametrize("part", FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_group_states_a_face_only_if_every_part_of_it_does(part):
    stacked = Stacked([QuadraticForms([[1.0, 1.0, 0.0]]), part])
    sdp = equalities(3, Trace(3), size=(Trace(3), 1.0), u=(stacked, 0.0))
    assert exposing_rows(sdp, "X") == ()


def test_forms_that_are_only_scaled_and_ordered_state_the_face():
    swapped = np.array([[0.0, -2.0], [3.0, 0.0]]) @ QuadraticForms(np.eye(3)[:2])
    stacked = Stacked([QuadraticForms([[1.0, 1.0, 0.0]]), swapped, Products(3)])
    sdp = equalities(3, Trace(3), u=(stacked, 0.0))
    assert [r.label for r in exposing_rows(sdp, "X")] == ["u"]


def test_forms_taken_of_others_are_forms_and_state_the_face():
    taken = QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])[[1]]
    stacked = Stacked([QuadraticForms([[1.0, 1.0, 0.0]]), taken])
    sdp = equalities(3, Trace(3), size=(Trace(3), 1.0), u=(stacked, 0.0))
    assert [r.label for r in exposing_rows(sdp, "X")] == ["u"]
    np.testing.assert_array_equal(null_vectors(sdp, "X").toarray().T, [[1, 1, 0], [0, 0, 1]])


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["clarabel", "lowrank"])
def test_what_is_left_of_a_face_of_taken_forms_is_optimised(solver):
    # X (1, 1, 0) = 0 and X_33 = 0 leave one point of trace one, where X_12 = -1/2.
    taken = QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])[[1]]
    stacked = Stacked([QuadraticForms([[1.0, 1.0, 0.0]]), taken])
    for sign in (-1.0, 1.0):
        cost = sign * Entries(3, [[0, 1]])
        sdp = equalities(3, cost, size=(Trace(3), 1.0), u=(stacked, 0.0))
        solution = sdpdr.solve(sdp, solver)
        assert solution.certified(1e-6)
        assert solution.value == pytest.approx(-sign / 2.0, rel=1e-6)


@pytest.mark.nightly
@ALL
def test_a_difference_of_forms_below_a_null_vector_is_not_forgotten(solver):
    # X (1, 1, 0) = 0 and X_11 = X_33 leave X_33 = 1/3 of a trace of one.
    stacked = Stacked([QuadraticForms([[1.0, 1.0, 0.0]]), FORGOTTEN["difference"]])
    corner = Entries(3, [[2, 2]])
    sdp = equalities(3, -1.0 * corner, size=(Trace(3), 1.0), u=(stacked, 0.0))
    solution = sdpdr.solve(sdp, solver)
    assert solution.bound is None or solution.bound <= -1.0 / 3.0 + 1e-15
    assert solution.attained is None or solution.attained >= -1.0 / 3.0 - 1e-15
    assert solution.value == pytest.approx(-1.0 / 3.0, rel=1e-6)


# -- objectives that cancel in part -------------------------------------------------------------


def cut(n=200):
    """<X, u u^T - v v^T> of signs X, least at v v^T; the diagonal of the cost is zero."""
    u, v = np.ones(n), np.repeat([1.0, -1.0], n // 2)
    cost = np.array([[1.0, -1.0]]) @ QuadraticForms(np.vstack([u, v]))
    return equalities(n, cost, ones=(Diagonal(n), 1.0)), v


@pytest.mark.nightly
def test_a_cost_without_a_diagonal_is_an_objective():
    sdp, v = cut()
    assert not sdp.cost("X").diagonal().any()
    assert sdp.primal_value({"X": Factor(v[:, None])}) == -(v.size**2)
    bound = certify(sdp, {"ones": np.zeros(v.size)}).bound
    assert bound is None or bound <= -(v.size**2)
    assert gap_scale(sdp) > 0.0


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["lowrank", "auto"])
def test_the_least_value_of_a_cost_without_a_diagonal_is_found(solver):
    sdp, v = cut()
    solution = sdpdr.solve(sdp, solver, time_limit=20)
    assert solution.bound is None or solution.bound <= -(v.size**2)
    assert solution.value == pytest.approx(-(v.size**2), rel=1e-6)


@pytest.mark.nightly
def test_a_cost_that_only_rounding_makes_zero_is_an_objective():
    corner = Entries(2, [[0, 0]])
    cost = Summed([-1.0 * corner, -(2.0**-60) * corner, 1.0 * corner])
    sdp = equalities(2, cost, ones=(Diagonal(2), 1.0))
    assert not sdp.cost("X").toarray().any()
    bound = certify(sdp, {"ones": np.zeros(2)}).bound
    assert bound is not None
    assert Fraction(bound) <= -(Fraction(2) ** -60)


@pytest.mark.parametrize("cost", [0.0 * Trace(2), Summed([Trace(2), -1.0 * Trace(2)])])
def test_a_cost_that_is_zero_is_no_objective(cost):
    sdp = equalities(2, cost, ones=(Diagonal(2), 1.0))
    certificate = certify(sdp, {"ones": np.zeros(2)})
    assert certificate.bound == 0.0


# -- rows that are small on a face --------------------------------------------------------------


def nearly_vanishing(eps, side):
    """X (1, 1, 0) = 0 with the row X_11 + X_12 + eps X_33, whose first two terms cancel."""
    row = InnerProduct(np.array([[1.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, eps]]))
    null = Products(3, np.array([1.0, 1.0, 0.0]))
    return equalities(3, Trace(3), u=(null, 0.0), r=(row, side))


@pytest.mark.nightly
@ALL
@pytest.mark.parametrize("power", [-38, -42, -44])
def test_a_row_that_is_small_on_the_face_is_no_contradiction(solver, power):
    sdp = nearly_vanishing(2.0**power, 2.0**power)
    feasible = {"X": np.diag([0.0, 0.0, 1.0])}
    assert all(not np.any(sdp.slack(r, feasible)) for r in sdp.rows)
    solution = sdpdr.solve(sdp, solver)
    assert solution.bound is None or solution.bound <= 1.0
    assert solution.attained is None or solution.attained >= 1.0
    if solver != "lowrank":
        assert solution.value == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("solver", ["clarabel", "lowrank"])
def test_a_row_that_vanishes_and_cannot_hold_is_proved_a_contradiction(solver):
    answer = sdpdr.solve(nearly_vanishing(0.0, 2.0**-42), solver)
    assert answer.status is sdpdr.Status.INFEASIBLE


@pytest.mark.parametrize("basis", ["auto", "orthonormal"])
def test_a_row_that_vanishes_says_nothing_and_a_small_one_something(basis):
    assert Face(basis).apply(nearly_vanishing(0.0, 0.0)).sdp.n_rows == 0
    assert Face(basis).apply(nearly_vanishing(2.0**-42, 0.0)).sdp.n_rows == 1


def test_a_row_whose_root_of_two_was_rounded_is_not_called_a_contradiction():
    # In the numbers stored, 1 + 1 - 2 fl(sqrt 2) / sqrt 2 is not zero on the face K (1, -1) = 0.
    row = SvecMap(2, np.array([[1.0, -np.sqrt(2.0), 1.0]]))
    null = Products(2, np.array([1.0, -1.0]))
    assert Face().apply(equalities(2, Trace(2), u=(null, 0.0), r=(row, 1.0))).sdp.n_rows == 1
    # With a right side of zero it is rounding.
    assert Face().apply(equalities(2, Trace(2), u=(null, 0.0), r=(row, 0.0))).sdp.n_rows == 0


# -- forms in vectors stored with repetitions ---------------------------------------------------


def test_a_product_of_the_vectors_with_themselves_changes_no_form():
    lengths = SquaredEdgeLengths(2, np.array([[0, 0], [0, 1], [0, 1]]))
    gram = np.array([[2.0, 1.0], [1.0, 5.0]])
    # Else SciPy adds up repeated entries in place, in buffers that both sides may share.
    assert lengths.left.has_canonical_format
    assert lengths.right.has_canonical_format
    assert abs(lengths.left).nnz
    assert (lengths.left * lengths.left).nnz
    np.testing.assert_array_equal(lengths.apply(gram), [0.0, 5.0, 5.0])
    np.testing.assert_allclose(lengths.matrix() @ svec(gram), [0.0, 5.0, 5.0], atol=1e-15)


def test_forms_keep_their_own_copy_of_the_vectors():
    rows = sp.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 2))
    forms, pair = QuadraticForms(rows), BilinearForms(rows, rows)
    rows.sum_duplicates()
    rows.data[:] = 7.0
    for linear_map in (forms, pair):
        assert linear_map.left.has_canonical_format
        np.testing.assert_array_equal(linear_map.apply(np.eye(2)), [9.0])
        np.testing.assert_array_equal(linear_map.matrix().toarray(), [[9.0, 0.0, 0.0]])
