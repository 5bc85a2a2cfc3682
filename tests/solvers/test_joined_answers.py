"""The point of one solver is joined with the bound of another, and no proof is lost."""

import json
import os
import signal
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import sdpdr
from sdpdr import Status
from sdpdr.certify import certify
from sdpdr.certify.answer import Proved
from sdpdr.errors import SdpdrWarning
from sdpdr.linalg import Entries, InnerProduct, SvecMap, Trace, VectorMap
from sdpdr.linalg.svec import svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable
from sdpdr.reduce.facial import Consequences, Exposure, verify
from sdpdr.solvers import Multiprecision
from sdpdr.solvers.processes import fork_server
from sdpdr.solving.attempt import attempt
from sdpdr.solving.options import Clock, Request
from sdpdr.solving.proofs import better_sides
from sdpdr.testing import find_hard_instance, planted

from ..proofs import shows


def entry(label, place, side, n=2):
    return Rows(label, "==", {"X": Entries(n, [place])}, np.array([side]))


def program(*rows, n=2):
    return SDP((PsdVariable("X", n),), {"X": Trace(n)}, rows)


# -- rows that contradict each other ---------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "clarabel", "lowrank"])
def test_rows_that_contradict_each_other_are_a_ray_whoever_is_asked(solver):
    sdp = program(entry("a", [0, 0], 1.0), entry("b", [0, 0], 2.0))
    answer = sdpdr.solve(sdp, solver)
    assert answer.status is Status.INFEASIBLE
    assert shows(answer.ray, sdp)
    assert "'a' and 'b'" in answer.claimed.message


@pytest.mark.parametrize(("relation", "side"), [("==", 1.0), ("==", -1.0), ("<=", -1.0)])
def test_a_row_of_zeros_that_cannot_hold_is_a_ray(relation, side):
    nothing = Rows("nothing", relation, {"X": SvecMap(2, np.zeros((1, 3)))}, np.array([side]))
    sdp = program(entry("corner", [0, 0], 1.0), nothing)
    answer = sdpdr.solve(sdp)
    assert answer.status is Status.INFEASIBLE
    assert shows(answer.ray, sdp)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_contradiction_that_shows_on_a_face_alone_is_not_swallowed(seed):
    """Rows a - b say q^T X q = 0, and on that face c and d have the same left side."""
    rng = np.random.default_rng(seed)
    n = 6
    q, w = (rng.integers(-2, 3, size=n).astype(float) for _ in range(2))
    first, second = (rng.integers(-3, 4, size=(n, n)).astype(float) for _ in range(2))
    first, second = first + first.T, second + second.T
    off = np.outer(q, w) + np.outer(w, q)

    def row(label, matrix, side):
        return Rows(label, "==", {"X": InnerProduct(matrix)}, np.array([side]))

    sdp = program(
        row("a", np.outer(q, q) + first, 3.0),
        row("b", first, 3.0),
        row("c", second, 2.0),
        row("d", second + off, 3.0),
        n=n,
    )
    assert sdpdr.solve(sdp, "clarabel").status is Status.INFEASIBLE


# -- one answer beside another ---------------------------------------------------------------


def on_a_hidden_face(n=8, k=3):
    """A program whose interior lies on a face that only the difference of two rows exposes."""
    rng = np.random.default_rng(0)
    q = rng.integers(-2, 3, size=(n, k)).astype(float)
    shown = rng.integers(-3, 4, size=(n, n)).astype(float)
    shown += shown.T
    cost = rng.normal(size=(n, n))
    basis = np.linalg.svd(q)[0][:, k:]
    side = np.array([round(float(np.sum(shown * (basis @ basis.T))), 9)])
    rows = (
        Rows("a", "==", {"X": InnerProduct(q @ q.T + shown)}, side),
        Rows("b", "==", {"X": InnerProduct(shown)}, side),
        Rows("t", "==", {"X": Trace(n)}, np.array([float(n - k)])),
    )
    return SDP((PsdVariable("X", n),), {"X": InnerProduct(cost + cost.T)}, rows)


