"""What proofs cost: the share of grading in the seconds of an unfolding, plain and rigorous.

    python benchmarks/proof_cost.py
    python benchmarks/proof_cost.py --points 1000 10000 --times 5

Swiss rolls, six neighbours, solver "auto". Seconds are of the processor, medians; what is proved is
both sides: a point made feasible, and a bound.
"""

from __future__ import annotations

import argparse
import statistics
import time

from tables import write_table

import sdpdr
from sdpdr import datasets, graphs, methods


def main() -> None:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--dry", action="store_true", help="print only")
    args = parser.parse_args()
    rows = [measured(n, args.times, rigorous) for n in args.points for rigorous in (False, True)]
    for row in rows:
        print(*row, sep="  ")
    if not args.dry:
        write_table(
            "proof_cost",
            ["Points", "Proof", "Solve and proof, s", "Proof, s", "Share", "Gap"],
            rows,
            command="python benchmarks/proof_cost.py",
            notes=["Seconds of the processor, medians; graph and compilation are not counted."],
        )


def measured(n: int, times: int, rigorous: bool) -> list[str]:
    """One line of the table."""
    points = datasets.swiss_roll(n, seed=0)[0]
    model = methods.mvu(graphs.knn(points, n_neighbors=6, connect="mst"))
    model.to_sdp()
    whole, proof, gaps = [], [], []
    for _ in range(times):
        begin, wall = time.process_time(), time.perf_counter()
        solution = sdpdr.solve(model, rigorous=rigorous, progress=False)
        spent, walled = time.process_time() - begin, time.perf_counter() - wall
        whole.append(spent)
        # The clock of the phases is of the wall; in a process that is alone they agree.
        proof.append(solution.timings["certify"] * spent / walled)
        gaps.append(solution.gap)
    total, certify = statistics.median(whole), statistics.median(proof)
    words = "rigorous" if rigorous else "plain"
    gap = f"{statistics.median(gaps):.1e}"
    return [f"{n:,}", words, f"{total:.2f}", f"{certify:.2f}", f"{certify / total:.1%}", gap]


if __name__ == "__main__":
    main()
