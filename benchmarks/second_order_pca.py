"""Second-order PCA on USPS digits: errors of a nearest-neighbour classifier, and a certificate.

    python benchmarks/second_order_pca.py             # rewrites docs/tables/second_order_pca*.csv
    python benchmarks/second_order_pca.py --components 2 3 --folds 3
    python benchmarks/second_order_pca.py --tables pictures

The data are ``usps_9298_16x16.npz`` (X of shape (9298, 16, 16), y), which may not be distributed
with the project: pass the folder that holds it with --data. The first 400 images of each class are
taken. The thesis has 4000 images of a file of 11,000 and does not say which. The table of pictures
takes three sets of photographs from the same folder.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from tables import write_csv

import sdpdr
from sdpdr import bilinear
from sdpdr.families.sopca.bases import Bases

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
PER_CLASS = 400
# Table 4.2 of the Tong thesis, USPS: means of ten folds, and what it calls standard deviations.
PRINTED = {
    "Algorithm 1": (0.3553, 0.0995, 0.0485, 0.0385, 0.0375, 0.0377, 0.0398, 0.0405, 0.0428),
    "GLRAM": (0.3565, 0.0978, 0.0505, 0.0385, 0.0375, 0.0380, 0.0403, 0.0408, 0.0423),
    "2-D SVD": (0.3553, 0.1108, 0.0573, 0.0428, 0.0413, 0.0380, 0.0400, 0.0408, 0.0425),
}
PICTURES = {
    "teapot, full turn": "teapots_100_38x50.npz",
    "one face, many expressions": "frey_faces_28x20.npz",
    "statue, poses and light": "isomap_faces_32x32.npz",
}
Method = Callable[[np.ndarray, int], Bases]


def rounded(stack: np.ndarray, k: int) -> Bases:
    """Leading eigenvectors of the relaxation."""
    return bilinear.interior_point(stack, k, tol=1e-3).round(stack)


def polished(stack: np.ndarray, k: int) -> Bases:
    """The better of two ascents, from the rounded bases and from those of Algorithm 1."""
    starts = rounded(stack, k), bilinear.alternating(stack, k)
    ends = [bilinear.ascent(stack, k, start=(b.rows, b.columns), tol=1e-7) for b in starts]
    return max(ends, key=lambda b: b.value)


METHODS: dict[str, Method] = {
    "Algorithm 1": bilinear.alternating,
    "GLRAM": bilinear.glram,
    "2-D SVD": bilinear.two_d_svd,
    "relaxation, rounded": rounded,
    "relaxation, polished": polished,
}


def images(folder: Path, lowest: float, random: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """400 of each class, the first ones or random ones, grey from ``lowest`` (ink-free) to 1."""
    data = np.load(folder / "usps_9298_16x16.npz")
    y = data["y"]
    rng = np.random.default_rng(random)
    own = [np.flatnonzero(y == c) for c in range(10)]
    own = own if random is None else [rng.permutation(places) for places in own]
    chosen = np.concatenate([places[:PER_CLASS] for places in own])
    share = (data["X"][chosen] / 1e4 + 1.0) / 2.0
    return lowest + (1.0 - lowest) * share, y[chosen]


def folds(y: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """Test indices of each fold; every class is shuffled by one generator and dealt out."""
    rng = np.random.default_rng(0)
    dealt = [np.array_split(rng.permutation(np.flatnonzero(y == c)), n_folds) for c in np.unique(y)]
    return [np.concatenate([own[f] for own in dealt]) for f in range(n_folds)]


def error(bases: Bases, X: np.ndarray, y: np.ndarray, test: np.ndarray) -> float:
    """The error of the nearest neighbour among all other images, by Frobenius distance."""
    small = bases.transform(X).reshape(len(X), -1)
    train = np.setdiff1d(np.arange(len(X)), test)
    classifier = KNeighborsClassifier(1, algorithm="brute").fit(small[train], y[train])
    return float(np.mean(classifier.predict(small[test]) != y[test]))


def errors(X: np.ndarray, y: np.ndarray, k: int, n_folds: int) -> dict[str, list[float]]:
    """Errors of every method on every fold."""
    found: dict[str, list[float]] = {name: [] for name in METHODS}
    for test in folds(y, n_folds):
        train = np.setdiff1d(np.arange(len(X)), test)
        for name, method in METHODS.items():
            found[name].append(error(method(X[train], k), X, y, test))
    for name, values in found.items():
        print(f"k = {k}: {name:22s} {np.mean(values):.4f} +- {np.std(values):.4f}", flush=True)
    return found


def error_table(arguments: argparse.Namespace) -> None:
    """Errors beside the printed ones."""
    X, y = images(arguments.data, arguments.lowest, arguments.random)
    rows = []
    for k in arguments.components:
        found = errors(X, y, k, arguments.folds)
        row = [str(k)]
        for name, values in found.items():
            ours = f"{np.mean(values):.4f} ± {np.std(values):.4f}"
            printed = f" ({PRINTED[name][k - 2]:.4f})" if name in PRINTED and 2 <= k <= 10 else ""
            row.append(ours + printed)
        rows.append(row)
    write_csv(
        "second_order_pca",
        ["k", *(f"{name} (printed)" if name in PRINTED else name for name in METHODS)],
        rows,
        command="python benchmarks/second_order_pca.py",
        notes=[
            "Errors of the nearest neighbour in the Frobenius norm of "
            f":math:`A^\\top M_i B`, mean and standard deviation over {arguments.folds} folds, "
            "stratified, shuffled by ``default_rng(0)``; the bases come from the images of the "
            f"other folds. Grey values from {arguments.lowest:g} to 1, not centred.",
            "The images are the first 400 of each class among the 9298 of the training and test "
            "sets. The thesis used 4000 of another file, of 11,000, and does not say which. For "
            "k = 3 to 5 we agree within the standard deviation of a fold (2-D SVD, which is better "
            "here, nearly so); from k = 6 on all methods err less here, and for k = 2 more. "
            "Other choices of images (``--random 0``, ``1`` and ``2``) give Algorithm 1 errors of "
            "0.41 to 0.44 for k = 2, 0.091 to 0.108 for k = 3 and 0.039 to 0.045 for k = 8, so the "
            "choice explains the latter, but not k = 2.",
            "What the thesis prints as standard deviations, 0.0001 to 0.0004, are variances: their "
            "roots, 0.010 to 0.020, are the size of ours. Differences between methods are mostly "
            "smaller than that, and bases that keep more do not classify better.",
        ],
    )


def certificate_table(arguments: argparse.Namespace) -> None:
    """Gaps and CPU seconds on all 4000 images, k = 5."""
    X, _ = images(arguments.data, arguments.lowest, arguments.random)
    k, rows, best = 5, [], float("inf")
    runs = {
        "interior point, gap 1e-3": lambda: bilinear.interior_point(X, k, tol=1e-3),
        "interior point, gap 1e-6": lambda: bilinear.interior_point(X, k, tol=1e-6),
    }
    for name, run in runs.items():
        start = time.process_time()
        found = run()
        seconds = time.process_time() - start
        steps = len(found.history) - 1
        values = f"{found.value:.2f}", f"{found.bound:.2f}", f"{found.gap:.1e}"
        rows.append([name, *values, str(steps), f"{seconds:.1f}"])
        print(rows[-1], flush=True)
        best = min(best, found.bound)
    for name, method in METHODS.items():
        start = time.process_time()
        bases = method(X, k)
        seconds = time.process_time() - start
        kept = bases.kept(X)
        steps = str(len(bases.history)) if name in ("Algorithm 1", "GLRAM") else ""
        gap = f"{(best - kept) / kept:.1e}"
        rows.append([name, f"{kept:.2f}", f"{best:.2f}", gap, steps, f"{seconds:.1f}"])
        print(rows[-1], flush=True)
    write_csv(
        "second_order_pca_bound",
        ["", "value", "proven bound", "gap", "steps", "CPU seconds"],
        rows,
        command="python benchmarks/second_order_pca.py",
        notes=[
            "4000 USPS images of 16 x 16, k = 5, on one core. The value of the relaxation is F at "
            "the last point, that of bases is the share that they keep of "
            ":math:`\\sum_i |A^\\top M_i B|_{\\mathrm{tr}}`, beside the lowest bound found.",
        ],
    )


def picture_table(arguments: argparse.Namespace) -> None:
    """Photographs of other sizes: the bound, what is kept below it, and seconds."""
    rows = []
    for name, file in PICTURES.items():
        X = np.load(arguments.data / file)["X"].astype(float)
        X /= X.max()
        for k in (2, 5):
            start = time.process_time()
            found = bilinear.interior_point(X, k, tol=1e-5)
            seconds = time.process_time() - start
            first, rounded_bases = bilinear.alternating(X, k), found.round(X)
            ends = [
                bilinear.ascent(X, k, start=(b.rows, b.columns)) for b in (first, rounded_bases)
            ]
            values = first.value, rounded_bases.value, max(b.value for b in ends)
            below = [f"{(found.bound - value) / value:.1e}" for value in values]
            size = f"{len(X)} of {X.shape[1]} x {X.shape[2]}"
            steps = str(len(found.history) - 1)
            rows.append([name, size, str(k), *below, steps, f"{seconds:.1f}"])
            print(rows[-1], flush=True)
    head = ["", "size", "k", "Algorithm 1", "rounded", "polished", "steps", "CPU seconds"]
    write_csv(
        "second_order_pca_pictures",
        head,
        rows,
        command="python benchmarks/second_order_pca.py --tables pictures",
        notes=[
            "How far bases may be from the best, relatively: the proven bound against what they "
            "keep. The relaxation was solved to a gap of 1e-5 on one core."
        ],
    )


def wide_table(arguments: argparse.Namespace) -> None:
    """Tables of 250 rows with more and more columns: factors and noise, or heavy tails."""
    rows = []
    for columns in (256, 560, 1024):
        rng = np.random.default_rng(0)
        factors = rng.standard_normal((250, 20)) @ rng.standard_normal((20, columns))
        kinds = {
            "20 factors, noise": factors + 0.3 * rng.standard_normal(factors.shape),
            "Student's t, 2 degrees": rng.standard_t(2, factors.shape),
        }
        for name, X in kinds.items():
            start = time.process_time()
            fit = sdpdr.SOPCA().fit(X)
            seconds = time.process_time() - start
            gap = f"{fit.relaxation_.gap:.1e}"
            rows.append([name, str(columns), gap, str(fit.n_iter_), f"{seconds:.1f}"])
            print(rows[-1], flush=True)
    write_csv(
        "second_order_pca_wide",
        ["", "columns", "gap of the relaxation", "steps", "CPU seconds"],
        rows,
        command="python benchmarks/second_order_pca.py --tables wide",
        notes=["``SOPCA().fit`` of 250 rows, on one core."],
    )


TABLES = {
    "bound": certificate_table,
    "errors": error_table,
    "pictures": picture_table,
    "wide": wide_table,
}


def main() -> None:
    """Read the command line, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--components", type=int, nargs="+", default=list(range(2, 11)))
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--lowest", type=float, default=0.0, help="grey value without ink")
    parser.add_argument("--random", type=int, help="seed of a random choice of images")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    arguments = parser.parse_args()
    for name in arguments.tables:
        TABLES[name](arguments)


if __name__ == "__main__":
    main()
