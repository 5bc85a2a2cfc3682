"""Bounds on rounding hold against exact arithmetic, and proofs of definiteness are never wrong."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sdpdr.linalg import (
    BilinearForms,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    Stacked,
    SvecMap,
    VectorMap,
    inertia,
    svec_size,
    verified,
)
from sdpdr.linalg.inertia import LdlFactor
from sdpdr.linalg.ldl import _Qdldl, _SuperLu
from sdpdr.linalg.magnitudes import adjoint_magnitude, adjoint_terms
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import dot_enclosure, exact_sum, gamma, two_product
from sdpdr.linalg.verified import is_verified_positive

NUMBERS = st.floats(-1e12, 1e12).map(lambda x: x if abs(x) > 1e-12 else 0.0)


def exactly(array):
    return [Fraction(float(x)) for x in np.ravel(array)]


@settings(max_examples=30, derandomize=True)
@given(a=st.lists(NUMBERS, min_size=1, max_size=8), b=st.lists(NUMBERS, min_size=8, max_size=8))
def test_products_and_their_errors_are_exact(a, b):
    a, b = np.array(a), np.array(b[: len(a)])
    product, error = two_product(a, b)
    for x, y, p, e in zip(*map(exactly, (a, b, product, error)), strict=True):
        assert p + e == x * y


@settings(max_examples=30, derandomize=True)
@given(a=st.lists(NUMBERS, min_size=1, max_size=8), b=st.lists(NUMBERS, min_size=8, max_size=8))
def test_an_inner_product_lies_in_its_enclosure(a, b):
    a, b = np.array(a), np.array(b[: len(a)])
    exact = sum(x * y for x, y in zip(exactly(a), exactly(b), strict=True))
    low, high = dot_enclosure(a, b)
    assert Fraction(low) <= exact <= Fraction(high)
    assert (low == high) == (exact == 0)


def test_cancelling_terms_leave_an_exact_zero():
    a = np.array([0.1, 0.1, 1e20])
    assert exact_sum(np.concatenate([a, -a])) == (0.0, 0.0)
    assert dot_enclosure(a, np.array([1.0, -1.0, 0.0])) == (0.0, 0.0)


def test_numbers_that_would_overflow_are_refused():
    with pytest.raises(ArithmeticError, match="units"):
        two_product(np.array([1e300]), np.array([1e300]))


def test_gamma_is_not_too_small():
    for k in (1, 7, 1000, 10**6):
        exact = Fraction(k, 2**53) / (1 - Fraction(k, 2**53))
        assert exact <= Fraction(float(gamma(k))) <= exact * (1 + Fraction(1, 10**12))


def maps(rng, n=5):
    edges = np.array([(i, j) for i in range(n) for j in range(i)])
    root = rng.standard_normal((n, n))
    return [
        SquaredEdgeLengths(n, edges),
        BilinearForms(rng.standard_normal((4, n)), rng.standard_normal((4, n))),
        InnerProduct(root + root.T),
        Products(n, rng.standard_normal(n)),
        SvecMap(n, rng.standard_normal((3, svec_size(n)))),
        rng.standard_normal(len(edges)) * SquaredEdgeLengths(n, edges),
        sp.csr_array(rng.standard_normal((3, len(edges)))) @ SquaredEdgeLengths(n, edges),
        Stacked((InnerProduct(root), SquaredEdgeLengths(n, edges))),
        InnerProduct(root) + InnerProduct(np.diag(root)[:, None] * np.eye(n)),
    ]


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix)


def exact_adjoint(linear_map, y):
    """From the adjoints of the rows, which few operations make, in exact sums.

    Rows of combined maps are sums themselves; their error is of the same kind and is allowed for.
    """
    total = [Fraction(0)] * linear_map.n**2
    for e, weight in enumerate(exactly(y)):
        unit = np.zeros(linear_map.m)
        unit[e] = 1.0
        row = exactly(dense(linear_map.adjoint(unit)))
        total = [t + weight * r for t, r in zip(total, row, strict=True)]
    return total


@pytest.mark.parametrize("kind", range(9))
def test_adjoints_err_no_more_than_their_terms_allow(kind):
    rng = np.random.default_rng(0)
    linear_map = maps(rng)[kind]
    y = rng.standard_normal(linear_map.m) * 10.0 ** rng.integers(-6, 6, linear_map.m)
    allowed = 2.0 * gamma(adjoint_terms(linear_map)) * dense(adjoint_magnitude(linear_map, y))
    computed = exactly(dense(linear_map.adjoint(y)))
    exact = exact_adjoint(linear_map, y)
    for c, e, a in zip(computed, exact, exactly(allowed), strict=True):
        assert abs(c - e) <= a


def test_maps_on_vectors_have_magnitudes_too():
    linear_map = VectorMap([[1.0, -2.0], [0.0, 3.0]])
    assert adjoint_magnitude(linear_map, np.array([-1.0, 1.0])).tolist() == [1.0, 5.0]
    assert adjoint_terms(linear_map) > 2


# -- definiteness -------------------------------------------------------------------------------


def quadratic_form(matrix, x):
    rows = [exactly(row) for row in dense(matrix)]
    x = exactly(x)
    return sum(x[i] * rows[i][j] * x[j] for i in range(len(x)) for j in range(len(x)))


@pytest.fixture(params=[None, _Qdldl, _SuperLu])
def way(request, monkeypatch):
    """Small matrices by Cholesky, or all by the factorization with a border."""
    if request.param is not None:
        monkeypatch.setattr(verified, "DENSE", 0)
        monkeypatch.setattr(inertia, "sparse_ldl", request.param)


@pytest.mark.parametrize("library", [_Qdldl, _SuperLu])
@pytest.mark.parametrize("seed", range(2))
def test_a_factorization_knows_its_own_error(seed, library, monkeypatch):
    monkeypatch.setattr(inertia, "sparse_ldl", library)
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((9, 9)) * (rng.random((9, 9)) < 0.4)
    matrix = root + root.T + np.diag(rng.choice([-3.0, 3.0], 9))
    factorization = LdlFactor(sp.csc_array(matrix))
    n, order = 9, factorization.factors.order
    lower = factorization.factors.lower.toarray() + np.eye(n)
    bound = exactly(factorization.error_bound())
    for i in range(n):
        error = Fraction(0)
        for j in range(n):
            terms = zip(*map(exactly, (lower[i], factorization.pivots, lower[j])), strict=True)
            error += abs(sum(a * d * b for a, d, b in terms) - Fraction(matrix[order[i], order[j]]))
        assert error <= bound[order[i]]
        assert bound[order[i]] < 1e-12 * (1 + float(np.max(np.abs(factorization.pivots))))


@settings(
    max_examples=30,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(2, 9),
    depth=st.integers(20, 70),
    sparse=st.booleans(),
)
def test_a_matrix_with_a_negative_direction_is_never_called_positive(way, seed, n, depth, sparse):
    # Integers throughout: x is an exact null vector of B^T B, and a power of two is taken off.
    rng = np.random.default_rng(seed)
    x = rng.integers(1, 4, n).astype(float)
    b = rng.integers(-3, 4, (n + 2, n)).astype(float) * x[0]
    b[:, 0] = -(b[:, 1:] @ x[1:]) / x[0]
    matrix = b.T @ b
    matrix[0, 0] -= 2.0**-depth * (depth < 40)
    matrix -= (depth >= 40) * 2.0**-depth * np.diag(np.ones(n))
    if quadratic_form(matrix, x) >= 0:  # the power was lost in rounding: then it is singular
        return
    stored = sp.csr_array(matrix) if sparse else matrix
    empty = sp.csr_array((n, n))
    assert not is_verified_positive(stored, empty)
    twins = sp.csr_array(sp.block_diag([stored] * 6))
    assert not is_verified_positive(twins, sp.csr_array((6 * n, 6 * n)))


@pytest.mark.parametrize("n", [3, 40, 301])
def test_the_proof_on_a_face_is_sharp_to_rounding_and_never_wrong(way, n):
    i = np.arange(n)
    edges = np.column_stack([i, (i + 1) % n])
    laplacian = SquaredEdgeLengths(n, edges).adjoint(np.ones(n))
    smallest = 4 * np.sin(np.pi / n) ** 2
    one, none = np.ones((n, 1)), sp.csr_array((n, n))
    # The second eigenvalue is known in closed form to a few units in the last place.
    for relative in (1e-9, 1e-10, 1e-11):
        assert not is_verified_positive(
            laplacian - smallest * (1 + relative * n**2) * sp.eye_array(n), none, one
        )
    margin = 1e-12 if n <= verified.DENSE else 1e-9
    assert is_verified_positive(
        laplacian - smallest * (1 - margin * n**2) * sp.eye_array(n), none, one
    )


def test_a_radius_larger_than_the_eigenvalue_defeats_the_proof():
    matrix, none = sp.eye_array(4, format="csr"), sp.csr_array((4, 4))
    assert is_verified_positive(matrix, none)
    assert is_verified_positive(matrix, 0.2 * sp.csr_array(np.ones((4, 4))))
    assert not is_verified_positive(matrix, 0.3 * sp.csr_array(np.ones((4, 4))))
    assert not is_verified_positive(np.eye(4), 0.3 * np.ones((4, 4)))


@pytest.mark.parametrize("sparse", [False, True])
def test_faces_of_several_dimensions(way, sparse):
    n, rng = 30, np.random.default_rng(0)
    null = rng.integers(-2, 3, (n, 3)).astype(float)
    q = np.linalg.qr(null)[0]
    # Positive on the complement of null, negative on it.
    outside = np.eye(n) - 5.0 * q @ q.T
    matrix = sp.csr_array(sp.block_diag([outside] + [np.eye(1)] * 70)) if sparse else outside
    if sparse:
        null, n = np.vstack([null, np.zeros((70, 3))]), n + 70
    radius = sp.csr_array((n, n)) if sparse else np.zeros((n, n))
    assert is_verified_positive(matrix, radius, null)
    assert not is_verified_positive(matrix, radius, null[:, :2])
    assert not is_verified_positive(matrix - 1.001 * sp.eye_array(n), radius, null)


@pytest.mark.parametrize("p", [1, 3])
def test_positive_directions_outside_a_face_do_not_pay_for_a_negative_one_on_it(way, p):
    n = 60
    matrix = sp.diags_array(np.where(np.arange(n) == n - 1, -1.0, 2.0), format="csr")
    null, none = np.eye(n)[:, :p], sp.csr_array((n, n))
    assert not is_verified_positive(matrix, none, null)
    assert is_verified_positive(abs(matrix), none, null)
    assert is_verified_positive(matrix, none, np.eye(n)[:, -p:])


@pytest.mark.parametrize("n", [30, 450])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_outer_products_beside_a_matrix_count_for_what_they_are(n, sign):
    # a I - f f^T for |f|^2 = n against a; and f f^T - e e^T + I / 2, where e is nearly along f.
    f, none = np.ones((n, 1)), sp.csr_array((n, n))
    if sign < 0.0:
        for a, holds in ((n * (1 - 1e-9), False), (n * (1 + 1e-9), True)):
            outer = Outer(a * sp.eye_array(n, format="csr"), f, -np.ones(1))
            assert is_verified_positive(outer, none) == holds
    else:
        lowered = sp.eye_array(n, format="csr") * 1.0
        lowered[[0], [0]] = -0.9
        for weight, holds in ((1e-9, False), (1e3, False), (1.0, False)):
            assert is_verified_positive(Outer(lowered, f, np.array([weight])), none) == holds
        first = np.eye(n)[:, :1]
        for weight, holds in ((0.9 * (1 - 1e-9), False), (0.9 * (1 + 1e-9), True)):
            assert is_verified_positive(Outer(lowered, first, np.array([weight])), none) == holds
    radius = 2e-9 * sp.eye_array(n, format="csr")
    tight = Outer(1e-9 * sp.eye_array(n, format="csr"), f, np.ones(1))
    assert is_verified_positive(tight, none)
    assert not is_verified_positive(tight, radius)


@pytest.mark.parametrize("n", [3, 60])
def test_what_couples_a_face_to_its_complement_does_not_matter(n):
    rng = np.random.default_rng(n)
    null = rng.integers(1, 4, (n, 1)).astype(float)
    q = null / np.linalg.norm(null)
    couples = 1e3 * rng.standard_normal((n, 1))
    on_face = np.eye(n) - q @ q.T
    coupled = on_face + q @ couples.T + couples @ q.T
    assert is_verified_positive(coupled - (1.0 - 1e-9) * np.eye(n), np.zeros((n, n)), null)
    assert not is_verified_positive(coupled - (1.0 + 1e-9) * np.eye(n), np.zeros((n, n)), null)


def test_long_sums_in_a_factorization_are_not_trusted():
    # An arrow I, v, v^T v less some roundings: the sum of n equal squares errs on one side.
    n = 4000
    for v in 10.0 + np.arange(1, 12) / 7.0:
        exact = n * Fraction(float(v)) ** 2
        for share in (1 - Fraction(2) ** -45, 1 - Fraction(2) ** -43):
            corner = float(exact * share)
            assert Fraction(corner) < exact
            sides = sp.csr_array(np.full((n, 1), v))
            blocks = [[sp.eye_array(n), sides], [sides.T, np.array([[corner]])]]
            arrow = sp.csr_array(sp.block_array(blocks))
            assert not is_verified_positive(arrow, sp.csr_array(arrow.shape))


def test_powers_of_two_are_exact_on_this_processor():
    """Scalings by them round nothing, which proofs take for granted; no standard says so."""
    exponents = np.arange(-1022, 1024)
    assert np.array_equal(np.exp2(exponents.astype(float)), np.ldexp(1.0, exponents))
