"""Which equations follow from others: exactly, whatever the units."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.dependent import (
    _are_sums,
    _follow,
    _in_integers,
    _inverse,
    _primes_below,
    _small_fractions,
    independent_rows,
    nearly_dependent,
)
from sdpdr.certify.equations import Equations, UnprovedError


def follow(rows, right, exact=None):
    E, f = sp.csr_array(np.asarray(rows, dtype=float)), np.asarray(right, dtype=float)
    exact = np.ones(f.size, dtype=bool) if exact is None else np.asarray(exact)
    return independent_rows(E, f, np.ones(E.shape[1]), exact)


@pytest.mark.parametrize("power", [-60, 0, 60])
def test_sums_with_fractions_follow_in_all_units(power):
    rows = np.array([[7.0, 0.0, 3.0], [0.0, 9.0, 3.0], [63.0, 63.0, 48.0]])  # 9 r0 + 7 r1
    rows[2] *= 2.0**power
    rows[:, 1] *= 2.0**-power
    right = np.array([1.0, 2.0, 23.0 * 2.0**power])
    assert follow(rows, right).size == 2
    right[2] = np.nextafter(right[2], np.inf)
    assert follow(rows, right) is None


def test_what_is_next_to_a_sum_is_none():
    a, b = np.array([1.0, 2.0**-30, 0.0]), np.array([0.0, 1.0, 1.0])
    assert follow([a, b, a + b], [1.0, 1.0, 2.0]).size == 2
    off = a + b
    off[2] += 2.0**-52
    assert follow([a, b, off], [1.0, 1.0, 2.0]) is None


def test_integers_beyond_doubles_prove_nothing_by_rounding():
    # 3 * (2^52 + 1) is no double: what doubles make of the sum agrees, and the rows do not.
    big = 2.0**52 + 1.0
    assert follow([[big, 1.0], [3.0 * big, 3.0]], [0.0, 0.0]) is None
    assert follow([[big, 1.0], [2.0 * big, 2.0]], [0.0, 0.0]).size == 1


def test_numbers_that_underflow_beside_their_row_are_seen():
    rows = [[1e10, 5e-324], [1e10, 0.0]]
    assert follow(rows, [1.0, 1.0]) is None


def test_rounded_rows_follow_from_none():
    rows, right = [[1.0, 2.0], [1.0, 2.0]], [1.0, 1.0]
    assert follow(rows, right).size == 1
    assert follow(rows, right, [False, False]) is None


def test_weights_make_the_sums_that_rows_nearly_are():
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(3, 6)) * 10.0 ** rng.uniform(-4, 4, (3, 1))
    rows = np.vstack([basis, [[1e3], [1e-3]] * (rng.normal(size=(2, 3)) @ basis)])
    found = nearly_dependent(sp.csr_array(rows[:, :-1]), rows[:, -1], np.ones(5))
    assert found.rest.size == 2
    one, other = (found.rows[some].toarray() for some in (found.rest, found.basis))
    np.testing.assert_allclose(found.weights @ other, one, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weight", [3.0, 1.0 / 1009.0], ids=["small", "large denominators"])
def test_rows_follow_from_those_that_they_are_sums_of_and_from_no_others(weight):
    """With right sides or without, by the weights as they are and modulo primes."""
    basis = 1009.0 * np.array([[4, 0, 0, 1, 8], [0, 3, 1, 1, 3], [0, 0, 2, 1, 5]])
    one, all_three, unit = weight * basis[0], np.arange(3), np.eye(5)
    two = one - basis[1]
    for row, needed, is_sum, is_sum_but_for_sides in (
        (one, [0], True, True),
        (two, [0, 1], True, True),
        (two + unit[4], [0, 1], False, True),
        (two + 2.0**-30 * unit[2], [0, 1], False, False),
    ):
        rows = np.vstack([basis, row])
        sums = nearly_dependent(sp.csr_array(rows[:, :4]), rows[:, 4], np.ones(4))
        assert (sums.n, set(sums.basis), sums.rest.tolist()) == (4, {0, 1, 2}, [3])
        assert sums.coefficients_follow().tolist() == [is_sum_but_for_sides]
        places = np.flatnonzero(np.isin(sums.basis, needed))
        for some in (all_three, places):
            assert sums.follows_from(0, some) == is_sum
            assert sums.follows_from(0, some, sides=False) == is_sum_but_for_sides
        for place in places:
            assert not sums.follows_from(0, np.setdiff1d(all_three, [place]), sides=False)


@pytest.mark.parametrize(("off", "is_sum"), [(0.0, True), (0.5, False)])
@pytest.mark.parametrize("weights", [(1 / 2, 1 / 3), (1 / 1000, -2 / 999), (-7.0, 1 / 3)])
def test_a_sum_with_denominators_of_several_rows_is_shown_without_primes(weights, off, is_sum):
    one, other = 2000.0 * np.array([1.0, 0.0, 2.0]), 2997.0 * np.array([0.0, 1.0, 3.0])
    row = np.rint(weights[0] * one + weights[1] * other)
    row[2] += off
    rows = sp.csr_array(np.array([one, other, row]))
    found = _are_sums(rows, np.array([0, 1]), np.array([2]), np.array([weights]))
    assert found.tolist() == [is_sum]


def test_small_fractions_are_read_off_doubles_and_others_are_not():
    rng = np.random.default_rng(0)
    above, below = rng.integers(-5000, 5001, 300), rng.integers(1, 1001, 300)
    found = _small_fractions(np.append(above / below, np.sqrt(2.0)))
    for p, q, num, den in zip(above, below, *found, strict=False):
        assert Fraction(num) / Fraction(den) == Fraction(int(p), int(q))
    assert found[0][-1] == np.inf


def test_weights_with_large_denominators_follow_modulo_primes():
    rows = [[1009.0, 0.0], [0.0, 1013.0], [1.0, 1.0]]
    right = [1009.0 * 1013.0, 0.0, 1013.0]
    assert follow(rows, right).size == 2


@pytest.mark.parametrize("size", [3, 25, 60])
def test_sums_of_random_rows_follow_whatever_their_weights(size):
    rng = np.random.default_rng(size)
    basis = rng.integers(-20, 21, (size, size + 5)).astype(float)
    # Whole multiples of a sum with weights over the determinant of a block, which has many digits.
    mixed = rng.integers(-3, 4, (size, size)) @ basis
    rows = np.vstack([mixed, basis])
    right = rows @ rng.integers(-9, 10, size + 5)
    assert np.linalg.matrix_rank(mixed) == size
    assert follow(rows, right).size == size
    right[-1] += 2.0**-20
    assert follow(rows, right) is None


def test_a_prime_that_divides_what_is_left_hides_nothing():
    # The first prime that two rows are compared modulo.
    prime = max(p for p in range(2**26 - 100, 2**26) if all(p % k for k in range(2, 2**13)))
    third = np.array([2.0**50, 2.0**50, 2.0**51])
    rows, right = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], third], [1.0, 1.0, 2.0**51]
    assert follow(rows, right).size == 2
    rows[2] = third + np.array([0.0, 0.0, prime])
    assert follow(rows, right) is None


def test_primes_are_odd_and_have_no_divisors():
    assert list(_primes_below(30)) == [29, 23, 19, 17, 13, 11, 7, 5, 3]


def test_as_many_primes_are_tried_as_what_is_left_may_be_a_multiple_of():
    """Two primes of 26 bits divide what is left, a third one does not."""
    first, second = islice(_primes_below(int(np.sqrt(2.0**53))), 2)
    assert first * second < 2**53
    for left in (1.0, float(first), float(second), float(first * second)):
        for unit in (1.0, 2.0**40):
            given = sp.csr_array([[1.0, 1.0, 0.0], [3.0, 3.0, 0.0], [1.0, 1.0 - left, 0.0]])
            found = _follow(given * unit, np.array([0]), np.array([1, 2]))
            assert found.tolist() == [True, False]


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_an_inverse_modulo_a_prime_is_one_or_none(size):
    rng, p = np.random.default_rng(size), 101
    B = rng.integers(0, p, (size, size)).astype(float)
    found = _inverse(B, p)
    if found is not None:
        np.testing.assert_array_equal(np.mod(B @ found, p), np.eye(size))
        assert np.all((found >= 0.0) & (found <= p))
    assert found is not None or size > 1
    B[-1] = np.mod(3.0 * B[0], p) if size > 1 else 0.0
    assert _inverse(B, p) is None


def test_rows_that_are_kept_span_all_others_whatever_the_sizes_of_unknowns():
    """Against fractions, where a row or a right side may be nearly a sum of others."""
    rng = np.random.default_rng(0)
    shown = sum(keeps_a_basis(rng) for _ in range(40))
    assert 10 <= shown < 40


def keeps_a_basis(rng):
    """Whether equations are accepted, which have the rank of all of them then."""
    n = int(rng.integers(2, 7))
    r = int(rng.integers(1, n + 1))
    m = r + int(rng.integers(0, 5))
    weights = rng.integers(-2, 3, (m, r)).astype(float)
    weights[:r] = np.eye(r)
    E = weights @ rng.integers(-3, 4, (r, n)).astype(float)
    f = E @ rng.integers(-3, 4, n).astype(float)
    f[-1] += rng.choice([0.0, 0.0, 1.0, 2.0**-40])
    E[-1] += rng.choice([0.0, 2.0**-30]) * (rng.random(n) < 0.5)
    try:
        rows = Equations(sp.csr_array(E), f, 2.0 ** rng.integers(-20, 20, n)).rows
    except UnprovedError:
        return False
    whole = np.column_stack([E, f])
    assert rank(whole[rows]) == rank(whole)
    assert rank(E[rows]) == rows.size
    return True


def rank(matrix):
    """By elimination in fractions."""
    left = [[Fraction(float(x)) for x in row] for row in matrix]
    found = 0
    for c in range(matrix.shape[1]):
        pivot = next((row for row in left if row[c]), None)
        if pivot is None:
            continue
        left.remove(pivot)
        found += 1
        left = [
            [a - row[c] / pivot[c] * b for a, b in zip(row, pivot, strict=True)] for row in left
        ]
    return found


@pytest.mark.parametrize("seed", range(3))
def test_columns_become_integers_without_a_factor_of_two_in_common(seed):
    """Whatever zeros are stored beside them."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(5, 4)) * 2.0 ** rng.integers(-60, 60, 4)
    matrix[:, 3] = 3.0 * 2.0 ** rng.integers(20, 30, 5)
    matrix[rng.integers(0, 5, 4), np.arange(4)] = 0.0
    given = sp.csr_array(np.ones((5, 4)))
    given.data[:] = matrix.ravel()
    found = _in_integers(given).toarray()
    for numbers, column in zip(matrix.T, found.T, strict=True):
        whole = [int(v) for v in column]
        assert [float(v) for v in whole] == column.tolist()
        assert any(v % 2 for v in whole)
        units = {Fraction(v) / Fraction(float(x)) for v, x in zip(whole, numbers, strict=True) if x}
        assert len(units) == 1
        assert np.frexp(float(units.pop()))[0] == 0.5


