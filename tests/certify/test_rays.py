"""Rays: their numbers show what they say, and what has a point and a limit has none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import Status
from sdpdr.certify.answer import prove_answer
from sdpdr.linalg import Entries, InnerProduct, Products, SquaredEdgeLengths, Trace, VectorMap, svec
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable
from sdpdr.solvers.flat import ask_clarabel

from ..proofs import prove_infeasible, prove_unbounded, shows


def matrix(n):
    return (PsdVariable("X", n),)


def entries(n, pairs, rhs):
    return Rows("entries", "==", {"X": Entries(n, pairs)}, np.array(rhs, dtype=float))


def dense(label, coefficients, side):
    lhs = {"X": InnerProduct(np.asarray(coefficients, dtype=float))}
    return Rows(label, "==", lhs, np.array([side], dtype=float))


# -- no point -------------------------------------------------------------------------------------


def planted_infeasible(seed, binades, n=5, m=6):
    """Whole numbers with A*(y) positive definite and b.y = -1, so that no X can do; and y."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-3, 4, (m, n, n))
    a = a + a.transpose(0, 2, 1)
    y, b = rng.integers(1, 4, m), rng.integers(-3, 4, m)
    y[-1] = 1
    factor = rng.integers(-2, 3, (n, n))
    a[-1] = factor @ factor.T + np.eye(n, dtype=int) - np.tensordot(y[:-1], a[:-1], 1)
    b[-1] = -1 - b[:-1] @ y[:-1]
    size = np.exp2(rng.integers(-binades, binades + 1, m))
    rows = tuple(dense(f"r{k}", size[k] * a[k], size[k] * b[k]) for k in range(m))
    return SDP(matrix(n), {}, rows), {f"r{k}": y[k : k + 1] / size[k] for k in range(m)}


@pytest.mark.parametrize(
    ("seed", "binades"), [(0, 0), (1, 9), (1, 30), pytest.param(0, 30, marks=pytest.mark.nightly)]
)
def test_planted_multipliers_become_a_ray_at_any_scale_of_rows(seed, binades):
    sdp, _ = planted_infeasible(seed, binades)
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is Status.INFEASIBLE
    assert shows(answer.ray, sdp)


def test_a_ray_of_one_program_is_none_of_another():
    """By the oracle that the other tests lean on."""
    sdp, duals = planted_infeasible(0, 0)
    ray = prove_infeasible(sdp, {k: 1e-9 * y for k, y in duals.items()})
    assert ray.kind == "infeasible"
    assert shows(ray, sdp)
    turned = replace(sdp, rows=tuple(replace(r, rhs=-r.rhs) for r in sdp.rows))
    assert not shows(ray, turned)


def test_a_matrix_inequality_proves_it_with_a_singular_multiplier():
    # z (e1 e1^T) - e1 e1^T >= 0 and z <= 1/2.
    corner = np.diag([1.0, 0.0, 0.0])
    lmi = Lmi("cone", 3, {"z": VectorMap(svec(corner)[:, None])}, -svec(corner))
    most = Rows("most", "<=", {"z": VectorMap(np.ones((1, 1)))}, np.array([0.5]))
    sdp = SDP((VectorVariable("z", 1),), {}, (most,), (lmi,))
    duals = {"most": np.ones(1), "cone": corner + 1e-12}
    ray = prove_infeasible(sdp, duals)
    assert ray.kind == "infeasible"
    assert shows(ray, sdp)
    looser = replace(sdp, rows=(replace(most, rhs=np.array([1.5])),))
    assert isinstance(prove_infeasible(looser, duals), str)


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
    rows = tuple(dense(f"r{k}", a[k], np.sum(a[k] * solution)) for k in range(m))
    return SDP(matrix(n), {}, rows)


@pytest.mark.parametrize("seed", range(3))
def test_no_multipliers_refute_a_feasible_program(seed):
    sdp, rng = feasible_program(seed), np.random.default_rng(seed)
    stacked = np.array([svec(np.asarray(r.lhs["X"].coefficients)) for r in sdp.rows])
    b = np.array([r.rhs[0] for r in sdp.rows])
    sizes = np.linalg.norm(stacked, axis=1).clip(1e-300)
    for towards in (np.eye(sdp.variable("X").n), np.zeros((sdp.variable("X").n,) * 2)):
        y = np.linalg.lstsq((stacked / sizes[:, None]).T, svec(towards), rcond=None)[0]
        # Any improvement of -b.y that the slack seems to allow.
        y = y + 10.0 ** rng.uniform(-9, 1) * (rng.standard_normal(y.size) - np.sign(b))
        duals = {r.label: y[k : k + 1] / sizes[k] for k, r in enumerate(sdp.rows)}
        assert isinstance(prove_infeasible(sdp, duals), str)


