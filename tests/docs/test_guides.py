"""Tables of words run on both sides; the page of documents names what there is."""

from __future__ import annotations

import importlib
import re
import warnings
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from sklearn import covariance, decomposition, discriminant_analysis, manifold, neighbors
from sklearn.semi_supervised import LabelPropagation

import sdpdr
from sdpdr import matrix, maximize, psd, scalar, symmetric
from sdpdr.lab.library.vocabulary import METHODS
from sdpdr.model import language

pytestmark = pytest.mark.integration

DOCS = Path(__file__).parents[2] / "docs"
ROWS = re.compile(r"   \* - ``(.+?)``.*\n     - ``(.+)``\n")
X, T = sdpdr.datasets.swiss_roll(60, seed=0)
POINTS = {"np": np, "sdpdr": sdpdr, "X": X, "Y": (T > 9).astype(int)}
POINTS |= {"V": sdpdr.datasets.random_nonnegative(6, 5, rank=2)[0]}
THEIRS = {
    name: getattr(room, name)
    for room in (covariance, decomposition, discriminant_analysis, manifold, neighbors)
    for name in room.__all__
} | {"LabelPropagation": LabelPropagation}


def rows(page: str) -> list[tuple[str, str]]:
    return ROWS.findall((DOCS / "guide" / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("theirs", "ours"), rows("scikit_learn.rst"))
def test_the_words_of_scikit_learn_and_ours_answer_alike(theirs, ours):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = (np.asarray(eval(words, THEIRS | POINTS)) for words in (theirs, ours))
    assert len(expected) == len(found) or "sparse" in ours
    assert np.isfinite(found).all()


def test_every_method_of_scikit_learn_has_a_reason_to_keep_it():
    page = (DOCS / "guide" / "scikit_learn.rst").read_text(encoding="utf-8")
    for theirs, ours in rows("scikit_learn.rst"):
        difference = page.partition(f"``{ours}``\n     - ")[2].partition("\n")[0]
        assert re.search(r"\. Keep .+ (if|for|to) .+\.$", difference), theirs


DRTOOLBOX = ("compute_mapping", "out_of_sample", "intrinsic_dim")


@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
@pytest.mark.parametrize(
    "ours", [ours for theirs, ours in rows("from_matlab.rst") if theirs.startswith(DRTOOLBOX)]
)
def test_our_words_for_drtoolbox_run(ours):
    found = np.asarray(eval(ours, POINTS | {"X_new": X[:3]}))
    assert np.isfinite(found).all()
    assert found.ndim == 0 or len(found) in (3, len(X))


@pytest.fixture(scope="module")
def words():
    """Variables, and a solved model, as the page about YALMIP and CVX has them."""
    X5 = psd("X", 5)
    model = maximize(X5.sum()) + (X5.trace() == 1.0).named("unit")
    model += [X5[i, (i + 1) % 5] == 0.0 for i in range(5)]
    own = {"X": X5, "x": scalar("x", 3), "A": np.eye(2), "b": np.ones((5, 1)), "model": model}
    own |= {"F": [X5[0, 1] == 0.0, X5.diagonal() <= 1.0], "S": symmetric("S", 3)}
    own |= {"P": np.eye(3), "t": scalar("t")}
    named = {"psd": psd, "symmetric": symmetric, "matrix": matrix, "scalar": scalar}
    named |= {"maximize": maximize, "sdpdr": sdpdr, "np": np, "solution": model.solve()}
    return vars(language) | vars(sdpdr) | named | own


@pytest.mark.parametrize(
    "ours", [ours for theirs, ours in rows("from_matlab.rst") if not theirs.startswith(DRTOOLBOX)]
)
def test_our_words_for_yalmip_and_cvx_run(ours, words):
    found = eval(ours, words)
    assert found is not None
    if ours.partition("(")[0].endswith("solve"):
        assert found.certified(1e-6)


def test_a_dualized_program_has_the_value_of_the_other(words):
    (ours,) = (ours for theirs, ours in rows("from_matlab.rst") if "dualize(F" in theirs)
    other = sdpdr.solve(eval(ours, words))
    # The dual of a greatest sum is a least one, said as the greatest of its negative or not.
    assert abs(other.value) == pytest.approx(np.sqrt(5.0), rel=1e-6)


def test_the_tables_are_read():
    assert len(rows("scikit_learn.rst")) > 10
    assert len(rows("from_matlab.rst")) > 60


def documents() -> str:
    return (DOCS / "guide" / "documents.rst").read_text(encoding="utf-8")


def test_the_page_of_documents_names_what_there_is():
    for name in re.findall(r"`~sdpdr\.([\w.]+)`", documents()):
        assert attrgetter(name)(sdpdr) is not None
    for page in re.findall(r"<../methods/(\w+)>", documents()):
        assert (DOCS / "methods" / f"{page}.rst").is_file(), page
    for page in re.findall(r"<../gallery_output/(\S+)>", documents()):
        assert (DOCS / "gallery" / f"{page}.py").is_file(), page


def test_every_system_of_the_documents_has_a_lesson_or_a_dash_and_every_lesson_is_named():
    page = documents()
    rows = re.findall(r"^   \* - (.+)\n((?:     - .+\n)+)", page, re.M)
    systems = [cells.splitlines() for title, cells in rows if title != "equations"]
    assert len(systems) > 50
    for cells in systems:
        assert len(cells) == 6, cells
        assert re.fullmatch(r"     - (–|:doc:`\d+ <../course_output/\w+>`(, )?)+", cells[4]), cells
    lessons = {path.stem for path in (DOCS / "course").glob("lesson_*.py")}
    named = re.findall(r":doc:`(\d+) <../course_output/(lesson_(\d+)_\w+)>`", page)
    assert {stem for _, stem, _ in named} == lessons
    assert all(int(number) == int(told) for told, _, number in named)


def test_every_system_names_a_recipe_or_says_why_there_is_none():
    rows = re.findall(r"^   \* - (.+)\n((?:     - .+\n)+)", documents(), re.M)
    assert len(rows) > 50
    for title, cells in rows:
        what, recipe, estimator, picture, _, _ = cells.splitlines()
        if title != "equations":
            names = re.fullmatch(r"     - `~sdpdr\.[\w.]+`(, `~sdpdr\.[\w.]+`)*", recipe)
            assert names or (recipe.startswith("     - none: ") and "`~" in estimator), title
            linked = re.fullmatch(r"     - (–|(:doc:`\w+ <../gallery_output/\S+>`(, )?)+)", picture)
            assert linked, title
            assert ":doc:`" in what or "`~sdpdr.graphs." in recipe, title


def test_the_page_of_documents_leaves_out_no_method_and_no_picture():
    parts = {"contrast", "fantope", "mixed_label_bound", "mixed_label_step", "sopca_dual"}
    assert {name for name in METHODS if f"methods.{name}`" not in documents()} <= parts
    pictures = {f"{p.parent.name}/{p.stem}" for p in (DOCS / "gallery").glob("*/plot_*.py")}
    assert len(pictures) > 30
    assert {name for name in pictures if f"/{name}>" not in documents()} == set()
    pages = {p.stem for p in (DOCS / "methods").glob("*.rst")} - {"index"}
    assert {name for name in pages if f"/{name}>" not in documents()} == set()


@pytest.mark.nightly
def test_every_system_of_the_documents_works(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(DOCS.parent / "benchmarks"))
    failed = importlib.import_module("documents").main([])
    assert not failed, [x for x in capsys.readouterr().out.splitlines() if "FAILS" in x]
