"""SDPLIB's problems of low rank, to their table values, with a bound of our own."""

import csv
from pathlib import Path

import pytest

import sdpdr
from sdpdr.program import read_sdpa

LIBRARY = Path(__file__).parents[3] / "shared" / "data" / "sdplib"
NAMES = ("mcp100", "mcp250-1", "theta1", "theta2", "truss1", "qap5", "maxG11", "arch0", "qpG11")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not LIBRARY.exists(), reason="the SDPLIB files are not beside the project"),
]


@pytest.mark.parametrize("name", NAMES)
def test_problems_of_low_rank_are_solved_and_certified(name):
    with open(LIBRARY / "optimal_values.csv", encoding="ascii") as file:
        table = {row["name"]: row["optimal_value"] for row in csv.DictReader(file)}
    solution = sdpdr.solve(read_sdpa(LIBRARY / f"{name}.dat-s.gz"), "lowrank")
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.certified(1e-6)
    assert solution.residuals.worst() <= 2e-6
    assert solution.value == pytest.approx(float(table[name]), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "status"), [("infd1", sdpdr.Status.INFEASIBLE), ("infp1", sdpdr.Status.UNBOUNDED)]
)
def test_problems_without_an_optimum_are_told_apart(name, status):
    assert sdpdr.solve(read_sdpa(LIBRARY / f"{name}.dat-s.gz"), "lowrank").status is status
