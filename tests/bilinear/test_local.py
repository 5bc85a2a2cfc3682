"""Local methods and closed forms: Algorithm 1, ascent, GLRAM, two-dimensional SVD and PCA."""

import numpy as np
import pytest

from sdpdr.bilinear import alternating, ascent, glram, interior_point, two_d_pca, two_d_svd
from sdpdr.families.sopca.local import _polar_step, _root_scatter

F1 = {0: 31.569991, 1: 27.285487, 2: 32.697829}
ITERATIONS = (alternating, ascent, glram)


def stack_of(seed, shape=(4, 5, 4)):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("run", [*ITERATIONS, two_d_svd])
def test_bases_are_orthonormal_with_fixed_signs(run):
    bases = run(stack_of(0), (3, 2))
    for basis, k in ((bases.rows, 3), (bases.columns, 2)):
        assert basis.T @ basis == pytest.approx(np.eye(k), abs=1e-12)
        assert np.all(basis[np.argmax(np.abs(basis), axis=0), np.arange(k)] > 0.0)


def test_glram_meets_its_oracle_and_stays_below_the_bound_of_theorem_4_3():
    stack = stack_of(0)
    best = glram(stack, 2, n_starts=30, tol=1e-12, max_iter=6000)
    assert best.value == pytest.approx(36.32119, abs=1e-5)
    assert best.value == pytest.approx(best.energy(stack))
    assert best.value <= F1[0] ** 2 / 4 == pytest.approx(249.17, abs=0.01)


@pytest.mark.parametrize("seed", F1)
def test_theorem_4_3_holds_with_a_quarter(seed):
    """f_2 <= f_1^2 / 4, where the text has one half."""
    assert glram(stack_of(seed), 2, n_starts=10).value <= F1[seed] ** 2 / 4


def test_theorem_4_3_with_a_quarter_is_sharp():
    """One matrix and one component: f_1 = 2 sigma and f_2 = sigma^2."""
    stack = stack_of(0, (1, 4, 3))
    f1 = 2 * interior_point(stack, 1, tol=1e-8).value
    assert glram(stack, 1, tol=1e-12).value == pytest.approx(f1**2 / 4, rel=1e-6)


def test_glram_needs_b_b_transposed():
    """The text's R^T R is the identity of order k: it fits no matrix, and holds no direction."""
    stack = stack_of(0)
    bases = glram(stack, 2, tol=1e-13, max_iter=5000)
    B = bases.columns
    with pytest.raises(ValueError, match="mismatch"):
        stack @ (B.T @ B) @ stack.transpose(0, 2, 1)
    right = sum(M @ B @ B.T @ M.T for M in stack)
    projection = bases.rows @ bases.rows.T
    assert right @ projection == pytest.approx(projection @ right, abs=1e-5)
    top = np.linalg.eigvalsh(right)[-2:].sum()
    assert np.trace(projection @ right) == pytest.approx(top, rel=1e-9)


def test_glram_approximates_best():
    """(4.1): the residual is what is not kept."""
    stack = stack_of(1)
    bases = glram(stack, 2)
    near = bases.rows @ bases.transform(stack) @ bases.columns.T
    assert np.sum((stack - near) ** 2) == pytest.approx(np.sum(stack**2) - bases.energy(stack))


@pytest.mark.parametrize("run", [ascent, glram])
@pytest.mark.parametrize("seed", range(10))
def test_these_never_fall(run, seed):
    history = [r.value for r in run(stack_of(seed, (3, 5, 5)), 2).history]
    assert np.all(np.diff(history) >= -1e-12 * history[-1])


def test_algorithm_1_may_fall_and_the_best_sweep_is_kept():
    stack = stack_of(14, (3, 5, 5))
    found = alternating(stack, 2, tol=1e-9)
    history = np.array([r.value for r in found.history])
    assert np.min(np.diff(history) / history[:-1]) < -0.03
    assert found.value == history.max() > history[-1]
    assert found.kept(stack) == pytest.approx(found.value)


