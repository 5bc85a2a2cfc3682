"""Completed ratings: the program by cvxpy, bounds, kinds of input, ties, new users, faults."""

import re
import warnings
from dataclasses import replace
from typing import ClassVar

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sdpdr
from sdpdr import MMMF, MMMFCV, RatingMMMF
from sdpdr.errors import (
    DataError,
    DataTypeError,
    FilledGapsWarning,
    ShapeError,
    UncertifiedWarning,
    UnknownNameError,
    UnobservedWarning,
    UnusedColumnsWarning,
    WeakSeparationWarning,
)
from sdpdr.families.factor.margin import prices
from sdpdr.families.factor.margin.descent import complete, grown
from sdpdr.families.factor.margin.entries import read_entries, with_ratings
from sdpdr.families.factor.margin.factors import Program, Proof
from sdpdr.families.factor.margin.losses import Hinge, SquaredLoss

KINDS = [(loss, norm) for loss in ("squared", "hinge") for norm in ("trace", "max")]
PRICES = {"trace": 0.6, "max": 0.18}


def ratings(p=40, q=25, seed=0):
    """Levels 1 to 5 of a matrix of rank two, those observed and those held back."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((p, 2)) @ rng.standard_normal((2, q))
    R = np.digitize(R, [-1.5, -0.4, 0.4, 1.5]) + 1.0
    seen = rng.random((p, q)) < 0.6
    return np.where(seen, R, np.nan), np.where(seen, np.nan, R)


SMALL = ratings(8, 6)[0]


def as_triples(R, order=None):
    i, a = np.nonzero(~np.isnan(R))
    table = np.column_stack([i, a, R[i, a]])
    return table if order is None else table[order]


def optimum(R, loss, norm, c, ridge):
    """The same program, put to another solver in other words."""
    p, q = R.shape
    seen = ~np.isnan(R)
    i, a = np.nonzero(seen)
    Z = cp.Variable((p + q, p + q), PSD=True)
    b, d = cp.Variable(p), cp.Variable(q)
    scores = Z[i, p + a] + b[i] + d[a]
    size = cp.trace(Z) / 2 if norm == "trace" else cp.max(cp.diag(Z))
    if loss == "squared":
        price = cp.sum_squares(R[seen] - R[seen].mean() - scores) / 2
    else:
        levels = np.unique(R[seen])
        theta = cp.Variable(levels.size - 1)
        price = sum(
            cp.sum(cp.pos(1 - cp.multiply(np.where(R[seen] > low, 1, -1), scores - theta[t])))
            for t, low in enumerate(levels[:-1])
        )
    offsets = ridge / 2 * (cp.sum_squares(b) + cp.sum_squares(d))
    return cp.Problem(cp.Minimize(size + c * (price + offsets))).solve(solver="CLARABEL")


# -- oracles and laws ---------------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "norm"), KINDS)
def test_value_and_bound_enclose_the_optimum(loss, norm):
    c = PRICES[norm]
    model = RatingMMMF(c, loss=loss, norm=norm, ridge=2.0, tol=1e-2).fit(SMALL)
    best = optimum(SMALL, loss, norm, c, 2.0)
    assert model.U_.shape[1] > 0
    assert model.bound_ <= best * (1 + 1e-6)
    assert model.value_ >= best * (1 - 1e-6)
    assert 0.0 <= model.gap_ <= 1e-2


def few_ratings(seed, share):
    """Ten users rate eight items at random: nearly every margin lies on a kink of the hinge."""
    rng = np.random.default_rng(seed)
    R = rng.integers(1, 6, (10, 8)).astype(float)
    R[rng.random(R.shape) < share] = np.nan
    return R


FEW = [(7, 0.35, 1.0), (7, 0.35, 5.0), (300, 0.4, 1.0)]


@pytest.mark.parametrize(
    ("seed", "share", "c", "ridge", "norm"),
    [
        pytest.param(*few, ridge, norm, marks=[] if quick else [pytest.mark.nightly])
        for k, few in enumerate(FEW)
        for ridge in (5.0, np.inf)
        for norm in ("trace", "max")
        for quick in [k == 2 or (ridge, norm) == (5.0, "trace")]
    ],
)
def test_the_hinge_of_few_ratings_is_solved_to_many_digits(seed, share, c, ridge, norm):
    R = few_ratings(seed, share)
    model = RatingMMMF(c, loss="hinge", norm=norm, ridge=ridge, tol=1e-4).fit(R)
    assert 0.0 <= model.gap_ <= 1e-4
    if np.isfinite(ridge):
        best = optimum(R, "hinge", norm, c, ridge)
        assert model.bound_ * (1 - 1e-6) <= best <= model.value_ * (1 + 1e-6)


def test_descent_ends_where_all_rounded_margins_are_met():
    """No slope is left, so nothing says where a column would pay; directions were 0 / 0."""
    R = few_ratings(300, 0.4)
    entries = read_entries(R)
    levels = np.searchsorted(np.unique(entries.values), entries.values)
    program = Program(entries, Hinge(levels, np.unique(entries.values)), "max", 1.0, 5.0, 0)
    rng = np.random.default_rng(0)
    at = replace(program.start(), U=rng.standard_normal((10, 3)), V=rng.standard_normal((8, 3)))
    none = Proof(0.0, np.zeros(len(levels)), entries.spread(np.zeros(len(levels))), None)
    assert grown(program, at, none, 1e-2) is at


def test_the_squared_loss_is_solved_to_more_digits():
    model = RatingMMMF(0.6, ridge=2.0, tol=1e-7).fit(SMALL)
    assert model.gap_ <= 1e-7
    assert model.value_ == pytest.approx(optimum(SMALL, "squared", "trace", 0.6, 2.0), rel=1e-6)


@pytest.mark.parametrize(("loss", "norm"), KINDS)
def test_the_value_is_that_of_what_is_predicted_with(loss, norm):
    c = PRICES[norm]
    model = RatingMMMF(c, loss=loss, norm=norm, tol=0.05).fit(SMALL)
    seen = ~np.isnan(SMALL)
    scores, R = model.decision_function()[seen], SMALL[seen]
    if loss == "squared":
        price = 0.5 * np.sum((R - R.mean() - scores) ** 2)
    else:
        signs = np.where(R[:, None] > model.levels_[:-1], 1, -1)
        price = np.maximum(0, 1 - signs * (scores[:, None] - model.thresholds_)).sum()
    squares = np.sum(model.user_offsets_**2) + np.sum(model.item_offsets_**2)
    if norm == "trace":
        size = np.linalg.svd(model.U_ @ model.V_.T, compute_uv=False).sum()
    else:
        size = np.sqrt(np.prod([np.max(np.sum(F**2, axis=1)) for F in (model.U_, model.V_)]))
    assert model.value_ == pytest.approx(size + c * (price + 2.5 * squares), rel=1e-9)


@pytest.mark.parametrize("norm", ["trace", "max"])
@pytest.mark.parametrize("width", [1.0, 0.1])
def test_slopes_anywhere_prove_bounds(norm, width):
    """At random factors, offsets and thresholds, where nothing is optimal."""
    entries = read_entries(SMALL)
    levels = np.unique(entries.values)
    losses = {
        "squared": SquaredLoss(entries.values),
        "hinge": Hinge(np.searchsorted(levels, entries.values), levels),
    }
    rng = np.random.default_rng(1)
    for name, loss in losses.items():
        program = Program(entries, loss, norm, PRICES[norm], 2.0, 0)
        best = optimum(SMALL, name, norm, PRICES[norm], 2.0)
        at = complete(program, max_iter=1)
        object.__setattr__(at, "U", rng.standard_normal((8, 2)))
        object.__setattr__(at, "V", rng.standard_normal((6, 2)))
        assert 0.0 <= program.proof(at, width).bound <= best * (1 + 1e-6)


def test_the_order_of_triples_tells_nothing():
    table = as_triples(SMALL)
    order = np.random.default_rng(3).permutation(len(table))
    first, second = (RatingMMMF(0.6).fit(as_triples(SMALL, o)) for o in (None, order))
    np.testing.assert_array_equal(first.predict(), second.predict())


def test_triples_tables_and_sparse_arrays_agree():
    table = as_triples(SMALL)
    dense = RatingMMMF(0.6).fit(SMALL)
    i, a, values = table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2]
    frame = pd.DataFrame({"who": np.array(list("abcdefgh"))[i], "what": a + 7, "how": values})
    for X in (table, frame, sp.coo_array((values, (i, a)), shape=SMALL.shape)):
        np.testing.assert_allclose(RatingMMMF(0.6).fit(X).predict(), dense.predict(), atol=1e-12)
    named = RatingMMMF(0.6).fit(frame)
    np.testing.assert_array_equal(named.items_, np.arange(7, 13))
    np.testing.assert_allclose(named.predict(["c"], [9]), dense.predict([2], [2]))
    np.testing.assert_allclose(dense.predict([(2, 2)]), dense.predict([2], [2]))
    assert named.score(frame) == pytest.approx(dense.score(SMALL))


def test_stored_zeros_are_ratings():
    X = sp.csr_array(([0.0, 2.0, 2.0], ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert RatingMMMF(1.0).fit(X).levels_.tolist() == [0, 2]


def test_ratings_held_back_are_predicted():
    seen, held = ratings()
    there = ~np.isnan(held)
    dull = np.sqrt(np.mean((held[there] - np.nanmean(seen)) ** 2))
    for loss in ("squared", "hinge"):
        model = RatingMMMF(loss=loss, c=0.3).fit(seen)
        assert model.score(held) > -0.6 * dull
        missed = model.predict()[there] - held[there]
        assert model.score(held) == pytest.approx(-np.sqrt(np.mean(missed**2)))
    assert set(np.unique(model.predict())) <= set(model.levels_)


@pytest.mark.parametrize("model", [RatingMMMF(0.6), MMMFCV(cs=[0.6], cv=2)])
def test_pairs_and_their_ratings_are_scored_as_triples(model):
    i, a = np.argwhere(~np.isnan(SMALL)).T
    values = SMALL[i, a]
    model.fit(SMALL)
    pairs = np.column_stack([i, a])
    wrong = np.where(values > values.mean(), values.min(), values.max())
    for ratings_of in (values, wrong):
        missed = model.predict(pairs) - ratings_of
        told = model.score(pairs, ratings_of)
        assert told == pytest.approx(-np.sqrt(np.mean(missed**2)))
        assert told == pytest.approx(model.score(np.column_stack([pairs, ratings_of])))
    assert model.score(pairs, wrong) < model.score(pairs, values)


@pytest.mark.parametrize("model", [RatingMMMF(0.6), MMMFCV(cs=[0.6, 0.9], cv=2)])
def test_pairs_and_their_ratings_are_learned_as_triples(model):
    table = as_triples(SMALL)
    pairs, values = table[:, :2].astype(int), table[:, 2]
    known = clone(model).fit(table)
    names = np.array(list("abcdefgh"))[pairs[:, 0]], pairs[:, 1] + 7
    frame = pd.DataFrame({"who": names[0], "what": names[1]}, index=names[0])
    for X in (pairs, pairs.astype(float), list(zip(*names, strict=True)), frame):
        for y in (values, pd.Series(values, index=10 + np.arange(len(values)))):
            found = clone(model).fit(X, y)
            np.testing.assert_array_equal(found.predict(), known.predict())
            assert found.n_features_in_ == known.n_features_in_
    np.testing.assert_array_equal(found.predict(["c"], [9]), known.predict([2], [2]))
    with pytest.raises(ShapeError, match="rating each"):
        clone(model).fit(pairs, values[:-1])


def test_signs_of_pairs_are_learned_as_triples():
    signs, _ = sdpdr.datasets.partial_signs(12, 8, share=0.6)
    i, a = np.nonzero(signs)
    found = MMMF(c=0.5).fit(np.column_stack([i, a]), signs[i, a])
    np.testing.assert_allclose(found.X_, MMMF(c=0.5).fit(signs).X_, atol=1e-3)


def test_a_table_of_two_items_with_gaps_is_a_table_whatever_y_is():
    X = np.array([[5.0, np.nan], [np.nan, 3.0], [4.0, 2.0], [1.0, 4.0]])
    found = RatingMMMF(2.0).fit(X, [1.0, 2.0, 3.0, 4.0])
    assert found.predict().shape == (4, 2)


@pytest.mark.parametrize(("y", "error"), [([1.0], ShapeError), ([1.0, np.nan], DataError)])
def test_pairs_without_a_rating_each_are_refused(y, error):
    with pytest.raises(error, match="rating"):
        RatingMMMF(0.6).fit(SMALL).score([(0, 0), (1, 1)], y)


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_below_the_least_price_the_matrix_is_zero(norm):
    least = RatingMMMF(norm=norm).least_price(SMALL)
    with pytest.warns(WeakSeparationWarning, match="Raise c"):
        assert RatingMMMF(0.95 * least, norm=norm, tol=1e-4).fit(SMALL).U_.shape[1] == 0
    assert RatingMMMF(1.3 * least, norm=norm, tol=1e-4).fit(SMALL).U_.shape[1] > 0


# -- the price that is chosen --------------------------------------------------------------------


@pytest.fixture(scope="module")
def chosen():
    """Of the squared loss and the trace norm."""
    return RatingMMMF().fit(SMALL)


def test_the_default_price_is_that_of_the_smallest_error_held_back():
    seen, held = ratings(20, 15)
    model = RatingMMMF().fit(seen)
    assert model.c_ == model.prices_[np.argmin(model.errors_)]
    assert model.prices_[0] == pytest.approx(model.least_price(seen))
    assert model.gap_ <= model.tol
    given = RatingMMMF(model.c_).fit(seen)
    assert given.c_ == model.c_
    assert not given.prices_.size
    np.testing.assert_array_equal(given.predict(), model.predict())
    rule = RatingMMMF(2.0 * model.prices_[0]).fit(seen)
    assert model.score(held) >= 1.01 * rule.score(held)


def test_the_price_follows_the_unit_of_ratings(chosen):
    other = RatingMMMF().fit(8.0 * SMALL + 16.0)
    assert other.c_ == pytest.approx(chosen.c_ / 8.0, rel=1e-6)
    np.testing.assert_allclose(8.0 * other.prices_, chosen.prices_, rtol=1e-6)


@pytest.mark.parametrize(("factor", "last"), [(0.5, 1024.0), (0.98, 1024.0), (0.995, 32.0)])
def test_prices_go_on_while_errors_fall(factor, last):
    errors, tried = [], []
    for multiple in prices.ascending(errors):
        errors.append(factor ** len(errors))
        tried.append(multiple)
    assert tried[-1] == last
    assert np.all(np.diff(tried) > 0.0)


def test_ratings_of_offsets_and_noise_get_no_matrix():
    rng = np.random.default_rng(0)
    R = 3.0 + 0.5 * rng.standard_normal((60, 1)) + rng.standard_normal((60, 40))
    with pytest.warns(WeakSeparationWarning, match="Pass c for a matrix all the same"):
        model = RatingMMMF().fit(np.where(rng.random(R.shape) < 0.3, R, np.nan))
    assert model.c_ == model.prices_[0]
    assert not model.U_.shape[1]
    assert model.gap_ <= model.tol


@pytest.mark.parametrize(
    "options", [{"loss": "hinge"}, pytest.param({"norm": "max"}, marks=pytest.mark.nightly)]
)
def test_other_losses_and_norms_take_the_same_multiple(chosen, options):
    found = [chosen, RatingMMMF(**options).fit(SMALL)]
    first, second = (model.c_ / model.least_price(SMALL) for model in found)
    assert first == pytest.approx(second)
    np.testing.assert_array_equal(found[0].errors_, found[1].errors_)


def test_without_time_or_ratings_to_hold_back_the_price_is_a_rule():
    with pytest.warns(UncertifiedWarning):
        model = RatingMMMF(norm="max", time_limit=0.0).fit(SMALL)
    assert model.c_ == pytest.approx(2.0 * model.least_price(SMALL))
    assert not model.prices_.size
    few = RatingMMMF().fit([[1.0, np.nan], [np.nan, 3.0]])
    assert few.c_ == pytest.approx(2.0 * few.least_price([[1.0, np.nan], [np.nan, 3.0]]))


def test_numbers_without_names_are_those_of_the_fit_by_their_places():
    rng = np.random.default_rng(0)
    R = rng.integers(1, 6, (11, 5)).astype(float)
    frame = pd.DataFrame(R, index=[f"u{k}" for k in range(11)], columns=list("abcde"))
    model = RatingMMMF(c=1.0).fit(frame)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        assert model.score(R) == pytest.approx(model.score(frame))
    assert model.score(frame.iloc[::-1]) == pytest.approx(model.score(frame))


# -- ties ---------------------------------------------------------------------------------------


def test_a_score_on_a_threshold_does_not_pass_it():
    loss = Hinge(np.array([0, 1, 2]), np.array([1.0, 3.0, 4.0]))
    thresholds = np.array([-1.0, 1.0])
    for noise in (-1e-9, 0.0, 1e-9):
        scores = np.array([-1.0, 1.0, 1.1, -0.9]) + noise
        np.testing.assert_array_equal(loss.ratings(scores, thresholds), [1, 3, 4, 3])


@pytest.mark.parametrize("c", [0.3, 1.0, pytest.param(None, marks=pytest.mark.nightly)])
def test_ties_are_decided_alike_in_every_order(c):
    """Groups that tell nothing of each other: all scores between them lie on the threshold."""
    R = np.full((8, 8), np.nan)
    R[:4, :4] = R[4:, 4:] = np.where(np.add.outer(np.arange(4), np.arange(4)) % 2, 5.0, 1.0)
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        order = np.ix_(rng.permutation(8), rng.permutation(8))
        predicted = np.empty((8, 8))
        model = RatingMMMF(**({} if c is None else {"c": c}), loss="hinge")
        predicted[order] = model.fit(R[order]).predict()
        found.append(predicted)
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    np.testing.assert_array_equal(found[0][np.isnan(R)], 1.0)


def test_thresholds_lie_in_the_middle_of_their_best_places():
    """Below 2 and above 5 by a margin of one: anything from 3 to 4 is as good."""
    loss = Hinge(np.array([0, 0, 1, 1]), np.array([1.0, 2.0]))
    np.testing.assert_allclose(loss.best_shared(np.array([1.0, 2.0, 5.0, 9.0])), [3.5])
    tied = RatingMMMF(1.0, loss="hinge").fit(SMALL)
    assert np.all(np.diff(tied.thresholds_) >= 0.0)


def test_users_who_say_nothing_of_an_item_get_the_level_that_all_agree_on():
    """Two groups that tell nothing of each other: by symmetry scores are those of offsets."""
    nan = np.nan
    R = np.array([[5, 1, nan, 4], [4, 1, 1, nan], [1, nan, 5, 1], [nan, 5, 4, 1]])
    for seed in range(3):
        model = RatingMMMF(1.0, loss="hinge", random_state=seed).fit(R)
        np.testing.assert_array_equal(model.predict()[~np.isnan(R)], R[~np.isnan(R)])


# -- new users ----------------------------------------------------------------------------------


def test_folding_in_is_ridge_regression():
    model = RatingMMMF(0.6, ridge=2.0, tol=1e-6).fit(SMALL)
    new = np.array([[5.0, np.nan, 1.0, np.nan, 4.0, np.nan]])
    seen = ~np.isnan(new[0])
    A = np.column_stack([model.V_[seen], np.ones(seen.sum())])
    price = np.diag([1 / 0.6] * model.V_.shape[1] + [2.0])
    wanted = new[0, seen] - model.mean_ - model.item_offsets_[seen]
    x = np.linalg.solve(A.T @ A + price, A.T @ wanted)
    np.testing.assert_allclose(model.transform(new), x[None, :-1], atol=1e-6)
    scores = model.V_ @ x[:-1] + x[-1] + model.item_offsets_ + model.mean_
    low, high = model.levels_[[0, -1]]
    np.testing.assert_allclose(model.fold_in(new)[0], np.clip(scores, low, high), atol=1e-6)


@pytest.mark.parametrize(
    ("loss", "norm"), [*KINDS[:3], pytest.param(*KINDS[3], marks=pytest.mark.nightly)]
)
def test_users_folded_in_again_are_as_they_were(loss, norm):
    model = RatingMMMF(PRICES[norm], loss=loss, norm=norm).fit(SMALL)
    again = model.fold_in(SMALL)
    assert again.shape == SMALL.shape
    assert np.mean(np.abs(again - model.predict())) < 0.1
    assert model.fold_in([[3, 1, 4.0], [9, 2, 1.0], [3, 2, 1.0]]).shape == (2, 6)


def test_items_that_are_not_known_cannot_be_folded_in():
    model = RatingMMMF(0.6).fit(SMALL)
    with pytest.raises(DataError, match="item 8 was not among the 6 items"):
        model.fold_in([[0, 8, 5.0], [0, 1, 1.0]])
    hinge = RatingMMMF(0.6, loss="hinge").fit(SMALL)
    with pytest.raises(DataError, match=r"rating 7 is none of the levels fitted, 1\.0, 2\.0"):
        hinge.fold_in([[0, 2, 7.0], [0, 1, 1.0]])


def named_ratings(names):
    """SMALL as triples, its items called so."""
    i, k = np.nonzero(~np.isnan(SMALL))
    return pd.DataFrame({"u": i, "m": np.array(names)[k], "r": SMALL[i, k]})


@pytest.mark.parametrize("names", [list("fbdace"), [60, 20, 40, 10, 30, 50], [0, 3, 1, 2, 5, 4]])
def test_new_users_of_a_table_are_those_of_triples(names):
    """By the names of items, in any order and without those not rated; or as in items_."""
    model = RatingMMMF(0.6).fit(named_ratings(names))
    new = pd.DataFrame([[4.0, np.nan, 1.0], [np.nan, 2.0, 3.0]], columns=names[:3])
    triples = [[7, names[0], 4.0], [7, names[2], 1.0], [8, names[1], 2.0], [8, names[2], 3.0]]
    wanted = model.fold_in(pd.DataFrame(triples, columns=["user", "item", "rating"]))
    whole = new.reindex(columns=model.items_)
    for table in (new, new[names[2::-1]], whole, whole.to_numpy(), whole.to_numpy().tolist()):
        np.testing.assert_array_equal(model.fold_in(table), wanted)
    np.testing.assert_array_equal(model.fold_in(sp.csr_array(new.fillna(0.0).reindex(
        columns=model.items_, fill_value=0.0).to_numpy())), wanted)  # fmt: skip


def test_three_items_with_gaps_are_no_triples():
    R = pd.DataFrame({"u": [1, 1, 2, 2, 3, 3], "m": list("abacbc"), "r": [5, 1, 4, 2, 1, 3]})
    table = R.pivot(index="u", columns="m", values="r").set_axis(["x", "y", "z"])
    new = pd.DataFrame([[5, 2, np.nan]], columns=["a", "b", "c"])
    for fitted in (R, table):
        model = RatingMMMF(1.0).fit(fitted)
        wanted = model.fold_in([["new", "a", 5.0], ["new", "b", 2.0]])
        for row in (new, new[["c", "b", "a"]], new.set_axis(["new"])):
            np.testing.assert_array_equal(model.fold_in(row), wanted)
    for fitted in (R, table.to_numpy()):
        found = RatingMMMF(1.0).fit(fitted).fold_in([[5, 2, np.nan]])
        np.testing.assert_array_equal(found, wanted)


def test_tables_of_other_items_are_told_how_items_are_called():
    model = RatingMMMF(0.6).fit(named_ratings(list("fbdace")))
    row = np.array([[4.0, np.nan, 1.0, 2.0]])
    with pytest.raises(ShapeError, match="each of the 6 items fitted, in the order of items_"):
        model.fold_in(row)
    with pytest.raises(DataError, match="'x' are none of the 6 items fitted"):
        model.fold_in(pd.DataFrame(row, columns=list("abdx")))
    with pytest.raises(DataError, match="'w', 'x', 'y', 'z', none of which is called as one of"):
        model.fold_in(pd.DataFrame(row, columns=list("wxyz")))
    with pytest.raises(DataError, match="item 'a' has several columns"):
        model.fold_in(pd.DataFrame(row, columns=list("aabc")))


def test_names_that_are_not_known_are_predicted_from_the_other_side():
    model = RatingMMMF(0.6).fit(SMALL)
    with pytest.warns(UnobservedWarning, match="the users of 1 and the items of 0"):
        found = model.predict([8, 0], [3, 3])
    np.testing.assert_allclose(found[0], np.clip(model.mean_ + model.item_offsets_[3], 1, 4))
    np.testing.assert_allclose(found[1], model.predict()[0, 3])


def test_a_path_that_was_cut_while_errors_fell_is_no_reason_for_a_zero_matrix():
    falling = np.array([1.2, 1.1, 0.9, 0.8])
    for n, best in ((0, prices.RULE), (1, 2.0), (2, 2.0), (4, 2.8)):
        assert (
            prices.Path(np.array([1.0, 1.4, 2.0, 2.8])[:n], falling[:n], is_cut=True).best == best
        )
    assert prices.Path(np.array([1.0, 1.4]), np.array([0.8, 0.9]), is_cut=True).best == 1.0
    assert prices.Path(np.array([1.0]), np.array([0.8])).best == 1.0


# -- cross-validation ---------------------------------------------------------------------------


def test_the_price_of_the_best_score():
    seen, held = ratings(30, 20)
    model = MMMFCV(cv=3).fit(seen)
    assert model.scores_.shape == (len(model.cs_), 3)
    assert model.c_ == model.cs_[np.argmax(model.scores_.mean(axis=1))]
    assert model.best_score_ == model.scores_.mean(axis=1).max()
    assert model.cs_[0] == pytest.approx(RatingMMMF().least_price(seen))
    # None is tried after two that predict no better.
    means = model.scores_.mean(axis=1)
    assert len(means) - int(np.argmax(means)) <= 3
    direct = RatingMMMF(model.c_).fit(seen)
    np.testing.assert_array_equal(model.predict(), direct.predict())
    assert model.score(held) == direct.score(held)
    np.testing.assert_array_equal(model.transform(seen), direct.transform(seen))
    np.testing.assert_array_equal(model.fold_in(seen), direct.fold_in(seen))
    np.testing.assert_array_equal(model.decision_function(), direct.decision_function())


def test_all_searches_go_up_the_same_multiples():
    seen = ratings(12, 9)[0]
    least = RatingMMMF().least_price(seen)
    tried = [RatingMMMF().fit(seen).prices_, MMMFCV(cv=3).fit(seen).cs_]
    n = min(len(each) for each in tried)
    assert n > 3
    np.testing.assert_allclose(tried[0][:n] / least, tried[1][:n] / least)


@pytest.mark.nightly
@pytest.mark.parametrize(("loss", "norm"), KINDS)
def test_a_warm_start_is_one_fit_more_and_no_other_answer(loss, norm):
    seen = ratings(12, 9)[0]
    cold = RatingMMMF(2.0 * PRICES[norm], loss=loss, norm=norm).fit(seen)
    warm = RatingMMMF(PRICES[norm], loss=loss, norm=norm, warm_start=True).fit(seen)
    warm.set_params(c=cold.c).fit(seen)
    assert max(warm.gap_, cold.gap_) <= 1e-2
    assert warm.bound_ <= cold.value_ * (1.0 + 1e-9)
    assert cold.bound_ <= warm.value_ * (1.0 + 1e-9)
    # Of other sizes there is nothing to begin with.
    other = RatingMMMF(cold.c, loss=loss, norm=norm).fit(SMALL)
    assert warm.fit(SMALL).value_ == other.value_


@pytest.mark.parametrize("seed", range(2))
def test_just_above_the_least_price_the_matrix_is_found(seed):
    """Directions that do not pay beside one that does kept descent at zero, 0.8 % off the best."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 60))
    R = np.clip(np.round(3.0 + R + rng.standard_normal(R.shape)), 1.0, 5.0)
    R = np.where(rng.random(R.shape) < 0.2, R, np.nan)
    model = RatingMMMF(1.1 * RatingMMMF().least_price(R), tol=1e-3).fit(R)
    assert model.gap_ <= 1e-3
    assert model.U_.shape[1]
    assert model.n_iter_ <= 5


