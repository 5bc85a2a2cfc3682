"""Points and multipliers of programs in standard form, whole, alone, as factors, and refused."""

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods, minimize, psd
from sdpdr.errors import DataError, DataTypeError, NotAcceptedError, ShapeError, UnknownNameError
from sdpdr.program import Factor, Point
from sdpdr.testing import graded, planted

pytestmark = pytest.mark.integration

# The longest path of two edges of lengths 1 and 2, centred; both sides of its optimum are 14 / 3.
LINE = np.array([[-4.0], [-1.0], [5.0]]) / 3.0
OPTIMUM = 14.0 / 3.0
WEIGHTS = {"centered": np.zeros(3), "isometry": np.array([4.0, 2.5]) / 3.0}


def path():
    return methods.mvu(graphs.path([1.0, 2.0]))


@pytest.mark.parametrize(
    ("answer", "more"),
    [
        (Point({"K": LINE @ LINE.T}, WEIGHTS), {}),
        (Point({"K": Factor(LINE)}, WEIGHTS), {}),
        ({"K": LINE @ LINE.T}, {"multipliers": WEIGHTS}),
        (Factor(LINE), {"multipliers": WEIGHTS}),
    ],
    ids=["dense", "factor", "by name", "alone"],
)
def test_a_point_with_multipliers_is_proved_without_solving(answer, more, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("this was to be proved without solving")

    monkeypatch.setattr("sdpdr.solving.verify.sdp_answer.solve_step", refuse)
    for program in (path(), path().to_sdp()):
        found = sdpdr.verify(program, answer, **more)
        assert found.status is Status.SOLVED
        assert found.claimed.value == pytest.approx(OPTIMUM)
        assert found.claimed.message == ""
        assert found.moved < 1e-6
        low, high = found.enclosure
        assert low <= OPTIMUM * (1 + 1e-15)
        assert high >= OPTIMUM * (1 - 1e-15)


def test_a_factor_alone_gets_multipliers_by_one_solve_and_it_is_said():
    found = sdpdr.verify(path(), Factor(LINE))
    assert found.status is Status.SOLVED
    assert "no multipliers were given: one solve by" in found.claimed.message
    assert isinstance(found["K"], Factor)


def test_a_factor_that_is_short_of_the_optimum_is_proved_for_what_it_is():
    short = sdpdr.verify(path(), Factor(np.array([[-1.0], [0.0], [1.0]])), repair=False)
    assert short.status is Status.INACCURATE
    assert (short.attained, short.moved) == (2.0, 0.0)
    assert short.bound == pytest.approx(OPTIMUM, rel=1e-6)


def test_multipliers_alone_prove_a_bound():
    found = sdpdr.verify(path(), multipliers=WEIGHTS)
    assert found.attained is None
    assert found.claimed.value is None
    assert found.moved is None
    assert found.bound == pytest.approx(OPTIMUM, rel=1e-6)


def test_a_solution_of_ours_is_an_answer_too():
    solution = sdpdr.solve(path())
    found = sdpdr.verify(path(), solution)
    assert found.status is Status.SOLVED
    assert found.solver == solution.solver


def test_a_point_that_is_missed_by_a_little_is_moved_and_it_is_said_how_far():
    off = LINE * (1.0 + 1e-7)
    as_it_is = sdpdr.verify(path(), Factor(off), multipliers=WEIGHTS, repair=False)
    assert as_it_is.attained is None
    assert "misses constraint 'isometry'" in as_it_is.attained_by
    assert "repair=True moves the point" in as_it_is.attained_by
    found = sdpdr.verify(path(), Factor(off), multipliers=WEIGHTS)
    assert found.status is Status.SOLVED
    assert 1e-8 < found.moved < 1e-5


@pytest.mark.daily(1)
@pytest.mark.parametrize("kind", ["several", "free", "inequalities", "nonnegative", "thin", "zero"])
def test_planted_points_are_exact_and_spoiled_ones_never_better(kind):
    made = planted(kind, 1)
    values = {name: np.asarray(x, dtype=float) for name, x in made.values.items()}
    duals = {label: np.asarray(y, dtype=float) for label, y in made.duals.items()}
    optimum = float(made.truth.value)
    found = sdpdr.verify(made.sdp, Point(values, duals), repair=False)
    assert found.attained == optimum
    assert made.truth.contradictions(found) == ()
    rng = np.random.default_rng(0)
    for size in (1e-9, 1e-4, 1.0):
        noisy = {name: x + size * _symmetric(rng, x.shape) for name, x in values.items()}
        wrong = {label: y + size * _symmetric(rng, y.shape) for label, y in duals.items()}
        found = sdpdr.verify(made.sdp, Point(noisy, wrong))
        assert made.truth.contradictions(found) == ()


def _symmetric(rng, shape):
    noise = rng.standard_normal(shape)
    return noise if noise.ndim == 1 else noise + noise.T


def test_what_is_no_answer_is_refused_with_advice():
    program = path()
    with pytest.raises(DataError, match=r"no answer: pass a point .* use sdpdr.solve"):
        sdpdr.verify(program)
    with pytest.raises(ShapeError, match=r"\(3, 3\).*Factor\(R\)"):
        sdpdr.verify(program, LINE)
    with pytest.raises(UnknownNameError, match="Did you mean 'isometry'"):
        sdpdr.verify(program, multipliers={"isometri": np.ones(2)})
    with pytest.raises(DataError, match="'centered' is missing: pass all of"):
        sdpdr.verify(program, multipliers={"isometry": np.ones(2)})
    with pytest.raises(DataError, match=r"'K' has nan at \(1, 0\)"):
        sdpdr.verify(program, Factor(np.array([[1.0], [np.nan], [1.0]])))
    with pytest.raises(DataTypeError, match=r"cvxpy\.Problem"):
        sdpdr.verify(None)


@pytest.mark.parametrize(
    "given",
    [
        np.array([[1.0, 1.0 + 5.0j], [1.0 - 5.0j, 1.0]]),
        np.array([[1, 2**53 + 1], [2**53 + 1, 1]]),
        np.ma.masked_all((2, 2)),
        np.array([["1", "0"], ["0", "1"]]),
    ],
)
def test_numbers_that_are_no_doubles_are_refused(given):
    X = psd("X", 2)
    with pytest.raises((DataError, DataTypeError)):
        sdpdr.verify((minimize(X.trace()) + (X[0, 1] == 1.0)).to_sdp(), {"X": given}, repair=False)


def test_a_face_without_multipliers_leaves_a_point_that_is_not_to_move_unproved():
    """K_00 = 0 leaves a face, on which the multiplier of that row is no number."""
    K = psd("K", 3)
    model = minimize(K[0, 1] + K[1, 2]) + (K[0, 0] == 0.0).named("corner")
    model += (K[1, 1] <= 1.0).named("one")
    given = {"corner": np.zeros(1), "one": np.zeros(1)}
    point = {"K": np.diag([0.0, 1.0, 1.0])}
    found = sdpdr.verify(model, point, multipliers=given, repair=False, seconds=1e-3)
    assert (found.status, found.value) == (Status.INACCURATE, 0.0)


HAND = np.array([0.0, 1.0])
FUNCTIONS = {
    "norm": (lambda v: sdpdr.norm(v - [1.0, 2.0]), np.sqrt(2.0)),
    "largest": (lambda v: sdpdr.norm(v - [1.0, 2.0], "inf"), 1.0),
    "absolute": (lambda v: abs(v - [1.0, 2.0]).sum(), 2.0),
    "squares": (lambda v: sdpdr.square(v - [1.0, 2.0]).sum(), 2.0),
    "exponentials": (lambda v: sdpdr.sum_exp(2.0 * v), np.exp(1.0) * 2.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_of_what_a_function_adds_are_completed(name):
    v = sdpdr.scalar("v", 2)
    function, least = FUNCTIONS[name]
    is_smooth = name == "exponentials"
    point = np.full(2, 0.5) if is_smooth else HAND
    model = sdpdr.minimize(function(v)) + ((v.sum() >= 1.0) if is_smooth else (v.sum() <= 1.0))
    for answer in ({"v": point}, point):
        found = sdpdr.verify(model, answer)
        assert found.status is sdpdr.Status.SOLVED
        assert found.attained == pytest.approx(least, abs=1e-5)
        assert found.moved < 1e-5
        # The mark of such an answer is what verify proves.
        with pytest.raises(NotAcceptedError, match=r"use sdpdr.verify\(model, point\)"):
            graded(model, answer)
    with pytest.raises(DataError):
        sdpdr.verify(model, {})


def test_symmetric_matrices_are_passed_as_they_are_read():
    S = sdpdr.symmetric("S", 2)
    model = sdpdr.maximize(S[0, 1]) + (sdpdr.lambda_max(S) <= 1.0) + (S.trace() >= 1.0)
    best = np.full((2, 2), 0.5)
    assert sdpdr.solve(model)["S"] == pytest.approx(best, abs=1e-3)
    assert sdpdr.verify(model, {"S": best}).attained == pytest.approx(0.5)
    assert graded(model, best).attained == 0.5
    with pytest.raises(DataError, match="'S' is not symmetric"):
        sdpdr.verify(model, {"S": best + np.eye(2, k=1)})
