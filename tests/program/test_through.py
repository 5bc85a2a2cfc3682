"""Solutions next to a factor: proved where there is one, and never where there is none."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import Status, datasets, graphs, methods
from sdpdr.linalg import Entries, InnerProduct, SvecMap, VectorMap
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.attain.box import Box
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.attain.through import solve_through_factor
from sdpdr.program.point import Factor, PsdVariable, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP


def through(sdp, values):
    program = cone_program(sdp)
    return solve_through_factor(program, program.vector(values), program.factors(values))


def random_rows(rng, n, m):
    """Symmetric matrices with few entries, as a map."""
    matrices = []
    for _ in range(m):
        A = np.zeros((n, n))
        i, j = rng.integers(0, n, (2, 2))
        A[i, j] += rng.normal(size=2)
        matrices.append(svec(A + A.T))
    return SvecMap(n, sp.csr_array(np.array(matrices)))


def program_of(rows, b, cost, relation="=="):
    n = cost.shape[0]
    return SDP(
        (PsdVariable("X", n),),
        {"X": InnerProduct(cost)},
        (Rows("rows", relation, {"X": rows}, np.asarray(b, dtype=float)),),
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_a_point_near_a_factor_that_solves_all_rows_is_proved(seed):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(3, 8)), int(rng.integers(1, 4))
    R = rng.normal(size=(n, r))
    rows = random_rows(rng, n, int(rng.integers(1, n)))
    sdp = program_of(rows, rows.apply(R @ R.T), np.eye(n))
    box = through(sdp, {"X": Factor(R + 1e-6 * rng.normal(size=R.shape))})
    if isinstance(box, str):
        # Rows that a factor does not notice, or that depend on each other there.
        slopes = np.array([(A @ R).ravel() for A in map(smat, rows.matrix().toarray())])
        assert np.linalg.svd(slopes, compute_uv=False)[-1] < 1e-3
        return
    points = box.factors["X"]
    np.testing.assert_allclose(rows.apply(points @ points.T), sdp.rows[0].rhs, atol=1e-12)
    assert np.linalg.norm(points @ points.T - R @ R.T) < 1e-2
    assert box.value == pytest.approx(np.sum(points**2), rel=1e-6)
    assert box.value >= np.sum(points**2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-15, 1e-2))
def test_no_point_is_proved_where_none_is_feasible(seed, excess):
    """Entries of absolute value one, beside a diagonal of ones, that are a little larger."""
    rng = np.random.default_rng(seed)
    entries = Entries(2, np.array([[0, 0], [1, 1], [0, 1]]))
    sdp = program_of(entries, [1.0, 1.0, 1.0 + excess], np.eye(2))
    start = np.ones((2, 2)) * [1.0, 0.0] + 10.0 ** rng.uniform(-9, -1) * rng.normal(size=(2, 2))
    assert isinstance(through(sdp, {"X": Factor(start)}), str)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_no_point_is_proved_beyond_a_limit_that_multipliers_prove(seed):
    """Rows whose sum is - tr X ask for more than nothing: there is no such X."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    parts = [random_rows(rng, n, 1).matrix().toarray()[0] for _ in range(int(rng.integers(1, 4)))]
    parts.append(-svec(np.eye(n)) - np.sum(parts, axis=0))
    rows = SvecMap(n, sp.csr_array(np.array(parts)))
    b = rng.normal(size=len(parts))
    b[-1] += 10.0 ** rng.uniform(-12, 0) - b.sum()
    start = 10.0 ** rng.uniform(-7, 0) * rng.normal(size=(n, n))
    assert isinstance(through(program_of(rows, b, np.eye(n)), {"X": Factor(start)}), str)


@pytest.mark.parametrize(("limit", "is_proved"), [(1.1, True), (1.0, True), (0.9, False)])
def test_slack_keeps_its_sign(limit, is_proved):
    """X_11 = 1 under a limit on X_11 + z, with z >= 0."""
    rows = (
        Rows("one", "==", {"X": Entries(2, np.array([[0, 0]]))}, np.ones(1)),
        Rows(
            "limit",
            "==",
            {"X": Entries(2, np.array([[0, 0]])), "z": VectorMap(np.eye(1))},
            np.array([limit]),
        ),
    )
    sdp = SDP(
        (PsdVariable("X", 2), VectorVariable("z", 1, nonnegative=True)),
        {"X": InnerProduct(np.eye(2))},
        rows,
    )
    start = {"X": Factor(np.array([[1.0], [0.1]])), "z": np.array([max(limit - 1.0, 0.0)])}
    found = through(sdp, start)
    assert isinstance(found, Box) == (is_proved and limit > 1.0)


def test_a_density_map_is_certified_by_its_factor():
    X = datasets.swiss_roll(120, seed=0)[0]
    model = methods.density_map(graphs.knn(X, n_neighbors=6, connect="mst"))
    solution = sdpdr.solve(model, "lowrank")
    assert solution.status is Status.SOLVED
    assert "a factor next to which" in solution.report()
    assert svec_size(model.to_sdp().psd_variables[0].n) > solution["K"].factor.size
