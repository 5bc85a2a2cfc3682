"""Studies carried out: honest records of bad solvers, and the same records whatever happens."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from sdpdr.errors import (
    DataError,
    ResultsError,
    ResultsLockedError,
    SchedulerError,
    UnknownNameError,
)
from sdpdr.lab.study.report import study_page
from sdpdr.lab.study.results import Results, read_results
from sdpdr.lab.study.run import run_study, shuffled
from sdpdr.lab.study.schema import CLAIMS, FINDINGS, IDENTITY, OUTCOMES
from sdpdr.lab.study.studyfile import Study

pytestmark = pytest.mark.integration
FOLDER = Path(__file__).parents[1] / "errors"
# Columns on which two runs of the same program by the same solver must agree.
STEADY = [column.name for column in (*IDENTITY, *FINDINGS)]

SMALL = """
[about]
title = "Small"

[problems]
cards = ["path-graph", "impossible-triangle", "two-clusters"]
python = ["mine.py:problems"]

[[solvers]]
name = "lowrank"

[[solvers]]
name = "clarabel"
forms = ["lmi"]

[[solvers]]
name = "mosek"
forms = ["gram"]

[run]
time_limit = 100
warmup = false
"""
MINE = """
import cvxpy as cp
import numpy as np

def problems():
    X = cp.Variable((5, 5), PSD=True)
    cycle = [X[i, (i + 1) % 5] == 0 for i in range(5)]
    yield "theta", cp.Problem(cp.Maximize(cp.sum(X)), [cp.trace(X) == 1, *cycle])
    W = np.ones((6, 6)) - np.eye(6)
    X = cp.Variable((6, 6), PSD=True)
    L = np.diag(W.sum(axis=1)) - W
    yield "max-cut", cp.Problem(cp.Maximize(cp.trace(L @ X) / 4), [cp.diag(X) == 1])
    t = cp.Variable()
    A = np.array([[2.0, 1.0], [1.0, 2.0]])
    yield cp.Problem(cp.Minimize(t), [t * np.eye(2) - A >> 0])
"""
FAULTY = """
[about]
title = "Solvers that misbehave"

[problems]
cards = ["path-graph"]

[[solvers]]
name = "faulty_solvers:ShrinksAlone"
label = "liar"
forms = ["gram"]

[[solvers]]
name = "faulty_solvers:Glutton"
forms = ["gram"]

[[solvers]]
name = "faulty_solvers:Crasher"
forms = ["gram"]
options = { how = "segfault" }

[[solvers]]
name = "faulty_solvers:Crasher"
label = "broken"
forms = ["gram"]

[[solvers]]
name = "faulty_solvers:Crasher"
label = "suicide"
forms = ["gram"]
options = { how = "kill" }

[[solvers]]
name = "faulty_solvers:Babbler"
forms = ["gram"]

[[solvers]]
name = "faulty_solvers:Stubborn"
label = "hanger"
forms = ["gram"]

