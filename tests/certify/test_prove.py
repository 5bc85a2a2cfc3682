"""What is proved of cvxpy problems over every cone: closed forms, refutations, lies."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import count

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status, graphs, methods, reduce
from sdpdr.certify.flat import NONNEGATIVE, Answer, Piece, build
from sdpdr.certify.knowledge import Knowledge
from sdpdr.certify.margin import margin
from sdpdr.certify.path import Path
from sdpdr.certify.prove import prove
from sdpdr.certify.standard import standard
from sdpdr.errors import DataError, DataTypeError, NotAcceptedError
from sdpdr.linalg import InnerProduct
from sdpdr.model.conic.flat import flat_problem
from sdpdr.program import SDP, PsdVariable
from sdpdr.solvers.flat import ask_clarabel

pytestmark = pytest.mark.integration

P = np.array([[2.0, 1.0], [1.0, 3.0]])
DATA = np.random.default_rng(0).normal(size=(12, 3))


def entropy():
    x = cp.Variable(4)
    rows = [x[0] + x[1] == 0.5, x[2] + x[3] == 0.5]
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), rows), math.log(4.0)


def log_det():
    K = cp.Variable((2, 2), PSD=True)
    return cp.Problem(cp.Maximize(cp.log_det(K)), [K << P]), math.log(5.0)


def theta():
    X = cp.Variable((5, 5), PSD=True)
    rows = [X[i, (i + 1) % 5] == 0 for i in range(5)]
    return cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, *rows]), math.sqrt(5.0)


def geometric_mean():
    x = cp.Variable(4)
    return cp.Problem(cp.Maximize(cp.geo_mean(x)), [cp.sum(x) <= 8]), 2.0


def power():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.sum(cp.power(x, 3, approx=False))), [cp.sum(x) == 6]), 24.0


def length():
    x = cp.Variable(3)
    return cp.Problem(cp.Minimize(cp.norm(x)), [x[0] + 2 * x[1] + 2 * x[2] == 9]), 3.0


def nuclear_norm():
    X, given = cp.Variable((2, 2)), np.array([[3.0, 0.0], [4.0, 5.0]])
    return cp.Problem(cp.Minimize(cp.normNuc(X)), [given == X]), 4.0 * math.sqrt(5.0)


def unfolding():
    """No interior: rows sum to zero."""
    K = cp.Variable((4, 4), PSD=True)
    rows = [K[i, i] + K[i + 1, i + 1] - 2 * K[i, i + 1] <= 1 for i in range(3)]
    return cp.Problem(cp.Maximize(cp.trace(K)), [*rows, cp.sum(K) == 0]), 5.0


def cut():
    X = cp.Variable((5, 5), PSD=True)
    value = sum((1 - X[i, (i + 1) % 5]) / 2 for i in range(5))
    return cp.Problem(cp.Maximize(value), [cp.diag(X) == 1]), 2.5 * (1 - math.cos(0.8 * math.pi))


def linear():
    x = cp.Variable(2)
    return cp.Problem(cp.Maximize(x[0] + x[1]), [x[0] + 2 * x[1] <= 4, 3 * x[0] + x[1] <= 6]), 2.8


CLOSED = [
    entropy, log_det, theta, geometric_mean, power, length, nuclear_norm, unfolding, cut, linear,
]  # fmt: skip


@pytest.mark.daily(5)
@pytest.mark.parametrize("make", CLOSED, ids=lambda make: make.__name__)
def test_the_optimum_lies_between_both_sides(make):
    problem, optimum = make()
    found = sdpdr.verify(problem, seconds=60.0)
    assert found.status is Status.SOLVED
    assert found.gap <= 1e-6
    low, high = sorted([found.attained, found.bound])
    assert low - 1e-15 * abs(optimum) <= optimum <= high + 1e-15 * abs(optimum)


# -- no points, and no bounds -------------------------------------------------------------------


def entry_without_limit():
    K = cp.Variable((2, 2), PSD=True)
    return cp.Problem(cp.Minimize(K[0, 1]), [K[0, 0] <= 1])


def entry_beside_a_given_one():
    K = cp.Variable((2, 2), PSD=True)
    return cp.Problem(cp.Minimize(K[0, 1]), [K[0, 0] == 1])


def mean_without_limit():
    t = cp.Variable()
    return cp.Problem(cp.Maximize(cp.geo_mean(cp.hstack([t, 1]))))


def root_without_limit():
    t = cp.Variable()
    return cp.Problem(cp.Maximize(cp.sqrt(t)))


def parabola():
    v = cp.Variable(2)
    return cp.Problem(cp.Maximize(v[0]), [cp.square(v[0]) <= v[1]])


def descending():
    x = cp.Variable(2)
    return cp.Problem(cp.Minimize(x[0] + x[1]), [x[0] <= 1, x[1] <= 1])


def coupled_centres():
    J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    A = np.block([[J, np.eye(2)], [np.zeros((2, 2)), J]])
    X = cp.Variable((4, 4), symmetric=True)
    return cp.Problem(cp.Minimize(cp.trace(X)), [A.T @ X + X @ A << 0, X >> np.eye(4)])


def logarithm_of_what_is_negative():
    v = cp.Variable(3)
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(np.abs(DATA[:4]) @ v - 9))), [v <= 1, v >= -1])


def weakly():
    X = cp.Variable((2, 2), PSD=True)
    return cp.Problem(cp.Minimize(0), [X[0, 0] == 0, X[0, 1] == 1])


UNBOUNDED = [
    entry_without_limit, mean_without_limit, root_without_limit, parabola, descending,
]  # fmt: skip
INFEASIBLE = [coupled_centres, logarithm_of_what_is_negative, weakly]


@pytest.mark.daily(4)
@pytest.mark.parametrize("make", [*UNBOUNDED, *INFEASIBLE], ids=lambda make: make.__name__)
def test_what_has_no_optimum_is_proved_to_have_none(make):
    found = sdpdr.verify(make(), seconds=60.0)
    expected = Status.UNBOUNDED if make in UNBOUNDED else Status.INFEASIBLE
    assert found.status is expected
    assert "ray" in found.ray.argument


def centres_said_twice():
    problem = coupled_centres()
    (X,) = problem.variables()
    return cp.Problem(problem.objective, [*problem.constraints, X >> 0])


def weakly_said_twice():
    X = cp.Variable((2, 2), symmetric=True)
    return cp.Problem(cp.Minimize(X[0, 0]), [X[0, 1] == 1, X[1, 1] <= 0, X >> 0, 3 * X >> 0])


@pytest.mark.parametrize("make", [centres_said_twice, weakly_said_twice])
def test_what_is_said_twice_is_infeasible_as_well(make):
    """Solvers leave more of the entries that are zero, and the same equation comes twice."""
    assert sdpdr.verify(make(), seconds=60.0).status is Status.INFEASIBLE


def test_where_the_solver_leaves_little_nothing_false_is_said():
    """Whether this is proved depends on the last digits of the solver's point, by processor."""
    found = sdpdr.verify(entry_beside_a_given_one(), seconds=60.0)
    assert found.status in (Status.UNBOUNDED, Status.INACCURATE)
    assert found.bound is None


