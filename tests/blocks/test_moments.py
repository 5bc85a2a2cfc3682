"""Moment matrices, and what the printed constraints on them leave out."""

import numpy as np
import pytest

from sdpdr import blocks, check_block
from sdpdr.blocks import (
    FactorLift,
    MomentMatrix,
)
from sdpdr.errors import ModelError
from sdpdr.families.factor.polynomial.lifts import Layers, Moments
from sdpdr.iterate import ConvexIteration, IterationStatus
from sdpdr.model import AtMost, Equal, Model
from sdpdr.model.affine import evaluate
from sdpdr.model.blocks.moments import add, compose, monomials, multiply, values

EVERY = np.argwhere(np.ones((2, 2)))
RNG = np.random.default_rng(3)


def at(polynomial, x):
    return float(np.dot(list(polynomial.values()), values(list(polynomial), x)))


def rank_one(block, x):
    z = values(block.basis, x)
    return np.outer(z, z)


def violation(block, point):
    """Largest error of the equalities of a block."""
    return max(np.max(np.abs(evaluate(t.lhs, point) - t.rhs)) for t in block.terms())


# -- polynomials ---------------------------------------------------------------------------------


def test_sums_products_and_powers_of_polynomials_are_those_of_their_values():
    p, q = {(): 2.0, (0, 1): -1.0}, {(1,): 3.0, (0, 1): 0.5}
    x = RNG.standard_normal(2)
    assert at(add(p, q), x) == pytest.approx(at(p, x) + at(q, x))
    assert at(multiply(p, q), x) == pytest.approx(at(p, x) * at(q, x))
    t = at(p, x)
    assert at(compose([2.0, 0.0, 0.3], p), x) == pytest.approx(2.0 * t + 0.3 * t**3)


# -- the block -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "degree"), [(1, 4), (3, 2)])
def test_products_of_monomials_satisfy_the_rows_and_are_read_off(n, degree):
    block, x = MomentMatrix.up_to(n, degree), RNG.standard_normal(n)
    M = rank_one(block, x)
    assert violation(block, {"M": M}) < 1e-12
    np.testing.assert_allclose(block.read(M, np.arange(n)), x)
    p = {m: float(RNG.standard_normal()) for m in monomials(n, 2 * degree)}
    assert evaluate(block.values([p]), {"M": M})[0] == pytest.approx(at(p, x))


def test_wrong_bases_are_refused():
    with pytest.raises(ModelError, match="first monomial"):
        MomentMatrix([(0,), ()])
    with pytest.raises(ModelError, match="once"):
        MomentMatrix([(), (0,), (0,)])
    with pytest.raises(ModelError, match=r"\(0, 0, 0\)"):
        MomentMatrix.up_to(1, 1).values([{(0, 0, 0): 1.0}])


# -- the two lifts -------------------------------------------------------------------------------


KINDS = ("layers", "moments", "misfit", "unknown")
CASES = [(kind, *sizes) for kind in KINDS for sizes in ((1, 1), (3, 1), (2, 2))]


@pytest.mark.daily(4)
@pytest.mark.parametrize(("kind", "degree", "k"), CASES)
def test_factors_put_into_a_lift_satisfy_it_and_are_read_off(kind, degree, k):
    W, H = RNG.random((3, k)), RNG.random((2, k))
    c = np.array([1.0, 0.5, 0.2])[:degree]
    pairs = np.array([[0, 0], [2, 1], [1, 0]])
    if kind in ("layers", "unknown"):
        held = Layers(3, 2, pairs, k, degree, unknown=kind == "unknown" and degree > 1)
    else:
        held = Moments(3, 2, pairs, k, degree, misfit=kind == "misfit")
    point = {}
    for name, below in held.corners(W, H, c).items():
        factor = np.vstack([np.eye(held.ranks[name]), below])
        point[name] = factor @ factor.T
    for block in held.blocks(nonnegative=kind != "misfit"):
        for term in block.terms():
            away = evaluate(term.lhs, point) - term.rhs
            away = np.maximum(away, 0.0) if isinstance(term, AtMost) else np.abs(away)
            assert np.max(away) < 1e-12
    t = np.sum(W[pairs[:, 0]] * H[pairs[:, 1]], axis=1)
    g = sum(x * t ** (p + 1) for p, x in enumerate(c))
    unknown = getattr(held, "unknown", False)
    np.testing.assert_allclose(evaluate(held.fitted(None if unknown else c), point), g, rtol=1e-12)
    assert evaluate(held.size(), point)[0] == pytest.approx(np.sum(W**2) + np.sum(H**2))
    np.testing.assert_allclose(evaluate(held.sums(), point), W.sum(axis=0))
    left, right, rest = held.read(point)
    if kind == "misfit":
        np.testing.assert_allclose(left @ right.T, W @ H.T, atol=1e-9)
    else:
        np.testing.assert_allclose(left, W)
        np.testing.assert_allclose(right, H)
    if unknown:
        np.testing.assert_allclose(rest, c[1:])


