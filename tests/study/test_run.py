"""Studies carried out: honest rows of bad solvers, and the same rows whatever happens meanwhile."""

import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

# What is tested imports it.
pytest.importorskip("psutil", reason="the extra 'study' is not installed")
pytest.importorskip("duckdb", reason="the extra 'study' is not installed")

import psutil

from sdpdr.errors import (
    DataError,
    ResultsDamagedError,
    ResultsError,
    ResultsLockedError,
    SchedulerError,
    UnknownNameError,
)
from sdpdr.lab.study.reading import read_results
from sdpdr.lab.study.run import run_study, shuffled
from sdpdr.lab.study.schema import FINDINGS, HONESTY, IDENTITY, OUTCOMES
from sdpdr.lab.study.store import Results
from sdpdr.lab.study.studyfile import Study

HERE = Path(__file__).parent
# What two runs of the same program by the same solver must agree on.
STEADY = [c.name for c in (*IDENTITY, *FINDINGS)]

SMALL = """
[about]
title = "Small"

[problems]
cards = ["path-graph", "ism-two-points", "impossible-triangle", "two-clusters"]

[[variants]]
variant = "as it is"

[[solvers]]
name = "lowrank"

[[solvers]]
name = "clarabel"
forms = ["gram", "lmi"]

[[solvers]]
name = "mosek"
forms = ["gram"]

[run]
time_limit = 100
repeats = 2
jobs = 2
shuffle = 3
"""

DOUBLES = """
[about]
title = "Solvers that misbehave"

[problems]
cards = ["path-graph"]

[[solvers]]
name = "doubles:Liar"
forms = ["gram"]

[[solvers]]
name = "doubles:Glutton"
forms = ["gram"]

[[solvers]]
name = "doubles:Crasher"
forms = ["gram"]

[[solvers]]
name = "doubles:Crasher"
label = "broken"
forms = ["gram"]
options = { how = "raise" }

[[solvers]]
name = "doubles:Crasher"
label = "suicide"
forms = ["gram"]
options = { how = "kill" }

[[solvers]]
name = "doubles:Babbler"
forms = ["gram"]

[[solvers]]
name = "clarabel"
forms = ["lmi"]

[run]
time_limit = 20
patience = 20
memory_limit = "300 MB"
jobs = 2
"""

HANGER = """
[about]
title = "A solver that hangs"

[problems]
cards = ["path-graph"]

[[solvers]]
name = "doubles:Hanger"
forms = ["gram"]
options = { where = "c" }

[run]
time_limit = 0.1
patience = 0.1
"""


def steady(path):
    """The columns that must be the same each time, as text: missing numbers are equal too."""
    return read_results(path).frame[STEADY].astype(str).values.tolist()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "small.duckdb"
    return run_study(Study.read(SMALL, "small"), path)


def test_every_run_is_a_row(undisturbed):
    study = Study.read(SMALL, "small")
    frame = read_results(undisturbed).frame
    # A card that expects an error when it is built is no program to compare solvers with.
    assert sorted(set(frame["problem"])) == ["impossible-triangle", "ism-two-points", "path-graph"]
    assert len(frame) == len(study.tasks()) == 3 * 4 * 2
    assert set(frame["outcome"]) <= set(OUTCOMES)
    assert set(frame["honesty"]) <= set(HONESTY)
    assert set(frame["attempts"]) == {1}
    missing = frame[frame["solver"] == "mosek"]
    assert set(missing["outcome"]) == {"MISSING"}
    assert missing["words"].str.contains("licence").all()
    ran = frame[frame["outcome"].isin(["SOLVED", "INFEASIBLE"])]
    assert len(ran) >= 15
    assert (ran[["build", "compile", "solve", "certify"]] >= 0.0).all(axis=None)
    assert (ran["wall"] > ran["total"]).all()
    solved = frame[frame["solved"] & (frame["outcome"] == "SOLVED")]
    assert (solved["gap"].abs() <= 1e-6).all()


def test_what_is_kept_about_the_study(undisturbed):
    read = read_results(undisturbed)
    assert read.meta["title"] == "Small"
    assert read.meta["text"] == SMALL
    assert read.meta["settings"]["time_limit"] == 100
    assert read.meta["finished"] is not None
    (digest,) = read.environments
    assert set(read.frame["environment"]) == {digest}
    assert "sdpdr" in read.environments[digest]["versions"]


def test_the_order_is_shuffled_and_follows_from_the_seed():
    study = Study.read(SMALL, "small")
    order = [task.key for task in shuffled(study)]
    assert order == [task.key for task in shuffled(Study.read(SMALL, "small"))]
    assert order != [task.key for task in study.tasks()]
    assert sorted(order) == sorted(task.key for task in study.tasks())


