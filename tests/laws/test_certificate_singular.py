"""Singular and nearly singular pencils: a bound or a reason, never an error of linear algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import splu

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import Diagonal, InnerProduct, Trace
from sdpdr.linalg.smallest import bordered_lu, lu, smallest_eigenvalue
from sdpdr.program import SDP, PsdVariable, Rows, certify
from sdpdr.program.certificate.arithmetic import Plain, Rigorous, is_mass
from sdpdr.program.certificate.scaling import outweighed

NOTHING = sp.csr_array


def laplacian(n, density, rng):
    """Of a random graph, integers: singular exactly, hardly ever in floating point."""
    edges = np.triu(rng.random((n, n)) < density, 1).astype(float)
    adjacency = edges + edges.T
    return sp.csr_array(np.diag(adjacency.sum(axis=1)) - adjacency)


def max_cut(weights):
    n = weights.shape[0]
    rows = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
    cost = {"X": InnerProduct(-0.25 * weights)}
    return SDP((PsdVariable("X", n),), objective=cost, rows=(rows,), maximize=True)


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(3, 12))]
)
def test_a_laplacian_as_reward_is_no_error(seed):
    n = 40 + 10 * seed
    sdp = max_cut(laplacian(n, 0.08, np.random.default_rng(seed)))
    solution = sdpdr.solve(sdp)
    assert solution.certified(1e-6)
    for rigorous in (False, True):
        bound = certify(sdp, solution.duals, rigorous=rigorous).bound
        assert solution.value * (1.0 - 1e-7) <= bound <= solution.value * (1.0 + 1e-6)


@pytest.mark.nightly
@settings(max_examples=25, derandomize=True)
@given(
    n=st.integers(1, 12),
    rank=st.integers(0, 12),
    noise=st.sampled_from([0.0, 1e-300, 1e-17, 1e-16, 1e-15, 1e-13, 1e-10]),
    scale=st.integers(-150, 150),
    maximize=st.booleans(),
    rigorous=st.booleans(),
    sparse=st.booleans(),
    row=st.sampled_from(["diagonal", "trace", "singular", "none"]),
    seed=st.integers(0, 10_000),
)
def test_certify_answers_whatever_the_pencil(
    n, rank, noise, scale, maximize, rigorous, sparse, row, seed
):
    rng = np.random.default_rng(seed)

    def matrix(k):
        factor = rng.integers(-2, 3, (n, k)).astype(float)
        found = factor @ factor.T + noise * np.diag(rng.standard_normal(n))
        return sp.csr_array(found) if sparse else found

    reward = InnerProduct(-(10.0**scale) * matrix(min(rank, n)))
    singular = Rows("singular", "==", {"X": InnerProduct(matrix(min(rank, n)))}, np.ones(1))
    rows = {
        "diagonal": (Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n)),),
        "trace": (Rows("trace", "<=", {"X": Trace(n)}, np.ones(1)), singular),
        "singular": (singular,),
        "none": (),
    }[row]
    sdp = SDP((PsdVariable("X", n),), {"X": reward}, rows, maximize=maximize)
    for size in (0.0, 1.0, 10.0**scale, 1e300):
        duals = {r.label: size * rng.integers(0, 3, r.m) for r in rows}
        certificate = certify(sdp, duals, rigorous=rigorous)
        assert (certificate.bound is None) or np.isfinite(certificate.bound)
        assert certificate.argument


@pytest.mark.nightly
@pytest.mark.parametrize("n", [2, 30, 500])
def test_a_mass_is_clearly_definite(n):
    ones = sp.csr_array(np.ones((n, 1)))
    complete = sp.csr_array(n * np.eye(n) - np.ones((n, n)))
    assert is_mass(complete, ones)
    for shift in (0.0, 1e-16 * n, 1e-14 * n):
        assert not is_mass(complete + shift * sp.eye_array(n, format="csr"), NOTHING((n, 0)))
    assert is_mass(sp.diags_array(np.exp2(np.linspace(-60, 60, n))), NOTHING((n, 0)))


@pytest.mark.nightly
@pytest.mark.parametrize("n", [5, 500])
@pytest.mark.parametrize("mass", [0.0, -1.0])
def test_a_pencil_without_eigenvalues_says_so(n, mass):
    matrix = sp.eye_array(n, format="csr")
    with pytest.raises(ArithmeticError):
        smallest_eigenvalue(-1.0 * matrix, None, mass * matrix)


def test_a_singular_matrix_has_no_factors():
    with pytest.raises(ArithmeticError, match="singular"):
        lu(sp.csc_array((2, 2)))


def test_a_definite_reward_is_still_scaled():
    unfolding = methods.mvu(graphs.cycle(40))
    assert "scaled by 1/λ" in sdpdr.solve(unfolding, "lowrank").argument


@pytest.mark.parametrize("lack", [0.0, 1e-9, 1e-7])
@pytest.mark.parametrize("arithmetic", [Plain(), Rigorous()], ids=["plain", "rigorous"])
def test_a_point_that_nothing_pulls_needs_no_multiplier(lack, arithmetic):
    """Multipliers a little too small are stretched, though they leave one point to itself."""
    graph = graphs.from_edges(4, [[0, 1], [1, 2], [1, 3]], np.ones(3))
    sdp = methods.colored_mvu(graph, np.array([1.0, 0.0, -1.0, 0.0])).to_sdp()
    # The two ends are two edges apart, and their squared distance 4 is the optimum.
    pulled = 2.0 * (1.0 - lack) * np.array([1.0, 1.0, 0.0]) + [0.0, 0.0, 1e-12]
    duals = {label: np.zeros(4) for label in sdp.labels} | {"isometry": pulled}
    certificate = outweighed(sdp, duals, arithmetic)[0]
    assert "stretched" in certificate.argument
    assert 4.0 <= certificate.bound <= 4.0 * (1.0 + 20.0 * max(lack, 1e-9))


@pytest.mark.parametrize("spread", [0, 6])
def test_a_border_of_ones_neither_fills_a_laplacian_nor_loses_its_digits(spread, monkeypatch):
    rng = np.random.default_rng(0)
    i = np.arange(3000)
    ends = np.vstack([np.c_[i[:-k], i[k:]] for k in (1, 2, 3)])
    half = sp.csr_array((10.0 ** -rng.uniform(0, spread, len(ends)), tuple(ends.T)), (3000, 3000))
    laplacian = sp.diags_array((half + half.T).sum(axis=1)) - half - half.T
    ones = sp.csr_array(np.ones((3000, 1)))
    bordered = sp.csc_array(sp.block_array([[laplacian, ones], [ones.T, None]]))
    made = []
    monkeypatch.setattr(
        "scipy.sparse.linalg.splu", lambda *a, **k: made.append(splu(*a, **k)) or made[-1]
    )
    x = rng.standard_normal((3001, 2))
    x[:-1] -= x[:-1].mean(axis=0)
    found = bordered_lu(bordered, 3000)(bordered @ x)
    assert made[0].nnz < 20 * 3000
    np.testing.assert_allclose(bordered @ found, bordered @ x, atol=1e-10)
    np.testing.assert_allclose(found.mean(axis=0)[None], x.mean(axis=0)[None], atol=1e-6)
