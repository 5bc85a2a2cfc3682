"""Maximum Variance Unfolding as a model: how it reads, what it lowers to, what it refuses."""

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import DisconnectedGraphError, UnknownNameError
from sdpdr.program import Factor

GRAPH = graphs.path([1.0, 2.0])

TEXTS = {
    "inequality": """\
maximise    tr K
over        K ∈ S^3, K ⪰ 0
subject to  K 1 = 0                            centered, 3 rows
            K_ii + K_jj − 2 K_ij ≤ d_ij        isometry, 2 rows""",
    Band(0.1): """\
maximise    tr K
over        K ∈ S^3, K ⪰ 0
subject to  K 1 = 0                                      centered, 3 rows
            K_ii + K_jj − 2 K_ij ≤ 1.1 d_ij              isometry.upper, 2 rows
            −(K_ii + K_jj − 2 K_ij) ≤ −0.9 d_ij          isometry.lower, 2 rows""",
    Slack(2.0): """\
maximise    tr K − Σ_e (K_ii + K_jj − 2 K_ij − d_ij)²
over        K ∈ S^3, K ⪰ 0
subject to  K 1 = 0              centered, 3 rows
            (penalized)          isometry, 2 rows""",
}


@pytest.mark.parametrize("relation", TEXTS, ids=str)
def test_the_text_of_each_variant(relation):
    assert words(methods.mvu(GRAPH, relation).describe()) == words(TEXTS[relation])


def words(text):
    """Lines of words; how far apart the columns stand is a matter of taste."""
    return [line.split() for line in text.splitlines()]


def test_size_and_sense():
    model = methods.mvu(GRAPH, Band(0.1))
    assert model.size() == {
        "matrices": {"K": 3},
        "scalars": 0,
        "rows": {"centered": 3, "isometry.upper": 2, "isometry.lower": 2},
    }
    assert model.is_maximization
    assert model.name == model.to_sdp().name == "mvu"


@pytest.mark.parametrize("relation", ["inequality", "equality", Band(0.1), Slack(1.0)], ids=str)
def test_the_straight_line_is_feasible_and_its_variance_is_the_value(relation):
    line = np.array([[-4.0], [-1.0], [5.0]]) / 3.0
    model = methods.mvu(GRAPH, relation)
    point = {"K": Factor(line)}
    assert all(v == pytest.approx(0.0, abs=1e-12) for v in model.violations(point).values())
    assert model.objective(point) == pytest.approx(np.sum(line**2))


def test_merged_points_weigh_as_often_as_they_occur():
    graph = graphs.NeighborGraph(3, GRAPH.edges, GRAPH.sqdist, counts=[2, 1, 1], index=[0, 0, 1, 2])
    model = methods.mvu(graph)
    line = np.array([[0.0], [1.0], [3.0]])
    line = line - np.repeat(line, [2, 1, 1]).mean()
    point = {"K": Factor(line)}
    assert model.violations(point)["centered"] == pytest.approx(0.0, abs=1e-12)
    assert model.objective(point) == pytest.approx(2 * line[0, 0] ** 2 + np.sum(line[1:] ** 2))
    assert "Σ_i c_i K_ii" in model.describe()


def test_a_disconnected_graph_is_refused():
    graph = graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0])
    with pytest.raises(DisconnectedGraphError, match="2 components, of sizes 2, 2"):
        methods.mvu(graph)


def test_an_unknown_relation_is_refused_with_the_nearest_one():
    with pytest.raises(UnknownNameError, match="Did you mean 'inequality'"):
        methods.mvu(GRAPH, "inequalty")


@pytest.mark.parametrize(
    "recipe",
    [
        methods.mvu,
        methods.isometric,
        lambda graph, isometry: methods.are(graph, "RRR", isometry=isometry),
        lambda graph, isometry: methods.anchored_mvu(graph, [0, 3], [[0.0], [2.9]], isometry),
        lambda graph, misfit: methods.distance_completion(graph, misfit=misfit),
        lambda graph, isometry: methods.loocv(graph, 9.0, isometry=isometry),
    ],
)
def test_a_band_and_slack_can_be_written_as_text(recipe):
    path = graphs.path([1.0, 1.05, 1.0])
    for text, relation in (("band:0.3", Band(0.3)), ("slack:2", Slack(2.0))):
        assert recipe(path, text).describe() == recipe(path, relation).describe()