def exponential_above_its_value(x):
    return [cp.exp(x[0]) <= 1, x[0] >= 0.5]


def power_above_its_value(x):
    return [cp.power(x[0], -1.5) <= 1, x[0] <= 0.5, x >= 0]


def mean_above_its_limit(x):
    return [cp.geo_mean(x, [0.3, 0.7]) >= 1, x[0] <= 0.5, x <= 1]


@pytest.mark.parametrize(
    "limits", [exponential_above_its_value, power_above_its_value, mean_above_its_limit]
)
def test_multipliers_inside_of_curved_cones_prove_infeasibility(limits):
    """The cone of a function is its own face where a multiplier is inside of its dual."""
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), limits(x))
    assert sdpdr.verify(problem, seconds=60.0).status is Status.INFEASIBLE


# -- whatever a solver says ---------------------------------------------------------------------


def spoiled(answer, way, rng):
    x, s, z, _ = answer
    if way == "noise":
        x, s, z = (v + 0.3 * rng.normal(size=v.size) * np.abs(v).max() for v in (x, s, z))
    elif way == "a little noise":
        x, s, z = (v + 1e-4 * rng.normal(size=v.size) * np.abs(v).max() for v in (x, s, z))
    elif way == "signs":
        x, s, z = -x, -s, -z
    elif way == "zeros":
        x, s, z = 0.0 * x, 0.0 * s, 0.0 * z
    elif way == "no number":
        x = x * np.nan
    elif way == "multipliers of another program":
        z = np.roll(z, 1)
    return Answer(x, s, z, True)


