"""IPOPT as a second opinion: its derivatives, its answers, and what it refuses."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sdpdr
import sdpdr.solvers.ipopt as ipopt_file
from sdpdr import Status, datasets, graphs, methods
from sdpdr.blocks import Slack
from sdpdr.program.run import Verdict
from sdpdr.solvers import Ipopt
from sdpdr.solvers.ipopt import UnfoldingNlp
from sdpdr.solvers.lowrank import EdgeProgram
from sdpdr.solvers.lowrank.edge.form import edge_form

pytestmark = pytest.mark.integration

STEP = 1e-6


def swiss(n, k=4):
    return graphs.knn(datasets.swiss_roll(n)[0], n_neighbors=k)


@pytest.fixture(params=["unit", "weighted"])
def nlp(request):
    """A ring with a chord, once plain, once with unequal lengths, limits and masses."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4)]
    limits = {"sqdist": np.ones(7)}
    if request.param == "weighted":
        rng = np.random.default_rng(1)
        sqdist = rng.uniform(0.5, 4.0, 7)
        limits = {
            "sqdist": sqdist,
            "lower": 0.8 * sqdist,
            "upper": 1.1 * sqdist,
            "mass": rng.uniform(1.0, 3.0, 6),
        }
    return UnfoldingNlp(EdgeProgram(edges=edges, n=6, **limits), rank=3, seed=0)


@pytest.fixture
def x(nlp):
    return np.random.default_rng(2).standard_normal(nlp.n * nlp.r)


def differences(function, x):
    """Central differences of a function; shape (values, variables)."""
    columns = [
        (np.atleast_1d(function(x + step)) - np.atleast_1d(function(x - step))) / (2.0 * STEP)
        for step in STEP * np.eye(x.size)
    ]
    return np.array(columns).T


def spread(pattern, entries, shape):
    matrix = np.zeros(shape)
    np.add.at(matrix, pattern, entries)
    return matrix


# -- derivatives ------------------------------------------------------------------------------


def test_gradient_is_that_of_the_objective(nlp, x):
    np.testing.assert_allclose(nlp.gradient(x), differences(nlp.objective, x)[0], atol=1e-6)


def test_jacobian_is_that_of_the_rows(nlp, x):
    rows = nlp.m + nlp.r
    jacobian = spread(nlp.jacobian_pattern(), nlp.jacobian(x), (rows, x.size))
    np.testing.assert_allclose(jacobian, differences(nlp.rows, x), atol=1e-6)


def test_hessian_is_that_of_the_lagrangian(nlp, x):
    multipliers = np.random.default_rng(3).standard_normal(nlp.m + nlp.r)
    factor = 0.7

    def gradient(x):
        jacobian = spread(nlp.jacobian_pattern(), nlp.jacobian(x), (multipliers.size, x.size))
        return factor * nlp.gradient(x) + multipliers @ jacobian

    rows, columns = nlp.hessian_pattern()
    assert np.all(rows >= columns), "IPOPT reads the lower triangle"
    lower = spread((rows, columns), nlp.hessian(multipliers, factor), (x.size, x.size))
    whole = lower + np.tril(lower, -1).T
    np.testing.assert_allclose(whole, differences(gradient, x), atol=1e-6)


def test_limits_are_those_of_the_program_relative_to_the_lengths():
    program = EdgeProgram(
        edges=[(0, 1), (1, 2)], n=3, sqdist=[2.0, 4.0], lower=[-np.inf, 2.0], upper=[2.0, 8.0]
    )
    nlp = UnfoldingNlp(program, rank=2, seed=0)
    lower, upper = nlp.limits()
    np.testing.assert_allclose(upper[:2], [1.0, 2.0])
    np.testing.assert_allclose(lower[1:2], 0.5)
    assert lower[0] <= -1e19
    np.testing.assert_array_equal(lower[2:], 0.0)
    np.testing.assert_array_equal(upper[2:], 0.0)


# -- answers ----------------------------------------------------------------------------------

needs_ipopt = pytest.mark.skipif(not Ipopt.availability().usable, reason="IPOPT is not installed")


@needs_ipopt
@pytest.mark.parametrize(
    ("graph", "value"),
    [
        (graphs.cycle(12), 12 / (4 * np.sin(np.pi / 12) ** 2)),
        (graphs.path(np.ones(11)), 12 * (12**2 - 1) / 12),
        (graphs.cycle(30), 30 / (4 * np.sin(np.pi / 30) ** 2)),
    ],
    ids=["ring of 12", "path of 12", "ring of 30"],
)
def test_answers_in_closed_form(graph, value):
    solution = sdpdr.solve(methods.mvu(graph), "ipopt")
    assert solution.status is Status.SOLVED
    assert solution.value == pytest.approx(value, rel=1e-6)
    assert solution.bound == pytest.approx(value, rel=1e-6)


