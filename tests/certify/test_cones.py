"""What cones know of themselves: identities of barriers, and theorems against exact arithmetic."""

from __future__ import annotations

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.cones import SmoothCone, are_zero, ratio, split
from sdpdr.certify.other_cones import Exponential, Power
from sdpdr.certify.products import exact_residual
from sdpdr.certify.rounding import ELEMENTARY
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


def barrier(cone, s):
    """The sum of those of all copies, in closed form."""
    if isinstance(cone, Nonnegative):
        return -np.log(s).sum()
    if isinstance(cone, SecondOrder):
        return -np.log(s[:, 0] ** 2 - np.sum(s[:, 1:] ** 2, axis=1)).sum()
    if isinstance(cone, Semidefinite):
        return -np.log(np.linalg.det(cone.matrices(s))).sum()
    x, y, z = s.T
    if isinstance(cone, Exponential):
        return -np.sum(np.log(y * np.log(z / y) - x) + np.log(y) + np.log(z))
    squared = x ** (2.0 * cone.a) * y ** (2.0 - 2.0 * cone.a) - z * z
    return -np.sum(np.log(squared) + (1.0 - cone.a) * np.log(x) + cone.a * np.log(y))


def slopes(function, s):
    """Derivatives by complex steps, which round nothing away."""
    steps = 1e-100j * np.eye(s.size).reshape(s.size, *s.shape)
    return np.reshape([function(s + step).imag / 1e-100 for step in steps], s.shape)


@KINDS
@pytest.mark.parametrize("count", [1, 3])
def test_gradients_and_scalings_are_those_of_the_barrier(kind, count):
    """Entry by entry, each in units of its own row and column."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        cone = MAKE[kind](count)
        s = inside(cone, rng)
        gradient = slopes(lambda v, cone=cone: barrier(cone, v), s)
        size = np.max(np.abs(gradient), axis=1, keepdims=True)
        np.testing.assert_allclose(cone.gradient(s) / size, gradient / size, atol=1e-10)
        steps = 1e-5 * np.diag((np.linalg.norm(s, axis=1, keepdims=True) + 0.0 * s).ravel())
        H = [
            cone.gradient(s + step.reshape(s.shape)) - cone.gradient(s - step.reshape(s.shape))
            for step in steps
        ]
        H = np.reshape(H, (s.size, s.size)) / (2.0 * steps.diagonal()[:, None])
        units = 1.0 / np.sqrt(H.diagonal())
        units = np.outer(units, units)
        eye, scaling = np.eye(s.size), cone.scaling(s)
        R = scaling.times(eye)
        np.testing.assert_allclose(units * (R.T @ R), units * H, atol=1e-5)
        of_sparse = scaling.times(sp.csr_array(eye))
        np.testing.assert_allclose(of_sparse.toarray() if sp.issparse(of_sparse) else of_sparse, R)


@KINDS
@pytest.mark.parametrize("count", [1, 3])
def test_a_scaling_has_an_inverse_and_its_hessian(kind, count):
    rng = np.random.default_rng(1)
    cone = MAKE[kind](count)
    s = inside(cone, rng)
    scaling, eye = cone.scaling(s), np.eye(s.size)
    R, inverse = scaling.times(eye), scaling.back(eye)
    np.testing.assert_allclose(scaling.back_transposed(eye), inverse.T)
    H, v = R.T @ R, rng.normal(size=s.size)
    np.testing.assert_allclose(scaling.hessian(v), H @ v, atol=1e-9 * (abs(H) @ abs(v)).max())
    np.testing.assert_allclose(scaling.inverse_hessian(H @ v), v, rtol=1e-6, atol=1e-9)
    assert np.all(np.abs(inverse @ R - eye) <= 1e-9 * (np.abs(inverse) @ np.abs(R)))
    if kind == "semidefinite" and count == 1:
        (M,) = cone.matrices(s)
        (R,), (V,) = scaling.roots, scaling.inverse_roots
        np.testing.assert_allclose(R.T @ R, M)
        np.testing.assert_allclose(V.T @ V @ M, np.eye(3), atol=1e-9)


@KINDS
def test_a_centre_is_where_minus_the_gradient_points_at_itself(kind):
    cone = MAKE[kind](2)
    e = cone.centre()
    away = -cone.gradient(e)
    share = np.sum(away * e, axis=1, keepdims=True) / np.sum(e * e, axis=1, keepdims=True)
    np.testing.assert_allclose(away, share * e, atol=1e-5)
    assert np.all(share > 0.0)


@pytest.mark.parametrize(("x", "y", "a"), [(-1.5, 0.5, 0.2), (0.7, 2.0, 0.7)])
def test_normals_of_the_boundary_are_on_that_of_the_dual(x, y, a):
    """Those of y exp(x / y) = z, and of |x|^a y^(1 - a) = z, on either side of which it is told."""
    q = abs(x) / y
    curve = np.array([[-1.0, x / y - 1.0, np.exp(-x / y)]])
    mean = np.array([[a * q ** (a - 1.0), (1.0 - a) * q**a, -1.0]])
    for cone, normal in ((Exponential(1), curve), (Power(np.array([a])), mean)):
        inwards = -cone.gradient(cone.centre())
        for depth in (1e-9, 1e-3):
            assert cone.is_dual_inside(normal + depth * inwards)
            assert not cone.is_dual_inside(normal - depth * inwards)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_what_is_a_few_roundings_from_the_boundary_is_told_apart(size):
    """Points, and multipliers, whose images round by as much as the numbers they are made of."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y, a = rng.normal(), np.exp(rng.normal()), rng.uniform(0.1, 0.9)
        q = abs(x) / y
        curve, mean = Exponential(1), Power(np.array([a]))
        for cone, contains, inwards, v in (
            (curve, curve.contains, curve.centre(), [x, y, y * np.exp(x / y)]),
            (mean, mean.contains, mean.centre(), [abs(x), y, abs(x) ** a * y ** (1.0 - a)]),
            (curve, curve.dual_contains, None, [-1.0, x / y - 1.0, np.exp(-x / y)]),
            (mean, mean.dual_contains, None, [a * q ** (a - 1.0), (1.0 - a) * q**a, -1.0]),
        ):
            v, most = size * np.array([v]), size * np.max(np.abs(v))
            inwards = -cone.gradient(cone.centre()) if inwards is None else inwards
            for depth, radius, is_inside in (
                (1e-12, 0.0, True),
                (-3e-16, 0.0, False),
                (1e-2, 1e-3, True),
                (1e-4, 1e-3, False),
            ):
                around = np.full((1, 3), radius * most)
                assert contains(v + depth * most * inwards, around) is is_inside


