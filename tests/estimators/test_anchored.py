"""The estimator of anchored unfolding."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import sdpdr
from sdpdr.errors import (
    DataError,
    DuplicatePointsWarning,
    FewAnchorsWarning,
    InfeasibleError,
    MissedLengthsWarning,
    ShapeError,
)

X, T = sdpdr.datasets.swiss_roll(30, seed=0)


@pytest.fixture(scope="module")
def free():
    return sdpdr.MVU(n_neighbors=5, tol=1e-7).fit(X)


def known(Y, rows):
    y = np.full(Y.shape, np.nan)
    y[rows] = Y[rows]
    return y


@pytest.mark.filterwarnings("ignore::sdpdr.errors.FewAnchorsWarning")
def test_without_coordinates_it_is_unfolding(free):
    for y in (None, np.full((30, 2), np.nan)):
        learned = sdpdr.AnchoredMVU(n_neighbors=5, tol=1e-7).fit(X, y)
        np.testing.assert_allclose(learned.embedding_, free.embedding_, atol=1e-5)
        assert learned.trust_.sum() == pytest.approx(free.eigenvalues_[2:].sum(), rel=1e-5)


@pytest.mark.integration
def test_duplicates_share_their_coordinates(free):
    repeated = np.vstack([X, X[:2]])
    y = np.vstack([known(free.embedding_, [0, 9, 20, 27]), np.full((2, 2), np.nan)])
    model = sdpdr.AnchoredMVU(n_neighbors=5, solver="clarabel", tol=1e-6)
    with pytest.warns(DuplicatePointsWarning):
        learned = model.fit(repeated, y)
    np.testing.assert_array_equal(learned.embedding_[30:], learned.embedding_[:2])
    y[30] = y[0] + 1.0
    with pytest.warns(DuplicatePointsWarning), pytest.raises(InfeasibleError, match="same point"):
        model.fit(repeated, y)


@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (np.zeros(20), ShapeError, r"shape \(30, r\)"),
        (np.where(np.eye(30, 2) > 0, np.nan, 1.0), DataError, "some coordinates but not all"),
        (np.zeros((30, 2)), DataError, "nothing to find"),
        (np.where(np.arange(30) < 2, np.arange(30) * 1e6, np.nan), InfeasibleError, "anchors 0"),
    ],
)
def test_what_is_refused(y, error, message):
    with pytest.raises(error, match=message):
        sdpdr.AnchoredMVU(n_neighbors=5, isometry="inequality").fit(X, y)


@pytest.mark.parametrize("times", [1.0, 1.3, 7.0])
def test_that_nothing_is_left_to_be_found_is_all_that_is_said(times):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match="of all points are known"):
            sdpdr.AnchoredMVU(n_neighbors=5).fit(X, times * X[:, :2])


S, SHEET = sdpdr.datasets.s_curve(60, seed=0)
SHEET = np.column_stack([SHEET, S[:, 1]])
ROWS = np.arange(0, 60, 3)


def test_places_along_a_bent_sheet_are_found_though_chords_are_shorter():
    """Lengths that may not grow contradict them; penalized ones, the default, do not."""
    y = known(SHEET, ROWS)
    with pytest.raises(InfeasibleError, match="apart"):
        sdpdr.AnchoredMVU(isometry="inequality").fit(S, y)
    learned = sdpdr.AnchoredMVU().fit(S, y)
    away = np.linalg.norm(learned.embedding_ - SHEET, axis=1)
    assert np.median(away) < 0.005 * np.ptp(SHEET)
    assert learned.solution_.certified()


def test_coordinates_in_another_unit_are_refused_or_told_and_the_advice_works():
    with pytest.raises(DataError, match="one unit for both: divide y by that number") as told:
        sdpdr.AnchoredMVU().fit(S, known(1e6 * SHEET, ROWS))
    times = float(re.search(r"than (\S+) times", str(told.value))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdpdr.AnchoredMVU().fit(S, known(1e6 / times * SHEET, ROWS))
    with pytest.warns(MissedLengthsWarning, match="have one unit"):
        sdpdr.AnchoredMVU().fit(S, known(1e-3 * SHEET, ROWS))


@pytest.mark.nightly
def test_a_wrong_coordinate_is_told():
    wrong = SHEET.copy()
    wrong[[10, 11, 30, 31, 50, 51]] += 8.0 * np.array([[1], [-1]] * 3)
    with pytest.warns(MissedLengthsWarning, match="in the data, .* in the coordinates"):
        sdpdr.AnchoredMVU().fit(S, known(wrong, np.union1d(ROWS, [11, 31, 50])))


def test_nothing_known_is_told_before_the_program_is_solved():
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewAnchorsWarning)
        learner = sdpdr.AnchoredMVU(n_neighbors=5)
        with pytest.raises(FewAnchorsWarning, match="no coordinates are known, .* pass y"):
            learner.fit(X)
    assert not hasattr(learner, "solution_")


def test_rows_of_a_frame_are_named_by_its_index():
    frame = pd.DataFrame(X, index=[f"city {k}" for k in range(30)])
    y = np.full((30, 2), np.nan)
    y[3] = 1.0, np.nan
    with pytest.raises(DataError, match="sample 'city 3' has some coordinates"):
        sdpdr.AnchoredMVU().fit(frame, y)
    with pytest.raises(DataError, match="sample 3 has some coordinates"):
        sdpdr.AnchoredMVU().fit(frame.reset_index(drop=True), y)
