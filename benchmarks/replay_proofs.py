"""Prove recorded points anew, and compare with what was proved when they were recorded.

`prove` is the one place that knows how the package proves both sides of a point: when proofs move
to another room, only this function changes.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from proof_corpus import grade, read_lines, read_point, read_program

from sdpdr import SDP
from sdpdr.program import Point
from sdpdr.solving.proofs import Prover

KEPT = Path(__file__).parent / "baselines" / "proofs"


def prove(program: SDP, point: Point, tol: float, rigorous: bool, gap_scale: float) -> Any:
    """Return what is proved of a point with multipliers: both sides, with their arguments."""
    found = Prover(program, tol, gap_scale).of(point)
    return {
        "value": found.value,
        "value_argument": found.how.get("value", ""),
        "bound": found.bound,
        "bound_argument": found.how.get("bound", ""),
    }


@cache
def programs(folder: Path = KEPT) -> dict[str, dict[str, Any]]:
    """Read the programs of the corpus, by the keys that records have."""
    return {found["program"]: found for found in read_lines(folder / "programs.jsonl.gz")}


@cache
def records(folder: Path = KEPT) -> dict[str, dict[str, Any]]:
    """Read the recorded proofs by name: section, origin, and a number for those of one origin."""
    found: dict[str, dict[str, Any]] = {}
    for record in read_lines(folder / "proofs.jsonl.gz"):
        base = f"{record['section']}: {record['origin']}"
        numbered = (f"{base} #{k}" for k in count(1))
        found[next(name for name in numbered if name not in found)] = record
    return found


def recorded(name: str, folder: Path = KEPT) -> dict[str, Any]:
    """Return the row that says what was proved at the time of recording."""
    record = records(folder)[name]
    return {**_row(record, record["proved"], folder), "seconds": record["seconds"]}


def replay(name: str, folder: Path = KEPT) -> dict[str, Any]:
    """Return the row that says what is proved now."""
    record = records(folder)[name]
    program = read_program(programs(folder)[record["program"]])
    point, tol = read_point(record["point"]), record["tol"]
    proved = prove(program, point, tol, record["rigorous"], record["gap_scale"])
    return _row(record, proved, folder)


def _row(record: dict[str, Any], proved: dict[str, Any], folder: Path) -> dict[str, Any]:
    reached = grade(proved, record["tol"], record["gap_scale"])
    maximize = programs(folder)[record["program"]]["maximize"]
    return {
        "status": reached.upper(),
        "sense": "max" if maximize else "min",
        "value": proved["value"],
        "attained": proved["value"],
        "bound": proved["bound"],
        "tol": record["tol"],
        "gap_scale": record["gap_scale"],
        "words": [proved["value_argument"], proved["bound_argument"]],
    }
