"""The estimators of signs and ratings: what they learn, say, and refuse.

scikit-learn's own checks pass tables of arbitrary numbers and expect rows to be independent
samples. Here X is one matrix of signs whose rows explain each other, so they do not apply; cloning
and parameters are tested below.
"""

import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sdpdr import MMMF, MMMFCV, RatingMMMF
from sdpdr.errors import (
    DataError,
    DataTypeError,
    ShapeError,
    UncertifiedWarning,
    UnobservedWarning,
    WeakSeparationWarning,
)

Y3 = np.array([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]])


def planted(p=40, q=25, share=0.5, seed=0):
    """Signs of a matrix of rank two, those observed and those held back."""
    rng = np.random.default_rng(seed)
    Y = np.sign(rng.standard_normal((p, 2)) @ rng.standard_normal((2, q)))
    seen = rng.random((p, q)) < share
    return np.where(seen, Y, 0.0), np.where(seen, 0.0, Y)


def test_what_is_learned_has_a_bound_below_its_value_and_factors_of_its_matrix():
    model = MMMF(c=0.5).fit(Y3)
    assert model.value_ == pytest.approx(2.0 * np.sqrt(3.0), rel=1e-6)
    assert 0.0 <= model.gap_ <= 1e-6
    np.testing.assert_allclose(model.X_, model.U_ @ model.V_.T)
    assert model.bound_ <= model.value_
    assert model.Q_.shape == model.slack_.shape == Y3.shape
    assert model.Q_.nnz <= 9
    assert model.Q_.toarray().max() <= 0.5
    np.testing.assert_allclose(model.slack_.toarray(), 0.0, atol=1e-4)
    assert model.n_features_in_ == 4
    assert model.n_iter_ == model.factorization_.iterations
    assert model.unobserved_rows_.size == model.unobserved_columns_.size == 0


def test_parameters_and_clones():
    model = MMMF(c=2.0, norm="max", tol=1e-3)
    assert clone(model).get_params() == model.get_params()
    fitted = model.fit(Y3)
    assert fitted is model
    assert not hasattr(clone(model), "X_")


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_signs_held_back_are_predicted(norm):
    seen, held = planted()
    model = MMMF(c=0.3, norm=norm, tol=1e-2).fit(seen)
    assert model.score(seen) > 0.98
    assert model.score(held) > 0.85
    assert model.score(held) == np.mean(model.predict(np.argwhere(held)) == held[held != 0])


def test_predictions_at_pairs():
    model = MMMF(c=0.5).fit(Y3)
    whole = model.predict()
    assert whole.dtype.kind == "i"
    pairs = [[2, 3], [0, 0]]
    np.testing.assert_array_equal(model.predict(pairs), [whole[2, 3], whole[0, 0]])
    np.testing.assert_array_equal(model.predict([2, 0], [3, 0]), model.predict(pairs))
    np.testing.assert_allclose(model.decision_function(pairs), model.X_[[2, 0], [3, 0]])
    model.decision_function()[:] = 7.0
    assert not np.any(model.X_ == 7.0)


@pytest.mark.parametrize("X", [Y3.astype(float), sp.csr_array(Y3), np.where(Y3, Y3, np.nan)])
def test_kinds_of_input(X):
    model = MMMF(c=0.5).fit(X)
    np.testing.assert_allclose(model.X_, MMMF(c=0.5).fit(Y3).X_, atol=1e-12)
    assert model.score(X) == 1.0


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_rows_and_columns_without_observations(norm):
    X = np.zeros((5, 6))
    X[1:4, :4] = Y3
    with pytest.warns(UnobservedWarning, match="2 rows and 2 columns"):
        model = MMMF(c=0.5, norm=norm).fit(X)
    np.testing.assert_array_equal(model.unobserved_rows_, [0, 4])
    np.testing.assert_array_equal(model.unobserved_columns_, [4, 5])
    assert not model.X_[[0, 4]].any()
    assert not model.predict()[:, [4, 5]].any()
    np.testing.assert_array_equal(model.predict()[1:4, :4] * Y3, np.abs(Y3))


