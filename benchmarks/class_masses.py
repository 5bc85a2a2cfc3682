"""Class mass normalization beside the default of mixed label propagation, on even and uneven sets.

    python benchmarks/class_masses.py      # rewrites docs/tables/class_masses.rst

Five labels a class, drawn class by class or at random; priors of no kind, those of the labels,
chosen by leaving labels out, and the true ones.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale
from tables import write_table

import sdpdr
from sdpdr.datasets import s_curve, swiss_roll

Data = tuple[np.ndarray, np.ndarray]
LABELS = 5


def some(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> Data:
    """A sample."""
    chosen = np.random.default_rng(seed).permutation(len(y))[:n]
    return X[chosen], y[chosen]


def halves(data: tuple[np.ndarray, np.ndarray]) -> Data:
    """Classes below and above the median of what is measured."""
    X, t = data
    return X, (t > np.median(t)).astype(int)


def blobs(n: int, seed: int, shares: tuple[float, ...], width: float) -> Data:
    """Gaussian clouds in four columns, of uneven sizes."""
    sizes = [round(share * n) for share in shares]
    return datasets.make_blobs(sizes, 4, centers=None, cluster_std=width, random_state=seed)


def exclusive_or(n: int, seed: int) -> Data:
    """Quarters of a square."""
    X = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 2))
    return X, ((X[:, 0] > 0.0) ^ (X[:, 1] > 0.0)).astype(int)


def columns(n: int, seed: int, width: int, **options: Any) -> Data:
    """As scikit-learn makes tables for classification."""
    return datasets.make_classification(n, width, random_state=seed, **options)


def loaded(load: Callable[..., Any], scaled: bool = False) -> Callable[[int, int], Data]:
    """Samples of a set of scikit-learn."""
    X, y = load(return_X_y=True)
    return lambda n, seed: some(scale(X) if scaled else X, y, n, seed)


SETS: dict[str, Callable[[int, int], Data]] = {
    "halves of a roll": lambda n, s: halves(swiss_roll(n, seed=s)[:2]),
    "halves of an S": lambda n, s: halves(s_curve(n, seed=s)[:2]),
    "moons": lambda n, s: datasets.make_moons(n, noise=0.15, random_state=s),
    "circles": lambda n, s: datasets.make_circles(n, noise=0.1, factor=0.5, random_state=s),
    "exclusive or": exclusive_or,
    "iris": loaded(datasets.load_iris),
    "wine": loaded(datasets.load_wine, True),
    "breast cancer": loaded(datasets.load_breast_cancer, True),
    "digits": loaded(datasets.load_digits),
    "halves of diabetes": lambda n, s: some(*halves(datasets.load_diabetes(return_X_y=True)), n, s),
    "quantiles, 4 columns": lambda n, s: datasets.make_gaussian_quantiles(
        n_samples=n, n_features=4, n_classes=3, random_state=s
    ),
    "10 of 100 columns": lambda n, s: columns(n, s, 100, n_informative=10),
    "6 of 20 columns": lambda n, s: columns(n, s, 20, n_informative=6, n_classes=3),
    "hastie_10_2": lambda n, s: datasets.make_hastie_10_2(n, random_state=s),
    "6 of 20 columns, .85": lambda n, s: columns(n, s, 20, n_informative=6, weights=[0.85]),
    "moons, .84": lambda n, s: datasets.make_moons(
        (round(0.84 * n), round(0.16 * n)), noise=0.15, random_state=s
    ),
    "blobs, .73, .2, .07": lambda n, s: blobs(n, s, (0.73, 0.2, 0.07), 3.0),
    "blobs, .87, .13": lambda n, s: blobs(n, s, (0.87, 0.13), 3.0),
}


def drawn(y: np.ndarray, seed: int, evenly: bool) -> np.ndarray:
    """Points with labels, of two classes or more."""
    classes = np.unique(y)
    while True:
        order = np.random.default_rng(seed).permutation(len(y))
        if evenly:
            return np.concatenate([order[y[order] == c][:LABELS] for c in classes])
        if len(np.unique(y[order[: LABELS * len(classes)]])) == len(classes):
            return order[: LABELS * len(classes)]
        seed += 1000


def learned(X: np.ndarray, y: np.ndarray, known: np.ndarray, priors: Any) -> np.ndarray:
    """Classes of all points."""
    codes = np.unique(y, return_inverse=True)[1]
    given = np.full(len(y), -1)
    given[known] = codes[known]
    found = sdpdr.MixedLabelPropagation(priors=priors, unreached="mean").fit(X, given)
    return np.unique(y)[found.transduction_]


def left_out(X: np.ndarray, y: np.ndarray, known: np.ndarray, priors: Any) -> float:
    """Share of right labels, each left out."""
    right = []
    for k, point in enumerate(known):
        others = np.delete(known, k)
        if np.isin(y[point], y[others]):
            right.append(learned(X, y, others, priors)[point] == y[point])
    return float(np.mean(right))


def accuracies(X: np.ndarray, y: np.ndarray, known: np.ndarray) -> list[float]:
    """Of every way, on points without a label."""
    hidden = np.setdiff1d(np.arange(len(y)), known)
    true = tuple(np.bincount(np.unique(y[hidden], return_inverse=True)[1]) / hidden.size)
    plain, labels, best = (learned(X, y, known, priors) for priors in (None, "labels", true))
    gains = left_out(X, y, known, "labels") > left_out(X, y, known, None)
    nearest = KNeighborsClassifier(1).fit(X[known], y[known]).predict(X)
    ways = plain, labels, labels if gains else plain, best, nearest
    return [float(np.mean(way[hidden] == y[hidden])) for way in ways]


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--points", type=int, default=300)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, everything = [], []
    for evenly in (True, False):
        for name, make in SETS.items():
            runs = []
            for seed in range(arguments.seeds):
                X, y = make(arguments.points, seed)
                runs.append(accuracies(X, y, drawn(y, seed, evenly)))
            everything.append(np.mean(runs, axis=0))
            how = "of each class" if evenly else "at random"
            rows.append([name, how, *(f"{value:.3f}" for value in everything[-1])])
            print(rows[-1], flush=True)
    for how, part in (("of each class", slice(len(SETS))), ("at random", slice(len(SETS), None))):
        means = np.mean(everything[part], axis=0)
        rows.append(["mean", how, *(f"{value:.3f}" for value in means)])
    write_table(
        "class_masses",
        [
            "data",
            "labels drawn",
            "default",
            '``priors="labels"``',
            "by labels left out",
            "true priors",
            "nearest labelled point",
        ],
        rows,
        command="python benchmarks/class_masses.py",
        notes=[
            f"Accuracy on points without a label, mean of {arguments.seeds} seeds of "
            f"{arguments.points} points (iris and wine of all), {LABELS} labels a class, drawn of "
            "each class or at random out of all points. Chosen by labels left out is the better of "
            "the two columns before. True priors are the shares of classes among points without a "
            "label.",
        ],
    )


if __name__ == "__main__":
    main()
