"""Products of sparse matrices: their radii hold the exact ones."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.products import product, rounded

from ..truth.exact import fractions

# Numbers whose products are whole, over a power of two, too long for a double, or rounded.
NUMBERS = {
    "whole": lambda rng, shape: rng.integers(-9, 10, shape),
    "binary": lambda rng, shape: rng.integers(-9, 10, shape) * 2.0 ** rng.integers(-60, 61, shape),
    "long": lambda rng, shape: rng.integers(-(2**26), 2**26, shape),
    "real": lambda rng, shape: rng.uniform(-1e3, 1e3, shape) * rng.integers(0, 2, shape),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_radii_hold_the_exact_product_and_vanish_where_it_is_whole(name):
    rng = np.random.default_rng(0)
    for _ in range(20):
        m, k, n = rng.integers(1, 5, 3)
        A, B = (np.asarray(NUMBERS[name](rng, shape), dtype=float) for shape in ((m, k), (k, n)))
        found, radii = product(sp.csr_array(A), sp.csr_array(B))
        radii = np.zeros(found.shape) if radii is None else radii.toarray()
        exact = fractions(A) @ fractions(B)
        assert np.all(abs(fractions(found) - exact) <= fractions(radii))
        assert np.all(fractions(radii) <= abs(exact) / 2**52)
        for number, radius in zip(exact.ravel(), radii.ravel(), strict=True):
            # What is no double is rounded, and what is a double is not.
            assert (radius > 0.0) == (Fraction(float(number)) != number)


@pytest.mark.parametrize("vague", [(True, False), (False, True), (True, True)])
def test_radii_hold_the_products_of_all_matrices_within_radii(vague):
    rng = np.random.default_rng(0)
    for _ in range(20):
        m, k, n = rng.integers(1, 5, 3)
        given = [rng.normal(size=shape) * rng.integers(0, 2, shape) for shape in ((m, k), (k, n))]
        radii = [
            is_vague * rng.uniform(0.0, 1.0, A.shape)
            for A, is_vague in zip(given, vague, strict=True)
        ]
        some = [sp.csr_array(r) if np.any(r) else None for r in radii]
        found, around = rounded(*map(sp.csr_array, given), some[1], of_first=some[0])
        around = np.zeros(found.shape) if around is None else around.toarray()
        (T, far), (A, off) = (
            (fractions(A), fractions(r)) for A, r in zip(given, radii, strict=True)
        )
        most = abs(T) @ off + far @ abs(A) + far @ off
        assert np.all(most <= fractions(around))
        assert np.all(fractions(around) <= most * (1 + Fraction(1e-12)) + Fraction(1e-14))
        for sign, other in ((1, 1), (1, -1), (-1, 1)):
            exact = (T + sign * far) @ (A + other * off)
            assert np.all(abs(fractions(found) - exact) <= fractions(around))
