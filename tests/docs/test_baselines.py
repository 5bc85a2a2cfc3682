"""The comparison of two baselines finds every class of change, and none where none is."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def compare(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("baselines_compare").compare


def row(**columns):
    return {
        "section": "cards", "name": "a", "status": "SOLVED", "certified": True, "sense": "max",
        "value": 2.0, "attained": 2.0, "bound": 2.0 + 1e-7, "tol": 1e-6, "seconds": 1.0,
        **columns,
    }  # fmt: skip


def without(*names, **columns):
    return row(**dict.fromkeys(names), **columns)


def kinds(changes):
    return [change.kind for change in changes]


def test_nothing_changed(compare):
    rows = [row(), row(name="b", status="DataError", value=None, attained=None, bound=None)]
    assert compare(rows, rows) == []


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        # Proofs that contradict each other.
        (row(), row(value=2.1, attained=2.1, bound=2.1 + 1e-7), "wrong"),
        (row(), row(bound=1.9, attained=None, status="INACCURATE"), "wrong"),
        (row(sense="min", bound=1.9), row(sense="min", attained=1.8, bound=None), "wrong"),
        (row(), without("value", "attained", "bound", status="INFEASIBLE"), "wrong"),
        (without("value", "attained", "bound", status="INFEASIBLE"), row(), "wrong"),
        (row(), without("value", "attained", "bound", status="UNBOUNDED"), "wrong"),
        # Less is proved.
        (row(), row(status="OPTIMAL_NEARBY", certified=False, attained=None), "weaker"),
        (row(), row(certified=False), "weaker"),
        (row(), without("value", "attained", "bound", status="TypeError"), "weaker"),
        (without("value", "attained", "bound", status="DataError"), row(), "weaker"),
        (row(status="CERTIFIED"), row(status="BOTH SIDES"), "weaker"),
        (row(), row(section="cards", name="another"), "missing"),
        (row(), row(status="SKIPPED"), "missing"),
        # Nothing is lost.
        (
            row(status="INACCURATE", certified=False, attained=None, bound=3.0),
            row(status="INACCURATE", certified=False, attained=None, bound=3.0, value=2.5),
            "value",
        ),
        (row(digest={"y": [3.0, 1.0]}), row(digest={"y": [3.0, 1.1]}), "digest"),
        (row(digest={"y": "0 1"}), row(digest={}), "digest"),
        (row(), row(seconds=3.5), "slower"),
        (row(status="INACCURATE", certified=False, attained=None), row(), "stronger"),
        (row(status="SKIPPED"), row(), "new"),
    ],
)
def test_every_class_of_change_is_found(compare, before, after, kind):
    changes = compare([before], [after])
    assert kinds(changes)[0] == kind
    assert changes[0].fails == (kind in ("wrong", "weaker", "missing"))


def test_differences_that_are_none(compare):
    assert compare([row()], [row(value=2.0 + 5e-8, attained=2.0 + 5e-8)]) == []
    assert compare([row(seconds=0.1)], [row(seconds=0.9)]) == []
    assert compare([row(digest={"y": [3.0, 1.0]})], [row(digest={"y": [3.0, 1.0 + 1e-7]})]) == []
    # A small number beside large ones is rounding.
    assert compare([row(digest={"y": [3.0, 1e-15]})], [row(digest={"y": [3.0, -1e-12]})]) == []


def test_the_most_serious_comes_first(compare):
    before = [row(name=name) for name in "abc"]
    after = [
        row(name="a", seconds=9.0),
        row(name="b", certified=False),
        row(name="c", value=3.0, attained=3.0, bound=3.0),
        row(name="d"),
    ]
    assert kinds(compare(before, after)) == ["wrong", "weaker", "slower", "new"]


def test_what_a_limit_of_time_ended_is_compared_loosely(compare):
    (change,) = compare(
        [row(clock=True)], [row(status="TIME_LIMIT", certified=False, attained=None)]
    )
    assert change.kind == "weaker"
    assert not change.fails
    assert "limit of time" in str(change)
    (change,) = compare([row(clock=True)], [row(value=3.0, attained=3.0, bound=3.0)])
    assert change.fails


def test_a_section_that_was_not_recorded_is_not_missing(compare):
    assert compare([row(), row(section="textbook")], [row()]) == []


def test_losses_are_accepted_with_a_reason_but_never_contradictions(compare):
    accepted = {("cards", "a"): "the second solver went"}
    (change,) = compare([row()], [row(certified=False)], accepted)
    assert not change.fails
    assert "the second solver went" in str(change)
    (change,) = compare([row()], [row(value=3.0, attained=3.0, bound=3.0)], accepted)
    assert change.fails
