"""Runs that are killed: every file is a whole one, the old one, or none; no process lives on."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import graphs, methods
from sdpdr.base import files
from sdpdr.base.files import write_files, write_text
from sdpdr.lab.tables.files import write_table
from sdpdr.program import read_sdpa, write_sdpa
from sdpdr.solvers.processes import isolate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
BESIDE = ".sdpdr-"


def entries(folder):
    return sorted(path.name for path in Path(folder).iterdir())


def stray(folder):
    return [name for name in entries(folder) if name.startswith(BESIDE)]


# -- one writer -------------------------------------------------------------------------------


def half(path):
    path.write_text("half of")
    raise OSError("the disk is full")


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, MemoryError, SystemExit])
def test_a_write_that_fails_leaves_the_old_file(tmp_path, error):
    def fail(path):
        path.write_text("half of")
        raise error

    place = tmp_path / "a.txt"
    write_text(place, "old")
    with pytest.raises(error):
        files.write_file(place, fail)
    assert place.read_text() == "old"
    assert entries(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("name", ["nowhere/a.txt", "taken"])
def test_an_error_names_the_file_that_was_asked_for(tmp_path, monkeypatch, name):
    (tmp_path / "taken").touch()
    place = tmp_path / name
    if name == "taken":  # and becomes a directory meanwhile, so that it cannot be replaced
        monkeypatch.setattr(files, "_settle", lambda *_: (place.unlink(), place.mkdir()))
    with pytest.raises(OSError, match="directory") as caught:
        write_text(place, "new")
    assert caught.value.filename == str(place)
    assert BESIDE not in str(caught.value)


def test_files_of_one_run_appear_together_or_not_at_all(tmp_path):
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    with pytest.raises(OSError, match="disk is full"):
        write_files({first: lambda path: path.write_text("whole"), second: half})
    assert entries(tmp_path) == []


def test_a_link_is_followed_and_permissions_stay(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_device_is_written_to_and_not_replaced():
    write_text("/dev/null", "nothing")
    assert not Path("/dev/null").is_file()


def test_a_thread_may_write_where_no_signal_handler_can_be_set(tmp_path):
    writer = threading.Thread(target=write_text, args=(tmp_path / "a.txt", "whole"))
    writer.start()
    writer.join()
    assert entries(tmp_path) == ["a.txt"]


def test_the_handler_of_somebody_else_stays(tmp_path):
    def mine(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with files.undone_when_asked_to_end():
            assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    with files.undone_when_asked_to_end():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.fixture
def no_room(monkeypatch):
    """A disk that is full whenever a finished file is to be made safe."""

    def full(number):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", full)


def test_every_writer_leaves_the_old_file_on_a_full_disk(tmp_path, no_room):
    model = methods.mvu(graphs.path([1.0, 2.0]))
    solution = sdpdr.solve(model)
    writers = {
        "record.json": solution.save_record,
        "program.dat-s": lambda path: write_sdpa(model.to_sdp(), path),
        "table.csv": lambda path: write_table(path, np.eye(2), ["a", "b"]),
        "table.npy": lambda path: write_table(path, np.eye(2), ["a", "b"]),
        "page.html": lambda path: write_text(path, "<p>"),
    }
    for name, write in writers.items():
        (tmp_path / name).write_text("old")
        with pytest.raises(OSError, match="disk is full"):
            write(tmp_path / name)
        assert (tmp_path / name).read_text() == "old"
    assert entries(tmp_path) == sorted(writers)


# Whoever runs the tests with nohup, or in the background, has the signals ignored for children.
SLOW_WRITER = """
import signal, sys, time
from sdpdr.base.files import write_file

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

def write(path):
    with open(path, "w") as file:
        file.write("half of")
        file.flush()
        print("writing", flush=True)
        time.sleep(60)