def test_prices_that_are_given_are_all_tried():
    model = MMMFCV(cs=[4.0, 1.0, 3.0, 2.0, 8.0], cv=2).fit(SMALL)
    np.testing.assert_array_equal(model.cs_, [1.0, 2.0, 3.0, 4.0, 8.0])
    assert model.scores_.shape == (5, 2)


def test_each_entry_is_held_back_once():
    entries = read_entries(SMALL)

    class Recorder(RatingMMMF):
        held: ClassVar = []

        def score(self, X, y=None):
            self.held.append(X.places)
            return 0.0

    model = MMMFCV(Recorder(), cs=[2.0, 1.0], cv=4).fit(entries)
    assert model.c_ == 1.0
    told = np.vstack(Recorder.held[:4])
    np.testing.assert_array_equal(told[np.lexsort(told.T[::-1])], entries.places)


def test_cross_validation_of_signs():
    signs, _ = sdpdr.datasets.partial_signs(20, 15, share=0.6)
    model = MMMFCV(MMMF(tol=1e-2), cs=[0.05, 0.4], cv=2).fit(signs)
    assert model.c_ == 0.4
    assert isinstance(model.estimator_, MMMF)


# -- faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["frame", "named frame", "list", "pairs"])
def test_a_rating_that_is_missing_is_left_out_as_the_error_says(kind):
    rows = [["ann", "up", 5.0], ["bob", "up", 4.0], ["bob", "jaws", np.nan], ["eve", "up", 1.0]]
    names = ["user", "item", "rating"] if kind == "named frame" else ["who", "film", "stars"]
    X = rows if kind == "list" else pd.DataFrame(rows, columns=names)
    y, place = None, {"X": X, "pandas": pd, "numpy": np}
    if kind == "pairs":
        place["X"], place["y"] = X.iloc[:, :2], X["stars"]
        X, y = place["X"], place["y"]
    with pytest.raises(DataError) as told:
        RatingMMMF().fit(X, y)
    if kind == "pairs":
        assert "not finite: 2. Leave" in str(told.value)
        place["known"] = np.isfinite(y)
        X, y = X[place["known"]], y[place["known"]]
    else:
        X = eval(re.search(r"out: (.*\))[.;]", str(told.value))[1], place)
    assert read_entries(with_ratings(X, y)).values.tolist() == [5.0, 4.0, 1.0]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[3.0, np.nan], [np.nan, 3.0]], "take 1 value"),
        (np.full((2, 2), np.nan), "no rating was given"),
        ([[1.0, np.inf]], "infinity"),
        ([["good", "bad"]], "could not convert"),
        ([["ann", "up", "good"], ["bob", "up", "bad"]], "third column of X holds words.*'good'"),
        ([[0, 4, 5.0], [1, 4, 3.0], [0, 4, 5.0]], "user 0 rated item 4 more than once"),
        (pd.DataFrame([["a", "x", 1.0], ["a", "x", 2.0]]), "user a rated item x more than once"),
        ([["ann", "up", "5"], ["bob", "up", "*"]], "holds '\\*' beside numbers.*dropna"),
        ([[1, 2, 3.0], [4, 5, np.nan]], "row 1 of three columns has no third number"),
        (sp.csr_array(([np.nan, 1.0], ([0, 1], [0, 1]))), "NaN"),
        (sp.csr_array((3, 4)), "no rating was given"),
        (sp.csr_array(np.eye(4)).tobsr(), "sparse in blocks"),
    ],
)
def test_ratings_that_are_refused(X, words):
    with pytest.raises(DataError, match=words):
        RatingMMMF().fit(X)


