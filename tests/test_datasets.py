"""Generated data: reproducible, of the shape promised, and refused in words."""

import numpy as np
import pytest

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, UnknownNameError


@pytest.mark.parametrize("name", datasets.generators)
def test_every_generator_gives_finite_points_and_one_value_each_and_repeats_itself(name):
    given = {"rows": [[1, 2], [3, 4]]} if name == "matrix" else {}
    X, y = datasets.generate(name, **given)
    assert X.ndim == (3 if name == "random_matrices" else 2)
    columns = {
        "window_agent": (2,),
        "window_walk": (2,),
        "random_nonnegative": (3,),
        "partial_signs": (2,),
    }
    assert y.shape == (len(X), *columns.get(name, ()))
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    again, _ = datasets.generate(name, **given)
    assert np.array_equal(X, again)


@pytest.mark.parametrize("name", ["swiss_roll", "s_curve", "gaussian", "two_clusters"])
def test_seeds_make_a_difference(name):
    first, _ = datasets.generate(name, n=10, seed=0)
    second, _ = datasets.generate(name, n=10, seed=1)
    assert not np.allclose(first, second)


def test_swiss_roll_is_the_published_one():
    rng = np.random.default_rng(5)
    t = 1.5 * np.pi * (1 + 2 * rng.random(50))
    h = 21 * rng.random(50)
    X, color = datasets.swiss_roll(50, seed=5)
    assert np.array_equal(X, np.column_stack([t * np.cos(t), h, t * np.sin(t)]))
    assert np.array_equal(color, t)
    assert graphs.knn(datasets.swiss_roll(100, 0)[0], 4).m == 249


def test_curves_lie_where_they_should():
    X, t = datasets.s_curve(50)
    assert np.allclose(X[:, 0] ** 2 + (np.abs(X[:, 2]) - 1) ** 2, 1.0)
    assert (np.abs(t) <= 1.5 * np.pi).all()
    X, a = datasets.spiral(30)
    assert np.allclose(np.hypot(*X.T), a)
    assert np.allclose(np.hypot(*datasets.circle(12, radius=2.5)[0].T), 2.5)


def test_circle_and_knot_are_closed_by_their_nearest_neighbours():
    for X, _ in (datasets.circle(40), datasets.trefoil_knot(120)):
        assert (graphs.knn(X, 2).degree >= 2).all()


def test_grid_with_hole_misses_its_centre():
    X, _ = datasets.grid_with_hole(5, 7, hole=3)
    assert len(X) == 5 * 7 - 9
    assert X.max(axis=0).tolist() == [6.0, 4.0]
    assert not (X == [3.0, 2.0]).all(axis=1).any()
    assert len(datasets.grid_with_hole(3, 4, hole=0)[0]) == 12


def test_two_clusters_fall_apart_and_the_labels_are_the_components():
    X, label = datasets.two_clusters(60)
    graph = graphs.knn(X, 6, connect="none")
    assert np.array_equal(graph.components, label)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("swiss_roll", {"n": 0}, "n=0 is too small"),
        ("swiss_roll", {"n": 2.5}, "not an integer"),
        ("grid_with_hole", {"rows": 3, "hole": 3}, "leaves nothing"),
        ("digits", {"n": 5000}, "there are 1797"),
        ("circle", {"radius": -1.0}, "positive"),
    ],
)
def test_wrong_arguments_are_refused(name, arguments, message):
    with pytest.raises(DataError, match=message):
        datasets.generate(name, **arguments)


def test_unknown_names_offer_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'swiss_roll'"):
        datasets.generate("swissroll")
    with pytest.raises(UnknownNameError, match=r"argument of swiss_roll\(\) 'noise'"):
        datasets.generate("swiss_roll", noise=1.0)


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        datasets.generators["mine"] = datasets.circle
