"""IsoNMF: what it reports, points merged, dropped and new."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sdpdr import IsoNMF
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    DroppedPointsWarning,
    ShapeError,
    UnknownNameError,
)
from sdpdr.nonnegative import IsometricStatus, hoyer


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    return rng.random((20, 3)) @ rng.random((3, 6))


@pytest.fixture(scope="module")
def found(data):
    """An estimator, and what fitting it returned."""
    learned = IsoNMF(n_components=3, tol=1e-2)
    return learned, learned.fit_transform(data)


def test_what_is_reported(data, found):
    fitted, W = found
    H, graph = fitted.components_, fitted.graph_
    assert (W.shape, H.shape) == ((20, 3), (3, 6))
    assert min(W.min(), H.min()) >= 0.0
    lost = np.linalg.norm(data - W @ H)
    assert fitted.reconstruction_err_ == pytest.approx(lost)
    assert fitted.score(data) == pytest.approx(1.0 - (lost / np.linalg.norm(data)) ** 2, abs=1e-12)
    assert fitted.reconstruction_err_ >= fitted.bound_
    steps = W[graph.edges[:, 0]] - W[graph.edges[:, 1]]
    off = np.linalg.norm(np.sum(steps**2, axis=1) - graph.sqdist) / np.linalg.norm(graph.sqdist)
    assert fitted.edge_error_ == pytest.approx(off, rel=1e-6)
    assert fitted.edge_error_ <= 1e-2
    assert fitted.sparsity_["W"] == pytest.approx(np.mean(hoyer(W, axis=0)))
    assert fitted.sparsity_["H"] == pytest.approx(np.mean(hoyer(H, axis=1)))
    assert fitted.status_ is IsometricStatus.SETTLED
    assert len(fitted.history_) == fitted.n_iter_
    assert fitted.edge_error_ in [record["dist"] for record in fitted.history_]
    assert fitted.get_feature_names_out().tolist() == ["isonmf0", "isonmf1", "isonmf2"]


def test_points_of_the_fit_have_the_rows_found_and_new_ones_those_of_least_squares(data, found):
    fitted, W = found
    np.testing.assert_array_equal(fitted.transform(data[::-1]), W[::-1])
    new = 1.1 * data[:5]
    W = fitted.transform(new)
    assert W.min() >= 0.0
    slopes = (W @ fitted.components_ - new) @ fitted.components_.T
    np.testing.assert_allclose(np.minimum(W, slopes), 0.0, atol=1e-8)
    np.testing.assert_allclose(fitted.inverse_transform(W), W @ fitted.components_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_parts_may_stay_apart_unless_points_are_pulled(data):
    far = np.vstack([data, data[:4] + 50.0])
    assert IsoNMF(n_components=3, max_iter=1).fit(far).graph_.n_components == 2
    with pytest.raises(DisconnectedGraphError):
        IsoNMF(n_components=2, objective="furthest").fit(far)
    iso = IsoNMF(n_components=2, objective="furthest", connect="mst", max_iter=1).fit(far)
    assert iso.result_.spread > 0.0
    # Dropped points are placed as new ones.
    iso = IsoNMF(n_components=3, max_iter=1, connect="largest")
    with pytest.warns(DroppedPointsWarning):
        W = iso.fit_transform(far)
    np.testing.assert_allclose(W[20:], iso.transform(far[20:]))


def test_unfinished_search_warns(data):
    with pytest.warns(ConvergenceWarning, match="ITERATION_LIMIT"):
        IsoNMF(n_components=2, max_iter=1).fit(data)


def test_what_is_refused(data):
    for change, error in [
        ({"n_components": 7}, DataError),
        ({"n_components": 0}, DataError),
        ({"n_neighbors": 0}, DataError),
        ({"objective": "closest"}, UnknownNameError),
        ({"connect": "some"}, UnknownNameError),
    ]:
        with pytest.raises(error):
            IsoNMF(**change).fit(data)


def test_what_is_refused_later(data, found):
    fitted, _ = found
    with pytest.raises(DataError, match="Negative"):
        fitted.transform(-data)
    with pytest.raises(ShapeError):
        fitted.inverse_transform(data)
    with pytest.raises(NotFittedError):
        IsoNMF().transform(data)
