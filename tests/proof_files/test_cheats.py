"""Witnesses that would prove something false if one check were missing."""

from __future__ import annotations

import io
from fractions import Fraction

import numpy as np
import pytest

from sdpdr.certify import check_proof
from sdpdr.certify.check_proof import (
    EXPONENTIAL,
    SECOND_ORDER,
    SLACK,
    NoProofFileError,
    NotProvedError,
    check,
    program_of,
    take_faces,
)

from .files import Contents, lower_near, multipliers, upper

INEQUALITY = 1


def lists(b, rel, scalars=(), matrices=(), *, orders=(), sign=(), q=None, cones=(), null=()):
    """Rows with coefficients (row, column, value) of scalars and (row, block, i, j, value).

    Null vectors are (block, indices, values).
    """
    return {
        "sense": 1,
        "n": list(orders),
        "A": [list(x) for x in zip(*matrices, strict=True)] or [[]] * 5,
        "B": [list(x) for x in zip(*scalars, strict=True)] or [[]] * 3,
        "b": list(b),
        "inequalities": [e for e, kind in enumerate(rel) if kind == INEQUALITY],
        "cones": [[rel[rows[0]], list(rows)] for rows in cones],
        "nonnegative": [j for j, kind in enumerate(sign) if kind],
        "q": [0.0] * len(sign) if q is None else list(q),
        "U": list(null),
    }


def program(*rows, **more):
    return program_of(lists(*rows, **more))


