"""Who carries out the runs: nurseries on this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from sdpdr.base.errors import PackageMissingError, SchedulerError
from sdpdr.lab.study.carry_out import carry_out
from sdpdr.lab.study.nursery import Ended, Nursery
from sdpdr.lab.study.rows import digest, environment
from sdpdr.lab.study.task import Task

# How often a run is begun that somebody ends from outside.
ATTEMPTS = 4
# Seconds that a scheduler has to answer.
PATIENCE = 10.0
_ENDS = {"crashed": "CRASHED", "killed": "KILLED", "hungry": "OUT_OF_MEMORY", "late": "TIME_LIMIT"}
PARTS = ("build", "compile", "solve", "certify")
Row = dict[str, Any]


@dataclass(frozen=True)
class Done:
    """A run that has ended.

    Attributes
    ----------
    row : dict
        All columns of `sdpdr.lab.study.schema` that are known.
    environment : dict
        Of the machine that carried it out.
    """

    row: Row
    environment: dict[str, Any]


class Hands(Protocol):
    """Carries out tasks, in the order given as far as it can, and yields them as they end."""

    def carry_out(self, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        """Carry out all; to close the iterator ends those that are under way."""


def attempt(
    task: Task, nursery: Callable[[], Nursery], position: int, jobs: int | None = None
) -> Done:
    """Carry out one task, again where it was ended from outside.

    Parameters
    ----------
    task : Task
    nursery : callable without arguments
        Gives one that lives.
    position : int
        Place in the order, to be kept.
    jobs : int, optional
        Runs at a time on this machine, to be kept.
    """
    limits = task.limits
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    wall = limits.time_limit + limits.patience
    for attempts in range(1, ATTEMPTS + 1):  # noqa: B007 - kept in the row
        ended = nursery().run(
            partial(carry_out, task),
            wall_limit=wall,
            memory_limit=limits.memory_limit,
            cpu_limit=2.0 * limits.threads * wall + 5.0,
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
    return Done(task.identity() | _found(task, ended) | measured, around)


def _found(task: Task, ended: Ended) -> Row:
    """What a run found, also where it ended without an answer."""
    if ended.how == "answered" and isinstance(ended.answer, dict):
        row: Row = dict(ended.answer)
        if all(name in row for name in PARTS):
            row["total"] = sum(row[name] for name in PARTS)
        return row
    limits = task.limits
    words = {
        "late": f"ended by us after {limits.time_limit + limits.patience:g} s: its limit of "
        f"{limits.time_limit:g} s, and {limits.patience:g} s to build, to grade and to end",
        "hungry": f"ended by us at its memory limit of {limits.memory_limit / 2**20:.0f} MiB",
    }.get(ended.how, ended.words)
    outcome = _ENDS.get(ended.how, "KILLED")
    return {
        "n": task.problem.n,
        "outcome": outcome,
        "solved": False,
        "certified": False,
        "honesty": "",
        "words": words,
    }


# -- this machine -------------------------------------------------------------------------------


class Local:
    """Threads of this process, each with a nursery of its own.

    Parameters
    ----------
    jobs : int
        Runs at a time.
    threads : int
        Of every run.
    """

    def __init__(self, jobs: int, threads: int) -> None:
        self.jobs, self.threads = jobs, threads

    def carry_out(self, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        """Carry out all; to close the iterator ends those that are under way."""
        waiting: SimpleQueue[tuple[int, Task]] = SimpleQueue()
        for place in enumerate(tasks):
            waiting.put(place)
        done: SimpleQueue[Done | BaseException] = SimpleQueue()
        crews = [_Crew(cores) for cores in _shares(self.jobs, self.threads)]
        stopped = threading.Event()

        def work(crew: _Crew) -> None:
            try:
                while not stopped.is_set():
                    position, task = waiting.get_nowait()
                    nursery = partial(crew.nursery, task.limits.threads)
                    done.put(attempt(task, nursery, position, self.jobs))
            except Empty:
                return
            except BaseException as error:  # Told to the thread that waits, which raises it.
                done.put(error)

        workers = [threading.Thread(target=work, args=(crew,), daemon=True) for crew in crews]
        try:
            for worker in workers:
                worker.start()
            for _ in tasks:
                found = _next(done)
                if isinstance(found, BaseException):
                    raise found
                yield found
        finally:
            stopped.set()
            for crew in crews:
                crew.close()
            for worker in workers:
                worker.join()


class _Crew:
    """A nursery that is made again when it was lost."""

    def __init__(self, cores: set[int] | None) -> None:
        self._cores, self._threads = cores, 0
        self._nursery: Nursery | None = None
        self._lock, self._closed = threading.Lock(), False

    def nursery(self, threads: int) -> Nursery:
        with self._lock:
            if self._closed:
                raise SystemExit
            if self._nursery is not None and self._threads != threads:
                self._nursery.close()
            if self._nursery is None or not self._nursery.lives():
                self._nursery, self._threads = Nursery(threads, self._cores), threads
            return self._nursery

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._nursery is not None:
                self._nursery.close()


def _next(done: SimpleQueue[Done | BaseException]) -> Done | BaseException:
    """The next to end; wakes up now and then, so that signals are heard."""
    while True:
        with suppress(Empty):
            return done.get(timeout=0.2)


def _shares(jobs: int, threads: int) -> list[set[int] | None]:
    """Processors for every job; None where there are too few, or the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        return [None] * jobs
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < jobs * threads:
        return [None] * jobs
    return [set(cores[job * threads : (job + 1) * threads]) for job in range(jobs)]


