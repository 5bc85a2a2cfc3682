"""Bounds of Xing's program against exact fractions, also where points are badly scaled."""

from fractions import Fraction

import numpy as np
import pytest

import sdpdr
from sdpdr.base.errors import DataError, InfeasibleError
from sdpdr.metric import Pairs, solve_xing


def exact(array, digits=None):
    """Fractions of floating point numbers, or of these to so many decimal digits."""
    if digits is not None:
        return [[Fraction(f"{x:.{digits}g}") for x in row] for row in array]
    return [[Fraction(float(x)) for x in row] for row in array]


def steps_of(points, index):
    return [
        [a - b for a, b in zip(points[i], points[j], strict=True)] for i, j in np.asarray(index)
    ]


def scatter_of(steps):
    n = len(steps[0])
    return [[sum(s[a] * s[b] for s in steps) for b in range(n)] for a in range(n)]


def solved(matrix, right):
    """u with M u = d, or None if there is none."""
    n = len(right)
    rows = [[*row, d] for row, d in zip(matrix, right, strict=True)]
    pivots = []
    for col in range(n):
        top = len(pivots)
        pick = next((r for r in range(top, n) if rows[r][col]), None)
        if pick is None:
            continue
        rows[top], rows[pick] = rows[pick], rows[top]
        rows[top] = [x / rows[top][col] for x in rows[top]]
        for r in range(n):
            if r != top and rows[r][col]:
                by = rows[r][col]
                rows[r] = [x - by * y for x, y in zip(rows[r], rows[top], strict=True)]
        pivots.append(col)
    if any(row[n] for row in rows[len(pivots) :]):
        return None
    u = [Fraction(0)] * n
    for row, col in zip(rows, pivots, strict=False):
        u[col] = row[n]
    return u


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def cost_reached(pairs, diagonal, digits=None):
    """The least cost of metrics of one direction, by fractions; of one dissimilar pair, of all."""
    points = exact(pairs.points, digits)
    similar, apart = (steps_of(points, pairs.index(kind)) for kind in ("similar", "dissimilar"))
    scatter = scatter_of(similar)
    if diagonal:
        n = len(scatter)
        ways = [[Fraction(int(a == b)) for b in range(n)] for a in range(n)]
    else:
        ways = [solved(scatter, step) for step in apart]
    costs = []
    for w in ways:
        if w is None:
            return Fraction(0)
        sum_apart = sum(abs(dot(w, step)) for step in apart)
        if sum_apart:
            cost = dot(w, [dot(row, w) for row in scatter])
            costs.append(cost / sum_apart**2)
    return min(costs, default=Fraction(0))


def badly_scaled(rng):
    """A few points of whole numbers, some rows and columns of which are shrunk or nearly alike."""
    n, d = int(rng.integers(4, 8)), int(rng.integers(1, 5))
    points = rng.integers(-4, 5, (n, d)).astype(float)
    kind = rng.integers(4)
    if kind == 0:
        points *= 10.0 ** -rng.integers(0, 13, d)
    elif kind == 1:
        points *= 10.0 ** -rng.integers(0, 13, (n, 1))
    elif kind == 2 and d > 1:
        points[:, -1] = points[:, 0] + 10.0 ** -rng.integers(3, 13) * points[:, -1]
    elif d > 1:
        points[:, -1] = points[:, 0] + points[:, -1] * 10.0 ** -rng.integers(1, 13, n)
    if rng.integers(4) == 0:
        points += 10.0 ** rng.integers(0, 9)
    every = rng.permutation(np.column_stack(np.triu_indices(n, 1)))
    q = int(rng.integers(1, 3))
    return Pairs(points, every[q:][: int(rng.integers(1, d + 3))], every[:q])


@pytest.mark.parametrize("diagonal", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_no_bound_is_above_what_fractions_reach(diagonal):
    rng, proved = np.random.default_rng(0), 0
    for _ in range(120):
        pairs = badly_scaled(rng)
        try:
            answer = solve_xing(pairs, diagonal=diagonal, tol=1e-9, max_iter=300)
        except (DataError, InfeasibleError):
            continue
        # The last digits are those of the sum that makes the bound.
        bound = Fraction(answer.bound) * (1 - Fraction(1, 10**12))
        # What is dependent in decimals is not in their floating point numbers: either is right.
        assert any(bound <= cost_reached(pairs, diagonal, k) for k in (None, 13)), pairs
        proved += answer.gap < 1e-6
    assert proved > 40


NEARLY_ALIKE = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1e-8], [0.0, 0.0], [1.0, 1.0 + 9e-8]])


def test_a_direction_in_which_similar_pairs_differ_little_counts():
    """Its squares are below rounding, and dissimilar pairs differ nine times as much there."""
    pairs = Pairs(NEARLY_ALIKE, [[0, 1], [0, 2]], [[3, 4]])
    answer = solve_xing(pairs)
    assert answer.value == pytest.approx(float(cost_reached(pairs, False)), rel=1e-6)
    assert answer.value == pytest.approx(1.0 / 82.0, rel=1e-6)
    assert answer.gap < 1e-5


@pytest.mark.parametrize("listed", [False, True])
def test_of_labels_and_of_lists_a_feature_nearly_repeated_counts(listed):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4)) + y[:, None]
    last = 3.0 * y + rng.standard_normal(60)
    near, far = (np.column_stack([X, X[:, 0] + size * last]) for size in (3e-8, 1.0))
    pairs = [sdpdr.metric.pairs_from_labels(points, y) for points in (near, far)]
    if listed:
        pairs = [Pairs(p.points, p.similar, p.dissimilar) for p in pairs]
    values = [solve_xing(p, tol=1e-8).value for p in pairs]
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def test_columns_that_agree_to_rounding_are_one_but_nothing_is_proved():
    """The same temperature in two units."""
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    celsius = 20.0 + y + rng.standard_normal(40)
    other = rng.standard_normal(40)
    two = sdpdr.metric.pairs_from_labels(np.column_stack([celsius, other]), y)
    three = sdpdr.metric.pairs_from_labels(np.column_stack([celsius, other, celsius + 273.15]), y)
    found = solve_xing(three)
    assert found.value == pytest.approx(solve_xing(two).value, rel=1e-5)
    assert found.bound == 0.0
    assert "rounding" in found.argument
