"""The command as a process: streams, exit codes, pipes."""

import subprocess
import sys


def run(*words, **options):
    command = [sys.executable, "-m", "sdpdr", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_results_and_errors_go_their_own_ways(tmp_path):
    fine = run("solve", "path-graph", cwd=tmp_path)
    assert (fine.returncode, fine.stderr) == (0, "")
    assert "SOLVED" in fine.stdout
    wrong = run("solve", "path-grph", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert wrong.stderr.startswith("error: unknown card 'path-grph'. Did you mean 'path-graph'?")
    assert "Traceback" not in wrong.stderr


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "sdpdr", "list"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0
