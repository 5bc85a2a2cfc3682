"""How many directions projections keep by default, and what those are."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.spatial.distance import pdist
from sklearn.datasets import load_wine, make_circles, make_classification
from sklearn.preprocessing import scale

from sdpdr import LDA, LPP, LSDA, NPE, SDA, IsoProjection, SpectralRegression
from sdpdr.errors import DataError, DataTypeError, UnknownNameError
from sdpdr.families.regress import directions

CHOOSING = [LSDA, LPP, NPE, partial(LPP, way="direct"), partial(LSDA, way="regression")]
# Classes of noise leave samples without company.
pytestmark = pytest.mark.filterwarnings("ignore::sdpdr.errors.AddedEdgesWarning")


def few_of_many(n=90, m=12, seed=0):
    """Three classes that two columns tell; the others are noise, and larger."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = 2.0 * rng.standard_normal((n, m))
    X[:, :2] = 0.25 * X[:, :2] + 2.0 * np.array([[0.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])[y]
    return X, y


@pytest.mark.parametrize("make", CHOOSING)
def test_the_number_chosen_is_one_that_may_be_asked_for(make):
    X, y = few_of_many()
    chosen = make().fit(X, y)
    assert 2 <= chosen.n_components_ == len(chosen.components_) < X.shape[1]
    asked = make(chosen.n_components_, orthonormal=True).fit(X, y)
    np.testing.assert_allclose(asked.components_, chosen.components_, atol=1e-10)
    np.testing.assert_allclose(asked.intercept_, chosen.intercept_, atol=1e-10)
    assert not asked.tried_


@pytest.mark.parametrize("make", CHOOSING)
def test_components_chosen_are_orthonormal_and_come_with_what_was_tried(make):
    X, y = few_of_many()
    chosen = make().fit(X, y)
    np.testing.assert_allclose(
        chosen.components_ @ chosen.components_.T, np.eye(chosen.n_components_), atol=1e-12
    )
    # Of parts of a graph that are not joined, eigenvalues are equal, and taken together.
    assert [number for number, _ in chosen.tried_ if number > 1] == [2, 4, 8, 12]
    assert all(0.0 <= share <= 1.0 for _, share in chosen.tried_)


@pytest.mark.parametrize("make", CHOOSING)
def test_what_needs_all_directions_keeps_all_distances(make):
    X, y = make_circles(90, noise=0.05, factor=0.5, random_state=0)
    chosen = make().fit(X, y)
    assert chosen.n_components_ == 2
    np.testing.assert_allclose(pdist(chosen.transform(X)), pdist(X))


@pytest.mark.parametrize("shape", [(30, 80), (120, 90)])
@pytest.mark.parametrize("sparse", [False, True])
def test_all_directions_are_a_turn_of_the_data_whatever_their_shape(shape, sparse):
    """Also where distances along the graph have negative eigenvalues, or more are than tried."""
    X = np.random.default_rng(0).standard_normal(shape)
    y = np.arange(shape[0]) % 2
    found = IsoProjection().fit(sp.csr_array(X) if sparse else X, y)
    assert found.components_.shape == (min(shape[0] - 1, shape[1]), shape[1])
    assert found.eigenvalues_.shape == (found.n_components_,)
    np.testing.assert_allclose(pdist(found.transform(X)), pdist(X), rtol=1e-6)


def test_sparse_data_have_the_directions_of_dense_ones():
    X, y = few_of_many()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for make in (LSDA, LPP):
        dense, sparse = make().fit(X, y), make().fit(sp.csr_array(X), y)
        assert sparse.tried_ == dense.tried_
        np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-7)


def test_lengths_of_the_pencil_may_be_kept():
    X, y = few_of_many()
    chosen = LSDA(orthonormal=False).fit(X, y)
    asked = LSDA(chosen.n_components_).fit(X, y)
    np.testing.assert_allclose(asked.components_, chosen.components_, atol=1e-10)
    assert not np.allclose(np.linalg.norm(asked.components_, axis=1), 1.0)
    lengths = np.linalg.norm(IsoProjection(2, orthonormal=False).fit(X).components_, axis=1)
    assert not np.allclose(lengths, 1.0)


