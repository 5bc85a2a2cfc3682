"""Exact solutions lie where they are said to lie: against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.inverses import Explicit, Gram, Orthogonal, _lengths
from sdpdr.certify.rounding import are_positive_definite, inner, residual


def exact(values):
    return [Fraction(float(v)) for v in np.ravel(values)]


def solve_exactly(M, f):
    """The solution of square equations of fractions."""
    n = len(M)
    M = [[*row, right] for row, right in zip(M, f, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if M[i][k])
        M[k], M[pivot] = M[pivot], M[k]
        M[k] = [v / M[k][k] for v in M[k]]
        for i in range(n):
            if i != k and M[i][k]:
                share = M[i][k]
                M[i] = [a - share * b for a, b in zip(M[i], M[k], strict=True)]
    return [row[n] for row in M]


def nearest(E, f, y, D):
    """The exact solution of E y = f next to y in the metric D."""
    rows = [exact(row) for row in E]
    y, D = exact(y), exact(D)
    missed = [
        right - sum(a * b for a, b in zip(row, y, strict=True))
        for row, right in zip(rows, exact(f), strict=True)
    ]
    gram = [
        [sum(d * a * b for d, a, b in zip(D, one, other, strict=True)) for other in rows]
        for one in rows
    ]
    v = solve_exactly(gram, missed)
    return [
        start + d * sum(row[j] * w for row, w in zip(rows, v, strict=True))
        for j, (start, d) in enumerate(zip(y, D, strict=True))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_an_exact_solution_lies_within_the_radius(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 6)), int(rng.integers(6, 10))
    E = rng.normal(size=(m, n)) * 10.0 ** rng.uniform(-3.0, 3.0, (m, 1))
    if seed % 3 == 0:  # rows with a column of their own, which need no factorization
        E[0, :] = 0.0
        E[0, [0, n - 1]] = rng.normal(size=2)
        E[1:, 0] = 0.0
    D = 10.0 ** rng.uniform(-4.0, 2.0, n)
    f = E @ rng.normal(size=n)
    y, radius = Equations(sp.csr_array(E), f, D).near(rng.normal(size=n))
    if seed % 3:
        solution = nearest(E, f, y, D)
        for found, around, at in zip(solution, exact(radius), exact(y), strict=True):
            assert abs(found - at) <= around
    assert np.max(np.abs(E @ y - f) / np.abs(E).sum(axis=1)) < 1e-10
    assert np.all(radius < 1e-6 * (1.0 + np.abs(y)))


def test_large_equations_are_proved_by_sparse_factorizations():
    n = 3000
    E = sp.csr_array(sp.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, 1]))[:-1]
    E = sp.csr_array(sp.hstack([E, E]))
    y, radius = Equations(E, np.ones(n - 1), np.ones(2 * n)).near(np.zeros(2 * n))
    np.testing.assert_allclose(E @ y, 1.0, atol=1e-9)
    assert np.all(radius < 1e-6)


def test_rows_that_follow_from_others_are_left_out_and_others_are_refused():
    E = np.array([[1.0, 2.0, 3.0], [2.0, -1.0, 0.5]])
    both = np.vstack([E, 0.5 * E[0] - 3.0 * E[1]])
    f = np.array([1.0, 2.0, 0.5 - 6.0])
    y, _ = Equations(sp.csr_array(both), f, np.ones(3)).near(np.zeros(3))
    np.testing.assert_allclose(both @ y, f, atol=1e-12)
    for off in (1e-12, 1.0):
        with pytest.raises(UnprovedError, match="depends on others"):
            Equations(sp.csr_array(both), f + np.array([0.0, 0.0, off]), np.ones(3))
    with pytest.raises(UnprovedError, match="0 = 1"):
        Equations(sp.csr_array((1, 2)), np.ones(1), np.ones(2))


def test_what_is_not_finite_has_no_solution_nearby():
    with pytest.raises(UnprovedError, match="near"):
        Equations(sp.csr_array([[1.0, 1.0]]), np.ones(1), np.ones(2)).near(np.array([np.nan, 0.0]))


@pytest.mark.parametrize("seed", range(5))
def test_residuals_and_inner_products_are_enclosed(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 6)) * 10.0 ** rng.uniform(-8.0, 8.0, (4, 6))
    x, b, radius = rng.normal(size=6), rng.normal(size=4), 1e-9 * rng.random(6)
    value, around = residual(b, sp.csr_array(A), x, radius)
    low, high = inner(A[0], x, radius)
    for side in (0, 1, -1):
        y = [p + side * r for p, r in zip(exact(x), exact(radius), strict=True)]
        for k in range(4):
            truth = Fraction(float(b[k])) - sum(p * q for p, q in zip(exact(A[k]), y, strict=True))
            assert abs(truth - Fraction(float(value[k]))) <= Fraction(float(around[k]))
        product = sum(p * q for p, q in zip(exact(A[0]), y, strict=True))
        assert Fraction(low) <= product <= Fraction(high)
    # At a point itself they are as narrow as rounding, and hold products below all doubles.
    for unit in (1.0, 1e-170):
        low, high = inner(unit * A[0], unit * x)
        product = sum(p * q for p, q in zip(exact(unit * A[0]), exact(unit * x), strict=True))
        assert Fraction(low) < product < Fraction(high)
        assert high - low <= 1e-14 * np.sum(abs(unit * A[0] * unit * x)) + 1e-290
        value, around = residual(np.zeros(4), sp.csr_array(unit * A), unit * x)
        assert abs(-product - Fraction(float(value[0]))) <= Fraction(float(around[0]))
        assert 0.0 < around[0] < 1e-15 * np.sum(abs(unit * A[0] * unit * x)) + 1e-290


def test_radii_of_many_terms_add_up_to_no_less_than_their_sum():
    """A sum of thousands of equal numbers loses some hundreds of roundings on the way."""
    n = 10_000
    for seed in range(22, 30):
        far = float(np.random.default_rng(seed).random())
        for c, x, data in ((np.ones(n), np.zeros(n), 0.0), (np.zeros(n), np.ones(n), far)):
            low, high = inner(c, x, 0.0 if data else far, data)
            assert Fraction(low) <= -n * Fraction(far)
            assert n * Fraction(far) <= Fraction(high) <= n * Fraction(far) * Fraction(1.0 + 1e-11)
        _, around = residual(np.zeros(1), sp.csr_array(np.ones((1, n))), np.zeros(n), far)
        assert n * Fraction(far) <= Fraction(around[0]) <= n * Fraction(far) * Fraction(1.0 + 1e-11)


def test_radii_of_rounded_numbers_add_up_to_no_less_than_their_sum():
    """Sums of as many equal numbers round downwards for some of these, by far more than a unit."""
    n, below = 20_000, 0
    for far in (0.1, 0.3, 0.7, 1.1, 1.3):
        data = sp.csr_array(np.append(np.full(n, far), 0.0)[None])
        _, around = residual(np.zeros(1), sp.csr_array((1, n)), np.ones(n), 0.0, data)
        exact = n * Fraction(far)
        assert exact <= Fraction(around[0]) <= exact * Fraction(1.0 + 1e-11)
        below += Fraction(float((data @ np.ones(n + 1))[0])) < exact * Fraction(1.0 - 1e-14)
    assert below


def test_a_matrix_at_the_edge_is_not_said_to_be_definite():
    n = 6
    singular = np.eye(n) - np.ones((n, n)) / n
    assert not are_positive_definite(singular[None], np.zeros((1, n, n)))
    assert are_positive_definite((singular + 1e-12 * np.eye(n))[None], np.zeros((1, n, n)))
    assert not are_positive_definite(np.stack([np.eye(n), -np.eye(n)]), np.zeros((2, n, n)))


def test_the_least_eigenvalue_that_counts_as_positive_is_that_of_the_theorem():
    """Rump's bound for order two, 6 u, and the rounding of what is subtracted from the diagonal."""
    u = 2.0**-53
    for k, is_definite in (*((k, False) for k in range(9)), (16, True)):
        matrix = np.array([[1.0, 1.0 - k * u], [1.0 - k * u, 1.0]])
        assert are_positive_definite(matrix[None], np.zeros((1, 2, 2))) is is_definite


