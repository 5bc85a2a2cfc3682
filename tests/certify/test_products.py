"""Products of sparse matrices: their radii hold the exact ones."""

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.certify.products import product


@st.composite
def factors(draw):
    m, k, n = (draw(st.integers(1, 4)) for _ in range(3))
    small = st.integers(-9, 9).map(float)
    numbers = draw(
        st.sampled_from(
            [
                small,
                st.tuples(small, st.integers(-60, 60)).map(lambda x: x[0] * 2.0 ** x[1]),
                st.integers(-(2**26), 2**26).map(float),
                st.floats(-1e3, 1e3, allow_subnormal=False).filter(lambda x: not 0 < abs(x) < 1e-9),
            ]
        )
    )
    shapes = ((m, k), (k, n))
    return [
        np.array([[draw(numbers) for _ in range(b)] for _ in range(a)]).reshape(a, b)
        for a, b in shapes
    ]


@settings(max_examples=200, deadline=None)
@given(factors())
def test_radii_hold_the_exact_product_and_vanish_where_it_is_whole(pair):
    A, B = pair
    found, radii = product(sp.csr_array(A), sp.csr_array(B))
    found, radii = found.toarray(), np.zeros(found.shape) if radii is None else radii.toarray()
    for i, j in np.ndindex(*found.shape):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(A[i], B[:, j], strict=True))
        assert abs(Fraction(found[i, j]) - exact) <= Fraction(radii[i, j])
        assert radii[i, j] <= 2.0**-52 * abs(exact)
        if Fraction(float(exact)) != exact:
            assert radii[i, j] > 0.0