# All but the first two meet every program at night.
WAYS = [
    "a little noise", "zeros", "noise", "signs", "no number", "multipliers of another program",
]  # fmt: skip


@pytest.mark.daily(1)
@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=[] if way in WAYS[:2] else pytest.mark.nightly) for way in WAYS],
)
def test_no_answer_makes_a_false_proof(way):
    rng = np.random.default_rng(0)
    for make in CLOSED:
        problem, optimum = make()
        flat = flat_problem(problem)
        answer = spoiled(ask_clarabel(flat.program), way, rng)
        known = prove(flat.program, answer, ask_clarabel, seconds=1.0)
        truth = -optimum if flat.maximize else optimum
        assert known.status in ("optimal", "unproved")
        assert known.bound <= truth + 1e-15 * abs(truth)
        assert known.value >= truth - 1e-15 * abs(truth)


@pytest.mark.nightly
def test_an_oracle_that_lies_proves_nothing():
    def liar(program, seconds=0.0):
        rng = np.random.default_rng(0)
        k = program.b.size
        return Answer(rng.normal(size=program.c.size), rng.normal(size=k),
                     rng.normal(size=program.f.size + k), True)  # fmt: skip

    for make in (unfolding, theta, log_det):
        problem, optimum = make()
        flat = flat_problem(problem)
        known = prove(flat.program, liar(flat.program), liar, seconds=1.0)
        assert known.status in ("optimal", "unproved")
        assert known.bound <= -optimum * (1 - 1e-12) <= known.value


def test_without_a_path_both_sides_are_proved_where_margins_are_largest(monkeypatch):
    monkeypatch.setattr(Path, "centre", lambda *given: None)
    problem, optimum = theta()
    flat = flat_problem(problem)
    far = spoiled(ask_clarabel(flat.program), "noise", np.random.default_rng(0))
    known = prove(flat.program, far, ask_clarabel)
    assert known.how == {
        "value": "a point towards the largest margin",
        "bound": "multipliers towards the largest margin",
    }
    assert known.bound <= -optimum <= known.value < 0.0


@pytest.mark.parametrize(("side", "factors"), [("primal", [1.0, 8.0]), ("dual", [8.0, 1.0])])
def test_noise_of_a_margin_is_that_of_right_sides_for_points_and_of_costs_for_multipliers(
    side, factors
):
    def noise(cost, right):
        half_lines = Piece(NONNEGATIVE, 2, -sp.eye_array(2), np.zeros(2))
        E = sp.csr_array(np.ones((1, 2)))
        return margin(build(np.full(2, cost), E, np.full(1, right), [half_lines]), side, ones).noise

    def ones(asked):
        x, s, w = (np.ones(v.size) for v in (asked.c, asked.b, asked.f))
        return Answer(x, s, np.concatenate([w, s]), True)

    assert [noise(8.0, 1.0), noise(1.0, 8.0)] == [k * noise(1.0, 1.0) for k in factors]
    assert noise(0.0, 0.0) == 1e-7


@pytest.mark.parametrize(("clock", "is_solved"), [(lambda: 0.0, True), (count().__next__, False)])
def test_a_solver_that_proposes_ends_by_its_cpu_seconds_and_by_no_other_clock(
    clock, is_solved, monkeypatch
):
    monkeypatch.setattr(sdpdr.solvers.flat, "process_time", clock)
    assert ask_clarabel(flat_problem(theta()[0]).program, 1e-5).is_solved is is_solved


@pytest.mark.daily(1)
@pytest.mark.parametrize("power", [-20, 20])
def test_the_unit_of_length_changes_no_status(power):
    unit = 4.0**power
    K = cp.Variable((4, 4), PSD=True)
    rows = [K[i, i] + K[i + 1, i + 1] - 2 * K[i, i + 1] <= unit for i in range(3)]
    found = sdpdr.verify(
        cp.Problem(cp.Maximize(cp.trace(K)), [*rows, cp.sum(K) == 0]), seconds=60.0
    )
    assert found.status is Status.SOLVED
    assert found.attained == pytest.approx(5.0 * unit, rel=1e-6)