def test_entries_that_are_nothing_but_a_radius_move_as_well():
    far = sp.csr_array([[0.0, 1e-3, 0.0]])
    found = Gram(sp.csr_array([[1.0, 1e-8]]), np.ones(2), far)
    assert found.shows
    assert found._reach[1] >= 0.99e-3


def test_rows_that_say_zero_are_among_those_that_the_others_follow_from():
    E = sp.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [1.0, 3.0, 0.0], [1.0, 0.0, 1.0]]))
    found = Equations(E, np.array([0.0, 1.0, 1.0, 3.0]), np.ones(3))
    y, radius = found.near(np.zeros(3))
    assert (y[1], radius[1]) == (0.0, 0.0)
    np.testing.assert_allclose(y, [1.0, 0.0, 2.0], atol=1e-12)
    assert np.linalg.matrix_rank(E[found.rows].toarray()) == 3


def test_equations_with_zeros_among_their_entries_stay_as_they_are():
    E = sp.csr_array(np.ones((2, 3)))
    E.data[1:3] = 0.0
    Equations(E, np.zeros(2), np.ones(3))
    assert E.nnz == E.data.size == 6
    below = sp.vstack([E, 5.0 * sp.eye_array(3, format="csr")]).toarray()
    assert below.tolist() == [[1, 0, 0], [1, 1, 1], [5, 0, 0], [0, 5, 0], [0, 0, 5]]


