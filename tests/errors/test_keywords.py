"""Unknown keywords: what people call offers the one that is meant, and stays what it was."""

import copy
import inspect
import pickle
from operator import attrgetter

import pytest

import sdpdr
from sdpdr import blocks, datasets, estimators, graphs, methods, solvers
from sdpdr.errors import UnknownKeywordError, UnknownNameError
from sdpdr.model import Block


def public(room, chosen):
    return [one for name in dir(room) if name[0] != "_" and chosen(one := getattr(room, name))]


def has_options(one):
    """Whether it is a function of this package with keywords that people may misspell."""
    if not inspect.isfunction(one) or not one.__module__.startswith("sdpdr."):
        return False
    known = inspect.signature(one).parameters.values()
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known)
    return not is_open and any(parameter.default is not parameter.empty for parameter in known)


ROOMS = [sdpdr, *public(sdpdr, inspect.ismodule)]
CALLED = [
    *{
        one.__module__ + one.__name__: one for room in ROOMS for one in public(room, has_options)
    }.values(),
    *public(methods, inspect.isfunction),
    *public(graphs, inspect.isfunction),
    *public(estimators, inspect.isclass),
    *public(blocks, lambda one: inspect.isclass(one) and issubclass(one, Block)),
    *map(solvers.find, map(attrgetter("name"), sdpdr.solvers.table())),
]


@pytest.mark.parametrize("call", CALLED, ids=lambda call: call.__name__)
def test_an_unknown_keyword_is_answered_with_those_that_are_known(call):
    with pytest.raises(UnknownKeywordError, match=rf"argument of {call.__name__}\(\)") as caught:
        call(no_such_thing=1)
    assert set(caught.value.known) == set(inspect.signature(call).parameters)


@pytest.mark.parametrize(
    ("call", "keyword", "meant"),
    [
        (sdpdr.solve, "tolerance", "tol"),
        (sdpdr.solve, "max_iters", "max_iter"),
        (sdpdr.plan, "timeout", "time_limit"),
        (sdpdr.MVU, "neighbours", "n_neighbors"),
        (sdpdr.MVU, "seed", "random_state"),
        (sdpdr.MVU, "isometri", "isometry"),
        (sdpdr.CVXPY, "eps", "tol"),
        (graphs.knn, "k", "n_neighbors"),
        (methods.mvu, "isometri", "isometry"),
        (blocks.Isometry, "relations", "relation"),
        (solvers.Scs, "eps", "tol"),
        (sdpdr.scalar, "nonneg", "nonnegative"),
        (datasets.swiss_roll, "n_samples", "n"),
        (sdpdr.quality, "k", "n_neighbors"),
        (sdpdr.Solution.embedding, "n_dims", "n_components"),
        (sdpdr.Solution.report, "detail", "details"),
        (sdpdr.diagnose, "timeout", "seconds"),
        (sdpdr.plot.embedding, "color", "colour"),
        (methods.sparse_direction, "price", "penalty"),
        (methods.regression, "price", "lasso"),
        (methods.refine, "places", "positions"),
        (sdpdr.DistanceCompletion, "price", "penalty"),
    ],
)
def test_the_keyword_that_is_meant_is_offered(call, keyword, meant):
    with pytest.raises(UnknownNameError, match=rf"{keyword!r}\. Did you mean {meant!r}\?"):
        call(**{keyword: 1})


def test_functions_that_check_keywords_can_be_copied_and_pickled():
    for one in (sdpdr.solve, methods.mvu, sdpdr.MVU(n_neighbors=4), blocks.Gram(3)):
        assert repr(pickle.loads(pickle.dumps(one))) == repr(one) == repr(copy.copy(one))


def test_an_error_lists_the_nearest_of_many_names():
    known = [f"card-{k}" for k in range(100)]
    words = str(UnknownNameError("card", "crad-17", known))
    assert "Did you mean 'card-17'?" in words
    assert "... (100 in all)" in words
    assert words.count("card-") < 15
