"""Density preserving maps and density estimates: oracles, printed forms, refusals."""

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Gram, NonNegative, RowSums, Spread, Variance
from sdpdr.errors import DataError, InfeasibleError, ModelError, ShapeError, UnknownNameError
from sdpdr.families.unfold.density_map import kernel_sums
from sdpdr.model import Model
from sdpdr.program import Status

X = np.random.default_rng(0).standard_normal((10, 2))
KERNEL = np.exp(-np.square(X[:, None] - X[None]).sum(-1))
GRAPH = graphs.knn(X, n_neighbors=3)
H = np.sqrt(0.5)
SELF = np.column_stack([np.arange(10)] * 2)
EVERY = np.column_stack(np.triu_indices(10))


def dense(solution):
    return np.asarray(solution.gram())


def neighbour_sums(gram):
    adjacency = GRAPH.adjacency(np.ones(GRAPH.m)).toarray()
    return (adjacency * gram).sum(axis=1)


def edge_lengths(gram):
    i, j = GRAPH.edges.T
    return gram[i, i] + gram[j, j] - 2.0 * gram[i, j]


# -- the programs that have an answer --------------------------------------------------------------


@pytest.mark.daily(2)
@pytest.mark.integration
@pytest.mark.parametrize(
    ("options", "value", "solver", "form"),
    [
        ({}, 9.480013, "clarabel", "lmi"),
        ({}, 9.480013, "lowrank", "factor"),
        ({"spread": "least"}, 4.001321, "clarabel", "lmi"),
        ({"variant": "trace"}, 4.506880, "clarabel", "lmi"),
    ],
)
def test_every_solver_finds_the_known_value_and_keeps_the_neighbour_sums(
    options, value, solver, form
):
    solution = sdpdr.solve(
        methods.density_map(GRAPH, bandwidth=H, **options), solver, form, tol=1e-7
    )
    np.testing.assert_allclose(solution.value, value, atol=1e-6)
    np.testing.assert_allclose(solution.bound, value, atol=2e-6)
    gram = dense(solution)
    np.testing.assert_allclose(neighbour_sums(gram), neighbour_sums(KERNEL), atol=1e-5)
    assert gram[tuple(GRAPH.edges.T)].min() > -1e-6


def test_on_the_sphere_the_lengths_add_up_to_a_constant():
    constant = GRAPH.degree.sum() - neighbour_sums(KERNEL).sum()
    assert constant == pytest.approx(22.694476)
    for spread in ("most", "least"):
        model = methods.density_map(GRAPH, bandwidth=H, spread=spread)
        gram = dense(sdpdr.solve(model, "clarabel", "gram", tol=1e-8))
        assert edge_lengths(gram).sum() == pytest.approx(constant, rel=1e-6)
        np.testing.assert_allclose(np.diag(gram), 1.0, atol=1e-6)


def test_the_kernel_of_the_data_is_feasible():
    model = methods.density_map(GRAPH, bandwidth=H)
    assert max(model.violations({"K": KERNEL}).values()) < 1e-12
    np.testing.assert_allclose(kernel_sums(GRAPH, H), neighbour_sums(KERNEL))


def test_the_least_trace_has_rank_one():
    model = methods.density_map(GRAPH, bandwidth=H, variant="trace")
    spectrum = np.linalg.eigvalsh(dense(sdpdr.solve(model, "clarabel", "lmi", tol=1e-8)))
    assert spectrum[-2] < 1e-5 * spectrum[-1]


def test_given_densities_win_and_the_default_bandwidth_is_the_mean_length():
    given = methods.density_map(GRAPH, 0.5 * GRAPH.degree)
    rows = next(b for b in given.blocks if isinstance(b, RowSums))
    np.testing.assert_array_equal(rows.values, 0.5 * GRAPH.degree)
    usual = kernel_sums(GRAPH)
    np.testing.assert_allclose(usual, kernel_sums(GRAPH, np.sqrt(GRAPH.sqdist.mean())))


# -- the forms as printed --------------------------------------------------------------------------


