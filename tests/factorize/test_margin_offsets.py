"""Offsets beside a maximum-margin matrix: ways agree, steps are least, weights prove bounds."""

import numpy as np
import pytest

from sdpdr import methods, solve
from sdpdr.errors import DataError, UncertifiedWarning
from sdpdr.factorize import margin_bound, mmmf
from sdpdr.families.factor.margin.offsets import Offsets
from sdpdr.families.factor.margin.recipe import observed_signs

RIDGE = 2.0


def popular(p=12, q=9, share=0.6, seed=0):
    """Signs of rank one, offsets and noise."""
    rng = np.random.default_rng(seed)
    scores = np.outer(*(rng.standard_normal(n) for n in (p, q))) + rng.standard_normal(q)
    Y = np.sign(scores + 0.5 * rng.standard_normal((p, q)))
    return np.where(rng.random((p, q)) < share, Y, 0.0)


def objective(Y, M, offsets, c, ridge):
    p = len(Y)
    scores = M + offsets[:p, None] + offsets[p:]
    slack = np.maximum(0.0, 1.0 - Y * scores)[Y != 0.0].sum()
    size = np.linalg.svd(M, compute_uv=False).sum()
    return size + c * (slack + 0.5 * ridge * offsets @ offsets)


@pytest.mark.parametrize(
    ("norm", "c"),
    [
        ("trace", 0.4),
        pytest.param("max", 0.1, marks=pytest.mark.nightly),
        pytest.param("trace", 0.1, marks=pytest.mark.nightly),
        pytest.param("max", 0.4, marks=pytest.mark.nightly),
    ],
)
def test_every_way_finds_the_same(norm, c):
    Y = popular()
    model = methods.mmmf(Y, c=c, norm=norm, ridge=RIDGE)
    value = solve(model, "clarabel", tol=1e-8).value
    for solver, tol in (("splitting", 1e-6), ("clarabel", 1e-6), ("factors", 3e-2)):
        found = mmmf(Y, c=c, norm=norm, ridge=RIDGE, solver=solver, tol=tol)
        assert found.gap <= tol
        assert found.bound <= value * (1.0 + 1e-7)
        assert found.value >= value * (1.0 - 1e-7)


def test_values_are_those_of_matrix_and_offsets():
    Y = popular()
    found = mmmf(Y, c=0.3, ridge=RIDGE)
    value = objective(Y, found.matrix, found.offsets, 0.3, RIDGE)
    assert found.value == pytest.approx(value, rel=1e-9)
    for t in (0.99, 1.01):
        assert objective(Y, t * found.matrix, found.offsets, 0.3, RIDGE) >= value
    np.testing.assert_allclose(found.slack, np.maximum(0.0, 1.0 - found.margins))


