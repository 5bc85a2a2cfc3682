"""SDPLR and LoRADS: real ones where they are installed, and fakes that misbehave."""

from __future__ import annotations

import os
import sys
from functools import partial

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.blocks import Slack
from sdpdr.errors import (
    DataError,
    FileFormatError,
    NotAcceptedError,
    SolverMissingError,
    UnknownNameError,
)
from sdpdr.linalg import InnerProduct, SvecMap, Trace, VectorMap
from sdpdr.program import SDP, Factor, PsdVariable, Rows, VectorVariable
from sdpdr.program.run import Verdict
from sdpdr.program.sdpa.solutions import read_factors
from sdpdr.solvers import Lorads, Sdplr
from sdpdr.solvers.external_files import filed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the fakes are POSIX scripts")

PROGRAMS = [Sdplr, Lorads]
REAL = [
    pytest.param(
        cls,
        marks=pytest.mark.skipif(
            not cls.availability().usable, reason=f"{cls.program} is not installed"
        ),
        id=cls.name,
    )
    for cls in PROGRAMS
]
OPTIMUM = 5 / (4 * np.sin(np.pi / 5) ** 2)  # a ring of five unit edges unfolds to a pentagon
# Without site packages, which the fakes do not need, it starts in no time.
PYTHON = f"{sys.executable} -IS"


