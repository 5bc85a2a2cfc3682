"""What moves in the documentation: solutions of real programs, written as small files of JSON.

    python benchmarks/moving.py                    all files of docs/moving
    python benchmarks/moving.py unfolding springs  some of them

Each file is made of whole solves with their proofs. A step of the unfolding is a solve with a limit
of so many iterations, whose value and bound are proved as those of every other answer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sdpdr
from sdpdr import graphs, maximize, methods, psd
from sdpdr.base.files import write_text
from sdpdr.blocks import Band, Slack
from sdpdr.families.unfold.quality import align
from sdpdr.graphs import NeighborGraph
from sdpdr.lab.plot.edges import SLACK, loads
from sdpdr.program import Solution

FOLDER = Path(__file__).parents[1] / "docs" / "moving"
Array = NDArray[np.float64]
Json = dict[str, Any]

NEIGHBOURS, PENALTIES, WIDTHS = (
    range(4, 11),
    (10, 30, 100, 300, 1000, 3000),
    (0.01, 0.03, 0.1, 0.3, 0.6),
)
# On a tall roll few points lie far apart, and edges jump across its layers.
HEIGHT, TALL = 10.0, 21.0
# Below -π/4 the tip of the cone is best.
TURNS, LIFT = 36, 1.2


def unfolding(rows: int = 7, columns: int = 36) -> Json:
    """The data, and where the solver stands after each of its steps."""
    X, along, spacing = rolled_grid(rows, columns)
    graph = graphs.radius(X, 1.5 * spacing)
    model = methods.mvu(graph)
    last = sdpdr.solve(model, "lowrank")
    steps = last.claimed.iterations or 0
    stopped = [sdpdr.solve(model, "lowrank", max_iter=k) for k in range(1, steps)]
    Y = last.embedding(2)
    centred = X - X.mean(axis=0)
    # The spiral is seen along its axis, where it is a spiral.
    first = {
        "label": "the data",
        "Y": _places(_turned(Y, centred[:, [0, 2]])),
        "value": float(np.sum(centred**2)),
        "bound": None,
        "words": "The data are a feasible point, all lengths kept. Nothing bounds the optimum yet.",
    }
    frames = [_frame(f"step {k}", s, Y, graph) for k, s in enumerate([*stopped, last], 1)]
    return {
        "title": f"Swiss roll of {len(X)} points, unfolded",
        "slider": "Step of the solver",
        "edges": graph.edges.tolist(),
        "colour": _shares(along),
        "frames": [first, *frames],
    }


def choices() -> list[Json]:
    """The same roll under other numbers of neighbours, penalties and widths."""
    X, along, graph = _roll(150, 4)
    truth = sdpdr.solve(methods.mvu(graph)).embedding(2)
    shared = {"colour": _shares(along)}

    def solved(label: str, graph: NeighborGraph, relation: Any = "inequality") -> Json:
        solution = sdpdr.solve(methods.mvu(graph, relation), "lowrank", tol=1e-7)
        return {**_frame(label, solution, truth, graph), "edges": graph.edges.tolist()}

    return [
        {
            **shared,
            "title": "How many neighbours",
            "slider": "Neighbours k",
            "start": 0,
            "frames": [solved(f"k = {k}", graphs.knn(X, n_neighbors=k)) for k in NEIGHBOURS],
        },
        {
            **shared,
            "title": "What a change of length costs",
            "slider": "Penalty of slack",
            "frames": [solved(f"penalty {nu:g}", graph, Slack(nu)) for nu in PENALTIES],
        },
        {
            **shared,
            "title": "How much a length may change",
            "slider": "Width of the band",
            "start": 0,
            "frames": [solved(f"width {width:g}", graph, Band(width)) for width in WIDTHS],
        },
    ]


def springs(n: int = 400) -> Json:
    """An unfolding with the multipliers of its edges."""
    _, along, graph = _roll(n, 6, TALL)
    solution = sdpdr.solve(methods.mvu(graph))
    weights = solution.dual("isometry")
    frame = _frame("unfolded", solution, solution.embedding(2), graph)
    return {
        "title": f"The springs that hold {n} points",
        "slider": "Spring, the strongest first",
        "edges": graph.edges.tolist(),
        "weights": [float(f"{w:.4g}") for w in weights],
        "loads": _loads(weights),
        "lengths": [float(f"{x:.4g}") for x in np.sqrt(graph.sqdist)],
        "colour": _shares(along),
        "frames": [frame],
    }


def shapes() -> list[Json]:
    """Linear goals over matrices of order two with trace one at most, and correlation matrices."""
    angles = 2 * np.pi * np.arange(TURNS) / TURNS
    heights = LIFT * np.sin(angles)
    cone = [
        _optimum(
            np.sin(h) * np.eye(2)
            + np.cos(h) * np.array([[np.cos(t), np.sin(t)], [np.sin(t), -np.cos(t)]]),
            lambda K: (K.trace() <= 1).named("trace"),
        )
        for t, h in zip(angles, heights, strict=True)
    ]
    # The product of the three decides whether a corner or a point of a face is best.
    goals = zip(np.cos(angles), np.sin(angles), 0.8 * np.sin(3 * angles), strict=True)
    elliptope = [
        _optimum([[0, a, b], [a, 0, c], [b, c, 0]], lambda K: (K.diagonal() == 1).named("diagonal"))
        for a, b, c in goals
    ]
    return [
        {"title": "Matrices of order two, of trace at most one", "shape": "cone", "goals": cone},
        {"title": "Correlation matrices of order three", "shape": "elliptope", "goals": elliptope},
    ]


def rolled_grid(rows: int, columns: int) -> tuple[Array, Array, float]:
    """Points of a rolled sheet at equal distances along it and across, and that distance.

    Edges across such a sheet keep its width, which few random points do not.
    """
    t = np.linspace(1.5 * np.pi, 4.5 * np.pi, 20_001)
    steps = np.hypot(np.diff(t * np.cos(t)), np.diff(t * np.sin(t)))
    length = np.concatenate([[0.0], np.cumsum(steps)])
    places = np.linspace(0.0, length[-1], columns)
    along = np.repeat(np.interp(places, length, t), rows)
    across = np.tile(places[:rows], columns)
    X = np.column_stack([along * np.cos(along), across, along * np.sin(along)])
    return X, along, float(places[1])


def _roll(n: int, k: int, height: float = HEIGHT) -> tuple[Array, Array, NeighborGraph]:
    X, along = sdpdr.datasets.swiss_roll(n, seed=0, height=height)
    return X, along, graphs.knn(X, n_neighbors=k)


def _frame(label: str, solution: Solution, like: Array, graph: NeighborGraph) -> Json:
    """Places, both sides of the proof, and what became of the lengths."""
    Y = solution.embedding(2)
    i, j = graph.edges.T
    kept = float(np.sum((Y[i] - Y[j]) ** 2) / graph.sqdist.sum())
    spectrum = solution.spectrum()
    grade = "certified" if solution.certified(1e-6) else "not certified"
    return {
        "label": label,
        "Y": _places(_turned(like, Y)),
        "value": solution.attained,
        "bound": solution.bound,
        "words": (
            f"{grade.capitalize()}, gap {solution.gap:.1e}. In the picture are "
            f"{spectrum[:2].sum() / spectrum.sum():.0%} of the variance, and edges have {kept:.0%} "
            "of their squared lengths."
        ),
    }


def _optimum(C: Any, limit: Callable[[Any], Any]) -> Json:
    """The best point of a shape in a direction; of a face of such points, any."""
    C = np.asarray(C, dtype=float).round(4) + 0.0
    K = psd("K", len(C))
    solution = sdpdr.solve(maximize((C * K).sum()) + limit(K), "clarabel", gap_scale=1.0)
    spectrum = solution.spectrum()
    return {
        "C": C.tolist(),
        "K": np.asarray(solution["K"]).round(4).tolist(),
        "value": solution.attained,
        "bound": solution.bound,
        "rank": int(np.count_nonzero(spectrum > 1e-4)),
        "certified": solution.certified(),
    }


def _turned(like: Array, Y: Array) -> Array:
    return align(like, Y, scaling=False)[:, :2]


def _places(Y: Array) -> list[list[float]]:
    return [[float(f"{x:.2f}") for x in row] for row in Y]


def _loads(weights: Array) -> list[float]:
    """As `sdpdr.plot.dual_weights` draws them; none where a spring is slack."""
    load = loads(weights)
    return [float(f"{x:.3g}") for x in np.where(load > SLACK, load, 0.0)]


def _shares(values: Array) -> list[float]:
    """Between 0 and 1."""
    return ((values - values.min()) / np.ptp(values)).round(3).tolist()


FILES: Mapping[str, Callable[[], Any]] = {
    made.__name__: made for made in (unfolding, choices, springs, shapes)
}


def main(names: Iterable[str]) -> None:
    """Write the files."""
    for name in names:
        text = json.dumps(FILES[name](), separators=(",", ":"))
        write_text(FOLDER / f"{name}.json", text + "\n")
        print(f"{name}.json: {len(text) / 1e3:.0f} kB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=["all", *FILES], default="all")
    given = parser.parse_args().names
    main(FILES if "all" in given else given)
