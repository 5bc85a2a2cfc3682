"""One tolerance in every solver's words: all adapters read from one table."""

from __future__ import annotations

import importlib.util

import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.errors import DataError
from sdpdr.program import Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome, Solver
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solvers.tolerance import TOLERANCES, Rule


@pytest.fixture
def path():
    return methods.mvu(graphs.path([1.0, 2.0, 1.5]))


def test_a_tighter_tolerance_is_never_told_as_a_looser_one():
    for rule in TOLERANCES.values():
        told = [rule.settings(10.0**-k)[rule.options[0]] for k in range(1, 14)]
        assert told == sorted(told, reverse=True)


# -- solvers from elsewhere ----------------------------------------------------------------------


class Unknown(Solver):
    name = "from-elsewhere"

    def run(self, sdp, progress=None):
        return Outcome(Point(), Verdict.SOLVED, Claim(str(self.tolerances())))


class WithRule(Unknown):
    rule = Rule(("eps",), 10.0, (1e-4,), floor=1e-9)


class Renamed(Clarabel):
    name = "renamed"


class Sharper(Clarabel):
    name = "sharper"
    rule = Rule(("tol_gap_rel",), 1e3, (1e-8,))


def test_a_solver_from_elsewhere_brings_a_rule():
    assert WithRule(tol=1e-6).tolerances() == {"eps": pytest.approx(1e-7)}
    assert WithRule(tol=1e-12).tolerances() == {"eps": 1e-9}
    assert WithRule(defaults=True).tolerances() == {}


def test_a_derived_solver_inherits_the_rule_unless_it_has_its_own(path):
    assert Renamed(tol=1e-5).tolerances() == TOLERANCES["clarabel"].settings(1e-5)
    assert Sharper(tol=1e-5).tolerances() == {"tol_gap_rel": pytest.approx(1e-8)}
    for solver in (Renamed(), Sharper()):
        assert sdpdr.solve(path, solver).status is Status.SOLVED


def test_a_solver_without_a_rule_is_told_what_to_do():
    with pytest.raises(DataError, match="solver 'from-elsewhere' has no rule .* rule = Rule"):
        Unknown().tolerances()
    assert Unknown(defaults=True).tolerances() == {}


# -- adapters ----------------------------------------------------------------------------------


CONIC = {name: cls for name, cls in SOLVERS.items() if issubclass(cls, CvxpySolver)}
PROGRAMS = {name: cls for name, cls in SOLVERS.items() if issubclass(cls, ExternalSolver)}


def told(solver):
    """What a cvxpy solver is told, without the box that MOSEK wants around it."""
    options = solver.native_options()
    return options.get("mosek_params", options)


@pytest.mark.parametrize("name", CONIC)
def test_conic_solvers_are_told_what_the_table_says(name):
    options = told(CONIC[name](tol=1e-5))
    for option, number in TOLERANCES[name].settings(1e-5).items():
        assert options[option] == number


@pytest.mark.parametrize("name", CONIC)
def test_conic_solvers_left_alone_are_told_nothing(name):
    assert told(CONIC[name](defaults=True)) == {}
    limited = told(CONIC[name](defaults=True, max_iter=7, time_limit=9.0))
    assert 7 in limited.values()
    assert not set(limited) & set(TOLERANCES[name].options)


def written(name, folder, **fields):
    """Words of the command line and lines of the parameter file."""
    words = PROGRAMS[name](**fields).command(folder)
    files = {"csdp": "param.csdp", "sdpa-file": "param.sdpa", "sdplr": "sdplr.params"}
    file = files.get(name)
    return words, (folder / file).read_text().splitlines() if file else []


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_told_what_the_table_says(name, tmp_path):
    words, lines = written(name, tmp_path, tol=1e-5)
    for option, number in TOLERANCES[name].settings(1e-5).items():
        as_words = f"-{option} {number} " in f"{' '.join(words)} "
        written_as = {f"{option}={number}", f"{number} {option}", f"{option} : {number}"}
        assert as_words or written_as & set(lines)


def test_programs_left_alone_keep_their_own_tolerances(tmp_path):
    assert written("csdp", tmp_path, defaults=True)[1] == []
    assert written("csdp", tmp_path, defaults=True, max_iter=5)[1] == ["maxiter=5"]
    assert not any("tol" in word or "maxit" in word for word in written("dsdp", tmp_path)[0][:3])
    assert written("dsdp", tmp_path, defaults=True)[0][3:] == []
    lines = written("sdpa-file", tmp_path, defaults=True)[1]
    assert {"1e-07 epsilonStar", "1e-07 epsilonDash", "100 maxIteration"} <= set(lines)


@pytest.mark.parametrize("defaults", [False, True])
def test_no_iterations_are_no_iterations(defaults, tmp_path):
    for solver in CONIC.values():
        assert 0 in told(solver(defaults=defaults, max_iter=0)).values()
    limits = {"csdp": "maxiter=0", "sdpa-file": "0 maxIteration", "dsdp": "-maxit 0"}
    for name, limit in limits.items():
        words, lines = written(name, tmp_path, defaults=defaults, max_iter=0)
        assert limit in lines or limit in " ".join(words)


def test_our_own_options_win_over_the_table(tmp_path):
    words, _ = written("dsdp", tmp_path, options={"gaptol": 0.25})
    assert words[words.index("-gaptol") + 1] == "0.25"


# -- the defaults that the table states --------------------------------------------------------


def test_the_defaults_of_clarabel():
    clarabel = pytest.importorskip("clarabel")
    settings = clarabel.DefaultSettings()
    rule = TOLERANCES["clarabel"]
    assert tuple(getattr(settings, option) for option in rule.options) == rule.own


@pytest.mark.skipif(importlib.util.find_spec("cvxopt") is None, reason="CVXOPT is missing")
def test_what_cvxopt_was_told_is_forgotten_even_where_it_breaks_down(path, monkeypatch):
    from cvxopt import solvers

    def break_down(*arguments, **options):
        assert solvers.options["maxiters"] == 1
        raise ArithmeticError("math domain error")

    before = dict(solvers.options)
    with monkeypatch.context() as patch:
        patch.setattr(solvers, "conelp", break_down)
        broken = sdpdr.solve(path, sdpdr.solvers.Cvxopt(max_iter=1), "lmi")
    assert broken.status is Status.FAILED
    assert solvers.options == before
    assert sdpdr.solve(path, sdpdr.solvers.Cvxopt(defaults=True), "lmi").status is Status.SOLVED
