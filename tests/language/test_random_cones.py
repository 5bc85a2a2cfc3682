"""Random conic problems with an interior on both sides: the same optimum as Clarabel's."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr.program import Status


def _inside(rng, kind, size):
    """A point inside a cone, as cvxpy constraints take it."""
    if kind == "psd":
        root = rng.standard_normal((size, size))
        return root @ root.T + 0.1 * np.eye(size)
    v = rng.standard_normal(size)
    return (np.linalg.norm(v) + 0.5 + rng.random(), v) if kind == "soc" else rng.random(size) + 0.1


def _problem(seed, n, cones):
    """min c.x over A x + b in cones, with points inside on both sides."""
    rng = np.random.default_rng(seed)
    x, point = cp.Variable(n), rng.standard_normal(n)
    constraints, cost = [cp.norm(x - point) <= 10.0], rng.standard_normal(n) * 0.1
    for kind, size in cones:
        inside, dual = _inside(rng, kind, size), _inside(rng, kind, size)
        if kind == "psd":
            maps = rng.standard_normal((n, size, size))
            maps += maps.transpose(0, 2, 1)
            moving = sum((x[k] - point[k]) * maps[k] for k in range(n))
            constraints.append(moving + inside >> 0)
            cost += np.einsum("kij,ij->k", maps, dual)
        elif kind == "soc":
            A, a = rng.standard_normal((size, n)), rng.standard_normal(n)
            constraints.append(cp.SOC(a @ (x - point) + inside[0], A @ (x - point) + inside[1]))
            cost += a * dual[0] + A.T @ dual[1]
        else:
            A = rng.standard_normal((size, n))
            constraints.append(A @ (x - point) + inside >= 0)
            cost += A.T @ dual
    return cp.Problem(cp.Minimize(cost @ x), constraints)


@pytest.mark.nightly
@settings(max_examples=25)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 5),
    cones=st.lists(
        st.tuples(st.sampled_from(["psd", "soc", "rows"]), st.integers(1, 4)), max_size=3
    ),
)
def test_random_cone_programs_have_the_value_that_clarabel_finds(seed, n, cones):
    problem = _problem(seed, n, cones)
    theirs = problem.solve(solver=cp.CLARABEL)
    program = sdpdr.from_cvxpy(problem)
    solution = sdpdr.solve(program, gap_scale=1.0)
    assert solution.status in (Status.SOLVED, Status.OPTIMAL_NEARBY)
    assert program.give_back(solution).value == pytest.approx(theirs, rel=1e-5, abs=1e-5)
    for constraint in problem.constraints:
        assert np.max(constraint.violation()) <= 1e-6
