"""What else the defaults might have been, on seeds that are not those of their table.

    python benchmarks/defaults_tried.py        # rewrites docs/tables/defaults_tried.rst

Measures and data are those of benchmarks/defaults.py. Run with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from defaults import measured
from defaults_measures import SETS, Nothing
from defaults_tasks import TASKS
from sklearn.base import BaseEstimator, TransformerMixin
from tables import write_table

import sdpdr
from sdpdr.graphs import geodesics, knn

SEEDS = (10, 11, 12)
ANGLES = np.linspace(0.0, np.pi, 45, endpoint=False)


class Line(TransformerMixin, BaseEstimator):
    """The line of one angle through the plane."""

    def __init__(self, angle: float = 0.0) -> None:
        self.angle = angle

    def fit(self, X: np.ndarray, y: Any = None) -> Line:
        """Nothing to learn."""
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Places along the line."""
        return X @ np.array([[np.cos(self.angle)], [np.sin(self.angle)]])


class Width(BaseEstimator):
    """A density map with a bandwidth in root mean squares of the lengths of edges."""

    def __init__(self, times: float = 1.0) -> None:
        self.times = times

    def fit_transform(self, X: np.ndarray, y: Any = None) -> np.ndarray:
        """Its picture."""
        unit = float(np.sqrt(knn(X, 6, connect="bridges").sqdist.mean()))
        return sdpdr.DensityMap(bandwidth=self.times * unit).fit_transform(X)


class NoMap(BaseEstimator):
    """The labelled point that is nearest along the edges, in lengths of the data."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> NoMap:
        """Its label for every point."""
        graph = knn(X, 6, connect="bridges")
        given = np.flatnonzero(y >= 0)
        ways = geodesics(graph, graph.index[given])[:, graph.index]
        self.transduction_ = y[given][np.argmin(ways, axis=0)]
        return self


def tried() -> Iterator[tuple[str, str, Any, Sequence[str]]]:
    """Aim, name, estimator, and the sets it was tried on."""
    flat = ("iris",)
    yield "picture", "nothing", Nothing(2), SETS
    for k in (6, 10, 15, 25):
        yield "picture", f"MVU, {k} neighbours", sdpdr.MVU(n_neighbors=k), flat
    yield "picture", "MVU, angles", sdpdr.MVU(angles=True), flat
    yield "picture", 'MVU, ``connect="mst"``', sdpdr.MVU(connect="mst"), flat
    for kind in ("picture", "densities"):
        if kind == "densities":
            yield kind, "nothing", Nothing(2), SETS
        for times in (1.0, 3.0, 6.0):
            name = f"DensityMap, bandwidth {times:g}"
            yield kind, name, Width(times), SETS
    few = ("wine",)
    yield "labels", "nothing", TASKS["labels"].nothing, few
    yield "labels", "nearest along edges, no map", NoMap(), few
    for furthest in ("auto", "all"):
        for decision in ("hyperplane", "nearest"):
            name = f"ISM, {decision}, ``furthest={furthest!r}``"
            yield "labels", name, sdpdr.ISM(furthest=furthest, decision=decision), few
    sets = TASKS["projection"].sets
    yield "projection", "nothing", Nothing(), sets
    for plain in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9):
        name = f"XingMetric, {plain:.0%} plain"
        yield "projection", name, sdpdr.XingMetric(plain=plain), sets
    yield "projection", "XingMetric, by points left out", sdpdr.XingMetric(), sets
    for ridge in (0.3, 3.0):
        name = f"XingMetric, no plain, ridge {ridge:g}"
        yield "projection", name, sdpdr.XingMetric(plain=0.0, ridge=ridge), ("moons", "digits")
    name, diagonal = "XingMetric, no plain, diagonal", sdpdr.XingMetric(plain=0.0, diagonal=True)
    yield "projection", name, diagonal, ("moons", "digits")


def quality(kind: str, estimator: Any, name: str) -> float:
    """Mean over the seeds."""
    return float(np.mean([measured(TASKS[kind], estimator, name, seed)[0] for seed in SEEDS]))


def main() -> None:
    """Measure, and write the table."""
    rows = []
    for kind, label, estimator, sets in tried():
        cells = [f"{quality(kind, estimator, s):.3f}" if s in sets else "" for s in SETS]
        rows.append([kind, label, *cells])
        print(*rows[-1], sep="  ", flush=True)
    best = max(quality("projection", Line(angle), "moons") for angle in ANGLES)
    line = [f"{best:.3f}" if s == "moons" else "" for s in SETS]
    rows.append(["projection", f"the best of {ANGLES.size} lines, chosen by this", *line])
    write_table(
        "defaults_tried",
        ["aim", "estimator", *SETS],
        rows,
        command="python benchmarks/defaults_tried.py",
        notes=[
            f"As the table above, of the seeds {SEEDS[0]} to {SEEDS[-1]}, and of the sets that a "
            "choice hung on. Bandwidths are in root mean squares of the lengths of edges.",
        ],
    )


if __name__ == "__main__":
    main()