@pytest.mark.parametrize(
    ("parameters", "kind"),
    [
        ({"c": 0.0}, DataError),
        ({"c": np.inf}, DataError),
        ({"ridge": -1.0}, DataError),
        ({"loss": "squares"}, UnknownNameError),
        ({"norm": "nuclear"}, UnknownNameError),
        ({"max_iter": 0}, DataError),
        ({"max_iter": 1.5}, DataTypeError),
    ],
)
def test_parameters_that_are_refused(parameters, kind):
    with pytest.raises(kind):
        RatingMMMF(**parameters).fit(SMALL)


def test_users_without_ratings_are_told_and_have_no_factor():
    seen = ratings(8, 6)[0]
    seen[3] = np.nan
    with pytest.warns(UnobservedWarning, match="1 rows and 0 columns") as told:
        model = RatingMMMF(0.6).fit(seen)
    assert len(told) == 1
    np.testing.assert_array_equal(model.unobserved_rows_, [3])
    np.testing.assert_allclose(model.U_[3], 0.0, atol=1e-6)
    assert model.user_offsets_[3] == 0.0


def test_what_was_not_fitted_or_named():
    with pytest.raises(NotFittedError):
        RatingMMMF().predict()
    with pytest.raises(NotFittedError):
        MMMFCV().predict()
    with pytest.raises(DataError, match="cs holds no price"):
        MMMFCV(cs=[]).fit(SMALL)
    with pytest.raises(DataError, match="cv=1 is too small|cv=1 is out of range"):
        MMMFCV(cv=1).fit(SMALL)
    model = RatingMMMF(0.6).fit(SMALL)
    with pytest.raises(ShapeError, match=r"has shape \(8, 6\); this one has \(6, 8\)"):
        model.score(SMALL.T)
    with pytest.raises(ShapeError, match=r"of shape \(m, 2\)"):
        model.predict([1, 2])


