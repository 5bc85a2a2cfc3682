"""What blocks say, without a solver: violations at points made to keep or to break them."""

import numpy as np
import pytest

from sdpdr import graphs
from sdpdr.blocks import Band, Centered, Gram, Isometry, Slack, Variance
from sdpdr.linalg import Diagonal, SvecMap, svec, svec_size
from sdpdr.model import AtMost, Block, Equal, InCone, Model, Penalize, Var, relax, soften
from sdpdr.program import Factor

POINTS = np.array([[-1.5], [-0.5], [2.0]])
GRAPH = graphs.path([1.0, 2.5])


def violations(block, factor, n=3):
    return Model((Gram(n), block)).violations({"K": Factor(np.asarray(factor, dtype=float))})


def objective(block, factor, n=3):
    return Model((Gram(n), block)).objective({"K": Factor(np.asarray(factor, dtype=float))})


def test_centered_measures_how_far_the_mean_is_off():
    assert violations(Centered(3), POINTS) == {"centered": pytest.approx(0.0)}
    shifted = POINTS + 1.0
    # K 1 = R (R^T 1), and R^T 1 = 3.
    assert violations(Centered(3), shifted)["centered"] == pytest.approx(3.0 * 3.0)


def test_weighted_centring_counts_each_node_as_often_as_it_stands():
    counts = np.array([2.0, 1.0, 1.0])
    factor = np.array([[-1.0], [0.5], [1.5]])
    assert violations(Centered(3, counts), factor)["centered"] == pytest.approx(0.0)
    assert violations(Centered(3), factor)["centered"] > 1.0
    assert objective(Variance(3, counts), factor) == pytest.approx(2.0 + 0.25 + 2.25)


def test_variance_is_the_trace_and_is_maximised():
    model = Gram(3) + Variance(3)
    assert model.is_maximization
    assert model.objective({"K": Factor(POINTS)}) == pytest.approx(np.sum(POINTS**2))


@pytest.mark.parametrize(
    ("relation", "stretch", "expected"),
    [
        ("inequality", 0.9, {"isometry": 0.0}),
        ("inequality", 1.2, {"isometry": 0.44 * 6.25}),
        ("equality", 1.0, {"isometry": 0.0}),
        ("equality", 0.9, {"isometry": 0.19 * 6.25}),
        (Band(0.1), 1.04, {"isometry.upper": 0.0, "isometry.lower": 0.0}),
        (Band(0.1), 1.2, {"isometry.upper": 0.34 * 6.25, "isometry.lower": 0.0}),
        (Band(0.1), 0.9, {"isometry.upper": 0.0, "isometry.lower": 0.09 * 6.25}),
    ],
)
def test_isometry_measures_squared_lengths(relation, stretch, expected):
    found = violations(Isometry(GRAPH, relation), stretch * POINTS)
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("slack", "penalty"),
    [
        (Slack(3.0), 1.5 * (0.44**2 + (0.44 * 6.25) ** 2)),
        (Slack(3.0, relative=True), 1.5 * (0.44**2 + 0.44**2)),
        (Slack(3.0, "absolute"), 3.0 * (0.44 + 0.44 * 6.25)),
        (Slack(3.0, "absolute", relative=True), 3.0 * 0.88),
    ],
)
def test_slack_penalizes_the_change_of_squared_lengths(slack, penalty):
    block = Isometry(GRAPH, slack)
    assert violations(block, 1.2 * POINTS) == {}
    assert objective(block, 1.2 * POINTS) == pytest.approx(penalty)
    assert objective(block, POINTS) == pytest.approx(0.0)


class Cones(Block):
    """K11 >= 1 entrywise, and K below twice the identity."""

    def terms(self):
        yield InCone(Diagonal(2)[:1] @ Var("K") - 1.0, "nonnegative", "first")
        whole = SvecMap(2, np.eye(svec_size(2))) @ Var("K")
        yield InCone(-whole + svec(2.0 * np.eye(2)), "psd", "whole")


@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        ([[1.0], [0.0]], {"cones.first": 0.0, "cones.whole": 0.0}),
        ([[0.5], [0.0]], {"cones.first": 0.75, "cones.whole": 0.0}),
        ([[1.0], [2.0]], {"cones.first": 0.0, "cones.whole": 3.0}),
    ],
)
def test_cones_measure_the_distance_to_the_boundary(factor, expected):
    assert violations(Cones(), factor, n=2) == pytest.approx(expected, abs=1e-12)


# -- soften and relax ---------------------------------------------------------------------------


def kinds(block):
    return [(type(t), getattr(t, "penalty", None)) for t in block.terms()]


def test_soften_turns_each_relation_into_its_penalty():
    assert kinds(soften(Isometry(GRAPH, "equality"), 1.0)) == [(Penalize, "absolute")]
    assert kinds(soften(Isometry(GRAPH, "equality"), 1.0, square=True)) == [(Penalize, "square")]
    assert kinds(soften(Isometry(GRAPH), 1.0)) == [(Penalize, "positive")]
    assert kinds(soften(Isometry(GRAPH, Band(0.1)), 1.0)) == [(Penalize, "positive")] * 2


def test_relax_uses_the_size_of_the_right_side():
    class Minus(Block):
        def terms(self):
            yield Equal(-Diagonal(1) @ Var("K"), -4.0)

    assert [type(t) for t in relax(Minus(), 0.25).terms()] == [AtMost, AtMost]
    for value, upper, lower in [(4.0, 0, 0), (5.0, 0, 0), (3.0, 0, 0), (6.0, 0, 1), (2.0, 1, 0)]:
        found = violations(relax(Minus(), 0.25), [[np.sqrt(value)]], n=1)
        assert found == pytest.approx({"minus.upper": upper, "minus.lower": lower})


def test_labels_are_unique_and_blocks_of_one_kind_are_numbered():
    model = Gram(3) + Isometry(GRAPH) + Isometry(GRAPH, Band(0.5)) + Isometry(GRAPH, "equality")
    labels = [label for label, _ in model.labelled_terms()]
    assert labels == ["isometry", "isometry_2.upper", "isometry_2.lower", "isometry_3"]
