"""Programs of completely positive factorization: the lift, the cut, and what print left out."""

import numpy as np
import pytest

import sdpdr
from sdpdr import check_block, methods
from sdpdr.blocks import FactorLift, Stated
from sdpdr.errors import DataError
from sdpdr.families.factor.completely_positive.recipes import level_one
from sdpdr.linalg.svec import svec

PHI = (1.0 + np.sqrt(5.0)) / 2.0
PAIR = np.array([[2.0, 1.0], [1.0, 3.0]])


def cycle(n: int, c: float) -> np.ndarray:
    shift = np.roll(np.eye(n), 1, axis=0)
    return c * np.eye(n) + shift + shift.T


def test_the_two_compilers_agree():
    for model in (
        methods.copositive_cut(cycle(3, 2.0)),
        methods.copositive_cut([[2.0]]),
        methods.copositive_cut(PAIR, level=0),
        methods.cp_lift(PAIR, 2),
    ):
        terms = [term for block in model.blocks for term in block.terms()]
        check_block(Stated("whole", terms, model.variables()))


# -- the cut --------------------------------------------------------------------------------


@pytest.mark.integration
def test_level_zero_sees_doubly_nonnegative_matrices_only():
    for A in (cycle(5, 1.8), cycle(5, PHI)):
        solution = sdpdr.solve(methods.copositive_cut(A, level=0), "clarabel", "cvxpy", tol=1e-7)
        assert abs(solution.value) < 1e-5
        assert solution.bound > -1e-5


def test_copositive_rows_are_the_coefficients_of_a_cubic():
    rng = np.random.default_rng(1)
    n = 4
    M = rng.standard_normal((n, n))
    M = M + M.T
    parts = rng.standard_normal((n, n, n))
    parts = parts + parts.transpose(0, 2, 1)
    values = {"M": svec(M), **{f"P{i}": parts[i] for i in range(n)}}
    cubic = {}
    for term in level_one(n).terms():
        total = term.lhs.constant.copy()
        for name, linear_map in term.lhs.maps.items():
            total = total + linear_map.apply(values[name])
        cubic[term.name] = total if term.name == "cube" else -total
    x = rng.random(n)
    expected = x.sum() * (x @ M @ x) - sum(x[i] * (x @ parts[i] @ x) for i in range(n))
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    triples = [(i, j, k) for i in range(n) for j in range(i + 1, n) for k in range(j + 1, n)]
    found = cubic["cube"] @ x**3
    found += 3.0 * sum(
        c * x[i] * x[j] ** 2 for c, (i, j) in zip(cubic["square"], pairs, strict=True)
    )
    found += 6.0 * sum(
        c * x[i] * x[j] * x[k] for c, (i, j, k) in zip(cubic["product"], triples, strict=True)
    )
    assert found == pytest.approx(expected)


def test_a_cut_of_another_level_is_refused():
    with pytest.raises(DataError, match="level must be 0 or 1"):
        methods.copositive_cut(np.eye(3), level=2)


# -- the lift -------------------------------------------------------------------------------


def test_along_ones_the_centre_has_equal_columns():
    solution = sdpdr.solve(methods.cp_lift(PAIR, 3), "clarabel", "lmi")
    assert solution.value == pytest.approx(np.sqrt(3.0 * PAIR.sum()), rel=1e-5)
    B, _ = FactorLift(3, 2).read(solution.gram())
    np.testing.assert_allclose(B - B[:, :1], 0.0, atol=3e-4)


def test_a_factor_is_feasible():
    B = np.random.default_rng(0).random((4, 3))
    A = B @ B.T
    Z = np.block([[np.eye(3), B.T], [B, A]])
    model = methods.cp_lift(A, 3)
    assert max(model.violations({"Z": Z}).values()) < 1e-12
    assert model.objective({"Z": Z}) == pytest.approx(B.sum())
    assert B.sum() <= np.sqrt(3.0 * A.sum())


def test_a_lift_of_no_factorization_is_refused():
    with pytest.raises(DataError, match="not completely positive"):
        methods.cp_lift([[1.0, 2.0], [2.0, 1.0]], 2)
    with pytest.raises(DataError, match="not completely positive"):
        methods.cp_lift([[1.0, -0.5], [-0.5, 1.0]], 2)
    with pytest.raises(DataError, match="n_components=0"):
        methods.cp_lift(np.eye(2), 0)
