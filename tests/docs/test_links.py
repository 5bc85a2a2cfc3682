"""Links within the pages: those that lead nowhere are found, and no others."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

pytest.importorskip("sphinx", reason="Sphinx is not installed")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def broken(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    return importlib.import_module("links").broken


@pytest.fixture
def site(tmp_path):
    """Two pages that lead to each other, and a picture."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "picture one.png").write_bytes(b"")
    (tmp_path / "index.html").write_text(
        '<a href="deep/page.html#there">x</a> <a href="#">top</a> <a href="https://elsewhere/#x">y</a>'
        '<img alt="&lt;" src="picture%20one.png"> <p id="f(x)">'
    )
    (tmp_path / "deep" / "page.html").write_text(
        '<h1 id="there">1 < 2</h1> <a href="../index.html#f(x)">x</a> <a href="#there">y</a>'
        "<script>document.write('<a href=\"nowhere\">')</script>"
    )
    return tmp_path


def test_links_that_lead_somewhere_are_no_complaint(broken, site):
    assert list(broken(site)) == []


@pytest.mark.parametrize(
    "link", ["gone.html", "page.html#gone", "#gone", "../picture.png", "../index.html#there"]
)
def test_a_link_that_leads_nowhere_is_found(broken, site, link):
    page = site / "deep" / "page.html"
    page.write_text(page.read_text() + f'<a class="external" href="{link}">here</a>')
    assert list(broken(site)) == [("deep/page.html", link)]