def test_a_program_without_interior_and_exact_face_costs_three_solves():
    """One for the margin, one for a ray, and at most one for a face, which is irrational."""
    X = np.random.default_rng(0).normal(size=(5, 2))
    K, pairs = cp.Variable((5, 5), PSD=True), np.argwhere(np.triu(np.ones((5, 5)), 1))
    rows = [K[a, a] + K[b, b] - 2 * K[a, b] == np.sum((X[a] - X[b]) ** 2) for a, b in pairs]
    program = flat_problem(cp.Problem(cp.Maximize(cp.trace(K)), [*rows, cp.sum(K) == 0])).program
    solves = []

    def counting(asked, seconds=math.inf):
        solves.append(asked)
        return ask_clarabel(asked, seconds)

    answer = ask_clarabel(program)
    assert prove(program, answer, counting).status == "unproved"
    assert len(solves) <= 3
    assert program.faceless
    known = len(solves)
    prove(program, answer, counting)
    assert len(solves) == known


# -- the door -----------------------------------------------------------------------------------


def test_a_claim_that_is_wrong_is_refuted_and_a_right_one_is_not():
    problem, optimum = theta()
    problem.solve(solver=cp.CLARABEL)
    found = sdpdr.verify(problem, seconds=60.0)
    assert found.claimed.value == pytest.approx(optimum, rel=1e-5)
    assert not found.is_refuted
    assert "nothing contradicts" in str(found)
    for wrong in (1.01 * optimum, 0.99 * optimum):
        problem._value = wrong
        found = sdpdr.verify(problem, seconds=60.0)
        assert found.is_refuted
        assert "which is refuted" in str(found)


def test_a_matrix_that_is_not_symmetric_counts_by_its_symmetric_part():
    t = cp.Variable()
    M = np.array([[2.0, 0.0], [2.0, 2.0]])
    found = sdpdr.verify(cp.Problem(cp.Maximize(t), [M - t * np.eye(2) >> 0]))
    assert found.status is Status.SOLVED
    assert found.attained == pytest.approx(1.0, rel=1e-6)


def test_what_cannot_be_proved_is_refused_in_words_that_help():
    x = cp.Variable(integer=True)
    with pytest.raises(NotAcceptedError, match="integer"):
        sdpdr.verify(cp.Problem(cp.Minimize(x), [x >= 1]))
    y = cp.Variable()
    with pytest.raises(NotAcceptedError, match="not convex by cvxpy's rules"):
        sdpdr.verify(cp.Problem(cp.Minimize(cp.sqrt(y))))
    with pytest.raises(DataTypeError, match=r"cvxpy\.Problem"):
        sdpdr.verify(y)
    p = cp.Parameter()
    with pytest.raises(DataError, match="parameter"):
        sdpdr.verify(cp.Problem(cp.Minimize(y), [y >= p]))
    problem = cp.Problem(cp.Minimize(y), [y >= 1])
    for wrong in ({"tol": 0.0}, {"tol": "a"}, {"seconds": -1}):
        with pytest.raises(DataError, match="positive|not a number"):
            sdpdr.verify(problem, **wrong)


def test_without_time_nothing_is_said_that_is_not_known():
    problem, optimum = unfolding()
    found = sdpdr.verify(problem, seconds=1e-9)
    assert found.status in (Status.SOLVED, Status.INACCURATE)
    assert found.bound is None or found.bound >= optimum * (1.0 - 1e-12)
    assert found.attained is None or found.attained * (1.0 - 1e-9) <= optimum


@pytest.mark.parametrize("as_variable", [True, False])
def test_newton_steps_by_sparse_matrices_are_those_by_dense_ones(as_variable):
    """An unfolding of a path: few numbers in every matrix, which is a variable or a slack."""
    n = 24
    graph = graphs.path(np.linspace(1.0, 2.0, n - 1))
    sdp = methods.mvu(graph).to_sdp()
    if not as_variable:
        sdp = reduce.Composed((reduce.Face(), reduce.Dual())).apply(sdp).sdp
    program = standard(sdp).flat
    answer = ask_clarabel(program)
    sparse = Path(program, lambda: False)
    dense = Path(program, lambda: False)
    assert any(one is not None for one in dense._matrices)
    dense._matrices = [None] * len(dense._matrices)
    one, other = (path.centre(*answer[:3], 1e-3) for path in (sparse, dense))
    for u, v in zip(one, other, strict=True):
        np.testing.assert_allclose(u, v, rtol=1e-6, atol=1e-6 * np.max(np.abs(v)))


