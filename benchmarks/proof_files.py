"""Sizes of proof files, and seconds to write and check them: ``python benchmarks/proof_files.py``.

Unfoldings of a Swiss roll, and max-cut of a random graph. Seconds are those of one processor,
here of a busy machine (x86-64, NumPy 2.4.6, SciPy 1.17.1):

    | program | gap | solved, s | written, s | checked, s | size, kB |
    |---|---|---|---|---|---|
    | roll-1000 | 1.7e-08 | 0.68 | 0.35 | 0.13 | 142 |
    | roll-10000 | 1.7e-08 | 3.57 | 5.08 | 1.06 | 1369 |
    | max-cut-2000 | 1.7e-08 | 4.54 | 6.31 | 2.98 | 354 |

Every file is checked once as it is written, which the seconds of writing include.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

import sdpdr
from sdpdr import graphs, linalg, methods
from sdpdr.certify.check_proof import check
from sdpdr.program import SDP, PsdVariable, Rows

_Found = TypeVar("_Found")


def roll(n: int) -> Any:
    """Unfold a Swiss roll, six neighbours each."""
    X, _ = sdpdr.datasets.swiss_roll(n, seed=0)
    return methods.mvu(graphs.knn(X, n_neighbors=6))


def max_cut(n: int) -> SDP:
    """The relaxation of max-cut, on a random graph of four edges a node."""
    rng = np.random.default_rng(0)
    i, j = rng.integers(n, size=(2, 4 * n))
    kept = i != j
    W = sp.csr_array((np.ones(kept.sum()), (i[kept], j[kept])), shape=(n, n))
    W = sp.csr_array(((W + W.T) > 0).astype(float))
    L = sp.csr_array(sp.diags_array(W.sum(axis=1)) - W)  # the cost is minimised: minus L / 4
    rows = Rows("diagonal", "==", {"X": linalg.Diagonal(n)}, np.ones(n))
    return SDP((PsdVariable("X", n),), {"X": linalg.InnerProduct(-L / 4.0)}, (rows,), maximize=True)


PROGRAMS: dict[str, Callable[[], Any]] = {
    "roll-1000": lambda: roll(1000),
    "roll-10000": lambda: roll(10_000),
    "max-cut-2000": lambda: max_cut(2000),
}


def timed(call: Callable[[], _Found]) -> tuple[_Found, float]:
    """Return what a call returns, and its seconds."""
    begin = time.process_time()
    found = call()
    return found, time.process_time() - begin


def main() -> None:
    """Print a line for each program, or for those named."""
    print("| program | gap | solved, s | written, s | checked, s | size, kB |")
    print("|---|---|---|---|---|---|")
    for name in sys.argv[1:] or PROGRAMS:
        model = PROGRAMS[name]()
        solution, solving = timed(partial(sdpdr.solve, model, progress=False))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answer.proof"
            written, writing = timed(partial(solution.write_proof, path))
            _, checking = timed(partial(check, path))
            size = path.stat().st_size / 1000.0
        for claim, why in written.missing.items():
            print(f"{name}: {claim}: {why}", file=sys.stderr)
        seconds = " | ".join(f"{s:.2f}" for s in (solving, writing, checking))
        print(f"| {name} | {solution.gap:.1e} | {seconds} | {size:.0f} |", flush=True)


if __name__ == "__main__":
    main()
