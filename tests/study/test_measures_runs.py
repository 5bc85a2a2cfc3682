"""Repeats, contestants side by side, means: numbers by hand, and laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.errors import DataError
from sdpdr.lab.study.measures import (
    best_form,
    matrix,
    means,
    ratios_to_best,
    runs_by_median,
    shifted_geometric_mean,
    times,
)
from sdpdr.lab.study.measures.frame import _LEAST_HONEST_FIRST, RUN_COLUMNS
from sdpdr.lab.study.schema import COLUMNS, HONESTY

from .frames import contest, frame

inf, nan = float("inf"), float("nan")


def only(runs: pd.DataFrame) -> pd.Series:
    assert len(runs) == 1
    return runs.iloc[0]


# -- repeats ------------------------------------------------------------------------------------


def test_a_synthetic_frame_is_as_the_schema_says():
    rows = contest({"scs gram": [1.0, inf]})
    assert list(rows.columns) == [column.name for column in COLUMNS]
    kinds = {"VARCHAR": "object", "DOUBLE": "float64", "BIGINT": "Int64", "BOOLEAN": "bool"}
    assert [str(t) for t in rows.dtypes] == [kinds[column.kind] for column in COLUMNS]
    assert rows["key"].is_unique


def test_repeats_are_one_line_with_their_medians():
    rows = frame(*({"repeat": i, "seconds": t} for i, t in enumerate([4.0, 1.0, 2.0, 5.0])))
    run = only(runs_by_median(rows))
    assert run["seconds"] == pytest.approx(3.0)
    assert run["solve"] == pytest.approx(2.25)
    assert run["spread"] == pytest.approx(4 / 3)
    assert run["repeats"] == 4
    assert run["solved"]


def test_columns_are_the_contract():
    rows = contest({"scs gram": [1.0], "lowrank factor": [2.0]})
    runs = runs_by_median(rows)
    assert tuple(runs.columns) == RUN_COLUMNS
    assert runs["spread"].isna().all()
    assert runs["repeats"].tolist() == [1, 1]
    assert len(runs_by_median(rows.iloc[:0])) == 0
    assert tuple(runs_by_median(rows.iloc[:0]).columns) == RUN_COLUMNS


def test_a_line_is_solved_if_all_repeats_are_and_tells_how_the_others_ended():
    ends = ["SOLVED", "SOLVED", "CRASHED", "TIME_LIMIT", "TIME_LIMIT"]
    run = only(runs_by_median(frame(*({"repeat": i, "outcome": o} for i, o in enumerate(ends)))))
    assert not run["solved"]
    assert run["outcome"] == "TIME_LIMIT"
    tie = [{"repeat": i, "outcome": o} for i, o in enumerate(["SOLVED", "CRASHED", "BROKEN"])]
    assert only(runs_by_median(frame(*tie)))["outcome"] == "CRASHED"


def test_a_line_is_as_honest_as_its_least_honest_repeat():
    assert set(_LEAST_HONEST_FIRST) == set(HONESTY)
    words = ["true", "overstated", "silent"]
    rows = frame(*({"repeat": i, "honesty": word} for i, word in enumerate(words)))
    assert only(runs_by_median(rows))["honesty"] == "overstated"


def test_a_size_that_a_crash_never_told_comes_from_the_other_repeats():
    lost = {"repeat": 0, "outcome": "CRASHED", "n": pd.NA, "compile": nan, "solve": nan}
    run = only(runs_by_median(frame(lost | {"certify": nan}, {"repeat": 1, "n": 12})))
    assert run["n"] == 12
    assert run["seconds"] == pytest.approx(1.0)


def test_lines_are_apart_by_variant_tolerance_and_form():
    rows = frame(
        {}, {"variant": "x"}, {"tol": 1e-4}, {"form": "lmi"}, {"solver": "q"}, {"problem": "b"}
    )
    assert len(runs_by_median(rows)) == 6


def test_the_order_of_rows_changes_nothing_but_the_order_of_lines():
    rng = np.random.default_rng(0)
    rows = pd.concat([contest({"p a": [1.0, inf, 3.0], "q b": [2.0, 2.0, inf]}, repeat=i)
                      for i in range(3)], ignore_index=True)  # fmt: skip
    mixed = rows.sample(frac=1.0, random_state=rng.integers(10)).reset_index(drop=True)
    by = ["problem", "solver"]
    one, other = (runs_by_median(r).sort_values(by).reset_index(drop=True) for r in (rows, mixed))
    pd.testing.assert_frame_equal(one, other)


def test_a_frame_that_lacks_a_column_is_told():
    with pytest.raises(DataError, match="lacks honesty"):
        runs_by_median(frame({}).drop(columns="honesty"))


# -- side by side -------------------------------------------------------------------------------


def test_ratios_by_hand():
    runs = runs_by_median(contest({"p a": [1.0, inf, inf], "q b": [4.0, 2.0, inf]}))
    assert ratios_to_best(runs).values.tolist() == [[1.0, 4.0], [inf, 1.0], [inf, inf]]


def test_an_instance_that_is_not_done_yet_is_left_out():
    runs = runs_by_median(contest({"p a": [1.0, 3.0], "q b": [nan, 2.0]}))
    assert times(runs).index.to_list() == [("p1", "")]
    assert len(matrix(runs, "seconds")) == 2


def test_times_of_zero_have_finite_ratios():
    runs = runs_by_median(contest({"p a": [0.0], "q b": [1.0]}))
    assert np.isfinite(ratios_to_best(runs)).all(axis=None)


def test_unequal_tolerances_are_not_compared():
    runs = runs_by_median(frame({"tol": 1e-4}, {"tol": 1e-6}))
    with pytest.raises(DataError, match=r"1e-06, 0\.0001"):
        times(runs)


def test_two_lines_for_one_place_are_told():
    runs = runs_by_median(frame({}))
    with pytest.raises(DataError, match="two lines for"):
        matrix(pd.concat([runs, runs]), "seconds")


def test_the_best_form_by_hand():
    rows = pd.concat([
        contest({"p gram": [1.0, 5.0, inf], "p lmi": [2.0, inf, inf], "q lmi": [3.0, 3.0, 3.0]}),
        frame({"problem": "p3", "solver": "p", "form": "gram", "outcome": "CRASHED"},
              {"problem": "p3", "solver": "p", "form": "lmi", "outcome": "INACCURATE"}),
    ], ignore_index=True)  # fmt: skip
    best = best_form(runs_by_median(rows))
    mine = best[best["solver"] == "p"]
    assert mine["used"].tolist() == ["gram", "gram", "gram", "lmi"]
    assert mine["outcome"].tolist() == ["SOLVED", "SOLVED", "TIME_LIMIT", "INACCURATE"]
    assert set(best["form"]) == {"best"}
    assert tuple(best.columns) == RUN_COLUMNS


@settings(max_examples=4)
@given(st.lists(st.tuples(*[st.sampled_from([0.1, 1.0, 2.5, inf])] * 3), min_size=1, max_size=6))
def test_the_best_form_is_no_slower_and_solves_no_less_than_any(table):
    columns = list(zip(*table, strict=True))
    rows = contest({f"p f{i}": list(column) for i, column in enumerate(columns)})
    runs = runs_by_median(rows)
    best = best_form(runs).set_index("problem")
    each = times(runs).min(axis=1).droplevel("variant")
    assert best["solved"].to_dict() == np.isfinite(each).to_dict()
    assert best.loc[best["solved"], "seconds"].to_dict() == pytest.approx(
        each[np.isfinite(each)].to_dict()
    )


# -- means --------------------------------------------------------------------------------------

seconds = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=8)


def test_the_shifted_mean_by_hand():
    assert shifted_geometric_mean([0.0, 3.0], shift=1.0) == pytest.approx(1.0)
    assert shifted_geometric_mean([2.0, 8.0], shift=0.0) == pytest.approx(4.0)
    assert shifted_geometric_mean([0.0, 8.0], shift=0.0) == 0.0
    assert np.isnan(shifted_geometric_mean([]))
    with pytest.raises(DataError):
        shifted_geometric_mean([1.0], shift=-1.0)


@settings(max_examples=8)
@given(seconds, st.floats(0.0, 100.0), st.floats(0.0, 100.0))
def test_the_shifted_mean_grows_with_the_shift_from_geometric_to_arithmetic(t, one, other):
    low, high = sorted((one, other))
    found = [shifted_geometric_mean(t, shift) for shift in (0.0, low, high)]
    assert min(t) * (1 - 1e-9) <= found[0]
    assert found[0] <= found[1] * (1 + 1e-9)
    assert found[1] <= found[2] * (1 + 1e-9)
    assert found[2] <= np.mean(t) * (1 + 1e-9)


@settings(max_examples=8)
@given(seconds, st.floats(0.01, 100.0), st.floats(0.0, 10.0))
def test_the_shifted_mean_scales_with_times_and_shift(t, factor, shift):
    scaled = shifted_geometric_mean([factor * x for x in t], factor * shift)
    assert scaled == pytest.approx(factor * shifted_geometric_mean(t, shift), rel=1e-9, abs=1e-9)


def test_means_by_hand():
    rows = contest({"p a": [3.0, 15.0], "q b": [1.0, inf]}, time_limit=31.0)
    table = means(runs_by_median(rows), shift=1.0).set_index("solver")
    assert table["mean"].to_dict() == pytest.approx({"p": 7.0, "q": 7.0})  # (4*16, 2*32)^(1/2) - 1
    assert table["ratio"].to_dict() == pytest.approx({"p": 1.0, "q": 1.0})
    assert table["success_rate"].to_dict() == {"p": 1.0, "q": 0.5}
    dear = means(runs_by_median(rows), shift=1.0, penalty=(127 / 31)).set_index("solver")
    assert dear.loc["q", "mean"] == pytest.approx(15.0)  # (2*128)^(1/2) - 1


def test_an_early_failure_is_charged_the_whole_limit():
    rows = frame({"outcome": "CRASHED", "seconds": 0.1}, time_limit=20.0)
    assert only(means(runs_by_median(rows)))["mean"] == pytest.approx(20.0)


def test_a_failure_that_took_longer_than_its_limit_is_charged_what_it_took():
    rows = frame({"outcome": "INACCURATE", "seconds": 30.0}, time_limit=20.0)
    assert only(means(runs_by_median(rows)))["mean"] == pytest.approx(30.0)


def test_the_correct_rate_is_of_claims():
    words = ["true", "silent", "overstated", "near", "understated", ""]
    rows = frame(*({"problem": f"p{i}", "honesty": word} for i, word in enumerate(words)))
    line = only(means(runs_by_median(rows)))
    assert line["claims"] == 5
    assert line["correct_rate"] == pytest.approx(0.4)
    silent = means(runs_by_median(frame({"honesty": "", "outcome": "CRASHED"})))
    assert np.isnan(only(silent)["correct_rate"])


def test_refused_lines_are_counted_as_unsolved_and_as_not_run():
    rows = frame(
        {"problem": "a", "outcome": "REFUSED", "solve": nan, "compile": nan, "certify": nan},
        {"problem": "b"},
    )
    line = only(means(runs_by_median(rows)))
    assert (line["instances"], line["ran"], line["solved"]) == (2, 1, 1)


def test_each_tolerance_has_its_own_best():
    rows = pd.concat([contest({"p a": [1.0], "q b": [2.0]}, tol=1e-4),
                      contest({"p a": [6.0], "q b": [3.0]}, tol=1e-6)])  # fmt: skip
    table = means(runs_by_median(rows))
    assert table[["tol", "solver"]].values.tolist() == [
        [1e-6, "q"], [1e-6, "p"], [1e-4, "p"], [1e-4, "q"],
    ]  # fmt: skip
    assert table.groupby("tol")["ratio"].min().tolist() == [1.0, 1.0]


def test_means_refuse_what_makes_no_sense():
    runs = runs_by_median(contest({"p a": [inf]}, time_limit=nan))
    with pytest.raises(DataError, match="no time limit"):
        means(runs.assign(time_limit=nan))
    with pytest.raises(DataError, match="penalty"):
        means(runs, penalty=0.5)


def test_nothing_makes_empty_tables():
    runs = runs_by_median(frame())
    assert means(runs).empty
    assert best_form(runs).empty
    assert times(runs).empty
