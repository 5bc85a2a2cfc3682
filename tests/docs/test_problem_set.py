"""Solutions of the problems in `docs/guide/teaching.rst`, for lecturers: words, and checks."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, maximize, methods, minimize, psd

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "teaching.rst"


def gram(sqdist):
    """The centred matrix that is a Gram matrix if there are such points."""
    J = np.eye(len(sqdist)) - 1.0 / len(sqdist)
    return -0.5 * J @ sqdist @ J


def ring(n):
    """The matrix of neighbours on a ring."""
    step = np.roll(np.eye(n), 1, axis=0)
    return step + step.T


def test_problem_1_a_hinge_of_two_triangles():
    """All distances between four points are 1, but one.

    Two triangles with equal sides share an edge, about which they turn. Their tips are 0 apart when
    they lie on each other, and twice the height, sqrt(3), when the plane is flat. So x may be
    anything from 0 to sqrt(3), in three dimensions, but for both ends, where the points are
    in a plane. The eigenvalues: one of them is x^2 / 2, for the difference of the tips, one is 1/2,
    for the difference of the others, and the third is (3 - x^2) / 4.
    """
    for x in (0.0, 0.5, 1.0, np.sqrt(3.0), 1.8):
        sqdist = np.ones((4, 4)) - np.eye(4)
        sqdist[0, 1] = sqdist[1, 0] = x**2
        found = np.linalg.eigvalsh(gram(sqdist))
        by_hand = [0.0, 0.5, x**2 / 2, (3 - x**2) / 4]
        assert found == pytest.approx(sorted(by_hand), abs=1e-12)
        possible = found[0] > -1e-9
        assert possible == (x < 1.75)
        if possible:
            assert np.sum(found > 1e-9) == (2 if x in (0.0, np.sqrt(3.0)) else 3)


def test_problem_2_products_of_entries_and_not_roots():
    """Products of entries of positive semidefinite matrices, and what follows.

    K is the Gram matrix of vectors p_i, M of vectors q_i, and K_ij M_ij is the inner product of the
    matrices p_i q_i'. So powers are positive semidefinite, their sums with weights that are not
    negative, and limits of these, as the exponential is. For points, exp(-|x_i - x_j|^2) is
    exp(2 x_i'x_j) times the matrix of rank one exp(-|x_i|^2) exp(-|x_j|^2). Roots fail: with a = b
    sqrt(1/2) and c = 0, the determinant 1 + 2abc - a^2 - b^2 - c^2 of lesson 2 is zero, and
    that of the square roots, 1 - 2 / sqrt(2), is negative.
    """
    rng = np.random.default_rng(0)
    P, Q, x = rng.standard_normal((3, 6, 3))
    K, M = P @ P.T, Q @ Q.T
    as_vectors = np.einsum("ia,ib->iab", P, Q).reshape(6, -1)
    assert pytest.approx(as_vectors @ as_vectors.T) == K * M
    apart = np.sum((x[:, None] - x[None, :]) ** 2, axis=2)
    for made in (K * M, np.exp(K), np.exp(-apart)):
        assert np.linalg.eigvalsh(made)[0] > -1e-9 * np.abs(made).max()
    a = np.sqrt(0.5)
    entries = np.array([[1, a, a], [a, 1, 0], [a, 0, 1]])
    assert np.linalg.eigvalsh(entries)[0] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.det(np.sqrt(entries)) == pytest.approx(1 - np.sqrt(2.0))


def test_problem_3_the_ring_of_five_has_the_root_of_five():
    """The number of Lovász of the ring of five.

    For a set of k points without edges, 1/k at all places of its rows and columns is feasible, of
    value k. A turn of the ring leaves the program as it is, so the mean of all turned and reflected
    optima is optimal: X = (I + c B) / 5, with B the ring of those that are no neighbours. Its value
    is 1 + 2c. The smallest eigenvalue of B is 2 cos 144° = -(1 + sqrt(5)) / 2, so c is at most
    2 / (1 + sqrt(5)), where 1 + 2c is sqrt(5). The proof: with A the matrix of neighbours,
    S = t I + y A - J' (J' all ones) is positive semidefinite for t = sqrt(5) and
    y = (5 - t) / 2: at the vector of ones it is t + 2y - 5 = 0, elsewhere t + y 2 cos 72° > 0 and
    t + y 2 cos 144° = 0. Zeros on the edges make <A, X> vanish, so the value is at most t.
    """
    A, ones, t = ring(5), np.ones((5, 5)), np.sqrt(5.0)
    B = ones - np.eye(5) - A
    point = (np.eye(5) + 2 / (1 + t) * B) / 5
    assert np.linalg.eigvalsh(point)[0] > -1e-12
    assert point.sum() == pytest.approx(t)
    assert np.linalg.eigvalsh(t * np.eye(5) + (5 - t) / 2 * A - ones)[0] > -1e-12
    X = psd("X", 5)
    i, j = np.nonzero(np.triu(A))
    model = maximize(X.sum()) + (X.trace() == 1) + (X[i, j] == np.zeros(5))
    assert sdpdr.solve(model).value == pytest.approx(t, rel=1e-5)
    pair = np.zeros(5)
    pair[[0, 2]] = 1.0
    assert A[0, 2] == 0
    assert np.outer(pair, pair).sum() / 2 == 2 < t


@pytest.mark.parametrize(("p", "q"), [(2, 3), (3, 2), (4, 2)])
def test_problem_4_a_spider(p, q):
    """Legs of q threads from one knot.

    Put the knot at the centre and the legs straight along unit vectors that add up to zero: the
    variance is p (1 + 4 + ... + q^2). Thread j, counted from the knot, holds the pushes of all
    points beyond it, so w_j = j + ... + q, as each thread has length one. Nothing is larger:
    squares of distances from the mean sum to no more than those from the knot, and point j of a leg
    is at the end of j threads t_1, ..., t_j, so that |t_1 + ... + t_j|^2 <= j (|t_1|^2 + ... +
    |t_j|^2). In the sum over j thread k is counted k + ... + q times: these are the weights w_k,
    and as t may be anything, they have lambda_2 >= 1. Unit vectors whose sum is zero have one Gram
    matrix for two (opposite ones) and for three (120 degrees), and many for four and more.
    """
    edges, weights = [], []
    for leg in range(p):
        for j in range(1, q + 1):
            point = leg * q + j
            edges.append((0 if j == 1 else point - 1, point))
            weights.append(float(sum(range(j, q + 1))))
    spider = graphs.from_edges(p * q + 1, edges, np.ones(p * q))
    # A graph sorts its edges.
    order = dict(zip(edges, weights, strict=True))
    w = np.array([order[tuple(pair)] for pair in spider.edges.tolist()])
    by_hand = p * sum(j**2 for j in range(1, q + 1))
    values = np.linalg.eigvalsh(spider.laplacian(w).toarray())
    assert values[1] == pytest.approx(1.0)
    assert np.sum(values < 1 + 1e-9) == 1 + (p - 1)
    assert w.sum() == by_hand
    solution = sdpdr.solve(methods.mvu(spider), tol=1e-8)
    assert solution.value == pytest.approx(by_hand, rel=1e-6)
    if p < 4:
        angle = solution.gram()[q, 2 * q] / q**2
        assert angle == pytest.approx(-1.0 if p == 2 else -0.5, abs=1e-3)
    else:
        cross = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
        crossed = np.array([[1, 0], [1, 0], [-1, 0], [-1, 0]])
        for legs in (cross, crossed):
            places = np.vstack([np.zeros(2), *(np.outer([1, 2], leg) for leg in legs)])
            assert np.sum(places**2) == by_hand
            assert np.allclose(places.sum(axis=0), 0)


def test_problem_5_a_thread_without_length():
    """A path with lengths 1 and s, the square root of e.

    On a line at 0, 1 and 1 + s the variance is (2 + 2s + 2s^2) / 3, whose derivative by e is
    (1 + 2s) / 3s, without end as e goes to zero. That is the weight of the short thread. For e = 0
    weights (w, W) prove w / lambda_2. With W without end both points act as one of mass two, and
    lambda_2 tends to 3w/2 from below: the bounds tend to 2/3, and none attains it. All feasible K
    vanish at the difference of both points: V = (e_2 - e_3)(e_2 - e_3)'. On the face a path of two
    points is left, of which one counts twice; it has the optimum 2/3, with weight 2/3.
    """
    for e in (1e-2, 1e-4):
        s = np.sqrt(e)
        chain = sdpdr.solve(methods.mvu(graphs.path([1.0, s])), tol=1e-8)
        assert chain.value == pytest.approx((2 + 2 * s + 2 * e) / 3, rel=1e-5)
        assert chain.dual("isometry")[1] == pytest.approx((1 + 2 * s) / (3 * s), rel=1e-2)
    graph = graphs.path([1.0, 1.0])
    bounds = []
    for W in (1e1, 1e2, 1e3, 1e4):
        lambda_2 = np.linalg.eigvalsh(graph.laplacian(np.array([1.0, W])).toarray())[1]
        assert lambda_2 < 1.5
        bounds.append(1.0 / lambda_2)
    assert np.all(np.diff(bounds) < 0)
    assert 0 < bounds[-1] - 2 / 3 < 1e-4


def pivots(matrix):
    """The diagonal left by elimination without rounding."""
    rest, found = [row[:] for row in matrix], []
    while rest:
        (pivot, *across), *below = rest
        found.append(pivot)
        assert pivot or not any(across)
        rest = [
            [b - (row[0] * a / pivot if pivot else 0) for a, b in zip(across, row[1:], strict=True)]
            for row in below
        ]
    return found


def proves(w):
    """Whether equal weights on the ring of five have lambda_2 of one at least."""
    fifth = Fraction(1, 5)
    shifted = [
        [fifth + (2 * w - 1 if r == c else -w if (r - c) % 5 in (1, 4) else 0) for c in range(5)]
        for r in range(5)
    ]
    return all(pivot >= 0 for pivot in pivots(shifted))


def test_problem_6_a_ring_in_fractions():
    """Weights 181/250 on every thread add up to 181/50.

    All pivots of L(w) - J are positive, or zero in the end. From below: round the pentagon to two
    digits, centre it, and divide it by a fraction that is at least its longest side; nothing is
    rounded afterwards. Equal weights w prove 5w, and (5 + sqrt(5))/2 is 3.618..., so 3.62 is the
    least such fraction, and 3.61 is refuted.
    """
    assert proves(Fraction(181, 250))
    assert not proves(Fraction(361, 500))
    assert 3.61 < (5 + np.sqrt(5)) / 2 < 3.62
    turns = 2 * np.pi * np.arange(5) / 5
    radius = 1 / (2 * np.sin(np.pi / 5))
    rounded = [
        [Fraction(round(100 * radius * f(turn)), 100) for f in (np.cos, np.sin)] for turn in turns
    ]
    middle = [sum(point[k] for point in rounded) / 5 for k in (0, 1)]
    places = [[point[k] - middle[k] for k in (0, 1)] for point in rounded]
    longest = max(sum((places[r][k] - places[r - 1][k]) ** 2 for k in (0, 1)) for r in range(5))
    # A fraction whose square is at least that.
    side = Fraction(int(np.ceil(1000 * np.sqrt(float(longest)))), 1000)
    assert side**2 >= longest
    attained = sum((x / side) ** 2 for point in places for x in point)
    assert Fraction(36, 10) <= attained <= Fraction(181, 50)


def test_problem_7_units_of_time():
    """Both look at ratios of times on the same program, in which a common factor drops out.

    With times (1, 10) and (2, 4) the second is faster by the mean. Multiply those of the first
    program by 100: (100, 10) and (200, 4), and the first is.
    """
    times = np.array([[1.0, 10.0], [2.0, 4.0]])
    scaled = times * [100.0, 1.0]
    for given in (times, scaled):
        assert (given / given.min(axis=0)).tolist() == [[1.0, 2.5], [2.0, 1.0]]
        assert np.prod(given[0] / given[1]) ** 0.5 == pytest.approx(np.sqrt(1.25))
    assert times[0].mean() > times[1].mean()
    assert scaled[0].mean() < scaled[1].mean()


def test_problem_8_cuts_of_the_ring_of_five():
    """A quarter of y'Ly counts the edges whose ends differ.

    Round a ring signs change an even number of times, so four edges are cut at most. Rows at
    angles of 144 degrees from one to the next have 5 (1 + cos 36°) / 2, and equal multipliers, a
    quarter of the largest eigenvalue 2 - 2 cos 144° of L, prove that. Some
    optimum has rank two at most, and none has rank one, whose value is no more than four.
    """
    L = 2 * np.eye(5) - ring(5)
    cuts = [np.array(y) @ L @ np.array(y) / 4 for y in product((-1, 1), repeat=5)]
    assert max(cuts) == 4
    by_hand = 5 * (1 + np.cos(np.pi / 5)) / 2
    turns = np.arange(5) * 4 * np.pi / 5
    Y = np.column_stack([np.cos(turns), np.sin(turns)])
    assert np.sum(L * (Y @ Y.T)) / 4 == pytest.approx(by_hand)
    mu = np.linalg.eigvalsh(L)[-1] / 4
    assert 5 * mu == pytest.approx(by_hand)
    X = psd("X", 5)
    cut = maximize(X.inner(L / 4)) + (X.diagonal() == 1).named("unit")
    assert sdpdr.solve(cut).value == pytest.approx(by_hand, rel=1e-5)
    assert 2 * 3 / 2 <= 5 < 3 * 4 / 2


def test_problem_9_what_can_be_said():
    """Linear are (a), (b) and (e); (d) is convex, and (c) is not.

    (a) The squared length of y_i - (y_j + y_k + y_l)/3 is v'Kv, which has to be zero. (b) says
    D_ij + D_jk <= D_ik, (e) D_ij <= D_ik for every k. A length is the square root of a number
    that is linear in K, a concave function, and so is a sum of lengths: where it is 3 at least is a
    convex set. Where it is 3 at most is none: edges of lengths 0 and 3, and of 3 and 0, are
    allowed; the mean of both matrices has the squared lengths 9/2, whose square roots add up to
    more than 3.
    """

    def lengths(K):
        D = np.diag(K)[:, None] + np.diag(K)[None, :] - 2 * K
        return np.sqrt(np.maximum(D[0, 1:], 0.0))

    one, other = (np.array(places)[:, None] for places in ([0.0, 0.0, 3.0], [0.0, 3.0, 0.0]))
    mean = (one @ one.T + other @ other.T) / 2
    assert lengths(one @ one.T).sum() == lengths(other @ other.T).sum() == 3
    assert lengths(mean) == pytest.approx(np.sqrt([4.5, 4.5]))
    assert lengths(mean).sum() > 3
    rng = np.random.default_rng(0)
    for P, Q in rng.standard_normal((50, 2, 4, 3)):
        K, M = P @ P.T, Q @ Q.T
        assert lengths((K + M) / 2).sum() >= (lengths(K) + lengths(M)).sum() / 2 - 1e-12
        v = np.array([1.0, -1 / 3, -1 / 3, -1 / 3])
        assert v @ K @ v == pytest.approx(np.sum((P[0] - P[1:].mean(axis=0)) ** 2))
        blunt = (P[0] - P[1]) @ (P[2] - P[1]) <= 0
        D = np.sum((P[:, None] - P[None, :]) ** 2, axis=2)
        assert blunt == (D[0, 1] + D[1, 2] <= D[0, 2])


@pytest.mark.parametrize(("a", "b", "c"), [(1.0, 2.0, 2.0), (2.0, 1.0, 1.0), (1.0, 0.5, 3.0)])
def test_problem_10_the_smallest_trace_norm_need_not_have_the_smallest_rank(a, b, c):
    """The rank is one for t = bc/a.

    The singular values have the product |at - bc| and squares that sum to a^2 + b^2 + c^2 + t^2. So
    the square of their sum is a^2 + b^2 + c^2 + t^2 + 2 |at - bc|. Left of bc/a its derivative is
    2t - 2a, to the right 2t + 2a: the minimum is at the smaller of a and bc/a. Both questions have
    the same answer if bc <= a^2. For a = 1 and b = c = 2 the answers are 1 and 4; G with ones off
    the diagonal has the largest singular value one, nothing at the unknown place, and
    <G, M> = 4 = 3 + 1.
    """
    Z = psd("Z", 4)
    known = (Z[[0, 0, 1], [2, 3, 2]] == np.array([a, b, c])).named("known")
    solution = sdpdr.solve(minimize(0.5 * Z.trace()) + known, tol=1e-8)
    t = min(a, b * c / a)
    table = np.array([[a, b], [c, t]])
    assert solution.value == pytest.approx(np.linalg.norm(table, "nuc"), rel=1e-6)
    assert solution["Z"][1, 3] == pytest.approx(t, abs=1e-2)
    assert (np.linalg.matrix_rank(table) == 1) == (b * c <= a**2)
    if (a, b, c) == (1.0, 2.0, 2.0):
        G = np.array([[0.0, 1.0], [1.0, 0.0]])
        assert np.linalg.norm(G, 2) == 1
        assert np.sum(G * table) == 4 == pytest.approx(solution.value)


def test_every_problem_of_the_page_is_solved_here_and_not_there():
    text = PAGE.read_text(encoding="utf-8")
    numbers = [int(number) for number in re.findall(r"^\*\*Problem (\d+)\.\*\*", text, re.M)]
    solved = {name for name in globals() if name.startswith("test_problem_")}
    assert numbers == list(range(1, 11))
    assert sorted(int(name.split("_")[2]) for name in solved) == numbers
    assert all(globals()[name].__doc__ for name in solved)
    assert "Solution" not in text
    assert Path(__file__).name in text
