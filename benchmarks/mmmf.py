"""Maximum-margin factorization by every way there is: seconds of processor time and proven gaps.

``python benchmarks/mmmf.py``
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial

from journal import processor_seconds
from tables import write_table

import sdpdr
from sdpdr import factorize, methods
from sdpdr.datasets import partial_signs
from sdpdr.errors import NotAcceptedError, SdpdrWarning

# Users, items, share observed, price.
SIZES = (
    (100, 50, 0.05, 0.5),
    (100, 50, 0.3, 0.3),
    (500, 200, 0.02, 0.5),
    (500, 200, 0.1, 0.2),
    (1000, 100, 0.2, 0.1),
    (3000, 2000, 0.002, 0.5),
)
WAYS = (("splitting", ""), ("lowrank", "factor"), ("sdpa", "lmi"), ("clarabel", "chordal"))
LARGEST = {"splitting": 1e9, "lowrank": 1e9, "sdpa": 1600, "clarabel": 2100}
TOL = 1e-6


def timed(run: Callable[[], tuple[float, float]]) -> str:
    """Seconds of processor time and the gap proved, or why there are none."""
    start = processor_seconds()
    try:
        value, gap = run()
    except NotAcceptedError:
        return "cliques too large"
    if not value < float("inf"):
        return "no answer in time"
    return f"{processor_seconds() - start:.1f} s, {max(gap, 0.0):.0e}"


def solved(signs, c: float, solver: str, form: str, limit: float) -> tuple[float, float]:
    """Value and gap of one way."""
    if solver == "splitting":
        found = factorize.mmmf(signs, c=c, tol=TOL)
        return found.value, found.gap
    solution = sdpdr.solve(methods.mmmf(signs, c=c), solver, form, tol=TOL, time_limit=limit)
    value = solution.value if solution.value == solution.value else float("inf")
    return value, solution.gap


def main() -> None:
    """Run all sizes and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each solver")
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="how many of the sizes")
    options = parser.parse_args()
    rows = []
    for p, q, share, c in SIZES[: options.sizes]:
        signs, _ = partial_signs(p, q, share=share)
        cells = []
        for solver, form in WAYS:
            # Beyond, interior points take tens of gigabytes, and the splitting method minutes.
            large = p * q * share > LARGEST[solver] or (solver == "splitting" and p > 1000)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SdpdrWarning)
                run = partial(solved, signs, c, solver, form, options.limit)
                cells.append("not tried" if large else timed(run))
            print(p, q, share, c, solver, cells[-1], flush=True)
        observed = int((signs != 0).sum())
        rows.append([f"{p} x {q}", observed, f"{c:g}", *cells])
    head = ["users x items", "signs", "c", "splitting", "lowrank", "SDPA", "Clarabel, chordal"]
    write_table(
        "mmmf",
        head,
        rows,
        command="python benchmarks/mmmf.py",
        notes=[
            "Seconds of processor time on one core and the relative gap proved; trace norm, "
            f"tolerance {TOL:g}, at most {options.limit:g} seconds of the clock for each solver, "
            "on a machine shared with other work. Signs of a normal matrix of rank 2, a tenth of "
            "them turned round (``datasets.partial_signs``, seed 0). Of SDPA, 3 seconds are "
            "the start of a process."
        ],
    )


if __name__ == "__main__":
    main()
