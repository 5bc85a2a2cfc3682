"""COPT: the real one where it is installed, and one that has no licence, or no manners."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import SolverLicenceError, SolverMissingError
from sdpdr.linalg import InnerProduct, Trace
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.program.run import Verdict
from sdpdr.reduce import Dual
from sdpdr.solvers import Copt

pytestmark = pytest.mark.integration

REAL = pytest.mark.skipif(not Copt.availability().usable, reason="coptpy is not installed")


@pytest.fixture
def eigenvalue():
    """Minimise <diag(1, 2, 3), X> with tr X = 1."""
    trace = Rows("trace", "==", {"X": Trace(3)}, np.ones(1))
    return SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([1.0, 2.0, 3.0]))}, (trace,))


# -- the real one ---------------------------------------------------------------------------------


@REAL
@pytest.mark.parametrize("form", ["gram", "lmi"])
@pytest.mark.parametrize(
    "relation", ["equality", "inequality", Slack(30.0), Slack(300.0, "absolute", True)], ids=repr
)
def test_every_kind_of_variable_finds_its_way_back(form, relation):
    model = methods.mvu(graphs.path([1.0, 2.0, 1.5]), relation)
    best, found = sdpdr.solve(model, tol=1e-8), sdpdr.solve(model, "copt", form)
    assert found.status is Status.SOLVED
    assert found.value == pytest.approx(best.value, rel=1e-6)
    assert found.claimed.value == pytest.approx(best.value, rel=1e-6)
    assert 0 < found.claimed.iterations < 100


# -- without it -----------------------------------------------------------------------------------


def test_without_the_package_there_is_a_command_that_installs_it(eigenvalue, monkeypatch):
    monkeypatch.setattr(Copt, "module", "no_such_module")
    with pytest.raises(SolverMissingError, match=r'pip install "sdpdr\[copt\]"'):
        sdpdr.solve(eigenvalue, "copt")


class Refusal(Exception):
    """What COPT raises."""

    def __init__(self, retcode):
        super().__init__(f"{retcode}, in words")
        self.retcode = retcode


@pytest.fixture
def fake(monkeypatch):
    """A package of that name whose model ends as told."""

    def put(raises=None, **ends):
        def solve():
            if raises is not None:
                raise raises

        model = SimpleNamespace(
            setParam=lambda *_: None, loadConeMatrix=lambda *_: [-1], solve=solve, **ends
        )
        package = SimpleNamespace(
            EnvrConfig=lambda: SimpleNamespace(set=lambda *_: None),
            Envr=lambda _: SimpleNamespace(createModel=lambda: model),
            COPT=SimpleNamespace(MINIMIZE=1),
            CoptError=Refusal,
        )
        monkeypatch.setitem(sys.modules, "coptpy", package)
        # A worker would not know of it.
        monkeypatch.setattr(Copt, "is_dangerous", False)
        monkeypatch.setattr(Copt, "module", "numpy")

    return put


def answers(point, dual, status=1):
    return {
        "status": status,
        "haslpsol": 1,
        "barrieriter": 3,
        "objval": 1.0,
        "getValues": lambda: [],
        "getPsdValues": lambda: point,
        "getDuals": lambda: [],
        "getPsdDuals": lambda: dual,
    }


TRIANGLE = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_no_licence_for_a_large_program_is_an_error_of_its_own(eigenvalue, fake):
    fake(raises=Refusal(4))
    with pytest.raises(SolverLicenceError, match="no licence here, and takes 2000 rows"):
        sdpdr.solve(eigenvalue, "copt")


def test_other_errors_are_failures(eigenvalue, fake):
    fake(raises=Refusal(3))
    solution = sdpdr.solve(eigenvalue, "copt")
    assert solution.status is Status.FAILED
    assert "3, in words" in solution.claimed.message


def test_an_honest_answer_is_proved_and_no_lie_is(eigenvalue, fake):
    fake(**answers(TRIANGLE, [1.0]))
    outcome = Copt().run(eigenvalue)
    np.testing.assert_array_equal(outcome.point.values["X"], np.diag([1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(outcome.point.duals["trace"], [-1.0])
    assert sdpdr.solve(eigenvalue, Copt(), via=[]).status is Status.SOLVED
    fake(**answers([0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [-7.0]))
    lie = sdpdr.solve(eigenvalue, Copt(), via=[])
    assert lie.bound is None or lie.bound <= 1.0
    assert lie.attained is None or lie.attained >= 1.0


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (2, Verdict.INFEASIBLE),
        (3, Verdict.UNBOUNDED),
        (4, Verdict.FAILED),
        (8, Verdict.TIME_LIMIT),
        (11, Verdict.ITERATION_LIMIT),
        (99, Verdict.FAILED),
    ],
)
def test_its_words_are_verdicts_and_those_of_the_dual_are_mirrored(
    status, verdict, eigenvalue, fake
):
    fake(status=status, haslpsol=0, barrieriter=0)
    assert Copt().run(eigenvalue).verdict is verdict
    mirrored = Copt().run(Dual().apply(eigenvalue).sdp)
    assert mirrored.verdict is verdict.mirrored
    assert not mirrored.point.values


def test_it_is_told_one_thread_and_a_method_whose_multipliers_are_good():
    told = Copt(tol=1e-6, time_limit=3.0, max_iter=7, options={"Threads": 2})._parameters()
    assert told["FeasTol"] == told["DualTol"] == pytest.approx(1e-8)
    assert (told["Threads"], told["SDPMethod"], told["TimeLimit"]) == (2, 0, 3.0)
    assert told["BarIterLimit"] == 7
    assert Copt(defaults=True)._parameters() == {"Threads": 1}
