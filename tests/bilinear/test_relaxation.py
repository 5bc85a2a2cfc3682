"""The relaxation of second-order PCA: oracles, laws, derivatives, degenerate data, programs."""

from importlib import import_module

import numpy as np
import pytest

import sdpdr
from sdpdr import methods
from sdpdr.bilinear import alternating, ascent, interior_point
from sdpdr.errors import DataError, ShapeError
from sdpdr.families.sopca.bases import RunStatus
from sdpdr.families.sopca.interior import Point, Spectrum, _Newton

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


def certify(stack, left, right, ks):
    point = Point(stack, (Spectrum.of(left), Spectrum.of(right)), ks)
    return point.value, point.bound


def root(T):
    values, vectors = np.linalg.eigh(T)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def value_of(stack, left, right):
    """F, written out."""
    return sum(np.linalg.norm(matrix, "nuc") for matrix in root(left) @ stack @ root(right))


@pytest.mark.parametrize("seed", ORACLES)
def test_the_interior_point_finds_and_proves_the_optimum(seed):
    found = interior_point(stack_of(seed), 2, tol=1e-8)
    assert found.status is RunStatus.CONVERGED
    assert 2 * found.value == pytest.approx(ORACLES[seed], abs=1e-6)
    assert 2 * found.bound == pytest.approx(ORACLES[seed], abs=1e-6)
    assert 0.0 <= found.gap <= 1e-8
    if seed == 0:  # the optimum has fractional eigenvalues: (4.8) is not (4.9), as theorem 4.5 says
        left, right = found.spectra()
        assert left == pytest.approx([1.0, 0.717, 0.283, 0.0, 0.0], abs=1e-3)
        assert right == pytest.approx([1.0, 0.613, 0.387, 0.0], abs=1e-3)
        best = max(ascent(stack_of(0), 2).value, found.round(stack_of(0)).value)
        assert best < 0.97 * found.value


def test_of_one_matrix_it_is_the_sum_of_singular_values():
    stack = stack_of(0, (1, 4, 3))
    left, sigma, right = np.linalg.svd(stack[0], full_matrices=False)
    for k, value in ((1, 4.466994), (2, 6.316937), (3, 6.986588)):
        found = interior_point(stack, k, tol=1e-8)
        assert 2 * found.value == pytest.approx(value, abs=1e-6)
        assert found.bound == pytest.approx(sigma[:k].sum(), rel=1e-7)
        assert found.right == pytest.approx(right[:k].T @ right[:k], abs=1e-3)
        assert found.left == pytest.approx(left[:, :k] @ left[:, :k].T, abs=1e-3)


def test_every_point_proves_a_bound_on_every_other():
    rng = np.random.default_rng(0)
    stack, ks = rng.standard_normal((3, 5, 4)), (2, 3)
    points = [(interior(rng, 5, 2), interior(rng, 4, 3)) for _ in range(8)]
    pairs = [certify(stack, left, right, ks) for left, right in points]
    assert max(value for value, _ in pairs) <= min(bound for _, bound in pairs)
    for (left, right), (value, _) in zip(points, pairs, strict=True):
        assert value == pytest.approx(value_of(stack, left, right), rel=1e-10)
        # Outside the Fantopes the value is that of multiples within.
        assert certify(stack, 2.0 * left, 3.0 * right, ks)[0] == pytest.approx(value)


@pytest.mark.parametrize("shape", [(3, 4, 4), (3, 5, 3), (3, 3, 5)])
def test_the_derivatives(shape):
    """The factors are twice the gradient, and the curvature is minus the second derivative."""
    rng = np.random.default_rng(1)
    stack = rng.standard_normal(shape)
    sides = [interior(rng, n, 2) for n in shape[1:]]
    found = Point(stack, tuple(map(Spectrum.of, sides)), (2, 2))
    D = [d + d.T for d in (rng.standard_normal((n, n)) for n in shape[1:])]
    h = 1e-6
    up, down = (
        value_of(stack, *(T + t * d for T, d in zip(sides, D, strict=True))) for t in (h, -h)
    )
    slope = sum(0.5 * np.sum(f * d) for f, d in zip(found.factors, D, strict=True))
    assert (up - down) / (2 * h) == pytest.approx(slope, rel=1e-6)
    newton = _Newton(found, 1e-300)
    ours = sum(np.sum(d * c) for d, c in zip(D, newton.curvature(D), strict=True))

    def along(t):
        moved = [
            s.vectors @ (np.diag(s.values) + t * s.roots[:, None] * d * s.roots) @ s.vectors.T
            for s, d in zip(found.sides, D, strict=True)
        ]
        return value_of(stack, *moved)

    h = 1e-3
    second = (along(h) - 2 * along(0.0) + along(-h)) / h**2
    assert -ours == pytest.approx(second, rel=1e-4)


