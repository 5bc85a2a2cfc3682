"""What the command says of options, of what it did, and of Ctrl-C before it began."""

import os
import re
import signal
import subprocess
import sys
from argparse import ArgumentTypeError

import numpy as np
import pandas as pd
import pytest

from sdpdr import MVU, DistanceCompletion
from sdpdr.lab.cli import EARLY, nothing_begun
from sdpdr.lab.cli.app import _parsers, parser
from sdpdr.lab.cli.options import Exit

POINTS = np.random.default_rng(1).standard_normal((12, 2)).round(3)


@pytest.fixture
def points(tmp_path):
    pd.DataFrame(POINTS, columns=["a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    return POINTS


@pytest.fixture
def pairs():
    i, j = np.triu_indices(len(POINTS), 1)
    return i, j, np.linalg.norm(POINTS[i] - POINTS[j], axis=1)


# -- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--n-neighbors 6.5", "expected a whole number from 1 on, or auto, got '6.5'"),
        ("--n-neighbors 0", "expected a whole number from 1 on, or auto, got '0'"),
        ("--n-components 0", "expected a whole number from 1 on, got '0'"),
        ("--landmarks x", "expected a whole number from 1 on, got 'x'"),
    ],
)
def test_numbers_are_refused_before_a_table_is_spoken_of(sdpdr, points, option, words):
    ran = sdpdr(f"embed t.csv {option}")
    assert (ran.code, ran.err.count("\n")) == (Exit.USAGE, 1)
    assert words in ran.err


def test_no_option_answers_with_a_name_of_the_program():
    def answer(read, text):
        try:
            read(text)
        except ArgumentTypeError:
            return "in words"
        except (ValueError, TypeError):
            return "invalid"
        return "read"

    actions = [a for one in _parsers(parser(every=True)) for a in one._actions if a.type]
    assert len(actions) > 10
    assert not [a.dest for a in actions if answer(a.type, "?!") == "invalid"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--squared", "--squared is about distances"),
        ("--metric precomputed --scale standard", "--scale standard is about coordinates"),
        ("--metric precomputed --missing drop", "--missing drop is about coordinates"),
        ("--metric cosine --save m.npz", "--metric cosine compares directions"),
        ("--method colored_mvu", "needs --labels"),
        ("--method xing --labels a --metric cosine", "method xing does not take --metric"),
    ],
)
def test_options_that_do_not_go_together_are_told_alone(sdpdr, points, options, words):
    ran = sdpdr(f"embed t.csv {options} --out out.csv")
    assert ran.code in (Exit.BAD_INPUT, Exit.NO_SOLVER)
    assert ran.err.count("\n") == 1
    assert words in ran.err


def test_parquet_without_its_package_is_told_before_any_work(sdpdr, points, hide_packages):
    hide_packages("pyarrow")
    ran = sdpdr("embed t.csv --out y.parquet")
    assert (ran.code, ran.err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert "Parquet needs a package that is not installed (pyarrow)" in ran.err


def test_a_directory_that_takes_no_files_is_told_before_any_work(sdpdr, points, monkeypatch):
    def refuse(**settings):
        raise FileNotFoundError(2, "No such file or directory", "x")

    monkeypatch.setattr("sdpdr.lab.cli.console.NamedTemporaryFile", refuse)
    ran = sdpdr("embed t.csv --out y.csv")
    assert (ran.code, ran.err.count("\n")) == (Exit.BAD_INPUT, 1)
    assert "y.csv: nothing can be written in the directory . (No such file or dir" in ran.err


# -- tables -----------------------------------------------------------------------------------


def test_infinite_coordinates_are_dropped_where_asked(sdpdr, tmp_path, points):
    (tmp_path / "i.csv").write_text("a,b\n1,inf\n" + (tmp_path / "t.csv").read_text()[4:])
    ran = sdpdr("embed i.csv --missing drop --n-neighbors 4 --out y.npy")
    assert "coordinates of these rows are infinite, and they are left out: 1." in ran.err
    sdpdr("embed t.csv --n-neighbors 4 --out z.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), np.load(tmp_path / "z.npy"))


def test_directions_are_compared_where_asked(sdpdr, tmp_path, points):
    assert sdpdr("embed t.csv --metric cosine --n-neighbors 4 --out y.npy").code == Exit.OK
    expected = MVU(n_neighbors=4, metric="cosine").fit_transform(points)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), expected, atol=1e-10)


