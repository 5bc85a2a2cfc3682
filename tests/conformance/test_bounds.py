"""A proven bound is on the right side of the optimum, whatever the multipliers are."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import graphs
from sdpdr.certify import certify as at_any_size
from sdpdr.linalg import Products, SquaredEdgeLengths, Trace, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable

from ..proofs import certify
from .cases import CASES

pytestmark = pytest.mark.integration

PROVABLE = [c for c in CASES if c.duals]
HOPELESS = [c for c in CASES if c.verdict == "unbounded"]


def distortions(duals, rng):
    """The same multipliers scaled, disturbed, turned round, and replaced by anything at all."""
    for factor in (1e-6, 0.5, 0.999, 1.001, 2.0, 1e6, 0.0, -1.0):
        yield {label: factor * y for label, y in duals.items()}
    for size in (1e-9, 1e-6, 1e-3, 0.1, 1.0, 10.0):
        yield {
            label: y + size * np.max(np.abs(y), initial=1.0) * rng.standard_normal(np.shape(y))
            for label, y in duals.items()
        }
    for size in (1e-3, 1.0, 1e3):
        yield {label: size * rng.standard_normal(np.shape(y)) for label, y in duals.items()}
        yield {label: size * np.ones_like(y) for label, y in duals.items()}


def beyond(bound, value, maximize):
    """How far a bound lies on the wrong side, relative to the value."""
    return (value - bound if maximize else bound - value) / max(1.0, abs(value))


# By what suits any size, and at night by the kernel as well.
PROOFS = [at_any_size, pytest.param(certify, marks=pytest.mark.nightly)]


@pytest.mark.daily(2)
@pytest.mark.parametrize("case", PROVABLE, ids=str)
@pytest.mark.parametrize("prove", PROOFS, ids=["any size", "kernel"])
def test_no_multipliers_prove_too_much(case, prove):
    """What undisturbed ones prove is asked in test_conformance.py."""
    sdp, duals = case.build(), dict(case.duals)
    for distorted in distortions(duals, np.random.default_rng(0)):
        certificate = prove(sdp, distorted)
        assert certificate.argument
        if certificate.bound is not None:
            assert beyond(certificate.bound, case.value, sdp.maximize) <= 1e-9 + case.digits


@pytest.mark.daily(1)
@pytest.mark.parametrize("case", HOPELESS, ids=repr)
@pytest.mark.parametrize("prove", PROOFS, ids=["any size", "kernel"])
def test_nothing_bounds_an_unbounded_program(case, prove):
    sdp = case.build()
    zero = {r.label: np.zeros(r.m) for r in sdp.rows}
    zero |= {lmi.label: np.zeros((lmi.order, lmi.order)) for lmi in sdp.lmis}
    for distorted in distortions(zero, np.random.default_rng(1)):
        assert prove(sdp, distorted).bound is None


@pytest.mark.nightly
@pytest.mark.parametrize("relation", ["==", "<="])
@pytest.mark.parametrize(("penalty", "value"), [(-2.0, 12.0), (0.0, 6.0), (0.5, 6.0)])
def test_slack_that_is_rewarded_keeps_multipliers_from_being_scaled_down(relation, penalty, value):
    """A reward of 2 for every unit by which a hexagon falls short: all of it is taken."""
    ring = graphs.cycle(6)
    lhs = {"K": SquaredEdgeLengths(6, ring.edges), "z": VectorMap(np.eye(6))}
    sdp = SDP(
        (PsdVariable("K", 6), VectorVariable("z", 6, nonnegative=True)),
        {"K": -1.0 * Trace(6), "z": VectorMap(np.full((1, 6), penalty))},
        (
            Rows("centred", "==", {"K": Products(6)}, np.zeros(6)),
            Rows("isometry", relation, lhs, ring.sqdist),
        ),
        maximize=True,
    )
    exact = {"centred": np.zeros(6), "isometry": np.full(6, max(1.0, -penalty))}
    assert certify(sdp, exact).bound == pytest.approx(value, rel=1e-9)
    for distorted in distortions(exact, np.random.default_rng(2)):
        bound = at_any_size(sdp, distorted).bound
        assert bound is None or beyond(bound, value, maximize=True) <= 1e-9


def test_without_an_objective_the_constant_is_the_optimum():
    row = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {}, (row,), constant=3.0, maximize=True)
    for y in (-1.0, 0.0, 1e-13, 5.0):
        assert certify(sdp, {"trace": np.array([y])}).bound == -3.0
