"""One tolerance in every solver's words: the table, and that all adapters read from it."""

from __future__ import annotations

import importlib.util

import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.errors import DataError, UnknownNameError
from sdpdr.program import Claim, Point
from sdpdr.program.run import Verdict
from sdpdr.solvers import Clarabel, Outcome, Solver
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.external import ExternalSolver
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solvers.tolerance import TOLERANCES, Rule, translate

# What each was told before there was a table, at the tolerances in the head.
HEAD = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
TOLD = {
    "clarabel": (1e-4, 1e-6, 1e-8, 1e-10, 1e-10),
    "dense": (1e-4, 1e-6, 1e-8, 1e-10, 1e-10),
    "nearest": (1e-5, 1e-7, 1e-9, 1e-11, 1e-12),
    "mosek": (1e-4, 1e-6, 1e-8, 1e-10, 1e-10),
    "scs": (1e-3, 1e-5, 1e-7, 1e-9, 1e-11),
    "cvxopt": (1e-3, 1e-5, 1e-7, 1e-9, 1e-9),
    "sdpa": (1e-4, 1e-6, 1e-8, 1e-8, 1e-8),
    "sdpa-file": (1e-4, 1e-6, 1e-8, 1e-8, 1e-8),
    "csdp": (1e-4, 1e-6, 1e-8, 1e-9, 1e-9),
    "dsdp": (1e-4, 1e-6, 1e-8, 1e-9, 1e-9),
    "sdplr": (1e-3, 1e-5, 1e-7, 1e-9, 1e-10),
    "lorads": (1e-4, 1e-6, 1e-8, 1e-9, 1e-9),
    "copt": (1e-4, 1e-6, 1e-8, 1e-9, 1e-9),
    "multiprecision": (1e-5, 1e-7, 1e-9, 1e-11, 1e-13),
    "ipopt": (1e-8, 1e-8, 1e-8, 1e-10, 1e-12),
    "lowrank": (1e-3, 1e-5, 1e-7, 1e-9, 1e-11),
    "lowrank without lower limits": (1e-2 / 3, 1e-4 / 3, 1e-6 / 3, 1e-8 / 3, 1e-10 / 3),
}


@pytest.fixture
def path():
    return methods.mvu(graphs.path([1.0, 2.0, 1.5]))


@pytest.mark.parametrize("name", TOLERANCES)
def test_the_numbers_that_solvers_are_told(name):
    for tol, told in zip(HEAD, TOLD[name], strict=True):
        for number in translate(name, tol).values():
            assert number == pytest.approx(told, rel=1e-12)


def test_a_tighter_tolerance_is_never_told_as_a_looser_one():
    for rule in TOLERANCES.values():
        told = [rule.asked(10.0**-k) for k in range(1, 14)]
        assert told == sorted(told, reverse=True)


def test_floor_and_ceiling():
    rule = Rule(("x",), 10.0, (1e-6,), floor=1e-7, ceiling=1e-4)
    assert [rule.asked(tol) for tol in (1.0, 1e-5, 1e-9)] == [1e-4, pytest.approx(1e-6), 1e-7]


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'clarabel'"):
        translate("clarable", 1e-6)


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
    assert Renamed(tol=1e-5).tolerances() == translate("clarabel", 1e-5)
    assert Sharper(tol=1e-5).tolerances() == {"tol_gap_rel": pytest.approx(1e-8)}
    for solver in (Renamed(), Sharper()):
        assert sdpdr.solve(path, solver).status is Status.SOLVED


def test_a_solver_without_a_rule_is_told_what_to_do():
    with pytest.raises(DataError, match="tell solver 'from-elsewhere' .* rule = Rule"):
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
    for option, number in translate(name, 1e-5).items():
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
    for option, number in translate(name, 1e-5).items():
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


def test_the_default_of_our_own_solver():
    assert TOLERANCES["lowrank"].own == (sdpdr.solvers.lowrank.Options().tol,)


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


# -- what comes of it --------------------------------------------------------------------------

USABLE = [name for name, cls in SOLVERS.items() if cls.availability().usable and not cls.is_special]


@pytest.mark.nightly
@pytest.mark.parametrize("name", USABLE)
def test_left_alone_a_solver_still_solves_and_is_graded_at_the_tolerance(name, path):
    form = SOLVERS[name].forms[0]
    solution = sdpdr.solve(path, SOLVERS[name](tol=1e-2, defaults=True), form)
    assert solution.status is Status.SOLVED
    assert solution.tol == 1e-2
    strict = sdpdr.solve(path, SOLVERS[name](tol=1e-15, defaults=True), form)
    assert strict.status is Status.INACCURATE
    assert strict.claimed.value == solution.claimed.value
