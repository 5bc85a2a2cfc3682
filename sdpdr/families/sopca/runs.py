"""Limits of steps and time, progress and interruption, for every iteration of this room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from sdpdr.base import checks as validate
from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import Advised, Progress, show_progress

Point = TypeVar("Point")


class RunStatus(Advised):
    """How an iteration ended; the value of each member is advice."""

    CONVERGED = "The tolerance was reached."
    ITERATION_LIMIT = "The iteration limit was reached; the best point so far is returned."
    TIME_LIMIT = "The time limit was reached; the best point so far is returned."
    INTERRUPTED = "Interrupted; the best point so far is returned."
    STALLED = "No step gains anything in floating point; the best point so far is returned."


@dataclass(frozen=True)
class RunRecord:
    """One step.

    Attributes
    ----------
    iteration : int
        From 0, over all starts.
    value : float
        The objective at this step.
    bound : float
        The lowest upper bound proved so far; ``inf`` if the iteration proves none.
    gap : float
        From the largest value so far to the bound, relative to that value.
    seconds : float
        Since the start.
    """

    iteration: int
    value: float
    bound: float
    gap: float
    seconds: float


@dataclass(frozen=True)
class RunStep(Generic[Point]):
    """A step of an iteration: a point, its value, a bound if proved, and a status at the end."""

    point: Point
    value: float
    bound: float = float("inf")
    status: RunStatus | None = None


@dataclass(frozen=True)
class Followed(Generic[Point]):
    """The point of largest value, the lowest bound, and the history."""

    point: Point
    value: float
    bound: float
    status: RunStatus
    history: tuple[RunRecord, ...]


def follow(
    steps: Iterator[RunStep[Point]],
    *,
    what: str,
    tol: float,
    max_iter: int,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> Followed[Point]:
    """Take steps until one has a status, the gap is small, or a limit is reached.

    Parameters
    ----------
    steps : iterator of RunStep
        The first is the start.
    what : str
        Shown with the progress.
    tol : float
        Relative gap that ends the run.
    max_iter : int
        Steps beyond the first one.
    time_limit : float, optional
        Seconds; checked after every step.
    progress : bool or callable, optional
        As for `sdpdr.solve`.

    Raises
    ------
    DataError
        A limit or the tolerance is out of range.
    KeyboardInterrupt
        Before the first step is done.
    """
    max_iter = validate.positive_integer("max_iter", max_iter, at_least=0)
    tol = validate.positive_number("tol", tol)
    deadline = Deadline(time_limit)
    history: list[RunRecord] = []
    best: RunStep[Point] | None = None
    bound, status = float("inf"), None
    with show_progress(progress, what) as report:
        try:
            while status is None:
                step = next(steps)
                best = step if best is None or step.value > best.value else best
                bound = min(bound, step.bound)
                gap = (bound - best.value) / best.value if best.value > 0.0 else float("inf")
                seconds = deadline.spent
                history.append(RunRecord(len(history), step.value, bound, gap, seconds))
                if report is not None:
                    proved = {"bound": None} if bound == float("inf") else {}
                    report(vars(history[-1]) | proved)
                if gap <= tol:
                    status = RunStatus.CONVERGED
                elif step.status is not None:
                    status = step.status
                elif len(history) > max_iter:
                    status = RunStatus.ITERATION_LIMIT
                elif deadline.is_over():
                    status = RunStatus.TIME_LIMIT
        except KeyboardInterrupt:
            if best is None:
                raise
            status = RunStatus.INTERRUPTED
    assert best is not None
    assert status is not None
    return Followed(best.point, best.value, bound, status, tuple(history))
