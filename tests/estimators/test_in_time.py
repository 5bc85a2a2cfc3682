"""Default limits: seconds for programs, points that are unfolded, and the warnings about both."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import sdpdr
from sdpdr.errors import LostLengthsWarning, SampledWarning, UncertifiedWarning
from sdpdr.families.unfold.estimators import completion, gram
from sdpdr.program import Status

ROLL, ANGLE = sdpdr.datasets.swiss_roll(40, seed=0)
KNOWN = np.where(np.arange(40) % 4 == 0, (np.median(ANGLE) < ANGLE).astype(int), -1)
PLACED = np.where(np.arange(40)[:, None] < 6, ROLL[:, :2], np.nan)
DISTANCES = np.linalg.norm(ROLL[:, None] - ROLL[None], axis=2)

# Those whose programs are unfoldings, and what they are fitted to.
LIMITED = {
    "ARE": (sdpdr.ARE(), (ROLL,)),
    "AnchoredMVU": (sdpdr.AnchoredMVU(), (ROLL, PLACED)),
    "ColoredMVU": (sdpdr.ColoredMVU(), (ROLL, ANGLE)),
    "DensityMap": (sdpdr.DensityMap(), (ROLL,)),
    "DistanceCompletion": (sdpdr.DistanceCompletion(), (DISTANCES,)),
    "ISM": (sdpdr.ISM(), (ROLL, KNOWN)),
    "LOOCVUnfolding": (sdpdr.LOOCVUnfolding(), (ROLL,)),
    "MFNU": (sdpdr.MFNU(), (ROLL,)),
    "MVE": (sdpdr.MVE(max_iter=2), (ROLL,)),
    "MVU": (sdpdr.MVU(), (ROLL,)),
}


class Enough(Exception):
    """Nothing needs to be solved to see what a solver is told."""


def told(monkeypatch, estimator, data):
    """The time limit that programs are given."""
    asked = []

    def note(*args, time_limit, **options):
        asked.append(time_limit)
        raise Enough

    monkeypatch.setattr(gram, "solve", note)
    monkeypatch.setattr(completion, "solve", note)
    monkeypatch.setattr("sdpdr.families.unfold.estimators.kernels.solve_loocv", note)
    monkeypatch.setattr("sdpdr.families.unfold.estimators.mvu.minimum_volume", note)
    with pytest.raises(Enough):
        estimator.fit(*data)
    return asked[0]


@pytest.mark.daily(5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", LIMITED)
def test_programs_are_limited_unless_somebody_says_otherwise(monkeypatch, name):
    estimator, data = LIMITED[name]
    asked = [
        told(monkeypatch, clone(estimator).set_params(**changed), data)
        for changed in ({}, {"time_limit": 7.0}, {"time_limit": None}, {"solver": "clarabel"})
    ]
    # The second step of a completion has what its program leaves of a minute.
    default = 45.0 if name == "DistanceCompletion" else 60.0
    assert asked == [default, 7.0, None, None]


def test_what_ended_for_want_of_time_nobody_limited_says_how_to_go_on(monkeypatch):
    monkeypatch.setattr(sdpdr.MVU, "default_time_limit", 1e-3)
    X = sdpdr.datasets.swiss_roll(800, seed=0)[0]
    with (
        pytest.warns(UncertifiedWarning, match="TIME_LIMIT.*It had 0.001 seconds; time_limit=None"),
        pytest.warns(LostLengthsWarning, match="Let it end, with a larger `time_limit`"),
    ):
        learned = sdpdr.MVU(sample=None).fit(X)
    assert learned.solution_.status is Status.TIME_LIMIT
    assert np.isfinite(learned.embedding_).all()


@pytest.mark.nightly
@pytest.mark.integration
@pytest.mark.parametrize("name", ["DensityMap", "LOOCVUnfolding", "MFNU", "MVE", "MVU"])
def test_of_too_many_points_a_sample_is_unfolded(monkeypatch, name):
    estimator = clone(LIMITED[name][0]).set_params(n_neighbors=4)
    monkeypatch.setattr(type(estimator), "largest", 25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UncertifiedWarning)
        with pytest.warns(SampledWarning, match="25 of 40 points.* sample=None unfolds all"):
            found = estimator.fit(ROLL)
    assert found.sample_.size == found.graph_.n == 25
    assert found.embedding_.shape == (40, 2)
    others = np.setdiff1d(np.arange(40), found.sample_)
    np.testing.assert_array_equal(found.embedding_[others], found.extension_(ROLL[others]))
