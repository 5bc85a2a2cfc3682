"""Descent on spheres: laws of its parts, programs with known optima, bounds that never lie."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace
from sdpdr.linalg.maps import SvecMap
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.descent.low_end import low_end
from sdpdr.solvers.lowrank.descent.spheres import SphereLagrangian, Spheres
from sdpdr.solvers.lowrank.descent.trust_region import Curvature, truncated
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.forms import DualSlack
from sdpdr.solvers.lowrank.general.hessian import Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout


def max_cut(weights, scale=1.0, length=1.0):
    """The bound of Goemans and Williamson, in units of one's own."""
    n = len(weights)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    cost = InnerProduct(sp.csr_array(-0.25 * scale * laplacian))
    unit = Rows("unit", "==", {"X": Diagonal(n)}, length * np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": cost}, (unit,), maximize=True)


def cycle(n):
    weights = np.zeros((n, n))
    i = np.arange(n)
    weights[i, (i + 1) % n] = weights[(i + 1) % n, i] = 1.0
    return weights


def random_weights(n, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.standard_normal((n, n)) * (rng.random((n, n)) < share), 1)
    return upper + upper.T


def theta(n, m, seed=0):
    """Lovász's number of a random graph."""
    i, j = np.triu_indices(n, 1)
    chosen = np.random.default_rng(seed).choice(i.size, m, replace=False)
    edges = np.column_stack([i, j])[chosen]
    rows = (
        Rows("trace", "==", {"X": Trace(n)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(n, edges)}, np.zeros(m)),
    )
    ones = InnerProduct(-np.ones((n, n)))
    return SDP((PsdVariable("X", n),), {"X": ones}, rows, maximize=True)


def mixed():
    """Lengths of single points and of a group, and entries at a penalty."""
    n = 8
    first = SvecMap(n, sp.csr_array(Diagonal(n).matrix()[:4]))
    group = SvecMap(n, sp.csr_array(2.0 * Diagonal(n).matrix()[4:].sum(axis=0)[None, :]))
    rows = (
        Rows("points", "==", {"X": first}, np.array([1.0, 2.0, 3.0, 4.0])),
        Rows("group", "==", {"X": group}, np.array([6.0])),
        Rows("entries", "==", {"X": Entries(n, [[0, 5], [2, 7]])}, np.array([0.3, -0.4])),
    )
    cost = InnerProduct(random_weights(n, 3, 1.0))
    return SDP((PsdVariable("X", n),), {"X": cost}, rows)


def local_of(sdp, rank=3, seed=0, penalty=2.0):
    problem = compile_problem(sdp)
    layout, rng = Layout(problem, (rank,)), np.random.default_rng(seed)
    y = rng.standard_normal(problem.m)
    function = SphereLagrangian(layout, y, penalty, Spheres(problem))
    return function.at(rng.standard_normal(layout.size)), rng


# -- laws of the parts --------------------------------------------------------------------------


def test_rows_on_lengths_are_kept_and_others_have_a_penalty():
    problem = compile_problem(mixed())
    spheres = Spheres(problem)
    assert spheres.free.tolist() == [False] * 5 + [True] * 2
    layout = Layout(problem, (3,))
    vector = spheres.retracted(layout, np.random.default_rng(0).standard_normal(layout.size))
    left = layout.values(vector)[1:] - problem.rhs
    assert np.allclose(left[~spheres.free], 0.0, atol=1e-12)
    assert np.allclose(spheres.retracted(layout, vector), vector)


def test_the_tangent_part_is_a_projection_that_keeps_lengths():
    local, rng = local_of(mixed())
    layout, spheres = local.function.layout, local.function.spheres
    change = rng.standard_normal(layout.size)
    tangent = spheres.tangent(layout, local.vector, change)
    assert np.allclose(spheres.tangent(layout, local.vector, tangent), tangent)
    assert abs(tangent @ (change - tangent)) < 1e-10
    (factor,), _ = layout.split(local.vector)
    (step,), _ = layout.split(tangent)
    slopes = layout.problem.blocks[0].forms.cross(factor, step)[1:]
    assert np.allclose(slopes[~spheres.free], 0.0, atol=1e-10)


@pytest.mark.parametrize("make", [mixed, lambda: max_cut(random_weights(9))])
def test_gradient_and_curvature_are_derivatives_on_the_manifold(make):
    local, rng = local_of(make())
    function, layout = local.function, local.function.layout
    spheres = function.spheres
    direction = spheres.tangent(layout, local.vector, rng.standard_normal(layout.size))
    h = 1e-5
    ahead, behind = (function.at(local.vector + t * direction) for t in (h, -h))
    assert np.isclose((ahead.value - behind.value) / (2 * h), local.gradient() @ direction)
    curvature = Curvature(local, [Jacobian(b.forms) for b in layout.problem.blocks])
    change = (ahead.gradient() - behind.gradient()) / (2 * h)
    expected = spheres.tangent(layout, local.vector, change)
    assert np.allclose(curvature @ direction, expected, atol=1e-6 * np.abs(expected).max())


def test_a_step_stays_in_its_region_and_goes_down():
    local, _ = local_of(max_cut(random_weights(12)))
    layout = local.function.layout
    curvature = Curvature(local, [Jacobian(b.forms) for b in layout.problem.blocks])
    gradient = local.gradient()
    for radius in (1e-6, 1e-2, np.inf):
        step = truncated(curvature, gradient, radius, 1e-3, 100, lambda: False)
        assert step.promise > 0.0
        model = -gradient @ step.change - 0.5 * step.change @ (curvature @ step.change)
        assert np.isclose(step.promise, model, rtol=1e-6)
    small = truncated(curvature, gradient, 1e-6, 1e-3, 100, lambda: False)
    assert small.at_border
    assert local.function.at(local.vector + small.change).value < local.value


@pytest.mark.parametrize("low", [-1e-3, 1e-2])
def test_the_low_end_is_found_beside_a_cluster_of_zeros(low):
    n, r, rng = 400, 6, np.random.default_rng(1)
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    values = np.concatenate([np.zeros(r), [low], rng.uniform(0.5, 2.0, n - r - 1)])
    matrix = (basis * values) @ basis.T
    none = np.zeros((0, n))
    slack = DualSlack(matrix, np.zeros(0), none, none)
    found, vectors = low_end(slack, np.zeros((n, 0)), basis[:, :r], 3, 0)
    assert np.isclose(found[0], min(low, 0.0), atol=1e-6)
    assert np.allclose(vectors.T @ vectors, np.eye(3), atol=1e-8)


# -- programs with known optima -----------------------------------------------------------------


@pytest.mark.parametrize("n", [5, 9, 33, 101])
def test_cuts_of_odd_cycles_have_the_value_in_closed_form(n):
    """n (1 + cos(pi / n)) / 2, by the circulant dual."""
    solution = sdpdr.solve(max_cut(cycle(n)), LowRank(options={"engine": "descent"}))
    assert solution.certified()
    assert np.isclose(solution.value, n * (1.0 + np.cos(np.pi / n)) / 2.0, rtol=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "make", [lambda: max_cut(random_weights(20)), mixed, lambda: theta(15, 30)]
)
def test_agreement_with_clarabel(make):
    sdp = make()
    ours = sdpdr.solve(sdp, LowRank(options={"engine": "descent"}))
    other = sdpdr.solve(sdp, "clarabel")
    assert np.isclose(ours.value, other.value, rtol=1e-5)
    assert abs(ours.bound - other.bound) <= 1e-5 * abs(other.bound)


# -- bounds that never lie ----------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, 1, 3, 10])
def test_a_run_that_is_stopped_tells_the_truth(limit):
    sdp = max_cut(cycle(101))
    optimum = 101 * (1.0 + np.cos(np.pi / 101)) / 2.0
    result = solve_factored(sdp, Options(tol=1e-9, max_iter=limit), descent=True)
    assert result.status == "max_iter"
    assert result.value <= optimum * (1.0 + 1e-9)
    assert result.bound is None or result.bound >= optimum * (1.0 - 1e-9)


def test_rows_that_contradict_each_other_do_not_converge():
    rows = (
        Rows("unit", "==", {"X": Diagonal(4)}, np.ones(4)),
        Rows("far", "==", {"X": Entries(4, [[0, 1]])}, np.array([2.0])),
    )
    sdp = SDP((PsdVariable("X", 4),), {"X": InnerProduct(random_weights(4))}, rows)
    result = solve_factored(sdp, Options(max_iter=500), descent=True)
    assert result.status != "converged"