def test_a_study_that_is_complete_is_not_run_again(undisturbed):
    before = read_results(undisturbed).frame
    run_study(Study.read(SMALL, "small"), undisturbed)
    after = read_results(undisturbed).frame
    missing = before["outcome"] == "MISSING"
    assert after[~missing].equals(before[~missing])


def test_what_was_missing_or_ended_from_outside_is_tried_again(tmp_path, undisturbed):
    path = tmp_path / "small.duckdb"
    kept = read_results(undisturbed).frame
    rows = kept.astype(object).where(kept.notna(), None).to_dict("records")
    with Results(path) as results:
        for row in rows:
            results.add(
                row | {"outcome": "KILLED" if row["solver"] == "lowrank" else row["outcome"]}
            )
    run_study(Study.read(SMALL, "small"), path)
    assert steady(path) == steady(undisturbed)


def test_a_study_goes_on_where_it_stopped(tmp_path, undisturbed):
    path = tmp_path / "small.duckdb"
    kept = read_results(undisturbed).frame
    rows = kept.astype(object).where(kept.notna(), None).to_dict("records")
    done = [row for row in rows if row["outcome"] != "MISSING"][:15]
    with Results(path) as results:
        for row in done:
            results.add(row | {"words": "from before"})
    run_study(Study.read(SMALL, "small"), path)
    frame = read_results(path).frame
    assert len(frame) == len(kept)
    assert (frame["words"] == "from before").sum() == len(done) == 15


def test_runs_of_a_solver_are_carried_out_again(tmp_path, undisturbed):
    path = tmp_path / "small.duckdb"
    for suffix in (".duckdb", ".jsonl"):
        path.with_suffix(suffix).write_bytes(undisturbed.with_suffix(suffix).read_bytes())
    before = read_results(path).frame
    run_study(Study.read(SMALL, "small"), path, again=["mosek"])
    after = read_results(path).frame
    anew = after["solver"] == "mosek"
    assert after[~anew].equals(before[~anew])
    assert (after[anew]["wall"] != before[anew]["wall"]).all()
    assert steady(path) == steady(undisturbed)
    with pytest.raises(UnknownNameError, match="unknown solver of the study 'gurobi'"):
        run_study(Study.read(SMALL, "small"), path, again=["gurobi"])


@pytest.mark.parametrize("jobs", [0, -1])
def test_there_is_at_least_one_job(tmp_path, jobs):
    with pytest.raises(DataError, match="jobs must be at least 1"):
        run_study(Study.read(SMALL, "small"), tmp_path / "small.duckdb", jobs=jobs)


def test_the_results_of_another_study_are_refused(tmp_path, undisturbed):
    with pytest.raises(ResultsError, match="of the study 'small', not of 'other'"):
        run_study(Study.read(SMALL, "other"), undisturbed)


