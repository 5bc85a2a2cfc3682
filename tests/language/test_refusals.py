"""What cannot be read is refused in a sentence that says what is to blame and what to do."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr.errors import DataError, ModelError, NotAcceptedError, UnknownNameError

x = cp.Variable(2, name="x")
k = cp.Variable(integer=True, name="k")
b = cp.Variable(boolean=True, name="b")
p = cp.Parameter(name="p")
z = cp.Variable(name="z")
s = cp.Variable(nonneg=True, name="s")

REFUSED = [
    (cp.Problem(cp.Minimize(cp.sum(cp.exp(x)))), r"the atom exp needs the exponential cone"),
    (
        cp.Problem(cp.Maximize(cp.sum(cp.log(x)))),
        r"the atom log needs the exponential cone.*sdpdr.CVXPY\(\)",
    ),
    (
        cp.Problem(cp.Minimize(x[0]), [cp.ExpCone(x[0], x[1], 1 + x[0])]),
        r"the constraint ExpCone\(.*needs the exponential cone",
    ),
    (
        cp.Problem(cp.Minimize(x[0]), [cp.PowCone3D(x[0], x[1], 1.0, 0.3)]),
        r"the constraint Pow3D\(.*needs the power cone",
    ),
    (cp.Problem(cp.Minimize(k), [k >= 0.5]), r"variable 'k' is integer.*relax it"),
    (cp.Problem(cp.Minimize(b), [x[0] >= b]), r"variable 'b' is integer"),
    (
        cp.Problem(cp.Minimize(cp.sqrt(x[0]))),
        r"not convex by cvxpy's rules.*the objective minimize .*Minimise convex",
    ),
    (
        cp.Problem(cp.Minimize(x[0]), [x[0] >= 1, cp.norm(x) >= 1]),
        r"the constraint 1.0 <= Pnorm\w*\(x, 2\) is to blame",
    ),
    (cp.Problem(cp.Minimize(0)), r"no variables"),
    (
        cp.Problem(cp.Minimize(cp.perspective(cp.sum_squares(x), s))),
        r"the atom perspective.*cp.quad_over_lin\(x, s\) is that of",
    ),
]


@pytest.mark.parametrize(("problem", "words"), REFUSED)
def test_problems_of_cvxpy_that_are_not_semidefinite_are_refused_in_one_line(problem, words):
    with pytest.raises(NotAcceptedError, match=words) as caught:
        sdpdr.from_cvxpy(problem)
    assert "\n" not in str(caught.value)


def test_what_is_advised_in_place_of_perspectives_is_equal_to_them():
    scale, point = cp.Variable(nonneg=True, value=2.0), cp.Variable(2, value=[0.7, 1.9])
    t = cp.Variable()
    advised = {
        cp.norm(point): cp.norm(point),
        cp.sum_squares(point): cp.quad_over_lin(point, scale),
        -cp.log(point[0]): cp.rel_entr(scale, point[0]),
    }
    for f, other in advised.items():
        found = cp.perspective(f, scale).value.item()
        assert found == pytest.approx(other.value, rel=1e-6)
    rows = [cp.ExpCone(point[0], scale, t), point == [0.7, 1.9], scale == 2.0]
    value = sdpdr.solve(cp.Problem(cp.Minimize(t), rows)).value
    assert value == pytest.approx(2.0 * np.exp(0.35), rel=1e-6)


def test_a_parameter_without_value():
    with pytest.raises(DataError, match="parameter 'p' has no value"):
        sdpdr.from_cvxpy(cp.Problem(cp.Minimize(x[0]), [x[0] >= p]))


@pytest.mark.parametrize("thing", [3, cp.Minimize(x[0]), [x >= 0]])
def test_no_problem_and_no_function(thing):
    with pytest.raises(ModelError, match="takes a cvxpy.Problem or a function"):
        sdpdr.from_cvxpy(thing)


@pytest.mark.parametrize("problem", [REFUSED[4][0], REFUSED[5][0]])
def test_cvxpy_refuses_for_the_solver(problem):
    with pytest.raises(cp.SolverError):
        problem.solve(solver=sdpdr.CVXPY())


def test_a_solution_of_another_program():
    one, other = (sdpdr.from_cvxpy(cp.Problem(cp.Minimize(v), [v >= 1])) for v in (x[0], z))
    with pytest.raises(DataError, match="of another program"):
        one.give_back(sdpdr.solve(other))


def test_options_of_other_solvers():
    with pytest.raises(UnknownNameError, match="option of sdpdr.CVXPY 'tolerance'.*tol"):
        sdpdr.CVXPY(tolerance=1e-6)
    with pytest.raises(UnknownNameError, match="'max_iters'.*'max_iter'"):
        cp.Problem(cp.Minimize(x[0]), [x >= 0]).solve(solver=sdpdr.CVXPY(), max_iters=3)


def shares():
    share = cp.Variable(3, name="share")
    return cp.Problem(cp.Maximize(cp.sum(cp.log(share))), [cp.sum(share) <= 3])


@pytest.mark.parametrize("way", ["solve", "CVXPY"])
@pytest.mark.parametrize(
    "options",
    [
        {"solver": "scs"},
        {"tol": 1e-5},
        {"time_limit": 60.0},
        {"gap_scale": 2.0},
        {"proof": "full"},
        {"max_iter": 2},
        {"isolate": True},
        {"verbose": True},
        {"rigorous": True},
        {"progress": False},
        {"form": "auto", "via": (), "landmarks": None, "seed": None, "start": None},
        {"form": "lmi"},
        {"seed": 1},
        {"landmarks": 2},
    ],
    ids=lambda one: ",".join(one),
)
def test_options_over_other_cones_have_their_effect_or_are_refused(way, options, capfd):
    problem, is_default = shares(), "via" in options
    options = {"gap_scale": 1.0, **options}

    def solve():
        if way == "solve":
            return sdpdr.solve(problem, **options)
        problem.solve(solver=sdpdr.CVXPY(**options))
        return problem.solver_stats.extra_stats

    if options.keys() & {"form", "seed", "landmarks"} and not is_default:
        with pytest.raises(
            DataError, match="has no effect .* cones; the options there are .*max_iter"
        ):
            solve()
        return
    solution = solve()
    assert solution.solver == options.get("solver", "clarabel")
    assert solution.tol == options.get("tol", 1e-6)
    assert solution.gap_scale == options["gap_scale"]
    assert (solution.claimed.iterations == 2) == ("max_iter" in options)
    assert ("Clarabel" in capfd.readouterr().out) == ("verbose" in options)
    assert solution.certified() or "max_iter" in options
    assert solution.enclosure is None or solution.enclosure[0] <= 0.0 <= solution.enclosure[1]
