"""The landmark form from a thousand points to a million: value, bound, seconds, memory.

Run ``python benchmarks/landmarks.py 1000 10000 100000 1000000``. Nothing here is a timed test.
"""

from __future__ import annotations

import argparse
import resource
import time

import sdpdr
from sdpdr import datasets, graphs, methods


def run(n: int, arguments: argparse.Namespace) -> None:
    """Solve one swiss roll and print what came of it."""
    points, _ = datasets.swiss_roll(n, seed=0)
    start = time.perf_counter()
    graph = graphs.knn(points, n_neighbors=arguments.neighbors, connect="mst")
    neighbours = time.perf_counter() - start
    solution = sdpdr.solve(
        methods.mvu(graph),
        form="landmark",
        solver=arguments.solver,
        landmarks=arguments.landmarks,
        basis=arguments.basis,
        tol=arguments.tol,
    )
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    phases = {"neighbours": neighbours, **solution.timings}
    print(f"n = {n}: {solution}")
    print(f"    {solution.argument}")
    print(f"    {seconds:.1f} s, of which {', '.join(f'{k} {s:.1f}' for k, s in phases.items())}")
    print(f"    peak memory {peak:.2f} GiB, primal residual {solution.residuals.primal():.1e}")
    for entry in solution.history:
        print("    " + ", ".join(f"{key} {number:.6g}" for key, number in entry.items()))


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--landmarks", type=int, default=20)
    parser.add_argument("--neighbors", type=int, default=6)
    parser.add_argument("--basis", default="reconstruction")
    parser.add_argument("--solver", default="clarabel")
    parser.add_argument("--tol", type=float, default=1e-2)
    arguments = parser.parse_args()
    for n in arguments.sizes:
        run(n, arguments)


if __name__ == "__main__":
    main()
