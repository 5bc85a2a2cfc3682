"""Factorization through a polynomial as an estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import (
    check_transformer_n_iter,
)

import sdpdr
from sdpdr.base.deadline import Deadline, TimeUpError
from sdpdr.errors import DataError
from sdpdr.families.factor.polynomial import fit
from sdpdr.iterate import IterationStatus

T = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
V = T + 0.5 * T**2
RNG = np.random.default_rng(0)
YES_NO = (np.random.default_rng(0).random((30, 10)) < 0.4).astype(float)


def test_attributes_of_a_fit():
    check_transformer_n_iter("PolynomialFactorization", sdpdr.PolynomialFactorization())
    model = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5))
    W = model.fit_transform(V)
    np.testing.assert_allclose(W[:, 0], [1.0, 0.5, 0.8])
    np.testing.assert_allclose(model.components_, [[0.7, 1.2]])
    np.testing.assert_array_equal(model.coefficients_, [1.0, 0.5])
    assert model.reconstruction_err_ < 1e-12
    assert model.bound_ == 0.0
    np.testing.assert_allclose(model.inverse_transform(W), V)
    assert list(model.get_feature_names_out()) == ["polynomialfactorization0"]


@pytest.mark.parametrize(("k", "nonnegative"), [(1, True), (2, True), (2, False)])
def test_rows_given_again_have_the_factors_they_had(k, nonnegative):
    W, H = RNG.random((5, k)), RNG.random((k, 4))
    c = (1.0, 0.3) if nonnegative else (1.0, 0.0, 0.3)  # both increase where products may be
    model = sdpdr.PolynomialFactorization(k, coefficients=c, nonnegative=nonnegative)
    X = fit.evaluate(np.array(c), W @ H)
    found = model.fit_transform(X)
    assert model.factors_.starts == 1
    assert model.factors_.status is IterationStatus.RANK_REACHED
    np.testing.assert_allclose(model.transform(X), found, atol=1e-6)
    new = fit.evaluate(np.array(c), RNG.random((3, k)) @ model.components_)
    np.testing.assert_allclose(model.inverse_transform(model.transform(new)), new, atol=1e-6)


def test_unknown_entries_and_unknown_coefficients():
    X = V.copy()
    X[1, 1] = np.nan
    model = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5)).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), V, atol=1e-9)
    unknown = sdpdr.PolynomialFactorization(coefficients=None).fit(V)
    assert unknown.reconstruction_err_ < 1e-9
    with pytest.warns(ConvergenceWarning, match="Raise time_limit"):
        sdpdr.PolynomialFactorization(coefficients=None, time_limit=0.0).fit(
            np.random.default_rng(0).random((4, 4))
        )


@pytest.mark.parametrize("shape", [(7, 12), (40, 30)])
def test_one_component_is_the_optimum(shape):
    """By Perron, leading singular vectors of a non-negative matrix are non-negative."""
    X = np.random.default_rng(0).random(shape)
    model = sdpdr.PolynomialFactorization().fit(X)
    tail = np.linalg.norm(np.linalg.svd(X, compute_uv=False)[1:])
    assert model.n_iter_ == 1
    assert model.factors_.status is IterationStatus.SETTLED
    assert model.reconstruction_err_ == pytest.approx(tail, rel=1e-9)
    assert model.bound_ == pytest.approx(tail, rel=1e-6)
    assert min(model.components_.min(), model.factors_.W.min()) >= 0.0
    assert np.any(model.factors_.W == 1.0)


def test_a_fit_that_is_not_proved_to_be_the_best_is_near_its_bound():
    X = np.random.default_rng(2).random((30, 8))
    model = sdpdr.PolynomialFactorization(4).fit(X)
    assert model.factors_.status is IterationStatus.STALLED
    assert model.bound_ <= model.reconstruction_err_ < 1.1 * model.bound_


def test_parameters_are_cloned_and_checked_when_fitted():
    model = clone(sdpdr.PolynomialFactorization(3))
    with pytest.raises(DataError, match="n_components=3"):
        model.fit(V)
    with pytest.raises(DataError, match="row 1 has no known entry"):
        sdpdr.PolynomialFactorization().fit(V).transform([[1.0, 2.0], [np.nan, np.nan]])
    with pytest.raises(DataError, match="Negative"):
        sdpdr.PolynomialFactorization().fit(-V)


# -- where the fit ends --------------------------------------------------------------------------


class Looks(Deadline):
    """A deadline that is over after so many looks at it."""

    def __init__(self, looks):
        super().__init__(60.0)
        self.looks = looks

    def require(self):
        self.looks -= 1
        if self.looks < 0:
            raise TimeUpError("the time was up")


def test_entries_that_can_be_met_are_met_to_rounding():
    """Without the stage at rounding the second draw ends at 7e-10."""
    for seed, size in ((2, 1e3), (7, 1.0)):
        rng = np.random.default_rng(seed)
        n, m = rng.integers(4, 10), rng.integers(4, 8)
        c = np.array([1.0, 0.5])
        X = fit.evaluate(c, size * rng.random((n, 2)) @ rng.random((2, m)))
        found = fit.Misfit(X, True).descend(size * rng.random((n, 2)), rng.random((m, 2)), c)
        assert found.misfit <= 1e-12 * np.linalg.norm(X)


def test_a_descent_that_has_no_time_keeps_its_best_factors():
    rng, X = np.random.default_rng(1), YES_NO[:12]
    start = rng.random((12, 2)), rng.random((10, 2)), np.ones(1)
    misfits = [
        fit.Misfit(X, True, deadline=Looks(looks)).descend(*start).misfit for looks in (0, 2, 4, 50)
    ]
    assert misfits[0] == fit.Misfit(X, True).at(*start).misfit
    assert np.all(np.diff(misfits) <= 0.0)
    assert misfits[-1] < misfits[1] < misfits[0]


def test_without_time_the_factors_of_the_start_are_returned():
    model = sdpdr.PolynomialFactorization(2, time_limit=0.0).fit(YES_NO)
    assert model.factors_.status is IterationStatus.STALLED
    assert model.bound_ <= model.reconstruction_err_ < np.linalg.norm(YES_NO)
