"""The recipe: what its relaxations are worth, which are exact, what it refuses."""

from itertools import product

import numpy as np
import pytest

import sdpdr
from sdpdr import check_block, methods
from sdpdr.errors import DataError, ModelError, UnknownNameError
from sdpdr.families.factor.polynomial.fit import Misfit
from sdpdr.families.factor.polynomial.recipe import parts_of

V22 = np.array([[1.0, 2.0], [3.0, 4.0]])
SIGMA = np.linalg.svd(V22)[1]
RNG = np.random.default_rng(5)
T = np.outer([1.0, 0.5, 0.8], [0.7, 1.2])
V32 = T + 0.5 * T**2


def best_fit(V, c, k, regularization, nonnegative=True, starts=8):
    squares = Misfit(V, nonnegative, regularization=regularization)
    N, m = V.shape
    return min(
        squares.descend(2 * RNG.random((N, k)), 2 * RNG.random((m, k)), np.array(c)).objective
        for _ in range(starts)
    )


# -- with a penalty on size ----------------------------------------------------------------------


def test_moments_with_a_linear_g_keep_one_singular_value_and_prove_it():
    penalty = 0.5
    expected = SIGMA @ SIGMA / 2 - max(SIGMA[0] - penalty, 0.0) ** 2 / 2
    model = methods.polynomial_factorization(V22, (1.0,), lift="moments", regularization=penalty)
    solution = sdpdr.solve(model, "clarabel", "lmi", tol=1e-8)
    assert solution.value == pytest.approx(expected, rel=1e-6)
    assert solution.bound == pytest.approx(expected, rel=1e-6)


@pytest.mark.nightly
def test_moments_say_more_than_layers_and_layers_of_a_curved_g_nothing():
    options = {"regularization": 0.1}
    linear, curved = (1.0,), (1.0, 0.5)
    values = {
        (lift, c): sdpdr.solve(
            methods.polynomial_factorization(V22, c, lift=lift, **options), "clarabel", tol=1e-7
        ).value
        for lift, c in product(("layers", "moments"), (linear, curved))
    }
    assert values["layers", linear] < values["moments", linear] - 0.03
    # Powers are free upwards: s = V / c_2 at t = 0 fits at no cost.
    assert values["layers", curved] == pytest.approx(0.0, abs=1e-6)
    assert values["moments", curved] == pytest.approx(0.374443, abs=1e-5)


@pytest.mark.nightly
@pytest.mark.parametrize("c", [(1.0, -0.2), (1.0, 0.5)])
def test_no_factors_beat_the_bound_and_the_best_known_ones_attain_it(c):
    model = methods.polynomial_factorization(V22, c, lift="moments", regularization=0.3)
    solution = sdpdr.solve(model, "clarabel", "lmi", tol=1e-8)
    found = best_fit(V22, c, 1, 0.3)
    assert solution.bound is not None
    assert solution.bound <= found + 1e-9
    assert found == pytest.approx(solution.bound, rel=1e-4)


@pytest.mark.nightly
def test_with_signs_free_a_curved_g_keeps_a_gap():
    """t < -1 gives the same entries as t > 0, and averages of both fit better than either."""
    options = {"lift": "moments", "regularization": 0.3, "nonnegative": False}
    model = methods.polynomial_factorization(V22, (1.0, 0.5), **options)
    solution = sdpdr.solve(model, "clarabel", "lmi", tol=1e-8)
    found = best_fit(V22, (1.0, 0.5), 1, 0.3, nonnegative=False)
    assert found == pytest.approx(0.960711, abs=1e-5)
    assert solution.bound == pytest.approx(0.0521, abs=1e-3)


# -- the scale -----------------------------------------------------------------------------------


def test_without_the_gauge_scaled_factors_are_as_good_and_with_it_they_are_not():
    """W -> a W, H -> H / a changes no product: the gauge takes the family away."""
    _, _, held, model = parts_of(V32, (1.0, 0.5), 1, "layers", True, None, 2)
    W, H = np.array([[1.0], [0.5], [0.8]]), np.array([[0.7], [1.2]])
    rows = {label: r for r in model.to_sdp().rows for label in [r.label]}
    for a in (1.0, 2.0, 0.3):
        point = {}
        for name, below in held.corners(a * W, H / a, np.array([1.0, 0.5])).items():
            factor = np.vstack([[[1.0]], below])
            point[name] = factor @ factor.T
        broken = {
            label
            for label, r in rows.items()
            if r.relation == "=="
            and np.max(np.abs(sum(m.apply(point[n]) for n, m in r.lhs.items()) - r.rhs)) > 1e-9
        }
        assert broken == (set() if a == 1.0 else {"known"})


@pytest.mark.parametrize(
    ("k", "nonnegative", "gauges"),
    [(1, True, {"known"}), (1, False, {"known"}), (2, True, {"fits_2"}), (2, False, set())],
)
def test_the_gauge_depends_on_signs_and_components(k, nonnegative, gauges):
    model = methods.polynomial_factorization(V32, (1.0,), k, nonnegative=nonnegative)
    assert {r.label for r in model.to_sdp().rows} & {"known", "fits_2"} == gauges


# -- wrong usage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "options", "error", "words"),
    [
        ([[1.0, -2.0]], {}, DataError, r"X\[0, 1\] = -2"),
        ([[1.0, np.inf]], {}, DataError, "infinity"),
        ([[0.0, 0.0]], {}, DataError, "nothing to factor"),
        ([[np.nan, np.nan], [1.0, 2.0]], {}, DataError, "row 0"),
        ([[1.0, np.nan]], {}, DataError, "column 1"),
        ([1.0, 2.0], {}, DataError, "2D array"),
        ([["a"]], {}, DataError, "could not convert"),
        (V22, {"coefficients": (1.0, 0.0)}, DataError, r"last one not zero \(leave it out then\)"),
        (V22, {"coefficients": [1.0, np.nan]}, DataError, "last one not zero"),
        (V22, {"coefficients": ()}, DataError, "coefficients"),
        (V22, {"coefficients": [1.0] * 9}, DataError, "degree 8"),
        (V22, {"n_components": 3}, DataError, "n_components=3"),
        (V22, {"n_components": 0}, DataError, "n_components"),
        (V22, {"lift": "layer"}, UnknownNameError, "layers"),
        (V22, {"coefficients": None, "lift": "moments"}, ModelError, "layers"),
        (V22, {"coefficients": None, "regularization": 1.0}, ModelError, "regularization"),
        (V22, {"regularization": 0.0}, DataError, "regularization"),
    ],
)
def test_wrong_arguments_are_named(X, options, error, words):
    with pytest.raises(error, match=words):
        methods.polynomial_factorization(X, **options)


def test_a_negative_entry_is_fine_where_g_may_be_negative():
    for options in ({"coefficients": (1.0, -1.0)}, {"nonnegative": False}):
        model = methods.polynomial_factorization([[1.0, -2.0]], **options)
        assert model.to_sdp().rows


@pytest.mark.daily(1)
@pytest.mark.parametrize("lift", ["layers", "moments"])
def test_every_block_obeys_the_laws_and_the_model_prints(lift):
    model = methods.polynomial_factorization(V22[:, :1], (1.0, 0.5), lift=lift, regularization=1.0)
    assert "rows" in model.describe()
    for block in model.blocks:
        check_block(block)
