"""Who carries out the runs: processes on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import partial
from queue import SimpleQueue
from typing import Any

from sdpdr.base.errors import SchedulerError, require_packages
from sdpdr.lab.study.carry_out import carry_out
from sdpdr.lab.study.fence import Ended, hire, run_fenced
from sdpdr.lab.study.rows import digest, environment
from sdpdr.lab.study.schema import PARTS
from sdpdr.lab.study.task import Task

# How often a run is begun that somebody ends from outside.
ATTEMPTS = 4
# Seconds that a scheduler has to answer.
PATIENCE = 10.0
_ENDS = {"crashed": "CRASHED", "killed": "KILLED", "hungry": "OUT_OF_MEMORY", "late": "TIME_LIMIT"}
Row = dict[str, Any]


# What is known of a run that has ended, by the columns of `sdpdr.lab.study.schema`; and the
# environment of the machine that carried it out.
Done = tuple[Row, dict[str, Any]]


def attempt(
    task: Task,
    position: int,
    jobs: int | None = None,
    cores: set[int] | None = None,
    stop: threading.Event | None = None,
) -> Done:
    """Carry out one task, again where it was ended from outside.

    Parameters
    ----------
    task : Task
    position : int
        Place in the order, to be kept.
    jobs : int, optional
        Runs at a time on this machine, to be kept.
    cores, stop
        As for `sdpdr.lab.study.fence.run_fenced`.
    """
    limits = task.limits
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    wall = limits.time_limit + limits.patience
    for attempts in range(1, ATTEMPTS + 1):  # noqa: B007 - kept in the row
        ended = run_fenced(
            partial(carry_out, task),
            wall_limit=wall,
            memory_limit=limits.memory_limit,
            cpu_limit=2.0 * limits.threads * wall + 5.0,
            threads=limits.threads,
            cores=cores,
            stop=stop,
        )
        if ended.how not in ("killed", "lost"):
            break
    around = environment(limits.threads)
    measured = {
        "wall": ended.wall,
        "cpu": ended.cpu,
        "peak_memory": ended.peak_memory,
        "position": position,
        "attempts": attempts,
        "jobs": jobs,
        "started": started,
        "environment": digest(around),
    }
    return task.identity() | _found(task, ended) | measured, around


def _found(task: Task, ended: Ended) -> Row:
    """What a run found, also where it ended without an answer."""
    if ended.how == "answered" and isinstance(ended.answer, dict):
        row: Row = dict(ended.answer)
        if all(name in row for name in PARTS):
            row["total"] = sum(row[name] for name in PARTS)
        return row
    limits, words = task.limits, ended.words
    if ended.how == "late":
        words += f": its limit of {limits.time_limit:g} s, and {limits.patience:g} s to build, "
        words += "to grade and to end"
    end = _ENDS.get(ended.how, "KILLED")
    return {"n": task.problem.n, "outcome": end, "solved": False, "words": words}


# -- this machine -------------------------------------------------------------------------------


def on_this_machine(tasks: Sequence[Task], jobs: int, threads: int) -> Generator[Done, None, None]:
    """Carry out all, in the order given as far as it can be, and yield them as they end.

    To close the iterator ends those that are under way.

    Parameters
    ----------
    tasks : sequence of Task
    jobs : int
        Runs at a time, each looked after by a thread of this process.
    threads : int
        Of every run.
    """
    hire().close()  # here, where Ctrl-C is heard while everything is imported
    stop = threading.Event()
    free: SimpleQueue[set[int] | None] = SimpleQueue()
    for cores in _shares(jobs, threads):
        free.put(cores)

    def work(position: int, task: Task) -> Done:
        cores = free.get()
        try:
            return attempt(task, position, jobs, cores, stop)
        finally:
            free.put(cores)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for ended in as_completed([pool.submit(work, *place) for place in enumerate(tasks)]):
                yield ended.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _shares(jobs: int, threads: int) -> list[set[int] | None]:
    """Processors for every job; None where there are too few, or the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return [None] * jobs
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < jobs * threads:
        return [None] * jobs
    return [set(cores[job * threads : (job + 1) * threads]) for job in range(jobs)]


# -- many machines ------------------------------------------------------------------------------


def on_cluster(
    tasks: Sequence[Task], scheduler: str, folder: str = ""
) -> Generator[Done, None, None]:
    """Carry out all on the workers of a Dask cluster, and yield them as they end.

    Every machine needs the same versions of sdpdr and of the solvers; what it has is written to
    the rows. A worker with several threads carries out as many runs at a time. To close the
    iterator forgets the runs that are under way.

    Parameters
    ----------
    tasks : sequence of Task
    scheduler : str
        Such as ``"tcp://10.0.0.1:8786"``.
    folder : str
        Of the study, where solvers of one's own lie; on every machine at the same path.

    Raises
    ------
    SchedulerError
        The scheduler does not answer, or has no workers.
    PackageMissingError
    """
    require_packages("schedulers", "dask", "distributed")
    import distributed

    with _client(scheduler) as client:
        futures = {
            client.submit(
                _on_worker, task, position, folder, key=task.key, priority=-position
            ): task
            for position, task in enumerate(tasks)
        }
        try:
            for future in distributed.as_completed(list(futures), loop=client.loop):
                try:
                    yield future.result()
                except distributed.KilledWorker:  # tried on several workers, which were all lost
                    ended = Ended("killed", words="its workers were ended from outside, each time")
                    task = futures[future]
                    yield task.identity() | _found(task, ended), {}
        except distributed.CancelledError as error:
            raise SchedulerError(
                f"scheduler {scheduler} forgot the study; run it again, and it goes on."
            ) from error
        finally:
            client.cancel(list(futures))


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    from distributed import Client, TimeoutError

    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SchedulerError(
            f"scheduler {scheduler!r} does not answer ({error}). Start one with `dask scheduler` "
            "and give its address, such as tcp://10.0.0.1:8786."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise SchedulerError(
                f"scheduler {scheduler!r} has no workers. Start some: dask worker {scheduler}"
            ) from None
        yield client


def _on_worker(task: Task, position: int, folder: str) -> Done:
    """Carry out a task on a worker."""
    if folder and folder not in sys.path:
        sys.path.append(folder)
    return attempt(task, position)
