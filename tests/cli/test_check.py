"""Proof files on the command line."""

import json

import pytest

from sdpdr.lab.cli.app import Exit


@pytest.fixture
def proof(sdpdr, tmp_path):
    """The proof of a small program in SDPA's format, as the command writes it."""
    assert sdpdr("export path-graph --to path.dat-s").code == 0
    ran = sdpdr("sdp path.dat-s --proof path.proof")
    assert (ran.code, ran.err) == (0, "")
    return tmp_path / "path.proof"


def test_a_proof_file_of_sdp_is_checked(sdpdr, proof):
    ran = sdpdr("check path.proof --program path.dat-s")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("path.proof: proved: a feasible point exists whose objective is not ")
    (record,) = json.loads(sdpdr("check path.proof --json").out)
    assert record["proved"]
    assert record["value"] == pytest.approx(record["bound"], rel=1e-6)


def test_a_proof_of_another_program_is_none_of_this_one(sdpdr, proof):
    assert sdpdr("export circle --to circle.dat-s").code == 0
    ran = sdpdr("check path.proof --program circle.dat-s")
    assert ran.code == Exit.UNCERTIFIED
    assert "about another program" in ran.out


def test_a_file_that_is_no_proof_says_what_writes_one(sdpdr, proof):
    proof.write_bytes(proof.read_bytes()[:-100])
    ran = sdpdr("check path.proof")
    assert (ran.code, ran.out) == (Exit.BAD_INPUT, "")
    assert ran.err.startswith("error: path.proof is no proof file: it cannot be read")
    assert "`sdpdr sdp --proof` and `solution.write_proof` write them." in ran.err
    assert sdpdr("check nowhere.proof").code == Exit.BAD_INPUT
    proof.write_text("x,y\n1,2\n")
    assert "error: path.proof is no proof file. `sdpdr sdp" in sdpdr("check path.proof").err
