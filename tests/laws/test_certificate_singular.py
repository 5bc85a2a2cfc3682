"""Singular and nearly singular pencils: a bound or a reason, never an error of linear algebra."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import splu

from sdpdr.linalg import Diagonal, InnerProduct, Trace
from sdpdr.linalg.smallest import bordered_lu
from sdpdr.program import SDP, PsdVariable, Rows, certify


def laplacian(n, density, rng):
    """Of a random graph, integers: singular exactly, hardly ever in floating point."""
    edges = np.triu(rng.random((n, n)) < density, 1).astype(float)
    adjacency = edges + edges.T
    return sp.csr_array(np.diag(adjacency.sum(axis=1)) - adjacency)


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


def test_a_border_of_ones_neither_fills_a_laplacian_nor_loses_its_digits(monkeypatch):
    rng = np.random.default_rng(0)
    i = np.arange(3000)
    ends = np.vstack([np.c_[i[:-k], i[k:]] for k in (1, 2, 3)])
    half = sp.csr_array((10.0 ** -rng.uniform(0, 6, len(ends)), tuple(ends.T)), (3000, 3000))
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
