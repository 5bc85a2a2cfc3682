"""Every way the data can be wrong, and the words that say so."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.metrics import pairwise_distances

from sdpdr import graphs
from sdpdr.base import checks
from sdpdr.base.distances import squared_distances
from sdpdr.errors import DataError, DataTypeError, SquaredDistancesWarning

GOOD = np.random.default_rng(0).standard_normal((12, 3))


def spoiled(row, value, dtype=float):
    X = GOOD.astype(dtype)
    X[row, 1] = value
    return X


@pytest.mark.parametrize(
    ("X", "theirs", "ours"),
    [
        (spoiled([3, 7], np.nan), "Input X contains NaN", r"not finite: 3, 7\."),
        (spoiled(5, np.inf), "Input X contains infinity", r"not finite: 5\."),
        (GOOD[:, 0], r"2D array, .* shape \(12,\). X must have shape", r"X\.reshape\(-1, 1\)"),
        (3.0, "Expected 2D array", "shape"),
        (GOOD[:2], "2 sample", "Add points"),
        (np.empty((0, 3)), "0 sample", "Add points"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\)", "at least one coordinate"),
        (GOOD + 1j, "Complex data not supported", "columns"),
        (pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": list("abc")}), "could not convert", "encode"),
        (np.ones((6, 2)), "all 6 points are equal", "one row per point"),
        ([[1.0, 2.0], [3.0], [4.0, 5.0]], "inhomogeneous", "must be numbers"),
    ],
)
def test_points_that_cannot_be_used(X, theirs, ours):
    with pytest.raises(DataError, match=f"(?s){theirs}.*{ours}") as caught:
        graphs.knn(X, 2)
    assert isinstance(caught.value, ValueError)


def test_data_of_the_wrong_kind_are_type_errors_too():
    with pytest.raises(TypeError, match="argument must be .* string.* number") as caught:
        graphs.knn(spoiled(0, {"foo": "bar"}, object), 2)
    assert "be numbers" in str(caught.value)
    assert isinstance(caught.value, DataTypeError)


def test_the_error_about_sparse_points_names_the_way_out():
    with pytest.raises(DataTypeError, match=r"(?s)[Ss]parse.*TruncatedSVD"):
        checks.points(sp.csr_array(GOOD))


@pytest.mark.parametrize(
    "same", [GOOD.tolist(), pd.DataFrame(GOOD), np.asfortranarray(GOOD), GOOD.astype(object)]
)
def test_containers_that_scikit_learn_accepts_are_accepted(same):
    graph = graphs.knn(GOOD, 3, connect="none")
    again = graphs.knn(same, 3, connect="none")
    assert np.array_equal(again.edges, graph.edges)
    assert np.array_equal(again.sqdist, graph.sqdist)


@pytest.mark.parametrize("k", [0, 12])
def test_n_neighbors_out_of_range(k):
    with pytest.raises(DataError, match=rf"n_neighbors={k} but there are 12 .* 1 to 11"):
        graphs.knn(GOOD, k)


@pytest.mark.parametrize("k", [2.5, "4", True])
def test_n_neighbors_must_be_an_integer(k):
    with pytest.raises(DataTypeError, match="not an integer"):
        graphs.knn(GOOD, k)


def distances():
    return pairwise_distances(GOOD)


def changed(i, j, value):
    D = distances()
    D[i, j] = value
    return D


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (GOOD, r"square matrix; what was passed has shape \(12, 3\)"),
        (changed(2, 5, -1.0), r"negative: D\[2, 5\] = -1"),
        (changed(4, 4, 0.5), r"not zero on the diagonal: D\[4, 4\] = 0.5"),
        (changed(2, 5, 9.0), r"not symmetric: D\[2, 5\] = 9"),
        (changed(2, 5, -np.inf), r"negative: D\[2, 5\] = -inf"),
        (np.zeros((5, 5)), "all 5 points are equal"),
        (GOOD @ GOOD.T, "a kernel|diagonal"),
    ],
)
def test_precomputed_distances_that_cannot_be_used(D, message):
    with pytest.raises(DataError, match=message):
        graphs.knn(D, 3, metric="precomputed")


@pytest.mark.filterwarnings("ignore::sdpdr.errors.SquaredDistancesWarning")
def test_points_at_distance_zero_must_agree_on_all_others():
    D = distances()
    D[2, 5] = D[5, 2] = 0.0
    with pytest.raises(DataError, match="points 2 and 5 are at distance 0 but differ"):
        graphs.knn(D, 3, metric="precomputed")


def test_squared_distances_passed_as_plain_ones_are_noticed():
    with pytest.warns(SquaredDistancesWarning, match=r"square roots, np.sqrt\(D\)") as caught:
        graphs.knn(distances() ** 2, 3, metric="precomputed", connect="none")
    assert caught[0].filename == __file__


def clouds():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((n, d)) for n, d in ((20, 1), (60, 3))]


@pytest.mark.parametrize("X", clouds())
def test_rounded_distances_are_distances_and_their_squares_are_not(X):
    lengths = squareform(pdist(X))
    apart = lengths[lengths > 0.0].min()
    digits = 10.0 ** (np.floor(np.log10(np.maximum(lengths, apart))) - 2)
    for rounded in (np.rint(30.0 * lengths), lengths.round(2), np.rint(lengths / digits) * digits):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            squared_distances(rounded, squared=False)
        with pytest.warns(SquaredDistancesWarning):
            squared_distances(rounded**2, squared=False)


WHEN = pd.DataFrame({"x": np.arange(12.0), "when": pd.date_range("2020-01-01", periods=12)})


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (WHEN, r"column 'when' of X holds .*\(X\['when'\] - X\['when'\].min\(\)\).dt.total"),
        (WHEN.assign(late=WHEN.when.dt.tz_localize("UTC")), "columns 'when', 'late' of X hold "),
        (WHEN.assign(when=WHEN.when - WHEN.when[0]), "column 'when' of X holds"),
        (WHEN[["when"]].to_numpy(), "X holds dates or durations"),
    ],
)
def test_times_are_named_with_what_to_do(X, words):
    with pytest.raises(DataTypeError, match=words) as told:
        graphs.knn(X, 2)
    assert "DType" not in str(told.value)
    seconds = WHEN.assign(when=(WHEN["when"] - WHEN["when"].min()).dt.total_seconds())
    assert graphs.knn(seconds.to_numpy() / [1.0, 86400.0], 2).n == 12
