"""The ARE estimator: what it learns, what it refuses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.errors import DataError, DisconnectedGraphError, ShapeError

LINE = "R" * 12 + "L" * 6


@pytest.fixture(scope="module")
def line():
    return datasets.window_agent(LINE, window=16, grain=0.1, scene=96)


def test_learns_what_the_recipe_solves(line):
    X, position = line
    learned = sdpdr.ARE(1, n_neighbors=3).fit(X, actions=LINE)
    assert learned.solution_.value == pytest.approx(1942.0563922, rel=1e-6)
    assert np.corrcoef(learned.embedding_[:, 0], position[:, 0])[0, 1] ** 2 > 0.998
    assert learned.action_error_ < 1e-5
    assert sorted(learned.motions_) == ["L", "R"]
    assert all(motion.residual < 1e-3 for motion in learned.motions_.values())
    assert len(learned.transitions_.pairs()[0]) == 81


def test_without_actions_it_is_mvu_on_the_same_graph(line):
    X, _ = line
    learned = sdpdr.ARE(n_neighbors=3).fit(X)
    plain = sdpdr.solve(methods.mvu(graphs.sequences(X, 3)))
    assert learned.solution_.value == pytest.approx(plain.value, rel=1e-6)
    assert learned.motions_ == {}
    assert learned.action_error_ == 0.0
    assert learned.transitions_ is None


def test_sequences_and_precomputed_distances(line):
    X, _ = line
    actions, lengths = LINE[:9] + LINE[10:], [10, 9]
    learned = sdpdr.ARE(n_neighbors=3).fit(X, actions=actions, lengths=lengths)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    given = sdpdr.ARE(n_neighbors=3, metric="precomputed").fit(
        distances, actions=actions, lengths=lengths
    )
    assert given.solution_.value == pytest.approx(learned.solution_.value, rel=1e-6)
    assert learned.action_error_ < 1e-4


def test_a_relaxation_says_how_far_it_is_from_rigid(line):
    X, _ = line
    learned = sdpdr.ARE(1, n_neighbors=3, hops=1).fit(X, actions=LINE)
    assert learned.solution_.bound > 1942.06
    assert learned.action_error_ > 0.1


def test_inverse_actions_lead_back_to_the_same_place(line):
    X, _ = line
    learned = sdpdr.ARE(1, n_neighbors=3, inverse={"L": "R"}).fit(X, actions=LINE)
    assert learned.solution_.value == pytest.approx(1888.4712560, rel=1e-6)
    np.testing.assert_allclose(learned.embedding_[13], learned.embedding_[11], atol=1e-5)


@pytest.mark.nightly
def test_fits_in_a_pipeline_and_clones(line):
    X, _ = line
    pipeline = make_pipeline(FunctionTransformer(), sdpdr.ARE(1, n_neighbors=3))
    found = pipeline.fit_transform(X, are__actions=LINE)
    model = clone(sdpdr.ARE(1, n_neighbors=3))
    np.testing.assert_array_equal(found, model.fit_transform(X, actions=LINE))


@pytest.mark.parametrize(
    ("options", "given", "error", "words"),
    [
        ({}, {"actions": LINE[:-1]}, ShapeError, "18 are needed"),
        ({}, {"actions": LINE + "L"}, ShapeError, "last state of a sequence has none"),
        ({}, {"actions": LINE, "lengths": [10, 9]}, ShapeError, "17 are needed"),
        ({}, {"y": LINE}, DataError, r"fit\(X, actions=y\)"),
        ({}, {"y": list(LINE)}, DataError, r"fit\(X, actions=y\)"),
        ({}, {"lengths": [10, 10]}, DataError, "add up to 20"),
        ({"inverse": {"L": "R"}}, {}, DataError, "pass actions"),
        ({"inverse": {"X": "R"}}, {"actions": LINE}, DataError, "names the action 'X'"),
        ({"hops": -1}, {"actions": LINE}, DataError, "hops=-1"),
        ({"n_components": 0}, {"actions": LINE}, DataError, "n_components"),
    ],
)
def test_wrong_input_is_refused(line, options, given, error, words):
    with pytest.raises(error, match=words):
        sdpdr.ARE(**{"n_neighbors": 3, **options}).fit(line[0], **given)


# Both lines are rigid, so that the program has next to no interior: whether "auto" proves it to
# 1e-6 on a machine that is busy is another matter.
@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_sequences_far_apart_are_refused_or_joined():
    X = np.vstack([np.arange(8.0)[:, None], 20.0 + np.arange(8.0)[:, None]])
    with pytest.raises(DisconnectedGraphError):
        sdpdr.ARE(1, n_neighbors=2, connect="error").fit(X, actions="R" * 14, lengths=[8, 8])
    joined = sdpdr.ARE(1, n_neighbors=2, connect="mst")
    assert joined.fit(X, actions="R" * 14, lengths=[8, 8]).graph_.is_connected
