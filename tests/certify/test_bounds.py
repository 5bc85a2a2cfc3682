"""Bounds from multipliers: sharp for exact ones, below the exact optimum for any."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import datasets, graphs, methods, minimize, scalar, square
from sdpdr.base.deadline import Deadline
from sdpdr.blocks import Slack
from sdpdr.certify.bounds import certify, inwards
from sdpdr.certify.bounds.dual_form import DualForm, _stays_exact, has_entries
from sdpdr.certify.bounds.inwards import _coefficients, identity_multipliers, shares, ways
from sdpdr.certify.equations import UnprovedError
from sdpdr.linalg import (
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    SvecMap,
    Trace,
    VectorMap,
    svec,
)
from sdpdr.linalg.outer import Outer
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable

from ..reduce.programs import optimal_program
from ..truth.exact import fractions

LENGTHS = [1, 2, 4, 3, 1, 3, 2]


# -- unfolding, with an optimum known exactly ------------------------------------------------------


def path_optimum(lengths):
    """The sum over all pairs of squared distances on a straight line, over n."""
    positions = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    squares = sum(Fraction(a - b) ** 2 for a, b in combinations(positions, 2))
    return squares / len(positions)


def path_weights(lengths):
    line = np.concatenate([[0.0], np.cumsum(lengths)])
    return -np.cumsum(line - line.mean())[:-1] / lengths


def path(lengths, relation="inequality"):
    return methods.mvu(graphs.path(np.array(lengths, dtype=float)), relation).to_sdp()


def on_edges(sdp, weights):
    return {r.label: np.zeros(r.m) if r.label == "centered" else weights for r in sdp.rows}


def disturbed(weights, rng):
    """From the weights themselves and their last bits to anything at all."""
    yield weights
    yield np.nextafter(weights, np.inf)
    yield np.nextafter(weights, -np.inf)
    for size in (1e-16, 1e-14, 1e-12, 1e-9, 1e-6, 1e-3, 0.3):
        noise = size * rng.standard_normal(weights.shape)
        yield weights * (1 + (noise + noise.T if noise.ndim == 2 else noise))
    for factor in (1 - 1e-15, 1 - 1e-12, 1e-8, 3.0, 1e9):
        yield factor * weights


@pytest.mark.daily(4)
@pytest.mark.parametrize("relation", ["inequality", "equality", Slack(40.0, "absolute")])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 7.0])
def test_exact_weights_of_a_path_prove_its_optimum_to_rounding(relation, scale):
    sdp, optimum = path(LENGTHS, relation), path_optimum(LENGTHS)
    scale = scale if isinstance(relation, str) else 1.0
    found = certify(sdp, on_edges(sdp, scale * path_weights(LENGTHS)))
    assert optimum <= Fraction(found.bound) <= optimum * (1 + Fraction(1e-10))
    again = certify(sdp, {**found.duals, "centered": np.zeros(len(LENGTHS) + 1)})
    assert optimum <= Fraction(again.bound) <= optimum * (1 + Fraction(1e-10))


@settings(max_examples=4, derandomize=True, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=9),
    relation=st.sampled_from(["inequality", "equality"]),
    seed=st.integers(0, 1000),
)
def test_no_multipliers_of_a_path_prove_more_than_its_optimum(lengths, relation, seed):
    sdp, optimum = path(lengths, relation), path_optimum(lengths)
    for weights in disturbed(path_weights(lengths), np.random.default_rng(seed)):
        bound = certify(sdp, on_edges(sdp, weights)).bound
        assert bound is None or Fraction(bound) >= optimum


def test_square_slack_costs_what_its_dual_says():
    # max tr K - (v/2) sum (q - d)^2 has the dual d.w + |w|^2 / (2 v).
    penalty, weights = 5.0, path_weights(LENGTHS)
    sdp = path(LENGTHS, Slack(penalty))
    expected = np.square(LENGTHS) @ weights + weights @ weights / (2 * penalty)
    optimum = sdpdr.solve(sdp).attained
    for scale in (1.0, 0.3):
        bound = certify(sdp, on_edges(sdp, scale * weights)).bound
        assert optimum <= bound <= expected * (1 + 1e-9)


def test_too_small_a_penalty_is_named():
    sdp = path(LENGTHS, Slack(0.1, "absolute"))
    found = certify(sdp, on_edges(sdp, np.full(7, 0.05)))
    assert found.bound is None
    assert "penalt" in found.argument


@pytest.mark.parametrize("weights", [0.5 * path_weights(LENGTHS), np.arange(7.0), np.zeros(7)])
def test_penalties_are_mixed_with_and_never_exceeded(weights):
    penalty = 40.0
    sdp = path(LENGTHS, Slack(penalty, "absolute"))
    found = certify(sdp, on_edges(sdp, weights))
    assert np.all(found.duals["isometry"] <= penalty)
    # The chord of a concave function costs no more than the largest multipliers do.
    assert path_optimum(LENGTHS) <= found.bound <= penalty * np.sum(np.square(LENGTHS))


def test_a_roll_is_proved_without_any_dense_matrix(monkeypatch):
    def refuse(self):
        raise AssertionError("the dense matrix of the centring was formed")

    n = 600
    points = datasets.swiss_roll(n, seed=0)[0]
    graph = graphs.knn(points, 6)
    sdp = methods.mvu(graph).to_sdp()
    monkeypatch.setattr(Products, "matrix", refuse)
    found = certify(sdp, on_edges(sdp, np.ones(graph.m)))
    assert found.bound >= np.sum((points - points.mean(axis=0)) ** 2)
    again = certify(sdp, {**found.duals, "centered": np.zeros(n)})
    assert again.bound == pytest.approx(found.bound, rel=1e-7)


# -- small programs of every kind, with optima known exactly ---------------------------------------


def programs():
    """A name, a program, its optimum as a fraction, and optimal multipliers."""
    for n in (3, 7):
        cost = {"X": InnerProduct(-(n * np.eye(n) - np.ones((n, n))))}
        ones = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
        cut = SDP((PsdVariable("X", n),), cost, (ones,), maximize=True)
        yield f"max-cut {n}", cut, Fraction(n * n), {"diagonal": np.full(n, float(n))}
    trace = Rows("trace", "==", {"X": Trace(3)}, np.ones(1))
    cost = {"X": InnerProduct(np.diag([0.1, 2.0, 3.0]))}
    yield (
        "eigenvalue",
        SDP((PsdVariable("X", 3),), cost, (trace,)),
        Fraction(0.1),
        {"trace": np.array([-0.1])},
    )
    polygon = VectorMap([[1.0, 1.0], [1.0, 3.0], [1.0, 0.0]])
    linear = SDP(
        (VectorVariable("z", 2, nonnegative=True),),
        {"z": VectorMap([[-3.0, -2.0]])},
        (Rows("polygon", "<=", {"z": polygon}, np.array([4.0, 6.0, 3.0])),),
        maximize=True,
    )
    yield "linear", linear, Fraction(11), {"polygon": np.array([2.0, 0.0, 1.0])}
    cone = Lmi("cone", 2, {"t": VectorMap(svec(np.eye(2))[:, None])}, -svec(np.diag([1.0, 3.0])))
    largest = SDP((VectorVariable("t", 1),), {"t": VectorMap([[1.0]])}, lmis=(cone,))
    yield "largest eigenvalue", largest, Fraction(3), {"cone": np.diag([0.0, 1.0])}
    # Two equations for two free scalars, whose numbers are no doubles.
    free = VectorMap([[0.1, 0.3], [0.7, -0.2]])
    rows = Rows("rows", "==", {"f": free, "X": SvecMap(1, [[0.0], [1.0]])}, np.array([1.0, 2.0]))
    cost = {"f": VectorMap([[0.3, 0.9]]), "X": InnerProduct(np.ones((1, 1)))}
    fixed = SDP((VectorVariable("f", 2), PsdVariable("X", 1)), cost, (rows,))
    a, b, c, d = (Fraction(x) for x in (0.1, 0.3, 0.7, -0.2))
    p, q = Fraction(0.3), Fraction(0.9)
    y0, y1 = -(p * d - q * c) / (a * d - b * c), -(a * q - b * p) / (a * d - b * c)
    assert 1 + y1 >= 0
    yield "free", fixed, -(y0 + 2 * y1), {"rows": np.array([float(y0), float(y1)])}


PROGRAMS = list(programs())


@pytest.mark.daily(3)
@pytest.mark.parametrize(
    ("sdp", "optimum", "exact"), [p[1:] for p in PROGRAMS], ids=[p[0] for p in PROGRAMS]
)
def test_programs_of_every_kind(sdp, optimum, exact):
    sign, (label,) = -1 if sdp.maximize else 1, exact
    assert certify(sdp, exact).bound == pytest.approx(float(optimum), rel=1e-9)
    for y in disturbed(exact[label], np.random.default_rng(1)):
        found = certify(sdp, {label: (y + y.T) / 2 if y.ndim == 2 else y})
        assert found.bound is not None, found.argument
        assert sign * Fraction(found.bound) <= sign * optimum


@pytest.mark.daily(1)
@pytest.mark.parametrize("size", [0.0, 1e-6, 30.0])
def test_disturbed_multipliers_of_mixed_programs_prove_nothing_beyond_the_optimum(size):
    bounds = []
    for seed in range(0, 16, 2):
        sdp, optimal = optimal_program(seed)
        value, duals = sdp.primal_value(optimal.values), dict(optimal.duals)
        lhs = {"K": Trace(4), "signed": VectorMap(np.ones((1, 3)))}
        most = np.trace(optimal.values["K"]) + optimal.values["signed"].sum() + 0.5
        sdp = replace(sdp, rows=(*sdp.rows, Rows("trace", "<=", lhs, np.array([most]))))
        duals["trace"] = np.zeros(1)
        rng = np.random.default_rng(seed)
        for label, y in duals.items():
            noise = size * rng.standard_normal(y.shape)
            duals[label] = y + (noise + noise.T if y.ndim == 2 else noise)
        bound = certify(sdp, duals).bound
        assert bound is None or bound <= value + 1e-10 * (1.0 + abs(value))
        bounds.append(bound)
    assert sum(bound is not None for bound in bounds) >= (4 if size < 1.0 else 1)
    if size == 0.0:
        assert bounds[-1] == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("factor", [2.0**-20, 3.0, 2.0**30, -2.0])
def test_units_of_rows_change_nothing(factor):
    sdp = path(LENGTHS, "inequality" if factor > 0.0 else Slack(40.0, "absolute"))
    (edges,) = (r for r in sdp.rows if r.label == "isometry")
    lhs = {name: factor * linear_map for name, linear_map in edges.lhs.items()}
    scaled = replace(edges, lhs=lhs, rhs=factor * edges.rhs)
    other = replace(sdp, rows=tuple(scaled if r is edges else r for r in sdp.rows))
    weights = path_weights(LENGTHS) * (1.0 + 1e-3 * np.arange(7))
    bound = certify(sdp, on_edges(sdp, weights)).bound
    assert certify(other, on_edges(other, weights / factor)).bound == pytest.approx(bound, 1e-10)


@pytest.mark.parametrize("factor", [1.0, -2.0])
def test_where_weights_connect_nothing_those_that_penalties_allow_do(factor):
    sdp = path(LENGTHS, Slack(40.0, "absolute"))
    (edges,) = (r for r in sdp.rows if r.label == "isometry")
    lhs = {name: factor * linear_map for name, linear_map in edges.lhs.items()}
    turned = replace(edges, lhs=lhs, rhs=factor * edges.rhs)
    sdp = replace(sdp, rows=tuple(turned if r is edges else r for r in sdp.rows))
    weights = np.array([0.0, 1e-3, 1e-3, 1e-3, 0.0, 1e-3, 1e-3])
    bound = certify(sdp, on_edges(sdp, weights / factor)).bound
    assert path_optimum(LENGTHS) <= bound <= 40.0 * np.sum(np.square(LENGTHS)) * (1.0 + 1e-9)


def test_rows_that_come_twice_share_their_multipliers():
    sdp, weights = path(LENGTHS), path_weights(LENGTHS)
    (edges,) = (r for r in sdp.rows if r.label == "isometry")
    twice = replace(sdp, rows=(*sdp.rows, replace(edges, label="again")))
    duals = {**on_edges(sdp, 0.25 * weights), "again": 0.75 * weights}
    bound = certify(twice, duals).bound
    assert path_optimum(LENGTHS) <= Fraction(bound) <= path_optimum(LENGTHS) * (1 + Fraction(1e-10))


def test_multipliers_that_cancel_prove_nothing_below_their_own_rounding():
    # max z1 - 1e4 is not limited: z1 = z2 is stated twice, and nothing else.
    same = VectorMap(np.array([[1.0, -1.0]]))
    rows = tuple(Rows(label, "==", {"z": same}, np.zeros(1)) for label in ("once", "twice"))
    cost = {"z": VectorMap(np.array([[-1.0, 0.0]]))}
    sdp = SDP((VectorVariable("z", 2, nonnegative=True),), cost, rows, constant=1e4)
    for size in (1e12, 1e16):
        assert certify(sdp, {"once": np.array([size]), "twice": np.array([-size])}).bound is None


# -- multipliers are moved inwards -----------------------------------------------------------------


def test_a_fixed_trace_makes_any_multiplier_prove_the_smallest_eigenvalue():
    root = np.random.default_rng(0).standard_normal((6, 6))
    cost = root + root.T
    smallest = np.linalg.eigvalsh(cost)[0]
    sdp = SDP(
        (PsdVariable("K", 6),),
        {"K": InnerProduct(cost)},
        (Rows("trace", "==", {"K": Trace(6)}, np.ones(1)),),
    )
    for away in (0.3, 2.0 * abs(smallest)):
        bound = certify(sdp, {"trace": np.array([-smallest - away])}).bound
        assert bound == pytest.approx(smallest, rel=1e-9)
        assert bound <= smallest + 1e-13
    found = certify(sdp, {"trace": np.zeros(1)})
    assert found.bound == pytest.approx(smallest, rel=1e-9)


def test_multipliers_move_inwards_on_a_face_that_the_cost_crosses():
    # The cost is indefinite, and couples the face with what is left out.
    graph, cost = graphs.path([1.0, 2.0, 1.0]), np.diag([1.0, -1.0, 2.0, -3.0])
    rows = (
        Rows("centred", "==", {"K": Products(4)}, np.zeros(4)),
        Rows("lengths", "<=", {"K": SquaredEdgeLengths(4, graph.edges)}, graph.sqdist),
    )
    sdp = SDP((PsdVariable("K", 4),), {"K": InnerProduct(cost)}, rows)
    weights, optimum = np.array([0.0, 15.0 / 14.0, 4.0]), -58.0 / 7.0
    for share in (1.0, 0.999999):
        duals = {"centred": np.zeros(4), "lengths": share * weights}
        assert optimum - 1e-4 <= certify(sdp, duals).bound <= optimum


def test_a_box_bounds_a_linear_program_whatever_the_multipliers_are():
    # Minimise -x - y with x + y <= 3 in the unit box: the optimum is -2.
    rows = (
        Rows("sum", "<=", {"z": VectorMap([[1.0, 1.0]])}, np.array([3.0])),
        Rows("box", "<=", {"z": VectorMap(np.eye(2))}, np.ones(2)),
    )
    sdp = SDP((VectorVariable("z", 2, nonnegative=True),), {"z": VectorMap([[-1.0, -1.0]])}, rows)
    for y in (-1.0, 0.0, 0.5, 1.0, 7.0):
        bound = certify(sdp, {"sum": np.array([y]), "box": np.array([0.3, 0.0])}).bound
        assert bound is not None
        assert bound <= -2.0
    assert certify(sdp, {"sum": np.zeros(1), "box": np.ones(2)}).bound == pytest.approx(-2.0)


def test_slack_that_nothing_makes_positive_is_named():
    # K11 + K22 + 2 K12 <= 1 has feasible points of any value.
    mean = Rows("mean", "<=", {"K": InnerProduct(np.ones((2, 2)))}, np.ones(1))
    cost = {"K": InnerProduct(np.diag([-1.0, 1.0]))}
    found = certify(SDP((PsdVariable("K", 2),), cost, (mean,)), {"mean": np.zeros(1)})
    assert found.bound is None
    assert "dual slack of 'K'" in found.argument
    trace = Rows("trace", "==", {"K": Trace(2)}, np.ones(1))
    variables = (PsdVariable("K", 2), VectorVariable("f", 1, nonnegative=True))
    cost = {"K": InnerProduct(np.eye(2)), "f": VectorMap([[-1.0]])}
    found = certify(SDP(variables, cost, (trace,)), {"trace": np.array([-1.0])})
    assert found.bound is None
    assert "scalar 0 of 'f'" in found.argument


# -- what is kept apart ----------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_reward_of_rank_one_is_outweighed_without_being_multiplied_out(monkeypatch):
    # max (1^T x)^2 over signs is n^2: its multipliers are n on the diagonal.
    n, reward = 450, -1.0 * QuadraticForms(np.ones((1, 450)))
    diagonal = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
    sdp = SDP((PsdVariable("X", n),), {"X": reward}, (diagonal,), maximize=True)
    monkeypatch.setattr(Outer, "toarray", lambda self: pytest.fail("multiplied out"))
    for factor in (1.0, 0.6, 2.0):
        bound = certify(sdp, {"diagonal": np.full(n, factor * n)}).bound
        assert n**2 <= bound <= n**2 * (1 + 1e-9)


def test_a_cost_of_rank_one_lifts_what_it_covers(monkeypatch):
    # The Laplacian of a cycle has the mean for null vector, which the cost lifts by n.
    n, i = 30, np.arange(30)
    monkeypatch.setattr("sdpdr.linalg.maps.forms._OUTER_FROM", 0)
    ring = SquaredEdgeLengths(n, np.column_stack([i, (i + 1) % n]))
    laplacian = InnerProduct(ring.adjoint(np.ones(n)))
    trace = Rows("trace", "==", {"X": Trace(n)}, np.ones(1))
    cost = laplacian + QuadraticForms(np.ones((1, n)))
    sdp = SDP((PsdVariable("X", n),), {"X": cost}, (trace,))
    assert isinstance(sdp.cost("X"), Outer)
    second = 4.0 * np.sin(np.pi / n) ** 2
    bound = certify(sdp, {"trace": np.array([-second])}).bound
    assert second * (1.0 - 1e-6) <= bound <= second * (1.0 + 1e-14 * n**2)
    alone = replace(sdp, objective={"X": laplacian})
    assert certify(alone, {"trace": np.array([-second])}).bound <= 0.0


def test_costs_shrink_multipliers_that_ask_for_too_much():
    # The least trace with <F, X> = 1 is the reciprocal of the largest eigenvalue of F.
    F = np.diag([1.0, 2.0, 4.0])
    fixed = Rows("fixed", "==", {"X": InnerProduct(F)}, np.ones(1))
    sdp = SDP((PsdVariable("X", 3),), {"X": Trace(3)}, (fixed,))
    for y in (-0.1, -0.25, -0.3, -100.0):
        bound = certify(sdp, {"fixed": np.array([y])}).bound
        assert 0.25 * (1.0 - 1e-9) <= bound <= 0.25


def test_rows_that_add_to_the_trace_move_multipliers_inside():
    # X11 = 1 and 2 X12 = 1 at the cost X22: no limit on the trace, but a strictly feasible dual.
    entries = Stacked([InnerProduct(np.diag([1.0, 0.0])), InnerProduct(np.eye(2)[::-1])])
    rows = Rows("rows", "==", {"X": entries}, np.ones(2))
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(np.diag([0.0, 1.0]))}, (rows,))
    for away in (0.0, 1e-6, 1e-3):
        bound = certify(sdp, {"rows": np.array([0.25 - away, -0.5])}).bound
        assert 0.25 - 4.0 * away - 1e-9 <= bound <= 0.25


@pytest.mark.parametrize("seed", range(3))
def test_every_way_ends_where_scalars_become_nonnegative(seed):
    """For min c z with B z = b: the least r at which c + B' y is nonnegative, and margins above."""
    rng = np.random.default_rng(seed)
    B, c, b = rng.uniform(0.1, 1.0, (2, 6)), rng.normal(size=6), np.ones(2)
    rows, cost = Rows("rows", "==", {"z": VectorMap(B)}, b), {"z": VectorMap(c[None])}
    form = DualForm(SDP((VectorVariable("z", 6, nonnegative=True),), cost, (rows,)))
    y, found = rng.uniform(0.1, 0.5, 2), 0
    for way in ways(form, y):
        assert way.at(y, 0.0) == pytest.approx(y)
        if way.words == "multipliers scaled":
            assert way.least == -1.0
            assert form.value(way.at(y, 0.1)) < form.value(y)

        def slack(r, way=way):
            return np.min(c + B.T @ way.at(y, r))

        if way.is_point and np.any(c + B.T @ way.d <= 0.0):
            continue  # towards multipliers that are outside themselves
        share, *more = shares(form, y, way)
        assert -1e-12 <= slack(share) <= 1e-9
        assert share == way.least or slack(share - 1e-6 * (1.0 + abs(share))) < 0.0
        apart = np.diff([share, *more])
        assert np.all(apart > 0.0)
        assert np.all(np.abs(apart[1:] / apart[:-1] - 8.0) < 2.0)
        assert apart[-1] < 1e-4
        found += 1
    assert found >= 2


