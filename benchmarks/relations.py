"""What is asked of lengths, and what it costs: the evidence for the default of the unfoldings.

    python benchmarks/relations.py                    # rewrites docs/tables/relations.rst
    python benchmarks/relations.py --sets roll iris   # only prints

Every relation of `sdpdr.blocks.Isometry` that could be the default of `sdpdr.MVU`, on rolls, a
curve, and data with labels. Seconds are of the processor, with those of workers. Run with
OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import resource
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.manifold import trustworthiness
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale
from tables import write_table

import sdpdr
from sdpdr.blocks import Band
from sdpdr.datasets import s_curve, swiss_roll, trefoil_knot
from sdpdr.families.unfold.quality import edge_errors

RELATIONS: dict[str, Any] = {
    "inequality": "inequality",
    "Band(0.05)": Band(0.05),
    "Band(0.2)": Band(0.2),
    "equality": "equality",
}
# Wall seconds that a fit may take.
LIMIT = 120.0


def roll(n: int, seed: int) -> tuple[np.ndarray, None, np.ndarray]:
    """A roll, and its sheet: length along the spiral, height."""
    X, t = swiss_roll(n, seed=seed)
    along = 0.5 * (t * np.sqrt(1.0 + t**2) + np.arcsinh(t))
    return X, None, np.column_stack([along, X[:, 1]])


def curve(n: int) -> tuple[np.ndarray, None, np.ndarray]:
    """An S, and its sheet."""
    X, t = s_curve(n, seed=0)
    return X, None, np.column_stack([t, X[:, 1]])


SETS: dict[str, Callable[[], tuple[np.ndarray, Any, Any]]] = {
    "roll": lambda: roll(500, 0),
    "roll, seed 1": lambda: roll(500, 1),
    "roll, seed 2": lambda: roll(500, 2),
    "S-curve": lambda: curve(500),
    "knot": lambda: (trefoil_knot(200)[0], None, None),
    "iris": lambda: (*load_iris(return_X_y=True), None),
    "wine": lambda: (scale(load_wine().data), load_wine().target, None),
    "digits": lambda: (load_digits().data[:200], load_digits().target[:200], None),
}


def spent() -> float:
    """Processor seconds of this process and of those that it has ended."""
    used = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def row(name: str, relation: str) -> list[object]:
    """One fit, measured."""
    X, y, sheet = SETS[name]()
    began = spent()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learned = sdpdr.MVU(isometry=RELATIONS[relation], time_limit=LIMIT).fit(X)
    seconds = spent() - began
    Y = learned.embedding_
    first = learned.graph_.first_samples
    edges = edge_errors(learned.graph_, Y[first])
    width = ""
    if sheet is not None:
        true = np.sort(np.linalg.eigvalsh(np.cov(sheet.T)))[0]
        width = f"{np.sqrt(np.sort(np.linalg.eigvalsh(np.cov(Y.T)))[0] / true):.2f}"
    near = "" if y is None else f"{own_class(Y, y):.3f}"
    return [
        name,
        relation,
        f"{seconds:.1f}",
        f"{learned.solution_.gap:.0e}",
        f"{edges.rms:.2f}",
        f"{learned.length_kept_:.2f}",
        width,
        f"{trustworthiness(X, Y, n_neighbors=6):.3f}",
        near,
    ]


def own_class(Y: np.ndarray, y: np.ndarray) -> float:
    """Share of points whose nearest other is of their class."""
    near = KNeighborsClassifier(1).fit(Y, y).kneighbors(return_distance=False)[:, 0]
    return float(np.mean(y[near] == y))


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    asked = parser.parse_args().sets
    rows = []
    for name in asked:
        for relation in RELATIONS:
            rows.append(row(name, relation))
            print(*rows[-1], sep="  ", flush=True)
    if asked != list(SETS):
        return
    write_table(
        "relations",
        [
            "data",
            "relation",
            "seconds",
            "gap",
            "edges off, rms",
            "length kept",
            "width / true width",
            "trustworthiness",
            "nearest of own class",
        ],
        rows,
        command="python benchmarks/relations.py",
        notes=[
            "`sdpdr.MVU` with six neighbours, embedded in two dimensions. Processor seconds of one "
            f"run; a fit may take {LIMIT:g} seconds of the clock and then shows what it has, with "
            "its gap. The width of a sheet is its standard deviation across.",
        ],
    )


if __name__ == "__main__":
    main()
