"""Factorization through a polynomial behind scikit-learn's face."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import (
    check_transformer_n_iter,
    parametrize_with_checks,
)

import sdpdr
from sdpdr.base.deadline import Deadline, TimeUpError
from sdpdr.errors import DataError, SolveFailedError
from sdpdr.families.factor.polynomial import fit
from sdpdr.iterate import IterationStatus
from sdpdr.solving.iterate.convex import ConvexIteration

T = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
V = T + 0.5 * T**2
RNG = np.random.default_rng(0)


@pytest.mark.nightly
@parametrize_with_checks([sdpdr.PolynomialFactorization(max_iter=1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_default_counts_an_iteration_where_no_program_is_needed():
    check_transformer_n_iter("PolynomialFactorization", sdpdr.PolynomialFactorization())


def test_its_attributes_are_those_of_the_driver():
    model = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5))
    W = model.fit_transform(V)
    np.testing.assert_allclose(W[:, 0], [1.0, 0.5, 0.8])
    np.testing.assert_allclose(model.components_, [[0.7, 1.2]])
    np.testing.assert_array_equal(model.coefficients_, [1.0, 0.5])
    assert model.reconstruction_err_ < 1e-12
    assert model.bound_ == 0.0
    assert model.n_iter_ == model.factors_.programs + 1
    np.testing.assert_allclose(model.inverse_transform(W), V)
    assert list(model.get_feature_names_out()) == ["polynomialfactorization0"]


@pytest.mark.parametrize(("k", "nonnegative"), [(1, True), (2, True), (2, False)])
def test_rows_given_again_have_the_factors_they_had(k, nonnegative):
    W, H = RNG.random((5, k)), RNG.random((k, 4))
    X = W @ H + 0.3 * (W @ H) ** 2
    options = {"coefficients": (1.0, 0.3), "nonnegative": nonnegative, "time_limit": None}
    model = sdpdr.PolynomialFactorization(k, **options)
    found = model.fit_transform(X)
    np.testing.assert_allclose(model.transform(X), found, atol=1e-6)
    new = RNG.random((3, k)) @ model.components_
    again = model.inverse_transform(model.transform(new + 0.3 * new**2))
    np.testing.assert_allclose(again, new + 0.3 * new**2, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_component_is_placed_at_the_global_optimum():
    model = sdpdr.PolynomialFactorization(coefficients=(1.0, -0.9), max_iter=1)
    model.fit([[0.2, 0.1], [0.1, 0.05]])
    rows = RNG.standard_normal((5, 2))
    grid = np.linspace(0.0, 20.0, 20001)
    for row, w in zip(rows, model.transform(rows)[:, 0], strict=True):

        def cost(w, row=row):
            return np.sum((model.inverse_transform(np.atleast_1d(w)[:, None]) - row) ** 2, axis=1)

        assert cost(w)[0] <= cost(grid).min() + 1e-12


@pytest.mark.nightly
def test_unknown_entries_and_unknown_coefficients():
    X = V.copy()
    X[1, 1] = np.nan
    model = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5)).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), V, atol=1e-9)
    unknown = sdpdr.PolynomialFactorization(coefficients=None, max_iter=5).fit(V)
    assert unknown.reconstruction_err_ < 1e-9


@pytest.mark.parametrize("shape", [(12, 7), (7, 12), (40, 30)])
def test_one_component_is_the_optimum_without_a_program(shape):
    """By Perron, leading singular vectors of a non-negative matrix are non-negative."""
    X = np.random.default_rng(0).random(shape)
    model = sdpdr.PolynomialFactorization().fit(X)
    tail = np.linalg.norm(np.linalg.svd(X, compute_uv=False)[1:])
    assert model.factors_.programs == 0
    assert model.n_iter_ == 1
    assert model.factors_.status is IterationStatus.SETTLED
    assert model.reconstruction_err_ == pytest.approx(tail, rel=1e-9)
    assert model.bound_ == pytest.approx(tail, rel=1e-6)
    assert min(model.components_.min(), model.factors_.W.min()) >= 0.0
    assert np.any(model.factors_.W == 1.0)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_exact_products_of_an_increasing_polynomial_need_no_program(nonnegative):
    rng = np.random.default_rng(1)
    t = rng.random((9, 2)) @ rng.random((2, 8))
    model = sdpdr.PolynomialFactorization(
        2, coefficients=(1.0, 0.0, 0.5), nonnegative=nonnegative
    ).fit(t + 0.5 * t**3)
    assert model.factors_.programs == 0
    assert model.n_iter_ == 1
    assert model.factors_.status is IterationStatus.RANK_REACHED
    assert model.reconstruction_err_ < 1e-7


def test_tables_too_large_for_programs_are_fitted_nearby_with_a_warning(monkeypatch):
    monkeypatch.setattr("sdpdr.families.factor.polynomial.estimator._ENTRIES", 200)
    X = np.random.default_rng(2).random((30, 8))
    with pytest.warns(ConvergenceWarning, match="240 entries"):
        model = sdpdr.PolynomialFactorization(4).fit(X)
    assert model.bound_ <= model.reconstruction_err_ < 1.1 * model.bound_


def test_programs_that_end_without_a_point_leave_the_fit_nearby(monkeypatch):
    def fail(*args, **options):
        raise SolveFailedError("no time")

    monkeypatch.setattr("sdpdr.families.factor.polynomial.estimator.polynomial", fail)
    X = np.random.default_rng(3).random((6, 5))
    with pytest.warns(ConvergenceWarning, match="no time"):
        model = sdpdr.PolynomialFactorization(3).fit(X)
    assert model.bound_ < model.reconstruction_err_
    with pytest.raises(SolveFailedError, match="no time"):
        sdpdr.PolynomialFactorization(2, coefficients=None).fit(X)


def test_parameters_are_cloned_and_checked_when_fitted():
    model = clone(sdpdr.PolynomialFactorization(3))
    with pytest.raises(DataError, match="n_components=3"):
        model.fit(V)
    with pytest.raises(DataError, match="row 1 has no known entry"):
        sdpdr.PolynomialFactorization().fit(V).transform([[1.0, 2.0], [np.nan, np.nan]])
    with pytest.raises(DataError, match="Negative"):
        sdpdr.PolynomialFactorization().fit(-V)


@pytest.mark.nightly
def test_starts_share_the_time(monkeypatch):
    """Each has what those before it left."""
    run, given = ConvexIteration.run, []

    def noted(self, *arguments):
        given.append(self.time_limit)
        return run(self, *arguments)

    monkeypatch.setattr(ConvexIteration, "run", noted)
    V = np.random.default_rng(0).random((2, 2))
    sdpdr.factorize.polynomial(V, [1.0, 0.5], restarts=2, max_iter=1, tol=1e-12, time_limit=60.0)
    assert len(given) == 3
    assert 60.0 > given[0] > given[1] > given[2]


# -- where the fit ends --------------------------------------------------------------------------

YES_NO = (np.random.default_rng(0).random((30, 10)) < 0.4).astype(float)


class Looks(Deadline):
    """A deadline that is over after so many looks at it."""

    def __init__(self, looks):
        super().__init__(60.0)
        self.looks = looks

    def require(self):
        self.looks -= 1
        if self.looks < 0:
            raise TimeUpError("the time was up")


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_entries_that_can_be_met_are_met_to_rounding(size):
    rng = np.random.default_rng(2)
    V = size * rng.random((12, 2)) @ rng.random((2, 7))
    start = np.sqrt(size) * rng.random((12, 2)), np.sqrt(size) * rng.random((7, 2))
    found = fit.Misfit(V, True).descend(*start, np.ones(1))
    assert found.misfit <= 1e-9 * np.linalg.norm(V)


def test_a_descent_that_has_no_time_keeps_its_best_factors():
    rng = np.random.default_rng(1)
    start = rng.random((30, 2)), rng.random((10, 2)), np.ones(1)
    misfits = [
        fit.Misfit(YES_NO, True, deadline=Looks(looks)).descend(*start).misfit
        for looks in (0, 2, 4, 8, 100)
    ]
    assert misfits[0] == fit.Misfit(YES_NO, True).at(*start).misfit
    assert np.all(np.diff(misfits) <= 0.0)
    assert misfits[-1] < misfits[1] < misfits[0]


def test_one_limit_is_that_of_the_whole_fit():
    model = sdpdr.PolynomialFactorization(2, time_limit=0.0)
    with pytest.warns(ConvergenceWarning, match="best fit near"):
        model.fit(YES_NO)
    assert model.factors_.status is IterationStatus.STALLED
    assert model.bound_ <= model.reconstruction_err_ < np.linalg.norm(YES_NO)
