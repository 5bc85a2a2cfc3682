"""What is done at first, and otherwise than meant: whether it is told, and in whose words."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

import sdpdr
from sdpdr import graphs, plot
from sdpdr.errors import (
    DataError,
    DataTypeError,
    SampledWarning,
    SeemingDistancesWarning,
    UnknownNameError,
)

X = sdpdr.datasets.swiss_roll(60, seed=0)[0]
D = squareform(pdist(X))
LEARNERS = [name for name in sdpdr.__all__ if hasattr(getattr(sdpdr, name), "get_params")]


# -- distances without a word about them ----------------------------------------------------------


@pytest.mark.parametrize(
    "given", [D, D.tolist(), pd.DataFrame(D), D * (1.0 + 1e-12 * np.arange(60.0))]
)
def test_distances_passed_as_points_are_told(given):
    with pytest.warns(SeemingDistancesWarning, match="pass metric='precomputed'") as caught:
        graphs.knn(given, 5)
    assert [w.filename for w in caught] == [__file__]


@pytest.mark.parametrize("gap", [np.nan, np.inf])
@pytest.mark.parametrize("learner", [sdpdr.MVU(), sdpdr.MVE(), sdpdr.LPP()])
def test_distances_with_gaps_that_are_passed_as_points_are_told(learner, gap):
    given = D.copy()
    given[3, 5] = gap
    with pytest.raises(DataError, match=r"3\. X is square .*metric='precomputed'.*Completion\.$"):
        learner.fit(given)
    given[4, 6] += 1.0
    with pytest.raises(DataError, match="fill them in"):
        learner.fit(given)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_they_are_wherever_there_is_a_metric(metric):
    with pytest.warns(SeemingDistancesWarning):
        graphs.knn(D, 5, metric=metric)
    with pytest.warns(SeemingDistancesWarning):
        sdpdr.LPP(metric=metric).fit(D)


@pytest.mark.parametrize(
    "points",
    [
        X,
        D[:, :59],
        D[::-1],  # not symmetric with zeros on its diagonal any more
        D - D.mean(),
        D + np.eye(60),
        np.triu(D),
        sp.csr_array(D),
        np.where(D > 10.0, D, 0.0),  # rows of a graph
    ],
)
def test_other_points_are_points(points, recwarn):
    graphs.knn(points, 5, connect="none")
    assert not [w for w in recwarn if w.category is SeemingDistancesWarning]
    graphs.knn(D, 5, metric="precomputed", connect="none")
    assert not [w for w in recwarn if w.category is SeemingDistancesWarning]


# -- how many neighbours --------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.integration
def test_the_data_choose_how_many_neighbours():
    chosen = graphs.choose_k(X).n_neighbors
    auto = sdpdr.MVU(n_neighbors="auto", extension="kernel").fit(X)
    said = sdpdr.MVU(n_neighbors=chosen, extension="kernel").fit(X)
    assert auto.n_neighbors_ == chosen
    assert auto.graph_.m == said.graph_.m
    assert auto.score(X) == said.score(X)
    assert auto.get_params()["n_neighbors"] == "auto"
    given = sdpdr.MVU(n_neighbors="auto", metric="precomputed").fit(D)
    assert given.n_neighbors_ == graphs.choose_k(D, metric="precomputed").n_neighbors


def test_another_word_for_how_many_is_refused():
    with pytest.raises(UnknownNameError, match="auto"):
        sdpdr.MVU(n_neighbors="all").fit(X)
    with pytest.raises(DataTypeError, match=r"graphs\.choose_k"):
        sdpdr.LPP(n_neighbors="auto").fit(X)


# -- names of methods, arguments and columns ------------------------------------------------------


def test_what_only_an_extension_gives_says_so():
    plain = sdpdr.MVU().fit(X)
    for name in ("transform", "score", "trust"):
        assert not hasattr(plain, name)
        with pytest.raises(AttributeError, match="pass extension='kernel'"):
            getattr(plain, name)
        assert callable(getattr(sdpdr.MVU(extension="kernel"), name))
        assert getattr(sdpdr.MVU, name).__doc__


@pytest.mark.parametrize("name", LEARNERS)
def test_arguments_are_those_of_the_class_that_was_called(name):
    learner = getattr(sdpdr, name)
    with pytest.raises(TypeError, match=rf"^unknown argument of {name}\(\) 'neighbor'"):
        learner(**dict.fromkeys(_required(learner), 1), neighbor=5)


def _required(learner):
    parameters = list(inspect.signature(learner).parameters.values())
    return [p.name for p in parameters if p.default is p.empty]


@pytest.mark.parametrize("learner", [sdpdr.MVU(), sdpdr.LPP(), sdpdr.LDA()])
def test_a_column_of_text_is_named(learner):
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.insert(1, "customer", [f"C{k:05}" for k in range(60)])
    with pytest.raises(DataError, match=r"(?s)'C00000'.*numbers: 'customer'\."):
        learner.fit(frame, np.arange(60) % 2)


# -- pictures -------------------------------------------------------------------------------------


def test_a_fitted_estimator_is_drawn_by_its_places():
    fitted = sdpdr.MVU().fit(X)
    drawn, places = (plot.embedding(Y).axes[0].collections[0] for Y in (fitted, fitted.embedding_))
    assert np.array_equal(drawn.get_offsets(), places.get_offsets())


@pytest.mark.parametrize("estimator", [sdpdr.MVU(), sdpdr.LPP().fit(X)])
def test_an_estimator_without_places_is_not_drawn(estimator):
    with pytest.raises(DataError, match=f"{type(estimator).__name__} has no embedding_ to draw"):
        plot.embedding(estimator)


# -- where warnings point to ----------------------------------------------------------------------


def of_two_parts():
    return np.vstack([X, X + 1000.0])


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    "learn",
    [
        lambda: sdpdr.MVU().fit(of_two_parts()),
        lambda: sdpdr.MVU().fit_transform(of_two_parts()),
        lambda: sdpdr.MVU(n_neighbors=99).fit(X[:20]),
        lambda: sdpdr.LPP().fit(pd.DataFrame({"a": np.arange(60), "b": X[:, 0]})),
    ],
)
def test_warnings_point_to_the_caller(learn):
    with pytest.warns(sdpdr.errors.SdpdrWarning) as caught:
        learn()
    assert {w.filename for w in caught} == {__file__}


def test_those_of_a_sample_do(monkeypatch):
    monkeypatch.setattr(sdpdr.MVU, "largest", 40)
    with pytest.warns() as caught:
        sdpdr.MVU().fit(X)
    assert SampledWarning in {w.category for w in caught}
    assert {w.filename for w in caught} == {__file__}