def test_what_is_proved_from_both_sides_outdoes_what_holds_for_data_nearby():
    proved = sdpdr.solve(sdpdr.methods.mvu(sdpdr.graphs.path([1.0, 2.0])))
    nearby = replace(
        proved,
        status=Status.OPTIMAL_NEARBY,
        value=1.1 * proved.value,
        attained=None,
        attained_by="not proved",
    )
    # As where the optimum is zero, and no gap is small relative to it.
    poor = replace(proved, status=Status.INACCURATE)
    for order in ([nearby, poor], [poor, nearby]):
        assert sdpdr.join(order).value == proved.value


def test_answers_that_nothing_proves_keep_the_best_bound():
    proved = sdpdr.solve(sdpdr.methods.mvu(sdpdr.graphs.path([1.0, 2.0])))
    assert proved.maximize
    poor = replace(proved, status=Status.INACCURATE, attained=None, attained_by="not proved")
    # Near its own bound, which is worse than that of the other.
    agrees = replace(poor, solver="one", value=1.2 * proved.value, bound=1.2 * proved.bound)
    better = replace(poor, solver="two", value=0.9 * proved.value, bound=1.01 * proved.bound)
    for order in ([agrees, better], [better, agrees]):
        assert sdpdr.join(order).bound == better.bound


def test_what_a_candidate_spent_is_not_taken_from_the_next():
    sdp = program(entry("a", [0, 0], 1.0), entry("b", [1, 1], 1.0), entry("c", [0, 1], 5.0))
    plan = sdpdr.plan(sdp, "clarabel", "lmi", time_limit=60.0)
    clock = Clock({"solve": 100.0})
    answer = attempt(
        plan.first, plan.sdp, Request(sdp, False, False, 0.0, None, False, clock=clock)
    )
    assert answer.status is Status.INFEASIBLE
    clock.add({"solve": 1.0})
    assert answer.timings["solve"] < 101.0


@pytest.mark.nightly
def test_the_first_answer_of_a_process_is_proved_as_the_second_is():
    """The first worker takes seconds to start, and these are nobody's."""
    os.kill(fork_server._server.pid, signal.SIGKILL)
    model = sdpdr.methods.mvu(sdpdr.graphs.path([1.0, 2.0]))
    for _ in range(2):
        answer = sdpdr.solve(model, "clarabel", time_limit=60.0, isolate=True)
        assert answer.status is Status.SOLVED


def test_our_own_mistakes_are_seen(monkeypatch):
    calls = []

    def broken(*args, **options):
        calls.append(args)
        if len(calls) == 1:
            raise ValueError("operands could not be broadcast together")
        return whole(*args, **options)

    import sdpdr.solving.attempt as module

    whole = module.grade
    monkeypatch.setattr(module, "grade", broken)
    with pytest.warns(SdpdrWarning, match=r"could not be broadcast.*report"):
        answer = sdpdr.solve(program(entry("a", [0, 0], 1.0)))
    assert answer.status is Status.SOLVED


@pytest.mark.nightly
@pytest.mark.skipif(not Multiprecision.availability().usable, reason="needs python-flint")
def test_hundreds_of_bits_are_the_last_resort_of_small_programs():
    small, large = (sdpdr.plan(on_a_hidden_face(n)).sequence for n in (8, 40))
    assert small[-1].solver.name == "multiprecision"
    assert "multiprecision" not in {one.solver.name for one in (*small[:-1], *large)}
    narrow = find_hard_instance("hair-inside-2^-20")
    answer = sdpdr.solve(narrow.sdp())
    assert answer.status is Status.SOLVED
    assert narrow.truth.contradictions(answer) == ()


@pytest.mark.nightly
@pytest.mark.skipif(not Multiprecision.availability().usable, reason="needs python-flint")
def test_a_tolerance_beyond_doubles_costs_no_proof():
    sdp = planted("one-matrix", 3).sdp
    gaps = [sdpdr.solve(sdp, "multiprecision", tol=tol).gap for tol in (1e-8, 1e-15)]
    assert max(gaps) < 1e-7