def test_discriminants_may_be_orthonormal():
    X, y = few_of_many()
    plain, turned = LDA().fit(X, y), LDA(orthonormal=True).fit(X, y)
    np.testing.assert_allclose(turned.components_ @ turned.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(turned.predict(X), plain.predict(X))


@pytest.mark.parametrize("make", [LPP, LDA, SDA, LSDA, IsoProjection])
@pytest.mark.parametrize("value", ["yes", 1, None, np.array([1.0, 0.0])], ids=str)
def test_orthonormal_is_true_false_or_auto(make, value):
    X, y = few_of_many()
    said = re.escape(f"orthonormal={value!r} is not True, False or 'auto'")
    with pytest.raises(DataTypeError, match=said):
        make(orthonormal=value).fit(X, y)


@pytest.mark.parametrize("make", [LPP, LDA, LSDA, SpectralRegression])
@pytest.mark.parametrize("value", ["yes", -1.0, None, np.array([1.0, 0.0])], ids=str)
def test_a_ridge_is_a_number_or_a_word(make, value):
    X, y = few_of_many()
    with pytest.raises((DataError, UnknownNameError), match=re.escape(f"{value!r}")):
        make(alpha=value).fit(X, y)


@pytest.mark.parametrize("name", ["way", "weights"])
def test_words_that_are_arrays_are_named(name):
    X, y = few_of_many()
    with pytest.raises((DataTypeError, UnknownNameError), match=r"array\("):
        SDA(**{name: np.array(["direct", "heat"])}).fit(X, y)


def test_without_labels_there_are_two_directions_for_pictures():
    X, _ = few_of_many()
    for make in (LPP, NPE, IsoProjection):
        assert make().fit(X).components_.shape == (2, X.shape[1])
        assert not make().fit(X).tried_


def test_more_samples_are_chosen_by_some_of_them(monkeypatch):
    monkeypatch.setattr("sdpdr.families.regress.graph_projection.SAMPLES", 60)
    X, y = make_classification(200, 12, n_informative=3, n_redundant=0, random_state=0)
    one, other = LSDA(random_state=3).fit(X, y), LSDA(random_state=3).fit(X, y)
    assert one.tried_ == other.tried_ != LSDA(random_state=4).fit(X, y).tried_
    asked = LSDA(one.n_components_, orthonormal=True).fit(X, y)
    np.testing.assert_allclose(asked.components_, one.components_, atol=1e-10)


def test_samples_drawn_have_two_of_every_class():
    y = np.repeat([0, 1, 2, 3], [500, 3, 1, 500])
    drawn = directions.some_of_each(y, 20, 0)
    assert len(drawn) == len(set(drawn)) == 20
    assert np.all(np.bincount(y[drawn])[[1, 2]] >= [2, 1])
    np.testing.assert_array_equal(directions.some_of_each(y[:20], 20, 0), np.arange(20))
    assert len(directions.some_of_each(np.arange(50), 20, 0)) == 50


def test_of_numbers_that_tell_alike_the_largest_is_taken():
    y = np.arange(60) % 2
    told = np.column_stack([y, 0.01 * np.arange(60), 0.01 * np.arange(60) % 0.07])
    choice = directions.choose_number(told, y)
    assert choice.tried == ((1, 1.0), (2, 1.0), (3, 1.0))
    assert choice.number == 3
    noise = 9.0 * np.random.default_rng(0).standard_normal((60, 3))
    assert directions.choose_number(np.column_stack([y, noise]), y).number == 1


def test_a_direction_that_others_span_leaves_those_after_it_whole():
    rows = np.random.default_rng(0).standard_normal((4, 6))
    rows[2] = rows[0] - 2.0 * rows[1]
    basis, kept = directions.orthonormal(rows)
    assert kept.tolist() == [True, True, False, True]
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(rows @ basis.T @ basis, rows, atol=1e-12)


def test_wide_data_are_not_given_more_directions_than_they_bear():
    assert directions.most_tried((400, 200_000), 2) == 5
    assert directions.most_tried((400, 10**7), 9) == 9
    assert directions.most_tried((40, 1000), 2) == 39
    assert directions.most_tried((1000, 20), 2) == 20


@pytest.mark.parametrize(
    "make",
    [IsoProjection, partial(LPP, orthonormal=True), partial(LSDA, orthonormal=True)],
)
def test_a_number_asked_for_is_kept_or_refused(make):
    """Of data of rank two a third direction is no direction of its own."""
    X, y = few_of_many(m=2)
    X = np.column_stack([X, X @ [1.0, 2.0]])
    labels = y if make().kind == "contrast" else None
    for way in ("regression", "direct"):
        assert make(2, way=way).fit(X, labels).components_.shape == (2, 3)
        with pytest.raises(DataError, match=r"n_components=3 is out of range: .* 1\.\.2"):
            make(3, way=way).fit(X, labels)


def test_all_directions_have_one_number_where_no_others_are_left():
    """Columns that the data spread along, and the data, are one choice and not two."""
    X, y = few_of_many(m=3)
    choice = directions.choose_number(X, y, (X, 3))
    assert [number for number, _ in choice.tried] == [1, 2, 3]
    wider = directions.choose_number(X[:, :2], y, (X, 3))
    assert [number for number, _ in wider.tried] == [1, 2, 3]


def test_equal_eigenvalues_are_not_parted():
    """Any turn of their directions is as good: order and unit would decide between them."""
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    whole = NPE().fit(X, y)
    for data, labels in ((X[order], y[order]), (1000.0 * X, y), (sp.csr_matrix(X), y)):
        other = NPE().fit(data, labels)
        assert other.n_components_ == whole.n_components_
        assert other.tried_ == whole.tried_


@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewPointsWarning")
def test_neighbours_of_a_class_find_the_plane_of_discriminants_but_for_their_mean():
    """It weighs samples by their neighbours, of which all have the same number if all are."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    plane = LDA(2, alpha=1e-9).fit(X, y).components_.T
    few, everyone = (
        subspace_angles(LPP(2, n_neighbors=k, alpha=1e-9).fit(X, y).components_.T, plane).max()
        for k in (5, 70)
    )
    assert everyone < 1e-6
    assert 1e-4 < few < 1e-2
