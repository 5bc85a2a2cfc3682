"""What "auto" would choose, and why, without solving anything."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, log_det, maximize, methods, psd
from sdpdr.blocks import Band, Slack
from sdpdr.errors import DataError, NotAcceptedError
from sdpdr.linalg import Diagonal, Entries, InnerProduct, SquaredEdgeLengths, Trace
from sdpdr.model import from_cvxpy
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solvers import FORMS, Clarabel, LowRank
from sdpdr.solvers.registry import SOLVERS

RELATIONS = ["inequality", "equality", Band(0.1), Slack(5.0), Slack(50.0, "absolute", True)]


@pytest.fixture
def model():
    return methods.mvu(graphs.cycle(5))


@pytest.fixture
def theta():
    return lovasz(5)


def lovasz(n):
    """Lovász's number of the cycle of n nodes."""
    edges = np.array([(i, (i + 1) % n) for i in range(n)])
    rows = (
        Rows("trace", "==", {"X": Trace(n)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(n, edges)}, np.zeros(n)),
    )
    everything = InnerProduct(-np.ones((n, n)))
    return SDP((PsdVariable("X", n),), {"X": everything}, rows, maximize=True)


def max_cut(n, order):
    """The relaxation of the largest cut of a path of n nodes in a matrix of a larger order."""
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    cost = SquaredEdgeLengths(order, path).adjoint(-np.ones(n - 1) / 4.0)
    rows = (Rows("diagonal", "==", {"X": Diagonal(order)}, np.ones(order)),)
    return SDP((PsdVariable("X", order),), {"X": InnerProduct(cost)}, rows, maximize=True)


def traces(count):
    """Many small matrices, each of trace one."""
    names = [f"X{k}" for k in range(count)]
    rows = tuple(Rows(f"trace {k}", "==", {k: Trace(3)}, np.ones(1)) for k in names)
    cost = {k: InnerProduct(np.diag([1.0, 2.0, 3.0])) for k in names}
    return SDP(tuple(PsdVariable(k, 3) for k in names), cost, rows)


def capped(variables):
    return [cp.trace(variables["K"]) <= 3.0]


# -- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS, ids=repr)
def test_unfolding_goes_to_the_low_rank_solver(relation):
    chosen = sdpdr.plan(methods.mvu(graphs.cycle(5), relation))
    assert (chosen.solver.name, chosen.form) == ("lowrank", "factor")
    assert "edge lengths" in chosen.reason


def test_what_is_tiny_is_solved_in_the_form_in_which_it_is_proved(theta):
    chosen = sdpdr.plan(theta)
    assert (chosen.solver.name, chosen.form) == ("clarabel", "gram")
    assert [step.name for step in chosen.reductions] == ["dedupe"]
    assert "in which it will be proved" in chosen.explain()
    answer = chosen.run()
    assert answer.status is sdpdr.Status.SOLVED
    assert answer.value == pytest.approx(sdpdr.solve(theta, "lowrank").value, rel=1e-6)


def test_a_general_program_goes_to_a_general_solver(theta):
    chosen = sdpdr.plan(theta)
    assert chosen.form != "factor"
    assert chosen.solver.name in ("clarabel", "dense")


def test_few_rows_speak_for_the_lmi_form():
    """With many more matrix entries than rows, the multipliers are the smaller unknown."""
    assert sdpdr.plan(lovasz(40)).form == "lmi"


@pytest.mark.parametrize(("n", "solver"), [(40, "dense"), (120, "lowrank")])
def test_an_unfolding_with_a_constraint_of_its_own_goes_where_steps_are_shorter(n, solver):
    model = methods.mvu(graphs.cycle(n))
    K = psd("K", n)
    own = K.distance2(0, 2) <= K.distance2(0, 3)
    assert sdpdr.plan(model + own).solver.name == solver


def test_many_constraints_that_are_no_lengths_do_not_go_to_factors_of_low_rank():
    model = methods.mvu(graphs.cycle(44)) + (psd("K", 44) >= -1.0)
    assert sdpdr.plan(model).solver.name == "dense"


