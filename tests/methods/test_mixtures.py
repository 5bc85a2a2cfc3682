"""Sums of blocks from several methods: solvers agree, and more rows never raise a maximum."""

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, datasets, graphs, methods
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import AtMost, Block, Maximize, Var
from sdpdr.program.point import VectorVariable

ROLL, ANGLE = datasets.swiss_roll(14, seed=0)
GRAPH = graphs.knn(ROLL, 3)
SIDE = ((ANGLE - ANGLE.mean()) / ANGLE.std())[:, None]
FAR = graphs.furthest_pairs(GRAPH)
WALK = "RRRRDDLLLL"


def steps():
    views, position = datasets.window_agent(WALK, window=16, scene=96)
    states = graphs.sequences(views, 3)
    return states, position, graphs.transitions(states, WALK).pairs()


def three_objectives():
    spread = blocks.Spread(GRAPH.n, FAR.edges, FAR.multiplicity)
    return methods.mvu(GRAPH) + spread + blocks.Dependence(0.3 * SIDE)


def soft_angles(penalty=1.0):
    angles = graphs.knn(ROLL, 3, angles=True)
    rows = sdpdr.soften(blocks.Lengths(angles, exact=True), penalty)
    return methods.colored_mvu(GRAPH, SIDE) + rows


def separated():
    labels = np.where(np.arange(GRAPH.n) % 3 == 0, np.median(ANGLE) < ANGLE, -1)
    return methods.ism(GRAPH, labels, furthest="all")


def separated_and_apart():
    return separated() + blocks.Apart(GRAPH.n, FAR.edges, FAR.sqdist)


def anchored():
    motion = {"R": (1.0, 0.0), "D": (0.0, 1.0), "L": (-1.0, 0.0)}
    place = np.cumsum([(0.0, 0.0), *(motion[a] for a in WALK)], axis=0)
    near = graphs.sequences(place, 3)
    longer = graphs.from_edges(near.n, near.edges, 1.1 * near.sqdist)
    fixes = np.array([0, 4, 6])
    return longer, fixes, methods.anchored_mvu(longer, fixes, place[fixes], blocks.Slack(5.0))


def anchored_and_acting():
    graph, fixes, model = anchored()
    others = np.setdiff1d(np.arange(graph.n), fixes)
    row = np.full(graph.n, -1)
    row[others] = 2 + np.arange(others.size)
    before, after = (row[pairs] for pairs in graphs.transitions(graph, WALK).pairs())
    free = (before >= 0).all(axis=1) & (after >= 0).all(axis=1)
    return model + blocks.Actions(2 + others.size, before[free], after[free], gram="Z")


def banded(width=0.3):
    views, position = datasets.window_agent(WALK, window=16, scene=96)
    graph = graphs.sequences(views, 3)
    return graph, methods.colored_mvu(graph, position[:, 0], blocks.Band(width))


def acting(graph):
    return blocks.Actions(graph.n, *graphs.transitions(graph, WALK).pairs())


def banded_and_acting(penalty=0.05, width=0.3):
    graph, model = banded(width)
    return model + sdpdr.soften(acting(graph), penalty)


MIXTURES = [
    three_objectives,
    soft_angles,
    separated_and_apart,
    anchored_and_acting,
    banded_and_acting,
]
# By three solvers; one solves them all below.
DEAR = (banded_and_acting, soft_angles)


def value(model):
    solution = sdpdr.solve(model, "clarabel", tol=1e-6)
    assert solution.certified(1e-5)
    return solution.value


def assert_falls(*values):
    """Each is at most the one before, up to the accuracy of the solver."""
    assert np.all(np.diff(values) <= 1e-6 * np.abs(values[:-1]))


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "mixture",
    [
        pytest.param(f, id=f.__name__, marks=pytest.mark.nightly if f in DEAR else ())
        for f in MIXTURES
    ],
)
def test_solvers_agree_and_prove_it(mixture):
    model = mixture()
    found = [sdpdr.solve(model, solver, tol=1e-6) for solver in ("lowrank", "clarabel", "cvxopt")]
    for solution in found:
        assert solution.certified(2e-6)
        assert solution.bound >= solution.value - 1e-7 * abs(solution.value)
        assert solution.value == pytest.approx(found[0].value, rel=2e-6)
    # Any solver's bound is one on what any other has found.
    assert min(s.bound for s in found) >= (1.0 - 1e-7) * max(s.value for s in found)


