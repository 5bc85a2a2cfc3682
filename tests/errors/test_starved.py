"""Runs that run out of memory: words instead of a traceback, and never a wrong answer."""

from __future__ import annotations

import json

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


def test_a_solver_without_room_says_so(model, faulty):
    solution = sdpdr.solve(model, faulty.Starves(), isolate=True)
    assert_says_memory(solution)
    assert "no room for the Schur complement" in solution.claimed.message


@pytest.mark.parametrize("what", ["sdpdr.reduce.Composed.apply", "sdpdr.solving.grade.made_psd"])
def test_memory_that_ends_around_the_solver_is_a_status_too(model, monkeypatch, what):
    def starve(*arguments, **options):
        raise MemoryError("Unable to allocate 7 GiB")

    monkeypatch.setattr(what, starve)
    solution = sdpdr.solve(model, "clarabel", "gram")
    assert_says_memory(solution)
    assert "7 GiB" in solution.claimed.message
    assert solution.bound is None


@pytest.mark.daily(1)
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
