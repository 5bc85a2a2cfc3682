"""Spectral regression beside the eigenproblems it replaces: errors and times.

    python benchmarks/spectral_regression.py                    # digits of scikit-learn
    python benchmarks/spectral_regression.py --usps             # also USPS, from ../shared/data
    python benchmarks/spectral_regression.py --million          # also a million samples
    python benchmarks/spectral_regression.py --usps --data PATH --sizes 1500 3000

Every part writes a table of its own into docs/tables. Times are of the
processor; set OMP_NUM_THREADS=1 for one thread.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from tables import write_csv

from sdpdr import LDA, MVU, SpectralRegression, datasets, extend
from sdpdr.families.regress.kernel import choose_kernel
from sdpdr.families.unfold.quality import procrustes

DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
SIZES = (1500, 3000, 4500, 7291)
PRINTED = {
    1500: (10.61, 6.58, 5.88, 16.3),
    3000: (9.77, 5.53, 5.38, 25.7),
    4500: (9.52, 5.53, 4.88, 31.4),
    7291: (10.26, 4.83, 4.04, 41.3),
}
COMMAND = "python benchmarks/spectral_regression.py"


def processor(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call returns, and the CPU seconds that it took."""
    begin = time.process_time()
    return call(), time.process_time() - begin


def nearest_error(train: np.ndarray, y: np.ndarray, test: np.ndarray, truth: np.ndarray) -> float:
    """Error of the nearest neighbour in percent."""
    return 100.0 * float(np.mean(KNeighborsClassifier(1).fit(train, y).predict(test) != truth))


def class_responses(y: np.ndarray) -> np.ndarray:
    """Orthonormal responses of classes, orthogonal to the constant."""
    return extend.graph_embedding(extend.class_pencil(y), np.unique(y).size - 1).vectors


def kernel_discriminants(kernel: np.ndarray, y: np.ndarray, ridge: float) -> np.ndarray:
    """Kernel discriminant analysis by eigendecompositions, the way it is usually done."""
    values, vectors = np.linalg.eigh(kernel)
    values = np.maximum(values, 0.0)
    Y = class_responses(y)
    scale = np.sqrt(values**2 + ridge)
    left = (vectors * (values / scale)).T @ Y
    directions, _, _ = np.linalg.svd(left, full_matrices=False)
    return np.asarray((vectors / scale) @ directions)


def digits() -> None:
    """Discriminants of digits, linear, smooth and with kernels."""
    X, y = load_digits(return_X_y=True)
    rows = []
    for per_class in (5, 10, 20, 40):
        found: dict[str, list[float]] = {}
        for split in range(20):
            rng = np.random.default_rng(split)
            train = np.concatenate(
                [rng.permutation(np.flatnonzero(y == c))[:per_class] for c in range(10)]
            )
            test = np.setdiff1d(np.arange(len(y)), train)
            made: dict[str, Any] = {
                "all 64 pixels": (X, X),
                "LDA, no ridge": SpectralRegression(alpha=0.0),
                "SR, ridge by leave-one-out": SpectralRegression(alpha="loo"),
                "RDA, direct, the same ridge": LDA(way="direct"),
                "SR, smooth": SpectralRegression(alpha=30.0, penalty=extend.grid_laplacian((8, 8))),
                "KSR, by leave-one-out": SpectralRegression(kernel="rbf", alpha="loo"),
            }
            for name, learner in made.items():
                if isinstance(learner, tuple):
                    inside, outside = X[train], X[test]
                else:
                    if isinstance(learner, LDA):
                        learner.set_params(alpha=made["SR, ridge by leave-one-out"].alpha_)
                    learner.fit(X[train], y[train])
                    inside, outside = learner.transform(X[train]), learner.transform(X[test])
                error = nearest_error(inside, y[train], outside, y[test])
                found.setdefault(name, []).append(error)
        rows.append((per_class, found))
    names = list(rows[0][1])
    write_csv(
        "spectral_digits",
        ["training images of each digit", *names],
        [
            [k, *(f"{np.mean(f[name]):.1f} ± {np.std(f[name]):.1f}" for name in names)]
            for k, f in rows
        ],
        command=COMMAND,
        notes=[
            "Error of the nearest neighbour in percent on all other digits of scikit-learn, mean "
            "and standard deviation over 20 splits (seeds 0 to 19). Discriminants without a ridge "
            "overfit. Directly and by regression they span one space, in which distances differ. "
            "Kernels are best. Smooth basis images win nothing here: eight pixels a side are too "
            "coarse for it."
        ],
    )


