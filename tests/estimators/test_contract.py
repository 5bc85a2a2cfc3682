"""scikit-learn's own checks of every estimator as it comes (benchmarks/contract.py)."""

import importlib
from collections import defaultdict
from pathlib import Path

import pytest

import sdpdr

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Others fit for seconds, or as one of these does (all graph projections as LDA), or have checks of
# cheaper instances in files of their own, as have those that compute another way with other
# parameters.
FAST = ("AnchoredMVU", "BasisExpansion", "LDA", "MMMF")
SLOW = (
    "ARE", "AnchoredMVU without y", "ColoredMVU", "CompletelyPositive", "DensityMap",
    "DistanceCompletion", "GPLVM", "GhodsiMetric", "ISM", "IsoNMF", "IsoProjection",
    "KernelEigenmaps", "LOOCVUnfolding", "LPP", "LSDA", "MFNU", "MMMF of signs", "MVE",
    "MVU", "MixedLabelPropagation", "NCMVU", "NMF", "NPE", "PolynomialFactorization", "RatingMMMF",
    "RelevanceFeedback", "SDA", "SOPCA", "SPE", "Sammon", "SpectralRegression", "XingMetric",
)  # fmt: skip

# Of those that choose a price or a share by many fits: what they do once it is given.
GIVEN = {"MMMF of signs": {"c": 1.0}, "RatingMMMF": {"c": 1.0}}


@pytest.fixture(scope="module")
def contract():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("contract")


def held(contract, name, seconds=None, given=None):
    """Nothing fails without a reason, and no reason is without a failure."""
    found = defaultdict(set)
    said = {**contract.every(), **contract.with_data_of_its_own()}
    estimator = said[name].set_params(**given or {})
    for check, kind, reason in contract.verdicts(name, estimator, seconds):
        found[check].add(kind)
        assert kind != "failed", f"{check}: {reason}"
    for check in contract.EXPECTED.get(name, {}):
        # Other versions of scikit-learn have other checks.
        assert check not in found or "expected" in found[check]


@pytest.mark.parametrize("name", FAST)
def test_every_check_passes_or_has_a_reason(contract, name):
    held(contract, name)


@pytest.mark.parametrize(
    "name", [pytest.param("RatingMMMF", marks=pytest.mark.nightly), "MMMF of signs"]
)
def test_every_check_passes_or_has_a_reason_where_nothing_is_chosen(contract, name):
    held(contract, name, given=GIVEN[name])


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", SLOW)
def test_those_that_take_longer(contract, name):
    held(contract, name, contract.SECONDS)


def test_none_is_left_out(contract):
    assert {*FAST, *SLOW} == {*contract.every(), *contract.with_data_of_its_own()}


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