def test_no_time_is_told():
    with pytest.warns(UncertifiedWarning, match="time_limit"):
        model = RatingMMMF(5.0, norm="max", time_limit=0.0).fit(SMALL)
    assert model.bound_ <= model.value_
    assert model.gap_ > model.tol


def test_clones_have_the_parameters_and_nothing_learned():
    model = RatingMMMF(0.6, loss="hinge", tol=0.05)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model.fit(SMALL)), "U_")
    assert clone(MMMFCV(model)).estimator.get_params() == model.get_params()


def test_a_frame_with_named_rows_is_a_table_whose_names_are_kept():
    table = pd.DataFrame(
        [[5.0, 1.0, 4.0], [4.0, 2.0, 5.0], [1.0, 5.0, 2.0], [2.0, 4.0, 1.0]],
        index=["ann", "bob", "cy", "di"],
        columns=["Alien", "Brazil", "Casablanca"],
    )
    learned = sdpdr.RatingMMMF().fit(table)
    assert learned.users_.tolist() == list(table.index)
    assert learned.items_.tolist() == list(table.columns)
    by_name = learned.predict(["ann", "di"], ["Brazil", "Alien"])
    triples = table.stack().reset_index()
    triples.columns = ["user", "item", "rating"]
    named = sdpdr.RatingMMMF().fit(triples)
    np.testing.assert_allclose(by_name, named.predict(["ann", "di"], ["Brazil", "Alien"]))