def test_localized_moments_are_those_of_the_polynomial_times_squares():
    held = Moments(2, 2, EVERY, degree=2, misfit=True)
    assert [block.gram for block in held.signs] == ["L_0_0", "L_0_1", "L_1_0", "L_1_1"]
    block = held.signs[1]
    check_block(block)
    for W, H in ((RNG.random((2, 1)), RNG.random((2, 1))), (np.ones((2, 1)), -np.ones((2, 1)))):
        factor = np.vstack([[[1.0]], held.corners(W, H, np.ones(2))["M"]])
        y = values(block.basis, np.concatenate([W.ravel(), H.ravel()]))
        t = float(W[0, 0] * H[1, 0])
        point = {"M": factor @ factor.T, "L_0_1": t * np.outer(y, y)}
        assert violation(block, point) < 1e-12
        assert evaluate(block.nothing(), point)[0] == pytest.approx(0.0, abs=1e-12)
        assert (np.linalg.eigvalsh(point["L_0_1"])[0] > -1e-12) == (t > 0.0)


# -- what is printed -----------------------------------------------------------------------------


def test_the_product_of_the_lift_stands_where_it_is_hw():
    """(2.96) has V = W H' at the place of (H, W), where a matrix of rank k holds H W'."""
    W, H = RNG.random((3, 2)), RNG.random((2, 2))
    R = np.vstack([np.eye(2), W, H])
    Z, lift = R @ R.T, FactorLift(2, 3, 2)
    below = Z[np.ix_(lift.columns, lift.rows)]
    np.testing.assert_allclose(below, H @ W.T)
    assert below.shape != (W @ H.T).shape
    np.testing.assert_allclose(
        evaluate(lift.entries(lift.product()), {"Z": Z}).reshape(3, 2), W @ H.T
    )


def test_the_printed_constraints_do_not_make_equal_monomials_equal():
    """Z' of order q^2 with Z in its first row: x^2 stands at (1, 4) and at (2, 2), untied."""
    Z = np.array([[1.0, 0.5], [0.5, 1.0]])
    printed = np.outer(Z.ravel(), Z.ravel()) + np.diag([0.0, 2.0, 2.0, 3.0])
    np.testing.assert_allclose(printed[0], Z.ravel())
    assert np.linalg.eigvalsh(printed)[0] > -1e-12
    assert np.linalg.matrix_rank(printed) > 1
    assert (printed[0, 3], printed[1, 1]) == (1.0, 2.25)
    # Among the distinct monomials 1, x, x^2 the two are one, and this is refused.
    kept = printed[np.ix_([0, 1, 3], [0, 1, 3])]
    assert violation(MomentMatrix.up_to(1, 2), {"M": kept}) == pytest.approx(1.25)


# -- the oracle of the full matrix ---------------------------------------------------------------


@pytest.mark.nightly
def test_the_full_moment_matrix_finds_the_factors():
    """All 15 monomials of two by two factors up to degree two, and the gauge as one entry."""
    w, h = np.array([1.0, 0.5]), np.array([0.7, 1.2])
    t = np.outer(w, h)
    held = Moments(2, 2, EVERY)
    assert held.matrix.order == 15
    fitted = Equal(held.fitted(np.array([1.0, 0.5])), (t + 0.5 * t**2).ravel())
    known = blocks.Stated("fits", [fitted, Equal(held.matrix.values([{(0,): 1.0}]), 1.0)])
    signs = blocks.NonNegative(15, np.array([[0, v] for v in range(1, 5)]), "M")
    model = Model((held.matrix, known, signs))
    state = ConvexIteration(model, 1, start="random", seed=0, solver="clarabel", max_iter=40).run()
    assert state.status is IterationStatus.RANK_REACHED
    assert len(state.history) <= 15
    W, H, _ = held.read(state.solution.values)
    T = W @ H.T
    error = np.linalg.norm(T + 0.5 * T**2 - (t + 0.5 * t**2)) / np.linalg.norm(t + 0.5 * t**2)
    assert error < 1e-5
