"""Factors through a polynomial: oracles, proofs of how good they can be, unknown g, faults."""

import numpy as np
import pytest

from sdpdr import factorize, graphs, methods, solve
from sdpdr.blocks import FactorLift
from sdpdr.errors import DataError
from sdpdr.families.factor.polynomial.fit import Misfit, _least_chord, evaluate, misfit_bound
from sdpdr.families.factor.polynomial.recipe import parts_of
from sdpdr.iterate import ConvexIteration, IterationStatus, Schur
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.model import Block, Equal, Model, Var

W0, H0 = np.array([1.0, 0.5, 0.8]), np.array([0.7, 1.2])
T0 = np.outer(W0, H0)
V0 = T0 + 0.5 * T0**2
G0 = (1.0, 0.5)
REACHED = IterationStatus.RANK_REACHED


def random_case(n, m, k, c, seed, missing=0.0, signed=False):
    rng = np.random.default_rng(seed)
    W, H = rng.random((n, k)), rng.random((k, m))
    if signed:
        W, H = 2 * W - 1, 2 * H - 1
    full = evaluate(np.array(c), W @ H)
    return full, np.where(rng.random((n, m)) < missing, np.nan, full)


# -- known g -------------------------------------------------------------------------------------


@pytest.mark.parametrize("lift", ["layers", "moments"])
def test_convex_iteration_on_either_lift_finds_the_factors(lift):
    """The method of the thesis, by the driver for any model."""
    _, _, held, model = parts_of(V0[:2], G0, 1, lift, True, None, 2)
    ways = {name: Schur(rank) for name, rank in held.ranks.items()}
    state = ConvexIteration(
        model, 1, tuple(ways), ways, solver="clarabel", form="lmi", max_iter=20, progress=False
    ).run()
    W, H, _ = held.read(state.solution.values)
    np.testing.assert_allclose(evaluate(np.array(G0), W @ H.T), V0[:2], atol=1e-4)


def test_planted_factors_are_found_by_least_squares():
    found = factorize.polynomial(V0, G0)
    assert found.status is REACHED
    assert found.starts == 1
    np.testing.assert_allclose(found.W[:, 0], W0, atol=1e-9)
    np.testing.assert_allclose(found.H[0], H0, atol=1e-9)


@pytest.mark.parametrize(
    ("shape", "k", "c", "signed"),
    [
        ((5, 4), 2, (1.0,), False),
        ((5, 4), 2, (1.0, 0.5), False),
        ((4, 3), 2, (1.0, 0.5, 0.3), False),
        ((4, 3), 1, (1.0, -1.0), False),
        ((3, 2), 1, (1.0, -0.5), False),
        ((3, 2), 1, (0.0, 1.0), False),
        ((3, 2), 1, (1.0, 0.5), True),
        ((5, 4), 2, (1.0,), True),
    ],
)
def test_random_factors_are_found_to_rounding(shape, k, c, signed):
    full, V = random_case(*shape, k, c, seed=1, signed=signed)
    found = factorize.polynomial(V, c, k, nonnegative=not signed)
    assert found.status is REACHED
    assert found.error < 1e-12
    np.testing.assert_allclose(found.product(), full, atol=1e-9)
    if not signed:
        assert found.W.min() >= 0.0
        assert found.H.min() >= 0.0


@pytest.mark.parametrize(
    ("shape", "k", "c", "missing", "signed"),
    [
        ((6, 5), 2, (1.0,), 0.3, False),
        ((6, 5), 2, (1.0,), 0.2, True),
        ((4, 3), 1, G0, 0.2, False),
    ],
)
def test_collaborative_filtering_recovers_what_is_missing(shape, k, c, missing, signed):
    """V is pinned where it is known; the factors give the rest."""
    full, V = random_case(*shape, k, c, 0, missing, signed)
    assert np.isnan(V).any()
    found = factorize.polynomial(V, c, k, nonnegative=not signed)
    assert found.status is REACHED
    assert found.bound is None
    np.testing.assert_allclose(found.product(), full, atol=1e-9)


