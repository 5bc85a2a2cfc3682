"""Growth curves: exponents that are known, and intervals that hold as often as they say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sdpdr.errors import DataError
from sdpdr.lab.study.measures import fit_growth, growth, runs_by_median

from .frames import frame

inf = float("inf")
SIZES = np.array([20.0, 40.0, 80.0, 160.0, 320.0])


@settings(max_examples=8)
@given(st.floats(0.3, 6.0), st.floats(-14.0, 2.0))
def test_a_pure_power_is_found(exponent, log_factor):
    curve = fit_growth(SIZES, np.exp(log_factor) * SIZES**exponent)
    assert curve.exponent == pytest.approx(exponent, abs=1e-3)
    assert curve.factor == pytest.approx(np.exp(log_factor), rel=1e-2)
    assert curve.scatter == pytest.approx(0.0, abs=1e-5)
    assert curve.low - 1e-3 <= exponent <= curve.high + 1e-3
    assert curve.high - curve.low < 1e-2


@pytest.mark.parametrize("overhead", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("exponent", [1.0, 2.5, 4.0])
def test_an_overhead_is_told_from_the_power(overhead, exponent):
    seconds = overhead + 0.01 * (SIZES / 20) ** exponent
    curve = fit_growth(SIZES, seconds)
    assert curve.exponent == pytest.approx(exponent, abs=1e-4)
    assert curve.overhead == pytest.approx(overhead, rel=1e-4)
    assert curve.seconds(SIZES) == pytest.approx(seconds, rel=1e-6)
    line = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
    assert line < exponent - 0.05  # what a straight line through all points would say


@settings(max_examples=8)
@given(st.floats(0.01, 100.0), st.floats(0.01, 100.0))
def test_units_of_time_and_size_do_not_matter(seconds, sizes):
    t = (0.05 + 1e-5 * SIZES**2.2) * np.exp(0.1 * np.array([1, -1, 0.5, 0.3, -0.8]))
    one, other = fit_growth(SIZES, t), fit_growth(sizes * SIZES, seconds * t)
    for name in ("exponent", "low", "high", "scatter"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), abs=1e-4)
    assert other.overhead == pytest.approx(seconds * one.overhead, rel=1e-3, abs=1e-9)


@cache
def noisy(overhead, seed):
    """Seconds that scatter, and the curve through them."""
    noise = np.random.default_rng(seed).normal(0.0, 0.1, len(SIZES))
    seconds = (overhead + 1e-5 * SIZES**2.5) * np.exp(noise)
    return seconds, fit_growth(SIZES, seconds)


@pytest.mark.parametrize(
    ("overhead", "draws"),
    [
        (0.5, 30),
        pytest.param(0.5, 120, marks=pytest.mark.nightly),
        pytest.param(0.0, 120, marks=pytest.mark.nightly),
    ],
)
def test_the_interval_holds_as_often_as_it_says(overhead, draws):
    held = []
    for seed in range(draws):
        _, curve = noisy(overhead, seed)
        held.append(curve.low <= 2.5 <= curve.high)
    # 95 percent of them, less two and a half standard deviations.
    assert np.mean(held) >= 0.95 - 2.5 * np.sqrt(0.95 * 0.05 / draws)


@pytest.mark.parametrize("draws", [30, pytest.param(80, marks=pytest.mark.nightly)])
def test_a_lower_level_gives_a_shorter_interval_that_holds_less_often(draws):
    held, widths = [], []
    for seed in range(draws):
        t, wide = noisy(0.5, seed)
        narrow = fit_growth(SIZES, t, level=0.5)
        widths.append((narrow.high - narrow.low) < (wide.high - wide.low))
        held.append(narrow.low <= 2.5 <= narrow.high)
    assert all(widths)
    assert 0.5 - 2.5 * np.sqrt(0.5 * 0.5 / draws) <= np.mean(held) <= 0.75


def test_three_sizes_are_fitted_by_a_straight_line_with_its_usual_interval():
    n, t = np.array([10.0, 30.0, 90.0]), np.array([1.0, 4.2, 14.0])
    curve = fit_growth(n, t)
    line = stats.linregress(np.log(n), np.log(t))
    half = line.stderr * stats.t.ppf(0.975, 1)
    assert curve.exponent == pytest.approx(line.slope, abs=1e-6)
    assert curve.low == pytest.approx(max(line.slope - half, 0.0), abs=1e-4)
    assert curve.high == pytest.approx(line.slope + half, abs=1e-4)
    assert curve.overhead == 0.0


def test_times_that_do_not_grow_bound_nothing_from_above():
    t = 0.5 * np.exp([0.02, -0.01, 0.01, -0.02, 0.0])
    curve = fit_growth(SIZES, t)
    assert curve.low == 0.0
    assert curve.high == inf


def test_fewer_than_three_sizes_give_nothing():
    curve = fit_growth([10, 10, 20, 20], [1.0, 1.1, 2.0, 2.1])
    assert np.isnan([curve.exponent, curve.low, curve.high, curve.factor]).all()
    assert curve.sizes == 2


@pytest.mark.parametrize(
    ("n", "t"), [([1, 2, 3], [1.0, 2.0]), ([0, 2, 3], [1.0] * 3), ([1, 2, 3], [1.0, inf, 1.0])]
)
def test_what_is_not_a_time_is_refused(n, t):
    with pytest.raises(DataError, match="positive and finite"):
        fit_growth(n, t)


def test_the_level_is_a_share():
    with pytest.raises(DataError, match="level"):
        fit_growth(SIZES, SIZES, level=95)


# -- families -----------------------------------------------------------------------------------


def family(name, seconds, sizes=SIZES, **more):
    return [
        {"problem": f"{name}@{n:g}", "family": name, "n": int(n), "seconds": t} | more
        for n, t in zip(sizes, seconds, strict=True)
    ]


def test_the_table_by_hand():
    rows = frame(
        *family("roll", 1e-4 * SIZES**2),
        *family("roll", [1e-4, 8e-4, 64e-4, inf, inf], solver="q"),
        {"problem": "card"},
    )
    table = growth(runs_by_median(rows)).set_index("solver")
    assert set(table["family"]) == {"roll"}
    assert table["exponent"].to_dict() == pytest.approx({"scs": 2.0, "q": 3.0}, abs=1e-4)
    assert table["largest_solved"].to_dict() == {"scs": 320, "q": 80}
    assert table.loc["q", "first_failed"] == 160
    assert table.loc["scs", "first_failed"] is pd.NA
    assert table["sizes"].to_dict() == {"scs": 5, "q": 3}


def test_a_contestant_that_solves_nothing_has_a_line_too():
    table = growth(runs_by_median(frame(*family("roll", [inf] * 5))))
    assert len(table) == 1
    assert table["largest_solved"].isna().all()
    assert table["exponent"].isna().all()


def test_several_instances_of_a_size_count_as_one_size():
    rows = frame(*family("roll", [1.0, 1.1, 8.0], sizes=[10, 10, 20]))
    rows["problem"] = ["a", "b", "c"]
    assert growth(runs_by_median(rows))["sizes"].tolist() == [2]


def test_no_family_makes_an_empty_table():
    assert growth(runs_by_median(frame({}))).empty
