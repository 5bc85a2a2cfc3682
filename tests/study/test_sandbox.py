"""How runs end, and that none of their processes is left."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from functools import partial

import psutil
import pytest

from sdpdr.lab.study.sandbox import SandboxLimits, run_in_sandbox

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork"),
]
MB = 2**20


def limits(wall=60.0, memory=500 * MB):
    return SandboxLimits(wall, memory, 60.0)


@pytest.mark.nightly
def test_an_answer_comes_back_with_memory_and_seconds_of_its_process():
    outcome = run_in_sandbox(partial(eval, "len(b'x' * (200 << 20))"), limits())
    assert (outcome.end, outcome.answer) == ("ANSWERED", 200 * MB)
    assert 100 * MB < outcome.peak_memory < 500 * MB
    assert min(outcome.wall, outcome.cpu) > 0.0


def scribble():
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, b"garbage\n")
        except OSError:
            continue
    return "done"


class Unreadable:
    def __reduce__(self):
        return int, ("seven",)


def hungry(shameless):
    kept = []
    while len(kept) < 400:
        try:
            kept.append(bytearray(b"x" * (20 * MB)))
        except MemoryError:
            if not shameless:
                raise
        time.sleep(0.005)


BIG_CHILD = "x = bytearray(b'x' * (400 * 2**20)); import time; time.sleep(60)"


@pytest.mark.daily(4)
@pytest.mark.parametrize(
    ("task", "end", "words"),
    [
        (os.abort, "CRASHED", "SIGABRT"),
        (partial(os._exit, 3), "CRASHED", "exit status 3"),
        (partial(sys.exit, "leaving"), "CRASHED", "leaving"),
        (partial(int, "seven"), "CRASHED", "ValueError: invalid literal"),
        (Unreadable, "CRASHED", "cannot be read: ValueError"),
        (scribble, "CRASHED", "cannot be read"),
        (partial(os.system, "kill -KILL $PPID; sleep 5"), "KILLED", "not by us"),
        (partial(os.system, "echo std::bad_alloc; kill -ABRT $PPID"), "OUT_OF_MEMORY", "bad_alloc"),
        # Memory, also where refusals are ignored, and that of processes that it has started.
        (partial(hungry, False), "OUT_OF_MEMORY", "memory"),
        (partial(hungry, True), "OUT_OF_MEMORY", "memory limit of 150 MiB"),
        (partial(subprocess.run, [sys.executable, "-c", BIG_CHILD]), "OUT_OF_MEMORY", "memory"),
        # The parent of the process that runs the task is its guard.
        (partial(eval, "__import__('os').kill(__import__('os').getppid(), 9)"), "LOST", "guard"),
        (partial(exec, "import sys; sys.seen = True"), "ANSWERED", ""),
    ],
)
def test_every_end_has_a_name(task, end, words):
    outcome = run_in_sandbox(task, limits(memory=150 * MB))
    assert (outcome.end, outcome.answer) == (end, None)
    assert words in outcome.message


def test_a_run_spoils_no_later_run():
    run_in_sandbox(partial(exec, "import sys; sys.seen = True"), limits())
    seen = run_in_sandbox(partial(eval, "hasattr(__import__('sys'), 'seen')"), limits())
    assert seen.answer is False


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("task", "wall", "words"),
    [
        (partial(os.system, "echo step 7; sleep 100"), 1.0, "last line of its output: step 7"),
        (partial(os.system, "yes"), 0.1, "ended by us after 0.1 s"),
    ],
)
def test_a_late_run_is_ended_whatever_it_prints(task, wall, words):
    outcome = run_in_sandbox(task, limits(wall))
    assert (outcome.end, outcome.answer) == ("TIME_LIMIT", None)
    assert words in outcome.message


def alive(mark):
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if (process.info["cmdline"] or [])[-2:] == ["sleep", mark]
        and process.status() != psutil.STATUS_ZOMBIE
    ]


def within(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def leave_behind(mark):
    subprocess.Popen(["sleep", mark], start_new_session=True)


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to the guard")
def test_nothing_that_a_run_has_started_is_left():
    for task in (partial(leave_behind, "1234.5"), partial(os.system, "sleep 1234.5")):
        run_in_sandbox(task, limits(0.5))
        assert not alive("1234.5")


@pytest.mark.nightly
def test_another_thread_can_stop_it():
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(CancelledError):
        run_in_sandbox(partial(os.system, "sleep 4567.5"), limits(60.0), stop)
    assert within(lambda: not alive("4567.5"))


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends a guard in time")
def test_everything_ends_with_the_calling_process():
    program = """
import os
from functools import partial
from sdpdr.lab.study.sandbox import SandboxLimits, run_in_sandbox
run_in_sandbox(partial(os.system, "sleep 3456.5"), SandboxLimits(60, 10**9, 60))
"""
    asking = subprocess.Popen([sys.executable, "-c", program])
    assert within(lambda: alive("3456.5"), 120.0)
    helpers = psutil.Process(asking.pid).children(recursive=True)
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    assert within(lambda: not alive("3456.5"))
    assert psutil.wait_procs(helpers, timeout=60.0)[1] == []
