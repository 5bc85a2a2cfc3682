"""A solver that somebody configured is left as it is, unless somebody says otherwise."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

import sdpdr
from sdpdr import graphs, methods
from sdpdr.iterate import ConvexIteration
from sdpdr.solvers import Clarabel
from sdpdr.solvers.base import tolerance, unless_configured

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((10, 3))
SIDES = np.repeat([0, 1], 5)
ROLL = graphs.knn(POINTS, 4)


@dataclass(frozen=True)
class Recorder(Clarabel):
    """Clarabel that notes what it was told."""

    told: ClassVar[list[tuple[float, int]]] = []

    def run(self, *arguments, **options):
        self.told.append((self.tol, self.seed))
        return super().run(*arguments, **options)

    def run_rendered(self, *arguments, **options):
        self.told.append((self.tol, self.seed))
        return super().run_rendered(*arguments, **options)


MINE = Recorder(tol=3e-5, seed=3)
ESTIMATORS = {
    "MVU": (sdpdr.MVU(n_neighbors=4), None),
    "MVU, landmarks": (sdpdr.MVU(n_neighbors=4, form="landmark", landmarks=5), None),
    "MFNU": (sdpdr.MFNU(n_neighbors=4), None),
    "ColoredMVU": (sdpdr.ColoredMVU(n_neighbors=4), SIDES),
    "ISM": (sdpdr.ISM(n_neighbors=4), SIDES),
    "ARE": (sdpdr.ARE(n_neighbors=4), None),
    "AnchoredMVU": (sdpdr.AnchoredMVU(n_neighbors=4, isometry=sdpdr.blocks.Slack(5.0)), POINTS),
    "DensityMap": (sdpdr.DensityMap(n_neighbors=4), None),
    # What is limited in time runs in a process of its own, and is not heard here.
    "LOOCVUnfolding": (
        sdpdr.LOOCVUnfolding(n_neighbors=4, isometry=sdpdr.blocks.Band(0.1), time_limit=None),
        None,
    ),
    "MVE": (sdpdr.MVE(n_neighbors=4, max_iter=2), None),
}


def fit(estimator, name, y):
    Recorder.told.clear()
    if name == "AnchoredMVU":
        estimator.fit(POINTS, np.where(np.arange(10)[:, None] < 4, y, np.nan))
    else:
        estimator.fit(POINTS, y)
    assert Recorder.told
    return set(Recorder.told)


@pytest.mark.daily(2)
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore::sdpdr.errors.SdpdrWarning")
@pytest.mark.parametrize("name", ["MVU", "MVU, landmarks", "LOOCVUnfolding", "MVE"])
def test_estimators_leave_a_configured_solver_alone(name):
    estimator, y = ESTIMATORS[name]
    assert fit(clone(estimator).set_params(solver=MINE), name, y) == {(3e-5, 3)}


@pytest.mark.daily(2)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.SdpdrWarning")
@pytest.mark.parametrize("name", ["MFNU", "ColoredMVU", "ISM", "ARE", "AnchoredMVU", "DensityMap"])
def test_what_an_estimator_is_told_wins(name):
    estimator, y = ESTIMATORS[name]
    estimator = clone(estimator).set_params(solver=MINE, tol=1e-4, random_state=7)
    assert fit(estimator, name, y) == {(1e-4, 7)}


def test_a_named_solver_aims_at_one_millionth():
    learned = sdpdr.MVU(n_neighbors=4).fit(POINTS)
    assert (learned.solution_.tol, learned.solution_.seed) == (1e-6, 0)


def test_clones_and_parameters_stay_what_they_were():
    estimator = sdpdr.MVU(solver=MINE)
    copy = clone(estimator)
    assert copy.get_params()["solver"] == MINE
    assert copy.get_params()["tol"] is None
    assert copy.get_params()["random_state"] is None


def drive(name):
    if name == "solve":
        return sdpdr.solve(methods.mvu(ROLL), MINE, tol=None)
    if name == "solve, landmark form":
        return sdpdr.solve(methods.mvu(ROLL), MINE, form="landmark", landmarks=5)
    return ConvexIteration(methods.mvu(ROLL), rank=2, solver=MINE, max_iter=2).run()


@pytest.mark.daily(1)
@pytest.mark.filterwarnings("ignore::sdpdr.errors.SdpdrWarning")
@pytest.mark.parametrize(
    "name",
    ["solve", "solve, landmark form", "ConvexIteration"],
)
def test_drivers_leave_a_configured_solver_alone(name):
    Recorder.told.clear()
    drive(name)
    assert set(Recorder.told) == {(3e-5, 3)}


def test_whose_tolerance_holds():
    assert tolerance(MINE, None) == 3e-5
    assert tolerance(replace(MINE, tol=1e-3), 1e-7) == 1e-7
    assert tolerance("clarabel", None) == 1e-6
    assert unless_configured(MINE, 1e-8) is None
    assert unless_configured("clarabel", 1e-8) == 1e-8