def test_the_same_seed_gives_the_same_factors():
    runs = [factorize.polynomial(V0, (-1.0, 1.0), seed=seed, starts=2) for seed in (4, 4, 5)]
    np.testing.assert_array_equal(runs[0].W, runs[1].W)
    assert not np.array_equal(runs[0].W, runs[2].W)


def test_where_no_exact_factors_exist_the_bound_proves_the_best_fit():
    rng = np.random.default_rng(2)
    V = rng.random((3, 3))
    found = factorize.polynomial(V, (1.0,), 1, nonnegative=False)
    assert found.status is IterationStatus.SETTLED
    sigma = np.linalg.svd(V)[1]
    assert found.misfit == pytest.approx(np.linalg.norm(sigma[1:]), rel=1e-9)
    assert found.bound == pytest.approx(found.misfit, rel=1e-9)
    assert found.gap < 1e-9


# -- what is proved ------------------------------------------------------------------------------


@pytest.mark.daily(2)
@pytest.mark.parametrize("c", [(1.0,), (1.0, 0.5), (1.0, 0.0, 0.3), (0.5, -0.1, 0.2), (0.3, -0.1)])
@pytest.mark.parametrize("nonnegative", [True, False])
def test_no_factors_fit_better_than_the_bound(c, nonnegative):
    rng = np.random.default_rng(len(c))
    tried = 0
    for _ in range(4):
        n, m = rng.integers(2, 5, 2)
        V = 3 * rng.random((n, m)) - 0.3 * (rng.random() < 0.3)
        bound = misfit_bound(V, np.array(c), 1, nonnegative)
        if bound is None:
            continue
        squares = Misfit(V, nonnegative)
        for _ in range(2):
            fit = squares.descend(2 * rng.random((n, 1)), 2 * rng.random((m, 1)), np.array(c))
            assert bound <= fit.misfit + 1e-10
            tried += 1
    increasing = c != (0.3, -0.1) and (nonnegative or c[-1] == 1.0 or len(c) == 3)
    assert (tried > 0) == increasing


def test_no_chord_of_an_increasing_g_is_flatter_than_the_least():
    rng = np.random.default_rng(0)
    for c, low in (((1.0, 0.5), 0.0), ((0.5, -0.1, 0.2), -4.0), ((1.0, 0.0, 0.3), -4.0)):
        for theta in rng.uniform(low, 3.0, 5):
            t = np.linspace(low, 6.0, 501)
            risen = evaluate(c, t) - evaluate(c, theta)
            least = _least_chord(np.array(c), theta, low if low == 0.0 else -np.inf)
            assert np.all(np.abs(risen) >= least * np.abs(t - theta) - 1e-12)
            assert least == pytest.approx(np.min(risen / (t - theta)), rel=1e-3)


def test_for_a_linear_g_the_bound_is_that_of_eckart_and_young():
    V = np.random.default_rng(1).random((5, 4))
    sigma = np.linalg.svd(V)[1]
    for k in (1, 2, 3):
        expected = np.linalg.norm(sigma[k:])
        assert misfit_bound(V, np.array([1.0]), k) == pytest.approx(expected, rel=1e-10)
        assert misfit_bound(V, np.array([4.0]), k) == pytest.approx(expected, rel=1e-10)


@pytest.mark.nightly
def test_a_regularized_program_proves_its_factors_nearly_optimal():
    found = factorize.polynomial(V0, G0, lift="moments", regularization=0.05)
    assert found.status is IterationStatus.SETTLED
    assert found.bound <= found.objective
    assert found.gap < 1e-6
    assert found.objective == pytest.approx(0.0951362, abs=1e-6)
    half = 0.5 * found.misfit**2 + 0.025 * (np.sum(found.W**2) + np.sum(found.H**2))
    assert found.objective == pytest.approx(half, rel=1e-12)


# -- unknown g -----------------------------------------------------------------------------------


def test_an_unknown_g_is_found():
    found = factorize.polynomial(V0[:, :2], None)
    assert found.status is REACHED
    assert found.error < 1e-12
    np.testing.assert_allclose(found.coefficients, [1.0, 0.5], atol=1e-6)
    assert found.bound is None


