"""The demonstration runs from end to end and tells whether its answers are certified."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.lab.cli import main
from sdpdr.lab.study import demo
from sdpdr.lab.study.demo import demonstrate, verdict_on
from sdpdr.lab.study.schema import frame_of
from sdpdr.program import Solution


@pytest.mark.nightly
def test_it_succeeds_and_writes_report_figures_and_records(tmp_path):
    out = tmp_path / "new" / "folder"
    assert demonstrate(out, quick=True)
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "swiss-roll.json", "digits.json", "comparison.json"} <= names
    html = (out / "report.html").read_text(encoding="utf-8")
    pictures = {name.removesuffix(".png") for name in names if name.endswith(".png")}
    assert len(pictures) == html.count("<figure")
    assert all(f'id="figure-{name}"' in html for name in pictures)
    assert "Swiss roll, 120 points: certified; edges have " in html
    for name in ("swiss-roll", "digits"):
        record = json.loads((out / f"{name}.json").read_text())
        assert record["certified"]
        assert record["solver"] == "lowrank"
    runs = json.loads((out / "comparison.json").read_text())
    assert {run["solver"] for run in runs} == {"lowrank", "mosek", "clarabel", "scs"}
    assert not [name for name in names if name.startswith(".")]


def test_lost_lengths_are_reported():
    graph = graphs.path([1.0, 1.0])
    solution = sdpdr.solve(methods.mvu(graph))
    at = np.array([-1.0, 0.0, np.sqrt(0.2)]) - (np.sqrt(0.2) - 1.0) / 3.0
    shrunk = replace(solution, values={"K": np.outer(at, at)})
    assert verdict_on(graph, solution).startswith("certified; edges have 100%")
    assert verdict_on(graph, shrunk).startswith("certified; edges have 60%")


def test_it_fails_unless_the_unfoldings_are_certified(tmp_path, monkeypatch, capsys):
    roll = demo.unfold_roll(20)
    monkeypatch.setattr(Solution, "certified", lambda self, tol=None: False)
    for name in ("unfold_roll", "unfold_digits"):
        again = replace(roll[0], name=name), roll[1]
        monkeypatch.setattr(demo, name, lambda n, again=again: again)
    runs = frame_of([{"solver": "lowrank", "form": "factor", "tol": 1e-6}])
    monkeypatch.setattr(demo, "_compared", lambda n, solvers: runs)
    monkeypatch.setattr(demo, "save", lambda *parts: None)
    assert main(["demo", "--out", str(tmp_path), "--quick"]) == 1
    out, err = capsys.readouterr()
    assert "0 of 2 unfoldings are certified" in err
    assert "report.html" in out
