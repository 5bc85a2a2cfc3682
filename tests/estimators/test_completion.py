"""Points from some of their distances: recovery, anchors, noise, forms of input, and faults."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial import procrustes
from scipy.spatial.distance import pdist, squareform

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    FewAnchorsWarning,
    MissedLengthsWarning,
    ShapeError,
)
from sdpdr.families.unfold import completion


def slow(*case):
    return pytest.param(*case, marks=pytest.mark.nightly)


def known_distances(D):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sdpdr.errors.SquaredDistancesWarning)
        return graphs.complete(D, metric="precomputed")


# Distances of the points 0, 3 and 1.
LINE = np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])


def partial(n=30, r=2, share=0.4, noise=0.0, seed=0):
    """Points, and some of their distances."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, r))
    D = squareform(pdist(X))
    D *= 1.0 + noise * squareform(rng.standard_normal(n * (n - 1) // 2))
    unknown = squareform(rng.uniform(size=n * (n - 1) // 2)) > share
    return X, np.where(unknown, np.nan, D)


def rows(X, anchors):
    """Coordinates of the anchors, nan elsewhere."""
    return np.where(np.isin(np.arange(len(X)), anchors)[:, None], X, np.nan)


def away(X, Y):
    """Root mean square distance of Y from X, turned, mirrored and shifted to it."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    U, _, V = np.linalg.svd(Y.T @ X)
    return float(np.sqrt(np.mean(np.square(Y @ U @ V - X)) * X.shape[1]))


@pytest.mark.daily(2)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("r", "share", "misfit"), [(2, 0.4, "square"), (3, 0.5, "absolute"), (2, 1.0, "square")]
)
def test_exact_distances_are_completed_and_certified(r, share, misfit):
    X, D = partial(r=r, share=share)
    found = sdpdr.DistanceCompletion(r, misfit=misfit).fit(D)
    assert found.solution_.certified(1e-6)
    assert np.abs(found.distances_ - squareform(pdist(X))).max() < 1e-5
    assert found.rmse_ < 1e-6
    # Squares are worth a little length; absolute penalties are exact but for the tolerance.
    assert away(X, found.relaxed_) < (1e-2 if misfit == "square" else 1e-4)
    assert procrustes(X, found.embedding_)[2] < 1e-9


def test_every_form_of_input_says_the_same():
    _, D = partial(n=12, share=0.7)
    i, j = np.nonzero(np.triu(np.isfinite(D), 1))
    entries = sp.coo_array((D[i, j], (i, j)), shape=D.shape)
    graph = known_distances(D)
    others = (
        np.where(np.triu(np.ones_like(D)) > 0, D, np.nan),
        np.where(np.isnan(D), np.inf, D),
        entries,
        sp.csc_matrix(entries + entries.T),
    )
    for form in others:
        same = known_distances(form)
        assert np.array_equal(same.edges, graph.edges)
        assert same.sqdist == pytest.approx(graph.sqdist, rel=1e-15)


def test_anchors_are_met_and_say_where_the_others_are():
    X, D = partial(share=0.5)
    known = np.arange(4)
    found = sdpdr.DistanceCompletion().fit(D, rows(X, known))
    assert np.array_equal(found.anchors_, known)
    assert np.array_equal(found.embedding_[known], X[known])
    assert np.abs(found.embedding_ - X).max() < 1e-5
    assert found.trust_.max() < 1e-4
    assert found.solution_.certified(1e-5)


def test_an_anchor_in_each_part_is_enough():
    X, D = partial(n=16, share=1.0)
    D[:8, 8:] = D[8:, :8] = np.nan
    with pytest.raises(DisconnectedGraphError, match=r"2 components.*an anchor in each"):
        sdpdr.DistanceCompletion().fit(D)
    known = np.array([0, 1, 2, 8, 9, 10])
    found = sdpdr.DistanceCompletion().fit(D, rows(X, known))
    assert np.abs(found.embedding_ - X).max() < 1e-5


def near(n=60, seed=0, noise=0.15, radius=0.3):
    """Points of a square, and noisy distances of those within a radius."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1.0, (n, 2))
    D = squareform(pdist(X))
    known = radius >= D
    D *= np.abs(1.0 + noise * squareform(rng.standard_normal(n * (n - 1) // 2)))
    return X, np.where(known, D, np.nan)


def stress(graph, Y):
    i, j = graph.edges.T
    return float(np.sum((np.linalg.norm(Y[i] - Y[j], axis=1) - np.sqrt(graph.sqdist)) ** 2))


@pytest.fixture(scope="module")
def noisy():
    """Distances that noise folds, and the places found, by the seed of both."""

    @cache
    def found(seed):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "positions in 2 dimensions")
            return sdpdr.DistanceCompletion().fit(near(seed=seed, noise=0.3)[1])

    return found


@pytest.mark.integration
@pytest.mark.parametrize("seed", [1, slow(0), slow(2)])
def test_the_last_step_keeps_the_start_of_smaller_stress(noisy, seed):
    found, none = noisy(seed), np.zeros(0, dtype=int)
    graph = found.graph_
    starts = {
        "program": found.relaxed_,
        "paths": completion.along_paths(graph, 2, none, np.zeros((0, 2))),
    }
    ends = {name: stress(graph, methods.refine(graph, Y)) for name, Y in starts.items()}
    kept = stress(graph, found.embedding_)
    assert kept == pytest.approx(ends[found.start_])
    assert seed != 1 or found.start_ == "paths"
    assert kept <= 1.003 * min(ends.values())


@pytest.mark.parametrize("known", [[0, 1, 2, 3], [0, 1]])
def test_paths_of_all_distances_are_the_points_where_anchors_say(known):
    X = np.random.default_rng(0).uniform(size=(12, 2))
    graph, known = graphs.complete(X), np.array(known)
    Y = completion.along_paths(graph, 2, known, X[known])
    np.testing.assert_array_equal(Y[known], X[known])
    np.testing.assert_allclose(pdist(Y), pdist(X), atol=1e-9)
    if known.size > 2:  # two anchors leave a mirror image
        np.testing.assert_allclose(Y, X, atol=1e-9)


def test_paths_join_parts_by_their_anchors():
    X = np.random.default_rng(0).uniform(size=(12, 2))
    first = np.arange(12) < 6
    D = np.where(first[:, None] == first, squareform(pdist(X)), np.nan)
    known = np.array([0, 1, 2, 6, 7, 8])
    Y = completion.along_paths(known_distances(D), 2, known, X[known])
    assert np.isfinite(Y).all()


def test_known_distances_are_kept_and_others_are_those_of_the_places():
    _, D = partial(noise=0.1)
    found = sdpdr.DistanceCompletion().fit(D)
    known = np.isfinite(D)
    places = squareform(pdist(found.embedding_))
    assert found.distances_[known] == pytest.approx(D[known])
    assert found.distances_[~known] == pytest.approx(places[~known])


def test_points_that_coincide_are_placed_together():
    X, D = partial(n=15, share=1.0)
    twice = np.append(np.arange(15), 3)
    with pytest.warns(sdpdr.errors.DuplicatePointsWarning):
        found = sdpdr.DistanceCompletion().fit(D[np.ix_(twice, twice)])
    assert np.array_equal(found.embedding_[3], found.embedding_[15])
    assert np.abs(found.distances_ - squareform(pdist(X[twice]))).max() < 1e-5


# -- the penalty -------------------------------------------------------------------------------


def test_below_a_penalty_of_one_points_fly_apart():
    graph = known_distances(partial(n=8, share=0.8)[1])
    least = np.linalg.eigvalsh(graph.laplacian(1.0 / graph.sqdist).toarray())
    weight = 1.0 / least[1]

    def solved(penalty):
        slack = sdpdr.blocks.Slack(penalty * weight, "absolute", relative=True)
        return sdpdr.solve(methods.mvu(graph, slack), "clarabel")

    assert solved(0.9).status is sdpdr.Status.UNBOUNDED
    assert solved(1.1).certified(1e-5)
    with pytest.raises(DataError, match=r"penalty=0.9 is too low"):
        methods.distance_completion(graph, penalty=0.9)


# -- the last step -----------------------------------------------------------------------------


def test_refining_ends_where_stress_is_least_nearby():
    X, D = partial(noise=0.1)
    graph = known_distances(D)
    lengths = np.sqrt(graph.sqdist)
    i, j = graph.edges.T
    fixed = [0, 7]

    def stress(Y):
        return np.sum(np.square(np.linalg.norm(Y[i] - Y[j], axis=1) - lengths))

    Y = methods.refine(graph, X, fixed)
    assert np.array_equal(Y[fixed], X[fixed])
    assert stress(Y) < stress(X)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = 1e-3 * rng.standard_normal(Y.shape)
        step[fixed] = 0.0
        assert stress(Y) <= stress(Y + step)
        # No slope: what a step costs is of second order.
        assert abs(stress(Y + step) - stress(Y - step)) < 1e-2 * (stress(Y + step) - stress(Y))


def test_two_points_stay_about_their_centre():
    found = sdpdr.DistanceCompletion(1).fit([[0.0, 3.0], [3.0, 0.0]])
    assert np.sort(found.embedding_.ravel()) == pytest.approx([-1.5, 1.5], abs=1e-6)
    # What the trace makes of an exact length, by its penalty.
    assert np.ptp(found.relaxed_) == pytest.approx(3.0 * 1.0005, abs=1e-4 * 3.0)


# -- faults ------------------------------------------------------------------------------------


def contradicting():
    D = squareform(pdist(partial(n=6)[0]))
    D[2, 4] *= 2.0
    return D


@pytest.mark.parametrize(
    ("D", "error", "message"),
    [
        (contradicting(), DataError, r"not symmetric: D\[2, 4\]"),
        (
            sp.coo_array(([1.0, 2.0], ([0, 1], [1, 3])), shape=(4, 4)),
            DataError,
            "no distance is known of 1 of 4 points: 2",
        ),
        (np.zeros((2, 5)), DataError, r"square matrix.*\(2, 5\)"),
        (sp.coo_array(np.ones((2, 5))), DataError, r"square matrix.*\(2, 5\)"),
        ([["a", "b"], ["c", "d"]], DataError, "must be numbers"),
    ],
)
def test_distances_that_cannot_be_used(D, error, message):
    with pytest.raises(error, match=message):
        sdpdr.DistanceCompletion().fit(D)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.where(np.arange(60).reshape(30, 2) == 3, np.nan, 0.0), "some coordinates but not all"),
        (np.zeros((30, 2)), "there is nothing to find"),
        (np.zeros((7, 2)), "each of the 30 samples"),
    ],
)
def test_anchors_that_cannot_be_used(y, message):
    with pytest.raises((DataError, ShapeError), match=message):
        sdpdr.DistanceCompletion().fit(partial()[1], y)


def test_a_misfit_by_another_name_is_refused():
    with pytest.raises(sdpdr.errors.UnknownNameError, match="absolute"):
        sdpdr.DistanceCompletion(misfit="absolut").fit(partial()[1])
    with pytest.raises(DataError, match="n_components"):
        sdpdr.DistanceCompletion(31).fit(partial()[1])


@pytest.mark.nightly
@pytest.mark.parametrize(("count", "flat"), [(1, False), (2, False), (3, True)])
def test_anchors_that_do_not_span_the_plane_hold_the_others_as_far_as_they_can(count, flat):
    points = np.random.default_rng(0).uniform(size=(10, 2))
    if flat:
        points[:count, 1] = 0.3
    D = squareform(pdist(points))
    with pytest.warns(FewAnchorsWarning):
        found = sdpdr.DistanceCompletion().fit(D, rows(points, np.arange(count)))
    assert found.rmse_ < 1e-6
    np.testing.assert_allclose(found.embedding_[:count], points[:count])


@pytest.mark.parametrize(
    ("D", "y", "words"),
    [
        (LINE * 1e-170, None, "Choose another unit"),
        (sp.csr_array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]]), None, "not similarities"),
    ],
)
def test_what_would_be_read_otherwise_than_meant_is_refused(D, y, words):
    with pytest.raises(DataError, match=words):
        sdpdr.DistanceCompletion(1).fit(D, y)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("misfit", "anchored", "other"),
    [("auto", True, 1e-5), ("square", False, 1e5)],
)
def test_the_answer_does_not_depend_on_the_unit_of_length(misfit, anchored, other):
    rng = np.random.default_rng(0)
    P = rng.uniform(size=(16, 2))
    noisy = np.triu(squareform(pdist(P)) * (1.0 + 0.02 * rng.standard_normal((16, 16))), 1)
    D = noisy + noisy.T
    D[D > 0.7] = np.nan
    found = {}
    for unit in (1.0, other):
        y = rows(unit * P, np.arange(4)) if anchored else None
        found[unit] = sdpdr.DistanceCompletion(misfit=misfit, tol=1e-8).fit(unit * D, y)
        assert found[unit].solution_.certified(1e-8)
    np.testing.assert_allclose(found[other].distances_ / other, found[1.0].distances_, atol=1e-4)


