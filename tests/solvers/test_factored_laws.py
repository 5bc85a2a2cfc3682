"""Identities that hold the parts of the general low-rank engine together."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr import graphs, methods
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    Summed,
    Trace,
)
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.forms import DualSlack, Forms
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.kkt import SparseNewton
from sdpdr.solvers.lowrank.general.lagrangian import Lagrangian, Layout
from sdpdr.solvers.lowrank.general.line_search import Curve
from sdpdr.solvers.lowrank.general.lowest import lowest
from sdpdr.solvers.lowrank.general.parts import part_of
from sdpdr.solvers.lowrank.general.precondition import block_preconditioner, saddle_preconditioner

from .factored_programs import known_program


def maps(n=30, seed=0):
    rng = np.random.default_rng(seed)
    long = rng.standard_normal((2, n))
    return Stacked(
        [
            InnerProduct(np.ones((n, n))),
            InnerProduct(rng.standard_normal((n, n))),
            QuadraticForms(long),
            BilinearForms(long, rng.standard_normal((2, n))),
            np.array([[1.0, -2.0]]) @ QuadraticForms(long),
            Summed([Trace(n), InnerProduct(np.ones((n, n)))]),
            SquaredEdgeLengths(n, [[0, 1], [3, 5]]),
            Entries(n, [[0, 1], [2, 2]]),
            Diagonal(n),
        ]
    )


@pytest.fixture(scope="module")
def point():
    """A random point of a program with everything in it, and its parts."""
    sdp = known_program(0, scalars=3, free=2, curved=2).sdp
    problem = compile_problem(sdp)
    layout = Layout(problem, (3, 2, 1))
    rng = np.random.default_rng(1)
    vector = rng.standard_normal(layout.size)
    function = Lagrangian(layout, np.abs(rng.standard_normal(problem.m)), 0.7)
    jacobians = [Jacobian(block.forms) for block in problem.blocks]
    return function, vector, jacobians, rng.standard_normal(layout.size)


def test_maps_taken_apart_are_the_same_maps():
    whole, rng = maps(), np.random.default_rng(2)
    forms = Forms(part_of(whole))
    r, d = rng.standard_normal((30, 3)), rng.standard_normal((30, 3))
    y = rng.standard_normal(whole.m)
    np.testing.assert_allclose(forms.values(r), whole.apply_factor(r), atol=1e-10)
    np.testing.assert_allclose(forms.cross(r, d), whole.apply(r @ d.T + d @ r.T), atol=1e-10)
    np.testing.assert_allclose(forms.slack(y).toarray(), whole.adjoint(y), atol=1e-12)
    np.testing.assert_allclose(forms.slack(y).diagonal(), np.diag(whole.adjoint(y)), atol=1e-12)


def test_dense_matrices_of_low_rank_are_noticed():
    assert part_of(InnerProduct(np.ones((30, 30)))).left.shape == (1, 30)
    assert part_of(InnerProduct(np.diag(np.arange(30.0)) + 1.0)).left.shape == (0, 30)


def test_derivatives_agree_with_differences(point):
    function, vector, jacobians, step = point
    local, h = function.at(vector), 1e-6
    ahead, behind = function.at(vector + h * step), function.at(vector - h * step)
    slope = (ahead.value - behind.value) / (2.0 * h)
    assert local.gradient() @ step == pytest.approx(slope, rel=1e-6)
    bend = (ahead.gradient() - behind.gradient()) / (2.0 * h)
    hessian = Hessian(local, jacobians)
    np.testing.assert_allclose(hessian @ step, bend, atol=1e-5 * np.abs(bend).max())
    np.testing.assert_allclose(
        hessian.derivative(step), np.where(local.active, local.slope(step)[1:], 0.0), atol=1e-10
    )
    w = np.arange(1.0, local.excess.size + 1.0)
    assert hessian.adjoint(w) @ step == pytest.approx(w @ hessian.derivative(step))


def test_the_line_search_knows_the_function_along_the_line(point):
    function, vector, _, step = point
    local = function.at(vector)
    step = -np.sign(local.gradient() @ step) * step
    curve = Curve(local, step)
    for t in (0.1, 1.0, 3.0):
        there = function.at(vector + t * step)
        assert curve.change(t) == pytest.approx(there.value - local.value, rel=1e-9)
        assert curve.slope(t) == pytest.approx(there.gradient() @ step, rel=1e-8)
    assert curve.change(curve.best()) < 0.0


def equality_unfolding(seed=0):
    """A point near which the dual slack of an unfolding is positive definite on the face."""
    points = np.random.default_rng(seed).standard_normal((14, 2))
    problem = compile_problem(methods.mvu(graphs.knn(points, 5), "equality").to_sdp())
    layout = Layout(problem, (3,))
    rng = np.random.default_rng(seed)
    vector = layout.project(rng.standard_normal(layout.size))
    heavy = Lagrangian(layout, np.full(problem.m, 50.0), 2.0)
    return problem, layout, heavy.at(vector), layout.project(rng.standard_normal(layout.size))


def test_factorizations_invert_the_second_derivative():
    problem, layout, local, right = equality_unfolding()
    jacobians = [Jacobian(block.forms) for block in problem.blocks]
    hessian = Hessian(local, jacobians)
    dense = saddle_preconditioner(hessian, 1e-13)
    sparse, tries = SparseNewton(layout, jacobians).solver(hessian, 1e-13)
    assert sparse is not None
    assert tries == 1
    for solve in (dense, sparse):
        answer = solve(right)
        np.testing.assert_allclose(hessian @ answer, right, atol=1e-6 * np.abs(right).max())
        np.testing.assert_allclose(layout.project(answer), answer, atol=1e-8)


def test_preconditioners_are_symmetric_and_positive():
    problem, layout, _, _ = equality_unfolding(1)
    rng = np.random.default_rng(3)
    local = Lagrangian(layout, rng.standard_normal(problem.m), 1.0).at(
        layout.project(rng.standard_normal(layout.size))
    )
    jacobians = [Jacobian(block.forms) for block in problem.blocks]
    hessian = Hessian(local, jacobians)
    sparse, _ = SparseNewton(layout, jacobians).solver(hessian, 1e-6)
    for solve in (block_preconditioner(hessian), saddle_preconditioner(hessian, 1e-6), sparse):
        matrix = np.column_stack([solve(layout.project(e)) for e in np.eye(layout.size)])
        scale = np.abs(matrix).max()
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-8 * scale)
        assert np.linalg.eigvalsh((matrix + matrix.T) / 2.0)[0] >= -1e-8 * scale


def lowered_path(n):
    """The Laplacian of a path less twice its third eigenvalue along the third eigenvector.

    And all eigenvalues beside the vector of ones, in closed form.
    """
    t = np.pi * np.arange(n) / n
    values = 2.0 - 2.0 * np.cos(t)
    third = np.cos(3.0 * np.pi * (np.arange(n) + 0.5) / n)
    third /= np.linalg.norm(third)
    off = np.full(n - 1, -1.0)
    ends = np.full(n, 2.0)
    ends[[0, -1]] = 1.0
    laplacian = sp.diags_array([off, ends, off], offsets=[-1, 0, 1], format="csr")
    values[3] *= -1.0
    return laplacian, third[None, :], 2.0 * (2.0 - 2.0 * np.cos(t[3])), np.sort(values[1:])


@pytest.mark.daily(2)
@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("split", [False, True])
def test_lowest_eigenvalues_beside_a_part_of_low_rank_are_told_apart(split, quick):
    # Six of them within 1e-4 of the largest: plain Lanczos ends without any.
    n = 1600
    laplacian, third, weight, expected = lowered_path(n)
    left = right = third
    weights = np.array([-weight])
    if split:
        # The same product as a form in two vectors, and a square that makes up for their other.
        other = np.ones((1, n)) / np.sqrt(n)
        left, right = np.vstack([third, third]), np.vstack([third + other, other])
        weights = np.array([-weight, weight])
    slack = DualSlack(laplacian, weights, left, right)
    values, vectors = lowest(slack, np.ones((n, 1)) / np.sqrt(n), 6, 0, quick=quick)
    count = 1 if quick else 6
    assert values.shape == (count,)
    assert np.allclose(values, expected[:count], rtol=1e-6, atol=1e-12)
    assert np.linalg.norm(slack @ vectors - vectors * values, axis=0).max() < 1e-8
