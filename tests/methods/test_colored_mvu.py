"""Colored unfolding: oracles, identities, side information of every kind, what is refused."""

import numpy as np
import pytest
from scipy.optimize import linprog

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import DataError, DisconnectedGraphError, ShapeError


@pytest.fixture(scope="module")
def roll():
    X, t = sdpdr.datasets.swiss_roll(30, seed=0)
    y = np.sign(t - np.median(t))
    y[::5] *= -1
    return graphs.knn(X, n_neighbors=4), y, t


def value(model, **options):
    solution = sdpdr.solve(model, **options)
    assert solution.certified(1e-6)
    return solution.value


@pytest.mark.integration
def test_the_known_values_are_found_for_one_label_for_two_and_for_exact_lengths(roll):
    graph, y, t = roll
    assert y.sum() == 0.0
    assert value(methods.colored_mvu(graph, y)) == pytest.approx(18590.338, rel=1e-6)
    assert value(methods.colored_mvu(graph, np.column_stack([y, t]))) == pytest.approx(
        230751.04, rel=1e-6
    )
    assert value(methods.colored_mvu(graph, y, "equality")) == pytest.approx(14540.785, rel=1e-5)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("solver", "form"),
    [
        ("lowrank", "factor"),
        pytest.param("clarabel", "gram", marks=pytest.mark.nightly),
    ],
)
def test_solvers_agree_and_prove_it(roll, solver, form):
    solution = sdpdr.solve(methods.colored_mvu(roll[0], roll[1]), solver, form, tol=1e-7)
    assert solution.value == pytest.approx(18590.338, rel=1e-5)
    assert solution.gap < 1e-5


def test_one_column_is_a_linear_program(roll):
    """The value is the square of max y.z subject to |z_i - z_j| <= sqrt d_ij."""
    graph, y, _ = roll
    rows = np.zeros((graph.m, graph.n))
    rows[np.arange(graph.m), graph.edges[:, 0]] = 1.0
    rows[np.arange(graph.m), graph.edges[:, 1]] = -1.0
    limits = np.sqrt(graph.sqdist)
    found = linprog(
        -(y - y.mean()), np.vstack([rows, -rows]), np.tile(limits, 2), bounds=(None, None)
    )
    assert value(methods.colored_mvu(graph, y)) == pytest.approx(found.fun**2, rel=1e-6)


def test_projection_keeps_value_and_feasibility(roll):
    """With lengths that may shrink, as many dimensions as F has columns are enough."""
    graph, y, t = roll
    F = np.column_stack([y, t]) - [y.mean(), t.mean()]
    model = methods.colored_mvu(graph, F)
    solution = sdpdr.solve(model, tol=1e-8)
    Y = solution.embedding(6)
    basis = np.linalg.svd(F.T @ Y, full_matrices=False)[2].T
    low = Y @ basis @ basis.T
    gram = low @ low.T
    assert np.linalg.matrix_rank(gram, tol=1e-8 * np.trace(gram)) == 2
    assert model.objective({"K": gram}) == pytest.approx(solution.value, rel=1e-6)
    assert max(model.violations({"K": gram}).values()) < 1e-5 * graph.sqdist.max()


def test_a_graph_and_a_kernel_as_side_information():
    ring = graphs.cycle(8)
    kernel = np.linalg.inv(np.eye(8) + ring.laplacian().toarray())
    for F in (methods.side_information(ring), methods.side_information(kernel=kernel)):
        np.testing.assert_allclose(F @ F.T, kernel, atol=1e-12)


def test_parts_that_balance_do_not_drift():
    parts = graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 4.0])
    solution = sdpdr.solve(methods.colored_mvu(parts, [1.0, -1.0, 1.0, -1.0]))
    # Both edges at full length along one line: (1 + 2)^2.
    assert solution.certified(1e-5)
    assert solution.value == pytest.approx(9.0, rel=1e-5)
    with pytest.raises(DisconnectedGraphError, match="other side information"):
        methods.colored_mvu(parts, [1.0, 1.0, -1.0, -1.0])


def test_what_is_refused(roll):
    graph = roll[0]
    with pytest.raises(DataError, match="the same for all points"):
        methods.colored_mvu(graph, np.ones(graph.n))
    with pytest.raises(DataError, match="12 rows"):
        methods.colored_mvu(graph, np.arange(12.0))
    with pytest.raises(DataError, match="nan"):
        methods.colored_mvu(graph, np.full(graph.n, np.nan))
    with pytest.raises(ShapeError, match="labels"):
        methods.side_information([["a", "b"]])
    with pytest.raises(DataError, match="not symmetric"):
        methods.side_information(kernel=[[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(DataError, match="negative eigenvalues, the lowest -1"):
        methods.side_information(kernel=np.diag([1.0, -1.0]))
    with pytest.raises(DataError, match="either as y or as kernel"):
        methods.side_information()
    with pytest.raises(ShapeError, match="kernel"):
        methods.side_information(kernel=[1.0, 2.0])
