"""How runs end, and that nothing of them is left."""

import os
import signal
import subprocess
import sys
import time
from functools import partial

import psutil
import pytest

from sdpdr.errors import StudyError
from sdpdr.lab.study.nursery import Nursery

MB = 2**20


@pytest.fixture(scope="module")
def nursery():
    made = Nursery()
    yield made
    made.close()


def run(nursery, task, wall=20.0, memory=500 * MB):
    return nursery.run(task, wall_limit=wall, memory_limit=memory, cpu_limit=60.0)


def test_an_answer_comes_back(nursery):
    ended = run(nursery, partial(sum, [1, 2, 3]))
    assert (ended.how, ended.answer) == ("answered", 6)
    assert ended.wall > 0.0


def test_processor_time_and_memory_are_those_of_the_child(nursery):
    ended = run(nursery, partial(len, "x" * (200 * MB)))
    assert ended.how == "answered"
    assert 100 * MB < ended.peak_memory < 500 * MB


@pytest.mark.parametrize(
    ("task", "how", "words"),
    [
        (partial(time.sleep, 100), "late", ""),
        (os.abort, "crashed", "SIGABRT"),
        (partial(os._exit, 3), "crashed", "exit status 3"),
        (partial(os._exit, 0), "crashed", "exit status 0"),
        (partial(sys.exit, "leaving"), "crashed", "leaving"),
        (partial(int, "seven"), "crashed", "ValueError: invalid literal"),
        (partial(os.system, "kill -TERM $PPID; sleep 5"), "killed", "SIGTERM"),
        (partial(os.system, "kill -KILL $PPID; sleep 5"), "killed", "not by us"),
        (partial(os.system, "kill -SEGV $PPID; sleep 5"), "crashed", "SIGSEGV"),
    ],
)
def test_every_other_end_has_a_name(nursery, task, how, words):
    ended = run(nursery, task, wall=1.0)
    assert (ended.how, ended.answer) == (how, None)
    assert words in ended.words
    assert run(nursery, partial(sum, [1])).answer == 1


def hungry(shameless):
    kept = []
    while len(kept) < 400:
        try:
            kept.append(bytearray(b"x" * (20 * MB)))
        except MemoryError:
            if not shameless:
                raise
        time.sleep(0.005)


@pytest.mark.parametrize("shameless", [False, True])
def test_memory_is_limited(nursery, shameless):
    ended = run(nursery, partial(hungry, shameless), memory=300 * MB)
    assert ended.how == "hungry"
    assert ended.peak_memory < 1500 * MB


def test_memory_of_what_a_run_starts_counts(nursery):
    program = "x = bytearray(b'x' * (400 * 2**20)); import time; time.sleep(60)"
    ended = run(nursery, partial(subprocess.run, [sys.executable, "-c", program]), memory=200 * MB)
    assert ended.how == "hungry"


def alive(mark):
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = process.info["cmdline"] or []
        if any(mark in word for word in line) and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process)
    return found


def runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(mark, seconds=60.0):
    deadline = time.monotonic() + seconds
    while alive(mark) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(mark)


def leave_behind(mark):
    subprocess.Popen(["sleep", mark], start_new_session=True)


@pytest.mark.parametrize(
    "task",
    [partial(leave_behind, "1234.5"), partial(os.system, "sleep 1234.5")],
    ids=["left behind", "waited for"],
)
def test_nothing_that_a_run_has_started_is_left(nursery, task):
    run(nursery, task, wall=1.0)
    assert gone("1234.5")


def scribble():
    for fd in range(3, 64):
        try:
            os.write(fd, b"garbage\n")
        except OSError:
            continue
    return "done"


def test_a_run_cannot_speak_for_the_nursery(nursery):
    assert run(nursery, scribble).answer == "done"
    assert run(nursery, partial(sum, [1])).answer == 1


def test_a_file_beside_that_is_called_like_a_module_is_not_taken_for_it(tmp_path, monkeypatch):
    (tmp_path / "secrets.py").write_text("raise RuntimeError('not a module')")
    monkeypatch.chdir(tmp_path)
    nursery = Nursery()
    assert run(nursery, partial(sum, [1])).answer == 1
    nursery.close()


def test_a_nursery_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr("sdpdr.lab.study.nursery._PROGRAM", "import no_such_module")
    nursery = Nursery()
    with pytest.raises(StudyError, match="No module named 'no_such_module'"):
        run(nursery, partial(sum, [1]))
    nursery.close()


def test_a_run_does_not_see_the_one_before(nursery):
    run(nursery, partial(exec, "import sys; sys.seen = True"))
    assert run(nursery, partial(eval, "hasattr(__import__('sys'), 'seen')")).answer is False


def test_a_nursery_that_is_ended_is_told_from_a_run_that_is(tmp_path):
    nursery = Nursery()
    run(nursery, partial(sum, [1]))
    program = f"kill -KILL {nursery._process.pid}; sleep 2345.5"
    ended = run(nursery, partial(os.system, program))
    assert ended.how == "lost"
    assert not nursery.lives()
    nursery.close()


def test_all_ends_with_the_process_that_asked(tmp_path):
    program = """
import os, sys
from functools import partial
from sdpdr.lab.study.nursery import Nursery
nursery = Nursery()
print(nursery._process.pid, flush=True)
nursery.run(partial(os.system, "sleep 3456.5"), wall_limit=60, memory_limit=10**9, cpu_limit=60)
"""
    asking = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    pid = int(asking.stdout.readline())
    deadline = time.monotonic() + 120.0
    while not alive("3456.5") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive("3456.5")
    asking.send_signal(signal.SIGKILL)
    asking.communicate()
    assert gone("3456.5")
    deadline = time.monotonic() + 120.0
    while runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not runs(pid)
