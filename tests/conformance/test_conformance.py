"""Every usable solver, in every form it takes, on every program of the table.

Every day each form meets one of the quick pairs; `pytest -m nightly` has the rest of the product.
"""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
from sdpdr.errors import NotAcceptedError
from sdpdr.program import PsdVariable, Status, as_dense, dimacs_errors
from sdpdr.program.point import Point
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL

from ..proofs import certify
from .cases import CASES
from .limits import KNOWN_LIMITS, TOLERANCE, limit, tolerance

pytestmark = pytest.mark.integration

EXPECTED = {
    "optimal": Status.SOLVED,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
}
SETTLED = set(EXPECTED.values())
# Clique blocks need larger programs than these; test_chordal.py has them.
USABLE = [
    (name, form)
    for name, cls in SOLVERS.items()
    if cls.availability().usable
    for form in cls.forms
    if form not in CHORDAL
]


# -- the table itself ---------------------------------------------------------------------------


@pytest.mark.daily(5)
@pytest.mark.parametrize("case", [c for c in CASES if c.duals], ids=repr)
def test_the_points_in_closed_form_are_optimal(case):
    sdp = case.build()
    assert dimacs_errors(sdp, Point(case.values, case.duals)).worst() < 1e-14
    assert sdp.report(sdp.primal_value(case.values)) == pytest.approx(case.value, rel=1e-12)
    assert sdp.report(sdp.dual_value(case.duals)) == pytest.approx(case.value, rel=1e-12)
    assert certify(sdp, case.duals).bound == pytest.approx(case.value, rel=1e-9)


def test_names_differ_and_limits_name_what_exists():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    for known in KNOWN_LIMITS:
        assert known.solver in SOLVERS
        assert all(any(name.startswith(start) for name in names) for start in known.cases)
    assert set(TOLERANCE) <= set(SOLVERS)
    assert set(EVERYBODYS) | set(LONG) <= set(names)


# -- the solvers --------------------------------------------------------------------------------


# Quick for all solvers: a value, a contradiction, no limit, scalars of every kind beside lengths.
EVERYBODYS = (
    "theta of a pentagon",
    "impossible hyperbola",
    "no limit",
    "mvu path, penalized",
)
# Quick on nearly all programs: a method of interior points, and those that write a factor.
THOROUGH = (("clarabel", "lmi"), ("lowrank", "factor"), ("ipopt", "factor"))
# The low-rank engine takes seconds until it sees the ray, and less with "mvu slack too cheap".
LONG = ("no limit", "eigenvalue without limit", "mvu complete graph, equality")


def is_slow(name, form, case):
    """All solvers are quick on some programs, and some solvers on all programs."""
    if (name, form) in THOROUGH:
        return case.name in LONG and name != "clarabel"
    if form == "cvxpy" and name != "clarabel" and case.name.startswith("mvu"):
        return True
    return case.name not in EVERYBODYS and name != "nearest"


RUNS = [
    pytest.param(
        name,
        form,
        case,
        id=f"{name}-{form}-{case}",
        marks=[pytest.mark.nightly] if is_slow(name, form, case) else [],
    )
    for name, form in USABLE
    for case in CASES
    if name != "ipopt" or case.name.startswith("mvu")
    if name != "nearest" or case.name.startswith("nearest")
]


@pytest.mark.daily(9)
@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize(("name", "form", "case"), RUNS)
def test_every_solver_on_every_program(name, form, case):
    known = limit(name, form, case.name)
    if known is not None and known.kind == "refuses":
        with pytest.raises(NotAcceptedError, match=rf"{name} \({form} form\): \w+"):
            sdpdr.solve(case.build(), name, form)
        return
    seconds = None if known is None else known.seconds
    solution = sdpdr.solve(case.build(), name, form, time_limit=seconds)
    if known is not None and known.kind == "fails":
        assert solution.status not in SETTLED, f"this limit is gone: {known.why}"
    elif known is None or solution.status in SETTLED:
        check(case, solution, tolerance(name))
    else:
        assert not solution.certified()
        assert solution.status is not Status.FAILED or solution.claimed.message


def check(case, solution, allowed):
    if case.verdict != "optimal":
        assert solution.status is EXPECTED[case.verdict]
        assert np.isnan(solution.value) or not solution.certified()
        return
    slack = (allowed + case.digits) * max(1.0, abs(case.value))
    assert solution.value == pytest.approx(case.value, abs=slack)
    assert solution.residuals.worst() <= allowed
    assert_lifted(case.build(), solution)
    assert_bounds(case, solution.bound, solution.maximize)
    assert solution.bound == pytest.approx(case.value, abs=slack)
    assert (solution.status is Status.SOLVED) == solution.certified()
    if case.interior:
        assert solution.certified(allowed)
    else:
        assert solution.attained is None
        assert solution.epsilon <= allowed
        assert solution.apparent_gap <= allowed


def assert_bounds(case, bound, maximize):
    """The bound lies on its own side of the optimum, up to the digits that are known of it."""
    beyond = case.value - bound if maximize else bound - case.value
    assert beyond <= case.digits * max(1.0, abs(case.value))


def assert_lifted(sdp, solution):
    """Values and multipliers in the shapes of the program that was asked, not of a reduced one."""
    for v in sdp.variables:
        shape = (v.n, v.n) if isinstance(v, PsdVariable) else (v.size,)
        assert as_dense(solution.values[v.name]).shape == shape
    for rows in sdp.rows:
        assert solution.duals[rows.label].shape == (rows.m,)
    for lmi in sdp.lmis:
        assert solution.duals[lmi.label].shape == (lmi.order, lmi.order)


@pytest.mark.parametrize(("name", "form"), [u for u in USABLE if u[0] == "ipopt"])
@pytest.mark.parametrize("case", [c for c in CASES if c.name.startswith("theta")], ids=repr)
def test_edge_solvers_refuse_other_programs_in_words(name, form, case):
    with pytest.raises(NotAcceptedError, match="no solver accepts this program as requested"):
        sdpdr.solve(case.build(), name, form)


@pytest.mark.daily(5)
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_auto_settles_every_program(case):
    solution = sdpdr.solve(case.build())
    expected = EXPECTED[case.verdict] if case.interior else Status.OPTIMAL_NEARBY
    assert solution.status is expected
    if case.verdict == "optimal":
        check(case, solution, 1e-6)