def test_bad_solvers_give_honest_rows(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    path = run_study(Study.read(DOUBLES, "doubles"), tmp_path / "doubles.duckdb")
    frame = read_results(path).frame.set_index("solver")
    assert len(frame) == 7
    assert frame["solved"].to_dict() == {name: name == "clarabel" for name in frame.index}
    told = {name: (row["outcome"], row["honesty"]) for name, row in frame.iterrows()}
    assert told == {
        "liar": ("INACCURATE", "overstated"),
        "glutton": ("OUT_OF_MEMORY", ""),
        "crasher": ("CRASHED", ""),
        "broken": ("FAILED", "silent"),
        "suicide": ("KILLED", ""),
        "babbler": ("FAILED", "silent"),
        "clarabel": ("SOLVED", "true"),
    }
    assert "286 MiB" in frame.loc["glutton", "words"]
    assert "SIGSEGV" in frame.loc["crasher", "words"]
    assert "the pivot is zero" in frame.loc["broken", "words"]
    assert "instead of an outcome" in frame.loc["babbler", "words"]
    assert frame.loc["suicide", "attempts"] == 4


def test_a_solver_that_hangs_is_ended_and_not_tried_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    path = run_study(Study.read(HANGER, "hanger"), tmp_path / "hanger.duckdb")
    (row,) = read_results(path).frame.to_dict("records")
    assert (row["outcome"], row["honesty"], row["attempts"]) == ("TIME_LIMIT", "", 1)
    assert "ended by us after 0.2 s" in row["words"]


# -- whatever happens meanwhile -----------------------------------------------------------------


@pytest.fixture
def study_file(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    return tmp_path / "small.toml"


def start(study_file):
    # Where this process ignores SIGINT, as in the background of a shell, so would a child.
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from sdpdr.lab.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, "study", "run", study_file.name]
    return subprocess.Popen(
        command, cwd=study_file.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait_for_a_row(runner, study_file):
    path = study_file.with_suffix(".jsonl")
    while not path.exists() or b'"row"' not in path.read_bytes():
        assert runner.poll() is None, runner.stderr.read().decode()
        time.sleep(0.02)


def kill_somebody(runner, dice):
    """End the runner, or one of the processes that work for it."""
    try:
        workers = psutil.Process(runner.pid).children(recursive=True)
        dice.choice([psutil.Process(runner.pid), *workers]).kill()
    except psutil.Error:
        return False
    return True


def disturbed(study_file, kills, seed):
    """Run a study to its end, with so many kills at random moments; how many there were."""
    dice, done = random.Random(seed), 0
    for _ in range(10 * kills + 10):
        runner = start(study_file)
        while runner.poll() is None:
            time.sleep(dice.uniform(0.05, 1.0))
            if done < kills and runner.poll() is None:
                done += kill_somebody(runner, dice)
        words = runner.stderr.read().decode()
        if runner.returncode == 0:
            return done
        assert runner.returncode == -signal.SIGKILL, words
    raise AssertionError("the study did not end")


@pytest.mark.nightly
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.nightly)])
def test_kills_at_random_moments_change_nothing(study_file, undisturbed, kills):
    done = disturbed(study_file, kills, seed=kills)
    assert done == kills
    path = study_file.with_suffix(".duckdb")
    assert steady(path) == steady(undisturbed)


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.nightly), signal.SIGTERM]
)
def test_a_running_study_locks_its_results_and_asked_to_stop_leaves_nobody(study_file, number):
    runner = start(study_file)
    try:
        wait_for_a_row(runner, study_file)
        with pytest.raises(ResultsLockedError):
            run_study(study_file, study_file.with_suffix(".duckdb"))
        workers = psutil.Process(runner.pid).children(recursive=True)
        runner.send_signal(number)
        words = runner.communicate(timeout=120)[1].decode()
    finally:
        runner.kill()
        runner.communicate()
    assert runner.returncode in (130, 128 + number), words
    if number == signal.SIGINT:
        assert "run it again, and it goes on" in words
    assert psutil.wait_procs(workers, timeout=60)[1] == []


def test_a_damaged_file_of_results_is_an_error_and_loses_nothing(study_file, undisturbed):
    path = study_file.with_suffix(".duckdb")
    path.write_bytes(undisturbed.read_bytes()[:5000])
    journal = undisturbed.with_suffix(".jsonl").read_bytes()
    path.with_suffix(".jsonl").write_bytes(journal)
    with pytest.raises(ResultsDamagedError):
        run_study(study_file, path)
    path.unlink()
    run_study(study_file, path)
    assert steady(path) == steady(undisturbed)
    kept = [frame[frame["outcome"] != "MISSING"].reset_index(drop=True)
            for frame in (read_results(p).frame for p in (path, undisturbed))]  # fmt: skip
    assert kept[0].equals(kept[1])


# -- many machines ------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_cluster_gives_the_same_rows(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        study = Study.read(SMALL, "small")
        path = run_study(study, tmp_path / "small.duckdb", scheduler=cluster.scheduler_address)
    assert steady(path) == steady(undisturbed)


@pytest.mark.nightly
def test_a_worker_of_a_cluster_that_is_lost_costs_no_row(tmp_path, undisturbed):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        path = tmp_path / "small.duckdb"

        def kill_one():
            journal = path.with_suffix(".jsonl")
            while not journal.exists() or b'"row"' not in journal.read_bytes():
                time.sleep(0.02)
            psutil.Process(cluster.workers[0].pid).kill()

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        run_study(Study.read(SMALL, "small"), path, scheduler=cluster.scheduler_address)
        killer.join(timeout=120)
        assert not killer.is_alive()
    assert steady(path) == steady(undisturbed)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch, address):
    pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("sdpdr.lab.study.hands.PATIENCE", 0.1)
    with pytest.raises(SchedulerError, match="does not answer"):
        run_study(Study.read(SMALL, "small"), tmp_path / "small.duckdb", scheduler=address)


def test_a_scheduler_without_workers(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    monkeypatch.setattr("sdpdr.lab.study.hands.PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        pytest.raises(SchedulerError, match="has no workers"),
    ):
        run_study(
            Study.read(SMALL, "small"),
            tmp_path / "small.duckdb",
            scheduler=cluster.scheduler_address,
        )
