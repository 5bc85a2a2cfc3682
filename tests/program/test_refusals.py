"""Relations, sizes and arguments of the wrong kind are refused by name."""

import numpy as np
import pytest

import sdpdr
from sdpdr import errors, graphs, methods
from sdpdr.linalg import Diagonal, Entries, InnerProduct, SvecMap, Trace
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable

PATH = methods.mvu(graphs.path([1.0, 2.0]))
IMAGINARY = np.array([[0.0, 1.0j], [-1.0j, 0.0]])


@pytest.mark.parametrize("relation", [">=", "=>", "=", "<", "foo", None])
def test_a_relation_that_is_none_is_no_inequality(relation):
    with pytest.raises(errors.ModelError, match="'==' or '<='"):
        Rows("half", relation, {"X": Entries(2, [[0, 1]])}, np.array([0.5]))


@pytest.mark.parametrize(
    "build",
    [
        lambda: InnerProduct(IMAGINARY),
        lambda: SvecMap(2, np.array([[1.0j, 0.0, 0.0]])),
        lambda: Rows("t", "==", {"X": Trace(2)}, np.array([1.0j])),
        lambda: InnerProduct([["a", "b"], ["c", "d"]]),
    ],
)
def test_what_is_no_real_number_is_not_made_one(build):
    with pytest.raises(errors.DataTypeError, match="must be"):
        build()


@pytest.mark.parametrize("pair", [[0, 5], [0, -1]])
def test_entries_lie_in_the_matrix(pair):
    with pytest.raises(errors.ShapeError, match=r"0\.\.1"):
        Entries(2, [pair])


@pytest.mark.parametrize("size", [1.5, -1, "2"])
@pytest.mark.parametrize("variable", [PsdVariable, VectorVariable])
def test_sizes_are_whole_numbers(variable, size):
    with pytest.raises(errors.ModelError, match="whole number"):
        variable("X", size)


@pytest.mark.parametrize(
    "given",
    [
        {"time_limit": "5"},
        {"tol": "x"},
        {"tol": [1.0]},
        {"seed": "a"},
        {"seed": 1.5},
        {"max_iter": 2.5},
        {"gap_scale": "x"},
        {"start": 3},
        {"rigorous": "no"},
        {"isolate": "yes"},
        {"verbose": "no"},
        {"solver": None},
        {"solver": 5},
    ],
    ids=lambda given: next(iter(given)),
)
def test_arguments_that_are_no_such_things_are_named(given):
    (name,) = given
    with pytest.raises(errors.DataError, match=name):
        sdpdr.solve(PATH, **given)


@pytest.mark.parametrize("thing", [None, "path-graph", np.eye(3)], ids=["none", "name", "array"])
def test_what_is_no_program_is_refused(thing):
    with pytest.raises(errors.DataTypeError, match="pass a Model"):
        sdpdr.solve(thing)


def ring(n):
    adjacent = np.roll(np.eye(n), 1, axis=0)
    laplacian = 2.0 * np.eye(n) - adjacent - adjacent.T
    rows = Rows("diagonal", "==", {"X": Diagonal(n)}, np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": InnerProduct(laplacian / 4.0)}, (rows,))


def test_an_optimum_of_zero_is_answered_at_once():
    """No gap is small relative to zero, whichever solver is asked next."""
    answer = sdpdr.solve(ring(5))
    assert len(answer.runs) == 1
    assert -1e-6 < answer.bound <= answer.attained < 1e-6
    assert "gap_scale" in answer.advice
    assert sdpdr.solve(ring(5), gap_scale=1.0).status is sdpdr.Status.SOLVED


def test_a_strong_contradiction_has_a_ray_wherever_it_is_found():
    sdp = SDP((PsdVariable("X", 2),), {}, (Rows("t", "==", {"X": Trace(2)}, np.array([-1.0])),))
    answer = sdpdr.solve(sdp)
    assert answer.status is sdpdr.Status.INFEASIBLE
    assert answer.rigorous


@pytest.mark.nightly
def test_what_is_not_proved_has_an_epsilon():
    """The program has no interior, and its point may well be exactly feasible."""
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0], [0, 1]])}, np.array([1e-30, 1.0]))
    answer = sdpdr.solve(SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,)), "scs")
    assert answer.status not in (sdpdr.Status.SOLVED, sdpdr.Status.INFEASIBLE)
    assert answer.epsilon != 0.0
