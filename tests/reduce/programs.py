"""Programs that the tests of reductions share."""

from __future__ import annotations

import numpy as np

from sdpdr.linalg import InnerProduct, SvecMap, VectorMap, svec, svec_size
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable


def optimal_program(seed: int = 0) -> tuple[SDP, Point]:
    """A program with every feature, built around an optimal pair of points.

    The multipliers and the slacks are drawn complementary; right sides and costs are then what
    they must be.
    """
    rng = np.random.default_rng(seed)
    n, order = 4, 3
    frame = np.linalg.qr(rng.standard_normal((n, n)))[0]
    small = np.linalg.qr(rng.standard_normal((order, order)))[0]
    values = {
        "K": frame[:, :2] @ np.diag([2.0, 1.0]) @ frame[:, :2].T,
        "free": rng.standard_normal(2),
        "signed": np.array([1.3, 0.0, 0.4]),
        "curved": rng.standard_normal(2),
    }
    duals = {
        "fixed": rng.standard_normal(3),
        "most": np.array([0.7, 0.0, 0.2]),
        "cone": 1.1 * np.outer(small[:, 0], small[:, 0]),
    }
    curvature = np.array([0.5, 3.0])
    sizes = {"free": 2, "signed": 3, "curved": 2}

    def expression(m):
        maps = {name: VectorMap(rng.standard_normal((m, size))) for name, size in sizes.items()}
        return {"K": SvecMap(n, rng.standard_normal((m, svec_size(n)))), **maps}

    lhs = {"fixed": expression(3), "most": expression(3), "cone": expression(svec_size(order))}

    def value(label):
        return sum(a.apply(values[name]) for name, a in lhs[label].items())

    matrix = small[:, 1:] @ np.diag([0.6, 0.9]) @ small[:, 1:].T
    rows = (
        Rows("fixed", "==", lhs["fixed"], value("fixed")),
        Rows("most", "<=", lhs["most"], value("most") + np.array([0.0, 0.5, 0.0])),
    )
    lmi = Lmi("cone", order, lhs["cone"], svec(matrix) - value("cone"))
    variables = (
        PsdVariable("K", n),
        VectorVariable("free", 2),
        VectorVariable("signed", 3, nonnegative=True),
        VectorVariable("curved", 2, curvature=curvature),
    )
    bare = SDP(variables, {}, rows, (lmi,))
    slack = {
        "K": frame[:, 2:] @ np.diag([0.8, 1.7]) @ frame[:, 2:].T,
        "free": np.zeros(2),
        "signed": np.array([0.0, 0.9, 0.0]),
        "curved": -curvature * values["curved"],
    }
    cost = {name: slack[name] - bare.dual_slack(name, duals) for name in slack}
    objective = {name: VectorMap(c[None, :]) for name, c in cost.items() if name != "K"}
    objective["K"] = InnerProduct(np.asarray(cost["K"]))
    sdp = SDP(variables, objective, rows, (lmi,), constant=0.7, maximize=seed % 2 == 1, name="all")
    return sdp, Point(values, duals)
