"""Second-order PCA as an estimator: scikit-learn's checks, stacks and tables, bounds, faults."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr.bilinear import interior_point
from sdpdr.errors import (
    DataError,
    DataTypeError,
    NonUniqueWarning,
    ShapeError,
    UncertifiedWarning,
    UnknownNameError,
)
from sdpdr.families.sopca.estimator import METHODS

DIGITS = load_digits()
IMAGES, LABELS = DIGITS.images[:150], DIGITS.target[:150]
STACK = np.random.default_rng(0).standard_normal((4, 5, 4))


# Tables of vectors, which are matrices of one row; stacks are beyond what the checks pass.
@parametrize_with_checks([sdpdr.SOPCA(1, method="alternating"), sdpdr.SOPCA(1, method="2dsvd")])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_tells_what_its_bases_keep(method):
    pca = sdpdr.SOPCA(3, method=method, certify=True).fit(IMAGES)
    rows = 8 if method == "2dpca" else 3
    assert pca.transform(IMAGES).shape == (150, rows, 3)
    assert pca.rows_.T @ pca.rows_ == pytest.approx(np.eye(rows), abs=1e-10)
    assert pca.columns_.T @ pca.columns_ == pytest.approx(np.eye(3), abs=1e-10)
    small = pca.transform(IMAGES)
    assert pca.objective_ == pytest.approx(np.linalg.svd(small, compute_uv=False).sum())
    assert pca.energy_ratio_ == pytest.approx(np.sum(small**2) / np.sum(IMAGES**2))
    assert 0.0 <= pca.gap_ < 0.1
    assert pca.n_iter_ >= 1
    assert pca.image_shape_ == (8, 8)
    assert pca.n_features_in_ == 64


def test_without_a_certificate_there_is_no_bound():
    pca = sdpdr.SOPCA(2, method="glram").fit(IMAGES)
    assert pca.upper_bound_ == pca.gap_ == np.inf
    assert pca.relaxation_ is None
    assert pca.T_P_ is None


def test_the_gap_is_that_of_the_rounded_bases():
    plain = sdpdr.SOPCA(2, polish=False).fit(STACK)
    assert np.array_equal(plain.T_P_, plain.relaxation_.left)
    top = np.linalg.eigh(plain.T_P_)[1][:, -2:]
    assert plain.rows_ @ plain.rows_.T == pytest.approx(top @ top.T)
    assert 2 * plain.upper_bound_ == pytest.approx(31.569991, rel=1e-4)
    assert plain.gap_ == pytest.approx(plain.upper_bound_ / plain.objective_ - 1.0)
    polished = sdpdr.SOPCA(2).fit(STACK)
    assert plain.objective_ < polished.objective_ <= polished.upper_bound_


def test_frank_wolfe_and_interior_point_agree():
    a = sdpdr.SOPCA(2, method="frank_wolfe", tol=1e-3).fit(STACK)
    b = sdpdr.SOPCA(2, tol=1e-7).fit(STACK)
    assert a.upper_bound_ == pytest.approx(b.upper_bound_, rel=2e-3)
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-6)


def test_tables_of_flattened_matrices_give_the_same():
    table = IMAGES.reshape(150, 64)
    a = sdpdr.SOPCA(3).fit(IMAGES)
    b = sdpdr.SOPCA(3, image_shape=(8, 8)).fit(table)
    assert b.objective_ == pytest.approx(a.objective_, rel=1e-12)
    assert b.transform(table) == pytest.approx(a.transform(IMAGES).reshape(150, 9), abs=1e-9)
    assert b.inverse_transform(b.transform(table)).shape == (150, 64)
    assert list(b.get_feature_names_out()[:2]) == ["sopca0", "sopca1"]
    assert len(b.get_feature_names_out()) == 9
    # Stacks and tables mix once the shape is known.
    assert b.transform(IMAGES).shape == (150, 3, 3)


def test_vectors_are_matrices_of_one_row():
    X = np.random.default_rng(0).standard_normal((60, 5)) * [4.0, 3.0, 1.0, 0.5, 0.2]
    pca = sdpdr.SOPCA(2).fit(X)
    assert pca.rows_.shape == (1, 1)
    assert pca.columns_.shape == (5, 2)
    about = X - X.mean(axis=0)
    assert pca.transform(X) == pytest.approx(about @ pca.columns_ * pca.rows_[0, 0])
    assert pca.objective_ == pytest.approx(np.linalg.norm(about @ pca.columns_, axis=1).sum())
    assert pca.gap_ < 1e-4


def test_by_default_vectors_are_measured_from_their_mean_and_matrices_from_zero():
    X = np.random.default_rng(0).standard_normal((60, 5)) * [4.0, 3.0, 1.0, 0.5, 0.2]
    here, there = sdpdr.SOPCA(2).fit(X), sdpdr.SOPCA(2).fit(X + 100.0)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-4)
    assert there.mean_ == pytest.approx(here.mean_ + 100.0)
    for model in (sdpdr.SOPCA(2, center=False).fit(X), sdpdr.SOPCA(2).fit(STACK)):
        assert not model.mean_.any()


def test_closed_forms_keep_their_bases_and_others_lie_along_their_axes():
    columns_only = sdpdr.SOPCA((8, 2), method="2dpca").fit(IMAGES)
    np.testing.assert_array_equal(columns_only.rows_, np.eye(8))
    few, more = (sdpdr.SOPCA(k, method="2dsvd").fit(IMAGES) for k in (2, 3))
    np.testing.assert_allclose(few.columns_, more.columns_[:, :2], atol=1e-9)
    small = sdpdr.SOPCA(3, method="ascent").fit(IMAGES).transform(IMAGES)
    for squares in (np.einsum("iab,icb->ac", small, small), np.einsum("iab,iac->bc", small, small)):
        along = np.diag(squares)
        np.testing.assert_allclose(squares, np.diag(along), atol=1e-9 * along.max())
        assert np.all(np.diff(along) <= 0.0)


@pytest.mark.parametrize("method", ["convex", "2dsvd"])
def test_inverse_transform_is_the_projection(method):
    pca = sdpdr.SOPCA((3, 4), method=method, center=True).fit(STACK)
    near = pca.inverse_transform(pca.transform(STACK))
    assert near.shape == STACK.shape
    assert pca.transform(near) == pytest.approx(pca.transform(STACK))
    A, B = pca.rows_, pca.columns_
    mean = STACK.mean(axis=0)
    assert near == pytest.approx(A @ A.T @ (STACK - mean) @ B @ B.T + mean)
    whole = sdpdr.SOPCA((5, 4), method="glram").fit(STACK)
    assert whole.inverse_transform(whole.transform(STACK)) == pytest.approx(STACK)


def test_in_a_pipeline():
    table = DIGITS.data[:300]
    model = make_pipeline(sdpdr.SOPCA(4, image_shape=(8, 8)), KNeighborsClassifier(1))
    assert (
        model.fit(table, DIGITS.target[:300]).score(DIGITS.data[300:500], DIGITS.target[300:500])
        > 0.9
    )
    again = clone(model.steps[0][1])
    assert again.get_params() == model.steps[0][1].get_params()


def test_lists_of_matrices():
    pca = sdpdr.SOPCA(2, method="alternating").fit(list(STACK))
    assert pca.transform(STACK.tolist()).shape == (4, 2, 2)


def test_starts_follow_the_random_state():
    fits = [
        sdpdr.SOPCA(2, method="ascent", n_starts=4, random_state=r).fit(STACK).objective_
        for r in (0, 0, 1)
    ]
    assert fits[0] == fits[1]
    assert min(fits) >= sdpdr.SOPCA(2, method="ascent").fit(STACK).objective_ * (1 - 1e-9)


def test_bases_that_are_tied_are_told():
    stack = np.stack([np.eye(3), 2.0 * np.eye(3)])
    with pytest.warns(NonUniqueWarning, match="tied"):
        sdpdr.SOPCA(2).fit(stack)
    mirrored = np.stack([np.eye(4)[:3], -np.eye(4)[:3]])
    with pytest.warns(NonUniqueWarning, match="tied"):
        sdpdr.SOPCA(2, method="2dsvd").fit(mirrored)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdpdr.SOPCA(3).fit(stack)


def test_a_limit_reached_is_told():
    with pytest.warns(UncertifiedWarning, match="ITERATION_LIMIT"):
        pca = sdpdr.SOPCA(2, max_iter=1).fit(STACK)
    assert pca.n_iter_ == 1
    assert pca.upper_bound_ >= interior_point(STACK, 2).value


@pytest.mark.parametrize(
    ("options", "data", "error", "words"),
    [
        ({"method": "fw"}, STACK, UnknownNameError, "unknown method 'fw'"),
        ({"n_components": 5}, STACK, DataError, "n_components=5"),
        ({"n_components": (1, 5)}, STACK, DataError, "at most \\(5, 4\\)"),
        ({}, [np.ones((2, 2)), np.ones((3, 2))], ShapeError, "one shape"),
        ({}, np.zeros((2, 3, 3)), DataError, "zero"),
        ({}, np.full((2, 3, 3), np.nan), DataError, "X\\[0, 0, 0\\]"),
        ({}, np.ones((2, 3, 3, 3)), DataError, "dim 4"),
        ({"image_shape": (2, 2)}, STACK, ShapeError, "expected were \\(2, 2\\)"),
        ({"image_shape": (2, 3)}, np.ones((4, 8)), ShapeError, "8 columns"),
        ({"n_components": 3}, np.ones((4, 2)), DataError, "n_features=2"),
        ({"center": True}, np.ones((4, 2, 2)), DataError, "mean"),
        ({}, [[["a", "b"]]], DataTypeError, "real numbers"),
    ],
)
def test_faults_are_named(options, data, error, words):
    with pytest.raises(error, match=words):
        sdpdr.SOPCA(**options).fit(data)


def test_faults_after_the_fit():
    with pytest.raises(NotFittedError):
        sdpdr.SOPCA().transform(STACK)
    pca = sdpdr.SOPCA(2).fit(STACK)
    with pytest.raises(ShapeError, match="\\(4, 5\\), expected were \\(5, 4\\)"):
        pca.transform(STACK.transpose(0, 2, 1))
    with pytest.raises(ShapeError, match="\\(m, 2, 2\\) or \\(m, 4\\)"):
        pca.inverse_transform(np.ones((3, 5)))
    assert pca.transform(np.zeros((1, 5, 4))) == pytest.approx(np.zeros((1, 2, 2)))
