"""A dual slack as one product is the sum of all adjoints, of rows and of inequalities."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.linalg import (
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
    svec_size,
)
from sdpdr.linalg.outer import Outer
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable


def program(n: int, *more: Rows) -> SDP:
    """Rows of several kinds, on a matrix and on scalars, and a matrix inequality."""
    rng = np.random.default_rng(n)
    edges = np.array(list(pairwise(range(n))))
    rows = [
        Rows("lengths", "<=", {"X": SquaredEdgeLengths(n, edges)}, np.ones(n - 1)),
        Rows("cancelled", "<=", {"X": Entries(n, edges) - Entries(n, edges)}, np.ones(n - 1)),
        Rows("both", "==", {"X": Trace(n), "z": VectorMap(np.ones((1, 2)))}, np.ones(1)),
        Rows("scalars", "<=", {"z": VectorMap(np.eye(2))}, np.ones(2)),
    ]
    dense = SvecMap(n, rng.standard_normal((svec_size(2), svec_size(n))))
    lmi = Lmi("cone", 2, {"X": dense, "z": VectorMap(rng.standard_normal((3, 2)))}, np.zeros(3))
    cost = InnerProduct(sp.eye_array(n, format="csr"))
    return SDP((PsdVariable("X", n), VectorVariable("z", 2)), {"X": cost}, (*rows, *more), (lmi,))


def multipliers(sdp: SDP) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    duals = {r.label: rng.standard_normal(r.m) for r in sdp.rows}
    roots = {lmi.label: rng.standard_normal((lmi.order, lmi.order)) for lmi in sdp.lmis}
    return duals | {label: root + root.T for label, root in roots.items()}


def dense(matrix) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.daily(4)
@pytest.mark.parametrize("n", [1, 6, 40])
@pytest.mark.parametrize("left_out", ["", "lengths", "cone"])
def test_one_product_is_the_sum_of_all_adjoints(n, left_out):
    centred = [Rows("centred", "==", {"X": Products(n)}, np.zeros(n))]
    for sdp in (program(n), program(n, *centred)):
        duals = {label: y for label, y in multipliers(sdp).items() if label != left_out}
        for v in sdp.variables:
            parts = [a.adjoint(y) for a, y in sdp.column(v.name, duals)]
            weighted = sum(map(dense, parts))
            slack = dense(sdp.dual_slack(v.name, duals))
            assert slack == pytest.approx(dense(sdp.cost(v.name)) + weighted, abs=1e-12)
            if v.name == "X":
                assert dense(sdp.weighted("X", duals)) == pytest.approx(weighted, abs=1e-12)


def test_what_is_sparse_or_of_low_rank_stays_so():
    edges = np.array(list(pairwise(range(250))))
    lengths = SquaredEdgeLengths(250, edges)
    ones = np.ones(250)
    rows = [
        Rows("one", "<=", {"X": lengths}, ones[1:]),
        Rows("other", "<=", {"X": 2.0 * lengths}, ones[1:]),
    ]
    sdp = SDP((PsdVariable("X", 250),), {"X": -1.0 * Trace(250)}, tuple(rows))
    slack = sdp.dual_slack("X", {"one": ones[1:], "other": -0.5 * ones[1:]})
    assert sp.issparse(slack)
    assert slack.nnz == 250  # the weights of both cancel
    mean = Rows("mean", "==", {"X": QuadraticForms(ones[None, :])}, np.zeros(1))
    sdp = SDP(sdp.variables, sdp.objective, (*rows, mean))
    assert isinstance(sdp.dual_slack("X", multipliers(sdp)), Outer)


def test_what_is_remembered_is_made_once_and_does_not_travel():
    sdp, calls = program(3), []

    def made(given: SDP) -> int:
        calls.append(given)
        return given.n_rows

    assert sdp.remembered(made) == sdp.remembered(made) == sdp.n_rows
    assert calls == [sdp]
    again = pickle.loads(pickle.dumps(sdp))
    assert again.remembered(len_of_rows) == sdp.n_rows
    duals = multipliers(sdp)
    assert dense(again.dual_slack("X", duals)) == pytest.approx(dense(sdp.dual_slack("X", duals)))


def len_of_rows(sdp: SDP) -> int:
    return sum(r.m for r in sdp.rows)
