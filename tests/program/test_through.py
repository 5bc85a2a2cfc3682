"""Solutions next to a factor: proved where there is one, and never where there is none."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import Status, datasets, graphs, methods
from sdpdr.base.deadline import EffortSpentError
from sdpdr.linalg import Diagonal, Entries, InnerProduct, QuadraticForms, SvecMap, Trace, VectorMap
from sdpdr.linalg.svec import smat, svec, svec_size
from sdpdr.program.attain import attain
from sdpdr.program.attain.box import Box
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.attain.rounding import objective_around
from sdpdr.program.attain.through import solve_through_factor
from sdpdr.program.point import Factor, Point, PsdVariable, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP


def through(sdp, values, *, narrow=False):
    """With all entries of matrices in x, or with those alone that rows read."""
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setattr("sdpdr.program.attain.cone._WIDEST_ORDER", 0)
        program = cone_program(sdp, wide=narrow)
    assert program.is_narrow is narrow
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


@pytest.mark.nightly
@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_a_point_near_a_factor_that_solves_all_rows_is_proved(seed, narrow):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(3, 8)), int(rng.integers(1, 4))
    R = rng.normal(size=(n, r))
    rows = random_rows(rng, n, int(rng.integers(1, n)))
    sdp = program_of(rows, rows.apply(R @ R.T), np.eye(n))
    box = through(sdp, {"X": Factor(R + 1e-6 * rng.normal(size=R.shape))}, narrow=narrow)
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


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(1e-15, 1e-2), st.booleans())
def test_no_point_is_proved_where_none_is_feasible(seed, excess, narrow):
    """Entries of absolute value one, beside a diagonal of ones, that are a little larger."""
    rng = np.random.default_rng(seed)
    entries = Entries(2, np.array([[0, 0], [1, 1], [0, 1]]))
    sdp = program_of(entries, [1.0, 1.0, 1.0 + excess], np.eye(2))
    start = np.ones((2, 2)) * [1.0, 0.0] + 10.0 ** rng.uniform(-9, -1) * rng.normal(size=(2, 2))
    assert isinstance(through(sdp, {"X": Factor(start)}, narrow=narrow), str)


@pytest.mark.nightly
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_point_is_proved_beyond_a_limit_that_multipliers_prove(seed, narrow):
    """Rows whose sum is - tr X ask for more than nothing: there is no such X."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    parts = [random_rows(rng, n, 1).matrix().toarray()[0] for _ in range(int(rng.integers(1, 4)))]
    parts.append(-svec(np.eye(n)) - np.sum(parts, axis=0))
    rows = SvecMap(n, sp.csr_array(np.array(parts)))
    b = rng.normal(size=len(parts))
    b[-1] += 10.0 ** rng.uniform(-12, 0) - b.sum()
    start = 10.0 ** rng.uniform(-7, 0) * rng.normal(size=(n, n))
    sdp = program_of(rows, b, np.eye(n))
    assert isinstance(through(sdp, {"X": Factor(start)}, narrow=narrow), str)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(("limit", "is_proved"), [(1.1, True), (1.0, True), (0.9, False)])
def test_slack_keeps_its_sign(limit, is_proved, narrow):
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
    found = through(sdp, start, narrow=narrow)
    assert isinstance(found, Box) == (is_proved and limit > 1.0)


def test_a_density_map_is_certified_by_its_factor():
    X = datasets.swiss_roll(80, seed=0)[0]
    model = methods.density_map(graphs.knn(X, n_neighbors=6, connect="mst"))
    solution = sdpdr.solve(model, "lowrank")
    assert solution.status is Status.SOLVED
    assert "a factor next to which" in solution.report()
    assert svec_size(model.to_sdp().psd_variables[0].n) > solution["K"].factor.size


def of_densities(n):
    """A density map, whose objective reads all entries of its matrix."""
    X = datasets.swiss_roll(n, seed=0)[0]
    return methods.density_map(graphs.knn(X, n_neighbors=6, connect="mst")).to_sdp()


def test_what_is_proved_of_entries_that_rows_read_is_proved_of_all():
    sdp = of_densities(60)
    point = sdpdr.solve(sdp, "lowrank").values
    both = [through(sdp, point, narrow=narrow) for narrow in (False, True)]
    assert all(isinstance(box, Box) for box in both)
    assert both[0].value == pytest.approx(both[1].value, rel=1e-9)
    for box in both:
        factor = Factor(box.factors["K"])
        values = {**point, "K": factor}
        assert box.value >= sdp.primal_value(values)
        missed = [np.max(np.abs(sdp.slack(r, values))) for r in sdp.rows if r.relation == "=="]
        assert max(missed) < 1e-12


