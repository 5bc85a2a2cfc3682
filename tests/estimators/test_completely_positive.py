"""The estimator of completely positive factors: memberships and proofs."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from sdpdr import CompletelyPositive
from sdpdr.errors import DataError, UncertifiedWarning, UnknownNameError
from sdpdr.factorize import CpStatus


def cycle(c: float) -> np.ndarray:
    shift = np.roll(np.eye(5), 1, axis=0)
    return c * np.eye(5) + shift + shift.T


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=3, cluster_std=0.6, random_state=0)


@pytest.mark.integration
def test_clusters_of_points(blobs):
    X, y = blobs
    A = rbf_kernel(X, gamma=0.5)
    found = CompletelyPositive(3).fit(A)
    assert adjusted_rand_score(y, found.labels_) > 0.9
    np.testing.assert_allclose(found.affinity_matrix_, A)
    B = found.embedding_
    assert B.shape == (60, 3)
    assert np.min(B) >= 0.0
    assert found.residual_ == pytest.approx(np.linalg.norm(A - B @ B.T) / np.linalg.norm(A))
    assert found.bound_ <= found.residual_
    np.testing.assert_allclose(found.memberships_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.labels_, np.argmax(found.memberships_, axis=1))
    assert found.status_ is CpStatus.UNDECIDED
    assert found.n_features_in_ == 60
    np.testing.assert_array_equal(clone(found).fit_predict(A), found.labels_)
    np.testing.assert_array_equal(clone(found).fit_transform(A), B)


def test_one_column_is_that_of_the_leading_eigenvector_and_more_obey_the_bound():
    points = np.random.default_rng(0).standard_normal((12, 2))
    A = rbf_kernel(points, gamma=1.0)
    for k in (1, 2, 4):
        found = CompletelyPositive(k).fit(A)
        assert found.bound_ <= found.residual_ < 1.5 * found.bound_ + 0.05
        # The leading eigenvector of a positive matrix is positive: one column is solved exactly.
        assert k > 1 or found.residual_ == pytest.approx(found.bound_, rel=1e-6)
    assert CompletelyPositive(1).fit(-np.eye(2)).residual_ == pytest.approx(1.0)


def test_columns_are_left_to_the_proof():
    found = CompletelyPositive().fit(cycle(2.2))
    assert found.status_ is CpStatus.CP
    assert found.certificate_ is None
    assert found.residual_ <= 1e-12
    refuted = CompletelyPositive(starts=1).fit(cycle(1.8) + 0.02)
    assert refuted.status_ is CpStatus.NOT_CP
    assert refuted.certificate_.holds_against(refuted.affinity_matrix_)


def test_an_exact_factor_of_the_size_asked_for():
    B = np.random.default_rng(0).random((6, 3))
    found = CompletelyPositive(3).fit(B @ B.T)
    assert found.status_ is CpStatus.CP
    assert found.residual_ <= 1e-8


def test_an_affinity_that_cannot_be_factored():
    A = np.array([[1.0, -0.5], [-0.5, 1.0]])
    for k in (None, 2):
        found = CompletelyPositive(k).fit(A)
        assert found.status_ is CpStatus.NOT_CP
        assert found.certificate_.holds_against(A)
    assert found.residual_ == pytest.approx(np.sqrt(0.5 / 2.5))


def test_rows_of_zeros_belong_nowhere():
    A = np.diag([1.0, 0.0, 2.0])
    found = CompletelyPositive().fit(A)
    assert found.labels_[1] == -1
    assert found.memberships_[1].sum() == 0.0


def test_matrices_and_parameters_without_meaning_are_refused_in_words():
    for estimator, X, error, words in [
        (CompletelyPositive(2, affinity="precomputed"), np.ones((3, 2)), DataError, "square"),
        (CompletelyPositive(2), np.triu(np.ones((3, 3))), DataError, "symmetric"),
        (CompletelyPositive(4), np.eye(3), DataError, "out of range"),
        (CompletelyPositive(0), np.eye(3), DataError, "at least 1"),
        (CompletelyPositive(affinity="rbf"), np.eye(3), UnknownNameError, "precomputed"),
        (CompletelyPositive(starts=0, n_components=1), np.eye(3), DataError, "starts"),
    ]:
        with pytest.raises(error, match=words):
            estimator.fit(X)


def test_affinities_of_neighbours_are_those_of_normalised_cuts():
    """Their largest eigenvalue is one, once for every part of the graph of neighbours."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((20, 2)), rng.standard_normal((15, 2)) + 50.0])
    found = CompletelyPositive(2).fit(X)
    values = np.linalg.eigvalsh(found.affinity_matrix_)[::-1]
    np.testing.assert_allclose(values[:2], 1.0, atol=1e-12)
    assert values[2] < 0.999
    assert len(set(found.labels_[:20])) == len(set(found.labels_[20:])) == 1
    assert found.labels_[0] != found.labels_[-1]


@pytest.mark.parametrize("affinity", ["knn", "precomputed"])
def test_the_answer_has_the_precision_of_the_data(blobs, affinity):
    X = blobs[0] if affinity == "knn" else rbf_kernel(blobs[0])
    short, long = (
        CompletelyPositive(3, affinity=affinity).fit(X.astype(kind)) for kind in ("f4", "f8")
    )
    for name in ("embedding_", "memberships_"):
        assert getattr(short, name).dtype == np.float32
        assert getattr(long, name).dtype == np.float64
        np.testing.assert_allclose(getattr(short, name), getattr(long, name), atol=1e-3)
    np.testing.assert_array_equal(short.labels_, long.labels_)


@pytest.mark.parametrize("seconds", [0.0, None])
def test_it_warns_where_its_time_limit_ended_it_undecided_and_nowhere_else(seconds):
    B = np.random.default_rng(0).random((6, 9))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = CompletelyPositive(time_limit=seconds, starts=1).fit(B @ B.T)
    ended = found.status_ is CpStatus.UNDECIDED
    assert ended == (seconds == 0.0)
    told = [each for each in caught if issubclass(each.category, UncertifiedWarning)]
    assert len(told) == ended
    assert all("time limit of 0 s" in str(each.message) for each in told)
