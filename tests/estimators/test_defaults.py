"""Estimators as they come: none loses to doing nothing (a fast part of benchmarks/defaults.py)."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import sdpdr

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
# Twice the standard error of an accuracy of 0.9 on two samples of 150 points.
MARGIN = 0.04
SEEDS = (0, 1)


@pytest.fixture(scope="module")
def defaults():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("defaults")


def quality(defaults, kind, estimator, name, points=150):
    task = defaults.TASKS[kind]
    return np.mean([defaults.measured(task, estimator, name, seed, points)[0] for seed in SEEDS])


# Of two classes these have one line, and no line is as good for moons as the plane.
@pytest.mark.parametrize("name", ["iris", "wine", "cancer", "digits"])
@pytest.mark.parametrize("kind", ["LDA", "SDA", "SpectralRegression"])
def test_maps_of_classes(defaults, kind, name):
    nothing = quality(defaults, "projection", defaults.TASKS["projection"].nothing, name)
    assert quality(defaults, "projection", getattr(sdpdr, kind)(), name) > nothing - MARGIN


@pytest.mark.parametrize("name", ["moons", "iris", "wine", "cancer", "digits"])
@pytest.mark.parametrize("kind", ["LSDA", "LPP", "NPE", "IsoProjection"])
def test_maps_of_neighbours(defaults, kind, name):
    nothing = quality(defaults, "projection", defaults.TASKS["projection"].nothing, name)
    assert quality(defaults, "projection", getattr(sdpdr, kind)(), name) > nothing - MARGIN


@pytest.mark.parametrize("name", ["roll", "S-curve", "moons", "iris", "wine", "cancer", "digits"])
def test_labels_that_are_spread(defaults, name):
    nothing = quality(defaults, "labels", defaults.TASKS["labels"].nothing, name)
    assert quality(defaults, "labels", sdpdr.MixedLabelPropagation(), name) > nothing - MARGIN


@pytest.mark.parametrize("name", ["roll", "moons", "iris", "wine"])
def test_labels_of_a_separation_map(defaults, name):
    nothing = quality(defaults, "labels", defaults.TASKS["labels"].nothing, name)
    assert quality(defaults, "labels", sdpdr.ISM(), name) > nothing - MARGIN


# Of data in many dimensions; sheets lose more in a picture of the kernel than in one of their own.
@pytest.mark.parametrize("name", ["wine", "cancer"])
def test_densities(defaults, name):
    nothing = quality(defaults, "densities", defaults.TASKS["densities"].nothing, name)
    assert quality(defaults, "densities", sdpdr.DensityMap(), name) > nothing - MARGIN


# 150 points are too few for six neighbours on a roll; of iris two columns are nearly all there is.
@pytest.mark.parametrize(
    ("name", "points"), [("roll", 400), ("S-curve", 150), ("cancer", 150), ("digits", 150)]
)
def test_a_picture_by_default_is_better_than_none(defaults, name, points):
    nothing = quality(defaults, "picture", defaults.TASKS["picture"].nothing, name, points)
    assert quality(defaults, "picture", sdpdr.MVU(), name, points) > nothing


@pytest.mark.parametrize("name", ["moons", "iris", "wine", "cancer", "digits"])
def test_clusters_by_default_are_better_than_chance(defaults, name):
    found = quality(defaults, "clusters", sdpdr.CompletelyPositive(), name)
    assert found > 0.25


@pytest.mark.parametrize("name", ["moons", "iris", "wine", "cancer", "digits"])
def test_metrics_of_pairs(defaults, name):
    nothing = quality(defaults, "projection", defaults.TASKS["projection"].nothing, name)
    assert quality(defaults, "projection", sdpdr.GhodsiMetric(), name) > nothing - MARGIN


# Of one direction, where two classes meet along both: no linear map of one dimension keeps moons.
@pytest.mark.parametrize("name", ["iris", "wine", "cancer"])
def test_metrics_of_few_directions(defaults, name):
    nothing = quality(defaults, "projection", defaults.TASKS["projection"].nothing, name)
    assert quality(defaults, "projection", sdpdr.XingMetric(), name) > nothing - MARGIN


@pytest.mark.parametrize("name", ["iris", "wine"])
def test_pictures_with_labels(defaults, name):
    task = defaults.TASKS["labelled picture"]
    nothing = quality(defaults, "labelled picture", task.nothing, name)
    assert quality(defaults, "labelled picture", sdpdr.ColoredMVU(), name) > nothing


@pytest.mark.parametrize("name", ["iris"])
def test_factors_by_default_are_as_good_as_those_of_others(defaults, name):
    theirs = quality(defaults, "factors", *defaults.TASKS["factors"].rivals.values(), name)
    assert quality(defaults, "factors", sdpdr.NMF(2), name) > theirs - 0.01
