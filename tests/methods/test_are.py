"""Action Respecting Embedding: formulas, oracles, what it equals, and what it refuses."""

import numpy as np
import pytest

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.blocks import Actions, Band, Centered, Coinciding, Gram, Isometry, Slack, Variance
from sdpdr.errors import DataError, DisconnectedGraphError, InfeasibleError, ShapeError

LINE = "R" * 12 + "L" * 6
WALK = datasets.random_walk(36)
INVERSE = {"L": "R", "U": "D"}
LENGTHS = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 0.7])
PATH = graphs.path(LENGTHS)


@pytest.fixture(scope="module")
def line():
    X, position = datasets.window_agent(LINE, window=16, grain=0.1, scene=96)
    return graphs.sequences(X, 3), position[:, 0]


@pytest.fixture(scope="module")
def walk():
    X, position = datasets.window_walk(36)
    return graphs.sequences(X, 4), position


def value(model, solver="clarabel", **options):
    solution = sdpdr.solve(model, solver, **options)
    assert solution.certified(1e-6)
    return float(solution.value)


# -- oracles ---------------------------------------------------------------------------------------


def test_one_action_makes_equal_steps_of_the_shortest_length():
    solution = sdpdr.solve(methods.are(PATH, "A" * 7), tol=1e-8)
    n = PATH.n
    assert solution.value == pytest.approx(0.25 * n * (n**2 - 1) / 12.0, rel=1e-7)
    steps = np.diff(solution.embedding(1), axis=0)
    np.testing.assert_allclose(np.abs(steps), 0.5, rtol=1e-4)
    assert solution.gap < 1e-7


@pytest.mark.daily(1)
@pytest.mark.parametrize("isometry", ["inequality", Band(0.1), Slack(20.0)], ids=str)
def test_without_repeated_actions_it_is_mvu(isometry):
    model = methods.are(PATH, "ABCDEFG", isometry=isometry)
    plain = methods.mvu(PATH, isometry)
    assert model.size() == plain.size()
    assert value(model, tol=1e-8) == pytest.approx(value(plain, tol=1e-8), rel=1e-6)


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "inverse"),
    [
        ("clarabel", None),
        ("clarabel", INVERSE),
        pytest.param("scs", None, marks=pytest.mark.nightly),
        pytest.param("lowrank", INVERSE, marks=pytest.mark.nightly),
    ],
)
def test_solvers_agree_on_the_walk(walk, solver, inverse):
    expected = 1324.0599606 if inverse is None else 1168.4322094
    model = methods.are(walk[0], WALK, inverse=inverse)
    solution = sdpdr.solve(model, solver, tol=1e-6)
    assert solution.value == pytest.approx(expected, rel=2e-6)
    assert solution.bound == pytest.approx(expected, rel=2e-6)
    assert solution.certified(1e-5)


@pytest.mark.nightly
def test_the_bound_is_that_of_the_weighted_laplacian(walk):
    graph, _ = walk
    model = methods.are(graph, WALK)
    solution = sdpdr.solve(model, "clarabel", tol=1e-8)
    kept = next(b.graph for b in model.blocks if hasattr(b, "graph"))
    actions = next(b for b in model.blocks if type(b).__name__ == "Actions")
    w, z = solution.duals["isometry"], solution.duals["actions"]
    matrix = kept.laplacian(w).toarray()
    for pairs, sign in ((actions.before, 1.0), (actions.after, -1.0)):
        for (i, j), weight in zip(pairs, sign * z, strict=True):
            matrix[[i, j], [i, j]] += weight
            matrix[[i, j], [j, i]] -= weight
    low = np.linalg.eigvalsh(matrix)
    assert abs(low[0]) < 1e-9 * low[-1]
    assert low[1] == pytest.approx(1.0, abs=1e-6)
    assert w.min() >= 0.0
    assert kept.sqdist @ w / low[1] == pytest.approx(solution.bound, rel=1e-6)


# -- what actions do -------------------------------------------------------------------------------


def test_smoother_than_mvu_on_the_line(line):
    graph, position = line
    steps = graphs.transitions(graph, LINE)
    plain = sdpdr.solve(methods.mvu(graph), "lowrank", tol=1e-7)
    rigid = sdpdr.solve(methods.are(graph, LINE), "clarabel", tol=1e-7)
    fit = [np.corrcoef(s.embedding(1)[:, 0], position)[0, 1] ** 2 for s in (plain, rigid)]
    assert fit[0] == pytest.approx(0.9728, abs=1e-3)
    assert fit[1] == pytest.approx(0.9984, abs=1e-3)
    full = rigid.embedding(graph.n)
    assert graphs.step_variation(steps, plain.embedding(graph.n)) > 0.2
    assert graphs.step_variation(steps, full) < 1e-6
    assert graphs.action_error(steps, full) < 1e-6
    motions = graphs.motions(steps, full)
    assert all(m.residual < 1e-3 * rigid.spectrum()[0] ** 0.5 for m in motions.values())


