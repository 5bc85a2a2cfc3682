"""Chordal: clique blocks say what the large matrix says, on both sides, and answers come back."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import sdpdr
from sdpdr.errors import NotAcceptedError
from sdpdr.linalg import (
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    SvecMap,
    Trace,
    VectorMap,
    svec,
    svec_index,
)
from sdpdr.linalg.cliques import CliqueCost, clique_tree
from sdpdr.program import (
    SDP,
    Lmi,
    Point,
    PsdVariable,
    Rows,
    VectorVariable,
    as_dense,
    dimacs_errors,
)
from sdpdr.reduce import Chordal, Composed, Dedupe, Dual, Scale
from sdpdr.reduce.chordal_blocks import block_bases
from sdpdr.reduce.chordal_pattern import find_trees
from sdpdr.solvers import Clarabel

N = 12
FINE = CliqueCost(overhead=0.0, overlap=0.0)
COARSE = CliqueCost(overhead=2.0, overlap=0.0)


def tree():
    parents = np.random.default_rng(3).integers(0, np.arange(1, N))
    return [(int(p), i + 1) for i, p in enumerate(parents)]


def islands():
    return [(i, j) for i in range(N) for j in range(i + 1, N) if i // 3 == j // 3]


def cycle():
    return [(i, (i + 1) % N) for i in range(N)]


PATTERNS = {f.__name__: f() for f in (tree, islands, cycle)}


def on_pattern(rng, pairs):
    """A random symmetric matrix on a pattern, positive definite by its diagonal."""
    matrix = np.zeros((N, N))
    i, j = np.transpose(pairs)
    matrix[i, j] = matrix[j, i] = rng.standard_normal(len(pairs))
    return matrix + np.diag(np.abs(matrix).sum(axis=1) + rng.uniform(0.5, 1.0, N))


def entries(rng, pairs, m, size=3):
    """A few entries of the pattern a row, and a last row that reads all of the diagonal."""
    both = np.concatenate([np.asarray(pairs), np.tile(np.arange(N), (2, 1)).T])
    matrix = np.zeros((m, N * (N + 1) // 2))
    for row in matrix[:-1]:
        chosen = both[rng.choice(len(both), size)]
        row[svec_index(*chosen.T)] = rng.standard_normal(size)
    matrix[-1, svec_index(np.arange(N), np.arange(N))] = 1.0
    return SvecMap(N, matrix)


def sparse_program(pairs, seed=0):
    """A matrix variable and a matrix inequality on a pattern, strictly feasible on both sides."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((N, 2 * N))
    values = {
        "X": root @ root.T / N,
        "p": rng.uniform(0.5, 2.0, 3),
        "f": rng.standard_normal(2),
        "c": rng.standard_normal(2),
    }
    sizes = {"p": 3, "f": 2, "c": 2}

    def expression(m):
        vectors = {name: VectorMap(rng.standard_normal((m, k))) for name, k in sizes.items()}
        return {"X": entries(rng, pairs, m), **vectors}

    def on_cone(k):
        return VectorMap(np.column_stack([svec(on_pattern(rng, pairs)) for _ in range(k)]))

    def at(lhs):
        return sum(a.apply(values[name]) for name, a in lhs.items())

    fixed, most = expression(5), expression(4)
    cone = {name: on_cone(k) for name, k in sizes.items()}
    cone["X"] = SvecMap(N, np.diag(svec(on_pattern(rng, pairs))))
    rows = (
        Rows("fixed", "==", fixed, at(fixed)),
        Rows("most", "<=", most, at(most) + rng.uniform(0.1, 1.0, 4)),
    )
    lmi = Lmi("cone", N, cone, svec(on_pattern(rng, pairs)) - at(cone))
    variables = (
        PsdVariable("X", N),
        VectorVariable("p", 3, nonnegative=True),
        VectorVariable("f", 2),
        VectorVariable("c", 2, curvature=rng.uniform(0.5, 2.0, 2)),
    )
    bare = SDP(variables, {}, rows, (lmi,))
    dense = rng.standard_normal((N, 2 * N))
    y = {
        "fixed": rng.standard_normal(5),
        "most": rng.uniform(0.1, 1.0, 4),
        "cone": dense @ dense.T / N,
    }
    slack = {
        "X": on_pattern(rng, pairs),
        "p": rng.uniform(0.2, 1.0, 3),
        "f": np.zeros(2),
        "c": rng.standard_normal(2),
    }
    cost = {name: s - bare.dual_slack(name, y) for name, s in slack.items()}
    objective = {
        name: InnerProduct(np.asarray(c)) if np.ndim(c) == 2 else VectorMap(c[None, :])
        for name, c in cost.items()
    }
    return SDP(variables, objective, rows, (lmi,), constant=1.5, maximize=seed % 2 == 1)