# -- frames whose columns have names --------------------------------------------------------------


def as_frame(R, names=("userId", "movieId", "rating")):
    """Triples as they come in files, with whole numbers of users and items that are no ranks."""
    i, a = np.nonzero(~np.isnan(R))
    return pd.DataFrame(dict(zip(names, (i + 7, 10 * a + 100, R[i, a].astype(int)), strict=True)))


def pivot(frame):
    return frame.pivot(index="userId", columns="movieId", values="rating")


def times(frame):
    return 881250949 + 17 * np.arange(len(frame))


@pytest.mark.parametrize(
    "names",
    [
        ("userId", "movieId", "rating"),
        ("user_id", "item_id", "Score"),
        ("USER", "Products", "values"),
        ("UserName", "product name", "rating_value"),
    ],
)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_columns_are_taken_by_their_names(names, order):
    frame = as_frame(SMALL, names)
    plain = read_entries(frame.to_numpy())
    named = read_entries(frame[[names[k] for k in order]])
    assert named.places.tolist() == plain.places.tolist()
    assert (named.values == plain.values).all()
    assert (named.users == plain.users).all()
    assert (named.items == plain.items).all()


@pytest.mark.parametrize("names", [("uid", "mid"), ("userId", "film"), ("user", "movieId")])
@pytest.mark.parametrize("stars", [[], ["stars"], ["rating"]])
@pytest.mark.parametrize("known", [True, False])
def test_pairs_in_order_are_predicted_whatever_two_of_them_are_called(names, stars, known):
    frame = as_frame(SMALL, ("uid", "mid", "stars"))
    model = RatingMMMF(1.0).fit(frame)
    asked = frame.set_axis([*names, "rest"], axis=1).rename(columns={"rest": "".join(stars)})
    asked = asked[[*names, *stars]]
    if stars and not known:
        asked = asked.assign(**{stars[0]: np.nan})  # what is to be predicted
    np.testing.assert_array_equal(model.predict(asked), model.predict(frame))


