"""What cannot be used is refused by name, with what to do; what can be is, in any container."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone

import sdpdr
from sdpdr.baselines import GPLVM, SPE, Sammon
from sdpdr.errors import (
    DataError,
    DataTypeError,
    ModelError,
)

POINTS = np.random.default_rng(0).standard_normal((12, 3)) * [3.0, 2.0, 0.5]
POSITIVE = np.abs(np.random.default_rng(1).standard_normal((8, 5))) + 0.1
AFFINITY = POSITIVE @ POSITIVE.T
SIGNS = np.sign(np.random.default_rng(2).standard_normal((8, 5)))
RATINGS = np.ceil(5.0 * POSITIVE / POSITIVE.max())
STACK = np.random.default_rng(3).standard_normal((8, 4, 3))
KNOWN = np.where(np.arange(12) % 3 == 0, POINTS[:, 0] > 0.0, -1)
PLACED = np.where(np.arange(12)[:, None] < 5, POINTS[:, :2], np.nan)
DISTANCES = squareform(pdist(POINTS))
DISTANCES[0, 7:] = DISTANCES[7:, 0] = np.nan


def spoiled(X, place, value):
    X = np.array(X, dtype=np.result_type(X, type(value)))
    X[place] = value
    return X


def framed(X, kind=None):
    frame = pd.DataFrame(
        X, columns=[f"c{k}" for k in range(X.shape[1])], index=range(9, 9 + len(X))
    )
    return frame if kind is None else frame.astype(kind)


NMF, SOPCA, MMMF, CP = sdpdr.NMF(2), sdpdr.SOPCA(2), sdpdr.MMMF(), sdpdr.CompletelyPositive(2)
RATING, ISO, POLY = sdpdr.RatingMMMF(), sdpdr.IsoNMF(2), sdpdr.PolynomialFactorization()
ISM, MIXED, COLORED = sdpdr.ISM(), sdpdr.MixedLabelPropagation(), sdpdr.ColoredMVU()
ARE, ANCHORED, COMPLETION = sdpdr.ARE(), sdpdr.AnchoredMVU(), sdpdr.DistanceCompletion()
# In the dimension that the points have, nothing is folded that a search would have to unfold.
EXACT = sdpdr.DistanceCompletion(3)


# -- data --------------------------------------------------------------------------------------

TEXT = pd.DataFrame({"size": [1.0, 2.0, 3.0], "name": list("abc")})
OF_TABLES = {
    "none": (lambda X: None, DataTypeError, "X is None"),
    "a number": (lambda X: 3.0, DataError, r"(?s)Expected 2D array.*X.reshape"),
    "complex": (lambda X: X + 1j, DataError, "^Complex data not supported. Pass real and imag"),
    "text": (lambda X: TEXT, DataError, "must be numbers.*Columns that are not numbers: 'name'"),
    "dates": (
        lambda X: TEXT.assign(name=pd.date_range("2020", periods=3)),
        DataTypeError,
        "column 'name' of X holds dates .* must be numbers",
    ),
    "ragged": (lambda X: [[1.0, 2.0], [3.0]], DataError, "inhomogeneous.*the same length"),
    "infinite": (
        lambda X: spoiled(X, (1, 2), np.inf), DataError, r"not finite: 1\. Their columns: 2\.",
    ),
    "three axes": (lambda X: np.stack([X, X]), DataError, "dim 3.*flatten"),
    "no row": (lambda X: X[:0], DataError, "0 sample"),
    "no column": (lambda X: X[:, :0], DataError, "0 feature"),
    "names twice": (
        lambda X: pd.DataFrame(X, columns=["a"] * X.shape[1]), DataError, "(?s)unique.*Rename",
    ),
    "names of two kinds": (
        lambda X: pd.DataFrame(X, columns=["a", *range(1, X.shape[1])]),
        DataTypeError,
        "Feature names",
    ),
    "beyond squares": (lambda X: X * 1e160, DataError, "e\\+160.*(Rescale|rescale)"),
    "below squares": (lambda X: X * 1e-310, DataError, "e-31.*(Rescale|rescale)"),
}  # fmt: skip
TABLES = {"NMF": NMF, "IsoNMF": ISO, "polynomial": POLY}


@pytest.mark.parametrize("fault", OF_TABLES)
@pytest.mark.parametrize("name", TABLES)
def test_tables_that_are_refused(name, fault):
    spoil, error, words = OF_TABLES[fault]
    with pytest.raises(error, match=words):
        clone(TABLES[name]).fit(spoil(POSITIVE))


LABELS = KNOWN.astype(float)
OF_DATA = [
    (NMF, np.full((4, 3), np.nan), None, DataError, "Input X contains NaN.*sklearn.impute"),
    (NMF, -POSITIVE, None, DataError, r"X\[0, 0\] = -.*must be nonnegative"),
    (SOPCA, STACK * 1e-310, None, DataError, "Rescale X"),
    (SOPCA, POINTS + 1j, None, DataError, "real and imaginary"),
    (MMMF, SIGNS > 0.0, None, DataTypeError, "truth values"),
    (MMMF, pd.DataFrame(SIGNS > 0.0), None, DataTypeError, "truth values"),
    (RATING, [("a", 1), (2, 1)], [5, 4], DataError, "could not convert"),
    (RATING, np.full((4, 4), 2.0), None, DataError, "ratings take 1 value, 2 alone"),
    (COMPLETION, DISTANCES + 1j, None, DataError, "Complex data not supported"),
    (RATING, spoiled(RATINGS, (2, 3), np.inf), None, DataError, r"not finite: 2\."),
    (COMPLETION, DISTANCES, PLACED + 1j, DataError, "Complex"),
    (COMPLETION, DISTANCES, np.full(12, "a"), DataError, "^y: .*must be numbers"),
    (COMPLETION, DISTANCES, sp.csr_array(POINTS), DataTypeError, "[Ss]parse"),
    (COMPLETION, DISTANCES, PLACED * 1e160, DataError, "Rescale y"),
    (ANCHORED, POINTS, np.full(12, "a"), DataError, "^y: .*must be numbers"),
    (ISM, [[1.0, 2.0], [3.0]], [0, 1], DataError, "inhomogeneous"),
    (sdpdr.LOOCVUnfolding(), None, None, DataTypeError, "X is None"),
    (sdpdr.MVU(), 3.0, None, DataError, "Expected 2D array"),
    *[
        (labelled, POINTS, y, error, words)
        for labelled in (ISM, MIXED)
        for y, error, words in [
            (LABELS + 0.5, DataError, "continuous.*with fractions.*cut"),
            (LABELS[:, None, None], DataError, "a label for each row of X"),
            (spoiled(LABELS, 0, np.inf), DataError, "infinity, which is no label"),
            (3, DataError, "a label for each row of X"),
            (LABELS + 1j, DataError, "^Complex data not supported. y must"),
            (sp.csr_array(LABELS[:, None]), DataTypeError, "a label for each row of X"),
            (np.array(["a", 1] * 6, dtype=object), DataTypeError, r"kinds \(int, str\)"),
        ]
    ],
    (COLORED, POINTS, np.array(["a", 1] * 6, dtype=object), DataTypeError, r"kinds \(int, str\)"),
    (Sammon(metric="precomputed"), squareform(pdist(POINTS)) * 1e-310, None, DataError, "rescale"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "X", "y", "error", "words"), OF_DATA)
def test_data_that_are_refused(estimator, X, y, error, words):
    with pytest.raises(error, match=words):
        clone(estimator).fit(X, y)


# -- parameters --------------------------------------------------------------------------------

OF_PARAMETERS = [
    *[(NMF, POSITIVE, {"max_iter": value}, DataError, "max_iter=") for value in (0, 1.5, None)],
    *[(POLY, POSITIVE, {"tol": value}, DataError, "tol=") for value in (0, "a", None)],
    (POLY, POSITIVE, {"coefficients": "a"}, DataError, "^coefficients is the text"),
    *[
        (model, X, {"time_limit": value}, DataError, "time_limit=.*pass 0 or more, or None")
        for model, X in ((MMMF, SIGNS), (RATING, RATINGS), (SOPCA, STACK))
        for value in ("a", -1, np.nan, True)
    ],
    (sdpdr.CompletelyPositive(), AFFINITY, {"time_limit": "a"}, DataError, "time_limit='a'"),
    *[(MMMF, SIGNS, {"tol": value}, DataError, "tol=") for value in (0, -1, np.nan, "a", True)],
    *[(RATING, RATINGS, {"tol": value}, DataError, "tol=") for value in (0, -1, np.nan, None)],
    *[(MMMF, SIGNS, {"c": value}, DataError, "c=") for value in (0, "a", np.nan, True)],
    *[
        (sdpdr.CompletelyPositive(2, affinity="knn"), POINTS, {"n_neighbors": value}, DataError,
         "n_neighbors=")
        for value in (0, 1.5, None, "2", True)
    ],
    (CP, AFFINITY, {"tol": "a"}, DataTypeError, "tol='a'"),
    (sdpdr.DensityMap(), POINTS, {"bandwidth": "a"}, DataTypeError, "bandwidth='a'"),
]  # fmt: skip


@pytest.mark.parametrize(("estimator", "X", "given", "error", "words"), OF_PARAMETERS)
def test_parameters_that_are_refused(estimator, X, given, error, words):
    with pytest.raises(error, match=words):
        clone(estimator).set_params(**given).fit(X)


def test_a_penalty_that_is_no_number_is_refused():
    with pytest.raises(ModelError, match="slack must be positive and finite; it is 'a'"):
        sdpdr.ISM(slack="a").fit(POINTS, KNOWN)


@pytest.mark.parametrize(
    ("given", "words"),
    [({"actions": 3}, "not a sequence of"), ({"actions": "R" * 11}, "not a mapping of actions")],
)
def test_actions_that_are_refused(given, words):
    with pytest.raises(DataTypeError, match=words):
        sdpdr.ARE(n_neighbors=3, inverse="a").fit(POINTS, **given)


@pytest.mark.filterwarnings("ignore")
def test_states_that_all_coincide_by_their_actions_are_no_error_of_indices():
    # If states alternate between two places, a single length is left to unfold.
    X = np.tile([[0.0], [1.0]], (6, 1))
    placed = sdpdr.ARE(n_components=1, n_neighbors=1).fit(X, actions="RL" * 5 + "R")
    assert np.isfinite(placed.embedding_).all()


SEEDED = [
    (NMF, POSITIVE, None),
    (sdpdr.MVU(n_neighbors=3), POINTS, None),
    (EXACT, DISTANCES, None),
    (SPE(cycles=2), POINTS, None),
]  # fmt: skip


@pytest.mark.daily(2)
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "X", "y"), SEEDED)
def test_random_states_are_seeds_or_generators(estimator, X, y):
    for state in (np.int64(3), np.random.default_rng(3)):
        clone(estimator).set_params(random_state=state).fit(X, y)
    for state in ("a", 1.5, True):
        with pytest.raises(DataTypeError, match="random_state=.* is no seed"):
            clone(estimator).set_params(random_state=state).fit(X, y)
    for state in (-1, 2**32):
        with pytest.raises(DataError, match="random_state=.*(at least 0|out of range)"):
            clone(estimator).set_params(random_state=state).fit(X, y)


# -- containers --------------------------------------------------------------------------------


def read_only(X):
    X = np.array(X)
    X.flags.writeable = False
    return X


SAME = {
    "list": np.ndarray.tolist,
    "read only": read_only,
    "objects": lambda X: X.astype(object),
    "frame with missing values": lambda X: framed(X, "Float64"),
}
LEARNED = [
    (NMF, POSITIVE, None, "components_"),
    (sdpdr.RatingMMMF(c=1.0), spoiled(RATINGS, (1, 1), np.nan), None, "value_"),
    (SOPCA, POINTS, None, "columns_"),
    (MIXED, POINTS, KNOWN, "scores_"),
    (EXACT, DISTANCES, None, "distances_"),
    (Sammon(max_iter=20), POINTS, None, "embedding_"),
]  # fmt: skip


@pytest.mark.daily(2)
@pytest.mark.integration
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "X", "y", "found"), LEARNED)
def test_the_answer_is_that_of_the_numbers_in_any_container(estimator, X, y, found):
    expected = getattr(clone(estimator).fit(X, y), found)
    for contained in SAME.values():
        learned = getattr(clone(estimator).fit(contained(X), y), found)
        np.testing.assert_allclose(learned, expected, rtol=1e-9, atol=1e-12)


# -- few points, and no answer -----------------------------------------------------------------


# Whether rounding ends the search depends on the processor; that it ended is told.
@pytest.mark.filterwarnings("ignore::sdpdr.errors.UncertifiedWarning")
def test_a_signal_stays_within_what_can_be_factored_beside_the_noise():
    rows = POINTS * np.geomspace(1e-12, 1e12, len(POINTS))[:, None]
    assert np.isfinite(GPLVM(max_iter=50).fit(rows).embedding_).all()
