"""What docstrings of estimators tell: every parameter, and the default that it has."""

from __future__ import annotations

import ast
import functools
import inspect
import re

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.base import BaseEstimator

import sdpdr
from sdpdr import baselines, estimators

ESTIMATORS = {
    name: kind
    for room in (baselines, sdpdr)
    for name, kind in inspect.getmembers(room, inspect.isclass)
    if issubclass(kind, BaseEstimator)
}
_LIKE = re.compile(r"\b[Aa]s (?:for|in|of) `(?:sdpdr\.)?(?:estimators\.)?(\w+)`")


@functools.cache
def told(kind):
    """By parameter, its type and its description."""
    return {
        name.strip(): (entry.type, " ".join(entry.desc))
        for entry in ClassDoc(kind)["Parameters"]
        for name in entry.name.split(",")
    }


def default_told(kind, name):
    """The default in the docstring, or in that of the estimator which it refers to."""
    type_, words = told(kind)[name]
    found = re.search(r"default:? (.+)$", type_)
    if found is not None:
        return np.inf if found[1] == "inf" else ast.literal_eval(found[1])
    other = _LIKE.search(words)
    if type_ or other is None:
        return None
    return default_told(getattr(estimators, other[1]), name)


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=ESTIMATORS)
def test_every_parameter_is_told_with_its_default(kind):
    parameters = inspect.signature(kind).parameters
    coded = {k: p.default for k, p in parameters.items() if p.default is not p.empty}
    assert set(told(kind)) == set(parameters)
    assert {name: default_told(kind, name) for name in coded} == coded
