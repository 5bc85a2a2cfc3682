"""Every linear map and every way to make maps of maps obeys the map laws."""

import re
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.errors import ShapeError
from sdpdr.linalg import (
    BilinearForms,
    Combined,
    Diagonal,
    Entries,
    InnerProduct,
    LinearMap,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    Summed,
    SvecMap,
    Trace,
    VectorMap,
    check_map,
    lengths_of,
    svec_size,
)
from sdpdr.linalg.svec import selection

N = 5
EDGES = [[0, 1], [1, 2], [4, 2], [0, 4]]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def sparse(*shape, seed=0):
    return sp.csr_array(normal(*shape, seed=seed) * (normal(*shape, seed=seed + 1) > 0.5))


def lengths():
    return SquaredEdgeLengths(N, EDGES)


class EveryOther(LinearMap):
    """Nothing but ``matrix``, so that all defaults of the base class are tested."""

    n, m = N, 3

    def matrix(self):
        return sp.csr_array(sparse(3, svec_size(N), seed=4))


MAPS = {
    "bilinear forms": lambda: BilinearForms(sparse(4, N), sparse(4, N, seed=2)),
    "bilinear forms, dense": lambda: BilinearForms(normal(4, N), normal(4, N, seed=2)),
    "bilinear forms, a row of zeros": lambda: BilinearForms(
        np.vstack([np.zeros(N), np.ones(N)]), normal(2, N)
    ),
    "quadratic forms": lambda: QuadraticForms(sparse(4, N)),
    "squared edge lengths": lengths,
    "an edge twice, and backwards": lambda: SquaredEdgeLengths(N, [[0, 1], [1, 0], [0, 1]]),
    "no edges": lambda: SquaredEdgeLengths(N, []),
    "entries": lambda: Entries(N, [[0, 1], [3, 2], [4, 4]]),
    "diagonal": lambda: Diagonal(N),
    "inner product": lambda: InnerProduct(normal(N, N)),
    "inner product, sparse": lambda: InnerProduct(sparse(N, N)),
    "trace": lambda: Trace(N),
    "weighted trace": lambda: Trace(N, [1.0, 2.0, 0.0, 4.0, -1.0]),
    "row sums": lambda: Products(N),
    "products with a vector": lambda: Products(N, [1.0, 0.0, 2.0, 0.0, -1.0]),
    "by its matrix": lambda: SvecMap(N, sparse(3, svec_size(N))),
    "from entries": lambda: SvecMap.from_entries(
        N, 3, np.array([0, 0, 2]), np.array([1, 3, 2]), np.array([4, 0, 2]), normal(3)
    ),
    "matrix alone": EveryOther,
    "stacked": lambda: Stacked([lengths(), Trace(N), EveryOther()]),
    "summed": lambda: Summed([lengths(), SvecMap(N, sparse(4, svec_size(N)))]),
    "combined": lambda: Combined(sparse(3, 4), lengths()),
    "combined twice": lambda: normal(2, 3) @ (sparse(3, 4) @ lengths()),
    "differences of edges": lambda: lengths()[:2] - lengths()[2:],
    "negated": lambda: -lengths(),
    "scaled": lambda: -2.5 * Products(N),
    "scaled row by row": lambda: np.array([1.0, -2.0, 0.5, 3.0]) * lengths(),
    "scaled by nothing": lambda: 0.0 * lengths(),
    "rows chosen": lambda: lengths()[np.array([True, False, True, False])],
    "rows chosen twice": lambda: lengths()[[1, 1, -1]],
    "one row": lambda: Stacked([lengths(), Diagonal(N)])[2],
    "combined stack": lambda: sparse(3, 9) @ Stacked([lengths(), Products(N)]),
    "stacked sums": lambda: Stacked([lengths() + lengths(), -Diagonal(N)]),
}


@pytest.mark.parametrize("name", MAPS)
def test_every_map_keeps_the_laws_of_maps(name):
    check_map(MAPS[name]())


@pytest.mark.nightly
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize(
    "basis",
    [normal(N, 3), selection([3, 0, 4, 2, 1], N), selection([1, 0, 0, 2, 1], 3)],
    ids=["dense", "in another order", "points that become one"],
)
def test_laws_in_another_basis(name, basis):
    linear_map = MAPS[name]()
    changed = linear_map.congruence(basis)
    check_map(changed)
    small = normal(basis.shape[1], 2, seed=3)
    expected = linear_map.apply_factor(np.asarray(basis @ small))
    np.testing.assert_allclose(changed.apply_factor(small), expected, atol=1e-10)


@pytest.mark.daily(12)
@pytest.mark.parametrize("name", MAPS)
def test_rows_taken_are_those_rows(name):
    linear_map = MAPS[name]()
    every = np.arange(linear_map.m)
    for rows in (every[::-2], np.repeat(every, 2), every[:0]):
        taken = linear_map.take(rows)
        expected = linear_map.matrix()[rows].toarray()
        np.testing.assert_allclose(taken.matrix().toarray(), expected, atol=1e-12)
        check_map(taken)


def test_multiples_of_the_same_lengths_add_up_where_nothing_is_rounded():
    known = lengths_of(2.0 * lengths() - lengths() + np.arange(1.0, 5.0) * lengths())
    np.testing.assert_array_equal(known[0], EDGES)
    np.testing.assert_array_equal(known[1], [2.0, 3.0, 4.0, 5.0])
    assert lengths_of(0.1 * lengths() + 0.2 * lengths()) is None
    assert lengths_of(lengths()[:2] + lengths()[2:]) is None
    assert lengths_of(Combined(np.ones((1, 4)), lengths())) is None


