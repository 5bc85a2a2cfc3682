"""Who is best where, and how far `auto` is from the best: numbers by hand, and laws."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.errors import DataError
from sdpdr.lab.study.measures import (
    best_by_structure,
    forms_by_solver,
    regret_of,
    runs_by_median,
    size_class,
)

from .frames import contest, frame

inf, nan = float("inf"), float("nan")


def rows_of(*tables):
    return runs_by_median(pd.concat(tables, ignore_index=True))


# -- structure ----------------------------------------------------------------------------------


def test_classes_of_sizes_by_hand():
    assert size_class(5, (10, 20)) == "below 10"
    assert size_class(10, (10, 20)) == "10 to 19"
    assert size_class(19, (10, 20)) == "10 to 19"
    assert size_class(20, (10, 20)) == "from 20"
    assert size_class(pd.NA) == "unknown"


def test_the_best_of_each_method_and_size():
    runs = rows_of(
        contest({"p a": [1.0, 1.0], "q b": [3.0, 5.0]}, ["s0", "s1"], n=20),
        contest({"p a": [9.0, inf], "q b": [3.0, 3.0]}, ["l0", "l1"], n=500),
        contest({"p a": [2.0], "q b": [1.0]}, ["i0"], n=20, method="isomap"),
    )
    table = best_by_structure(runs)
    first = table[table["rank"] == 1]
    assert first[["method", "size", "solver", "instances", "wins", "ratio"]].values.tolist() == [
        ["isomap", "below 50", "q", 1, 1, 1.0],
        ["mvu", "below 50", "p", 2, 2, 1.0],
        ["mvu", "200 to 999", "q", 2, 2, 1.0],
    ]
    second = table[(table["rank"] == 2) & (table["method"] == "mvu")]
    assert second["ratio"].to_list() == [4.0, 3.0]  # the median of 3 and 5; 9/3 where it is solved
    assert second["success_rate"].to_list() == [1.0, 0.5]


def test_sizes_are_in_order_of_size_not_of_their_names():
    runs = rows_of(*(contest({"p a": [1.0]}, [f"p{n}"], n=n) for n in (5000, 30, 300, 60)))
    assert best_by_structure(runs)["size"].to_list() == [
        "below 50", "50 to 199", "200 to 999", "from 1000",
    ]  # fmt: skip


def test_solving_more_goes_before_being_fast():
    runs = runs_by_median(contest({"p a": [0.1, inf, 0.1], "q b": [9.0, 9.0, 9.0]}))
    assert best_by_structure(runs)["solver"].to_list() == ["q", "p"]


def test_who_solves_nothing_is_last():
    table = best_by_structure(runs_by_median(contest({"p a": [inf], "q b": [1.0], "r c": [inf]})))
    assert table["solver"].iloc[0] == "q"
    assert table["ratio"].isna().to_list() == [False, True, True]


def test_auto_does_not_compete_with_those_it_chooses_from():
    runs = runs_by_median(contest({"auto auto": [0.5], "p a": [1.0], "q b": [2.0]}))
    table = best_by_structure(runs)
    assert table[["solver", "ratio"]].values.tolist() == [["p", 1.0], ["q", 2.0]]
    assert best_by_structure(runs, without=())["solver"].iloc[0] == "auto"


def test_forms_compete_within_their_solver():
    runs = runs_by_median(contest({"p gram": [4.0, 4.0], "p lmi": [2.0, 1.0], "q lmi": [0.1, 0.1]}))
    assert forms_by_solver(runs)[["solver", "form", "wins", "ratio"]].values.tolist() == [
        ["p", "lmi", 2, 1.0], ["p", "gram", 0, 3.0], ["q", "lmi", 2, 1.0],
    ]  # fmt: skip


def test_nothing_makes_empty_tables():
    nothing = runs_by_median(frame())
    assert best_by_structure(nothing).empty
    assert forms_by_solver(nothing).empty


# -- regret -------------------------------------------------------------------------------------


def test_regret_by_hand():
    runs = runs_by_median(
        contest({
            "auto auto": [1.0, 3.0, inf, 4.0, inf],
            "p a": [1.0, 2.0, 5.0, inf, inf],
            "q b": [2.0, 9.0, inf, inf, inf],
        })
    )  # fmt: skip
    regret = regret_of(runs)
    assert regret.table["problem"].to_list() == ["p2", "p1", "p0", "p3"]
    assert regret.table["ratio"].to_list() == pytest.approx([inf, 1.5, 1.0, 1.0])
    assert regret.table["lost"].to_list() == pytest.approx([inf, 1.0, 0.0, 0.0])
    assert regret.table["best_solver"].to_list()[:2] == ["p", "p"]
    assert dict(regret.within) == {1.5: 0.75, 2.0: 0.75, 10.0: 0.75}
    assert dict(regret.quantiles) == {0.5: 1.0, 0.9: inf, 1.0: inf}
    assert regret.mean == pytest.approx(1.5 ** (1 / 3))
    assert regret.failed["problem"].to_list() == ["p2"]
    assert regret.worst(1)["problem"].to_list() == ["p2"]


def test_regret_where_nobody_solves_anything():
    regret = regret_of(runs_by_median(contest({"auto auto": [inf], "p a": [inf]})))
    assert regret.table.empty
    assert np.isnan(regret.mean)
    assert np.isnan(list(regret.within.values())).all()


@pytest.mark.parametrize(("solver", "form"), [("auto", None), ("p", None), ("p", "c")])
def test_one_contestant_must_be_named(solver, form):
    runs = runs_by_median(contest({"p a": [1.0], "p b": [1.0]}))
    with pytest.raises(DataError, match="no single contestant"):
        regret_of(runs, solver, form)
    assert len(regret_of(runs, "p", "b").table) == 1


@settings(max_examples=4)
@given(st.lists(st.tuples(*[st.sampled_from([0.1, 1.0, 2.5, inf])] * 3), min_size=1, max_size=5))
def test_regret_is_at_least_one_and_adding_a_contestant_never_lowers_it(table):
    columns = list(zip(*table, strict=True))
    names = ("auto auto", "p a", "q b")
    few, more = (
        regret_of(runs_by_median(contest(dict(zip(names[:k], columns[:k], strict=True)))))
        for k in (2, 3)
    )
    assert (more.table["ratio"] >= 1.0).all()
    ratios = more.table.set_index("problem")["ratio"]
    for problem, ratio in few.table.set_index("problem")["ratio"].items():
        assert ratios[problem] >= ratio * (1 - 1e-12)
