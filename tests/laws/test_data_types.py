"""Short integers do not wrap around, and maps keep copies of the arrays they were made from."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import methods
from sdpdr.errors import DataTypeError, ModelError, SdpdrError, ShapeError
from sdpdr.families.factor.nonnegative.copositive import Refutation
from sdpdr.linalg import (
    Entries,
    InnerProduct,
    Products,
    SvecMap,
    Trace,
    VectorMap,
)
from sdpdr.linalg.exact import matrix_row, vector_row
from sdpdr.linalg.svec import svec
from sdpdr.model import Affine, AtMost
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable

# One times one entry, stored in three parts whose exact sum is no double.
PARTS = (np.array([1.0, 2.0**-53, -1.0 + 2.0**-50]), np.array([0, 0, 0]), np.array([0, 3]))


def in_parts():
    return sp.csr_array(PARTS, shape=(1, 1))


# -- whole numbers are doubles before anything is computed ---------------------------------------


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (np.array([[200]], np.uint8), np.array([[200]], np.uint8)),
        (np.ones((1, 2), bool), np.ones((2, 1), bool)),
        (sp.csr_array(np.array([[2]], np.int8)), sp.csr_array(np.array([[100]], np.int8))),
    ],
)
def test_rows_combined_twice_do_not_wrap_around(outer, inner):
    expected = float((outer.astype(float) @ inner.astype(float))[0, 0])
    combined = outer @ (inner @ Trace(1))
    assert combined.matrix().toarray() == [[expected]]
    assert combined.apply(np.ones((1, 1))) == [expected]


def test_entries_in_short_integers_add_up_as_doubles():
    hundreds = np.full(2, 100, np.int8)
    place = np.zeros(2, dtype=int)
    assert SvecMap.from_entries(1, 1, place, place, place, hundreds).natural().toarray() == [[200]]
    twice = sp.coo_array((hundreds, (place, place)), shape=(1, 1))
    for linear_map in (VectorMap(twice), SvecMap(1, twice), InnerProduct(twice)):
        assert linear_map.matrix().toarray() == [[200.0]]
    assert svec(twice) == [200.0]
    data = methods.regression(twice, np.ones(1)).blocks[0]
    assert next(iter(data.terms())).lhs.maps["a"].matrix().toarray() == [[200.0]]


@pytest.mark.parametrize("kind", [np.uint8, bool])
def test_constants_of_matrix_inequalities_do_not_wrap_around(kind):
    """x = 1 makes diag(1 - x, 1 - x) zero, and no larger x is feasible."""
    constant = np.array([1, 0, 1], kind)
    downwards = VectorMap([[-1.0], [0.0], [-1.0]])
    lmi = Lmi("l", 2, {"z": downwards}, constant)
    assert -lmi.constant[0] == -1.0
    sdp = SDP((VectorVariable("z", 1),), {"z": VectorMap([[-1.0]])}, (), (lmi,), maximize=True)
    assert sdpdr.solve(sdp, "clarabel").value == pytest.approx(1.0, abs=1e-6)


# -- one reading of entries stored in parts -------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda B: SvecMap(1, B),
        lambda B: SvecMap.from_natural(1, B),
        VectorMap,
        lambda B: B @ Trace(1),
    ],
)
def test_exact_rows_are_those_of_the_matrix_whatever_parts_entries_were_given_in(make):
    linear_map = make(in_parts())
    stored = linear_map.matrix()
    assert stored.nnz == 1
    if isinstance(linear_map, VectorMap):
        row = vector_row(linear_map, 0)
    else:
        row = matrix_row(linear_map, 0, np.ones(1, dtype=bool))
    assert list(row.values()) == [Fraction(float(stored.data[0]))]


# -- nobody else holds the numbers of a program ---------------------------------------------------


@pytest.mark.parametrize("make", [lambda A: SvecMap(1, A), VectorMap, lambda A: A @ Trace(1)])
def test_maps_do_not_change_with_the_matrix_they_were_made_of(make):
    given = sp.csr_array(np.array([[3.0]]))
    linear_map = make(given)
    given.data[:] = 5.0
    assert linear_map.matrix().toarray() == [[3.0]]


@pytest.mark.parametrize(
    ("make", "read"),
    [
        (lambda v: Trace(3, v), lambda a: a.weights),
        (lambda v: Products(3, v), lambda a: a.vector),
        (lambda v: Rows("r", "==", {}, v), lambda r: r.rhs),
        (lambda v: Lmi("l", 2, {}, v), lambda lmi: lmi.constant),
        (lambda v: VectorVariable("z", 3, curvature=v), lambda z: z.curvature),
        (lambda v: Affine({}, v), lambda a: a.constant),
    ],
)
def test_vectors_do_not_change_with_the_array_they_were_made_of(make, read):
    given = np.ones(3)
    made = make(given)
    given[:] = 5.0
    assert read(made).tolist() == [1.0, 1.0, 1.0]


def test_a_program_does_not_change_with_the_collections_it_was_made_of():
    lhs, rows = {"X": Trace(1)}, []
    rows.append(Rows("r", "==", lhs, np.ones(1)))
    objective = {"X": Trace(1)}
    sdp = SDP([PsdVariable("X", 1)], objective, rows)
    for collection in (lhs, rows, objective):
        collection.clear()
    assert sdpdr.solve(sdp, "clarabel").value == pytest.approx(1.0)


# -- what is no number is refused, with a word about it -------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"maximize": "no"}, DataTypeError),
        ({"constant": None}, DataTypeError),
        ({"constant": [1.0]}, ShapeError),
    ],
)
def test_a_program_has_a_real_constant_and_a_sense(wrong, error):
    with pytest.raises(error):
        SDP((PsdVariable("X", 1),), {}, **wrong)


@pytest.mark.parametrize(
    ("order", "constant", "error"),
    [
        (2, [1.0, 0.0], ShapeError),
        (2, np.eye(2), ShapeError),
        (2, [1.0, np.nan, 1.0], ModelError),
        (2, [1j, 0.0, 1.0], DataTypeError),
        (2.0, [1.0, 0.0, 1.0], DataTypeError),
        (-2, [1.0], ModelError),
    ],
)
def test_a_matrix_inequality_has_a_finite_constant_of_its_order(order, constant, error):
    with pytest.raises(error):
        Lmi("l", order, {}, constant)


@pytest.mark.parametrize(
    "make",
    [
        lambda: 1j * Trace(1),
        lambda: [[1j]] @ Trace(1),
        lambda: Affine({}, np.ones(1)) + 1j,
        lambda: Affine({}, np.array([1j])),
        lambda: AtMost(Affine({}, np.ones(1)), np.array([1j])),
        lambda: Affine({}, np.eye(2)),
        lambda: Entries(3, [[0.5, 1.0]]),
        lambda: Trace(3, np.ones(2)),
        lambda: VectorMap(np.ones(2)),
    ],
)
def test_coefficients_that_are_no_real_numbers_of_the_right_shape_are_refused(make):
    with pytest.raises(SdpdrError):
        make()


# -- a copositive certificate measures the matrix that was found copositive -----------------------


def test_no_certificate_holds_against_a_completely_positive_matrix():
    A, M = np.diag([1e-20, 1.0]), np.diag([1.0, -1e-13])
    assert not Refutation.of("eigenvalue", M, A).holds_against(A)
