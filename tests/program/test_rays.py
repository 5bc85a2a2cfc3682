"""Rays: what is infeasible or unbounded is proved so, and nothing else ever is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdpdr.linalg import Entries, InnerProduct, Products, SquaredEdgeLengths, Trace, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable
from sdpdr.program.rays import Ray, prove_infeasible, prove_unbounded


def matrix(n):
    return (PsdVariable("X", n),)


def entries(n, pairs, rhs, relation="=="):
    return Rows("entries", relation, {"X": Entries(n, pairs)}, np.array(rhs, dtype=float))


def dense(label, coefficients, side, relation="=="):
    side = np.array([side], dtype=float)
    return Rows(label, relation, {"X": InnerProduct(coefficients.astype(float))}, side)


def is_proved(ray, kind):
    return isinstance(ray, Ray) and ray.kind == kind and 0.0 < ray.margin <= 1.0


# -- infeasible -----------------------------------------------------------------------------------


def planted_infeasible(seed, n=5, m=6, scaled=False):
    """Whole numbers with A*(y) positive definite and b.y = -1, so that no X can do."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-3, 4, (m, n, n))
    a = a + a.transpose(0, 2, 1)
    y, b = rng.integers(1, 4, m), rng.integers(-3, 4, m)
    y[-1] = 1
    factor = rng.integers(-2, 3, (n, n))
    a[-1] = factor @ factor.T + np.eye(n, dtype=int) - np.tensordot(y[:-1], a[:-1], 1)
    b[-1] = -1 - b[:-1] @ y[:-1]
    size = np.exp2(rng.integers(-30, 31, m)) if scaled else np.ones(m)
    rows = tuple(dense(f"r{k}", size[k] * a[k], size[k] * b[k]) for k in range(m))
    return SDP(matrix(n), {}, rows), {f"r{k}": y[k : k + 1] / size[k] for k in range(m)}


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_planted_multipliers_prove_infeasibility_at_any_scale(seed, scaled, rigorous):
    sdp, duals = planted_infeasible(seed, scaled=scaled)
    ray = prove_infeasible(sdp, {k: 1e-9 * y for k, y in duals.items()}, rigorous)
    assert is_proved(ray, "infeasible")
    assert ray.rigorous
    assert ray.check(sdp)


def test_a_ray_of_one_program_is_no_ray_of_another():
    sdp, duals = planted_infeasible(0)
    ray = prove_infeasible(sdp, duals)
    turned = replace(sdp, rows=tuple(replace(r, rhs=-r.rhs) for r in sdp.rows))
    assert not ray.check(turned)


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("side", [-1e-7, -1e-30, -1e9])
def test_a_negative_diagonal_entry_of_any_size_is_infeasible(n, side):
    sdp = SDP(matrix(n), {}, (entries(n, [[0, 0]], [side]),))
    ray = prove_infeasible(sdp, {"entries": np.array([1.0])}, rigorous=True)
    assert is_proved(ray, "infeasible")
    assert ray.margin == pytest.approx(1.0)


def test_edges_that_break_the_triangle_need_no_centring():
    lengths = SquaredEdgeLengths(5, [[0, 1], [1, 2], [0, 2], [3, 4]])
    rows = Rows("lengths", "==", {"X": lengths}, np.array([1.0, 1.0, 9.0, 1.0]))
    duals = {"lengths": np.array([2.1, 2.1, -1.0, 0.0])}
    for centred in ((), (Rows("centred", "==", {"X": Products(5)}, np.zeros(5)),)):
        ray = prove_infeasible(SDP(matrix(5), {}, (*centred, rows)), duals, rigorous=True)
        assert is_proved(ray, "infeasible")


def test_inequalities_and_scalars_have_their_signs():
    variables = (PsdVariable("X", 2), VectorVariable("z", 1, nonnegative=True))
    plus = VectorMap(np.ones((1, 1)))
    # tr X + z <= -1 cannot be; tr X - z <= -1 can.
    for sign, expected in ((1.0, True), (-1.0, False)):
        row = Rows("most", "<=", {"X": Trace(2), "z": sign * plus}, -np.ones(1))
        ray = prove_infeasible(SDP(variables, {}, (row,)), {"most": np.ones(1)})
        assert is_proved(ray, "infeasible") == expected
    free = (PsdVariable("X", 2), VectorVariable("z", 1))
    row = Rows("most", "<=", {"X": Trace(2), "z": plus}, -np.ones(1))
    assert isinstance(prove_infeasible(SDP(free, {}, (row,)), {"most": np.ones(1)}), str)


