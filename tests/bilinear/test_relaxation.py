"""The convex program of two bases: oracles, laws, derivatives, degenerate data."""

from importlib import import_module

import numpy as np
import pytest

from sdpdr.bilinear import (
    RunStatus,
    alternating,
    ascent,
    certify,
    interior_point,
)
from sdpdr.families.sopca.convex import Spectrum, evaluate
from sdpdr.families.sopca.interior import _Newton
from sdpdr.families.sopca.relaxation import Relaxation

# f_1 of four random 5 x 4 matrices, k = 2: Clarabel on (4.5) and SDPA on (4.8), by seed.
ORACLES = {0: 31.569991, 1: 27.285487, 2: 32.697829}


def stack_of(seed, shape=(4, 5, 4)):
    return np.random.default_rng(seed).standard_normal(shape)


def interior(rng, p, k):
    """A random positive definite matrix of trace k with eigenvalues below one."""
    basis = np.linalg.qr(rng.standard_normal((p, p)))[0]
    values = rng.uniform(0.1, 0.9, p)
    values = k / p + 0.9 * (values - values.mean()) * min(k / p, 1.0 - k / p)
    return basis @ np.diag(values) @ basis.T


def root(T):
    values, vectors = np.linalg.eigh(T)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def value_of(stack, left, right):
    """F, written out."""
    kept = root(left) @ stack @ root(right)
    return sum(np.linalg.norm(matrix, "nuc") for matrix in kept)


@pytest.mark.parametrize("seed", ORACLES)
def test_the_interior_point_finds_and_proves_the_optimum(seed):
    found = interior_point(stack_of(seed), 2, tol=1e-8)
    assert found.status is RunStatus.CONVERGED
    assert 2 * found.value == pytest.approx(ORACLES[seed], abs=1e-6)
    assert 2 * found.bound == pytest.approx(ORACLES[seed], abs=1e-6)
    assert 0.0 <= found.gap <= 1e-8


@pytest.mark.parametrize(("k", "value"), [(1, 4.466994), (2, 6.316937), (3, 6.986588)])
def test_of_one_matrix_it_is_the_sum_of_singular_values(k, value):
    stack = stack_of(0, (1, 4, 3))
    found = interior_point(stack, k, tol=1e-8)
    assert 2 * found.value == pytest.approx(value, abs=1e-6)
    sigma = np.linalg.svd(stack[0])[1]
    assert found.bound == pytest.approx(sigma[:k].sum(), rel=1e-7)
    left, _, right = np.linalg.svd(stack[0], full_matrices=False)
    assert found.right == pytest.approx(right[:k].T @ right[:k], abs=1e-3)
    assert found.left == pytest.approx(left[:, :k] @ left[:, :k].T, abs=1e-3)


def test_the_optimum_has_fractional_eigenvalues():
    """So (4.8) is not (4.9), which theorem 4.5 has for matrices of rank k."""
    found = interior_point(stack_of(0), 2, tol=1e-8)
    left, right = found.spectra()
    assert left == pytest.approx([1.0, 0.717, 0.283, 0.0, 0.0], abs=1e-3)
    assert right == pytest.approx([1.0, 0.613, 0.387, 0.0], abs=1e-3)
    best = max(
        ascent(stack_of(0), 2).value, interior_point(stack_of(0), 2).round(stack_of(0)).value
    )
    assert best < 0.97 * found.value


@pytest.mark.parametrize("seed", range(2))
def test_every_point_proves_a_bound_on_every_other(seed):
    rng = np.random.default_rng(seed)
    stack = rng.standard_normal((3, 5, 4))
    ks = (2, 3)
    points = [(interior(rng, 5, 2), interior(rng, 4, 3)) for _ in range(6)]
    pairs = [certify(stack, left, right, ks) for left, right in points]
    assert max(value for value, _ in pairs) <= min(bound for _, bound in pairs)
    for (left, right), (value, _) in zip(points, pairs, strict=True):
        assert value == pytest.approx(value_of(stack, left, right), rel=1e-10)


