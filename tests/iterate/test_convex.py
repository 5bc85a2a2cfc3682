"""The driver: where it ends, that it goes down, that it resumes, what it refuses."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods, minimize, psd
from sdpdr.errors import DataError, ModelError, ShapeError, UnknownNameError
from sdpdr.iterate import ConvexIteration, IterationStatus, Schur, Trailing
from sdpdr.linalg import Diagonal, Entries
from sdpdr.program import SDP, Factor, PsdVariable
from sdpdr.program.rows import Rows

PATH = graphs.path([1.0] * 4)
STAR = graphs.from_edges(5, [[0, 1], [0, 2], [0, 3], [0, 4]], [1.0] * 4)
GRAM = {"solver": "clarabel", "form": "gram"}


def path(variance, **options):
    return ConvexIteration(methods.isometric(PATH, variance=variance), 1, **{**GRAM, **options})


@pytest.fixture(scope="module")
def roll():
    return sdpdr.datasets.swiss_roll(12, seed=0)[0]


@pytest.fixture(scope="module")
def stalled():
    return path(6.0, start="random", seed=1).run()


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    ("solver", "form"),
    [
        ("clarabel", "gram"),
        ("clarabel", "lmi"),
    ],
)
def test_the_star_has_an_unfolding_on_a_line(solver, form):
    model = methods.isometric(STAR, "equality", variance=4.0 - 1e-6)
    state = ConvexIteration(model, 1, solver=solver, form=form, tol=1e-5).run()
    assert state.status is IterationStatus.RANK_REACHED
    assert state.spectrum()[0] == pytest.approx(4.0, abs=1e-4)


@pytest.mark.nightly
def test_the_straight_path_is_found_at_full_variance():
    state = path(10.0 - 1e-9).run()
    assert state.reached
    np.testing.assert_allclose(np.sort(state.embedding(1)[:, 0]), np.arange(-2, 3), atol=1e-3)


def test_limits_that_never_act_make_no_matrix_small():
    """The only feasible matrix is the identity, of rank three."""
    X = psd("X", 3)
    limits = (X.diagonal() <= 1e9) + (X.trace() <= 1e9)
    model = minimize(X.trace()) + (X - np.eye(3) == 0.0) + limits
    assert not ConvexIteration(model, rank=1).run().reached


def test_a_stall_is_a_status_with_the_best_answer(stalled):
    """Foldings of the path have only certain traces, and from this start the iteration stalls."""
    assert stalled.status is IterationStatus.STALLED
    assert "Rank not reached" in stalled.status.advice
    assert stalled.excess == pytest.approx(0.38168, abs=1e-4)
    assert stalled.record.share == pytest.approx(stalled.excess / stalled.record.trace)
    assert stalled.embedding(1).shape == (5, 1)
    assert not stalled.reached


@pytest.fixture(scope="module")
def restarted():
    return path(6.0, start="random", seed=1, restarts=5).run()


@pytest.mark.nightly
def test_a_stalled_state_goes_on_with_more_starts(stalled, restarted):
    resumed = path(6.0, start="random", seed=1, restarts=5).run(stalled)
    assert resumed.reached
    assert len(resumed.history) == len(restarted.history)
    assert len(stalled.history) < len(resumed.history)


@pytest.mark.nightly
def test_neither_excess_nor_objective_rises(roll):
    graph = graphs.knn(roll, 4)
    found = path(3.0, start="random", seed=2).run()
    kept = ConvexIteration(methods.mvu(graph), 1, weight=2.0, **GRAM).run()
    for state in (found, kept):
        objective = np.array([r.objective for r in state.history])
        assert len(objective) > 2
        assert np.all(np.diff(objective) <= 1e-5 * np.abs(objective[:-1]))
        assert not any("rose" in r.note for r in state.history)


@pytest.mark.nightly
def test_steps_are_a_run_and_a_run_can_be_cut_in_two():
    whole = path(3.0, start="random", seed=2, tol=1e-7).run()
    assert len(whole.history) > 2
    stepped = path(3.0, start="random", seed=2, tol=1e-7)
    state = stepped.init()
    while not stepped.done(state):
        state = stepped.step(state)
    cut = path(3.0, start="random", seed=2, tol=1e-7, max_iter=2).run()
    assert cut.status is IterationStatus.ITERATION_LIMIT
    resumed = path(3.0, start="random", seed=2, tol=1e-7).run(pickle.loads(pickle.dumps(cut)))
    for other in (state, resumed):
        assert other.status is whole.status
        excess = [r.excess for r in other.history]
        np.testing.assert_allclose(excess, [r.excess for r in whole.history], atol=1e-9)
    assert len(cut.history) == 2


def test_a_time_limit_ends_it_and_it_goes_on():
    cut = path(6.0, start="random", seed=1, time_limit=1e-9).run()
    assert cut.status is IterationStatus.TIME_LIMIT
    assert np.isnan(cut.objective)
    with pytest.raises(sdpdr.errors.SolveFailedError, match="TIME_LIMIT"):
        cut.gram()
    on = path(6.0, start="random", seed=1, max_iter=2).run(cut)
    assert on.status is IterationStatus.ITERATION_LIMIT
    assert np.isfinite(on.objective)


def test_no_feasible_point_is_a_status():
    state = path(11.0).run()
    assert state.status is IterationStatus.INFEASIBLE
    assert state.best is None
    assert len(state.history) == 1


def test_an_objective_without_limit_is_a_status():
    free = SDP((PsdVariable("K", 3),), {"K": -Diagonal(3)[0]}, (), name="free")
    state = ConvexIteration(free, 1, weight=0.0, solver="clarabel", form="gram").run()
    assert state.status in (IterationStatus.UNBOUNDED, IterationStatus.FAILED)
    assert state.best is None


def test_points_to_begin_with_set_the_first_direction(roll):
    graph = graphs.knn(roll, 4)
    flat = roll[:, :2]
    iteration = ConvexIteration(methods.isometric(graph, "inequality", 1000.0), 2, start=flat)
    first = iteration.init().directions["K"]
    centred = flat - flat.mean(axis=0)
    assert first.apply(centred @ centred.T)[0] == pytest.approx(0.0, abs=1e-8)
    same = replace(iteration, start=Factor(centred)).init().directions["K"]
    matrix = np.random.default_rng(0).standard_normal((12, 12))
    matrix = matrix @ matrix.T
    np.testing.assert_allclose(same.apply(matrix), first.apply(matrix), rtol=1e-9)


def test_progress_is_told_every_iteration():
    seen = []
    path(6.0, start="random", seed=1, max_iter=3, progress=seen.append).run()
    assert [r["iteration"] for r in seen] == list(range(len(seen)))
    assert {"value", "excess", "share", "seconds"} <= set(seen[0])


# -- other programs than unfoldings ------------------------------------------------------------


def factorization(V, k):
    """[[I, W', H'], [W, ., V], [H, V', .]] with W, H >= 0; its rank is k exactly when V = W H'."""
    n, m = V.shape
    order = k + n + m
    corner = [(i, j) for i in range(k) for j in range(i, k)]
    given = [(k + i, k + n + j) for i in range(n) for j in range(m)]
    factors = [(k + i, j) for i in range(n + m) for j in range(k)]
    rows = (
        Rows(
            "corner",
            "==",
            {"Z": Entries(order, corner)},
            np.array([float(i == j) for i, j in corner]),
        ),
        Rows("given", "==", {"Z": Entries(order, given)}, V.ravel()),
        Rows("signs", "<=", {"Z": -Entries(order, factors)}, np.zeros(len(factors))),
    )
    return SDP((PsdVariable("Z", order),), {}, rows, name="factorization")


@pytest.mark.daily(1)
@pytest.mark.parametrize("direction", ["schur", "trailing"])
def test_a_nonnegative_factorization_is_found(direction):
    rng = np.random.default_rng(0)
    V = rng.random((4, 2)) @ rng.random((2, 4))
    iteration = ConvexIteration(
        factorization(V, 2), 2, direction=direction, start="random", restarts=3, **GRAM
    )
    state = iteration.run()
    assert state.reached
    Z = np.asarray(state.gram())
    W, H = Z[2:6, :2], Z[6:, :2]
    assert min(W.min(), H.min()) > -1e-6
    assert np.linalg.norm(W @ H.T - V) <= 1e-3 * np.linalg.norm(V)


@pytest.mark.nightly
def test_the_schur_direction_leaves_cliques_to_a_sparse_lift():
    """The matrix has order 45; every program of the sequence has cliques of order 10 at most."""
    rng = np.random.default_rng(0)
    V = rng.random((40, 2)) @ rng.random((2, 3))
    direction = Schur(2, scale=float(np.sqrt(np.linalg.norm(V, 2))), parts=(40, 3))
    iteration = ConvexIteration(
        factorization(V, 2), 2, direction=direction, solver="clarabel", form="chordal", restarts=2
    )
    state = iteration.run()
    assert state.reached
    assert max(r.infeasibility for r in state.history) <= 1e-7
    assert max(abs(r.gap) for r in state.history) < 1e-5
    pure = iteration.purify(state)
    assert pure.held(1e-12)
    assert pure.factor.shape == (45, 2)


@pytest.mark.nightly
def test_two_matrices_of_low_rank_in_one_program():
    diagonal = {name: Rows(f"{name}1", "==", {name: Diagonal(4)}, np.ones(4)) for name in "AB"}
    shared = Rows("sum", "==", {n: Entries(4, [[0, 1]]) for n in "AB"}, np.array([0.0]))
    sdp = SDP((PsdVariable("A", 4), PsdVariable("B", 4)), {}, (*diagonal.values(), shared))
    state = ConvexIteration(sdp, 1, variable=("A", "B"), start="random", **GRAM).run()
    assert state.reached
    for name in "AB":
        values = np.linalg.eigvalsh(np.asarray(state.solution.values[name]))
        assert values[-1] == pytest.approx(4.0, abs=1e-4)


# -- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rank": 0}, DataError, "rank"),
        ({"rank": 5}, DataError, r"1\.\.4"),
        ({"weight": -1.0}, DataError, "weight must be 0 or more"),
        ({"tol": 0.0}, DataError, "tol"),
        ({"restarts": -1}, DataError, "restarts"),
        ({"direction": "fantop"}, UnknownNameError, "direction"),
        ({"direction": Trailing(2)}, DataError, "rank 2, not for 1"),
        ({"direction": {"Z": Trailing(1)}}, DataError, "an entry for each matrix, K, and no other"),
        ({"start": "data"}, DataError, "'random'"),
        ({"start": np.eye(4)}, ShapeError, "4 points; 'K' has order 5"),
        ({"variable": "Z"}, ModelError, "no variable 'Z'"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_solved(options, error, words):
    given = {"model": methods.isometric(PATH), "rank": 1, **options}
    with pytest.raises(error, match=words):
        ConvexIteration(**given)


def test_which_matrix_must_be_said_if_there_are_several():
    two = SDP((PsdVariable("A", 2), PsdVariable("B", 2)), {}, ())
    with pytest.raises(ModelError, match="A, B; name the one"):
        ConvexIteration(two, 1)


def test_a_start_after_the_model_alone_is_a_descent_of_its_own():
    model = methods.mvu(PATH)
    start = np.array([[0.0], [1.0], [0.0], [1.0], [0.0]])
    state = ConvexIteration(model, 1, weight=2.0, start=start, max_iter=3, **GRAM).run()
    starts = [record.start for record in state.history]
    assert starts[0] == 0
    assert set(starts[1:]) == {1}
