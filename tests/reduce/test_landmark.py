"""Landmark form: a narrower cone, rows added lazily, and a grade for the whole program."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Band, Centered, Gram, Isometry, Slack, Variance
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    NotAcceptedError,
)
from sdpdr.graphs.bases import reconstruction_basis
from sdpdr.linalg import InnerProduct, Products, SquaredEdgeLengths, Trace
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows, Status
from sdpdr.reduce import Scale
from sdpdr.reduce.landmark import Landmark
from sdpdr.reduce.subspace import on_face
from sdpdr.solvers import Clarabel

SMALL = graphs.knn(datasets.swiss_roll(24, 0)[0], n_neighbors=4)
ROLL = graphs.knn(datasets.swiss_roll(150, 0)[0], n_neighbors=5)
RELATIONS = [
    "inequality",
    Band(0.1),
    Slack(50.0, "absolute"),
]


def landmark(model, count, **options):
    return sdpdr.solve(model, form="landmark", landmarks=count, solver="clarabel", **options)


def solve_small(sdp):
    reduced = Scale().apply(sdp)
    return reduced.lift(Clarabel(tol=1e-8).run(reduced.sdp).point)


# -- the reduction ---------------------------------------------------------------------------


def test_the_objective_and_the_rows_are_those_of_the_lifted_matrix():
    sdp = methods.mvu(SMALL).to_sdp()
    basis = reconstruction_basis(SMALL, graphs.landmarks(SMALL, 7))
    reduced = Landmark(basis).apply(sdp)
    assert reduced.sdp.psd_variables[0].n == 6
    assert [r.label for r in reduced.sdp.rows] == ["isometry"]
    root = np.random.default_rng(0).standard_normal((6, 6))
    small, lifted = {"K": root @ root.T}, reduced.lift(Point({"K": root @ root.T}))
    assert isinstance(lifted.values["K"], Factor)
    assert reduced.sdp.primal_value(small) == pytest.approx(sdp.primal_value(lifted.values))
    np.testing.assert_allclose(
        reduced.sdp.slack(reduced.sdp.rows[0], small), sdp.slack(sdp.rows[1], lifted.values)
    )
    np.testing.assert_allclose(lifted.values["K"].dense().sum(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("counts", [None, np.arange(1.0, 25.0)])
def test_the_basis_lies_on_the_face_and_keeps_differences_of_points(counts):
    n = SMALL.n
    rows = (Rows("centered", "==", {"K": Products(n, counts)}, np.zeros(n)),)
    sdp = SDP((PsdVariable("K", n),), {"K": Trace(n)}, rows)
    basis = reconstruction_basis(SMALL, graphs.landmarks(SMALL, 5))
    moved = on_face(sdp, basis)
    weights = np.ones(n) if counts is None else counts
    np.testing.assert_allclose(moved.T @ moved, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(weights @ moved, 0.0, atol=1e-10)
    steps = basis[1:] - basis[:-1]
    both = np.hstack([moved[1:] - moved[:-1], steps])
    assert np.linalg.matrix_rank(both, tol=1e-8) == 4


def test_rows_left_out_come_back_with_zero_multipliers():
    sdp = methods.mvu(SMALL, Slack(5.0, "absolute")).to_sdp()
    m = SMALL.m
    kept = np.setdiff1d(np.arange(m), [0, 3, 8])
    reduced = Landmark(np.eye(SMALL.n)[:, :6], {"isometry": kept}).apply(sdp)
    assert reduced.sdp.n_rows == m - 3
    assert [v.size for v in reduced.sdp.vector_variables] == [m - 3, m - 3]
    over, y = np.arange(1.0, m - 2.0), np.arange(101.0, m + 98.0)
    lifted = reduced.lift(
        Point({**reduced.sdp.zero_point().values, "isometry.over": over}, {"isometry": y})
    )
    for found, given in ((lifted.duals["isometry"], y), (lifted.values["isometry.over"], over)):
        np.testing.assert_array_equal(found[kept], given)
        np.testing.assert_array_equal(found[[0, 3, 8]], 0.0)


def rows_on_twins(tiny, weights=None):
    """The squared distance of points 0 and 1, in a basis where it is ``tiny``, and of 1 and 2."""
    lengths = SquaredEdgeLengths(3, [[0, 1], [1, 2]])
    lhs = {"K": lengths if weights is None else weights @ lengths}
    rows = Rows("lengths", "<=", lhs, np.ones(2))
    basis = np.array([[1.0, 0.0], [1.0 + tiny, 0.0], [0.0, 1.0]])
    return SDP((PsdVariable("K", 3),), {}, (rows,)), basis


@pytest.mark.parametrize("weights", [None, np.diag([2.0, 1e-3])])
def test_a_row_vanishes_with_its_vector_and_not_with_its_square(weights):
    for tiny, left in ((0.0, 1), (1e-15, 1), (1e-9, 2)):
        sdp, basis = rows_on_twins(tiny, weights)
        reduced = Landmark(basis).apply(sdp)
        assert [r.m for r in reduced.sdp.rows] == [left]
        duals = {"lengths": np.arange(1.0, 1.0 + left)}
        lifted = reduced.lift(Point({"K": np.eye(2)}, duals)).duals["lengths"]
        assert lifted.tolist() == ([0.0, 1.0] if left == 1 else [1.0, 2.0])


def test_the_optimum_in_a_narrow_cone_is_certified_and_its_value_is_one_of_the_whole_program():
    """Coefficients of the rows range over five orders of magnitude in a basis of eigenvectors."""
    graph = graphs.knn(datasets.swiss_roll(250, seed=0)[0], 6)
    model = methods.mvu(graph)
    step = Landmark(graphs.laplacian_basis(graph, 10))
    narrow = sdpdr.solve(step.apply(model.to_sdp()).sdp)
    whole = sdpdr.solve(model, via=[step])
    assert narrow.certified(1e-6)
    assert whole.attained == pytest.approx(narrow.value, rel=1e-6)
    # The optimum of the whole program is several times as large, so nothing is optimal nearby.
    assert whole.status is sdpdr.Status.INACCURATE
    assert not whole.duals


def test_multipliers_that_prove_a_bound_of_the_whole_program_are_lifted():
    """A line is the optimum, so that the cone it spans loses nothing."""
    lengths = np.array([1.0, 2.0, 1.5, 0.5])
    line = np.concatenate([[0.0], np.cumsum(lengths)])
    line = line - line.mean()
    sdp = methods.mvu(graphs.path(lengths)).to_sdp()
    tension = -np.cumsum(line)[:-1] / lengths
    lifted = Landmark(line[:, None]).apply(sdp).lift(Point({}, {"isometry": tension}))
    assert sdp.dual_value(lifted.duals) == pytest.approx(-line @ line)
    slack = np.asarray(sdp.dual_slack("K", lifted.duals))
    assert np.linalg.eigvalsh(slack)[0] > -1e-9


def test_rounding_of_a_cost_without_a_diagonal_takes_no_multipliers():
    sdp, basis = rows_on_twins(1e-9)
    form = np.zeros((3, 3))
    form[0, 2] = form[2, 0] = -1.0
    sdp = replace(sdp, objective={"K": InnerProduct(form)})
    lifted = Landmark(basis).apply(sdp).lift(Point({}, {"lengths": np.array([-1e-17, 1.0])}))
    assert lifted.duals["lengths"].tolist() == [-1e-17, 1.0]


def test_two_matrices_are_refused():
    sdp = SDP((PsdVariable("A", 2), PsdVariable("B", 2)), {"A": Trace(2)})
    assert "takes one matrix variable" in Landmark(np.eye(2)).accepts(sdp)


# -- rounds ----------------------------------------------------------------------------------


def test_rows_added_when_violated_and_all_rows_at_once_have_one_optimum():
    """Fewer rows than there are determine the small matrix, and the others hold at its optimum."""
    model = methods.mvu(ROLL)
    sdp = model.to_sdp()
    basis = reconstruction_basis(ROLL, graphs.landmarks(ROLL, 8, 0))
    whole = solve_small(Landmark(basis).apply(sdp).sdp)
    found = landmark(model, 8)
    assert found.claimed.message == "all rows hold."
    rows = [entry["rows"] for entry in found.history]
    assert rows == sorted(rows)
    assert rows[-1] < ROLL.m
    assert found.value == pytest.approx(np.trace(whole.values["K"]), rel=1e-4)


# -- the form --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("relation", RELATIONS, ids=str)
def test_value_optimum_and_bound_are_in_order_and_the_point_is_feasible(relation):
    model = methods.mvu(SMALL, relation)
    optimum = sdpdr.solve(model, solver="clarabel").value
    solution = landmark(model, 8)
    assert solution.value <= optimum * (1.0 + 1e-5)
    assert optimum <= solution.bound * (1.0 + 1e-5)
    assert solution.residuals.primal() < 1e-7
    assert isinstance(solution.values["K"], Factor)
    assert solution.form == "landmark"


def test_equations_without_a_solution_in_the_narrow_cone_leave_a_bound_and_the_advice_to_relax():
    optimum = sdpdr.solve(methods.mvu(SMALL, "equality"), solver="clarabel").value
    solution = landmark(methods.mvu(SMALL, "equality"), 10)
    assert solution.status is sdpdr.Status.FAILED
    assert solution.bound >= optimum * (1.0 - 1e-4)
    assert "relax(block, band)" in solution.claimed.message
    relaxed = landmark(methods.mvu(SMALL, Band(0.1)), 10)
    assert relaxed.attained is not None


@pytest.mark.nightly
def test_progress_shows_and_a_time_limit_ends_the_rounds():
    seen = []
    landmark(methods.mvu(SMALL), 6, progress=seen.append)
    assert {"iteration", "value", "violation", "rows", "seconds"} <= set(seen[0])
    assert landmark(methods.mvu(SMALL), 6, progress=True).status is not sdpdr.Status.FAILED
    stopped = landmark(methods.mvu(ROLL), 12, time_limit=1e-9)
    assert stopped.status is sdpdr.Status.TIME_LIMIT
    assert stopped.residuals.primal() < 1e-9


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, DataError, "needs a number of landmarks"),
        ({"landmarks": 25}, DataError, "landmarks=25 of 24 points"),
        ({"landmarks": 1}, DataError, "landmarks=1 is too small"),
    ],
)
def test_bad_input_is_named(options, error, words):
    with pytest.raises(error, match=words):
        sdpdr.solve(methods.mvu(SMALL), form="landmark", **options)


@pytest.mark.parametrize("isometry", ["inequality", "equality"])
def test_columns_that_centring_makes_zero_are_refused(isometry):
    basis = np.full((24, 2), 0.1)
    with pytest.raises(NotAcceptedError, match="constant columns. Pass columns that"):
        sdpdr.solve(methods.mvu(SMALL, isometry), via=[Landmark(basis)])
    # Beside others they count for nothing.
    mixed = np.column_stack([basis, np.arange(24.0)])
    assert Landmark(mixed).apply(methods.mvu(SMALL).to_sdp()).sdp.psd_variables[0].n == 1


def test_disconnected_graphs_and_models_without_gram_or_graph_are_named():
    apart = graphs.NeighborGraph(4, [[0, 1], [2, 3]], [1.0, 1.0])
    model = Gram(4) + Centered(4) + Isometry(apart) + Variance(4)
    with pytest.raises(DisconnectedGraphError, match="2 components"):
        landmark(model, 2)
    with pytest.raises(NotAcceptedError, match="needs a graph to choose landmarks on"):
        landmark(Gram(4) + Centered(4) + Variance(4), 2)
    with pytest.raises(NotAcceptedError, match="one Gram matrix"):
        landmark(SDP((), {}), 2)


def test_a_number_of_landmarks_chooses_the_form():
    assert sdpdr.plan(methods.mvu(SMALL), landmarks=8).form == "landmark"


def test_a_tolerance_that_is_advised_suffices_or_more_landmarks_do():
    """Rows that may be missed by all of the tolerance would open the gap anew."""
    model = methods.mvu(SMALL)
    first = sdpdr.solve(model, landmarks=18)
    assert first.status is Status.INACCURATE
    advised = re.search(r"pass tol=(\S+); otherwise try more `landmarks`", first.advice)[1]
    assert sdpdr.solve(model, landmarks=18, tol=float(advised)).certified()
