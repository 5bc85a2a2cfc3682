"""Lowering keeps structure: nothing of size n^2 is formed, labels and sparsity survive."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.linalg import SquaredEdgeLengths

N = 10_000


@pytest.fixture(scope="module")
def ring():
    """A ring of 10,000 points, each joined to the next ones; 35,000 edges."""
    i = np.arange(N)
    pairs = np.vstack([np.column_stack([i, (i + k) % N]) for k in (1, 2, 3)])
    pairs = np.vstack([pairs, np.column_stack([i[::2], (i[::2] + 4) % N])])
    return graphs.from_edges(N, np.sort(pairs, axis=1), np.ones(len(pairs)))


@pytest.mark.nightly
@pytest.mark.parametrize("relation", ["inequality", "equality", Band(0.1), Slack(1.0)], ids=str)
def test_ten_thousand_points_lower_without_anything_of_size_n_squared(ring, relation):
    assert ring.m == 35_000
    tracemalloc.start()
    try:
        sdp = methods.mvu(ring, relation).to_sdp()
        slack = sdp.dual_slack("K", {r.label: np.ones(r.m) for r in sdp.rows[1:]})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50e6
    assert sp.issparse(slack)
    assert slack.nnz <= N + 2 * ring.m


def test_maps_arrive_as_they_were_made(ring):
    sdp = methods.mvu(ring).to_sdp()
    rows = {r.label: r for r in sdp.rows}
    assert list(rows) == ["centered", "isometry"]
    assert isinstance(rows["isometry"].lhs["K"], SquaredEdgeLengths)
    assert np.array_equal(rows["isometry"].rhs, ring.sqdist)
    assert rows["isometry"].relation == "<="


def test_constants_move_to_the_right_side():
    from sdpdr.linalg import Diagonal
    from sdpdr.model import AtMost, Block, Model, Var
    from sdpdr.program.point import PsdVariable

    class Shifted(Block):
        def variables(self):
            yield PsdVariable("K", 2)

        def terms(self):
            yield AtMost(2.0 * (Diagonal(2) @ Var("K") + [1.0, -1.0]) - 3.0, 10.0)

    (rows,) = Model((Shifted(),)).to_sdp().rows
    np.testing.assert_allclose(rows.rhs, [11.0, 15.0])
    np.testing.assert_allclose(rows.lhs["K"].apply(np.diag([1.0, 4.0])), [2.0, 8.0])
