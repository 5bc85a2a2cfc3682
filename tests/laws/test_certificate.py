"""Bounds from multipliers: sharp for exact ones, valid for any, and refused with a reason."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.linalg import InnerProduct, Products, SvecMap, Trace
from sdpdr.program import SDP, Factor, PsdVariable, Rows, certify
from sdpdr.program.boxes import repair

LENGTHS = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 0.7])
OPTIMUM = 85.36


def line(lengths):
    """Centred positions on a straight line: the unfolding of a path."""
    y = np.concatenate([[0.0], np.cumsum(lengths)])
    return y - y.mean()


def exact_weights(lengths):
    return -np.cumsum(line(lengths))[:-1] / lengths


def duals(sdp, weights):
    """The weights on every group of rows that is not the centring."""
    return {r.label: np.zeros(r.m) if r.label == "centered" else weights for r in sdp.rows}


def random_graph(seed, n, dimension=2):
    points = np.random.default_rng(seed).standard_normal((n, dimension))
    return graphs.knn(points, min(3, n - 1), connect="mst"), points - points.mean(axis=0)


# -- sharp --------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["inequality", "equality", Slack(30.0, "absolute")])
@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_exact_weights_of_a_path_prove_its_optimum(relation, scale):
    sdp = methods.mvu(graphs.path(LENGTHS), relation).to_sdp()
    weights = exact_weights(LENGTHS)
    if isinstance(relation, str):
        weights = weights * scale
    certificate = certify(sdp, duals(sdp, weights))
    assert certificate.bound == pytest.approx(OPTIMUM, rel=1e-9)
    assert certificate.bound >= OPTIMUM * (1 - 1e-13)
    assert "verified by inertia" in certificate.argument


@pytest.mark.parametrize("n", [5, 8, 9])
def test_equal_weights_prove_the_optimum_of_a_cycle(n):
    sdp = methods.mvu(graphs.cycle(n)).to_sdp()
    certificate = certify(sdp, duals(sdp, np.full(n, 0.37)))
    assert certificate.bound == pytest.approx(n / (4 * np.sin(np.pi / n) ** 2), rel=1e-9)


def test_square_slack_has_the_bound_of_its_dual():
    # max tr K - (v/2) sum (q - d)^2 has the dual d.w + |w|^2 / (2 v), scaled at its best.
    price, weights = 5.0, exact_weights(LENGTHS)
    sdp = methods.mvu(graphs.path(LENGTHS), Slack(price)).to_sdp()
    expected = LENGTHS**2 @ weights + weights @ weights / (2 * price)
    assert certify(sdp, duals(sdp, weights)).bound == pytest.approx(expected, rel=1e-8)
    assert certify(sdp, duals(sdp, 0.3 * weights)).bound == pytest.approx(expected, rel=1e-8)


def test_a_fixed_trace_lets_any_multipliers_be_shifted():
    # min <C, K> with tr K = 1 is the smallest eigenvalue, whichever multiplier is offered.
    root = np.random.default_rng(0).standard_normal((6, 6))
    cost = root + root.T
    fixed = Rows("trace", "==", {"K": Trace(6)}, np.ones(1))
    sdp = SDP((PsdVariable("K", 6),), {"K": InnerProduct(cost)}, (fixed,))
    smallest = np.linalg.eigvalsh(cost)[0]
    certificate = certify(sdp, {"trace": np.array([-smallest - 0.3])})
    assert certificate.bound == pytest.approx(smallest, rel=1e-9)
    assert "limit" in certificate.argument
    loose = certify(sdp, {"trace": np.array([-smallest + 0.25])})
    assert loose.bound == pytest.approx(smallest - 0.25)


# -- valid --------------------------------------------------------------------------------------

RELATIONS = [
    "inequality",
    "equality",
    Slack(2.0),
    Slack(2.0, relative=True),
    Slack(50.0, "absolute"),
    Slack(50.0, "absolute", relative=True),
]


@settings(max_examples=40, derandomize=True)
@given(
    seed=st.integers(0, 1000),
    n=st.integers(4, 14),
    relation=st.sampled_from(RELATIONS),
    spread=st.floats(0.0, 3.0),
)
def test_any_positive_weights_bound_every_feasible_point(seed, n, relation, spread):
    graph, points = random_graph(seed, n)
    rng = np.random.default_rng(seed)
    sdp = methods.mvu(graph, relation).to_sdp()
    weights = np.exp(spread * rng.standard_normal(graph.m))
    certificate = certify(sdp, duals(sdp, weights))
    assume(certificate.bound is not None)
    candidates = [points, 0.5 * points] if relation == "inequality" else [points]
    if isinstance(relation, Slack):
        candidates += [1.5 * points, rng.standard_normal(points.shape)]
    for candidate in candidates:
        centred = candidate - candidate.mean(axis=0)
        feasible = repair(sdp, {"K": Factor(centred)} | zeros(sdp))
        value = sdp.report(sdp.primal_value(feasible))
        assert value <= certificate.bound * (1 + 1e-9) + 1e-9


def zeros(sdp):
    return {v.name: np.zeros(v.size) for v in sdp.vector_variables}


@pytest.mark.parametrize("seed", range(2))
def test_without_a_price_of_slack_positive_weights_always_give_a_bound(seed):
    graph, points = random_graph(seed, 12)
    weights = np.random.default_rng(seed).uniform(0.01, 1.0, graph.m)
    for relation in ("inequality", "equality", Slack(1.0)):
        sdp = methods.mvu(graph, relation).to_sdp()
        assert certify(sdp, duals(sdp, weights)).bound >= np.sum(points**2)


# -- refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", ["inequality", "equality", Slack(1.0)])
def test_weights_that_do_not_connect_prove_nothing_and_say_so(relation):
    sdp = methods.mvu(graphs.path([1.0, 2.0, 1.0]), relation).to_sdp()
    certificate = certify(sdp, duals(sdp, np.array([1.0, 0.0, 1.0])))
    assert certificate.bound is None
    assert "do not connect" in certificate.argument or "verified" in certificate.argument


def test_too_cheap_slack_has_no_bound():
    sdp = methods.mvu(graphs.path(LENGTHS), Slack(0.1, "absolute")).to_sdp()
    certificate = certify(sdp, duals(sdp, np.full(7, 0.05)))
    assert certificate.bound is None
    assert "price of slack" in certificate.argument


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_multipliers_that_are_not_finite_prove_nothing(bad):
    sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    certificate = certify(sdp, duals(sdp, np.array([1.0, bad])))
    assert (certificate.bound, certificate.argument) == (None, "the multipliers are not finite")


def test_missing_multipliers_prove_nothing():
    sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    assert "returned no multipliers" in certify(sdp, {}).argument


def test_shifting_never_leaves_an_inequality_with_a_negative_multiplier():
    # K11 + K22 + 2 K12 <= 1 and 2 K12 <= 5: the identity needs minus one of the second row.
    first = SvecMap.from_entries(
        2, 1, np.zeros(3, int), np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3)
    )
    second = SvecMap.from_entries(2, 1, np.array([0]), np.array([0]), np.array([1]), np.ones(1))
    rows = (
        Rows("first", "<=", {"K": first}, np.ones(1)),
        Rows("second", "<=", {"K": second}, np.array([5.0])),
    )
    sdp = SDP((PsdVariable("K", 2),), {"K": InnerProduct(np.diag([-1.0, 1.0]))}, rows)
    certificate = certify(sdp, {"first": np.zeros(1), "second": np.zeros(1)})
    # The point K11 = t^2, K12 = -t s, K22 = s^2 with t - s = 1 is feasible and has value s^2 - t^2.
    assert certificate.bound is None
    assert "no rows limit the trace of 'K'" in certificate.argument


# -- repair -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [False, True])
def test_repair_shrinks_to_the_longest_edge(dense):
    graph, points = random_graph(0, 10)
    sdp = methods.mvu(graph).to_sdp()
    stretched = points * [1.5, 1.0]
    gram = stretched @ stretched.T if dense else Factor(stretched)
    repaired = repair(sdp, {"K": gram})["K"]
    lengths = np.sum(np.diff(stretched[graph.edges], axis=1)[:, 0] ** 2, axis=1)
    excess = np.max(lengths / graph.sqdist)
    assert excess > 1.0
    got = repaired if dense else repaired.dense()
    np.testing.assert_allclose(got, stretched @ stretched.T / excess, atol=1e-12)
    slack = sdp.slack(sdp.rows[1], {"K": repaired})
    assert np.min(slack) == pytest.approx(0.0, abs=1e-12)


def test_repair_leaves_a_feasible_point_alone():
    graph, points = random_graph(1, 10)
    sdp = methods.mvu(graph).to_sdp()
    np.testing.assert_array_equal(repair(sdp, {"K": Factor(points)})["K"].factor, points)


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("penalty", ["square", "absolute"])
def test_repair_fills_in_the_cheapest_slack(penalty, relative):
    graph, points = random_graph(2, 10)
    model = methods.mvu(graph, Slack(3.0, penalty, relative))
    sdp = model.to_sdp()
    values = {"K": Factor(1.3 * points)} | {
        v.name: np.full(v.size, 9.0) for v in sdp.vector_variables
    }
    repaired = repair(sdp, values)
    np.testing.assert_allclose(sdp.slack(sdp.rows[1], repaired), 0.0, atol=1e-12)
    for v in sdp.vector_variables:
        assert not v.nonnegative or np.min(repaired[v.name]) >= 0.0
    # The model's own objective prices the change directly, without slack variables.
    assert sdp.report(sdp.primal_value(repaired)) == pytest.approx(model.objective(values))


def test_unfolding_is_certified_without_the_dense_matrix_of_its_centring(monkeypatch):
    def refuse(self):
        raise AssertionError("the dense matrix of the centring rows was formed")

    model = methods.mvu(graphs.knn(datasets.swiss_roll(300, seed=0)[0], n_neighbors=6))
    monkeypatch.setattr(Products, "matrix", refuse)
    assert sdpdr.solve(model, "lowrank").certified()
