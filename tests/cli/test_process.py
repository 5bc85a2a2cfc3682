"""The command as a process: streams, pipes, signals, and what help imports."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from click.shell_completion import BashComplete

from sdpdr.lab.cli.app import Exit, cli

FULL = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def run(*words, **options):
    command = [sys.executable, "-m", "sdpdr", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


@pytest.mark.integration
def test_help_imports_no_library_of_numbers():
    code = (
        "import sys; from sdpdr.lab.cli import main; main(['--help']); "
        "print([name for name in ('numpy', 'scipy', 'rich', 'pandas', 'cvxpy') "
        "if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout.splitlines()[-1] == "[]"


def test_shells_complete_commands_and_options():
    complete = BashComplete(cli, {}, "sdpdr", "_SDPDR_COMPLETE").get_completions
    assert [found.value for found in complete([], "tr")] == ["transform"]
    assert [found.value for found in complete(["embed"], "--de")] == ["--decimal"]
    assert [found.value for found in complete(["study"], "r")] == ["report", "run"]


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


def test_an_empty_standard_input_is_an_empty_table(sdpdr):
    with standard_input(os.devnull):
        wrong = sdpdr("embed - --out y.csv")
    assert (wrong.code, wrong.out) == (3, "")
    assert wrong.err.startswith("error: stdin.csv is empty")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_tables_come_out_of_pipes_as_out_of_files(sdpdr, tmp_path, roll):
    text = "x,y,z\n" + "".join(f"{a!r},{b!r},{c!r}\n" for a, b, c in roll[:30].tolist())
    (tmp_path / "t.csv").write_text(text)
    os.mkfifo(tmp_path / "p")
    found = []

    def embedded(name):
        ran = sdpdr(f"embed {name} --out y.npy --json")
        assert ran.code == 0
        found.append((json.loads(ran.out)["data"]["file"], np.load(tmp_path / "y.npy")))

    embedded("t.csv")
    writer = threading.Thread(target=(tmp_path / "p").write_text, args=(text,))
    writer.start()
    embedded("p")
    writer.join()
    with standard_input("t.csv"):
        embedded("-")
    files, places = zip(*found, strict=True)
    assert files == ("t.csv", "p.csv", "stdin.csv")
    for other in places[1:]:
        np.testing.assert_array_equal(other, places[0])


@pytest.mark.nightly
def test_a_figure_needs_no_window(tmp_path, roll):
    np.save(tmp_path / "t.npy", roll[:30])
    given = {**os.environ, "MPLBACKEND": "module://no_package.of_this_name"}
    ran = run("embed", "t.npy", "--figure", "y.png", "--json", cwd=tmp_path, env=given)
    assert (ran.returncode, "wrote y.png" in ran.stderr) == (0, True)


@FULL
@pytest.mark.integration
def test_help_that_cannot_be_printed_is_an_error():
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "sdpdr", "--help"]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (ran.returncode, ran.stderr) == (3, "error: [Errno 28] No space left on device\n")


@pytest.mark.integration
def test_help_whose_reader_has_left_is_no_error():
    command = [sys.executable, "-m", "sdpdr", "--help"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# -- signals --------------------------------------------------------------------------------------


@POSIX
@pytest.mark.integration
def test_an_early_interruption_is_one_line():
    # Sent by an import, so that no clock says when; what runs in the background may ignore it.
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Early:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sdpdr.lab.cli.problems':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Early())\n"
        "from sdpdr.lab.cli import main\n"
        "sys.exit(main(['list']))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (Exit.INTERRUPTED, "")
    assert ran.stderr == "error: interrupted.\n"


@POSIX
@pytest.mark.nightly
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
