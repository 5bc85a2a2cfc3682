"""Isometric separation maps: the thesis's claims tried on data that can be had.

Two parts, either can be asked for alone::

    python benchmarks/separation.py roll classify

*roll*: a swiss roll with two and three classes at a fixed rank. Of all factors with r columns that
separate the classes, the one of least relative distance error is sought; what is found is a
witness, not a bound. *classify*: few labels on scikit-learn's breast cancer data, beside support
vector machines on standardised features.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Gram, Isometry, Separation, Slack
from sdpdr.families.unfold.labelled import labelled
from sdpdr.linalg import SquaredEdgeLengths
from sdpdr.program import Factor, Point
from sdpdr.solvers import LowRank

RESULTS = Path(__file__).with_suffix(".json")
LABELS, POINTS, SPLITS = 24, 120, 18


def roll_labels(t, h, classes):
    """Two classes as on a chessboard, three at random: no line on the sheet separates them."""
    if classes == 3:
        return np.random.default_rng(1).integers(3, size=t.size)
    arc = 0.5 * (t * np.sqrt(1.0 + t * t) + np.arcsinh(t))
    return ((arc > np.median(arc)).astype(int) + (h > 10.5)) % 2


def roll(n, classes, rank, limit):
    """Least relative distance error of a separating map of one rank, as far as it is found."""
    X, t = sdpdr.datasets.swiss_roll(n, seed=0)
    y = roll_labels(t, X[:, 1], classes)
    graph = graphs.knn(X, 5)
    known = labelled(graph, y)
    margin = known.default_margin
    rows = Separation(known.codes, known.anchors, margin)
    model = Gram(n) + Isometry(graph, Slack(1.0, relative=True)) + rows
    begin = time.perf_counter()
    unfolded = sdpdr.solve(methods.mvu(graph), "lowrank").embedding(2)
    start = first_factor(unfolded, known, margin, rank) if classes == 2 else None
    solver = LowRank(options={"engine": "general", "rank": rank, "max_rank": rank})
    solution = sdpdr.solve(model, solver, start=start, time_limit=limit, tol=1e-5)
    R = solution.gram().factor
    change = SquaredEdgeLengths(n, graph.edges).apply_factor(R) / graph.sqdist
    scores = R @ R[known.anchors].T
    side = np.where(known.codes[:, None] == known.codes[known.anchors][None], 1.0, -1.0)
    return {
        "n": n,
        "edges": graph.m,
        "classes": classes,
        "rank": rank,
        "distance error": float(np.sqrt(np.mean((np.sqrt(change) - 1.0) ** 2))),
        "wrong side": float(np.mean(np.any(side * scores <= 0.0, axis=1))),
        "least margin": float(np.min(side * scores) / margin),
        "status": solution.status.name,
        "seconds": time.perf_counter() - begin,
    }


def first_factor(unfolded, known, margin, rank):
    """The unfolded sheet with an anchor at the origin, lifted by its class; a little noise."""
    R = 0.01 * np.sqrt(margin) * np.random.default_rng(0).standard_normal((len(unfolded), rank))
    R[:, :2] += unfolded - unfolded[known.anchors[0]]
    if rank > 2:
        side = np.where(known.codes == known.codes[known.anchors[0]], 1.0, -1.0)
        R[:, 2] += np.sqrt(margin) * side
    return Point({"K": Factor(R)})


def classify(seed):
    """Share of unlabelled points classified correctly, on one random choice of points."""
    X, y = load_breast_cancer(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(y.size)[:POINTS]
    Z, y = StandardScaler().fit_transform(X[chosen]), y[chosen]
    known = np.where(np.arange(POINTS) < LABELS, y, -1)
    found = {"seed": seed}
    for k, margin in ((5, None), (5, "half"), (10, "half")):
        begin = time.perf_counter()
        model = sdpdr.ISM(n_neighbors=k, margin=margin, connect="mst", solver="sdpa", tol=1e-4).fit(
            Z, known
        )
        name = f"ISM, {k} neighbours, {'half the largest' if margin else 'default'} margin"
        found[name] = {
            "test": float(np.mean(model.transduction_[LABELS:] == y[LABELS:])),
            "train": float(np.mean(model.transduction_[:LABELS] == y[:LABELS])),
            "dimension": model.separating_dimension_,
            "gap": float(abs(model.solution_.gap)),
            "seconds": time.perf_counter() - begin,
        }
    grid = {"C": [0.1, 1.0, 10.0, 100.0]}
    for kernel in ("linear", "rbf"):
        svm = GridSearchCV(SVC(kernel=kernel), grid, cv=3).fit(Z[:LABELS], y[:LABELS])
        found[f"SVM, {kernel}, standardised, C by cross-validation"] = {
            "test": float(svm.score(Z[LABELS:], y[LABELS:])),
            "train": float(svm.score(Z[:LABELS], y[:LABELS])),
        }
    raw = SVC(kernel="rbf", gamma=0.5).fit(X[chosen[:LABELS]], y[:LABELS])
    found["SVM, rbf of width 1, raw features"] = {
        "test": float(raw.score(X[chosen[LABELS:]], y[LABELS:])),
        "train": float(raw.score(X[chosen[:LABELS]], y[:LABELS])),
    }
    return found


def main() -> None:
    """Run the parts named and keep their results in JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="+", choices=["roll", "classify"])
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a run of the roll")
    parser.add_argument("--sizes", type=int, nargs="+", default=[200, 1500])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 3])
    arguments = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if "classify" in arguments.parts:
        warnings.simplefilter("ignore")
        for seed in range(SPLITS):
            keep(results, "classify", classify(seed), ("seed",))
    if "roll" in arguments.parts:
        for n in arguments.sizes:
            for classes in arguments.classes:
                for rank in arguments.ranks:
                    found = roll(n, classes, rank, arguments.limit)
                    keep(results, "roll", found, ("n", "classes", "rank"))


def keep(results, part, found, keys):
    """Put a result in the place of an older one, and write all to the file."""
    older = [r for r in results.get(part, []) if any(r[k] != found[k] for k in keys)]
    results[part] = [*older, found]
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")
    print(found, flush=True)


if __name__ == "__main__":
    main()
