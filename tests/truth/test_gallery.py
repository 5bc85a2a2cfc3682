"""On programs that lie, every answer is right and certified, or not certified and says why."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import inf

import pytest

import sdpdr
from sdpdr.errors import ModelError, NotAcceptedError, UnknownNameError
from sdpdr.lab.cli import main
from sdpdr.program import Status, read_sdpa, write_sdpa
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.possible import CHORDAL
from sdpdr.testing import CHAPTERS, GroundTruth, find_hard_instance, hard_instances
from sdpdr.testing.hard_programs import unfolding
from sdpdr.testing.notation import parse_program

from .exact import left_sides, objective

pytestmark = pytest.mark.integration

GALLERY = hard_instances()
SMALL = [name for name, lie in GALLERY.items() if not lie.large]
LARGE = [name for name, lie in GALLERY.items() if lie.large]
USABLE = [
    (name, form)
    for name, cls in SOLVERS.items()
    if cls.availability().usable and not cls.is_special
    for form in cls.forms
    if form not in CHORDAL
]
# An interior-point method on matrix inequalities and a first-order method on equations.
FIRST = (("clarabel", "lmi"), ("scs", "gram"))
# These take longer than the rest; others of their chapters are as hard.
# fmt: off
SLOW = {
    "beside-a-billion", "gap-of-inequality", "growing-tower-6", "hair-inside-2^-20",
    "hair-inside-2^-40", "hair-outside-2^-20", "hair-outside-2^-40", "half-line-3",
    "half-line-6", "hilbert-5", "hilbert-8", "only-zero", "parabola",
    "path-of-binades-equality", "path-of-binades-inequality", "tower-5", "tower-5-to-zero",
    "twice-and-not", "twins", "unmet",
}
# fmt: on


def instances(*others):
    """Each small instance with each of the others; the first of them on quick ones is not slow."""
    return [
        pytest.param(
            name, *other, marks=() if k < len(FIRST) and name not in SLOW else pytest.mark.nightly
        )
        for name in SMALL
        for k, other in enumerate(others)
    ]


WRITTEN = ("hidden-face-1e5", "gap", "weakly")


def solve(name, solver="auto", form="auto", **options):
    """The answer; none where a solver turns the program down in words."""
    if solver == "auto":
        return sdpdr.solve(GALLERY[name].build(), **options)
    # Some iterate for minutes towards an optimum at infinity; a limit changes nothing of the law.
    if SOLVERS[solver].obeys_time_limit:
        options.setdefault("time_limit", 20.0)
    try:
        return sdpdr.solve(GALLERY[name].build(), solver, form, **options)
    except NotAcceptedError:
        return None


# -- the judge ----------------------------------------------------------------------------------


@pytest.fixture
def honest():
    """A certified answer of value 2."""
    return sdpdr.solve(sdpdr.methods.mvu(sdpdr.graphs.path([1.0, 1.0])), tol=1e-6)


TWO = GroundTruth.exactly(2, maximize=True)


def test_an_honest_answer_has_no_objections(honest):
    assert TWO.contradictions(honest) == ()


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        (GroundTruth.exactly(3, maximize=True), "bound"),
        (GroundTruth.exactly(1, maximize=True), "attained"),
        (GroundTruth.exactly(Fraction(21, 10), maximize=True), "certified to 1e-02"),
        (GroundTruth.infeasible(maximize=True), "the program is infeasible"),
        (GroundTruth.unbounded(maximize=True), "the program is unbounded"),
    ],
)
def test_every_other_truth_has_objections(honest, truth, words):
    assert any(words in said for said in truth.contradictions(honest))


def test_statuses_need_a_ray_and_must_be_true(honest):
    said = TWO.contradictions(replace(honest, status=Status.INFEASIBLE))
    assert "INFEASIBLE, but the program is optimal" in said
    assert "INFEASIBLE without a ray or a chain of faces that shows it" in said


def test_silence_is_an_objection(honest):
    silent = replace(honest, attained=None, attained_by="", bound=None, argument=" ")
    said = TWO.contradictions(silent)
    assert "no attained value, and no word why" in said
    assert "no bound, and no word why" in said


def test_an_enclosure_must_contain_the_value(honest):
    off = replace(honest, rigorous=True, attained=2.1, bound=2.2)
    assert any("misses" in said for said in TWO.contradictions(off))
    right = replace(honest, rigorous=True, attained=1.9, bound=2.1)
    assert not any("misses" in said for said in TWO.contradictions(right))


# -- the gallery itself -------------------------------------------------------------------------


def test_every_program_tells_what_is_true_and_why():
    for lie in GALLERY.values():
        assert lie.chapter in CHAPTERS
        assert lie.proof
        assert lie.why
        assert lie.program
        assert lie.seen
        assert lie.sdp().variables
        assert re.fullmatch(r"[a-z0-9^-]+", lie.name)
    assert {lie.chapter for lie in GALLERY.values()} == set(CHAPTERS)


def test_a_program_is_found_by_its_name():
    assert find_hard_instance("gap") is GALLERY["gap"]
    with pytest.raises(UnknownNameError, match="hidden-face-1e5"):
        find_hard_instance("hidden-face-1e7")


def straight(lengths):
    """Variance of a line of edges, exactly: squared distances of all pairs, over n."""
    places = [sum(map(Fraction, lengths[:i]), Fraction(0)) for i in range(len(lengths) + 1)]
    return sum(((a - b) ** 2 for a, b in combinations(places, 2)), Fraction(0)) / len(places)


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("path-of-binades-inequality", (16.0, 2048.0, 2.0**-11, 512.0, 0.125)),
        ("path-of-binades-equality", (16.0, 2048.0, 2.0**-11, 512.0, 0.125)),
        ("path-in-nanometres", tuple(k * 2.0**-30 for k in (1.0, 2.0, 3.0, 4.0, 5.0))),
    ],
)
def test_paths_are_as_long_as_their_edges(name, lengths):
    assert GALLERY[name].truth.value == straight(lengths)


def test_a_program_is_what_its_text_says():
    text = "max x - 2 X12,  X11 = tr X = 2^-2,  X22 - 3e1 x <= -1,  [[1, x], [x, 0]] psd"
    sdp = parse_program(text, "small")
    assert (sdp.name, sdp.maximize, [v.name for v in sdp.variables]) == ("small", True, ["X", "x"])
    assert sdp.objective["X"].matrix().toarray().tolist() == [[0.0, 2.0**0.5, 0.0]]
    assert sdp.objective["x"].matrix().toarray().tolist() == [[-1.0]]
    assert [(rows.relation, rows.rhs.tolist()) for rows in sdp.rows] == [
        ("==", [0.25]),
        ("==", [0.25]),
        ("<=", [-1.0]),
    ]
    assert [sorted(rows.lhs) for rows in sdp.rows] == [["X"], ["X"], ["X", "x"]]
    assert sdp.rows[2].lhs["x"].matrix().toarray().tolist() == [[-30.0]]
    assert [lmi.order for lmi in sdp.lmis] == [2]


@pytest.mark.parametrize(
    "text",
    ["least X11", "min X11,  X12", "min X11,  X12 = X22", "min X11 *,  X12 = 1", "min sin x"],
)
def test_a_text_that_is_no_program_is_refused(text):
    with pytest.raises(ModelError):
        parse_program(text)


POINTS = {
    "hidden-face-1e5": {"X": [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]},
    "ladder-2": {"X": [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 7, 0], [0, 0, 0, 1]]},
    "gap": {"X": [[0, 0, 0], [0, 5, 0], [0, 0, 1]]},
    "twins": {"X": [[1, 1, -1], [1, 1, -1], [-1, -1, 4]]},
    "twice": {"X": [[1, 1], [1, 1]]},
    "stress-6": {"X": [[1] * 6] * 6},
    "hilbert-5": {"X": [[int(i == j) for j in range(5)] for i in range(5)]},
    "split-scalar": {"X": [[0, 0], [0, 0]], "z": [5, 4]},
}


@pytest.mark.parametrize("name", POINTS)
def test_points_known_in_closed_form_have_the_exact_value(name):
    sdp, truth = GALLERY[name].sdp(), GALLERY[name].truth
    for rows in sdp.rows:
        for reached, b in zip(left_sides(rows, POINTS[name]), rows.rhs.tolist(), strict=True):
            assert reached == b if rows.relation == "==" else reached <= b
    value = objective(sdp, POINTS[name])
    assert (-value if sdp.maximize else value) == truth.value


def test_a_positive_gap_is_between_primal_and_dual():
    for name in ("gap", "ladder-2", "gap-of-inequality"):
        truth = GALLERY[name].truth
        assert truth.dual < truth.value


# -- the solvers --------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.usefixtures("installed_programs")
@pytest.mark.parametrize(
    ("name", "solver", "form"), instances(*FIRST, *(way for way in USABLE if way not in FIRST))
)
def test_no_solver_makes_us_say_what_is_not_true(name, solver, form):
    answer = solve(name, solver, form)
    if answer is None:
        pytest.skip("this solver does not take the program")
    assert GALLERY[name].truth.contradictions(answer) == ()


@pytest.mark.daily(6)
@pytest.mark.parametrize(("name", "rigorous"), instances((True,)))
def test_auto_says_nothing_that_is_not_true(name, rigorous):
    assert GALLERY[name].truth.contradictions(solve(name, rigorous=rigorous)) == ()


@pytest.mark.nightly
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("solver", "form"), FIRST)
def test_theorems_are_true_whoever_gave_the_numbers(name, solver, form):
    answer = solve(name, solver, form, rigorous=True)
    if answer is not None:
        assert GALLERY[name].truth.contradictions(answer) == ()


@pytest.mark.parametrize("name", LARGE[:1])
def test_random_cuts_are_certified_and_right(name):
    answer = solve(name)
    assert answer.certified(1e-5)
    assert GALLERY[name].truth.contradictions(answer) == ()


@pytest.mark.usefixtures("installed_programs")
@pytest.mark.nightly
@pytest.mark.parametrize("solver", ["csdp", "clarabel", "scs", "lowrank"])
@pytest.mark.parametrize("name", LARGE)
def test_random_cuts_by_every_solver(name, solver):
    if not SOLVERS[solver].availability().usable:
        pytest.skip(f"{solver} is not here")
    assert GALLERY[name].truth.contradictions(solve(name, solver)) == ()


@pytest.mark.parametrize("name", ["even-ring", "two-clusters"])
def test_a_minimised_cost_without_a_diagonal_is_a_minimisation(name):
    answer = solve(name)
    assert answer.maximize is False
    assert answer.value == pytest.approx(float(GALLERY[name].truth.value), rel=1e-5)


@pytest.mark.daily(1)
@pytest.mark.parametrize(("vectors", "value"), [(5, 2498.2), (10, 3202.4)])
def test_a_basis_that_leaves_tiny_rows_gives_the_value_of_the_narrow_program(vectors, value):
    """Rows of size 1e-30 are rounding, not rows; blown up, they cost nine tenths of the value."""
    model = unfolding()
    points, _ = sdpdr.datasets.swiss_roll(40, seed=5, height=12.0)
    graph = sdpdr.graphs.knn(points, n_neighbors=5, connect="mst")
    basis = sdpdr.graphs.laplacian_basis(graph, vectors)
    answer = sdpdr.solve(model, via=[sdpdr.reduce.Landmark(basis)])
    whole = sdpdr.solve(model)
    assert answer.value == pytest.approx(value, rel=1e-4)
    assert answer.bound is None or answer.bound >= whole.value * (1 - 1e-6)
    assert answer.attained is None or answer.attained <= whole.bound * (1 + 1e-12)


# -- units --------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [-60, 30])
def test_the_gap_does_not_depend_on_the_unit_of_length(power):
    """Scaling all lengths by a power of two changes no bit but those of exponents."""
    graph = sdpdr.graphs.path([1.0, 2.0, 3.0])
    scaled = sdpdr.graphs.path([x * 2.0**power for x in (1.0, 2.0, 3.0)])
    one, other = (sdpdr.solve(sdpdr.methods.mvu(g), "clarabel", "lmi") for g in (graph, scaled))
    assert one.certified(1e-5)
    assert other.certified(1e-5)
    truth = float(straight((1.0, 2.0, 3.0)))
    for answer, unit in ((one, 1.0), (other, 4.0**power)):
        assert answer.value / unit == pytest.approx(truth, rel=1e-5)


# -- files and the command line -----------------------------------------------------------------


@pytest.mark.daily(1)
@pytest.mark.parametrize("name", WRITTEN)
def test_the_command_line_tells_the_truth_of_a_written_file(name, tmp_path, capsys):
    path = tmp_path / "lie.dat-s"
    write_sdpa(GALLERY[name].sdp(), path)
    code = main(["sdp", str(path), "--json"])
    told = json.loads(capsys.readouterr().out)
    truth = GALLERY[name].truth
    if code == 0:
        assert told["status"] == "SOLVED"
        assert truth.verdict == "optimal"
        assert truth.relative_error(told["value"]) <= told["tol"]
    else:
        assert code in (1, 5)
        assert told["status"] != "SOLVED"
    assert truth.contradictions(sdpdr.solve(read_sdpa(path))) == ()


def test_values_without_a_point_are_infinite_by_convention():
    assert GroundTruth.infeasible().value == inf
    assert GroundTruth.infeasible(maximize=True).value == -inf
    assert GroundTruth.unbounded().verdict == "unbounded"