@pytest.mark.parametrize("name", MAPS)
def test_null_vectors_span_the_kernel_of_every_psd_solution_of_the_homogeneous_rows(name):
    linear_map = MAPS[name]()
    null = linear_map.null_vectors(np.zeros(linear_map.m)).toarray()
    away = np.eye(N) - null @ np.linalg.pinv(null)
    outside = linear_map.null_vectors(np.ones(linear_map.m))
    assert outside.shape == (N, 0)
    if null.shape[1] and not isinstance(linear_map, Stacked):
        np.testing.assert_allclose(linear_map.apply(away @ away.T), 0.0, atol=1e-10)


# -- the checker must be able to fail -----------------------------------------------------------


class Broken(SvecMap):
    """A good map with one method replaced."""

    def __init__(self, **wrong):
        super().__init__(3, normal(2, 6))
        for name, method in wrong.items():
            setattr(self, name, partial(method, self))


def ignore_last_row(self):
    j, i = np.tril_indices(2)
    return np.column_stack([i, j])


BROKEN = {
    "adjoint is symmetric": {
        "adjoint": lambda self, y: np.triu(SvecMap.adjoint(self, y).toarray())
    },
    "<A(K), y> = <K, A*(y)>": {"adjoint": lambda self, y: 2.0 * SvecMap.adjoint(self, y)},
    "apply_factor = apply": {"apply_factor": lambda self, r: SvecMap.apply_factor(self, r) + 1e-6},
    "matrix @ svec(K) = A(K)": {"apply": lambda self, k: 3.0 * SvecMap.apply(self, k)},
    "pattern holds all entries read": {"pattern": ignore_last_row},
    "congruence": {"congruence": lambda self, v: 2.0 * SvecMap.congruence(self, v)},
    "apply_factor = apply: shapes": {"apply_factor": lambda self, r: np.ones(3)},
}


@pytest.mark.parametrize("law", BROKEN)
def test_a_broken_map_fails_with_the_name_of_the_law(law):
    consistent = {"apply": {"adjoint", "apply_factor"}}
    wrong = dict(BROKEN[law])
    if consistent.keys() & wrong.keys():
        wrong["adjoint"] = lambda self, y: 3.0 * SvecMap.adjoint(self, y)
        wrong["apply_factor"] = lambda self, r: 3.0 * SvecMap.apply_factor(self, r)
    with pytest.raises(AssertionError, match=re.escape(law)):
        check_map(Broken(**wrong))


def test_a_vector_that_the_map_does_not_see_is_no_null_vector():
    blind = Broken(
        matrix=lambda self: sp.csr_array(([1.0], ([0], [0])), shape=(2, 6)),
        null_vectors=lambda self, rhs: sp.csr_array(np.array([[0.0], [1.0], [0.0]])),
        apply=lambda self, k: np.array([k[0, 0], 0.0]),
        apply_factor=lambda self, r: np.array([r[0] @ r[0], 0.0]),
        adjoint=lambda self, y: np.diag([y[0], 0.0, 0.0]),
        pattern=lambda self: np.array([[0, 0]]),
        congruence=lambda self, v: QuadraticForms(np.vstack([v[0], 0 * v[0]])),
    )
    with pytest.raises(AssertionError, match="null_vectors"):
        check_map(blind)


# -- wrong usage --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda: lengths().apply(np.eye(4)), "SquaredEdgeLengths acts on .* order 5; .* (4, 4)"),
        (lambda: lengths().apply_factor(np.ones((3, 2))), "order 5; it was given shape (3, 3)"),
        (lambda: lengths().adjoint(np.ones(3)), "has 4 rows .* shape (4,); it was given (3,)"),
        (lambda: SquaredEdgeLengths(3, [[0, 3]]), "edges must join points 0..2; .* 0..3"),
        (lambda: lengths() + Diagonal(N), "must share their number of rows; they have [4, 5]"),
        (lambda: lengths() + Diagonal(4), "must share their order; they have [5, 4]"),
        (lambda: Stacked([Trace(3), Trace(4)]), "must share their order"),
        (lambda: np.ones((2, 3)) @ lengths(), "one column per row of the map (4); .* (2, 3)"),
        (lambda: SvecMap(3, np.ones((1, 5))), "needs 6 columns; the matrix has 5"),
        (lambda: InnerProduct(np.ones((2, 3))), "square matrix; it was given (2, 3)"),
        (lambda: Products(3, [1.0]), "shape (3,); it has (1,)"),
        (lambda: BilinearForms(np.ones((1, 2)), np.ones((1, 3))), "one shape .* (1, 2) and (1, 3)"),
    ],
)
def test_things_that_do_not_fit_are_refused_with_both_sizes(use, words):
    pattern = ".*".join(re.escape(part) for part in words.split(" .* "))
    with pytest.raises(ShapeError, match=pattern):
        use()


def test_vector_maps_have_the_same_algebra():
    b, t, z, y = normal(3, 4), normal(2, 3), normal(4, seed=1), normal(3, seed=2)
    linear_map = VectorMap(b)
    np.testing.assert_allclose(linear_map.apply(z), b @ z)
    np.testing.assert_allclose(linear_map.adjoint(y), b.T @ y)
    np.testing.assert_allclose((t @ linear_map).apply(z), t @ b @ z)
    np.testing.assert_allclose((-linear_map).apply(z), -b @ z)
    np.testing.assert_allclose((y * linear_map).apply(z), y * (b @ z))
