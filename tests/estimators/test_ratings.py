"""Completed ratings: the program by cvxpy, bounds, kinds of input, refusals."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from sdpdr import RatingMMMF
from sdpdr.errors import (
    DataError,
    SdpdrError,
    ShapeError,
    UncertifiedWarning,
    UnobservedWarning,
    WeakSeparationWarning,
)
from sdpdr.families.factor.mmmf.entries import read_ratings
from sdpdr.families.factor.mmmf.program import SquaredProgram

PENALTY = 0.6


def ratings(p=40, q=25, seed=0):
    """Levels 1 to 5 of a matrix of rank two, those observed and those held back."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((p, 2)) @ rng.standard_normal((2, q))
    R = np.digitize(R, [-1.5, -0.4, 0.4, 1.5]) + 1.0
    seen = rng.random((p, q)) < 0.6
    return np.where(seen, R, np.nan), np.where(seen, np.nan, R)


SMALL = ratings(8, 6)[0]
PAIRS = np.argwhere(~np.isnan(SMALL))
VALUES = SMALL[tuple(PAIRS.T)]


def optimum(R, c, ridge):
    """The same program, by cvxpy."""
    p, q = R.shape
    seen = ~np.isnan(R)
    i, a = np.nonzero(seen)
    Z = cp.Variable((p + q, p + q), PSD=True)
    b, d = cp.Variable(p), cp.Variable(q)
    scores = Z[i, p + a] + b[i] + d[a]
    missed = cp.sum_squares(R[seen] - R[seen].mean() - scores) / 2
    offsets = ridge / 2 * (cp.sum_squares(b) + cp.sum_squares(d))
    objective = cp.trace(Z) / 2 + c * (missed + offsets)
    return cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")


# -- oracles and laws ---------------------------------------------------------------------------


def test_value_and_bound_enclose_the_optimum_and_are_those_of_predictions():
    model = RatingMMMF(PENALTY, ridge=2.0, tol=1e-6).fit(SMALL)
    best = optimum(SMALL, PENALTY, 2.0)
    assert model.U_.shape[1] > 0
    assert model.bound_ <= best * (1 + 1e-6)
    assert model.value_ >= best * (1 - 1e-6)
    assert 0.0 <= model.gap_ <= 1e-6
    seen = ~np.isnan(SMALL)
    scores, R = model.decision_function()[seen], SMALL[seen]
    missed = 0.5 * np.sum((R - R.mean() - scores) ** 2)
    squares = np.sum(model.user_offsets_**2) + np.sum(model.item_offsets_**2)
    size = np.linalg.svd(model.U_ @ model.V_.T, compute_uv=False).sum()
    value = size + PENALTY * (missed + squares)
    assert model.bound_ <= value <= model.value_ * (1 + 1e-9)
    # Any multipliers prove bounds.
    rng, entries = np.random.default_rng(1), read_ratings(SMALL)
    program = SquaredProgram(entries, PENALTY, 2.0)
    for _ in range(5):
        multipliers = program.targets + rng.standard_normal(entries.values.size)
        assert 0.0 < program.bound(multipliers) <= best * (1 + 1e-6)


def test_ratings_held_back_are_predicted():
    seen, held = ratings()
    there = ~np.isnan(held)
    dull = np.sqrt(np.mean((held[there] - np.nanmean(seen)) ** 2))
    for options in ({"c": 0.3}, {}):
        model = RatingMMMF(**options).fit(seen)
        assert model.score(held) > -0.6 * dull
        missed = model.predict()[there] - held[there]
        assert model.score(held) == pytest.approx(-np.sqrt(np.mean(missed**2)))


def test_below_the_least_penalty_the_matrix_is_zero():
    least = RatingMMMF().least_penalty(SMALL)
    with pytest.warns(WeakSeparationWarning, match="Raise c"):
        assert RatingMMMF(0.95 * least, tol=1e-4).fit(SMALL).U_.shape[1] == 0
    assert RatingMMMF(1.3 * least, tol=1e-4).fit(SMALL).U_.shape[1] > 0


def test_just_above_the_least_penalty_the_matrix_is_found():
    """A search that adds columns to a factor can end at zero here, 0.8 % off the best."""
    rng = np.random.default_rng(0)
    R = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 60))
    R = np.clip(np.round(3.0 + R + rng.standard_normal(R.shape)), 1.0, 5.0)
    R = np.where(rng.random(R.shape) < 0.2, R, np.nan)
    model = RatingMMMF(1.1 * RatingMMMF().least_penalty(R), tol=1e-3).fit(R)
    assert model.gap_ <= 1e-3
    assert model.U_.shape[1]


