"""An interrupt of a proof keeps the point and what is proved by then."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.solving import proofs as sides

RNG = np.random.default_rng(0)
ROLL = graphs.knn(RNG.standard_normal((20, 3)), n_neighbors=4, connect="mst")


def interrupt(*given, **how):
    raise KeyboardInterrupt


@pytest.mark.nightly
@pytest.mark.parametrize("step", ["both_sides", "certify", "attain"])
@pytest.mark.parametrize(("solver", "form"), [
    ("lowrank", "factor"), ("clarabel", "gram"), ("auto", "auto"),
])  # fmt: skip
def test_an_interrupt_of_a_proof_leaves_the_point(monkeypatch, step, solver, form):
    monkeypatch.setattr(sides, step, interrupt)
    found = sdpdr.solve(methods.mvu(ROLL), solver, form)
    assert found.status is Status.INTERRUPTED
    assert found.values
    assert np.isfinite(found.value)
    assert len(found.runs) == 1
    assert (found.bound is None) == (step != "attain")
    assert found.attained is None
    assert "interrupted" in found.attained_by


def test_an_interrupt_of_rigorous_proofs_keeps_the_others(monkeypatch):
    monkeypatch.setattr("sdpdr.solving.attempt.proved", interrupt)
    found = sdpdr.solve(methods.mvu(ROLL), "lowrank", rigorous=True)
    assert found.status is Status.INTERRUPTED
    assert not found.rigorous
    assert found.gap < 1e-6