# -- many machines ------------------------------------------------------------------------------


class Cluster:
    """The workers of a Dask cluster.

    Every machine needs the same versions of sdpdr and of the solvers; what it has is written to
    the rows. A worker with several threads carries out as many runs at a time.

    Parameters
    ----------
    scheduler : str
        Such as ``"tcp://10.0.0.1:8786"``.
    folder : str
        Of the study, where solvers of one's own lie; on every machine at the same path.
    """

    def __init__(self, scheduler: str, folder: str = "") -> None:
        self.scheduler, self.folder = scheduler, folder

    def carry_out(self, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        """Carry out all; to close the iterator forgets those that are under way.

        Raises
        ------
        SchedulerError
            The scheduler does not answer, or has no workers.
        PackageMissingError
        """
        try:
            import distributed
        except ImportError as error:
            raise PackageMissingError(
                'a scheduler needs Dask: pip install "sdpdr[dask]"'
            ) from error
        with _client(self.scheduler) as client:
            futures = {
                client.submit(
                    _on_worker, task, position, self.folder, key=task.key, priority=-position
                ): task
                for position, task in enumerate(tasks)
            }
            try:
                for future in distributed.as_completed(list(futures), loop=client.loop):
                    yield self._result(future, futures[future])
            finally:
                client.cancel(list(futures))

    def _result(self, future: Any, task: Task) -> Done:
        from distributed import CancelledError, KilledWorker

        try:
            done: Done = future.result()
        except KilledWorker:  # Dask has tried on several workers, and lost them all.
            ended = Ended("killed", words="its workers were ended from outside, each time")
            return Done(task.identity() | _found(task, ended), {})
        except CancelledError as error:
            raise SchedulerError(
                f"scheduler {self.scheduler} forgot the study; run it again, and it goes on."
            ) from error
        return done


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    from distributed import Client

    try:
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise SchedulerError(
            f"scheduler {scheduler!r} does not answer ({error}). Start one with `dask scheduler` "
            "and give its address, such as tcp://10.0.0.1:8786."
        ) from error
    try:
        deadline = time.monotonic() + PATIENCE
        while not client.scheduler_info()["workers"]:
            if time.monotonic() > deadline:
                raise SchedulerError(
                    f"scheduler {scheduler!r} has no workers. Start some: dask worker {scheduler}"
                )
            time.sleep(0.1)
        yield client
    finally:
        client.close()


_local = threading.local()


def _on_worker(task: Task, position: int, folder: str) -> Done:
    """Carry out a task on a worker, whose threads each keep a nursery."""
    if folder and folder not in sys.path:
        sys.path.append(folder)
    if not hasattr(_local, "crew"):
        _local.crew = _Crew(None)
    return attempt(task, partial(_local.crew.nursery, task.limits.threads), position)
