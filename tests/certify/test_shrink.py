"""Points held or shrunk are feasible and have the value claimed: against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr import graphs, methods
from sdpdr.base.deadline import Deadline, Effort
from sdpdr.certify.attained import attained
from sdpdr.certify.factor import solved_near
from sdpdr.certify.near import Near, error_of, objective_above, terms_of
from sdpdr.certify.shrink import Candidate, shrunk
from sdpdr.certify.slack import layout
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    Stacked,
    Trace,
    VectorMap,
)
from sdpdr.linalg.maps.given import SvecMap
from sdpdr.program.point import Factor, PsdVariable, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP

from ..truth.exact import fractions

ORDER = 4


def candidate(sdp, factor, z=(), solved=None):
    """A point of one matrix as it is."""
    found, z = layout(sdp), np.array(z, dtype=float)
    solved = np.zeros(found.b.size, dtype=bool) if solved is None else solved
    name = sdp.psd_variables[0].name
    return Candidate(found, {name: Near.of(factor)}, z, np.zeros(z.size), solved)


# -- what rows may be near a factor ----------------------------------------------------------------

EDGES = np.array([[0, 1], [1, 2], [0, 3]])
RNG = np.random.default_rng(3)
LEFT, RIGHT = RNG.normal(size=(3, ORDER)), RNG.normal(size=(3, ORDER))
SYMMETRIC = np.round(8.0 * (LEFT.T @ RIGHT + RIGHT.T @ LEFT)) / 8.0


def lengths(edges):
    """Matrices of squared lengths."""
    found = np.zeros((len(edges), ORDER, ORDER))
    for A, (i, j) in zip(found, edges, strict=True):
        A[[i, j], [i, j]], A[[i, j], [j, i]] = 1.0, -1.0
    return fractions(found)


def forms(left, right):
    """Matrices of bilinear forms."""
    left, right = fractions(left), fractions(right)
    outer = left[:, :, None] * right[:, None, :]
    return (outer + outer.transpose(0, 2, 1)) / 2


UNIT = np.eye(ORDER)
MAPS = {
    "lengths": (SquaredEdgeLengths(ORDER, EDGES), lengths(EDGES)),
    "differences of lengths": (
        SquaredEdgeLengths(ORDER, EDGES[:1]) - 3.0 * SquaredEdgeLengths(ORDER, EDGES[1:2]),
        lengths(EDGES[:1]) - 3 * lengths(EDGES[1:2]),
    ),
    "weighted lengths": (
        0.3 * SquaredEdgeLengths(ORDER, EDGES),
        Fraction(0.3) * lengths(EDGES),
    ),
    "weighted sums": (
        LEFT @ Diagonal(ORDER),
        np.tensordot(fractions(LEFT), forms(UNIT, UNIT), axes=1),
    ),
    "bilinear forms": (BilinearForms(LEFT, RIGHT), forms(LEFT, RIGHT)),
    "an inner product": (InnerProduct(SYMMETRIC), fractions(SYMMETRIC)[None]),
    "a trace": (Trace(ORDER), fractions(UNIT)[None]),
    "products": (Products(ORDER, LEFT[0]), forms(UNIT, np.tile(LEFT[0], (ORDER, 1)))),
    "stacked": (
        Stacked([Diagonal(ORDER), Entries(ORDER, EDGES)]),
        np.concatenate([forms(UNIT, UNIT), forms(UNIT[EDGES[:, 0]], UNIT[EDGES[:, 1]])]),
    ),
    "a sum": (
        Diagonal(ORDER) + Products(ORDER, LEFT[1]),
        forms(UNIT, UNIT) + forms(UNIT, np.tile(LEFT[1], (ORDER, 1))),
    ),
    "entries of matrices": (
        SvecMap.from_entries(ORDER, 1, [0, 0], np.array([0, 1]), np.array([0, 3]), [3.0, 0.7]),
        np.sum(forms(UNIT[[0, 1, 1]], np.array([3.0, 0.7, 0.7])[:, None] * UNIT[[0, 3, 3]]), 0)[
            None
        ],
    ),
}


@pytest.mark.daily(11)
@pytest.mark.parametrize("far", [0.0, 1e-3])
@pytest.mark.parametrize("name", MAPS)
def test_rows_differ_by_no_more_than_is_said(name, far):
    linear_map, matrices = MAPS[name]
    rng = np.random.default_rng(len(name))
    rounded = 0
    for _ in range(20):
        factor = rng.normal(size=(ORDER, 2)) * 4.0 ** rng.integers(-2, 3, (ORDER, 1))
        near = Near.of(factor)
        near = Near(factor, near.units, far)
        values, error, R = linear_map.apply_factor(factor), error_of(linear_map, near), None
        for e, A in enumerate(matrices):
            # The move of one point that changes the row most, as long as the radius allows.
            R = fractions(factor)
            slope = (np.array(A, dtype=float) @ factor) * near.units[:, None]
            i = int(np.argmax(np.linalg.norm(slope, axis=1)))
            way = slope[i] / np.linalg.norm(slope[i]) if np.any(slope[i]) else np.array([1.0, 0.0])
            R[i] = R[i] + fractions(way * (1.0 - 1e-9) * far * near.units[i])
            exactly = np.sum(A * (R @ R.T))
            assert abs(Fraction(float(values[e])) - exactly) <= Fraction(float(error[e]))
            rounded += exactly != Fraction(float(values[e]))
        assert np.all(error <= 1e-12 * 16**3 + 100.0 * far * np.max(near.units) ** 2 * 16)
    assert rounded


def test_operations_of_maps_of_maps_are_those_of_their_parts():
    one, other = Diagonal(ORDER), SquaredEdgeLengths(ORDER, EDGES)
    counts = [terms_of(part, 2) for part in (one, other)]
    assert counts[0] < terms_of(one, 3) <= counts[0] + 2
    assert terms_of(Stacked([one, other]), 2) == max(counts)
    assert terms_of(Stacked([other, one]), 2) == max(counts)
    both = Diagonal(ORDER) + Products(ORDER, LEFT[1])
    parts = [terms_of(part, 2) for part in both.maps]
    assert sum(parts) < terms_of(both, 2) <= sum(parts) + 2
    weighted = LEFT @ Diagonal(ORDER)
    assert counts[0] + ORDER <= terms_of(weighted, 2) <= counts[0] + ORDER + 3
    # Products of both vectors, whichever is longer, and a row of a factor.
    for left, right in ((1, 4), (4, 4), (4, 1)):
        forms = BilinearForms(
            LEFT[:1] * (np.arange(ORDER) < left), RIGHT[:1] * (np.arange(ORDER) < right)
        )
        assert left + right + 2 <= terms_of(forms, 2) <= left + right + 16


def test_units_of_points_are_about_as_long_as_these():
    """Within a thousandth of the longest, and the same beside a factor in other units."""
    rng = np.random.default_rng(0)
    R = rng.normal(size=(6, 2)) * 10.0 ** np.array([[0.0], [-1.0], [-2.0], [-6.0], [2.0], [1.0]])
    near, lengths = Near.of(R), np.linalg.norm(R, axis=1)
    least = np.maximum(lengths, lengths.max() / 2**10)
    assert np.all((near.units <= 1.5 * least) & (least <= 1.5 * near.units))
    assert np.all(np.frexp(near.units)[0] == 0.5)
    np.testing.assert_array_equal(Near.of(2.0**-40 * R).units, 2.0**-40 * near.units)
    assert Near.of(0.0 * R).units.tolist() == [2.0**-10] * 6


@pytest.mark.parametrize("far", [0.0, 1e-4])
def test_objectives_are_no_more_than_is_said(far):
    """The worst move, along the slope in units of points, is nearly reached."""
    rng = np.random.default_rng(9)
    rows = (Rows("one", "==", {"X": Trace(ORDER)}, np.ones(1)),)
    sdp = SDP((PsdVariable("X", ORDER),), {"X": InnerProduct(SYMMETRIC)}, rows)
    for _ in range(40):
        factor = rng.normal(size=(ORDER, 2)) * 4.0 ** rng.integers(-2, 3, (ORDER, 1))
        near = Near.of(factor)
        slope = near.units[:, None] * (SYMMETRIC @ factor)
        move = (1.0 - 1e-9) * far * near.units[:, None] * slope / np.linalg.norm(slope)
        R = fractions(factor) + fractions(move)
        exactly = np.sum(fractions(SYMMETRIC) * (R @ R.T))
        above = objective_above(sdp, "X", Near(factor, near.units, far))
        assert exactly <= Fraction(above)
        assert above - float(exactly) <= 1e-11 * 16**3 + 0.1 * far * np.linalg.norm(slope)


# -- unfoldings ------------------------------------------------------------------------------------


@pytest.mark.daily(4)
@pytest.mark.parametrize("unit", [1.0, 2.0**-30, 2.0**20])
@pytest.mark.parametrize("noise", [0.0, 1e-15, 1e-9, 1e-3])
def test_a_shrunk_unfolding_is_attained_exactly(noise, unit):
    rng = np.random.default_rng(5)
    steps = np.round(rng.uniform(1.0, 2.0, 6), 3)
    sdp = methods.mvu(graphs.path((steps * unit).tolist())).to_sdp()
    places = np.concatenate([[0.0], np.cumsum(steps)]) * unit
    places = np.column_stack([places - places.mean(), 0.0 * places])
    turned = places @ np.linalg.qr(rng.normal(size=(2, 2)))[0]
    given = turned * (1.0 + noise) + noise * unit * rng.normal(size=turned.shape)
    found = attained(sdp, {"K": Factor(given)})
    assert found is not None
    assert isinstance(found.values["K"], Factor)
    # The point meant is the one stored, moved so that its mean vanishes.
    R = fractions(found.values["K"].factor)
    R = R - np.sum(R, axis=0) / len(R)
    edges = R[1:] - R[:-1]
    rhs = fractions(next(r.rhs for r in sdp.rows if r.relation == "<="))
    assert np.all(np.sum(edges * edges, axis=1) <= rhs)
    assert np.sum(R * R) >= Fraction(found.value)
    exactly = fractions(places[:, 0])
    exactly = exactly - np.sum(exactly) / len(exactly)
    best = float(np.sum(exactly * exactly))
    assert best * (1.0 - 1e-12 - 40.0 * noise) <= found.value <= best


def test_a_diagonal_holds_by_more_than_one_rounding():
    rng = np.random.default_rng(8)
    noticed = 0
    for _ in range(20):
        factor = rng.normal(size=(1, 6))
        # What is computed is the limit itself; half of the exact sums are above it.
        limit = Diagonal(1).apply_factor(factor)
        cost = {"X": -1.0 * Trace(1)}
        sdp = SDP((PsdVariable("X", 1),), cost, (Rows("limit", "<=", {"X": Diagonal(1)}, limit),))
        given = candidate(sdp, factor)
        exactly = np.sum(fractions(factor) ** 2)
        if exactly > Fraction(float(limit[0])):
            assert given.short.all()
            noticed += 1
        found, divisor = shrunk(given)
        stored = found.points["X"].factor
        assert np.sum(fractions(stored) ** 2) <= Fraction(float(limit[0]))
        assert -np.sum(fractions(stored) ** 2) <= Fraction(found.value())
        assert divisor < 1.0 + 1e-13
    assert noticed > 4


def test_what_leaves_room_is_held_as_it_is():
    sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    found = attained(sdp, {"K": Factor(np.array([[-0.999], [0.0], [0.999]]))})
    assert found.argument == "every inequality holds by more than its rounding"
    assert found.values["K"].factor.ravel().tolist() == [-0.999, 0.0, 0.999]


@pytest.mark.parametrize("floor", [0.5, 0.9999999])
def test_lower_limits_hold_after_shrinking_or_nothing_is_said(floor):
    X = Diagonal(1)
    rows = (
        Rows("above", "<=", {"X": X}, np.ones(1)),
        Rows("below", "<=", {"X": -1.0 * X}, np.array([-floor])),
    )
    sdp = SDP((PsdVariable("X", 1),), {"X": X}, rows)
    found = shrunk(candidate(sdp, np.array([[1.001]])))
    assert found is not None
    assert found[0].points["X"].factor[0, 0] ** 2 >= floor
    assert shrunk(candidate(sdp, np.array([[0.9 * floor]]))) is None


def test_scalars_that_only_lower_rows_hold_after_shrinking():
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, True))
    side = {"X": -1.0 * Diagonal(1), "z": VectorMap(-np.ones((1, 1)))}
    sdp = SDP(variables, {"X": Trace(1)}, (Rows("row", "==", side, -np.ones(1)),))
    found, divisor = shrunk(candidate(sdp, np.array([[1.001]]), [0.0]))
    assert 1.002 < divisor < 1.0020011
    assert 0.0 <= found.scalars()[0][0] < 1e-12


def test_nothing_is_shrunk_beside_equations_with_right_sides():
    rows = (
        Rows("one", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1)),
        Rows("limit", "<=", {"X": Entries(2, [[1, 1]])}, np.ones(1)),
    )
    sdp = SDP((PsdVariable("X", 2),), {"X": Trace(2)}, rows)
    found = layout(sdp)
    given = candidate(sdp, np.diag([1.0, 1.1]), solved=found.demands)
    assert given.short.tolist() == [False, True]
    assert shrunk(given) is None


def test_division_adds_its_rounding_to_the_radius():
    rng = np.random.default_rng(11)
    sdp = SDP((PsdVariable("X", 3),), {"X": Trace(3)}, ())
    none, divisor = np.zeros(0), 3.0
    for _ in range(20):
        near = Near.of(rng.normal(size=(3, 2)) * [[1.0], [2.0**-6], [2.0**-9]])
        given = {"X": Near(near.factor, near.units, 1e-18)}
        whole = Candidate(layout(sdp), given, none, none, np.zeros(0, dtype=bool))
        found = whole.divided(divisor).points["X"]
        exactly = fractions(near.factor) / Fraction(float(np.sqrt(divisor)))
        off = (exactly - fractions(found.factor)) / fractions(near.units)[:, None]
        assert 0 < np.sum(off * off) <= Fraction(found.far) ** 2
        assert 1e-18 < found.far < 1e-14


def test_scalars_of_a_shrunk_point_are_returned_with_it():
    limits = {"X": Diagonal(2), "z": VectorMap([[-1.0], [0.0]])}
    variables = (PsdVariable("X", 2), VectorVariable("z", 1, nonnegative=True))
    cost = {"X": -1.0 * Trace(2), "z": VectorMap([[3.0]])}
    sdp = SDP(variables, cost, (Rows("limits", "<=", limits, np.ones(2)),))
    found = attained(sdp, {"X": np.diag([2.2, 1.1]), "z": np.zeros(1)})
    assert found.values["z"] == pytest.approx(np.ones(1), rel=1e-9)
    assert sdp.primal_value(found.values) == pytest.approx(found.value, rel=1e-9)


def test_scalars_beside_rows_that_are_solved_are_returned_as_well():
    """The second row is short, and a right side of an equation keeps it from being shrunk."""
    limits = {"X": Diagonal(3)[[1, 2]], "z": VectorMap([[0.0], [-1.0]])}
    variables = (PsdVariable("X", 3), VectorVariable("z", 1, nonnegative=True))
    cost = {"X": -1.0 * Trace(3), "z": VectorMap([[3.0]])}
    one = Rows("one", "==", {"X": Entries(3, [[0, 0]])}, np.ones(1))
    sdp = SDP(variables, cost, (one, Rows("limits", "<=", limits, np.ones(2))))
    found = attained(sdp, {"X": np.diag([1.0, 1.1, 2.0]), "z": np.zeros(1)})
    assert found.values["z"] == pytest.approx(np.ones(1), rel=1e-9)
    assert sdp.primal_value(found.values) == pytest.approx(found.value, rel=1e-9)


def test_points_that_are_exactly_on_their_face_are_within_the_radius_after_a_division():
    # Every sum of coordinates is zero, and is not after the division by the root of 26.
    sdp, none = methods.mvu(graphs.path([1.0, 1.0])).to_sdp(), np.zeros(0)
    found, factor = layout(sdp), np.array([[-3.0, 1.0], [1.0, 2.0], [2.0, -3.0]])
    given = solved_near(found, {"K": factor}, none, found.demands, Effort())
    near = shrunk(given)[0].points["K"]
    sums = np.sum(fractions(near.factor), axis=0)
    nearest = np.sum(sums**2) / np.sum(fractions(near.units) ** 2)
    assert 0 < nearest <= Fraction(near.far) ** 2


def test_division_of_scalars_adds_its_rounding_to_their_radii():
    rng, none = np.random.default_rng(12), np.zeros(0, dtype=bool)
    sdp = SDP((PsdVariable("X", 1), VectorVariable("z", 4)), {"X": Trace(1)}, ())
    z, moves = rng.normal(size=4), np.array([0.0, 1e-17, 1e-12, 0.1])
    given = Candidate(layout(sdp), {"X": Near.of(np.eye(1))}, z, moves, none)
    found = given.divided(3.0)
    off = abs(fractions(z) / 3 - fractions(found.z)) + fractions(moves) / 3
    assert np.all((off <= fractions(found.moves))[moves > 0.0])
    assert np.all(found.moves <= moves + 1e-14 * (moves > 0.0))


def test_the_origin_is_a_point_where_nothing_is_better():
    sdp = SDP(
        (PsdVariable("X", 2),),
        {"X": Trace(2)},
        (Rows("signs", "<=", {"X": -1.0 * Entries(2, [[0, 1]])}, np.zeros(1)),),
        constant=3.0,
    )
    found = attained(sdp, {"X": np.diag([1e-9, 1e-9])})
    assert found.value == 3.0
    assert not np.any(found.values["X"])


# -- scalars that give way -------------------------------------------------------------------------

# Coefficients, costs, curvatures and signs of the scalars of one row, and its relation.
GIVING = {
    "a residual": ([2.0], [0.0], [3.0], False, "=="),
    "a residual with a cost": ([2.0], [0.25], [3.0], False, "=="),
    "a free scalar": ([-0.5], [1.0], None, False, "=="),
    "absolute values": ([1.0, -1.0], [2.0, 3.0], None, True, "=="),
    "a penalty above": ([-2.0], [5.0], None, True, "<="),
    "a choice of penalties": ([-2.0, -1.0], [5.0, 1.0], None, True, "<="),
    "a reward below": ([2.0, -1.0], [-0.5, 7.0], None, True, "<="),
}


def with_scalars(name, rhs):
    """Rows X_ii + scalars = or <= b_i, one after the other."""
    entries, costs, curvatures, signed, relation = GIVING[name]
    m, k = rhs.size, len(entries)
    B = sp.kron(sp.eye_array(m), sp.csr_array([entries]))
    bent = None if curvatures is None else np.tile(curvatures, m)
    variables = (PsdVariable("X", m), VectorVariable("z", m * k, signed, bent))
    cost = {"X": -1.0 * Trace(m), "z": VectorMap(np.tile(costs, m)[None])}
    rows = Rows("rows", relation, {"X": Diagonal(m), "z": VectorMap(sp.csr_array(B))}, rhs)
    return SDP(variables, cost, (rows,))


def least_cost(name, left):
    """The least cost of scalars that make up for what is left, exactly."""
    entries, costs, curvatures, signed, relation = GIVING[name]
    if not signed:
        z, bent = left / Fraction(entries[0]), 0 if curvatures is None else Fraction(curvatures[0])
        return Fraction(costs[0]) * z + bent * z * z / 2
    ways = [left / Fraction(a) * Fraction(c) for a, c in zip(entries, costs, strict=True)]
    ways = [way for way, a in zip(ways, entries, strict=True) if left * Fraction(a) > 0]
    if relation == "<=" and left >= 0:
        ways.append(Fraction(0))
    return min(ways, default=Fraction(0))


@pytest.mark.daily(2)
@pytest.mark.parametrize("name", GIVING)
def test_scalars_take_what_rows_leave_at_least_cost(name):
    rng = np.random.default_rng(len(name))
    for _ in range(20):
        factor = rng.normal(size=(5, 3))
        rhs = Diagonal(5).apply_factor(factor) + rng.choice([0.0, 1e-16, -1e-16, 0.3, -0.3], 5)
        sdp = with_scalars(name, rhs)
        found = candidate(sdp, factor, np.zeros(sdp.variable("z").size))
        assert not found.short.any()
        assert not layout(sdp).demands.any()
        squares = np.sum(fractions(factor) ** 2, axis=1)
        exactly = sum(
            least_cost(name, b - x) - x for b, x in zip(fractions(rhs), squares, strict=True)
        )
        assert exactly <= Fraction(found.value()) <= exactly + Fraction(1, 10**11)
        z, moves = found.scalars()
        left = fractions(rhs) - squares
        taken = layout(sdp).B @ z
        slope = abs(layout(sdp).B) @ moves
        if GIVING[name][4] == "==":
            assert np.all(np.abs(left - fractions(taken)) <= fractions(slope) + Fraction(1, 10**15))
            assert np.all(slope <= 1e-12)
        if GIVING[name][3]:
            assert np.all(z >= 0.0)


@pytest.mark.parametrize("left", [-1e-16, 0.0, 1e-16])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_scalar_with_a_sign_needs_room(sign, left):
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, True))
    side = {"X": Diagonal(1), "z": VectorMap(np.array([[sign]]))}
    sdp = SDP(variables, {"X": Trace(1)}, (Rows("row", "==", side, np.array([0.49 + left])),))
    assert candidate(sdp, np.array([[0.7]]), [0.0]).short.all()
    assert not candidate(sdp, np.array([[0.7 - sign * 1e-10]]), [0.0]).short.any()
    assert candidate(sdp, np.array([[0.7 + sign * 1e-10]]), [0.0]).short.all()


def test_scalars_of_several_rows_do_not_give_way():
    variables = (PsdVariable("X", 2), VectorVariable("z", 1, False))
    side = {"X": Diagonal(2), "z": VectorMap(np.ones((2, 1)))}
    sdp = SDP(variables, {"X": Trace(2)}, (Rows("rows", "==", side, np.ones(2)),))
    assert layout(sdp).row.tolist() == [-1]
    assert layout(sdp).demands.all()


def test_rows_of_scalars_hold_by_more_than_rounding_and_the_radius():
    rng = np.random.default_rng(10)
    variables = (PsdVariable("X", 1), VectorVariable("z", 7, True))
    noticed = 0
    for _ in range(60):
        weights, z = rng.normal(size=(1, 7)), rng.uniform(size=7)
        side = {"z": VectorMap(np.vstack([weights, np.ones((1, 7))]))}
        # What is computed leaves one unit in the last place, which some of the exact sums do not.
        above = np.array([np.nextafter((sp.csr_array(weights) @ z)[0], np.inf), 10.0])
        sdp = SDP(variables, {"X": Trace(1)}, (Rows("rows", "<=", side, above),))
        given = candidate(sdp, np.zeros((1, 1)), z)
        if fractions(weights)[0] @ fractions(z) > Fraction(above[0]):
            assert given.short.tolist() == [True, False]
            noticed += 1
        for size, short in ((1e-3, False), (1.0, True)):
            moved = Candidate(layout(sdp), given.points, z, np.full(7, size), np.zeros(2, bool))
            assert moved.short[1] == (z.sum() + 7.0 * size >= 10.0) == (short and z.sum() >= 3.0)
    assert noticed > 2


@pytest.mark.parametrize("curvature", [None, np.array([3.0])])
def test_the_value_is_that_of_the_worst_scalars(curvature):
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, False, curvature))
    cost = {"z": VectorMap(np.array([[-2.0]]))}
    rows = (Rows("two", "<=", {"z": VectorMap(np.ones((2, 1)))}, np.full(2, 9.0)),)
    found = layout(SDP(variables, cost, rows, constant=5.0))
    near = {"X": Near.of(np.zeros((1, 1)))}
    for z, move in ((1.0, 0.25), (-1.0, 0.125)):
        point = Candidate(found, near, np.array([z]), np.array([move]), np.zeros(2, dtype=bool))
        bent = 0.0 if curvature is None else 1.5
        worst = max(5.0 - 2.0 * x + bent * x * x for x in (z - move, z + move))
        assert worst <= point.value() <= worst + 1e-9


@pytest.mark.parametrize("curvature", [None, np.array([0.3, 1.7, 2.9])])
def test_the_value_of_scalars_is_rounded_up_by_no_more_than_their_sizes(curvature):
    rng = np.random.default_rng(0)
    cost, constant = rng.normal(size=3), 0.1
    variables = (PsdVariable("X", 1), VectorVariable("z", 3, False, curvature))
    rows = (Rows("two", "<=", {"z": VectorMap(np.ones((2, 3)))}, np.full(2, 1e3)),)
    found = layout(SDP(variables, {"z": VectorMap(cost[None])}, rows, constant=constant))
    near, none = {"X": Near.of(np.zeros((1, 1)))}, np.zeros(2, dtype=bool)
    for _ in range(40):
        z = 10.0 * rng.normal(size=3)
        value = Candidate(found, near, z, np.zeros(3), none).value()
        exact = Fraction(constant) + np.sum(fractions(cost) * fractions(z))
        if curvature is not None:
            exact += np.sum(fractions(curvature) * fractions(z) ** 2) / 2
        assert exact <= Fraction(value) <= exact + Fraction(1e-11)


def test_scalars_of_matrix_inequalities_do_not_give_way():
    variables = (PsdVariable("X", 1), VectorVariable("z", 1, False))
    rows = (Rows("row", "==", {"X": Diagonal(1), "z": VectorMap(np.ones((1, 1)))}, np.ones(1)),)
    lmi = Lmi("above", 1, {"z": VectorMap(np.ones((1, 1)))}, np.zeros(1))
    assert layout(SDP(variables, {"X": Trace(1)}, rows, (lmi,))).row.tolist() == [-1]
    assert layout(SDP(variables, {"X": Trace(1)}, rows)).row.tolist() == [0]


# -- matrix inequalities, deadlines ----------------------------------------------------------------


@pytest.mark.parametrize(("corner", "inside"), [(1.0, False), (1.0 + 1e-15, False), (1.1, True)])
def test_matrix_inequalities_hold_by_more_than_rounding(corner, inside):
    # [[t, X_00], [X_00, t]] with X_00 = 1 computed from many squares.
    factor = np.full((1, 49), 1.0 / 7.0)
    lhs = {
        "X": SvecMap(1, sp.csr_array([[0.0], [np.sqrt(2.0)], [0.0]])),
        "t": VectorMap(np.array([[1.0], [0.0], [1.0]])),
    }
    variables = (PsdVariable("X", 1), VectorVariable("t", 1, True))
    lmi = Lmi("inside", 2, lhs, np.zeros(3))
    sdp = SDP(variables, {"t": VectorMap(np.ones((1, 1)))}, (), (lmi,))
    assert candidate(sdp, factor, [corner]).holds() is inside


def test_a_matrix_inequality_holds_all_over_the_radius():
    lhs = {"X": SvecMap(1, sp.csr_array([[1.0]]))}
    lmi = Lmi("above", 1, lhs, np.array([-0.99]))
    sdp = SDP((PsdVariable("X", 1),), {"X": Trace(1)}, (), (lmi,))
    for far, holds in ((0.0, True), (1e-4, True), (0.02, False)):
        near = {"X": Near(np.ones((1, 1)), np.ones(1), far)}
        none = np.zeros(0)
        assert Candidate(layout(sdp), near, none, none, np.zeros(0, dtype=bool)).holds() is holds


def test_shrinking_needs_no_time_and_factorizations_do():
    over = Deadline(0.0)
    sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    near = {"K": Factor(np.array([[-1.001], [0.0], [1.001]]))}
    assert attained(sdp, near, deadline=over).argument == "shrunk until all upper limits hold"
    rows = (Rows("one", "==", {"X": Diagonal(2)}, np.ones(2)),)
    cut = SDP((PsdVariable("X", 2),), {"X": Entries(2, [[0, 1]])}, rows)
    assert attained(cut, {"X": Factor(np.array([[1.0], [-1.001]]))}, deadline=over) is None


def test_a_program_without_an_objective_has_the_value_zero_exactly():
    rows = (Rows("limit", "<=", {"X": Diagonal(1)}, np.ones(1)),)
    for cost, value in (({}, 0.0), ({"X": Trace(1)}, 0.25)):
        sdp = SDP((PsdVariable("X", 1),), cost, rows)
        assert candidate(sdp, np.array([[0.5]])).value() == pytest.approx(value, rel=1e-12, abs=0)
