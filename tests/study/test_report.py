"""The report of a study: it answers first, shows what it rests on, and text stays text."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sdpdr.errors import FileFormatError
from sdpdr.lab.study.outcomes import KINDS, kind_of
from sdpdr.lab.study.page import (
    Page,
    Section,
    escape_markdown,
    show,
    to_html,
    to_markdown,
    write_page,
)
from sdpdr.lab.study.report import study_page, write_report
from sdpdr.lab.study.results import LoadedResults, read_results
from sdpdr.lab.study.schema import OUTCOMES, frame_of

NASTY = "</td><script>alert('boo')</script>|`$(id)`* \x1b[31m"
STUDIES = Path(__file__).parents[2] / "docs" / "studies"
VOID = {"meta", "br", "link", "img", "input", "hr"}


def record(problem="a", solver="p", seconds=1.0, **more):
    return {"problem": problem, "solver": solver, "form": "lmi", "tol": 1e-6, "solve": seconds,
            "compile": 0.1, "build": 0.1, "certify": 0.1, "solved": True, "outcome": "SOLVED",
            "claim_accuracy": "true", "time_limit": 10.0, "method": "mvu", "n": 5, "value": 2.0,
            "gap": 1e-8, "worst": 1e-9, "peak_memory": 5_000_000, "environment": "e",
            } | more  # fmt: skip


def results(*records, **meta):
    known = {"name": "s", "title": "Study", "question": "Which?", "settings": {"time_limit": 10.0}}
    environments = {"e": {"machine": "M", "versions": {"numpy": "2.0"}}}
    return LoadedResults(frame_of(records), known | meta, environments)


MIXED = results(
    record("a", "p"), record("b", "p"),
    record("a", "q", 0.2),
    record("b", "q", 10.0, solved=False, outcome="TIME_LIMIT", message="late", claim_accuracy=""),
    record("a", "r", solved=False, outcome="INACCURATE", claim_accuracy="overstated"),
    record("b", "r", solved=False, outcome="MISSING", claim_accuracy=""),
    record("a", "z", None, solved=False, outcome="REFUSED", claim_accuracy=""),
    started="2026-01-01T10:00:00+00:00", text="[about]\ntitle = 'x'", command="sdpdr study run s",
)  # fmt: skip


class WellFormed(HTMLParser):
    """Elements are closed in the order in which they were opened, and no scripts are there."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.tags = [], [], set()
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()


def test_the_answer_comes_first():
    page = study_page(MIXED)
    assert page.verdict[0] == "p lmi solves the most: 2 of 2 instances, verified by us."
    assert "p lmi is fastest" in page.verdict[1]
    assert page.verdict[2].startswith("1 claim of success could not be verified: r lmi (1).")
    assert page.verdict[3] == (
        "Compared were 4 contestants (a solver in a form) on 2 instances: 7 runs."
    )
    assert page.sections[0].text == ["Left out, refused every problem: z lmi."]
    assert "z lmi" not in to_markdown(page).partition("## Outcomes")[0].partition("| contestant")[2]
    names = [section.name for section in page.sections]
    assert names == ["ranking", "profile", "outcomes", "claims", "runs", "settings", "machine",
                     "limitations"]  # fmt: skip


def test_a_page_is_one_whole_file_without_scripts():
    text = to_html(study_page(MIXED))
    page = WellFormed(text)
    assert len(set(page.ids)) == len(page.ids)
    assert "script" not in page.tags
    assert page.tags >= {"svg", "table", "figure"}
    assert not re.search(r"(src|href)=\"(?!#|data:)", text)
    assert "currentColor" in text
    assert "prefers-color-scheme: dark" in text
    assert "2026-01-01 10:00:00 UTC" in text


def test_markdown_has_the_same_tables_and_no_figures(tmp_path):
    text = to_markdown(study_page(MIXED))
    assert text.startswith("# Study\n")
    assert "| p lmi | 2 | 2 |" in text
    assert "![" not in text
    assert "Performance profile" not in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.endswith("|") for line in rows)
    drawn = to_markdown(study_page(MIXED), tmp_path)
    for name in re.findall(r"!\[.*\]\((.*)\)", drawn):
        assert (tmp_path.parent / name).read_text().startswith("<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outcomes-map.svg", "profile.svg"]