def test_the_work_for_primes_grows_with_the_rows_that_are_looked_at(monkeypatch):
    rng = np.random.default_rng(1)
    basis = rng.integers(-20, 21, (4, 5)).astype(float)
    given, least = sp.csr_array(np.vstack([basis, *[np.sum(basis, axis=0)] * 12])), []
    for count in (4, 12):
        works = 2.0 ** np.arange(6.0, 14.0, 0.25)
        for work in works:
            monkeypatch.setattr("sdpdr.certify.dependent._WORK", work)
            if _follow(given, np.arange(4), 4 + np.arange(count)) is not None:
                least.append(work)
                break
    assert least[1] / least[0] == pytest.approx((4 + 12) / (4 + 4), rel=0.2)


def test_primes_are_not_tried_where_they_take_too_long(monkeypatch):
    """Multiplications grow as the cube of rows, and their number by as much."""
    rng, least = np.random.default_rng(0), []
    for r in (4, 8):
        basis = rng.integers(-20, 21, (r, r + 1)).astype(float)
        given = sp.csr_array(np.vstack([basis, np.sum(basis, axis=0)]))
        works = []
        for work in 2.0 ** np.arange(6.0, 14.0, 0.5):
            monkeypatch.setattr("sdpdr.certify.dependent._WORK", work)
            works.append(_follow(given, np.arange(r), np.array([r])) is not None)
        assert works == sorted(works)
        least.append(2.0 ** (6.0 + 0.5 * works.index(True)))
    # Twice the rows need nearly eight times the work for each prime, and some more primes.
    assert 5.0 <= least[1] / least[0] <= 20.0
