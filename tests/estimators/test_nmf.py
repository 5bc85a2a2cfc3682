"""Non-negative matrix factorization beside scikit-learn's."""

import numpy as np
import pytest
import sklearn
from sklearn.decomposition import NMF as Theirs
from sklearn.exceptions import ConvergenceWarning

import sdpdr
from sdpdr.datasets import random_nonnegative
from sdpdr.errors import DataError, ShapeError, UnknownNameError
from sdpdr.iterate import IterationStatus

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.3]])
EXACT, _ = random_nonnegative(8, 6, rank=2, seed=0)


def test_what_can_be_factored_is_factored():
    model = sdpdr.NMF(2)
    W = model.fit_transform(EXACT)
    assert model.status_ is IterationStatus.RANK_REACHED
    assert min(W.min(), model.components_.min()) >= 0.0
    np.testing.assert_allclose(model.inverse_transform(W), EXACT, atol=1e-10)
    np.testing.assert_allclose(model.transform(EXACT), W, atol=1e-10)
    assert model.reconstruction_err_ < 1e-10
    assert model.bound_ <= model.reconstruction_err_


def test_the_example_of_the_thesis_is_optimal_and_proved_so():
    model = sdpdr.NMF(2, max_iter=10_000).fit(V3)
    tail = np.linalg.svd(V3)[1][2]
    assert model.reconstruction_err_ == pytest.approx(tail, rel=1e-6)
    assert model.reconstruction_err_ / np.linalg.norm(V3) == pytest.approx(0.030549, abs=5e-7)
    assert model.bound_ == pytest.approx(tail, rel=1e-9)
    assert model.gap_ < 1e-5
    assert model.status_ is IterationStatus.SETTLED
    assert "singular values" in model.argument_


def test_a_rank_below_the_components_is_no_trouble():
    """Where scikit-learn's own factors are not numbers."""
    X, _ = random_nonnegative(5, 5, rank=3, density=0.5, seed=110)
    assert np.linalg.matrix_rank(X) == 1
    model = sdpdr.NMF(3).fit(X)
    assert model.status_ is IterationStatus.RANK_REACHED
    assert np.all(np.isfinite(model.components_))


def test_it_is_never_worse_than_scikit_learns():
    for seed in range(2):
        X = np.random.default_rng(seed).random((25, 12))
        theirs = Theirs(3, init="nndsvda", tol=1e-8, max_iter=1000).fit(X)
        ours = sdpdr.NMF(3).fit(X)
        assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1.0 + 1e-9)
        assert 0.0 < ours.bound_ <= ours.reconstruction_err_
        assert 0.0 < ours.gap_ < 1.0


def refuse(*args, **options):
    raise AssertionError("polished")


def test_noise_is_not_polished(monkeypatch):
    """A polish takes longer than the descent, and gains nothing there."""
    monkeypatch.setattr("sdpdr.families.factor.nonnegative.search.fit_factors", refuse)
    X = np.random.default_rng(0).random((20, 15))
    full = sdpdr.NMF(2).fit(X).reconstruction_err_
    theirs = Theirs(2, init="nndsvda", max_iter=1000).fit(X)
    assert full <= theirs.reconstruction_err_ * (1.0 + 1e-9)


def test_all_starts_go_to_the_end_where_an_exact_factorization_may_be_near():
    """The first of this matrix ends in a local minimum."""
    X, _ = random_nonnegative(12, 12, rank=6, density=0.3, seed=7)
    assert sdpdr.NMF(6, starts=1).fit(X).status_ is IterationStatus.SETTLED
    assert sdpdr.NMF(6, starts=20).fit(X).status_ is IterationStatus.RANK_REACHED


def test_a_closer_bound_may_be_asked_for(monkeypatch):
    asked = []

    def bound(X, W, H, *, method):
        asked.append(method)
        return sdpdr.nmf_bound(X, W, H, method="eckart_young")

    monkeypatch.setattr("sdpdr.families.factor.nmf.estimator.nmf_bound", bound)
    sdpdr.NMF(2, bound="overlap").fit(V3)
    assert asked == ["overlap"]


def test_new_rows_are_fitted_without_negative_weights():
    model = sdpdr.NMF(2).fit(EXACT)
    new = np.array([[2.0, 0.5], [0.0, 1.0]]) @ model.components_
    np.testing.assert_allclose(model.transform(new), [[2.0, 0.5], [0.0, 1.0]], atol=1e-9)
    assert model.transform(-EXACT).max() == 0.0


def test_wrong_arguments_are_named():
    for options, X, error, words in [
        ({"n_components": 4}, V3, DataError, "out of range"),
        ({"starts": 0}, V3, DataError, "starts"),
        ({}, -V3, DataError, "Negative values in data"),
        ({}, np.where(V3 > 0.5, np.nan, V3), ValueError, "NaN"),
        ({"bound": "best"}, V3, UnknownNameError, "eckart_young"),
    ]:
        with pytest.raises(error, match=words):
            sdpdr.NMF(**options).fit(X)


def test_products_of_another_width_are_refused():
    model = sdpdr.NMF(2).fit(V3)
    with pytest.raises(ShapeError, match="2 columns"):
        model.inverse_transform(np.ones((3, 3)))


@pytest.mark.parametrize("size", [1e-170, 1e155])
@pytest.mark.parametrize("learner", [sdpdr.NMF(), sdpdr.PolynomialFactorization(1)])
def test_entries_whose_squares_are_no_numbers_are_refused(learner, size):
    with pytest.raises(DataError, match=r"the largest entry of X is .* Rescale X"):
        learner.fit(size * np.ones((3, 5)))


@pytest.mark.parametrize("frames", ["pandas", "default"])
def test_answers_do_not_depend_on_the_output_of_transformers(frames):
    """Estimators call functions inside, since transformers may answer with data frames."""
    plain = sdpdr.NMF(2).fit(EXACT)
    with sklearn.config_context(transform_output=frames):
        model = sdpdr.NMF(2).fit(EXACT)
        W = model.transform(EXACT)
        np.testing.assert_array_equal(model.components_, plain.components_)
        np.testing.assert_array_equal(W, plain.transform(EXACT))
        iso = sdpdr.IsoNMF(2, max_iter=2)
        with pytest.warns(ConvergenceWarning):
            assert iso.fit_transform(EXACT).shape == (8, 2)
        rows = sdpdr.CompletelyPositive(2).fit_transform(EXACT @ EXACT.T)
        assert rows.shape == (8, 2)
    assert hasattr(W, "columns") == (frames == "pandas")