def test_states_that_coincide_are_one_point(walk):
    graph, _ = walk
    inverse = {"L": "R", "U": "D"}
    steps = graphs.transitions(graph, WALK, inverse=inverse)
    solution = sdpdr.solve(methods.are(graph, steps), "clarabel")
    Y = solution.embedding(5)
    assert np.abs(Y - Y[steps.place]).max() < 1e-6
    assert graphs.action_error(steps, solution.embedding(20)) < 1e-4
    assert solution.value < 1324.0


def test_a_regular_simplex_is_strictly_feasible(walk):
    graph, _ = walk
    model = methods.are(graph, WALK)
    simplex = np.eye(graph.n) - 1.0 / graph.n
    broken = model.violations({"K": 0.4 * graph.sqdist.min() * simplex})
    assert max(broken.values()) < 1e-12


# -- presolve and relaxation -----------------------------------------------------------------------


def test_presolve_leaves_out_what_follows(walk):
    graph, _ = walk
    sizes = methods.are(graph, WALK).size()["rows"]
    assert (graph.m, sizes["isometry"], sizes["actions"]) == (113, 89, 141)


@pytest.mark.nightly
@pytest.mark.parametrize("inverse", [INVERSE, None])
def test_presolve_changes_no_value(walk, inverse):
    graph, _ = walk
    steps = graphs.transitions(graph, WALK, inverse=inverse)
    model = Gram(36) + Centered(36) + Isometry(graph) + Actions(36, *steps.pairs()) + Variance(36)
    if inverse:
        model = model + Coinciding(36, steps.coinciding)
    expected = value(methods.are(graph, steps))
    # Edges between states that coincide leave rows of zeros, which `lowrank` does not mind.
    solver = "lowrank" if inverse else "scs"
    assert value(model, solver) == pytest.approx(expected, rel=2e-6)


@pytest.mark.nightly
def test_fewer_rows_bound_more_and_more_closely(walk):
    graph, _ = walk
    found = [value(methods.are(graph, WALK, hops=h), "scs" if h else "lowrank") for h in (0, 2)]
    assert np.all(np.diff([*found, 1324.0599606]) <= 1e-3)
    assert found[0] < value(methods.mvu(graph), "lowrank") - 100.0
    assert methods.are(graph, WALK, hops=36).size()["rows"]["actions"] == 141


def test_the_error_of_a_relaxation_tells_that_it_is_exact():
    path = graphs.path(np.array([1.0, 2.0, 0.5, 1.5]))
    steps = graphs.transitions(path, "AAAA")
    solution = sdpdr.solve(methods.are(path, steps, hops=0), "lowrank", tol=1e-9)
    assert "actions" not in solution.duals
    assert graphs.action_error(steps, solution.embedding(2)) < 1e-6
    assert solution.value == pytest.approx(0.25 * 5 * 24 / 12.0, rel=1e-7)


@pytest.mark.nightly
def test_merged_duplicates_weigh_as_often_as_they_occur():
    X, _ = datasets.window_agent("RRRRLLLL", grain=0.0)
    with pytest.warns(sdpdr.errors.DuplicatePointsWarning):
        graph = graphs.sequences(X, 2)
    model = methods.are(graph, "RRRRLLLL")
    assert "Σ_i c_i K_ii" in model.describe()
    steps = graphs.transitions(graph, "RRRRLLLL")
    assert len(steps.coinciding) == 0
    assert sdpdr.solve(model).certified()


# -- refusals --------------------------------------------------------------------------------------


def test_prescribed_lengths_of_a_chain_must_agree():
    with pytest.raises(InfeasibleError, match=r"edges \(2, 3\) and \(0, 1\) equally long"):
        methods.are(PATH, "A" * 7, isometry="equality")
    with pytest.raises(InfeasibleError, match="wider band"):
        methods.are(PATH, "A" * 7, isometry=Band(0.01))
    even = methods.are(graphs.path(np.ones(4)), "AAAA", isometry="equality")
    assert value(even) == pytest.approx(5 * 24 / 12.0, rel=1e-5)


def test_states_that_coincide_cannot_keep_a_length():
    graph = graphs.from_edges(3, [[0, 1], [1, 2], [0, 2]], np.ones(3))
    with pytest.raises(InfeasibleError, match="nodes 0 and 2 to coincide"):
        methods.are(graph, "RL", isometry="equality", inverse={"L": "R"})


def test_wrong_input_is_refused():
    with pytest.raises(ShapeError, match="7 are needed"):
        methods.are(PATH, "AAA")
    with pytest.raises(ShapeError, match="last state of a sequence has none"):
        methods.are(PATH, "A" * 8)
    with pytest.raises(DataError, match="add up to 7"):
        methods.are(PATH, "A" * 6, [3, 4])
    with pytest.raises(DataError, match="hops=-1 is too small"):
        methods.are(PATH, "A" * 7, hops=-1)
    apart = graphs.from_edges(4, [[0, 1], [2, 3]], np.ones(2))
    with pytest.raises(DisconnectedGraphError):
        methods.are(apart, "AA", [2, 2])
