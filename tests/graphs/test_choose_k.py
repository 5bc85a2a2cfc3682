"""The number of neighbours: oracles of the swiss roll, brute force, and what cannot be used."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.neighbors import KNeighborsClassifier

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, ShapeError, UnknownNameError
from sdpdr.graphs.space import make_space


def cloud(seed, n=30, dim=3):
    return np.random.default_rng(seed).standard_normal((n, dim))


def test_parts_are_those_of_the_graph():
    X = cloud(1)
    choice = graphs.choose_k(X, "connected")
    parts = [graphs.knn(X, k, connect="none").n_components for k in choice.k]
    assert choice.scores["parts"].tolist() == parts
    assert parts[choice.best - 1] == 1
    assert min(parts[: choice.best - 1]) > 1


@given(seed=st.integers(0, 1000))
@settings(max_examples=4)
def test_errors_of_means_equal_brute_force(seed):
    X = cloud(seed)
    table = make_space(X).nearest(6)
    brute = [np.square(X - X[table[:, :k]].mean(axis=1)).sum() for k in range(1, 7)]
    choice = graphs.choose_k(X, k_max=6)
    np.testing.assert_allclose(choice.scores["error of means"], brute)
    level = [k for k in range(1, 7) if brute[k - 1] <= 1.03 * min(brute)]
    least = int(np.argmin(brute)) + 1
    assert choice.best >= least
    assert set(range(least, choice.best + 1)) <= set(level)
    assert choice.best == 6 or choice.best + 1 not in level


def noisy_days(seed):
    """Four sensors that follow the hour and the week, four times an hour."""
    rng, hour = np.random.default_rng(seed), np.arange(900) / 4
    day, week = hour * np.pi / 12, hour * np.pi / 60
    columns = [1.4 * np.sin(day), -1.4 * np.sin(day + 0.3), 1.4 * np.sin(week)]
    noon = 2.5 * np.clip(np.sin((hour - 6) * np.pi / 12), 0, None)
    return np.column_stack([*columns, noon]) + 0.07 * rng.normal(size=(900, 4))


def test_more_neighbours_are_taken_while_the_error_is_level():
    choice = graphs.choose_k(noisy_days(0))
    errors = choice.scores["error of means"]
    assert choice.best > np.argmin(errors) + 1
    assert errors[choice.best - 1] <= 1.03 * errors.min() < errors[choice.best]
    assert f"and within 3% of that up to k = {choice.best}" in choice.reason


def test_votes_equal_those_of_a_classifier():
    X, y = datasets.digits(150)
    scores = graphs.choose_k(X, "label", y, k_max=5).scores
    for k in (1, 3, 5):
        near = KNeighborsClassifier(k).fit(X, y).kneighbors(return_distance=False)
        voted = []
        for row in y[near]:
            counts = Counter(row.tolist())
            voted.append(max(counts, key=lambda c: (counts[c], -row.tolist().index(c))))
        assert scores["right votes"][k - 1] == pytest.approx(np.mean(voted == y))
        company = (y[near] == y[:, None]).any(axis=1).mean()
        assert scores["any of class"][k - 1] == pytest.approx(company)
    assert (np.diff(scores["any of class"]) >= 0).all()


def test_likelihoods_equal_a_sum_of_normal_densities():
    X = cloud(3, n=12, dim=2)
    table = make_space(X).nearest(3)
    width = np.sum((X - X[table[:, 2]]) ** 2, axis=1)
    logs = []
    for i in range(12):
        others = [
            multivariate_normal(X[j], width[j] * np.eye(2)).pdf(X[i]) for j in range(12) if j != i
        ]
        logs.append(np.log(np.mean(others)))
    measured = graphs.choose_k(X, "density", k_max=3).scores["log-likelihood"]
    assert measured[2] == pytest.approx(np.mean(logs))


def test_distances_alone_give_the_same_choice():
    X = cloud(4)
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=-1))
    for rule in ("reconstruct", "density"):
        ours, theirs = graphs.choose_k(X, rule), graphs.choose_k(D, rule, metric="precomputed")
        assert ours.n_neighbors == theirs.n_neighbors
        for name, column in ours.scores.items():
            np.testing.assert_allclose(theirs.scores[name], column, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rule": "elbow"}, UnknownNameError, "unknown rule 'elbow'"),
        ({"rule": "label"}, DataError, "pass y"),
        ({"rule": "label", "y": [1, 2]}, ShapeError, "y has shape"),
        ({"rule": "label", "y": [np.nan] + [1.0] * 29}, DataError, "not known for points 0"),
        ({"k_max": 0}, DataError, "k_max=0"),
        ({"k_max": 30}, DataError, "30 distinct points"),
        ({"rule": "density", "dimension": 0}, DataError, "dimension=0"),
    ],
)
def test_errors_of_choose_k(options, error, words):
    with pytest.raises(error, match=words):
        graphs.choose_k(cloud(0), **options)
