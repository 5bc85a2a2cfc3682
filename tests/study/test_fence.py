"""How runs end, and that nothing of them is left."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from functools import partial

import pytest

# What is tested imports it.
pytest.importorskip("psutil", reason="the extra 'study' is not installed")

import psutil

from sdpdr.errors import StudyError
from sdpdr.lab.study.fence import hire, run_fenced
from sdpdr.solvers.processes import workers

MB = 2**20


@pytest.fixture(autouse=True)
def ready():
    """A process that starts others, so that no test waits for imports."""
    hire().close()


def run(task, wall=20.0, memory=500 * MB):
    return run_fenced(task, wall_limit=wall, memory_limit=memory, cpu_limit=60.0)


def test_an_answer_comes_back():
    ended = run(partial(sum, [1, 2, 3]))
    assert (ended.how, ended.answer) == ("answered", 6)
    assert ended.wall > 0.0


def test_processor_time_and_memory_are_those_of_the_child():
    ended = run(partial(eval, "len(b'x' * (200 << 20))"))
    assert ended.how == "answered"
    assert 100 * MB < ended.peak_memory < 500 * MB


@pytest.mark.parametrize(
    ("task", "how", "words"),
    [
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
def test_every_end_of_its_own_has_a_name(task, how, words):
    ended = run(task)
    assert (ended.how, ended.answer) == (how, None)
    assert words in ended.words
    assert run(partial(sum, [1])).answer == 1


@pytest.mark.parametrize(
    ("task", "wall", "words"),
    [
        (partial(time.sleep, 100), 0.1, "ended by us after 0.1 s"),
        (partial(os.system, "echo step 7; sleep 100"), 1.0, "last that it said: step 7"),
        (partial(os.system, "yes"), 0.1, "ended by us after 0.1 s"),
    ],
)
def test_who_is_late_is_ended_whatever_it_says(task, wall, words):
    ended = run(task, wall)
    assert (ended.how, ended.answer) == ("late", None)
    assert words in ended.words


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
def test_memory_is_limited(shameless):
    ended = run(partial(hungry, shameless), memory=100 * MB)
    assert ended.how == "hungry"
    assert ended.peak_memory < 1500 * MB


def test_memory_of_what_a_run_starts_counts():
    program = "x = bytearray(b'x' * (400 * 2**20)); import time; time.sleep(60)"
    ended = run(partial(subprocess.run, [sys.executable, "-c", program]), memory=200 * MB)
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
def test_nothing_that_a_run_has_started_is_left(task):
    run(task, wall=0.5)
    assert gone("1234.5")


def scribble():
    for fd in range(3, 64):
        try:
            os.write(fd, b"garbage\n")
        except OSError:
            continue
    return "done"


def test_a_run_that_writes_everywhere_spoils_nothing_but_itself():
    assert run(scribble).how in ("answered", "crashed")
    assert run(partial(sum, [1])).answer == 1


@pytest.mark.usefixtures("no_zygote")
def test_where_no_process_can_be_had_it_says_why(monkeypatch):
    monkeypatch.setattr(workers, "_PROGRAM", "import no_such_module")
    with pytest.raises(StudyError, match="No module named 'no_such_module'"):
        run(partial(sum, [1]))


def test_who_says_that_memory_has_run_out_is_hungry():
    words = (
        "echo \"terminate called after throwing an instance of 'std::bad_alloc'\"; kill -ABRT $PPID"
    )
    ended = run(partial(os.system, words))
    assert ended.how == "hungry"
    assert "bad_alloc" in ended.words


def test_another_thread_can_stop_it():
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(CancelledError):
        run_fenced(
            partial(os.system, "sleep 4567.5"),
            wall_limit=60.0,
            memory_limit=500 * MB,
            cpu_limit=60.0,
            stop=stop,
        )
    assert gone("4567.5")


def test_a_run_does_not_see_the_one_before():
    run(partial(exec, "import sys; sys.seen = True"))
    assert run(partial(eval, "hasattr(__import__('sys'), 'seen')")).answer is False


def test_what_starts_processes_is_told_from_a_run_and_replaced_by_no_file_beside(
    tmp_path, monkeypatch
):
    ended = run(partial(os.system, f"kill -KILL {workers._process.pid}; sleep 5"))
    assert ended.how == "lost"
    (tmp_path / "secrets.py").write_text("raise RuntimeError('not a module')")
    monkeypatch.chdir(tmp_path)
    assert run(partial(sum, [1])).answer == 1


STARTED = "hire().close()"
FORKED = "workers.prepare_by_fork()"


@pytest.mark.parametrize("zygote", [FORKED, pytest.param(STARTED, marks=pytest.mark.nightly)])
def test_all_ends_with_the_process_that_asked(zygote):
    program = f"""
import os, psutil
from functools import partial
from sdpdr.lab.study import fence
from sdpdr.lab.study.fence import hire, run_fenced
from sdpdr.solvers.processes import workers
fence._NEEDS = ""  # nothing is computed
{zygote}
print(psutil.Process().children()[0].pid, flush=True)
run_fenced(partial(os.system, "sleep 3456.5"), wall_limit=60, memory_limit=10**9, cpu_limit=60)
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