@pytest.mark.parametrize("level", [1e-12, 1.0, 1e12])
def test_a_number_is_split_into_two_of_a_given_product(level):
    """x - y = w and x y = level, against fractions: neither by cancellation."""
    for w in (0.0, *(sign * 10.0**k for sign in (-1.0, 1.0) for k in range(-20, 21, 4))):
        x, y = (Fraction(v.item()) for v in split(np.array([w]), level))
        assert x > 0
        assert y > 0
        assert abs(x - y - Fraction(w)) <= Fraction(1, 10**15) * (x + y)
        assert abs(x * y / Fraction(level) - 1) <= Fraction(1, 10**14)


def test_ratios_compare_lengths_within_limits():
    s, z = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]]), np.array([[0.6, 0.8], [0, 0], [1, 1]])
    assert ratio(s, z).ravel() == pytest.approx([5.0, 1e12, 1e-12])
    assert are_zero(s, 0.0 * s).tolist() == [False, False, True]
    assert are_zero(0.0 * s, z).tolist() == [False, True, False]


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
        # What is left of s - t z is kept, where t compares lengths that no basis changes.
        square = getattr(cone, "weight", np.ones(cone.dim))
        rows = (1, -1) if kind == "nonnegative" else shape
        t = ratio((s * np.sqrt(square)).reshape(rows), (z / np.sqrt(square)).reshape(rows))
        apart = (s - t * z / square) - (x - t * y / square)
        size = np.abs(x) + t * np.abs(y)
        close = 1e-2 if isinstance(cone, SmoothCone) else 1e-12
        assert np.all(np.abs(apart) <= close * np.max(size, axis=1, keepdims=True))


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
    """Whether a point, of fractions or of numbers as they are stored, lies in one copy."""
    v = [x if isinstance(x, Fraction) else Fraction(float(x)) for x in point]
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
        x, y, z = (Decimal(p.numerator) / Decimal(p.denominator) for p in v)
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


@KINDS
def test_a_box_whose_corner_is_a_few_roundings_from_the_boundary_is_told_apart(kind):
    """Ends of a box are no doubles: where they are rounded inwards, nothing is affirmed."""
    rng, affirmed = np.random.default_rng(7), 0
    for _ in range(200):
        cone = MAKE[kind](1)
        corner = at_boundary(cone, rng)
        radius = rng.uniform(size=corner.shape) * np.where(corner, np.abs(corner), 1.0)
        # The corner that is farthest along the normal.
        size = np.abs(corner).max() or 1.0
        sides = -np.sign(cone.gradient(corner + 1e-4 * size * cone.centre()))
        depth = 2.0 ** rng.uniform(-53.0, -44.0) * size
        s = corner + depth * cone.centre() + sides * radius
        if cone.contains(s, radius):
            affirmed += 1
            ends = [
                Fraction(a) - int(side) * Fraction(r)
                for a, side, r in zip(s[0], sides[0], radius[0], strict=True)
            ]
            assert is_member(cone, ends)
    # Boxes around matrices are told by sums of radii, and seldom so near.
    assert affirmed > 20 or kind == "semidefinite"


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
    for unit, one, other in itertools.product((2.0**-40, 1.0, 2.0**40), (3.0, -3.0), (4.0, -4.0)):
        for head in (5.0, -5.0):
            point = unit * np.array([[head, one, other]])
            assert cone.contains(point, nothing) == (head > 0.0)
    assert not cone.contains(np.array([[5.0, 3.0, -4.0]]), np.full((1, 3), 1e-300))
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


def test_exponentials_may_be_wrong_by_eight_units_in_the_last_place():
    # The documented assumption. A unit is largest, relative to the number, at powers of two.
    assert 8.0 * np.spacing(1.0) <= ELEMENTARY
