"""What no parameter may be: refused with one of our errors, wherever it is read at all."""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import sdpdr
from sdpdr.base.parameters import seconds_for
from sdpdr.errors import DataTypeError, SdpdrError

EVERY = runpy.run_path(str(Path(__file__).with_name("test_every.py")))["EVERY"]
NONSENSE = {
    "object": object(),
    "negative": -1,
}
# Legitimate where they stand: numbers per side, coefficients, a lower end.
MEANT = {
    ("MVE", "kappa", "negative"),
}
# Not read with the other parameters and data of `EVERY`, so that scalars pass.
UNREAD = {
    "CompletelyPositive": {"n_neighbors"},
    "MixedLabelPropagation": {"ridge", "share", "smoothness"},
    "SpectralRegression": {"gamma", "n_neighbors", "smoothing"},
}  # fmt: skip


@pytest.mark.daily(12)
@pytest.mark.integration
@pytest.mark.parametrize("name", EVERY)
def test_nonsense_is_refused_in_our_words(name):
    estimator, data = EVERY[name]
    left_out = UNREAD.get(name, set())
    passed = []
    for parameter in set(estimator.get_params(deep=False)) - left_out:
        for kind, value in NONSENSE.items():
            if (name, parameter, kind) in MEANT:
                continue
            given = clone(estimator)
            setattr(given, parameter, value)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    given.fit(*data)
                except SdpdrError:
                    continue
            passed.append((parameter, kind))
    assert not passed


FLAGS = [
    (name, parameter)
    for name, (estimator, _) in EVERY.items()
    for parameter, value in estimator.get_params(deep=False).items()
    if isinstance(value, bool)
]


@pytest.mark.parametrize(("name", "flag"), FLAGS)
def test_flags_are_true_or_false(name, flag):
    estimator, data = EVERY[name]
    for value in ("yes", 1, np.array([True])):
        with pytest.raises(DataTypeError, match=rf"{flag}=.*pass True or False"):
            clone(estimator).set_params(**{flag: value}).fit(*data)


LIMITED = [name for name in EVERY if "time_limit" in EVERY[name][0].get_params()]


@pytest.mark.parametrize("name", LIMITED)
def test_auto_is_the_default_limit(name):
    """One word for all: either the default, or what stands for it."""
    estimator, _ = EVERY[name]
    default = type(estimator).time_limit
    if default != "auto":
        assert seconds_for(clone(estimator).set_params(time_limit="auto")) == default


@pytest.mark.daily(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("limit", [10**400, float("inf")])
@pytest.mark.parametrize("name", ["MVU", "DistanceCompletion"])
def test_limits_of_ages_are_none(name, limit):
    estimator, data = EVERY[name]
    assert clone(estimator).set_params(time_limit=limit).fit(*data).time_limit == limit


@pytest.mark.parametrize("limit", [10**400, 1e10])
def test_solvers_are_told_what_they_can_wait_for(limit):
    model = sdpdr.methods.mvu(sdpdr.graphs.path([1.0, 2.0]))
    for name in ("lowrank", "clarabel", "dense", "scs", "multiprecision"):
        if not next(s.usable for s in sdpdr.solvers() if s.name == name):
            continue
        found = sdpdr.solve(model, name, time_limit=limit)
        assert found.certified()
