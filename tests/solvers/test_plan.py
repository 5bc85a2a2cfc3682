"""What "auto" would choose, and why, without solving anything."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Band, Slack
from sdpdr.errors import DataError, NotAcceptedError
from sdpdr.linalg import Diagonal, Entries, InnerProduct, SquaredEdgeLengths, Trace
from sdpdr.model import from_cvxpy
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.reduce.chordal_pattern import find_trees
from sdpdr.solvers import FORMS, Clarabel, LowRank
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.costs.prediction import FILES, UNLIKE, predict, priority
from sdpdr.solving.costs.structure import KINDS, Structure
from sdpdr.solving.costs.work import RATES, least_work, work

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


def capped(variables):
    return [cp.trace(variables["K"]) <= 3.0]


# -- the choice -------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", RELATIONS, ids=repr)
def test_unfolding_goes_to_the_low_rank_solver(relation):
    chosen = sdpdr.plan(methods.mvu(graphs.cycle(5), relation))
    assert (chosen.solver.name, chosen.form) == ("lowrank", "factor")
    assert "edge lengths" in chosen.reason


def test_a_general_program_goes_to_a_general_solver(theta):
    chosen = sdpdr.plan(theta)
    assert chosen.form != "factor"
    assert chosen.solver.name in ("mosek", "sdpa", "clarabel", "cvxopt")
    assert "fewer rows (6) than matrix entries (15)" in sdpdr.plan(theta, form="lmi").reason


def test_few_rows_speak_for_the_lmi_form():
    """With many more matrix entries than rows, the multipliers are the smaller unknown."""
    assert sdpdr.plan(lovasz(40)).form == "lmi"


@pytest.mark.parametrize("n", [5, 20, 60])
def test_small_dense_programs_do_not_go_to_operator_splitting(n):
    assert sdpdr.plan(lovasz(n)).solver.name != "scs"


def test_raw_cvxpy_goes_the_way_of_cvxpy(model):
    chosen = sdpdr.plan(model + from_cvxpy(capped))
    assert chosen.form == "cvxpy"
    assert chosen.sdp is None
    assert chosen.reductions == ()
    assert "cvxpy directly" in chosen.reason
    assert "capped" in chosen.others["lowrank", "factor"]


def test_ipopt_is_never_preferred_to_our_own_solver(model):
    pytest.importorskip("ipyopt")
    assert sdpdr.plan(model, form="factor").solver.name == "lowrank"
    assert sdpdr.plan(model, form="factor", skip=("lowrank",)).solver.name == "ipopt"


def test_the_landmark_form_is_planned_once_it_knows_how_many(model):
    with pytest.raises(DataError, match="landmarks=40"):
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
    assert chosen.reason == "it was asked for"


@pytest.mark.parametrize(
    ("form", "steps"),
    [
        ("factor", ["dedupe"]),
        ("gram", ["dedupe", "face", "scale"]),
        ("lmi", ["dedupe", "face", "scale", "dual"]),
        ("cvxpy", []),
    ],
)
def test_reductions_follow_from_the_form(model, form, steps):
    assert [r.name for r in sdpdr.plan(model, form=form).reductions] == steps


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
    for c in chosen.candidates:
        words = c.refusal or f"{c.solver:<15}{c.form}"
        assert any(c.solver in line and words in line for line in text.splitlines())


def test_the_explanation_says_why_theta_is_no_unfolding(theta):
    assert "not centred" in sdpdr.plan(theta).explain()


def test_who_is_chosen_without_a_comparison_is_told_with_the_cost_that_the_table_has(theta):
    chosen = sdpdr.plan(theta)
    assert chosen.sequence[0].cost is None
    turns = chosen.explain().split("in turn")[1].split("candidates")[0]
    assert f"{chosen.solver.name:<15}{chosen.form:<13}0." in turns


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


# -- costs ------------------------------------------------------------------------------------

USABLE = [
    (name, form)
    for name, cls in SOLVERS.items()
    if cls.availability().usable and not cls.is_special
    for form in cls.forms
]


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
@pytest.mark.parametrize("build", ["model", "theta"])
def test_predictions_are_positive(build, tol, request):
    candidates = sdpdr.plan(request.getfixturevalue(build), tol=tol).candidates
    possible = [c for c in candidates if not c.refusal]
    assert len(possible) > 5
    for c in possible:
        if c.solver in UNLIKE:
            assert c.cost is None
            continue
        assert 0.0 < c.cost.seconds < np.inf
        assert 0.0 < c.cost.memory < np.inf
        assert 0.0 < c.cost.reach < 1.0


@pytest.mark.parametrize("pair", sorted(RATES), ids="-".join)
def test_seconds_grow_with_work(pair):
    seconds = [RATES[pair].seconds(work) for work in (1e3, 1e6, 1e9, 1e12)]
    assert all(np.diff(seconds) > 0.0)


GENERAL = [pair for pair in USABLE if pair[1] in ("gram", "lmi", "cvxpy")]


# Clarabel decomposes matrix inequalities where that is cheaper.
WHOLE = [pair for pair in GENERAL if pair != ("clarabel", "lmi")]


@pytest.mark.parametrize("pair", [*WHOLE, ("lowrank", "factor")], ids="-".join)
def test_predictions_grow_with_the_order(pair):
    """The same cut in matrices of growing order."""
    sizes = [work(*pair, Structure(max_cut(10, order))) for order in (10, 20, 40, 80)]
    assert all(np.diff([w.multiplications for w in sizes]) > 0.0)
    assert all(np.diff([w.numbers for w in sizes]) > 0.0)


@pytest.mark.parametrize("pair", [p for p in GENERAL if p[0] in ("sdpa", "cvxopt")], ids="-".join)
def test_predictions_grow_with_the_rows(pair):
    pairs = np.array([(i, j) for i in range(20) for j in range(i + 1, 20)])
    seconds = []
    for m in (10, 50, 150):
        rows = Rows("entries", "<=", {"X": Entries(20, pairs[:m])}, np.ones(m))
        few = max_cut(20, 20)
        sdp = SDP(few.variables, few.objective, (*few.rows, rows), maximize=True)
        seconds.append(predict(*pair, Structure(sdp)).seconds)
    assert all(np.diff(seconds) > 0.0)


@pytest.mark.nightly
@pytest.mark.parametrize("pair", USABLE, ids="-".join)
@pytest.mark.parametrize("n", [30, pytest.param(90, marks=pytest.mark.nightly)])
def test_the_lower_bound_is_one(pair, n):
    for sdp in (max_cut(n, n), methods.mvu(graphs.path(np.ones(n))).to_sdp()):
        structure = Structure(sdp)
        least, exact = least_work(*pair, structure), work(*pair, structure)
        assert least.multiplications <= exact.multiplications * (1.0 + 1e-12)
        assert least.numbers <= exact.numbers * (1.0 + 1e-12)


@pytest.mark.parametrize("sdp", [lovasz(5), lovasz(30), max_cut(40, 40)], ids=["5", "30", "cut"])
def test_the_choice_is_the_usable_minimum(sdp):
    # Of small programs nothing is compared unless those for them are left out or fall short.
    chosen = sdpdr.plan(sdp, skip=["clarabel", "dense"])
    usable = [c for c in chosen.candidates if not c.refusal]
    least = min(priority(c.cost) for c in usable)
    (cost,) = (c.cost for c in usable if (c.solver, c.form) == (chosen.solver.name, chosen.form))
    assert priority(cost) == least


def test_a_sparse_pattern_lowers_the_prediction_of_clique_forms():
    structure = Structure(max_cut(80, 80))
    assert (
        predict("sdpa", "chordal-lmi", structure).memory < predict("sdpa", "gram", structure).memory
    )
    assert max(structure.shape("chordal-lmi").orders) < 80


def test_forms_that_refuse_are_never_chosen(theta):
    """Everything of theta is read, so there are no cliques."""
    refused = [c for c in sdpdr.plan(theta).candidates if c.form == "chordal" and c.refusal]
    assert any("nothing is sparse" in c.refusal for c in refused)
    with pytest.raises(NotAcceptedError, match="nothing is sparse"):
        sdpdr.plan(theta, form="chordal")


def test_what_does_not_fit_into_memory_comes_last_and_says_so(monkeypatch):
    monkeypatch.setattr("sdpdr.solving.costs.work.allowed_memory", lambda: 2.0**29)
    chosen = sdpdr.plan(max_cut(400, 400))
    beyond = [c for c in chosen.candidates if "of memory" in c.verdict]
    assert ("clarabel", "gram") in [(c.solver, c.form) for c in beyond]
    assert "512 MiB" in chosen.explain()
    assert (chosen.solver.name, chosen.form) not in [(c.solver, c.form) for c in beyond]


def test_a_choice_looks_for_no_cliques_that_cannot_matter(monkeypatch):
    """Unfolding is so much cheaper as a factor that nothing else needs to be known."""

    def search(*arguments, **options):
        raise AssertionError("cliques were looked for")

    monkeypatch.setattr("sdpdr.solving.costs.structure.find_trees", search)
    chosen = sdpdr.plan(methods.mvu(graphs.path(np.ones(300))))
    assert chosen.form == "factor"
    with pytest.raises(AssertionError, match="looked for"):
        chosen.explain()


def test_no_cliques_are_looked_for_where_rows_leave_none(monkeypatch):
    def search(sdp, **options):
        raise AssertionError("the rows of a complete graph were multiplied out")

    monkeypatch.setattr("sdpdr.solving.costs.structure.find_trees", search)
    points = np.random.default_rng(0).standard_normal((210, 2))
    structure = Structure(methods.mvu(graphs.complete(points)).to_sdp())
    assert "leave no small cliques" in structure.trees.refusal()


def test_no_cliques_are_looked_for_in_a_pattern_without_separators():
    """Prediction leaves them out; who asks for the form by a solver's name gets it."""
    around = np.arange(40)
    entries = Entries(40, np.sort(np.column_stack([around, np.roll(around, -1)]), axis=1))
    sdp = SDP((PsdVariable("X", 40),), {}, (Rows("ring", "==", {"X": entries}, np.zeros(40)),))
    assert find_trees(sdp, broadest=2).refusal() is None
    assert "no small separators" in find_trees(sdp, broadest=1).refusal()