def test_the_least_share_that_is_verified_is_the_last_one_that_is_tried(monkeypatch):
    tried, bound = [], DualForm.bound

    def counting(form, y, radius=0.0):
        tried.append(y)
        return bound(form, y, radius)

    monkeypatch.setattr(DualForm, "bound", counting)
    sdp = path(LENGTHS)
    assert certify(sdp, on_edges(sdp, 0.9 * path_weights(LENGTHS)), goal=np.inf).bound is not None
    assert len(tried) == 1


def directions_inwards(sdp):
    """The directions inwards from zero."""
    form = sdp.remembered(DualForm)
    return [way.d for way in ways(form, np.zeros(2)) if way.words == "multipliers moved inwards"]


def test_no_way_leads_inwards_where_equations_of_free_scalars_rule_it_out():
    """They ask for y_0 + 3 y_1 = 0 twice, the second time by numbers that are no multiples."""
    free = VectorMap([[1.0, 0.1], [3.0, np.nextafter(0.3, 1.0)]])
    side = {"X": Diagonal(2), "f": free}
    rows = Rows("rows", "==", side, np.ones(2))
    sdp = SDP((PsdVariable("X", 2), VectorVariable("f", 2)), {"X": Trace(2)}, (rows,))
    assert directions_inwards(sdp) == []
    rows = replace(rows, lhs={"X": Diagonal(2), "f": VectorMap([[1.0], [-1.0]])})
    one = SDP((PsdVariable("X", 2), VectorVariable("f", 1)), {"X": Trace(2)}, (rows,))
    (found,) = directions_inwards(one)
    assert found[0] == pytest.approx(found[1])
    assert found[0] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_every_way_ends_where_slack_becomes_positive_semidefinite(seed):
    # All eigenvalues are above zero at the share that is found, and one is below it before.
    rng = np.random.default_rng(seed)
    cost = rng.standard_normal((5, 5))
    rows = Rows("diagonal", "==", {"X": Diagonal(5)}, np.ones(5))
    sdp = SDP((PsdVariable("X", 5),), {"X": InnerProduct(cost + cost.T)}, (rows,))
    form, y = sdp.remembered(DualForm), 0.5 + rng.random(5)
    assert identity_multipliers(sdp) == pytest.approx(np.ones(5), abs=1e-9)
    found = 0
    for way in ways(form, y):
        try:
            share = shares(form, y, way)[0]
        except UnprovedError:
            continue
        low, before = (
            np.linalg.eigvalsh(cost + cost.T + np.diag(way.at(y, r)))[0]
            for r in (share, share - 1e-5 * (1.0 + abs(share)))
        )
        assert -1e-12 <= low <= 1e-9
        assert before < low
        found += 1
    assert found >= 2


