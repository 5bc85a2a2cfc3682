"""Blocks of separation and of anchors: the laws, what the rows say, what is refused."""

import numpy as np
import pytest

from sdpdr import graphs
from sdpdr.blocks import (
    AnchoredIsometry,
    AnchoredLengths,
    Band,
    Coordinates,
    Dispersion,
    Gram,
    Separation,
    Slack,
)
from sdpdr.errors import DataError, ModelError, ShapeError
from sdpdr.model import Model, check_block, soften
from sdpdr.model.blocks.anchors import positions
from sdpdr.program import Factor

GRAPH = graphs.grid(2, 3, spacing=1.5)
LABELS = np.array([0, 1, -1, 0, 1, 2])
ANCHORS = np.array([0, 5])
PLACES = np.array([[0.0, 1.0], [2.0, -1.0]])
COUNTS = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 1.0])
FRAME = positions(6, ANCHORS, PLACES)

BLOCKS = {
    "separation": Separation(LABELS, [0], 0.5),
    "separation, three anchors": Separation(LABELS, [0, 1, 5], 0.5),
    "separation, penalized": soften(Separation(LABELS, [1], 0.5), 3.0),
    "coordinates": Coordinates(4, 2),
    "lengths, inequality": AnchoredIsometry(GRAPH, ANCHORS, PLACES),
    "lengths, equality": AnchoredIsometry(GRAPH, ANCHORS, PLACES, "equality"),
    "lengths, band": AnchoredIsometry(GRAPH, ANCHORS, PLACES, Band(0.1)),
    "lengths, slack": AnchoredIsometry(GRAPH, ANCHORS, PLACES, Slack(2.0, relative=True)),
    "variance about the mean": Dispersion(6, COUNTS),
    "variance with anchors": Dispersion(6, COUNTS, gram="Z", vectors=FRAME),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", BLOCKS)
def test_every_block_obeys_the_laws(name):
    report = check_block(BLOCKS[name])
    assert "standard form and cvxpy agree" in report


def test_rows_of_separation_are_inner_products_with_the_anchor():
    Y = np.random.default_rng(0).standard_normal((6, 3))
    separation = Separation(LABELS, [1], 0.5)
    known = LABELS >= 0
    side = np.where(LABELS[known] == 1, 1.0, -1.0)
    worst = np.max(0.5 - side * (Y[known] @ Y[1]))
    model = Model((Gram(6), separation))
    assert model.violations({"K": Factor(Y)})["separation"] == pytest.approx(worst)


def test_lengths_and_variance_are_those_of_the_points():
    rng = np.random.default_rng(1)
    unknown = rng.standard_normal((4, 3))
    # A factor of Z: the frame of the coordinates, then points that leave their plane.
    Z = Factor(np.vstack([np.eye(2, 3), unknown]))
    points = np.zeros((6, 3))
    points[ANCHORS, :2] = PLACES
    points[[1, 2, 3, 4]] = unknown
    model = Model((Coordinates(4, 2), AnchoredLengths(GRAPH, ANCHORS, PLACES, exact=True)))
    i, j = GRAPH.edges.T
    q = np.sum((points[i] - points[j]) ** 2, axis=1)
    both = np.isin(GRAPH.edges, ANCHORS).all(axis=1)
    found = model.violations({"Z": Z})
    assert found["coordinates"] == pytest.approx(0.0, abs=1e-15)
    assert found["isometry"] == pytest.approx(np.max(np.abs(q - GRAPH.sqdist)[~both]))
    variance = Model((Coordinates(4, 2), Dispersion(6, COUNTS, gram="Z", vectors=FRAME)))
    mean = COUNTS @ points / COUNTS.sum()
    expected = COUNTS @ np.sum((points - mean) ** 2, axis=1)
    assert variance.objective({"Z": Z}) == pytest.approx(expected)


@pytest.mark.parametrize("margin", [0.0, -1.0, np.nan, np.inf])
def test_a_margin_must_be_positive(margin):
    with pytest.raises(ModelError, match="margin must be positive"):
        Separation(LABELS, [0], margin)


def test_an_anchor_needs_a_label():
    with pytest.raises(DataError, match="anchor 2 has no label"):
        list(Separation(LABELS, [2], 1.0).terms())


def test_anchors_and_coordinates_must_be_as_many():
    with pytest.raises(ShapeError, match="2 anchors, but coordinates of 1"):
        positions(6, ANCHORS, PLACES[:1])
