"""Points scaled back to equalities, and how far the data are from those they solve exactly."""

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace
from sdpdr.program import SDP, Factor, PsdVariable, Rows
from sdpdr.program.backward import backward_error
from sdpdr.program.boxes import repair

RNG = np.random.default_rng(0)


def program(*rows):
    return SDP((PsdVariable("X", 4),), {"X": InnerProduct(np.eye(4))}, rows)


@pytest.mark.parametrize("dense", [False, True])
def test_a_fixed_diagonal_is_met_exactly(dense):
    wanted = np.array([1.0, 2.0, 3.0, 0.5])
    sdp = program(Rows("diagonal", "==", {"X": 3.0 * Diagonal(4)}, 3.0 * wanted))
    factor = RNG.standard_normal((4, 2))
    point = {"X": factor @ factor.T if dense else Factor(factor)}
    repaired = repair(sdp, point)
    assert backward_error(sdp, point) > 0.01
    assert backward_error(sdp, repaired) < 1e-14
    gram = repaired["X"] if dense else repaired["X"].dense()
    angles = gram / np.sqrt(np.outer(wanted, wanted))
    norms = np.linalg.norm(factor, axis=1)
    np.testing.assert_allclose(angles, factor @ factor.T / np.outer(norms, norms), atol=1e-14)


@pytest.mark.parametrize("dense", [False, True])
def test_one_fixed_number_is_met_exactly(dense):
    sdp = program(
        Rows("trace", "==", {"X": Trace(4)}, np.ones(1)),
        Rows("zeros", "==", {"X": Entries(4, [(0, 1)])}, np.zeros(1)),
    )
    factor = np.diag([3.0, 1.0, 2.0, 1.0])
    repaired = repair(sdp, {"X": factor @ factor if dense else Factor(factor)})["X"]
    gram = repaired if dense else repaired.dense()
    np.testing.assert_allclose(gram, factor @ factor / 15.0, atol=1e-15)


def test_the_backward_error_of_an_unfolding_is_that_of_its_lengths():
    graph = graphs.cycle(6)
    sdp = methods.mvu(graph, "equality").to_sdp()
    angles = np.pi * np.arange(6) / 3
    hexagon = np.column_stack([np.cos(angles), np.sin(angles)])
    assert backward_error(sdp, {"K": Factor(hexagon)}) < 1e-14
    assert backward_error(sdp, {"K": Factor(1.1 * hexagon)}) == pytest.approx(0.21)
    inequality = methods.mvu(graph).to_sdp()
    assert backward_error(inequality, {"K": Factor(0.9 * hexagon)}) < 1e-14
    assert backward_error(inequality, {"K": Factor(1.1 * hexagon)}) == pytest.approx(0.21)