def test_multipliers_that_contradict_the_constraints_prove_that_no_point_is_feasible():
    # X11 = 1, X22 = 1, X12 = 2: any bound of a program without an objective that is above zero.
    entries = Stacked([Diagonal(2), InnerProduct(np.eye(2)[::-1])])
    rows = Rows("rows", "==", {"X": entries}, np.array([1.0, 1.0, 4.0]))
    sdp = SDP((PsdVariable("X", 2),), {}, (rows,))
    for y in ([1.0, 1.0, -1.0], [1.0, 1.0, -1.2]):
        assert certify(sdp, {"rows": np.array(y)}, goal=np.inf).bound > 1.0


# -- free scalars ----------------------------------------------------------------------------------


def largest_eigenvalue(columns):
    """The least t with t I - F psd, where t is the sum of some scalars."""
    f = np.diag([1.0, 2.0, 5.0])
    cone = Lmi("cone", 3, {"t": VectorMap(np.tile(svec(np.eye(3))[:, None], columns))}, -svec(f))
    cost = {"t": VectorMap(np.ones((1, columns)))}
    return SDP((VectorVariable("t", columns),), cost, lmis=(cone,))


@pytest.mark.parametrize("columns", [1, 2])
def test_equations_of_free_scalars_are_solved_even_if_they_come_twice(columns):
    sdp = largest_eigenvalue(columns)
    for z in (np.diag([0.0, 0.0, 0.9]), np.diag([0.01, -0.02, 1.2]), np.eye(3) / 3):
        found = certify(sdp, {"cone": z})
        assert found.bound is not None, found.argument
        assert found.bound <= 5.0
    bound = certify(sdp, {"cone": np.diag([0.0, 0.0, 1.0 + 1e-9])}).bound
    assert 5.0 * (1.0 - 1e-8) <= bound <= 5.0