def test_the_default_penalty_follows_the_unit_of_ratings():
    model, other = RatingMMMF().fit(SMALL), RatingMMMF().fit(8.0 * SMALL + 16.0)
    assert model.c_ == pytest.approx(3.0 * model.least_penalty(SMALL))
    assert other.c_ == pytest.approx(model.c_ / 8.0, rel=1e-6)
    np.testing.assert_allclose(other.predict(), 8.0 * model.predict() + 16.0, atol=0.05)


# -- kinds of input -------------------------------------------------------------------------------


def test_tables_sparse_arrays_and_pairs_agree():
    dense = RatingMMMF(0.6).fit(SMALL)
    order = np.random.default_rng(3).permutation(len(PAIRS))
    sparse = sp.coo_array((VALUES, tuple(PAIRS.T)), shape=SMALL.shape)
    table = pd.DataFrame(SMALL, columns=list("abcdef"))
    for given in ((sparse,), (table,), (PAIRS[order], VALUES[order]), (PAIRS.tolist(), VALUES)):
        found = RatingMMMF(0.6).fit(*given)
        np.testing.assert_array_equal(found.predict(), dense.predict())
        assert found.score(*given) == pytest.approx(dense.score(SMALL))
        assert found.n_features_in_ == 6
    np.testing.assert_array_equal(dense.predict([(2, 2)]), dense.predict()[2, 2])
    with pytest.raises(DataError, match="names"):
        RatingMMMF(0.6).fit(table).score(table[table.columns[::-1]])


def test_a_frame_with_a_rating_in_each_row_is_a_table_of_pandas():
    names = np.array(list("hgfedcba"))[PAIRS[:, 0]]
    frame = pd.DataFrame({"user": names, "item": PAIRS[:, 1] + 7, "rating": VALUES, "t": 1})
    table = frame.pivot(index="user", columns="item", values="rating")
    model, plain = RatingMMMF(0.6).fit(table), RatingMMMF(0.6).fit(SMALL[::-1])
    np.testing.assert_array_equal(model.predict(), plain.predict())


def test_stored_zeros_are_ratings_and_two_items_with_missing_ratings_are_a_table():
    X = sp.csr_array(([0.0, 2.0, 2.0], ([0, 0, 1], [0, 1, 0])), shape=(2, 2))
    assert RatingMMMF(1.0).fit(X).mean_ == pytest.approx(4.0 / 3.0)
    X = np.array([[5.0, np.nan], [np.nan, 3.0], [4.0, 2.0], [1.0, 4.0]])
    for table in (X, np.nan_to_num(X, nan=2.5)):
        assert RatingMMMF(2.0).fit(table, [1.0, 2.0, 3.0, 4.0]).predict().shape == (4, 2)


def test_unknown_positions_are_predicted_from_the_other_side():
    model = RatingMMMF(0.6).fit(SMALL)
    with pytest.warns(UnobservedWarning, match="the users of 1 and the items of 0"):
        found = model.predict([(8, 3), (0, 3)])
    np.testing.assert_allclose(found[0], np.clip(model.mean_ + model.item_offsets_[3], 1, 4))
    np.testing.assert_allclose(found[1], model.predict()[0, 3])


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[3.0, np.nan], [np.nan, 3.0]], None, "take 1 value"),
        (np.full((2, 2), np.nan), None, "no rating was given"),
        ([[1.0, np.inf]], None, "infinity"),
        ([["good", "bad"]], None, "could not convert"),
        (sp.csr_array(([np.nan, 1.0], ([0, 1], [0, 1]))), None, "NaN"),
        (sp.csr_array((3, 4)), None, "no rating was given"),
        (sp.csr_array(np.eye(4)).tobsr(), None, "sparse in blocks"),
        ([[0, 4], [1, 4], [0, 4]], [5, 3, 5], "user 0 and item 4 occur more than once"),
        ([["ann", "up"], ["bob", "up"]], [5, 4], "could not convert"),
        ([[0, 1], [1, 1]], [5, np.nan], r"not finite: 1\. Leave"),
        ([[0, 1], [1, 1]], ["good", "bad"], "y: could not convert"),
    ],
)
def test_ratings_that_are_refused(X, y, words):
    with pytest.raises(DataError, match=words):
        RatingMMMF().fit(X, y)


def test_parameters_and_uses_that_are_refused():
    for parameters in ({"c": np.inf}, {"ridge": -1.0}, {"max_iter": 0}):
        with pytest.raises(SdpdrError, match=next(iter(parameters))):
            RatingMMMF(**parameters).fit(SMALL)
    with pytest.raises(ShapeError, match="one value each"):
        RatingMMMF(0.6).fit(SMALL).score(PAIRS, VALUES[:-1])


def test_no_time_is_reported():
    with pytest.warns(UncertifiedWarning, match="time_limit"):
        model = RatingMMMF(5.0, time_limit=0.0).fit(SMALL)
    assert model.bound_ <= model.value_
    assert model.gap_ > model.tol
