"""Runs that are killed: every file is a whole one, the old one, or none; no process lives on."""

from __future__ import annotations

import os
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
from sdpdr.program import write_sdpa
from sdpdr.solvers.processes import isolate

from ..processes import is_gone

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


def test_a_thread_may_write_where_no_signal_handler_can_be_set(tmp_path):
    writer = threading.Thread(target=write_text, args=(tmp_path / "a.txt", "whole"))
    writer.start()
    writer.join()
    assert entries(tmp_path) == ["a.txt"]


def test_an_existing_handler_stays(tmp_path):
    def mine(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with files.exit_on_signals():
            assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)
    with files.exit_on_signals():
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


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
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
    # multiprocessing removes the folder of its sockets on the way out; a signal leaves no such way.
    assert all(entry.startswith("pymp-") for entry in entries(scratch))


@pytest.mark.integration
def test_an_interrupted_child_may_hand_over_its_point(faulty, monkeypatch):
    monkeypatch.setattr(isolate, "LAST_WORDS", 60.0)
    solver = faulty.Waits(options={"caller": os.getpid()})
    solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), solver, isolate=True)
    assert solution.claimed.status == "interrupted"
    assert solution.certified()


@pytest.mark.integration
def test_an_interruption_passes_on_where_the_child_has_nothing_to_say(faulty):
    solver = faulty.Hangs(options={"caller": os.getpid()})
    with pytest.raises(KeyboardInterrupt):
        sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), solver, isolate=True)
