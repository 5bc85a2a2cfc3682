"""Every method has a page of the gallery: short, named by its title, and running."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import runpy
from operator import attrgetter
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import sdpdr
from sdpdr import baselines, estimators, extend, methods

pytestmark = pytest.mark.integration

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
METHODS = GALLERY.parent / "methods"
EXTENSIONS = GALLERY.parent / "_ext"
PAGES = sorted(GALLERY.glob("*/plot_*.py"))
MOST_LINES = 25
# Estimators of other namespaces.
ELSEWHERE = {"SPE", "Sammon", "GPLVM", "KernelEigenmaps", "RelevanceFeedback"}
# Not methods: bases, steps and bounds within one, and what reads an answer.
HELPERS = {
    "GramEmbedding", "GraphProjection", "LengthEmbedding",
    "contrast", "ellipsoid_of", "isometric", "labelling_of", "mixed_label_bound",
    "mixed_label_step", "mixed_scale_step", "place", "refine", "side_information",
}  # fmt: skip
# Recipes behind an estimator or a function that a page calls.
BEHIND = {
    "anchored_mvu": "AnchoredMVU", "are": "ARE", "colored_mvu": "ColoredMVU",
    "copositive_cut": "CompletelyPositive", "cp_lift": "CompletelyPositive",
    "density_map": "DensityMap",
    "distance_completion": "DistanceCompletion", "ghodsi": "GhodsiMetric", "ism": "ISM",
    "isometric_nmf": "IsoNMF", "isometric_nmf_lift": "IsoNMF", "loocv": "LOOCVUnfolding",
    "mfnu": "MFNU", "mmmf_dual": "MMMF",
    "mixed_label_propagation": "MixedLabelPropagation",
    "mvee": "minimum_ellipsoid", "polynomial_factorization": "PolynomialFactorization",
    "separation_margin": "ISM", "sopca_dual": "SOPCA", "xing": "XingMetric",
    "mmmf": "MMMF", "sopca": "SOPCA",
    "nmf_lift": "factorize.nmf", "nmf_overlap": 'method="overlap"',
}  # fmt: skip


def parts(page: Path) -> tuple[str, str, list[str]]:
    """Title, words and lines of code of a page."""
    text = page.read_text(encoding="utf-8")
    head = ast.parse(text).body[0]
    _, title, _, *words = ast.get_docstring(ast.parse(text), clean=False).splitlines()
    lines = [line for line in text.splitlines()[head.end_lineno :] if line.strip()]
    return title, " ".join(words), [line for line in lines if not line.startswith("#")]


def every_method() -> list[str]:
    named = {*estimators.__all__, *methods.__all__, *ELSEWHERE} - HELPERS
    assert all(hasattr(baselines, name) or hasattr(extend, name) for name in ELSEWHERE)
    return sorted(named)


@pytest.mark.parametrize("method", every_method())
def test_every_method_has_a_page(method):
    """Not one where it is a rival alone: what a page is about is said after "In code:"."""
    word = BEHIND.get(method, method)
    called = re.compile(rf"(?<![\w]){re.escape(word)}(?!\w)")
    where = 1 if word.isidentifier() else 2
    for page in PAGES:
        said = parts(page)[where]
        if called.search(said.partition("In code:")[2] if where == 1 else "\n".join(said)):
            return
    pytest.fail(f"no page of the gallery is about {method}")


def test_nothing_is_excused_that_is_gone():
    known = {*estimators.__all__, *methods.__all__, *baselines.__all__}
    assert HELPERS | set(BEHIND) <= known
    assert HELPERS.isdisjoint(BEHIND)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short_and_names_its_method_and_its_baseline(page):
    title, words, code = parts(page)
    assert len(code) <= MOST_LINES
    assert title.strip()[-1] not in ".:"
    assert "baseline" in words
    assert {*every_method(), "nmf_bound"} & set(re.findall(r"\w+", title))


def named(text: str) -> list[str]:
    """Names of the package in backticks."""
    return re.findall(r"`sdpdr\.([\w.]+)`", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_leads_to_the_mathematics_and_to_the_reference(page):
    _, words, _ = parts(page)
    (method,) = re.findall(r"In words: :doc:`[^`]+ </methods/(\w+)>`", words)
    assert (METHODS / f"{method}.rst").is_file()
    names = named(words.partition("In code: ")[2])
    assert names
    assert all(attrgetter(name)(sdpdr) is not None for name in names)


@pytest.mark.parametrize(
    "method",
    [page for page in sorted(METHODS.glob("*.rst")) if page.stem != "index"],
    ids=lambda page: page.stem,
)
def test_a_method_leads_to_its_pages(method):
    (words,) = re.findall(r"^\.\. used-in::((?: .+\n)(?:   .+\n)*)", method.read_text(), re.M)
    told = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    used = set(named(told)) | set(re.findall(r"sdpdr\.([\w.]+)", told))
    imported = re.findall(r"from sdpdr\.(\w+) import (.+)", told)
    used |= {f"{room}.{name}" for room, names in imported for name in names.split(", ")}
    assert {name.removeprefix("sdpdr.") for name in words.split()} <= used
    own = [page for page in PAGES if f"/methods/{method.stem}>" in page.read_text(encoding="utf-8")]
    assert own
    assert all(any(f"`{name}`" in page.read_text() for name in words.split()) for page in own)


@pytest.mark.nightly
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("error::sdpdr.errors.SdpdrWarning")
def test_a_page_runs_and_draws_what_has_words(page, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    figures = importlib.import_module("figures")
    matplotlib.use("Agg")
    names = runpy.run_path(str(page))
    drawn = [value for value in names.values() if isinstance(value, Figure)]
    pyplot.close("all")
    assert drawn
    assert all(figures.described(figure, page.name) for figure in drawn)
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", ["backlinks", "drawn", "listtable", "names", "usage"])
def test_examples_of_the_extensions_are_right(monkeypatch, name):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    failures, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failures


def test_the_script_that_searches_problems_knows_the_columns_of_their_tables(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    head = importlib.import_module("problems").Index.head
    script = (GALLERY.parent / "_static" / "problems.js").read_text(encoding="utf-8")
    columns = re.search(r"const columns = \[(.+)\];", script)[1]
    assert re.findall(r'"(\w+)"', columns) == [word.lower() for word in head]
    page = (GALLERY.parent / "problems" / "index.rst").read_text(encoding="utf-8")
    assert 'section#all-problems"' in script
    assert "\nAll problems\n============\n" in page
