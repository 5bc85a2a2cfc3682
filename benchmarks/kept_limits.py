"""How much of the clock solves of many kinds take under a time limit.

    python benchmarks/kept_limits.py
    python benchmarks/kept_limits.py --only noise roll --limits 1 5 --dry

What is timed is all of `sdpdr.solve`, or of a fit, after one solve that imports everything and
starts the first worker. A limit counts as kept where the clock goes on for no more than another
second, or a fifth of the limit, which proofs may take. With ``--as before`` the numbers are kept
under that name, to compare two versions: run this file with the other one on PYTHONPATH.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from numpy.typing import NDArray
from tables import write_table

import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.graphs import NeighborGraph
from sdpdr.solvers.processes import workers

RESULTS = Path(__file__).with_suffix(".json")
LIMITS = (0.3, 1.0, 5.0, 20.0)
# What proofs may take after the limit: seconds, or a share of it.
ALLOWED = (1.0, 0.2)
Array = NDArray[np.float64]
Solve = Callable[[float], Any]


def _roll(n: int) -> NeighborGraph:
    return graphs.knn(datasets.swiss_roll(n, seed=0)[0], n_neighbors=5, connect="mst")


def _noise(n: int, dimensions: int) -> Array:
    return np.random.default_rng(0).standard_normal((n, dimensions))


def _of_noise(n: int, dimensions: int) -> NeighborGraph:
    return graphs.knn(_noise(n, dimensions), n_neighbors=6)


def _model(model: Any, *given: str, **options: Any) -> Solve:
    return lambda limit: sdpdr.solve(model, *given, time_limit=limit, progress=False, **options)


def _fit(estimator: Callable[..., Any], *data: Any) -> Solve:
    return lambda limit: estimator(time_limit=limit).fit(*data).solution_


def _anchored() -> Solve:
    X, y = _noise(1000, 20), np.full(1000, np.nan)
    y[:5] = X[:5, 0]
    return _fit(sdpdr.AnchoredMVU, X, y)


def _separated() -> Solve:
    X = _noise(1000, 20)
    return _fit(sdpdr.ISM, X, (X[:, 0] > 0).astype(int))


def _acted() -> Solve:
    actions = np.random.default_rng(0).integers(0, 3, 299)
    return _fit(sdpdr.ARE, _noise(300, 10), actions)


def _completed(n: int = 400) -> Solve:
    X = datasets.swiss_roll(n, seed=0)[0]
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    known = np.triu(np.random.default_rng(0).random((n, n)) < 0.06, 1)
    return _fit(
        sdpdr.DistanceCompletion,
        np.where(known | known.T | np.eye(n, dtype=bool), distances, np.nan),
    )


def _theta(n: int = 100) -> Solve:
    X = cp.Variable((n, n), PSD=True)
    i, j = np.triu_indices(n, 1)
    joined = np.random.default_rng(0).random(i.size) < 0.3
    rows = [X[a, b] == 0 for a, b in zip(i[joined], j[joined], strict=True)]
    return _model(sdpdr.from_cvxpy(cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, *rows])))


def _cut(n: int = 400) -> Solve:
    W = np.triu(np.random.default_rng(0).random((n, n)) < 0.1, 1).astype(float)
    L = np.diag((W + W.T).sum(axis=1)) - W - W.T
    X = cp.Variable((n, n), PSD=True)
    return _model(sdpdr.from_cvxpy(cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])))


def _covariance(n: int = 30) -> Solve:
    root = _noise(2 * n, n)
    K = sdpdr.psd("K", n)
    return _model(sdpdr.maximize(sdpdr.log_det(K) - (root.T @ root / (2 * n) * K).sum()))


def _without_point(n: int = 60) -> Solve:
    root = _noise(n, n)
    X = cp.Variable((n, n), PSD=True)
    rows = [X[i, i + 1] == 0.1 * i for i in range(n - 1)]
    rows.append(cp.trace(root @ root.T @ X) == -1.0)
    return _model(sdpdr.from_cvxpy(cp.Problem(cp.Minimize(cp.trace(X)), rows)))


KINDS: dict[str, Callable[[], Solve]] = {
    "a path of 20 points": lambda: _model(methods.mvu(graphs.path(np.ones(20)))),
    "a roll, 1,500 points": lambda: _model(methods.mvu(_roll(1500))),
    "a roll, 6,000 points": lambda: _model(methods.mvu(_roll(6000))),
    "a roll, 600 points, all rounding": lambda: _model(methods.mvu(_roll(600)), rigorous=True),
    "a roll, 300 points, equal lengths": lambda: _model(methods.mvu(_roll(300), "equality")),
    "a roll, 1,500 points, 40 landmarks": lambda: _model(
        methods.mvu(_roll(1500)), form="landmark", landmarks=40
    ),
    "noise, 2,000 x 30": lambda: _model(methods.mvu(_of_noise(2000, 30))),
    "noise, 400 x 20, equal lengths": lambda: _model(methods.mvu(_of_noise(400, 20), "equality")),
    "noise, 8,000 x 60": lambda: _model(methods.mvu(_of_noise(8000, 60))),
    "clarabel, Gram matrix of order 150": lambda: _model(
        methods.mvu(_roll(150)), "clarabel", "gram"
    ),
    "clarabel, cliques of 600 points": lambda: _model(
        methods.mvu(_roll(600)), "clarabel", "chordal"
    ),
    "clarabel by cvxpy, order 100": lambda: _model(methods.mvu(_roll(100)), "clarabel", "cvxpy"),
    "scs, Gram matrix of order 250": lambda: _model(methods.mvu(_roll(250)), "scs", "gram"),
    "AnchoredMVU, noise, 1,000 x 20": _anchored,
    "ISM, noise, 1,000 x 20": _separated,
    "ARE, 300 states x 10, three actions": _acted,
    "DistanceCompletion, 400 points": _completed,
    "theta number of 100 nodes": _theta,
    "largest cut of 400 nodes": _cut,
    "inverse covariance of order 30": _covariance,
    "a program without a point, order 60": _without_point,
}


def main() -> None:
    """Measure, print, keep the numbers and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limits", type=float, nargs="+", default=LIMITS)
    parser.add_argument("--only", nargs="+", default=[""], help="kinds named so")
    parser.add_argument("--as", dest="name", default="now")
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    sdpdr.solve(methods.mvu(graphs.path(np.ones(3))), time_limit=60.0)
    workers.hire().close()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for kind, make in KINDS.items():
        if any(part in kind for part in args.only):
            solve = make()
            for limit in args.limits:
                found = measured(solve, limit)
                known.setdefault(args.name, {}).setdefault(kind, {})[f"{limit:g}"] = found
                print(f"{kind:38}{limit:6g}", *found, flush=True)
                if not args.dry:
                    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    if not args.dry:
        write(known)


