"""Baselines: every class of change is found, and recorded programs survive their format."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods, minimize, psd, scalar, square
from sdpdr.program import Point

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


@pytest.fixture
def corpus(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("proof_corpus")


def unfolding():
    return methods.mvu(graphs.path([1.0, 2.0, 0.1])).to_sdp()


def lyapunov():
    P, A = psd("P", 3), np.diag([-1.0, -2.0, -0.3]) + np.diag([0.1, 0.7], 1)
    return (minimize(P.trace()) + (A.T @ P + P @ A << -np.eye(3))).to_sdp()


def curved():
    x, K = scalar("x", 2), psd("K", 2)
    fits = square(x - np.array([0.3, 2.0])).sum() + K.trace()
    return (minimize(fits) + (K[0, 1] + x[0] == 0.1) + (x >= 0.2)).to_sdp()


def numbers(program):
    """All numbers of a program."""
    maps = [side[name].matrix().toarray() for side in program.expressions() for name in side]
    curvatures = [v.curvature for v in program.vector_variables if v.curvature is not None]
    rhs = [rows.rhs for rows in program.rows] + [lmi.constant for lmi in program.lmis]
    return [*maps, *curvatures, *rhs, np.array([program.constant, program.maximize])]


@pytest.mark.parametrize("make", [unfolding, lyapunov, curved])
def test_programs_and_points_survive_the_flat_format_to_the_last_digit(corpus, make):
    program = make()
    flat = json.loads(json.dumps(corpus.flat_program(program)))
    for again, fresh in zip(numbers(corpus.read_program(flat)), numbers(make()), strict=True):
        np.testing.assert_array_equal(again, fresh)
    # Writing must not change what it writes.
    for left, fresh in zip(numbers(program), numbers(make()), strict=True):
        np.testing.assert_array_equal(left, fresh)
    found = sdpdr.solve(program)
    point = corpus.flat_point(Point(found.values, found.duals))
    assert corpus.flat_point(corpus.read_point(json.loads(json.dumps(point)))) == point


def test_grades_of_proofs(corpus):
    assert corpus.grade({"value": 1.0, "bound": 1.0 + 1e-7}, 1e-6, 0.0) == "certified"
    assert corpus.grade({"value": 1.0, "bound": 1.1}, 1e-6, 0.0) == "both sides"
    assert corpus.grade({"value": 0.0, "bound": 1e-7}, 1e-6, 1.0) == "certified"
    assert corpus.grade({"value": None, "bound": 1.0}, 1e-6, 0.0) == "one side"
    assert corpus.grade({"value": None, "bound": None}, 1e-6, 0.0) == "nothing"
