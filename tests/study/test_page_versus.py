"""The page that compares two results says what changed, the verdict first."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sdpdr.lab.study.page import comparison_page, write_comparison

from .pages import ENVIRONMENTS, Reader, column, results, table_of

pytest.importorskip("plotly", reason="the extra 'study' is not installed")


@pytest.fixture(scope="module")
def read():
    return results()


def test_the_verdict_comes_first_and_is_returned(read, tmp_path):
    verdict = write_comparison(read, results(factor=1.5, seed=1), tmp_path / "c.html")
    assert verdict.startswith("Regression.")
    assert "noise of a single run" in verdict
    reader = Reader((tmp_path / "c.html").read_text(encoding="utf-8"))
    assert " ".join(verdict.split()) in reader.text


def test_the_same_again_is_no_difference(read):
    page = comparison_page(read, results(factor=1.02, seed=1))
    assert page.verdict[0] == "No difference beyond noise."
    assert page.tone == ""
    assert "The environments are the same." in str([section.words for section in page.sections])


def test_an_improvement_is_one(read):
    page = comparison_page(read, results(factor=0.5, seed=1))
    assert (page.verdict[0], page.tone) == ("Improvement.", "good")
    table = table_of(page, "contestants-table")
    assert set(column(table, "verdict")) == {"faster"}
    assert any(re.match(r"Faster: .*\(2\.\d\d times as fast\)", s) for s in page.verdict)


def test_excuses_are_told_apart(read):
    after = results(seed=1)
    gone = after.frame["solver"] == "lowrank"
    after.frame.loc[gone, ["solved", "outcome", "honesty"]] = [False, "MISSING", ""]
    page = comparison_page(read, after)
    assert page.verdict[0] == "No difference beyond noise."
    assert any(s.startswith("Newly failed, with an excuse: ") for s in page.verdict)


def test_differences_of_the_machines_are_marked(read):
    other = replace(read, environments={"e1": {**ENVIRONMENTS["e0"], "processors": 64}})
    table = table_of(comparison_page(read, other), "environments-table")
    marked = dict(zip(column(table, "what"), column(table, "difference"), strict=True))
    assert marked.pop("processors") == "differs"
    assert not any(marked.values())


def test_changes_of_outcome_and_of_value_are_told(read):
    after = results(seed=1)
    gone = (after.frame["problem"] == "card-0") & (after.frame["solver"] == "scs")
    after.frame.loc[gone, ["solved", "outcome", "honesty"]] = [False, "CRASHED", ""]
    moved = (after.frame["problem"] == "card-4") & (after.frame["solver"] == "scs")
    after.frame.loc[moved, ["value", "bound"]] = 3.0
    kept = after.frame[after.frame["problem"] != "card-5"]
    page = comparison_page(read, replace(after, frame=kept))
    assert page.verdict[0] == "Regression."
    assert "Newly failed: card-0 by scs gram." in page.verdict
    assert "Another value than before: card-4." in page.verdict
    assert column(table_of(page, "changes-table"), "instance") == ["card-0"]
    assert column(table_of(page, "values-table"), "value after") == [3.0]
    assert set(column(table_of(page, "unmatched-table"), "only in")) == {"before"}