@pytest.mark.parametrize("make", [cut, entropy])
def test_the_path_is_reached_from_answers_that_are_off_by_a_third(make):
    """Newton steps leave the cone on the way, and are shortened."""
    program, mu = flat_problem(make()[0]).program, 1e-2
    answer, rng = ask_clarabel(program), np.random.default_rng(1)
    path, m = Path(program, lambda: False), program.f.size
    for _ in range(5):
        off = [v * np.exp(rng.uniform(-0.3, 0.3, v.size)) for v in answer[:3]]
        x, z = path.centre(*off, mu)
        s = program.b - program.A @ x
        assert program.all_inside(s)
        assert program.E @ x == pytest.approx(program.f, abs=1e-9)
        missed = program.c + program.E.T @ z[:m] + program.A.T @ z[m:]
        assert missed == pytest.approx(0.0 * missed, abs=1e-9)
        # Within the region where Newton's method converges the gap is that of the path to a half.
        assert 0.5 < s @ z[m:] / (program.degree * mu) < 1.5


def test_a_point_alone_is_held_against_the_program_and_nothing_else_is_looked_for():
    """Nothing is solved; a point inside is kept as it is, and none is moved towards a path."""
    above_one = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0, -1.0]]), -np.ones(1))
    program = build(np.ones(2), sp.csr_array((0, 2)), np.zeros(0), [above_one])
    nothing = np.full(1, np.nan)
    known = prove(program, Answer(np.full(2, 1.5), np.full(1, 2.0), nothing, True), solve=None)
    assert known.how.keys() == {"value"}
    assert known.value == pytest.approx(3.0, rel=1e-12)
    outside = Answer(np.zeros(2), -np.ones(1), nothing, True)
    assert prove(program, outside, solve=None).how == {}


def test_a_constant_in_the_objective_is_added_without_rounding_in_favour():
    """At the point and the multipliers as they are given both sides are one, and the constant."""
    above_one = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), -np.ones(1))
    program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above_one])
    answer = Answer(np.ones(1), np.zeros(1), np.ones(1), True)
    for constant in np.random.default_rng(0).normal(size=20) * 10.0 ** np.arange(-10, 10):
        known = prove(replace(program, offset=constant), answer, solve=None)
        exact = 1 + Fraction(constant)
        assert Fraction(known.bound) <= exact <= Fraction(known.value)
        assert known.value - known.bound <= 1e-14 * (1.0 + abs(constant))


def test_a_point_that_is_to_stay_is_moved_by_a_little_of_the_way():
    """Half of the way from the middle to the optimum, which others are nearer to."""
    problem, optimum = theta()
    program = flat_problem(problem).program
    best = ask_clarabel(program)
    x = 0.5 * (margin(program, "primal", ask_clarabel).y + best.x)
    answer = best._replace(x=x, s=program.b - program.A @ x)
    moved, kept = (prove(program, answer, ask_clarabel, stays=stays) for stays in (False, True))
    assert moved.value == pytest.approx(-optimum, rel=1e-6)
    assert np.linalg.norm(kept.x - x) <= 1e-4
    assert kept.value == pytest.approx(float(program.c @ x), abs=1e-4)
    assert kept.bound <= -optimum


def test_sides_that_contradict_each_other_are_forgotten_and_named():
    above_one = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), -np.ones(1))
    program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [above_one])
    known = Knowledge(value=0.5, how={"value": "a mistake"}, x=np.full(1, 0.5))
    known = prove(program, Answer(np.ones(1), np.zeros(1), np.ones(1), True), None, known=known)
    assert (known.status, known.value, known.bound) == ("unproved", math.inf, -math.inf)
    assert (known.x, known.z, known.how) == (None, None, {})
    assert "contradict" in known.notes[-1]


def test_a_bound_is_read_off_costs_that_lie_in_the_dual_cone():
    """Nothing is solved: the cost itself is what the multipliers are."""
    C = np.array([[2.0, -1.0], [-1.0, 2.0]])
    program = standard(SDP((PsdVariable("X", 2),), {"X": InnerProduct(C)})).flat
    nothing = np.full(program.f.size + program.b.size, np.nan)
    answer = Answer(np.full(program.c.size, np.nan), program.b, nothing, False)
    known = prove(program, answer, solve=None)
    assert known.how["bound"] == "costs that lie in the dual cone"
    assert known.bound == 0.0
    indefinite = InnerProduct(np.array([[2.0, -3.0], [-3.0, 2.0]]))
    program = standard(SDP((PsdVariable("X", 2),), {"X": indefinite})).flat
    assert "bound" not in prove(program, answer, solve=None).how
