"""Equations of free scalars are met to the rounding of their own terms, however small these are."""

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.linalg.rounding import UNIT
from sdpdr.program.certificate.free import project


@pytest.mark.parametrize("noise", [1e-12, 1e-17, 1e-22, 1e-60])
def test_a_multiplier_that_must_be_zero_is_zero(noise):
    """Not rounding of its rounding: its scalar has no limit that could pay for that."""
    columns = sp.csr_array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    y = project(columns, np.array([0.0, 1.0]), np.array([noise, 0.3, 0.7 + 1e-9]))
    assert y[0] == 0.0
    assert abs(y[1] + y[2] - 1.0) <= 2.0 * UNIT


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e-22])
@pytest.mark.parametrize("seed", range(5))
def test_small_multipliers_meet_their_equations_beside_large_ones(seed, scale):
    rng = np.random.default_rng(seed)
    columns = sp.csr_array(
        sp.block_diag([rng.standard_normal((6, 2)), rng.standard_normal((6, 2))])
    )
    wanted = np.concatenate([rng.standard_normal(6), scale * rng.standard_normal(6)])
    right = columns.T @ wanted
    y = project(columns, right, wanted * (1.0 + 1e-7 * rng.standard_normal(12)))
    size = np.abs(right) + abs(columns).T @ np.abs(y)
    assert np.all(np.abs(right - columns.T @ y) <= 8.0 * UNIT * size)
