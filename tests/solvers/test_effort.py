"""What an unfolding will take: the rank that its graph tells, and the engine that follows."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank.edge.effort import NOISY, expected_rank, why_not_factored
from sdpdr.solvers.lowrank.edge.form import edge_form


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


# -- what follows from it -----------------------------------------------------------------------


def test_noise_goes_to_conjugate_gradients_and_sheets_do_not():
    noisy, sheet = (program_of(model) for model in (noise(250, 12), roll(250)))
    assert expected_rank(noisy) >= NOISY
    assert "conjugate gradients are faster" in why_not_factored(noisy)
    assert why_not_factored(sheet) == ""


@pytest.mark.nightly
@pytest.mark.parametrize("isometry", ["inequality", "equality"])
def test_the_answer_does_not_depend_on_engine_and_first_rank(isometry):
    model = noise(80, 12, isometry)
    options = [{"engine": "general", "rank": r} for r in (3, 16)] + [{"engine": "edges"}]
    found = [sdpdr.solve(model, LowRank(options=one)) for one in options]
    best = max(one.bound for one in found)
    for one in found:
        assert one.certified(1e-6)
        assert one.value == pytest.approx(best, rel=3e-6)
        assert one.bound >= (1.0 - 1e-9) * max(other.attained or -np.inf for other in found)
