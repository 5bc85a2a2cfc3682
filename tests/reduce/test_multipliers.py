"""Multipliers on a face become multipliers of the original program, or nan; never a false zero."""

from __future__ import annotations

import json
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr.linalg import InnerProduct, VectorMap
from sdpdr.program import Point, Status
from sdpdr.program.face import complete_multipliers
from sdpdr.program.residuals import multipliers_in_cones
from sdpdr.reduce import facial_reduction

from .degenerate_programs import anything, program


def is_unknown(duals):
    return any(np.isnan(y).any() for y in duals.values())


def lowest(sdp, duals):
    """The lowest of what must not be negative, relative to the largest multiplier."""
    full = complete_multipliers(sdp, duals)
    found = [np.zeros(1), *multipliers_in_cones(sdp, full)]
    for v in sdp.psd_variables:
        slack = sdp.dual_slack(v.name, full)
        found.append(np.linalg.eigvalsh(np.asarray(slack @ np.eye(v.n))))
    for w in sdp.vector_variables:
        s = np.asarray(sdp.dual_slack(w.name, full))
        found.append(s if w.nonnegative else -np.abs(s))
    size = max(1.0, *(float(np.max(np.abs(y), initial=0.0)) for y in full.values()))
    return min(float(np.min(part, initial=0.0)) for part in found) / size


def lifted(sdp, tol=1e-8):
    """Multipliers on the face and of the program, and their values; None if unsolved."""
    found = facial_reduction(sdp)
    if not found or found.infeasible is not None:
        return None
    answer = sdpdr.solve(found.sdp, "clarabel", tol=tol)
    if answer.status is not Status.SOLVED or answer.exposures:
        return None
    inside = Point(answer.values, answer.duals)
    if lowest(found.sdp, inside.duals) < -1e-7:
        return None
    return found, inside, found.lift(inside)


def holds(sdp, seen):
    """Whether multipliers are known; then they are checked."""
    found, inside, whole = seen
    if is_unknown(whole.duals):
        named = {(label, e) for step in found.exposures for label, e, _ in step.multipliers}
        for r in sdp.rows:
            assert {
                (r.label, int(e)) for e in np.flatnonzero(np.isnan(whole.duals[r.label]))
            } <= named
        return False
    assert lowest(sdp, whole.duals) >= -1e-5
    value = found.sdp.dual_value(inside.duals)
    size = max(1.0, *(float(np.max(np.abs(y), initial=0.0)) for y in whole.duals.values()))
    assert abs(sdp.dual_value(whole.duals) - value) <= 1e-9 * size
    return True


@pytest.mark.nightly
def test_multipliers_of_any_program_are_some_with_the_value_of_the_face_or_nan():
    known = []
    # Programs that are solved soon, with one whose multipliers are unknown.
    for seed in (4, 6, 10, 15, 16, 24):
        sdp, _ = anything(seed)
        # A penalty that bounds the value, so that most of them are solved.
        penalties = {v.name: InnerProduct(penalized(v.n, seed)) for v in sdp.psd_variables}
        sdp = replace(sdp, objective={**penalties, "z": VectorMap(np.ones((1, 3)))})
        seen = lifted(sdp)
        if seen is not None:
            known.append(holds(sdp, seen))
    assert 5 <= sum(known) < len(known)


def penalized(n, seed):
    form = np.random.default_rng(seed).integers(-2, 3, (n, n))
    return 4.0 * n * np.eye(n) + form + form.T


def test_multipliers_that_do_not_exist_are_nan_and_the_report_says_why():
    # min 2 X12 + X22 with X11 = 0, X22 <= 1: S22 vanishes beside an entry that does not.
    sdp = program(2, [(1, 2, 1), (2, 2, -1)], ([(1, 1, 1)], 0), ([(2, 2, 1)], 1))
    answer = sdpdr.solve(sdp)
    assert answer.value == pytest.approx(-1.0)
    assert np.isnan(answer.duals["rows"][0])
    assert answer.duals["rows"][1] == pytest.approx(1.0, abs=1e-6)
    assert "no multiple of them was found" in " ".join(answer.report().split())
    # JSON has no word for nan.
    assert json.loads(json.dumps(answer.record(), allow_nan=False))["duals"]["rows"][0] is None
    penalized = replace(sdp, objective=program(2, [(1, 1, -3)], ([(1, 1, 1)], 0)).objective)
    known = sdpdr.solve(penalized)
    assert known.duals["rows"][0] >= 3.0 - 1e-6
    assert "no multiple" not in known.report()


# -- as cvxpy is told -----------------------------------------------------------------------------


def transport():
    T = cp.Variable((2, 3), nonneg=True)
    rows = [cp.sum(T, axis=1) <= np.array([0.0, 10.0]), cp.sum(T, axis=0) == np.array([1.0, 2, 1])]
    cost = np.array([[1.0, 1, 1], [5, 6, 7]])
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(cost, T))), rows), 6.0


def ray():
    x = cp.Variable(2, nonneg=True)
    return cp.Problem(cp.Maximize(x[0] + 2 * x[1]), [cp.sum(x) <= 0]), 2.0


def pair():
    x = cp.Variable(3, nonneg=True)
    return cp.Problem(cp.Maximize(5 * x[0] + 2 * x[1] + x[2]), [x[0] + x[1] == 0, x[2] <= 1]), 5.0


def trace():
    M = np.array([[1.0, 2.0], [2.0, 3.0]])
    X = cp.Variable((2, 2), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.trace(M @ X)), [cp.trace(X) <= 0])
    return problem, float(np.linalg.eigvalsh(M)[-1])


def corner():
    C = np.array([[2.0, 0, 0], [0, 1, 0.5], [0, 0.5, 1]])
    X = cp.Variable((3, 3), PSD=True)
    rows = [X[0, 0] <= 0, X[1, 1] <= 1, X[2, 2] <= 1]
    return cp.Problem(cp.Maximize(cp.trace(C @ X)), rows), 2.0


@pytest.mark.parametrize("make", [transport, trace, corner])
def test_the_row_that_exposes_a_face_has_a_multiplier_that_is_one(make):
    problem, least = make()
    problem.solve(solver=sdpdr.CVXPY())
    assert problem.status == cp.OPTIMAL
    assert np.ravel(problem.constraints[0].dual_value)[0] >= least - 1e-5


def test_a_row_whose_dual_is_not_attained_has_nan_and_the_others_have_theirs():
    C = np.array([[2.0, 1, 0], [1, 1, 0.5], [0, 0.5, 1]])
    X = cp.Variable((3, 3), PSD=True)
    rows = [X[0, 0] <= 0, X[1, 1] <= 1, X[2, 2] <= 1]
    cp.Problem(cp.Maximize(cp.trace(C @ X)), rows).solve(solver=sdpdr.CVXPY())
    assert np.isnan(rows[0].dual_value)
    assert [float(r.dual_value) for r in rows[1:]] == pytest.approx([1.5, 1.5], abs=1e-5)
