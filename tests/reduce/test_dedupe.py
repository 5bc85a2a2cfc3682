"""Dedupe: rows that repeat others go, answers come back, contradictions are named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.errors import InfeasibleError
from sdpdr.linalg import Entries, InnerProduct, Products, SquaredEdgeLengths, SvecMap, VectorMap
from sdpdr.program import SDP, Point, PsdVariable, Rows, Status, VectorVariable, dimacs_errors
from sdpdr.reduce import Dedupe

from .programs import optimal_program

LENGTHS = np.array([1.0, 2.0, 0.5, 1.5])
LINE = np.concatenate([[0.0], np.cumsum(LENGTHS)])
LINE = LINE - LINE.mean()


def lengths(label, edges, rhs, relation="==", scale=1.0, n=5):
    linear_map = scale * SquaredEdgeLengths(n, np.asarray(edges))
    return Rows(label, relation, {"K": linear_map}, scale * np.asarray(rhs, dtype=float))


def program(*rows, n=5):
    return SDP((PsdVariable("K", n),), {"K": InnerProduct(-np.eye(n))}, rows, maximize=True)


def kept(sdp):
    """Rows left of every group."""
    return {r.label: r.m for r in Dedupe().apply(sdp).sdp.rows}


PATH = [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("relation", ["==", "<="])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_scaled_and_turned_copies_are_dropped(relation, scale):
    turned = [(j, i) for i, j in PATH]
    sdp = program(
        lengths("once", PATH, LENGTHS**2, relation),
        lengths("again", turned, LENGTHS**2, relation, scale),
    )
    assert kept(sdp) == {"once": 4}


def test_an_equality_times_a_negative_number_is_a_copy():
    sdp = program(lengths("once", PATH, LENGTHS**2), lengths("again", PATH, LENGTHS**2, scale=-3.0))
    assert kept(sdp) == {"once": 4}


def test_an_inequality_times_a_negative_number_is_not():
    sdp = program(
        lengths("upper", PATH, LENGTHS**2, "<="),
        lengths("lower", PATH, LENGTHS**2, "<=", scale=-1.0),
    )
    assert kept(sdp) == {"upper": 4, "lower": 4}


@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize("tighter_first", [True, False])
def test_the_tightest_inequality_stays(scale, tighter_first):
    tight = lengths("tight", PATH, LENGTHS**2, "<=", scale)
    loose = lengths("loose", PATH, 1.5 * LENGTHS**2, "<=")
    rows = (tight, loose) if tighter_first else (loose, tight)
    assert kept(program(*rows)) == {"tight": 4}


def test_the_choice_is_made_row_by_row():
    one = lengths("one", PATH, [1.0, 5.0, 1.0, 5.0], "<=")
    other = lengths("other", PATH, [5.0, 1.0, 5.0, 1.0], "<=")
    reduced = Dedupe().apply(program(one, other))
    assert [(r.label, r.rhs.tolist()) for r in reduced.sdp.rows] == [
        ("one", [1.0, 1.0]),
        ("other", [1.0, 1.0]),
    ]
    lifted = reduced.lift(Point({}, {"one": np.array([3.0, 4.0]), "other": np.array([5.0, 6.0])}))
    assert lifted.duals["one"].tolist() == [3.0, 0.0, 4.0, 0.0]
    assert lifted.duals["other"].tolist() == [0.0, 5.0, 0.0, 6.0]


@pytest.mark.parametrize("scale", [-1.0, 1e6])
def test_contradicting_equalities_name_both_blocks_and_both_sides(scale):
    sdp = program(lengths("road", [(0, 1)], [4.0]), lengths("rail", [(1, 0)], [5.0], scale=scale))
    with pytest.raises(InfeasibleError, match=r"equals 4 and 5 .*'road' and 'rail'.*soften"):
        Dedupe().apply(sdp)


def dense(label, coefficients, side, relation="=="):
    coefficients = np.asarray(coefficients, dtype=float)
    return Rows(label, relation, {"K": InnerProduct(coefficients)}, np.array([float(side)]))


@pytest.mark.parametrize("small", [1e-11, 1e-17, 1e-300])
def test_nearly_parallel_rows_may_both_hold(small):
    """X11 = 1 and X11 + small X22 = 2 hold where X22 = 1 / small."""
    rows = (dense("one", np.diag([1.0, 0.0]), 1.0), dense("other", np.diag([1.0, small]), 2.0))
    assert kept(program(*rows, n=2)) == {"one": 1, "other": 1}


@pytest.mark.parametrize("relation", ["==", "<="])
@pytest.mark.parametrize("side", [1.0, 2.0])
def test_coefficients_in_another_last_place_do_not_contradict(relation, side):
    """Only rounding reconciles such rows, at points as large as its inverse."""
    near = np.diag([1.0, np.nextafter(1.0, 2.0)])
    sdp = program(dense("one", np.eye(2), 1.0, relation), dense("other", near, side, relation), n=2)
    left = kept(sdp)
    assert left["one"] == 1
    if relation == "==":
        assert ("other" in left) == (side != 1.0)


@pytest.mark.parametrize("factor", [-3.0, 0.1, 1e-9])
def test_rows_of_coordinates_contradict_where_they_are_exactly_proportional(factor):
    """Coordinates carry roots of two, of which products with a factor are rounded."""
    where = (np.zeros(2, int), np.array([0, 0]), np.array([0, 1]))
    one = SvecMap.from_entries(5, 1, *where, np.array([1.0, 3.0]))
    rows = [
        Rows("one", "==", {"K": one}, np.ones(1)),
        Rows("other", "==", {"K": factor * one}, np.array([2.0 * factor])),
    ]
    with pytest.raises(InfeasibleError, match="'one' and 'other'"):
        Dedupe().apply(program(*rows))


def test_a_row_that_cancels_only_in_rounding_is_no_contradiction():
    """(1e17 + 1 - 1e17) X11 = 1 reads 0 = 1 in floating point."""
    sums = sp.csr_array(np.array([[1.0, 1.0, -1.0]]))
    inner = Entries(2, [[0, 0], [0, 0], [0, 0]])
    scaled = np.array([1e17, 1.0, 1e17]) * inner
    row = Rows("cancels", "==", {"K": sums @ scaled}, np.ones(1))
    assert kept(program(row, n=2)) == {"cancels": 1}


# -- rows of zeros ------------------------------------------------------------------------------


def zeros(relation, rhs):
    empty = SvecMap(5, np.zeros((1, 15)))
    return Rows("nothing", relation, {"K": empty}, np.array([rhs]))


@pytest.mark.parametrize(("relation", "rhs"), [("==", 0.0), ("<=", 0.0), ("<=", 2.0)])
def test_rows_of_zeros_that_hold_are_dropped(relation, rhs):
    reduced = Dedupe().apply(program(lengths("path", PATH, LENGTHS**2), zeros(relation, rhs)))
    assert [r.label for r in reduced.sdp.rows] == ["path"]
    assert reduced.lift(Point({}, {"path": np.ones(4)})).duals["nothing"].tolist() == [0.0]


@pytest.mark.parametrize(("relation", "rhs"), [("==", 1.0), ("==", -1.0), ("<=", -1.0)])
def test_rows_of_zeros_that_cannot_hold_stay_and_are_proved_to_contradict(relation, rhs):
    sdp = program(zeros(relation, rhs))
    assert kept(sdp) == {"nothing": 1}
    assert sdpdr.solve(sdp).status is Status.INFEASIBLE
    assert sdpdr.solve(sdp, "clarabel", via=[Dedupe()]).status is Status.INFEASIBLE


# -- answers ------------------------------------------------------------------------------------


def doubled(sdp, seed=0):
    """Every row once more, shuffled, scaled and under another label."""
    rng = np.random.default_rng(seed)
    copies = []
    for r in sdp.rows:
        order, size = rng.permutation(r.m), 10.0 ** rng.uniform(-4, 4, r.m)
        lhs = {name: size * (np.eye(r.m)[order] @ a) for name, a in r.lhs.items()}
        copies.append(Rows(f"{r.label} again", r.relation, lhs, size * r.rhs[order]))
    return replace(sdp, rows=(*sdp.rows, *copies))


@pytest.mark.parametrize("seed", range(2))
def test_doubling_every_row_changes_nothing(seed):
    sdp, point = optimal_program(seed)
    reduced = Dedupe().apply(doubled(sdp, seed))
    assert [(r.label, r.m) for r in reduced.sdp.rows] == [(r.label, r.m) for r in sdp.rows]
    assert dimacs_errors(reduced.sdp, point).worst() < 1e-12
    lifted = reduced.lift(point)
    assert dimacs_errors(doubled(sdp, seed), lifted).worst() < 1e-12
    assert reduced.lift_value(2.5) == 2.5


def test_centring_with_other_weights_is_another_face():
    sdp = program(
        Rows("plain", "==", {"K": Products(5)}, np.zeros(5)),
        Rows("weighted", "==", {"K": Products(5, np.arange(1.0, 6.0))}, np.zeros(5)),
        Rows("doubled", "==", {"K": Products(5, np.full(5, 2.0))}, np.zeros(5)),
    )
    assert kept(sdp) == {"plain": 5, "weighted": 5}


def test_rows_agree_only_if_their_scalars_agree_too():
    def penalized(label, coefficient):
        lhs = {"K": SquaredEdgeLengths(5, np.array([(0, 1)])), "z": VectorMap([[coefficient]])}
        return Rows(label, "==", lhs, np.ones(1))

    variables = (PsdVariable("K", 5), VectorVariable("z", 1))
    other = SDP(variables, {}, (penalized("one", 1.0), penalized("other", 2.0)))
    assert kept(other) == {"one": 1, "other": 1}
    same = SDP(variables, {}, (penalized("one", 1.0), penalized("other", 1.0)))
    assert kept(same) == {"one": 1}
