"""The report is one valid page that needs nothing from outside, with everything in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from sdpdr import datasets, graphs, methods, plot
from sdpdr.lab.study.compare import ComparedRun, Comparison, compare
from sdpdr.lab.study.page import Section, to_html, write_page
from sdpdr.lab.study.page.render import inline_svg
from sdpdr.lab.study.report import comparing, picture, report, unfolding, versions
from sdpdr.solving.solve import solve

VOID = {"meta", "br", "hr", "img", "link", "input", "col", "wbr"}


class Page(HTMLParser):
    """Checks that elements nest, and collects identifiers, addresses and text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.ids, self.addresses, self.tags, self.words = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href", "src", "action"):
                self.addresses.append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def parts():
    X, t = datasets.swiss_roll(12, seed=0)
    graph = graphs.knn(X, n_neighbors=4)
    model = methods.mvu(graph)
    return X, t, graph, model, solve(model, "lowrank")


@pytest.fixture(scope="module")
def html(parts):
    X, t, graph, model, solution = parts
    pictures = (
        picture("roll-data", plot.cloud(X, t), "Data."),
        picture("roll-embedding", plot.embedding(solution.embedding(2), t), "Embedding."),
        picture("roll-images", plot.embedding(X, images=X[:, :, None] + 99.0), "Raster < vector."),
    )
    comparison = compare(model, ["lowrank", "clarabel"], ["factor", "lmi"])
    absent = ComparedRun("absent", "gram, lmi", reason="package 'absent' is missing: <install> it")
    comparison = Comparison((*comparison.runs, absent), 1e-6, 20.0)
    sections = (
        unfolding(
            "roll", "Roll & unroll", "Text.", graph=graph, model=model, solution=solution,
            pictures=pictures,
        ),
        comparing("all", "All", "Text.", graph=graph, model=model, comparison=comparison),
    )  # fmt: skip
    return to_html(report("A <title>", "A summary.", sections, ("One limit.",)))


def test_the_page_is_well_formed_and_identifiers_are_unique(html):
    page = Page(html)
    assert html.startswith("<!doctype html>")
    assert len(page.ids) == len(set(page.ids))
    assert "<title>A &lt;title&gt;</title>" in html
    assert "&lt;install&gt;" in html


def test_the_page_needs_nothing_from_outside(html):
    page = Page(html)
    assert not re.search(r"https?://|file:|//[a-z]+\.|@import", html)
    assert not {"script", "link", "iframe", "object"} & set(page.tags)
    for address in page.addresses:
        assert address.startswith(("#", "data:image/png;base64,"))
    inside = [address[1:] for address in page.addresses if address.startswith("#")]
    assert set(inside) <= set(page.ids)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(page.ids)


def test_every_figure_is_there(html):
    ids = Page(html).ids
    for name in ("data", "embedding", "images", "weights", "spectrum", "convergence"):
        assert f"roll-{name}" in ids
    assert "all-runs" in ids
    assert html.count("<figure") == html.count("<svg") == 7


def test_every_fact_is_there(html, parts):
    _, _, graph, model, solution = parts
    text = " ".join(" ".join(Page(html).words).split())
    for line in model.describe().splitlines():
        assert " ".join(line.split()) in text
    for fact in (str(graph.m), solution.argument, f"{solution.value:.10g}", "relative gap",
                 "did not run", "One limit.", *versions()):  # fmt: skip
        assert fact in text


def test_ink_follows_the_page(parts):
    svg = inline_svg(plot.spectrum(parts[-1].spectrum()), "x")
    assert "currentColor" in svg
    assert "#000000" not in svg
    assert "<text" in svg


def test_the_same_report_is_the_same_page(parts):
    _, _, graph, model, solution = parts

    def page():
        told = unfolding("a", "A", "t", graph=graph, model=model, solution=solution)
        return to_html(report("T", "S", [told]))

    assert "<svg" in page()
    assert page() == page()


def test_saving_leaves_a_whole_page_or_none(tmp_path):
    target = tmp_path / "report.html"
    write_page(report("T", "S", [Section("a", "A", ["text"])]), target)
    assert Page(target.read_text(encoding="utf-8")).ids == ["a", "versions"]
    broken = report("T", "S", [Section("a", "A", ["text"], charts=["no picture"])])
    before = target.read_bytes()
    with pytest.raises(Exception, match="no attribute"):
        write_page(broken, target)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_versions_name_no_machine(tmp_path):
    import platform

    found = versions()
    assert "processors" in found["system"]
    assert not any(platform.node() in value for value in found.values() if platform.node())
