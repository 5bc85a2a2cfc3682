"""Programs with optima known by hand, of which rounding might prove something false.

Each names what could lead a proof astray: coefficients whose terms cancel, products that doubles
lose, groups of rows that state a face only in part, multipliers that cancel, noisy points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status
from sdpdr.linalg import (
    BilinearForms,
    Diagonal,
    Entries,
    InnerProduct,
    LinearMap,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Stacked,
    Summed,
    SvecMap,
    Trace,
    VectorMap,
)
from sdpdr.program import (
    SDP,
    Factor,
    Lmi,
    Point,
    PsdVariable,
    Rows,
    VectorVariable,
    read_sdpa,
    write_sdpa,
)

from ..proofs import Ray, attain, certify, prove_unbounded

# The last digits are lost where terms of two binades more cancel.
LARGE = 1.5 * 2.0**52
NONE = np.inf


@dataclass(frozen=True)
class Known:
    """A program and its optimum; infinite with the sign of a program without points or limits.

    Nothing false may follow from ``points``, ``duals`` and ``directions``; the solvers in
    ``found_by`` find the optimum.
    """

    sdp: SDP
    optimum: Fraction | float
    points: tuple[dict, ...] = ()
    duals: tuple[dict, ...] = ()
    directions: tuple[np.ndarray, ...] = ()
    found_by: tuple[str, ...] = ("clarabel",)


def matrix(n, cost, *rows, maximize=False, scalars=(), lmis=(), **costs):
    """A program over a matrix and perhaps scalars."""
    objective = {"X": cost, **costs}
    return SDP((PsdVariable("X", n), *scalars), objective, rows, lmis, maximize=maximize)


def row(label, linear_map, side, relation="==", **others):
    side = np.broadcast_to(np.asarray(side, dtype=float), linear_map.m)
    return Rows(label, relation, {"X": linear_map, **others}, side)


def single(value, n=2, j=1):
    """The entry (0, j) times a number."""
    places = np.array([0]), np.array([0]), np.array([j])
    return SvecMap.from_entries(n, 1, *places, np.array([value]))


def cancelling(weights):
    """A multiple of X_00 as a sum whose terms cancel: all that is left is their rounding."""
    return sp.csr_array(np.array([weights]) * 2.0**55) @ Entries(1, [[0, 0]] * 3)


def corner_with_slack(rhs, cost):
    """X_22 <= 1 by slack, and equations on X_00, X_01, X_11 in the same group."""
    entries = Entries(3, [[2, 2], [0, 0], [0, 1], [1, 1]])
    slack = VectorMap(np.array([[1.0], [0.0], [0.0], [0.0]]))
    scalars = (VectorVariable("p", 1, nonnegative=True),)
    return matrix(3, InnerProduct(cost), row("group", entries, rhs, p=slack), maximize=True,
                  scalars=scalars)  # fmt: skip


def symmetric(n, entries):
    """A matrix by some of its entries."""
    made = np.zeros((n, n))
    for (i, j), value in entries.items():
        made[i, j] = made[j, i] = value
    return made


def cancelling_coefficients() -> Iterator[tuple[str, Known]]:
    """Sums whose value is lost in doubles, as rows and as costs."""
    exact = [sum(map(Fraction, (0.1, 0.3, -0.4))), sum(map(Fraction, (0.1, 0.2, -0.3)))]
    assert [e * 2**55 for e in exact] == [-1, 1]
    sdp = matrix(1, -1.0 * Trace(1), row("row", -cancelling([0.1, 0.3, -0.4]), 1.0, "<="))
    yield "a row that reads X <= 1 and 0 <= 1 in doubles", Known(sdp, Fraction(-1), found_by=())
    sdp = matrix(1, Trace(1), row("row", cancelling([0.1, 0.2, -0.3]), 1.0))
    yield "a row that reads X = 1 and 2 X = 1 in doubles", Known(sdp, Fraction(1), found_by=())
    ones = row("diagonal", Diagonal(2), 1.0)
    sdp = matrix(2, Summed([single(LARGE), single(-(LARGE + 1.0))]), ones)
    yield "a cost of -2 X_01 that doubles lose", Known(sdp, Fraction(-2), found_by=())
    corner = Entries(2, [[0, 0]])
    sdp = matrix(2, Summed([0.1 * corner, 0.2 * corner, -0.3 * corner]), ones)
    left = float(sdp.cost("X").toarray()[0, 0])
    duals = [np.array([-y, s]) for y, s in ((left, 0.0), (left - 1e-18, 1e-18), (0.0, 1e-16))]
    tenth = Fraction(0.1) + Fraction(0.2) - Fraction(0.3)
    yield (
        "a cost of which rounding is left",
        Known(sdp, tenth, ({"X": Factor(np.eye(2))},), tuple({"diagonal": y} for y in duals)),
    )
    sdp = matrix(2, Summed([-1.0 * corner, -(2.0**-60) * corner, 1.0 * corner]), ones)
    yield (
        "a cost that only rounding makes zero",
        Known(sdp, -(Fraction(2) ** -60), duals=({"diagonal": np.zeros(2)},)),
    )
    numbers = (1.0, 1.25 * 2.0**-53, -(1.0 + 2.0**-52), 2.0**-60)
    limit = Summed([t * Entries(1, [[0, 0]]) for t in numbers])
    assert sum(map(Fraction, numbers)) < 0 < limit.matrix()[0, 0]
    sdp = matrix(1, -1.0 * Trace(1), row("limit", limit, 1.0, "<="))
    yield (
        "a row whose coefficient rounding turns positive",
        Known(sdp, -NONE, duals=({"limit": np.zeros(1)},), found_by=()),
    )
    places = np.array([0, 0]), np.array([0, 0]), np.array([1, 2])
    lost = SvecMap.from_entries(3, 1, *places, np.array([LARGE, -(LARGE + 1.0)]))
    face = row("face", Products(3, [0, 1, -1]), 0.0)
    sdp = matrix(3, Trace(3), face, row("row", lost, -2.0))
    yield "a row that seems to vanish on a face", Known(sdp, 2.0 * np.sqrt(2.0), found_by=())
    rows, i, j = np.array([0, 0, 0]), np.array([0, 0, 1]), np.array([0, 1, 1])
    cost = SvecMap.from_entries(2, 1, rows, i, j, np.array([1.0, -1.0, 1.0]))
    yield "a semidefinite cost", Known(
        matrix(2, cost), Fraction(0), duals=({},),
        directions=(np.ones((2, 2)), np.array([[1.0, 5.0], [0.0, 1.0]])),
    )  # fmt: skip


def lost_products() -> Iterator[tuple[str, Known]]:
    """Forms whose coefficients are products that no double holds."""
    tenth = sp.csr_array(np.array([[0.1, 0.0]]))
    product, rounded = BilinearForms(tenth, tenth), SvecMap(2, np.array([[0.1 * 0.1, 0.0, 0.0]]))
    assert Fraction(0.1) ** 2 != Fraction(0.1 * 0.1)
    sdp = matrix(2, Trace(2), row("a", product, 1.0), row("b", rounded, 1.0))
    yield "equal in rounded products only", Known(sdp, NONE, ({"X": 100.0 * np.eye(2)},))
    lhs = SvecMap.from_entries(
        2, 4, np.arange(4), np.array([0, 0, 0, 1]), np.array([1, 1, 0, 1]),
        np.array([0.17, 0.51, 1.0, 1.0]),
    )  # fmt: skip
    sdp = matrix(2, Trace(2), row("rows", lhs, [1.0, 3.0, 9.0, 9.0]))
    yield "proportional once rounded", Known(sdp, NONE)
    e = 2.0**-39
    # (1 + e) X_00 - (1 - e) X_11 - e^2 X_01 exactly, and the last term is lost in doubles.
    twisted = BilinearForms([[1 + e, -1.0]], [[1.0, 1 - e]])
    weighed = row("diagonals", InnerProduct(np.diag([1 + e, -(1 - e)])), 0.0)
    sdp = matrix(2, Entries(2, [[0, 1]]), row("form", twisted, 1.0, "<="), weighed)
    along = np.array([[1 - e, -0.5], [-0.5, 1 + e]])
    yield (
        "a form that limits by what is lost",
        Known(sdp, -(Fraction(2) ** 78), directions=(along,), found_by=()),
    )
    u, v = np.array([[0.1, 0.2, 0.7, 0.0]]), np.array([[0.3, -0.6, 0.1, 0.0]])
    rows = (
        row("a", BilinearForms(u, u.copy()), 0.0),
        row("b", BilinearForms(v, v.copy()), 0.0),
        row("t", Trace(4, [1, 1, 1, 0]), 1.0),
    )
    a, b = [Fraction(x) for x in u[0, :3]], [Fraction(x) for x in v[0, :3]]
    w = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    optimum = w[0] ** 2 / sum(x * x for x in w)
    for sense, sign in (("least", 1.0), ("largest", -1.0)):
        sdp = matrix(4, sign * Entries(4, [[0, 0]]), *rows, maximize=sign < 0.0)
        yield (
            f"a face that no double states, beside an idle place, {sense}",
            Known(sdp, optimum, found_by=()),
        )
    for more in (10, 4000):
        # The diagonal leaves e^2 X_01 = 0 of the form.
        rows = (
            row("d", Diagonal(2), 1.0),
            row("form", twisted, 2 * e),
            Rows("z", "==", {"z": VectorMap(np.ones((1, more)))}, np.ones(1)),
        )
        sdp = matrix(2, -1.0 * Entries(2, [[0, 1]]), *rows, maximize=True,
                     scalars=(VectorVariable("z", more, True),))  # fmt: skip
        yield f"a form beside a diagonal and {more} scalars", Known(sdp, Fraction(0), found_by=())


def faces_in_part() -> Iterator[tuple[str, Known]]:
    """Rows beside those that state a face, none of which may be forgotten."""
    size, corner = row("size", Trace(3), 1.0), Entries(3, [[2, 2]])
    sums = QuadraticForms([[1.0, 1.0, 0.0]])
    difference = np.array([[1.0, -1.0]]) @ QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    matrices = {"forms": difference, "a matrix": InnerProduct(np.diag([1.0, 0.0, -1.0]))}
    for name, part in matrices.items():
        sdp = matrix(3, -1.0 * corner, size, row("u", Stacked([sums, part]), 0.0))
        yield f"a difference of {name} below a null vector", Known(
            sdp, Fraction(-1, 3), ({"X": np.diag([0.0, 0.0, 1.0])},),
            found_by=("clarabel", "cvxopt", "lowrank", "auto"),
        )  # fmt: skip
    taken = QuadraticForms([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])[[1]]
    for sign in (-1.0, 1.0):
        cost = sign * Entries(3, [[0, 1]])
        sdp = matrix(3, cost, size, row("u", Stacked([sums, taken]), 0.0))
        yield (
            f"forms taken of others, {sign:+.0f}",
            Known(sdp, Fraction(-sign) / 2, found_by=("clarabel", "lowrank")),
        )
    near = Products(3, np.array([1.0, 1.0, 1.0 + 1e-13]))
    centred, plane = row("u", Products(3), 0.0), {"X": (np.eye(3) - 1.0 / 3.0) / 2.0}
    sdp = matrix(3, -1.0 * corner, size, centred, row("v", near, 0.0))
    yield "null vectors that are nearly one", Known(sdp, Fraction(0), (plane,), found_by=())
    null = row("u", Products(3, np.array([1.0, 1.0, 0.0])), 0.0)
    for power in (-38, -42, -44):
        small = symmetric(3, {(0, 0): 1.0, (0, 1): 0.5, (2, 2): 2.0**power})
        sdp = matrix(3, Trace(3), null, row("r", InnerProduct(small), 2.0**power))
        yield f"a row of size 2^{power} on the face", Known(
            sdp, Fraction(1), ({"X": np.diag([0.0, 0.0, 1.0])},),
            found_by=("clarabel", "cvxopt", "auto"),
        )  # fmt: skip
    corner = row("corner", Entries(2, [[0, 0]]), 1.0)
    sdp = matrix(2, Trace(2), corner, row("u", Products(2, np.zeros(2)), 0.0))
    yield "a row of zeros", Known(sdp, Fraction(1), found_by=("clarabel", "cvxopt"))


def noisy_points() -> Iterator[tuple[str, Known]]:
    """Points that come as near to what is impossible as doubles do."""
    cost = symmetric(3, {(0, 0): -1.0, (0, 2): -5e4, (1, 2): 5e4})
    near = Factor(np.array([[1.0, 0.0], [1.0, -2e-7], [0.0, 1.0]]))
    yield "rows without slack beside one that has it", Known(
        corner_with_slack([1.0, 1.0, 1.0, 1.0], cost), Fraction(1),
        ({"X": near, "p": np.zeros(1)},), found_by=(),
    )  # fmt: skip
    for beyond in (1e-15, 1e-14):
        inner = float(np.sqrt(0.7 * 0.9) * (1.0 + beyond))
        assert Fraction(inner) ** 2 > Fraction(0.7) * Fraction(0.9)
        sdp = corner_with_slack([1.0, 0.7, inner, 0.9], symmetric(3, {(2, 2): -1, (0, 2): -0.5}))
        yield f"an entry beyond its minors by {beyond}", Known(sdp, -NONE)
    entries = Entries(2, [[0, 0], [1, 1], [0, 1]])
    slack = VectorMap(np.diag([1.0, 1.0, -1.0]))
    sdp = matrix(2, Trace(2), row("group", entries, [1.0, 1.0, 1.0 + 1e-15], p=slack),
                 scalars=(VectorVariable("p", 3, nonnegative=True),))  # fmt: skip
    yield (
        "slack that demands",
        Known(sdp, NONE, ({"X": Factor(np.ones((2, 1))), "p": np.zeros(3)},)),
    )
    v, rng = np.array([3.0, 1.0, 7.0]), np.random.default_rng(0)
    across = [x - v * (v @ x) / (v @ v) for x in rng.normal(size=(12, 3))]
    sdp = matrix(3, Trace(3), row("form", InnerProduct(-np.outer(v, v)), 1.0))
    yield (
        "a number that is rounding alone",
        Known(sdp, NONE, tuple({"X": Factor(x[:, None])} for x in across)),
    )
    # A length of 1e-5 between points at 1e9.
    limit, far = 1e-10, []
    for _ in range(5):
        x = rng.uniform(0.5, 1.0, 3) * 1e9
        far.append({"X": Factor(np.array([x, x + rng.normal(size=3) * 4e-6]))})
    rows = (
        row("near", InnerProduct([[1.0, -1.0], [-1.0, 1.0]]), limit, "<="),
        row("far", Diagonal(2), 1e20, "<="),
    )
    sdp = matrix(2, -1.0 * SquaredEdgeLengths(2, [[0, 1]]), *rows, maximize=True)
    yield "a length that rounding hides", Known(sdp, Fraction(limit), tuple(far), found_by=())
    # Two points 1e4 away from the origin and 1e-3 from each other, allowed 1e-5.
    length = InnerProduct(symmetric(3, {(0, 0): 1.0, (1, 1): 1.0, (0, 1): -1.0}))
    rows = (
        row("near", length, limit, s=VectorMap([[1.0]])),
        row("size", Diagonal(3), [1e8, 1e8, 1.0], "<="),
    )
    far = Factor(np.array([[1e4, 0.0], [1e4, 1e-3], [0.0, 0.0]]))
    sdp = matrix(3, -1.0 * length, *rows, scalars=(VectorVariable("s", 1, nonnegative=True),))
    yield (
        "slack that cancellation hides",
        Known(sdp, -Fraction(limit), ({"X": far, "s": np.zeros(1)},), found_by=()),
    )


FILE = """* sdpdr: minimise, constant 0.0
1
2
2 -1
1.0
0 1 1 1 -1.5
0 1 1 2 1572864.0000000002
0 1 2 2 -1649267441664.0
1 2 1 1 1.0
"""


def multipliers() -> Iterator[tuple[str, Known]]:
    """Multipliers that cancel, or are beyond all numbers, and rows that say nothing."""
    one, none = VectorMap([[1.0]]), np.zeros(1)
    sdp = SDP(
        (PsdVariable("X", 2), VectorVariable("t", 1)), {"t": -1.0 * one},
        (row("trace", Trace(2), 1.0),
         *(row(label, -1.0 * Entries(2, [[0, 0]]), 0.0, t=one) for label in ("once", "twice"))),
    )  # fmt: skip
    sizes = [size * (1.0 + np.random.default_rng(0).random()) for size in (1e8, 1e16)]
    yield "an equation that comes twice", Known(
        sdp, Fraction(-1),
        duals=tuple({"trace": none + 0.5, "once": none + y, "twice": none - y} for y in sizes),
    )  # fmt: skip
    sdp = matrix(2, InnerProduct(np.eye(2)), row("trace", Trace(2), 1e10))
    sizes = (1e300, 1e308, -1e300, -1e308)
    yield (
        "multipliers beyond all numbers",
        Known(sdp, Fraction(10**10), duals=tuple({"trace": none + size} for size in sizes)),
    )
    lengths = row("lengths", SquaredEdgeLengths(3, [[0, 1], [1, 2]]), 1.0, "<=")
    cost = -1.0 * SquaredEdgeLengths(3, [[0, 2]])
    sdp = matrix(3, cost, lengths, Rows("void", "<=", {}, np.ones(1)), maximize=True)
    yield "a row without variables", Known(sdp, Fraction(4), found_by=("clarabel", "cvxopt"))
    for scale in (1.0, 3.0, 0.1):
        # G_00 = -z makes G_01 = X_01 - X_00 vanish, and X = ones does all that is asked.
        lhs = scale * np.array([[0, 0, 0], [-np.sqrt(2.0), 1.0, 0], [0, 0, 1.0]])
        lhs = {"X": SvecMap(2, lhs), "z": VectorMap([[-1.0], [0], [0]])}
        rows = (
            row("flat", InnerProduct([[1.0, -1.0], [-1.0, 1.0]]), 0.0),
            row("trace", Trace(2), 2.0),
        )
        sdp = matrix(2, Entries(2, [[0, 0]]), *rows, lmis=(Lmi("l", 2, lhs, np.zeros(3)),),
                     scalars=(VectorVariable("z", 1, True),))  # fmt: skip
        yield f"an equation beside the diagonal, {scale}", Known(sdp, 1.0)
    n, signs = 40, np.repeat([1.0, -1.0], 20)
    cost = np.array([[1.0, -1.0]]) @ QuadraticForms(np.vstack([np.ones(n), signs]))
    sdp = matrix(n, cost, row("ones", Diagonal(n), 1.0))
    assert not sdp.cost("X").diagonal().any()
    yield "a cost without a diagonal", Known(
        sdp, Fraction(-(n**2)), ({"X": Factor(signs[:, None])},), ({"ones": np.zeros(n)},),
        found_by=("lowrank", "auto"),
    )  # fmt: skip


KINDS = (cancelling_coefficients, lost_products, faces_in_part, noisy_points, multipliers)
KNOWN = {name: known for kind in KINDS for name, known in kind()}


def is_true(known, value, bound):
    """Whether a value and a bound lie on their sides of the optimum."""
    sign = -1 if known.sdp.maximize else 1
    # An irrational optimum is known to rounding.
    away = 0 if isinstance(known.optimum, Fraction) else Fraction(1, 10**12)
    if not np.isfinite(float(known.optimum)):
        no_points = sign * known.optimum > 0.0
        return value is None if no_points else bound is None
    optimum = sign * Fraction(known.optimum)
    return (value is None or sign * Fraction(value) >= optimum - away) and (
        bound is None or sign * Fraction(bound) <= optimum + away
    )


@pytest.mark.daily(7)
@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
def test_nothing_false_is_proved_next_to_points_multipliers_and_directions(known):
    for point in known.points:
        assert is_true(known, attain(known.sdp, Point(point)).value, None)
    for duals in known.duals:
        with np.errstate(all="ignore"):
            assert is_true(known, None, certify(known.sdp, duals).bound)
    for direction in known.directions:
        assert not isinstance(prove_unbounded(known.sdp, {"X": direction}), Ray)


def nightly(solver):
    return pytest.param(solver, marks=pytest.mark.nightly)


@pytest.mark.daily(3)
@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
@pytest.mark.parametrize("solver", ["clarabel", *map(nightly, ("lowrank", "cvxopt", "auto"))])
def test_no_solver_makes_a_false_proof(known, solver):
    answer = sdpdr.solve(known.sdp, solver, gap_scale=max(1e-9, min(1.0, abs(known.optimum))))
    assert is_true(known, answer.attained, answer.bound)
    # A program with a finite optimum has points and limits.
    if np.isfinite(float(known.optimum)):
        assert answer.status not in (Status.INFEASIBLE, Status.UNBOUNDED)
    if solver in known.found_by and np.isfinite(float(known.optimum)):
        assert answer.value == pytest.approx(float(known.optimum), rel=1e-5, abs=1e-6)


def test_units_change_no_entry_of_a_file(tmp_path):
    """The cost is indefinite by the last digit of one entry, so that there is no minimum."""
    (tmp_path / "file.dat-s").write_text(FILE)
    sdp = read_sdpa(tmp_path / "file.dat-s")
    assert sdpdr.solve(sdp, "clarabel", gap_scale=1.0).bound is None
    write_sdpa(sdp, tmp_path / "again.dat-s")
    assert (tmp_path / "again.dat-s").read_text() == FILE


def test_powers_of_two_keep_entries_as_they_were():
    rng = np.random.default_rng(0)
    values = rng.standard_normal(200) * 2.0 ** rng.integers(-20, 20, 200)
    i, j = rng.integers(0, 50, (2, 200))
    made = SvecMap.from_entries(50, 200, np.arange(200), np.minimum(i, j), np.maximum(i, j), values)
    units = 2.0 ** rng.integers(-12, 12, 50)
    changed = made.congruence(sp.diags_array(units, format="csr"))
    back = changed.congruence(sp.diags_array(1.0 / units, format="csr"))
    assert np.array_equal(back.natural().data, made.natural().data)
    assert np.array_equal(back.matrix().data, made.matrix().data)


def test_the_value_of_a_cost_that_doubles_lose_is_the_one_that_is_proved():
    answer = sdpdr.solve(KNOWN["a cost of -2 X_01 that doubles lose"].sdp, "clarabel")
    assert answer.certified()
    assert answer.value == pytest.approx(answer.attained, rel=1e-6)


@pytest.mark.xfail(strict=True, reason="equal rows of products are not seen to be one")
def test_rows_of_the_same_products_depend():
    form = QuadraticForms([[0.1, 0.2]])
    twice = matrix(2, Trace(2), row("a", form, 1.0), row("b", form, 1.0))
    assert sdpdr.solve(twice, "clarabel").status is Status.SOLVED


class Corner(LinearMap):
    """X_01, by a map that nobody can read exactly where it is wide."""

    def __init__(self, n):
        self.n, self.m = n, 1

    def matrix(self):
        return sp.csr_array((np.ones(1), ([0], [1])), shape=(1, self.n * (self.n + 1) // 2))


@pytest.mark.parametrize("n", [20, 201])
@pytest.mark.parametrize(("side", "status"), [(1.0, Status.INFEASIBLE), (0.0, Status.SOLVED)])
def test_rows_on_variables_that_vanish_still_have_to_hold(n, side, status):
    rows = (row("zero", Trace(n), 0.0), row("corner", Corner(n), side))
    answer = sdpdr.solve(SDP((PsdVariable("X", n),), {"X": Trace(n)}, rows, constant=7.0))
    assert answer.status is status
    if status is Status.SOLVED:
        assert answer.bound <= 7.0 <= answer.attained
    else:
        assert answer.ray is not None or answer.exposures
