"""Workers: whatever a solver does in one, the caller has an outcome, and nothing lives on."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import sdpdr
from sdpdr import Status, graphs, methods
from sdpdr.base.deadline import Deadline
from sdpdr.program.point import as_dense
from sdpdr.program.run import Verdict
from sdpdr.reduce import Composed
from sdpdr.solvers import LowRank
from sdpdr.solvers.processes import child, fork_server
from sdpdr.solvers.processes import ends as incumbent
from sdpdr.solvers.processes.isolate import run_isolated, wait_for_server

from ..processes import is_gone

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not fork_server.POSSIBLE, reason="this system cannot fork"),
]
HANG = 60.0  # seconds that tell a hang from a slow machine
VALUE = 14.0 / 3.0


@pytest.fixture
def model():
    return methods.mvu(graphs.path([1.0, 2.0]))


@pytest.fixture(autouse=True)
def ready():
    """A fork server, so that no test waits for imports."""
    wait_for_server()


@pytest.fixture
def _interruptible():
    """Hear SIGINT, which is ignored in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# -- limits -----------------------------------------------------------------------------------


@pytest.mark.nightly
def test_ctrl_c_while_the_fork_server_starts_is_for_its_caller_alone(capfd):
    server = fork_server.Server([])
    try:
        pid = server.pid
        os.kill(pid, signal.SIGINT)
        question = pickle.dumps((child.surroundings(), "the test", pickle.dumps(partial(abs, -3))))
        with fork_server.Worker(question, server) as worker:
            assert worker.channel.recv_bytes() == child.ANSWER + pickle.dumps(3)
        assert server.pid == pid
        assert capfd.readouterr().err == ""
    finally:
        server.stop()


def test_a_solver_that_ignores_interrupts_is_ended(model, faulty):
    solution = sdpdr.solve(model, faulty.Stubborn(), time_limit=0.5, isolate=True)
    assert solution.status is Status.TIME_LIMIT
    words = r"faulty was stopped after [\d.]+ s; it had no point to offer"
    assert re.fullmatch(words, solution.claimed.message)


def test_an_interrupted_solver_returns_its_point(model, faulty, monkeypatch):
    monkeypatch.setattr("sdpdr.solvers.processes.isolate.GRACE", HANG)
    solution = sdpdr.solve(model, faulty.Waits(), time_limit=0.5, isolate=True)
    assert solution.claimed.verdict == "time limit"
    assert "was stopped after 0." in solution.claimed.message
    assert solution.value == pytest.approx(VALUE, rel=1e-6)


@pytest.mark.nightly
def test_when_time_is_up_the_point_posted_last_is_kept_and_nothing_lives_on(
    model, faulty, tmp_path
):
    pids = tmp_path / "pids"
    solver = faulty.PostsAndLeavesAChild(options={"pids": str(pids)})
    solution = sdpdr.solve(model, solver, time_limit=4.0, isolate=True)
    assert solution.status is Status.TIME_LIMIT
    assert solution.claimed.message.endswith("its best point is kept")
    assert solution.value == pytest.approx(0.9 * VALUE, rel=1e-6)
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


def test_a_posted_point_is_kept_when_the_process_dies(model, faulty):
    sdp = sdpdr.plan(model, "clarabel", "gram").reductions[0].apply(model.to_sdp()).sdp
    outcome = run_isolated(partial(faulty.PostsAndDies().run, sdp), "faulty", None)
    assert outcome.verdict is Verdict.FAILED
    assert "SIGSEGV" in outcome.claim.message
    assert outcome.point.values


def _send_uninterrupted(channel, content, reader):
    with child.uninterrupted():
        reader.start()
        channel.send_bytes(content)


@pytest.mark.usefixtures("_interruptible")
def test_a_request_to_end_waits_for_the_end_of_a_message():
    """Cut off, a message would take the next for its rest."""
    ours, theirs = multiprocessing.Pipe()
    content, received = bytes(3_000_000), []

    def interrupt_and_receive():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)  # the signal is there while the message waits for room
        received.append(theirs.recv_bytes())

    reader = threading.Thread(target=interrupt_and_receive)
    with ours, theirs:
        with pytest.raises(KeyboardInterrupt):
            _send_uninterrupted(ours, content, reader)
        reader.join(HANG)
    assert received == [content]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("engine", ["edges", pytest.param("general", marks=pytest.mark.nightly)])
def test_our_solver_posts_feasible_points(engine, monkeypatch):
    """Ended at any moment, it has lost at most a quarter of a second."""
    posted = []
    monkeypatch.setattr(incumbent, "_soonest", Deadline(0.0))
    model, solver = methods.mvu(graphs.cycle(30)), LowRank(options={"engine": engine})
    reductions = Composed(sdpdr.plan(model, solver).reductions)
    sdp = reductions.apply(model.to_sdp()).sdp
    incumbent.listen(posted.append)
    try:
        solver.run(sdp)
    finally:
        incumbent.listen(None)
    assert posted
    for point in posted:
        assert_feasible(sdp, point.values, solver.tol)


