"""Every chain of reductions on a program with everything in it, solved and lifted."""

from __future__ import annotations

import pytest

from sdpdr.program import dimacs_errors
from sdpdr.reduce import Composed, Dedupe, Dual, Scale
from sdpdr.solvers import Clarabel

from .programs import optimal_program

ACCURACY = 1e-6
CHAINS = [
    (),
    (Dedupe(),),
    (Scale(),),
    (Dual(),),
    (Dual(), Dual()),
    (Scale(), Dual()),
    (Dual(), Scale()),
    (Dedupe(), Scale(), Dual()),
]


@pytest.mark.nightly
@pytest.mark.parametrize("steps", CHAINS, ids=lambda x: "-".join(s.name for s in x) or "none")
def test_lifted_answers_are_optimal_in_the_original(steps):
    sdp, optimal = optimal_program(0)
    reduced = Composed(steps).apply(sdp)
    outcome = Clarabel(tol=1e-8).run(reduced.sdp)
    point = reduced.lift(outcome.point)
    assert dimacs_errors(sdp, point).worst() <= ACCURACY
    value = sdp.primal_value(optimal.values)
    assert reduced.lift_value(outcome.claim.value) == pytest.approx(value, rel=ACCURACY)
