"""Estimators as they come: none loses to doing nothing but where the page of defaults says so."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.nightly

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Twice the standard error of an accuracy of 0.9 on two samples of 150 points.
MARGIN = 0.04
SEEDS = (0, 1)

# By aim and estimator; docs/guide/defaults.rst gives the reasons.
LOST = {
    ("picture", "MVU"): ["iris"],
    ("picture", "MFNU"): ["iris"],
    ("picture", "MVE"): ["iris"],
    ("picture", "DensityMap"): ["moons", "iris"],
    ("picture", "LOOCVUnfolding"): ["S-curve", "moons", "iris", "wine", "cancer", "digits"],
    ("labelled picture", "ColoredMVU"): ["roll", "moons"],
    ("densities", "DensityMap"): ["roll", "S-curve", "moons", "iris", "digits"],
    ("densities", "DensityMap, all its dimensions"): ["moons"],
    ("places of an agent", "ARE"): ["S-curve"],
    ("projection", "LDA"): ["moons"],
    ("projection", "SDA"): ["moons"],
    ("projection", "NPE"): ["iris"],
    ("projection", "IsoProjection"): ["digits"],
    ("projection", "SpectralRegression"): ["moons"],
    ("projection", "XingMetric"): ["moons", "digits"],
}
# What a time limit ends depends on the machine.
LIMITED = {("picture", "LOOCVUnfolding")}


@pytest.fixture(scope="module")
def defaults():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("defaults")


def quality(defaults, kind, estimator, name):
    task = defaults.TASKS[kind]
    return np.mean([defaults.measured(task, estimator, name, seed, 150)[0] for seed in SEEDS])


def test_the_table_of_defaults_shows_the_losses_that_are_explained_and_no_others(defaults):
    rows = json.loads((BENCHMARKS / "defaults.json").read_text())
    assert defaults.losses(rows) == LOST


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_left_out_are_no_copies_of_those_told(defaults, seed):
    measures = importlib.import_module("defaults_measures")
    actions, places = measures.wandered(np.random.default_rng(seed))
    hidden = measures.left_out(actions, places)
    steps = [(action, *place) for action, place in zip(actions, places, strict=False)]
    told, out = ({steps[k] for k in np.flatnonzero(some)} for some in (~hidden, hidden))
    assert not told & out
    assert {step[0] for step in told} == {step[0] for step in out} == set(measures.MOVES)


AIMS = (
    "picture", "labelled picture", "densities", "projection", "labels", "factors", "clusters",
    "ratings", "signs", "distances", "places", "actions", "places of an agent",
)  # fmt: skip


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", AIMS)
def test_no_default_loses_to_doing_nothing_on_any_set(defaults, kind):
    assert set(AIMS) == set(defaults.TASKS)
    task, worse = defaults.TASKS[kind], {}
    for name in task.ours:
        if (kind, name) in LIMITED:
            continue
        for data in sorted(set(task.sets) - set(LOST.get((kind, name), ()))):
            found = quality(defaults, kind, task.ours[name], data)
            nothing = quality(defaults, kind, task.nothing, data)
            if not found > nothing - MARGIN:
                worse[name, data] = (found, nothing)
    assert not worse