@pytest.mark.nightly
@needs_ipopt
@pytest.mark.parametrize(("n", "k"), [(12, 3), (30, 4)])
def test_both_solvers_of_the_factor_agree_on_exact_lengths(n, k):
    model = methods.mvu(swiss(n, k), "equality")
    ours, theirs = (sdpdr.solve(model, name) for name in ("lowrank", "ipopt"))
    assert theirs.status is Status.SOLVED
    assert theirs.value == pytest.approx(ours.value, rel=2e-6)
    assert theirs.residuals.primal() <= 1e-6
    assert theirs.duals["isometry"].min() < 0.0, "some edges push"


# -- options and endings ----------------------------------------------------------------------


@needs_ipopt
def test_an_option_that_ipopt_does_not_know_is_a_failure():
    solution = sdpdr.solve(methods.mvu(swiss(12, 3)), Ipopt(options={"no_such_option": 1}))
    assert solution.status is Status.FAILED
    assert solution.claimed.message


@needs_ipopt
@pytest.mark.parametrize("verbose", [False, True])
def test_it_prints_only_when_told_to(capfd, verbose):
    sdpdr.solve(methods.mvu(swiss(12, 3)), "ipopt", verbose=verbose)
    assert bool(capfd.readouterr().out) == verbose


def test_numbers_that_are_not_finite_are_a_failure(monkeypatch):
    def broken(nlp, options):
        return np.full(nlp.n * nlp.r, np.nan), np.zeros(nlp.m + nlp.r), 0

    monkeypatch.setattr(ipopt_file, "_with_ipyopt", broken)
    monkeypatch.setattr(ipopt_file, "_with_cyipopt", broken)
    outcome = Ipopt().run(methods.mvu(graphs.cycle(5)).to_sdp())
    assert outcome.verdict is Verdict.FAILED
    assert "not finite" in outcome.claim.message


# -- acceptance and availability --------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["square", "absolute"])
def test_penalties_are_refused_with_the_solver_that_takes_them(penalty):
    sdp = methods.mvu(graphs.cycle(5), Slack(10.0, penalty)).to_sdp()
    edge_form(sdp)
    reason = Ipopt().accepts(sdp)
    assert "hard bounds only" in reason
    assert "'lowrank'" in reason


@pytest.fixture
def modules(monkeypatch, hide_packages):
    """Decide which of the two packages seem to be installed."""

    def pretend(*present):
        hide_packages("ipyopt", "cyipopt", present=present)
        known = SimpleNamespace(__version__="1.4.0")
        monkeypatch.setattr(ipopt_file, "import_module", lambda name: known)

    return pretend


def test_without_either_package_the_extra_is_named(modules):
    modules()
    found = Ipopt.availability()
    assert not found.installed
    assert 'pip install "sdpdr[ipopt]"' in found.reason


def test_the_cyipopt_route_hands_over_the_same_program(monkeypatch):
    """A stand-in for ``cyipopt`` that checks what it is given and returns the start."""
    seen = {}

    class Problem:
        def __init__(self, n, m, problem_obj, cl, cu):
            seen.update(n=n, m=m, callbacks=problem_obj, cl=cl, cu=cu, options={})

        def add_option(self, name, value):
            seen["options"][name] = value

        def solve(self, x):
            return x, {"mult_g": np.zeros(seen["m"]), "status": 0}

    monkeypatch.setitem(sys.modules, "cyipopt", SimpleNamespace(Problem=Problem))
    nlp = UnfoldingNlp(EdgeProgram(edges=[(0, 1), (1, 2)], n=3, sqdist=1.0), rank=2, seed=0)
    x, multipliers, status = ipopt_file._with_cyipopt(nlp, {"tol": 1e-8})
    assert (seen["n"], seen["m"]) == (6, 4)
    assert seen["options"] == {"tol": 1e-8}
    np.testing.assert_array_equal(x, nlp.first())
    np.testing.assert_array_equal(multipliers, np.zeros(4))
    assert status == 0
    callbacks, y = seen["callbacks"], np.arange(4.0)
    np.testing.assert_array_equal(callbacks.hessian(x, y, 0.5), nlp.hessian(y, 0.5))
    np.testing.assert_array_equal(callbacks.constraints(x), nlp.rows(x))
    np.testing.assert_array_equal(callbacks.jacobianstructure(), nlp.jacobian_pattern())
