"""Structure in rows that cvxpy has multiplied out."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import graphs, methods
from sdpdr.linalg import SvecMap, svec_index
from sdpdr.model.conic.recognise import MatrixRows, Pattern

N = 6
PAIRS = np.array([[0, 1], [2, 5], [1, 4], [3, 4]])
SCALES = np.array([1.0, -0.3, 7.0, 1e-5])


def rows_of(matrices):
    """Rows on symmetric matrices as `MatrixRows` takes them."""
    i, j = np.triu_indices(N)
    place = np.argsort(svec_index(i, j))
    rows = sp.csr_array([M[i[place], j[place]] for M in matrices])
    rows.eliminate_zeros()
    return rows


def outer(*vectors):
    return [np.outer(v, v) for v in vectors]


def unit(*places):
    v = np.zeros(N)
    v[list(places)] = 1.0
    return v


def distances():
    squares = outer(*(unit(i) - unit(j) for i, j in PAIRS))
    return [s * M for s, M in zip(SCALES, squares, strict=True)]


def entries(pairs):
    return [
        s * (np.outer(unit(i), unit(j)) + np.outer(unit(j), unit(i))) / 2.0
        for s, (i, j) in zip(SCALES, pairs, strict=False)
    ]


def product(u, order):
    return [(np.outer(unit(i), u) + np.outer(u, unit(i))) / 2.0 for i in order]


def random(m, seed=0):
    A = np.random.default_rng(seed).standard_normal((m, N, N))
    return list(A + A.transpose(0, 2, 1))


u = np.array([1.0, 0.0, -2.0, 0.1, 3.0, 0.7])
ONES = np.ones(N)
CASES = {
    "distances": (distances(), "Combined"),
    "distances of one": (outer(unit(0) - unit(3)), "SquaredEdgeLengths"),
    "diagonal": (outer(*map(unit, range(N))), "Diagonal"),
    "entries": (entries(PAIRS), "Combined"),
    "entries on and off": (entries([[0, 0], [1, 4], [2, 2]]), "Combined"),
    "sum of all": (outer(ONES), "QuadraticForms"),
    "sums and lengths": ([0.1 * M for M in outer(ONES, unit(1) - unit(2), unit(3))], "Combined"),
    "signs": (outer(unit(0, 2) - unit(3, 4, 5)), "QuadraticForms"),
    "centring": (product(ONES, range(N)), "Products"),
    "product, rows mixed": (product(u, [3, 1, 0, 5, 4, 2]), "Combined"),
    "a row missing": (product(ONES, range(N - 1)), "SvecMap"),
    "a row twice": (product(ONES, [0, 1, 2, 3, 4, 4]), "SvecMap"),
    "trace": ([np.eye(N)], "Trace"),
    "weighted trace": ([np.diag(u)], "Trace"),
    "inner product": (random(1), "InnerProduct"),
    "anything": (random(4), "SvecMap"),
    "mixed": ([*distances(), *random(2)], "SvecMap"),
    "nearly distances": ([M + 1e-16 * np.outer(unit(0), unit(0)) for M in distances()], "SvecMap"),
    "an empty row": ([*distances(), np.zeros((N, N))], "SvecMap"),
    "no rows": ([], "SvecMap"),
}


@pytest.mark.parametrize("name", CASES)
def test_no_coefficient_changes_by_a_bit(name):
    matrices, kind = CASES[name]
    rows = rows_of(matrices) if matrices else sp.csr_array((0, N * (N + 1) // 2))
    found, general = MatrixRows(N, rows).map(), SvecMap.from_natural(N, rows)
    assert type(found).__name__ == kind
    np.testing.assert_array_equal(found.matrix().toarray(), general.matrix().toarray())
    for e in range(found.m):
        one = np.zeros(found.m)
        one[e] = 1.0
        np.testing.assert_allclose(_dense(found.adjoint(one)), matrices[e], rtol=4e-16)


def _dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def test_patterns_of_rows_in_any_order():
    rows = rows_of([*random(1), *distances(), *entries([[0, 1], [2, 2]]), *product(u, [1])])
    found = [Pattern(k) for k in MatrixRows(N, rows).patterns]
    others = [Pattern.ENTRY, Pattern.DIAGONAL, Pattern.PRODUCT]
    assert found == [Pattern.OTHER, *(4 * [Pattern.DISTANCE]), *others]


CENTRED = {
    "product": lambda K: [K @ np.ones(K.shape[0]) == 0],
    "sum": lambda K: [cp.sum(K) == 0],
    "sums": lambda K: [cp.sum(K, axis=0) == 0],
    "rows": lambda K: [cp.sum(K[i, :]) == 0 for i in range(K.shape[0])],
}


def by_trace(K, i, j):
    v = np.zeros(K.shape[0])
    v[[i, j]] = 1.0, -1.0
    return cp.trace(np.outer(v, v) @ K)


LENGTHS = {
    "entries": lambda K, i, j: K[i, i] + K[j, j] - 2 * K[i, j],
    "trace": by_trace,
    "turned": lambda K, i, j: 3 * (K[i, j] + K[j, i] - K[i, i] - K[j, j]),
}


def written(graph, centred, lengths, *, is_psd, exact):
    n = graph.n
    if is_psd:
        K, cone = cp.Variable((n, n), PSD=True, name="K"), []
    else:
        K = cp.Variable((n, n), symmetric=True, name="K")
        cone = [K >> 0]
    sign = -3.0 if lengths == "turned" else 1.0
    rows = []
    for (i, j), d in zip(graph.edges.tolist(), graph.sqdist.tolist(), strict=True):
        left, right = LENGTHS[lengths](K, i, j), sign * d
        rows.append(left == right if exact else left <= right if sign > 0 else left >= right)
    return cp.Problem(cp.Maximize(cp.trace(K)), cone + CENTRED[centred](K) + rows)


SPELLINGS = [
    ("product", "entries", True),
    ("sum", "trace", False),
    ("sums", "turned", True),
    ("rows", "entries", False),
]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda one: one[0])
def test_unfoldings_are_recognised(spelling, exact):
    angles = np.arange(8) * np.pi / 4.0
    graph = graphs.knn(np.column_stack([np.cos(angles), np.sin(angles)]), n_neighbors=2)
    centred, lengths, is_psd = spelling
    problem = written(graph, centred, lengths, is_psd=is_psd, exact=exact)
    program = sdpdr.from_cvxpy(problem)
    sizes = [(rows.relation, rows.m) for rows in program.rows]
    assert sorted(sizes) == sorted(
        [("==", 1 if centred == "sum" else 8), ("==" if exact else "<=", 8)]
    )
    assert [v.name for v in program.psd_variables] == ["K"]
    plan = sdpdr.plan(program)
    assert (plan.solver.name, plan.form) == ("lowrank", "factor")


def test_lengths_that_are_stated_twice_are_those_of_an_edge_program():
    graph = graphs.path([1.0, 2.0, 0.5])
    (i, j), d = graph.edges.T, graph.sqdist
    K = cp.Variable((4, 4), PSD=True)
    ends, others = np.concatenate([i, j]), np.concatenate([j, i])
    lengths = cp.diag(K)[ends] + cp.diag(K)[others] - 2 * K[ends, others]
    rows = [cp.sum(K, axis=0) == 0, lengths <= np.concatenate([d, d])]
    problem = cp.Problem(cp.Maximize(cp.trace(K)), rows)
    assert sdpdr.plan(problem).solver.name == "lowrank"
    solution = sdpdr.solve(problem)
    assert solution.certified()
    assert solution.value == pytest.approx(sdpdr.solve(methods.mvu(graph)).value, rel=1e-6)