@pytest.mark.nightly
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_no_factor_around_one_has_a_larger_objective_than_is_told(seed):
    rng = np.random.default_rng(seed)
    n, r, far = int(rng.integers(2, 9)), int(rng.integers(1, 4)), 10.0 ** rng.uniform(-8, 0)
    cost = rng.normal() * Trace(n) + rng.normal() * QuadraticForms(rng.normal(size=(1, n)))
    sdp = replace(program_of(random_rows(rng, n, 1), [0.0], np.eye(n)), objective={"X": cost})
    R, roots = rng.normal(size=(n, r)), np.exp2(rng.integers(-3, 4, size=n))
    told = objective_around(sdp, "X", R, roots, far)
    for _ in range(20):
        D = rng.normal(size=(n, r))
        # The steepest way is among those tried.
        D = D if rng.random() < 0.5 else roots[:, None] * (sdp.cost("X") @ (roots[:, None] * R))
        moved = roots[:, None] * (R + far * D / np.linalg.norm(D))
        assert cost.apply_factor(moved)[0] <= told
    assert told == pytest.approx(cost.apply_factor(roots[:, None] * R)[0], abs=1e5 * far)


def test_a_matrix_too_large_to_be_written_down_is_proved_by_what_rows_read():
    """A ring of 4101 points that winds around a torus; all products of neighbours are alike."""
    n = 4101  # of an even ring every other sum is told by the others
    steps = 2.0 * np.pi / n * np.array([512.0, 900.0])
    angle = np.arange(n)[:, None] * steps
    R = np.hstack([np.cos(angle), np.sin(angle)]) / np.sqrt(2.0)
    sdp = methods.density_map(graphs.cycle(n), np.full(n, np.cos(steps).sum())).to_sdp()
    noise = 1e-9 * np.sin(np.arange(R.size)).reshape(R.shape)
    found = attain(sdp, Point({"K": Factor(R + noise)}))
    assert found.value == pytest.approx(n, rel=1e-6)
    assert found.value <= n


def test_faces_and_long_rows_of_large_matrices_are_left_to_other_arguments():
    n = 4100
    around = Rows("around", "==", {"X": QuadraticForms(np.ones((1, n)))}, np.ones(1))
    faced = replace(around, rhs=np.zeros(1))
    for rows in (around, faced):
        sdp = SDP((PsdVariable("X", n),), {"X": Trace(n)}, (rows,))
        with pytest.raises(EffortSpentError, match="too large"):
            cone_program(sdp, wide=True)


@pytest.mark.parametrize(("most", "is_proved"), [(2.0, False), (900.0, True)])
def test_a_small_matrix_on_a_face_keeps_all_its_entries_beside_one_that_is_narrow(most, is_proved):
    """Y_11 = .1 and Y_12 = .9 need a Y_22 of 8.1 at least."""
    n, around = 12, np.array([[10.0, 1.0, 1.0, 1.0]])
    rows = (
        Rows("around", "==", {"Y": QuadraticForms(around)}, np.zeros(1)),
        Rows("products", "==", {"Y": Entries(4, [[1, 1], [1, 2]])}, np.array([0.1, 0.9])),
        Rows("most", "<=", {"Y": Entries(4, [[2, 2]])}, np.array([most])),
        Rows("unit", "==", {"X": Diagonal(n)}, np.ones(n)),
    )
    sdp = SDP((PsdVariable("X", n), PsdVariable("Y", 4)), {"X": Trace(n), "Y": Trace(4)}, rows)
    R = np.zeros((4, 3))
    R[1, 0], R[2, :2], R[3, 2] = np.sqrt(0.1), (0.9 / np.sqrt(0.1), 1.0), 1.0
    R[0] = -R[1:].sum(axis=0) / 10.0
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_LARGEST_ORDER", "_WIDEST_ORDER"):
            patch.setattr(f"sdpdr.program.attain.cone.{name}", 10)
        found = attain(sdp, Point({"X": Factor(np.ones((n, 1))), "Y": Factor(R)}))
    assert (found.value is not None) is is_proved
    if is_proved:
        assert found.value == pytest.approx(n + np.sum(R**2), rel=1e-6)
        assert found.value >= n + np.sum(R**2) - 1e-9
