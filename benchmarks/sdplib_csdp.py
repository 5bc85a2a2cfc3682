"""SDPLIB beside CSDP: what "auto" settles, and in how many CPU seconds.

    python benchmarks/sdplib_csdp.py FOLDER [NAME ...]

FOLDER holds ``.dat-s.gz`` files. Each is solved by ``sdpdr.solve`` and by the program ``csdp``,
twice, and the smaller number of CPU seconds counts. A row is marked where sdpdr takes more than
.2 s and more than ten times as long as CSDP. Reading the file is not counted on our side; it is
on CSDP's. Each time the file is read anew, since a program remembers what was found out about it.
"""

from __future__ import annotations

import argparse
import gzip
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

from journal import processor_seconds

import sdpdr
from sdpdr.program import read_sdpa

SETTLED = ("SOLVED", "INFEASIBLE", "UNBOUNDED")


def by_csdp(file: Path) -> float:
    """CPU seconds of CSDP."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "problem.dat-s"
        plain.write_bytes(gzip.decompress(file.read_bytes()))
        subprocess.run(["csdp", plain], cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def by_us(file: Path) -> tuple[float, str, float]:
    """CPU seconds, status and gap of ``auto``."""
    program = read_sdpa(file)
    start = processor_seconds()
    solution = sdpdr.solve(program, time_limit=120)
    return processor_seconds() - start, solution.status.name, solution.gap


def main() -> None:
    """Print a row as soon as it is measured, and the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    files = sorted(arguments.folder.glob("*.dat-s.gz"))
    if arguments.names:
        files = [file for file in files if file.name.split(".")[0] in arguments.names]
    sdpdr.solve(read_sdpa(files[0]), time_limit=5)  # imports and workers are not counted
    ours, ratios, settled = [], [], 0
    for file in files:
        seconds, status, gap = min(by_us(file) for _ in range(2))
        theirs = min(by_csdp(file) for _ in range(2))
        ours.append(seconds)
        ratios.append(seconds / max(theirs, 0.01))
        settled += status in SETTLED
        slow = "slow" if seconds > 0.2 and ratios[-1] > 10 else ""
        name = file.name.split(".")[0]
        print(
            f"{name:10} {status:16} gap {gap:8.1e} {seconds:7.2f} s, CSDP {theirs:6.2f} s, "
            f"{ratios[-1]:6.1f} times {slow}",
            flush=True,
        )
    print(
        f"{settled} of {len(files)} settled; median {statistics.median(ours):.2f} s, "
        f"{statistics.median(ratios):.1f} times CSDP"
    )


if __name__ == "__main__":
    main()
