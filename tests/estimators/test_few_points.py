"""Fewer rows, or fewer of a class, than neighbours asked for: all are joined, with a warning."""

import warnings

import numpy as np
import pytest

import sdpdr
from sdpdr.errors import AddedEdgesWarning, FewPointsWarning
from sdpdr.extend import contrast_pencil, laplacian_pencil, reconstruction_pencil
from sdpdr.families.regress.pencils import within_classes
from sdpdr.graphs import knn

WITHIN = (laplacian_pencil, reconstruction_pencil)


def classes(*sizes):
    """A cloud for each class, and labels 3, 4, ..."""
    X = np.random.default_rng(0).standard_normal((sum(sizes), 4))
    return X, np.repeat(np.arange(3, 3 + len(sizes)), sizes)


@pytest.mark.parametrize("sizes", [(12, 1), (12, 2), (9, 1, 2, 6), (1, 1, 1)])
@pytest.mark.parametrize("make", WITHIN)
def test_the_indicator_of_every_class_solves_the_pencil_however_small_the_class(make, sizes):
    X, y = classes(*sizes)
    if sizes == (9, 1, 2, 6):
        X[12:] = X[12]  # a class whose samples coincide
    with pytest.warns(FewPointsWarning):
        pencil = within_classes(make, X, y, 5, "euclidean")
    indicators = (y[:, None] == np.unique(y)).astype(float)
    assert np.allclose(pencil.weights @ indicators, pencil.masses[:, None] * indicators)
    assert np.all(pencil.masses > 0.0)


def test_classes_large_enough_have_the_neighbours_of_a_search_in_each():
    X, y = classes(9, 12)
    order = np.random.default_rng(0).permutation(21)
    W = within_classes(laplacian_pencil, X[order], y[order], 3, "euclidean").weights
    back = np.argsort(order)
    W = W.toarray()[np.ix_(back, back)]
    for own in (slice(0, 9), slice(9, 21)):
        expected = knn(X[own], 3, connect="none").adjacency().toarray()
        assert np.array_equal(W[own, own], expected)
    assert not W[:9, 9:].any()


@pytest.mark.daily(3)
@pytest.mark.parametrize("way", ["regression", "direct"])
@pytest.mark.parametrize("kind", [sdpdr.LPP, sdpdr.NPE])
@pytest.mark.parametrize("size", [1, 2])
def test_small_classes_are_taken_and_named_as_they_are_printed(kind, way, size):
    X, y = classes(12, 12, size)
    with pytest.warns(FewPointsWarning, match=rf"distinct samples: 5 \({size}\)\."):
        found = kind(way=way).fit(X, y)
    assert found.transform(X).shape == (24 + size, found.n_components_)
    assert np.isfinite(found.transform(X)).all()


def test_samples_without_a_neighbour_of_their_class_are_named_and_joined_to_themselves():
    X, y = classes(12, 12, 1)
    y[[0, 23]] = 6
    with pytest.warns(
        AddedEdgesWarning, match="samples 0, .*23, 24 have no neighbour of their class"
    ):
        pencil = contrast_pencil(knn(X, 2, connect="none"), y, 0.1)
    assert np.all(pencil.masses[[0, 23, 24]] == 1.0)
    for way in ("regression", "direct"):
        with pytest.warns(AddedEdgesWarning, match="no neighbour of their class"):
            found = sdpdr.LSDA(n_neighbors=2, way=way).fit(X, y)
        assert np.isfinite(found.transform(X)).all()


@pytest.mark.daily(4)
@pytest.mark.parametrize("rows", [3, 4])
@pytest.mark.parametrize(
    "kind",
    [
        sdpdr.LPP,
        sdpdr.NPE,
        sdpdr.IsoProjection,
        sdpdr.SpectralRegression,
    ],
)
def test_tables_of_three_and_four_rows_are_joined_in_full(kind, rows):
    X = classes(rows)[0]
    with pytest.warns(FewPointsWarning, match=f"there are {rows} distinct points"):
        assert kind(n_components=1).fit_transform(X).shape == (rows, 1)


@pytest.mark.parametrize("rows", [3, 4])
def test_labels_of_three_and_four_rows_spread_over_all(rows):
    X, y = classes(rows)[0], np.array([0, 1, -1, -1])[:rows]
    with pytest.warns(FewPointsWarning, match=f"there are {rows} distinct points"):
        told = sdpdr.MixedLabelPropagation().fit(X, y)
    assert told.n_neighbors_ == rows - 1
    assert np.array_equal(told.predict(X)[:2], [0, 1])
    with pytest.warns(FewPointsWarning):
        assert sdpdr.SDA().fit(X, y).transform(X).shape == (rows, 1)


@pytest.mark.parametrize("kind", [sdpdr.MVU, sdpdr.MFNU])
def test_thousands_of_rows_at_few_places_are_one_node_for_each_place(kind):
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        many = kind().fit(np.repeat(corners, 1000, axis=0))
        few = kind().fit(np.repeat(corners, 10, axis=0))
    np.testing.assert_allclose(many.embedding_[::1000], few.embedding_[::10], atol=1e-5)
