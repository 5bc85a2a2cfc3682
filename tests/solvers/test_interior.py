"""The interior point over factors: its matrix, and programs with known optima."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sdpdr
from sdpdr import blocks, datasets, graphs, methods, soften
from sdpdr.linalg import SvecMap, Trace
from sdpdr.program import dimacs_errors
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank import Options, solve_factored
from sdpdr.solvers.lowrank.frame import Journal
from sdpdr.solvers.lowrank.general.compile import compile_problem
from sdpdr.solvers.lowrank.interior.boxes import Boxed
from sdpdr.solvers.lowrank.interior.iteration import Interior
from sdpdr.solvers.lowrank.interior.matrix import NewtonMatrix
from sdpdr.solvers.lowrank.interior.progress import Floor

from .factored_programs import known_program


def boxed_program(seed=0):
    """Two matrices, an inequality of each kind of row, free and signed scalars."""
    known = known_program(seed, scalars=2, free=2, curved=1)
    return Boxed.of(compile_problem(known.sdp))


def unknowns(boxed, matrix, seed=1):
    rng = np.random.default_rng(seed)
    ranks = [r for _, r in matrix.shapes]
    pairs = zip(boxed.blocks, ranks, strict=True)
    points = [b.extended(rng.standard_normal((b.block.n, r))) for b, r in pairs]
    return matrix.join(points, rng.standard_normal(boxed.cost.size))


# -- the matrix --------------------------------------------------------------------------------


def test_slopes_are_the_derivative_of_the_rows():
    boxed = boxed_program()
    at = Interior(boxed, (2, 1), Journal(Options()), size=1.0)
    x = unknowns(boxed, at.matrix)
    direction = unknowns(boxed, at.matrix, seed=2)
    at.matrix.linearize(x)
    step = 1e-6
    ahead, behind = at._values(x + step * direction)[1], at._values(x - step * direction)[1]
    assert at.matrix.slope @ direction == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("longest", [80, 4], ids=["cliques", "beside"])
def test_a_step_solves_the_equations_written_out(longest, monkeypatch):
    """However many rows stand beside the matrix."""
    monkeypatch.setattr("sdpdr.solvers.lowrank.interior.matrix._LONG_ROW", longest)
    boxed = boxed_program()
    matrix = NewtonMatrix(boxed, (2, 1))
    x, rng = unknowns(boxed, matrix), np.random.default_rng(3)
    stiffness, y = rng.uniform(0.5, 2.0, boxed.m), rng.standard_normal(boxed.problem.m)
    matrix.linearize(x)
    full = np.append(1.0, y)
    matrix.assemble([b.forms.entries_of(full) for b in boxed.blocks], stiffness)
    shift = 50.0
    assert matrix.factorize(shift) == matrix.negative
    slope = matrix.slope.toarray()
    dense = slope.T @ (stiffness[:, None] * slope)
    dense[matrix.starts[-1] :, matrix.starts[-1] :] += shift * np.eye(
        matrix.size - matrix.starts[-1]
    )
    for block, (n, r), start in zip(boxed.blocks, matrix.shapes, matrix.starts, strict=False):
        slack = block.forms.slack(full).toarray()
        curved = np.kron(2.0 * slack + shift * measured(block.forms), np.eye(r))
        dense[start : start + n * r, start : start + n * r] += curved
    dense[matrix.starts[-1] :, matrix.starts[-1] :] += np.diag(boxed.curvature)
    right = rng.standard_normal(matrix.size)
    assert matrix.solve(right) == pytest.approx(np.linalg.solve(dense, right), abs=1e-9)


def measured(forms):
    """The Laplacian of what rows read, one on the diagonal in the mean, and a little identity."""
    read = np.zeros((forms.n, forms.n))
    for e in range(1, forms.m):
        read += np.abs(forms.slack(np.eye(forms.m)[e]).toarray())
    between = read - np.diag(np.diag(read))
    near = np.maximum(between.sum(axis=1), np.diag(read))
    return 0.999 * (np.diag(near) - between) / near.mean() + 0.001 * np.eye(forms.n)


# -- programs ----------------------------------------------------------------------------------


@pytest.mark.nightly
@settings(max_examples=5, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    scalars=st.sampled_from([0, 3]),
    free=st.sampled_from([0, 2]),
    curved=st.sampled_from([0, 2]),
)
def test_complementary_pairs_are_found(seed, scalars, free, curved):
    known = known_program(seed, scalars=scalars, free=free, curved=curved)
    result = solve_factored(known.sdp, interior=True)
    assert result.status == "converged", result.message
    assert result.value == pytest.approx(known.value, rel=1e-6, abs=1e-6)
    assert dimacs_errors(known.sdp, result.point).worst() <= 1e-6


def test_rows_that_contradict_each_other_are_not_solved():
    """A triangle with sides 1, 1 and 3, its lengths exact: no penalty is high enough."""
    triangle = graphs.from_edges(3, [[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 9.0])
    result = solve_factored(methods.mvu(triangle, "equality").to_sdp(), interior=True)
    assert result.status == "infeasible"


def test_an_unbounded_program_is_not_solved():
    apart = graphs.from_edges(4, [[0, 1], [2, 3]], [1.0, 1.0])
    model = (
        blocks.Gram(4)
        + blocks.Lengths(apart, exact=False)
        + blocks.Centered(4)
        + blocks.Variance(4)
    )
    result = solve_factored(model.to_sdp(), Options(max_iter=300), interior=True)
    assert result.status != "converged"


# -- limits, starts, options -------------------------------------------------------------------


def test_square_penalties_alone_leave_no_products():
    """Every row gives way, so that no multiplier has an end."""
    n = 12
    lengths = blocks.Lengths(graphs.path(np.ones(n - 1)), exact=True)
    base = blocks.Gram(n) + blocks.Centered(n) + blocks.Variance(n)
    model = base + soften(lengths, 1e4, square=True)
    result = solve_factored(model.to_sdp(), Options(tol=1e-8), interior=True)
    assert result.status == "converged"
    other = sdpdr.solve(model, "clarabel")
    assert other.value == pytest.approx(result.value, rel=1e-6)


# -- known points ------------------------------------------------------------------------------


def sensors(n, noise=0.0, seed=0, exact=False):
    """Points in the unit square, a few of them known, with lengths between those that are near."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(0.0, 1.0, (n, 2))
    places[:4] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    graph = graphs.radius(places, 1.6 * np.sqrt(np.log(n) / (np.pi * n)), connect="mst")
    square = graph.sqdist * np.square(1.0 + noise * rng.standard_normal(graph.m))
    anchors = np.arange(max(4, n // 10))
    graph = graphs.from_edges(n, graph.edges, square)
    lengths = blocks.AnchoredLengths(graph, anchors, places[anchors], exact=exact)
    return places, anchors, blocks.Coordinates(n - anchors.size, 2), lengths


def on_entries(sdp):
    """The same program with every map as rows of entries, as a file would have it."""
    rows = tuple(
        replace(r, lhs={k: SvecMap(a.n, a.matrix()) for k, a in r.lhs.items()}) for r in sdp.rows
    )
    return replace(sdp, rows=rows)


@pytest.mark.nightly
@pytest.mark.parametrize("unit", [2.0**-8, 2.0**8])
def test_absolute_penalties_among_known_points_are_proved_whatever_they_are(unit):
    *_, coordinates, lengths = sensors(20, noise=0.05, exact=True)
    model = coordinates + soften(lengths, unit)
    found = sdpdr.solve(model, "lowrank")
    other = sdpdr.solve(model, "clarabel")
    assert found.certified(1e-6)
    assert "interior" in found.claimed.message
    assert found.value == pytest.approx(other.value, rel=1e-5)
    assert found.bound <= other.attained * (1.0 + 1e-9)


# -- multipliers of exact rows -----------------------------------------------------------------


@pytest.mark.nightly
def test_exact_lengths_among_known_points_get_a_bound_however_many_there_are():
    """The least trace, at the point itself; in rows of entries, as a file has them."""
    _, _, coordinates, lengths = sensors(80, seed=1, exact=True)
    sdp = (coordinates + lengths).to_sdp()
    sdp = replace(on_entries(sdp), objective={"Z": Trace(sdp.variable("Z").n)})
    found = solve_factored(sdp)
    assert abs(found.gap) <= 1e-6
    assert dimacs_errors(sdp, found.point).primal() <= 1e-6
    assert "interior" in found.message


def _density_map(n, **options):
    graph = graphs.knn(datasets.swiss_roll(n, seed=0)[0], n_neighbors=6, connect="mst")
    return methods.density_map(graph, **options)


@pytest.mark.nightly
@given(seed=st.integers(0, 100), rank=st.integers(1, 6))
@settings(max_examples=10)
def test_no_point_is_below_the_floor_of_its_trace(seed, rank):
    problem = compile_problem(_density_map(40).to_sdp())
    factor = np.random.default_rng(seed).standard_normal((40, rank))
    cost = float(problem.blocks[0].forms.values(factor)[0])
    floor = Floor(problem, seed=0).value([factor])
    assert cost >= floor - 1e-9 * abs(floor)


@pytest.mark.nightly
def test_a_point_at_the_floor_needs_no_multipliers():
    solution = sdpdr.solve(_density_map(150), LowRank(options={"engine": "interior"}))
    assert solution.certified()
    assert solution.value == pytest.approx(150.0)
    assert solution.duals["row_sums"] == pytest.approx(np.zeros(150), abs=1e-12)
    assert solution.duals["non_negative"].max() <= 1e-12


def test_where_the_trace_is_the_objective_no_point_is_proved_by_a_floor():
    """Every point would be on it, and a proof without multipliers be tried in vain."""
    graph = graphs.knn(datasets.swiss_roll(30, seed=0)[0], n_neighbors=6)
    problem = compile_problem(methods.mvu(graph).to_sdp())
    assert Floor(problem, seed=0).value([np.ones((30, 1))]) == -np.inf
