"""Rounded numbers: what is proved of a program holds of all programs within its radii."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.flat import NONNEGATIVE, Around, Piece, build
from sdpdr.certify.products import rounded
from sdpdr.certify.proof import bound_proof, value_proof
from sdpdr.certify.reduced import substituted
from sdpdr.certify.rounding import inner, residual

from ..truth.exact import fractions

# Two unknowns that share nothing: minimise c x with e x = f and a x >= b, or with the latter alone.
NUMBERS = {"c": (3.0, 5.0), "e": (2.0, 1.0), "f": (8.0, 4.0), "a": (1.0, 0.5), "b": (2.0, 1.0)}
# A number may be off by this share of it in the first unknown, and by half as much in the second.
SHARE = 2.0**-7
# Far inside the limits where equations decide, and next to the least points where they do not.
POINTS = {True: [4.0, 4.0], False: [2.05, 2.05]}
MULTIPLIERS = {True: [-1.4375, -4.875, 0.125, 0.25], False: [3.0, 10.0]}


def program(names, rounds):
    """The program of these numbers, of which some are rounded."""
    at = {name: np.array(NUMBERS[name]) for name in NUMBERS}
    off = {k: SHARE * at[k] * (k in rounds) * np.array([1.0, 0.5]) for k in at}

    def radii(of_matrix, of_side):
        some = np.hstack([np.diag(off[of_matrix]), off[of_side][:, None]])
        return sp.csr_array(some) if rounds & {of_matrix, of_side} else None

    above = Piece(NONNEGATIVE, 1, -sp.diags_array(at["a"]), -at["b"], radii("a", "b"))
    around = Around(off["c"] if "c" in rounds else None, radii("e", "f"))
    E, f = sp.csr_array(np.diag(at["e"])), at["f"]
    if "e" not in names:
        E, f, around = E[:0], f[:0], around._replace(E=None)
    return build(at["c"], E, f, [above], around=around)


def optima(names, rounds):
    """Those of the programs at all ends of the radii: the least and the largest."""
    found = []
    for k, share in ((0, Fraction(SHARE)), (1, Fraction(SHARE) / 2)):
        ways = [[1 - share, 1 + share] if name in rounds else [Fraction(1)] for name in names]
        ends = [dict(zip(names, one, strict=True)) for one in product(*ways)]
        n = [{x: Fraction(NUMBERS[x][k]) * one[x] for x in names} for one in ends]
        found.append([v["c"] * (v["f"] / v["e"] if "e" in v else v["b"] / v["a"]) for v in n])
    return sum(map(min, found)), sum(map(max, found))


@pytest.mark.parametrize("names", ["cefab", "cab"], ids=["equations", "limits"])
@pytest.mark.parametrize("rounds", ["", "c", "e", "f", "a", "b", "cefab"])
def test_both_sides_hold_of_all_programs_within_the_radii(names, rounds):
    rounds, is_equal = set(rounds) & set(names), "e" in names
    given, (least, largest) = program(names, rounds), optima(names, rounds)
    z = np.array(MULTIPLIERS[is_equal])
    bound = bound_proof(given, z).near(z).number
    assert Fraction(bound) <= least <= Fraction(bound) * Fraction(1.05)
    x = np.array(POINTS[is_equal])
    value = value_proof(given, np.ones(2)).near(x).number
    assert Fraction(value) / Fraction(1.05) <= largest <= Fraction(value)


# -- sums and products --------------------------------------------------------------------------


def ends(numbers, radii, sign):
    """Numbers at an end of their radii, exactly."""
    return fractions(numbers) + sign * fractions(radii)


def test_a_product_of_rounded_numbers_has_the_radius_of_the_worst_of_them():
    """With radii that are large beside the rounding of the product, and with small ones."""
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-17):
        T, A = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
        radii = size * rng.random((4, 2))
        found, around = rounded(sp.csr_array(T), sp.csr_array(A), sp.csr_array(radii))
        missed = [
            abs(
                fractions(found)
                - fractions(T) @ (fractions(A) + sign * fractions(np.sign(T[[0]]).T * radii))
            )
            for sign in (1, -1)
        ]
        worst = np.max(missed, axis=0)
        assert np.all(worst <= fractions(around))
        assert np.all(fractions(around)[0] <= worst[0] * (1 + Fraction(1e-9)) + Fraction(2.0**-52))
    # Where the product is exact, the radius is the sum of others, rounded up.
    T, A = (rng.integers(-9, 10, shape).astype(float) for shape in ((3, 5), (5, 2)))
    radii = rng.random((5, 2))
    _, around = rounded(sp.csr_array(T), sp.csr_array(A), sp.csr_array(radii))
    exact = abs(fractions(T)) @ fractions(radii)
    assert np.all(exact <= fractions(around))
    assert np.all(fractions(around) <= exact * (1 + Fraction(1e-13)))
    found, around = rounded(sp.csr_array([[2.0]]), sp.csr_array([[3.0]]), None)
    assert (found.toarray(), around) == ([[6.0]], None)


def test_other_unknowns_leave_the_radii_of_all_numbers():
    """x = S u: costs, equations and cones, for numbers at the ends of their radii."""
    rng = np.random.default_rng(1)
    n, m, k = 3, 2, 3
    c, E, f, A, b = (rng.normal(size=size) for size in (n, (m, n), m, (k, n), k))
    r_c, r_E, r_A = (1e-3 * rng.random(size) for size in (n, (m, n + 1), (k, n + 1)))
    S = rng.normal(size=(n, n - 1))
    for has_radii in (True, False):
        own = Piece("nonnegative", 1, sp.csr_array(A), b, sp.csr_array(r_A) if has_radii else None)
        around = Around(r_c, sp.csr_array(r_E)) if has_radii else Around()
        given = build(c, sp.csr_array(E), f, [own], around=around)
        found = substituted(given, sp.csr_array(S), {})
        radii = found.around
        for sign in (1, -1, 0):
            sign *= has_radii
            for numbers, off, right, of_right, close in (
                (c[None], r_c[None], None, None, (found.c[None], radii.c[None])),
                (E, r_E[:, :n], f, r_E[:, n], (found.E, radii.E)),
                (A, r_A[:, :n], b, r_A[:, n], (found.A, radii.A)),
            ):
                exact = ends(numbers, off, sign) @ fractions(S)
                most = fractions(close[1])
                assert np.all(abs(exact - fractions(close[0])) <= most[:, : n - 1])
                if right is not None:
                    exact = fractions(of_right) * has_radii
                    assert np.all(exact <= most[:, -1])
                    assert np.all(most[:, -1] <= exact * (1 + Fraction(1e-14)))
        np.testing.assert_array_equal(found.f, f)
        np.testing.assert_array_equal(found.b, b)


def test_cones_without_radii_have_zeros_beside_others():
    rows, vague = sp.csr_array(np.eye(2)), sp.csr_array(np.full((2, 3), 0.5))
    pieces = [Piece(NONNEGATIVE, 1, rows, np.ones(2), one) for one in (vague, None)]
    radii = build(np.zeros(2), sp.csr_array((0, 2)), np.zeros(0), pieces).around.A
    assert radii.toarray().tolist() == [[0.5] * 3] * 2 + [[0.0] * 3] * 2


def test_sums_of_radii_are_rounded_up():
    """Nothing but the radius is left where the middle of the box is zero: sums of it round."""
    rng, nothing = np.random.default_rng(2), np.zeros(9)
    for _ in range(40):
        A, far, b = rng.normal(size=(1, 9)), rng.random(9), np.zeros(1)
        exact = np.sum(abs(fractions(A)) * fractions(far))
        _, around = residual(b, sp.csr_array(A), nothing, far)
        assert exact <= Fraction(around[0]) <= exact * (1 + Fraction(1e-13))
        low, high = inner(A[0], nothing, far)
        assert Fraction(low) <= -exact < exact <= Fraction(high) <= exact * (1 + Fraction(1e-13))
        # Radii of the numbers of a row, and of its right side.
        data = rng.random((1, 10))
        ones = rng.random(9)
        exact = np.sum(fractions(data[0]) * np.append(fractions(ones), 1))
        _, around = residual(b, sp.csr_array((1, 9)), ones, 0.0, sp.csr_array(data))
        assert exact <= Fraction(around[0]) <= exact * (1 + Fraction(1e-13))
        exact = np.sum(fractions(data[0, :9]) * fractions(ones))
        _, high = inner(nothing, ones, 0.0, data[0, :9])
        assert exact <= Fraction(high) <= exact * (1 + Fraction(1e-13))
