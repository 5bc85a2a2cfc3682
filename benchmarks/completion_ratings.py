"""Ratings of MovieLens 100k completed, beside offsets alone and alternating least squares.

    python benchmarks/completion_ratings.py --data ../shared/data/ml-100k   # rewrites its table

The table is docs/tables/ratings.rst. Where the data set is absent, ratings of the same shape are
made by a seed, and the table says so.

A fifth of the ratings is held back. Alternating least squares is our own, a ridge regression for
each user and each item in turn, on what offsets leave; stochastic gradient descent is the
factorization of the Surprise library with its default numbers (100 factors, 20 passes, steps of
0.005, price 0.02). The data set is not part of this project:
https://grouplens.org/datasets/movielens/100k. It may be used for research only and must not be
redistributed.
"""

from __future__ import annotations

import argparse
import gzip
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from journal import processor_seconds
from sklearn.model_selection import GridSearchCV, KFold
from tables import write_table

import sdpdr
from sdpdr.errors import SdpdrWarning, UnobservedWarning

DATA = Path(__file__).parents[2] / "shared" / "data" / "ml-100k" / "u.data.gz"
USERS, ITEMS, RATINGS = 943, 1682, 100_000
ROUND = 20
# Of the least penalty, for cross-validation.
MULTIPLES = (1.4, 2.0, 2.8, 4.0, 5.6)
Predicted = tuple[np.ndarray, str]


def triples_of(path: Path, seed: int = 0) -> tuple[np.ndarray, str]:
    """Users, items and ratings, and where they come from."""
    if path.exists():
        with gzip.open(path) as file:
            return np.loadtxt(file)[:, :3], "MovieLens 100k"
    rng = np.random.default_rng(seed)
    popular = np.sort(rng.pareto(1.0, ITEMS) + 0.05)[::-1]
    active = rng.pareto(1.0, USERS) + 0.3
    chance = np.log(np.outer(active, popular)) + rng.gumbel(size=(USERS, ITEMS))
    places = np.argpartition(-chance.ravel(), RATINGS)[:RATINGS]
    i, a = np.divmod(places, ITEMS)
    U, V = rng.standard_normal((USERS, 5)), rng.standard_normal((ITEMS, 5))
    scores = 3.5 + 0.5 * rng.standard_normal(USERS)[i] + 0.5 * rng.standard_normal(ITEMS)[a]
    scores += 0.25 * np.sum(U[i] * V[a], axis=1) + 0.8 * rng.standard_normal(RATINGS)
    ratings = np.clip(np.round(scores), 1, 5)
    return np.column_stack([i, a, ratings]), "ratings made by a seed (the data set is absent)"


def offsets(
    i: np.ndarray, a: np.ndarray, values: np.ndarray, price: float = 5.0
) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression on the user and the item, one after the other."""
    b, d = np.zeros(i.max() + 1), np.zeros(a.max() + 1)
    for _ in range(ROUND):
        d = np.bincount(a, values - b[i], d.size) / (np.bincount(a, minlength=d.size) + price)
        b = np.bincount(i, values - d[a], b.size) / (np.bincount(i, minlength=b.size) + price)
    return b, d


def alternating(
    seen: np.ndarray, held: np.ndarray, k: int = 40, price: float = 16.0, seed: int = 0
) -> np.ndarray:
    """Least squares for users and items in turn, on what offsets leave."""
    i, a = seen[:, 0].astype(int), seen[:, 1].astype(int)
    mean = seen[:, 2].mean()
    b, d = offsets(i, a, seen[:, 2] - mean)
    left = seen[:, 2] - mean - b[i] - d[a]
    rng = np.random.default_rng(seed)
    F = [0.1 * rng.standard_normal((size, k)) for size in (b.size, d.size)]
    sides = [(i, a), (a, i)]
    groups = [np.split(np.argsort(own, kind="stable"), np.cumsum(np.bincount(own))[:-1])
              for own, _ in sides]  # fmt: skip
    for _ in range(ROUND):
        for side, (_, other) in enumerate(sides):
            for row, rated in enumerate(groups[side]):
                G = F[1 - side][other[rated]]
                F[side][row] = np.linalg.solve(G.T @ G + price * np.eye(k), G.T @ left[rated])
    u, v = held[:, 0].astype(int), held[:, 1].astype(int)
    return mean + b[u] + d[v] + np.sum(F[0][u] * F[1][v], axis=1)


def descent(seen: np.ndarray, held: np.ndarray, k: int = 100, seed: int = 0) -> np.ndarray:
    """Stochastic gradient steps in the order of the ratings, as the Surprise library takes them."""
    i, a = seen[:, 0].astype(int), seen[:, 1].astype(int)
    mean, rng = seen[:, 2].mean(), np.random.default_rng(seed)
    b, d = np.zeros(i.max() + 1), np.zeros(a.max() + 1)
    U, V = (0.1 * rng.standard_normal((size, k)) for size in (b.size, d.size))
    step, price = 0.005, 0.02
    for _ in range(ROUND):
        for u, v, rating in zip(i, a, seen[:, 2], strict=True):
            missed = rating - mean - b[u] - d[v] - U[u] @ V[v]
            b[u] += step * (missed - price * b[u])
            d[v] += step * (missed - price * d[v])
            U[u], V[v] = (
                U[u] + step * (missed * V[v] - price * U[u]),
                V[v] + step * (missed * U[u] - price * V[v]),
            )
    u, v = held[:, 0].astype(int), held[:, 1].astype(int)
    return mean + b[u] + d[v] + np.sum(U[u] * V[v], axis=1)


def only_offsets(seen: np.ndarray, held: np.ndarray) -> np.ndarray:
    """The mean, and what users and items differ from it."""
    mean = seen[:, 2].mean()
    b, d = offsets(seen[:, 0].astype(int), seen[:, 1].astype(int), seen[:, 2] - mean)
    return mean + b[held[:, 0].astype(int)] + d[held[:, 1].astype(int)]


def ours(**parameters) -> Callable[[np.ndarray, np.ndarray], Predicted]:
    """An estimator's predictions, and what is proved of it."""

    def run(seen: np.ndarray, held: np.ndarray) -> Predicted:
        model = sdpdr.RatingMMMF(**parameters).fit(seen[:, :2], seen[:, 2])
        said = f"{model.gap_:.0e}, {model.U_.shape[1]} columns"
        return model.predict(held[:, 0], held[:, 1]), said

    return run


