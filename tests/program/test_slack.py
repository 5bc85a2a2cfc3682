"""Repair owes something to the point that it is given; designs on the simplex are certified."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import log_det, maximize, scalar, solve
from sdpdr.linalg import Diagonal, InnerProduct, VectorMap
from sdpdr.program.boxes import fill_slack
from sdpdr.program.point import PsdVariable, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

SIZES = {"z": 4, "s": 3}


def missed(sdp, values):
    """What rows and signs are missed by, at most."""
    rows = [np.max(sdp.missed(r, values), initial=0.0) for r in sdp.rows]
    signs = [-np.min(values[v.name]) for v in sdp.vector_variables if v.nonnegative]
    return max(0.0, *rows, *signs)


def random_program(rng, curved):
    """Scalars that each act in one row, some in the same, beside a matrix, and a point."""
    lhs = [{"X": Diagonal(2)}, {}]
    for name, size in SIZES.items():
        acting = np.zeros((4, size))
        acting[rng.integers(0, 4, size), np.arange(size)] = rng.choice([-2.0, -1.0, 1.0, 3.0], size)
        for k in range(2):
            lhs[k][name] = VectorMap(acting[2 * k : 2 * k + 2])
    relations = rng.choice(["==", "<="], 2)
    rows = [
        Rows(label, str(relation), side, rng.integers(-2, 3, 2).astype(float))
        for label, relation, side in zip("ab", relations, lhs, strict=True)
    ]
    last = np.full(SIZES["s"], 2.0) if curved else None
    variables = (
        PsdVariable("X", 2),
        VectorVariable("z", SIZES["z"], nonnegative=True),
        VectorVariable("s", SIZES["s"], nonnegative=not curved, curvature=last),
    )
    costs = {name: VectorMap(rng.standard_normal((1, m))) for name, m in SIZES.items()}
    sdp = SDP(variables, {"X": InnerProduct(np.eye(2)), **costs}, tuple(rows))
    root = rng.standard_normal((2, 2))
    values = {name: np.abs(rng.standard_normal(m)) for name, m in SIZES.items()}
    return sdp, {"X": root @ root.T, **values}


@pytest.mark.nightly
@settings(max_examples=60, derandomize=True)
@given(seed=st.integers(0, 100_000), curved=st.booleans(), feasible=st.booleans())
def test_slack_that_is_filled_in_makes_no_point_worse_or_less_feasible(seed, curved, feasible):
    rng = np.random.default_rng(seed)
    sdp, values = random_program(rng, curved)
    if feasible:
        rows = tuple(
            Rows(r.label, r.relation, r.lhs, sdp.evaluate(r.lhs, values, r.m)) for r in sdp.rows
        )
        sdp = SDP(sdp.variables, sdp.objective, rows)
    filled = fill_slack(sdp, values)
    assert missed(sdp, filled) <= missed(sdp, values) + 1e-11
    if feasible:
        assert sdp.primal_value(filled) <= sdp.primal_value(values) + 1e-11


@pytest.mark.nightly
def test_a_design_on_the_simplex_is_certified_and_equivalent():
    # Kiefer and Wolfowitz: at the best design no point's variance is larger than the dimension.
    points = np.random.default_rng(0).standard_normal((10, 3))
    w = scalar("w", 10, nonnegative=True)
    found = solve(maximize(log_det(points.T @ np.diag(w) @ points)) + (w.sum() == 1))
    assert found.certified()
    moments = points.T @ (found.values["w"][:, None] * points)
    variances = np.einsum("ki,ij,kj->k", points, np.linalg.inv(moments), points)
    assert np.max(variances) == pytest.approx(3.0, abs=1e-2)
