"""The least ellipsoid: by ascent and as a program, in all coordinates, with its proof."""

import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA

import sdpdr
from sdpdr import methods
from sdpdr.density import Ellipsoid, minimum_ellipsoid
from sdpdr.errors import DataError, UncertifiedWarning

CUBE = np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, -1).T
CROSS = np.vstack([np.eye(3), -np.eye(3)])
TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
CLOUD = np.random.default_rng(0).standard_normal((30, 3))
ORACLES = [
    (CUBE, np.eye(3) / 3.0, np.zeros(3)),
    (CROSS, np.eye(3), np.zeros(3)),
    (TRIANGLE, np.array([[3.0, 1.5], [1.5, 3.0]]), np.full(2, 1.0 / 3.0)),
]


@pytest.mark.parametrize(("points", "shape", "center"), ORACLES)
def test_ascent_finds_the_known_ellipsoids(points, shape, center):
    found = minimum_ellipsoid(points)
    np.testing.assert_allclose(found.shape, shape, atol=1e-6)
    np.testing.assert_allclose(found.center, center, atol=1e-6)
    assert 0.0 <= found.gap <= 1e-7
    assert found.contains(points).all()


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "points", "shape", "center"),
    [("lowrank", *ORACLES[1]), ("clarabel", *ORACLES[2])],
)
def test_programs_find_the_known_ellipsoids(points, shape, center, solver):
    form = {"lowrank": "factor"}.get(solver, "lmi")
    solution = sdpdr.solve(methods.mvee(points), solver, form, tol=1e-6)
    found = methods.ellipsoid_of(solution, points)
    np.testing.assert_allclose(found.shape, shape, atol=1e-4)
    np.testing.assert_allclose(found.center, center, atol=1e-4)
    assert found.gap < 1e-5


def test_a_few_points_of_a_cloud_hold_its_ellipsoid_and_lie_on_it():
    found = minimum_ellipsoid(CLOUD, tol=1e-9)
    assert np.linalg.det(found.shape) == pytest.approx(0.00897523, abs=1e-8)
    np.testing.assert_allclose(found.center, [-0.02843, 0.18858, 0.45685], atol=3e-5)
    assert found.contains(CLOUD).all()
    # Only a few points lie on it.
    assert 4 <= np.sum(~found.contains(CLOUD, -1e-4)) <= 9
    solution = sdpdr.solve(methods.mvee(CLOUD), "clarabel", "lmi", tol=1e-7)
    other = methods.ellipsoid_of(solution, CLOUD)
    assert other.log_volume == pytest.approx(found.log_volume, abs=1e-6)
    assert solution.certified(1e-6)


def test_the_gap_is_a_proof():
    best = minimum_ellipsoid(CLOUD, tol=1e-11).log_volume
    for tol in (1e-1, 1e-2, 1e-4):
        rough = minimum_ellipsoid(CLOUD, tol=tol)
        assert rough.gap <= tol
        assert best <= rough.log_volume <= best + rough.gap + 1e-10


@pytest.mark.nightly
def test_affine_equivariance():
    turn = np.array([[2.0, 0.3, 0.0], [0.0, 1.0, 0.5], [0.1, 0.0, 0.7]])
    move = 1e4 + np.array([1.0, 2.0, 3.0])
    here, there = minimum_ellipsoid(CLOUD), minimum_ellipsoid(CLOUD @ turn.T + move)
    back = np.linalg.inv(turn)
    np.testing.assert_allclose(there.shape, back.T @ here.shape @ back, atol=1e-6)
    np.testing.assert_allclose(there.center, turn @ here.center + move, atol=1e-6)
    assert there.volume == pytest.approx(here.volume * np.linalg.det(turn), rel=1e-6)
    a = sdpdr.solve(methods.mvee(CLOUD), "clarabel", "lmi").value
    b = sdpdr.solve(methods.mvee(CLOUD @ turn.T + move), "clarabel", "lmi").value
    assert a == pytest.approx(b, rel=1e-5)


def test_flat_points_have_an_ellipsoid_where_they_are_projected():
    flat = np.column_stack([TRIANGLE, TRIANGLE.sum(axis=1)])
    for find in (minimum_ellipsoid, methods.mvee):
        with pytest.raises(DataError, match=r"flat of 2 of 3 dimensions.*PCA\(2\)"):
            find(flat)
    found = minimum_ellipsoid(PCA(2).fit_transform(flat))
    assert minimum_ellipsoid(TRIANGLE).volume == pytest.approx(2.0 * np.pi / np.sqrt(27.0))
    assert Ellipsoid(np.zeros(2), np.eye(2) / 4.0).volume == pytest.approx(4.0 * np.pi)
    # The area of the triangle grows by sqrt(3) as it is tilted.
    assert found.volume == pytest.approx(np.sqrt(3.0) * minimum_ellipsoid(TRIANGLE).volume)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: minimum_ellipsoid([[1.0, 1.0], [1.0, 1.0]]), DataError, "are equal"),
        (lambda: minimum_ellipsoid([[0.0, np.inf], [1.0, 1.0]]), DataError, "infinity"),
        (lambda: minimum_ellipsoid(CUBE, tol=0.0), DataError, "tol"),
    ],
)
def test_clouds_and_limits_without_an_ellipsoid_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_too_few_steps_are_told():
    with pytest.warns(UncertifiedWarning, match="tol was not reached"):
        rough = minimum_ellipsoid(CLOUD, max_iter=3)
    assert rough.contains(CLOUD).all()
    assert rough.gap > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minimum_ellipsoid(CLOUD)
