"""Unfolding data of high intrinsic dimension: both engines of solver 'lowrank', beside the fill.

    python benchmarks/fill.py                        # rewrites FILL.md
    python benchmarks/fill.py --cases 500,5 1000,7 --limit 60

Gaussian clouds in many dimensions have neighbour graphs that no ordering keeps sparse, so the
factorizations of the interior-point engine grow dense, and conjugate gradients overtake it. The
column of the Newton factor at which they do is `EDGE_COLUMN` in
`sdpdr.solvers.lowrank.edge.effort`; from rank 8 on they are faster much sooner, see `NOISY` there.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import sdpdr
from sdpdr import graphs, methods
from sdpdr.program import SDP
from sdpdr.solvers import LowRank
from sdpdr.solvers.lowrank.edge.form import edge_form
from sdpdr.solvers.lowrank.edge.newton import graph_fill, newton_fill

TABLE = Path(__file__).with_name("FILL.md")
CASES = ("500,3", "500,5", "500,10", "1000,7", "2000,5", "2000,10")
RANK = 6
HEAD = """# Two engines, beside the fill

Written by `benchmarks/fill.py`: inequality MVU of Gaussian clouds, 8 neighbours, relative gap
1e-6, one thread. Column is the mean number of nonzeros in a column of the interior point's Newton
factor at rank 6, as predicted; LIMIT is the seconds a run may take.

| points | dimension | column | edges: s | gap | general: s | gap | rank | ratio |
|---|---|---|---|---|---|---|---|---|
"""


def cloud(n: int, dimension: int) -> SDP:
    """Unfolding of a Gaussian cloud."""
    points = np.random.default_rng(0).standard_normal((n, dimension))
    return methods.mvu(graphs.knn(points, n_neighbors=8)).to_sdp()


def timed(sdp: SDP, engine: str, limit: float) -> tuple[float, sdpdr.Solution]:
    """Seconds of a whole call, and its solution."""
    solver = LowRank(options={"engine": engine}, time_limit=limit)
    begin = time.perf_counter()
    solution = sdpdr.solve(sdp, solver, "factor")
    return time.perf_counter() - begin, solution


def main() -> None:
    """Run the cases and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", default=CASES, help="points,dimension")
    parser.add_argument("--limit", type=float, default=120.0)
    arguments = parser.parse_args()
    text = HEAD.replace("LIMIT", f"{arguments.limit:g}")
    for case in arguments.cases:
        n, dimension = (int(word) for word in case.split(","))
        sdp = cloud(n, dimension)
        fill = newton_fill(graph_fill(edge_form(sdp).program), n, RANK)
        column = fill / (RANK * n)
        (one, edges), (two, general) = (
            timed(sdp, engine, arguments.limit) for engine in ("edges", "general")
        )
        rank = general.values["K"].factor.shape[1]
        text += (
            f"| {n} | {dimension} | {column:.0f} | {one:.1f} | {edges.gap:.0e} | {two:.1f} | "
            f"{general.gap:.0e} | {rank} | {one / two:.1f} |\n"
        )
        print(text.splitlines()[-1], flush=True)
        TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
