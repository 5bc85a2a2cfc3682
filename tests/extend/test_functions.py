"""Centres and widths that move: slopes, bases that are known, and what the document prints."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime

from sdpdr import extend
from sdpdr.errors import DataError, ShapeError
from sdpdr.families.regress.functional import gaussian_basis

Z = np.linspace(0.0, 2.0, 60)
RNG = np.random.default_rng(0)
CENTERS, WIDTHS = np.array([0.35, 0.8, 1.7]), np.array([0.15, 0.5, 0.25])
WEIGHTS = RNG.standard_normal((8, 3))
FUNCTIONS = WEIGHTS @ gaussian_basis(Z, CENTERS, WIDTHS).T


@pytest.mark.parametrize("ridge", [1e-8, 0.3])
def test_slopes_are_those_of_the_misfit(ridge):
    X = RNG.standard_normal((4, 60))
    point = np.concatenate([CENTERS, WIDTHS])

    def value(p):
        return extend.basis_misfit(X, Z, p[:3], p[3:], ridge)[0]

    _, *slopes = extend.basis_misfit(X, Z, CENTERS, WIDTHS, ridge)
    numeric = approx_fprime(point, value, 1e-7)
    np.testing.assert_allclose(np.concatenate(slopes), numeric, atol=1e-4 * np.abs(numeric).max())


def test_the_printed_slopes_are_a_quarter():
    """(2.47) and (2.48), with (2.43) and (2.44), at the best weights of (2.40)."""
    X = RNG.standard_normal((4, 60))
    _, by_center, by_width = extend.basis_misfit(X, Z, CENTERS, WIDTHS, 1e-12)
    basis = gaussian_basis(Z, CENTERS, WIDTHS)
    weights = np.linalg.lstsq(basis, X.T, rcond=None)[0].T
    left = weights @ basis.T - X
    for j in range(3):
        away = Z - CENTERS[j]
        moved = away / WIDTHS[j] ** 2 * basis[:, j]
        widened = away**2 / WIDTHS[j] ** 3 * basis[:, j]
        assert by_center[j] == pytest.approx(4.0 * np.sum(left @ moved * weights[:, j]), rel=1e-5)
        assert by_width[j] == pytest.approx(4.0 * np.sum(left @ widened * weights[:, j]), rel=1e-5)


def test_a_basis_that_made_the_functions_is_found():
    """No even basis of three Gaussians makes them; the one that did leaves nothing."""
    even = extend.BasisExpansion(3, grid=Z).fit(FUNCTIONS)
    moved = extend.BasisExpansion(3, grid=Z, max_moves=500).fit(FUNCTIONS)
    size = np.sum(FUNCTIONS**2)
    assert even.misfit_ > 0.02 * size
    assert moved.misfit_ < 1e-9 * size
    np.testing.assert_allclose(moved.centers_, CENTERS, atol=1e-3)
    np.testing.assert_allclose(moved.widths_, WIDTHS, atol=1e-3)
    np.testing.assert_allclose(moved.transform(FUNCTIONS), WEIGHTS, atol=1e-2)
    back = moved.inverse_transform(moved.transform(FUNCTIONS))
    assert moved.misfit_ == pytest.approx(np.sum((back - FUNCTIONS) ** 2))


def test_a_line_of_another_unit_has_the_same_basis():
    here = extend.BasisExpansion(3, grid=Z, max_moves=500).fit(FUNCTIONS)
    there = extend.BasisExpansion(3, grid=1e3 * Z - 7.0, max_moves=500).fit(1e5 * FUNCTIONS)
    np.testing.assert_allclose(there.centers_, 1e3 * here.centers_ - 7.0, atol=1.0)
    np.testing.assert_allclose(there.widths_, 1e3 * here.widths_, atol=1.0)


def test_whitened_weights_of_unequal_widths_have_the_distance_of_the_functions():
    basis = extend.BasisExpansion(3, grid=Z, max_moves=500, whiten=True).fit(FUNCTIONS)
    a, b = basis.transform(FUNCTIONS[:2])
    plain = extend.BasisExpansion(3, grid=Z, max_moves=500).fit(FUNCTIONS).transform(FUNCTIONS[:2])

    def difference(t):
        psi = gaussian_basis(np.array([t]), basis.centers_, basis.widths_)[0]
        return float((psi @ (plain[0] - plain[1])) ** 2)

    expected = quad(difference, -5.0, 7.0, limit=200)[0]
    assert np.sum((a - b) ** 2) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grid": [0.0, 1.0]}, "shape"),
        ({"grid": [2.0, 1.0, 0.0]}, "increasing"),
        ({"ridge": -1.0}, "0"),
        ({"max_moves": -1}, "max_moves"),
    ],
)
def test_a_basis_that_cannot_be_is_named(options, words):
    with pytest.raises((DataError, ShapeError), match=words):
        extend.BasisExpansion(2, **options).fit(np.ones((2, 3)))
