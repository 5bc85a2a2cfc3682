"""Failures, claims, and answers that contradict each other."""

from __future__ import annotations

import pandas as pd
import pytest

from sdpdr.lab.study.measures import (
    claims,
    contradictions,
    disagreements,
    failure_map,
    outcome_counts,
    runs_by_median,
)
from sdpdr.lab.study.schema import OUTCOMES

from .frames import contest, frame

inf, nan = float("inf"), float("nan")


def test_the_map_is_grouped_by_method_and_ordered_by_size():
    rows = frame(
        {"problem": "b", "method": "mvu", "n": 9},
        {"problem": "c", "method": "isomap", "n": 50, "outcome": "CRASHED"},
        {"problem": "a", "method": "mvu", "n": 100, "outcome": "TIME_LIMIT"},
        {"problem": "a", "method": "mvu", "n": pd.NA, "solver": "q", "outcome": "REFUSED"},
    )
    table = failure_map(runs_by_median(rows))
    assert table.index.to_list() == [("isomap", "c", ""), ("mvu", "b", ""), ("mvu", "a", "")]
    assert table[("scs", "gram")].to_list() == ["CRASHED", "SOLVED", "TIME_LIMIT"]
    assert table[("q", "gram")].to_list() == ["", "", "REFUSED"]


def test_every_instance_and_contestant_is_in_the_map_once():
    runs = runs_by_median(contest({"p a": [1.0, inf, 2.0], "q b": [nan, 1.0, inf]}))
    table = failure_map(runs)
    assert (table != "").sum().sum() == len(runs) == 5


def test_outcomes_are_counted_in_the_order_of_the_schema():
    rows = frame(*({"problem": f"p{i}", "outcome": o} for i, o in enumerate(OUTCOMES[::-1])))
    counts = outcome_counts(runs_by_median(rows))
    assert list(counts.columns) == ["solved", *OUTCOMES]
    assert counts.iloc[0].to_list() == [1] * (1 + len(OUTCOMES))


def test_counts_of_outcomes_add_up():
    runs = runs_by_median(contest({"p a": [1.0, inf, 2.0], "q b": [nan, 1.0, inf]}))
    counts = outcome_counts(runs)
    assert counts.drop(columns="solved").sum(axis=1).to_list() == [3, 2]
    assert counts["solved"].to_list() == [2, 1]
    assert counts.index.to_list() == [(1e-6, "p", "a"), (1e-6, "q", "b")]


def test_claims_by_hand():
    words = ["true", "true", "near", "overstated", "understated", "silent", ""]
    rows = frame(
        *({"problem": f"p{i}", "honesty": word, "solved": word == "true"}
          for i, word in enumerate(words))
    )  # fmt: skip
    assert claims(runs_by_median(rows)).iloc[0].to_dict() == {
        "solved": 2, "true": 2, "near": 1, "overstated": 1, "understated": 1, "silent": 1,
        "none": 1,
    }  # fmt: skip


# -- answers that contradict each other ---------------------------------------------------------


def of_two(value, **more):
    return frame(
        {"solver": "p", "value": 1.0, "bound": 1.0}, {"solver": "q", "value": value} | more
    )


@pytest.mark.parametrize(
    ("value", "tol", "found"),
    [(1.0, 1e-6, 0), (1 + 9e-6, 1e-6, 0), (1 + 11e-6, 1e-6, 1), (1 + 11e-6, 1e-5, 0),
     (-1.0, 1e-6, 1)],
)  # fmt: skip
def test_values_may_differ_by_some_tolerances(value, tol, found):
    assert len(disagreements(of_two(value, tol=tol, bound=value))) == found


def test_the_certified_row_is_the_judge_whatever_the_order():
    rows = of_two(2.0, certified=False, bound=nan, gap=nan, tol=1e-8)
    for shown in (rows, rows.iloc[::-1]):
        line = disagreements(shown).iloc[0]
        assert (line["solver"], line["judge_solver"], line["apart"]) == ("q", "p", 0.5)


def test_unsolved_rows_contradict_nobody():
    assert disagreements(of_two(2.0, solved=False)).empty
    assert disagreements(of_two(2.0, problem="other")).empty
    assert disagreements(of_two(2.0, variant="other")).empty


def test_two_verified_outcomes_contradict_each_other():
    line = disagreements(of_two(nan, outcome="INFEASIBLE", solved=True)).iloc[0]
    assert (line["outcome"], line["judge_outcome"]) == ("INFEASIBLE", "SOLVED")
    both = {"outcome": "INFEASIBLE", "value": nan, "solved": True, "bound": nan, "gap": nan}
    assert disagreements(frame(both, both | {"solver": "q"})).empty


def test_values_near_zero_are_told_apart_by_the_size_of_the_objective():
    # gap = |bound - value| / max(|value|, size), with a size of 1 here.
    zero = {"value": 1e-9, "bound": 2e-9, "gap": 1e-9}
    rows = frame(zero | {"solver": "p"}, zero | {"solver": "q", "value": -5e-7, "bound": -6e-7,
                                                  "gap": 1e-7})  # fmt: skip
    assert disagreements(rows).empty
    assert len(disagreements(rows, factor=0.1)) == 1


def test_every_repeat_is_judged():
    rows = frame({"repeat": 0}, {"repeat": 1, "value": 3.0, "bound": 3.0, "worst": 1e-7})
    assert disagreements(rows)["repeat"].to_list() == [1]


def test_a_verified_answer_that_is_not_the_expected_one_is_a_contradiction():
    rows = frame(
        {"problem": "a", "solved": False, "value": 2.0, "reference": 1.0, "off": 1.0},
        {"problem": "b"},
        {"problem": "c", "outcome": "TIME_LIMIT"},
        {"problem": "d", "outcome": "INFEASIBLE", "solved": True},
        {"problem": "e", "outcome": "INFEASIBLE", "solved": False, "reference": 1.0},
    )
    found = contradictions(rows)
    assert found["problem"].to_list() == ["a", "e"]
    assert found.loc[0, ["value", "reference", "off"]].to_list() == [2.0, 1.0, 1.0]


def test_nothing_is_no_finding():
    nothing = runs_by_median(frame())
    assert disagreements(frame()).empty
    assert contradictions(frame()).empty
    assert failure_map(nothing).empty
    assert outcome_counts(nothing).empty
    assert claims(nothing).empty
