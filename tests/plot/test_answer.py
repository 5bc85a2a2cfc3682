"""An answer draws what it has, and shows itself in notebooks."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, maximize, methods, psd, scalar
from sdpdr.errors import DataError, PackageMissingError, ShapeError, SolveFailedError
from sdpdr.lab.plot.edges import SLACK, loads
from sdpdr.program.backward import Measured
from sdpdr.program.report import facts

ROLL, ALONG = datasets.swiss_roll(30, seed=0)
GRAPH = graphs.knn(ROLL, n_neighbors=4)


@pytest.fixture(scope="module")
def solution():
    return sdpdr.solve(methods.mvu(GRAPH), "lowrank")


def panels(figure):
    return {axes.get_title("left"): axes for axes in figure.axes if axes.get_title("left")}


def test_every_panel_draws_its_own_numbers(solution):
    figure = solution.plot(ALONG)
    assert re.match(r"SOLVED, proven gap \d", figure._suptitle.get_text())
    drawn = panels(figure)
    assert list(drawn) == ["embedding", "spectrum", "springs", "history"]
    Y = solution.embedding(2)
    np.testing.assert_allclose(drawn["embedding"].collections[-1].get_offsets(), Y)
    assert len(drawn["embedding"].collections[0].get_segments()) == GRAPH.m
    top = drawn["spectrum"].lines[0].get_ydata()
    spectrum = solution.spectrum()
    np.testing.assert_allclose(top, (spectrum / spectrum.sum())[: len(top)])
    springs = drawn["springs"].collections
    assert sum(len(lines.get_segments()) for lines in springs) == GRAPH.m
    # The heaviest edge lies on top, in the brightest colour.
    i, j = GRAPH.edges[np.argmax(solution.dual("isometry"))]
    np.testing.assert_allclose(springs[1].get_segments()[-1], Y[[i, j]])
    values = [entry["value"] for entry in solution.history]
    np.testing.assert_allclose(drawn["history"].lines[0].get_ydata(), values)


def test_panels_without_data_are_left_out(solution):
    K = psd("K", 3)
    plain = sdpdr.solve(maximize(K.trace()) + (K.diagonal() <= 1).named("unit"), "clarabel")
    assert list(panels(plain.plot())) == ["matrix K", "embedding", "spectrum"]
    np.testing.assert_allclose(panels(plain.plot())["matrix K"].images[0].get_array(), plain["K"])
    one = replace(solution, values={"K": np.ones((1, 1))}, measured=Measured(), history=())
    assert list(panels(one.plot())) == ["matrix K", "embedding", "spectrum"]
    zero = replace(one, values={"K": np.zeros((3, 3))})
    assert list(panels(zero.plot())) == ["matrix K", "embedding"]
    assert "Embedding of 3 points" in zero._repr_html_()


def test_nothing_to_draw_is_an_error(solution):
    with pytest.raises(SolveFailedError, match="no point"):
        replace(solution, values={}).plot()
    t = scalar("t")
    number = sdpdr.solve(maximize(t) + (t <= 1).named("limit"), "clarabel")
    with pytest.raises(DataError, match="nothing to draw"):
        number.plot()
    assert "<svg" not in number._repr_html_()
    with pytest.raises(ShapeError, match="30 points"):
        solution.plot(ALONG[:7])


@pytest.fixture
def without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("sdpdr.lab.plot")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_matplotlib")
def test_without_matplotlib_the_certificate_is_shown_and_what_to_install(solution):
    with pytest.raises(PackageMissingError, match="pip install matplotlib"):
        solution.plot()
    page = ElementTree.fromstring(solution._repr_html_())
    said, missing = page.iter("p")
    assert said.text == str(solution)
    shown = {row.find("th").text: row.find("td").text for row in page.iter("tr")}
    assert shown == {name: words for name, words in facts(solution).items() if name in shown}
    assert {"value", "bound", "gap"} <= set(shown)
    assert "pip install matplotlib" in missing.text
    assert not list(page.iter("svg"))


def test_a_notebook_shows_the_certificate_and_a_picture(solution):
    hostile = replace(solution, argument="<script>alert(1)</script>", solver="<b>")
    texts = [solution._repr_html_(), hostile._repr_html_()]
    for word in ("proved optimal", "Embedding of 30 points in the plane", "currentColor"):
        assert word in texts[0]
    assert "<script" not in texts[1]
    assert "<b>" not in texts[1]
    first, second = (set(re.findall(r'id="([^"]+)"', text)) for text in texts)
    assert not first & second, "identifiers are unique in a notebook"


def test_springs_without_multipliers_have_no_panel_and_hide_no_other(solution):
    weights = np.where(np.arange(GRAPH.m) == 2, np.nan, solution.dual("isometry"))
    unknown = replace(solution, duals={**solution.duals, "isometry": weights})
    drawn = panels(unknown.plot())
    assert list(drawn) == ["embedding", "spectrum", "history"]
    assert len(drawn["embedding"].collections[0].get_segments()) == GRAPH.m
    assert "<svg" in unknown._repr_html_()


def test_loads_do_not_depend_on_units_and_one_spring_of_many_is_no_slack_one():
    weights = np.linspace(-3.0, 1.0, 500)
    np.testing.assert_allclose(loads(7.0 * weights), loads(weights))
    assert loads(weights).max() == 1.0
    alone = np.where(np.arange(500) == 3, 2.0, 0.0)
    assert np.flatnonzero(loads(alone) > SLACK).tolist() == [3]
    assert not loads(np.zeros(4)).any()
    assert loads(np.zeros(0)).size == 0


def test_pictures_of_many_points_stay_small(solution):
    spiral = np.linspace(0, 9, 20_000)
    factor = sdpdr.program.Factor(np.column_stack([np.cos(spiral), np.sin(spiral)]))
    many = replace(solution, values={"K": factor}, measured=Measured())
    assert len(many._repr_html_()) < 300_000


def test_edges_of_another_matrix_are_not_drawn():
    K, L = sdpdr.psd("K", 4), sdpdr.psd("L", 4)
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    model = (
        sdpdr.maximize(K[0, 1] + L.trace())
        + (K.trace() == 1)
        + (L.sum(axis=1) == 0)
        + (L.distance2(edges) <= np.ones(3))
    )
    assert not sdpdr.solve(model).edges
