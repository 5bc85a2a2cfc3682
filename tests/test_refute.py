"""A claim that there is no point, or no limit, becomes a proof or stays a claim."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.base.deadline import Deadline
from sdpdr.linalg import Entries, Products, QuadraticForms, SquaredEdgeLengths, Trace
from sdpdr.program import SDP, Point, PsdVariable, Rows, read_sdpa
from sdpdr.program.rays import Ray, drifting
from sdpdr.program.run import Verdict
from sdpdr.solvers.cvxpy_solvers import Clarabel, Cvxopt, Scs
from sdpdr.solvers.external_programs import Csdp
from sdpdr.solving.refute import refute

pytestmark = pytest.mark.integration

LIBRARY = Path(os.environ.get("SDPLIB", Path(__file__).parents[2] / "shared" / "data" / "sdplib"))


def entries(pairs, rhs, n):
    rows = Rows("entries", "==", {"X": Entries(n, pairs)}, np.array(rhs, dtype=float))
    return SDP((PsdVariable("X", n),), {}, (rows,))


INFEASIBLE = {
    "a large diagonal beside an impossible block": entries(
        [[0, 0], [1, 1], [2, 2], [1, 2]], [1e9, 1.0, 1.0, 5.0], 3
    ),
    "a slightly negative diagonal": entries([[0, 0]], [-1e-7], 3),
    "a triangle that cannot close": SDP(
        (PsdVariable("K", 4),),
        {},
        (
            Rows(
                "lengths",
                "==",
                {"K": SquaredEdgeLengths(4, [[0, 1], [1, 2], [0, 2]])},
                np.array([1.0, 1.0, 9.0]),
            ),
        ),
    ),
}
FEASIBLE = {
    "only a huge entry will do": entries([[0, 0], [0, 1]], [1e-10, 1.0], 2),
    "hardly any room": entries([[0, 0], [0, 1], [1, 1]], [1e-8, 1.0, 1e8 * (1 + 1e-9)], 2),
    "a single point": entries([[0, 0], [0, 1], [1, 1]], [1.0, 1.0, 1.0], 2),
    "an unfolding": methods.mvu(graphs.path([1.0, 2.0, 1e-3]), "equality").to_sdp(),
}


@pytest.mark.parametrize("rigorous", [False, True])
@pytest.mark.parametrize("name", INFEASIBLE)
def test_what_is_infeasible_is_proved_so(name, rigorous):
    sdp = INFEASIBLE[name]
    ray = refute(sdp, Verdict.INFEASIBLE, Point(), rigorous=rigorous)
    assert isinstance(ray, Ray)
    assert ray.kind == "infeasible"
    assert ray.rigorous or not rigorous
    assert ray.check(sdp)


@pytest.mark.parametrize("verdict", [Verdict.INFEASIBLE, Verdict.UNBOUNDED])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.nightly if name == "hardly any room" else ())
        for name in FEASIBLE
    ],
)
def test_what_is_feasible_and_bounded_is_never_refuted(name, verdict):
    found = refute(FEASIBLE[name], verdict, Point(), feasible=True)
    assert isinstance(found, str)
    assert f"the program is {verdict.value}, but no ray proves it" in found


def test_weak_infeasibility_stays_a_claim():
    assert isinstance(
        refute(entries([[0, 0], [0, 1]], [0.0, 1.0], 2), Verdict.INFEASIBLE, Point()), str
    )


def spread(n):
    edges = SquaredEdgeLengths(n, [[0, 1], [1, 2], [3, 4]])
    rows = Rows("lengths", "==", {"K": edges}, np.array([1.0, 1.0, 4.0]))
    return SDP((PsdVariable("K", n),), {"K": -1.0 * Trace(n)}, (rows,), maximize=True)


@pytest.mark.parametrize("verdict", [Verdict.INFEASIBLE, Verdict.UNBOUNDED])
def test_one_claim_mistaken_for_the_other_is_put_right(verdict):
    sdp = spread(5)
    ray = refute(sdp, verdict, Point(), feasible=True)
    assert isinstance(ray, Ray)
    assert ray.kind == "unbounded"
    assert ray.check(sdp)
    ray = refute(sdp, verdict, Point())
    assert isinstance(ray, Ray)
    assert ray.kind == "recession"


TRUTHS = {
    "infeasible": INFEASIBLE["a triangle that cannot close"],
    "unbounded": spread(5),
    "solvable": FEASIBLE["an unfolding"],
}


SOLVERS = [c for c in (Clarabel, Scs, Cvxopt, Csdp) if c.availability().usable]


@pytest.mark.usefixtures("installed_programs")
@pytest.mark.nightly
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("truth", TRUTHS)
def test_whatever_a_solver_says_a_ray_says_what_is_true(solver, truth):
    outcome = solver().run(TRUTHS[truth])
    found = refute(TRUTHS[truth], outcome.verdict, outcome.point, feasible=truth == "unbounded")
    if truth == "solvable":
        assert isinstance(found, str)
    elif outcome.verdict in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
        assert isinstance(found, Ray)
        assert found.kind == truth


def test_no_time_is_no_proof_and_no_failure():
    found = refute(
        INFEASIBLE["a triangle that cannot close"],
        Verdict.INFEASIBLE,
        Point(),
        deadline=Deadline(0.0),
    )
    assert isinstance(found, str)


@pytest.mark.nightly
@pytest.mark.skipif(not LIBRARY.exists(), reason="the SDPLIB files are not beside the project")
@pytest.mark.parametrize(
    ("name", "verdict", "kind"),
    [
        ("infd1", Verdict.INFEASIBLE, "infeasible"),
        ("infp1", Verdict.UNBOUNDED, "unbounded"),
        ("truss1", Verdict.INFEASIBLE, None),
        ("control1", Verdict.UNBOUNDED, None),
    ],
)
def test_rays_of_sdplib(name, verdict, kind):
    sdp = read_sdpa(LIBRARY / f"{name}.dat-s.gz")
    found = refute(sdp, verdict, Point(), feasible=True)
    if kind is None:
        assert isinstance(found, str)
    else:
        assert isinstance(found, Ray)
        assert found.kind == kind
        assert found.rigorous
        assert found.check(sdp)


def halves(n, *more, weights=None):
    """Variance of two paths of n points each, about a centre, and more rows on their products."""
    t = np.concatenate([np.arange(n - 1), n + np.arange(n - 1)])
    lengths = SquaredEdgeLengths(2 * n, np.column_stack([t, t + 1]))
    rows = [Rows("lengths", "<=", {"K": lengths}, np.ones(t.size))]
    rows += [Rows("centre", "==", {"K": Products(2 * n, weights)}, np.zeros(2 * n))]
    rows += [Rows(f"more {k}", "<=", {"K": a}, np.ones(a.m)) for k, a in enumerate(more)]
    return SDP((PsdVariable("K", 2 * n),), {"K": -1.0 * Trace(2 * n)}, tuple(rows))


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 13.0)], ids=["mean", "weights"])
def test_parts_that_no_row_joins_drift_apart(weights):
    sdp = halves(6, weights=weights)
    ray = drifting(sdp, feasible=True)
    assert ray.kind == "unbounded"
    assert ray.rigorous
    assert ray.check(sdp)
    assert all(not np.any(sdp.evaluate(r.lhs, ray.values, r.m)) for r in sdp.rows)
    assert sdp.primal_value(ray.values) < 0.0
    assert refute(sdp, Verdict.UNBOUNDED, Point(), feasible=True).kind == "unbounded"


@pytest.mark.parametrize(
    "joins",
    [
        Entries(12, [[2, 9]]),
        SquaredEdgeLengths(12, [[0, 11]]),
        QuadraticForms(np.arange(12.0)[None, :]),
        QuadraticForms(np.linspace(0.0, 0.1, 12)[None, :]),
    ],
    ids=["entry", "length", "whole numbers", "fractions"],
)
def test_parts_that_a_row_joins_do_not_drift_apart(joins):
    assert drifting(halves(6, joins), feasible=True) is None


def test_of_matrices_too_large_for_solvers_none_is_asked_for_a_ray():
    sdp = halves(2100, SquaredEdgeLengths(4200, [[0, 4199]]))
    said = refute(sdp, Verdict.UNBOUNDED, Point(), feasible=True)
    assert "too large for a solver" in said
