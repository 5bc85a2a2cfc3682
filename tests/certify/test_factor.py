"""Equations have a solution where that is said: against Newton's method with sixty digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls

import sdpdr
from sdpdr import minimize, scalar, sum_squares
from sdpdr.base.deadline import Effort
from sdpdr.certify import factor
from sdpdr.certify.attained import attained
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.factor import solved_near
from sdpdr.certify.near import error_of, jacobian
from sdpdr.certify.shrink import Candidate
from sdpdr.certify.slack import layout
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    Trace,
    VectorMap,
)
from sdpdr.linalg.maps.given import SvecMap
from sdpdr.program.point import Factor, PsdVariable, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

from ..truth.exact import fractions

BITS = 200


def rounded(array):
    """Fractions to sixty digits, so that they do not grow."""
    return np.vectorize(lambda x: Fraction(round(x * 2**BITS), 2**BITS), otypes=[object])(array)


def solve(M, right):
    """Solve square equations of fractions."""
    rows = [[*row, value] for row, value in zip(M.tolist(), right.tolist(), strict=True)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
        rows = rounded(np.array(rows, dtype=object)).tolist()
    return np.array([row[-1] for row in rows], dtype=object)


def solution(matrices, B, b, null, R, z, units):
    """The solution of the equations next to R and z, in units of points."""
    n, r = R.shape
    start, weights = R, np.repeat(fractions(units), r)
    for _ in range(8):
        missed = [*(b - [np.sum(A * (R @ R.T)) for A in matrices] - B @ z), *-(null.T @ R).ravel()]
        J = [
            np.concatenate([(2 * A @ R).ravel() * weights, row])
            for A, row in zip(matrices, B, strict=False)
        ]
        for u in null.T:
            for k in range(r):
                row = np.zeros((n, r), dtype=object)
                row[:, k] = u
                J.append(np.concatenate([row.ravel() * weights, 0 * z]))
        J = np.array(J, dtype=object)
        step = J.T @ solve(J @ J.T, np.array(missed, dtype=object))
        R = rounded(R + (step[: n * r] * weights).reshape(n, r))
        z = rounded(z + step[n * r :])
    return R, z, R - start


def planted(seed):
    """A program of equations with a solution of rank two, what it is made of, and a point near."""
    rng = np.random.default_rng(seed)
    n, r, m = 5, 2, 4
    null = np.ones((n, 1)) if seed % 2 else np.zeros((n, 0))
    matrices = rng.integers(-3, 4, size=(m, n, n)).astype(float)
    matrices = matrices + matrices.transpose(0, 2, 1)
    B = rng.integers(1, 3, size=(m, 2)).astype(float)
    cost, prices = rng.integers(-3, 4, size=(n, n)).astype(float), np.array([2.0, -1.0])
    cost = cost + cost.T
    R, z = rng.integers(-4, 5, size=(n, r)) / 2.0, np.array([1.5, -0.5])
    R[-1] -= R.sum(axis=0) if seed % 2 else 0.0
    b = np.einsum("eij,ik,jk->e", matrices, R, R) + B @ z
    side = {"X": Stacked([InnerProduct(A) for A in matrices]), "z": VectorMap(B)}
    rows = [Rows("equal", "==", side, b)]
    if seed % 2:
        rows.append(Rows("face", "==", {"X": Products(n)}, np.zeros(n)))
    objective = {"X": InnerProduct(cost), "z": VectorMap(prices[None])}
    sdp = SDP((PsdVariable("X", n), VectorVariable("z", 2, False)), objective, tuple(rows))
    return sdp, (matrices, B, b, null, cost, prices), R + 1e-5 * rng.normal(size=R.shape), z


@pytest.mark.daily(4)
@pytest.mark.parametrize("steps", [0, 12])
@pytest.mark.parametrize("seed", range(8))
def test_a_solution_is_where_it_is_said_to_be_and_costs_no_more(seed, steps, monkeypatch):
    """Without steps the radius is that of the point given, far above rounding."""
    monkeypatch.setattr(factor, "_STEPS", steps)
    sdp, (matrices, B, b, null, cost, prices), given, z = planted(seed)
    found = solved_near(layout(sdp), {"X": given}, z, layout(sdp).demands, Effort())
    near = found.points["X"]
    data = map(fractions, (matrices, B, b, null, near.factor, found.z))
    exact, scalars, moved = solution(*data, near.units)
    assert near.far <= (1e-9 if steps else 0.1)
    length = np.sum((moved / fractions(near.units)[:, None]) ** 2)
    assert length + np.sum((scalars - fractions(found.z)) ** 2) <= Fraction(near.far) ** 2
    assert np.all(abs(scalars - fractions(found.z)) <= fractions(found.moves))
    value = np.sum(fractions(cost) * (exact @ exact.T)) + np.sum(fractions(prices) * scalars)
    assert value <= Fraction(found.value()) <= value + Fraction(1, 10**9 if steps else 1)


@pytest.mark.parametrize("seed", range(5))
def test_points_lie_on_their_face_within_the_radius(seed):
    rng = np.random.default_rng(seed)
    u, R = rng.uniform(0.1, 10.0, size=6), rng.normal(size=(6, 2)) * 10.0 ** rng.uniform(-3, 3)
    R = R - 0.999999 * np.outer(u, u @ R) / (u @ u)
    centred = Rows("centred", "==", {"K": Products(6, u)}, np.zeros(6))
    sdp = SDP((PsdVariable("K", 6),), {}, (centred,))
    nothing = np.zeros(0)
    found = solved_near(layout(sdp), {"K": R}, nothing, nothing.astype(bool), Effort())
    near, weights = found.points["K"], fractions(u)
    # The nearest point of the face, in units of points.
    square = sum((weights * fractions(near.units)) ** 2)
    moved = sum(np.sum(weights[:, None] * fractions(near.factor), axis=0) ** 2) / square
    assert moved <= Fraction(near.far) ** 2 <= Fraction(1, 10**24)
    assert near.factor == pytest.approx(R - np.outer(u, u @ R) / (u @ u), rel=1e-4)


@pytest.mark.parametrize("seed", range(2))
def test_what_is_missed_and_slopes_are_known_to_rounding(seed):
    sdp, (matrices, B, b, null, _, _), R, z = planted(seed)
    z = z + 1.0 / 3.0
    system = factor._System(layout(sdp), {"X": R}, z, layout(sdp).demands)
    missed, around = system._missed()
    J, errors = system._slopes()
    A, X = fractions(matrices), fractions(R)
    exactly = fractions(b) - fractions(B) @ fractions(z)
    exactly = exactly - np.array([np.sum(one * (X @ X.T)) for one in A], dtype=object)
    exactly = np.concatenate([exactly, -(fractions(null).T @ X).ravel()])
    assert np.all(abs(fractions(missed) - exactly) <= fractions(around))
    assert np.any(fractions(missed) != exactly)
    units = fractions(np.repeat(system.points["X"].units, 2))
    slopes = np.array([(2 * one @ X).ravel() * units for one in A], dtype=object)
    off = abs(fractions(J[:4, :10].toarray()) - slopes)
    assert np.all(off <= fractions(errors[:4, :10].toarray()))
    assert np.any(off > 0)
    faces = J[4:, :10].toarray() / system.points["X"].units.repeat(2)
    assert faces == pytest.approx(np.kron(null.T, np.eye(2)))


def test_rounding_of_a_difference_is_known_where_both_sides_are_exact():
    """1 - 2^-70 is no double, and 2^-70 is a square without rounding."""
    rows = (Rows("one", "==", {"X": Diagonal(1)}, np.ones(1)),)
    sdp = SDP((PsdVariable("X", 1),), {}, rows)
    R, solved = np.array([[2.0**-35]]), np.ones(1, dtype=bool)
    missed, around = factor._System(layout(sdp), {"X": R}, np.zeros(0), solved)._missed()
    off = abs(Fraction(float(missed[0])) - 1 + Fraction(1, 2**70))
    assert 0 < off <= Fraction(float(around[0]))


def test_rounding_of_scalars_that_cancel_is_known():
    rng = np.random.default_rng(12)
    noticed = 0
    for _ in range(20):
        B = rng.normal(size=(2, 5))
        z = 1e8 * np.linalg.svd(B)[2][-1]
        side = {"X": Diagonal(2), "z": VectorMap(B)}
        variables = (PsdVariable("X", 2), VectorVariable("z", 5, False))
        sdp = SDP(variables, {}, (Rows("rows", "==", side, np.zeros(2)),))
        system = factor._System(layout(sdp), {"X": np.eye(2)}, z, np.ones(2, dtype=bool))
        missed, around = system._missed()
        exactly = -1 - fractions(B) @ fractions(z)
        assert np.all(abs(fractions(missed) - exactly) <= fractions(around))
        noticed += np.any(abs(fractions(missed) - exactly) > Fraction(1, 10**12))
    assert noticed


def test_curvature_bounds_products_of_moves():
    rng = np.random.default_rng(6)
    maps = {"X": Stacked([MAPS["lengths"], Diagonal(4), Trace(4)]), "Y": Stacked([MAPS["forms"]])}
    rows = tuple(Rows(n, "==", {n: a}, np.ones(a.m)) for n, a in maps.items())
    sdp = SDP((PsdVariable("X", 4), PsdVariable("Y", 4)), {}, rows)
    R = {name: rng.normal(size=(4, 2)) * 4.0 ** rng.integers(-2, 3, (4, 1)) for name in maps}
    system = factor._System(layout(sdp), R, np.zeros(0), layout(sdp).demands)
    units = {name: near.units[:, None] for name, near in system.points.items()}
    rows_in = 4.0 ** rng.integers(-2, 3, 9)
    largest, kappa = 0.0, system._curvature(rows_in)
    for _ in range(300):
        i = rng.integers(4)
        spread = {name: 10.0 ** -rng.uniform(0.0, 3.0, (4, 1)) for name in maps}
        D = {name: unit * spread[name] * rng.normal(size=(4, 1)) for name, unit in units.items()}
        D["X"][i] *= 1e3
        length = np.sqrt(sum(np.sum(np.square(D[name] / units[name])) for name in D))
        seen = np.concatenate([a.apply_factor(D[name]) for name, a in maps.items()])
        largest = max(largest, np.linalg.norm(rows_in * seen) / length**2)
    assert kappa / 4.0 <= largest <= kappa


MAPS = {
    "lengths": SquaredEdgeLengths(4, [[0, 1], [2, 3]]),
    "weighted lengths": 0.3 * SquaredEdgeLengths(4, [[0, 1], [2, 3]]),
    "forms": BilinearForms(np.arange(8.0).reshape(2, 4), np.eye(4)[:2]),
    "long squares": QuadraticForms(np.arange(8.0).reshape(2, 4)),
    "stacked": Stacked([Diagonal(4), Trace(4)]),
    "a sum": Diagonal(4) + Products(4),
    "entries": SvecMap.from_entries(4, 1, [0, 0], np.array([0, 1]), np.array([0, 3]), [3.0, 0.7]),
}


@pytest.mark.parametrize("name", MAPS)
def test_slopes_are_differences(name):
    rng = np.random.default_rng(0)
    R, D = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    linear_map = MAPS[name]
    # Rows are quadratic in R, so that central differences are exact.
    change = linear_map.apply_factor(R + D) - linear_map.apply_factor(R - D)
    assert jacobian(linear_map, R) @ D.ravel() * 2.0 == pytest.approx(change, abs=1e-12)


@pytest.mark.parametrize("missed", [0.0, 1e-3])
def test_rounding_of_residuals_and_slopes_counts(missed, monkeypatch):
    """The radius is no less than what is missed at most; slopes that may vanish prove nothing."""
    variables = (PsdVariable("X", 2), VectorVariable("z", 1, True))
    side = {"X": Diagonal(2), "z": VectorMap(np.ones((2, 1)))}
    sdp = SDP(variables, {"X": Trace(2)}, (Rows("rows", "==", side, np.full(2, 1.5)),))

    def system():
        return factor._System(
            layout(sdp), {"X": np.eye(2)}, np.array([0.5]), np.ones(2, dtype=bool)
        )

    with monkeypatch.context() as patch:
        patch.setattr(factor._System, "_missed", lambda _: (np.full(2, missed), np.full(2, 1e-3)))
        exact, doubtful = system(), system()
        assert exact.is_solved(Effort())
        # The step from both rows' radii, against slopes of two and of a unit of the scalar.
        off = missed + 1e-3
        assert off * np.sqrt(2.0) / 2.5 <= exact.far <= 10.0 * off
        doubtful.z[:] = 1e-9
        assert not doubtful.is_solved(Effort())
    J, errors = system()._slopes()
    vague = sp.csr_array(sp.hstack([abs(J) * 1.01, sp.csr_array((2, 1))]))
    monkeypatch.setattr(factor._System, "_slopes", lambda _: (J, errors + vague))
    with pytest.raises(UnprovedError, match="depend"):
        system().is_solved(Effort())


@pytest.mark.parametrize("start", [2.0**-12, 1.2 * 2.0**-12, 1.7 * 2.0**-12, 0.8, 1.3])
@pytest.mark.parametrize("share", [-0.1, 0.1, 0.6, 0.99, 1.4, 1.9])
def test_a_root_is_proved_where_it_is_and_nowhere_else(start, share, monkeypatch):
    """X_22 = share * start^2, from the root ``start`` without a step, beside a point of length one.

    For small ones 4 kappa rho <= sigma^2 says that |1 - share| is less than 1, and half of that
    where half of sigma^2 is proved; for others the radius, at most half of a unit, ends it.
    """
    monkeypatch.setattr(factor, "_STEPS", 0)
    rows = (Rows("one", "==", {"X": Entries(2, [[1, 1]])}, np.array([share * start**2])),)
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows)
    R, solved = np.array([[1.0], [start]]), np.ones(1, dtype=bool)
    system = factor._System(layout(sdp), {"X": R}, np.zeros(0), solved)
    unit, is_solved = system.points["X"].units[1], system.is_solved(Effort())
    farthest = abs(1.0 - share) * start / unit
    assert is_solved == (abs(1.0 - share) < 0.49 and farthest < 0.34)
    if is_solved:
        assert abs(np.sqrt(share) - 1.0) * start <= system.far * unit
        assert system.far <= 1.5 * farthest
        assert system.candidate().points["X"].far == system.far


def test_steps_that_are_not_finite_are_not_taken():
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, ())
    system = factor._System(layout(sdp), {"X": np.eye(2)}, np.zeros(0), np.zeros(0, dtype=bool))
    before = system.points["X"]
    assert system._move(np.array([1.0, np.nan, 0.0, 0.0])) is False
    assert system.points["X"] is before
    assert system._move(np.array([1.0, 0.0, 0.0, 0.0])) is True
    assert system.points["X"].factor.tolist() == [[1.0 + before.units[0], 0.0], [0.0, 1.0]]


def test_without_equations_a_factor_is_exact():
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, ())
    found = solved_near(layout(sdp), {"X": np.eye(2)}, np.zeros(0), np.zeros(0, bool), Effort())
    assert found.points["X"].far == 0.0
    assert found.value() == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("signed", [True, False])
def test_units_of_scalars_change_no_radius(signed):
    far = []
    for unit in (1.0, 2.0**-20, 2.0**30):
        variables = (PsdVariable("X", 2), VectorVariable("z", 2, signed))
        side = {"X": Diagonal(2), "z": VectorMap(np.array([[3.0, 1.0], [1.0, -2.0]]) / unit)}
        sdp = SDP(variables, {"X": Trace(2)}, (Rows("rows", "==", side, np.array([1.5, 2.0])),))
        z, solved = unit * np.array([0.1, 0.25]), np.ones(2, dtype=bool)
        found = solved_near(layout(sdp), {"X": np.eye(2)}, z, solved, Effort())
        far.append(found.points["X"].far)
        assert np.all(found.moves <= unit * found.points["X"].far)
        assert np.all(found.z[:2] > found.moves) or not signed
    assert far == [far[0]] * 3


def test_radii_of_what_is_zero_are_no_less_than_zero():
    rows = (Rows("zero", "==", {"X": Entries(2, [[0, 1]])}, np.zeros(1)),)
    sdp, nothing = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows), np.zeros((2, 1))
    one, none = np.ones(1, dtype=bool), np.zeros(0)
    system = factor._System(layout(sdp), {"X": nothing}, none, one)
    missed, around = system._missed()
    assert not np.any(missed)
    assert np.all((around >= 0.0) & (around < 1e-200))
    assert np.all(error_of(Diagonal(2), system.points["X"]) >= 0.0)
    assert np.all(Candidate(layout(sdp), system.points, none, none, ~one).radius >= 0.0)


def test_the_work_of_a_factorization_is_counted_before_it_begins(monkeypatch):
    """More for more entries, for more products of them, and for more of the factor."""

    class Counting(Effort):
        def spend(self, operations):
            spent.append(operations)

    def work(J):
        spent.clear()
        factor._foresee(sp.csr_array(J), Counting())
        return tuple(spent)

    spent = []
    small, beside, full = (
        work(np.eye(3)),
        work(np.eye(3, 9) + np.eye(3, 9, 3)),
        work(np.ones((3, 3))),
    )
    assert 0.0 < small[0] < beside[0] < full[0]
    # As many entries in two columns meet in more products than in six.
    assert work(np.ones((3, 2)))[0] > beside[0]
    assert small[1] == beside[1] == 0.0 < full[1]
    monkeypatch.setattr(factor, "_MOST_PRODUCTS", 26.0)
    with pytest.raises(UnprovedError, match="3 equations meet"):
        work(np.ones((3, 3)))


# -- nothing is proved that is false ---------------------------------------------------------------


@pytest.mark.daily(3)
@pytest.mark.parametrize("above", [2.0**-52, 1e-12, 1e-6])
@pytest.mark.parametrize("lifted", [0.0, 1e-8, 1e-3])
def test_a_correlation_above_one_is_never_attained(above, lifted):
    """X_11 = X_22 = 1, X_12 = 1 + eps has no solution, however near points come to it."""
    places = Entries(2, [[0, 0], [1, 1], [0, 1]])
    rows = (Rows("all", "==", {"X": places}, np.array([1.0, 1.0, 1.0 + above])),)
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows)
    rng = np.random.default_rng(1)
    for _ in range(2):
        R = np.array([[1.0, 0.0], [1.0, 0.0]]) + lifted * rng.normal(size=(2, 2))
        assert attained(sdp, {"X": Factor(R)}, goal=2.0) is None


@pytest.mark.daily(2)
@pytest.mark.parametrize("below", [0.1, 1e-3, 2.0**-60])
@pytest.mark.parametrize("start", [1.0, 0.1])
def test_no_square_is_negative(start, below):
    """The condition of the proof is sharp here: a hair less and x^2 = -eps had a solution."""
    rows = (Rows("one", "==", {"X": Diagonal(1)}, np.array([-below])),)
    sdp = SDP((PsdVariable("X", 1),), {"X": Trace(1)}, rows)
    assert attained(sdp, {"X": Factor(np.array([[start]]))}, goal=-1.0) is None


@pytest.mark.daily(1)
@pytest.mark.parametrize("above", [2.0**-51, 1e-13, 1e-9])
def test_a_triangle_too_long_is_never_attained(above):
    edges = SquaredEdgeLengths(3, [[0, 1], [1, 2], [0, 2]])
    rows = (
        Rows("centred", "==", {"K": Products(3)}, np.zeros(3)),
        Rows("lengths", "==", {"K": edges}, np.array([1.0, 1.0, 4.0 + 4.0 * above])),
    )
    sdp = SDP((PsdVariable("K", 3),), {"K": -1.0 * Trace(3)}, rows, maximize=True)
    rng = np.random.default_rng(2)
    for size in (0.0, 1e-9, 1e-6, 1e-3):
        R = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]) + size * rng.normal(size=(3, 2))
        assert attained(sdp, {"K": Factor(R)}, goal=2.0) is None


@pytest.mark.daily(1)
@pytest.mark.parametrize("below", [2.0**-52, 1e-12, 1e-6])
def test_a_scalar_with_a_sign_is_never_negative(below):
    """X + z = 1, X - z = 1 + 2 eps make z negative, by as little as a rounding."""
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, True))
    side = {"X": Stacked([Diagonal(1), Diagonal(1)]), "z": VectorMap(np.array([[1.0], [-1.0]]))}
    for rhs, feasible in (([1.0, 1.0 + 2.0 * below], False), ([1.5, 0.5], True)):
        sdp = SDP(variables, {"X": Trace(1)}, (Rows("rows", "==", side, np.array(rhs)),))
        for z in (0.0, 1e-14, 1e-8, 0.4):
            given = {"X": Factor(np.array([[1.0 + below]])), "z": np.array([z])}
            assert (attained(sdp, given, goal=1.0) is not None) is (feasible and z > 0.1)


def test_dependent_equations_are_refused():
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, ())
    twice = Stacked([Diagonal(2), Diagonal(2)])
    rows = (Rows("twice", "==", {"X": twice}, np.ones(4)),)
    sdp = SDP(sdp.variables, sdp.objective, rows)
    with pytest.raises(UnprovedError, match="depend"):
        solved_near(layout(sdp), {"X": np.eye(2)}, np.zeros(0), np.ones(4, dtype=bool), Effort())


def test_an_equation_that_no_move_changes_is_refused():
    rows = (Rows("zero", "==", {"X": Diagonal(2)}, np.array([1.0, 0.0])),)
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows)
    near = {"X": np.array([[1.0], [0.0]])}
    with pytest.raises(UnprovedError):
        solved_near(layout(sdp), near, np.zeros(0), np.ones(2, dtype=bool), Effort())


# -- what is proved --------------------------------------------------------------------------------


def cut(weights):
    """The largest cut of a graph, relaxed."""
    L = np.diag(weights.sum(axis=1)) - weights
    n = len(L)
    rows = (Rows("ones", "==", {"X": Diagonal(n)}, np.ones(n)),)
    return SDP((PsdVariable("X", n),), {"X": InnerProduct(-L / 4.0)}, rows, maximize=True)


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-6, 1e-2])
def test_the_cut_of_a_pentagon(noise):
    ring = np.roll(np.eye(5), 1, axis=1)
    angle = 4.0 * np.pi / 5.0 * np.arange(5)
    R = np.column_stack([np.cos(angle), np.sin(angle)])
    R = R + noise * np.random.default_rng(4).normal(size=R.shape)
    best = 5.0 * (5.0 + np.sqrt(5.0)) / 8.0
    found = attained(cut(ring + ring.T), {"X": Factor(R)})
    assert best - 20.0 * noise**2 - 1e-13 <= found.value <= best * (1.0 + 1e-15)
    assert np.linalg.norm(found.values["X"].factor, axis=1) == pytest.approx(np.ones(5), abs=1e-15)


def test_the_least_eigenvalue_at_trace_one():
    values = np.array([-2.0, 1.0, 5.0])
    rows = (Rows("one", "==", {"X": Trace(3)}, np.ones(1)),)
    sdp = SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag(values))}, rows)
    found = attained(sdp, {"X": np.diag([1.001, 1e-9, 0.0])})
    assert -2.0 <= found.value <= -2.0 + 1e-8
    assert isinstance(found.values["X"], np.ndarray)


def band(unit):
    """Four points whose lengths have lower and upper limits, which bind, and a point near."""
    edges = SquaredEdgeLengths(4, [[0, 1], [1, 2], [2, 3], [0, 3]])
    rows = (
        Rows("centred", "==", {"K": Products(4)}, np.zeros(4)),
        Rows("above", "<=", {"K": edges}, np.array([1.0, 1.0, 1.0, 4.5]) * unit**2),
        Rows("below", "<=", {"K": -1.0 * edges}, np.array([-0.5, -0.5, -0.5, -4.0]) * unit**2),
    )
    sdp = SDP((PsdVariable("K", 4),), {"K": -1.0 * Trace(4)}, rows, maximize=True)
    half = np.sqrt(3.0) / 2.0
    R = np.array([[-1.0, 0.0], [-0.5, half], [0.5, half], [1.0, 0.0]])
    # The first length is too long and the last too short, so that no divisor will do.
    R = R - R.mean(axis=0) + 1e-7 * np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [-1.0, 0.0]])
    return sdp, {"K": Factor(R * unit)}


def test_short_rows_are_solved_as_equations():
    sdp, near = band(1.0)
    found = attained(sdp, near)
    assert found.argument == "a factor next to which all equations have a solution"
    K = found.values["K"].dense()
    seen = SquaredEdgeLengths(4, [[0, 1], [1, 2], [2, 3], [0, 3]]).apply(K)
    assert np.all(seen <= np.array([1.0, 1.0, 1.0, 4.5]) + 1e-14)
    assert np.all(seen >= np.array([0.5, 0.5, 0.5, 4.0]) - 1e-14)
    assert found.value == pytest.approx(np.trace(K), abs=1e-12)
    assert found.value <= np.trace(K)


@pytest.mark.parametrize("power", [-20, 30])
def test_units_change_nothing(power):
    unit = 2.0**power
    one, other = (attained(*band(scale)) for scale in (1.0, unit))
    assert other.value == pytest.approx(one.value * unit**2, rel=1e-13)
    assert other.argument == one.argument


def test_one_row_too_long_is_solved_where_shrinking_leads_too_far():
    n = 12
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    rows = (
        Rows("centred", "==", {"K": Products(n)}, np.zeros(n)),
        Rows("lengths", "<=", {"K": SquaredEdgeLengths(n, path)}, np.ones(n - 1)),
    )
    sdp = SDP((PsdVariable("K", n),), {"K": -1.0 * Trace(n)}, rows, maximize=True)
    places = np.arange(n) - (n - 1) / 2.0
    best, longer = float(places @ places), places.copy()
    longer[0] -= 0.01
    near = {"K": Factor(longer[:, None])}
    shrunk, solved = attained(sdp, near), attained(sdp, near, goal=best)
    assert shrunk.value == pytest.approx(best / 1.02, rel=2e-3)
    assert shrunk.value * 1.005 < solved.value <= best
    assert attained(sdp, near, goal=best, tol=0.1).value == shrunk.value


@pytest.mark.parametrize(
    ("relation", "side", "holds"), [("==", 0.0, True), ("==", 1.0, False), ("<=", -1.0, False)]
)
def test_a_row_without_variables_has_to_hold(relation, side, holds):
    rows = (
        Rows("void", relation, {}, np.array([side])),
        Rows("unit", "==", {"X": Diagonal(2)}, np.ones(2)),
    )
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows)
    assert (attained(sdp, {"X": np.eye(2)}) is not None) is holds


def test_several_matrices_and_scalars_share_equations():
    total = Diagonal(2)
    rows = (
        Rows(
            "sum",
            "==",
            {"X": Diagonal(2), "Y": Diagonal(2), "t": VectorMap(np.eye(2))},
            np.full(2, 3.0),
        ),
        Rows("tie", "==", {"t": VectorMap(np.array([[1.0, -1.0]]))}, np.zeros(1)),
    )
    variables = (PsdVariable("X", 2), PsdVariable("Y", 2), VectorVariable("t", 2, True))
    sdp = SDP(variables, {"X": Trace(2), "t": VectorMap(np.ones((1, 2)))}, rows)
    near = {"X": np.eye(2) + 1e-5, "Y": Factor(np.eye(2)), "t": np.array([1.00001, 0.99999])}
    found = attained(sdp, near)
    assert found.values["t"] == pytest.approx(np.full(2, found.values["t"][0]), abs=1e-14)
    total = np.diagonal(found.values["X"]) + found.values["Y"].diagonal() + found.values["t"]
    assert total == pytest.approx(np.full(2, 3.0), abs=1e-14)


def test_a_fake_point_is_refused():
    sdp, near = band(1.0)
    far = {"K": Factor(np.random.default_rng(5).normal(size=(4, 2)))}
    found = attained(sdp, far)
    assert found is None or found.value <= attained(sdp, near).value + 1e-6
    assert attained(sdp, {"K": Factor(np.full((4, 2), np.nan))}) is None
    assert attained(sdp, {}) is None


def test_scalars_alone_have_a_value_at_any_size():
    # The nearest nonnegative sum: C w = b - s, of thousands of squares, with w >= 0.
    rng = np.random.default_rng(0)
    C, b = rng.random((3000, 3)), rng.random(3000)
    w = scalar("w", 3)
    model = minimize(sum_squares(C @ w - b)) + (w >= 0)
    exact = nnls(C, b)[1] ** 2
    found = attained(model.to_sdp(), sdpdr.solve(model).values)
    assert exact * (1.0 - 1e-12) <= found.value <= exact * (1.0 + 1e-6)


def test_rows_that_come_one_by_one_are_taken_together():
    """As cvxpy hands them over: the layout is that of one group, and so is the value."""
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (4, 10)).astype(float)
    R = rng.normal(size=(4, 2))
    rhs = SvecMap(4, sp.csr_array(a)).apply_factor(R)
    single = [
        Rows(f"r{k}", relation, {"X": SvecMap(4, sp.csr_array(a[[k]]))}, rhs[[k]])
        for k, relation in enumerate(["==", "==", "<=", "<="])
    ]
    pairs = [
        Rows(
            f"p{k}", single[k].relation, {"X": SvecMap(4, sp.csr_array(a[k : k + 2]))}, rhs[k:][:2]
        )
        for k in (0, 2)
    ]
    one, two = (
        SDP((PsdVariable("X", 4),), {"X": Trace(4)}, tuple(rows)) for rows in (single, pairs)
    )
    assert [rows.m for rows in layout(one).groups] == [2, 2]
    np.testing.assert_array_equal(layout(one).b, rhs)
    np.testing.assert_array_equal(layout(one).equal, [True, True, False, False])
    near = {"X": Factor(R)}
    assert attained(one, near).value == attained(two, near).value
