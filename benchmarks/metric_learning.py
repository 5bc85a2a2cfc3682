"""Xing's metric beside metric-learn's MMC on data of scikit-learn: objectives, gaps, seconds.

    python benchmarks/metric_learning.py              # rewrites benchmarks/METRIC.md
    python benchmarks/metric_learning.py --pairs 200 --repeats 1 --data iris wine

metric-learn 0.7 does not run with scikit-learn 1.8 or later. An environment of its own will do:

    python -m venv metric
    metric/bin/pip install -e . metric-learn "scikit-learn<1.8"
    metric/bin/python benchmarks/metric_learning.py

Without metric-learn only our own lines are written.

Both are given the same standardised points and the same random pairs of each kind. Both solve

    minimise  sum over similar pairs of d^2   subject to   sum over dissimilar pairs of d >= 1,

and since MMC fixes the scale in another way, every metric is scaled until the constraint holds with
equality; that changes nothing else. Each objective is then compared with our proven lower bound of
the optimum, so that "above the bound" is at most the true suboptimality plus our own gap.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sdpdr import XingMetric
from sdpdr.base.files import write_text
from sdpdr.metric import Pairs, pairs_from_labels

try:
    from metric_learn import MMC
except ImportError:
    MMC = None

RESULTS = Path(__file__).with_name("METRIC.md")
DATA: dict[str, tuple[Callable[..., Any], int | None]] = {
    "iris": (load_iris, None),
    "wine": (load_wine, None),
    "breast cancer": (load_breast_cancer, None),
    "digits": (load_digits, 20),
}
# How MMC is asked: as it comes, from the inverse covariance, and with patience.
ASKED: dict[str, dict[str, Any]] = {
    "MMC": {},
    "MMC, init covariance": {"init": "covariance"},
    "MMC, tol 1e-8, 2000 iterations": {"tol": 1e-8, "max_iter": 2000},
}
ASKED_DIAGONAL: dict[str, dict[str, Any]] = {
    "MMC": {"diagonal": True},
    "MMC, tol 1e-8, 1000 iterations": {"diagonal": True, "tol": 1e-8, "max_iter": 1000},
}


@dataclass(frozen=True)
class Line:
    """One way to learn a metric from one set of pairs."""

    data: str
    form: str
    method: str
    objective: float
    bound: float
    seconds: float
    iterations: int | None

    @property
    def above(self) -> float:
        """Objective above the bound, relatively."""
        return self.objective / self.bound - 1.0


def pairs_of(name: str, n_pairs: int) -> Pairs:
    """Random pairs of standardised points."""
    load, components = DATA[name]
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    if components is not None:
        X = PCA(components, random_state=0).fit_transform(X)
    return pairs_from_labels(X, y, n_pairs, seed=0)


def objective(components: np.ndarray, pairs: Pairs) -> float:
    """Of the metric scaled until dissimilar pairs have distances of sum one."""
    near = np.linalg.norm(pairs.differences("similar") @ components.T, axis=1)
    far = np.linalg.norm(pairs.differences("dissimilar") @ components.T, axis=1)
    return float(np.sum(near**2) / np.sum(far) ** 2)


def timed(fit: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """The last result, and the median of the seconds, of processor time."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = fit()
        seconds.append(time.process_time() - start)
    return result, statistics.median(seconds)


def measure(name: str, diagonal: bool, arguments: argparse.Namespace) -> list[Line]:
    """All ways on one set of pairs; ours first."""
    pairs = pairs_of(name, arguments.pairs)
    index = np.vstack([pairs.similar, pairs.dissimilar])
    points = pairs.points[index]
    sign = np.repeat([1, -1], [len(pairs.similar), len(pairs.dissimilar)])
    form = "diagonal" if diagonal else "full"
    lines = []
    for method, tol in (("sdpdr", arguments.tol), ("sdpdr, tol 1e-3", 1e-3)):
        learner = XingMetric(diagonal=diagonal, tol=tol)
        found, seconds = timed(partial(learner.fit, points, sign), max(arguments.repeats, 5))
        bound = lines[0].bound if lines else found.bound_
        value = objective(found.components_, pairs)
        lines.append(Line(name, form, method, value, bound, seconds, found.n_iter_))
    if MMC is None:
        return lines
    for method, options in (ASKED_DIAGONAL if diagonal else ASKED).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, seconds = timed(partial(MMC(**options).fit, points, sign), arguments.repeats)
        value = objective(theirs.components_, pairs)
        count = getattr(theirs, "n_iter_", None)
        lines.append(Line(name, form, method, value, bound, seconds, count))
        print(lines[-1], flush=True)
    return lines


def table(lines: list[Line]) -> str:
    """Lines of one form as a table of Markdown."""
    rows = [
        "| data | method | objective | above the bound | iterations | seconds, times ours |",
        "|---|---|---|---|---|---|",
    ]
    ours = {line.data: line.seconds for line in lines if line.method == "sdpdr"}
    for line in lines:
        count = "" if line.iterations is None else str(line.iterations)
        times = line.seconds / ours[line.data]
        ratio = f"{times:.2g}" if times < 100.0 else f"{times:.0f}"
        if line.method == "sdpdr":
            ratio = f"1 ({1e3 * line.seconds:.0f} ms)"
        rows.append(
            f"| {line.data} | {line.method} | {line.objective:.6g} | {100 * line.above:.2g} % "
            f"| {count} | {ratio} |"
        )
    return "\n".join(rows)


def report(full: list[Line], diagonal: list[Line], arguments: argparse.Namespace) -> str:
    """The page."""
    packages = ["sdpdr", "numpy", "scikit-learn", *(["metric-learn"] if MMC else [])]
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    missing = "" if MMC else "\nmetric-learn was not installed, so its lines are missing.\n"
    command = "python benchmarks/metric_learning.py"
    return f"""# Xing's metric, beside metric-learn's MMC

Written by `{command}`, which says what is compared and how.
{arguments.pairs} random pairs of each kind, standardised features (digits: 20 principal
components). Our tolerance is {arguments.tol:g}; MMC's own is 1e-3 where nothing is said.
Seconds are of processor time, the median of several calls.
{versions}; Python {platform.python_version()}.
{missing}
## Full metrics

{table(full)}

## Diagonal metrics

{table(diagonal)}

"Above the bound" is how far the objective lies above our proven lower bound of the optimum. All
metrics are first scaled until dissimilar pairs have distances of sum one.
"""


def main() -> None:
    """Read the command line, measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tol", type=float, default=1e-8)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if MMC is None:
        print('metric-learn is not installed: pip install metric-learn "scikit-learn<1.8"')
    full, diagonal = (
        [line for name in arguments.data for line in measure(name, form, arguments)]
        for form in (False, True)
    )
    write_text(arguments.out, report(full, diagonal, arguments))
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