def test_scalars_with_a_quadratic_cost_are_free():
    variables = (PsdVariable("X", 2), VectorVariable("z", 1, curvature=np.ones(1)))
    row = Rows("sum", "==", {"X": Trace(2), "z": VectorMap(np.ones((1, 1)))}, -np.ones(1))
    assert isinstance(prove_infeasible(SDP(variables, {}, (row,)), {"sum": np.ones(1)}), str)


def test_the_sign_of_an_inequality_s_multiplier_matters():
    sdp = SDP(matrix(2), {}, (Rows("least", "<=", {"X": -1.0 * Trace(2)}, -np.ones(1)),))
    for y in (-1.0, 1.0):
        assert isinstance(prove_infeasible(sdp, {"least": np.array([y])}), str)


def test_matrix_inequalities_prove_it_with_a_singular_multiplier():
    # z (e1 e1^T) - e1 e1^T >= 0 and z <= 1/2.
    z = (VectorVariable("z", 1),)
    corner = np.diag([1.0, 0.0, 0.0])
    lmi = Lmi("cone", 3, {"z": VectorMap(svec(corner)[:, None])}, -svec(corner))
    most = Rows("most", "<=", {"z": VectorMap(np.ones((1, 1)))}, np.array([0.5]))
    sdp = SDP(z, {}, (most,), (lmi,))
    ray = prove_infeasible(sdp, {"most": np.ones(1), "cone": corner + 1e-12}, rigorous=True)
    assert is_proved(ray, "infeasible")
    looser = replace(sdp, rows=(replace(most, rhs=np.array([1.5])),))
    assert not ray.check(looser)


def feasible_program(seed):
    """Whole numbers with a known solution, of low rank or none to spare, at scales of their own."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    m = int(rng.integers(1, n * (n + 1) // 2 + 1))
    axes = np.exp2(rng.integers(-10, 11, n))
    sizes = np.exp2(rng.integers(-30, 31, m))
    factor = rng.integers(-2, 3, (n, int(rng.integers(1, n + 1)))) * axes[:, None]
    solution = factor @ factor.T
    a = rng.integers(-3, 4, (m, n, n))
    a = (a + a.transpose(0, 2, 1)) / np.outer(axes, axes) * sizes[:, None, None]
    # Powers of two and small whole numbers: every right side is exact.
    return SDP(
        matrix(n), {}, tuple(dense(f"r{k}", a[k], np.sum(a[k] * solution)) for k in range(m))
    )


@pytest.mark.parametrize("seed", range(3))
def test_no_multipliers_refute_a_feasible_program(seed):
    sdp = feasible_program(seed)
    rng = np.random.default_rng(seed)
    stacked = np.array([svec(np.asarray(r.lhs["X"].coefficients)) for r in sdp.rows])
    b = np.array([r.rhs[0] for r in sdp.rows])
    sizes = np.linalg.norm(stacked, axis=1).clip(1e-300)
    for towards in (np.eye(sdp.variable("X").n), np.zeros((sdp.variable("X").n,) * 2)):
        for _ in range(3):
            y = np.linalg.lstsq((stacked / sizes[:, None]).T, svec(towards), rcond=None)[0]
            # Any improvement of -b.y that the slack seems to allow.
            y = y + 10.0 ** rng.uniform(-9, 1) * (rng.standard_normal(y.size) - np.sign(b))
            duals = {r.label: y[k : k + 1] / sizes[k] for k, r in enumerate(sdp.rows)}
            assert isinstance(prove_infeasible(sdp, duals), str)


def test_what_no_row_sees_may_lie_across_a_face():
    """X22 = 1 where X (1, 1) = 0: the row does not see X11, which the face makes 1 as well."""
    face = Rows("centred", "==", {"X": Products(2)}, np.zeros(2))
    row = dense("row", -np.diag([0.0, 1.0]), -1.0)
    sdp = SDP(matrix(2), {}, (face, row))
    point = {"X": np.array([[1.0, -1.0], [-1.0, 1.0]])}
    assert all(not np.any(sdp.slack(r, point)) for r in sdp.rows)
    assert isinstance(prove_infeasible(sdp, {"row": np.ones(1)}), str)


@pytest.mark.parametrize("size", [1e-6, 1e-20])
@pytest.mark.parametrize("small", [1e-3, 1e-12])
def test_huge_solutions_are_solutions(size, small):
    """With X11 = size, X12 = 1 only X22 >= 1 / size will do, and it does."""
    sdp = SDP(matrix(2), {}, (entries(2, [[0, 0], [0, 1]], [size, 1.0]),))
    assert isinstance(prove_infeasible(sdp, {"entries": np.array([1.0, -small])}), str)


@pytest.mark.parametrize("small", [0.1, 1e-4, 1e-8])
def test_weak_infeasibility_has_no_ray(small):
    sdp = SDP(matrix(2), {}, (entries(2, [[0, 0], [0, 1]], [0.0, 1.0]),))
    assert isinstance(prove_infeasible(sdp, {"entries": np.array([1.0, -small])}), str)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_multipliers_that_are_no_numbers_or_zero_prove_nothing(bad):
    sdp, duals = planted_infeasible(0)
    assert isinstance(prove_infeasible(sdp, {k: bad * y for k, y in duals.items()}), str)


def planted_on_a_face(seed, order=4, rank=1, size=5):
    """No z has G(z) >= 0, by multipliers of a low rank with numbers of no kind."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(order, rank))
    multiplier = factor @ factor.T / np.sum(factor**2)
    moves = [draw + draw.T for draw in rng.normal(size=(size + 1, order, order))]
    inner = np.sum(multiplier**2)
    moves = [m - np.sum(m * multiplier) / inner * multiplier for m in moves]
    constant = moves.pop() - multiplier / inner
    lhs = {"z": VectorMap(np.column_stack([svec(m) for m in moves]))}
    lmi = Lmi("cone", order, lhs, svec(constant))
    return SDP((VectorVariable("z", size),), {}, (), (lmi,)), multiplier


