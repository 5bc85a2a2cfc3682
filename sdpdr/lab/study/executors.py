"""Executors of a study: processes on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

from sdpdr.base.errors import SchedulerError, require_packages
from sdpdr.lab.study.sandbox import RunOutcome, SandboxLimits, run_in_sandbox
from sdpdr.lab.study.schema import PARTS, digest, environment
from sdpdr.lab.study.task import Task, run_task

# Attempts at a run that another program ends.
ATTEMPTS = 4
# Seconds that a scheduler has to answer.
PATIENCE = 10.0
Record: TypeAlias = dict[str, Any]
# The record of a run, and a description of its machine and versions.
Done: TypeAlias = "tuple[Record, dict[str, Any]]"


def attempt(
    task: Task,
    position: int,
    jobs: int | None = None,
    cores: Sequence[int] = (),
    stop: threading.Event | None = None,
) -> Done:
    """Carry out one task, and repeat it if another program ended it."""
    limits = task.limits
    started = datetime.now(UTC).isoformat(timespec="seconds")
    wall = limits.time_limit + limits.patience
    cpu = 2.0 * limits.threads * wall + 5.0
    sandbox = SandboxLimits(wall, limits.memory_limit, cpu, limits.threads, tuple(cores))
    for attempts in range(1, ATTEMPTS + 1):  # noqa: B007 - kept in the record
        outcome = run_in_sandbox(partial(run_task, task), sandbox, stop)
        if outcome.end not in ("KILLED", "LOST"):
            break
    machine = environment(limits.threads)
    measured = {
        "wall": outcome.wall,
        "cpu": outcome.cpu,
        "peak_memory": outcome.peak_memory,
        "position": position,
        "attempts": attempts,
        "jobs": jobs,
        "started": started,
        "environment": digest(machine),
    }
    return task.identity() | _findings(task, outcome) | measured, machine


def _findings(task: Task, outcome: RunOutcome) -> Record:
    """Return what a run found, or how it ended without an answer."""
    if outcome.end == "ANSWERED":
        record: Record = dict(outcome.answer)
        if all(name in record for name in PARTS):
            record["total"] = sum(record[name] for name in PARTS)
        return record
    limits, message = task.limits, outcome.message
    if outcome.end == "TIME_LIMIT":
        message += f": {limits.time_limit:g} s for the solver, {limits.patience:g} s for the rest"
    end = "KILLED" if outcome.end == "LOST" else outcome.end
    return {"n": task.problem.n, "outcome": end, "solved": False, "message": message}


def on_this_machine(tasks: Sequence[Task], jobs: int, threads: int) -> Generator[Done, None, None]:
    """Carry out tasks in the given order, several at a time, and yield them as they end.

    Closing the iterator ends those that are running.
    """
    stop, free = threading.Event(), SimpleQueue[tuple[int, ...]]()
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


def _shares(jobs: int, threads: int) -> list[tuple[int, ...]]:
    """Return the processors of every job; none if there are too few or they are unknown."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < jobs * threads:
        return [()] * jobs
    return [tuple(cores[job * threads : (job + 1) * threads]) for job in range(jobs)]


# -- Dask -----------------------------------------------------------------------------------------


def on_cluster(
    tasks: Sequence[Task], scheduler: str, folder: str = ""
) -> Generator[Done, None, None]:
    """Carry out tasks on the workers of a Dask cluster, and yield them as they end.

    Modules are searched in the folder of the study as well, on every machine at the same path.
    Closing the iterator cancels those that are running.
    """
    require_packages("schedulers", "dask", "distributed")
    import distributed

    with _client(scheduler) as client:
        futures = {
            client.submit(_on_worker, task, place, folder, key=task.key, priority=-place): task
            for place, task in enumerate(tasks)
        }
        try:
            for future in distributed.as_completed(list(futures), loop=client.loop):
                try:
                    yield future.result()
                except distributed.KilledWorker:  # Several workers were lost with this task.
                    task = futures[future]
                    lost = RunOutcome("KILLED", message="its workers were ended each time")
                    yield task.identity() | _findings(task, lost), {}
        except distributed.CancelledError as error:
            raise SchedulerError(
                f"scheduler {scheduler} forgot the study; run it again, and it goes on."
            ) from error
        finally:
            client.cancel(list(futures))


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """A connection to a scheduler that answers and has workers."""
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
