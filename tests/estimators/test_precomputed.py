"""Precomputed distances as people pass them: halves, single precision, sparse graphs, vectors."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import (
    KNeighborsTransformer,
    kneighbors_graph,
    radius_neighbors_graph,
)

import sdpdr
from sdpdr import baselines, graphs
from sdpdr.errors import (
    AddedEdgesWarning,
    DataError,
    DataTypeError,
    DisconnectedGraphError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
    FewPointsWarning,
    SquaredDistancesWarning,
)

X = sdpdr.datasets.swiss_roll(60, seed=0)[0]
D = squareform(pdist(X))
MVU = sdpdr.MVU(metric="precomputed")


def graph_of(distances, n_neighbors=6):
    return graphs.knn(distances, n_neighbors, metric="precomputed", connect="none")


def assert_same_graph(found, expected):
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_allclose(found.sqdist, expected.sqdist, rtol=1e-5)


# -- one triangle ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("half", "name"), [(np.triu, "lower"), (np.tril, "upper")])
@pytest.mark.parametrize("estimator", [MVU, sdpdr.DistanceCompletion()], ids=repr)
def test_a_zero_triangle_is_filled_by_its_mirror_image(estimator, half, name):
    one = half(D)
    with pytest.raises(DataError, match=rf"{name} triangle .* is zero: pass D \+ D.T\.$"):
        estimator.fit(one)
    assert_same_graph(graph_of(one + one.T), graph_of(D))


def test_a_stored_zero_on_one_side_of_a_sparse_matrix_is_filled_as_the_message_says():
    one = sp.csr_array(D)
    one[3, 5] = 0.0
    with pytest.raises(DataError, match=r"Pass D\.maximum\(D\.T\)"):
        MVU.fit(one)
    assert_same_graph(graph_of(one.maximum(one.T)), graph_of(D))


def test_a_frame_with_other_names_in_its_columns_is_summed_without_them():
    frame = pd.DataFrame(np.triu(D), columns=[f"x{k}" for k in range(60)])
    with pytest.raises(DataError, match=r"pass D.to_numpy\(\) \+ D.to_numpy\(\).T\."):
        MVU.fit(frame)


def test_zeros_on_either_side_of_the_diagonal_are_filled_by_the_larger_entry():
    scattered = np.where(np.random.default_rng(0).uniform(size=D.shape) < 0.5, D, 0.0)
    scattered = np.where(scattered.T == 0.0, D, scattered)
    with pytest.raises(DataError, match=r"zero on the other.* Pass np.maximum\(D, D.T\)"):
        MVU.fit(scattered)
    assert_same_graph(graph_of(np.maximum(scattered, scattered.T)), graph_of(D))


# -- rounding --------------------------------------------------------------------------------------


def by_inner_products(points):
    """Plain distances in the precision of the points, as most libraries compute them."""
    sizes = np.sum(points**2, axis=1)
    return np.sqrt(np.maximum(sizes[:, None] + sizes - 2.0 * points @ points.T, 0.0))


@pytest.mark.parametrize("holder", [np.asarray, lambda A: A.astype(float), pd.DataFrame])
def test_rounding_of_single_precision_is_removed(holder):
    rng = np.random.default_rng(0)
    S = rng.standard_normal((60, 300)).astype(np.float32)
    S[30:] = S[:30] + np.float32(1e-4) * rng.standard_normal((30, 300)).astype(np.float32)
    S /= np.linalg.norm(S, axis=1, keepdims=True)
    cosine = np.float32(1.0) - S @ S.T
    cosine[0, 30] = -1.2e-07
    wide = by_inner_products(X.astype(np.float32))
    wide[1, 0] = np.nextafter(wide[0, 1], np.float32(np.inf))
    for distances in (cosine, wide):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = graph_of(holder(distances))
        assert (graph.sqdist > 0.0).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_is_more_than_rounding_is_refused(kind):
    for i, j, value, words in (
        (2, 5, 1.001 * D[2, 5], "not symmetric"),
        (2, 5, -1e-3 * D.max(), "negative"),
        (4, 4, 1e-2 * D.max(), "not zero on the diagonal"),
    ):
        wrong = D.astype(kind)
        wrong[i, j] = value
        with pytest.raises(DataError, match=words):
            graph_of(wrong)
    lengths = np.rint(10.0 * D).astype(kind)
    lengths[2, 5] += 1.0
    with pytest.raises(DataError, match="not symmetric"):
        graph_of(lengths)


# -- sparse graphs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sparse",
    [
        KNeighborsTransformer(n_neighbors=6, mode="distance").fit_transform(X),
        kneighbors_graph(X, 6, mode="distance"),
        sp.csr_array(D),
        sp.coo_matrix(D),
    ],
)
def test_entries_that_are_not_stored_are_unknown(sparse):
    assert_same_graph(graph_of(sparse), graphs.knn(X, 6, connect="none"))


def test_radius_graphs_hold_all_near_pairs():
    found = graph_of(radius_neighbors_graph(X, 12.0, mode="distance"), 59)
    i, j = np.nonzero(np.triu(D <= 12.0, 1))
    np.testing.assert_array_equal(found.edges, np.column_stack([i, j]))


def test_neighbours_of_scikit_learn_are_those_of_points():
    sparse = KNeighborsTransformer(n_neighbors=5, mode="distance").fit_transform(X)
    found = sdpdr.MVU(n_neighbors=5, metric="precomputed").fit(sparse)
    expected = sdpdr.MVU(n_neighbors=5).fit(X)
    assert found.solution_.value == pytest.approx(expected.solution_.value, rel=1e-5)
    paths = baselines.isomap(sparse, n_neighbors=5, metric="precomputed")
    np.testing.assert_allclose(paths, baselines.isomap(X, n_neighbors=5), atol=1e-6)


def test_parts_that_a_sparse_graph_does_not_join_are_joined_by_more_neighbours_or_left_out():
    apart = np.vstack([X[:20], X[:12] + 60.0])
    sparse = kneighbors_graph(apart, 5, mode="distance")
    with pytest.raises(DisconnectedGraphError, match="more neighbours.*connect='largest'"):
        MVU.fit(sparse)
    with pytest.warns(DroppedPointsWarning):
        found = sdpdr.MVU(metric="precomputed", connect="largest").fit(sparse)
    assert np.isfinite(found.embedding_).all(axis=1).sum() == 20
    more = kneighbors_graph(apart, 20, mode="distance")
    with pytest.warns(AddedEdgesWarning):
        found = sdpdr.MVU(metric="precomputed").fit(more)
    assert np.isfinite(found.embedding_).all()


def test_stored_zeros_are_distances_of_zero():
    twice = np.vstack([X, X[:1]])
    sparse = kneighbors_graph(twice, 8, mode="distance")
    assert np.any(sparse.data == 0.0)
    for learner in (sdpdr.MVU(metric="precomputed"), sdpdr.DistanceCompletion(3)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            learner.fit(sparse)
        kinds = [warning.category for warning in caught]
        assert kinds.count(DuplicatePointsWarning) == 1
        np.testing.assert_array_equal(learner.embedding_[0], learner.embedding_[60])


def test_what_a_sparse_graph_does_not_hold_is_named():
    sparse = kneighbors_graph(X, 5, mode="distance")
    with pytest.raises(DataError, match="extension='kernel' needs all distances"):
        sdpdr.MVU(metric="precomputed", extension="kernel").fit(sparse)
    with pytest.raises(DataError, match=r"square matrix; what was passed has shape \(60, 20\)"):
        MVU.fit(sp.csr_array(sparse[:, :20]))
    alone = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    with pytest.raises(DataError, match="of 1 of 3 points: 2.*sparse array does not store"):
        MVU.fit(alone)
    with pytest.raises(DataTypeError, match=r"extension='kernel'.*TruncatedSVD"):
        sdpdr.MVU(extension="kernel").fit(sp.csr_array(X))


# -- vectors and squares ---------------------------------------------------------------------------


@pytest.mark.parametrize("vector", [pdist(X), pdist(X).tolist(), pd.Series(pdist(X))])
@pytest.mark.parametrize("estimator", [MVU, sdpdr.DistanceCompletion()], ids=repr)
def test_a_vector_of_all_pairs_is_made_a_square(estimator, vector):
    with pytest.raises(DataError, match=r"pair of 60 points.*distance.squareform\(D\)"):
        estimator.fit(vector)
    assert_same_graph(graph_of(squareform(vector)), graph_of(D))


def test_a_column_of_all_pairs_is_flattened_first():
    column = pdist(X)[:, None]
    with pytest.raises(DataError, match=r"squareform\(np.ravel\(D\)\)"):
        MVU.fit(column)
    assert_same_graph(graph_of(squareform(np.ravel(column))), graph_of(D))


COLOURS = np.arange(60) % 2


@pytest.mark.filterwarnings("ignore::sdpdr.errors.LostLengthsWarning")
@pytest.mark.parametrize(
    "form",
    [
        sp.csr_array,
        *(pytest.param(f, marks=pytest.mark.nightly) for f in (np.asarray, pd.DataFrame)),
    ],
)
def test_squared_distances_are_noticed_once_and_their_roots_are_distances(form):
    squares = form(D**2)
    for learner in (MVU, sdpdr.MFNU(metric="precomputed"), sdpdr.ColoredMVU(metric="precomputed")):
        with pytest.warns(SquaredDistancesWarning, match=r"square roots, np.sqrt\(D\)") as caught:
            learner.fit(squares, COLOURS)
        assert [w.category for w in caught].count(SquaredDistancesWarning) == 1
    assert_same_graph(graph_of(np.sqrt(squares)), graph_of(D))


def test_of_few_points_each_warning_is_issued_once():
    few = np.vstack([X[:5], X[:2]])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sdpdr.MVU().fit(few)
    kinds = [warning.category for warning in caught]
    assert kinds.count(DuplicatePointsWarning) == kinds.count(FewPointsWarning) == 1
