"""Executors of a study: processes on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeAlias

from sdpdr.base.errors import SchedulerError, require_packages
from sdpdr.lab.study.rows import digest, environment
from sdpdr.lab.study.run_task import run_task
from sdpdr.lab.study.sandbox import RunOutcome, Sandbox, SandboxLimits
from sdpdr.lab.study.schema import PARTS
from sdpdr.lab.study.task import Task
from sdpdr.solvers.processes.ends import listen

# How often a run is begun that another program ends.
ATTEMPTS = 4
# Seconds that a scheduler has to answer.
PATIENCE = 10.0
_ENDS = {"crashed": "CRASHED", "hungry": "OUT_OF_MEMORY", "late": "TIME_LIMIT"}
Record: TypeAlias = dict[str, Any]
Done: TypeAlias = "tuple[Record, dict[str, Any]]"  # of a run, and the machine and its versions


def attempt(
    task: Task,
    sandbox: Sandbox,
    position: int,
    jobs: int | None = None,
    cores: Sequence[int] = (),
    stop: threading.Event | None = None,
) -> Done:
    """Carry out one task, again if another program ended it.

    Parameters
    ----------
    task : Task
    sandbox : Sandbox
    position : int
        Place in the order, for the record.
    jobs : int, optional
        Runs at a time on this machine, for the record.
    cores, stop
        As for `sdpdr.lab.study.sandbox`.
    """
    limits = task.limits
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    wall = limits.time_limit + limits.patience
    fence = SandboxLimits(
        wall, limits.memory_limit, 2.0 * limits.threads * wall + 5.0, limits.threads, tuple(cores)
    )
    for attempts in range(1, ATTEMPTS + 1):  # noqa: B007 - kept in the record
        outcome = sandbox.run(partial(_in_worker, task), fence, stop)
        if outcome.how not in ("killed", "lost"):
            break
    around = environment(limits.threads)
    measured = {
        "wall": outcome.wall,
        "cpu": outcome.cpu,
        "peak_memory": outcome.peak_memory,
        "position": position,
        "attempts": attempts,
        "jobs": jobs,
        "started": started,
        "environment": digest(around),
    }
    return task.identity() | _findings(task, outcome) | measured, around


def _in_worker(task: Task) -> Record:
    """Carry out a task in a process that was made for it, which solvers need to know."""
    listen(lambda point: None)
    return run_task(task)


def _findings(task: Task, outcome: RunOutcome) -> Record:
    """What a run found, also where it ended without an answer."""
    if outcome.how == "answered":
        record: Record = dict(outcome.answer)
        if all(name in record for name in PARTS):
            record["total"] = sum(record[name] for name in PARTS)
        return record
    limits, message = task.limits, outcome.message
    if outcome.how == "late":
        message += f": {limits.time_limit:g} s for the solver, {limits.patience:g} s for the rest"
    end = _ENDS.get(outcome.how, "KILLED")
    return {"n": task.problem.n, "outcome": end, "solved": False, "message": message}


def on_this_machine(tasks: Sequence[Task], jobs: int, threads: int) -> Generator[Done, None, None]:
    """Carry out all tasks, in the given order as far as possible, and yield them as they end.

    Closing the iterator ends those that are running.

    Parameters
    ----------
    tasks : sequence of Task
    jobs : int
        Runs at a time.
    threads : int
        Of every run.
    """
    stop, free = threading.Event(), SimpleQueue[tuple[Sandbox, tuple[int, ...]]]()

    def work(position: int, task: Task) -> Done:
        sandbox, cores = free.get()
        try:
            return attempt(task, sandbox, position, jobs, cores, stop)
        finally:
            free.put((sandbox, cores))

    with ExitStack() as stack:
        for cores in _shares(min(jobs, len(tasks)), threads):
            free.put((stack.enter_context(Sandbox()), cores))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        try:
            for ended in as_completed([pool.submit(work, *place) for place in enumerate(tasks)]):
                yield ended.result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _shares(jobs: int, threads: int) -> list[tuple[int, ...]]:
    """Processors for every job; none where there are too few, or the system does not tell."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) < jobs * threads:
        return [()] * jobs
    return [tuple(cores[job * threads : (job + 1) * threads]) for job in range(jobs)]


# -- Dask -----------------------------------------------------------------------------------------


def on_cluster(
    tasks: Sequence[Task], scheduler: str, folder: str = ""
) -> Generator[Done, None, None]:
    """Carry out all tasks on the workers of a Dask cluster, and yield them as they end.

    Closing the iterator cancels those that are running.

    Parameters
    ----------
    tasks : sequence of Task
    scheduler : str
        Such as ``"tcp://10.0.0.1:8786"``.
    folder : str
        Folder of the study file, on every machine at the same path.

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
            client.submit(_on_worker, task, place, folder, key=task.key, priority=-place): task
            for place, task in enumerate(tasks)
        }
        try:
            for future in distributed.as_completed(list(futures), loop=client.loop):
                try:
                    yield future.result()
                except distributed.KilledWorker:  # Several workers were lost with this task.
                    task = futures[future]
                    lost = RunOutcome("killed", message="its workers were ended each time")
                    yield task.identity() | _findings(task, lost), {}
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


_of_thread = threading.local()


def _on_worker(task: Task, position: int, folder: str) -> Done:
    """Carry out a task on a worker, each thread of which keeps a sandbox."""
    if folder and folder not in sys.path:
        sys.path.append(folder)
    if not hasattr(_of_thread, "sandbox"):
        _of_thread.sandbox = Sandbox()
    return attempt(task, _of_thread.sandbox, position)