@pytest.mark.parametrize("apart", [1e-3, 1e-9, 1e-11])
def test_rows_next_to_each_other_are_solved_within_the_radius(apart):
    """Solutions in rational arithmetic, also where the Gram matrix has lost all digits."""
    E = np.array([[1.0, 1.0, 0.25], [1.0, 1.0 + apart, 0.25]])
    f = np.array([1.0, 1.0 + 0.5 * apart])
    y, radius = Equations(sp.csr_array(E), f, np.ones(3)).near(np.array([0.3, 0.7, 0.1]))
    solution = nearest(E, f, y, np.ones(3))
    missed = [abs(Fraction(v) - exact) for v, exact in zip(y, solution, strict=True)]
    assert all(m <= 2 * Fraction(r) for m, r in zip(missed, radius, strict=True))
    assert radius.max() < 1e-2


def test_a_sharper_radius_holds_the_exact_solution_too():
    """Where two rows see next to the same large entries, and differ in signs of tiny ones."""
    E = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, -1.0]])
    f, D = np.array([0.3, 0.3 + 1e-9]), np.array([1.0, 1.0, 1e-12])
    equations = Equations(sp.csr_array(np.hstack([E, E])), f, np.concatenate([D, D]))
    sharper = equations.sharper()
    assert sharper is not None
    assert sharper.sharper() is None
    wide, narrow = (one.near(np.full(6, 0.1)) for one in (equations, sharper))
    solution = nearest(np.hstack([E, E]), f, narrow[0], np.concatenate([D, D]))
    for found, at, around in zip(solution, exact(narrow[0]), exact(narrow[1]), strict=True):
        assert abs(found - at) <= around
    assert np.max(narrow[1]) < 1e-3 * np.max(wide[1])


@pytest.mark.parametrize("kind", [Gram, Orthogonal])
def test_an_inverse_shows_nothing_of_dependent_or_rounded_rows(kind):
    rows = sp.csr_array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert not kind(rows, np.ones(3)).shows
    assert not kind(sp.csr_array(np.ones((3, 2))), np.ones(2)).shows
    apart = sp.csr_array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0 + 1e-5]])
    assert kind(apart, np.ones(3)).shows
    assert not kind(apart, np.ones(3), sp.csr_array(np.full((2, 4), 1e-5))).shows
    assert kind(apart, np.ones(3), sp.csr_array(np.full((2, 4), 1e-14))).shows


@pytest.mark.parametrize("kind", [Gram, Orthogonal])
def test_entries_whose_squares_vanish_move_as_well(kind):
    E, f = sp.csr_array([[1.0, 1e-170]]), np.array([2.0])
    solver = kind(E, np.array([1.0, 1.0]))
    y, radius = solver.solution(np.zeros(2), f)
    exact = nearest(E.toarray(), f, y, np.ones(2))
    missed = [abs(Fraction(v) - x) for v, x in zip(y, exact, strict=True)]
    assert all(m <= Fraction(r) for m, r in zip(missed, radius, strict=True))
    assert np.all(radius > 0.0)


