"""Units of programs: what is proved is the same in all of them."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status
from sdpdr.certify.exposing import _Search, stacked
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    Around,
    Piece,
    build,
)
from sdpdr.certify.units import Units

RNG = np.random.default_rng(0)


def random_program(seed, lengths=0.0):
    """A program over three kinds of cones; its unknowns in powers of two up to some exponent."""
    rng = np.random.default_rng(seed)
    n, order = 7, 3
    columns = 2.0 ** np.rint(lengths * rng.uniform(-1.0, 1.0, n))
    rows = 2.0 ** np.rint(lengths * rng.uniform(-1.0, 1.0, 2))
    congruence = 2.0 ** np.rint(lengths * rng.uniform(-1.0, 1.0, order))
    cone, price = 2.0 ** np.rint(lengths * rng.uniform(-1.0, 1.0, 2))
    j, i = np.tril_indices(order)
    of_matrix = congruence[i] * congruence[j]
    draw = np.random.default_rng(seed + 100)
    E, f = draw.normal(size=(2, n)), draw.normal(size=2)
    S, b = draw.normal(size=(6, n)), draw.normal(size=6)
    Q, q = draw.normal(size=(3, n)), draw.normal(size=3)
    N, h = draw.normal(size=(2, n)), draw.normal(size=2)

    def piece(kind, size, A, b, scale):
        return Piece(kind, size, sp.csr_array(scale[:, None] * A * columns), scale * b)

    pieces = [
        piece(NONNEGATIVE, 1, N, h, rows),
        piece(SECOND_ORDER, 3, Q, q, np.full(3, cone)),
        piece(SEMIDEFINITE, order, S, b, of_matrix),
    ]
    c = price * draw.normal(size=n) * columns
    E, f = sp.csr_array(rows[:, None] * E * columns), rows * f
    return build(c, E, f, pieces)


@pytest.mark.parametrize("seed", range(3))
def test_the_program_in_its_own_units_is_the_same_whatever_units_it_was_given_in(seed):
    one, other = (random_program(seed, lengths) for lengths in (0.0, 20.0))
    own, same = (Units.of(program).program(program) for program in (one, other))
    for name in ("c", "f", "b"):
        np.testing.assert_array_equal(getattr(own, name), getattr(same, name))
    np.testing.assert_array_equal(own.E.toarray(), same.E.toarray())
    np.testing.assert_array_equal(own.A.toarray(), same.A.toarray())


def two_parts(axes, unknowns, equations, lengths, price):
    """A matrix that is a variable, confined by equations, beside two limited numbers.

    Axes of the matrix, the numbers, the equations, the lengths of both parts and the price are in
    powers of two with these exponents.
    """
    draw = np.random.default_rng(5)
    j, i = np.tril_indices(3)
    E, f, N, h = (draw.normal(size=size) for size in ((2, 6), 2, (3, 2), 3))
    N[0, 1] = 1e-17  # beside the other one, as good as zero
    c = draw.normal(size=8) * 2.0**price
    size = 2.0 ** np.array(axes)
    C = np.concatenate([1.0 / (size[i] * size[j]), 2.0 ** np.array(unknowns)])
    E = 2.0 ** np.array(equations)[:, None] * np.hstack([E, np.zeros((2, 2))]) * C
    N = np.hstack([np.zeros((3, 6)), N]) * C
    one, other = 2.0 ** np.array(lengths)
    pieces = [
        Piece(NONNEGATIVE, 1, sp.csr_array(N), other * h),
        Piece(SEMIDEFINITE, 3, -sp.eye_array(6, 8), np.zeros(6)),
    ]
    f = one * 2.0 ** np.array(equations) * f
    c = c * C / np.concatenate([np.full(6, one), np.full(2, other)])
    return build(c, sp.csr_array(E), f, pieces, offset=3.0 * 2.0**price)


def on_axes(exponents):
    """Three equations of a 3 x 3 matrix whose rows have units of their own."""
    i, j = np.array([[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]])
    i, j = i[[0, 1, 3, 2, 4, 5]], j[[0, 1, 3, 2, 4, 5]]
    E = np.random.default_rng(1).choice([-2.0, -1.0, 1.0, 2.0], (3, 6))
    size = 2.0 ** np.array(exponents)
    cone = Piece(SEMIDEFINITE, 3, -sp.eye_array(6), np.zeros(6))
    return build(np.ones(6), sp.csr_array(E / (size[i] * size[j])), np.ones(3), [cone])


@pytest.mark.parametrize("wide", [9, 40, 60])
def test_small_numbers_tell_units_where_all_are_explained_by_them(wide):
    """However far apart: beside the largest they are no rounding then."""
    given, turned = (Units.of(on_axes(e)).program(on_axes(e)) for e in ([0] * 3, [-wide, 0, wide]))
    np.testing.assert_array_equal(given.E.toarray(), turned.E.toarray())
    noise = on_axes([0] * 3)
    noise.E.data[1] = 1e-17
    assert np.max(np.abs(Units.of(noise).program(noise).E.data)) <= 4.0


@pytest.mark.parametrize(
    ("kind", "size", "left"), [(NONNEGATIVE, 1, [1.0, 1.0]), (SEMIDEFINITE, 2, [1.0, 2.0**-20])]
)
def test_all_rows_of_a_matrix_have_one_length_and_numbers_their_own(kind, size, left):
    """Two limits that share no unknown, as numbers and on the diagonal of a matrix."""
    rows = [0, 1] if kind == NONNEGATIVE else [0, 2]
    A, b = np.zeros((rows[1] + 1, 2)), np.zeros(rows[1] + 1)
    A[rows, [0, 1]], b[rows] = -1.0, [-(2.0**20), -1.0]
    nothing = sp.csr_array((0, 2)), np.zeros(0)
    program = build(np.ones(2), *nothing, [Piece(kind, size, sp.csr_array(A), b)])
    own = Units.of(program).program(program)
    assert (-own.b[rows]).tolist() == left


@pytest.mark.parametrize(
    "exponents",
    [
        ([4, -7, 9], [0, 0], [0, 0], [0, 0], 0),
        ([0, 0, 0], [5, -8], [3, -11], [0, 0], 9),
        ([0, 0, 0], [0, 0], [0, 0], [12, 0], 0),
        ([0, 0, 0], [0, 0], [0, 0], [0, 12], -5),
        ([-3, 1, 2], [2, 3], [-4, 4], [-10, 7], 1),
    ],
    ids=["axes", "unknowns", "the matrix", "the numbers", "all"],
)
def test_parts_that_share_nothing_have_lengths_of_their_own(exponents):
    one, other = two_parts([0, 0, 0], [0, 0], [0, 0], [0, 0], 0), two_parts(*exponents)
    own, same = (Units.of(program).program(program) for program in (one, other))
    for name in ("c", "f", "b", "offset"):
        np.testing.assert_array_equal(getattr(own, name), getattr(same, name), name)
    np.testing.assert_array_equal(own.E.toarray(), same.E.toarray())
    np.testing.assert_array_equal(own.A.toarray(), same.A.toarray())
    # Entries are nearest to one in the mean of logarithms, and sides in each part.
    for entries in (own.E.data, own.A.data[np.abs(own.A.data) > 1e-10], own.f, own.b[:3]):
        assert 0.1 <= np.max(np.abs(entries)) <= 8.0
    assert 0.5 <= np.max(np.abs(np.concatenate([own.f, own.b]))) <= 2.0
    assert 0.5 <= np.max(np.abs(own.c)) <= 2.0


def test_logarithms_have_no_unit_and_numbers_that_would_vanish_keep_theirs():
    above = Piece(EXPONENTIAL, 3, -64.0 * sp.eye_array(3), np.array([8.0, 16.0, 0.0]))
    program = build(np.full(3, 4.0), sp.csr_array((0, 3)), np.zeros(0), [above])
    units = Units.of(program)
    assert (units.length, units.coefficient) == (1.0, 1.0)
    assert (set(units.unknowns), set(units.cones)) == ({1.0}, {1.0})
    above = Piece(NONNEGATIVE, 1, -64.0 * sp.eye_array(1), np.zeros(1))
    program = build(np.zeros(1), sp.csr_array((0, 1)), np.zeros(0), [above])
    assert (Units.of(program).length, Units.of(program).coefficient) == (1.0, 1.0)
    wide = Piece(NONNEGATIVE, 2, sp.csr_array([[1.0, 1e-320], [0.0, 1.0]]), np.array([1e300, 1.0]))
    program = build(np.ones(2), sp.csr_array((0, 2)), np.zeros(0), [wide])
    units = Units.of(program)
    assert units.are_exact(program)


@pytest.mark.parametrize("lengths", [0.0, 20.0])
def test_units_are_powers_of_two_and_points_and_multipliers_mean_the_same_in_them(lengths):
    program = random_program(1, lengths)
    units = Units.of(program)
    own = units.program(program)
    for v in (units.unknowns, units.equations, units.cones, [units.length, units.coefficient]):
        assert np.all(np.frexp(v)[0] == 0.5)
    x, z = RNG.normal(size=program.c.size), RNG.normal(size=program.f.size + program.b.size)
    u, y = units.point(x), units.multipliers(z)
    np.testing.assert_array_equal(units.given_point(u), x)
    np.testing.assert_array_equal(units.given_multipliers(y), z)
    m = program.f.size
    assert own.c @ u * units.cost == pytest.approx(program.c @ x, rel=1e-12)
    right = np.concatenate([program.f, program.b]) @ z
    mine = np.concatenate([own.f, own.b]) @ y
    assert mine * units.cost == pytest.approx(right, rel=1e-12)
    left = program.c + program.E.T @ z[:m] + program.A.T @ z[m:]
    np.testing.assert_allclose(
        units.given_costs(own.c + own.E.T @ y[:m] + own.A.T @ y[m:]),
        left,
        atol=1e-12 * np.max(np.abs(left)),
    )
    # On a matrix cone the units are a multiple of a congruence.
    part, (j, i) = own.parts[-1], np.tril_indices(3)
    scale = units.cones[part.rows]
    assert np.array_equal(scale[0] * part.units[i] * part.units[j], scale)


def test_radii_of_rounded_numbers_are_in_the_same_units():
    program = random_program(2, 10.0)
    radii = Around(
        np.full(7, 1e-9),
        sp.csr_array(np.full((2, 8), 1e-9)),
        sp.csr_array(np.full((program.b.size, 8), 1e-9)),
    )
    units = Units.of(program)
    own = units.program(replace(program, around=radii))
    shares = own.around.A.toarray()[:, :-1] / abs(own.A).toarray()
    np.testing.assert_allclose(shares, 1e-9 / abs(program.A).toarray())
    np.testing.assert_allclose(own.around.c / abs(own.c), 1e-9 / abs(program.c))
    right = own.around.E.toarray()[:, -1] / abs(own.f)
    np.testing.assert_allclose(right, 1e-9 / abs(program.f))


def localisation(unit):
    """Range differences to four anchors, lifted: the squares of misfits, whose optimum is zero."""
    anchors = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [20.0, 20.0]]) * unit
    target = np.array([1.0, 1.0]) * unit
    ranges = np.linalg.norm(anchors - target, axis=1)
    rows = []
    for k in (1, 2, 3):
        apart = ranges[k] - ranges[0]
        w = np.r_[2.0 * (anchors[0] - anchors[k]), -2.0 * apart, 0.0, 0.0]
        rows.append(np.r_[w, -(apart**2 + anchors[0] @ anchors[0] - anchors[k] @ anchors[k])])
    rows.append(unit * np.r_[0.0, 0.0, -1.0, 1.0, 0.0, -(ranges[1] - ranges[0])])
    squares = [np.outer(row, row) for row in rows]
    Z, t = cp.Variable((6, 6), PSD=True), cp.Variable(4)
    limits = [cp.trace(square @ Z) <= t[k] for k, square in enumerate(squares)]
    return cp.Problem(cp.Minimize(cp.sum(t)), [Z[5, 5] == 1, *limits]), max(map(np.max, squares))


@pytest.mark.parametrize(
    "unit", [1000.0, *(pytest.param(u, marks=pytest.mark.nightly) for u in (1.0, 1.0 / 1024.0))]
)
def test_an_optimum_of_zero_is_known_to_a_millionth_of_the_data_in_every_unit(unit):
    problem, largest = localisation(unit)
    solution = sdpdr.solve(sdpdr.from_cvxpy(problem))
    assert solution.bound <= 1e-12 * largest
    assert -1e-12 * largest <= solution.attained - solution.bound <= 1e-6 * largest
    again = sdpdr.solve(sdpdr.from_cvxpy(problem), gap_scale=largest)
    assert again.status is Status.SOLVED


@pytest.mark.nightly
@pytest.mark.parametrize("isometric", [True, False])
def test_the_relaxed_distance_of_two_clouds_has_a_point_where_nothing_has_interior(isometric):
    """Gromov-Wasserstein: equations state a face of matrices of order 17 only together."""
    rng, n = np.random.default_rng(0), 4
    points, others = rng.normal(size=(2, n, 2))
    others = points[rng.permutation(n)] if isometric else others
    C, D = (np.linalg.norm(P[:, None] - P, axis=2) for P in (points, others))
    cost = (C[:, None, :, None] - D[None, :, None, :]) ** 2
    Y = cp.Variable((n * n + 1, n * n + 1), PSD=True)
    x, X = Y[0, 1:], Y[1:, 1:]
    sums = np.concatenate([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    limits = [Y[0, 0] == 1, X >= 0]
    for row in sums:
        limits += [row @ x == 1 / n, X @ row == x / n]
    size = cost.reshape(n * n, n * n)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(size, X))), limits)
    solution = sdpdr.solve(sdpdr.from_cvxpy(problem))
    assert solution.attained - solution.bound <= 1e-6 * max(1e-2, solution.attained)
    assert (solution.status is Status.SOLVED) != isometric


@pytest.mark.parametrize("side", ["primal", "dual"])
@pytest.mark.parametrize("ray", [True, False])
def test_searches_for_faces_and_rays_know_the_radii_of_their_program(side, ray):
    program = random_program(3)
    k, m, n = program.b.size, program.f.size, program.c.size
    around = Around(
        np.full(n, 1e-9),
        sp.csr_array(np.full((m, n + 1), 1e-8)),
        sp.csr_array(np.full((k, n + 1), 1e-7)),
    )
    program = replace(program, around=around)
    search = _Search(program, side, ray=ray)
    whole = search.over(program.pieces(), stacked([], n))
    found = whole.around
    E, A = found.E.toarray(), found.A.toarray()
    assert E.shape[1] == A.shape[1] == whole.c.size + 1
    assert E.shape[0] == whole.f.size
    if side == "primal":
        # Right sides have become a column.
        assert np.all(E[:, : n + 1] == 1e-8)
        assert np.all(A[:, : n + 1] == 1e-7)
    else:
        assert np.all(E[:m, :n] == 1e-8)
        assert np.all(E[m, :n] == 1e-9)
        assert np.all(A[:, :n] == 1e-7)
        assert not np.any(E[:, n])
        assert not np.any(A[:, n])