def printed(pairs, f, objective, signs=None):
    return Model(
        (Gram(10), RowSums(10, pairs, f), NonNegative(10, signs), objective), maximize=True
    )


STRETCH = Spread(10, GRAPH.edges)


def test_6_33_has_the_diagonal_for_an_answer():
    f = KERNEL.sum(axis=1)
    solution = sdpdr.solve(printed(EVERY, f, Variance(10)), "clarabel", "gram", tol=1e-7)
    assert f.sum() == pytest.approx(30.70743)
    np.testing.assert_allclose(solution.value, f.sum(), rtol=1e-6)
    np.testing.assert_allclose(dense(solution), np.diag(f), atol=1e-3)


@pytest.mark.nightly
def test_6_33_without_the_point_itself_is_unbounded():
    others = EVERY[EVERY[:, 0] != EVERY[:, 1]]
    model = printed(others, KERNEL.sum(axis=1) - 1.0, Variance(10))
    far = {"K": KERNEL + 1e4 * np.eye(10)}
    assert max(model.violations(far).values()) < 1e-9
    assert model.objective(far) > 1e5
    assert sdpdr.solve(model, "clarabel", "gram").status is Status.UNBOUNDED


@pytest.mark.nightly
def test_6_36_with_signs_on_edges_only_is_unbounded():
    model = printed(EVERY, KERNEL.sum(axis=1), STRETCH, GRAPH.edges)
    joined = GRAPH.adjacency(np.ones(GRAPH.m)).toarray() + np.eye(10)
    u, v = np.argwhere(joined == 0)[0]
    step = np.zeros(10)
    step[u], step[v] = 1.0, -1.0
    far = {"K": KERNEL + 1e4 * np.outer(step, step)}
    assert max(model.violations(far).values()) < 1e-9
    assert model.objective(far) > 1e4
    assert sdpdr.solve(model, "clarabel", "gram").status is Status.UNBOUNDED


@pytest.mark.parametrize(
    ("pairs", "sums", "value"),
    [
        (EVERY, KERNEL.sum(axis=1), 132.71587),
        (np.vstack([GRAPH.edges, SELF]), neighbour_sums(KERNEL) + 1.0, 118.86384),
    ],
    ids=["all rows", "neighbours and self"],
)
def test_6_36_has_no_inner_products_along_edges(pairs, sums, value):
    assert GRAPH.degree @ sums == pytest.approx(value)
    solution = sdpdr.solve(printed(pairs, sums, STRETCH), "clarabel", "gram", tol=1e-7)
    np.testing.assert_allclose(solution.value, value, rtol=1e-6)
    assert np.abs(dense(solution)[tuple(GRAPH.edges.T)]).max() < 1e-4


# -- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"density": np.zeros(10)}, DataError, "density at node 0 is 0.0"),
        ({"density": np.full(10, np.nan)}, DataError, "nan; give positive densities"),
        ({"density": np.ones(3)}, ShapeError, "each of the 10 nodes"),
        ({"density": np.full(10, 20.0)}, InfeasibleError, "no entry of a kernel"),
        ({"density": np.ones(10), "bandwidth": 1.0}, ModelError, "not both"),
        ({"bandwidth": 0.0}, ModelError, "bandwidth must be positive"),
        ({"bandwidth": 1e-9}, DataError, "give a wider bandwidth"),
        ({"variant": "units"}, UnknownNameError, "Did you mean 'unit'"),
        ({"spread": "max"}, UnknownNameError, "least, most"),
    ],
)
def test_densities_bandwidths_and_variants_without_a_map_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        methods.density_map(GRAPH, **arguments)


def test_a_point_alone_is_refused():
    with pytest.raises(DataError, match="node 2 has no neighbour"):
        methods.density_map(graphs.from_edges(3, [[0, 1]], [1.0]))


def test_densities_that_need_long_vectors_have_a_least_trace():
    model = methods.density_map(GRAPH, np.full(10, 20.0), variant="trace")
    assert sdpdr.solve(model, "clarabel", "lmi").status is Status.SOLVED


# -- estimates at every point ----------------------------------------------------------------------
