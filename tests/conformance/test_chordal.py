"""Chordal forms: every general solver in front of clique blocks, graded in the original program."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import NotAcceptedError
from sdpdr.program import Factor, read_sdpa
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL

from ..proofs import certify
from .limits import tolerance

pytestmark = pytest.mark.integration

LIBRARY = Path(__file__).parents[3] / "shared" / "data" / "sdplib"
# Every solver in front of one kind of clique blocks; at night in front of both, and SDPA, which
# starts a process.
GENERAL = [
    pytest.param(
        name,
        form,
        marks=[pytest.mark.nightly] if form == "chordal" or name == "sdpa" else [],
    )
    for name, cls in SOLVERS.items()
    if cls.availability().usable
    for form in cls.forms
    if form in CHORDAL
]


def swiss(n, k=4):
    return graphs.knn(datasets.swiss_roll(n, 0)[0], n_neighbors=k)


@pytest.fixture(scope="module")
def unfolding():
    model = methods.mvu(swiss(50))
    best = sdpdr.solve(model, "lowrank", tol=1e-9)
    assert best.certified(1e-8)
    return model, best


@pytest.mark.daily(2)
@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize(("name", "form"), GENERAL)
def test_every_solver_unfolds_by_cliques(unfolding, name, form):
    model, best = unfolding
    solution = sdpdr.solve(model, name, form)
    allowed = 10 * tolerance(name)
    assert solution.value == pytest.approx(best.value, rel=allowed)
    assert solution.bound == pytest.approx(best.value, rel=allowed)
    assert solution.residuals.worst() < allowed
    assert isinstance(solution.values["K"], Factor)
    assert set(solution.duals) == {"centered", "isometry"}
    assert solution.embedding(2).shape == (50, 2)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "relation",
    ["equality", Slack(1.0), Slack(30.0, "absolute")],
    ids=str,
)
def test_other_isometries_are_certified_in_the_original_program(relation):
    solution = sdpdr.solve(methods.mvu(swiss(50), relation), "clarabel", "chordal-lmi", tol=1e-5)
    if relation == "equality":
        # Cliques of five points in space are flat, and rounded lengths of theirs are kept nearly.
        assert solution.status is sdpdr.Status.OPTIMAL_NEARBY
        assert max(solution.epsilon, solution.apparent_gap) <= 1e-5
    else:
        assert solution.status is sdpdr.Status.SOLVED
        assert solution.certified(1e-5)
    assert solution.residuals.worst() < 1e-5


@pytest.mark.parametrize("form", CHORDAL)
def test_refusals_reach_the_caller(form):
    model = methods.mvu(graphs.complete(datasets.swiss_roll(12, 0)[0]))
    with pytest.raises(NotAcceptedError, match=rf"\({form} form\): 'K': .*reads 100%"):
        sdpdr.solve(model, "clarabel", form)


# -- SDPLIB -------------------------------------------------------------------------------------

table = pytest.mark.skipif(
    not LIBRARY.exists(), reason="the SDPLIB files are not beside the project"
)


def optimum(name):
    with open(LIBRARY / "optimal_values.csv", encoding="ascii") as file:
        return next(float(r["optimal_value"]) for r in csv.DictReader(file) if r["name"] == name)


@table
@pytest.mark.parametrize("form", CHORDAL)
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["mcp100", "mcp124-1"])
def test_sparse_problems_of_sdplib_reach_their_table_values(name, form):
    sdp = read_sdpa(LIBRARY / f"{name}.dat-s.gz")
    solution = sdpdr.solve(sdp, "clarabel", form)
    assert solution.value == pytest.approx(optimum(name), rel=1e-5)
    assert certify(sdp, solution.duals).bound == pytest.approx(optimum(name), rel=1e-5)


@table
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["theta1", "gpp100"])
def test_dense_problems_of_sdplib_are_refused(name):
    words = "reads 100% of its entries|cost more than they save"
    with pytest.raises(NotAcceptedError, match=words):
        sdpdr.solve(read_sdpa(LIBRARY / f"{name}.dat-s.gz"), "clarabel", "chordal")
