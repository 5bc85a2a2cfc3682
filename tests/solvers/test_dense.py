"""The interior-point method on dense matrices: known answers, and laws of its parts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import graphs, methods
from sdpdr.base.errors import DataError
from sdpdr.linalg import InnerProduct, Trace, VectorMap
from sdpdr.linalg.svec import svec, svec_size
from sdpdr.program.point import PsdVariable, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.run import Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers import Dense
from sdpdr.solvers.conic import ConicForm
from sdpdr.solvers.dense.method import minimized
from sdpdr.solvers.dense.normal import Data, Normal
from sdpdr.solvers.dense.scaling import Cones, Scaling


def least_eigenvalue(matrix):
    n = len(matrix)
    one = Rows("one", "==", {"X": Trace(n)}, np.ones(1))
    return SDP((PsdVariable("X", n),), {"X": InnerProduct(matrix)}, (one,))


def inside(rng, cones):
    """A point well inside all cones, with all entries of its matrices."""
    found = rng.uniform(0.5, 2.0, cones.identity.size)
    for stack in cones.stacks(found):
        roots = rng.standard_normal(stack.shape)
        stack[:] = roots @ roots.transpose(0, 2, 1) + np.eye(stack.shape[-1])
    return found


def test_a_convex_cost_is_solved_in_the_form_as_it_stands():
    x = VectorVariable("x", 1, curvature=np.ones(1))
    limit = Rows("limit", "<=", {"x": VectorMap(np.ones((1, 1)))}, np.zeros(1))
    sdp = SDP((x,), {"x": VectorMap(-np.ones((1, 1)))}, (limit,), constant=0.5)
    found = sdpdr.solve(sdp, "dense", "gram")
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(0.5, rel=1e-6)


def test_equations_alone_are_solved_by_one_step():
    x = VectorVariable("x", 3, curvature=np.array([2e8, 2.0, 2.0]))
    total = Rows("total", "==", {"x": VectorMap(np.ones((1, 3)))}, np.ones(1))
    found = sdpdr.solve(SDP((x,), {}, (total,)), "dense", "gram")
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(1.0 / (1e-8 + 2.0), rel=1e-6)


def test_programs_without_a_point_or_without_a_limit_are_told():
    free = VectorVariable("x", 1)
    rows = (
        Rows("low", "<=", {"x": VectorMap([[1.0]])}, np.array([-1.0])),
        Rows("high", "<=", {"x": VectorMap([[-1.0]])}, np.array([-1.0])),
    )
    none = SDP((free,), {"x": VectorMap([[1.0]])}, rows)
    assert Dense().run(none).verdict is Verdict.INFEASIBLE
    assert sdpdr.solve(none, "dense", "gram").status is Status.INFEASIBLE
    endless = SDP((free,), {"x": VectorMap([[1.0]])}, rows[:1])
    assert Dense().run(endless).verdict is Verdict.UNBOUNDED
    assert sdpdr.solve(endless, "dense", "gram").status is Status.UNBOUNDED


def test_limits_are_kept():
    sdp = least_eigenvalue(np.diag([1.0, 2.0, 3.0]))
    assert Dense(max_iter=2).run(sdp).verdict is Verdict.ITERATION_LIMIT
    assert Dense(time_limit=0.0).run(sdp).verdict is Verdict.TIME_LIMIT
    with pytest.raises(DataError, match="no option 'eps'; it has 'tol' and 'exact'"):
        Dense(options={"eps": 1.0}).run(sdp)


@settings(max_examples=25)
@given(st.integers(0, 3), st.lists(st.integers(1, 4), max_size=4), st.integers(0, 1000))
def test_a_scaling_makes_point_and_multiplier_agree(linear, orders, seed):
    rng, cones = np.random.default_rng(seed), Cones(linear, tuple(orders))
    s, z = inside(rng, cones), inside(rng, cones)
    scaling = Scaling(cones, s, z)
    np.testing.assert_allclose(scaling.inner(s), scaling.point, atol=1e-9)
    # To scale a multiplier and back is to scale by the transposes: products stay.
    x = cones.entries @ rng.standard_normal(cones.size)
    assert scaling.inner(s) @ x == pytest.approx(s @ scaling.outer(x))
    np.testing.assert_allclose(scaling.outer(scaling.point), z, atol=1e-9)
    twice = scaling.product(scaling.point, scaling.divided(x))
    np.testing.assert_allclose(twice, x, atol=1e-9)


@pytest.mark.parametrize("density", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("p", [3, 30])
def test_the_matrix_of_a_step_is_what_columns_say_of_each_other(p, density):
    """Whether entries are found one by one or columns are scaled as matrices."""
    rng, n = np.random.default_rng(p), 6
    columns = sp.random_array((svec_size(n), p), density=density, random_state=rng).toarray()
    variable = VectorVariable("x", p)
    lmi = Lmi("above", n, {"x": VectorMap(columns)}, svec(np.eye(n)))
    data = ConicForm(SDP((variable,), {}, (), (lmi,)), fold=False).data()
    scaling = Scaling(data.cones, inside(rng, data.cones), inside(rng, data.cones))
    whole = data.cones.entries @ columns
    scaled = np.column_stack([scaling.inner(column) for column in whole.T])
    np.testing.assert_allclose(Normal(data).matrix(scaling), scaled.T @ scaled, atol=1e-9)


@pytest.mark.parametrize("density", [0.002, 0.02, 0.3])
def test_many_small_matrices_are_as_their_columns_say(density):
    """Whether each sees few unknowns or most of them, and some see none."""
    rng, cones, p = np.random.default_rng(0), Cones(2, (1, 3, 3, 2, 3, 3, 3)), 30
    M = sp.csr_array(sp.random_array((cones.size, p), density=density, rng=rng))
    data = Data(
        np.zeros(p), np.ones(p), np.zeros((0, p)), np.zeros(0), M, np.zeros(cones.size), cones
    )
    scaling = Scaling(cones, inside(rng, cones), inside(rng, cones))
    scaled = np.column_stack([scaling.inner(column) for column in (cones.entries @ M).toarray().T])
    expected = np.eye(p) + scaled.T @ scaled
    np.testing.assert_allclose(Normal(data).matrix(scaling), expected, atol=1e-9)


def with_a_point_inside(n, rows):
    """Random rows, and a cost for which multipliers well inside are feasible."""
    rng = np.random.default_rng(3)
    columns = rng.standard_normal((svec_size(n), rows))
    variable = VectorVariable("x", rows)
    lmi = Lmi("above", n, {"x": VectorMap(columns)}, svec(np.eye(n)))
    cost = columns.T @ svec(np.eye(n) + 0.1 * np.ones((n, n)))
    return ConicForm(SDP((variable,), {"x": VectorMap(cost[None])}, (), (lmi,)), fold=False).data()


def test_exact_steps_leave_no_residuals_but_of_rounding():
    data = with_a_point_inside(15, 100)
    ending = minimized(data, 1e-7, 60, exact=True)
    assert ending.verdict is Verdict.SOLVED
    assert ending.last.error(data) < 1e-13


def test_matrices_that_do_not_fit_are_refused_before_they_are_tried(monkeypatch):
    monkeypatch.setattr("sdpdr.solvers.dense.solver.allowed_memory", lambda: 1e6)
    solution = sdpdr.solve(methods.mvu(graphs.path([1.0] * 30)), "dense", "gram")
    assert solution.claimed.status == "out of memory"
    assert "GiB" in solution.claimed.message


def truss(width, height, unit):
    """The least squared strain t that bars of a grid, fixed on the left, have under a weight."""
    at = unit * np.array([(i, j) for i in range(width) for j in range(height)], dtype=float)
    free = 2 * (width - 1) * height
    weight = np.zeros((1, free))
    weight[0, -1] = 1.0
    limits, one = [], VectorMap([[1.0], [0.0], [0.0]])
    for a, b in zip(*np.triu_indices(len(at), 1), strict=True):
        d = at[a] - at[b]
        if np.linalg.norm(d) < 1.5 * unit and at[b, 0] > 0.0:
            # [[t, strain], [strain, 1]] is positive semidefinite.
            strain = np.zeros((len(at), 2))
            strain[a], strain[b] = d, -d
            strain = strain[height:].reshape(1, -1) / (d @ d)
            rows = VectorMap(np.concatenate([0.0 * strain, 2.0**0.5 * strain, 0.0 * strain]))
            name = f"bar {a}-{b}"
            limits.append(Lmi(name, 2, {"t": one, "u": rows}, np.array([0.0, 0.0, 1.0])))
    variables = (VectorVariable("t", 1), VectorVariable("u", free))
    return SDP(variables, {"t": VectorMap([[1.0]]), "u": VectorMap(weight)}, (), tuple(limits))


@pytest.mark.parametrize(
    ("size", "unit", "value", "most"), [((5, 4), 1.0, -49.0, 30), ((4, 3), 1e3, -30.25e6, 59)]
)
def test_steps_on_many_small_matrices_do_not_become_short(size, unit, value, most):
    found = sdpdr.solve(truss(*size, unit), "dense", "gram")
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(value, rel=1e-6)
    assert found.claimed.iterations <= most
