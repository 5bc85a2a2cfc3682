"""Solutions that CSDP, SDPA and SDPLR write, of one program, and files that are none of it."""

import shutil
import subprocess

import numpy as np
import pytest

import sdpdr
from sdpdr import Status
from sdpdr.errors import FileFormatError
from sdpdr.program import Factor

pytestmark = pytest.mark.integration

# Maximize 2 Y_12 - y_2 with Y_11 = 1, Y_22 + y_1 = 4, y_1 - y_2 = -1: at Y_12 = 2, y = (0, 1) the
# optimum is 3.
PROGRAM = """\
3 = mDIM
2 = nBLOCK
2 -2 = bLOCKsTRUCT
1.0 4.0 -1.0
0 1 1 2 1.0
0 2 2 2 -1.0
1 1 1 1 1.0
2 1 2 2 1.0
2 2 1 1 1.0
3 2 1 1 1.0
3 2 2 2 -1.0
"""
X = (2.0, 0.5, 1.0)
CSDP = """\
2.0 0.5 1.0
1 1 1 1 2.0
1 1 1 2 -1.0
1 1 2 2 0.5
1 2 1 1 1.5
1 2 2 2 1e-9
2 1 1 1 1.0
2 1 1 2 1.9999999
2 1 2 2 4.0
2 2 1 1 1e-9
2 2 2 2 1.0
"""
SDPA = """\
SDPA start
phase.value  = pdOPT
xVec =
{+2.0,+0.5,+1.0}
xMat =
{ { {+2.0,-1.0}, {-1.0,+0.5} } {+1.5,+1e-9} }
yMat =
{
{ {+1.0,+1.9999999}, {+1.9999999,+4.0} }
{+1e-9,+1.0}
}
    main loop time = 0.01
"""
SDPLR = """\
dual variable 3
-2.0
-0.5
-1.0
primal variable 1 s 2 1 1
1.0
2.0
primal variable 2 d 2 1 1
0.00001
1.0
special majiter 7
"""
FILES = {"csdp": CSDP, "sdpa": SDPA, "sdplr": SDPLR}


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.dat-s"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize("writer", FILES)
def test_a_solution_file_is_proved(program, writer):
    answer = program.with_name("answer.sol")
    answer.write_text(FILES[writer])
    found = sdpdr.verify(program, str(answer))
    assert found.status is Status.SOLVED
    assert found.solver == writer
    assert found.claimed.value == pytest.approx(3.0, abs=1e-6)
    assert found.attained <= 3.0 <= found.bound
    assert found.gap <= 1e-6
    assert isinstance(found["Y1"], Factor) == (writer == "sdplr")


def test_a_solution_of_rough_numbers_is_repaired_and_not_mixed_with_the_claim(program):
    """SDPA prints four digits unless it is asked for more."""
    answer = program.with_name("answer.sol")
    answer.write_text(CSDP.replace("1.9999999", "1.999").replace("2 2 2 2 1.0", "2 2 2 2 1.002"))
    found = sdpdr.verify(program, answer)
    assert found.claimed.value == pytest.approx(2.996)
    assert found.status is Status.SOLVED
    assert found.is_refuted
    assert found.moved > 1e-4
    as_it_stands = sdpdr.verify(program, answer, repair=False)
    assert as_it_stands.attained is None
    assert "misses constraint 'rows' by 2.0e-03" in as_it_stands.attained_by


def test_numbers_that_hold_exactly_are_proved_as_they_stand(program):
    answer = program.with_name("answer.sol")
    answer.write_text(CSDP.replace("1.9999999", "2.0").replace("2 2 1 1 1e-9", "2 2 1 1 0.0"))
    found = sdpdr.verify(program, answer, repair=False)
    assert (found.attained, found.status) == (3.0, Status.SOLVED)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1, the scalars x: expected 3 numbers, found 0"),
        ("\0\1\2", "line 1"),
        (CSDP[:40], "last line is not whole"),
        (CSDP.replace("0.5 1.0\n", "0.5\n", 1), "expected 3 numbers, found 2"),
        (CSDP.replace("2 2 2 2 1.0\n", ""), "the diagonals are not all there"),
        (CSDP.replace("2 1 1 2 1.9999999", "2 1 1 2"), "line 8: expected lines of five numbers"),
        (CSDP.replace("2 1 2 2 4.0", "2 1 3 3 4.0"), "line 9: an entry lies outside"),
        (CSDP + "2 2 1 2 9.0\n", "line 12: an entry off the diagonal of a diagonal block"),
        (
            CSDP.replace("2 1 1 2 1.9", "2 1 1.5 2 1.9"),
            "line 8: matrix, block and place are no whole",
        ),
        (CSDP.replace("1.9999999", "nan"), "is nan, which is not finite"),
        (CSDP.replace("2.0 0.5", "inf 0.5"), "line 1, the scalars x: number 1 is inf"),
        (SDPA[: SDPA.index("main")], "lacks xVec, yMat or the times"),
        (SDPA.replace("+1e-9,+1.0}\n}", "+1e-9}\n}"), "entries of Y: expected 6 numbers, found 5"),
        (SDPLR[: SDPLR.index("special")], "its end is missing"),
        (SDPLR.replace("variable 2 d", "variable 3 d"), "line 8: block 2 is not there"),
        (SDPLR.replace("s 2 1 1", "s 2 1 x"), "expected the rank"),
    ],
)
def test_a_file_that_is_no_solution_of_the_program_is_refused(program, text, words):
    answer = program.with_name("answer.sol")
    answer.write_text(text)
    with pytest.raises(FileFormatError, match="answer.sol: ") as refused:
        sdpdr.verify(program, answer)
    said = str(refused.value)
    assert words in said
    assert said.endswith("wrote it: with 3 multipliers and blocks of order 2, 2.")


def test_files_that_are_not_there_are_refused(program, tmp_path):
    with pytest.raises(FileFormatError, match="no such file"):
        sdpdr.verify(program, tmp_path / "nowhere.sol")
    with pytest.raises(FileFormatError, match="is a directory"):
        sdpdr.verify(program, tmp_path)


@pytest.mark.skipif(shutil.which("csdp") is None, reason="coinor-csdp is not installed")
def test_what_csdp_writes_is_what_is_read(program, tmp_path):
    command = ["csdp", program.name, "answer.sol"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    found = sdpdr.verify(program, tmp_path / "answer.sol")
    assert found.status is Status.SOLVED
    np.testing.assert_allclose(found["Y1"], [[1.0, 2.0], [2.0, 4.0]], atol=1e-3)
