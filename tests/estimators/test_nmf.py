"""Non-negative matrix factorization beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import NMF as Theirs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr.datasets import random_nonnegative
from sdpdr.errors import DataError, ShapeError, UnknownNameError
from sdpdr.families.factor.nmf.starts import Starts
from sdpdr.iterate import IterationStatus
from sdpdr.nonnegative import polish_factors

V3 = np.array([[0.45, 0.434, 0.35], [0.70, 0.64, 0.43], [0.22, 0.01, 0.3]])
EXACT, _ = random_nonnegative(8, 6, rank=2, seed=0)


@parametrize_with_checks([sdpdr.NMF(solver="scikit-learn", starts=1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.nightly
@parametrize_with_checks(
    [sdpdr.NMF(starts=2), sdpdr.NMF(solver="lift", starts=1, options={"max_iter": 1})]
)
def test_scikit_learn_checks_where_programs_start(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", ["auto", "lift", "polish", "scikit-learn"])
def test_every_solver_factors_what_can_be_factored(solver):
    model = sdpdr.NMF(2, solver=solver)
    W = model.fit_transform(EXACT)
    assert model.status_ is IterationStatus.RANK_REACHED
    assert min(W.min(), model.components_.min()) >= 0.0
    np.testing.assert_allclose(model.inverse_transform(W), EXACT, atol=1e-10)
    np.testing.assert_allclose(model.transform(EXACT), W, atol=1e-10)
    assert model.reconstruction_err_ < 1e-10
    assert model.bound_ <= model.reconstruction_err_


@pytest.mark.parametrize("solver", ["polish", "scikit-learn"])
def test_the_example_of_the_thesis_is_optimal_and_proved_so(solver):
    model = sdpdr.NMF(2, solver=solver, max_iter=10_000).fit(V3)
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
    for seed in range(3):
        X = np.random.default_rng(seed).random((25, 12))
        theirs = Theirs(3, init="nndsvda", tol=1e-8, max_iter=1000).fit(X)
        ours = sdpdr.NMF(3).fit(X)
        assert ours.factorization_ is None
        assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1.0 + 1e-9)
        assert 0.0 < ours.bound_ <= ours.reconstruction_err_
        assert 0.0 < ours.gap_ < 1.0


def refuse(*args, **options):
    raise AssertionError("polished")


def test_noise_is_not_polished(monkeypatch):
    """Its steps are dense systems of the order of both factors, and gain nothing there."""
    monkeypatch.setattr("sdpdr.families.factor.nmf.starts.polish_factors", refuse)
    X = np.random.default_rng(0).random((40, 30))
    full = sdpdr.NMF(2).fit(X).reconstruction_err_
    theirs = Theirs(2, init="nndsvda", max_iter=1000).fit(X)
    assert full <= theirs.reconstruction_err_ * (1.0 + 1e-9)
    X[::4, ::3] = np.nan
    assert 0.0 < sdpdr.NMF(2).fit(X).reconstruction_err_ < full


def test_the_polish_gives_up_where_nothing_exact_is_near():
    rng = np.random.default_rng(0)
    W, H = rng.random((15, 2)), rng.random((2, 12))
    noisy = W @ H * (1.0 + 0.005 * rng.standard_normal((15, 12)))
    patient, quick = (polish_factors(noisy, W, H, idle=idle) for idle in (1e-15, 1e-4))
    assert quick.steps < patient.steps
    assert quick.error <= patient.error * (1.0 + 1e-3)
    assert polish_factors(W @ H, W + 0.01, H + 0.01, idle=1e-4).error < 1e-13


def test_all_starts_go_to_the_end_where_an_exact_factorization_may_be_near():
    """The first of this matrix ends in a local minimum."""
    X, _ = random_nonnegative(12, 12, rank=6, density=0.3, seed=7)
    assert sdpdr.NMF(6, starts=1).fit(X).status_ is IterationStatus.SETTLED
    assert sdpdr.NMF(6, starts=20).fit(X).status_ is IterationStatus.RANK_REACHED


@pytest.mark.parametrize("gaps", [False, True])
def test_known_entries_fit_as_well_as_by_the_polish(gaps):
    X = np.random.default_rng(1).random((8, 6))
    if gaps:
        X[::3, ::4] = np.nan
    descended, polished = (sdpdr.NMF(2, solver=s, starts=8).fit(X) for s in ("auto", "polish"))
    assert descended.reconstruction_err_ == pytest.approx(polished.reconstruction_err_, rel=1e-5)


def test_a_closer_bound_may_be_asked_for(monkeypatch):
    asked = []

    def bound(X, W, H, *, method):
        asked.append(method)
        return sdpdr.nmf_bound(X, W, H, method="eckart_young")

    monkeypatch.setattr("sdpdr.families.factor.nmf.estimator.nmf_bound", bound)
    sdpdr.NMF(2, solver="polish", bound="overlap").fit(V3)
    assert asked == ["overlap"]


def test_the_lift_keeps_its_history():
    model = sdpdr.NMF(2, solver="lift", starts=1, options={"max_iter": 2}).fit(V3)
    assert model.status_ is IterationStatus.ITERATION_LIMIT
    assert len(model.factorization_.history) == model.n_iter_ == 2


@pytest.mark.parametrize("solver", ["lift", "polish", "auto"])
def test_what_is_missing_is_filled_in(solver):
    gaps = np.random.default_rng(0).random(EXACT.shape) < 0.25
    X = np.where(gaps, np.nan, EXACT)
    model = sdpdr.NMF(2, solver=solver)
    W = model.fit_transform(X)
    np.testing.assert_allclose(model.inverse_transform(W), EXACT, atol=1e-7)
    np.testing.assert_allclose(model.transform(X), W, atol=1e-9)
    assert model.bound_ == 0.0
    assert "missing" in model.argument_


def test_new_rows_are_fitted_without_negative_weights():
    model = sdpdr.NMF(2).fit(EXACT)
    new = np.array([[2.0, 0.5], [0.0, 1.0]]) @ model.components_
    np.testing.assert_allclose(model.transform(new), [[2.0, 0.5], [0.0, 1.0]], atol=1e-9)
    assert model.transform(-EXACT).max() == 0.0


def test_it_is_a_transformer_like_others():
    pipe = make_pipeline(MinMaxScaler(), sdpdr.NMF(2, solver="polish"))
    assert pipe.fit_transform(V3).shape == (3, 2)
    assert list(pipe.get_feature_names_out()) == ["nmf0", "nmf1"]
    model = clone(sdpdr.NMF(3, solver="lift", tol=1e-5))
    assert model.get_params()["tol"] == 1e-5


def test_seeds_decide_everything():
    a, b = (sdpdr.NMF(2, solver="polish", random_state=3).fit(V3).components_ for _ in range(2))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("options", "X", "error", "words"),
    [
        ({"solver": "mu"}, V3, UnknownNameError, "polish"),
        ({"n_components": 4}, V3, DataError, "out of range"),
        ({"starts": 0}, V3, DataError, "starts"),
        ({}, -V3, DataError, "Negative values in data"),
        ({"solver": "scikit-learn"}, np.where(V3 > 0.6, np.nan, V3), DataError, "NaN"),
        ({"bound": "best"}, V3, UnknownNameError, "eckart_young"),
    ],
)
def test_wrong_arguments_are_named(options, X, error, words):
    with pytest.raises(error, match=words):
        sdpdr.NMF(**options).fit(X)


def test_products_of_another_width_are_refused():
    model = sdpdr.NMF(2, solver="polish").fit(V3)
    with pytest.raises(ShapeError, match="2 columns"):
        model.inverse_transform(np.ones((3, 3)))


@pytest.mark.parametrize("size", [1e-170, 1e155])
@pytest.mark.parametrize("learner", [sdpdr.NMF(), sdpdr.PolynomialFactorization(1)])
def test_entries_whose_squares_are_no_numbers_are_refused(learner, size):
    with pytest.raises(DataError, match=r"the largest entry of X is .* Rescale X"):
        learner.fit(size * np.ones((3, 5)))


def test_large_factors_are_ended_until_two_ends_are_alike(monkeypatch):
    """What noise leaves is much the same from all starts, and there is no polish to rounding."""
    rng = np.random.default_rng(0)
    X = rng.random((400, 4)) @ rng.random((4, 120)) + 0.2 * rng.random((400, 120))
    ends, finished = [], Starts._finished

    def counted(self, factors, steps):
        found = finished(self, factors, steps)
        ends.append(self.known.error(*found))
        return found

    monkeypatch.setattr(Starts, "_finished", counted)
    model = sdpdr.NMF(4).fit(X)
    assert len(ends) == 2
    assert 1e-2 < max(ends) <= 1.01 * min(ends) < 0.1
    assert model.reconstruction_err_ <= min(ends) * np.linalg.norm(X) * (1.0 + 1e-6)
