"""Solutions of other programs on the command line."""

import json

import pytest

from sdpdr.lab.cli.app import Exit

PROGRAM = "1\n1\n2\n1.0\n0 1 1 2 1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n"
SOLUTION = """\
1.0
1 1 1 1 1.0
1 1 1 2 -1.0
1 1 2 2 1.0
2 1 1 1 0.5
2 1 1 2 0.5
2 1 2 2 0.5
"""


@pytest.fixture
def files(tmp_path):
    """The largest eigenvalue of a matrix of order 2, and its solution."""
    (tmp_path / "one.dat-s").write_text(PROGRAM)
    (tmp_path / "one.sol").write_text(SOLUTION)
    return tmp_path


def test_claimed_and_proved_are_told_apart(sdpdr, files):
    ran = sdpdr("verify one.dat-s one.sol")
    assert (ran.code, ran.err) == (0, "")
    assert "claimed  1 (csdp, in one.sol): nothing contradicts it" in ran.out
    assert "is attained by a point" in ran.out
    assert "status   SOLVED" in ran.out
    record = json.loads(sdpdr("verify one.dat-s one.sol --no-repair --json").out)
    assert (record["attained"], record["moved"], record["is_refuted"]) == (1.0, 0.0, False)
    assert record["claimed"]["value"] == pytest.approx(1.0)


def test_a_wrong_solution_is_refuted_and_has_a_code(sdpdr, files):
    wrong = SOLUTION.replace("2 1 1 2 0.5", "2 1 1 2 0.6")
    (files / "one.sol").write_text(wrong)
    ran = sdpdr("verify one.dat-s one.sol --no-repair")
    assert ran.code == Exit.UNCERTIFIED
    assert "claimed  1.2 (csdp, in one.sol): refuted" in ran.out
    said = " ".join(ran.out.split())
    assert "no value: the point as it stands misses the cone of variable 'Y1' by 1.0e-01" in said


def test_the_proof_is_written_and_checked(sdpdr, files):
    ran = sdpdr("verify one.dat-s one.sol --proof one.proof")
    assert (ran.code, ran.err) == (0, "")
    assert sdpdr("check one.proof --program one.dat-s").code == 0


def test_a_proof_that_cannot_be_written_is_no_success(sdpdr, files, monkeypatch):
    from sdpdr.errors import DataError
    from sdpdr.program import Solution

    def refuse(*args):
        raise DataError("nothing is proved that a file could hold.")

    monkeypatch.setattr(Solution, "write_proof", refuse)
    ran = sdpdr("verify one.dat-s one.sol --proof one.proof")
    assert ran.code == Exit.UNCERTIFIED
    assert ran.err == "one.proof was not written: nothing is proved that a file could hold.\n"


def test_files_that_are_none_are_one_line_and_a_code(sdpdr, files):
    (files / "half.sol").write_text(SOLUTION[:30])
    for line in ("half.sol", "nowhere.sol", "one.sol --proof one.sol"):
        ran = sdpdr(f"verify one.dat-s {line}")
        assert (ran.code, ran.out, ran.err.count("\n")) == (Exit.BAD_INPUT, "", 1)
    assert sdpdr("verify one.dat-s").code == Exit.USAGE