# -- what is kept ------------------------------------------------------------------------------


def test_a_side_that_nothing_proves_keeps_the_reason_of_the_argument_that_tried():
    tried, silent = Proved(how={"value": "not inside", "bound": "not definite"}), Proved()
    for one, other in ((tried, silent), (silent, tried)):
        assert better_sides(program(), one, other).how == tried.how


def without_limits():
    """A program in which no row limits the trace."""
    rng = np.random.default_rng(5)
    cost, mixed = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    rows = (
        Rows("mixed", "==", {"X": InnerProduct(mixed + mixed.T)}, np.ones(1)),
        Rows("corner", "<=", {"X": -1.0 * Entries(4, [[0, 0]])}, -np.ones(1)),
    )
    return SDP((PsdVariable("X", 4),), {"X": InnerProduct(cost @ cost.T + np.eye(4))}, rows)


def largest_eigenvalue():
    """The least t with t I - C >= 0."""
    cost = np.random.default_rng(5).normal(size=(4, 4))
    lhs = {"t": VectorMap(svec(np.eye(4))[:, None])}
    lmi = Lmi("bound", 4, lhs, -svec(cost + cost.T))
    return SDP((VectorVariable("t", 1),), {"t": VectorMap(np.ones((1, 1)))}, (), lmis=(lmi,))


@pytest.mark.parametrize(
    "sdp", [without_limits(), largest_eigenvalue()], ids=["rows", "inequality"]
)
@pytest.mark.parametrize("solver", ["scs", "clarabel"])
def test_the_multipliers_that_are_kept_prove_the_bound(sdp, solver):
    answer = sdpdr.solve(sdp, solver)
    assert answer.status is Status.SOLVED
    assert "limits" not in answer.argument
    assert sdp.report(sdp.dual_value(answer.duals)) == pytest.approx(answer.bound, rel=1e-12)
    for v in sdp.psd_variables:
        slack = sdp.dual_slack(v.name, answer.duals)
        dense = slack.toarray() if hasattr(slack, "toarray") else np.asarray(slack)
        assert np.linalg.eigvalsh(dense)[0] >= -1e-13
    for lmi in sdp.lmis:
        assert np.linalg.eigvalsh(answer.duals[lmi.label])[0] >= -1e-13
    again = certify(sdp, answer.duals).bound
    # The program is minimised; they may prove more, and never more than there is.
    assert answer.bound - 1e-12 * abs(answer.bound) <= again <= answer.attained


def test_steps_are_verified_as_they_were_written_down(tmp_path):
    """X_00 = 0 makes X_01 vanish, and only then X_11 + 2 X_01 = 0 exposes a face."""
    beside = InnerProduct([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    sdp = program(
        entry("corner", [0, 0], 0.0, n=3),
        Rows("beside", "==", {"X": beside}, np.zeros(1)),
        entry("last", [2, 2], 1.0, n=3),
        n=3,
    )
    answer = sdpdr.solve(sdp, "clarabel")
    answer.save_record(tmp_path / "answer.json")
    told = json.loads((tmp_path / "answer.json").read_text())
    assert told["maximize"] is False
    assert told["of_model"] is False
    assert {k: np.shape(y) for k, y in told["duals"].items()} == {
        k: np.shape(y) for k, y in answer.duals.items()
    }
    assert [step["after"] for step in told["exposures"]] == [0, 1]
    steps = ()
    for one in told["exposures"]:
        steps = (*steps, _read(one, steps))
    assert verify(sdp, steps)
    assert not verify(sdp, steps[1:])


def _read(told, before):
    proved = told["proved"]
    vectors = tuple(
        (name, tuple((k, Fraction(x)) for k, x in vector))
        for name, vector in proved.get("vectors", [])
    )
    return Exposure(
        told["variable"],
        told["words"],
        tuple((label, e, Fraction(y)) for label, e, y in told["multipliers"]),
        Consequences(vectors, contradiction=proved.get("contradiction", False)),
        before[: told["after"]],
    )