@pytest.mark.parametrize(
    ("more", "column"),
    [(lambda f: f.assign(timestamp=times(f)), "timestamp"), (lambda f: f.reset_index(), "index")],
)
def test_other_columns_are_not_used_and_told(more, column):
    frame = as_frame(SMALL)
    with pytest.warns(UnusedColumnsWarning, match=rf"not used: '{column}'\.") as caught:
        model = RatingMMMF(1.0).fit(more(frame))
    assert caught[0].filename == __file__
    assert model.n_features_in_ == SMALL.shape[1]
    assert model.mean_ == pytest.approx(frame["rating"].mean())
    signs = frame.assign(rating=np.where(frame["rating"] > 2, 1, -1))
    with pytest.warns(UnusedColumnsWarning):
        assert MMMF(0.5).fit(more(signs)).X_.shape == SMALL.shape


def test_names_of_users_may_be_words_beside_other_columns():
    frame = as_frame(SMALL)
    worded = frame.assign(userId="u" + frame["userId"].astype(str), when=times(frame))
    with pytest.warns(UnusedColumnsWarning):
        assert read_entries(worded).users[0] == "u10"


@pytest.mark.parametrize("learner", [RatingMMMF(1.0), MMMF(0.5)])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.rename(columns={"rating": "stars"}).assign(w=1), "which one holds the rat"),
        (lambda f: f.assign(product=1), "items: 'movieId', 'product'"),
        (
            lambda f: f[["userId", "rating", "movieId"]].rename(columns={"movieId": "t"}),
            "the items",
        ),
        (
            lambda f: f.pivot(index="userId", columns="movieId", values="rating").reset_index(),
            "use",
        ),
        (lambda f: f.set_axis(list("abc"), axis=1).assign(d=times(f)), "times in seconds"),
        (lambda f: f.assign(t=times(f)).to_numpy(), "times in seconds"),
        (
            lambda f: f.assign(userId="eve").set_axis(list("abc"), axis=1).assign(d="x", e=2),
            "'eve'",
        ),
        (lambda f: f.assign(rating=f["rating"].where(f.index != 3)), "row 3 .* 'rating'"),
    ],
)
def test_frames_that_could_be_either_are_refused(learner, change, words):
    with pytest.raises(DataError, match=words):
        clone(learner).fit(change(as_frame(SMALL)))


