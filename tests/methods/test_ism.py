"""Isometric separation maps: values known from theory and elsewhere, identities, bad input."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Gram, Isometry, Separation, Spread
from sdpdr.errors import (
    DataError,
    DisconnectedGraphError,
    InfeasibleError,
    ModelError,
    ShapeError,
    UnknownNameError,
)
from sdpdr.families.unfold.labelled import labelled
from sdpdr.linalg import Entries
from sdpdr.program import as_dense

X, T = sdpdr.datasets.swiss_roll(24, seed=0)
GRAPH = graphs.knn(X, 4)
Y = (np.sin(1.7 * T) > 0).astype(int)
ANCHOR = 2


def solved(model, solver="lowrank", tol=1e-7, **options):
    return sdpdr.solve(model, solver, tol=tol, **options)


def scores(solution, anchor=ANCHOR):
    return as_dense(solution.gram())[anchor]


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("margin", "value"),
    [(0.001, 15858.3376), (2.0, 15517.2214)],
)
def test_values_and_separation(margin, value):
    solution = solved(methods.ism(GRAPH, Y, [ANCHOR], margin))
    assert solution.value == pytest.approx(value, rel=1e-7)
    assert abs(solution.gap) < 1e-7
    side = np.where(Y == 1, 1.0, -1.0)
    assert np.min(side * scores(solution)) > margin * (1 - 1e-3)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("isometry", "largest"),
    [("inequality", 5.79255), pytest.param("equality", 4.34358, marks=pytest.mark.nightly)],
)
def test_the_largest_margin_is_attained_and_its_multipliers_add_up_to_one(isometry, largest):
    # With equalities Clarabel ends at seven digits on one processor and at five on another.
    solution = solved(methods.separation_margin(GRAPH, Y, [ANCHOR], isometry), "cvxopt")
    assert solution.value == pytest.approx(largest, rel=2e-6)
    assert solution.bound == pytest.approx(largest, rel=2e-6)
    assert solution.duals["separation"].sum() == pytest.approx(1.0, abs=1e-5)


def test_the_dual_of_the_largest_margin_is_the_length_the_weights_pay():
    solution = solved(methods.separation_margin(GRAPH, Y, [ANCHOR]), "clarabel", tol=1e-8)
    w, mu = solution.duals["isometry"], solution.duals["separation"]
    assert GRAPH.sqdist @ w == pytest.approx(solution.value, rel=1e-5)
    pairs = np.column_stack([np.full(24, ANCHOR), np.arange(24)])
    pull = Entries(24, pairs).adjoint(mu * np.where(Y == 1, 1.0, -1.0))
    slack = GRAPH.laplacian(w).toarray() - pull.toarray()
    assert np.linalg.eigvalsh(slack)[0] > -1e-6


@pytest.mark.parametrize(("d", "isometry"), [(1.0, "inequality"), (4.0, "equality")])
def test_two_points_may_be_a_quarter_of_their_squared_distance_apart(d, isometry):
    pair = graphs.path([np.sqrt(d)])
    solution = solved(methods.separation_margin(pair, [0, 1], isometry=isometry), "clarabel")
    assert solution.value == pytest.approx(d / 4.0, rel=1e-5)


@pytest.mark.nightly
def test_bounds_by_shortest_paths_enclose_the_largest_margin():
    for anchor in np.flatnonzero(Y == 1)[:4]:
        found = labelled(GRAPH, Y, [anchor])
        largest = solved(methods.separation_margin(GRAPH, Y, [anchor]), "clarabel", 1e-6).value
        assert found.sure_margin <= largest * (1 + 1e-6)
        assert largest <= found.largest_conceivable_margin()[0] * (1 + 1e-6)


@pytest.mark.nightly
def test_reach_cuts_nothing_off():
    found = labelled(GRAPH, Y, [ANCHOR])
    for margin in (0.01, 1.0, 5.0):
        solution = solved(methods.ism(GRAPH, Y, [ANCHOR], margin), "clarabel", 1e-6)
        assert np.all(np.diag(as_dense(solution.gram())) <= found.reach(margin) ** 2)
        assert np.max(solution.duals["reach"]) < 1e-6


@pytest.mark.nightly
@pytest.mark.integration
def test_three_classes_with_an_anchor_each():
    y3 = np.digitize(T, np.quantile(T, [1 / 3, 2 / 3]))
    y3[::5] = (y3[::5] + 1) % 3
    anchors = [int(np.flatnonzero(y3 == c)[0]) for c in range(3)]
    largest = solved(methods.separation_margin(GRAPH, y3, anchors), "clarabel")
    assert largest.value == pytest.approx(0.27470, abs=1e-5)
    solution = solved(methods.ism(GRAPH, y3, anchors, 0.27469998 / 2), "clarabel", 1e-6)
    assert solution.value == pytest.approx(10417.501, rel=1e-6)
    found = np.argmax(as_dense(solution.gram())[anchors], axis=0)
    np.testing.assert_array_equal(found, y3)


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("furthest", "method", "y"),
    [
        ("all", methods.mvu, None),
        ("all", methods.mvu, [-1] * 24),
        ("auto", methods.mfnu, [None] * 24),
    ],
    ids=["none", "-1", "None"],
)
def test_without_classes_it_is_unfolding(furthest, method, y):
    separate = solved(methods.ism(GRAPH, y, furthest=furthest))
    assert separate.value == pytest.approx(solved(method(GRAPH)).value, rel=1e-6)


@pytest.mark.nightly
def test_a_tiny_margin_tends_to_unfolding_though_nothing_is_centred():
    variance = methods.ism(GRAPH, Y, [ANCHOR], 1e-7, furthest="all")
    assert "centered" not in variance.size()["rows"]
    unfolded = solved(methods.mvu(GRAPH)).value
    assert solved(variance, "clarabel").value == pytest.approx(unfolded, rel=1e-6)
    furthest = methods.ism(GRAPH, Y, [ANCHOR], 1e-7)
    assert solved(furthest, "clarabel").value == pytest.approx(15858.441, rel=1e-6)


def test_margin_zero_is_refused_because_it_is_vacuous():
    with pytest.raises(ModelError, match="separates nothing"):
        methods.ism(GRAPH, Y, [ANCHOR], 0.0)
    # The printed form: the anchor at the origin of unfolded points meets every row.
    point = solved(methods.mfnu(GRAPH))
    Z = point.gram().factor - point.gram().factor[ANCHOR]
    pairs = graphs.furthest_pairs(GRAPH)
    rows = Separation(Y, [ANCHOR], 1e-300)
    model = Gram(24) + Isometry(GRAPH) + rows + Spread(24, pairs.edges, pairs.multiplicity)
    broken = model.violations({"K": sdpdr.program.Factor(Z)})
    assert broken["separation"] <= 1e-299
    assert broken["isometry"] < 1e-5
    assert model.objective({"K": sdpdr.program.Factor(Z)}) == pytest.approx(15858.441, rel=1e-6)


@pytest.mark.nightly
def test_slack_that_is_dear_is_exact_and_cheap_slack_is_not():
    hard = solved(methods.ism(GRAPH, Y, [ANCHOR], 1.0)).value
    dear = solved(methods.ism(GRAPH, Y, [ANCHOR], 1.0, slack=100.0), "clarabel", 1e-6)
    cheap = solved(methods.ism(GRAPH, Y, [ANCHOR], 1.0, slack=1.0), "lowrank", 1e-6)
    assert dear.value == pytest.approx(hard, rel=1e-6)
    assert cheap.value > hard * (1 + 1e-4)
    assert abs(dear.gap) < 1e-6
    assert abs(cheap.gap) < 1e-6
    side = np.where(Y == 1, 1.0, -1.0)
    assert np.mean(side * scores(dear) > 0) == 1.0
    assert np.mean(side * scores(cheap) > 0) < 1.0


def test_default_margin_is_possible_and_default_anchor_is_furthest_from_the_rest():
    found = labelled(GRAPH, Y)
    assert found.anchors.tolist() == [19]
    assert found.nearest[19] == found.nearest[Y == 1].max()
    model = methods.ism(GRAPH, Y)
    solution = solved(model, tol=1e-6)
    assert solution.certified()
    assert found.default_margin == pytest.approx(min(0.1 * np.median(GRAPH.sqdist), 2.633311), 1e-6)


def test_labels_of_samples_are_those_of_their_nodes():
    repeated = np.vstack([X, X[:2]])
    with pytest.warns(sdpdr.errors.DuplicatePointsWarning):
        graph = graphs.knn(repeated, 4)
    assert graph.n == 24
    known = labelled(graph, np.append(Y, Y[:2]))
    np.testing.assert_array_equal(known.codes[graph.index[:24]], Y)
    # One of two labels of a point suffices, two that differ are one too many.
    half = np.append(Y, [-1, -1])
    np.testing.assert_array_equal(labelled(graph, half).codes, known.codes)
    with pytest.raises(InfeasibleError, match="samples 25 and 1 are the same point.*1.*0|0.*1"):
        methods.ism(graph, np.append(Y, [Y[0], 1 - Y[1]]))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"y": np.zeros(24, int)}, DataError, "one class, .*0.*two classes"),
        ({"y": np.where(Y == 1, 1, -1)}, DataError, "-1 means that a label is not known"),
        ({"y": Y[:20]}, ShapeError, "20 labels, but the graph has 24 nodes"),
        ({"y": Y[:, None]}, ShapeError, "shape"),
        ({"y": np.where(np.arange(24) == 2, -1, Y), "anchors": [2]}, DataError, "anchor 2 has no"),
        ({"y": Y, "anchors": [24]}, DataError, r"0\.\.23"),
        ({"y": Y, "anchors": [0.5]}, DataError, "node numbers"),
        ({"y": Y, "anchors": [2, 3]}, DataError, "one anchor each"),
        ({"y": np.arange(24) % 3, "anchors": [0, 1]}, DataError, "3 classes need one anchor each"),
        ({"y": Y, "margin": 0.0}, ModelError, "margin must be positive"),
        ({"y": Y, "margin": -1.0}, ModelError, "margin must be positive"),
        ({"y": Y, "margin": np.nan}, ModelError, "margin must be positive"),
        ({"y": Y, "anchors": [2], "margin": 5.81}, InfeasibleError, "5.8056.*anchor 2 to point"),
        ({"y": Y, "furthest": "some"}, UnknownNameError, "furthest"),
        ({"y": Y, "slack": -1.0}, ModelError, "positive"),
    ],
)
def test_what_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        methods.ism(GRAPH, **options)


def test_a_disconnected_graph_is_refused():
    apart = graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0])
    with pytest.raises(DisconnectedGraphError, match="2 components"):
        methods.ism(apart, [0, 1, 0, 1], furthest="all")