# -- names, gaps written otherwise, and what misses -----------------------------------------------

TOWNS = np.array([f"town {k}" for k in range(30)])


@pytest.mark.parametrize("estimator", [sdpdr.DistanceCompletion(), sdpdr.MVU(metric="precomputed")])
def test_names_of_rows_and_of_columns_are_in_one_order(estimator):
    D = squareform(pdist(partial()[0]))
    with pytest.raises(DataError, match=r"row 0 .* 'town 0' and column 0 'town 29'.*D\[D.index\]"):
        estimator.fit(pd.DataFrame(D, index=TOWNS, columns=TOWNS[::-1]))
    estimator.fit(pd.DataFrame(D, index=TOWNS, columns=TOWNS))


@pytest.mark.parametrize("gap", [0.0, -1.0])
def test_a_gap_is_nan(gap):
    with pytest.raises(DataError, match="NaN"):
        sdpdr.DistanceCompletion().fit(np.nan_to_num(partial()[1], nan=gap))


def mistyped():
    D = partial(share=0.6)[1]
    D[3, 8] = D[8, 3] = 10.0 * np.linalg.norm(np.diff(partial()[0][[3, 8]], axis=0))
    return D


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("D", "y", "words"),
    [
        (mistyped(), None, r"Worst are points 3, 8: (.*) given"),
        slow(partial()[1], rows(partial()[0] / 1000.0, np.arange(4)), "one unit"),
        (partial(r=5, share=1.0)[1], None, r"positions in 2 dimensions .* \(n_components\)"),
    ],
)
def test_lengths_that_are_missed_are_told(D, y, words):
    with pytest.warns(MissedLengthsWarning, match=words) as caught:
        sdpdr.DistanceCompletion().fit(D, y)
    assert caught[0].filename == __file__


@pytest.mark.nightly
@pytest.mark.parametrize("noise", [0.05, 0.1])
@pytest.mark.parametrize(("n", "share"), [(8, 1.0), (15, 0.7), (30, 0.5), (40, 1.0)])
def test_noise_is_no_miss(noise, n, share, recwarn):
    sdpdr.DistanceCompletion().fit(np.abs(partial(n=n, share=share, noise=noise)[1]))
    assert not [w for w in recwarn if w.category is MissedLengthsWarning]
