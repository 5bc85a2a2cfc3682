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

from sdpdr.errors import StudyError
from sdpdr.lab.study.sandbox import Sandbox, SandboxLimits

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork"),
]
MB = 2**20
# Nothing is solved here, so nothing large needs to be imported.
LIGHT = "json"


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIGHT) as found:
        yield found


def limits(wall=20.0, memory=500 * MB):
    return SandboxLimits(wall, memory, 60.0)


def test_an_answer_comes_back_with_memory_and_seconds_of_its_process(sandbox):
    outcome = sandbox.run(partial(eval, "len(b'x' * (200 << 20))"), limits())
    assert (outcome.how, outcome.answer) == ("answered", 200 * MB)
    assert 100 * MB < outcome.peak_memory < 500 * MB
    assert outcome.wall > 0.0
    assert outcome.cpu > 0.0


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


@pytest.mark.parametrize(
    ("task", "how", "words"),
    [
        (os.abort, "crashed", "SIGABRT"),
        (partial(os._exit, 3), "crashed", "exit status 3"),
        (partial(sys.exit, "leaving"), "crashed", "leaving"),
        (partial(int, "seven"), "crashed", "ValueError: invalid literal"),
        (Unreadable, "crashed", "cannot be read: ValueError"),
        (scribble, "crashed", "cannot be read"),
        (partial(os.system, "kill -KILL $PPID; sleep 5"), "killed", "not by us"),
        (partial(os.system, "echo std::bad_alloc; kill -ABRT $PPID"), "hungry", "bad_alloc"),
    ],
)
def test_every_end_of_its_own_has_a_name_and_spoils_no_later_run(sandbox, task, how, words):
    outcome = sandbox.run(task, limits())
    assert (outcome.how, outcome.answer) == (how, None)
    assert words in outcome.message
    assert sandbox.run(partial(sum, [1]), limits()).answer == 1


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("task", "wall", "words"),
    [
        (partial(os.system, "echo step 7; sleep 100"), 1.0, "last line of its output: step 7"),
        (partial(os.system, "yes"), 0.1, "ended by us after 0.1 s"),
    ],
)
def test_a_late_run_is_ended_whatever_it_prints(sandbox, task, wall, words):
    outcome = sandbox.run(task, limits(wall))
    assert (outcome.how, outcome.answer) == ("late", None)
    assert words in outcome.message


def hungry(shameless):
    kept = []
    while len(kept) < 400:
        try:
            kept.append(bytearray(b"x" * (20 * MB)))
        except MemoryError:
            if not shameless:
                raise
        time.sleep(0.005)


def test_memory_is_limited_also_where_refusals_are_ignored(sandbox):
    for shameless in (False, True):
        assert sandbox.run(partial(hungry, shameless), limits(memory=100 * MB)).how == "hungry"


def test_memory_of_the_processes_that_a_run_starts_counts(sandbox):
    program = "x = bytearray(b'x' * (400 * 2**20)); import time; time.sleep(60)"
    task = partial(subprocess.run, [sys.executable, "-c", program])
    assert sandbox.run(task, limits(memory=200 * MB)).how == "hungry"


def alive(mark):
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(mark in word for word in process.info["cmdline"] or [])
        and process.status() != psutil.STATUS_ZOMBIE
    ]


def within(condition, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def leave_behind(mark):
    subprocess.Popen(["sleep", mark], start_new_session=True)


@pytest.mark.parametrize(
    "task",
    [partial(leave_behind, "1234.5"), partial(os.system, "sleep 1234.5")],
    ids=["left behind", "waited for"],
)
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to the guard")
def test_nothing_that_a_run_has_started_is_left(sandbox, task):
    sandbox.run(task, limits(0.5))
    assert not alive("1234.5")


def test_a_run_does_not_see_the_one_before(sandbox):
    sandbox.run(partial(exec, "import sys; sys.seen = True"), limits())
    assert (
        sandbox.run(partial(eval, "hasattr(__import__('sys'), 'seen')"), limits()).answer is False
    )


def test_another_thread_can_stop_it():
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with Sandbox(LIGHT) as sandbox, pytest.raises(CancelledError):
        sandbox.run(partial(os.system, "sleep 4567.5"), limits(60.0), stop)
    assert within(lambda: not alive("4567.5"))


@pytest.mark.nightly
def test_a_guard_that_was_ended_is_replaced_by_no_file_beside(sandbox, tmp_path, monkeypatch):
    # The parent of the process that runs the task is the guard.
    outcome = sandbox.run(
        partial(eval, "__import__('os').kill(__import__('os').getppid(), 9)"), limits()
    )
    assert outcome.how == "lost"
    (tmp_path / "secrets.py").write_text("raise RuntimeError('not a module')")
    monkeypatch.chdir(tmp_path)
    assert sandbox.run(partial(sum, [1]), limits()).answer == 1


def test_where_no_process_can_be_started_it_says_why():
    with pytest.raises(StudyError, match="No module named 'no_such_module'"):
        Sandbox("no_such_module").run(partial(sum, [1]), limits())


def test_all_ends_with_the_process_that_asked():
    program = """
import os
from functools import partial
from sdpdr.lab.study.sandbox import Sandbox, SandboxLimits
Sandbox('json').run(partial(os.system, "sleep 3456.5"), SandboxLimits(60, 10**9, 60))
"""
    asking = subprocess.Popen([sys.executable, "-c", program])
    assert within(lambda: alive("3456.5"), 120.0)
    guards = psutil.Process(asking.pid).children()
    asking.send_signal(signal.SIGKILL)
    asking.wait()
    assert within(lambda: not alive("3456.5"))
    assert psutil.wait_procs(guards, timeout=60.0)[1] == []
