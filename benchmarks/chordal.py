"""What clique blocks buy general solvers: ratios of seconds, forms with cliques and without.

    python benchmarks/chordal.py
    python benchmarks/chordal.py --sizes 60 --problems mcp124-1 --solvers clarabel --repeats 1

Reduction, compilation, solve and lifting are timed, and every answer is graded by sdpdr. A ratio
above one says that cliques are faster. All times come from one process, and the table shows medians
of ratios.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from pathlib import Path

import numpy as np

import sdpdr
from sdpdr.errors import NotAcceptedError
from sdpdr.graphs import knn
from sdpdr.program import SDP, Solution, read_sdpa
from sdpdr.reduce import Composed
from sdpdr.solving.way import reductions_for

LIBRARY = Path(__file__).parents[2] / "shared" / "data" / "sdplib"
PAIRS = (("lmi", "chordal-lmi"), ("gram", "chordal"))
# Orders up to which the Gram form is run without cliques. At 200, Clarabel fills 20 GB.
LARGEST_GRAM = 130


def programs(sizes: list[int], problems: list[str]) -> dict[str, SDP]:
    """Unfoldings of the swiss roll, 4 neighbours, and files of SDPLIB that are there."""
    found = {
        f"mvu {n}": sdpdr.methods.mvu(knn(sdpdr.datasets.swiss_roll(n, seed=0)[0], 4)).to_sdp()
        for n in sizes
    }
    paths = {name: LIBRARY / f"{name}.dat-s.gz" for name in problems}
    return found | {name: read_sdpa(path) for name, path in paths.items() if path.exists()}


def cliques(sdp: SDP) -> str:
    """Orders of the blocks in words."""
    try:
        reduced = Composed(reductions_for("chordal", sdp)).apply(sdp).sdp
    except NotAcceptedError as error:
        return str(error)
    orders = sorted(v.n for v in reduced.psd_variables)
    overlaps = sum(r.m for r in reduced.rows if ".overlap[" in r.label)
    return f"{len(orders)} blocks up to {orders[-1]}, {overlaps} overlaps"


def timed(sdp: SDP, solver: str, form: str, limit: float) -> tuple[float, Solution]:
    """Seconds from the program to its lifted answer, and the answer.

    Solvers that obey no time limit run in a child process, whose start does not count. (SDPA must:
    it keeps something of a solve that spoils a later one with other blocks.)
    """
    solution = sdpdr.solve(sdp, solver, form, time_limit=limit, progress=False)
    phases = ("reduce", "compile", "solve", "lift")
    return sum(solution.timings.get(phase, 0.0) for phase in phases), solution


def shown(seconds: float, solution: Solution, limit: float) -> str:
    """Seconds and gap as an entry of the table."""
    if not np.isfinite(solution.gap):
        return f"> {limit:.0f} s" if seconds >= limit else f"{seconds:.2f} s, no answer"
    return f"{seconds:.2f} s, {solution.gap:.0e}"


def compare(
    name: str, sdp: SDP, solver: str, forms: tuple[str, str], repeats: int, limit: float
) -> str:
    """A row of the table: both forms in turn, as often as asked unless one passes the limit."""
    ratios: list[float] = []
    while len(ratios) < repeats:
        plain, with_plain = timed(sdp, solver, forms[0], limit)
        split, with_split = timed(sdp, solver, forms[1], limit)
        ratios.append(plain / split)
        if max(plain, split) > limit / 3.0:
            break
    ratio = f"{statistics.median(ratios):.1f}"
    bounded = plain >= limit or split >= limit
    columns = (
        name,
        solver,
        forms[1],
        shown(plain, with_plain, limit),
        shown(split, with_split, limit),
        f"{'>' if bounded and plain >= limit else ''}{ratio}",
    )
    return f"| {' | '.join(columns)} |"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[60, 100, 200])
    parser.add_argument("--problems", nargs="*", default=["mcp124-1", "mcp250-1", "maxG11"])
    parser.add_argument("--solvers", nargs="+", default=["clarabel", "scs", "sdpa", "cvxopt"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a solve may take")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # we grade the answers ourselves
    print("| program | solver | form | without cliques | with cliques | ratio |")
    print("|---|---|---|---|---|---|")
    for name, sdp in programs(options.sizes, options.problems).items():
        for solver in options.solvers:
            large = max(v.n for v in sdp.psd_variables) > LARGEST_GRAM
            for forms in PAIRS[:1] if large else PAIRS:
                row = compare(name, sdp, solver, forms, options.repeats, options.limit)
                print(row, flush=True)
        print(f"<!-- {name}: {cliques(sdp)} -->", flush=True)


if __name__ == "__main__":
    main()
