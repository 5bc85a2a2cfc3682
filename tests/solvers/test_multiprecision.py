"""Hundreds of bits: exact optima in twenty digits and more, from both sides, and honest endings."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import DataError, NotAcceptedError, SolverMissingError
from sdpdr.linalg import Diagonal, SvecMap, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable
from sdpdr.program.run import Verdict
from sdpdr.reduce import Dual
from sdpdr.solvers import Multiprecision, reference
from sdpdr.testing import find_hard_instance, hard_instances

flint = pytest.importorskip("flint", reason="the extra 'multiprecision' is not installed")
getcontext().prec = 60


def rows_of(n, symmetric):
    """A map from a list of rows {(i, j): entry}; entries off the diagonal stand for both."""
    places = [(r, i, j, x) for r, row in enumerate(symmetric) for (i, j), x in row.items()]
    r, i, j, x = (np.array(column) for column in zip(*places, strict=True))
    return SvecMap.from_entries(n, len(symmetric), r, i, j, x.astype(float))


def program(n, cost, rows, rhs, maximize=False):
    """min <C, X> over X >= 0 with <A_i, X> = b_i."""
    objective = {"X": rows_of(n, [cost])} if cost else {}
    constraints = (Rows("rows", "==", {"X": rows_of(n, rows)}, np.array(rhs, dtype=float)),)
    return SDP((PsdVariable("X", n),), objective, constraints, maximize=maximize)


def lovasz(n, edges):
    """The theta number: max <J, X>, tr X = 1, X_ij = 0 on edges."""
    ones = {(i, j): -1.0 for j in range(n) for i in range(j + 1)}
    trace = {(i, i): 1.0 for i in range(n)}
    rows = [trace, *({(min(e), max(e)): 0.5} for e in edges)]
    return program(n, ones, rows, [1.0, *[0.0] * len(edges)], maximize=True)


def cycle(n):
    return [(i, (i + 1) % n) for i in range(n)]


def assert_exact(sdp, value, digits):
    """Both sides agree with an exact value to the digits asked for."""
    found = reference(sdp, digits)
    assert found.status == "solved"
    assert found.digits_agreed >= digits
    exact = Decimal(value)
    for side in (found.primal, found.dual):
        assert abs(Decimal(side) - exact) <= abs(exact) * Decimal(10) ** (2 - digits)


# -- exact optima ---------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [20, 30])
def test_theta_of_the_pentagon_is_the_root_of_five(digits):
    assert_exact(lovasz(5, cycle(5)), Decimal(5).sqrt(), digits)


@pytest.mark.parametrize("lengths", [[1.0, 2.0], [3.0, 0.5, 4.0, 0.25], [16.0, 2.0**-11, 512.0]])
def test_unfolding_of_a_path_is_the_line(lengths):
    places = [Decimal(0)]
    for length in lengths:
        places.append(places[-1] + Decimal(length))
    mean = sum(places) / len(places)
    variance = sum((x - mean) ** 2 for x in places)
    assert_exact(methods.mvu(graphs.path(lengths)).to_sdp(), variance, 20)


def test_the_largest_eigenvalue_in_both_forms():
    # The adjacency matrix of the path with three vertices has the largest eigenvalue sqrt 2.
    path = {(0, 1): -1.0, (1, 2): -1.0}
    sdp = program(3, path, [{(i, i): 1.0 for i in range(3)}], [1.0], maximize=True)
    assert_exact(sdp, Decimal(2).sqrt(), 25)
    dual = Dual().apply(sdp).sdp
    assert dual.lmis
    assert_exact(dual, Decimal(2).sqrt(), 25)


def test_free_scalars_are_not_split():
    # min t with [[t, 1], [1, 4 t]] >= 0 has t = 1/2; a second scalar is fixed to 3 by a row.
    entries = SvecMap.from_entries(
        2, 2, np.array([0, 1, 1]), np.array([0, 1, 0]), np.array([0, 1, 1]), np.array([1.0, 1, 0])
    )
    corner = rows_of(2, [{(0, 1): 0.5}])
    free = VectorVariable("t", 2)
    tie = VectorMap(np.array([[-1.0, 0.0], [-4.0, 0.0]]))
    rows = (
        Rows("diagonal", "==", {"X": entries, "t": tie}, np.zeros(2)),
        Rows("corner", "==", {"X": corner}, np.ones(1)),
        Rows("fixed", "==", {"t": VectorMap(np.array([[0.0, 1.0]]))}, np.array([3.0])),
    )
    cost = {"t": VectorMap(np.array([[1.0, 1.0]]))}
    assert_exact(SDP((PsdVariable("X", 2), free), cost, rows), Decimal("3.5"), 25)


# -- programs without interior --------------------------------------------------------------------

CONFINED = {(0, 0): 1.0}
MIXED = {(2, 2): 1.0, (0, 1): 1.0}


@pytest.mark.parametrize("limit", [1e3, 1e4, 1e5, 1e6])
def test_a_zero_on_the_diagonal_is_left_exactly(limit):
    trace = {(i, i): 1.0 for i in range(5)}
    rows = [CONFINED, MIXED, {(3, 3): 1.0}, trace]
    assert_exact(program(5, {(2, 2): 1.0, (3, 3): 1.0}, rows, [0.0, 1.0, 1.0, limit]), 2, 20)


def test_the_attained_side_of_a_positive_gap():
    assert_exact(program(3, {(2, 2): 1.0}, [CONFINED, MIXED], [0.0, 1.0]), 1, 20)


def test_faces_in_turn():
    # X_00 = 0 makes the second row one on X_11 alone, and that the third.
    rows = [CONFINED, {(1, 1): 1.0, (0, 2): 3.0}, {(2, 2): 1.0, (1, 2): 5.0}]
    assert_exact(program(3, {(2, 2): 2.0}, rows, [0.0, 0.0, 1.0]), 2, 20)


def test_dependent_rows_are_dropped():
    rows = [{(0, 0): 1.0}, {(1, 1): 1.0}, {(0, 0): 0.1, (1, 1): 0.1}]
    # 0.1 + 0.1 is exact in doubles: twice the double that is nearest to a tenth.
    sdp = program(2, {(0, 1): 1.0}, rows, [1.0, 1.0, 0.1 + 0.1])
    found = reference(sdp, 20)
    assert found.status == "solved"
    assert abs(Decimal(found.primal) + 2) < Decimal("1e-18")


# -- infeasible, unbounded ------------------------------------------------------------------------

INFEASIBLE = {
    "strongly": program(
        3, {(0, 0): 1.0}, [CONFINED, {(1, 1): 1.0}, {(2, 2): 1.0}, {(1, 2): 0.5}], [1e9, 1, 1, 5]
    ),
    "by a little": program(2, {}, [CONFINED], [-1e-7]),
    "contradicting rows": program(2, {}, [CONFINED, {(0, 0): 2.0}, {(1, 1): 1.0}], [1.0, 3.0, 1.0]),
}


@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible_is_claimed_and_proved(name):
    sdp = INFEASIBLE[name]
    assert Multiprecision().run(sdp).verdict is Verdict.INFEASIBLE
    assert reference(sdp).primal == "inf"
    answer = sdpdr.solve(sdp, "multiprecision")
    assert answer.status is sdpdr.Status.INFEASIBLE


def test_infeasible_comes_with_multipliers():
    sdp = INFEASIBLE["strongly"]
    y = Multiprecision().run(sdp).point.duals
    gain = -float(sdp.rows[0].rhs @ y["rows"])
    slack = np.asarray(sdp.rows[0].lhs["X"].adjoint(y["rows"]).toarray())
    assert gain > 0.0
    assert np.linalg.eigvalsh(slack)[0] >= -1e-12 * gain


def test_weakly_infeasible_is_seen_on_the_face():
    sdp = program(2, {}, [CONFINED, {(0, 1): 0.5}], [0.0, 1.0])
    assert Multiprecision().run(sdp).verdict is Verdict.INFEASIBLE


def test_unbounded_comes_with_a_direction_that_proves_it():
    sdp = program(
        3, {(0, 0): -1.0, (2, 2): 1.0}, [{(1, 1): 1.0}, {(0, 0): 1.0, (2, 2): -2.0}], [1, 1]
    )
    outcome = Multiprecision().run(sdp)
    assert outcome.verdict is Verdict.UNBOUNDED
    direction = outcome.point.values["X"]
    assert np.linalg.eigvalsh(direction)[0] >= 0.0
    assert np.abs(sdp.rows[0].lhs["X"].apply(direction)).max() < 1e-12
    assert float(sdp.objective["X"].apply(direction)[0]) < 0.0
    assert reference(sdp).status == "dual infeasible"


def test_what_is_infeasible_is_unbounded_from_the_other_side():
    for name, sdp in INFEASIBLE.items():
        dual = Dual().apply(sdp).sdp
        assert Multiprecision().run(dual).verdict is Verdict.UNBOUNDED, name


IMPOSSIBLE = [lie for lie in hard_instances().values() if lie.truth.verdict != "optimal"]
# "parabola" is unbounded, and no ray shows it.
UNDECIDED = {"parabola": "iteration limit"}
WORDS = {"infeasible": "infeasible", "unbounded": "dual infeasible"}


@pytest.mark.nightly
@pytest.mark.parametrize("lie", IMPOSSIBLE, ids=lambda lie: lie.name)
def test_what_has_no_optimum_is_called_what_it_is(lie):
    found = reference(lie.sdp())
    assert found.status == UNDECIDED.get(lie.name, WORDS[lie.truth.verdict])
    if found.status == "infeasible":
        assert float(found.primal) == float(found.dual) == lie.truth.value


@pytest.mark.nightly
def test_a_direction_beside_rows_that_are_nearly_met_is_not_unbounded():
    # Two rows together say X11 = 0, and the third X12 = 1; X44 alone has a cost.
    rows = [{(0, 0): 1.0, (1, 1): -1.0, (2, 2): 1.0}, {(1, 1): 1.0, (2, 2): -1.0}, {(0, 1): 0.5}]
    sdp = program(4, {(3, 3): -1.0}, rows, [0.0, 0.0, 1.0])
    assert reference(sdp).status == "dual infeasible"
    assert sdpdr.solve(sdp, Multiprecision(tol=1e-3)).status is not sdpdr.Status.UNBOUNDED


def inequality(costs, constant, *coefficients):
    """min <costs, y> with constant + sum y_k coefficients_k >= 0, of symmetric 2 x 2 matrices."""
    columns = np.column_stack([svec(np.array(a, dtype=float)) for a in coefficients])
    lmi = Lmi("lmi", 2, {"y": VectorMap(columns)}, svec(np.array(constant, dtype=float)))
    y = VectorVariable("y", len(coefficients))
    return SDP((y,), {"y": VectorMap(np.array([costs], dtype=float))}, (), (lmi,))


def test_a_dual_without_a_point_does_not_make_it_unbounded():
    # min -y2 with [[1 - y1, -y2], [-y2, 0]] >= 0 is zero, and the dual has Z11 = 0 beside Z12 = 1.
    sdp = inequality([0, -1], [[1, 0], [0, 0]], [[-1, 0], [0, 0]], [[0, -1], [-1, 0]])
    found = reference(sdp)
    assert found.status not in ("unbounded", "infeasible", "dual infeasible")
    assert abs(found.value) < 1e-12


def test_an_optimum_that_is_not_attained():
    # min X_00 with X_01 = 1: zero, for X_11 without limit.
    found = reference(program(2, {(0, 0): 1.0}, [{(0, 1): 0.5}], [1.0]), 12)
    assert found.status in ("solved", "iteration limit")
    assert float(found.primal) < 1e-10


# -- options, limits, faults ----------------------------------------------------------------------


def test_working_precision_of_others_is_left_alone():
    before = flint.ctx.prec
    reference(lovasz(5, cycle(5)))
    assert flint.ctx.prec == before


def test_senseless_arguments_are_refused():
    for bits in (0, 10, 10**6):
        with pytest.raises(DataError, match="bits"):
            Multiprecision(bits=bits)
    with pytest.raises(DataError, match="colour"):
        Multiprecision(options={"colour": 1}).run(lovasz(5, cycle(5)))
    with pytest.raises(DataError, match="digits"):
        reference(lovasz(5, cycle(5)), 0)


def test_no_time_at_all_still_comes_back():
    outcome = Multiprecision(time_limit=0.0).run(lovasz(5, cycle(5)))
    assert outcome.verdict is Verdict.TIME_LIMIT


def test_an_interruption_keeps_the_point():
    def interrupt(record):
        if record["iteration"] == 5:
            raise KeyboardInterrupt

    outcome = Multiprecision().run(lovasz(5, cycle(5)), interrupt)
    assert outcome.verdict is Verdict.INTERRUPTED
    assert outcome.point.values


def test_large_programs_are_refused_politely():
    large = SDP(
        (PsdVariable("X", 500),), {}, (Rows("d", "==", {"X": Diagonal(500)}, np.ones(500)),)
    )
    assert "500" in Multiprecision().accepts(large)
    with pytest.raises(NotAcceptedError, match="order 500"):
        reference(large)
    with pytest.raises(NotAcceptedError, match="order 500"):
        sdpdr.solve(large, "multiprecision")


def test_a_missing_package_is_named_with_its_extra(hide_packages):
    hide_packages("mpmath", "flint")
    with pytest.raises(SolverMissingError, match=r"sdpdr\[multiprecision\]"):
        reference(lovasz(5, cycle(5)))


def test_auto_leaves_it_alone():
    choice = sdpdr.plan(lovasz(5, cycle(5)))
    assert choice.solver.name != "multiprecision"
    assert ("multiprecision", "gram") in choice.others
    assert "multiprecision" in choice.explain()


@pytest.mark.nightly
@pytest.mark.xfail(strict=True, reason="exact rows that contradict each other are no ray any more")
def test_rows_that_contradict_each_other_by_little_have_a_ray():
    sdp = find_hard_instance("twice-and-not").build()
    answer = sdpdr.solve(sdp, "multiprecision")
    assert answer.status is sdpdr.Status.INFEASIBLE
    assert answer.ray.duals
