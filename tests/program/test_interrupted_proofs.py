"""An interrupt of a proof keeps the point and what is proved by then."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.solving import proofs as sides

RNG = np.random.default_rng(0)
ROLL = graphs.knn(RNG.standard_normal((40, 3)), n_neighbors=4, connect="mst")


def interrupt(*_given, **_how):
    raise KeyboardInterrupt


@pytest.mark.daily(3)
@pytest.mark.parametrize("step", ["certify", "attained", "prove_answer"])
@pytest.mark.parametrize(("solver", "form"), [("lowrank", "factor"), ("auto", "auto")])
def test_an_interrupt_of_a_proof_leaves_the_point(monkeypatch, step, solver, form):
    monkeypatch.setattr(sides, step, interrupt)
    if step == "prove_answer":
        monkeypatch.setattr(sides, "attained", lambda *_given, **_how: None)
    found = sdpdr.solve(methods.mvu(ROLL), solver, form)
    assert found.status is Status.INTERRUPTED
    assert found.values
    assert np.isfinite(found.value)
    assert len(found.runs) == 1
    assert (found.bound is None) == (step == "certify")
    assert found.attained is None
