"""Programs in standard form: what is proved of them is true, whatever is claimed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods, minimize, psd, scalar, square
from sdpdr.certify import answer as answers
from sdpdr.certify.answer import ProofInterruptedError, is_nothing, is_small, prove_answer
from sdpdr.certify.knowledge import Knowledge
from sdpdr.certify.standard import as_written, standard
from sdpdr.certify.units import NOTHING
from sdpdr.linalg import (
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    QuadraticForms,
    SquaredEdgeLengths,
    Trace,
    VectorMap,
    smat,
    svec,
)
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable
from sdpdr.program.echelon import complement
from sdpdr.solvers.flat import ask_clarabel

X2, X3 = PsdVariable("X", 2), PsdVariable("X", 3)


def proved(sdp, point=None, claim="", **options):
    """What is proved of a point, or of what Clarabel finds."""
    form = standard(sdp)
    answer = ask_clarabel(form.flat)
    given = point or Point()
    values = {**form.values(answer.x), **given.values}
    duals = {**form.duals(answer.z), **given.duals}
    return prove_answer(sdp, Point(values, duals), ask_clarabel, claim=claim, **options)


def entries(pairs, rhs, n):
    rows = Rows("entries", "==", {"X": Entries(n, pairs)}, np.array(rhs, dtype=float))
    return SDP((PsdVariable("X", n),), {}, (rows,))


def dense(label, coefficients, side, relation="=="):
    side = np.array([side], dtype=float)
    return Rows(label, relation, {"X": InnerProduct(np.array(coefficients, dtype=float))}, side)


# -- programs as flat ones ------------------------------------------------------------------------


def test_a_program_as_it_is_written_has_every_entry_and_the_units_that_were_given():
    sdp = methods.mvu(graphs.path([3.0, 4.0])).to_sdp()
    written, confined = as_written(sdp), standard(sdp)
    assert written.flat.c.tolist() == [-1.0, 0.0, -1.0, 0.0, 0.0, -1.0]
    assert written.flat.E.shape[0] == 3
    assert written.units.cost == 1.0
    assert (confined.flat.c.size, confined.flat.E.shape[0]) == (3, 0)


def test_entries_that_no_double_times_the_root_of_two_makes_have_radii_in_their_rows():
    C = np.array([[20.0, 1.0, 5.0], [1.0, 30.0, 10.0], [5.0, 10.0, 50.0]])
    stored = svec(C)
    stored[[3, 4]] = 7.0, 15.0
    t = VectorVariable("t", 1)
    limit = Lmi("limit", 3, {"t": VectorMap(-svec(np.eye(3))[:, None])}, stored)
    flat = standard(SDP((t,), {"t": VectorMap(np.ones((1, 1)))}, (), (limit,))).flat
    radii = flat.around.A.toarray()
    assert not np.any(radii[:, :-1])
    assert np.flatnonzero(radii[:, -1]).tolist() == [3, 4]


def test_an_arrow_is_a_second_order_cone_of_the_same_margin():
    """Twice the least eigenvalue of [[a, v'], [v, t I]] is a + t - |(a - t, 2 v)|."""
    n, rng = 4, np.random.default_rng(0)
    head, rest = np.diag([1.0, 0.0, 0.0, 0.0]), np.diag([0.0, 1.0, 1.0, 1.0])
    columns = [svec(head), svec(rest)]
    for k in range(1, n):
        M = np.zeros((n, n))
        M[0, k] = M[k, 0] = 1.0 + k
        columns.append(svec(M))
    constant = svec(3.0 * head + 2.0 * rest + M)
    lmi = Lmi("arrow", n, {"z": VectorMap(np.stack(columns, axis=1))}, constant)
    cost = {"z": VectorMap(np.ones((1, n + 1)))}
    form = standard(SDP((VectorVariable("z", n + 1),), cost, (), (lmi,)))
    ((kind, _, rows, _),) = form.flat.parts
    assert (kind, form.flat.around.is_exact) == ("second-order", True)
    margins = []
    for z in rng.normal(size=(5, n + 1)):
        whole = np.stack(columns, axis=1) @ z + constant
        s = form.answer(Point({"z": z})).s[rows]
        margins.append((s[0] - np.linalg.norm(s[1:]), np.linalg.eigvalsh(smat(whole))[0]))
    one, other = np.array(margins).T
    assert one == pytest.approx(other * (one[0] / other[0]), rel=1e-9)
    assert one[0] / other[0] > 0.0


# -- no point, or no limit ------------------------------------------------------------------------

IMPOSSIBLE = {
    "a large diagonal beside an impossible block": entries(
        [[0, 0], [1, 1], [2, 2], [1, 2]], [1e9, 1.0, 1.0, 5.0], 3
    ),
    "a slightly negative diagonal": entries([[0, 0]], [-1e-7], 3),
    "a very slightly negative diagonal": entries([[0, 0]], [-1e-30], 3),
    "a very negative diagonal": entries([[0, 0]], [-1e9], 1),
    "a triangle that cannot close": SDP(
        (PsdVariable("K", 5),),
        {},
        (
            Rows("centred", "==", {"K": Products(5)}, np.zeros(5)),
            Rows(
                "lengths",
                "==",
                {"K": SquaredEdgeLengths(5, [[0, 1], [1, 2], [0, 2], [3, 4]])},
                np.array([1.0, 1.0, 9.0, 1.0]),
            ),
        ),
    ),
}


def contradiction(sdp, duals):
    """By how much multipliers contradict the rows, and the least eigenvalue of what they leave."""
    value = -sum(float(r.rhs @ duals[r.label]) for r in sdp.rows)
    name = sdp.psd_variables[0].name
    slack = sdp.dual_slack(name, duals)
    matrix = slack.toarray() if hasattr(slack, "toarray") else np.asarray(slack)
    return value, np.linalg.eigvalsh(matrix)[0]


@pytest.mark.daily(7)
@pytest.mark.parametrize("claim", ["", "infeasible", "unbounded"])
@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_has_no_point_is_proved_so_whatever_is_claimed(name, claim):
    sdp = IMPOSSIBLE[name]
    found = proved(sdp, claim=claim)
    assert found.value is None
    assert found.ray.kind == "infeasible"
    assert 0.0 < found.ray.margin <= 1.0
    value, least = contradiction(sdp, found.ray.duals)
    assert value > 0.0
    assert least > -1e-9 * max(np.max(np.abs(y)) for y in found.ray.duals.values())


POSSIBLE = {
    "only a huge entry will do": entries([[0, 0], [0, 1]], [1e-10, 1.0], 2),
    "a single point": entries([[0, 0], [0, 1], [1, 1]], [1.0, 1.0, 1.0], 2),
    "an unfolding": methods.mvu(graphs.path([1.0, 2.0, 1e-3]), "equality").to_sdp(),
}


@pytest.mark.daily(3)
@pytest.mark.parametrize("claim", ["infeasible", "unbounded"])
@pytest.mark.parametrize("name", POSSIBLE)
def test_what_has_a_point_and_a_limit_is_never_refuted(name, claim):
    assert proved(POSSIBLE[name], claim=claim).ray is None


@pytest.mark.parametrize("claim", ["", "infeasible", "unbounded"])
def test_points_that_drift_apart_have_no_limit_and_a_point_to_begin_from(claim):
    edges = SquaredEdgeLengths(5, [[0, 1], [1, 2], [3, 4]])
    rows = Rows("lengths", "==", {"K": edges}, np.array([1.0, 1.0, 4.0]))
    sdp = SDP((PsdVariable("K", 5),), {"K": -1.0 * Trace(5)}, (rows,), maximize=True)
    found = proved(sdp, claim=claim)
    assert found.ray.kind == "unbounded"
    assert found.bound is None
    direction = found.ray.values["K"]
    assert np.linalg.eigvalsh(direction)[0] > -1e-9
    assert np.trace(direction) > 0.0
    assert np.max(np.abs(edges.apply(direction))) < 1e-9
    assert found.values["K"].shape == (5, 5)


def test_no_limit_without_a_direction_is_proved_behind_a_face():
    """min K_01 with K_00 <= 1: the dual contradicts itself, and no single direction shows it."""
    for relation in ("<=", "=="):
        rows = Rows("corner", relation, {"X": Entries(2, [[0, 0]])}, np.ones(1))
        found = proved(SDP((X2,), {"X": Entries(2, [[0, 1]])}, (rows,)))
        assert found.ray.kind == "unbounded"
        assert "behind a face" in found.ray.argument


def test_multipliers_behind_a_face_are_remembered_as_those_of_the_whole_program():
    """X_00 = 0 and X_01 = 1: a face, and behind it a ray."""
    sdp = entries([[0, 0], [0, 1]], [0.0, 1.0], 2)
    assert "face" in proved(sdp).ray.argument
    flat = standard(sdp).flat
    (exposing,), ray = flat.behind["infeasible"]
    right = np.concatenate([flat.f, flat.b])
    for z, side in ((exposing, 0.0), (ray, -1.0)):
        w, cones = z[: flat.f.size], z[flat.f.size :]
        assert np.abs(flat.E.T @ w + flat.A.T @ cones).max() < 1e-12
        assert right @ z == pytest.approx(side, abs=1e-9)


def test_directions_behind_a_face_are_remembered():
    rows = Rows("corner", "<=", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    sdp = SDP((X2,), {"X": Entries(2, [[0, 1]])}, (rows,))
    assert proved(sdp).ray.kind == "unbounded"
    flat = standard(sdp).flat
    (exposing,), ray = flat.behind["unbounded"]
    assert flat.c @ exposing == pytest.approx(0.0, abs=1e-9)
    assert flat.c @ ray == pytest.approx(-1.0)
    assert flat.all_inside(-flat.A @ exposing + 1e-9 * flat.centre)


def test_a_finite_optimum_that_multipliers_do_not_attain_is_not_without_limit():
    """min X_01 with X_00 = 0 is zero, and no multipliers have that value; nothing lies inside."""
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.zeros(1))
    found = proved(SDP((X2,), {"X": Entries(2, [[0, 1]])}, (rows,)))
    assert found.ray is None
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert found.bound == pytest.approx(0.0, abs=1e-9)


def test_the_sign_of_a_scalar_decides_whether_there_is_a_point():
    plus = VectorMap(np.ones((1, 1)))
    for scalars, sign, expected in (
        (VectorVariable("z", 1, nonnegative=True), 1.0, "infeasible"),
        (VectorVariable("z", 1, nonnegative=True), -1.0, None),
        (VectorVariable("z", 1), 1.0, None),
        (VectorVariable("z", 1, curvature=np.ones(1)), 1.0, None),
    ):
        row = Rows("most", "<=", {"X": Trace(2), "z": sign * plus}, -np.ones(1))
        ray = proved(SDP((X2, scalars), {}, (row,))).ray
        assert (ray and ray.kind) == expected


# -- values and bounds ----------------------------------------------------------------------------


def theta():
    """Lovász's number of a pentagon, the root of five."""
    pentagon = [(i, (i + 1) % 5) for i in range(5)]
    rows = (
        Rows("trace", "==", {"X": Trace(5)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(5, pentagon)}, np.zeros(5)),
    )
    cost = InnerProduct(-np.ones((5, 5)))
    return SDP((PsdVariable("X", 5),), {"X": cost}, rows, maximize=True)


def theta_point(noise):
    angles = 2.0 * np.pi * np.arange(5) / 5.0
    second = np.cos(2.0 * (angles[:, None] - angles[None, :]))
    gram = 1.0 - second / np.cos(2.0 * angles[1])
    off = np.random.default_rng(0).standard_normal((5, 5)) * noise
    return gram / np.trace(gram) + off + off.T


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
def test_both_sides_enclose_the_optimum_without_multipliers_and_from_a_noisy_point(noise):
    found = proved(theta(), Point({"X": theta_point(noise)}))
    assert np.sqrt(5.0) - 3e-6 < found.value <= np.sqrt(5.0) <= found.bound < np.sqrt(5.0) + 3e-6
    assert np.linalg.eigvalsh(found.values["X"])[0] > 0.0


def test_gaps_are_relative_to_the_optimum_however_small_it_is_unless_a_scale_is_given():
    least = 2.0**-20
    above = Rows("above", "<=", {"z": VectorMap([[-1.0]])}, np.full(1, -least))
    z, cost = VectorVariable("z", 1, nonnegative=True), {"z": VectorMap([[1.0]])}
    off = Point({"z": np.full(1, 1.001 * least)}, {"above": np.full(1, 0.999)})
    sdp = SDP((z,), cost, (above,))
    close, wide = (proved(sdp, off, **scale) for scale in ({}, {"gap_scale": 1.0}))
    assert 0.0 <= close.value - close.bound <= 1e-6 * least
    assert 1e-3 * least < wide.value - wide.bound <= 3e-3 * least


def test_a_matrix_inequality_and_quadratic_costs_keep_their_natural_numbers():
    """The least largest eigenvalue of [[2, 1], [1, 2]] is 3; (z - 3)^2 with z <= 1 is 4."""
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    lmi = Lmi("eigen", 2, {"t": VectorMap(svec(np.eye(2))[:, None])}, -svec(A))
    found = proved(SDP((VectorVariable("t", 1),), {"t": VectorMap([[1.0]])}, (), (lmi,)))
    assert found.bound <= 3.0 <= found.value < 3.0 + 1e-5
    Z = found.duals["eigen"]
    assert pytest.approx(Z.T) == Z
    assert np.sum(A * Z) == pytest.approx(3.0, abs=1e-5)
    z = scalar("z")
    least = proved((minimize(square(z - 3.0)) + (z <= 1.0)).to_sdp())
    assert least.bound <= 4.0 <= least.value < 4.0 + 1e-5


def test_where_no_face_has_small_integers_the_answer_says_so():
    """The one feasible matrix is singular along (r, -1)."""
    r = 1.0 + 2.0**-10 + 2.0**-20
    sdp = entries([[0, 0], [0, 1], [1, 1]], [1.0, r, r * r], 2)
    found = proved(sdp)
    assert found.value is None
    assert found.how["value"].startswith(
        "no point was proved feasible: the program has no interior"
    )


def test_rows_that_repeat_are_shown_to_follow_exactly_or_not_at_all():
    cost = {"X": InnerProduct(np.diag([1.0, 2.0]))}
    once = Rows("once", "==", {"X": Trace(2)}, np.ones(1))
    twice = Rows("twice", "==", {"X": InnerProduct(2.0 * np.eye(2))}, 2.0 * np.ones(1))
    other = Rows("other", "==", {"X": InnerProduct(3.0 * np.eye(2))}, 3.0 * np.ones(1) + 1e-9)
    assert proved(SDP((X2,), cost, (once, twice))).value == pytest.approx(1.0, abs=1e-5)
    assert proved(SDP((X2,), cost, (once, other))).value is None


def test_on_a_face_rounding_is_not_worth_the_value():
    """With X_00 = 0 the value is 1; next to that face it is nothing."""
    rows = (dense("zero", np.diag([1.0, 0.0, 0.0]), 0.0),)
    rows += (dense("mixed", [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], 1.0),)
    sdp = SDP((X3,), {"X": InnerProduct(np.diag([0.0, 0.0, 1.0]))}, rows)
    cheat = np.array([[1e-12, 0.5, 0.0], [0.5, 0.25e12, 0.0], [0.0, 0.0, 1e-9]])
    found = proved(sdp, Point({"X": cheat}))
    assert found.bound <= 1.0 <= found.value


@pytest.mark.daily(2)
@pytest.mark.parametrize("power", [-20, 0, 20])
def test_what_is_proved_scales_with_the_unit_of_lengths(power):
    unit = 2.0**power
    found = proved(methods.mvu(graphs.path([unit, 2.0 * unit, 0.5 * unit])).to_sdp())
    ours = proved(methods.mvu(graphs.path([1.0, 2.0, 0.5])).to_sdp())
    assert (found.value, found.bound) == (ours.value * unit**2, ours.bound * unit**2)


def test_an_optimum_of_zero_is_zero_where_the_numbers_are():
    rows = Rows("most", "<=", {"X": Trace(2)}, np.ones(1))
    sdp = SDP((X2,), {"X": Trace(2)}, (rows,))
    found = proved(sdp, Point({"X": np.zeros((2, 2))}))
    assert (found.value, found.bound) == (0.0, 0.0)


def test_what_is_known_already_is_kept_and_not_looked_for(monkeypatch):
    sdp = theta()
    beside = replace(proved(sdp), how={"value": "known", "bound": "known"})

    def nobody(*_given, **_options):
        raise AssertionError("nothing is left to prove")

    monkeypatch.setattr("sdpdr.certify.prove.Path", nobody)
    found = proved(sdp, Point({"X": theta_point(0.0)}), beside=beside)
    assert found.how == {"value": "known", "bound": "known"}


def test_an_interruption_keeps_what_was_proved(monkeypatch):
    def interrupted(*_given):
        raise KeyboardInterrupt

    monkeypatch.setattr("sdpdr.certify.prove.Path", interrupted)
    sdp = methods.mvu(graphs.path([1.0, 2.0])).to_sdp()
    inside = 0.5 * sdpdr.solve(sdp).values["K"].dense() + 0.01 * (np.eye(3) - 1.0 / 3.0)
    with pytest.raises(ProofInterruptedError, match="was interrupted") as caught:
        proved(sdp, Point({"K": inside}, sdp.zero_point().duals))
    assert 0.0 < caught.value.proved.value < 4.7


def test_who_has_no_time_is_told_how_to_go_on():
    found = proved(
        theta(), Point({"X": theta_point(1e-3)}, theta().zero_point().duals), seconds=0.0
    )
    assert found.value is None
    assert found.is_late
    assert "solution.prove()" in found.how["value"]


NO_POINT = dense("trace", np.eye(2), -1.0)
CORNER = dense("corner", np.diag([1.0, 0.0]), 0.0)
LIMIT = dense("limit", np.diag([1.0, 0.0]), 1.0, "<=")


@pytest.mark.parametrize(
    ("cost", "row", "seconds", "solves"),
    [
        ({"X": Trace(2)}, dense("one", np.eye(2), 1.0), np.inf, 0),
        ({}, NO_POINT, 0.0, 0),
        ({}, NO_POINT, np.inf, 2),
        ({"X": -1.0 * Trace(2)}, LIMIT, np.inf, 2),
        ({"X": Entries(2, [[0, 1]])}, CORNER, np.inf, 3),
        ({"X": Entries(2, [[0, 1]])}, LIMIT, np.inf, 5),
    ],
    ids=["interior", "no time", "no point", "no limit", "a face", "no limit behind a face"],
)
def test_a_solver_is_asked_no_more_often_than_a_proof_needs(cost, row, seconds, solves):
    """Not at all with interior; once for the margin, once for a ray, once for a face."""
    asked, sdp = [], SDP((X2,), cost, (row,))

    def counting(program, left=np.inf):
        asked.append(program)
        return ask_clarabel(program, left)

    form = standard(sdp)
    answer = ask_clarabel(form.flat)
    point = Point(form.values(answer.x), form.duals(answer.z))
    found = prove_answer(sdp, point, counting, seconds=seconds)
    assert len(asked) <= solves
    assert found.is_late == (seconds == 0.0)
    # Nothing is searched for behind faces where a point is to stay.
    asked.clear()
    prove_answer(sdp, point, counting, seconds=seconds, stays=True)
    assert not asked


@pytest.mark.parametrize("unit", [1.0, 2.0**40])
def test_an_enclosure_counts_as_zero_beside_the_numbers_of_its_program_alone(unit):
    small = methods.mvu(graphs.path([unit, unit])).to_sdp()
    rows = Rows("trace", "<=", {"X": Trace(200)}, np.full(1, unit**2))
    large = SDP((PsdVariable("X", 200),), {"X": Trace(200)}, (rows,))
    for sdp in (small, large):
        for ends, expected in (
            ((1e-9, -1e-9), True),
            ((0.0, 0.0), True),
            ((1e-3, -1e-9), False),
            ((1e-9, -1e-3), False),
            ((2e-9, 1e-9), False),
            ((-2e-9, -1e-9), False),
        ):
            assert is_nothing(sdp, *(unit**2 * end for end in ends)) == expected
        assert not is_nothing(sdp, 0.0, None)


def test_what_is_known_is_reported_in_units_of_the_program_and_in_its_sense():
    """An unfolding is a maximum: the value of the minimisation is minus its own."""
    form = standard(methods.mvu(graphs.path([3.0, 4.0])).to_sdp())
    unit = form.units.cost
    sides = {"value": -2.0, "bound": -4.0, "how": {"value": "a point", "bound": "multipliers"}}
    for status, is_late in (("unproved", True), ("optimal", False), ("infeasible", False)):
        how = {**sides["how"], status: "a ray"}
        known = Knowledge(**{**sides, "how": how}, status=status, is_late=True)
        found = answers._of_knowledge(form, known)
        assert (found.value, found.bound) == (2.0 * unit, 4.0 * unit)
        assert found.is_late is is_late
        assert (found.ray is not None) == (status == "infeasible")
        assert found.how["value"] == "a point"
    none = answers._of_knowledge(form, Knowledge())
    assert (none.value, none.bound, none.values, none.duals) == (None, None, {}, {})
    assert none.how == dict.fromkeys(["value", "bound"], "nothing was proved")


def test_why_a_side_is_not_proved_is_the_last_that_was_tried_for_it():
    form = standard(methods.mvu(graphs.path([3.0, 4.0])).to_sdp())
    for known, reason in (
        (Knowledge(notes=["value, one", "bound, two", "value, three"]), "value, three"),
        (Knowledge(notes=["bound, two", "central path"]), "central path"),
        (Knowledge(notes=["value, one"], seconds=1.25, is_late=True), "1.2 CPU seconds"),
    ):
        assert reason in answers._why_not(form, known, "value")


def test_sizes_decide_what_the_kernel_is_asked():
    assert is_small(theta())
    assert not is_small(SDP((PsdVariable("X", 200),), {"X": Trace(200)}))
    assert answers.standard is standard


# -- faces that rows state ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns",
    [
        [[1.0, 1.0, 1.0, 1.0]],
        [[1, 1, 1, 1.0], [1, -1, 0, 0.0]],
        [[1e6, -1e3, 7.0, 1.0 / 1024.0], [3.0, 0.0, 1e5, 0.0]],
    ],
)
def test_a_complement_is_orthogonal_in_rational_numbers(columns):
    import scipy.sparse as sp

    null = np.array(columns).T
    V = complement(sp.csr_array(null)).toarray()
    assert V.shape == (4, 4 - null.shape[1])
    assert np.linalg.matrix_rank(V) == V.shape[1]
    exact = [
        sum(Fraction(a) * Fraction(b) for a, b in zip(u, v, strict=True))
        for u in null.T
        for v in V.T
    ]
    assert not any(exact)


def test_a_complement_that_needs_other_numbers_than_doubles_is_left_out():
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    assert complement(sp.csr_array(rng.normal(size=(5, 3)))) is None


def test_points_and_multipliers_survive_the_way_there_and_back():
    """On a stated face, with inequalities, free and curved scalars and a matrix inequality."""
    K, z, t = psd("K", 4), scalar("z", 2), scalar("t")
    eye = np.eye(2)
    model = minimize(square(z - 1.0).sum() + K[0, 0] + t) + (K @ np.ones(4) == 0.0)
    model = model + (K[0, 0] - z[0] >= 1.0) + (t * eye + np.array([[0.0, 1.0], [1.0, 0.0]]) >> 0.0)
    sdp = model.to_sdp()
    form = standard(sdp)
    F = np.random.default_rng(1).normal(size=(4, 2))
    F -= F.mean(axis=0)
    values = {v.name: np.arange(1.0, v.size + 1.0) for v in sdp.vector_variables}
    duals = {r.label: np.linspace(0.5, 1.0, r.m) for r in sdp.rows}
    duals |= {lmi.label: np.array([[2.0, 0.5], [0.5, 1.0]]) for lmi in sdp.lmis}
    point = Point({**values, "K": F @ F.T}, duals)
    there = form.answer(point)
    for name, value in form.values(there.x).items():
        np.testing.assert_allclose(value, point.values[name], atol=1e-12)
    back = form.duals(there.z)
    for r in sdp.rows:
        if "K" not in r.lhs or not isinstance(r.lhs["K"], Products):
            np.testing.assert_allclose(back[r.label], duals[r.label], atol=1e-12)
    unit = form.units.cost
    value = unit * float(form.flat.c @ there.x + form.flat.offset)
    assert value == pytest.approx(sdp.primal_value(point.values))


def test_a_solve_says_what_was_proved_of_it():
    found = sdpdr.solve(
        SDP(
            (X2,),
            {"X": Entries(2, [[0, 1]])},
            (Rows("corner", "<=", {"X": Entries(2, [[0, 0]])}, np.ones(1)),),
        )
    )
    assert found.status is Status.UNBOUNDED
    singular = Rows("null", "==", {"X": QuadraticForms([[1.0, -1.0]])}, np.zeros(1))
    ones = Rows("diagonal", "==", {"X": Diagonal(2)}, np.ones(2))
    assert sdpdr.solve(SDP((X2,), {"X": Trace(2)}, (singular, ones))).attained == pytest.approx(2.0)


def test_nothing_is_a_share_of_the_unit_of_costs():
    X = psd("X", 2)
    sdp = (minimize(1e3 * X[0, 0]) + (X.diagonal() >= 1e6)).to_sdp()
    unit = NOTHING * standard(sdp).units.cost
    assert is_nothing(sdp, 0.99 * unit, 0.0)
    assert not is_nothing(sdp, 1.01 * unit, 0.0)


def test_what_has_neither_a_point_nor_multipliers_is_not_unbounded():
    """A claim that nothing limits the objective needs a point."""
    X, y = psd("X", 1), scalar("y")
    sdp = (minimize(y + X[0, 0]) + (X[0, 0] <= -1.0)).to_sdp()
    found = prove_answer(sdp, sdp.zero_point(), ask_clarabel, claim="unbounded")
    assert found.ray is not None
    assert found.ray.kind == "infeasible"
