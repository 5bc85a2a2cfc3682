"""Second-order PCA as an estimator: scikit-learn's checks, stacks and tables, bounds, refusals."""

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr.errors import (
    DataError,
    NonUniqueWarning,
    ShapeError,
    UncertifiedWarning,
    UnknownNameError,
)
from sdpdr.families.sopca.estimator import METHODS

IMAGES = load_digits().images[:60]
TABLE = IMAGES.reshape(60, 64)
STACK = np.random.default_rng(0).standard_normal((4, 5, 4))


# Tables of vectors, which are matrices of one row; the checks pass no stacks.
@pytest.mark.daily(8)
@pytest.mark.integration
@parametrize_with_checks([sdpdr.SOPCA(1)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_reports_what_its_bases_keep(method):
    pca = sdpdr.SOPCA(3, method=method, certify=True).fit(IMAGES)
    small = pca.transform(IMAGES)
    assert small.shape == (60, 3, 3)
    assert pca.rows_.T @ pca.rows_ == pytest.approx(np.eye(3), abs=1e-10)
    assert pca.columns_.T @ pca.columns_ == pytest.approx(np.eye(3), abs=1e-10)
    assert pca.objective_ == pytest.approx(np.linalg.svd(small, compute_uv=False).sum())
    assert pca.energy_ratio_ == pytest.approx(np.sum(small**2) / np.sum(IMAGES**2))
    assert 0.0 <= pca.gap_ < 0.1
    assert pca.n_iter_ >= 1
    assert (pca.image_shape_, pca.n_features_in_) == ((8, 8), 64)
    # Columns in the order of the squares along them, but for closed forms.
    if not method.startswith("2d"):
        for squares in (
            np.einsum("iab,icb->ac", small, small),
            np.einsum("iab,iac->bc", small, small),
        ):
            along = np.diag(squares)
            np.testing.assert_allclose(squares, np.diag(along), atol=1e-9 * along.max())
            assert np.all(np.diff(along) <= 0.0)


def test_polishing_improves_the_rounded_bases_and_those_of_algorithm_1():
    pca = sdpdr.SOPCA(2).fit(STACK)
    assert 2 * pca.upper_bound_ == pytest.approx(31.569991, rel=1e-4)
    assert pca.gap_ == pytest.approx(pca.upper_bound_ / pca.objective_ - 1.0)
    assert pca.relaxation_.round(STACK).value < pca.objective_ <= pca.upper_bound_
    assert pca.objective_ >= sdpdr.SOPCA(2, method="alternating").fit(STACK).objective_


def test_frames_on_request_hold_tables_and_leave_stacks_alone():
    table, pca = sdpdr.SOPCA(3).fit(TABLE), sdpdr.SOPCA(3, method="2dsvd")
    plain = table.transform(TABLE)
    assert table.inverse_transform(plain).shape == (60, 64)
    with sklearn.config_context(transform_output="pandas"):
        frame, stack = table.transform(TABLE), pca.fit_transform(IMAGES)
        assert 0.0 < pca.score(IMAGES) < 1.0
    assert list(frame.columns) == ["sopca0", "sopca1", "sopca2"]
    np.testing.assert_array_equal(frame.to_numpy(), plain)
    np.testing.assert_allclose(pca.transform(IMAGES.tolist()), stack, atol=1e-9)


def test_vectors_are_matrices_of_one_row_about_their_mean():
    X = np.random.default_rng(0).standard_normal((60, 5)) * [4.0, 3.0, 1.0, 0.5, 0.2]
    pca, there = sdpdr.SOPCA(2).fit(X), sdpdr.SOPCA(2).fit(X + 100.0)
    assert (pca.rows_.shape, pca.columns_.shape) == ((1, 1), (5, 2))
    about = X - X.mean(axis=0)
    assert pca.transform(X) == pytest.approx(about @ pca.columns_ * pca.rows_[0, 0])
    assert pca.objective_ == pytest.approx(np.linalg.norm(about @ pca.columns_, axis=1).sum())
    assert pca.gap_ < 1e-4
    assert there.objective_ == pytest.approx(pca.objective_, rel=1e-4)
    for model in (sdpdr.SOPCA(2, center=False).fit(X), sdpdr.SOPCA(2).fit(STACK)):
        assert not model.mean_.any()


@pytest.mark.parametrize("method", ["convex", "2dsvd"])
def test_inverse_transform_is_the_projection(method):
    pca = sdpdr.SOPCA((3, 4), method=method, center=True).fit(STACK)
    near = pca.inverse_transform(pca.transform(STACK))
    A, B, mean = pca.rows_, pca.columns_, STACK.mean(axis=0)
    assert near == pytest.approx(A @ A.T @ (STACK - mean) @ B @ B.T + mean)


def test_ties_and_limits_are_warned_of():
    stack = np.stack([np.eye(3), 2.0 * np.eye(3)])
    for method in ("convex", "2dsvd"):
        with pytest.warns(NonUniqueWarning, match="tied"):
            sdpdr.SOPCA(2, method=method).fit(stack)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdpdr.SOPCA(3).fit(stack)
    with pytest.warns(UncertifiedWarning, match="ITERATION_LIMIT"):
        pca = sdpdr.SOPCA(2, max_iter=1).fit(STACK)
    assert pca.n_iter_ == 1
    assert 2 * pca.upper_bound_ >= 31.569991


def test_faults_are_named():
    for options, data, error, words in (
        ({"method": "frank_wolfe"}, STACK, UnknownNameError, "unknown method 'frank_wolfe'"),
        ({"n_components": 5}, STACK, DataError, "n_components=5"),
        ({"n_components": (1, 5)}, STACK, DataError, "at most \\(5, 4\\)"),
        ({}, [np.ones((2, 2)), np.ones((3, 2))], ShapeError, "one shape"),
        ({}, np.zeros((2, 3, 3)), DataError, "zero"),
        ({}, np.full((2, 3, 3), np.nan), DataError, "X\\[0, 0, 0\\]"),
        ({}, np.ones((2, 3, 3, 3)), DataError, "dim 4"),
        ({"n_components": 3}, np.ones((4, 2)), DataError, "n_features=2"),
        ({"center": True}, np.ones((4, 2, 2)), DataError, "mean"),
    ):
        with pytest.raises(error, match=words):
            sdpdr.SOPCA(**options).fit(data)
    with pytest.raises(NotFittedError):
        sdpdr.SOPCA().transform(STACK)
    pca = sdpdr.SOPCA(2, method="2dsvd").fit(STACK)
    with pytest.raises(ShapeError, match="\\(4, 5\\), expected were \\(5, 4\\)"):
        pca.transform(STACK.transpose(0, 2, 1))
    with pytest.raises(ShapeError, match="\\(1, 20\\), expected were \\(5, 4\\)"):
        pca.transform(STACK.reshape(4, 20))
    with pytest.raises(ShapeError, match="\\(m, 2, 2\\) or \\(m, 4\\)"):
        pca.inverse_transform(np.ones((3, 5)))
    assert pca.transform(np.zeros((1, 5, 4))) == pytest.approx(np.zeros((1, 2, 2)))