def test_looser_tolerances_are_reached_at_least_as_often():
    for rate in RATES.values():
        for kind in rate.reach:
            shares = [rate.share(kind, tol) for tol in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)]
            assert all(np.diff(shares) <= 0.0)


def test_every_pair_that_runs_here_was_calibrated():
    kinds = [("lowrank", kind) for kind in KINDS]
    files = [("csdp", "lmi"), ("sdpa-file", "lmi")]
    # Solvers taken by name only compete with nobody; theirs are the rates of the one they are like.
    automatic = {name for name, cls in SOLVERS.items() if not cls.by_name_only} - set(FILES)
    chosen = {pair for pair in USABLE if pair[1] != "factor" and pair[0] in automatic}
    assert {*kinds, *files, *chosen} <= set(RATES)


def test_a_solver_that_was_never_measured_is_given_its_chance(theta):
    """Where there is no licence nothing can be measured; seconds are those of another solver."""
    structure = Structure(theta)
    unknown, known = predict("mosek", "lmi", structure), predict("sdpa", "lmi", structure)
    assert unknown.seconds == known.seconds
    assert unknown.reach > known.reach


@pytest.mark.parametrize("n", [100, 300])
def test_sparse_rows_of_hundreds_of_points_are_for_the_low_rank_solver(n):
    """Clarabel's steps on cliques are foreseen to be quick, and end short of the tolerance."""
    X = sdpdr.datasets.swiss_roll(n, seed=0)[0]
    model = methods.ism(graphs.knn(X, n_neighbors=5, connect="mst"), X[:, 1] > np.median(X[:, 1]))
    assert sdpdr.plan(model).solver.name == "lowrank"
