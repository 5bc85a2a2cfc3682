"""Comparisons: every run becomes a row, whatever happened to it."""

from __future__ import annotations

import json

import pytest
from rich.console import Console

from sdpdr import datasets, graphs, methods
from sdpdr.errors import SolverLicenceError, UnknownNameError
from sdpdr.lab.study.compare import compare
from sdpdr.program import Status
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.cvxpy_solvers import Clarabel
from sdpdr.solvers.lowrank.solver import LowRank


@pytest.fixture(scope="module")
def model():
    X, _ = datasets.swiss_roll(12, seed=0)
    return methods.mvu(graphs.knn(X, n_neighbors=4))


def as_text(comparison, width=180):
    console = Console(width=width)
    with console.capture() as captured:
        console.print(comparison.table())
    return captured.get()


def test_solvers_agree_and_the_table_shows_claim_and_grade(model, tmp_path):
    comparison = compare(model, ["lowrank", "clarabel"])
    rows = comparison.rows()
    assert [(row["solver"], row["form"]) for row in rows] == [
        ("lowrank", "factor"), ("clarabel", "gram"), ("clarabel", "lmi"), ("clarabel", "chordal"),
        ("clarabel", "chordal-lmi"), ("clarabel", "cvxpy"),
    ]  # fmt: skip
    refused = [row["form"] for row in rows if "value" not in row]
    assert refused == ["chordal", "chordal-lmi"]  # 12 points have no cliques worth it
    assert all(row["reason"] for row in rows if row["form"] in refused)
    ran = [row for row in rows if "value" in row]
    assert [row["value"] for row in ran] == pytest.approx([rows[0]["value"]] * 4, rel=1e-5)
    assert comparison.n_certified == sum(row["certified"] for row in ran) >= 2
    for row in ran:
        spent = row["seconds"]
        assert spent["total"] == pytest.approx(
            spent["prepare"] + spent["solve"] + spent["grade"], abs=1e-6
        )
    text = as_text(comparison)
    for word in ("claimed", "verified", "residual", "solved", "converged", "optimal"):
        assert word in text
    comparison.save_json(tmp_path / "comparison.json")
    assert json.loads((tmp_path / "comparison.json").read_text())["runs"] == rows
    assert [path.name for path in tmp_path.iterdir()] == ["comparison.json"]


def test_an_absent_solver_is_one_row_with_the_remedy(model, monkeypatch):
    monkeypatch.setattr(Clarabel, "module", "no_such_module")
    comparison = compare(model, ["clarabel", "lowrank"])
    absent, present = comparison.rows()
    assert absent["form"] == "gram, lmi, chordal, chordal-lmi, cvxpy"
    assert absent["verified"] is None
    assert "pip install" in absent["reason"]
    assert present["certified"]
    assert "did not run" in as_text(comparison)
    assert len(comparison.solutions) == 1


def test_a_solver_that_does_not_accept_is_a_row(model, monkeypatch):
    monkeypatch.setattr(LowRank, "accepts", lambda self, sdp: "it likes other programs")
    (row,) = compare(model, ["lowrank"]).rows()
    assert row["verified"] is None
    assert "it likes other programs" in row["reason"]


def test_a_solver_that_wants_a_licence_for_so_large_a_program_is_a_row(model, monkeypatch):
    def run(self, sdp, progress=None):
        raise SolverLicenceError("takes 2 rows without a licence")

    monkeypatch.setattr(Clarabel, "run", run)
    (found,) = compare(model, ["clarabel"], ["gram"]).runs
    assert found.solution is None
    assert "without a licence" in found.reason


def test_a_solver_that_fails_is_a_row_with_its_words(model, monkeypatch):
    def fail(self, sdp, progress=None):
        return Outcome(Point(), Verdict.FAILED, Claim("gave up", message="too steep"))

    monkeypatch.setattr(LowRank, "run", fail)
    comparison = compare(model, ["lowrank"])
    (row,) = comparison.rows()
    assert row["verified"] == Status.FAILED.name
    assert row["value"] is row["gap"] is row["worst_residual"] is None
    assert not row["certified"]
    assert comparison.n_certified == 0
    assert "too steep" in as_text(comparison)
    json.dumps(row, allow_nan=False)


@pytest.mark.nightly
def test_runs_in_child_processes_keep_their_order(model):
    comparison = compare(model, ["lowrank", "clarabel"], ["factor", "lmi"], jobs=2)
    assert [run.solver for run in comparison.runs] == ["lowrank", "clarabel"]
    assert comparison.n_certified == 2


def test_progress_is_shown_on_demand_and_on_the_error_output_only(model, capsys):
    compare(model, ["lowrank"], progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "comparing solvers" in shown.err
    compare(model, ["lowrank"])
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("solvers", "forms", "near"), [(["clarabell"], None, "clarabel"), (None, ["grams"], "gram")]
)
def test_unknown_names_are_refused(model, solvers, forms, near):
    with pytest.raises(UnknownNameError, match=near):
        compare(model, solvers, forms)
