"""cvxpy's own tests of its solvers, of sdpdr as one of them.

Those of bounded variables are about solvers that are given bounds apart from the rows, which sdpdr
is not; `test_lp_7` is about one solver's digits.
"""

from __future__ import annotations

import pytest
from cvxpy.tests import solver_test_helpers as helpers

import sdpdr

pytestmark = pytest.mark.integration

KINDS = ("LPs", "QPs", "SOCPs", "SDPs", "ECPs", "MixedCPs", "PCPs")
LEFT_OUT = ("test_mi_", "test_lp_bound_attr", "test_qp_bound_attr", "test_lp_7")
STANDARD = [
    pytest.param(kind, name, marks=pytest.mark.nightly if name == "test_lp_5" else ())
    for kind in KINDS
    for name in dir(getattr(helpers, f"StandardTest{kind}", None))
    if name.startswith("test_") and not name.startswith(LEFT_OUT)
]
INFEASIBLE = (
    "test_lp_ineq_constraints",
    "test_lp_eq_constraints",
    "test_soc",
    "test_psd_cone",
    "test_exp_cone",
    "test_power_cone_3d",
    "test_power_cone_nd",
    "test_soc_exp_mixed",
)
# Compared to more digits of the variables than a gap of 1e-6 leaves.
OPTIONS = {"test_socp_1": {"tol": 1e-7}, "test_pcp_2": {"tol": 1e-8}}


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("kind", "name"), STANDARD)
def test_a_problem_of_cvxpy_s_own_tests_is_solved(kind, name):
    test = getattr(getattr(helpers, f"StandardTest{kind}"), name)
    test(solver=sdpdr.CVXPY(), **OPTIONS.get(name, {}))


@pytest.mark.nightly
@pytest.mark.parametrize("name", INFEASIBLE)
def test_an_infeasible_problem_of_cvxpy_s_own_tests_is_told(name):
    cases = getattr(helpers, "StandardTestInfeasibleProblems", None)
    if not hasattr(cases, name):
        pytest.skip("this cvxpy has no such test")
    getattr(cases, name)(sdpdr.CVXPY())