def test_output_of_solvers_is_escaped():
    nasty = results(
        record("a", NASTY, message=NASTY, claimed=NASTY),
        record("b", NASTY, solved=False, outcome="FAILED", message=NASTY),
        title=NASTY, question=NASTY, text=f"```\n{NASTY}\n```", command=NASTY,
    )  # fmt: skip
    page = study_page(nasty)
    assert "script" not in WellFormed(to_html(page)).tags
    text = to_markdown(page)
    assert "<script" not in text.replace(f"```\n{NASTY}", "")
    assert "````\n```" in text


def test_results_that_are_empty_or_of_one_run():
    empty, alone = map(study_page, (results(), results(record(solved=False, outcome="CRASHED"))))
    WellFormed(to_html(empty))
    assert to_markdown(alone).startswith("# Study\n")
    assert empty.verdict == ["There are no runs yet."]
    assert alone.verdict[0] == "No contestant solved anything."


def test_an_unfinished_study_says_what_is_missing_and_names_no_winner():
    frame, meta = MIXED.frame, dict(MIXED.meta) | {"runs": len(MIXED.frame) + 5}
    page = study_page(LoadedResults(frame, meta, MIXED.environments))
    assert page.verdict[0] == (
        "This study is unfinished: 5 of 12 runs are missing, so the contestants are not ranked "
        'yet. "sdpdr study run s" goes on where it stopped.'
    )
    text = to_markdown(page)
    assert "times the fastest" not in text
    assert "is fastest" not in text
    assert {section.name for section in page.sections}.isdisjoint({"ranking", "profile"})
    empty = study_page(results(runs=3, command="sdpdr study run s"))
    assert empty.verdict[0].startswith("This study is unfinished: 3 of 3 runs are missing")


def test_a_question_that_only_repeats_the_title_is_not_shown():
    assert study_page(results(record(), question="Study")).lead == ""


def test_growth_contradictions_tolerances_and_machines_have_their_places():
    loaded = results(
        *(record(f"f@{n}", seconds=0.1 * n, family="f", n=n, tol=tol, environment=f"e{tol}")
          for n in (10, 20, 40) for tol in (1e-3, 1e-6)),
        record("a", value=1.0, certified=True), record("a", "q", value=1.5),
    )  # fmt: skip
    loaded = LoadedResults(
        loaded.frame, loaded.meta, {"e0.001": {"os": "x"}, "e1e-06": {"os": "y"}}
    )
    page = study_page(loaded)
    sections = {section.name: section for section in page.sections}
    assert {"growth", "doubts"} <= set(sections)
    assert len(sections["growth"].pictures) == 2
    assert "tolerance" in sections["ranking"].tables[0].frame
    assert len(sections["machine"].tables) == 1
    names = [picture.name for section in page.sections for picture in section.pictures]
    assert len(set(names)) == len(names)


def test_every_outcome_has_a_kind():
    assert {kind_of(outcome, False) for outcome in OUTCOMES} <= set(KINDS)
    assert len({kind.sign for kind in KINDS}) == len({kind.colour for kind in KINDS}) == len(KINDS)


def test_suffixes_may_be_in_capitals(tmp_path):
    write_report(MIXED, tmp_path / "REPORT.MD")
    MIXED.export(tmp_path / "ROWS.CSV")
    assert {path.name for path in tmp_path.iterdir()} == {"REPORT.MD", "ROWS.CSV"}


@pytest.mark.parametrize("name", ["a.rst", "a"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(FileFormatError, match=r"a report called \*\.html or \*\.md"):
        write_page(Page("", "", [], []), tmp_path / name)


def test_markdown_is_escaped():
    for text in ("# title", "1. list", "a_b _c_", "x | y", "@person", "$x$"):
        page = Page(text, "", [text], [Section("s", "S", [text])])
        assert escape_markdown(text) in to_markdown(page)


@pytest.mark.parametrize(
    ("cell", "title", "text"),
    [(2.34e-8, "gap", "2.3e-08"), (None, "gap", "–"), (3, "n", "3"), (2.5, "solve", "2.50"),
     (4.0, "n", "4"), (1234.5678, "x", "1235"), (2.0, "times the fastest", "2.00"),
     (1, "out of memory", "1"), (2e9, "median memory", "2.0 GB")],
)  # fmt: skip
def test_numbers_are_shown_by_their_columns(cell, title, text):
    assert show(cell, title) == text


@pytest.mark.nightly
@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.parquet")), ids=lambda path: path.stem)
def test_recorded_studies_can_be_reported_on(path, tmp_path):
    pytest.importorskip("pyarrow")
    write_report(read_results(path), tmp_path / "report.html")
    page = WellFormed((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert {"ranking", "profile", "outcomes", "claims"} <= set(page.ids)