def matrix_program(pairs, seed=0):
    """One matrix variable with a given trace and limits on lengths: a kind that we certify."""
    rng = np.random.default_rng(seed)
    rows = (
        Rows("trace", "==", {"X": Trace(N)}, np.full(1, float(N))),
        Rows("lengths", "<=", {"X": SquaredEdgeLengths(N, pairs)}, rng.uniform(0.2, 2, len(pairs))),
    )
    cost = -on_pattern(rng, pairs) + np.diag(rng.uniform(0.0, 3.0, N))
    return SDP((PsdVariable("X", N),), {"X": InnerProduct(cost)}, rows, maximize=True)


# -- exact laws, without a solver ---------------------------------------------------------------


def unlimited(sdp):
    """The program without a row that says how large entries are, so that bases are the identity."""
    trace, _ = sdp.rows
    return replace(sdp, rows=(replace(trace, rhs=-trace.rhs),))


@pytest.mark.daily(3)
@pytest.mark.parametrize("change", [lambda sdp: sdp, unlimited], ids=["bases", "identity"])
@pytest.mark.parametrize("pairs", PATTERNS.values(), ids=PATTERNS)
def test_blocks_of_a_matrix_give_the_rows_and_costs_of_the_matrix(pairs, change):
    sdp = change(matrix_program(pairs))
    split = Chordal(FINE).apply(sdp)
    cliques = find_trees(sdp, FINE).variables["X"]
    root = np.random.default_rng(1).standard_normal((N, N))
    values = {"X": root @ root.T}
    bases = block_bases(sdp, "X", cliques)
    are_trivial = all(np.array_equal(b @ b.T, np.eye(len(b))) for b in bases)
    assert are_trivial == (change is unlimited)
    blocks = {}
    for k, c in enumerate(cliques.cliques):
        inverse = np.linalg.inv(bases[k])
        blocks[f"X[{k}]"] = inverse @ values["X"][np.ix_(c, c)] @ inverse.T
    assert split.sdp.primal_value(blocks) == pytest.approx(sdp.primal_value(values), rel=1e-9)
    original = {r.label: r for r in sdp.rows}
    for r in split.sdp.rows:
        if r.label in original:
            expected = sdp.slack(original[r.label], values)
            np.testing.assert_allclose(split.sdp.slack(r, blocks), expected, atol=1e-9)
        else:
            np.testing.assert_allclose(split.sdp.slack(r, blocks), 0.0, atol=1e-9)
    lifted = split.lift(Point(blocks)).values["X"]
    inside = cliques.pattern()
    np.testing.assert_allclose(
        svec(as_dense(lifted))[inside], svec(values["X"])[inside], rtol=1e-7, atol=1e-7
    )


# -- with a solver ------------------------------------------------------------------------------

CHAINS = {
    "alone": (Chordal(COARSE),),
    "dual": (Chordal(COARSE), Dual()),
    "of the dual": (Dual(), Chordal(COARSE)),
    "scaled": (Dedupe(), Chordal(COARSE), Scale(), Dual()),
}


@cache
def undecomposed(pairs):
    sdp = sparse_program(pairs, seed=len(pairs))
    return sdp, Clarabel(tol=1e-8).run(sdp).claim.value


@pytest.mark.daily(3)
@pytest.mark.parametrize("steps", CHAINS.values(), ids=CHAINS)
@pytest.mark.parametrize("pairs", [PATTERNS["tree"], PATTERNS["cycle"]], ids=["tree", "cycle"])
def test_the_decomposed_program_equals_the_undecomposed_one(pairs, steps):
    sdp, value = undecomposed(tuple(pairs))
    reduced = Composed(steps).apply(sdp)
    outcome = Clarabel(tol=1e-8).run(reduced.sdp)
    assert reduced.lift_value(outcome.claim.value) == pytest.approx(value, rel=1e-6)
    lifted = reduced.lift(outcome.point)
    assert set(lifted.values) == {v.name for v in sdp.variables}
    assert set(lifted.duals) == {"fixed", "most", "cone"}
    assert dimacs_errors(sdp, lifted).worst() < 1e-6
    assert lifted.duals["cone"].shape == (N, N)


