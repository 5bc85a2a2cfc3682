"""The number of neighbours: oracles of the swiss roll, brute force, and what cannot be used."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import graphs
from sdpdr.errors import DataError
from sdpdr.graphs.data import make_space


def cloud(seed, n=30, dim=3):
    return np.random.default_rng(seed).standard_normal((n, dim))


def test_parts_are_those_of_the_graph():
    X = cloud(1)
    choice = graphs.choose_k(X)
    parts = [graphs.knn(X, k, connect="none").n_components for k in choice.k]
    assert choice.parts.tolist() == parts
    assert parts[choice.connecting - 1] == 1
    assert min(parts[: choice.connecting - 1]) > 1


@given(seed=st.integers(0, 1000))
@settings(max_examples=4)
def test_errors_of_means_equal_brute_force(seed):
    X = cloud(seed)
    table = make_space(X).nearest(6)
    brute = [np.square(X - X[table[:, :k]].mean(axis=1)).sum() for k in range(1, 7)]
    choice = graphs.choose_k(X, k_max=6)
    np.testing.assert_allclose(choice.errors, brute)
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
    errors = choice.errors
    assert choice.best > np.argmin(errors) + 1
    assert errors[choice.best - 1] <= 1.03 * errors.min() < errors[choice.best]
    assert f"and within 3% of that up to k = {choice.best}" in choice.reason


def test_distances_alone_give_the_same_choice():
    X = cloud(4)
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=-1))
    ours, theirs = graphs.choose_k(X), graphs.choose_k(D, metric="precomputed")
    assert ours.n_neighbors == theirs.n_neighbors
    np.testing.assert_array_equal(theirs.parts, ours.parts)
    np.testing.assert_allclose(theirs.errors, ours.errors, rtol=1e-9)


@pytest.mark.parametrize(("k_max", "words"), [(0, "k_max=0"), (30, "30 distinct points")])
def test_errors_of_choose_k(k_max, words):
    with pytest.raises(DataError, match=words):
        graphs.choose_k(cloud(0), k_max=k_max)


def test_the_density_rule_is_the_printed_likelihood():
    """Point by point, for a cloud whose numbers have no ties."""
    X = np.random.default_rng(4).standard_normal((12, 3))
    choice = graphs.choose_k(X, k_max=4, rule="density", dimension=3)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for k, found in zip(choice.k, choice.errors, strict=True):
        h = np.sort(D, axis=1)[:, k]
        density = (2.0 * np.pi * h**2) ** -1.5 * np.exp(-(D**2) / (2.0 * h**2))
        np.fill_diagonal(density, 0.0)
        assert found == pytest.approx(-np.mean(np.log(density.sum(axis=1) / 11)))
    assert choice.best == 1 + np.argmin(choice.errors)
    assert "-log-likelihood" in str(choice)