def test_algorithm_1_maximises_a_lower_bound():
    """(4.10): tr A^T sqrt(N N^T) A <= |A^T N|_tr, and both agree on eigenvectors of N N^T."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((3, 5, 2))
    A = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    kept = np.linalg.svd(A.T @ images, compute_uv=False).sum()
    assert np.trace(A.T @ _root_scatter(images) @ A) <= kept
    own = np.linalg.eigh(images[0] @ images[0].T)[1][:, -2:]
    assert np.trace(own.T @ _root_scatter(images[:1]) @ own) == pytest.approx(
        np.linalg.svd(own.T @ images[0], compute_uv=False).sum()
    )
    assert _root_scatter(images[:1]) @ _root_scatter(images[:1]) == pytest.approx(
        images[0] @ images[0].T
    )


def test_a_polar_step_is_the_best_for_its_majorised_objective():
    rng = np.random.default_rng(0)
    images, A = rng.standard_normal((4, 5, 3)), np.linalg.qr(rng.standard_normal((5, 2)))[0]
    u, _, vt = np.linalg.svd(A.T @ images, full_matrices=False)

    def linear(basis):
        return np.sum((u @ vt) * (basis.T @ images))

    best = linear(_polar_step(images, A))
    others = [np.linalg.qr(rng.standard_normal((5, 2)))[0] for _ in range(50)]
    assert max(linear(other) for other in (*others, A)) <= best
    assert linear(A) == pytest.approx(np.linalg.svd(A.T @ images, compute_uv=False).sum())


@pytest.mark.parametrize("seed", range(5))
def test_ascent_from_algorithm_1_gains_and_stays_below_the_bound(seed):
    stack = stack_of(seed)
    first = alternating(stack, 2)
    better = ascent(stack, 2, start=(first.rows, first.columns))
    assert first.value <= better.value * (1.0 + 1e-12) <= interior_point(stack, 2).bound


def test_one_matrix_is_solved_by_its_singular_vectors():
    stack = stack_of(0, (1, 5, 4))
    sigma = np.linalg.svd(stack[0])[1]
    for run in ITERATIONS:
        bases = run(stack, 2, tol=1e-13, max_iter=5000)
        assert bases.kept(stack) == pytest.approx(sigma[:2].sum())
    assert two_d_svd(stack, 2, center=False).kept(stack) == pytest.approx(sigma[:2].sum())


def test_two_dimensional_svd_and_pca():
    stack = stack_of(2) + 3.0
    centred = stack - stack.mean(axis=0)
    bases = two_d_svd(stack, 2)
    F = sum(M @ M.T for M in centred)
    G = sum(M.T @ M for M in centred)
    assert np.trace(bases.rows.T @ F @ bases.rows) == pytest.approx(
        np.linalg.eigvalsh(F)[-2:].sum()
    )
    only = two_d_pca(stack, 2)
    assert only.rows == pytest.approx(np.eye(5))
    assert only.columns == pytest.approx(bases.columns)
    assert only.value == pytest.approx(np.linalg.eigvalsh(G)[-2:].sum())
    assert two_d_svd(stack, 2, center=False).rows != pytest.approx(bases.rows, abs=1e-3)


def test_starts_are_kept_apart_and_repeat():
    stack = stack_of(1)
    many = ascent(stack, 2, n_starts=5, seed=3)
    again = ascent(stack, 2, n_starts=5, seed=3)
    assert many.value == again.value
    assert many.rows == pytest.approx(again.rows, abs=0.0)
    assert many.value >= ascent(stack, 2).value
    assert len(many.history) > len(ascent(stack, 2).history)
    best = glram(stack, 2, start=many.rows)
    assert len(best.history) < len(glram(stack, 2).history) + 100


def test_blank_first_rows_do_not_blind_the_start():
    stack = stack_of(1, (5, 4, 4))
    stack[:, :2] = 0.0
    stack[:, :, :2] = 0.0
    for run in ITERATIONS:
        assert run(stack, 1).kept(stack) > 0.5 * interior_point(stack, 1).value


def test_ties_are_told():
    stack = np.stack([np.eye(3), 2.0 * np.eye(3)])
    assert not glram(stack, 2).unique or not two_d_svd(stack, 2, center=False).unique
    assert not two_d_svd(stack, 2, center=False).unique
    assert two_d_svd(stack_of(0), 2).unique
    assert alternating(stack_of(0), 2).unique
