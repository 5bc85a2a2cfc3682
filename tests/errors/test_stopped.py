"""Solves that are stopped, and programs without an answer."""

from __future__ import annotations

import os
from contextlib import nullcontext

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, datasets, graphs, methods
from sdpdr.blocks import Centered, Gram, Isometry, Slack, Variance
from sdpdr.errors import DisconnectedGraphError
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import Model
from sdpdr.program import SDP, Rows
from sdpdr.solvers import LowRank

pytestmark = pytest.mark.integration

SPIRAL_OPTIMUM = 1628.4039  # of the inequality form, by three solvers


@pytest.fixture(scope="module")
def spiral():
    return graphs.knn(datasets.spiral(20)[0], n_neighbors=3)


@pytest.fixture(scope="module")
def threshold(spiral):
    """The penalty of slack below which nothing holds the points together: 1 / lambda_2(L(1))."""
    i, j = spiral.edges.T
    laplacian = np.zeros((spiral.n, spiral.n))
    np.add.at(laplacian, (i, i), 1.0)
    np.add.at(laplacian, (j, j), 1.0)
    np.add.at(laplacian, (i, j), -1.0)
    np.add.at(laplacian, (j, i), -1.0)
    return 1.0 / np.linalg.eigvalsh(laplacian)[1]


def interrupt_after(iterations):
    """A progress callback that behaves like somebody pressing Ctrl-C."""
    seen = []

    def progress(record):
        seen.append(record)
        if len(seen) == iterations:
            raise KeyboardInterrupt

    return progress


def assert_graded(solution):
    """The point at hand is feasible and below the bound, whichever way the solve ended."""
    assert np.isfinite(solution.value)
    assert 0.0 < solution.value <= SPIRAL_OPTIMUM * (1.0 + 1e-6)
    assert solution.residuals.primal() <= 1e-9
    if solution.bound is not None:
        assert solution.bound >= SPIRAL_OPTIMUM * (1.0 - 1e-6)
    assert solution.embedding(2).shape == (20, 2)


# -- stopped ----------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("iterations", [1, 8])
def test_an_interrupted_solve_is_graded(spiral, iterations):
    callback = interrupt_after(iterations)
    solution = sdpdr.solve(methods.mvu(spiral), "lowrank", progress=callback)
    assert solution.status is Status.INTERRUPTED
    assert solution.claimed.status == "interrupted"
    assert solution.claimed.iterations == iterations
    assert_graded(solution)


def test_an_interruption_does_not_start_another_solver(spiral):
    solution = sdpdr.solve(methods.mvu(spiral), progress=interrupt_after(2))
    assert solution.status is Status.INTERRUPTED
    assert solution.solver == "lowrank"


def test_an_interruption_inside_a_native_solver_reaches_the_caller(spiral, monkeypatch, capfd):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("clarabel.DefaultSolver", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sdpdr.solve(methods.mvu(spiral), "clarabel")
    os.write(1, b"still here")
    assert "still here" in capfd.readouterr().out


def test_a_time_limit_in_the_low_rank_solver_gives_the_best_point_so_far(spiral):
    solution = sdpdr.solve(methods.mvu(spiral), "lowrank", tol=1e-9, time_limit=1e-9)
    assert solution.status is Status.TIME_LIMIT
    assert "time_limit" in solution.advice
    assert_graded(solution)


@pytest.mark.nightly
@pytest.mark.parametrize(("solver", "form"), [("lowrank", "factor"), ("clarabel", "gram")])
def test_an_iteration_limit_is_said_and_the_point_graded(spiral, solver, form):
    solution = sdpdr.solve(methods.mvu(spiral), solver, form, max_iter=1)
    assert solution.claimed.verdict == "iteration limit"
    # The proof may finish a small program that the solver left after one step.
    assert solution.status in (Status.ITERATION_LIMIT, Status.SOLVED)
    assert solution.certified() == (solution.status is Status.SOLVED)
    if solver == "lowrank":
        assert_graded(solution)


@pytest.mark.nightly
def test_an_iteration_limit_that_no_proof_makes_up_for_is_the_status():
    points, _ = datasets.swiss_roll(300, seed=0)
    problem = methods.mvu(graphs.knn(points, n_neighbors=5))
    solution = sdpdr.solve(problem, "lowrank", "factor", max_iter=1)
    assert solution.status is Status.ITERATION_LIMIT
    assert not solution.certified()
    assert "max_iter" in solution.advice


LIMITS = (0.0, 1e-3, 0.02, 0.1)


def assert_true_so_far(solution, optimum, ended=Status.SOLVED):
    """Whatever was reached: bounds are true, and so are values at feasible points."""
    assert solution.status in (Status.TIME_LIMIT, ended, Status.INTERRUPTED)
    # A point with next to nothing right is left out, and has no value.
    assert np.isfinite(solution.value) == bool(solution.values)
    if solution.bound is not None:
        assert solution.bound >= optimum * (1.0 - 1e-6)
    if solution.residuals.primal() <= 1e-9:
        assert solution.value <= optimum * (1.0 + 1e-6)
    elif solution.status is not Status.SOLVED:
        assert not solution.certified()


@pytest.fixture(scope="module")
def roll():
    return graphs.knn(datasets.swiss_roll(40, seed=0)[0], n_neighbors=4)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("engine", "relation"),
    [("general", "inequality"), ("edges", Slack(2.0)), ("edges", "equality")],
    ids=repr,
)
def test_any_time_limit_leaves_true_bounds_and_values(roll, engine, relation):
    model = methods.mvu(roll, relation)
    solved = sdpdr.solve(model, "lowrank")
    # Cliques of five points in space are flat, and rounded lengths of theirs are kept nearly.
    exact = relation == "equality"
    assert solved.status is (Status.OPTIMAL_NEARBY if exact else Status.SOLVED)
    assert solved.epsilon <= 1e-6
    optimum = solved.value
    for limit in LIMITS:
        solver = LowRank(options={"engine": engine}, time_limit=limit)
        assert_true_so_far(sdpdr.solve(model, solver), optimum, solved.status)


