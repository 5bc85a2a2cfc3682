"""Optimal values of programs in SDPA files, in fifteen digits from both sides.

    python benchmarks/sdplib_references.py --data DIRECTORY
    python benchmarks/sdplib_references.py --data DIRECTORY truss1 theta1

Files are taken by size, and a line for each is kept in ``benchmarks/sdplib_references.csv``; what
stands there is not solved again. Values are those of the maximisation over matrices, as SDPA prints
them, of the numbers in the files; digits are those in which both sides agree, at points whose
relative residuals are as small. Seconds are of one processor.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

from sdpdr.base.files import write_text
from sdpdr.errors import NotAcceptedError
from sdpdr.program import SDP, read_sdpa
from sdpdr.solvers import reference

KEPT = Path(__file__).with_suffix(".csv")
FIELDS = (
    "name", "order", "rows", "status", "primal", "dual", "digits", "error", "bits", "iterations",
    "seconds",
)  # fmt: skip
ENDING = ".dat-s.gz"


def order(sdp: SDP) -> int:
    """The largest order."""
    return max((v.n for v in sdp.psd_variables), default=1)


def work(sdp: SDP) -> float:
    """About how long an iteration takes, in arbitrary units."""
    return sum(v.n**3 for v in sdp.psd_variables) + float(sdp.n_rows) ** 2.5


def solve(name: str, sdp: SDP, digits: int, bits: int | None, limit: float) -> dict[str, object]:
    """One line of the table."""
    begin = time.process_time()
    found = reference(sdp, digits, bits=bits, time_limit=limit)
    seconds = time.process_time() - begin
    cells = (
        name, order(sdp), sdp.n_rows, found.status, found.primal, found.dual, found.digits_agreed,
        f"{found.error:.1e}", found.bits, found.iterations, f"{seconds:.1f}",
    )  # fmt: skip
    return dict(zip(FIELDS, cells, strict=True))


def kept() -> dict[str, dict[str, object]]:
    """Lines that are there already."""
    if not KEPT.exists():
        return {}
    with open(KEPT, newline="") as file:
        return {line["name"]: dict(line) for line in csv.DictReader(file)}


def keep(lines: dict[str, dict[str, object]]) -> None:
    """Write all lines."""
    rows = [",".join(FIELDS)]
    rows += [",".join(str(lines[name][k]) for k in FIELDS) for name in sorted(lines)]
    write_text(KEPT, "\n".join(rows) + "\n")


def main() -> None:
    """Solve what is asked for and not there yet."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="files, without their endings; default: all")
    parser.add_argument("--data", type=Path, help=f"folder of files that end in {ENDING}")
    parser.add_argument("--digits", type=int, default=15)
    parser.add_argument("--bits", type=int)
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each file")
    given = parser.parse_args()
    lines = kept()
    if given.data is None:
        parser.error("--data is needed to find the files")
    names = given.names or [p.name.removesuffix(ENDING) for p in given.data.glob(f"*{ENDING}")]
    programs = {name: read_sdpa(given.data / f"{name}{ENDING}") for name in names}
    for name in sorted(programs, key=lambda n: work(programs[n])):
        if name in lines and name not in given.names:
            continue
        try:
            lines[name] = solve(name, programs[name], given.digits, given.bits, given.limit)
        except NotAcceptedError as refusal:
            print(f"{name:<10} {refusal}", flush=True)
            continue
        print(*(f"{lines[name][k]!s:<8}" for k in FIELDS), flush=True)
        keep(lines)


if __name__ == "__main__":
    main()
