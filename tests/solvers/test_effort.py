"""What an unfolding will take: the rank that its graph tells, the engine, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from gc import collect
from weakref import ref

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank import EdgeProgram, Options
from sdpdr.solvers.lowrank.edge.effort import NOISY, STAGES, effort, expected_rank
from sdpdr.solvers.lowrank.edge.form import edge_form
from sdpdr.solvers.lowrank.edge.program import Objective
from sdpdr.solvers.lowrank.edge.search import EdgeSearch
from sdpdr.solvers.lowrank.edge.start import FEW_COLUMNS
from sdpdr.solvers.lowrank.frame import Journal
from sdpdr.solving.costs.prediction import predict
from sdpdr.solving.costs.structure import Structure


def noise(n, dimensions, isometry="inequality"):
    points = np.random.default_rng(3).standard_normal((n, dimensions))
    return methods.mvu(graphs.knn(points, n_neighbors=6, connect="bridges"), isometry)


def roll(n):
    return methods.mvu(graphs.knn(datasets.swiss_roll(n, seed=0)[0], n_neighbors=6))


def program_of(model):
    return edge_form(model.to_sdp()).program


# -- the rank that a graph tells ----------------------------------------------------------------


def test_a_sheet_has_the_rank_of_a_sheet():
    assert expected_rank(program_of(methods.mvu(graphs.path([1.0] * 30)))) == 1
    assert expected_rank(program_of(roll(300))) <= 3


@pytest.mark.parametrize(("dimensions", "least", "most"), [(3, 3, 4), (5, 4, 7), (12, 9, 14)])
def test_noise_has_about_as_many_directions_as_columns(dimensions, least, most):
    assert least <= expected_rank(program_of(noise(250, dimensions))) <= most


def test_a_star_is_no_cloud_of_many_dimensions():
    """All leaves are equally far from each other; two dimensions hold them as well."""
    n = 150
    edges = np.column_stack([np.zeros(n - 1, dtype=int), np.arange(1, n)])
    star = methods.mvu(graphs.from_edges(n, edges, np.ones(n - 1)))
    assert expected_rank(program_of(star)) < NOISY
    assert effort(program_of(star)).factored
    assert sdpdr.solve(star, solver="lowrank").value == pytest.approx(n - 1, rel=1e-6)


def test_no_rank_is_expected_beyond_that_of_some_answer():
    n = 60
    spokes = np.column_stack([np.zeros(n - 1, dtype=int), np.arange(1, n)])
    edges = np.vstack([spokes, np.sort(np.column_stack([np.arange(1, n - 1), np.arange(2, n)]))])
    wheel = methods.mvu(graphs.from_edges(n, edges, np.ones(len(edges))))
    r = expected_rank(program_of(wheel))
    assert r * (r + 1) / 2 <= len(edges)


@pytest.mark.parametrize("spokes", [40, 400])
def test_no_more_dimensions_are_expected_than_separators_leave_room_for(spokes):
    """A wheel has tree-width three, and parts of its map can be turned about hub and two others."""
    rim = np.arange(1, spokes + 1)
    edges = np.vstack(
        [np.column_stack([0 * rim, rim]), np.sort(np.column_stack([rim, np.roll(rim, -1)]))]
    )
    wheel = methods.mvu(graphs.from_edges(spokes + 1, edges, np.ones(len(edges))))
    assert expected_rank(program_of(wheel)) <= 4
    assert effort(program_of(wheel)).factored


def test_the_unit_of_length_and_the_order_of_planning_change_nothing():
    program = program_of(noise(150, 12))
    longer = replace(program, sqdist=program.sqdist * 1e6, upper=program.upper * 1e6)
    assert effort(program) == effort(longer) == effort(replace(program))


def _grid(side):
    place = np.arange(side * side).reshape(side, side)
    across = np.column_stack([place[:, :-1].ravel(), place[:, 1:].ravel()])
    down = np.column_stack([place[:-1].ravel(), place[1:].ravel()])
    return np.vstack([across, down])


def test_other_objectives_and_points_on_the_same_edges_are_told_apart():
    n, edges = 144, _grid(12)
    far = np.column_stack([np.arange(72), np.arange(72) + 72])
    near = np.column_stack([np.arange(72), np.arange(72) + 2])
    work = []
    for variance, pairs in ((1.0, far[:0]), (0.0, far), (0.0, near)):
        objective = Objective(np.ones(n), variance, pairs, np.ones(len(pairs)))
        program = EdgeProgram(edges=edges, n=n, sqdist=1.0, objective=objective)
        work.append(effort(program).numbers)
        assert effort(program) is effort(program)
    assert len(set(work)) == 3
    path = [[0, 1], [1, 2]]
    three, four = (EdgeProgram(edges=path, n=n, sqdist=1.0) for n in (3, 4))
    assert effort(three) != effort(four)


def test_a_program_is_forgotten_with_its_last_user():
    program = EdgeProgram(edges=[[0, 1], [1, 2]], n=3, sqdist=1.0)
    effort(program)
    alive = ref(program)
    del program
    collect()
    assert alive() is None


def test_points_that_no_path_joins_are_predicted_too():
    apart = EdgeProgram(edges=[[0, 1], [1, 2], [3, 4]], n=5, sqdist=1.0)
    assert 1 <= expected_rank(apart) <= 4


def test_limits_from_below_are_solved_in_stages():
    exact, loose = (effort(program_of(noise(60, 3, how))) for how in ("equality", "inequality"))
    assert (exact.stages, loose.stages) == (STAGES, 1)
    assert exact.rank == loose.rank
    assert exact.columns > loose.columns


# -- what follows from it -----------------------------------------------------------------------


def test_predictions_grow_with_the_dimension_of_noise():
    costs = [
        predict("lowrank", "factor", Structure(noise(250, d).to_sdp())) for d in (3, 5, 8, 12, 20)
    ]
    seconds, memory = ([getattr(one, name) for one in costs] for name in ("seconds", "memory"))
    assert seconds == sorted(seconds)
    assert memory[0] < memory[-1]


def test_noise_goes_to_conjugate_gradients_and_sheets_do_not():
    noisy, sheet = Structure(noise(250, 12).to_sdp()), Structure(roll(250).to_sdp())
    assert noisy.effort.rank >= NOISY
    assert (noisy.engine, sheet.engine) == ("products", "edges")
    assert "conjugate gradients" in sdpdr.plan(noise(250, 12)).reason
    assert "is sparse" in sdpdr.plan(roll(250)).reason
    late = sdpdr.plan(roll(250), time_limit=0.0).reason
    assert "sparse" not in late
    assert "limits on edge lengths; the multipliers" in late


@pytest.mark.nightly
def test_noise_is_certified_by_the_engine_that_was_predicted():
    solution = sdpdr.solve(noise(250, 12), "lowrank")
    assert solution.certified(1e-6)
    assert "augmented Lagrangian" in solution.claimed.message
    assert "-dimensional" in solution.claimed.message


@pytest.mark.nightly
@pytest.mark.parametrize(
    "isometry", ["inequality", pytest.param("equality", marks=pytest.mark.nightly)]
)
def test_the_answer_does_not_depend_on_engine_and_first_rank(isometry):
    model = noise(80, 12, isometry)
    options = [{"engine": "general", "rank": r} for r in (3, 16)] + [{"engine": "edges"}]
    found = [sdpdr.solve(model, LowRank(options=one)) for one in options]
    best = max(one.bound for one in found)
    for one in found:
        assert one.certified(1e-6)
        assert one.value == pytest.approx(best, rel=3e-6)
        assert one.bound >= (1.0 - 1e-9) * max(other.attained or -np.inf for other in found)


def test_the_largest_rank_asked_for_holds_where_more_are_expected():
    form = edge_form(noise(150, 12).to_sdp())
    assert LowRank(options={"max_rank": 4})._first_shape(form).shape == (150, 4)
    assert LowRank(options={"rank": 5})._first_shape(form).shape == (150, 5)
    assert LowRank()._first_shape(form).shape[1] >= NOISY


def test_few_columns_come_first_where_time_does_not_suffice_for_all():
    form = edge_form(noise(250, 12).to_sdp())
    least = effort(form.program).by_products / 7e7
    columns = [
        LowRank(time_limit=limit)._first_shape(form).shape[1]
        for limit in (None, 2.0 * least, 0.5 * least)
    ]
    assert columns[0] == columns[1] >= NOISY
    assert columns[2] == FEW_COLUMNS
    asked = LowRank(time_limit=0.5 * least, options={"rank": 9})
    assert asked._first_shape(form).shape[1] == 9


# -- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead", "fits"), [(7.9, False), (8.1, True), (np.inf, True)])
def test_a_rank_whose_step_would_be_late_is_refused(monkeypatch, ahead, fits):
    program = program_of(noise(60, 3))
    journal = Journal(Options())
    search = EdgeSearch(program, Options(), journal)
    assert search.fits(8)  # nothing is known yet
    search.approach(program, np.random.default_rng(0).standard_normal((60, 4)), 0.5, -np.inf)
    journal.factorizations = 10
    monkeypatch.setattr(type(journal), "seconds", 10.0)
    monkeypatch.setattr(type(journal.deadline), "ahead", ahead)
    assert search.fits(8) is fits
    assert ("more than are left" in search.message) is not fits


def test_dense_matrices_that_do_not_fit_are_refused_before_they_are_tried(monkeypatch):
    monkeypatch.setattr("sdpdr.solvers.dense.solver.allowed_memory", lambda: 1e6)
    solution = sdpdr.solve(methods.mvu(graphs.path([1.0] * 30)), "dense", "gram")
    assert solution.claimed.status == "out of memory"
    assert "GiB" in solution.claimed.message
    cost = predict("dense", "gram", Structure(noise(300, 3).to_sdp()))
    assert cost.memory > 24 * (299 * 300 / 2) ** 2
