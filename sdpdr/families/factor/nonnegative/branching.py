"""Best-first branch and bound: what is open, what was dropped, and what that proves."""

from __future__ import annotations

import heapq
import time
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.progress import Progress, show_progress

# Nodes between two reports of progress.
_REPORT = 100


class SearchStatus(Enum):
    """How a search stands; the value of each member is advice."""

    CLOSED = "The bounds meet to the tolerance: no factorization is better by more than that."
    NODE_LIMIT = "The limit of nodes was reached; go on with `start=` this result."
    TIME_LIMIT = "The time limit was reached; go on with `start=` this result."
    INTERRUPTED = "Interrupted; both bounds hold, go on with `start=` this result."

    @property
    def advice(self) -> str:
        """What the status means and what to do."""
        return self.value

    def __repr__(self) -> str:
        return f"SearchStatus.{self.name}"


@dataclass
class Frontier:
    """The open nodes of a search, and the least bound among those that were dropped.

    Bounds are on the squared error.
    """

    heap: list[tuple[float, int, Any]] = field(default_factory=list)
    seen: set[Hashable] = field(default_factory=set)
    dropped: float = np.inf
    count: int = 0
    nodes: int = 0

    def copy(self) -> Frontier:
        """One that may be worked on without changing this one."""
        return Frontier(list(self.heap), set(self.seen), self.dropped, self.count, self.nodes)

    def push(self, bound: float, node: Hashable) -> None:
        """Add a node, unless it was added before.

        It counts as seen only once it is in the heap, so that nothing is lost if an interrupt
        falls in between.
        """
        if node in self.seen:
            return
        self.count += 1
        heapq.heappush(self.heap, (bound, self.count, node))
        self.seen.add(node)

    def bound(self) -> float:
        """The least bound of any node, open or dropped."""
        return min(self.heap[0][0] if self.heap else np.inf, self.dropped)


class Branching(ABC):
    """What a search branches over.

    Attributes
    ----------
    norm : float
        Of the matrix.
    best : tuple of W and H
    upper : float
        Squared error of the best.
    """

    norm: float
    best: tuple[Array, Array]
    upper: float

    @abstractmethod
    def children(self, node: Any) -> Iterable[tuple[float, Hashable]]:
        """The parts of a node with their bounds; may improve the best on the way."""


def explore(
    problem: Branching,
    frontier: Frontier,
    *,
    tol: float,
    max_nodes: int,
    time_limit: float | None,
    progress: Progress | bool | None,
    what: str,
) -> SearchStatus:
    """Split the node of least bound until the bounds meet or a limit is reached.

    An interrupt ends the search as a limit does, and leaves the frontier whole: a node is taken
    out only after its parts are in.
    """
    begin, ahead = time.perf_counter(), frontier.nodes + max_nodes
    with show_progress(progress, what) as report:
        try:
            while frontier.heap:
                cut = max(0.0, np.sqrt(problem.upper) - tol * problem.norm) ** 2
                if frontier.heap[0][0] >= cut:
                    return SearchStatus.CLOSED
                if frontier.nodes >= ahead:
                    return SearchStatus.NODE_LIMIT
                spent = time.perf_counter() - begin
                if time_limit is not None and spent >= time_limit:
                    return SearchStatus.TIME_LIMIT
                if report is not None and frontier.nodes % _REPORT == 0:
                    report(_record(problem, frontier, spent))
                _split(problem, frontier, tol)
        except KeyboardInterrupt:
            return SearchStatus.INTERRUPTED
    return SearchStatus.CLOSED


def _split(problem: Branching, frontier: Frontier, tol: float) -> None:
    bound, _, node = frontier.heap[0]
    parts = list(problem.children(node))
    cut = max(0.0, np.sqrt(problem.upper) - tol * problem.norm) ** 2
    for own, part in parts:
        # A part has its parent's bound at least, and so stands behind it in the heap.
        least = max(bound, own)
        if least >= cut:
            frontier.dropped = min(frontier.dropped, least)
        else:
            frontier.push(least, part)
    frontier.nodes += 1
    heapq.heappop(frontier.heap)


def _record(problem: Branching, frontier: Frontier, seconds: float) -> dict[str, float]:
    upper, lower = np.sqrt(problem.upper), np.sqrt(min(frontier.bound(), problem.upper))
    return {
        "iteration": frontier.nodes,
        "value": upper / problem.norm,
        "bound": lower / problem.norm,
        "gap": (upper - lower) / problem.norm,
        "seconds": seconds,
    }
