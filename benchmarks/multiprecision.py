"""Our method in hundreds of bits beside SDPA-GMP, on the same files in the same precision.

    python benchmarks/multiprecision.py --data DIRECTORY --other PYTHON

PYTHON is the interpreter of an environment with the package ``sdpa-multiprecision``. It cannot
share one with ``sdpa-python``, since both are called ``sdpap``. Both are asked for a relative gap
of 1e-15 in 320 bits, on one thread; seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import tempfile
import time
from math import log10
from pathlib import Path
from typing import Any

from tables import write_table

from sdpdr.program import read_sdpa
from sdpdr.solvers import reference

FILES = (
    "truss1", "hinf2", "hinf4", "hinf11", "control1", "control2", "truss6", "theta1", "truss5",
    "mcp100",
)  # fmt: skip
BITS, DIGITS, LIMIT = 320, 15, 600.0
OTHER = """
import json, sys, time, sdpap
path, bits = sys.argv[1], int(sys.argv[2])
options = {"print": "no", "epsilonStar": 1e-15, "epsilonDash": 1e-15, "mpfPrecision": bits,
           "numThreads": 1, "maxIteration": 500}
problem = sdpap.importsdpa(path)
begin = time.process_time()
found = sdpap.solve(*problem, options)[4]
seconds = time.process_time() - begin
print("RESULT" + json.dumps({"seconds": seconds, "phase": str(found["phasevalue"]),
      "gap": float(found["dualityGap"]), "iterations": int(found["iteration"]),
      "value": float(found["primalObj"]), "error": max(float(found["primalError"]),
      float(found["dualError"]))}))
"""


def ours(path: Path) -> dict[str, Any]:
    """Seconds, digits and value of our method."""
    sdp = read_sdpa(path)
    begin = time.process_time()
    found = reference(sdp, DIGITS, bits=BITS, time_limit=LIMIT)
    return {
        "seconds": time.process_time() - begin,
        "digits": found.digits_agreed,
        "value": found.primal,
        "phase": found.status,
        "iterations": found.iterations,
    }


def other(path: Path, python: str) -> dict[str, Any]:
    """The same of SDPA-GMP, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, path.name.removesuffix(".gz"))
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        command = [python, "-c", OTHER, str(plain), str(BITS)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LIMIT, env={}, check=False
            )
        except subprocess.TimeoutExpired:
            return {"phase": f"over {LIMIT:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    if not lines:
        return {"phase": f"exit status {done.returncode}"}
    found: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT"))
    found["digits"] = max(0, int(-log10(max(found["gap"], found["error"], 1e-99))))
    return found


def cells(found: dict[str, Any]) -> list[str]:
    """How it ended, iterations, digits and seconds."""
    if "seconds" not in found:
        return [found["phase"], "", "", ""]
    return [
        found["phase"],
        str(found["iterations"]),
        str(found["digits"]),
        f"{found['seconds']:.2g}" if found["seconds"] < 10 else f"{found['seconds']:.0f}",
    ]


def main() -> None:
    """Time both on each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .dat-s.gz files")
    parser.add_argument("--other", required=True, help="interpreter with sdpa-multiprecision")
    given = parser.parse_args()
    rows: list[list[str]] = []
    for name in FILES:
        path = given.data / f"{name}.dat-s.gz"
        rows.append([name, *cells(ours(path)), *cells(other(path, given.other))])
        print(*(f"{cell:<11}" for cell in rows[-1]), flush=True)
        write(rows)


def write(rows: list[list[str]]) -> None:
    """The table of the documentation, as far as it has come."""
    head = ["File"]
    for who in ("ours", "SDPA-GMP"):
        head += [f"{who}: ended", "iterations", "digits", "seconds"]
    write_table(
        "multiprecision",
        head,
        rows,
        command="python benchmarks/multiprecision.py --data DIRECTORY --other PYTHON",
        notes=(
            f"Both were asked for a relative gap of 1e-15 in {BITS} bits on one thread. Digits are "
            "those in which primal and dual agree, at points whose residuals are as small; zero "
            "digits where the optimum is zero. Ours includes reading the data as rational numbers.",
        ),
    )


if __name__ == "__main__":
    main()