# -- refusals -----------------------------------------------------------------------------------


def with_cost(cost, *rows):
    return SDP((PsdVariable("X", N),), {"X": InnerProduct(cost)}, rows)


TRACE = Rows("trace", "==", {"X": Trace(N)}, np.ones(1))
CENTRED = Rows("centred", "==", {"X": Products(N)}, np.zeros(N))
PRODUCT = Rows("coupled", "==", {"X": InnerProduct(np.ones((N, N)))}, np.ones(1))
THICK = [(i, (i + s) % N) for i in range(N) for s in (1, 5)]
REFUSALS = {
    "dense objective": (with_cost(np.ones((N, N)), TRACE), "'X': the objective reads 100% of"),
    "rows that couple": (with_cost(np.eye(N), PRODUCT), "'X': 'coupled' reads 100% of"),
    "centring": (with_cost(np.eye(N), TRACE, CENTRED), "'face' removes 'centred'"),
    "large cliques": (
        with_cost(on_pattern(np.random.default_rng(0), THICK), TRACE),
        f"largest clique has {clique_tree(N, THICK).sizes.max()} of {N} indices, and the cliques",
    ),
    "no matrices": (
        SDP((VectorVariable("z", 2, nonnegative=True),), {"z": VectorMap([[1.0, 1.0]])}),
        "the program has no matrix variable",
    ),
}


@pytest.mark.parametrize(("sdp", "words"), REFUSALS.values(), ids=REFUSALS)
def test_it_says_why_it_cannot_help(sdp, words):
    assert words in Chordal().accepts(sdp)
    with pytest.raises(NotAcceptedError, match="reduction 'chordal' does not apply: "):
        Chordal().apply(sdp)


def test_matrices_that_it_cannot_help_are_left_alone():
    sdp = matrix_program(PATTERNS["tree"])
    cost = {**sdp.objective, "Y": InnerProduct(np.ones((3, 3)))}
    both = SDP((*sdp.variables, PsdVariable("Y", 3)), cost, sdp.rows, maximize=True)
    reduced = Chordal(FINE).apply(both)
    names = [v.name for v in reduced.sdp.variables]
    assert names[-1] == "Y"
    assert "X" not in names
    lifted = reduced.lift(reduced.sdp.zero_point())
    assert lifted.values["Y"].shape == (3, 3)
    assert lifted.values["X"].shape == (N, N)


def test_a_matrix_inequality_is_split_in_the_dual_as_the_refusal_says():
    """min 1^T x with diag(x) >= 2 A, A the path: twice the number of its edges."""
    order = 30
    path = np.diag(np.ones(order - 1), 1)
    diagonals = VectorMap(np.column_stack([svec(np.diag(e)) for e in np.eye(order)]))
    lmi = Lmi("cone", order, {"x": diagonals}, svec(-path - path.T))
    ones = {"x": VectorMap(np.ones((1, order)))}
    sdp = SDP((VectorVariable("x", order),), ones, (), (lmi,))
    with pytest.raises(NotAcceptedError, match="the reduction 'dual' makes one of every"):
        sdpdr.solve(sdp, "clarabel", form="chordal")
    answer = sdpdr.solve(sdp, "clarabel", form="chordal", via=[Dual()])
    assert answer.certified(1e-6)
    assert answer.value == pytest.approx(2.0 * (order - 1), rel=1e-6)


def test_rows_of_too_many_entries_are_refused_by_name(monkeypatch):
    """They are not written out to be told that nothing is sparse."""
    edges = np.column_stack([np.arange(9), np.arange(1, 10)])
    rows = Rows("near", "<=", {"X": SquaredEdgeLengths(10, edges)}, np.ones(9))
    sdp = SDP((PsdVariable("X", 10),), {"X": Trace(10)}, (rows,))
    monkeypatch.setattr("sdpdr.reduce.chordal_pattern.MOST_PRODUCTS", 35)
    with pytest.raises(NotAcceptedError, match=r"'near' reads 3.6e\+01 entries, too many"):
        Chordal().apply(sdp)