def test_a_singular_value_of_the_equations_explains_it():
    """Along one direction all entries stay, to first order, within .6% of the step."""
    squares = Misfit(V0, True, unknown=True)
    J = squares._slopes(W0[:, None], H0[:, None], np.array(G0))[: V0.size, 1:]
    values, directions = np.linalg.svd(J)[1:]
    assert values[-1] == pytest.approx(0.0058, abs=1e-4)
    assert np.argmax(np.abs(directions[-1])) == 4


def test_the_equations_have_another_local_optimum_far_away():
    squares = Misfit(V0, True, unknown=True, anchor=0)
    start = [0.54092, 0.82032, 0.54422, 0.87749, 1.35375]
    fit = squares.descend(
        np.array([[1.0], *[[w] for w in start[:2]]]), np.array(start[2:4])[:, None],
        np.array([1.0, start[4]]),
    )  # fmt: skip
    assert fit.misfit == pytest.approx(9.128e-4, abs=1e-6)
    assert fit.coefficients[1] == pytest.approx(1.3156, abs=1e-3)


# -- the general form: other factorizations are sums of the same blocks ---------------------------


class Lengths(Block):
    """Edges between rows of W, on their own part of the lift."""

    def __init__(self, lift, graph):
        self.lift, self.graph = lift, graph

    def terms(self):
        edges = self.graph.edges + self.lift.n_components
        lengths = SquaredEdgeLengths(self.lift.order, edges) @ Var(self.lift.gram)
        yield Equal(lengths, self.graph.sqdist, symbol="d_ij")


def test_unfolding_is_the_lift_without_h():
    """(2.103): the identity of order k and W alone; the same lengths as a path on a line."""
    path = graphs.path([1.0] * 3)
    lift = FactorLift(1, 4, 0)
    ones = np.array([[0, v] for v in range(1, 5)])

    class Centre(Block):
        def terms(self):
            yield Equal(np.ones((1, 4)) @ lift.entries(ones), 0.0, symbol="0")

    class Spread(Block):
        def terms(self):
            diagonal = np.column_stack([lift.rows] * 2)
            yield Equal(np.ones((1, 4)) @ lift.entries(diagonal), 5.0, symbol="v")

    model, way = Model((lift, Lengths(lift, path), Centre(), Spread())), Schur(1, scale=1.0)
    state = ConvexIteration(model, 1, "Z", way, solver="clarabel", restarts=3).run()
    assert state.status is REACHED
    W, _ = lift.read(state.solution.values["Z"])
    np.testing.assert_allclose(np.sort(W[:, 0]), np.arange(-1.5, 2.0), atol=1e-4)


def test_the_leave_one_out_mean_grows_with_the_trace():
    """(6.32) and (2.107) have no limit: the optimum is 4 tau / 5 - 1.2 on a path of five points."""
    trace = 1000.0
    model = methods.loocv(graphs.path([1.0] * 4), trace=trace)
    assert solve(model, "clarabel", tol=1e-7).value == pytest.approx(0.8 * trace - 1.2, rel=1e-5)


# -- faults --------------------------------------------------------------------------------------


def test_entries_below_the_least_value_of_g_have_no_factors():
    V = [[-0.7, 1.0]]
    found = factorize.polynomial(V, G0, nonnegative=False)
    assert found.status is IterationStatus.STALLED
    assert found.product()[0] == pytest.approx([-0.5, 1.0])  # the least value of g is -1/2
    model = methods.polynomial_factorization(V, G0, nonnegative=False)
    assert solve(model, "clarabel").status.name == "INFEASIBLE"


def test_a_search_without_steps_is_refused():
    for options in ({"tol": 0.0}, {"starts": 0}):
        with pytest.raises(DataError, match=next(iter(options))):
            factorize.polynomial(V0, G0, **options)


def test_a_time_limit_is_a_status_with_the_factors_so_far():
    found = factorize.polynomial(V0, (-1.0, 1.0), time_limit=0.0)
    assert (found.status, found.starts) == (IterationStatus.TIME_LIMIT, 1)
    assert found.W.shape == (3, 1)