@pytest.mark.parametrize("away", [0.0, 1e-6, 1e-3])
def test_multipliers_that_are_off_are_moved_where_free_scalars_have_no_slack(away):
    """The multiplier of the largest eigenvalue is u u^T, and no step along the identity is left."""
    rng = np.random.default_rng(5)
    F, R = (a + a.T for a in rng.standard_normal((2, 12, 12)))
    t = scalar("t")
    sdp = (minimize(t) + (t * np.eye(12) - F >> 0)).to_sdp()
    values, vectors = np.linalg.eigh(F)
    u, top = vectors[:, -1], values[-1]
    bound = certify(sdp, {sdp.labels[0]: np.outer(u, u) + away * R}).bound
    assert top - 1e-8 - 100.0 * away * top <= bound <= top


def test_a_free_scalar_that_costs_and_does_nothing_proves_nothing():
    rows = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
    variables = (PsdVariable("X", 2), VectorVariable("f", 1))
    cost = {"X": InnerProduct(np.eye(2)), "f": VectorMap([[1.0]])}
    found = certify(SDP(variables, cost, (rows,)), {"trace": np.array([-1.0])})
    assert found.bound is None
    assert "0 = 1" in found.argument


# -- nothing to go by ------------------------------------------------------------------------------


def test_an_objective_may_have_a_bound_by_itself():
    x = scalar("x", 2)
    sdp = (minimize(square(x[0] - x[1])) + (x >= 1.0)).to_sdp()
    bound = certify(sdp, sdp.zero_point().duals).bound
    assert -1e-290 <= bound <= 0.0