[run]
time_limit = 2
patience = 2
memory_limit = "300 MB"
warmup = false
jobs = 2
"""


def steady(path):
    """The columns that must be the same each time, as text: missing numbers are equal too."""
    return read_results(path).frame[STEADY].astype(str).values.tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("undisturbed")
    (place / "small.toml").write_text(SMALL)
    (place / "mine.py").write_text(MINE)
    return place


@pytest.fixture(scope="module")
def undisturbed(folder):
    return run_study(folder / "small.toml", folder / "small.jsonl")


@pytest.fixture
def study_file(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path / "small.toml"


@pytest.mark.nightly
def test_every_run_is_a_record(undisturbed, folder):
    study = Study.load(folder / "small.toml")
    loaded = read_results(undisturbed)
    frame = loaded.frame
    # A card that expects an error when it is built is no program to compare solvers with.
    assert sorted(set(frame["problem"])) == [
        "impossible-triangle", "max-cut", "path-graph", "problems[2]", "theta"
    ]  # fmt: skip
    assert len(frame) == len(study.tasks()) == 5 * 3
    assert set(frame["outcome"]) <= set(OUTCOMES)
    assert set(frame["claim_accuracy"]) <= set(CLAIMS)
    assert set(frame["attempts"]) == {1}
    missing = frame[frame["solver"] == "mosek"]
    assert set(missing["outcome"]) == {"MISSING"}
    assert missing["message"].str.contains("licence").all()
    ran = frame[frame["solver"] != "mosek"]
    assert ran["solved"].all()
    assert (ran["wall"] > ran["total"]).all()
    values = ran.groupby("problem")["value"].mean()
    assert values["theta"] == pytest.approx(5**0.5, rel=1e-5)
    assert values["problems[2]"] == pytest.approx(3.0, rel=1e-5)
    assert (loaded.meta["title"], loaded.meta["text"]) == ("Small", SMALL)
    assert loaded.meta["finished"] is not None
    assert "sdpdr" in loaded.environments[frame["environment"].iloc[0]]["versions"]
    assert study_page(loaded).verdict[0].endswith("5 of 5 instances, verified by us.")


def test_the_order_is_shuffled_and_follows_from_the_seed(folder):
    study = Study.load(folder / "small.toml")
    order = [task.key for task in shuffled(study)]
    assert order == [task.key for task in shuffled(Study.load(folder / "small.toml"))]
    assert order != [task.key for task in study.tasks()]
    assert sorted(order) == sorted(task.key for task in study.tasks())


@pytest.mark.nightly
def test_only_what_is_missing_was_killed_or_has_changed_is_run(study_file, undisturbed):
    kept = read_results(undisturbed).frame
    records = kept.astype(object).where(kept.notna(), None).to_dict("records")
    path = study_file.with_suffix(".jsonl")
    with Results(path) as results:
        for record in records:
            if record["problem"] != "theta":
                results.add(record | {"message": "from before"})
        killed = next(r for r in records if (r["problem"], r["solver"]) == ("theta", "lowrank"))
        results.add(killed | {"outcome": "KILLED", "message": "from before"})
    study_file.with_name("mine.py").write_text(MINE.replace("[[2.0", "[[3.0"))
    run_study(study_file, path, rerun=["clarabel"])
    loaded = read_results(path)
    assert (len(loaded.frame), loaded.n_hidden) == (len(kept), 3)
    ran = loaded.frame[loaded.frame["message"] != "from before"]
    ran = set(
        ran[ran["solver"] != "mosek"][["problem", "solver"]].itertuples(index=False, name=None)
    )
    assert ran == {("problems[2]", "lowrank"), ("theta", "lowrank")} | {
        (problem, "clarabel") for problem in loaded.frame["problem"]
    }
    assert not loaded.frame["outcome"].eq("KILLED").any()
    with pytest.raises(UnknownNameError, match="unknown solver of the study 'gurobi'"):
        run_study(study_file, path, rerun=["gurobi"])


def test_a_study_without_jobs_is_refused(tmp_path, folder):
    with pytest.raises(DataError, match="jobs must be at least 1"):
        run_study(folder / "small.toml", tmp_path / "small.jsonl", jobs=0)


@pytest.mark.nightly
def test_results_of_another_study_are_refused(undisturbed):
    other = Study.read(SMALL.replace('python = ["mine.py:problems"]', ""), "other")
    with pytest.raises(ResultsError, match="of the study 'small', not of 'other'"):
        run_study(other, undisturbed)


@pytest.mark.nightly
def test_bad_solvers_give_honest_records(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    path = run_study(Study.read(FAULTY, "faulty"), tmp_path / "faulty.jsonl")
    frame = read_results(path).frame.set_index("solver")
    assert not frame["solved"].any()
    found = {n: (r["outcome"], r["claim_accuracy"]) for n, r in frame.iterrows()}
    assert found == {
        "liar": ("INACCURATE", "overstated"),
        "glutton": ("OUT_OF_MEMORY", ""),
        "crasher": ("CRASHED", ""),
        "broken": ("FAILED", "silent"),
        "suicide": ("KILLED", ""),
        "babbler": ("FAILED", "silent"),
        "hanger": ("TIME_LIMIT", ""),
    }
    assert "286 MiB" in frame.loc["glutton", "message"]
    assert "SIGSEGV" in frame.loc["crasher", "message"]
    assert "the pivot is zero" in frame.loc["broken", "message"]
    assert "instead of an outcome" in frame.loc["babbler", "message"]
    assert "ended by us after 4 s" in frame.loc["hanger", "message"]
    assert (frame.loc["suicide", "attempts"], frame.loc["hanger", "attempts"]) == (4, 1)


# -- whatever happens meanwhile -------------------------------------------------------------------


def start(study_file):
    # Where this process ignores SIGINT, as in the background of a shell, so would a child.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"from sdpdr.lab.study.run import run_study; run_study({str(study_file)!r})"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], cwd=study_file.parent, stderr=subprocess.PIPE
    )


def wait_for_a_record(runner, study_file):
    path = study_file.with_suffix(".jsonl")
    while not path.exists() or b'"row"' not in path.read_bytes():
        assert runner.poll() is None, runner.stderr.read().decode()
        time.sleep(0.02)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_running_study_locks_its_results_and_leaves_no_process(study_file, undisturbed, number):
    runner = start(study_file)
    path = study_file.with_suffix(".jsonl")
    try:
        wait_for_a_record(runner, study_file)
        assert len(read_results(path).frame)
        with pytest.raises(ResultsLockedError):
            run_study(study_file, path)
        workers = psutil.Process(runner.pid).children(recursive=True)
        runner.send_signal(number)
        runner.communicate(timeout=120)
    finally:
        runner.kill()
        runner.communicate()
    assert runner.returncode != 0
    assert psutil.wait_procs(workers, timeout=60)[1] == []


def kill_one(runner, dice):
    """End the study, or one of the processes that work for it."""
    try:
        workers = psutil.Process(runner.pid).children(recursive=True)
        dice.choice([psutil.Process(runner.pid), *workers]).kill()
    except psutil.Error:
        return False
    return True


@pytest.mark.nightly
@pytest.mark.parametrize("kills", [1, 10])
def test_kills_at_random_moments_change_nothing(study_file, undisturbed, kills):
    dice, done = random.Random(kills), 0
    for _ in range(10 * kills + 10):
        runner = start(study_file)
        while runner.poll() is None:
            time.sleep(dice.uniform(0.05, 1.0))
            if done < kills and runner.poll() is None:
                done += kill_one(runner, dice)
        words = runner.stderr.read().decode()
        if runner.returncode == 0:
            break
        assert runner.returncode == -signal.SIGKILL, words
    assert runner.returncode == 0
    assert done == kills
    assert steady(study_file.with_suffix(".jsonl")) == steady(undisturbed)


# -- Dask -----------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_cluster_gives_the_same_records(study_file, undisturbed):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        path = run_study(
            study_file, study_file.with_suffix(".jsonl"), scheduler=cluster.scheduler_address
        )
    assert steady(path) == steady(undisturbed)


@pytest.mark.nightly
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_scheduler_that_does_not_answer(study_file, monkeypatch, address):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("sdpdr.lab.study.executors.PATIENCE", 0.1)
    with pytest.raises(SchedulerError, match="does not answer"):
        run_study(study_file, study_file.with_suffix(".jsonl"), scheduler=address)
