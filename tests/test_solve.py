"""From a graph to a certified answer: oracles and invariances of the whole path."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, datasets, graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.program import as_dense
from sdpdr.solvers.registry import SOLVERS

pytestmark = pytest.mark.integration

RELATIONS = ["inequality", "equality", Band(0.1), Slack(1.0), Slack(200.0, "absolute", True)]
# One solver for each form; the table of programs runs through all of them elsewhere.
ROUTES = [("lowrank", "factor"), ("clarabel", "gram"), ("clarabel", "lmi")]
LENGTHS = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 0.7])
LINE = np.concatenate([[0.0], np.cumsum(LENGTHS)])
LINE = LINE - LINE.mean()


def swiss_graph(n, seed=0, k=4):
    return graphs.knn(datasets.swiss_roll(n, seed)[0], n_neighbors=k)


def spiral_graph(moved=None):
    """Neighbours on a spiral, for which lengths can be kept exactly with room to spare."""
    points = datasets.spiral(20)[0]
    return graphs.knn(points if moved is None else moved(points), n_neighbors=3)


def solve(
    graph, relation="inequality", solver="auto", form="auto", status=Status.SOLVED, **options
):
    solution = sdpdr.solve(methods.mvu(graph, relation), solver, form, **options)
    assert solution.status is status
    return solution


def gram(solution):
    return as_dense(solution.gram())


# -- oracles ------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("relation", ["inequality", "equality"])
@pytest.mark.parametrize(("solver", "form"), ROUTES)
def test_a_complete_graph_is_classical_scaling(solver, form, relation):
    points = np.random.default_rng(0).standard_normal((6, 3))
    centred = points - points.mean(axis=0)
    # One matrix keeps all lengths exactly, and none if they are rounded: there is no interior.
    status = Status.OPTIMAL_NEARBY if relation == "equality" else Status.SOLVED
    solution = solve(graphs.complete(points), relation, solver, form, status)
    assert solution.epsilon < 1e-6
    assert solution.value == pytest.approx(np.sum(centred**2), rel=2e-6)
    np.testing.assert_allclose(gram(solution), centred @ centred.T, atol=1e-4)
    left, singular, _ = np.linalg.svd(centred, full_matrices=False)
    classical = left * singular
    classical *= np.sign(classical[np.abs(classical).argmax(axis=0), range(3)])
    np.testing.assert_allclose(solution.embedding(3), classical, atol=1e-3)


@pytest.mark.daily(3)
@pytest.mark.parametrize("relation", ["inequality", "equality", Slack(30.0, "absolute")], ids=str)
@pytest.mark.parametrize(("solver", "form"), ROUTES)
def test_a_path_becomes_a_straight_line(solver, form, relation):
    solution = solve(graphs.path(LENGTHS), relation, solver, form)
    assert solution.value == pytest.approx(LINE @ LINE, rel=2e-6)
    line = solution.embedding(1)[:, 0]
    np.testing.assert_allclose(line * np.sign(line[-1]), LINE, atol=1e-4)
    weights = -np.cumsum(LINE)[:-1] / LENGTHS
    np.testing.assert_allclose(solution.duals["isometry"], weights, rtol=1e-3)


# The generator and the optima are those that the documentation tabulates.
def test_the_swiss_roll_of_a_hundred_points():
    graph = swiss_graph(100)
    assert graph.m == 249
    solution = solve(graph, solver="lowrank")
    assert solution.value == pytest.approx(26004.918, rel=1e-7)
    assert solution.bound == pytest.approx(26004.918, rel=1e-6)
    assert solution.value <= solution.bound * (1.0 + 1e-12)


# -- invariance ---------------------------------------------------------------------------------


def test_edges_named_in_both_directions_change_nothing():
    graph = swiss_graph(20)
    both = np.vstack([graph.edges, graph.edges[:, ::-1]])
    doubled = graphs.from_edges(20, both, np.tile(graph.sqdist, 2))
    assert solve(doubled).value == pytest.approx(solve(graph).value, rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("relation", [RELATIONS[0], RELATIONS[-1]], ids=str)
def test_the_order_of_points_makes_no_difference(relation):
    order = np.random.default_rng(1).permutation(20)
    one = solve(spiral_graph(), relation)
    other = solve(spiral_graph(lambda points: points[order]), relation)
    assert other.value == pytest.approx(one.value, rel=2e-6)
    expected = gram(one)[np.ix_(order, order)]
    np.testing.assert_allclose(gram(other), expected, atol=1e-2 * np.abs(expected).max())


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("relation", "size"),
    [("inequality", 1e6), ("equality", 1e-6), (Slack(5.0, relative=True), 1e-6)],
    ids=str,
)
def test_moving_turning_and_scaling_the_data(relation, size):
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    graph = spiral_graph(lambda points: size * (points @ turn + [30.0, -70.0]))
    penalty = Slack(5.0 * size**2, relative=True) if isinstance(relation, Slack) else relation
    one, other = solve(spiral_graph(), relation), solve(graph, penalty)
    assert other.value == pytest.approx(size**2 * one.value, rel=2e-6)
    assert other.bound == pytest.approx(size**2 * one.bound, rel=2e-6)


# -- all solvers on one program -----------------------------------------------------------------

# With a Gram matrix as the unknown a solver needs ten seconds and more at this size.
QUICK = ("factor", "lmi")
PAIRS = [
    (name, form)
    for name, cls in SOLVERS.items()
    if cls.availability().usable
    for form in cls.forms
    if form in QUICK
]


@pytest.fixture(scope="module")
def certified():
    graph = swiss_graph(30)
    solution = solve(graph, solver="lowrank", tol=1e-9)
    assert solution.certified(1e-8)
    return graph, solution


@pytest.mark.daily(2)
@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize(("name", "form"), PAIRS)
def test_solvers_agree_with_the_certified_optimum_or_are_found_out(name, form, certified):
    graph, best = certified
    solution = sdpdr.solve(methods.mvu(graph), name, form, time_limit=2.0)
    if solution.status is Status.SOLVED:
        assert solution.value == pytest.approx(best.value, rel=2 * solution.tol)
        assert solution.bound >= best.value * (1.0 - 1e-9)
    else:
        assert not solution.certified()
        assert solution.bound is None or solution.bound >= best.value * (1.0 - 1e-9)


@pytest.mark.nightly
def test_large_multipliers_of_exact_lengths_still_prove_a_bound():
    """Weights of size 1e7 blur the eigenvalue solver; the bound must not get lost in that."""
    graph = graphs.knn(sdpdr.datasets.swiss_roll(500, seed=0)[0], 4)
    solution = sdpdr.solve(methods.mvu(graph, "equality"), "lowrank")
    assert solution.bound is not None
    assert solution.apparent_gap <= 1e-4
