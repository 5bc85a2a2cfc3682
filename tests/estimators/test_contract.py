"""scikit-learn's own checks of every estimator as it comes (benchmarks/contract.py)."""

import importlib
from collections import defaultdict
from pathlib import Path

import pytest

import sdpdr

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Cheap ones whose checks reach what the others share; all others have theirs at night.
FAST = ("AnchoredMVU", "MMMF")


@pytest.fixture(scope="module")
def contract():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("contract")


def held(contract, name, seconds=None):
    """Nothing fails without a reason, and no reason is without a failure."""
    found = defaultdict(set)
    said = {**contract.every(), **contract.with_data_of_its_own()}
    for check, kind, reason in contract.verdicts(name, said[name], seconds):
        found[check].add(kind)
        assert kind != "failed", f"{name}, {check}: {reason}"
    for check in contract.EXPECTED.get(name, {}):
        # Other versions of scikit-learn have other checks.
        assert check not in found or "expected" in found[check]


@pytest.mark.integration
@pytest.mark.parametrize("name", FAST)
def test_every_check_passes_or_has_a_reason(contract, name):
    held(contract, name)


@pytest.mark.nightly
@pytest.mark.timeout(7200)
def test_so_does_every_check_of_those_that_take_longer(contract):
    for name in {**contract.every(), **contract.with_data_of_its_own()}:
        if name not in FAST:
            held(contract, name, contract.SECONDS)


def test_reasons_are_of_estimators_that_there_are(contract):
    every = contract.every()
    names = every.keys() | contract.with_data_of_its_own().keys()
    assert contract.EXPECTED.keys() | set(FAST) <= names
    public = {name for name in sdpdr.__all__ if hasattr(getattr(sdpdr, name), "get_params")}
    assert public <= every.keys()


def test_a_failure_without_a_reason_is_told(contract):
    class Wrong(sdpdr.LDA):
        def fit(self, X, y=None):
            self.orthonormal = not self.orthonormal
            return super().fit(X, y)

    told = contract.verdicts("Wrong", Wrong())
    kind = next(kind for check, kind, _ in told if check == "check_dont_overwrite_parameters")
    assert kind == "failed"