def point(P, z=(), R=(), rank=None, *, unit=1.0):
    """A point, with one unit for the rows of all matrices that are no slack."""
    z = np.array(z, dtype=float)
    ranks = np.array([len(R) // max(int(P.n.sum()), 1)] * P.K if rank is None else rank, int)
    of_scalars = np.where(P.sign, 0.5 * np.abs(z), np.maximum(np.abs(z), 1e-3))
    of_rows = np.full(int(P.n[ranks != SLACK].sum()), unit) if ranks.size else np.zeros(0)
    R = np.array(R, dtype=float)
    return {"z": z, "R": R, "rank": ranks, "unit": np.r_[of_rows, of_scalars]}


def lower(P, y, **more):
    return lower_near(P, multipliers(P, y, **more))


# min z, z >= 1: the optimum is one.
above = program([0.0, -1.0], [0, INEQUALITY], [(0, 0, 1.0), (1, 0, -1.0)], sign=[0])
# min z0 - z1, z0 + z1 = 1, both >= 0: the optimum is -1.
signed = program([0, 1.0], [0, 0], [(0, 0, 1), (0, 1, -1), (1, 0, 1), (1, 1, 1)], sign=[1, 1])
# min z, X_00 = z + 1, X_01 = 1 of order two: the optimum is above -1.
corner = program(
    [0.0, 1.0, 2.0],
    [0, 0, 0],
    [(0, 0, 1.0), (1, 0, -1.0)],
    [(1, 0, 0, 0, 1), (2, 0, 0, 1, 1)],
    orders=[2],
    sign=[0],
)
# min z^2 / 2 + z: the optimum is -1/2.
curved = program([0.0], [0], [(0, 0, 1.0)], sign=[0], q=[1.0])
# min z with (z, 3, 4) in the second-order cone: the optimum is five.
cone = program(
    [0.0, 0.0, 3.0, 4.0],
    [0] + [SECOND_ORDER] * 3,
    [(0, 0, 1.0), (1, 0, -1.0)],
    sign=[0],
    cones=[(1, 2, 3)],
)
# min z with (0, 1, z) in the exponential cone: the optimum is one.
exponential = program(
    [0.0, 0.0, 1.0, 0.0],
    [0] + [EXPONENTIAL] * 3,
    [(0, 0, 1.0), (3, 0, -1.0)],
    sign=[0],
    cones=[(1, 2, 3)],
)
# min z, T = z I - [[2, 1], [1, 2]]: the optimum is three.
limit = program(
    [0.0, 2.0, 1.0, 2.0],
    [0] * 4,
    [(0, 0, 1.0), (1, 0, 1.0), (3, 0, 1.0)],
    [(1, 0, 0, 0, -1.0), (2, 0, 0, 1, 0.5), (3, 0, 1, 1, -1.0)],
    orders=[2],
    sign=[0],
)
# min z with 0 <= z <= 5: the optimum is zero.
capped = program([0.0, 5.0], [0, INEQUALITY], [(0, 0, 1.0), (1, 0, 1.0)], sign=[1])
# min z0 + 0.999 z1, z0 + z1 = 1, z1 >= 0: there is no limit.
endless = program(
    [0.0, 1.0], [0, 0], [(0, 0, 1.0), (0, 1, 0.999), (1, 0, 1.0), (1, 1, 1.0)], sign=[0, 1]
)
# z = 1 and z <= 0.999, which nothing is.
nothing = program([0.0, 1.0, 0.999], [0, 0, INEQUALITY], [(1, 0, 1.0), (2, 0, 1.0)], sign=[0])
# min -z, z >= 1: there is no limit, and the multiplier of the inequality would have to be -1.
flat = program([0.0, -1.0], [0, INEQUALITY], [(0, 0, -1.0), (1, 0, -1.0)], sign=[0])
# min z, z = 1.
single = program([0.0, 1.0], [0, 0], [(0, 0, 1.0), (1, 0, 1.0)], sign=[0])


def test_multipliers_that_move_cost_what_they_move():
    for away in (-1e-3, -1e-9, 0.0, 1e-9, 1e-3):
        assert 1.0 - 3.0 * abs(away) - 1e-12 <= lower(single, np.array([1.0, away - 1.0])) <= 1.0


def test_honest_witnesses_are_accepted():
    assert lower(above, np.array([1.0, 1.0])) == pytest.approx(1.0)
    assert upper(above, point(above, [1.0])) == pytest.approx(1.0)
    assert lower(signed, np.array([1.0, 1.0])) == pytest.approx(-1.0)
    assert upper(signed, point(signed, [0.0, 1.0])) == pytest.approx(-1.0)
    assert upper(corner, point(corner, [0.0], [1.0, 0.0, 1.0, 3.0])) < 1e-9
    assert lower(curved, np.array([1.0])) == pytest.approx(-0.5)
    assert upper(curved, point(curved, [-1.0])) == pytest.approx(-0.5)
    assert lower(cone, np.array([1.0, 1.0, -0.6 + 1e-15, -0.8])) == pytest.approx(5.0)
    assert upper(cone, point(cone, [5.0 + 1e-14])) == pytest.approx(5.0)
    assert lower(exponential, np.array([1.0, -1.0, -1.0 + 1e-12, 1.0])) == pytest.approx(1.0)
    assert upper(exponential, point(exponential, [1.0 + 1e-12])) == pytest.approx(1.0)
    assert lower(limit, np.array([1.0, -0.5, -1.0 + 1e-9, -0.5])) == pytest.approx(3.0)
    assert upper(limit, point(limit, [3.0 + 1e-9], rank=[-1])) == pytest.approx(3.0)
    assert upper(limit, entries(limit, 3.0 + 1e-9)) == pytest.approx(3.0)


def entries(P, z, *, unit=1.0):
    """The point z of a matrix inequality, with its matrix by entries."""
    return point(P, [z], [z - 2.0, 1.0, z - 2.0], rank=[-2], unit=unit)


def hidden(slopes, objective, *more, bound=(), sign=(0,), z=(0.0,), unit=(0.0,)):
    """A point that misses one equation by 2^-602 at such slopes, which forces Z_01 < 0.

    X = (1 + 2^-26)^2 e^2 and Y = e^2 are given, with v X - w Y = 2^-602 for two numbers v and w.
    """
    e, square = 2.0**-166, 2**52 + 2**27 + 1
    inverse = pow(square, -1, 2**52) + 2**52
    w = (inverse * square - 1) // 2**52
    v, halves = inverse * 2.0**-52 * e, [(w // 2 - w // 2 % 4), w - w // 2 + w // 2 % 4]
    given = [(1, 2, 0, 1, slopes), (1, 0, 0, 0, v)]
    given += [(1, 1, 0, 0, -part * 2.0**-52 * e) for part in halves]
    given += [(2, 0, 0, 0, 1.0 / e), (3, 1, 0, 0, 1.0 / e)]
    b = [0.0, 0.0, square * 2.0**-52 * e, e, *bound]
    rel = [0, 0, 0, 0, *(kind for kind, _ in more)]
    rows = [entry for _, entries in more for entry in entries]
    P = program(
        b, rel,
        objective + [x for x in rows if len(x) == 3], given + [x for x in rows if len(x) == 5],
        orders=[1, 1, 2], sign=sign,
    )  # fmt: skip
    R = [(1 + 2.0**-26) * e, e, 1.0 / e, 0.0, 0.0, 1.0 / e]
    of_rows = [2.0**-166, 2.0**-166, 2.0**166, 2.0**166]
    return upper(P, point(P, z, R, rank=[1, 1, 2]) | {"unit": np.r_[of_rows, unit]})


def moved_by_squares():
    """X_00 = 0 and X_01 = 1: an equation whose slope is zero at the point, but not next to it."""
    rows = [(1, 0, 0, 0, 1.0), (2, 0, 0, 1, 0.5), (3, 0, 1, 1, 1.0)]
    P = program([0.0, 0.0, 1.0, 1e12], [0, 0, 0, INEQUALITY], (), rows, orders=[2])
    return upper(P, point(P, R=[0.0, 1e5], rank=[1]))


def moved_beyond_doubles():
    """X = 1e-49 z_0 + 1e49 z_1, z_1 = 0, 1e-49 z_0 = -1e49: X moves by more than doubles hold."""
    rows = [(1, 0, -1e-49), (1, 1, -1e49), (2, 1, 1.0), (3, 0, 1e-49)]
    P = program([0, 0, 0, -1e49], [0] * 4, rows, [(1, 0, 0, 0, 1.0)], orders=[1], sign=[0, 0])
    return upper(P, point(P, [1.1e-50, 0.0], rank=[-1]) | {"unit": np.array([1.1e-50, 1e49])})


def moved_below_doubles():
    """X = 1.1e49, a X <= 1.05e49 a, a given by two terms: squares of slopes are below doubles."""
    v = 1.0001e-50
    less = -v * (1.0 - 2.0**-40)
    rows = [(1, 0, 0, 0, 1.0), (2, 0, 0, 0, v), (2, 0, 0, 0, less)]
    b = [0.0, 1.1e49, 1.05e49 * (v + less)]
    P = program(b, [0, 0, INEQUALITY], (), rows, orders=[1])
    return upper(P, point(P, R=[1e49], rank=[-2], unit=1.001e-50))


CHEATS = {
    "a value by an equation that only squares move": moved_by_squares,
    "a value by a matrix that moves by more than doubles hold": moved_beyond_doubles,
    "a value by slopes whose squares vanish": moved_below_doubles,
    "a value that misses an equation by less than doubles hold": lambda: hidden(
        2.0**166, [(0, 0, 1.0)], (INEQUALITY, [(4, 2, 0, 1, -0.5)]), bound=[0.0]
    ),
    "a value that moves by less than doubles hold": lambda: hidden(
        2.0**106,
        [],
        (0, [(4, 2, 0, 1, -(2.0**-166)), (4, 0, 1.0)]),
        (0, [(5, 1, 2.0**166), (5, 0, -(2.0**-166))]),
        bound=[0.0, 0.0],
        sign=(0, 1),
        z=(0.0, 0.0),
        unit=(2.0**166, 2.0**-166),
    ),
    "a bound by an inequality turned round": lambda: lower(capped, np.array([1.0, -1.0])),
    "a bound by scalars that move": lambda: lower(endless, np.array([1.0, -0.998])),
    "a value that moves out of an inequality": lambda: upper(nothing, point(nothing, [0.999])),
    "a bound by a negative multiplier": lambda: lower(above, np.array([1.0, -9.0])),
    "a bound by a negative unit": lambda: lower(single, np.array([1.0, -0.9]), unit=[0.0, -1.0]),
    "a bound by an objective that moves": lambda: lower(above, np.array([0.5, 1.0])),
    "a bound by a multiplier that loses its sign": lambda: lower(
        flat, np.array([1.0, 1e-9]), unit=np.array([0.0, 1.0])
    ),
    "a bound without the cost": lambda: lower(above, np.array([1.0, 9.0])),
    "a bound by a free scalar that costs": lambda: lower(curved, np.array([-1.0])),
    "a bound against a signed scalar": lambda: lower(signed, np.array([1.0, -2.0])),
    "a bound outside of a cone": lambda: lower(cone, np.array([1.0, 1.0, -0.6, -0.81])),
    "a bound outside of a dual cone": lambda: lower(exponential, np.array([1.0, -1.0, -2.0, 1.0])),
    "a bound by a slack that is indefinite": lambda: lower(
        limit, np.array([1.0, -0.5, -1.1, -0.5])
    ),
    "a bound by too many multipliers": lambda: lower(above, np.array([1.0, 1.0, 1.0])),
    "a value below an inequality": lambda: upper(above, point(above, [0.5])),
    "a value by a scalar with the wrong sign": lambda: upper(signed, point(signed, [-1.0, 2.0])),
    "a value far from an equation": lambda: upper(signed, point(signed, [0.0, 9.0])),
    "a value far from a matrix": lambda: upper(corner, point(corner, [-2.0], [1.0, 0.0, 1.0, 3.0])),
    "a value outside of a cone": lambda: upper(cone, point(cone, [4.9])),
    "a value below an exponential": lambda: upper(exponential, point(exponential, [1.0 - 1e-12])),
    "a value by an indefinite slack": lambda: upper(limit, point(limit, [2.9], rank=[-1])),
    "a value by entries that are indefinite": lambda: upper(limit, entries(limit, 2.9)),
    "a value by entries that move too far": lambda: upper(
        limit, point(limit, [2.9999], [1.00001, 1.0, 1.00001], rank=[-2])
    ),
    "a value by entries far from the equations": lambda: upper(
        limit, point(limit, [2.9], [1.0, 0.0, 1.0], rank=[-2])
    ),
    "a value by entries with a negative unit": lambda: upper(limit, entries(limit, 3.1, unit=-1.0)),
    "a slack that is no slack": lambda: upper(corner, point(corner, [0.0], rank=[-1])),
    "a direction along a curvature": lambda: upper(curved, point(curved, [-1.0]), ray=True),
    "a direction through an inequality": lambda: upper(above, point(above, [-1.0]), ray=True),
    "a value by singular values that are none": lambda: check_proof.upper(
        signed, point(signed, [1e-9, 1.0]) | {"sigma": [1e9]}
    ),
    "a factor of another size": lambda: upper(
        corner, point(corner, [0.0], [1.0, 0.0, 1.0], rank=[2])
    ),
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_no_cheat_is_accepted(cheat):
    with pytest.raises(NotProvedError):
        cheat()


def test_a_slack_is_paid_for_on_the_complement_of_null_vectors_only():
    """min 2 X_01 with X (1, 1) = 0: there X = x [[1, -1], [-1, 1]], and no limit."""
    null = [(0, [0, 1], [1.0, 1.0])]
    P = program([0.0], [0], (), [(0, 0, 0, 1, 1.0)], orders=[2], null=null)
    with pytest.raises(NotProvedError):
        lower(P, np.array([1.0]))
    other = program([0.0], [0], (), [(0, 0, 0, 1, -1.0)], orders=[2], null=null)
    assert lower(other, np.array([1.0])) == 0.0
    # The matrix of ones is no point of the face, and zero is next to it.
    assert upper(other, point(other, (), [1.0, 1.0], rank=[1])) >= 0.0


def test_entries_next_to_the_boundary_prove_no_more_than_fractions_do():
    """The optimum is three: what is proved next to it, from any side, is not below."""
    for away in (-1e-12, -1e-15, 0.0, 1e-15, 1e-14, 1e-12, 1e-6):
        for unit in (1e-6, 1.0, 1e6):
            try:
                value = upper(limit, entries(limit, 3.0 + away, unit=unit))
            except NotProvedError:
                assert away < 1e-6 or unit != 1.0
                continue
            assert Fraction(value) >= 3
            assert value <= 3.0 + 2.0 * away


def test_entries_with_a_null_vector_are_definite_on_its_complement():
    """min 2 X_00 with X (1, 1) = 0 and X_01 = -1, which leaves the optimum of two."""
    null = [(0, [0, 1], [1.0, 1.0])]
    P = program(
        [0.0, 1.0], [0, 0], (), [(0, 0, 0, 0, 2.0), (1, 0, 0, 1, -0.5)], orders=[2], null=null
    )
    assert 2.0 <= upper(P, point(P, (), [1.0, -1.0, 1.0], rank=[-2])) < 2.0 + 1e-14
    assert 2.0 <= upper(P, point(P, (), [1.0 + 1e-9, -1.0, 1.0], rank=[-2])) < 2.0 + 1e-7
    negative = program(
        [0.0, -1.0], [0, 0], (), [(0, 0, 0, 0, 2.0), (1, 0, 0, 1, -0.5)], orders=[2], null=null
    )
    with pytest.raises(NotProvedError, match="semidefinite"):
        upper(negative, point(negative, (), [-1.0, 1.0, -1.0], rank=[-2]))


# X_00 = 0 and X_01 + X_22 = 1 of order three.
face = lists(
    [0.0, 0.0, 1.0],
    [0, 0, 0],
    (),
    [(1, 0, 0, 0, 1.0), (2, 0, 0, 1, 0.5), (2, 0, 2, 2, 1.0)],
    orders=[3],
)
CORNER = {"y": [[1], [1]], "squares": [[0, 1, [0], [1]]], "known": []}
LARGE = 2**53 + 1
STEPS = {
    "a negative weight": {**CORNER, "squares": [[0, -1, [0], [1]]], "y": [[1], [-1]]},
    "another square": {**CORNER, "squares": [[0, 1, [1], [1]]]},
    "a square of halves": {**CORNER, "squares": [[0, 4, [0], [0.5]]]},
    "a weight of halves": {**CORNER, "squares": [[0, 0.25, [0], [2]]]},
    "a weight that is true": {**CORNER, "squares": [[0, True, [0], [1]]]},
    "a square beyond doubles": {
        **CORNER,
        "y": [[1], [LARGE**2]],
        "squares": [[0, 1, [0], [LARGE]]],
    },
    "half a square": {**CORNER, "y": [[1], [2]]},
    "a square twice": {**CORNER, "y": [[1], [2]], "squares": [[0, 1, [0, 0], [1, 1]]]},
    "a multiplier twice": {**CORNER, "y": [[1, 1], [0, 1]]},
    "a multiplier that is no integer": {**CORNER, "y": [[1], [1.0]]},
    "a null vector that is unknown": {**CORNER, "y": [[1], [2]], "known": [[0, 0, [0], [1]]]},
    "a positive right side": {"y": [[2], [1]], "squares": [], "known": []},
    "a row that is not used": {**CORNER, "drop": 2},
    "all rows, as true is no row": {**CORNER, "drop": True},
    "the objective": {**CORNER, "y": [[1, 0], [1, 1]]},
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_no_false_step_is_taken(step):
    with pytest.raises((NotProvedError, NoProofFileError)):
        take_faces(program_of(face), [step])


def test_steps_leave_what_they_prove():
    P = program_of(face)
    again = {"y": [[2], [2]], "squares": [[0, 2, [2], [1]]], "known": [[0, 0, [1], [1]]]}
    assert not take_faces(P, [{**CORNER, "drop": 1}])
    ((at, u),) = P.U[0]
    assert (at.tolist(), u.tolist()) == ([0], [1.0])
    assert P.dropped.tolist() == [False, True, False]
    with pytest.raises(NotProvedError, match="positive"):
        take_faces(P, [again])
    P = program_of({**face, "b": [0.0, 0.0, -1.0]})
    assert take_faces(P, [CORNER, again])  # a sum of squares is to be -1
    with pytest.raises(NotProvedError, match="left out"):
        take_faces(program_of(face), [{**CORNER, "drop": 1}, CORNER])
    # An inequality with a positive multiplier becomes an equation, and its scalar vanishes.
    P = program([0.0, 0.0], [0, INEQUALITY], [(1, 0, 2.0)], sign=[1])
    assert not take_faces(P, [{"y": [[1], [1]], "squares": [], "known": []}])
    assert P.equation.tolist() == [False, True]
    assert P.fixed.tolist() == [True]
    # Such a scalar stays zero, also where the inequality is left out.
    P = program([0.0, 0.0], [0, INEQUALITY], [(0, 0, -1.0), (1, 0, 2.0)], sign=[1])
    assert not take_faces(P, [{"y": [[1], [1]], "squares": [], "known": [], "drop": 1}])
    assert upper(P, point(P, [0.0])) == 0.0
    assert lower(P, np.array([1.0, 0.0])) == 0.0
    with pytest.raises(NotProvedError, match="vanishes"):
        upper(P, point(P, [1.0]))
    P = program([0.0, 0.0], [0, INEQUALITY], [(1, 0, 2.0)], sign=[1])
    with pytest.raises(NotProvedError, match="negative"):
        take_faces(P, [{"y": [[1], [-1]], "squares": [], "known": []}])


def test_steps_account_for_scalars_and_cones():
    P = program([0.0, -1.0], [0, 0], [(1, 0, 1.0)], sign=[0])
    with pytest.raises(NotProvedError, match="coefficient"):
        take_faces(P, [{"y": [[1], [1]], "squares": [], "known": []}])
    # (z, z, 1) in the cone is nothing, by the multiplier (1, -1, 0) and not by (0, 0, -1).
    rows = {"rel": [0] + [SECOND_ORDER] * 3, "cones": [(1, 2, 3)], "sign": [0]}
    for b, y, is_true in (
        ([0.0, -1.0, 0.0, 0.0], [[1, 2], [1, -1]], True),
        ([0.0, 0.0, 0.0, 1.0], [[3], [-1]], False),
    ):
        P = program(b, rows["rel"], [(1, 0, -1.0), (2, 0, -1.0)], sign=[0], cones=rows["cones"])
        step = {"y": y, "squares": [], "known": []}
        if is_true:
            assert take_faces(P, [step])
            continue
        with pytest.raises(NotProvedError, match="dual"):
            take_faces(P, [step])


ABOVE = lists([0.0, -1.0], [0, INEQUALITY], [(0, 0, 1.0), (1, 0, -1.0)], sign=[0])
SINGLE = lists([0.0, 1.0], [0, 0], [(0, 0, 1.0), (1, 0, 1.0)], sign=[0])
# z = 1 and z <= 0.999, which nothing is.
NOTHING = lists([0.0, 1.0, 0.999], [0, 0, INEQUALITY], [(1, 0, 1.0), (2, 0, 1.0)], sign=[0])
# The same beside a scalar that may fall for ever.
BESIDE = {**NOTHING, "B": [[0, 1, 2], [1, 0, 0], [1.0, 1.0, 1.0]], "q": [0.0, 0.0]}


def listed(w):
    return {name: x.tolist() for name, x in w.items()}


@pytest.mark.parametrize(
    ("given", "claims", "more"),
    [
        (ABOVE, {"bound": 1.9}, {"y": [2.0, 2.0]}),
        (ABOVE, {"bound": 2.0}, {"exact": [[0, 1], [1, 2]]}),
        (ABOVE, {"infeasible": True}, {"y": [1.0, 1.0]}),
        (SINGLE, {"unbounded": True}, {"z": [1.0], "ray": [0.0]}),
        (NOTHING, {"unbounded": True}, {"z": [1.0], "ray": [0.0]}),
        (BESIDE, {"unbounded": True}, {"z": [1.0, 0.0], "ray": [0.0, -1.0]}),
    ],
)
def test_no_claim_is_proved_by_what_proves_another(given, claims, more, tmp_path):
    proof, P = {"format": "sdp-proof", "version": 6, "claims": claims}, program_of(given)
    if "exact" in more:
        proof["exact"] = {"y": more["exact"], "squares": [], "known": []}
    elif "y" in more:
        proof["dual"] = listed(multipliers(P, more["y"]))
    else:
        for whose, z in (("point", more["z"]), ("ray", more["ray"])):
            proof[whose] = listed(point(P, z, rank=[]))
    with pytest.raises(NotProvedError):
        check(Contents(given, proof).write(tmp_path / "cheat.proof"))


def test_more_null_vectors_than_rows_are_refused():
    rows = [0.0, 1.0], [0, 0]
    one = [0, [0], [1.0]]
    assert program(*rows, orders=[1], null=[one]).K == 1
    with pytest.raises(NoProofFileError, match="null vectors"):
        program(*rows, orders=[1], null=[one] * 2)
    long = [[0, [k], [1.0]] for k in range(100)]
    with pytest.raises(NoProofFileError, match="null vectors"):
        program(*rows, orders=[200_000], null=long)


def test_programs_that_are_none_are_named():
    row, block, i, j, v = face["A"]
    for wrong in (
        {"cones": [["ninth", [2]]]},
        {"cones": [[SECOND_ORDER, [1, 1]]]},
        {"cones": [[SECOND_ORDER, []]]},
        {"cones": [[EXPONENTIAL, [1, 2]]]},
        {"cones": [[SECOND_ORDER, [2]]], "inequalities": [2]},
        {"cones": [[SECOND_ORDER, [0]]]},
        {"A": [row, block, [1, 0, 2], j, v]},
        {"A": [row, [0, 0, 1], i, j, v]},
        {"A": [row, block, i, j, v[1:]]},
        {"A": [[1.0, 2.0, 2.0], block, i, j, v]},
        {"sense": 2},
        {"b": [0.0]},
        {"n": [2**30]},
        {"n": [-1]},
        {"inequalities": [3]},
        {"nonnegative": [0]},
        {"U": [[0, [1, 1], [1.0, 1.0]]]},
        {"U": [[0, [1], [0.0]]]},
        {"U": [[1, [0], [1.0]]]},
        # Integers that are no doubles would be rounded, and true is no number.
        {"b": [0, 2**53 + 1, *face["b"][2:]]},
        {"A": [row, block, i, j, [2**53 + 1, *v[1:]]]},
        {"A": [row, block, i, j, [True, *v[1:]]]},
        {"A": [[True, *row[1:]], block, i, j, v]},
    ):
        with pytest.raises(NoProofFileError):
            program_of({**face, **wrong})


@pytest.mark.parametrize(
    ("squares", "rank", "R"),
    [
        (2, -2, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        (1, -2, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        (2, 1, [0.0, 1.0, 0.0]),
    ],
)
def test_what_is_on_the_boundary_of_a_face_is_not_inside_of_it(squares, rank, R, tmp_path):
    """The optimum is zero: E11 is on the boundary of the face, and no point is below zero."""
    rows = [(0, 0, 0, 1, 0.5), (1, 0, 0, 0, 1.0), (2, 0, 2, 2, 1.0)]
    square = [0, 1, [2], [1]]
    proof = {
        "format": "sdp-proof", "version": 6, "claims": {"unbounded": True},
        "point": {"rank": [rank], "R": R, "z": [], "unit": [1.0] * 3},
        "faces": [{"y": [[2], [squares]], "squares": [square] * squares, "known": []}],
        "steps": [
            {"y": [[4], [1]], "squares": [[0, 1, [1], [1]]], "known": []},
            {"y": [[2, 7], [-1, -1]], "squares": [], "known": [[0, 0, [0], [-1]]]},
        ],
    }  # fmt: skip
    file = Contents(lists([0.0] * 3, [0] * 3, (), rows, orders=[3]), proof)
    with pytest.raises(NotProvedError, match="positive definite"):
        check(file.write(tmp_path / "false.proof"))


def test_a_damaged_file_is_named_on_a_terminal_without_its_letters(tmp_path, monkeypatch):
    proof = {"format": "sdp-proof", "version": 6, "claims": {"\xe9": 1.0}}
    file = Contents(face, proof).write(tmp_path / "caf\xe9.proof")
    with io.TextIOWrapper(io.BytesIO(), encoding="ascii") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        assert check_proof.main([str(file)]) == 2
