"""Coefficients of the kernel are those of matrices in fractions, within their radii."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.coefficients import coefficients, coefficients_of_triangle, unscaled
from sdpdr.linalg import Stacked, SvecMap, VectorMap, svec

from ..truth.exact import fractions
from .test_shrink import LEFT, MAPS, ORDER

COLUMN, ROW = np.tril_indices(ORDER)
# Maps of maps, whose coefficients are sums and products of rounded ones.
COMBINED = {
    "sums of forms": (
        LEFT[:, :3] @ MAPS["bilinear forms"][0],
        np.tensordot(fractions(LEFT[:, :3]), MAPS["bilinear forms"][1], axes=1),
    ),
    "forms beside others": (
        Stacked([MAPS["bilinear forms"][0], MAPS["a trace"][0]]),
        np.concatenate([MAPS["bilinear forms"][1], MAPS["a trace"][1]]),
    ),
}


def within(found, radii, exact):
    """Whether numbers are within the radii of exact ones, and these are no more than rounding."""
    radii = np.zeros(found.shape) if radii is None else radii.toarray()
    close = abs(fractions(found) - exact) <= fractions(radii)
    return np.all(close) and np.all(radii <= 1e-13)


@pytest.mark.parametrize("name", [*MAPS, *COMBINED])
def test_coefficients_of_maps_are_those_of_their_matrices(name):
    """Entries off the diagonal of a matrix are met twice."""
    linear_map, matrices = {**MAPS, **COMBINED}[name]
    twice = np.where(ROW == COLUMN, 1, 2)
    exact = np.array([A[ROW, COLUMN] * twice for A in np.asarray(matrices)])
    found, radii = coefficients(linear_map)
    assert within(found, radii, exact)


def test_coefficients_of_matrix_inequalities_are_those_of_their_entries():
    """Those of a vector, and of a matrix, whose entries off the diagonal are met twice."""
    M = np.array([[3.0, 0.1], [0.1, -1.0]])
    found, radii = coefficients_of_triangle(VectorMap(svec(M)[:, None]))
    assert within(found, radii, fractions(np.array([[3.0], [0.1], [-1.0]])))
    # X in the upper left corner, X_01 beside it, and 0.3 X_01 at the end.
    root = np.sqrt(2.0)
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.15 * root, 0.0]])
    found, radii = coefficients_of_triangle(SvecMap(2, sp.csr_array(rows)))
    exact = fractions(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.3, 0.0]]))
    assert within(found, radii, exact)


def test_radii_of_quotients_by_the_root_of_two_are_as_small_as_these():
    """There are none where a double times the root of two is the number, once it is rounded."""
    numbers = np.outer([1e-20, 1.0, 1e20], np.arange(1.0, 40.0)).ravel()
    quotients, radii = unscaled(numbers)
    exact = radii == 0.0
    assert 0 < np.sum(exact) < exact.size
    np.testing.assert_array_equal(quotients[exact] * np.sqrt(2.0), numbers[exact])
    some = [fractions(v[~exact]) for v in (numbers, quotients, radii)]
    for number, quotient, radius in zip(*some, strict=True):
        assert 2 * (quotient - radius) ** 2 < number**2 < 2 * (quotient + radius) ** 2
        assert radius * 10**15 <= quotient


def test_rounded_coefficients_have_radii_where_they_are():
    """Off the diagonal, and nowhere else: of a row by a matrix, and of a triangle by a number."""
    rng, off = np.random.default_rng(7), ROW != COLUMN
    data = rng.normal(size=(3, ROW.size))
    rows, radii = coefficients(SvecMap(ORDER, sp.csr_array(data)))
    column, around = coefficients_of_triangle(VectorMap(data.T))
    for found, far, factor in ((rows, radii, 2), (column.T, around.T, Fraction(1, 2))):
        found, far = found.toarray(), far.toarray()
        np.testing.assert_array_equal(found[:, ~off], data[:, ~off])
        assert not np.any(far[:, ~off])
        assert np.all(far <= 1e-15 * abs(found))
        low, high = (abs(fractions(found)) + side * fractions(far) for side in (-1, 1))
        squares = factor * fractions(data) ** 2
        rounded = far > 0.0
        assert np.any(rounded)
        assert not np.all(rounded[:, off])
        assert np.all((low**2 <= squares)[rounded] & (squares <= high**2)[rounded])
        assert found[~rounded] == pytest.approx(
            np.where(off, np.sqrt(float(factor)) * data, data)[~rounded], rel=4e-16
        )
