"""Every chain of reductions on programs with everything in them, solved and lifted."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr.linalg import InnerProduct, Products, SvecMap, VectorMap, svec, svec_size
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable, dimacs_errors
from sdpdr.program.face import complete_multipliers
from sdpdr.reduce import Composed, Dedupe, Dual, Face, Scale
from sdpdr.solvers import Clarabel

ACCURACY = 1e-6
WITHOUT_FACE = [
    (),
    (Dedupe(),),
    (Scale(),),
    (Dual(),),
    (Dual(), Dual()),
    (Scale(), Dual()),
    (Dual(), Scale()),
]
WITH_FACE = [
    (Face("orthonormal"),),
    (Face("sparse"),),
    (Face(), Dual()),
    (Scale(), Face()),
    (Dedupe(), Face(), Scale(), Dual()),
]


def solvable(seed: int, faced: bool) -> SDP:
    """A program with strictly feasible points on both sides (on the face, if there is one)."""
    rng = np.random.default_rng(seed)
    n, order, sizes, orders = 4, 3, {"p": 3, "f": 2, "c": 2}, (("X", 4), ("Y", 3))
    u = rng.uniform(0.5, 2.0, n)
    values = {
        "X": definite(rng, n),
        "Y": definite(rng, 3),
        "p": rng.uniform(0.5, 2.0, 3),
        "f": rng.standard_normal(2),
        "c": rng.standard_normal(2),
    }
    if faced:
        onto = np.eye(n) - np.outer(u, u) / (u @ u)
        values["X"] = onto @ values["X"] @ onto

    def expression(m):
        maps = {name: SvecMap(k, rng.standard_normal((m, svec_size(k)))) for name, k in orders}
        return maps | {k: VectorMap(rng.standard_normal((m, s))) for k, s in sizes.items()}

    def at(lhs):
        return sum(a.apply(values[name]) for name, a in lhs.items())

    fixed, most, cone = expression(2), expression(3), expression(svec_size(order))
    rows = [
        Rows("fixed", "==", fixed, at(fixed)),
        Rows("most", "<=", most, at(most) + rng.uniform(0.1, 1.0, 3)),
    ]
    if faced:
        rows.append(Rows("face", "==", {"X": Products(n, u)}, np.zeros(n)))
    lmi = Lmi("cone", order, cone, svec(definite(rng, order)) - at(cone))
    variables = (
        PsdVariable("X", n),
        PsdVariable("Y", 3),
        VectorVariable("p", 3, nonnegative=True),
        VectorVariable("f", 2),
        VectorVariable("c", 2, curvature=rng.uniform(0.5, 2.0, 2)),
    )
    bare = SDP(variables, {}, tuple(rows), (lmi,))
    y = {
        "fixed": rng.standard_normal(2),
        "most": rng.uniform(0.1, 1.0, 3),
        "cone": definite(rng, order),
    }
    slack = {
        "X": definite(rng, n),
        "Y": definite(rng, 3),
        "p": rng.uniform(0.2, 1.0, 3),
        "f": np.zeros(2),
        "c": rng.standard_normal(2),
    }
    cost = {name: s - bare.dual_slack(name, y) for name, s in slack.items()}
    objective = {
        name: InnerProduct(np.asarray(c)) if np.ndim(c) == 2 else VectorMap(c[None, :])
        for name, c in cost.items()
    }
    return SDP(variables, objective, tuple(rows), (lmi,), constant=1.5, maximize=seed % 2 == 1)


def definite(rng, n):
    root = rng.standard_normal((n, 2 * n))
    return root @ root.T / (2 * n)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("steps", "faced"),
    [(steps, False) for steps in WITHOUT_FACE]
    + [(steps, True) for steps in WITHOUT_FACE[:3]]
    + [(steps, True) for steps in WITH_FACE],
    ids=lambda x: "-".join(s.name for s in x) or "none" if isinstance(x, tuple) else str(x),
)
def test_lifted_answers_are_optimal_in_the_original(steps, faced):
    sdp = solvable(0, faced)
    reduced = Composed(steps).apply(sdp)
    outcome = Clarabel(tol=1e-8).run(reduced.sdp)
    point = reduced.lift(outcome.point)
    point = Point(point.values, complete_multipliers(sdp, point.duals))
    assert dimacs_errors(sdp, point).worst() <= ACCURACY
    value = sdp.primal_value(point.values)
    assert reduced.lift_value(outcome.claim.value) == pytest.approx(value, rel=ACCURACY)