@pytest.mark.nightly
@pytest.mark.parametrize("rank", [1, 3])
@pytest.mark.parametrize("seed", range(2))
def test_a_solvers_multipliers_of_a_low_rank_become_those_of_a_proof(seed, rank):
    sdp, multiplier = planted_on_a_face(seed, rank=rank)
    noise = np.random.default_rng(seed).normal(size=multiplier.shape)
    given = multiplier + 1e-8 * (noise + noise.T)
    assert is_proved(prove_infeasible(sdp, {"cone": given}), "infeasible")
    # Where there is a point, as with a constant inside the cone, the same prove nothing.
    feasible = replace(sdp.lmis[0], constant=svec(np.eye(4)))
    assert isinstance(prove_infeasible(replace(sdp, lmis=(feasible,)), {"cone": given}), str)


# -- unbounded ------------------------------------------------------------------------------------


def planted_unbounded(seed, rank, n=5, m=4):
    """Whole numbers with a direction D of the rank given, A(D) = 0 and <C, D> < 0."""
    rng = np.random.default_rng(seed)
    factor = rng.integers(-1, 2, (n, rank))
    factor[:rank] = np.eye(rank, dtype=int)
    step = factor @ factor.T
    corner = int(step[0, 0])
    a = rng.integers(-3, 4, (m, n, n))
    a = corner * (a + a.transpose(0, 2, 1))
    a[:, 0, 0] -= np.array([np.sum(part * step) for part in a]) // corner
    cost = -np.eye(n)
    rows = tuple(dense(f"r{k}", part, np.trace(part)) for k, part in enumerate(a))
    return SDP(matrix(n), {"X": InnerProduct(cost)}, rows), step.astype(float)


@pytest.mark.parametrize("rank", [1, 2, 5])
@pytest.mark.parametrize("seed", range(2))
def test_planted_directions_prove_unboundedness(seed, rank):
    sdp, step = planted_unbounded(seed, rank)
    noise = 1e-9 * np.random.default_rng(seed).standard_normal(step.shape)
    ray = prove_unbounded(sdp, {"X": 0.37 * step + noise + noise.T}, feasible=True, rigorous=True)
    assert is_proved(ray, "unbounded")
    assert ray.rigorous
    assert ray.check(sdp)


def test_without_a_feasible_point_a_direction_is_only_a_direction():
    sdp, step = planted_unbounded(0, 1)
    ray = prove_unbounded(sdp, {"X": step}, feasible=False)
    assert is_proved(ray, "recession")
    assert ray.check(sdp)