def test_an_objective_has_a_bound_by_itself_where_multipliers_lead_nowhere():
    """z0 and z1 want y0 - y1 of opposite signs, so that no way leads inwards, and zero will do."""
    B = VectorMap([[1.0, -1.0, 1.0], [-1.0, 1.0, 0.0]])
    rows = Rows("rows", "==", {"z": B}, np.array([1.0, 0.0]))
    cost = {"z": VectorMap([[0.0, 0.0, 1.0]])}
    sdp = SDP((VectorVariable("z", 3, nonnegative=True),), cost, (rows,), constant=0.5)
    found = certify(sdp, {"rows": np.array([1.0, 0.0])})
    assert found.bound == 0.5
    assert "by itself" in found.argument


def test_without_an_objective_every_feasible_point_is_optimal():
    trace = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {"X": 0.0 * Trace(2)}, (trace,), constant=0.1)
    assert certify(sdp, {"trace": np.array([3.0])}).bound == 0.1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_multipliers_that_are_missing_or_not_finite_prove_nothing(bad):
    sdp = path([1, 2])
    assert certify(sdp, on_edges(sdp, np.array([1.0, bad]))).bound is None
    assert "returned no multipliers" in certify(sdp, {}).argument


def test_after_the_deadline_multipliers_are_tried_as_they_are():
    sdp, weights = path(LENGTHS), path_weights(LENGTHS)
    over = Deadline(0.0)
    assert certify(sdp, on_edges(sdp, 0.9 * weights), deadline=over).bound is None
    assert certify(sdp, on_edges(sdp, 1.1 * weights), deadline=over).bound == pytest.approx(
        1.1 * float(path_optimum(LENGTHS))
    )


