"""The command as a process: streams, exit codes, pipes."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")


def run(*words, **options):
    command = [sys.executable, "-m", "sdpdr", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_results_and_errors_go_their_own_ways():
    fine = run("--version")
    assert (fine.returncode, fine.stderr) == (0, "")
    assert fine.stdout
    wrong = run("--no-such-option")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: ")
    assert "Traceback" not in wrong.stderr


@pytest.mark.nightly  # as above, after imports
def test_a_solve_and_its_errors_go_their_own_ways(tmp_path):
    fine = run("solve", "path-graph", cwd=tmp_path)
    assert (fine.returncode, fine.stderr) == (0, "")
    assert "SOLVED" in fine.stdout
    wrong = run("embed", "-", "--out", "y.csv", cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert "Traceback" not in wrong.stderr


@contextmanager
def standard_input(path):
    """The standard input of this process is a file's content."""
    before = os.dup(0)
    try:
        with open(path) as stream:
            os.dup2(stream.fileno(), 0)
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_an_empty_standard_input_is_told_as_an_empty_file_is(sdpdr):
    with standard_input(os.devnull):
        wrong = sdpdr("embed - --out y.csv")
    assert (wrong.code, wrong.out) == (3, "")
    assert wrong.err.startswith("error: stdin.csv is empty")


@pytest.mark.nightly  # as --help below, after imports
def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "sdpdr", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.fixture
def table(tmp_path, roll):
    np.save(tmp_path / "t.npy", roll[:30])
    return "t.npy"


@pytest.mark.nightly
@pytest.mark.parametrize(
    "backend",
    [
        "module://no_package.of_this_name",
        # Refused sooner, and four seconds again.
        pytest.param("nonsense", marks=pytest.mark.nightly),
    ],
)
def test_a_figure_needs_no_window(tmp_path, table, backend):
    given = {**os.environ, "MPLBACKEND": backend}
    ran = run("embed", table, "--figure", "y.png", "--json", cwd=tmp_path, env=given)
    assert (ran.returncode, "wrote y.png" in ran.stderr) == (0, True)
    assert (tmp_path / "y.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.nightly
@FULL
def test_errors_that_nobody_can_read_change_no_outcome(tmp_path, table):
    def outcome(*words, out=subprocess.PIPE):
        command = [sys.executable, "-m", "sdpdr", *words]
        with open("/dev/full", "w") as full:
            out = full if out is None else out
            ran = subprocess.run(command, stdout=out, stderr=full, cwd=tmp_path, timeout=120)
        return ran.returncode, ran.stdout

    code, said = outcome("embed", table, "--save", "m.npz")
    assert (code, b"30 points" in said, (tmp_path / "m.npz").exists()) == (0, True, True)
    assert outcome("embed", "nothere.csv") == (3, b"")
    assert outcome("embed", "--no-such-option", out=None) == (2, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_tables_come_out_of_pipes_as_out_of_files(sdpdr, tmp_path, roll):
    text = "x,y,z\n" + "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in roll[:30].tolist())
    (tmp_path / "t.csv").write_text(text)
    os.mkfifo(tmp_path / "p.csv")
    os.mkfifo(tmp_path / "p")
    found = []

    def embedded(name):
        ran = sdpdr(f"embed {name} --out y.npy --json")
        assert ran.code == 0
        found.append((json.loads(ran.out)["data"]["file"], np.load(tmp_path / "y.npy")))

    embedded("t.csv")
    for name in ("p.csv", "p"):
        writer = threading.Thread(target=(tmp_path / name).write_text, args=(text,))
        writer.start()
        embedded(name)
        writer.join()
    with standard_input("t.csv"):
        embedded("-")
    files, places = zip(*found, strict=True)
    assert files == ("t.csv", "p.csv", "p.csv", "stdin.csv")
    for other in places[1:]:
        np.testing.assert_array_equal(other, places[0])


def test_errors_whose_reader_has_gone_change_no_outcome(tmp_path, table):
    """Nor does where the points come from."""
    np.savetxt(tmp_path / "t.csv", np.load(tmp_path / table), delimiter=",")
    command = [sys.executable, "-m", "sdpdr", "embed", "-", "--out", "y.csv"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with (
        open(tmp_path / "t.csv") as points,
        subprocess.Popen(command, cwd=tmp_path, stdin=points, **pipes) as process,
    ):
        process.stderr.close()
        assert b"30 points" in process.stdout.read()
    assert process.returncode == 0
    assert (tmp_path / "y.csv").exists()


@FULL
@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "--version",
        # As the first, after three seconds of imports.
        pytest.param("embed --help", marks=pytest.mark.nightly),
        # Which is read after the first as well by a reader that leaves early.
        pytest.param("list", marks=pytest.mark.nightly),
    ],
)
def test_help_that_cannot_be_printed_is_told_as_anything_else(words):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "sdpdr", *words.split()]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (3, "error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("words", ["--help", "--version"])
def test_help_whose_reader_has_gone_is_no_error(words):
    command = [sys.executable, "-m", "sdpdr", words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.nightly
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_as_the_process_ends_changes_no_outcome():
    code = (
        "import atexit, os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "from sdpdr.lab.cli import main\n"
        "sys.argv = ['sdpdr', 'list']\n"
        "sys.exit(main())\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (0, "")
