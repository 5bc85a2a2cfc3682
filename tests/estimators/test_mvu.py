"""The MVU estimator: what it learns, what it refuses."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import (
    AddedEdgesWarning,
    DataError,
    DisconnectedGraphError,
    DroppedPointsWarning,
    DuplicatePointsWarning,
    FewPointsWarning,
    LostLengthsWarning,
    UnknownNameError,
)
from sdpdr.families.unfold.estimators.mvu import classical_optimum
from sdpdr.families.unfold.verdict import LengthsKept


@pytest.fixture(scope="module")
def roll():
    return sdpdr.datasets.swiss_roll(60, seed=0)[0]


def test_learns_what_the_recipe_solves(roll):
    learned = sdpdr.MVU(n_neighbors=5).fit(roll)
    graph = graphs.knn(roll, 5)
    solution = sdpdr.solve(methods.mvu(graph), tol=1e-6)
    np.testing.assert_allclose(learned.embedding_, solution.embedding(2), atol=1e-6)
    assert learned.solution_.certified()
    assert learned.graph_.m == graph.m
    np.testing.assert_allclose(learned.eigenvalues_.sum(), learned.solution_.value, rtol=1e-6)
    np.testing.assert_allclose(learned.embedding_.mean(axis=0), 0.0, atol=1e-6)


def test_embeddings_are_frames_where_that_is_asked_for(roll):
    frame = pd.DataFrame(roll, columns=list("xyz"), index=[f"r{k}" for k in range(60)])
    learner = sdpdr.MVU(n_neighbors=5).set_output(transform="pandas")
    assert not hasattr(learner, "transform")
    found = learner.fit_transform(frame)
    assert list(found.columns) == ["mvu0", "mvu1"] == list(learner.get_feature_names_out())
    assert list(found.index) == list(frame.index)
    np.testing.assert_array_equal(found, learner.embedding_)
    mapped = sdpdr.MVU(n_neighbors=5, extension="kernel").set_output(transform="pandas")
    assert list(mapped.fit(frame).transform(frame[:3]).index) == ["r0", "r1", "r2"]
    walk = sdpdr.ARE(n_neighbors=5).set_output(transform="pandas").fit_transform(frame)
    assert list(walk.columns) == ["are0", "are1"]
    with pytest.raises(NotFittedError):
        sdpdr.MVU().get_feature_names_out()


def test_disconnected_data_is_refused_or_mended():
    apart = sdpdr.datasets.two_clusters(30, seed=0)[0]
    with pytest.raises(DisconnectedGraphError, match="mst") as caught:
        sdpdr.MVU(n_neighbors=3, connect="error").fit(apart)
    assert len(caught.value.components) >= 2
    joined = sdpdr.MVU(n_neighbors=3, connect="mst").fit(apart)
    assert joined.graph_.is_connected
    with pytest.warns(DroppedPointsWarning):
        largest = sdpdr.MVU(n_neighbors=3, connect="largest").fit(apart)
    dropped = np.isnan(largest.embedding_).all(axis=1)
    np.testing.assert_array_equal(dropped, largest.graph_.index < 0)


def test_parts_are_held_by_several_edges_and_a_warning_says_so():
    rng = np.random.default_rng(0)
    corners = 20.0 * np.eye(4, 3)
    X = np.vstack([corner + rng.standard_normal((12, 3)) for corner in corners])
    with pytest.warns(AddedEdgesWarning, match=r"4 components, of sizes 12, 12, 12, 12; 24 edges"):
        learned = sdpdr.MVU(3, n_neighbors=4).fit(X)
    hinged = sdpdr.MVU(3, n_neighbors=4, connect="mst").fit(X)
    assert learned.graph_.m == hinged.graph_.m - 3 + 24
    # Parts that are hinged swing out into a line.
    spread = [found.eigenvalues_[1] / found.eigenvalues_[0] for found in (learned, hinged)]
    assert spread[0] > 0.5
    true = pdist(corners)
    kept = pdist(learned.embedding_.reshape(4, 12, 3).mean(axis=1)) / true
    assert kept.min() > 0.8
    assert kept.max() < 1.2


@pytest.mark.parametrize("rows", [3, 6])
def test_few_points_are_all_joined(rows):
    X = np.random.default_rng(rows).standard_normal((rows, 2))
    with pytest.warns(FewPointsWarning, match=f"there are {rows} distinct points"):
        learned = sdpdr.MVU().fit(X)
    assert learned.n_neighbors_ == rows - 1
    np.testing.assert_allclose(pdist(learned.embedding_), pdist(X), rtol=1e-4)
    assert learned.length_kept_ == pytest.approx(1.0, abs=1e-4)


@pytest.mark.integration
def test_a_poor_picture_is_reported_first_and_taking_the_advised_dimensions_makes_it_good():
    X = np.random.default_rng(0).standard_normal((40, 12))
    with pytest.warns(LostLengthsWarning, match="poor. Take n_components=") as caught:
        learned = sdpdr.MVU(1).fit(X)
    i, j = learned.graph_.edges.T
    flat = np.square(learned.embedding_[i] - learned.embedding_[j]).sum()
    assert learned.length_kept_ == pytest.approx(flat / learned.graph_.sqdist.sum())
    first, second = learned.report().splitlines()
    assert first == str(caught[0].message)
    assert first.startswith(f"1 dimension keeps {learned.length_kept_:.0%} of the squared")
    assert second.startswith("Optimisation: SOLVED: the maximum is")
    advised, share = re.search(r"Take n_components=(\d+), which keeps (\d+%)", first).groups()
    followed = sdpdr.MVU(int(advised)).fit(X)
    assert f"{followed.length_kept_:.0%}" == share
    assert ": good." in followed.report()


def test_edges_between_components_do_not_count_as_neighbours(roll):
    """Two copies of a roll far apart: the verdict is about lengths within them."""
    apart = np.vstack([roll, roll + np.array([1e3, 0.0, 0.0])])
    with pytest.warns(sdpdr.errors.AddedEdgesWarning):
        learned = sdpdr.MVU(n_neighbors=4, connect="bridges").fit(apart)
    graph = learned.graph_
    near = ~graph.joining
    assert graph.sqdist[near].sum() < 0.01 * graph.sqdist.sum()
    share = np.sum(graph.lengths(learned.embedding_)[near] ** 2) / graph.sqdist[near].sum()
    assert learned.report().startswith(f"2 dimensions keep {share:.0%} of the squared distances")


def test_a_picture_that_is_a_line_is_reported_as_one(roll):
    angles = np.linspace(0.0, 3.0, 20)
    arc = np.column_stack([np.cos(angles), np.sin(angles)])
    stray = np.vstack([arc, [[90.0, 0.0], [90.1, 0.0], [90.2, 0.0]]])
    with pytest.warns(sdpdr.errors.DroppedPointsWarning, match="dropped 3 of 23 points"):
        learned = sdpdr.MVU(n_neighbors=2, connect="largest").fit(stray)
    assert np.isnan(learned.embedding_[-3:]).all()
    assert "100.000% of the variance lies on one axis" in learned.report()
    assert "of the variance" not in sdpdr.MVU(n_neighbors=4).fit(roll).report()


@pytest.mark.parametrize(
    ("by_dimension", "step"),
    [
        ([0.4, 0.6], "isometry='band:0.05'"),
        ([0.4, 0.7, 0.9], "Take n_components=3, which keeps 90%."),
        ([0.4, 0.7, 0.8], "Take n_components=3, which keeps 80%."),
        ([0.9, 1.0], ""),
    ],
)
def test_the_next_step_is_where_most_of_the_lengths_are_lost(by_dimension, step):
    learned = sdpdr.MVU().fit(np.random.default_rng(0).standard_normal((7, 2)))
    kept = LengthsKept(1, by_dimension[0], np.array(by_dimension))
    assert step in learned._advice(kept)
    assert bool(step) == bool(learned._advice(kept))
    if step:
        learned.solution_ = replace(learned.solution_, status=sdpdr.Status.TIME_LIMIT)
        assert "Let it end" in learned._advice(kept)


@pytest.mark.integration
def test_too_many_points_are_sampled_and_the_others_placed():
    X, t = sdpdr.datasets.s_curve(300, seed=0)
    found = sdpdr.MVU(n_neighbors=5, sample=100).fit(X)
    rows = found.sample_
    assert rows.size == found.graph_.n == 100
    assert found.embedding_.shape == (300, 2)
    alone = sdpdr.MVU(n_neighbors=5, sample=None).fit(X[rows])
    np.testing.assert_array_equal(found.embedding_[rows], alone.embedding_)
    others = np.setdiff1d(np.arange(300), rows)
    np.testing.assert_array_equal(found.embedding_[others], found.extension_(X[others]))
    # Those placed lie along the curve that the others unfold to.
    along = np.corrcoef(found.embedding_[others, 0], t[others])[0, 1]
    assert abs(along) > 0.95
    assert not hasattr(found, "transform")


def test_a_sample_of_a_size_and_a_map(roll):
    frame = pd.DataFrame(roll, columns=list("xyz"))
    found = sdpdr.MVU(n_neighbors=4, sample=40, extension="kernel", random_state=1).fit(frame)
    assert found.sample_.size == 40
    assert list(found.feature_names_in_) == list("xyz")
    others = np.setdiff1d(np.arange(60), found.sample_)
    np.testing.assert_allclose(found.embedding_[others], found.transform(frame)[others])
    again = sdpdr.MVU(n_neighbors=4, sample=40, random_state=2).fit(roll)
    assert set(again.sample_) != set(found.sample_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_components": 61}, "n_components"),
        ({"sample": 0}, "sample"),
        ({"sample": 10, "metric": "precomputed"}, "known by distances"),
        ({"n_components": 1.5}, "n_components"),
    ],
)
def test_bad_hyperparameters_are_named(roll, options, message):
    with pytest.raises(DataError, match=message):
        sdpdr.MVU(**options).fit(roll)


def test_unknown_solver_offers_the_nearest(roll):
    with pytest.raises(UnknownNameError, match="Did you mean 'clarabel'"):
        sdpdr.MVU(solver="clarabell").fit(roll)
    with pytest.raises(UnknownNameError, match="sample"):
        sdpdr.MVU(sample="some").fit(roll)


@pytest.mark.filterwarnings("ignore")
def test_points_of_a_sample_that_its_graph_dropped_are_placed_as_all_others():
    X = np.vstack([sdpdr.datasets.swiss_roll(100, seed=0)[0], 500.0 + np.eye(3)]).astype(np.float32)
    found = sdpdr.MVU(2, n_neighbors=3, sample=50, connect="largest").fit(X)
    assert np.isfinite(found.embedding_).all()
    assert found.embedding_.dtype == np.float32


def test_a_closed_curve_whose_ends_differ_by_rounding_unfolds_as_one_whose_ends_are_equal():
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    closed = np.vstack([X[:-1], X[:1]])
    assert np.any(closed != X)
    with pytest.warns(DuplicatePointsWarning):
        rounded, equal = (sdpdr.MVU().fit(Z) for Z in (X, closed))
    assert rounded.graph_.n == equal.graph_.n == 59
    assert rounded.solution_.certified()
    assert rounded.solution_.value == pytest.approx(equal.solution_.value, rel=1e-6)
    assert np.array_equal(rounded.embedding_[0], rounded.embedding_[-1])


def test_names_of_columns_are_those_of_the_last_fit():
    X = np.random.default_rng(0).standard_normal((20, 3))
    learned = sdpdr.MVU(n_neighbors=5, extension="linear")
    learned.fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    assert learned.feature_names_in_.tolist() == ["a", "b", "c"]
    learned.fit(X)
    assert not hasattr(learned, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned.transform(X)


@pytest.mark.daily(1)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewPointsWarning")
@pytest.mark.parametrize("scales", [np.ones(20), np.geomspace(1.0, 1e-3, 10)])
def test_where_all_pairs_are_neighbours_it_is_classical_scaling(scales):
    X = np.random.default_rng(0).standard_normal((60, scales.size)) * scales
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostLengthsWarning)
        found = sdpdr.MVU(n_neighbors=100).fit(X)
    assert found.solution_.certified()
    assert found.solution_.value == pytest.approx(np.sum((X - X.mean(axis=0)) ** 2))


def test_lengths_of_no_points_have_no_classical_optimum():
    unlike = np.ones((60, 60)) - np.eye(60)
    unlike[0, 1] = unlike[1, 0] = 1.999
    assert classical_optimum(sdpdr.graphs.complete(unlike, metric="precomputed")) is None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [sdpdr.MVU, sdpdr.ColoredMVU])
def test_columns_are_principal_components_of_all_rows_that_repeat(roll, kind):
    rows = np.repeat(np.arange(14), np.where(np.arange(14) < 4, 5, 1))
    learner = kind(n_neighbors=4).fit(roll[rows], roll[rows, :2])
    of_rows = np.asarray(learner.gram_)[np.ix_(learner.graph_.index, learner.graph_.index)]
    centring = np.eye(rows.size) - 1.0 / rows.size
    values, vectors = np.linalg.eigh(centring @ of_rows @ centring)
    np.testing.assert_allclose(learner.eigenvalues_[:2], values[:-3:-1], rtol=1e-5)
    size = np.abs(learner.embedding_).max()
    across = learner.embedding_.T @ (vectors * np.sqrt(np.maximum(values, 0.0)))[:, :-3:-1]
    np.testing.assert_allclose(np.abs(across), np.diag(values[:-3:-1]), atol=1e-4 * size**2)