def assert_feasible(sdp, values, tol):
    """Rows beside their largest right side, matrices beside their largest eigenvalue."""
    assert not sdp.lmis
    scale = max(np.abs(rows.rhs).max() for rows in sdp.rows)
    for rows in sdp.rows:
        slack = np.asarray(sdp.slack(rows, values))
        away = np.abs(slack) if rows.relation == "==" else -slack
        assert away.max() <= tol * scale
    for variable in sdp.psd_variables:
        eigenvalues = np.linalg.eigvalsh(as_dense(values[variable.name]))
        assert eigenvalues[0] >= -tol * eigenvalues[-1]


# -- output, children, ends -------------------------------------------------------------------


def test_output_of_a_solver_is_shown_on_request_only(model, faulty, capfd):
    for verbose in (False, True):
        solution = sdpdr.solve(model, faulty.Prints(), isolate=True, verbose=verbose)
        assert solution.status is Status.SOLVED
        assert ("=====" in capfd.readouterr().out) == verbose


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="workers end with the server on Linux only")
def test_a_worker_that_ends_with_the_server_is_no_crash_and_the_next_has_another(faulty, model):
    outcome = run_isolated(partial(faulty.EndsTheForkServer().run, None), "faulty", None)
    assert outcome.verdict is Verdict.FAILED
    assert outcome.claim.status == "lost"
    assert "what starts workers was ended" in outcome.claim.message
    assert "memory" not in outcome.claim.message
    solution = sdpdr.solve(model, "clarabel", "gram", isolate=True)
    assert solution.status is Status.SOLVED


def test_a_process_that_can_open_nothing_more_has_no_worker(descriptors):
    before = set(os.listdir("/dev/fd"))
    for room in range(6):
        with descriptors(room):
            outcome = run_isolated(here, "faulty", None)
        assert outcome.verdict is Verdict.FAILED
        assert outcome.claim.status == "no worker"
        assert "Too many open files" in outcome.claim.message
    assert set(os.listdir("/dev/fd")) <= before


@pytest.fixture
def descriptors():
    """Leaves this process room for so many descriptors at most."""
    resource = pytest.importorskip("resource")

    @contextmanager
    def at_most(room):
        free = os.dup(0)
        os.close(free)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + room, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    return at_most


def test_an_answer_that_cannot_be_unpickled_is_an_outcome(faulty):
    outcome = run_isolated(partial(faulty.Garbles().run, None), "faulty", None)
    assert outcome.verdict is Verdict.FAILED
    assert outcome.claim.status == "garbled"
    assert "cannot be read" in outcome.claim.message
    assert "the seal is broken" in outcome.claim.message


def test_an_isolated_answer_is_the_answer(model):
    inside = sdpdr.solve(model, "clarabel", "gram", isolate=False)
    outside = sdpdr.solve(model, "clarabel", "gram", isolate=True)
    assert outside.value == inside.value
    assert outside.bound == inside.bound


def test_a_worker_sees_paths_and_surroundings_of_now(model, faulty, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDPDR_TEST", "now")
    folder, value = run_isolated(here, "test", None)
    assert (folder, value) == (str(tmp_path), "now")


def test_a_worker_needs_no_folder_that_is_gone(model, monkeypatch, tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert sdpdr.solve(model, "clarabel", "gram", isolate=True).status is Status.SOLVED


def here():
    return os.getcwd(), os.environ.get("SDPDR_TEST")


# -- scripts, whose modules nobody can import ----------------------------------------------------

FROM_STDIN = """
import os, sys, sdpdr
from sdpdr import graphs, methods
from sdpdr.solvers.processes.fork_server import _server
model = methods.mvu(graphs.path([1.0, 2.0]))
solve = lambda: sdpdr.solve(model, "clarabel", "gram", isolate=True, progress=False)
print(solve().status.name, flush=True)
first = _server.pid
if os.fork() == 0:
    print(solve().status.name, _server.pid != first, flush=True)
    sys.stdout.flush()
    os._exit(0)
os.wait()
print(solve().status.name, _server.pid == first, first)
"""


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="reads /proc")
def test_a_script_without_home_and_a_fork_of_it_have_workers_that_end_with_them():
    bare = {k: v for k, v in os.environ.items() if k not in ("HOME", "TMPDIR")}
    ran = subprocess.run(
        [sys.executable, "-"],
        input=FROM_STDIN,
        env=bare,
        capture_output=True,
        text=True,
        timeout=5 * HANG,
        check=True,
    )
    first, forked, again = ran.stdout.splitlines()
    assert first == "SOLVED"
    assert forked == "SOLVED True"
    assert again.startswith("SOLVED True")
    assert is_gone(int(again.split()[-1]))
    assert ran.stderr == ""
