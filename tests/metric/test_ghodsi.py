"""Ghodsi's program and its relatives: closed forms against solvers, bounds, ties."""

from functools import partial

import numpy as np
import pytest

import sdpdr
from sdpdr import methods, metric
from sdpdr.errors import DataError, InfeasibleError
from sdpdr.metric import Pairs, closed_form
from sdpdr.program import as_dense

from .test_xing import GIVEN, PAIRS, X

CONTRAST = methods.contrast(PAIRS, normalize=False)
# The double nearest to a third is below it: three times that is no trace of one.
CAPS = {1.0: -99.2299358, 0.5: -47.2318, 0.4: -6.6150, np.nextafter(1.0 / 3.0, 1.0): 20.4630}


def test_the_optimum_is_a_mean_of_eigenvalues():
    for cap, value in CAPS.items():
        answer = closed_form(CONTRAST, cap=cap)
        assert answer.value == pytest.approx(value, abs=5e-5)
        assert answer.gap == pytest.approx(0.0, abs=1e-12)
    solution = sdpdr.solve(methods.ghodsi(X, **GIVEN, normalize=False, cap=0.4), "clarabel")
    assert solution.value == pytest.approx(CAPS[0.4], rel=1e-5)
    assert solution.bound == pytest.approx(solution.value, rel=1e-6)


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize("solver", ["clarabel", "scs", "lowrank"])
def test_closed_forms_solve_the_programs(solver):
    options = {"ridge": 100.0, "cap": 0.45}
    model = methods.ghodsi(X, **GIVEN, normalize=False, **options)
    solution = sdpdr.solve(model, solver, tol=1e-7)
    answer = closed_form(CONTRAST, **options)
    assert solution.value == pytest.approx(answer.value, rel=1e-6)
    np.testing.assert_allclose(as_dense(solution.values["A"]), answer.matrix, atol=2e-3)
    assert model.objective({"A": answer.matrix}) == pytest.approx(answer.value, rel=1e-10)
    assert max(model.violations({"A": answer.matrix}).values()) < 1e-9


@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_bounds_hold_and_meet_the_values(ridge):
    for seed, cap in enumerate((1.0, 0.5, 0.4, 0.25)):
        rng = np.random.default_rng(seed)
        C = rng.standard_normal((4, 4))
        C = C + C.T
        answer = closed_form(C, cap=cap, ridge=ridge)
        values = np.linalg.eigvalsh(answer.matrix)
        assert abs(answer.gap) < 1e-9
        assert values[-1] <= cap * (1.0 + 1e-9)
        assert values.sum() == pytest.approx(1.0)
        for a in rng.dirichlet(np.ones(4) * 5.0, 20):  # no other feasible matrix is better
            if a.max() <= cap:
                Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
                assert np.sum(C * (Q * a @ Q.T)) + ridge / 2.0 * a @ a >= answer.bound - 1e-9


def test_ties_are_reported_and_do_not_rotate_components():
    tied = np.diag([1.0, 1.0, 2.0])
    assert not closed_form(tied).unique
    assert closed_form(tied, cap=0.5).unique
    assert not closed_form(tied, cap=0.6).unique
    assert closed_form(tied, ridge=1.0).unique
    assert closed_form(np.diag([0.0, 1.0, 2.0])).unique
    # Components of equal length are eigenvectors; any basis of the plane gives the same metric.
    C = np.random.default_rng(3).standard_normal((6, 6))
    C = C + C.T
    L = closed_form(C, cap=0.5).components
    expected = np.diag(np.linalg.eigvalsh(C)[:2]) / 2.0
    np.testing.assert_allclose(L @ C @ L.T, expected, atol=1e-12)


def test_sums_over_balanced_classes_reward_the_scatter_within():
    rng = np.random.default_rng(2)
    points, label = rng.standard_normal((15, 4)), np.repeat([0, 1, 2], 5)
    sums = methods.contrast(metric.pairs_from_labels(points, label), normalize=False)
    means = np.array([points[label == c].mean(axis=0) for c in range(3)])
    spread, within = means - points.mean(axis=0), points - means[label]
    S_B, S_W = 5.0 * spread.T @ spread, within.T @ within
    np.testing.assert_allclose(sums, -15.0 * S_B - 15.0 * (1.0 - 2.0 / 3.0) * S_W, atol=1e-12)


def test_pairs_of_one_kind_are_enough():
    """Similar pairs keep the direction in which they differ least, dissimilar ones the most."""
    for kind, other, k in (("similar", "dissimilar", 0), ("dissimilar", "similar", -1)):
        steps = PAIRS.differences(kind)
        values, vectors = np.linalg.eigh(steps.T @ steps / len(steps))
        answer = closed_form(methods.contrast(Pairs(X, **{**GIVEN, other: []})))
        assert abs(answer.value) == pytest.approx(values[k])
        assert abs(answer.components[0] @ vectors[:, k]) == pytest.approx(1.0)


def test_bad_arguments_are_named():
    for make in (
        lambda **given: closed_form(np.eye(3), **given),
        partial(methods.ghodsi, X, **GIVEN),
    ):
        with pytest.raises(InfeasibleError, match="at least 1/3"):
            make(cap=0.2)
        with pytest.raises(DataError, match="ridge"):
            make(ridge=-1.0)