def test_a_direction_that_worsens_the_objective_proves_nothing():
    sdp, step = planted_unbounded(0, 1)
    worse = replace(sdp, objective={"X": Trace(5)})
    assert isinstance(prove_unbounded(worse, {"X": step}, feasible=True), str)


@pytest.mark.nightly
@pytest.mark.parametrize("price", [1e-3, 1e-9, 1e-15])
@pytest.mark.parametrize("rigorous", [False, True])
def test_a_direction_that_is_nearly_free_is_not_free(price, rigorous):
    """With price * X11 + X22 <= 1 the trace is at most 1 / price: large, and bounded."""
    row = Rows("most", "<=", {"X": Trace(2, np.array([price, 1.0]))}, np.ones(1))
    sdp = SDP(matrix(2), {"X": -1.0 * Trace(2)}, (row,))
    found = prove_unbounded(sdp, {"X": np.diag([1.0, 0.0])}, feasible=True, rigorous=rigorous)
    assert isinstance(found, str)


@pytest.mark.nightly
@pytest.mark.parametrize("error", [1e-8, 1e-6])
@pytest.mark.parametrize("seed", range(2))
def test_a_solvers_direction_along_which_lengths_stay_becomes_one_of_a_proof(seed, error):
    """With |A x| <= t <= 1 and sum |B x| <= sum s <= 1, only x with A x = 0 and B x = 0 move."""
    rng = np.random.default_rng(seed)
    head, tail = rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
    x, t, s = VectorVariable("x", 6), VectorVariable("t", 1), VectorVariable("s", 2)
    arrow = np.zeros((6, 7))
    for j in range(6):
        arrow[:, j] = svec(np.block([[0.0, head[:, j]], [head[:, [j]], np.zeros((2, 2))]]))
    arrow[:, 6] = svec(np.eye(3))
    cone = Lmi("cone", 3, {"x": VectorMap(arrow[:, :6]), "t": VectorMap(arrow[:, 6:])}, np.zeros(6))
    one = VectorMap(-np.eye(2))
    rows = (
        Rows("length", "<=", {"t": VectorMap(np.ones((1, 1)))}, np.ones(1)),
        Rows("above", "<=", {"x": VectorMap(tail), "s": one}, np.zeros(2)),
        Rows("below", "<=", {"x": VectorMap(-tail), "s": one}, np.zeros(2)),
        Rows("sum", "<=", {"s": VectorMap(np.ones((1, 2)))}, np.ones(1)),
    )
    cost = rng.normal(size=6)
    sdp = SDP((x, t, s), {"x": VectorMap(-cost[None, :])}, rows, (cone,))
    both = np.vstack([head, tail])
    step = cost - np.linalg.lstsq(both, both @ cost, rcond=None)[0]
    noise = {v.name: error * rng.normal(size=v.size) for v in sdp.variables}
    given = noise | {"x": step + noise["x"]}
    assert is_proved(prove_unbounded(sdp, given, feasible=True), "unbounded")
    # And where every direction counts, no noise makes one.
    bounded = Rows("all", "<=", {"x": VectorMap(cost[None, :])}, np.ones(1))
    found = prove_unbounded(replace(sdp, rows=(*rows, bounded)), given, feasible=True)
    assert isinstance(found, str)


def test_scalars_with_a_quadratic_cost_do_not_move():
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, curvature=np.ones(1)))
    objective = {"z": VectorMap(-np.ones((1, 1))), "X": Trace(1)}
    values = {"X": np.zeros((1, 1)), "z": np.ones(1)}
    assert isinstance(prove_unbounded(SDP(variables, objective), values, feasible=True), str)


def test_matrix_inequalities_hold_along_a_direction():
    z = (VectorVariable("z", 1),)
    objective = {"z": VectorMap(-np.ones((1, 1)))}
    for sign, expected in ((1.0, True), (-1.0, False)):
        growth = VectorMap(sign * svec(np.diag([1.0, 0.0]))[:, None])
        sdp = SDP(z, objective, (), (Lmi("cone", 2, {"z": growth}, svec(np.eye(2))),))
        found = prove_unbounded(sdp, {"z": np.ones(1)}, feasible=True)
        assert is_proved(found, "unbounded") == expected