def test_rows_that_fix_a_diagonal_go_to_the_low_rank_solver():
    unit = Rows("unit", "==", {"X": Diagonal(40)}, np.ones(40))
    cost = InnerProduct(np.diag(np.arange(40.0)) - 1.0)
    cut = SDP((PsdVariable("X", 40),), {"X": cost}, (unit,))
    assert sdpdr.plan(cut).solver.name == "lowrank"
    more = Rows("sum", "==", {"X": InnerProduct(np.ones((40, 40)))}, np.zeros(1))
    assert sdpdr.plan(replace(cut, rows=(unit, more))).solver.name == "dense"


def test_a_model_with_a_block_in_cvxpy_is_planned_as_the_problem_that_it_makes(model):
    mixed = model + from_cvxpy(capped)
    chosen, other = sdpdr.plan(mixed), sdpdr.plan(mixed.to_cvxpy())
    assert (chosen.solver.name, chosen.form) == (other.solver.name, other.form)
    with pytest.raises(NotAcceptedError, match="needs the exponential cone"):
        sdpdr.plan(maximize(log_det(psd("C", 3))) + (psd("C", 3).trace() <= 1.0))


def test_the_landmark_form_is_planned_once_it_knows_how_many(model):
    with pytest.raises(DataError, match="landmarks=5"):
        sdpdr.plan(model, form="landmark")
    chosen = sdpdr.plan(model, form="landmark", landmarks=3)
    assert (chosen.form, chosen.solver.landmarks) == ("landmark", 3)


@pytest.mark.parametrize("form", ["gram", "lmi", "cvxpy"])
def test_a_form_may_be_fixed_and_the_solver_left_open(model, form):
    chosen = sdpdr.plan(model, form=form)
    assert chosen.form == form
    assert form in chosen.solver.forms


def test_a_solver_may_be_fixed_and_the_form_left_open(model):
    chosen = sdpdr.plan(model, "clarabel")
    assert chosen.solver.name == "clarabel"
    assert chosen.form in Clarabel.forms
    assert chosen.reason == "it was requested"


@pytest.mark.parametrize(
    ("form", "steps"),
    [
        ("factor", []),
        ("gram", ["dedupe", "face", "scale"]),
        ("lmi", ["dedupe", "face", "scale", "dual"]),
        ("cvxpy", []),
    ],
)
def test_reductions_follow_from_the_form(model, form, steps):
    assert [r.name for r in sdpdr.plan(model, form=form).reductions] == steps


def test_rows_that_repeat_an_edge_are_merged_before_lowrank():
    graph = graphs.from_edges(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1.0, 2.0, 1.5, 3.0])
    program = methods.mvu(graph).to_sdp()
    again = replace(program.rows[1], label="again", rhs=1.1 * program.rows[1].rhs)
    model = replace(program, rows=(*program.rows, again))
    chosen = sdpdr.plan(model, "lowrank")
    assert [step.name for step in chosen.reductions] == ["dedupe"]
    twice = chosen.run()
    assert twice.status is sdpdr.Status.SOLVED
    assert twice.value == pytest.approx(sdpdr.solve(program).value, rel=1e-6)
    assert not np.any(twice.duals["again"])


def test_a_program_with_interior_keeps_its_cone(theta):
    assert "face" not in [r.name for r in sdpdr.plan(theta).reductions]


# -- options ----------------------------------------------------------------------------------


def test_options_of_the_call_win_over_those_of_the_object(model):
    chosen = sdpdr.plan(model, Clarabel(tol=1e-3, seed=7, max_iter=9), tol=1e-5, time_limit=3.0)
    assert chosen.solver == Clarabel(tol=1e-5, seed=7, max_iter=9, time_limit=3.0)


def test_options_reach_the_solver_that_auto_chooses(model):
    assert sdpdr.plan(model, tol=1e-4, seed=3).solver == LowRank(tol=1e-4, seed=3)


