"""Which rows state a face, exactly; what is left of others there; forms stored with repetitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
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
from sdpdr.program import SDP, Point, PsdVariable, Rows
from sdpdr.program.face import exposing_rows, is_face_known, null_vectors
from sdpdr.reduce import Face

from ..proofs import attain, certify

SUMS = QuadraticForms([[1.0, 1.0, 0.0]])
CORNERS = QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def equalities(n, cost, **groups):
    rows = tuple(
        Rows(label, "==", {"X": linear_map}, np.broadcast_to(np.asarray(side, float), linear_map.m))
        for label, (linear_map, side) in groups.items()
    )
    return SDP((PsdVariable("X", n),), {"X": cost}, rows)


# Neither a difference of forms nor a part of them, taken by weights, tells that each form vanishes.
FORGOTTEN = {
    "difference": np.array([[1.0, -1.0]]) @ CORNERS,
    "selection": np.array([[0.0, 1.0]]) @ CORNERS,
    "part of a product": Products(3, np.array([1.0, 0.0, -1.0]))[[0]],
    "a matrix": InnerProduct(np.diag([1.0, 0.0, -1.0])),
    "a row twice": np.array([[1.0, 0.0], [1.0, 0.0]]) @ QuadraticForms(np.eye(3)[:2]),
    "a weight of zero": sp.csr_array((np.zeros(1), ([0], [0])), shape=(1, 1))
    @ QuadraticForms(np.eye(3)[:1]),
}


@pytest.mark.parametrize("part", FORGOTTEN.values(), ids=FORGOTTEN)
def test_a_group_states_a_face_only_if_every_part_of_it_does(part):
    sdp = equalities(3, Trace(3), size=(Trace(3), 1.0), u=(Stacked([SUMS, part]), 0.0))
    assert exposing_rows(sdp, "X") == ()


def test_forms_that_are_scaled_ordered_or_taken_of_others_state_the_face():
    swapped = np.array([[0.0, -2.0], [3.0, 0.0]]) @ QuadraticForms(np.eye(3)[:2])
    sdp = equalities(3, Trace(3), u=(Stacked([SUMS, swapped, Products(3)]), 0.0))
    assert [r.label for r in exposing_rows(sdp, "X")] == ["u"]
    taken = Stacked([SUMS, CORNERS[[1]]])
    sdp = equalities(3, Trace(3), size=(Trace(3), 1.0), u=(taken, 0.0))
    assert [r.label for r in exposing_rows(sdp, "X")] == ["u"]
    np.testing.assert_array_equal(null_vectors(sdp, "X").toarray().T, [[1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("other", "is_known"), [(np.array([1.0, 1.0, 1.0 + 1e-13]), False), (np.full(3, 2.0), True)]
)
def test_null_vectors_that_depend_exactly_state_the_face(other, is_known):
    groups = {"u": (Products(3), 0.0), "v": (Products(3, other), 0.0)}
    sdp = equalities(3, Trace(3), size=(Trace(3), 1.0), **groups)
    assert is_face_known(sdp, "X") is is_known
    value = attain(sdp, Point({"X": (np.eye(3) - 1.0 / 3.0) / 2.0})).value
    assert value == (pytest.approx(1.0) if is_known else None)


@pytest.mark.parametrize("cost", [0.0 * Trace(2), Summed([Trace(2), -1.0 * Trace(2)])])
def test_a_cost_that_is_zero_is_no_objective(cost):
    sdp = equalities(2, cost, ones=(Diagonal(2), 1.0))
    assert certify(sdp, {"ones": np.zeros(2)}).bound == 0.0


def nearly_vanishing(eps, side):
    """X (1, 1, 0) = 0 with the row X_11 + X_12 + eps X_33, whose first two terms cancel."""
    row = InnerProduct(np.array([[1.0, 0.5, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, eps]]))
    null = Products(3, np.array([1.0, 1.0, 0.0]))
    return equalities(3, Trace(3), u=(null, 0.0), r=(row, side))


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
