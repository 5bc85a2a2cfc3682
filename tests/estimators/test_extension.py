"""New points for embeddings: every kind of map, in pipelines, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sdpdr
from sdpdr import extend
from sdpdr.errors import DataError, DroppedPointsWarning, NotAcceptedError, UnknownNameError
from sdpdr.families.regress import maps
from sdpdr.families.regress.maps import KINDS
from sdpdr.families.unfold.quality import procrustes


def strip(n, seed):
    """A roll of little width, its arc lengths and heights."""
    X, t = sdpdr.datasets.swiss_roll(n, seed=seed, height=10.0)
    arc = 0.5 * (t * np.sqrt(1.0 + t * t) + np.arcsinh(t))
    return X, np.column_stack([arc, X[:, 1]])


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::sdpdr.errors.DuplicatePointsWarning")
@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewPointsWarning")
@pytest.mark.filterwarnings("ignore::sdpdr.errors.LostLengthsWarning")
@parametrize_with_checks(
    [sdpdr.MVU(n_neighbors=4, connect="mst", extension=kind) for kind in ("kernel", "barycentric")]
)
def test_scikit_learn_checks_of_every_extension(estimator, check):
    check(estimator)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.nightly) for k in (1, 2))])
def test_new_points_of_a_roll_are_placed_as_well_as_the_old_ones(seed):
    X, truth = strip(500, seed)
    learned = sdpdr.MVU(n_neighbors=5, connect="mst", extension="kernel").fit(X[:300])
    inside = procrustes(truth[:300], learned.embedding_)
    outside = procrustes(truth[300:], learned.transform(X[300:]))
    assert outside < 1.5 * inside
    # No linear map unrolls anything.
    flat = extend.fit_extension(X[:300], learned.embedding_, "linear")
    assert procrustes(truth[300:], flat(X[300:])) > 2.0 * outside


@pytest.fixture(scope="module")
def unrolled():
    X = strip(500, 1)[0]
    return X, sdpdr.MVU(n_neighbors=5, connect="mst").fit(X)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["kernel", "barycentric"])
def test_the_error_told_is_about_the_error_made(unrolled, kind):
    X, learned = unrolled
    half = extend.fit_extension(X[::2], learned.embedding_[::2], kind)
    away = half(X[1::2]) - learned.embedding_[1::2]
    spread = learned.embedding_ - learned.embedding_.mean(axis=0)
    made = np.sqrt(np.mean(np.sum(away**2, 1)) / np.mean(np.sum(spread**2, 1)))
    assert 0.4 < made / half.error < 2.5


@pytest.mark.daily(1)
@pytest.mark.parametrize("kind", KINDS)
def test_a_linear_embedding_is_extended_exactly(kind):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (400, 2))
    Y = X @ np.array([[1.0, 2.0], [-1.0, 0.5]]) + 3.0
    found = extend.fit_extension(X, Y, kind)
    new = rng.uniform(-0.8, 0.8, (50, 2))
    expected = new @ np.array([[1.0, 2.0], [-1.0, 0.5]]) + 3.0
    np.testing.assert_allclose(found(new), expected, atol=2e-2)
    assert found.error < 2e-2


def test_trust_is_a_share_of_ordinary_points():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2))
    found = extend.fit_extension(X, X, "barycentric")
    ordinary = found.trust(rng.standard_normal((1000, 2)))
    assert abs(np.mean(ordinary < 0.05) - 0.05) < 0.025
    assert abs(np.median(ordinary) - 0.5) < 0.06
    assert found.trust(np.array([[20.0, 20.0]])) == [0.0]


@pytest.mark.integration
@pytest.mark.parametrize("kind", ["kernel", "barycentric"])
def test_distances_alone_will_do(kind):
    X, _ = strip(80, 0)
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    options = {"n_neighbors": 5, "connect": "mst", "extension": kind}
    given = sdpdr.MVU(metric="precomputed", **options).fit(distances[:60, :60])
    places = given.transform(distances[60:, :60])
    assert places.shape == (20, 2)
    if kind == "kernel":
        plain = sdpdr.MVU(**options).fit(X[:60])
        np.testing.assert_allclose(places, plain.transform(X[60:]), atol=1e-3)
        np.testing.assert_allclose(
            given.trust(distances[60:, :60]), plain.trust(X[60:]), atol=1e-12
        )
        assert given.score(distances[60:, :60]) == pytest.approx(plain.score(X[60:]), abs=1e-4)


@pytest.mark.nightly
def test_in_a_pipeline_and_in_cross_validation():
    X, _ = strip(60, 0)
    pipe = make_pipeline(StandardScaler(), sdpdr.MVU(connect="mst", extension="kernel"))
    assert pipe.fit(X).transform(X[:7]).shape == (7, 2)
    search = GridSearchCV(
        sdpdr.MVU(connect="mst", extension="barycentric"),
        {"n_neighbors": [4, 8]},
        cv=KFold(2, shuffle=True, random_state=0),
    ).fit(X)
    assert search.best_params_["n_neighbors"] in (4, 8)
    assert np.all(search.cv_results_["mean_test_score"] < 1.0)


def test_a_step_of_a_pipeline_without_a_map_is_told_which_parameter_gives_one():
    X, y = np.random.default_rng(0).standard_normal((12, 3)), np.arange(12) % 2
    with pytest.raises(TypeError, match="MVU.* has no transform.*pass extension='kernel'"):
        make_pipeline(sdpdr.MVU(), LogisticRegression()).fit(X, y)
    assert not hasattr(sdpdr.MVU(), "transform")


def test_points_that_the_graph_dropped_serve_no_map():
    X, _ = strip(60, 0)
    X[50:] += 1000.0
    with pytest.warns(DroppedPointsWarning):
        learned = sdpdr.MVU(n_neighbors=4, connect="largest", extension="kernel").fit(X)
    assert np.isfinite(learned.transform(X)).all()
    assert np.all(learned.trust(X[50:]) == 0.0)


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")  # one iteration of MVE
@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewAnchorsWarning")
def test_every_embedding_has_it():
    X, _ = strip(16, 0)
    options = {"n_neighbors": 5, "connect": "mst", "extension": "barycentric"}
    y = np.arange(16) % 2
    steps = ["R"] * 15
    learned = [
        sdpdr.MVU(**options).fit(X),
        sdpdr.MFNU(**options).fit(X),
        sdpdr.ColoredMVU(**options).fit(X, y),
        sdpdr.ARE(**options).fit(X, actions=steps),
        sdpdr.MVE(**options, max_iter=1).fit(X),
        sdpdr.DensityMap(**options).fit(X),
        sdpdr.AnchoredMVU(**options).fit(X),
    ]
    for estimator in learned:
        assert estimator.transform(X[:3] + 0.01).shape == (3, 2), estimator
        assert clone(estimator).extension == "barycentric"


@pytest.mark.nightly
def test_many_points_share_few_centres(monkeypatch):
    """Beyond some thousands of points Gaussians stand about a sample of them."""
    monkeypatch.setattr("sdpdr.families.regress.maps._CENTERS", 150)
    monkeypatch.setattr("sdpdr.families.regress.maps._CHOSEN_ON", 200)
    monkeypatch.setattr("sdpdr.families.regress.maps.BLOCK", 70 * 150)
    rng = np.random.default_rng(0)
    t = rng.uniform(0.0, 3.0, (600, 1))
    points = np.hstack([np.cos(t), np.sin(t)])
    found = extend.fit_extension(points[:500], t[:500])
    assert found.centers.size == 150
    np.testing.assert_allclose(found(points[500:]), t[500:], atol=0.01)
    assert found.error < 0.02


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"extension": "kernal"}, UnknownNameError, "'kernel'"),
        ({"extension": "linear", "metric": "precomputed"}, NotAcceptedError, "coordinates"),
    ],
)
def test_what_cannot_be_is_named(options, error, words):
    X, _ = strip(30, 0)
    given = np.linalg.norm(X[:, None] - X[None], axis=2) if "metric" in options else X
    with pytest.raises(error, match=words):
        sdpdr.MVU(n_neighbors=5, connect="mst", **options).fit(given)


def test_too_few_places_are_named():
    with pytest.raises(DataError, match="three"):
        extend.fit_extension(np.zeros((2, 2)), np.zeros((2, 1)))


def test_an_extension_that_is_not_known_is_refused_before_the_solve(monkeypatch):
    monkeypatch.setattr("sdpdr.families.unfold.estimators.gram.solve", None)
    with pytest.raises(UnknownNameError, match="kernel"):
        sdpdr.MVU(extension="kernal").fit(strip(40, 0)[0])


def test_what_is_not_fitted_places_nobody():
    with pytest.raises(NotFittedError):
        sdpdr.MVU(extension="kernel").transform(np.eye(3))


def test_a_map_of_some_points_knows_its_error_at_new_ones(monkeypatch):
    monkeypatch.setattr(maps, "_CHOSEN_ON", 150)
    monkeypatch.setattr(maps, "_CENTERS", 400)
    X, Y = strip(700, 0)
    fitted = extend.fit_extension(X[:600], Y[:600])
    missed, spread = fitted(X[600:]) - Y[600:], Y - Y.mean(axis=0)
    error = np.linalg.norm(missed) / np.linalg.norm(spread) * np.sqrt(7.0)
    assert error < 5.0 * fitted.error < 1e-3
