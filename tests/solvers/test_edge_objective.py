"""Objectives of the edge engine: what is recognised, and that the engine obeys its laws."""

from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks, graphs, methods
from sdpdr.errors import ModelError
from sdpdr.linalg import InnerProduct, Products, QuadraticForms, Stacked
from sdpdr.model import Maximize, Model, Var
from sdpdr.program import Rows, Status
from sdpdr.solvers.lowrank import EdgeProgram, Objective, Options, solve_edge_program
from sdpdr.solvers.lowrank.edge.form import edge_form, why_not
from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian

PAIRS = np.array([[0, 5], [2, 7], [0, 1]])
PULL = np.array([1.0, 2.0, 0.5])


@pytest.fixture(scope="module")
def graph():
    return graphs.knn(np.random.default_rng(0).standard_normal((12, 2)), 3, connect="mst")


def objective(graph):
    F = np.random.default_rng(1).standard_normal((graph.n, 2))
    return Objective(np.ones(graph.n), 0.3, PAIRS, PULL, F - F.mean(axis=0))


def dense(form):
    n = len(form.mass)
    C = form.variance * np.diag(form.mass)
    for (i, j), pull in zip(form.pairs, form.pull, strict=True):
        b = np.eye(n)[i] - np.eye(n)[j]
        C = C + pull * np.outer(b, b)
    return C if form.side is None else C + form.side @ form.side.T


def test_value_and_product_are_those_of_the_matrix(graph):
    form, R = objective(graph), np.random.default_rng(2).standard_normal((graph.n, 3))
    C = dense(form)
    np.testing.assert_allclose(form.times(R), C @ R, atol=1e-12)
    assert form.value(R) == pytest.approx(np.sum(R * (C @ R)))
    assert form.size() == pytest.approx(np.trace(C) / graph.n)
    scaled = form.scaled(2.0, 3.0)
    np.testing.assert_allclose(dense(scaled), C / 3.0, atol=1e-12)


@pytest.mark.parametrize("rank", [1, 3])
def test_the_bordered_newton_matrix_solves_the_dense_one(graph, rank):
    rng, form = np.random.default_rng(3), objective(graph)
    m, n = graph.m, graph.n
    weights, sigma = rng.uniform(50, 60, m), rng.uniform(1, 2, m)
    delta = rng.standard_normal((m, rank))
    newton = BlockLaplacian(graph.edges, form.mass, rank, form)
    newton.assemble(weights, sigma, delta)
    shift = -2.0 * form.variance + 0.1
    negative = newton.factorize(shift)
    M = np.kron(graph.laplacian(2 * weights).toarray(), np.eye(rank))
    for e, (i, j) in enumerate(graph.edges):
        b = np.zeros((n, rank))
        b[i], b[j] = delta[e], -delta[e]
        M += 4 * sigma[e] * np.outer(b.ravel(), b.ravel())
    rest = dense(form) - form.variance * np.diag(form.mass)
    M += np.kron(-2 * rest + shift * np.eye(n), np.eye(rank))
    assert negative == np.sum(np.linalg.eigvalsh(M) < 0) == rank
    rhs = rng.standard_normal((n, rank))
    rhs -= rhs.mean(axis=0)
    np.testing.assert_allclose(
        newton.solve(rhs).ravel(), np.linalg.solve(M, rhs.ravel()), atol=1e-9
    )


def test_a_mixture_is_recognised_part_by_part(graph):
    form = objective(graph)
    model = methods.mvu(graph) + blocks.Spread(graph.n, PAIRS, PULL) + blocks.Dependence(form.side)
    found = edge_form(model.to_sdp()).program.objective
    np.testing.assert_allclose(dense(found), dense(form) + 0.7 * np.eye(graph.n), atol=1e-12)
    mine = sdpdr.solve(model, "lowrank")
    theirs = sdpdr.solve(model, "clarabel", "gram")
    assert mine.certified(1e-6)
    assert mine.value == pytest.approx(theirs.value, rel=1e-5)


MEANS = {
    "the form of all ones": lambda n: QuadraticForms(np.ones((1, n))),
    "multiples": lambda n: -3.0 * Products(n),
    "both": lambda n: Stacked([Products(n), QuadraticForms(np.ones((1, n)))]),
    "sums beside": lambda n: np.vstack([np.eye(n), np.ones((2, n))]) @ Products(n),
}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", MEANS)
def test_however_centre_and_lengths_are_written_the_program_is_the_same(graph, kind):
    sdp = methods.mvu(graph).to_sdp()
    isometry = sdp.rows[1]
    means, lengths = MEANS[kind](graph.n), isometry.lhs["K"]
    rows = (
        Rows("centred", "==", {"K": means}, np.zeros(means.m)),
        replace(isometry, lhs={"K": 2.0 * lengths - lengths}),
    )
    other = replace(sdp, rows=rows)
    np.testing.assert_array_equal(edge_form(other).program.mass, np.ones(graph.n))
    solution = sdpdr.solve(other, "lowrank")
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(sdpdr.solve(sdp).value, rel=1e-6)


def test_a_laplacian_given_as_a_matrix_is_pairs(graph):
    pull = graphs.from_edges(graph.n, PAIRS, PULL).laplacian(PULL)

    class Given(blocks.Gram):
        def terms(self):
            yield Maximize(InnerProduct(pull) @ Var("K"))

    plain = methods.mvu(graph)
    model = Model((Given(graph.n), *plain.blocks[1:3]))
    found = edge_form(model.to_sdp()).program.objective
    assert found.variance == 0.0
    np.testing.assert_allclose(dense(found), pull.toarray(), atol=1e-12)


def test_what_is_not_an_edge_objective(graph):
    plain = methods.mvu(graph)
    pushed = plain + blocks.Spread(graph.n, [[0, 1]], [-1.0])
    assert "pushes some pair" in why_not(pushed.to_sdp())
    signed = plain + blocks.Dependence(np.eye(graph.n)[:, :1], [-1.0])
    assert "subtracts a quadratic form" in why_not(signed.to_sdp())
    nothing = Model((*plain.blocks[:3],))
    assert "nothing is maximised" in why_not(nothing.to_sdp())


def test_penalties_go_with_variance_only(graph):
    with pytest.raises(ModelError, match="penalties"):
        EdgeProgram(graph.edges, graph.n, graph.sqdist, penalty=3.0, objective=objective(graph))


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bound_holds_at_any_moment(seed):
    X, t = sdpdr.datasets.swiss_roll(60, seed=seed)
    graph = graphs.knn(X, 5, connect="mst")
    F = np.column_stack([t, np.cos(t)])
    form = Objective(np.ones(60), 0.0, side=F - F.mean(axis=0))
    program = EdgeProgram(graph.edges, 60, graph.sqdist, objective=form)
    best = solve_edge_program(program, Options(tol=1e-9))
    assert best.status == "converged"
    for steps in (3, 8, 15):
        early = solve_edge_program(program, Options(max_iter=steps, callback=lambda record: None))
        assert early.bound >= best.value * (1 - 1e-9)
        assert early.value <= best.bound * (1 + 1e-9)
