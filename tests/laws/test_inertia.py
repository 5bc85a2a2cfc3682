"""Definiteness and smallest eigenvalues where pivots are small or many eigenvalues are equal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify import certify
from sdpdr.errors import FileFormatError
from sdpdr.linalg import InnerProduct, Products, QuadraticForms, SquaredEdgeLengths, Trace
from sdpdr.linalg.inertia import is_positive_on
from sdpdr.program import SDP, Factor, PsdVariable, Rows
from sdpdr.program.sdpa import read_sdpa

from ..proofs import prove_infeasible


def cycle(n):
    return np.column_stack([np.arange(n), (np.arange(n) + 1) % n])


def unfolding(n, objective, *more):
    rows = (
        Rows("centered", "==", {"K": Products(n)}, np.zeros(n)),
        Rows("edges", "<=", {"K": SquaredEdgeLengths(n, cycle(n))}, np.ones(n)),
        *more,
    )
    return SDP((PsdVariable("K", n),), objective, rows, maximize=bool(objective))


@pytest.mark.nightly
def test_a_program_with_a_point_is_not_proved_infeasible():
    n = 1001
    F = np.random.default_rng(0).standard_normal((n, 2))
    F -= F.mean(axis=0)
    spread = np.array([[-1.0, 1e-3]]) @ QuadraticForms(F.T)
    program = unfolding(n, {}, Rows("spread", "<=", {"K": spread}, np.array([-3000.0])))
    y = 0.9 * np.abs(np.arange(n) - n // 2)
    y -= y.mean()
    y = max((np.roll(y, k) for k in range(n)), key=lambda turned: abs(F[:, 0] @ turned))
    point = {"K": Factor(y[:, None])}
    assert all(np.min(program.slack(r, point)) > 0.0 for r in program.rows[1:])
    multipliers = {"centered": np.zeros(n), "edges": np.ones(n), "spread": np.ones(1)}
    assert isinstance(prove_infeasible(program, multipliers), str)


def test_no_bound_is_below_the_value_of_a_point():
    n = 200
    f = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    f = (f - f.mean()).astype(float)
    program = unfolding(n, {"K": -1.0 * QuadraticForms(f[None, :])})
    found = certify(program, {"centered": np.zeros(n), "edges": np.full(n, 0.5)})
    y = np.abs(np.arange(n) - n / 2)
    reached = max((f @ (np.roll(y, k) - y.mean())) ** 2 for k in range(n))
    assert found.bound is None or found.bound >= reached


def test_a_small_pivot_swallows_no_negative_eigenvalue():
    rng, n = np.random.default_rng(0), 30
    for k in range(206):
        A = np.eye(n)
        A[0, 0] = 10 ** rng.uniform(-15.5, -14.5)
        A[0, 1] = A[1, 0] = rng.uniform(0.3, 1)
        A[0, 2] = A[2, 0] = rng.uniform(0.3, 1)
        A[1, 1], A[2, 2] = -0.1 * rng.uniform(0.2, 2, 2)
        A[1:3, 3:12], A[3:12, 1:3] = 0.01, 0.01
        u = rng.standard_normal(n)
        # The last is the one that was found.
        if k < 195:
            continue
        face = Rows("face", "==", {"K": Products(n, u)}, np.zeros(n))
        trace = Rows("trace", "==", {"K": Trace(n)}, np.ones(1))
        program = SDP((PsdVariable("K", n),), {"K": InnerProduct(sp.csr_array(A))}, (face, trace))
        found = certify(program, {"face": np.zeros(n), "trace": np.zeros(1)})
        beside = np.linalg.svd(u[:, None])[0][:, 1:]
        least = np.linalg.eigvalsh(beside.T @ A @ beside)[0]
        assert found.bound is None or found.bound <= least + 1e-9


def star_less(leaves, spread, below):
    """Laplacian of a star less a share of all weights' least, which lies that far below it."""
    n = leaves + 1
    edges = np.column_stack([np.zeros(leaves, dtype=int), np.arange(1, n)])
    weights = 1.0 + spread * np.linspace(0.0, 1.0, leaves)
    laplacian = SquaredEdgeLengths(n, edges).adjoint(weights)
    return laplacian - (1.0 - below) * sp.eye_array(n), np.ones((n, 1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("leaves", "spread"), [(30, 0.0), (1500, 1e-12)])
def test_leaves_that_are_nearly_eigenvectors_hide_no_sign(leaves, spread):
    """All of them lie at one eigenvalue; eliminated, each divides the hub by almost nothing."""
    for below in (1e-6, 1e-9, -1e-9, -1e-6):
        matrix, ones = star_less(leaves, spread, below)
        assert is_positive_on(matrix, ones) == (below > 0.0)


@pytest.mark.parametrize("size", ["99999999999999999999", "5000000000", "-5000000000"])
def test_a_block_too_large_for_numbers_of_64_bits_is_refused_by_its_line(tmp_path, size):
    path = tmp_path / "large.dat-s"
    path.write_text(f"1\n1\n{size}\n1.0\n0 1 1 1 1.0\n")
    with pytest.raises(FileFormatError, match="line 3"):
        read_sdpa(path)
