"""Comparisons: every run is a record of a study, whatever happened to it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from rich.console import Console

from sdpdr import graphs, methods
from sdpdr.errors import UnknownNameError
from sdpdr.lab.study.compare import compare, comparison_table, terminal_table
from sdpdr.lab.study.schema import COLUMNS
from sdpdr.lab.study.task import Contestant
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.lowrank.solver import LowRank

MODEL = methods.mvu(graphs.path([1.0, 2.0, 0.5]))


@dataclass(frozen=True)
class GivesUp(LowRank):
    """A solver that fails, and says why."""

    def run(self, sdp, progress=None):
        return Outcome(Point(), Verdict.FAILED, Claim("gave up", message="too steep"))


@pytest.mark.nightly
def test_every_solver_in_every_form_is_a_record_with_claim_and_grade(capfd):
    solvers = ["lowrank", "clarabel", "mosek", Contestant(f"{__name__}:GivesUp")]
    runs = compare(MODEL, solvers, ["lmi", "factor", "chordal"], jobs=2, progress=True)
    assert list(runs.columns) == [column.name for column in COLUMNS]
    found = runs.set_index(["solver", "form"])
    assert found["outcome"].to_dict() == {
        ("clarabel", "chordal"): "REFUSED",  # 4 points have no cliques worth it
        ("clarabel", "lmi"): "SOLVED",
        ("givesup", "factor"): "FAILED",
        ("lowrank", "factor"): "SOLVED",
        ("mosek", "chordal"): "MISSING",
        ("mosek", "lmi"): "MISSING",
    }
    solved = runs[runs["solved"]]
    assert solved["certified"].all()
    assert solved["value"].tolist() == pytest.approx([solved["value"].iloc[0]] * 2, rel=1e-5)
    assert found.loc[("givesup", "factor"), "message"] == "too steep"
    console = Console(width=250)
    with console.capture() as captured:
        console.print(terminal_table(comparison_table(runs)))
    for word in ("claimed", "verified", "worst error", "✓ solved", "too steep", "licence"):
        assert word in captured.get()
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "comparing solvers" in shown.err


def test_unknown_names_are_refused():
    for solvers, forms, near in ((["clarabell"], None, "clarabel"), (None, ["grams"], "gram")):
        with pytest.raises(UnknownNameError, match=near):
            compare(MODEL, solvers, forms)