write_file(sys.argv[1], write)
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
def test_a_process_killed_while_it_writes_leaves_the_old_file(tmp_path, name):
    place = tmp_path / "a.txt"
    place.write_text("old")
    command = [sys.executable, "-c", SLOW_WRITER, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(getattr(signal, name))
    assert process.returncode != 0
    assert place.read_text() == "old"
    # Nobody can tidy up after SIGKILL; what it leaves is known by its name.
    assert entries(tmp_path) == [*stray(tmp_path), "a.txt"]
    assert len(stray(tmp_path)) == (name == "SIGKILL")


# -- solvers in processes of their own ------------------------------------------------------------

ISOLATED = """
import sys
import sdpdr, faulty_solvers
from sdpdr import graphs, methods
print("started", flush=True)
sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), faulty_solvers.Hangs(), isolate=True)
"""


def child_of(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    for _ in range(400):
        found = path.read_text().split() if path.exists() else []
        if found:
            return int(found[0])
        time.sleep(0.05)
    raise AssertionError("no child was started")


def is_gone(pid):
    """Whether a process has ended, perhaps without anybody to ask how."""
    for _ in range(400):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_an_isolated_solver_ends_with_the_process_that_asked(tmp_path, name):
    here = str(Path(__file__).parent)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    surroundings = os.environ | {"PYTHONPATH": here, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        [sys.executable, "-c", ISOLATED],
        env=surroundings,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        process.stdout.readline()
        child = child_of(process.pid)
        time.sleep(3.0)
        process.send_signal(getattr(signal, name))
    assert is_gone(child)
    assert entries(scratch) == []


@pytest.fixture
def interrupted():
    """Somebody presses Ctrl-C a while after a child has been asked."""
    presses = threading.Timer(4.0, os.kill, (os.getpid(), signal.SIGINT))
    presses.start()
    yield
    presses.cancel()


@pytest.mark.nightly
def test_an_interrupted_child_may_hand_over_its_point(faulty, interrupted, monkeypatch):
    monkeypatch.setattr(isolate, "LAST_WORDS", 60.0)
    solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), faulty.Waits(), isolate=True)
    assert solution.claimed.status == "interrupted"
    assert solution.certified()


@pytest.mark.nightly
def test_an_interruption_passes_on_where_the_child_has_nothing_to_say(faulty, interrupted):
    with pytest.raises(KeyboardInterrupt):
        sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), faulty.Hangs(), isolate=True)


# -- the command line -------------------------------------------------------------------------


def is_whole(path):
    """Whether a file is one that the package itself can have written to its end."""
    suffixes = "".join(path.suffixes)
    if suffixes.endswith(".json"):
        return bool(json.loads(path.read_text(encoding="utf-8")))
    if suffixes.endswith(".csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        return len(rows) > 1 and {len(row) for row in rows} == {2}
    if suffixes.endswith(".npy"):
        return bool(np.isfinite(np.load(path)).all())
    if suffixes.endswith((".dat-s", ".dat-s.gz")):
        return len(read_sdpa(path).rows) > 0
    if suffixes.endswith(".svg"):
        return path.read_text(encoding="utf-8").rstrip().endswith("</svg>")
    if suffixes.endswith(".png"):
        return path.read_bytes().endswith(b"IEND\xaeB`\x82")
    assert suffixes.endswith(".html"), path
    return path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def commands(folder):
    points = folder / "points.csv"
    angle = np.linspace(0.0, 9.0, 150)
    write_table(points, np.column_stack([angle * np.cos(angle), angle * np.sin(angle)]), ["x", "y"])
    out = folder / "out"
    out.mkdir()
    return {
        "solve": ["solve", "swiss-roll-100", "--out", str(out)],
        "embed": [
            *["embed", str(points), "--n-neighbors", "3", "--out", str(out / "y.csv")],
            *["--figure", str(out / "y.svg"), "--record", str(out / "y.json")],
        ],
        "export": ["export", "swiss-roll-100", "--to", str(out / "p.dat-s.gz")],
        "demo": ["demo", "--quick", "--out", str(out)],
    }


@pytest.mark.nightly
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("command", ["solve", "embed", "export", "demo"])
def test_commands_killed_at_any_moment_leave_whole_files(tmp_path, command):
    chance = random.Random(command)
    words = [sys.executable, "-m", "sdpdr", *commands(tmp_path)[command]]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    start = time.perf_counter()
    assert subprocess.run(words, check=False, **quiet).returncode in (0, 1)
    whole = time.perf_counter() - start
    out = tmp_path / "out"
    names = entries(out)
    assert names
    assert not stray(out)
    assert all(is_whole(out / name) for name in names)
    for kill in range(20):
        if kill % 2:
            for name in entries(out):
                (out / name).unlink()
        signalled = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        with subprocess.Popen(words, **quiet) as process:
            # Files are written late, so most of the kills come late.
            time.sleep(whole * (1.0 - 0.8 * chance.random() ** 2))
            process.send_signal(signalled)
        left = stray(out)
        assert not left or signalled == signal.SIGKILL
        assert set(entries(out)) <= {*names, *left}
        assert all(is_whole(out / name) for name in entries(out) if name not in left)
        for name in left:
            (out / name).unlink()
