"""Coefficients whose terms cancel prove nothing beyond their own rounding."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.linalg import (
    Entries,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
)
from sdpdr.linalg.maps import Summed
from sdpdr.program import (
    SDP,
    Factor,
    Point,
    PsdVariable,
    Rows,
    VectorVariable,
    read_sdpa,
    write_sdpa,
)

from ..proofs import Ray, attain, certify, prove_unbounded

# Its least significant digits are lost where terms of two binades more cancel.
LARGE = 1.5 * 2.0**52


def corner_with_slack(rhs, cost):
    """X22 <= 1 by slack, and equations on X00, X01, X11 in the same group."""
    entries = Entries(3, [[2, 2], [0, 0], [0, 1], [1, 1]])
    slack = VectorMap(np.array([[1.0], [0.0], [0.0], [0.0]]))
    rows = Rows("group", "==", {"X": entries, "p": slack}, np.array(rhs))
    variables = (PsdVariable("X", 3), VectorVariable("p", 1, nonnegative=True))
    return SDP(variables, {"X": InnerProduct(cost)}, (rows,), maximize=True)


def test_rows_without_slack_are_not_excused_by_that_of_their_group():
    """Rows ask for X00 = X01 = X11 = 1 and so X02 = X12: the maximum is 1."""
    cost = np.zeros((3, 3))
    cost[0, 2] = cost[2, 0] = -5e4
    cost[1, 2] = cost[2, 1] = 5e4
    cost[0, 0] = -1.0
    near = Factor(np.array([[1.0, 0.0], [1.0, -2e-7], [0.0, 1.0]]))
    sdp = corner_with_slack([1.0, 1.0, 1.0, 1.0], cost)
    found = attain(sdp, Point({"X": near, "p": np.zeros(1)}))
    assert found.value is None or found.value <= 1.0 + 1e-9


@pytest.mark.nightly
@pytest.mark.parametrize("beyond", [1e-15, 1e-14])
def test_no_solver_certifies_a_matrix_that_is_beyond_its_minors(beyond):
    cost = np.zeros((3, 3))
    cost[2, 2], cost[0, 2], cost[2, 0] = -1.0, -0.5, -0.5
    inner = float(np.sqrt(0.7 * 0.9) * (1.0 + beyond))
    sdp = corner_with_slack([1.0, 0.7, inner, 0.9], cost)
    for solver in ("clarabel", "lowrank"):
        assert sdpdr.solve(sdp, solver).status is not sdpdr.Status.SOLVED


def test_slack_that_demands_something_is_no_upper_limit():
    """X01 = 1 + p with X00, X11 <= 1 is infeasible for every p > 0."""
    entries = Entries(2, [[0, 0], [1, 1], [0, 1]])
    slack = VectorMap(np.diag([1.0, 1.0, -1.0]))
    rows = Rows("group", "==", {"X": entries, "p": slack}, np.array([1.0, 1.0, 1.0 + 1e-15]))
    variables = (PsdVariable("X", 2), VectorVariable("p", 3, nonnegative=True))
    sdp = SDP(variables, {"X": Trace(2)}, (rows,))
    ones = Point({"X": Factor(np.ones((2, 1))), "p": np.zeros(3)})
    assert attain(sdp, ones).value is None


FILE = """* sdpdr: minimise, constant 0.0
1
2
2 -1
1.0
0 1 1 1 -1.5
0 1 1 2 1572864.0000000002
0 1 2 2 -1649267441664.0
1 2 1 1 1.0
"""


@pytest.mark.nightly
def test_units_change_no_entry_of_a_file(tmp_path):
    """The cost is indefinite by the last digit of one entry, so there is no minimum."""
    (tmp_path / "file.dat-s").write_text(FILE)
    sdp = read_sdpa(tmp_path / "file.dat-s")
    answer = sdpdr.solve(sdp, "clarabel", gap_scale=1.0)
    assert answer.bound is None
    write_sdpa(sdp, tmp_path / "again.dat-s")
    assert (tmp_path / "again.dat-s").read_text() == FILE


def test_powers_of_two_keep_entries_as_they_were():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(2000) * 2.0 ** rng.integers(-20, 20, 2000)
    i, j = rng.integers(0, 50, (2, 2000))
    rows = np.arange(2000)
    made = SvecMap.from_entries(50, 2000, rows, np.minimum(i, j), np.maximum(i, j), values)
    units = 2.0 ** rng.integers(-12, 12, 50)
    changed = made.congruence(sp.diags_array(units, format="csr"))
    back = changed.congruence(sp.diags_array(1.0 / units, format="csr"))
    assert np.array_equal(back.natural().data, made.natural().data)
    assert np.array_equal(back.matrix().data, made.matrix().data)


def cancelling(weights):
    """A multiple of X00 as a sum whose terms cancel: all that is left is their rounding."""
    return sp.csr_array(np.array([weights]) * 2.0**55) @ Entries(1, [[0, 0]] * 3)


def test_no_ray_rests_on_a_coefficient_that_rounding_made():
    """The row reads X <= 1, and the optimum is -1; as rounded it reads 0 <= 1."""
    rows = Rows("row", "<=", {"X": -cancelling([0.1, 0.3, -0.4])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 1),), {"X": -1.0 * Trace(1)}, (rows,))
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is not sdpdr.Status.UNBOUNDED
    assert not answer.certified()


@pytest.mark.nightly
def test_no_diagonal_is_normalised_by_what_rounding_made():
    """The row reads X = 1; as rounded it reads 2 X = 1."""
    rows = Rows("row", "==", {"X": cancelling([0.1, 0.2, -0.3])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 1),), {"X": Trace(1)}, (rows,))
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.bound is None or answer.bound <= 1.0
    assert answer.attained is None or answer.attained >= 1.0


def single(value):
    places = np.array([0]), np.array([0]), np.array([1])
    return SvecMap.from_entries(2, 1, *places, np.array([value]))


def test_entries_that_a_map_was_made_of_count():
    rows, i, j = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    cost = SvecMap.from_entries(2, 1, rows, i, j, np.array([1.0, -1.0, 1.0]))
    sdp = SDP((PsdVariable("X", 2),), {"X": cost})
    ray = prove_unbounded(sdp, {"X": np.ones((2, 2))})
    assert not isinstance(ray, Ray)
    bound = certify(sdp, {}).bound
    assert bound is None or -1e-6 < bound <= 0.0


@pytest.mark.nightly
def test_an_objective_that_does_not_cancel_is_one():
    """-2 X01 over unit diagonals, whose minimum is -2."""
    cost = Summed([single(LARGE), single(-(LARGE + 1.0))])
    rows = Rows("diagonal", "==", {"X": Entries(2, [[0, 0], [1, 1]])}, np.ones(2))
    sdp = SDP((PsdVariable("X", 2),), {"X": cost}, (rows,))
    proved = sdpdr.solve(sdp, "clarabel")
    assert proved.bound is None or proved.bound <= -2.0
    assert proved.attained is None or proved.attained >= -2.0


@pytest.mark.nightly
@pytest.mark.xfail(strict=True, reason="the value is computed in doubles, which lose this cost")
def test_the_value_of_a_cost_that_doubles_lose_is_the_one_that_is_proved():
    cost = Summed([single(LARGE), single(-(LARGE + 1.0))])
    rows = Rows("diagonal", "==", {"X": Entries(2, [[0, 0], [1, 1]])}, np.ones(2))
    proved = sdpdr.solve(SDP((PsdVariable("X", 2),), {"X": cost}, (rows,)), "clarabel")
    assert proved.certified()
    assert proved.value == pytest.approx(proved.attained, rel=1e-6)


@pytest.mark.nightly
def test_a_row_that_does_not_vanish_on_a_face_is_no_contradiction():
    """X01 = X02 on the face, so that the row reads X01 = 1."""
    entries = np.array([LARGE, -(LARGE + 1.0)])
    places = np.array([0, 0]), np.array([0, 0]), np.array([1, 2])
    row = SvecMap.from_entries(3, 1, *places, entries)
    face = Rows("face", "==", {"X": Products(3, [0, 1, -1])}, np.zeros(3))
    sdp = SDP(
        (PsdVariable("X", 3),),
        {"X": Trace(3)},
        (face, Rows("row", "==", {"X": row}, np.array([-2.0]))),
    )
    assert sdpdr.solve(sdp, "clarabel").status is not sdpdr.Status.INFEASIBLE


def test_a_direction_that_is_not_symmetric_proves_nothing():
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.array([[1.0, -1.0], [-1.0, 1.0]]))})
    skew = {"X": np.array([[1.0, 5.0], [0.0, 1.0]])}
    assert not isinstance(prove_unbounded(sdp, skew), Ray)


def test_rows_without_variables_stand_beside_lengths():
    lengths = Rows("lengths", "<=", {"X": SquaredEdgeLengths(3, [[0, 1], [1, 2]])}, np.ones(2))
    void = Rows("void", "<=", {}, np.array([1.0]))
    cost = {"X": -1.0 * SquaredEdgeLengths(3, [[0, 2]])}
    sdp = SDP((PsdVariable("X", 3),), cost, (lengths, void), maximize=True)
    answer = sdpdr.solve(sdp, "cvxopt")
    assert answer.attained <= 4.0 <= answer.bound


@pytest.mark.parametrize("size", [1e300, 1e308, -1e300, -1e308])
def test_multipliers_beyond_all_numbers_prove_nothing_false(size):
    rows = Rows("trace", "==", {"X": Trace(2)}, np.array([1e10]))
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.eye(2))}, (rows,))
    with np.errstate(all="ignore"):
        bound = certify(sdp, {"trace": np.array([size])}).bound
    assert bound is None or bound <= 1e10
