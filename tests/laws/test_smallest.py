"""Bordered Laplacians are solved with few numbers and all digits."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from sdpdr.linalg.smallest import bordered_lu


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
