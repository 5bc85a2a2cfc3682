"""Limits of steps and time, progress, interruption; what may be passed."""

import numpy as np
import pytest

from sdpdr.bilinear import (
    RunStatus,
    alternating,
    ascent,
    frank_wolfe,
    glram,
    interior_point,
    matrices,
    numbers_of_components,
    two_d_pca,
)
from sdpdr.errors import DataError, DataTypeError, ShapeError

STACK = np.random.default_rng(0).standard_normal((4, 5, 4))
RUNS = (interior_point, frank_wolfe, alternating, ascent, glram)


@pytest.mark.parametrize("run", RUNS)
def test_a_limit_that_ends_a_run_is_its_status(run):
    late = run(STACK, 2, time_limit=0.0, tol=1e-12)
    assert late.status is RunStatus.TIME_LIMIT
    assert len(late.history) == 1
    short = run(STACK, 2, max_iter=1, tol=1e-12)
    assert short.status is RunStatus.ITERATION_LIMIT
    assert len(short.history) == 2
    assert short.status.advice.startswith("The iteration limit")
    assert "ITERATION_LIMIT" in repr(short)


@pytest.mark.parametrize("run", RUNS)
def test_progress_and_interruption(run):
    seen = []

    def stop(record):
        seen.append(record)
        if record["iteration"] == 1:
            raise KeyboardInterrupt

    found = run(STACK, 2, tol=1e-12, progress=stop)
    assert found.status is RunStatus.INTERRUPTED
    assert [record["iteration"] for record in seen] == [0, 1]
    assert found.value == max(record["value"] for record in seen)


def test_an_interruption_before_the_first_point_is_passed_on(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sdpdr.families.sopca.local.leading", stop)
    with pytest.raises(KeyboardInterrupt):
        alternating(STACK, 2)


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"max_iter": -1}, "max_iter"), ({"tol": 0.0}, "tol"), ({"time_limit": -1.0}, "time_limit")],
)
def test_wrong_limits_are_named(run, wrong, words):
    with pytest.raises(DataError, match=words):
        run(STACK, 2, **wrong)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([np.ones((3, 2)), np.ones((2, 2))], ShapeError, "shape \\(2, 2\\) and some of \\(3, 2\\)"),
        (np.ones((3, 2)), ShapeError, "Pass X\\[None\\]"),
        (np.ones((2, 3, 2, 2)), ShapeError, "must have shape"),
        (np.ones((0, 3, 2)), DataError, "no entry"),
        (np.zeros((2, 3, 2)), DataError, "all entries of X are zero. There"),
        (np.array([[[1.0, np.nan]]]), DataError, "X\\[0, 0, 1\\] = nan"),
        (np.array([[[1.0, 2.0]], [[np.inf, 0.0]]]), DataError, "X\\[1, 0, 0\\] = inf"),
        ([[["a", "b"]]], DataTypeError, "real numbers"),
        (np.ones((1, 2, 2)) * 1j, DataTypeError, "Complex"),
        (7, DataTypeError, "it is 7"),
    ],
)
def test_what_is_no_stack_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        matrices(given)


def test_equal_matrices_have_nothing_left_about_their_mean():
    with pytest.raises(DataError, match="once the mean of n_samples=3"):
        matrices(np.full((3, 2, 2), 0.1), center=True)
    assert matrices(STACK, center=True).mean(axis=0) == pytest.approx(np.zeros((5, 4)), abs=1e-15)


def test_data_are_not_changed():
    before = STACK.copy()
    matrices(STACK, center=True)
    interior_point(STACK, 2, tol=1e-2)
    assert np.array_equal(STACK, before)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (5, DataError, "at most 4 components on both sides"),
        (0, DataError, "at least 1"),
        ((6, 1), DataError, "at most \\(5, 4\\)"),
        ((1, 2, 3), DataError, "a number or a pair"),
        (1.5, DataTypeError, "not an integer"),
        ((1, True), DataTypeError, "not an integer"),
    ],
)
def test_wrong_numbers_of_components(value, error, words):
    with pytest.raises(error, match=words):
        numbers_of_components(value, STACK.shape)
    assert numbers_of_components((5, 1), STACK.shape) == (5, 1)


def test_starts_of_a_wrong_shape_or_number_are_refused_in_words():
    with pytest.raises(ShapeError, match="\\(5, 2\\)"):
        alternating(STACK, 2, start=np.eye(5)[:, :3])
    with pytest.raises(ShapeError, match="\\(4, 2\\)"):
        ascent(STACK, 2, start=(np.eye(5)[:, :2], np.eye(4)[:, :3]))
    with pytest.raises(DataError, match="has 4 columns|have 4 columns"):
        two_d_pca(STACK, 5)
    for point in (
        (np.eye(5), np.eye(4)),
        (np.eye(4), np.eye(4)),
        (np.zeros((5, 5)), np.eye(4) / 2),
    ):
        with pytest.raises((DataError, ShapeError), match="start"):
            frank_wolfe(STACK, 2, start=point)
