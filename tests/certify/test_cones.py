"""What cones know of themselves: identities of barriers, and theorems against exact arithmetic."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.other_cones import Exponential, Power
from sdpdr.certify.products import exact_residual
from sdpdr.certify.symmetric_cones import Nonnegative, SecondOrder, Semidefinite

MAKE = {
    "nonnegative": lambda count: Nonnegative(1, 4),
    "second-order": lambda count: SecondOrder(count, 5),
    "semidefinite": lambda count: Semidefinite(count, 3),
    "exponential": Exponential,
    "power": lambda count: Power(np.linspace(0.2, 0.7, count)),
}
KINDS = pytest.mark.parametrize("kind", MAKE)


def inside(cone, rng):
    """Points inside, of varied sizes."""
    e = cone.centre()
    size = 10.0 ** rng.uniform(-3.0, 3.0, (cone.count, 1))
    step = rng.normal(size=e.shape)
    shares = (s for s in 0.7 ** np.arange(20) if cone.is_inside(e + s * step))
    return size * (e + 0.9 * next(shares) * step)


def of_dual(cone, rng):
    """Multipliers inside of the dual cone: minus gradients."""
    return -cone.gradient(inside(cone, rng))


# -- barriers -----------------------------------------------------------------------------------


@KINDS
def test_a_barrier_is_logarithmically_homogeneous(kind):
    rng = np.random.default_rng(0)
    cone = MAKE[kind](2)
    s = inside(cone, rng)
    g = cone.gradient(s)
    assert np.sum(s * g) == pytest.approx(-cone.degree, rel=1e-9)
    np.testing.assert_allclose(cone.gradient(4.0 * s), g / 4.0, rtol=1e-9)
    scaling = cone.scaling(s)
    # The Hessian maps the point to minus the gradient.
    mapped = scaling.transposed(scaling.times(s.ravel()))
    np.testing.assert_allclose(mapped, -g.ravel(), rtol=1e-6, atol=1e-9 * np.abs(g).max())


@KINDS
@pytest.mark.parametrize("count", [1, 3])
def test_a_scaling_has_the_hessian_and_its_inverse(kind, count):
    rng = np.random.default_rng(1)
    cone = MAKE[kind](count)
    s = inside(cone, rng)
    v = rng.normal(size=s.shape)
    # Steps that suit each copy.
    v *= np.linalg.norm(s, axis=1, keepdims=True) / np.linalg.norm(v, axis=1, keepdims=True)
    scaling, step = cone.scaling(s), 1e-6
    slope = (cone.gradient(s + step * v) - cone.gradient(s - step * v)) / (2.0 * step)
    found = scaling.transposed(scaling.times(v.ravel()))
    most = np.max(np.abs(slope), axis=1, keepdims=True)
    np.testing.assert_allclose(found.reshape(s.shape) / most, slope / most, atol=1e-4)
    back = scaling.back(scaling.back_transposed(found)).reshape(s.shape)
    largest = np.max(np.abs(v), axis=1, keepdims=True)
    np.testing.assert_allclose(back / largest, v / largest, atol=1e-6)


@KINDS
def test_minus_gradients_are_inside_of_the_dual(kind):
    rng = np.random.default_rng(2)
    cone = MAKE[kind](3)
    for _ in range(20):
        s, z = inside(cone, rng), of_dual(cone, rng)
        assert cone.is_dual_inside(z)
        assert cone.dual_contains(z, 1e-12 * np.abs(z))
        assert np.all(np.sum(s * z, axis=1) > 0.0)


@KINDS
@pytest.mark.parametrize("mu", [1e-6, 1.0])
def test_a_pair_is_on_the_path_whatever_is_given(kind, mu):
    rng = np.random.default_rng(3)
    cone = MAKE[kind](2)
    shape = cone.centre().shape
    for s, z in (
        (inside(cone, rng), of_dual(cone, rng)),
        (rng.normal(size=shape), rng.normal(size=shape)),
        (-inside(cone, rng), -of_dual(cone, rng)),
        (np.zeros(shape), np.zeros(shape)),
    ):
        x, y = cone.pair(s, z, mu)
        assert cone.is_inside(x)
        assert cone.is_dual_inside(y)
        np.testing.assert_allclose(y, -mu * cone.gradient(x), rtol=1e-6)


def test_what_is_on_the_path_stays_where_it_is():
    rng = np.random.default_rng(4)
    for make in MAKE.values():
        cone = make(2)
        s = inside(cone, rng)
        x, _ = cone.pair(s, -1e-3 * cone.gradient(s), 1e-3)
        np.testing.assert_allclose(x, s, rtol=1e-3, atol=1e-3 * np.abs(s).max())


@pytest.mark.parametrize("kind", ["semidefinite", "second-order"])
def test_a_pair_depends_on_no_basis(kind):
    """A rotation moves both sides alike, since they are compared in lengths that it keeps."""
    rng, cone = np.random.default_rng(5), MAKE[kind](1)
    if kind == "semidefinite":
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turned = [
            lambda v: cone.triangles(Q @ cone.matrices(v) @ Q.T),
            lambda v: cone.weight * cone.triangles(Q @ cone.matrices(v / cone.weight) @ Q.T),
        ]
    else:
        Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
        turned = [lambda v: np.concatenate([v[:, :1], v[:, 1:] @ Q.T], axis=1)] * 2
    s, z = rng.normal(size=(2, *cone.centre().shape))
    for of_turned, turn, found in zip(
        cone.pair(turned[0](s), turned[1](z), 0.1), turned, cone.pair(s, z, 0.1), strict=True
    ):
        np.testing.assert_allclose(of_turned, turn(found), rtol=1e-9, atol=1e-12)


# -- theorems -----------------------------------------------------------------------------------


def is_definite(M):
    """Whether a symmetric matrix of fractions has positive pivots."""
    M, n = [list(row) for row in M], len(M)
    for k in range(n):
        if not M[k][k] > 0:
            return False
        for i in range(k + 1, n):
            share = M[i][k] / M[k][k]
            M[i] = [a - share * b for a, b in zip(M[i], M[k], strict=True)]
    return True


def is_member(cone, point):
    """Whether a point, of numbers as they are stored, lies in one copy of a cone."""
    v = [Fraction(float(x)) for x in point]
    if isinstance(cone, Nonnegative):
        return all(x >= 0 for x in v)
    if isinstance(cone, SecondOrder):
        return v[0] >= 0 and v[0] ** 2 >= sum(x * x for x in v[1:])
    if isinstance(cone, Semidefinite):
        M = [[Fraction(0)] * cone.order for _ in range(cone.order)]
        for x, i, j in zip(v, cone.i, cone.j, strict=True):
            M[i][j] = M[j][i] = x
        return is_definite(M)
    with localcontext() as context:
        context.prec = 60
        x, y, z = (Decimal(float(p)) for p in point)
        if isinstance(cone, Exponential):
            return y > 0 and y * (x / y).exp() <= z * (1 + Decimal("1e-50"))
        a = Decimal(float(cone.a[0]))
        return x > 0 and y > 0 and (a * x.ln() + (1 - a) * y.ln()).exp() >= abs(z)


def at_boundary(cone, rng):
    """A point on the boundary, up to rounding."""
    if isinstance(cone, Nonnegative):
        return np.zeros((1, cone.dim))
    if isinstance(cone, SecondOrder):
        v = rng.normal(size=(1, cone.dim)) * 10.0 ** rng.uniform(-3.0, 2.0, (1, cone.dim))
        v[:, 0] = np.linalg.norm(v[:, 1:])
        return v
    if isinstance(cone, Semidefinite):
        Q = rng.normal(size=(cone.order, cone.order - 1)) * 10.0 ** rng.uniform(
            -2, 1, (cone.order, 1)
        )
        return (Q @ Q.T)[cone.i, cone.j][None]
    x, y = rng.normal() * 3.0, np.exp(rng.normal())
    if isinstance(cone, Exponential):
        return np.array([[x, y, y * np.exp(x / y)]])
    x = np.exp(x)
    return np.array([[x, y, x ** cone.a[0] * y ** (1.0 - cone.a[0])]])


@KINDS
def test_nothing_is_affirmed_that_is_false(kind):
    rng = np.random.default_rng(5)
    affirmed = 0
    for _ in range(300):
        cone = MAKE[kind](1)
        depth = 10.0 ** rng.uniform(-17.0, -10.0) * rng.choice([-1.0, 1.0])
        v = at_boundary(cone, rng)
        size = np.abs(v).max() or 1.0
        v = (v + depth * size * cone.centre()) * 10.0 ** rng.uniform(-6.0, 6.0)
        if cone.contains(v, np.zeros_like(v)):
            affirmed += 1
            assert is_member(cone, v[0])
    assert affirmed > 50


@pytest.mark.daily(3)
@KINDS
def test_a_box_is_in_a_cone_if_its_corners_are(kind):
    """And not if one is not: each cone is convex, and boxes are told by their worst corner."""
    rng, affirmed = np.random.default_rng(6), 0
    for _ in range(40):
        cone = MAKE[kind](1)
        s = cone.centre() + 0.3 * rng.normal(size=(1, cone.dim))
        radius = 10.0 ** rng.uniform(-3.0, 0.0) * np.abs(rng.normal(size=s.shape))
        corners = s + radius * (2 * rng.integers(0, 2, (64, cone.dim)) - 1)
        if cone.contains(s, radius):
            affirmed += 1
            assert all(is_member(cone, corner) for corner in corners)
    assert affirmed > 10


def test_scales_beyond_squares_are_no_obstacle():
    cone = SecondOrder(1, 3)
    for size in (1e-200, 1e200):
        assert cone.contains(size * np.array([[1.5, 1.0, 1.0]]), np.zeros((1, 3)))
        assert not cone.contains(size * np.array([[1.4, 1.0, 1.0]]), np.zeros((1, 3)))


def test_points_of_the_boundary_are_in_a_second_order_cone_by_exact_arithmetic_alone():
    cone, nothing = SecondOrder(1, 3), np.zeros((1, 3))
    for unit in (2.0**-40, 1.0, 2.0**40):
        assert cone.contains(unit * np.array([[5.0, 3.0, -4.0]]), nothing)
    assert not cone.contains(np.array([[5.0, 3.0, -4.0]]), np.full((1, 3), 1e-300))
    assert not cone.contains(np.array([[-5.0, 3.0, -4.0]]), nothing)
    assert not cone.contains(np.array([[5.0, 3.0, np.nextafter(4.0, 5.0)]]), nothing)
    # 3e-170 and 4e-170 have no squares, and 5e-170 is not shown to be their length.
    assert not cone.contains(1e-170 * np.array([[5.0, 3.0, 4.0]]), nothing)


def test_a_residual_is_zero_only_where_the_exact_number_is():
    A, x = sp.csr_array([[0.1, 3.0], [0.1, 0.3]]), np.array([1.0, 1.0])
    right = np.array([3.1, 0.4])
    value, around = exact_residual(right, A, x)
    for k, row in enumerate(A.toarray()):
        products = (Fraction(a) * Fraction(v) for a, v in zip(row, x, strict=True))
        assert abs(Fraction(right[k]) - sum(products) - Fraction(value[k])) <= Fraction(around[k])
    with pytest.raises(ArithmeticError, match="rounding"):
        exact_residual(np.zeros(1), sp.csr_array([[1e-200]]), np.array([1e-200]))
