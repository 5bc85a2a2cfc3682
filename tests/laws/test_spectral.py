"""Extreme eigenvalues, inertia, and the signs of eigenvectors, against dense linear algebra."""

import numpy as np
import pytest
import scipy.linalg as sl
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr.linalg.inertia import LdlFactor, is_positive_on
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.linalg.spectral import complement, factor_spectrum, fix_signs, gram_spectrum, project_psd

DENSE = 120
LARGE = DENSE + 30


@pytest.fixture(autouse=True)
def _small_orders_are_large(monkeypatch):
    monkeypatch.setattr("sdpdr.linalg.smallest.DENSE_ORDER", DENSE)


def rng(seed=0):
    return np.random.default_rng(seed)


def symmetric(n, density, seed):
    root = sp.random_array(
        (n, n), density=density, random_state=rng(seed), data_sampler=rng(seed + 1).normal
    )
    return sp.csr_array(root + root.T)


def laplacian(n, seed, share_negative=0.0):
    """Laplacian of a path with random chords; some weights negative."""
    chords = rng(seed).integers(0, n, (3 * n, 2))
    chords = np.vstack([chords[chords[:, 0] != chords[:, 1]], np.c_[: n - 1, 1:n]])
    weights = rng(seed).uniform(0.1, 1.0, len(chords))
    weights[rng(seed + 1).uniform(size=len(chords)) < share_negative] *= -1.0
    half = sp.csr_array((weights, tuple(chords.T)), shape=(n, n))
    adjacency = half + half.T
    return sp.csr_array(sp.diags_array(adjacency.sum(axis=1)) - adjacency)


def smallest_by_lapack(matrix, null, mass):
    """Smallest eigenvalue of the pencil on an orthonormal basis of the complement."""
    n = matrix.shape[0]
    basis = np.eye(n) if null is None or null.shape[1] == 0 else sl.null_space(null.T)
    weight = None if mass is None else basis.T @ mass.toarray() @ basis
    return sl.eigh(basis.T @ matrix.toarray() @ basis, weight, eigvals_only=True)[0]


# -- smallest eigenvalue ------------------------------------------------------------------------

ONES = np.ones((LARGE, 1))
NORMAL = rng(9).standard_normal((LARGE, 3))
WEIGHTS = sp.diags_array(rng(8).uniform(0.1, 3.0, LARGE)).tocsr()
STIFF = laplacian(LARGE, 5) + 0.01 * sp.eye_array(LARGE)

LARGE_PENCILS = {
    "Laplacian": (laplacian(LARGE, 0), ONES, None),
    "indefinite, null vectors and diagonal mass": (symmetric(LARGE, 0.03, 1), NORMAL, WEIGHTS),
    "indefinite, mass off the diagonal": (symmetric(LARGE, 0.03, 2), NORMAL, STIFF),
    "Laplacians with one null vector": (laplacian(LARGE, 3, 0.2), ONES, laplacian(LARGE, 4)),
    "far below Gershgorin": (-sp.eye_array(LARGE, format="csr"), None, STIFF),
    "negative definite": (-laplacian(LARGE, 0) - sp.eye_array(LARGE), ONES, None),
    "one eigenvalue": (sp.eye_array(LARGE, format="csr"), ONES, None),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGE_PENCILS)
def test_sparse_smallest_eigenvalue_agrees_with_dense(name):
    matrix, null, mass = LARGE_PENCILS[name]
    value, vector = smallest_eigenvalue(sp.csr_array(matrix), null, mass)
    assert value == pytest.approx(smallest_by_lapack(matrix, null, mass), rel=1e-8)
    check_vector(matrix, null, mass, value, vector)


@pytest.mark.parametrize("p", [0, 3])
@pytest.mark.parametrize("massive", [False, True])
def test_small_matrices_go_through_lapack(p, massive):
    n, seed = 12, 0
    matrix, null = symmetric(n, 0.4, seed), rng(seed).standard_normal((n, p))
    mass = sp.csr_array(laplacian(n, seed) + sp.eye_array(n)) if massive else None
    value, vector = smallest_eigenvalue(matrix, null, mass)
    assert value == pytest.approx(smallest_by_lapack(matrix, null, mass), rel=1e-10, abs=1e-12)
    check_vector(matrix, null, mass, value, vector)
    assert smallest_eigenvalue(matrix.toarray(), null, mass)[0] == pytest.approx(value)


def check_vector(matrix, null, mass, value, vector):
    weighted = vector if mass is None else mass @ vector
    assert vector @ weighted == pytest.approx(1.0)
    residual = matrix @ vector - value * weighted
    if null is not None and null.shape[1]:
        np.testing.assert_allclose(null.T @ vector, 0.0, atol=1e-8)
        residual -= null @ np.linalg.lstsq(null, residual, rcond=None)[0]
    scale = abs(matrix).max()
    np.testing.assert_allclose(residual / scale, 0.0, atol=1e-7)


# -- inertia ------------------------------------------------------------------------------------


