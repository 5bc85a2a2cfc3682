"""The page of a study says what the rows say, whatever the rows are, and obeys nobody else."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import docutils.core
import numpy as np
import pytest

from sdpdr.errors import FileFormatError
from sdpdr.lab.study.measures import growth, means, regret_of, runs_by_median
from sdpdr.lab.study.page import (
    Chart,
    Page,
    Section,
    comparison_page,
    render,
    study_page,
    to_html,
    to_markdown,
    to_rst,
    write_report,
)
from sdpdr.lab.study.page.outcomes import KINDS, SOLVED, kind_of
from sdpdr.lab.study.schema import OUTCOMES

from .frames import contest, frame
from .pages import (
    CONTESTANTS,
    ENVIRONMENTS,
    HOSTILE,
    META,
    Reader,
    column,
    results,
    table_of,
    unsolved,
)

pytest.importorskip("plotly", reason="the extra 'study' is not installed")


@pytest.fixture(scope="module")
def read():
    return results()


@pytest.fixture(scope="module")
def page(read):
    return study_page(read.frame, read.meta, read.environments)


@pytest.fixture(scope="module")
def html(page):
    return to_html(page)


# -- what it says -----------------------------------------------------------------------------


def test_every_question_has_its_section(page):
    names = [section.name for section in page.sections]
    assert names == [
        "ranking", "profile", "phases", "claims", "failures", "growth", "forms", "structures",
        "auto", "accuracy", "runs", "asked", "machine", "limitations",
    ]  # fmt: skip
    assert all(chart.words for section in page.sections for chart in section.charts)


def test_the_verdict_names_the_best_the_fastest_auto_and_the_liar(page, read):
    runs = runs_by_median(read.frame)
    first = means(runs).iloc[0]
    text = " ".join(page.verdict)
    assert page.verdict[0].startswith("scs gram and clarabel gram solve the most each: 11 of 11")
    assert f"{first.solver} {first.form} is fastest ({first['mean']:.3g} s)" in text
    assert f"auto takes {regret_of(runs).mean:.2f} times" in text
    assert "misses 1 instance that another solves" in text
    assert "1 claim of success could not be verified by far: clarabel lmi (1)." in text


def test_the_ranking_is_that_of_the_measures(page, read):
    table = table_of(page, "ranking-table")
    by_name = {f"{m.solver} {m.form}": m for m in means(runs_by_median(read.frame)).itertuples()}
    by_name["auto"] = by_name.pop("auto auto")
    assert column(table, "solved") == [11, 11, 10, 10, 9]
    for who, ratio in zip(
        column(table, "contestant"), column(table, "times the best"), strict=True
    ):
        assert ratio == by_name[who].ratio
    overstated = dict(zip(column(table, "contestant"), column(table, "overstated"), strict=True))
    assert overstated["clarabel lmi"] == 1
    assert sum(overstated.values()) == 1


def test_who_is_not_installed_is_named_and_has_no_mean():
    runs = [{"problem": name, "seconds": 2.0} for name in "ab"]
    absent = [{"problem": name, "solver": "csdp", "outcome": "MISSING"} for name in "ab"]
    page = study_page(frame(*runs, *absent), META, results().environments)
    assert column(table_of(page, "ranking-table"), "contestant") == ["scs gram", "csdp gram"]
    assert np.isnan(column(table_of(page, "ranking-table"), "mean seconds")[1])
    ranking = next(section for section in page.sections if section.name == "ranking")
    assert "Not installed, or without a licence: csdp gram." in ranking.words
    assert "| csdp gram | 0 | 2 | – | – |" in to_markdown(page)


def test_failures_come_with_their_reasons(page, html):
    table = table_of(page, "reasons")
    assert sorted(column(table, "instance")) == ["card-1", "card-2", "card-3", "card-3"]
    assert column(table, "why").count(HOSTILE) == 2
    chart = _chart(page, "failures-figure")
    assert {name for name, _, _ in chart.keys} == {
        kind_of(outcome, solved).name
        for outcome, solved in (
            ("SOLVED", True), ("INACCURATE", False), ("CRASHED", False), ("TIME_LIMIT", False)
        )
    }  # fmt: skip


def test_exponents_are_those_of_the_measures(page, read):
    table = table_of(page, "growth-table")
    fitted = growth(runs_by_median(read.frame))
    np.testing.assert_allclose(sorted(column(table, "exponent")), sorted(fitted["exponent"]))


def test_every_run_has_its_row(page, read, html):
    assert len(table_of(page, "runs-table").rows) == len(read.frame)
    assert html.count('id="runs-table"') == 1


def test_what_was_asked_and_on_what_machine_is_told(html):
    text = Reader(html).text
    for fact in (META["question"], META["command"], "a <i>processor</i>", "numpy", META["text"]):
        assert " ".join(fact.split()) in text


def test_contestants_keep_their_order_and_colours_in_all_figures(page):
    colours: dict[str, set] = {}
    for name in ("profile-figure", "seconds-figure", "growth-figure-1", "accuracy-figure"):
        for trace in _chart(page, name).draw().data:
            colour = trace.line.color if trace.mode == "lines" else trace.marker.color
            colours.setdefault(trace.name, set()).add(colour)
    assert len(colours) == len(CONTESTANTS)
    assert all(len(found) == 1 for found in colours.values())
    assert len(set.union(*colours.values())) == len(CONTESTANTS)


def test_several_tolerances_have_figures_of_their_own():
    read = results(tolerances=(1e-4, 1e-6), repeats=1)
    page = study_page(read.frame, read.meta, read.environments)
    names = [chart.name for section in page.sections for chart in section.charts]
    assert len(names) == len(set(names))
    assert {"profile-figure", "profile-figure-2", "auto-figure-2"} <= set(names)
    assert set(column(table_of(page, "ranking-table"), "tol")) == {1e-4, 1e-6}
    # The first is the one of the same number of lines that is stricter, and ranked best first.
    assert column(table_of(page, "ranking-table"), "solved")[:5] == [11, 11, 10, 10, 9]


def _chart(page: Page, name: str) -> Chart:
    return next(c for section in page.sections for c in section.charts if c.name == name)


# -- frames of all kinds ----------------------------------------------------------------------


FRAMES = {
    "no rows": lambda: frame(),
    "one run": lambda: frame({"problem": "a"}),
    "one run that failed": lambda: frame({"outcome": "CRASHED", "solved": False, "words": HOSTILE}),
    "one contestant": lambda: contest({"scs gram": [1.0, 2.0]}),
    "auto alone": lambda: contest({"auto auto": [1.0, 2.0]}),
    "auto fails": lambda: contest({"scs gram": [1.0, 2.0], "auto auto": [np.inf, np.inf]}),
    "nothing solved": lambda: unsolved(results()),
    "nothing measured": lambda: frame(
        {"outcome": "MISSING", "solved": False, "honesty": "", "claimed": "", "gap": np.nan,
         "compile": np.nan, "solve": np.nan, "certify": np.nan, "total": np.nan,
         "time_limit": np.nan, "environment": ""}
    ),
    "unfinished": lambda: contest({"scs gram": [1.0, np.nan], "lowrank factor": [np.nan, 2.0]}),
    "twenty-five": lambda: contest({f"s{k} gram": [1.0 + k] for k in range(25)}),
    "long names": lambda: contest({"module.of.somebody:Solver gram": [1.0]}, ["x" * 300]),
    "all the same": lambda: contest({"scs gram": [1.0, 1.0], "clarabel lmi": [1.0, 1.0]}),
    "variants": lambda: contest({"scs gram": [1.0], "clarabel lmi": [2.0]}, variant="softened"),
    "every outcome": lambda: frame(
        *({"problem": end, "outcome": end, "solved": end == "SOLVED"} for end in OUTCOMES)
    ),
    "many instances": lambda: contest(
        {"scs gram": [1.0] * 70 + [np.inf], "clarabel lmi": [2.0] * 71}
    ),
    "two sizes": lambda: contest({"scs gram": [1.0, 2.0]}, ["a@1", "a@2"], family="a"),
}  # fmt: skip


# What they show is also shown of others.
ALIKE = (
    "one run", "one run that failed", "one contestant", "auto alone", "nothing solved",
    "unfinished", "all the same", "variants", "many instances", "two sizes",
)  # fmt: skip
ANY_FRAME = [
    pytest.param(name, marks=[pytest.mark.nightly] if name in ALIKE else []) for name in FRAMES
]


@pytest.fixture
def _without_plotly(monkeypatch):
    """Its five megabytes are the same in all pages."""
    monkeypatch.setattr(render, "_plotly", lambda: "plotly")


@pytest.mark.usefixtures("_without_plotly")
@pytest.mark.parametrize("name", ANY_FRAME)
def test_any_frame_has_a_page(name):
    found = FRAMES[name]()
    page = study_page(found, {"name": name}, {})
    reader = Reader(to_html(page))
    assert len(reader.ids) == len(set(reader.ids))
    assert page.verdict[-1]
    assert to_markdown(page).startswith("# ")


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["no rows", "long names", "every outcome", "nothing solved"])
def test_odd_frames_have_a_page_on_paper(name, tmp_path, recwarn):
    to_rst(study_page(FRAMES[name](), {"name": name}, {}), tmp_path, "page")
    _parse(tmp_path / "page.rst")
    assert not list(recwarn)


@pytest.mark.usefixtures("_without_plotly")
@pytest.mark.parametrize(
    "name",
    [
        "nothing measured", "every outcome",
        *(pytest.param(name, marks=pytest.mark.nightly)
          for name in FRAMES if name not in ("no rows", "nothing measured", "every outcome")),
    ],
)  # fmt: skip
def test_any_two_frames_compare(name):
    read = replace(results(repeats=1), frame=FRAMES[name]())
    for pair in ((read, read), (read, results(repeats=1))):
        page = comparison_page(*pair)
        assert {section.name for section in page.sections} <= set(Reader(to_html(page)).ids)


def test_a_large_map_leaves_out_what_everybody_solved():
    page = study_page(FRAMES["many instances"](), {}, {})
    section = next(section for section in page.sections if section.name == "failures")
    assert section.words == ["Not drawn: 70 instances that every contestant solved."]
    assert len(section.charts[0].draw().data[0].z) == 1


def test_without_families_nothing_is_said_of_growth():
    page = study_page(FRAMES["one contestant"](), {}, {})
    names = [section.name for section in page.sections]
    assert not {"growth", "forms", "auto"} & set(names)


def test_an_answer_that_nobody_expected_is_not_shown_as_good():
    assert kind_of("INFEASIBLE", True) is SOLVED
    assert kind_of("INFEASIBLE", False).tone == "bad"
    for outcome in OUTCOMES:
        assert kind_of(outcome, False) in KINDS
        assert kind_of(outcome, False) is not SOLVED


def test_answers_that_contradict_one_another_are_shown():
    twice = contest({"scs gram": [1.0], "clarabel gram": [1.0]})
    twice.loc[1, ["value", "bound"]] = 2.0
    table = table_of(study_page(twice, {}, {}), "doubts")
    assert column(table, "contestant") == ["clarabel gram"]


# -- one file that needs nothing and obeys nobody ---------------------------------------------


def test_the_page_is_well_formed_and_links_within_itself(html):
    reader = Reader(html)
    assert len(reader.ids) == len(set(reader.ids))
    assert {address[1:] for address in reader.addresses} <= set(reader.ids)
    assert all(address.startswith("#") for address in reader.addresses)


def test_nothing_is_loaded_and_plotly_is_there_once(html):
    reader = Reader(html)
    own = [script for kind, script in reader.scripts if not kind]
    assert len(own) == 2
    assert sum("plotly.js v" in script[:400] for script in own) == 1
    without_plotly = html.replace(own[0], "")
    # What is named is named in words, escaped: an address can be read, and leads nowhere.
    assert not re.search(r"""(src|href|url\()=?["']?\s*(https?:)?//""", without_plotly)
    assert "@import" not in without_plotly
    assert "default-src &#39;none&#39;" in html


def test_a_page_without_figures_carries_no_plotly():
    html = to_html(Page("T", "", [], [Section("a", "A", ["words"])]))
    assert len(html) < 50_000


def test_the_policy_names_the_digests_of_the_scripts(html):
    import base64
    import hashlib

    allowed = re.search(r"script-src ([^;]*);", html.replace("&#39;", "'"))[1].split()
    scripts = [script for kind, script in Reader(html).scripts if not kind]
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert allowed == [f"'sha256-{digest}'" for digest in digests]


def test_hostile_words_stay_words(html, page):
    reader = Reader(html)
    assert not reader.handlers
    assert "<script>window.stolen" not in html
    assert "</script><script>" not in html
    assert "<img" not in html
    assert " ".join(HOSTILE.split()) in reader.text
    assert "<title>Quick &lt;b&gt;study&lt;/b&gt;</title>" in html


def test_hostile_words_stay_words_in_figures(html):
    data = [json.loads(script) for kind, script in Reader(html).scripts if kind]
    texts = [text for figure in data for text in _texts(figure)]
    hostile = [text for text in texts if "stolen" in text]
    assert hostile
    for text in texts:
        assert set(re.findall(r"<[^>]*>", text)) <= {"<b>", "</b>", "<br>", "<extra>", "</extra>"}
    assert all("&lt;script&gt;" in text for text in hostile)


def _texts(part):
    if isinstance(part, dict):
        part = list(part.values())
    if isinstance(part, list):
        return [text for entry in part for text in _texts(entry)]
    return [part] if isinstance(part, str) else []


def test_hostile_words_stay_words_in_markdown(page):
    text = to_markdown(page)
    body, _, code = text.partition("**The study**")
    assert "<script" not in body
    assert "<img" not in body
    assert r"\|pipe\|" in body
    assert "```" in code


@pytest.mark.parametrize("text", ["```\nbreak out\n```", "````"])
def test_a_fence_is_longer_than_any_inside(text):
    page = Page("T", "", [], [Section("a", "A", code={"File": text})])
    fences = re.findall(r"^`+$", to_markdown(page), re.MULTILINE)
    assert fences[0] == fences[-1]
    assert len(fences[0]) > max(len(run) for run in re.findall("`+", text))


# -- Markdown and reStructuredText ------------------------------------------------------------


def test_markdown_has_the_same_tables(page):
    text = to_markdown(page)
    assert text.startswith("# Quick &lt;b&gt;study&lt;/b&gt;\n")
    assert f"**{page.verdict[0]}**" in text
    for section in page.sections:
        if section.tables or section.facts or section.points:
            assert f"## {section.title}" in text
    ranking = table_of(page, "ranking-table")
    for row in ranking.rows:
        cells = (c.show(v) for c, v in zip(ranking.columns, row, strict=True))
        assert f"| {' | '.join(cells)} |" in text
    assert re.search(r"\*\d+ more rows are in the HTML page\.\*", text)
    widths = [line.replace(r"\|", "").count("|") for line in text.splitlines() if line[:1] == "|"]
    assert min(widths) >= 3


def test_rst_is_valid_and_its_figures_are_there(page, tmp_path):
    to_rst(page, tmp_path, "quick")
    tree = _parse(tmp_path / "quick.rst")
    from docutils import nodes

    drawn = {image["uri"] for image in tree.findall(nodes.image)}
    assert {"quick-profile-figure.svg", "quick-growth-figure-1.svg"} <= drawn
    assert drawn == {path.name for path in tmp_path.glob("*.svg")}
    titles = [title.astext() for title in tree.findall(nodes.title)]
    assert "All runs" not in titles
    assert "Ranking" in titles
    assert not list(tree.findall(nodes.raw))


@pytest.mark.nightly
def test_the_same_results_make_the_same_documents(page, read, tmp_path):
    again = study_page(read.frame, read.meta, read.environments)
    assert to_html(again) == to_html(page)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        to_rst(page, tmp_path / name, "quick")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def _parse(path):
    return docutils.core.publish_doctree(
        path.read_text(encoding="utf-8"),
        settings_overrides={"halt_level": 2, "report_level": 2, "raw_enabled": False},
    )


# -- files ------------------------------------------------------------------------------------


def test_the_suffix_chooses_the_format(tmp_path):
    rows = frame()
    for name, start in (("a.html", "<!doctype html>"), ("a.md", "# Quick")):
        write_report(rows, META, ENVIRONMENTS, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    with pytest.raises(FileFormatError, match=r"\.html, \.htm, \.md"):
        write_report(rows, META, ENVIRONMENTS, tmp_path / "a.pdf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md"]


def test_settings_have_their_units():
    settings = {"time_limit": 3, "memory_limit": 10**9, "warmup": True, "tols": [1e-6]}
    page = study_page(frame({}), {"settings": settings, "started": "2026-01-01T10:00:00+00:00"}, {})
    facts = next(section.facts for section in page.sections if section.name == "asked")
    assert facts == {
        "begun": "2026-01-01 10:00:00 UTC", "time limit": "3 s", "memory limit": "1 GB",
        "warmup": "yes", "tolerances": "1e-06",
    }  # fmt: skip