def test_a_goal_that_is_reached_ends_the_search(monkeypatch):
    def refuse(*_):
        raise AssertionError("another way was tried")

    sdp, weights = path(LENGTHS), path_weights(LENGTHS)
    monkeypatch.setattr(inwards, "identity_multipliers", refuse)
    duals = on_edges(sdp, 0.9 * weights)
    goal = 1.01 * float(path_optimum(LENGTHS))
    assert certify(sdp, duals, goal=goal).bound <= goal
    with pytest.raises(AssertionError, match="another"):
        certify(sdp, duals, goal=0.99 * goal)


# -- what the checker counts ---------------------------------------------------------------------


def test_slack_that_may_be_negative_within_the_radius_proves_nothing():
    # Minimise z <= 5 with multipliers that leave z the slack 1 + y.
    rows = (Rows("top", "<=", {"z": VectorMap([[1.0]])}, np.array([5.0])),)
    cost = {"z": VectorMap([[1.0]])}
    sdp = SDP((VectorVariable("z", 1, nonnegative=True),), cost, rows)
    form = sdp.remembered(DualForm)
    assert form.bound(np.array([1.0])) == pytest.approx(-5.0)
    assert form.bound(np.array([1.0]), 0.9) == pytest.approx(-1.9 * 5.0)
    for y, radius in ((1.0, 1.1), (-0.5, 0.0), (-1e-30, 0.0)):
        with pytest.raises(UnprovedError, match="scalar"):
            form.bound(np.array([y]), radius)


def test_slack_that_vanishes_by_rounding_alone_is_not_zero():
    """What is computed of -(0.1 * 3) + 0.1 y at y = 3 is zero, and the exact number is below it."""
    cost = {"X": InnerProduct([[-(0.1 * 3.0)]])}
    rows = (Rows("row", "==", {"X": InnerProduct([[0.1]])}, np.ones(1)),)
    form = DualForm(SDP((PsdVariable("X", 1),), cost, rows))
    assert not np.any(form.matrix_slack("X", np.full(1, 3.0))[0])
    with pytest.raises(UnprovedError, match="not positive semidefinite"):
        form.bound(np.full(1, 3.0))


@pytest.mark.parametrize("seed", range(5))
def test_multipliers_at_their_limits_leave_no_negative_slack(seed):
    rng = np.random.default_rng(seed)
    a, c = rng.standard_normal(50), rng.random(50)
    rows = Rows("rows", "==", {"z": VectorMap(np.diag(a))}, np.ones(50))
    cost = {"z": VectorMap(c[None])}
    form = DualForm(SDP((VectorVariable("z", 50, nonnegative=True),), cost, (rows,)))
    lower, upper = form.box
    limits = np.where(a > 0.0, lower, upper)
    for x, y, z in zip(a, c, limits, strict=True):
        assert 0 <= Fraction(y) + Fraction(x) * Fraction(z) <= Fraction(1e-15)


def test_the_sign_of_slack_is_that_of_fractions_however_much_cancels():
    # c + a y is the rounding error of the product a y.
    rng = np.random.default_rng(0)
    a, y = rng.standard_normal(50), rng.standard_normal(50)
    a[0] = y[0] = 1.0 + 2.0**-30
    rows = Rows("rows", "==", {"z": VectorMap(np.diag(a))}, np.ones(50))
    cost = {"z": VectorMap(-(a * y)[None])}
    form = DualForm(SDP((VectorVariable("z", 50, nonnegative=True),), cost, (rows,)))
    exact = [Fraction(p) * Fraction(q) - Fraction(p * q) for p, q in zip(a, y, strict=True)]
    low, high = form.scalar_slack(y)
    for least, s, most in zip(low, exact, high, strict=True):
        assert Fraction(least) <= s <= Fraction(most)
        assert s == 0 or least * most > 0.0


# -- slack and value, with all rounding ------------------------------------------------------------


def test_slack_and_value_enclose_what_fractions_say():
    rng = np.random.default_rng(0)
    maps = {
        "X": QuadraticForms(rng.standard_normal((3, 4))),
        "z": VectorMap(rng.standard_normal((3, 2))),
    }
    rhs, constant = rng.standard_normal(3), 0.7
    variables = (PsdVariable("X", 4), VectorVariable("z", 2, curvature=np.array([0.3, 1.7])))
    cost = {"X": InnerProduct(np.eye(4)), "z": VectorMap(rng.standard_normal((1, 2)))}
    sdp = SDP(variables, cost, (Rows("rows", "==", maps, rhs),), constant=constant)
    form, y, radius = DualForm(sdp), rng.standard_normal(3), 1e-3 * rng.random(3)
    for at, far in ((y, 0.0), (y, radius)):
        for exact in (at, at + 0.99 * far, at - 0.99 * far):
            v = [Fraction(float(x)) for x in exact]
            B, c = maps["z"].matrix().toarray(), form.c
            s = [Fraction(c[j]) + sum(Fraction(B[e, j]) * v[e] for e in range(3)) for j in range(2)]
            low, high = form.scalar_slack(at, far)
            assert all(
                Fraction(a) <= t <= Fraction(b) for a, t, b in zip(low, s, high, strict=True)
            )
            value = Fraction(constant) - sum(Fraction(b) * t for b, t in zip(rhs, v, strict=True))
            value -= sum(
                t * t / 2 / Fraction(q) for t, q in zip(s, variables[1].curvature, strict=True)
            )
            assert Fraction(form.value(at, far)) <= value
            f = maps["X"].vectors.toarray()
            slack, around = form.matrix_slack("X", at, far)
            slack, around = (
                np.asarray(m.toarray() if sp.issparse(m) else m) for m in (slack, around)
            )
            for i in range(4):
                for j in range(4):
                    entry = Fraction(int(i == j)) + sum(
                        v[e] * Fraction(f[e, i]) * Fraction(f[e, j]) for e in range(3)
                    )
                    assert abs(entry - Fraction(slack[i, j])) <= Fraction(around[i, j])
    assert form.value(y) == pytest.approx(sdp.dual_value({"rows": y}), rel=1e-12)


