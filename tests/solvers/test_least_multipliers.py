"""Where rows leave a choice of multipliers, those of least size prove the matrix that was found."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.descent.least import least_multipliers, leave_a_choice
from sdpdr.solvers.lowrank.descent.spheres import SphereLagrangian, Spheres
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.general.hessian import Hessian, Jacobian
from sdpdr.solvers.lowrank.general.lagrangian import Layout


def completion(n, rank, m, seed=0, unit=1.0):
    """Least nuclear norm of an n x n matrix of low rank that is known at m random places."""
    rng = np.random.default_rng(seed)
    full = unit * rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n))
    i, j = np.divmod(np.sort(rng.choice(n * n, m, replace=False)), n)
    known = Rows("known", "==", {"X": Entries(2 * n, np.column_stack([i, n + j]))}, full[i, j])
    sdp = SDP((PsdVariable("X", 2 * n),), {"X": 0.5 * Trace(2 * n)}, (known,))
    return sdp, float(np.linalg.svd(full, compute_uv=False).sum())


def with_diagonal(n, m, seed=0):
    """Entries of a matrix of rank one whose diagonal is kept exactly."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], n)
    pairs = np.column_stack(np.triu_indices(n, 1))
    pairs = pairs[np.sort(rng.choice(len(pairs), m, replace=False))]
    known = signs[pairs].prod(axis=1)
    rows = (
        Rows("unit", "==", {"X": Diagonal(n)}, np.ones(n)),
        Rows("known", "==", {"X": Entries(n, pairs)}, known),
    )
    half = rng.standard_normal((n, n))
    return SDP((PsdVariable("X", n),), {"X": InnerProduct(half + half.T)}, rows)


def local_of(sdp, rank, seed=0, multipliers=None):
    problem = compile_problem(sdp)
    layout = Layout(problem, (rank,))
    vector = np.random.default_rng(seed).standard_normal(layout.size)
    y = np.zeros(problem.m) if multipliers is None else multipliers
    return SphereLagrangian(layout, y, 2.0, Spheres(problem)).at(vector)


def never():
    return False


@pytest.mark.parametrize(
    ("sdp", "rank"), [(completion(12, 2, 90)[0], 2), (with_diagonal(14, 60), 2)]
)
def test_they_solve_least_squares_with_the_least_norm(sdp, rank):
    """The rows are entries, whose matrices are orthogonal."""
    local = local_of(sdp, rank)
    function, jacobians = local.function, [Jacobian(compile_problem(sdp).blocks[0].forms)]
    assert leave_a_choice(function.layout)
    found, _ = least_multipliers(local, jacobians, 1e-12, never)
    spheres, vector, free = function.spheres, local.vector, local.active
    hessian = Hessian(local, jacobians)
    rows, forms = np.eye(free.size)[free], function.layout.problem.blocks[0].forms
    size = [np.linalg.norm(forms.slack(np.append(0.0, row)).toarray()) for row in rows]
    columns = [
        spheres.tangent(function.layout, vector, hessian.adjoint(row)) / s
        for row, s in zip(rows, size, strict=True)
    ]
    bare = SphereLagrangian(function.layout, np.zeros(free.size), 0.0, spheres).at(vector)
    wanted = np.linalg.lstsq(np.array(columns).T, -bare.gradient(), rcond=1e-10)[0] / size
    np.testing.assert_allclose(found[free], wanted, rtol=1e-6, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.nightly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_a_matrix_that_is_known_at_many_places_is_found_at_its_rank(unit):
    """Sums of violations alone took columns that nothing needs, and thousands of products."""
    sdp, norm = completion(120, 2, 5000, unit=unit)
    result = solve_factored(sdp, Options(tol=1e-6))
    assert result.status == "converged"
    assert "rank 2:" in result.message
    assert result.value == pytest.approx(norm, rel=1e-6)
    assert result.bound == pytest.approx(norm, rel=1e-6)
    solution = sdpdr.solve(sdp, "lowrank")
    assert solution.certified(1e-6)