def test_the_factors_are_twice_the_gradient():
    rng = np.random.default_rng(0)
    stack, left, right = rng.standard_normal((4, 5, 4)), interior(rng, 5, 2), interior(rng, 4, 2)
    factors = evaluate(stack, Spectrum.of(left), Spectrum.of(right)).factors
    h = 1e-6
    for side, factor in enumerate(factors):
        D = rng.standard_normal(factor.shape)
        D = D + D.T
        moved = [
            value_of(stack, left + t * D, right)
            if side == 0
            else value_of(stack, left, right + t * D)
            for t in (h, -h)
        ]
        assert (moved[0] - moved[1]) / (2 * h) == pytest.approx(0.5 * np.sum(factor * D), rel=1e-7)


@pytest.mark.parametrize("shape", [(3, 4, 4), (3, 5, 3), (3, 3, 5)])
def test_the_second_derivative(shape):
    rng = np.random.default_rng(1)
    stack = rng.standard_normal(shape)
    left, right = interior(rng, shape[1], 2), interior(rng, shape[2], 2)
    sides = Spectrum.of(left), Spectrum.of(right)
    newton = _Newton(evaluate(stack, *sides), 1e-300)
    D = tuple(d + d.T for d in (rng.standard_normal((p, p)) for p in shape[1:]))
    ours = sum(np.sum(d * c) for d, c in zip(D, newton._curvature(D), strict=True))

    def along(t):
        moved = [
            s.vectors @ (np.diag(s.values) + t * s.roots[:, None] * d * s.roots) @ s.vectors.T
            for s, d in zip(sides, D, strict=True)
        ]
        return value_of(stack, *moved)

    h = 1e-3
    second = (along(h) - 2 * along(0.0) + along(-h)) / h**2
    assert -ours == pytest.approx(second, rel=1e-4)


def test_the_best_point_visited_is_the_answer():
    found = interior_point(stack_of(0), 2, tol=1e-3)
    assert max(found.history) == found.value <= ORACLES[0] / 2 + 1e-6 <= found.bound + 2e-6
    for matrix in (found.left, found.right):
        values = np.linalg.eigvalsh(matrix)
        assert -1e-12 <= values[0] <= values[-1] <= 1.0 + 1e-12
        assert values.sum() == pytest.approx(2.0, abs=1e-12)


def test_asking_for_too_much_ends_in_the_best_that_arithmetic_allows():
    found = interior_point(stack_of(1), 2, tol=1e-14, max_iter=1000)
    assert found.status is RunStatus.STALLED
    assert 0.0 <= found.gap < 1e-7


def test_turning_scaling_and_reordering_change_the_value_as_they_should():
    rng = np.random.default_rng(5)
    stack = stack_of(0)
    found = interior_point(stack, 2, tol=1e-9)
    u, v = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (5, 4))
    changes = {
        "turned": (u @ stack @ v.T, 1.0),
        "scaled": (-3.0e5 * stack, 3.0e5),
        "transposed": (stack.transpose(0, 2, 1), 1.0),
        "in another order": (stack[::-1], 1.0),
        "twice": (np.concatenate([stack, stack]), 2.0),
    }
    for name, (other, factor) in changes.items():
        there = interior_point(other, 2, tol=1e-9)
        assert there.bound == pytest.approx(factor * found.bound, rel=2e-8), name
    turned = interior_point(u @ stack @ v.T, 2, tol=1e-9)
    assert turned.left == pytest.approx(u @ found.left @ u.T, abs=1e-3)


@pytest.mark.parametrize("ks", [1, 3, (7, 2), (1, 3), (12, 3)])
def test_tall_matrices_and_different_numbers(ks):
    stack = stack_of(1, (6, 12, 3))
    found = interior_point(stack, ks)
    # With all twelve columns kept, value and bound are two sums of the same numbers.
    assert -1e-13 <= found.gap <= 1e-6
    assert ascent(stack, ks).value <= found.bound * (1.0 + 1e-12)