@pytest.mark.nightly
@settings(max_examples=60, derandomize=True)
@given(
    n=st.integers(1, 15),
    p=st.integers(0, 3),
    shift=st.floats(-3, 3),
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["symmetric", "laplacian", "low rank"]),
)
def test_is_positive_on_agrees_with_eigenvalues(n, p, shift, seed, kind):
    p = min(p, n - 1)
    null = rng(seed).standard_normal((n, p))
    if kind == "symmetric":
        matrix = symmetric(n, 0.4, seed) + shift * sp.eye_array(n)
    elif kind == "laplacian":
        matrix = laplacian(n, seed, 0.2) if n > 1 else sp.csr_array((1, 1))
        null[:, :1] = 1.0
    else:
        root = rng(seed).standard_normal((n, max(1, n // 2)))
        matrix = sp.csr_array(root @ root.T)
    smallest = smallest_by_lapack(sp.csr_array(matrix), null, None)
    scale = abs(matrix).max()
    positive = is_positive_on(matrix, null)
    assert not (positive and smallest < -1e-13 * scale)
    if smallest > 1e-10 * scale and factorizes(matrix):
        assert positive


def factorizes(matrix):
    """Whether no pivot vanishes; where one does, nothing is told positive."""
    try:
        LdlFactor(matrix)
    except ArithmeticError:
        return False
    return True


@pytest.mark.parametrize("n", [2, 50])
def test_a_laplacian_is_positive_away_from_ones_exactly_when_connected(n):
    path = sp.diags_array(
        [np.r_[1.0, np.full(n - 2, 2.0), 1.0], -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1]
    )
    ones = np.ones((n, 1))
    assert is_positive_on(path, ones)
    assert not is_positive_on(path)
    assert is_positive_on(path, np.column_stack([ones, np.arange(n)]))
    two_paths = sp.block_diag([path, path], format="csr")
    assert not is_positive_on(two_paths, np.ones((2 * n, 1)))
    each = sp.block_diag([ones, ones], format="csr")
    assert is_positive_on(two_paths, each)
    assert is_positive_on(two_paths, each @ np.array([[1.0, 1.0], [1.0, -1.0]]))


def test_the_second_eigenvalue_of_a_path_is_told_sharply():
    n, margin = 100, 1e-10
    path = sp.diags_array(
        [np.r_[1.0, np.full(n - 2, 2.0), 1.0], -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1]
    )
    second = 2.0 - 2.0 * np.cos(np.pi / n)
    identity = sp.eye_array(n)
    assert is_positive_on(path - (1 - margin) * second * identity, np.ones((n, 1)))
    assert not is_positive_on(path - (1 + margin) * second * identity, np.ones((n, 1)))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_never_positive(bad):
    assert not is_positive_on(sp.csr_array(np.diag([1.0, bad, 1.0])))


# -- dense spectra ------------------------------------------------------------------------------


def test_signs_make_the_largest_entry_positive_and_first_on_ties():
    vectors = np.array([[-3.0, 1.0, -2.0, 0.0], [1.0, 2.0, 2.0, 0.0], [2.0, -5.0, 0.0, 0.0]])
    expected = np.array([[3.0, -1.0, 2.0, 0.0], [-1.0, -2.0, -2.0, 0.0], [-2.0, 5.0, 0.0, 0.0]])
    np.testing.assert_array_equal(fix_signs(vectors), expected)


def test_spectra_of_matrix_and_factor_agree():
    factor = rng().standard_normal((7, 3))
    values, vectors = factor_spectrum(factor)
    dense, dense_vectors = gram_spectrum(factor @ factor.T)
    assert np.all(np.diff(values) <= 0)
    np.testing.assert_allclose(dense[:3], values)
    np.testing.assert_allclose(dense[3:], 0.0, atol=1e-12)
    np.testing.assert_allclose(dense_vectors[:, :3], vectors, atol=1e-8)


def test_the_nearest_psd_matrix_is_psd_and_orthogonal_to_what_was_taken_off():
    matrix = symmetric(8, 0.6, 0).toarray()
    nearest = project_psd(matrix)
    assert np.linalg.eigvalsh(nearest)[0] >= -1e-12
    assert np.linalg.eigvalsh(nearest - matrix)[0] >= -1e-12
    assert np.sum(nearest * (nearest - matrix)) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("p", [0, 1, 3])
def test_the_complement_is_an_orthonormal_basis_of_what_is_left(p):
    null = rng().standard_normal((6, p))
    basis = complement(sp.csr_array(null))
    assert basis.shape == (6, 6 - p)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6 - p), atol=1e-12)
    np.testing.assert_allclose(null.T @ basis, 0.0, atol=1e-12)


@pytest.mark.parametrize("smallest", [1e-6, 1.0])
def test_stiff_laplacians_are_positive_where_points_are_centred_by_other_weights(smallest):
    """A form whose rounding along ones is as large as what it is on the face."""
    n = LARGE
    path = np.c_[: n - 1, 1:n]
    size = np.where(np.arange(n - 1) % 2, smallest, 1e4)
    half = sp.csr_array((size, tuple(path.T)), shape=(n, n))
    matrix = sp.csr_array(sp.diags_array((half + half.T).sum(axis=1)) - half - half.T)
    counts = np.where(np.arange(n) == 7, 2.0, 1.0)[:, None]
    assert is_positive_on(matrix, counts)
    assert not is_positive_on(matrix - 1e-3 * smallest * sp.eye_array(n), counts)
