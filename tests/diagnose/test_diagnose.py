"""Diagnoses of broken programs name the cause, and well-posed programs have none."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import errors, graphs, library, maximize, minimize, psd, scalar
from sdpdr.certify.check_proof import check
from sdpdr.certify.standard import as_written
from sdpdr.program import Status
from sdpdr.solving.diagnosis import Kind, Severity
from sdpdr.testing import KINDS, planted

from .broken_models import BROKEN, C

pytestmark = [
    pytest.mark.integration,
    # A comparison of entries where matrices were meant is one of the mistakes to be found.
    pytest.mark.filterwarnings("ignore::sdpdr.errors.EntrywiseWarning"),
]

# Proofs on a machine that is busy with other tests take longer than by default.
SECONDS = 60.0


def diagnose(program):
    return sdpdr.diagnose(program, seconds=SECONDS)


@pytest.mark.daily(6)
@pytest.mark.parametrize("broken", [pytest.param(one, id=one.name) for one in BROKEN])
def test_the_cause_of_a_broken_program_is_the_first_finding(broken):
    first = diagnose(broken.make())[0]
    assert first.kind is broken.kind
    assert set(first.constraints) == set(broken.constraints)
    assert set(broken.variables) <= set(first.variables)
    assert first.says.endswith(".")
    assert first.instead.endswith(".")


@pytest.mark.parametrize("relation", ["<=", "=="])
def test_points_that_nothing_centres_are_found_without_a_solver(relation):
    """With 60 points, the kernel takes longer than a diagnosis has time for."""
    graph = graphs.cycle(60)
    i, j = graph.edges.T
    K = cp.Variable((60, 60), PSD=True, name="K")
    squares = cp.diag(K)[i] + cp.diag(K)[j] - 2.0 * K[i, j]
    limits = squares <= graph.sqdist if relation == "<=" else squares == graph.sqdist
    problem = cp.Problem(cp.Maximize(cp.trace(K)), [limits])
    first = sdpdr.diagnose(problem, seconds=0.0)[0]
    assert (first.kind, first.variables) == (Kind.UNBOUNDED, ("K",))
    assert first.severity is (Severity.ERROR if relation == "<=" else Severity.WARNING)
    np.testing.assert_array_equal(first.data["direction"]["K"], np.ones((60, 60)))
    problem = cp.Problem(problem.objective, [limits, cp.sum(K, axis=1) == 0])
    assert not sdpdr.diagnose(problem, seconds=0.0).of_kind(Kind.UNBOUNDED)


def test_a_proof_that_all_points_move_together_can_be_checked(tmp_path):
    K = psd("K", 6)
    lengths = [K.distance2(int(i), int(j)) <= 1.0 for i, j in graphs.cycle(6).edges]
    solution = sdpdr.solve(maximize(K.trace()) + lengths)
    assert solution.status is Status.UNBOUNDED
    assert "grow alike" in solution.ray.argument
    solution.write_proof(tmp_path / "ray.proof")
    assert check(tmp_path / "ray.proof")["unbounded"]


# -- laws of planted programs ---------------------------------------------------------------------

SOUND = [kind for kind in KINDS if kind not in ("impossible", "endless", "chain-to-nothing")]


@pytest.mark.daily(3)
@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.parametrize("seed", range(2))
def test_programs_with_an_optimum_have_no_error(kind, seed):
    program = planted(kind, seed)
    found = diagnose(program.sdp)
    assert all(finding.severity > Severity.ERROR for finding in found), str(found)
    if program.interior:
        assert not found.of_kind(Kind.NO_INTERIOR)


@pytest.mark.daily(2)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("impossible", Kind.CONFLICT),
        ("chain-to-nothing", Kind.CONFLICT),
        ("endless", Kind.UNBOUNDED),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_programs_without_an_answer_have_one_reason(kind, expected, seed):
    first = diagnose(planted(kind, seed).sdp)[0]
    assert (first.kind, first.severity) == (expected, Severity.ERROR)
    assert first.is_proved


def test_a_face_that_rows_force_is_found():
    found = diagnose(planted("face", 0).sdp).of_kind(Kind.NO_INTERIOR)
    assert found
    assert found[0].is_proved


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [name for name, card in library.library().items() if not card.run.slow]
)
def test_cards_have_errors_only_where_they_have_no_answer(name):
    card = library.find_card(name)
    if card.expect.error:
        pytest.skip("the model of this card cannot be built, as expected")
    found = sdpdr.diagnose(card.build())
    errors_found = [finding for finding in found if finding.severity is Severity.ERROR]
    expected = {"INFEASIBLE": Kind.CONFLICT, "UNBOUNDED": Kind.UNBOUNDED}.get(card.expect.status)
    assert all(finding.kind is expected for finding in errors_found), str(found)


# -- equations ------------------------------------------------------------------------------------


@pytest.mark.daily(2)
@pytest.mark.parametrize("seed", range(3))
def test_equations_disagree_where_a_last_digit_is_off_and_nowhere_else(seed):
    rng = np.random.default_rng(seed)
    A, x0 = rng.integers(-9, 10, (9, 5)).astype(float), rng.integers(-9, 10, 5)
    x = scalar("x", 5)
    for f, kind, other in (
        (A @ x0, Kind.REPEATED, Kind.DISAGREEMENT),
        (np.nextafter(A @ x0, np.inf), Kind.DISAGREEMENT, Kind.REPEATED),
    ):
        found = diagnose(minimize(x.sum()) + (A @ x == f).named("equations"))
        assert found.of_kind(kind)
        assert not found.of_kind(other)


# -- conflicts ------------------------------------------------------------------------------------


def test_multipliers_of_a_conflict_are_exact():
    """They prove it by arithmetic alone: the left side is a square, the right side negative."""
    K = psd("K", 2)
    statements = [
        (K.trace() <= 1.0).named("size"),
        (K[0, 1] >= 0.75).named("corner"),
    ]
    model = minimize(K.trace()) + statements
    found = diagnose(model)[0].data["multipliers"]
    assert found == {"size": [Fraction(1)], "corner": [Fraction(2)]}
    form = as_written(model.to_sdp())
    rows, z = form.flat.A.toarray(), np.zeros(form.flat.b.size)
    for label, weights in found.items():
        z[form.labels[label]] = [float(w) for w in weights]
    assert (z @ rows).tolist() == [1.0, -2.0, 1.0]  # (x_0 - x_1)^2
    assert z @ form.flat.b == -0.5


@pytest.mark.nightly
def test_a_bound_that_only_makes_a_ray_of_a_face_is_no_part_of_a_conflict():
    """K_00 = 0 leaves K_01 = 0: with a bound on the trace a ray proves it, without one a face."""
    K = cp.Variable((3, 3), PSD=True)
    zero, apart = (K[0, 0] == 0.0).set_label("zero"), (K[0, 1] >= 0.3).set_label("apart")
    problem = cp.Problem(cp.Minimize(cp.trace(K)), [zero, cp.trace(K) <= 20.0, apart])
    assert set(diagnose(problem)[0].constraints) == {"zero", "apart"}


def test_only_the_rows_that_contradict_each_other_are_kept():
    rng = np.random.default_rng(0)
    A, x0 = rng.integers(-9, 10, (40, 50)).astype(float), rng.integers(-9, 10, 50)
    x = scalar("x", 50)
    b = A @ x0 + 1.0
    limits = (A @ x <= b).named("limits")
    weights = np.zeros(40)
    weights[[3, 17]] = 1.0, 2.0
    model = minimize(x.sum()) + limits + ((weights @ A) @ x >= weights @ b + 0.5).named("beyond")
    first = diagnose(model)[0]
    assert first.constraints == ("limits", "beyond")
    assert first.data["rows"]["limits"].tolist() == [3, 17]
    assert "none of them can be left out" in first.says


def test_a_constraint_does_not_stand_for_rows_of_another_one():
    """Two constraints contradict each other; a third one could replace a row of the first."""
    x = scalar("x", 3)
    low, total = (x >= 1.0).named("low"), (x.sum() <= 2.0).named("total")
    apart = (x[0] - x[1] == 0.1).named("apart")
    model = minimize(x.sum()) + low + total + apart
    assert diagnose(model)[0].constraints == ("low", "total")


@pytest.mark.nightly
def test_without_any_of_the_constraints_named_the_conflict_is_gone():
    K = psd("K", 3)
    named = {
        "a": K[0, 0] <= 1.0,
        "b": K[1, 1] <= 1.0,
        "c": K[0, 1] >= 0.9,
        "d": K[1, 2] >= 0.9,
        "e": K[0, 2] <= 0.2,
        "f": K[2, 2] <= 1.0,
    }
    first = diagnose(minimize(K.sum()) + [c.named(label) for label, c in named.items()])[0]
    assert set(first.constraints) == set(named)
    for left_out in named:
        kept = [c.named(label) for label, c in named.items() if label != left_out]
        assert not diagnose(minimize(K.sum()) + kept).of_kind(Kind.CONFLICT)


def test_what_time_does_not_permit_is_said():
    found = sdpdr.diagnose(BROKEN[0].make(), seconds=0.0)
    assert not found.of_kind(Kind.CONFLICT)
    assert "conflicts (0 s were over; pass more `seconds`)" in found.undecided
    assert "Not decided: conflicts" in str(found)


def test_what_size_does_not_permit_is_said():
    """Large programs are solved, and read, but no face is looked for."""
    K = psd("K", 200)
    found = sdpdr.diagnose(minimize(K.trace()) + (K[0, 1] >= 1.0))
    assert "missing interiors (20100 numbers are too many for a quick proof)" in found.undecided


# -- following the advice -------------------------------------------------------------------------


def test_a_constraint_that_is_softened_leaves_no_conflict():
    x = scalar("x")
    high, low = (x >= 2.0).named("high"), (x <= 1.0).named("low")
    assert diagnose(minimize(x) + high + low)[0].constraints == ("high", "low")
    solution = sdpdr.solve(minimize(x) + high.penalized(10.0) + low)
    assert solution.status is Status.SOLVED


def test_a_bound_on_the_direction_leaves_an_optimum():
    x = scalar("x", 2)
    model = minimize(x.sum()) + (x[0] >= 0.0) + (x[1] <= 1.0)
    direction = diagnose(model)[0].data["direction"]["x"]
    assert direction[1] < 0.0
    assert abs(direction[0]) <= 1e-6 * abs(direction[1])
    assert sdpdr.solve(model + (x[1] >= -5.0)).status is Status.SOLVED


def test_an_order_of_matrices_is_feasible_where_entries_are_not():
    t = scalar("t")
    found = diagnose(minimize(t) + (t * np.eye(2) >= C).named("above"))
    assert [finding.kind for finding in found][:2] == [Kind.ENTRYWISE, Kind.CONFLICT]
    assert found[0].severity is Severity.ERROR
    assert sdpdr.solve(minimize(t) + (t * np.eye(2) >> C)).value == pytest.approx(1.5)


def test_bounds_on_entries_of_a_psd_matrix_are_what_they_say():
    K = psd("K", 3)
    assert not diagnose(minimize(K.trace()) + (K >= 0.1)).of_kind(Kind.ENTRYWISE)
    X = cp.Variable((2, 2), PSD=True)
    assert not diagnose(cp.Problem(cp.Minimize(cp.trace(X)), [X >= C])).of_kind(Kind.ENTRYWISE)


def test_a_repeated_constraint_changes_no_answer():
    x = scalar("x", 2)
    once, again = (x >= 1.0).named("once"), (3.0 * x >= 3.0).named("again")
    (found,) = diagnose(minimize(x.sum()) + once + again)
    assert set(found.constraints) == {"once", "again"}
    assert not len(diagnose(minimize(x.sum()) + once))


def test_both_triangles_of_an_equation_in_cvxpy_repeat_nothing():
    X = cp.Variable((2, 2), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X) + cp.norm(X)), [X == C])
    assert not diagnose(problem).of_kind(Kind.REPEATED)


def test_a_weight_below_the_multiplier_lets_a_constraint_be_missed():
    x = scalar("x")
    soft = (x >= 3.0).named("soft")
    (found,) = diagnose(minimize(2.0 * x) + (x >= 1.0).named("low") + soft.penalized(50.0))
    assert found.data["largest"] == pytest.approx(2.0)
    assert sdpdr.solve(minimize(2.0 * x) + (x >= 1.0) + soft.penalized(1.5))["x"] < 2.0
    assert not len(diagnose(minimize(2.0 * x) + (x >= 1.0) + soft.penalized(1.5)))


def test_entries_of_one_variable_that_nothing_joins_are_named():
    x = scalar("x", 5)
    pairs = (x[0] + x[1] == 1.0).named("first") + (x[2] + x[3] == 1.0).named("second")
    (found,) = diagnose(minimize(x.sum()) + (x >= 0.0).named("low") + pairs)
    assert "entries 0, 1 of 'x'; entries 2, 3 of 'x'" in found.says
    assert not len(diagnose(minimize(x.sum()) + (x >= 0.0) + (x[0] + x[1] == 1.0)))


# -- how it is told -------------------------------------------------------------------------------


def test_findings_are_rows_of_a_frame_and_lines_of_a_table():
    found = diagnose(BROKEN[0].make())
    frame = found.to_frame()
    assert frame["constraints"].tolist() == [finding.constraints for finding in found]
    assert frame["severity"].tolist()[0] == "error"
    assert str(found).startswith(
        "severity   kind       what was found, and what to write instead\n"
    )
    x = scalar("x")
    assert str(diagnose(minimize(x) + (x >= 1.0))) == "Nothing was found."


def test_all_constraints_of_an_empty_conflict_are_cones():
    """A row without unknowns contradicts itself."""
    x = scalar("x", 2)
    first = diagnose(minimize(x.sum()) + (0.0 * x[0] >= 1.0).named("never") + (x >= 0.0))[0]
    assert (first.kind, first.constraints) == (Kind.CONFLICT, ("never",))


def test_every_failed_answer_leads_to_the_diagnosis():
    solution = sdpdr.solve(BROKEN[0].make())
    assert "sdpdr.diagnose(model)" in solution.report()
    failed = [one for one in Status if one not in (Status.SOLVED, Status.INTERRUPTED)]
    assert all("sdpdr.diagnose" in replace(solution, status=one).advice for one in failed)


@pytest.mark.parametrize("wrong", [3.0, np.eye(2), cp.Variable()])
def test_what_is_no_program_is_refused(wrong):
    with pytest.raises(errors.DataTypeError, match="pass"):
        sdpdr.diagnose(wrong)


def test_a_solution_is_refused_with_what_to_pass():
    x = scalar("x")
    with pytest.raises(errors.DataTypeError, match="pass the model that was solved"):
        sdpdr.diagnose(sdpdr.solve(maximize(x) + (x <= 1.0)))


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), "a"])
def test_seconds_that_are_none_are_refused(seconds):
    with pytest.raises(errors.DataError, match="zero or more, or None"):
        sdpdr.diagnose(BROKEN[0].make(), seconds=seconds)


def test_constraints_of_cvxpy_that_look_like_cones_of_variables_are_named():
    B, x = cp.Variable((3, 3), symmetric=True), cp.Variable(2)
    above, corner = (B >> np.eye(3)).set_label("above"), (B[0, 0] == 0.5).set_label("corner")
    found = sdpdr.diagnose(cp.Problem(cp.Minimize(cp.trace(B)), [above, corner]))
    assert set(found[0].constraints) == {"above", "corner"}
    sign, total = (x >= 0).set_label("sign"), (cp.sum(x) == -1).set_label("total")
    found = sdpdr.diagnose(cp.Problem(cp.Minimize(x[0]), [sign, total]))
    assert set(found[0].constraints) == {"sign", "total"}


def test_only_equations_of_all_points_are_no_edges():
    X = sdpdr.psd("X", 4)
    tie = (X[0, 1] + X[2, 3] == X[0, 0]).named("tie")
    found = sdpdr.diagnose(sdpdr.minimize(X.trace()) + tie + (X[0, 0] == 1))
    assert not any("off the diagonal" in finding.says for finding in found)


def test_a_small_step_of_another_unit_is_part_of_a_direction():
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    found = sdpdr.diagnose(cp.Problem(cp.Minimize(x), [x + 1e9 * y == 0]))
    assert found[0].variables == ("x", "y")


def test_rows_with_tiny_weights_are_not_passed_over_in_a_proof():
    e, (x, y) = 2.0**-44, sdpdr.scalar("x, y")
    rows = [(x + y == 2).named("one"), (x - y == 0).named("two")]
    found = sdpdr.diagnose(
        sdpdr.minimize(x) + rows + ((1 + e) * x + (1 - e) * y == 2).named("three")
    )
    assert not any(finding.is_proved for finding in found)


def test_a_null_vector_that_rounding_spoils_is_named_and_whole_numbers_help():
    """Thirds do not add up to one, so that the vector of ones is no null vector of all matrices."""
    edges = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [1.0, 0.0, -1.0]])
    w, t = scalar("w", 3), scalar("t")
    limits = (w >= 0.0) + ([1.0, 2.0, 3.0] @ w == 6.0)
    laplacian = w @ np.array([np.outer(edge, edge) for edge in edges])

    def connectivity(weight, other):
        return maximize(weight * t) + (laplacian >> t * other).named("connected") + limits

    finding = diagnose(connectivity(1.0, np.eye(3) - np.ones((3, 3)) / 3.0))[0]
    assert (finding.kind, finding.constraints, finding.variables) == (
        Kind.ROUNDING,
        ("connected",),
        ("t",),
    )
    whole = connectivity(3.0, 3.0 * np.eye(3) - np.ones((3, 3)))
    assert Kind.ROUNDING not in {finding.kind for finding in diagnose(whole)}
    assert sdpdr.solve(whole).certified()


def test_a_cost_that_is_rounding_is_no_other_scale():
    K = psd("K", 2)
    for cost, is_said in ((5e-17, False), (1e-9, True)):
        model = maximize(K.trace() + cost * K[0, 1]) + (K.diagonal() <= 1.0) + (K[0, 1] <= 0.5)
        kinds = {finding.kind for finding in sdpdr.diagnose(model).findings}
        assert (Kind.SCALES in kinds) is is_said