def test_a_pivot_is_a_table():
    frame = as_frame(SMALL)
    assert RatingMMMF(1.0).fit(pivot(frame)).mean_ == pytest.approx(frame["rating"].mean())


def test_gaps_filled_with_zeros_are_told():
    R = np.where(np.arange(SMALL.size).reshape(SMALL.shape) % 2, SMALL, np.nan)
    with pytest.warns(FilledGapsWarning, match="What is not rated is NaN") as caught:
        RatingMMMF(1.0).fit(np.nan_to_num(R))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "R",
    [
        np.where(np.isnan(SMALL), np.nan, SMALL - np.nanmin(SMALL)),  # gaps, and zeros that count
        np.where(np.isnan(SMALL), -1.0, 0.0),  # zero is not the lowest
        np.where(np.arange(SMALL.size).reshape(SMALL.shape) % 3, np.nan_to_num(SMALL, nan=3), 0),
    ],
)
def test_zeros_that_are_ratings_are_not(R, recwarn):
    read_entries(R)
    assert not recwarn


@pytest.mark.parametrize("kind", [RatingMMMF, MMMF])
def test_what_is_scored_is_predicted(kind):
    frame = as_frame(SMALL)
    if kind is MMMF:
        frame["rating"] = np.where(frame["rating"] > 2, 1, -1)
    model = kind(1.0).fit(frame)
    pairs = frame[["userId", "movieId"]]
    expected = model.predict(pairs["userId"], pairs["movieId"])
    swapped = frame[["rating", "movieId", "userId"]]
    for form in (pairs, pairs[["movieId", "userId"]], frame, swapped, frame.to_numpy()):
        assert (model.predict(form) == expected).all()
    y = frame["rating"].to_numpy()
    score = -np.sqrt(np.mean((expected - y) ** 2)) if kind is RatingMMMF else (expected == y).mean()
    assert model.score(frame) == pytest.approx(score)
    assert model.score(pairs[["movieId", "userId"]], y) == pytest.approx(score)