def usps(folder: Path, sizes: list[int]) -> None:
    """Errors and times on USPS, beside the printed ones."""
    stored = np.load(folder / "usps_9298_16x16.npz")
    X = stored["X"].reshape(len(stored["X"]), -1) / 10000.0
    y, n_train = stored["y"].ravel(), int(stored["n_train"])
    test, truth = X[n_train:], y[n_train:]
    few = X[:1000]
    typical = 2.0 * float(np.mean(np.var(few, axis=0))) * X.shape[1]
    rows = []
    for n in sizes:
        train, labels = X[:n], y[:n]
        Y = class_responses(labels)
        choice = choose_kernel(
            partial(rbf_kernel, train[:1500], None),
            class_responses(labels[:1500]),
            [w / typical for w in (0.5, 1.0, 2.0, 4.0, 8.0)],
        )
        kernel = rbf_kernel(train, gamma=choice.gamma)
        between = rbf_kernel(test, train, gamma=choice.gamma)
        linear = LDA(alpha=1e-6).fit(train, labels)
        lda = nearest_error(linear.transform(train), labels, linear.transform(test), truth)
        fitted, ksr_time = processor(partial(extend.fit_kernel, kernel, Y, choice.delta))
        ksr = nearest_error(fitted(kernel), labels, fitted(between), truth)
        coef, kda_time = processor(partial(kernel_discriminants, kernel, labels, choice.delta))
        kda = nearest_error(kernel @ coef, labels, between @ coef, truth)
        rows.append((n, lda, kda, ksr, kda_time, ksr_time, choice))
        print(
            f"{n}: LDA {lda:.2f} KDA {kda:.2f} KSR {ksr:.2f}, {kda_time:.1f} s / {ksr_time:.1f} s"
        )
    write_csv(
        "spectral_usps",
        [
            "training images",
            "LDA",
            "printed",
            "KDA",
            "printed",
            "KSR",
            "printed",
            "KDA / KSR time",
            "printed",
        ],
        [
            [
                n,
                f"{lda:.2f}",
                PRINTED[n][0] if n in PRINTED else "",
                f"{kda:.2f}",
                PRINTED[n][1] if n in PRINTED else "",
                f"{ksr:.2f}",
                PRINTED[n][2] if n in PRINTED else "",
                f"{slow / fast:.1f} ({slow:.1f} s / {fast:.1f} s)",
                PRINTED[n][3] if n in PRINTED else "",
            ]
            for n, lda, kda, ksr, slow, fast, _ in rows
        ],
        command=f"{COMMAND} --usps",
        notes=[
            "Error in percent of the nearest neighbour on the 2007 test images, trained on the "
            "first n of 7291. The width of the Gaussian and the ridge are chosen by exact "
            "leave-one-out on the first 1500; the thesis took the width that was best for a "
            "support vector machine on the test images, and the ridge by cross-validation, "
            "which is not ours to repeat. Nor is it said which classifier and which order of "
            "the images it used: which images are the first n matters most for small n. Kernel "
            "discriminant analysis has the same width and ridge, by one symmetric "
            "eigendecomposition and a singular value decomposition of as many columns as "
            "classes, which LAPACK does faster than the ratio of operations (27) says."
        ],
    )


def million() -> None:
    """Ridges of a million samples, sparse and dense."""
    rng = np.random.default_rng(0)
    n, m = 1_000_000, 100
    rows = []
    A = rng.standard_normal((m, 3))
    for kind in ("sparse", "dense"):
        if kind == "sparse":
            X: Any = sp.random_array((n, m), density=0.05, format="csr", random_state=rng)
            stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
        else:
            X = rng.standard_normal((n, m))
            stored = X.nbytes
        Y = X @ A + 0.1 * rng.standard_normal((n, 3))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        fitted, seconds = processor(partial(extend.ridge, X, Y, 1.0))
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        error = float(np.max(np.abs(fitted.coef - A)))
        megabytes = [f"{stored / 2**20:.0f}", f"{max(grown, 0) / 2**20:.0f}"]
        rows.append([kind, f"{seconds:.1f}", *megabytes, f"{error:.1e}"])
        print(rows[-1])
        del X, Y
    write_csv(
        "spectral_million",
        ["data", "seconds", "MiB of data", "MiB more at the peak", "largest error of A"],
        rows,
        command=f"{COMMAND} --million",
        notes=[
            "A million samples of 100 features, three responses, ridge 1, one thread. Sparse data "
            "(one entry in twenty) stay sparse. Memory counts only above the peak of earlier rows."
        ],
    )


def roll() -> None:
    """New points of an unfolded roll."""
    rows: dict[str, list[float]] = {}
    for seed in range(10):
        X, t = datasets.swiss_roll(700, seed=seed, height=10.0)
        truth = np.column_stack([0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t)), X[:, 1]])
        learned = MVU(n_neighbors=5, connect="mst").fit(X[:300])
        Y = learned.embedding_
        rows.setdefault("in sample", []).append(procrustes(truth[:300], Y))
        for kind in ("kernel", "barycentric", "linear"):
            found = extend.fit_extension(X[:300], Y, kind)
            rows.setdefault(kind, []).append(procrustes(truth[300:], found(X[300:])))
        near = NearestNeighbors(n_neighbors=1).fit(X[:300]).kneighbors(X[300:])[1][:, 0]
        rows.setdefault("nearest point's place", []).append(procrustes(truth[300:], Y[near]))
    inside = np.array(rows["in sample"])
    write_csv(
        "extension_roll",
        ["map", "median distance from the truth", "ratio to in sample: median", "largest"],
        [
            [
                name,
                f"{statistics.median(values):.3f}",
                f"{np.median(values / inside):.2f}",
                f"{np.max(values / inside):.2f}",
            ]
            for name, values in ((k, np.array(v)) for k, v in rows.items())
        ],
        command=COMMAND,
        notes=[
            "Procrustes distance from arc length and height of a swiss roll of height 10, 300 "
            "points unfolded with five neighbours (`sdpdr.MVU`), 400 new ones; seeds 0 to 9. "
            "The ratio compares new points with those of the fit, seed by seed."
        ],
    )


def main() -> None:
    """Write the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder with usps_9298_16x16.npz")
    parser.add_argument("--usps", action="store_true")
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--only", choices=["roll", "digits", "none"])
    asked = parser.parse_args()
    if asked.only in (None, "roll"):
        roll()
    if asked.only in (None, "digits"):
        digits()
    if asked.usps:
        usps(asked.data, asked.sizes)
    if asked.million:
        million()


if __name__ == "__main__":
    main()
