"""Figures that move show what was solved: their data obey the programs that they come from."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from sdpdr import datasets, graphs
from sdpdr.linalg import SquaredEdgeLengths

pytestmark = pytest.mark.nightly

pytest.importorskip("sphinx", reason="Sphinx is not installed")

DOCS = Path(__file__).parents[2] / "docs"


def read(name):
    return json.loads((DOCS / "moving" / f"{name}.json").read_text(encoding="utf-8"))


def graph_of(n, k, height):
    return graphs.knn(datasets.swiss_roll(n, seed=0, height=height)[0], n_neighbors=k)


def test_values_lie_below_bounds_and_meet_them_in_the_end():
    films = [read("unfolding"), *read("choices")]
    for film in films:
        for frame in film["frames"]:
            assert frame["bound"] is None or frame["value"] <= frame["bound"] * (1 + 1e-9)
        last = film["frames"][-1]
        assert last["bound"] - last["value"] <= 1e-6 * last["value"]
        assert last["words"].startswith("Certified")
    bounds = [frame["bound"] for frame in films[0]["frames"][1:]]
    assert bounds[0] > 1.2 * bounds[-1]


@pytest.fixture
def rolled(monkeypatch):
    """The points of the film, and their distance from each other in the sheet."""
    monkeypatch.syspath_prepend(str(DOCS.parent / "benchmarks"))
    X, _, spacing = importlib.import_module("moving").rolled_grid(7, 36)
    return X, spacing


def test_the_unfolding_ends_in_a_flat_sheet(rolled):
    film, (_, spacing) = read("unfolding"), rolled
    along, across = np.array(film["frames"][-1]["Y"]).reshape(36, 7, 2).transpose(2, 0, 1)
    np.testing.assert_allclose(np.ptp(along, axis=1), 0.0, atol=0.1)
    np.testing.assert_allclose(np.abs(np.diff(across, axis=1)), spacing, atol=0.1)
    assert np.all(np.ptp(along, axis=0) > 0.99 * 35 * spacing)


def test_no_step_of_the_unfolding_draws_an_edge_longer_than_it_is(rolled):
    X, spacing = rolled
    film, graph = read("unfolding"), graphs.radius(X, 1.5 * spacing)
    assert film["edges"] == graph.edges.tolist()
    lengths = SquaredEdgeLengths(graph.n, graph.edges)
    for frame in film["frames"]:
        drawn = np.sqrt(lengths.apply_factor(np.array(frame["Y"])))
        # Places are rounded to hundredths.
        assert np.all(drawn <= np.sqrt(graph.sqdist) + 0.015)


def test_the_springs_prove_the_bound():
    film, graph = read("springs"), graph_of(400, 6, height=21.0)
    w = np.array(film["weights"])
    second = np.linalg.eigvalsh(graph.laplacian(w).toarray())[1]
    bound = graph.sqdist @ w / second
    assert bound == pytest.approx(film["frames"][0]["bound"], rel=1e-3)
    assert np.array(film["lengths"]) == pytest.approx(np.sqrt(graph.sqdist), rel=1e-3)


def test_optima_lie_in_their_sets_and_have_the_values_told():
    for shape in read("shapes"):
        for goal in shape["goals"]:
            C, K = np.array(goal["C"]), np.array(goal["K"])
            assert np.linalg.eigvalsh(K)[0] >= -2e-4
            if shape["shape"] == "cone":
                assert np.trace(K) <= 1 + 2e-4
                best = max(np.linalg.eigvalsh(C)[-1], 0.0)
                assert goal["bound"] == pytest.approx(best, abs=1e-6)
            else:
                np.testing.assert_allclose(np.diag(K), 1.0, atol=2e-4)
            assert np.sum(C * K) == pytest.approx(goal["value"], abs=2e-3)
            assert goal["certified"]
            assert goal["rank"] == np.linalg.matrix_rank(K, tol=1e-2)