# Seconds each.
@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.nightly) for k in (1, 2))])
def test_prices_are_compared_roughly_and_alike(seed, monkeypatch):
    """Descents that end early name the price of those that go on, and what is fitted is precise."""
    seen = ratings(60, 40, seed)[0]
    rough = RatingMMMF().fit(seen)
    monkeypatch.setattr("sdpdr.families.factor.margin.descent._ROUGH", (1e-7, 10))
    fine = RatingMMMF().fit(seen)
    np.testing.assert_allclose(rough.prices_, fine.prices_)
    np.testing.assert_allclose(rough.errors_, fine.errors_, rtol=5e-3)
    assert rough.c_ == fine.c_
    assert rough.gap_ <= 1e-2


def planted_table(seed, p=30, q=18, share=0.3):
    """Ratings of rank two with gaps: more users and items than the small ones."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(p, 2)) @ rng.normal(size=(2, q))
    R = np.clip(np.round(3 + T + 0.3 * rng.normal(size=(p, q))), 1, 5)
    return np.where(rng.random((p, q)) < share, R, np.nan)


def optimum_of_the_max_norm(R, c, ridge):
    """That of the hinge, by another modeller."""
    cp = pytest.importorskip("cvxpy")
    (p, q), (i, a) = R.shape, np.nonzero(~np.isnan(R))
    levels = np.unique(R[i, a])
    Z, t = cp.Variable((p + q, p + q), PSD=True), cp.Variable()
    b, d, theta = cp.Variable(p), cp.Variable(q), cp.Variable(levels.size - 1)
    scores = Z[i, p + a] + b[i] + d[a]
    loss = 0.5 * ridge * (cp.sum_squares(b) + cp.sum_squares(d))
    for k, level in enumerate(levels[:-1]):
        signs = np.where(R[i, a] > level, 1.0, -1.0)
        loss += cp.sum(cp.pos(1 - cp.multiply(signs, scores - theta[k])))
    return cp.Problem(cp.Minimize(t + c * loss), [cp.diag(Z) <= t]).solve(solver="CLARABEL")


@pytest.mark.parametrize(("seed", "c"), [(0, 1.0), pytest.param(5, 0.3, marks=pytest.mark.nightly)])
def test_a_hinge_with_the_max_norm_is_solved_beyond_few_users(seed, c):
    R = planted_table(seed)
    model = RatingMMMF(c=c, norm="max", loss="hinge").fit(R)
    best = optimum_of_the_max_norm(R, c, model.ridge)
    assert model.gap_ <= model.tol
    assert model.bound_ <= best * (1 + 1e-6) <= model.value_ * (1 + 2e-6)


def test_a_hinge_with_the_max_norm_that_has_no_time_is_told_how_much_it_takes():
    R = planted_table(5)
    with pytest.warns(UncertifiedWarning, match=r"With time_limit=\d+ or more .* interior"):
        RatingMMMF(c=1.0, norm="max", loss="hinge", time_limit=0.1).fit(R)
