"""Norms of matrix expressions: laws, values against NumPy, dual pairs, and identities."""

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import blocks, check_block
from sdpdr.errors import ModelError, ShapeError
from sdpdr.linalg import Entries, InnerProduct
from sdpdr.linalg.svec import smat, svec_size
from sdpdr.model import AtMost, Block, Equal, Maximize, Minimize, Model, Var
from sdpdr.program.point import VectorVariable

RNG = np.random.default_rng(5)
X = RNG.standard_normal((3, 4))
S = smat(RNG.standard_normal(svec_size(5)))
SIZES = np.linalg.svd(X, compute_uv=False)
EIGENVALUES = np.sort(np.linalg.eigvalsh(S))[::-1]


class Free(Block):
    """A free vector, a linear price on it, and a limit on the size of its entries."""

    def __init__(self, size, price, name="x"):
        self.size, self.price, self.name = size, np.asarray(price, dtype=float), name

    def variables(self):
        yield VectorVariable(self.name, self.size)

    def terms(self):
        yield Minimize(self.price[None, :] @ Var(self.name))
        eye = sp.eye_array(self.size, format="csr")
        both = sp.vstack([eye, -eye], format="csr")
        yield AtMost(both @ Var(self.name), 50.0)


class Pinned(Block):
    """A vector that equals given values."""

    def __init__(self, values, name="x"):
        self.values, self.name = np.asarray(values, dtype=float), name

    def variables(self):
        yield VectorVariable(self.name, self.values.size)

    def terms(self):
        yield Equal(np.eye(self.values.size) @ Var(self.name), self.values)


def free(size, name="x"):
    return sp.eye_array(size, format="csr") @ Var(name)


def value(*parts, solver="clarabel", tol=1e-8):
    solution = sdpdr.solve(Model(tuple(parts), maximize=False), solver, tol=tol)
    # Some duals have a single point, and so no interior to prove a bound in, or little of it.
    proved = (sdpdr.Status.SOLVED, sdpdr.Status.OPTIMAL_NEARBY)
    assert solution.status in proved or solution.certified(10.0 * tol), solution.claimed
    return solution.value


def entries(n, m):
    """An expression that depends on a declared matrix."""
    pairs = RNG.integers(0, n, (m, 2))
    return 2.0 * (Entries(n, pairs) @ Var("K")) + RNG.standard_normal(m)


# -- laws ---------------------------------------------------------------------------------------


NORMS = [
    lambda **k: blocks.TraceNorm(entries(3, 6), (2, 3), **k),
    lambda **k: blocks.TraceNorm("K", (2, 3), **k),
    lambda **k: blocks.MaxNorm(entries(3, 6), (2, 3), **k),
    lambda **k: blocks.MaxNorm("K", (2, 3), **k),
    lambda **k: blocks.SpectralNorm(entries(3, 6), (2, 3), **k),
    lambda **k: blocks.SpectralNorm("K", (2, 3), **k),
    lambda **k: blocks.DualMaxNorm(entries(3, 6), (2, 3), **k),
    lambda **k: blocks.KyFan(entries(3, 6), 2, **k),
    lambda **k: blocks.KyFan(entries(3, 6), 2, (2, 3), **k),
    lambda **k: blocks.KyFan("K", 1, (2, 3), **k),
]
ROLES = [{}, {"limit": 2.0}, {"weight": 3.0}]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "role"),
    # Every norm in one of the roles, every role by some of them.
    [(make, ROLES[k % 3]) for k, make in enumerate(NORMS)],
)
def test_norms_keep_the_laws_of_blocks(make, role):
    assert "compilers" in check_block(make(**role))


def test_declarations_keep_the_laws_of_blocks():
    assert "compilers" in check_block(blocks.ProductLift((2, 3)))
    assert "compilers" in check_block(blocks.Fantope(4, 2))


# -- values -------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["clarabel", "lowrank"])
def test_norms_of_a_matrix(solver):
    pinned = Pinned(X.ravel())
    for norm, expected in (
        (blocks.TraceNorm(free(12), (3, 4)), SIZES.sum()),
        (blocks.SpectralNorm(free(12), (3, 4)), SIZES[0]),
        (blocks.KyFan(free(12), 2, (3, 4)), SIZES[:2].sum()),
    ):
        assert value(pinned, norm, solver=solver, tol=1e-6) == pytest.approx(expected, rel=3e-6)


@pytest.mark.nightly
def test_max_norms_with_closed_forms():
    u, v = RNG.standard_normal(3), RNG.standard_normal(4)
    hadamard = np.array([[1.0, 1.0], [1.0, -1.0]])
    for matrix, expected in (
        (np.outer(u, v), np.abs(u).max() * np.abs(v).max()),
        (np.eye(3), 1.0),
        (hadamard, np.sqrt(2.0)),
        (np.kron(hadamard, hadamard), 2.0),
    ):
        # Beyond this tolerance it is up to rounding how far a point has to be moved to be proved.
        pinned = Pinned(matrix.ravel())
        got = value(pinned, blocks.MaxNorm(free(matrix.size), matrix.shape), tol=1e-6)
        assert got == pytest.approx(expected, rel=1e-6)


