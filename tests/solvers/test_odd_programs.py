"""Engines and closed forms on programs with fixed blocks, empty groups and free slack."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr.linalg import Entries, InnerProduct, QuadraticForms, SvecMap, Trace, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.program import SDP, Factor, Point, PsdVariable, Rows, VectorVariable
from sdpdr.solvers import LowRank

from ..proofs import attain

ENGINES = ("interior", "descent", "general")


def solve(sdp, engine):
    return sdpdr.solve(sdp, LowRank(options={"engine": engine}))


def fixed_entries(n, entries):
    return Rows("fixed", "==", {"Z": Entries(n, list(entries))}, np.array([*entries.values()]))


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("units", "short"),
    [(2, 0.9), (10, 0.5), (1000, 0.7)],
)
def test_a_block_that_is_singular_but_for_rounding_attains_nothing_beyond_the_optimum(units, short):
    """With Z = [[1, 1], [1, 1 + d]] given and Z_12 - Z_02 >= w, Z_22 >= w^2 / d."""
    d, w = units * 2.0**-52, 1e-3
    apart = np.zeros((3, 3))
    apart[[0, 2], [2, 0]], apart[[1, 2], [2, 1]] = 0.5, -0.5
    far = Rows("far", "<=", {"Z": InnerProduct(apart)}, np.array([-w]))
    fixed = fixed_entries(3, {(0, 0): 1.0, (0, 1): 1.0, (1, 1): 1.0 + d})
    cost = InnerProduct(np.diag([0.0, 0.0, 1.0]))
    sdp = SDP((PsdVariable("Z", 3),), {"Z": cost}, (fixed, far))
    rng, root = np.random.default_rng(units), np.sqrt(d)
    for angle in rng.uniform(0.0, 2.0 * np.pi, 8):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        factor = np.array([[1.0, 0.0], [1.0, root], [0.0, 1.0000001 * short * w / root]]) @ turn
        value = attain(sdp, Point({"Z": Factor(factor)})).value
        assert value is None or value >= w**2 / d * (1.0 - 1e-6)


def test_a_block_that_rounding_alone_makes_definite_frames_nothing():
    """An outer product, rounded: its determinant is negative, and a factorization exists."""
    one, two = 0.2772044776957594, 0.15151653836169077
    block = {(0, 0): 6.3946138435732385, (0, 1): -one, (0, 2): -two, (1, 1): 0.012016726003214002}
    block |= {(1, 2): 0.006568193780932401, (2, 2): 0.0035900934690813874}
    sdp = SDP((PsdVariable("Z", 4),), {"Z": Trace(4)}, (fixed_entries(4, block),))
    dense = np.zeros((3, 3))
    for (i, j), value in block.items():
        dense[i, j] = dense[j, i] = value
    factor = np.zeros((4, 4))
    factor[:3, :3] = np.linalg.cholesky(dense)
    assert attain(sdp, Point({"Z": Factor(factor)})).value is None


@pytest.mark.nightly
@pytest.mark.parametrize("relation", ["<=", "=="])
def test_a_row_without_slack_is_not_held_to_rounding_beside_one_that_has_it(relation):
    """Z_00 = 1 and Z_00 + 1e-15 Z_11 <= 1 leave Z_11 = 0."""
    matrices = np.diag([0.0, 1.0]), np.diag([1.0, 1e-15])
    lhs = {"Z": SvecMap(2, np.array([svec(a) for a in matrices])), "s": VectorMap([[1.0], [0.0]])}
    rows = Rows("two", relation, lhs, np.array([20.0, 1.0]))
    variables = PsdVariable("Z", 2), VectorVariable("s", 1, nonnegative=True)
    cost = InnerProduct(np.diag([0.0, -1.0]))
    sdp = SDP(variables, {"Z": cost}, (fixed_entries(2, {(0, 0): 1.0}), rows))
    point = Point({"Z": Factor(np.array([[1.0], [3.0]])), "s": np.zeros(1)})
    value = attain(sdp, point).value
    assert value is None or value >= -1e-6


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e200])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_no_value_is_attained_that_is_no_number(entry):
    limited = Rows("limited", "<=", {"Z": Entries(3, [[1, 1]])}, np.array([-1.0]))
    framed = SDP(
        (PsdVariable("Z", 3),), {"Z": Trace(3)}, (fixed_entries(3, {(0, 0): 1.0}), limited)
    )
    beside = SDP((PsdVariable("Z", 3),), {"Z": Trace(3)}, (fixed_entries(3, {(0, 1): 1.0}),))
    for sdp in (framed, beside):
        found = attain(sdp, Point({"Z": Factor(np.array([[1.0], [1.0], [entry]]))}))
        assert found.value is None or np.isfinite(found.value)


@pytest.mark.parametrize("solver", ["clarabel", "lowrank"])
def test_a_group_without_rows_is_no_obstacle(solver):
    none = Rows("none", "==", {"X": SvecMap(2, sp.csr_array((0, 3)))}, np.zeros(0))
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (none,))
    assert sdpdr.solve(sdp, solver).value == pytest.approx(0.0, abs=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("side", [0.0, -1.0])
def test_a_block_that_is_not_definite_gives_no_shape(side):
    edges = sp.csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]]))
    limits = Rows("limits", "<=", {"Z": QuadraticForms(edges)}, np.ones(3))
    rows = fixed_entries(3, {(0, 0): side}), limits
    cost = InnerProduct(-np.diag([0.0, 1.0, 1.0]))
    sdp = SDP((PsdVariable("Z", 3),), {"Z": cost}, rows)
    found = LowRank(options={"engine": "interior"}).run(sdp)
    if side < 0.0:
        assert found.verdict.value == "infeasible"
        return
    # Without an interior it has no multipliers, and an engine alone comes near; its face has.
    assert found.verdict.value.startswith("solved")
    assert found.claim.value == pytest.approx(-2.0, abs=5e-3)
    solution = sdpdr.solve(sdp, "lowrank")
    assert solution.certified()
    assert solution.value == pytest.approx(-2.0, abs=1e-6)


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("engine", "both"),
    [("interior", True), ("descent", True), ("general", True), ("descent", False)],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_slack_that_costs_nothing_leaves_a_multiplier_no_room(engine, both):
    """The rows with slack say nothing, and the trace is 3."""
    lhs = {"X": Entries(2, [[0, 0], [1, 1]]), "s": VectorMap(-np.eye(2))}
    lhs |= {"t": VectorMap(np.eye(2))} if both else {}
    rows = (
        Rows("free", "==" if both else "<=", lhs, np.ones(2)),
        Rows("trace", "==", {"X": Trace(2)}, np.array([3.0])),
    )
    slack = [VectorVariable(name, 2, nonnegative=True) for name in lhs if name != "X"]
    cost = InnerProduct(np.diag([1.0, 2.0]))
    found = solve(SDP((PsdVariable("X", 2), *slack), {"X": cost}, rows), engine)
    assert found.certified(1e-6)
    assert found.value == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_rows_are_no_obstacle(engine):
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, ())
    assert LowRank(options={"engine": engine}).run(sdp).verdict.value == "solved"


@pytest.mark.parametrize("engine", ["descent", "general"])
def test_a_scalar_without_limit_is_said_to_have_none(engine):
    """The scalar f is in no row that holds it back."""
    lhs = {"X": Trace(2), "f": VectorMap([[1.0]])}
    rows = Rows("sum", "<=", lhs, np.ones(1))
    variables = PsdVariable("X", 2), VectorVariable("f", 1)
    objective = {"X": InnerProduct(np.eye(2)), "f": VectorMap([[1.0]])}
    found = solve(SDP(variables, objective, (rows,)), engine)
    assert found.status.name == "UNBOUNDED"


@pytest.mark.nightly
def test_a_descent_without_end_is_told_as_one():
    """One entry beside the diagonal is fixed, and the trace has no limit."""
    one = Rows("one", "==", {"X": Entries(2, [[0, 1]])}, np.ones(1))
    sdp = SDP((PsdVariable("X", 2),), {"X": InnerProduct(-np.eye(2))}, (one,))
    assert solve(sdp, "descent").status.name == "UNBOUNDED"
