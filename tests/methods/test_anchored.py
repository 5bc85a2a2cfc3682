"""Unfolding with known coordinates: oracles, identities with unfolding, bad input."""

from decimal import Decimal

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    FewAnchorsWarning,
    InfeasibleError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.program import Status

TRIANGLE = graphs.path([2.0, 2.5])
ENDS = [0, 2], [0.0, 3.0]


def placed(graph, anchors, coordinates, *options, solver="clarabel", tol=1e-8):
    model = methods.anchored_mvu(graph, anchors, coordinates, *options)
    solution = sdpdr.solve(model, solver, tol=tol)
    return solution, methods.place(solution, graph, anchors, coordinates)


@pytest.mark.parametrize(("solver", "shift"), [("lowrank", 0.0), ("clarabel", 1e3)])
def test_a_point_at_known_distances_from_two_is_where_circles_meet(solver, shift):
    """Two squared distances, 4 and 6.25, to points 3 apart on a line."""
    ends = np.array([0.0, 3.0]) + shift
    solution, found = placed(TRIANGLE, [0, 2], ends, "equality", solver=solver)
    np.testing.assert_allclose(found.coordinates[:, 0] - shift, [0.0, 1.125, 3.0], atol=1e-6)
    np.testing.assert_allclose(found.trust, [0.0, 2.734375, 0.0], atol=1e-5)
    assert found.trust[1] + 1.125**2 == pytest.approx(4.0, rel=1e-6)
    assert abs(solution.gap) < 1e-7


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "about"),
    [("clarabel", "mean"), pytest.param("lowrank", "anchors", marks=pytest.mark.nightly)],
)
def test_multilateration_is_exact(about, solver):
    X = np.random.default_rng(0).uniform(-1, 1, (10, 2))
    edges = [(k, j) for k in range(3) for j in range(3, 10)] + [(i, i + 1) for i in range(3, 9)]
    i, j = np.array(edges).T
    graph = graphs.from_edges(10, edges, np.sum((X[i] - X[j]) ** 2, axis=1))
    solution, found = placed(graph, [0, 1, 2], X[:3], "equality", about, solver=solver)
    np.testing.assert_allclose(found.coordinates, X, atol=1e-6)
    assert found.trust.max() < 1e-6
    inner = found.trust[3:] + np.sum(found.coordinates[3:] ** 2, axis=1)
    assert inner.sum() == pytest.approx(5.1407807, rel=1e-6)
    assert inner.sum() == pytest.approx(np.sum(X[3:] ** 2), rel=1e-6)
    # One point is feasible, and rounding decides whether: no proof for the data as given.
    assert solution.apparent_gap < 1e-7
    assert solution.epsilon < 1e-7


ARC = np.column_stack([f(np.linspace(0, 1.2 * np.pi, 16)) for f in (np.cos, np.sin)])
STEPS = np.linalg.norm(np.diff(ARC, axis=0), axis=1)
LENGTH = np.append(0.0, np.cumsum(STEPS)) - STEPS.sum() / 2


TAUT, SLACK = (1.0 - 1e-15, 14.294662, 0.0), (0.9, 16.856135, 3.62653)


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "share", "value", "trust"),
    [("lowrank", *SLACK), ("clarabel", *TAUT)],
)
def test_an_arc_held_at_its_ends(share, value, trust, solver):
    path = graphs.path(STEPS)
    ends = share * LENGTH[[0, -1]]
    options = ("inequality", "anchors")
    solution, found = placed(path, [0, 15], ends, *options, solver=solver, tol=1e-7)
    assert solution.value == pytest.approx(value, rel=2e-7)
    # Held taut, the arc has one place, without interior.
    assert abs(solution.apparent_gap if trust == 0.0 else solution.gap) < 1e-6
    assert found.trust.sum() == pytest.approx(trust, abs=2e-4)
    assert np.corrcoef(found.coordinates[:, 0], LENGTH)[0, 1] > 0.999


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.xfail(strict=True, reason="multipliers that refute it have roots of lengths")
def test_ends_further_apart_than_the_arc_is_long_are_refuted_to_the_last_digit():
    path = graphs.path(STEPS)
    reach, length = LENGTH[-1] - LENGTH[0], sum(Decimal(x).sqrt() for x in path.sqdist.tolist())
    solution = sdpdr.solve(methods.anchored_mvu(path, [0, 15], LENGTH[[0, -1]], "inequality"))
    if length < Decimal(reach):  # by 7e-16, where sums are rounded as usual
        assert solution.status is Status.INFEASIBLE
    else:
        assert solution.status is not Status.INFEASIBLE


def test_the_dual_grounds_the_laplacian_at_the_anchors():
    path, ends = graphs.path(STEPS), 0.9 * LENGTH[[0, -1]]
    solution, _ = placed(path, [0, 15], ends, "inequality", "anchors")
    w = solution.duals["isometry"]
    grounded = path.laplacian(w).toarray()[1:-1, 1:-1]
    S = grounded - np.eye(14)
    B = np.zeros((14, 1))
    B[0], B[-1] = w[0] * ends[0], w[-1] * ends[1]
    assert np.linalg.eigvalsh(S)[0] > -1e-6
    dual = path.sqdist @ w - w[[0, -1]] @ ends**2
    dual += np.trace(B.T @ np.linalg.pinv(S, rcond=1e-6) @ B)
    assert dual == pytest.approx(solution.value, rel=1e-5)


