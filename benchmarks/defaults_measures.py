"""What defaults are measured on, and by: data, qualities, and doing nothing.

Qualities are shares, larger is better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.linear_model import LinearRegression
from sklearn.manifold import MDS, Isomap, trustworthiness
from sklearn.metrics import normalized_mutual_info_score, r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import (
    KNeighborsClassifier,
    NearestNeighbors,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import sdpdr
from sdpdr.datasets import s_curve, swiss_roll
from sdpdr.program.point import leading_factor, spectrum_of

POINTS = 150
LABELS = 5
STEPS = 60
FOLDS = 3
SCALED: dict[str, Callable[..., Any]] = {"wine": load_wine, "cancer": load_breast_cancer}
PLAIN: dict[str, Callable[..., Any]] = {"iris": load_iris, "digits": load_digits}
SETS = ("roll", "S-curve", "moons", "iris", "wine", "cancer", "digits")


@cache
def everything(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A data set of scikit-learn with labels; columns of different units scaled."""
    if name in SCALED:
        X, y = SCALED[name](return_X_y=True)
        return scale(X), y
    return PLAIN[name](return_X_y=True)


def data(name: str, seed: int, points: int = POINTS) -> tuple[np.ndarray, np.ndarray]:
    """Some points, with labels: halves of a sheet for those that have none."""
    if name == "moons":
        return make_moons(points, noise=0.1, random_state=seed)
    if name in ("roll", "S-curve"):
        X, t = (swiss_roll if name == "roll" else s_curve)(points, seed=seed)
        return X, (t > np.median(t)).astype(int)
    X, y = everything(name)
    chosen = np.random.default_rng(seed).permutation(len(y))[:points]
    return X[chosen], y[chosen]


class AllDimensions(BaseEstimator):
    """A density map in all dimensions of its kernel."""

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        """Coordinates of the points, of which the kernel has the inner products."""
        found = sdpdr.DensityMap().fit(X)
        values, vectors = spectrum_of(found.gram_)
        return found.graph_.of_samples(leading_factor(values, vectors, values.size))


class Nothing(TransformerMixin, BaseEstimator):
    """Leaves points where they are; in two dimensions, their two columns of largest variance."""

    def __init__(self, columns: int | None = None) -> None:
        self.columns = columns

    def fit(self, X: np.ndarray, y: Any = None) -> Nothing:
        """Choose the columns."""
        self.kept_ = np.argsort(-X.var(axis=0), kind="stable")[: self.columns]
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Points in these columns."""
        return X[:, self.kept_]


def embedded(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Trustworthiness of a picture."""
    return float(trustworthiness(X, estimator.fit_transform(X, y), n_neighbors=6))


