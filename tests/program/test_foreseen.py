"""Steps of proofs are counted before they begin, and an interrupt keeps what is proved by then."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.base import deadline as clocks
from sdpdr.base.deadline import MOST_OPERATIONS, Deadline, Effort, EffortSpentError
from sdpdr.base.progress import Log
from sdpdr.linalg import Entries, Trace
from sdpdr.linalg.walks import envelope
from sdpdr.program import SDP, Point, PsdVariable, Rows
from sdpdr.program.attain import InterruptedProofError, attain, through
from sdpdr.program.attain.bordered import least_squares
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.attain.newton import solve_symmetric
from sdpdr.program.point import Factor
from sdpdr.program.run import Claim, Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solving import proofs as sides
from sdpdr.solving.asked import Request
from sdpdr.solving.grade import grade

room = import_module("sdpdr.program.attain.attain")  # whose name is that of a function too
LONG = Deadline(1e8)
RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((12, 2))
ROLL = graphs.knn(RNG.standard_normal((20, 3)), n_neighbors=4, connect="mst")


def complete(relation="inequality"):
    """All distances of a dozen points."""
    return methods.mvu(graphs.knn(POINTS, n_neighbors=11), relation).to_sdp()


def at(points):
    return Point({"K": Factor(points - points.mean(axis=0))})


def interrupt(*given, **how):
    raise KeyboardInterrupt


def forbidden(*given, **how):
    raise AssertionError("this is not to be begun")


@pytest.fixture
def hurry(monkeypatch):
    """As if a hundred million seconds were enough for one operation."""
    monkeypatch.setattr(clocks, "PACE", 1e-8)


# -- counted ------------------------------------------------------------------------------------


def test_a_step_that_does_not_fit_into_the_time_left_is_refused(hurry):
    Effort().spend(1e6)  # there is no end to wait for
    Effort(LONG).spend(0.5)
    for step in (Effort(LONG).spend, Effort(LONG).foresee):
        with pytest.raises(EffortSpentError, match="does not fit into the"):
            step(1e6)


def test_what_is_foreseen_is_not_counted():
    effort = Effort()
    for _ in range(3):
        effort.foresee(MOST_OPERATIONS)
    assert (effort.steps, effort.operations) == (0, 0.0)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_an_envelope_is_as_narrow_as_a_path_and_as_wide_as_all(n):
    order = np.random.default_rng(n).permutation(n)
    path = sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1])
    shuffled = sp.csr_array(path)[order][:, order]
    assert envelope(shuffled).tolist() == [0, *[1] * (n - 1)]
    assert sorted(envelope(sp.csr_array(np.ones((n, n)))).tolist()) == list(range(n))
    assert envelope(sp.csr_array((0, 0))).size == 0


def test_more_equations_than_coordinates_are_not_factored(monkeypatch):
    for name in ("lu", "_product"):
        monkeypatch.setattr(through, name, forbidden)
    for relation in ("equality", "inequality"):
        program = cone_program(complete(relation))
        point = at(POINTS).values
        found = through.solve_through_factor(program, program.vector(point), program.factors(point))
        assert isinstance(found, str)
        assert "depend on each other" in found


def test_a_factorization_that_does_not_fit_is_not_begun(monkeypatch, hurry):
    monkeypatch.setattr(through, "lu", forbidden)
    sdp = methods.mvu(ROLL, "equality").to_sdp()
    program = cone_program(sdp, LONG)
    values = {"K": Factor(np.random.default_rng(1).standard_normal((20, 6)))}
    with pytest.raises(EffortSpentError, match="does not fit"):
        through.solve_through_factor(program, program.vector(values), program.factors(values))


def test_products_of_equations_that_all_meet_are_not_formed():
    crowded = sp.csr_array(np.ones((20_000, 1)))
    with pytest.raises(EffortSpentError, match="meet in too many points"):
        through._product(crowded, Effort())


@pytest.mark.parametrize("faster", [1e-9, 1e9])
def test_dense_and_sparse_factorizations_take_the_same_step(monkeypatch, faster):
    monkeypatch.setattr(through, "_FASTER", faster)
    J = sp.csr_array(sp.random_array((30, 50), density=0.3, rng=np.random.default_rng(2)))
    missed = np.random.default_rng(3).standard_normal(30)
    assert through._operations(sp.csr_array(J @ J.T))[1] == (faster > 1.0)
    np.testing.assert_allclose(
        through._shortest(J, missed, Effort()), np.linalg.pinv(J.toarray()) @ missed, atol=1e-9
    )


def test_rows_that_depend_on_each_other_are_told_apart_only_where_there_is_time(hurry):
    singular, right = np.diag([1.0, 1.0, 0.0]) - np.eye(3)[::-1] * 0.0, np.array([1.0, 2.0, 0.0])
    singular[2, 2] = -1e-3
    with pytest.raises(EffortSpentError):
        solve_symmetric(singular, right, Effort(LONG))
    twice = np.array([[1.0, 1.0], [1.0, 1.0]])
    with pytest.raises(EffortSpentError):
        least_squares(twice, np.ones(2), Effort(LONG))
    np.testing.assert_allclose(least_squares(twice, np.ones(2), Effort()), [0.5, 0.5])


def test_shrinking_proves_a_point_whatever_the_time(hurry):
    """Of a complete graph, far from any goal: what is dearer does not run."""
    far = attain(complete(), at(1.1 * POINTS), goal=1e3, deadline=LONG)
    centred = POINTS - POINTS.mean(axis=0)
    assert far.value == pytest.approx(np.sum(centred**2))
    assert "shrunk" in far.argument


def test_nothing_is_looked_for_next_to_a_point_that_is_proved_itself(monkeypatch):
    for name in ("solve_through_factor", "nearest"):
        monkeypatch.setattr(room, name, forbidden)
    for rigorous in (False, True):
        found = attain(complete(), at(POINTS), goal=1e3, rigorous=rigorous)
        assert found.value == pytest.approx(np.sum((POINTS - POINTS.mean(axis=0)) ** 2))


# -- interrupted --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.parametrize("step", ["both_sides", "certify", "attain"])
@pytest.mark.parametrize(("solver", "form"), [
    ("lowrank", "factor"), ("clarabel", "gram"), ("auto", "auto"),
])  # fmt: skip
def test_an_interrupt_of_a_proof_leaves_the_point(monkeypatch, step, solver, form):
    monkeypatch.setattr(sides, step, interrupt)
    found = sdpdr.solve(methods.mvu(ROLL), solver, form)
    assert found.status is Status.INTERRUPTED
    assert found.values
    assert np.isfinite(found.value)
    assert len(found.runs) == 1
    assert (found.bound is None) == (step != "attain")
    assert found.attained is None
    assert "interrupted" in found.attained_by


def test_an_interrupt_reaches_the_person_where_there_is_no_point(monkeypatch):
    monkeypatch.setattr(sides.Proofs, "of", interrupt)
    model = methods.mvu(ROLL)
    chosen, outcome = sdpdr.plan(model, "lowrank"), Outcome(Point(), Verdict.FAILED, Claim("none"))
    with pytest.raises(KeyboardInterrupt):
        grade(chosen.sdp, outcome, chosen, Request(model))


def test_an_interrupt_of_dearer_proofs_keeps_the_shrunk_point(monkeypatch):
    monkeypatch.setattr(room, "cone_program", interrupt)
    with pytest.raises(InterruptedProofError) as raised:
        attain(complete(), at(1.1 * POINTS), goal=1e3)
    assert raised.value.attained.value == pytest.approx(np.sum((POINTS - POINTS.mean(axis=0)) ** 2))


def corner():
    """The least trace with X_11 = 1."""
    rows = Rows("corner", "==", {"X": Entries(2, [[0, 0]])}, np.ones(1))
    return SDP((PsdVariable("X", 2),), {"X": Trace(2)}, (rows,))


def test_an_interrupt_of_the_path_keeps_the_nearest_point(monkeypatch):
    monkeypatch.setattr(room, "closed_form", lambda *given, **options: None)
    monkeypatch.setattr(room, "_along_path", interrupt)
    near = Point({"X": np.diag([1.0, 1e-2])}, {"corner": -np.ones(1)})
    with pytest.raises(InterruptedProofError) as raised:
        attain(corner(), near, goal=1.0, tol=1e-9)
    assert 1.0 < raised.value.attained.value < 1.1


def test_an_interrupt_of_a_tighter_bound_keeps_both_sides(monkeypatch):
    monkeypatch.setattr(sides, "inward_multipliers", interrupt)
    monkeypatch.setattr(sides.Proofs, "_is_tight", lambda *given: False)
    monkeypatch.setattr(sides, "both_sides", lambda *given, **how: sides.Sides())
    found = sdpdr.solve(methods.mvu(ROLL), "lowrank")
    assert found.status is Status.INTERRUPTED
    assert found.attained <= found.bound <= found.attained * (1.0 + 1e-5)


def test_an_interrupt_of_rigorous_proofs_keeps_the_others(monkeypatch):
    monkeypatch.setattr("sdpdr.solving.attempt.proved", interrupt)
    found = sdpdr.solve(methods.mvu(ROLL), "lowrank", rigorous=True)
    assert found.status is Status.INTERRUPTED
    assert not found.rigorous
    assert found.gap < 1e-6


def test_the_log_says_that_something_is_being_proved(monkeypatch):
    told, certify = [], sides.certify

    def told_first(*given, **how):
        told.append(log.doing)
        return certify(*given, **how)

    monkeypatch.setattr(sides, "certify", told_first)
    with Log() as log:
        sdpdr.solve(methods.mvu(ROLL), "lowrank")
        assert told[0] == "proving: what lowrank found, factor form"
        assert log.doing == ""
        log.now("outside")
        sdpdr.solve(methods.mvu(ROLL), "lowrank", progress=False)
    assert told[-1] == "outside"