@pytest.mark.parametrize("kind", [Gram, Orthogonal])
def test_an_inverse_knows_its_nearest_solutions_and_how_far_it_reaches(kind):
    """Against pseudoinverses in the metric of sizes, whatever units the rows are in."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        E = rng.normal(size=(3, 6)) * 10.0 ** rng.uniform(-4.0, 4.0, (3, 1))
        E[:, 5] = 0.0
        D = 10.0 ** rng.uniform(-2.0, 2.0, 6)
        solver = kind(sp.csr_array(E), D)
        M = solver.units[:, None] * E * np.sqrt(D)
        assert np.all(np.frexp(solver.units)[0] == 0.5)
        assert np.all(np.abs(np.log2(np.linalg.norm(M, axis=1))) <= 0.6)
        inverse, least = np.linalg.pinv(M), np.linalg.eigvalsh(M @ M.T)[0]
        y, f = rng.normal(size=6), E @ rng.normal(size=6)
        step = np.sqrt(D) * (inverse @ (solver.units * (f - E @ y)))
        np.testing.assert_allclose(solver.nearest(y, f), y + step, rtol=1e-8, atol=1e-9)
        exact = np.sqrt(D) * np.linalg.norm(inverse, axis=1)
        most = exact
        if kind is Gram:
            assert 0.45 * least <= solver.least <= least
            most = np.sqrt(D) * np.linalg.norm(M, axis=0) / (0.45 * least)
        assert np.all((exact <= solver._reach) & (solver._reach <= 1.01 * most))
        assert solver._reach[5] == 0.0
        # Radii of numbers of the equations add to both.
        far = sp.csr_array(0.02 * np.hstack([np.abs(E), np.ones((3, 1))]))
        vague = kind(sp.csr_array(E), D, far)
        if vague.shows:
            assert np.all(vague._reach[:5] > solver._reach[:5])
            for side in (-1.0, 1.0):
                moved = M + 0.02 * side * np.abs(M)
                bound = np.sqrt(D) * np.linalg.norm(np.linalg.pinv(moved), axis=1)
                assert np.all(bound <= vague._reach)


@pytest.mark.parametrize("kind", [Gram, Orthogonal])
def test_units_of_unknowns_change_nothing_that_is_shown(kind):
    """Radii of numbers are in units of unknowns as the numbers themselves are."""
    rng = np.random.default_rng(1)
    E, far = rng.normal(size=(3, 5)), np.full((3, 6), 1e-3)
    C = 2.0 ** rng.integers(-9, 10, 5)
    given = kind(sp.csr_array(E), np.ones(5), sp.csr_array(far))
    other = kind(sp.csr_array(E / C), C * C, sp.csr_array(far / np.append(C, 1.0)))
    assert given.shows
    assert other.shows
    assert other._reach == pytest.approx(C * given._reach, rel=1e-9)


def test_what_an_inverse_leaves_is_no_more_than_is_said():
    """Where large products cancel, their sum is rounded by more than the inverse leaves."""
    rng, E = np.random.default_rng(2), np.ones((1, 6))
    for _ in range(50):
        R = 1e8 * rng.normal(size=6)
        R[5] = 1.0 - np.sum(R[:5])
        found = Explicit(sp.csr_array(E), np.ones(6), None, lambda R=R: R[:, None] * 2.0)
        left = abs(1 - 2 * Fraction(found.units[0]) * sum(exact(R)))
        assert left <= Fraction(found._epsilon) < Fraction(1, 10**5)


@pytest.mark.parametrize("unit", [1e-200, 1e-3, 1.0, 1e200])
def test_lengths_are_no_less_than_they_are_and_little_more(unit):
    rows = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]) * unit
    for found in (_lengths(rows), _lengths(sp.csr_array(rows))):
        exact = unit * np.array([5.0, 0.0, np.sqrt(3.0)])
        assert np.all((found >= exact) & (found <= 1.002 * exact))


@pytest.mark.parametrize("sizes", [[1.0, 1.0, 1.0], [1e-4, 1.0, 1.0], [1.0, 1e8, 1e-4]])
def test_a_row_with_columns_of_its_own_moves_the_one_in_which_it_is_cheapest(sizes):
    """In units of sizes; the others, and those that another row sees, stay where they are."""
    E = np.array([[2.0, 1e-3, 0.5, 1.0, 0.0], [0.0, 0.0, 0.0, 3.0, 1.0]])
    D, f = np.append(sizes, [1e12, 1.0]), np.array([7.0, 11.0])
    y, radius = Equations(sp.csr_array(E), f, D).near(np.zeros(5))
    moved = int(np.argmax(np.abs(E[0, :3]) * np.sqrt(D[:3])))
    assert np.flatnonzero(y).tolist() == [moved, 4]
    assert np.flatnonzero(radius).tolist() in ([], [moved], [4], [moved, 4])
    np.testing.assert_allclose(E @ y, f, rtol=1e-15)
    for k in (moved, 4):
        row = int(k == 4)
        missed = abs(Fraction(float(E[row, k])) * Fraction(float(y[k])) - Fraction(float(f[row])))
        assert missed <= Fraction(float(radius[k])) * abs(Fraction(float(E[row, k])))
        assert radius[k] <= 1e-15 * abs(y[k])
