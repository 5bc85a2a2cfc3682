"""Exact arguments for dual slack that is singular wherever it is optimal."""

import numpy as np
import pytest

import sdpdr
from sdpdr.linalg import InnerProduct, Stacked
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.program.certificate import certify
from sdpdr.testing import find_hard_instance

ONES = np.ones((2, 2))


def unit(n, i, j):
    matrix = np.zeros((n, n))
    matrix[i, j] = matrix[j, i] = 1.0 if i == j else 0.5
    return matrix


def program(cost, matrices, rhs):
    stacked = Stacked([InnerProduct(a) for a in matrices])
    rows = Rows("rows", "==", {"X": stacked}, np.array(rhs, dtype=float))
    return SDP((PsdVariable("X", len(cost)),), {"X": InnerProduct(cost)}, (rows,))


def changed(matrix, basis):
    inverse = np.round(np.linalg.inv(basis))
    return inverse.T @ matrix @ inverse


@pytest.mark.parametrize("noise", [0.0, 1e-9, -1e-9])
def test_a_slack_of_rank_one_is_recognized(noise):
    sdp = program(ONES, [ONES], [1.0])
    found = certify(sdp, {"rows": np.array([-1.0 + noise])}, rigorous=True)
    assert found.rigorous
    assert found.bound == pytest.approx(1.0, abs=1e-8)
    assert found.bound <= 1.0


@pytest.mark.parametrize("seed", range(2))
def test_a_gap_stays_what_it_is_in_another_basis(seed):
    """min X33, X11 = 0, X33 + 2 X12 = 1: the dual optimum is 0 and the primal one is 1."""
    rng = np.random.default_rng(seed)
    basis = np.eye(3)
    for _ in range(4):
        i, j = rng.permutation(3)[:2]
        basis[i] += rng.integers(-2, 3) * basis[j]
    parts = [unit(3, 2, 2), unit(3, 0, 0), unit(3, 2, 2) + 2.0 * unit(3, 0, 1)]
    cost, *rows = (changed(part, basis) for part in parts)
    answer = sdpdr.solve(program(cost, rows, [0.0, 1.0]), "clarabel", "gram", rigorous=True)
    assert answer.status is sdpdr.Status.SOLVED
    low, high = answer.enclosure
    assert low <= 1.0 <= high
    assert high - low < 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_no_rounding_makes_a_bound_too_good(seed):
    """The optimum is the least eigenvalue, which is irrational."""
    rng = np.random.default_rng(seed)
    cost = rng.integers(-3, 4, (4, 4))
    cost = (cost + cost.T).astype(float)
    sdp = program(cost, [np.eye(4)], [1.0])
    least = float(np.linalg.eigvalsh(cost)[0])
    for moved in (0.0, 1e-12, 1e-3):
        found = certify(sdp, {"rows": np.array([-least + moved])}, rigorous=True)
        assert found.bound is None or found.bound <= least + 1e-13


@pytest.mark.nightly
def test_rows_that_contradict_each_other_by_little_have_a_ray():
    pytest.importorskip("flint", reason="the extra 'multiprecision' is not installed")
    answer = sdpdr.solve(find_hard_instance("twice-and-not").build(), "multiprecision")
    assert answer.status is sdpdr.Status.INFEASIBLE
    assert answer.ray.rigorous
    assert answer.ray.check(find_hard_instance("twice-and-not").build())