def cross_validated(seen: np.ndarray, held: np.ndarray) -> Predicted:
    """The penalty by cross-validation in three parts."""
    pairs, ratings = seen[:, :2], seen[:, 2]
    matrix = sp.csr_array((ratings, pairs.astype(int).T))
    cs = sdpdr.RatingMMMF().least_price(matrix) * np.array(MULTIPLES)
    model = GridSearchCV(sdpdr.RatingMMMF(), {"c": cs}, cv=KFold(3, shuffle=True, random_state=0))
    best = model.fit(pairs, ratings).best_estimator_
    said = f"{best.gap_:.0e}, {best.U_.shape[1]} columns"
    return best.predict(held[:, 0], held[:, 1]), said


WAYS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray | Predicted]] = {
    "mean and offsets": only_offsets,
    "alternating least squares, 40 factors": alternating,
    "stochastic gradient, 100 factors": descent,
    "RatingMMMF()": ours(),
    'RatingMMMF(norm="max")': ours(norm="max", time_limit=None),
    'RatingMMMF(loss="hinge")': ours(loss="hinge", time_limit=None),
    "GridSearchCV(RatingMMMF(), ...)": cross_validated,
}


def main() -> None:
    """Read the command line, run and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    path = options.data / "u.data.gz" if options.data.is_dir() else options.data
    if options.data != DATA and not path.exists():
        parser.error(f"there is no {path}; without --data, ratings made by a seed will do.")
    triples, source = triples_of(path)
    # Numbers from zero on, so that all ways know the same users and items.
    for column in (0, 1):
        triples[:, column] = np.unique(triples[:, column], return_inverse=True)[1]
    order = np.random.default_rng(options.seed).permutation(len(triples))
    held, seen = np.split(triples[order], [len(triples) // 5])
    known = np.all([np.isin(held[:, k], seen[:, k]) for k in (0, 1)], axis=0)
    held = held[known]
    rows = []
    for name, run in WAYS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnobservedWarning)
            warnings.simplefilter("default", SdpdrWarning)
            start = processor_seconds()
            found = run(seen, held)
            spent = processor_seconds() - start
        predicted, said = found if isinstance(found, tuple) else (found, "")
        missed = np.clip(predicted, 1, 5) - held[:, 2]
        figures = (np.sqrt(np.mean(missed**2)), np.mean(np.abs(missed)), spent)
        rows.append([f"``{name}``" if "MMMF" in name else name, *("%.3f", "%.3f", "%.1f"), said])
        rows[-1][1:4] = [form % figure for form, figure in zip(rows[-1][1:4], figures, strict=True)]
        print(*rows[-1], sep="   ", flush=True)
    write_table(
        "ratings",
        ["way", "RMSE", "mean absolute error", "seconds", "gap proved"],
        rows,
        command="python benchmarks/completion_ratings.py",
        notes=[
            f"{source}: {len(seen)} ratings are seen and {len(held)} held back (seed "
            f"{options.seed}; {int(np.sum(~known))} of users or items that are not seen are left "
            "out). Seconds of processor time on one core of a machine shared with other work. "
            "Our own alternating least squares (20 rounds; price 16 for factors, of 8 to 25 the "
            "best on the ratings held back; 5 for offsets) is NumPy; the stochastic gradient is "
            "that of the Surprise library with its defaults, in plain Python, so its seconds say "
            "nothing of a compiled one."
        ],
    )


if __name__ == "__main__":
    main()
