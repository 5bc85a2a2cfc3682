"""Two results: noise is not called a difference, and a difference is not called noise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.lab.study.measures import holm, noise_of, versus
from sdpdr.lab.study.measures.regret import draws_of_mean

from .frames import contest, frame

inf, nan = float("inf"), float("nan")
SAME = "no difference beyond noise"
TRUE = np.geomspace(0.01, 10.0, 20)


def result(rng, noise, factor=1.0, contestants=("p a",), repeats=1, problems=20, **common):
    """A result whose times are known ones, a factor, and noise."""
    parts = [
        contest(
            {who: factor * TRUE[:problems] * np.exp(noise * rng.standard_normal(problems))
             for who in contestants},
            repeat=repeat, **common,
        )
        for repeat in range(repeats)
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


# -- statistics ---------------------------------------------------------------------------------


def test_holm_by_hand():
    assert holm([0.01, 0.02, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@settings(max_examples=50)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_holm_lies_between_each_p_and_bonferroni_and_keeps_their_order(p):
    adjusted, given_p = holm(p), np.array(p)
    assert (adjusted >= given_p).all()
    assert (adjusted <= np.minimum(1.0, len(p) * given_p) + 1e-15).all()
    assert (np.diff(adjusted[np.argsort(given_p)]) >= 0).all()


def test_the_noise_of_a_run_is_found_from_repeats():
    rows = result(np.random.default_rng(0), 0.2, repeats=5, contestants=("p a", "q b"))
    assert noise_of(rows) == pytest.approx(0.2, rel=0.1)
    assert np.isnan(noise_of(rows[rows["repeat"] == 0]))


def test_unsolved_repeats_do_not_tell_noise():
    rows = result(np.random.default_rng(0), 0.2, repeats=2)
    assert np.isnan(noise_of(rows.assign(solved=False)))


@pytest.mark.parametrize("count", [5, 20])
def test_draws_of_a_mean_give_the_interval_of_a_normal_sample_its_level(count):
    held = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        low, high = np.quantile(draws_of_mean(rng.normal(1.0, 2.0, count), rng), [0.025, 0.975])
        held.append(low <= 1.0 <= high)
    assert np.mean(held) >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / 100)


def test_draws_are_never_narrower_than_the_noise_that_is_known():
    draws = draws_of_mean([0.5] * 6, np.random.default_rng(0), least=0.1)
    assert draws.std() == pytest.approx(0.1, rel=0.05)
    assert draws.mean() == pytest.approx(0.5, abs=0.01)


# -- noise and differences ----------------------------------------------------------------------


def quiet_share(draws, repeats, **options):
    quiet = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        who = ("p a", "q b")
        before, after = (result(rng, 0.2, contestants=who, repeats=repeats) for _ in range(2))
        quiet.append(versus(before, after, **options).verdict == SAME)
    return np.mean(quiet)


@pytest.mark.parametrize(
    ("draws", "repeats"),
    [(3, 1), *(pytest.param(12, repeats, marks=pytest.mark.nightly) for repeats in (1, 3))],
)
def test_nothing_is_found_where_there_is_nothing(draws, repeats):
    assert quiet_share(draws, repeats) >= 0.95


@pytest.mark.nightly  # 400 comparisons of whole results
@pytest.mark.parametrize("least", [0.1, 1e-9])
def test_nothing_is_found_where_there_is_nothing_in_many_draws(least):
    assert quiet_share(200, 1, least=least) >= (0.95 if least == 0.1 else 0.91)


@pytest.mark.nightly
@pytest.mark.parametrize("repeats", [1, pytest.param(3, marks=pytest.mark.nightly)])
def test_without_a_band_each_test_keeps_its_level(repeats):
    """200 draws as contestants of one comparison; the band only makes fewer of them significant."""
    rng, who = np.random.default_rng(0), [f"s{i} a" for i in range(200)]
    before, after = (result(rng, 0.2, contestants=who, repeats=repeats) for _ in range(2))
    table = versus(before, after, least=1e-9).contestants
    share = np.mean(table["p"] <= 0.05)
    assert share <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)
    assert (table["adjusted"] > 0.05).mean() >= 0.99
    assert np.mean((table["low"] <= 1.0) & (table["high"] >= 1.0)) == pytest.approx(
        1 - share, abs=0.02
    )


def test_a_slowdown_is_found_and_its_size_told():
    """By half, under a noise of 20 percent, on 20 problems: in each of 25 draws, all corrected."""
    rng, who = np.random.default_rng(0), [f"s{i} a" for i in range(25)]
    before, after = (result(rng, 0.2, factor=f, contestants=who) for f in (1.0, 1.5))
    comparison = versus(before, after)
    table = comparison.contestants
    assert comparison.verdict == "regression"
    assert np.mean(table["p"] <= 0.05) == 1.0
    assert np.mean(table["verdict"] == "slower") >= 0.8
    held = np.mean((table["low"] <= 1.5) & (table["high"] >= 1.5))
    assert held >= 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 25)


def test_the_verdict_goes_by_the_corrected_test():
    rng, who = np.random.default_rng(0), [f"s{i} a" for i in range(25)]
    before, after = (result(rng, 0.2, factor=f, contestants=who) for f in (1.0, 1.3))
    table = versus(before, after).contestants
    slower = table["verdict"] == "slower"
    assert slower.equals(table["adjusted"] <= 0.05)
    assert slower.sum() < (table["p"] <= 0.05).sum()


@pytest.mark.parametrize(("repeats", "error"), [(1, 0.1 * np.sqrt(2 / 20)), (2, 0.3 / np.sqrt(20))])
def test_the_interval_is_no_narrower_than_the_noise_of_runs_makes_it(repeats, error):
    """All ratios are equal, by luck; two repeats are each 0.3 / sqrt(2) from their mean."""
    off = [0.0] if repeats == 1 else [0.3 / np.sqrt(2), -0.3 / np.sqrt(2)]
    before, after = (
        pd.concat([contest({"p a": f * TRUE * np.exp(d)}, repeat=i) for i, d in enumerate(off)])
        for f in (1.0, 1.3)
    )
    line = versus(before, after).contestants.iloc[0]
    assert line["ratio"] == pytest.approx(1.3)
    assert np.log(line["high"] / line["low"]) == pytest.approx(2 * 1.96 * error, rel=0.05)


def test_of_several_contestants_the_slower_one_is_named():
    rng = np.random.default_rng(3)
    before = result(rng, 0.1, contestants=("p a", "q b", "r c"))
    slow = result(rng, 0.1, contestants=("q b",), factor=1.5)
    fast = result(rng, 0.1, contestants=("r c",), factor=0.5)
    after = pd.concat([result(rng, 0.1, contestants=("p a",)), slow, fast], ignore_index=True)
    comparison = versus(before, after)
    verdicts = comparison.contestants.set_index("solver")["verdict"].to_dict()
    assert verdicts == {"p": SAME, "q": "slower", "r": "faster"}
    assert comparison.verdict == "regression"
    assert [reason.split(":")[0] for reason in comparison.reasons] == [
        "q b at 1e-06", "r c at 1e-06",
    ]  # fmt: skip


def test_a_change_that_is_sure_but_small_is_not_worth_a_word():
    rng = np.random.default_rng(0)
    before, after = result(rng, 0.0), result(rng, 0.0, factor=1.08)
    assert versus(before, after).verdict == SAME
    assert versus(before, after, least=0.02).verdict == "regression"


def test_turning_a_comparison_round_turns_its_verdict():
    rng = np.random.default_rng(1)
    before, after = result(rng, 0.1), result(rng, 0.1, factor=2.0)
    one, other = versus(before, after), versus(after, before)
    assert (one.verdict, other.verdict) == ("regression", "improvement")
    assert one.ratio * other.ratio == pytest.approx(1.0)
    assert one.contestants["ratio"][0] == pytest.approx(1 / other.contestants["ratio"][0])


def test_a_comparison_with_itself_finds_nothing_at_all():
    rows = result(np.random.default_rng(0), 0.3, contestants=("p a", "q b"))
    comparison = versus(rows, rows)
    assert comparison.verdict == SAME
    assert comparison.reasons == ()
    assert comparison.ratio == 1.0
    assert comparison.pairs["same_task"].all()
    assert comparison.unmatched.empty
    assert comparison.changes.empty
    assert comparison.values.empty


def test_a_comparison_repeats_itself():
    rng = np.random.default_rng(1)
    before, after = result(rng, 0.1), result(rng, 0.1, factor=1.2)
    one, again, other = (versus(before, after, seed=seed).contestants for seed in (0, 0, 1))
    pd.testing.assert_frame_equal(one, again)
    assert other["ratio"][0] == one["ratio"][0]
    assert other["low"][0] != one["low"][0]


def test_few_problems_decide_nothing():
    rng = np.random.default_rng(0)
    before, after = (result(rng, 0.01, factor=f, problems=4) for f in (1.0, 3.0))
    comparison = versus(before, after)
    assert comparison.verdict == "undecided: too few problems"
    line = comparison.contestants.iloc[0]
    assert line["pairs"] == 4
    assert line["ratio"] == pytest.approx(3.0, rel=0.05)
    assert np.isnan([line["low"], line["high"], line["p"], line["adjusted"]]).all()


def test_the_noise_is_measured_where_it_can_be():
    rng = np.random.default_rng(0)
    once, thrice = result(rng, 0.3), result(rng, 0.3, repeats=3)
    assert (versus(once, once).noise, versus(once, once).noise_from) == (0.1, "assumed")
    told = versus(once, thrice)
    assert told.noise_from == "repeats"
    assert told.noise == pytest.approx(0.3, rel=0.2)


# -- outcomes and values ------------------------------------------------------------------------


def pair(before, after):
    """Six problems that both solve alike, and one more."""
    rest = contest({"scs gram": [1.0] * 6})
    return versus(*(pd.concat([rest, frame({"problem": "x"} | one)]) for one in (before, after)))


def test_a_new_failure_is_a_regression():
    comparison = pair({"seconds": 1.0}, {"outcome": "CRASHED"})
    assert comparison.verdict == "regression"
    assert comparison.changes[["problem", "change", "excuse"]].values.tolist() == [
        ["x", "newly failed", ""]
    ]
    assert comparison.reasons == ("scs gram at 1e-06: x newly failed (SOLVED, then CRASHED)",)
    assert comparison.contestants["newly_failed"].to_list() == [1]
    assert comparison.contestants["pairs"].to_list() == [6]


def test_a_new_success_is_an_improvement():
    comparison = pair({"outcome": "INACCURATE"}, {})
    assert comparison.verdict == "improvement"
    assert comparison.contestants["newly_solved"].to_list() == [1]


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ({"solve": 17.0}, {"seconds": inf}, SAME),
        ({"solve": 15.0, "certify": 10.0}, {"seconds": inf}, "regression"),
        ({"solve": 17.0}, {"outcome": "INACCURATE"}, "regression"),
        ({"solve": 17.0, "time_limit": 9.0}, {"seconds": inf, "time_limit": 99.0}, "regression"),
        ({"solve": 17.0, "time_limit": 99.0}, {"seconds": inf, "time_limit": 9.0}, SAME),
        ({}, {"outcome": "MISSING"}, SAME),
    ],
)
def test_what_excuses_a_failure(before, after, verdict):
    comparison = pair(before, after)
    assert comparison.verdict == verdict
    assert bool(comparison.changes["excuse"][0]) == (verdict == SAME)


def test_a_failure_in_both_is_no_change():
    comparison = pair({"outcome": "CRASHED"}, {"outcome": "INACCURATE"})
    assert comparison.changes.empty
    assert comparison.verdict == SAME


def test_a_value_that_moved_is_told():
    comparison = pair({"value": 1.0}, {"value": 1.1, "bound": 1.1})
    line = comparison.values.iloc[0]
    assert line["problem"] == "x"
    assert line["apart"] == pytest.approx(0.1 / 1.1)
    assert comparison.reasons == ("scs gram at 1e-06: x has another value (1, then 1.1)",)
    assert pair({"value": 1.0}, {"value": 1.0 + 1e-6}).values.empty
    assert pair({"value": 1.0}, {"value": 9.0, "solved": False}).values.empty


def test_lines_are_matched_by_what_they_are():
    before = contest({"p a": [1.0, 1.0], "q b": [1.0, 1.0]}, threads=1)
    after = contest({"p a": [1.0], "r c": [1.0]}, threads=2)
    comparison = versus(before, after)
    assert comparison.pairs[["problem", "solver", "same_task"]].values.tolist() == [
        ["p0", "p", False]
    ]
    only = comparison.unmatched.groupby("only_in").size().to_dict()
    assert only == {"before": 3, "after": 1}


def test_results_with_nothing_in_common():
    comparison = versus(contest({"p a": [1.0]}), contest({"q a": [1.0]}))
    assert comparison.verdict == "undecided: too few problems"
    assert comparison.contestants.empty
    assert np.isnan(comparison.ratio)


def test_that_all_change_alike_is_told_from_one_that_does():
    rng, who = np.random.default_rng(0), ["p a", "q a", "r a"]
    before, after = (result(rng, 0.02, factor=f, contestants=who) for f in (1.0, 3.0))
    assert versus(before, after).is_common
    one = pd.concat([after[after["solver"] == "p"], before[before["solver"] != "p"]])
    assert not versus(before, one).is_common
    assert not versus(before, before).is_common