# -- dual pairs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ball", "dual"),
    [
        (blocks.SpectralNorm(free(12), (3, 4), limit=1.0), SIZES.sum()),
        (blocks.TraceNorm(free(12), (3, 4), limit=1.0), SIZES[0]),
    ],
)
def test_the_largest_inner_product_over_a_ball_is_the_dual_norm(ball, dual):
    assert -value(Free(12, -X.ravel()), ball) == pytest.approx(dual, rel=1e-6)


@pytest.mark.parametrize(
    ("ball", "norm"), [(blocks.MaxNorm, blocks.DualMaxNorm), (blocks.DualMaxNorm, blocks.MaxNorm)]
)
def test_the_two_max_norms_are_dual(ball, norm):
    largest = -value(Free(12, -X.ravel()), ball(free(12), (3, 4), limit=1.0))
    assert largest == pytest.approx(value(Pinned(X.ravel()), norm(free(12), (3, 4))), rel=1e-6)


def test_the_max_norm_is_the_largest_scaled_trace_norm():
    solution = sdpdr.solve(
        Model((Pinned(X.ravel()), blocks.MaxNorm(free(12), (3, 4)))), "clarabel", tol=1e-9
    )
    d = np.maximum(solution.duals["max_norm.diagonal"], 0.0)
    u, v = (np.sqrt(part / part.sum()) for part in (d[:3], d[3:]))
    best = np.linalg.svd(u[:, None] * X * v, compute_uv=False).sum()
    assert best == pytest.approx(solution.value, rel=1e-5)
    for _ in range(20):
        u, v = (w / np.linalg.norm(w) for w in (RNG.random(3), RNG.random(4)))
        other = np.linalg.svd(u[:, None] * X * v, compute_uv=False).sum()
        assert other <= solution.value * (1.0 + 1e-8)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_fantope_and_ky_fan_are_dual(k):
    class Reward(Block):
        def terms(self):
            yield Maximize(InnerProduct(S) @ Var("F"))

    model = Model((blocks.Fantope(5, k), Reward()), maximize=True)
    solution = sdpdr.solve(model, "clarabel", tol=1e-9)
    assert solution.value == pytest.approx(EIGENVALUES[:k].sum(), rel=1e-7)
    # The best is a projection onto the leading eigenvectors.
    roots = np.linalg.eigvalsh(solution.values["F"])
    np.testing.assert_allclose(roots[-k:], 1.0, atol=1e-4)
    np.testing.assert_allclose(roots[:-k], 0.0, atol=1e-4)


# -- identities ---------------------------------------------------------------------------------


def test_a_lift_reads_factors_and_matrices():
    lift = blocks.ProductLift((2, 3))
    R = RNG.standard_normal((5, 2))
    np.testing.assert_allclose(lift.read(R @ R.T), R[:2] @ R[2:].T)
    np.testing.assert_allclose(lift.read(sdpdr.program.Factor(R)), R[:2] @ R[2:].T)
    values = sdpdr.model.affine.evaluate(lift.entries([(1, 2), (0, 0)]), {"Z": R @ R.T})
    np.testing.assert_allclose(values, [R[1] @ R[4], R[0] @ R[2]])


# -- wrong usage --------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, np.nan])
@pytest.mark.parametrize("name", ["limit", "weight"])
def test_sizes_must_be_positive(name, bad):
    with pytest.raises(ModelError, match=f"the {name} of a TraceNorm must be positive"):
        blocks.TraceNorm("Z", (2, 2), **{name: bad})


@pytest.mark.parametrize("block", [blocks.TraceNorm, blocks.MaxNorm, blocks.SpectralNorm])
def test_expressions_must_fit_the_shape(block):
    with pytest.raises(ShapeError, match="has 6 entries, row by row; the expression has 5"):
        list(block(free(5), (2, 3)).terms())


def test_k_must_be_in_range():
    with pytest.raises(ModelError, match=r"k must lie in 1..5, the number of eigenvalues"):
        blocks.KyFan(free(15), 6)
    with pytest.raises(ModelError, match=r"1..3, the number of singular values; it is 4"):
        blocks.KyFan(free(12), 4, (3, 4))
    with pytest.raises(ModelError, match=r"1..3, the order; it is 0"):
        blocks.Fantope(3, 0)
    with pytest.raises(ModelError, match="not a symmetric matrix"):
        blocks.KyFan(free(5), 1)
    with pytest.raises(ModelError, match="limit of a KyFan must be finite; it is nan"):
        blocks.KyFan(free(15), 1, limit=np.nan)
    with pytest.raises(ModelError, match="needs the shape"):
        blocks.KyFan("Z", 1)
