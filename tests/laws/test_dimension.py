"""The dimension of a spectrum."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sdpdr.errors import DataError, UnknownNameError
from sdpdr.linalg import intrinsic_dimension

spectra = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)


@given(values=spectra, share=st.floats(0.01, 1.0))
def test_the_share_is_reached_and_not_before(values, share):
    r = intrinsic_dimension(values, share)
    ordered = np.sort(values)[::-1]
    assert ordered[:r].sum() >= share * ordered.sum() * (1 - 1e-9)
    assert ordered[: r - 1].sum() < share * ordered.sum()


@given(values=spectra, scale=st.floats(1e-6, 1e6))
def test_no_rule_sees_the_unit_or_the_order(values, scale):
    # At the threshold of the rank itself, rounding decides.
    assume(all(abs(v / max(values) - 1e-6) > 1e-12 for v in values))
    for rule in ("share", "gap", "rank"):
        turned = [scale * value for value in reversed(values)]
        assert intrinsic_dimension(turned, 0.87654321, rule=rule) == intrinsic_dimension(
            values, 0.87654321, rule=rule
        )


@given(values=spectra)
def test_rounding_errors_change_nothing(values):
    noisy = [*values, 1e-10, 0.0, -1e-10]
    for rule in ("gap", "rank"):
        assert intrinsic_dimension(noisy, rule=rule) == intrinsic_dimension(values, rule=rule)


@pytest.mark.parametrize(
    ("values", "options", "error", "words"),
    [
        ([], {}, DataError, "positive"),
        ([0.0, -1.0], {}, DataError, "positive"),
        ([1.0, np.nan], {}, DataError, "finite"),
        ([1.0], {"share": 0.0}, DataError, "share=0.0"),
        ([1.0], {"share": 1.1}, DataError, "share=1.1"),
        ([1.0], {"rule": "elbow"}, UnknownNameError, "unknown rule"),
    ],
)
def test_what_cannot_be_used_is_named(values, options, error, words):
    with pytest.raises(error, match=words):
        intrinsic_dimension(values, **options)
