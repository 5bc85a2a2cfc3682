"""Face: the cone is restricted to where the rows confine it, by a sparse basis or a dense one."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import NotAcceptedError, UnknownNameError
from sdpdr.linalg import Products, QuadraticForms, SquaredEdgeLengths, Trace, smat
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows, as_dense, dimacs_errors
from sdpdr.reduce import Composed, Dedupe, Dual, Face, Scale
from sdpdr.solvers import Clarabel

from .programs import optimal_program

BASES = ["auto", "sparse", "orthonormal"]
LENGTHS = np.array([1.0, 2.0, 0.5, 1.5, 1.0])
LINE = np.concatenate([[0.0], np.cumsum(LENGTHS)])
LINE = LINE - LINE.mean()
PATH_DUALS = {"centered": np.zeros(6), "isometry": -np.cumsum(LINE)[:-1] / LENGTHS}


def on_face(reduced, point):
    """The point of the reduced program that is lifted to the one given, by linear algebra."""
    values = {}
    for v in reduced.sdp.psd_variables:
        images = [
            reduced.lift(Point({v.name: smat(unit)})).values[v.name].ravel()
            for unit in np.eye(v.size)
        ]
        wanted = as_dense(point.values[v.name]).ravel()
        values[v.name] = smat(np.linalg.lstsq(np.transpose(images), wanted)[0])
    labels = {r.label for r in reduced.sdp.rows}
    return Point(values, {k: y for k, y in point.duals.items() if k in labels})


def weighted(n=6):
    """Variance and centring where every node stands for several points."""
    graph = graphs.path(LENGTHS)
    counts = np.arange(1.0, n + 1)
    rows = (
        Rows("centered", "==", {"K": Products(n, counts)}, np.zeros(n)),
        Rows("isometry", "<=", {"K": SquaredEdgeLengths(n, graph.edges)}, graph.sqdist),
    )
    return SDP((PsdVariable("K", n),), {"K": -1.0 * Trace(n, counts)}, rows, maximize=True)


def weighted_optimum(n=6):
    counts = np.arange(1.0, n + 1)
    line = np.concatenate([[0.0], np.cumsum(LENGTHS)])
    line = line - counts @ line / counts.sum()
    weights = -np.cumsum(counts * line)[:-1] / LENGTHS
    duals = {"centered": np.zeros(n), "isometry": weights}
    return Point({"K": np.outer(line, line)}, duals)


PROGRAMS = {
    "plain": (
        methods.mvu(graphs.path(LENGTHS)).to_sdp(),
        Point({"K": np.outer(LINE, LINE)}, PATH_DUALS),
    ),
    "weighted": (weighted(), weighted_optimum()),
}


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(("sdp", "point"), PROGRAMS.values(), ids=PROGRAMS)
def test_an_optimal_pair_stays_optimal_and_comes_back(sdp, point, basis):
    assert dimacs_errors(sdp, point).worst() < 1e-12
    reduced = Face(basis).apply(sdp)
    assert [v.n for v in reduced.sdp.psd_variables] == [5]
    assert [r.label for r in reduced.sdp.rows] == ["isometry"]
    small = on_face(reduced, point)
    assert dimacs_errors(reduced.sdp, small).worst() < 1e-12
    assert reduced.sdp.primal_value(small.values) == pytest.approx(sdp.primal_value(point.values))
    lifted = reduced.lift(small)
    np.testing.assert_allclose(lifted.values["K"], point.values["K"], atol=1e-12)
    assert dimacs_errors(sdp, lifted).worst() < 1e-12


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(("sdp", "point"), PROGRAMS.values(), ids=PROGRAMS)
def test_completed_multipliers_make_the_whole_dual_slack_vanish_off_the_face(sdp, point, basis):
    reduced = Face(basis).apply(sdp)
    lifted = reduced.lift(on_face(reduced, point))
    vector = sdp.rows[0].lhs["K"].vector
    slack = sdp.dual_slack("K", lifted.duals)
    np.testing.assert_allclose(slack @ vector, 0.0, atol=1e-10)
    assert np.linalg.eigvalsh(slack)[0] > -1e-10


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(("sdp", "point"), PROGRAMS.values(), ids=PROGRAMS)
def test_every_lifted_matrix_lies_on_the_face(sdp, point, basis):
    reduced = Face(basis).apply(sdp)
    root = np.random.default_rng(0).standard_normal((5, 5))
    dense = reduced.lift(Point({"K": root @ root.T})).values["K"]
    vector = sdp.rows[0].lhs["K"].vector
    np.testing.assert_allclose(dense @ vector, 0.0, atol=1e-12)
    factor = reduced.lift(Point({"K": Factor(root)})).values["K"]
    assert isinstance(factor, Factor)
    np.testing.assert_allclose(factor.dense(), dense, atol=1e-12)


@pytest.mark.parametrize("relation", ["inequality", Slack(5.0)], ids=str)
def test_both_bases_have_the_same_optimum(relation):
    graph = graphs.knn(datasets.swiss_roll(12, 0)[0], n_neighbors=3)
    sdp = methods.mvu(graph, relation).to_sdp()
    values = []
    for basis in ("sparse", "orthonormal"):
        reduced = Composed((Dedupe(), Face(basis), Scale(), Dual())).apply(sdp)
        point = reduced.lift(Clarabel(tol=1e-7).run(reduced.sdp).point)
        assert dimacs_errors(sdp, point).worst() < 1e-5
        values.append(sdp.primal_value(point.values))
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def nonzeros(sdp):
    return sum(r.lhs["K"].matrix().nnz for r in sdp.rows if "K" in r.lhs)


def test_the_sparse_basis_keeps_rows_sparse_and_is_the_choice_for_sparse_graphs():
    sdp = methods.mvu(graphs.grid(8, 8)).to_sdp()
    counts = {basis: nonzeros(Face(basis).apply(sdp).sdp) for basis in BASES}
    assert counts["sparse"] < 0.2 * counts["orthonormal"]
    assert counts["auto"] == counts["sparse"]


def star(leaves, hub=0):
    """Variance under limits on the distances from a hub, about the centre by unlike weights."""
    n = leaves + 1
    edges = np.column_stack([np.full(leaves, hub), np.delete(np.arange(n), hub)])
    centred = Rows("centred", "==", {"K": Products(n, np.arange(1.0, n + 1.0))}, np.zeros(n))
    limits = Rows("limits", "<=", {"K": SquaredEdgeLengths(n, edges)}, np.ones(leaves))
    return SDP((PsdVariable("K", n),), {"K": -1.0 * Trace(n)}, (centred, limits))


def test_rows_of_a_hub_stay_sparse_on_the_face():
    """They have the square of its neighbours each where all columns meet at the hub."""
    reduced = Face("sparse").apply(star(200, hub=100)).sdp
    lengths = next(r.lhs["K"] for r in reduced.rows if r.label == "limits")
    assert lengths.n_entries <= 36 * 200


def test_two_faces_are_intersected():
    rows = (
        Rows("plain", "==", {"K": Products(6)}, np.zeros(6)),
        Rows("weighted", "==", {"K": Products(6, np.arange(6.0))}, np.zeros(6)),
        Rows("twice", "==", {"K": Products(6, np.full(6, 2.0))}, np.zeros(6)),
    )
    sdp = SDP((PsdVariable("K", 6),), {"K": Trace(6)}, rows)
    null = np.column_stack([np.ones(6), np.arange(6.0)])
    for basis in BASES:
        reduced = Face(basis).apply(sdp)
        assert reduced.sdp.variable("K").n == 4
        lifted = reduced.lift(Point({"K": np.eye(4)})).values["K"]
        np.testing.assert_allclose(lifted @ null, 0.0, atol=1e-12)


def test_programs_with_interior_are_refused_in_words():
    sdp, _ = optimal_program()
    assert "it has interior already" in Face().accepts(sdp)
    with pytest.raises(NotAcceptedError, match="reduction 'face' does not apply: no equality row"):
        Face().apply(sdp)


@pytest.mark.parametrize("rhs", [np.ones(4), np.eye(4)[0]])
def test_products_with_another_right_side_are_no_face(rhs):
    rows = (Rows("products", "==", {"K": Products(4)}, rhs),)
    assert Face().accepts(SDP((PsdVariable("K", 4),), {"K": Trace(4)}, rows)) is not None


def test_unknown_bases_are_named():
    with pytest.raises(UnknownNameError, match="unknown basis 'dense'.*orthonormal, sparse"):
        Face("dense")


def test_rows_that_vanish_on_the_face_go():
    """Rows on points that coincide are zero there, up to rounding that scaling would blow up."""
    n, rng = 6, np.random.default_rng(0)
    points = rng.standard_normal((n, 2))
    points[1] = points[0]
    points -= points.mean(axis=0)
    pairs = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]
    lengths = np.array([np.sum((points[i] - points[j]) ** 2) for i, j in pairs])
    same = np.zeros((1, n))
    same[0, :2] = 1.0, -1.0
    rows = (
        Rows("centred", "==", {"K": Products(n)}, np.zeros(n)),
        Rows("same", "==", {"K": QuadraticForms(same / 3.0)}, np.zeros(1)),
        Rows("lengths", "<=", {"K": SquaredEdgeLengths(n, pairs)}, lengths + 1e-3),
    )
    sdp = SDP((PsdVariable("K", n),), {"K": -Trace(n)}, rows, maximize=True)
    reduced = Face("orthonormal").apply(sdp)
    assert [r.m for r in reduced.sdp.rows] == [6]
    lifted = reduced.lift(Point({"K": np.eye(4)}, {"lengths": np.ones(6)}))
    np.testing.assert_array_equal(lifted.duals["lengths"], [0, 1, 1, 1, 1, 1, 1])
    solutions = [sdpdr.solve(sdp, solver, "gram").value for solver in ("clarabel", "cvxopt")]
    assert solutions[0] == pytest.approx(solutions[1], rel=1e-6)


def test_a_row_that_vanishes_and_cannot_hold():
    same = np.array([[1.0, -1.0, 0.0]])
    rows = (
        Rows("same", "==", {"K": QuadraticForms(same)}, np.zeros(1)),
        Rows("apart", "==", {"K": SquaredEdgeLengths(3, [(0, 1)])}, np.ones(1)),
    )
    sdp = SDP((PsdVariable("K", 3),), {"K": Trace(3)}, rows)
    assert Face().apply(sdp).sdp.n_rows == 1
    assert sdpdr.solve(sdp, "clarabel").status is sdpdr.Status.INFEASIBLE
