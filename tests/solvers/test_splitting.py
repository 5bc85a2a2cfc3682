"""SCS without a modelling language."""

import numpy as np
import pytest

import sdpdr
from sdpdr.linalg import SvecMap, Trace, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.model.conic.cones import arrow
from sdpdr.program.point import PsdVariable, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP


def all_kinds():
    """Matrices of different orders, an arrow, free scalars, equations and limits."""
    rng = np.random.default_rng(3)
    A = svec(rng.standard_normal((4, 4)) + np.eye(4))
    rows = (
        Rows("traces", "==", {"X": Trace(4), "Y": Trace(3)}, np.array([2.0])),
        Rows("limit", "<=", {"X": SvecMap(4, A[None])}, np.ones(1)),
    )
    unit = np.zeros((5, 1))
    unit[0] = 1.0
    cone = arrow(5)
    head = VectorMap((cone @ unit).reshape(-1, 1))
    ball = Lmi("ball", 5, {"t": head}, cone @ np.array([0.0, 3.0, 0.0, -4.0, 0.0]))
    largest = np.zeros((6, 1))
    largest[[0, 2, 5]] = 1.0
    below = Lmi("below", 3, {"t": VectorMap(largest)}, svec(np.diag([1.0, 2.0, 3.0])))
    variables = (PsdVariable("X", 4), PsdVariable("Y", 3), VectorVariable("t", 1))
    objective = {
        "X": SvecMap(4, svec(np.diag([1.0, 2.0, 3.0, 4.0]))[None]),
        "Y": SvecMap(3, svec(np.diag([3.0, 2.0, 5.0]))[None]),
        "t": VectorMap([[1.0]]),
    }
    return SDP(variables, objective, rows, (ball, below))


@pytest.mark.parametrize("name", ["scs", "dense"])
def test_it_agrees_with_clarabel_where_all_kinds_of_rows_meet(name):
    """Each is given rows in an order of its own; equal values on both sides need both right."""
    one, other = (sdpdr.solve(all_kinds(), each, "gram") for each in (name, "clarabel"))
    assert one.status is other.status is Status.SOLVED
    assert one.value == pytest.approx(other.value, rel=2e-6)
