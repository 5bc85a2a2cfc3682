"""Small problems of SDPLIB reach the values of its table, with a bound of our own."""

import csv
from pathlib import Path

import pytest

import sdpdr
from sdpdr.program import read_sdpa

LIBRARY = Path(__file__).parents[3] / "shared" / "data" / "sdplib"
SMALL = ("truss1", "truss3", "truss4", "control1", "theta1", "mcp100", "mcp124-1", "gpp100")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not LIBRARY.exists(), reason="the SDPLIB files are not beside the project"),
]


def table():
    with open(LIBRARY / "optimal_values.csv", encoding="ascii") as file:
        return {row["name"]: row["optimal_value"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("name", SMALL)
def test_small_problems_reach_their_table_values(name):
    solution = sdpdr.solve(read_sdpa(LIBRARY / f"{name}.dat-s.gz"))
    assert solution.status is sdpdr.Status.SOLVED
    assert solution.bound is not None
    assert solution.value == pytest.approx(float(table()[name]), rel=1e-5)


@pytest.mark.parametrize(
    ("name", "status"), [("infd1", sdpdr.Status.INFEASIBLE), ("infp1", sdpdr.Status.UNBOUNDED)]
)
def test_problems_without_an_optimum_are_never_called_solved(name, status):
    solution = sdpdr.solve(read_sdpa(LIBRARY / f"{name}.dat-s.gz"), "clarabel")
    assert solution.status is status