def largest_cut(n, seed=0):
    """A cut of a sparse random graph: <C, X> with ones on the diagonal."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    chosen = rng.random(i.size) < 4.0 / n
    i, j = i[chosen], j[chosen]
    cost = SvecMap.from_entries(n, 1, np.zeros_like(i), i, j, np.ones(i.size))
    at = np.arange(n)
    diagonal = SvecMap.from_entries(n, n, at, at, at, np.ones(n))
    rows = (Rows("ones", "==", {"X": diagonal}, np.ones(n)),)
    return SDP((PsdVariable("X", n),), {"X": cost}, rows)


@pytest.fixture
def fake(fake_programs):
    """Let a script play each program."""
    return partial(fake_programs, PROGRAMS)


# -- the real ones --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", REAL)
def test_the_ring_unfolds_to_a_factor(cls, ring):
    solution = sdpdr.solve(ring, cls(tol=1e-6))
    assert solution.certified(1e-5)
    assert solution.value == pytest.approx(OPTIMUM, rel=1e-5)
    assert solution.bound == pytest.approx(OPTIMUM, rel=1e-5)
    assert solution.claimed.value == pytest.approx(OPTIMUM, rel=1e-4)
    assert solution.claimed.iterations > 0
    assert solution.form == "gram"


@pytest.mark.parametrize("cls", REAL)
def test_a_cut_stays_a_factor_and_is_proved(cls):
    sdp = largest_cut(60)
    best = sdpdr.solve(sdp, "clarabel", tol=1e-7)
    outcome = cls(tol=1e-6).run(sdp)
    assert isinstance(outcome.point.values["X"], Factor)
    solution = sdpdr.solve(sdp, cls(tol=1e-6))
    assert solution.certified(1e-5)
    assert solution.value == pytest.approx(best.value, rel=1e-5)


@pytest.mark.parametrize("cls", REAL)
@pytest.mark.parametrize("relation", ["equality", Slack(300.0, "absolute", True)], ids=repr)
def test_every_kind_of_variable_finds_its_way_back(cls, relation):
    model = methods.mvu(graphs.path([1.0, 2.0, 1.5]), relation)
    best, found = sdpdr.solve(model, tol=1e-8), sdpdr.solve(model, cls())
    assert found.value == pytest.approx(best.value, rel=1e-4)
    assert found.residuals.worst() < 1e-4


# -- missing, unfit, misused ----------------------------------------------------------------------


@pytest.mark.parametrize("cls", PROGRAMS)
def test_a_missing_program_says_where_its_sources_are(cls, ring, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SolverMissingError, match=f"is missing: build it from {cls.source}"):
        sdpdr.solve(ring, cls.name)
    assert cls().run(ring.to_sdp()).verdict is Verdict.FAILED


def test_lorads_as_published_is_not_taken(ring, fake, tmp_path):
    fake("exit 0")
    (tmp_path / "bin" / "lorads").write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(SolverMissingError, match="writes no solution, as it is published"):
        sdpdr.solve(ring, "lorads")


@pytest.mark.parametrize("cls", PROGRAMS)
def test_a_program_without_matrices_is_refused(cls, fake):
    fake("exit 0")
    limit = Rows("limit", "<=", {"z": VectorMap(np.eye(2))}, np.ones(2))
    gain = VectorMap(-np.ones((1, 2)))
    linear = SDP((VectorVariable("z", 2, nonnegative=True),), {"z": gain}, (limit,))
    with pytest.raises(NotAcceptedError, match="no matrix variable"):
        sdpdr.solve(linear, cls())


def test_sdplr_refuses_limits_of_iterations_and_options_that_it_has_not(ring, fake):
    fake("exit 0")
    with pytest.raises(DataError, match="no limit of iterations"):
        sdpdr.solve(ring, Sdplr(max_iter=5))
    with pytest.raises(UnknownNameError, match="Did you mean 'Rank reduction'"):
        sdpdr.solve(ring, Sdplr(options={"Rank reducton": 1}))


# -- what they are told ---------------------------------------------------------------------------


def test_parameters_of_sdplr_keep_their_places(tmp_path):
    words = Sdplr(tol=1e-6, time_limit=50.0, options={"Rank reduction": 1}).command(tmp_path)
    lines = (tmp_path / words[1]).read_text().splitlines()
    assert [line.split(" : ")[1] for line in lines[:6]] == ["1", "1e-07", "0.001", "2.0", "1", "40"]
    assert len(lines) == 14
    Sdplr(defaults=True).command(tmp_path)
    assert "Centrality tolerance : 0.1" in (tmp_path / words[1]).read_text()


def test_lorads_is_told_limits_on_its_command_line(tmp_path):
    words = " ".join(Lorads(max_iter=7, time_limit=0.1, options={"rhoFreq": 3}).command(tmp_path))
    assert "--timeSecLimit 1 " in words
    assert "--maxALMIter 7 --maxADMMIter 7 --rhoFreq 3" in words


# -- solution files -------------------------------------------------------------------------------


@pytest.fixture
def bounded():
    """Over a matrix of order 2 and two scalars, in one row."""
    row = Rows("r", "==", {"X": Trace(2), "z": VectorMap(np.ones((1, 2)))}, np.ones(1))
    variables = (PsdVariable("X", 2), VectorVariable("z", 2, nonnegative=True))
    return filed(SDP(variables, {"X": InnerProduct(np.eye(2))}, (row,)))


HEAD = ["dual variable 1", "-3.0", "primal variable 1 s 2 2 2", "1", "2", "3", "4"]
ROOTS = ["primal variable 2 d 2 1 1", "2", "-3"]
DIAGONAL = ["primal variable 2 s 2 2 2", "1", "0", "2", "3"]
END = ["special majiter 3"]


@pytest.mark.parametrize(("block", "expected"), [(ROOTS, [4.0, 9.0]), (DIAGONAL, [5.0, 9.0])])
def test_factors_are_read_column_by_column(tmp_path, bounded, block, expected):
    path = tmp_path / "solution"
    path.write_text("\n".join([*HEAD, *block, *END]) + "\n")
    answer = read_factors(path, bounded.written)
    np.testing.assert_array_equal(answer.x, [3.0])
    np.testing.assert_array_equal(answer.blocks[0].factor, [[1.0, 3.0], [2.0, 4.0]])
    np.testing.assert_array_equal(answer.blocks[1], expected)
    point = bounded.point(answer)
    assert isinstance(point.values["X"], Factor)
    np.testing.assert_array_equal(point.values["z"], expected)


@pytest.mark.parametrize("lines", range(len(HEAD + ROOTS)))
def test_a_solution_cut_off_anywhere_is_refused(tmp_path, bounded, lines):
    path = tmp_path / "solution"
    path.write_text("\n".join([*HEAD, *ROOTS][: lines + 1]))
    with pytest.raises((FileFormatError, ValueError)):
        read_factors(path, bounded.written)
