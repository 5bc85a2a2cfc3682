"""``MVU().fit(X)`` of any table: it returns, every place is a number, and what was done is said."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_circles
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

import sdpdr
from sdpdr.errors import (
    AddedEdgesWarning,
    DuplicatePointsWarning,
    FewPointsWarning,
    LostLengthsWarning,
    SampledWarning,
    SdpdrWarning,
    UncertifiedWarning,
    UnlikeColumnsWarning,
)

WORDS = np.array(["red", "green", "blue", "grey", "black"])


def noise(rows, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((rows, columns))


def blobs(rows, columns=3):
    return noise(rows, columns) + 30.0 * np.eye(4, columns)[np.arange(rows) % 4]


def words(rows):
    return WORDS[np.random.default_rng(0).integers(5, size=(rows, 3))]


def curved(rows, columns=784):
    """Curved, of twelve dimensions and noise in all columns, some of them constant."""
    rng = np.random.default_rng(0)
    behind = rng.standard_normal((rows, 12))
    turned, tilted = rng.standard_normal((2, 12, columns))
    X = np.sin(behind @ turned / 3.0) + behind @ tilted / 6.0
    X += 0.1 * rng.standard_normal(X.shape)
    X[:, ::50] = 0.0
    return X


# The warnings that each table must raise; raising any other fails the test, too.
TABLES = {
    "three rows": (lambda: noise(3, 4), {FewPointsWarning}),
    "four rows, one column": (lambda: np.array([[0.0], [1.0], [3.0], [7.0]]), {FewPointsWarning}),
    "one column": (lambda: np.sort(noise(40, 1), axis=0), set()),
    "points on a line": (lambda: np.arange(30.0)[:, None] * [1.0, 2.0, 3.0], set()),
    "noise": (lambda: noise(80, 3), set()),
    "clusters": (lambda: blobs(80), {AddedEdgesWarning}),
    "forty clusters of two": (
        lambda: np.repeat(100.0 * noise(40, 3), 2, axis=0) + noise(80, 3), set(),
    ),
    "far points": (
        lambda: np.vstack([noise(50, 3), 1e4 * np.eye(3)]), set(),
    ),
    "each row thrice": (lambda: np.repeat(noise(40, 3), 3, axis=0), {DuplicatePointsWarning}),
    "constant columns": (
        lambda: np.hstack([noise(50, 2), np.full((50, 3), 7.0)]), set(),
    ),
    "784 columns, 60 rows": (lambda: curved(60), {LostLengthsWarning}),
    "words, one column for each": (
        lambda: OneHotEncoder(sparse_output=False).fit_transform(words(90)),
        {DuplicatePointsWarning, LostLengthsWarning},
    ),
    "words, numbered": (
        lambda: OrdinalEncoder().fit_transform(words(90)), {DuplicatePointsWarning},
    ),
    "truth values": (
        lambda: noise(60, 6) > 0.0, {DuplicatePointsWarning, LostLengthsWarning},
    ),
    "single precision": (lambda: noise(60, 3).astype(np.float32), set()),
    "units from 1e-6 to 1e6": (
        lambda: noise(60, 4) * 10.0 ** np.array([-6, -2, 2, 6]),
        {UnlikeColumnsWarning},
    ),
    "far from the origin": (lambda: noise(60, 3) + 1e7, set()),
    "heavy tails": (
        lambda: np.random.default_rng(0).standard_cauchy((80, 3)), set(),
    ),
    "circles": (lambda: make_circles(100, factor=0.3, random_state=0)[0], {AddedEdgesWarning}),
    "iris, a frame": (
        lambda: pd.DataFrame(load_iris().data, columns=list("abcd")),
        {DuplicatePointsWarning, AddedEdgesWarning},
    ),
    "wine, its columns as they come": (lambda: load_wine().data, set()),
    "digits": (lambda: load_digits().data[:150], {AddedEdgesWarning}),
}  # fmt: skip
LARGE = {
    "50,000 points of a roll": (lambda: sdpdr.datasets.swiss_roll(50_000, seed=0)[0], set()),
    "50,000 rows, 784 columns": (lambda: curved(50_000), {SampledWarning, LostLengthsWarning}),
}


def fits(make, expected):
    X = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned = sdpdr.MVU().fit(X)
    said = {warning.category for warning in caught if issubclass(warning.category, SdpdrWarning)}
    assert said == expected
    assert learned.embedding_.shape == (len(X), 2)
    assert np.all(np.isfinite(learned.embedding_))
    # No table is so near to the limit that rounding decides.
    assert abs(learned.length_kept_ - 0.5) > 0.01
    assert learned.solution_.certified() != (UncertifiedWarning in said)


DAILY = ("three rows", "clusters", "truth values", "units from 1e-6 to 1e6")


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", [pytest.param(t, marks=[] if t in DAILY else pytest.mark.nightly) for t in TABLES]
)
def test_any_table_is_fitted_and_told_what_there_is_to_tell(name):
    fits(*TABLES[name])


@pytest.mark.nightly
@pytest.mark.parametrize("name", LARGE)
def test_large_tables_are_fitted_and_told_what_there_is_to_tell(name):
    fits(*LARGE[name])


@pytest.mark.nightly
@pytest.mark.parametrize(("rows", "limit"), [(12, None), (30, 0.2)])
def test_exact_lengths_that_are_not_proved_are_told(rows, limit):
    """Whether a solver gets there in the time or not, and what is proved of data nearby too."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learned = sdpdr.MVU(isometry="equality", time_limit=limit).fit(noise(rows, 2))
    told = any(issubclass(warning.category, UncertifiedWarning) for warning in caught)
    assert learned.solution_.certified() != told