def test_the_display_shows_value_bound_and_gap(roll, monkeypatch):
    shown = []
    monkeypatch.setattr("rich.status.Status.update", lambda self, words: shown.append(words))
    sdpdr.solve(methods.mvu(roll), "lowrank", progress=True)
    first, *solving, proving, after = shown
    assert first == "solving: lowrank, factor form"
    assert all("value" in words for words in solving)
    assert "bound" in solving[-1]
    assert "gap" in solving[-1]
    assert proving == "proving: what lowrank found, factor form"
    assert after == "planning"


def test_a_terminal_reads_what_is_done_before_any_solver_runs(roll, monkeypatch):
    shown = []
    monkeypatch.setattr("sdpdr.base.progress.has_terminal", lambda: True)
    monkeypatch.setattr(
        "rich.console.Console.status", lambda self, words: nullcontext(shown.append(words))
    )
    monkeypatch.setattr("sdpdr.solving.solve.plan", lambda *given, **options: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sdpdr.solve(methods.mvu(roll))
    assert shown == ["planning"]


# -- unbounded --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("solver", "form"),
    [("lowrank", "factor"), ("clarabel", "gram"), ("auto", "auto")],
)
def test_slack_cheaper_than_the_threshold_is_unbounded(spiral, threshold, solver, form):
    model = methods.mvu(spiral, Slack(0.99 * threshold, "absolute"))
    solution = sdpdr.solve(model, solver, form)
    assert solution.status is Status.UNBOUNDED
    assert "penalty on slack" in solution.advice
    assert solution.bound is None
    assert not solution.certified()


def two_parts():
    return graphs.from_edges(5, [(0, 1), (1, 2), (3, 4)], [1.0, 1.0, 1.0])


def test_a_disconnected_graph_is_refused_before_anything_is_solved():
    with pytest.raises(DisconnectedGraphError) as caught:
        methods.mvu(two_parts())
    assert [list(part) for part in caught.value.components] == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(("solver", "form"), [("lowrank", "factor"), ("clarabel", "gram")])
def test_a_disconnected_program_written_by_hand_is_unbounded(solver, form):
    graph = two_parts()
    model = Model((Gram(5), Centered(5), Isometry(graph), Variance(5)))
    solution = sdpdr.solve(model, solver, form)
    assert solution.status is Status.UNBOUNDED
    assert "graph is connected" in solution.advice


# -- infeasible -------------------------------------------------------------------------------


def contradiction(first, second):
    """A ring whose first edge has two lengths at once."""
    sdp = methods.mvu(graphs.cycle(4)).to_sdp()
    edge = SquaredEdgeLengths(4, np.array([[0, 1]]))
    rows = tuple(Rows(f"length {d:g}", "==", {"K": edge}, np.array([d])) for d in (first, second))
    return SDP(sdp.variables, sdp.objective, sdp.rows + rows, maximize=True)


@pytest.mark.parametrize("solver", ["auto", "clarabel"])
def test_rows_that_contradict_each_other_are_seen_before_solving(solver):
    answer = sdpdr.solve(contradiction(0.25, 0.75), solver)
    assert answer.status is Status.INFEASIBLE
    assert "length 0.25" in answer.claimed.message
    assert not answer.runs


def test_a_contradiction_between_lengths_is_the_solvers_to_find():
    """Edges of squared length 1, 1 and 9 make no triangle."""
    graph = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 9.0])
    solution = sdpdr.solve(methods.mvu(graph, "equality"), "clarabel", "gram")
    assert solution.status is Status.INFEASIBLE
    assert "Soften" in solution.advice
    assert not solution.certified()