def test_no_square_of_a_slack_is_lost_to_underflow():
    # The minimum of q z^2 / 2 + c z, whose c^2 is no double.
    c, q = 1e-170, 1e-200
    z = VectorVariable("z", 1, curvature=np.array([q]))
    form = DualForm(SDP((z,), {"z": VectorMap(np.array([[c]]))}, ()))
    least = -(Fraction(c) ** 2) / 2 / Fraction(q)
    assert least * 2 < Fraction(form.bound(np.zeros(0))) <= least


def test_coefficients_are_the_slack_of_each_multiplier_and_the_target_is_the_identity():
    """Entries of matrices one after another, and scalars that are free or seen more than once."""
    variables = (
        PsdVariable("X", 2),
        PsdVariable("Y", 3),
        VectorVariable("t", 2, nonnegative=True),
        VectorVariable("f", 1),
    )
    first = {
        "Y": Entries(3, [[0, 1], [2, 2]]),
        "t": VectorMap([[2.0, 0.0], [3.0, -1.0]]),
        "f": VectorMap([[0.0], [5.0]]),
    }
    rows = (
        Rows("first", "==", first, np.ones(2)),
        Rows("second", "==", {"X": Diagonal(2)}, np.ones(2)),
    )
    form = DualForm(SDP(variables, {}, rows))
    found, target = _coefficients(form)
    identity = []
    for k in range(form.b.size):
        y = form.named(np.eye(form.b.size)[k])
        slack = [svec(form.sdp.weighted(v.name, y) + np.zeros((v.n, v.n))) for v in variables[:2]]
        scalars = (form.columns @ np.eye(form.b.size)[k])[[0, 2]]
        identity.append(np.concatenate([*slack, scalars]))
    whole = np.array(identity)
    aim = np.concatenate([svec(np.eye(2)), svec(np.eye(3)), [1.0, 0.0]])
    seen = np.any(whole, axis=0)
    np.testing.assert_allclose(found.toarray(), whole[:, seen])
    np.testing.assert_array_equal(target, aim[seen])


def test_the_identity_is_met_as_nearly_as_by_least_squares():
    """By scalars that several constraints read; those of one constraint limit its multiplier."""
    rng = np.random.default_rng(3)
    B = np.hstack([rng.uniform(0.1, 1.0, (2, 6)), [[1.0], [0.0]]])
    rows = Rows("rows", "==", {"z": VectorMap(B)}, np.ones(2))
    sdp = SDP((VectorVariable("z", 7, nonnegative=True),), {}, (rows,))
    exact = np.linalg.lstsq(B[:, :6].T, np.ones(6))[0]
    assert identity_multipliers(sdp) == pytest.approx(exact, rel=1e-6)


