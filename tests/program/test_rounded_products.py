"""Faces, rays and dependence do not rest on products that were rounded."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    LinearMap,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
)
from sdpdr.program import SDP, Factor, Lmi, Point, PsdVariable, Rows, VectorVariable

from ..proofs import Ray, attain, prove_unbounded


def row(label, linear_map, *side, relation="=="):
    return Rows(label, relation, {"X": linear_map}, np.array(side, dtype=float))


# -- faces whose vectors no double holds ------------------------------------------------------


def beside_an_idle_place(maximize):
    """X u = X v = 0 on three places, beside one that nothing reads."""
    u, v = np.array([[0.1, 0.2, 0.7, 0.0]]), np.array([[0.3, -0.6, 0.1, 0.0]])
    rows = (
        row("a", BilinearForms(u, u.copy()), 0.0),
        row("b", BilinearForms(v, v.copy()), 0.0),
        row("t", Trace(4, [1, 1, 1, 0]), 1.0),
    )
    cost = {"X": -1.0 * Entries(4, [[0, 0]])}
    if not maximize:
        cost = {"X": Entries(4, [[0, 0]])}
    return SDP((PsdVariable("X", 4),), cost, rows, maximize=maximize)


def on_the_line():
    """X is w w^T / |w|^2 with w = u x v, in fractions."""
    u = [Fraction(x) for x in (0.1, 0.2, 0.7)]
    v = [Fraction(x) for x in (0.3, -0.6, 0.1)]
    w = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]
    return float(w[0] ** 2 / sum(x * x for x in w))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("solver", "maximize"), [("clarabel", False), ("scs", True), ("auto", True)]
)
def test_a_face_that_no_double_states_is_not_lost_with_an_idle_place(solver, maximize):
    sdp = beside_an_idle_place(maximize)
    answer = sdpdr.solve(sdp, solver)
    truth = on_the_line()
    sense = -1.0 if maximize else 1.0
    if answer.attained is not None:
        assert sense * answer.attained >= sense * truth - 1e-12
    if answer.bound is not None:
        assert sense * answer.bound <= sense * truth + 1e-12
    assert answer.backward_error < 1e-3


# -- where nothing is left ----------------------------------------------------------------------


class Corner(LinearMap):
    """X_01, by a map that nobody can read exactly where it is wide."""

    def __init__(self, n):
        self.n, self.m = n, 1

    def matrix(self):
        return sp.csr_array((np.ones(1), ([0], [1])), shape=(1, self.n * (self.n + 1) // 2))


@pytest.mark.parametrize("n", [20, 201])
@pytest.mark.parametrize(("side", "status"), [(1.0, Status.INFEASIBLE), (0.0, Status.SOLVED)])
def test_rows_on_variables_that_vanish_still_have_to_hold(n, side, status):
    rows = (row("zero", Trace(n), 0.0), row("corner", Corner(n), side))
    sdp = SDP((PsdVariable("X", n),), {"X": Trace(n)}, rows, constant=7.0)
    answer = sdpdr.solve(sdp)
    assert answer.status is status
    if status is Status.SOLVED:
        assert answer.bound <= 7.0 <= answer.attained
    else:
        assert answer.ray is not None or answer.exposures


# -- products that are rounded ------------------------------------------------------------------

E = 2.0**-39
# (1+e) X11 - (1-e) X22 - e^2 X12 exactly, and the last term is lost in doubles.
TWISTED = BilinearForms([[1 + E, -1.0]], [[1.0, 1 - E]])


def limited():
    rows = (
        row("form", TWISTED, 1.0, relation="<="),
        row("diagonals", InnerProduct(np.diag([1 + E, -(1 - E)])), 0.0),
    )
    return SDP((PsdVariable("X", 2),), {"X": Entries(2, [[0, 1]])}, rows)


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["clarabel", "auto"])
def test_no_ray_rests_on_products_that_were_rounded(solver):
    sdp = limited()
    assert sdpdr.solve(sdp, solver).status is not Status.UNBOUNDED
    along = {"X": np.array([[1 - E, -0.5], [-0.5, 1 + E]])}
    assert not isinstance(prove_unbounded(sdp, along), Ray)


@pytest.mark.parametrize(
    ("solver", "more"),
    [("clarabel", 10), ("lowrank", 10), ("clarabel", 4000)],
)
def test_no_dependence_is_seen_in_products_that_were_rounded(solver, more):
    """X11 = X22 = 1 leave e^2 X12 = 0 of the form."""
    rows = (
        row("d", Diagonal(2), 1.0, 1.0),
        row("form", TWISTED, 2 * E),
        Rows("z", "==", {"z": VectorMap(np.ones((1, more)))}, np.ones(1)),
    )
    variables = (PsdVariable("X", 2), VectorVariable("z", more, True))
    cost = {"X": InnerProduct([[0.0, -0.5], [-0.5, 0.0]])}
    sdp = SDP(variables, cost, rows, maximize=True)
    try:
        answer = sdpdr.solve(sdp, solver, gap_scale=1.0)
    except sdpdr.errors.NotAcceptedError:
        pytest.skip("this solver does not take the program")
    assert answer.attained is None or answer.attained <= 1e-9
    assert answer.status is not Status.SOLVED or answer.value == pytest.approx(0.0, abs=1e-5)


# -- limits that cancel -------------------------------------------------------------------------


def test_nothing_is_shrunk_to_a_limit_that_rounding_hides():
    """A length of 1e-5 between points at 1e9, read off the entries of the matrix."""
    limit = 1e-10
    rows = (
        row("near", InnerProduct([[1.0, -1.0], [-1.0, 1.0]]), limit, relation="<="),
        row("far", Diagonal(2), 1e20, 1e20, relation="<="),
    )
    cost = {"X": -1.0 * SquaredEdgeLengths(2, [[0, 1]])}
    sdp = SDP((PsdVariable("X", 2),), cost, rows, maximize=True)
    rng = np.random.default_rng(0)
    for _ in range(5):
        x = rng.uniform(0.5, 1.0, 3) * 1e9
        factor = Factor(np.array([x, x + rng.normal(size=3) * 4e-6]))
        found = attain(sdp, Point({"X": factor}))
        assert found.value is None or found.value <= limit * (1.0 + 1e-9)


# -- matrix inequalities beside the diagonal ----------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "scale"),
    [("auto", 1.0), ("clarabel", 3.0), ("cvxopt", 0.1)],
)
def test_an_equation_beside_the_diagonal_is_read_as_it_was_meant(solver, scale):
    """G_00 = -z makes G_01 = X_01 - X_00 vanish, and X = ones does all that is asked."""
    root = np.sqrt(2.0)
    lhs = SvecMap(2, scale * np.array([[0, 0, 0], [-root, 1.0, 0], [0, 0, 1.0]]))
    lmi = Lmi("l", 2, {"X": lhs, "z": VectorMap([[-1.0], [0], [0]])}, np.zeros(3))
    rows = (
        row("flat", InnerProduct([[1.0, -1.0], [-1.0, 1.0]]), 0.0),
        row("trace", Trace(2), 2.0),
    )
    variables = (PsdVariable("X", 2), VectorVariable("z", 1, True))
    sdp = SDP(variables, {"X": Entries(2, [[0, 0]])}, rows, (lmi,))
    answer = sdpdr.solve(sdp, solver)
    assert answer.status is not Status.INFEASIBLE
    if answer.values:
        assert answer.value == pytest.approx(1.0, rel=1e-5)
