"""The checker accepts what the package proves, and what it accepts is true."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.base.errors import DataError
from sdpdr.certify.check_proof import BY_ENTRIES, check, main
from sdpdr.certify.proof_file import hash_of, program
from sdpdr.testing import planted

from .files import ALL, DECEIVING, Contents, inequality, optimum, pentagon, triangle, write

CHECKER = Path(__file__).parents[2] / "checker" / "check_proof.py"


@pytest.mark.daily(4)
@pytest.mark.parametrize(
    ("make", "answer"), ALL.items(), ids=lambda one: getattr(one, "__name__", "")
)
def test_what_is_proved_is_written_and_accepted(make, answer, tmp_path):
    written = write(make, tmp_path / "answer.proof")
    proved = check(written.path)
    assert not written.missing
    assert not written.notes
    if isinstance(answer, str):
        assert proved[answer] is True
        return
    sense = proved["sense"]
    assert sense * proved["bound"] <= sense * answer * (1.0 + 1e-15 * sense * np.sign(answer))
    assert sense * proved["value"] >= sense * answer * (1.0 - 1e-15 * sense * np.sign(answer))
    assert proved["value"] == pytest.approx(proved["bound"], rel=2e-6)


SOLVABLE = [make for make in ALL if make not in DECEIVING]


@pytest.mark.daily(3)
@pytest.mark.parametrize("make", SOLVABLE, ids=lambda make: make.__name__)
def test_the_program_in_the_file_is_the_one_that_was_meant(make, tmp_path):
    contents = Contents.of(write(make, tmp_path / "answer.proof").path)
    found, answer, sense = optimum(contents.program), ALL[make], contents.program["sense"]
    expected = {"infeasible": np.inf, "unbounded": -np.inf}.get(str(answer), answer)
    expected = sense * expected if np.isfinite(expected) else expected
    # Files are minimisations.
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.daily(1)
@pytest.mark.integration
@pytest.mark.parametrize(
    "name",
    [
        "cp-lift-cycle-4",
        "nmf-shor-square",
        "cheap-slack-actions",
        "cheap-slack-furthest",
        "sopca-gaussian-4",
        "sparse-direction-40",
        "are-walk-inverse",
        "nmf-lift-random-100",
    ],
)
def test_cards_whose_proofs_are_not_written_by_the_first_argument(name, tmp_path):
    solution = sdpdr.library.find_card(name).solve("auto", "auto", progress=False)
    written = solution.write_proof(tmp_path / "card.proof")
    assert not written.missing
    assert len(check(written.path)) == 3 + (solution.ray is None)


@pytest.mark.daily(3)
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("one-matrix", 10),
        ("primal-degenerate", 11),
        ("nonnegative", 8),
        ("inequalities", 16),
        ("scaled", 20),
        ("thin", 16),
        ("face-unattained", 12),
    ],
)
def test_points_next_to_a_boundary_are_written_by_their_entries(kind, seed, tmp_path):
    """Their least eigenvalues are 1e-10 or so, where slopes of factors are next to singular."""
    program = planted(kind, seed)
    written = sdpdr.solve(program.sdp, progress=False).write_proof(tmp_path / "answer.proof")
    proved, best = check(written.path), program.truth.value
    assert not written.missing
    assert BY_ENTRIES in Contents.of(written.path).proof["point"]["rank"]
    below, above = sorted((Fraction(proved["bound"]), Fraction(proved["value"])))
    assert below <= best <= above


@pytest.mark.integration
def test_an_unfolding_of_hundreds_of_points(tmp_path):
    X, _ = sdpdr.datasets.swiss_roll(400, seed=0)
    solution = sdpdr.solve(methods.mvu(graphs.knn(X, n_neighbors=6)))
    written = solution.write_proof(tmp_path / "roll.proof")
    proved = check(written.path)
    assert written.path.stat().st_size < 100_000
    assert proved["value"] <= solution.bound * (1.0 + 1e-12)
    assert 0.0 <= 1.0 - proved["value"] / proved["bound"] < 1e-6


def test_the_checker_stands_alone(tmp_path):
    path = write(pentagon, tmp_path / "answer.proof").path
    script = "import sys, runpy; sys.modules['sdpdr'] = None; sys.argv[0] = sys.argv.pop(1);"
    run = [sys.executable, "-c", script + "runpy.run_path(sys.argv[0], run_name='__main__')"]
    done = subprocess.run([*run, str(CHECKER), str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "PROVED: a feasible point exists whose objective is not below 2.236" in done.stdout


def test_exit_codes(tmp_path, capsys):
    path = write(pentagon, tmp_path / "answer.proof").path
    contents = Contents.of(path)
    contents.proof["claims"]["bound"] = 2.0
    wrong, text = contents.write(tmp_path / "wrong.proof"), tmp_path / "text.proof"
    text.write_text("nothing")
    damaged = tmp_path / "damaged.proof"
    damaged.write_bytes(path.read_bytes()[:-100])
    ends = (((path,), 0), ((path, wrong), 1), ((wrong, text), 2), ((damaged, path), 2), ((), 2))
    for paths, code in ends:
        assert main(list(map(str, paths))) == code
    said = capsys.readouterr().out
    assert "NOT PROVED: the bound proved is 2.236" in said
    assert "NO PROOF FILE: it cannot be read: BadGzipFile" in said


def test_the_checker_says_how_it_is_called(capsys):
    assert main([]) == 2
    missing = capsys.readouterr()
    assert (main(["--help"]), main(["-h"])) == (0, 0)
    shown = capsys.readouterr()
    assert missing.err.startswith("usage: python check_proof.py FILE")
    assert (missing.out, shown) == ("", (2 * missing.err, ""))


def test_the_hash_names_the_program(tmp_path):
    sdp = triangle().to_sdp()
    written = sdpdr.solve(sdp).write_proof(tmp_path / "answer.proof")
    assert check(written.path)["program"] == written.program == hash_of(sdp)
    assert hash_of(inequality().to_sdp()) != hash_of(sdp)


def test_a_bound_of_zero_is_claimed_as_zero(tmp_path):
    K = sdpdr.psd("K", 2)
    written = sdpdr.solve(sdpdr.minimize(K.trace()) + (K[0, 1] <= 1)).write_proof(tmp_path / "p")
    assert (dict(written.claims), written.missing) == ({"value": 0.0, "bound": 0.0}, {})
    assert check(written.path)["bound"] == 0.0


def test_multipliers_of_squares_that_are_all_zero_are_written(tmp_path):
    v = sdpdr.scalar("v", 3)
    solution = sdpdr.solve(sdpdr.minimize(sdpdr.square(v).sum()) + (v.sum() <= 1))
    written = solution.write_proof(tmp_path / "answer.proof")
    assert check(written.path)["bound"] == pytest.approx(0.0, abs=1e-12)


def test_a_solution_without_a_program_or_a_proof_writes_none(tmp_path):
    from dataclasses import replace

    solution = sdpdr.solve(pentagon())
    with pytest.raises(DataError, match="does not know its program"):
        replace(solution, writer=None).write_proof(tmp_path / "answer.proof")
    with pytest.raises(DataError, match="no side is proved"):
        replace(solution, attained=None, bound=None).write_proof(tmp_path / "answer.proof")
    assert not list(tmp_path.iterdir())


@pytest.mark.integration
def test_products_of_long_vectors_are_entries_of_blocks_with_more_rows(tmp_path, monkeypatch):
    """The objective is f' K f, with a coefficient for each pair of numbers of f."""
    solution = sdpdr.library.find_card("colored-swiss-roll-60").solve("auto", progress=False)
    written = solution.write_proof(tmp_path / "answer.proof")
    proved = check(written.path)
    assert not written.missing
    assert Contents.of(written.path).program["n"] == [61]
    assert proved["value"] == pytest.approx(solution.attained, rel=1e-9)
    assert solution.bound <= proved["bound"] * (1.0 + 1e-12) <= solution.bound * (1.0 + 2e-7)
    monkeypatch.setattr(program, "_LONG", 10_000)
    monkeypatch.setattr(program, "_EXACT", 100)
    with pytest.raises(DataError, match="on a sample"):
        solution.write_proof(tmp_path / "answer.proof")


def test_solve_writes_what_it_proves_of_a_cvxpy_problem_over_other_cones(tmp_path):
    p = cp.Variable(3, name="p")
    problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(p))), [cp.sum(p) == 1])
    written = sdpdr.solve(problem).write_proof(tmp_path / "answer.proof")
    proved = check(written.path)
    assert not written.missing
    assert proved["value"] <= np.log(3.0) <= proved["bound"] <= proved["value"] * (1.0 + 1e-6)


def test_that_no_point_is_feasible_is_written_whatever_the_costs_are(tmp_path):
    """X_00 = 0 leaves a face on which X_01 = 1 is refuted, by multipliers without the costs."""
    X = cp.Variable((3, 3), PSD=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X) + 3 * X[0, 1]), [X[0, 0] == 0, X[0, 1] == 1])
    written = sdpdr.verify(problem).write_proof(tmp_path / "answer.proof")
    assert check(written.path)["infeasible"] is True