def test_sums_of_weights_balance_the_price_of_offsets():
    Y = popular()
    found = mmmf(Y, c=0.3, ridge=RIDGE, tol=1e-9)
    P = found.signs.matrix(found.multipliers)
    sums = np.concatenate([P.sum(axis=1), P.sum(axis=0)])
    np.testing.assert_allclose(sums, 0.3 * RIDGE * found.offsets, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_any_weights_bound_any_matrix_and_offsets(seed):
    rng, Y = np.random.default_rng(seed), popular(seed=seed)
    M = 0.3 * rng.standard_normal(Y.shape)
    offsets = rng.standard_normal(sum(Y.shape))
    bound = margin_bound(Y, rng.random(Y.shape), c=0.4, ridge=RIDGE)
    assert 0.0 < bound <= mmmf(Y, c=0.4, ridge=RIDGE).value
    assert bound <= objective(Y, M, offsets, 0.4, RIDGE)


def test_dear_offsets_are_none_and_cheaper_ones_take_off_the_value():
    Y = popular()
    values = [mmmf(Y, c=0.3, ridge=ridge).value for ridge in (0.1, 1.0, 10.0, 1e9, np.inf)]
    assert np.all(np.diff(values) >= -1e-5)
    assert values[-2] == pytest.approx(values[-1], rel=1e-5)


@pytest.mark.parametrize("shape", [(9, 5), (5, 9)])
@pytest.mark.parametrize("rho", [0.1, 2.0, 50.0])
def test_the_step_of_offsets_is_least(shape, rho):
    rng, c = np.random.default_rng(0), 0.7
    signs = observed_signs(popular(*shape))
    entries = 2.0 * rng.standard_normal(signs.values.size)
    offsets = Offsets(signs, RIDGE)

    def value(at):
        missed = 1.0 - signs.values * (entries + offsets.added(at))
        q = np.clip(rho * missed, 0.0, c)
        return q @ missed - 0.5 / rho * (q @ q) + c * offsets.price(at)

    best = offsets.fitted(entries, np.zeros(sum(shape)), rho, c)
    for size in (1e-3, 1e-1, 3.0):
        for _ in range(20):
            assert value(best + size * rng.standard_normal(best.size)) >= value(best)


def test_offsets_are_constant_columns_of_factors():
    """The value is that of enlarged factors without offsets, less what is constant."""
    Y, c, s = popular(), 0.4, 1.0 / np.sqrt(0.4 * RIDGE)
    found = mmmf(Y, c=c, ridge=RIDGE)
    p, q = Y.shape
    b, d = np.split(found.offsets, [p])
    U = np.column_stack([found.U, b / s, np.full(p, s)])
    V = np.column_stack([found.V, np.full(q, s), d / s])
    slack = np.maximum(0.0, 1.0 - Y * (U @ V.T))[Y != 0.0].sum()
    size = 0.5 * (np.sum(U**2) + np.sum(V**2) - s**2 * (p + q))
    assert found.value == pytest.approx(size + c * slack, rel=1e-9)


@pytest.mark.parametrize("way", [mmmf, methods.mmmf])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ridge": 0.0}, "ridge=.* must be positive"),
        ({"ridge": 1.0, "c": np.inf}, "need a finite c"),
    ],
)
def test_prices_of_offsets_that_are_refused(way, options, words):
    with pytest.raises(DataError, match=words):
        way(popular(), **options)


@pytest.mark.parametrize(
    ("Y", "c"),
    [
        ([[0, 1], [1, 1], [1, 1], [1, 1], [1, 0]], 1e4),
        ([[0, 0, 0, 1], [1, -1, -1, -1], [0, -1, 0, -1], [1, -1, 1, 0]], 1.0),
    ],
    ids=["no-bound-above-zero", "factors-zero-where-multipliers-are-not"],
)
def test_descent_with_offsets_that_cost_next_to_nothing(Y, c):
    best = mmmf(Y, c=c, norm="max", ridge=1e-6)
    with pytest.warns(UncertifiedWarning):
        found = mmmf(Y, c=c, norm="max", ridge=1e-6, solver="factors")
    assert 0.0 <= found.bound <= best.value
    assert best.bound <= found.value < c
    assert found.multipliers.shape == found.signs.values.shape


@pytest.mark.parametrize("share", [0.05, 1.0])
@pytest.mark.parametrize("shape", [(30, 90), (90, 30)])
def test_offsets_of_a_step_are_balanced_in_few_evaluations(monkeypatch, shape, share):
    """Of tables with all signs and with few: sums of multipliers are what offsets pull back."""
    rng = np.random.default_rng(0)
    signs = observed_signs(np.where(rng.random(shape) < share, rng.choice([-1.0, 1.0], shape), 0.0))
    offsets, (c, rho) = Offsets(signs, 15.0), (0.05, 0.02)
    entries = rng.standard_normal(signs.values.size)
    evaluations, added = [], Offsets.added

    def counted(self, at):
        evaluations.append(at)
        return added(self, at)

    monkeypatch.setattr(Offsets, "added", counted)
    found = offsets.fitted(entries, np.zeros(sum(shape)), rho, c)
    assert len(evaluations) < 60
    q = np.clip(rho * (1.0 - signs.values * (entries + added(offsets, found))), 0.0, c)
    pull = offsets.pulled(signs.values * q)
    np.testing.assert_allclose(15.0 * c * found, pull, atol=1e-10 * c * np.max(offsets.counts))