def measured(solve: Solve, limit: float) -> tuple[float, str]:
    """Seconds of the clock, and how it ended."""
    begin = time.perf_counter()
    try:
        status = solve(limit).status.name
    except sdpdr.errors.SdpdrError as error:
        # An estimator that has nothing to embed says so.
        status = "TIME_LIMIT" if "TIME_LIMIT" in str(error) else type(error).__name__
    return round(time.perf_counter() - begin, 2), status


def overrun(limit: float, seconds: float) -> float:
    """Seconds beyond the limit and what proofs may take after it."""
    return max(0.0, seconds - limit - max(ALLOWED[0], ALLOWED[1] * limit))


def _in_words(limit: float, seconds: float) -> str:
    return f"**{seconds:.1f}**" if overrun(limit, seconds) else f"{seconds:.1f}"


Runs = dict[str, dict[str, tuple[float, str]]]


def _late(runs: Runs, among: Runs) -> tuple[int, float]:
    """How many solves were late, of those that both versions made, and by how much together."""
    over = [
        overrun(float(limit), found[0])
        for kind, by_limit in runs.items()
        for limit, found in by_limit.items()
        if limit in among.get(kind, {})
    ]
    return sum(x > 0.0 for x in over), sum(over)


def write(known: dict[str, Runs]) -> None:
    """The table for the documentation."""
    now, before = known.get("now", {}), known.get("before", {})
    head = ["solve", *(f"{limit:g} s" for limit in LIMITS), "ended"]
    rows = []
    for kind in KINDS:
        cells = [kind]
        for limit in LIMITS:
            found = [runs.get(kind, {}).get(f"{limit:g}") for runs in (before, now)]
            cells.append(", ".join(_in_words(limit, one[0]) for one in found if one is not None))
        ends = [now.get(kind, {}).get(f"{limit:g}") for limit in LIMITS]
        cells.append(", ".join(dict.fromkeys(end[1] for end in ends if end is not None)))
        rows.append(cells)
    (were, by), (are, still) = _late(before, now), _late(now, before)
    write_table(
        "kept_limits",
        head,
        rows,
        command="python benchmarks/kept_limits.py",
        notes=(
            "Seconds of the clock that were used, first as of the version before solves counted "
            "planning, then now; in bold beyond the limit and what proofs may take after it, a "
            "second or a fifth.",
            f"Of those measured twice {were} were late by that, by {by:.0f} s together, and {are} "
            f"are, by {still:.0f} s. Of noise in 60 dimensions the version before was measured at "
            "the least limit alone. The machine was busy meanwhile, by as much as comes and goes: "
            "a step that has begun when time is up takes some four times as long as alone.",
        ),
    )


if __name__ == "__main__":
    main()
