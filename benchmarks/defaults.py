"""What a user gets who changes nothing: every estimator beside its rival and beside doing nothing.

    python benchmarks/defaults.py               # rewrites docs/tables/defaults.rst
    python benchmarks/defaults.py --only ISM    # the rows of one estimator anew

Rows are kept in benchmarks/defaults.json; a run of all measures every row anew. Rivals beyond
scikit-learn are taken where they are installed (``pip install ".[rivals]"``).
Estimators have their defaults; only a number of clusters or factors is given where there is none.
Qualities are shares, larger is better. Seconds are of the processor. Run with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rivals import large_margin, minimum_distortion, umap_of
from scipy.stats import spearmanr
from sklearn import decomposition
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap, LocallyLinearEmbedding, trustworthiness
from sklearn.metrics import normalized_mutual_info_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import (
    KNeighborsClassifier,
    NearestNeighbors,
    NeighborhoodComponentsAnalysis,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale
from sklearn.semi_supervised import LabelSpreading
from tables import write_table

import sdpdr
from sdpdr.datasets import s_curve, swiss_roll
from sdpdr.program.point import leading_factor, spectrum_of

KEPT = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)
POINTS = 150
LABELS = 5
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


@dataclass(frozen=True)
class Task:
    """Estimators with one aim, what they are measured by, and on what."""

    measure: Callable[[Any, np.ndarray, np.ndarray, int], float]
    ours: Mapping[str, Any]
    rivals: Mapping[str, Any]
    nothing: Any
    sets: tuple[str, ...]


TASKS = {
    "picture": Task(
        embedded,
        {
            "MVU": sdpdr.MVU(),
            "MFNU": sdpdr.MFNU(),
            "MVE": sdpdr.MVE(),
            "DensityMap": sdpdr.DensityMap(),
        },
        {
            "scikit-learn's Isomap": Isomap(),
            "scikit-learn's LocallyLinearEmbedding": LocallyLinearEmbedding(eigen_solver="dense"),
            "scikit-learn's PCA": decomposition.PCA(2),
            **umap_of("UMAP"),
            **minimum_distortion(),
        },
        Nothing(2),
        SETS,
    ),
    "labelled picture": Task(
        coloured,
        {"ColoredMVU": sdpdr.ColoredMVU()},
        {
            "scikit-learn's LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
            "scikit-learn's NeighborhoodComponentsAnalysis": NeighborhoodComponentsAnalysis(
                2, random_state=0
            ),
            **umap_of("UMAP"),
        },
        Nothing(2),
        SETS,
    ),
    "densities": Task(
        dense,
        {
            "DensityMap": sdpdr.DensityMap(),
            "DensityMap, all its dimensions": AllDimensions(),
        },
        {
            "scikit-learn's Isomap": Isomap(),
            "scikit-learn's PCA": decomposition.PCA(2),
            **umap_of("densMAP", densmap=True),
        },
        Nothing(2),
        SETS,
    ),
    "projection": Task(
        projected,
        {
            "LDA": sdpdr.LDA(),
            "SDA": sdpdr.SDA(),
            "LSDA": sdpdr.LSDA(),
            "LPP": sdpdr.LPP(),
            "NPE": sdpdr.NPE(),
            "IsoProjection": sdpdr.IsoProjection(),
            "SpectralRegression": sdpdr.SpectralRegression(),
            "XingMetric": sdpdr.XingMetric(),
            "GhodsiMetric": sdpdr.GhodsiMetric(),
        },
        {
            "scikit-learn's LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
            "scikit-learn's PCA": decomposition.PCA(2),
            **large_margin(),
        },
        Nothing(),
        ("moons", "iris", "wine", "cancer", "digits"),
    ),
    "labels": Task(
        spread,
        {"MixedLabelPropagation": sdpdr.MixedLabelPropagation(), "ISM": sdpdr.ISM()},
        {"scikit-learn's LabelSpreading": LabelSpreading(kernel="knn", max_iter=1000)},
        KNeighborsClassifier(1),
        ("roll", "S-curve", "moons", "iris", "wine", "cancer", "digits"),
    ),
    "factors": Task(
        factored,
        {"NMF": sdpdr.NMF(2), "IsoNMF": sdpdr.IsoNMF(2)},
        {"scikit-learn's NMF": decomposition.NMF(2, init="nndsvda", max_iter=1000)},
        Mean(),
        ("roll", "S-curve", "iris", "wine", "cancer", "digits"),
    ),
    "clusters": Task(
        clustered,
        {"CompletelyPositive": sdpdr.CompletelyPositive()},
        {
            "scikit-learn's SpectralClustering, of neighbours": SpectralClustering(
                affinity="nearest_neighbors", random_state=0
            )
        },
        OneCluster(),
        ("moons", "iris", "wine", "cancer", "digits"),
    ),
}


def measured(
    task: Task, estimator: Any, name: str, seed: int, points: int = POINTS
) -> tuple[float, float]:
    """Quality of one run, and processor seconds."""
    X, y = data(name, seed, points)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quality = task.measure(clone(estimator), X, y, seed)
    return quality, time.process_time() - began


def members(kind: str) -> dict[str, Any]:
    """What a task compares, by name, in the order of the table."""
    task = TASKS[kind]
    return {**task.ours, **task.rivals, "nothing": task.nothing}


def rows_of(kind: str, asked: Sequence[str]) -> list[list[str]]:
    """A row of the table for every estimator of a task that is asked for; for all if none is."""
    task = TASKS[kind]
    rows = []
    for label, estimator in members(kind).items():
        if asked and label not in asked:
            continue
        cells, seconds = [], 0.0
        for name in SETS:
            if name not in task.sets:
                cells.append("")
                continue
            runs = [measured(task, estimator, name, seed) for seed in SEEDS]
            cells.append(f"{np.mean([quality for quality, _ in runs]):.3f}")
            # What is compiled at the first run is no work of the others.
            seconds += float(np.median([spent for _, spent in runs]))
        rows.append([kind, label, *cells, f"{seconds / len(task.sets):.2f}"])
        print(*rows[-1], sep="  ", flush=True)
    return rows


def in_order(rows: list[list[str]], names: list[str]) -> list[list[str]]:
    """Rows by name; rivals that are not at hand now stand before the last, which is nothing."""
    return sorted(rows, key=lambda row: names.index(row[1]) if row[1] in names else len(names) - 2)


def values(row: list[str]) -> dict[str, float]:
    """Qualities of a row of the table, by data set."""
    return {name: float(cell) for name, cell in zip(SETS, row[2:], strict=False) if cell}


def near(value: float, other: float) -> bool:
    """Whether a quality is within two points, or 5 %, of another one, or better."""
    return value >= min(other - 0.02, 0.95 * other)


def losses(measured_rows: Mapping[str, list[list[str]]]) -> dict[tuple[str, str], list[str]]:
    """By aim and estimator, the sets on which it is more than two points below doing nothing."""
    lost = {}
    for kind, rows in measured_rows.items():
        found = {row[1]: values(row) for row in rows}
        nothing = found["nothing"]
        for name in filter(found.__contains__, TASKS[kind].ours):
            lost[kind, name] = [s for s, q in found[name].items() if not q >= nothing[s] - 0.02]
    return {who: sets for who, sets in lost.items() if sets}


def verdicts(measured_rows: Mapping[str, list[list[str]]]) -> list[str]:
    """Who loses to doing nothing, and who is seldom near the best rival, in words."""
    far = []
    for kind, rows in measured_rows.items():
        found = {row[1]: values(row) for row in rows}
        rivals = [found[name] for name in found if name not in ("nothing", *TASKS[kind].ours)]
        for name in filter(found.__contains__, TASKS[kind].ours):
            close = sum(near(q, max(row[s] for row in rivals)) for s, q in found[name].items())
            far += [f"{name} as {kind} ({close})"] if close < 3 else []
    worse = [
        f"{name} as {kind} ({', '.join(sets)})"
        for (kind, name), sets in losses(measured_rows).items()
    ]
    return [
        f"More than two points below doing nothing: {'; '.join(worse) or 'none'}.",
        "Within two points or 5 % of the best rival on fewer than three sets (on how many): "
        f"{'; '.join(far) or 'none'}.",
    ]


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of estimators")
    asked = parser.parse_args().only
    kept = json.loads(KEPT.read_text()) if asked else {}
    for kind in TASKS:
        rows = {row[1]: row for row in kept.get(kind, []) + rows_of(kind, asked)}
        kept[kind] = list(rows.values())
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    found = {kind: in_order(kept[kind], list(members(kind))) for kind in TASKS}
    write_table(
        "defaults",
        ["aim", "estimator", *SETS, "seconds"],
        [row for rows in found.values() for row in rows],
        command="python benchmarks/defaults.py",
        notes=[
            f"Means over three seeds of {POINTS} points each; wine and breast "
            "cancer with columns scaled, all else as it comes. Halves of a roll and of an S are "
            "their classes. "
            "Seconds of the processor: of the median seed, mean over data sets.",
            "*picture*: trustworthiness with six neighbours in two dimensions; nothing is the two "
            "columns of largest variance. *labelled picture*: share of points whose nearest is of "
            "their class, all labels known. *densities*: rank correlation of distances to the "
            "sixth neighbour in the data and in two dimensions, or all of a kernel. *projection*: "
            f"accuracy of the nearest neighbour after the map, {FOLDS} folds; nothing is no map. "
            f"*labels*: accuracy on points without one, {LABELS} labels a class; nothing is the "
            "nearest labelled point. *factors*: share of the squared deviation from the mean row "
            "explained by two non-negative factors of columns whose least entry is zero; nothing "
            "is the mean row. *clusters*: normalised mutual information with the classes, their "
            "number given; nothing is one cluster.",
            *verdicts(found),
        ],
    )


if __name__ == "__main__":
    main()
