"""Descent on generated programs of growing size: seconds, gaps, memory, and the constants for them.

    python benchmarks/descent.py              # runs, prints, and rewrites its row of rates.csv
    python benchmarks/descent.py --largest 800 --dry

Max-cut on random graphs and on toruses with signs, theta numbers of random graphs, completion of
low-rank matrices with exact entries. Each run is a process of its own (see ``forms.py``). The
library of problems has few programs that go to this engine, so its rates come from here.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from forms import forked, warm_up
from forms_fit import rate

from sdpdr.linalg import Diagonal, Entries, InnerProduct, Trace
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.solving.costs.structure import Structure
from sdpdr.solving.costs.work import RATES, work, write_rates

LIMIT = 120.0


def max_cut(weights: sp.csr_array) -> SDP:
    """The bound of Goemans and Williamson."""
    n = weights.shape[0]
    laplacian = sp.diags_array(np.asarray(weights.sum(axis=1)).ravel()) - weights
    unit = Rows("unit", "==", {"X": Diagonal(n)}, np.ones(n))
    cost = InnerProduct(sp.csr_array(-0.25 * laplacian))
    return SDP((PsdVariable("X", n),), {"X": cost}, (unit,), maximize=True)


def random_edges(n: int, m: int, rng: np.random.Generator) -> np.ndarray:
    """About m edges of a random graph."""
    pairs = np.sort(rng.integers(n, size=(m, 2)), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)


def symmetric(n: int, edges: np.ndarray, weights: np.ndarray) -> sp.csr_array:
    """Weights of edges as a symmetric matrix."""
    half = sp.coo_array((weights, tuple(edges.T)), shape=(n, n))
    return sp.csr_array(half + half.T)


def torus(a: int, b: int, rng: np.random.Generator) -> sp.csr_array:
    """Signs on the edges of a torus."""
    place = np.arange(a * b).reshape(a, b)
    ahead = [np.column_stack([place.ravel(), np.roll(place, -1, k).ravel()]) for k in (0, 1)]
    edges = np.vstack(ahead)
    return symmetric(a * b, edges, rng.choice([-1.0, 1.0], len(edges)))


def theta(n: int, m: int, rng: np.random.Generator) -> SDP:
    """The theta number of Lovász."""
    edges = random_edges(n, m, rng)
    rows = (
        Rows("trace", "==", {"X": Trace(n)}, np.ones(1)),
        Rows("edges", "==", {"X": Entries(n, edges)}, np.zeros(len(edges))),
    )
    ones = InnerProduct(-np.ones((n, n)))
    return SDP((PsdVariable("X", n),), {"X": ones}, rows, maximize=True)


def completion(n: int, rank: int, m: int, rng: np.random.Generator) -> SDP:
    """The least nuclear norm with m entries of an n x n matrix."""
    left, right = rng.standard_normal((2, n, rank))
    i, j = np.divmod(rng.choice(n * n, m, replace=False), n)
    entries = Entries(2 * n, np.column_stack([i, n + j]))
    known = Rows("known", "==", {"X": entries}, np.einsum("ek,ek->e", left[i], right[j]))
    return SDP((PsdVariable("X", 2 * n),), {"X": 0.5 * Trace(2 * n)}, (known,))


def programs(largest: int) -> Iterator[tuple[str, SDP]]:
    """Programs with matrices up to an order, by name."""
    rng = np.random.default_rng(0)
    for n in (50, 200, 800, 2000, 7000):
        if n <= largest:
            edges = random_edges(n, 5 * n, rng)
            yield f"cut {n}", max_cut(symmetric(n, edges, np.ones(len(edges))))
    for a, b in ((20, 20), (40, 50), (100, 100)):
        if a * b <= largest:
            yield f"torus {a * b}", max_cut(torus(a, b, rng))
    for n in (200, 500):
        if n <= largest:
            yield f"theta {n}", theta(n, 10 * n, rng)
    for n, m in ((120, 3500), (250, 10_000), (1000, 60_000)):
        if 2 * n <= largest:
            yield f"completion {2 * n}", completion(n, 3, m, rng)


def main() -> None:
    """Run, print, and keep the constants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10_000)
    parser.add_argument("--dry", action="store_true", help="leave rates.csv as it is")
    arguments = parser.parse_args()
    warm_up()
    group = []
    print("program           status              s     GiB      gap or error")
    for name, sdp in programs(arguments.largest):
        structure = Structure(sdp)
        run = forked(sdp, "lowrank", "factor", LIMIT) | {"kind": structure.kind}
        if structure.engine == "descent":
            group.append((run, work("lowrank", "factor", structure)))
        seconds, memory = run.get("seconds", LIMIT), run.get("memory", 0) / 2**30
        print(f"{name:18}{run['status']:14}{seconds:7.1f}{memory:8.2f}{run.get('error')!s:>18}")
    if not arguments.dry:
        write_rates({**RATES, ("lowrank", "descent"): rate(group)})


if __name__ == "__main__":
    main()