ROLL = graphs.knn(sdpdr.datasets.swiss_roll(30, seed=0)[0], 4)


@pytest.fixture(scope="module")
def unfolded():
    solution = sdpdr.solve(methods.mvu(ROLL), tol=1e-9)
    return solution.value, solution.embedding(4)


@pytest.mark.parametrize(
    ("anchors", "isometry"),
    [(None, "inequality"), ([], Band(0.1))],
    ids=str,
)
def test_without_anchors_it_is_unfolding(anchors, isometry):
    coordinates = None if anchors is None else np.zeros((0, 2))
    anchored = sdpdr.solve(methods.anchored_mvu(ROLL, anchors, coordinates, isometry))
    assert anchored.value == pytest.approx(sdpdr.solve(methods.mvu(ROLL, isometry)).value, rel=1e-6)


@pytest.mark.daily(1)
@pytest.mark.parametrize("anchors", [[3], [0, 5, 10, 15, 20, 25]], ids=len)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewAnchorsWarning")
def test_anchored_where_unfolding_puts_them_it_is_unfolding(unfolded, anchors):
    """Not by construction: another variable, other rows, another objective."""
    value, Y = unfolded
    shifted = Y[anchors] + np.array([10.0, -20.0, 5.0, 1.0])
    solution, found = placed(ROLL, anchors, shifted)
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.bound == pytest.approx(value, rel=1e-6)
    np.testing.assert_array_equal(found.coordinates[anchors], shifted)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewAnchorsWarning")
def test_merged_points_weigh_as_often_as_they_occur(unfolded):
    counts = np.ones(30, dtype=int)
    counts[[4, 7]] = 3, 2
    heavy = graphs.NeighborGraph(30, ROLL.edges, ROLL.sqdist, counts, np.repeat(range(30), counts))
    free = sdpdr.solve(methods.mvu(heavy), tol=1e-9)
    Y = free.embedding(4)
    assert placed(heavy, [4, 9, 19], Y[[4, 9, 19]])[0].value == pytest.approx(free.value, rel=1e-6)


@pytest.mark.integration
@pytest.mark.parametrize(
    "isometry", ["inequality", pytest.param(Slack(10.0, relative=True), marks=pytest.mark.nightly)]
)
def test_solvers_agree_and_are_certified(unfolded, isometry):
    flat, anchors = unfolded[1][:, :2], [0, 5, 10, 15, 20, 25]
    model = methods.anchored_mvu(ROLL, anchors, flat[anchors], isometry)
    found = [sdpdr.solve(model, solver, tol=1e-6) for solver in ("lowrank", "clarabel")]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-6)
    assert all(abs(solution.gap) < 1e-6 for solution in found)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (([0, 3], [[0.0], [1.0]]), DataError, r"0\.\.2"),
        (([0, 0], [[0.0], [1.0]]), DataError, "anchor 0 is given twice"),
        (([0.0, 2.0], [[0.0], [1.0]]), DataError, "node numbers"),
        (([0, 2], [[0.0]]), ShapeError, r"\(2, r\)"),
        (([0, 2], [[0.0], [np.nan]]), DataError, "anchor 2 are not finite"),
        (([0, 1, 2], [[0.0], [1.0], [2.0]]), DataError, "no coordinates are unknown"),
        (([0, 2], [0.0, 4.6]), InfeasibleError, "0 and 2 are 4.6 apart, 0.1 more than the 4.5"),
        (([0, 2], [0.0, 4.5 + 1e-8]), InfeasibleError, "4.5 apart, 1e-08 more than the 4.5"),
        (([0, 2], [0.0, 5.0], Band(0.1)), InfeasibleError, "anchors 0 and 2"),
        (
            ([0, 1], [0.0, 1.5], "equality"),
            InfeasibleError,
            "0 and 1 are 1.5 apart, 0.5 less than the 2",
        ),
        (([0, 2], [0.0, 3.0], "inequality", "origin"), UnknownNameError, "about"),
        (([0, 2], [0.0, 3.0], "inexact"), UnknownNameError, "unknown isometry"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        methods.anchored_mvu(TRIANGLE, *options)


def test_a_part_without_anchor_is_unbounded_and_named():
    parts = graphs.from_edges(5, [[0, 1], [2, 3], [3, 4]], [1.0, 1.0, 1.0])
    with pytest.raises(DisconnectedGraphError, match="1 component of .*2, 3, 4") as caught:
        methods.anchored_mvu(parts, [0], [[0.0]])
    assert caught.value.components[0].tolist() == [2, 3, 4]
    both = methods.anchored_mvu(parts, [0, 2], [[0.0], [1.0]], about="anchors")
    assert sdpdr.solve(both).certified()


def test_too_few_anchors_leave_the_mirror_image():
    with pytest.warns(FewAnchorsWarning, match="2 anchors span 1 of 2 dimensions; 3 in general"):
        methods.anchored_mvu(TRIANGLE, [0, 2], [[0.0, 0.0], [3.0, 0.0]])
