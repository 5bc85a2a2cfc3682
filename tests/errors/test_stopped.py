"""Solves that are stopped, and programs without an answer."""

from __future__ import annotations

import os

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, datasets, graphs, methods
from sdpdr.blocks import Centered, Gram, Isometry, Slack, Variance
from sdpdr.errors import DisconnectedGraphError, InfeasibleError, NotAcceptedError
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import Model
from sdpdr.program import SDP, Rows

SPIRAL_OPTIMUM = 1628.4039  # of the inequality form, by three solvers


@pytest.fixture(scope="module")
def spiral():
    return graphs.knn(datasets.spiral(20)[0], n_neighbors=3)


@pytest.fixture(scope="module")
def threshold(spiral):
    """The price of slack below which nothing holds the points together: 1 / lambda_2(L(1))."""
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


@pytest.mark.parametrize("iterations", [1, 2, 8])
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


def test_an_interruption_inside_a_native_solver_reaches_the_person(spiral, monkeypatch, capfd):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("cvxpy.Problem.solve", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sdpdr.solve(methods.mvu(spiral), "clarabel")
    os.write(1, b"still here")
    assert "still here" in capfd.readouterr().out


def test_a_time_limit_in_the_low_rank_solver_gives_the_best_point_so_far(spiral):
    solution = sdpdr.solve(methods.mvu(spiral), "lowrank", tol=1e-9, time_limit=1e-9)
    assert solution.status is Status.TIME_LIMIT
    assert "best point" in solution.status.advice
    assert_graded(solution)


@pytest.mark.parametrize(("solver", "form"), [("lowrank", "factor"), ("clarabel", "gram")])
def test_an_iteration_limit_is_said_and_the_point_graded(spiral, solver, form):
    solution = sdpdr.solve(methods.mvu(spiral), solver, form, max_iter=3)
    assert solution.status is Status.ITERATION_LIMIT
    assert not solution.certified()
    if solver == "lowrank":
        assert_graded(solution)


def test_progress_is_told_iteration_by_iteration(spiral):
    records = []
    solution = sdpdr.solve(methods.mvu(spiral), "lowrank", progress=records.append)
    assert len(records) == solution.claimed.iterations
    assert [r["iteration"] for r in records] == sorted(r["iteration"] for r in records)


# -- unbounded --------------------------------------------------------------------------------

GENERAL = [("clarabel", "gram"), ("clarabel", "lmi"), ("scs", "lmi")]


@pytest.mark.parametrize(("solver", "form"), [("auto", "auto"), ("lowrank", "factor"), *GENERAL])
def test_slack_cheaper_than_the_threshold_is_unbounded(spiral, threshold, solver, form):
    model = methods.mvu(spiral, Slack(0.99 * threshold, "absolute"))
    solution = sdpdr.solve(model, solver, form)
    assert solution.status is Status.UNBOUNDED
    assert "price of slack" in solution.status.advice
    assert solution.bound is None
    assert not solution.certified()


def test_the_low_rank_solver_says_by_how_much_to_raise_the_price(spiral, threshold):
    model = methods.mvu(spiral, Slack(0.5 * threshold, "absolute"))
    solution = sdpdr.solve(model, "lowrank")
    assert "Multiply prices by 2 or more" in solution.claimed.message


def test_slack_dearer_than_the_threshold_is_bounded(spiral, threshold):
    solution = sdpdr.solve(methods.mvu(spiral, Slack(1.01 * threshold, "absolute")), "lowrank")
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(2426.727, rel=1e-5)


def test_square_slack_has_no_threshold(spiral, threshold):
    solution = sdpdr.solve(methods.mvu(spiral, Slack(0.1 * threshold)), "lowrank")
    assert solution.status is Status.SOLVED


def two_parts():
    return graphs.from_edges(5, [(0, 1), (1, 2), (3, 4)], [1.0, 1.0, 1.0])


def test_a_disconnected_graph_is_refused_before_anything_is_solved():
    with pytest.raises(DisconnectedGraphError) as caught:
        methods.mvu(two_parts())
    assert [list(part) for part in caught.value.components] == [[0, 1, 2], [3, 4]]


@pytest.mark.parametrize(("solver", "form"), [("lowrank", "factor"), *GENERAL])
def test_a_disconnected_program_written_by_hand_is_unbounded(solver, form):
    graph = two_parts()
    model = Model((Gram(5), Centered(5), Isometry(graph), Variance(5)))
    solution = sdpdr.solve(model, solver, form)
    assert solution.status is Status.UNBOUNDED
    assert "disconnected" in solution.status.advice


# -- infeasible -------------------------------------------------------------------------------


def contradiction(first, second):
    """A ring whose first edge has two lengths at once."""
    sdp = methods.mvu(graphs.cycle(4)).to_sdp()
    edge = SquaredEdgeLengths(4, np.array([[0, 1]]))
    rows = tuple(Rows(f"length {d:g}", "==", {"K": edge}, np.array([d])) for d in (first, second))
    return SDP(sdp.variables, sdp.objective, sdp.rows + rows, maximize=True)


@pytest.mark.parametrize("solver", ["auto", "clarabel"])
def test_rows_that_contradict_each_other_are_seen_before_solving(solver):
    with pytest.raises((InfeasibleError, NotAcceptedError), match=r"length 0\.25"):
        sdpdr.solve(contradiction(0.25, 0.75), solver)


@pytest.mark.parametrize("form", ["gram", "lmi"])
def test_a_contradiction_between_lengths_is_the_solvers_to_find(form):
    """Edges of squared length 1, 1 and 9 make no triangle."""
    graph = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 9.0])
    solution = sdpdr.solve(methods.mvu(graph, "equality"), "clarabel", form)
    assert solution.status is Status.INFEASIBLE
    assert "Soften" in solution.status.advice
    assert not solution.certified()
