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


class Spread(sdpdr.IsoProjection):
    """An isometric projection of so many directions, or of all its columns where those are less."""

    def fit(self, X: np.ndarray, y: Any = None) -> Spread:
        """Learn the map."""
        self.n_components = min(self.n_components, X.shape[1])
        return super().fit(X, y)


class Weighed(sdpdr.IsoProjection):
    """An isometric projection with points spread along all directions alike."""

    def fit(self, X: Any, y: Any = None) -> Weighed:
        """Learn the map."""
        super().fit(X, y)
        lengths = 1.0 / np.std(X @ self.components_.T, axis=0)
        self.components_ = lengths[:, None] * self.components_
        self.intercept_ = lengths * self.intercept_
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
    for smoothing in (0.3, 0.5):
        name = f"LSDA, smoothing {smoothing:g}"
        yield "projection", name, sdpdr.LSDA(smoothing=smoothing), sets
    for k in (5, 10, 20):
        yield "projection", f"LSDA, {k} neighbours", sdpdr.LSDA(n_neighbors=k), sets
    for d in (1, 2, 9, 30):
        yield "projection", f"IsoProjection, d = {d}", Spread(n_components=d), sets
    yield "projection", "IsoProjection, all", sdpdr.IsoProjection(), sets
    yield "projection", "IsoProjection, all, spread alike", Weighed(), sets
    yield "projection", "XingMetric", sdpdr.XingMetric(), sets
    for ridge in (0.3, 3.0):
        name = f"XingMetric, ridge {ridge:g}"
        yield "projection", name, sdpdr.XingMetric(ridge=ridge), ("moons", "digits")
    yield "projection", "XingMetric, diagonal", sdpdr.XingMetric(diagonal=True), ("moons", "digits")


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
            "choice hung on. Bandwidths are in root mean squares of the lengths of edges. LSDA has "
            "10 neighbours by default.",
        ],
    )


if __name__ == "__main__":
    main()