def test_inequalities_that_the_identity_does_not_need_have_a_little_beside_free_scalars():
    """So that a box around multipliers keeps their signs; without free scalars there is no box."""
    below = Rows("below", "<=", {"X": -1.0 * Entries(2, [[0, 0]])}, np.ones(1))
    for is_free in (False, True):
        free = (VectorVariable("f", 1),) if is_free else ()
        side = {"X": Entries(2, [[0, 1]]), **({"f": VectorMap([[1.0]])} if is_free else {})}
        across = Rows("across", "==", side, np.ones(1))
        diagonal = Rows("diagonal", "==", {"X": Diagonal(2)}, np.ones(2))
        sdp = SDP((PsdVariable("X", 2), *free), {}, (below, across, diagonal))
        v = sdp.remembered(DualForm).named(identity_multipliers(sdp))
        assert v["diagonal"] == pytest.approx(np.ones(2), rel=1e-6)
        assert v["below"] == pytest.approx(1e-3 * is_free, rel=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_limits_of_multipliers_are_mixed_with_whatever_their_sign(sign):
    """Penalties of four let multipliers go up to four, or down to minus four."""
    variables = (PsdVariable("X", 2), VectorVariable("z", 2, nonnegative=True))
    side = {"X": sign * Diagonal(2), "z": VectorMap(-sign * np.eye(2))}
    rows = Rows("rows", "==", side, np.ones(2))
    sdp = SDP(variables, {"z": VectorMap(np.full((1, 2), 4.0))}, (rows,))
    (found,) = (way.d for way in ways(sdp.remembered(DualForm), np.zeros(2)) if way.is_point)
    assert found == pytest.approx(4.0 * sign * np.ones(2))


@pytest.mark.parametrize("corner", [0.25, -0.25])
def test_a_matrix_that_no_way_moves_has_to_be_positive_semidefinite_already(corner):
    def shares_of(*others):
        cost = {"X": InnerProduct([[0.0, 1.0], [1.0, 0.0]]), **dict(others)}
        matrices = tuple(PsdVariable(name, 2 if name == "X" else 1) for name in cost)
        rows = Rows("diagonal", "==", {"X": Diagonal(2)}, np.ones(2))
        form = SDP(matrices, cost, (rows,)).remembered(DualForm)
        y = np.full(2, 0.5)
        return [shares(form, y, way)[0] for way in ways(form, y) if not way.is_point]

    other = ("Y", InnerProduct([[corner]]))
    if corner > 0.0:
        assert shares_of(other) == pytest.approx(shares_of())
    else:
        with pytest.raises(UnprovedError, match="'Y'"):
            shares_of(other)


def test_sizes_of_moves_onto_equations_are_those_of_the_multipliers():
    rng = np.random.default_rng(4)
    lmi = Lmi("cone", 2, {"f": VectorMap(rng.normal(size=(3, 1)))}, np.ones(3))
    rows = Rows("rows", "==", {"f": VectorMap([[1.0], [2.0]]), "X": Diagonal(2)}, np.ones(2))
    variables = (VectorVariable("f", 1), PsdVariable("X", 2))
    form = DualForm(SDP(variables, {"X": Trace(2)}, (rows,), (lmi,)))
    y = rng.uniform(0.5, 1.0, form.b.size)
    one = form._squared_sizes(y)
    for unit in (2.0**-30, 2.0**10):
        assert form._squared_sizes(unit * y) == pytest.approx(unit**2 * one, rel=1e-12)
    # What is a billionth of the largest moves as if it were as large as that.
    assert form._squared_sizes(np.append(y[:-1] * 0.0, 8.0)).min() >= 6.4e-8 * (1.0 - 1e-9)


def test_multipliers_with_limits_move_no_farther_than_to_these():
    B, c = VectorMap(np.diag([2.0, -4.0, 1.0])), VectorMap([[1.0, 2.0, 64.0]])
    rows = Rows("rows", "==", {"z": B}, np.ones(3))
    form = DualForm(SDP((VectorVariable("z", 3, nonnegative=True),), {"z": c}, (rows,)))
    y = np.array([-0.25, 0.375, 2.0])
    # Above -1/2, below 1/2 and above -64: the last one moves by as much as the largest is.
    assert form._squared_sizes(y) == pytest.approx(2.0 * np.array([0.25, 0.125, 2.0]))
    assert form._squared_sizes(0.0 * y) == pytest.approx([0.5, 0.5, 1.0])


def test_a_matrix_has_entries_where_any_of_its_parts_has():
    none, some = sp.csr_array((2, 2)), sp.csr_array(np.diag([0.0, 3.0]))
    column, zero = np.ones((2, 1)), np.zeros(1)
    for sparse, weights, expected in (
        (none, zero, False),
        (some, zero, True),
        (none, np.ones(1), True),
        (some, np.ones(1), True),
    ):
        assert has_entries(Outer(sparse, column, weights)) is expected
    assert not has_entries(sp.csr_array(([0.0], ([0], [1])), shape=(2, 2)))
    assert has_entries(np.eye(2))


def test_forms_are_stored_as_they_are_where_each_is_met_once():
    forms = QuadraticForms(np.eye(3)[:2])
    assert _stays_exact(forms)
    assert _stays_exact(np.array([[0.3, 0.2]]) @ forms)
    assert not _stays_exact(np.array([[0.3, 0.2], [0.0, 1.0]]) @ forms)
    others = InnerProduct(np.eye(3))
    assert not _stays_exact(others)
    assert not _stays_exact(np.array([[0.3]]) @ others)


@pytest.mark.parametrize("weights", [[[1.0, 0.0]], [[0.3, 0.2]]])
def test_slack_of_a_small_cost_of_forms_encloses_the_exact_one(weights):
    rng = np.random.default_rng(4)
    f, y = rng.standard_normal((2, 4)), rng.standard_normal(4)
    rows = Rows("rows", "==", {"X": Diagonal(4)}, np.ones(4))
    cost = QuadraticForms(f[:1]) if weights[0][1] == 0.0 else np.array(weights) @ QuadraticForms(f)
    slack, around = DualForm(SDP((PsdVariable("X", 4),), {"X": cost}, (rows,))).matrix_slack("X", y)
    products = [np.outer(v, v) for v in fractions(f)]
    exact = sum(Fraction(w) * A for w, A in zip(weights[0], products, strict=True))
    missed = abs(fractions(slack) - exact - np.diag(fractions(y)))
    assert np.max(missed) > 0
    assert np.all(missed <= fractions(around))
    assert np.all(fractions(around) <= Fraction(1e-13))


@pytest.mark.parametrize("rows", ["squares", "lengths", "products"])
@pytest.mark.parametrize("weights", [None, [[0.3]], [[0.3, 0.2]]])
def test_slack_of_a_cost_that_is_never_multiplied_out_encloses_the_exact_one(
    rows, weights, monkeypatch
):
    """A cost of quadratic forms beside rows that leave it apart, and those that fill the matrix."""
    monkeypatch.setattr("sdpdr.linalg.maps.forms._OUTER_FROM", 0)
    monkeypatch.setattr("sdpdr.linalg.maps.forms._VECTOR_SHARE", 1.0)
    rng = np.random.default_rng(4)
    f, g = rng.standard_normal((1, 4)), rng.standard_normal((2, 4))
    at = {
        "squares": (QuadraticForms(g), [np.outer(v, v) for v in fractions(g)]),
        "lengths": (
            SquaredEdgeLengths(4, [[0, 1], [1, 3]]),
            [np.outer(v, v) for v in fractions(np.array([[1, -1, 0, 0], [0, 1, 0, -1.0]]))],
        ),
        "products": (InnerProduct(np.ones((4, 4))), [fractions(np.ones((4, 4)))]),
    }
    linear_map, matrices = at[rows]
    share = [[1.0]] if weights is None else weights
    forms = QuadraticForms(np.vstack([f] * len(share[0])))
    cost = forms if weights is None else np.array(weights) @ forms
    objective = sum(map(Fraction, share[0])) * np.outer(fractions(f[0]), fractions(f[0]))
    b = np.ones(linear_map.m)
    sdp = SDP((PsdVariable("X", 4),), {"X": cost}, (Rows("rows", "==", {"X": linear_map}, b),))
    assert isinstance(sdp.cost("X"), Outer)
    y = rng.standard_normal(linear_map.m)
    slack, around = DualForm(sdp).matrix_slack("X", y)
    assert isinstance(slack, Outer) == (rows != "products")
    exact = objective + sum(Fraction(v) * A for v, A in zip(y, matrices, strict=True))
    if isinstance(slack, Outer):
        F, c = fractions(slack.columns), fractions(slack.weights)
        found = fractions(slack.sparse) + (F * c) @ F.T
    else:
        found = fractions(slack)
    assert np.all(abs(found - exact) <= fractions(around))
    assert np.all(fractions(around) <= Fraction(1e-13))