def test_the_best_point_visited_is_the_answer_within_what_arithmetic_allows():
    found = interior_point(stack_of(0), 2, tol=1e-3)
    assert max(found.history) == found.value <= ORACLES[0] / 2 + 1e-6 <= found.bound + 2e-6
    for matrix in (found.left, found.right):
        values = np.linalg.eigvalsh(matrix)
        assert -1e-12 <= values[0] <= values[-1] <= 1.0 + 1e-12
        assert values.sum() == pytest.approx(2.0, abs=1e-12)
    found = interior_point(stack_of(1), 2, tol=1e-14, max_iter=1000)
    assert found.status is RunStatus.STALLED
    assert 0.0 <= found.gap < 1e-7


def test_turning_scaling_and_repeating_change_the_value_as_they_should():
    rng, stack = np.random.default_rng(5), stack_of(0)
    found = interior_point(stack, 2, tol=1e-7)
    u, v = (np.linalg.qr(rng.standard_normal((n, n)))[0] for n in (5, 4))
    turned = interior_point(u @ stack @ v.T, 2, tol=1e-7)
    assert turned.left == pytest.approx(u @ found.left @ u.T, abs=3e-3)
    other = -3.0e5 * np.concatenate([stack, stack[::-1]]).transpose(0, 2, 1)
    bound = interior_point(other, 2, tol=1e-7).bound
    assert bound == pytest.approx(6.0e5 * turned.bound, rel=2e-7)


@pytest.mark.parametrize("ks", [3, (7, 2), (12, 3)])
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


# Wide tables, few tall matrices; of rank two; and of fewer rows than components.
WIDE = {
    "table": (stack_of(0, (12, 1, 40)), (1, 2)),
    "tall": (stack_of(2, (3, 30, 4)), (3, 2)),
    "rank two": (stack_of(3, (9, 2)) @ stack_of(4, (9, 2, 25))[:1], (1, 1)),
    "beyond its rank": (stack_of(7, (3, 1, 20)), (1, 5)),
}


@pytest.mark.daily(2)
@pytest.mark.parametrize("kind", WIDE)
def test_the_span_of_the_data_is_all_that_counts(kind, monkeypatch):
    """In coordinates of the span and in all: one optimum, one bound, one word about ties."""
    stack, ks = WIDE[kind]
    inside = [run(stack, ks) for run in (interior_point, alternating, ascent)]
    for name in ("interior", "bases"):
        module = import_module(f"sdpdr.families.sopca.{name}")
        monkeypatch.setattr(module, "span", lambda stack, k: np.eye(stack.shape[2]))
    whole = [run(stack, ks) for run in (interior_point, alternating, ascent)]
    for one, other in zip(inside, whole, strict=True):
        assert one.value == pytest.approx(other.value, rel=2e-6)
    small, large = inside[0], whole[0]
    assert small.bound == pytest.approx(large.bound, rel=2e-6)
    assert np.trace(small.right) == pytest.approx(ks[1])
    value, bound = certify(stack, small.left, small.right, ks)
    assert value >= small.value * (1.0 - 1e-9)
    assert small.bound * (1.0 - 1e-9) <= bound  # of all points visited the best bound is kept
    inside[0], whole[0] = small.round(stack), large.round(stack)
    for one, other in zip(inside, whole, strict=True):
        if kind != "beyond its rank":  # there rounding in all coordinates may part the tie
            assert one.unique == other.unique
        assert one.columns.T @ one.columns == pytest.approx(np.eye(ks[1]), abs=1e-9)
    if kind == "beyond its rank":
        assert not inside[0].unique
        assert not inside[1].unique


def test_far_outliers_do_not_end_at_the_boundary():
    """Eigenvalues that are crushed against it hide the optimum: the gap stayed at 3 %."""
    table = np.random.default_rng(3).standard_t(2, (120, 1, 300))
    found = interior_point(table, (1, 3), tol=1e-6)
    assert found.status is RunStatus.CONVERGED
    assert len(found.history) < 40


# -- as programs ------------------------------------------------------------------------------


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "recipe", "share"),
    [("scs", methods.sopca, 1.0), ("clarabel", methods.sopca_dual, 0.5)],
)
def test_solvers_meet_the_oracle_with_a_proof(solver, recipe, share):
    """The text has (4.5) and (4.8) equal; a factor of two is lost in its proof."""
    solution = sdpdr.solve(recipe(stack_of(0), 2), solver, tol=1e-7)
    assert solution.value == pytest.approx(share * ORACLES[0], rel=2e-6)
    assert abs(solution.gap) < 1e-6


@pytest.mark.nightly
def test_the_interior_point_agrees_with_both_programs_for_two_numbers_of_columns():
    stack = stack_of(3, (2, 2, 2))
    found = interior_point(stack, (2, 1), tol=1e-8)
    for recipe, share in ((methods.sopca, 2.0), (methods.sopca_dual, 1.0)):
        solution = sdpdr.solve(recipe(stack, (2, 1)), "clarabel")
        assert share * found.value == pytest.approx(solution.value, rel=1e-6)
        with pytest.raises(DataError, match="n_components=5"):
            recipe(stack_of(0), 5)
        with pytest.raises(ShapeError, match="one shape"):
            recipe([np.ones((2, 2)), np.ones((3, 2))])
