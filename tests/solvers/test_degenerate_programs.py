"""Programs with something missing: every solver in every form still tells the truth."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, minimize, psd
from sdpdr.errors import ModelError, NotAcceptedError
from sdpdr.linalg import Products, SquaredEdgeLengths, Trace
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable
from sdpdr.solvers import LowRank
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL

GENERAL = [
    (name, form)
    for name, cls in SOLVERS.items()
    if cls.availability().usable and not (cls.is_special or issubclass(cls, ExternalSolver))
    for form in cls.forms
    if form not in ("factor", *CHORDAL)
]
EDGE_SOLVERS = [
    name for name, cls in SOLVERS.items() if cls.availability().usable and "factor" in cls.forms
]
ANY = [("auto", "auto"), *GENERAL]
NIGHTLY = pytest.mark.nightly
ONE = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
X = PsdVariable("X", 2)


def edges_of_three(*rows, maximize=True):
    """Variance of three centred points under rows on their distances."""
    centred = Rows("centred", "==", {"K": Products(3)}, np.zeros(3))
    objective = {"K": -1.0 * Trace(3)}
    return SDP((PsdVariable("K", 3),), objective, (centred, *rows), maximize=maximize)


@pytest.mark.parametrize(
    ("solver", "form"),
    [
        pytest.param(*way, marks=() if way in (("auto", "auto"), ("clarabel", "lmi")) else NIGHTLY)
        for way in ANY
    ],
)
def test_without_an_objective_every_feasible_point_is_optimal(solver, form):
    solution = sdpdr.solve(SDP((X,), {}, (ONE,)), solver, form)
    assert solution.status is Status.SOLVED
    assert solution.attained == solution.bound == 0.0


@pytest.mark.nightly
@pytest.mark.parametrize(("solver", "form"), [pair for pair in ANY if pair[0] != "cvxopt"])
def test_variables_that_nothing_mentions_do_not_spoil_the_rest(solver, form):
    """CVXOPT is left out: in the LMI form it divides by the empty right side."""
    idle = (PsdVariable("Y", 2), VectorVariable("z", 2), VectorVariable("w", 1, nonnegative=True))
    solution = sdpdr.solve(SDP((X, *idle), {"X": Trace(2)}, (ONE,)), solver, form)
    assert solution.value == pytest.approx(1.0, rel=1e-6)
    assert solution.residuals.worst() <= 1e-4
    assert set(solution.values) == {"X", "Y", "z", "w"}


@pytest.mark.parametrize("form", ["gram", "cvxpy"])
def test_without_rows_the_cone_alone_decides(form):
    solution = sdpdr.solve(SDP((X,), {"X": Trace(2)}), "clarabel", form)
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(0.0, abs=1e-6)


def test_without_rows_a_cost_that_may_fall_has_no_limit():
    assert sdpdr.solve(SDP((X,), {"X": -1.0 * Trace(2)})).status is Status.UNBOUNDED
    assert sdpdr.plan(SDP((X,), {"X": Trace(2)})).form != "lmi"


@pytest.mark.nightly
def test_lower_limits_alone_are_refused_by_edge_solvers_and_unbounded_for_the_rest():
    lengths = SquaredEdgeLengths(3, [[0, 1], [1, 2]])
    sdp = edges_of_three(Rows("apart", "<=", {"K": -1.0 * lengths}, -np.ones(2)))
    assert sdpdr.solve(sdp).status is Status.UNBOUNDED
    assert sdpdr.solve(sdp, "lowrank").status is Status.UNBOUNDED
    with pytest.raises(NotAcceptedError, match="no edge has an upper limit"):
        sdpdr.solve(sdp, LowRank(options={"engine": "edges"}))


@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["auto", "lowrank", "clarabel"])
def test_a_lower_limit_of_zero_says_nothing(solver):
    near = Rows("near", "<=", {"K": SquaredEdgeLengths(3, [[0, 1], [1, 2]])}, np.ones(2))
    apart = Rows("apart", "<=", {"K": -1.0 * SquaredEdgeLengths(3, [[0, 2]])}, np.zeros(1))
    solution = sdpdr.solve(edges_of_three(near, apart), solver)
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("solver", ["auto", *EDGE_SOLVERS])
def test_parts_that_may_drift_apart_are_unbounded(solver):
    edges = SquaredEdgeLengths(4, [[0, 1], [2, 3]])
    rows = (
        Rows("centred", "==", {"K": Products(4)}, np.zeros(4)),
        Rows("isometry", "<=", {"K": edges}, np.ones(2)),
    )
    sdp = SDP((PsdVariable("K", 4),), {"K": -1.0 * Trace(4)}, rows, maximize=True)
    solution = sdpdr.solve(sdp, solver)
    assert solution.status is Status.UNBOUNDED
    assert "a constraint that bounds it" in solution.advice
    assert solution.bound is None


def test_a_program_without_variables_is_not_called_solved():
    assert sdpdr.solve(SDP((), {}), "clarabel", "gram").status is not Status.SOLVED


NO_PAIRS = np.zeros((0, 2), dtype=int)
K = psd("K", 1)
ONE_POINT = {
    "an equation": [K[0, 0] == 1.0],
    "and no lengths": [K.distance2(NO_PAIRS) == np.zeros(0), K[0, 0] == 1.0],
    "no lengths after it": [K[0, 0] == 1.0, K.distance2(NO_PAIRS) == np.zeros(0)],
    "no limits": [-K.distance2(NO_PAIRS) <= np.zeros(0), -K[0, 0] <= -1.0],
    "its distance from itself": [K.distance2([(0, 0)]) == 0.0, K[0, 0] == 1.0],
    "a limit that is slack": [(K[0, 0] == 1.0), (K[0, 0] <= 2.0)],
    "the same twice": [(K[0, 0] == 1.0), (K.sum(axis=1) == 1.0)],
}


@pytest.mark.nightly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("solver", "form", "statements"),
    [
        pytest.param(solver, form, statements, id=f"{solver}-{form}-{name}")
        for solver, form in [*ANY, *((name, "factor") for name in EDGE_SOLVERS)]
        for name, statements in ONE_POINT.items()
    ],
)
def test_a_single_point_is_a_program_like_others(solver, form, statements):
    named = (one.named(f"row {k}") for k, one in enumerate(statements))
    model = reduce(add, named, minimize(K.trace()))
    try:
        solution = sdpdr.solve(model, solver, form)
    except NotAcceptedError:
        assert solver not in ("auto", "lowrank", "dense")
        return
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(1.0, abs=1e-6)


def test_a_matrix_of_no_points_is_refused():
    nothing = psd("K", 0)
    with pytest.raises(ModelError, match="'K' has no entries; its order must be 1 or more"):
        sdpdr.solve(minimize(nothing.trace()) + (nothing.sum(axis=1) == 0.0))
