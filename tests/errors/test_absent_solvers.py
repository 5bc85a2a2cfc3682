"""Solvers that are not installed, have no licence, are unknown, or cannot take the program."""

from __future__ import annotations

import numpy as np
import pytest

import sdpdr
import sdpdr.solvers.external
from sdpdr import Status, graphs, methods
from sdpdr.errors import (
    DataError,
    NotAcceptedError,
    SolverLicenceError,
    SolverMissingError,
    UnknownNameError,
)
from sdpdr.linalg import InnerProduct, Trace, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable
from sdpdr.solvers import Mosek, Scs
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS

pytestmark = pytest.mark.integration


@pytest.fixture
def model():
    return methods.mvu(graphs.cycle(5))


@pytest.fixture
def smallest_eigenvalue():
    """Minimise <diag(1, 2, 3), X> with tr X = 1: no unfolding."""
    trace = Rows("trace", "==", {"X": Trace(3)}, np.ones(1))
    return SDP((PsdVariable("X", 3),), {"X": InnerProduct(np.diag([1.0, 2.0, 3.0]))}, (trace,))


@pytest.fixture
def hide(monkeypatch, hide_packages):
    """Make modules look as if they were not installed, and every program of its own."""

    def hide(*names):
        hide_packages(*names)
        monkeypatch.setattr(sdpdr.solvers.external.shutil, "which", lambda program: None)

    return hide


@pytest.fixture
def unlicensed(monkeypatch):
    """MOSEK installed, with a licence server that says no."""
    monkeypatch.setattr(Mosek, "module", "numpy")
    words = classmethod(lambda cls: "MOSEK says 'no'. Put a licence where MOSEK looks for one.")
    monkeypatch.setattr(Mosek, "licence_problem", words)


def remedy(cls):
    """The command that installs a solver: of pip, or of the system for programs of their own."""
    if issubclass(cls, ExternalSolver):
        return cls.remedy()
    return f'pip install "sdpdr[{cls.extra}]"' if cls.extra else f"pip install {cls.package}"


# -- missing ----------------------------------------------------------------------------------


def test_a_missing_solver_is_refused_and_listed_with_the_command_that_installs_it(model, hide):
    hide(*(cls.module for cls in SOLVERS.values()), "cyipopt")
    table = sdpdr.solvers()
    for name, cls in SOLVERS.items():
        with pytest.raises(SolverMissingError) as caught:
            sdpdr.solve(model, name)
        for words in (repr(name), "is missing", remedy(cls)):
            assert words in str(caught.value)
        (row,) = [row for row in table if row.name == name]
        assert (row.installed, row.usable, row.version) == (False, False, "")
        assert remedy(cls) in row.reason
        assert row.reason in repr(table)


def test_auto_does_without_what_is_missing(model, hide):
    hide("clarabel", "scs", "ipyopt", "cyipopt")
    assert sdpdr.solve(model).status is Status.SOLVED
    names = [one.solver.name for one in sdpdr.plan(model).sequence]
    assert not {"clarabel", "scs"} & set(names)


def test_without_any_solver_the_reasons_are_all_given(model, hide):
    hide(*(cls.module for cls in SOLVERS.values()), "cyipopt")
    with pytest.raises(NotAcceptedError) as caught:
        sdpdr.plan(model)
    for cls in SOLVERS.values():
        assert cls.by_name_only or remedy(cls) in str(caught.value)


# -- without a licence ------------------------------------------------------------------------


def test_a_solver_without_licence_is_refused_in_its_own_words_and_listed(model, unlicensed):
    with pytest.raises(SolverLicenceError, match=r"no licence: MOSEK says 'no'"):
        sdpdr.solve(model, "mosek")
    (row,) = [row for row in sdpdr.solvers() if row.name == "mosek"]
    assert (row.installed, row.licensed, row.usable) == (True, False, False)
    assert "licence" in row.reason


def test_a_licence_changes_what_is_possible_and_not_what_is_chosen(
    smallest_eigenvalue, unlicensed, monkeypatch
):
    before = sdpdr.plan(smallest_eigenvalue)
    for form in Mosek.forms:
        assert "MOSEK says 'no'" in before.others["mosek", form]
    monkeypatch.setattr(Mosek, "licence_problem", classmethod(lambda cls: None))
    after = sdpdr.plan(smallest_eigenvalue)
    assert after.others["mosek", "lmi"] == "possible"
    assert [one.solver.name for one in after.sequence] == [
        one.solver.name for one in before.sequence
    ]


# -- unknown ----------------------------------------------------------------------------------


def test_an_unknown_solver_or_form_is_answered_with_the_nearest(model):
    with pytest.raises(UnknownNameError, match="unknown solver 'low-rank'.*mean 'lowrank'"):
        sdpdr.solve(model, "low-rank")
    with pytest.raises(UnknownNameError, match=r"unknown form 'gramm'.*mean 'gram'"):
        sdpdr.solve(model, "clarabel", "gramm")


# -- not accepted -----------------------------------------------------------------------------


def test_a_solver_says_which_forms_it_takes(model):
    with pytest.raises(NotAcceptedError, match=r"'lowrank' does not take the 'lmi' form.*factor"):
        sdpdr.solve(model, "lowrank", "lmi")
    with pytest.raises(NotAcceptedError, match=r"'scs' does not take the 'factor' form.*gram"):
        sdpdr.solve(model, Scs(), "factor")


def test_the_low_rank_solver_says_why_it_refuses_a_program():
    limit = Rows("limit", "<=", {"z": VectorMap(np.eye(2))}, np.ones(2))
    gain = VectorMap(-np.ones((1, 2)))
    linear = SDP((VectorVariable("z", 2, nonnegative=True),), {"z": gain}, (limit,))
    with pytest.raises(NotAcceptedError) as caught:
        sdpdr.solve(linear, "lowrank")
    assert "lowrank (factor form)" in str(caught.value)
    assert "no matrix variable" in str(caught.value)
    assert "solver='auto'" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"seed": -1}, "seed must be a whole number"),
        ({"tol": 0.0}, "tol must be a positive number"),
        ({"tol": float("nan")}, "tol must be a positive number"),
        ({"time_limit": -1.0}, "time_limit=-1.0 is no number of seconds"),
        ({"max_iter": -1}, "max_iter must be a whole number of 0 or more"),
    ],
)
def test_options_out_of_range_are_named(options, words, model):
    for solver in ("auto", "clarabel"):
        with pytest.raises(DataError, match=words):
            sdpdr.solve(model, solver, **options)
