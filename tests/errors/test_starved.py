"""Runs that run out of memory: words instead of a traceback, and never a wrong answer."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.lab import cli
from sdpdr.solvers.lowrank.edge.newton import BlockLaplacian
from sdpdr.solvers.processes import ends
from sdpdr.solvers.processes.ends import allowed_memory, is_starved

pytestmark = pytest.mark.integration

OPTIMUM = 14.0 / 3.0


@pytest.fixture
def model():
    """Three points in a row: K = diag(...) with trace 14 / 3."""
    return methods.mvu(graphs.path([1.0, 2.0]))


@pytest.mark.parametrize(
    ("shares", "allowed"),
    [(["max\n"], None), ([str(2**63 - 4096)], None), (["65536\n", "131072\n"], 65536), ([], None)],
)
def test_a_container_allows_what_it_says(tmp_path, monkeypatch, shares, allowed):
    """A limit of the container counts, in either version of its groups; "max" is none."""
    monkeypatch.setattr(ends, "_SHARES", ())
    machine = allowed_memory()
    files = [tmp_path / f"share{k}" for k in range(2)]
    for file, words in zip(files, shares, strict=False):
        file.write_text(words)
    monkeypatch.setattr(ends, "_SHARES", tuple(files))
    assert allowed_memory() == (allowed or machine)


def test_a_process_is_allowed_no_more_than_its_own_limit(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda what: (2**30, resource.RLIM_INFINITY))
    assert allowed_memory() <= 2**30


def assert_says_memory(solution):
    assert solution.status is Status.FAILED
    assert solution.claimed.status == "out of memory"
    assert "did not fit into memory" in solution.claimed.message
    json.dumps(solution.record(), allow_nan=False)


@pytest.mark.parametrize("isolate", [False, True])
def test_a_solver_without_room_says_so(model, faulty, isolate):
    solution = sdpdr.solve(model, faulty.Starves(), isolate=isolate)
    assert_says_memory(solution)
    assert "no room for the Schur complement" in solution.claimed.message


def test_a_solver_that_the_system_killed_is_named(model, faulty):
    solution = sdpdr.solve(model, faulty.IsKilled(), isolate=True)
    assert solution.status is Status.FAILED
    assert "SIGKILL" in solution.claimed.message
    assert "memory" in solution.claimed.message


@pytest.mark.parametrize("what", ["sdpdr.reduce.Composed.apply", "sdpdr.solving.grade.repair"])
def test_memory_that_ends_around_the_solver_is_a_status_too(model, monkeypatch, what):
    def starve(*arguments, **options):
        raise MemoryError("Unable to allocate 7 GiB")

    monkeypatch.setattr(what, starve)
    solution = sdpdr.solve(model, "clarabel", "gram")
    assert_says_memory(solution)
    assert "7 GiB" in solution.claimed.message
    assert solution.bound is None


@pytest.mark.parametrize("good", [0, 3])
def test_the_engine_of_edges_keeps_what_it_has(model, monkeypatch, good):
    """The point and the bound from before memory ended are graded."""
    factorize, seen = BlockLaplacian.factorize, []

    def starve(self, shift):
        seen.append(shift)
        if len(seen) > good:
            raise MemoryError("the sparse factor does not fit into memory.")
        return factorize(self, shift)

    monkeypatch.setattr(BlockLaplacian, "factorize", starve)
    solution = sdpdr.solve(model, "lowrank", progress=lambda record: None)
    # What is left may be enough: grading moves points of programs as small as this.
    assert solution.status is (Status.SOLVED if solution.certified() else Status.FAILED)
    assert "did not fit into memory" in solution.claimed.message
    assert 0.0 < solution.value <= OPTIMUM * (1.0 + 1e-9) <= solution.bound * (1.0 + 1e-9)


def test_the_command_line_says_it_in_one_line(monkeypatch, capsys):
    def starve(*arguments, **options):
        raise MemoryError("Unable to allocate 7 GiB")

    monkeypatch.setattr("sdpdr.lab.cli.problems.find_card", starve)
    assert cli.main(["solve", "path-graph"]) == 5
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "starved"),
    [
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB", True),
        ("terminate called after throwing an instance of 'std::bad_alloc'", True),
        ("memory allocation of 3200000000 bytes failed", True),
        ("OSError: [Errno 12] Cannot allocate memory", True),
        ("ValueError: the matrix is singular", False),
    ],
)
def test_words_about_memory_are_understood_in_every_language(words, starved):
    assert is_starved(words) is starved


# -- real limits --------------------------------------------------------------------------------

LIMITED = """
import json, resource, sys
import sdpdr
from sdpdr import datasets, graphs, methods
from sdpdr.solvers import find

name, engine, points, mebibytes = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
solver = find(name)(options={"engine": engine} if engine else {}, time_limit=60.0)
sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), solver)  # so that everything is imported
model = methods.mvu(graphs.knn(datasets.swiss_roll(points, seed=0)[0], n_neighbors=6))
sdp = model.to_sdp()
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
limit = used + int(mebibytes * 2**20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
try:
    solution = sdpdr.solve(sdp, solver)
    record = [solution.status.name, solution.value, solution.bound, solution.claimed.message]
except MemoryError as error:
    record = ["REFUSED", None, None, str(error)]
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(record))
"""
ROLL_OPTIMUM = {60: None, 3000: 2402258.8959}
SOLVERS = [("lowrank", "edges", 3000), ("lowrank", "general", 3000), ("scs", "", 60)]


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="limits of address space are those of Linux")
@pytest.mark.parametrize("mebibytes", [1, 8, 32])
@pytest.mark.parametrize(("name", "engine", "points"), SOLVERS)
def test_a_real_limit_gives_words_or_the_right_answer(name, engine, points, mebibytes):
    command = [sys.executable, "-c", LIMITED, name, engine, str(points), str(mebibytes)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:  # native code may end its process; then it says why, or is known to
        assert ran.returncode < 0 or is_starved(ran.stderr), ran.stderr
        return
    status, value, bound, message = json.loads(ran.stdout)
    assert status in ("SOLVED", "TIME_LIMIT", "FAILED", "REFUSED", "INACCURATE"), message
    optimum = ROLL_OPTIMUM[points]
    if optimum and bound is not None:
        assert bound >= optimum * (1.0 - 1e-6)
    if optimum and value is not None and np.isfinite(value):
        assert value <= optimum * (1.0 + 1e-6)