def test_slack_that_is_too_cheap():
    with pytest.warns(WeakSeparationWarning, match="Raise c"):
        model = MMMF(c=0.3).fit(Y3)
    assert not model.X_.any()
    assert not model.predict().any()
    assert model.value_ == pytest.approx(2.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MMMF(c=0.4).fit(Y3)


def test_too_few_steps():
    with pytest.warns(UncertifiedWarning):
        model = MMMF(c=0.3, max_iter=5).fit(planted()[0])
    assert model.gap_ > 1e-6
    assert model.n_iter_ == 5


def test_another_solver_finds_the_same_value():
    seen, _ = planted(10, 8)
    direct = MMMF(c=0.3).fit(seen)
    other = MMMF(c=0.3, solver="clarabel").fit(seen)
    assert other.value_ == pytest.approx(direct.value_, rel=3e-6)
    assert other.gap_ <= 1e-6


def test_what_is_refused():
    with pytest.raises(NotFittedError):
        MMMF().predict()
    with pytest.raises(DataError, match="no sign"):
        MMMF().fit([[1, 2], [3, 4]])
    model = MMMF(c=0.5).fit(Y3)
    with pytest.raises(DataError, match="user 0.5 was not in the fit"):
        model.predict([[0.5, 1.0]])
    with pytest.raises(ShapeError, match=r"of shape \(m, 2\)"):
        model.predict([1, 2])
    with pytest.raises(ShapeError, match="2 users and 1 items are no pairs"):
        model.predict([1, 2], [0])
    with pytest.raises(DataError, match="user 3 was not in the fit"):
        model.predict([[0, 0], [3, 0]])
    with pytest.raises(DataError, match="item -1 was not in the fit"):
        model.predict([[0, -1]])
    with pytest.raises(ShapeError, match=r"has shape \(3, 4\); this one has \(4, 3\)"):
        model.score(Y3.T)


def test_triples_are_the_matrix():
    names = np.array(["ann", "bob", "eve"])
    i, a = np.nonzero(Y3)
    order = np.random.default_rng(0).permutation(i.size)
    triples = pd.DataFrame({"u": names[i], "v": a + 10, "s": Y3[i, a]}).iloc[order]
    model = MMMF(c=0.5).fit(triples)
    np.testing.assert_array_equal(model.users_, names)
    np.testing.assert_allclose(model.X_, MMMF(c=0.5).fit(Y3).X_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(["eve", "ann"], [10, 12]), [-1, -1])
    assert model.score(triples) == 1.0
    with pytest.raises(DataError, match="user zoe was not in the fit"):
        model.predict(["zoe"], [10])


def named(Y):
    """A frame whose rows and columns have names, in no order."""
    p, q = Y.shape
    return pd.DataFrame(Y, [f"u{7 * k % p}" for k in range(p)], [f"i{5 * k % q}" for k in range(q)])


@pytest.mark.parametrize(
    "learner", [MMMF(c=0.5), MMMFCV(MMMF(tol=1e-3), cs=[0.5], cv=2)], ids=["fit", "search"]
)
def test_names_of_a_frame_are_kept_in_any_order(learner):
    Y, _ = planted(20, 12)
    frame = named(Y)
    model = clone(learner).fit(frame)
    fitted = getattr(model, "estimator_", model)
    np.testing.assert_array_equal(fitted.users_, frame.index)
    np.testing.assert_array_equal(fitted.items_, frame.columns)
    np.testing.assert_allclose(model.decision_function(), clone(learner).fit(Y).decision_function())
    whole, flips = model.predict(), frame * np.where(np.arange(12) < 4, -1.0, 1.0)
    share = np.mean((whole == flips.to_numpy())[Y != 0])
    assert 0.5 < share < 0.9
    for same in (
        flips,
        flips[flips.columns[::-1]],
        flips.iloc[::-1],
        flips.sample(frac=1.0, random_state=0),
    ):
        assert model.score(same) == pytest.approx(share)
    pairs = [(frame.index[3], frame.columns[2]), (frame.index[0], frame.columns[1])]
    np.testing.assert_array_equal(model.predict(pairs), whole[[3, 0], [2, 1]])
    np.testing.assert_array_equal(model.fold_in(frame), model.fold_in(frame.iloc[:, ::-1]))
    with pytest.warns(UserWarning, match="feature names"):
        assert model.score(flips.to_numpy()) == pytest.approx(share)
    with pytest.raises(DataError, match="user zoe was not in the fit"):
        model.score(frame.rename(index={frame.index[0]: "zoe"}))


def test_columns_of_a_frame_without_names_of_rows_are_compared():
    Y, _ = planted(20, 12)
    frame = named(Y).reset_index(drop=True)
    model = MMMF(c=0.5).fit(frame)
    np.testing.assert_array_equal(model.items_, np.arange(12))
    assert model.score(frame) == MMMF(c=0.5).fit(Y).score(Y)
    with pytest.raises(ShapeError, match="same order"):
        model.score(frame[frame.columns[::-1]])


@pytest.mark.parametrize(
    "learner", [MMMF(c=0.5), RatingMMMF(c=0.5), MMMFCV(RatingMMMF(), cs=[0.5], cv=2)]
)
def test_a_frame_without_names_of_rows_is_not_scored_in_another_order(learner):
    """It was taken for another matrix without a word."""
    Y, _ = planted(20, 12)
    frame = pd.DataFrame(np.where(Y == 0, np.nan, Y), columns=[f"i{k}" for k in range(12)])
    model = clone(learner).fit(frame)
    known = model.score(frame)
    for other in (frame.iloc[::-1], frame.sample(frac=1.0, random_state=0)):
        with pytest.raises(ShapeError, match="stand in another order"):
            model.score(other)
        assert model.score(other.loc[frame.index]) == known
    with pytest.raises(ShapeError, match="names"):
        model.score(frame[frame.columns[::-1]])
    # Other numbers than those of the fit say nothing of places.
    assert model.score(frame.set_axis(np.arange(20, 40))) == known


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_descent_on_factors_agrees_with_the_splitting(norm):
    seen, _ = planted(12, 9)
    slow = MMMF(c=0.3, norm=norm, tol=1e-4).fit(seen)
    quick = MMMF(c=0.3, norm=norm, solver="factors", tol=2e-2).fit(seen)
    assert quick.gap_ <= 2e-2
    assert quick.value_ >= slow.bound_
    assert quick.bound_ <= slow.value_
    assert quick.value_ == pytest.approx(slow.value_, rel=2.1e-2)


@pytest.mark.parametrize("solver", ["splitting", "factors"])
def test_no_time_is_told(solver):
    with pytest.warns(UncertifiedWarning):
        model = MMMF(c=0.3, solver=solver, time_limit=0.0).fit(planted()[0])
    assert model.n_iter_ in (1, 10)
    assert model.bound_ <= model.value_


def test_factors_need_a_price():
    with pytest.raises(DataError, match="finite price"):
        MMMF(c=np.inf, solver="factors").fit(Y3)


# -- new users ----------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["trace", "max"])
def test_users_folded_in_again_are_as_they_were(norm):
    Y, _ = planted(20, 12)
    model = MMMF(c=0.3, norm=norm, tol=1e-5).fit(Y)
    new = model._folded(Y)
    values = new.U @ new.V.T
    i, a = np.nonzero(Y)
    before = np.maximum(0.0, 1.0 - Y[i, a] * model.X_[i, a]).sum()
    after = np.maximum(0.0, 1.0 - Y[i, a] * values[i, a]).sum()
    assert after == pytest.approx(before, rel=0.02, abs=0.02)
    if norm == "trace":
        # The longest row of the max-norm leaves others room, and what was not observed free.
        clear = np.abs(model.X_) > 0.05
        np.testing.assert_array_equal(model.fold_in(Y)[clear], model.predict()[clear])


def test_a_user_is_a_support_vector_machine_on_items():
    """Half the squared length plus the hinge, by cvxpy."""
    Y, _ = planted(20, 12)
    model = MMMF(c=0.3, tol=1e-6).fit(Y)
    new = np.array([[1, 0, -1, 1, 0, 0, 1, 0, -1, 0, 0, 0]])
    V, seen = model._completion().V, np.flatnonzero(new[0])
    u = cp.Variable(V.shape[1])
    loss = cp.sum(cp.pos(1 - cp.multiply(new[0, seen], V[seen] @ u)))
    best = cp.Problem(cp.Minimize(cp.sum_squares(u) / 2 + 0.3 * loss)).solve(solver="CLARABEL")
    found = model._folded(new).U[0]
    slack = np.maximum(0.0, 1.0 - new[0, seen] * (V[seen] @ found)).sum()
    assert 0.5 * found @ found + 0.3 * slack == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("ridge", [np.inf, 5.0])
def test_scores_of_new_users_are_near_the_least_and_ties_no_finer(ridge):
    Y, other = planted(20, 12)
    model = MMMF(c=2.0, ridge=ridge, tol=1e-4).fit(Y)
    at, seen = model._completion(), other[0] != 0
    u, b = cp.Variable(at.V.shape[1]), cp.Variable() if np.isfinite(ridge) else 0.0
    scores = at.V @ u + b + at.columns
    loss = cp.sum(cp.pos(1 - cp.multiply(other[0, seen], scores[seen])))
    offset = ridge / 2 * cp.square(b) if np.isfinite(ridge) else 0.0
    least = cp.Minimize(cp.sum_squares(u) / 2 + 2.0 * (loss + offset))
    cp.Problem(least).solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    new = model._folded(other[:1])
    found = (new.U @ new.V.T + new.rows[:, None] + new.columns)[0]
    np.testing.assert_allclose(found, scores.value, atol=2e-4)
    np.testing.assert_array_equal(model._signs_of(np.array([-3e-4, 1e-4]), 2e-4), [-1, 0])


def test_new_users_come_as_triples_and_by_cross_validation_too():
    Y, _ = planted(20, 12)
    i, a = np.nonzero(Y)
    names = np.array([f"item{k:02d}" for k in range(12)])
    model = MMMF(c=0.3, tol=1e-3).fit(pd.DataFrame({0: i, 1: names[a], 2: Y[i, a]}))
    row = Y[:1]
    seen = np.flatnonzero(row[0])
    new = pd.DataFrame({0: ["z"] * seen.size, 1: names[seen], 2: row[0, seen]})
    plain = MMMF(c=0.3, tol=1e-3).fit(Y)
    np.testing.assert_array_equal(model.fold_in(new), plain.fold_in(row))
    table = pd.DataFrame(row, columns=names)
    for same in (table, table[names[::-1]], table[names[seen]], row):
        np.testing.assert_array_equal(model.fold_in(same), plain.fold_in(row))
    assert np.any(plain.fold_in(row))
    searched = MMMFCV(MMMF(tol=1e-3), cs=[0.3], cv=2).fit(Y)
    np.testing.assert_array_equal(searched.fold_in(row), plain.fold_in(row))


def test_new_users_who_cannot_be_folded_in():
    with pytest.raises(NotFittedError):
        MMMF().fold_in(Y3)
    model = MMMF(c=0.5).fit(Y3)
    with pytest.raises(DataError, match="item 9 was not among the 4 items fitted"):
        model.fold_in([[5, 9, 1], [5, 1, -1]])
    with pytest.raises(ShapeError):
        model.fold_in(Y3[:, :3])
    with pytest.raises(DataError, match="finite price"):
        MMMF(c=np.inf).fit(Y3).fold_in(Y3)


@pytest.mark.parametrize("learner", [MMMF, RatingMMMF, MMMFCV])
def test_words_in_place_of_signs_are_refused_with_what_to_do(learner):
    pairs, words = [("ann", "up"), ("ann", "jaws"), ("bob", "up")], ["like", "dislike", "like"]
    with pytest.raises(DataError, match="y holds words, such as 'like'.* pass 1 and -1"):
        learner().fit(pairs, words)
    with pytest.raises(DataError, match="third column of X holds words.* pass 1 and -1"):
        learner().fit([(*pair, word) for pair, word in zip(pairs, words, strict=True)])
    with pytest.raises(DataTypeError, match="^y: "):
        learner().fit(pairs, [1j, 1.0, -1.0])