def coloured(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Share of points whose nearest in a picture drawn with all labels is of their class."""
    Y = estimator.fit_transform(X, y)
    near = NearestNeighbors(n_neighbors=1).fit(Y).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(y[near] == y))


def dense(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Rank correlation of distances to the sixth neighbour in the data and in a picture."""
    far = [
        NearestNeighbors(n_neighbors=6).fit(P).kneighbors()[0][:, -1]
        for P in (X, estimator.fit_transform(X))
    ]
    return float(spearmanr(*far).statistic)


def projected(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Accuracy of the nearest neighbour after a map, cross-validated."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    pipe = make_pipeline(estimator, KNeighborsClassifier(1))
    return float(cross_val_score(pipe, X, y, cv=folds, error_score="raise").mean())


def spread(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Accuracy where no label was given, of a few labels a class."""
    order = np.random.default_rng(seed).permutation(len(y))
    given = np.concatenate([order[y[order] == c][:LABELS] for c in np.unique(y)])
    hidden = np.setdiff1d(order, given)
    if isinstance(estimator, KNeighborsClassifier):
        return float(np.mean(estimator.fit(X[given], y[given]).predict(X[hidden]) == y[hidden]))
    known = np.full(len(y), -1)
    known[given] = y[given]
    return float(np.mean(estimator.fit(X, known).transduction_[hidden] == y[hidden]))


class Mean(BaseEstimator):
    """The mean row as the only factor."""

    def fit_transform(self, X: np.ndarray) -> np.ndarray:
        """A column of ones."""
        self.components_ = X.mean(axis=0)[None, :]
        return np.ones((len(X), 1))


def factored(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Share of the squared deviation from the mean row that factors explain."""
    X = X - X.min(axis=0)
    left = X - estimator.fit_transform(X) @ estimator.components_
    return 1.0 - float(np.sum(left**2) / np.sum((X - X.mean(axis=0)) ** 2))


class OneCluster(BaseEstimator):
    """All points together."""

    def fit(self, X: np.ndarray) -> OneCluster:
        """The same label for all."""
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


def clustered(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Mutual information of clusters and classes, normalised."""
    k = len(np.unique(y))
    for name in ("n_components", "n_clusters"):
        if name in estimator.get_params():
            estimator.set_params(**{name: k})
            break
    return float(normalized_mutual_info_score(y, estimator.fit(X).labels_))


HIDDEN, ANCHORS = 0.3, 30


def hidden_of(shape: tuple[int, int], seed: int) -> np.ndarray:
    """Entries that are not shown: one in each row and column at least is."""
    hidden = np.random.default_rng(seed).uniform(size=shape) < HIDDEN
    rows, columns = (np.arange(n) for n in shape)
    hidden[rows, rows % shape[1]] = False
    hidden[columns % shape[0], columns] = False
    return hidden


def filled(estimator: Any, X: np.ndarray) -> np.ndarray:
    """A table without gaps, by whatever fills them."""
    if hasattr(estimator, "predict"):
        return np.asarray(estimator.fit(X).predict())
    return np.asarray(estimator.fit_transform(X))


def rated(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Share of the squared deviation from means of columns explained where no level is shown."""
    quintiles = np.quantile(X, [0.2, 0.4, 0.6, 0.8], axis=0)
    levels = 1.0 + np.sum(X[None] > quintiles[:, None], axis=0)
    levels = levels[:, np.ptp(levels, axis=0) > 0.0]
    hidden = hidden_of(levels.shape, seed)
    shown = np.where(hidden, np.nan, levels)
    left = (filled(estimator, shown) - levels)[hidden]
    spread_ = (np.nanmean(shown, axis=0) - levels)[hidden]
    return 1.0 - float(np.sum(left**2) / np.sum(spread_**2))


def signed(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Share of right signs where none is shown; a sign says whether a median is passed."""
    signs = np.where(np.median(X, axis=0) < X, 1.0, -1.0)
    hidden = hidden_of(signs.shape, seed)
    found = filled(estimator, np.where(hidden, np.nan, signs))
    return float(np.mean(np.where(found > 0.0, 1.0, -1.0)[hidden] == signs[hidden]))


def surveyed(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """One less the relative error of unknown distances in a plane, of which a fifth is known."""
    X = Nothing(2).fit(X).transform(X)
    D = squareform(pdist(X))
    hidden = squareform(np.random.default_rng(seed).uniform(size=pdist(X).size) < 0.8)
    found = np.asarray(estimator.fit(np.where(hidden, np.nan, D)).distances_)
    return 1.0 - float(np.linalg.norm((found - D)[hidden]) / np.linalg.norm(D[hidden]))


class PathsAndStress(BaseEstimator):
    """Shortest paths along known distances, placed by scikit-learn's scaling."""

    def fit(self, D: np.ndarray) -> PathsAndStress:
        """Distances between the places."""
        far = shortest_path(np.where(np.isnan(D), 0.0, D), directed=False)
        places = MDS(2, dissimilarity="precomputed", random_state=0).fit_transform(far)
        self.distances_ = squareform(pdist(places))
        return self


class MeanDistance(BaseEstimator):
    """The mean of known distances in place of each that is not."""

    def fit(self, D: np.ndarray) -> MeanDistance:
        """One number."""
        self.distances_ = np.where(np.isnan(D), np.nanmean(D), D)
        return self


def sheet(name: str, X: np.ndarray, seed: int) -> np.ndarray:
    """Places in a plane: on a roll and an S along the sheet, of others those of Isomap."""
    if name == "roll":
        t = swiss_roll(len(X), seed=seed)[1]
        return np.column_stack([(t * np.hypot(1.0, t) + np.arcsinh(t)) / 2.0, X[:, 1]])
    if name == "S-curve":
        return np.column_stack([s_curve(len(X), seed=seed)[1], X[:, 1]])
    return np.asarray(Isomap(n_neighbors=10).fit_transform(X))


def placed(estimator: Any, X: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Share of the squared deviation of places that is explained, of which 30 are known."""
    known = np.random.default_rng(seed).permutation(len(X))[:ANCHORS]
    hidden = np.setdiff1d(np.arange(len(X)), known)
    if hasattr(estimator, "predict"):
        found = estimator.fit(X[known], y[known]).predict(X[hidden])
    else:
        partly = np.full_like(y, np.nan)
        partly[known] = y[known]
        found = estimator.fit(X, partly).embedding_[hidden]
    left, away = found - y[hidden], y[hidden] - y[known].mean(axis=0)
    return 1.0 - float(np.sum(left**2) / np.sum(away**2))


MOVES = {"R": (1, 0), "L": (-1, 0), "U": (0, 1), "D": (0, -1)}
SIDE = 7
# Lengths of a step on a roll and on an S.
STEP = {"roll": 3.0, "S-curve": np.pi / 2.0}


def walk(name: str, X: np.ndarray, seed: int) -> tuple[np.ndarray, str, np.ndarray]:
    """States of an agent that walks at random over a square of places, its actions, and places.

    On a roll and an S along the sheet and across, with noise of a tenth of a step; of digits a
    window of 16 by 16 that moves by two over a mosaic of them.
    """
    rng = np.random.default_rng(seed)
    actions, places = wandered(rng)
    if name == "digits":
        return windows(places, seed), actions, places
    states = rolled(places) if name == "roll" else bent(places)
    return states + 0.1 * STEP[name] * rng.standard_normal(states.shape), actions, places


def wandered(rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """Actions at random that stay on the square, and the places that they lead to."""
    place, actions = [np.array([SIDE // 2, SIDE // 2])], ""
    while len(actions) < STEPS:
        action = str(rng.choice(list(MOVES)))
        after = place[-1] + MOVES[action]
        if (after >= 0).all() and (after < SIDE).all():
            place, actions = [*place, after], actions + action
    return actions, np.array(place, dtype=float)


def windows(places: np.ndarray, seed: int) -> np.ndarray:
    """What a window over a mosaic of digits shows at each place."""
    rows = [np.hstack(list(load_digits().images[6 * i + 60 * seed :][:6])) for i in range(6)]
    mosaic, corners = np.vstack(rows), 2 * places.astype(int)
    return np.array([mosaic[i : i + 16, j : j + 16].ravel() for i, j in corners])


def rolled(places: np.ndarray) -> np.ndarray:
    """Places on a roll, along it and across."""
    turns = np.linspace(0.0, 60.0, 6001)
    ways = (turns * np.hypot(1.0, turns) + np.arcsinh(turns)) / 2.0
    turn = np.interp(ways[450] + STEP["roll"] * places[:, 0], ways, turns)
    return np.column_stack([turn * np.cos(turn), STEP["roll"] * places[:, 1], turn * np.sin(turn)])


def bent(places: np.ndarray) -> np.ndarray:
    """Places on an S, along it and across."""
    turn = 3.0 * np.pi * (places[:, 0] / (SIDE - 1) - 0.5)
    z = np.sign(turn) * (np.cos(turn) - 1.0)
    return np.column_stack([np.sin(turn), STEP["S-curve"] * places[:, 1], z])


def drawn(estimator: Any, states: np.ndarray, actions: Sequence[str | None]) -> np.ndarray:
    """Embedding of a walk, of its actions too where the estimator takes them."""
    told = {"actions": actions} if isinstance(estimator, sdpdr.ARE) else {}
    return np.asarray(estimator.fit_transform(states, **told))


def left_out(actions: str, places: np.ndarray) -> np.ndarray:
    """Which steps are not told: of each action those from every other of its places.

    Steps of the same action from the same place are copies, so that all or none of them are told.
    """
    hidden = np.zeros(len(actions), dtype=bool)
    for action in MOVES:
        taken = np.flatnonzero(np.array(list(actions)) == action)
        starts = [tuple(place) for place in places[taken]]
        rank = {place: k for k, place in enumerate(dict.fromkeys(starts))}
        hidden[taken] = [rank[place] % 2 == 1 for place in starts]
    return hidden


def moved(estimator: Any, X: np.ndarray, y: Any, seed: int) -> float:
    """Share of squared steps left out that rigid motions explain, one an action.

    Neither the map nor the motions know the actions of these steps.
    """
    states, actions, places = y
    hidden = left_out(actions, places)
    told = [None if out else action for action, out in zip(actions, hidden, strict=True)]
    Y = drawn(estimator, states, told)
    left = whole = 0.0
    for action in MOVES:
        taken = np.array(list(actions)) == action
        known, other = np.flatnonzero(taken & ~hidden), np.flatnonzero(taken & hidden)
        middle, next_middle = Y[known].mean(axis=0), Y[known + 1].mean(axis=0)
        turn = orthogonal_procrustes(Y[known] - middle, Y[known + 1] - next_middle)[0]
        found = (Y[other] - middle) @ turn + next_middle
        left += float(np.sum(np.square(found - Y[other + 1])))
        whole += float(np.sum(np.square(Y[other + 1] - Y[other])))
    return 1.0 - left / whole


def located(estimator: Any, X: np.ndarray, y: Any, seed: int) -> float:
    """Share of the squared deviation of places that an affine map of the embedding explains."""
    states, actions, places = y
    Y = drawn(estimator, states, actions)
    found = LinearRegression().fit(Y, places).predict(Y)
    return float(r2_score(places, found, multioutput="variance_weighted"))
