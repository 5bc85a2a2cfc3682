"""Profiles: exact steps by hand, and the laws that Dolan and Moré state."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sdpdr.lab.study.measures import (
    accuracy_profile,
    matrix,
    means,
    not_installed,
    performance_profile,
    runs_by_median,
    time_profile,
)

from .frames import contest, frame

inf = float("inf")
TABLE = {"p a": [1.0, 2.0, inf, inf], "q b": [1.0, 6.0, 5.0, inf], "r c": [2.0, 4.0, 5.0, inf]}
UNSOLVED = {"p a": [inf, 2.0], "q b": [inf, inf], "r c": [inf, 1.0]}

tables = st.lists(
    st.tuples(*[st.sampled_from([0.01, 0.3, 1.0, 1.0, 2.5, 40.0, inf])] * 3), min_size=1, max_size=7
).map(lambda rows: dict(zip(("p a", "q b", "r c"), zip(*rows, strict=True), strict=True)))


def runs_of(table):
    return runs_by_median(contest(table))


def steps(profile, name):
    return profile.steps(*name.split()).values.tolist()


def test_the_steps_by_hand():
    profile = performance_profile(runs_of(TABLE))
    assert steps(profile, "p a") == [[1.0, 0.5]]
    assert steps(profile, "q b") == [[1.0, 0.5], [3.0, 0.75]]
    assert steps(profile, "r c") == [[1.0, 0.25], [2.0, 0.75]]
    assert profile.share(1.0).to_list() == [0.5, 0.5, 0.25]
    assert profile.share(np.nextafter(3.0, 0.0)).to_list() == [0.5, 0.5, 0.75]
    assert profile.share(3.0).to_list() == [0.5, 0.75, 0.75]


def test_who_never_ran_has_no_mean():
    ran = [{"problem": name, "seconds": 2.0} for name in "ab"]
    never = [
        {"problem": name, "solver": solver, "outcome": outcome, "time_limit": float("nan")}
        for name in "ab"
        for solver, outcome in (("csdp", "MISSING"), ("qaoa", "REFUSED"))
    ]
    failed = {"problem": "a", "solver": "slow", "seconds": inf}
    rows = frame(*ran, *never, failed, failed | {"problem": "b", "outcome": "MISSING"})
    table = means(runs_by_median(rows)).set_index("solver")
    assert table.index.to_list() == ["scs", "slow", "csdp", "qaoa"]
    assert table["ran"].to_list() == [2, 1, 0, 0]
    assert table["mean"].isna().to_list() == [False, False, True, True]
    assert table["ratio"].isna().to_list() == [False, False, True, True]
    assert table["ratio"].min() == 1.0
    assert not_installed(rows) == ["csdp gram"]


def test_who_solves_nothing_has_no_steps():
    profile = performance_profile(runs_of({"p a": [1.0], "q b": [inf]}))
    assert steps(profile, "q b") == []
    assert profile.share(inf).to_list() == [1.0, 0.0]


@settings(max_examples=4)
@given(tables)
@example(UNSOLVED)
def test_a_profile_begins_with_the_wins_and_ends_with_the_success_rate(table):
    runs = runs_of(table)
    profile = performance_profile(runs)
    seconds = pd.DataFrame(table)
    won = seconds.eq(seconds.min(axis=1), axis=0) & np.isfinite(seconds)
    assert profile.share(1.0).to_list() == pytest.approx(won.mean().to_list())
    rates = means(runs).set_index(["solver", "form"])["success_rate"]
    assert profile.share(inf).to_dict() == pytest.approx(rates.to_dict())


@settings(max_examples=4)
@given(tables)
def test_a_profile_is_a_distribution_function_and_its_steps_are_all_of_it(table):
    profile = performance_profile(runs_of(table))
    for solver, form in profile.contestants:
        line = profile.steps(solver, form)
        assert (np.diff(line["tau"]) > 0).all()
        assert (np.diff(line["share"]) > 0).all()
        assert (line["tau"] >= 1.0).all()
        for tau, share in line.values.tolist():
            assert profile.share(tau)[(solver, form)] == pytest.approx(share)
            before = profile.share(np.nextafter(tau, 0.0))[(solver, form)]
            assert before < share


@settings(max_examples=4)
@given(tables, st.floats(0.02, 50.0))
def test_the_unit_of_time_of_an_instance_does_not_matter(table, factor):
    scaled = {who: [factor * t[0], *t[1:]] for who, t in table.items()}
    one, other = (performance_profile(runs_of(t)).costs for t in (table, scaled))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@settings(max_examples=4)
@given(tables)
@example(UNSOLVED)
def test_somebody_wins_each_instance_that_is_solved(table):
    costs = performance_profile(runs_of(table)).costs
    solved = np.isfinite(costs).any(axis=1)
    assert (costs[solved].min(axis=1) == 1.0).all()
    assert np.isinf(costs[~solved]).all(axis=None)


def test_the_second_best_is_not_read_off_the_second_curve():
    # Gould and Scott 2016: with p in the field q is ahead of r, without it r is ahead of q.
    table = {"p a": [1.0, 1.0, 9.0], "q b": [9.0, 9.0, 1.0], "r c": [3.0, 3.0, 9.0]}
    field = performance_profile(runs_of(table)).share(2.0)
    assert field.to_list() == pytest.approx([2 / 3, 1 / 3, 0.0])
    del table["p a"]
    assert performance_profile(runs_of(table)).share(2.0).to_list() == pytest.approx([1 / 3, 2 / 3])


@settings(max_examples=4)
@given(tables)
def test_profiles_over_seconds_do_not_depend_on_the_field(table):
    whole = time_profile(runs_of(table))
    alone = time_profile(runs_of({"q b": table["q b"]}))
    assert steps(whole, "q b") == steps(alone, "q b")


def test_the_profile_over_accuracy_counts_points_whatever_their_outcome():
    rows = frame(
        {"problem": "a", "worst": 1e-9},
        {"problem": "b", "worst": 1e-4, "outcome": "INACCURATE"},
        {"problem": "c", "outcome": "CRASHED"},
    )
    profile = accuracy_profile(runs_by_median(rows))
    assert steps(profile, "scs gram") == [
        [1e-9, pytest.approx(1 / 3)],
        [1e-4, pytest.approx(2 / 3)],
    ]


def test_contestants_keep_the_order_in_which_they_appear():
    profile = performance_profile(runs_of({"z a": [1.0], "b b": [1.0], "m c": [1.0]}))
    assert profile.contestants == [("z", "a"), ("b", "b"), ("m", "c")]
    assert list(matrix(runs_of(TABLE), "outcome").index) == [(f"p{i}", "") for i in range(4)]