def test_dimensions_without_anything_in_them_are_told(sdpdr, tmp_path, points):
    ran = sdpdr("embed t.csv --n-neighbors 4 --n-components 9 --out y.csv")
    Y = pd.read_csv(tmp_path / "y.csv")
    zero = [name for name in Y if Y[name].abs().max() < 1e-6 * Y["y1"].abs().max()]
    assert zero
    assert f"the embedding has {9 - len(zero)} dimension" in ran.err
    assert f"zero at all points, but for rounding: {zero[0]}" in ran.err


@pytest.mark.parametrize("named", ["letters", "from zero", "from one"])
def test_distances_may_come_in_triples(sdpdr, tmp_path, pairs, named):
    i, j, length = pairs
    names = {"letters": list("ABCDEFGHIJKL"), "from zero": range(12), "from one": range(1, 13)}
    called = np.array(names[named])
    pd.DataFrame({"i": called[i], "j": called[j], "d": length}).to_csv("d.csv", index=False)
    ran = sdpdr("embed d.csv --metric precomputed --method distance_completion --out y.csv")
    assert ran.code == Exit.OK
    assert "12 points, of which other distances are not known" in ran.err
    found = pd.read_csv(tmp_path / "y.csv", index_col="point")
    assert sorted(found.index) == sorted(called.tolist())
    Y = found.loc[called].to_numpy()
    np.testing.assert_allclose(np.linalg.norm(Y[i] - Y[j], axis=1), length, atol=1e-5)
    np.testing.assert_allclose(
        np.linalg.norm(np.subtract(*DistanceCompletion().fit(np.column_stack(pairs)).embedding_[
            [i, j]]), axis=1), length, atol=1e-5)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("A,B,1\nA,A,2\n", "line 3: 'A' is 2 away from itself"),
        ("A,B,1\nB,A,2\n", "line 3: 'B' and 'A' are 2 apart, and 1 in a line before"),
        ("A,B,1e-9\nB,A,2e-9\n", "line 3: 'B' and 'A' are 2e-09 apart, and 1e-09 in a line before"),
        ("A,B,1\n,A,2\n", "line 3: a pair lacks a point"),
    ],
)
def test_triples_that_cannot_be(sdpdr, tmp_path, lines, words):
    (tmp_path / "d.csv").write_text(f"i,j,d\n{lines}")
    ran = sdpdr("embed d.csv --metric precomputed --method distance_completion --out y.csv")
    assert ran.code == Exit.BAD_INPUT
    assert words in ran.err


# -- Ctrl-C before anything has begun ---------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_early_interruption_is_one_line():
    # Sent by an import, so that no clock says when; what runs in the background may ignore it.
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Early:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sdpdr.lab.cli.WHEN':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Early())\n"
        "from sdpdr.lab.cli import main\n"
        "sys.exit(main(['list']))\n"
    )
    for when in ("app", "problems"):
        ran = subprocess.run(
            [sys.executable, "-c", code.replace("WHEN", when)],
            capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (Exit.INTERRUPTED, "")
        assert ran.stderr == f"error: {EARLY}\n"


# The command again and again, each time interrupted at a later one of the calls that it makes.
INTERRUPTED_AT = """
import os, signal, sys
from sdpdr.lab import cli

def run(last):
    calls = 0
    def count(frame, event, arg):
        nonlocal calls
        calls += 1
        if calls == last:
            os.kill(os.getpid(), signal.SIGINT)
    sys.setprofile(count)
    code = cli.main(["list"])
    sys.setprofile(None)
    return code, calls

signal.signal(signal.SIGINT, signal.default_int_handler)
run(-1)  # imports what it needs
_, calls = run(-1)
at = [int(calls ** (k / 15)) for k in (5, 7, 8, 9, 10, 11, 12, 14)] + [calls - k for k in (30, 8)]
for last in at:
    sys.stdout.flush()
    there, here = os.pipe()
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(here, 2)
        os._exit(run(last)[0])
    os.close(here)
    with os.fdopen(there) as said:
        words = said.read()
    print(f"{os.waitstatus_to_exitcode(os.wait()[1])} {words!r}", file=sys.stderr)
"""


@pytest.mark.nightly
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interruption_at_whatever_call_is_one_line():
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT], capture_output=True, text=True, timeout=120
    )
    ends = ran.stderr.splitlines()
    assert len(ends) == 10
    for end in ends:
        assert re.fullmatch(rf"{int(Exit.INTERRUPTED)} 'error: interrupted[^\\]*\\n'", end), end


def test_other_handlers_of_an_interruption_stay():
    def other(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGINT, other)
    try:
        with nothing_begun():
            assert signal.getsignal(signal.SIGINT) is other
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with nothing_begun():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
