"""Limits of steps and time, and interruption, for every iteration of this room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from sdpdr.base import checks as validate
from sdpdr.base.deadline import Deadline
from sdpdr.base.progress import Advised

Point = TypeVar("Point")


class RunStatus(Advised):
    """How an iteration ended; the value of each member is advice."""

    CONVERGED = "The tolerance was reached."
    ITERATION_LIMIT = "The iteration limit was reached; the best point so far is returned."
    TIME_LIMIT = "The time limit was reached; the best point so far is returned."
    INTERRUPTED = "Interrupted; the best point so far is returned."
    STALLED = "No step gains anything in floating point; the best point so far is returned."


@dataclass(frozen=True)
class RunStep(Generic[Point]):
    """A step of an iteration: a point, its value, a bound if proved, and a status at the end."""

    point: Point
    value: float
    bound: float = float("inf")
    status: RunStatus | None = None


@dataclass(frozen=True)
class Followed(Generic[Point]):
    """The point of largest value, the lowest bound, and the value after each step."""

    point: Point
    value: float
    bound: float
    status: RunStatus
    history: tuple[float, ...]


def follow(
    steps: Iterator[RunStep[Point]], tol: float, max_iter: int, time_limit: float | None
) -> Followed[Point]:
    """Take steps until one has a status, the gap is at most ``tol``, or a limit is reached.

    Raises
    ------
    DataError
        A limit or the tolerance is out of range.
    KeyboardInterrupt
        Before the first step is done.
    """
    max_iter = validate.positive_integer("max_iter", max_iter, at_least=0)
    tol = validate.positive_number("tol", tol)
    deadline, history = Deadline(time_limit), []
    best: RunStep[Point] | None = None
    bound, status = float("inf"), None
    try:
        while status is None:
            step = next(steps)
            best = step if best is None or step.value > best.value else best
            bound = min(bound, step.bound)
            history.append(step.value)
            if bound - best.value <= tol * best.value:
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