@pytest.mark.daily(2)
@pytest.mark.parametrize("mixture", MIXTURES, ids=lambda f: f.__name__)
def test_every_block_keeps_its_laws_and_the_answer_its_rows(mixture):
    model = mixture()
    for block in model.blocks:
        assert "every law holds" in sdpdr.check_block(block)
    solution = sdpdr.solve(model, "clarabel", tol=1e-6)
    values = {name: value for name, value in solution.values.items() if name in ("K", "Z")}
    size = np.abs(np.diag(next(iter(values.values())))).max()
    assert max(model.violations(values).values()) < 1e-5 * size
    assert model.objective(values) == pytest.approx(solution.value, rel=1e-5)


def test_a_sum_of_objectives_is_at_most_the_sum_of_their_maxima():
    parts = [
        value(methods.mvu(GRAPH)),
        value(methods.mfnu(GRAPH, pairs=FAR)),
        value(methods.colored_mvu(GRAPH, 0.3 * SIDE)),
    ]
    assert_falls(sum(parts), value(three_objectives()), max(parts))


def test_dearer_angles_lower_the_maximum_down_to_that_of_the_data():
    flat = ROLL - ROLL.mean(axis=0)
    soft = soft_angles()
    data = soft.objective({"K": flat @ flat.T})
    falling = [value(soft_angles(penalty)) for penalty in (0.3, 1.0, 30.0)]
    assert_falls(value(methods.colored_mvu(GRAPH, SIDE)), *falling, data)


@pytest.mark.nightly
def test_pairs_kept_apart_lower_the_maximum():
    plain, model = separated(), separated_and_apart()
    assert value(model) < (1.0 - 1e-3) * value(plain)
    ism = sdpdr.solve(plain, "clarabel").values
    assert model.violations(ism)["apart"] > 1.0


def test_actions_lower_the_maximum_of_anchored_points():
    _, _, plain = anchored()
    assert_falls(value(plain), value(anchored_and_acting()))


@pytest.mark.nightly
def test_actions_lower_the_maximum_the_more_they_cost():
    graph, free = banded()
    penalized = [value(banded_and_acting(penalty)) for penalty in (0.05, 0.5)]
    assert_falls(value(free), *penalized, value(free + acting(graph)))
    assert_falls(value(banded_and_acting(width=0.4)), penalized[0])


@pytest.mark.nightly
def test_landmarks_are_bounded_by_what_is_left_when_blocks_are():
    _, free = banded()
    penalized = banded_and_acting()
    whole = value(penalized)
    narrow = sdpdr.solve(penalized, form="landmark", landmarks=9)
    assert 0.0 < narrow.value <= whole * (1.0 + 1e-6)
    assert narrow.bound >= whole
    alone = sdpdr.solve(free, form="landmark", landmarks=9)
    assert alone.bound >= value(free) >= whole * (1.0 - 1e-6)


class Shorter(Block):
    """Rewards what the first edge of a ring is shorter than one."""

    def variables(self):
        yield VectorVariable("t", 1, nonnegative=True)

    def terms(self):
        t = np.eye(1) @ Var("t")
        yield AtMost(SquaredEdgeLengths(6, [[0, 1]]) @ Var("K") + t, 1.0)
        yield Maximize(3.0 * t)


@pytest.mark.parametrize("solver", ["lowrank", "clarabel", "cvxopt"])
def test_a_scalar_of_one_row_may_be_maximised(solver):
    """Its value is what the row leaves; as slack it would be zero."""
    solution = sdpdr.solve(methods.mvu(graphs.cycle(6)) + Shorter(), solver, tol=1e-6)
    assert solution.value == pytest.approx(7.5896835, rel=1e-6)
    assert 0.9 < solution.values["t"][0] < 1.0
    assert solution.certified(1e-6)
