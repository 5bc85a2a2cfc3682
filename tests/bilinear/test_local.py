"""Local searches and the closed form: Algorithm 1, ascent, GLRAM, two-dimensional SVD."""

import numpy as np
import pytest

from sdpdr.bilinear import alternating, ascent, glram, interior_point, two_d_svd
from sdpdr.errors import DataError, DataTypeError, ShapeError
from sdpdr.families.sopca.bases import RunStatus, root_scatter
from sdpdr.families.sopca.recipe import matrices_and_numbers, numbers_of_components

F1 = 31.569991
SEARCHES = (alternating, ascent, glram)


def stack_of(seed, shape=(4, 5, 4)):
    return np.random.default_rng(seed).standard_normal(shape)


def test_glram_meets_its_oracle_and_theorem_4_3_holds_with_a_quarter():
    stack = stack_of(0)
    best = glram(stack, 2, n_starts=10, tol=1e-12, max_iter=6000)
    assert best.value == pytest.approx(36.32119, abs=1e-5)
    assert best.value == pytest.approx(np.sum(best.transform(stack) ** 2))
    assert best.value <= F1**2 / 4 == pytest.approx(249.17, abs=0.01)
    # It is sharp for one matrix and one component: f_1 = 2 sigma and f_2 = sigma^2.
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
    top = np.linalg.eigvalsh(right)[-2:].sum()
    assert np.trace(bases.rows.T @ right @ bases.rows) == pytest.approx(top, rel=1e-9)


@pytest.mark.parametrize("run", [ascent, glram])
def test_these_never_fall(run):
    for seed in range(3):
        history = run(stack_of(seed, (3, 5, 5)), 2).history
        assert np.all(np.diff(history) >= -1e-12 * history[-1])


def test_algorithm_1_may_fall_and_the_best_sweep_is_kept():
    stack = stack_of(14, (3, 5, 5))
    found = alternating(stack, 2, tol=1e-9)
    history = np.array(found.history)
    assert np.min(np.diff(history) / history[:-1]) < -0.03
    assert found.value == history.max() > history[-1]
    assert found.kept(stack) == pytest.approx(found.value)


def test_algorithm_1_maximises_a_lower_bound():
    """(4.10): tr A^T sqrt(N N^T) A <= |A^T N|_tr, and both agree on eigenvectors of N N^T."""
    rng = np.random.default_rng(0)
    images = rng.standard_normal((3, 5, 2))
    A = np.linalg.qr(rng.standard_normal((5, 2)))[0]
    kept = np.linalg.svd(A.T @ images, compute_uv=False).sum()
    assert np.trace(A.T @ root_scatter(images) @ A) <= kept
    root, square = root_scatter(images[:1]), images[0] @ images[0].T
    own = np.linalg.eigh(square)[1][:, -2:]
    nuclear = np.linalg.norm(own.T @ images[0], "nuc")
    assert np.trace(own.T @ root @ own) == pytest.approx(nuclear)
    assert root @ root == pytest.approx(square)


@pytest.mark.parametrize("run", SEARCHES)
def test_bases_are_orthonormal_and_one_matrix_is_solved_by_its_singular_vectors(run):
    stack = stack_of(0, (1, 5, 4))
    bases = run(stack, 2, tol=1e-13, max_iter=5000)
    assert bases.kept(stack) == pytest.approx(np.linalg.svd(stack[0])[1][:2].sum())
    bases = run(stack_of(0), (3, 2))
    for basis, k in ((bases.rows, 3), (bases.columns, 2)):
        assert basis.T @ basis == pytest.approx(np.eye(k), abs=1e-12)
        assert np.all(basis[np.argmax(np.abs(basis), axis=0), np.arange(k)] > 0.0)
    # Blank first rows and columns do not blind the start.
    stack = stack_of(1, (5, 4, 4))
    stack[:, :2] = stack[:, :, :2] = 0.0
    assert run(stack, 1).kept(stack) > 0.5 * interior_point(stack, 1).value


def test_the_two_dimensional_svd_has_leading_eigenvectors_of_both_covariances():
    stack = stack_of(2) + 3.0
    centred = stack - stack.mean(axis=0)
    bases = two_d_svd(stack, 2)
    for basis, C in ((bases.rows, centred), (bases.columns, centred.transpose(0, 2, 1))):
        F = sum(M @ M.T for M in C)
        assert np.trace(basis.T @ F @ basis) == pytest.approx(np.linalg.eigvalsh(F)[-2:].sum())
    assert bases.unique
    assert alternating(stack_of(0), 2).unique
    tied = np.stack([np.eye(3), 2.0 * np.eye(3)])
    assert not two_d_svd(tied, 2).unique


def test_random_starts_repeat_and_never_lose():
    stack = stack_of(1)
    many, again = (glram(stack, 2, n_starts=5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(many.rows, again.rows)
    assert many.value >= glram(stack, 2).value
    assert len(many.history) > len(glram(stack, 2).history)


# -- limits and input -------------------------------------------------------------------------


@pytest.mark.parametrize("run", [interior_point, *SEARCHES])
def test_a_limit_that_ends_a_run_is_its_status(run, monkeypatch):
    stack = stack_of(0)
    late = run(stack, 2, time_limit=0.0, tol=1e-12)
    assert (late.status, len(late.history)) == (RunStatus.TIME_LIMIT, 1)
    short = run(stack, 2, max_iter=1, tol=1e-12)
    assert (short.status, len(short.history)) == (RunStatus.ITERATION_LIMIT, 2)
    assert "ITERATION_LIMIT" in repr(short)
    for wrong in ({"max_iter": -1}, {"tol": 0.0}, {"time_limit": -1.0}):
        with pytest.raises(DataError, match=next(iter(wrong))):
            run(stack, 2, **wrong)

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("sdpdr.families.sopca.bases.Deadline.is_over", stop)
    found = run(stack, 2)
    assert (found.status, found.value) == (RunStatus.INTERRUPTED, found.history[0])


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([np.ones((3, 2)), np.ones((2, 2))], ShapeError, "shape \\(2, 2\\) and some of \\(3, 2\\)"),
        (np.ones((3, 2)), ShapeError, "Pass X\\[None\\]"),
        (np.ones((0, 3, 2)), ShapeError, "it has shape \\(0, 3, 2\\)"),
        (np.zeros((2, 3, 2)), DataError, "all entries of X are zero. There"),
        (np.array([[[1.0, 2.0]], [[np.inf, 0.0]]]), DataError, "X\\[1, 0, 0\\] = inf"),
        ([[["a", "b"]]], DataError, "X: "),
        (np.ones((1, 2, 2)) * 1j, DataError, "Complex"),
    ],
)
def test_input_that_is_no_stack_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        matrices_and_numbers(given, 1)


def test_wrong_numbers_of_components_and_starts():
    for value, error, words in (
        (5, DataError, "at most 4 components on both sides"),
        (0, DataError, "at least 1"),
        ((6, 1), DataError, "at most \\(5, 4\\)"),
        ((1, 2, 3), DataError, "a number or a pair"),
        ((1, True), DataTypeError, "not an integer"),
    ):
        with pytest.raises(error, match=words):
            numbers_of_components(value, (4, 5, 4))
    assert numbers_of_components((5, 1), (4, 5, 4)) == (5, 1)
    with pytest.raises(ShapeError, match="\\(4, 2\\)"):
        ascent(stack_of(0), 2, start=(np.eye(5)[:, :2], np.eye(4)[:, :3]))
