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
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

import sdpdr
from sdpdr import baselines, estimators, extend, methods

pytestmark = pytest.mark.integration

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
METHODS = GALLERY.parent / "methods"
EXTENSIONS = GALLERY.parent / "_ext"
PAGES = sorted(GALLERY.glob("*/plot_*.py"))
MOST_LINES = 25
# Estimators of other namespaces.
ELSEWHERE = {"NCMVU", "SPE", "Sammon", "GPLVM", "KernelEigenmaps", "RelevanceFeedback"}
# Not methods: bases, steps and bounds within one, and what reads an answer.
HELPERS = {
    "GramEmbedding", "GraphProjection", "LengthEmbedding", "insert",
    "Side", "Signs", "contrast", "cut_of", "ellipsoid_of", "isometric", "kernel_sums",
    "labelling_of", "mixed_label_bound", "mixed_label_step", "mixed_scale_step", "observed_signs",
    "place", "polynomial_lift", "refine", "side_information",
}  # fmt: skip
# Recipes behind an estimator or a function that a page calls.
BEHIND = {
    "anchored_mvu": "AnchoredMVU", "are": "ARE", "colored_mvu": "ColoredMVU",
    "copositive_cut": "CompletelyPositive", "cp_lift": "CompletelyPositive",
    "density_map": "DensityMap",
    "distance_completion": "DistanceCompletion", "ghodsi": "GhodsiMetric", "ism": "ISM",
    "isometric_nmf": "IsoNMF", "isometric_nmf_lift": "IsoNMF", "loocv": "LOOCVUnfolding",
    "mfnu": "MFNU", "mirrored": "DistanceCompletion", "mmmf_dual": "MMMF",
    "mixed_label_propagation": "MixedLabelPropagation",
    "mvee": "minimum_ellipsoid", "polynomial_factorization": "PolynomialFactorization",
    "separation_margin": "ISM", "sopca_dual": "SOPCA", "xing": "XingMetric",
    "mmmf": "MMMF", "sopca": "SOPCA",
    "nmf_lift": "factorize.nmf", "NCMVU": "ncmvu", "nmf_overlap": 'method="overlap"',
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


@pytest.mark.parametrize("page", sorted(GALLERY.glob("plot_*.py")), ids=lambda page: page.stem)
def test_the_title_of_a_longer_example_names_its_method(page):
    title, _, _ = parts(page)
    assert set(every_method()) & set(re.findall(r"\w+", title))


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


def test_every_folder_of_pages_has_a_heading():
    for folder in {page.parent for page in PAGES}:
        assert (folder / "GALLERY_HEADER.rst").is_file()


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


def test_ink_becomes_chalk_and_colours_stay(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    figures = importlib.import_module("figures")

    figure = Figure()
    axes = figure.subplots()
    (ink,) = axes.plot([0, 1], color="#1f2430")
    (blue,) = axes.plot([1, 0], color="#3f90da")
    title = axes.set_title("words")
    figures.darken(figure)
    assert min(to_rgb(ink.get_color())) > 0.75
    assert to_rgb(blue.get_color()) == to_rgb("#3f90da")
    assert to_rgb(title.get_color()) == (1.0, 1.0, 1.0)


def test_words_for_a_picture_begin_with_its_title_and_leave_no_panel_out(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    figures = importlib.import_module("figures")

    figure = Figure()
    left, right, *rest = figure.subplots(1, 5)
    left.set_title("words")
    right.set(xlabel="seed", ylabel="error")
    for axes in rest:
        axes.imshow([[0.0]])
    assert figures.described(figure) == "words; error by seed; 3 images"
    figure.suptitle("faces and\ntheir parts")
    assert figures.described(figure) == "faces and their parts; words; error by seed; 3 images"
    left.set_title("")
    left.scatter([0.0], [0.0])
    left.plot([0.0, 1.0], [0.0, 1.0])
    figure.colorbar(rest[0].images[0], ax=rest, label="grey")
    told = "faces and their parts; points and lines; error by seed; 3 images; colours grey"
    assert figures.described(figure) == told


@pytest.mark.parametrize("labels", [{}, {"ylabel": "value"}])
def test_a_picture_that_says_nothing_of_itself_ends_the_build(monkeypatch, labels):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    figures = importlib.import_module("figures")
    errors = importlib.import_module("sphinx.errors")

    figure = Figure()
    for axes in figure.subplots(1, 2):
        drawn = axes.scatter([0.0], [0.0], c=[1.0])
        axes.set(**labels)
    figure.colorbar(drawn, ax=axes, label="dual weight")
    with pytest.raises(errors.ExtensionError, match=r"plot_x\.py: a figure says no more"):
        figures.described(figure, "plot_x.py")


def test_thumbnails_become_small_and_keep_their_looks(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    thumbnails = importlib.import_module("thumbnails")
    path = tmp_path / "gallery_output" / "images" / "thumb" / "one.png"
    path.parent.mkdir(parents=True)
    grey = np.linspace(0, 255, 400).astype(np.uint8)
    colours = np.stack(np.broadcast_arrays(grey[:, None], grey[None, :], 128, 255), axis=2)
    Image.fromarray(colours.astype(np.uint8)).save(path)
    before = path.stat().st_size
    thumbnails.shrink(tmp_path)
    small = path.read_bytes()
    assert len(small) < before
    with Image.open(path) as picture:
        assert np.abs(np.asarray(picture.convert("RGBA")).astype(int) - colours).mean() < 8
    thumbnails.shrink(tmp_path)
    assert path.read_bytes() == small


def test_a_thumbnail_has_a_twin_for_dark_pages_and_the_words_of_its_picture(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    thumbnails = importlib.import_module("thumbnails")
    thumb = tmp_path / "gallery_output" / "images" / "thumb" / "sphx_glr_plot_a_thumb.png"
    thumb.parent.mkdir(parents=True)
    Image.new("RGBA", (40, 28), "white").save(thumb)
    thumbnails.darken(tmp_path)
    assert [path.name for path in thumb.parent.iterdir()] == [thumb.name]
    dark = thumb.parents[1] / "sphx_glr_plot_a_001_dark.png"
    Image.new("RGBA", (400, 280), (0, 0, 0, 0)).save(dark)
    thumbnails.darken(tmp_path)
    with Image.open(thumb.with_name("sphx_glr_plot_a_thumb_dark.png")) as twin:
        assert twin.size == (40, 28)
        assert twin.convert("RGBA").getextrema()[3] == (0, 0)
    page = thumb.parents[2] / "plot_a.rst"
    page.write_text(".. image:: /one.png\n   :alt: truth; MVU\n\n.. image:: /b.png\n   :alt: b\n")
    assert thumbnails.words_of(thumb) == "truth; MVU"
    page.write_text("A page that draws nothing\n")
    errors = importlib.import_module("sphinx.errors")
    with pytest.raises(errors.ExtensionError, match=r"plot_a\.rst holds no picture"):
        thumbnails.words_of(thumb)


def test_figures_within_lists_tuples_and_mappings_are_shown_once(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    figures = importlib.import_module("figures")

    def named(word):
        figure = Figure(figsize=(1.0, 1.0))
        figure.suptitle(word)
        return figure

    one = named("one")
    known = {"one": one, "again": [one, 3], "more": {"a": (named("two"), "words"), "b": {}}}
    known["self"] = [known]
    block = {
        "example_globals": known, "src_file": "plot_x.py",
        "image_path_iterator": (str(tmp_path / f"{k}.png") for k in range(9)),
    }  # fmt: skip
    scraper, settings = figures.FigureScraper(), {"src_dir": str(tmp_path)}
    shown = scraper(block, block, settings)
    assert re.findall(r":alt: (.+)", shown) == ["one", "one", "two", "two"]
    assert scraper(block, block, settings) == ""


def test_no_page_chooses_another_picture_than_the_first_for_its_thumbnail():
    sources = [*GALLERY.rglob("*.py"), *(GALLERY.parent / "course").glob("*.py")]
    assert not [path.name for path in sources if "sphinx_gallery_thumbnail" in path.read_text()]


@pytest.mark.parametrize("name", ["backlinks", "listtable", "names", "usage"])
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
