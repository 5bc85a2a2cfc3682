"""Workers: whatever a solver does in one, the caller has an outcome, and nothing lives on."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import threading
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
from sdpdr.solvers import Clarabel, LowRank
from sdpdr.solvers.processes import alone, workers
from sdpdr.solvers.processes import ends as incumbent
from sdpdr.solvers.processes.isolate import run_isolated
from sdpdr.solvers.processes.worker import WorkerLost

from ..processes import is_gone

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not workers.POSSIBLE, reason="this system cannot fork"),
]
HANG = 60.0  # seconds that tell a hang from a slow machine
VALUE = 14.0 / 3.0


@pytest.fixture
def model():
    return methods.mvu(graphs.path([1.0, 2.0]))


@pytest.fixture(autouse=True)
def ready():
    """A zygote, so that no test waits for imports."""
    workers.hire().close()


# -- limits -----------------------------------------------------------------------------------


def test_who_does_not_hear_is_ended(model, faulty):
    solution = sdpdr.solve(model, faulty.Stubborn(), time_limit=0.5, isolate=True)
    assert solution.status is Status.TIME_LIMIT
    words = r"faulty was stopped after [\d.]+ s; it had no point to offer"
    assert re.fullmatch(words, solution.claimed.message)


def test_who_hears_hands_over_its_point(model, faulty, monkeypatch):
    monkeypatch.setattr("sdpdr.solvers.processes.isolate.GRACE", HANG)
    solution = sdpdr.solve(model, faulty.Waits(), time_limit=0.5, isolate=True)
    assert solution.claimed.verdict == "time limit"
    assert "asked to end after " in solution.claimed.message
    assert solution.value == pytest.approx(VALUE, rel=1e-6)


@pytest.mark.nightly
def test_when_time_is_up_the_point_posted_last_is_kept_and_nothing_lives_on(
    model, faulty, tmp_path
):
    pids = tmp_path / "pids"
    solver = faulty.PostsAndLeavesAChild(options={"pids": str(pids)})
    solution = sdpdr.solve(model, solver, time_limit=20.0, isolate=True)
    assert solution.status is Status.TIME_LIMIT
    assert solution.claimed.message.endswith("its best point is kept")
    assert solution.value == pytest.approx(0.9 * VALUE, rel=1e-6)
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


def test_what_was_posted_is_kept_when_the_process_dies(model, faulty):
    sdp = sdpdr.plan(model, "clarabel", "gram").reductions[0].apply(model.to_sdp()).sdp
    outcome = run_isolated(partial(faulty.PostsAndDies().run, sdp), "faulty", None)
    assert outcome.verdict is Verdict.FAILED
    assert "SIGSEGV" in outcome.claim.message
    assert outcome.point.values


@pytest.mark.parametrize("engine", ["edges", "general"])
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


def test_what_a_solver_prints_stays_in_its_process(model, faulty, capfd):
    solution = sdpdr.solve(model, faulty.Prints(), isolate=True)
    assert solution.status is Status.SOLVED
    assert capfd.readouterr().out == ""


def test_a_zygote_that_was_ended_is_replaced(model):
    sdpdr.solve(model, "clarabel", "gram", isolate=True)
    os.kill(workers._process.pid, signal.SIGKILL)
    solution = sdpdr.solve(model, "clarabel", "gram", isolate=True)
    assert solution.status is Status.SOLVED


@pytest.mark.usefixtures("no_zygote")
def test_a_zygote_that_cannot_start_is_an_outcome(model, monkeypatch):
    monkeypatch.setattr(workers, "_PROGRAM", "raise ImportError('no such module')")
    solution = sdpdr.solve(model, "clarabel", "gram", isolate=True)
    assert solution.status is Status.FAILED
    assert solution.claimed.status == "no worker"
    assert "no such module" in solution.claimed.message
    assert "crashed" not in solution.claimed.message


@pytest.mark.skipif(sys.platform != "linux", reason="workers end with the zygote on Linux only")
def test_a_worker_that_ends_with_the_zygote_is_no_crash_and_the_next_has_another(faulty, model):
    outcome = run_isolated(partial(faulty.EndsTheZygote().run, None), "faulty", None)
    assert outcome.verdict is Verdict.FAILED
    assert outcome.claim.status == "lost"
    assert "what starts workers was ended" in outcome.claim.message
    assert "memory" not in outcome.claim.message
    solution = sdpdr.solve(model, "clarabel", "gram", isolate=True)
    assert solution.status is Status.SOLVED


@pytest.mark.usefixtures("no_zygote")
def test_without_descriptors_the_zygote_is_not_had(descriptors):
    for room in range(6):
        with descriptors(room), pytest.raises(WorkerLost, match="Too many open files"):
            workers.hire()


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


@pytest.mark.parametrize(("name", "limit"), [("Garbles", None), ("PostsGarbled", 0.5)])
def test_what_cannot_be_read_is_an_outcome(faulty, name, limit):
    outcome = run_isolated(partial(getattr(faulty, name)().run, None), "faulty", limit)
    assert outcome.verdict is Verdict.FAILED
    assert outcome.claim.status == "garbled"
    assert "cannot be read" in outcome.claim.message
    assert "the seal is broken" in outcome.claim.message


@pytest.mark.nightly
def test_threads_have_workers_of_their_own(model):
    found = {}

    def run(k):
        found[k] = sdpdr.solve(model, ("clarabel", "scs")[k % 2], "gram", isolate=True).value

    threads = [threading.Thread(target=run, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG)
    assert len(found) == 6
    for k, value in found.items():
        assert value == found[k % 2]


def test_a_worker_sees_paths_and_surroundings_of_now(model, faulty, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SDPDR_TEST", "now")
    folder, value = run_isolated_anything(here)
    assert (folder, value) == (str(tmp_path), "now")


def run_isolated_anything(task):
    """What a function returns in a worker."""
    with workers.hire() as worker:
        worker.ask(pickle.dumps((workers.surroundings(), "test", pickle.dumps(task))))
        while not worker.is_done:
            worker.step(HANG)
        return pickle.loads(worker.answer)


def here():
    return os.getcwd(), os.environ.get("SDPDR_TEST")


def test_without_forks_there_is_a_process_for_each(model, monkeypatch):
    monkeypatch.setattr(workers, "POSSIBLE", False)
    solution = sdpdr.solve(model, "clarabel", "gram", isolate=True)
    assert solution.status is Status.SOLVED
    monkeypatch.setattr(alone, "_START", 0.0)
    late = sdpdr.solve(model, "clarabel", "gram", isolate=True, time_limit=1e-3)
    assert late.status is Status.TIME_LIMIT


def test_what_cannot_travel_runs_here_under_a_limit_that_it_keeps(model):
    class Local(Clarabel):
        pass

    assert sdpdr.solve(model, Local(), "gram", time_limit=HANG).status is Status.SOLVED
    with pytest.raises(sdpdr.errors.NotAcceptedError, match="cannot be sent"):
        sdpdr.solve(model, Local(), "gram", isolate=True)


# -- scripts, whose modules nobody can import ----------------------------------------------------

FROM_STDIN = """
import os, sys, sdpdr
from sdpdr import graphs, methods
from sdpdr.solvers.processes import workers
model = methods.mvu(graphs.path([1.0, 2.0]))
solve = lambda: sdpdr.solve(model, "clarabel", "gram", isolate=True, progress=False)
print(solve().status.name, flush=True)
first = workers._process.pid
if os.fork() == 0:
    print(solve().status.name, workers._process.pid != first, flush=True)
    sys.stdout.flush()
    os._exit(0)
os.wait()
print(solve().status.name, workers._process.pid == first, first)
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