def test_if_the_relaxation_is_exact_the_bases_are_proved_optimal():
    """A strong common part: rounding costs nothing, and a rough bound is met by projections."""
    rng = np.random.default_rng(0)
    A, B = (np.linalg.qr(rng.standard_normal((n, 2)))[0] for n in (6, 5))
    stack = A @ rng.standard_normal((20, 2, 2)) @ B.T + 0.01 * rng.standard_normal((20, 6, 5))
    found = interior_point(stack, 2, tol=1e-4)
    assert found.left @ found.left == pytest.approx(found.left, abs=1e-12)
    bases = found.round(stack)
    assert bases.value == pytest.approx(found.value)
    assert found.gap <= 1e-4
    assert np.linalg.svd(A.T @ bases.rows)[1] == pytest.approx(1.0, abs=1e-3)


def test_identities_leave_the_bases_open():
    stack = np.stack([np.eye(3), 2.0 * np.eye(3)])
    found = interior_point(stack, 2)
    assert found.value == pytest.approx(6.0)
    assert found.gap <= 1e-6
    assert not found.round(stack).unique
    # A part that is tied, and a part that is not: the rounded bases are still a choice.
    mixed = np.stack([np.diag([1.0, 1.0, 0.1]), np.diag([2.0, 2.0, -0.1])])
    found = interior_point(mixed, 1)
    assert found.bound == pytest.approx(3.0, rel=1e-5)
    assert not found.round(mixed).unique
    assert interior_point(mixed, 2).round(mixed).unique


# Wide tables, few wide matrices, few tall ones; of rank two; and of fewer rows than components.
WIDE = {
    "table": (stack_of(0, (12, 1, 40)), (1, 2)),
    "matrices": (stack_of(1, (3, 4, 30)), (2, 3)),
    "tall": (stack_of(2, (3, 30, 4)), (3, 2)),
    "rank two": (stack_of(3, (9, 2)) @ stack_of(4, (9, 2, 25))[:1], (1, 1)),
    "all of its rank": (np.tensordot(stack_of(5, (9, 1, 2)), stack_of(6, (2, 25)), 1), (1, 2)),
    "beyond its rank": (stack_of(7, (3, 1, 20)), (1, 5)),
}


@pytest.mark.parametrize("run", [interior_point, alternating, ascent])
@pytest.mark.parametrize("kind", WIDE)
def test_the_span_of_the_data_is_all_that_counts(kind, run, monkeypatch):
    """In coordinates of the span and in all: one optimum, one bound, one word about ties."""
    stack, ks = WIDE[kind]
    options = {"tol": 1e-6} if run is interior_point else {}
    inside = run(stack, ks, **options)
    for name in ("interior", "local"):
        module = import_module(f"sdpdr.families.sopca.{name}")
        monkeypatch.setattr(module, "spans", lambda stack, ks: tuple(map(np.eye, stack.shape[1:])))
    whole = run(stack, ks, **options)
    assert inside.value == pytest.approx(whole.value, rel=2e-6)
    if isinstance(inside, Relaxation):
        assert inside.bound == pytest.approx(whole.bound, rel=2e-6)
        assert inside.left.shape == whole.left.shape
        assert np.trace(inside.right) == pytest.approx(ks[1])
        assert certify(stack, inside.left, inside.right, ks)[0] >= inside.value * (1.0 - 1e-9)
        inside, whole = inside.round(stack), whole.round(stack)
    if kind != "beyond its rank":
        assert inside.unique == whole.unique
    elif run in (interior_point, alternating):  # in all coordinates rounding may part the tie
        assert not inside.unique
    assert inside.columns.shape == whole.columns.shape
    assert inside.columns.T @ inside.columns == pytest.approx(np.eye(ks[1]), abs=1e-9)


def test_a_lifted_point_proves_its_bound_on_all_of_the_data():
    stack, ks = WIDE["table"]
    found = interior_point(stack, ks)
    value, bound = certify(stack, found.left, found.right, ks)
    assert value == pytest.approx(found.value, rel=1e-9)
    # Of all points visited the best bound is kept, and so is the best value.
    assert found.bound * (1.0 - 1e-9) <= bound <= 1.01 * found.bound


def test_far_outliers_do_not_end_at_the_boundary():
    """Eigenvalues that are crushed against it hide the optimum: the gap stayed at 3 %."""
    table = np.random.default_rng(3).standard_t(2, (120, 1, 300))
    found = interior_point(table, (1, 3), tol=1e-6)
    assert found.status is RunStatus.CONVERGED
    assert len(found.history) < 40
