"""Reading a solution: by name, by slack, and as a page."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.errors import SolveFailedError, UnknownNameError
from sdpdr.linalg import Entries, InnerProduct, SquaredEdgeLengths, Trace, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.model.blocks import Centered, Gram, Isometry, Variance
from sdpdr.program import SDP, Factor, Lmi, PsdVariable, Rows, Status, VectorVariable
from sdpdr.program.backward import backward_error, relative_slacks
from sdpdr.program.report import BINDING

# A path whose ends may be further apart than it is long: the last row leaves room.
RING = graphs.from_edges(5, [[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]], [1.0, 1.0, 1.0, 1.0, 25.0])
LOOSE = np.flatnonzero(RING.sqdist == 25.0)
LENGTHS = SquaredEdgeLengths(3, [[0, 1], [1, 2], [0, 2]])
IMPOSSIBLE = SDP(
    (PsdVariable("K", 3),),
    {"K": -1.0 * Trace(3)},
    (Rows("trace", "<=", {"K": Trace(3)}, [50.0]), Rows("far", "==", {"K": LENGTHS}, [1, 1, 9.0])),
    maximize=True,
)
ENDLESS = SDP(
    (PsdVariable("K", 3),),
    {"K": -1.0 * Trace(3)},
    (Rows("short", "==", {"K": SquaredEdgeLengths(3, [[0, 1]])}, [1.0]),),
    maximize=True,
)
# X_11 = 0 and X_12 = 1: infeasible, with no ray.
WEAKLY = SDP(
    (PsdVariable("X", 2),),
    {},
    (
        Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.zeros(1)),
        Rows("side", "==", {"X": Entries(2, [[0, 1]])}, np.ones(1)),
    ),
)


@pytest.fixture(scope="module")
def ring():
    return sdpdr.solve(methods.mvu(RING), tol=1e-8)


@pytest.fixture(scope="module")
def infeasible():
    return sdpdr.solve(IMPOSSIBLE)


@pytest.fixture(scope="module")
def weakly():
    return sdpdr.solve(WEAKLY)


@pytest.fixture(scope="module")
def endless():
    return sdpdr.solve(ENDLESS)


def unfolding(graph, band=0.0):
    """Points of largest variance with given distances, or with a band around them."""
    lengths = Isometry(graph, "equality")
    kept = sdpdr.relax(lengths, band) if band else lengths
    return sdpdr.Model((Gram(graph.n), Centered(graph.n), kept, Variance(graph.n)))


def lines_of(text, label):
    return [line for line in text.splitlines() if line.startswith(label)]


# -- by name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "form", "kind"),
    [("lowrank", "factor", Factor), ("clarabel", "gram", np.ndarray)],
)
def test_a_matrix_reads_alike_whatever_the_solver_returned(solver, form, kind):
    K = sdpdr.solve(methods.mvu(RING), solver, form, tol=1e-8)["K"]
    assert isinstance(K, kind)
    i, j = RING.edges.T
    np.testing.assert_allclose(
        K[i, i] + K[j, j] - 2.0 * K[i, j], np.minimum(RING.sqdist, 16.0), 1e-4
    )
    assert K.trace() == pytest.approx(10.0, rel=1e-6)
    np.testing.assert_allclose(K @ np.ones(5), 0.0, atol=1e-5)
    assert np.linalg.eigvalsh(K)[-1] == pytest.approx(10.0, rel=1e-6)


def test_names_that_are_not_known_are_told(ring):
    assert "K" in ring
    assert "G" not in ring
    assert ring.dual("isometry") is ring.duals["isometry"]
    with pytest.raises(UnknownNameError, match=r"unknown variable 'G'. Known: K"):
        ring["G"]
    with pytest.raises(UnknownNameError, match="Known: K"):
        ring.gram("G")
    with pytest.raises(UnknownNameError, match=r"'isometry'\? Known: centered, isometry"):
        ring.dual("isometri")


def test_where_there_is_no_point_it_is_said(infeasible):
    far = [lambda: infeasible["K"], infeasible.gram, lambda: infeasible.dual("far")]
    for read in far:
        with pytest.raises(SolveFailedError, match="INFEASIBLE"):
            read()


def test_a_scalar_is_an_array_of_one_number_and_no_matrix():
    half = Rows("half", "==", {"t": VectorMap([[2.0]])}, [1.0])
    line = SDP((VectorVariable("t", 1, nonnegative=True),), {"t": VectorMap([[1.0]])}, (half,))
    solution = sdpdr.solve(line, "clarabel", "gram")
    assert solution["t"].shape == (1,)
    assert lines_of(solution.report(), "t ")[0].split() == ["t", "1", "0.5,", "0.5"]
    with pytest.raises(UnknownNameError, match="Known: t"):
        solution.gram()


# -- by slack --------------------------------------------------------------------------------------


def test_slacks_are_those_of_the_point_by_hand():
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 3, 3))
    equal = Rows("equal", "==", {"X": InnerProduct(A + A.T)}, [2.0])
    most = Rows("most", "<=", {"X": InnerProduct(B + B.T), "z": VectorMap([[1.0, 0.0]])}, [-4.0])
    level = Rows("level", "<=", {"X": Entries(3, [[0, 1]])}, [0.0])
    lmi = Lmi("lmi", 2, {"z": VectorMap(np.eye(3)[:, :2])}, svec(np.diag([1.0, -1.0])))
    sdp = SDP((PsdVariable("X", 3), VectorVariable("z", 2)), {}, (equal, most, level), (lmi,))
    R, z = rng.standard_normal((3, 2)), np.array([0.5, 0.25])
    for X in (Factor(R), R @ R.T):
        found = relative_slacks(sdp, {"X": X, "z": z})
        dense = R @ R.T
        off = 2.0 - np.sum((A + A.T) * dense)
        left = -4.0 - np.sum((B + B.T) * dense) - 0.5
        size = np.sqrt(0.5) * np.diag(dense).max()
        spectrum = np.linalg.eigvalsh(sdp.lmi_value(lmi, {"X": X, "z": z}))
        np.testing.assert_allclose(found["equal"], [-abs(off) / 2.0])
        np.testing.assert_allclose(found["most"], [left / 4.0])
        np.testing.assert_allclose(found["level"], [-dense[0, 1] / size])
        np.testing.assert_allclose(found["lmi"], spectrum / np.abs(spectrum).max())
        missed = max(0.0, *(-slack.min() for slack in found.values()))
        assert backward_error(sdp, {"X": X, "z": z}) == pytest.approx(missed)
    assert relative_slacks(sdp, {"z": z}) == {}


@pytest.mark.parametrize(("solver", "form"), [("auto", "auto"), ("clarabel", "lmi")])
def test_rows_bind_that_have_no_room(solver, form):
    solution = sdpdr.solve(methods.mvu(RING), solver, form, tol=1e-7)
    slack = solution.slacks["isometry"]
    assert np.flatnonzero(slack > BINDING).tolist() == LOOSE.tolist()
    assert slack[LOOSE] == pytest.approx(9.0 / 25.0, rel=1e-4)


def test_slacks_are_those_of_the_program_as_it_was_written():
    # It is solved on a face and in other units.
    corner = Rows("corner", "==", {"X": Entries(3, [[0, 0]])}, [0.0])
    trace = Rows("trace", "<=", {"X": 1e6 * Trace(3)}, [3e6])
    side = Rows("side", "<=", {"X": Entries(3, [[1, 1]])}, [7.0])
    sdp = SDP((PsdVariable("X", 3),), {"X": Trace(3)}, (corner, trace, side), maximize=False)
    sdp = sdp.with_cost("X", -np.eye(3))
    solution = sdpdr.solve(sdp, "clarabel")
    assert solution.exposures
    assert solution.value == pytest.approx(-3.0)
    assert solution.slacks["corner"].tolist() == [0.0]
    assert solution.slacks["trace"] == pytest.approx([0.0], abs=1e-5)
    assert solution.slacks["side"] == pytest.approx(1.0 - np.asarray(solution["X"])[1, 1] / 7.0)
    for label, slack in relative_slacks(sdp, solution.values).items():
        np.testing.assert_array_equal(slack, solution.slacks[label])


# -- as a page -------------------------------------------------------------------------------------


def test_a_report_counts_the_rows_that_bind_and_names_the_largest_multipliers(ring):
    text = ring.report()
    assert text.startswith("SOLVED: the maximum is 10, proved optimal")
    (row,) = lines_of(text, "isometry")
    assert row.split()[1:4] == ["4", "of", "5"]
    # Those of a path: i (n - i) / 2, here 3, 3, 2 and 2, for edges in the order of the graph.
    pulls = {
        int(e): float(y) for e, y in (cell.split(":") for cell in row.split("  ")[-1].split(","))
    }
    assert pulls == {2: 3.0, 3: 3.0, 0: 2.0} or pulls == {2: 3.0, 3: 3.0, 4: 2.0}
    assert lines_of(text, "K ")[0].split() == ["K", "5", "x", "5", "1", "10"]


def test_a_report_of_a_contradiction_names_the_rows_of_the_ray(infeasible):
    assert infeasible.status is Status.INFEASIBLE
    assert infeasible.ray is not None
    text = infeasible.report()
    assert text.startswith("INFEASIBLE: no point satisfies")
    (row,) = lines_of(text, "far")
    largest = np.argmax(np.abs(infeasible.ray.duals["far"]))
    assert row.split()[1:4] == ["3", "of", "3"]
    assert row.split("  ")[-1].strip().startswith(f"{largest}:")


def test_a_report_of_what_has_no_limit_shows_the_direction(endless):
    assert endless.status is Status.UNBOUNDED
    head, row = endless.report().split("\n\n")[-1].splitlines()
    spectrum = np.linalg.eigvalsh(np.asarray(endless.ray.values["K"]))[::-1]
    assert head.split()[0] == "direction"
    assert row.split()[:4] == ["K", "3", "x", "3"]
    assert row.split()[4] == str(np.count_nonzero(spectrum > 1e-6 * spectrum[0]))


def test_a_matrix_inequality_is_told_by_its_eigenvalues():
    # The largest eigenvalue of diag(1, 2, 2): the matrix z I - A is singular twice.
    identity = VectorMap(svec(np.eye(3))[:, None])
    lmi = Lmi("above", 3, {"z": identity}, svec(-np.diag([1.0, 2.0, 2.0])))
    solution = sdpdr.solve(SDP((VectorVariable("z", 1),), {"z": VectorMap([[1.0]])}, (), (lmi,)))
    assert solution["z"] == pytest.approx([2.0], rel=1e-5)
    np.testing.assert_allclose(solution.slacks["above"], [0.0, 0.0, 1.0], atol=1e-4)
    (row,) = lines_of(solution.report(), "above")
    assert row.split()[1:4] == ["2", "of", "3"]
    assert "a matrix of trace 1" in row


def test_proofs_and_numbers_are_details_after_the_answer(ring):
    answer, proofs = ring.report(details=True).split("\n\n")[:2]
    assert answer == ring.report().split("\n\n")[0]
    assert float(lines_of(proofs, "value")[0].split()[1]) == pytest.approx(10.0, rel=1e-7)
    assert "lowrank, factor form" in proofs
    assert not {"DIMACS", "seconds", "bound"} & set(ring.report().split())


def test_a_report_survives_pickling(ring, infeasible, endless, weakly):
    for solution in (ring, infeasible, endless, weakly):
        assert pickle.loads(pickle.dumps(solution)).report() == solution.report()


# -- in a sentence ---------------------------------------------------------------------------------


def test_a_solved_program_needs_one_sentence_and_no_advice(ring):
    assert str(ring).startswith("SOLVED: the maximum is 10, proved optimal to a relative gap of ")
    assert str(ring).endswith(" (1e-08 requested).")
    assert ring.advice == ""
    for shown in (repr(ring), ring.report(), ring._repr_html_()):
        assert "SOLVED: the maximum is 10, proved optimal" in shown


def test_a_contradiction_names_constraints_and_removing_one_helps(infeasible, weakly):
    assert str(infeasible).startswith(
        "INFEASIBLE: no point satisfies 'far' beside the cones and signs of"
    )
    assert str(weakly).startswith("INFEASIBLE: no point satisfies 'side' and 'corner' together")
    assert "Remove it, or move its right-hand side" in infeasible.advice
    assert "Remove one of those that the contradiction needs" in weakly.advice
    kept = replace(IMPOSSIBLE, rows=IMPOSSIBLE.rows[:1])
    assert sdpdr.solve(kept).status is Status.SOLVED


def test_softened_or_relaxed_models_have_points():
    t = sdpdr.scalar("t")
    low, high = t >= 1.0, t <= 0.0
    answer = sdpdr.solve(sdpdr.minimize(t) + low + high)
    assert answer.status is Status.INFEASIBLE
    assert "soften(block, weight)" in answer.advice
    soft = sdpdr.solve(sdpdr.minimize(t) + low.penalized(2.0) + high)
    assert soft.value == pytest.approx(2.0, rel=1e-6)
    triangle = graphs.from_edges(3, [[0, 1], [1, 2], [0, 2]], [1.0, 1.0, 9.0])
    answer = sdpdr.solve(unfolding(triangle))
    assert answer.status is Status.INFEASIBLE
    assert "relax(block, band)" in answer.advice
    assert sdpdr.solve(unfolding(triangle, band=0.6)).status is Status.SOLVED


def test_a_constraint_that_bounds_the_objective_ends_what_is_unbounded(endless):
    assert str(endless).startswith("UNBOUNDED: there is no maximum")
    assert "Add a constraint that bounds it" in endless.advice
    bounded = replace(ENDLESS, rows=(*ENDLESS.rows, IMPOSSIBLE.rows[0]))
    assert sdpdr.solve(bounded).status is Status.SOLVED


def test_a_larger_tolerance_that_is_suggested_is_met():
    model = methods.mvu(RING)
    rough = sdpdr.solve(model, "scs", "gram", max_iter=20, tol=1e-13)
    rough = replace(rough, status=Status.INACCURATE, bound=rough.attained * 1.0003)
    (suggested,) = re.findall(r"pass tol=(\S+);", rough.advice)
    assert rough.certified(float(suggested))
    assert not rough.certified(0.5 * float(suggested))


def test_a_scale_that_is_suggested_for_an_optimum_of_zero_is_enough():
    trace = Rows("trace", "==", {"X": Trace(2)}, [1.0])
    cost = InnerProduct(np.array([[1.0, 1.0], [1.0, 1.0]]))
    sdp = SDP((PsdVariable("X", 2),), {"X": cost}, (trace,))
    answer = sdpdr.solve(sdp, "clarabel")
    assert answer.status is Status.INACCURATE
    (suggested,) = re.findall(r"gap_scale=(\S+),", answer.advice)
    assert sdpdr.solve(sdp, "clarabel", gap_scale=float(suggested)).status is Status.SOLVED


def test_a_band_gives_what_is_optimal_nearby_an_interior():
    flat = graphs.complete(np.random.default_rng(0).standard_normal((6, 3)))
    answer = sdpdr.solve(unfolding(flat), "lowrank")
    assert answer.status is Status.OPTIMAL_NEARBY
    assert "relax(block, band)" in answer.advice
    assert sdpdr.solve(unfolding(flat, band=1e-3), "lowrank").status is Status.SOLVED


def test_a_failure_is_told_on_one_line(ring):
    claim = replace(ring.claimed, message="Traceback:\n  " + 50 * "one line more\n")
    shown = str(replace(ring, status=Status.FAILED, claimed=claim))
    assert shown.startswith("FAILED: lowrank found no answer (Traceback: one line more")
    assert "\n" not in shown
    assert len(shown) < 400


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_its_sentence_with_and_without_sides(ring, status):
    nothing = {"values": {}, "attained": None, "bound": None, "duals": {}, "value": float("nan")}
    for changes in ({}, {"attained": None}, {"bound": None}, nothing, {"attained": 0.0}):
        shown = str(replace(ring, status=status, **changes))
        assert shown.startswith(f"{status.name}: ")
        assert shown.endswith(".")
        assert "\n" not in shown


def test_zero_has_no_sign(ring):
    zero = replace(ring, value=-0.0, attained=-0.0, bound=-0.0)
    for words in (zero.report(), zero._repr_html_(), repr(zero)):
        assert not re.search(r"(value|attained|bound|is|>) *-0\b(?!\.)", words)
    assert "the maximum is 0, " in repr(zero)
