"""The demonstration runs from end to end and tells whether its answers are certified."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import sdpdr
from sdpdr import graphs, methods
from sdpdr.lab.cli import main
from sdpdr.lab.study import demo
from sdpdr.lab.study.demo import QUICK, demonstrate, representatives, verdict_on
from sdpdr.program import Solution


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    return out, demonstrate(out, quick=True)


SMALL = replace(QUICK, roll=40, digits=100, compared=8)


@pytest.fixture(scope="module")
def sketched(tmp_path_factory):
    """The same of less data, with pictures that are blank: these take longest."""
    out = tmp_path_factory.mktemp("sketch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "QUICK", SMALL)
        patch.setattr(Figure, "draw", lambda *given: None)
        assert demonstrate(out, quick=True)
    return out


@pytest.mark.nightly
def test_it_succeeds_and_writes_report_figures_and_records(finished):
    out, certified = finished
    assert certified
    names = {path.name for path in out.iterdir()}
    assert {"report.html", "swiss-roll.json", "digits.json", "comparison.json"} <= names
    html = (out / "report.html").read_text(encoding="utf-8")
    pictures = {name.removesuffix(".png") for name in names if name.endswith(".png")}
    assert len(pictures) == html.count("<figure")
    assert all(f'id="figure-{name}"' in html for name in pictures)
    for name in ("swiss-roll", "digits"):
        record = json.loads((out / f"{name}.json").read_text())
        assert record["certified"]
        assert record["solver"] == "lowrank"
    assert not [name for name in names if name.startswith(".")]


@pytest.mark.nightly
def test_what_became_of_lengths_stands_beside_certified(sketched):
    html = (sketched / "report.html").read_text(encoding="utf-8")
    box = html[html.index('aria-label="The answer"') :]
    sentences = re.findall(r"<p>(.*?)</p>", box[: box.index("</div>")])
    for name, sentence in zip(("Swiss roll, 40", "Handwritten digits, "), sentences, strict=True):
        assert sentence.startswith(name)
        assert re.search(
            r": certified, (and|but) lengths were (not )?kept( in part)?: edges have \d+%",
            sentence,
        )
    runs = json.loads((sketched / "comparison.json").read_text())
    assert {run["solver"] for run in runs} == {"lowrank", "mosek", "clarabel", "scs"}


def test_lengths_that_are_lost_are_called_so():
    """The gain of one edge makes up for no other's loss."""
    graph = graphs.path([1.0, 1.0])
    whole = sdpdr.solve(methods.mvu(graph))
    for squares, words in {
        (0.7, 0.7): ", but lengths were kept in part: edges have 70%",
        (0.1, 0.1): ", but lengths were not kept: edges have 10%",
        (1.05, 1.05): ", and lengths were kept: edges have 105%",
        (4.0, 4.0): ", but lengths were stretched: edges have 400%",
        (1.5, 0.6): ", but lengths were kept in part: ",
        (1.0, 1.9): ", but lengths were stretched: ",
    }.items():
        at = np.array([0.0, *np.cumsum(np.sqrt(squares))])
        at -= at.mean()
        assert words in verdict_on(graph, replace(whole, values={"K": np.outer(at, at)}))


def test_it_fails_unless_the_unfoldings_are_certified(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Solution, "certified", lambda self, tol=None: False)
    monkeypatch.setattr(demo, "QUICK", replace(SMALL, roll=20, digits=60, solvers=("lowrank",)))
    monkeypatch.setattr(demo, "save", lambda *parts: None)
    assert main(["demo", "--out", str(tmp_path), "--quick"]) == 1
    out, err = capsys.readouterr()
    assert "0 of 2 unfoldings are certified" in err
    assert "report.html" in out


def test_a_file_cannot_be_the_directory(tmp_path, capsys):
    (tmp_path / "taken").touch()
    assert main(["demo", "--out", str(tmp_path / "taken"), "--quick"]) == 2
    assert "is a file" in capsys.readouterr().err


def test_representatives_are_the_first_points_of_their_nodes():
    X = np.array([[0.0], [1.0], [0.0], [50.0], [2.0], [1.0]])
    with pytest.warns(match="merged"):
        graph = graphs.knn(X, n_neighbors=1, connect="none")
    assert representatives(graph).tolist() == [0, 1, 3, 4]