@pytest.mark.parametrize(("size", "small"), [(1e-6, 1e-3), (1e-20, 1e-12)])
def test_huge_solutions_are_solutions(size, small):
    """With X11 = size, X12 = 1 only X22 >= 1 / size will do, and it does."""
    sdp = SDP(matrix(2), {}, (entries(2, [[0, 0], [0, 1]], [size, 1.0]),))
    assert isinstance(prove_infeasible(sdp, {"entries": np.array([1.0, -small])}), str)


def test_what_no_row_sees_may_lie_across_a_face():
    """X22 = 1 where X (1, 1) = 0: the row does not see X11, which the face makes 1 as well."""
    face = Rows("centred", "==", {"X": Products(2)}, np.zeros(2))
    sdp = SDP(matrix(2), {}, (face, dense("row", -np.diag([0.0, 1.0]), -1.0)))
    assert isinstance(prove_infeasible(sdp, {"row": np.ones(1)}), str)


# -- no limit -------------------------------------------------------------------------------------


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
    rows = tuple(dense(f"r{k}", part, np.trace(part)) for k, part in enumerate(a))
    return SDP(matrix(n), {"X": InnerProduct(-np.eye(n))}, rows), step.astype(float)


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_planted_directions_prove_that_there_is_no_limit(rank):
    sdp, step = planted_unbounded(0, rank)
    noise = 1e-9 * np.random.default_rng(0).standard_normal(step.shape)
    ray = prove_unbounded(sdp, {"X": 0.37 * step + noise + noise.T})
    assert ray.kind == "unbounded"
    assert 0.0 < ray.margin <= 1.0
    assert shows(ray, sdp)
    worse = replace(sdp, objective={"X": Trace(5)})
    assert isinstance(prove_unbounded(worse, {"X": step}), str)
    assert not shows(ray, worse)


@pytest.mark.parametrize("penalty", [1e-3, 1e-9])
def test_a_direction_that_is_nearly_free_is_not_free(penalty):
    """With penalty * X11 + X22 <= 1 the trace is at most 1 / penalty: large, and bounded."""
    row = Rows("most", "<=", {"X": Trace(2, np.array([penalty, 1.0]))}, np.ones(1))
    sdp = SDP(matrix(2), {"X": -1.0 * Trace(2)}, (row,))
    assert isinstance(prove_unbounded(sdp, {"X": np.diag([1.0, 0.0])}), str)


def test_scalars_with_a_quadratic_cost_do_not_move():
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, curvature=np.ones(1)))
    objective = {"z": VectorMap(-np.ones((1, 1))), "X": Trace(1)}
    values = {"X": np.zeros((1, 1)), "z": np.ones(1)}
    assert isinstance(prove_unbounded(SDP(variables, objective), values), str)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_matrix_inequalities_hold_along_a_direction(sign):
    growth = VectorMap(sign * svec(np.diag([1.0, 0.0]))[:, None])
    lmi = Lmi("cone", 2, {"z": growth}, svec(np.eye(2)))
    sdp = SDP((VectorVariable("z", 1),), {"z": VectorMap(-np.ones((1, 1)))}, (), (lmi,))
    found = prove_unbounded(sdp, {"z": np.ones(1)})
    assert isinstance(found, str) if sign < 0.0 else shows(found, sdp)


def halves(n):
    """The variance of two paths of n points each, about their common centre."""
    t = np.concatenate([np.arange(n - 1), n + np.arange(n - 1)])
    lengths = SquaredEdgeLengths(2 * n, np.column_stack([t, t + 1]))
    rows = (
        Rows("lengths", "<=", {"K": lengths}, np.ones(t.size)),
        Rows("centre", "==", {"K": Products(2 * n)}, np.zeros(2 * n)),
    )
    return SDP((PsdVariable("K", 2 * n),), {"K": -1.0 * Trace(2 * n)}, rows, maximize=True)


APART = pytest.mark.xfail(strict=True, reason="no ray is read off the components of a graph")


@pytest.mark.nightly
@pytest.mark.parametrize("n", [3, 6, pytest.param(100, marks=APART)])
def test_disconnected_components_drift_apart(n):
    sdp = halves(n)
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is Status.UNBOUNDED
    assert shows(answer.ray, sdp)


# -- what a solver claims -------------------------------------------------------------------------


def without_oracle(program, seconds):
    raise AssertionError("a solver was asked for what the answer shows already")


@pytest.mark.parametrize("far", [1.0, 1e6])
def test_an_answer_that_claims_to_be_a_ray_is_proved_without_another_solver(far):
    sdp, multipliers = planted_infeasible(3, 0)
    duals = {label: far * y.astype(float) for label, y in multipliers.items()}
    found = prove_answer(sdp, Point({}, duals), without_oracle, claim="infeasible")
    assert found.ray.kind == "infeasible"
    assert shows(found.ray, sdp)


def test_a_claim_that_shows_nothing_goes_to_a_solver():
    sdp, multipliers = planted_infeasible(3, 0)
    duals = {label: -y.astype(float) for label, y in multipliers.items()}
    found = prove_answer(sdp, Point({}, duals), ask_clarabel, claim="infeasible")
    assert shows(found.ray, sdp)