# -- explaining -------------------------------------------------------------------------------


@pytest.mark.parametrize("build", ["model", "theta"])
def test_every_other_pair_has_a_reason(build, request):
    chosen = sdpdr.plan(request.getfixturevalue(build))
    pairs = {(name, form) for name, cls in SOLVERS.items() for form in cls.forms}
    assert set(chosen.others) == pairs - {(chosen.solver.name, chosen.form)}
    assert all(chosen.others.values())


@pytest.mark.parametrize("build", ["model", "theta"])
def test_the_explanation_tells_the_choice_and_the_alternatives(build, request):
    chosen = sdpdr.plan(request.getfixturevalue(build))
    text = chosen.explain()
    assert chosen.reason in text
    assert FORMS[chosen.form] in text
    for (solver, form), words in chosen.others.items():
        shown = "" if words == "possible" else words
        lines = [line for line in text.splitlines() if solver in line and form in line]
        assert any(shown in line for line in lines)


def test_the_explanation_says_why_theta_is_no_unfolding(theta):
    assert "not centred" in sdpdr.plan(theta).explain()


@pytest.mark.parametrize("build", ["model", "theta"])
def test_asking_never_solves(build, request, monkeypatch):
    def run(*arguments, **options):
        raise AssertionError("something was solved")

    for cls in SOLVERS.values():
        monkeypatch.setattr(cls, "run", run)
    monkeypatch.setattr(cp.Problem, "solve", run)
    chosen = sdpdr.plan(request.getfixturevalue(build))
    chosen.explain()
    assert chosen.solver.name in repr(chosen)
    with pytest.raises(AssertionError, match="was solved"):
        chosen.solver.run(chosen.sdp)


def test_solving_does_what_the_plan_says(theta):
    chosen = sdpdr.plan(theta)
    solution = sdpdr.solve(theta)
    assert (solution.solver, solution.form) == (chosen.solver.name, chosen.form)
    assert solution.value == pytest.approx(np.sqrt(5.0), rel=1e-6)


# -- what is possible ---------------------------------------------------------------------------


def test_forms_that_refuse_are_never_chosen(theta):
    """Everything of theta is read, so there are no cliques."""
    assert "nothing is sparse" in sdpdr.plan(theta).others["clarabel", "chordal"]
    with pytest.raises(NotAcceptedError, match="nothing is sparse"):
        sdpdr.plan(theta, form="chordal")


def test_the_rule_reads_sizes_alone():
    """The shorter step of both interior-point methods comes first; large matrices go to factors."""
    few, many, large = map(sdpdr.plan, (lovasz(20), traces(30), max_cut(300, 300)))
    assert [one.solver.name for one in few.sequence][:2] == ["dense", "clarabel"]
    assert [one.solver.name for one in many.sequence][:2] == ["clarabel", "dense"]
    assert "lowrank" not in [one.solver.name for one in (*few.sequence, *many.sequence)]
    assert large.sequence[0].solver.name == "lowrank"
    assert "clarabel" not in [one.solver.name for one in large.sequence]
    assert sdpdr.plan(lovasz(40)).sequence[0].form == "lmi"


def test_constraints_on_every_entry_of_an_unfolding_go_to_the_dense_method():
    """Factors of the rank that so many constraints may need are as large as the matrix."""
    model = methods.mvu(graphs.cycle(60)) + (psd("K", 60) >= -1.0)
    names = [one.solver.name for one in sdpdr.plan(model).sequence]
    assert names[0] == "dense"
    assert not {"csdp", "mosek", "sdpa", "cvxopt"} & set(names)


@pytest.mark.parametrize(("rows", "is_squared"), [(600, True), (520, False)])
def test_long_lengths_are_squared_where_there_are_fewer_unknowns(rows, is_squared):
    x = sdpdr.scalar("x", 550)
    model = sdpdr.minimize(sdpdr.norm(np.eye(rows, 550) @ x - 1.0)) + (x <= 0.5)
    assert (sdpdr.plan(model).squares is not None) is is_squared
